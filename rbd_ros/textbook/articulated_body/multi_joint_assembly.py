# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Divide and conquer with loops: assemblies of several joints at once (book 7.5, last part).

Two articulated bodies with loops between them are connected by all joints that they have in
common. A handle is an end of a joint that is still to be connected, so a body may have any number
of handles. If joints impose a constraint twice, or one that cannot yield at all, the matrix
Y = T^T Psi T is singular: its pseudo-inverse gives unique accelerations, and the smallest
constraint forces. Position errors are stabilized as in book 8.3. Numbers decide ranks, so it does
not work on generic scalars.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.algorithms.closed_loops.loop_closure import loop_transforms
from rbd_ros.algorithms.closed_loops.loop_constraints import moving_constraint_forces
from rbd_ros.algorithms.closed_loops.stabilization import stabilization
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.textbook.articulated_body.articulated_assembly import JointForce
from rbd_ros.textbook.articulated_body.bodies_in_base import (
    bodies_in_base,
    BodiesInBase,
    require_inertias,
)
from rbd_ros.textbook.articulated_body.divide_and_conquer import Assembly, assembly_tree, Plan

Floats = NDArray[np.float64]

#: Maximum eigenvalue of Y, with its diagonal scaled to one, that counts as zero: the square of the
#: relative difference of constraints.
TOLERANCE = 1e-10


class LoopAssembly(NamedTuple):
    """Motion of a system with loops that was assembled in halves.

    :param a: accelerations, (nv,) [rad/s^2, m/s^2]
    :param multipliers: constraint force variables of the loop joints, (n^c,) [N m, N]
    :param redundant: number of redundant constraints of all joints
    """

    a: Floats
    multipliers: Floats
    redundant: int


class _Joint(NamedTuple):
    """A joint of the tree or of a loop, and the bodies that it connects."""

    predecessor: int
    successor: int
    force: JointForce
    c: Floats


#: Number of a joint that is not connected yet, and whether this is its successor's end.
_Handle = Tuple[int, bool]


class _Body(NamedTuple):
    """Response a = Phi f + b of the handles of an articulated body (book eq 7.4).

    :param handles: its handles, h of them
    :param Phi: inverse inertias, (6 h, 6 h)
    :param b: bias accelerations, (6 h,)
    :param step: its assembly, for the outward pass; None for a single body
    """

    handles: Tuple[_Handle, ...]
    Phi: Floats
    b: Floats
    step: Optional[_Step]


class _Step(NamedTuple):
    """One assembly: all joints between two articulated bodies.

    :param inner: one body
    :param outer: the other one
    :param joints: numbers of the joints
    :param kept: elements of the remaining handles, among those of both bodies
    :param R: relative accelerations of the joints by those of the handles, (6 m, 6 h)
    :param Phi: inverse inertias of both bodies, (6 h, 6 h)
    :param b: their bias accelerations, (6 h,)
    :param G: forces on the handles by the joints' variables, (6 h, k)
    :param inverse: pseudo-inverse of Y, (k, k)
    :param driving: right-hand side of Y lambda without forces on the handles, (k,)
    """

    inner: _Body
    outer: _Body
    joints: Tuple[int, ...]
    kept: NDArray[np.int64]
    R: Floats
    Phi: Floats
    b: Floats
    G: Floats
    inverse: Floats
    driving: Floats


def loop_assembly_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
    *,
    t_stab: Optional[float] = None,
    tolerance: float = TOLERANCE,
) -> LoopAssembly:
    """Return the forward dynamics of trees and of systems with loops, by halves.

    :param model: model without gears; all bodies have an invertible inertia
    :param q: configuration, (nq,) [rad, m]
    :param v: velocity, (nv,) [rad/s, m/s]
    :param tau: generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :param t_stab: time constant of the loops' stabilization [s]; None for none
    :param tolerance: maximum eigenvalue of Y that counts as zero, see `TOLERANCE`
    :raises ModelError: for gears, or a body without inertia, by name

    >>> from rbd_ros.textbook.articulated_body.multi_joint_assembly import loop_assembly_dynamics
    >>> found = loop_assembly_dynamics(four_bar.model, q4, v4, np.zeros(3))
    >>> np.allclose(found.a, four_bar.loops.forward_dynamics(q4, v4, np.zeros(3)).a)
    True
    """
    require_inertias(model.with_loops(()), (), {})
    position, velocity, force = (np.asarray(x, dtype=float).tolist() for x in (q, v, tau))
    tree = bodies_in_base(model, position, velocity, force, external_forces)
    joints = [
        _Joint(body.parent, i, tree.joint[i], np.array(tree.c[i])) for i, body in model.outward()
    ]
    joints += _loop_joints(model, position, velocity, t_stab)

    a, variables, redundant = np.zeros(model.nv), {}, [0]

    def assembled(plan: Plan) -> _Body:
        if not isinstance(plan, Assembly):
            return _single(tree, joints, plan)
        body, spare = _connected(joints, assembled(plan.inner), assembled(plan.outer), tolerance)
        redundant[0] += spare
        return body

    def disassemble(body: _Body, f: Floats) -> None:
        """Compute the forces within an articulated body from those on its handles."""
        step = body.step
        if step is None:
            return
        total = np.zeros(len(step.b))
        total[step.kept] = f
        found = step.inverse @ (step.driving - step.G.T @ (step.Phi @ total))
        total += step.R.T @ _stacked(joints[j].force.fa for j in step.joints) + step.G @ found
        across = (step.R @ (step.Phi @ total + step.b)).reshape(-1, 6)
        for j, relative in zip(step.joints, across):
            joint = joints[j]
            variables[j], found = np.split(found, [len(joint.force.T)])
            if j < len(model.bodies):
                rate = joint.force.rate([0.0] * 6, relative.tolist(), joint.c.tolist())
                a[model.body(j + 1).v] = rate
        inner, outer = np.split(total, [len(step.inner.b)])
        disassemble(step.inner, inner)
        disassemble(step.outer, outer)

    disassemble(assembled(assembly_tree(model)), np.zeros(0))
    loops = range(len(model.bodies), len(joints))
    multipliers = [variables.get(j, np.zeros(len(joints[j].force.T))) for j in loops]
    return LoopAssembly(a, _stacked(multipliers), redundant[0])


def _loop_joints(
    model: Model, q: Sequence[float], v: Sequence[float], t_stab: Optional[float]
) -> List[_Joint]:
    """Return the loop joints in base coordinates, passive except for the stabilization."""
    X0, velocities = body_velocities(model, q, v)
    v0 = {i: X0[i].inverse_apply(twist) for i, twist in velocities.items()}
    joints = []
    for loop in model.loops:
        p, s = loop.predecessor.body, loop.successor.body
        Xs, X = loop_transforms(loop, X0)
        v_J = v0[s] - v0[p]
        forces = moving_constraint_forces(loop.joint, X, Xs.apply(v_J))
        T = [[float(x) for x in Xs.inverse_apply(force)] for force, _ in forces]
        rates = np.array([Xs.apply(v_J).dot(rate) for _, rate in forces], dtype=float)
        error = np.array(loop.joint.loop_error(X), dtype=float)
        speed = np.array(T).reshape(-1, 6) @ v_J.to_array()
        e = stabilization(error, speed, t_stab) - rates
        force = JointForce(T, [0.0] * 6, [0.0] * len(T), e.tolist(), [], len(T))
        joints.append(_Joint(p, s, force, np.array(list(v0[s].cross(v_J)), dtype=float)))
    return joints


def _single(tree: BodiesInBase, joints: Sequence[_Joint], i: int) -> _Body:
    """Return a body, or the base, with a handle for each end of a joint on it."""
    handles = [
        (j, end)
        for j, joint in enumerate(joints)
        for end, body in ((False, joint.predecessor), (True, joint.successor))
        if body == i and joint.predecessor != joint.successor
    ]
    Phi = np.array(tree.inverse_inertia(i), dtype=float)
    b = np.array(tree.bias_acceleration(i, Phi.tolist()), dtype=float)
    count = len(handles)
    return _Body(tuple(handles), np.tile(Phi, (count, count)), np.tile(b, count), None)


def _connected(
    joints: Sequence[_Joint], inner: _Body, outer: _Body, tolerance: float
) -> Tuple[_Body, int]:
    """Connect two articulated bodies by all joints between them; count redundant constraints."""
    handles = (*inner.handles, *outer.handles)
    own, other = ({j for j, _ in body.handles} for body in (inner, outer))
    shared = tuple(sorted(own & other))
    place = {handle: 6 * k for k, handle in enumerate(handles)}
    size, split = 6 * len(handles), 6 * len(inner.handles)
    Phi, b = np.zeros((size, size)), np.concatenate([inner.b, outer.b])
    Phi[:split, :split], Phi[split:, split:] = inner.Phi, outer.Phi
    R, G = np.zeros((6 * len(shared), size)), []
    driving, yielding = [], []
    for k, j in enumerate(shared):
        force, row = joints[j].force, slice(6 * k, 6 * k + 6)
        for end, sign in ((True, 1.0), (False, -1.0)):
            at = place[j, end]
            R[row, at : at + 6] = sign * np.eye(6)
        T = np.array(force.T, dtype=float).reshape(-1, 6).T
        G.append(R[row].T @ T)
        driving.append(T.T @ joints[j].c + force.e)
        yielding += force.E
    G_all = np.hstack(G)
    free = b + Phi @ (R.T @ _stacked(joints[j].force.fa for j in shared))
    right = _stacked(driving) - G_all.T @ free
    inverse, spare = _pseudo_inverse(G_all.T @ Phi @ G_all + np.diag(yielding), tolerance)
    kept = np.array(
        [x for handle, at in place.items() if handle[0] not in shared for x in range(at, at + 6)],
        dtype=np.int64,
    )
    answers = Phi[kept] @ G_all
    step = _Step(inner, outer, shared, kept, R, Phi, b, G_all, inverse, right)
    body = _Body(
        tuple(handle for handle in handles if handle[0] not in shared),
        Phi[np.ix_(kept, kept)] - answers @ inverse @ answers.T,
        free[kept] + answers @ (inverse @ right),
        step,
    )
    return body, spare


def _pseudo_inverse(Y: Floats, tolerance: float) -> Tuple[Floats, int]:
    """Return the pseudo-inverse and nullity of a symmetric matrix, scaled to a unit diagonal."""
    diagonal = np.sqrt(np.maximum(np.diag(Y), 0.0))
    scale = 1.0 / np.where(diagonal > 0.0, diagonal, 1.0)
    values, vectors = np.linalg.eigh(scale[:, None] * Y * scale)
    used = values > tolerance
    scaled = scale[:, None] * vectors[:, used]
    return scaled / values[used] @ scaled.T, int(np.count_nonzero(~used))


def _stacked(parts: Any) -> Floats:
    found: Dict[int, Any] = dict(enumerate(parts))
    return np.concatenate([np.zeros(0), *(np.asarray(x, dtype=float) for x in found.values())])
