# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motions from many starts: inputs and results of `Simulator.rollout`."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray


class Trajectories(NamedTuple):
    """Motions from many starts, the result of `Simulator.rollout`.

    :param q: configurations after each step, (B, steps, nq) [rad, m]; NaN after a motion has ended
    :param v: velocities after each step, (B, steps, nv) [rad/s, m/s]; likewise
    :param diverged: number of the step in which each motion ended because its dynamics were not
        finite, counted from 0, and -1 for those that did not, (B,)

    >>> from rbd_ros.simulation import Simulator, Trajectories
    >>> motions = Simulator(robot).rollout([q, q], v, steps=100)
    >>> isinstance(motions, Trajectories), motions.q.shape, motions.diverged
    (True, (2, 100, 6), array([-1, -1]))
    """

    q: FloatArray
    v: FloatArray
    diverged: IntArray


#: Arguments that may differ from step to step.
_IN_STEPS = ('torque', 'target')


class _Starts(NamedTuple):
    """Checked arguments of `Simulator.rollout`.

    :param q: configurations, (B or 1, nq)
    :param v: velocities, (B or 1, nv)
    :param torque: (B or 1, steps or 1, nv)
    :param target: (B or 1, steps or 1, nq)
    :param rows: B
    :param steps: number of steps
    """

    q: FloatArray
    v: FloatArray
    torque: FloatArray
    target: FloatArray
    rows: int
    steps: int


def checked_starts(
    q: Any, v: Any, torque: Any, target: Any, steps: Optional[int], nq: int, nv: int
) -> _Starts:
    """Return the given arrays, with one row for values that all rollouts share.

    :raises ValueError: for a wrong shape or dtype, numbers that are not finite, or inconsistent
        numbers of rollouts or steps
    """
    given = {
        'q': checked_array('q', q, ((nq,), ('B', nq))),
        'v': checked_array('v', v, ((nv,), ('B', nv))),
        'torque': checked_array('torque', torque, ((nv,), ('steps', nv), ('B', 'steps', nv))),
        'target': checked_array('target', target, ((nq,), ('steps', nq), ('B', 'steps', nq))),
    }
    # Number of dimensions with an axis for the rollouts.
    full = {'q': 2, 'v': 2, 'torque': 3, 'target': 3}
    counts = {name: len(x) for name, x in given.items() if x.ndim == full[name]}
    if len(set(counts.values())) > 1:
        listed = ', '.join(f'{name} has {count}' for name, count in counts.items())
        raise ValueError(
            f'the numbers of rollouts differ: {listed}; pass values that all rollouts share '
            'without that axis'
        )
    if steps is not None:
        try:
            steps = operator.index(steps)
        except TypeError:
            raise ValueError(f'steps must be a whole number, got {steps!r}') from None
        if steps < 0:
            raise ValueError(f'steps must not be negative, got {steps}')
    for name in _IN_STEPS:
        if given[name].ndim > 1:
            length = int(given[name].shape[-2])
            if steps not in (None, length):
                what = (
                    'torque has' if name == 'target' and given['torque'].ndim > 1 else 'steps is'
                )
                raise ValueError(f'{name} has {length} steps, but {what} {steps}')
            steps = length
    if steps is None:
        raise ValueError('steps must be given unless torque has an axis of steps')
    torque, target = (
        given[name].reshape((1,) * (3 - given[name].ndim) + given[name].shape)
        for name in _IN_STEPS
    )
    return _Starts(
        np.array(np.atleast_2d(given['q'])),  # copies: results may overwrite starts
        np.array(np.atleast_2d(given['v'])),
        torque,
        target,
        next(iter(counts.values()), 1),
        steps,
    )


def checked_array(name: str, given: Any, shapes: Tuple[Tuple[Any, ...], ...]) -> FloatArray:
    """Return an array of finite floats of one of the shapes; strings stand for any length.

    :raises ValueError: for a wrong shape or dtype, or numbers that are not finite
    """
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise ValueError(f'{name} is not an array of numbers: {error}') from None
    if array.dtype.kind not in 'fiu':
        raise ValueError(f'{name} must hold real numbers, got dtype {array.dtype}')
    if not any(
        len(shape) == array.ndim
        and all(isinstance(n, str) or n == m for n, m in zip(shape, array.shape))
        for shape in shapes
    ):
        expected = ' or '.join(f'({", ".join(map(str, s))}{"," * (len(s) == 1)})' for s in shapes)
        raise ValueError(f'{name} must have shape {expected}, got {array.shape}')
    array = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        at = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ValueError(f'{name} must be finite, got {array[tuple(at)]} at {at}')
    return array


def result_arrays(out: Any, rows: int, steps: int, nq: int, nv: int) -> Trajectories:
    """Return the arrays for the results: new ones, or those of `out`.

    :param out: q, v and diverged, None for new ones
    :raises ValueError: for arrays that cannot hold the results
    """
    shapes = {'q': (rows, steps, nq), 'v': (rows, steps, nv), 'diverged': (rows,)}
    dtypes = {'q': np.float64, 'v': np.float64, 'diverged': np.int64}
    if out is None:
        return Trajectories(*(np.empty(shapes[name], dtypes[name]) for name in shapes))
    if not isinstance(out, (tuple, list)) or len(out) != len(shapes):
        raise ValueError(
            'out must hold arrays for q, v and diverged, as rollout returns them, got '
            f'{type(out).__name__}' + (f' of {len(out)}' if hasattr(out, '__len__') else '')
        )
    for (name, shape), array in zip(shapes.items(), out):
        if not isinstance(array, np.ndarray) or array.dtype != dtypes[name]:
            kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            raise ValueError(
                f'out: {name} must be an array of {np.dtype(dtypes[name])}, got {kind}'
            )
        if array.shape != shape:
            raise ValueError(f'out: {name} must have shape {shape}, got {array.shape}')
        if not (array.flags.c_contiguous and array.flags.writeable):
            raise ValueError(f'out: {name} must be contiguous, and not read-only')
    q, v, diverged = out
    if any(np.may_share_memory(*pair) for pair in ((q, v), (q, diverged), (v, diverged))):
        raise ValueError('out: q, v and diverged must not share memory')
    return Trajectories(q, v, diverged)
