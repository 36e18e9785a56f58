# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Frames with restricted motion are reported by name, with the lost directions."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import ModelError
from rbd_ros.robot.frame import SingularTaskError

REGULAR = [0.3, -1.1, 1.3, 0.4, 0.7, -0.2]


@pytest.fixture(scope='module')
def ur5():
    return Robot.from_urdf(example_robots.path('ur5_robot'))


def changed(**values):
    """Return the regular configuration but for some joints."""
    q = list(REGULAR)
    for name, value in values.items():
        q[int(name[-1]) - 1] = value
    return q


@pytest.mark.parametrize('reference', ['body', 'base', 'aligned'])
@pytest.mark.parametrize(
    'q',
    [
        changed(q5=0.0),  # axes of the wrist parallel
        changed(q5=math.pi),
        changed(q3=0.0),  # the elbow stretched
    ],
)
def test_singularities_of_a_ur5_lose_one_direction(ur5, reference, q):
    frame = ur5.frame('tool0', reference)
    frame.require_regular(REGULAR)
    with pytest.raises(SingularTaskError, match="frame 'tool0' can move in 5 of 6") as caught:
        frame.require_regular(q)
    assert reference in str(caught.value)
    (lost,) = caught.value.directions
    assert_allclose(np.linalg.norm(lost), 1.0)
    J = frame.jacobian(q)
    assert np.abs(lost @ J).max() < 1e-12 * np.abs(J).max()
    # No forces of joints balance a wrench along it, so inertia is felt without bound.
    mobility = frame.inverse_operational_inertia(q)
    assert np.abs(mobility @ lost).max() < 1e-9 * np.abs(mobility).max()


def test_the_wrist_does_not_keep_the_tool_s_point_from_moving(ur5):
    frame = ur5.frame('wrist_1_link')
    frame.require_regular(changed(q5=0.0), translational=True)
    with pytest.raises(SingularTaskError, match='in 2 of 3 directions.*x, y, z of the base'):
        frame.require_regular(changed(q3=0.0, q4=0.0), translational=True)


def test_a_batch_names_the_state(ur5):
    states = np.array([REGULAR, changed(q5=0.5), changed(q5=0.0)])
    frame = ur5.frame('tool0')
    frame.require_regular(states[:2])
    with pytest.raises(SingularTaskError, match='5 of 6 directions in state 2: not along'):
        frame.require_regular(states)


def test_the_tolerance_of_regularity_can_be_chosen(ur5):
    frame, q = ur5.frame('tool0'), changed(q5=1e-4)
    frame.require_regular(q)
    with pytest.raises(SingularTaskError):
        frame.require_regular(q, tolerance=1e-3)
    with pytest.raises(SingularTaskError):
        frame.require_regular(changed(q5=1e-8))


def test_an_arm_of_two_joints_has_four_directions_too_few():
    arm = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))
    frame = arm.frame(arm.link_names[-1])
    with pytest.raises(SingularTaskError, match='in 2 of 6') as caught:
        frame.require_regular([0.3, 0.4])
    assert caught.value.directions.shape == (4, 6)
    with pytest.raises(ModelError, match='2 of the 6 degrees of freedom'):
        frame.operational_inertia([0.3, 0.4])


def test_the_base_moves_nowhere(ur5):
    with pytest.raises(SingularTaskError, match='in 0 of 6'):
        ur5.frame('base_link').require_regular(REGULAR)
