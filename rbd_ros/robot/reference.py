"""The table of functions of docs/python_api.md, from what methods and algorithms declare."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Iterator, NamedTuple, Tuple

from rbd_ros.algorithms.declaration import Declaration
from rbd_ros.algorithms.kinds import Array
from rbd_ros.robot.compiled import Compiled
from rbd_ros.robot.families.articulated import ArticulatedFunctions, Handles
from rbd_ros.robot.families.centroidal import CentroidalFunctions
from rbd_ros.robot.families.contacts import PointContacts
from rbd_ros.robot.families.denoc import ComplementFunctions
from rbd_ros.robot.families.derivatives import DerivativeFunctions
from rbd_ros.robot.families.floating_base import FloatingBaseFrame, FloatingBaseFunctions
from rbd_ros.robot.families.hybrid import Partition
from rbd_ros.robot.families.impacts import ImpactFunctions, ImpactPair
from rbd_ros.robot.families.loops import LoopFunctions
from rbd_ros.robot.families.regressors import RegressorFunctions
from rbd_ros.robot.frame import RobotFrame
from rbd_ros.robot.kernels import declared
from rbd_ros.robot.robot import Robot

#: How a user gets at the objects that have the functions.
HOMES: Tuple[Tuple[str, type], ...] = (
    ('', Robot),
    ('frame(name, reference).', RobotFrame),
    ('derivatives.', DerivativeFunctions),
    ('hybrid.partition(forward_joints).', Partition),
    ('loops.', LoopFunctions),
    ('regressors.', RegressorFunctions),
    ('articulated.', ArticulatedFunctions),
    ('articulated.handles(names, reference).', Handles),
    ('floating_base.', FloatingBaseFunctions),
    ('floating_base.frame(name, reference).', FloatingBaseFrame),
    ('centroidal.', CentroidalFunctions),
    ('denoc.', ComplementFunctions),
    ('contacts.between(pairs, tangents).', PointContacts),
    ('impacts.', ImpactFunctions),
    ('impacts.between(predecessor, successor).', ImpactPair),
)


class PublicFunction(NamedTuple):
    """A method that computes an algorithm.

    :param home: how a user gets at the object, such as 'loops.'
    :param method: the method
    :param algorithm: declaration of what it computes
    """

    home: str
    method: Callable[..., Any]
    algorithm: Declaration

    @property
    def arguments(self) -> Tuple[str, ...]:
        """Names of its arguments but those by name only, such as `out`."""
        parameters = list(inspect.signature(self.method).parameters.values())[1:]
        return tuple(x.name for x in parameters if x.kind is not x.KEYWORD_ONLY)

    @property
    def row(self) -> str:
        """Row of the table: call, outputs with shape and unit, summary, source."""
        parameters = inspect.signature(self.method).parameters
        defaults = {name: parameters[name].default for name in self.arguments}
        arguments = [
            name if default is inspect.Parameter.empty else f'{name}={default}'
            for name, default in defaults.items()
        ]
        call = f'{self.home}{self.method.__name__}({", ".join(arguments)})'
        outputs = [_described(name, kind) for name, kind in self.algorithm.outputs.items()]
        for name, kind, by in self.algorithm.derivatives:
            freedoms = by.dimensions if by.tangents is None else ('nv',)
            outputs.append(f'`{name}` {_shape((*kind.dimensions, *freedoms))}')
        summary = (inspect.getdoc(self.method) or '').partition('\n\n')[0].replace('\n', ' ')
        return f'| `{call}` | {"; ".join(outputs)} | {summary} | {self.algorithm.source} |'


def public_functions() -> Iterator[PublicFunction]:
    """Methods of `Robot` and its families that compute an algorithm, in the order of the text."""
    for home, kind in HOMES:
        assert issubclass(kind, Compiled)
        for method in vars(kind).values():
            if hasattr(method, 'algorithm'):
                yield PublicFunction(home, method, declared(method.algorithm))


def table() -> str:
    """Table of all public functions, in Markdown."""
    head = '| `robot.` | result | what | source |\n|---|---|---|---|\n'
    return head + '\n'.join(function.row for function in public_functions()) + '\n'


def updated_page(page: str) -> str:
    """Text of a page with the table between its two marks made anew.

    :raises ValueError: if the marks are missing
    """
    start, end = '<!-- functions: written by scripts/update_python_api -->\n', '<!-- end -->\n'
    if start not in page or end not in page:
        raise ValueError(f'the page lacks the marks {start.strip()} and {end.strip()}')
    before, _, rest = page.partition(start)
    return before + start + table() + end + rest.partition(end)[2]


def _described(name: str, kind: Array) -> str:
    shape = f' {_shape(kind.dimensions)}' if kind.dimensions else ''
    return f'`{name}`{shape}{" " * bool(kind.unit)}{kind.unit}'


def _shape(dimensions: Tuple[Any, ...]) -> str:
    return f'({", ".join(map(str, dimensions))}{"," * (len(dimensions) == 1)})'
