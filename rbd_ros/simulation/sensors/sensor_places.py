# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Places of force and torque sensors: the links beyond each, and a model that is cut there.

A joint of type fixed merges its links into one body, without a known force between them. The model
of `cut_model` has a separate body beyond each such joint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Dict, FrozenSet, List, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.model import ModelError
from rbd_ros.model.errors import unknown_name
from rbd_ros.model.floating_model import is_free_base
from rbd_ros.model.joints import Fixed
from rbd_ros.model.model import Body, Link, Model
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia


@dataclass(frozen=True)
class Cut:
    """A joint whose transmitted force is requested.

    :param link: the link beyond it, whose frame the sensor has
    :param body: body of the robot that includes the link
    :param placement: transform from coordinates of that body to those of the link
    :param beyond: names of all links beyond the joint
    :param moving: whether the joint is movable
    """

    link: str
    body: int
    placement: PluckerTransform
    beyond: FrozenSet[str]
    moving: bool


def find_cut(model: Model, name: str) -> Cut:
    """Return the joint of a name: a joint, fixed or not, or the parent joint of a link.

    :param name: name of a joint or a link
    :raises ValueError: for an unknown name, and for a link without a parent joint
    """
    joints = dict.fromkeys((*(b.joint_name for b in model.bodies), *model.joint_frames))
    if name not in joints and name not in model.links:
        raise ValueError(unknown_name('joint or link', name, (*joints, *model.links)))
    for i, body in model.outward():
        if is_free_base(body):
            if name in (body.joint_name, body.name):
                raise ValueError(
                    f'{name!r}: no joint carries a floating base, so there is no force to measure'
                )
        elif name in (body.joint_name, body.name):
            return _moving(model, i)
    link = next((each for each in model.links.values() if name in (each.name, each.joint)), None)
    if link is None or not link.parent:
        raise ValueError(
            f'{name!r}: no joint carries it, so there is no force to measure; name a joint, or a '
            'link that is the child of one'
        )
    if lost := [
        each.name for each in model.links.values() if each.parent not in {'', *model.links}
    ]:
        raise ValueError(
            f'{name!r}: the parent links of {lost[0]!r} are no longer frames, so the links '
            'beyond it are unknown; name a movable joint'
        )
    return Cut(link.name, link.body, link.placement, frozenset(_beyond(model, link.name)), False)


def _moving(model: Model, i: int) -> Cut:
    beyond = frozenset(
        link.name for link in model.links.values() if link.body and i in model.support(link.body)
    )
    name = model.body(i).name
    return Cut(name, i, PluckerTransform.identity(), beyond, True)


def _beyond(model: Model, name: str) -> List[str]:
    """Return the names of a link and of all links beyond it."""
    found, children = [name], _children(model)
    for each in found:  # grows meanwhile
        found.extend(children.get(each, ()))
    return found


def _children(model: Model) -> Dict[str, List[str]]:
    children: Dict[str, List[str]] = {}
    for link in model.links.values():
        if link.parent:
            children.setdefault(link.parent, []).append(link.name)
    return children


def cut_model(model: Model, cuts: Sequence[Cut]) -> Tuple[Model, List[int]]:
    """Return a model with a body for the links beyond each cut, and the numbers of these bodies.

    Its variables are those of the model.

    :param model: model of the robot, without loops
    :param cuts: the cuts
    """
    fixed = list(dict.fromkeys(cut for cut in cuts if not cut.moving))
    # From the base outwards: a cut beyond another one has fewer links beyond it.
    fixed.sort(key=lambda cut: -len(cut.beyond))
    pieces: Dict[int, List[Cut]] = {}
    for cut in fixed:
        pieces.setdefault(cut.body, []).append(cut)
    # `number` maps a body and the last piece cut off it, '' for the rest, to a body of the result.
    bodies: List[Body] = []
    links: List[Link] = []
    number: Dict[Tuple[int, str], int] = {(0, ''): 0}
    for i in range(len(model.bodies) + 1):
        if i:
            body = model.body(i)
            bearer = model.links[body.name].parent if body.name in model.links else ''
            piece = _piece(pieces.get(body.parent, ()), bearer)
            X = body.tree_transform
            if piece is not None:
                X = X * piece.placement.inverse()
            key = (body.parent, piece.link if piece else '')
            bodies.append(replace(body, parent=number[key], tree_transform=X))
            number[i, ''] = len(bodies)
        for cut in pieces.get(i, ()):
            within = [each for each in pieces[i] if each is not cut and cut.link in each.beyond]
            X, parent = cut.placement, number[i, '']
            if within:
                X = X * within[-1].placement.inverse()
                parent = number[i, within[-1].link]
            bodies.append(_piece_body(cut, parent, X))
            number[i, cut.link] = len(bodies)
    for link in model.links.values():
        piece = _piece(pieces.get(link.body, ()), link.name)
        X = link.placement if piece is None else link.placement * piece.placement.inverse()
        key = (link.body, piece.link if piece else '')
        links.append(replace(link, body=number[key], placement=X))
    couplings = tuple(
        replace(each, body=number[each.body, ''], master=number[each.master, ''])
        for each in model.couplings
    )
    made = Model.create(
        f'{model.name}_cut', bodies, links, couplings=couplings, gravity=model.gravity
    )
    return made, [number[cut.body, '' if cut.moving else cut.link] for cut in cuts]


def _piece(pieces: Sequence[Cut], link: str) -> Optional[Cut]:
    """Return the last piece that includes a link."""
    found = [piece for piece in pieces if link in piece.beyond]
    return found[-1] if found else None


def _piece_body(cut: Cut, parent: int, X: PluckerTransform) -> Body:
    return Body(
        cut.link,
        parent,
        f'{cut.link}:cut',
        Fixed(),
        X,
        RigidBodyInertia.zero(),
        urdf_type='fixed',
    )


def check_no_loops(model: Model, what: str) -> None:
    """Reject a robot with loops.

    :param what: the requested quantity
    :raises ModelError: naming its loops
    """
    if model.loops:
        names = ', '.join(repr(loop.name) for loop in model.loops[:5])
        raise ModelError(
            f'{what} of {model.name!r}: the forces of its loop joints {names} are not unique, so '
            'the force of one joint is unknown; inertial sensors work for all robots'
        )


def integers(values: Sequence[int]) -> IntArray:
    """Return integers as an array of machine code, (n,)."""
    return np.array(values, dtype=np.int64)


def poses(placements: Sequence[PluckerTransform]) -> FloatArray:
    """Return the poses of frames, rotation row by row and position, (n, 12)."""
    rows = []
    for placement in placements:
        pose = np.array(placement.pose(), dtype=float)
        rows.append(np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]]))
    return np.array(rows, dtype=float).reshape(-1, 12)
