# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Several robots as one model, equal to its parts at their placements."""

import pickle

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.spatial.transform import Rotation
from support import example_robots, linkages, outside, random_trees, states
from support.errors import relative_error
from support.interpreted import interpreted
from support.simulated_robots import pendulum

from rbd_ros import ModelError, Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import combine_models, load_urdf
from rbd_ros.spatial import PluckerTransform

SHAPE = (
    '<collision name="ball"><geometry><sphere radius="0.1"/></geometry></collision>'
    '<visual><geometry><sphere radius="0.1"/></geometry></visual></link>'
)
ARM = resource_path('urdf', 'six_axis_arm.urdf')
LEFT = PluckerTransform.rotation_x(0.4) * PluckerTransform.translation((0.3, -0.8, 1.2))
RIGHT = PluckerTransform.rotation_z(-2.0) * PluckerTransform.translation((-0.5, 0.6, 0.1))
PLACES = {'left': LEFT, 'right': RIGHT}


def texts():
    """Return two random trees with gears and shapes each, and two real robots each."""
    found = {
        f'random {seed}': [
            random_trees.mixed_tree(k).replace('</link>', SHAPE) for k in (seed, seed + 1)
        ]
        for seed in (0, 2)
    }
    names = [name for name in ('panda', 'ur5_robot', 'anymal') if name in example_robots.paths()]
    for first, second in zip(names, names[1:]):
        found[f'{first} and {second}'] = [
            example_robots.dynamics_xml(example_robots.loadable()[name].read_text())
            for name in (first, second)
        ]
    return found


every_pair = pytest.mark.parametrize('pair', texts().values(), ids=texts().keys())


def block(a, b):
    """Return the matrix with two blocks on its diagonal."""
    return np.block([[a, np.zeros((len(a), b.shape[1]))], [np.zeros((len(b), a.shape[1])), b]])


def as_felt(model, X):
    """Return the model of a part under the gravity of the whole."""
    g = np.array(X.E) @ np.array(model.gravity)
    return model.with_gravity(g.tolist())


def random_state(robots, seed=3):
    rng = np.random.default_rng(seed)
    q = [robot.random_configuration(rng) for robot in robots]
    return q, *([rng.normal(size=robot.nv) for robot in robots] for _ in range(2))


@pytest.mark.parametrize('floating', [False, True])
@every_pair
def test_the_whole_moves_as_its_parts(pair, floating):
    models = [load_urdf(text, floating_base=floating) for text in pair]
    whole = interpreted(combine_models(dict(zip(PLACES, models)), PLACES))
    parts = [interpreted(as_felt(model, PLACES[each])) for each, model in zip(PLACES, models)]
    q, v, a = random_state(parts)
    Q, V, A = (np.concatenate(x) for x in (q, v, a))
    H = [robot.mass_matrix(x) for robot, x in zip(parts, q)]
    assert relative_error(whole.mass_matrix(Q), block(*H)) < 1e-12
    tau = [robot.inverse_dynamics(*x) for robot, *x in zip(parts, q, v, a)]
    assert relative_error(whole.inverse_dynamics(Q, V, A), np.concatenate(tau)) < 1e-12
    # The inverse of H is that of its blocks, as exact as their condition allows.
    bound = 1e-15 * max(map(np.linalg.cond, H)) + 1e-12
    again = whole.forward_dynamics(Q, V, np.concatenate(tau))
    alone = [robot.forward_dynamics(*x) for robot, *x in zip(parts, q, v, tau)]
    assert relative_error(again, np.concatenate(alone)) < bound
    energy = [robot.energy(*x) for robot, *x in zip(parts, q, v)]
    assert relative_error(whole.energy(Q, V).kinetic, sum(e.kinetic for e in energy)) < 1e-12


def test_robots_with_every_sort_of_joint_side_by_side():
    """Rack and pinion, spherical joints, gears and a floating base; compiled, in batches."""
    parts = {name: states.named_robot(name) for name in states.ROBOTS}
    gravity = (0.0, 0.0, -9.81)
    alone = [Robot(robot.model.with_gravity(gravity)) for robot in parts.values()]
    whole = Robot.combine(parts, gravity=gravity)
    own = [states.random_state(robot, seed) for seed, robot in enumerate(alone)]
    Q, V, A = (np.concatenate(x) for x in zip(*own))
    tau = np.concatenate([robot.inverse_dynamics(*x) for robot, x in zip(alone, own)])
    assert relative_error(whole.inverse_dynamics(Q, V, A), tau) < 1e-12
    many = whole.inverse_dynamics(*(np.stack([x] * 9) for x in (Q, V, A)))
    assert relative_error(many, np.stack([tau] * 9)) < 1e-12
    H = [robot.mass_matrix(x.q) for robot, x in zip(alone, own)]
    bound = 1e-14 * max(map(np.linalg.cond, H)) + 1e-12
    assert relative_error(whole.forward_dynamics(Q, V, tau), A) < bound
    moved = [robot.integrate(x.q, x.v, 0.1) for robot, x in zip(alone, own)]
    assert relative_error(whole.integrate(Q, V, 0.1), np.concatenate(moved)) < 1e-14
    counts = [robot.operation_count('forward_dynamics') for robot in alone]
    if all(counts):
        # Blocks of zeros cost nothing; with gears somewhere, another algorithm is taken for all.
        total = whole.operation_count('forward_dynamics').multiplications
        assert total < 1.1 * sum(each.multiplications for each in counts)


@pytest.mark.parametrize('floating', [False, True])
@every_pair
def test_links_shapes_and_jacobians_are_where_the_placements_put_them(pair, floating):
    models = [load_urdf(text, floating_base=floating) for text in pair]
    whole = interpreted(combine_models(dict(zip(PLACES, models)), PLACES))
    parts = [interpreted(model) for model in models]
    q, v, _ = random_state(parts)
    Q, V = np.concatenate(q), np.concatenate(v)
    poses = whole.forward_kinematics(Q)
    assert len(poses) == sum(len(model.links) for model in models)
    shapes = iter(whole.model.geometries)
    for each, robot, x in zip(PLACES, parts, q):
        base = PLACES[each].pose()
        alone = robot.forward_kinematics(x)
        for link, pose in alone.items():
            assert relative_error(poses[f'{each}/{link}'], base @ pose) < 1e-12
        for shape in robot.model.geometries:
            moved = next(shapes)
            assert moved.link == f'{each}/{shape.link}' and moved.role == shape.role
            assert moved.name == (f'{each}/{shape.name}' if shape.name else '')
            assert (moved.body == 0) == (shape.body == 0)
            own = robot.model.link(shape.link).placement
            there = whole.model.link(moved.link).placement
            found = (moved.placement * there.inverse()).pose()
            assert relative_error(found, (shape.placement * own.inverse()).pose()) < 1e-12
    (first, second), link = parts, parts[1].link_names[-1]
    J = whole.frame(f'right/{link}', 'body').jacobian(Q)
    assert not J[:, : first.nv].any()
    assert relative_error(J[:, first.nv :], second.frame(link, 'body').jacobian(q[1])) < 1e-12
    twist = whole.frame(f'right/{link}', 'body').velocity(Q, V)
    assert relative_error(twist, second.frame(link, 'body').velocity(q[1], v[1])) < 1e-12


@pytest.mark.parametrize('floating', [False, True])
@every_pair
def test_pinocchio_appends_one_model_to_another(pair, floating):
    outside.load('pinocchio')
    from support.pinocchio_bridge import Bridge, pin

    bridges = [Bridge(text, floating) for text in pair]
    for each, bridge in zip(PLACES, bridges):
        # Pinocchio wants names of its own as well.
        for i in range(1, bridge.model.njoints):
            bridge.model.names[i] = f'{each}/{bridge.model.names[i]}'
        for frame in bridge.model.frames:
            frame.name = f'{each}/{frame.name}'
    world = pin.Model()
    for each, bridge in zip(PLACES, bridges):
        at = pin.SE3(np.array(PLACES[each].pose(), dtype=float))
        world = pin.appendModel(world, bridge.model, 0, at)
    models = [load_urdf(text, floating_base=floating) for text in pair]
    whole = interpreted(combine_models(dict(zip(PLACES, models)), PLACES))
    q, v, a = random_state([interpreted(model) for model in models])
    their_q, P = np.zeros(world.nq), np.zeros((world.nv, whole.nv))
    column = 0
    for bridge, x in zip(bridges, q):
        own_q, nv = bridge.q(x), bridge.P.shape[1]
        for i in range(1, bridge.model.njoints):
            own, joint = (
                bridge.model.joints[i],
                world.joints[world.getJointId(bridge.model.names[i])],
            )
            their_q[joint.idx_q : joint.idx_q + joint.nq] = own_q[own.idx_q : own.idx_q + own.nq]
            rows = bridge.P[own.idx_v : own.idx_v + own.nv]
            P[joint.idx_v : joint.idx_v + joint.nv, column : column + nv] = rows
        column += nv
    data, Q = world.createData(), np.concatenate(q)
    V, A = P @ np.concatenate(v), P @ np.concatenate(a)
    tau = P.T @ pin.rnea(world, data, their_q, V, A)
    found = whole.inverse_dynamics(Q, np.concatenate(v), np.concatenate(a))
    assert relative_error(found, tau) < 1e-11
    H = pin.crba(world, data, their_q)
    H = P.T @ (np.triu(H) + np.triu(H, 1).T) @ P
    assert relative_error(whole.mass_matrix(Q), H) < 1e-11


def test_properties_of_joints_stay_with_them():
    armature = {'elbow_joint': 0.2}
    arm = Robot.from_urdf(ARM, armature=armature)
    gripper = Robot.from_urdf(random_trees.mixed_tree(4))
    both = Robot.combine({'arm': arm, 'hand': gripper}, name='both')
    assert both.name == 'both' and both.joint_names == (
        *(f'arm/{name}' for name in arm.joint_names),
        *(f'hand/{name}' for name in gripper.joint_names),
    )
    for what in (
        'damping',
        'friction',
        'armature',
        'effort_limits',
        'velocity_limits',
        'lower_limits',
        'upper_limits',
    ):
        expected = np.concatenate([getattr(robot, what) for robot in (arm, gripper)])
        assert np.array_equal(getattr(both, what), expected), what
    assert both.armature[2] == 0.2
    assert gripper.model.couplings
    for coupling, own in zip(both.model.couplings, gripper.model.couplings, strict=True):
        assert (coupling.ratio, coupling.offset) == (own.ratio, own.offset)
        for number, alone in ((coupling.body, own.body), (coupling.master, own.master)):
            name = gripper.model.body(alone).joint_name
            assert both.model.body(number).joint_name == f'hand/{name}'
    assert set(both.model.joint_frames) == {
        f'{each}/{joint}'
        for each, robot in (('arm', arm), ('hand', gripper))
        for joint in robot.model.joint_frames
    }
    again = pickle.loads(pickle.dumps(both))
    assert again.model == both.model


def test_joints_of_an_extension_and_its_motors_stay():
    extension = {
        'joints': {'elbow_joint': {'type': 'helical', 'axis': [0, 1, 0], 'pitch': 0.05}},
        'actuated': ['elbow_joint'],
    }
    screw = Robot.from_urdf(ARM, extension=extension)
    both = Robot.combine({'a': ARM, 'b': screw})
    assert type(both.model.body(9).joint) is type(screw.model.body(3).joint)
    assert both.model.actuated_joints == (
        *(f'a/{name}' for name in screw.joint_names),
        'b/elbow_joint',
    )


def test_without_motors_named_all_joints_have_them():
    both = Robot.combine({'a': ARM, 'b': ARM})
    assert both.model.actuated is None and len(both.model.actuated_joints) == 12


def test_loops_are_closed_as_in_the_parts():
    chain = linkages.four_bar()
    arm = load_urdf(ARM, gravity=chain.gravity)
    models = {'arm': arm, 'bar': chain, 'other': chain}
    whole = combine_models(models, {'bar': LEFT, 'other': RIGHT})
    # Of the arm all joints have motors, of a linkage those with an effort limit.
    assert whole.actuated_joints == tuple(f'arm/{name}' for name in arm.joint_names) + tuple(
        f'{each}/{name}' for each in ('bar', 'other') for name in chain.actuated_joints
    )
    assert [loop.name for loop in whole.loops] == [
        f'{each}/{loop.name}' for each in ('bar', 'other') for loop in chain.loops
    ]
    robot = interpreted(whole)
    rng = np.random.default_rng(4)
    parts = [
        interpreted(arm),
        interpreted(as_felt(chain, LEFT)),
        interpreted(as_felt(chain, RIGHT)),
    ]
    q = [
        rng.normal(size=6),
        *(part.loops.project(part.neutral(), starts=40) for part in parts[1:]),
    ]
    v = [rng.normal(size=6)]
    for part, x in zip(parts[1:], q[1:]):
        K = part.loops.constraints(x, np.zeros(3)).K
        v.append(np.linalg.svd(K)[2][-1])  # the motion that is left
    tau = [rng.normal(size=part.nv) for part in parts]
    Q, V, T = (np.concatenate(x) for x in (q, v, tau))
    assert np.abs(robot.loops.closure(Q).residual).max() < 1e-11
    alone = [parts[0].forward_dynamics(q[0], v[0], tau[0])]
    alone += [p.loops.forward_dynamics(*x).a for p, *x in zip(parts[1:], q[1:], v[1:], tau[1:])]
    assert relative_error(robot.loops.forward_dynamics(Q, V, T).a, np.concatenate(alone)) < 1e-9


def test_all_joints_of_a_tree_beside_loops_have_motors():
    """Though they have no effort limits, as passive joints of loops have none."""
    chain = linkages.four_bar()
    free = pendulum().model.with_gravity(chain.gravity)
    whole = combine_models({'bar': chain, 'free': free})
    assert not chain.actuated_joints
    assert whole.actuated_joints == tuple(f'free/{name}' for name in free.joint_names)


def test_joints_that_close_loops_have_their_own_names():
    chain = linkages.four_bar()
    text = (
        '<robot name="r"><link name="x"/><link name="y"/><joint name="bar/{}" type="fixed">'
        '<parent link="x"/><child link="y"/></joint></robot>'
    ).format(chain.loops[0].name)
    with pytest.raises(ModelError, match="two joints are named 'bar/"):
        combine_models({'': load_urdf(text, gravity=chain.gravity), 'bar': chain})


def test_names_without_a_prefix_are_those_of_the_robot():
    arm = load_urdf(ARM)
    assert combine_models({'': arm}) == arm
    whole = combine_models({'': arm, 'other': arm}, name='cell')
    assert whole.joint_names == (*arm.joint_names, *(f'other/{x}' for x in arm.joint_names))
    assert whole.name == 'cell'


def test_a_whole_may_be_a_part():
    pair = Robot.combine({'left': ARM, 'right': ARM})
    four = Robot.combine({'near': pair, 'far': pair})
    assert four.nv == 24 and four.joint_names[-1].startswith('far/right/')
    assert four.name == 'near_far'


def test_poses_that_are_rounded_become_rotations():
    pose = np.eye(4)
    pose[:2, :2] = [[0.8660254, -0.5], [0.5, 0.8660254]]
    pose[:3, 3] = [1.0, 2.0, 3.0]
    whole = Robot.combine({'arm': ARM}, {'arm': pose})
    R = whole.frame('arm/base_link').pose(np.zeros(6))[:3, :3]
    assert np.abs(R.T @ R - np.eye(3)).max() < 1e-15
    assert np.abs(R - pose[:3, :3]).max() < 1e-7


def test_half_a_turn_costs_no_operations():
    pose = np.diag([-1.0, -1.0, 1.0, 1.0])
    turn = PluckerTransform.rotation_z(np.pi)
    arm = load_urdf(ARM)
    exact = Robot.combine({'arm': ARM}, {'arm': pose}).model
    assert combine_models({'arm': arm}, {'arm': turn}).bodies == exact.bodies


def test_gravity_is_one_for_all():
    here, moon = load_urdf(ARM), load_urdf(ARM, gravity=(0.0, 0.0, -1.62))
    with pytest.raises(ModelError, match=r"gravity of robot 'b' is .*-1.62.*that of 'a'"):
        combine_models({'a': here, 'b': moon})
    both = combine_models({'a': here, 'b': moon}, gravity=(0.0, 1.0, -9.0))
    assert both.gravity == (0.0, 1.0, -9.0)
    assert combine_models({'b': moon}).gravity == moon.gravity


def test_warnings_name_their_robot():
    odd = (
        '<robot name="odd"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia '
        'ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" '
        'type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    (warning,) = Robot.from_urdf(odd).model.warnings
    assert Robot.combine({'x': odd}).model.warnings == (f'x: {warning}',)


@pytest.mark.parametrize(
    'robots, options, message',
    [
        ({}, {}, 'no robots are given'),
        ({'a/b': ARM}, {}, "'a/b' is not a valid name of a robot"),
        ({'a': 'no.urdf'}, {}, 'no.urdf'),
        ({'arm': ARM}, {'placements': {'amr': np.eye(4)}}, "unknown robot 'amr'.*'arm'"),
        ({'arm': ARM}, {'placements': {'arm': np.eye(3)}}, "placement of 'arm' must be finite"),
        ({'arm': ARM}, {'placements': {'arm': 2 * np.eye(4)}}, "of 'arm' must be a homogeneous"),
        ({'arm': ARM}, {'placements': {'arm': np.diag([-1, 1, 1, 1])}}, 'must be a homogeneous'),
        ({'arm': ARM}, {'placements': {'arm': np.diag([1, 1, 1, 2])}}, 'must be a homogeneous'),
        ({'arm': ARM}, {'placements': {'arm': np.full((4, 4), np.nan)}}, 'must be finite'),
        (
            {'arm': ARM},
            {'placements': {'arm': 'here'}},
            "placement of 'arm' must hold real numbers",
        ),
    ],
)
def test_invalid_arguments_are_named(robots, options, message):
    with pytest.raises(ModelError, match=message):
        Robot.combine(robots, **options)


@pytest.mark.parametrize('kind', ['link', 'joint'])
def test_two_of_one_name_are_rejected(kind):
    text = (
        '<robot name="r"><link name="{0}"/><link name="{1}"/><joint name="{2}" type="fixed">'
        '<parent link="{0}"/><child link="{1}"/></joint></robot>'
    )
    own = text.format('x', 'y', 'z')
    names = ('x', 'a/y', 'z') if kind == 'link' else ('x', 'y', 'a/z')
    with pytest.raises(ModelError, match=f"two {kind}s are named 'a/"):
        Robot.combine({'': text.format(*names), 'a': own})


def mounted_pair(floating=False):
    """Return an arm, a gripper, the arm that carries it, and the pose of the mount."""
    arm = Robot.from_urdf(ARM, floating_base=floating)
    gripper = Robot.from_urdf(random_trees.mixed_tree(1).replace('</link>', SHAPE))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_euler('xyz', [0.3, -0.7, 1.1]).as_matrix(), [1, 2, 3]
    pose[:3, 3] *= 0.05
    both = arm.with_robot_mounted(gripper, 'tool0', pose, name='hand')
    return *(interpreted(each.model) for each in (arm, gripper, both)), pose


@pytest.mark.parametrize('floating', [False, True])
def test_a_mounted_robot_moves_with_its_link_and_weighs_on_it(floating):
    arm, gripper, both, pose = mounted_pair(floating)
    rng = np.random.default_rng(5)
    parts = arm.random_configuration(rng), gripper.random_configuration(rng)
    q = np.concatenate(parts)
    assert both.joint_names[len(arm.joint_names) :] == tuple(
        f'hand/{name}' for name in gripper.joint_names
    )
    for name in gripper.link_names:
        expected = arm.frame('tool0').pose(parts[0]) @ pose @ gripper.frame(name).pose(parts[1])
        assert_allclose(both.frame(f'hand/{name}').pose(q), expected, rtol=0.0, atol=1e-12)
    assert both.link_names == (*arm.link_names, *(f'hand/{name}' for name in gripper.link_names))
    assert len(both.model.geometries) == len(arm.model.geometries) + len(gripper.model.geometries)
    # Kinetic energy is the sum over all links, each with its own inertia and velocity.
    v = rng.normal(size=both.nv)
    energy = 0.0
    for name, link in both.model.links.items():
        if link.body:
            J = both.frame(name).jacobian(q)
            inertia = np.array(link.inertia.matrix())
            energy += 0.5 * (J @ v) @ inertia @ (J @ v)
    assert_allclose(0.5 * v @ both.mass_matrix(q) @ v, energy, rtol=1e-11)


def test_a_mounted_robot_can_be_removed_again():
    arm, _, both, _ = mounted_pair()
    root = next(name for name, link in both.model.links.items() if link.parent == 'tool0')
    again = both.without_link(root)
    assert again.link_names == arm.link_names and again.joint_names == arm.joint_names
    q, v, a = np.random.default_rng(1).normal(size=(3, 6))
    assert_allclose(
        again.inverse_dynamics(q, v, a), arm.inverse_dynamics(q, v, a), rtol=1e-13, atol=1e-13
    )


def test_a_payload_is_a_mounted_robot_without_joints():
    arm = Robot.from_urdf(ARM)
    inertia = np.diag([0.02, 0.03, 0.04])
    text = (
        '<robot name="load"><link name="load"><inertial><origin xyz="0.1 0 0.2"/><mass value="3"/>'
        '<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '</robot>'
    )
    mounted = arm.with_robot_mounted(text, 'tool0')
    loaded = arm.with_payload('tool0', 3.0, (0.1, 0.0, 0.2), inertia)
    q, v, a = np.random.default_rng(2).normal(size=(3, 6))
    assert_allclose(
        mounted.inverse_dynamics(q, v, a), loaded.inverse_dynamics(q, v, a), rtol=1e-12
    )
    assert 'load' in mounted.link_names


def test_impossible_mounts_are_rejected():
    arm = Robot.from_urdf(ARM)
    with pytest.raises(ModelError, match="two links are named 'base_link'; give"):
        arm.with_robot_mounted(arm, 'tool0')
    with pytest.raises(ModelError, match='floats; load it without'):
        arm.with_robot_mounted(Robot.from_urdf(ARM, floating_base=True), 'tool0', name='b')
    with pytest.raises(ValueError, match="'tool9'.*tool0"):
        arm.with_robot_mounted(arm, 'tool9', name='b')
    with pytest.raises(ModelError, match="placement of 'b' must be a homogeneous matrix"):
        arm.with_robot_mounted(arm, 'tool0', np.ones((4, 4)), name='b')
    twice = arm.with_robot_mounted(arm, 'tool0', name='b').with_robot_mounted(
        arm, 'b/tool0', name='c'
    )
    assert twice.nv == 18
