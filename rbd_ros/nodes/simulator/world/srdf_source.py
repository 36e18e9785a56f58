# SPDX-License-Identifier: Apache-2.0
"""The SRDF of the simulated robot, as the parameters of the node say."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from rbd_ros.model.urdf.mesh_paths import MeshPaths


def srdf_of(parameters: Mapping[str, Any]) -> Optional[str]:
    """Return SRDF of the robot: its XML, or the path of its file; None if the parameter is empty.

    :param parameters: values of the simulator's parameters
    :raises ValueError: for a package:// URI of nothing
    """
    given: str = parameters['robot_description_semantic'].strip()
    if not given.startswith('package://'):
        return given or None
    path = MeshPaths(None, parameters['package_paths']).resolve(given)
    if path is None:
        raise ValueError(
            f'parameter robot_description_semantic: {given[:200]!r} was not found below '
            'package_paths and AMENT_PREFIX_PATH; install the package and source its workspace'
        )
    return path
