# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""System model of a robot (book chapter 4): bodies, joints, gears and shapes, read from URDF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.model.combined_models import combine_models, with_robot_mounted
    from rbd_ros.model.equivalent import (
        equivalent_model,
        with_inertia_moved,
        with_inertias_moved_inward,
    )
    from rbd_ros.model.errors import ModelError, SingularMassMatrixError
    from rbd_ros.model.floating_model import with_fixed_base, with_floating_base
    from rbd_ros.model.joint_registry import register_joint_type
    from rbd_ros.model.locked_joints import with_joints_locked
    from rbd_ros.model.model import Body, Coupling, Frame, JointLimits, Link, LoopJoint, Model
    from rbd_ros.model.parent_array import ParentArray
    from rbd_ros.model.removed_links import without_link
    from rbd_ros.model.urdf import load_urdf

__all__ = [
    'Body',
    'Coupling',
    'equivalent_model',
    'Frame',
    'JointLimits',
    'Link',
    'load_urdf',
    'LoopJoint',
    'Model',
    'ModelError',
    'ParentArray',
    'combine_models',
    'register_joint_type',
    'SingularMassMatrixError',
    'with_fixed_base',
    'with_floating_base',
    'with_inertia_moved',
    'with_inertias_moved_inward',
    'with_joints_locked',
    'with_robot_mounted',
    'without_link',
]

__getattr__, __dir__ = lazy_names(__name__)
