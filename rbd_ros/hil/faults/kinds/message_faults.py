# SPDX-License-Identifier: Apache-2.0
"""Faults of messages: delay and loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.hil.faults.fault_kind import FaultKind, FaultTarget, MESSAGES

if TYPE_CHECKING:
    from rbd_ros.hil.faults.faults import Fault


def _disturb(target: FaultTarget, fault: Fault) -> None:
    target.add_disturbance(fault, **{fault.kind: fault.value})


LATENCY = FaultKind(
    name='latency',
    scope='messages',
    quantity='delay [s]',
    maximum=10.0,
    meaning='A fixed delay of messages.',
    domain=MESSAGES,
    apply=_disturb,
)
JITTER = FaultKind(
    name='jitter',
    scope='messages',
    quantity='maximum additional delay [s]',
    maximum=10.0,
    meaning='A random delay of messages, uniform from zero to the value; messages may overtake '
    'each other.',
    domain=MESSAGES,
    apply=_disturb,
)
DROP = FaultKind(
    name='drop',
    scope='messages',
    quantity='probability',
    maximum=1.0,
    meaning='Messages are lost at random.',
    domain=MESSAGES,
    apply=_disturb,
)
DUPLICATE = FaultKind(
    name='duplicate',
    scope='messages',
    quantity='probability',
    maximum=1.0,
    meaning='Messages are duplicated at random.',
    domain=MESSAGES,
    apply=_disturb,
)
