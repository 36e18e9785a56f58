# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A spring that pulls a body towards a point, or rotates it to an orientation.

It is as stiff as a stable simulation permits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
import math
from typing import Optional

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray
from rbd_ros.model.joints.exponential import rotation_vector
from rbd_ros.simulation import Simulator
from rbd_ros.spatial.rotation import axis_rotation, rotation_to_quaternion

#: Maximum force, relative to the weight of all moving bodies; and maximum torque, relative to that
#: weight times the radius of the scene.
STRONGEST = 3.0
#: Extension at which the spring force is that weight, relative to the radius of the scene; a
#: torsion spring has that weight times the radius at 1 rad.
STRETCH = 0.1
#: Maximum coordinate of points [m] and rotation vectors [rad]; squares do not overflow.
_MAX_COORDINATE = 1e9

#: Bounds of h omega and of h d/m for the pulled point, with the step h: explicit forces are stable
#: below 2 and 1, and its effective mass may decrease with the motion. Likewise for inertias.
_FREQUENCY, _DAMPING = 0.2, 0.3
_DISPLACEMENT = 1e-6  # [rad, m]: for the numerical Jacobian of the point


class Pull(ABC):
    """A spring from a point of a body to a target in the world, see `LinkPull` and `ObjectPull`.

    Or a torsion spring that rotates the body to an orientation.

    :param simulator: the simulation
    :param name: name of the pulled body
    :param weight: weight of the bodies that move with it [N]
    :param radius: radius of the scene [m]
    """

    def __init__(self, simulator: Simulator, name: str, weight: float, radius: float):
        self.simulator, self.name = simulator, name
        self._weight, self._radius = weight, radius
        self.limit = self.stiffness = self.damping = 0.0
        self.point, self.target = np.full(3, math.nan), np.zeros(3)
        #: Desired orientation of the body, (3, 3); None: the point is pulled.
        self.orientation: Optional[FloatArray] = None
        self._start = np.eye(3)
        self._before: Optional[FloatArray] = None

    def aim(
        self, point: ArrayLike, target: ArrayLike, rotation: Optional[ArrayLike] = None
    ) -> None:
        """Pull a point to a target, or rotate the body.

        :param point: point of the body, in its coordinates, (3,) [m]
        :param target: target of the point, in world coordinates, (3,) [m]
        :param rotation: rotation vector of the desired orientation, relative to that at the first
            request with this point, in world coordinates, (3,) [rad]; None: pull the point
        :raises ValueError: if no joint moves that point or rotates the body, or a value is
            invalid; nothing is changed
        """
        held, goal = _point(point), _point(target)
        pulls, vector = rotation is None, _point(np.zeros(3) if rotation is None else rotation)
        if np.abs([held, goal, vector]).max() > _MAX_COORDINATE:
            raise ValueError(
                f'the target of a pull must be within {_MAX_COORDINATE:g} m, got {list(goal)}'
            )
        if not np.array_equal(held, self.point) or pulls != (self.orientation is None):
            mass, h = self._mass(held if pulls else None), self.simulator.timestep
            strength, extension = self._weight, STRETCH * self._radius
            if not pulls:
                strength, extension = self._weight * self._radius, 1.0
            self.limit = STRONGEST * strength
            self.stiffness = min(strength / extension, mass * (_FREQUENCY / h) ** 2)
            self.damping = min(2.0 * math.sqrt(self.stiffness * mass), _DAMPING * mass / h)
            self.point, self._before, self._start = held, None, self.pose()[:3, :3]
        self.target = goal
        self.orientation = None if pulls else _rotated(self._start, vector)

    def apply(self) -> None:
        """Apply the force or torque for the next step."""
        goal = self.target if self.orientation is None else self.orientation
        at = self.position() if self.orientation is None else self.pose()[:3, :3]
        # Of the last step, without another kernel.
        moved = np.zeros(3) if self._before is None else _difference(at, self._before)
        self._before = at
        effort = self.stiffness * _difference(goal, at)
        effort -= self.damping / self.simulator.timestep * moved
        size = float(np.linalg.norm(effort))
        if size > self.limit:
            effort *= self.limit / size
        wrench = np.zeros(6)
        wrench[slice(3, 6) if self.orientation is None else slice(3)] = effort
        self.simulator.apply_wrench(self.name, wrench, self.simulator.timestep, self.point)

    def position(self) -> FloatArray:
        """Return the position of the point in world coordinates, (3,) [m]."""
        pose = self.pose()
        found: FloatArray = pose[:3, :3] @ self.point + pose[:3, 3]
        return found

    @abstractmethod
    def pose(self) -> FloatArray:
        """Return the pose of the body in world coordinates, (4, 4)."""

    @abstractmethod
    def _mass(self, point: Optional[FloatArray]) -> float:
        """Return the minimum effective mass of a point over all directions [kg].

        For None, return the minimum effective inertia over all axes [kg m^2].
        """


class LinkPull(Pull):
    """A spring that pulls a link of the robot.

    :raises ValueError: for an unknown link

    >>> from rbd_ros.viewer.pull import LinkPull
    >>> simulator = Simulator(robot)
    >>> simulator.reset(q)
    >>> pull = LinkPull(simulator, 'tool0', weight=200.0, radius=0.8)
    >>> pull.aim(point=(0, 0, 0), target=(0.5, 0.2, 0.3))
    >>> for _ in range(500):
    ...     pull.apply()
    ...     simulator.step(robot.gravity_torque(simulator.q))
    >>> bool(np.linalg.norm(pull.position() - pull.target) < 0.1)  # where friction holds the arm
    True
    """

    def __init__(self, simulator: Simulator, name: str, weight: float, radius: float):
        simulator.robot.model.link(name)  # rejects an unknown link
        super().__init__(simulator, name, weight, radius)

    def pose(self) -> FloatArray:
        """Return the pose of the link in world coordinates, (4, 4)."""
        return self._poses(self.simulator.q)

    def _poses(self, q: FloatArray) -> FloatArray:
        found: FloatArray = self.simulator.robot.forward_kinematics(q)[self.name]
        return found

    def _mass(self, point: Optional[FloatArray]) -> float:
        robot, q = self.simulator.robot, self.simulator.q
        steps = _DISPLACEMENT * np.concatenate([np.eye(robot.nv), -np.eye(robot.nv)])
        ends = self._poses(np.array([robot.integrate(q, step, 1.0) for step in steps]))
        if point is None:
            ends = ends[:, :3, :3]
        else:
            ends = ends[:, :3, :3] @ point + ends[:, :3, 3]
        moved = [_difference(*pair) for pair in zip(ends[: robot.nv], ends[robot.nv :])]
        jacobian = np.array(moved).reshape(-1, 3).T / (2.0 * _DISPLACEMENT)
        mobility = np.linalg.eigvalsh(
            jacobian @ np.linalg.solve(robot.mass_matrix(q), jacobian.T)
        )[-1]
        if not mobility > 1e-9:
            what = 'rotates' if point is None else 'moves'
            raise ValueError(f'{self.name} is fixed: no joint {what} it')
        return float(1.0 / mobility)


class ObjectPull(Pull):
    """A spring that pulls a movable object of the world.

    :raises ValueError: for an unknown object

    >>> from rbd_ros.viewer.pull import ObjectPull
    >>> simulator = Simulator(None, world='config/push_world.yaml')
    >>> pull = ObjectPull(simulator, 'box', radius=0.5)
    >>> pull.aim(point=(0, 0, 0.05), target=(0.53, 0.13, 0.5))
    >>> for _ in range(1000):
    ...     pull.apply()
    ...     simulator.step()
    >>> bool(simulator.object_pose('box')[2, 3] > 0.3)  # it hangs on the spring
    True
    """

    def __init__(self, simulator: Simulator, name: str, radius: float):
        simulator.object_pose(name)  # rejects an unknown object
        self._number = simulator.objects.index(name)
        self._bodies = simulator.physics.model.scene.bodies
        weight = 9.81 * float(self._bodies.mass[self._number])
        super().__init__(simulator, name, weight, radius)

    def pose(self) -> FloatArray:
        """Return the pose of the object in world coordinates, (4, 4)."""
        return self.simulator.object_pose(self.name)

    def _mass(self, point: Optional[FloatArray]) -> float:
        bodies, o = self._bodies, self._number
        if point is None:
            return float(np.linalg.eigvalsh(bodies.inertia[o])[0])
        lever = np.cross(np.eye(3), point - bodies.center[o])
        turning = lever.T @ np.linalg.solve(bodies.inertia[o], lever)
        return float(1.0 / np.linalg.eigvalsh(turning + np.eye(3) / bodies.mass[o])[-1])


def _point(given: ArrayLike) -> FloatArray:
    point = np.asarray(given, dtype=float)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise ValueError(f'a point must have three finite coordinates, got {given!r}')
    return point


def _rotated(orientation: FloatArray, vector: FloatArray) -> FloatArray:
    """Return an orientation, (3, 3), rotated by a rotation vector."""
    angle = float(np.linalg.norm(vector))
    axis = tuple(vector / angle) if angle > 0.0 else (0.0, 0.0, 1.0)
    rotated: FloatArray = np.array(axis_rotation(axis, angle)) @ orientation
    return rotated


def _difference(b: FloatArray, a: FloatArray) -> FloatArray:
    """Return b - a of points, (3,), and the rotation vector from a to b of rotations, (3, 3)."""
    if b.ndim == 1:
        return b - a
    return np.array(rotation_vector(rotation_to_quaternion((b @ a.T).tolist())))
