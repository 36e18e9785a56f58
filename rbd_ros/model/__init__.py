# SPDX-License-Identifier: Apache-2.0
"""System model of a robot (book chapter 4): bodies, joints, gears and shapes, read from URDF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.model.combined_models import combine_models
    from rbd_ros.model.equivalent import (
        equivalent_model,
        with_inertia_moved,
        with_inertias_moved_inward,
    )
    from rbd_ros.model.errors import ModelError, SingularMassMatrixError
    from rbd_ros.model.floating_model import with_fixed_base, with_floating_base
    from rbd_ros.model.joint_registry import register_joint_type
    from rbd_ros.model.model import Body, Coupling, Frame, JointLimits, Link, LoopJoint, Model
    from rbd_ros.model.parent_array import ParentArray
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
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        'Body': 'rbd_ros.model.model',
        'Coupling': 'rbd_ros.model.model',
        'Frame': 'rbd_ros.model.model',
        'JointLimits': 'rbd_ros.model.model',
        'Link': 'rbd_ros.model.model',
        'LoopJoint': 'rbd_ros.model.model',
        'Model': 'rbd_ros.model.model',
        'ModelError': 'rbd_ros.model.errors',
        'ParentArray': 'rbd_ros.model.parent_array',
        'SingularMassMatrixError': 'rbd_ros.model.errors',
        'equivalent_model': 'rbd_ros.model.equivalent',
        'load_urdf': 'rbd_ros.model.urdf',
        'combine_models': 'rbd_ros.model.combined_models',
        'register_joint_type': 'rbd_ros.model.joint_registry',
        'with_fixed_base': 'rbd_ros.model.floating_model',
        'with_floating_base': 'rbd_ros.model.floating_model',
        'with_inertia_moved': 'rbd_ros.model.equivalent',
        'with_inertias_moved_inward': 'rbd_ros.model.equivalent',
    },
)
