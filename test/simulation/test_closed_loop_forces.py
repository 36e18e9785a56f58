# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces on robots with kinematic loops: friction, limits, contact, external forces."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support import loop_mechanisms as mechanisms
from support.loop_mechanisms import HINGE
from support.simulated_robots import collision, joint, link
from support.stewart import stewart, stewart_start

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.model import Frame, JointLimits, LoopJoint
from rbd_ros.model.joints import Floating, Revolute
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.textbook.models import assemble, Connection

BOTH = pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
CLOSED = 1e-9


def with_bodies(subject, **fields):
    """Return the robot with other fields of its bodies, one value each."""
    model = subject.model
    bodies = [
        replace(body, **{name: values[i] for name, values in fields.items()})
        for i, body in enumerate(model.bodies)
    ]
    return Robot(replace(model, bodies=tuple(bodies)))


def weightless(subject):
    return Robot(subject.model.with_gravity((0.0, 0.0, 0.0)))


def opening(simulator):
    return np.abs(simulator.loop_errors).max()


# -- friction and damping -------------------------------------------------------------------------


@BOTH
def test_friction_of_all_joints_holds_a_linkage_together(integrator):
    """A torque on the crank moves it if it does more work than all joints' friction takes."""
    friction = np.array([0.2, 0.3, 0.1])
    robot = with_bodies(weightless(mechanisms.four_bar()), friction=friction.tolist())
    q = mechanisms.four_bar_position(1.0)
    rates = np.linalg.svd(robot.loops.closure(q).K)[2][-1]
    breakaway = friction @ np.abs(rates / rates[0])
    simulator = Simulator(robot, 1e-3, integrator)
    for sign in (1.0, -1.0):
        simulator.reset(q)
        start = simulator.q
        simulator.step([0.98 * sign * breakaway, 0.0, 0.0], 2000)
        assert np.array_equal(simulator.q, start)
        assert np.all(np.abs(simulator.constraint_force) <= friction * (1 + 1e-9))
        simulator.step([1.02 * sign * breakaway, 0.0, 0.0], 100)
        assert sign * (simulator.q[0] - start[0]) > 1e-5


def test_friction_that_holds_several_motions_bears_the_load():
    """A platform of six DoFs at rest: friction and loops carry what gravity and torques do."""
    robot = stewart()
    joints = [body.joint.nv == 1 for body in robot.model.bodies]
    robot = with_bodies(robot, friction=[50.0 if single else 0.0 for single in joints])
    simulator = Simulator(robot, 1e-3)
    simulator.reset(stewart_start(robot))
    start = simulator.q
    simulator.step(n=20)
    assert simulator.q == pytest.approx(start, abs=1e-9)
    held = simulator.constraint_force + simulator.loop_force
    assert held == pytest.approx(robot.gravity_torque(simulator.q), abs=1e-6)
    assert np.all(np.abs(simulator.constraint_force) <= robot.friction * (1 + 1e-9))


@BOTH
def test_friction_in_a_loop_takes_the_work_that_it_should(integrator):
    friction = np.array([0.05, 0.02, 0.04])
    robot = with_bodies(mechanisms.four_bar(), friction=friction.tolist())
    simulator = Simulator(robot, 1e-4, integrator)
    simulator.reset(mechanisms.four_bar_position(1.0))
    energy, work = robot.energy(simulator.q, simulator.v).total, 0.0
    for _ in range(6000):
        before = simulator.q
        simulator.step()
        work += friction @ np.abs(simulator.q - before)
    left = robot.energy(simulator.q, simulator.v).total
    assert work > 0.2
    assert energy - left == pytest.approx(work, rel=0.02)


@BOTH
def test_a_linkage_with_friction_comes_to_rest_forever(integrator):
    robot = with_bodies(mechanisms.four_bar(), friction=[0.2, 0.3, 0.1])
    simulator = Simulator(robot, 1e-3, integrator)
    simulator.reset(mechanisms.four_bar_position(1.0))
    for _ in range(400):
        simulator.step(n=10)
        assert opening(simulator) < CLOSED
    rest = simulator.q
    simulator.step(n=20000)
    assert np.array_equal(simulator.q, rest)
    assert simulator.status.unconverged_steps == 0


@BOTH
def test_damping_in_a_loop_is_that_of_the_explicit_equation(integrator):
    damping = np.array([0.05, 0.03, 0.02])
    robot = with_bodies(mechanisms.four_bar(), damping=damping.tolist())
    bars = mechanisms.four_bar_bars()

    def rate(t, x):
        G = mechanisms.RELATIVE['ground'] @ bars.spins(x[0])
        return [x[1], bars.acceleration(x[0], x[1], -damping @ G**2 * x[1])]

    exact = solve_ivp(rate, (0.0, 0.6), [1.0, 0.0], 'DOP853', rtol=1e-11, atol=1e-11).y[:, -1]
    timestep, close = (1e-3, 1e-7) if integrator == 'rk4' else (1e-5, 1e-3)
    simulator = Simulator(robot, timestep, integrator)
    simulator.reset(mechanisms.four_bar_position(1.0))
    simulator.step(n=round(0.6 / timestep))
    assert [simulator.q[0], simulator.v[0]] == pytest.approx(exact, abs=close)


# -- limits ---------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize('limited', [0, 1, 2])
def test_a_limit_within_a_loop_stops_the_linkage_and_holds_it(integrator, limited):
    limits = [JointLimits()] * 3
    start = mechanisms.four_bar_position(1.0)
    limits[limited] = JointLimits(start[limited] - 0.3, start[limited] + 0.3)
    robot = with_bodies(mechanisms.four_bar(), limits=limits)
    simulator = Simulator(robot, 1e-3, integrator)
    simulator.reset(start)
    for _ in range(3000):
        simulator.step([0.0, 0.0, 0.0])
        assert opening(simulator) < CLOSED
        assert abs(simulator.q[limited] - start[limited]) <= 0.3 + 1e-9
    assert abs(simulator.q[limited] - start[limited]) == pytest.approx(0.3, abs=1e-9)
    assert simulator.status.limit_steps > 1000 and np.abs(simulator.v).max() < 1e-12
    # The limit's torque is what virtual work asks for.
    rates = np.linalg.svd(robot.loops.closure(simulator.q).K)[2][-1]
    weight = robot.gravity_torque(simulator.q) @ rates / rates[limited]
    assert simulator.constraint_force[limited] == pytest.approx(weight, rel=1e-6)
    others = np.delete(simulator.constraint_force, limited)
    assert others == pytest.approx([0.0, 0.0], abs=1e-9)


def test_a_start_outside_its_limits_returns_with_the_loops_closed():
    start = mechanisms.four_bar_position(1.0)
    limits = [JointLimits(1.1, 2.0), JointLimits(), JointLimits()]
    robot = with_bodies(weightless(mechanisms.four_bar()), limits=limits)
    simulator = Simulator(robot, 1e-3)
    simulator.reset(start)
    assert 'outside its limits' in simulator.warnings[0]
    for _ in range(400):
        simulator.step()
        assert opening(simulator) < CLOSED
    assert simulator.q[0] == pytest.approx(1.1, abs=1e-9)
    assert np.abs(simulator.v).max() < 1e-9


# -- contact --------------------------------------------------------------------------------------


def lever(inside=''):
    """Parallelogram in the plane of x and z whose coupler carries a box above the ground."""
    text = [
        link('base'),
        link('crank', 0.5, (0.004,) * 3, (0.15, 0, 0)),
        link('coupler', 0.8, (0.01,) * 3, (0, 0, 0.1), collision('box size="0.2 0.2 0.1"')),
        link('other', 0.5, (0.004,) * 3, (0.15, 0, 0)),
        joint('a', 'base', 'crank', xyz=(0, 0, 0.3), inside=inside),
        joint('b', 'crank', 'coupler', xyz=(0.3, 0, 0)),
        joint('c', 'base', 'other', xyz=(0, 0, 0.5)),
    ]
    tree = Robot.from_urdf(f'<robot name="lever">{"".join(text)}</robot>')
    model = tree.model
    number = {body.name: i for i, body in enumerate(model.bodies, start=1)}
    ends = (
        Frame(number['coupler'], PluckerTransform.translation((0.0, 0.0, 0.2))),
        Frame(number['other'], PluckerTransform.translation((0.3, 0.0, 0.0))),
    )
    pin = LoopJoint('pin', *ends, Revolute((0.0, 1.0, 0.0)))
    return Robot(model.with_loops([pin]))


@BOTH
def test_a_box_on_a_linkage_lies_on_the_ground_with_the_weight_that_it_should(integrator):
    robot = lever()
    simulator = Simulator(robot, 1e-3, integrator, ground=HalfSpace())
    simulator.reset([0.0, 0.0, 0.0])
    for _ in range(300):
        simulator.step(n=10)
        assert opening(simulator) < CLOSED
    assert np.abs(simulator.v).max() < 1e-6
    assert {contact.link for contact in simulator.contacts} == {'coupler'}
    # All bodies of a parallelogram go up and down: coupler wholly, cranks by half at their middle.
    lifted = sum(contact.force[2] for contact in simulator.contacts)
    pushed = sum(contact.force[0] for contact in simulator.contacts)
    angle = simulator.q[0]
    work = lifted * np.cos(angle) + pushed * np.sin(angle)
    assert work == pytest.approx(9.81 * (0.8 + 0.5) * np.cos(angle), rel=1e-6)
    wrench = sum(np.r_[np.cross(c.position, c.force), c.force] for c in simulator.contacts)
    forward = robot.loops.forward_dynamics(
        simulator.q, simulator.v, np.zeros(3), external_forces={'coupler': wrench}
    )
    assert forward.a == pytest.approx(np.zeros(3), abs=1e-4)
    assert simulator.loop_multipliers == pytest.approx(forward.multipliers, abs=1e-4)


@BOTH
def test_friction_limits_and_contact_act_together_in_a_loop(integrator, rng):
    robot = with_bodies(
        lever('<dynamics damping="0.1" friction="0.2"/>'),
        friction=[0.1, 0.3, 0.2],
        limits=[JointLimits(-2.0, 2.0), JointLimits(), JointLimits(-0.4, 2.0)],
    )
    simulator = Simulator(robot, 1e-3, integrator, ground=HalfSpace())
    simulator.reset([0.0, 0.0, 0.0])
    in_contact = 0
    for _ in range(600):
        simulator.step(rng.uniform(-12.0, 12.0) * np.array([1.0, 0.1, 0.5]), 10)
        assert opening(simulator) < CLOSED
        assert np.all(simulator.q[[0, 2]] >= [-2.0, -0.4 - 1e-9])
        in_contact += bool(simulator.contacts)
    assert in_contact > 10 and simulator.status.limit_steps > 3
    assert simulator.status.unconverged_steps < 10


# -- free bases and external forces ---------------------------------------------------------------


def flying_linkage():
    """Return the four-bar linkage whose ground is a body that flies."""
    rng = np.random.default_rng(3)
    bars = {'plate': 0.0, 'crank': 0.3, 'coupler': 0.45, 'rocker': 0.4}
    inertias = {
        name: RigidBodyInertia.from_mass_center(
            rng.uniform(0.5, 2.0), (0.5 * length, 0.0, 0.02), np.diag([0.01, 0.02, 0.02]).tolist()
        )
        for name, length in bars.items()
    }

    def at(x):
        return PluckerTransform.translation((x, 0.0, 0.0))

    joints = [
        Connection('free', 'world', 'plate', Floating()),
        Connection('a', 'plate', 'crank', HINGE),
        Connection('b', 'crank', 'coupler', HINGE, at(0.3)),
        Connection('d', 'plate', 'rocker', HINGE, at(0.5)),
        Connection('c', 'coupler', 'rocker', HINGE, at(0.45), at(0.4)),
    ]
    model = assemble('flying', 'world', inertias, joints, loop_joints=['c'])
    return Robot(model.with_gravity((0.0, 0.0, 0.0)))


@BOTH
def test_a_flying_linkage_keeps_its_momentum(integrator, rng):
    robot = flying_linkage()
    simulator = Simulator(robot, 1e-3, integrator)
    q = robot.neutral()
    q[7:] = [1.0, 5.4, 1.9]
    simulator.reset(q, rng.normal(size=robot.nv))
    momentum = robot.momentum(simulator.q, simulator.v)
    energy = robot.energy(simulator.q, simulator.v).total
    for _ in range(300):
        simulator.step(n=10)
        assert opening(simulator) < CLOSED
    close = {'semi_implicit': 1e-9, 'rk4': 1e-7}[integrator]
    assert robot.momentum(simulator.q, simulator.v) == pytest.approx(momentum, abs=close)
    # Torques of joints are internal, too.
    simulator.step(np.r_[np.zeros(6), 1.0, -0.5, 0.2], 500)
    assert robot.momentum(simulator.q, simulator.v) == pytest.approx(momentum, abs=close)
    if integrator == 'rk4':
        simulator.reset(q, simulator.v)
        energy = robot.energy(simulator.q, simulator.v).total
        simulator.step(n=2000)
        assert robot.energy(simulator.q, simulator.v).total == pytest.approx(energy, rel=1e-6)


@BOTH
def test_a_wrench_acts_on_a_link_of_a_loop(integrator, rng):
    robot = mechanisms.four_bar()
    simulator = Simulator(robot, 1e-6, integrator)
    q, wrench = mechanisms.four_bar_position(1.0), rng.normal(size=6)
    simulator.reset(q)
    simulator.apply_wrench('coupler', wrench)
    simulator.step()
    forward = robot.loops.forward_dynamics(
        simulator.q, simulator.v, np.zeros(3), external_forces={'coupler': wrench}
    )
    assert simulator.a == pytest.approx(forward.a, rel=1e-4, abs=1e-4)


# -- mechanisms in space, against MuJoCo ----------------------------------------------------------


@BOTH
def test_a_stewart_platform_stays_together_and_keeps_its_energy(integrator):
    robot = stewart()
    simulator = Simulator(robot, 1e-3, integrator)
    simulator.reset(stewart_start(robot))
    assert opening(simulator) < 1e-10 and robot.loops.rank(simulator.q) == 18
    hold = -60.0 * simulator.v
    start = robot.energy(simulator.q, simulator.v).total
    slides = [robot.joint_names.index(f'slide{k}') for k in range(6)]
    q0 = simulator.q
    for _ in range(200):
        simulator.step(hold, 1)
        assert opening(simulator) < CLOSED
    energy = robot.energy(simulator.q, simulator.v).total
    assert energy == pytest.approx(start, abs={'semi_implicit': 0.2, 'rk4': 1e-6}[integrator])
    assert len(slides) == 6 and np.abs(simulator.q - q0).max() > 0.05


@BOTH
def test_a_stewart_platform_accelerates_as_the_book_says(integrator, rng):
    robot = stewart()
    simulator = Simulator(robot, 1e-6, integrator)
    simulator.reset(stewart_start(robot), rng.normal(size=robot.nv))
    tau = rng.normal(size=robot.nv)
    exact = robot.loops.forward_dynamics(simulator.q, simulator.v, tau, 'null_space')
    simulator.step(tau)
    assert simulator.a == pytest.approx(exact.a, abs=1e-4 * np.abs(exact.a).max())
    size = np.abs(exact.multipliers).max()
    assert simulator.loop_multipliers == pytest.approx(exact.multipliers, abs=1e-4 * size)
