"""Triangles on a picture by a depth buffer, in compiled loops: no graphics card, no display."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.compiler.loops import compiled, entry_point, floats, integers

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Samples of a pixel along each axis, which make edges smooth.
SAMPLES = 2


class Raster(NamedTuple):
    """Samples of a picture, and its pixels.

    :param colour: of each sample, (rows, columns, 3), 0 to 1
    :param nearness: inverse of the depth of what is there, 0 for infinitely far, (rows, columns)
    :param pixels: means of the samples, (rows / SAMPLES, columns / SAMPLES, 3)
    """

    colour: FloatArray = floats('rows', 'columns', 3)
    nearness: FloatArray = floats('rows', 'columns')
    pixels: FloatArray = floats('pixel_rows', 'pixel_columns', 3)


class Soup(NamedTuple):
    """Triangles as the camera sees them.

    :param points: column and row [samples] and inverse depth of each vertex, (V, 3)
    :param corners: vertices of each triangle, (T, 3)
    :param paint: red, green, blue and opacity of each triangle, (T, 4)
    """

    points: FloatArray = floats('vertices', 3)
    corners: IntArray = integers('triangles', 3)
    paint: FloatArray = floats('triangles', 4)


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
                        behind = raster.colour[row, column, k]
                        raster.colour[row, column, k] = behind + opacity * (paint[k] - behind)
                    if opacity >= 1.0:
                        raster.nearness[row, column] = near


@entry_point
def draw(raster: Raster, soup: Soup, first: int, last: int) -> int:
    """Draw triangles from one number to another, in their order; those before the camera count.

    :return: how many are drawn, whether they are seen or not
    """
    count = 0
    for t in range(first, last):
        a, b, c = soup.corners[t, 0], soup.corners[t, 1], soup.corners[t, 2]
        if min(soup.points[a, 2], soup.points[b, 2], soup.points[c, 2]) > 0.0:
            fill(raster, soup.points, a, b, c, soup.paint[t])
            count += 1
    return count


@entry_point
def develop(raster: Raster) -> int:
    """Mean of the samples of each pixel.

    :return: number of samples in a pixel
    """
    for row in range(len(raster.pixels)):
        for column in range(len(raster.pixels[0])):
            for k in range(3):
                total = 0.0
                for i in range(SAMPLES):
                    for j in range(SAMPLES):
                        total += raster.colour[SAMPLES * row + i, SAMPLES * column + j, k]
                raster.pixels[row, column, k] = total / (SAMPLES * SAMPLES)
    return SAMPLES * SAMPLES
