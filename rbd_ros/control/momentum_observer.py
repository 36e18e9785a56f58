# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""External torque from the generalized momentum, without accelerations.

The rate of the momentum p = H(q) v is

    p' = tau + C(q, v)^T v - g(q) - friction + external torque,

and the observer is a first-order filter of the part that the model does not explain.

Source: De Luca and Mattone, "Actuator failure detection and isolation using generalized momenta"
(ICRA 2003); Haddadin, De Luca and Albu-Schaeffer, "Robot collisions: a survey on detection,
isolation, and identification" (IEEE T-RO 2017).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control.law.feedforward import check_robot
from rbd_ros.control.law.friction_compensation import friction_torque
from rbd_ros.control.robot_joints import listed
from rbd_ros.robot import Robot

#: Velocity at which 76 % of the Coulomb friction acts [rad/s or m/s].
TRANSITION = 1e-2
#: Maximum time between two states of one motion [s].
MAX_STEP = 0.1
#: Maximum plausible velocity and effort: the estimate would need minutes to forget a larger one
#: [rad/s or m/s, N m or N].
MAX_VELOCITY, MAX_EFFORT = 1e4, 1e6
#: Relative singular value of the Jacobian below which a force is unobservable.
UNFELT = 1e-3


class MomentumObserver:
    """Observer of the torque that the environment exerts at the joints, (nv,) [N m or N].

    From one state to the next, the mean unexplained rate of the momentum is computed from both
    ends, and the estimate follows it with exp(-gain dt). So the estimate of a constant torque on a
    robot at rest becomes exact, for any gain and any state intervals.

    :param robot: robot without loops, with one degree of freedom per joint
    :param gain: gain of the observer, the inverse of its time constant [1/s]
    :param friction: whether to subtract the friction of the robot description
    :param gravity: gravity in base coordinates, (3,) [m/s^2]; None: the robot's
    :param payload_link: link that carries a known payload; None: none
    :param payload: its ten inertial parameters, see `payload_parameters`
    :raises ValueError: for another kind of robot, a gain that is not positive, an unknown link

    >>> from rbd_ros.control import MomentumObserver
    >>> arm = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))
    >>> observer = MomentumObserver(arm, gain=50.0)
    >>> rest, pushed = np.zeros(2), arm.gravity_torque([0.0, 0.0]) - [1.0, 0.5]
    >>> torque = [observer.update(0.001 * k, rest, rest, pushed) for k in range(1000)][-1]
    >>> np.round(torque, 9)
    array([1. , 0.5])
    >>> observer.reset()
    """

    def __init__(
        self,
        robot: Robot,
        gain: float = 30.0,
        friction: bool = True,
        gravity: Optional[Sequence[float]] = None,
        payload_link: Optional[str] = None,
        payload: Optional[Sequence[float]] = None,
    ):
        check_robot(robot)
        if not 0.0 < gain < math.inf:
            raise ValueError(f'gain must be positive and finite, got {gain}')
        self.robot, self.gain = robot, gain
        given: Tuple[FloatArray, ...] = ()
        runtime: Tuple[str, ...] = ()
        if payload_link is not None:
            robot.model.link(payload_link)
            runtime = (f'payload:{payload_link}',)
            given = (np.zeros(10) if payload is None else np.array(payload, dtype=float),)
        self._payload = given
        self._gravity = np.array(robot.gravity if gravity is None else gravity, dtype=float)
        self._mass_matrix = robot.function('mass_matrix', runtime)
        self._coriolis_matrix = robot.function('coriolis_matrix', runtime)
        self._gravity_torque = robot.function('gravity_torque', ('gravity', *runtime))
        self._viscous, self._coulomb = robot.damping * friction, robot.friction * friction
        self.torque: FloatArray = np.zeros(robot.nv)
        self._time: Optional[float] = None
        self._momentum: FloatArray = np.zeros(robot.nv)
        self._rate: FloatArray = np.zeros(robot.nv)

    def reset(self) -> None:
        """Reset: the next state is the first."""
        self._time = None
        self.torque = np.zeros(self.robot.nv)

    def update(self, time: float, q: FloatArray, v: FloatArray, effort: FloatArray) -> FloatArray:
        """Process a state and return the estimate, (nv,) [N m or N].

        A time that is not later than the last one, or by more than 0.1 s later, resets it.

        :param time: time of the state [s]
        :param q: positions, (nv,) [rad or m]
        :param v: velocities, (nv,) [rad/s or m/s]
        :param effort: motor efforts, (nv,) [N m or N]
        :raises ValueError: if the state is not finite or implausible; nothing has changed
        """
        for what, values, most in (('velocity', v, MAX_VELOCITY), ('effort', effort, MAX_EFFORT)):
            wrong = ~(np.abs(values) <= most)  # also for NaN
            if wrong.any():
                raise ValueError(
                    f'a {what} is {values[wrong][0]:g}, which is not finite or implausible for '
                    f'any joint (above {most:g}); check its unit and the publisher'
                )
        H = self._mass_matrix(q, *self._payload)
        C = self._coriolis_matrix(q, v, *self._payload)
        momentum = H @ v
        known = effort + C.T @ v - self._gravity_torque(q, self._gravity, *self._payload)
        known = known - friction_torque(v, self._viscous, self._coulomb, TRANSITION)
        if not (np.isfinite(momentum).all() and np.isfinite(known).all()):
            raise ValueError('the state or its dynamics are not finite')
        before = self._time
        if before is None or not 0.0 < time - before <= MAX_STEP:
            self.torque = np.zeros(self.robot.nv)
        else:
            step = time - before
            mean = (momentum - self._momentum) / step - 0.5 * (known + self._rate)
            kept = math.exp(-self.gain * step)
            self.torque = kept * self.torque + (1.0 - kept) * mean
        self._time, self._momentum, self._rate = time, momentum, known
        return self.torque


class WrenchEstimate(NamedTuple):
    """Wrench at a frame that best explains torques at the joints.

    :param wrench: moment about the frame's origin and force, in its axes, (6,) [N m, N]
    :param condition_number: condition number of the Jacobian, the amplification of torque errors;
        infinite at a singularity
    :param rank: number of independent wrench components that the joints measure, at most 6
    :param residual: norm of the unexplained torques [N m or N]
    """

    wrench: FloatArray
    condition_number: float
    rank: int
    residual: float


class WrenchEstimator:
    """Wrenches at a frame from the external torque, by least squares: J^T wrench = torque.

    The estimate has no component that joints cannot measure, as along a singular direction: it is
    the smallest wrench that explains the torques.

    :param frame: name of a link or joint
    :raises ValueError: for an unknown frame

    >>> from rbd_ros.control import WrenchEstimator
    >>> tool = WrenchEstimator(robot, 'tool0')
    >>> push = np.array([0.0, 0.0, 0.0, 0.0, 5.0, -10.0])  # moment, then force
    >>> found = tool.estimate(q, robot.frame('tool0').jacobian(q).T @ push)
    >>> np.allclose(found.wrench, push), found.rank, found.condition_number < 30.0
    (True, 6, True)
    """

    def __init__(self, robot: Robot, frame: str):
        self.frame = frame
        self._jacobian: Any = robot.frame(frame).jacobian

    def estimate(self, q: FloatArray, torque: FloatArray) -> WrenchEstimate:
        """Return the wrench from the external torque.

        :param q: positions, (nq,) [rad or m]
        :param torque: external torque, (nv,) [N m or N]
        """
        U, s, Vt = np.linalg.svd(self._jacobian(q), full_matrices=False)
        rank = int((s > UNFELT * s[0]).sum()) if s[0] > 0.0 else 0
        wrench = U[:, :rank] @ ((Vt[:rank] @ torque) / s[:rank])
        left = torque - Vt[:rank].T @ (Vt[:rank] @ torque)
        condition = float(s[0] / s[-1]) if rank == len(s) else math.inf
        return WrenchEstimate(wrench, condition, rank, float(np.linalg.norm(left)))


class CollisionDetector:
    """Detector of unexpectedly hard pushes, with hysteresis.

    :param thresholds: external torque that is a collision, for each joint, (nv,) [N m or N]
    :param hysteresis: fraction of the thresholds below which all torques end it
    :raises ValueError: for thresholds that are not positive, or a fraction outside of 0 to 1

    >>> from rbd_ros.control import CollisionDetector
    >>> detector = CollisionDetector([5.0, 2.0], hysteresis=0.5)
    >>> [detector.update(np.array([t, 0.0])) for t in (4.0, 6.0, 3.0, 2.0)]
    [False, True, True, False]
    >>> detector.joints(np.array([6.0, 0.0]), ('shoulder', 'elbow'))
    "'shoulder'"
    """

    def __init__(self, thresholds: Union[Sequence[float], FloatArray], hysteresis: float = 0.5):
        self.thresholds = np.array(thresholds, dtype=float)
        if not (self.thresholds > 0.0).all():
            raise ValueError(f'thresholds must be positive, got {self.thresholds.tolist()}')
        if not 0.0 <= hysteresis <= 1.0:
            raise ValueError(f'hysteresis must be between 0 and 1, got {hysteresis}')
        self.hysteresis = hysteresis
        self.collision = False

    def update(self, torque: FloatArray) -> bool:
        """Process an external torque, (nv,), and return whether there is a collision."""
        ratio = float((np.abs(torque) / self.thresholds).max(initial=0.0))
        self.collision = ratio > 1.0 or (self.collision and ratio > self.hysteresis)
        return self.collision

    def joints(self, torque: FloatArray, names: Sequence[str]) -> str:
        """Return the names of the joints beyond their thresholds, for a message."""
        return listed([n for n, over in zip(names, np.abs(torque) > self.thresholds) if over])
