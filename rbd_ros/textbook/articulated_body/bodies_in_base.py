# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Bodies and joints of a tree before they are assembled, all in base coordinates."""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np

from rbd_ros.algorithms.array import Array
from rbd_ros.algorithms.articulated_body.matrices import (
    apply,
    inverse,
    Matrix,
    rows_of,
    Vector,
)
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model, ModelError
from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    MotionVector,
    PluckerTransform,
)
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.articulated_body.articulated_assembly import joint_force, JointForce
from rbd_ros.textbook.articulated_body.articulated_inertias import require_no_gears

Scalars = Sequence[Scalar]


def _rows(matrix: Sequence[Scalars]) -> Scalars:
    return [x for row in matrix for x in row]


CONSTRAINT_FORCES = Array(
    'constraint_forces',
    'constraint force [n; f] of the joint of each body, in its coordinates',
    '[N m, N]',
    ('bodies', 6),
    flat=_rows,
)


class AssembledDynamics(NamedTuple):
    """Motion of a tree that was assembled joint by joint, and its constraint forces.

    :param a: acceleration, (nv,) [rad/s^2, m/s^2]
    :param constraint_forces: part of the force from the parent to each body, in the coordinates of
        that body, that does no work, (bodies, 6) [N m, N]
    """

    a: ResultArray
    constraint_forces: ResultArray


class BodiesInBase(NamedTuple):
    """Bodies and joints by body number, in base coordinates; body 0 is the base.

    :param X0: transforms from base to body coordinates
    :param I: inertias, (6, 6)
    :param p: bias forces, external forces included, (6,)
    :param c: velocity-product accelerations of the joints, (6,)
    :param joint: forces transmitted by the joints
    :param a0: acceleration of the base, which represents gravity, (6,)
    """

    X0: Dict[int, PluckerTransform]
    I: Dict[int, Matrix]
    p: Dict[int, Vector]
    c: Dict[int, Vector]
    joint: Dict[int, JointForce]
    a0: Vector

    def inverse_inertia(self, i: int) -> Matrix:
        """Return the inverse of the inertia of body `i`; zero for the base."""
        return inverse(self.I[i]) if i else [[0.0] * 6 for _ in range(6)]

    def bias_acceleration(self, i: int, Phi: Matrix) -> Vector:
        """Return bias acceleration -Phi p of body `i`; that of the base is its acceleration."""
        return [-x for x in apply(Phi, self.p[i])] if i else self.a0

    def in_body(self, i: int, force: Vector) -> List[Scalar]:
        """Return the force in the coordinates of body `i`, (6,)."""
        return list(self.X0[i].apply(ForceVector.from_array(force)))


def bodies_in_base(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> BodiesInBase:
    """Return the inertias, bias forces and joints of a tree without gears.

    :param q: configuration, (nq,) [rad, m]
    :param qd: velocity, (nv,) [rad/s, m/s]
    :param tau: generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    X0, v = {0: PluckerTransform.identity()}, {0: MotionVector.zero()}
    I, p, c, joints = {}, {}, {}, {}
    for i, body in model.outward():
        joint = body.joint.calc(q[body.q], qd[body.v])
        X = joint.X * body.tree_transform
        X0[i] = X * X0[body.parent]
        v[i] = X * v[body.parent] + joint.v
        bias = X0[i].inverse_apply(v[i].cross(body.inertia * v[i]))
        force = (external_forces or {}).get(i)
        I[i] = rows_of(ArticulatedBodyInertia.from_rigid(X0[i].inverse_apply(body.inertia)))
        p[i] = list(bias if force is None else bias - force)
        c[i] = list(X0[i].inverse_apply(joint.c + v[i].cross(joint.v)))
        joints[i] = joint_force(body, q[body.q], tau[body.v], X0[i])
    return BodiesInBase(X0, I, p, c, joints, list(-gravity_acceleration(model)))


def require_inertias(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that each body has an invertible inertia, and that there are no gears.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices
    :raises ModelError: if one has none
    """
    require_no_gears(model, runtime_bodies, chosen)
    flat = []
    for i, body in model.outward():
        I = body.inertia.matrix()
        size = np.sqrt(np.abs(np.diag(I)))
        if i in runtime_bodies:
            continue
        if not size.all() or np.linalg.eigvalsh(I / np.outer(size, size))[0] < 1e-12:
            flat.append(body.name)
    if flat:
        raise ModelError(
            'this function needs the inverse inertia of each body, which does not exist for '
            f'{", ".join(map(repr, flat))}; use forward_dynamics'
        )
