# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kinematics together with its derivatives, by differentiation of the functions.

Derivatives by a configuration are along the velocities, by component: those of a vector in the
coordinates of a frame are without the rotation of the frame.
"""

from typing import NamedTuple

from rbd_ros.algorithms.declaration import derivatives_of
from rbd_ros.algorithms.kinematics.frame_motion import frame_acceleration, frame_velocity
from rbd_ros.algorithms.kinematics.jacobians import jacobian
from rbd_ros.algorithms.momentum.center_of_mass import center_of_mass_jacobian
from rbd_ros.algorithms.momentum.centroidal import centroidal_momentum
from rbd_ros.array_types import ResultArray


class FrameVelocityDerivatives(NamedTuple):
    """Spatial velocity of a frame and its derivatives; by q along the velocities.

    :param velocity: angular part first, (6,) [rad/s, m/s]
    :param dvelocity_dq: its derivatives by the configuration, (6, nv)
    :param dvelocity_dv: by the velocity: the Jacobian, (6, nv)
    """

    velocity: ResultArray
    dvelocity_dq: ResultArray
    dvelocity_dv: ResultArray


FRAME_VELOCITY_DERIVATIVES = derivatives_of(
    frame_velocity,
    'frame_velocity_derivatives',
    by=('q', 'v'),
    result=FrameVelocityDerivatives,
)


class FrameAccelerationDerivatives(NamedTuple):
    """Rate of the spatial velocity of a frame, and its derivatives; by q along the velocities.

    :param acceleration: angular part first, (6,) [rad/s^2, m/s^2]
    :param dacceleration_dq: its derivatives by the configuration, (6, nv)
    :param dacceleration_dv: by the velocity, (6, nv)
    :param dacceleration_da: by the acceleration: the Jacobian, (6, nv)
    """

    acceleration: ResultArray
    dacceleration_dq: ResultArray
    dacceleration_dv: ResultArray
    dacceleration_da: ResultArray


FRAME_ACCELERATION_DERIVATIVES = derivatives_of(
    frame_acceleration,
    'frame_acceleration_derivatives',
    by=('q', 'v', 'a'),
    result=FrameAccelerationDerivatives,
)


class JacobianGradient(NamedTuple):
    """A Jacobian, and its derivatives along the velocities.

    :param J: Jacobian, (m, nv)
    :param dJ_dq: its derivatives by the configuration, which is the last axis, (m, nv, nv)
    """

    J: ResultArray
    dJ_dq: ResultArray


JACOBIAN_GRADIENT = derivatives_of(
    jacobian, 'jacobian_gradient', by=('q',), result=JacobianGradient
)

CENTER_OF_MASS_JACOBIAN_GRADIENT = derivatives_of(
    center_of_mass_jacobian,
    'center_of_mass_jacobian_gradient',
    by=('q',),
    result=JacobianGradient,
)


class MomentumDerivatives(NamedTuple):
    """Momentum about the center of mass and its derivatives; by q along the velocities.

    :param h: angular momentum first, (6,) [N m s, N s]
    :param dh_dq: its derivatives by the configuration, (6, nv)
    :param dh_dv: by the velocity: the centroidal momentum matrix, (6, nv)
    """

    h: ResultArray
    dh_dq: ResultArray
    dh_dv: ResultArray


CENTROIDAL_MOMENTUM_DERIVATIVES = derivatives_of(
    centroidal_momentum,
    'centroidal_momentum_derivatives',
    by=('q', 'v'),
    result=MomentumDerivatives,
)
