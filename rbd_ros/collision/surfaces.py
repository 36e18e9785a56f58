"""What a surface is like to touch, and what two surfaces are like that touch each other.

Where nothing is said of a pair, friction is the geometric mean of both and restitution the maximum
of both, as in Box2D (b2MixFriction, b2MixRestitution): anything slides on ice, and a rubber ball
bounces on anything. Other engines take the minimum (Gazebo), the product (Bullet) or the maximum
(MuJoCo) of frictions; no rule is physical, so what matters should be given for the pair.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Optional, Tuple

from rbd_ros.spatial.linear3 import Vector3


@dataclass(frozen=True)
class Surface:
    """Properties of a surface, or of a pair of surfaces.

    :param friction: coefficients of Coulomb friction along the first direction and across it, (2,)
    :param direction: first direction of friction in coordinates of the (first) object, (3,); what
        of it is tangential counts
    :param torsional: coefficient of friction against turning about the normal [m]
    :param rolling: coefficient of friction against rolling [m]
    :param restitution: coefficient of restitution, 0 to 1
    :param stiffness: stiffness of a contact [N/m]; None: rigid
    :param damping: damping of a contact that is not rigid [N s/m]
    :raises ValueError: for what is negative or not finite

    >>> from rbd_ros.collision import Surface
    >>> belt = Surface(friction=(0.6, 0.2), direction=(0.0, 1.0, 0.0))
    >>> belt.isotropic, round(belt.anisotropy, 6)
    (False, 3.0)
    """

    friction: Tuple[float, float] = (0.8, 0.8)
    direction: Vector3 = (1.0, 0.0, 0.0)
    torsional: float = 0.0
    rolling: float = 0.0
    restitution: float = 0.0
    stiffness: Optional[float] = None
    damping: float = 0.0

    def __post_init__(self) -> None:
        if len(self.friction) != 2:
            raise ValueError(f'friction must be two numbers, got {self.friction}')
        numbers = {
            'friction': min(self.friction),
            'friction, the larger': max(self.friction),
            'torsional': self.torsional,
            'rolling': self.rolling,
            'restitution': self.restitution,
            'damping': self.damping,
        }
        for name, value in numbers.items():
            if not (math.isfinite(value) and value >= 0.0):
                raise ValueError(f'{name} must be finite and not negative, got {value}')
        if self.restitution > 1.0:
            raise ValueError(f'restitution must be at most 1, got {self.restitution}')
        if self.stiffness is not None and not 0.0 < self.stiffness < math.inf:
            raise ValueError(f'stiffness must be positive and finite, got {self.stiffness}')
        if self.stiffness is None and self.damping > 0.0:
            raise ValueError('damping is that of a compliant surface; give its stiffness too')

    @property
    def isotropic(self) -> bool:
        """Whether friction is the same in all directions."""
        return self.friction[0] == self.friction[1]

    @property
    def anisotropy(self) -> float:
        """Ratio of the larger to the smaller coefficient of friction, 1 if there is none."""
        low, high = sorted(self.friction)
        return 1.0 if low == high else math.inf if low == 0.0 else high / low


def combined(first: Surface, second: Surface) -> Surface:
    """Properties of a pair of surfaces of which nothing else is said.

    Friction is the geometric mean, restitution, torsional and rolling friction the maximum.
    Springs and dampers are in series, which is exact if both recover equally fast. Friction has
    the directions of the surface in which it depends on them more; of the other one the geometric
    mean counts in all directions.

    :param first: one surface; `direction` of the result is that of the surface chosen, and in its
        coordinates
    :param second: the other surface

    >>> from rbd_ros.collision import combined, Surface
    >>> ice, rubber = Surface((0.04, 0.04)), Surface((1.0, 1.0), restitution=0.7)
    >>> pair = combined(ice, rubber)
    >>> pair.friction, pair.restitution
    ((0.2, 0.2), 0.7)
    """
    leading, other = (first, second) if directed_by_first(first, second) else (second, first)
    if other.isotropic:
        mean = other.friction[0]
    else:
        mean = math.sqrt(other.friction[0]) * math.sqrt(other.friction[1])
    along, across = (math.sqrt(mu) * math.sqrt(mean) for mu in leading.friction)
    if leading.friction == (mean, mean):
        along = across = mean  # without rounding
    stiffness, damping = first.stiffness, first.damping
    if stiffness is None:
        stiffness, damping = second.stiffness, second.damping
    elif second.stiffness is not None:
        stiffness = _in_series(stiffness, second.stiffness)
        damping = _in_series(damping, second.damping)
    return Surface(
        friction=(along, across),
        direction=leading.direction,
        torsional=max(first.torsional, second.torsional),
        rolling=max(first.rolling, second.rolling),
        restitution=max(first.restitution, second.restitution),
        stiffness=stiffness,
        damping=damping,
    )


def directed_by_first(first: Surface, second: Surface) -> bool:
    """Whether the first of two surfaces gives a pair its directions of friction.

    >>> from rbd_ros.collision import Surface
    >>> from rbd_ros.collision.surfaces import directed_by_first
    >>> directed_by_first(Surface((0.5, 0.5)), Surface((0.5, 0.1)))
    False
    """
    return first.anisotropy >= second.anisotropy


def _in_series(a: float, b: float) -> float:
    return 0.0 if a == 0.0 or b == 0.0 else 1.0 / (1.0 / a + 1.0 / b)
