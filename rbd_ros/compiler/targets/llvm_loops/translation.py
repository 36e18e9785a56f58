# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""From an entry point to the object file with its machine code: text, LLVM's passes, code."""

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
    IN_VECTORS,
    REPEATED,
)

_NUMBERS: Dict[str, Type] = {
    'int': INT,
    'float': FLOAT,
    'bytes': BytesType(),
    'FloatArray': ArrayType(FLOAT, (None,)),
}

# Code generation and passes, by `native.optimization()`.
_GENERATION = (0, 3)
_PASSES = (1, 2)

# Loops of a known few rounds, as over three axes, become straight text; others are not written out
# several times over. That made a simulator's step no faster, and a third of its compilation.
_NOT_LONGER = '!"llvm.loop.unroll.runtime.disable"'

# Loops that are not `simd_range` never run in vector registers: they are as long as a robot has
# joints, so that they are not faster there, and take longer to compile. Those that are may: LLVM
# would complain on stderr of one that it cannot do so, if that were asked for.
_ONE_BY_ONE = '!"llvm.loop.vectorize.enable", i1 false'


def module_text(function: Callable, kinds: Sequence[tuple], numbers: Sequence[str]) -> str:
    """Return LLVM text of an entry point: the functions `entry` and `builtin`, and all they call.

    :param function: the entry point
    :param kinds: kinds of its records
    :param numbers: kinds of its other arguments: int, float, bytes or FloatArray
    :raises ValueError: if it cannot be compiled; it names function and line
    """
    instances = Instances()
    known: Dict[tuple, Any] = {}
    types: List[Type] = [table_type(kind, known) for kind in kinds]
    types += [_NUMBERS[kind] for kind in numbers]
    top = entry(instances, function, tuple(types))
    texts = translate(instances, function_text)
    # The nodes: an empty one for `!invariant.load !0`, and what is known of every loop.
    whole = [
        _entry(top),
        loop_function(len(kinds), numbers),
        '!0 = !{}',
        f'!1 = !{{{_NOT_LONGER}}}',
        f'!2 = !{{{_ONE_BY_ONE}}}',
    ]
    return _number_loops(native.module_text([*texts, *((text, []) for text in whole)]))


def _number_loops(text: str) -> str:
    """Return text in which each loop has a node of its own, as LLVM insists, instead of a mark."""
    nodes: List[str] = []

    def number(found: re.Match) -> str:
        k = 3 + len(nodes)
        properties = '!1' if found[0] == IN_VECTORS else '!1, !2'
        nodes.append(f'!{k} = distinct !{{!{k}, {properties}}}')
        return f'{REPEATED} !{k}'

    text = re.sub(f'{re.escape(IN_VECTORS)}|{re.escape(REPEATED)}', number, text)
    return '\n'.join([text, *nodes])


def _entry(top: Instance) -> str:
    """Return the text of the function that is called from outside: records are addresses to it."""
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

    :raises ValueError: if it cannot be compiled; it names function and line
    """
    text = module_text(function, kinds, numbers)
    with native.compile_lock:
        level = native.optimization()
        target = native.new_target(_GENERATION[level])
        module = llvm.parse_assembly(text)
        # Before the passes, which learn from them how large things are and how they are aligned.
        module.triple, module.data_layout = target.triple, str(target.target_data)
        _optimize(module, target, level)
        return target.emit_object(module)


def _optimize(module: Any, target: Any, level: int) -> None:
    """Run LLVM's passes, by the interface that this llvmlite has.

    :param level: `native.optimization()`
    """
    if hasattr(llvm, 'create_pass_builder'):
        options = llvm.create_pipeline_tuning_options(speed_level=_PASSES[level])
        options.loop_unrolling = level > 0
        # Of loops that may, see `_ONE_BY_ONE`.
        options.loop_vectorization = True
        options.slp_vectorization = options.loop_interleaving = False
        builder = llvm.create_pass_builder(target, options)
        builder.getModulePassManager().run(module, builder)
        return
    builder = llvm.create_pass_manager_builder()
    builder.opt_level = _PASSES[level]
    builder.inlining_threshold = 225  # LLVM's own; without it, nothing is merged
    builder.loop_vectorize = True
    passes = llvm.create_module_pass_manager()
    target.add_analysis_passes(passes)
    builder.populate(passes)
    passes.run(module)


__all__ = ['module_text', 'object_file']
