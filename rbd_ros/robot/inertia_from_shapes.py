# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertias of links from their shapes, for descriptions without inertias."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, Optional, Tuple

from rbd_ros.meshes import MeshError
from rbd_ros.model import Link, Model, ModelError
from rbd_ros.model.unknown_masses import links_without_mass
from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.world.solids import Solid, solid_inertia
from rbd_ros.world.world_objects import DENSITIES


def with_inertia_from_shapes(
    model: Model,
    density: Optional[float] = None,
    links: Optional[Iterable[str]] = None,
    mass: Optional[float] = None,
) -> Model:
    """Return the model with inertias of links from their shapes; its warnings name the links.

    Collision shapes are used, or visual ones without these, with uniform density. Overlaps count
    twice. A mesh that is not closed is replaced by its convex hull.

    :param density: density of the shapes [kg/m^3]
    :param links: names of links whose inertia is replaced; None: moving links with shapes but no
        mass that are not fixed to a link with a mass
    :param mass: total mass of these links, instead of a density [kg]
    :raises ModelError: for a link whose shapes enclose no volume, or cannot be read
    :raises ValueError: for an unknown link, or an implausible density

    >>> from rbd_ros.robot.inertia_from_shapes import with_inertia_from_shapes
    >>> print(*with_inertia_from_shapes(model, 700.0, ['forearm_link']).warnings)
    links have the inertia of their shapes at 700 kg/m^3, 2.053 kg in all: 'forearm_link'
    """
    if (density is None) == (mass is None):
        raise ValueError('give either a density or a mass')
    names = links_without_mass(model) if links is None else tuple(dict.fromkeys(links))
    solids = {name: _solid(model, model.link(name)) for name in names}
    volume = sum(solid.mass for solid, _ in solids.values())
    if density is None:
        if not names:
            raise ModelError('all moving links with shapes have a mass; name links to replace it')
        density = mass / volume
    low, high = DENSITIES
    if not low <= density <= high:
        raise ValueError(f'the density must be from {low:g} to {high:g} kg/m^3, got {density:g}')
    if not names:
        return model
    for name, (solid, _) in solids.items():
        model = model.with_link_inertia(name, solid * density)
    notes = [
        f'links have the inertia of their shapes at {density:.4g} kg/m^3, '
        f'{density * volume:.4g} kg in all: {", ".join(map(repr, names))}'
    ]
    hulls = [repr(name) for name, (_, is_hull) in solids.items() if is_hull]
    if hulls:
        notes.append(
            f'meshes of links are not closed, so their convex hulls count: {", ".join(hulls)}'
        )
    return replace(model, warnings=(*model.warnings, *notes))


def _solid(model: Model, link: Link) -> Tuple[RigidBodyInertia, bool]:
    """Return the inertia of a link's shapes at unit density, and whether some are hulls."""
    shapes = [shape for shape in model.geometries if shape.link == link.name]
    whole, has_hulls = RigidBodyInertia.zero(), False
    for each in [shape for shape in shapes if shape.role == 'collision'] or shapes:
        try:
            solid, is_hull = _filled(each.shape)
        except MeshError as error:
            raise ModelError(f'link {link.name!r}: {error}') from None
        X = each.placement * link.placement.inverse()
        whole, has_hulls = whole + X.inverse_apply(solid), has_hulls or is_hull
    if not whole.mass:
        raise ModelError(
            f'link {link.name!r} has no shapes that enclose a volume; give it an <inertial>'
        )
    return whole, has_hulls


def _filled(shape: Solid) -> Tuple[RigidBodyInertia, bool]:
    """Return the inertia of a shape at unit density, and whether it is that of a convex hull."""
    try:
        return solid_inertia(shape), False
    except MeshError:
        return solid_inertia(shape, convex=True), True
