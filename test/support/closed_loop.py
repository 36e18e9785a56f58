# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A torque law in closed loop with a simulated robot.

Dead time, lost states, pauses and sensors are those of real connections. The plant is exactly that
of the description; the controller's model has errors.
"""

import xml.etree.ElementTree as ElementTree

import numpy as np

from rbd_ros import Robot, Simulator
from rbd_ros.control import friction_torque, JointTrajectory, TorqueLaw, TorqueLimiter

TIMESTEP = 1e-3
DURATION = 3.0
VELOCITY_FILTER = 0.005  # time constant for velocities that are computed from positions [s]


def with_wrong_model(path, factor):
    """Return a robot whose link masses, inertias and joint friction are multiplied; see below."""
    return Robot.from_urdf(wrong_model_text(path, factor))


def wrong_model_text(path, factor):
    """Return the URDF in which link masses, inertias and joint friction are multiplied.

    :param path: path of the URDF
    :param factor: function without arguments that returns the next factor
    """
    tree = ElementTree.parse(path).getroot()
    for link in tree.iter('link'):
        inertial = link.find('inertial')
        if inertial is not None:
            _scale(inertial.find('mass'), ('value',), k := factor())
            _scale(inertial.find('inertia'), ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), k)
    for joint in tree.iter('joint'):
        if joint.find('dynamics') is not None:
            _scale(joint.find('dynamics'), ('damping', 'friction'), factor())
    return ElementTree.tostring(tree, encoding='unicode')


def _scale(element, names, factor):
    for name in names:
        if element.get(name) is not None:
            element.set(name, repr(float(element.get(name)) * float(factor)))


def quintic(robot, start, goal, duration=DURATION):
    """Return the motion from rest to rest."""
    rest = np.zeros((2, robot.nv))
    return JointTrajectory(robot.joint_names, [0.0, duration], [start, goal], rest, rest)


class Jump:
    """A constant desired position other than the present one."""

    end_time = 0.0

    def __init__(self, start, goal):
        self.positions = np.array([start, goal], dtype=float)
        self._rest = np.zeros(len(goal))

    def sample(self, t):
        return self.positions[1], self._rest, self._rest


def random_motions(robot, count, seed=0):
    """Return consecutive motions of 3 s each, within all limits and well within those of effort.

    A goal is moved toward the start until gravity takes at most 0.8 of each effort limit on the
    way, and inverse dynamics with friction at most 0.95.
    """
    rng = np.random.default_rng(seed)
    lower = np.maximum(robot.lower_limits, -np.pi)
    upper = np.minimum(robot.upper_limits, np.pi)
    start, motions = np.clip(robot.neutral(), lower, upper), []
    while len(motions) < count:
        goal = lower + (upper - lower) * rng.uniform(0.02, 0.98, robot.nv)
        for _ in range(15):
            motion = quintic(robot, start, goal)
            if _admissible(robot, motion):
                motions.append(motion)
                start = goal
                break
            goal = start + 0.8 * (goal - start)
    return motions


def _admissible(robot, motion):
    samples = [motion.sample(t) for t in np.linspace(0.0, motion.end_time, 61)]
    q, v, a = (np.array(values) for values in zip(*samples))
    gravity = np.abs(robot.gravity_torque(q)) / robot.effort_limits
    torque = robot.inverse_dynamics(q, v, a) + friction_torque(
        v, robot.damping, robot.friction, 1e-3
    )
    speed = np.abs(v) / robot.velocity_limits
    return (
        gravity.max() <= 0.8
        and np.abs(torque / robot.effort_limits).max() <= 0.95
        and (speed.max() <= 1.0)
    )


class Result:
    """Record of a run at each step of the plant.

    :param error: desired minus true position, (steps, nv) [rad or m]
    :param velocity: true velocity, (steps, nv)
    :param torque: torque applied, (steps, nv)
    :param end: step at which the motion ended
    """

    def __init__(self, error, velocity, torque, end):
        self.error, self.velocity, self.torque, self.end = error, velocity, torque, end

    def peak(self):
        """Return the maximum error during the motion."""
        return float(np.abs(self.error[: self.end]).max())

    def resting(self, after):
        """Return the maximum error after some time since the end of the motion."""
        return float(np.abs(self.error[self.end + round(after / TIMESTEP) :]).max())


class SimulatedPlant:
    """`Simulator` as a plant."""

    def __init__(self, robot):
        # An external push may move an arm faster than its drives do.
        self._simulator = Simulator(robot, timestep=TIMESTEP, enforce_velocity_limits=False)

    def reset(self, q):
        self._simulator.reset(q)

    def state(self):
        return self._simulator.q, self._simulator.v

    def step(self, torque):
        self._simulator.step(torque)


def run(
    robot,
    settings,
    motion,
    model=None,
    plant=None,
    after=0.6,
    period=1,
    delay=2,
    lost=0.0,
    pauses=0.0,
    resolution=0.0,
    velocity_noise=0.0,
    velocities=True,
    disturbance=None,
    effort_limits=None,
    seed=0,
):
    """Follow a motion, then hold.

    :param robot: the true robot
    :param settings: settings of the law
    :param motion: a JointTrajectory, or a function of time that returns q, v, a
    :param model: model of the law; None: the robot itself
    :param after: time after the end of the motion [s]
    :param period: steps of the plant between two states
    :param delay: steps of the plant between a state and its torque
    :param lost: fraction of lost states
    :param pauses: pauses of 30 ms in a second, at random times
    :param resolution: that of the encoders [rad or m]
    :param velocity_noise: standard deviation [rad/s or m/s]
    :param velocities: whether they are measured; else they are computed from positions
    :param disturbance: function of time that returns a torque added to that of the law
    """
    rng = np.random.default_rng(seed)
    plant = SimulatedPlant(robot) if plant is None else plant
    law = TorqueLaw(robot if model is None else model, settings)
    limiter = TorqueLimiter(robot.effort_limits if effort_limits is None else effort_limits)
    start = motion.positions[0]
    plant.reset(start)
    steps = round((motion.end_time + after) / TIMESTEP)
    error, velocity, torque = np.zeros((3, steps, robot.nv))
    applied, waiting = law.gravity_torque(start), []
    last, estimate, quiet_until = None, (start, np.zeros(robot.nv)), 0
    for i in range(steps):
        now = i * TIMESTEP
        q_desired, v_desired, a_desired = motion.sample(now)
        true_q, true_v = plant.state()
        if pauses and i >= quiet_until and rng.random() < pauses * TIMESTEP:
            quiet_until = i + 30
        if i % period == 0 and i >= quiet_until and not (lost and rng.random() < lost):
            q = np.round(true_q / resolution) * resolution if resolution else true_q
            v = true_v + velocity_noise * rng.normal(size=robot.nv) if velocity_noise else true_v
            dt = None if last is None else now - last
            if not velocities:
                if dt is not None:
                    part = dt / (dt + VELOCITY_FILTER)
                    change = (q - estimate[0]) / dt - estimate[1]
                    estimate = q, estimate[1] + part * change
                else:
                    estimate = q, estimate[1]
                v = estimate[1]
            last = now
            sent = limiter(law(q, v, q_desired, v_desired, a_desired, dt), now)
            law.set_applied_torque(sent)
            waiting.append((i + delay, sent))
        while waiting and waiting[0][0] <= i:
            applied = waiting.pop(0)[1]
        error[i], velocity[i], torque[i] = q_desired - true_q, true_v, applied
        plant.step(applied if disturbance is None else applied + disturbance(now))
    return Result(error, velocity, torque, round(motion.end_time / TIMESTEP))
