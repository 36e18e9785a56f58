# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Divide-and-conquer forward dynamics: assembly of bodies with several handles (book 7.5).

Any two neighboring articulated bodies may be assembled next, and pairs without a common body in
parallel. An assembly tree that divides a chain of N bodies in halves has the depth log2 N, the
number of steps on as many processors (Featherstone 1999).

A handle is a place of a joint that is still to be connected, so a body has one for each of its
joints. Each assembly here connects one joint, which is sufficient for kinematic trees. Loops need
assemblies of several joints at once, whose matrix Y is singular if joints impose the same
constraint twice: multi_joint_assembly.py supports them, and here robots with loops are rejected.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from rbd_ros.algorithms.articulated_body.aba import plus_diagonal
from rbd_ros.algorithms.articulated_body.matrices import (
    add,
    add_matrices,
    apply,
    combine,
    congruence,
    dot,
    Matrix,
    subtract,
    subtract_matrices,
    transposed,
    Vector,
    zeros,
)
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.factorization import LTDL, ltdl
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.articulated_body.articulated_assembly import JointForce
from rbd_ros.textbook.articulated_body.bodies_in_base import (
    AssembledDynamics,
    bodies_in_base,
    BodiesInBase,
    CONSTRAINT_FORCES,
    require_inertias,
)

Scalars = Sequence[Scalar]


class Assembly(NamedTuple):
    """Plan: two articulated bodies and the joint that connects them.

    :param joint: number of the body that the joint carries
    :param inner: plan of the articulated body with the predecessor, or the number of a body
    :param outer: plan of that with the successor, likewise
    """

    joint: int
    inner: Plan
    outer: Plan


Plan = Union[Assembly, int]


def assembly_tree(model: Model) -> Plan:
    """Return a plan that connects all bodies and the base, halving them as far as possible.

    :param model: a tree
    """

    def plan(bodies: List[int]) -> Plan:
        if len(bodies) == 1:
            return bodies[0]
        members = set(bodies)
        carried = dict.fromkeys(bodies, 1)
        for i in reversed(bodies):
            if i and model.body(i).parent in members:
                carried[model.body(i).parent] += carried[i]
        joints = [i for i in bodies if i and model.body(i).parent in members]
        cut = min(joints, key=lambda i: abs(len(bodies) - 2 * carried[i]))
        outer = [i for i in bodies if cut in model.support(i)]
        return Assembly(cut, plan([i for i in bodies if i not in outer]), plan(outer))

    return plan([0, *(i for i, _ in model.outward())])


def depth(plan: Plan) -> int:
    """Return the number of consecutive assemblies of a plan.

    :param plan: the plan; a single body takes none
    """
    return 1 + max(depth(plan.inner), depth(plan.outer)) if isinstance(plan, Assembly) else 0


#: A joint that is not connected yet, and whether this handle is on the side of its predecessor.
Handle = Tuple[int, bool]


class ArticulatedBody(NamedTuple):
    """Response a = Phi f + b of the handles of an articulated body (book eq 7.4).

    :param Phi: inverse inertias by pair of handles, (6, 6) each
    :param b: bias accelerations by handle, (6,) each
    :param step: its last assembly, for the outward pass; None for a single body
    """

    Phi: Dict[Tuple[Handle, Handle], Matrix]
    b: Dict[Handle, Vector]
    step: Optional[Step] = None


class Step(NamedTuple):
    """One assembly, with its data for the pass of accelerations.

    :param joint: number of the joint
    :param inner: articulated body with the predecessor
    :param outer: articulated body with the successor
    :param Y: factors of T^T (Phi_2 + Phi_3) T
    :param constant: T^T beta, (columns of T,)
    :param slopes: rows of six that give T^T (Phi_21 f_1 - Phi_34 f_4) from the force on each
        handle
    """

    joint: int
    inner: ArticulatedBody
    outer: ArticulatedBody
    Y: LTDL
    constant: Vector
    slopes: Dict[Handle, Matrix]


@algorithm(
    'divide_and_conquer_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'a': ACCELERATION, 'constraint_forces': CONSTRAINT_FORCES},
    coordinates=INDEPENDENT,
    result=AssembledDynamics,
    source='RBDA eq 7.57 to 7.63; Featherstone, Int. J. Robotics Research 1999',
    check=require_inertias,
)
def divide_and_conquer_dynamics(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> AssembledDynamics:
    """Return the accelerations and constraint forces of a tree, by the plan of `assembly_tree`.

    :param q: configuration, (nq,) [rad, m]
    :param qd: velocity, (nv,) [rad/s, m/s]
    :param tau: generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    tree = bodies_in_base(model, q, qd, tau, external_forces)
    qdd: List[Scalar] = [0.0] * model.nv
    constraint_forces: List[Any] = [None] * len(model.bodies)

    def disassemble(body: ArticulatedBody, f: Dict[Handle, Vector]) -> None:
        """Compute the forces within an articulated body from those on its handles."""
        step = body.step
        if step is None:
            return
        i, joint = step.joint, tree.joint[step.joint]
        driving = step.constant
        for handle, rows in step.slopes.items():
            driving = add(driving, apply(rows, f[handle]))
        variables = step.Y.solve(driving)
        force = joint.total(variables)
        inner = {k: f[k] for k in step.inner.b if k in f}
        outer = {k: f[k] for k in step.outer.b if k in f}
        inner[i, True], outer[i, False] = [-x for x in force], force
        a2 = acceleration(step.inner, (i, True), inner)
        a3 = acceleration(step.outer, (i, False), outer)
        qdd[model.body(i).v] = joint.rate(a2, a3, tree.c[i])
        constraint_forces[i - 1] = tree.in_body(i, joint.constraint(variables))
        disassemble(step.inner, inner)
        disassemble(step.outer, outer)

    disassemble(articulated(model, tree, assembly_tree(model)), {})
    return AssembledDynamics(qdd, constraint_forces)


def articulated(model: Model, tree: BodiesInBase, plan: Plan) -> ArticulatedBody:
    """Return the articulated body of a plan."""
    if isinstance(plan, Assembly):
        inner, outer = (articulated(model, tree, each) for each in (plan.inner, plan.outer))
        return connected(plan.joint, inner, outer, tree.c[plan.joint], tree.joint[plan.joint])
    handles: List[Handle] = [(i, True) for i, body in model.outward() if body.parent == plan]
    if plan:
        handles.append((plan, False))
    Phi = tree.inverse_inertia(plan)
    b = tree.bias_acceleration(plan, Phi)
    return ArticulatedBody(
        {(j, k): Phi for j in handles for k in handles}, dict.fromkeys(handles, b)
    )


def connected(
    i: int, inner: ArticulatedBody, outer: ArticulatedBody, c: Vector, joint: JointForce
) -> ArticulatedBody:
    """Return two articulated bodies connected by a joint (book eq 7.62 and 7.63).

    Handle 2 is that of the inner body at the joint, 3 that of the outer one; 1 and 4 represent
    all others of either. The known part of the joint's active force is an external force on both.

    :param i: number of the joint
    :param inner: articulated body with the predecessor
    :param outer: articulated body with the successor
    :param c: velocity-product acceleration of the joint, (6,)
    :param joint: force transmitted by it
    """
    T, two, three = joint.T, (i, True), (i, False)
    ones = [k for k in inner.b if k != two]
    fours = [k for k in outer.b if k != three]
    b = {k: subtract(inner.b[k], apply(inner.Phi[k, two], joint.fa)) for k in inner.b}
    b.update({k: add(outer.b[k], apply(outer.Phi[k, three], joint.fa)) for k in outer.b})

    Y = ltdl(
        plus_diagonal(
            congruence(T, add_matrices(inner.Phi[two, two], outer.Phi[three, three])), joint.E
        )
    )
    beta = add(c, subtract(b[two], b[three]))
    constant = [dot(column, beta) + e for column, e in zip(T, joint.e)]
    slopes = {k: [apply(inner.Phi[k, two], column) for column in T] for k in ones}
    for k in fours:
        slopes[k] = [[-x for x in apply(outer.Phi[k, three], column)] for column in T]

    # lambda = Y^-1 (slopes f + constant), and accelerations change by -slopes^T lambda.
    answers = {k: [Y.solve(column) for column in _columns(slopes[k])] for k in slopes}
    Phi: Dict[Tuple[Handle, Handle], Matrix] = {}
    for n, j in enumerate(slopes):
        for k in list(slopes)[: n + 1]:
            before = inner.Phi.get((j, k), outer.Phi.get((j, k), zeros(6, 6)))
            change = [[dot(column, x) for x in answers[k]] for column in _columns(slopes[j])]
            Phi[j, k] = subtract_matrices(before, change)
            Phi[k, j] = transposed(Phi[j, k])
    yielding = Y.solve(constant)
    after = {k: subtract(b[k], combine(slopes[k], yielding)) for k in slopes}
    return ArticulatedBody(Phi, after, Step(i, inner, outer, Y, constant, slopes))


def _columns(rows: Matrix) -> Matrix:
    """Return the columns of a matrix of rows of six; there may be none."""
    return [[row[k] for row in rows] for k in range(6)]


def acceleration(body: ArticulatedBody, handle: Handle, f: Mapping[Handle, Vector]) -> Vector:
    """Return the acceleration of a handle by the forces on all, (6,)."""
    a = body.b[handle]
    for k, force in f.items():
        a = add(a, apply(body.Phi[handle, k], force))
    return a
