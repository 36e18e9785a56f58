# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A figure of benchmark/hil.py and its goal, and the table of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence

from marked import row as text_row
from measurement.text_table import columns, number

HEAD = ('part', 'figure', 'measured', 'goal', '')


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    :param part: part of the benchmark
    :param what: measured quantity, with its unit
    :param value: the value
    :param goal: the goal, as text; empty without one
    :param holds: whether the goal is reached
    """

    part: str
    what: str
    value: float
    goal: str = ''
    holds: bool = True

    @property
    def verdict(self) -> str:
        """PASS if the goal is reached, else BELOW; empty without one."""
        if not self.goal:
            return ''
        return 'PASS' if self.holds else 'BELOW'


def at_least(part: str, what: str, value: float, least: float) -> Figure:
    """Return a figure with a lower bound."""
    return Figure(part, what, value, f'at least {least:g}', value >= least)


def at_most(part: str, what: str, value: float, most: float) -> Figure:
    """Return a figure with an upper bound."""
    return Figure(part, what, value, f'at most {most:g}', value <= most)


def reported(part: str, what: str, value: Optional[float]) -> Figure:
    """Return a figure without a goal."""
    return Figure(part, what, float('nan') if value is None else value)


def cells(figure: Figure) -> tuple:
    """Return the cells of a figure, as text."""
    whole = float(figure.value).is_integer() and abs(figure.value) < 1e6
    value = f'{figure.value:.0f}' if whole else number(figure.value)
    return figure.part, figure.what, value, figure.goal, figure.verdict


def report(facts: Dict[str, Any], figures: Sequence[Figure]) -> Iterator[str]:
    """Yield the lines of the table for a terminal."""
    yield conditions(facts)
    yield ''
    yield from columns([HEAD, *map(cells, figures)], rule_after=1)
    yield ''
    judged = [each for each in figures if each.goal]
    good = sum(each.holds for each in judged)
    yield f'{good} of {len(judged)} goals are reached, {len(judged) - good} are not'


def markdown(facts: Dict[str, Any], figures: Sequence[Figure]) -> Iterator[str]:
    """Yield the lines of the table for a document."""
    yield f'Measured on {conditions(facts)}.'
    yield ''
    rule: List[str] = [':---' if k < 2 else '---:' for k in range(len(HEAD))]
    for line in (('Part', 'Figure', 'Measured', 'Goal', 'Verdict'), rule, *map(cells, figures)):
        yield text_row(line)


def conditions(facts: Dict[str, Any]) -> str:
    """Return the conditions of the measurement."""
    computer, made_by = facts['machine'], facts['versions']
    return (
        f'{computer["cpu"]}, {computer["cores"]} cores, {computer["system"]}, Python '
        f'{made_by["python"]}, NumPy {made_by["numpy"]}, {facts["middleware"]}'
    )
