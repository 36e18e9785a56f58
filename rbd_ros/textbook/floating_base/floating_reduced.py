# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint-space equation of motion of a robot with a floating base (book example 9.2)."""

from typing import Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, EQUIVALENT, INDEPENDENT
from rbd_ros.algorithms.kinds import CONFIGURATION, EXTERNAL_FORCES, VELOCITY
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.floating_base.floating_base_kinds import JOINT_FORCE, JOINT_INERTIA
from rbd_ros.textbook.floating_base.floating_equations import (
    floating_crba,
    floating_rnea,
    independent,
)
from rbd_ros.textbook.floating_base.floating_state import (
    dot,
    factors,
    floating_base,
    require_floating_base,
)


class ReducedEquations(NamedTuple):
    """Coefficients of H_fl qdd + C_fl = tau (book eq 9.14).

    :param H_fl: inertia of the joints with a free base, (nv - 6, nv - 6)
    :param C_fl: bias force of the joints with a free base, (nv - 6,) [N m, N]
    """

    H_fl: ResultArray
    C_fl: ResultArray


@algorithm(
    'floating_reduced_equations',
    inputs={'q': CONFIGURATION, 'qd': VELOCITY, 'external_forces': EXTERNAL_FORCES},
    outputs={'H_fl': JOINT_INERTIA, 'C_fl': JOINT_FORCE},
    result=ReducedEquations,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA eq 9.14 to 9.16',
    check=require_floating_base,
)
def floating_reduced_equations(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> ReducedEquations:
    """Return the equation of motion of the joints alone, with that of the base eliminated.

    H_fl = H - F^T I0c^-1 F has no branch-induced zeros, because the base couples all joints.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param external_forces: force on each body in world coordinates, by body number [N m, N]
    :return: H_fl, (nv - 6, nv - 6), and C_fl, (nv - 6,)
    """
    base = floating_base(model, q, qd, external_forces)
    I0c, F, H, p0c, C = independent(base.tree, *floating_crba(base), *floating_rnea(base))
    columns, whole = list(zip(*F)), factors(I0c)
    yielding = [whole.solve(column) for column in columns]  # I0c^-1 F
    H_fl = [[h - dot(f, y) for h, y in zip(row, yielding)] for row, f in zip(H, columns)]
    return ReducedEquations(H_fl, [c - dot(y, list(p0c)) for c, y in zip(C, yielding)])
