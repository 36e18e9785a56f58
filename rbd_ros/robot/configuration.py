"""Configurations of a robot: the neutral one, random ones."""

from __future__ import annotations

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
        q[at_q] = body.joint.random(rng, body.limits.lower, body.limits.upper)
    return q
