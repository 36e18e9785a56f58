# SPDX-License-Identifier: Apache-2.0
"""Faults of the machine itself: limits of actuators and friction of joints, in a simulation."""

from __future__ import annotations

import numpy as np

from rbd_ros.contact.contact_arrays import AnyArray
from rbd_ros.hil.plants.plant import Actuated

#: Dry friction of a locked joint: more than any drive has [N m, N].
LOCKED = 1e9


class PlantFaults:
    """Faults of actuators and joints, put into a simulation in place.

    :param physics: the simulation; its joints may have friction from now on
    :param at_v: degree of freedom of each joint that faults may concern, (n,)
    """

    def __init__(self, physics: Actuated, at_v: AnyArray):
        physics.allow_friction()
        model = physics.model
        self._effort, self._friction, self._at_v = model.effort, model.friction, at_v
        self._own_effort, self._own_friction = model.effort.copy(), model.friction.copy()

    def clear(self) -> None:
        """Let nothing be wrong."""
        self._effort[:] = self._own_effort
        self._friction[:] = self._own_friction

    def cut_power(self) -> None:
        """Let no actuator give any torque."""
        self._effort[:] = 0.0

    def set(self, kind: str, joints: AnyArray, value: float) -> None:
        """Let something be wrong with joints.

        :param kind: 'effort_derating', 'actuator_failure', 'joint_lock' or 'friction'
        :param joints: their places among those of `at_v`, (k,)
        :param value: see `FAULT_KINDS`
        """
        at = self._at_v[joints]
        if kind == 'effort_derating':
            limit = self._own_effort[at]
            if not np.isfinite(limit).all():
                raise ValueError(
                    'effort_derating is a fraction of the effort limit, and a joint has '
                    'none: give effort in the <limit> of the URDF'
                )
            self._effort[at] = np.minimum(self._effort[at], value * limit)
        elif kind == 'actuator_failure':
            self._effort[at] = 0.0
        elif kind == 'joint_lock':
            self._friction[at] = LOCKED
        else:
            present = self._friction[at]
            changed = np.maximum(0.0, self._own_friction[at] + value)
            # A locked joint stays locked.
            self._friction[at] = np.where(present < LOCKED, changed, present)
