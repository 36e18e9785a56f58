# SPDX-License-Identifier: Apache-2.0
"""Springs at the joints, from an extension."""

from __future__ import annotations

from typing import Dict

from rbd_ros.model.errors import unknown_name
from rbd_ros.model.extension.fields import Field
from rbd_ros.model.model import Model


def with_springs(model: Model, section: Field) -> Model:
    """Return the model with the springs that the section `springs` gives.

    :param section: entries by the names of the joints
    """
    joints = {body.joint_name: body.joint for body in model.bodies}
    stiffness: Dict[str, float] = {}
    rest: Dict[str, float] = {}
    for name, field in section.mapping((), None).items():
        if name not in joints:
            raise field.error(unknown_name('moving joint', name[:80], joints))
        if not joints[name].nq == joints[name].nv == 1:
            raise field.error(
                f'joint {name!r} has {joints[name].nv} degrees of freedom; give springs to joints '
                'that have one'
            )
        entries = field.mapping(('stiffness',), ('rest',))
        stiffness[name] = entries['stiffness'].number(0.0)
        if 'rest' in entries:
            rest[name] = entries['rest'].number()
    return model.with_springs(stiffness, rest)
