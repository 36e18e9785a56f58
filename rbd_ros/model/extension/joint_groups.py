# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint types beyond URDF: each joint replaces consecutive joints of the tree."""

from __future__ import annotations

from dataclasses import replace
import math
from typing import Any, Dict, List, Sequence, Set, Tuple

from rbd_ros.model.errors import unknown_name
from rbd_ros.model.extension.fields import Field, placement
from rbd_ros.model.extension.joint_entries import joint_type
from rbd_ros.model.model import Body, Coupling, Frame, JointLimits, Link, Model
from rbd_ros.spatial import linear3, PluckerTransform
from rbd_ros.spatial.linear3 import Vector3

_KEYS = ('replaces', 'origin', 'damping', 'friction')


def with_joint_groups(model: Model, section: Field) -> Model:
    """Return the model with joints of other types, from the section `joints`.

    :param model: model of the URDF
    :param section: entries by the names of the new joints
    """
    taken: Dict[str, str] = {}
    for name, field in section.mapping((), None).items():
        model = _replaced(model, name, field, taken)
    return model


def _replaced(model: Model, name: str, field: Field, taken: Dict[str, str]) -> Model:
    entries = field.mapping(('type',), None)
    members = _members(model, name, field, entries, taken)
    group = [model.body(i) for i in members]
    first, last = group[0], group[-1]
    # from the frame before the first joint to that after the last one, at zero, and back
    X, axes = PluckerTransform.identity(), []
    for body in reversed(group):
        axis = getattr(body.joint, 'axis', None)
        axes.append(None if axis is None else linear3.apply(X.E, axis))
        X = X * body.tree_transform
    axes.reverse()
    to_joint = PluckerTransform.identity()
    if 'origin' in entries:
        to_joint = placement(entries['origin'].mapping((), ('xyz', 'rpy')))
    joint, entries = joint_type(field, _KEYS, _directions(axes, to_joint))
    if joint.nv == 0:
        raise field.error('a joint of the tree must move; make it fixed in the URDF')
    losses = [
        entries[what].number(0.0) if what in entries else max(getattr(b, what) for b in group)
        for what in ('damping', 'friction')
    ]
    body = replace(
        last,
        parent=first.parent,
        joint_name=name,
        joint=joint,
        tree_transform=to_joint * X,
        damping=losses[0],
        friction=losses[1],
        limits=_limits(group),
        urdf_type=entries['type'].name(),
    )
    taken.update({each.joint_name: name for each in group}, **{name: name})
    return _rebuilt(model, members, body, to_joint, name)


def _members(
    model: Model, name: str, field: Field, entries: Dict[str, Field], taken: Dict[str, str]
) -> List[int]:
    """Return the numbers of the bodies whose joints are replaced, from the base outward."""
    numbers = {body.joint_name: i for i, body in model.outward()}
    listed = entries.get('replaces')
    names = (name,) if listed is None else listed.names()
    where = listed or field
    if not names:
        raise where.error('the list of joints is empty; name one or more consecutive joints')
    for joint in names:
        if joint in taken:
            raise where.error(f'joint {joint!r} belongs to {taken[joint]!r} already; name it once')
        if joint not in numbers:
            raise where.error(unknown_name('moving joint', joint[:80], numbers))
    if name not in names and (name in numbers or name in model.joint_frames):
        raise field.error('the URDF has a joint of this name; choose another name')
    members = [numbers[joint] for joint in names]
    for inner, outer in zip(members, members[1:]):
        if model.body(outer).parent != inner:
            raise where.error(
                f'joint {model.body(outer).joint_name!r} does not follow '
                f'{model.body(inner).joint_name!r}; name joints one after another, from the base '
                'outward'
            )
    geared = {number for c in model.couplings for number in (c.body, c.master)}
    for i in members:
        if i in geared:
            raise where.error(
                f'joint {model.body(i).joint_name!r} mimics another joint or is mimicked by one; '
                'remove the <mimic>'
            )
    for i in members[:-1]:
        _check_intermediate(model, i, members, where)
    return members


def _check_intermediate(model: Model, i: int, members: List[int], where: Field) -> None:
    for link in model.links.values():
        if link.body == i and any(link.inertia.parameters()):
            raise where.error(
                f'link {link.name!r} between the joints has mass or inertia, which would be lost; '
                'move it to the link before or after'
            )
    for j, body in model.outward():
        if body.parent == i and j not in members:
            raise where.error(
                f'joint {body.joint_name!r} is attached to link {model.body(i).name!r} between '
                'the joints; attach it to the link before or after'
            )


def _directions(axes: Sequence[Any], to_joint: PluckerTransform) -> Dict[str, Vector3]:
    """Return default directions from the axes of the replaced joints, in the new frame."""
    found = [linear3.apply(to_joint.E, axis) for axis in axes if axis is not None]
    if len(found) != len(axes):
        return {}
    clean = [tuple(round(x) * 1.0 if abs(x - round(x)) < 1e-15 else x for x in a) for a in found]
    directions = {}
    if all(abs(abs(linear3.dot(a, clean[0])) - 1.0) < 1e-9 for a in clean):
        directions['axis'] = directions['normal'] = clean[0]
    elif len(clean) == 2:
        directions['first'], directions['second'] = clean
    return directions


def _limits(group: List[Body]) -> JointLimits:
    """Return the limits for a joint that replaces one; a replacement of several has none."""
    limits = [body.limits for body in group]
    if len(group) == 1:
        return limits[0]
    return JointLimits(
        -math.inf, math.inf, min(x.velocity for x in limits), min(x.effort for x in limits)
    )


def _rebuilt(
    model: Model, members: List[int], body: Body, moved: PluckerTransform, name: str
) -> Model:
    """Return the model with one body in place of several."""
    gone, last = set(members[:-1]), members[-1]
    new: Dict[int, int] = {0: 0}
    for i, _ in model.outward():
        if i not in gone:
            new[i] = len(new)
    back = moved.inverse()
    bodies: List[Body] = []
    for i, old in model.outward():
        if i == last:
            bodies.append(body)  # precedes the replaced bodies
        elif i not in gone:
            X = old.tree_transform * back if old.parent == last else old.tree_transform
            bodies.append(replace(old, parent=new[old.parent], tree_transform=X))

    def placed(number: int, X: PluckerTransform) -> Tuple[int, PluckerTransform]:
        return new[number], X * back if number == last else X

    links: List[Link] = []
    lost: Set[str] = set()
    for link in model.links.values():
        if link.body in gone:
            lost.add(link.name)
        else:
            number, X = placed(link.body, link.placement)
            links.append(replace(link, body=number, placement=X))
    frames = {
        joint: Frame(*placed(frame.body, frame.placement))
        for joint, frame in model.joint_frames.items()
        if frame.body not in gone and joint not in {model.body(i).joint_name for i in members}
    }
    frames[name] = Frame(new[last], PluckerTransform.identity())
    geometries = []
    for shape in model.geometries:
        if shape.body not in gone:
            number, X = placed(shape.body, shape.placement)
            geometries.append(replace(shape, body=number, placement=X))
    warnings = model.warnings
    if lost:
        names = ', '.join(map(repr, sorted(lost)))
        warnings = (*warnings, f'joint {name!r}: links {names} within it are no longer frames')
    return Model.create(
        model.name,
        bodies,
        links,
        joint_frames=frames,
        couplings=tuple(
            Coupling(new[c.body], new[c.master], c.ratio, c.offset) for c in model.couplings
        ),
        geometries=tuple(geometries),
        gravity=model.gravity,
        warnings=warnings,
    )
