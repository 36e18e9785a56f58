# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Expressions of compiled loops: from Python's syntax tree to typed ones (loop_ir.py).

Constants, such as a bool of a record, are folded here; expressions that can never be evaluated
are not read.
"""

from __future__ import annotations

import ast
import builtins
import math
from types import ModuleType
from typing import Any, Callable, Dict, List, Mapping, Sequence, Set

import numpy as np

from rbd_ros.compiler.loops import loop_arithmetic, vector_arithmetic
from rbd_ros.compiler.loops.instances import Instances, number_fields
from rbd_ros.compiler.loops.loop_arithmetic import constant, convert, joined, number_type
from rbd_ros.compiler.loops.loop_calls import call_builtin, length
from rbd_ros.compiler.loops.loop_ir import Expression, Statement, Variable
from rbd_ros.compiler.loops.loop_types import (
    ArrayType,
    BOOL,
    CompileError,
    INT,
    MatType,
    NamedType,
    NumberType,
    RecordType,
    TupleType,
    VecType,
)
from rbd_ros.compiler.loops.vector_arithmetic import items_of
from rbd_ros.compiler.loops.vocabulary import NamedFunction


class Expressions:
    """Reads the expressions of one function.

    :param instances: source of the functions that it calls
    :param names: values of names that are no variables
    """

    def __init__(self, instances: Instances, names: Mapping[str, Any]):
        self.instances, self.names = instances, names
        #: All variables of the function, and those that certainly have a value here
        self.variables: Set[str] = set()
        self.assigned: Set[str] = set()
        #: Present expression of each variable
        self.values: Dict[str, Expression] = {}
        #: Blocks around this place, outermost first
        self.blocks: List[List[Statement]] = [[]]

    def value(self, node: ast.expr) -> Expression:
        """Return an expression.

        :raises CompileError: if it cannot be compiled
        """
        try:
            read = getattr(self, f'_{type(node).__name__}', None)
            if read is None:
                raise CompileError(f'{type(node).__name__} ({ast.unparse(node)}) is not compiled')
            return read(node)
        except CompileError as error:
            error.line = error.line or node.lineno
            raise

    def used(self, value: Expression, is_read: bool = False) -> Expression:
        """Return the value of a variable that is read or assigned at this place."""
        for each in value.walk():
            if isinstance(each, Variable):
                each.is_read |= is_read
                # A variable used outside of the block of its first assignment is declared for the
                # whole function: in C, its scope would end with the block.
                if each.is_local and each.block is not self.blocks[-1]:
                    each.is_local = any(each.block is block for block in self.blocks)
        return value

    def condition(self, node: ast.expr) -> Expression:
        """Return an expression converted to bool, as `if` does."""
        return loop_arithmetic.truth(self.value(node))

    # -- names, fields, elements

    def _Constant(self, node: ast.Constant) -> Expression:
        if not isinstance(node.value, (bool, int, float)):
            raise CompileError(f'{node.value!r} is not a number')
        return constant(node.value)

    def _Name(self, node: ast.Name) -> Expression:
        if node.id in self.variables:
            if node.id not in self.assigned:
                raise CompileError(f'{node.id} may have no value here; give it one before')
            return self.used(self.values[node.id], True)
        return self._constant_of(self.meaning(node), node)

    def _constant_of(self, value: Any, node: ast.expr) -> Expression:
        if not isinstance(value, (bool, int, float)):
            raise CompileError(
                f'{ast.unparse(node)} is neither a variable nor a number of the module'
            )
        return constant(value)

    def meaning(self, node: ast.expr) -> Any:
        """Return the object of a name, or of a name in a module, or None."""
        if isinstance(node, ast.Name) and node.id not in self.variables:
            if node.id in self.names:
                return self.names[node.id]
            return getattr(builtins, node.id, None)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = None if node.value.id in self.variables else self.names.get(node.value.id)
            if owner is math or owner is np:
                return getattr(owner, node.attr, None)
            if isinstance(owner, ModuleType):
                # The key of the cache follows names, not attributes of modules (sources.py): an
                # edit there would go unnoticed.
                raise CompileError(
                    f'{node.value.id}.{node.attr} is not compiled; write "from {node.value.id} '
                    f'import {node.attr}"'
                )
        return None

    def _Attribute(self, node: ast.Attribute) -> Expression:
        known = self.meaning(node)
        if known is not None:
            return self._constant_of(known, node)
        owner = self.value(node.value)
        if isinstance(owner.type, RecordType):
            return self._field(owner, node.attr)
        if isinstance(owner.type, ArrayType) and node.attr == 'shape':
            lengths = tuple(length(owner, axis) for axis in range(owner.type.ndim))
            return Expression(TupleType((INT,) * len(lengths)), 'values', lengths)
        if isinstance(owner.type, MatType) and node.attr == 'T':
            return vector_arithmetic.transposed(owner)
        if isinstance(owner.type, NamedType) and node.attr in owner.type.kind._fields:
            return items_of(owner)[owner.type.kind._fields.index(node.attr)]
        raise CompileError(f'{owner.type} has no {node.attr}; arrays have their shape')

    def _field(self, record: Expression, name: str) -> Expression:
        kind = record.type.fields.get(name)
        # Fields of numbers never change during a loop, so they are constants of its code.
        if kind is None:
            raise CompileError(f'{record.type} has no field {name}')
        if isinstance(kind, (bool, int, float)):
            return constant(kind)
        if getattr(kind, 'is_compiled', False):
            raise CompileError(f'{name} is a function of the {record.type}; call it')
        if isinstance(kind, RecordType) and kind.is_constant:
            return Expression(kind, 'constant_record')
        return Expression(kind, 'field', (record,), name)

    def _Subscript(self, node: ast.Subscript) -> Expression:
        owner = self.value(node.value)
        if not isinstance(owner.type, TupleType):
            return self.element(owner, node)
        at = self.value(node.slice)
        # Items of a tuple differ in type, so their index must be a literal; those of a vector do
        # not.
        if isinstance(owner.type, (VecType, MatType)) and at.type == INT and at.known is None:
            return vector_arithmetic.item_at(owner, at)
        if at.type != INT or at.known is None or not 0 <= at.known < len(owner.type.items):
            raise CompileError('the index of a tuple must be a literal within its length')
        return items_of(owner)[at.known]

    def element(self, array: Expression, node: ast.Subscript) -> Expression:
        """Return the element of an array at the indices of a subscript, or a part of the array.

        Bounds are not checked; tests run the same source in Python, which checks them.
        """
        return self.part(
            array, node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        )

    def part(self, array: Expression, nodes: Sequence[ast.expr]) -> Expression:
        """Return the element of an array at some indices, or a part of the array."""
        indices = []
        for index in nodes:
            if isinstance(index, (ast.Slice, ast.Starred)):
                raise CompileError('slices are not compiled; x[i] is a row of x')
            value = self.value(index)
            if value.type != INT:
                raise CompileError(f'an index must be an int, not {value.type}')
            # Counting from the end would need a comparison at each access.
            if value.known is not None and value.known < 0:
                raise CompileError('indices count from 0; write x[len(x) - 1]')
            indices.append(value)
        kind = array.type
        if not isinstance(kind, ArrayType):
            raise CompileError(f'{kind} has no elements')
        if len(indices) > kind.ndim:
            raise CompileError(f'{len(indices)} indices of an {kind}')
        shape = kind.shape[len(indices) :]
        part = ArrayType(kind.number, shape, kind.is_constant) if shape else kind.number
        return Expression(part, 'element', (array, *indices))

    def _Tuple(self, node: ast.Tuple) -> Expression:
        items = tuple(self.value(each) for each in node.elts)
        return Expression(TupleType(tuple(each.type for each in items)), 'values', items)

    # -- operators

    def _BinOp(self, node: ast.BinOp) -> Expression:
        return vector_arithmetic.binary(node.op, self.value(node.left), self.value(node.right))

    def _UnaryOp(self, node: ast.UnaryOp) -> Expression:
        return vector_arithmetic.unary(node.op, self.value(node.operand))

    def _Compare(self, node: ast.Compare) -> Expression:
        left = self.value(node.left)

        def comparison(operation: ast.cmpop, operand: ast.expr) -> Expression:
            nonlocal left
            right = self.value(operand)
            if operand is not node.comparators[-1] and right.known is None:
                # `a < b < c` evaluates b once.
                right = Expression(right.type, 'shared', (right,))
            holds = loop_arithmetic.compare(operation, left, right)
            left = right
            return holds

        pairs = zip(node.ops, node.comparators)
        return self._until(False, [lambda pair=pair: comparison(*pair) for pair in pairs])

    def _BoolOp(self, node: ast.BoolOp) -> Expression:
        def operand(each: ast.expr) -> Expression:
            value = self.value(each)
            if value.type != BOOL:
                # Python returns one of the operands, of any type.
                raise CompileError(f'and/or need bools, not {value.type}; add a comparison')
            return value

        values = [lambda each=each: operand(each) for each in node.values]
        return self._until(isinstance(node.op, ast.Or), values)

    def _until(self, decisive: bool, conditions: Sequence[Callable[[], Expression]]) -> Expression:
        """Return an expression with short-circuit evaluation of conditions.

        Conditions after one with a known decisive value are dropped.
        """
        operands: List[Expression] = []
        for read in conditions:
            operand = read()
            if operand.known is None:
                operands.append(operand)
            elif operand.known == decisive:
                # Earlier operands can be dropped only without side effects.
                if not any(each.has_effect() for each in operands):
                    return operand
                operands.append(operand)
                break
        if len(operands) < 2:
            return operands[0] if operands else constant(not decisive)
        return Expression(BOOL, 'or' if decisive else 'and', tuple(operands))

    def _IfExp(self, node: ast.IfExp) -> Expression:
        condition = self.condition(node.test)
        if condition.known is not None:
            return self.value(node.body if condition.known else node.orelse)
        # Both branches have the joined type, as a target's variable has one type.
        values = self.value(node.body), self.value(node.orelse)
        if isinstance(values[0].type, VecType) and values[0].type == values[1].type:
            # Both are evaluated: the elements of a vector may share subexpressions.
            return vector_arithmetic.select(condition, *values)
        for each in values:
            number_type(each, 'the result of a conditional expression')
        kind = joined(*values)
        branches = (convert(each, kind, 'it') for each in values)
        return Expression(kind, 'choice', (condition, *branches))

    # -- calls

    def _Call(self, node: ast.Call) -> Expression:
        function = self._called(node.func)
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            raise CompileError('arguments are passed by position only')
        arguments = [self.value(each) for each in node.args]
        if getattr(function, 'is_compiled', False):
            return self._call_compiled(function, arguments)
        if isinstance(function, type) and hasattr(function, '_fields'):
            return vector_arithmetic.named(function, number_fields(function), arguments)
        made = call_builtin(function, arguments, ast.unparse(node.func))
        if made.name == 'stack_array':
            made.type = self.instances.array(made.type)
        return made

    def _called(self, node: ast.expr) -> Any:
        """Return the called function: a field of a record, or the object of a name."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if root is not node and isinstance(root, ast.Name) and root.id in self.variables:
            owner = self.value(node.value).type
            found = owner.fields.get(node.attr) if isinstance(owner, RecordType) else None
            return found.function if isinstance(found, NamedFunction) else found
        return self.meaning(node)

    def _call_compiled(self, function: Callable, arguments: Sequence[Expression]) -> Expression:
        parameters = self.instances.parameters(function)
        if len(parameters) != len(arguments):
            raise CompileError(f'{function.__name__} takes {len(parameters)} arguments')
        passed = []
        for (name, kind), value in zip(parameters, arguments):
            what = f'argument {name} of {function.__name__}'
            if kind is not None:
                value = convert(value, kind, what)
            elif isinstance(value.type, NumberType) or type(value.type) is TupleType:
                # The callee decides the type of a number: 0 may be passed for a float and must
                # not create another instance.
                raise CompileError(f'{what} is annotated neither int, float nor bool')
            passed.append(value)
        instance = self.instances.of(function, tuple(each.type for each in passed))
        # Constant records are in the callee's code.
        given = tuple(each for each in passed if each.name != 'constant_record')
        return Expression(instance.result, 'call', given, instance)
