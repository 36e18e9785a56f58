# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""From LLVM text to machine code in memory, for the present CPU."""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
import gc
import os
import struct
import threading
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

try:  # with the package, so that the first call does not wait for it
    import llvmlite
    import llvmlite.binding as llvm
except ImportError:
    llvmlite = None

from rbd_ros.compiler import cache

# Of code generation; the graph is simplified already, so no passes over the LLVM text are run.
# Measurements showed that higher levels take longer for the same code.
_OPTIMIZATION = 1
_LEVELS_OF_OPTIMIZATION = ('0', '1')
_OLDEST_LLVMLITE = (0, 37)  # the oldest tested, with LLVM 11
_OPAQUE_POINTERS = (0, 45)  # the first llvmlite with `ptr` by default
_ONE_BLOCK = (0, 42)  # the first llvmlite that can keep code and constants in one block of memory

#: Held while LLVM is used. A fork waits for it, so that a child finds no lock held forever.
compile_lock = threading.RLock()
os.register_at_fork(
    before=compile_lock.acquire,
    after_in_parent=compile_lock.release,
    after_in_child=compile_lock.release,
)


@lru_cache(maxsize=1)
def unavailable_reason() -> Optional[str]:
    """Return the reason why there is no compiler, None if there is one."""
    if os.environ.get('RBD_ROS_COMPILER', '').lower() in ('off', '0', 'no', 'false'):
        return 'RBD_ROS_COMPILER is off'
    if llvmlite is None:
        return 'llvmlite is not installed (pip install llvmlite)'
    if _llvmlite_version() < _OLDEST_LLVMLITE:
        oldest = '.'.join(map(str, _OLDEST_LLVMLITE))
        return f'llvmlite {llvmlite.__version__} is too old (pip install "llvmlite>={oldest}")'
    return None


def _llvmlite_version() -> Tuple[int, int]:
    major, minor = llvmlite.__version__.split('.')[:2]
    return int(major), int(minor)


@lru_cache(maxsize=1)
def _initialize() -> None:
    for initialize in (
        llvm.initialize,
        llvm.initialize_native_target,
        llvm.initialize_native_asmprinter,
    ):
        try:
            initialize()
        except RuntimeError:  # llvmlite >= 0.45 initializes itself, and raises here
            pass


class Processor(NamedTuple):
    """Processor that code is generated for.

    :param name: LLVM's name of the processor
    :param features: LLVM's list of features, '' for those that the name implies
    :param lanes: doubles in the widest vector register
    """

    name: str
    features: str
    lanes: int


# Names of the levels before LLVM 12, as processors
_FIRST_OF_LEVEL = {
    'x86-64-v2': 'nehalem',
    'x86-64-v3': 'haswell',
    'x86-64-v4': 'skylake-avx512',
}

# The levels of the x86-64 ABI: lanes, and required features
_LEVELS = {
    'x86-64': (2, ()),
    'x86-64-v2': (2, ('sse4.2', 'popcnt')),
    'x86-64-v3': (4, ('avx2', 'fma', 'bmi2', 'movbe')),
    'x86-64-v4': (8, ('avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl')),
}


@lru_cache(maxsize=1)
def processor() -> Processor:
    """Return the target processor: this machine's, or the lesser one of RBD_ROS_CPU.

    :raises ValueError: if this machine does not support the processor of RBD_ROS_CPU
    """
    features = llvm.get_host_cpu_features()
    chosen = os.environ.get('RBD_ROS_CPU', 'native')
    if chosen in ('', 'native'):
        # 8 lanes (AVX-512), 4 (AVX), else 2 (SSE2, NEON)
        lanes = 8 if features.get('avx512f') else 4 if features.get('avx') else 2
        return Processor(llvm.get_host_cpu_name(), features.flatten(), lanes)
    possible = [
        level
        # Unsupported code would crash with an illegal instruction, without a message.
        for level, (_, needed) in _LEVELS.items()
        if llvm.get_default_triple().startswith('x86_64')
        and all(features.get(name) for name in needed)
    ]
    if chosen not in possible:
        raise ValueError(
            f'RBD_ROS_CPU is {chosen!r}; here it may be {", ".join(["native", *possible])}'
        )
    name = chosen if llvm.llvm_version_info >= (12,) else _FIRST_OF_LEVEL.get(chosen, chosen)
    # No features: those of the level, the same on any compiling machine.
    return Processor(name, '', _LEVELS[chosen][0])


def simd_lanes() -> int:
    """Return the doubles in the widest vector register of the processor."""
    return processor().lanes


def optimization() -> int:
    """Return the level of code generation: 1, or 0 if RBD_ROS_OPTIMIZATION says so.

    Without optimization, LLVM takes a third of the time, and isomorphic branches have no SIMD
    groups; machine code takes up to five times as long to run.

    :raises ValueError: if RBD_ROS_OPTIMIZATION is something else
    """
    chosen = os.environ.get('RBD_ROS_OPTIMIZATION') or str(_OPTIMIZATION)
    if chosen not in _LEVELS_OF_OPTIMIZATION:
        raise ValueError(
            f'RBD_ROS_OPTIMIZATION is {chosen!r}; it may be {" or ".join(_LEVELS_OF_OPTIMIZATION)}'
        )
    return int(chosen)


def new_target(
    level: Optional[int] = None, features: str = '', is_far: bool = False
) -> llvm.TargetMachine:
    """Return a new LLVM target machine; each engine owns one.

    :param level: level of code generation, `optimization()` if None
    :param features: LLVM's list of features in addition to those of the processor
    :param is_far: whether code reaches constants and functions at any distance, by addresses of 64
        bits; the contact loops take 4 % longer with them
    """
    _initialize()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=processor().name,
        features=processor().features + features,
        opt=optimization() if level is None else level,
        reloc='static' if is_far else 'pic',
        codemodel='large' if is_far else 'small',
        jit=True,
    )


def emit(module: llvm.ModuleRef, level: Optional[int] = None, features: str = '') -> bytes:
    """Return the object file of a module, which can be loaded at any address.

    Small code reaches within 2 GB: its own constants in the same block of memory, but no other
    functions, and in a process with larger mappings LLVM would abort when it loads the code.
    Functions of the C library are called by loops, and by processors without some instructions
    (fused multiply-add).

    :param level: as for `new_target`, as `features`
    """
    is_far = not _has_one_block() or _calls_library(module)
    code: bytes = new_target(level, features, is_far).emit_object(module)
    if not is_far and _calls_others(code):
        code = new_target(level, features, is_far=True).emit_object(module)
    return code


def _has_one_block() -> bool:
    return _llvmlite_version() >= _ONE_BLOCK


def _calls_library(module: llvm.ModuleRef) -> bool:
    """Return whether a module calls functions of the C library on any processor."""
    declared = [function.name for function in module.functions if function.is_declaration]
    # Memory is filled and copied by functions, other intrinsics are instructions.
    return any(not name.startswith('llvm.') or name.startswith('llvm.mem') for name in declared)


def _calls_others(code: bytes) -> bool:
    """Return whether machine code calls external functions."""
    for section in llvm.ObjectFileRef.from_data(code).sections():
        if section.name() == b'.symtab':
            # Name, kind, visibility, section, value and size; section 0 is none.
            symbols = struct.iter_unpack('<IBBHQQ', section.data())
            return any(name and not defined for name, _, _, defined, _, _ in symbols)
    return True  # not ELF: unknown


def module_text(functions: Sequence[Tuple[str, Sequence[str]]]) -> str:
    """Return the text of a module for the installed version of LLVM.

    :param functions: text and declarations of each function, with opaque pointers
    """
    # Each once, as LLVM requires; sorted, so that the text is reproducible.
    declarations = sorted({line for _, lines in functions for line in lines})
    text = '\n'.join([*(text for text, _ in functions), *declarations])
    if _llvmlite_version() >= _OPAQUE_POINTERS:
        return text
    from rbd_ros.compiler.targets.llvm import typed_pointers

    return typed_pointers.lower(text)


def assemble(functions: Sequence[Tuple[str, Sequence[str]]], in_order: bool = False) -> bytes:
    """Return the object file of a module.

    :param functions: text and declarations of each function, with opaque pointers
    :param in_order: whether to keep the order of the text instead of LLVM's scheduling, if the
        version allows this per module
    """
    text = module_text(functions)
    with compile_lock:
        with _scheduling(not in_order):
            return emit(llvm.parse_assembly(text))


@contextmanager
def _scheduling(enabled: bool) -> Iterator[None]:
    """Switch LLVM's instruction scheduling on or off."""
    # A process-wide option, which old versions can set only once.
    may_change = _llvmlite_version() >= _OPAQUE_POINTERS
    if enabled or not may_change:
        yield
        return
    llvm.set_option('rbd_ros', '-enable-misched=false')
    try:
        yield
    finally:
        llvm.set_option('rbd_ros', '-enable-misched=true')


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable the garbage collector.

    A graph is a hundred thousand objects without cycles, which it would traverse repeatedly: a
    tenth of the compile time in a large process.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class MachineCode:
    """Machine code in memory; it stays there as long as this object.

    :param object_file: result of `assemble`, now or in an earlier process
    """

    def __init__(self, object_file: bytes):
        with compile_lock:
            # Code and constants in one block, as `emit` assumes.
            options = {'use_lmm': True} if _has_one_block() else {}
            # The engine requires a module; it is empty, as all code is in the object file.
            self._engine = llvm.create_mcjit_compiler(
                llvm.parse_assembly(''), new_target(), **options
            )
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_file))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a function."""
        with compile_lock:
            return self._engine.get_function_address(name)

    def global_address(self, name: str) -> int:
        """Return the address of a global variable."""
        with compile_lock:
            return self._engine.get_global_value_address(name)


def versions() -> Dict[str, str]:
    """Return the versions of tools and machine, which decide the machine code."""
    return {**_tools(), 'optimization': str(optimization())}


@lru_cache(maxsize=1)
def _tools() -> Dict[str, str]:
    return {
        'llvmlite': llvmlite.__version__,
        'llvm': str(llvm.llvm_version_info),
        'cpu': processor().name,
        # A hypervisor may disable features of the processor of this name.
        'features': processor().features,
        'triple': llvm.get_default_triple(),
    }


def load_routine(name: str, text: Callable[[], str], key: Mapping[str, Any]) -> MachineCode:
    """Return machine code that is the same for all kernels, from disk or newly made.

    :param name: its name on disk
    :param text: writer of the LLVM text, with opaque pointers; called only for compilation
    :param key: data that decide the text, beside the versions of the tools
    """
    # No robot function has these names; if one had, the digest would differ.
    entry_name = cache.entry_name(name, 'any', cache.digest({**key, **versions()}))
    entry = cache.load(entry_name)
    if entry is not None:
        try:
            return MachineCode(entry[1])
        except RuntimeError:  # unreadable: as if there were none
            pass
    object_file = assemble([(text(), [])])
    cache.store(entry_name, {}, object_file)
    return MachineCode(object_file)


__all__: List[str] = [
    'MachineCode',
    'Processor',
    'assemble',
    'compile_lock',
    'emit',
    'load_routine',
    'module_text',
    'new_target',
    'optimization',
    'processor',
    'simd_lanes',
    'unavailable_reason',
    'uncollected',
    'versions',
]
