# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A model without a link and all links that it carries."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from rbd_ros.model.errors import ModelError
from rbd_ros.model.model import Frame, Model
from rbd_ros.spatial import PluckerTransform


def without_link(model: Model, name: str) -> Model:
    """Return the model without a link, its joint, and all links that it carries.

    Loop joints on these links are removed, too.

    :param name: name of the link
    :raises ModelError: for the root link, or if a remaining joint mimics a removed one
    :raises ValueError: for an unknown link

    >>> from rbd_ros.model import without_link
    >>> shorter = without_link(model, 'wrist_2_link')
    >>> shorter.joint_names[-1], 'tool0' in shorter.links
    ('wrist_1_joint', False)
    """
    if not model.link(name).parent:
        raise ModelError(f'link {name!r} is not joined to a parent link and cannot be removed')
    gone = {each for each in model.links if name in _carriers(model, each)}
    here = PluckerTransform.identity()
    bodies, now = [], {0: Frame(0, here)}
    for i, body in model.outward():
        if body.name not in gone:
            bodies.append(replace(body, parent=now[body.parent].body))
            now[i] = Frame(len(bodies), here)
    for each in model.couplings:
        if each.body in now and each.master not in now:
            follower, master = (model.body(i).joint_name for i in (each.body, each.master))
            raise ModelError(
                f'joint {follower!r} mimics {master!r}, which link {name!r} carries; remove the '
                'link of the former first'
            )
    joints = {model.link(each).joint for each in gone}
    left = replace(
        model,
        links={each: link for each, link in model.links.items() if each not in gone},
        joint_frames={x: frame for x, frame in model.joint_frames.items() if x not in joints},
        geometries=tuple(each for each in model.geometries if each.link not in gone),
    )
    parts = left.moved_parts(now)
    return Model.create(
        model.name,
        bodies,
        parts.pop('links').values(),
        **parts,
        gravity=model.gravity,
        warnings=model.warnings,
        actuated=model.actuated and tuple(x for x in model.actuated if x not in joints),
    )


def _carriers(model: Model, name: str) -> Iterator[str]:
    """Yield a link and its ancestors, to the root."""
    while name:
        yield name
        name = model.link(name).parent
