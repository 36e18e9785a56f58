# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The measured table as Markdown between the markers of docs/measurements.md, and as a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, List

from marked import Part, row as text_line
from measurement.plot import plot_groups
from rows import SHORT
from sections.batches import BATCH

PART = Part('measured table', 'benchmark/run.py')
HEAD = (
    'Robot', 'Function', 'rbd_ros [ns]', 'Pinocchio [ns]', 'Measured', 'Middle half of the rounds',
    'Floor', 'Verdict',
)  # fmt: skip

_MARKS = {'single_calls': 'single', 'batches': 'batch'}  # in the plot, by section


def update(path: Path, facts: Dict[str, Any]) -> None:
    """Replace the text between the markers of a Markdown file.

    :raises ValueError: if the file has no markers
    """
    PART.replace(path, markdown(facts))


def markdown(facts: Dict[str, Any]) -> List[str]:
    """Return the lines of Markdown with the facts of benchmark/run.py."""
    from run import cells, notes
    from sections import SECTIONS

    computer, made_by = facts['machine'], facts['versions']
    lines = [
        f'Measured on {computer["cpu"]}, {computer["cores"]} cores ({computer["architecture"]}, '
        f'{computer["vectors"]}), {computer["system"]}, Python {made_by["python"]}, NumPy '
        f'{made_by["numpy"]}, llvmlite {made_by["llvmlite"]}, Pinocchio {made_by["pin"]}.'
    ]
    rule = [':---' if k < 2 else '---:' for k in range(len(HEAD))]
    for section in facts['sections']:
        rows = [row for row in facts['rows'] if row['section'] == section]
        lines += ['', f'**{SECTIONS[section].title}**', '', text_line(HEAD), text_line(rule)]
        lines += [text_line(cells(each)) for each in rows]
        lines += [
            f'\nSkipped: {reason}'
            for reason in sorted({row['skipped'] for row in rows if row['skipped']})
        ]
    return [*lines, *(note and f'* {note}' for note in notes(facts))]


def plot(facts: Dict[str, Any], path: str) -> None:
    """Plot the time per state of each robot and function."""
    groups: Dict[str, Dict[str, tuple]] = {}
    titles: Dict[str, str] = {}
    for row in facts['rows']:
        if row['section'] not in _MARKS or row['value'] is None:
            continue
        name = SHORT[row['function']]
        times, factors = groups.setdefault(row['robot'], {}).setdefault(name, ({}, {}))
        mark = _MARKS[row['section']]
        times[mark], factors[mark] = row['detail']['ours_ns'], row['value']
        if mark == 'single':
            times['theirs'] = row['detail']['theirs_ns']
        titles[row['robot']] = f'{row["robot"]}, {row["freedoms"][0]} degrees of freedom'
    if not groups:
        raise ValueError('there is nothing to plot: no single calls and no batches were measured')
    plot_groups(
        [
            (titles[name], [(label, *both) for label, both in rows.items()])
            for name, rows in groups.items()
        ],
        path,
        f'batches of {BATCH} states; {facts["machine"]["cpu"]}; factors against '
        'Pinocchio called from Python, for a batch in a loop',
    )
