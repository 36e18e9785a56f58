# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of inverse dynamics by an analytical recursion over bodies.

Sources: Carpentier and Mansard, "Analytical derivatives of rigid body dynamics algorithms" (RSS
2018), and Singh, Russell and Wensing, "Efficient analytical derivatives of rigid-body dynamics
using spatial vector algebra" (IEEE RA-L 2022), whose symbols and sums over subtrees these are. All
quantities are in the coordinates of one body, where these sums are plain.

DoF k of joint j displaces all bodies that the joint carries along its column s_k of S_j. For one
of them, body i, and p the parent of j,

    dv_i/dq_k = s_k x v_i + psid_k                   psid_k = v_p x s_k
    da_i/dq_k = s_k x a_i + psid_k x v_i + psidd_k   psidd_k = a_p x s_k + v_p x psid_k
    df_i/dq_k = s_k x* f_i + I_i psidd_k + 2 B_i psid_k
    dv_i/dqd_k = s_k,  da_i/dqd_k = s_k x v_i + (v_p + v_j) x s_k
    df_i/dqd_k = I_i (v_p + v_j) x s_k + 2 B_i s_k

with f_i the force that accelerates the body, B_i its velocity factor (coriolis.py), and v_j x s_k
the rate of the column. Common factors of all bodies of a subtree are factored out, so that their
sums I^c, B^c and f^c are taken once per joint. Five scalar products remain for a pair of joints,
of which one carries the other.
"""

from dataclasses import replace
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT
from rbd_ros.algorithms.inverse_dynamics.coriolis import VelocityFactor
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    CONFIGURATION,
    EXTERNAL_FORCES,
    FORCE,
    INERTIA_MATRIX,
    MATRIX,
    VELOCITY,
)
from rbd_ros.algorithms.kinematics.kinematics import motion_columns
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model, ModelError
from rbd_ros.spatial import (
    ForceVector,
    linear3,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
)
from rbd_ros.spatial.scalar import inner, Scalar

#: Outputs; the inertia matrix is stored whole, like the compiler's derivatives.
INVERSE_DYNAMICS_OUTPUTS = {
    'tau': FORCE,
    'dtau_dq': MATRIX,
    'dtau_dv': MATRIX,
    'dtau_da': replace(INERTIA_MATRIX, symmetric=False),
}


class InverseDynamicsDerivatives(NamedTuple):
    """Inverse dynamics and its derivatives; by q along the velocities.

    :param tau: generalized forces, (nv,) [N m, N]
    :param dtau_dq: their derivatives by the configuration, (nv, nv)
    :param dtau_dv: by the velocity, (nv, nv)
    :param dtau_da: by the acceleration, the joint-space inertia matrix, (nv, nv)
    """

    tau: ResultArray
    dtau_dq: ResultArray
    dtau_dv: ResultArray
    dtau_da: ResultArray


def has_constant_subspaces(model: Model) -> bool:
    """Return whether all joints have constant motion subspaces."""
    return all(body.joint.is_lower_pair for body in model.bodies)


def require_constant_subspaces(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that all joints have constant motion subspaces.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices
    :raises ModelError: naming the first joint with another one
    """
    if not has_constant_subspaces(model):
        name = next(x.joint_name for x in model.bodies if not x.joint.is_lower_pair)
        raise ModelError(
            f'the motion subspace of joint {name!r} depends on its position, and its second '
            'derivative is not implemented; use inverse_dynamics_derivatives'
        )


@algorithm(
    'inverse_dynamics_analytical_derivatives',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'qdd': ACCELERATION,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs=INVERSE_DYNAMICS_OUTPUTS,
    result=InverseDynamicsDerivatives,
    model=EQUIVALENT,
    source='Singh, Russell and Wensing, IEEE RA-L 2022',
    check=require_constant_subspaces,
)
def analytical_derivatives(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> InverseDynamicsDerivatives:
    """Return the inverse dynamics and its derivatives of a tree with constant motion subspaces.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: generalized forces, (tree_nv,) [N m, N], and their derivatives by position (along the
        velocities), velocity and acceleration, (tree_nv, tree_nv)

    >>> result = robot.kernel('inverse_dynamics_analytical_derivatives').function(q, v, a)
    >>> np.allclose(result.dtau_dv, robot.derivatives.inverse_dynamics(q, v, a).dtau_dv)
    True
    """
    X = _transforms(model, q, _reference(model))
    S, psid, psidd, turning = motion_columns(model, q, X), {}, {}, {}
    v, Ic, Bc, fc = {0: MotionVector.zero()}, {}, {}, {}
    a = {0: X[0].inverse_apply(-gravity_acceleration(model))}
    for i, body in model.outward():
        p, columns = body.parent, MotionSubspace(S[i])
        v_joint = columns @ qd[body.v]
        v[i] = v[p] + v_joint
        psid[i] = [v[p].cross(s) for s in S[i]]
        psidd[i] = [a[p].cross(s) + v[p].cross(ds) for s, ds in zip(S[i], psid[i])]
        # v_i x v_j is v_p x v_j, and a joint of one DoF does not rotate its own column.
        a[i] = a[p] + columns @ qdd[body.v] + MotionSubspace(psid[i]) @ qd[body.v]
        turning[i] = [
            2.0 * ds if len(S[i]) == 1 else 2.0 * ds + v_joint.cross(s)
            for s, ds in zip(S[i], psid[i])
        ]
        Ic[i] = X[i].inverse_apply(body.inertia)
        Bc[i] = VelocityFactor.of(Ic[i], v[i])
        fc[i] = Ic[i] * a[i] + Bc[i].apply(v[i])
    # They do not rotate with the bodies, so they count in the torque, but not in s x* f.
    external = {i: ForceVector.zero() for i, _ in model.outward()}
    for i, force in (external_forces or {}).items():
        if i != 0:
            external[i] = X[0].inverse_apply(force)

    n = model.tree_nv
    tau: List[Scalar] = [0.0] * n
    dq, dv, H = ([[0.0] * n for _ in range(n)] for _ in range(3))
    right = {
        i: [
            ((*dds, *ds.angular, *s), (*ds2, *s.angular), tuple(s))
            for s, ds, dds, ds2 in zip(S[i], psid[i], psidd[i], turning[i])
        ]
        for i in S
    }
    for i, body in model.inward():
        for row, s, ds, dds, ds2 in zip(range(n)[body.v], S[i], psid[i], psidd[i], turning[i]):
            momentum = tuple(Ic[i] * s)
            twisted = (*momentum, *linear3.scale(2.0, Bc[i].apply_transpose(s)))
            twisted_and_held = (*twisted, *-s.cross(external[i]))
            by_q = tuple(s.cross(fc[i]) + Ic[i] * dds + 2.0 * Bc[i].apply(ds))
            by_v = tuple(Ic[i] * ds2 + 2.0 * Bc[i].apply(s))
            tau[row] = s.dot(fc[i] - external[i]) + body.armature * qdd[row]
            for j in model.support(i):
                for column, (of_q, of_v, t) in zip(range(n)[model.body(j).v], right[j]):
                    dq[row][column] = inner(twisted_and_held, of_q)
                    dv[row][column] = inner(twisted, of_v)
                    if j != i:
                        dq[column][row] = inner(by_q, t)
                        dv[column][row] = inner(by_v, t)
                    if column <= row:
                        H[row][column] = H[column][row] = inner(momentum, t)
            H[row][row] = H[row][row] + body.armature
        p = body.parent
        if p != 0:
            Ic[p], Bc[p], fc[p] = Ic[p] + Ic[i], Bc[p] + Bc[i], fc[p] + fc[i]
            external[p] = external[p] + external[i]
    return InverseDynamicsDerivatives(tau, dq, dv, H)


def _transforms(model: Model, q: Sequence[Scalar], reference: int) -> Dict[int, PluckerTransform]:
    """Return the transforms from the coordinates of a body to those of all others, by body number.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param reference: number of the body
    """
    joint = {i: x.joint.transform(q[x.q]) * x.tree_transform for i, x in model.outward()}
    X = {reference: PluckerTransform.identity()}
    i = reference
    while i != 0:
        p = model.body(i).parent
        X[p] = joint[i].inverse() * X[i]
        i = p
    for i, body in model.outward():
        if i not in X:
            X[i] = joint[i] * X[body.parent]
    return X


def _reference(model: Model) -> int:
    """Return the number of the body whose coordinates are used: the first of the largest tree.

    Its own columns are constants there, most of them zeros, and the bodies that it carries are one
    joint nearer than to the base.
    """
    roots = [i for i, body in model.outward() if body.parent == 0]
    return max(roots, key=lambda i: len(model.subtree(i)), default=0)
