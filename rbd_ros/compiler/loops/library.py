"""What numba generates, collected as LLVM text and compiled once, as a whole.

Numba optimises, links and loads each function together with all that it calls, again and again
up to the one at the top: for the loops of a simulation that was half of the time. Here a function
is ready when its text is there; what it calls is found by name in the end.

Imported only by the process that compiles (compile_entry.py).
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Callable, Dict, List, Mapping

import llvmlite.binding as llvm
import numba
from numba.core import cgutils, codegen, event, typed_passes, types, untyped_passes
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

from rbd_ros.compiler.loops import sources
from rbd_ros.compiler.targets.llvm import native

_OPTIONS = {
    'nogil': True,
    'error_model': 'numpy',
    'no_cfunc_wrapper': True,
    'no_cpython_wrapper': True,
    '_nrt': False,  # what would need memory of its own does not compile
}
_OPTIMISATION = 3  # of code generation, as numba does it
_PASSES = 2

# Functions with more instructions, before any pass, stay functions: a call costs them nothing, and
# LLVM's passes take longer for one large function than for many small ones.
_LARGE = 400


class LoopCompiler(CompilerBase):
    """Numba's passes that loops need: no closures, no generators, nothing to rewrite or merge.

    Nor is it said where a variable ends, which is for objects that have to be given back.
    """

    def define_pipelines(self) -> List[PassManager]:
        """Return the one pipeline that there is."""
        passes = PassManager('loops')
        for each in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            untyped_passes.IRProcessing,
            untyped_passes.ReconstructSSA,
            typed_passes.NopythonTypeInference,
            typed_passes.PreLowerStripPhis,
            typed_passes.NativeLowering,
            typed_passes.NoPythonBackend,
        ):
            passes.add_pass(each, each.__name__)
        passes.finalize()
        return [passes]


class _CollectedLibrary(codegen.CPUCodeLibrary):
    """Numba's library of a function, which keeps the text and does nothing with it."""

    def __init__(self, owner: Any, name: str):
        codegen.CodeLibrary.__init__(self, owner, name)
        self.texts: List[str] = []
        self.callees: List[_CollectedLibrary] = []

    def add_ir_module(self, ir_module: Any) -> None:
        """Keep the text of a module."""
        for function in ir_module.functions:
            if sum(len(block.instructions) for block in function.blocks) > _LARGE:
                function.attributes.add('noinline')
        self.texts.append(cgutils.normalize_ir_text(str(ir_module)))

    def add_linking_library(self, library: _CollectedLibrary) -> None:
        """Note the library of a function that is called.

        Numba names that of its runtime too, which loops without memory of their own never call.
        """
        if library is not rtsys.library:
            self.callees.append(library)

    def finalize(self) -> None:
        """Do nothing: see `object_file`."""
        self._finalized = True

    def collect(self, found: Dict[_CollectedLibrary, None]) -> None:
        """Add this library and those of all that it calls to `found`."""
        if self not in found:
            found[self] = None
            for callee in self.callees:
                callee.collect(found)


def _remembering(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Numba's search for the type of a call, done once for the same function and arguments.

    Numba does it anew for each `+`, through all kinds of arrays that there might be.
    """
    known: Dict[tuple, Any] = {}

    def get_call_type(self: Any, context: Any, args: tuple, kws: dict) -> Any:
        key = self, args, tuple(kws.items())
        if key not in known:
            known[key] = resolve(self, context, args, kws)
        return known[key]

    return get_call_type


class Loops:
    """The functions of one entry point, made known to numba as far as they can be reached.

    :param intrinsics: what takes the place of functions of entry_points.py, by those functions
    :param further: names that specialised functions use besides (sources.py)
    """

    def __init__(self, intrinsics: Mapping[Callable, Any], further: Mapping[str, Any]):
        _install()
        self._known: Dict[Callable, Any] = dict(intrinsics)
        self._further = further

    def dispatcher(self, function: FunctionType) -> Any:
        """Return what numba compiles a function by, and calls it by in others."""
        if function not in self._known:
            made = sources.specialised(function)
            names = made.__globals__
            names.update(self._further)
            for name in made.__code__.co_names:
                value = names.get(name)
                if isinstance(value, FunctionType) and (
                    value in self._known or hasattr(value, 'is_compiled')
                ):
                    names[name] = self.dispatcher(value)
            self._known[function] = numba.njit(**_OPTIONS, pipeline_class=LoopCompiler)(made)
        return self._known[function]


def _install() -> None:
    """Let numba collect from now on, in this process."""
    types.Function.get_call_type = _remembering(types.Function.get_call_type)
    event.broadcast = lambda each: None  # to nobody who listens, thousands of times
    context = cpu_target.target_context
    context.codegen()._library_class = _CollectedLibrary
    # Numba tells functions apart by what Python would call. Nobody will; each is another object.
    context.get_executable = lambda library, description, environment: [].append


def object_file(library: _CollectedLibrary, further: str, exported: List[str]) -> bytes:
    """Object file of a function and all it calls.

    :param library: that of the function
    :param further: LLVM text of what calls it, with opaque pointers
    :param exported: names in that text by which the object file is used
    """
    found: Dict[_CollectedLibrary, None] = {}
    library.collect(found)
    texts = [text for each in found for text in each.texts]
    whole = llvm.parse_assembly(texts[0])
    for text in texts[1:]:
        whole.link_in(llvm.parse_assembly(text))
    # Linked, not one text: what a pointer points at may be told differently in the two.
    whole.link_in(llvm.parse_assembly(native.module_text([(further, [])])))
    for symbol in (*whole.functions, *whole.global_variables):
        if not symbol.is_declaration and symbol.name not in exported:
            symbol.linkage = 'internal'  # what nobody calls, or is merged into its caller, goes
    target = native.new_target(_OPTIMISATION)
    whole.triple, whole.data_layout = target.triple, str(target.target_data)
    _optimise(whole, target)
    return target.emit_object(whole)


def _optimise(module: Any, target: Any) -> None:
    """Run LLVM's passes, by the interface that this llvmlite has."""
    if hasattr(llvm, 'create_pass_builder'):
        options = llvm.create_pipeline_tuning_options(speed_level=_PASSES)
        # Loops are as long as a robot has joints. Unrolled they are faster; in vectors they are
        # not, and take longer to compile.
        options.loop_unrolling = True
        options.loop_vectorization = options.slp_vectorization = False
        options.loop_interleaving = False
        builder = llvm.create_pass_builder(target, options)
        builder.getModulePassManager().run(module, builder)
        return
    builder = llvm.create_pass_manager_builder()
    builder.opt_level = _PASSES
    builder.inlining_threshold = 225  # LLVM's own; without it, nothing is merged
    passes = llvm.create_module_pass_manager()
    target.add_analysis_passes(passes)
    builder.populate(passes)
    passes.run(module)
