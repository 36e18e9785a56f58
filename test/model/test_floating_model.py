# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Floating bases: insertion of a joint of six DoFs, and its removal (book 9.3)."""

from dataclasses import replace

import numpy as np
import pytest
from support import example_robots, random_trees
from support.all_joints import tree
from support.errors import relative_error
from support.urdf_text import inertial, joint, link, robot

from rbd_ros import ModelError, Robot
from rbd_ros.model import Frame, load_urdf, LoopJoint
from rbd_ros.model.floating_model import not_floating, with_fixed_base, with_floating_base
from rbd_ros.model.joints import Floating, Revolute
from rbd_ros.spatial import PluckerTransform

SHAPE = '<collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
HERE = PluckerTransform.identity()


def texts():
    """Return random trees with gears and shapes, and real robots."""
    found = {
        f'random {seed}': random_trees.mixed_tree(seed).replace('</link>', SHAPE)
        for seed in range(4)
    }
    for name in sorted(example_robots.varied())[:6]:
        found[name] = example_robots.dynamics_xml(example_robots.loadable()[name].read_text())
    return found


every_text = pytest.mark.parametrize('text', texts().values(), ids=texts().keys())


@pytest.mark.seed('FB01')
@every_text
def test_the_converter_agrees_with_the_reader(text):
    """Numbers of bodies one up, n up by six; links, frames, shapes and gears go with them."""
    fixed, floating = load_urdf(text), load_urdf(text, floating_base=True)
    made = with_floating_base(fixed)
    assert len(made.bodies) == len(fixed.bodies) + 1 and made.nv == fixed.nv + 6
    assert made == floating


@pytest.mark.seed('FB01')
@every_text
def test_back_again_it_is_the_tree_on_its_base(text):
    """But for the frame of a fixed joint that is called what the new joint is called."""
    fixed = load_urdf(text)
    frames = {name: x for name, x in fixed.joint_frames.items() if name != 'floating_base'}
    assert with_fixed_base(with_floating_base(fixed)) == replace(fixed, joint_frames=frames)


@pytest.mark.seed('FB01')
@every_text
def test_both_routes_give_one_dynamics(text):
    """The converted model by algorithms for fixed bases, and those that know no base joint."""
    robot = Robot(with_floating_base(load_urdf(text)))
    rng = np.random.default_rng(6)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    tau = np.concatenate([np.zeros(6), rng.normal(size=robot.nv - 6)])
    a = robot.forward_dynamics(q, v, tau)
    found = robot.floating_base.forward_dynamics(q, v, tau[6:])
    bound = 1e-15 * np.linalg.cond(robot.mass_matrix(q)) + 1e-12
    assert relative_error(np.concatenate(found), a) < bound
    back = robot.floating_base.inverse_dynamics(q, v, a[6:])
    assert relative_error(back.a0, a[:6]) < bound
    forces = robot.inverse_dynamics(q, v, np.concatenate([back.a0, a[6:]]))
    assert relative_error(np.concatenate([np.zeros(6), back.tau]), forces) < bound


def test_loops_keep_their_frames():
    model = tree(Revolute((0.0, 0.0, 1.0)), 1)
    ends = Frame(1, HERE), Frame(3, HERE)
    model = model.with_loops([LoopJoint('loop', *ends, Revolute((0.0, 0.0, 1.0)))])
    floating = with_floating_base(model)
    (loop,) = floating.loops
    assert (loop.predecessor.body, loop.successor.body) == (2, 4)
    assert with_fixed_base(floating).loops == model.loops
    held = replace(floating, loops=(replace(loop, predecessor=Frame(0, HERE)),))
    with pytest.raises(ModelError, match='connected to the world by loop joints: loop'):
        with_fixed_base(held)


def test_a_base_without_links_has_a_name_and_no_inertia():
    floating = with_floating_base(tree(Revolute((0.0, 0.0, 1.0)), 1))
    assert floating.body(1).name == 'base' and floating.body(1).inertia.mass == 0


def test_links_fixed_to_the_world_are_not_part_of_the_base():
    text = (
        random_trees.mixed_tree(1)
        .replace(
            '<link name="base">',
            f'<link name="world"/><link name="post">{SHAPE}<link name="base">',
            1,
        )
        .replace(
            '</robot>',
            '<joint name="free" type="floating"><parent link="world"/><child link="base"/>'
            '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint><joint name="bolt" type="fixed">'
            '<parent link="world"/><child link="post"/></joint></robot>',
        )
    )
    model = with_fixed_base(load_urdf(text))
    fixed = load_urdf(random_trees.mixed_tree(1))
    assert model.links == fixed.links and model.joint_frames == fixed.joint_frames
    assert len(load_urdf(text).geometries) == 1 and not model.geometries
    robot = Robot.from_urdf(text)
    rng = np.random.default_rng(7)
    q, v = robot.random_configuration(rng), rng.normal(size=robot.nv)
    tau = np.concatenate([np.zeros(6), rng.normal(size=robot.nv - 6)])
    forces = {'world': np.full(6, 1e3), 'base': np.arange(6.0)}
    found = robot.floating_base.forward_dynamics(q, v, tau[6:], forces)
    assert relative_error(np.concatenate(found), robot.forward_dynamics(q, v, tau, forces)) < 1e-9


def test_a_second_joint_of_the_name_is_rejected():
    with pytest.raises(ModelError, match="there is a joint 'floating_base' already"):
        with_floating_base(load_urdf(random_trees.mixed_tree(1), floating_base=True))


def two_free_bodies():
    model = tree(Floating(), 1)
    bodies = (replace(model.bodies[1], parent=0), replace(model.bodies[3], parent=0))
    return replace(model, bodies=bodies)


DYNAMICS = (
    'floating_forward_dynamics',
    'floating_inverse_dynamics',
    'floating_equations_of_motion',
    'floating_reduced_equations',
    'floating_momentum',
)
REJECTED = {
    'fixed': (
        load_urdf(random_trees.chain([{'type': 'revolute'}])),
        "is fixed .'joint1' connects",
    ),
    'nothing': (load_urdf('<robot name="r"><link name="a"/></robot>'), 'no link moves on it'),
    'two': (two_free_bodies(), "2 bodies that move freely .'link2', 'link4'., not one"),
    'rotor': (
        with_floating_base(load_urdf(random_trees.chain([{'type': 'revolute'}]))).with_armature(
            {'floating_base': 1.0}
        ),
        "floating base 'base' of 'chain' has an armature",
    ),
}


@pytest.mark.parametrize(('model', 'match'), REJECTED.values(), ids=REJECTED.keys())
def test_a_model_without_floating_base_is_rejected_by_name(model, match):
    """By the family, the kernels and the converter alike."""
    assert not_floating(model)
    with pytest.raises(ModelError, match=match):
        _ = Robot(model).floating_base
    with pytest.raises(ModelError, match=match):
        with_fixed_base(model)
    for name in DYNAMICS:
        with pytest.raises(ModelError, match=match):
            Robot(model).kernel(name)
    with pytest.raises(ModelError, match=match):
        Robot(model).kernel('floating_jacobian', frame=next(iter(model.links)))


def test_a_robot_with_loops_is_rejected():
    model = tree(Revolute((0.0, 0.0, 1.0)), 1)
    ends = Frame(1, HERE), Frame(3, HERE)
    looped = model.with_loops([LoopJoint('loop', *ends, Revolute((0.0, 0.0, 1.0)))])
    robot = Robot(with_floating_base(looped))
    for name in DYNAMICS:
        with pytest.raises(ModelError, match="has the loops 'loop'"):
            robot.kernel(name)
    with pytest.raises(ModelError, match="has the loops 'loop'"):
        robot.floating_base.jacobian(robot.neutral(), 'link4')


def test_a_joint_that_moves_no_mass_is_named():
    text = random_trees.chain([{'type': 'revolute', 'mass': 1.0}, {'type': 'revolute'}])
    text = text.replace(
        '<link name="base"/>',
        '<link name="base"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
        'iyz="0" izz="1"/></inertial></link>',
    )
    robot = Robot.from_urdf(text, floating_base=True)
    with pytest.raises(ModelError, match="'joint2' can move without moving mass"):
        robot.floating_base.forward_dynamics(robot.neutral(), np.zeros(8), np.zeros(2))
    robot.floating_base.inverse_dynamics(robot.neutral(), np.zeros(8), np.zeros(2))


def test_gravity_and_payload_may_be_inputs():
    """The base's own inertia is that of the model at run time, not a constant."""
    text = random_trees.tree(6, bodies=4)
    robot = Robot.from_urdf(text, floating_base=True)
    rng = np.random.default_rng(8)
    q, v, qdd = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=20)
    payload, gravity = (
        np.array([2.0, *rng.normal(size=3), 9, 0.1, 0.2, 8, 0.3, 7]),
        [1.0, 2.0, 3.0],
    )
    loaded = robot.function('floating_inverse_dynamics', ['gravity', 'payload:base'])
    n = robot.nv - 6
    found = loaded(q, v, qdd[:n], gravity, payload)
    inverse = robot.function('inverse_dynamics', ['gravity', 'payload:base'])
    a = np.concatenate([found.a0, qdd[:n]])
    expected = np.concatenate([np.zeros(6), found.tau])
    assert relative_error(inverse(q, v, a, gravity, payload), expected) < 1e-10


def own_base(*more, root=''):
    """Return URDF whose joint 'free' carries the robot, with links and joints further to that."""
    return robot(
        link('world', root),
        link('torso', inertial()),
        link('arm', inertial()),
        joint('free', 'world', 'torso', 'floating'),
        joint('shoulder', 'torso', 'arm'),
        *more,
    )


def test_a_robot_that_floats_by_its_own_joint_gets_no_second_base():
    for load in (
        lambda text: load_urdf(text, floating_base=True),
        lambda text: Robot.from_urdf(text, floating_base=True),
        lambda text: with_floating_base(load_urdf(text)),
    ):
        with pytest.raises(ModelError, match="joint 'free' moves freely.*without floating_base"):
            load(own_base())
        # Another joint or a mass makes the root a part of the robot.
        leg = link('leg', inertial()), joint('hip', 'world', 'leg')
        for text, nv in ((own_base(*leg), 14), (own_base(root=inertial()), 13)):
            loaded = load(text)
            assert (loaded.nv, loaded.joint_names[0]) == (nv, 'floating_base')
    model = load_urdf(own_base())
    assert not_floating(model) == '' and model.nv == 7
