# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Methods and the algorithms they compute, for the pages of the public API in docs/api."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Iterator, NamedTuple, Tuple

from rbd_ros.algorithms.array import Array
from rbd_ros.algorithms.declaration import Declaration
from rbd_ros.robot.families.centroidal_family import CentroidalFunctions
from rbd_ros.robot.families.derivatives_family import DerivativeFunctions
from rbd_ros.robot.families.hybrid_family import Partition
from rbd_ros.robot.families.loops_family import LoopFunctions
from rbd_ros.robot.families.regressors_family import RegressorFunctions
from rbd_ros.robot.frame import RobotFrame
from rbd_ros.robot.kernels import Compiled, declared
from rbd_ros.robot.robot import Robot
from rbd_ros.textbook.articulated_body.articulated_family import ArticulatedFunctions, Handles
from rbd_ros.textbook.contact_dynamics.contacts_family import PointContacts
from rbd_ros.textbook.contact_dynamics.impacts_family import ImpactFunctions, ImpactPair
from rbd_ros.textbook.denoc.denoc_family import ComplementFunctions
from rbd_ros.textbook.floating_base.floating_base_family import (
    FloatingBaseFrame,
    FloatingBaseFunctions,
)

#: Expressions for the objects with functions.
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

    :param home: expression for the object, such as 'loops.'
    :param method: the method
    :param algorithm: declaration of its algorithm
    """

    home: str
    method: Callable[..., Any]
    algorithm: Declaration

    @property
    def arguments(self) -> Tuple[str, ...]:
        """Names of its arguments, except keyword-only ones, such as `out`."""
        parameters = list(inspect.signature(self.method).parameters.values())[1:]
        return tuple(x.name for x in parameters if x.kind is not x.KEYWORD_ONLY)

    @property
    def results(self) -> str:
        """Outputs with their shapes and units."""
        outputs = [_described(name, kind) for name, kind in self.algorithm.outputs.items()]
        for name, kind, by in self.algorithm.derivatives:
            dofs = by.dimensions if by.tangents is None else ('nv',)
            outputs.append(f'`{name}` {_shape((*kind.dimensions, *dofs))}')
        return '; '.join(outputs)


def public_functions() -> Iterator[PublicFunction]:
    """Yield the methods of `Robot` and its families that compute algorithms, in source order."""
    for home, kind in HOMES:
        assert issubclass(kind, Compiled)
        for method in _members(kind).values():
            if hasattr(method, 'algorithm'):
                yield PublicFunction(home, method, declared(method.algorithm))


def _members(kind: type) -> Dict[str, Any]:
    """Return the members of a class and its bases, in the order of their source."""
    parts = [part for part in kind.__mro__ if part not in (Compiled, object)]
    return {name: value for part in parts for name, value in vars(part).items()}


def _described(name: str, kind: Array) -> str:
    shape = f' {_shape(kind.dimensions)}' if kind.dimensions else ''
    return f'`{name}`{shape}{" " * bool(kind.unit)}{kind.unit}'


def _shape(dimensions: Tuple[Any, ...]) -> str:
    return f'({", ".join(map(str, dimensions))}{"," * (len(dimensions) == 1)})'
