# SPDX-License-Identifier: Apache-2.0
"""Statements of loops as statements of C: variables, conditions, loops, results."""

from __future__ import annotations

import ast
import re
from typing import Any, Dict, List, Sequence, Tuple

from rbd_ros.compiler.loops.instances import Instance, number_of
from rbd_ros.compiler.loops.vocabulary import simd_range
from rbd_ros.compiler.targets.c99_loops import c99_arithmetic
from rbd_ros.compiler.targets.c99_loops.c99_calls import is_stack_array, stack_array_type
from rbd_ros.compiler.targets.c99_loops.c99_expressions import Expressions
from rbd_ros.compiler.targets.c99_loops.c99_values import (
    ArrayType,
    ATOM,
    C_TYPES,
    CompileError,
    constant,
    convert,
    INT,
    NOTHING,
    NumberType,
    RecordType,
    TupleType,
    UNARY,
    Value,
)
from rbd_ros.compiler.targets.c99_loops.scopes import Scopes

_SIGNS = {ast.Add: '+', ast.Sub: '-', ast.Mult: '*', ast.Div: '/'}


class _Widened(Exception):
    """A variable turned out to be of a higher rank than it began with."""


def function_text(module: Any, instance: Instance) -> Tuple[str, str]:
    """Return the prototype and text of a function.

    :raises CompileError: if it cannot be written; it names the line
    """
    widened: Dict[str, NumberType] = {}
    while True:  # ranks only rise, so it ends
        try:
            return _Function(module, instance, widened).text()
        except _Widened:  # and `widened` knows more
            pass


class _Function(Expressions):
    """Writes one function.

    :param widened: types of variables that are not those of their first value
    """

    def __init__(self, module: Any, instance: Instance, widened: Dict[str, NumberType]):
        self._definition = module.instances.definition(instance.function)
        super().__init__(module, instance.function.__globals__)
        self._instance, self._widened = instance, widened
        self._scopes = Scopes(self._definition)
        parameters = [name for name, _ in module.instances.parameters(instance.function)]
        self.variables = self._scopes.names() | set(parameters)
        self._c_names = {name: self.new_name(name) for name in sorted(self.variables)}
        self._values: Dict[str, Value] = {}
        self._kinds: Dict[str, Any] = {}
        self._tops: List[str] = []
        self._given: List[Tuple[str, str]] = []
        for name, kind in zip(parameters, instance.arguments):
            self._take(name, kind)
        self._parameters = parameters

    def _take(self, name: str, kind: Any) -> None:
        """Make a parameter a variable."""
        c = self._c_names[name]
        self._kinds[name] = kind
        if isinstance(kind, RecordType):
            self._values[name] = Value(kind, c)
            if kind.name:
                self._given.append((c, f'struct {kind.name} *{c}'))
        elif isinstance(kind, ArrayType):
            self._values[name] = Value(kind, c)
            self._given.append((c, kind.pointer(c)))
        else:
            self._values[name] = Value(kind, c)
            self._given.append((c, f'{C_TYPES[kind]} {c}'))

    def text(self) -> Tuple[str, str]:
        """Return the prototype and text."""
        self._block(self._definition.body)
        result = self.module.result_type(self._instance.result)
        given = ', '.join(text for _, text in self._given) or 'void'
        head = f'static {result} {self.module.name_of(self._instance)}({given})'
        body = self._without_unused([*self._tops, *self.lines])
        whole = '\n'.join(body)
        unused = [
            f'(void){c};' for c, _ in self._given if not re.search(rf'\b{re.escape(c)}\b', whole)
        ]
        lines = '\n'.join(f'    {line}' for line in [*unused, *body])
        summary = (ast.get_docstring(self._definition) or '').partition('\n')[0]
        summary = summary.replace('*/', '* /')
        comment = f'/* {summary} */\n' if summary else ''
        return f'{head};', f'{comment}{head}\n{{\n{lines}\n}}\n'

    def _without_unused(self, lines: List[str]) -> List[str]:
        """Return the lines without constants that no other line names."""
        while True:
            whole = '\n'.join(lines)
            kept = []
            for line in lines:
                found = re.match(r' *(?:const \w+|(?:const )?[\w ]+\*const) (\w+) = [^;]*;$', line)
                if found and len(re.findall(rf'\b{found[1]}\b', whole)) == 1:
                    # A call does something beside its value.
                    if not re.search(r'\w\(', line):
                        continue
                    line = re.sub(r'^( *).*? = ', r'\1(void)', line)
                kept.append(line)
            if kept == lines:
                return lines
            lines = kept

    # -- variables

    def read(self, name: str) -> Value:
        """Return the value of a variable."""
        if name not in self._values:
            raise CompileError(f'{name} may have no value here; give it one before')
        return self._values[name]

    def _assign(self, name: str, value: Value, node: ast.stmt) -> None:
        kind = value.kind
        if isinstance(kind, NumberType):
            kind = self._kinds.get(name) or self._widened.get(name, kind)
            if isinstance(kind, NumberType) and kind.rank < value.kind.rank:
                self._widened[name] = value.kind
                raise _Widened
            if isinstance(kind, NumberType):
                value = convert(value, kind, name)
        once = self._scopes.is_assigned_once(name) and name not in self._parameters
        c = self._c_names[name]
        here = self._scopes.declaring(name) == id(node)
        if once and here and self._is_kept(name, value):
            return
        if isinstance(kind, (RecordType, TupleType)):
            raise CompileError(f'{name} is a {kind}, and may be assigned at one place only')
        if name in self._kinds:
            if kind != self._kinds[name]:
                raise CompileError(f'{name} is {self._kinds[name]}, and cannot become {kind}')
            self.lines.append(f'{c} = {_right(value)};')
            return
        self._kinds[name] = kind
        self._values[name] = Value(kind, c)
        if isinstance(kind, ArrayType):
            declared, nothing = kind.pointer(f'const {c}' if once and here else c), '0'
        else:
            declared = f'{"const " * (once and here)}{C_TYPES[kind]} {c}'
            nothing = constant({'bool': False, 'int': 0, 'float': 0.0}[kind.name]).text
        if here:
            self.lines.append(f'{declared} = {_right(value)};')
        else:
            self._tops.append(f'{declared} = {nothing};')
            self.lines.append(f'{c} = {_right(value)};')
        if not self._scopes.is_read(name):
            self.lines.append(f'(void){c};')

    def _is_kept(self, name: str, value: Value) -> bool:
        """Keep what needs no variable of C: what is known, tuples, constant records."""
        c = self._c_names[name]
        if isinstance(value.kind, RecordType) and value.kind.name:
            self.lines.append(f'struct {value.kind.name} *const {c} = {value.text};')
            self._values[name] = Value(value.kind, c)
            return True
        if value.known is None and isinstance(value.kind, (NumberType, ArrayType)):
            return False
        if value.kind == NOTHING:
            raise CompileError(f'{name} is assigned a call that returns no value')
        self._values[name] = value
        self._kinds[name] = value.kind
        return True

    def _store(self, target: ast.expr, value: Value, node: ast.stmt) -> None:
        """Assign a value to a variable, an element, or several of them."""
        if isinstance(target, ast.Name):
            self._assign(target.id, value, node)
        elif isinstance(target, ast.Subscript):
            place = self._element(target)
            value = convert(value, place.kind, f'an element of an array of {place.kind}')
            self.lines.append(f'{place.text} = {value.text};')
        elif isinstance(target, (ast.Tuple, ast.List)):
            if not isinstance(value.kind, TupleType) or len(value.items) != len(target.elts):
                raise CompileError(f'{value.kind} does not have {len(target.elts)} values')
            for each, item in zip(target.elts, value.items):
                self._store(each, item, node)
        else:
            raise CompileError(f'nothing can be assigned to {ast.unparse(target)}')

    def _element(self, target: ast.Subscript) -> Value:
        owner = self.value(target.value)
        place = self.place(owner, self.indices(target))
        if isinstance(place.kind, ArrayType):
            raise CompileError('a part of an array is assigned element by element')
        if isinstance(owner.kind, ArrayType) and owner.kind.is_constant:
            raise CompileError(f'{ast.unparse(target)} is constant here')
        return place

    # -- statements

    def _block(self, statements: Sequence[ast.stmt]) -> bool:
        """Write statements; return whether nobody gets behind them."""
        for each in statements:
            try:
                write = getattr(self, f'_do_{type(each).__name__}', None)
                if write is None:
                    raise CompileError(f'{type(each).__name__} is not compiled')
                ended = write(each)
            except CompileError as error:
                error.line = error.line or each.lineno
                raise
            if ended or isinstance(each, (ast.Return, ast.Break, ast.Continue)):
                return True
        return False

    def _inner(self, statements: Sequence[ast.stmt]) -> List[str]:
        """Return the lines of a block within this one."""
        outer, self.lines = self.lines, []
        self._block(statements)
        inner, self.lines = self.lines, outer
        return [f'    {line}' for line in inner]

    def _do_Pass(self, node: ast.Pass) -> None:
        pass

    def _do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return
        value = self.value(node.value)
        if not value.is_pure:
            self.lines.append(f'{value.text};')

    def _do_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and self._do_pairs(node, node.targets[0], node.value):
            return
        value = self.value(node.value)
        several = isinstance(value.kind, TupleType)
        if several:
            # All of the right side before anything is stored.
            items = tuple(self.temporary(each) for each in value.items)
            value = value._replace(items=items)
        elif len(node.targets) > 1:
            value = self.temporary(value)
        for target in node.targets:
            self._store(target, value, node)

    def _do_pairs(self, node: ast.Assign, target: ast.expr, value: ast.expr) -> bool:
        """Write an assignment to new variables one after another; False if they are not new."""
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts))
            if len(target.elts) != len(value.elts):
                return False
        names = [each.id for each, _ in pairs if isinstance(each, ast.Name)]
        new = [
            self._scopes.declaring(name) == id(node) and name not in self._parameters
            for name in names
        ]
        if len(names) < len(pairs) or not all(new):
            return False
        for name, (_, each) in zip(names, pairs):
            if isinstance(each, ast.Call) and is_stack_array(self.meaning(each.func)):
                self._make_room(name, each)
            else:
                self._assign(name, self.value(each), node)
        return True

    def _make_room(self, name: str, call: ast.Call) -> None:
        kind = stack_array_type(self.values(call.args))
        c = self._c_names[name]
        self.lines.append(f'double {c}[{kind.size}] = {{0.0}};')
        self._values[name], self._kinds[name] = Value(kind, c), kind

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            kind = number_of(node.annotation, self.names)
            value = convert(self.value(node.value), kind, ast.unparse(node.target))
            self._store(node.target, value, node)

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            before = self.read(node.target.id)
        elif isinstance(node.target, ast.Subscript):
            before = self._element(node.target)
        else:
            raise CompileError(f'nothing can be assigned to {ast.unparse(node.target)}')
        outer, self.lines = self.lines, []
        value = self.value(node.value)
        inner, self.lines = self.lines, outer
        changing = before
        if inner or not value.is_pure:
            changing = self.temporary(before, 'before')
        self.lines += inner
        after = c99_arithmetic.binary(self.module, node.op, changing, value)
        if isinstance(node.target, ast.Name) and after.kind != before.kind:
            self._assign(node.target.id, after, node)
        elif type(node.op) in _SIGNS and changing is before and after.kind == before.kind:
            value = convert(value, before.kind, 'an operand')
            self.lines.append(f'{before.text} {_SIGNS[type(node.op)]}= {value.text};')
        else:
            after = convert(after, before.kind, ast.unparse(node.target))
            self.lines.append(f'{before.text} = {after.text};')

    def _do_Return(self, node: ast.Return) -> None:
        result = self._instance.result
        if node.value is None or isinstance(node.value, ast.Constant) and node.value.value is None:
            self.lines.append('return;')
            return
        value = self.value(node.value)
        if isinstance(result, NumberType):
            self.lines.append(f'return {convert(value, result, "the result").text};')
            return
        if not isinstance(value.kind, TupleType) or len(value.items) != len(result.items):
            raise CompileError(f'the function is annotated to return {result}')
        items = [
            convert(item, kind, 'the result').text for kind, item in zip(result.items, value.items)
        ]
        name = self.new_name('result')
        made = f'const {self.module.result_type(result)} {name} = {{{", ".join(items)}}};'
        self.lines += [made, f'return {name};']

    def _do_If(self, node: ast.If) -> bool:
        condition = self.condition(node.test)
        if condition.known is not None:
            # The other branch is not even read: it may name fields that these records lack.
            return self._block(node.body if condition.known else node.orelse)
        then, otherwise = self._inner(node.body), self._inner(node.orelse)
        self.lines += [f'if ({condition.text}) {{', *then]
        if len(node.orelse) == 1 and otherwise and otherwise[0].startswith('    if ('):
            self.lines.append('} else ' + otherwise[0].lstrip())
            self.lines += [line[4:] for line in otherwise[1:]]
            return False
        self.lines += ['} else {', *otherwise] if otherwise else []
        self.lines.append('}')
        return False

    def _do_While(self, node: ast.While) -> None:
        if node.orelse:
            raise CompileError('loops with else are not compiled')
        outer, self.lines = self.lines, []
        condition = self.condition(node.test)
        inner, self.lines = self.lines, outer
        if condition.known is False:
            return
        if inner:
            leave = c99_arithmetic.unary(ast.Not(), condition).text
            self.lines += ['for (;;) {', *(f'    {line}' for line in inner)]
            self.lines.append(f'    if ({leave}) break;')
        else:
            self.lines.append(f'while ({condition.text}) {{')
        self.lines += [*self._inner(node.body), '}']

    def _do_For(self, node: ast.For) -> None:
        if node.orelse or not isinstance(node.target, ast.Name):
            raise CompileError('loops count with a variable, and have no else')
        call, name = node.iter, node.target.id
        if not isinstance(call, ast.Call) or self.meaning(call.func) not in (
            range,
            simd_range,
        ):
            raise CompileError('for is compiled over range(...) and simd_range(...) only')
        values = [convert(x, INT, 'an argument of range') for x in self.values(call.args)]
        if len(values) == 1:
            values.insert(0, constant(0))
        first, last, step = (*values, constant(1))[:3]
        if not step.known:
            raise CompileError('the step of a range is a literal other than 0')
        if first.known is not None and last.known is not None:
            if (last.known - first.known) * step.known <= 0:
                return
        end = call.args[min(1, len(call.args) - 1)]
        # The range is that of the beginning, whatever the body changes.
        if not (isinstance(end, ast.Name) and self._scopes.is_constant(end.id)):
            last = self.temporary(last, 'end')
        counter = self._c_names[name]
        if name in self._parameters or not self._scopes.only_counts(name):
            # Counted aside: what else is assigned to the variable does not change the count.
            counter = self.new_name(name)
        else:
            self._values[name] = Value(INT, counter)
        less = '<' if step.known > 0 else '>'
        size = abs(step.known)
        sign = '+' if step.known > 0 else '-'
        onward = f'{sign * 2}{counter}' if size == 1 else f'{counter} {sign}= {size}'
        limit = last.within(UNARY) if last.known is not None else last.within(ATOM)
        head = f'for (int64_t {counter} = {first.text}; {counter} {less} {limit}; {onward}) {{'
        outer, self.lines = self.lines, []
        if counter != self._c_names[name]:
            self._assign(name, Value(INT, counter), node)
        self._block(node.body)
        body, self.lines = [f'    {line}' for line in self.lines], outer
        if counter == self._c_names[name]:
            # Behind the loop it is not known: it may not have run at all.
            self._values.pop(name)
        self.lines += [head, *body, '}']

    def _do_Break(self, node: ast.Break) -> None:
        self.lines.append('break;')

    def _do_Continue(self, node: ast.Continue) -> None:
        self.lines.append('continue;')


def _right(value: Value) -> str:
    return value.pointer if isinstance(value.kind, ArrayType) else value.text
