"""A program as a function in C99: a text that stands alone, for where there is no Python.

`source(kernel.definition.program())` is the text. What it computes is what the kernel does, to
rounding; sine and cosine are those of math.h, so that angles beyond 2^49 rad are numbers here.
"""

from __future__ import annotations

import math
import re
from typing import Dict, Iterable, List, Optional, Sequence, Set

from rbd_ros.compiler.graph import (
    ADD,
    CONSTANT,
    COS,
    DIV,
    INPUT,
    MUL,
    SIN,
    SQRT,
    SUB,
    Symbol,
    Value,
    WHERE,
)
from rbd_ros.compiler.parts import cut, keep, Part, START
from rbd_ros.compiler.program import Program

_FORMS = {
    ADD: '{} + {}',
    SUB: '{} - {}',
    MUL: '{} * {}',
    DIV: '{} / {}',
    SQRT: 'sqrt({})',
    SIN: 'sin({})',
    COS: 'cos({})',
    WHERE: '{} > 0.0 ? {} : {}',
}
_KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while
""".split()
# What the text itself says, beside v1, v2, ... for the values of nodes
_OWN = ['sqrt', 'sin', 'cos', 'isfinite', 'NAN', 'HUGE_VAL', 'finite', 'i', 'kept']
_LOCAL = re.compile(r'v\d+')

# A longer program becomes several functions: the time and memory that compilers take grow faster
# than the length of one.
_NODES_PER_PART = 1000


def source(program: Program, name: Optional[str] = None) -> str:
    """Text of a C99 function, which needs math.h and nothing else.

    Its arguments are the arrays that go in, by name, then those that come out, matrices row by
    row, with one underscore or more after a name that C or another argument has taken. No two may
    overlap. A not-a-number or an infinity in any input makes every output not-a-number, which a
    compiler that is told of finite numbers only (-ffast-math) may undo.

    :param name: name of the function; that of the program if None
    :raises ValueError: if the name is none in C
    """
    name = program.name if name is None else name
    if not re.fullmatch(r'[A-Za-z]\w*', name, re.ASCII) or name in _KEYWORDS:
        raise ValueError(f'{name!r} is no name of a function in C')
    return _Text(program, name).whole()


class _Text:
    """Writes one program.

    :param name: name of the function
    """

    def __init__(self, program: Program, name: str):
        self._program, self._name = program, name
        self._parts = cut(program, program.live, _NODES_PER_PART)
        # Parts are functions, which an argument of the same name would hide.
        parts = (f'{name}_{k}' for k in range(len(self._parts)))
        taken = {name, *parts, *_KEYWORDS, *_OWN}
        self._ins = [_identifier(array, taken) for array, _ in program.inputs]
        self._outs = [_identifier(output.name, taken) for output in program.outputs]
        self._in_by_name = {array: c for (array, _), c in zip(program.inputs, self._ins)}
        self._sizes = dict(zip(self._ins, (size for _, size in program.inputs)))
        self._sizes.update(zip(self._outs, (output.size for output in program.outputs)))
        self._slots, self._length = keep(program.graph, self._parts, {})
        self._used: Set[str] = set()  # arrays that the part at hand names

    def whole(self) -> str:
        """Text of the function, after those of its parts if there are several."""
        lines = ['#include <math.h>', '']
        if len(self._parts) == 1:
            body = self._body(self._parts[0])
        else:
            # On the stack of the function itself: it may run in several threads, and without a
            # heap.
            body = [f'double kept[{self._length}];'] if self._length else []
            for k, part in enumerate(self._parts):
                steps, arrays = self._body(part), self._arrays_in_use()
                lines += [f'static void {self._name}_{k}({self._parameters(arrays)})', '{']
                lines += [*_indented(steps), '}', '']
                body.append(f'{self._name}_{k}({", ".join(arrays)});')
        arrays = [*self._ins, *self._outs]
        lines += self._comment()
        lines += [f'void {self._name}({self._parameters(arrays) or "void"})', '{']
        return '\n'.join([*lines, *_indented([*self._test(), *body]), '}', ''])

    def _comment(self) -> List[str]:
        lines = [f'{self._name}: {self._program.doc}'.rstrip(': ')]
        for c, (array, size) in zip(self._ins, self._program.inputs):
            lines.append(f'in   {c}[{size}]' + f': {array}' * (c != array))
        for c, output in zip(self._outs, self._program.outputs):
            shape = ' x '.join(map(str, output.shape)) if len(output.shape) > 1 else ''
            lines.append(f'out  {c}[{output.size}]' + f': {shape}, row by row' * bool(shape))
        lines.append('Arrays must not overlap. No number in any input: none in any output.')
        # Names are those of links and joints, in which anything may stand.
        text = '\n'.join(f' * {line}' for line in lines).replace('*/', '* /')
        return ['/*', *text.splitlines(), ' */']

    def _test(self) -> List[str]:
        """Statements that return not-a-numbers if an input is not finite."""
        lines = ['int finite = 1;']
        # What has no elements is not mentioned again, of which compilers would warn.
        lines += [f'(void){c};' for c in (*self._ins, *self._outs) if not self._sizes[c]]
        for c in self._ins:
            if self._sizes[c]:
                loop = f'for (int i = 0; i < {self._sizes[c]}; ++i)'
                lines.append(f'{loop} finite = finite && isfinite({c}[i]);')
        spoil = [
            f'    for (int i = 0; i < {self._sizes[c]}; ++i) {c}[i] = NAN;'
            for c in self._outs
            if self._sizes[c]
        ]
        return [*lines, 'if (!finite) {', *spoil, '    return;', '}']

    def _body(self, part: Part) -> List[str]:
        """Statements that evaluate a part; outputs are stored as soon as they are known."""
        graph, here = self._program.graph, set(part.nodes)
        # A part takes the arrays that it names and no others: unused parameters are warned of,
        # too.
        self._used = set()
        lines = self._stores(part.places.get(START, ()), here)
        for number in part.nodes:
            operation, *operands = graph.nodes[number]
            text = _FORMS[operation].format(*(self._operand(k, here) for k in operands))
            # One operation a line, and nothing reassociated: results are rounded as in the graph.
            # Whether a product is taken into a sum, the compiler of C decides.
            lines.append(f'const double v{number} = {text};')
            if number in self._slots:
                lines.append(f'{self._array("kept")}[{self._slots[number]}] = v{number};')
            lines += self._stores(part.places[number], here)
        return lines

    def _stores(self, places: Iterable[int], here: Set[int]) -> List[str]:
        lines = []
        for place in places:
            array, index = self._program.destinations[place]
            value = self._value(self._program.flat[place], here)
            lines.append(f'{self._array(self._outs[array])}[{index}] = {value};')
        return lines

    def _value(self, value: Value, here: Set[int]) -> str:
        if not isinstance(value, Symbol):
            return _literal(float(value) + 0.0)  # never -0.0
        return '-' * value.negative + self._operand(value.number, here)

    def _operand(self, number: int, here: Set[int]) -> str:
        """Expression for the value of a node that is an operand."""
        kind, *rest = self._program.graph.nodes[number]
        if kind == CONSTANT:
            return _literal(rest[0])
        if kind == INPUT:
            return f'{self._array(self._in_by_name[rest[0]])}[{rest[1]}]'
        return f'v{number}' if number in here else f'{self._array("kept")}[{self._slots[number]}]'

    def _array(self, name: str) -> str:
        self._used.add(name)
        return name

    def _arrays_in_use(self) -> List[str]:
        return [c for c in (*self._ins, *self._outs, 'kept') if c in self._used]

    def _parameters(self, arrays: Sequence[str]) -> str:
        sizes: Dict[str, int] = {**self._sizes, 'kept': self._length}
        return ', '.join(
            ('const ' if c in self._ins else '')
            # `restrict`, or the compiler would read inputs again after each result that is stored.
            # An array without elements does not exist in C.
            + (f'double {c}[restrict {sizes[c]}]' if sizes[c] else f'double *{c}')
            for c in arrays
        )


def _identifier(name: str, taken: Set[str]) -> str:
    """Name of an array in C, which is taken from then on."""
    found = re.sub(r'\W', '_', name, flags=re.ASCII)
    # C reserves names with a leading underscore, and none begins with a digit.
    if not found[:1].isalpha():
        found = f'x{found}'
    while found in taken or _LOCAL.fullmatch(found):
        found += '_'
    taken.add(found)
    return found


def _literal(value: float) -> str:
    """Constant of C, exact to the bit."""
    if math.isnan(value):
        return 'NAN'
    if math.isinf(value):
        return '-HUGE_VAL' if value < 0.0 else 'HUGE_VAL'
    # The shortest text that is read as this double, by Python and by C.
    return repr(value)


def _indented(lines: Iterable[str]) -> List[str]:
    return [f'    {line}' for line in lines]
