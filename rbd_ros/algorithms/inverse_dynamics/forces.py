# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Gravity, and external forces from base to body coordinates (book 5.3, eq 5.20)."""

from typing import Dict, Mapping, Optional

from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform


def to_body_coordinates(
    model: Model,
    X: Mapping[int, PluckerTransform],
    external_forces: Optional[Mapping[int, ForceVector]],
) -> Dict[int, ForceVector]:
    """Transform each force to the coordinates of the body that it acts on.

    :param X: transform from parent to body coordinates, by body number
    :param external_forces: force in base coordinates, by body number; forces on the base (0) have
        no effect
    :return: force in body coordinates, by body number
    """
    result = {}
    for i, force in (external_forces or {}).items():
        for j in reversed(model.support(i)):
            force = X[j].apply(force)
        if i != 0:
            result[i] = force
    return result


def gravity_acceleration(model: Model) -> MotionVector:
    """Return the acceleration a_g of gravity in base coordinates, as a motion vector [m/s^2].

    Algorithms accelerate the base by its opposite instead of applying a weight to each body
    (book 5.3).
    """
    return MotionVector((0.0, 0.0, 0.0), tuple(model.gravity))
