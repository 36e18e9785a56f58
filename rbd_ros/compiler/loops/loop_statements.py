# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Statements of compiled loops: from Python's syntax tree to typed ones (loop_ir.py).

The type of a variable is that of its first value; if a number of a higher rank is assigned to it
later (`total = 0`, then `total += 0.5`), it has that rank from the beginning.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Dict, Iterator, List, Optional, Sequence, Set, Tuple

from rbd_ros.compiler.loops import loop_ir as ir, vector_arithmetic
from rbd_ros.compiler.loops.instances import Instance, Instances, number_of
from rbd_ros.compiler.loops.loop_arithmetic import constant, convert
from rbd_ros.compiler.loops.loop_expressions import Expressions
from rbd_ros.compiler.loops.loop_types import (
    ArrayType,
    CompileError,
    INT,
    MatType,
    NOTHING,
    NumberType,
    RecordType,
    TupleType,
    Type,
    VecType,
)
from rbd_ros.compiler.loops.sources import runs_seldom
from rbd_ros.compiler.loops.vector_arithmetic import items_of, result_of
from rbd_ros.compiler.loops.vocabulary import simd_range


class _Widened(Exception):
    """A variable has a higher rank than that of its first value."""


def read_function(instances: Instances, instance: Instance) -> ir.Function:
    """Return a function for arguments of certain types.

    :param instances: source of the functions that it calls
    :param instance: the instance
    :raises CompileError: if it cannot be compiled, naming the line
    """
    widened: Dict[str, NumberType] = {}
    # The function is read again from the beginning, since the earlier uses have the lower rank.
    # Ranks only rise, so it ends.
    while True:
        try:
            return _Reader(instances, instance, widened).function()
        except _Widened:  # recorded in `widened`
            pass


class _Reader(Expressions):
    """Reads one function.

    :param widened: types of variables that differ from those of their first values; new ones are
        added
    """

    def __init__(self, instances: Instances, instance: Instance, widened: Dict[str, NumberType]):
        super().__init__(instances, instance.function.__globals__)
        self._definition = instances.definition(instance.function)
        self._instance, self._result, self._widened = instance, instance.result, widened
        self._line = self._definition.lineno
        #: Whether the end of the block is unreachable
        self._ended = False
        #: For each enclosing loop, the variables with a value at each `break`
        self._breaks: List[List[Set[str]]] = []
        parameters = [name for name, _ in instances.parameters(instance.function)]
        assigned = Counter(dict.fromkeys(parameters, 1))
        counters: Counter = Counter()
        for statement, name in _assignments(self._definition.body):
            assigned[name] += 1
            counters[name] += isinstance(statement, ast.For)
        self.variables = set(assigned)
        # Loop counters are a new variable in each loop.
        self._single = {name for name, count in assigned.items() if count in (1, counters[name])}
        self._parameters: List[ir.Variable] = []
        for name, kind in zip(parameters, instance.arguments):
            # All its numbers are constants: no address is passed.
            if isinstance(kind, RecordType) and kind.is_constant:
                self._assign(name, ir.Expression(kind, 'constant_record'))
                continue
            self._parameters.append(self._variable(kind, name))
            if name in self._single:
                self.values[name] = self._parameters[-1]
                self.assigned.add(name)
            else:
                self._assign(name, self._parameters[-1])

    def function(self) -> ir.Function:
        """Return the function."""
        body = self._definition.body
        self._read(body)
        if not self._ended and self._result != NOTHING:
            error = CompileError(f'the function can end without a return of type {self._result}')
            error.line = body[-1].lineno
            raise error
        summary = (ast.get_docstring(self._definition) or '').partition('\n')[0]
        seldom = runs_seldom(self._instance.function)
        return ir.Function(self._instance, self._parameters, summary, seldom, self.blocks[0])

    # -- variables

    def _assign(self, name: str, value: ir.Expression) -> None:
        if value.type == NOTHING:
            raise CompileError(f'{name} is assigned a call that returns no value')
        if name == '_':  # unused by convention, of any type
            self._do(ir.Evaluate(self._line, value))
            return
        before = None if name in self._single else self.values.get(name)
        if isinstance(value.type, NumberType):
            kind = before.type if before else self._widened.get(name, value.type)
            if isinstance(kind, NumberType):
                if value.type.rank > kind.rank:
                    self._widened[name] = value.type
                    # The function is read again: earlier uses took the lower rank.
                    raise _Widened
                value = convert(value, kind, name)
        self.assigned.add(name)
        if name in self._single:
            self.values[name] = self._evaluated(value, name)
            return
        if isinstance(value.type, RecordType) or type(value.type) is TupleType:
            # They exist at compile time only: no variable of the target could hold them.
            raise CompileError(f'{name} is a {value.type}, and may be assigned at one place only')
        if before is None:
            before = self.values[name] = self._variable(value.type, name, False)
        if before.type != value.type:
            raise CompileError(
                f'{name} is {before.type}, and cannot become {value.type}; use another name'
            )
        self._do(ir.Assign(self._line, self.used(before), value))

    def _evaluated(self, value: ir.Expression, name: str = '') -> ir.Expression:
        """Return the present value of an expression, independent of later assignments."""
        if value.name == 'values':
            names = (name and f'{name}_{k}' for k in range(len(value.operands)))
            items = tuple(map(self._evaluated, value.operands, names))
            return ir.Expression(value.type, 'values', items)
        is_one = isinstance(value, ir.Variable) and value.is_single and not name
        if value.name in ('constant', 'constant_record') or is_one:
            return value
        variable = self._variable(value.type, name)
        self._do(ir.Assign(self._line, variable, value))
        return variable

    def _store(self, target: ast.expr, value: ir.Expression) -> None:
        """Assign a value to a variable, an element, or several of them."""
        if isinstance(target, ast.Name):
            self._assign(target.id, value)
        elif isinstance(target, ast.Subscript):
            if isinstance(value.type, (VecType, MatType)):
                self._store_vector(target, value)
                return
            element = self._element(target)
            what = f'an element of an array of {element.type}'
            self._do(ir.Store(self._line, element, convert(value, element.type, what)))
        elif isinstance(target, (ast.Tuple, ast.List)):
            if not isinstance(value.type, TupleType) or len(value.type.items) != len(target.elts):
                raise CompileError(f'{value.type} does not have {len(target.elts)} values')
            if value.name != 'values' or not _in_turn(target.elts, value.operands):
                # All of them before any store: `x[i], x[j] = x[j], x[i]` is an exchange.
                value = self._evaluated(value)
            for each, item in zip(target.elts, items_of(value)):
                self._store(each, item)
        else:
            raise CompileError(f'nothing can be assigned to {ast.unparse(target)}')

    def _store_vector(self, target: ast.Subscript, value: ir.Expression) -> None:
        # In Python the right side is evaluated before the target.
        value, first = self._evaluated(value), None
        indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
        row = self.value(target.value)
        if isinstance(indices[-1], ast.Slice):
            ends = indices[-1].lower, indices[-1].upper
            known = [self.value(each).known if each else 0 for each in ends]
            if known[0] is None or known[1] != known[0] + len(value.type.items):
                size = len(value.type.items)
                raise CompileError(f'{value.type} needs x[a:b] with literals and b - a = {size}')
            first, indices = known[0], indices[:-1]
        if indices:
            row = self.part(row, indices)
        if getattr(row.type, 'is_constant', False):
            raise CompileError(f'{ast.unparse(target)} is constant here')
        self._store_row(row, first, value)

    def _store_row(self, row: ir.Expression, first: Optional[int], value: ir.Expression) -> None:
        """Store a vector in a row of numbers, a matrix in rows: in all of it or from the first."""
        items, kind = items_of(value), row.type
        inner = items[0].type.items if isinstance(value.type, MatType) else ()
        if not isinstance(kind, ArrayType) or kind.ndim != (2 if inner else 1):
            raise CompileError(f'{kind} cannot become {value.type}')
        sizes = zip(kind.shape, (len(items), len(inner)))
        # Lengths known only at run time are not checked, like indices.
        if first is None and any(known not in (None, size) for known, size in sizes):
            raise CompileError(f'{kind} cannot become {value.type}')
        row, number = self._evaluated(row), kind.number
        for k, item in enumerate(items):
            at = constant((first or 0) + k)
            if inner:
                part = ArrayType(number, kind.shape[1:], kind.is_constant)
                self._store_row(ir.Expression(part, 'element', (row, at)), None, item)
                continue
            element = ir.Expression(number, 'element', (row, at))
            self._do(ir.Store(self._line, element, convert(item, number, 'a number of an array')))

    def _element(self, target: ast.Subscript) -> ir.Expression:
        owner = self.value(target.value)
        element = self.element(owner, target)
        if not isinstance(element.type, NumberType):
            raise CompileError('a part of an array is assigned element by element')
        if owner.type.is_constant:
            raise CompileError(f'{ast.unparse(target)} is constant here')
        return element

    # -- statements

    def _do(self, statement: ir.Statement) -> None:
        self.blocks[-1].append(statement)

    def _variable(self, kind: Type, name: str, is_single: bool = True) -> ir.Variable:
        return ir.Variable(kind, name, is_single, self.blocks[-1])

    def _read(self, statements: Sequence[ast.stmt]) -> None:
        for each in statements:
            if self._ended:  # unreachable
                return
            self._line = each.lineno
            try:
                read = getattr(self, f'_do_{type(each).__name__}', None)
                if read is None:
                    raise CompileError(f'{type(each).__name__} is not compiled')
                read(each)
            except CompileError as error:
                error.line = error.line or each.lineno
                raise

    def _inner(self, statements: Sequence[ast.stmt]) -> List[ir.Statement]:
        """Return the block of a statement."""
        self.blocks.append([])
        self._read(statements)
        return self.blocks.pop()

    def _do_Pass(self, node: ast.Pass) -> None:
        pass

    def _do_Expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            value = self.value(node.value)
            # A tuple without a target has no value, but its parts may have side effects.
            for each in value.operands if value.name == 'values' else [value]:
                self._do(ir.Evaluate(self._line, each))

    def _do_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        # `a = x[i] = f()` calls f once.
        if len(node.targets) > 1 and value.type != NOTHING:
            value = self._evaluated(value)
        for target in node.targets:
            self._store(target, value)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            kind = number_of(node.annotation, self.names)
            value = self.value(node.value)
            self._store(node.target, convert(value, kind, ast.unparse(node.target)))

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            before = self.value(load)
            after = vector_arithmetic.binary(node.op, before, self.value(node.value))
            self._assign(node.target.id, after)
        elif isinstance(node.target, ast.Subscript):
            # Its owner and indices are evaluated once, as for `x[f(i)] += 1`.
            element = self._element(node.target)
            before = ir.Expression(element.type, 'current')
            after = vector_arithmetic.binary(node.op, before, self.value(node.value))
            after = convert(after, element.type, f'an element of an array of {element.type}')
            self._do(ir.Store(self._line, element, after, True))
        else:
            raise CompileError(f'nothing can be assigned to {ast.unparse(node.target)}')

    def _do_Return(self, node: ast.Return) -> None:
        nothing = node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        )
        if nothing != (self._result == NOTHING):
            raise CompileError(f'the function is annotated to return {self._result}')
        value = None if nothing else result_of(self.value(node.value), self._result)
        self._do(ir.Return(self._line, value))
        self._ended = True

    def _do_If(self, node: ast.If) -> None:
        condition = self.condition(node.test)
        if condition.known is not None:
            # The other branch is not read: it may name fields that these records do not have.
            self._read(node.body if condition.known else node.orelse)
            return
        line, before, after, blocks = self._line, self.assigned, [], []
        for statements in (node.body, node.orelse):
            self.assigned, self._ended = set(before), False
            blocks.append(self._inner(statements))
            if not self._ended:
                after.append(self.assigned)
        self._do(ir.If(line, condition, *blocks))
        self._join(after)

    def _join(self, ways: Sequence[Set[str]]) -> None:
        """Continue at the join of branches, merging the values of their variables."""
        self._ended = not ways
        if ways:
            # Only variables with a value in all branches
            self.assigned = set.intersection(*ways)

    def _do_While(self, node: ast.While) -> None:
        self._no_else(node)
        line, condition = self._line, self.condition(node.test)
        # Never entered and not read, like a dead branch.
        if condition.known is False:
            return
        # After the loop a variable has a value if it has one at its condition and at each `break`.
        # Without these, the code after the loop is unreachable.
        ways = [] if condition.known else [set(self.assigned)]
        self.blocks.append([])
        self._round(node.body, ways)
        self._do(ir.While(line, condition, self.blocks.pop()))
        self._join(ways)

    def _round(self, statements: Sequence[ast.stmt], breaks: List[Set[str]]) -> None:
        """Read the body of a loop, and record the variables with a value at each `break`."""
        self._breaks.append(breaks)
        self._read(statements)
        self._breaks.pop()

    def _do_For(self, node: ast.For) -> None:
        self._no_else(node)
        call = node.iter
        meaning = self.meaning(call.func) if isinstance(call, ast.Call) else None
        if meaning is not range and meaning is not simd_range:
            raise CompileError('for is compiled over range(...) and simd_range(...) only')
        if not isinstance(node.target, ast.Name):
            raise CompileError('the target of a for loop must be one variable')
        name = node.target.id
        if name in self._single and name in self.assigned:
            # The inner loop would overwrite the outer body's variable.
            raise CompileError(
                f'{name} is the variable of a loop around this one; use another name'
            )
        first, end, step = self._range(call)
        if first.known is not None and end.known is not None:
            if (end.known - first.known) * step <= 0:
                return
        line, had = self._line, set(self.assigned)
        self.blocks.append([])
        counter = self._variable(INT, name)
        if name in self._single:
            self.values[name] = counter
            self.assigned.add(name)
        else:
            # The counter is separate: as in Python, assignments in the body do not change it.
            self._assign(name, counter)
        self._round(node.body, [])
        body = self.blocks.pop()
        in_vectors = meaning is simd_range
        self._do(ir.For(line, counter, first, end, step, body, in_vectors))
        self._join([had])  # the body may never run

    def _range(self, call: ast.Call) -> Tuple[ir.Expression, ir.Expression, int]:
        """Return the first number, end and step of a range."""
        if call.keywords or not 1 <= len(call.args) <= 3:
            raise CompileError('range takes one to three arguments')
        values = [convert(self.value(x), INT, 'an argument of range') for x in call.args]
        if len(values) == 1:
            values.insert(0, constant(0))
        first, end, step = (*values, constant(1))[:3]
        if not step.known:
            raise CompileError('the step of a range is a literal other than 0')
        return first, end, step.known

    def _no_else(self, node: ast.stmt) -> None:
        if node.orelse:
            raise CompileError('loops with else are not compiled')

    def _do_Break(self, node: ast.Break) -> None:
        self._breaks[-1].append(set(self.assigned))
        self._do(ir.Break(self._line))
        self._ended = True

    def _do_Continue(self, node: ast.Continue) -> None:
        self._do(ir.Continue(self._line))
        self._ended = True


def _in_turn(targets: Sequence[ast.expr], values: Sequence[ir.Expression]) -> bool:
    """Return whether values may be assigned one by one, each before the next is evaluated."""
    for k, target in enumerate(targets):
        read = [each for value in values[k + 1 :] for each in value.walk()]
        if isinstance(target, ast.Name):
            if any(x.name == 'variable' and x.detail == target.id for x in read):
                return False
        elif not isinstance(target, ast.Subscript) or any(
            x.name in ('element', 'call', 'current') for x in read
        ):
            return False
    return True


def _assignments(statements: Sequence[ast.stmt]) -> Iterator[Tuple[ast.stmt, str]]:
    """Return the statements that assign variables, each with a name that it assigns."""
    for each in statements:
        for target in getattr(each, 'targets', [getattr(each, 'target', each)]):
            if target is not each:
                for node in ast.walk(target):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        yield each, node.id
        for block in ('body', 'orelse'):
            yield from _assignments(getattr(each, block, ()))
