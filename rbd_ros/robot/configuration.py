"""Configurations of a robot: the neutral one, random ones, differences."""

from __future__ import annotations

import math

import numpy as np

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
        kind = body.joint.kind
        if kind == 'floating':
            quaternion = rng.normal(size=4)
            q[at_q] = [*quaternion / np.linalg.norm(quaternion), *rng.uniform(-1.0, 1.0, 3)]
        elif kind == 'planar':
            q[at_q] = [rng.uniform(-math.pi, math.pi), *rng.uniform(-1.0, 1.0, 2)]
        else:
            reach = math.pi if kind == 'revolute' else 1.0
            lower, upper = body.limits.lower, body.limits.upper
            if math.isinf(lower) and math.isinf(upper):
                lower, upper = -reach, reach
            elif math.isinf(lower):
                lower = upper - 2.0 * reach
            elif math.isinf(upper):
                upper = lower + 2.0 * reach
            q[at_q] = rng.uniform(lower, upper)
    return q


def difference(model: Model, q0, q1) -> np.ndarray:
    """Velocity that leads from `q0` to `q1` in unit time, (nv,) or (N, nv).

    :raises ValueError: for a wrong shape
    """
    q0, q1 = np.asarray(q0, dtype=float), np.asarray(q1, dtype=float)
    for name, q in (('q0', q0), ('q1', q1)):
        if q.ndim not in (1, 2) or q.shape[-1] != model.nq:
            raise ValueError(
                f'difference(): {name} must have shape ({model.nq},) or (N, {model.nq}), '
                f'got {q.shape}'
            )
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
