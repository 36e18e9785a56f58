# SPDX-License-Identifier: Apache-2.0
"""Expressions of loops as expressions of C, in Python's order of evaluation.

C leaves open which operand of an expression it evaluates first. So where one calls a function that
may change something, those before it become variables of their own.
"""

from __future__ import annotations

import ast
import builtins
import math
from types import ModuleType
from typing import Any, Callable, List, Mapping, Sequence, Set

import numpy as np

from rbd_ros.compiler.targets.c99_loops import c99_arithmetic
from rbd_ros.compiler.targets.c99_loops.c99_calls import call_builtin
from rbd_ros.compiler.targets.c99_loops.c99_values import (
    AND,
    ArrayType,
    BOOL,
    C_TYPES,
    CHOICE,
    COMPARISON,
    CompileError,
    constant,
    convert,
    INT,
    joined,
    NOTHING,
    NumberType,
    OR,
    RecordType,
    TupleType,
    Value,
)


class Expressions:
    """Writes the expressions of one function.

    :param module: where functions, tables and kernels come from
    :param names: what the names mean that are no variables
    """

    def __init__(self, module: Any, names: Mapping[str, Any]):
        self.module, self.names = module, names
        #: Names of all variables of the function
        self.variables: Set[str] = set()
        #: Statements so far, and variables of C
        self.lines: List[str] = []
        self.taken: Set[str] = set()

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression.

        :raises CompileError: if it cannot be written
        """
        try:
            evaluate = getattr(self, f'_{type(node).__name__}', None)
            if evaluate is None:
                raise CompileError(f'{type(node).__name__} ({ast.unparse(node)}) is not compiled')
            found: Value = evaluate(node)
            return found
        except CompileError as error:
            error.line = error.line or node.lineno
            raise

    def read(self, name: str) -> Value:
        """Return the value of a variable."""
        raise NotImplementedError

    def temporary(self, value: Value, hint: str = 'value') -> Value:
        """Return the value from a constant of its own; a known one is returned as it is."""
        if value.known is not None or not isinstance(value.kind, NumberType):
            return value
        name = self.new_name(hint)
        self.lines.append(f'const {C_TYPES[value.kind]} {name} = {value.text};')
        return Value(value.kind, name)

    def new_name(self, hint: str) -> str:
        """Return the name that nothing has in this function."""
        name, k = hint, 1
        while name in self.taken or name in self.module.reserved:
            k += 1
            name = f'{hint}_{k}'
        self.taken.add(name)
        return name

    def values(self, nodes: Sequence[ast.expr]) -> List[Value]:
        """Return the values of operands, evaluated in their order."""
        found: List[Value] = []
        for node in nodes:
            outer, self.lines = self.lines, []
            value = self.value(node)
            inner, self.lines = self.lines, outer
            if inner or not value.is_pure:
                found = [self.temporary(each) for each in found]
            self.lines += inner
            if not value.is_pure and len(nodes) > 1:
                value = self.temporary(value)
            found.append(value)
        return found

    # -- names, fields, elements

    def _Constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, (bool, int, float)):
            raise CompileError(f'{node.value!r} is not a number')
        return constant(node.value)

    def _Name(self, node: ast.Name) -> Value:
        if node.id in self.variables:
            return self.read(node.id)
        return self._constant_of(self.meaning(node), node)

    def _constant_of(self, value: Any, node: ast.expr) -> Value:
        if not isinstance(value, (bool, int, float)):
            raise CompileError(
                f'{ast.unparse(node)} is neither a variable nor a number of the module'
            )
        return constant(value)

    def meaning(self, node: ast.expr) -> Any:
        """Return object that a name stands for, or a name in a module; None if it is neither."""
        if isinstance(node, ast.Name) and node.id not in self.variables:
            return self.names.get(node.id, getattr(builtins, node.id, None))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = None if node.value.id in self.variables else self.names.get(node.value.id)
            if owner is math or owner is np:
                return getattr(owner, node.attr, None)
            if isinstance(owner, ModuleType):
                raise CompileError(
                    f'{node.value.id}.{node.attr} is not compiled; write "from {node.value.id} '
                    f'import {node.attr}"'
                )
        return None

    def _Attribute(self, node: ast.Attribute) -> Value:
        known = self.meaning(node)
        if known is not None:
            return self._constant_of(known, node)
        owner = self.value(node.value)
        if isinstance(owner.kind, RecordType):
            field = owner.kind.fields.get(node.attr)
            if field is None:
                raise CompileError(f'the record has no field {node.attr}')
            return self._field(owner, field)
        if isinstance(owner.kind, ArrayType) and node.attr == 'shape':
            items = tuple(constant(length) for length in owner.kind.shape)
            return Value(TupleType((INT,) * len(items)), items=items)
        raise CompileError(f'{owner.kind} has no {node.attr}; arrays have their shape')

    def _field(self, record: Value, field: Value) -> Value:
        if field.known is not None:
            return field
        if not record.kind.name:
            if isinstance(field.kind, ArrayType):
                self.module.tables.add(field.text)
            return field
        if isinstance(field.kind, RecordType) and not field.kind.name:
            return field
        if record.text.startswith('&'):
            text = f'{record.text[1:]}.{field.text}'
        else:
            text = f'{record.text}->{field.text}'
        if isinstance(field.kind, RecordType):
            text = f'&{text}'
        return field._replace(text=text)

    def _Subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if isinstance(owner.kind, TupleType):
            at = self.value(node.slice)
            if at.kind != INT or at.known is None or not 0 <= at.known < len(owner.items):
                raise CompileError('the index of a tuple must be a literal within its length')
            return owner.items[at.known]
        return self.place(owner, self.indices(node))

    def indices(self, node: ast.Subscript) -> List[Value]:
        """Return the indices of a subscript."""
        each = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if any(isinstance(index, (ast.Slice, ast.Starred)) for index in each):
            raise CompileError('slices are not compiled; x[i] is a row of x')
        found = self.values(each)
        for value in found:
            if value.kind != INT or value.known is not None and value.known < 0:
                raise CompileError('an index must be an int, which counts from 0')
        return found

    def place(self, owner: Value, indices: Sequence[Value]) -> Value:
        """Return the element of an array, or a part of it."""
        if not isinstance(owner.kind, ArrayType):
            raise CompileError(f'{owner.kind} has no elements')
        kind = owner.kind
        if len(indices) > len(kind.shape):
            raise CompileError(f'{len(indices)} indices of an {kind}')
        offset = owner.offset or constant(0)
        for k, index in enumerate(indices):
            stride = constant(math.prod(kind.shape[k + 1 :]))
            offset = c99_arithmetic.sum_of(offset, c99_arithmetic.product_of(stride, index))
        shape = kind.shape[len(indices) :]
        if shape:
            return owner._replace(
                kind=ArrayType(kind.number, shape, kind.is_constant), offset=offset
            )
        text = f'{owner.text}[{offset.text}]'
        return Value(kind.number, text, is_pure=offset.is_pure)

    def _Tuple(self, node: ast.Tuple) -> Value:
        items = self.values(node.elts)
        return Value(TupleType(tuple(each.kind for each in items)), items=tuple(items))

    # -- operators

    def _BinOp(self, node: ast.BinOp) -> Value:
        return c99_arithmetic.binary(self.module, node.op, *self.values([node.left, node.right]))

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        return c99_arithmetic.unary(node.op, self.value(node.operand))

    def _Compare(self, node: ast.Compare) -> Value:
        operands = self.values([node.left, *node.comparators])
        # What stands in the middle is evaluated once.
        for k in range(1, len(operands) - 1):
            if not operands[k].text.isidentifier():
                operands[k] = self.temporary(operands[k])
        holds = [
            c99_arithmetic.compare(operation, operands[k], operands[k + 1])
            for k, operation in enumerate(node.ops)
        ]
        unknown = [each for each in holds if each.known is None]
        if any(each.known is False for each in holds):
            return constant(False)
        if not unknown:
            return constant(True)
        if len(unknown) == 1:
            return unknown[0]
        text = ' && '.join(each.within(COMPARISON) for each in unknown)
        return Value(BOOL, text, None, AND, all(each.is_pure for each in unknown))

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        decisive = isinstance(node.op, ast.Or)
        sign, binding = ('||', OR) if decisive else ('&&', AND)
        result = constant(not decisive)
        for each in node.values:
            if result.known is not None:
                if result.known == decisive:
                    return result
                result = self._bool(each)
                continue
            # A later one is evaluated only if those before it do not decide.
            outer, self.lines = self.lines, []
            value = self._bool(each)
            inner, self.lines = self.lines, outer
            if inner:
                name = self.new_name('holds')
                test = name if not decisive else f'!{name}'
                self.lines += [f'bool {name} = {result.text};', f'if ({test}) {{']
                self.lines += [f'    {line}' for line in inner]
                self.lines += [f'    {name} = {value.text};', '}']
                result = Value(BOOL, name)
            elif value.known == decisive:
                if not result.is_pure:
                    self.lines.append(f'(void){result.within(COMPARISON)};')
                return constant(decisive)
            elif value.known is None:
                # Compilers ask for parentheses where && stands in ||.
                left = result.within(binding if result.binding == binding else COMPARISON)
                form = f'{left} {sign} {value.within(COMPARISON)}'
                result = Value(BOOL, form, None, binding, result.is_pure and value.is_pure)
        return result

    def _bool(self, node: ast.expr) -> Value:
        value = self.value(node)
        if value.kind != BOOL:
            raise CompileError(f'and/or need bools, not {value.kind}; add a comparison')
        return value

    def condition(self, node: ast.expr) -> Value:
        """Return the value of an expression as the bool that `if` takes it for."""
        return c99_arithmetic.truth(self.value(node))

    def _IfExp(self, node: ast.IfExp) -> Value:
        condition = self.condition(node.test)
        if condition.known is not None:
            return self.value(node.body if condition.known else node.orelse)
        branches = []
        for each in (node.body, node.orelse):
            outer, self.lines = self.lines, []
            branches.append((self.value(each), self.lines))
            self.lines = outer
        kind = joined(*(value for value, _ in branches))
        values = [convert(value, kind, 'it') for value, _ in branches]
        if not any(lines for _, lines in branches):
            texts = (condition.within(COMPARISON), *(each.within(COMPARISON) for each in values))
            pure = condition.is_pure and all(each.is_pure for each in values)
            return Value(kind, '{} ? {} : {}'.format(*texts), None, CHOICE, pure)
        name = self.new_name('chosen')
        self.lines += [f'{C_TYPES[kind]} {name};', f'if ({condition.text}) {{']
        for k, (value, (_, lines)) in enumerate(zip(values, branches)):
            self.lines += ['} else {'] * k
            self.lines += [f'    {line}' for line in [*lines, f'{name} = {value.text};']]
        self.lines.append('}')
        return Value(kind, name)

    # -- calls

    def _Call(self, node: ast.Call) -> Value:
        function = self.meaning(node.func)
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            raise CompileError('arguments are passed by position only')
        arguments = self.values(node.args)
        if getattr(function, 'is_compiled', False):
            return self._call_compiled(function, arguments)
        return call_builtin(self.module, function, arguments, ast.unparse(node.func))

    def _call_compiled(self, function: Callable, arguments: Sequence[Value]) -> Value:
        parameters = self.module.instances.parameters(function)
        if len(parameters) != len(arguments):
            raise CompileError(f'{function.__name__} takes {len(parameters)} arguments')
        passed = []
        for (name, kind), value in zip(parameters, arguments):
            what = f'argument {name} of {function.__name__}'
            if kind is not None:
                value = convert(value, kind, what)
            elif isinstance(value.kind, (NumberType, TupleType)):
                raise CompileError(f'{what} is annotated neither int, float nor bool')
            passed.append(value)
        instance = self.module.instances.of(function, tuple(each.kind for each in passed))
        texts = [
            each.pointer if isinstance(each.kind, ArrayType) else each.text
            for each in passed
            # Records of constants are known to anyone who is called.
            if not (isinstance(each.kind, RecordType) and not each.kind.name)
        ]
        call = f'{self.module.name_of(instance)}({", ".join(texts)})'
        if isinstance(instance.result, NumberType) or instance.result == NOTHING:
            return Value(instance.result, call, is_pure=False)
        name = self.new_name('found')
        self.lines.append(f'const {self.module.result_type(instance.result)} {name} = {call};')
        items = tuple(
            Value(kind, f'{name}.item_{k}') for k, kind in enumerate(instance.result.items)
        )
        return Value(instance.result, items=items)


__all__ = ['Expressions']
