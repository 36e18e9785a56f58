# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Models of bodies and joints: one mechanism for any spanning tree, numbering and polarity."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation
from support.all_joints import every_joint, JOINTS, slope, tree, worked_example
from support.assembled_mechanisms import (
    crank_slider,
    crank_slider_acceleration,
    crank_slider_graph,
    crank_slider_joints,
    crank_slider_parts,
    free_chain,
    random_inertia,
)

from rbd_ros import Robot
from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inverse_dynamics.rnea import bias_force
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.model import Body, JointLimits, Link, Model, ModelError
from rbd_ros.model.joints import (
    Floating,
    Prismatic,
    RackAndPinion,
    reverse,
    Reversed,
    Revolute,
    Spherical,
    SphericalYawPitchRoll,
    Universal,
)
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform, RigidBodyInertia
from rbd_ros.textbook.models import assemble, Connection

NUMBERINGS = [
    numbering for tree in crank_slider_graph().spanning_trees() for numbering in tree.numberings()
]
every_numbering = pytest.mark.parametrize(
    'numbering', NUMBERINGS, ids=['-'.join(n.bodies + n.joints) for n in NUMBERINGS]
)


# -- loops ----------------------------------------------------------------------------------------


@pytest.mark.seed('MD03', 'MD07')
@every_numbering
def test_every_numbering_is_the_same_crank_slider(numbering):
    """Poses, constraints, and accelerations, which are those of Lagrange's equation."""
    model = crank_slider(numbering)
    robot = Robot(model)
    theta, rate = 0.8, 1.7
    names = model.joint_names
    assert names == numbering.joints[:3] and model.loops[0].name == numbering.joints[3]

    def q(t):
        positions = crank_slider_joints(theta + rate * t)
        return np.array([positions[name] for name in names])

    poses = robot.forward_kinematics(q(0.0))
    phi = crank_slider_joints(theta)['J1'] + crank_slider_joints(theta)['J2']
    for link, angle in (('crank', theta), ('rod', phi), ('slider', 0.0)):
        assert_allclose(poses[link][:2, 0], [np.cos(angle), np.sin(angle)], atol=1e-14)
    assert_allclose(poses['slider'][:3, 3], [-crank_slider_joints(theta)['J4'], 0, 0], atol=1e-14)

    residual, K = robot.loops.closure(q(0.0))
    assert_allclose(residual, 0.0, atol=1e-14)
    qd = slope(q)
    assert_allclose(K @ qd, 0.0, atol=1e-11)
    assert np.linalg.matrix_rank(K, tol=1e-9) == 2  # of five rows, mobility 3 - 2 = 1
    k = -slope(lambda t: robot.loops.closure(q(t)).K) @ qd
    H, C = robot.mass_matrix(q(0.0)), robot.bias_force(q(0.0), qd)
    KKT = np.block([[H, K.T], [K, np.zeros((5, 5))]])
    qdd = np.linalg.lstsq(KKT, np.r_[-C, k], rcond=1e-10)[0][:3]
    crank = crank_slider_acceleration(theta, rate)

    def path(t):
        positions = crank_slider_joints(theta + rate * t + 0.5 * crank * t * t)
        return np.array([positions[name] for name in names])

    second = slope(lambda t: slope(lambda s: path(t + s)))
    assert_allclose(qdd, second, atol=1e-6)


@pytest.mark.seed('MD02')
def test_the_tree_of_minimum_depth_is_taken():
    model = crank_slider()
    assert model.parent_array.parents == (0, 0, 1)
    assert [loop.name for loop in model.loops] == ['J3']
    assert isinstance(model.body(2).joint, type(reverse(crank_slider_parts()[1][3].joint)))
    (loop,) = crank_slider(loop_joints=['J1']).loops
    assert loop.name == 'J1'


def test_properties_of_joints_are_theirs_in_either_direction(rng):
    limits = JointLimits(-0.5, 0.7, 3.0, 9.0)
    given = {'damping': 0.3, 'friction': 0.2, 'armature': 0.1, 'limits': limits}
    ends = ('world', 'a'), ('b', 'a')
    joints = [
        Connection(f'j{k}', *pair, RackAndPinion(0.1), **given) for k, pair in enumerate(ends)
    ]
    model = assemble('arm', 'world', {name: random_inertia(rng) for name in 'ab'}, joints)
    assert [type(body.joint) for body in model.bodies] == [RackAndPinion, Reversed]
    for body in model.bodies:
        assert {name: getattr(body, name) for name in given} == given


def test_frames_are_on_both_sides_of_a_joint():
    robot = Robot(crank_slider())
    q = np.array([crank_slider_joints(0.8)[name] for name in robot.joint_names])
    ahead = robot.forward_kinematics(q)
    assert_allclose(robot.frame('J2').pose(q), ahead['rod'], atol=1e-15)
    assert_allclose(robot.frame('J4').pose(q), np.eye(4), atol=1e-15)


# -- bodies that nothing holds --------------------------------------------------------------------


@pytest.mark.seed('MD01', kind='full')
def test_unconnected_bodies_are_rejected_by_name_or_move_freely(rng):
    inertias = {name: random_inertia(rng) for name in ('body', 'dish', 'stone')}
    hinge = Connection('hinge', 'dish', 'body', Revolute((0.0, 0.0, 1.0)))
    with pytest.raises(ModelError, match="base 'planet': 'body', 'dish'; 'stone'"):
        assemble('satellite', 'planet', inertias, [hinge])
    model = assemble('satellite', 'planet', inertias, [hinge], free_bodies=True)
    assert model.joint_names == ('free_body', 'free_stone', 'hinge')
    assert [body.joint for body in model.bodies[:2]] == [Floating()] * 2
    robot = Robot(model)
    q, v = robot.random_configuration(rng), np.zeros(robot.nv)
    a = robot.forward_dynamics(q, v, v)
    for link in inertias:  # at rest all fall alike, and nothing turns
        J = robot.frame(link, 'aligned').jacobian(q)
        assert_allclose(J @ a, [0, 0, 0, *robot.gravity], atol=1e-12)


@pytest.mark.parametrize(
    'connections, message',
    [
        ([Connection('j', 'world', 'b', Floating())], "there is no body 'b'"),
        (
            [Connection(x, 'world', 'a', SphericalYawPitchRoll()) for x in 'jk'],
            "loop joint 'k': .* cannot close a loop",
        ),
    ],
)
def test_an_impossible_assembly_is_rejected(rng, connections, message):
    with pytest.raises(ModelError, match=message):
        assemble('robot', 'world', {'a': random_inertia(rng)}, connections)


def test_a_numbering_of_other_bodies_is_rejected(rng):
    with pytest.raises(ModelError, match='other bodies or joints'):
        inertias, joints = crank_slider_parts()
        assemble('robot', 'base', {**inertias, 'a': random_inertia(rng)}, joints, NUMBERINGS[0])
    with pytest.raises(ModelError, match='other bodies or joints'):
        more = replace(joints[0], name='J5')
        assemble('robot', 'base', inertias, [*joints, more], NUMBERINGS[0])


URDF = """
<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="1.5"/>
<inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.04"/></inertial></link>
<link name="lower"><inertial><origin xyz="-0.1 0 0.2"/><mass value="0.7"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.025"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
<origin xyz="0.3 -0.2 0.5" rpy="0.7 0.2 -0.4"/><axis xyz="0 3 -4"/></joint>
<joint name="slide" type="prismatic"><parent link="upper"/><child link="lower"/>
<origin xyz="0 0.4 0.1" rpy="0 0 1.2"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>
"""


@pytest.mark.seed('MD10', kind='full')
def test_a_hand_made_model_equals_that_of_the_urdf(rng):
    """Rotations here are SciPy's, about fixed axes in turn; inertias are turned by matrices."""

    def placed(xyz, rpy):
        R = Rotation.from_euler('xyz', rpy).as_matrix()
        return PluckerTransform(tuple(map(tuple, R.T.tolist())), tuple(map(float, xyz)))

    R = Rotation.from_euler('xyz', [0.4, -0.5, 0.6]).as_matrix()
    I = [[0.02, 0.001, -0.002], [0.001, 0.03, 0.003], [-0.002, 0.003, 0.04]]
    lower = np.diag([0.01, 0.02, 0.025]).tolist()
    inertias = {
        'upper': RigidBodyInertia.from_mass_center(1.5, (0.1, 0.2, 0.3), (R @ I @ R.T).tolist()),
        'lower': RigidBodyInertia.from_mass_center(0.7, (-0.1, 0.0, 0.2), lower),
    }
    axis, along = (0.0, 0.6, -0.8), (1.0, 0.0, 0.0)
    shoulder = placed((0.3, -0.2, 0.5), (0.7, 0.2, -0.4))
    slide = placed((0.0, 0.4, 0.1), (0.0, 0.0, 1.2))
    joints = [
        Connection('shoulder', 'base', 'upper', Revolute(axis), shoulder),
        Connection('slide', 'upper', 'lower', Prismatic(along), slide),
    ]
    assembled = Robot(assemble('arm', 'base', inertias, joints))
    X = PluckerTransform.identity()
    bodies = [
        Body('upper', 0, 'shoulder', Revolute(axis), shoulder, inertias['upper']),
        Body('lower', 1, 'slide', Prismatic(along), slide, inertias['lower']),
    ]
    links = [Link(name, i, X, inertias[name]) for i, name in enumerate(inertias, start=1)]
    by_hand = Robot(Model.create('arm', bodies, links))
    read = Robot.from_urdf(URDF)
    q, v, a = rng.normal(size=(3, 2))
    tau = read.inverse_dynamics(q, v, a)
    for robot in (assembled, by_hand):
        assert robot.joint_names == read.joint_names == ('shoulder', 'slide')
        assert_allclose(robot.inverse_dynamics(q, v, a), tau, rtol=1e-12)
        assert_allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-11)
        assert_allclose(robot.mass_matrix(q), read.mass_matrix(q), rtol=1e-12)
        for link in inertias:
            found = robot.forward_kinematics(q)[link]
            assert_allclose(found, read.forward_kinematics(q)[link], atol=1e-14)


# -- polarity -------------------------------------------------------------------------------------


def state_of(model, world_a, v_a, joints, rates):
    """Return the position and velocity of a free chain whose body a is where it is.

    Whichever is its root.
    """
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    for i, (at_q, at_v) in model.independent_slices.items():
        name = model.body(i).joint_name
        if name == 'free':
            root, (free_q, free_v) = model.body(i).name, (at_q, at_v)
            q[at_q] = model.body(i).joint.neutral()
        else:
            q[at_q], v[at_v] = joints[name], rates[name]
    # from a to the root, with the root in its neutral pose
    X0, velocity = body_velocities(model, q.tolist(), v.tolist())
    X = {name: link.placement * X0[link.body] for name, link in model.links.items()}
    relative = {name: link.placement * velocity[link.body] for name, link in model.links.items()}
    root_from_a = X[root] * X['a'].inverse()
    pose = root_from_a * world_a
    q[free_q] = (*pose.quaternion(), *pose.r)
    # v_a = aXr (v_root + what the joints add), in the root's coordinates
    v[free_v] = (root_from_a * (v_a - relative['a'])).to_array()
    return q, v


@pytest.mark.seed('JM13', 'MD04', kind='full')
@every_joint
def test_a_reversed_joint_moves_the_same_bodies_the_same_way(joint):
    """Rooted at one body or another, a joint is in the forward or in the reverse direction.

    All that is the mechanism's own is the same: poses, velocities, accelerations of the joints
    under forces on joints, links and by gravity.
    """
    rng = np.random.default_rng(3)
    position = np.array(joint.sample(rng.random(joint.uniforms), -np.inf, np.inf))
    joints = {'between': position, 'hinge': rng.normal(size=1)}
    rates = {'between': rng.normal(size=joint.nv), 'hinge': rng.normal(size=1)}
    torques = {'between': rng.normal(size=joint.nv), 'hinge': rng.normal(size=1)}
    free = Floating().transform(Floating().sample(rng.random(6).tolist(), -1.0, 1.0))
    forces = {name: ForceVector.from_array(rng.normal(size=6).tolist()) for name in 'ac'}
    v_a = MotionVector.from_array(rng.normal(size=6).tolist())
    found = {}
    for root in 'abc':
        model = free_chain(joint, root, 8)
        i = next(i for i, body in model.outward() if body.joint_name == 'between')
        assert (model.body(i).joint == joint) == (root == 'a')
        q, v = state_of(model, free, v_a, joints, rates)
        tau = np.zeros(model.nv)
        for j, (_, at_v) in model.independent_slices.items():
            tau[at_v] = torques.get(model.body(j).joint_name, 0.0)
        on_bodies = {model.link(name).body: force for name, force in forces.items()}
        arguments = (q.tolist(), v.tolist(), tau.tolist(), on_bodies)
        a = np.array(aba(model, *arguments))
        H, C = crba(model, q.tolist()), bias_force(model, *arguments[:2], on_bodies)
        assert_allclose(np.linalg.solve(H, tau - C), a, atol=1e-9)
        X0, velocity = body_velocities(model, q.tolist(), v.tolist())
        links = {name: model.links[name] for name in 'abc'}
        found[root] = {
            **{
                f'pose of {x}': (link.placement * X0[link.body]).homogeneous()
                for x, link in links.items()
            },
            **{
                f'velocity of {x}': (link.placement * velocity[link.body]).to_array()
                for x, link in links.items()
            },
            **{
                f'acceleration of {model.body(j).joint_name}': a[at_v]
                for j, (_, at_v) in model.independent_slices.items()
                if model.body(j).joint_name != 'free'
            },
        }
    for root in 'bc':
        for what, value in found['a'].items():
            assert_allclose(found[root][what], value, atol=1e-9, err_msg=f'{what}, root {root}')


@pytest.mark.seed('JM13')
@pytest.mark.parametrize('joint', [RackAndPinion(0.3), Spherical(), Universal.examples()[1]])
def test_compiled_dynamics_take_reversed_joints(joint):
    rng = np.random.default_rng(3)
    model = free_chain(joint, 'b', 8)
    robot = Robot(model)
    q, tau = robot.random_configuration(rng), rng.normal(size=robot.nv)
    v = rng.normal(size=robot.nv)
    a = robot.forward_dynamics(q, v, tau)
    assert_allclose(a, aba(model, q.tolist(), v.tolist(), tau.tolist()), atol=1e-9)
    assert_allclose(robot.inverse_dynamics(q, v, a), tau, atol=1e-9)


@pytest.mark.seed('JM13')
@every_joint
@pytest.mark.parametrize('kind', [Reversed, reverse], ids=lambda kind: kind.__name__)
def test_reversal_is_that_of_table_4_2(joint, kind):
    """X' = X^-1, S' = -pXs S, T' = -pXs* T, v' = -pXs v, c' = -pXs c, and dq/dt as it is."""
    rng = np.random.default_rng(2)
    q = list(joint.sample(rng.random(joint.uniforms), -np.inf, np.inf))
    v = rng.normal(size=joint.nv).tolist()
    there, back = joint.calc(q, v), kind(joint).calc(q, v)
    pXs = np.linalg.inv(there.X.matrix())
    assert_allclose(back.X.matrix(), pXs, atol=1e-13)

    def columns(vectors):
        return np.array([x.to_array() for x in vectors], dtype=float).reshape(-1, 6).T

    close = {'atol': 1e-12}
    assert_allclose(columns(back.S.columns), -pXs @ columns(there.S.columns), **close)
    assert_allclose(back.v.to_array(), -pXs @ there.v.to_array(), **close)
    assert_allclose(back.c.to_array(), -pXs @ there.c.to_array(), **close)
    T, T_back = (columns(x.constraint_forces(q)) for x in (joint, kind(joint)))
    T_there = np.linalg.inv(pXs).T @ T  # forces transform by pXs* = pXs^-T
    if kind is Reversed:
        assert_allclose(T_back, -T_there, **close)
    both = np.hstack([T_back, T_there])
    assert np.linalg.matrix_rank(both, tol=1e-9) == 6 - joint.nv
    assert kind(joint).position_rate(q, v) == pytest.approx(joint.position_rate(q, v))


@pytest.mark.seed('JM13')
@every_joint
def test_a_joint_reversed_twice_is_itself(joint):
    assert reverse(reverse(joint)) == joint
    rng = np.random.default_rng(2)
    q = list(joint.sample(rng.random(joint.uniforms), -np.inf, np.inf))
    v = rng.normal(size=joint.nv).tolist()
    once, twice = joint.calc(q, v), Reversed(Reversed(joint)).calc(q, v)
    assert_allclose(twice.X.matrix(), once.X.matrix(), atol=1e-13)
    for a, b in zip((once.v, once.c, *once.S.columns), (twice.v, twice.c, *twice.S.columns)):
        assert_allclose(b.to_array(), a.to_array(), atol=1e-12)


def test_an_edited_type_is_compiled_again_when_it_is_reversed():
    """Its source is part of the key of the cache, though its name and parameters are the same."""
    lift = '1.0 - cos(q[0])'
    kinds = worked_example(), worked_example(lift, f'2.0 * ({lift})')
    assert repr(Reversed(kinds[0](0.1))) == repr(Reversed(kinds[1](0.1)))
    q = np.array([0.1, 0.5, 0.2, 0.7])
    poses = [Robot(tree(Reversed(kind(0.1)), 0)).forward_kinematics(q)['link4'] for kind in kinds]
    assert np.abs(poses[0] - poses[1]).max() > 1e-3


def test_the_opposite_of_a_symmetrical_joint_has_its_type():
    """Only the axis turns, so that their motion subspace is still a constant."""
    for joint in JOINTS:
        opposite = joint.opposite()
        if opposite is not None:
            assert type(opposite) is type(joint) and reverse(joint) == opposite
            assert opposite.is_lower_pair
    assert sum(joint.opposite() is not None for joint in JOINTS) >= 8


def test_placements_are_between_the_coordinates_of_bodies_and_joints(rng):
    """A hinge off both bodies' origins, against homogeneous matrices."""
    one, other = (
        PluckerTransform.translation(tuple(rng.normal(size=3).tolist()))
        * PluckerTransform.rotation_x(0.3)
        for _ in range(2)
    )
    joint = Revolute((0.0, 0.0, 1.0))
    model = assemble(
        'arm',
        'world',
        {'a': random_inertia(rng)},
        [Connection('hinge', 'world', 'a', joint, one, other)],
    )
    pose = Robot(model).forward_kinematics([0.7])['a']
    # points of a, to the joint there, turned back, to the world
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    inverse = np.linalg.inv(one.homogeneous())
    assert_allclose(pose, inverse @ turn @ other.homogeneous(), atol=1e-14)
