# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Closed-loop systems against explicit equations of motion, Pinocchio, MuJoCo, and each other."""

from typing import Callable, NamedTuple

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside
from support.all_joints import slope
from support.loop_joints import CylindricalPair, ZeroDof
from support.loop_mechanisms import (
    Bars,
    closed_at,
    closed_robot,
    COUPLER,
    CRANK,
    crank_slider,
    crank_slider_bars,
    crank_slider_position,
    four_bar,
    four_bar_bars,
    four_bar_position,
    GRAVITY,
    HINGE,
    parallelogram,
    RELATIVE,
    ROCKER,
    Z,
)
from support.states import every_robot, named_robot, random_forces, random_state

from rbd_ros import Robot
from rbd_ros.model import Frame, LoopJoint
from rbd_ros.model.errors import SingularMassMatrixError
from rbd_ros.model.joints import Revolute, Spherical
from rbd_ros.robot.families.loops_family import METHODS
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia

every_method = pytest.mark.parametrize('method', METHODS)
JOINTS = {'hinge': HINGE, 'cylindrical': CylindricalPair(Z), 'ball': Spherical()}


class Mechanism(NamedTuple):
    """A robot with a loop and its explicit constraints q = gamma(y).

    :param robot: the robot
    :param bars: its explicit equations of motion
    :param gamma: configuration by the crank's angle
    :param G: derivative of gamma
    """

    robot: Robot
    bars: Bars
    gamma: Callable
    G: Callable

    def g(self, y, yd):
        """Return the accelerations besides G ydd."""
        return slope(lambda t: self.G(y + t)) * yd**2


def mechanism(name):
    """Return the mechanism by name."""
    kind, _, joint = name.partition(', ')
    joint = JOINTS.get(joint, HINGE)
    if kind == 'crank-slider':
        robot, slider = crank_slider(joint)
        bars, pin = crank_slider_bars(slider)

        def rates(y):
            first, second, _ = bars.spins(y)
            return np.array([first, second - first, bars.rate(lambda x: pin(x)[1][0], y)])

        return Mechanism(robot, bars, crank_slider_position, rates)
    cut, mode = ('rocker', 1.0) if 'rocker' in kind else ('ground', 1.0)
    if 'other mode' in kind:
        mode = -1.0
    bars = four_bar_bars(cut, mode)
    robot = four_bar(joint, cut)
    return Mechanism(
        robot,
        bars,
        lambda y: four_bar_position(y, cut, mode),
        lambda y: RELATIVE[cut] @ bars.spins(y),
    )


NAMES = [
    'four-bar, hinge',
    'four-bar, cylindrical',
    'four-bar, ball',
    'four-bar in the other mode, hinge',
    'four-bar cut at the rocker, hinge',
    'four-bar cut at the rocker in the other mode, ball',
    'crank-slider, hinge',
    'crank-slider, ball',
]
every_mechanism = pytest.mark.parametrize('name', NAMES)
CRANKS = (0.5, 1.3, -2.1, 2.8)


@pytest.mark.seed('CL01', kind='full')
@pytest.mark.seed('CL06', 'CL07', 'CL08', 'FO07')
@every_mechanism
@every_method
def test_a_linkage_moves_as_lagranges_equation_in_its_crank_angle_says(name, method):
    """Redundant in three dimensions or not, in both assembly modes, cut here or there."""
    linkage = mechanism(name)
    robot, bars, gamma, rates = linkage
    rng = np.random.default_rng(1)
    for y in CRANKS:
        yd, tau = rng.normal(), rng.normal(size=3)
        q, G, g = gamma(y), rates(y), linkage.g(y, yd)
        assert_allclose(robot.loops.closure(q).residual, 0.0, atol=1e-13)
        ydd = bars.acceleration(y, yd, G @ tau)
        found = robot.loops.forward_dynamics(q, G * yd, tau, method)
        assert_allclose(found.a, G * ydd + g, rtol=1e-8, atol=1e-8)
        assert found.rank == 2
        assert found.mismatch < 1e-9


@pytest.mark.seed('CL01')
@every_method
def test_a_parallelogram_moves_by_its_closed_form(method):
    """Coupler without rotation: constant inertia, and the torques of three weights."""
    robot = parallelogram()
    inertia = 2.0 * (CRANK.inertia + CRANK.mass * CRANK.center**2)
    inertia += COUPLER.mass * CRANK.length**2
    moment = 2.0 * CRANK.mass * CRANK.center + COUPLER.mass * CRANK.length
    rng = np.random.default_rng(3)
    for y in (0.4, 1.7, -2.5):
        yd, (t1, t2, t3) = rng.normal(), rng.normal(size=3)
        # the coupler's joint turns back as much as the crank turns
        ydd = (t1 - t2 + t3 + moment * GRAVITY[1] * np.cos(y)) / inertia
        G = np.array([1.0, -1.0, 1.0])
        found = robot.loops.forward_dynamics([y, -y, y], G * yd, [t1, t2, t3], method)
        assert_allclose(found.a, G * ydd, rtol=1e-10, atol=1e-10)


@pytest.mark.seed('CT02', kind='full')
@every_mechanism
def test_explicit_and_implicit_constraints_are_two_views_of_one(name):
    """Position phi(gamma(y)) = 0, velocity K G = 0, acceleration K g = k (book eq 3.11, 3.12)."""
    linkage = mechanism(name)
    robot, _, gamma, rates = linkage
    for y in CRANKS:
        q, G, g, yd = gamma(y), rates(y), linkage.g(y, 1.7), 1.7

        def near(t, y=y, q=q):
            return np.unwrap([q, gamma(y + t)], axis=0)[1]

        assert_allclose(slope(near), G, atol=1e-9)
        delta, velocity, K, k = robot.loops.constraints(q, G * yd)
        assert_allclose(delta, 0.0, atol=1e-13)
        assert_allclose(K @ G, 0.0, atol=1e-12)
        assert_allclose(velocity, 0.0, atol=1e-12)
        assert np.abs(k).max() > 0.1
        assert_allclose(K @ g, k, atol=1e-9)


@pytest.mark.seed('CT03', kind='full')
@every_mechanism
@every_method
def test_constraint_forces_do_no_work_on_admissible_motions(name, method):
    """tau_c = K^T lambda, and G^T tau_c = 0 with G of the explicit solution; tau_c is not zero."""
    robot, _, gamma, rates = mechanism(name)
    tree = Robot(robot.model.with_loops(()))
    for y in CRANKS:
        q, G, tau = gamma(y), rates(y), np.array([1.0, -2.0, 0.5])
        found = robot.loops.forward_dynamics(q, 1.3 * G, tau, method)
        tau_c = robot.loops.closure(q).K.T @ found.multipliers
        assert np.abs(tau_c).max() > 0.1
        assert abs(G @ tau_c) < 1e-11
        # and it is what the tree lacks to move so
        assert_allclose(tree.inverse_dynamics(q, 1.3 * G, found.a) - tau, tau_c, atol=1e-10)


# -- random trees with loops of several types, against each other and Pinocchio

LOOPS = {
    'ball': ((Spherical(),), ((0, 7),)),
    'weld': ((ZeroDof(),), ((0, 8),)),
    'branches': ((Spherical(), Revolute((0.48, -0.6, 0.64))), ((3, 7), (8, 2))),
    'same loop twice': ((ZeroDof(), ZeroDof()), ((1, 8), (1, 8))),
}


@pytest.mark.seed('CL06', 'FO07', kind='full')
@pytest.mark.seed('CL07', 'CL08', 'FO08', 'FO09')
@pytest.mark.parametrize('gears', [False, True], ids=['free', 'gears'])
@pytest.mark.parametrize('name', LOOPS)
@pytest.mark.parametrize('seed', [5, 21])
def test_all_methods_agree_with_the_augmented_system_solved_by_least_squares(name, gears, seed):
    """Accelerations and the shortest constraint forces; H and C are those of the tree itself."""
    joints, pairs = LOOPS[name]
    _, robot, q, v, tau = closed_robot(seed, joints, pairs, gears, bodies=9)
    forces = {robot.link_names[-1]: np.array([1.0, -2.0, 3.0, 4.0, 0.5, -6.0])}
    tree = Robot(robot.model.with_loops(()))
    _, _, K, k = robot.loops.constraints(q, v)
    n, m = robot.nv, len(k)
    system = np.block([[tree.mass_matrix(q), -K.T], [K, np.zeros((m, m))]])
    right = np.concatenate([tau - tree.bias_force(q, v, forces), k])
    solution = np.linalg.lstsq(system, right, rcond=1e-11)[0]
    a = solution[:n]
    # of all lambda with the same effect, the one in range(K)
    shortest = K @ np.linalg.pinv(K, 1e-10) @ solution[n:]
    for method in METHODS:
        found = robot.loops.forward_dynamics(q, v, tau, method, external_forces=forces)
        scale = 1.0 + np.abs(a).max()
        assert_allclose(found.a, a, atol=1e-9 * scale)
        assert_allclose(found.multipliers, shortest, atol=1e-8 * (1.0 + np.abs(shortest).max()))
        assert found.rank == np.linalg.matrix_rank(K, 1e-8)
        assert found.mismatch < 1e-9 * scale


def in_pinocchio(bridge, robot, q, v, tau):
    """Return the acceleration by Pinocchio's constraint dynamics, of balls and welds only."""
    pin = outside.load('pinocchio')
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in robot.model.loops:
        ends = []
        for frame in (loop.predecessor, loop.successor):
            pose, joint = frame.placement.pose(), 0
            if frame.body:
                name = robot.model.body(frame.body).joint_name
                joint = bridge.model.getJointId(bridge._pin_name(name))
            ends += [joint, pin.SE3(pose[:3, :3], pose[:3, 3])]
        ball = isinstance(loop.joint, Spherical)
        kind = pin.ContactType.CONTACT_3D if ball else pin.ContactType.CONTACT_6D
        models.append(pin.RigidConstraintModel(kind, bridge.model, *ends))
        datas.append(models[-1].createData())
    pin.initConstraintDynamics(bridge.model, bridge.data, models, datas)
    settings = pin.ProximalSettings(1e-14, 1e-14, 10)
    state = bridge.q(q), bridge.v(v), bridge.P @ tau
    expected = pin.constraintDynamics(bridge.model, bridge.data, *state, models, datas, settings)
    return bridge.P.T @ expected


@pytest.mark.seed('CL06', 'CL07', 'CL08', 'CL01')
@pytest.mark.parametrize('name', ['ball', 'weld'])
@pytest.mark.parametrize('seed', [5, 21, 33])
def test_random_trees_with_a_loop_move_as_in_pinocchio(name, seed):
    from support.pinocchio_bridge import Bridge

    joints, pairs = LOOPS[name]
    text, robot, q, v, tau = closed_robot(seed, joints, pairs, bodies=9)
    expected = in_pinocchio(Bridge(text), robot, q, v, tau)
    found = robot.loops.forward_dynamics(q, v, tau)
    assert_allclose(found.a, expected, rtol=1e-7, atol=1e-6)


REAL = {  # joints that close loops, between body numbers; -1 is the last one
    'ur5_robot': (((Spherical(), 0, -1),), False),
    'hyq_no_sensors': (((Spherical(), 4, 7), (Spherical(), 10, 13)), True),
    'kinova': (((ZeroDof(), 1, -1),), False),
    'xarm7': (((ZeroDof(), 0, 7),), False),
}


@pytest.mark.seed('CL06', 'CL07', 'CL08')
@pytest.mark.parametrize('name', REAL)
def test_real_robots_with_loops_move_as_in_pinocchio(name, robot_paths):
    """Arms whose hand is held, legs tied together."""
    from support.pinocchio_bridge import Bridge

    loops, floating = REAL[name]
    text = robot_paths[name].read_text(encoding='utf-8')
    tree, rng = Robot.from_urdf(text, floating_base=floating), np.random.default_rng(2)
    last = len(tree.model.bodies)
    pairs = [(p % (last + 1), s % (last + 1)) for _, p, s in loops]
    q = tree.random_configuration(rng)
    robot = Robot(closed_at(tree.model, q, [joint for joint, *_ in loops], rng, pairs))
    K = robot.loops.closure(q).K
    v, tau = rng.normal(size=(2, robot.nv))
    v -= np.linalg.pinv(K) @ (K @ v)
    expected = in_pinocchio(Bridge(text, floating), robot, q, v, tau)
    for method in METHODS:
        found = robot.loops.forward_dynamics(q, v, tau, method)
        assert found.rank == np.linalg.matrix_rank(K, 1e-8)
        assert_allclose(found.a, expected, atol=1e-6 * (1.0 + np.abs(expected).max()))


@every_robot
@every_method
def test_robots_with_every_sort_of_joint_satisfy_both_equations(name, method):
    """Spherical and rolling joints, gears, a floating base: what tree and constraints demand."""
    tree, rng = named_robot(name), np.random.default_rng(8)
    q, v, tau = random_state(tree)
    last = len(tree.model.bodies)
    joints = Spherical(), CylindricalPair((0.48, -0.6, 0.64))
    robot = Robot(closed_at(tree.model, q, joints, rng, ((0, last), (1, last - 1))))
    forces = random_forces(tree)
    found = robot.loops.forward_dynamics(
        q, v, tau, method, external_forces=forces, t_stab=0.2, loop_forces=np.arange(5.0)
    )
    delta, velocity, K, k = robot.loops.constraints(q, v)
    right = k - 2.0 / 0.2 * velocity - delta / 0.2**2
    best = K @ np.linalg.lstsq(K, right, rcond=1e-10)[0]
    assert_allclose(K @ found.a, best, atol=1e-8 * (1.0 + np.abs(right).max()))
    for loop, f in zip(
        robot.model.loops, robot.loops.wrenches(q, found.multipliers, np.arange(5.0))
    ):
        for frame, sign in ((loop.successor, 1.0), (loop.predecessor, -1.0)):
            if frame.body:
                link = robot.model.body(frame.body).name
                forces[link] = forces.get(link, 0.0) + sign * f
    needed = tree.inverse_dynamics(q, v, found.a, forces)
    assert_allclose(needed, tau, atol=1e-7 * (1.0 + np.abs(needed).max()))


@pytest.mark.seed('CL01')
def test_a_four_bar_moves_as_in_mujoco():
    """MuJoCo closes loops by soft constraints, as hard as it has them: to one percent."""
    mujoco = outside.load('mujoco')

    def body(name, bar, x, y, inside=''):
        return (
            f'<body name="{name}" pos="{x} {y} 0"><joint name="{name}" axis="0 0 1"/>'
            f'<inertial pos="{bar.center} 0 0" mass="{bar.mass}" '
            f'diaginertia="0.01 0.012 {bar.inertia}"/>{inside}</body>'
        )

    inner = body('coupler', COUPLER, CRANK.length, 0, body('rocker', ROCKER, COUPLER.length, 0))
    text = (
        '<mujoco><compiler angle="radian"/><option gravity="0 -9.81 0"/><worldbody>'
        + body('crank', CRANK, 0, 0, inner)
        + f'</worldbody><equality><connect body1="rocker" anchor="{ROCKER.length} 0 0" '
        'solref="0.1 1" solimp="0.9999 0.9999 0.001"/></equality></mujoco>'
    )
    y, yd, tau = 0.9, 1.4, np.array([0.6, -0.3, 0.2])
    robot, _, gamma, rates = mechanism('four-bar, hinge')
    q, G = gamma(y), rates(y)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = q
    # The anchor on the world is where the rocker's end is at qpos0; put it to the ground's hinge
    model.eq_data[0, 3:6] = [0.5, 0.0, 0.0]
    data.qvel[:], data.qfrc_applied[:] = G * yd, tau
    mujoco.mj_forward(model, data)
    found = robot.loops.forward_dynamics(q, G * yd, tau)
    assert_allclose(found.a, data.qacc, rtol=1e-2, atol=1e-2 * np.abs(found.a).max())


# -- how it is called


@every_method
def test_batches_are_their_rows(method):
    robot, _, gamma, rates = mechanism('four-bar, hinge')
    q = np.array([gamma(y) for y in CRANKS])
    v = np.array([0.8 * rates(y) for y in CRANKS])
    tau = np.random.default_rng(1).normal(size=(len(CRANKS), 3))
    many = robot.loops.forward_dynamics(q, v, tau, method, t_stab=0.1)
    for k, row in enumerate(zip(q, v, tau)):
        one = robot.loops.forward_dynamics(*row, method, t_stab=0.1)
        assert_allclose(many.a[k], one.a, rtol=1e-11, atol=1e-11)
        assert_allclose(many.multipliers[k], one.multipliers, rtol=1e-10, atol=1e-10)
        assert many.rank[k] == one.rank == 2
    same = robot.loops.forward_dynamics(q[0], v[0], tau, method)
    assert same.a.shape == (4, 3)
    assert_allclose(same.a[3], robot.loops.forward_dynamics(q[0], v[0], tau[3], method).a)
    nothing = robot.loops.forward_dynamics(q[:0], v[:0], tau[:0], method)
    assert nothing.a.shape == (0, 3) and nothing.rank.shape == robot.loops.rank(q[:0]).shape == (
        0,
    )
    again = robot.loops.forward_dynamics(q, v[0], tau[0], method)
    assert_allclose(again.a[2], robot.loops.forward_dynamics(q[2], v[0], tau[0], method).a)


@every_method
def test_a_nan_state_affects_its_row_only(method):
    robot, _, gamma, rates = mechanism('four-bar, hinge')
    q = np.array([gamma(y) for y in CRANKS])
    tau = np.zeros((4, 3))
    q[1, 0] = np.nan
    tau[2, 1] = np.inf
    found = robot.loops.forward_dynamics(q, np.zeros(3), tau, method)
    assert np.isnan(found.a[[1, 2]]).all() and np.isfinite(found.a[[0, 3]]).all()
    assert list(found.rank) == [2, -1, -1, 2]
    assert list(robot.loops.rank(q)) == [2, -1, 2, 2]


def test_results_are_written_to_out():
    robot, _, gamma, _ = mechanism('four-bar, hinge')
    out = np.empty(3), np.empty(5)
    found = robot.loops.forward_dynamics(gamma(0.4), np.zeros(3), np.zeros(3), out=out)
    assert found.a is out[0] and found.multipliers is out[1]
    assert_allclose(out[0], robot.loops.forward_dynamics(gamma(0.4), np.zeros(3), np.zeros(3)).a)
    with pytest.raises(ValueError, match=r'shapes \(3,\) and \(5,\)'):
        robot.loops.forward_dynamics(gamma(0.4), np.zeros(3), np.zeros(3), out=out[::-1])


def test_invalid_arguments_are_rejected():
    loops, zero = four_bar().loops, np.zeros(3)
    with pytest.raises(ValueError, match="unknown method 'schur'; there are kkt, forces"):
        loops.forward_dynamics(zero, zero, zero, 'schur')
    with pytest.raises(ValueError, match=r'tau must be .* \(3,\)'):
        loops.forward_dynamics(zero, zero, np.zeros(2))
    with pytest.raises(ValueError, match=r'tau must be'):
        loops.forward_dynamics(zero, zero, ['a', 'b', 'c'])
    with pytest.raises(ValueError, match='t_stab must be a positive'):
        loops.forward_dynamics(zero, zero, zero, t_stab=0.0)
    with pytest.raises(ValueError):
        loops.forward_dynamics(np.zeros((2, 3)), zero, np.zeros((3, 3)))


def massless_rocker():
    """Return the four-bar whose rocker has no inertia.

    Singular alone, regular once the loop is closed.
    """
    return Robot(four_bar().model.with_link_inertia('rocker', RigidBodyInertia.zero()))


@pytest.mark.seed('CL08')
def test_links_without_inertia_may_be_moved_by_a_loop():
    robot = massless_rocker()
    q, tau = four_bar_position(0.7), np.array([1.0, 0.2, -0.1])
    one, other = (
        robot.loops.forward_dynamics(q, np.zeros(3), tau, method)
        for method in ('kkt', 'null_space')
    )
    assert_allclose(one.a, other.a, rtol=1e-9)
    assert_allclose(one.multipliers, other.multipliers, rtol=1e-9, atol=1e-12)
    bars = four_bar_bars()
    G = RELATIVE['ground'] @ bars.spins(0.7)
    light = Bars(*bars.links[:2])
    assert_allclose(one.a[0], light.acceleration(0.7, 0.0, G @ tau), rtol=1e-9)
    for method in ('forces', 'articulated_body'):
        with pytest.raises(SingularMassMatrixError, match='rocker_joint.*or choose method null'):
            robot.loops.forward_dynamics(q, np.zeros(3), tau, method)


def test_a_motion_that_moves_no_mass_is_named_as_the_trouble():
    """A loop that leaves a body without inertia free."""
    robot = massless_rocker()
    frame = Frame(1, PluckerTransform.identity())
    held = LoopJoint('held', Frame(0, PluckerTransform.identity()), frame, ZeroDof())
    loose = Robot(robot.model.with_loops([held]))
    for method in ('kkt', 'null_space'):
        with pytest.raises(SingularMassMatrixError, match='moves no mass'):
            loose.loops.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3), method)
