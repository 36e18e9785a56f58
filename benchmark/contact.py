#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact in this package and in others from PyPI: errors, times and residuals by scene.

    benchmark/contact.py [--quick] [--only SCENE,...] [--engines NAME,...] [--timesteps H,...]
                         [--budget SECONDS] [--json FILE] [--from FILE.json]
                         [--document docs/contact_benchmark.md]
                         [--plot docs/images/contact_front.png]
                         [--plot-all docs/images/contact_scenes.png]

All engines run in turn on this machine, each scene and engine in a separate process. Engines that
are not installed, or do not support a scene, are omitted with the reason.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from pathlib import Path
import sys
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [path for path in (str(HERE), str(HERE.parent)) if path not in sys.path]
# Numerical libraries must not use the other cores.
for _variable in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(_variable, '1')

from contact_engines import COLUMNS, ENGINES, OURS  # noqa: E402
from contact_engines.engine import Engine, isolated, Result  # noqa: E402
from contact_engines.front import FRONT, plot  # noqa: E402
import contact_scenes  # noqa: E402
from contact_scenes.scene import Scene  # noqa: E402
from marked import Part, row as text_line  # noqa: E402
from measurement import machine, Progress, versions  # noqa: E402
from measurement.text_table import columns  # noqa: E402

FORMAT = 'rbd_ros contact benchmark 1'
TIMESTEP = 1e-3  # of the tables [s]
BUDGET = 60.0  # processor time of one scene in one engine [s]
PART = Part('measured contact', 'benchmark/contact.py')
VARIANTS = {
    '': '',
    'midpoint': ', midpoint',
    'rk4': ', Runge-Kutta',
    'event-driven': ', from event to event',
}
#: Scenes with a goal for speed, in multiples of MuJoCo's: boxes may be no slower.
SPEEDS = {'pressing': 5.0, 'standing': 5.0, 'lying': 5.0, 'boxes': 1.0}
Facts = Dict[str, Any]
Key = Tuple[str, str]  # scene and variant


def planned(
    names: Sequence[str], engines: Sequence[str], timesteps: Sequence[float]
) -> Tuple[List[Tuple[Scene, Engine, float]], List[Result]]:
    """Return runs of scenes in engines; other time steps than `TIMESTEP` are for the front only.

    :return: scene, engine and time step of each; and the reasons for omitted scenes
    """
    runs, missing = [], []
    for name in names:
        try:
            scene = contact_scenes.load(name)
        except FileNotFoundError as error:
            missing.append(Result(name, '', '', TIMESTEP, skipped=str(error)))
            continue
        for timestep in timesteps:
            if timestep != TIMESTEP and name not in FRONT:
                continue
            for engine in ENGINES:
                if engine.name in engines and engine.suits(scene):
                    runs.append((scene, engine, timestep))
    return runs, missing


def measure(
    runs: Sequence[Tuple[Scene, Engine, float]], quick: bool, budget: float, progress: Progress
) -> Iterator[Result]:
    """Yield the results of runs."""
    for scene, engine, timestep in runs:
        progress.step(f'{scene.name} {engine.name} {engine.variant} {timestep:g} s')
        yield isolated(scene, engine, timestep, quick, budget)


# -- tables ---------------------------------------------------------------------------------------


def number(value: Optional[float]) -> str:
    """Return a figure of two digits; a dash for none."""
    if value is None:
        return '-'
    if not math.isfinite(value):
        return 'diverged'
    if value == 0.0:
        return '0'
    if 0.01 <= abs(value) < 1e4:
        return f'{float(f"{value:.2g}"):g}'
    return f'{value:.1e}'.replace('e-0', 'e-').replace('e+0', 'e')


def table_of(facts: Facts) -> Dict[Key, Dict[str, Dict[str, Any]]]:
    """Return the results at `TIMESTEP` by row and column."""
    rows: Dict[Key, Dict[str, Dict[str, Any]]] = {}
    for result in facts['results']:
        if result['timestep'] == TIMESTEP and result['engine']:
            key = result['scene'], result['variant']
            rows.setdefault(key, {})[result['engine']] = result
    return rows


def error_rows(facts: Facts) -> Iterator[Tuple[str, ...]]:
    """Yield the errors by scene: description, goal, figures of engines, whether it is reached."""
    for (name, variant), found in table_of(facts).items():
        for k, error in enumerate(facts['scenes'][name]['errors']):
            cells = [_error(found.get(column), k) for column in facts['columns']]
            title = facts['scenes'][name]['title'] + VARIANTS[variant] if k == 0 else ''
            goal, verdict = '', ''
            if variant == error.get('variant', ''):
                goal, limit = _goal(error, found, k)
                ours = found.get(OURS)
                if goal and ours is not None and not ours['skipped']:
                    value = ours['errors'][k]
                    verdict = 'PASS' if value is not None and value <= limit else 'BELOW'
            yield title, error['what'], *cells, goal, verdict


def _goal(error: Dict[str, Any], found: Dict[str, Dict[str, Any]], k: int) -> Tuple[str, float]:
    """Return the goal of an error as text, and as an upper bound."""
    if error['best']:
        others = [r['errors'][k] for each, r in found.items() if each != OURS and r['errors']]
        return 'best', min((value for value in others if value is not None), default=math.inf)
    return ('', math.inf) if error['goal'] is None else (number(error['goal']), error['goal'])


def _error(result: Optional[Dict[str, Any]], k: int) -> str:
    if result is None or result['skipped']:
        return '-'
    value = result['errors'][k]
    return number(math.nan if value is None else value)


def time_rows(facts: Facts) -> Iterator[Tuple[str, ...]]:
    """Yield processor time of a step by scene [µs], and our speed-up relative to MuJoCo."""
    for (name, variant), found in table_of(facts).items():
        times = {each: 1e6 * result['step'] for each, result in found.items() if result['step']}
        ours, theirs, goal = times.get(OURS), times.get('MuJoCo'), SPEEDS.get(name)
        ratio = theirs / ours if ours and theirs else None
        verdict = ''
        if goal is not None and not variant and ratio is not None:
            verdict = 'PASS' if ratio >= goal else 'BELOW'
        yield (
            facts['scenes'][name]['title'] + VARIANTS[variant],
            *(number(times.get(column)) for column in facts['columns']),
            '-' if ratio is None else f'{ratio:.2g} x',
            '' if goal is None or variant else f'{goal:g} x',
            verdict,
        )


def residual_rows(facts: Facts) -> Iterator[Tuple[str, ...]]:
    """Yield the residuals of the nonlinear complementarity problem by scene [J]."""
    for (name, variant), found in table_of(facts).items():
        values = {each: r['residuals'] for each, r in found.items() if r['residuals']}
        if not values or variant:
            continue
        goal = facts['scenes'][name]['residual_goal']
        largest = {each: max(r['signorini'], r['contact']) for each, r in values.items()}
        verdict = ''
        if goal is not None and OURS in largest:
            verdict = 'PASS' if largest[OURS] <= goal else 'BELOW'
        yield (
            facts['scenes'][name]['title'],
            *(number(largest.get(column)) for column in facts['columns']),
            '' if goal is None else number(goal),
            verdict,
        )


def left_out(facts: Facts) -> List[str]:
    """Return omitted measurements, one line for each reason."""
    reasons: Dict[Tuple[str, str], List[str]] = {}
    for result in facts['results']:
        if result['skipped'] and result['timestep'] == TIMESTEP:
            who = result['engine'] or 'all'
            if result['variant']:
                who += VARIANTS[result['variant']]
            scenes = reasons.setdefault((who, result['skipped']), [])
            if result['scene'] not in scenes:
                scenes.append(result['scene'])
    return [f'{who}, {", ".join(scenes)}: {why}' for (who, why), scenes in reasons.items()]


def tables(facts: Facts) -> Iterator[Tuple[str, Tuple[str, ...], List[Tuple[str, ...]]]]:
    """Yield the title, head and rows of each table."""
    engines = tuple(facts['columns'])
    yield 'Errors', ('Scene', 'Error', *engines, 'Goal', ''), list(error_rows(facts))
    yield (
        'Processor time of a step [µs], and steps a second against MuJoCo',
        ('Scene', *engines, 'Against MuJoCo', 'Goal', ''),
        list(time_rows(facts)),
    )
    yield (
        'Residuals of contact [J]: the larger of Signorini and NCP, maximum of all samples',
        ('Scene', *engines, 'Goal', ''),
        list(residual_rows(facts)),
    )


def verdicts(facts: Facts) -> str:
    """Return the number of reached goals."""
    found = [row[-1] for _, _, rows in tables(facts) for row in rows]
    return f'{found.count("PASS")} goals are reached, {found.count("BELOW")} are not'


def introduction(facts: Facts) -> str:
    """Return the machine, versions and settings."""
    computer, made_by = facts['machine'], facts['versions']
    peers = ', '.join(f'{name} {version}' for name, version in facts['peers'].items())
    steps = f'{1e3 * TIMESTEP:g} ms'
    return (
        f'{computer["cpu"]}, {computer["cores"]} cores, Python {made_by["python"]}, {peers}. '
        f'Steps of {steps}, one thread{", short runs" if facts["quick"] else ""}.'
    )


def markdown(facts: Facts) -> List[str]:
    """Return the lines of Markdown with all tables."""
    lines = [introduction(facts)]
    for title, head, rows in tables(facts):
        if rows:
            rule = [':---'] + ['---:'] * (len(head) - 1)
            lines += ['', f'**{title}**', '', text_line(head), text_line(rule)]
            lines += [text_line(row) for row in rows]
    lines += ['', f'{verdicts(facts)}. Settings:', '']
    lines += [f'* {each}' for each in facts['settings']]
    if missing := left_out(facts):
        lines += ['', 'Not measured:', '', *(f'* {each}' for each in missing)]
    return lines


def report(facts: Facts) -> Iterator[str]:
    """Yield the lines of the tables for a terminal."""
    yield introduction(facts)
    for title, head, rows in tables(facts):
        if rows:
            yield from ('', title)
            yield from ('  ' + line for line in columns([head, *rows], rule_after=1))
    yield from ('', verdicts(facts))
    yield from (f'not measured: {each}' for each in left_out(facts))


# -- main ----------------------------------------------------------------------------------------


def peer_versions() -> Dict[str, str]:
    """Return the versions of installed packages, by their names on PyPI."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in dict.fromkeys((*(engine.library[1] for engine in ENGINES), 'coal')):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def facts_of(results: Sequence[Result], quick: bool, names: Sequence[str]) -> Facts:
    """Return the data of tables and plot, in types of JSON."""
    scenes = {}
    for name in names:
        try:
            scene = contact_scenes.load(name)
        except FileNotFoundError:
            continue
        scenes[name] = {
            'title': scene.title,
            'errors': [
                {
                    'what': error.what,
                    'goal': error.goal,
                    'best': error.best,
                    'variant': error.variant,
                }
                for error in scene.errors
            ],
            'residual_goal': scene.residual_goal,
        }
    found = [result.as_dict() for result in results]
    used = {result['engine'] for result in found if not result['skipped']}
    return {
        'format': FORMAT,
        'machine': machine(),
        'versions': versions(),
        'peers': peer_versions(),
        'quick': quick,
        'columns': [name for name in COLUMNS if name in used],
        'settings': [
            f'{engine.name}{VARIANTS[engine.variant]}: {engine.settings}.' for engine in ENGINES
        ],
        'scenes': scenes,
        'results': found,
    }


def main(argv: Optional[List[str]] = None) -> int:
    """Run the command line and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--only', metavar='SCENE,...', help='scenes to measure (default: all)')
    parser.add_argument('--engines', metavar='NAME;...', help='engines, by semicolons')
    parser.add_argument(
        '--timesteps',
        default=f'{TIMESTEP:g}',
        metavar='H,...',
        help='time steps [s]; others than 0.001 are for the plot (default: %(default)s)',
    )
    parser.add_argument('--budget', type=float, default=BUDGET, help='default: %(default)s s')
    parser.add_argument('--quick', action='store_true', help='run scenes for a shorter time')
    parser.add_argument('--json', metavar='FILE', help='write the results as JSON')
    parser.add_argument(
        '--from', dest='source', metavar='FILE', help='measure nothing: take the results of --json'
    )
    parser.add_argument(
        '--plot', metavar='FILE.png', help=f'plot errors against time: {", ".join(FRONT)}'
    )
    parser.add_argument('--plot-all', metavar='FILE.png', help='likewise, of all scenes')
    parser.add_argument(
        '--document',
        metavar='FILE.md',
        action='append',
        default=[],
        help='put the tables between the markers of a Markdown file; may be given again',
    )
    parser.add_argument(
        '--progress',
        action='store_true',
        default=None,
        help='say what is being measured even where there is no terminal',
    )
    arguments = parser.parse_args(argv)
    names = arguments.only.split(',') if arguments.only else list(contact_scenes.NAMES)
    if unknown := [name for name in names if name not in contact_scenes.NAMES]:
        parser.error(f'unknown scene {unknown[0]!r}; there are {", ".join(contact_scenes.NAMES)}')
    engines = arguments.engines.split(';') if arguments.engines else list(COLUMNS)
    if unknown := [name for name in engines if name not in COLUMNS]:
        parser.error(f'unknown engine {unknown[0]!r}; there are {"; ".join(COLUMNS)}')

    if arguments.source:
        facts = json.loads(Path(arguments.source).read_text(encoding='utf-8'))
        if facts.get('format') != FORMAT:
            parser.error(f'{arguments.source} is not of {FORMAT!r}')
    else:
        timesteps = [float(each) for each in arguments.timesteps.split(',')]
        runs, missing = planned(names, engines, timesteps)
        progress = Progress(arguments.progress, len(runs))
        results = [*missing, *measure(runs, arguments.quick, arguments.budget, progress)]
        progress.finish()
        facts = facts_of(results, arguments.quick, names)
    print('\n'.join(report(facts)))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(facts, indent=1) + '\n', encoding='utf-8')
    if arguments.plot:
        plot(facts, arguments.plot)
    if arguments.plot_all:
        plot(facts, arguments.plot_all, contact_scenes.NAMES)
    for document in arguments.document:
        PART.replace(Path(document), markdown(facts))
    return 0


if __name__ == '__main__':
    sys.exit(main())
