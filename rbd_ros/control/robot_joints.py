# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Properties of a robot's joints that control needs: names, configurations and inertia."""

from __future__ import annotations

from typing import Any, Iterable, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.robot import Robot


def dof_names(robot: Robot) -> Tuple[str, ...]:
    """Return the name of the joint of each degree of freedom, (nv,)."""
    model = robot.model
    bodies = (model.body(i) for i in model.independent)
    return tuple(body.joint_name for body in bodies for _ in range(body.joint.nv))


def workspace(robot: Robot, count: int = 100) -> FloatArray:
    """Return random but reproducible configurations within the joint limits, (count, nq)."""
    rng = np.random.default_rng(0)
    return np.array([robot.random_configuration(rng) for _ in range(count)])


def free_inertia(robot: Robot, configurations: Any) -> FloatArray:
    """Return the inertia of each joint, others free, 1 / (H^-1)_ii, (N, nv) [kg m^2 or kg].

    :param configurations: configurations, (N, nq) or (nq,)
    :raises ValueError: if a joint moves no mass
    """
    H = inertia_of_all_joints(robot, configurations)
    # Units differ among joints (kg m^2, kg), so H is scaled to a unit diagonal: small eigenvalues
    # then indicate a singular matrix, not a light joint.
    scale = 1.0 / np.sqrt(np.einsum('...ii->...i', H))
    inverse = np.linalg.pinv(H * scale[..., :, None] * scale[..., None, :], hermitian=True)
    inertia: FloatArray = 1.0 / (np.einsum('...ii->...i', inverse) * scale**2)
    return inertia


def inertia_of_all_joints(robot: Robot, configurations: Any) -> FloatArray:
    """Return the mass matrices, (N, nv, nv), of a robot whose joints all move mass.

    :param configurations: configurations, (N, nq) or (nq,)
    :raises ValueError: if a joint moves no mass, with its name
    """
    H = robot.mass_matrix(np.atleast_2d(np.asarray(configurations, dtype=float)))
    minimum = np.einsum('...ii->...i', H).min(axis=0)
    light = [name for name, inertia in zip(dof_names(robot), minimum) if not inertia > 0.0]
    if light:
        what, cure = 'no mass', 'inertia, the joint armature'
        if any(inertia < 0.0 for inertia in minimum):
            what, cure = 'a negative mass', 'a positive mass'
        raise ValueError(
            f'joint {", ".join(light)} moves {what}: gains cannot be computed from it; give its '
            f'link {cure}, or set the gains'
        )
    return H


MAX_NAME_LENGTH = 60
MAX_NAMES = 6


def shown(name: str) -> str:
    """Return the name in quotes, shortened if it is long."""
    text = str(name[: MAX_NAME_LENGTH + 1]) if isinstance(name, str) else repr(name)
    return (
        repr(text) if len(text) <= MAX_NAME_LENGTH else repr(text[: MAX_NAME_LENGTH - 3] + '...')
    )


def listed(names: Iterable[str]) -> str:
    """Return the first few names for a message."""
    names = list(names)
    text = ', '.join(shown(name) for name in names[:MAX_NAMES])
    more = len(names) - MAX_NAMES
    return f'{text} and {more} more' if more > 0 else text
