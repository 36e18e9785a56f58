"""LLVM code of a graph, for one state or for W states at once.

The same text, scalars or vectors of W lanes.

An `Emitter` writes single operations; `emit_graph` writes a whole graph; the functions around it
(arguments, loops over states, transposition of rows into lanes) are in functions.py.
"""

from __future__ import annotations

import math
import struct
from typing import Callable, Dict, List, Sequence

from rbd_ros.compiler.graph import (
    ADD,
    CONSTANT,
    COS,
    DIV,
    Graph,
    INPUT,
    MUL,
    SIN,
    SQRT,
    SUB,
    Symbol,
    Value,
    WHERE,
)
from rbd_ros.compiler.trigonometry import emit_sine_cosine

# LLVM's time for a straight run of code grows faster than its length, and with many outputs a long
# run also gives slower code: such functions are cut into blocks. (Talos: coriolis_matrix compiles
# in a third of the time and runs 1.2 times, in batches 1.5 times as fast; forward_dynamics, with
# few outputs, would run slower.)
_MANY_OUTPUTS = 256
_LINES_PER_BLOCK = 400
_POISON_CHAINS = 4

_BINARY = {ADD: 'fadd contract', SUB: 'fsub contract', MUL: 'fmul contract', DIV: 'fdiv contract'}


class Emitter:
    """Writes LLVM instructions for values of one type.

    :param lanes: 1 for scalars, W for vectors of W doubles
    :param prefix: distinguishes the names of one function's values from those of another part of
        it
    """

    def __init__(self, lanes: int, prefix: str = 'v'):
        self.lanes, self.lines, self._prefix, self._count = lanes, [], prefix, 0
        self._block_start = 0
        self.type = 'double' if lanes == 1 else f'<{lanes} x double>'
        self.integer = 'i64' if lanes == 1 else f'<{lanes} x i64>'
        self.boolean = 'i1' if lanes == 1 else f'<{lanes} x i1>'
        self._suffix = 'f64' if lanes == 1 else f'v{lanes}f64'

    def line(self, text: str) -> None:
        """Write an instruction without result."""
        self.lines.append('  ' + text)

    def value(self, text: str) -> str:
        """Write an instruction and return the name of its result."""
        name = f'%{self._name()}'
        self.lines.append(f'  {name} = {text}')
        return name

    def _name(self) -> str:
        self._count += 1
        return f'{self._prefix}{self._count}'

    def end_block_at(self, length: float) -> None:
        """Start a new basic block if this one has `length` lines.

        The function must have an argument `out` and a last block `done`. LLVM would join blocks
        without a condition between them; that `out` is not null is one that it does not know.
        """
        if len(self.lines) - self._block_start < length:
            return
        null = self.value('icmp eq ptr %out, null')
        block = self._name()
        self.line(f'br i1 {null}, label %done, label %{block}')
        self.lines.append(f'{block}:')
        self._block_start = len(self.lines)

    def constant(self, value: float) -> str:
        """Operand for a constant, exact to the bit."""
        return self._splat('double', '0x' + struct.pack('>d', value).hex().upper())

    def _splat(self, element: str, text: str) -> str:
        if self.lanes == 1:
            return text
        return '<' + ', '.join([f'{element} {text}'] * self.lanes) + '>'

    # -- exactly rounded operations (for trigonometry.py): no `contract`, so nothing is fused

    def fadd(self, a: str, b: str) -> str:
        """A + b."""
        return self.value(f'fadd {self.type} {a}, {b}')

    def fsub(self, a: str, b: str) -> str:
        """A - b."""
        return self.value(f'fsub {self.type} {a}, {b}')

    def fmul(self, a: str, b: str) -> str:
        """A b."""
        return self.value(f'fmul {self.type} {a}, {b}')

    def fneg(self, a: str) -> str:
        """-a."""
        return self.value(f'fneg {self.type} {a}')

    def fma(self, a: str, b: str, c: str) -> str:
        """A b + c, rounded once."""
        t = self.type
        return self.value(f'call {t} @llvm.fma.{self._suffix}({t} {a}, {t} {b}, {t} {c})')

    def low_bits(self, a: str) -> str:
        """Bit pattern of a double as an integer."""
        return self.value(f'bitcast {self.type} {a} to {self.integer}')

    def bit(self, integer: str, k: int) -> str:
        """Whether bit `k` is set."""
        masked = self.value(f'and {self.integer} {integer}, {self._splat("i64", str(1 << k))}')
        return self.value(f'icmp ne {self.integer} {masked}, {self._splat("i64", "0")}')

    def xor(self, a: str, b: str) -> str:
        """Exclusive or of two truths."""
        return self.value(f'xor {self.boolean} {a}, {b}')

    def select(self, truth: str, yes: str, no: str) -> str:
        """Value `yes` where true, `no` elsewhere."""
        return self.value(f'select {self.boolean} {truth}, {self.type} {yes}, {self.type} {no}')

    def negate_if(self, truth: str, a: str) -> str:
        """-a where true, a elsewhere."""
        return self.select(truth, self.fneg(a), a)

    def exceeds(self, a: str, limit: float) -> str:
        """Whether abs(a) > limit (or a is no number)."""
        size = self.value(f'call {self.type} @llvm.fabs.{self._suffix}({self.type} {a})')
        return self.value(f'fcmp ugt {self.type} {size}, {self.constant(limit)}')

    def sqrt(self, a: str) -> str:
        """Square root."""
        return self.value(f'call {self.type} @llvm.sqrt.{self._suffix}({self.type} {a})')

    def declarations(self) -> List[str]:
        """Declarations of the intrinsic functions in use."""
        t, s = self.type, self._suffix
        return [
            f'declare {t} @llvm.fma.{s}({t}, {t}, {t})',
            f'declare {t} @llvm.fabs.{s}({t})',
            f'declare {t} @llvm.sqrt.{s}({t})',
        ]


def emit_graph(
    code: Emitter,
    graph: Graph,
    inputs: Dict[tuple, str],
    outputs: Sequence[Value],
    store: Callable[[int, str], None],
) -> None:
    """Emit the evaluation of `outputs`, each stored as soon as it is known.

    A not-a-number (or infinity) in any input makes every output not-a-number: the sum of all
    inputs times zero is added to each, so that a bad measurement never hides behind an expression
    that happened not to need it.

    :param inputs: names of the input values by (array name, index)
    :param store: called with the place of an output and the name of its value
    """
    poison = _poison(code, list(inputs.values()))
    block = _LINES_PER_BLOCK if len(outputs) > _MANY_OUTPUTS else math.inf
    places: Dict[int, List[int]] = {}
    for place, value in enumerate(outputs):
        if isinstance(value, Symbol):
            places.setdefault(value.number, []).append(place)
        else:
            store(place, poison if value == 0 else code.fadd(poison, code.constant(float(value))))
            code.end_block_at(block)

    names: Dict[int, str] = {}
    sine_cosine: Dict[int, tuple] = {}
    for number in graph.live(outputs):
        node = graph.nodes[number]
        op = node[0]
        if op in _BINARY:
            names[number] = code.value(
                f'{_BINARY[op]} {code.type} {names[node[1]]}, {names[node[2]]}'
            )
        elif op == INPUT:
            names[number] = inputs[node[1:]]
        elif op == CONSTANT:
            names[number] = code.constant(node[1])
        elif op == SQRT:
            names[number] = code.sqrt(names[node[1]])
        elif op in (SIN, COS):
            if node[1] not in sine_cosine:
                sine_cosine[node[1]] = emit_sine_cosine(code, names[node[1]])
            names[number] = sine_cosine[node[1]][op == COS]
        elif op == WHERE:
            positive = code.value(f'fcmp ogt {code.type} {names[node[1]]}, {code.constant(0.0)}')
            names[number] = code.select(positive, names[node[2]], names[node[3]])
        for place in places.get(number, ()):
            operation = 'fsub' if outputs[place].negative else 'fadd'
            store(place, code.value(f'{operation} {code.type} {poison}, {names[number]}'))
        code.end_block_at(block)


def _poison(code: Emitter, names: List[str]) -> str:
    """Zero, or not-a-number if any of the values is not finite: the sum of all times zero.

    Times zero first, so that large numbers do not overflow; a few chains of fused operations.
    """
    zero = code.constant(0.0)
    chains = [code.fmul(name, zero) for name in names[:_POISON_CHAINS]]
    for k, name in enumerate(names[_POISON_CHAINS:]):
        product = code.value(f'fmul contract {code.type} {name}, {zero}')
        chains[k % _POISON_CHAINS] = code.value(
            f'fadd contract {code.type} {chains[k % _POISON_CHAINS]}, {product}'
        )
    while len(chains) > 1:
        chains = [code.fadd(a, b) for a, b in zip(chains[::2], chains[1::2])] + chains[
            len(chains) & ~1 :
        ]
    return chains[0] if chains else zero
