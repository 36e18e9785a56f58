# SPDX-License-Identifier: Apache-2.0
"""Expressions of compiled loops: from the syntax tree of Python to LLVM instructions.

What is known when a function is compiled, such as a bool of a record, is worked out then, and what
can never be evaluated for that reason is not even looked at.
"""

from __future__ import annotations

import ast
import builtins
import math
from types import ModuleType
from typing import Any, Callable, Dict, List, Mapping, Sequence, Set, Tuple

import numpy as np

from rbd_ros.compiler.loops import loop_arithmetic
from rbd_ros.compiler.loops.instances import Instances
from rbd_ros.compiler.loops.loop_calls import call_builtin
from rbd_ros.compiler.loops.loop_values import (
    ArrayType,
    BOOL,
    CompileError,
    constant,
    convert,
    INT,
    joined,
    llvm_types,
    number_type,
    NumberType,
    RecordType,
    TupleType,
    Type,
    Value,
)
from rbd_ros.compiler.targets.llvm.routine import Routine


class Expressions:
    """Evaluates the expressions of one function.

    :param instances: where the functions come from that it calls
    :param code: the LLVM function that is written
    :param names: what the names mean that are no variables
    """

    def __init__(self, instances: Instances, code: Routine, names: Mapping[str, Any]):
        self.instances, self.code, self.names = instances, code, names
        #: All variables of the function, and those that surely have a value at this place
        self.variables: Set[str] = set()
        self.assigned: Set[str] = set()
        self._fields: Dict[Tuple[str, str], Value] = {}

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression.

        :raises CompileError: if it cannot be compiled
        """
        try:
            evaluate = getattr(self, f'_{type(node).__name__}', None)
            if evaluate is None:
                raise CompileError(f'{type(node).__name__} ({ast.unparse(node)}) is not compiled')
            return evaluate(node)
        except CompileError as error:
            error.line = error.line or node.lineno
            raise

    def condition(self, node: ast.expr) -> Value:
        """Return the value of an expression as the bool that `if` takes it for."""
        return loop_arithmetic.truth(self.code, self.value(node))

    def read(self, name: str) -> Value:
        """Return the value of a variable."""
        raise NotImplementedError

    # -- names, fields, elements

    def _Constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, (bool, int, float)):
            raise CompileError(f'{node.value!r} is not a number')
        return constant(node.value)

    def _Name(self, node: ast.Name) -> Value:
        if node.id in self.variables:
            if node.id not in self.assigned:
                raise CompileError(f'{node.id} may have no value here; give it one before')
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
            if node.id in self.names:
                return self.names[node.id]
            return getattr(builtins, node.id, None)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = None if node.value.id in self.variables else self.names.get(node.value.id)
            if owner is math or owner is np:
                return getattr(owner, node.attr, None)
            if isinstance(owner, ModuleType):
                # The key of the cache follows names, not attributes of modules (sources.py): an
                # edit of what is named like this would go unnoticed.
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
            return self._field(owner, node.attr)
        if isinstance(owner.kind, ArrayType) and node.attr == 'shape':
            return Value(TupleType((INT,) * owner.kind.ndim), owner.parts[1:])
        raise CompileError(f'{owner.kind} has no {node.attr}; arrays have their shape')

    def _field(self, record: Value, name: str) -> Value:
        """Return the field of a record, read once at the beginning of the function.

        A record does not change while a loop runs, whatever the loop writes into its arrays.
        """
        place = record.kind.fields.get(name)
        if place is None:
            raise CompileError(f'{record.kind} has no field {name}')
        if isinstance(place, bool):
            return constant(place)
        # At the entry, which every path comes from: read first within a branch, a field would not
        # be known after it.
        key = record.text, name
        if key not in self._fields:
            word, kind = place
            words = enumerate(llvm_types(kind), start=word)
            parts = [self._word(record.text, at, llvm_type) for at, llvm_type in words]
            self._fields[key] = Value(kind, tuple(parts))
        return self._fields[key]

    def _word(self, table: str, word: int, llvm_type: str) -> str:
        place = self.code.first(f'getelementptr inbounds i64, ptr {table}, i64 {word}')
        # Arrays and tables might overlap, for all that LLVM knows: it would read a field again
        # after every store, if it did not know that the table stays as it is.
        return self.code.first(f'load {llvm_type}, ptr {place}, !invariant.load !0')

    def _Subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if isinstance(owner.kind, TupleType):
            at = self.value(node.slice)
            if at.kind != INT or at.known is None or not 0 <= at.known < len(owner.kind.items):
                raise CompileError('the index of a tuple must be a literal within its length')
            return owner.items()[at.known]
        place, shape = self.place(owner, self.indices(node))
        kind = owner.kind
        if shape:
            return Value(ArrayType(kind.number, len(shape)), (place, *shape))
        return self.load(kind.number, place)

    def load(self, kind: NumberType, place: str) -> Value:
        """Return the element of an array."""
        return Value(kind, (self.code.value(f'load {kind.llvm}, ptr {place}'),))

    def indices(self, node: ast.Subscript) -> List[Value]:
        """Return the indices of a subscript."""
        each = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        found = []
        for index in each:
            if isinstance(index, (ast.Slice, ast.Starred)):
                raise CompileError('slices are not compiled; x[i] is a row of x')
            value = self.value(index)
            if value.kind != INT:
                raise CompileError(f'an index must be an int, not {value.kind}')
            if value.known is not None and value.known < 0:
                raise CompileError('indices count from 0; write x[len(x) - 1]')
            found.append(value)
        return found

    def place(self, owner: Value, indices: Sequence[Value]) -> Tuple[str, Tuple[str, ...]]:
        """Return address of an element, or of the first one of a part, and the shape of that part.

        Nothing guards the bounds: tests run the same text in Python, which does.
        """
        if not isinstance(owner.kind, ArrayType):
            raise CompileError(f'{owner.kind} has no elements')
        kind, (data, *shape) = owner.kind, owner.parts
        if len(indices) > kind.ndim:
            raise CompileError(f'{len(indices)} indices of an {kind}')
        # Row by row. Signed overflow is excluded (nsw), so that LLVM may turn an index that counts
        # into an address that moves on.
        offset = indices[0].text
        for k in range(1, kind.ndim):
            offset = self.code.value(f'mul nsw i64 {offset}, {shape[k]}')
            if k < len(indices):
                offset = self.code.value(f'add nsw i64 {offset}, {indices[k].text}')
        llvm_type = kind.number.llvm
        place = f'getelementptr inbounds {llvm_type}, ptr {data}, i64 {offset}'
        return self.code.value(place), tuple(shape[len(indices) :])

    def _Tuple(self, node: ast.Tuple) -> Value:
        items = [self.value(each) for each in node.elts]
        parts = tuple(part for each in items for part in each.parts)
        return Value(TupleType(tuple(each.kind for each in items)), parts)

    # -- operators

    def _BinOp(self, node: ast.BinOp) -> Value:
        a = self.value(node.left)
        return loop_arithmetic.binary(self.code, node.op, a, self.value(node.right))

    def _UnaryOp(self, node: ast.UnaryOp) -> Value:
        return loop_arithmetic.unary(self.code, node.op, self.value(node.operand))

    def _Compare(self, node: ast.Compare) -> Value:
        left = self.value(node.left)

        def comparison(operation: ast.cmpop, operand: ast.expr) -> Value:
            nonlocal left
            right = self.value(operand)
            holds = loop_arithmetic.compare(self.code, operation, left, right)
            # `a < b < c` evaluates b once.
            left = right
            return holds

        pairs = zip(node.ops, node.comparators)
        return self._until(False, [lambda pair=pair: comparison(*pair) for pair in pairs])

    def _BoolOp(self, node: ast.BoolOp) -> Value:
        def operand(each: ast.expr) -> Value:
            value = self.value(each)
            if value.kind != BOOL:
                # Python's give one of their operands, of whatever type that is.
                raise CompileError(f'and/or need bools, not {value.kind}; add a comparison')
            return value

        values = [lambda each=each: operand(each) for each in node.values]
        return self._until(isinstance(node.op, ast.Or), values)

    def _until(self, decisive: bool, conditions: Sequence[Callable[[], Value]]) -> Value:
        """Evaluate conditions in turn until one has the decisive value, which is the result.

        Those after it are not evaluated: an index may be valid only if they are not.
        """
        end, entries, last = '', [], constant(not decisive)
        for evaluate in conditions:
            if last.known is None:
                # The one before decides, or this one is looked at.
                end = end or self.code.new_label()
                # The block that the jump leaves from, which need not be the one where the
                # condition began.
                entries.append((constant(decisive).text, self.code.here))
                onward = self.code.new_label()
                labels = (end, onward) if decisive else (onward, end)
                self.code.choose(last.text, *labels)
                self.code.label(onward)
            elif last.known == decisive:
                break
            last = evaluate()
        if not entries:
            return last
        entries.append((last.text, self.code.here))
        self.code.label(end)
        return self._merged(BOOL, entries)

    def _merged(self, kind: NumberType, entries: Sequence[Tuple[str, str]]) -> Value:
        """Return the value that depends on where the program comes from.

        :param entries: value and label of each place
        """
        pairs = ', '.join(f'[{text}, %{label}]' for text, label in entries)
        return Value(kind, (self.code.value(f'phi {kind.llvm} {pairs}'),))

    def _IfExp(self, node: ast.IfExp) -> Value:
        condition = self.condition(node.test)
        if condition.known is not None:
            return self.value(node.body if condition.known else node.orelse)
        code = self.code
        begins, outs = ([code.new_label(), code.new_label()] for _ in range(2))
        end = code.new_label()
        code.choose(condition.text, *begins)
        values = []
        for begin, out, branch in zip(begins, outs, (node.body, node.orelse)):
            code.label(begin)
            values.append(self.value(branch))
            # Each ends in a block of its own, where it can still be converted.
            number_type(values[-1], 'the result of a conditional expression')
            code.go(out)
        # Only now is it known what both become.
        kind, entries = joined(*values), []
        for out, value in zip(outs, values):
            code.label(out)
            entries.append((convert(code, value, kind, 'it').text, code.here))
            code.go(end)
        code.label(end)
        return self._merged(kind, entries)

    # -- calls

    def _Call(self, node: ast.Call) -> Value:
        function = self.meaning(node.func)
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            raise CompileError('arguments are passed by position only')
        arguments = [self.value(each) for each in node.args]
        if getattr(function, 'is_compiled', False):
            return self._call_compiled(function, arguments)
        return call_builtin(self.code, function, arguments, ast.unparse(node.func))

    def _call_compiled(self, function: Callable, arguments: Sequence[Value]) -> Value:
        parameters = self.instances.parameters(function)
        if len(parameters) != len(arguments):
            raise CompileError(f'{function.__name__} takes {len(parameters)} arguments')
        passed = []
        for (name, kind), value in zip(parameters, arguments):
            what = f'argument {name} of {function.__name__}'
            if kind is not None:
                value = convert(self.code, value, kind, what)
            elif isinstance(value.kind, (NumberType, TupleType)):
                # The type of a number is for the function to say, not for who calls it: 0 is
                # passed for a float, too, and must not make another function of it.
                raise CompileError(f'{what} is annotated neither int, float nor bool')
            passed.append(value)
        instance = self.instances.of(function, tuple(each.kind for each in passed))
        texts = ', '.join(text for each in passed for text in each.arguments)
        call = f'call {result_type(instance.result)} @{instance.name}({texts})'
        if instance.result == TupleType(()):
            self.code.do(call)
            return Value(instance.result, ())
        whole = self.code.value(call)
        if isinstance(instance.result, NumberType):
            return Value(instance.result, (whole,))
        parts = tuple(
            self.code.value(f'extractvalue {result_type(instance.result)} {whole}, {k}')
            for k in range(len(instance.result.items))
        )
        return Value(instance.result, parts)


def result_type(kind: Type) -> str:
    """Return LLVM's type of the result of a function.

    A number, a structure of them, or nothing.
    """
    if isinstance(kind, NumberType):
        return kind.llvm
    return f'{{{", ".join(each.llvm for each in kind.items)}}}' if kind.items else 'void'
