# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Coefficients of the loop constraints K qdd = k, in base coordinates (book 8.2, 8.7, table 8.4).

A loop joint lets its successor move relative to its predecessor along S only. The rate of
T^T (v_s - v_p) = 0 is T^T (a_s - a_p + v_s x v_p) + Tring^T (v_s - v_p) = 0, which holds if the
accelerations of the tree satisfy K qdd = k. The apparent derivative of T in the successor frame is
zero for lower pairs (book eq 8.47); that of other joints depends on the poses of their frames.
"""

from typing import Dict, List, NamedTuple, Sequence, Tuple

from rbd_ros.algorithms.closed_loops.jets import Jet, jet
from rbd_ros.algorithms.closed_loops.loop_closure import loop_transforms
from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration
from rbd_ros.algorithms.kinds import (
    CONFIGURATION,
    LOOP_BIAS,
    LOOP_JACOBIAN,
    LOOP_RESIDUAL,
    LOOP_VELOCITY,
    VELOCITY,
)
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.model.joints import JointType
from rbd_ros.spatial import ForceVector, linear3, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar


class LoopConstraints(NamedTuple):
    """Constraints of all loop joints at the level of accelerations, n^c of them.

    :param delta: position errors, (n^c,) [rad, m]
    :param velocity: velocity errors T^T v_J = K v, (n^c,) [rad/s, m/s]
    :param K: Jacobian of the constraints, (n^c, nv)
    :param k: right-hand side of K a = k, without stabilization, (n^c,) [rad/s^2, m/s^2]
    """

    delta: ResultArray
    velocity: ResultArray
    K: ResultArray
    k: ResultArray


class BiasMotion(NamedTuple):
    """Motion of the bodies while the joints do not accelerate, by body number.

    :param X: transforms from parent to body coordinates
    :param X0: transforms from base to body coordinates, including the base's
    :param S: motion subspaces in body coordinates
    :param v: velocities in body coordinates, including the base's
    :param a: velocity-product accelerations a^vp less gravity's, in body coordinates, likewise
    """

    X: Dict[int, PluckerTransform]
    X0: Dict[int, PluckerTransform]
    S: Dict[int, MotionSubspace]
    v: Dict[int, MotionVector]
    a: Dict[int, MotionVector]


@algorithm(
    'loop_constraints',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY},
    outputs={
        'delta': LOOP_RESIDUAL,
        'velocity': LOOP_VELOCITY,
        'K': LOOP_JACOBIAN,
        'k': LOOP_BIAS,
    },
    result=LoopConstraints,
    source='RBDA table 8.4',
)
def loop_constraints(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> LoopConstraints:
    """Return the Jacobian and right-hand side of the loop constraints, and their errors.

    Book table 8.4.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    """
    return constraints_of(model, bias_motion(model, q, qd))


def bias_motion(model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]) -> BiasMotion:
    """Return the velocities, and accelerations at qdd = 0 (book table 8.2 and 8.3, first loop).

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    """
    X, S = {}, {}
    X0 = {0: PluckerTransform.identity()}
    v, a = {0: MotionVector.zero()}, {0: -gravity_acceleration(model)}
    for i, body in model.outward():
        joint = body.joint.calc(q[body.q], qd[body.v])
        S[i] = joint.S
        X[i] = joint.X * body.tree_transform
        X0[i] = X[i] * X0[body.parent]
        v[i] = X[i] * v[body.parent] + joint.v
        a[i] = X[i] * a[body.parent] + joint.c + v[i].cross(joint.v)
    return BiasMotion(X, X0, S, v, a)


def constraints_of(model: Model, motion: BiasMotion) -> LoopConstraints:
    """Return the loop constraints of a tree in motion (book table 8.4).

    :param motion: result of `bias_motion`; a common acceleration of all bodies, such as that of
        the base against gravity, does not matter, as only differences count
    """
    X0, S = motion.X0, motion.S
    delta: List[Scalar] = []
    velocity: List[Scalar] = []
    K: List[List[Scalar]] = []
    k: List[Scalar] = []
    for loop in model.loops:
        p, s = loop.predecessor.body, loop.successor.body
        Xs, X = loop_transforms(loop, X0)
        vp, vs = X0[p].inverse_apply(motion.v[p]), X0[s].inverse_apply(motion.v[s])
        ap, as_ = X0[p].inverse_apply(motion.a[p]), X0[s].inverse_apply(motion.a[s])
        delta += loop.joint.loop_error(X)
        path = loop_path(model, p, s)
        columns = {j: [X0[j].inverse_apply(c) for c in S[j].columns] for j, _ in path}
        for T, Tring in moving_constraint_forces(loop.joint, X, Xs.apply(vs - vp)):
            T, Tring = Xs.inverse_apply(T), Xs.inverse_apply(Tring)
            velocity.append((vs - vp).dot(T))
            k.append(-(as_ - ap + vs.cross(vp)).dot(T) - (vs - vp).dot(Tring))
            row: List[Scalar] = [0.0] * model.tree_nv
            for j, sign in path:
                row[model.body(j).v] = [sign * column.dot(T) for column in columns[j]]
            K.append(row)
    return LoopConstraints(delta, velocity, K, k)


def moving_constraint_forces(
    joint: JointType, X: PluckerTransform, v: MotionVector
) -> List[Tuple[ForceVector, ForceVector]]:
    """Return the constraint forces of a loop joint and their apparent derivatives.

    Both are in the successor frame. The joint's own function, run on jets of the transform, gives
    both.

    :param joint: type of the joint
    :param X: transform from predecessor to successor coordinates
    :param v: velocity of the successor relative to the predecessor, in successor coordinates
    :return: pairs of T and Tring, in successor coordinates
    """
    rate = linear3.cross_matrix(v.angular, X.E)  # dE/dt = -w x E
    E = linear3.matrix3((Jet(x, -dx) for x, dx in zip(*rows)) for rows in zip(X.E, rate))
    r = linear3.vector3(Jet(x, dx) for x, dx in zip(X.r, linear3.apply_transpose(X.E, v.linear)))
    pairs = []
    for T in joint.constraint_forces_at(PluckerTransform(E, r)):
        parts = [jet(x) for x in T]
        pairs.append(
            (
                ForceVector.from_array([part.x for part in parts]),
                ForceVector.from_array([part.d for part in parts]),
            )
        )
    return pairs


def loop_path(model: Model, p: int, s: int) -> Tuple[Tuple[int, float], ...]:
    """Return the tree joints on a loop, and their signs (epsilon of book eq 8.18).

    Joints between the loop's root and `p` have the sign -1, those between it and `s` the sign +1.
    All others move both alike.

    :param p: number of the loop joint's predecessor body
    :param s: number of its successor body
    :return: pairs of a joint's number and its sign
    """
    path: List[Tuple[int, float]] = []
    i, j = p, s
    while i != j:
        if i > j:
            path.append((i, -1.0))
            i = model.body(i).parent
        else:
            path.append((j, 1.0))
            j = model.body(j).parent
    return tuple(path)
