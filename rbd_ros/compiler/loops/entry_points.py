# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Entry points of loops over data (contacts, solver sweeps, steps), called from Python.

An entry point is compiled once per machine, together with all functions that it calls, and then
loaded from disk. It works on records (loop_records.py) and numbers, allocates nothing, and never
calls the interpreter. `entry_point_of` names one by its module, which is imported only to compile
it.

Only reachable code is compiled: a condition `if record.flag:` on a bool field is a compile-time
constant, and the other branch is not even read.
"""

from __future__ import annotations

import ctypes
from functools import cached_property, partial
from importlib import import_module
import logging
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.compiler import cache
from rbd_ros.compiler.loops import sources
from rbd_ros.compiler.loops.loop_records import Record
from rbd_ros.compiler.loops.vocabulary import compiled, NamedFunction
from rbd_ros.compiler.runtime import builtin, handles, native
from rbd_ros.compiler.source import source_digest

# By name, for its digest: imported only for compilation.
_COMPILER = 'rbd_ros.compiler.targets.llvm_loops.translation'
_NUMBERS = {
    'int': [ctypes.c_int64],
    'float': [ctypes.c_double],
    'bytes': [ctypes.c_char_p],
    'FloatArray': [ctypes.c_void_p, ctypes.c_int64],
}
_log = logging.getLogger('rbd_ros')
#: Reason why all loops are interpreted despite a compiler; see `EntryPoint.address`.
_compile_failure: Optional[str] = None
#: Logs compilation at INFO, which takes seconds; commands show it on a terminal.
_progress = logging.getLogger('rbd_ros.compiler')


def entry_point(function: Callable[..., int]) -> EntryPoint:
    """Make a function callable from Python as machine code (decorator).

    :param function: takes records, then arguments annotated as int, float, bytes or FloatArray, an
        array with one axis, whose length is -1 if it is not contiguous, or not of float64; returns
        an int
    """
    return EntryPoint(function)


def entry_point_of(module: str, name: str) -> EntryPoint:
    """Return an entry point whose module is imported only if there is no machine code for it.

    The source of a loop is in many files. If machine code for this source is on disk, none of them
    is imported.

    :param module: dotted name of its module in this package
    :param name: its name there
    :raises ValueError: for a module of another package, which the digest does not cover
    """
    package = __name__.partition('.')[0]
    if module.partition('.')[0] != package:
        raise ValueError(f'{module!r} is not a module of {package}: import the entry point')
    return _NamedEntryPoint(module, name)


class EntryPoint:
    """A compiled loop; without a compiler, the same in the interpreter.

    :param function: the loop
    """

    def __init__(self, function: Callable[..., int]):
        self.function = compiled(function)
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._module = function.__module__
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        kinds = [_name(function.__annotations__[name]) for name in names]
        self.numbers = tuple(kind for kind in kinds if kind in _NUMBERS)
        # By kinds of records: sizes and addresses are data, so robots share the code.
        self._code: Dict[tuple, native.MachineCode] = {}

    def __call__(self, *arguments: Any) -> int:
        """Run the loop; other Python threads run meanwhile.

        :param arguments: records, then numbers
        """
        count = sum(isinstance(each, Record) for each in arguments)
        return self.bind(*arguments[:count])(*arguments[count:])

    def bind(self, *records: Record, release_gil: bool = True) -> Callable[..., int]:
        """Return a function of the numbers alone.

        :param records: the records, kept alive by the function
        :param release_gil: whether other Python threads run meanwhile; False is cheaper for calls
            of microseconds
        """
        code = self._machine_code(records) if interpreted_reason() is None else None
        if code is None:
            # The same source, in the interpreter.
            return partial(self.function, *(each.fields for each in records))
        # ctypes takes microseconds to convert arguments; a builtin reads them itself.
        if not release_gil and builtin.supported():
            return builtin.make_loop_builtin(
                self.__name__,
                self.__doc__ or '',
                code.address('builtin'),
                code.global_address('context'),
                [each.address for each in records],
                (code, records),
            )
        # A CFUNCTYPE releases the GIL, a PYFUNCTYPE does not.
        make = ctypes.CFUNCTYPE if release_gil else ctypes.PYFUNCTYPE
        numbers = [word for kind in self.numbers for word in _NUMBERS[kind]]
        function = make(ctypes.c_int64, *[ctypes.c_int64] * len(records), *numbers)(
            code.address('entry')
        )
        bound: Any = partial(function, *(each.address for each in records))
        if 'FloatArray' in self.numbers:
            bound = partial(_call_with_arrays, bound)
        # ctypes keeps neither the code nor its arguments alive.
        bound.kept = (code, records)
        return bound

    def address(self, *records: Record) -> int:
        """Return the address for `call_loop`: callers need not include all of the code."""
        global _compile_failure
        if interpreted_reason() is None:
            code = self._machine_code(records)
            if code is not None:
                return code.address('entry')
            # Machine code cannot call Python: from now on, loops that would are interpreted too.
            _compile_failure = f'{self.__name__} cannot be compiled'
        return handles.register(self.function)

    def _machine_code(self, records: Sequence[Record]) -> Optional[native.MachineCode]:
        """Return the machine code for records of these kinds, loaded or compiled, or None."""
        kinds = tuple(each.kind for each in records)
        key = kinds, native.optimization()
        if key not in self._code:
            self._code[key] = self._load(kinds)
        return self._code[key]

    def entry_name(self, kinds: Sequence[tuple]) -> str:
        """Return the name on disk of the machine code for records of some kinds."""
        text = {'text': sources.digest(self.function), 'kinds': _text_of(kinds, _code_digest)}
        return _entry_name(self.__name__, 'loop', self._module, text)

    def _load(self, kinds: Sequence[tuple]) -> Optional[native.MachineCode]:
        name = self.entry_name(kinds)
        code = _loaded(name)
        if code is not None:
            return code
        try:
            # Imported here: machine code on disk needs no compiler.
            from rbd_ros.compiler.targets.llvm_loops.translation import object_file

            _progress.info('compiling %s.%s', self._module, self.__name__)
            code = object_file(self.function, kinds, self.numbers)
        except (OSError, RuntimeError, ValueError) as error:
            # A slow loop is better than none, for a node that holds an arm.
            _log.warning('%s cannot be compiled, and is slow: %s', self.__name__, error)
            return None
        cache.store(name, {}, code)
        return native.MachineCode(code)


class _NamedEntryPoint(EntryPoint):
    """Entry point of a module that may never be imported.

    Elsewhere the key of machine code is a digest of byte code, without comments. Here it is a
    digest of the source of the module and of all its imports.

    :param module: dotted name of the module
    :param name: name of the entry point
    """

    def __init__(self, module: str, name: str):
        self._module, self.__name__ = module, name
        self._code = {}

    @cached_property
    def _defined(self) -> EntryPoint:
        defined: EntryPoint = getattr(import_module(self._module), self.__name__)
        return defined

    @cached_property
    def function(self) -> Callable[..., int]:  # type: ignore[override]
        """The loop."""
        return self._defined.function

    @cached_property
    def numbers(self) -> Tuple[str, ...]:  # type: ignore[override]
        """Kinds of its numbers."""
        return self._defined.numbers

    def _load(self, kinds: Sequence[tuple]) -> Optional[native.MachineCode]:
        text = {'texts': source_digest(self._module), 'kinds': _text_of(kinds, _text_digest)}
        place = _entry_name(self.__name__, 'place', self._module, text)
        known = cache.load(place)
        if known is not None:
            code = _loaded(known[0]['entry'])
            if code is not None:
                self.numbers, self.__doc__ = tuple(known[0]['numbers']), known[0]['doc']
                return code
        defined = self._defined
        self.__doc__ = defined.__doc__
        code = defined._load(kinds)
        if code is not None:
            entry = defined.entry_name(kinds)
            about = {'entry': entry, 'numbers': defined.numbers, 'doc': defined.__doc__ or ''}
            cache.store(place, about, b'')
        return code


def _entry_name(name: str, part: str, module: str, text: Dict[str, Any]) -> str:
    """Return the name on disk of machine code for a loop and its source."""
    key = {
        'loop': [module, name],
        **text,
        'compiler': source_digest(_COMPILER),
        # A digest of byte code depends on the version of Python.
        'python': sys.version_info[:2],
        **native.versions(),
    }
    return cache.entry_name(name, part, cache.digest(key))


def _loaded(entry_name: str) -> Optional[native.MachineCode]:
    """Return machine code from disk; None if there is none or it is unreadable."""
    entry = cache.load(entry_name)
    try:
        return None if entry is None else native.MachineCode(entry[1])
    except RuntimeError:  # unreadable: as if there were none
        return None


def _text_of(kind: Any, digest: Callable[[Any], str]) -> Any:
    """Return the kinds of records with the digests of functions in their place."""
    if isinstance(kind, tuple):
        return [_text_of(each, digest) for each in kind]
    return digest(kind) if callable(kind) else kind


def _code_digest(function: Any) -> str:
    return sources.digest(function.function if isinstance(function, NamedFunction) else function)


def _text_digest(function: Any) -> str:
    """Return a digest without importing a module."""
    if isinstance(function, NamedFunction):
        return f'{function.name} {source_digest(function.module)}'
    return sources.digest(function)


def _name(annotation: Any) -> str:
    """Return the name of an annotation in the source."""
    # Strings, if the module defers annotations (`from __future__ import annotations`).
    if isinstance(annotation, str):
        return annotation
    return 'FloatArray' if annotation == NDArray[np.float64] else str(annotation.__name__)


def _call_with_arrays(function: Callable[..., int], *numbers: Any) -> int:
    """Call a function of ctypes that takes arrays by address and length."""
    words: List[Any] = []
    for each in numbers:
        if isinstance(each, np.ndarray):
            plain = each.dtype == np.float64 and each.ndim == 1 and each.flags.c_contiguous
            words += [each.ctypes.data, len(each)] if plain else [None, -1]
        else:
            words.append(each)
    return function(*words)


def excludes_threads() -> bool:
    """Return whether a loop bound with `release_gil=False` runs while no other thread does.

    It does not in the interpreter, nor in a Python without a GIL.
    """
    return interpreted_reason() is None and builtin.supported()


def interpreted_reason() -> Optional[str]:
    """Return the reason why loops run in the interpreter, None if they do not."""
    return native.unavailable_reason() or _compile_failure
