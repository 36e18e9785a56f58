# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion of a robot with some of its contacts as equality constraints (book 11.5)."""

from __future__ import annotations

from typing import Optional, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.robot import Robot
from rbd_ros.textbook.contact_dynamics.contact_equations import ContactEquations
from rbd_ros.textbook.simulation.adaptive import applied_force, Torque
from rbd_ros.textbook.simulation.contact_points import CandidateContact, CandidateContacts, Gaps
from rbd_ros.textbook.simulation.dense_output import Group
from rbd_ros.textbook.simulation.event_search import Values


class ConstrainedMotion:
    """Dynamics of a robot whose active contacts neither separate nor penetrate.

    :param contacts: all contacts
    :param torque: generalized forces, as for `integrate_ode`
    :raises ValueError: for an unknown link, or torques of a wrong shape
    """

    def __init__(self, robot: Robot, contacts: Sequence[CandidateContact], torque: Torque):
        self.group = Group(robot)
        self.active: Tuple[int, ...] = ()
        self._points = CandidateContacts(robot, contacts)
        self._functions = robot.contacts.between([contact.pair for contact in contacts])
        self._torque = applied_force(robot, torque)

    def gaps(self, q: FloatArray, v: FloatArray) -> Gaps:
        """Return the gaps and their rates at a state."""
        return self._points.at(q, v)

    def equations(
        self, t: float, q: FloatArray, v: FloatArray, gaps: Optional[Gaps] = None
    ) -> ContactEquations:
        """Return the contact equations of all contacts at a time and a state.

        Their gaps may be known.
        """
        known = gaps or self.gaps(q, v)
        return self._functions.equations(q, v, self._torque(t, q, v), *known[2:])

    def forces(self, equations: ContactEquations) -> FloatArray:
        """Return the forces of all contacts that keep the active ones closed, (c,) [N]."""
        k, forces = list(self.active), np.zeros(len(equations.d))
        if k:
            forces[k] = -np.linalg.solve(equations.M[np.ix_(k, k)], equations.d[k])
        return forces

    def acceleration(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Return the acceleration with the active contacts as constraints, (nv,)."""
        equations = self.equations(t, q, v)
        a: FloatArray = equations.free + equations.response @ self.forces(equations)
        return a

    def values(self, t: float, q: FloatArray, v: FloatArray) -> Values:
        """Return the event functions at a time and a state."""
        gaps = self.gaps(q, v)
        equations = self.equations(t, q, v, gaps)
        return Values(gaps.gap, equations.velocity, gaps.margin, self.forces(equations))

    def projected(self, t: float, q: FloatArray, v: FloatArray) -> Tuple[FloatArray, FloatArray]:
        """Return the state projected on phi = 0 and zeta = 0 of the active contacts.

        This removes the drift, by the change of minimum kinetic energy.
        """
        k = list(self.active)
        if not k:
            return q, v
        for _ in range(2):
            gaps = self.gaps(q, v)
            equations = self.equations(t, q, v, gaps)
            M, Y = equations.M[np.ix_(k, k)], equations.response[:, k]
            q = self.group.moved(q, -Y @ np.linalg.solve(M, gaps.gap[k]))
        equations = self.equations(t, q, v)
        M, Y = equations.M[np.ix_(k, k)], equations.response[:, k]
        return q, v - Y @ np.linalg.solve(M, equations.velocity[k])
