# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Natural orthogonal complement N = N_l N_d of the velocity constraints (Saha 1999, eq 16, 17).

It maps joint rates to the twists of all links, t = N qd, and its transpose eliminates the
constraint wrenches, N^T w^I = 0 (eq 18 to 20). All vectors are along the axes of the base.
"""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.array import Array
from rbd_ros.algorithms.declaration import algorithm
from rbd_ros.algorithms.kinds import CONFIGURATION
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector, linear3
from rbd_ros.spatial.linear3 import Vector3, ZERO3
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.denoc.links import (
    along_base,
    external_wrenches,
    Link,
    links_of,
    Matrix,
    NO_TWIST,
    NO_WRENCH,
    require_simple_joints,
    Twist,
    Wrench,
)


def _rows(model: Model, N: Mapping[int, Sequence[Twist]]) -> List[Scalar]:
    rows = [
        row
        for i, _ in model.outward()
        for row in zip(*((*column.w, *column.v) for column in N[i]))
    ]
    return [x for row in model.independent_columns(rows) for x in row]


COMPLEMENT = Array(
    'N',
    'twists [w; v] of all bodies at their centers of mass per joint rate, along the base',
    '',
    ('bodies', 6, 'nv'),
    from_tree=_rows,
)


@algorithm(
    'natural_orthogonal_complement',
    inputs={'q': CONFIGURATION},
    outputs={'N': COMPLEMENT},
    source='Saha 1999, eq 16',
    check=require_simple_joints,
)
def natural_orthogonal_complement(model: Model, q: Sequence[Scalar]) -> Dict[int, List[Twist]]:
    """Return the natural orthogonal complement N with t = N qd.

    Its block for a body is the Jacobian of the body's center of mass, angular rows first.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: columns of the block of each body, by body number
    """
    links = along_base(model, links_of(model, q))
    N: Dict[int, List[Twist]] = {}
    for i, body in model.outward():
        above = N[body.parent] if body.parent else [NO_TWIST] * model.tree_nv
        N[i] = [links[i].propagated(column) for column in above]
        N[i][body.v.start] = links[i].p
    return N


class DecoupledComplement(NamedTuple):
    """Factors of N = N_l N_d, or of its rate Ndot = Ndot_l N_d + N_l Omega N_d (eq 17, 25, 26).

    :param Nl: block lower triangular, of the twist propagation matrices B_ij, (6n, 6n)
    :param Nd: block diagonal, of the joint-rate propagation vectors p_i, (6n, n)
    """

    Nl: Matrix
    Nd: Matrix


def decoupled_complement(model: Model, q: Sequence[Scalar]) -> DecoupledComplement:
    """Return the decoupled natural orthogonal complement matrices N_l and N_d (eq 17).

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :return: both along the axes of the base, for the joints of the tree
    """
    links = along_base(model, links_of(model, q))
    n = len(model.bodies)
    Nl, Nd = _zeros(6 * n, 6 * n), _zeros(6 * n, n)
    for i, _ in model.outward():
        c = ZERO3  # from C_i to C_j, initially with j = i
        for j in model.support(i):
            _enter(Nl, 6 * (i - 1), 6 * (j - 1), twist_propagation(c))
            c = linear3.add(c, links[j].c)
        for k, x in enumerate((*links[i].p.w, *links[i].p.v)):
            Nd[6 * (i - 1) + k][i - 1] = x
    return DecoupledComplement(Nl, Nd)


def decoupled_complement_rate(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> DecoupledComplement:
    """Return the rates Ndot_l, blocks Bdot_ij = [[0, 0], [cdot_ij x, 0]], and Ndot_d = Omega N_d.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: joint rates of the tree, (tree_nv,) [rad/s, m/s]
    """
    links = along_base(model, links_of(model, q))
    t = twists(model, links, qd)
    n = len(model.bodies)
    Nl, Nd = _zeros(6 * n, 6 * n), _zeros(6 * n, n)
    for i, _ in model.outward():
        for j in model.support(i):
            cdot = linear3.subtract(t[j].v, t[i].v)
            _enter(Nl, 6 * (i - 1) + 3, 6 * (j - 1), linear3.skew(cdot))
        pdot = links[i].p.turned(t[i].w)
        for k, x in enumerate((*pdot.w, *pdot.v)):
            Nd[6 * (i - 1) + k][i - 1] = x
    return DecoupledComplement(Nl, Nd)


def twist_propagation(c: Vector3) -> Matrix:
    """Return the twist propagation matrix B_ij = [[1, 0], [c_ij x, 1]], (6, 6) (eq 13).

    :param c: vector from the center of mass of link i to that of link j, (3,) [m]
    """
    B: Matrix = [[1 if i == j else 0 for j in range(6)] for i in range(6)]
    _enter(B, 3, 0, linear3.skew(c))
    return B


def twists(model: Model, links: Mapping[int, Link], qd: Sequence[Scalar]) -> Dict[int, Twist]:
    """Return the twists of all links, t_i = B_ij t_j + p_i qd_i (eq 12), by body number.

    :param links: links, by body number
    :param qd: joint rates of the tree, (tree_nv,) [rad/s, m/s]
    """
    t = {0: NO_TWIST}
    for i, body in model.outward():
        t[i] = links[i].propagated(t[body.parent]).plus(links[i].p.times(qd[body.v.start]))
    return t


def twist_rates(
    model: Model,
    links: Mapping[int, Link],
    t: Mapping[int, Twist],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
) -> Dict[int, Twist]:
    """Return the rates of the twists of all links (eq 12) with Bdot = [[0, 0], [cdot x, 0]].

    :param links: links along the axes of the base, by body number
    :param t: their twists
    :param qd: joint rates of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: their rates, (tree_nv,) [rad/s^2, m/s^2]
    """
    tdot = {0: NO_TWIST}
    for i, body in model.outward():
        p, parent = links[i].p, body.parent
        cdot = linear3.subtract(t[parent].v, t[i].v)
        tdot[i] = (
            links[i]
            .propagated(tdot[parent])
            .plus(p.times(qdd[body.v.start]))
            .plus(p.turned(t[i].w).times(qd[body.v.start]))
            .plus(Twist(ZERO3, linear3.cross(cdot, t[parent].w)))
        )
    return tdot


def constraint_wrenches(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> Dict[int, Wrench]:
    """Return the wrench w^I = M tdot + Mdot t - w^E on each link by the constraints of its joints.

    Eq 9, 18.

    It is the rest of the wrench on the decoupled link after gravity, external forces and the joint
    forces `tau` with their reactions; N^T w^I is zero if `tau` causes the motion.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param qdd: acceleration of the tree, (tree_nv,) [rad/s^2, m/s^2]
    :param tau: forces of the joints of the tree, (tree_nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: wrenches about the centers of mass, along the axes of the base, by body number
    """
    links = along_base(model, links_of(model, q))
    t = twists(model, links, qd)
    tdot = twist_rates(model, links, t, qd, qdd)
    given = external_wrenches(model, links, external_forces)
    wrenches: Dict[int, Wrench] = {}
    for i, body in model.outward():
        link, k = links[i], body.v.start
        weight = Wrench(ZERO3, linear3.scale(link.mass, model.gravity))
        driving = driving_wrench(link, tau[k] - body.armature * qdd[k])
        w = link.newton_euler(t[i].w, tdot[i]).minus(weight).minus(driving)
        wrenches[i] = w.minus(given.get(i, NO_WRENCH))
        if body.parent != 0:
            # the reaction of the motor on the parent
            reaction = link.propagated_back(driving)
            wrenches[body.parent] = wrenches[body.parent].plus(reaction)
    return wrenches


def driving_wrench(link: Link, force: Scalar) -> Wrench:
    """Return the wrench of a motor on its link.

    It is a moment about a hinge's axis, or a force along a slider's. The force of a slider passes
    through the center of mass of the link: along a parallel line it would do the same work, and
    the constraint would balance the moment.

    :param force: force of the joint [N m, N]
    """
    if link.revolute:
        return Wrench(linear3.scale(force, link.p.w), ZERO3)
    return Wrench(ZERO3, linear3.scale(force, link.p.v))


def _zeros(rows: int, columns: int) -> Matrix:
    return [[0.0] * columns for _ in range(rows)]


def _enter(matrix: Matrix, row: int, column: int, block: Sequence[Sequence[Scalar]]) -> None:
    for k, values in enumerate(block):
        matrix[row + k][column : column + len(values)] = values
