# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hybrid dynamics by the part H11 of the inertia matrix that belongs to given forces (book 9.1).

Joints of given forces are the set fd, by the numbers of their bodies. The composite-rigid-body
algorithm computes H11 alone, at the bodies that a joint of fd carries, and H11 is as sparse as the
tree is whose other joints are welded.
"""

from typing import Dict, FrozenSet, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

from rbd_ros.algorithms.articulated_body.hybrid_dynamics import by_inertia_matrix, HybridDynamics
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.inertia_matrix.singularity import require_open_chains
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    CONFIGURATION,
    EXTERNAL_FORCES,
    FORCE,
    FORWARD_JOINTS,
    KNOWN,
    VELOCITY,
)
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar

Matrix = List[List[Scalar]]


@algorithm(
    'hybrid_dynamics_by_submatrix',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'known': KNOWN,
        'fd': FORWARD_JOINTS,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'a': ACCELERATION, 'tau': FORCE},
    coordinates=INDEPENDENT,
    result=HybridDynamics,
    model=EQUIVALENT,
    source='RBDA 9.1, eq 9.2 and table 9.1',
    check=require_open_chains,
)
def hybrid_dynamics_by_submatrix(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    known: Sequence[Scalar],
    fd: FrozenSet[int],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> HybridDynamics:
    """Return the accelerations and forces of all joints by the four steps of the book (9.1).

    Joints that gears couple have no place in a tree that is welded elsewhere: with gears it is
    `by_inertia_matrix`.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param known: force at the joints of `fd`, acceleration at the others, (nv,)
    :param fd: bodies whose joints have their forces given, by number
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: both for all degrees of freedom, including the given ones

    >>> elbow = robot.kernel('hybrid_dynamics_by_submatrix', forward_joints=('elbow_joint',))
    >>> known = np.where(np.arange(6) == 2, tau, a)  # the elbow's torque, other accelerations
    >>> np.allclose(elbow.function(q, v, known).a, a)
    True
    """
    if model.couplings:
        forward = [0.0] * model.nv
        for i, (_, at_v) in model.independent_slices.items():
            forward[at_v] = [float(i in fd)] * model.body(i).joint.nv
        return by_inertia_matrix(model, q, qd, known, forward, external_forces)
    free = [k for i in sorted(fd) for k in range(model.nv)[model.body(i).v]]
    zero = [0.0] * model.nv

    # 1. Forces C' for no acceleration of the joints of fd and that given of the others (eq 9.3)
    given = [0.0 if k in free else x for k, x in enumerate(known)]
    C_ = rnea(model, q, qd, given, external_forces)
    # 2. and 3. Accelerations of the joints of fd, by H11
    rest = [known[k] - C_[k] for k in free]
    a1: Dict[int, Scalar] = dict(zip(free, ltdl(crba_of_joints(model, q, fd)).solve(rest)))
    # 4. Forces at the other joints: tau = C' + ID_delta (table 6.1)
    moved = [a1.get(k, 0.0) for k in range(model.nv)]
    change = rnea(model.with_gravity((0.0, 0.0, 0.0)), q, zero, moved)
    return HybridDynamics(
        [a1.get(k, x) for k, x in enumerate(known)],
        [known[k] if k in free else C_[k] + x for k, x in enumerate(change)],
    )


def crba_of_joints(model: Model, q: Sequence[Scalar], fd: Iterable[int]) -> Matrix:
    """Return the rows and columns H11 of the inertia matrix of some joints, rotors included.

    Book table 9.1.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param fd: bodies of these joints, by number
    :return: H11 of the degrees of freedom of these joints, in the order of the tree
    """
    fd = frozenset(fd)
    nu = carried(model, fd)
    X, S, Ic = {}, {}, {i: model.body(i).inertia for i in nu}
    at: Dict[int, range] = {}  # rows of H11 that are those of a joint
    size = 0
    for i in sorted(nu):
        body = model.body(i)
        X[i] = body.joint.transform(q[body.q]) * body.tree_transform
        if i in fd:
            S[i] = body.joint.motion_subspace(q[body.q])
            at[i] = range(size, size + body.joint.nv)
            size += body.joint.nv

    H: Matrix = [[0.0] * size for _ in range(size)]
    for i in sorted(nu, reverse=True):
        body = model.body(i)
        if body.parent in nu:
            Ic[body.parent] = Ic[body.parent] + X[i].inverse_apply(Ic[i])
        if i not in fd:
            continue
        for column, s in zip(at[i], S[i].columns):
            F = Ic[i] * s
            for row, value in zip(at[i], S[i].T @ F):
                if row <= column:  # one triangle, mirrored: symmetric to the last bit
                    H[row][column] = H[column][row] = value
            H[column][column] = H[column][column] + body.armature
            j = i
            while model.body(j).parent in nu:
                F = X[j].inverse_apply(F)
                j = model.body(j).parent
                if j in fd:
                    for row, value in zip(at[j], S[j].T @ F):
                        H[row][column] = H[column][row] = value
    return H


def carried(model: Model, fd: Iterable[int]) -> Set[int]:
    """Return the bodies nu(fd) that at least one joint of a set carries (book eq 9.5).

    :param fd: bodies of these joints, by number
    """
    nu = set(fd)
    for i, body in model.outward():
        if body.parent in nu:
            nu.add(i)
    return nu


def reduced_parents(
    parents: Sequence[int], fd: Iterable[int]
) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
    """Return the parents in the tree in which all joints but a set are welded (figure 9.1).

    H11 has the sparsity of that tree: an element is zero unless one of its joints carries the
    other's body there.

    :param parents: parents lambda(1), lambda(2), ... of the bodies
    :param fd: bodies whose joints remain, by number
    :return: parents lambda' of the bodies that remain, and the new number of each body, from that
        of the base on, which is 0
    """
    fd = set(fd)
    number, reduced = [0], []
    for i, parent in enumerate(parents, start=1):
        if i in fd:
            reduced.append(number[parent])
            number.append(len(reduced))
        else:
            number.append(number[parent])
    return tuple(reduced), tuple(number)
