# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Copies of objects bound to their memory are rejected: they would share the original's."""

import copy
import pickle

import pytest
from support.recorded_motions import arm

from rbd_ros.control import GuidingSettings, HandGuiding, StateGuard, TorqueLaw, TorqueLimiter
from rbd_ros.control.law.law_settings import LawSettings
from rbd_ros.control.law.soft_stops import SoftLimits, SoftStops

ROBOT = arm('two_link_arm')
BOUND = (
    HandGuiding(ROBOT, GuidingSettings.for_robot(ROBOT)),
    SoftStops(ROBOT, SoftLimits.for_robot(ROBOT)),
    StateGuard(ROBOT.joint_names),
    TorqueLaw(ROBOT, LawSettings.for_robot(ROBOT)),
    TorqueLimiter(ROBOT.effort_limits),
)


@pytest.mark.parametrize('way', [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize('bound', BOUND, ids=lambda bound: type(bound).__name__)
def test_objects_bound_to_their_memory_are_not_copied(bound, way):
    with pytest.raises(TypeError, match=f'a {type(bound).__name__} .* make another one'):
        way([bound] if way is copy.deepcopy else bound)
