"""What compiled loops work on, as numba sees it: records, and the arrays that they point at.

Numba's own arrays can be strided, own memory, and count from the end: each is a struct of seven
and more words, taken apart and put together at every access. The arrays of a record are borrowed
and contiguous, and loops count from 0. A `View` is therefore an address and the shape, an access
one multiplication and one load, and a loop a tenth of the LLVM text, which is what the time of a
compilation is spent on.

Imported only by the process that compiles (compile_entry.py).
"""

from __future__ import annotations

import hashlib
import math
import operator
from typing import Any, List, Optional, Sequence, Tuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_global,
    signature,
)
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_builtin,
    lower_getattr,
    lower_getattr_generic,
    models,
    register_model,
)

WORD = ir.IntType(64)


class View(types.Type):
    """Contiguous array of numbers that somebody else owns.

    :param dtype: float64 or int64
    :param ndim: number of its dimensions, 1 or more
    """

    def __init__(self, dtype: types.Type, ndim: int):
        self.dtype, self.ndim = dtype, ndim
        super().__init__(f'View({dtype}, {ndim})')


@register_model(View)
class _ViewModel(models.StructModel):
    def __init__(self, data_model_manager: Any, view: View):
        members = [('data', types.CPointer(view.dtype))]
        members += [(f'n{k}', types.int64) for k in range(view.ndim)]
        super().__init__(data_model_manager, view, members)


class RecordType(types.Type):
    """Type of a record in numba, told apart by names and kinds of its fields.

    :param kind: as in `Record`
    """

    def __init__(self, kind: tuple):
        # The name is in every symbol: all of the kind there would be most of the LLVM text.
        digest = hashlib.sha256(repr(kind).encode()).hexdigest()
        super().__init__(f'{kind[0]}_{digest[:16]}')
        self.places = {}
        word = 0
        for name, what, detail in kind[1]:
            if what == 'constant':  # known to sources.py, which has put it in its place
                continue
            self.places[name] = word, self._field_type(what, detail)
            word += 1 if what == 'record' else 1 + detail

    @staticmethod
    def _field_type(what: str, detail: Any) -> types.Type:
        if what == 'record':
            return RecordType(detail)
        scalar = types.float64 if what == 'float64' else types.int64
        return View(scalar, detail) if detail else scalar


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):
    # A word, the address of the table: as an argument it costs one register, whatever it holds.
    def __init__(self, data_model_manager: Any, record: RecordType):
        super().__init__(data_model_manager, record, WORD)


@infer_getattr
class _RecordAttributes(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record: RecordType, name: str) -> Any:
        place = record.places.get(name)
        return place[1] if place else None


@lower_getattr_generic(RecordType)
def _read_field(context: Any, builder: Any, record: RecordType, value: Any, name: str) -> Any:
    word, field_type = record.places[name]
    table = builder.inttoptr(value, WORD.as_pointer())

    def read(k: int) -> Any:
        number = builder.load(builder.gep(table, [ir.Constant(WORD, word + k)]))
        # A record does not change while a loop runs, whatever the loop writes into its arrays.
        number.set_metadata('invariant.load', builder.module.add_metadata([]))
        return number

    if field_type is types.float64:
        return builder.bitcast(read(0), ir.DoubleType())
    if not isinstance(field_type, View):
        return read(0)
    shape = [read(1 + k) for k in range(field_type.ndim)]
    return make_view(context, builder, field_type, read(0), shape)


def make_view(
    context: Any, builder: Any, view: View, address: Any, shape: Sequence[Any]
) -> ir.Value:
    """View of the memory at an address.

    :param address: an integer or a pointer to the first number
    :param shape: as many integers as the view has dimensions
    """
    proxy = cgutils.create_struct_proxy(view)(context, builder)
    if isinstance(address.type, ir.IntType):
        address = builder.inttoptr(address, proxy.data.type)
    proxy.data = address
    for k, size in enumerate(shape):
        setattr(proxy, f'n{k}', size)
    return proxy._getvalue()


def _parts(context: Any, builder: Any, view: View, value: Any) -> Tuple[Any, List[Any]]:
    """Pointer and shape of a view."""
    proxy = cgutils.create_struct_proxy(view)(context, builder, value)
    return proxy.data, [getattr(proxy, f'n{k}') for k in range(view.ndim)]


# -- x[i], x[i, j] --------------------------------------------------------------------------------


def _indices(view: types.Type, index: types.Type) -> Optional[Tuple[types.Type, int]]:
    """Type of an index that fits a view, and how many dimensions it settles; else None."""
    if not isinstance(view, View):
        return None
    if isinstance(index, types.Integer):
        return types.int64, 1
    # Fewer indices than dimensions give a part of the array, which is contiguous too.
    if isinstance(index, types.BaseTuple) and 1 <= len(index) <= view.ndim:
        if all(isinstance(each, types.Integer) for each in index):
            return types.UniTuple(types.int64, len(index)), len(index)
    return None


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Any:
        found = _indices(*args)
        if found is None:
            return None
        (view, _), (index, count) = args, found
        left = view.ndim - count
        return signature(View(view.dtype, left) if left else view.dtype, view, index)


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Any:
        view, index, _ = args
        found = _indices(view, index)
        if found is None or found[1] != view.ndim:
            return None
        return signature(types.none, view, found[0], view.dtype)


def _element(
    context: Any, builder: Any, view: View, value: Any, index: types.Type, at: Any
) -> Tuple[Any, List[Any]]:
    """Pointer to an element or to the first one of a part, and the shape of that part."""
    data, shape = _parts(context, builder, view, value)
    numbers = [at] if isinstance(index, types.Integer) else cgutils.unpack_tuple(builder, at)
    offset = numbers[0]
    for k in range(1, view.ndim):
        offset = builder.mul(offset, shape[k])
        if k < len(numbers):
            offset = builder.add(offset, numbers[k])
    return builder.gep(data, [offset]), shape[len(numbers) :]


@lower_builtin(operator.getitem, View, types.Integer)
@lower_builtin(operator.getitem, View, types.BaseTuple)
def _get_item(context: Any, builder: Any, sig: Any, args: tuple) -> Any:
    view, index = sig.args
    pointer, shape = _element(context, builder, view, args[0], index, args[1])
    if shape:
        return make_view(context, builder, sig.return_type, pointer, shape)
    return builder.load(pointer)


@lower_builtin(operator.setitem, View, types.Integer, types.Any)
@lower_builtin(operator.setitem, View, types.BaseTuple, types.Any)
def _set_item(context: Any, builder: Any, sig: Any, args: tuple) -> Any:
    # Without a check of bounds: tests run the same text in Python, which has them.
    view, index, _ = sig.args
    pointer, _ = _element(context, builder, view, args[0], index, args[1])
    builder.store(args[2], pointer)


# -- len(x), x.shape ------------------------------------------------------------------------------


@infer_global(len)
class _Length(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Any:
        (view,) = args
        return signature(types.int64, view) if isinstance(view, View) else None


@lower_builtin(len, View)
def _length(context: Any, builder: Any, sig: Any, args: tuple) -> Any:
    return _parts(context, builder, sig.args[0], args[0])[1][0]


@infer_getattr
class _ViewAttributes(AttributeTemplate):
    key = View

    def resolve_shape(self, view: View) -> types.Type:
        return types.UniTuple(types.int64, view.ndim)


@lower_getattr(View, 'shape')
def _shape(context: Any, builder: Any, view: View, value: Any) -> Any:
    return cgutils.pack_array(builder, _parts(context, builder, view, value)[1])


# -- what entry_points.py offers ------------------------------------------------------------------


def _on_stack(sizes: Tuple[Any, ...]) -> Any:
    """What an intrinsic returns that makes an array of literal sizes on the stack."""
    if not all(isinstance(size, types.IntegerLiteral) for size in sizes):
        return None
    numbers = [size.literal_value for size in sizes]

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        # Once, at the entry of the function: in a loop, each round would take more of the stack.
        memory = cgutils.alloca_once(builder, ir.ArrayType(ir.DoubleType(), math.prod(numbers)))
        address = builder.bitcast(memory, ir.DoubleType().as_pointer())
        shape = [ir.Constant(WORD, number) for number in numbers]
        return make_view(context, builder, sig.return_type, address, shape)

    return View(types.float64, len(sizes))(*sizes), generate


@intrinsic(prefer_literal=True)
def vector(typing_context: Any, size: Any) -> Any:
    """See entry_points.py."""
    return _on_stack((size,))


@intrinsic(prefer_literal=True)
def matrix(typing_context: Any, rows: Any, columns: Any) -> Any:
    """See entry_points.py."""
    return _on_stack((rows, columns))


def _choosing(operator_of_numbers: str) -> Any:
    """Make an intrinsic that chooses one of two numbers as Python's min and max do.

    :param operator_of_numbers: which, second to first, the second is chosen by
    """

    @intrinsic
    def choose(typing_context: Any, first: Any, second: Any) -> Any:
        both = (first, second)
        is_float = any(isinstance(each, types.Float) for each in both)
        kind = types.float64 if is_float else types.int64

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            compare = builder.fcmp_ordered if is_float else builder.icmp_signed
            return builder.select(compare(operator_of_numbers, args[1], args[0]), *args[::-1])

        return kind(kind, kind), generate

    return choose


minimum, maximum = _choosing('<'), _choosing('>')


def _reading(number_type: types.Type, llvm_type: ir.Type) -> Any:
    """Make an intrinsic that reads a number at any place."""

    @intrinsic
    def read(typing_context: Any, data: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            address = builder.add(*args)
            # Numbers in a message lie where its strings let them.
            return builder.load(builder.inttoptr(address, llvm_type.as_pointer()), align=1)

        return number_type(types.int64, types.int64), generate

    return read


word_at = _reading(types.int64, WORD)
double_at = _reading(types.float64, ir.DoubleType())


@intrinsic
def call_kernel(typing_context: Any, address: Any, inputs: Any, outputs: Any) -> Any:
    """See entry_points.py."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = [_parts(context, builder, *pair)[0] for pair in zip(sig.args[1:], args[1:])]
        # By its address, which is data: the same loop serves every robot.
        function = ir.FunctionType(ir.VoidType(), [pointer.type for pointer in data])
        builder.call(builder.inttoptr(args[0], function.as_pointer()), data)
        return context.get_dummy_value()

    return types.void(types.int64, inputs, outputs), generate


@intrinsic
def call_loop(typing_context: Any, address: Any, record: Any, count: Any) -> Any:
    """See entry_points.py."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = ir.FunctionType(WORD, [WORD, WORD])
        return builder.call(builder.inttoptr(args[0], function.as_pointer()), args[1:])

    return types.int64(types.int64, record, types.int64), generate
