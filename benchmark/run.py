#!/usr/bin/env python3
"""The speed that this package promises, measured in one run on one core, as ratios.

    benchmark/run.py [--quick] [--only single,batch,first,kernel] [--json FILE] [--plot FILE.png]
                     [--document docs/performance.md]

Robots and peer come from pip (example-robot-data, pin); what is missing is skipped and named. Exit
code 0 whatever the ratios are: timing decides no test.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass, field
import json
import os
from pathlib import Path
import sys
from typing import Any, Dict, Iterator, List, Optional

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
# Numerical libraries must not help themselves to the other cores.
for _variable in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(_variable, '1')

import document  # noqa: E402
import kernel_alone  # noqa: E402
import robots  # noqa: E402

from rbd_ros import Robot  # noqa: E402
from rbd_ros.cli.bench import columns, number  # noqa: E402
from rbd_ros.cli.first_call import first_calls  # noqa: E402
from rbd_ros.cli.measurement import (  # noqa: E402
    cases,
    compare,
    Comparison,
    FUNCTIONS,
    machine,
    one_thread,
    PinocchioPeer,
    Progress,
    versions,
)

FORMAT = 'rbd_ros benchmark 1'
BATCH = 4096
SECTIONS = {
    'single': 'One call from Python, NumPy in and out, against the same call of pin',
    'batch': f'Per state in a batch of {BATCH} on one core, against pin called in a loop',
    'first': 'First call of one function in a fresh process: processor time of the slowest',
    'kernel': "Kernel alone against Pinocchio's C++ compiled -O3 -march=native",
}
SHORT = {'inverse_dynamics': 'RNEA', 'mass_matrix': 'CRBA', 'forward_dynamics': 'ABA'}
FIRST_CALL_FUNCTIONS = (*FUNCTIONS, 'coriolis_matrix')


@dataclass
class Row:
    """One line of the table.

    :param value: what was measured: a ratio (greater is better) or a time [s] (less is better)
    :param unit: 'x' or 's'
    :param floor: what was promised, None for nothing
    :param skipped: why nothing was measured
    :param freedoms: degrees of freedom of our model and of the peer's
    :param detail: times behind the value
    """

    section: str
    robot: str
    function: str
    unit: str
    floor: Optional[float]
    value: Optional[float] = None
    skipped: str = ''
    freedoms: Optional[List[int]] = None
    detail: Dict[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """PASS or BELOW, empty without a floor, skipped if nothing was measured."""
        if self.value is None:
            return 'skipped'
        if self.floor is None:
            return ''
        good = self.value >= self.floor if self.unit == 'x' else self.value <= self.floor
        return 'PASS' if good else 'BELOW'


def plan(sections: List[str]) -> List[Row]:
    """Rows of the table, with nothing measured yet."""
    rows = []
    for robot in robots.ALL:
        floor = 4.0 if robot in (robots.UR5, robots.PANDA) else 3.0
        rows += [Row('single', robot.name, name, 'x', floor) for name in SHORT]
    for robot in robots.ALL:
        floor = {robots.UR5: 40.0, robots.TALOS: 20.0, robots.TALOS_REDUCED: 20.0}.get(robot)
        for name in SHORT:
            rows.append(
                Row('batch', robot.name, name, 'x', None if name == 'mass_matrix' else floor)
            )
    for robot, floor in ((robots.UR5, 0.5), (robots.PANDA, 0.5), (robots.TALOS, 5.0)):
        rows.append(Row('first', robot.name, 'nothing cached', 's', floor))
        rows.append(Row('first', robot.name, 'cached on disk', 's', 0.05))
    for robot, floor in ((robots.UR5, 7.0), (robots.TALOS, 4.0), (robots.TALOS_REDUCED, 4.0)):
        for name in SHORT:
            rows.append(
                Row('kernel', robot.name, name, 'x', floor if name == 'forward_dynamics' else None)
            )
    return [row for row in rows if row.section in sections]


class Bench:
    """Measurement of the rows of the table.

    :param quick: whether to measure for a shorter time
    :param progress: where to show what comes next
    """

    def __init__(self, quick: bool, progress: Progress):
        self._seconds = 0.02 if quick else 1.5
        self._first_functions = SHORT if quick else FIRST_CALL_FUNCTIONS
        self._quick, self._progress = quick, progress

    def measure(self, rows: List[Row]) -> None:
        """Measure all rows, robot by robot."""
        for robot in robots.ALL:
            mine = [row for row in rows if row.robot == robot.name]
            if not mine:
                continue
            try:
                path = robots.find(robot)
                ours = Robot.from_urdf(path, floating_base=robot.floating_base)
                peer = PinocchioPeer(path.read_text(encoding='utf-8'), robot.floating_base)
            except (FileNotFoundError, ImportError, ValueError) as error:
                for row in mine:
                    row.skipped = str(error)
                continue
            for row in mine:
                row.freedoms = [ours.nv, peer.nv]
            for section, method in (
                ('single', self._calls),
                ('batch', self._calls),
                ('first', self._first),
                ('kernel', self._kernel),
            ):
                chosen = [row for row in mine if row.section == section]
                if chosen:
                    method(chosen, robot, path, ours, peer)

    def _calls(self, rows, robot, path, ours, peer) -> None:
        batch = rows[0].section == 'batch'
        found = cases(ours, [row.function for row in rows], BATCH, peer)
        for row in rows:
            self._progress.step(
                f'{robot.name} {SHORT[row.function]}: {"batch" if batch else "single calls"}'
            )
            case = next(found)
            if batch:
                with one_thread():
                    _fill(row, compare(case.batch, case.peer_loop, self._seconds))
            else:
                _fill(row, compare(case.single, case.peer_single, self._seconds))

    def _first(self, rows, robot, path, ours, peer) -> None:
        times = {}
        for name in self._first_functions:
            self._progress.step(f'{robot.name} {name}: first calls')
            times[name] = first_calls(str(path), name, robot.floating_base)
        for row in rows:
            key = 'cold' if row.function == 'nothing cached' else 'cached'
            calls = {
                f'{name}{suffix}': values[key][what]
                for name, values in times.items()
                for what, suffix in (('call_processor', ''), ('batch_call_processor', ', batch'))
            }
            slowest = max(calls, key=calls.get)
            row.value = calls[slowest]
            row.detail = {
                'slowest': slowest,
                'calls_s': calls,
                'wall_s': max(
                    values[key][what]
                    for values in times.values()
                    for what in ('call', 'batch_call')
                ),
                'import_s': max(values[key]['import'] for values in times.values()),
                'load_s': max(values[key]['load'] for values in times.values()),
            }

    def _kernel(self, rows, robot, path, ours, peer) -> None:
        try:
            if reason := kernel_alone.reason_against():
                raise kernel_alone.Unavailable(reason)
            program = kernel_alone.build(self._progress.step)
            for row in rows:
                self._progress.step(f'{robot.name} {SHORT[row.function]}: kernel alone')
                _fill(row, kernel_alone.measure(program, ours, peer, row.function, self._seconds))
        except kernel_alone.Unavailable as error:
            for row in rows:
                row.skipped = str(error)


def _fill(row: Row, comparison: Comparison) -> None:
    row.value, row.detail = comparison.ratio, comparison.as_dict()


# -- text -----------------------------------------------------------------------------------------


def report(facts: Dict[str, Any]) -> Iterator[str]:
    """Lines of the table."""
    computer, made_by = facts['machine'], facts['versions']
    yield f'{computer["cpu"]}, {computer["cores"]} cores, {computer["vectors"]}'
    yield (
        f'Python {made_by["python"]}, NumPy {made_by["numpy"]}, llvmlite '
        f'{made_by["llvmlite"]}, Pinocchio {made_by["pin"]}'
    )
    for section, title in SECTIONS.items():
        rows = [row for row in facts['rows'] if row['section'] == section]
        if not rows:
            continue
        yield ''
        yield title
        if section == 'first':
            head = ('robot', 'function', 'slowest', 'time', 'by the wall', 'floor', '')
        else:
            head = (
                'robot',
                'function',
                'ours [ns]',
                'theirs [ns]',
                'ratio',
                'middle half',
                'floor',
                '',
            )
        yield from (
            '  ' + line for line in columns([head, *(text_row(row) for row in rows)], rule_after=1)
        )
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
    """Remarks below the table: models that differ, and what comes before a first call."""
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
    if any(row['section'] == 'first' for row in facts['rows']):
        before = [
            row['detail']['import_s'] + row['detail']['load_s']
            for row in facts['rows']
            if row['section'] == 'first' and row['detail']
        ]
        if before:
            lines.append(
                f'First calls: importing the package and reading the URDF come before, up to '
                f'{max(before):.2f} s here; functions: {", ".join(FIRST_CALL_FUNCTIONS)}; one '
                'state and a first batch.'
            )
    return ['', *lines] if lines else []


def text_row(row: Dict[str, Any]) -> tuple:
    """Cells of a row, as text."""
    detail, unit = row['detail'], row['unit']
    floor = '' if row['floor'] is None else f'{row["floor"]:g} {unit}'
    name = SHORT.get(row['function'], row['function'])
    if row['section'] == 'first':
        value = '-' if row['value'] is None else f'{row["value"]:.3f} s'
        wall = '-' if row['value'] is None else f'{detail["wall_s"]:.3f} s'
        return row['robot'], name, detail.get('slowest', '-'), value, wall, floor, row['verdict']
    low, high = detail.get('ratio_quartiles') or (None, None)
    return (
        row['robot'],
        name,
        number(detail.get('ours_ns')),
        number(detail.get('theirs_ns')),
        f'{number(row["value"])} x',
        '-' if low is None else f'{number(low)} .. {number(high)}',
        floor,
        row['verdict'],
    )


def main(argv: Optional[List[str]] = None) -> int:
    """Measure as the command line says and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument(
        '--only',
        default=','.join(SECTIONS),
        metavar='SECTION,...',
        help='sections to measure (default: %(default)s)',
    )
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
    sections = arguments.only.split(',')
    if unknown := [name for name in sections if name not in SECTIONS]:
        parser.error(f'unknown section {unknown[0]!r}; there are {", ".join(SECTIONS)}')
    names = [robot.name for robot in robots.ALL]
    wanted = arguments.robots.split(',') if arguments.robots else names
    if unknown := [name for name in wanted if name not in names]:
        parser.error(f'unknown robot {unknown[0]!r}; there are {", ".join(names)}')

    rows = [row for row in plan(sections) if row.robot in wanted]
    measured = [row for row in rows if row.section != 'first']
    first = len({row.robot for row in rows if row.section == 'first'})
    count = len(SHORT if arguments.quick else FIRST_CALL_FUNCTIONS)
    progress = Progress(arguments.progress, len(measured) + first * count)
    Bench(arguments.quick, progress).measure(rows)
    progress.finish()
    facts = {
        'format': FORMAT,
        'machine': machine(),
        'versions': versions(),
        'batch': BATCH,
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
