# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Floating bases: a base that moves freely as a body behind a 6-DoF joint, and back (book 9.3).

A model has a fixed base, body 0. Where the base of a mechanism moves, it becomes body 1, connected
to the fixed base by a joint of six degrees of freedom, and all other numbers grow by one. The
book's algorithms for floating bases do without that joint: their body 0 is the one that moves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Iterable, List, Sequence

from rbd_ros.model import joints as joint_types  # loads a type on first use
from rbd_ros.model.errors import ModelError
from rbd_ros.model.model import Body, FLOATING_BASE_JOINT, Frame, Link, Model
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia


def with_floating_base(model: Model) -> Model:
    """Return the model with its base moving freely, by a joint named 'floating_base'.

    The numbers of bodies grow by one, nq by 7 and nv by 6. The new body takes its name and frame
    from the first link on the base, and the inertia of all links there.

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
    """Reject to let a base move that has no mass and carries only what moves freely on it.

    Such a base is the world: with another joint, the pose of the robot would be given twice.

    :param bodies: bodies of a model
    :param links: links of the model
    :param base: number of the base
    :raises ModelError: naming the joint that moves freely already
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
    """Return the model without the joint of its floating base, which is now body 0.

    What moves relative to the base is left: nq shrinks by 7 and nv by 6. Where the base is, the
    model no longer says, and what is fixed to the world is not part of it.

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
    """Return whether the joint of a body constrains nothing, whatever its name.

    :param body: body of a model
    """
    return body.joint.nv == 6


def is_free_base(body: Body) -> bool:
    """Return whether a body moves freely in the world, with its pose as `Floating` has it.

    :param body: body of a model
    """
    return body.parent == 0 and body.joint.pose_variables() == (0, 4)


def not_floating(model: Model) -> str:
    """Return the reason why a model has no floating base, in words; '' if it has one.

    One body moves freely relative to the fixed base, and all others are carried by it.
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

    :param bodies: by how much the numbers of the bodies grow
    :param nq: by how much the numbers of the position variables grow
    :param nv: by how much those of the velocity variables grow
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
    """Return the numbers of the bodies that move freely in the world.

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
