"""Loops over data (contacts, solver sweeps, steps): machine code made by numba, used without it.

An entry point is what Python calls. The first time on a machine, it is compiled together with all
it calls, by a process of its own (compile_entry.py): numba and what it leaves behind would be two
thirds of the memory of a node. Here, only the finished machine code is loaded from the disk. It
works on records (records.py) and numbers, allocates nothing, and never calls the interpreter.

Compiled is only what can be reached: where `if record.flag:` asks for a field that is a bool, its
value is known then, and the other branch is not even read (sources.py).
"""

from __future__ import annotations

import ctypes
from functools import lru_cache, partial
import importlib.metadata
import importlib.util
import json
import logging
import os
from pathlib import Path
import struct
import subprocess
import sys
import tempfile
from typing import Any, Callable, Dict, List, Optional, Sequence

import numpy as np

from rbd_ros.compiler import cache
from rbd_ros.compiler.loops import sources
from rbd_ros.compiler.loops.records import Record
from rbd_ros.compiler.runtime import builtin, handles
from rbd_ros.compiler.source import source_digest
from rbd_ros.compiler.targets.llvm import native

#: What an entry point returns if its machine code raised, which it has no reason to.
RAISED = -(2**63)

_FOLDER_OF_PACKAGE = Path(__file__).resolve().parents[3]
_COMPILER = 'rbd_ros.compiler.loops.compile_entry'
_NUMBERS = {'int': ctypes.c_int64, 'float': ctypes.c_double, 'bytes': ctypes.c_char_p}
_log = logging.getLogger('rbd_ros')


def call_kernel(address: int, inputs: np.ndarray, outputs: np.ndarray) -> None:
    """Run a robot's kernel: all inputs one after another, and room for the outputs."""
    inputs, outputs = inputs.reshape(-1), outputs.reshape(-1)
    if native.why_unavailable() is not None:
        handles.call(address, inputs, outputs)
    else:
        function = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
        function(inputs.ctypes.data, outputs.ctypes.data)


def call_loop(address: int, record: Any, count: int) -> int:
    """Run an entry point of one record and a number, by its address."""
    return handles.loop(address)(record, count)


def vector(size: int) -> np.ndarray:
    """Room for intermediate results, on the stack in machine code: the size is a literal."""
    return np.empty(size)


def matrix(rows: int, columns: int) -> np.ndarray:
    """Likewise, with two dimensions."""
    return np.empty((rows, columns))


def word_at(data: bytes, at: int) -> int:
    """Eight bytes as an integer, aligned or not; nothing guards the bounds in machine code."""
    return struct.unpack_from('=q', data, at)[0]


def double_at(data: bytes, at: int) -> float:
    """Eight bytes as a floating-point number, likewise."""
    return struct.unpack_from('=d', data, at)[0]


def compiled(function: Callable) -> Callable:
    """Make a function part of the entry points that call it; Python itself may call it too.

    Numba compiles it once, and LLVM merges it into its callers if it is small.
    """
    function.is_compiled = True
    return function


def entry_point(function: Callable[..., int]) -> EntryPoint:
    """Make a function what Python calls (decorator).

    :param function: takes records, then what is annotated as int, float or bytes; returns an int
    """
    return EntryPoint(function)


class EntryPoint:
    """A compiled loop; without numba, or without a compiler, the same in the interpreter.

    :param function: the loop
    """

    def __init__(self, function: Callable[..., int]):
        self.function = compiled(function)
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._module = function.__module__
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        kinds = [function.__annotations__[name] for name in names]
        kinds = [kind if isinstance(kind, str) else kind.__name__ for kind in kinds]
        self.numbers = tuple(kind for kind in kinds if kind in _NUMBERS)
        self._code: Dict[tuple, native.MachineCode] = {}

    def __call__(self, *arguments: Any) -> int:
        """Run the loop; other Python threads run meanwhile.

        :param arguments: records, then numbers
        """
        count = len(arguments) - len(self.numbers)
        result = self.bind(*arguments[:count])(*arguments[count:])
        if result == RAISED:
            raise RuntimeError(f'the machine code of {self.__name__} failed')
        return result

    def bind(self, *records: Record, keep_lock: bool = False) -> Callable[..., int]:
        """Return a function of the numbers alone.

        :param records: what it works on; kept as long as the function
        :param keep_lock: whether other Python threads have to wait meanwhile, which is cheaper for
            what takes microseconds
        """
        code = self._machine_code(records) if why_interpreted() is None else None
        if code is None:
            # The very same text, in the interpreter.
            return partial(self.function, *(each.fields for each in records))
        if keep_lock and builtin.supported():
            return builtin.make_loop_builtin(
                self.__name__,
                self.__doc__ or '',
                code.address('builtin'),
                code.global_address('context'),
                [each.address for each in records],
                (code, records),
            )
        # A CFUNCTYPE lets go of Python's lock and takes it back, a PYFUNCTYPE does not.
        make = ctypes.PYFUNCTYPE if keep_lock else ctypes.CFUNCTYPE
        numbers = [_NUMBERS[kind] for kind in self.numbers]
        function = make(ctypes.c_int64, *[ctypes.c_int64] * len(records), *numbers)(
            code.address('entry')
        )
        bound = partial(function, *(each.address for each in records))
        bound.kept = (code, records)
        return bound

    def address(self, *records: Record) -> int:
        """Address for `call_loop`: so that what calls it need not be compiled with all of it."""
        code = self._machine_code(records) if why_interpreted() is None else None
        return handles.register(self.function) if code is None else code.address('entry')

    def _machine_code(self, records: Sequence[Record]) -> Optional[native.MachineCode]:
        """Machine code for records of these kinds: loaded, or compiled; None if it cannot be."""
        kinds = tuple(each.kind for each in records)
        if kinds not in self._code:
            self._code[kinds] = self._load(kinds)
        return self._code[kinds]

    def _load(self, kinds: Sequence[tuple]) -> Optional[native.MachineCode]:
        key = {
            'loop': [self._module, self.__name__],
            'kinds': kinds,
            'text': sources.digest(self.function),
            'compiler': source_digest(_COMPILER),
            'python': sys.version_info[:2],
            'numba': importlib.metadata.version('numba'),
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
            object_file = _compile_aside(self._module, self.__name__, kinds)
        except (OSError, ValueError) as error:
            # Slow is better than dead, for a node that holds an arm.
            _log.warning('%s cannot be compiled, and is slow: %s', self.__name__, error)
            return None
        cache.store(name, {}, object_file)
        return native.MachineCode(object_file)


@lru_cache(maxsize=1)
def why_interpreted() -> Optional[str]:
    """Reason why loops run in the interpreter, None if they do not."""
    reason = native.why_unavailable()
    if reason is None:
        try:
            if importlib.util.find_spec('numba') is None:
                reason = 'numba is not installed (pip install numba)'
        except ImportError as error:
            reason = str(error)
    return reason


def _compile_aside(module: str, name: str, kinds: Sequence[tuple]) -> bytes:
    """Object file of an entry point, from a process that ends with its compilation.

    :raises OSError, ValueError: if that fails
    """
    # With our own path: the entry point may be a user's, from a folder that no one else knows.
    environment = {
        **os.environ,
        'PYTHONPATH': os.pathsep.join([str(_FOLDER_OF_PACKAGE), *filter(None, sys.path)]),
    }
    request = json.dumps({'module': module, 'name': name, 'kinds': kinds})
    command = [sys.executable, '-m', _COMPILER]
    pipe = subprocess.PIPE
    with (
        tempfile.TemporaryFile() as complaints,
        # In a session of its own: an interrupt from the terminal is for the one who waits.
        subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=complaints,
            env=environment,
            start_new_session=True,
        ) as process,
    ):
        try:
            process.stdin.write(f'{request}\n'.encode())
            process.stdin.flush()  # not closed: its end would tell that nobody waits any more
            object_file = process.stdout.read()
            status = process.wait()
        except BaseException:
            process.kill()
            raise
        if status or not object_file:
            complaints.seek(0)
            last: List[str] = complaints.read().decode(errors='replace').strip().splitlines()
            raise ValueError(last[-1] if last else f'exit code {status}')
    return object_file
