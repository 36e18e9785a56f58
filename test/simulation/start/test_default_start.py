# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Default start of a simulation: floating bases stand on the scene below them."""

import numpy as np
import pytest
from support import example_robots
from support.simulated_robots import ball, collision, joint, link, robot

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.lookup.resources import resource_path

#: `touchdown.TOUCH`, twice.
EXACT = 2e-7

SLOPE = HalfSpace(normal=(0.0, 0.6, 0.8), offset=-1.0)


@pytest.fixture(scope='module')
def quadruped():
    return Robot.from_urdf(resource_path('urdf', 'quadruped.urdf'), floating_base=True)


@pytest.mark.parametrize(
    ('surroundings', 'height'),
    [
        ({'ground': True}, 0.422),
        ({'ground': HalfSpace()}, 0.422),
        ({'world': {'objects': {'floor': {'type': 'plane', 'xyz': [0, 0, -3]}}}}, -2.578),
        ({'ground': HalfSpace(offset=2.0)}, 2.422),
        ({}, 0.0),
        ({'world': {}}, 0.0),
    ],
)
def test_a_walker_begins_on_its_feet(quadruped, surroundings, height):
    simulator = Simulator(quadruped, **surroundings)
    assert simulator.q[6] == pytest.approx(height, abs=EXACT)
    assert simulator.q[:6].tolist() == [1, 0, 0, 0, 0, 0]
    assert not simulator.warnings
    # A rollout begins there as well, and a reset.
    first = simulator.rollout(steps=1)
    simulator.step()
    assert np.array_equal(first.q[0, 0], simulator.q)
    simulator.reset()
    assert simulator.q[6] == pytest.approx(height, abs=EXACT)


def test_a_ball_stands_on_a_slope_that_gives_way():
    simulator = Simulator(ball(radius=0.1), ground=SLOPE)
    # Its center is 0.1 m from the plane 0.6 y + 0.8 z = -1.
    assert simulator.q[6] == pytest.approx((0.1 - 1.0) / 0.8, abs=1e-9)


def test_a_robot_starts_on_the_objects_of_a_changed_world(quadruped):
    world = {'objects': {'floor': {'type': 'plane'}}}
    simulator = Simulator(quadruped, world=world)
    simulator.add_object('plate', {'type': 'box', 'size': [2, 2, 0.2], 'xyz': [0, 0, 0.1]})
    simulator.reset()
    assert simulator.q[6] == pytest.approx(0.622, abs=EXACT)
    simulator.remove_object('plate')
    simulator.reset()
    assert simulator.q[6] == pytest.approx(0.422, abs=EXACT)


def test_a_base_that_is_placed_stays_there_and_depth_is_reported_first(quadruped):
    simulator = Simulator(quadruped, ground=True)
    q = simulator.q
    q[6] = 0.4
    simulator.reset(q)
    assert np.array_equal(simulator.q, q)
    assert 'starts 22.0 mm deep' in simulator.warnings[0]


def test_standing_changes_nothing_of_the_simulation(quadruped):
    for ground in (True, HalfSpace()):
        simulator = Simulator(quadruped, ground=ground)
        q = simulator.q
        simulator.step(n=20)
        before = simulator.snapshot().arrays
        q[7:] = [0.0, 0.8, -1.6] * 4
        assert simulator.standing_configuration(q)[6] == pytest.approx(
            0.4 * np.cos(0.8) + 0.022, abs=EXACT
        )
        after = simulator.snapshot().arrays
        assert all(np.array_equal(before[name], after[name]) for name in before)


def test_robots_of_the_world_are_where_it_has_them(tmp_path):
    (tmp_path / 'ball.urdf').write_text(
        '<robot name="ball">'
        + link('ball', 1.0, (0.004,) * 3, shape=collision('sphere radius="0.1"'))
        + '</robot>'
    )
    other = {
        'urdf': str(tmp_path / 'ball.urdf'),
        'floating': True,
        'static': False,
        'xyz': [0, 0, 0.5],
    }
    world = {'objects': {'floor': {'type': 'plane'}}, 'robots': {'other': other}}
    simulator = Simulator(ball(radius=0.1), world=world)
    assert simulator.q[13] == 0.5
    # From where it is at z = 0, 0.1 m deep in the floor, it is free at 0.1 m, under the other one.
    assert simulator.q[6] == pytest.approx(0.1, abs=EXACT)


def test_a_group_state_is_a_start(quadruped, tmp_path):
    knees = ''.join(
        f'<joint name="{side}_{part}_joint" value="{angle}"/>'
        for side in ('front_left', 'front_right', 'rear_left', 'rear_right')
        for part, angle in (('thigh', 0.8), ('knee', -1.6))
    )
    base = '<joint name="root_joint" value="0 0 0.5 0 0 0 1"/>'
    path = tmp_path / 'a.srdf'
    path.write_text(
        f'<robot><group_state name="bent" group="legs">{knees}</group_state>'
        f'<group_state name="up" group="legs">{base}{knees}</group_state></robot>'
    )
    crouching = 0.4 * np.cos(0.8) + 0.022
    for surroundings, bent in (({'ground': True}, crouching), ({}, 0.0)):
        simulator = Simulator(quadruped, srdf=path, **surroundings)
        simulator.reset('bent')
        assert simulator.q[7:].tolist() == [0.0, 0.8, -1.6] * 4
        assert simulator.q[6] == pytest.approx(bent, abs=EXACT)
        simulator.reset('up')
        assert simulator.q[6] == 0.5
    with pytest.raises(ValueError, match="'bend'; did you mean 'bent'"):
        simulator.reset('bend')
    with pytest.raises(ValueError, match='there is no SRDF; give srdf'):
        Simulator(quadruped).reset('bent')


def test_closed_legs_stand_when_their_loops_are_closed():
    """A leg that is tied to a rod, 0.1 m from where they are neutral."""
    parts = [
        link('body', 5.0, (0.1,) * 3, shape=collision('sphere radius="0.05"')),
        link('leg', 1.0, (0.01,) * 3, shape=collision('sphere radius="0.02"', (0, 0, -0.4))),
        joint('hip', 'body', 'leg', 'prismatic', (0, 0, 1), inside=LIMIT),
        link('rod', 0.5, (0.01,) * 3),
        joint('crank', 'body', 'rod', 'prismatic', (0, 0, 1), inside=LIMIT),
    ]
    weld = {
        'loops': {
            'tie': {
                'type': 'fixed',
                'predecessor': {'frame': 'leg', 'xyz': [0, 0, 0.1]},
                'successor': {'frame': 'rod'},
            }
        }
    }
    walker = robot(*parts, floating_base=True, extension=weld)
    simulator = Simulator(walker, ground=True)
    lowest = min(-0.05, simulator.q[7] - 0.42)
    assert abs(simulator.q[8] - simulator.q[7] - 0.1) < 1e-9
    assert simulator.q[6] == pytest.approx(-lowest, abs=EXACT)


LIMIT = '<limit lower="-1" upper="1" effort="1e3" velocity="10"/>'


@pytest.mark.parametrize('name', ['go2', 'solo12', 'talos_reduced', 'anymal_c_simple_description'])
def test_real_robots_stand_on_their_feet(name):
    paths = example_robots.loadable()
    if not paths:
        pytest.skip('no example-robot-data')
    matching = [path for known, path in paths.items() if known.startswith(name)]
    walker = Robot.from_urdf(matching[0], floating_base=True)
    simulator = Simulator(walker, ground=True)
    assert simulator.q[6] > 0.2
    ground = simulator.distances().distance[[b == 'ground' for _, b in simulator.distance_pairs]]
    assert abs(ground.min()) < EXACT
    assert not [text for text in simulator.warnings if 'deep' in text]


@pytest.mark.parametrize(('placed', 'height'), [(False, 0.422), (True, 0.7)])
def test_a_walker_of_the_world_stands_unless_it_is_placed(placed, height):
    """As the base of the robot itself does."""
    entry = {
        'urdf': str(resource_path('urdf', 'quadruped.urdf')),
        'floating': True,
        'static': False,
        **({'xyz': [0, 0, 0.7]} if placed else {}),
    }
    world = {'objects': {'floor': {'type': 'plane'}}, 'robots': {'walker': entry}}
    simulator = Simulator(None, world=world)
    assert simulator.q[6] == pytest.approx(height, abs=EXACT)
    assert not [each for each in simulator.warnings if 'deep' in each]
    simulator.reset()
    assert simulator.q[6] == pytest.approx(height, abs=EXACT)
