# SPDX-License-Identifier: Apache-2.0
"""Faults in the physics: friction and masses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbd_ros.hil.faults.fault_kind import FaultKind, FaultTarget, PHYSICS

if TYPE_CHECKING:
    from rbd_ros.hil.faults.faults import Fault


#: Dry friction of a locked joint: more than any drive has [N m, N].
LOCKED = 1e9


def _lock(target: FaultTarget, fault: Fault) -> None:
    target.plant.friction[target.plant.at_v[target.joints(fault)]] = LOCKED


def _rub(target: FaultTarget, fault: Fault) -> None:
    plant, at = target.plant, target.plant.at_v[target.joints(fault)]
    present = plant.friction[at]
    changed = np.maximum(0.0, plant.own_friction[at] + fault.value)
    # A locked joint stays locked.
    plant.friction[at] = np.where(present < LOCKED, changed, present)


def _carry(target: FaultTarget, fault: Fault) -> None:
    """Do nothing: the bench, or the node, loads the robot, see `FaultInjector.payloads`."""


JOINT_LOCK = FaultKind(
    name='joint_lock',
    scope='joints',
    quantity='',
    maximum=0.0,
    meaning='The joint is locked by dry friction that no drive overcomes.',
    domain=PHYSICS,
    apply=_lock,
)
FRICTION = FaultKind(
    name='friction',
    scope='joints',
    quantity='additional dry friction [N m, N]',
    maximum=1e6,
    meaning='Dry friction is added to that of the joint; a negative value reduces it, down to '
    'none.',
    domain=PHYSICS,
    apply=_rub,
    minimum=-1e6,
)
PAYLOAD = FaultKind(
    name='payload',
    scope='link',
    quantity='mass [kg]',
    maximum=1e5,
    meaning='A mass is fixed to a link.',
    domain=PHYSICS,
    apply=_carry,
    samples=11,  # each is compiled
)
