# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Entries of robots in a world: colliding links, friction, and fixed connections."""

import numpy as np
import pytest
from support.simulated_robots import collision, joint, link, robot

from rbd_ros import Simulator
from rbd_ros.collision import RobotInWorld
from rbd_ros.contact import HalfSpace
from rbd_ros.world import SrdfError

GRAVITY, RADIUS, STEPS = 9.81, 0.05, 100
FLOOR = {'type': 'plane', 'surface': {'friction': 1.0}}


def feet():
    """Return two feet that slide along x and rest on the floor, each for itself.

    Elements of a URDF.
    """
    elements = [link('base')]
    for name, y in (('left', 0.0), ('right', 1.0)):
        shape = collision(f'sphere radius="{RADIUS}"')
        elements += [
            link(f'{name}_rail'),
            joint(
                f'{name}_x',
                'base',
                f'{name}_rail',
                'prismatic',
                (1, 0, 0),
                (0, y, RADIUS),
                '<limit lower="-9" upper="9" effort="9" velocity="9"/>',
            ),
            link(f'{name}_foot', 1.0, (0.01, 0.01, 0.01), shape=shape),
            joint(
                f'{name}_z',
                f'{name}_rail',
                f'{name}_foot',
                'prismatic',
                (0, 0, 1),
                inside='<limit lower="-9" upper="9" effort="9" velocity="9"/>',
            ),
        ]
    return elements


def slowed(world, simulated=None):
    """Coefficients of friction of feet that slide for a tenth of a second at first 1 m/s."""
    simulator = Simulator(simulated, world={'objects': {'floor': FLOOR}, **world})
    q = simulator.q
    simulator.reset(q, np.array([1.0, 0.0, 1.0, 0.0]))
    simulator.step(n=STEPS)
    assert np.abs(simulator.v[[1, 3]]).max() < 1e-8  # they do not leave the floor
    return (1.0 - simulator.v[[0, 2]]) / (GRAVITY * STEPS * simulator.timestep)


def test_feet_of_different_friction_slide_differently():
    own = {'surface': {'friction': 0.36}, 'links': {'left_foot': {'friction': 0.04}}}
    assert slowed({'robot': own}, robot(*feet())) == pytest.approx([0.2, 0.6], rel=1e-6)
    # An entry of a pair has priority over those of its links.
    pair = {'links': ['robot/left_foot', 'floor'], 'friction': 0.5}
    assert slowed({'robot': own, 'pairs': [pair]}, robot(*feet())) == pytest.approx(
        [0.5, 0.6], rel=1e-6
    )


def test_feet_of_further_robots_have_their_own_friction(tmp_path):
    path = tmp_path / 'feet.urdf'
    path.write_text(f'<robot name="feet">{"".join(feet())}</robot>')
    other = {
        'urdf': str(path),
        'static': False,
        'surface': {'friction': 0.36},
        'links': {'left_foot': {'friction': 0.04}},
    }
    assert slowed({'robots': {'other': other}}) == pytest.approx([0.2, 0.6], rel=1e-6)


def carriages(gap=0.1):
    """Return two carriages on one rail; one that is pushed meets the other."""
    box = collision('box size="0.2 0.2 0.2"')
    limit = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
    return robot(
        link('base'),
        link('left', 1.0, (0.01, 0.01, 0.01), shape=box),
        link('right', 1.0, (0.01, 0.01, 0.01), shape=box),
        joint('left_x', 'base', 'left', 'prismatic', (1, 0, 0), (0, 0, 0.5), limit),
        joint('right_x', 'base', 'right', 'prismatic', (1, 0, 0), (0.2 + gap, 0, 0.5), limit),
    )


DISABLED = '<robot><disable_collisions link1="left" link2="right"/></robot>'
ENABLED = '<robot><enable_collisions link1="left" link2="right"/></robot>'


@pytest.mark.parametrize('surroundings', [{'world': {}}, {'ground': True}])
def test_links_that_an_srdf_disables_go_through_each_other(tmp_path, surroundings):
    path = tmp_path / 'carriages.srdf'
    path.write_text(DISABLED)
    for srdf, speeds in ((None, [0.5, 0.5]), (path, [1.0, 0.0]), (DISABLED, [1.0, 0.0])):
        simulator = Simulator(carriages(), srdf=srdf, **surroundings)
        simulator.reset([0.0, 0.0], [1.0, 0.0])
        simulator.step(n=200)
        assert simulator.v == pytest.approx(speeds, abs=1e-9)


def test_given_options_override_the_world_file(tmp_path):
    path = tmp_path / 'carriages.srdf'
    path.write_text(DISABLED)
    world = {'robot': {'srdf': str(path)}}
    assert RobotInWorld(carriages(), world).pairs == ()
    assert RobotInWorld(carriages(), world, srdf=ENABLED).pairs == (('robot/left', 'robot/right'),)
    assert Simulator(carriages(), world=world).distance_pairs == ()
    both = Simulator(carriages(), world=world, srdf=ENABLED)
    assert both.distance_pairs == (('robot/left', 'robot/right'),)


NAMED = {'pairs': [{'links': ['robot/right', 'robot/left'], 'friction': 0.3}]}


@pytest.mark.parametrize(
    ('gap', 'world', 'srdf', 'touch', 'reported'),
    [
        (0.1, {}, None, True, ''),
        (
            -0.1,
            {},
            None,
            False,
            '1 pair of links that are in contact at the neutral configuration',
        ),
        (-0.1, {}, DISABLED, False, ''),
        (-0.1, {}, ENABLED, True, "'robot/left' starts 100.0 mm deep in 'robot/right'"),
        (-0.1, NAMED, None, True, "'robot/left' starts 100.0 mm deep in 'robot/right'"),
        (-0.1, NAMED, DISABLED, True, "'robot/left' starts 100.0 mm deep in 'robot/right'"),
        (-0.1, {**NAMED, 'disable_collisions': [['robot/left', 'robot/right']]}, None, False, ''),
    ],
)
def test_overlapping_links_do_not_touch_unless_the_pair_is_enabled(
    gap, world, srdf, touch, reported
):
    simulator = Simulator(carriages(gap), world=world, srdf=srdf)
    assert bool(simulator.distance_pairs) == touch
    assert bool(len(simulator.physics.scene.table.pair)) == touch
    warnings = simulator.warnings
    assert len(warnings) == bool(reported) and all(reported in text for text in warnings)


def test_pairs_of_further_robots_are_enabled_as_well(tmp_path):
    box = collision('box size="0.2 0.2 0.2"')
    limit = '<limit lower="-9" upper="9" effort="9" velocity="9"/>'
    path = tmp_path / 'carriages.urdf'
    path.write_text(
        '<robot name="carriages">'
        + link('base')
        + link('left', 1.0, (0.01,) * 3, shape=box)
        + link('right', 1.0, (0.01,) * 3, shape=box)
        + joint('left_x', 'base', 'left', 'prismatic', (1, 0, 0), (0, 0, 0.5), limit)
        + joint('right_x', 'base', 'right', 'prismatic', (1, 0, 0), (0.1, 0, 0.5), limit)
        + '</robot>'
    )
    (tmp_path / 'a.srdf').write_text(ENABLED)
    other = {'urdf': str(path), 'static': False}
    pair = {'links': ['other/left', 'other/right'], 'friction': 0.3}
    for world, touch in (
        ({'robots': {'other': other}}, False),
        ({'robots': {'other': {**other, 'srdf': str(tmp_path / 'a.srdf')}}}, True),
        ({'robots': {'other': other}, 'pairs': [pair]}, True),
    ):
        assert bool(Simulator(None, world=world).distance_pairs) == touch


def test_an_srdf_is_for_links_that_there_are_and_that_may_touch():
    wrong = '<robot>\n<enable_collisions link1="left" link2="rigt"/></robot>'
    for make in (
        lambda: Simulator(carriages(), world={}, srdf=wrong),
        lambda: RobotInWorld(carriages(), srdf=wrong),
        lambda: Simulator(carriages(), srdf=wrong),
        lambda: Simulator(carriages(), ground=HalfSpace(), srdf=wrong),
    ):
        with pytest.raises(SrdfError, match="line 2: <enable_collisions>: .*'rigt'; did you mean"):
            make()


def test_objects_that_are_bolted_together_are_a_robot_of_one_body(tmp_path):
    ball = collision(f'sphere radius="{RADIUS}"')
    elements = [link(name, 1.0, (0.001,) * 3, shape=ball) for name in ('ball', 'other')]
    elements.append(joint('bolts', 'ball', 'other', 'fixed', xyz=(0.3, 0, 0)))
    path = tmp_path / 'dumbbell.urdf'
    path.write_text(f'<robot name="dumbbell">{"".join(elements)}</robot>')
    bolted = {'urdf': str(path), 'floating': True, 'static': False, 'xyz': [0, 0, RADIUS]}
    world = {'objects': {'floor': FLOOR}, 'robots': {'dumbbell': bolted}}
    simulator = Simulator(None, world=world)
    simulator.step(n=100)
    assert simulator.robot.nv == 6
    assert np.abs(simulator.v).max() < 1e-8
    weights = {each.first: -each.force[2] for each in simulator.contacts}
    weights |= {each.second: each.force[2] for each in simulator.contacts}
    for name in ('dumbbell/ball', 'dumbbell/other'):
        assert weights[name] == pytest.approx(GRAVITY, rel=1e-6)
