# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Assembly of two articulated bodies against the composite equation of table 7.2.

The reference solves all five equations at once: f = f_1 + f_2, both bodies' equations, the joint's
acceleration and its force.
"""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import dense
from support.all_joints import every_joint

from rbd_ros.model import Body
from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.textbook.articulated_body.articulated_assembly import (
    active_forces,
    assembled_by_constraints,
    assembled_inverse,
    joint_force,
    JointForce,
    propagated,
)

ARMATURES = pytest.mark.parametrize('armature', [0.0, 0.3], ids=['no rotor', 'rotor'])


class Pair:
    """Two articulated bodies and a joint of a type, at random."""

    def __init__(self, joint, armature, seed=0):
        rng = np.random.default_rng(seed)
        self.I1, self.I2 = (dense.positive_definite(rng, 6) for _ in range(2))
        self.p1, self.p2, self.c = rng.normal(size=(3, 6))
        self.q, self.tau = rng.uniform(0.2, 0.9, joint.nq), rng.normal(size=joint.nv)
        self.joint, self.armature = joint, armature
        # All of it in coordinates that are not the body's.
        E, r = dense.rotation(rng), 0.3 * rng.normal(size=3)
        X, nothing = PluckerTransform(E.tolist(), r.tolist()), RigidBodyInertia.zero()
        S = [list(s) for s in joint.motion_subspace(self.q.tolist()).columns]
        S = np.array(S, dtype=float).reshape(joint.nv, 6).T
        self.S = np.linalg.solve(dense.motion_transform(E, r), S)
        self.motions = MotionSubspace([MotionVector.from_array(s.tolist()) for s in self.S.T])
        rest = PluckerTransform.identity()
        body = Body('body', 0, 'joint', joint, rest, nothing, armature=armature)
        self.force = joint_force(body, self.q.tolist(), self.tau.tolist(), X)

    def solve(self, a1):
        """Return the sum of forces f.

        Force f_2 and acceleration of the joint for an acceleration of 1.

        S^T f_2 = tau - armature qdd, f_2 = I_2 (a_1 + c + S qdd) + p_2.
        """
        n = len(self.tau)
        A = np.block([[np.eye(6), -self.I2 @ self.S], [self.S.T, self.armature * np.eye(n)]])
        b = np.concatenate([self.I2 @ (a1 + self.c) + self.p2, self.tau])
        f2, qdd = np.split(np.linalg.solve(A, b), [6])
        return self.I1 @ a1 + self.p1 + f2, f2, qdd

    @property
    def equation(self):
        """I and p of f = I a_1 + p."""
        p = self.solve(np.zeros(6))[0]
        return np.transpose([self.solve(a)[0] - p for a in np.eye(6)]), p

    def assembly_by_inverse_inertia(self):
        Phi1, Phi2 = np.linalg.inv(self.I1), np.linalg.inv(self.I2)
        b1, b2 = -Phi1 @ self.p1, -Phi2 @ self.p2
        parts = (x.tolist() for x in (Phi1, b1, Phi2, b2, self.c))
        return assembled_inverse(*parts, self.force)

    def by_constraints(self):
        parts = (x.tolist() for x in (self.I1, self.p1, self.I2, self.p2, self.c))
        return assembled_by_constraints(*parts, self.force)


@pytest.mark.seed('AB06', kind='full')
@ARMATURES
@every_joint
def test_standard_formulae(joint, armature):
    """I_1 + I^a and p_1 + p^a (book eq 7.19 to 7.24)."""
    pair = Pair(joint, armature)
    Ia, pa = propagated(
        ArticulatedBodyInertia.from_matrix(pair.I2),
        ForceVector.from_array(pair.p2),
        pair.motions,
        MotionVector.from_array(pair.c),
        pair.tau.tolist(),
        armature,
    )
    I, p = pair.equation
    assert_allclose(pair.I1 + Ia.matrix(), I, atol=1e-12)
    assert_allclose(pair.p1 + pa.to_array(), p, atol=1e-12)
    if armature == 0.0:
        assert_allclose(Ia.matrix() @ pair.S, 0.0, atol=1e-12)


@pytest.mark.seed('AB11', kind='full')
@ARMATURES
@every_joint
def test_variant_1_is_the_inverse_of_the_standard_formulae(joint, armature):
    """Inverse inertia and bias acceleration; force and acceleration of the joint."""
    pair = Pair(joint, armature)
    found = pair.assembly_by_inverse_inertia()
    I, p = pair.equation
    assert_allclose(found.Phi, np.linalg.inv(I), atol=1e-13)
    assert_allclose(found.b, -np.linalg.solve(I, p), atol=1e-13)
    a1 = np.linspace(-1.0, 1.0, 6)
    f, f2, qdd = pair.solve(a1)
    variables = found.force_variables(f.tolist())
    assert_allclose(pair.force.total(variables), f2, atol=1e-12)
    a2 = np.linalg.solve(pair.I2, f2 - pair.p2)
    assert_allclose(pair.force.rate(a1, a2, pair.c), qdd, atol=1e-12)


@pytest.mark.seed('AB11', kind='full')
@ARMATURES
@every_joint
def test_variant_2_agrees_with_the_standard_formulae(joint, armature):
    pair = Pair(joint, armature)
    found = pair.by_constraints()
    I, p = pair.equation
    assert_allclose(found.I, I, atol=1e-12)
    assert_allclose(found.p, p, atol=1e-12)
    a1 = np.linspace(-1.0, 1.0, 6)
    variables = found.force_variables(a1.tolist())
    assert_allclose(pair.force.total(variables), pair.solve(a1)[1], atol=1e-12)


@every_joint
def test_constraint_force_does_no_work_and_the_rest_is_active(joint):
    """f_2 = T_a (tau - armature qdd) + T lambda."""
    for armature in (0.0, 0.3):
        pair = Pair(joint, armature)
        a1 = np.linspace(-1.0, 1.0, 6)
        _, f2, qdd = pair.solve(a1)
        found = pair.force.constraint(pair.by_constraints().force_variables(a1.tolist()))
        assert_allclose(pair.S.T @ found, 0.0, atol=1e-12)
        Ta = np.array(pair.force.Ta).T
        assert_allclose(found + Ta @ (pair.tau - armature * qdd), f2, atol=1e-12)


@every_joint
def test_active_forces_have_unit_power_on_their_dofs(joint):
    S = joint.motion_subspace([0.4] * joint.nq)
    for k, column in enumerate(active_forces(S)):
        assert_allclose(S.T @ ForceVector.from_array(column), np.eye(joint.nv)[k], atol=1e-15)


@pytest.mark.seed('AB11')
def test_variant_1_takes_handles_that_do_not_move_freely():
    """A handle on a hinge gets a hinge more: T^T (Phi_1 + Phi_2) T must be regular, no more."""
    rng = np.random.default_rng(3)
    I1, I2 = (dense.positive_definite(rng, 6) for _ in range(2))
    p1, p2, c = rng.normal(size=(3, 6))
    S1, S = np.eye(6)[:, :1], np.eye(6)[:, 1:2]
    T = np.eye(6)[:, [0, 2, 3, 4, 5]]
    Phi1 = S1 @ np.linalg.inv(S1.T @ I1 @ S1) @ S1.T  # book eq 3.54
    b1 = -Phi1 @ p1
    Phi2 = np.linalg.inv(I2)
    none = [0.0] * 5
    joint = JointForce(T.T.tolist(), [0.0] * 6, none, none, S.T.tolist(), 5)
    found = assembled_inverse(*(x.tolist() for x in (Phi1, b1, Phi2, -Phi2 @ p2, c)), joint)
    # H and C of both hinges in generalized coordinates
    J = np.hstack([S1, S])
    H = S1.T @ I1 @ S1 * np.array([[1.0, 0.0], [0.0, 0.0]]) + J.T @ I2 @ J
    C = np.array([S1[:, 0] @ p1, 0.0]) + J.T @ (I2 @ c + p2)
    J1 = np.hstack([S1, np.zeros((6, 1))])
    assert_allclose(found.Phi, J1 @ np.linalg.solve(H, J1.T), atol=1e-14)
    assert_allclose(found.b, -J1 @ np.linalg.solve(H, C), atol=1e-14)
    assert np.linalg.matrix_rank(np.array(found.Phi)) == 1


def composite(blocks, right, slope):
    """Return the solution of a composite equation of table 7.2 as a constant and a slope.

    :param blocks: coefficient matrix by blocks
    :param right: its constant right-hand side
    :param slope: what multiplies the unknown on the right, (rows, 6)
    """
    A = np.block(blocks)
    constant = np.linalg.solve(A, np.concatenate(right))
    return constant, np.linalg.solve(A, np.vstack(slope))


@pytest.mark.seed('AB10', kind='full')
@pytest.mark.seed('AB11', kind='full')
@every_joint
def test_formulae_follow_from_the_printed_composite_equations(joint):
    """All three of table 7.2, as they stand before elimination; the first unknown is sought."""
    pair = Pair(joint, 0.0)
    nf, nc = joint.nv, 6 - joint.nv
    one, zero = np.eye(6), np.zeros((6, 6))
    S, T = pair.S, np.array(pair.force.T).reshape(nc, 6).T
    nS, nT, none = np.zeros((6, nf)), np.zeros((6, nc)), np.zeros(6)
    active = np.array(pair.force.Ta).reshape(nf, 6).T @ pair.tau
    I1, I2, p1, p2, c = pair.I1, pair.I2, pair.p1, pair.p2, pair.c

    constant, slope = composite(
        [
            [one, -one, -one, zero, nS],
            [zero, one, zero, zero, nS],
            [zero, zero, one, -I2, nS],
            [zero, zero, zero, one, -S],
            [nS.T, nS.T, S.T, nS.T, np.zeros((nf, nf))],
        ],
        [none, p1, p2, c, pair.tau],
        [zero, I1, zero, one, nS.T],
    )
    I, p = pair.equation
    assert_allclose(slope[:6], I, atol=1e-12)
    assert_allclose(constant[:6], p, atol=1e-12)

    found = pair.by_constraints()
    constant, slope = composite(
        [
            [one, -one, -one, zero, nT],
            [zero, one, zero, zero, nT],
            [zero, zero, one, -I2, nT],
            [zero, zero, one, zero, -T],
            [nT.T, nT.T, nT.T, T.T, np.zeros((nc, nc))],
        ],
        [none, p1, p2, active, T.T @ c],
        [zero, I1, zero, zero, T.T],
    )
    assert_allclose(slope[:6], found.I, atol=1e-12)
    assert_allclose(constant[:6], found.p, atol=1e-12)
    a1 = np.linspace(-1.0, 1.0, 6)
    variables = constant[24:] + slope[24:] @ a1
    assert_allclose(found.force_variables(a1.tolist()), variables, atol=1e-12)

    Phi1, Phi2 = np.linalg.inv(I1), np.linalg.inv(I2)
    found = pair.assembly_by_inverse_inertia()
    constant, slope = composite(
        [
            [one, zero, -Phi1, zero, nT],
            [zero, one, zero, -Phi2, nT],
            [zero, zero, one, one, nT],
            [zero, zero, zero, one, -T],
            [-T.T, T.T, nT.T, nT.T, np.zeros((nc, nc))],
        ],
        [-Phi1 @ p1, -Phi2 @ p2, none, active, T.T @ c],
        [zero, zero, one, zero, nT.T],
    )
    assert_allclose(slope[:6], found.Phi, atol=1e-13)
    assert_allclose(constant[:6], found.b, atol=1e-13)
    variables = constant[24:] + slope[24:] @ a1
    assert_allclose(found.force_variables(a1.tolist()), variables, atol=1e-12)


@pytest.mark.seed('AB13')
def test_a_joint_that_repeats_a_constraint_makes_its_matrix_singular():
    """Two handles that cannot leave a plane, and a joint that keeps them at one height in it."""
    Phi = np.diag([0.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    height = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    joint = JointForce([height], [0.0] * 6, [0.0], [0.0], [], 1)
    nothing = [0.0] * 6
    with pytest.raises(ZeroDivisionError):
        assembled_inverse(Phi.tolist(), nothing, Phi.tolist(), nothing, nothing, joint)
    free = np.eye(6).tolist()
    found = assembled_inverse(Phi.tolist(), nothing, free, nothing, nothing, joint)
    assert_allclose(found.Phi, Phi, atol=1e-15)
