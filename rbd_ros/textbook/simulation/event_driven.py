# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rigid contact without friction, simulated from event to event (book table 11.1).

Between events active contacts are equality constraints, and the motion is smooth; it is integrated
with tolerances. The contact problem is solved, and impulses are applied, at events only:

1. integrate, with the active contacts as constraints and all others ignored
2. watch gaps and edges of faces (geometric events), and the signs of contact forces
3. go back to the earliest event in the step
4. a contact gained: impulses, then the contact problem
5. a contact lost at an edge: it is no longer among the current contacts
6. a negative force: the contact problem
7. and so on.

Current contacts touch and stay (zeta = 0 and zeta' = 0); the active ones among them have normals
that form a basis, and bear all forces. The exact reference for laws of contact that step over
events; the real-time one is `Simulator`.
"""

from __future__ import annotations

from functools import partial
import math
from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.array_types import FloatArray
from rbd_ros.robot import Robot
from rbd_ros.textbook.contact_dynamics.contact_equations import ContactEquations
from rbd_ros.textbook.simulation.adaptive import StepControl, Torque
from rbd_ros.textbook.simulation.constrained_motion import ConstrainedMotion
from rbd_ros.textbook.simulation.contact_points import CandidateContact, FaceContact
from rbd_ros.textbook.simulation.contact_sets import contact_sets
from rbd_ros.textbook.simulation.dense_output import DenseStep, METHODS, RK45, take_step
from rbd_ros.textbook.simulation.event_search import (
    CLOSING,
    earliest,
    ENTERING,
    LEAVING,
    PULLING,
    SINKING,
    slope,
    Values,
    Watch,
)
from rbd_ros.textbook.simulation.impact_laws import impact, IMPACT_LAWS

#: Kinds of events: contact gained, lost at an edge, broken by the motion.
GAIN, LOSS, BREAK = 'gain', 'loss', 'break'

# Events that may happen at one time: after so many the motion is taken to be stuck.
_MAXIMUM = 50
# Separation velocity up to which a contact rests [m/s], far above rounding.
_REST = 1e-9


class Event(NamedTuple):
    """A change in the state of contact.

    :param time: when [s]
    :param kind: its cause: `GAIN`, `LOSS` or `BREAK`
    :param contacts: numbers of the contacts concerned: those gained, or hit while they were there,
        those lost or broken
    :param impulse: impulses of all contacts, (c,) [N s], zero except for collisions
    """

    time: float
    kind: str
    contacts: Tuple[int, ...]
    impulse: FloatArray


class EventDrivenSimulator:
    """A robot and rigid contacts without friction.

    A collision at less than `resting_speed` is plastic, and what separates more slowly than that
    afterwards rests: of the infinitely many ever smaller bounces of a ball or a block that rocks
    (Zeno's) those are left out. Joint limits and Coulomb friction are not part
    of this simulation; viscous damping is.

    :param contacts: where it can touch itself or the fixed base
    :param torque: generalized forces, as for `integrate_ode`
    :param method: 'rk45' with tolerances, or 'euler', 'heun' or 'rk4' with a constant step
    :param timestep: the step of the latter [s]
    :param rtol: relative error of a step, of rk45
    :param atol: absolute error of a step, of rk45
    :param max_step: longest step [s]; an event that undoes itself within an eighth of a step is
        not seen
    :param impact_law: one of `IMPACT_LAWS`
    :param resting_speed: speed of approach below which a collision is plastic [m/s]
    :param gap_tolerance: gap that counts as touching [m]
    :raises ValueError: for invalid arguments
    :raises SingularMassMatrixError: if there are joints that move no mass, naming them

    >>> from rbd_ros.textbook.simulation import EventDrivenSimulator, FaceContact
    >>> table = FaceContact('tool0', (0, 0, 0), None, (0, 0, 0.8), (0, 0, 1), restitution=0.5)
    >>> simulator = EventDrivenSimulator(robot, [table])
    >>> simulator.reset(q, 0 * v)
    >>> simulator.gaps  # [m]
    array([0.038])
    >>> tip = robot.frame('tool0').pose(q)[:3, 3]
    >>> simulator.apply_impulse('tool0', [0, 0, -0.5], tip)  # [N s]
    >>> simulator.advance(0.1)
    >>> simulator.events[0].kind, simulator.time
    ('gain', 0.1)
    >>> simulator.current, simulator.active, simulator.forces
    ((), (), array([0.]))
    """

    def __init__(
        self,
        robot: Robot,
        contacts: Sequence[CandidateContact],
        torque: Torque = None,
        method: str = 'rk45',
        timestep: float = 1e-3,
        rtol: float = 1e-10,
        atol: float = 1e-12,
        max_step: float = math.inf,
        impact_law: str = 'simultaneous',
        resting_speed: float = 1e-4,
        gap_tolerance: float = 1e-11,
    ):
        if method not in METHODS:
            raise ValueError(f'unknown method {method!r}; there are {", ".join(METHODS)}')
        if impact_law not in IMPACT_LAWS:
            raise ValueError(
                f'unknown impact law {impact_law!r}; there are {", ".join(IMPACT_LAWS)}'
            )
        if not contacts:
            raise ValueError(
                'no contacts are given; use `integrate_ode` for a motion without contacts'
            )
        numbers = {
            'timestep': timestep,
            'rtol': rtol,
            'atol': atol,
            'resting_speed': resting_speed,
            'gap_tolerance': gap_tolerance,
        }
        for name, value in numbers.items():
            if not 0.0 < float(value) < math.inf:
                raise ValueError(f'{name} must be positive and finite, got {value}')
        if not max_step > 0.0:
            raise ValueError(f'max_step must be positive, got {max_step}')
        self.robot, self.contacts = robot, tuple(contacts)
        self.gap_tolerance, self.resting_speed = gap_tolerance, resting_speed
        self._law, self._method, self._timestep = impact_law, METHODS[method], timestep
        self._motion = ConstrainedMotion(robot, self.contacts, torque)
        self._restitution = np.array([contact.restitution for contact in self.contacts])
        self._control = StepControl(self._motion.group, rtol, atol, max_step)
        self.events: List[Event] = []
        self.reset(robot.neutral(), np.zeros(robot.nv), check=False)

    # -- state

    @property
    def current(self) -> Tuple[int, ...]:
        """Numbers of the contacts that touch and stay."""
        return tuple(np.flatnonzero(self._current).tolist())

    @property
    def active(self) -> Tuple[int, ...]:
        """Numbers of the current contacts that bear forces; their normals are independent."""
        return self._motion.active

    @property
    def forces(self) -> FloatArray:
        """Contact forces lambda along the normals, (c,) [N]."""
        return self._motion.forces(self._motion.equations(self.time, self.q, self.v))

    @property
    def gaps(self) -> FloatArray:
        """Gaps phi, (c,) [m]."""
        return self._motion.gaps(self.q, self.v).gap

    def reset(self, q: ArrayLike, v: ArrayLike, time: float = 0.0, check: bool = True) -> None:
        """Start from a state; contacts that are closed and approach collide at once.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param time: time [s]
        :param check: whether bodies that penetrate are rejected
        :raises ValueError: for a wrong shape, numbers that are not finite, or bodies that
            penetrate
        """
        state = []
        for name, given, size in (('q', q, self.robot.nq), ('v', v, self.robot.nv)):
            array = np.array(given, dtype=float)
            if array.shape != (size,):
                raise ValueError(f'{name} must have shape ({size},), got {array.shape}')
            if not np.isfinite(array).all():
                raise ValueError(f'{name} must be finite, got {array}')
            state.append(array)
        self.q = self.robot.integrate(state[0], np.zeros(self.robot.nv))
        self.v, self.time, self.events = state[1], float(time), []
        count = len(self.contacts)
        self._current: NDArray[np.bool_] = np.zeros(count, dtype=bool)
        self._motion.active = ()
        self._next_step, self._force_scale = math.inf, 0.0
        if not check:
            return
        gaps = self._motion.gaps(self.q, self.v)
        inside = np.flatnonzero((gaps.gap < -self.gap_tolerance) & (gaps.margin >= 0.0))
        if len(inside):
            deepest = int(inside[np.argmin(gaps.gap[inside])])
            raise ValueError(
                f'contact {self._name(deepest)} starts with a penetration of '
                f'{-gaps.gap[deepest]:.3g} m; move the bodies apart'
            )
        self._settle(GAIN, ())

    def apply_impulse(
        self, link: str, impulse: ArrayLike, point: Optional[ArrayLike] = None
    ) -> None:
        """Hit a link; closed contacts respond with impulses.

        :param link: name of the link
        :param impulse: spatial impulse in base coordinates, (6,), or with a point the linear
            impulse through it, (3,) [N m s, N s]
        :param point: that point in base coordinates, (3,) [m]
        :raises ValueError: for an unknown link or a wrong shape
        """
        self.v = self.robot.impacts.apply_impulse(self.q, self.v, link, impulse, point)
        self._settle(GAIN, ())

    # -- motion

    def advance(self, duration: float) -> None:
        """Advance time.

        :param duration: how long [s]
        :raises ValueError: if it is not positive and finite
        :raises FloatingPointError: if the motion does not stay finite
        :raises ArithmeticError: if events follow each other without end
        :raises InfeasibleContactError: if no contact forces prevent penetration
        """
        if not 0.0 < duration < math.inf:
            raise ValueError(f'duration must be positive and finite, got {duration}')
        end, stuck = self.time + duration, 0
        while self.time < end:
            before = self.time
            left = end - before
            step = self._trial(left)
            found = earliest(
                self._watched(), partial(self._values, step), 4.0 * self.gap_tolerance
            )
            if found is None:
                self.q, self.v = step.at(1.0)
                self.time = end if step.h == left else before + step.h
                self._project()
                self._drop_open()
            else:
                self._go_to(step, *found)
            stuck = stuck + 1 if self.time == before else 0
            if stuck > _MAXIMUM:
                raise ArithmeticError(
                    f'{stuck} events at {self.time:.9g} s: contacts open and close endlessly'
                )

    def _trial(self, left: float) -> DenseStep:
        """Integrate (step 1) for at most the time that is left."""
        first = self._motion.acceleration(self.time, self.q, self.v)
        if self._method is not RK45:
            h = min(self._timestep, left, self._control.max_step)
            return take_step(
                self._motion.group,
                self._method,
                self._motion.acceleration,
                self.time,
                self.q,
                self.v,
                h,
                first,
            )
        h = self._next_step
        if not math.isfinite(h):
            h = self._control.first_step(self.v, first)
        step, self._next_step = self._control.advance(
            self._motion.acceleration, self.time, self.q, self.v, min(h, left), first
        )
        return step

    # -- events

    def _values(self, step: DenseStep, delta: float) -> Values:
        """Return the values that are watched, at a moment of a step."""
        return self._motion.values(step.t + delta * step.h, *step.at(delta))

    def _project(self) -> None:
        self.q, self.v = self._motion.projected(self.time, self.q, self.v)

    def _watched(self) -> List[Watch]:
        """Return the event functions of the step that begins now (step 2)."""
        gaps, tolerance = self._motion.gaps(self.q, self.v), self.gap_tolerance
        pull = 1e-9 * self._force_scale + 1e-13
        watched = []
        for i, contact in enumerate(self.contacts):
            bounded = isinstance(contact, FaceContact) and bool(contact.bounds)
            if self._current[i]:
                if bounded:
                    watched.append(Watch(LEAVING, i, tolerance))
                if i in self.active:
                    watched.append(Watch(PULLING, i, pull))
                else:
                    watched.append(Watch(SINKING, i, 2.0 * tolerance))
                continue
            # Rounding of a closed contact's gap is no penetration.
            left = -2.0 * float(gaps.gap[i]) if gaps.gap[i] >= -4.0 * tolerance else 0.0
            watched.append(Watch(CLOSING, i, max(2.0 * tolerance, left)))
            if bounded and gaps.margin[i] < 0.0:
                watched.append(Watch(ENTERING, i, tolerance))
        return watched

    def _go_to(self, step: DenseStep, watch: Watch, delta: float) -> None:
        """Return to an event within a step (step 3), and handle it."""
        if self._method is not RK45 or delta == 0.0:
            # Where the interpolation of the step leads, as the book has it.
            h = delta * step.h
            self.q, self.v = step.at(delta)
        else:
            h = self._refined(step, watch, delta)
        self.time = step.t + h
        self._project()
        kind = {CLOSING: GAIN, ENTERING: GAIN, LEAVING: LOSS}.get(watch.what, BREAK)
        self._settle(kind, (watch.contact,))

    def _refined(self, step: DenseStep, watch: Watch, delta: float) -> float:
        """Take a separate step that ends at an event, and return its length [s].

        It is more accurate than the interpolation, which is of lower order than the method.
        """
        rate = slope(watch, partial(self._values, step), delta, step)
        h = delta * step.h
        for _ in range(4):
            taken = take_step(
                self._motion.group, RK45, self._motion.acceleration, step.t, step.q, step.v, h,
                step.rates[0, len(step.v) :],
            )  # fmt: skip
            self.q, self.v = taken.at(1.0)
            miss = watch.value(self._motion.values(step.t + h, self.q, self.v))
            if rate == 0.0 or not 0.0 < h - miss / rate <= step.h or h - miss / rate == h:
                break
            h -= miss / rate
        return taken.h

    def _settle(self, kind: str, causes: Tuple[int, ...]) -> None:
        """Collide closed contacts, and find the current and the active ones (steps 4 to 6)."""
        before, cause = self._current.copy(), np.zeros(len(self.contacts), dtype=bool)
        cause[list(causes)] = True
        gaps = self._motion.gaps(self.q, self.v)
        closed = np.abs(gaps.gap) <= 4.0 * self.gap_tolerance
        closed &= gaps.margin >= -0.5 * self.gap_tolerance
        closed = closed & ~cause if kind == LOSS else closed | cause
        equations = self._motion.equations(self.time, self.q, self.v)
        gained = closed & ~before & (equations.velocity <= _REST)
        impulse = np.zeros(len(self.contacts))
        if np.any(equations.velocity[closed] < -_REST):
            k = np.flatnonzero(closed)
            impulse[k] = impact(
                equations.M[np.ix_(k, k)], equations.velocity[k], self._restitution[k],
                self._law, self.resting_speed,
            )  # fmt: skip
            fastest = -float(equations.velocity[k].min())
            self.v = self.v + equations.response @ impulse
            equations = self._motion.equations(self.time, self.q, self.v)
            if fastest < self.resting_speed:
                self._stop(equations, k)
                equations = self._motion.equations(self.time, self.q, self.v)
        resting = np.flatnonzero(closed & (np.abs(equations.velocity) <= _REST))
        pulling = causes[0] if kind == BREAK else None
        self._current, self._motion.active, self._force_scale = contact_sets(
            equations.M, equations.d, resting.tolist(), pulling
        )
        self._project()
        # Contacts that were there already may be hit, too, without any that is gained.
        hit = gained if gained.any() else impulse > 0.0
        changed = {GAIN: hit, LOSS: cause, BREAK: before & ~self._current}[kind]
        self._record(kind, changed, impulse)
        if kind != GAIN:  # the new support of the body, such as the edge of a table
            self._record(GAIN, gained & self._current, impulse)

    def _stop(self, equations: ContactEquations, closed: NDArray[np.int64]) -> None:
        """Remove slow separation velocities after a slow collision.

        Otherwise a rocking block would never rest, alternating between its corners.
        """
        k = closed[np.abs(equations.velocity[closed]) <= self.resting_speed]
        M = equations.M[np.ix_(k, k)]
        impulse = np.linalg.lstsq(M, equations.velocity[k], rcond=1e-9)[0]
        self.v = self.v - equations.response[:, k] @ impulse

    def _record(self, kind: str, changed: NDArray[np.bool_], impulse: FloatArray) -> None:
        if changed.any():
            numbers = tuple(np.flatnonzero(changed).tolist())
            self.events.append(Event(self.time, kind, numbers, impulse))

    def _drop_open(self) -> None:
        """Drop contacts that bear no force and have come apart."""
        is_open = self._motion.gaps(self.q, self.v).gap > 4.0 * self.gap_tolerance
        is_open[list(self.active)] = False
        self._current &= ~is_open

    def _name(self, i: int) -> str:
        return f'{i} ({self.contacts[i].name})' if self.contacts[i].name else str(i)
