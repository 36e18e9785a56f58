#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Figures of the hardware-in-the-loop bench: lockstep, campaigns, and many steps with faults.

    benchmark/hil.py [--parts lockstep,campaign,processes,cores,killed,soak] [--quick]
                     [--cycles 1000000] [--runs 1000] [--pairs 1000] [--steps 100000000]
                     [--json FILE] [--with FILE] [--document docs/measurements.md]

Exit code 1 if a goal is not reached. Needs Linux, a C compiler, fmpy, and an otherwise idle
machine: lockstep takes five minutes, campaigns a quarter of an hour, those of processes and the
soak half an hour each.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, fields
import json
import os
from pathlib import Path
import sys
import tempfile
from typing import Callable, List, Optional

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
os.environ['OPENBLAS_NUM_THREADS'] = '1'  # read when NumPy is imported

from hil_measures import figure  # noqa: E402
from hil_measures.figure import Figure  # noqa: E402
from marked import Part  # noqa: E402
from measurement import machine, versions  # noqa: E402

FORMAT = 'rbd_ros benchmark of the bench 1'
PARTS = ('lockstep', 'campaign', 'processes', 'cores', 'killed', 'soak')
DURATION = 5.0  # of a run [s]
PART = Part('measured bench', 'benchmark/hil.py')

Progress = Callable[[int, int], None]


def progress_of(part: str, shown: bool) -> Progress:
    """Return a function that shows the progress of a part on standard error."""
    last = [-1]

    def on_progress(done: int, of: int) -> None:
        percent = 100 * done // max(of, 1)
        if shown and percent != last[0]:
            last[0] = percent
            print(f'\r\033[K{part}: {percent} %', end='', file=sys.stderr, flush=True)

    return on_progress


def measure(arguments: argparse.Namespace, parts: List[str], folder: Path) -> List[Figure]:
    """Measure the parts of the command line.

    :raises RuntimeError: if a run fails
    """
    figures: List[Figure] = []
    for part in PARTS:
        if part not in parts:
            continue
        on_progress = progress_of(part, arguments.progress)
        # Each part imports what it needs: ROS, or a C compiler.
        if part == 'lockstep':
            from hil_measures import lockstep

            figures += lockstep.measure(folder, arguments.cycles, on_progress)
        elif part == 'processes':
            from hil_measures import processes

            figures += processes.measure(folder, arguments.pairs, arguments.duration)
        elif part == 'soak':
            from hil_measures import soak

            figures += soak.measure(arguments.steps, on_progress)
        else:
            from hil_measures import campaigns

            runs, duration = arguments.runs, arguments.duration
            if part == 'campaign':
                kinds = campaigns.KINDS[:1] if arguments.quick else campaigns.KINDS
                figures += campaigns.per_core(folder, runs, duration, kinds, on_progress)
            elif part == 'cores':
                figures += campaigns.two_workers(folder, max(4, runs // 4), duration, on_progress)
            else:
                figures += campaigns.killed(folder, max(6, runs // 10), duration, on_progress)
    return figures


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command line."""
    found = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    found.add_argument(
        '--parts',
        default=','.join(PARTS),
        metavar='PART,...',
        help='what to measure (default: %(default)s)',
    )
    for name, default, text in (
        ('cycles', 1_000_000, 'cycles of each of two runs in lockstep'),
        (
            'runs',
            1000,
            'runs of a campaign; a quarter of them for two cores, a tenth for the kill',
        ),
        ('pairs', 1000, 'runs of a controller that is a process'),
        ('steps', 100_000_000, 'steps of the soak'),
    ):
        found.add_argument(
            f'--{name}', type=int, default=default, help=f'{text} (default: %(default)s)'
        )
    found.add_argument('--quick', action='store_true', help='a glance: all of it shorter')
    found.add_argument('--json', metavar='FILE', help='write the results as JSON')
    found.add_argument(
        '--with', dest='others', metavar='FILE', help='show the parts of such a file as well'
    )
    found.add_argument(
        '--document',
        metavar='FILE.md',
        help='put the table between the markers of a Markdown file',
    )
    found.add_argument(
        '--progress',
        action='store_true',
        default=sys.stderr.isatty(),
        help='say how far it is even where there is no terminal',
    )
    found.set_defaults(duration=DURATION)
    return found


def main(argv: Optional[List[str]] = None) -> int:
    """Run the command line, print the table and return the exit code."""
    reader = parser()
    arguments = reader.parse_args(argv)
    parts = arguments.parts.split(',')
    if unknown := [each for each in parts if each not in PARTS]:
        reader.error(f'parts: there is no {unknown[0]!r}, but {", ".join(PARTS)}')
    if arguments.quick:
        arguments.cycles, arguments.runs, arguments.pairs = 5000, 6, 2
        arguments.steps, arguments.duration = 60_000, 0.5
    try:
        with tempfile.TemporaryDirectory() as folder:
            figures = measure(arguments, parts, Path(folder))
    except RuntimeError as error:
        reader.exit(2, f'\n{error}\n')
    if arguments.others:
        before = json.loads(Path(arguments.others).read_text(encoding='utf-8'))['figures']
        names = [field.name for field in fields(Figure)]
        kept = [Figure(**{name: each[name] for name in names}) for each in before]
        measured = {each.part for each in figures}
        figures += [each for each in kept if each.part not in measured]
    if arguments.progress:
        print('\r\033[K', end='', file=sys.stderr, flush=True)
    facts = {
        'format': FORMAT,
        'machine': machine(),
        'versions': versions(),
        'middleware': os.environ.get('RMW_IMPLEMENTATION') or 'the default middleware',
        'figures': [{**asdict(each), 'verdict': each.verdict} for each in figures],
    }
    print('\n'.join(figure.report(facts, figures)))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(facts, indent=2) + '\n', encoding='utf-8')
    if arguments.document:
        PART.replace(Path(arguments.document), list(figure.markdown(facts, figures)))
    return 0 if all(each.holds for each in figures) else 1


if __name__ == '__main__':
    sys.exit(main())
