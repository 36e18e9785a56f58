#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Times and residuals of solvers of friction problems, and their performance profile.

    benchmark/friction.py PATH... [--tolerances 1e-6,1e-8,1e-10] [--budget SECONDS]
                          [--siconos PYTHON] [--json FILE] [--document docs/contact_benchmark.md]
    benchmark/friction.py --from FILE.json
    benchmark/friction.py --capture FOLDER [--scenes wall5,dominoes]

A path is a file, or a folder of files, of one discrete problem each: u = W r + q, contact by
contact (normal, tangent, tangent), by the NumPy arrays `data`, `indices`, `indptr` and `shape` of
the CSR matrix W, `q`, and `mu` of each contact. FCLIB has such problems. The comparison is that of
Acary, Bremond and Huber, On solving contact problems with Coulomb friction: formulations and
numerical comparisons, 2018: our solver beside those of Siconos, where a Python has it.
`--capture` writes such files: the problems of the slowest steps of scenes of benchmark/scale.py.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
import json
import math
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [path for path in (str(HERE), str(HERE.parent)) if path not in sys.path]
# Numerical libraries must not use the other cores.
for _variable in ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS'):
    os.environ.setdefault(_variable, '1')

from contact import number  # noqa: E402
import friction_capture  # noqa: E402
from marked import Part, row as text_line  # noqa: E402
from measurement import machine, Progress, versions  # noqa: E402
from measurement.text_table import columns  # noqa: E402
import numpy as np  # noqa: E402
from scipy.sparse import csr_matrix  # noqa: E402

from rbd_ros.constraints import friction_problem, FrictionProblem, solve_friction  # noqa: E402

FORMAT = 'rbd_ros friction benchmark 1'
PART = Part('measured friction', 'benchmark/friction.py')
OURS = 'rbd_ros'
#: Solvers of Siconos with their maximum number of iterations.
SICONOS = {'NSGS': 100_000, 'NSN_AC': 1000, 'ADMM': 100_000}
REPEATS, CHEAP = 3, 1.0  # of our solver, while the total processor time is below [s]
ROUNDING = 1e-6  # of W: some problems of FCLIB are printed with 7 digits
ASYMMETRY = 1e-2  # of W, of its largest element, by gyroscopic terms
#: Each solver stops by its own criterion, so residuals of some tolerances count as solved.
SLACK = 10.0
FACTORS = (1, 2, 5, 10, 100)  # of the profile
Facts = Dict[str, Any]


class Answer(NamedTuple):
    """Forces that a solver found, (3n,), and its processor time [s]."""

    force: np.ndarray
    time: float


# -- problems -------------------------------------------------------------------------------------


def find(paths: Sequence[str]) -> List[Path]:
    """Return the files of problems, also those in folders.

    :raises ValueError: if a path does not exist, or there is no file
    """
    found: List[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise ValueError(f'{path} does not exist')
        found += sorted(path.glob('*.npz')) if path.is_dir() else [path]
    if not found:
        raise ValueError('there are no problems: give files *.npz or a folder of them')
    return found


def read(path: Path) -> FrictionProblem:
    """Read a problem and make it dimensionless: the mean diagonal element of W and |q| become 1.

    W becomes its symmetric part, and positive-semidefinite, for all solvers alike.

    :raises ValueError: if it is not a problem of this format
    """
    with np.load(path) as given:
        try:
            W, q, mu = (
                csr_matrix(
                    (given['data'], given['indices'], given['indptr']), given['shape']
                ).toarray(),
                given['q'],
                given['mu'],
            )
        except KeyError as reason:
            raise ValueError(f'{path.name} is not a friction problem: {reason}') from None
    if np.max(np.abs(W - W.T)) > ASYMMETRY * np.max(np.abs(W)):
        raise ValueError(f'W of {path.name} is not symmetric')
    W = 0.5 * (W + W.T) / np.mean(np.diag(W))
    return friction_problem(W, q / np.linalg.norm(q), mu, rounding=ROUNDING)


def residual(problem: FrictionProblem, force: np.ndarray) -> float:
    """Return the relative residual |r - P(r - u - mu |u_t| n)| / |q| of forces r.

    P projects on the friction cones. Forces that are not finite have an infinite residual.
    """
    if not np.all(np.isfinite(force)):
        return math.inf
    mu = problem.friction[:, 0]
    u = problem.velocity(force).reshape(-1, 3)
    u[:, 0] += mu * np.linalg.norm(u[:, 1:], axis=1)
    r = force.reshape(-1, 3)
    difference = (r - project(r - u, mu)).ravel()
    return float(np.linalg.norm(difference) / np.linalg.norm(problem.g))


def project(x: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Return the nearest points of the friction cones, (n, 3).

    :param x: points, normal first, (n, 3)
    :param mu: friction coefficients, (n,)
    """
    normal, across = x[:, 0], np.linalg.norm(x[:, 1:], axis=1)
    # Between the cone and its polar, the nearest point is on the boundary, in the same direction.
    height = np.maximum(0.0, (normal + mu * across) / (1.0 + mu**2))
    factor = np.divide(mu * height, across, out=np.zeros_like(mu), where=across > 0.0)
    boundary = np.column_stack([height, factor[:, None] * x[:, 1:]])
    return np.where((across <= mu * normal)[:, None], x, boundary)


# -- solvers --------------------------------------------------------------------------------------


def solve(problem: FrictionProblem, tolerance: float) -> Answer:
    """Solve a problem by our solver; the time is a median over repeats."""
    times: List[float] = []
    while not times or (len(times) < REPEATS and sum(times) < CHEAP):
        begin = time.thread_time()
        found = solve_friction(problem, tolerance=tolerance)
        times.append(time.thread_time() - begin)
    return Answer(found.force, float(np.median(times)))


@dataclass(frozen=True)
class Siconos:
    """Solvers of Siconos, in a separate process.

    :param python: Python that has it
    :param budget: maximum time of one run [s]
    """

    python: str
    budget: float

    def version(self) -> str:
        """Return its version; empty if this Python lacks it."""
        show = 'import siconos.numerics, siconos; print(siconos.version)'
        try:
            ran = subprocess.run([self.python, '-c', show], capture_output=True, text=True)
        except OSError:
            return ''
        return ran.stdout.strip() if ran.returncode == 0 else ''

    def solve(self, solver: str, problem: FrictionProblem, tolerance: float) -> Optional[Answer]:
        """Solve a problem; None if the process exceeds its time or dies."""
        with tempfile.TemporaryDirectory() as folder:
            given, found = Path(folder, 'problem.npz'), Path(folder, 'solution.npz')
            np.savez(given, G=problem.G, g=problem.g, mu=problem.friction[:, 0])
            settings = [solver, str(tolerance), str(SICONOS[solver]), str(given), str(found)]
            try:
                subprocess.run(
                    [self.python, str(HERE / 'siconos_solver.py'), *settings],
                    env={**os.environ, 'PYTHONPATH': ''},
                    timeout=self.budget,
                    capture_output=True,
                )
                with np.load(found) as solution:
                    return Answer(solution['force'], float(solution['time']))
            except (subprocess.TimeoutExpired, FileNotFoundError):
                return None


def measure(
    problem: FrictionProblem, solver: str, tolerances: Sequence[float], siconos: Siconos
) -> Facts:
    """Return time and residual of a solver for each tolerance, None where it does not solve.

    After a tolerance that it does not reach, it does not reach a smaller one either.
    """
    found: Facts = {}
    failed = False
    for tolerance in sorted(tolerances, reverse=True):
        if not failed:
            if solver == OURS:
                answer: Optional[Answer] = solve(problem, tolerance)
            else:
                answer = siconos.solve(solver, problem, tolerance)
            error = math.inf if answer is None else residual(problem, answer.force)
            failed = not error <= SLACK * tolerance
        reached = error if math.isfinite(error) else None  # JSON has no infinity
        used = None if failed or answer is None else answer.time
        found[f'{tolerance:g}'] = {'time': used, 'residual': reached}
    return found


# -- tables ---------------------------------------------------------------------------------------


def profile(times: Dict[str, List[Optional[float]]]) -> Dict[str, List[float]]:
    """Return which fraction of the problems each solver solves within `FACTORS` of the best time.

    :param times: times of each solver by problem, None where it does not solve
    """
    table = np.array(
        [[math.inf if t is None else t for t in each] for each in times.values()]
    ).reshape(len(times), -1)
    best = np.min(table, axis=0)
    with np.errstate(invalid='ignore'):
        ratios = np.where(np.isfinite(table), table / best, math.inf)
    return {
        solver: [float(np.mean(each <= factor)) for factor in FACTORS]
        for solver, each in zip(times, ratios)
    }


def profile_rows(facts: Facts) -> Iterator[Tuple[str, ...]]:
    """Yield the rows of the performance profile."""
    for tolerance in facts['tolerances']:
        times = {
            solver: [each['solvers'][solver][tolerance]['time'] for each in facts['problems']]
            for solver in facts['solvers']
        }
        for solver, fractions in profile(times).items():
            solved = [t for t in times[solver] if t is not None]
            yield (
                tolerance,
                solver,
                f'{len(solved)} of {len(times[solver])}',
                number(1e3 * float(np.median(solved))) if solved else '-',
                *(f'{fraction:.2f}' for fraction in fractions),
            )


def problem_rows(facts: Facts, tolerance: str) -> Iterator[Tuple[str, ...]]:
    """Yield the rows of times and residuals of the problems."""
    for each in facts['problems']:
        cells = [each['name'], str(each['contacts'])]
        for solver in facts['solvers']:
            found = each['solvers'][solver][tolerance]
            used = found['time']
            cells.append('-' if used is None else number(1e3 * used))
            cells.append('-' if found['residual'] is None else f'{found["residual"]:.0e}')
        yield tuple(cells)


def tables(facts: Facts) -> Iterator[Tuple[str, List[Tuple[str, ...]], int]]:
    """Yield title, rows with their head and number of text columns of each table."""
    head = ('Tolerance', 'Solver', 'Solved', 'Median of solved [ms]', *(f'{f} x' for f in FACTORS))
    title = 'Fraction of the problems that a solver solves within a factor of the best time:'
    yield title, [head, *profile_rows(facts)], 2
    tolerance = facts['tolerances'][-1]
    names = ('Problem', 'Contacts')
    shown = [text for each in facts['solvers'] for text in (f'{each} [ms]', 'Residual')]
    title = f'Times and residuals, tolerance {tolerance}:'
    yield title, [(*names, *shown), *problem_rows(facts, tolerance)], 1


def introduction(facts: Facts) -> str:
    """Return the machine, versions and settings."""
    computer, made_by = facts['machine'], facts['versions']
    peer = f', Siconos {facts["siconos"]}' if facts['siconos'] else ', without Siconos'
    return (
        f'{computer["cpu"]}, {computer["cores"]} cores, Python {made_by["python"]}, rbd_ros '
        f'{made_by["rbd_ros"]}{peer}. Processor time, one thread, at most {facts["budget"]:g} s '
        f'of Siconos. Residuals up to {SLACK:g} times the tolerance count as solved.'
    )


def report(facts: Facts) -> Iterator[str]:
    """Yield the lines of the tables for a terminal."""
    yield introduction(facts)
    for title, rows, _ in tables(facts):
        yield from ('', title, '', *columns(rows, rule_after=1))


def markdown(facts: Facts) -> List[str]:
    """Return the lines of Markdown with the tables."""
    lines = [introduction(facts)]
    for title, (head, *rows), texts in tables(facts):
        rule = [':---'] * texts + ['---:'] * (len(head) - texts)
        lines += ['', title, '', *map(text_line, (head, rule, *rows))]
    return lines


# -- main -----------------------------------------------------------------------------------------


def measured(
    paths: Sequence[Path], tolerances: Sequence[float], siconos: Siconos, progress: Progress
) -> Facts:
    """Measure and return the data of the tables, in types of JSON.

    :raises ValueError: if a file is not a problem
    """
    version = siconos.version()
    solvers = [OURS, *(SICONOS if version else ())]
    solve_friction(friction_problem(np.eye(3), [-1.0, 0.5, 0.0], [0.3]))  # loads machine code
    problems = []
    for path in paths:
        progress.step(path.stem)
        problem = read(path)
        found = {each: measure(problem, each, tolerances, siconos) for each in solvers}
        problems.append({'name': path.stem, 'contacts': problem.contacts, 'solvers': found})
    progress.finish()
    return {
        'format': FORMAT,
        'machine': machine(),
        'versions': versions(),
        'siconos': version,
        'budget': siconos.budget,
        'tolerances': [f'{each:g}' for each in sorted(tolerances, reverse=True)],
        'solvers': solvers,
        'problems': problems,
    }


def capture(scenes: Sequence[str], folder: Path) -> int:
    """Write problems of scenes and print their files.

    :raises ValueError: for an unknown scene
    """
    if unknown := [name for name in scenes if name not in friction_capture.SCENES]:
        raise ValueError(f'unknown scene {unknown[0]!r}; see --help')
    for name in scenes:
        print(*friction_capture.capture(name, folder), sep='\n')
    return 0


def main(argv: Optional[List[str]] = None) -> int:
    """Run the command line and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('paths', metavar='PATH', nargs='*', help='problems, or folders of them')
    parser.add_argument('--tolerances', metavar='T,...', default='1e-6,1e-8,1e-10')
    parser.add_argument(
        '--budget', metavar='SECONDS', type=float, default=60.0, help='of one run of Siconos'
    )
    parser.add_argument(
        '--siconos',
        metavar='PYTHON',
        default='/usr/bin/python3',
        help='Python with siconos.numerics (default: %(default)s, that of Debian)',
    )
    parser.add_argument(
        '--capture', metavar='FOLDER', help='measure nothing: write problems of simulated steps'
    )
    parser.add_argument(
        '--scenes',
        metavar='NAME,...',
        default='dominoes,wall5,wall8,boxes64',
        help=f'with --capture, of {", ".join(friction_capture.SCENES)} (default: %(default)s)',
    )
    parser.add_argument('--json', metavar='FILE', help='write the results as JSON')
    parser.add_argument(
        '--from',
        dest='source',
        metavar='FILE',
        help='measure nothing: take the results of --json',
    )
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
    try:
        if arguments.capture:
            return capture(arguments.scenes.split(','), Path(arguments.capture))
        if arguments.source:
            facts = json.loads(Path(arguments.source).read_text(encoding='utf-8'))
            if facts.get('format') != FORMAT:
                raise ValueError(f'{arguments.source} is not of {FORMAT!r}')
        else:
            paths = find(arguments.paths)
            tolerances = [float(each) for each in arguments.tolerances.split(',')]
            siconos = Siconos(arguments.siconos, arguments.budget)
            facts = measured(paths, tolerances, siconos, Progress(arguments.progress, len(paths)))
    except ValueError as error:
        parser.error(str(error))
    print('\n'.join(report(facts)))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(facts) + '\n', encoding='utf-8')
    for document in arguments.document:
        PART.replace(Path(document), markdown(facts))
    return 0


if __name__ == '__main__':
    sys.exit(main())
