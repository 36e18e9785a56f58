# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Operations on numbers as LLVM instructions, with Python's semantics where processors differ."""

from __future__ import annotations

from typing import Callable, Dict, Tuple

from rbd_ros.compiler.loops.loop_ir import Expression
from rbd_ros.compiler.loops.loop_types import BOOL, FLOAT, INT, RecordType
from rbd_ros.compiler.targets.llvm.routine import Routine
from rbd_ros.compiler.targets.llvm_loops.llvm_records import LLVM_NUMBERS

#: Instructions for floats, for integers.
_BINARY: Dict[str, Tuple[str, str]] = {
    '+': ('fadd', 'add'),
    '-': ('fsub', 'sub'),
    '*': ('fmul', 'mul'),
    '/': ('fdiv', ''),
    '&': ('', 'and'),
    '|': ('', 'or'),
    '^': ('', 'xor'),
    '<<': ('', 'shl'),
    '>>': ('', 'ashr'),
    # Comparisons with NaN are false, except !=.
    '<': ('fcmp olt', 'icmp slt'),
    '<=': ('fcmp ole', 'icmp sle'),
    '>': ('fcmp ogt', 'icmp sgt'),
    '>=': ('fcmp oge', 'icmp sge'),
    '==': ('fcmp oeq', 'icmp eq'),
    '!=': ('fcmp une', 'icmp ne'),
}
# A later number replaces the best so far if it compares as better; bools are unsigned, since as a
# signed bit true is -1.
_BETTER = {
    'min': {FLOAT: 'fcmp olt', INT: 'icmp slt', BOOL: 'icmp ult'},
    'max': {FLOAT: 'fcmp ogt', INT: 'icmp sgt', BOOL: 'icmp ugt'},
}
# Functions with an LLVM intrinsic; others are those of the C library.
_INSTRUCTIONS = ('sqrt', 'fabs', 'floor', 'ceil', 'copysign')


def operation(code: Routine, made: Expression, texts: Tuple[str, ...]) -> str:
    """Write an operation and return its result.

    :param texts: its operands
    """
    name = made.name
    if name in _BINARY:
        how = _BINARY[name][made.operands[0].type != FLOAT]
        kind = LLVM_NUMBERS[made.operands[0].type]
        return code.value(f'{how} {kind} {texts[0]}, {texts[1]}')
    if name in _WRITERS:
        return _WRITERS[name](code, made, *texts)
    return code.call(f'llvm.{name}.f64' if name in _INSTRUCTIONS else name, *texts)


def _convert(code: Routine, made: Expression, text: str) -> str:
    own, kind = made.operands[0].type, made.type
    # As a signed bit, true is -1, hence zero extension and unsigned conversion.
    how = 'zext' if kind == INT else 'uitofp'
    if own == FLOAT:
        # Poison for NaN and where the result exceeds 64 bits.
        how = 'fptosi'
    elif own == INT:
        how = 'sitofp'
    return code.value(f'{how} {LLVM_NUMBERS[own]} {text} to {LLVM_NUMBERS[kind]}')


def _floor_division(code: Routine, made: Expression, a: str, b: str) -> str:
    """Return the floored quotient or remainder of integers; 0 for a divisor of 0."""
    # Processors trap for b = 0 and for -2^63 / -1, whose quotient exceeds 64 bits.
    beyond = code.value(f'add i64 {b}, 1')
    unusual = code.value(f'icmp ult i64 {beyond}, 2')
    divisor = code.value(f'select i1 {unusual}, i64 1, i64 {b}')
    if made.operands[1].known not in (None, 0, -1):
        divisor = b
    quotient = code.value(f'sdiv i64 {a}, {divisor}')
    remainder = code.value(f'srem i64 {a}, {divisor}')
    # They truncate: if remainder and divisor differ in sign, the quotient is one too large.
    signs = code.value(f'xor i64 {remainder}, {divisor}')
    differ = code.value(f'icmp slt i64 {signs}, 0')
    inexact = code.value(f'icmp ne i64 {remainder}, 0')
    down = code.both(differ, inexact)
    if made.name == '%':
        more = code.value(f'select i1 {down}, i64 {divisor}, i64 0')
        return code.value(f'add i64 {remainder}, {more}')
    less = code.value(f'sext i1 {down} to i64')
    lower = code.value(f'add i64 {quotient}, {less}')
    # For b = -1 and 0 the divisor is 1 and the quotient a: a times b is the result.
    product = code.value(f'mul i64 {a}, {b}')
    return code.value(f'select i1 {unusual}, i64 {product}, i64 {lower}')


def _select(code: Routine, made: Expression, condition: str, a: str, b: str) -> str:
    kind = LLVM_NUMBERS[made.type]
    return code.value(f'select i1 {condition}, {kind} {a}, {kind} {b}')


def _not(code: Routine, made: Expression, text: str) -> str:
    return code.value(f'xor i1 {text}, true')


def _negative(code: Routine, made: Expression, text: str) -> str:
    # Not 0 - x, whose sign is wrong for x = 0.
    return code.value(f'{"fneg double" if made.type == FLOAT else "sub i64 0,"} {text}')


def _extreme(code: Routine, made: Expression, best: str, *others: str) -> str:
    """Return the minimum or maximum in Python's order of comparisons, which decides for NaN."""
    kind = LLVM_NUMBERS[made.type]
    for other in others:
        is_better = code.value(f'{_BETTER[made.name][made.type]} {kind} {other}, {best}')
        best = code.value(f'select i1 {is_better}, {kind} {other}, {kind} {best}')
    return best


def _load(code: Routine, made: Expression, data: str, at: str) -> str:
    address = code.value(f'add i64 {data}, {at}')
    place = code.value(f'inttoptr i64 {address} to ptr')
    # Numbers in a message are not aligned.
    return code.value(f'load {LLVM_NUMBERS[made.type]}, ptr {place}, align 1')


def _call_kernel(code: Routine, made: Expression, address: str, inputs: str, outputs: str) -> str:
    # By address, which is data, so the same machine code serves every robot.
    function = code.value(f'inttoptr i64 {address} to ptr')
    code.do(f'call void {function}(ptr {inputs}, ptr {outputs})')
    return ''


def _call_loop(code: Routine, made: Expression, address: str, *texts: str) -> str:
    passed = []
    for operand, text in zip(made.operands[1:], texts):
        if isinstance(operand.type, RecordType):
            # `entry` takes records as integers (translation.py), since Python calls it as well.
            passed.append(f'i64 {code.value(f"ptrtoint ptr {text} to i64")}')
        else:
            passed.append(f'{LLVM_NUMBERS[operand.type]} {text}')
    function = code.value(f'inttoptr i64 {address} to ptr')
    return code.value(f'call i64 {function}({", ".join(passed)})')


_WRITERS: Dict[str, Callable[..., str]] = {
    'convert': _convert,
    '//': _floor_division,
    '%': _floor_division,
    'not': _not,
    'select': _select,
    'negative': _negative,
    'min': _extreme,
    'max': _extreme,
    'load': _load,
    'call_kernel': _call_kernel,
    'call_loop': _call_loop,
}
