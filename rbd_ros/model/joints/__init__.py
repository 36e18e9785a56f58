"""Joint types and their jcalc (book 4.4, table 4.1): one file a type, all with the same methods.

What the methods mean is written in `joint_type.py`.
"""

from rbd_ros.model.joints.fixed import Fixed
from rbd_ros.model.joints.floating import Floating
from rbd_ros.model.joints.joint_type import JointState, JointType
from rbd_ros.model.joints.planar import Planar
from rbd_ros.model.joints.prismatic import Prismatic
from rbd_ros.model.joints.rack_and_pinion import RackAndPinion
from rbd_ros.model.joints.revolute import Revolute
from rbd_ros.model.joints.sphere_in_cylinder import SphereInCylinder
from rbd_ros.model.joints.spherical import Spherical

__all__ = [
    'Fixed',
    'Floating',
    'JointState',
    'JointType',
    'Planar',
    'Prismatic',
    'RackAndPinion',
    'Revolute',
    'SphereInCylinder',
    'Spherical',
]
