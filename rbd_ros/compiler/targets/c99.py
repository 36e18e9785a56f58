# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A program as a function in C99: a self-contained text, for systems without Python.

`source(kernel.definition.program())` is the text. Its results are those of the kernel, up to
rounding. Sines and cosines of doubles up to 1e5 rad are a loop over all angles, which compilers
vectorize; beyond, and for floats, they are those of math.h, so angles beyond 2^49 rad have results
here.
"""

from __future__ import annotations

import math
import re
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from rbd_ros.compiler.program import Program
from rbd_ros.compiler.program_parts import cut, keep, Part, START
from rbd_ros.compiler.symbol_graph import (
    ADD,
    CONSTANT,
    COS,
    DIV,
    INPUT,
    MUL,
    Node,
    operands,
    SIN,
    SQRT,
    SUB,
    Symbol,
    Value,
    WHERE,
)

_FORMS = {
    ADD: '{} + {}',
    SUB: '{} - {}',
    MUL: '{} * {}',
    DIV: '{} / {}',
    SQRT: 'sqrt{suffix}({})',
    SIN: 'sin{suffix}({})',
    COS: 'cos{suffix}({})',
    WHERE: '{} > 0.0{suffix} ? {} : {}',
}
#: Types of numbers, and C's suffixes of their constants and functions.
SUFFIXES = {'double': '', 'float': 'f'}
_KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while
""".split()
# Further identifiers in the text, beside v1, v2, ... for the values of nodes
_OWN = ['sqrt', 'sin', 'cos', 'sqrtf', 'sinf', 'cosf', 'isfinite', 'NAN', 'HUGE_VAL', 'HUGE_VALF']
_OWN += ['fabs', 'rint', 'finite', 'i', 'kept', 'angles']
_LOCAL = re.compile(r'v\d+')

# A longer program becomes several functions, as time and memory of compilers grow faster than the
# length of one.
_NODES_PER_PART = 1000


# The sines of `angles` into `kept`, their cosines after them. Reduction by the multiple k of pi/2,
# in three parts with so few bits that k times the first two is exact, and the rounding error in
# `t`; then the polynomials of FDLIBM. The loop has no branch and no comparison, which compilers
# that respect floating-point traps would not vectorize: `odd` and `back` are 0 or 1.
_SINE_COSINE = """\
static void {name}(const double *restrict angles, double *restrict kept)
{{
    int far = 0;
    for (int i = 0; i < {n}; ++i) far |= !(fabs(angles[i]) < 1e5);
    if (far) {{
        for (int i = 0; i < {n}; ++i) {{
            kept[i] = sin(angles[i]);
            kept[{n} + i] = cos(angles[i]);
        }}
        return;
    }}
    for (int i = 0; i < {n}; ++i) {{
        const double k = rint(angles[i] * 0.63661977236758138);
        const double first = angles[i] - k * 1.57079632673412561417;
        const double second = k * 6.07710050630396597660e-11;
        const double near = first - second;
        const double third = k * 2.02226624879595063154e-21 - ((first - near) - second);
        const double r = near - third, t = (near - r) - third;
        const double z = r * r, half = 0.5 * z, w = 1.0 - half;
        const double p = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03
            + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06
            + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))));
        const double h = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03
            + z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07
            + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))));
        const double s = r + (r * z * p + t);
        const double c = w + (((1.0 - w) - half) + (z * z * h - r * t));
        const double turn = rint(0.5 * k - 0.25), odd = k - 2.0 * turn;
        const double back = turn - 2.0 * rint(0.5 * turn - 0.25), even = 1.0 - odd;
        kept[i] = (1.0 - 2.0 * back) * (odd * c + even * s);
        kept[{n} + i] = (1.0 - 2.0 * (odd + back - 2.0 * odd * back)) * (odd * s + even * c);
    }}
}}
"""
# Number of angles at a time for which the loop wastes few steps
_AT_ONCE = 4
# Maximum operations of an angle that is expanded in the loop, as of mimic joints
_FEW = 8

# Bytes of a call beside its variables: saved registers, return address
_FRAME = 1024


class Function(NamedTuple):
    """A program as a C99 function.

    :param source: text of the function, which needs math.h and nothing else
    :param declaration: its comment and its prototype, for a header that C++ reads as well
    :param stack: maximum bytes of stack of a call, for any compiler
    """

    source: str
    declaration: str
    stack: int


def source(program: Program, name: Optional[str] = None) -> str:
    """Return the text of a C99 function of doubles; see `function`."""
    return function(program, name).source


def function(program: Program, name: Optional[str] = None, precision: str = 'double') -> Function:
    """Return the C99 function that computes a program.

    It allocates nothing and calls only math.h.

    Its arguments are the input arrays, by name, then the output arrays, matrices row by row, with
    one underscore or more after a name that C or another argument has taken. No two may overlap.
    A not-a-number or an infinity in any input makes every output not-a-number, which a compiler
    that assumes finite numbers only (-ffast-math) may undo.

    :param name: name of the function; that of the program if None
    :param precision: type of its numbers, 'double' or 'float'
    :raises ValueError: for an invalid name in C, or an unknown precision
    """
    name = program.name if name is None else name
    if not re.fullmatch(r'[A-Za-z]\w*', name, re.ASCII) or name in _KEYWORDS:
        raise ValueError(f'{name!r} is not a valid name of a function in C')
    if precision not in SUFFIXES:
        raise ValueError(f'precision must be {" or ".join(SUFFIXES)}, got {precision!r}')
    text = _Text(program, name, precision)
    return Function(text.whole(), text.declaration(), text.stack())


class _Text:
    """Writes one program.

    :param name: name of the function
    """

    def __init__(self, program: Program, name: str, precision: str):
        self._program, self._name = program, name
        self._precision, self._suffix = precision, SUFFIXES[precision]
        self._angles = self._plain_angles() if precision == 'double' else []
        count = -(-len(self._angles) // _AT_ONCE) * _AT_ONCE
        # The array of kept values begins with their sines and cosines.
        taken_slots = {
            number: self._angles.index(angle) + count * (operation == COS)
            for number, (operation, angle, *_) in self._sines_and_cosines()
            if angle in self._angles
        }
        self._angle_count = count
        self._parts = cut(program, self._live(set(taken_slots)), _NODES_PER_PART)
        # Outputs that are such a sine or cosine are ready before all parts.
        self._parts[0].places.setdefault(START, []).extend(
            place
            for place, value in enumerate(program.flat)
            if isinstance(value, Symbol) and value.number in taken_slots
        )
        # Parts are functions, which an argument of the same name would shadow.
        parts = (f'{name}_{k}' for k in range(len(self._parts)))
        taken = {name, *parts, f'{name}_angles', *_KEYWORDS, *_OWN}
        self._ins = [_identifier(array, taken) for array, _ in program.inputs]
        self._outs = [_identifier(output.name, taken) for output in program.outputs]
        self._in_by_name = {array: c for (array, _), c in zip(program.inputs, self._ins)}
        self._sizes = dict(zip(self._ins, (size for _, size in program.inputs)))
        self._sizes.update(zip(self._outs, (output.size for output in program.outputs)))
        self._slots, self._length = keep(program.graph, self._parts, taken_slots, 2 * count)
        self._used: Set[str] = set()  # arrays named in the present part

    def whole(self) -> str:
        """Return the text of the function, after those of its parts if there are several."""
        lines = ['#include <math.h>', '']
        # On the function's stack: thread-safe, and without a heap.
        body = [f'{self._precision} kept[{self._length}];'] if self._length else []
        if self._angles:
            function = f'{self._name}_angles'
            lines += _SINE_COSINE.format(name=function, n=self._angle_count).splitlines() + ['']
            angles = [self._written_out(angle) for angle in self._angles]
            body.append(f'const double angles[{self._angle_count}] = {{{", ".join(angles)}}};')
            body.append(f'{function}(angles, kept);')
        if len(self._parts) == 1:
            body += self._body(self._parts[0])
        else:
            for k, part in enumerate(self._parts):
                steps, arrays = self._body(part), self._arrays_in_use()
                lines += [f'static void {self._name}_{k}({self._parameters(arrays)})', '{']
                lines += [*_indented(steps), '}', '']
                body.append(f'{self._name}_{k}({", ".join(arrays)});')
        arrays = [*self._ins, *self._outs]
        lines += self._comment()
        lines += [f'void {self._name}({self._parameters(arrays) or "void"})', '{']
        return '\n'.join([*lines, *_indented([*self._test(), *body]), '}', ''])

    def _sines_and_cosines(self) -> Iterator[Tuple[int, Node]]:
        nodes = self._program.graph.nodes
        return ((k, nodes[k]) for k in self._program.live if nodes[k][0] in (SIN, COS))

    def _plain_angles(self) -> List[int]:
        """Return the indices of angles with few operations from inputs, without sines."""
        nodes = self._program.graph.nodes

        def is_plain(angle: int) -> bool:
            stack, operations = [angle], 0
            while stack and operations <= _FEW:
                operation, *rest = nodes[stack.pop()]
                if operation in (ADD, SUB, MUL):
                    operations += 1
                    stack.extend(rest)
                elif operation not in (INPUT, CONSTANT):
                    return False
            return operations <= _FEW

        angles = dict.fromkeys(node[1] for _, node in self._sines_and_cosines())
        return list(filter(is_plain, angles))

    def _written_out(self, number: int) -> str:
        """Return the expression for the value of a node, down to the inputs."""
        operation, *rest = self._program.graph.nodes[number]
        if operation in (INPUT, CONSTANT):
            return self._operand(number, set())
        return f'({_FORMS[operation].format(*map(self._written_out, rest))})'

    def _live(self, known: Set[int]) -> List[int]:
        """Return nodes that outputs need, in order of evaluation, without the known ones."""
        program = self._program
        needed: Set[int] = set()
        stack = [value.number for value in program.flat if isinstance(value, Symbol)]
        while stack:
            number = stack.pop()
            if number not in needed and number not in known:
                needed.add(number)
                stack.extend(operands(program.graph.nodes[number]))
        return [number for number in program.live if number in needed]

    def declaration(self) -> str:
        """Comment and prototype."""
        # C++ has no `restrict`.
        parameters = self._parameters([*self._ins, *self._outs]).replace('[restrict ', '[')
        return '\n'.join([*self._comment(), f'void {self._name}({parameters or "void"});', ''])

    def stack(self) -> int:
        """Return the bytes of stack that a call takes at most."""
        most = max(len(part.nodes) for part in self._parts)
        size = 8 if self._precision == 'double' else 4
        # Without optimization, each value and its operands are on the stack.
        return size * (self._length + 2 * most) + 2 * _FRAME

    def _comment(self) -> List[str]:
        lines = [f'{self._name}: {self._program.doc}'.rstrip(': ')]
        for c, (array, size) in zip(self._ins, self._program.inputs):
            lines.append(f'in   {c}[{size}]' + f': {array}' * (c != array))
        for c, output in zip(self._outs, self._program.outputs):
            shape = ' x '.join(map(str, output.shape)) if len(output.shape) > 1 else ''
            lines.append(f'out  {c}[{output.size}]' + f': {shape}, row by row' * bool(shape))
        lines.append('Arrays must not overlap. No number in any input: none in any output.')
        # Names of links and joints may contain anything.
        text = '\n'.join(f' * {line}' for line in lines).replace('*/', '* /')
        return ['/*', *text.splitlines(), ' */']

    def _test(self) -> List[str]:
        """Return the statements that return not-a-numbers if an input is not finite."""
        lines = ['int finite = 1;']
        # Arrays without elements are unused, of which compilers would warn.
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
        """Return statements that evaluate a part; outputs are stored as soon as they are known."""
        graph, here = self._program.graph, set(part.nodes)
        # A part has only the array parameters that it uses, to avoid warnings.
        self._used = set()
        lines = self._stores(part.places.get(START, ()), here)
        for number in part.nodes:
            operation, *operands = graph.nodes[number]
            values = (self._operand(k, here) for k in operands)
            text = _FORMS[operation].format(*values, suffix=self._suffix)
            # One operation a line, not reassociated: rounded as in the graph. The C compiler
            # decides about fused multiply-add.
            lines.append(f'const {self._precision} v{number} = {text};')
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
            return self._literal(float(value) + 0.0)  # never -0.0
        return '-' * value.negative + self._operand(value.number, here)

    def _operand(self, number: int, here: Set[int]) -> str:
        """Return the expression for the value of a node that is an operand."""
        kind, *rest = self._program.graph.nodes[number]
        if kind == CONSTANT:
            return self._literal(rest[0])
        if kind == INPUT:
            return f'{self._array(self._in_by_name[rest[0]])}[{rest[1]}]'
        return f'v{number}' if number in here else f'{self._array("kept")}[{self._slots[number]}]'

    def _literal(self, value: float) -> str:
        """Return a constant of C, the nearest number of its type; doubles are bitwise exact."""
        if math.isnan(value):
            return 'NAN'
        if math.isinf(value):
            return f'{"-" * (value < 0.0)}HUGE_VAL{self._suffix.upper()}'
        # The shortest text that Python and C read as this double.
        return repr(value) + self._suffix

    def _array(self, name: str) -> str:
        self._used.add(name)
        return name

    def _arrays_in_use(self) -> List[str]:
        return [c for c in (*self._ins, *self._outs, 'kept') if c in self._used]

    def _parameters(self, arrays: Sequence[str]) -> str:
        sizes: Dict[str, int] = {**self._sizes, 'kept': self._length}
        return ', '.join(
            ('const ' if c in self._ins else '')
            # Without `restrict`, inputs would be read again after each store. C has no arrays
            # without elements.
            + (
                f'{self._precision} {c}[restrict {sizes[c]}]'
                if sizes[c]
                else f'{self._precision} *{c}'
            )
            for c in arrays
        )


def _identifier(name: str, taken: Set[str]) -> str:
    """Return the name of an array in C, and reserve it."""
    found = re.sub(r'\W', '_', name, flags=re.ASCII)
    # C reserves leading underscores, and names cannot begin with a digit.
    if not found[:1].isalpha():
        found = f'x{found}'
    while found in taken or _LOCAL.fullmatch(found):
        found += '_'
    taken.add(found)
    return found


def _indented(lines: Iterable[str]) -> List[str]:
    return [f'    {line}' for line in lines]
