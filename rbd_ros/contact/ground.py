# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The ground that a robot can touch: a half-space, and parameters of soft contact with it."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Optional, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray


@dataclass(frozen=True)
class HalfSpace:
    """Solid ground below a plane: all points x with normal . x <= offset.

    :param normal: outward normal in base coordinates, (3,); made a unit vector
    :param offset: distance of the plane from the base's origin along the normal [m]
    :raises ValueError: if the normal is zero, or anything is not finite

    >>> from rbd_ros.contact import HalfSpace
    >>> slope = HalfSpace(normal=(0.0, -0.6, 0.8), offset=0.0)
    >>> np.round(slope.axes()[0], 3)
    array([ 0. , -0.6,  0.8])
    """

    normal: Tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        normal = np.asarray(self.normal, dtype=float)
        if normal.shape != (3,) or not np.isfinite(normal).all() or not normal.any():
            raise ValueError(
                f'the normal of the ground must be (3,), finite and not zero, got {self.normal}'
            )
        if not math.isfinite(self.offset):
            raise ValueError(f'the offset of the ground must be finite, got {self.offset}')
        normal = normal / np.abs(normal).max()  # so that no square overflows or vanishes
        object.__setattr__(
            self, 'normal', tuple(float(x) for x in normal / np.linalg.norm(normal))
        )
        object.__setattr__(self, 'offset', float(self.offset))

    def axes(self) -> FloatArray:
        """Return normal and two tangents as rows, right-handed, in base coordinates, (3, 3)."""
        normal = np.array(self.normal)
        # Any axis that is not nearly parallel will do; friction is the same in all directions.
        helper = np.eye(3)[0 if abs(normal[0]) < 0.9 else 1]
        first = helper - (helper @ normal) * normal
        first /= np.linalg.norm(first)
        return np.array([normal, first, np.cross(normal, first)])


@dataclass(frozen=True)
class ContactParameters:
    """Parameters of soft contact at one contact point (book 11.8).

    Several contact points act as springs and dampers in parallel.

    :param stiffness: K_n [N/m]
    :param damping: D_n [N s/m]
    :param friction: coefficient of Coulomb friction mu
    :param tangential_stiffness: K_t [N/m]; None: as `stiffness`
    :param tangential_damping: D_t [N s/m]; None: as `damping`
    :raises ValueError: if a stiffness is not positive, something else negative, or anything not
        finite

    >>> from rbd_ros.contact import ContactParameters
    >>> ContactParameters(stiffness=1e5, damping=1e3, friction=0.6).array()
    array([100000. ,   1000. , 100000. ,   1000. ,      0.6])
    """

    # 10 kg on four points sink by 0.5 mm, and the surface recovers with a time constant D/K of
    # 10 ms: ten default steps.
    stiffness: float = 5e4
    damping: float = 5e2
    friction: float = 0.8
    tangential_stiffness: Optional[float] = None
    tangential_damping: Optional[float] = None

    def __post_init__(self) -> None:
        for name in ('stiffness', 'tangential_stiffness'):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < math.inf:
                raise ValueError(f'contact {name} must be positive and finite, got {value}')
        for name in ('damping', 'friction', 'tangential_damping'):
            value = getattr(self, name)
            if value is not None and not 0.0 <= value < math.inf:
                raise ValueError(f'contact {name} must not be negative or infinite, got {value}')

    def array(self) -> FloatArray:
        """Return the numbers as compiled loops take them.

        K_n, D_n, K_t, D_t, mu, (5,) [N/m, N s/m, 1].
        """
        K_t = self.stiffness if self.tangential_stiffness is None else self.tangential_stiffness
        D_t = self.damping if self.tangential_damping is None else self.tangential_damping
        # Compiled loops read them by index, in this order (law.py, ground_contact.py, sweeps.py).
        return np.array([self.stiffness, self.damping, K_t, D_t, self.friction], dtype=float)
