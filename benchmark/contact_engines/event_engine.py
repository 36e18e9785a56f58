# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Event-driven simulation of this package: independent balls in contact with the ground only."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Tuple

from contact_scenes.scene import Body, rotation, Scene, Sphere
import numpy as np

from contact_engines.engine import Engine, NotPossible
from contact_engines.our_engine import LIBRARY
from rbd_ros import Robot
from rbd_ros.textbook.simulation import EventDrivenSimulator, FaceContact

VARIANT = 'event-driven'


def ball(body: Body, scene: Scene) -> EventDrivenSimulator:
    """Return the simulation of one ball on the ground.

    :raises NotPossible: for other shapes
    """
    if not isinstance(body.shape, Sphere) or body.mass is None:
        raise NotPossible(f'{body.name} is no ball that moves')
    x, y, z = (float(moment) for moment in body.moments)
    robot = Robot.from_urdf(
        f'<robot name="{body.name}"><link name="ball"><inertial><mass value="{body.mass}"/>'
        f'<inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '</robot>',
        floating_base=True,
        gravity=(0.0, 0.0, -float(scene.gravity)),
    )
    ground = FaceContact('ball', radius=body.shape.radius, restitution=float(scene.restitution))
    simulator = EventDrivenSimulator(robot, [ground])
    R = rotation(np.array(body.quaternion))
    v = np.concatenate([R.T @ np.array(body.angular), R.T @ np.array(body.linear)])
    simulator.reset(np.array([*body.quaternion, *body.position], dtype=float), v)
    return simulator


class EventDrivenWorld:
    """A scene of balls in `EventDrivenSimulator`; equal ones side by side share a simulation."""

    def __init__(self, scene: Scene, timestep: float):
        self.timestep, self.steps = timestep, 0
        self.simulators: List[EventDrivenSimulator] = []
        known: Dict[Any, int] = {}
        #: Simulation of each ball, and its horizontal offset from it.
        self.which, self.beside = [], np.zeros((len(scene.free), 3))
        places = []
        for i, body in enumerate(scene.free):
            x, y, z = body.position
            key = (body.shape, z, body.quaternion, body.mass, body.linear, body.angular)
            if key not in known:
                known[key] = len(self.simulators)
                self.simulators.append(ball(body, scene))
                places.append((x, y))
            self.which.append(known[key])
            first = places[known[key]]
            self.beside[i, :2] = x - first[0], y - first[1]

    def push(self, wrenches: Mapping[str, np.ndarray]) -> None:
        """Reject forces: no `apart` scene has any."""
        raise NotPossible('no forces are known here')

    def drive(self, torque: np.ndarray) -> None:
        """Reject torques, likewise."""
        raise NotPossible('there is no machine')

    def step(self, count: int) -> None:
        """Advance by the duration of some steps."""
        self.steps += count
        for each in self.simulators:
            each.advance(self.steps * self.timestep - each.time)

    def bodies(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the positions, quaternions and velocities of the balls."""
        q = np.array([self.simulators[k].q for k in self.which])
        v = np.array([self.simulators[k].v for k in self.which])
        R = rotation(q[:, :4])
        turned = [np.einsum('nij,nj->ni', R, v[:, part]) for part in (slice(3), slice(3, 6))]
        return q[:, 4:7] + self.beside, q[:, :4], np.hstack(turned)

    def machine(self) -> Any:
        """Return nothing."""
        return None

    def watch(self) -> None:
        """Do nothing: impacts have no forces."""

    def contacts(self) -> None:
        """Return no contacts, as impacts take no time."""


ENGINES: List[Engine] = [
    Engine(
        'rbd_ros',
        LIBRARY,
        EventDrivenWorld,
        'EventDrivenSimulator with its defaults; balls that differ by their place alone are one',
        variant=VARIANT,
    )
]
