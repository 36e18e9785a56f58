# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion without contact, friction and limits against analytic solutions and conservation laws."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk
from support import outside
from support.simulated_robots import at, ball, body, GRAVITY, joint, link, pendulum, robot

from rbd_ros import Robot, Simulator


def swing(length, angle, duration, timestep, integrator):
    simulator = Simulator(pendulum(length=length), timestep, integrator)
    simulator.reset(q=[angle])
    simulator.step(n=round(duration / timestep))
    return simulator


def exact_swing(length, amplitude, t):
    """Return the pendulum released at rest from `amplitude`: Jacobi's elliptic functions."""
    k = np.sin(amplitude / 2)
    sn, cn, dn, _ = ellipj(ellipk(k**2) - np.sqrt(GRAVITY / length) * t, k**2)
    return 2 * np.arcsin(k * sn)


@pytest.mark.parametrize('amplitude', [0.01, 1.0, 3.0])
def test_pendulum_follows_the_elliptic_functions(amplitude):
    t = 2.0
    expected = exact_swing(0.5, amplitude, t)
    rk4 = swing(0.5, amplitude, t, 1e-3, 'rk4')
    euler = swing(0.5, amplitude, t, 1e-4, 'semi_implicit')
    assert rk4.q[0] == pytest.approx(expected, abs=1e-8 * amplitude)
    assert euler.q[0] == pytest.approx(expected, abs=2e-3 * amplitude)


@pytest.mark.seed('AE03')
@pytest.mark.parametrize('integrator, order', [('semi_implicit', 1), ('midpoint', 2), ('rk4', 4)])
def test_integrators_converge_at_their_order(integrator, order):
    steps = np.array([8e-3, 4e-3, 2e-3])
    exact = exact_swing(0.5, 2.0, 1.6)
    errors = [abs(swing(0.5, 2.0, 1.6, h, integrator).q[0] - exact) for h in steps]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert slopes == pytest.approx([order, order], abs=0.25)


@pytest.mark.parametrize('integrator, order', [('semi_implicit', 1), ('midpoint', 2), ('rk4', 4)])
def test_integrators_keep_their_order_on_curved_configuration_spaces(integrator, order):
    """A tumbling body with a swinging arm: the floating joint needs the exponential map."""
    tumbler = robot(
        link('body', 2.0, (0.02, 0.03, 0.05), (0.02, 0.0, -0.01)),
        link('arm', 0.5, (0.004, 0.003, 0.001), (0.0, 0.0, 0.1)),
        joint('elbow', 'body', 'arm', axis=(0, 1, 1), xyz=(0.1, 0, 0)),
        floating_base=True,
    )
    v = np.array([2.0, 1.0, -1.5, 0.3, 0.2, 0.1, 3.0])

    def end(h, integrator):
        simulator = Simulator(tumbler, h, integrator)
        simulator.reset(v=v)
        simulator.step(n=round(0.64 / h))
        return np.concatenate([simulator.q, simulator.v])

    exact = end(2.5e-4, 'rk4')
    steps = np.array([1.6e-2, 8e-3, 4e-3])
    errors = [np.abs(end(h, integrator) - exact).max() for h in steps]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert slopes == pytest.approx([order, order], abs=0.4)


@pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint', 'rk4'])
def test_energy_of_an_undamped_pendulum_does_not_drift(integrator):
    simulator = Simulator(pendulum(), 1e-3, integrator)
    simulator.reset(q=[2.0])
    start = simulator.robot.energy(simulator.q, simulator.v).total
    worst = 0.0
    for _ in range(100):
        simulator.step(n=1000)
        worst = max(worst, abs(simulator.robot.energy(simulator.q, simulator.v).total - start))
    assert worst < {'semi_implicit': 0.05, 'midpoint': 1e-4, 'rk4': 1e-7}[integrator]


def test_rk4_keeps_the_energy_of_a_swinging_arm(robot_paths):
    arm = Robot.from_urdf(str(robot_paths['ur5_robot']))
    simulator = Simulator(arm, 1e-3, 'rk4', enforce_velocity_limits=False)
    simulator.reset(q=[0.3, -0.9, 0.8, 0.2, 0.1, 0.0])
    start = arm.energy(simulator.q, simulator.v).total
    simulator.step(n=500)
    assert simulator.status.limit_steps == 0
    assert arm.energy(simulator.q, simulator.v).total == pytest.approx(start, abs=1e-6)


@pytest.mark.seed('JM08')
@pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint', 'rk4'])
def test_free_fall_is_the_parabola(integrator):
    simulator = Simulator(ball(), 1e-3, integrator)
    simulator.reset(q=at((0, 0, 1)), v=[0, 0, 0, 1, 0, 2])
    simulator.step(n=1000)
    lag = 0.5 * GRAVITY * 1e-3 if integrator == 'semi_implicit' else 0.0  # Euler: h g t / 2
    assert simulator.q[4:] == pytest.approx([1.0, 0.0, 3.0 - GRAVITY / 2 - lag], abs=1e-9)
    assert simulator.v == pytest.approx([0, 0, 0, 1, 0, 2 - GRAVITY], abs=1e-9)


def test_tumbling_conserves_momentum_to_rounding():
    """Even with Euler steps; and the center of mass moves in a straight line."""
    spinner = body(3.0, (0.02, 0.05, 0.06), center=(0.03, -0.02, 0.05), gravity=(0, 0, 0))
    simulator = Simulator(spinner)
    simulator.reset(q=at((1, 2, 3)), v=[0.5, 12.0, 0.2, 0.3, -0.4, 0.5])
    momentum = spinner.momentum(simulator.q, simulator.v)
    center = spinner.center_of_mass(simulator.q)
    energy = spinner.energy(simulator.q, simulator.v).kinetic
    simulator.step(n=5000)
    assert spinner.momentum(simulator.q, simulator.v) == pytest.approx(momentum, abs=1e-10)
    expected = center + simulator.time * momentum[3:] / 3.0
    assert spinner.center_of_mass(simulator.q) == pytest.approx(expected, abs=1e-10)
    assert spinner.energy(simulator.q, simulator.v).kinetic == pytest.approx(energy, rel=1e-5)


def test_rk4_follows_eulers_equations_of_a_tumbling_body():
    inertia = np.array([0.02, 0.05, 0.06])
    spinner = body(1.0, tuple(inertia.tolist()), gravity=(0, 0, 0))
    simulator = Simulator(spinner, 1e-3, 'rk4')
    omega = np.array([0.01, 8.0, 0.01])  # about the middle axis: it flips over and over
    simulator.reset(v=[*omega, 0, 0, 0])
    simulator.step(n=3000)
    expected = solve_ivp(
        lambda t, w: np.cross(inertia * w, w) / inertia, (0, 3.0), omega, rtol=1e-12, atol=1e-12
    ).y[:, -1]
    assert simulator.v[:3] == pytest.approx(expected, abs=1e-6)


@pytest.mark.seed('JM06')
@pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint', 'rk4'])
def test_quaternions_stay_unit(integrator):
    simulator = Simulator(ball(gravity=(0, 0, 0)), 1e-3, integrator)
    simulator.reset(v=[5, -3, 40, 0, 0, 0])
    for _ in range(50):
        simulator.step(n=1000)
        assert np.linalg.norm(simulator.q[:4]) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.seed('JM05')
@pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint', 'rk4'])
def test_a_puck_on_a_planar_joint_moves_straight_while_it_spins(integrator):
    puck = robot(
        link('base'),
        link('puck', 1.0, (0.1,) * 3),
        joint('slide', 'base', 'puck', 'planar', (0, 0, 1)),
    )
    simulator = Simulator(puck, 1e-3, integrator)
    simulator.reset(v=[4.0, 1.0, 0.0])
    simulator.step(n=1000)
    lost = {'semi_implicit': 0.02, 'midpoint': 1e-5, 'rk4': 1e-9}[integrator]
    assert simulator.q == pytest.approx([4.0, 1.0, 0.0], abs=lost)


def test_damped_motion_decays_at_its_analytical_rate():
    from support.simulated_robots import turntable

    for integrator in ('semi_implicit', 'midpoint', 'rk4'):
        simulator = Simulator(turntable(0.2, damping=0.1), 1e-4, integrator)
        simulator.reset(v=[2.0])
        simulator.step(n=10000)
        assert simulator.v[0] == pytest.approx(2.0 * np.exp(-0.1 / 0.2), rel=1e-4)
        stiff = Simulator(turntable(0.2, damping=1e5), 1e-3, integrator)
        stiff.reset(v=[2.0])
        stiff.step(n=100)
        assert abs(stiff.v[0]) < 1e-12


@pytest.mark.parametrize('name', ['ur5_robot', 'panda'])
def test_mujoco_moves_the_same_way(robot_paths, name):
    """Same model (inertias of our mass matrix), same state, half a second of free swing."""
    mujoco = outside.load('mujoco')
    import re

    text = robot_paths[name].read_text()
    text = re.sub(r'<(visual|collision)\b.*?</\1>', '', text, flags=re.S)
    text = re.sub(r'<mimic[^>]*/>', '', text)
    arm = Robot.from_urdf(text)
    settings = (
        '<mujoco><compiler fusestatic="false" balanceinertia="false" boundmass="0"/></mujoco>'
    )
    try:
        model = mujoco.MjModel.from_xml_string(
            re.sub(r'(<robot[^>]*>)', r'\1' + settings, text, count=1)
        )
    except ValueError as error:
        pytest.skip(f'MuJoCo rejects the model: {error}')
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = 1e-3
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.dof_frictionloss[:] = 0.0
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    middle = np.clip((arm.lower_limits + arm.upper_limits) / 2, -3, 3)
    q = np.where(np.isfinite(middle), middle, 0.0) + rng.uniform(-0.01, 0.01, arm.nq)
    order = [model.joint(joint).qposadr[0] for joint in arm.joint_names]
    assert model.dof_damping[order] == pytest.approx(arm.damping)
    simulator = Simulator(arm, 1e-3, 'rk4', enforce_velocity_limits=False)
    simulator.reset(q=q)
    data.qpos[order] = q
    tau = 0.05 * rng.uniform(-1, 1, arm.nv)
    data.qfrc_applied[order] = tau
    for _ in range(200):
        mujoco.mj_step(model, data)
    simulator.step(tau, 200)
    assert simulator.status.limit_steps == 0 and not np.any(arm.friction)
    assert simulator.q == pytest.approx(data.qpos[order], abs=1e-8)
    assert simulator.v == pytest.approx(data.qvel[order], abs=1e-7)
