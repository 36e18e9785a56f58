# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact properties of a surface and of a pair of surfaces.

Without an entry for the pair, friction is the geometric mean and restitution the maximum of both,
as in Box2D (b2MixFriction, b2MixRestitution): everything slides on ice, and a rubber ball bounces
on everything. Other engines use the minimum (Gazebo), the product (Bullet) or the maximum (MuJoCo)
of frictions. No rule is physical, so important pairs need an entry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
import math
from typing import Optional, Tuple

from rbd_ros.spatial.linear3 import Vector3

#: Range of spring exponents, and that of Hertz contact of round bodies.
EXPONENTS, HERTZ = (1.0, 10.0), 1.5


@dataclass(frozen=True)
class Surface:
    """Properties of a surface, or of a pair of surfaces.

    :param friction: coefficients of Coulomb friction along the first direction and across it, (2,)
    :param direction: first direction of friction in coordinates of the (first) object, (3,); its
        tangential component counts
    :param torsional: coefficient of torsional friction about the normal [m]
    :param rolling: coefficient of rolling friction [m]
    :param restitution: coefficient of restitution, 0 to 1
    :param stiffness: stiffness K of a contact [N/m, N/m^n]; None: rigid
    :param damping: damping D of a linear spring [N s/m]: f = K d + D dd/dt at depth d
    :param exponent: n, 1 to 10, of Hunt and Crossley's spring, f = K d^n (1 + c dd/dt); None: the
        spring is linear, or 3/2 with dissipation
    :param dissipation: c of Hunt and Crossley's spring [s/m]
    :raises ValueError: for negative, infinite or inconsistent values

    >>> from rbd_ros.world import Surface
    >>> belt = Surface(friction=(0.6, 0.2), direction=(0.0, 1.0, 0.0))
    >>> belt.isotropic, round(belt.anisotropy, 6)
    (False, 3.0)
    >>> Surface(stiffness=1e6, dissipation=0.3).exponent
    1.5
    """

    friction: Tuple[float, float] = (0.8, 0.8)
    direction: Vector3 = (1.0, 0.0, 0.0)
    torsional: float = 0.0
    rolling: float = 0.0
    restitution: float = 0.0
    stiffness: Optional[float] = None
    damping: float = 0.0
    exponent: Optional[float] = None
    dissipation: float = 0.0

    def __post_init__(self) -> None:
        # A contact problem with negative or infinite coefficients has no solution, so they are
        # rejected here.
        if len(self.friction) != 2:
            raise ValueError(f'friction must be two numbers, got {self.friction}')
        numbers = {
            'friction': min(self.friction),
            'friction, the larger': max(self.friction),
            'torsional': self.torsional,
            'rolling': self.rolling,
            'restitution': self.restitution,
            'damping': self.damping,
            'dissipation': self.dissipation,
        }
        for name, value in numbers.items():
            if not (math.isfinite(value) and value >= 0.0):
                raise ValueError(f'{name} must be finite and not negative, got {value}')
        if self.restitution > 1.0:
            raise ValueError(f'restitution must be at most 1, got {self.restitution}')
        if self.stiffness is not None and not 0.0 < self.stiffness < math.inf:
            raise ValueError(f'stiffness must be positive and finite, got {self.stiffness}')
        if self.stiffness is None and self.damping > 0.0:
            raise ValueError('damping needs stiffness; give both')
        # Dissipation only exists in Hunt and Crossley's law, so it selects that law. The class is
        # frozen.
        if self.exponent is None and self.dissipation > 0.0:
            object.__setattr__(self, 'exponent', HERTZ)
        if self.exponent is not None:
            if not EXPONENTS[0] <= self.exponent <= EXPONENTS[1]:
                raise ValueError(f'exponent must be from 1 to 10, got {self.exponent}')
            if self.stiffness is None:
                raise ValueError('exponent and dissipation need stiffness; give it too')
            if self.damping > 0.0:
                raise ValueError(
                    'damping applies to a linear spring only; give dissipation with an exponent'
                )

    @property
    def isotropic(self) -> bool:
        """True if friction is the same in all directions."""
        return self.friction[0] == self.friction[1]

    @property
    def anisotropy(self) -> float:
        """Ratio of the larger to the smaller coefficient of friction, 1 if both are zero."""
        low, high = sorted(self.friction)
        # Two zeros are isotropic; with one zero the ratio has no bound.
        return 1.0 if low == high else math.inf if low == 0.0 else high / low


def combine_surfaces(first: Surface, second: Surface) -> Surface:
    """Return the properties of a pair of surfaces without an entry.

    Friction is the geometric mean; restitution, torsional and rolling friction are the maximum.
    Linear springs and dampers are in series, which is exact if both recover equally fast. So are
    Hunt-Crossley springs with one exponent: K^(-1/n) is the sum of both K_i^(-1/n), and
    c = s_1^2 c_1 + s_2^2 c_2 with the fractions of depth s_i = (K/K_i)^(1/n). That is exact if
    s_1 c_1 = s_2 c_2, and otherwise for small c dd/dt. The surface with the larger anisotropy
    defines the directions; the other one contributes its geometric mean in all directions.

    :param first: one surface; `direction` of the result is that of the more anisotropic surface,
        in its coordinates
    :param second: the other surface
    :raises ValueError: if both are compliant with different laws

    >>> from rbd_ros.world import combine_surfaces, Surface
    >>> ice, rubber = Surface((0.04, 0.04)), Surface((1.0, 1.0), restitution=0.7)
    >>> pair = combine_surfaces(ice, rubber)
    >>> pair.friction, pair.restitution
    ((0.2, 0.2), 0.7)
    """
    leading, other = (first, second) if directed_by_first(first, second) else (second, first)
    if other.isotropic:
        mean = other.friction[0]
    else:
        # Product of roots: the product of two tiny coefficients would be zero.
        mean = math.sqrt(other.friction[0]) * math.sqrt(other.friction[1])
    along, across = (math.sqrt(mu) * math.sqrt(mean) for mu in leading.friction)
    # Equal surfaces keep their coefficient exactly.
    if leading.friction == (mean, mean):
        along = across = mean  # without rounding
    spring = second if first.stiffness is None else first
    if first.stiffness is not None and second.stiffness is not None:
        spring = _in_series(first, second)
    return Surface(
        friction=(along, across),
        direction=leading.direction,
        torsional=max(first.torsional, second.torsional),
        rolling=max(first.rolling, second.rolling),
        restitution=max(first.restitution, second.restitution),
        stiffness=spring.stiffness,
        damping=spring.damping,
        exponent=spring.exponent,
        dissipation=spring.dissipation,
    )


def rigid(surface: Surface) -> Surface:
    """Return the surface without its compliance."""
    return replace(surface, stiffness=None, damping=0.0, exponent=None, dissipation=0.0)


def directed_by_first(first: Surface, second: Surface) -> bool:
    """Return whether the first of two surfaces defines the directions of friction of the pair."""
    return first.anisotropy >= second.anisotropy


def _in_series(first: Surface, second: Surface) -> Surface:
    """Return the surface with the springs of two compliant surfaces in series."""
    assert first.stiffness is not None and second.stiffness is not None
    if first.exponent != second.exponent:
        laws = [
            'linear' if each.exponent is None else f'of exponent {each.exponent:g}'
            for each in (first, second)
        ]
        raise ValueError(
            f'their springs, {laws[0]} and {laws[1]}, cannot be combined in series; give the '
            'pair its own compliance'
        )
    # The same force f compresses both: d_i = (f / K_i)^(1/n), and depths add up.
    n = 1.0 if first.exponent is None else first.exponent
    soft = first.stiffness ** (-1.0 / n), second.stiffness ** (-1.0 / n)
    shares = [each / (soft[0] + soft[1]) for each in soft]
    damping = 0.0
    if first.damping > 0.0 and second.damping > 0.0:
        # Dampers in series add their compliances; without one of them, nothing damps.
        damping = 1.0 / (1.0 / first.damping + 1.0 / second.damping)
    return replace(
        first,
        stiffness=1.0 / (1.0 / first.stiffness + 1.0 / second.stiffness)
        if first.exponent is None
        else (soft[0] + soft[1]) ** -n,
        damping=damping,
        # Dissipated powers add up: f c_i (dd_i/dt)^2 in each spring, rates as depths.
        dissipation=shares[0] ** 2 * first.dissipation + shares[1] ** 2 * second.dissipation,
    )
