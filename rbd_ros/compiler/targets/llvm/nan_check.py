# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Check of inputs: NaN or infinity in any input of a state makes its whole result NaN.

So a bad measurement never hides behind an expression that does not use it. All inputs are tested
at once: their sum times zero is NaN exactly if one of them is not finite. A branch that is hardly
ever taken then overwrites the results.
"""

from __future__ import annotations

from typing import Dict, Iterable, List, Sequence, Tuple

from rbd_ros.compiler.targets.llvm.emit import Emitter

Inputs = Sequence[Tuple[str, int]]

_CHAINS = 2  # of additions, for shorter dependency chains


def emit_nan_check(
    code: Emitter, inputs: Inputs, outputs: Sequence[int], fill: str, widest: int
) -> None:
    """Emit the test of all inputs, and the branch.

    :param inputs: names and sizes of the arrays `%in0`, `%in1`, ...
    :param outputs: sizes of the arrays `%out0`, `%out1`, ...
    :param fill: name of the function of `nan_function`
    :param widest: maximum lanes for the inputs of one state, a power of two
    """
    if not any(outputs) or not any(size for _, size in inputs):
        return
    # One state: neighboring inputs fill a vector. Several states: NaN in a lane affects its own
    # state.
    if code.lanes == 1:
        bad, nan = _any_bad(code, inputs, widest), code.constant(float('nan'))
    else:
        elements = [(f'%in{k}', j) for k, (_, size) in enumerate(inputs) for j in range(size)]
        nan = _times_zero(code, (code.load(*element) for element in elements))
        bad = code.any(code.is_nan(nan))
    # After the outputs are stored: none shares memory with an input.
    code.line(f'br i1 {bad}, label %bad, label %good')
    code.lines.append('bad:')
    for k, size in enumerate(outputs):
        if size:
            code.line(f'call void @{fill}(ptr %out{k}, i64 {size}, {code.type} {nan})')
    code.line('br label %good')
    code.lines.append('good:')


def _any_bad(code: Emitter, inputs: Inputs, widest: int) -> str:
    """Return whether any input of one state is not finite; neighbors are taken together."""
    places: Dict[int, List[Tuple[str, int]]] = {}
    for k, (_, size) in enumerate(inputs):
        if size:
            width = min(widest, 1 << (size.bit_length() - 1))
            # the last vector may overlap the one before
            firsts = [*range(0, size - width, width), size - width]
            places.setdefault(width, []).extend((f'%in{k}', first) for first in firsts)
    found = []
    for width, elements in places.items():
        vector = code.with_lanes(width)
        total = _times_zero(vector, (vector.load_packed(*element) for element in elements))
        found.append(vector.any(vector.is_nan(total)))
    bad = found[0]
    for another in found[1:]:
        bad = code.value(f'or i1 {bad}, {another}')
    return bad


def _times_zero(code: Emitter, values: Iterable[str]) -> str:
    """Return the sum of values times zero: products first, so that large ones do not overflow."""
    zero, chains = code.constant(0.0), []
    # inf times 0 and NaN times 0 are NaN, everything else is 0: the sum is NaN or 0.
    for k, value in enumerate(values):
        if k < _CHAINS:
            chains.append(code.fmul(value, zero))
        else:
            product = code.value(f'fmul contract {code.type} {value}, {zero}')
            chains[k % _CHAINS] = code.value(
                f'fadd contract {code.type} {chains[k % _CHAINS]}, {product}'
            )
    total = chains[0]
    for chain in chains[1:]:
        total = code.fadd(total, chain)
    return total


def nan_function(name: str, lanes: int, attributes: str) -> str:
    """Return text of the function that makes every element NaN where the sum `%sum` is NaN.

    :param name: name of the function
    :param lanes: 1, or number of states computed at once
    """
    code = Emitter(lanes)
    # Lane by lane: other states of a batch keep their results.
    bad, value = code.is_nan('%sum'), code.load('%out', '%k')
    code.store(code.select(bad, code.constant(float('nan')), value), '%out', '%k')
    body = '\n'.join(code.lines)
    parameters = f'ptr %out, i64 %count, {code.type} %sum'
    return f"""define internal void @{name}({parameters}) cold noinline {attributes} {{
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
{body}
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
