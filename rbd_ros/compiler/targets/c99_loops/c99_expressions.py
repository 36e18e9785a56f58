# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Expressions of loops as expressions of C, in Python's order of evaluation.

C leaves the order of evaluation of operands open. So if one calls a function with side effects,
those before it become separate variables.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Sequence, Set, Tuple

from rbd_ros.compiler.loops import loop_ir as ir
from rbd_ros.compiler.loops.loop_types import ArrayType, BOOL, RecordType
from rbd_ros.compiler.targets.c99_loops.c99_operations import operation
from rbd_ros.compiler.targets.c99_loops.c99_values import (
    AND,
    C_NUMBERS,
    CHANGES,
    CHOICE,
    combined,
    COMPARISON,
    LOCAL,
    number,
    OR,
    product_of,
    READS,
    sum_of,
    Value,
)


class Expressions:
    """Writes the expressions of one function.

    :param module: source of functions, tables and kernels
    """

    def __init__(self, module: Any):
        self.module = module
        #: C value of each variable
        self.variables: Dict[ir.Variable, Value] = {}
        #: Statements so far, declarations before them, and names of variables of C
        self.lines: List[str] = []
        self.tops: List[str] = []
        self.taken: Set[str] = set()
        #: The element of the present update
        self.current: Any = None
        self.evaluated: Dict[ir.Expression, Value] = {}

    def value(self, made: ir.Expression) -> Value:
        """Return an expression of C, after writing the statements that it needs."""
        write = getattr(self, f'_{made.name}', None)
        if write is not None:
            return write(made)
        return operation(self.module, made, *self.values(made.operands))

    def aside(self, write: Callable[[], Any]) -> Tuple[Any, List[str]]:
        """Return the result of a writer, and its statements, which are not yet written."""
        outer, self.lines = self.lines, []
        found = write()
        inner, self.lines = self.lines, outer
        return found, inner

    def values(self, operands: Sequence[ir.Expression]) -> List[Value]:
        """Return operands, evaluated in their order."""
        found: List[Value] = []
        for each in operands:
            value, lines = self.aside(lambda each=each: self.value(each))
            if lines or value.effect > LOCAL:
                # Unsafe earlier operands: those that it may change, or with side effects.
                unsafe = READS if lines or value.effect == CHANGES else CHANGES
                found = [x if x.effect < unsafe else self.temporary(x) for x in found]
            self.lines += lines
            found.append(value)
        return found

    def temporary(self, value: Value, hint: str = 'value') -> Value:
        """Return the value in a new constant; a known value is returned unchanged."""
        if value.known is not None:
            return value
        if isinstance(value.type, ArrayType):
            return value._replace(offset=value.offset and self.temporary(value.offset), effect=0)
        name = self.new_name(hint)
        declared = self.module.declaration(value.type, name, True)
        self.lines.append(f'{declared} = {value.text};')
        return Value(value.type, name)

    def new_name(self, hint: str) -> str:
        """Return a name that is not yet used in this function."""
        hint = hint.encode('ascii', 'replace').decode().replace('?', '_')
        name, k = hint, 1
        while name in self.taken or name in self.module.reserved:
            k += 1
            name = f'{hint}_{k}'
        self.taken.add(name)
        return name

    # -- names, fields, elements

    def _constant(self, made: ir.Expression) -> Value:
        return number(made.detail)

    def _constant_record(self, made: ir.Expression) -> Value:
        return Value(made.type, '')

    def _variable(self, made: ir.Expression) -> Value:
        return self.variables[made]

    def _field(self, made: ir.Expression) -> Value:
        record = self.value(made.operands[0])
        place = record.type.places[made.detail]
        if record.type.is_constant:
            self.module.tables.add(place.text)
            return place
        text = f'{record.text}->{place.text}'
        if record.text.startswith('&'):
            text = f'{record.text[1:]}.{place.text}'
        return place._replace(text=f'&{text}' if isinstance(made.type, RecordType) else text)

    def _element(self, made: ir.Expression) -> Value:
        array, *indices = self.values(made.operands)
        return self.place(made, array, indices)

    def place(self, made: ir.Expression, array: Value, indices: Sequence[Value]) -> Value:
        """Return the element of an array, or a part of it."""
        offset = array.offset or number(0)
        for k, index in enumerate(indices):
            # Row-major: the stride of an axis is the product of the lengths after it.
            stride = number(math.prod(array.type.shape[k + 1 :]))
            offset = sum_of(offset, product_of(stride, index))
        if isinstance(made.type, ArrayType):
            return array._replace(type=made.type, offset=offset, effect=offset.effect)
        reads = LOCAL if array.type.is_constant else READS
        text = f'{array.text}[{offset.text}]'
        return Value(made.type, text, effect=max(offset.effect, reads))

    def _stack_array(self, made: ir.Expression) -> Value:
        name = self.new_name('memory')
        self.tops.append(f'double {name}[{made.type.size}] = {{0.0}};')
        return Value(made.type, name)

    def _current(self, made: ir.Expression) -> Value:
        return self.current

    def _item(self, made: ir.Expression) -> Value:
        whole = self.value(made.operands[0])
        return Value(made.type, f'{whole.text}.item_{made.detail}')

    def _values(self, made: ir.Expression) -> Value:
        struct = self.module.result_type(made.type)
        values = self.values([each for each in made.operands if each.name != 'constant_record'])
        text = f'({struct}){{{", ".join(each.pointer for each in values)}}}'
        return Value(made.type, text, effect=max(each.effect for each in values))

    def _shared(self, made: ir.Expression) -> Value:
        if made not in self.evaluated:
            value = self.value(made.operands[0])
            # C may evaluate operands in any order: a shared value comes first.
            self.evaluated[made] = value if value.text.isidentifier() else self.temporary(value)
        return self.evaluated[made]

    # -- operators

    def _and(self, made: ir.Expression) -> Value:
        sign, binding = ('||', OR) if made.name == 'or' else ('&&', AND)
        first, *others = made.operands
        result = self.value(first)
        for each in others:
            # It is evaluated only if those before it do not decide.
            value, lines = self.aside(lambda each=each: self.value(each))
            if lines:
                name = self.new_name('holds')
                test = name if made.name == 'and' else f'!{name}'
                self.lines += [f'bool {name} = {result.text};', f'if ({test}) {{']
                self.lines += [f'    {line}' for line in lines]
                self.lines += [f'    {name} = {value.text};', '}']
                result = Value(BOOL, name)
            else:
                # Compilers warn about && within || without parentheses.
                left = result.within(binding if result.binding == binding else COMPARISON)
                text = f'{left} {sign} {value.within(COMPARISON)}'
                result = Value(BOOL, text, binding, max(result.effect, value.effect))
        return result

    _or = _and

    def _choice(self, made: ir.Expression) -> Value:
        condition, *branches = made.operands
        test = self.value(condition)
        written = [self.aside(lambda each=each: self.value(each)) for each in branches]
        values = [value for value, _ in written]
        # `?:` evaluates one branch too; a branch with statements becomes an `if`.
        if not any(lines for _, lines in written):
            form = '{} ? {} : {}'
            return combined(made.type, CHOICE, form, test, *values, within=COMPARISON)
        name = self.new_name('chosen')
        self.lines += [f'{C_NUMBERS[made.type]} {name};', f'if ({test.text}) {{']
        for k, (value, lines) in enumerate(written):
            self.lines += ['} else {'] * k
            self.lines += [f'    {line}' for line in [*lines, f'{name} = {value.text};']]
        self.lines.append('}')
        return Value(made.type, name)

    def _call(self, made: ir.Expression) -> Value:
        texts = ', '.join(each.pointer for each in self.values(made.operands))
        return Value(made.type, f'{self.module.name_of(made.detail)}({texts})', effect=CHANGES)
