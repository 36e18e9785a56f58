# SPDX-License-Identifier: Apache-2.0
"""Pictures of a scene without a browser or a display, nearly as the page shows it."""

from __future__ import annotations

import math
import threading
from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.compiler.loops import allocate, Record
from rbd_ros.contact.ground import HalfSpace
from rbd_ros.model.geometry import Color
from rbd_ros.viewer import raster
from rbd_ros.viewer.page_text import arrow_length, grounds, reach, SMALLEST
from rbd_ros.viewer.primitives import arrow, surface
from rbd_ros.viewer.viewer_scene import Ground, Scene

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SKY = np.array([0.914, 0.929, 0.945])
LINES = np.array([0.66, 0.69, 0.72])
CONTACT: Color = (0.85, 0.11, 0.38, 1.0)
#: As in viewer.js: height of the view, direction of the camera from the center, light.
_FIELD = math.radians(40.0)
_FROM = 1.3 * np.array([1.6, -2.2, 1.1])
_LIGHT = np.array([0.8, -0.6, 2.0]) / math.sqrt(5.0)
_NEAREST = 0.01  # radii: what is nearer to the camera is not drawn
# Of arrows, which are before everything else: most contact points lie below what rests on them.
_BEFORE = 1e6
_SHADE = 0.78  # of the color in a shadow
_CELLS = 30  # of the grid, from its middle to its edge


class _Surfaces(NamedTuple):
    """Triangles of all shapes: opaque ones that stand still, that move, and those seen through.

    :param vertices: in coordinates of their frames, (V, 3) [m]
    :param frames: frame of each vertex, -1 for the world, (V,)
    :param corners: (T, 3)
    :param colors: (T, 4)
    :param ends: numbers of the triangles that these three end before
    """

    vertices: FloatArray
    frames: IntArray
    corners: IntArray
    colors: FloatArray
    ends: Tuple[int, int, int]


class Camera:
    """Pictures of a scene from where its page is seen first.

    :param scene: what there is to see
    :param poses: poses of the frames that the place is chosen for, (frames, 7)
    :param ground: the ground where there is no world; None for none
    :param width: columns of the pictures
    :param height: their rows

    >>> from rbd_ros.viewer.picture import Camera
    >>> scene = make_scene(robot.model)
    >>> poses = scene.poses(robot, [q])[0]
    >>> picture = Camera(scene, poses, width=64, height=48).picture(poses)
    >>> picture.shape, picture.dtype, len(np.unique(picture)) > 20
    ((48, 64, 3), dtype('uint8'), True)
    """

    def __init__(
        self,
        scene: Scene,
        poses: ArrayLike,
        ground: Optional[HalfSpace] = None,
        width: int = 960,
        height: int = 540,
    ):
        self.scene = scene
        start = np.asarray(poses, dtype=float)
        center, radius = reach(scene, start)
        self.radius = max(radius, SMALLEST)
        self._place = np.array(center) + _FROM * self.radius
        backward = _FROM / np.linalg.norm(_FROM)
        right = np.cross([0.0, 0.0, 1.0], backward)
        right /= np.linalg.norm(right)
        #: Directions to the right, upward and backward, in rows.
        self._axes: FloatArray = np.stack([right, np.cross(backward, right), backward])
        rows, columns = raster.SAMPLES * height, raster.SAMPLES * width
        self._focus = 0.5 * rows / math.tan(0.5 * _FIELD)  # [samples]
        self._raster = allocate(
            raster.Raster, rows=rows, columns=columns, pixel_rows=height, pixel_columns=width
        )
        self._record = Record(self._raster)
        self._mutex = threading.Lock()  # of the raster, which all pictures are drawn into
        lens = [0.5 * (columns - 1), 0.5 * (rows - 1), self._focus, _NEAREST * self.radius]
        self._look = Record(raster.Look(self._place, self._axes, _LIGHT, np.array(lens)))
        self._grounds = grounds(scene, ground)
        self._surfaces = _surfaces(scene)
        self._paint_grounds(self._grounds)
        still, _, _ = self._surfaces.ends
        self._draw(self._at(start), self._surfaces.corners, self._surfaces.colors, 0, still)
        self._background = self._raster.color.copy(), self._raster.nearness.copy()

    def picture(self, poses: ArrayLike, contacts: Optional[ArrayLike] = None) -> NDArray[np.uint8]:
        """Return the picture of an instant, (height, width, 3): red, green, blue.

        :param poses: poses of the frames, (frames, 7)
        :param contacts: position and force of contacts, (C, 6) [m, N]
        """
        with self._mutex:
            return self._picture(np.asarray(poses, dtype=float), contacts)

    def _picture(self, poses: FloatArray, contacts: Optional[ArrayLike]) -> NDArray[np.uint8]:
        surfaces, (color, nearness) = self._surfaces, self._background
        self._raster.color[...], self._raster.nearness[...] = color, nearness
        at = self._at(poses)
        still, moving, every = surfaces.ends
        for ground in self._grounds:
            self._draw_shadow(ground, at, surfaces.corners[still:moving])
        self._draw(at, surfaces.corners, surfaces.colors, still, moving)
        for contact in np.empty((0, 6)) if contacts is None else np.asarray(contacts, dtype=float):
            self._draw_force(contact)
        self._draw(at, surfaces.corners, surfaces.colors, moving, every)
        raster.develop(self._record)
        pixels: NDArray[np.uint8] = (255.0 * self._raster.pixels + 0.5).astype(np.uint8)
        return pixels

    def _at(self, poses: FloatArray) -> FloatArray:
        """Return the vertices in the world, (V, 3)."""
        vertices, frames = self._surfaces.vertices, self._surfaces.frames
        # The pose after the last one is that of the world: frame -1.
        every = np.concatenate([poses.reshape(-1, 7), [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]])
        placed = every[frames]
        u, w = placed[:, 3:6], placed[:, 6:]
        turned = np.cross(u, vertices)
        found: FloatArray = vertices + 2.0 * (w * turned + np.cross(u, turned)) + placed[:, :3]
        return found

    def _draw(
        self,
        at: FloatArray,
        corners: IntArray,
        colors: FloatArray,
        first: int = 0,
        last: Optional[int] = None,
        lit: bool = True,
        nearer: float = 0.0,
    ) -> None:
        """Draw some of the triangles; `nearer` is added to their nearness."""
        soup = Record(raster.Soup(at, np.zeros_like(at), corners, colors))
        raster.project(self._look, soup, nearer)
        end = len(corners) if last is None else last
        raster.draw(self._record, self._look, soup, first, end, int(lit))

    def _draw_shadow(self, ground: Ground, at: FloatArray, corners: IntArray) -> None:
        """Draw what keeps the light from a plane."""
        normal, slope = ground.pose[:3, 2], float(ground.pose[:3, 2] @ _LIGHT)
        if slope <= 0.0 or not len(corners):
            return
        height = (at - ground.pose[:3, 3]) @ normal
        fallen = at - np.outer(height / slope, _LIGHT) + 1e-3 * self.radius * normal
        fallen[height < 0.0] = np.nan
        color = (SKY if ground.color is None else np.array(ground.color[:3])) * _SHADE
        self._draw(fallen, corners, np.tile([*color, 1.0], (len(corners), 1)), lit=False)

    def _draw_force(self, contact: FloatArray) -> None:
        force = float(np.linalg.norm(contact[3:]))
        length = arrow_length(force, self.scene.weight, self.radius)
        if not length > 0.0:
            return
        shape, z = arrow(length, self.radius / 120.0), contact[3:] / force
        across = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
        x = across / np.linalg.norm(across)
        at = contact[:3] + shape.vertices @ np.stack([x, np.cross(z, x), z])
        colors = np.tile(CONTACT, (len(shape.corners), 1))
        self._draw(at, shape.corners, colors, nearer=_BEFORE)

    def _paint_grounds(self, planes: Sequence[Ground]) -> None:
        """Begin with the sky and the grids of the planes."""
        self._raster.color[...] = SKY
        rows, columns = self._raster.nearness.shape
        x = np.arange(columns) - 0.5 * (columns - 1)
        y = 0.5 * (rows - 1) - np.arange(rows)
        cell = 10.0 ** round(math.log10(self.radius / 3.0))
        for plane in planes:
            right, up, back = self._axes @ plane.pose[:3, :3]
            # Coordinates in the plane of what each sample looks at, by the distance to it.
            way = x[:, None] * right + y[:, None, None] * up - self._focus * back
            at = (self._place - plane.pose[:3, 3]) @ plane.pose[:3, :3]
            with np.errstate(divide='ignore', invalid='ignore'):
                distance = -at[2] / way[..., 2]
                u, v = (np.abs(at[k] + distance * way[..., k]) / cell for k in (0, 1))
                seen = (distance > 0.0) & (u < _CELLS) & (v < _CELLS)
                # As wide as a pixel, and fainter where they are close together.
                width = np.maximum(distance / cell, 1e-9)
                on_line = np.zeros((rows, columns))
                for w in (u, v):
                    near = np.abs(w - np.round(w)) / (raster.SAMPLES * width)
                    on_line = np.maximum(on_line, np.clip(1.2 - near, 0.0, 1.0))
                fade = np.clip(0.12 / (raster.SAMPLES * width), 0.0, 1.0)
            if plane.color is not None:
                r, g, b, opacity = plane.color
                lit = raster.AROUND + raster.SKY * plane.pose[2, 2]
                lit += raster.LAMP * max(float(plane.pose[:3, 2] @ _LIGHT), 0.0)
                paint = min(lit, 1.0) * np.array([r, g, b])
                self._raster.color[seen] += opacity * (paint - self._raster.color[seen])
                if opacity >= 1.0:
                    self._raster.nearness[seen] = 1.0 / (distance[seen] * self._focus)
            amount = np.where(seen, on_line * fade, 0.0)[..., None]
            self._raster.color[...] += np.nan_to_num(amount) * (LINES - self._raster.color)


def _surfaces(scene: Scene) -> _Surfaces:
    """Return the triangles of all shapes of a scene."""
    # By place in the order of drawing: still, moving, seen through.
    parts: List[List[Tuple[FloatArray, int, IntArray, Color]]] = [[], [], []]
    for shape in scene.shapes:
        found, frame = surface(scene, shape), scene.frame_of(shape)
        vertices = found.vertices @ shape.placement[:3, :3].T + shape.placement[:3, 3]
        order = 2 if shape.color[3] < 1.0 else int(frame >= 0)
        parts[order].append((vertices, frame, found.corners, shape.color))
    first, ends = 0, []
    vertices_, frames, corners, colors = [np.empty((0, 3))], [], [np.empty((0, 3), int)], []
    total = 0
    for group in parts:
        for points, frame, triangles, color in group:
            vertices_.append(points)
            frames.append(np.full(len(points), frame))
            corners.append(first + triangles)
            colors.append(np.tile(color, (len(triangles), 1)))
            first, total = first + len(points), total + len(triangles)
        ends.append(total)
    return _Surfaces(
        np.concatenate(vertices_),
        np.concatenate([np.empty(0, int), *frames]),
        np.concatenate(corners),
        np.concatenate([np.empty((0, 4)), *colors]),
        (ends[0], ends[1], ends[2]),
    )
