# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Smooth motion to a tolerance, and event-driven rigid contact (book 11.4, table 11.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.textbook.simulation.adaptive import integrate_ode, OdeSolution
    from rbd_ros.textbook.simulation.contact_points import FaceContact, SphereContact
    from rbd_ros.textbook.simulation.event_driven import Event, EventDrivenSimulator

__all__ = [
    'Event',
    'EventDrivenSimulator',
    'FaceContact',
    'OdeSolution',
    'SphereContact',
    'integrate_ode',
]

__getattr__, __dir__ = lazy_names(__name__)
