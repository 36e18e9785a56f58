# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Integrators: how a step without contact moves configuration and velocity; a file each.

A file declares an `Integrator` of its name, and nothing else lists it. Those called `integrator*`
are what they share.
"""

import pkgutil
from typing import Tuple


def integrator_names() -> Tuple[str, ...]:
    """Return the names of all integrators; none of them is imported."""
    names = sorted(each.name for each in pkgutil.iter_modules(__path__))
    return tuple(name for name in names if not name.startswith('integrator'))
