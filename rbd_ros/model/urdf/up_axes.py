# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Up axes of COLLADA files, which are ignored, as RViz does."""

from __future__ import annotations

import os
import re
from typing import Dict, List, Tuple

from rbd_ros.bounded_files import open_regular
from rbd_ros.model.geometry import Mesh
from rbd_ros.model.model import Model

#: Size of the read part of a file, in which the axis precedes the shapes [bytes].
_HEAD = 1 << 16
_ANY_SIZE = 1 << 62
_AXIS = re.compile(rb'<(?:\w+:)?up_axis>\s*([XY]_UP)\s*</')


def ignored_up_axes(model: Model) -> Dict[str, Tuple[str, ...]]:
    """Return the readable mesh files with another up axis than z, by that axis.

    :return: names of the files by 'X_UP' and 'Y_UP'

    >>> from rbd_ros.model.urdf.up_axes import ignored_up_axes
    >>> ignored_up_axes(model)
    {}
    """
    found: Dict[str, List[str]] = {}
    paths = {each.shape.path for each in model.geometries if isinstance(each.shape, Mesh)}
    for path in sorted(path for path in paths if path and path.lower().endswith('.dae')):
        try:
            with open_regular(path, _ANY_SIZE) as file:
                axis = _AXIS.search(file.read(_HEAD))
        except (OSError, ValueError):
            continue
        if axis:
            found.setdefault(axis[1].decode(), []).append(os.path.basename(path))
    return {axis: tuple(names) for axis, names in found.items()}
