# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Implicit PD servos: torque kp (q_d - q) + kd (v_d - v) at the end of the step, clipped."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from support import example_robots, fresh_python, loop_mechanisms as mechanisms
from support.simulated_robots import collision, joint, link, pendulum, robot, turntable

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.lookup.resources import resource_path
from rbd_ros.simulation.stepping import joint_servo

INTEGRATORS = ('semi_implicit', 'midpoint', 'rk4')
EACH = pytest.mark.parametrize('integrator', INTEGRATORS)
G = 9.81


def limit(effort):
    return f'<limit lower="-9" upper="9" effort="{effort!r}" velocity="99"/>'


def arm(effort=1e4, dynamics=''):
    """Return three hinges, of which gravity bends two."""
    inside = limit(effort) + dynamics
    return robot(
        link('base'),
        link('upper', 2.0, (0.02, 0.03, 0.04), (0.1, 0.0, 0.2)),
        link('fore', 1.0, (0.01, 0.02, 0.01), (0.2, 0.05, 0.0)),
        link('hand', 0.5, (2e-3, 3e-3, 1e-3), (0.0, 0.02, 0.1)),
        joint('a', 'base', 'upper', 'revolute', (0, 0, 1), (0, 0, 0.1), inside),
        joint('b', 'upper', 'fore', 'revolute', (0, 1, 0), (0.3, 0, 0), inside),
        joint('c', 'fore', 'hand', 'revolute', (1, 1, 0), (0.3, 0, 0), inside),
    )


START = np.array([0.3, -0.7, 1.1])


@EACH
def test_a_joint_that_turns_forever_goes_the_shorter_way(integrator):
    """Also by targets that leap at pi; one with limits goes to its target."""
    inside = '<limit effort="1e4" velocity="99"/>'
    wheels = robot(
        *(link(name, 1.0, (0.1, 0.1, 0.3)) for name in ('base', 'wheel', 'arm')),
        joint('turn', 'base', 'wheel', 'continuous', (0, 0, 1), (0, 0, 0), inside),
        joint('swing', 'base', 'arm', 'revolute', (0, 0, 1), (0, 0, 1), limit(1e4)),
    )
    simulator = Simulator(wheels, 1e-3, integrator)
    simulator.reset([3.0, 3.0])
    simulator.set_joint_pd([-3.0, -3.0], kp=100.0, kd=20.0)
    derivatives = simulator.step_derivatives()
    simulator.step()
    assert_allclose(derivatives.v, simulator.v, rtol=1e-9)
    assert simulator.v[0] > 0.0 > simulator.v[1]
    simulator.step(n=3000)
    assert_allclose(simulator.q, [2.0 * np.pi - 3.0, -3.0], atol=1e-4)
    # Round and round, by angles as encoders give them.
    simulator.reset([0.0, 0.0])
    angles = 2.0 * np.arange(3000) * 1e-3
    targets = np.column_stack([np.angle(np.exp(1j * angles)), np.zeros(3000)])
    turned = simulator.rollout(steps=3000, target=targets).q[0]
    assert_allclose(turned[-1], [angles[-1] - 0.4, 0.0], atol=1e-2)  # behind by kd v / kp


# -- the law of one joint -------------------------------------------------------------------------


@EACH
@pytest.mark.parametrize('gains', [(20.0, 1.0), (1e8, 0.0), (0.0, 1e6), (1e8, 1e5)])
def test_a_step_of_one_joint_is_implicit_euler(integrator, gains):
    """I (v' - v) / h = tau + kp (q_d - q - h v') + kd (v_d - v')."""
    (kp, kd), inertia, h, tau = gains, 0.3, 1e-3, 0.7
    q, v, goal, speed = 0.4, -1.3, 0.5, 0.2
    simulator = Simulator(turntable(inertia), h, integrator)
    simulator.reset([q], [v])
    simulator.set_joint_pd([goal], [speed], kp=kp, kd=kd)
    for _ in range(3):
        push = tau + kp * (goal - q) + kd * speed
        end = (inertia * v + h * push) / (inertia + h * kd + h * h * kp)
        torque = tau + kp * (goal - q - h * end) + kd * (speed - end)
        q, v = q + h * end, end
        simulator.step([tau])
        assert_allclose(simulator.v, [v], rtol=1e-9, atol=1e-12)
        assert_allclose(simulator.q, [q], rtol=1e-12)
        assert_allclose(simulator.tau, [torque], rtol=1e-6, atol=1e-9 * kp * h)
    assert not simulator.saturated.any()


def solved(inertia, momentum, push, slope, effort, h):
    """Return the velocity of inertia v = momentum + h clip(push - slope v), by bisection.

    And the torque.
    """

    def torque(v):
        return np.clip(push - slope * v, -effort, effort)

    v = brentq(lambda x: inertia * x - momentum - h * torque(x), -1e4, 1e4, xtol=1e-16, rtol=1e-15)
    return v, torque(v)


@EACH
@pytest.mark.parametrize('goal', [0.3, -0.3, 0.0201, 0.0199])
def test_a_torque_is_cut_at_the_effort_limit(integrator, goal):
    """The velocity that solves I (v' - v) / h = clip(torque at v'), by another method."""
    inertia, h, kp, kd, effort = 0.3, 1e-3, 500.0, 3.0, 10.0
    table = turntable(inertia, limit=limit(effort), kind='revolute')
    simulator = Simulator(table, h, integrator)
    simulator.set_joint_pd([goal], kp=kp, kd=kd)
    q, v, cut = 0.0, 0.0, 0
    for _ in range(300):
        push = kp * (goal - q)
        end, expected = solved(inertia, inertia * v, push, kd + h * kp, effort, h)
        q += h * end
        simulator.step()
        assert_allclose(simulator.tau, [expected], rtol=1e-8, atol=1e-8)
        requested = kp * (goal - q) - kd * end
        if abs(abs(requested) - effort) > 1e-6:
            assert simulator.saturated[0] == (abs(requested) > effort)
        cut += int(simulator.saturated[0])
        v = end
        assert_allclose(simulator.v, [v], rtol=1e-8, atol=1e-10)
    assert simulator.status.saturated_steps == cut
    assert (cut > 0) == (kp * abs(goal) > effort + 0.05)


@EACH
def test_stiff_servos_that_are_cut_go_over_from_one_limit_to_the_other(integrator):
    """At 1e8 N m/rad all is cut but the last steps; then it stands where it should."""
    table = turntable(0.3, limit=limit(50.0), kind='revolute')
    simulator = Simulator(table, 1e-3, integrator)
    simulator.reset([0.0], [1.5])
    simulator.set_joint_pd([0.05], kp=1e8)
    torques = []
    for _ in range(1000):
        simulator.step()
        torques.append(simulator.tau[0])
    torques = np.array(torques)
    assert (np.abs(torques) <= 50.0).all()
    assert (torques == 50.0).any() and (torques == -50.0).any()
    assert_allclose(simulator.q, [0.05], atol=1e-9)
    assert_allclose(simulator.v, [0.0], atol=1e-6)
    assert simulator.status.unconverged_steps == 0


def test_feed_forward_is_cut_together_with_the_servo():
    table = turntable(0.3, limit=limit(10.0), kind='revolute')
    simulator = Simulator(table, 1e-3, 'semi_implicit')
    simulator.set_joint_pd([-0.1], kp=100.0)  # -10 N m
    simulator.step([15.0])
    # Were the 15 cut first, nothing would be left.
    assert_allclose(simulator.tau, [5.0], atol=1e-2)
    simulator.step([30.0])
    assert simulator.tau[0] == 10.0 and simulator.saturated[0]


def test_a_joint_without_effort_stays_free():
    subject = robot(
        link('base'),
        link('a', 1.0, (0.1,) * 3),
        link('b', 1.0, (0.1,) * 3),
        joint('a', 'base', 'a', 'revolute', (0, 0, 1), inside=limit(0.0)),
        joint('b', 'a', 'b', 'revolute', (0, 0, 1), inside=limit(99.0)),
    )
    simulator = Simulator(subject, 1e-3, 'semi_implicit')
    simulator.reset(v=[1.0, -1.0])
    simulator.set_joint_pd([1.0, 0.0], kp=1e5)
    simulator.step()
    assert simulator.tau[0] == 0.0
    # Momentum of both about the axis.
    H = subject.mass_matrix(simulator.q)
    assert_allclose((H @ simulator.v)[0], (H @ [1.0, -1.0])[0], rtol=1e-12)
    simulator.set_joint_pd(kp=[1e5, 0.0])
    simulator.step()
    assert simulator.tau[0] == 0.0


# -- many joints ----------------------------------------------------------------------------------


def clipped_solution(subject, q, v, goal, kp, kd, h):
    """Return the velocity of H (v' - v) + h C = h clip(kp (goal - q - h v') - kd v').

    By bisection of each.

    Sweeps over the joints, each of which is solved exactly; they converge as H is positive.
    """
    H, C, effort = subject.mass_matrix(q), subject.bias_force(q, v), subject.effort_limits
    x = v.copy()
    for _ in range(2000):
        before = x.copy()
        for i in range(len(v)):
            rest = H[i] @ v - h * C[i] - H[i] @ x + H[i, i] * x[i]
            push, slope = kp[i] * (goal[i] - q[i]), kd[i] + h * kp[i]
            x[i], _ = solved(H[i, i], rest, push, slope, effort[i], h)
        if np.abs(x - before).max() < 1e-15:
            break
    return x


@pytest.mark.parametrize('seed', range(8))
def test_torques_of_coupled_joints_are_cut_where_the_law_says(seed):
    rng = np.random.default_rng(seed)
    subject, h = arm(effort=8.0), 1e-3
    simulator = Simulator(subject, h, 'semi_implicit')
    kp, kd = 10.0 ** rng.uniform(1, 6, 3), 10.0 ** rng.uniform(-1, 3, 3)
    q, v = rng.normal(size=3), rng.normal(size=3)
    goal = q + rng.normal(size=3) * 10.0 ** rng.uniform(-3, 0, 3)
    simulator.reset(q, v)
    simulator.set_joint_pd(goal, kp=kp, kd=kd)
    cut = np.zeros(3)
    for _ in range(4):
        expected = clipped_solution(subject, q, v, goal, kp, kd, h)
        simulator.step()
        assert_allclose(simulator.v, expected, rtol=1e-6, atol=1e-8)
        requested = kp * (goal - q - h * expected) - kd * expected
        assert_allclose(simulator.tau, np.clip(requested, -8, 8), rtol=1e-5, atol=1e-4)
        q, v = simulator.q, simulator.v
        cut += simulator.saturated
    assert cut.any()


@EACH
def test_a_motion_converges_to_the_exact_one_with_first_order(integrator):
    """Motion of the same arm with springs and dampers in continuous time (DOP853)."""
    subject, kp, kd = arm(), np.array([60.0, 80.0, 40.0]), np.array([3.0, 4.0, 1.0])
    goal, v = START + [0.3, 0.2, -0.2], np.array([1.0, -0.5, 0.4])

    def rate(t, y):
        torque = kp * (goal - y[:3]) - kd * y[3:]
        return np.concatenate([y[3:], subject.forward_dynamics(y[:3], y[3:], torque)])

    end = solve_ivp(
        rate, (0, 0.2), np.concatenate([START, v]), method='DOP853', rtol=1e-11, atol=1e-11
    ).y[:, -1]
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        simulator = Simulator(subject, h, integrator)
        simulator.reset(START, v)
        simulator.set_joint_pd(goal, kp=kp, kd=kd)
        simulator.step(n=round(0.2 / h))
        errors.append(np.abs(simulator.q - end[:3]).max())
    assert errors[-1] < 2e-3
    assert 1.7 < errors[0] / errors[1] < 2.3
    assert 1.8 < errors[1] / errors[2] < 2.2


@EACH
def test_a_joint_that_carries_weight_sags_by_torque_over_gain(integrator):
    subject, kp = arm(), np.array([1e4, 3e3, 2e3])
    simulator = Simulator(subject, 1e-3, integrator)
    simulator.reset(START)
    simulator.set_joint_pd(START, kp=kp, kd=[200.0, 100.0, 50.0])
    simulator.step(n=4000)
    assert_allclose(simulator.v, 0.0, atol=1e-12)
    assert_allclose(kp * (START - simulator.q), subject.gravity_torque(simulator.q), atol=1e-9)
    assert_allclose(simulator.tau, subject.gravity_torque(simulator.q), atol=1e-9)


@EACH
@pytest.mark.parametrize('name', ['ur5_robot', 'panda', 'go1'])
@pytest.mark.parametrize('kp', [1e3, 1e8])
def test_real_robots_stand_with_arbitrarily_stiff_servos(name, kp, integrator):
    floating = name == 'go1'
    subject = Robot.from_urdf(example_robots.path(name), floating_base=floating)
    simulator = Simulator(subject, 1e-3, integrator)
    rng, first = np.random.default_rng(1), 6 if floating else 0
    q = np.clip(subject.neutral(), subject.lower_limits, subject.upper_limits)
    v = np.concatenate([np.zeros(first), rng.normal(size=subject.nv - first)])
    simulator.reset(q, 0.3 * v)
    simulator.set_joint_pd(q, kp=kp)
    fastest = 0.0
    for _ in range(50):
        simulator.step(n=10)
        fastest = max(fastest, np.abs(simulator.v[first:]).max())
    assert fastest < (60.0 if kp < 1e8 else 2.0)
    assert np.isfinite(simulator.q).all()
    assert simulator.status.unconverged_steps == 0
    assert (np.abs(simulator.tau) <= subject.effort_limits).all()
    if kp == 1e8:
        assert_allclose(
            simulator.q[-(subject.nv - first) :], q[-(subject.nv - first) :], atol=2e-5
        )


def test_servos_of_infinite_gain_hold_a_joint():
    subject = arm()
    errors = []
    for kp in (1e4, 1e6, 1e8, 1e10):
        simulator = Simulator(subject, 1e-3, 'semi_implicit')
        simulator.reset(START)
        simulator.set_joint_pd(START, kp=kp)
        simulator.step(n=500)
        errors.append(np.abs(simulator.q - START).max())
    assert errors[1] < errors[0] / 20 and errors[2] < errors[1] / 20 and errors[3] < 1e-9


@EACH
def test_servos_take_energy_away(integrator):
    """From a start anywhere, at rates that no explicit step would bear."""
    subject, kp = arm(), 1e5
    simulator = Simulator(subject, 1e-3, integrator)
    simulator.reset(START, [2.0, -1.0, 3.0])
    simulator.set_joint_pd(START + 0.1, kp=kp)

    def energy():
        q, v = simulator.q, simulator.v
        return sum(subject.energy(q, v)[:2]) + 0.5 * kp * ((START + 0.1 - q) ** 2).sum()

    before, start = energy(), energy()
    for _ in range(40):
        simulator.step(n=5)
        assert energy() <= before + 1e-3 * start
        before = energy()
    assert before < 0.1 * start


# -- with other features
# ---------------------------------------------------------------------------


def test_a_servo_with_friction_and_a_joint_limit():
    """Within friction / kp it sticks; a stop in the way holds it, and takes the rest."""
    table = turntable(
        0.3,
        friction=2.0,
        limit='<limit lower="-1" upper="1" effort="40" velocity="9"/>',
        kind='revolute',
    )
    for integrator in INTEGRATORS:
        simulator = Simulator(table, 1e-3, integrator)
        simulator.set_joint_pd([0.015], kp=100.0, kd=1.0)
        simulator.step(n=100)
        assert simulator.q[0] == 0.0 and simulator.v[0] == 0.0
        assert_allclose(simulator.tau, [1.5])
        simulator.set_joint_pd([1.2], kp=100.0, kd=10.0)
        simulator.step(n=3000)
        assert_allclose(simulator.q, [1.0], atol=1e-12)
        assert_allclose(simulator.tau, [20.0], rtol=1e-9)
        assert_allclose(simulator.constraint_force, [-20.0], rtol=1e-9)


@EACH
def test_gears_are_held_by_the_joint_that_they_follow(integrator):
    mimic = '<mimic joint="a" multiplier="-2" offset="0.3"/>'
    subject = robot(
        link('base'),
        link('upper', 2.0, (0.02, 0.03, 0.04), (0.1, 0.0, 0.2)),
        link('fore', 1.0, (0.01, 0.02, 0.01), (0.2, 0.05, 0.0)),
        joint('a', 'base', 'upper', 'revolute', (0, 1, 0), (0, 0, 0.1), limit(1e3)),
        joint('b', 'upper', 'fore', 'revolute', (0, 1, 0), (0.3, 0, 0), limit(1e3) + mimic),
    )
    simulator, kp, h = Simulator(subject, 1e-3, integrator), 1e5, 1e-3
    simulator.reset([0.4])
    simulator.set_joint_pd([0.4], kp=kp)
    simulator.step()
    inertia, weight = subject.mass_matrix([0.4])[0, 0], subject.gravity_torque([0.4])[0]
    assert_allclose(simulator.v, [-h * weight / (inertia + h * h * kp)], rtol=1e-4)
    simulator.step(n=1000)
    assert_allclose(kp * (0.4 - simulator.q), subject.gravity_torque(simulator.q), rtol=1e-6)


@EACH
def test_the_momentum_of_a_free_base_is_kept(integrator):
    """Servos are inner forces, also cut ones."""
    subject = Robot.from_urdf(resource_path('urdf', 'quadruped.urdf'), floating_base=True)
    simulator = Simulator(subject, 1e-3, integrator)
    rng = np.random.default_rng(3)
    q, v = subject.neutral(), 0.5 * rng.normal(size=subject.nv)
    simulator.reset(q, v)
    simulator.set_joint_pd(q, kp=1e6, kd=1.0)

    def momentum():
        return np.asarray(subject.momentum(simulator.q, simulator.v))

    start = momentum()
    steps = 200
    simulator.step(n=steps)
    mass = sum(body.inertia.mass for body in subject.model.bodies)
    fallen = start[3:] + mass * subject.gravity * steps * 1e-3
    assert_allclose(momentum()[3:], fallen, atol=1e-9)
    assert simulator.status.saturated_steps > 0


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
def test_a_loop_with_a_servo_at_its_crank(integrator):
    linkage = mechanisms.four_bar()
    simulator = Simulator(linkage, 1e-3, integrator)
    q = simulator.q
    simulator.set_joint_pd(q, kp=[1e8, 0, 0])
    simulator.step(n=300)
    assert_allclose(simulator.q, q, atol=1e-6)
    assert np.abs(simulator.loop_errors).max() < 1e-9
    # Virtual work: of the crank's torque and of gravity, along the motion that is left.
    G = np.linalg.svd(linkage.loops.closure(simulator.q).K)[2][-1]
    assert_allclose(G @ simulator.tau, G @ linkage.gravity_torque(simulator.q), rtol=1e-6)


@pytest.mark.slow
def test_a_loop_in_a_world_that_touches_nothing_moves_as_it_would_alone():
    """To the bit, also where its servo is cut by what closing the loop changes."""
    linkage, found = mechanisms.four_bar(), []
    far = {'type': 'sphere', 'radius': 0.1, 'xyz': [50, 0, 0]}
    for world in (None, {'gravity': [*map(float, linkage.gravity)], 'objects': {'far': far}}):
        simulator = Simulator(linkage, integrator='semi_implicit', world=world)
        simulator.set_joint_pd(simulator.q + [0.8, 0.0, 0.0], kp=[1e5, 0, 0], kd=[1e2, 0, 0])
        simulator.step(n=60)
        assert simulator.status.saturated_steps > 40
        found.append(np.concatenate([simulator.q, simulator.v]))
    assert np.array_equal(*found)


@EACH
def test_steps_that_are_divided(integrator):
    """At 1000 rad/s a step of 1 ms is eight: the torque is that of the last one's end."""
    table, h, kd, inertia = turntable(0.3), 1e-3, 2.0, 0.3
    simulator = Simulator(table, h, integrator)
    simulator.reset(v=[990.0])
    simulator.set_joint_pd(kp=0.0, kd=kd)
    simulator.step()
    assert simulator.status.substeps == 7
    v = 990.0 / (1.0 + h / 8 * kd / inertia) ** 8
    assert_allclose(simulator.v, [v], rtol=1e-12)
    assert_allclose(simulator.tau, [-kd * v], rtol=1e-9)


@pytest.mark.slow
def test_on_soft_ground():
    subject = robot(
        link('rail'),
        link('slide', 2.0, (0.1,) * 3, shape=collision('sphere radius="0.1"')),
        joint('z', 'rail', 'slide', 'prismatic', (0, 0, 1), (0, 0, 0.1), limit(200.0)),
    )
    for integrator in INTEGRATORS:
        simulator = Simulator(subject, 1e-3, integrator, ground=HalfSpace())
        simulator.set_joint_pd([-0.01], kp=1e6, kd=1e3)
        simulator.step(n=1000)
        (contact,) = simulator.contacts
        # 1e6 N/m against the ground's 5e4 N/m would push with 500 N, but for the limit.
        assert simulator.tau[0] == -200.0 and simulator.saturated[0]
        assert_allclose(contact.force[2], 200.0 + 2.0 * G, rtol=1e-6)


PRESS = {'gravity': [0, 0, -G], 'objects': {'floor': {'type': 'plane'}}}


def press(effort, shape='sphere radius="0.1"', **options):
    """Return a ball on a rail, above the floor by 1 mm."""
    return robot(
        link('rail'),
        link('slide', 2.0, (0.1,) * 3, shape=collision(shape)),
        joint('z', 'rail', 'slide', 'prismatic', (0, 0, 1), (0, 0, 0.101), limit(effort)),
        **options,
    )


def test_in_a_world_a_press_pushes_with_its_gain_and_at_most_its_effort():
    simulator = Simulator(press(200.0), 1e-3, world=PRESS)
    for goal, force in ((-0.0011, 100.0), (-0.0012, 200.0), (-0.05, 200.0)):
        simulator.set_joint_pd([goal], kp=1e6, kd=1e2)
        simulator.step(n=400)
        (contact,) = simulator.contacts
        assert_allclose(simulator.q, [-0.001], atol=1e-9)
        assert_allclose(abs(contact.force[2]), force + 2.0 * G, rtol=1e-6)
        assert_allclose(simulator.tau, [-force], rtol=1e-6)
        assert simulator.status.unconverged_steps == 0
    assert simulator.saturated[0]
    simulator.set_joint_pd([0.02])
    simulator.step(n=400)
    assert simulator.contacts == ()
    assert_allclose(simulator.q, [0.02 - 2.0 * G / 1e6], atol=1e-9)


@pytest.mark.slow
def test_in_a_world_no_step_exceeds_the_effort_during_impacts():
    """A heavy box falls on a stiff press: counters are those of the step that is kept."""
    objects = {
        'floor': {'type': 'plane'},
        'box': {
            'type': 'box',
            'size': [0.2, 0.2, 0.2],
            'xyz': [0, 0, 0.66],
            'static': False,
            'mass': 30.0,
        },
    }
    anvil = press(900.0, 'box size="0.4 0.4 0.2"')
    simulator = Simulator(anvil, 1e-3, world={'gravity': [0, 0, -G], 'objects': objects})
    simulator.reset([0.3])
    simulator.set_joint_pd([0.3], kp=1e6, kd=1e5)
    lowest, cut = 0.3, 0
    for _ in range(1500):
        simulator.step()
        assert abs(simulator.tau[0]) <= 900.0
        lowest, cut = min(lowest, simulator.q[0]), cut + int(simulator.saturated[0])
    assert lowest < 0.2999 and cut > 3
    assert simulator.status.saturated_steps == cut
    assert_allclose(simulator.q, [0.3 - 32.0 * G / 1e6], atol=1e-6)
    assert_allclose(simulator.tau, [32.0 * G], rtol=1e-4)
    assert simulator.status.unconverged_steps == 0


def test_in_a_world_a_step_that_is_taken_again_is_counted_once():
    """A stop holds one joint all along, while the servo of another one is cut and released."""
    stop = '<limit lower="-1" upper="0" effort="99" velocity="9"/>'
    subject = robot(
        link('rail'),
        link('slide', 2.0, (0.1,) * 3, shape=collision('sphere radius="0.1"')),
        link('side', 1.0, (0.1,) * 3),
        joint('z', 'rail', 'slide', 'prismatic', (0, 0, 1), (0, 0, 0.101), limit(200.0)),
        joint('x', 'slide', 'side', 'prismatic', (1, 0, 0), (0, 0, 0.2), stop),
    )
    simulator = Simulator(subject, 1e-3, world=PRESS)
    simulator.set_joint_pd([-0.001, 0.0], kp=[1e6, 0.0], kd=[1e2, 0.0])
    simulator.step([0.0, 10.0], n=50)
    before, changes = simulator.saturated[0], 0
    for k in range(60):
        simulator.set_joint_pd([-0.001 if k // 5 % 2 else -0.01, 0.0])
        simulator.step([0.0, 10.0])
        changes, before = changes + int(before != simulator.saturated[0]), simulator.saturated[0]
    assert changes > 5
    assert simulator.status.limit_steps == simulator.status.steps == 110


@pytest.mark.slow
def test_an_impact_is_too_short_for_a_servo():
    """A ball rebounds from a stiff servo, however strong, as from the mass that it moves."""
    objects = {
        'ball': {
            'type': 'sphere',
            'radius': 0.1,
            'xyz': [0, 0, 0.62],
            'static': False,
            'mass': 1.0,
            'surface': {'restitution': 1.0, 'friction': 0.0},
        },
    }
    world = {
        'gravity': [0, 0, 0],
        'objects': objects,
        'defaults': {'surface': {'restitution': 1.0, 'friction': 0.0}},
    }
    velocity = np.array([0, 0, 0, 0, 0, -3.0])
    for effort in (0.01, 1000.0):
        simulator = Simulator(press(effort, gravity=(0, 0, 0)), 1e-3, world=world)
        simulator.reset([0.3])
        simulator.set_joint_pd([0.3], kp=1e8, kd=1e4)
        simulator.place_object('ball', simulator.object_pose('ball'), velocity)
        while simulator.object_velocity('ball')[5] < 0.0 and simulator.time < 0.1:
            simulator.step()
        assert_allclose(simulator.object_velocity('ball')[5], 1.0, rtol=1e-3)
        # 4 N s of the impact, minus the impulse of the servo in the rest of the step.
        assert_allclose(simulator.v, [-2.0 + 0.5e-3 * effort], rtol=1e-3)


# -- the face of it -------------------------------------------------------------------------------


def test_the_goal_may_move():
    """Followed at a constant speed that it knows, a joint lags by nothing."""
    simulator = Simulator(turntable(0.3), 1e-3, 'semi_implicit')
    simulator.set_joint_pd([0.0], kp=1e3, kd=50.0)
    for k in range(2000):
        simulator.set_joint_pd([0.5e-3 * (k + 1)], [0.5])
        simulator.step()
    assert_allclose(simulator.q, [1.0], atol=1e-9)
    assert_allclose(simulator.v, [0.5], atol=1e-9)


def test_omitted_arguments_keep_their_values():
    simulator = Simulator(arm())
    simulator.reset(START)
    simulator.set_joint_pd(kp=100.0)  # where it is
    servo = simulator.physics.state.servo
    assert_allclose(servo.q, START)
    simulator.set_joint_pd(kd=[1.0, 2.0, 3.0], v=[0.1, 0.2, 0.3])
    assert_allclose(simulator.joint_pd_gains, [[100.0] * 3, [1.0, 2.0, 3.0]])
    assert_allclose(servo.v, [0.1, 0.2, 0.3])
    assert_allclose(servo.q, START)
    simulator.set_joint_pd(START + 1.0)
    assert_allclose(servo.v, 0.0)
    simulator.reset(START)
    assert_allclose(simulator.joint_pd_gains, [[100.0] * 3, [1.0, 2.0, 3.0]])
    assert_allclose(servo.q, START + 1.0)
    simulator.set_joint_pd(kp=0.0, kd=0.0)
    plain = Simulator(arm())
    for each in (simulator, plain):
        each.reset(START)
        each.step([1.0, 2.0, 3.0], n=20)
    assert_allclose(simulator.q, plain.q, atol=1e-12)
    assert_allclose(simulator.tau, [1.0, 2.0, 3.0])


def test_without_servos_nothing_of_them_is_compiled():
    assert not Simulator(arm()).physics.model.has_servos


def test_steps_in_one_call_or_in_many_and_after_a_snapshot():
    ends = []
    for parts in ((60,), (1,) * 60, (7, 53)):
        simulator = Simulator(arm(effort=5.0), 1e-3)
        simulator.reset(START)
        simulator.set_joint_pd(START - 0.4, [0.1, 0.0, 0.0], kp=300.0, kd=5.0)
        for n in parts:
            simulator.step([0.3, 0.2, 0.1], n=n)
        ends.append(simulator.q)
    assert np.array_equal(ends[0], ends[1]) and np.array_equal(ends[0], ends[2])
    middle = simulator.snapshot()
    simulator.step(n=30)
    other = Simulator(arm(effort=5.0), 1e-3)
    other.restore(middle)
    other.step(n=30)
    assert np.array_equal(other.q, simulator.q)
    assert np.array_equal(other.joint_pd_gains, simulator.joint_pd_gains)


@EACH
def test_rollouts_bitwise(integrator, rng):
    simulator = Simulator(arm(effort=6.0), 1e-3, integrator)
    before = simulator.rollout(START, steps=5)
    q, v = START + 0.1 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    torque, target = rng.normal(size=(40, 3)), START + 0.3 * rng.normal(size=(3, 40, 3))
    simulator.set_joint_pd(START, [0.2, 0.1, 0.0], kp=[400.0, 300.0, 0.0], kd=[9.0, 0.0, 2.0])
    found = simulator.rollout(q, v, torque, target=target)
    held = simulator.rollout(q, v, steps=40)
    targets = simulator.rollout(q, v, steps=40, target=START + 0.2)
    for row in range(3):
        simulator.reset(q[row], v[row])
        for step in range(40):
            simulator.set_joint_pd(target[row, step], [0.2, 0.1, 0.0])
            simulator.step(torque[step])
            assert np.array_equal(found.q[row, step], simulator.q)
        for goal, motion in ((START, held), (START + 0.2, targets)):
            simulator.reset(q[row], v[row])
            simulator.set_joint_pd(goal, [0.2, 0.1, 0.0])
            simulator.step(n=40)
            assert np.array_equal(motion.v[row, -1], simulator.v)
    simulator.set_joint_pd(kp=0.0, kd=0.0)
    assert_allclose(simulator.rollout(START, steps=5).q, before.q, atol=1e-12)


def test_rollouts_on_the_ground_with_quaternions():
    """A configuration has one number more than a velocity."""
    subject = Robot.from_urdf(resource_path('urdf', 'quadruped.urdf'), floating_base=True)
    simulator = Simulator(subject, 1e-3, 'semi_implicit')
    q = subject.neutral()
    target = q + np.concatenate([np.zeros(7), np.linspace(-0.2, 0.2, subject.nv - 6)])
    simulator.set_joint_pd(kp=50.0, kd=1.0)
    motion = simulator.rollout(q, target=target, steps=30)
    simulator.reset(q)
    simulator.set_joint_pd(target)
    simulator.step(n=30)
    assert np.array_equal(motion.q[0, -1], simulator.q)


ARGUMENTS = [
    ({'q': [0, 0, 0]}, 'no gains yet'),
    ({'kp': -1.0}, 'kp must not be negative'),
    ({'kd': [1.0, 2.0]}, r'kd must have shape \(\) or \(3,\), got \(2,\)'),
    ({'kp': np.nan}, 'kp must be finite'),
    ({'kp': 1.0, 'q': [0.0, 0.0]}, r'q must have shape \(3,\)'),
    ({'kp': 1.0, 'v': [0.0, np.inf, 0.0]}, 'v must be finite'),
    ({'kp': 'stiff'}, 'kp must hold real numbers'),
]


@pytest.mark.parametrize('given, words', ARGUMENTS)
def test_bad_arguments(given, words):
    simulator = Simulator(arm())
    with pytest.raises(ValueError, match=words):
        simulator.set_joint_pd(**given)
    assert not simulator.physics.model.has_servos
    assert not np.any(simulator.joint_pd_gains)


def test_a_joint_with_several_dofs_is_rejected_by_name():
    subject = Robot.from_urdf(resource_path('urdf', 'quadruped.urdf'), floating_base=True)
    simulator = Simulator(subject)
    with pytest.raises(ValueError, match=r'has several degrees of freedom.*kd\[2\] must be 0'):
        simulator.set_joint_pd(kd=[0.0, 0.0, 1.0] + [0.0] * (subject.nv - 3))
    simulator.set_joint_pd(kp=5.0)
    assert_allclose(simulator.joint_pd_gains[0], [0.0] * 6 + [5.0] * (subject.nv - 6))


def test_a_number_is_for_joints_with_motors():
    linkage = mechanisms.four_bar()
    simulator = Simulator(linkage)
    simulator.set_joint_pd(kp=5.0)
    motors = [name in linkage.model.actuated_joints for name in linkage.joint_names]
    assert_allclose(simulator.joint_pd_gains[0], 5.0 * np.array(motors))


def test_bad_targets_of_rollouts():
    simulator = Simulator(arm())
    with pytest.raises(ValueError, match='no joint has a servo'):
        simulator.rollout(START, steps=3, target=START)
    simulator.set_joint_pd(kp=1.0)
    with pytest.raises(ValueError, match='target must have shape'):
        simulator.rollout(START, steps=3, target=START[:2])
    with pytest.raises(ValueError, match='target has 4 steps, but steps is 3'):
        simulator.rollout(START, steps=3, target=np.zeros((4, 3)))
    with pytest.raises(ValueError, match='target has 4 steps, but torque has 5'):
        simulator.rollout(START, torque=np.zeros((5, 3)), target=np.zeros((4, 3)))
    with pytest.raises(ValueError, match='numbers of rollouts differ'):
        simulator.rollout(np.zeros((2, 3)), target=np.zeros((3, 4, 3)))


@EACH
@pytest.mark.parametrize('h, effort', [(1e-3, 1e4), (1e-3, 6.0), (0.05, 1e4)])
def test_derivatives_of_a_step(integrator, effort, h):
    """By differences, where torques are cut and where not, in steps that may be divided."""
    simulator = Simulator(arm(effort), h, integrator)
    q, v, tau = START, np.array([3.0, -1.0, 2.0]), np.array([1.0, 0.5, 0.2])
    simulator.reset(q, v)
    simulator.set_joint_pd(
        q + [0.0, 0.1, 0.0], [1.0, 0.0, 0.5], kp=[900.0, 500.0, 0.0], kd=[0, 2.0, 0]
    )
    D = simulator.step_derivatives(tau)
    step, columns = 1e-6, []
    for k in range(9):
        ends = []
        for sign in (1.0, -1.0):
            x = np.concatenate([q, v, tau])
            x[k] += sign * step
            simulator.reset(x[:3], x[3:6])
            simulator.step(x[6:])
            ends.append(np.concatenate([simulator.q, simulator.v]))
        columns.append((ends[0] - ends[1]) / (2 * step))
    found = np.block([[D.dq_dq, D.dq_dv, D.dq_dtau], [D.dv_dq, D.dv_dv, D.dv_dtau]])
    assert_allclose(found, np.array(columns).T, rtol=1e-6, atol=2e-6)


HELD = """
import numpy as np
from test_implicit_pd import arm, PRESS, press, START
from rbd_ros import Simulator
ends = []
for integrator in ('semi_implicit', 'midpoint', 'rk4'):
    simulator = Simulator(arm(effort=6.0), 1e-3, integrator)
    simulator.reset(START)
    simulator.set_joint_pd(START - 0.4, kp=300.0, kd=5.0)
    simulator.step(n=40)
    ends.append(np.concatenate([simulator.q, simulator.v, simulator.tau]))
simulator = Simulator(press(200.0), 1e-3, world=PRESS)
simulator.set_joint_pd([-0.002], kp=1e6, kd=1e2)
simulator.step(n=60)
ends.append([*simulator.q, *simulator.v, *simulator.tau])
ends = np.concatenate(ends)
"""


def test_compiled_and_interpreted_agree():
    here = {}
    exec(HELD, here)
    code = f'import sys; sys.path.insert(0, {__file__.rpartition("/")[0]!r})\n{HELD}'
    found = fresh_python.run(f'{code}print(repr(ends.tolist()))', RBD_ROS_COMPILER='off').stdout
    assert_allclose(here['ends'], eval(found), rtol=1e-9, atol=1e-9)


# -- which segment --------------------------------------------------------------------------------


def test_rounds_that_go_in_circles_end_within_the_limits():
    """At first all are moved, then the first alone; at last none is released any more."""
    simulator = Simulator(arm(effort=10.0))
    simulator.set_joint_pd(START, kp=1.0)
    state, model = simulator.physics.state, simulator.physics.model
    servo = state.servo
    move = joint_servo.move_servos
    last = joint_servo.JOINT_ROUNDS + joint_servo.SINGLE_ROUNDS
    for rounds, moved in ((0, 3), (9, 3), (10, 1), (49, 1), (50, 3)):
        servo.segment[:], servo.slope[:], servo.rest_torque[:] = 0, 0.0, [11.0, -11.0, 12.0]
        assert move(model, state, np.zeros(3), rounds)
        assert np.count_nonzero(servo.segment) == moved
        assert_allclose(servo.segment, [1, -1, 1][:moved] + [0] * (3 - moved))
    servo.rest_torque[:] = 0.0
    assert not move(model, state, np.zeros(3), last)
    assert move(model, state, np.zeros(3), last - 1)
    assert_allclose(servo.segment, [0, -1, 1])
    # Never from one limit to the other at once.
    servo.segment[:], servo.rest_torque[:] = [1, -1, 0], [-20.0, 20.0, 10.0]
    assert move(model, state, np.zeros(3), 0)
    assert_allclose(servo.segment, 0)
    servo.rest_torque[:] = [10.0, -10.0, 10.0 + 1e-13]
    assert not move(model, state, np.zeros(3), 0)
    assert joint_servo.servo_torque(model, state, 2, 0.0) == 10.0


def test_the_pendulum_of_a_servo_swings_as_it_should():
    """A soft servo on a pendulum: frequency of sqrt((kp + m g l) / m l^2) at small angles."""
    m, length, kp = 1.3, 0.6, 20.0
    simulator = Simulator(pendulum(m, length), 1e-4, 'midpoint')
    simulator.reset([1e-3])
    simulator.set_joint_pd([0.0], kp=kp)
    omega = np.sqrt((kp + m * G * length) / (m * length**2))
    quarter = 0.5 * np.pi / omega
    simulator.step(n=round(quarter / 1e-4))
    late = simulator.time - quarter
    # Where it is fastest, its position gives the frequency. The law at the end of a step damps by
    # h kp at most, which is so much of the critical damping.
    ratio = 0.5 * 1e-4 * kp / (m * length**2 * omega)
    assert_allclose(simulator.q, [-1e-3 * omega * late], rtol=0, atol=1e-3 * ratio)
    assert_allclose(simulator.v, [-1e-3 * omega], rtol=2.0 * ratio)
