# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Algorithms in the plane: spatial algorithms on planar quantities (book 2.16, 10.3.1).

An algorithm names the types that it needs: `MotionVector.zero()`,
`ArticulatedBodyInertia.from_rigid`. `in_plane` binds these names to the planar types, and passes a
planar model; nothing else changes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from types import FunctionType
from typing import Any, Callable, cast, Dict, Optional, TypeVar

from rbd_ros.algorithms.declaration import declaration_of
from rbd_ros.algorithms.inverse_dynamics.forces import gravity_acceleration
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.model import Model
from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.textbook.planar.planar_algebra import (
    PlanarArticulatedInertia,
    PlanarForceVector,
    PlanarInertia,
    PlanarMotionSubspace,
    PlanarMotionVector,
    PlanarTransform,
)
from rbd_ros.textbook.planar.planar_model import planar_model, plane_normal, to_plane
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

Algorithm = TypeVar('Algorithm', bound=Callable[..., Any])

#: Packages whose functions are rebound.
_PACKAGES = ('rbd_ros.algorithms.', 'rbd_ros.textbook.')


def planar_gravity(model: Model) -> PlanarMotionVector:
    """Return the acceleration of gravity in a planar model.

    The guides of the plane bear the component normal to it.
    """
    return PlanarMotionVector.of(MotionVector(ZERO3, model.gravity))


#: Replacements in an algorithm. An algorithm without linear velocities is for three dimensions
#: only; that of the book's table for the same equations is general.
IN_PLANE: Dict[Any, Any] = {
    MotionVector: PlanarMotionVector,
    ForceVector: PlanarForceVector,
    MotionSubspace: PlanarMotionSubspace,
    PluckerTransform: PlanarTransform,
    RigidBodyInertia: PlanarInertia,
    ArticulatedBodyInertia: PlanarArticulatedInertia,
    gravity_acceleration: planar_gravity,
    rnea: rnea_spatial,
}


def in_plane(algorithm: Algorithm, normal: Optional[Vector3] = None) -> Algorithm:
    """Return an algorithm on three-dimensional vectors for planar robots.

    The result takes the same arguments, including the ordinary model and spatial external forces,
    of which it uses the components in the plane. For a declared algorithm, the result is declared
    as well, so `Robot.kernel` takes it.

    :param algorithm: function of `rbd_ros.algorithms` on spatial types and joint coordinates, such
        as `rnea`, `crba` and `aba`; it must return joint quantities
    :param normal: unit normal of the plane in base coordinates, (3,); by default that of the
        robot's motion
    :return: the algorithm in the plane; it raises `ModelError` for a robot that leaves the plane

    >>> from rbd_ros.algorithms.inertia_matrix.crba import crba
    >>> from rbd_ros.textbook.planar.planar_algorithms import in_plane
    >>> np.allclose(in_plane(crba)(chain, q4.tolist()), Robot(chain).mass_matrix(q4))
    True
    """
    rebound = _rebound(cast(FunctionType, algorithm), {})

    @wraps(algorithm)
    def planar(model: Model, *arguments: Any, **named: Any) -> Any:
        upright = plane_normal(model) if normal is None else normal
        turn = to_plane(upright)

        def plain(value: Any) -> Any:
            if not isinstance(value, dict):
                return value
            return {i: PlanarForceVector.of(turn.apply(force)) for i, force in value.items()}

        named = {name: plain(value) for name, value in named.items()}
        return rebound(planar_model(model, upright), *map(plain, arguments), **named)

    # The key of a kernel's cache includes this module, and through `__wrapped__` the algorithm.
    planar.__module__ = __name__
    declared = declaration_of(algorithm)
    if declared is not None:
        planar.declaration = replace(  # type: ignore[attr-defined]
            declared,
            name=f'{declared.name}_in_plane',
            function=planar,
            source=f'{declared.source}; 2.16',
            pinocchio_equivalent=None,
            specialization=None,  # which would be a spatial algorithm
        )
    return cast(Algorithm, planar)


def _rebound(function: FunctionType, done: Dict[Any, FunctionType]) -> FunctionType:
    """Return the function whose names, and those of its callees, are bound to planar ones."""
    if function in done:
        return done[function]
    names: Dict[str, Any] = dict(function.__globals__)
    result = FunctionType(
        function.__code__,
        names,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    result.__kwdefaults__ = function.__kwdefaults__
    done[function] = result
    for name in _names(function.__code__):
        value = names.get(name)
        try:
            value = IN_PLANE.get(value, value)
        except TypeError:  # an unhashable value is no type or function, either
            continue
        if isinstance(value, FunctionType) and value.__module__.startswith(_PACKAGES):
            value = value if value is planar_gravity else _rebound(value, done)
        if name in names:
            names[name] = value
    return result


def _names(code: Any) -> Any:
    """Yield the global names that a function and its nested functions read."""
    yield from code.co_names
    for constant in code.co_consts:
        if hasattr(constant, 'co_names'):
            yield from _names(constant)
