# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Equations of motion of all bodies at once, in a large sparse matrix (book 3.7, 8.13).

The dynamics uses no spanning tree: the unknowns are the accelerations of the bodies and the
constraint forces of all joints, of tree and loops alike. It is O(n) on trees, and on some systems
with loops for which methods by a spanning tree are not. All vectors are in base coordinates, where
the incidence matrix P consists of ones and minus ones.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.algorithms.closed_loops.loop_closure import loop_transforms
from rbd_ros.algorithms.closed_loops.loop_constraints import moving_constraint_forces
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, MotionVector

Floats = NDArray[np.float64]
#: Matrix of scipy.sparse, which is imported on demand.
Sparse = Any

#: A pivot below this fraction of its terms is rounding.
TOLERANCE = 1e-12


class SingularSystemError(ValueError):
    """The constraints are not independent, or a body has no inertia."""


class GlobalSystem(NamedTuple):
    """Matrices of N_B bodies and N_J joints, those of the tree first, then loop joints.

    The equation of motion is [[A, N], [N^T, 0]] [a; -lambda] = [b; c] (book eq 3.74), with A = I
    and N = P T except for rotors and gears: rotor inertia is P T_a diag(armature) T_a^T P^T in A,
    and a gear is a column of N like another constraint.

    :param I: inertias, block-diagonal, (6 N_B, 6 N_B)
    :param P: incidence matrix, (6 N_B, 6 N_J): from the velocities of the bodies, P^T v are those
        across the joints
    :param S: motion subspaces of the joints of the tree, (6 N_J, tree_nv)
    :param T: constraint-force subspaces, (6 N_J, n_c)
    :param T_a: active-force subspaces of the joints of the tree, (6 N_J, tree_nv), T_a^T S = 1
    :param A: inertias with rotors, (6 N_B, 6 N_B)
    :param N: forces on the bodies for each constraint, (6 N_B, n_c + gears)
    :param b: known forces on the bodies, (6 N_B,)
    :param c: accelerations along the constraints, (n_c + gears,)
    :param velocity_products: acceleration across each joint besides S qdd, (6 N_J,)
    :param tau: forces of the joints of the tree, (tree_nv,)
    :param armature: rotor inertia of each degree of freedom of the tree, (tree_nv,)
    :param gears: constraints of gears on the velocities of the tree, W^T qd = 0, (tree_nv, gears)
    :param blocks: blocks of rows and columns of the whole matrix: one for each body, then one for
        each joint with constraints, then one for each gear
    """

    I: Sparse
    P: Sparse
    S: Sparse
    T: Sparse
    T_a: Sparse
    A: Sparse
    N: Sparse
    b: Floats
    c: Floats
    velocity_products: Floats
    tau: Floats
    armature: Floats
    gears: Sparse
    blocks: Tuple[range, ...]

    @property
    def matrix(self) -> Sparse:
        """Coefficients [[A, N], [N^T, 0]], symmetric (book eq 8.64)."""
        from scipy import sparse

        return sparse.bmat([[self.A, self.N], [self.N.T, None]], format='csc')

    @property
    def right(self) -> Floats:
        """Right-hand side [b; c]."""
        return np.concatenate([self.b, self.c])


class GlobalDynamics(NamedTuple):
    """Motion and forces of all bodies and joints, in base coordinates.

    :param a: spatial accelerations of the bodies, (N_B, 6) [rad/s^2, m/s^2]
    :param f: forces that predecessors transmit to successors across the joints, those of the tree
        first, (N_J, 6) [N m, N]
    :param constraint_forces: variables lambda of the constraints, gears last, (n_c + gears,)
    :param qdd: accelerations of the joints of the tree, (tree_nv,) [rad/s^2, m/s^2]
    """

    a: Floats
    f: Floats
    constraint_forces: Floats
    qdd: Floats


def global_system(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> GlobalSystem:
    """Return the equations of motion of all bodies and joints (book eq 3.65 to 3.74).

    They have no constraint stabilization: q and v must close the loops.

    :param q: independent configuration, (nq,) [rad, m]
    :param v: independent velocity, (nv,) [rad/s, m/s]
    :param tau: independent generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]

    >>> from rbd_ros.textbook.closed_loops.global_system import global_system
    >>> system = global_system(four_bar.model, q4, v4, np.zeros(3))
    >>> system.A.shape, system.T.shape  # three bodies; four hinges with five constraints each
    ((18, 18), (24, 20))
    """
    from scipy import sparse

    tree_q = model.tree_position(np.asarray(q, dtype=float).tolist())
    tree_v = model.tree_velocity(np.asarray(v, dtype=float).tolist())
    X0, velocity = body_velocities(model, tree_q, tree_v)
    v0 = {i: X0[i].inverse_apply(twist) for i, twist in velocity.items()}
    gravity = MotionVector((0.0, 0.0, 0.0), model.gravity)
    bodies, joints = len(model.bodies), len(model.bodies) + len(model.loops)

    inertias, b = [], np.zeros((bodies, 6))
    for i, body in model.outward():
        inertia = X0[i].inverse_apply(body.inertia)
        inertias.append(inertia.matrix())
        b[i - 1] = (inertia * gravity - v0[i].cross(inertia * v0[i])).to_array()
    for i, force in (external_forces or {}).items():
        if i > 0:  # forces on the base have no effect
            b[i - 1] += force.to_array()

    S, T, T_a, products = [], [], [], np.zeros((joints, 6))
    ends: List[Tuple[int, int]] = []  # predecessor and successor of each joint
    for i, body in model.outward():
        joint = body.joint.calc(tree_q[body.q], tree_v[body.v])
        motion = _columns(X0[i].inverse_apply(s) for s in joint.S.columns)
        local = _columns(joint.S.columns)
        active = np.linalg.pinv(local).T
        T_a.append(
            _columns(X0[i].inverse_apply(ForceVector.from_array(f)) for f in active.T.tolist())
        )
        S.append(motion)
        constraint = body.joint.constraint_forces(tree_q[body.q])
        T.append(_columns(X0[i].inverse_apply(f) for f in constraint))
        v_J = v0[i] - v0[body.parent]
        products[i - 1] = (X0[i].inverse_apply(joint.c) + v0[i].cross(v_J)).to_array()
        ends.append((body.parent, i))
    for j, loop in enumerate(model.loops, start=bodies):
        p, s = loop.predecessor.body, loop.successor.body
        Xs, X = loop_transforms(loop, X0)
        v_J = v0[s] - v0[p]
        forces = moving_constraint_forces(loop.joint, X, Xs.apply(v_J))
        T.append(_columns(Xs.inverse_apply(f) for f, _ in forces))
        for passive in (S, T_a):
            passive.append(np.zeros((6, 0)))
        # c_J along T, from T^T c_J = -Tring^T v_J; along S it would be part of S qdd
        rates = np.array([Xs.apply(v_J).dot(rate) for _, rate in forces], dtype=float)
        c_J = np.linalg.lstsq(T[-1].T, -rates, rcond=None)[0]
        products[j] = v0[s].cross(v_J).to_array() + c_J
        ends.append((p, s))

    P = _incidence(bodies, ends)
    I, S_, T_, T_a_ = (_block_diagonal(blocks) for blocks in (inertias, S, T, T_a))
    armature = np.zeros(model.tree_nv)
    for body in model.bodies:
        armature[body.v] = body.armature
    W = _gear_constraints(model)
    PT_a, rotors = P @ T_a_, sparse.diags(armature)
    tree_tau = _on_the_tree(model, np.asarray(tau, dtype=float))
    flat = products.ravel()
    active_products = T_a_.T @ flat  # of qdd = T_a^T (P^T a) - these
    known = b.ravel() + PT_a @ (tree_tau + armature * active_products)
    sizes = [6] * bodies + [t.shape[1] for t in T if t.shape[1]] + [1] * W.shape[1]
    starts = np.cumsum([0, *sizes]).tolist()
    return GlobalSystem(
        I=I,
        P=P,
        S=S_,
        T=T_,
        T_a=T_a_,
        A=(I + PT_a @ rotors @ PT_a.T).tocsc(),
        N=sparse.hstack([P @ T_, PT_a @ W], format='csc'),
        b=known,
        c=np.concatenate([T_.T @ flat, W.T @ active_products]),
        velocity_products=flat,
        tau=tree_tau,
        armature=armature,
        gears=W,
        blocks=tuple(range(x, y) for x, y in zip(starts, starts[1:])),
    )


class Analysis(NamedTuple):
    """Order of elimination of the blocks of a system, and its cost.

    :param order: blocks of `GlobalSystem.blocks` in the order in which they are eliminated
    :param fill_in: pairs of blocks that are zero in the matrix and not in its factors
    """

    order: Tuple[int, ...]
    fill_in: int


def analyze(system: GlobalSystem) -> Analysis:
    """Return the order of elimination by minimum degree, from the sparsity pattern (book 8.13).

    A joint has no diagonal block of its own. It waits until all its bodies are eliminated, or one
    of them without other remaining joints: then its block is definite. Leaves of a tree come
    first, each before its joint, without fill-in.

    :param system: system with the pattern; it depends on bodies and joints only
    """
    owner = np.concatenate([[n] * len(rows) for n, rows in enumerate(system.blocks)])
    pattern = system.matrix.tocoo()
    near: Dict[int, Set[int]] = {n: set() for n in range(len(system.blocks))}
    for i, j in set(zip(owner[pattern.row].tolist(), owner[pattern.col].tolist())):
        if i != j:
            near[i].add(j)
    bodies = system.A.shape[0] // 6
    waits_for = {n: {m for m in near[n] if m < bodies} for n in near if n >= bodies}
    order: List[int] = []
    fill_in = 0
    ready = set(range(bodies))
    while near:
        chosen = min(ready, key=lambda n: (len(near[n]), n))
        neighbors = near.pop(chosen)
        ready.discard(chosen)
        order.append(chosen)
        for n in neighbors:
            near[n].discard(chosen)
            added = neighbors - near[n] - {n}
            fill_in += len(added)
            near[n] |= added
        joints = [n for n in neighbors if n >= bodies]
        for n in joints:
            if chosen < bodies:
                waits_for[n].discard(chosen)
                if not waits_for[n] or len(joints) == 1:
                    ready.add(n)
    return Analysis(tuple(order), fill_in // 2)


class Factors:
    """Factors of the matrix of a system, for any number of right-hand sides.

    :param analysis: order of elimination; computed by default
    :raises SingularSystemError: if the constraints are not independent, as those of a planar loop
        closed by a hinge are not, or a body has no inertia
    """

    def __init__(self, system: GlobalSystem, analysis: Optional[Analysis] = None):
        from scipy.sparse.linalg import splu

        chosen = analyze(system) if analysis is None else analysis
        rows = [row for n in chosen.order for row in system.blocks[n]]
        self._rows: NDArray[np.int64] = np.array(rows, dtype=np.int64)
        self._matrix = system.matrix[self._rows][:, self._rows].tocsc()
        try:
            # Pivoting is off: the blocks are definite, and the order avoids fill-in.
            self._factors = splu(
                self._matrix,
                permc_spec='NATURAL',
                diag_pivot_thresh=0.0,
                options={'SymmetricMode': True},
            )
        except RuntimeError as error:
            raise SingularSystemError(_SINGULAR) from error
        # A pivot is a sum whose terms cancel if a constraint is redundant.
        L, U = abs(self._factors.L), abs(self._factors.U)
        terms = np.asarray(L.multiply(U.T).sum(axis=1)).ravel()
        if np.any(U.diagonal() <= TOLERANCE * terms):
            raise SingularSystemError(_SINGULAR)

    @property
    def nonzeros(self) -> int:
        """Nonzero elements of both factors."""
        return int(self._factors.L.nnz + self._factors.U.nnz)

    def solve(self, right: ArrayLike) -> Floats:
        """Return the solution by back-substitution, (6 N_B + constraints,), refined once."""
        b: Floats = np.asarray(right, dtype=float)[self._rows]
        x: Floats = self._factors.solve(b)
        x = x + self._factors.solve(b - self._matrix @ x)
        result: Floats = np.empty_like(x)
        result[self._rows] = x
        return result


def solve_global_system(
    system: GlobalSystem, analysis: Optional[Analysis] = None
) -> GlobalDynamics:
    """Return the accelerations and forces of all bodies and joints by sparse elimination.

    :param system: see `global_system`
    :param analysis: order of elimination, which is the same for all states of a robot
    :raises SingularSystemError: if the constraints are not independent

    >>> from rbd_ros.textbook.closed_loops.global_system import (
    ...     global_system,
    ...     solve_global_system,
    ... )
    >>> result = solve_global_system(global_system(model, q, v, tau))
    >>> np.allclose(result.qdd, a), result.f.shape
    (True, (6, 6))
    """
    x = Factors(system, analysis).solve(system.right)
    n = len(system.b)
    return joint_results(system, x[:n], -x[n:])


def by_motion_subspace(system: GlobalSystem) -> GlobalDynamics:
    """Return the accelerations by projection on the motion subspaces of a tree.

    a = a_0 + S alpha with S = P^-T diag(S_j): S^T A S alpha = S^T (b - A a_0), of which the matrix
    is the mass matrix of the tree (Featherstone and Orin 2000, eq 24 to 26 and 29).

    :raises ValueError: if there are loops or gears, whose constraints S does not know
    """
    from scipy.sparse.linalg import spsolve

    if system.P.shape[0] != system.P.shape[1] or system.gears.shape[1]:
        raise ValueError(
            'the global motion subspace supports trees without gears only; remove the gears and '
            'mimic joints'
        )
    P_T = system.P.T.tocsc()
    S = np.column_stack([spsolve(P_T, column) for column in system.S.toarray().T])
    a_0 = spsolve(P_T, system.velocity_products)
    alpha = np.linalg.solve(S.T @ (system.A @ S), S.T @ (system.b - system.A @ a_0))
    a = S @ alpha + a_0
    forces, *_ = np.linalg.lstsq(system.N.toarray(), system.A @ a - system.b, rcond=None)
    return joint_results(system, a, forces)


def by_constraint_forces(system: GlobalSystem) -> GlobalDynamics:
    """Return the constraint forces first: N^T A^-1 N lambda = c - N^T A^-1 b.

    Source: Featherstone and Orin 2000, eq 28.
    """
    from scipy.sparse.linalg import splu

    A = splu(system.A)
    inverse_N = A.solve(system.N.toarray())
    free = A.solve(system.b)
    forces = np.linalg.solve(system.N.T @ inverse_N, system.c - system.N.T @ free)
    return joint_results(system, free + inverse_N @ forces, forces)


_SINGULAR = (
    'the equations of motion of all bodies are singular: constraints are redundant (see '
    'rbd_ros.algorithms.closed_loops.mobility), or a body has no inertia'
)


def joint_results(system: GlobalSystem, a: Floats, forces: Floats) -> GlobalDynamics:
    """Return all results of a system from the solution of its equations.

    :param a: accelerations of the bodies, (6 N_B,)
    :param forces: constraint forces lambda, (n_c + gears,)
    """
    qdd = system.T_a.T @ (system.P.T @ a - system.velocity_products)
    n = system.T.shape[1]
    active = system.tau - system.armature * qdd + system.gears @ forces[n:]
    f = system.T_a @ active + system.T @ forces[:n]
    return GlobalDynamics(a.reshape(-1, 6), f.reshape(-1, 6), forces, qdd)


def _columns(vectors: Any) -> Floats:
    """Return the vectors as the columns of a matrix, (6, n)."""
    columns = [list(vector) for vector in vectors]
    return np.array(columns, dtype=float).reshape(-1, 6).T


def _incidence(bodies: int, ends: Sequence[Tuple[int, int]]) -> Sparse:
    """Return the incidence matrix P: ones at successors, minus ones at predecessors (eq 3.69)."""
    from scipy import sparse

    entries = [
        (body - 1, j, sign)
        for j, (p, s) in enumerate(ends)
        for body, sign in ((s, 1.0), (p, -1.0))
        if body > 0
    ]
    rows, columns, values = (np.array(x) for x in zip(*entries))
    graph = sparse.coo_matrix((values, (rows, columns)), shape=(bodies, len(ends)))
    return sparse.kron(graph, sparse.identity(6), format='csr')


def _block_diagonal(blocks: Sequence[Floats]) -> Sparse:
    """Return the block-diagonal matrix of blocks of any shape, also of no columns."""
    from scipy import sparse

    rows: List[int] = []
    columns: List[int] = []
    values: List[float] = []
    top = left = 0
    for block in blocks:
        for i, j in np.argwhere(block):
            rows.append(top + int(i))
            columns.append(left + int(j))
            values.append(float(block[i, j]))
        top, left = top + block.shape[0], left + block.shape[1]
    return sparse.coo_matrix((values, (rows, columns)), shape=(top, left)).tocsr()


def _gear_constraints(model: Model) -> Sparse:
    """Return W of gear constraints W^T qd = 0, (tree_nv, gears): mimic less ratio times master."""
    from scipy import sparse

    W = sparse.lil_matrix((model.tree_nv, len(model.couplings)))
    for n, coupling in enumerate(model.couplings):
        W[model.body(coupling.body).v.start, n] = 1.0
        W[model.body(coupling.master).v.start, n] = -coupling.ratio
    return W.tocsr()


def _on_the_tree(model: Model, tau: Floats) -> Floats:
    """Return the forces on all joints: `tau` on the independent ones, zero on mimic joints."""
    result = np.zeros(model.tree_nv)
    for i, (_, at_v) in model.independent_slices.items():
        result[model.body(i).v] = tau[at_v]
    return result
