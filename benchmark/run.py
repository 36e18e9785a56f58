#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Speed of this package, measured in one run, as ratios to a peer if there is one.

    benchmark/run.py [--quick] [--all] [--only SECTION,...] [--robots NAME,...] [--json FILE]
                     [--plot FILE.png] [--document docs/measurements.md]

Robots and peer come from pip (example-robot-data, pin); missing ones are skipped and named. The
exit code is 0 for any ratio: no test depends on timing.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
import json
import os
from pathlib import Path
import sys
from typing import Any, Dict, Iterator, List, Optional, Sequence

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
# Numerical libraries must not use the other cores.
for _variable in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(_variable, '1')

import document  # noqa: E402
from measurement import machine, Progress, versions  # noqa: E402
from measurement.text_table import columns, number  # noqa: E402
import robots  # noqa: E402
from rows import Row, SHORT  # noqa: E402
from sections import SECTIONS  # noqa: E402
from sections.section import Tools  # noqa: E402

FORMAT = 'rbd_ros benchmark 2'
HEAD = ('', '', 'ours [ns]', 'theirs [ns]', 'measured', 'middle half', 'floor', '')


def measure(rows: Sequence[Row], tools: Tools) -> None:
    """Measure all rows; skipped rows have the reason."""
    for row in rows:
        tools.step(row)
        try:
            SECTIONS[row.section].measure(row, tools)
        except (FileNotFoundError, ImportError, ValueError, RuntimeError) as error:
            row.skipped = str(error)


# -- text -----------------------------------------------------------------------------------------


def report(facts: Dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table."""
    computer, made_by = facts['machine'], facts['versions']
    yield f'{computer["cpu"]}, {computer["cores"]} cores, {computer["vectors"]}'
    yield (
        f'Python {made_by["python"]}, NumPy {made_by["numpy"]}, llvmlite '
        f'{made_by["llvmlite"]}, Pinocchio {made_by["pin"]}'
    )
    for section in facts['sections']:
        yield from ('', SECTIONS[section].title)
        rows = [row for row in facts['rows'] if row['section'] == section]
        yield from ('  ' + line for line in columns([HEAD, *map(cells, rows)], rule_after=1))
        for reason in sorted({row['skipped'] for row in rows if row['skipped']}):
            yield f'  skipped: {reason}'
    yield from notes(facts)
    yield ''
    verdicts = [row['verdict'] for row in facts['rows'] if row['floor'] is not None]
    yield (
        f'{verdicts.count("PASS")} of {len(verdicts)} floors hold, '
        f'{verdicts.count("BELOW")} do not, {verdicts.count("skipped")} were not measured'
    )


def notes(facts: Dict[str, Any]) -> List[str]:
    """Return the remarks below the table: models that differ."""
    differing = {
        row['robot']: row['freedoms']
        for row in facts['rows']
        if row['freedoms'] and row['freedoms'][0] != row['freedoms'][1]
    }
    lines = [
        f'{robot}: Pinocchio computes {peer} degrees of freedom, this package {ours}; mimic '
        'joints, which follow another joint, are independent there.'
        for robot, (ours, peer) in differing.items()
    ]
    return ['', *lines] if lines else []


def cells(row: Dict[str, Any]) -> tuple:
    """Return the cells of a row, as text."""
    detail, unit = row['detail'], row['unit']
    low, high = detail.get('ratio_quartiles') or (None, None)
    return (
        row['robot'],
        SHORT.get(row['function'], row['function']),
        number(detail.get('ours_ns')),
        number(detail.get('theirs_ns')),
        '-' if row['value'] is None else f'{number(row["value"])} {unit}'.strip(),
        '-' if low is None else f'{number(low)} .. {number(high)}',
        '' if row['floor'] is None else f'{row["floor"]:.3g} {unit}'.strip(),
        row['verdict'],
    )


def main(argv: Optional[List[str]] = None) -> int:
    """Run the command line and print the table."""
    long = [name for name, section in SECTIONS.items() if section.long]
    usual = [name for name in SECTIONS if name not in long]
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument(
        '--only',
        metavar='SECTION,...',
        help=f'sections to measure (default: {", ".join(usual)})',
    )
    parser.add_argument('--all', action='store_true', help=f'all sections: {", ".join(long)}, too')
    parser.add_argument('--robots', metavar='NAME,...', help='robots to measure (default: all)')
    parser.add_argument('--quick', action='store_true', help='measure less carefully')
    parser.add_argument('--json', metavar='FILE', help='write the results as JSON')
    parser.add_argument('--plot', metavar='FILE.png', help='write a plot of the time of a state')
    parser.add_argument(
        '--document',
        metavar='FILE.md',
        help='put the table between the markers of a Markdown file',
    )
    parser.add_argument(
        '--progress',
        action='store_true',
        default=None,
        help='say what is being measured even where there is no terminal',
    )
    arguments = parser.parse_args(argv)
    sections = list(SECTIONS) if arguments.all else usual
    if arguments.only:
        sections = arguments.only.split(',')
    if unknown := [name for name in sections if name not in SECTIONS]:
        parser.error(f'unknown section {unknown[0]!r}; there are {", ".join(SECTIONS)}')
    names = [robot.name for robot in robots.EVERY]
    chosen = arguments.robots.split(',') if arguments.robots else None
    if unknown := [name for name in chosen or () if name not in names]:
        parser.error(f'unknown robot {unknown[0]!r}; there are {", ".join(names)}')

    rows = [row for name in sections for row in SECTIONS[name].rows()]
    rows = [row for row in rows if chosen is None or row.robot in chosen]
    progress = Progress(arguments.progress, len(rows))
    measure(rows, Tools(arguments.quick, progress))
    progress.finish()
    facts = {
        'format': FORMAT,
        'machine': machine(),
        'versions': versions(),
        'sections': [name for name in sections if any(row.section == name for row in rows)],
        'quick': arguments.quick,
        'rows': [{**asdict(row), 'verdict': row.verdict} for row in rows],
    }
    print('\n'.join(report(facts)))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(facts, indent=2) + '\n', encoding='utf-8')
    if arguments.plot:
        document.plot(facts, arguments.plot)
    if arguments.document:
        document.update(Path(arguments.document), facts)
    return 0


if __name__ == '__main__':
    sys.exit(main())
