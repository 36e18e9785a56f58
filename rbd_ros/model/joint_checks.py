# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Consistency checks of the methods of a joint type, with its examples (book 4.4).

Derivatives are central differences: contradictions are much larger than their error.
"""

from __future__ import annotations

from functools import partial
import inspect
import math
from typing import Any, Callable, List, Sequence

import numpy as np
from numpy.typing import NDArray

from rbd_ros.model.errors import ModelError
from rbd_ros.model.joints import JointType

Floats = NDArray[np.float64]

_STEP = 1e-5
_TOLERANCE = 1e-6


def check_joint_type(kind: Any) -> None:
    """Reject a class that is not a joint type, lacks methods, or has contradictory methods.

    :param kind: the class
    :raises ModelError: with the class and the method
    """
    name = getattr(kind, '__name__', repr(kind))
    if not (isinstance(kind, type) and issubclass(kind, JointType)):
        raise ModelError(f'joint type {name}: it is not a class derived from JointType; derive it')
    if inspect.isabstract(kind):
        missing = ', '.join(sorted(kind.__abstractmethods__))
        raise ModelError(f'joint type {name}: it lacks {missing}; write these methods')
    try:
        examples = list(kind.examples())
    except Exception as error:
        raise _broken(name, 'examples', error) from error
    if not examples or not all(isinstance(joint, kind) for joint in examples):
        raise ModelError(
            f'joint type {name}: examples() returns no joints of it; return at least one'
        )
    for joint in examples:
        _check_sizes(name, joint)
        for q in _positions(name, joint):
            _check_at(name, joint, q)


def _check_sizes(name: str, joint: JointType) -> None:
    for size in ('nq', 'nv'):
        number = getattr(joint, size, None)
        if not isinstance(number, int) or not 0 <= number <= (7 if size == 'nq' else 6):
            raise ModelError(
                f'joint type {name}: {size} is {number!r}; give the number of variables'
            )
    for what, read in (('reach', partial(getattr, joint, 'reach')), ('neutral', joint.neutral)):
        value: Sequence[float] = _call(name, what, read)
        if len(value) != joint.nq:
            raise ModelError(
                f'joint type {name}: {what} has {len(value)} numbers for nq = '
                f'{joint.nq}; give one for each'
            )
    try:
        hash(joint)
    except TypeError:
        raise ModelError(
            f'joint type {name}: joints of it cannot be hashed; make it a dataclass(frozen=True)'
        ) from None
    if ' at 0x' in repr(joint):
        raise ModelError(
            f'joint type {name}: its repr does not show the parameters, which name the compiled '
            'kernels in the cache; make it a dataclass(frozen=True)'
        )


def _positions(name: str, joint: JointType) -> List[List[float]]:
    rng = np.random.default_rng(0)
    drawn = [list(joint.neutral())]
    for u in rng.random((3, joint.uniforms)).tolist():
        q = _call(name, 'sample', partial(joint.sample, u, -math.inf, math.inf))
        drawn.append([float(x) for x in q])
    return drawn


def _check_at(name: str, joint: JointType, q: Sequence[float]) -> None:
    rng = np.random.default_rng(1)
    v = rng.normal(size=joint.nv)

    def X(at: Sequence[float]) -> Floats:
        return np.array(
            _call(name, 'transform', lambda: joint.transform(list(at)).matrix()), dtype=float
        )

    def S(at: Sequence[float]) -> Floats:
        columns = _call(name, 'motion_subspace', lambda: joint.motion_subspace(list(at)).columns)
        return np.array([c.to_array() for c in columns], dtype=float).reshape(-1, 6).T

    def moved(t: float) -> Sequence[float]:
        return [
            float(x)
            for x in _call(name, 'integrate', lambda: joint.integrate(list(q), (t * v).tolist()))
        ]

    E = X(q)[:3, :3]
    if not np.allclose(E @ E.T, np.eye(3), atol=1e-9) or np.linalg.det(E) < 0.0:
        raise _contradiction(name, 'transform', 'it is not a rotation and translation')
    if list(q) == list(joint.neutral()) and not np.allclose(X(q), np.eye(6), atol=1e-12):
        raise _contradiction(name, 'neutral', 'the transform there is not the identity')
    subspace = S(q)
    if subspace.shape != (6, joint.nv):
        raise _contradiction(
            name, 'motion_subspace', f'it has {subspace.shape[1]} columns for nv = {joint.nv}'
        )
    forces = _call(name, 'constraint_forces', lambda: joint.constraint_forces(list(q)))
    T = np.array([f.to_array() for f in forces], dtype=float).reshape(-1, 6).T
    if T.shape[1] != 6 - joint.nv or np.linalg.matrix_rank(T) < 6 - joint.nv:
        raise _contradiction(
            name, 'constraint_forces', f'they are not {6 - joint.nv} independent vectors'
        )
    if np.abs(T.T @ subspace).max(initial=0.0) > 1e-9:
        raise _contradiction(name, 'constraint_forces', 'they do work along the motion subspace')
    if joint.is_rheonomic:
        return
    rate = _slope(lambda t: X(moved(t)))
    if not np.allclose(_axial(-rate @ np.linalg.inv(X(q))), subspace @ v, atol=_TOLERANCE):
        raise _contradiction(name, 'motion_subspace', 'it is not the derivative of transform')
    columns = _call(
        name,
        'motion_subspace_rate',
        lambda: joint.motion_subspace_rate(list(q), v.tolist()).columns,
    )
    found = np.array([c.to_array() for c in columns], dtype=float).reshape(-1, 6).T
    if found.shape != subspace.shape or not np.allclose(
        found, _slope(lambda t: S(moved(t))), atol=_TOLERANCE
    ):
        raise _contradiction(
            name, 'motion_subspace_rate', 'it is not the derivative of motion_subspace'
        )
    rates = _call(name, 'position_rate', lambda: joint.position_rate(list(q), v.tolist()))
    ahead = _slope(lambda t: np.array(moved(t)))
    if len(rates) != joint.nq or not np.allclose(rates, ahead, atol=_TOLERANCE):
        raise _contradiction(name, 'position_rate', 'it is not the derivative of integrate')
    back = _call(name, 'difference', lambda: joint.difference(list(q), list(moved(0.3))))
    if len(back) != joint.nv or not np.allclose(back, 0.3 * v, atol=_TOLERANCE):
        raise _contradiction(name, 'difference', 'it is not the inverse of integrate')


def _slope(function: Callable[[float], Floats]) -> Floats:
    """Return the derivative at zero by central differences of two steps (Richardson)."""
    coarse, fine = ((function(h) - function(-h)) / (2.0 * h) for h in (_STEP, 0.5 * _STEP))
    slope: Floats = (4.0 * fine - coarse) / 3.0
    return slope


def _axial(m: Floats) -> Floats:
    """Return the motion vector m of a matrix m x (book 2.9)."""
    return np.array([m[2, 1], m[0, 2], m[1, 0], m[5, 1], m[3, 2], m[4, 0]])


def _call(name: str, verb: str, run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Exception as error:
        raise _broken(name, verb, error) from error


def _broken(name: str, verb: str, error: Exception) -> ModelError:
    reason = ' '.join(str(error).split())[:200]
    return ModelError(
        f'joint type {name}: {verb} fails with {type(error).__name__}: {reason}; correct that '
        'method'
    )


def _contradiction(name: str, verb: str, problem: str) -> ModelError:
    return ModelError(f'joint type {name}: {verb}: {problem}; correct that method')
