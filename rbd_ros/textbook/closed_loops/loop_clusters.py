# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Minimal loop clusters, which make K and G block-diagonal (book 8.9).

Two loops are coupled if they have a joint in common. Joints that are coupled by gears count as
one.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Set, Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.algorithms.closed_loops.elimination import eliminate, Elimination, TOLERANCE
from rbd_ros.model import LoopJoint, Model


class LoopCluster(NamedTuple):
    """Loops that are coupled to each other and to no other.

    :param loops: numbers of the loops in `Model.loops`
    :param bodies: bodies whose tree joints lie on these loops, in ascending order
    :param rows: rows of K of the loops' constraints
    :param columns: columns of K that may be nonzero in these rows: the independent DoFs
        of these joints
    """

    loops: Tuple[int, ...]
    bodies: Tuple[int, ...]
    rows: Tuple[int, ...]
    columns: Tuple[int, ...]


def loop_path(model: Model, loop: LoopJoint) -> Tuple[int, ...]:
    """Return the bodies whose tree joints lie on the loop of a loop joint, in ascending order.

    They support its successor or its predecessor, but not both (book eq 8.20).
    """
    ends = (set(model.support(frame.body)) for frame in (loop.predecessor, loop.successor))
    return tuple(sorted(next(ends) ^ next(ends)))


def loop_clusters(model: Model) -> Tuple[LoopCluster, ...]:
    """Return the minimal loop clusters in the order of their first joints (book 8.9).

    >>> from rbd_ros.textbook.closed_loops.loop_clusters import loop_clusters
    >>> (cluster,) = loop_clusters(four_bar.model)
    >>> cluster.bodies, cluster.columns  # the loop goes through all of them
    ((1, 2, 3), (0, 1, 2))
    """
    gathered: List[Tuple[Set[int], Set[int]]] = []  # loops, degrees of freedom
    for number, loop in enumerate(model.loops):
        loops, dofs = {number}, _dofs(model, loop_path(model, loop))
        separate = []
        for others, theirs in gathered:
            if theirs & dofs:
                loops, dofs = loops | others, dofs | theirs
            else:
                separate.append((others, theirs))
        gathered = [*separate, (loops, dofs)]
    starts = np.cumsum([0] + [6 - loop.joint.nv for loop in model.loops])
    clusters = []
    for members, dofs in gathered:
        bodies = {i for number in members for i in loop_path(model, model.loops[number])}
        rows = (row for n in sorted(members) for row in range(starts[n], starts[n + 1]))
        clusters.append(
            LoopCluster(
                tuple(sorted(members)),
                tuple(sorted(bodies)),
                tuple(map(int, rows)),
                tuple(sorted(dofs)),
            )
        )
    return tuple(sorted(clusters, key=lambda cluster: cluster.bodies))


def unconstrained_columns(model: Model) -> Tuple[int, ...]:
    """Return the columns of K that are zero: independent DoFs of joints on no loop."""
    on_loops = {column for cluster in loop_clusters(model) for column in cluster.columns}
    return tuple(column for column in range(model.nv) if column not in on_loops)


def cluster_numbering(model: Model) -> Tuple[int, ...]:
    """Return an order of the bodies, parents first, that keeps those of a cluster together.

    Numbered in this order, K is block-diagonal with gaps, and G without (book figure 8.1).

    :return: numbers of the bodies, 1 to N_B in some order
    """
    group: Dict[int, Tuple[int, ...]] = {i: (i,) for i, _ in model.outward()}
    for cluster in loop_clusters(model):
        merged = sorted({other for i in cluster.bodies for other in group[i]})
        group.update(dict.fromkeys(merged, tuple(merged)))
    order: List[int] = []
    waiting = sorted(set(group.values()))
    while waiting:
        known = {0, *order}
        ready = next(
            bodies
            for bodies in waiting
            if all(model.body(i).parent in known or model.body(i).parent in bodies for i in bodies)
        )
        order.extend(ready)
        waiting.remove(ready)
    return tuple(order)


def eliminate_by_clusters(
    model: Model, K: ArrayLike, k: Optional[ArrayLike] = None, tolerance: float = TOLERANCE
) -> Elimination:
    """Solve K x = k as `eliminate` does, one cluster after another (book 8.9).

    :param K: Jacobian of the loop constraints, (n_c, nv)
    :param k: right-hand side, (n_c,); zeros by default
    :param tolerance: see `eliminate`; relative to the elements of each block
    :raises InconsistentConstraintsError: if there is no solution

    >>> from rbd_ros.textbook.closed_loops.loop_clusters import eliminate_by_clusters
    >>> found = eliminate_by_clusters(four_bar.model, terms.K, terms.k)
    >>> np.allclose(terms.K @ found.g, terms.k), found.rank
    (True, 2)
    """
    A = np.asarray(K, dtype=float)
    b = np.zeros(len(A)) if k is None else np.asarray(k, dtype=float)
    n = A.shape[1]
    blocks = [
        (cluster, eliminate(A[np.ix_(cluster.rows, cluster.columns)], b[list(cluster.rows)],
                            tolerance=tolerance))
        for cluster in loop_clusters(model)
    ]  # fmt: skip
    left = set(unconstrained_columns(model))
    left.update(cluster.columns[y] for cluster, block in blocks for y in block.independent)
    independent = sorted(left)
    place = {column: y for y, column in enumerate(independent)}
    G, g = np.zeros((n, len(independent))), np.zeros(n)
    G[independent, range(len(independent))] = 1.0
    for cluster, block in blocks:
        ys = [place[cluster.columns[y]] for y in block.independent]
        G[np.ix_(cluster.columns, ys)] = block.G
        g[list(cluster.columns)] = block.g
    rows = tuple(cluster.rows[row] for cluster, block in blocks for row in block.rows)
    return Elimination(G, g, len(rows), tuple(independent), rows)


def _dofs(model: Model, bodies: Tuple[int, ...]) -> Set[int]:
    """Return the independent degrees of freedom that move some joints."""
    return {k for i in bodies for k in model.tree_dof_index[model.body(i).v]}
