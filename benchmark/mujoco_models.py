# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The robots of the benchmark as MuJoCo models."""

from __future__ import annotations

import importlib
from pathlib import Path
import re
from typing import Any

import numpy as np

from rbd_ros import Robot

_OPTIONS = (
    '<mujoco><compiler fusestatic="true" balanceinertia="true" discardvisual="true" '
    'strippath="false"/></mujoco>'
)
_FRICTION = 0.8


def load() -> Any:
    """Return the module of MuJoCo, with its rollouts.

    :raises ImportError: if it is not installed
    """
    importlib.import_module('mujoco.rollout')
    return importlib.import_module('mujoco')


def model(path: Path, timestep: float, floating_base: bool, ground: bool) -> Any:
    """Return the model of a URDF, with semi-implicit Euler steps.

    :param path: the URDF
    :param timestep: h [s]
    :param floating_base: whether the root link moves freely
    :param ground: whether its primitive shapes collide with the ground z <= 0; otherwise there is
        no contact
    """
    return model_of(path.read_text(encoding='utf-8'), timestep, floating_base, ground)


def model_of(
    text: str, timestep: float, floating_base: bool, ground: bool, height: float = 0.0
) -> Any:
    """Return the model of the text of a URDF; other arguments are those of `model`.

    :param height: height of the ground [m]
    """
    mujoco = load()
    text = text.replace('"world"', '"world_link"')
    # Meshes are not at the paths of the URDF, and not needed here.
    for kind in ('visual', 'collision'):
        text = re.sub(
            rf'<{kind}\b(?:(?!</{kind}>).)*?<mesh\b.*?</{kind}>', '', text, flags=re.DOTALL
        )
    # For a link of a milligram, whose inertia is physically impossible.
    text = re.sub(r'(ixy|ixz|iyz)="1e-6"', r'\1="0"', text)
    spec = mujoco.MjSpec.from_string(text.replace('</robot>', f'{_OPTIONS}</robot>'))
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    if floating_base:
        for body in list(spec.worldbody.bodies):
            body.add_freejoint(name='floating_base')
    for geometry in spec.geoms:
        # Contact between robot and ground, without self-contact.
        geometry.contype, geometry.conaffinity = int(ground), 0
        geometry.friction[0] = _FRICTION
    if ground:
        plane = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
        plane.pos[2] = height
        plane.contype, plane.conaffinity, plane.friction[0] = 0, 1, _FRICTION
    return spec.compile()


def states(theirs: Any, ours: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return states for `mujoco.rollout`: time, positions and velocities, (B, 1 + nq + nv).

    Mimic joints, which MuJoCo lacks, are at their positions at rest.

    :param theirs: MuJoCo's model
    :param ours: the same robot
    :param q: configurations, (B, nq)
    :param v: velocities, (B, nv); of a floating base, at rest
    """
    mujoco = load()
    at_q, at_v = theirs.jnt_qposadr, theirs.jnt_dofadr
    found = np.zeros((len(q), 1 + theirs.nq + theirs.nv))
    places, speeds = found[:, 1 : 1 + theirs.nq], found[:, 1 + theirs.nq :]
    model = ours.model
    for i, (in_q, in_v) in model.independent_slices.items():
        name = model.body(i).joint_name
        free = in_q.stop - in_q.start == 7
        kind = mujoco.mjtObj.mjOBJ_JOINT
        joint = mujoco.mj_name2id(theirs, kind, 'floating_base' if free else name)
        if free:
            places[:, at_q[joint] : at_q[joint] + 3] = q[:, in_q][:, 4:]
            places[:, at_q[joint] + 3 : at_q[joint] + 7] = q[:, in_q][:, :4]
        else:
            places[:, at_q[joint]] = q[:, in_q.start]
            speeds[:, at_v[joint]] = v[:, in_v.start]
    return found
