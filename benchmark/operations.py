#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Operation counts of kernels and algorithms, compared with published ones.

    benchmark/operations.py [--no-clock] [--document docs/measurements.md]

Chains are those of published formulas: n hinges with all Denavit-Hartenberg numbers, and general
inertias. Counts are those of the compiler's programs; sines and cosines are free, as in
publications, and a division counts as a multiplication. Only the crossover of the articulated-body
algorithm and the inertia matrix is measured in time.
"""

from __future__ import annotations

import argparse
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / 'test')]

from marked import Part, row  # noqa: E402
from measurement.text_table import columns  # noqa: E402
import numpy as np  # noqa: E402
from support.definitions import definition_of  # noqa: E402
from support.denoc_counts import general_chain  # noqa: E402

from rbd_ros import Robot  # noqa: E402
from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT  # noqa: E402
from rbd_ros.algorithms.hinge_trees.crba_by_screws import (  # noqa: E402
    crba_by_screws,
    screw_tree,
    ScrewState,
)
from rbd_ros.algorithms.hinge_trees.forward_dynamics_by_screws import (  # noqa: E402
    forward_dynamics_by_screws,
    screw_links,
)
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl  # noqa: E402
from rbd_ros.algorithms.inertia_matrix.forward_dynamics import (  # noqa: E402
    forward_dynamics_by_inertia_matrix,
)
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, FORCE, VELOCITY  # noqa: E402
from rbd_ros.compiler import Graph, OperationCount, Symbol  # noqa: E402
from rbd_ros.model import Model  # noqa: E402
from rbd_ros.spatial import (  # noqa: E402
    ArticulatedBodyInertia,
    ForceVector,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.axial_screw import AxialScrew  # noqa: E402
from rbd_ros.textbook.models.random_models import random_chain  # noqa: E402

SIZES = 6, 12
PART = Part('counted operations', 'benchmark/operations.py')
HEAD = ('what', 'of', 'ours m', 'a', 'printed m', 'a', 'printed by', '')

Pair = Tuple[float, float]
#: Coefficients of a polynomial in n, from the constant upward: of multiplications, of additions.
Formula = Tuple[Sequence[float], Sequence[float]]

INVERSE_DYNAMICS: Dict[str, Formula] = {
    'B table 10.1': ((-108, 93), (-100, 81)),
    'Saha 1999': ((-44, 120), (-55, 97)),
    'Balafoutis, in Saha': ((-69, 93), (-65, 81)),
    'Angeles, in Saha': ((-109, 105), (-105, 90)),
    'Khalil, in Saha': ((-92, 105), (-86, 94)),
}
INERTIA_MATRIX: Dict[str, Formula] = {
    'B table 10.1': ((-32, 22, 10), (-43, 37, 6)),
    'B table 10.1, second': ((-41, 31, 10), (-46, 40, 6)),
}
#: Factorization and solution, L^T D L.
SOLUTION: Formula = ((0, -2 / 3, 3 / 2, 1 / 6), (0, -7 / 6, 1, 1 / 6))
ARTICULATED_BODIES: Dict[str, Formula] = {
    'B table 10.1': ((-259, 224), (-248, 205)),
    'Saha 1999': ((-335, 201), (-361, 193)),
}
TABLE_A4: Dict[str, Pair] = {
    'v . f': (6, 5),
    'v x v': (18, 12),
    'v x* f': (18, 12),
    'I v': (24, 18),
    'IA v': (36, 30),
    'X X': (33, 24),
    'X v': (24, 18),
    'X^T f': (24, 18),
    'X^T I X': (52, 56),
    'X^T IA X': (137, 137),
}
TABLE_A5: Dict[str, Pair] = {
    'screw on v': (10, 6),
    'screw on f': (10, 6),
    'screw on I': (18, 18),
    'screw on IA': (40, 43),
}


@dataclass(frozen=True)
class Line:
    """A count, with a published one.

    :param what: computed quantity
    :param of: number of joints, or 'one operation'
    :param ours: multiplications, divisions among them, and additions
    :param printed: the same in the publication
    :param source: the publication
    """

    what: str
    of: str
    ours: Pair
    printed: Pair
    source: str

    @property
    def verdict(self) -> str:
        """Whether our sum is not larger."""
        ours, printed = sum(self.ours), sum(self.printed)
        return 'fewer' if ours < printed else 'equal' if ours == printed else 'more'

    @property
    def cells(self) -> Tuple[str, ...]:
        """Line of a table."""
        numbers = (f'{x:.0f}' for x in (*self.ours, *self.printed))
        return (self.what, self.of, *numbers, self.source, self.verdict)


def printed(formula: Formula, n: int) -> Pair:
    """Return the multiplications and additions of a published formula for n joints."""
    m, a = (sum(c * n**k for k, c in enumerate(part)) for part in formula)
    return m, a


def printed_by_inertia_matrix(n: int) -> float:
    """Return operations of forward dynamics by inertia matrix, the best rows of B table 10.1."""
    parts = (INVERSE_DYNAMICS['B table 10.1'], INERTIA_MATRIX['B table 10.1'], SOLUTION)
    return sum(sum(printed(part, n)) for part in parts)


def printed_by_articulated_bodies(n: int) -> float:
    """Return all operations of the articulated-body algorithm, the best row of B table 10.1."""
    return sum(printed(ARTICULATED_BODIES['B table 10.1'], n))


def crossing(first: Callable[[int], float], second: Callable[[int], float]) -> Optional[int]:
    """Return the number of joints from which the second is cheaper, up to a hundred."""
    less = [second(n) < first(n) for n in range(1, 100)]
    if not less[-1]:
        return None
    return 1 + len(less) - less[::-1].index(False) if False in less else 1


@algorithm(
    'by_inertia_matrix',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'tau': FORCE},
    outputs={'a': ACCELERATION},
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA 6.1',
)
def by_inertia_matrix(
    model: Model, q: Sequence[Any], qd: Sequence[Any], tau: Sequence[Any]
) -> List[Any]:
    """Return the forward dynamics by inertia matrix, which kernels of trees do not use."""
    return forward_dynamics_by_inertia_matrix(model, q, qd, tau)


# -- counts ---------------------------------------------------------------------------------------


def pair(count: OperationCount) -> Pair:
    """Return the multiplications and divisions, and additions."""
    return count.multiplications + count.divisions, count.additions


def kernel(algorithm: Any, n: int, chain: Callable[[int], Any] = general_chain) -> Pair:
    """Return the operations of a compiled function of a chain."""
    return pair(definition_of(chain(n), algorithm).program().count)


def inertia_matrix_by_screws(n: int) -> Pair:
    """Return the operations of the inertia matrix in Denavit-Hartenberg frames."""
    bodies, graph = screw_tree(general_chain(n)), Graph()
    # Chains have no general transforms E and r.
    states = [ScrewState(*graph.inputs(f'joint{i}', 2), E=(), r=()) for i in range(n)]
    return pair(graph.count([x for line in crba_by_screws(bodies, states) for x in line]))


def forward_dynamics_in_three_steps(n: int) -> Pair:
    """Return the operations of forward dynamics by U D U^T and axial screws."""
    model, graph = general_chain(n), Graph()
    joints = [graph.inputs(f'joint{i}', 2) for i in range(n)]
    qd, tau = graph.inputs('qd', n), graph.inputs('tau', n)
    found = forward_dynamics_by_screws(screw_links(model), joints, qd, tau, model.gravity)
    return pair(graph.count(found))


def factorization_and_solution(n: int) -> Pair:
    """Return the operations of H = L^T D L and H x = b of a full matrix."""
    graph = Graph()
    numbers = iter(graph.inputs('H', n * (n + 1) // 2))
    H: List[List[Any]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            H[i][j] = H[j][i] = next(numbers)
    return pair(graph.count(ltdl(H).solve(graph.inputs('b', n))))


def arithmetic() -> Dict[str, Pair]:
    """Return the operations of spatial arithmetic, by the names of tables A.4 and A.5."""
    graph = Graph()
    made = iter(range(1000))

    def fresh(n: int) -> List[Symbol]:
        return list(graph.inputs(f'x{next(made)}', n))

    def matrix() -> Any:
        return tuple(tuple(fresh(3)) for _ in range(3))

    v, w = (MotionVector.from_array(fresh(6)) for _ in range(2))
    f = ForceVector.from_array(fresh(6))
    X, Y = (PluckerTransform(matrix(), tuple(fresh(3))) for _ in range(2))
    I = RigidBodyInertia.from_parameters(fresh(10))
    IA = ArticulatedBodyInertia(tuple(fresh(6)), matrix(), tuple(fresh(6)))
    screw = AxialScrew(2, *fresh(3))
    results = {
        'v . f': [v.dot(f)],
        'v x v': v.cross(w),
        'v x* f': v.cross(f),
        'I v': I * v,
        'IA v': IA * v,
        'X X': X * Y,
        'X v': X.apply(v),
        'X^T f': X.inverse_apply(f),
        'X^T I X': X.inverse_apply(I),
        'X^T IA X': X.inverse_apply(IA),
        'screw on v': screw.apply(v),
        'screw on f': screw.apply(f),
        'screw on I': screw.apply(I),
        'screw on IA': screw.apply(IA),
    }
    return {name: pair(graph.count(_scalars(result))) for name, result in results.items()}


def _scalars(result: Any) -> List[Any]:
    if isinstance(result, PluckerTransform):
        return [x for line in (*result.E, result.r) for x in line]
    if isinstance(result, RigidBodyInertia):
        return list(result.parameters())
    if isinstance(result, ArticulatedBodyInertia):
        return [*result.M, *(x for line in result.H for x in line), *result.I]
    return list(result)


def lines() -> Iterator[Line]:
    """Yield all counts, chains first."""
    kernels = {
        'inverse_dynamics': INVERSE_DYNAMICS,
        'mass_matrix': INERTIA_MATRIX,
        'forward_dynamics': ARTICULATED_BODIES,
    }
    for n in SIZES:
        for name, formulas in kernels.items():
            ours = kernel(name, n)
            for source, formula in formulas.items():
                yield Line(f'kernel of {name}', f'{n} hinges', ours, printed(formula, n), source)
        texts = {
            'inertia matrix by screws': (inertia_matrix_by_screws, INERTIA_MATRIX),
            'factors L^T D L and a solution': (
                factorization_and_solution,
                {'B tables 6.6, 10.1': SOLUTION},
            ),
            'forward dynamics by screws': (forward_dynamics_in_three_steps, ARTICULATED_BODIES),
        }
        for what, (function, formulas) in texts.items():
            ours = function(n)
            for source, formula in formulas.items():
                yield Line(what, f'{n} hinges', ours, printed(formula, n), source)
    found = arithmetic()
    for table, source in ((TABLE_A4, 'B table A.4'), (TABLE_A5, 'B table A.5')):
        for name, numbers in table.items():
            yield Line(name, 'one operation', found[name], numbers, source)


def crossings() -> List[str]:
    """Return the crossovers of both methods of forward dynamics, published and ours."""

    def first(operations: Callable[[int], float]) -> str:
        # By bisection: with more joints it becomes cheaper once.
        n = 2 + bisect_left(
            range(2, 25),
            True,
            key=lambda n: operations(n) < sum(kernel(by_inertia_matrix, n)),
        )
        return f'from {n} joints on' if n < 25 else 'at no size up to 24 joints'

    by_bodies = first(lambda n: sum(kernel('forward_dynamics', n)))
    by_screws = first(lambda n: sum(forward_dynamics_in_three_steps(n)))
    at = crossing(printed_by_inertia_matrix, printed_by_articulated_bodies)
    ratio = printed_by_inertia_matrix(18) / printed_by_articulated_bodies(18)
    return [
        f'By B table 10.1 the articulated-body algorithm takes fewer operations than the inertia '
        f'matrix from {at} joints on; {ratio:.2f} times as few at 18.',
        f'Of the kernels here it does {by_bodies}, by screws {by_screws}.',
    ]


def crossing_by_the_clock(sizes: Sequence[int] = tuple(range(4, 21, 2))) -> str:
    """Return the number of joints from which the articulated-body kernel is faster."""
    faster = []
    for n in sizes:
        robot, rng = Robot(general_chain(n)), np.random.default_rng(n)
        state = tuple(rng.normal(size=(3, n)))
        ways = [
            robot.kernel(algorithm).function
            for algorithm in (by_inertia_matrix, 'forward_dynamics')
        ]
        rounds = [[_time(function, state) for function in ways] for _ in range(9)]
        faster.append(np.median([second / first for first, second in rounds]) < 1.0)
    found = [n for k, n in enumerate(sizes) if all(faster[k:])]
    at = f'from {found[0]} joints on' if found else f'at no size up to {sizes[-1]} joints'
    return f'By the clock the articulated-body kernel is the faster one {at} (of even numbers).'


def _time(function: Callable[..., Any], state: Any, seconds: float = 0.005) -> float:
    """Return the minimum time of a call in some blocks of a hundred [s]."""
    best, end = float('inf'), time.process_time() + seconds
    while time.process_time() < end:
        start = time.perf_counter()
        for _ in range(100):
            function(*state)
        best = min(best, time.perf_counter() - start)
    return best / 100.0


def general_frames() -> str:
    """Return the counts of chains with axes along no axis of the description's frames."""
    numbers = ', '.join(
        f'{name} {sum(kernel(name, 6, random_chain)):.0f}'
        for name in ('inverse_dynamics', 'mass_matrix', 'forward_dynamics')
    )
    return (
        'Kernels of hinges choose frames that fit. Where no axis is along one of the frames of '
        f'the description, 6 hinges take in all: {numbers}.'
    )


def main(argv: Optional[List[str]] = None) -> int:
    """Count, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--no-clock', action='store_true', help='count only, measure nothing')
    parser.add_argument(
        '--document',
        metavar='FILE.md',
        help='put the table between the markers of a Markdown file',
    )
    arguments = parser.parse_args(argv)
    found = list(lines())
    notes = [*crossings(), general_frames()]
    if not arguments.no_clock:
        notes.append(crossing_by_the_clock())
    print('\n'.join(columns([HEAD, *(line.cells for line in found)], rule_after=1)))
    print('\n'.join(['', *notes]))
    if arguments.document:
        rule = [':---', ':---', '---:', '---:', '---:', '---:', ':---', ':---']
        text = [row(HEAD), row(rule), *(row(line.cells) for line in found), '']
        text += [f'* {note}' for note in notes]
        PART.replace(Path(arguments.document), text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
