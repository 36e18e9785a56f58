# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of inverse dynamics by a recursion in the coordinates of each body.

The sums of analytical_derivatives.py, with the same symbols, each in the coordinates of the body
that carries them: motion subspaces are constants there, most of them zeros, and a product with an
inertia is one of its columns. In return vectors are transformed from body to body on the way to
the base. If axes are parallel to coordinate axes that is much cheaper.

The coordinates of body i belong to an observer who moves, without rotation, with the point of the
parent at the origin of body i. Forces are the same for this observer. The parent has no linear
velocity, and its acceleration is the classical one of that point (book 2.11), as in rnea.py.
Velocity-dependent quantities change with the observer: for a relative velocity c, bodies with
first moment of mass h and momentum f have

    P' = P - c h^T + (h . c) 1,   f' = f + m c,   B'^T s = B^T s + c x p,  p = linear part of I s
"""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.derivatives.analytical_derivatives import (
    analytical_derivatives,
    INVERSE_DYNAMICS_OUTPUTS,
    InverseDynamicsDerivatives,
    require_constant_subspaces,
)
from rbd_ros.algorithms.inverse_dynamics.coriolis import VelocityFactor
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration, to_body_coordinates
from rbd_ros.algorithms.inverse_dynamics.rnea import body_force
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import (
    ForceVector,
    linear3,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.linear3 import add, apply, apply_transpose, cross, dot, Vector3, ZERO3
from rbd_ros.spatial.rotation import rotation_rates
from rbd_ros.spatial.scalar import Scalar, simd_hint

# With more DoFs, counting operations takes too long: scalar products are compiled in a fraction of
# the time.
_VERY_MANY_DOFS = 60


def has_very_many_dofs(model: Model) -> bool:
    """Return whether analytical_derivatives.py always replaces this."""
    return model.tree_nv > _VERY_MANY_DOFS


def always(model: Model) -> bool:
    """Return whether analytical_derivatives.py computes the same, which it always does."""
    return True


@algorithm(
    'inverse_dynamics_derivatives_by_bodies',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'qdd': ACCELERATION,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs=INVERSE_DYNAMICS_OUTPUTS,
    result=InverseDynamicsDerivatives,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA 2.11',
    check=require_constant_subspaces,
    specialization=analytical_derivatives,
    prefer_when=has_very_many_dofs,
    applicable_when=always,
)
def derivatives_by_bodies(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> InverseDynamicsDerivatives:
    """Return the inverse dynamics and its derivatives of a tree with constant motion subspaces.

    Joints that move together share one column: their forces on bodies are added where they meet on
    the way to the base, and continue as one.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param qdd: independent acceleration, (nv,) [rad/s^2, m/s^2]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: generalized forces, (nv,) [N m, N], and their derivatives by position (along the
        velocities), velocity and acceleration, (nv, nv)

    >>> result = robot.kernel('inverse_dynamics_derivatives_by_bodies').function(q, v, a)
    >>> np.allclose(result.dtau_dq, robot.derivatives.inverse_dynamics(q, v, a).dtau_dq)
    True
    """
    base = -gravity_acceleration(model)
    tree_q, tree_qd = model.tree_position(q), model.tree_velocity(qd)
    tree_qdd = model.tree_velocity(qdd)
    X, passing = {}, {}
    columns: Dict[int, List[_Column]] = {}
    v, alpha, A = {0: MotionVector.zero()}, {0: base.angular}, {0: base.linear}
    Ic, Bc, fc = {}, {}, {}
    for i, body in model.outward():
        p, joint = body.parent, body.joint.calc(tree_q[body.q], tree_qd[body.v])
        X[i] = joint.X * body.tree_transform
        E, r = X[i].E, X[i].r
        # The parent's motion relative to the observer.
        moved = add(A[p], apply(rotation_rates(v[p].angular, alpha[p]), r))
        v_p = MotionVector(apply(E, v[p].angular), ZERO3)
        a_p = MotionVector(apply(E, alpha[p]), apply(E, moved))
        passing[i] = linear3.scale(2.0, v[p].velocity_at(r))
        index, ratios = model.tree_dof_index[body.v], model.tree_dof_ratio[body.v]
        columns[i] = []
        for s, ratio in zip(joint.S.columns, ratios):
            s = s if ratio == 1.0 else s * ratio
            ds = v_p.cross(s)
            dds = a_p.cross(s) + v_p.cross(ds)
            ds2 = 2.0 * ds if body.joint.nv == 1 else 2.0 * ds + joint.v.cross(s)
            columns[i].append(_Column(s, ds, dds, ds2))
        v[i] = v_p + joint.v
        rates = MotionSubspace([column.ds for column in columns[i]])
        a = a_p + joint.S @ tree_qdd[body.v] + rates @ [qd[k] for k in index]
        alpha[i], A[i] = a.angular, add(a.linear, cross(v[i].angular, v[i].linear))
        # Twice B, as it always counts; so the velocities of observers are doubled too.
        Ic[i], Bc[i] = body.inertia, VelocityFactor.of(body.inertia * 2.0, v[i])
        fc[i] = body_force(body.inertia, A[i], rotation_rates(v[i].angular, alpha[i]))
    # They do not rotate with the bodies, so they count in the torque, but not in s x* f.
    external = {i: ForceVector.zero() for i, _ in model.outward()}
    external.update(to_body_coordinates(model, X, external_forces))

    n = model.nv
    tau: List[Scalar] = [0.0] * n
    dq, dv, H = ([[0.0] * n for _ in range(n)] for _ in range(3))

    def enter(k: int, force: _Forces, c: int, column: _Column) -> None:
        s, ds, dds, ds2 = column
        dq[k][c] += dds.dot(force.momentum) + dot(ds.angular, force.twisted) - s.dot(force.held)
        dv[k][c] += ds2.dot(force.momentum) + dot(s.angular, force.twisted)

    zero = ForceVector.zero()
    nothing = _Forces(zero, ZERO3, zero, zero, zero)

    def carry(k: int, own: Dict[int, _Forces]) -> None:
        """Propagate the forces of coordinate k on bodies, by their numbers, to the base."""
        arrived: Dict[int, _Forces] = {}
        while own or arrived:
            i = max((*own, *arrived))
            body, force = model.body(i), arrived.pop(i, nothing)
            index = model.tree_dof_index[body.v]
            for c, column in zip(index, columns[i]):
                enter(k, force, c, column)
                dq[c][k] += column.s.dot(force.by_q)
                dv[c][k] += column.s.dot(force.by_v)
                # Joints that move together meet themselves, once in each order.
                moment = column.s.dot(force.momentum)
                H[k][c] = H[c][k] = H[k][c] + (moment + moment if k == c else moment)
            if i in own:
                for c, column in zip(index, columns[i]):
                    enter(k, own[i], c, column)
                    if c <= k:
                        H[k][c] = H[c][k] = H[k][c] + column.s.dot(own[i].momentum)
                force = force.plus(own.pop(i))
            simd_hint(force.by_q, force.by_v)
            if body.parent != 0:
                force = force.seen_from_parent(X[i], passing[i])
                arrived[body.parent] = arrived.get(body.parent, nothing).plus(force)

    asked: List[Dict[int, _Forces]] = [{} for _ in range(n)]  # by coordinate and body
    nearest = {k: i for i, body in model.inward() for k in model.tree_dof_index[body.v]}
    for i, body in model.inward():
        index, ratios = model.tree_dof_index[body.v], model.tree_dof_ratio[body.v]
        for k, ratio, acceleration, (s, ds, dds, ds2) in zip(
            index, ratios, tree_qdd[body.v], columns[i]
        ):
            rotor = ratio * body.armature
            tau[k] += s.dot(fc[i] - external[i]) + rotor * acceleration
            H[k][k] += ratio * rotor
            asked[k][i] = _Forces(
                Ic[i] * s,
                Bc[i].apply_transpose(s),
                s.cross(fc[i]) + Ic[i] * dds + Bc[i].apply(ds),
                Ic[i] * ds2 + Bc[i].apply(s),
                s.cross(external[i]),
            )
            if i == nearest[k]:  # with all joints that move together
                carry(k, asked[k])
        p = body.parent
        if p != 0:
            Bc[p] = Bc[p] + _to_parent(X[i], Ic[i], Bc[i], passing[i])
            Ic[p] = Ic[p] + X[i].inverse_apply(Ic[i])
            fc[p] = fc[p] + X[i].inverse_apply(fc[i])
            external[p] = external[p] + X[i].inverse_apply(external[i])
    return InverseDynamicsDerivatives(tau, dq, dv, H)


class _Column(NamedTuple):
    """Column of a motion subspace, times the ratio of a gear, and derived quantities.

    :param s: the column
    :param ds: psid
    :param dds: psidd
    :param ds2: sum of psid and the rate of the column, as a_i changes by it
    """

    s: MotionVector
    ds: MotionVector
    dds: MotionVector
    ds2: MotionVector


class _Forces(NamedTuple):
    """Forces per unit of a coordinate on a body and its subtree.

    :param momentum: I^c s
    :param twisted: moment of 2 B^c^T s, whose force is zero
    :param by_q: derivative of the force by the position
    :param by_v: derivative of the force by the velocity
    :param held: s x* the external force
    """

    momentum: ForceVector
    twisted: Vector3
    by_q: ForceVector
    by_v: ForceVector
    held: ForceVector

    def plus(self, other: _Forces) -> _Forces:
        """Return the sum, of joints that move together."""
        return _Forces(
            self.momentum + other.momentum,
            add(self.twisted, other.twisted),
            self.by_q + other.by_q,
            self.by_v + other.by_v,
            self.held + other.held,
        )

    def seen_from_parent(self, X: PluckerTransform, c: Vector3) -> _Forces:
        """Return the forces in the parent's coordinates, for an observer on the parent.

        Arguments are as below.
        """
        momentum, by_q, by_v, held = (
            X.inverse_apply(force) for force in (self.momentum, self.by_q, self.by_v, self.held)
        )
        twisted = add(apply_transpose(X.E, self.twisted), cross(c, momentum.linear))
        return _Forces(momentum, twisted, by_q, by_v, held)


def _to_parent(
    X: PluckerTransform, inertia: RigidBodyInertia, B: VelocityFactor, c: Vector3
) -> VelocityFactor:
    """Return the velocity factor in the coordinates of the parent, for the observer of the parent.

    :param X: transform from parent to body coordinates
    :param inertia: inertia of the same bodies, in body coordinates
    :param B: twice the velocity factor, in body coordinates
    :param c: twice the velocity of one observer for the other, in the parent's coordinates,
        (3,) [m/s]
    """
    E, r = X.E, X.r
    h, m = apply_transpose(E, inertia.h), inertia.mass
    P = linear3.multiply(linear3.multiply(linear3.transpose(E), B.P), E)
    f = add(apply_transpose(E, B.f), linear3.scale(m, c))
    # -(r x)(f x) = (r . f) 1 - f r^T
    trace = dot(h, c) + dot(r, f)

    def row(i: int) -> Tuple[Scalar, Scalar, Scalar]:
        x, y, z = (
            P[i][j] - c[i] * h[j] - f[i] * r[j] + (trace if i == j else 0.0) for j in range(3)
        )
        return x, y, z

    return VelocityFactor((row(0), row(1), row(2)), f)
