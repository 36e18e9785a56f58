# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A row of the table of benchmark/ros.py: a quantity of a node, and its goal."""

from __future__ import annotations

from dataclasses import dataclass
import statistics
from typing import List, Optional, Sequence


@dataclass
class Row:
    """One line of the table.

    :param node: name of the node
    :param quantity: quantity, with its unit
    :param value: value of the node
    :param bare: value of the bare loop, None without one
    :param holds: whether the goal is reached
    :param goal: the goal, as text
    :param ratio: ratio of the node to the bare loop, median over the rounds
    :param ratio_quartiles: its lower and upper quartile
    """

    node: str
    quantity: str
    value: float
    bare: Optional[float]
    holds: bool
    goal: str
    ratio: Optional[float] = None
    ratio_quartiles: Optional[List[float]] = None

    @property
    def verdict(self) -> str:
        """PASS if the goal is reached, else BELOW."""
        return 'PASS' if self.holds else 'BELOW'

    @property
    def limit(self) -> float:
        """The number in the goal."""
        return float(self.goal.split()[0])


def compared(
    node: str, quantity: str, ours: Sequence[float], theirs: Sequence[float], largest: float
) -> Row:
    """Return the row with the ratio of a node to the bare loop, from each round.

    :param ours: the node's value in each round
    :param theirs: that of the bare loop
    :param largest: maximum ratio, the goal
    """
    ratios = [a / b for a, b in zip(ours, theirs)]
    low, ratio, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    return Row(
        node,
        quantity,
        statistics.median(ours),
        statistics.median(theirs),
        ratio <= largest,
        f'{largest:g} x',
        ratio,
        [low, high],
    )


def at_most(
    node: str, quantity: str, value: float, largest: float, bare: Optional[float] = None
) -> Row:
    """Return the row with a value that must not exceed `largest`."""
    return Row(node, quantity, value, bare, value <= largest, f'{largest:g}')
