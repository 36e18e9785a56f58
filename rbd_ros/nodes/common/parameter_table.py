# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A node's parameters at run time: declared from its interface, changed together or not at all.

A change has two phases. `prepare` computes everything that depends on the new values, and raises
to reject them. `commit` uses the result and cannot fail. So `ros2 param get` returns the values in
use.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
import yaml

from rbd_ros.model.bounded_yaml import load_yaml
from rbd_ros.model.errors import did_you_mean, similar_names
from rbd_ros.nodes.common.node_interface import Parameter
from rbd_ros.nodes.common.node_process import ending, StartupError
from rbd_ros.nodes.messages.text import readable

Values = Mapping[str, Any]
Prepare = Callable[[Values], Any]
Commit = Callable[[Any, Dict[str, Any]], None]

TYPES = {
    'bool': RosParameter.Type.BOOL,
    'int': RosParameter.Type.INTEGER,
    'double': RosParameter.Type.DOUBLE,
    'string': RosParameter.Type.STRING,
    'int[]': RosParameter.Type.INTEGER_ARRAY,
    'double[]': RosParameter.Type.DOUBLE_ARRAY,
    'string[]': RosParameter.Type.STRING_ARRAY,
}
MAX_INTEGER = 2**63 - 1
OF_RCLPY = ('use_sim_time', 'start_type_description_service')


def descriptor(declaration: Parameter) -> ParameterDescriptor:
    """Return the descriptor for `ros2 param describe`: meaning, type, range, constraints."""
    constraints = [declaration.range] if declaration.range else []
    if not declaration.live:
        constraints.append('can be set at start only')
    result = ParameterDescriptor(
        description=declaration.description,
        type=TYPES[declaration.kind].value,
        additional_constraints='; '.join(constraints),
    )
    low, high = declaration.minimum, declaration.maximum
    if declaration.scalar is float:
        low = 0.0 if low is None and declaration.positive else low
        low, high = (-math.inf if low is None else low), (math.inf if high is None else high)
        result.floating_point_range = [
            FloatingPointRange(from_value=float(low), to_value=float(high))
        ]
    elif declaration.scalar is int:
        low = -MAX_INTEGER if low is None else int(low)
        high = MAX_INTEGER if high is None else int(high)
        result.integer_range = [IntegerRange(from_value=low, to_value=high)]
    return result


class ParameterTable:
    """The parameters of a node: `table['name']` is the value in use, checked and converted.

    :param declarations: declarations of the parameters
    :param prepare: computes the settings from all values, by name, without side effects; raises
        ValueError with a reason to reject them
    :param commit: uses the result of `prepare`, with the changed values by name; must not raise
    :param read_only: parameters of rclpy that cannot be changed at run time, with the reason
    :raises StartupError: for an illegal initial value
    """

    def __init__(
        self,
        node: Node,
        declarations: Sequence[Parameter],
        prepare: Optional[Prepare] = None,
        commit: Optional[Commit] = None,
        read_only: Optional[Mapping[str, str]] = None,
    ):
        self._node = node
        self._declarations = {d.name: d for d in declarations}
        self._prepare, self._commit = prepare, commit
        self._read_only = dict(read_only or {})
        self._pending: Optional[Tuple[Dict[str, Any], Any]] = None
        self._problem = ''
        #: Whether parameters that are not live can be set: before the node is configured
        self.free: Callable[[], bool] = lambda: False
        # Static types need the callback that converts integers to doubles; Humble lacks it.
        self._static = hasattr(node, 'add_pre_set_parameters_callback')
        self._values = {d.name: self._declare(d) for d in declarations}
        self._warn_of_unknown()
        try:
            self._prepared(self._values)
        except ValueError as error:
            raise StartupError(readable(error)) from None
        if self._static:
            node.add_pre_set_parameters_callback(self._on_pre_set)
        node.add_on_set_parameters_callback(self._on_set)
        if hasattr(node, 'add_post_set_parameters_callback'):
            node.add_post_set_parameters_callback(self._on_accepted)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    @property
    def values(self) -> Dict[str, Any]:
        """All values in use, by name; a new dictionary replaces this one at each change."""
        return self._values

    # -- declaring --------------------------------------------------------------------------------

    def _declare(self, declaration: Parameter) -> Any:
        override = getattr(self._node, '_parameter_overrides', {}).get(declaration.name)
        try:
            given = declaration.default if override is None else override.value
            value = declaration.convert(given)
        except ValueError as error:
            raise StartupError(f'parameter {readable(error)}') from None
        described = descriptor(declaration)
        described.dynamic_typing = not self._static
        # An empty list has no type: it is declared with one element and then emptied.
        first = value if not declaration.is_list or value else (declaration.element(),)
        self._node.declare_parameter(
            declaration.name, _for_ros(first), described, ignore_override=True
        )
        if first is not value:
            self._node.set_parameters([_ros_parameter(declaration, value)])
        return value

    def _warn_of_unknown(self) -> None:
        """Warn about undeclared parameters, which may be typing errors."""
        for name in getattr(self._node, '_parameter_overrides', {}):
            if name in self._declarations or name in OF_RCLPY or name.startswith('qos_overrides'):
                continue
            hint = did_you_mean(similar_names(name, self._declarations))
            self._node.get_logger().warning(
                readable(f'parameter {name} is unknown to this node and ignored{hint}')
            )

    # -- changing ---------------------------------------------------------------------------------

    def _prepared(self, values: Dict[str, Any]) -> Any:
        return self._prepare(values) if self._prepare else None

    def _on_pre_set(self, parameters: List[RosParameter]) -> List[RosParameter]:
        """Convert values to their declared types, and keep the errors.

        rclpy rejects a wrong type before `_on_set`, without the name of the parameter.
        """
        self._problem = ''
        return [self._typed(parameter) for parameter in parameters]

    def _typed(self, parameter: RosParameter) -> RosParameter:
        declaration = self._declarations.get(parameter.name)
        if declaration is None:
            return parameter
        try:
            value = self._converted(declaration, parameter)
        except ValueError as error:
            self._problem = str(error)
            value = self._values[parameter.name]
        return _ros_parameter(declaration, value)

    def _converted(self, declaration: Parameter, parameter: RosParameter) -> Any:
        if parameter.type_ == RosParameter.Type.NOT_SET:
            raise ValueError(f'{declaration.name} cannot be deleted')
        value, present = parameter.value, self._values[declaration.name]
        try:
            value = declaration.convert(value)
        except ValueError:
            if not self._is_loaded(declaration, value):
                raise
            return present
        if not self._is_fixed(declaration) or value == present:
            return value
        return present if self._is_loaded(declaration, parameter.value) else value

    def _is_fixed(self, declaration: Parameter) -> bool:
        return not declaration.live and not self.free()

    def _is_loaded(self, declaration: Parameter, value: Any) -> bool:
        """Return whether a text of `ros2 param load` is the value in use as `dump` wrote it.

        `load` parses texts as YAML again: it drops comments, folds lines and converts digits.
        """
        if declaration.scalar is not str:
            return False
        text = str(_for_ros(self._values[declaration.name]))
        try:
            loaded = load_yaml(text)
        except yaml.YAMLError:
            return False
        kinds = {type(each) for each in loaded} if isinstance(loaded, list) else set()
        if loaded is None or len(kinds) > 1 or kinds - {bool, int, float, str}:
            loaded = text
        if isinstance(loaded, list):
            return hasattr(value, '__iter__') and list(value) == loaded
        return type(value) is type(loaded) and bool(value == loaded)

    def _on_set(self, parameters: Sequence[RosParameter]) -> SetParametersResult:
        if ending():  # thousands of values in one request must not delay the last command
            return SetParametersResult(successful=False, reason='the node is ending')
        try:
            new = self._checked(parameters)
            if new:
                values = {**self._values, **new}
                self._pending = (values, self._prepared(values))
        except ValueError as error:
            return SetParametersResult(successful=False, reason=readable(error))
        except Exception as error:  # a request needs an answer
            return SetParametersResult(
                successful=False, reason=readable(f'{type(error).__name__}: {error}')
            )
        if not hasattr(self._node, 'add_post_set_parameters_callback'):
            self._on_accepted(parameters)
        return SetParametersResult(successful=True)

    def _checked(self, parameters: Sequence[RosParameter]) -> Dict[str, Any]:
        if self._problem:
            raise ValueError(self._problem)
        new = {}
        for parameter in parameters:
            name = parameter.name
            if name in self._read_only:
                # ros2 param load sets every dumped parameter.
                if self._is_present(parameter):
                    continue
                raise ValueError(f'{name} cannot be changed: {self._read_only[name]}')
            if name not in self._declarations:
                if not name:  # rclpy would declare it
                    raise ValueError('a parameter must have a name')
                continue
            value = self._converted(self._declarations[name], parameter)
            if self._is_fixed(self._declarations[name]) and value != self._values[name]:
                raise ValueError(f'{name} can be set at start only')
            new[name] = value
        return new

    def _is_present(self, parameter: RosParameter) -> bool:
        known = self._node.has_parameter(parameter.name)
        return known and self._node.get_parameter(parameter.name).value == parameter.value

    def _on_accepted(self, parameters: Sequence[RosParameter]) -> None:
        pending, self._pending = self._pending, None
        if pending is None or not any(p.name in self._declarations for p in parameters):
            return
        values, prepared = pending
        changed = {name: v for name, v in values.items() if v != self._values[name]}
        self._values = values
        if changed and self._commit:
            self._commit(prepared, changed)


def _for_ros(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _ros_parameter(declaration: Parameter, value: Any) -> RosParameter:
    return RosParameter(declaration.name, TYPES[declaration.kind], _for_ros(value))
