"""Loops as builtin functions of CPython, whose call costs a tenth of a microsecond.

A loop is bound to the addresses of its records; a call passes numbers, and bytes by the address of
their content. `loop_function` is the text, `make_loop_builtin` the function object. What all
builtins have in common is in builtin.py.
"""

from __future__ import annotations

import ctypes
import struct
from typing import Callable, Sequence

from rbd_ros.compiler.runtime.builtin import METH_FASTCALL, new_builtin
from rbd_ros.compiler.runtime.layouts import TYPE

_BYTES_DATA = bytes.__basicsize__ - 1  # where the content of a bytes object begins
# What machine code of a loop needs of the interpreter, in the order of its table `context`.
_LOOP_CONTEXT = (
    'PyLong_AsLongLong',
    'PyFloat_AsDouble',
    'PyLong_FromLongLong',
    'bytes type',
    'PyErr_Occurred',
)


def loop_function(records: int, numbers: Sequence[str]) -> str:
    """Text of the function `builtin` that calls the loop `entry`, and of its table `context`.

    Of a bytes object, the loop gets the address of its content. Addresses of the records are the
    content of the bytes object that the builtin is bound to.

    :param records: how many records the loop works on
    :param numbers: kinds of what is passed at each call: int, float or bytes
    """
    lines, arguments = [], []
    for k in range(records):
        lines.append(f'  %p{k} = getelementptr i8, ptr %self, i64 {_BYTES_DATA + 8 * k}')
        lines.append(f'  %r{k} = load i64, ptr %p{k}')
        arguments.append(f'i64 %r{k}')
    for k, kind in enumerate(numbers):
        lines.append(f'  %slot{k} = getelementptr ptr, ptr %args, i64 {k}')
        lines.append(f'  %a{k} = load ptr, ptr %slot{k}')
        # What cannot be converted sets an error, for which is asked once, after all of them.
        if kind == 'int':
            lines.append(f'  %n{k} = call i64 %as_int(ptr %a{k})')
        elif kind == 'float':
            lines.append(f'  %n{k} = call double %as_float(ptr %a{k})')
        else:
            lines += [
                f'  %type_p{k} = getelementptr i8, ptr %a{k}, i64 {TYPE}',
                f'  %type{k} = load ptr, ptr %type_p{k}',
                f'  %is_bytes{k} = icmp eq ptr %type{k}, %bytes',
                f'  br i1 %is_bytes{k}, label %next{k}, label %wrong',
                f'next{k}:',
                f'  %data{k} = getelementptr i8, ptr %a{k}, i64 {_BYTES_DATA}',
                f'  %n{k} = ptrtoint ptr %data{k} to i64',
            ]
        arguments.append(f'{"double" if kind == "float" else "i64"} %n{k}')
    body = '\n'.join(lines)
    return f"""
@context = global [{len(_LOOP_CONTEXT)} x ptr] zeroinitializer
define ptr @builtin(ptr %self, ptr %args, i64 %nargs) nounwind {{
  %as_int = load ptr, ptr @context
  %as_float_p = getelementptr ptr, ptr @context, i64 1
  %as_float = load ptr, ptr %as_float_p
  %from_int_p = getelementptr ptr, ptr @context, i64 2
  %from_int = load ptr, ptr %from_int_p
  %bytes_p = getelementptr ptr, ptr @context, i64 3
  %bytes = load ptr, ptr %bytes_p
  %occurred_p = getelementptr ptr, ptr @context, i64 4
  %occurred = load ptr, ptr %occurred_p
  %enough = icmp eq i64 %nargs, {len(numbers)}
  br i1 %enough, label %begin, label %wrong
begin:
{body}
  %error = call ptr %occurred()
  %good = icmp eq ptr %error, null
  br i1 %good, label %run, label %wrong
run:
  %result = call i64 @entry({', '.join(arguments)})
  %answer = call ptr %from_int(i64 %result)
  ret ptr %answer
wrong:
  ret ptr null
}}
"""


# A class of its own, since a bytes object has no attributes.
class _Addresses(bytes):
    """What a loop is bound to: the addresses of its records, and what must live as long."""


def make_loop_builtin(
    name: str, doc: str, address: int, context: int, addresses: Sequence[int], kept: object
) -> Callable[..., int]:
    """Builtin function object of the loop whose `builtin` is at `address`; it keeps the GIL.

    Called with the wrong number of arguments, or anything but bytes for bytes, it raises a
    SystemError.

    :param context: address of the table `context` of the same code, filled here
    :param addresses: addresses of the records
    :param kept: what must live as long as the function
    """
    api = ctypes.pythonapi
    functions = (api.PyLong_AsLongLong, api.PyFloat_AsDouble, api.PyLong_FromLongLong)
    *values, occurred = (
        ctypes.cast(each, ctypes.c_void_p).value for each in (*functions, api.PyErr_Occurred)
    )
    for k, value in enumerate((*values, id(bytes), occurred)):
        ctypes.c_void_p.from_address(context + 8 * k).value = value
    bound = _Addresses(struct.pack(f'={len(addresses)}q', *addresses))
    bound.kept = kept
    return new_builtin(name, doc, address, METH_FASTCALL, bound)
