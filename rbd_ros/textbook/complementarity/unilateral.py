# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""An inequality constraint phi(q) >= 0 and its four states (book 11.4).

    1   phi > 0                 apart: no effect
    2a  phi = 0, phi_dot < 0    colliding: an impulse follows, to 2b if it bounces, else to 3
    2b  phi = 0, phi_dot > 0    leaving: no effect, state 1 is next
    3   phi = 0, phi_dot = 0    touching: a contact force keeps phi_ddot from being negative

2a and 2b last for an instant. With phi_dot = t . v and phi_ddot = t . a + tdot . v, t the gradient
of phi (eq 11.38 to 11.40), contacts in state 3 satisfy the problem of `solve_lcp`.
"""

from __future__ import annotations

from enum import Enum
from typing import List, Tuple


class UnilateralState(Enum):
    """State of an inequality constraint, with the book's names (figure 11.4).

    >>> from rbd_ros.textbook.complementarity import UnilateralState
    >>> [state.name for state in UnilateralState]
    ['APART', 'COLLIDING', 'LEAVING', 'TOUCHING']
    """

    APART = '1'
    COLLIDING = '2a'
    LEAVING = '2b'
    TOUCHING = '3'


class PenetrationError(ArithmeticError):
    """A gap is negative by more than its tolerance, in none of the four states."""


class TransitionError(ValueError):
    """A constraint cannot change from its state to the given one."""


#: Possible transitions by motion under finite forces: a gap closes with a velocity of zero or
#: less, and a contact stays closed until its acceleration opens the gap.
_BY_MOTION = {
    UnilateralState.APART: (
        UnilateralState.APART,
        UnilateralState.COLLIDING,
        UnilateralState.TOUCHING,
    ),
    UnilateralState.LEAVING: (
        UnilateralState.APART,
        UnilateralState.COLLIDING,
        UnilateralState.TOUCHING,
    ),
    UnilateralState.TOUCHING: (UnilateralState.TOUCHING, UnilateralState.APART),
    UnilateralState.COLLIDING: (),
}


def unilateral_state(
    gap: float, rate: float, gap_tolerance: float = 1e-9, rate_tolerance: float = 1e-9
) -> UnilateralState:
    """Return the state of the constraint phi(q) >= 0 by its value and rate.

    :param gap: phi [m]
    :param rate: phi_dot, the separation velocity [m/s]
    :param gap_tolerance: gaps up to this are zero [m]
    :param rate_tolerance: velocities up to this are zero [m/s]
    :raises PenetrationError: if the gap is negative by more than its tolerance
    :raises ValueError: if gap or rate is not a number

    >>> from rbd_ros.textbook.complementarity import unilateral_state
    >>> unilateral_state(0.01, -1.0).name, unilateral_state(0.0, 0.0).name
    ('APART', 'TOUCHING')
    """
    if gap != gap or rate != rate:
        raise ValueError(f'gap and rate must be numbers, got {gap} and {rate}')
    # phi < 0 is no state: integration has missed the time of contact.
    if gap < -gap_tolerance:
        raise PenetrationError(
            f'the gap is {gap:.3g} m, below the tolerance of {gap_tolerance:.3g} m: return to '
            'the time of contact'
        )
    if gap > gap_tolerance:
        return UnilateralState.APART
    # At phi = 0 the sign of phi_dot decides (figure 11.4).
    if rate < -rate_tolerance:
        return UnilateralState.COLLIDING
    return UnilateralState.LEAVING if rate > rate_tolerance else UnilateralState.TOUCHING


class UnilateralConstraint:
    """State machine of one inequality constraint.

    :param gap: initial phi [m]
    :param rate: initial phi_dot [m/s]
    :param gap_tolerance: gaps up to this are zero [m]
    :param rate_tolerance: velocities up to this are zero [m/s]
    :raises PenetrationError: if the gap is negative by more than its tolerance

    >>> from rbd_ros.textbook.complementarity import UnilateralConstraint
    >>> ball = UnilateralConstraint(gap=0.1, rate=0.0)
    >>> ball.move(0.0, -1.4).name, ball.needs_impulse  # it arrives
    ('COLLIDING', True)
    >>> ball.strike(0.0).name, ball.can_push  # without rebound
    ('TOUCHING', True)
    >>> ball.accelerate(0.0).name, ball.run_off(0.0).name
    ('TOUCHING', 'TOUCHING')
    >>> ball.state.name, len(ball.trace)
    ('TOUCHING', 3)
    """

    def __init__(
        self,
        gap: float,
        rate: float,
        gap_tolerance: float = 1e-9,
        rate_tolerance: float = 1e-9,
    ):
        self.gap_tolerance, self.rate_tolerance = gap_tolerance, rate_tolerance
        self._gap = gap
        self._trace: List[UnilateralState] = [self._classified(gap, rate)]

    @property
    def state(self) -> UnilateralState:
        """Present state."""
        return self._trace[-1]

    @property
    def trace(self) -> Tuple[UnilateralState, ...]:
        """States so far, one entry per change."""
        return tuple(self._trace)

    @property
    def needs_impulse(self) -> bool:
        """Whether motion can continue only after an impulse has changed the velocity."""
        return self.state is UnilateralState.COLLIDING

    @property
    def can_push(self) -> bool:
        """Whether there may be a contact force."""
        return self.state is UnilateralState.TOUCHING

    def move(self, gap: float, rate: float) -> UnilateralState:
        """Return the state after motion under finite forces.

        :param gap: phi [m]
        :param rate: phi_dot [m/s]
        :raises TransitionError: if only an impulse, or the end of a surface, leads there
        :raises PenetrationError: if the gap is negative by more than its tolerance
        """
        found = self._classified(gap, rate)
        # Finite forces change phi_dot continuously: only an impulse ends a collision.
        if found not in _BY_MOTION[self.state]:
            reason = (
                ('an impulse must be applied first')
                if self.needs_impulse
                else 'only an impulse changes it so'
            )
            raise TransitionError(
                f'a contact cannot change from state {self.state.value} to {found.value} by '
                f'motion: {reason}'
            )
        return self._enter(found, gap)

    def strike(self, rate: float) -> UnilateralState:
        """Return the state after an impulse in the system, which changes only the velocity.

        :param rate: phi_dot after the impulse [m/s]; negative only if another impulse follows
        :raises TransitionError: if a collision is left as it was
        """
        # An impulse takes no time, so phi stays unchanged.
        found = self._classified(self._gap, rate)
        if self.needs_impulse and found is UnilateralState.COLLIDING:
            raise TransitionError(
                f'the impulse of a collision leaves a separation velocity of {rate:.3g} m/s, '
                'which must not be negative'
            )
        return self._enter(found, self._gap)

    def accelerate(self, acceleration: float, tolerance: float = 1e-9) -> UnilateralState:
        """Return the state right after that of contact, by the contact problem's acceleration.

        :param acceleration: phi_ddot = zeta_dot [m/s^2]
        :param tolerance: accelerations up to this are zero [m/s^2]
        :return: apart if the contact breaks, touching if it persists
        :raises TransitionError: if the acceleration is negative, or the state is another one
        """
        # With phi = phi_dot = 0, phi_ddot is the lowest derivative that can separate the surfaces.
        if not self.can_push:
            raise TransitionError(f'state {self.state.value} does not depend on accelerations')
        if acceleration < -tolerance:
            raise TransitionError(
                f'a separation acceleration of {acceleration:.3g} m/s^2 would penetrate: contact '
                'forces must keep it from being negative'
            )
        if acceleration > tolerance:
            return self._enter(UnilateralState.APART, self._gap)
        return self.state

    def run_off(self, rate: float) -> UnilateralState:
        """Return the state after one surface has run off the edge of the other (book 11.6).

        The separation velocity jumps without an impulse; equations of motion do not show it.

        :param rate: phi_dot of the present nearest points [m/s]
        :raises TransitionError: if they were not touching, or collide
        """
        found = self._classified(self._gap, rate)
        if not self.can_push or found is UnilateralState.COLLIDING:
            raise TransitionError(
                f'a contact cannot change from state {self.state.value} to {found.value} by '
                'leaving the end of a surface'
            )
        return self._enter(found, self._gap)

    def _classified(self, gap: float, rate: float) -> UnilateralState:
        return unilateral_state(gap, rate, self.gap_tolerance, self.rate_tolerance)

    def _enter(self, state: UnilateralState, gap: float) -> UnilateralState:
        self._gap = gap
        if state is not self.state:
            self._trace.append(state)
        return state
