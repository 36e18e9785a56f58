# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kernels: functions of arrays, traced from an algorithm and compiled for one robot.

A `Kernel` is called with one state or with a batch of them. Underneath are the functions of
kernel_functions.py, made when they are first needed and kept on disk (cache.py). Without a
compiler an `InterpretedKernel` does the same on floats.
"""

from __future__ import annotations

import ctypes
from dataclasses import asdict
from functools import cached_property
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.compiler import cache
from rbd_ros.compiler.program import Definition, Program
from rbd_ros.compiler.runtime import builtin, call_table, handles, native, result_pool
from rbd_ros.compiler.runtime.batches import BatchFunction, estimated_seconds
from rbd_ros.compiler.runtime.call_table import CallTable, generator
from rbd_ros.compiler.symbol_graph import OperationCount

_FLOAT64 = np.dtype(np.float64)

Array = NDArray[np.float64]
#: Result of a kernel: an array, a number, or a named tuple of these.
Result = Union[Array, float, Tuple[Any, ...]]
#: LLVM text of a function, and the declarations that it needs.
Function = Tuple[str, List[str]]


class BaseKernel:
    """Base class of compiled and interpreted kernels: checks and broadcasts arguments."""

    def __init__(self, definition: Definition):
        self.definition = definition
        self._shapes = [output.shape for output in definition.outputs]
        self.__name__ = definition.name
        self.__doc__ = definition.doc

    def __reduce__(self) -> Tuple[Any, ...]:
        raise TypeError(
            f'the kernel {self.__name__} holds machine code of this process and cannot be '
            'pickled; pickle the robot and get the kernel from it in the other process'
        )

    def __copy__(self) -> BaseKernel:
        return self  # it does not change

    def __deepcopy__(self, _: Any) -> BaseKernel:
        return self

    @property
    def input_sizes(self) -> Tuple[int, ...]:
        """Sizes of the input arrays."""
        return tuple(size for _, size in self.definition.inputs)

    @property
    def output_size(self) -> int:
        """Number of elements of all outputs together."""
        return self.definition.size

    @cached_property
    def function(self) -> Callable[..., Result]:
        """This kernel as a function of arrays, a builtin where possible."""
        return self.bind(builtin.Fallback(type(self).__call__, self))

    def bind(
        self,
        fallback: builtin.Fallback,
        name: Optional[str] = None,
        doc: Optional[str] = None,
    ) -> Callable[..., Result]:
        """Return the fastest function that runs the kernel.

        Arguments other than plain arrays go to `fallback`.

        :param fallback: callable that keeps this kernel alive; its holder, if it has one, gets
            single arrays
        :param name: name of the function, that of the kernel if None
        :param doc: its documentation, that of the kernel if None
        :return: a builtin of machine code where possible, else `fallback` itself
        """
        return fallback

    def __call__(self, *arrays: ArrayLike, out: Any = None) -> Result:
        """Evaluate for one state, arrays (n,), or a batch, arrays (N, n).

        A single state is broadcast to a batch.

        :param out: array for the result, of float64, contiguous and of the right shape; a sequence
            of such if there are several outputs
        :return: the output; a named tuple if there are several. An output of shape () is a number
            for a single state, else an array
        :raises ValueError: if a shape or dtype is wrong
        """
        arguments, rows = self._arguments(arrays)
        shapes = self._shapes if rows is None else [(rows, *shape) for shape in self._shapes]
        if out is None:
            outputs = [np.empty(shape) for shape in shapes]
        else:
            outputs = self._destinations(out, shapes)
            arguments = [
                # A kernel stores results before it has read all inputs. Comparing bounds of memory
                # is fast, and may copy unnecessarily.
                x.copy() if any(np.may_share_memory(x, y) for y in outputs) else x
                for x in arguments
            ]
        if rows is None:
            self._single(arguments, outputs)
            # A number is returned as a float, but `out` as it is.
            returned = [x if x.ndim or out is not None else float(x) for x in outputs]
        else:
            self._batch(arguments, rows, outputs)
            returned = outputs
        result = self.definition.result
        return returned[0] if result is None else result(*returned)

    def _single(self, arguments: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Write the results of one state into arrays."""
        raise NotImplementedError

    def _batch(self, arguments: Sequence[Array], rows: int, outputs: Sequence[Array]) -> None:
        """Write the results of a batch into arrays; a single state is broadcast."""
        raise NotImplementedError

    def _destinations(self, out: Any, shapes: Sequence[Tuple[int, ...]]) -> List[Array]:
        """Return the caller's arrays for the results, checked."""
        name, declared = self.definition.name, self.definition.outputs
        given = [out] if self.definition.result is None else list(out)
        if len(given) != len(declared):
            raise ValueError(f'{name}(): out must hold {len(declared)} arrays, got {len(given)}')
        for k, (array, output, shape) in enumerate(zip(given, declared, shapes)):
            if type(array) is not np.ndarray or array.shape != shape or array.dtype != _FLOAT64:
                kind = type(array).__name__
                if isinstance(array, np.ndarray):
                    kind = f'{array.dtype} of shape {array.shape}'
                raise ValueError(
                    f'{name}(): out for {output.name} must be a float64 array of shape {shape}, '
                    f'got {kind}'
                )
            if not array.flags.carray:
                raise ValueError(
                    f'{name}(): out for {output.name} must be contiguous, aligned and writeable'
                )
            if any(np.may_share_memory(array, other) for other in given[:k]):
                raise ValueError(f'{name}(): out for {output.name} shares memory with another')
        return given

    def _arguments(self, arrays: Sequence[Any]) -> Tuple[List[Array], Optional[int]]:
        inputs, numbers = self.definition.inputs, self.definition.numbers
        drawn = self.definition.drawn
        # Only the last ones may be absent; missing required ones are None here.
        absent = [
            generator().random(size) if name in drawn else numbers.get(name)
            for name, size in inputs[len(arrays) :]
        ]
        if len(arrays) > len(inputs) or any(x is None for x in absent):
            names = ', '.join(name for name, _ in inputs)
            raise TypeError(
                f'{self.definition.name}() takes {len(inputs)} arrays ({names}), got {len(arrays)}'
            )
        arguments: List[Array] = []
        rows, first = None, ''
        for (name, size), given in zip(inputs, [*arrays, *absent]):
            array = self._float_array(name, given)
            if name in numbers:
                axes = np.ndim(given)  # of one, a contiguous array has made an axis
                if axes > 1:
                    raise ValueError(
                        f'{self.definition.name}(): {name} must be a number or have shape (N,), '
                        f'got {np.shape(given)}'
                    )
                array = array.reshape((-1, 1)) if axes else array.reshape(1)
            if array.ndim not in (1, 2) or array.shape[-1] != size:
                raise ValueError(
                    f'{self.definition.name}(): {name} must have shape ({size},) or (N, {size}), '
                    f'got {array.shape}'
                )
            if array.ndim == 2:
                if rows is not None and rows != len(array):
                    raise ValueError(
                        f'{self.definition.name}(): {first} has {rows} rows but {name} has '
                        f'{len(array)}'
                    )
                rows, first = len(array), name
            arguments.append(array)
        return arguments, rows

    def _float_array(self, name: str, given: Any) -> np.ndarray:
        # Fast path: a suitable array is recognized by its header.
        if type(given) is np.ndarray and given.dtype is _FLOAT64 and given.flags.carray:
            return given
        try:
            array = np.asarray(given)
        except ValueError as error:
            raise ValueError(
                f'{self.definition.name}(): {name} is not an array of numbers: {error}'
            ) from None
        if array.dtype.kind not in 'fiu':
            raise ValueError(
                f'{self.definition.name}(): {name} must hold real numbers, got dtype {array.dtype}'
            )
        # Read-only arrays come here too, without a copy.
        return np.ascontiguousarray(array, dtype=np.float64)


class InterpretedKernel(BaseKernel):
    """A kernel run on floats by the interpreter: slow, and the same to rounding."""

    count: Optional[OperationCount] = None

    @cached_property
    def address(self) -> int:
        """Handle for `rbd_ros.compiler.loops.numba_call.call_kernel`."""
        splits = np.cumsum(self.input_sizes)[:-1]

        def run(packed: np.ndarray, out: np.ndarray) -> None:
            outputs = [np.empty(shape) for shape in self._shapes]
            self._single(np.split(packed[: sum(self.input_sizes)], splits), outputs)
            out[: self.output_size] = np.concatenate([array.ravel() for array in outputs])

        return handles.register(run)

    def _single(self, arguments: Sequence[Array], outputs: Sequence[Array]) -> None:
        for array in outputs:
            # As in a kernel: NaN unless all inputs are finite.
            array.fill(np.nan)
        if all(np.isfinite(x).all() for x in arguments):
            try:
                # Python floats: operations of NumPy scalars take several times as long.
                flat = self.definition.interpret(*(x.tolist() for x in arguments))
            # Python raises where machine code gives an infinity or NaN.
            except (ZeroDivisionError, OverflowError):
                return
            for array, values in zip(outputs, flat):
                array[...] = np.array(values, dtype=float).reshape(array.shape)

    def _batch(self, arguments: Sequence[Array], rows: int, outputs: Sequence[Array]) -> None:
        for k in range(rows):
            row = [x[k] if x.ndim == 2 else x for x in arguments]
            self._single(row, [array[k : k + 1] for array in outputs])


class Kernel(BaseKernel):
    """A compiled kernel."""

    def __init__(self, definition: Definition, check: Optional[Callable[[], None]] = None):
        super().__init__(definition)
        self._check = check
        # the key precedes tracing: with machine code on disk nothing is traced
        self._digest = cache.digest(
            {
                **definition.key,
                'function': definition.name,
                'inputs': definition.inputs,
                'outputs': definition.outputs,
                'numbers': definition.numbers,
                'tangents': [(tangent.input, tangent.count) for tangent in definition.tangents],
                # Machine code of another processor or LLVM is another entry.
                **native.versions(),
            }
        )
        self._single_code, self.count = self._code('one', self._single_functions)
        self.address = self._single_code.address('packed')
        self._own_results = result_pool.pooled_results(definition.outputs, definition.result)
        self._batch_code: Optional[native.MachineCode] = None
        self._rows: Optional[BatchFunction] = None
        self._call_table: Optional[CallTable] = None
        if builtin.supported() and CallTable.fits(definition):
            # Created with the kernel, since builtins take its address when they are bound.
            one = self._single_code.address('table')
            self._call_table = CallTable(definition, one, call_table.routine(), self._own_results)

    def bind(
        self,
        fallback: builtin.Fallback,
        name: Optional[str] = None,
        doc: Optional[str] = None,
    ) -> Callable[..., Result]:
        """See `BaseKernel.bind`."""
        if not builtin.supported():
            return fallback
        code, definition = self._single_code, self.definition
        return builtin.make_builtin(
            name or definition.name,
            doc or definition.doc,
            code.address('builtin'),
            code.global_address('context'),
            fallback,
            result_pool.addresses(self._own_results),
            (call_table.routine()[1], self._call_table.address) if self._call_table else (0, 0),
        )

    def call_with_forces(self, links: Sequence[str], other: Kernel) -> None:
        """Make builtins of this kernel forward calls with external forces to another kernel's.

        :param links: links with forces, which the other takes after this one's inputs
        """
        if self._call_table is not None and builtin.supported():
            code = other._single_code
            self._call_table.allow_forces(links, code.address('builtin'), other.function.__self__)

    def _trace(self) -> Program:
        if self._check is not None:
            self._check()
        return self.definition.program(inner_products=True)

    def _code(
        self,
        part: str,
        build: Callable[[Program], List[Function]],
    ) -> Tuple[native.MachineCode, OperationCount]:
        """Return the machine code of a part and its operations, from disk or newly made."""
        name = cache.entry_name(self.definition.name, part, self._digest)
        entry = cache.load(name)
        if entry is not None:
            header, object_file = entry
            try:
                return native.MachineCode(object_file), OperationCount(**header['count'])
            except (KeyError, TypeError, RuntimeError):  # unreadable: as if there were none
                pass
        with native.compile_lock, native.uncollected():
            program = self._trace()
            # Functions with `simd_hint` keep an order that needs few registers: derivatives of an
            # arm are 4 to 10 % faster in it, others mostly slower.
            in_order = bool(program.graph.simd_hints)
            object_file = native.assemble(build(program), in_order)
        cache.store(name, {'count': asdict(program.count)}, object_file)
        return native.MachineCode(object_file), program.count

    # Both import the writers of LLVM text only for compilation: the imports take a tenth of the
    # start time with all machine code on disk.
    def _single_functions(self, program: Program) -> List[Function]:
        from rbd_ros.compiler.runtime.kernel_builtin import builtin_function
        from rbd_ros.compiler.targets.llvm import kernel_functions

        definition = self.definition
        called = builtin_function(definition.inputs, definition.outputs, definition.numbers)
        return [kernel_functions.core_function(program), (called, [])]

    def _batch_functions(self, program: Program) -> List[Function]:
        from rbd_ros.compiler.targets.llvm import kernel_functions

        return [kernel_functions.batch_function(program, native.simd_lanes())]

    @cached_property
    def _core(self) -> Callable:
        pointers = [ctypes.c_void_p] * (len(self.definition.inputs) + len(self._shapes))
        # A PYFUNCTYPE keeps the GIL, whose release takes longer than a kernel.
        return ctypes.PYFUNCTYPE(None, *pointers)(self._single_code.address('core'))

    def _compile_batch(self) -> BatchFunction:
        with native.compile_lock:
            # Another thread may have compiled it while this one waited for the lock.
            if self._rows is None:
                self._batch_code, count = self._code('batch', self._batch_functions)
                numbers = sum(self.input_sizes) + self.output_size
                rows = BatchFunction(
                    self._batch_code.address('batch'),
                    numbers,
                    estimated_seconds(count, numbers),
                )
                if self._call_table is not None:
                    self._call_table.allow_batches(rows)
                self._rows = rows
        return self._rows

    def _single(self, arguments: Sequence[Array], outputs: Sequence[Array]) -> None:
        self._core(*(x.ctypes.data for x in (*arguments, *outputs)))

    def _batch(self, arguments: Sequence[Array], rows: int, outputs: Sequence[Array]) -> None:
        lanes = native.simd_lanes()
        # Fewer rows than lanes; otherwise the last group overlaps the one before.
        if rows < lanes:
            for k in range(rows):
                row = [x[k] if x.ndim == 2 else x for x in arguments]
                self._single(row, [array[k : k + 1] for array in outputs])
            return
        (self._rows or self._compile_batch())(arguments, outputs, rows)


def make_kernel(
    definition: Definition, check: Optional[Callable[[], None]] = None
) -> Union[Kernel, InterpretedKernel]:
    """Return the kernel of a definition: compiled if there is a compiler, else interpreted.

    :param check: raises if the definition is invalid; called before the algorithm is first traced,
        and not at all if its machine code is on disk
    """
    if not native.unavailable_reason():
        return Kernel(definition, check)
    if check is not None:
        check()
    return InterpretedKernel(definition)
