# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forward dynamics by sparse elimination of accelerations and constraint forces (Baraff 1996).

The unknowns are the accelerations of all bodies and the forces of all joints, six and at most six
each. Every body and every joint is a node of a tree, so elimination from the leaves has no
fill-in, and takes a time proportional to the number of bodies.
"""

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.articulated_body.aba import plus_diagonal
from rbd_ros.algorithms.articulated_body.matrices import (
    apply,
    dot,
    Matrix,
    multiply,
    solved,
    subtract,
    subtract_matrices,
    symmetric,
    transposed,
    Vector,
    zeros,
)
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.factorization import ltdl
from rbd_ros.algorithms.kinds import ACCELERATION, CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.articulated_body.bodies_in_base import (
    AssembledDynamics,
    bodies_in_base,
    BodiesInBase,
    CONSTRAINT_FORCES,
    require_inertias,
)

Scalars = Sequence[Scalar]


class Node(NamedTuple):
    """Rows of a symmetric matrix of blocks whose graph is a tree, and of the right-hand side.

    :param parent: number of the last neighbor to be eliminated, which comes later; None for a root
    :param diagonal: block on the diagonal, (n, n)
    :param link: block in the columns of the parent, (n, size of the parent); [] of a root
    :param right: right-hand side, (n,)
    """

    parent: Optional[int]
    diagonal: Matrix
    link: Matrix
    right: Vector


def solve_on_a_tree(nodes: Sequence[Node]) -> List[Vector]:
    """Return the solution of a symmetric system of blocks, by elimination without fill-in.

    Diagonal blocks are definite when they are eliminated: positive or negative.

    :param nodes: the rows, children before their parents
    :return: the unknowns of each node
    """
    D = {k: node.diagonal for k, node in enumerate(nodes)}
    r = {k: node.right for k, node in enumerate(nodes)}
    yielding: Dict[int, Matrix] = {}
    for k, node in enumerate(nodes):
        factors = ltdl(D[k])
        r_k = r[k]
        r[k] = factors.solve(r_k)
        if node.parent is not None:
            yielding[k] = solved(factors, node.link)
            across = transposed(node.link)
            D[node.parent] = symmetric(
                subtract_matrices(D[node.parent], multiply(across, yielding[k]))
            )
            r[node.parent] = subtract(r[node.parent], apply(across, r[k]))
    x: Dict[int, Vector] = {}
    for k in reversed(range(len(nodes))):
        parent = nodes[k].parent
        x[k] = r[k] if parent is None else subtract(r[k], apply(yielding[k], x[parent]))
    return [x[k] for k in range(len(nodes))]


@algorithm(
    'sparse_elimination_dynamics',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'a': ACCELERATION, 'constraint_forces': CONSTRAINT_FORCES},
    coordinates=INDEPENDENT,
    result=AssembledDynamics,
    source='Featherstone and Orin, Proc. IEEE ICRA 2000, 3.5; Baraff, SIGGRAPH 1996',
    check=require_inertias,
)
def sparse_elimination_dynamics(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> AssembledDynamics:
    """Return the accelerations and constraint forces of a tree from one sparse system.

    I a_i - T_i lambda_i + sum of T_j lambda_j over the children = forces on body i, and
    T_i^T (a_parent - a_i) - E lambda_i = -T_i^T c_i - e_i, where E and e are zero but for rotors.

    :param q: configuration, (nq,) [rad, m]
    :param qd: velocity, (nv,) [rad/s, m/s]
    :param tau: generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    """
    tree = bodies_in_base(model, q, qd, tau, external_forces)
    # Leaves first: each body, then its joint, unless the joint transmits known forces only.
    order: List[int] = []
    place: Dict[int, int] = {}
    count = 0
    for i, _ in model.inward():
        order.append(i)
        place[i] = count
        count += 2 if tree.joint[i].T else 1
    nodes = [node for i in order for node in rows_of_body(model, tree, i, place)]
    x = solve_on_a_tree(nodes)

    a = {0: tree.a0, **{i: x[place[i]] for i in order}}
    qdd: List[Scalar] = [0.0] * model.nv
    constraint_forces = []
    for i, body in model.outward():
        joint = tree.joint[i]
        variables = x[place[i] + 1] if joint.T else []
        qdd[body.v] = joint.rate(a[body.parent], a[i], tree.c[i])
        constraint_forces.append(tree.in_body(i, joint.constraint(variables)))
    return AssembledDynamics(qdd, constraint_forces)


def rows_of_body(model: Model, tree: BodiesInBase, i: int, place: Mapping[int, int]) -> List[Node]:
    """Return the rows of a body and of its joint.

    :param tree: bodies and joints
    :param i: number of the body
    :param place: number of the node of each body; that of its joint is the next
    """
    joint, parent = tree.joint[i], model.body(i).parent
    right = subtract(joint.fa, tree.p[i])
    for j, body in model.outward():
        if body.parent == i:
            right = subtract(right, tree.joint[j].fa)
    if not joint.T:
        return [Node(None, tree.I[i], [], right)]
    negative = [[-x for x in column] for column in joint.T]
    known = [-dot(column, tree.c[i]) - e for column, e in zip(joint.T, joint.e)]
    if parent == 0:
        known = subtract(known, apply(joint.T, tree.a0))
    n = len(joint.T)
    return [
        Node(place[i] + 1, tree.I[i], transposed(negative), right),
        Node(
            place[parent] if parent else None,
            plus_diagonal(zeros(n, n), [-e for e in joint.E]),
            joint.T if parent else [],
            known,
        ),
    ]
