# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compliant surfaces in continuous time, and the book's extensions of them (book 11.8).

A surface is massless: its forces are in balance, so its deformation z, negative when pressed in,
is a state of first order. p is the gap of the body above the undeformed surface. In contact p = z
(or p < z after an integrator step):

    f_n = 0 if p > z, else max(0, -K z - D dp/dt)          (11.74, 11.75)
    dz/dt = -(K z + f_n)/D                                 (11.73, 11.76)

law.py discretizes the same laws. Here they give forces and rates at one time, for any integrator
of the caller. If a contact point moves over the surface, spring, damper and their states move
along.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import NamedTuple, Protocol, Tuple

from rbd_ros.contact.ground import ContactParameters
from rbd_ros.contact.law import within_cone

Pair = Tuple[float, float]
Deformation = Tuple[float, ...]


def _require(name: str, value: float, positive: bool) -> None:
    if not (0.0 < value < math.inf or (value == 0.0 and not positive)):
        what = 'be positive and finite' if positive else 'not be negative or infinite'
        raise ValueError(f'{name} must {what}, got {value}')


class Surface(Protocol):
    """Compliant surface: a normal force, and rates of its deformations.

    :param states: number of its deformations
    """

    states: int

    def force(self, p: float, p_rate: float, z: Deformation) -> float:
        """Return the normal force on the body [N].

        :param p: gap above the undeformed surface [m]
        :param p_rate: its rate [m/s]
        :param z: deformations, (states,) [m]
        """

    def rates(self, p: float, p_rate: float, z: Deformation) -> Deformation:
        """Return rates of the deformations, (states,) [m/s]; arguments are those of `force`."""


@dataclass(frozen=True)
class LinearSurface:
    """A spring and a damper side by side (book eq 11.73 and 11.74).

    :param stiffness: K [N/m]
    :param damping: D [N s/m]
    :raises ValueError: if one of them is not positive and finite

    >>> from rbd_ros.contact import LinearSurface
    >>> surface = LinearSurface(stiffness=1e4, damping=100.0)
    >>> surface.force(-0.001, 0.0, (-0.001,))  # pressed in by 1 mm [N]
    10.0
    >>> surface.rates(0.01, 0.0, (-0.001,))  # let go, it recovers [m/s]
    (0.1,)
    >>> round(surface.recovered(-0.001, 0.01), 6)  # after 10 ms [m]
    -0.000368
    """

    stiffness: float
    damping: float
    states = 1

    def __post_init__(self) -> None:
        _require('stiffness', self.stiffness, True)
        _require('damping', self.damping, True)

    def force(self, p: float, p_rate: float, z: Deformation) -> float:
        """Return the normal force (11.74) [N]; arguments are those of `Surface.force`."""
        # The gap counts from the deformed surface, not from the undeformed one.
        if p > z[0]:
            return 0.0
        # A surface only pushes: the damper alone would pull a body that leaves fast (11.74).
        return max(0.0, -self.stiffness * z[0] - self.damping * p_rate)

    def rates(self, p: float, p_rate: float, z: Deformation) -> Deformation:
        """Return rate of the deformation (11.73), (1,) [m/s]; arguments as for `Surface.force`."""
        return (-(self.stiffness * z[0] + self.force(p, p_rate, z)) / self.damping,)

    def recovered(self, z_0: float, time: float) -> float:
        """Return the deformation some time after contact was lost at z_0: z_0 exp(-K t/D) [m].

        :param z_0: deformation when contact was lost [m]
        :param time: time since then [s]
        """
        # Solution of (11.73) with f_n = 0.
        return z_0 * math.exp(-self.stiffness * time / self.damping)


@dataclass(frozen=True)
class TwoSurfaces:
    """Two compliant surfaces in contact, each with its own deformation (book 11.8).

    Where they touch, p = z_1 + z_2, and both bear the same force. A second surface without damping
    is a spring in series with the first spring-damper pair: the three-parameter solid.

    :param first: one surface
    :param stiffness: K of the other surface [N/m]
    :param damping: D of the other surface, which may be zero [N s/m]
    :raises ValueError: for invalid numbers

    >>> from rbd_ros.contact import LinearSurface, TwoSurfaces
    >>> pads = TwoSurfaces(LinearSurface(1e4, 100.0), 1e4, 100.0)
    >>> pads.lumped().stiffness, pads.lumped().damping  # [N/m], [N s/m]
    (5000.0, 50.0)
    >>> z = (-0.001, -0.001)  # each gives way by 1 mm
    >>> pads.force(-0.002, 0.0, z), pads.rates(-0.002, 0.0, z)  # [N], [m/s]
    (10.0, (-0.0, -0.0))
    """

    first: LinearSurface
    stiffness: float
    damping: float
    states = 2

    def __post_init__(self) -> None:
        _require('stiffness', self.stiffness, True)
        _require('damping', self.damping, False)

    def force(self, p: float, p_rate: float, z: Deformation) -> float:
        """Return normal force [N]; arguments are those of `Surface.force`, with z = (z_1, z_2)."""
        K_1, D_1, K_2, D_2 = self._parameters
        if p > z[0] + z[1]:
            return 0.0
        if D_2 == 0.0:
            # The spring follows at once, from any state.
            return max(0.0, -K_2 * (p - z[0]))
        # From dz_i/dt = -(K_i z_i + f)/D_i, whose sum is dp/dt.
        return max(0.0, -(K_1 * z[0] / D_1 + K_2 * z[1] / D_2 + p_rate) / (1.0 / D_1 + 1.0 / D_2))

    def rates(self, p: float, p_rate: float, z: Deformation) -> Deformation:
        """Return the rates of both deformations, (2,) [m/s]; arguments are those of `force`."""
        K_1, D_1, K_2, D_2 = self._parameters
        f = self.force(p, p_rate, z)
        first = -(K_1 * z[0] + f) / D_1
        if D_2 > 0.0:
            return first, -(K_2 * z[1] + f) / D_2
        # A spring without damping is in balance at once: its rate follows from p = z_1 + z_2.
        return first, (p_rate - first if f > 0.0 else 0.0)

    def lumped(self) -> LinearSurface:
        """Return one surface for both, which exists if they recover equally fast.

        :raises ValueError: if K/D is not the same for both
        """
        K_1, D_1, K_2, D_2 = self._parameters
        # Products instead of ratios: D_2 may be zero.
        if not math.isclose(K_1 * D_2, K_2 * D_1, rel_tol=1e-9):
            raise ValueError(
                'surfaces can be lumped together only if K/D is the same for both, got '
                f'{K_1 / D_1:g} and {K_2 / D_2 if D_2 else math.inf:g} 1/s'
            )
        # Compliances add up in series, 1/K = 1/K_1 + 1/K_2, and so do those of dampers.
        return LinearSurface(K_1 * K_2 / (K_1 + K_2), D_1 * D_2 / (D_1 + D_2))

    @property
    def _parameters(self) -> Tuple[float, float, float, float]:
        return self.first.stiffness, self.first.damping, self.stiffness, self.damping


@dataclass(frozen=True)
class HuntCrossleySurface:
    """A spring that stiffens, with damping that grows with the deformation.

    f = (-z)^n (K - c dz/dt): the force does not jump at first contact, and the loss grows with the
    impact speed (K. Hunt and F. Crossley, 1975; D. Marhefka and D. Orin, 1999). n = 3/2 is
    Hertz's contact of spheres. Without load, the surface recovers at the speed K/c.

    :param stiffness: K [N/m^n]
    :param damping: c [N s/m^(n + 1)]
    :param exponent: n
    :raises ValueError: if one of them is not positive and finite

    >>> from rbd_ros.contact import HuntCrossleySurface
    >>> surface = HuntCrossleySurface(stiffness=1e6, damping=1e5)
    >>> round(surface.force(-0.001, 0.0, (-0.001,)), 2)  # 1e6 0.001^1.5 [N]
    31.62
    >>> surface.rates(0.01, 0.0, (-0.001,))  # let go, it recovers [m/s]
    (10.0,)
    """

    stiffness: float
    damping: float
    exponent: float = 1.5
    states = 1

    def __post_init__(self) -> None:
        _require('stiffness', self.stiffness, True)
        _require('damping', self.damping, True)
        _require('exponent', self.exponent, True)

    def force(self, p: float, p_rate: float, z: Deformation) -> float:
        """Return the normal force [N]; arguments are those of `Surface.force`."""
        if p > z[0] or z[0] >= 0.0:
            return 0.0
        power: float = (-z[0]) ** self.exponent
        return max(0.0, power * (self.stiffness - self.damping * p_rate))

    def rates(self, p: float, p_rate: float, z: Deformation) -> Deformation:
        """Return rate of the deformation, (1,) [m/s]; arguments are those of `Surface.force`."""
        recovering = self.stiffness / self.damping if z[0] < 0.0 else 0.0
        if p > z[0]:
            return (recovering,)
        # In contact the surface follows the body, unless the body leaves faster than it recovers.
        return (min(p_rate, recovering),)


class SurfaceMemory:
    """A linear surface whose state need not be integrated (book 11.8).

    In contact, the deformation is the gap; afterwards it is known in closed form from the time and
    gap at which contact was lost. The integrator of the body calls `keep` after each step.

    >>> from rbd_ros.contact import LinearSurface, SurfaceMemory
    >>> memory = SurfaceMemory(LinearSurface(1e4, 100.0))
    >>> memory.force(0.0, -0.001, 0.0)  # [N]
    10.0
    >>> memory.keep(0.0, -0.001, 0.0)
    >>> round(memory.deformation(0.01), 6)  # 10 ms after contact was lost [m]
    -0.000368
    """

    def __init__(self, surface: LinearSurface):
        self.surface = surface
        self._lost_at, self._lost_z = 0.0, 0.0

    def deformation(self, time: float) -> float:
        """Return the deformation if contact is not made again until then [m].

        :param time: time [s]
        """
        return self.surface.recovered(self._lost_z, time - self._lost_at)

    def force(self, time: float, p: float, p_rate: float) -> float:
        """Return the normal force on the body [N].

        :param time: time [s]
        :param p: gap above the undeformed surface [m]
        :param p_rate: its rate [m/s]
        """
        # A body at the surface has its deformation, even if the step has left the surface behind.
        return 0.0 if p > self.deformation(time) else self.surface.force(p, p_rate, (p,))

    def keep(self, time: float, p: float, p_rate: float) -> None:
        """Remember the state at the end of a step; arguments are those of `force`."""
        if self.force(time, p, p_rate) > 0.0:
            self._lost_at, self._lost_z = time, p


class ContactForces(NamedTuple):
    """Forces at a contact point and rates of its states.

    :param normal: normal force f_n [N]
    :param tangential: force along both tangents, friction and drag [N]
    :param deformation_rates: rates of z [m/s]
    :param tangential_rates: rates of x [m/s]
    """

    normal: float
    tangential: Pair
    deformation_rates: Deformation
    tangential_rates: Pair


@dataclass(frozen=True)
class CompliantContactModel:
    """A contact point with a compliant surface, Coulomb friction and drag (eq 11.75 to 11.79).

    :param surface: law of the normal direction
    :param stiffness: K_t along both tangents [N/m]
    :param damping: D_t along both tangents [N s/m]
    :param friction: coefficient of Coulomb friction mu
    :param drag: coefficient of the viscous force against the motion of the contact point over the
        surface, as in rolling [N s/m]
    :raises ValueError: for invalid numbers

    >>> from rbd_ros.contact import CompliantContactModel, LinearSurface
    >>> foot = CompliantContactModel(LinearSurface(1e4, 100.0), 1e4, 100.0, friction=0.5)
    >>> forces = foot.evaluate(-0.001, 0.0, (0.1, 0.0), (-0.001,), (0.0, 0.0))
    >>> forces.normal, forces.tangential  # it slips: friction is at its bound [N]
    (10.0, (-5.0, -0.0))
    """

    surface: Surface
    stiffness: float
    damping: float
    friction: float
    drag: float = 0.0

    def __post_init__(self) -> None:
        _require('stiffness', self.stiffness, True)
        _require('damping', self.damping, True)
        _require('friction', self.friction, False)
        _require('drag', self.drag, False)

    def evaluate(
        self,
        p: float,
        p_rate: float,
        slip: Pair,
        z: Deformation,
        x: Pair,
        travel: Pair = (0.0, 0.0),
    ) -> ContactForces:
        """Return the forces on the body, from positions and velocities alone.

        :param p: gap above the undeformed surface [m]
        :param p_rate: its rate [m/s]
        :param slip: tangential velocity of the body's point at the contact, (2,) [m/s]
        :param z: normal deformations, (surface.states,) [m]
        :param x: tangential deformations, (2,) [m]
        :param travel: velocity of the contact point over the surface, (2,) [m/s]
        """
        f_n = self.surface.force(p, p_rate, z)
        K, D = self.stiffness, self.damping
        # Both tangents together: the cone is round (11.78, 11.79 with a second tangent).
        f_1, f_2 = within_cone(
            -K * x[0] - D * slip[0], -K * x[1] - D * slip[1], self.friction * f_n
        )
        # Friction and drag act on the body; friction alone holds the patch (11.77).
        dragged = self.drag if f_n > 0.0 else 0.0
        return ContactForces(
            f_n,
            (f_1 - dragged * travel[0], f_2 - dragged * travel[1]),
            self.surface.rates(p, p_rate, z),
            (-(K * x[0] + f_1) / D, -(K * x[1] + f_2) / D),
        )


def in_series(first: ContactParameters, second: ContactParameters) -> ContactParameters:
    """Return parameters of `Simulator` for two compliant surfaces in contact, lumped together.

    Friction is the smaller of both.

    :param first: parameters of one surface
    :param second: parameters of the other
    :raises ValueError: if K/D is not the same for both, along the normal or along the tangents

    >>> from rbd_ros.contact import ContactParameters, in_series
    >>> rubber = ContactParameters(stiffness=1e4, damping=100.0, friction=0.8)
    >>> in_series(rubber, rubber).stiffness  # [N/m]
    5000.0
    """
    K_1, D_1, K_t1, D_t1, _ = (float(x) for x in first.array())
    K_2, D_2, K_t2, D_t2, _ = (float(x) for x in second.array())
    normal = TwoSurfaces(LinearSurface(K_1, D_1), K_2, D_2).lumped()
    tangent = TwoSurfaces(LinearSurface(K_t1, D_t1), K_t2, D_t2).lumped()
    return ContactParameters(
        normal.stiffness,
        normal.damping,
        min(first.friction, second.friction),
        tangent.stiffness,
        tangent.damping,
    )
