# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Constraint-force algorithm: constraint forces of a chain in log2 N steps, N its length.

The equations T^T I^-1 T lambda = ... of the constraint forces of an unbranched chain are block
tridiagonal: a joint is coupled with those of the two bodies that it connects. Block cyclic
reduction solves them in log2 N steps, each of which treats all its joints at once (Featherstone
and Orin 2000, section 3.5 and eq 28). Positions and velocities are computed link by link before.
"""

from __future__ import annotations

from typing import Mapping, NamedTuple, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.model import Model, ModelError
from rbd_ros.spatial import ForceVector
from rbd_ros.textbook.closed_loops.global_system import (
    global_system,
    GlobalDynamics,
    joint_results,
)

Floats = NDArray[np.float64]


class CyclicReduction(NamedTuple):
    """Solution of a block tridiagonal system, and its number of steps.

    :param x: solution, (N, m)
    :param depth: number of consecutive reductions, floor(log2 N)
    """

    x: Floats
    depth: int


class ChainDynamics(NamedTuple):
    """Results of `constraint_force_algorithm`.

    :param dynamics: accelerations and forces of all bodies and joints
    :param depth: number of consecutive reductions, floor(log2 N)
    """

    dynamics: GlobalDynamics
    depth: int


def constraint_force_algorithm(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> ChainDynamics:
    """Return the forward dynamics of an unbranched chain by its constraint forces.

    :param model: chain in which every body is the next one's parent, without gears and rotors
    :param q: configuration, (nq,) [rad, m]
    :param v: velocity, (nv,) [rad/s, m/s]
    :param tau: generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :raises ModelError: for any other model

    >>> from rbd_ros.textbook.closed_loops.constraint_force_algorithm import (
    ...     constraint_force_algorithm,
    ... )
    >>> result = constraint_force_algorithm(model, q, v, tau)
    >>> np.allclose(result.dynamics.qdd, a), result.depth  # in log2 6 steps
    (True, 2)
    """
    _require_chain(model)
    system = global_system(model, q, v, tau, external_forces)
    joints = len(model.bodies)
    Phi = np.linalg.inv([system.I[6 * i : 6 * i + 6, 6 * i : 6 * i + 6].toarray()
                         for i in range(joints)])  # fmt: skip
    before = np.concatenate([np.zeros((1, 6, 6)), Phi[:-1]])

    # Blocks of joints with fewer constraints than 6 are padded with ones on the diagonal.
    sizes = [6 - body.joint.nv for body in model.bodies]
    T = np.zeros((joints, 6, 6))
    c = np.zeros((joints, 6))
    rows, columns, start = system.T.toarray(), system.c, 0
    for j, size in enumerate(sizes):
        T[j, :, :size] = rows[6 * j : 6 * j + 6, start : start + size]
        c[j, :size] = columns[start : start + size]
        start += size
    T_T = T.transpose(0, 2, 1)
    filled = np.array([np.diag([0.0] * size + [1.0] * (6 - size)) for size in sizes])
    free = (Phi @ system.b.reshape(joints, 6, 1))[:, :, 0]
    free_before = np.concatenate([np.zeros((1, 6)), free[:-1]])
    diagonal = T_T @ (Phi + before) @ T + filled
    lower = np.concatenate([np.zeros((1, 6, 6)), -T_T[1:] @ Phi[:-1] @ T[:-1]])
    upper = np.concatenate([lower[1:].transpose(0, 2, 1), np.zeros((1, 6, 6))])
    right = c - (T_T @ (free - free_before)[:, :, None])[:, :, 0]
    x, depth = block_cyclic_reduction(lower, diagonal, upper, right)

    forces = np.concatenate([x[j, :size] for j, size in enumerate(sizes)])
    carried = (T @ x[:, :, None])[:, :, 0]
    onward = np.concatenate([carried[1:], np.zeros((1, 6))])
    a = free + (Phi @ (carried - onward)[:, :, None])[:, :, 0]
    return ChainDynamics(joint_results(system, a.ravel(), forces), depth)


def block_cyclic_reduction(
    lower: ArrayLike, diagonal: ArrayLike, upper: ArrayLike, right: ArrayLike
) -> CyclicReduction:
    """Solve lower_i x_(i-1) + diagonal_i x_i + upper_i x_(i+1) = right_i for all i.

    Every other block is eliminated at once, which leaves a system of the same form and half the
    number of blocks. Pivoting stays within blocks: positive-definite matrices need no other.

    :param lower: blocks left of the diagonal, (N, m, m), the first one zero
    :param diagonal: blocks on it, (N, m, m)
    :param upper: blocks right of it, (N, m, m), the last one zero
    :param right: right-hand side, (N, m)
    :raises ValueError: for inconsistent shapes

    >>> from rbd_ros.textbook.closed_loops.constraint_force_algorithm import (
    ...     block_cyclic_reduction,
    ... )
    >>> one = np.ones((4, 1, 1))  # -x_(i-1) + 2 x_i - x_(i+1) = 1
    >>> lower, upper = -one, -one
    >>> lower[0] = upper[-1] = 0.0
    >>> block_cyclic_reduction(lower, 2.0 * one, upper, np.ones((4, 1))).x[:, 0]
    array([2., 3., 3., 2.])
    """
    L, D, U = (np.asarray(x, dtype=float) for x in (lower, diagonal, upper))
    r = np.asarray(right, dtype=float)
    if D.ndim != 3 or D.shape[1] != D.shape[2] or not (L.shape == D.shape == U.shape):
        raise ValueError(f'blocks must be (N, m, m) each, got {L.shape}, {D.shape}, {U.shape}')
    if r.shape != D.shape[:2] or not len(r):
        raise ValueError(f'right must be {D.shape[:2]} with at least one block, got {r.shape}')
    return _reduced(L, D, U, r)


def _reduced(L: Floats, D: Floats, U: Floats, r: Floats) -> CyclicReduction:
    N, m = r.shape
    # Blocks 0, 2, 4, ... in terms of their neighbors: one batch of small solutions
    out = np.concatenate([L[::2], U[::2], r[::2, :, None]], axis=2)
    solved = np.linalg.solve(D[::2], out)
    by_left, by_right, alone = solved[:, :, :m], solved[:, :, m : 2 * m], solved[:, :, 2 * m]
    x = np.zeros((N, m))
    depth = 0
    if N > 1:
        L_, U_ = L[1::2], U[1::2]
        kept = len(L_)
        # The last of an even number of blocks has no right neighbor: padded with zeros.
        pad = np.zeros((1, m, m))
        after_left, after_right = (
            np.concatenate([blocks[1:], pad])[:kept] for blocks in (by_left, by_right)
        )
        after_alone = np.concatenate([alone[1:], np.zeros((1, m))])[:kept]
        rest = _reduced(
            -L_ @ by_left[:kept],
            D[1::2] - L_ @ by_right[:kept] - U_ @ after_left,
            -U_ @ after_right,
            r[1::2] - (L_ @ alone[:kept, :, None] + U_ @ after_alone[:, :, None])[:, :, 0],
        )
        x[1::2], depth = rest.x, rest.depth + 1
    left = np.concatenate([np.zeros((1, m)), x[1::2]])[: len(alone)]
    right = np.concatenate([x[1::2], np.zeros((1, m))])[: len(alone)]
    x[::2] = alone - (by_left @ left[:, :, None] + by_right @ right[:, :, None])[:, :, 0]
    return CyclicReduction(x, depth)


def _require_chain(model: Model) -> None:
    problem = ''
    if model.loops or model.couplings:
        problem = 'loops or gears'
    elif any(body.parent != i - 1 for i, body in model.outward()):
        problem = 'branches'
    elif any(body.armature for body in model.bodies):
        problem = 'rotors, which couple joints that are not neighbors'
    elif any(body.inertia.mass == 0.0 for body in model.bodies):
        problem = 'bodies without mass'
    if problem or not model.bodies:
        raise ModelError(
            f'the constraint-force algorithm supports unbranched chains only; {model.name!r} has '
            f'{problem or "no bodies"}'
        )
