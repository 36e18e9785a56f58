# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint types and their jcalc (book 4.4, table 4.1): one file per type, with the same methods.

`joint_type.py` defines the methods. The names below are loaded on first use: a robot has one or
two types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.model.joints.cylindrical import Cylindrical
    from rbd_ros.model.joints.fixed import Fixed
    from rbd_ros.model.joints.floating import Floating
    from rbd_ros.model.joints.floating_in_successor import FloatingInSuccessor
    from rbd_ros.model.joints.helical import Helical
    from rbd_ros.model.joints.joint_type import JointState, JointType
    from rbd_ros.model.joints.placed import Placed
    from rbd_ros.model.joints.planar import Planar
    from rbd_ros.model.joints.planar_in_successor import PlanarInSuccessor
    from rbd_ros.model.joints.prismatic import Prismatic
    from rbd_ros.model.joints.rack_and_pinion import RackAndPinion
    from rbd_ros.model.joints.reversed import reverse, Reversed
    from rbd_ros.model.joints.revolute import Revolute
    from rbd_ros.model.joints.rheonomic import Harmonic, Polynomial, Rheonomic
    from rbd_ros.model.joints.sphere_in_cylinder import SphereInCylinder
    from rbd_ros.model.joints.spherical import Spherical
    from rbd_ros.model.joints.spherical_yaw_pitch_roll import SphericalYawPitchRoll
    from rbd_ros.model.joints.universal import Universal

__all__ = [
    'Fixed',
    'Cylindrical',
    'Floating',
    'FloatingInSuccessor',
    'Harmonic',
    'Helical',
    'JointState',
    'JointType',
    'Placed',
    'Planar',
    'PlanarInSuccessor',
    'Polynomial',
    'Prismatic',
    'RackAndPinion',
    'reverse',
    'Reversed',
    'Revolute',
    'SphereInCylinder',
    'Rheonomic',
    'Spherical',
    'SphericalYawPitchRoll',
    'Universal',
]

__getattr__, __dir__ = lazy_names(__name__)
