# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by inverse inertias and constraint forces (book table 7.2, variant 1)."""

from typing import List, Mapping, Optional, Sequence

from rbd_ros.algorithms.articulated_body.matrices import add, apply, subtract
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.articulated_body.articulated_assembly import assembled_inverse
from rbd_ros.textbook.articulated_body.bodies_in_base import (
    AssembledDynamics,
    bodies_in_base,
    CONSTRAINT_FORCES,
    require_inertias,
)

Scalars = Sequence[Scalar]


@algorithm(
    'inverse_assembly_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'a': ACCELERATION, 'constraint_forces': CONSTRAINT_FORCES},
    coordinates=INDEPENDENT,
    result=AssembledDynamics,
    source='RBDA table 7.2, variant 1',
    check=require_inertias,
)
def inverse_assembly_dynamics(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> AssembledDynamics:
    """Return the accelerations and constraint forces of a tree, with the fixed base as a handle.

    Inwards each subtree is connected to its parent; outwards the force on each handle is known,
    and with it that of each joint.

    :param q: configuration, (nq,) [rad, m]
    :param qd: velocity, (nv,) [rad/s, m/s]
    :param tau: generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    tree = bodies_in_base(model, q, qd, tau, external_forces)
    numbers = [0, *(i for i, _ in model.outward())]
    Phi = {i: tree.inverse_inertia(i) for i in numbers}
    b = {i: tree.bias_acceleration(i, Phi[i]) for i in numbers}
    assembled = {}
    for i, body in model.inward():
        j = body.parent
        assembled[i] = assembled_inverse(Phi[j], b[j], Phi[i], b[i], tree.c[i], tree.joint[i])
        Phi[j], b[j] = assembled[i].Phi, assembled[i].b

    f, a = {0: [0.0] * 6}, {0: b[0]}
    qdd: List[Scalar] = [0.0] * model.nv
    constraint_forces = []
    for i, body in model.outward():
        j, joint = body.parent, tree.joint[i]
        variables = assembled[i].force_variables(f[j])
        f[i] = joint.total(variables)
        f[j] = subtract(f[j], f[i])
        a[i] = add(apply(Phi[i], f[i]), b[i])
        qdd[body.v] = joint.rate(a[j], a[i], tree.c[i])
        constraint_forces.append(tree.in_body(i, joint.constraint(variables)))
    return AssembledDynamics(qdd, constraint_forces)
