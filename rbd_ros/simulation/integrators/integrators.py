# SPDX-License-Identifier: Apache-2.0
"""All integrators: those that the files of this folder declare."""

from __future__ import annotations

from typing import Dict

from rbd_ros.extension_points import declared_in
from rbd_ros.simulation import integrators as folder
from rbd_ros.simulation.integrators.integrator import Integrator


def integrators() -> Dict[str, Integrator]:
    """Return the integrators by name."""
    return {each.name: each for each in declared_in(folder, Integrator)}
