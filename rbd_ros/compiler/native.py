"""From LLVM text to machine code in memory, for the CPU that we run on."""

from __future__ import annotations

from functools import lru_cache
import os
import threading
from typing import Dict, List, Optional, Sequence, Tuple

# Of code generation; the graph is simplified already, so no passes over the LLVM text are run, and
# higher levels were measured to take longer and give the same code.
_OPTIMISATION = 1
_OLDEST_LLVMLITE = (0, 44)  # the first with opaque pointers throughout
_lock = threading.Lock()


@lru_cache(maxsize=1)
def why_unavailable() -> Optional[str]:
    """Reason why there is no compiler, None if there is one."""
    if os.environ.get('RBD_ROS_COMPILER', '').lower() in ('off', '0', 'no', 'false'):
        return 'RBD_ROS_COMPILER is off'
    try:
        import llvmlite
    except ImportError:
        return 'llvmlite is not installed (pip install llvmlite)'
    version = tuple(int(part) for part in llvmlite.__version__.split('.')[:2])
    if version < _OLDEST_LLVMLITE:
        return f'llvmlite {llvmlite.__version__} is too old (pip install "llvmlite>=0.44")'
    return None


@lru_cache(maxsize=1)
def _initialise() -> None:
    import llvmlite.binding as llvm

    for initialize in (
        llvm.initialize,
        llvm.initialize_native_target,
        llvm.initialize_native_asmprinter,
    ):
        try:
            initialize()
        except RuntimeError:  # llvmlite >= 0.45 initialises itself and says so by raising
            pass


def _new_target():
    """LLVM target machine of the host.

    An engine owns the one it is given, so each needs its own.
    """
    import llvmlite.binding as llvm

    _initialise()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu_name(),
        features=cpu_features(),
        opt=_OPTIMISATION,
        reloc='pic',
        codemodel='small',
        jit=True,
    )


@lru_cache(maxsize=1)
def cpu_name() -> str:
    """LLVM's name of the host CPU."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name()


@lru_cache(maxsize=1)
def cpu_features() -> str:
    """LLVM's list of the host CPU's features."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_features().flatten()


@lru_cache(maxsize=1)
def simd_lanes() -> int:
    """Doubles in the widest vector register: 8 (AVX-512), 4 (AVX), else 2 (SSE2, NEON)."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    return 8 if features.get('avx512f') else 4 if features.get('avx') else 2


def assemble(functions: Sequence[Tuple[str, Sequence[str]]]) -> bytes:
    """Object file of a module.

    :param functions: text and declarations of each function
    """
    import llvmlite.binding as llvm

    declarations = sorted({line for _, lines in functions for line in lines})
    text = '\n'.join([*(text for text, _ in functions), *declarations])
    with _lock:
        target = _new_target()
        return target.emit_object(llvm.parse_assembly(text))


class MachineCode:
    """Machine code in memory; it stays there as long as this object.

    :param object_file: what `assemble` returned, now or in an earlier process
    """

    def __init__(self, object_file: bytes):
        import llvmlite.binding as llvm

        with _lock:
            target = _new_target()
            self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(''), target)
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_file))
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Address of a function."""
        return self._engine.get_function_address(name)

    def global_address(self, name: str) -> int:
        """Address of a global variable."""
        return self._engine.get_global_value_address(name)


def versions() -> Dict[str, str]:
    """Whatever of the tools and the machine decides the machine code."""
    import llvmlite
    import llvmlite.binding as llvm

    return {
        'llvmlite': llvmlite.__version__,
        'llvm': str(llvm.llvm_version_info),
        'cpu': cpu_name(),
        'features': cpu_features(),
        'triple': llvm.get_default_triple(),
        'optimisation': str(_OPTIMISATION),
    }


__all__: List[str] = [
    'MachineCode',
    'assemble',
    'cpu_features',
    'cpu_name',
    'simd_lanes',
    'versions',
    'why_unavailable',
]
