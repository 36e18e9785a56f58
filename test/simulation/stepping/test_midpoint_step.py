# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Steps of the midpoint integrator: the method written out, invariants, and residuals."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation
from support import example_robots, mechanisms
from support.crawling import crawler, crawling, substep
from support.simulated_robots import at, ball, body, collision, joint, link, robot, turntable

from rbd_ros import Robot, Simulator
from rbd_ros.compiler.loops import Vec
from rbd_ros.contact import HalfSpace
from rbd_ros.lookup.resources import resource_path
from rbd_ros.simulation import Physics
from rbd_ros.simulation.records.simulation_state import FORCES, NEAR
from rbd_ros.simulation.stepping.free_base import rotation_by
from rbd_ros.simulation.stepping.joint_law import FORWARD, LOWER, UPPER
from rbd_ros.simulation.stepping.midpoint_step import is_stopped, midpoint_step
from rbd_ros.simulation.stepping.rotations import product

h = 0.01


def arm(dynamics=''):
    """Return three hinges and a slide, damped as `dynamics` says."""
    return robot(
        link('base'),
        link('upper', 2.0, (0.02, 0.03, 0.04), (0.1, 0.0, 0.2)),
        link('fore', 1.0, (0.01, 0.02, 0.01), (0.2, 0.05, 0.0)),
        link('hand', 0.5, (2e-3, 3e-3, 1e-3), (0.0, 0.02, 0.1)),
        link('finger', 0.2, (1e-3, 1e-3, 1e-3), (0.0, 0.0, 0.05)),
        joint('a', 'base', 'upper', 'continuous', (0, 0, 1), (0, 0, 0.1), dynamics),
        joint('b', 'upper', 'fore', 'continuous', (0, 1, 0), (0.3, 0, 0), dynamics),
        joint('c', 'fore', 'hand', 'continuous', (1, 1, 0), (0.3, 0, 0), dynamics),
        joint('d', 'hand', 'finger', 'prismatic', (0, 1, 1), (0, 0, 0.1), SLIDE + dynamics),
    )


SLIDE = '<limit lower="-10" upper="10" effort="100" velocity="100"/>'
START = np.array([0.3, -0.7, 1.1, 0.05])
PUSH = np.array([3.0, -2.0, 1.0, 0.5])


def mean_acceleration(subject, q, v, tau, implicit, damping, h):
    """Return three rounds of (H + h implicit) a = tau - C(v + h/2 a) - damping v.

    At q in the middle.
    """
    H, a = subject.mass_matrix(q) + h * np.diag(implicit), np.zeros(len(v))
    for _ in range(3):
        a = np.linalg.solve(H, tau - subject.bias_force(q, v + h / 2 * a) - damping * v)
    return a


@pytest.mark.parametrize('damping', [0.0, 0.4])
def test_a_step_is_the_method_written_out(damping, rng):
    subject = arm(f'<dynamics damping="{damping}"/>')
    physics, v = Physics(subject, h, 'midpoint'), rng.normal(size=4)
    physics.reset(START, v)
    state = physics.step(PUSH)
    middle = subject.integrate(START, v, h / 2)
    d = np.full(4, damping)
    a = mean_acceleration(subject, middle, v, PUSH, physics.model.implicit_damping, d, h)
    assert_allclose(state.v, v + h * a, atol=1e-12)
    assert_allclose(state.q, subject.integrate(middle, v + h * a, h / 2), atol=1e-12)
    assert_allclose(state.acceleration, a, atol=1e-9)


def test_damping_is_that_of_the_mean_velocity_unless_it_is_stiff():
    """Inertias of 0.5 at a step of 0.01: coefficients up to 50 leave no sign changed."""
    for damping, share in ((1.0, 0.5), (45.0, 0.5), (60.0, 1.0), (1e9, 1.0)):
        subject = turntable(0.5, damping=damping)
        simulator = Simulator(subject, h, 'midpoint')
        simulator.reset(v=[2.0])
        simulator.step()
        x = h * damping / 0.5
        expected = 2.0 * (1.0 - (1.0 - share) * x) / (1.0 + share * x)
        assert simulator.v[0] == pytest.approx(expected, rel=1e-12)
        assert simulator.v[0] >= 0.0
        assert simulator.q[0] == pytest.approx(h / 2 * (2.0 + expected), rel=1e-12)


def end(subject, q, v, integrator, h, wrench=None, push=1.0):
    simulator = Simulator(subject, h, integrator)
    simulator.reset(q, v)
    if wrench is not None:
        simulator.apply_wrench(*wrench)
    tau = np.zeros(subject.nv)
    tau[-4:] = push * PUSH
    simulator.step(tau, n=round(0.16 / h))
    assert simulator.status.substeps == simulator.status.limit_steps == 0
    return np.r_[subject.difference(q, simulator.q), simulator.v]


def order_of(subject, q, v, **options):
    """Return the order at which the integrator approaches short steps of Runge and Kutta."""
    exact = end(subject, q, v, 'rk4', 1e-4, **options)
    errors = [
        np.abs(end(subject, q, v, 'midpoint', step, **options) - exact).max()
        for step in (4e-3, 2e-3, 1e-3)
    ]
    return np.log2(np.divide(errors[:-1], errors[1:]))


@pytest.mark.parametrize(
    'dynamics', ['', '<dynamics damping="0.3"/>', '<dynamics damping="0.3" friction="0.2"/>']
)
def test_it_is_of_second_order_with_damping_and_sliding_friction(dynamics):
    v = np.array([2.0, -3.0, 6.0, 3.0])  # nothing comes to rest in the time
    assert order_of(arm(dynamics), START, v) == pytest.approx([2.0, 2.0], abs=0.15)


def flier():
    """Return a body with an arm, tumbling."""
    return robot(
        link('trunk', 3.0, (0.02, 0.05, 0.06), (0.03, -0.02, 0.05)),
        link('arm', 0.5, (4e-3, 3e-3, 1e-3), (0.0, 0.05, 0.1)),
        joint('elbow', 'trunk', 'arm', axis=(0, 1, 1), xyz=(0.1, 0, 0)),
        floating_base=True,
    )


SPIN = np.array([2.0, 3.0, -1.0, 0.5, -0.3, 1.0, 4.0])


def test_it_is_of_second_order_in_flight_with_torques_and_wrenches():
    """A wrench that moves with the body: its direction and its lever change all the time."""
    subject = flier()
    wrench = ('trunk', [0.1, 0.2, -0.1, 3.0, 2.0, -5.0], 1.0, (0.1, 0.2, -0.1))
    slopes = order_of(subject, subject.neutral(), SPIN, wrench=wrench, push=0.02)
    assert slopes == pytest.approx([2.0, 2.0], abs=0.15)


def about_the_center(subject, q, v):
    """Return the center of mass, and momentum about it."""
    total, c = subject.momentum(q, v), subject.center_of_mass(q)
    return c, total[:3] - np.cross(c, total[3:]), total[3:]


def test_momentum_changes_by_the_impulse_of_forces_at_the_midpoint(rng):
    """Gravity, torques and damping of the base's joint, a wrench."""
    subject = flier()
    physics = Physics(subject, h, 'midpoint')
    physics.allow_external_forces()
    q = subject.random_configuration(rng)
    damping = np.r_[rng.uniform(0.1, 2.0, 6), 0.0]
    physics.model = physics.model._replace(damping=damping, implicit_damping=0.3 * damping)
    physics.reset(q, SPIN)
    state, work = physics.state, physics.fields.work
    state.applied[:] = rng.normal(size=7)
    forces, use = physics.external_forces, 1
    forces.force[0], forces.moment[0], forces.point[0] = rng.normal(size=(3, 3))
    forces.use[0] = (1, use, -1)
    state.counters[FORCES] = 1
    work.dynamics.applied_force[:] = state.applied
    assert midpoint_step(substep(physics))
    assert list(state.q) == list(q)  # the state is as it was

    middle = subject.integrate(q, SPIN, h / 2)
    R = Rotation.from_quat(middle[[1, 2, 3, 0]]).as_matrix()
    next_v = SPIN + h * work.dynamics.acceleration
    found_q, found_v = work.motion.next_q, work.motion.next_v
    lever = R @ forces.point[0]
    wrench = np.r_[R.T @ (forces.moment[0] + np.cross(lever, forces.force[0])), np.zeros(3)]
    wrench[3:] = R.T @ forces.force[0]
    on_base = (
        state.applied[:6] + wrench - 0.7 * (damping * SPIN)[:6] - 0.3 * (damping * next_v)[:6]
    )
    couple, push = R @ on_base[:3], R @ on_base[3:]
    c, angular, linear = about_the_center(subject, q, SPIN)
    total = push + 3.5 * np.array(subject.gravity)
    way = h * (linear + 0.5 * h * total) / 3.5
    turn = couple + np.cross(middle[4:7] - c - 0.5 * way, push)
    center, spin, momentum = about_the_center(subject, found_q, found_v)
    assert_allclose(center, c + way, atol=1e-12)
    assert_allclose(momentum, linear + h * total, atol=1e-12)
    assert_allclose(spin, angular + h * turn, atol=1e-12)
    assert found_v[6] == pytest.approx(next_v[6], abs=1e-14)
    assert found_q[7] == pytest.approx(middle[7] + h / 2 * next_v[6], abs=1e-14)


def test_the_orientation_is_that_of_the_velocity_which_has_the_momentum():
    """To third order in what was corrected; without it, energy drifts."""
    subject = flier()
    physics = Physics(subject, h, 'midpoint')
    physics.reset(subject.neutral(), SPIN)
    state = physics.step(np.zeros(7))
    middle = subject.integrate(subject.neutral(), SPIN, h / 2)
    expected = subject.integrate(middle, state.v, h / 2)
    assert_allclose(state.q[:4], expected[:4], atol=1e-10)


@pytest.mark.parametrize('subject, q, v', [(arm(), START, np.ones(4)), (flier(), None, SPIN)])
def test_a_step_back_leads_where_it_came_from(subject, q, v):
    """Symmetric in time but for what three rounds leave: an error of fourth order, not of third.

    A body that flies is as symmetric as its orientation is corrected.
    """
    q = subject.neutral() if q is None else q
    errors = []
    for step in (8e-3, 4e-3, 2e-3):
        physics = Physics(subject, step, 'midpoint')
        physics.reset(q, v)
        state = physics.step(np.zeros(len(v)))
        physics.reset(state.q.copy(), -state.v)
        state = physics.step(np.zeros(len(v)))
        back = np.r_[subject.difference(q, state.q), state.v + v]
        errors.append(np.abs(back).max())
    slopes = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all(slopes > 3.7), slopes


def test_two_robots_fly_as_each_does_alone(rng):
    elements = {
        name: (
            link(name, 2.0, (0.02, 0.03, 0.04), (0.1, -0.2, 0.3)),
            link(f'{name}l', 0.5, (2e-3, 3e-3, 4e-3), (0.2, 0.1, 0)),
            joint(f'{name}1', name, f'{name}l', 'continuous', (0, 0, 1), (0.1, 0, 0)),
        )
        for name in 'ab'
    }
    floating = (joint(f'to_{name}', 'world', name, 'floating') for name in 'ab')
    both = robot(link('world'), *elements['a'], *elements['b'], *floating)
    physics = Physics(both, h, 'midpoint')
    q, v, tau = both.random_configuration(rng), rng.normal(size=14), 0.1 * rng.normal(size=14)
    physics.reset(q, v)
    found = physics.step(tau, 20)
    for k, name in enumerate('ab'):
        one = Physics(robot(*elements[name], floating_base=True), h, 'midpoint')
        at_q, at_v = slice(8 * k, 8 * k + 8), slice(7 * k, 7 * k + 7)
        one.reset(q[at_q], v[at_v])
        alone = one.step(tau[at_v], 20)
        assert_allclose(found.q[at_q], alone.q, atol=1e-11)
        assert_allclose(found.v[at_v], alone.v, atol=1e-11)


def test_a_quaternion_is_turned_in_the_body(rng):
    for angle in (0.0, 1e-9, 0.1, 3.0):
        u, start = rng.normal(size=3), rng.normal(size=4)
        u *= angle / np.linalg.norm(u)
        start /= np.linalg.norm(start)
        end = np.array(product(Vec(*start), rotation_by(Vec(*u))))
        turned = Rotation.from_quat(start[[1, 2, 3, 0]]) * Rotation.from_rotvec(u)
        expected = turned.as_quat()[[3, 0, 1, 2]]
        assert_allclose(end * np.sign(end @ expected), expected, atol=1e-15)


@pytest.fixture(scope='module')
def quadruped():
    name = 'anymal_b_simple_description/anymal'
    return Robot.from_urdf(example_robots.without_losses(name), floating_base=True)


def tumbler():
    """Return a free box with a smaller one on an arm."""
    return robot(
        link('body', 2.0, (0.02, 0.03, 0.05), (0, 0, 0), collision('box size="0.3 0.2 0.1"')),
        link('arm', 0.5, (4e-3, 3e-3, 1e-3), (0, 0, 0.1), collision('box size="0.05 0.05 0.1"')),
        joint('elbow', 'body', 'arm', axis=(0, 1, 1), xyz=(0.2, 0, 0.1)),
        floating_base=True,
    )


@pytest.mark.parametrize('integrator, allowed', [('midpoint', 1e-5), ('rk4', 1e-10)])
def test_a_thrown_robot_keeps_its_energy_until_it_lands(integrator, allowed):
    simulator = Simulator(tumbler(), 1e-3, integrator, ground=True)
    v = np.array([2.0, 1.0, -1.5, 0.3, 0.2, 0.1, 3.0])
    simulator.reset([1, 0, 0, 0, 0, 0, 2.0, 0.0], v)
    alone = Simulator(tumbler(), 1e-3, integrator)
    alone.reset(simulator.q, v)
    before = simulator.robot.energy(simulator.q, v).total
    for each in (simulator, alone):
        each.step(n=300)
    assert simulator.status.contacts == 0 and np.array_equal(simulator.q, alone.q)
    after = simulator.robot.energy(simulator.q, simulator.v).total
    assert after == pytest.approx(before, abs=allowed * before)
    simulator.step(n=2700)
    assert simulator.status.contacts >= 3 and max(simulator.residuals) < 1e-8
    assert simulator.status.unconverged_steps == 0
    assert max(abs(contact.depth) for contact in simulator.contacts) < 1e-4
    assert np.abs(simulator.v[:6]).max() < 1e-3  # the arm goes on, without friction


def test_loops_are_not_closed_by_rk4_in_a_world():
    linkage = Robot.from_urdf(
        resource_path('urdf', 'four_bar.urdf'), extension=resource_path('config', 'four_bar.yaml')
    )
    with pytest.raises(ValueError, match='rk4 does not support in a world; use semi_implicit'):
        Simulator(linkage, integrator='rk4', world={})


@pytest.mark.parametrize('integrator, allowed', [('midpoint', 1e-5), ('rk4', 1e-13)])
def test_a_quadruped_that_was_thrown_keeps_energy_and_momentum(quadruped, integrator, allowed):
    """SimBenchmark's test of ANYmal: twice its weight upwards for 1 s, then 2 s of free motion.

    The mean of (E - E0)^2 [J^2] was published as 1.2e-2 for RaiSim and 3.5 for MuJoCo's Euler.
    """
    simulator = Simulator(quadruped, 1e-3, integrator)
    q, mass = quadruped.neutral(), quadruped.mass_matrix(quadruped.neutral())[5, 5]
    q[6], q[7:] = 2.0, [0.03, 0.4, -0.8, -0.03, 0.4, -0.8, 0.03, -0.4, 0.8, -0.03, -0.4, 0.8]
    simulator.reset(q)
    push = [0, 0, 0, 0, 0, 2 * mass * 9.81]
    simulator.apply_wrench(quadruped.link_names[0], push, 1.0, (0, 0, 0))
    simulator.step(n=1000)
    energy = quadruped.energy(simulator.q, simulator.v).total
    center, angular, linear = about_the_center(quadruped, simulator.q, simulator.v)
    errors = []
    for _ in range(2000):
        simulator.step()
        errors.append(quadruped.energy(simulator.q, simulator.v).total - energy)
    assert np.mean(np.square(errors)) < allowed
    if integrator == 'midpoint':
        fallen, end_angular, end_linear = about_the_center(quadruped, simulator.q, simulator.v)
        gravity = np.array(quadruped.gravity)
        assert_allclose(end_angular, angular, atol=1e-10)
        assert_allclose(end_linear, linear + 2.0 * mass * gravity, atol=1e-9)
        assert_allclose(fallen, center + 2.0 * linear / mass + 2.0 * gravity, atol=1e-9)
    assert np.abs(simulator.v[6:]).max() > 5.0  # its legs do swing


@pytest.mark.parametrize('name, allowed', [('double_pendulum', 1e-4), ('ur5_robot', 0.05)])
def test_a_minute_of_falling_loses_and_gains_no_energy(name, allowed):
    """Of the 50 J of the arm, which swings through all its configurations, and 0.3 J."""
    subject = Robot.from_urdf(example_robots.without_losses(name))
    simulator = Simulator(subject, 1e-3, 'midpoint')
    simulator.reset([2.0, 1.0] if name == 'double_pendulum' else [0.3, -0.9, 0.8, 0.2, 0.1, 0.0])
    start, worst = subject.energy(simulator.q, simulator.v).total, 0.0
    for _ in range(6000):
        simulator.step(n=10)
        energy = subject.energy(simulator.q, simulator.v).total
        worst = max(worst, abs(energy - start))
    assert worst < allowed
    assert simulator.status.limit_steps == simulator.status.velocity_clamped_steps == 0


def test_a_body_spun_about_its_middle_axis_keeps_energy_and_momentum():
    """The Dzhanibekov effect for a minute, at a tenth of a radian a step."""
    spinner = body(1.0, (0.1, 0.2, 0.25), center=(0.03, -0.02, 0.05), gravity=(0, 0, 0))
    simulator = Simulator(spinner, h, 'midpoint')
    simulator.reset(v=[0.01, 6.0, 0.0, 0.1, 0.2, -0.1])
    start, energy = spinner.momentum(simulator.q, simulator.v), []
    begin, spins = spinner.energy(simulator.q, simulator.v).kinetic, []
    for _ in range(6000):
        simulator.step()
        spins.append(simulator.v[1])
        energy.append(spinner.energy(simulator.q, simulator.v).kinetic - begin)
    assert_allclose(spinner.momentum(simulator.q, simulator.v), start, atol=1e-10)
    assert np.abs(energy).max() < 2e-4 * begin
    assert abs(np.mean(energy[-2000:])) < 3e-5 * begin  # it comes back, turn after turn
    assert np.count_nonzero(np.diff(np.sign(spins))) >= 3


def test_a_limit_is_for_the_semi_implicit_step():
    """Bit by bit, from where it is reached; and a joint leaves it smoothly."""
    limit = '<limit lower="-1" upper="0.3" effort="9" velocity="9"/>'
    subject = turntable(0.2, limit=limit, kind='revolute')
    one, other = (Simulator(subject, h, name) for name in ('midpoint', 'semi_implicit'))
    for simulator in (one, other):
        simulator.reset([0.299], [1.0])
        simulator.step([0.5], n=3)
    assert one.q[0] == other.q[0] == 0.3 and one.v[0] == other.v[0] == 0.0
    assert one.constraint_force == pytest.approx([-0.5])
    one.step([-0.5])
    assert one.v[0] == pytest.approx(-h * 0.5 / 0.2)
    assert one.q[0] == pytest.approx(0.3 - 0.5 * h * h * 0.5 / 0.2)
    assert one.constraint_force == pytest.approx([0.0])


def test_the_velocity_clamp_ends_a_smooth_step():
    simulator = Simulator(turntable(0.2), h, 'midpoint', speed_limit=3.0)
    simulator.reset(v=[2.99])
    simulator.step([1.0])
    assert simulator.v[0] == 3.0 and simulator.status.velocity_clamped_steps == 1
    dry = Simulator(turntable(0.2, friction=0.1), h, 'midpoint', speed_limit=3.0)
    dry.reset(v=[2.99])
    dry.step([1.0])
    assert dry.v[0] == 3.0 and dry.status.velocity_clamped_steps == 1


def test_near_the_ground_is_not_on_it():
    """A ball that flies close over the ground moves bitwise as if there were none."""
    above, free = (Simulator(ball(), 1e-3, 'midpoint', ground) for ground in (HalfSpace(), None))
    for simulator in (above, free):
        simulator.reset(at((0, 0, 0.1 + 1e-4)), [0.3, 0.2, 0.1, 1.0, 0.0, 0.05])
        simulator.step(n=5)
    assert above.physics.state.counters[NEAR] == 1
    assert list(above.q) == list(free.q) and list(above.v) == list(free.v)


def test_a_step_in_contact_is_semi_implicit():
    one, other = (
        Simulator(ball(), 1e-3, name, HalfSpace()) for name in ('midpoint', 'semi_implicit')
    )
    for simulator in (one, other):
        simulator.reset(at((0, 0, 0.0999)), [0.3, 0.2, 0.1, 1.0, 0.0, -0.5])
        simulator.step(n=5)
        assert simulator.contacts
    assert list(one.q) == list(other.q) and list(one.v) == list(other.v)


def test_limits_and_contacts_stop_a_motion():
    physics, _ = crawling(2, 'midpoint')
    state, impulse = physics.state, np.zeros(9)
    state.segment[:] = FORWARD
    assert not is_stopped(state, impulse, True)
    impulse[4] = -1e-3
    assert is_stopped(state, impulse, True) and not is_stopped(state, impulse, False)
    for segment in (LOWER, UPPER):
        state.segment[8] = segment
        assert is_stopped(state, impulse, False)


def test_a_step_that_is_none_leaves_the_forces_as_they_were(rng):
    subject = crawler()
    physics = Physics(subject, 0.02, 'midpoint')
    physics.allow_external_forces()
    q = subject.neutral()
    q[8] = 0.99
    v = rng.normal(size=9)
    v[7] = 20.0
    physics.reset(q, v)
    state, work = physics.state, physics.fields.work
    physics.external_forces.force[0] = [1.0, 2.0, 3.0]
    physics.external_forces.use[0] = (2, 0, -1)
    state.counters[FORCES] = 1
    from rbd_ros.simulation.stepping.external_forces import find_applied_force

    find_applied_force(physics.model, state, physics.external_forces, work.dynamics)
    before = work.dynamics.applied_force.copy()
    assert not midpoint_step(substep(physics))
    assert list(work.dynamics.applied_force) == list(before)
    assert list(state.q) == list(q) and list(state.v) == list(v)


def test_loops_take_another_integrator():
    linkage = mechanisms.four_bar()
    with pytest.raises(ValueError, match='loops.*use rk4 or semi_implicit'):
        Simulator(linkage, integrator='midpoint')


def test_momentum_that_is_not_finite_ends_a_motion():
    """The velocity is finite, the moment of the force about the center of mass is not."""
    simulator = Simulator(body(), 1.0, 'midpoint')
    q = at((1e10, 1e10, 0.0))
    simulator.reset(q, [0.0, 0.0, 0.0, 1e5, 0.0, 0.0])
    before = simulator.q
    with pytest.raises(FloatingPointError):
        simulator.step([0.0, 0.0, 0.0, 0.0, 1.7e308, 0.0])
    assert list(simulator.q) == list(before) and simulator.v[3] == 1e5


def test_friction_in_the_joint_of_a_free_base_takes_its_momentum():
    free = '<dynamics friction="0.5"/>'
    subject = robot(
        link('world'),
        link('body', 2.0, (0.1, 0.1, 0.1)),
        joint('free', 'world', 'body', 'floating', inside=free),
        gravity=(0, 0, 0),
    )
    assert np.array_equal(subject.friction, [0.5] * 6)
    physics = Physics(subject, h, 'midpoint')
    physics.reset(subject.neutral(), np.array([0.0, 0.0, 1.0, 0.0, 0.0, 3.0]))
    state = physics.step(np.zeros(6))
    expected = [0.0, 0.0, 1.0 - h * 0.5 / 0.1, 0.0, 0.0, 3.0 - h * 0.5 / 2.0]
    assert_allclose(state.v, expected, atol=1e-12)
    assert state.q[6] == pytest.approx(h / 2 * (3.0 + expected[5]), abs=1e-12)
