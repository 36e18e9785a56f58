# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Parts of the friction solver as machine code, for tests."""

from typing import NamedTuple

from rbd_ros.compiler.loops import entry_point, floats
from rbd_ros.constraints.friction_space import FloatArray, FrictionSpace, scale_space


class Coefficients(NamedTuple):
    """Friction coefficients of contacts, along both tangents."""

    friction: FloatArray = floats('n', 2)


@entry_point
def scale_alone(space: FrictionSpace, coefficients: Coefficients) -> int:
    """Return `scale_space`, as Python calls it."""
    scale_space(space, coefficients.friction)
    return 0
