# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Functions reachable from an entry point, one instance for each combination of types."""

from __future__ import annotations

import ast
import builtins
import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple

from rbd_ros.compiler.loops import sources
from rbd_ros.compiler.loops.loop_types import (
    ArrayType,
    BOOL,
    CompileError,
    FLOAT,
    INT,
    MatType,
    NamedType,
    NOTHING,
    NumberType,
    TupleType,
    Type,
    VecType,
)
from rbd_ros.compiler.loops.vocabulary import Mat, Mat3, Transform, Vec, Vec3, Vec4

_NUMBERS = {bool: BOOL, int: INT, float: FLOAT}
_Parameter = Tuple[str, Optional[NumberType]]


class Instance(NamedTuple):
    """A function for arguments of certain types.

    :param name: a unique name
    :param arguments: types of its arguments
    :param result: type of its result
    """

    name: str
    function: Callable
    arguments: Tuple[Type, ...]
    result: Type


class Instances:
    """Instances to be compiled, and those of them that are still to be read.

    :param has_shapes: whether a function is compiled separately for each shape of its arrays
    """

    def __init__(self, has_shapes: bool = False) -> None:
        self._has_shapes = has_shapes
        #: Called instances that are still to be read
        self.waiting: List[Instance] = []
        self._instances: Dict[tuple, Instance] = {}
        self._functions: Dict[Callable, Tuple[List[_Parameter], Type]] = {}
        self._trees: Dict[str, Mapping[int, ast.FunctionDef]] = {}

    def definition(self, function: Callable) -> ast.FunctionDef:
        """Return the syntax tree of a function.

        :raises CompileError: if there is none
        """
        path = function.__code__.co_filename
        if path not in self._trees:
            self._trees[path] = sources.definitions(path)
        found = self._trees[path].get(function.__code__.co_firstlineno)
        # By its name as well: the file may have changed since the import.
        if found is None or found.name != function.__name__:
            raise CompileError(f'{function.__name__} is not defined at the top level of a file')
        return found

    def parameters(self, function: Callable) -> List[_Parameter]:
        """Return the names of a function's parameters, and the types of numbers among them.

        :raises CompileError: if it has other than plain parameters
        """
        return self._signature(function)[0]

    def of(self, function: Callable, arguments: Tuple[Type, ...]) -> Instance:
        """Return the instance of a function for argument types, to be compiled.

        :raises CompileError: if the type of its result is not annotated
        """
        key = function, arguments
        if key not in self._instances:
            # Numbered: a function has an instance for each combination of types, and two modules
            # may have functions of one name.
            plain = re.sub(r'\W', '_', function.__name__, flags=re.ASCII)
            # Registered by its type before it is read, so that functions may call each other.
            made = Instance(
                f'{plain}.{len(self._instances)}',
                function,
                arguments,
                self._signature(function)[1],
            )
            self._instances[key] = made
            self.waiting.append(made)
        return self._instances[key]

    def array(self, kind: ArrayType) -> ArrayType:
        """Return the type of an array of known lengths, as functions see it."""
        return kind if self._has_shapes else ArrayType(kind.number, (None,) * kind.ndim)

    def _signature(self, function: Callable) -> Tuple[List[_Parameter], Type]:
        if function not in self._functions:
            tree = self.definition(function)
            names, arguments = function.__globals__, tree.args
            others = arguments.posonlyargs + arguments.kwonlyargs + arguments.defaults
            if others or arguments.vararg or arguments.kwarg:
                raise CompileError(
                    f'{function.__name__} must have positional parameters only, without '
                    'defaults, * or **'
                )
            # Arrays and records have the caller's types; their annotations are for readers and
            # type checkers.
            parameters = [(each.arg, _number(each.annotation, names)) for each in arguments.args]
            self._functions[function] = parameters, _result(function.__name__, tree, names)
        return self._functions[function]


def _meaning(annotation: Optional[ast.expr], names: Mapping[str, Any]) -> Any:
    """Return the object that an annotation names, or None."""
    # In the syntax tree, quoted annotations are constants.
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode='eval').body
    if isinstance(annotation, ast.Name):
        return names.get(annotation.id, getattr(builtins, annotation.id, None))
    return None


def _number(annotation: Optional[ast.expr], names: Mapping[str, Any]) -> Optional[NumberType]:
    meaning = _meaning(annotation, names)
    return _NUMBERS.get(meaning) if isinstance(meaning, type) else None


def number_of(annotation: ast.expr, names: Mapping[str, Any]) -> NumberType:
    """Return the type of number that an annotation names.

    :raises CompileError: if it is no such type
    """
    number = _number(annotation, names)
    if number is None:
        raise CompileError(
            f'a variable is annotated as int, float or bool, not {ast.unparse(annotation)}'
        )
    return number


def _result(name: str, tree: ast.FunctionDef, names: Mapping[str, Any]) -> Type:
    """Return the type of a function's result, by its annotation."""
    annotation = tree.returns
    if isinstance(annotation, ast.Constant) and annotation.value is None:
        return NOTHING
    found = _type(annotation, names)
    if found is None:
        raise CompileError(
            f'{name} must be annotated to return None, numbers of type int, float or bool, '
            'Vec[n], Mat[n, m], Transform or a tuple'
        )
    return found


def _type(annotation: Optional[ast.expr], names: Mapping[str, Any]) -> Optional[Type]:
    """Return the type of an annotation; None if it is no type of a value."""
    number = _number(annotation, names)
    if number is not None:
        return number
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode='eval').body
    if not isinstance(annotation, ast.Subscript):
        meaning = _meaning(annotation, names)
        return next((kind for named, kind in _NAMED if meaning is named), None)
    owner, inner = annotation.value, annotation.slice
    items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    # Sizes are read from the text, as these annotations are never evaluated.
    if _meaning(owner, names) in (Vec, Mat):
        sizes = [getattr(each, 'value', None) for each in items]
        if len(sizes) == (1 if _meaning(owner, names) is Vec else 2) and all(
            isinstance(each, int) and each > 0 for each in sizes
        ):
            row = VecType((FLOAT,) * sizes[-1])
            return row if len(sizes) == 1 else MatType((row,) * sizes[0])
        return None
    kinds = [_type(each, names) for each in items]
    if ast.unparse(owner).split('.')[-1] in ('Tuple', 'tuple') and all(kinds):
        return TupleType(tuple(kinds))
    return None


_VEC3 = VecType((FLOAT,) * 3)
_MAT3 = MatType((_VEC3,) * 3)
_NAMED = (
    (Vec3, _VEC3),
    (Vec4, VecType((FLOAT,) * 4)),
    (Mat3, _MAT3),
    (Transform, NamedType((_MAT3, _VEC3), Transform)),
)


def number_fields(kind: Any) -> List[Optional[NumberType]]:
    """Return the types of the number fields of a named tuple, None for other fields."""
    hints = (kind.__annotations__[each] for each in kind._fields)
    plain = (getattr(builtins, getattr(each, '__forward_arg__', ''), each) for each in hints)
    return [_NUMBERS.get(each) if isinstance(each, type) else None for each in plain]
