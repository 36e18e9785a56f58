# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Statements of compiled loops as LLVM text: variables, conditions, loops, results.

A variable that is assigned at one place is an SSA value; others are stack variables, which LLVM
promotes to registers.
"""

from __future__ import annotations

from typing import List, Sequence, Tuple

from rbd_ros.compiler.loops import loop_ir as ir
from rbd_ros.compiler.loops.loop_types import NumberType
from rbd_ros.compiler.targets.llvm.routine import Routine
from rbd_ros.compiler.targets.llvm_loops.llvm_expressions import Expressions
from rbd_ros.compiler.targets.llvm_loops.llvm_records import llvm_types, result_type

#: Marks behind the back edge of a loop, and of one whose rounds may run in vector registers;
#: `translation.module_text` replaces each by a metadata node.
LOOP_MARK, SIMD_LOOP_MARK = ', !llvm.loop', ', !llvm.loop.simd'

# Functions with more instructions than this before any pass are not inlined: a call costs them
# little, and LLVM's passes take longer for one large function than for many small ones.
_LARGE = 75


def function_text(function: ir.Function) -> Tuple[str, Sequence[str]]:
    """Return the LLVM text of a function, and declarations of its external callees."""
    return _Writer(function).whole()


class _Writer(Expressions):
    """Writer of one function."""

    def __init__(self, function: ir.Function):
        self._function, given = function, []
        #: Labels of the next round and of the end of each enclosing loop, outermost first
        self._loops: List[Tuple[str, str]] = []
        #: Labels of loop ends that are targets of a `break`
        self._left: List[str] = []
        parts = {}
        for k, variable in enumerate(function.parameters):
            kinds = llvm_types(variable.type)
            parts[variable] = tuple(f'%p{k}.{n}' for n in range(len(kinds)))
            given += [' '.join(each) for each in zip(kinds, parts[variable])]
        instance = function.instance
        head = f'internal {result_type(instance.result)} @{instance.name}({", ".join(given)})'
        super().__init__(Routine(head))
        self.values.update(parts)

    def whole(self) -> Tuple[str, Sequence[str]]:
        """Return the text of the function, and declarations."""
        self._write(self._function.body)
        if not self.code.ended:
            self.code.do('ret void')
        attributes = ['noinline'] if self.code.size > _LARGE else []
        if self._function.runs_seldom:
            attributes.append('optsize')
        return self.code.text(' '.join(attributes)), [*self.code.declarations]

    def _write(self, statements: Sequence[ir.Statement]) -> None:
        for each in statements:
            getattr(self, f'_do_{type(each).__name__}')(each)

    def _do_Assign(self, made: ir.Assign) -> None:
        variable, parts = made.variable, self.parts(made.value)
        if variable.is_single:
            # An SSA value is enough: the front end has checked that each use is dominated by the
            # assignment, as LLVM requires.
            self.values[variable] = parts
            return
        kinds = llvm_types(variable.type)
        if variable not in self.places:
            # In the entry block, where LLVM looks for stack variables to promote to registers.
            self.places[variable] = [self.code.array(each, 1) for each in kinds]
        for place, kind, part in zip(self.places[variable], kinds, parts):
            self.code.put(place, kind, part)

    def _do_Store(self, made: ir.Store) -> None:
        if made.is_update:
            place, _ = self.place(made.target)
            self.current = self.load(made.target.type, place)
            value = self.typed(made.value)
        else:
            value = self.typed(made.value)
            place, _ = self.place(made.target)
        self.code.do(f'store {value}, ptr {place}')

    def _do_Evaluate(self, made: ir.Evaluate) -> None:
        self.parts(made.value)

    def _do_Return(self, made: ir.Return) -> None:
        if made.value is None:
            self.code.do('ret void')
            return
        if isinstance(made.value.type, NumberType):
            self.code.do(f'ret {self.typed(made.value)}')
            return
        # A structure in registers, filled element by element.
        whole, kind = 'undef', result_type(made.value.type)
        items = zip(llvm_types(made.value.type), self.parts(made.value))
        for k, item in enumerate(items):
            whole = self.code.value(f'insertvalue {kind} {whole}, {" ".join(item)}, {k}')
        self.code.do(f'ret {kind} {whole}')

    def _do_If(self, made: ir.If) -> None:
        code = self.code
        *labels, end = (code.new_label() for _ in range(3))
        code.choose(self.text(made.condition), *labels)
        is_reached = False
        for label, statements in zip(labels, (made.then, made.otherwise)):
            code.label(label)
            self._write(statements)
            is_reached |= not code.ended
            code.go(end)
        if is_reached:
            code.label(end)

    def _do_While(self, made: ir.While) -> None:
        code = self.code
        head, body, end = (code.new_label() for _ in range(3))
        code.label(head)
        if made.condition.known is None:
            code.choose(self.text(made.condition), body, end)
        self._round(made.body, body, head, end)
        code.go(head, LOOP_MARK)
        # After `while True` without `break`, the end is unreachable.
        if made.condition.known is None or end in self._left:
            code.label(end)

    def _round(
        self, statements: Sequence[ir.Statement], label: str, onward: str, end: str
    ) -> None:
        self.code.label(label)
        self._loops.append((onward, end))
        self._write(statements)
        self._loops.pop()

    def _do_For(self, made: ir.For) -> None:
        code = self.code
        first, end_text = self.text(made.first), self.text(made.end)
        head, body, onward, end = (code.new_label() for _ in range(4))
        following, before = code.new_name(), code.here
        code.label(head)
        counter = code.value(f'phi i64 [{first}, %{before}], [{following}, %{onward}]')
        less = 'slt' if made.step > 0 else 'sgt'
        code.choose(code.value(f'icmp {less} i64 {counter}, {end_text}'), body, end)
        self.values[made.variable] = (counter,)
        self._round(made.body, body, onward, end)
        code.label(onward)
        # Counting by 1 to an end cannot overflow; larger steps can.
        wraps = ' nsw' if abs(made.step) == 1 else ''
        code.do(f'{following} = add{wraps} i64 {counter}, {made.step}')
        code.go(head, SIMD_LOOP_MARK if made.in_vectors else LOOP_MARK)
        code.label(end)

    def _do_Break(self, made: ir.Break) -> None:
        self._left.append(self._loops[-1][1])
        self.code.go(self._loops[-1][1])

    def _do_Continue(self, made: ir.Continue) -> None:
        self.code.go(self._loops[-1][0])
