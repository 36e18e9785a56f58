# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Expanded parent array: the tree of joint variables instead of joints (book 6.5, table 6.4).

Each joint of several DoFs is a chain of one-DoF joints. The array gives the branch-induced zeros
of an inertia matrix, which the sparse factorizations (sparse_factors.py) skip.
"""

from itertools import accumulate
from typing import Iterator, List, Sequence, Tuple

from rbd_ros.model import Model

#: Parents lambda(1), lambda(2), ..., in the book's numbers: the base is 0.
Parents = Sequence[int]


def expand_parents(parents: Parents, dofs: Sequence[int]) -> Tuple[int, ...]:
    """Return the expanded parent array lambda' of a tree (book table 6.4).

    A joint without a DoF, such as a weld, has no entry in the new array: its children belong to
    the variable before.

    :param parents: parent of each body, (bodies,), the base being 0
    :param dofs: degrees of freedom of each joint, (bodies,)
    :return: parent of each joint variable, (n,), 0 for none
    :raises ValueError: if a parent does not come before its body, or the lengths differ
    """
    if len(parents) != len(dofs):
        raise ValueError(
            f'got parents of {len(parents)} bodies, but degrees of freedom of {len(dofs)}'
        )
    for i, parent in enumerate(parents, start=1):
        if not 0 <= parent < i:
            raise ValueError(
                f'body {i} has the parent {parent}; a parent must have a lower number than its '
                'body'
            )
    # End of the variables of body i; that of a weld is its parent's.
    last, ends = [0], [0, *accumulate(dofs)]
    expanded = list(range(ends[-1]))
    for i, parent in enumerate(parents, start=1):
        if dofs[i - 1] > 0:
            expanded[ends[i - 1]] = last[parent]
        last.append(ends[i] if dofs[i - 1] > 0 else last[parent])
    return tuple(expanded)


def expanded_parents(model: Model) -> Tuple[int, ...]:
    """Return the parent of each degree of freedom, (tree_nv,), 0 for none (book table 6.4).

    :param model: the tree; gears are ignored, though they fill in branch-induced zeros
    """
    bodies = [body for _, body in model.outward()]
    return expand_parents([x.parent for x in bodies], [x.joint.nv for x in bodies])


def above(parents: Parents, k: int) -> Iterator[int]:
    """Yield the rows above a row of a sparse matrix.

    lambda(k), lambda(lambda(k)), ..., counted from 0.

    :param parents: expanded parent array, in the book's numbers
    :param k: the row, counted from 0
    """
    j = parents[k]
    while j != 0:
        yield j - 1
        j = parents[j - 1]


def pattern(parents: Parents) -> List[List[bool]]:
    """Return the nonzero pattern of an inertia matrix in all states, (n, n) (book 6.4, fig. 6.2).

    :param parents: expanded parent array, (n,)
    """
    n = len(parents)
    places = [[i == j for j in range(n)] for i in range(n)]
    for k in range(n):
        for i in above(parents, k):
            places[k][i] = places[i][k] = True
    return places
