# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Operational-space dynamics: the equation of motion of a task (Khatib 1987).

Lambda a + mu + p = F, with the task's acceleration a = J qdd + Jdot qd and tau = J^T F. The task
is the motion of a frame, or that of its origin alone.
"""

from typing import Any, List, Mapping, NamedTuple, Sequence

from rbd_ros.algorithms.array import Array
from rbd_ros.algorithms.articulated_body.matrices import (
    apply,
    dot,
    identity,
    inverse,
    Matrix,
    multiply,
    subtract,
    subtract_matrices,
    symmetric,
    transposed,
)
from rbd_ros.algorithms.articulated_body.operational_inertia import require_six_dofs
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT, Kind
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.inverse_dynamics.rnea import bias_force, gravity_torque
from rbd_ros.algorithms.kinds import CONFIGURATION, FRAME, MATRIX, REFERENCE, VELOCITY
from rbd_ros.algorithms.kinematics.frame_motion import frame_acceleration
from rbd_ros.algorithms.kinematics.jacobians import jacobian
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Frame, Model, ModelError
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]

_SOURCE = 'Khatib, IEEE J. Robotics and Automation 1987; RBDA eq 7.12'
_INPUTS: Mapping[str, Kind] = {
    'q': CONFIGURATION,
    'qd': VELOCITY,
    'frame': FRAME,
    'reference': REFERENCE,
}


def _rows(matrix: Matrix) -> List[Scalar]:
    return [x for row in matrix for x in row]


def _outputs(size: int) -> Mapping[str, Array]:
    return {
        'Lambda': Array('Lambda', 'operational-space inertia', '', (size, size), flat=_rows),
        'mu': Array('mu', 'force of the velocities', '[N m, N]', (size,)),
        'p': Array('p', 'force of gravity', '[N m, N]', (size,)),
        'J_bar': Array('J_bar', 'generalized inverse of J', '', ('nv', size), flat=_rows),
        'N': MATRIX,
    }


class OperationalDynamics(NamedTuple):
    """Equation of motion Lambda a + mu + p = F of a task of m dimensions.

    :param Lambda: operational-space inertia (J H^-1 J^T)^-1, (m, m)
    :param mu: force of Coriolis and centrifugal effects, (m,) [N m, N]
    :param p: force of gravity compensation, (m,) [N m, N]
    :param J_bar: dynamically consistent generalized inverse H^-1 J^T Lambda, (nv, m): J J_bar = 1,
        and F = J_bar^T tau is the task force of any generalized force
    :param N: null-space projection 1 - J^T J_bar^T, (nv, nv): generalized forces N tau do not
        accelerate the task
    """

    Lambda: ResultArray
    mu: ResultArray
    p: ResultArray
    J_bar: ResultArray
    N: ResultArray


@algorithm(
    'operational_dynamics',
    inputs=_INPUTS,
    outputs=_outputs(6),
    coordinates=INDEPENDENT,
    result=OperationalDynamics,
    source=_SOURCE,
    check=require_six_dofs,
)
def operational_dynamics(
    model: Model, q: Scalars, qd: Scalars, frame: Frame, reference: str
) -> OperationalDynamics:
    """Return the dynamics of the motion of a frame, of six dimensions.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param frame: the frame, with its place on its body
    :param reference: coordinates of motion and force; see `jacobian`
    """
    return task_dynamics(model, q, qd, frame, reference, slice(0, 6))


def require_three_dofs(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that a point can move in all directions, determined by forces.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices, including 'frame'
    :raises ModelError: if it cannot
    """
    require_regular_mass_matrix(model, runtime_bodies, chosen)
    name = chosen['frame']
    dofs = {model.tree_dof_index[k] for k in model.support_dofs(model.frame(name).body)}
    if len(dofs) < 3:
        raise ModelError(
            f'frame {name!r} has {len(dofs)} of the 3 degrees of freedom that the dynamics '
            'of its origin require'
        )


@algorithm(
    'translational_operational_dynamics',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'frame': FRAME},
    outputs=_outputs(3),
    coordinates=INDEPENDENT,
    result=OperationalDynamics,
    source=_SOURCE,
    check=require_three_dofs,
)
def translational_operational_dynamics(
    model: Model, q: Scalars, qd: Scalars, frame: Frame
) -> OperationalDynamics:
    """Return the three-dimensional dynamics of a frame's origin along the axes of the base.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param frame: the frame, with its place on its body
    """
    return task_dynamics(model, q, qd, frame, 'aligned', slice(3, 6))


def task_dynamics(
    model: Model, q: Scalars, qd: Scalars, frame: Frame, reference: str, rows: slice
) -> OperationalDynamics:
    """Return the dynamics of some components of the motion of a frame.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param frame: the frame, with its place on its body
    :param reference: coordinates of motion and force; see `jacobian`
    :param rows: the components
    """
    tree_q, tree_qd = model.tree_position(q), model.tree_velocity(qd)
    still = [0.0] * model.tree_nv
    J = model.independent_columns(jacobian(model, tree_q, frame, reference)[rows])
    Jdot_qd = list(frame_acceleration(model, tree_q, tree_qd, still, frame, reference))[rows]
    gravity = model.independent_force(gravity_torque(model, tree_q))
    C = model.independent_force(bias_force(model, tree_q, tree_qd))

    factors = ltdl(mass_matrix(model, q))
    H_inverse_JT = transposed([factors.solve(row) for row in J])
    Lambda = inverse(symmetric(multiply(J, H_inverse_JT)))
    J_bar = multiply(H_inverse_JT, Lambda)
    J_bar_T = transposed(J_bar)
    mu = subtract(apply(J_bar_T, subtract(C, gravity)), apply(Lambda, Jdot_qd))
    p = [dot(column, gravity) for column in J_bar_T]
    N = subtract_matrices(identity(model.nv), multiply(transposed(J), J_bar_T))
    return OperationalDynamics(Lambda, mu, p, J_bar, N)
