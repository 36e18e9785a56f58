# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""LLVM code of a graph, for one state or for W states at once.

The text is the same for scalars and for vectors of W lanes.

An `Emitter` writes single instructions, `emit_node` the operation of a node. straight_line.py and
kernel_functions.py make functions of them.
"""

from __future__ import annotations

from itertools import count
import struct
from typing import Dict, List, Mapping, Sequence, Tuple, Union

from rbd_ros.compiler.symbol_graph import (
    ADD,
    COS,
    DIV,
    MUL,
    SIN,
    SQRT,
    SUB,
    WHERE,
)
from rbd_ros.compiler.targets.llvm.fusion import MUL_ADD, MUL_SUB, SUB_MUL
from rbd_ros.compiler.targets.llvm.trigonometry import emit_sine_cosine

_BINARY = {ADD: 'fadd', SUB: 'fsub', MUL: 'fmul', DIV: 'fdiv'}

NOTHING = '!0 = !{}'  # required by invariant.load


class Emitter:
    """Writes LLVM instructions for values of one type.

    :param lanes: 1 for scalars, W for vectors of W doubles
    :param prefix: prefix of names, to distinguish those of several parts of a function
    """

    def __init__(self, lanes: int, prefix: str = 'v'):
        self.lanes, self.lines, self._prefix, self._numbers = lanes, [], prefix, count(1)
        self.type = 'double' if lanes == 1 else f'<{lanes} x double>'
        self.integer = 'i64' if lanes == 1 else f'<{lanes} x i64>'
        self.boolean = 'i1' if lanes == 1 else f'<{lanes} x i1>'
        self._suffix = 'f64' if lanes == 1 else f'v{lanes}f64'

    def with_lanes(self, lanes: int) -> Emitter:
        """Return an emitter that writes values of another width into the same function."""
        other = Emitter(lanes, self._prefix)
        # Shared, so that names stay unique and the text is in the order of the calls.
        other.lines, other._numbers = self.lines, self._numbers
        return other

    def line(self, text: str) -> None:
        """Write an instruction without result."""
        self.lines.append('  ' + text)

    def value(self, text: str) -> str:
        """Write an instruction and return the name of its result."""
        name = f'%{self._prefix}{next(self._numbers)}'
        self.lines.append(f'  {name} = {text}')
        return name

    def load(self, array: str, index: Union[int, str]) -> str:
        """Return the element of an array, such as '%out', of values of this type."""
        pointer = self.value(f'getelementptr {self.type}, ptr {array}, i64 {index}')
        return self.value(f'load {self.type}, ptr {pointer}, align {8 * self.lanes}')

    def mark_invariant(self) -> None:
        """Mark the last load as invariant in this function; the module needs `NOTHING`."""
        self.lines[-1] += f', !invariant.load {NOTHING[:2]}'

    def store(self, value: str, array: str, index: Union[int, str]) -> None:
        """Store a value as an element of an array."""
        pointer = self.value(f'getelementptr {self.type}, ptr {array}, i64 {index}')
        self.line(f'store {self.type} {value}, ptr {pointer}, align {8 * self.lanes}')

    def load_packed(self, array: str, index: int) -> str:
        """Return as many neighboring elements of an array of doubles as there are lanes."""
        # Users' arrays are aligned to their numbers only: a larger alignment might fault.
        pointer = self.value(f'getelementptr double, ptr {array}, i64 {index}')
        return self.value(f'load {self.type}, ptr {pointer}, align 8')

    def store_packed(self, value: str, array: str, index: int) -> None:
        """Store the lanes as neighboring elements of an array of doubles."""
        pointer = self.value(f'getelementptr double, ptr {array}, i64 {index}')
        self.line(f'store {self.type} {value}, ptr {pointer}, align 8')

    def joined(self, scalars: Sequence[str]) -> str:
        """Return a vector of scalars, at most one per lane, padded with zeros."""
        vector = 'zeroinitializer'
        for lane, scalar in enumerate(scalars):
            vector = self.value(f'insertelement {self.type} {vector}, double {scalar}, i64 {lane}')
        return vector

    def lane(self, vector: str, lane: int) -> str:
        """Return the scalar in a lane of a vector."""
        return self.value(f'extractelement {self.type} {vector}, i64 {lane}')

    def spread(self, scalar: str) -> str:
        """Return the vector with a scalar in every lane."""
        return self.joined([scalar] * self.lanes)

    def constant(self, value: float) -> str:
        """Return the operand for a constant, bitwise exact."""
        # In LLVM, a hexadecimal number is a bit pattern.
        return self._splat('double', '0x' + struct.pack('>d', value).hex().upper())

    def _splat(self, element: str, text: str) -> str:
        if self.lanes == 1:
            return text
        return '<' + ', '.join([f'{element} {text}'] * self.lanes) + '>'

    # -- exactly rounded operations

    def fadd(self, a: str, b: str) -> str:
        """Return a + b."""
        return self.value(f'fadd {self.type} {a}, {b}')

    def fsub(self, a: str, b: str) -> str:
        """Return a - b."""
        return self.value(f'fsub {self.type} {a}, {b}')

    def fmul(self, a: str, b: str) -> str:
        """Return a b."""
        return self.value(f'fmul {self.type} {a}, {b}')

    def fneg(self, a: str) -> str:
        """Return -a."""
        return self.value(f'fneg {self.type} {a}')

    def fma(self, a: str, b: str, c: str) -> str:
        """Return a b + c, rounded once."""
        t = self.type
        # Without the instruction, this is a call of the C library: exact in any case, which sine
        # and cosine rely on.
        return self.value(f'call {t} @llvm.fma.{self._suffix}({t} {a}, {t} {b}, {t} {c})')

    def mul_add(self, a: str, b: str, c: str) -> str:
        """Return a b + c, rounded once if the processor can do so."""
        t = self.type
        # One instruction if the processor has it, else two, for scalars and vectors alike.
        return self.value(f'call {t} @llvm.fmuladd.{self._suffix}({t} {a}, {t} {b}, {t} {c})')

    def low_bits(self, a: str) -> str:
        """Return the bit pattern of a double as an integer."""
        return self.value(f'bitcast {self.type} {a} to {self.integer}')

    def bit(self, integer: str, k: int) -> str:
        """Return whether bit `k` is set."""
        masked = self.value(f'and {self.integer} {integer}, {self._splat("i64", str(1 << k))}')
        return self.value(f'icmp ne {self.integer} {masked}, {self._splat("i64", "0")}')

    def xor(self, a: str, b: str) -> str:
        """Return the exclusive or of two truths."""
        return self.value(f'xor {self.boolean} {a}, {b}')

    def select(self, truth: str, yes: str, no: str) -> str:
        """Return `yes` where true, `no` elsewhere."""
        return self.value(f'select {self.boolean} {truth}, {self.type} {yes}, {self.type} {no}')

    def negate_if(self, truth: str, a: str) -> str:
        """Return -a where true, a elsewhere."""
        return self.select(truth, self.fneg(a), a)

    def exceeds(self, a: str, limit: float) -> str:
        """Return whether abs(a) > limit (or a is no number)."""
        size = self.value(f'call {self.type} @llvm.fabs.{self._suffix}({self.type} {a})')
        # An unordered comparison: true for NaN.
        return self.value(f'fcmp ugt {self.type} {size}, {self.constant(limit)}')

    def is_nan(self, a: str) -> str:
        """Return whether a value is NaN."""
        # Only NaN is unordered with zero.
        return self.value(f'fcmp uno {self.type} {a}, {self.constant(0.0)}')

    def any(self, truth: str) -> str:
        """Return whether it is true in any lane, as a scalar."""
        if self.lanes == 1:
            return truth
        # The lanes' truths as one integer: one instruction instead of one per lane.
        bits = self.value(f'bitcast {self.boolean} {truth} to i{self.lanes}')
        return self.value(f'icmp ne i{self.lanes} {bits}, 0')

    def sqrt(self, a: str) -> str:
        """Return the square root."""
        return self.value(f'call {self.type} @llvm.sqrt.{self._suffix}({self.type} {a})')

    def declarations(self) -> List[str]:
        """Return the declarations of the intrinsic functions in use."""
        t, s = self.type, self._suffix
        return [
            f'declare {t} @llvm.fma.{s}({t}, {t}, {t})',
            f'declare {t} @llvm.fmuladd.{s}({t}, {t}, {t})',
            f'declare {t} @llvm.fabs.{s}({t})',
            f'declare {t} @llvm.sqrt.{s}({t})',
        ]


def emit_node(
    code: Emitter,
    node: tuple,
    values: Mapping[int, str],
    sine_cosine: Dict[int, Tuple[str, str]],
) -> str:
    """Emit the operation of a node and return the name of its value.

    :param values: names of the values of other nodes
    :param sine_cosine: names of sines and cosines by angle, as far as emitted; added to
    """
    op = node[0]
    if op in _BINARY:
        return code.value(f'{_BINARY[op]} {code.type} {values[node[1]]}, {values[node[2]]}')
    if op in (MUL_ADD, MUL_SUB, SUB_MUL):
        a, b, c = values[node[1]], values[node[2]], values[node[3]]
        # c - a b as a (-b) + c, since the intrinsic has a sum only. The sign is free: processors
        # with fused operations have instructions for each.
        if op == SUB_MUL:  # a may be a constant, which others share as it is
            b = code.fneg(b)
        return code.mul_add(a, b, code.fneg(c) if op == MUL_SUB else c)
    if op == SQRT:
        return code.sqrt(values[node[1]])
    if op in (SIN, COS):
        # Both share the reduction of the angle.
        if node[1] not in sine_cosine:
            sine_cosine[node[1]] = emit_sine_cosine(code, values[node[1]])
        return sine_cosine[node[1]][op == COS]
    if op == WHERE:
        # Ordered: NaN is not positive. Both branches are evaluated, so lanes may differ.
        positive = code.value(f'fcmp ogt {code.type} {values[node[1]]}, {code.constant(0.0)}')
        return code.select(positive, values[node[2]], values[node[3]])
    raise AssertionError(f'node {node} has no operation')
