# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Named configurations of an SRDF."""

import numpy as np
import pytest

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.world import SrdfError
from rbd_ros.world.group_states import named_configuration, read_group_states

SRDF = """<robot name="quadruped">
<virtual_joint name="root" type="floating" parent_frame="world" child_link="base"/>
<group_state name="standing" group="legs">
  <joint name="root" value="1. 2. 3. 0. 0. 0.6 0.8"/>
  <joint name="front_left_knee_joint" value="-1.6"/>
</group_state>
<group_state name="standing" group="hind"><joint name="rear_left_knee_joint" value="-1"/>
</group_state>
<group_state name="limp" group="legs"><joint name="front_left_foot_joint" value="0"/></group_state>
</robot>"""


@pytest.fixture(scope='module')
def walker():
    return Robot.from_urdf(resource_path('urdf', 'quadruped.urdf'), floating_base=True)


def at(robot, name):
    i = robot.joint_names.index(name)
    return i + 6  # after the seven of the base


def test_a_state_of_several_groups_is_one(walker):
    q, placed = named_configuration(walker.model, SRDF, 'standing', walker.neutral())
    expected = walker.neutral()
    expected[:7] = [0.8, 0.0, 0.0, 0.6, 1.0, 2.0, 3.0]  # w first, as in q
    expected[at(walker, 'front_left_knee_joint')] = -1.6
    expected[at(walker, 'rear_left_knee_joint')] = -1.0
    assert placed and q == pytest.approx(expected, abs=1e-15)


def test_other_joints_stay_and_a_base_that_is_fixed_has_no_pose(walker):
    before = walker.random_configuration(np.random.default_rng(1))
    q, placed = named_configuration(walker.model, SRDF, 'limp', before)
    assert not placed and np.array_equal(q, before)
    fixed = Robot.from_urdf(resource_path('urdf', 'quadruped.urdf'))
    q, placed = named_configuration(fixed.model, SRDF, 'standing', fixed.neutral())
    assert not placed and sorted(q[q != 0.0]) == [-1.6, -1.0]


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        ('name="limp"', 'name="standin"', "unknown group state of the SRDF 'limp'; there are"),
        ('name="limp"', '', 'line 9: <group_state> has no name'),
        ('name="front_left_foot_joint"', '', 'line 9: <joint> has no name'),
        (
            '"front_left_foot_joint"',
            '"front_left_fot_joint"',
            "line 9: .*did you mean 'front_left",
        ),
        ('value="0"', 'value="up"', 'line 9: joint .front_left_foot_joint. has the value .up.'),
        ('value="0"', '', 'line 9: joint .* has the value'),
        ('value="0"', 'value="nan"', 'line 9: joint .* has the value'),
        ('value="0"', 'value="1e9"', 'line 9: joint .* has the value'),
        (
            'name="front_left_foot_joint" value="0"',
            'name="front_left_knee_joint" value="0 1"',
            'line 9: joint .front_left_knee_joint. has 1 position variables, not 2',
        ),
        (
            'name="front_left_foot_joint" value="0"',
            'name="root" value="0 0 0 0.3 0 0 0"',
            'line 9: the quaternion of joint .root. has the norm 0.3',
        ),
    ],
)
def test_errors_name_line_and_joint(walker, old, new, message):
    assert old in SRDF
    with pytest.raises(SrdfError, match=message):
        named_configuration(walker.model, SRDF.replace(old, new), 'limp', walker.neutral())


def test_joints_of_groups_and_chains_are_no_positions():
    text = (
        '<robot><group name="g"><joint name="a"/></group><group_state name="n" group="g"/></robot>'
    )
    assert read_group_states(text) == {'n': []}
