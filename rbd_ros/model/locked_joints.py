# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A model with locked joints: their bodies become part of the bodies before."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, List, Mapping, Sequence, Tuple, Union

import numpy as np

from rbd_ros.model.errors import ModelError, unknown_name
from rbd_ros.model.model import Body, Frame, JointLimits, Model
from rbd_ros.spatial import PluckerTransform

#: Position of a joint: one number, or several for a joint with several position variables.
Position = Union[float, Sequence[float]]


def with_joints_locked(model: Model, positions: Mapping[str, Position]) -> Model:
    """Return the model with some joints fixed at given positions.

    The other joints keep their order and properties; joints that mimic a locked one are locked
    too. Links, shapes and frames of all joints are kept, on the bodies before the locked joints;
    armature, friction and springs of locked joints are dropped.

    :param positions: positions by joint name [rad or m]; a sequence for a joint with several
        position variables
    :raises ModelError: for an unknown joint, one that mimics another or moves as a function of
        time, a position that is invalid or outside the limits, or a loop without a moving body

    >>> from rbd_ros.model import with_joints_locked
    >>> shorter = with_joints_locked(model, {'wrist_2_joint': 0.5})
    >>> shorter.nv, shorter.link('tool0').body, sum(body.inertia.mass for body in shorter.bodies)
    (5, 5, 17.7)
    """
    locked = _locked_positions(model, positions)
    bodies: List[Body] = []
    #: By number of a previous body: its present number, and the transform to its coordinates from
    #: those of the body of which it is a part now.
    now: Dict[int, Frame] = {0: Frame(0, PluckerTransform.identity())}
    for i, body in model.outward():
        parent = now[body.parent]
        X = body.tree_transform * parent.placement
        if i in locked:
            now[i] = Frame(parent.body, body.joint.transform(locked[i]) * X)
        else:
            bodies.append(replace(body, parent=parent.body, tree_transform=X))
            now[i] = Frame(len(bodies), PluckerTransform.identity())

    left = tuple(each for each in model.couplings if each.body not in locked)
    parts = replace(model, couplings=left).moved_parts(now)
    for loop in parts['loops']:
        if loop.predecessor.body == loop.successor.body:
            raise ModelError(
                f'loop joint {loop.name!r}: with these joints locked it connects a body with '
                'itself; lock fewer joints of the loop'
            )
    moving = {body.joint_name for body in bodies}
    return Model.create(
        model.name,
        bodies,
        parts.pop('links').values(),
        **parts,
        gravity=model.gravity,
        warnings=model.warnings,
        actuated=model.actuated and tuple(name for name in model.actuated if name in moving),
    )


def _locked_positions(
    model: Model, positions: Mapping[str, Position]
) -> Dict[int, Tuple[float, ...]]:
    """Return the position variables of all locked joints, by number of their body."""
    numbers = {body.joint_name: i for i, body in model.outward()}
    followers = {each.body: each for each in model.couplings}
    locked: Dict[int, Tuple[float, ...]] = {}
    for name, given in positions.items():
        if name not in numbers:
            raise ModelError(f'locked joints: {unknown_name("moving joint", name, numbers)}')
        i = numbers[name]
        if i in followers:
            master = model.body(followers[i].master).joint_name
            raise ModelError(f'joint {name!r} mimics {master!r}; lock that joint instead')
        locked[i] = _position(model.body(i), model.limits[i], given)
    for each in model.couplings:
        if each.master in locked:
            locked[each.body] = (each.ratio * locked[each.master][0] + each.offset,)
    return locked


def _position(body: Body, limits: JointLimits, given: Position) -> Tuple[float, ...]:
    """Return the position variables of a joint, checked."""
    name, joint = body.joint_name, body.joint
    if joint.is_rheonomic:
        raise ModelError(f'joint {name!r} moves as a function of time and cannot be locked')
    try:
        q = np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        q = np.full(0, np.nan)
    if q.shape != (joint.nq,) or not np.isfinite(q).all():
        count = 'one finite number' if joint.nq == 1 else f'{joint.nq} finite numbers'
        raise ModelError(f'joint {name!r}: its position must be {count}, got {given!r}')
    if joint.nq == joint.nv and not ((limits.lower <= q) & (q <= limits.upper)).all():
        raise ModelError(
            f'joint {name!r}: the position {given} is outside its limits, '
            f'{limits.lower:g} to {limits.upper:g}'
        )
    try:
        return body.unit_position(q.tolist())
    except ValueError as error:
        raise ModelError(str(error)) from None
