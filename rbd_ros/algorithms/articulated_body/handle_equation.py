# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Articulated-body equation of a handle: the response of a frame to a force (book 7.1, 7.2.1).

The articulated body is the whole robot, with its base, its gears and its forces; the handle is any
frame of it. Two forms: a = Phi f + b, which always exists (eq 7.3), and f = I a + p, for a handle
with six degrees of freedom (eq 7.2).
"""

from typing import Any, List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.articulated_body.matrices import apply, inverse
from rbd_ros.algorithms.articulated_body.operational_inertia import (
    inverse_operational_inertia,
    require_six_dofs,
)
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT, Kind
from rbd_ros.algorithms.inertia_matrix.forward_dynamics import forward_dynamics
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.kinds import (
    CONFIGURATION,
    EXTERNAL_FORCES,
    FORCE,
    FRAME,
    REFERENCE,
    SPATIAL_MATRIX,
    TWIST_RATE,
    VELOCITY,
    WRENCH,
)
from rbd_ros.algorithms.kinematics.frame_motion import frame_acceleration
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Frame, Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]
Forces = Optional[Mapping[int, ForceVector]]

INPUTS: Mapping[str, Kind] = {
    'q': CONFIGURATION,
    'qd': VELOCITY,
    'tau': FORCE,
    'frame': FRAME,
    'reference': REFERENCE,
    'external_forces': EXTERNAL_FORCES,
}


class HandleResponse(NamedTuple):
    """Coefficients of a = Phi f + b.

    :param Phi: articulated-body inverse inertia, (6, 6), as acceleration by force
    :param b: bias acceleration, without a force on the handle, (6,) [rad/s^2, m/s^2]
    """

    Phi: ResultArray
    b: ResultArray


class HandleEquation(NamedTuple):
    """Coefficients of f = I a + p.

    :param I: articulated-body inertia, (6, 6) [kg m^2, kg m, kg]
    :param p: bias force at zero acceleration of the handle, (6,) [N m, N]
    """

    I: ResultArray
    p: ResultArray


@algorithm(
    'handle_response',
    inputs=INPUTS,
    outputs={'Phi': SPATIAL_MATRIX, 'b': TWIST_RATE},
    coordinates=INDEPENDENT,
    result=HandleResponse,
    source='RBDA eq 7.3, 7.9 and 7.10',
    check=require_regular_mass_matrix,
)
def handle_response(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    frame: Frame,
    reference: str,
    external_forces: Forces = None,
) -> HandleResponse:
    """Return the inverse inertia and bias acceleration of a frame.

    Phi = J H^-1 J^T, b = Jdot qd - J H^-1 C.

    C includes all forces but the one on the handle (book eq 7.5), so b is the acceleration of the
    frame in forward dynamics.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param tau: independent generalized forces, (nv,) [N m, N]
    :param frame: the frame, with its place on its body
    :param reference: coordinates of motion and force; see `jacobian`
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    Phi = inverse_operational_inertia(model, q, frame, reference)
    return HandleResponse(
        Phi, bias_acceleration(model, q, qd, tau, frame, reference, external_forces)
    )


@algorithm(
    'handle_equation',
    inputs=INPUTS,
    outputs={'I': SPATIAL_MATRIX, 'p': WRENCH},
    coordinates=INDEPENDENT,
    result=HandleEquation,
    source='RBDA eq 7.2, 7.12 and 7.13',
    check=require_six_dofs,
)
def handle_equation(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    frame: Frame,
    reference: str,
    external_forces: Forces = None,
) -> HandleEquation:
    """Return the articulated-body inertia and bias force of a frame: I = Phi^-1, p = -I b.

    Arguments are those of `handle_response`.
    """
    found: Any = handle_response(model, q, qd, tau, frame, reference, external_forces)
    Phi, b = found
    I = inverse(Phi)
    return HandleEquation(I, [-x for x in apply(I, b)])


def bias_acceleration(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    frame: Frame,
    reference: str,
    external_forces: Forces = None,
) -> List[Scalar]:
    """Return the acceleration of a frame in the motion of the robot without a force on it, (6,).

    Arguments are those of `handle_response`.
    """
    qdd = forward_dynamics(model, q, qd, tau, external_forces)
    tree_q = model.tree_position(q)
    tree_qd, tree_qdd = model.tree_velocity(qd), model.tree_velocity(qdd)
    return list(frame_acceleration(model, tree_q, tree_qd, tree_qdd, frame, reference))
