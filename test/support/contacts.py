# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contacts between links of a textbook's tree, by Jacobians of points and complex steps.

Points and directions move through space at given rates, independent of the bodies.
"""

from typing import NamedTuple

import numpy as np

from support.reference import STEP


class Geometry(NamedTuple):
    """Geometry of contacts, and its rates.

    :param points: (c, 3)
    :param directions: unit vectors, (c, 3), or (c, 3, 3) with tangents
    :param point_rates: (c, 3)
    :param direction_rates: of the shape of the directions
    """

    points: np.ndarray
    directions: np.ndarray
    point_rates: np.ndarray
    direction_rates: np.ndarray

    @property
    def flat(self):
        """Arguments of declared algorithms by symbol."""
        names = ('points', 'normals', 'point_rates', 'normal_rates')
        return {name: x.ravel() for name, x in zip(names, self)}


def random_geometry(rng, count, tangents):
    """Return random points with orthonormal axes that turn and move."""
    axes = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    spin = rng.normal(size=(count, 1, 3))
    rates = np.cross(spin, axes)
    if not tangents:
        axes, rates = axes[:, 0], rates[:, 0]
    return Geometry(rng.normal(size=(count, 3)), axes, rng.normal(size=(count, 3)), rates)


def separation(book, q, points, directions, pairs):
    """Return rows e . (Jacobian of the successor's point - that of the predecessor's), (r, nv).

    :param points: in base coordinates; they and q may be complex
    :param pairs: names of links, None for the base
    """
    rows = []
    for C, axes, (p, s) in zip(points, directions, pairs):
        J = _at(book, q, s, C) - _at(book, q, p, C)
        rows.append(np.atleast_2d(axes) @ J)
    return np.vstack(rows)


def _at(book, q, link, point):
    """Return the Jacobian of the link's point that coincides with a point of space."""
    if link is None:
        return np.zeros((3, book.layout.nv))
    R, p, _ = book.kinematics(q)[link]
    return book.point_jacobian(q, link, R.T @ (point - p))


def separation_bias(book, q, v, geometry, pairs):
    """Return the rate of `separation`, times v, while bodies, points and directions move."""

    def along(x):
        # `Textbook.rate` makes q complex, and everything else with it.
        h = 1j * STEP if np.iscomplexobj(x) else 0.0
        return separation(
            book,
            x,
            geometry.points + h * geometry.point_rates,
            geometry.directions + h * geometry.direction_rates,
            pairs,
        )

    return book.rate(along, q, v) @ v
