# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics of trees of hinges by axial screws: fewer operations than in given frames.

The equations are those of rnea.py, in Denavit-Hartenberg frames, which are two axial screws apart
(book A.4); inertias are reduced to the parts that the joints excite (book 9.7).
"""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, REDUCED
from rbd_ros.algorithms.hinge_trees.forward_dynamics_by_screws import (
    completed_subtrees,
    cosines_and_sines,
    link_wrenches,
    screw_links,
    screw_paths,
)
from rbd_ros.algorithms.hinge_trees.hinge_frames import require_free_hinges
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'hinge_inverse_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'qdd': ACCELERATION,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'tau': FORCE},
    model=REDUCED,
    source='RBDA 5.4, 9.7, A.4',
    check=require_free_hinges,
)
def hinge_inverse_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> List[Scalar]:
    """Return the joint forces that make a tree of revolute joints accelerate by `qdd`.

    Rotor inertia is included (book eq 9.28), joint friction is not.

    :param q: joint angles, (tree_nq,) [rad]
    :param qd: velocities, (tree_nv,) [rad/s]
    :param qdd: accelerations, (tree_nv,) [rad/s^2]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: generalized forces, (tree_nv,) [N m]

    >>> np.allclose(robot.kernel('hinge_inverse_dynamics').function(q, v, a), tau)
    True
    """
    links = screw_links(model)
    screws = screw_paths(links, cosines_and_sines(links, q))
    leaving = completed_subtrees(links)
    f: Dict[int, ForceVector] = {}
    tau: List[Scalar] = [0.0] * len(links)
    for j, wrench in link_wrenches(links, screws, qd, qdd, model.gravity, external_forces):
        f[j] = wrench
        for i in leaving[j]:
            parent, armature = links[i - 1].parent, links[i - 1].armature
            tau[i - 1] = f[i].moment[2] + armature * qdd[i - 1]
            if parent != 0:
                for screw in reversed(screws[i - 1]):
                    f[i] = screw.inverse_apply(f[i])
                f[parent] = f[parent] + f[i]
    return tau
