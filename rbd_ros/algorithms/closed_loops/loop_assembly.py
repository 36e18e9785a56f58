# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Assembly of a mechanism: the configuration nearest to a given one that closes its loops.

Newton's method on the position errors, with the shortest steps, and the best of several starts if
it fails. Numbers decide when it ends, so it does not work on generic scalars.
"""

from __future__ import annotations

import math
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.algorithms.closed_loops.loop_closure import loop_closure, loop_transforms
from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.model import Model

Floats = NDArray[np.float64]

#: Position errors that count as closed [rad, m].
CLOSED = 1e-10
#: Singular values of K below this fraction of the largest are ignored in a step.
TOLERANCE = 1e-6
#: Longest step [rad, m]: beyond, the linear equations are invalid.
MAX_STEP = 0.5
#: Distance up to which rounding of a description may leave a loop open [rad, m].
ROUNDED = 1e-3
#: Larger limits mean unlimited [rad, m].
MAX_LIMIT = 1e3


class Assembly(NamedTuple):
    """Result of closing the loops of a mechanism, and the remaining error.

    :param q: configuration, (nq,) [rad, m]
    :param distance: largest remaining position error [rad, m]
    :param loop: name of its loop joint
    :param is_closed: whether all loops are closed
    """

    q: Floats
    distance: float
    loop: str
    is_closed: bool


class LoopClosureError(ValueError):
    """No configuration was found that closes the loops.

    :param assembly: the closest one
    """

    def __init__(self, assembly: Assembly):
        super().__init__(
            f'the loops do not close: the closest assembly found leaves loop {assembly.loop!r} '
            f'open by {assembly.distance:.4g} (rad, m){cure_of_rounding(assembly)}'
        )
        self.assembly = assembly


def cure_of_rounding(assembly: Assembly) -> str:
    """Return advice for a loop that rounding of its numbers may leave open; '' beyond that.

    :param assembly: the closest assembly
    """
    if assembly.distance > ROUNDED:
        return ''
    return (
        '; rounded numbers make redundant constraints contradict each other: give axes, angles '
        'and positions with all digits, or a loop joint with fewer constraints, such as '
        'spherical or cylindrical in place of a revolute one'
    )


def assemble_loops(
    model: Model,
    q: ArrayLike,
    fixed: Sequence[int] = (),
    starts: int = 0,
    iterations: int = 100,
    closure: Optional[Callable[[Floats], Any]] = None,
) -> Assembly:
    """Return a configuration near `q` in which the loops are closed, or nearly closed.

    :param model: model with loops
    :param q: initial configuration, (nq,) [rad, m]
    :param fixed: independent degrees of freedom that stay unchanged
    :param starts: number of random configurations that are tried if it fails from `q`, the same
        ones in every call
    :param iterations: maximum number of steps from each start
    :param closure: compiled `loop_closure`, which returns residual and K

    >>> from rbd_ros.algorithms.closed_loops.loop_assembly import assemble_loops
    >>> assemble_loops(four_bar.model, q4 + 0.1).is_closed
    True
    """
    find = closure if closure is not None else _interpreted(model)
    first = _from_start(model, np.array(q, dtype=float), fixed, iterations, find)
    rng = np.random.default_rng(0)
    best = first
    for start in range(starts):
        if best.is_closed:
            break
        if start < starts // 2:  # near the configuration at first, where it may be singular
            spread = rng.normal(size=model.nv) * (0.1 * (start + 1))
            spread[list(fixed)] = 0.0
            begin = integrated(model, np.array(q, dtype=float), spread)
        else:
            begin = _random(model, rng, np.asarray(q), fixed)
        found = _from_start(model, begin, fixed, iterations, find)
        if found.is_closed or found.distance < best.distance:
            best = found
    return best


def _from_start(
    model: Model,
    q: Floats,
    fixed: Sequence[int],
    iterations: int,
    find: Callable[[Floats], Any],
) -> Assembly:
    moving = np.setdiff1d(np.arange(model.nv), np.asarray(fixed, dtype=int))
    residual, K = (np.asarray(x, dtype=float) for x in find(q))
    size, damping = _size(residual), 0.0
    for _ in range(iterations):
        if not np.isfinite(size) or np.abs(residual).max(initial=0.0) < CLOSED:
            break
        step = np.zeros(model.nv)
        step[moving] = -_shortest(K[:, moving], residual, damping)
        length = np.abs(step).max(initial=0.0)
        if length > MAX_STEP:
            step *= MAX_STEP / length
        candidate = integrated(model, q, step)
        errors, ahead = (np.asarray(x, dtype=float) for x in find(candidate))
        if _size(errors) < size:
            q, residual, K, size = candidate, errors, ahead, _size(errors)
            damping *= 0.1
        elif damping > 1e6:
            break
        else:
            damping = max(10.0 * damping, 1e-8)
    worst, name = _worst(model, residual)
    if worst < CLOSED:
        over = _turned_over(model, q)
        return Assembly(q, worst, name, True) if over is None else Assembly(q, np.pi, over, False)
    return Assembly(q, worst, name, False)


def _shortest(K: Floats, residual: Floats, damping: float) -> Floats:
    """Return the shortest x for which K x is nearest to the residual, Levenberg-damped."""
    U, s, Vt = np.linalg.svd(K, full_matrices=False)
    largest = s.max(initial=0.0)
    kept = s > TOLERANCE * largest
    gains = s[kept] / (s[kept] ** 2 + damping * largest**2)
    x: Floats = Vt[kept].T @ (gains * (U[:, kept].T @ residual))
    return x


def _size(residual: Floats) -> float:
    return float(residual @ residual)


def _worst(model: Model, residual: Floats) -> Tuple[float, str]:
    """Return the largest error, and its loop."""
    start, found = 0, (0.0, '')
    for loop in model.loops:
        stop = start + 6 - loop.joint.nv
        error = float(np.abs(residual[start:stop]).max(initial=0.0))
        if not error <= found[0]:
            found = (error, loop.name)
        start = stop
    return found


def _turned_over(model: Model, q: Floats) -> Optional[str]:
    """Return the name of a loop joint that is half a turn off, another zero of its errors.

    Joints that rotate about one axis or none can be, including rack and pinion. Others reach any
    orientation without error: a ball all of them, and a universal joint those with the right angle
    between its axes.
    """
    X0 = body_transforms(model, model.tree_position(q.tolist()))
    for loop in model.loops:
        _, X = loop_transforms(loop, X0)
        E = np.array(X.E, dtype=float)
        S = loop.joint.motion_subspace_at(X)
        axes = [np.array(c.angular, dtype=float) for c in S.columns if any(c.angular)]
        if len(axes) == 1 and axes[0] @ E @ axes[0] < 0.0:
            return loop.name
        if not axes and np.trace(E) < 0.0:
            return loop.name
    return None


def integrated(model: Model, q: Floats, step: Floats) -> Floats:
    """Return the configuration reached by a velocity in unit time, joint by joint, (nq,)."""
    result = np.array(q)
    for i, (at_q, at_v) in model.independent_slices.items():
        joint = model.body(i).joint
        result[at_q] = joint.normalize(joint.integrate(q[at_q].tolist(), step[at_v].tolist()))
    return result


def _random(model: Model, rng: np.random.Generator, q: Floats, fixed: Sequence[int]) -> Floats:
    """Return a random configuration within the limits; fixed joints stay as in q."""
    result = np.array(q, dtype=float)
    for i, (at_q, at_v) in model.independent_slices.items():
        body = model.body(i)
        u: List[float] = rng.random(body.joint.uniforms).tolist()
        if not set(range(model.nv)[at_v]) & set(fixed):
            lower, upper = model.limits[i].lower, model.limits[i].upper
            # angles beyond many turns are meaningless
            lower = lower if lower > -MAX_LIMIT else -math.inf
            upper = upper if upper < MAX_LIMIT else math.inf
            drawn = body.joint.sample(u, lower, upper)
            result[at_q] = drawn
    return result


def _interpreted(model: Model) -> Callable[[Floats], Tuple[Floats, Floats]]:
    def find(q: Floats) -> Tuple[Floats, Floats]:
        found: Any = loop_closure(model, model.tree_position(q.tolist()))
        K = np.array(model.independent_columns(found.K), dtype=float).reshape(
            len(found.K), model.nv
        )
        return np.array(found.residual, dtype=float), K

    return find
