# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Texts of warnings about the start of a simulation."""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.collision.scene.scene import Scene
from rbd_ros.robot import Robot
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.records.simulation_model import NEARLY_CLOSED, SimulationModel

#: Maximum eigenvalue of a mass matrix with unit diagonal that counts as zero: above rounding.
SINGULAR = 1e-11

#: Minimum penetration depth of a warning [m].
DEEP = 2e-3


class StartWarnings:
    """Warnings of the last start: penetration, loops, limits.

    >>> simulator = Simulator(robot)
    >>> simulator.reset(np.full(6, 3.5))
    >>> simulator.warnings[-1].split(', ')[0]  # `StartWarnings.texts` are in it
    "joint 'elbow_joint' starts at 3.5"
    """

    def __init__(self) -> None:
        self._found: List[str] = []
        self._overlaps: Optional[Tuple[str, ...]] = ()
        self._start: Tuple[Optional[Scene], SimulationModel, Robot, FloatArray]

    @property
    def texts(self) -> Tuple[str, ...]:
        """Warnings; overlaps of the robot and its masses are computed on this request."""
        if self._overlaps is None:
            self._overlaps = self._of_overlaps()
        return (*self._overlaps, *self._found)

    def set_start(self, physics: Physics, q: FloatArray, v: FloatArray, deepest: int) -> None:
        """Set the start to check.

        :param physics: the physics, just reset
        :param q: configuration, (nq,)
        :param v: velocity, (nv,)
        :param deepest: contact point deepest in the ground, -1 if there is none
        """
        model = physics.model
        self._start, self._overlaps = (physics.scene, model, physics.loaded_robot, q), None
        self._found = [*_of_ground(physics, deepest), *_of_loops(physics)]
        if model.has_scene:
            from rbd_ros.simulation.start.start_overlaps import other_warnings

            self._found += other_warnings(physics, DEEP)
        self._found += _of_limits(physics, q, v)

    def recall(self, texts: Sequence[str]) -> None:
        """Take over the texts of another simulation of the same start.

        :param texts: its `texts`
        """
        self._found, self._overlaps = list(texts), ()

    def _of_overlaps(self) -> Tuple[str, ...]:
        scene, model, robot, q = self._start
        singular = _of_masses(robot, q)
        if scene is None or not model.has_robot:
            return singular
        from rbd_ros.simulation.start.robot_overlaps import robot_warnings

        return (*singular, *robot_warnings(scene, model, q, DEEP))


def _of_masses(robot: Robot, q: FloatArray) -> Tuple[str, ...]:
    """Return warnings of joints that move no mass at the start."""
    # The kernel first: the interpreted function that finds names is slow.
    H = np.asarray(robot.mass_matrix(q))
    size = np.sqrt(np.abs(np.diag(H)))
    if (size > 0.0).all():
        values = np.linalg.eigvalsh(H / np.outer(size, size))
        if values.min(initial=1.0) > SINGULAR:
            return ()
    from rbd_ros.algorithms.inertia_matrix.singularity import singular_joints

    joints = ', '.join(map(repr, singular_joints(robot.model, q)))
    if not joints:
        return ()
    return (
        f'the mass matrix is singular at the start: joint {joints} can move without moving mass '
        'there, as in gimbal lock, and may reach its velocity limit; start at another position, '
        'or give the joint an armature',
    )


def _of_ground(physics: Physics, deepest: int) -> List[str]:
    """Return warnings of compliant ground."""
    depth = -physics.state.normal_deformation[deepest] if deepest >= 0 else 0.0
    if not depth > DEEP:
        return []
    first = physics.model.ground.shapes.first
    shape = int(np.searchsorted(first, deepest, side='right')) - 1
    return [
        f'link {physics.geometries[shape].link!r} starts {1e3 * depth:.1f} mm deep in the '
        'ground; choose the links in contact with it by contact_links'
    ]


def _of_loops(physics: Physics) -> List[str]:
    """Return warnings of changes that closed the loops."""
    closed, found = physics.closed_start, []
    if closed is None:
        return []
    for what, change, unit in (
        ('are open there: it is', closed.displacement, 'rad, m'),
        ('do not allow its velocity, which is', closed.change, 'rad/s, m/s'),
    ):
        most = int(np.argmax(np.abs(change)))
        if abs(change[most]) > NEARLY_CLOSED:
            found.append(
                f'the loops {what} changed at the start, most at joint '
                f'{physics.joint_name(most)!r}, by {change[most]:.3g} [{unit}]'
            )
    for loop, part in closed.rounded:
        found.append(
            f'loop joint {loop!r} has a constraint that is redundant up to {part:.1g} of its '
            'size, probably by rounded axes, and locks the loop; give axes and angles with all '
            'digits, or a loop joint with fewer constraints'
        )
    return found


def _of_limits(physics: Physics, q: FloatArray, v: FloatArray) -> List[str]:
    """Return warnings of joints outside their limits, or too fast."""
    model, found = physics.model, []
    for i in range(len(v)):
        at = model.position[i]
        if at >= 0 and not model.lower[i] <= q[at] <= model.upper[i]:
            found.append(
                f'joint {physics.joint_name(i)!r} starts at {q[at]:g}, outside its limits '
                f'[{model.lower[i]:g}, {model.upper[i]:g}]; it is moved back slowly'
            )
        if abs(v[i]) > model.speed[i]:
            found.append(
                f'joint {physics.joint_name(i)!r} starts at velocity {v[i]:g}, above its limit of '
                f'{model.speed[i]:g}; the first step reduces it to the limit'
            )
    return found
