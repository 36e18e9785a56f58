"""Kernels: functions of arrays, traced from an algorithm and compiled for one robot.

A `Kernel` is called with one state or with a batch of them. Underneath are the functions of
functions.py, made when they are first needed and kept on disk (cache.py). Without a compiler an
`InterpretedKernel` does the same on floats.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
import ctypes
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache, partial
import logging
import math
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from rbd_ros.compiler import builtin, cache, functions, handles, native
from rbd_ros.compiler.graph import Graph, OperationCount, Value

_FLOAT64 = np.dtype(np.float64)
_ROWS_PER_TASK = 256
_ALIGNMENT = 64  # of the widest vectors
_BATCH = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64
)
_log = logging.getLogger('rbd_ros')


def _processors() -> int:
    """Processors that this process may use."""
    return (
        len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1
    )


def _initial_threads() -> int:
    text = os.environ.get('RBD_ROS_NUM_THREADS', '')
    if text.isdecimal() and int(text) > 0:
        return int(text)
    if text not in ('', '0'):
        _log.warning('RBD_ROS_NUM_THREADS is %r, which is no number: it is ignored', text)
    return _processors()


_threads = _initial_threads()


def set_threads(count: int) -> None:
    """Choose how many threads share a large batch; 1 keeps everything on the caller's.

    :raises ValueError: if not positive
    """
    global _threads
    if count < 1:
        raise ValueError(f'the number of threads must be positive, got {count}')
    _threads = int(count)


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=_processors(), thread_name_prefix='rbd_ros')


os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads


@dataclass(frozen=True)
class Definition:
    """What a kernel computes.

    :param name: name of the function, for messages
    :param inputs: names and sizes of the input arrays
    :param shape: shape of the output array for one state
    :param evaluate: from lists of scalars, one for each input, to the flat list of outputs
    :param key: what decides the result of `evaluate`, as JSON values, for the cache on disk
    :param doc: documentation of the callable
    """

    name: str
    inputs: Tuple[Tuple[str, int], ...]
    shape: Tuple[int, ...]
    evaluate: Callable[..., Sequence[Any]]
    key: Dict[str, Any]
    doc: str = ''

    @property
    def size(self) -> int:
        """Number of outputs."""
        return math.prod(self.shape)


class BaseKernel:
    """What compiled and interpreted kernels share: checking and broadcasting of arguments."""

    def __init__(self, definition: Definition):
        self.definition = definition
        self.__name__ = definition.name
        self.__doc__ = definition.doc

    @property
    def input_sizes(self) -> Tuple[int, ...]:
        """Sizes of the input arrays."""
        return tuple(size for _, size in self.definition.inputs)

    @property
    def output_size(self) -> int:
        """Number of outputs."""
        return self.definition.size

    @cached_property
    def function(self) -> Callable[..., np.ndarray]:
        """This kernel as a function of arrays, a builtin where possible."""
        return self.bind(partial(type(self).__call__, self))

    def bind(self, fallback: partial) -> Callable[..., np.ndarray]:
        """Function that runs the kernel as fast as can be; what is not plain arrays, `fallback`.

        :param fallback: callable that keeps this kernel alive, always of one type, since the
            machine code has one way to call it
        :return: a builtin of machine code where possible, else `fallback` itself
        """
        return fallback

    def __call__(self, *arrays) -> np.ndarray:
        """Evaluate for one state, arrays (n,), or a batch, arrays (N, n).

        A single state is repeated for a batch.

        :raises ValueError: if a shape or dtype is wrong
        """
        arguments, rows = self._arguments(arrays)
        if rows is None:
            return self._single(arguments)
        return self._batch(
            [x if x.ndim == 2 else np.repeat(x[None], rows, axis=0) for x in arguments], rows
        )

    def _arguments(self, arrays: Sequence[Any]) -> Tuple[List[np.ndarray], Optional[int]]:
        inputs = self.definition.inputs
        if len(arrays) != len(inputs):
            names = ', '.join(name for name, _ in inputs)
            raise TypeError(
                f'{self.definition.name}() takes {len(inputs)} arrays ({names}), got {len(arrays)}'
            )
        arguments: List[np.ndarray] = []
        rows, first = None, ''
        for (name, size), given in zip(inputs, arrays):
            array = self._float_array(name, given)
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
        return np.ascontiguousarray(array, dtype=np.float64)


class InterpretedKernel(BaseKernel):
    """A kernel run on floats by the interpreter: slow, and the same to rounding."""

    count: Optional[OperationCount] = None

    @cached_property
    def address(self) -> int:
        """Handle for `rbd_ros.compiler.numba_call.call_kernel`."""
        splits = np.cumsum(self.input_sizes)[:-1]

        def run(packed: np.ndarray, out: np.ndarray) -> None:
            out[: self.output_size] = self._single(
                np.split(packed[: sum(self.input_sizes)], splits)
            ).ravel()

        return handles.register(run)

    def _single(self, arguments: Sequence[np.ndarray]) -> np.ndarray:
        if not all(np.isfinite(x).all() for x in arguments):
            return np.full(self.definition.shape, np.nan)
        try:
            flat = self.definition.evaluate(*(x.tolist() for x in arguments))
        except (ZeroDivisionError, OverflowError):
            return np.full(self.definition.shape, np.nan)
        return np.array(flat, dtype=float).reshape(self.definition.shape)

    def _batch(self, arguments: Sequence[np.ndarray], rows: int) -> np.ndarray:
        out = np.empty((rows, *self.definition.shape))
        for k in range(rows):
            out[k] = self._single([x[k] for x in arguments])
        return out


class Kernel(BaseKernel):
    """A compiled kernel."""

    def __init__(self, definition: Definition, check: Optional[Callable[[], None]] = None):
        super().__init__(definition)
        self._check = check
        # the key is taken before tracing: with the machine code on disk nothing is ever traced
        self._digest = cache.digest(
            {
                **definition.key,
                'function': definition.name,
                'inputs': definition.inputs,
                'shape': definition.shape,
                **native.versions(),
            }
        )
        self._single_code, self.count = self._code(
            'one',
            lambda graph, outputs: [
                functions.core_function(graph, definition.inputs, outputs),
                (builtin.builtin_function(definition.inputs, definition.shape), []),
            ],
        )
        self.address = self._single_code.address('packed')
        self._batch_code: Optional[native.MachineCode] = None
        self._run_rows: Optional[Callable[..., None]] = None

    def bind(self, fallback: partial) -> Callable[..., np.ndarray]:
        """See `BaseKernel.bind`."""
        if not builtin.supported():
            return fallback
        code, definition = self._single_code, self.definition
        return builtin.make_builtin(
            definition.name,
            definition.doc,
            code.address('builtin'),
            code.global_address('context'),
            fallback,
        )

    def _trace(self) -> Tuple[Graph, List[Value]]:
        """Graph and outputs, from running the algorithm on symbols."""
        if self._check is not None:
            self._check()
        graph = Graph()
        outputs = list(
            self.definition.evaluate(*(graph.inputs(*pair) for pair in self.definition.inputs))
        )
        if len(outputs) != self.definition.size:
            raise AssertionError(
                f'{self.definition.name}: {len(outputs)} outputs, shape {self.definition.shape}'
            )
        return graph, outputs

    def _code(
        self,
        part: str,
        build: Callable[[Graph, List[Value]], list],
    ) -> Tuple[native.MachineCode, OperationCount]:
        """Machine code of a part and its operations, from disk or made anew."""
        name = cache.entry_name(self.definition.name, part, self._digest)
        entry = cache.load(name)
        if entry is not None:
            header, object_file = entry
            try:
                return native.MachineCode(object_file), OperationCount(**header['count'])
            except (KeyError, TypeError, RuntimeError):  # what cannot be read is as good as none
                pass
        with native.compile_lock:
            graph, outputs = self._trace()
            count = graph.count(outputs)
            object_file = native.assemble(build(graph, outputs))
        cache.store(name, {'count': asdict(count)}, object_file)
        return native.MachineCode(object_file), count

    @cached_property
    def _core(self) -> Callable:
        pointers = [ctypes.c_void_p] * (len(self.definition.inputs) + 1)
        return ctypes.PYFUNCTYPE(None, *pointers)(self._single_code.address('core'))

    def _compile_batch(self) -> Callable:
        with native.compile_lock:
            if self._run_rows is None:
                lanes = native.simd_lanes()
                self._batch_code, _ = self._code(
                    'batch',
                    lambda graph, outputs: [
                        functions.batch_function(graph, self.definition.inputs, outputs, lanes)
                    ],
                )
                self._run_rows = _BATCH(self._batch_code.address('batch'))
        return self._run_rows

    def _single(self, arguments: Sequence[np.ndarray]) -> np.ndarray:
        out = np.empty(self.definition.shape)
        self._core(*(x.ctypes.data for x in arguments), out.ctypes.data)
        return out

    def _batch(self, arguments: Sequence[np.ndarray], rows: int) -> np.ndarray:
        function = self._run_rows or self._compile_batch()
        lanes = native.simd_lanes()
        scratch_bytes = 8 * functions.scratch_size(
            self.definition.inputs, self.definition.size, lanes
        )
        out = np.empty((max(rows, lanes), *self.definition.shape))
        if 0 < rows < lanes:
            arguments = [
                np.concatenate([x, np.repeat(x[-1:], lanes - rows, axis=0)]) for x in arguments
            ]
        pointers = np.array([x.ctypes.data for x in arguments], dtype=np.uintp)

        def run(first: int, last: int, _keep: Sequence[np.ndarray] = arguments) -> None:
            # `_keep`: an interrupted caller drops its arrays while threads still read them
            scratch = np.empty(scratch_bytes + _ALIGNMENT, dtype=np.uint8)
            start = scratch.ctypes.data
            function(
                pointers.ctypes.data, out.ctypes.data, start + -start % _ALIGNMENT, first, last
            )

        total = max(rows, lanes) if rows else 0
        tasks = min(_threads, total // _ROWS_PER_TASK)
        if tasks > 1:
            bounds = [total * k // tasks for k in range(tasks + 1)]
            list(_pool().map(run, bounds[:-1], bounds[1:]))
        else:
            run(0, total)
        return out[:rows]


def make_kernel(
    definition: Definition, check: Optional[Callable[[], None]] = None
) -> Union[Kernel, InterpretedKernel]:
    """Kernel of a definition: compiled if there is a compiler, else interpreted.

    :param check: raises if the definition has no sense; called before the algorithm is run for the
        first time, and not at all when its machine code is found on disk
    """
    if not native.why_unavailable():
        return Kernel(definition, check)
    if check is not None:
        check()
    return InterpretedKernel(definition)
