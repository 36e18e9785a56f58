# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Height at which a floating base touches the scene below it."""

import numpy as np
import pytest
from support.simulated_robots import ball, joint, link

from rbd_ros import Robot
from rbd_ros.collision.scene.scene import make_scene
from rbd_ros.collision.scene.touchdown import moved_base, touchdown
from rbd_ros.model.floating_model import floating_bases
from rbd_ros.world import read_world

OPTIMIZED = True

#: GJK ends where a distance is known to 1e-9 m; `TOUCH` is 1e-7 m.
EXACT = 2e-7


def height(robot, objects, q=None):
    scene = make_scene(robot.model, read_world({'objects': objects}))
    return touchdown(robot.model, scene, (robot.neutral() if q is None else q).tolist(), 1)


PLANE = {'type': 'plane'}
SLOPE = 0.4


@pytest.mark.parametrize(
    ('objects', 'expected'),
    [
        ({'floor': PLANE}, 0.1),
        ({'floor': {**PLANE, 'xyz': [0, 0, -20]}}, -19.9),
        ({'floor': {**PLANE, 'rpy': [SLOPE, 0, 0]}}, 0.1 / np.cos(SLOPE)),
        ({'floor': {**PLANE, 'xyz': [0, 0, 3], 'rpy': [0, SLOPE, 0]}}, 3 + 0.1 / np.cos(SLOPE)),
        ({'box': {'type': 'box', 'size': [1, 1, 0.5], 'xyz': [0, 0, -2]}}, -1.65),
        # Beside the edge of a box, 0.06 m: the ball comes down by the rest of its radius.
        ({'box': {'type': 'box', 'size': [1, 1, 1], 'xyz': [0.56, 0, -2]}}, -1.5 + 0.08),
        # On another ball, 0.3 m aside, with 0.5 m between the centers.
        ({'b': {'type': 'sphere', 'radius': 0.4, 'xyz': [0.3, 0, 0]}}, 0.4),
        ({'b': {'type': 'sphere', 'radius': 0.4, 'xyz': [0.3, 0, -5]}}, -4.6),
        # Of the floor and a crate on it, the crate; a wall beside it is not below.
        (
            {
                'floor': PLANE,
                'crate': {
                    'type': 'box',
                    'size': [0.2] * 3,
                    'xyz': [0, 0, 0.1],
                    'static': False,
                    'mass': 1.0,
                },
                'wall': {'type': 'box', 'size': [0.1, 4, 4], 'xyz': [0.1501, 0, 0]},
            },
            0.3,
        ),
        # Under a roof it stands on the floor.
        ({'floor': PLANE, 'roof': {'type': 'box', 'size': [4, 4, 0.1], 'xyz': [0, 0, 1]}}, 0.1),
        ({'f': {'type': 'height_field', 'size': [2, 2], 'heights': [[0.3] * 3] * 3}}, 0.4),
        # Nothing is below.
        ({'box': {'type': 'box', 'size': [1, 1, 1], 'xyz': [3, 0, 0]}}, 0.0),
        ({}, 0.0),
        # Unbounded obstacles: both sides of an endless wall.
        ({'wall': {**PLANE, 'rpy': [0, np.pi / 2, 0]}}, 0.0),
    ],
)
def test_a_ball_touches_down_on_the_object_below_it(objects, expected):
    assert height(ball(), objects) == pytest.approx(expected, abs=EXACT)


def test_the_lowest_of_all_links_touches_in_any_attitude():
    shape = '<collision><geometry><sphere radius="0.05"/></geometry></collision>'
    parts = [link(name, 1.0, (0.01,) * 3, shape=shape) for name in ('a', 'b')]
    elbow = joint('elbow', 'a', 'b', xyz=(0.3, 0, 0))
    robot = Robot.from_urdf(f'<robot name="r">{"".join(parts)}{elbow}</robot>', floating_base=True)
    q = robot.neutral()
    q[:7] = [np.cos(0.3), 0.0, np.sin(0.3), 0.0, 4.0, 5.0, 6.0]  # b is 0.3 sin(0.6) lower
    moved = moved_base(robot.model, q, 1, height(robot, {'floor': PLANE}, q))
    assert moved[4:7] == pytest.approx([4.0, 5.0, 0.05 + 0.3 * np.sin(0.6)], abs=EXACT)
    assert moved[[0, 1, 2, 3, 7]] == pytest.approx(q[[0, 1, 2, 3, 7]], abs=1e-15)


def test_a_floating_joint_of_the_description_is_a_base():
    shape = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    robot = Robot.from_urdf(
        f'<robot name="r">{link("world")}{link("ball", 1.0, (0.01,) * 3, shape=shape)}'
        '<joint name="free" type="floating"><parent link="world"/><child link="ball"/>'
        '<origin xyz="0 0 2" rpy="1 0 0"/></joint></robot>'
    )
    assert floating_bases(robot.model) == [1]
    down = height(robot, {'floor': PLANE})
    assert down == pytest.approx(-1.9, abs=EXACT)
    moved = moved_base(robot.model, robot.neutral(), 1, down)
    # Coordinates of the joint's own frame, which is turned.
    assert moved[4:] == pytest.approx([0, -1.9 * np.sin(1), -1.9 * np.cos(1)], abs=EXACT)
