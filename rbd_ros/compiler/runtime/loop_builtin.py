# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loops as builtin functions of CPython, whose call costs a tenth of a microsecond.

A loop is bound to the addresses of its records; a call passes numbers, bytes by the address of
their content, and arrays of floats by address and length. `loop_function` is the text; builtin.py
makes function objects of it.
"""

from __future__ import annotations

from typing import List, Sequence

from rbd_ros.compiler.runtime.builtin import LOOP_CONTEXT
from rbd_ros.compiler.runtime.memory_layouts import (
    CONTIGUOUS_ALIGNED,
    DATA,
    DESCR,
    DIMENSIONS,
    FLAGS,
    ND,
    TYPE,
)

_BYTES_DATA = bytes.__basicsize__ - 1  # offset of the content of a bytes object


def loop_function(records: int, numbers: Sequence[str]) -> str:
    """Return the text of `builtin`, which calls the loop `entry`, and of its table `context`.

    For a bytes object, the loop gets the address of its content. For an array, it gets the address
    of its numbers and their count, which is -1 for anything but a contiguous array of float64 with
    one axis: the loop reports that such a call is not supported. The builtin is bound to a bytes
    object with the addresses of the records.

    :param records: number of records of the loop
    :param numbers: kinds of the arguments of each call: int, float, bytes or FloatArray
    """
    lines, arguments = [], []
    for k in range(records):
        # Loading the addresses costs little, and keeps the code independent of the process, so
        # that it can be cached on disk.
        lines.append(f'  %p{k} = getelementptr i8, ptr %self, i64 {_BYTES_DATA + 8 * k}')
        lines.append(f'  %r{k} = load i64, ptr %p{k}')
        arguments.append(f'i64 %r{k}')
    for k, kind in enumerate(numbers):
        # METH_FASTCALL: arguments are an array of borrowed references, without a tuple.
        lines.append(f'  %slot{k} = getelementptr ptr, ptr %args, i64 {k}')
        lines.append(f'  %a{k} = load ptr, ptr %slot{k}')
        # A failed conversion sets an error, which is checked once after all of them.
        if kind == 'int':
            lines.append(f'  %n{k} = call i64 %as_int(ptr %a{k})')
        elif kind == 'float':
            lines.append(f'  %n{k} = call double %as_float(ptr %a{k})')
        elif kind == 'FloatArray':
            lines += _array(k)
            arguments.append(f'i64 %n{k}')
            arguments.append(f'i64 %length{k}')
            continue
        else:
            lines += [
                # Exactly bytes: a subclass may have its content elsewhere.
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
@context = global [{len(LOOP_CONTEXT)} x ptr] zeroinitializer
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
  %array_p = getelementptr ptr, ptr @context, i64 5
  %array = load ptr, ptr %array_p
  %float64_p = getelementptr ptr, ptr @context, i64 6
  %float64 = load ptr, ptr %float64_p
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


def _array(k: int) -> List[str]:
    """Return lines that set address `%n<k>` and `%length<k>` of the array argument `%a<k>`."""
    lines = []

    def field(name: str, kind: str, offset: int) -> str:
        lines.append(f'  %{name}_at{k} = getelementptr i8, ptr %a{k}, i64 {offset}')
        lines.append(f'  %{name}{k} = load {kind}, ptr %{name}_at{k}')
        return f'{kind} %{name}{k}'

    def require(condition: str, name: str) -> None:
        lines.append(f'  %is_{name}{k} = icmp eq {condition}')
        lines.append(f'  br i1 %is_{name}{k}, label %{name}_good{k}, label %odd{k}')
        lines.append(f'{name}_good{k}:')

    # The type first: only arrays have the other fields.
    require(f'{field("type", "ptr", TYPE)}, %array', 'type')
    # By identity: NumPy has one object for its float64 in native byte order.
    require(f'{field("descr", "ptr", DESCR)}, %float64', 'descr')
    require(f'{field("axes", "i32", ND)}, 1', 'axes')
    flags = field('flags', 'i32', FLAGS)
    lines.append(f'  %kept{k} = and {flags}, {CONTIGUOUS_ALIGNED}')
    require(f'i32 %kept{k}, {CONTIGUOUS_ALIGNED}', 'flags')
    field('data', 'i64', DATA)
    field('lengths', 'ptr', DIMENSIONS)
    lines += [
        f'  %first{k} = load i64, ptr %lengths{k}',
        f'  br label %given{k}',
        f'odd{k}:',
        f'  br label %given{k}',
        f'given{k}:',
        # An array of another kind is reported by a length of -1, which no array has.
        f'  %n{k} = phi i64 [ %data{k}, %flags_good{k} ], [ 0, %odd{k} ]',
        f'  %length{k} = phi i64 [ %first{k}, %flags_good{k} ], [ -1, %odd{k} ]',
    ]
    return lines
