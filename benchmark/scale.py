#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact at scale: many bodies and robots in contact, in this package and in MuJoCo.

    benchmark/scale.py [--quick] [--large] [--only NAME,...] [--json FILE] [--from FILE.json]...
                       [--document docs/contact_benchmark.md]

Both simulate each scene in turn on this machine, each in a separate process. Reports are means and
maxima over steps; errors and residuals are in benchmark/contact.py. `--only first` measures the
processor time until the first step of a simulator on a machine.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
import json
import math
import os
from pathlib import Path
import re
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [path for path in (str(HERE), str(HERE.parent)) if path not in sys.path]
# Numerical libraries must not use the other cores.
for _variable in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(_variable, '1')

from contact import number, peer_versions  # noqa: E402
from contact_engines.engine import in_process, World  # noqa: E402
from contact_engines.mujoco_engine import MujocoWorld  # noqa: E402
from contact_engines.our_engine import OurWorld  # noqa: E402
from contact_scenes.scene import Scene  # noqa: E402
from marked import Part, row as text_line  # noqa: E402
from measurement import Call, compare, machine, one_thread, Progress, versions  # noqa: E402
from measurement.text_table import columns  # noqa: E402
import numpy as np  # noqa: E402
import robots  # noqa: E402
import scale_scenes  # noqa: E402
from scale_scenes.objects import PILE_STEPS  # noqa: E402
from sections import rollouts, simulators  # noqa: E402

from rbd_ros.simulation.scene.scene_state import NOW  # noqa: E402

FORMAT = 'rbd_ros scale benchmark 1'
TIMESTEP = 1e-3  # [s]
REPEATS, CHEAP = 3, 10.0  # of a scene, while the total processor time is below [s]
PART = Part('measured scale', 'benchmark/scale.py')
OURS, THEIRS = 'rbd_ros', 'MuJoCo'
ROLLOUTS = {
    'go1_standing': 'Go1 stands, rollouts on rigid ground',
    'go1_falling': 'Go1 falls and lies, rollouts on rigid ground',
}
FIRST = 'first'
FIRST_ROBOTS = (robots.UR5, robots.GO1, robots.G1, robots.TALOS)
NAMES = (*scale_scenes.NAMES, *ROLLOUTS, FIRST)
HEAD = (
    'Scene', 'rbd_ros [ms]', 'MuJoCo [ms]', 'Against MuJoCo', 'Worst [ms]', 'Worst by mean',
    'MuJoCo, worst [ms]', 'Unsolved', 'Truncated', 'Contacts', 'Most',
    'Penetration [mm]', 'MuJoCo [mm]', 'Memory [MB]', 'MuJoCo [MB]',
)  # fmt: skip
Facts = Dict[str, Any]


class Look(NamedTuple):
    """State of contacts after a step.

    :param contacts: contact points with a force
    :param penetration: maximum penetration [m]
    :param unsolved: steps so far whose forces lack the promised accuracy
    :param truncated: contact points so far beyond the capacity
    """

    contacts: int
    penetration: float
    unsolved: int
    truncated: int


def look_at_ours(world: OurWorld) -> Look:
    """Return the state of contacts after our step."""
    state, status = world.simulator.physics.contact_state, world.simulator.status
    count = int(state.counts[NOW])
    touching = np.count_nonzero(state.impulse[:count, 0] > 0.0)
    deepest = -min(0.0, np.min(state.contacts.gap[:count], initial=0.0))
    return Look(int(touching), float(deepest), status.unconverged_steps, status.contacts_truncated)


def look_at_theirs(world: MujocoWorld) -> Look:
    """Return the state of contacts after MuJoCo's step, which reports no solver failures."""
    data, full = world.data, world.mujoco.mjtWarning.mjWARN_CONTACTFULL
    deepest = -min(0.0, np.min(data.contact.dist, initial=0.0))
    return Look(data.ncon, float(deepest), 0, int(data.warning[full].number))


@dataclass(frozen=True)
class Simulation:
    """Simulation of a scene by one of both."""

    start: Callable[[Scene, float], World]
    look: Callable[[Any], Look]


SIMULATIONS = {
    OURS: Simulation(OurWorld, look_at_ours),
    THEIRS: Simulation(MujocoWorld, look_at_theirs),
}


def memory(what: str) -> float:
    """Return memory of this process, VmRSS or its maximum VmHWM [MB]; NaN if unknown."""
    try:
        found = re.search(rf'{what}:\s+(\d+) kB', Path('/proc/self/status').read_text('utf-8'))
    except OSError:
        found = None
    return int(found[1]) / 1024.0 if found else math.nan


def simulate(scene: Scene, by: Simulation, quick: bool) -> Facts:
    """Simulate a scene and return the statistics of its steps.

    The first step, in which machine code is loaded or compiled, does not count. Times are medians
    over repeats of the same step, so other load of the machine does not affect the maximum.
    """
    before = memory('VmRSS')
    count = round((scene.quick if quick else scene.duration) / TIMESTEP)
    looks: List[Look] = []
    times: List[List[float]] = []
    spent = 0.0
    while not times or (len(times) < REPEATS and spent < CHEAP and not quick):
        world = by.start(scene, TIMESTEP)
        world.step(1)
        repeat = []
        for _ in range(1, count):
            begin = time.thread_time()
            world.step(1)
            repeat.append(time.thread_time() - begin)
            if not times:
                looks.append(by.look(world))
        times.append(repeat)
        spent += sum(repeat)
    unsolved = np.diff([look.unsolved for look in looks], prepend=0)
    return {
        'steps': np.median(times, axis=0).tolist(),
        'contacts': [look.contacts for look in looks],
        'penetration': max(look.penetration for look in looks),
        'unsolved': np.flatnonzero(unsolved).tolist(),
        'truncated': looks[-1].truncated,
        'memory': memory('VmHWM') - before,
    }


def measure(name: str, quick: bool) -> Facts:
    """Return the facts of a row of the table."""
    if name in ROLLOUTS:
        return measure_rollouts(name, quick)
    scenes = scale_scenes.load(name)
    found: Facts = {'title': scenes[0].title, 'bodies': len(scenes[0].free)}
    for who, by in SIMULATIONS.items():
        # Compilation needs memory that a simulation does not.
        in_process(lambda by=by: by.start(scenes[0], TIMESTEP).step(1))
        found[who] = [
            in_process(lambda scene=scene, by=by: simulate(scene, by, quick))
            for scene in (scenes[:1] if quick else scenes)
        ]
    return found


def measure_rollouts(name: str, quick: bool) -> Facts:
    """Return the mean time of a step in rollouts of Go1."""
    standing = name == 'go1_standing'
    ours, theirs, _ = rollouts.calls(robots.GO1, False, rigid=True, standing=standing)
    count = rollouts.STATES * rollouts.STEPS
    with one_thread():
        times = compare(
            Call(ours, states=count),
            Call(lambda: theirs(1), states=count),
            0.02 if quick else 1.0,
        )
    return {
        'title': ROLLOUTS[name],
        OURS: [{'steps': [1e-9 * times.ours]}],
        THEIRS: [{'steps': [1e-9 * times.theirs]}],
    }


# -- tables ---------------------------------------------------------------------------------------


def rows(facts: Facts) -> Iterator[Tuple[str, ...]]:
    """Yield the rows of the table."""
    for found in facts['rows'].values():
        if found.get('skipped'):
            yield (found['title'], *['-'] * (len(HEAD) - 1))
            continue
        ours, theirs = found[OURS], found[THEIRS]
        mean, worst = mean_of(ours), worst_of(ours)
        cells = [found['title'], number(1e3 * mean), number(1e3 * mean_of(theirs))]
        cells.append(f'{mean_of(theirs) / mean:.2g} x')
        if 'contacts' not in ours[0]:  # of rollouts, whose single steps are not recorded
            yield (*cells, *['-'] * (len(HEAD) - len(cells)))
            continue
        contacts = np.concatenate([each['contacts'] for each in ours])
        steps = sum(len(each['steps']) for each in ours)
        yield (
            *cells,
            number(1e3 * worst),
            number(worst / mean),
            number(1e3 * worst_of(theirs)),
            f'{sum(len(each["unsolved"]) for each in ours)} of {steps}',
            str(sum(each['truncated'] for each in ours)),
            number(float(np.mean(contacts))),
            str(np.max(contacts)),
            *(number(1e3 * largest(each, 'penetration')) for each in (ours, theirs)),
            *(f'{largest(each, "memory"):.0f}' for each in (ours, theirs)),
        )


def mean_of(runs: List[Facts]) -> float:
    """Return the mean time of a step [s]."""
    return float(np.mean(np.concatenate([run['steps'] for run in runs])))


def worst_of(runs: List[Facts]) -> float:
    """Return the maximum time of a step [s]."""
    return max(max(run['steps']) for run in runs)


def largest(runs: List[Facts], what: str) -> float:
    """Return the maximum figure of some runs."""
    return float(max(run[what] for run in runs))


def growth(facts: Facts) -> Optional[str]:
    """Return the exponent of step time by number of boxes; None for less than two piles.

    It is fitted to logarithms by least squares, over the common steps of piles of all sizes.
    """
    piles = [
        found
        for name, found in facts['rows'].items()
        if name.startswith('boxes') and not found.get('skipped')
    ]
    if len(piles) < 2:
        return None
    sizes = [found['bodies'] for found in piles]
    exponents = {
        who: np.polyfit(
            np.log(sizes),
            np.log([np.mean(found[who][0]['steps'][:PILE_STEPS]) for found in piles]),
            1,
        )[0]
        for who in (OURS, THEIRS)
    }
    return (
        f'Time of a step by number of boxes, {min(sizes)} to {max(sizes)}, first '
        f'{PILE_STEPS} steps: to the power {exponents[OURS]:.2f}, MuJoCo {exponents[THEIRS]:.2f}.'
    )


def notes(facts: Facts) -> Iterator[str]:
    """Yield the remarks on the table."""
    if line := growth(facts):
        yield line
    for name, found in facts['rows'].items():
        if found.get('skipped'):
            yield f'Not measured: {name}, {found["skipped"]}'
    for robot, times in facts['first'].items():
        first, later = times[simulators.NEW], times[simulators.LATER]
        yield f'First step on the ground, {robot}: {first:.1f} s, with its cache {later:.2f} s'


def introduction(facts: Facts) -> str:
    """Return the machine, versions and settings."""
    computer, made_by = facts['machine'], facts['versions']
    return (
        f'{computer["cpu"]}, {computer["cores"]} cores, Python {made_by["python"]}, rbd_ros '
        f'{made_by["rbd_ros"]}, mujoco {facts["peers"]["mujoco"]}. Processor time of steps of '
        f'{1e3 * TIMESTEP:g} ms, one thread{", short runs" if facts["quick"] else ""}.'
    )


def report(facts: Facts) -> Iterator[str]:
    """Yield the lines of the table for a terminal."""
    yield introduction(facts)
    if facts['rows']:
        yield ''
        yield from columns([HEAD, *rows(facts)], rule_after=1)
    yield from ('', *notes(facts))


def markdown(facts: Facts) -> List[str]:
    """Return the lines of Markdown with the table."""
    rule = [':---'] + ['---:'] * (len(HEAD) - 1)
    lines = [introduction(facts), '', text_line(HEAD), text_line(rule)]
    lines += [text_line(row) for row in rows(facts)]
    return [*lines, '', *(f'* {note}' for note in notes(facts))]


# -- main -----------------------------------------------------------------------------------------


def chosen(only: Optional[str], large: bool) -> List[str]:
    """Return the names of the rows to be measured.

    :raises ValueError: for an unknown name
    """
    if only is None:
        optional = {FIRST, *(() if large else scale_scenes.LARGE)}
        return [name for name in NAMES if name not in optional]
    names = only.split(',')
    if unknown := [name for name in names if name not in NAMES]:
        raise ValueError(f'unknown scene {unknown[0]!r}; there are {", ".join(NAMES)}')
    return names


def measured(names: List[str], quick: bool, progress: Progress) -> Facts:
    """Measure and return the data of the table, in types of JSON."""
    facts: Facts = {
        'format': FORMAT,
        'machine': machine(),
        'versions': versions(),
        'peers': peer_versions(),
        'quick': quick,
        'rows': {},
        'first': {},
    }
    for name in names:
        progress.step(name)
        if name == FIRST:
            facts['first'] = {
                robot.name: simulators.start_times(robot, 'ground') for robot in FIRST_ROBOTS
            }
            continue
        try:
            facts['rows'][name] = measure(name, quick)
        except (FileNotFoundError, ImportError, ChildProcessError) as reason:
            facts['rows'][name] = {'title': name, 'skipped': str(reason)}
    progress.finish()
    return facts


def merged(sources: List[Path]) -> Facts:
    """Return the results of several runs in the order of the table, as those of one.

    :raises ValueError: if a file is of another format, or they are of different machines, versions
        or settings
    """
    every = [json.loads(source.read_text(encoding='utf-8')) for source in sources]
    rows: Facts = {}
    facts = {**every[0], 'first': {}}
    for source, each in zip(sources, every):
        if each.get('format') != FORMAT:
            raise ValueError(f'{source} is not of {FORMAT!r}')
        if any(each[key] != facts[key] for key in ('machine', 'versions', 'peers', 'quick')):
            raise ValueError(f'{source} is of another machine, version or setting')
        rows.update(each['rows'])
        facts['first'].update(each['first'])
    facts['rows'] = {name: rows[name] for name in NAMES if name in rows}
    return facts


def main(argv: Optional[List[str]] = None) -> int:
    """Run the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--only', metavar='NAME,...', help=f'of {", ".join(NAMES)}')
    parser.add_argument('--large', action='store_true', help='with the piles of 512 to 2000 boxes')
    parser.add_argument('--quick', action='store_true', help='run scenes for a shorter time')
    parser.add_argument('--json', metavar='FILE', help='write the results as JSON')
    parser.add_argument(
        '--from',
        dest='sources',
        metavar='FILE',
        action='append',
        help='measure nothing: take the results of --json; may be given again, for other scenes',
    )
    parser.add_argument(
        '--document',
        metavar='FILE.md',
        action='append',
        default=[],
        help='put the table between the markers of a Markdown file; may be given again',
    )
    parser.add_argument(
        '--progress',
        action='store_true',
        default=None,
        help='say what is being measured even where there is no terminal',
    )
    arguments = parser.parse_args(argv)
    try:
        names = chosen(arguments.only, arguments.large)
    except ValueError as error:
        parser.error(str(error))
    if arguments.sources:
        try:
            facts = merged([Path(source) for source in arguments.sources])
        except ValueError as error:
            parser.error(str(error))
    else:
        facts = measured(names, arguments.quick, Progress(arguments.progress, len(names)))
    print('\n'.join(report(facts)))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(facts) + '\n', encoding='utf-8')
    for document in arguments.document:
        PART.replace(Path(document), markdown(facts))
    return 0


if __name__ == '__main__':
    sys.exit(main())
