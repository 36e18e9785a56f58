# SPDX-License-Identifier: Apache-2.0
"""Loops over data (contacts, solver sweeps, steps): what Python calls of them.

An entry point is compiled the first time on a machine, together with all it calls, and then only
loaded from the disk. It works on records (loop_records.py) and numbers, allocates nothing, and
never calls the interpreter.

Compiled is only what can be reached: where `if record.flag:` asks for a field that is a bool, its
value is known then, and the other branch is not even read.
"""

from __future__ import annotations

import ctypes
from functools import partial
import logging
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from rbd_ros.compiler import cache
from rbd_ros.compiler.loops import sources
from rbd_ros.compiler.loops.loop_records import Record
from rbd_ros.compiler.loops.vocabulary import compiled
from rbd_ros.compiler.runtime import builtin, handles, loop_builtin
from rbd_ros.compiler.source import source_digest
from rbd_ros.compiler.targets.llvm import native

# By its name, for its digest: it is imported only where something has to be compiled.
_COMPILER = 'rbd_ros.compiler.targets.llvm_loops.translation'
_NUMBERS = {
    'int': [ctypes.c_int64],
    'float': [ctypes.c_double],
    'bytes': [ctypes.c_char_p],
    'FloatArray': [ctypes.c_void_p, ctypes.c_int64],
}
_log = logging.getLogger('rbd_ros')
#: Says at INFO what is compiled: it takes seconds, of which commands inform on a terminal.
_progress = logging.getLogger('rbd_ros.compiler')


def entry_point(function: Callable[..., int]) -> EntryPoint:
    """Make a function what Python calls (decorator).

    :param function: takes records, then what is annotated as int, float, bytes or FloatArray, an
        array with one axis, whose length is -1 if it is not contiguous, or not of float64; returns
        an int
    """
    return EntryPoint(function)


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
        # By kinds of records: sizes and addresses are data, so robots share what is loaded.
        self._code: Dict[tuple, native.MachineCode] = {}

    def __call__(self, *arguments: Any) -> int:
        """Run the loop; other Python threads run meanwhile.

        :param arguments: records, then numbers
        """
        count = len(arguments) - len(self.numbers)
        return self.bind(*arguments[:count])(*arguments[count:])

    def bind(self, *records: Record, release_gil: bool = True) -> Callable[..., int]:
        """Return a function of the numbers alone.

        :param records: what it works on; kept as long as the function
        :param release_gil: whether other Python threads run meanwhile; False is cheaper for what
            takes microseconds
        """
        code = self._machine_code(records) if interpreted_reason() is None else None
        if code is None:
            # The very same text, in the interpreter.
            return partial(self.function, *(each.fields for each in records))
        # ctypes takes microseconds to convert arguments; a builtin reads them itself.
        if not release_gil and builtin.supported():
            return loop_builtin.make_loop_builtin(
                self.__name__,
                self.__doc__ or '',
                code.address('builtin'),
                code.global_address('context'),
                [each.address for each in records],
                (code, records),
            )
        # A CFUNCTYPE lets go of Python's lock and takes it back, a PYFUNCTYPE does not.
        make = ctypes.CFUNCTYPE if release_gil else ctypes.PYFUNCTYPE
        numbers = [word for kind in self.numbers for word in _NUMBERS[kind]]
        function = make(ctypes.c_int64, *[ctypes.c_int64] * len(records), *numbers)(
            code.address('entry')
        )
        bound: Any = partial(function, *(each.address for each in records))
        if 'FloatArray' in self.numbers:
            bound = partial(_call_with_arrays, bound)
        # Nothing else does: ctypes keeps neither the code nor what its arguments point at.
        bound.kept = (code, records)
        return bound

    def address(self, *records: Record) -> int:
        """Return address for `call_loop`, so that callers need not be compiled with all of it."""
        code = self._machine_code(records) if interpreted_reason() is None else None
        return handles.register(self.function) if code is None else code.address('entry')

    def _machine_code(self, records: Sequence[Record]) -> Optional[native.MachineCode]:
        """Return the machine code for records of these kinds: loaded, or compiled.

        None if it cannot be.
        """
        kinds = tuple(each.kind for each in records)
        key = kinds, native.optimization()
        if key not in self._code:
            self._code[key] = self._load(kinds)
        return self._code[key]

    def _load(self, kinds: Sequence[tuple]) -> Optional[native.MachineCode]:
        key = {
            'loop': [self._module, self.__name__],
            'kinds': kinds,
            'text': sources.digest(self.function),
            'compiler': source_digest(_COMPILER),
            # The digest of the text is one of byte code, which differs from version to version.
            'python': sys.version_info[:2],
            **native.versions(),
        }
        name = cache.entry_name(self.__name__, 'loop', cache.digest(key))
        entry = cache.load(name)
        if entry is not None:
            try:
                return native.MachineCode(entry[1])
            except RuntimeError:  # what cannot be read is as good as none
                pass
        try:
            # Here, not above: anyone who finds machine code on the disk has no need of a compiler.
            from rbd_ros.compiler.targets.llvm_loops.translation import object_file

            _progress.info('compiling %s.%s', self._module, self.__name__)
            code = object_file(self.function, kinds, self.numbers)
        except (OSError, RuntimeError, ValueError) as error:
            # Slow is better than dead, for a node that holds an arm.
            _log.warning('%s cannot be compiled, and is slow: %s', self.__name__, error)
            return None
        cache.store(name, {}, code)
        return native.MachineCode(code)


def _name(annotation: Any) -> str:
    """Return the name of an annotation as it is written."""
    # Texts where the module defers annotations (`from __future__ import annotations`).
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

    Not so in the interpreter, nor without a lock of the interpreter.
    """
    return interpreted_reason() is None and builtin.supported()


def interpreted_reason() -> Optional[str]:
    """Return the reason why loops run in the interpreter, None if they do not."""
    return native.unavailable_reason()
