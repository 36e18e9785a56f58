# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertia of the whole robot at a frame: operational-space inertia (Khatib 1987).

Its inverse, J H^-1 J^T, follows from factors of the inertia matrix, in cubic time of the number of
joints, or from articulated-body inertias, in linear time: the latter where they take fewer
operations, without gears (see forward_dynamics.py).
"""

from typing import Any, List, Mapping, Sequence

from rbd_ros.algorithms.articulated_body.aba import plus_diagonal, times_inverse
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT, Kind
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.kinds import CONFIGURATION, FRAME, REFERENCE, SPATIAL_MATRIX
from rbd_ros.algorithms.kinematics.jacobians import jacobian
from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.model import Frame, Model, ModelError
from rbd_ros.spatial import ArticulatedBodyInertia, ForceVector
from rbd_ros.spatial.scalar import Scalar

Matrix = List[List[Scalar]]

# Maximum DoFs between base and frame for which the inertia matrix takes fewer operations.
_SHORT_PATH = 15

_SOURCE = (
    'Khatib, IEEE J. Robotics and Automation 1987; '
    'Kreutz-Delgado, Jain and Rodriguez, Int. J. Robotics Research 1992'
)
_INPUTS: Mapping[str, Kind] = {'q': CONFIGURATION, 'frame': FRAME, 'reference': REFERENCE}


@algorithm(
    'inverse_operational_inertia',
    inputs=_INPUTS,
    outputs={'mobility': SPATIAL_MATRIX},
    coordinates=INDEPENDENT,
    source=_SOURCE,
    check=require_regular_mass_matrix,
)
def inverse_operational_inertia(
    model: Model, q: Sequence[Scalar], frame: Frame, reference: str
) -> Matrix:
    """Return the acceleration of a frame per unit of spatial force on it, J H^-1 J^T, (6, 6).

    Its rank is below six where the robot cannot move the frame in all directions.

    :param q: independent configuration, (nq,) [rad, m]
    :param frame: the frame, with its place on its body
    :param reference: coordinates of motion and force; see `jacobian`
    """
    path = sum(model.body(i).joint.nv for i in model.support(frame.body))
    if model.couplings or path <= _SHORT_PATH:
        return mobility_by_inertia_matrix(model, q, frame, reference)
    return mobility_by_articulated_bodies(model, q, frame, reference)


def mobility_by_inertia_matrix(
    model: Model, q: Sequence[Scalar], frame: Frame, reference: str
) -> Matrix:
    """Return the inverse operational-space inertia by factors of H, gears included.

    With H = L^T D L it is Y^T D^-1 Y, where L^T Y = J^T. Arguments are those of
    `inverse_operational_inertia`.
    """
    tree_q = model.tree_position(q)
    H = mass_matrix(model, q)
    J = model.independent_columns(jacobian(model, tree_q, frame, reference))
    factors = ltdl(H)
    Y = [factors.solve_transposed(row) for row in J]
    scaled = [[d * y for d, y in zip(factors.D_inverse, column)] for column in Y]
    return _gram_matrix(Y, scaled)


def mobility_by_articulated_bodies(
    model: Model, q: Sequence[Scalar], frame: Frame, reference: str
) -> Matrix:
    """Return the inverse operational-space inertia of a tree without gears by ABA.

    Six unit forces on the frame are propagated to the base. Joint i yields to the arriving force
    F_i, with the force e_i = S_i^T F_i along its degree of freedom, and its parent gets the rest,
    X_i^T (1 - U_i D_i^-1 S_i^T) F_i. As H^-1 has the factors of these two, J H^-1 J^T is the sum
    of e_i^T D_i^-1 e_i over the joints that carry the frame (Kreutz-Delgado, Jain and Rodriguez,
    "Recursive formulation of operational space control", 1992). Arguments are those of
    `inverse_operational_inertia`.
    """
    X, S, IA, U, D = {}, {}, {}, {}, {}
    for i, body in model.outward():
        X[i] = body.joint.transform(q[body.q]) * body.tree_transform
        S[i] = body.joint.motion_subspace(q[body.q])
        IA[i] = ArticulatedBodyInertia.from_rigid(body.inertia)
    for i, body in model.inward():
        U[i] = [IA[i] * s for s in S[i].columns]
        rotor = [body.armature] * body.joint.nv
        D[i] = ltdl(plus_diagonal([S[i].T @ column for column in U[i]], rotor))
        if body.parent != 0:
            Ia = IA[i]
            for column, scaled in zip(U[i], times_inverse(U[i], D[i])):
                Ia = Ia.minus_dyad(scaled, column)
            IA[body.parent] = IA[body.parent] + X[i].inverse_apply(Ia)

    F = _unit_forces(model, q, frame, reference)
    e: List[List[Scalar]] = [[] for _ in F]
    e_D: List[List[Scalar]] = [[] for _ in F]
    for i in model.support(frame.body):
        for k, force in enumerate(F):
            along = S[i].T @ force
            yielding = D[i].solve(along)
            e[k] += along
            e_D[k] += yielding
            for column, x in zip(U[i], yielding):
                force = force - column * x
            F[k] = X[i].inverse_apply(force)
    return _gram_matrix(e, e_D)


def _unit_forces(
    model: Model, q: Sequence[Scalar], frame: Frame, reference: str
) -> List[ForceVector]:
    """Return the unit forces on a frame, in coordinates of its body, angular ones first.

    :param reference: coordinates of the forces; see `jacobian`
    """
    units = [ForceVector.from_array([float(i == j) for j in range(6)]) for i in range(6)]
    if reference == 'body':
        return [frame.placement.inverse_apply(force) for force in units]
    X0 = body_transforms(model, q)[frame.body]
    if reference == 'aligned':
        origin = (frame.placement * X0).r
        units = [ForceVector.at_point(x.linear, origin, x.moment) for x in units]
    return [X0.apply(force) for force in units]


def _gram_matrix(rows: Matrix, scaled: Matrix) -> Matrix:
    """Return the products of each row with each of the scaled ones, (6, 6), bitwise symmetric."""
    lower = [
        [sum((x * y for x, y in zip(rows[i], scaled[j])), 0.0) for j in range(i + 1)]
        for i in range(6)
    ]
    return [[lower[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)]


def require_six_dofs(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that a frame can move in all directions, determined by forces.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices, including 'frame'
    :raises ModelError: if it cannot
    """
    require_regular_mass_matrix(model, runtime_bodies, chosen)
    name = chosen['frame']
    body = model.frame(name).body
    dofs = {model.tree_dof_index[k] for k in model.support_dofs(body)}
    if len(dofs) < 6:
        raise ModelError(
            f'frame {name!r} has {len(dofs)} of the 6 degrees of freedom that an '
            'operational-space inertia requires; use inverse_operational_inertia'
        )


@algorithm(
    'operational_inertia',
    inputs=_INPUTS,
    outputs={'inertia': SPATIAL_MATRIX},
    coordinates=INDEPENDENT,
    source=_SOURCE,
    check=require_six_dofs,
)
def operational_inertia(model: Model, q: Sequence[Scalar], frame: Frame, reference: str) -> Matrix:
    """Return the spatial force on a frame per acceleration: (J H^-1 J^T)^-1, (6, 6).

    It grows without bound where the Jacobian loses rank.

    :param q: independent configuration, (nq,) [rad, m]
    :param frame: the frame, with its place on its body
    :param reference: coordinates of motion and force; see `jacobian`
    """
    factors = ltdl(inverse_operational_inertia(model, q, frame, reference))
    columns = [factors.solve([1.0 if i == j else 0.0 for i in range(6)]) for j in range(6)]
    return [[columns[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)]
