# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mobility, overconstraint and redundant loops of a closed-loop system (book 8.10)."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, NamedTuple, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.algorithms.closed_loops.constraint_rank import rank_of, RANK_TOLERANCE
from rbd_ros.algorithms.closed_loops.loop_closure import loop_closure
from rbd_ros.model import Model


class RedundantLoop(NamedTuple):
    """A loop joint with constraints that follow from those of the tree and the other loops.

    :param name: name of the loop joint
    :param constraints: number of its constraints
    :param redundant: number of redundant ones
    """

    name: str
    constraints: int
    redundant: int


class Mobility(NamedTuple):
    """Degrees of motion freedom of a system with loops, in one configuration (book 8.10).

    :param dofs: n, independent degrees of freedom of the spanning tree
    :param total_dofs: n_tot, with those of the loop joints
    :param loops: N_L, number of loops
    :param constraints: n_c, number of loop constraints
    :param rank: r, rank of their Jacobian K
    :param redundant_loops: loop joints with redundant constraints
    """

    dofs: int
    total_dofs: int
    loops: int
    constraints: int
    rank: int
    redundant_loops: Tuple[RedundantLoop, ...]

    @property
    def mobility(self) -> int:
        """Degrees of motion freedom, n - r (book eq 8.52)."""
        return self.dofs - self.rank

    @property
    def overconstraint(self) -> int:
        """Number of redundant constraints n_c - r, whose forces are not determined."""
        return self.constraints - self.rank

    @property
    def is_properly_constrained(self) -> bool:
        """True if no constraint is redundant."""
        return self.overconstraint == 0

    def generic(self, dimensions: int = 3) -> int:
        """Return the mobility of a properly constrained system (book eq 8.53, 8.54).

        :param dimensions: 3 for n_tot - 6 N_L; 2 for n_tot - 3 N_L, which is right for motion in
            parallel planes
        :raises ValueError: for another number
        """
        if dimensions not in (2, 3):
            raise ValueError(f'dimensions must be 2 or 3, got {dimensions}')
        return self.total_dofs - (6 if dimensions == 3 else 3) * self.loops

    @property
    def excess(self) -> int:
        """Mobility beyond that of a properly constrained system of these joints (eq 8.55)."""
        return self.mobility - self.generic()

    @property
    def report(self) -> str:
        """Report on the constraints in words, with advice on redundant ones."""
        text = (
            f'mobility {self.mobility}: {self.dofs} degrees of freedom of the tree minus '
            f'{self.rank} of the {self.constraints} loop constraints'
        )
        if self.is_properly_constrained:
            return text
        names = ', '.join(
            f'{loop.name!r} ({loop.redundant} of {loop.constraints})'
            for loop in self.redundant_loops
        )
        return (
            f'{text}; {self.overconstraint} are redundant, in the loops closed by {names}: their '
            'constraint forces are not unique; loop joints with fewer constraints avoid that'
        )


def mobility(model: Model, q: ArrayLike, tolerance: float = RANK_TOLERANCE) -> Mobility:
    """Return the mobility of a system in a configuration, which may be a singular one.

    :param model: model with loops (or without)
    :param q: configuration that closes the loops, (nq,) [rad, m]
    :param tolerance: see `rbd_ros.algorithms.closed_loops.constraint_rank.rank_of`

    >>> from rbd_ros.algorithms.closed_loops.mobility import mobility
    >>> found = mobility(four_bar.model, q4)
    >>> found.dofs - found.rank, found.redundant_loops[0].redundant
    (1, 3)
    """
    K = _jacobian(model, q)
    rank = rank_of(K, tolerance)
    redundant, start = [], 0
    for loop in model.loops:
        stop = start + 6 - loop.joint.nv
        others = rank_of(np.delete(K, range(start, stop), axis=0), tolerance)
        spare = stop - start - (rank - others)
        if spare:
            redundant.append(RedundantLoop(loop.name, stop - start, spare))
        start = stop
    dofs = sum(loop.joint.nv for loop in model.loops)
    return Mobility(model.nv, model.nv + dofs, len(model.loops), len(K), rank, tuple(redundant))


class MobilityChange(NamedTuple):
    """Change of the mobility along a motion.

    :param sample: number of the first configuration with the new mobility
    :param before: mobility until then
    :param after: mobility from there
    """

    sample: int
    before: int
    after: int


def mobility_changes(
    model: Model, motion: Iterable[ArrayLike], tolerance: float = RANK_TOLERANCE
) -> Iterator[MobilityChange]:
    """Yield each change of the rank of K along a motion (book 8.10, variable mobility).

    :param motion: configurations that close the loops, (nq,) each [rad, m]
    :param tolerance: singular values of K below this fraction of its largest count as zero: which
        configurations count as singular

    >>> from rbd_ros.algorithms.closed_loops.mobility import mobility_changes
    >>> list(mobility_changes(four_bar.model, [q4, q4]))  # it does not change
    []
    """
    before = None
    for sample, q in enumerate(motion):
        after = model.nv - rank_of(_jacobian(model, q), tolerance)
        if before is not None and after != before:
            yield MobilityChange(sample, before, after)
        before = after


def _jacobian(model: Model, q: ArrayLike) -> NDArray[np.float64]:
    """Return the Jacobian K of the loop constraints by the independent DoFs, (n_c, nv)."""
    position: Sequence[float] = np.asarray(q, dtype=float).tolist()
    K: Any = loop_closure(model, model.tree_position(position)).K
    columns = model.independent_columns(K)
    return np.array(columns, dtype=float).reshape(len(K), model.nv)
