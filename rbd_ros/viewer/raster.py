# SPDX-License-Identifier: Apache-2.0
"""Triangles on a picture by a depth buffer, in compiled loops: no graphics card, no display."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.compiler.loops import compiled, entry_point, floats, integers, stack_array

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Samples of a pixel along each axis, which make edges smooth.
SAMPLES = 2

#: Light from all around, what the sky adds to it, and the lamp.
AROUND, SKY, LAMP = 0.42, 0.12, 0.5


class Raster(NamedTuple):
    """Samples of a picture, and its pixels.

    :param color: of each sample, (rows, columns, 3), 0 to 1
    :param nearness: inverse of the depth of what is there, 0 for infinitely far, (rows, columns)
    :param pixels: means of the samples, (rows / SAMPLES, columns / SAMPLES, 3)
    """

    color: FloatArray = floats('rows', 'columns', 3)
    nearness: FloatArray = floats('rows', 'columns')
    pixels: FloatArray = floats('pixel_rows', 'pixel_columns', 3)


class Look(NamedTuple):
    """Position and direction of the camera.

    :param place: its position in the world, (3,) [m]
    :param axes: directions to the right, upward and backward, in rows, (3, 3)
    :param light: direction to the light, (3,)
    :param lens: column and row of the middle, focal length [samples], nearest depth drawn [m]
    """

    place: FloatArray = floats(3)
    axes: FloatArray = floats(3, 3)
    light: FloatArray = floats(3)
    lens: FloatArray = floats(4)


class Soup(NamedTuple):
    """Triangles, and how the camera sees them.

    :param world: vertices in the world, (V, 3) [m]
    :param points: column and row [samples] and inverse depth of each vertex, 0 for those that
        cannot be drawn; a result, (V, 3)
    :param corners: vertices of each triangle, (T, 3)
    :param paint: red, green, blue and opacity of each triangle, (T, 4)
    """

    world: FloatArray = floats('vertices', 3)
    points: FloatArray = floats('vertices', 3)
    corners: IntArray = integers('triangles', 3)
    paint: FloatArray = floats('triangles', 4)


@entry_point
def project(look: Look, soup: Soup, nearer: float) -> int:
    """Find where the camera sees the vertices.

    :param nearer: added to their inverse depths, for what is to be drawn before everything
    :return: how many there are
    """
    for v in range(len(soup.world)):
        x, y, z = 0.0, 0.0, 0.0
        for r in range(3):
            away = soup.world[v, r] - look.place[r]
            x += look.axes[0, r] * away
            y += look.axes[1, r] * away
            z += look.axes[2, r] * away
        soup.points[v, 2] = 0.0
        if -z > look.lens[3]:
            soup.points[v, 0] = look.lens[0] - look.lens[2] * x / z
            soup.points[v, 1] = look.lens[1] + look.lens[2] * y / z
            soup.points[v, 2] = nearer - 1.0 / z
    return len(soup.world)


@compiled
def light_up(look: Look, soup: Soup, t: int, color: FloatArray) -> None:
    """Find the color of the side of a triangle that is seen, (4,)."""
    a, b, c = soup.corners[t, 0], soup.corners[t, 1], soup.corners[t, 2]
    normal = stack_array(3)
    size, seen, lit = 0.0, 0.0, 0.0
    for r in range(3):
        s, u = (r + 1) % 3, (r + 2) % 3
        normal[r] = (soup.world[b, s] - soup.world[a, s]) * (soup.world[c, u] - soup.world[a, u])
        normal[r] -= (soup.world[b, u] - soup.world[a, u]) * (soup.world[c, s] - soup.world[a, s])
        size += normal[r] * normal[r]
        seen += normal[r] * (look.place[r] - soup.world[a, r])
        lit += normal[r] * look.light[r]
    size = math.sqrt(size)
    if seen < 0.0:
        size = -size
    if size == 0.0:
        size = 1.0
    # From the sky, from all around, and from the light.
    shade = min(AROUND + SKY * normal[2] / size + LAMP * max(lit / size, 0.0), 1.0)
    for k in range(3):
        color[k] = shade * soup.paint[t, k]
    color[3] = soup.paint[t, 3]


@compiled
def fill(raster: Raster, points: FloatArray, a: int, b: int, c: int, paint: FloatArray) -> None:
    """Draw a triangle where nothing nearer is; one that is not opaque hides nothing."""
    rows, columns = len(raster.nearness), len(raster.nearness[0])
    ax, ay, bx, by = points[a, 0], points[a, 1], points[b, 0], points[b, 1]
    cx, cy = points[c, 0], points[c, 1]
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    if area == 0.0 or not math.isfinite(area):
        return
    first_row = max(int(math.ceil(max(min(ay, by, cy), 0.0))), 0)
    last_row = int(math.floor(min(max(ay, by, cy), rows - 1.0)))
    first = max(int(math.ceil(max(min(ax, bx, cx), 0.0))), 0)
    last = int(math.floor(min(max(ax, bx, cx), columns - 1.0)))
    # Weights of the vertices, and with them the nearness, are linear on the picture.
    ub, uc = (cy - ay) / area, -(by - ay) / area
    vb, vc = -(cx - ax) / area, (bx - ax) / area
    opacity = paint[3]
    for row in range(first_row, last_row + 1):
        for column in range(first, last + 1):
            wb = (column - ax) * ub + (row - ay) * vb
            wc = (column - ax) * uc + (row - ay) * vc
            if wb >= 0.0 and wc >= 0.0 and wb + wc <= 1.0:
                near = points[a, 2] + wb * (points[b, 2] - points[a, 2])
                near += wc * (points[c, 2] - points[a, 2])
                if near > raster.nearness[row, column]:
                    for k in range(3):
                        behind = raster.color[row, column, k]
                        raster.color[row, column, k] = behind + opacity * (paint[k] - behind)
                    if opacity >= 1.0:
                        raster.nearness[row, column] = near


@entry_point
def draw(raster: Raster, look: Look, soup: Soup, first: int, last: int, lit: int) -> int:
    """Draw triangles from one number to another, in their order; those before the camera count.

    :param lit: whether they are lit, or have their colors as they are
    :return: how many are drawn, whether they are seen or not
    """
    count, color = 0, stack_array(4)
    for t in range(first, last):
        a, b, c = soup.corners[t, 0], soup.corners[t, 1], soup.corners[t, 2]
        if min(soup.points[a, 2], soup.points[b, 2], soup.points[c, 2]) > 0.0:
            for k in range(4):
                color[k] = soup.paint[t, k]
            if lit != 0:
                light_up(look, soup, t, color)
            fill(raster, soup.points, a, b, c, color)
            count += 1
    return count


@entry_point
def develop(raster: Raster) -> int:
    """Return the mean of the samples of each pixel.

    :return: number of samples in a pixel
    """
    for row in range(len(raster.pixels)):
        for column in range(len(raster.pixels[0])):
            for k in range(3):
                total = 0.0
                for i in range(SAMPLES):
                    for j in range(SAMPLES):
                        total += raster.color[SAMPLES * row + i, SAMPLES * column + j, k]
                raster.pixels[row, column, k] = total / (SAMPLES * SAMPLES)
    return SAMPLES * SAMPLES
