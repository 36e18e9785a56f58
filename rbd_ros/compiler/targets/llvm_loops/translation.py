# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compilation of an entry point to an object file: LLVM text, passes, code generation."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Sequence

import llvmlite.binding as llvm

from rbd_ros.compiler.loops.front_end import entry, translate
from rbd_ros.compiler.loops.instances import Instance, Instances
from rbd_ros.compiler.loops.loop_types import ArrayType, BytesType, FLOAT, INT, RecordType, Type
from rbd_ros.compiler.runtime import native
from rbd_ros.compiler.runtime.loop_builtin import loop_function
from rbd_ros.compiler.targets.llvm.routine import Routine
from rbd_ros.compiler.targets.llvm_loops.llvm_records import table_type
from rbd_ros.compiler.targets.llvm_loops.llvm_statements import (
    function_text,
    LOOP_MARK,
    SIMD_LOOP_MARK,
)

_NUMBERS: Dict[str, Type] = {
    'int': INT,
    'float': FLOAT,
    'bytes': BytesType(),
    'FloatArray': ArrayType(FLOAT, (None,)),
}

# Levels of code generation and of the passes, by `native.optimization()`.
_GENERATION = (0, 3)
_PASSES = (0, 2)
# Without inlining, functions return three numbers and more on the x87 stack. LLVM 22 reads them
# with an instruction for 16 registers, which generation without optimization gives any of 32.
_FEATURES = (',-avx512f', '')

# Loops of a few constant rounds, as over three axes, are unrolled. Runtime unrolling made
# a simulator's step no faster, and took a third of its compilation.
_NO_RUNTIME_UNROLLING = '!"llvm.loop.unroll.runtime.disable"'

# Only `simd_range` loops may be vectorized: others have about as many rounds as a robot has
# joints, so vectorizing makes them no faster, and their compilation slower. Vectorizing is
# permitted rather than requested: LLVM would warn on stderr about each loop that it cannot
# vectorize.
_NO_VECTORIZATION = '!"llvm.loop.vectorize.enable", i1 false'


def module_text(function: Callable, kinds: Sequence[tuple], numbers: Sequence[str]) -> str:
    """Return the LLVM text of an entry point: functions `entry` and `builtin`, and their callees.

    :param function: the entry point
    :param kinds: kinds of its records
    :param numbers: kinds of its other arguments: int, float, bytes or FloatArray
    :raises ValueError: if it cannot be compiled; names function and line
    """
    instances = Instances()
    known: Dict[tuple, Any] = {}
    types: List[Type] = [table_type(kind, known) for kind in kinds]
    types += [_NUMBERS[kind] for kind in numbers]
    top = entry(instances, function, tuple(types))
    texts = translate(instances, function_text)
    # Metadata: an empty node for `!invariant.load !0`, and the properties of loops.
    whole = [
        _entry(top),
        loop_function(len(kinds), numbers),
        '!0 = !{}',
        f'!1 = !{{{_NO_RUNTIME_UNROLLING}}}',
        f'!2 = !{{{_NO_VECTORIZATION}}}',
    ]
    return _number_loops(native.module_text([*texts, *((text, []) for text in whole)]))


def _number_loops(text: str) -> str:
    """Replace the mark of each loop by a distinct metadata node, as LLVM requires."""
    nodes: List[str] = []

    def number(found: re.Match) -> str:
        k = 3 + len(nodes)
        properties = '!1' if found[0] == SIMD_LOOP_MARK else '!1, !2'
        nodes.append(f'!{k} = distinct !{{!{k}, {properties}}}')
        return f'{LOOP_MARK} !{k}'

    text = re.sub(f'{re.escape(SIMD_LOOP_MARK)}|{re.escape(LOOP_MARK)}', number, text)
    return '\n'.join([text, *nodes])


def _entry(top: Instance) -> str:
    """Return the text of the function called from outside, which takes records as addresses."""
    taken: List[str] = []
    for k, kind in enumerate(top.arguments):
        taken.append(f'{"double" if kind == FLOAT else "i64"} %a{k}')
        if isinstance(kind, ArrayType):
            taken.append(f'i64 %length{k}')
    code = Routine(f'i64 @entry({", ".join(taken)})')
    passed = []
    for k, kind in enumerate(top.arguments):
        if kind == FLOAT:
            passed.append(f'double %a{k}')
        elif isinstance(kind, (ArrayType, RecordType)):
            passed.append(f'ptr {code.value(f"inttoptr i64 %a{k} to ptr")}')
        else:
            passed.append(f'i64 %a{k}')
        if isinstance(kind, ArrayType):
            passed.append(f'i64 %length{k}')
    result = code.value(f'call i64 @{top.name}({", ".join(passed)})')
    code.do(f'ret i64 {result}')
    return code.text()


def object_file(function: Callable, kinds: Sequence[tuple], numbers: Sequence[str]) -> bytes:
    """Return the object file with the functions `entry` and `builtin`.

    Arguments are those of `module_text`.

    :raises ValueError: if it cannot be compiled; names function and line
    """
    text = module_text(function, kinds, numbers)
    with native.compile_lock:
        level = native.optimization()
        generation = _GENERATION[level], _FEATURES[level] if native.simd_lanes() == 8 else ''
        target = native.new_target(*generation)
        module = llvm.parse_assembly(text)
        # Before the passes, which use the sizes and alignments of types.
        module.triple, module.data_layout = target.triple, str(target.target_data)
        _optimize(module, target, level)
        return native.emit(module, *generation)


def _optimize(module: Any, target: Any, level: int) -> None:
    """Run LLVM's passes, by the old or new interface of llvmlite.

    :param level: `native.optimization()`
    """
    if hasattr(llvm, 'create_pass_builder'):
        options = llvm.create_pipeline_tuning_options(speed_level=_PASSES[level])
        options.loop_unrolling = level > 0
        # For the loops that permit it, see `_NO_VECTORIZATION`.
        options.loop_vectorization = True
        options.slp_vectorization = options.loop_interleaving = False
        builder = llvm.create_pass_builder(target, options)
        builder.getModulePassManager().run(module, builder)
        return
    builder = llvm.create_pass_manager_builder()
    builder.opt_level = _PASSES[level]
    builder.inlining_threshold = 225  # LLVM's default; without it, nothing is inlined
    builder.loop_vectorize = True
    passes = llvm.create_module_pass_manager()
    target.add_analysis_passes(passes)
    builder.populate(passes)
    passes.run(module)


__all__ = ['module_text', 'object_file']
