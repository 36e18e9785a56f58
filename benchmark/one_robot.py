#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Speed of the functions of one robot, compared with Pinocchio.

    benchmark/one_robot.py [ROBOT] [--floating-base] [--functions NAME,...] [--batch N] [--quick]
                           [--json] [--plot FILE]

A robot is given as for the commands of rbd_ros: a file, xacro, a package URI, a name, or - for
standard input. Exit code 1 if it is invalid.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
import sys
import tempfile
import time
from typing import Any, Dict, List, Optional, Sequence, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from measurement import (  # noqa: E402
    Case,
    cases,
    compare,
    FUNCTIONS,
    machine,
    one_thread,
    PinocchioPeer,
    Progress,
    versions,
)
from measurement.cases import last_link  # noqa: E402
from measurement.first_call import first_calls  # noqa: E402
from measurement.functions import inputs  # noqa: E402
from measurement.plot import plot_robot  # noqa: E402
from measurement.text_table import columns, number  # noqa: E402

from rbd_ros import Robot  # noqa: E402
from rbd_ros.cli.options.common_options import add_json_option, add_plot_option  # noqa: E402
from rbd_ros.cli.options.robot_options import (  # noqa: E402
    add_floating_base_option,
    add_robot_argument,
    add_xacro_option,
    description,
)
from rbd_ros.lookup.robots import DEFAULT_ROBOT  # noqa: E402
from rbd_ros.model.urdf.urdf_document import urdf_of_file  # noqa: E402

FORMAT = 'rbd_ros one_robot 1'
_MAX_BATCH = 10**6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_robot_argument(parser, default=DEFAULT_ROBOT)
    add_xacro_option(parser)
    add_floating_base_option(parser)
    parser.add_argument(
        '--functions',
        metavar='NAME,...',
        default=','.join(FUNCTIONS),
        help='functions to measure (default: %(default)s)',
    )
    parser.add_argument(
        '--batch',
        type=int,
        default=4096,
        metavar='N',
        help='number of states in a batch (default: %(default)s)',
    )
    add_json_option(parser)
    add_plot_option(parser)
    parser.add_argument(
        '--quick', action='store_true', help='measure for a shorter time, without first calls'
    )
    parser.add_argument(
        '--progress',
        action='store_true',
        default=None,
        help='show the progress although there is no terminal',
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure and print the table.

    :return: 0
    :raises ModelError: if the URDF cannot become a model
    :raises ValueError: for an unknown function or a wrong number
    """
    if not 1 <= arguments.batch <= _MAX_BATCH:
        raise ValueError(f'--batch must be from 1 to {_MAX_BATCH}, got {arguments.batch}')
    functions = [name.strip() for name in arguments.functions.split(',') if name.strip()]
    if not functions:
        raise ValueError(f'--functions is empty; choose from {", ".join(FUNCTIONS)}')
    for name in functions:
        inputs(name)
    if arguments.plot is not None and not Path(arguments.plot).absolute().parent.is_dir():
        raise ValueError(f'the folder of {arguments.plot} does not exist')
    with _description(arguments.robot, arguments.xacro) as path:
        facts = measure(
            path,
            arguments.floating_base,
            functions,
            arguments.batch,
            arguments.quick,
            arguments.progress,
        )
    print(json.dumps(facts, indent=2) if arguments.json else '\n'.join(report(facts)))
    if arguments.plot:
        plot_robot(facts, arguments.plot)
    return 0


class _description:
    """Context manager with the path of a description, for other processes."""

    def __init__(self, robot: Optional[str], xacro_arguments: Sequence[str] = ()):
        self._robot, self._folder = robot, None
        self._xacro_arguments = xacro_arguments

    def __enter__(self) -> str:
        robot = DEFAULT_ROBOT if self._robot is None else self._robot
        found = description(robot, self._xacro_arguments)
        if robot != '-' and not found.lstrip().startswith('<'):
            return found
        self._folder = tempfile.TemporaryDirectory(prefix='rbd_ros-one-robot-')
        path = Path(self._folder.name) / 'robot.urdf'
        path.write_bytes(found if isinstance(found, bytes) else found.encode())
        return str(path)

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


# -- measurement
# ------------------------------------------------------------------------------------


def measure(
    path: str,
    floating_base: bool = False,
    functions: Sequence[str] = FUNCTIONS,
    batch: int = 4096,
    quick: bool = False,
    progress: Optional[bool] = None,
) -> Dict[str, Any]:
    """Measure the functions of a robot.

    :param path: path of the URDF
    :param floating_base: whether the root link moves freely
    :param functions: names of the functions
    :param batch: number of states in a batch
    :param quick: whether to measure for a shorter time, and no first calls
    :param progress: whether to show progress; None: only on a terminal
    :return: facts in the types of JSON; times per state in nanoseconds, first calls in seconds
    """
    robot = Robot.from_urdf(path, floating_base=floating_base)
    if robot.nv == 0:
        raise ValueError(f'{robot.name!r} has no movable joint, so there is nothing to measure')
    peer, notes = _peer(path, floating_base, robot)
    shown = Progress(progress, len(functions) * (3 if quick else 4))
    rows = []
    for case in cases(robot, functions, batch, peer):
        row = _row(robot, case, 0.02 if quick else 0.5, shown)
        if not quick:
            shown.step(f'{case.label}: first calls')
            row['first_call'] = first_calls(path, case.function, floating_base)
        rows.append(row)
    shown.finish()
    return {
        'format': FORMAT,
        'machine': machine(),
        'versions': versions(),
        'robot': {
            'name': robot.name,
            'nq': robot.nq,
            'nv': robot.nv,
            'links': len(robot.link_names),
            'floating_base': floating_base,
            'compiled': any(row['operations'] is not None for row in rows),
            'peer_nv': None if peer is None else peer.nv,
        },
        'batch': batch,
        'rows': rows,
        'notes': notes,
    }


def _peer(
    path: str, floating_base: bool, robot: Robot
) -> Tuple[Optional[PinocchioPeer], List[str]]:
    try:
        text = urdf_of_file(path).decode(errors='replace')
        peer = PinocchioPeer(text, floating_base)
    except ImportError:
        return None, ['Pinocchio is not installed (pip install pin): no comparison']
    except ValueError as error:
        return None, [f'no comparison: {error}']
    if peer.nv == robot.nv:
        return peer, []
    return peer, [
        f'Pinocchio computes {peer.nv} degrees of freedom, this package {robot.nv}: Pinocchio '
        'treats mimic joints as independent joints'
    ]


def _row(robot: Robot, case: Case, seconds: float, shown: Progress) -> Dict[str, Any]:
    count, itself = (_operations(robot, case.function, equivalent) for equivalent in (True, False))
    shown.step(f'{case.label}: single calls')
    single = compare(case.single, case.peer_single, seconds)
    shown.step(f'{case.label}: batch on one core')
    with one_thread():
        one_core = compare(case.batch, case.peer_loop, seconds)
    shown.step(f'{case.label}: batch on all cores')
    all_cores = compare(case.batch, None, seconds / 2, clock=time.perf_counter)
    values = all_cores.as_dict()
    if one_core.theirs is not None:
        values.update(theirs_ns=one_core.theirs, ratio=one_core.theirs / all_cores.ours)
    return {
        'function': case.function,
        'label': case.label,
        'operations': count,
        'operations_of_the_model_itself': itself,
        'single': single.as_dict(),
        'batch_one_core': one_core.as_dict(),
        'batch_all_cores': values,
        'first_call': None,
    }


def _operations(robot: Robot, function: str, equivalent: bool) -> Optional[Dict[str, int]]:
    options: Dict[str, Any] = {'equivalent': equivalent}
    if function == 'jacobian':
        options['frame'] = last_link(robot)
    count = robot.operation_count(function, **options)
    return None if count is None else dict(vars(count))


# -- text -----------------------------------------------------------------------------------------


def report(facts: Dict[str, Any]) -> List[str]:
    """Return the lines of a report with the facts of `measure`."""
    robot, computer, made_by = facts['robot'], facts['machine'], facts['versions']
    lines = [
        f'{robot["name"]}: {robot["nv"]} degrees of freedom, {robot["links"]} links, '
        f'{"floating" if robot["floating_base"] else "fixed"} base',
        f'{computer["cpu"]}, {computer["cores"]} cores'
        + (f', {computer["vectors"]}' if computer['vectors'] else '')
        + ('' if robot['compiled'] else '; no compiler, so all is interpreted'),
        f'Python {made_by["python"]}, NumPy {made_by["numpy"]}, llvmlite {made_by["llvmlite"]}, '
        f'Pinocchio {made_by["pin"] or "not installed"}',
        '',
        'Times per state in ns, medians; x: how many times faster than Pinocchio called from '
        'Python;',
        f'batches of {facts["batch"]} states compared with a loop over them; first calls in new '
        'processes;',
        'saved: operations that are saved by a dynamically equivalent model with fewer parameters',
        '',
    ]
    head = [
        (
            '',
            'operations',
            '',
            '',
            'one call',
            '',
            '',
            'batch, 1 core',
            '',
            'all cores',
            '',
            'first [ms]',
            '',
        ),
        (
            *('function', 'mul+add', 'saved', 'angles', 'ns', 'pin', 'x', 'ns', 'x', 'ns', 'x'),
            *('new', 'cached'),
        ),
    ]
    rows = [_text_row(row) for row in facts['rows']]
    lines += columns([*head, *rows], rule_after=len(head))
    spread = [row['single']['ratio_quartiles'] for row in facts['rows']]
    if all(spread):
        widest = max(high / low for low, high in spread)
        lines += [
            '',
            f'Middle half of the rounds of a ratio of single calls: within a factor of '
            f'{widest:.2f} at worst',
        ]
    return lines + [f'Note: {note}' for note in facts['notes']]


def _text_row(row: Dict[str, Any]) -> Tuple[str, ...]:
    count, single, first = row['operations'], row['single'], row['first_call']
    itself = row['operations_of_the_model_itself']
    return (
        row['label'],
        '-' if count is None else f'{count["multiplications"]}+{count["additions"]}',
        '-' if count is None else f'{100.0 * _saved(count, itself):.0f}%',
        '-' if count is None else str(count['angles']),
        number(single['ours_ns']),
        number(single['theirs_ns']),
        number(single['ratio']),
        number(row['batch_one_core']['ours_ns']),
        number(row['batch_one_core']['ratio']),
        number(row['batch_all_cores']['ours_ns']),
        number(row['batch_all_cores']['ratio']),
        '-' if first is None else f'{1e3 * first["cold"]["call_processor"]:.0f}',
        '-' if first is None else f'{1e3 * first["cached"]["call_processor"]:.0f}',
    )


def _saved(count: Dict[str, int], itself: Dict[str, int]) -> float:
    """Return the fraction of arithmetic that the equivalent model saves."""
    ours, more = (x['multiplications'] + x['additions'] for x in (count, itself))
    return 1.0 - ours / more if more else 0.0


def main(argv: Optional[List[str]] = None) -> int:
    """Measure by the command line.

    :return: 0; 1 if the robot or a value is invalid
    """
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    add_arguments(parser)
    try:
        return run(parser.parse_args(argv))
    except ValueError as error:  # ModelError is one
        print(f'{parser.prog}: error: {error}', file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())
