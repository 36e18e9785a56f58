# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Statements of loops as statements of C: variables, conditions, loops, results."""

from __future__ import annotations

import re
from typing import Any, Dict, List, Sequence, Tuple

from rbd_ros.compiler.loops import loop_ir as ir
from rbd_ros.compiler.loops.loop_types import (
    BOOL,
    CompileError,
    FLOAT,
    INT,
    NOTHING,
    NumberType,
    TupleType,
)
from rbd_ros.compiler.targets.c99_loops.c99_expressions import Expressions
from rbd_ros.compiler.targets.c99_loops.c99_operations import operation
from rbd_ros.compiler.targets.c99_loops.c99_values import (
    ATOM,
    CHANGES,
    READS,
    UNARY,
    Value,
)

_SIGNS = ('+', '-', '*', '/')
#: Initial value of a variable that is declared before its first assignment.
_NOTHING: Dict[Any, str] = {BOOL: 'false', INT: '0', FLOAT: '0.0'}


def function_text(module: Any, function: ir.Function) -> Tuple[str, str]:
    """Return the prototype and text of a function.

    :raises CompileError: if it cannot be written, naming the line
    """
    return _Writer(module, function).text()


class _Writer(Expressions):
    """Writes one function."""

    def __init__(self, module: Any, function: ir.Function):
        super().__init__(module)
        self._function = function
        for variable in function.parameters:
            self.variables[variable] = Value(variable.type, self.new_name(variable.detail))
        #: C names of loop counters, by their names in Python
        self._counters: Dict[str, str] = {}
        #: Name and declaration of each variable, in order, and its replacement if it is unused
        self._declared: List[Tuple[str, str, List[str]]] = []

    def text(self) -> Tuple[str, str]:
        """Return the prototype and text."""
        self._write(self._function.body)
        given = [(self.variables[each].text, each.type) for each in self._function.parameters]
        instance = self._function.instance
        declared = ', '.join(self.module.declaration(kind, c) for c, kind in given)
        name = self.module.name_of(instance)
        head = f'static {self.module.result_type(instance.result)} {name}({declared or "void"})'
        # Generated code has no warnings with -Wall -Wextra: unused variables are removed, unused
        # parameters cast to void.
        body = self._without_unused([*self.tops, *self.lines])
        whole = '\n'.join(body)
        unused = [f'(void){c};' for c, _ in given if not re.search(rf'\b{c}\b', whole)]
        lines = '\n'.join(f'    {line}' for line in [*unused, *body])
        summary = self._function.summary.replace('*/', '* /')
        comment = f'/* {summary} */\n' if summary else ''
        return f'{head};', f'{comment}{head}\n{{\n{lines}\n}}\n'

    def _without_unused(self, lines: List[str]) -> List[str]:
        """Return the lines without unused variables."""
        # In reverse order: earlier ones may be used for later ones only.
        for c, declared, instead in reversed(self._declared):
            if len(re.findall(rf'(?<![>.])\b{c}\b', '\n'.join(lines))) == 1:
                at = next(k for k, line in enumerate(lines) if line.lstrip() == declared)
                indent = ' ' * (len(lines[at]) - len(declared))
                lines[at : at + 1] = [indent + line for line in instead]
        return lines

    def _write(self, statements: Sequence[ir.Statement]) -> None:
        for each in statements:
            try:
                getattr(self, f'_do_{type(each).__name__}')(each)
            except CompileError as error:
                error.line = error.line or each.line
                raise

    def _inner(self, statements: Sequence[ir.Statement]) -> List[str]:
        """Return the lines of a block within this one."""
        _, lines = self.aside(lambda: self._write(statements))
        return [f'    {line}' for line in lines]

    def _do_Assign(self, made: ir.Assign) -> None:
        variable, kind = made.variable, made.variable.type
        is_new = variable not in self.variables
        is_here = is_new and variable.is_local
        if is_here and made.value.name == 'stack_array':
            c = self.new_name(variable.detail)
            self.lines.append(f'double {c}[{kind.size}] = {{0.0}};')
            self.variables[variable] = Value(kind, c)
            return
        right = self._right(made.value, '' if is_new else self.variables[variable].text)
        if is_new:
            self.variables[variable] = Value(kind, self.new_name(variable.detail or 'value'))
        left = c = self.variables[variable].text
        if is_here:
            left = self.module.declaration(kind, c, variable.is_single)
            instead = [f'(void){right[2:]};'] if made.value.has_effect() else []
            self._declared.append((c, f'{left} {right};', instead))
        elif is_new:
            declared = self.module.declaration(kind, c)
            nothing = _NOTHING.get(kind, '{0}' if isinstance(kind, TupleType) else '0')
            self.tops.append(f'{declared} = {nothing};')
        self.lines.append(f'{left} {right};')
        if is_new and variable.detail and not variable.is_read:
            self.lines.append(f'(void){c};')

    def _right(self, made: ir.Expression, before: str) -> str:
        """Return the right side of an assignment, beginning with its sign.

        :param before: text of the target; empty if it has no value yet
        """
        if made.name in _SIGNS:
            first, second = self.values(made.operands)
            # `x += y` instead of `x = x + y` is the same operation, and easier to read.
            if first.text == before:
                return f'{made.name}= {second.text}'
            return f'= {operation(self.module, made, first, second).text}'
        return f'= {self.value(made).pointer}'

    def _do_Store(self, made: ir.Store) -> None:
        operands = made.target.operands
        if not made.is_update:
            value, array, *indices = self.values([made.value, *operands])
            place = self.place(made.target, array, indices)
            self.lines.append(f'{place.text} = {value.text};')
            return
        # An update: its indices are evaluated once.
        unsafe = READS if made.value.has_effect() else CHANGES
        given = self.values(operands)
        array, *indices = (self.temporary(x) if x.effect >= unsafe else x for x in given)
        self.current = self.place(made.target, array, indices)
        text = self.current.text
        self.lines.append(f'{text} {self._right(made.value, text)};')

    def _do_Evaluate(self, made: ir.Evaluate) -> None:
        value = self.value(made.value)
        if value.effect == CHANGES:
            is_void = made.value.type == NOTHING
            self.lines.append(f'{value.text if is_void else "(void)" + value.within(ATOM)};')

    def _do_Return(self, made: ir.Return) -> None:
        if made.value is None:
            self.lines.append('return;')
        elif isinstance(made.value.type, NumberType):
            self.lines.append(f'return {self.value(made.value).text};')
        else:
            self.lines.append(f'return {self.temporary(self.value(made.value), "result").text};')

    def _do_If(self, made: ir.If) -> None:
        condition = self.value(made.condition)
        then, otherwise = self._inner(made.then), self._inner(made.otherwise)
        self.lines += [f'if ({condition.text}) {{', *then]
        # `else if` only if the inner condition needs no statement.
        is_chain = len(made.otherwise) == 1 and isinstance(made.otherwise[0], ir.If)
        if is_chain and otherwise[0].startswith('    if ('):
            self.lines.append('} else ' + otherwise[0].lstrip())
            self.lines += [line[4:] for line in otherwise[1:]]
            return
        self.lines += ['} else {', *otherwise] if otherwise else []
        self.lines.append('}')

    def _do_While(self, made: ir.While) -> None:
        # A condition with statements is evaluated within the loop, in each round.
        condition, lines = self.aside(lambda: self.value(made.condition))
        if lines:
            self.lines += ['for (;;) {', *(f'    {line}' for line in lines)]
            self.lines.append(f'    if (!{condition.within(ATOM)}) break;')
        else:
            self.lines.append(f'while ({condition.text}) {{')
        self.lines += [*self._inner(made.body), '}']

    def _do_For(self, made: ir.For) -> None:
        first, end = self.values([made.first, made.end])
        # The range is fixed at the beginning.
        if not getattr(made.end, 'is_single', False):
            end = self.temporary(end, 'end')
        # Loops with one counter in Python share its name in C; its scope is the loop.
        name = made.variable.detail
        if name not in self._counters:
            self._counters[name] = self.new_name(name)
        counter = self._counters[name]
        self.variables[made.variable] = Value(INT, counter)
        # The step is a literal, so its sign is known here.
        less, sign = ('<', '+') if made.step > 0 else ('>', '-')
        size = abs(made.step)
        onward = f'{sign * 2}{counter}' if size == 1 else f'{counter} {sign}= {size}'
        limit = end.within(UNARY if end.known is not None else ATOM)
        head = f'for (int64_t {counter} = {first.text}; {counter} {less} {limit}; {onward}) {{'
        self.lines += [head, *self._inner(made.body), '}']

    def _do_Break(self, made: ir.Break) -> None:
        self.lines.append('break;')

    def _do_Continue(self, made: ir.Continue) -> None:
        self.lines.append('continue;')
