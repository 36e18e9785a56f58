# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Relocated body frames: the same robot in other coordinates (book 4.2, 10.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping

from rbd_ros.model.errors import ModelError, unknown_name
from rbd_ros.model.joints.joint_type import JointType
from rbd_ros.model.joints.placed import Placed
from rbd_ros.model.model import Frame, Model
from rbd_ros.spatial import PluckerTransform


def with_frames_placed(model: Model, placements: Mapping[str, PluckerTransform]) -> Model:
    """Return the model with the frames of some bodies relocated.

    Links and joint frames keep their names and poses, and q, v and tau their meaning, so all
    functions of the robot return the same results to rounding. Cost and accuracy differ: a frame
    far from its body loses as many digits of the inertia as (distance / radius of gyration)^2 has
    (book 10.1). The compiler chooses its own frames (`equivalent_model`); use this function for
    studies and for prescribed coordinates.

    :param placements: transform from old to new coordinates of each body, by its name
    :raises ModelError: for an unknown body

    >>> from rbd_ros.textbook.models import with_frames_placed
    >>> from rbd_ros.spatial import PluckerTransform
    >>> placement = PluckerTransform.translation((0.0, 0.0, 0.2))
    >>> other = Robot(with_frames_placed(model, {'forearm_link': placement}))
    >>> np.allclose(other.inverse_dynamics(q, v, a), tau)
    True
    """
    names = [body.name for body in model.bodies]
    for name in placements:
        if name not in names:
            raise ModelError(unknown_name('body', name, names))
    identity = PluckerTransform.identity()
    at = [identity, *(placements.get(name, identity) for name in names)]

    def moved(frame: Frame) -> Frame:
        return Frame(frame.body, frame.placement * at[frame.body].inverse())

    bodies = []
    for i, body in model.outward():
        bodies.append(
            replace(
                body,
                joint=_placed(body.joint, at[i]),
                tree_transform=at[i] * body.tree_transform * at[body.parent].inverse(),
                inertia=at[i].apply(body.inertia),
            )
        )
    links = {
        name: replace(link, placement=link.placement * at[link.body].inverse())
        for name, link in model.links.items()
    }
    return replace(
        model,
        bodies=tuple(bodies),
        links=links,
        joint_frames={name: moved(frame) for name, frame in model.joint_frames.items()},
        loops=tuple(
            replace(loop, predecessor=moved(loop.predecessor), successor=moved(loop.successor))
            for loop in model.loops
        ),
    )


def _placed(joint: JointType, X: PluckerTransform) -> JointType:
    if X == PluckerTransform.identity():
        return joint
    return Placed(joint.joint, X * joint.X) if isinstance(joint, Placed) else Placed(joint, X)
