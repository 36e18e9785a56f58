# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Original recursive Newton-Euler algorithm, in 3-D vectors (book 5.4, table 5.2).

J. Y. S. Luh, M. W. Walker and R. P. C. Paul, "On-line computational scheme for mechanical
manipulators" (J. Dyn. Syst. Meas. Control 1980), for chains of revolute joints. Accelerations are
the classical ones of points, and no linear velocity is needed. Nothing of spatial vector algebra
is used: it is a second opinion on rnea.py.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, FORCE, VELOCITY
from rbd_ros.model import Body, Model, ModelError
from rbd_ros.spatial.linear3 import (
    add,
    apply,
    apply_transpose,
    cross,
    dot,
    full,
    Matrix3,
    negate,
    scale,
    Vector3,
    ZERO3,
)
from rbd_ros.spatial.scalar import is_zero, Scalar


class ChainDynamics(NamedTuple):
    """Results of table 5.2 for a chain, by body number, in body coordinates.

    :param tau: joint forces, (n,) [N m]
    :param w: angular velocities, (3,) each [rad/s]
    :param wd: angular accelerations [rad/s^2]
    :param vd: classical linear accelerations of the frames' origins, less gravity's [m/s^2]
    :param F: net forces on the bodies [N]
    :param N: net moments on the bodies about their centers of mass [N m]
    :param f: forces on the bodies through their joints [N]
    :param n: moments on them through their joints, about the frames' origins [N m]
    """

    tau: List[Scalar]
    w: Dict[int, Vector3]
    wd: Dict[int, Vector3]
    vd: Dict[int, Vector3]
    F: Dict[int, Vector3]
    N: Dict[int, Vector3]
    f: Dict[int, Vector3]
    n: Dict[int, Vector3]


def require_revolute_chain(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that a tree is a chain of revolute joints.

    :param runtime_bodies: bodies that get inertia at run time, which do not matter
    :param chosen: compile-time choices, likewise
    :raises ModelError: if it is not, naming a body or joint
    """
    for i, body in model.outward():
        if body.parent != i - 1:
            raise ModelError(
                f'body {body.name!r} branches off: this function supports unbranched chains only'
            )
        _axis(body)


@algorithm(
    'luh_walker_paul',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'qdd': ACCELERATION},
    outputs={'tau': FORCE},
    source='Luh, Walker and Paul 1980; RBDA table 5.2',
    check=require_revolute_chain,
    pinocchio_equivalent='rnea',
)
def luh_walker_paul(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> List[Scalar]:
    """Return the joint forces of a chain of revolute joints, as `rnea` does, (tree_nv,) [N m].

    :param q: joint angles, (tree_nq,) [rad]
    :param qd: their rates, (tree_nv,) [rad/s]
    :param qdd: their accelerations, (tree_nv,) [rad/s^2]
    :raises ModelError: if the model is no chain of revolute joints

    >>> np.allclose(robot.kernel('luh_walker_paul').function(q, v, a), tau)
    True
    """
    return chain_dynamics(model, q, qd, qdd).tau


def chain_dynamics(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar]
) -> ChainDynamics:
    """Return all variables of the table except the unused linear velocities.

    Rotor inertia is included in tau (book eq 9.28). Arguments are those of `luh_walker_paul`.

    :raises ModelError: if the model is no chain of revolute joints
    """
    require_revolute_chain(model, (), {})
    gx, gy, gz = model.gravity
    E, r = {}, {}
    w, wd, vd = {0: ZERO3}, {0: ZERO3}, {0: negate((gx, gy, gz))}
    F, N = {}, {}
    for i, body in model.outward():
        X = body.joint.transform(q[body.q]) * body.tree_transform
        E[i], r[i], z = X.E, X.r, _axis(body)
        (qd_i,), (qdd_i,) = qd[body.v], qdd[body.v]
        carried = apply(E[i], w[i - 1])
        w[i] = add(carried, scale(qd_i, z))
        wd[i] = add(add(apply(E[i], wd[i - 1]), scale(qdd_i, z)), cross(carried, scale(qd_i, z)))
        vd[i] = apply(E[i], _point(vd[i - 1], wd[i - 1], w[i - 1], r[i]))
        m, c, I_cm = _about_center(body)
        F[i] = scale(m, _point(vd[i], wd[i], w[i], c))
        N[i] = add(apply(I_cm, wd[i]), cross(w[i], apply(I_cm, w[i])))

    f: Dict[int, Vector3] = {}
    n: Dict[int, Vector3] = {}
    tau: List[Scalar] = [0.0] * model.tree_nv
    for i, body in model.inward():
        _, c, _ = _about_center(body)
        f[i], n[i] = F[i], add(N[i], cross(c, F[i]))
        if i + 1 in f:
            onward = apply_transpose(E[i + 1], f[i + 1])
            f[i] = add(f[i], onward)
            n[i] = add(add(n[i], apply_transpose(E[i + 1], n[i + 1])), cross(r[i + 1], onward))
        (qdd_i,) = qdd[body.v]
        tau[body.v] = [dot(_axis(body), n[i]) + body.armature * qdd_i]
    return ChainDynamics(tau, w, wd, vd, F, N, f, n)


def _point(vd: Vector3, wd: Vector3, w: Vector3, r: Vector3) -> Vector3:
    """Return the classical acceleration of a body's point at r from its origin, (3,) [m/s^2]."""
    return add(add(vd, cross(wd, r)), cross(w, cross(w, r)))


def _axis(body: Body) -> Vector3:
    """Return the direction z of a revolute joint's axis in body coordinates, (3,).

    :raises ModelError: if the joint does not just turn about a fixed axis through its origin
    """
    columns = body.joint.motion_subspace(body.joint.neutral()).columns
    if len(columns) != 1 or not all(is_zero(x) for x in columns[0].linear):
        raise ModelError(f'joint {body.joint_name!r} is not revolute, but {body.joint!r}')
    return columns[0].angular


def _about_center(body: Body) -> Tuple[Scalar, Vector3, Matrix3]:
    """Return the mass, center of mass and inertia about it.

    Those of a body without mass about its origin.
    """
    if is_zero(body.inertia.mass):
        return 0.0, ZERO3, full(body.inertia.I)
    return body.inertia.mass_center()
