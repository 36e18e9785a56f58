# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Drives of the joints: the servo is exact, for any motion of the other joints."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import loop_mechanisms, random_trees
from support.simulated_robots import joint, link, robot, turntable

from rbd_ros import Robot, Simulator
from rbd_ros.compiler.loops import entry_point, Record
from rbd_ros.simulation.records.workspace import PhysicsRecord
from rbd_ros.simulation.stepping.drives import (
    Drives,
    EFFORT,
    find_torque,
    GRAVITY,
    make_drives,
    POSITION,
    VELOCITY,
    ZERO,
)

BANDWIDTH = 40.0
TIMESTEP = 1e-3


@entry_point
def torque_of_drives(physics: PhysicsRecord, drives: Drives, duration: float) -> int:
    """Find the torques of the drives; return whether they are finite."""
    finite = find_torque(physics.model, physics.state, drives, physics.commands, duration)
    return 1 if finite else 0


class Driven:
    """A simulation whose joints are driven.

    :param subject: the robot, all of whose joints have one degree of freedom
    :param integrator: of the simulator
    """

    def __init__(self, subject, integrator=None):
        n = subject.nv
        self.simulator = Simulator(subject, TIMESTEP, integrator)
        self.drives = make_drives(subject, np.arange(n), np.arange(n), BANDWIDTH)
        self._find = torque_of_drives.bind(self.simulator.physics.record, Record(self.drives))

    def torque(self):
        """Return the torques now, and whether they are finite."""
        finite = self._find(TIMESTEP)
        return self.simulator.physics.commands.torque.copy(), bool(finite)

    def run(self, steps):
        """Take steps; return the greatest velocity of each joint on the way."""
        fastest = np.zeros(self.simulator.robot.nv)
        for _ in range(steps):
            self.simulator.step(self.torque()[0])
            fastest = np.maximum(fastest, np.abs(self.simulator.v))
        return fastest


def by_hybrid_dynamics(subject, drives, q, v):
    """Return the torques as in the book (9.2), with NumPy; no joint friction."""
    tau = np.zeros(subject.nv)
    effort, gravity = drives.mode == EFFORT, drives.mode == GRAVITY
    tau[effort] = drives.effort[effort]
    tau[gravity] = subject.gravity_torque(q)[gravity]
    servo = drives.mode >= POSITION
    error = np.where(drives.mode == POSITION, drives.position - q, 0.0)
    acceleration = BANDWIDTH**2 * error + 2.0 * BANDWIDTH * (drives.velocity - v)
    H, C = subject.mass_matrix(q), subject.bias_force(q, v) + subject.damping * v
    free = ~servo
    load = tau[free] - C[free] - H[np.ix_(free, servo)] @ acceleration[servo]
    acceleration[free] = np.linalg.solve(H[np.ix_(free, free)], load)
    tau[servo] = (H @ acceleration + C)[servo]
    return tau


@pytest.fixture(scope='module')
def chain():
    """Return six joints without friction."""
    return Robot.from_urdf(random_trees.tree(8, 6, ('revolute', 'prismatic'), 0, 0.5))


@pytest.fixture(scope='module')
def damped_chain():
    """Return the same, each joint with damping."""
    text = random_trees.tree(8, 6, ('revolute', 'prismatic'), 0, 0.5)
    parts = text.split('</joint>')
    for k, part in enumerate(parts[:-1]):
        parts[k] = f'{part}<dynamics damping="{0.2 + 0.3 * k}"/>'
    return Robot.from_urdf('</joint>'.join(parts))


@pytest.mark.seed('HY05')
@pytest.mark.parametrize('seed', range(12))
@pytest.mark.parametrize('subject', ['chain', 'damped_chain'])
def test_torques_are_those_of_hybrid_dynamics(subject, seed, request):
    chain = request.getfixturevalue(subject)
    assert np.all((chain.damping > 0.0) == (subject == 'damped_chain'))
    rng = np.random.default_rng(seed)
    driven = Driven(chain)
    drives = driven.drives
    q = np.clip(rng.normal(size=chain.nq), chain.lower_limits, chain.upper_limits)
    v = rng.normal(size=chain.nv)
    driven.simulator.reset(q, v)
    drives.mode[:] = rng.integers(ZERO, VELOCITY + 1, size=chain.nv)
    for values in (drives.effort, drives.position, drives.velocity):
        values[:] = rng.normal(size=chain.nv)
    tau, finite = driven.torque()
    assert finite
    expected = by_hybrid_dynamics(chain, drives, q, v)
    frictional = (chain.friction > 0.0) & (drives.mode >= POSITION)
    assert_allclose(
        np.where(frictional, expected, tau), expected, rtol=1e-9, atol=1e-9 * abs(expected).max()
    )


@pytest.mark.parametrize('cut', ['ground', 'rocker'])
@pytest.mark.parametrize('servo', [0, 1, 2])
def test_a_servo_in_a_loop_moves_the_linkage_as_commanded(cut, servo):
    """Against the explicit equation: the acceleration of one joint is that of all."""
    subject = loop_mechanisms.four_bar(cut=cut)
    bars, y, yd = loop_mechanisms.four_bar_bars(cut), 1.0, 0.8
    rates = loop_mechanisms.RELATIVE[cut] @ bars.spins(y)
    driven = Driven(subject)
    q = loop_mechanisms.four_bar_position(y, cut)
    driven.simulator.reset(q, rates * yd)
    drives, desired = driven.drives, -1.3
    drives.mode[:] = EFFORT
    drives.effort[:] = [0.2, -0.1, 0.3]
    drives.mode[servo], drives.velocity[servo] = VELOCITY, desired
    tau, finite = driven.torque()
    acceleration = 2.0 * BANDWIDTH * (desired - rates[servo] * yd)
    moved = np.delete(np.arange(3), servo)
    assert finite and np.array_equal(tau[moved], drives.effort[moved])
    found = subject.loops.forward_dynamics(driven.simulator.q, driven.simulator.v, tau).a
    assert found[servo] == pytest.approx(acceleration, rel=1e-9)
    ydd = bars.acceleration(y, yd, tau @ rates)
    assert found[0] == pytest.approx(ydd, rel=1e-6)
    for _ in range(600):
        driven.run(1)
        assert np.abs(driven.simulator.loop_errors).max() < 1e-9
    if servo == 0:
        assert driven.simulator.v[0] == pytest.approx(desired, abs=1e-2)


def test_servos_of_all_joints_of_a_loop_hold_it_where_it_is():
    subject = loop_mechanisms.four_bar()
    driven = Driven(subject)
    driven.simulator.reset(loop_mechanisms.four_bar_position(1.0))
    start = driven.simulator.q
    driven.drives.mode[:] = POSITION
    driven.drives.position[:] = start
    assert driven.run(500).max() < 1e-9
    assert_allclose(driven.simulator.q, start, atol=1e-9)


@pytest.mark.seed('HY05', kind='full')
@pytest.mark.parametrize('integrator, close', [('semi_implicit', 1e-10), ('midpoint', 1e-4)])
@pytest.mark.parametrize('mode', [POSITION, VELOCITY])
def test_servos_are_independent_of_other_joints(chain, mode, integrator, close):
    """The kernel of hybrid dynamics prescribes their accelerations; efforts drive the others.

    What prescribed accelerations come to is a sum for each servo by itself. That hybrid dynamics
    prescribes them exactly is tested in test_hybrid_dynamics.py, too. They are those at the
    beginning of a step; where forces act in its middle, a little of the others' motion shows.
    """
    rng = np.random.default_rng(2)
    driven = Driven(chain, integrator)
    drives, simulator = driven.drives, driven.simulator
    servos = np.array([0, 2, 3])
    others = np.setdiff1d(np.arange(chain.nv), servos)
    drives.mode[:] = EFFORT
    drives.mode[servos] = mode
    drives.effort[:] = rng.normal(size=chain.nv)
    # So near to where they go that no effort is limited
    simulator.reset(0.1 * rng.normal(size=chain.nq), 0.05 * rng.normal(size=chain.nv))
    drives.position[:] = simulator.q + 0.01 * rng.normal(size=chain.nv)
    drives.velocity[:] = 0.05 * rng.normal(size=chain.nv)
    q, v = simulator.q[servos], simulator.v[servos]
    before = simulator.v[others]
    for _ in range(200):
        error = drives.position[servos] - q if mode == POSITION else 0.0
        change = drives.velocity[servos] - v
        slower, v = v, v + TIMESTEP * (BANDWIDTH**2 * error + 2.0 * BANDWIDTH * change)
        q = q + TIMESTEP * (v if integrator == 'semi_implicit' else 0.5 * (slower + v))
        driven.run(1)
    assert_allclose(simulator.q[servos], q, atol=close)
    assert_allclose(simulator.v[servos], v, atol=10.0 * close)
    assert np.abs(simulator.v[others] - before).min() > 1e-3


@pytest.mark.parametrize('friction', [0.0, 0.5, 50.0])
@pytest.mark.parametrize('speed', [0.5, -0.01])
def test_a_servo_of_velocity_overcomes_dry_friction(friction, speed):
    driven = Driven(turntable(friction=friction))
    driven.drives.mode[:] = VELOCITY
    driven.drives.velocity[:] = speed
    driven.run(500)
    assert_allclose(driven.simulator.v, [speed], rtol=1e-6)


def test_a_position_servo_reaches_its_target_with_dry_friction():
    driven = Driven(turntable(friction=2.0))
    driven.drives.mode[:] = POSITION
    driven.drives.position[:] = 0.3
    driven.run(1500)
    assert_allclose(driven.simulator.q, [0.3], atol=1e-6)
    held = [driven.torque()[0][0] for _ in range(100) if driven.run(1) is not None]
    assert np.ptp(held) < 1e-6  # no chatter


def test_a_servo_at_rest_takes_no_torque_but_gravity(chain):
    driven = Driven(chain)
    driven.drives.mode[:] = POSITION
    driven.drives.position[:] = q = np.clip(
        chain.neutral() + 0.1, chain.lower_limits, chain.upper_limits
    )
    driven.simulator.reset(q)
    assert_allclose(driven.torque()[0], chain.gravity_torque(q), atol=1e-12)


def test_torques_without_limit_are_reported_and_zero(chain):
    driven = Driven(chain)
    driven.drives.mode[:] = EFFORT
    driven.drives.effort[:] = 1.0
    driven.drives.effort[2] = math.inf
    tau, finite = driven.torque()
    assert not finite and not tau.any()


def test_joints_that_move_no_mass_do_not_disturb_a_servo():
    """A free joint behind the servo has hardly any inertia; the servo works all the same."""
    subject = robot(
        link('base'),
        link('arm', 1.0, (0.1, 0.1, 0.1)),
        link('tip', 1e-9, (1e-12, 1e-12, 1e-12)),
        joint('servo', 'base', 'arm', axis=(0, 0, 1)),
        joint('free', 'arm', 'tip', axis=(0, 0, 1)),
    )
    driven = Driven(subject)
    driven.drives.mode[0] = VELOCITY
    driven.drives.velocity[0] = 0.2
    driven.run(300)
    assert_allclose(driven.simulator.v[0], 0.2, rtol=1e-4)


@pytest.mark.parametrize('turns', [-2, 1, 100])
def test_a_servo_goes_the_shorter_way_where_a_joint_has_no_limits(turns):
    """A command within +-pi, of a joint that the simulation has turned further."""
    table = turntable()
    driven = Driven(table)
    q = np.array([3.0 + turns * 2.0 * np.pi])
    driven.simulator.reset(q)
    driven.drives.mode[:] = POSITION
    driven.drives.position[:] = -3.0
    driven.run(2000)
    assert driven.simulator.q == pytest.approx(q + 2.0 * np.pi - 6.0, abs=1e-9)


def test_a_servo_goes_all_the_way_where_a_joint_has_limits():
    limit = '<limit lower="-9" upper="9" effort="1e9" velocity="1e9"/>'
    arm = robot(
        link('base'),
        link('arm', 1.0, (0.1,) * 3),
        joint('hinge', 'base', 'arm', 'revolute', (0, 0, 1), inside=limit),
    )
    driven = Driven(arm)
    driven.simulator.reset(np.array([3.0]))
    driven.drives.mode[:] = POSITION
    driven.drives.position[:] = -3.0
    driven.run(2000)
    assert driven.simulator.q == pytest.approx(-3.0, abs=1e-9)
