# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Links without known mass: those with shapes but without inertia.

A massless link is legal in URDF, for example as a frame. A link with shapes has weight: without a
mass, torques that carry it are too small, without any other sign.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Tuple

from rbd_ros.model.errors import ModelError
from rbd_ros.model.model import Model

#: Message about moving links with shapes, before their names.
WITHOUT_MASS = 'moving links have shapes but no mass, so torques lack their weight'


def links_without_mass(model: Model) -> Tuple[str, ...]:
    """Return the moving links that have shapes but no mass.

    A link that is fixed to one with a mass is not included: that mass may be of both.

    :param model: model with numeric inertias

    >>> from rbd_ros.model.unknown_masses import links_without_mass
    >>> links_without_mass(model)
    ()
    """
    shaped = {shape.link for shape in model.geometries}
    return tuple(
        link.name
        for link in model.links.values()
        if link.body
        and link.name in shaped
        and not link.inertia.mass
        and (link.name == model.body(link.body).name or not model.body(link.body).inertia.mass)
    )


def bodies_without_mass(model: Model) -> Tuple[str, ...]:
    """Return the moving bodies that have shapes but no mass.

    :param model: model with numeric inertias

    >>> from rbd_ros.model.unknown_masses import bodies_without_mass
    >>> bodies_without_mass(model)
    ()
    """
    shaped = {shape.body for shape in model.geometries}
    return tuple(body.name for i, body in model.outward() if i in shaped and not body.inertia.mass)


def moving_mass(model: Model) -> float:
    """Return the mass of all moving bodies [kg].

    :param model: model with numeric inertias

    >>> from rbd_ros.model.unknown_masses import moving_mass
    >>> moving_mass(model)  # [kg]
    17.7
    """
    return sum(float(body.inertia.mass) for body in model.bodies)


def require_masses(model: Model, gravity: Any) -> None:
    """Reject a robot without moving mass if there is gravity.

    :param model: model with numeric inertias
    :param gravity: acceleration of gravity, (3,) [m/s^2]
    :raises ModelError: if all gravity torques are zero because masses are missing

    >>> from rbd_ros.model.unknown_masses import require_masses
    >>> require_masses(model, (0.0, 0.0, -9.81))
    """
    if any(gravity) and not moving_mass(model):
        raise ModelError(
            f'no link of {model.name!r} that moves has a mass, so gravity has no effect; give '
            'the links their <inertial> (rbd_ros doctor --density takes that of shapes)'
        )


def unjudged_joints(model: Model, loads: Mapping[str, float]) -> Dict[str, str]:
    """Return the joints with unknown load, and the reasons.

    A mimic joint counts as part of the joint that it follows. With loops, all joints share the
    load, so one body without mass concerns each.

    :param model: model with numeric inertias
    :param loads: additional masses on links, by link [kg]

    >>> from rbd_ros.model.unknown_masses import unjudged_joints
    >>> from rbd_ros.spatial import RigidBodyInertia
    >>> unjudged_joints(model, {})
    {}
    >>> light = model.with_link_inertia('wrist_3_link', RigidBodyInertia.zero())
    >>> unjudged_joints(light, {})
    {'wrist_3_joint': 'the links that it moves have no mass'}
    """
    masters = {coupling.body: coupling.master for coupling in model.couplings}
    carried = {i: 0.0 for i, _ in model.outward()}
    lost: Dict[int, str] = {}
    weights = {i: float(body.inertia.mass) for i, body in model.outward()}
    for name, mass in loads.items():
        at = model.link(name).body
        if at:
            weights[at] += mass
    unknown = set(bodies_without_mass(model))
    for i, body in model.outward():
        for bearer in model.support(i):
            joint = masters.get(bearer, bearer)
            carried[joint] += weights[i]
            if body.name in unknown:
                lost.setdefault(joint, f'link {body.name!r} has shapes but no mass')
    if model.loops and lost:
        first = next(iter(lost.values()))
        lost = {i: lost.get(i, first) for i in carried}
    found = {}
    for i, body in model.outward():
        if i in masters:
            continue
        if i in lost:
            found[body.joint_name] = lost[i]
        elif not carried[i] and not model.loops:
            found[body.joint_name] = 'the links that it moves have no mass'
    return found
