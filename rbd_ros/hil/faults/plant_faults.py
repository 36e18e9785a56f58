# SPDX-License-Identifier: Apache-2.0
"""Faults of the machine itself: limits of actuators and friction of joints, in a simulation."""

from __future__ import annotations

from rbd_ros.contact.contact_arrays import AnyArray
from rbd_ros.hil.plants.plant import Actuated


class PlantFaults:
    """Faults of actuators and joints, put into a simulation in place.

    :param physics: the simulation; its joints may have friction from now on
    :param at_v: degree of freedom of each joint that faults may concern, (n,)
    """

    def __init__(self, physics: Actuated, at_v: AnyArray):
        physics.allow_friction()
        model = physics.model
        #: Degree of freedom of each joint that faults may concern, (n,).
        self.at_v = at_v
        #: Limits of the torques and dry friction now, and without faults, (nv,) each [N m, N].
        self.effort, self.friction = model.effort, model.friction
        self.own_effort, self.own_friction = model.effort.copy(), model.friction.copy()

    def clear(self) -> None:
        """Remove all faults."""
        self.effort[:] = self.own_effort
        self.friction[:] = self.own_friction
