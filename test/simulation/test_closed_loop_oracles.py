# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulated robots with loops, against independently integrated equations of motion."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support import loop_mechanisms as mechanisms, outside
from support.cassie import cassie
from support.loop_mechanisms import closed_robot

from rbd_ros import Robot, Simulator
from rbd_ros.model.joints import Spherical
from rbd_ros.spatial.rotation import quaternion_to_rotation


def integrated(robot, acceleration, q, v, duration):
    """Return the end of the motion with an acceleration as function of q and v.

    By Dormand and Prince.
    """

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


def test_cassie_moves_as_by_pinocchio(rng):
    """Four loops with redundant constraints, for 20 ms under random torques."""
    pin = outside.load('pinocchio')
    walker = cassie()
    # Its damping is stiff, which the simulator takes at the end of a step.
    bodies = [replace(body, damping=0.0) for body in walker.model.bodies]
    walker = Robot(replace(walker.model, bodies=tuple(bodies)))
    model = pin.Model()
    model.gravity.linear = np.array(walker.model.gravity)

    def se3(X):
        pose = X.pose()
        return pin.SE3(pose[:3, :3], pose[:3, 3])

    def grow(i):
        """Subtree of a body, which Pinocchio wants without others in between."""
        body = walker.model.body(i)
        # What connects rods and hips has its polarity from the file, not from the tree.
        ball = body.joint.nq == 4
        kind = (
            pin.JointModelSpherical()
            if ball
            else pin.JointModelRevoluteUnaligned(np.array(body.joint.axis))
        )
        parent = numbers.get(body.parent, 0)
        place = se3(body.tree_transform)
        numbers[i] = model.addJoint(parent, kind, place, body.joint_name)
        mass, center, inertia = body.inertia.mass_center()
        inertia = pin.Inertia(mass, np.array(center), np.array(inertia))
        model.appendBodyToJoint(numbers[i], inertia, pin.SE3.Identity())
        for k, child in enumerate(walker.model.bodies, start=1):
            if child.parent == i:
                grow(k)

    numbers = {0: 0}
    for i, body in enumerate(walker.model.bodies, start=1):
        if body.parent == 0:
            grow(i)
    data = model.createData()
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in walker.model.loops:
        p, s = (
            (numbers[end.body], se3(end.placement)) for end in (loop.predecessor, loop.successor)
        )
        models.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *p, *s))
        datas.append(models[-1].createData())
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-12, 1e-3, 100)

    def theirs(q):
        """Return the configuration, with quaternions (x, y, z, w), and velocities for ours.

        (nv, nv).
        """
        position, P = np.zeros(model.nq), np.zeros((model.nv, walker.nv))
        for i, body in enumerate(walker.model.bodies, start=1):
            joint = model.joints[numbers[i]]
            at = slice(joint.idx_v, joint.idx_v + joint.nv)
            x, P[at, body.v] = q[body.q], np.eye(joint.nv)
            if joint.nq == 4:
                is_reversed = body.joint != Spherical()
                if is_reversed:
                    P[at, body.v] = -np.array(quaternion_to_rotation(x.tolist()))
                x = [*(-x[1:] if is_reversed else x[1:]), x[0]]
            position[joint.idx_q : joint.idx_q + joint.nq] = x
        return position, P

    hinges = np.zeros(walker.nv)
    for body in walker.model.bodies:
        hinges[body.v] = body.joint.nv == 1
    tau = 0.03 * hinges * rng.normal(size=walker.nv)

    def acceleration(q, v):
        position, P = theirs(q)
        state = position, P @ v, P @ tau
        # Angular accelerations turn as velocities do: a vector does not turn about itself.
        return P.T @ pin.constraintDynamics(model, data, *state, models, datas, settings)

    simulator = Simulator(walker, 1e-4, 'rk4')
    simulator.reset(walker.neutral(), 0.5 * hinges * rng.normal(size=walker.nv))
    q, v = simulator.q, simulator.v
    h, count = 2e-4, 100
    simulator.step(tau, 2 * count)
    assert np.abs(simulator.q - q).max() > 0.01
    for _ in range(count):
        # Runge and Kutta's steps; rates of quaternions are of the configuration in between.
        v1, a1 = v, acceleration(q, v)
        v2 = v + 0.5 * h * a1
        a2 = acceleration(walker.integrate(q, v1, 0.5 * h), v2)
        v3 = v + 0.5 * h * a2
        a3 = acceleration(walker.integrate(q, v2, 0.5 * h), v3)
        v4 = v + h * a3
        a4 = acceleration(walker.integrate(q, v3, h), v4)
        q = walker.integrate(q, (v1 + 2.0 * v2 + 2.0 * v3 + v4) / 6.0, h)
        v = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    assert simulator.q == pytest.approx(q, abs=1e-6)
    assert simulator.v == pytest.approx(v, abs=1e-4)
    assert simulator.status.unconverged_steps == 0


def four_bar_in_mujoco(mujoco, q, timestep, softness):
    """Return model of the four-bar linkage, its rocker connected to the ground; q are its zeros.

    :param softness: time constant of the constraint [s]
    """
    bars = (
        ('crank', mechanisms.CRANK, 0.0),
        ('coupler', mechanisms.COUPLER, mechanisms.CRANK.length),
        ('rocker', mechanisms.ROCKER, mechanisms.COUPLER.length),
    )
    text = ''.join(
        f'<body name="{name}" pos="{at!r} 0 0" euler="0 0 {float(angle)!r}"><joint axis="0 0 1"/>'
        f'<inertial pos="{bar.center!r} 0 0" mass="{bar.mass!r}" '
        f'diaginertia="0.01 0.012 {bar.inertia!r}"/>'
        for (name, bar, at), angle in zip(bars, q)
    )
    return mujoco.MjModel.from_xml_string(f"""
        <mujoco><compiler angle="radian" balanceinertia="false" boundinertia="0"/>
          <option gravity="0 -9.81 0" timestep="{timestep}" integrator="RK4" tolerance="0"
            iterations="100" solver="Newton"/>
          <worldbody>{text}</body></body></body></worldbody>
          <equality><connect body1="rocker" anchor="{mechanisms.ROCKER.length!r} 0 0"
            solref="{softness} 1" solimp="0.99999 0.99999 0.001"/></equality></mujoco>""")


def test_a_four_bar_linkage_moves_as_mujocos_the_stiffer_the_closer():
    mujoco = outside.load('mujoco')
    start, torque, duration = mechanisms.four_bar_position(1.0), 0.7, 0.8
    ends = []
    for integrator, h in (('rk4', 1e-3), ('semi_implicit', 2e-5)):
        simulator = Simulator(mechanisms.four_bar(), h, integrator)
        simulator.reset(start)
        simulator.step([torque, 0.0, 0.0], round(duration / h))
        ends.append(simulator.q - start)
    assert np.abs(ends[0]).max() > 0.5
    errors = []
    for timestep, softness in ((2e-3, 0.1), (5e-4, 0.02), (2e-4, 0.004)):
        model = four_bar_in_mujoco(mujoco, start, timestep, softness)
        data = mujoco.MjData(model)
        data.qfrc_applied[0] = torque
        for _ in range(round(duration / timestep)):
            mujoco.mj_step(model, data)
        errors.append([np.abs(end - data.qpos).max() for end in ends])
    rk4, euler = np.transpose(errors)
    assert rk4[0] > 2.0 * rk4[1] > 4.0 * rk4[2]
    assert rk4[2] < 1e-4 and euler[2] < 2e-4
