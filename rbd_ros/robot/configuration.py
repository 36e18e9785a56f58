"""Configurations of a robot: the neutral one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rbd_ros.model import Model


def neutral(model: Model) -> NDArray[np.float64]:
    """Configuration with every joint transform the identity, (nq,) [rad, m]."""
    return np.array(
        [x for i in model.independent for x in model.body(i).joint.neutral()], dtype=float
    )
