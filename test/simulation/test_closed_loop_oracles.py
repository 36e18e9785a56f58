"""Robots with loops, simulated, against equations of motion that others integrate."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support import outside
from support.cassie import cassie
from support.loop_mechanisms import closed_robot

from rbd_ros import Simulator
from rbd_ros.model.joints import Spherical


def integrated(robot, acceleration, q, v, duration):
    """End of the motion with an acceleration as function of q and v, by Dormand and Prince."""

    def rate(t, x):
        q, v = x[: robot.nq], x[robot.nq :]
        joints = robot.model.independent_slices.items()
        moved = [
            dq
            for i, (at_q, at_v) in joints
            for dq in robot.model.body(i).joint.position_rate(q[at_q].tolist(), v[at_v].tolist())
        ]
        return np.r_[moved, acceleration(q, v)]

    solution = solve_ivp(rate, (0.0, duration), np.r_[q, v], 'DOP853', rtol=1e-8, atol=1e-8)
    return solution.y[:, -1]


@pytest.mark.parametrize('seed', [5, 21])
def test_a_random_tree_with_a_loop_moves_as_by_pinocchio(seed):
    pin = outside.load('pinocchio')
    from support.pinocchio_bridge import Bridge

    text, robot, q, v, tau = closed_robot(seed, (Spherical(),), ((2, 9),), bodies=9)
    bridge, (loop,) = Bridge(text), robot.model.loops
    ends = []
    for frame in (loop.predecessor, loop.successor):
        pose, name = frame.placement.pose(), robot.model.body(frame.body).joint_name
        ends += [bridge.model.getJointId(name), pin.SE3(pose[:3, :3], pose[:3, 3])]
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, bridge.model, *ends))
    datas.append(models[0].createData())
    pin.initConstraintDynamics(bridge.model, bridge.data, models, datas)
    settings = pin.ProximalSettings(1e-14, 1e-14, 10)

    simulator = Simulator(robot, 1e-4, 'rk4')
    simulator.reset(q, 0.3 * v)
    tau = np.clip(0.1 * tau, -robot.effort_limits, robot.effort_limits) - 0.0

    def acceleration(q, v):
        force = bridge.P @ (tau - robot.damping * v)
        state = bridge.q(q), bridge.v(v), force
        return bridge.P.T @ pin.constraintDynamics(
            bridge.model, bridge.data, *state, models, datas, settings
        )

    q, v = simulator.q, simulator.v
    duration = 0.02
    expected = integrated(robot, acceleration, q, v, duration)
    simulator.step(tau, round(duration / 1e-4))
    if robot.friction.any() or simulator.status.limit_steps:
        pytest.skip('this one has friction or reaches a limit')
    assert np.r_[simulator.q, simulator.v] == pytest.approx(expected, abs=1e-5)
    assert np.abs(simulator.q - q).max() > 1e-3


def test_cassies_legs_accelerate_as_the_constrained_equations_say(rng):
    """Two loops a leg, of which one is planar and has a redundant constraint."""
    walker = cassie()
    assert walker.loops.rank(walker.neutral()) == 2 * (3 + 2)
    simulator = Simulator(walker, 1e-7)
    assert np.abs(simulator.loop_errors).max() < 1e-12 and simulator.warnings == ()
    tau = rng.normal(size=walker.nv)
    exact = walker.loops.forward_dynamics(simulator.q, simulator.v, tau)
    simulator.step(tau)
    assert simulator.a == pytest.approx(exact.a, abs=1e-3 * np.abs(exact.a).max())


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
def test_cassies_legs_flail_with_their_loops_closed(integrator, rng):
    walker = cassie()
    simulator = Simulator(walker, 1e-3, integrator)
    q = walker.neutral()
    simulator.reset(q, 0.3 * rng.normal(size=walker.nv))
    for _ in range(200):
        simulator.step(rng.normal(size=walker.nv), 10)
        assert np.abs(simulator.loop_errors).max() < 1e-9
    assert np.isfinite(simulator.v).all()
