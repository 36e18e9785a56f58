# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Assembly of two articulated bodies by a joint between their handles (book 7.2.2, table 7.2).

Handle 1 is the predecessor of the joint, and the handle of the assembled body; handle 2 is the
successor. The formulae take all quantities in common coordinates, and matrices as lists of rows.
Three methods lead to the same body: the standard formulae, on inertias and the motion subspace S;
variant 1, on inverse inertias and the constraint forces T; variant 2, on inertias and T. Variant 1
does not need handles that move freely. Gluing handles together needs no formula: inertias and bias
forces are added (book 7.1).
"""

from typing import List, NamedTuple, Sequence

from rbd_ros.algorithms.articulated_body.aba import plus_diagonal, times_inverse
from rbd_ros.algorithms.articulated_body.matrices import (
    add,
    add_matrices,
    apply,
    combine,
    congruence,
    dot,
    inverse,
    Matrix,
    subtract,
    subtract_matrices,
    symmetric,
    Vector,
)
from rbd_ros.algorithms.inertia_matrix.factorization import LTDL, ltdl
from rbd_ros.model import Body
from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
)
from rbd_ros.spatial.scalar import Scalar

Scalars = Sequence[Scalar]


class Propagated(NamedTuple):
    """An articulated body at the predecessor of a joint (book 7.2.2).

    :param Ia: apparent inertia I^a of a massless handle on the predecessor's side: I^a S = 0
        except for a rotor
    :param pa: its bias force p^a
    """

    Ia: ArticulatedBodyInertia
    pa: ForceVector


def propagated(
    IA: ArticulatedBodyInertia,
    pA: ForceVector,
    S: MotionSubspace,
    c: MotionVector,
    tau: Scalars,
    armature: Scalar = 0.0,
) -> Propagated:
    """Return the inertia and bias force propagated across a joint (book eq 7.23 and 7.24).

    The force across the joint is I^A a_2 + p^A = I^a a_1 + p^a, by the acceleration of its
    successor or of its predecessor (eq 7.25).

    :param IA: articulated-body inertia of the successor
    :param pA: its bias force
    :param S: motion subspace of the joint
    :param c: velocity-product acceleration, a_2 - a_1 = S qdd + c
    :param tau: generalized force of the joint, (nf,) [N m, N]
    :param armature: inertia of its rotor (book eq 9.28) [kg m^2 or kg]

    >>> from rbd_ros.textbook.articulated_body.articulated_assembly import propagated
    >>> from rbd_ros.spatial import ArticulatedBodyInertia, ForceVector, MotionVector
    >>> hand = model.bodies[-1]
    >>> IA = ArticulatedBodyInertia.from_rigid(hand.inertia)
    >>> S = hand.joint.motion_subspace([0.0])
    >>> result = propagated(IA, ForceVector.zero(), S, MotionVector.zero(), [0.0])
    >>> S.T @ (result.Ia * S.columns[0])  # nothing along its degree of freedom
    [0.0]
    """
    U = [IA * s for s in S.columns]
    D = ltdl(plus_diagonal([S.T @ column for column in U], [armature] * len(U)))
    u = [t - x for t, x in zip(tau, S.T @ pA)]
    UD = times_inverse(U, D)
    Ia, pa = IA, pA
    for column, scaled in zip(U, UD):
        Ia = Ia.minus_dyad(scaled, column)
    pa = pa + Ia * c
    for scaled, x in zip(UD, u):
        pa = pa + scaled * x
    return Propagated(Ia, pa)


class JointForce(NamedTuple):
    """Force that a joint transmits: f_2 = T_a tau + T lambda, with T^T (a_2 - a_1 - c) = 0.

    A rotor makes the active force unknown too: it is reduced by the armature times qdd. Its
    directions T_a then join those of T, with the inverse of the armature as compliance: in general
    f_2 = f_a + T lambda with T^T (a_2 - a_1 - c) + E lambda = e.

    :param T: columns of the constraint forces, those of the active force last if there is a rotor
    :param fa: known part of the active force, (6,) [N m, N]
    :param E: diagonal of the compliance: zero, and the inverse of the armature
    :param e: right-hand side: zero, and tau over the armature
    :param Ta: columns of the active force, T_a^T S = 1
    :param constraints: number of columns of T that are constraint forces
    """

    T: List[Vector]
    fa: Vector
    E: List[Scalar]
    e: List[Scalar]
    Ta: List[Vector]
    constraints: int

    def total(self, variables: Scalars) -> Vector:
        """Return the force f_2 on the successor for the variables lambda, (6,)."""
        return add(self.fa, combine(self.T, variables))

    def constraint(self, variables: Scalars) -> Vector:
        """Return the constraint force T lambda alone, (6,)."""
        return combine(self.T[: self.constraints], variables)

    def rate(self, a1: Scalars, a2: Scalars, c: Scalars) -> Vector:
        """Return the acceleration of the joint T_a^T (a_2 - a_1 - c), (nf,)."""
        relative = subtract(subtract(a2, a1), c)
        return [dot(column, relative) for column in self.Ta]


def joint_force(body: Body, q: Scalars, tau: Scalars, X: PluckerTransform) -> JointForce:
    """Return the force that a joint lets through (book 3.5), its rotor included.

    :param body: the body that the joint carries
    :param q: position of the joint
    :param tau: generalized force of the joint, (nf,) [N m, N]
    :param X: transform to the coordinates of the body from those of the result
    """

    def moved(force: ForceVector) -> Vector:
        return list(X.inverse_apply(force))

    constraints = [moved(column) for column in body.joint.constraint_forces(q)]
    columns = active_forces(body.joint.motion_subspace(q))
    Ta = [moved(ForceVector.from_array(column)) for column in columns]
    none = [0.0] * len(constraints)
    if body.armature == 0.0:
        return JointForce(constraints, combine(Ta, tau), none, none, Ta, len(constraints))
    yielding = [1.0 / body.armature] * len(Ta)
    driving = [t / body.armature for t in tau]
    return JointForce(
        constraints + Ta, [0.0] * 6, none + yielding, none + driving, Ta, len(constraints)
    )


def active_forces(S: MotionSubspace) -> List[Vector]:
    """Return the columns of an active-force subspace T_a = S (S^T S)^-1, for which T_a^T S = 1.

    The choice changes the constraint force, but not the motion (book 3.5).

    :param S: motion subspace; its angular and linear components have comparable magnitudes
    """
    columns = [list(s) for s in S.columns]
    if not columns:
        return []
    gram = inverse([[dot(s, t) for t in columns] for s in columns])
    return [combine(columns, row) for row in gram]


class InverseAssembly(NamedTuple):
    """An articulated body assembled by variant 1, and its joint's constraint force.

    lambda = Y^-1 (z + T^T Phi_1 f), where f is the force on the handle.

    :param Phi: inverse inertia of the handle, (6, 6)
    :param b: its bias acceleration, (6,)
    :param Y: factors of T^T (Phi_1 + Phi_2) T
    :param z: (columns of T,)
    :param Phi1_T: columns of Phi_1 T
    """

    Phi: Matrix
    b: Vector
    Y: LTDL
    z: Vector
    Phi1_T: List[Vector]

    def force_variables(self, f: Scalars) -> Vector:
        """Return the variables lambda of the joint's force for a force `f` on the handle, (6,)."""
        return self.Y.solve([z + dot(t, f) for z, t in zip(self.z, self.Phi1_T)])


def assembled_inverse(
    Phi1: Matrix, b1: Vector, Phi2: Matrix, b2: Vector, c: Vector, joint: JointForce
) -> InverseAssembly:
    """Return the variant formulae 1 of table 7.2: inverse inertias and constraint forces.

    :param Phi1: inverse inertia of handle 1, (6, 6)
    :param b1: its bias acceleration, (6,)
    :param Phi2: inverse inertia of handle 2, (6, 6)
    :param b2: its bias acceleration, (6,)
    :param c: velocity-product acceleration of the joint, (6,)
    :param joint: force transmitted by the joint
    """
    T, fa = joint.T, joint.fa
    Psi = add_matrices(Phi1, Phi2)
    Y = ltdl(plus_diagonal(congruence(T, Psi), joint.E))
    gap = subtract(add(c, subtract(b1, b2)), apply(Psi, fa))
    z = [dot(column, gap) + e for column, e in zip(T, joint.e)]
    Phi1_T = [apply(Phi1, column) for column in T]
    Phi = subtract_matrices(Phi1, _sandwich(Phi1_T, Y))
    b = subtract(subtract(b1, apply(Phi1, fa)), combine(Phi1_T, Y.solve(z)))
    return InverseAssembly(symmetric(Phi), b, Y, z, Phi1_T)


class ConstraintAssembly(NamedTuple):
    """An articulated body assembled by variant 2, and its joint's constraint force.

    lambda = Y^-1 (z + T^T a_1), where a_1 is the acceleration of the handle.

    :param I: inertia of the handle, (6, 6)
    :param p: its bias force, (6,)
    :param Y: factors of T^T I_2^-1 T
    :param z: (columns of T,)
    :param T: columns of the forces of the joint
    """

    I: Matrix
    p: Vector
    Y: LTDL
    z: Vector
    T: List[Vector]

    def force_variables(self, a1: Scalars) -> Vector:
        """Return the variables lambda of the joint's force for the acceleration `a1`, (6,)."""
        return self.Y.solve([z + dot(t, a1) for z, t in zip(self.z, self.T)])


def assembled_by_constraints(
    I1: Matrix, p1: Vector, I2: Matrix, p2: Vector, c: Vector, joint: JointForce
) -> ConstraintAssembly:
    """Return the variant formulae 2 of table 7.2: inertias and constraint forces.

    :param I1: inertia of handle 1, (6, 6)
    :param p1: its bias force, (6,)
    :param I2: inertia of handle 2, (6, 6), positive definite
    :param p2: its bias force, (6,)
    :param c: velocity-product acceleration of the joint, (6,)
    :param joint: force transmitted by the joint
    """
    T, fa = joint.T, joint.fa
    I2_factors = ltdl(I2)
    I2_inverse_T = [I2_factors.solve(column) for column in T]
    Y = ltdl(plus_diagonal(symmetric([[dot(s, t) for t in I2_inverse_T] for s in T]), joint.E))
    gap = subtract(c, I2_factors.solve(subtract(fa, p2)))
    z = [dot(column, gap) + e for column, e in zip(T, joint.e)]
    I = add_matrices(I1, _sandwich(T, Y))
    p = add(add(p1, fa), combine(T, Y.solve(z)))
    return ConstraintAssembly(symmetric(I), p, Y, z, T)


def _sandwich(columns: List[Vector], Y: LTDL) -> Matrix:
    """Return the product B Y^-1 B^T, (6, 6), of a matrix given by its columns.

    Zero if there are none.
    """
    if not columns:
        return [[0.0] * 6 for _ in range(6)]
    rows = list(zip(*columns))
    solved = [Y.solve(row) for row in rows]
    return [[dot(row, other) for other in solved] for row in rows]
