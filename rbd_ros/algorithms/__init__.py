"""Algorithms of rigid-body dynamics, one a file, each readable against the book's table.

Scalars are generic.

All work on the coordinates of the tree; the gears of mimic joints are applied by `rbd_ros.robot`
through the model.
"""

from rbd_ros.algorithms.aba import aba
from rbd_ros.algorithms.centre_of_mass import centre_of_mass, centre_of_mass_jacobian
from rbd_ros.algorithms.coriolis import coriolis_matrix
from rbd_ros.algorithms.crba import composite_inertias, crba
from rbd_ros.algorithms.energy import energy, momentum
from rbd_ros.algorithms.forward_dynamics import forward_dynamics_by_inertia_matrix
from rbd_ros.algorithms.jacobians import (
    jacobian,
    jacobian_derivative,
    point_jacobian,
    point_jacobian_derivative,
    REFERENCES,
)
from rbd_ros.algorithms.kinematics import body_transforms, body_velocities, motion_columns
from rbd_ros.algorithms.newton_euler import newton_euler
from rbd_ros.algorithms.rnea import bias_force, gravity_torque, rnea

__all__ = [
    'REFERENCES',
    'aba',
    'bias_force',
    'body_transforms',
    'body_velocities',
    'centre_of_mass',
    'centre_of_mass_jacobian',
    'composite_inertias',
    'coriolis_matrix',
    'crba',
    'energy',
    'forward_dynamics_by_inertia_matrix',
    'gravity_torque',
    'jacobian',
    'jacobian_derivative',
    'momentum',
    'motion_columns',
    'newton_euler',
    'point_jacobian',
    'point_jacobian_derivative',
    'rnea',
]
