"""Configurations of a robot: the neutral one, random ones, differences."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.model import Model


def neutral(model: Model) -> np.ndarray:
    """Configuration with every joint transform the identity, (nq,)."""
    return np.array(
        [x for i in model.independent for x in model.body(i).joint.neutral()], dtype=float
    )


def random_configuration(model: Model, rng: np.random.Generator) -> np.ndarray:
    """Configuration drawn uniformly, (nq,).

    Between the limits of a joint; without limits, within pi for a rotation and 1 m for a
    translation. Orientations are uniform on the rotation group.
    """
    q = np.empty(model.nq)
    for i, (at_q, _) in model.independent_slices.items():
        body = model.body(i)
        q[at_q] = body.joint.random(rng, body.limits.lower, body.limits.upper)
    return q


def displacement(model: Model, v: ArrayLike, dt: ArrayLike) -> np.ndarray:
    """Product of a velocity, (nv,) or (N, nv), and a time, a number or (N,).

    :raises ValueError: for a wrong shape or dtype
    """
    v, dt = _real('integrate', 'v', v), _real('integrate', 'dt', dt)
    if v.ndim not in (1, 2) or v.shape[-1] != model.nv:
        raise ValueError(
            f'integrate(): v must have shape ({model.nv},) or (N, {model.nv}), got {v.shape}'
        )
    if dt.ndim == 0:
        return v * dt
    if dt.ndim != 1 or (v.ndim == 2 and len(dt) != len(v)):
        rows = f'({len(v)},)' if v.ndim == 2 else '(N,)'
        raise ValueError(f'integrate(): dt must be a number or have shape {rows}, got {dt.shape}')
    return v * dt[:, None]


def _real(function: str, name: str, given: ArrayLike) -> np.ndarray:
    array = np.asarray(given)
    if array.dtype.kind not in 'fiu':
        raise ValueError(f'{function}(): {name} must hold real numbers, got dtype {array.dtype}')
    return array.astype(float)


def difference(model: Model, q0: ArrayLike, q1: ArrayLike) -> np.ndarray:
    """Velocity that leads from `q0` to `q1` in unit time, (nv,) or (N, nv).

    :raises ValueError: for a wrong shape
    """
    q0, q1 = _real('difference', 'q0', q0), _real('difference', 'q1', q1)
    for name, q in (('q0', q0), ('q1', q1)):
        if q.ndim not in (1, 2) or q.shape[-1] != model.nq:
            raise ValueError(
                f'difference(): {name} must have shape ({model.nq},) or (N, {model.nq}), '
                f'got {q.shape}'
            )
    if q0.ndim == q1.ndim == 2 and len(q0) != len(q1):
        raise ValueError(f'difference(): q0 has {len(q0)} rows but q1 has {len(q1)}')
    q0, q1 = np.broadcast_arrays(q0, q1)
    result = np.empty((*q0.shape[:-1], model.nv))
    for i, (at_q, at_v) in model.independent_slices.items():
        columns = model.body(i).joint.difference(
            [q0[..., k] for k in range(model.nq)[at_q]],
            [q1[..., k] for k in range(model.nq)[at_q]],
        )
        for k, column in zip(range(model.nv)[at_v], columns):
            result[..., k] = column
    return result
