# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Configurations projected into the joint limits, and checked against them."""

import numpy as np
import pytest

from rbd_ros import Robot

URDF = """
<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="turns" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
 <limit lower="0.2" upper="1.5" effort="1" velocity="1"/></joint>
<joint name="spins" type="continuous"><parent link="b"/><child link="c"/>
 <axis xyz="0 0 1"/></joint>
<joint name="slides" type="prismatic"><parent link="c"/><child link="d"/><axis xyz="0 0 1"/>
 <limit lower="-0.1" upper="0.1" effort="1" velocity="1"/></joint>
</robot>
"""


def test_joints_end_at_the_nearest_limit():
    robot = Robot.from_urdf(URDF)
    assert robot.clamp(robot.neutral()).tolist() == [0.2, 0.0, 0.0]
    rows = [[2.0, 50.0, -0.3], [0.7, -50.0, 0.05]]
    assert robot.clamp(rows).tolist() == [[1.5, 50.0, -0.1], [0.7, -50.0, 0.05]]
    given = np.array([0.0, 1.0, 0.0])
    robot.clamp(given)
    assert given[0] == 0.0


def test_orientations_have_no_limits():
    robot = Robot.from_urdf(URDF, floating_base=True)
    q = robot.random_configuration(np.random.default_rng(3))
    assert robot.within_limits(q) and np.array_equal(robot.clamp(q), q)


def test_one_joint_outside_is_enough():
    robot = Robot.from_urdf(URDF)
    assert robot.within_limits([0.2, 99.0, 0.1]) is True
    for q in ([0.19, 0.0, 0.0], [0.5, 0.0, 0.11], [np.nan, 0.0, 0.0]):
        assert robot.within_limits(q) is False
    assert robot.within_limits([0.19, 0.0, 0.105], tolerance=0.011)
    assert not robot.within_limits([0.18, 0.0, 0.0], tolerance=0.011)
    assert robot.within_limits([[0.3, 0, 0], [0.0, 0, 0]]).tolist() == [True, False]


@pytest.mark.parametrize('method', ['clamp', 'within_limits'])
@pytest.mark.parametrize('q', [0.0, [0.0, 1.0], [[0.0] * 4], [[[0.0] * 3]]])
def test_other_shapes_are_rejected(method, q):
    with pytest.raises(ValueError, match=r'q must have shape \(3,\) or \(N, 3\), got'):
        getattr(Robot.from_urdf(URDF), method)(q)
