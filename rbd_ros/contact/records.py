"""Named tuples of arrays and numbers, passed to compiled functions by one address.

In plain Python `record(fields)` is the tuple itself. For numba it is a small table in memory:
numbers, and addresses and shapes of arrays. A compiled function reads `fields.name` from that
table; the arrays it gets are borrowed, so the record must outlive the call. Passing a hundred
arrays one by one would cost a call microseconds, and numba minutes.
"""

from __future__ import annotations

from typing import Any, List, NamedTuple

import numpy as np

from rbd_ros.contact.compiled import COMPILED

if COMPILED:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import (
        infer_getattr,
        lower_getattr_generic,
        models,
        NativeValue,
        register_model,
        typeof_impl,
        unbox,
    )
    from numba.np.arrayobj import populate_array


def record(fields: NamedTuple) -> Any:
    """What to pass to compiled functions for a named tuple of arrays, numbers and such tuples.

    :raises TypeError: for a field of any other kind
    """
    return Record(fields) if COMPILED else fields


class Record:
    """Table of a named tuple, kept together with the arrays that it points at.

    :param fields: the named tuple; its arrays must not be replaced, its numbers are copied
    """

    def __init__(self, fields: NamedTuple):
        self.fields = fields
        words: List[np.ndarray] = []
        kinds: List[tuple] = []
        self._nested = []
        for name, value in zip(fields._fields, fields):
            if isinstance(value, tuple):
                nested = Record(value)
                self._nested.append(nested)
                kinds.append((name, 'record', nested.kind))
                words.append(np.array([nested.address]))
            elif isinstance(value, np.ndarray):
                if not value.flags.c_contiguous or value.dtype not in (np.float64, np.int64):
                    raise TypeError(f'{name} must be a contiguous array of float64 or int64')
                kinds.append((name, value.dtype.name, value.ndim))
                words.append(np.array([value.ctypes.data, *value.shape]))
            elif isinstance(value, (int, float)):
                number = np.array([value])
                kinds.append((name, number.dtype.name, 0))
                words.append(number.view(np.int64))
            else:
                raise TypeError(f'{name} must be an array or a number, got {type(value).__name__}')
        self._table = np.concatenate(words).astype(np.int64)
        self.kind = (type(fields).__name__, tuple(kinds))
        self.address = int(self._table.ctypes.data)
        if COMPILED:
            self._numba_type_ = RecordType(self.kind)  # where numba looks first, on every call


if COMPILED:

    class RecordType(types.Type):
        """Type of a record in numba, told apart by names and kinds of its fields."""

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

    @typeof_impl.register(Record)
    def _type_of_record(value: Record, context: Any) -> RecordType:
        return value._numba_type_

    @register_model(RecordType)
    class _RecordModel(models.PrimitiveModel):
        def __init__(self, data_model_manager: Any, numba_type: RecordType):
            super().__init__(data_model_manager, numba_type, ir.IntType(64))

    @unbox(RecordType)
    def _unbox_record(numba_type: RecordType, value: Any, context: Any) -> NativeValue:
        number = context.pyapi.object_getattr_string(value, 'address')
        address = context.pyapi.long_as_longlong(number)
        context.pyapi.decref(number)
        return NativeValue(address)

    @infer_getattr
    class _RecordAttributes(AttributeTemplate):
        key = RecordType

        def generic_resolve(self, numba_type: RecordType, name: str) -> Any:
            place = numba_type.places.get(name)
            return place[1] if place else None

    @lower_getattr_generic(RecordType)
    def _read_field(
        context: Any, builder: Any, numba_type: RecordType, value: Any, name: str
    ) -> Any:
        word, field_type = numba_type.places[name]
        table = builder.inttoptr(value, ir.IntType(64).as_pointer())

        def read(k: int) -> Any:
            return builder.load(builder.gep(table, [ir.Constant(ir.IntType(64), word + k)]))

        if field_type is types.float64:
            return builder.bitcast(read(0), ir.DoubleType())
        if not isinstance(field_type, types.Array):
            return read(0)
        array = context.make_array(field_type)(context, builder)
        shape = [read(1 + k) for k in range(field_type.ndim)]
        strides = [ir.Constant(ir.IntType(64), 8)]
        for size in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], size))
        populate_array(
            array,
            data=builder.inttoptr(read(0), array.data.type),
            shape=cgutils.pack_array(builder, shape),
            strides=cgutils.pack_array(builder, strides),
            itemsize=ir.Constant(ir.IntType(64), 8),
            meminfo=None,
        )
        return array._getvalue()
