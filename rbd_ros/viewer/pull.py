# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A spring that pulls a body towards a point, as stiff as a stable simulation permits."""

from __future__ import annotations

from abc import ABC, abstractmethod
import math
from typing import Optional

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray
from rbd_ros.simulation import Simulator

#: Maximum force, relative to the weight of all moving bodies.
STRONGEST = 3.0
#: Extension at which the spring force is that weight, relative to the radius of the scene.
STRETCH = 0.1
#: Maximum coordinate of points [m]; squares do not overflow.
_MAX_COORDINATE = 1e9

#: Bounds of h omega and of h d/m for the pulled point, with the step h: explicit forces are stable
#: below 2 and 1, and its effective mass may decrease with the motion.
_FREQUENCY, _DAMPING = 0.2, 0.3
_DISPLACEMENT = 1e-6  # [rad, m]: for the numerical Jacobian of the point


class Pull(ABC):
    """A spring from a point of a body to a target in the world, see `LinkPull` and `ObjectPull`.

    :param simulator: the simulation
    :param name: name of the pulled body
    :param weight: weight of the bodies that move with it [N]
    :param radius: radius of the scene [m]
    """

    def __init__(self, simulator: Simulator, name: str, weight: float, radius: float):
        self.simulator, self.name = simulator, name
        self.limit, self._desired = STRONGEST * weight, weight / (STRETCH * radius)
        self.stiffness = self.damping = 0.0
        self.point, self.target = np.full(3, math.nan), np.zeros(3)
        self._before: Optional[FloatArray] = None

    def aim(self, point: ArrayLike, target: ArrayLike) -> None:
        """Pull a point to a target.

        :param point: point of the body, in its coordinates, (3,) [m]
        :param target: target of the point, in world coordinates, (3,) [m]
        :raises ValueError: if no joint moves that point, or it is invalid; nothing is changed
        """
        held, goal = _point(point), _point(target)
        if max(np.abs(held).max(), np.abs(goal).max()) > _MAX_COORDINATE:
            raise ValueError(
                f'the target of a pull must be within {_MAX_COORDINATE:g} m, got {list(goal)}'
            )
        if not np.array_equal(held, self.point):
            mass, h = self._mass(held), self.simulator.timestep
            self.stiffness = min(self._desired, mass * (_FREQUENCY / h) ** 2)
            self.damping = min(2.0 * math.sqrt(self.stiffness * mass), _DAMPING * mass / h)
            self.point, self._before = held, None
        self.target = goal

    def apply(self) -> None:
        """Apply the force for the next step."""
        at = self.position()
        # Of the last step, without another kernel.
        v = np.zeros(3) if self._before is None else (at - self._before) / self.simulator.timestep
        self._before = at
        force = self.stiffness * (self.target - at) - self.damping * v
        size = float(np.linalg.norm(force))
        if size > self.limit:
            force *= self.limit / size
        wrench = np.concatenate([np.zeros(3), force])
        self.simulator.apply_wrench(self.name, wrench, self.simulator.timestep, self.point)

    @abstractmethod
    def position(self) -> FloatArray:
        """Return the position of the point in world coordinates, (3,) [m]."""

    @abstractmethod
    def _mass(self, point: FloatArray) -> float:
        """Return the minimum effective mass of a point over all directions [kg]."""


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

    def position(self) -> FloatArray:
        """Return the position of the point in world coordinates, (3,) [m]."""
        return self._positions(self.simulator.q, self.point)

    def _positions(self, q: FloatArray, point: FloatArray) -> FloatArray:
        pose = self.simulator.robot.forward_kinematics(q)[self.name]
        found: FloatArray = pose[..., :3, :3] @ point + pose[..., :3, 3]
        return found

    def _mass(self, point: FloatArray) -> float:
        robot, q = self.simulator.robot, self.simulator.q
        steps = _DISPLACEMENT * np.concatenate([np.eye(robot.nv), -np.eye(robot.nv)])
        ends = self._positions(np.array([robot.integrate(q, step, 1.0) for step in steps]), point)
        jacobian = (ends[: robot.nv] - ends[robot.nv :]).T / (2.0 * _DISPLACEMENT)
        mobility = np.linalg.eigvalsh(
            jacobian @ np.linalg.solve(robot.mass_matrix(q), jacobian.T)
        )[-1]
        if not mobility > 1e-9:
            raise ValueError(f'{self.name} is fixed: no joint moves it')
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

    def position(self) -> FloatArray:
        """Return the position of the point in world coordinates, (3,) [m]."""
        pose = self.simulator.object_pose(self.name)
        found: FloatArray = pose[:3, :3] @ self.point + pose[:3, 3]
        return found

    def _mass(self, point: FloatArray) -> float:
        bodies, o = self._bodies, self._number
        lever = np.cross(np.eye(3), point - bodies.center[o])
        turning = lever.T @ np.linalg.solve(bodies.inertia[o], lever)
        return float(1.0 / np.linalg.eigvalsh(turning + np.eye(3) / bodies.mass[o])[-1])


def _point(given: ArrayLike) -> FloatArray:
    point = np.asarray(given, dtype=float)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise ValueError(f'a point must have three finite coordinates, got {given!r}')
    return point
