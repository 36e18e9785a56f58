# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Response of several handles to forces on each of them, cross-coupling included (book eq 7.4)."""

from typing import List, NamedTuple, Sequence, Tuple

from rbd_ros.algorithms.articulated_body.handle_equation import Forces
from rbd_ros.algorithms.articulated_body.matrices import dot, Matrix
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inertia_matrix.forward_dynamics import forward_dynamics
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.kinds import (
    CONFIGURATION,
    EXTERNAL_FORCES,
    FORCE,
    FRAMES,
    FRAMES_MATRIX,
    FRAMES_TWIST_RATE,
    REFERENCE,
    VELOCITY,
)
from rbd_ros.algorithms.kinematics.frame_motion import frame_acceleration
from rbd_ros.algorithms.kinematics.jacobians import jacobian
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Frame, Model
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]


class MultiHandleResponse(NamedTuple):
    """Coefficients of a = Phi f + b, in which the vectors of h handles are stacked.

    :param Phi: inverse inertia, (6 h, 6 h); block (i, j) is the acceleration of handle i that a
        force on handle j causes
    :param b: bias accelerations, (6 h,) [rad/s^2, m/s^2]
    """

    Phi: ResultArray
    b: ResultArray


@algorithm(
    'multi_handle_inverse_inertia',
    inputs={'q': CONFIGURATION, 'frames': FRAMES, 'reference': REFERENCE},
    outputs={'Phi': FRAMES_MATRIX},
    coordinates=INDEPENDENT,
    source='RBDA eq 7.4 and 7.9',
    check=require_regular_mass_matrix,
)
def multi_handle_inverse_inertia(
    model: Model, q: Scalars, frames: Tuple[Frame, ...], reference: str
) -> Matrix:
    """Return the accelerations of some frames per unit force on each: J H^-1 J^T with J stacked.

    By the projection method, on the factors of the inertia matrix: with H = L^T D L it is
    Y^T D^-1 Y, where L^T Y = J^T.

    :param q: independent configuration, (nq,) [rad, m]
    :param frames: the frames, with their places on their bodies
    :param reference: coordinates of motions and forces; see `jacobian`
    :return: (6 h, 6 h) for h frames, bitwise symmetric
    """
    tree_q = model.tree_position(q)
    J: Matrix = []
    for frame in frames:
        J += model.independent_columns(jacobian(model, tree_q, frame, reference))
    factors = ltdl(mass_matrix(model, q))
    Y = [factors.solve_transposed(row) for row in J]
    scaled = [[d * y for d, y in zip(factors.D_inverse, column)] for column in Y]
    n = range(len(J))
    lower = [[dot(Y[i], scaled[j]) for j in range(i + 1)] for i in n]
    return [[lower[max(i, j)][min(i, j)] for j in n] for i in n]


@algorithm(
    'multi_handle_response',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'frames': FRAMES,
        'reference': REFERENCE,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'Phi': FRAMES_MATRIX, 'b': FRAMES_TWIST_RATE},
    coordinates=INDEPENDENT,
    result=MultiHandleResponse,
    source='RBDA eq 7.4 to 7.10',
    check=require_regular_mass_matrix,
)
def multi_handle_response(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    frames: Tuple[Frame, ...],
    reference: str,
    external_forces: Forces = None,
) -> MultiHandleResponse:
    """Return the inverse inertia and bias accelerations of some frames together.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param tau: independent generalized forces, (nv,) [N m, N]
    :param frames: the frames, with their places on their bodies
    :param reference: coordinates of motions and forces; see `jacobian`
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    qdd = forward_dynamics(model, q, qd, tau, external_forces)
    tree_q = model.tree_position(q)
    tree_qd, tree_qdd = model.tree_velocity(qd), model.tree_velocity(qdd)
    b: List[Scalar] = []
    for frame in frames:
        b += frame_acceleration(model, tree_q, tree_qd, tree_qdd, frame, reference)
    return MultiHandleResponse(multi_handle_inverse_inertia(model, q, frames, reference), b)
