# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Integrators: steps of configuration and velocity without contact; a file each.

A file declares an `Integrator` of its name, and is registered nowhere else. Files called
`integrator*` are shared.
"""

import pkgutil
from typing import Tuple


def integrator_names() -> Tuple[str, ...]:
    """Return the names of all integrators, without importing them."""
    names = sorted(each.name for each in pkgutil.iter_modules(__path__))
    return tuple(name for name in names if not name.startswith('integrator'))
