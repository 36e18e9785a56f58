# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Generalized Jacobian of a robot with a floating base (book example 9.4).

Umetani and Yoshida, "Resolved motion rate control of space manipulators with generalized Jacobian
matrix", IEEE Transactions on Robotics and Automation, 1989.
"""

from typing import List, Sequence

from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.kinds import CONFIGURATION, FRAME, REFERENCE
from rbd_ros.algorithms.kinematics.jacobians import jacobian
from rbd_ros.model import Frame, Model
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.floating_base.floating_base_kinds import JOINT_JACOBIAN
from rbd_ros.textbook.floating_base.floating_equations import floating_crba
from rbd_ros.textbook.floating_base.floating_state import (
    dot,
    factors,
    floating_base,
    require_floating_base,
)


@algorithm(
    'floating_jacobian',
    inputs={'q': CONFIGURATION, 'frame': FRAME, 'reference': REFERENCE},
    outputs={'J': JOINT_JACOBIAN},
    coordinates=INDEPENDENT,
    source='RBDA example 9.4; Umetani and Yoshida 1989',
    check=require_floating_base,
)
def floating_jacobian(
    model: Model, q: Sequence[Scalar], frame: Frame, reference: str
) -> List[List[Scalar]]:
    """Return the generalized Jacobian of a frame of a free-floating robot, (6, nv - 6).

    J_fl = J - X I0c^-1 F, where J is the frame's Jacobian with a fixed base, and X that for the
    motion of the base: the reaction of the joints on the base moves the frame.

    :param q: independent configuration, (nq,) [rad, m]
    :param frame: the frame, with its place on its body
    :param reference: coordinates of the velocity; see `jacobian`
    :return: J_fl, (6, nv - 6)
    """
    base = floating_base(model, q, [0.0] * model.nv)
    I0c, F, _ = floating_crba(base)
    whole = factors(I0c)
    yielding = [whole.solve(list(column)) for column in F]
    J = jacobian(model, model.tree_position(q), frame, reference)
    rows = [[x - dot(row[:6], y) for x, y in zip(row[6:], yielding)] for row in J]
    return base.tree.independent_columns(rows)
