# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics of trees of hinges by axial screws, for kernels (Saha 1999, 5.2)."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT, REDUCED
from rbd_ros.algorithms.hinge_trees.forward_dynamics_by_screws import (
    cosines_and_sines,
    forward_dynamics_by_screws,
    screw_links,
)
from rbd_ros.algorithms.hinge_trees.hinge_frames import require_free_hinges
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.kinds import (
    ACCELERATION,
    CONFIGURATION,
    DIAGONAL,
    EXTERNAL_FORCES,
    FORCE,
    VELOCITY,
)
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar


def require_regular_hinges(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that all joints of a model are revolute, free, and move some inertia.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices
    :raises ModelError: naming the first joint that violates this
    """
    require_free_hinges(model, runtime_bodies, chosen)
    require_regular_mass_matrix(model, runtime_bodies, chosen)


@algorithm(
    'hinge_forward_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'external_forces': EXTERNAL_FORCES,
        'diagonal': DIAGONAL,
    },
    outputs={'a': ACCELERATION},
    coordinates=INDEPENDENT,
    model=REDUCED,
    source='Saha 1999, 5.2; RBDA 9.7, A.4',
    check=require_regular_hinges,
)
def hinge_forward_dynamics(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
    diagonal: Optional[Sequence[Scalar]] = None,
) -> List[Scalar]:
    """Return the accelerations that joint forces cause in a tree of free revolute joints.

    :param q: joint angles, (nq,) [rad]
    :param qd: velocities, (nv,) [rad/s]
    :param tau: generalized forces, (nv,) [N m]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :param diagonal: added to the diagonal of the inertia matrix, (nv,) [kg m^2]
    :return: accelerations, (nv,) [rad/s^2]
    :raises ZeroDivisionError: if the inertia at a joint is the constant 0

    >>> np.allclose(robot.kernel('hinge_forward_dynamics').function(q, v, tau), a)
    True
    """
    links = screw_links(model)
    joints = cosines_and_sines(links, q)
    if diagonal is not None:
        links = tuple(x._replace(armature=x.armature + d) for x, d in zip(links, diagonal))
    return forward_dynamics_by_screws(links, joints, qd, tau, model.gravity, external_forces)
