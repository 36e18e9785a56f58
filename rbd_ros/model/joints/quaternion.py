"""What joints whose position is a quaternion (w, x, y, z) share."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np

from rbd_ros.model.joints.joint_type import Scalars
from rbd_ros.spatial.rotation import quaternion_product


def quaternion_rate(q: Scalars, w: Scalars) -> tuple:
    """Rate at the angular velocity `w` in successor coordinates (book eq 4.13), (4,)."""
    return tuple(0.5 * x for x in quaternion_product(q, (0.0, *w)))


def random_quaternion(rng: np.random.Generator) -> np.ndarray:
    """Unit quaternion, uniform on the rotation group, (4,)."""
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def unit_quaternion(q: Scalars) -> Tuple[float, ...]:
    """Quaternion of length one; one that is so to rounding stays, to the bit.

    :raises ValueError: if it is zero
    """
    length = math.sqrt(sum(x * x for x in q))
    if not length > 0.0:
        raise ValueError('its quaternion is zero')
    return tuple(q) if abs(length - 1.0) <= 1e-15 else tuple(x / length for x in q)
