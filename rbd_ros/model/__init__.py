"""System model of a robot: bodies, joints, frames, gears and shapes (book chapter 4), and its builder from URDF."""

from rbd_ros.model.errors import ModelError, SingularMassMatrixError
from rbd_ros.model.model import Body, Coupling, Frame, JointLimits, Link, Model
from rbd_ros.model.urdf import load_urdf

__all__ = [
    'Body',
    'Coupling',
    'Frame',
    'JointLimits',
    'Link',
    'load_urdf',
    'Model',
    'ModelError',
    'SingularMassMatrixError',
]
