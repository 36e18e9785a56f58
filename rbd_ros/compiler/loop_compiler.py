"""Compiles one entry point of loops.py: a process of its own, the only one that imports numba.

    python -m rbd_ros.compiler.loop_compiler < request > object file

The request is a line of JSON: module and name of the entry point, kinds of its records. The end of
the input before the end of the work ends the process: nobody waits for the result any more.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
import threading
from typing import Any, Tuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
)
from numba.np.arrayobj import populate_array

from rbd_ros.compiler import builtin, native

_OPTIMISATION = 3  # of code generation, as numba does it
_WORD = ir.IntType(64)
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


class RecordType(types.Type):
    """Type of a record in numba, told apart by names and kinds of its fields.

    :param kind: as in `Record`
    """

    def __init__(self, kind: tuple):
        self.kind = kind
        super().__init__(f'Record({kind})')
        self.places = {}
        word = 0
        for name, what, detail in kind[1]:
            self.places[name] = word, self._field_type(what, detail)
            word += 1 if what == 'record' else 1 + detail

    @staticmethod
    def _field_type(what: str, detail: Any) -> types.Type:
        if what == 'record':
            return RecordType(detail)
        scalar = types.float64 if what == 'float64' else types.int64
        return types.Array(scalar, detail, 'C') if detail else scalar


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, data_model_manager: Any, numba_type: RecordType):
        super().__init__(data_model_manager, numba_type, _WORD)


@infer_getattr
class _RecordAttributes(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, numba_type: RecordType, name: str) -> Any:
        place = numba_type.places.get(name)
        return place[1] if place else None


@lower_getattr_generic(RecordType)
def _read_field(context: Any, builder: Any, numba_type: RecordType, value: Any, name: str) -> Any:
    word, field_type = numba_type.places[name]
    table = builder.inttoptr(value, _WORD.as_pointer())

    def read(k: int) -> Any:
        return builder.load(builder.gep(table, [ir.Constant(_WORD, word + k)]))

    if field_type is types.float64:
        return builder.bitcast(read(0), ir.DoubleType())
    if not isinstance(field_type, types.Array):
        return read(0)
    shape = [read(1 + k) for k in range(field_type.ndim)]
    return _array(context, builder, field_type, read(0), shape)


def _array(context: Any, builder: Any, array_type: Any, address: Any, shape: list) -> Any:
    """Numba's view of memory that somebody else owns."""
    array = context.make_array(array_type)(context, builder)
    strides = [ir.Constant(_WORD, 8)]
    for size in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], size))
    populate_array(
        array,
        data=builder.inttoptr(address, array.data.type),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=ir.Constant(_WORD, 8),
        meminfo=None,
    )
    return array._getvalue()


def _on_stack(signature: types.Type, sizes: Tuple[Any, ...]) -> Any:
    """What an intrinsic returns that makes an array of literal sizes on the stack."""
    if not all(isinstance(size, types.IntegerLiteral) for size in sizes):
        return None
    numbers = [size.literal_value for size in sizes]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        memory = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), math.prod(numbers)))
        shape = [ir.Constant(_WORD, number) for number in numbers]
        address = builder.ptrtoint(memory, _WORD)
        return _array(context, builder, signature.return_type, address, shape)

    return signature, generate


@intrinsic(prefer_literal=True)
def vector(typing_context: Any, size: Any) -> Any:
    """See loops.py."""
    return _on_stack(types.Array(types.float64, 1, 'C')(size), (size,))


@intrinsic(prefer_literal=True)
def matrix(typing_context: Any, rows: Any, columns: Any) -> Any:
    """See loops.py."""
    return _on_stack(types.Array(types.float64, 2, 'C')(rows, columns), (rows, columns))


def _reading(number_type: types.Type, llvm_type: ir.Type) -> Any:
    """Make an intrinsic that reads a number at any place."""

    @intrinsic
    def read(typing_context: Any, data: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            address = builder.add(*arguments)
            return builder.load(builder.inttoptr(address, llvm_type.as_pointer()), align=1)

        return number_type(types.int64, types.int64), generate

    return read


word_at = _reading(types.int64, _WORD)
double_at = _reading(types.float64, ir.DoubleType())


@intrinsic
def call_loop(typing_context: Any, address: Any, first: Any, second: Any, count: Any) -> Any:
    """See loops.py."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = ir.FunctionType(_WORD, [_WORD] * 3)
        return builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])

    return types.int64(types.int64, first, second, types.int64), generate


def compile_entry(entry: Any, kinds: Tuple[tuple, ...]) -> bytes:
    """Object file with the function `entry`, and all it calls.

    :param entry: the entry point
    :param kinds: kinds of its records
    """
    from rbd_ros.compiler.loops import RAISED

    signature = (*map(RecordType, kinds), *(_NUMBERS[kind][0] for kind in entry.numbers))
    entry.function.compile(signature)
    (compiled,) = entry.function.overloads.values()
    of_llvm = ['i64' for _ in kinds] + [_NUMBERS[kind][1] for kind in entry.numbers]
    arguments = [f'{kind} %a{k}' for k, kind in enumerate(of_llvm)]
    text = _ENTRY.format(
        name=compiled.fndesc.llvm_func_name,
        declared=', '.join(['ptr', 'ptr', *of_llvm]),
        parameters=', '.join(arguments),
        arguments=''.join(f', {each}' for each in arguments),
        raised=RAISED,
    )
    text += builtin.loop_function(len(kinds), entry.numbers)
    library = entry.function.inspect_llvm(compiled.signature.args)
    return native.assemble([(text, [])], _OPTIMISATION, library)


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
    entry = getattr(importlib.import_module(request['module']), request['name'])
    object_file = compile_entry(entry, _kind(request['kinds']))
    sys.stdout.buffer.write(object_file)


if __name__ == '__main__':
    # Not this module, which runs as __main__, but the one that the loops import.
    from rbd_ros.compiler import loop_compiler

    loop_compiler.main()
