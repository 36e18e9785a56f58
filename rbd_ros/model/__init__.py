"""System model of a robot (book chapter 4): bodies, joints, gears and shapes, read from URDF."""

from rbd_ros.model.assembly import assemble, Connection, connectivity
from rbd_ros.model.equivalent import (
    equivalent_model,
    with_inertia_moved,
    with_inertias_moved_inward,
)
from rbd_ros.model.errors import ModelError, SingularMassMatrixError
from rbd_ros.model.floating_base import with_fixed_base, with_floating_base
from rbd_ros.model.graph import Arc, ConnectivityGraph, Numbering, ParentArray, SpanningTree
from rbd_ros.model.joint_registry import register_joint_type
from rbd_ros.model.model import Body, Coupling, Frame, JointLimits, Link, LoopJoint, Model
from rbd_ros.model.urdf import load_urdf

__all__ = [
    'Arc',
    'assemble',
    'Body',
    'Connection',
    'connectivity',
    'ConnectivityGraph',
    'Coupling',
    'equivalent_model',
    'Frame',
    'JointLimits',
    'Link',
    'load_urdf',
    'LoopJoint',
    'Model',
    'ModelError',
    'Numbering',
    'ParentArray',
    'register_joint_type',
    'SingularMassMatrixError',
    'with_fixed_base',
    'with_floating_base',
    'with_inertia_moved',
    'with_inertias_moved_inward',
    'SpanningTree',
]
