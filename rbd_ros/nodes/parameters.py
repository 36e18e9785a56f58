"""Declarative node parameters: one table a node says name, default, meaning and legal values.

Values are checked whole before any of them is taken, at start and when they are set later; an
integer is accepted where a number is meant, and `[]` where a list is meant (YAML and the command
line cannot say which kind of list).
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Tuple

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter

from rbd_ros.nodes.runtime import StartupError

Check = Callable[[Mapping[str, Any]], Optional[str]]


@dataclass(frozen=True)
class Declaration:
    """One parameter.

    :param name: name of the parameter
    :param default: default value; its type is the parameter's type
    :param description: what it means, with its unit
    :param choices: legal values, if they can be listed
    :param minimum: least legal value of a number or of every element of a list
    :param maximum: greatest legal value, likewise
    :param positive: numbers must exceed zero
    :param length: number of elements a list must have, if that is fixed
    :param element: type of a list's elements
    :param live: whether it can be changed while the node runs
    """

    name: str
    default: Any
    description: str
    choices: Tuple[str, ...] = ()
    minimum: Optional[float] = None
    maximum: Optional[float] = None
    positive: bool = False
    length: Optional[int] = None
    element: type = float
    live: bool = False

    @property
    def kind(self) -> str:
        """Type in the words of ROS: bool, int, double, string, double[] or string[]."""
        names = {bool: 'bool', int: 'int', float: 'double', str: 'string'}
        if isinstance(self.default, tuple):
            return names[self.element] + '[]'
        return names[type(self.default)]

    def convert(self, value: Any) -> Any:
        """Return `value` as this parameter holds it: a bool, int, float, str or tuple.

        :raises ValueError: if it is not legal, naming the parameter and what would be
        """
        if isinstance(self.default, tuple):
            return self._convert_list(value)
        return self._convert_scalar(value, type(self.default), self.name)

    def _convert_list(self, value: Any) -> tuple:
        if value is None:
            value = ()
        if isinstance(value, (str, bytes)) or not hasattr(value, '__iter__'):
            raise ValueError(f'{self.name} must be a {self.kind}, got {value!r}')
        values = tuple(
            self._convert_scalar(v, self.element, f'{self.name}[{i}]') for i, v in enumerate(value)
        )
        if self.length is not None and len(values) != self.length:
            raise ValueError(f'{self.name} must have {self.length} elements, got {len(values)}')
        return values

    def _convert_scalar(self, value: Any, kind: type, name: str) -> Any:
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not kind:
            words = {bool: 'true or false', int: 'an integer', float: 'a number', str: 'a string'}
            raise ValueError(f'{name} must be {words[kind]}, got {value!r}')
        if kind in (int, float):
            self._check_range(value, name)
        if self.choices and value not in self.choices:
            raise ValueError(f'{name} must be one of {", ".join(self.choices)}; got {value!r}')
        return value

    def _check_range(self, value: float, name: str) -> None:
        if not math.isfinite(value):
            raise ValueError(f'{name} must be finite, got {value}')
        if self.positive and not value > 0:
            raise ValueError(f'{name} must be greater than 0, got {value:g}')
        if self.minimum is not None and value < self.minimum:
            raise ValueError(f'{name} must be at least {self.minimum:g}, got {value:g}')
        if self.maximum is not None and value > self.maximum:
            raise ValueError(f'{name} must be at most {self.maximum:g}, got {value:g}')

    def descriptor(self) -> ParameterDescriptor:
        """Descriptor for `ros2 param describe`."""
        constraints = []
        if self.choices:
            constraints.append('one of: ' + ', '.join(choice or "''" for choice in self.choices))
        if self.positive:
            constraints.append('greater than 0')
        if self.length is not None:
            constraints.append(f'{self.length} elements')
        if not self.live:
            constraints.append('set at start only')
        descriptor = ParameterDescriptor(
            description=self.description,
            additional_constraints='; '.join(constraints),
            # The table checks types itself: it takes an integer for a number and [] for any list.
            dynamic_typing=True,
        )
        bounded = self.minimum is not None or self.maximum is not None
        if bounded and type(self.default) is float:
            low = -math.inf if self.minimum is None else self.minimum
            high = math.inf if self.maximum is None else self.maximum
            descriptor.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
        elif bounded and type(self.default) is int:
            low = -(2**63) if self.minimum is None else int(self.minimum)
            high = 2**63 - 1 if self.maximum is None else int(self.maximum)
            descriptor.integer_range = [IntegerRange(from_value=low, to_value=high)]
        return descriptor


class ParameterTable:
    """The parameters of a node: `table['name']` is the present value, checked and converted.

    :param node: the node
    :param declarations: what to declare
    :param check: tells what is wrong with a full set of values (by name), or None; must change
        nothing
    :raises StartupError: for an illegal value given at start
    """

    def __init__(
        self, node: Node, declarations: Sequence[Declaration], check: Optional[Check] = None
    ):
        self._node = node
        self._declarations = {d.name: d for d in declarations}
        self._check = check
        self._values: Dict[str, Any] = {}
        self._applied: Optional[Callable[[Dict[str, Any]], None]] = None
        for declaration in declarations:
            self._values[declaration.name] = self._declare(declaration)
        problem = check(self._values) if check else None
        if problem:
            raise StartupError(problem)
        node.add_on_set_parameters_callback(self._on_set)
        if hasattr(node, 'add_post_set_parameters_callback'):
            node.add_post_set_parameters_callback(self._on_changed)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def on_change(self, callback: Callable[[Dict[str, Any]], None]) -> None:
        """Call `callback` with the changed values by name after every successful change."""
        self._applied = callback

    def _declare(self, declaration: Declaration) -> Any:
        default = declaration.default
        if isinstance(default, tuple):
            default = list(default) or None
        # A range in the descriptor makes declare_parameter raise with a text of its own; the
        # table's text is clearer.
        override = getattr(self._node, '_parameter_overrides', {}).get(declaration.name)
        if override is not None:
            self._convert_at_start(declaration, override.value)
        parameter = self._node.declare_parameter(
            declaration.name, default, declaration.descriptor()
        )
        return self._convert_at_start(declaration, parameter.value)

    @staticmethod
    def _convert_at_start(declaration: Declaration, value: Any) -> Any:
        try:
            return declaration.convert(value)
        except ValueError as error:
            raise StartupError(f'parameter {error}') from None

    def _convert_known(self, parameters: Sequence[Parameter]) -> Dict[str, Any]:
        return {
            p.name: self._declarations[p.name].convert(p.value)
            for p in parameters
            if p.name in self._declarations
        }

    def _on_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        try:
            new = self._convert_known(parameters)
        except ValueError as error:
            return SetParametersResult(successful=False, reason=str(error))
        for name, value in new.items():
            if not self._declarations[name].live and value != self._values[name]:
                return SetParametersResult(
                    successful=False, reason=f'{name} can be set at start only'
                )
        problem = self._check({**self._values, **new}) if self._check else None
        if problem:
            return SetParametersResult(successful=False, reason=problem)
        if not hasattr(self._node, 'add_post_set_parameters_callback'):
            self._take(new)
        return SetParametersResult(successful=True)

    def _on_changed(self, parameters: Sequence[Parameter]) -> None:
        self._take(self._convert_known(parameters))

    def _take(self, new: Dict[str, Any]) -> None:
        changed = {name: value for name, value in new.items() if value != self._values[name]}
        self._values.update(changed)
        if changed and self._applied:
            self._applied(changed)
