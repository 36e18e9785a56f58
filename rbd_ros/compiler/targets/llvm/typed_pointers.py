# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Translation of LLVM text with opaque pointers to typed ones, for llvmlite before 0.45.

The other modules write `ptr`, which llvmlite 0.45 and later reads. Earlier ones, with LLVM 11 to
15, need the type of the pointee. Here every `ptr` becomes `i8*`, and memory accesses get a
`bitcast` to the required type, which costs no instruction. The translation is line by line, for
the forms of instructions that this package writes; any other form with pointers is an error.

LLVM 14 and 15 have an option for opaque pointers. It is not used: it is process-wide, and so
affects a user's numba; it is too late for a context that has seen a pointer; and LLVM 11 lacks it.
"""

from __future__ import annotations

from itertools import count
import re
from typing import Dict, List, Tuple

_NAME = r'(?:[\w.$-]+|"[^"]*")'
# Marks of a line with pointers; calls may be through one without pointer arguments.
_TOUCHES_POINTERS = re.compile(r'i8\*|@|\balloca\b|\bgetelementptr\b|\bcall\b')
_SYMBOL = re.compile(rf'@{_NAME}')
# The keyword: no part of a name, a label or a string.
_POINTER = re.compile(r'"[^"]*"|(?<![\w%@.$-])ptr(?![\w.$:-])')
_POISON = re.compile(r'"[^"]*"|(?<![\w%@.$-])poison(?![\w.$:-])')  # unknown to LLVM 11
_INSTRUCTION = re.compile(rf'\s*(?:(%{_NAME}) = )?((?:(?:tail|notail) )?\w+) ?(.*)', re.DOTALL)
_GLOBAL = re.compile(rf'(@{_NAME}) = ([\w ]*\b(?:global|constant)) (.*)')
_HEAD = re.compile(rf'(?:define|declare) (.*?)(@{_NAME})\((.*?)\)([^()]*)$')
_POINTER_OPERAND = re.compile(rf'i8\* ([%@]{_NAME})(?=,|$| monotonic\b)')
_STORE = re.compile(rf'(.*), i8\* ([%@]{_NAME})((?:, align \d+)?(?:, !.*)?)$')
_ATOMICRMW = re.compile(rf'(\w+) i8\* ([%@]{_NAME}), (i\d+) (.*)$')
_CALL = re.compile(rf'(.*?)([%@]{_NAME})\((.*)\)([^()]*)$')
# Words before the type that a function returns
_FLAGS = re.compile(
    r'(?:(?:internal|private|dso_local|noalias|nonnull|noundef|zeroext|signext|'
    r'fast|nnan|ninf|nsz|arcp|contract|afn|reassoc) )*'
)
_CONSTANT_INDEX = re.compile(r'i\d+ (\d+)$')

# Instructions independent of the pointee's type
_INDIFFERENT = {
    'br',
    'extractelement',
    'extractvalue',
    'freeze',
    'icmp',
    'insertelement',
    'insertvalue',
    'inttoptr',
    'phi',
    'ptrtoint',
    'ret',
    'select',
}
# Intrinsics that LLVM 11 has under the same names, and those with pointee types in their names
_INTRINSICS = re.compile(
    r'@llvm\.(?:(?:fma|fmuladd|fabs|sqrt|copysign|floor|ceil|trunc|rint|nearbyint|round|minnum|'
    r'maxnum|minimum|maximum|assume|expect|prefetch|ctpop)\b|(?:memcpy|memmove|memset|lifetime)\.)'
)
_POINTER_SUFFIX = re.compile(r'\.p0(?=\.|$)')


def lower(text: str) -> str:
    """Translate a module's text to typed pointers.

    :param text: with opaque pointers, in the forms that this package writes
    :raises ValueError: for a line of an unknown form, naming the line
    """
    lines = _logical_lines(text)
    symbols: Dict[str, str] = {}
    # Symbols of the whole module first: a function may be used above its definition.
    for line in lines:
        match = _GLOBAL.match(line)
        if match:
            symbols[match[1]] = _leading_type(match[3], line)
        elif line.startswith(('define ', 'declare ')):
            name, kind = _function_type(line)
            symbols[name] = kind
    lowering = _Lowering(symbols)
    for line in lines:
        lowering.line(line)
    return '\n'.join([*lowering.lines, ''])


def _logical_lines(text: str) -> List[str]:
    """Return the lines with `i8*` and `undef`; those within parentheses are joined."""
    lines: List[str] = []
    depth = 0
    for line in text.splitlines():
        # Most lines have neither word, and this test is cheaper than the expression.
        if 'ptr' in line:
            line = _POINTER.sub(lambda match: _unless_quoted(match[0], 'i8*'), line)
        if 'poison' in line:
            line = _POISON.sub(lambda match: _unless_quoted(match[0], 'undef'), line)
        if depth:
            lines[-1] += ' ' + line.strip()
        else:
            lines.append(line)
        # A long call continues in the next line.
        depth += line.count('(') - line.count(')')
    return lines


def _unless_quoted(word: str, instead: str) -> str:
    return word if word.startswith('"') else instead


def _leading_type(text: str, line: str) -> str:
    """Return the type at the beginning of a text."""
    depth = 0
    for k, character in enumerate(text):
        if character in '<[{(':
            depth += 1
        elif character in '>]})':
            depth -= 1
        elif character in ' ,' and depth == 0:
            return text[:k]
    if depth or not text:
        raise _unknown(line)
    return text


def _pieces(text: str) -> List[str]:
    """Return the pieces of a list between its commas."""
    pieces, depth, start = [], 0, 0
    for k, character in enumerate(text):
        if character in '<[{(':
            depth += 1
        elif character in '>]})':
            depth -= 1
        elif character == ',' and depth == 0:
            pieces.append(text[start:k])
            start = k + 1
    return [piece.strip() for piece in [*pieces, text[start:]] if piece.strip()]


def _function_type(line: str) -> Tuple[str, str]:
    """Return name and type of the function that a line defines or declares."""
    match = _HEAD.match(line)
    if not match:
        raise _unknown(line)
    result = _FLAGS.sub('', match[1], count=1).strip()
    arguments = ', '.join(_leading_type(piece, line) for piece in _pieces(match[3]))
    return match[2], f'{result} ({arguments})'


def _element(kind: str, indices: List[str], line: str) -> str:
    """Return the type of the element that `getelementptr` finds by the indices after the first."""
    for index in indices:
        inner = kind[1:-1].strip()
        if kind.startswith(('[', '<')):
            kind = inner.split(' x ', 1)[1]
        elif kind.startswith('{') and _CONSTANT_INDEX.match(index):
            kind = _pieces(inner)[int(_CONSTANT_INDEX.match(index)[1])]
        else:
            raise _unknown(line)
    return kind


def _unknown(line: str) -> ValueError:
    return ValueError(
        f'unknown form of LLVM text, which cannot be written with typed pointers: {line!r}'
    )


class _Lowering:
    """Translates the lines of a module.

    :param symbols: types of the global variables and functions by name
    """

    def __init__(self, symbols: Dict[str, str]):
        self.lines: List[str] = []
        self._symbols = symbols
        self._numbers = count(1)
        # Pointers defined in this function with a known type: type and name before their bitcast,
        # which is beside the pointer's definition, so it is valid wherever that is.
        self._known: Dict[str, Tuple[str, str]] = {}

    def line(self, line: str) -> None:
        """Translate one line."""
        if line.startswith(('define ', 'declare ')):
            # Names are local to a function.
            self._known = {}
            self.lines.append(self._intrinsic_names(line, line))
        elif line.startswith('@'):
            self._global(line)
        elif _TOUCHES_POINTERS.search(line):
            self._instruction(line)
        else:
            self.lines.append(line)

    def _global(self, line: str) -> None:
        match = _GLOBAL.match(line)
        if not match:
            raise _unknown(line)
        kind = self._symbols[match[1]]
        value = self._addresses(match[3][len(kind) :], line)
        self.lines.append(f'{match[1]} = {match[2]} {kind}{value}')

    def _instruction(self, line: str) -> None:
        match = _INSTRUCTION.match(line)
        if not match:
            raise _unknown(line)
        result, operation, rest = match.groups()
        special = {
            'getelementptr': self._getelementptr,
            'load': self._load,
            'store': self._store,
            'atomicrmw': self._atomicrmw,
            'alloca': self._alloca,
            'call': self._call,
        }.get(operation.split()[-1])
        if special:
            special(f'{result} = ' if result else '', operation, rest, line)
        elif operation in _INDIFFERENT:
            self.lines.append(self._addresses(line, line))
        else:
            raise _unknown(line)

    def _emit(self, text: str) -> None:
        self.lines.append(f'  {text}')

    def _new_name(self) -> str:
        return f'%typed.{next(self._numbers)}'

    def _pointer(self, name: str, kind: str, line: str) -> str:
        """Return the name of a pointer to a type, from that of any pointer."""
        if name.startswith('@'):
            if name not in self._symbols:
                raise _unknown(line)
            own = self._symbols[name]
            # A constant expression needs no line.
            return name if own == kind else f'bitcast ({own}* {name} to {kind}*)'
        if kind == 'i8':
            return name
        known, typed = self._known.get(name, ('', ''))
        if known != kind:
            # Not cached: it is valid from this line on, and another path may reach the text that
            # follows.
            typed = self._new_name()
            self._emit(f'{typed} = bitcast i8* {name} to {kind}*')
        return typed

    def _define(self, assignment: str, kind: str, text: str) -> None:
        """Name a pointer to a type, cast to a pointer to bytes."""
        name = assignment[: -len(' = ')]
        # All others become pointers to bytes.
        if kind == 'i8':
            self._emit(f'{assignment}{text}')
            return
        typed = self._new_name()
        self._emit(f'{typed} = {text}')
        self._emit(f'{assignment}bitcast {kind}* {typed} to i8*')
        self._known[name] = kind, typed

    def _getelementptr(self, assignment: str, operation: str, rest: str, line: str) -> None:
        bounds = 'inbounds ' if rest.startswith('inbounds ') else ''
        rest = rest[len(bounds) :]
        kind = _leading_type(rest, line)
        match = _POINTER_OPERAND.match(rest, len(kind) + 2)
        if not match or not assignment:
            raise _unknown(line)
        indices = _pieces(rest[match.end() + 1 :])
        pointer = self._pointer(match[1], kind, line)
        text = f'getelementptr {bounds}{kind}, {kind}* {pointer}, {", ".join(indices)}'
        self._define(assignment, _element(kind, indices[1:], line), text)

    def _load(self, assignment: str, operation: str, rest: str, line: str) -> None:
        atomic = 'atomic ' if rest.startswith('atomic ') else ''
        rest = rest[len(atomic) :]
        kind = _leading_type(rest, line)
        match = _POINTER_OPERAND.match(rest, len(kind) + 2)
        if not match:
            raise _unknown(line)
        pointer = self._pointer(match[1], kind, line)
        self._emit(f'{assignment}load {atomic}{kind}, {kind}* {pointer}{rest[match.end() :]}')

    def _store(self, assignment: str, operation: str, rest: str, line: str) -> None:
        kind = _leading_type(rest, line)
        match = _STORE.match(rest)
        if not match:
            raise _unknown(line)
        pointer = self._pointer(match[2], kind, line)
        self._emit(f'store {self._addresses(match[1], line)}, {kind}* {pointer}{match[3]}')

    def _atomicrmw(self, assignment: str, operation: str, rest: str, line: str) -> None:
        match = _ATOMICRMW.match(rest)
        if not match:
            raise _unknown(line)
        change, pointer, kind, value = match.groups()
        pointer = self._pointer(pointer, kind, line)
        self._emit(f'{assignment}atomicrmw {change} {kind}* {pointer}, {kind} {value}')

    def _alloca(self, assignment: str, operation: str, rest: str, line: str) -> None:
        self._define(assignment, _leading_type(rest, line), f'alloca {rest}')

    def _call(self, assignment: str, operation: str, rest: str, line: str) -> None:
        match = _CALL.match(rest)
        if not match:
            raise _unknown(line)
        result, function, passed, attributes = match.groups()
        if function.startswith('%'):
            # Called by its address: the arguments give the function's type.
            kinds = ', '.join(_leading_type(piece, line) for piece in _pieces(passed))
            kind = f'{_FLAGS.sub("", result, count=1).strip()} ({kinds})'
            function = self._pointer(function, kind, line)
        elif function not in self._symbols:
            raise _unknown(line)
        else:
            function = self._intrinsic_names(function, line)
        passed = self._addresses(passed, line)
        self._emit(f'{assignment}{operation} {result}{function}({passed}){attributes}')

    def _addresses(self, text: str, line: str) -> str:
        """Return the addresses of global variables and functions as pointers to bytes."""
        if 'getelementptr' in text or 'bitcast' in text or ' x i8*>' in text:
            raise _unknown(line)  # constant expressions and vectors of pointers
        if '@' not in text:
            return text
        return _SYMBOL.sub(lambda match: self._pointer(match[0], 'i8', line), text)

    def _intrinsic_names(self, text: str, line: str) -> str:
        """Return the names of intrinsic functions as they are with typed pointers."""

        def renamed(match: re.Match) -> str:
            if not match[0].startswith('@llvm.'):
                return match[0]
            # One that LLVM 11 lacks would be noticed only there.
            if not _INTRINSICS.match(match[0]):
                raise _unknown(line)
            return _POINTER_SUFFIX.sub('.p0i8', match[0])

        return _SYMBOL.sub(renamed, text)


__all__ = ['lower']
