# SPDX-License-Identifier: Apache-2.0
"""Statements of compiled loops: variables, conditions, loops, results.

A variable that is assigned at one place is the value itself; another one lives in memory, until
LLVM puts it into registers. Its type is that of its first value; if a number of a higher rank is
assigned to it later (`total = 0`, then `total += 0.5`), it has that rank from the beginning.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from rbd_ros.compiler.loops import loop_arithmetic
from rbd_ros.compiler.loops.instances import Instance, Instances, number_of
from rbd_ros.compiler.loops.loop_expressions import Expressions, result_type
from rbd_ros.compiler.loops.loop_values import (
    CompileError,
    convert,
    INT,
    llvm_types,
    NOTHING,
    NumberType,
    RecordType,
    TupleType,
    Type,
    Value,
)
from rbd_ros.compiler.loops.sources import runs_seldom
from rbd_ros.compiler.loops.vocabulary import simd_range
from rbd_ros.compiler.targets.llvm.routine import Routine

#: Behind the jump back of a loop, and of one whose rounds run side by side;
#: `translation.module_text` makes a node of LLVM's of it.
REPEATED, IN_VECTORS = ', !llvm.loop', ', !llvm.loop.simd'


class _Widened(Exception):
    """A variable turned out to be of a higher rank than it began with."""


class _Loop(NamedTuple):
    """A loop that is being written.

    :param onward: label where the next round begins
    :param end: label after the loop
    :param at_breaks: variables that have a value, at each `break`
    """

    onward: str
    end: str
    at_breaks: List[Set[str]]


def function_text(
    instances: Instances, instance: Instance, large: int
) -> Tuple[str, Sequence[str]]:
    """Return the LLVM text of a function, and declarations of what it calls from elsewhere.

    :param instances: where the functions come from that it calls
    :param instance: the function, and the types of its arguments
    :param large: number of instructions above which it is not to be merged into its callers
    :raises CompileError: if it cannot be compiled; it names the line
    """
    widened: Dict[str, NumberType] = {}
    # Instructions that are written stay, so that all is written again. Ranks only rise, so it
    # ends.
    while True:
        try:
            return _Function(instances, instance, widened).text(large)
        except _Widened:  # and `widened` knows more
            pass


class _Function(Expressions):
    """Writes one function.

    :param widened: types of variables of which it is known that they are not those of their first
        value; what is found out is entered
    """

    def __init__(self, instances: Instances, instance: Instance, widened: Dict[str, NumberType]):
        self._definition = instances.definition(instance.function)
        self._seldom = runs_seldom(instance.function)
        self._result = instance.result
        self._widened = widened
        parameters = [name for name, _ in instances.parameters(instance.function)]
        values = [
            Value(kind, tuple(f'%{name}.{k}' for k in range(len(llvm_types(kind)))))
            for name, kind in zip(parameters, instance.arguments)
        ]
        texts = ', '.join(text for each in values for text in each.arguments)
        head = f'internal {result_type(instance.result)} @{instance.name}({texts})'
        super().__init__(instances, Routine(head), instance.function.__globals__)
        self._loops: List[_Loop] = []
        self._values: Dict[str, Value] = {}
        self._places: Dict[str, Tuple[Type, List[str]]] = {}
        assigned, counters = _assignments(self._definition)
        assigned.update(parameters)
        self.variables = set(assigned)
        # Such a value needs no memory: a variable is read only where it surely was assigned, so
        # LLVM's rule that a value is defined on every way to its use is kept.
        self._once = {name for name, count in assigned.items() if count == 1}
        # What only loops count with is another variable in each of them.
        self._once |= counters - set(parameters)
        for name, value in zip(parameters, values):
            self._assign(name, value)

    def text(self, large: int) -> Tuple[str, Sequence[str]]:
        """Return the text of the function, and declarations."""
        body = self._definition.body
        self._block(body)
        if not self.code.ended:
            if self._result != NOTHING:
                error = CompileError(f'the end is reached without a value of type {self._result}')
                error.line = body[-1].lineno
                raise error
            self.code.do('ret void')
        attributes = ['noinline'] if self.code.size > large else []
        if self._seldom:
            attributes.append('optsize')
        return self.code.text(' '.join(attributes)), [*self.code.declarations]

    # -- variables

    def read(self, name: str) -> Value:
        """Return the value of a variable."""
        if name in self._values:
            return self._values[name]
        kind, places = self._places[name]
        parts = [
            self.code.get(place, llvm_type) for place, llvm_type in zip(places, llvm_types(kind))
        ]
        return Value(kind, tuple(parts))

    def _assign(self, name: str, value: Value) -> None:
        if value.kind == NOTHING:
            raise CompileError(f'{name} is assigned a call that returns no value')
        if isinstance(value.kind, NumberType):
            kind = self._widened.get(name, value.kind)
            if name in self._places:
                kind = self._places[name][0]
            if isinstance(kind, NumberType) and value.kind.rank > kind.rank:
                self._widened[name] = value.kind
                raise _Widened
            if isinstance(kind, NumberType):
                value = convert(self.code, value, kind, name)
        self.assigned.add(name)
        if name in self._once:
            self._values[name] = value
            return
        if isinstance(value.kind, (RecordType, TupleType)):
            raise CompileError(f'{name} is a {value.kind}, and may be assigned at one place only')
        if name not in self._places:
            types = llvm_types(value.kind)
            # At the entry, where LLVM looks for what it can put into registers.
            self._places[name] = value.kind, [self.code.array(each, 1) for each in types]
        kind, places = self._places[name]
        if kind != value.kind:
            raise CompileError(
                f'{name} is {kind}, and cannot become {value.kind}; use another name'
            )
        for place, llvm_type, part in zip(places, llvm_types(kind), value.parts):
            self.code.put(place, llvm_type, part)

    def _store(self, target: ast.expr, value: Value) -> None:
        """Assign a value to a variable, an element, or several of them."""
        if isinstance(target, ast.Name):
            self._assign(target.id, value)
        elif isinstance(target, ast.Subscript):
            self._element(target)(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if not isinstance(value.kind, TupleType) or len(value.kind.items) != len(target.elts):
                raise CompileError(f'{value.kind} does not have {len(target.elts)} values')
            for each, item in zip(target.elts, value.items()):
                self._store(each, item)
        else:
            raise CompileError(f'nothing can be assigned to {ast.unparse(target)}')

    def _element(self, target: ast.Subscript) -> Callable[[Optional[Value]], Value]:
        """Return what stores a value in an element, or reads it if there is none."""
        owner = self.value(target.value)
        place, shape = self.place(owner, self.indices(target))
        if shape:
            raise CompileError('a part of an array is assigned element by element')
        number = owner.kind.number

        # Owner and indices have been evaluated above, once, also for `x[f(i)] += 1`.
        def access(value: Optional[Value]) -> Value:
            if value is None:
                return self.load(number, place)
            value = convert(self.code, value, number, f'an element of an array of {number}')
            self.code.do(f'store {value.typed}, ptr {place}')
            return value

        return access

    # -- statements

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for each in statements:
            if self.code.ended:  # nobody gets here
                return
            try:
                write = getattr(self, f'_do_{type(each).__name__}', None)
                if write is None:
                    raise CompileError(f'{type(each).__name__} is not compiled')
                write(each)
            except CompileError as error:
                error.line = error.line or each.lineno
                raise

    def _do_Pass(self, node: ast.Pass) -> None:
        pass

    def _do_Expr(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self.value(node.value)

    def _do_Assign(self, node: ast.Assign) -> None:
        # The whole right side before anything is stored: `x[i], x[j] = x[j], x[i]` is an exchange.
        value = self.value(node.value)
        for target in node.targets:
            self._store(target, value)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            kind = number_of(node.annotation, self.names)
            value = self.value(node.value)
            self._store(node.target, convert(self.code, value, kind, ast.unparse(node.target)))

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            before, access = self.value(load), None
        elif isinstance(node.target, ast.Subscript):
            access = self._element(node.target)
            before = access(None)
        else:
            raise CompileError(f'nothing can be assigned to {ast.unparse(node.target)}')
        after = loop_arithmetic.binary(self.code, node.op, before, self.value(node.value))
        if access is None:
            self._assign(node.target.id, after)
        else:
            access(after)

    def _do_Return(self, node: ast.Return) -> None:
        nothing = node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        )
        if nothing != (self._result == NOTHING):
            raise CompileError(f'the function is annotated to return {self._result}')
        if nothing:
            self.code.do('ret void')
            return
        value = self.value(node.value)
        if isinstance(self._result, NumberType):
            self.code.do(f'ret {convert(self.code, value, self._result, "the result").typed}')
            return
        kinds = self._result.items
        if not isinstance(value.kind, TupleType) or len(value.kind.items) != len(kinds):
            raise CompileError(f'the function is annotated to return {self._result}')
        # A structure in registers, filled item by item.
        whole, what = 'undef', result_type(self._result)
        for k, (kind, item) in enumerate(zip(kinds, value.items())):
            item = convert(self.code, item, kind, 'the result')
            whole = self.code.value(f'insertvalue {what} {whole}, {item.typed}, {k}')
        self.code.do(f'ret {what} {whole}')

    def _do_If(self, node: ast.If) -> None:
        condition = self.condition(node.test)
        if condition.known is not None:
            # The other branch is not even read: it may name fields that these records do not have.
            self._block(node.body if condition.known else node.orelse)
            return
        code = self.code
        then, otherwise, end = (code.new_label() for _ in range(3))
        code.choose(condition.text, then, otherwise)
        before, after = set(self.assigned), []
        for label, statements in ((then, node.body), (otherwise, node.orelse)):
            code.label(label)
            self.assigned = set(before)
            self._block(statements)
            if not code.ended:
                after.append(self.assigned)
                code.go(end)
        if after:
            code.label(end)
            # Only what has a value whichever branch was taken
            self.assigned = set.intersection(*after)

    def _do_While(self, node: ast.While) -> None:
        self._no_else(node)
        code = self.code
        head, body, end = (code.new_label() for _ in range(3))
        code.label(head)
        condition = self.condition(node.test)
        if condition.known is False:
            return
        after = []
        if condition.known is None:
            code.choose(condition.text, body, end)
            after.append(set(self.assigned))
        # Behind the loop a variable has a value if it has one wherever the loop is left: at its
        # condition, and at each `break`.
        after += self._round(node.body, body, _Loop(head, end, []))
        code.go(head, REPEATED)
        # Without a way out, as in `while True`, there is nothing behind the loop.
        if after:
            code.label(end)
            self.assigned = set.intersection(*after)

    def _round(self, statements: Sequence[ast.stmt], label: str, loop: _Loop) -> List[Set[str]]:
        """Write what a loop repeats; return which variables have a value at each `break`."""
        self.code.label(label)
        self._loops.append(loop)
        self._block(statements)
        self._loops.pop()
        return loop.at_breaks

    def _do_For(self, node: ast.For) -> None:
        self._no_else(node)
        call = node.iter
        meaning = self.meaning(call.func) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or meaning not in (range, simd_range):
            raise CompileError('for is compiled over range(...) and simd_range(...) only')
        if not isinstance(node.target, ast.Name):
            raise CompileError('a loop counts with a variable')
        name = node.target.id
        if name in self._values and name in self.assigned:
            # The inner loop would leave its own last value in what the outer body reads after it.
            raise CompileError(
                f'{name} is the variable of a loop around this one; use another name'
            )
        first, last, step = self._range(call)
        code = self.code
        head, body, onward, end = (code.new_label() for _ in range(4))
        # Counted aside, whatever the body assigns to the variable: so does Python.
        following, before = code.new_name(), code.here
        code.label(head)
        pairs = f'[{first.text}, %{before}], [{following}, %{onward}]'
        counter = code.value(f'phi i64 {pairs}')
        less = 'slt' if step > 0 else 'sgt'
        code.choose(code.value(f'icmp {less} i64 {counter}, {last.text}'), body, end)
        had = set(self.assigned)
        code.label(body)
        self._assign(name, Value(INT, (counter,)))
        self._round(node.body, code.new_label(), _Loop(onward, end, []))
        code.label(onward)
        # Below the end there is room for one more; not so for larger steps.
        wraps = ' nsw' if abs(step) == 1 else ''
        code.do(f'{following} = add{wraps} i64 {counter}, {step}')
        code.go(head, IN_VECTORS if meaning is simd_range else REPEATED)
        code.label(end)
        self.assigned = had  # it may not have run at all

    def _range(self, call: ast.Call) -> Tuple[Value, Value, int]:
        """Return the first number, end and step of a range."""
        if call.keywords or not 1 <= len(call.args) <= 3:
            raise CompileError('range takes one to three arguments')
        values = [self.value(each) for each in call.args]
        values = [convert(self.code, each, INT, 'an argument of range') for each in values]
        zero, one = Value(INT, ('0',), 0), Value(INT, ('1',), 1)
        if len(values) == 1:
            values = [zero, *values]
        first, last, step = (*values, one)[:3]
        if not step.known:
            raise CompileError('the step of a range is a literal other than 0')
        return first, last, step.known

    def _no_else(self, node: ast.stmt) -> None:
        if node.orelse:
            raise CompileError('loops with else are not compiled')

    def _do_Break(self, node: ast.Break) -> None:
        loop = self._loops[-1]
        loop.at_breaks.append(set(self.assigned))
        self.code.go(loop.end)

    def _do_Continue(self, node: ast.Continue) -> None:
        self.code.go(self._loops[-1].onward)


def _assignments(tree: ast.FunctionDef) -> Tuple[Counter, Set[str]]:
    """Return how often each variable is assigned, and those assigned by `for` alone."""
    found: Counter = Counter()
    counted: Counter = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] += 1
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            counted[node.target.id] += 1
    return found, {name for name, count in counted.items() if count == found[name]}
