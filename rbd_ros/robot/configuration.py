"""Configurations of a robot: the neutral one."""

from __future__ import annotations

import numpy as np

from rbd_ros.model import Model


def neutral(model: Model) -> np.ndarray:
    """Configuration with every joint transform the identity, (nq,)."""
    return np.array(
        [x for i in model.independent for x in model.body(i).joint.neutral()], dtype=float
    )
