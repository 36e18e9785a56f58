# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scenes of the contact benchmark, and their robots and surfaces."""

import itertools
import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside
from support.contact_benchmark import (
    balls,
    boxes,
    contact,
    contact_scenes,
    engine,
    front,
    quadruped,
    rules,
    scene,
    urdf,
)

from rbd_ros import Robot

WITH_ROBOTS = ('anymal_energy', 'anymal_momentum', 'standing', 'lying', 'pressing', 'pushing')


@pytest.fixture(params=contact_scenes.NAMES)
def the_scene(request):
    """Return every scene."""
    if request.param in WITH_ROBOTS and (line := outside.problem('example_robot_data')):
        pytest.skip(line)
    return contact_scenes.load(request.param)


def test_a_scene_is_complete(the_scene):
    assert the_scene.title and the_scene.errors
    assert 0.0 < the_scene.quick <= the_scene.duration
    names = [body.name for body in the_scene.bodies]
    assert len(set(names)) == len(names) and scene.ROBOT not in names
    for body in the_scene.bodies:
        assert math.hypot(*body.quaternion) == pytest.approx(1.0)
        if body.mass is not None:
            small, middle, large = sorted(body.moments)
            assert body.mass > 0.0 and small > 0.0 and large <= small + middle + 1e-15
    if isinstance(the_scene.friction, dict):
        kinds = {the_scene.kind(name) for name in (*names, scene.ROBOT)}
        assert {kind for pair in the_scene.friction for kind in pair} <= kinds


def test_the_scenes_of_plots_and_claims_exist():
    assert set(front.FRONT) | set(contact.SPEEDS) <= set(contact_scenes.NAMES)
    assert len(set(contact_scenes.NAMES)) == len(contact_scenes.NAMES)


def test_unknown_scenes_and_names_given_twice_are_rejected():
    with pytest.raises(KeyError):
        contact_scenes.load('curling')
    with pytest.raises(ValueError, match='same name'):
        scene.by_name([boxes.SLIDING, boxes.SLIDING])


@pytest.mark.parametrize(
    'shape',
    [
        scene.Sphere(0.3),
        scene.Box((0.2, 0.5, 0.9)),
        scene.Capsule(0.1, 0.7),
        scene.Capsule(0.3, 0.05),
        scene.Cylinder(0.2, 0.5),
    ],
)
def test_moments_of_shapes_are_those_of_points_in_them(shape):
    rng, count = np.random.default_rng(0), 400000
    reach = 0.5
    points = rng.uniform(-reach, reach, (count, 3))
    if isinstance(shape, scene.Sphere):
        inside = np.linalg.norm(points, axis=1) < shape.radius
    elif isinstance(shape, scene.Box):
        inside = np.all(np.abs(points) < 0.5 * np.array(shape.size), axis=1)
    elif isinstance(shape, scene.Cylinder):
        inside = np.linalg.norm(points[:, :2], axis=1) < shape.radius
        inside &= np.abs(points[:, 2]) < 0.5 * shape.length
    else:
        along = np.clip(points[:, 2], -0.5 * shape.length, 0.5 * shape.length)
        apart = points - np.stack([0 * along, 0 * along, along], axis=1)
        inside = np.linalg.norm(apart, axis=1) < shape.radius
    x, y, z = (points[inside] ** 2).mean(axis=0)
    assert_allclose(shape.moments, [y + z, x + z, x + y], rtol=0.02)


def test_rolling_is_the_published_scene():
    """SimBenchmark: a plate of 10 kg, 25 balls of 1 kg and 0.5 m radius, 2 m apart, 150 N."""
    for the_scene in (balls.ROLLING_Y, balls.ROLLING_XY):
        plate, *others = the_scene.free
        assert (plate.mass, plate.shape.size) == (10.0, (20.0, 20.0, 1.0))
        assert {(ball.mass, ball.shape.radius) for ball in others} == {(1.0, 0.5)}
        assert len(others) == 25 and others[0].position[:2] == (-4.0, -4.0)
        assert plate.position[2] == 0.5 - 2e-5 and others[0].position[2] == 1.5 - 6e-5
        assert np.linalg.norm(the_scene.wrenches(0.0)['plate'][3:]) == pytest.approx(150.0)
        assert the_scene.friction_of('plate', 'ball7') == 0.8
        assert the_scene.friction_of('plate', 'ground') == 0.4
    # The diagonal is at 60 degrees.
    x, y, z = balls.ROLLING_XY.wrenches(0.0)['plate'][3:]
    assert math.degrees(math.atan2(y, x)) == pytest.approx(60.0) and z == 0.0


def test_falling_balls_are_the_published_scenes():
    assert len(balls.BOUNCING.free) == 49 and balls.BOUNCING.restitution == 1.0
    assert {ball.position[2] for ball in balls.BOUNCING.free} == {5.0}
    for the_scene, height in ((balls.SETTLING, 0.101), (balls.ELASTIC, 1.101)):
        places = np.array([ball.position for ball in the_scene.free])
        assert len(places) == 216 and {ball.mass for ball in the_scene.free} == {10.0}
        assert the_scene.friction == 0.0
        layers = np.sort(places[:, 2]).reshape(6, 36) - height - 0.21 * np.arange(6)[:, None]
        assert np.all(layers >= 0.0) and np.all(layers <= 1e-3)
        apart = places[:, None] - places[None]
        distance = np.linalg.norm(apart, axis=-1)[np.triu_indices(216, 1)]
        assert np.min(distance) > 0.2


def test_stacks_touch_and_are_at_rest():
    for the_scene, heights in (
        (boxes.STACK, [0.1, 0.3]),
        (boxes.TOWER, 0.05 + 0.1 * np.arange(10)),
    ):
        assert_allclose([body.position[2] for body in the_scene.free], heights)
        assert not any(any(body.linear) for body in the_scene.free)
    assert [body.mass for body in boxes.STACK.free] == [1e-3, 1e3]


def test_the_peg_fits_with_a_tenth_of_a_millimetre():
    walls = [body for body in boxes.PEG_IN_HOLE.bodies if body.name.startswith('wall')]
    for axis in (0, 1):
        faces = [
            abs(wall.position[axis]) - 0.5 * wall.shape.size[axis]
            for wall in walls
            if wall.position[axis]
        ]
        assert sum(faces) == pytest.approx(0.02 + 1e-4)
    # Its steel weighs a quarter of a kilogram, and it starts a millimetre deep and free.
    peg = boxes.PEG_IN_HOLE.free[0]
    assert peg.mass == pytest.approx(0.2512)
    motion = scene.Trajectory(
        1e-3, np.zeros(1), np.array([[peg.position]]), np.array([[peg.quaternion]]),
        np.zeros((1, 1, 6)), *(np.zeros((1, n)) for n in (7, 6, 0, 0)),
    )  # fmt: skip
    assert boxes.into_walls(boxes.PEG_IN_HOLE, motion) == 0.0
    assert boxes.not_inserted(boxes.PEG_IN_HOLE, motion) == pytest.approx(0.059)


def test_a_tilted_cube_stands_on_its_edge():
    (cube,) = boxes.TIPPED.free
    signs = np.array(list(itertools.product((-0.1, 0.1), repeat=3)))
    corners = np.array(cube.position) + signs @ scene.rotation(np.array(cube.quaternion)).T
    low = corners[np.argsort(corners[:, 2])]
    assert_allclose(low[:2, 2], 0.0, atol=1e-15)
    assert_allclose(low[:2, 0], -0.1)
    assert low[2, 2] == pytest.approx(0.2 * math.sin(math.radians(30.0)))


def test_boxes_do_not_overlap_at_the_start():
    places = np.array([body.position for body in boxes.BOXES.free])
    assert len(places) == 64 and np.min(places[:, 2]) > 0.05
    apart = np.max(np.abs(places[:, None] - places[None]), axis=-1)
    assert np.min(apart[np.triu_indices(64, 1)]) > 0.1


# -- robots ---------------------------------------------------------------------------------------


@pytest.mark.parametrize('robot', [urdf.ANYMAL, urdf.robots.UR5], ids=lambda each: each.name)
def test_a_prepared_robot_has_the_dynamics_of_its_urdf(robot):
    """But for friction of joints; fixed links are merged by another text than the package's."""
    if line := outside.problem('example_robot_data'):
        pytest.skip(line)
    text = urdf.text_of(robot)
    made = Robot.from_urdf(urdf.prepared(text), floating_base=robot.floating_base)
    original = Robot.from_urdf(text, floating_base=robot.floating_base)
    rng = np.random.default_rng(1)
    assert made.joint_names == original.joint_names
    for _ in range(3):
        q = original.random_configuration(rng)
        v, a = rng.normal(size=(2, original.nv))
        assert_allclose(
            made.inverse_dynamics(q, v, a),
            original.inverse_dynamics(q, v, a),
            rtol=1e-9,
            atol=2e-8,
        )


def test_a_prepared_robot_has_no_meshes_no_limits_and_the_requested_shapes():
    text = """<robot name="r"><link name="world"/><link name="base"><visual/><collision><geometry>
      <mesh filename="a.stl"/></geometry></collision><inertial><mass value="1"/><inertia ixx="1"
      iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="fix" type="fixed"><parent link="world"/><child link="base"/></joint>
      <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/>
      <limit lower="-1" upper="1" effort="2" velocity="3"/><dynamics friction="1"/></joint>
      <link name="arm"><collision><geometry><sphere radius="1"/></geometry></collision></link>
      <joint name="end" type="fixed"><parent link="arm"/><child link="tip"/>
      <origin xyz="0 0 2" rpy="0 1.5707963267948966 0"/></joint>
      <link name="tip"><inertial><origin xyz="1 0 0"/><mass value="3"/><inertia ixx="1" iyy="2"
      izz="2" ixy="0" ixz="0" iyz="0"/></inertial></link><transmission/></robot>"""
    ball = ('sphere', {'radius': '0.5'}, (1.0, 0.0, 0.0))
    root = urdf.ElementTree.fromstring(urdf.prepared(text, keep=(), add={'tip': [ball]}))
    assert [link.get('name') for link in root.findall('link')] == ['base', 'arm']
    assert [joint.get('name') for joint in root.findall('joint')] == ['turn']
    assert not root.findall('.//mesh') and not root.findall('.//dynamics')
    assert root.find('.//limit').attrib == {
        'lower': '-1e6', 'upper': '1e6', 'effort': '1e6', 'velocity': '1e6'
    }  # fmt: skip
    (sphere,) = root.findall('link/collision')
    # The tip's x axis points down from two meters up: its center and the ball are one meter up.
    for origin in (sphere.find('origin'), root.findall('link')[1].find('inertial/origin')):
        at = [float(x) for x in origin.get('xyz').split()]
        assert_allclose(at, [0.0, 0.0, 1.0], atol=1e-12)
    kept = urdf.ElementTree.fromstring(urdf.prepared(text, limits=True))
    assert kept.find('.//limit').get('lower') == '-1' and len(kept.findall('.//sphere')) == 1


def test_inertias_that_no_body_can_have_are_made_possible():
    turn = scene.rotation(np.array([0.8, 0.2, -0.4, 0.4]))
    good = turn @ np.diag([1.0, 2.0, 2.5]) @ turn.T
    assert urdf.possible_inertia(good) is good
    for moments in ([0.1, 0.2, 1.0], [-1.0, 0.5, 1.0], [0.0, 0.0, 1.0]):
        found = urdf.possible_inertia(turn @ np.diag(moments) @ turn.T)
        small, middle, large = np.linalg.eigvalsh(found)
        assert small > 0.0 and large <= small + middle
        assert large == pytest.approx(1.0)


def test_a_machine_does_not_guess_joints():
    arm = quadruped.Machine('<robot name="r"><link name="a"/></robot>', joints={'knee': 1.0})
    with pytest.raises(ValueError, match="no joint 'knee'"):
        _ = arm.start


def test_recorded_states_of_a_floating_robot_are_its_own():
    """Positions in the world, velocities of the root in its own frame."""
    machine = quadruped.Machine(
        '<robot name="r"><link name="a"><inertial><mass value="2"/><inertia ixx="1" iyy="1" '
        'izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>',
        floating=True,
    )
    half = math.sqrt(0.5)
    motion = scene.Trajectory(
        1e-3, np.zeros(1), *(np.zeros((1, 0, n)) for n in (3, 4, 6)),
        np.array([[1.0, 2.0, 3.0, half, 0.0, 0.0, half]]),  # a quarter turn about z
        np.array([[1.0, 0.0, 0.0, 0.0, 5.0, 0.0]]), np.zeros((1, 0)), np.zeros((1, 0)),
    )  # fmt: skip
    q, v = machine.states(motion)
    assert_allclose(q[0], [half, 0.0, 0.0, half, 1.0, 2.0, 3.0])
    assert_allclose(v[0], [0.0, -1.0, 0.0, 5.0, 0.0, 0.0], atol=1e-14)
    assert_allclose(machine.robot.momentum(q, v)[0, 3:], [0.0, 10.0, 0.0], atol=1e-14)


# -- surfaces -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'mix, measure, back, lowest',
    [
        (lambda a, b: math.sqrt(a * b), math.log, math.exp, -np.inf),
        (lambda a, b: 2.0 * a * b / (a + b), lambda a: 1.0 / a, lambda a: 1.0 / a, 0.01),
    ],
    ids=['geometric', 'harmonic'],
)
def test_surfaces_mix_to_the_friction_of_the_pairs(mix, measure, back, lowest):
    for name in ('rolling_y', 'sliding'):
        the_scene = contact_scenes.load(name)
        found = rules.surfaces(the_scene, measure, back, lowest)
        pairs = {('ground', 'cube'): 0.4} if name == 'sliding' else the_scene.friction
        for (first, second), mu in pairs.items():
            assert mix(found[first], found[second]) == pytest.approx(mu)


def test_surfaces_that_no_rule_can_have_are_rejected():
    bodies = tuple(scene.Body(name, scene.Sphere(1.0)) for name in 'abc')
    pairs = {('a', 'a'): 0.1, ('b', 'b'): 0.1, ('a', 'b'): 0.9}
    the_scene = scene.Scene('s', '', bodies, 1.0, 1.0, (), friction=pairs)
    with pytest.raises(engine.NotPossible, match='rule'):
        rules.surfaces(the_scene, math.log, math.exp)
