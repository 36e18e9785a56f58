# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Markers of a world for RViz: objects, static robots, contact forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from geometry_msgs.msg import Point, Pose, Vector3
import numpy as np
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.collision.scene.scene import start_configuration
from rbd_ros.model import Model
from rbd_ros.model.geometry import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    HeightField,
    Mesh,
    Plane,
    Sphere,
)
from rbd_ros.nodes.messages.conversions import pose_from_floating_joint, set_stamp
from rbd_ros.spatial.rotation import rotation_to_quaternion
from rbd_ros.world.world import World, WorldRobot

Color = Tuple[float, float, float, float]

GRAY: Color = (0.7, 0.71, 0.73, 1.0)
GROUND: Color = (0.85, 0.85, 0.82, 1.0)
RED: Color = (0.9, 0.1, 0.1, 1.0)
PLANE_SIZE = 20.0  # side of the square that represents a plane [m]
PLANE_THICKNESS = 1e-3  # [m]
MAX_SQUARES = 64  # maximum resolution of a height field, along each side
MAX_ARROWS = 200
SHAFT, HEAD = 0.01, 0.02  # diameters of an arrow [m]


@dataclass(frozen=True)
class Placed:
    """A marker on an object or link.

    :param owner: name of the object or link
    :param pose: pose in its coordinates, (4, 4)
    """

    marker: Marker
    owner: str
    pose: np.ndarray


def static_markers(world: World, frame: str, moving: Sequence[WorldRobot] = ()) -> List[Marker]:
    """Return the markers of all static objects and robots.

    :param frame: name of the world's frame
    :param moving: movable robots
    """
    found = []
    for each in world.objects:
        if not each.movable:
            for marker, pose in _shape_markers(each.shape, each.color):
                _fill(marker, frame, each.name, found)
                marker.pose = _message(np.array(each.pose, dtype=float) @ pose)
    for robot in world.robots:
        if robot in moving:
            continue
        for shape, color, placement in _standing_robot(robot):
            for marker, pose in _shape_markers(shape, color):
                _fill(marker, frame, robot.name, found)
                marker.pose = _message(placement @ pose)
    return found


def object_markers(world: World, frame: str) -> List[Placed]:
    """Return the markers of the movable objects.

    :param frame: name of the world's frame
    """
    found: List[Marker] = []
    placed = []
    for each in world.movable:
        for marker, pose in _shape_markers(each.shape, each.color):
            _fill(marker, frame, each.name, found)
            placed.append(Placed(marker, each.name, pose))
    return placed


def robot_markers(robots: Iterable[WorldRobot], frame: str) -> List[Placed]:
    """Return the markers of movable robots; their owners are links, named 'robot/link'.

    :param frame: name of the world's frame
    """
    found: List[Marker] = []
    placed = []
    for robot in robots:
        model = robot.model
        for each in _seen(model):
            in_link = each.placement * model.links[each.link].placement.inverse()
            for marker, pose in _shape_markers(each.shape, each.color):
                _fill(marker, frame, robot.name, found)
                at = np.array(in_link.pose(), dtype=float) @ pose
                placed.append(Placed(marker, f'{robot.name}/{each.link}', at))
    return placed


def move(markers: Iterable[Placed], poses: Mapping[str, np.ndarray], time: int) -> None:
    """Move markers to the poses of their owners.

    :param poses: poses of the owners by name, (4, 4)
    :param time: time of the markers [ns]
    """
    for each in markers:
        each.marker.pose = _message(poses[each.owner] @ each.pose)
        set_stamp(each.marker.header.stamp, time)


def nothing(frame: str) -> Marker:
    """Return the marker that deletes all earlier ones.

    :param frame: name of the world's frame
    """
    marker = Marker(action=Marker.DELETEALL)
    marker.header.frame_id = frame
    return marker


def arrows(
    pairs: Iterable[Tuple[str, str]],
    positions: np.ndarray,
    forces: np.ndarray,
    frame: str,
    time: int,
    scale: float,
) -> List[Marker]:
    """Return the arrows of contact forces, preceded by a marker that deletes earlier ones.

    :param pairs: names of the two bodies of each contact
    :param positions: contact points, (n, 3) [m]
    :param forces: forces on the second body, (n, 3) [N]
    :param frame: name of the world's frame
    :param time: time of the markers [ns]
    :param scale: length of an arrow per force [m/N]
    """
    found = [nothing(frame)]
    for k, (first, second) in enumerate(pairs):
        if k == MAX_ARROWS:
            break
        marker = Marker(
            type=Marker.ARROW,
            scale=Vector3(x=SHAFT, y=HEAD, z=0.0),
            color=_color(RED),
            points=[_point(positions[k]), _point(positions[k] + scale * forces[k])],
        )
        _fill(marker, frame, f'{first} {second}', found)
        marker.pose.orientation.w = 1.0
    for marker in found:
        set_stamp(marker.header.stamp, time)
    return found


def _fill(marker: Marker, frame: str, namespace: str, found: List[Marker]) -> None:
    """Set the frame, namespace and id of a marker, and append it to `found`."""
    marker.header.frame_id, marker.ns, marker.id = frame, namespace, len(found)
    found.append(marker)


def _shape_markers(shape: Any, color: Optional[Color]) -> Iterator[Tuple[Marker, np.ndarray]]:
    """Yield the markers that represent a shape, and their poses in its coordinates."""
    at_origin = np.eye(4)
    if isinstance(shape, Box):
        yield _marker(Marker.CUBE, shape.size, color), at_origin
    elif isinstance(shape, Sphere):
        yield _marker(Marker.SPHERE, (2.0 * shape.radius,) * 3, color), at_origin
    elif isinstance(shape, (Cylinder, Capsule)):
        width = 2.0 * shape.radius
        yield _marker(Marker.CYLINDER, (width, width, shape.length), color), at_origin
        if isinstance(shape, Capsule):
            for sign in (-1.0, 1.0):
                yield _marker(Marker.SPHERE, (width,) * 3, color), _up(0.5 * sign * shape.length)
    elif isinstance(shape, Plane):
        size = (PLANE_SIZE, PLANE_SIZE, PLANE_THICKNESS)
        yield _marker(Marker.CUBE, size, color or GROUND), _up(-0.5 * PLANE_THICKNESS)
    elif isinstance(shape, HeightField):
        marker = _marker(Marker.TRIANGLE_LIST, (1.0, 1.0, 1.0), color or GROUND)
        marker.points = [_point(corner) for corner in _triangles(shape)]
        yield marker, at_origin
    elif isinstance(shape, Mesh) and shape.path is not None:
        marker = _marker(Marker.MESH_RESOURCE, shape.scale, color)
        marker.mesh_resource = f'file://{shape.path}'
        yield marker, at_origin


def _marker(kind: int, scale: Sequence[float], color: Optional[Color]) -> Marker:
    x, y, z = map(float, scale)
    return Marker(type=kind, scale=Vector3(x=x, y=y, z=z), color=_color(color or GRAY))


def _triangles(field: HeightField) -> np.ndarray:
    """Return the corners of the drawn triangles of a height field, (3 n, 3) [m]."""
    rows, columns = field.heights.shape
    i, j = (
        np.unique(np.linspace(0, count - 1, min(count, MAX_SQUARES + 1)).round().astype(int))
        for count in (rows, columns)
    )
    y = field.size[1] * (0.5 - i / (rows - 1))
    x = field.size[0] * (j / (columns - 1) - 0.5)
    grid = np.dstack([*np.meshgrid(x, y), field.heights[np.ix_(i, j)]])
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, :-1], grid[1:, 1:]
    # Counter-clockwise as seen from above: a and b have the larger y.
    return np.stack([a, c, b, b, c, d], axis=2).reshape(-1, 3)


def _standing_robot(robot: WorldRobot) -> Iterator[Tuple[Any, Optional[Color], np.ndarray]]:
    """Yield the shapes of a static robot: visual ones, else collision shapes, of each link."""
    model = robot.model
    X0 = body_transforms(model, model.tree_position(start_configuration(robot)))
    for each in _seen(model):
        placed = each.placement * X0[each.body] * robot.base_placement
        yield each.shape, each.color, np.array(placed.pose(), dtype=float)


def _seen(model: Model) -> Iterator[Geometry]:
    """Yield the visual shapes, or the collision shapes of links without."""
    seen = {each.link for each in model.geometries if each.role == 'visual'}
    for each in model.geometries:
        if each.role == 'visual' or each.link not in seen:
            yield each


def _up(height: float) -> np.ndarray:
    pose = np.eye(4)
    pose[2, 3] = height
    return pose


def _message(pose: np.ndarray) -> Pose:
    w, x, y, z = rotation_to_quaternion(pose[:3, :3].tolist())
    return pose_from_floating_joint(np.array([w, x, y, z, *pose[:3, 3]]))


def _point(values: np.ndarray) -> Point:
    x, y, z = (float(value) for value in values)
    return Point(x=x, y=y, z=z)


def _color(color: Color) -> ColorRGBA:
    r, g, b, a = (float(part) for part in color)
    return ColorRGBA(r=r, g=g, b=b, a=a)
