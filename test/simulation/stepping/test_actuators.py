# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Actuators: electrical and mechanical time constants, elasticity, backlash, friction, limits."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import solve_ivp
from support.simulated_robots import GRAVITY, pendulum, turntable
from support.states import every_robot, named_robot, random_state

from rbd_ros import Robot, Simulator
from rbd_ros.simulation.stepping.actuators import (
    DcMotor,
    JointFriction,
    Transmission,
    with_motors,
)
from rbd_ros.textbook.simulation import integrate_ode

INTEGRATORS = ['semi_implicit', 'rk4']
MOTOR = DcMotor(0.5, 0.04, 2e-3, 30.0, 24.0, 1e-4)


# -- electromechanics


@pytest.mark.seed('BL12', kind='full')
def test_the_current_rises_with_the_electrical_time_constant():
    """Locked rotor: V/R (1 - exp(-R t/L)); the rate is the derivative, the power balances."""
    t = 3e-3
    expected = 12.0 / 0.5 * (1 - np.exp(-0.5 * t / 2e-3))
    assert MOTOR.current_after(0.0, 12.0, 0.0, t) == pytest.approx(expected)
    found = solve_ivp(
        lambda t, i: [MOTOR.current_rate(i[0], 12.0, 2.0)], (0, t), [5.0], rtol=1e-10, atol=1e-10
    )
    assert MOTOR.current_after(5.0, 12.0, 2.0, t) == pytest.approx(found.y[0, -1], rel=1e-8)
    i, v = 7.0, 2.0
    power = 12.0 * i - 0.5 * i**2 - 2e-3 * i * MOTOR.current_rate(i, 12.0, v)
    assert power == pytest.approx(MOTOR.torque(i) * v)  # electrical less heat less field
    assert MOTOR.torque(i) == pytest.approx(30 * 0.04 * 7.0)
    assert MOTOR.armature == pytest.approx(900 * 1e-4)
    instant = DcMotor(0.5, 0.04, ratio=-3.0)
    assert instant.current_after(5.0, 12.0, 2.0, 1e-9) == pytest.approx((12 + 0.24) / 0.5)
    with pytest.raises(ValueError, match='steady_current'):
        instant.current_rate(0.0, 1.0, 0.0)


@pytest.mark.seed('BL12', kind='full')
def test_a_motor_runs_up_with_the_mechanical_time_constant():
    """No inductance: v = V/(kN) (1 - exp(-t (kN)^2/(R I))) after a step of voltage."""
    motor, inertia = DcMotor(0.5, 0.04, ratio=5.0), 0.2

    def torque(t, q, v):
        return [motor.torque(motor.steady_current(10.0, v[0]))]

    found = integrate_ode(turntable(inertia), [0.0], [0.0], 2.0, torque)
    drive = 0.04 * 5.0
    expected = 10.0 / drive * (1 - np.exp(-2.0 * drive**2 / (0.5 * inertia)))
    assert found.v[-1, 0] == pytest.approx(expected, rel=1e-7)


@pytest.mark.seed('BL12', kind='full')
def test_the_supply_bounds_torque_and_speed():
    """Saturation: the line from the stall torque to the no-load speed, and none beyond it."""
    assert MOTOR.stall_torque == pytest.approx(30 * 0.04 * 24 / 0.5)
    assert MOTOR.no_load_speed == pytest.approx(24 / (0.04 * 30))
    for share in (0.0, 0.4, 1.0):
        v = share * MOTOR.no_load_speed
        most = MOTOR.torque(MOTOR.steady_current(1e3, v))
        assert most == pytest.approx((1 - share) * MOTOR.stall_torque)
        least = MOTOR.torque(MOTOR.steady_current(-1e3, -v))
        assert least == pytest.approx(-most)
        asked = 0.5 * most
        voltage = MOTOR.voltage_for(asked, v)
        assert MOTOR.torque(MOTOR.steady_current(voltage, v)) == pytest.approx(asked)
        assert MOTOR.voltage_for(2 * most + 1.0, v) == 24.0
    backwards = DcMotor(0.5, 0.04, ratio=-30.0, supply_voltage=24.0)
    assert backwards.stall_torque == MOTOR.stall_torque
    assert backwards.no_load_speed == MOTOR.no_load_speed


@pytest.mark.seed('BL12')
def test_a_motor_drives_the_simulator_step_by_step():
    """Electrics and Simulator in turn, at 1 kHz: to the no-load speed, with its current's lag."""
    simulator, current = Simulator(turntable(0.2), 1e-3), 0.0
    for _ in range(4000):
        current = MOTOR.current_after(current, 40.0, simulator.v[0], 1e-3)
        simulator.step([MOTOR.torque(current)])
    assert simulator.v[0] == pytest.approx(MOTOR.no_load_speed, rel=1e-3)


# -- what the robot's own model has: decay, stiction, saturation


@pytest.mark.seed('BL12', kind='full')
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_viscous_friction_decays_at_its_rate(integrator):
    """Rate d/(I + armature): rotor inertia counts."""
    damped = turntable(0.2, damping=0.1)
    robot = Robot.from_urdf(
        '<robot name="t"><link name="base"/><link name="table"><inertial><mass value="1"/>'
        '<inertia ixx="0.2" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="turn" type="continuous"><parent link="base"/><child link="table"/>'
        '<axis xyz="0 0 1"/><dynamics damping="0.1"/></joint></robot>',
        armature={'turn': 0.3},
    )
    for subject, inertia in ((damped, 0.2), (robot, 0.5)):
        simulator = Simulator(subject, 1e-4, integrator)
        simulator.reset(v=[2.0])
        simulator.step(n=10_000)
        assert simulator.v[0] == pytest.approx(2.0 * np.exp(-0.1 / inertia), rel=1e-4)


@pytest.mark.seed('BL12', kind='full')
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_static_friction_holds_up_to_its_size_and_effort_is_cut_at_its_limit(integrator):
    limit = '<limit lower="-99" upper="99" effort="2.0" velocity="99"/>'
    simulator = Simulator(
        turntable(0.2, friction=1.5, limit=limit, kind='revolute'), 1e-3, integrator
    )
    simulator.step([1.4999], 3000)
    assert simulator.q[0] == 0.0 and simulator.v[0] == 0.0
    simulator.step([50.0], 100)  # of which 2.0 are left, less friction
    assert simulator.v[0] == pytest.approx(0.1 * (2.0 - 1.5) / 0.2, rel=1e-9)
    assert simulator.status.saturated_steps == 100


@pytest.mark.seed('BL12', kind='full')
def test_stiction_and_stribecks_dip():
    friction = JointFriction(viscous=0.3, coulomb=1.0, static=1.6, stribeck_velocity=0.05)
    for applied in (-1.59, 0.0, 0.7):
        assert friction.torque(0.0, applied) == pytest.approx(-applied)
    assert friction.torque(0.0, 2.0) == -1.6 and friction.torque(0.0, -2.0) == 1.6
    assert friction.torque(1e-9) == pytest.approx(-1.6)
    assert friction.torque(-1e-9) == pytest.approx(1.6)
    assert friction.torque(0.05) == pytest.approx(-(1.0 + 0.6 / np.e + 0.3 * 0.05))
    assert friction.torque(-5.0) == pytest.approx(1.0 + 1.5)
    curve = [-friction.torque(v) for v in np.linspace(1e-3, 1.0, 200)]
    assert 0 < np.argmin(curve) < 199  # falls at first, rises at last
    assert JointFriction(coulomb=1.0).breakaway == 1.0


# -- elasticity


@every_robot
@pytest.mark.seed('BL12')
def test_motors_are_separate_dofs(name):
    """The robot moves as before, and each rotor by its own torque."""
    subject = named_robot(name)
    names = [x for x in subject.joint_names if x != 'floating_base'][:2]
    inertia = dict(zip(names, (0.3, 0.7)))
    geared = with_motors(subject, inertia)
    assert geared.joint_names == (*subject.joint_names, *(f'{x}_motor' for x in names))
    q, v, tau = random_state(subject)
    found = geared.forward_dynamics(
        np.r_[q, 0.4, -0.2], np.r_[v, 1.0, -5.0], np.r_[tau, 0.6, -1.4]
    )
    expected = subject.forward_dynamics(q, v, tau)
    assert_allclose(found[:-2], expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())
    assert_allclose(found[-2:], [0.6 / 0.3, -1.4 / 0.7], rtol=1e-10)


def elastic(shaft, q, v, duration, inertia=0.2, motor=0.05, drive=0.0, **options):
    """Return the turntable on an elastic shaft.

    Motion from (joint, motor) positions and velocities.
    """

    def torque(t, q, v):
        shaft_torque = shaft.torque(q[1] - q[0], v[1] - v[0])
        return [shaft_torque, drive - shaft_torque]

    subject = with_motors(turntable(inertia), {'turn': motor})
    return integrate_ode(subject, q, v, duration, torque, **options)


@pytest.mark.seed('BL12', kind='full')
def test_an_elastic_joint_swings_at_its_natural_frequency():
    """Two inertias and a spring: w^2 = K (1/I + 1/B), damped by D the same; momentum stays."""
    K, D, inertia, motor = 40.0, 0.05, 0.2, 0.05
    reduced = 1 / (1 / inertia + 1 / motor)
    for damping in (0.0, D):
        found = elastic(Transmission(K, damping), [0.0, 0.1], [0.0, 0.0], 1.3)
        a = damping / (2 * reduced)
        w = np.sqrt(K / reduced - a**2)
        expected = 0.1 * np.exp(-a * 1.3) * (np.cos(w * 1.3) + a / w * np.sin(w * 1.3))
        assert found.q[-1, 1] - found.q[-1, 0] == pytest.approx(expected, abs=1e-7)
        assert inertia * found.v[-1, 0] + motor * found.v[-1, 1] == pytest.approx(0, abs=1e-8)


@pytest.mark.seed('BL12', kind='full')
def test_stiff_shafts_are_the_rotor_inertia_of_the_rigid_model():
    """K -> infinity: torque/(I + B), with an error that falls as 1/K."""
    errors = []
    for K in (1e4, 1e5):
        found = elastic(Transmission(K, 2.0), [0.0, 0.0], [0.0, 0.0], 0.5, drive=1.0)
        errors.append(abs(found.q[-1, 0] - 0.5 * 1.0 / 0.25 * 0.5**2))
    assert errors[1] < 2e-5 and errors[1] == pytest.approx(0.1 * errors[0], rel=0.05)


@pytest.mark.seed('BL12')
def test_a_shaft_sags_by_the_load_over_its_stiffness():
    """A pendulum held out by its motor: the joint hangs lower, K (theta - q) = m g l cos."""
    K, inertia = 300.0, 0.05
    arm = with_motors(pendulum(1.0, 0.5), {'swing': inertia})
    shaft = Transmission(K, 3.0)

    def torque(t, q, v):
        twist = shaft.torque(q[1] - q[0], v[1] - v[0])
        hold = 800.0 * (1.2 - q[1]) - 20.0 * v[1] + 1.0 * GRAVITY * 0.5 * np.sin(q[0])
        return [float(twist), hold - float(twist)]

    found = integrate_ode(arm, [1.2, 1.2], [0, 0], 3.0, torque, rtol=1e-7)
    q, theta = found.q[-1]
    assert abs(found.v[-1]).max() < 1e-5
    assert K * (theta - q) == pytest.approx(GRAVITY * 0.5 * np.sin(q), rel=1e-5)


# -- backlash


@pytest.mark.seed('BL12', kind='full')
def test_within_the_backlash_no_torque_acts_and_flanks_only_push():
    shaft = Transmission(100.0, 5.0, 0.2)
    assert_allclose(shaft.torque([-0.1, -0.05, 0.0, 0.1], 3.0), 0.0)
    assert_allclose(shaft.torque([0.15, -0.15]), [5.0, -5.0])
    assert_allclose(shaft.torque([0.15, -0.15], [0.2, -0.2]), [6.0, -6.0])
    assert_allclose(shaft.torque([0.15, -0.15], [-9.0, 9.0]), 0.0)  # the flank is left
    assert shaft.torque(0.15, -0.2) == pytest.approx(4.0)
    assert_allclose(Transmission(100.0, 5.0).torque([0.15, -0.15], 0.2), [16.0, -14.0])


@pytest.mark.seed('BL12', kind='full')
def test_a_motor_crosses_the_play_freely_and_then_takes_the_joint_along():
    """Free until gap/speed; then an elastic impact of two inertias swaps what theirs demand."""
    inertia, motor, gap, speed = 0.2, 0.05, 0.2, 2.0
    shaft = Transmission(4e4, 0.0, gap)
    start = ([0.0, -gap / 2], [0.0, speed])
    before = elastic(shaft, *start, 0.99 * gap / speed, max_step=1e-3)
    assert before.v[-1] == pytest.approx([0.0, speed])
    after = elastic(shaft, *start, 1.3 * gap / speed, max_step=1e-3)
    common = motor * speed / (inertia + motor)
    assert after.v[-1] == pytest.approx([2 * common, 2 * common - speed], rel=1e-6)


@pytest.mark.seed('BL12', kind='full')
def test_backlash_makes_a_joint_lag_behind_by_half_of_it():
    """Hysteresis: a motor that swings by A moves the joint by A - b/2, flat at the turns."""
    shaft, joint = Transmission(1.0, backlash=0.2), 0.0
    track = []
    motor = 0.5 * np.sin(np.linspace(0, 4 * np.pi, 4001))
    for theta in motor:
        joint = float(shaft.follow(joint, theta))
        track.append(joint)
    settled = np.array(track[2000:])
    assert settled.max() == pytest.approx(0.4, abs=1e-6)
    assert settled.min() == pytest.approx(-0.4, abs=1e-6)
    assert np.abs(np.array(track) - motor).max() <= 0.1 + 1e-15
    still = np.diff(settled) == 0.0
    # two crossings of the backlash b a period: from A back to A - b, each arccos(1 - b/A)
    assert still.mean() == pytest.approx(2 * np.arccos(1 - 0.2 / 0.5) / (2 * np.pi), abs=0.01)


@pytest.mark.parametrize(
    ('make', 'message'),
    [
        (lambda: DcMotor(0.0, 1.0), 'resistance must be positive'),
        (lambda: DcMotor(1.0, np.inf), 'torque_constant must be positive'),
        (lambda: DcMotor(1.0, 1.0, -1.0), 'inductance must not be negative'),
        (lambda: DcMotor(1.0, 1.0, ratio=0.0), 'ratio must be positive'),
        (lambda: DcMotor(1.0, 1.0, supply_voltage=np.nan), 'supply_voltage must be positive'),
        (lambda: DcMotor(1.0, 1.0, rotor_inertia=-1.0), 'rotor_inertia must not be negative'),
        (lambda: Transmission(0.0), 'stiffness must be positive'),
        (lambda: Transmission(1.0, -1.0), 'damping must not be negative'),
        (lambda: Transmission(1.0, 0.0, -1.0), 'backlash must not be negative'),
        (lambda: JointFriction(-1.0), 'viscous must not be negative'),
        (lambda: JointFriction(coulomb=2.0, static=1.0), 'not below coulomb'),
        (lambda: JointFriction(stribeck_velocity=0.0), 'stribeck_velocity must be positive'),
        (lambda: with_motors(turntable(), {'elbow': 1.0}), 'elbow'),
        (lambda: with_motors(turntable(), {'turn': 0.0}), "motor of 'turn' must be positive"),
    ],
)
def test_numbers_that_make_no_sense_are_rejected(make, message):
    with pytest.raises(ValueError, match=message):
        make()
