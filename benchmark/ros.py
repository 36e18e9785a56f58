#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Cost of the nodes at 1 kHz, compared with bare loops that only receive and publish messages.

    benchmark/ros.py [--parts loops,real_time,endurance,start] [--nodes simulator,...] [--quick]
                     [--messages 10000000] [--json FILE] [--plot FILE.png]
                     [--document docs/measurements.md]

Further parts are real-time deadlines of the simulator, endurance with many messages, and start
time. Exit code 1 if a goal is not reached. Needs Linux and an otherwise idle machine.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
import json
import os
from pathlib import Path
import sys
from typing import List, Optional

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from marked import Part  # noqa: E402
from measurement import machine, Progress, versions  # noqa: E402
from ros_measures import endurance, loops, real_time, start, table  # noqa: E402
from ros_measures.row import Row  # noqa: E402

FORMAT = 'rbd_ros benchmark of nodes 2'
PARTS = ('loops', 'real_time', 'endurance', 'start')
NODES = tuple(endurance.PARAMETERS)
QUICK_WARM_SECONDS = 3.0

PART = Part('measured nodes', 'benchmark/ros.py')


def measure(arguments: argparse.Namespace, nodes: List[str], parts: List[str]) -> List[Row]:
    """Measure the parts of the command line.

    :raises RuntimeError: if a process does not start, or ends
    """
    progress = Progress(arguments.progress, 0)
    rows: List[Row] = []
    looping = [name for name in loops.NODES if name in nodes]
    if 'loops' in parts and looping:
        rows += loops.measure(looping, arguments.rounds, arguments.seconds, progress)
    if 'start' in parts:
        rows += start.measure(nodes, arguments.starts, progress)
    if 'real_time' in parts and 'simulator' in nodes:
        rows += real_time.measure(arguments.real_time, progress)
    if 'endurance' in parts:
        warm = QUICK_WARM_SECONDS if arguments.quick else endurance.WARM_SECONDS
        rows += endurance.measure(nodes, arguments.messages, arguments.longest, warm, progress)
    progress.finish()
    return rows


def parser() -> argparse.ArgumentParser:
    """Return the arguments of the command line."""
    found = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    for name, known in (('parts', PARTS), ('nodes', NODES)):
        found.add_argument(
            f'--{name}',
            default=','.join(known),
            metavar=f'{name[:-1].upper()},...',
            help='what to measure (default: %(default)s)',
        )
    for name, kind, default, text in (
        ('rounds', int, 15, 'turns of each process at 1 kHz'),
        ('seconds', float, 1.0, 'time of a process in a turn [s]'),
        ('starts', int, 7, 'how often a node is started'),
        ('real-time', float, 60.0, 'how long the simulator has to keep time [s]'),
        ('messages', int, 200_000, 'messages through each node; 10 000 000 take hours'),
        ('longest', float, float('inf'), 'time after which the messages of a node are enough [s]'),
    ):
        found.add_argument(
            f'--{name}', type=kind, default=default, help=f'{text} (default: %(default)s)'
        )
    found.add_argument('--quick', action='store_true', help='a glance: all of it shorter')
    found.add_argument('--json', metavar='FILE', help='write the results as JSON')
    found.add_argument('--plot', metavar='FILE.png', help='plot the ratios beside their goals')
    found.add_argument(
        '--document',
        metavar='FILE.md',
        help='put the table between the markers of a Markdown file',
    )
    found.add_argument(
        '--progress',
        action='store_true',
        default=None,
        help='say what is being done even where there is no terminal',
    )
    return found


def main(argv: Optional[List[str]] = None) -> int:
    """Run the command line and print the table."""
    reader = parser()
    arguments = reader.parse_args(argv)
    chosen = {}
    for name, known in (('parts', PARTS), ('nodes', NODES)):
        chosen[name] = getattr(arguments, name).split(',')
        if unknown := [each for each in chosen[name] if each not in known]:
            reader.error(f'{name}: there is no {unknown[0]!r}, but {", ".join(known)}')
    if not Path('/proc/self/schedstat').exists():
        reader.error('needs Linux, whose /proc has the processor time of each thread')
    if arguments.quick:
        arguments.rounds, arguments.starts, arguments.real_time = 3, 2, 5.0
        arguments.messages, arguments.longest = 5000, 5.0
    try:
        rows = measure(arguments, chosen['nodes'], chosen['parts'])
    except RuntimeError as error:
        reader.exit(2, f'\n{error}\n')
    facts = {
        'format': FORMAT,
        'machine': machine(),
        'versions': versions(),
        'middleware': os.environ.get('RMW_IMPLEMENTATION') or 'the default middleware',
        'rounds': arguments.rounds,
        'seconds': arguments.seconds,
        'rows': [{**asdict(row), 'verdict': row.verdict} for row in rows],
    }
    print('\n'.join(table.report(facts, rows)))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(facts, indent=2) + '\n', encoding='utf-8')
    if arguments.document:
        PART.replace(Path(arguments.document), list(table.markdown(facts, rows)))
    if arguments.plot:
        table.plot(facts, rows, arguments.plot)
    return 0 if all(row.holds for row in rows) else 1


if __name__ == '__main__':
    sys.exit(main())
