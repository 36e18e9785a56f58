"""Derivatives of inverse dynamics by a recursion in the coordinates of each body.

The sums of analytical_derivatives.py, whose symbols these are, each in the coordinates of the body
that carries them: motion subspaces are constants there, most of them zeros, and so are factors of
what is in one place a column of an inertia. In return vectors are transformed from body to body on
the way to the base. Where axes are parallel to axes of coordinates that is much cheaper.

The coordinates of body i belong to an observer who moves along, without turning, with the point of
the parent at the origin of body i. Forces are the same for him. For him the parent has no linear
velocity, and its acceleration is the classical one of that point (book 2.11), as in
newton_euler.py. What depends on the velocities changes with the observer: for one who is passed
by at a velocity c, bodies with first moment of mass h and momentum f have

    P' = P - c h^T + (h . c) 1,   f' = f + m c,   B'^T s = B^T s + c x p,  p = linear part of I s
"""

from typing import List, Mapping, Optional, Sequence, Tuple

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT
from rbd_ros.algorithms.derivatives.analytical_derivatives import (
    analytical_derivatives,
    INVERSE_DYNAMICS_OUTPUTS,
    InverseDynamicsDerivatives,
    require_constant_subspaces,
)
from rbd_ros.algorithms.inverse_dynamics.coriolis import VelocityFactor
from rbd_ros.algorithms.inverse_dynamics.forces import to_body_coordinates
from rbd_ros.algorithms.inverse_dynamics.newton_euler import body_force
from rbd_ros.algorithms.inverse_dynamics.rnea import gravity_acceleration
from rbd_ros.algorithms.inverse_dynamics.rotation_rates import rotation_rates
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
from rbd_ros.spatial.scalar import Scalar

# With more freedoms the number of operations is not worth its being found out: scalar products
# are compiled in a fraction of the time.
_VERY_MANY_FREEDOMS = 60


def has_very_many_freedoms(model: Model) -> bool:
    """Whether analytical_derivatives.py takes the place of this in any case."""
    return model.tree_nv > _VERY_MANY_FREEDOMS


def always(model: Model) -> bool:
    """Whether analytical_derivatives.py computes the same: it does."""
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
    model=EQUIVALENT,
    source='RBDA 2.11',
    check=require_constant_subspaces,
    written_out=analytical_derivatives,
    where=has_very_many_freedoms,
    possible=always,
)
def derivatives_by_bodies(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> InverseDynamicsDerivatives:
    """Inverse dynamics and its derivatives, of a tree whose joints have constant subspaces.

    Arguments and results are those of `analytical_derivatives`.

    >>> result = robot.kernel('inverse_dynamics_derivatives_by_bodies').function(q, v, a)
    >>> np.allclose(result.dtau_dq, robot.derivatives.inverse_dynamics(q, v, a).dtau_dq)
    True
    """
    base = -gravity_acceleration(model)
    X, S, psid, psidd, turning, passing = {}, {}, {}, {}, {}, {}
    v, alpha, A = {0: MotionVector.zero()}, {0: base.angular}, {0: base.linear}
    Ic, Bc, fc = {}, {}, {}
    for i, body in model.outward():
        p, joint = body.parent, body.joint.calc(q[body.q], qd[body.v])
        S[i], X[i] = joint.S.columns, joint.X * body.tree_transform
        E, r = X[i].E, X[i].r
        # The parent's motion as the observer sees it.
        moved = add(A[p], apply(rotation_rates(v[p].angular, alpha[p]), r))
        v_p = MotionVector(apply(E, v[p].angular), ZERO3)
        a_p = MotionVector(apply(E, alpha[p]), apply(E, moved))
        passing[i] = v[p].velocity_at(r)
        psid[i] = [v_p.cross(s) for s in S[i]]
        psidd[i] = [a_p.cross(s) + v_p.cross(ds) for s, ds in zip(S[i], psid[i])]
        turning[i] = [
            2.0 * ds if len(S[i]) == 1 else 2.0 * ds + joint.v.cross(s)
            for s, ds in zip(S[i], psid[i])
        ]
        v[i] = v_p + joint.v
        a = a_p + joint.S @ qdd[body.v] + MotionSubspace(psid[i]) @ qd[body.v]
        alpha[i], A[i] = a.angular, add(a.linear, cross(v[i].angular, v[i].linear))
        Ic[i], Bc[i] = body.inertia, VelocityFactor.of(body.inertia, v[i])
        fc[i] = body_force(body.inertia, A[i], rotation_rates(v[i].angular, alpha[i]))
    # They do not turn with the bodies, so they count in the torque, but not in s x* f.
    external = {i: ForceVector.zero() for i, _ in model.outward()}
    external.update(to_body_coordinates(model, X, external_forces))

    n = model.tree_nv
    tau: List[Scalar] = [0.0] * n
    dq, dv, H = ([[0.0] * n for _ in range(n)] for _ in range(3))
    for i, body in model.inward():
        for row, s, ds, dds, ds2 in zip(range(n)[body.v], S[i], psid[i], psidd[i], turning[i]):
            tau[row] = s.dot(fc[i] - external[i]) + body.armature * qdd[row]
            momentum, twisted, held = Ic[i] * s, Bc[i].apply_transpose(s), s.cross(external[i])
            by_q = s.cross(fc[i]) + Ic[i] * dds + 2.0 * Bc[i].apply(ds)
            by_v = Ic[i] * ds2 + 2.0 * Bc[i].apply(s)
            j = i
            while True:
                columns = range(n)[model.body(j).v]
                for column, t, dt, ddt, dt2 in zip(columns, S[j], psid[j], psidd[j], turning[j]):
                    dq[row][column] = (
                        ddt.dot(momentum) + 2.0 * dot(dt.angular, twisted) - t.dot(held)
                    )
                    dv[row][column] = dt2.dot(momentum) + 2.0 * dot(t.angular, twisted)
                    if j != i:
                        dq[column][row], dv[column][row] = t.dot(by_q), t.dot(by_v)
                    if column <= row:
                        H[row][column] = H[column][row] = t.dot(momentum)
                if model.body(j).parent == 0:
                    break
                momentum, by_q, by_v, held = (
                    X[j].inverse_apply(force) for force in (momentum, by_q, by_v, held)
                )
                twisted = add(apply_transpose(X[j].E, twisted), cross(passing[j], momentum.linear))
                j = model.body(j).parent
            H[row][row] = H[row][row] + body.armature
        p = body.parent
        if p != 0:
            Bc[p] = Bc[p] + _to_parent(X[i], Ic[i], Bc[i], passing[i])
            Ic[p] = Ic[p] + X[i].inverse_apply(Ic[i])
            fc[p] = fc[p] + X[i].inverse_apply(fc[i])
            external[p] = external[p] + X[i].inverse_apply(external[i])
    return InverseDynamicsDerivatives(tau, dq, dv, H)


def _to_parent(
    X: PluckerTransform, inertia: RigidBodyInertia, B: VelocityFactor, c: Vector3
) -> VelocityFactor:
    """Velocity factor in the coordinates of the parent, for the observer of the parent.

    :param X: transform from parent to body coordinates
    :param inertia: inertia of the same bodies, in body coordinates
    :param B: velocity factor, in body coordinates
    :param c: velocity of one observer for the other, in the parent's coordinates, (3,) [m/s]
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
