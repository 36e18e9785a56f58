# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Equivalent descriptions of one robot have equal dynamics.

They differ in fixed joints, floating joints, bases, and run-time parameters.
"""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import layout, random_trees
from support.dense import inertia, rotation
from support.errors import relative_error
from support.reference import Reference

from rbd_ros import Robot


@pytest.mark.seed('FB01')
@pytest.mark.parametrize('seed', range(3))
def test_floating_base_is_a_floating_joint_to_a_massless_world(seed):
    text = random_trees.mixed_tree(seed)
    explicit = text.replace(
        '<link name="base">', '<link name="world"/><link name="base">', 1
    ).replace(
        '</robot>',
        '<joint name="to_world" type="floating"><parent link="world"/><child link="base"/>'
        '</joint></robot>',
    )
    robot, other = Robot.from_urdf(text, floating_base=True), Robot.from_urdf(explicit)
    assert robot.joint_names[0] == 'floating_base' and other.joint_names[0] == 'to_world'
    assert robot.joint_names[1:] == other.joint_names[1:]
    q, v, a = layout.read(text, floating_base=True).random_states(np.random.default_rng(seed))
    assert relative_error(robot.inverse_dynamics(q, v, a), other.inverse_dynamics(q, v, a)) < 1e-14
    assert relative_error(robot.mass_matrix(q), other.mass_matrix(q)) < 1e-14
    assert relative_error(robot.forward_dynamics(q, v, a), other.forward_dynamics(q, v, a)) < 1e-10


@pytest.mark.seed('JM10', 'SV19', 'MD10')
def test_fixed_joints_merge_into_one_inertia_and_keep_their_frames():
    """Three links welded in a row equal one link with the summed inertia; all frames stay."""
    text = random_trees.tree(8, 5, ('fixed', 'fixed', 'fixed', 'revolute', 'fixed'), 0, 0.0)
    places = layout.read(text)
    (joint,) = places.joints
    reference = Reference(text)
    robot = Robot.from_urdf(text)
    assert robot.joint_names == (joint.name,) and set(robot.link_names) == set(places.links)
    for angle in (-1.0, 0.0, 2.0):
        q = np.array([angle])
        assert relative_error(robot.mass_matrix(q), reference.mass_matrix(q)) < 1e-14
        for link, (R, p, _) in reference.kinematics(q).items():
            assert_allclose(
                robot.forward_kinematics(q)[link][:3], np.column_stack([R, p]), atol=1e-14
            )


@pytest.mark.seed('ID04', 'JM10')
def test_force_on_a_welded_link_acts_like_a_force_on_its_body():
    text = random_trees.tree(9, 3, ('revolute', 'fixed', 'fixed'), 0, 0.0)
    robot, places = Robot.from_urdf(text), layout.read(text)
    force = np.arange(1.0, 7.0)
    moving = [link for link in places.links if np.any(robot.jacobian(np.array([0.3]), link))]
    taus = [
        robot.inverse_dynamics([0.3], [0.1], [0.2], external_forces={link: force})
        for link in moving
    ]
    for tau in taus[1:]:  # base coordinates: the same wrench wherever on the rigid body it acts
        assert_allclose(tau, taus[0], rtol=1e-13)


@pytest.mark.seed('SV19', 'MD07')
def test_inertia_given_in_turned_axes_is_the_same_inertia():
    rng = np.random.default_rng(3)
    body = {'type': 'floating', 'mass': 1.4, 'center': [0.1, 0.2, -0.1]}
    I_C = random_trees.physical_inertia(rng, 1.4)
    straight = random_trees.chain([dict(inertia=I_C[np.triu_indices(3)], **body)])
    rpy = [0.4, -1.2, 2.5]
    from support.reference import rpy_rotation

    R = rpy_rotation(np.array(rpy))
    turned = random_trees.chain(
        [dict(inertia=(R.T @ I_C @ R)[np.triu_indices(3)], **body)]
    ).replace(
        '<origin xyz="0.1 0.2 -0.1"/>',
        f'<origin xyz="0.1 0.2 -0.1" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/>',
    )
    assert turned.count('rpy="0.4') == 1
    q = np.array([1.0, 0, 0, 0, 0, 0, 0])
    assert_allclose(
        Robot.from_urdf(turned).mass_matrix(q),
        inertia(1.4, np.array([0.1, 0.2, -0.1]), I_C),
        atol=1e-14,
    )
    assert_allclose(
        Robot.from_urdf(straight).mass_matrix(q),
        inertia(1.4, np.array([0.1, 0.2, -0.1]), I_C),
        atol=1e-14,
    )


@pytest.mark.seed('ID05')
def test_gravity_of_any_direction_turns_with_the_base():
    """A floating robot turned by R under gravity R g feels what it felt before."""
    rng = np.random.default_rng(5)
    text = random_trees.tree(50, 5, ('revolute', 'prismatic', 'planar'))
    places = layout.read(text, floating_base=True)
    q, v, a = places.random_states(rng)
    R, g = rotation(rng), np.array([1.0, -3.0, -8.0])
    moved = q.copy()
    w0, u0 = q[0], q[1:4]
    trace = np.trace(R)
    w = 0.5 * np.sqrt(1 + trace)
    u = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w)
    moved[:4] = np.r_[w * w0 - u @ u0, w * u0 + w0 * u + np.cross(u, u0)]
    moved[4:7] = R @ q[4:7] + [1.0, 2.0, 3.0]
    before = Robot.from_urdf(text, floating_base=True, gravity=g).inverse_dynamics(q, v, a)
    after = Robot.from_urdf(text, floating_base=True, gravity=R @ g).inverse_dynamics(moved, v, a)
    assert_allclose(after, before, rtol=1e-11, atol=1e-12)


TREE = random_trees.tree(
    60, 5, ('revolute', 'prismatic', 'planar', 'fixed', 'continuous'), mimics=1
)


def parameters(m, c, I_C):
    M = inertia(m, np.asarray(c), I_C)
    return np.array(
        [m, *(m * np.asarray(c)), M[0, 0], M[0, 1], M[0, 2], M[1, 1], M[1, 2], M[2, 2]]
    )


@pytest.mark.parametrize(
    'name', ['inverse_dynamics', 'forward_dynamics', 'gravity_torque', 'bias_force']
)
def test_gravity_as_a_run_time_input(name):
    from support.functions import ARGUMENTS, State

    robot = Robot.from_urdf(TREE)
    state = State(robot, layout.read(TREE), np.random.default_rng(0), 5)
    f = robot.function(name, runtime=('gravity',))
    for g in ([0, 0, -9.81], [0, 0, 0], [3.0, -1.0, 2.0]):
        fixed = Robot.from_urdf(TREE, gravity=g)
        expected = getattr(fixed, name)(*state.of(name))
        assert relative_error(f(*state.of(name), np.array(g, float)), expected) < 1e-12
        single = f(*(x[0] for x in state.of(name)), np.array(g, float))
        assert relative_error(single, expected[0]) < 1e-12
    assert set(ARGUMENTS[name]) <= set('qvat')


@pytest.mark.seed('SV19', 'BL12')
@pytest.mark.parametrize(
    'name',
    [
        'inverse_dynamics',
        'forward_dynamics',
        'gravity_torque',
        'mass_matrix',
        'center_of_mass',
        'momentum',
        'energy',
    ],
)
def test_inertia_and_payload_as_run_time_inputs(name):
    """The constants give the robot itself; a payload equals a link welded on."""
    from support.functions import call, State

    def with_inputs(*inputs):
        """Return the variant of the function, its result one array as that of `call`."""
        function = robot.function(name, runtime=inputs)
        if name == 'energy':
            return lambda *arrays: np.stack(function(*arrays), axis=-1)
        return function

    robot, places = Robot.from_urdf(TREE), layout.read(TREE)
    state = State(robot, places, np.random.default_rng(0), 4)
    link = next(
        x
        for x in reversed(places.links)
        if x in Reference(TREE).inertials and np.any(robot.jacobian(state.q[0], x))
    )
    m, c, I_C = Reference(TREE).inertials[link]
    expected = call(robot, name, state.of(name), link)
    own = with_inputs(f'inertia:{link}')(*state.of(name), parameters(m, c, I_C))
    assert relative_error(own, expected) < 1e-11
    rng = np.random.default_rng(1)
    payload = 0.7, np.array([0.1, -0.2, 0.3]), random_trees.physical_inertia(rng, 0.7)
    entries = ' '.join(
        f'{key}="{value!r}"'
        for key, value in zip(
            ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), payload[2][np.triu_indices(3)].tolist()
        )
    )
    welded = TREE.replace(
        '</robot>',
        (
            f'<link name="load"><inertial><origin xyz="0.1 -0.2 0.3"/><mass value="0.7"/>'
            f'<inertia {entries}/></inertial>'
            f'</link><joint name="weld" type="fixed"><parent link="{link}"/>'
            f'<child link="load"/></joint></robot>'
        ),
    )
    expected = call(Robot.from_urdf(welded), name, state.of(name), link)
    loaded = with_inputs(f'payload:{link}')(*state.of(name), parameters(*payload))
    assert relative_error(loaded, expected) < 1e-11
    nothing = with_inputs(f'payload:{link}', 'gravity')(
        *state.of(name), np.zeros(10), np.array([0, 0, -9.81])
    )
    assert relative_error(nothing, call(robot, name, state.of(name), link)) < 1e-11


def test_unknown_run_time_inputs_and_links_are_rejected():
    robot = Robot.from_urdf(TREE)
    for runtime in (['payload:nowhere'], ['wind'], ['inertia:'], ['gravity', 'gravity']):
        with pytest.raises(ValueError):
            robot.function('gravity_torque', runtime=runtime)
    with pytest.raises(ValueError):
        robot.function('levitate')


def test_unknown_frames_name_close_matches():
    robot = Robot.from_urdf(TREE)
    for call in (
        lambda: robot.jacobian(robot.neutral(), 'link33'),
        lambda: robot.inverse_dynamics(
            robot.neutral(),
            np.zeros(robot.nv),
            np.zeros(robot.nv),
            external_forces={'link33': np.zeros(6)},
        ),
    ):
        with pytest.raises(ValueError, match='link3'):
            call()
    with pytest.raises(ValueError, match='aligned'):
        robot.jacobian(robot.neutral(), 'link3', reference='world')


def test_order_of_joints_is_depth_first_with_siblings_in_file_order():
    def joint(name, parent, child):
        return (
            f'<joint name="{name}" type="continuous"><parent link="{parent}"/>'
            f'<child link="{child}"/>'
            '<axis xyz="0 0 1"/></joint>'
        )

    links = ''.join(f'<link name="{x}"/>' for x in 'abcdefg')
    text = (
        '<robot name="order">'
        + links
        + joint('z', 'a', 'b')
        + joint('y', 'a', 'c')
        + joint('x', 'c', 'd')
        + joint('w', 'b', 'e')
        + joint('v', 'b', 'f')
        + joint('u', 'e', 'g')
        + '</robot>'
    )
    assert Robot.from_urdf(text).joint_names == ('z', 'w', 'u', 'v', 'y', 'x')
