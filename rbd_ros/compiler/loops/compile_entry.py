"""Compiles one entry point of a loop: a process of its own, the only one that imports numba.

    python -m rbd_ros.compiler.loops.compile_entry < request > object file

The request is a line of JSON: module and name of the entry point, kinds of its records. The end of
the input before the end of the work ends the process: nobody waits for the result any more.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import threading
from typing import Any, Tuple

from numba import types

from rbd_ros.compiler import loops
from rbd_ros.compiler.loops import array_types, library, sources
from rbd_ros.compiler.runtime import builtin

_NUMBERS = {
    'int': (types.int64, 'i64'),
    'float': (types.float64, 'double'),
    'bytes': (types.int64, 'i64'),  # where they are
}

# What numba's function is called with: places for the result and for what it raised.
_ENTRY = """
declare i32 @"{name}"({declared})
define i64 @entry({parameters}) {{
  %result = alloca i64
  %error = alloca ptr
  store i64 0, ptr %result
  %status = call i32 @"{name}"(ptr %result, ptr %error{arguments})
  %value = load i64, ptr %result
  %good = icmp eq i32 %status, 0
  %answer = select i1 %good, i64 %value, i64 {raised}
  ret i64 %answer
}}
"""


# What is more than Python to machine code: functions of entry_points.py, and two of Python's own.
_INTRINSICS = {
    getattr(loops, name): getattr(array_types, name)
    for name in ('call_kernel', 'call_loop', 'double_at', 'matrix', 'vector', 'word_at')
}
_CHOICES = {'minimum': array_types.minimum, 'maximum': array_types.maximum}


def compile_entry(entry: loops.EntryPoint, kinds: Tuple[tuple, ...]) -> bytes:
    """Object file with the function `entry`, and all it calls.

    :param entry: the entry point
    :param kinds: kinds of its records
    """
    sources.specialise(kinds)
    dispatcher = library.Loops(_INTRINSICS, _CHOICES).dispatcher(entry.function)
    records = map(array_types.RecordType, kinds)
    dispatcher.compile((*records, *(_NUMBERS[kind][0] for kind in entry.numbers)))
    (compiled,) = dispatcher.overloads.values()
    of_llvm = ['i64' for _ in kinds] + [_NUMBERS[kind][1] for kind in entry.numbers]
    arguments = [f'{kind} %a{k}' for k, kind in enumerate(of_llvm)]
    text = _ENTRY.format(
        name=compiled.fndesc.llvm_func_name,
        declared=', '.join(['ptr', 'ptr', *of_llvm]),
        parameters=', '.join(arguments),
        arguments=''.join(f', {each}' for each in arguments),
        raised=loops.RAISED,
    )
    text += builtin.loop_function(len(kinds), entry.numbers)
    return library.object_file(compiled.library, text, ['entry', 'builtin', 'context'])


def _kind(value: Any) -> Any:
    """Kinds as they were before they were JSON: lists are tuples."""
    return tuple(_kind(each) for each in value) if isinstance(value, list) else value


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(1)


def main() -> None:
    """Answer the request on the standard input."""
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    gc.disable()  # the process ends before there is anything worth looking for
    entry = getattr(importlib.import_module(request['module']), request['name'])
    object_file = compile_entry(entry, _kind(request['kinds']))
    sys.stdout.buffer.write(object_file)


if __name__ == '__main__':
    main()
