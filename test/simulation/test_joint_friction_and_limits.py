# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coulomb friction that sticks, joint limits that hold, effort limits that clip."""

import numpy as np
import pytest
from support.simulated_robots import GRAVITY, joint, link, pendulum, robot, turntable

from rbd_ros import Robot, Simulator

INTEGRATORS = ['semi_implicit', 'midpoint', 'rk4']
LIMIT = '<limit lower="-0.5" upper="0.4" effort="20" velocity="10"/>'


@pytest.mark.seed('BL12')
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_a_joint_sticks_below_breakaway_and_moves_above(integrator):
    simulator = Simulator(turntable(0.2, friction=1.5), 1e-3, integrator)
    simulator.step([1.5 * (1 - 1e-6)], 5000)
    assert simulator.q[0] == 0.0 and simulator.v[0] == 0.0
    assert simulator.constraint_force[0] == pytest.approx(-1.5, rel=1e-5)
    simulator.step([1.5 * (1 + 1e-3)], 1000)
    assert simulator.v[0] == pytest.approx(1.5e-3 / 0.2, rel=1e-9)


@pytest.mark.seed('BL12')
@pytest.mark.parametrize('integrator', INTEGRATORS)
@pytest.mark.parametrize('direction', [1.0, -1.0])
def test_friction_stops_a_joint_at_the_exact_deceleration_and_keeps_it_stopped(
    integrator, direction
):
    simulator = Simulator(turntable(0.2, friction=1.5), 1e-3, integrator)
    simulator.reset(v=[2.0 * direction])
    simulator.step(n=100)
    assert simulator.v[0] == pytest.approx(direction * (2.0 - 0.1 * 1.5 / 0.2), rel=1e-12)
    simulator.step(n=1000)
    assert simulator.v[0] == 0.0
    way = 2.0**2 / (2 * 1.5 / 0.2)
    # the stop happens within a step of the exact instant
    assert simulator.q[0] == pytest.approx(
        direction * way, abs=2.1e-3 * (integrator != 'rk4') + 1e-5
    )
    q = simulator.q
    simulator.step(n=1000)
    assert np.array_equal(simulator.q, q)


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_a_pendulum_with_friction_hangs_still_off_the_vertical(integrator):
    friction = 0.4 * GRAVITY * 0.5
    simulator = Simulator(pendulum(friction=friction), 1e-3, integrator)
    simulator.reset(q=[np.arcsin(0.39)])
    simulator.step(n=3000)
    assert simulator.q[0] == np.arcsin(0.39) and simulator.v[0] == 0.0
    simulator.reset(q=[np.arcsin(0.41)])
    simulator.step(n=100)
    assert simulator.v[0] < 0.0


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_joints_that_stick_do_not_move_while_others_swing(integrator):
    """The motion of the second joint shakes the first, with less than its friction."""
    double = robot(
        link('base'),
        link('upper', 1.0, (0.01,) * 3, (0, 0, -0.2)),
        link('lower', 0.3, (0.001,) * 3, (0, 0, -0.2)),
        joint('first', 'base', 'upper', inside='<dynamics friction="5.0"/>'),
        joint('second', 'upper', 'lower', xyz=(0, 0, -0.4)),
    )
    simulator = Simulator(double, 1e-3, integrator)
    simulator.reset(q=[0.0, 1.5])
    single = Simulator(
        robot(
            link('base'),
            link('lower', 0.3, (0.001,) * 3, (0, 0, -0.2)),
            joint('second', 'base', 'lower', xyz=(0, 0, -0.4)),
        ),
        1e-3,
        integrator,
    )
    single.reset(q=[1.5])
    for _ in range(20):
        simulator.step(n=100)
        single.step(n=100)
        assert simulator.q[0] == 0.0 and simulator.v[0] == 0.0
        assert simulator.q[1] == pytest.approx(single.q[0], abs=1e-9)
    assert simulator.status.unconverged_steps == 0


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_friction_takes_energy_and_never_gives_any(integrator):
    arm = robot(
        link('base'),
        *(link(f'l{k}', 1.0 / k, (0.01 / k,) * 3, (0, 0, -0.1)) for k in range(1, 6)),
        *(
            joint(
                f'j{k}',
                f'l{k - 1}' if k > 1 else 'base',
                f'l{k}',
                axis=axis,
                xyz=(0, 0, -0.2),
                inside=f'<dynamics friction="{0.4 / k}"/>',
            )
            for k, axis in enumerate([(0, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0)], 1)
        ),
    )
    simulator = Simulator(arm, 2e-4, integrator)
    simulator.reset(q=[1.0, 0.5, -1.0, 0.3, 0.8], v=[0, 0, 0, 5, 0])
    energy = arm.energy(simulator.q, simulator.v).total
    for _ in range(200):
        simulator.step(n=100)
        now = arm.energy(simulator.q, simulator.v).total
        assert now < energy + 1e-4
        energy = min(energy, now)
    simulator.step(n=30000)
    assert np.all(simulator.v == 0.0)
    assert simulator.status.unconverged_steps == 0


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_a_limit_stops_a_joint_without_rebound_and_holds_it(integrator):
    simulator = Simulator(turntable(0.2, limit=LIMIT, kind='revolute'), 1e-3, integrator)
    simulator.reset(v=[3.0])
    for _ in range(2000):
        simulator.step([2.0])
        assert simulator.q[0] <= 0.4
    assert simulator.q[0] == 0.4 and simulator.v[0] == 0.0
    assert simulator.constraint_force[0] == pytest.approx(-2.0, rel=1e-12)
    simulator.step([-2.0])
    assert simulator.v[0] == pytest.approx(-2.0 * 1e-3 / 0.2)
    simulator.step([-20.0], 1000)
    assert simulator.q[0] == -0.5 and simulator.v[0] == 0.0
    assert simulator.status.limit_steps > 1000


def test_a_step_that_a_limit_ends_is_taken_with_the_forces_at_its_beginning():
    """A Runge-Kutta step that a limit interrupts becomes a semi-implicit one, forces and all."""
    limit = '<limit lower="-2" upper="1" effort="100" velocity="100"/>'

    def arm_after_the_step(integrator):
        arm = robot(
            link('base'),
            link('upper', 2.0, (0.02, 0.02, 0.02), (0.3, 0, 0)),
            link('lower', 1.0, (0.01, 0.01, 0.01), (0.2, 0, 0)),
            joint('shoulder', 'base', 'upper', 'revolute', (0, 0, 1), inside=limit),
            joint('elbow', 'upper', 'lower', 'revolute', (0, 0, 1), (0.5, 0, 0), limit),
        )
        simulator = Simulator(arm, 1e-2, integrator)
        simulator.reset(q=[0.995, 0.3], v=[1.0, -2.0])
        # Its torques turn with the arm, from stage to stage.
        simulator.apply_wrench('lower', [0, 0, 0, 0, 60.0, 0], point=[0.4, 0, 0])
        simulator.step()
        return [*simulator.q, *simulator.v]

    found = arm_after_the_step('rk4')
    assert found[0] == 1.0
    assert found == arm_after_the_step('semi_implicit')


@pytest.mark.parametrize('fraction', np.linspace(0.3, 1.2, 10))
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_a_joint_that_sticks_and_one_that_stops_leave_a_free_robot_its_momentum(
    integrator, fraction
):
    h = 1e-3
    limit = '<limit lower="-2" upper="1" effort="100" velocity="100"/>'
    dry = '<dynamics friction="5"/>'
    swimmer = robot(
        link('trunk', 1.0, (0.02, 0.03, 0.04)),
        link('left', 0.5, (0.002, 0.003, 0.004), (0.2, 0, 0)),
        link('right', 0.5, (0.002, 0.003, 0.004), (0.2, 0, 0)),
        joint('stuck', 'trunk', 'left', 'revolute', (0, 0, 1), (0.1, 0, 0), limit + dry),
        joint('braked', 'trunk', 'right', 'revolute', (0, 1, 0), (-0.1, 0, 0), limit),
        floating_base=True,
        gravity=(0, 0, 0),
    )
    simulator = Simulator(swimmer, h, integrator)
    tau = np.array([0, 0, 0, 0, 0, 0, 0, -20.0])
    v = np.array([0.3, 0.2, 0.1, 0.5, -0.4, 0.2, 0.0, 3.0])
    q = swimmer.neutral()
    slowed = swimmer.forward_dynamics(q, v, tau)[7]
    # It comes near its limit within the step: the implicit solve and the stages of Runge-Kutta
    # differ in whether they get there.
    q[8] = 1.0 - h * v[7] - fraction * h * h * slowed
    simulator.reset(q, v)
    before = swimmer.momentum(q, v)[3:]
    simulator.step(tau)
    after = swimmer.momentum(simulator.q, simulator.v)[3:]
    np.testing.assert_allclose(after, before, atol=1e-14)


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_a_joint_can_rest_at_its_limit_against_gravity_with_friction(integrator):
    simulator = Simulator(pendulum(friction=0.5, limit=LIMIT, kind='revolute'), 1e-3, integrator)
    simulator.reset(q=[0.4])
    simulator.step([GRAVITY * 0.5 * np.sin(0.4) + 0.5 + 2.0], 100)
    assert simulator.q[0] == 0.4 and simulator.v[0] == 0.0


@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_a_start_outside_the_limits_is_reported_and_returns_slowly(integrator):
    simulator = Simulator(turntable(0.2, limit=LIMIT, kind='revolute'), 1e-3, integrator)
    simulator.reset(q=[0.6])
    assert "joint 'turn' starts at 0.6" in simulator.warnings[0]
    simulator.step(n=10)
    assert simulator.v[0] == 0.0
    assert simulator.q[0] == pytest.approx(0.6 - 10 * 1e-3 * 0.5)
    simulator.step(n=1000)
    assert simulator.q[0] == 0.4 and simulator.v[0] == 0.0


def test_torque_is_cut_at_the_effort_limit_and_that_is_reported():
    simulator = Simulator(turntable(0.2, limit=LIMIT, kind='revolute'))
    simulator.step([15.0])
    assert not simulator.saturated.any() and simulator.status.saturated_steps == 0
    simulator.step([-50.0], 3)
    assert simulator.tau[0] == -20.0
    assert simulator.saturated.all() and simulator.status.saturated_steps == 3


@pytest.mark.seed('GR01')
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_mimic_joints_move_as_one_with_their_reflected_inertia(robot_paths, integrator):
    """Panda's fingers: 0.015 kg each on one degree of freedom, pushed by 1.5 N."""
    panda = Robot.from_urdf(str(robot_paths['panda']))
    finger = panda.joint_names.index('panda_finger_joint1')
    assert 'panda_finger_joint2' not in panda.joint_names
    simulator = Simulator(panda, 1e-4, integrator)
    q = np.clip(panda.neutral(), panda.lower_limits, panda.upper_limits)
    q[finger] = 0.01
    simulator.reset(q=q)
    tau = panda.gravity_torque(q)
    tau[finger] += 1.5
    expected = panda.forward_dynamics(q, np.zeros(panda.nv), tau)[finger]
    simulator.step(tau, 1)
    damped = panda.damping[finger] * 1e-4 * expected / panda.mass_matrix(q)[finger, finger]
    assert simulator.a[finger] == pytest.approx(expected - damped, rel=2e-3)
    simulator.step(tau, 5000)
    assert simulator.q[finger] == panda.upper_limits[finger]
    assert simulator.v[finger] == pytest.approx(0.0, abs=1e-12)


def test_the_guard_on_speed_holds_takes_energy_only_and_is_reported():
    simulator = Simulator(turntable(1e-4), speed_limit=100.0)
    simulator.step([1.0], 100)
    assert simulator.v[0] == 100.0
    assert simulator.status.velocity_clamped_steps > 0
    assert simulator.status.substeps == 0  # 0.1 rad a step is not far
    free = Simulator(turntable(1e-4))
    free.step([1.0], 100)
    assert free.v[0] == pytest.approx(1000.0)
    assert free.status.velocity_clamped_steps == 0 and free.status.substeps > 0
