# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loops in closed form: q = gamma(y) of independent variables y (book 8.11, 9.6).

If a loop or a gear has a closed-form solution, the user writes it as a function of scalars:

    def gamma(y):  # a crank whose slider is moved by a rod as long as the crank
        return [y[0], -2.0 * y[0], 2.0 * length * cos(y[0])]

Its derivatives follow. Only y is integrated, so loops stay closed without stabilization, and the
dynamics has as many variables as there are degrees of freedom.
"""

from __future__ import annotations

from typing import Any, Callable, List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.closed_loops.jets import Jet, jet
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.model import Model, ModelError
from rbd_ros.model.joints import JointType
from rbd_ros.spatial import ForceVector, scalar
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]
#: From independent variables to the positions of all joints of the tree.
LoopFunction = Callable[[Scalars], Scalars]


class ExplicitMotion(NamedTuple):
    """Motion of all joints by that of the independent variables.

    :param q: positions of the tree, gamma(y), (tree_nq,) [rad, m]
    :param qd: velocities of the tree, G yd, (tree_nv,) [rad/s, m/s]
    :param G: derivative of gamma by y, (tree_nv, n - r)
    :param g: accelerations of the tree at ydd = 0, Gdot yd, (tree_nv,) [rad/s^2, m/s^2]
    """

    q: Any
    qd: Any
    G: Any
    g: Any


def explicit_motion(gamma: LoopFunction, y: Scalars, yd: Scalars) -> ExplicitMotion:
    """Return the value and derivatives of a loop-closure function (book eq 8.56 to 8.60).

    :param gamma: positions of all joints by the independent variables, a function of scalars
    :param y: independent variables, (n - r,)
    :param yd: their rates, (n - r,)

    >>> from rbd_ros.textbook.closed_loops.explicit_loops import explicit_motion
    >>> motion = explicit_motion(lambda y: [y[0], y[0] * y[0]], [0.5], [2.0])
    >>> motion.q, motion.qd, motion.G, motion.g  # qdd = G ydd + g
    ([0.5, 0.25], [2.0, 2.0], [[1.0], [1.0]], [0.0, 8.0])
    """
    along = [jet(x) for x in gamma([Jet(x, rate) for x, rate in zip(y, yd)])]
    columns = []
    for k in range(len(y)):
        moved = gamma([Jet(x, 1.0 if i == k else 0.0) for i, x in enumerate(y)])
        columns.append([jet(x).d for x in moved])
    return ExplicitMotion(
        [x.x for x in along],
        [x.d for x in along],
        [[column[i] for column in columns] for i in range(len(along))],
        [x.dd for x in along],
    )


def explicit_forward_dynamics(
    model: Model,
    gamma: LoopFunction,
    y: Scalars,
    yd: Scalars,
    tau: Scalars,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the accelerations ydd of G^T H G ydd = G^T (tau - C - H g) (book eq 8.45, 9.26).

    :param model: the spanning tree; gamma replaces its loop joints and gears
    :param gamma: positions of all joints by the independent variables
    :param y: independent variables, (n - r,)
    :param yd: their rates, (n - r,)
    :param tau: forces of all joints of the tree, (tree_nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: accelerations of the independent variables, (n - r,)
    :raises ModelError: for a joint whose velocity is not the rate of its position, or a gamma of
        another length

    >>> from rbd_ros.textbook.closed_loops.explicit_loops import explicit_forward_dynamics
    >>> parallelogram = lambda y: [y[0], -y[0], y[0]]
    >>> ydd = explicit_forward_dynamics(chain, parallelogram, [0.5], [1.0], [0.0, 0.0, 0.0])
    >>> np.round(ydd, 3)  # [rad/s^2]
    array([-26.673])
    """
    q, qd, G, g = _motion_of(model, gamma, y, yd)
    H = crba(model, q)
    # ID(q, qd, g) = C + H g
    bias = rnea(model, q, qd, g, external_forces)
    force = transposed_product(G, [t - b for t, b in zip(tau, bias)])
    return ltdl(reduced_inertia(H, G)).solve(force)


def explicit_inverse_dynamics(
    model: Model,
    gamma: LoopFunction,
    y: Scalars,
    yd: Scalars,
    ydd: Scalars,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the forces tau_ID of the tree for an acceleration ydd (book eq 8.62).

    Any forces with the same G^T tau cause this acceleration; G^T tau_ID are those on y itself.

    :param model: the spanning tree, as for `explicit_forward_dynamics`
    :param ydd: accelerations of the independent variables, (n - r,)
    :return: generalized forces of all joints, (tree_nv,) [N m, N]
    :raises ModelError: as `explicit_forward_dynamics`

    >>> from rbd_ros.textbook.closed_loops.explicit_loops import explicit_inverse_dynamics
    >>> parallelogram = lambda y: [y[0], -y[0], y[0]]
    >>> forces = explicit_inverse_dynamics(chain, parallelogram, [0.5], [1.0], [0.0])
    >>> np.round(forces, 3)  # of the joints of the tree [N m]
    array([3.942, 1.488, 0.284])
    """
    q, qd, G, g = _motion_of(model, gamma, y, yd)
    qdd = [sum((x * a for x, a in zip(row, ydd)), rest) for row, rest in zip(G, g)]
    return rnea(model, q, qd, qdd, external_forces)


def reduced_inertia(H: Sequence[Scalars], G: Sequence[Scalars]) -> List[List[Scalar]]:
    """Return the inertia matrix G^T H G of the independent variables, (n - r, n - r).

    Book eq 8.46, 9.27.

    Known zeros and ones of symbols cost nothing: G has few other elements.

    :param H: inertia matrix of the tree, (n, n), symmetric
    :param G: derivative of gamma, (n, n - r)
    """
    n, m = len(G), len(G[0]) if len(G) else 0
    result: List[List[Scalar]] = [[0.0] * m for _ in range(m)]
    for k in range(m):
        # Column k of H G
        column = [_dot(H[i], [G[j][k] for j in range(n)]) for i in range(n)]
        for row in range(k + 1):
            result[row][k] = result[k][row] = _dot([G[i][row] for i in range(n)], column)
    return result


def transposed_product(G: Sequence[Scalars], tau: Scalars) -> List[Scalar]:
    """Return the forces G^T tau on the independent variables, (n - r,).

    :param G: derivative of gamma, (n, n - r)
    :param tau: forces of all joints, (n,)
    """
    return [_dot([row[k] for row in G], tau) for k in range(len(G[0]) if len(G) else 0)]


def four_quadrant_angle(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the point (x, y), -pi to pi [rad], for loop-closure functions.

    :param y: scalar, which may be a jet or a symbol
    :param x: likewise; not both are zero
    """
    if isinstance(x, Jet) or isinstance(y, Jet):
        return scalar.four_quadrant_angle(jet(y), jet(x))
    return scalar.four_quadrant_angle(y, x)


def _motion_of(model: Model, gamma: LoopFunction, y: Scalars, yd: Scalars) -> ExplicitMotion:
    """Return the motion of the joints of a model.

    :raises ModelError: for joints that gamma cannot move, or a wrong number of positions
    """
    for body in model.bodies:
        if type(body.joint).position_rate is not JointType.position_rate:
            raise ModelError(
                f'joint {body.joint_name!r}: a loop-closure function returns positions, but '
                f'their rates are not the velocities of {body.joint!r}'
            )
    motion = explicit_motion(gamma, y, yd)
    if len(motion.q) != model.tree_nq:
        raise ModelError(
            f'the loop-closure function returns {len(motion.q)} positions, but the tree has '
            f'{model.tree_nq}'
        )
    return motion


def _dot(a: Scalars, b: Scalars) -> Scalar:
    return sum((x * y for x, y in zip(a, b)), 0.0)
