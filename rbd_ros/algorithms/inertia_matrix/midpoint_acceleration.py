# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mean acceleration of a time step whose forces act in its middle.

A Stoermer-Verlet step moves halfway, changes the velocity by the forces there, and moves on.
Forces that depend on velocity are those of the mean velocity of the step, which makes the method
symmetric in time (Hairer, Lubich and Wanner 2006, II.3 and V.1); fixed-point iteration solves for
it. Everything that depends on the configuration alone, including articulated inertias, is the same
in all rounds: on symbols, it is in the kernel once.
"""

from typing import Any, Callable, List, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT, REDUCED
from rbd_ros.algorithms.hinge_trees.hinge_forward_dynamics import (
    hinge_forward_dynamics,
    require_regular_hinges,
)
from rbd_ros.algorithms.hinge_trees.hinge_frames import has_free_hinges
from rbd_ros.algorithms.inertia_matrix.forward_dynamics import forward_dynamics
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, DIAGONAL, FORCE, TIME, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial.scalar import Scalar

#: Rounds of the iteration. Each leaves h |v| times the error of the one before.
ROUNDS = 3

INPUTS = {
    'q': CONFIGURATION,
    'qd': VELOCITY,
    'tau': FORCE,
    'dt': TIME,
    'diagonal': DIAGONAL,
}


@algorithm(
    'hinge_midpoint_acceleration',
    inputs=INPUTS,
    outputs={'a': ACCELERATION},
    coordinates=INDEPENDENT,
    model=REDUCED,
    source='Hairer, Lubich, Wanner 2006, II.3; Saha 1999, 5.2',
    check=require_regular_hinges,
)
def hinge_midpoint_acceleration(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Sequence[Scalar],
    diagonal: Sequence[Scalar],
) -> List[Scalar]:
    """Return `midpoint_acceleration` for trees of revolute joints without mimic joints.

    :param q: configuration in the middle of the step, (nq,) [rad]
    :param qd: velocity at its beginning, (nv,) [rad/s]
    :param tau: generalized forces, (nv,) [N m]
    :param dt: duration of the step, (1,) [s]
    :param diagonal: added to the diagonal of the inertia matrix per dt, (nv,) [N m s/rad]
    :return: mean acceleration, (nv,) [rad/s^2]

    >>> a = robot.kernel('hinge_midpoint_acceleration').function(q, v, tau, 1e-3)
    >>> np.allclose(a, robot.kernel('midpoint_acceleration').function(q, v, tau, 1e-3))
    True
    """
    return _iterate(hinge_forward_dynamics, model, q, qd, tau, dt, diagonal)


@algorithm(
    'midpoint_acceleration',
    inputs=INPUTS,
    outputs={'a': ACCELERATION},
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='Hairer, Lubich, Wanner 2006, II.3',
    check=require_regular_mass_matrix,
    specialization=hinge_midpoint_acceleration,
    applicable_when=has_free_hinges,
)
def midpoint_acceleration(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Sequence[Scalar],
    diagonal: Sequence[Scalar],
) -> List[Scalar]:
    """Return the mean acceleration a of a step: (H + dt diag) a = tau - C(q, qd + dt/2 a).

    With half of the damping coefficients as `diagonal` and tau less the damping of `qd`, damping
    acts on the mean velocity; with all of them, on the velocity at the end.

    :param q: independent configuration in the middle of the step, (nq,) [rad, m]
    :param qd: independent velocity at its beginning, (nv,) [rad/s, m/s]
    :param tau: independent generalized forces, (nv,) [N m, N]
    :param dt: duration of the step, (1,) [s]
    :param diagonal: added to the diagonal of the inertia matrix per dt, (nv,) [N m s/rad, N s/m]
    :return: independent mean acceleration, (nv,) [rad/s^2, m/s^2]
    :raises ZeroDivisionError: if the inertia at a joint is the constant 0

    >>> kernel = robot.kernel('midpoint_acceleration').function
    >>> a = kernel(q, v, tau, 1e-3)
    >>> np.allclose(robot.forward_dynamics(q, v + 0.5e-3 * a, tau), a, rtol=1e-6)
    True
    """
    return _iterate(forward_dynamics, model, q, qd, tau, dt, diagonal)


def _iterate(
    dynamics: Callable[..., List[Scalar]],
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    dt: Sequence[Scalar],
    diagonal: Sequence[Any],
) -> List[Scalar]:
    """Return the fixed-point iteration for the acceleration at the mean velocity."""
    added = [dt[0] * x for x in diagonal]
    a = dynamics(model, q, qd, tau, None, added)
    for _ in range(ROUNDS - 1):
        mean = [v + 0.5 * dt[0] * x for v, x in zip(qd, a)]
        a = dynamics(model, q, mean, tau, None, added)
    return a
