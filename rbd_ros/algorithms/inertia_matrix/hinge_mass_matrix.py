"""Inertia matrix of trees of hinges by axial screws, as kernels take it (book 10.3)."""

from __future__ import annotations

from typing import List, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.crba_by_screws import (
    crba_by_screws,
    require_free_hinges,
    screw_states,
    screw_tree,
)
from rbd_ros.algorithms.kinds import CONFIGURATION, INERTIA_MATRIX
from rbd_ros.model import Model
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'hinge_mass_matrix',
    inputs={'q': CONFIGURATION},
    outputs={'H': INERTIA_MATRIX},
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA 10.3, table 10.2',
    check=require_free_hinges,
)
def hinge_mass_matrix(model: Model, q: Sequence[Scalar]) -> List[List[Scalar]]:
    """Joint-space inertia matrix of a tree of revolute joints, none of which follows another.

    :param q: joint angles, (nq,) [rad]
    :return: symmetric, rotor inertia included, (nv, nv) [kg m^2]

    >>> np.allclose(robot.kernel('hinge_mass_matrix').function(q), robot.mass_matrix(q))
    True
    """
    bodies = screw_tree(model)
    return crba_by_screws(bodies, screw_states(bodies, q))
