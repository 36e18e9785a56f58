# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Floating bases: a base as a body behind a 6-DoF joint, and back (book 9.3).

Body 0 of a model is fixed. A floating base becomes body 1, connected to the fixed base by a joint
of six degrees of freedom, and all other numbers grow by one. The book's algorithms for floating
bases have no such joint: their body 0 moves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, List, Sequence

from rbd_ros.model import joints as joint_types  # loads a type on first use
from rbd_ros.model.errors import ModelError
from rbd_ros.model.model import Body, FLOATING_BASE_JOINT, Frame, Link, Model
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia


def with_floating_base(model: Model) -> Model:
    """Return the model with a floating base, by a joint named 'floating_base'.

    The numbers of bodies grow by one, nq by 7 and nv by 6. The new body has the name and frame of
    the first link on the base, and the inertia of all links there.

    :param model: model with a fixed base
    :raises ModelError: if there is a joint of that name, or the model floats already

    >>> from rbd_ros.model import with_floating_base
    >>> with_floating_base(model).nv - model.nv
    6
    """
    if any(FLOATING_BASE_JOINT == body.joint_name for body in model.bodies):
        raise ModelError(f'there is a joint {FLOATING_BASE_JOINT!r} already; rename it')
    reject_second_base(model.bodies, model.links.values(), 0)
    joint, fixed = joint_types.Floating(), PluckerTransform.identity()
    names = [link.name for link in model.links.values() if link.body == 0]
    base = Body(
        names[0] if names else 'base',
        0,
        FLOATING_BASE_JOINT,
        joint,
        fixed,
        base_inertia(model),
        urdf_type='floating',
        q=slice(0, joint.nq),
        v=slice(0, joint.nv),
    )
    moved = _renumbered(model, 1, joint.nq, joint.nv)
    frames = {FLOATING_BASE_JOINT: Frame(1, fixed), **moved.joint_frames}
    return replace(moved, bodies=(base, *moved.bodies), joint_frames=frames)


def reject_second_base(bodies: Sequence[Body], links: Iterable[Link], base: int) -> None:
    """Reject a floating base without mass that carries only free bodies.

    Such a base is the world: another joint would duplicate the pose of the robot.

    :param bodies: bodies of a model
    :param links: links of the model
    :param base: number of the base
    :raises ModelError: with the name of the existing free joint
    """
    carried = [body for body in bodies if body.parent == base]
    free = bool(carried) and all(body.joint.pose_variables() == (0, 4) for body in carried)
    if free and not any(link.inertia.mass for link in links if link.body == base):
        raise ModelError(
            f'joint {carried[0].joint_name!r} moves freely on the base, which has no mass: the '
            'robot already has a floating base; load it without floating_base, or make that '
            'joint fixed'
        )


def with_fixed_base(model: Model) -> Model:
    """Return the model without the joint of its floating base, which becomes body 0.

    Only motion relative to the base is left: nq shrinks by 7 and nv by 6. The model does not
    contain the pose of the base or bodies that are fixed to the world.

    :param model: model with a floating base
    :raises ModelError: if it has none, or a loop joint connects it to the world

    >>> from rbd_ros.model import with_fixed_base, with_floating_base
    >>> with_fixed_base(with_floating_base(model)).joint_names == model.joint_names
    True
    """
    problem = not_floating(model)
    if problem:
        raise ModelError(problem)
    held = [x.name for x in model.loops if 0 in (x.predecessor.body, x.successor.body)]
    if held:
        raise ModelError(
            f'the base of {model.name!r} is connected to the world by loop joints: '
            f'{", ".join(held)}'
        )
    base = model.body(1)
    links = {name: link for name, link in model.links.items() if link.body}
    for name, link in links.items():
        if link.parent not in links:
            links[name] = replace(link, parent='', joint='')
    rest = replace(
        model,
        bodies=model.bodies[1:],
        links=links,
        joint_frames={
            name: frame
            for name, frame in model.joint_frames.items()
            if frame.body and name != base.joint_name
        },
        geometries=tuple(x for x in model.geometries if x.body),
    )
    return _renumbered(rest, -1, -base.joint.nq, -base.joint.nv)


def base_inertia(model: Model) -> RigidBodyInertia:
    """Return the inertia of all links on the base, body 0, in its coordinates.

    >>> from rbd_ros.model.floating_model import base_inertia
    >>> base_inertia(model).mass  # [kg]
    4.0
    """
    inertia = RigidBodyInertia.zero()
    for link in model.links.values():
        if link.body == 0:
            inertia = inertia + link.placement.inverse_apply(link.inertia)
    return inertia


def is_free(body: Body) -> bool:
    """Return whether the joint of a body has six degrees of freedom, under any name.

    :param body: body of a model
    """
    return body.joint.nv == 6


def is_free_base(body: Body) -> bool:
    """Return whether a body is free in the world, with a pose as in `Floating`.

    :param body: body of a model
    """
    return body.parent == 0 and body.joint.pose_variables() == (0, 4)


def not_floating(model: Model) -> str:
    """Return the reason why a model has no floating base, '' if it has one.

    A model with a floating base has one free body, which carries all others.
    """
    roots = [body for body in model.bodies if body.parent == 0]
    fixed = [body for body in roots if body.joint.pose_variables() is None]
    cure = 'load the URDF by Robot.from_urdf(..., floating_base=True)'
    if not roots or fixed:
        joints = ', '.join(repr(body.joint_name) for body in fixed)
        why = f'{joints} connect{"s" * (len(fixed) == 1)} it' if fixed else 'no link moves on it'
        return f'the base of {model.name!r} is fixed ({why}); {cure}'
    if len(roots) > 1:
        names = ', '.join(repr(body.name) for body in roots)
        return f'{model.name!r} has {len(roots)} bodies that move freely ({names}), not one'
    if roots[0].armature:
        return (
            f'the floating base {roots[0].name!r} of {model.name!r} has an armature, but no '
            'rotor is between it and the world; add the inertia to its link instead'
        )
    return ''


def _renumbered(model: Model, bodies: int, nq: int, nv: int) -> Model:
    """Return the model with higher numbers of bodies, base included, and of variables.

    :param bodies: increment of the numbers of bodies
    :param nq: increment of the indices of position variables
    :param nv: increment of the indices of velocity variables
    """
    here = PluckerTransform.identity()
    now = {i: Frame(i + bodies, here) for i in range(len(model.bodies) + 2)}
    return replace(
        model,
        bodies=tuple(
            replace(
                body,
                parent=body.parent + bodies,
                q=slice(body.q.start + nq, body.q.stop + nq),
                v=slice(body.v.start + nv, body.v.stop + nv),
            )
            for body in model.bodies
        ),
        **model.moved_parts(now),
    )


def floating_bases(model: Model) -> List[int]:
    """Return the numbers of the bodies that are free in the world.

    :param model: model of a robot

    >>> from rbd_ros.model.floating_model import floating_bases
    >>> floating_bases(robot.model)
    []
    >>> floating_bases(Robot.from_urdf('urdf/quadruped.urdf', floating_base=True).model)
    [1]
    """
    return [
        i
        for i in model.independent_slices
        if isinstance(model.body(i).joint, joint_types.Floating) and model.body(i).parent == 0
    ]
