# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of a step against differences of the simulator's own steps."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import heavy_tips, mechanisms
from support.all_joints import every_joint, slope, tree
from support.simulated_robots import at, ball, collision, joint, link, robot, turntable
from support.textbook_trees import GEARED, named_tree

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.simulation import StepDerivatives

INTEGRATORS = ['midpoint', 'semi_implicit', 'rk4']
each = pytest.mark.parametrize('integrator', INTEGRATORS)
h = 0.02
NAMES = ['dq_dq', 'dq_dv', 'dq_dtau', 'dv_dq', 'dv_dv', 'dv_dtau']


def by_differences(simulator, tau):
    """Return all derivatives of a step, column by column, to sixth order."""
    subject, q, v = simulator.robot, simulator.q, simulator.v

    def end(dq, dv, dtau):
        simulator.reset(subject.integrate(q, dq, 1.0), v + dv)
        simulator.step(tau + dtau)
        return np.r_[subject.difference(middle, simulator.q), simulator.v]

    simulator.step(tau)
    middle, none = simulator.q, np.zeros(len(v))
    columns = []
    for which in range(3):
        for unit in np.eye(len(v)):
            given = [none, none, none]

            def moved(x, unit=unit, given=given, which=which):
                return end(*given[:which], x * unit, *given[which + 1 :])

            columns.append(slope(moved))
    simulator.reset(q, v)
    found = np.array(columns).T
    blocks = [block for rows in np.vsplit(found, 2) for block in np.hsplit(rows, 3)]
    return dict(zip(NAMES, blocks))


def check(simulator, tau, rtol=1e-7):
    q, v, steps = simulator.q, simulator.v, simulator.status.steps
    D = simulator.step_derivatives(tau)
    assert isinstance(D, StepDerivatives)
    assert list(simulator.q) == list(q) and simulator.status.steps == steps
    expected = by_differences(simulator, tau)
    for name in NAMES:
        size = max(1.0, np.abs(expected[name]).max())
        assert_allclose(getattr(D, name), expected[name], atol=rtol * size, err_msg=name)
    simulator.reset(q, v)
    simulator.step(tau)
    assert_allclose(D.q, simulator.q, atol=1e-10)
    assert_allclose(D.v, simulator.v, atol=1e-9)


def damped_arm(damping, friction=0.0):
    dynamics = f'<dynamics damping="{damping}" friction="{friction}"/>'
    limit = '<limit effort="2" velocity="99"/>'
    return robot(
        link('base'),
        link('upper', 2.0, (0.02, 0.03, 0.04), (0.1, 0.0, 0.2)),
        link('fore', 1.0, (0.01, 0.02, 0.01), (0.2, 0.05, 0.0)),
        link('hand', 0.5, (2e-3, 3e-3, 1e-3), (0.0, 0.02, 0.1)),
        joint('a', 'base', 'upper', 'continuous', (0, 0, 1), (0, 0, 0.1), dynamics),
        joint('b', 'upper', 'fore', 'continuous', (0, 1, 0), (0.3, 0, 0), dynamics),
        joint('c', 'fore', 'hand', 'continuous', (1, 1, 0), (0.3, 0, 0), limit),
    )


@each
@pytest.mark.parametrize('damping', [0.0, 0.3])
def test_an_arm_with_damping(integrator, damping, rng):
    simulator = Simulator(damped_arm(damping), h, integrator)
    simulator.reset(rng.normal(size=3), rng.normal(size=3))
    check(simulator, rng.normal(size=3))


@pytest.mark.parametrize('integrator', ['midpoint', 'semi_implicit'])
def test_damping_may_be_stiff(integrator, rng):
    simulator = Simulator(damped_arm(500.0), h, integrator)
    simulator.reset(rng.normal(size=3), rng.normal(size=3))
    check(simulator, rng.normal(size=3))


@each
def test_joints_that_slide(integrator, rng):
    simulator = Simulator(damped_arm(0.3, 0.1), h, integrator)
    simulator.reset(rng.normal(size=3), [2.0, -1.5, 1.0])
    check(simulator, 0.1 * rng.normal(size=3))
    assert np.abs(simulator.physics.state.segment[:2]).tolist() == [1, 1]


@pytest.mark.parametrize('integrator', ['midpoint', 'semi_implicit'])
@pytest.mark.parametrize('speed', [0.0, 0.5])
def test_joints_that_stick_or_come_to_rest(integrator, speed, rng):
    subject = damped_arm(0.3, 60.0)
    simulator = Simulator(subject, h, integrator)
    simulator.reset(rng.normal(size=3), [speed, -speed, 1.0])
    check(simulator, rng.normal(size=3))
    assert simulator.v[0] == simulator.v[1] == 0.0 != simulator.v[2]
    simulator.reset(rng.normal(size=3), [speed, -speed, 1.0])
    D = simulator.step_derivatives(rng.normal(size=3))
    assert np.abs(D.dv_dv[:2]).max() < 1e-12 < 1e-2 < abs(D.dv_dv[2, 2])


@each
@every_joint
def test_every_type_of_joint(joint, integrator, rng):
    subject = Robot(tree(joint, 3))
    simulator = Simulator(subject, 2e-3, integrator)
    simulator.reset(subject.random_configuration(rng), rng.normal(size=subject.nv))
    tau = rng.normal(size=subject.nv)
    if simulator.physics.model.has_free_bases and integrator != 'rk4':
        with pytest.raises(ValueError, match="base .* is free.*integrator='rk4'"):
            simulator.step_derivatives(tau)
    else:
        check(simulator, tau, 1e-6)


@each
def test_gears(integrator, rng):
    subject = Robot(named_tree(GEARED[0]).model)
    simulator = Simulator(subject, 2e-3, integrator)
    simulator.reset(subject.random_configuration(rng), rng.normal(size=subject.nv))
    if simulator.physics.model.has_free_bases:
        pytest.skip('its base is free')
    check(simulator, rng.normal(size=subject.nv), 1e-6)


def test_long_steps_of_a_body_that_tumbles(rng):
    """All terms of the rate of a rotation vector show."""
    simulator = Simulator(ball(), 0.05, 'rk4')
    q = simulator.robot.random_configuration(rng)
    simulator.reset(q, [1.5, -2.0, 0.5, 1.0, 2.0, -1.0])
    check(simulator, np.array([0.1, 0.3, -0.2, 5.0, -3.0, 4.0]))


@each
@pytest.mark.parametrize('friction', [0.0, 0.1])
def test_steps_that_are_divided(integrator, friction, rng):
    simulator = Simulator(damped_arm(0.3, friction), h, integrator)
    simulator.reset(rng.normal(size=3), [12.0, -3.0, 5.0])
    before = simulator.snapshot()
    simulator.step()
    assert simulator.status.substeps > 0
    simulator.restore(before)
    check(simulator, rng.normal(size=3), 1e-6)


@each
def test_steps_that_inertia_divides(integrator):
    """In the middle of a pass of light links by the end of the reach of a heavy tip."""
    simulator = Simulator(heavy_tips.two_links(1000.0), 1e-3, integrator)
    simulator.reset([0.4, 0.0], [-50.0, 100.0])
    before = simulator.snapshot()
    simulator.step()
    assert simulator.status.substeps > 1
    simulator.restore(before)
    check(simulator, np.array([3.0, -2.0]), 1e-6)


@each
def test_a_torque_beyond_the_effort_limit_has_zero_derivatives(integrator, rng):
    simulator = Simulator(damped_arm(0.3), h, integrator)
    simulator.reset(rng.normal(size=3), rng.normal(size=3))
    tau = np.array([0.5, -0.7, 9.0])  # the limit is 2
    check(simulator, tau)
    D = simulator.step_derivatives(tau)
    assert not D.dv_dtau[:, 2].any() and D.dv_dtau[:, 1].any()


def test_without_a_torque_there_is_none(rng):
    simulator = Simulator(damped_arm(0.3), h)
    simulator.reset(rng.normal(size=3), rng.normal(size=3))
    for one, other in zip(simulator.step_derivatives(), simulator.step_derivatives(np.zeros(3))):
        assert np.array_equal(one, other)


@pytest.mark.parametrize('floats', [False, True])
def test_objects_that_do_not_touch_the_robot_change_nothing(floats, rng):
    """Of a robot in a world where a ball falls, until it strikes the robot."""
    shape = collision('box size="0.2 0.2 0.2"')
    subject = robot(
        link('body', 1.0, (0.01, 0.02, 0.03), (0.02, 0, 0), shape),
        link('rod', 0.4, (4e-3, 5e-3, 1e-3), (0, 0, -0.2)),
        joint('swing', 'body', 'rod', axis=(0, 1, 0), xyz=(0, 0.2, 0)),
        floating_base=floats,
    )
    sphere = {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0, 'xyz': [0, 0, 0.3]}
    options = {'integrator': 'rk4' if floats else 'midpoint'}
    within = Simulator(subject, h, world={'objects': {'ball': sphere}}, **options)
    alone = Simulator(subject, h, **options)
    v = 0.3 * rng.normal(size=subject.nv)
    for each in (within, alone):
        each.reset(subject.neutral(), v)
    for found, correct in zip(within.step_derivatives(v), alone.step_derivatives(v)):
        np.testing.assert_array_equal(found, correct)
    assert np.array_equal(within.object_pose('ball')[:3, 3], [0, 0, 0.3])
    if floats:
        struck = np.eye(4)
        struck[0, 3] = 0.1999  # it overlaps with the body
        within.place_object('ball', struck)
        with pytest.raises(ValueError, match='a contact'):
            within.step_derivatives(v)


def quadruped_like():
    """Return a body that floats, with two legs of two joints, one of them damped."""
    legs = []
    for side, y in (('left', 0.2), ('right', -0.2)):
        dynamics = '<dynamics damping="0.3" friction="0"/>' if side == 'left' else ''
        legs += [
            link(f'{side}_thigh', 0.8, (4e-3, 5e-3, 1e-3), (0.01, 0, -0.2)),
            link(f'{side}_calf', 0.4, (2e-3, 3e-3, 1e-3), (0, 0.01, -0.2)),
            joint(f'{side}_hip', 'body', f'{side}_thigh', axis=(0, 1, 0), xyz=(0, y, 0),
                  inside=dynamics),
            joint(f'{side}_knee', f'{side}_thigh', f'{side}_calf', axis=(0, 1, 0),
                  xyz=(0, 0, -0.4), inside='<limit effort="3" velocity="99"/>'),
        ]  # fmt: skip
    return robot(link('body', 3.0, (0.05, 0.06, 0.07), (0.02, 0, 0.03)), *legs, floating_base=True)


@pytest.mark.parametrize('integrator', ['midpoint', 'semi_implicit'])
@pytest.mark.parametrize('seed', range(3))
def test_steps_of_free_bases_by_all_integrators(integrator, seed):
    rng = np.random.default_rng(seed)
    subject = quadruped_like()
    simulator = Simulator(subject, 0.005, integrator)
    q = np.asarray(subject.integrate(subject.neutral(), rng.normal(size=subject.nv), 1.0))
    simulator.reset(q, 0.5 * rng.normal(size=subject.nv))
    tau = rng.normal(size=subject.nv)
    tau[:6] = 0.0
    tau[-1] = 9.0  # cut at its limit
    check(simulator, tau, 1e-9)
    D = simulator.step_derivatives(tau)
    assert not D.dv_dtau[:, -1].any() and D.dv_dtau[:, -2].any()
    # Small steps of all integrators are the same: their derivatives to the order of h^2.
    fine = [Simulator(subject, 1e-5, each) for each in (integrator, 'rk4')]
    for each in fine:
        each.reset(q, simulator.v)
    for one, other in zip(*(each.step_derivatives(tau) for each in fine)):
        assert_allclose(one, other, atol=1e-6)


@each
def test_steps_under_external_wrenches(integrator, rng):
    subject = damped_arm(0.3)
    simulator = Simulator(subject, h, integrator)
    q, v, tau = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
    simulator.reset(q, v)
    without = simulator.step_derivatives(tau)
    wrench, point = np.array([0.3, 0.1, -0.2, 2.0, -1.0, 3.0]), (0.0, 0.1, 0.2)
    simulator.apply_wrench('hand', np.zeros(6), point=point)
    # Of no wrench, by differences, what the chain rule gives.
    for one, other in zip(simulator.step_derivatives(tau), without):
        assert_allclose(one, other, atol=1e-10)
    simulator.clear_wrenches()
    simulator.apply_wrench('hand', wrench, point=point)
    D = simulator.step_derivatives(tau)
    assert simulator.time == 0.0 and (simulator.q == q).all()
    change = 1e-5 * rng.normal(size=(3, 3))
    ends = []
    for sign in (1.0, -1.0):
        simulator.reset(q + sign * change[0], v + sign * change[1])
        simulator.apply_wrench('hand', wrench, point=point)
        simulator.step(tau + sign * change[2])
        ends.append((simulator.q, simulator.v))
    moved, sped = (0.5 * (one - other) for one, other in zip(*ends))
    assert_allclose(
        D.dq_dq @ change[0] + D.dq_dv @ change[1] + D.dq_dtau @ change[2], moved, atol=1e-12
    )
    assert_allclose(
        D.dv_dq @ change[0] + D.dv_dv @ change[1] + D.dv_dtau @ change[2], sped, atol=1e-12
    )


def test_steps_that_are_not_smooth_are_rejected_with_free_bases_and_wrenches_too():
    limit = '<limit lower="-1" upper="0.3" effort="2" velocity="9"/>'
    simulator = Simulator(turntable(0.2, limit=limit, kind='revolute'), h)
    simulator.reset([0.2999], [1.0])
    simulator.apply_wrench('table', [0, 0, 1.0, 0, 0, 0])
    for q, tau in (([0.2999], [0.0]), ([0.0], [2.0])):
        simulator.reset(q, [1.0])
        simulator.apply_wrench('table', [0, 0, 1.0, 0, 0, 0])
        with pytest.raises(ValueError, match='not smooth'):
            simulator.step_derivatives(tau)
        assert list(simulator.q) == q and simulator.status.steps == 0
    lying = Simulator(ball(), 1e-3, 'midpoint', HalfSpace())
    lying.reset(at((0, 0, 0.0999)))
    with pytest.raises(ValueError, match='not smooth'):
        lying.step_derivatives()


def test_a_nonsmooth_step_is_rejected():
    limit = '<limit lower="-1" upper="0.3" effort="9" velocity="9"/>'
    subject = turntable(0.2, limit=limit, kind='revolute')
    simulator = Simulator(subject, h)
    simulator.reset([0.299], [1.0])
    with pytest.raises(ValueError, match='not smooth.*limit'):
        simulator.step_derivatives()
    assert list(simulator.q) == [0.299] and simulator.status.steps == 0
    simulator.reset([0.0], [1.0])
    assert simulator.step_derivatives().dv_dv == pytest.approx(1.0)
    lying = Simulator(ball(), 1e-3, 'rk4', HalfSpace())
    lying.reset(at((0, 0, 0.0999)))
    with pytest.raises(ValueError, match='not smooth'):
        lying.step_derivatives()
    with pytest.raises(ValueError, match="sticks.*integrator='midpoint'"):
        Simulator(turntable(friction=0.1), h, 'rk4').step_derivatives()
    stopping = Simulator(turntable(friction=0.1), h, 'rk4')
    stopping.reset(v=[-1e-4])
    with pytest.raises(ValueError, match='sticks|not smooth'):
        stopping.step_derivatives()
    with pytest.raises(ValueError, match='too stiff for rk4'):
        Simulator(turntable(damping=1e4), h, 'rk4').step_derivatives()
    with pytest.raises(ValueError, match='loops'):
        Simulator(mechanisms.four_bar()).step_derivatives()
    with pytest.raises(ValueError, match='tau'):
        Simulator(turntable(), h).step_derivatives([1.0, 2.0])


def test_derivatives_of_several_steps_are_those_of_each_one(rng):
    simulator = Simulator(damped_arm(0.3), h)
    simulator.reset(rng.normal(size=3), rng.normal(size=3))
    tau = rng.normal(size=(4, 3))
    q, v = simulator.q, simulator.v
    found = simulator.step_derivatives(tau)
    assert np.array_equal(simulator.q, q) and np.array_equal(simulator.v, v)
    for k, each in enumerate(tau):
        expected = simulator.step_derivatives(each)
        for name in ('q', 'v', *NAMES):
            assert np.array_equal(getattr(found, name)[k], getattr(expected, name)), name
        simulator.step(each)
    assert simulator.step_derivatives(np.zeros((0, 3))).dq_dv.shape == (0, 3, 3)
