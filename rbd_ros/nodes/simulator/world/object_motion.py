# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion and contacts of the movable objects of a simulated world, for messages.

Arrays contain all objects, in the order of ROS: linear before angular, quaternions x, y, z, w.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Tuple

import numpy as np

from rbd_ros.collision.scene.scene import Scene
from rbd_ros.collision.scene.scene_arrays import shapes_of_pairs
from rbd_ros.simulation import Simulator
from rbd_ros.simulation.scene.scene_state import FreeBodies, NOW
from rbd_ros.world.world import ROBOT


class Motion(NamedTuple):
    """Motion of the movable objects.

    :param poses: position of the origins [m], quaternion x, y, z, w, (n, 7)
    :param twists: velocity of the origins [m/s], angular velocity [rad/s], world axes, (n, 6)
    """

    poses: np.ndarray
    twists: np.ndarray


class ObjectContacts(NamedTuple):
    """Contacts with a force in the last step, in world coordinates.

    :param pairs: indices of the pairs of shapes, (n,)
    :param positions: contact points, (n, 3) [m]
    :param forces: forces on the second shape of each pair, (n, 3) [N]
    :param normals: unit normals from the first to the second, (n, 3)
    :param depths: penetration, (n,) [m]
    """

    pairs: np.ndarray
    positions: np.ndarray
    forces: np.ndarray
    normals: np.ndarray
    depths: np.ndarray


class ObjectMotion:
    """Reads the state of a simulation's world.

    :param simulator: simulation with a world
    :param scene: its shapes, also of a prepared scene
    :param bodies: its movable objects, likewise
    """

    def __init__(self, simulator: Simulator, scene: Scene, bodies: FreeBodies):
        self._simulator = simulator
        self._bodies = bodies
        self._mobility = np.linalg.inv(self._bodies.inertia)
        names = tuple(each.name for each in scene.objects)
        self._table = scene.table
        # In shape names, links of further movable robots have their full name.
        links = {
            each.name: each.name.removeprefix(f'{ROBOT}/')
            for each in scene.shapes
            if each.name.startswith(f'{ROBOT}/') or each.name in simulator.robot.model.links
        }
        #: Names of links and objects with a frame that may have contacts.
        self.bodies: Tuple[str, ...] = (*sorted(set(links.values())), *names)
        self.first_object = len(self.bodies) - len(names)
        number: Dict[str, int] = {name: k for k, name in enumerate(self.bodies)}
        #: Names of the bodies of shapes; those of links begin with 'robot/'.
        self.body_names: List[str] = [each.name for each in scene.shapes]
        self._body_of_shape = np.array(
            [number.get(links.get(name, name), -1) for name in self.body_names], dtype=int
        )

    def motion(self) -> Motion:
        """Return the present motion of the objects."""
        objects, bodies = self._simulator.physics.objects, self._bodies
        R = _rotations(objects.quaternion)
        arm = (R @ bodies.center[..., None])[..., 0]
        momentum = R.transpose(0, 2, 1) @ objects.angular_momentum[..., None]
        angular = (R @ (self._mobility @ momentum))[..., 0]
        q = objects.quaternion
        poses = np.hstack([objects.position - arm, q[:, 1:], q[:, :1]])
        return Motion(poses, np.hstack([objects.velocity - np.cross(angular, arm), angular]))

    def contacts(self) -> ObjectContacts:
        """Return the contacts of the last step."""
        physics = self._simulator.physics
        contact_state, count = physics.contact_state, int(physics.contact_state.counts[NOW])
        bearing = np.flatnonzero(contact_state.impulse[:count, 0] > 0.0)
        contacts = contact_state.contacts
        forces = (contact_state.impulse[bearing, None] @ contacts.frame[bearing])[:, 0]
        return ObjectContacts(
            contacts.pair[bearing],
            contacts.position[bearing],
            forces / physics.model.timestep,
            contacts.frame[bearing, 0],
            -contacts.gap[bearing],
        )

    def names(self, pair: int) -> Tuple[str, str]:
        """Return the names of a pair's bodies: 'robot/link', or the name of an object."""
        first, second = shapes_of_pairs(self._table, pair)
        return self.body_names[first], self.body_names[second]

    def wrenches(self, contacts: ObjectContacts) -> np.ndarray:
        """Return the sum of the contact wrenches on each of `bodies`, about the world's origin.

        :return: force, then moment, in world axes, (len(bodies), 6) [N, N m]
        """
        total = np.zeros((len(self.bodies), 6))
        both = np.hstack([contacts.forces, np.cross(contacts.positions, contacts.forces)])
        for side, sign in ((0, -1.0), (1, 1.0)):
            body = self._body_of_shape[shapes_of_pairs(self._table, contacts.pairs)[:, side]]
            known = body >= 0
            np.add.at(total, body[known], sign * both[known])
        return total

    def bodies_in_contact(self, contacts: ObjectContacts) -> np.ndarray:
        """Return whether each of `bodies` has a contact, (len(bodies),) of bool."""
        result = np.zeros(len(self.bodies), dtype=bool)
        body = self._body_of_shape[shapes_of_pairs(self._table, contacts.pairs)].ravel()
        result[body[body >= 0]] = True
        return result


def about(wrenches: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the wrenches about other points, with the same axes.

    :param wrenches: force, then moment, (n, 6) [N, N m]
    :param points: (n, 3) [m]
    """
    force = wrenches[:, :3]
    return np.hstack([force, wrenches[:, 3:] - np.cross(points, force)])


def _rotations(quaternions: np.ndarray) -> np.ndarray:
    """Return the rotation matrices of unit quaternions w, x, y, z, (n, 3, 3)."""
    w, x, y, z = quaternions.T
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.moveaxis(R, 2, 0)
