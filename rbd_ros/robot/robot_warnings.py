# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Warnings about a model: masses, meshes, and singular mass matrices."""

from __future__ import annotations

from typing import Tuple

from rbd_ros.algorithms.inertia_matrix.singularity import singular_joints, singularity
from rbd_ros.model import Model
from rbd_ros.model.unknown_masses import links_without_mass, WITHOUT_MASS
from rbd_ros.model.urdf.up_axes import ignored_up_axes
from rbd_ros.robot.robot_configuration import neutral


def warnings_of(model: Model) -> Tuple[str, ...]:
    """Return the warnings of a model, each with a link or joint: `Robot.warnings`."""
    found = (*model.warnings, *_of_masses(model), *_of_meshes(model))
    singular = singularity(model)
    if singular:
        return (*found, f'forward dynamics does not exist: {singular}')
    joints = singular_joints(model, neutral(model))
    if joints:
        names = ', '.join(map(repr, joints))
        return (
            *found,
            f'the mass matrix is singular at the neutral configuration: joints {names}',
        )
    return found


def _of_masses(model: Model) -> Tuple[str, ...]:
    links = links_without_mass(model)
    return (f'{WITHOUT_MASS}: {", ".join(map(repr, links))}',) if links else ()


def _of_meshes(model: Model) -> Tuple[str, ...]:
    return tuple(
        f'{len(files)} mesh file(s) with <up_axis> {axis}, which ROS ignores: shapes are not '
        f'rotated; the first is {files[0]!r}'
        for axis, files in ignored_up_axes(model).items()
    )
