# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by inertias and constraint forces (book table 7.2, variant 2)."""

from typing import List, Mapping, Optional, Sequence

from rbd_ros.algorithms.articulated_body.matrices import subtract, zeros
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.articulated_body.articulated_assembly import assembled_by_constraints
from rbd_ros.textbook.articulated_body.bodies_in_base import (
    AssembledDynamics,
    bodies_in_base,
    CONSTRAINT_FORCES,
    require_inertias,
)

Scalars = Sequence[Scalar]


@algorithm(
    'constraint_assembly_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'a': ACCELERATION, 'constraint_forces': CONSTRAINT_FORCES},
    coordinates=INDEPENDENT,
    result=AssembledDynamics,
    source='RBDA table 7.2, variant 2',
    check=require_inertias,
)
def constraint_assembly_dynamics(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> AssembledDynamics:
    """Return the accelerations and constraint forces of a tree of articulated-body subtrees.

    :param q: configuration, (nq,) [rad, m]
    :param qd: velocity, (nv,) [rad/s, m/s]
    :param tau: generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    tree = bodies_in_base(model, q, qd, tau, external_forces)
    I, p = {**tree.I, 0: zeros(6, 6)}, {**tree.p, 0: [0.0] * 6}
    assembled = {}
    for i, body in model.inward():
        j = body.parent
        assembled[i] = assembled_by_constraints(I[j], p[j], I[i], p[i], tree.c[i], tree.joint[i])
        I[j], p[j] = assembled[i].I, assembled[i].p

    a = {0: tree.a0}
    qdd: List[Scalar] = [0.0] * model.nv
    constraint_forces = []
    for i, body in model.outward():
        joint = tree.joint[i]
        variables = assembled[i].force_variables(a[body.parent])
        a[i] = ltdl(I[i]).solve(subtract(joint.total(variables), p[i]))
        qdd[body.v] = joint.rate(a[body.parent], a[i], tree.c[i])
        constraint_forces.append(tree.in_body(i, joint.constraint(variables)))
    return AssembledDynamics(qdd, constraint_forces)
