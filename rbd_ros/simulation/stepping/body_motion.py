# SPDX-License-Identifier: Apache-2.0
"""Velocities of the bodies of a robot from those of its joints."""

from __future__ import annotations

from rbd_ros.compiler.loops import compiled
from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.contact.detection import body_velocities
from rbd_ros.simulation.records.simulation_model import Tree


@compiled
def find_body_velocities(
    tree: Tree, columns: FloatArray, v: FloatArray, velocities: FloatArray
) -> None:
    """Find the spatial velocity of every body in base coordinates.

    :param columns: motion columns of the tree in base coordinates, (tree_nv, 6)
    :param v: velocity, (nv,)
    :param velocities: the result, (N + 1, 6) [rad/s, m/s]
    """
    parent, first, index, ratio = tree.parent, tree.dof_first, tree.dof_index, tree.dof_ratio
    body_velocities(columns, parent, first, index, ratio, v, velocities)
