# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Identities of the dynamics unit test of spatial_v2_extended, on the same six kinds of trees.

They have a fixed base, a floating base, or a floating base with a spherical joint, each without
rotors and with rotors as bodies geared to the joints. Derivatives are Richardson's on the
configuration manifold.
"""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.all_joints import slope

from rbd_ros import Robot
from rbd_ros.model import Body, Coupling, Link, Model
from rbd_ros.model.joints import Floating, Revolute, Spherical
from rbd_ros.spatial import PluckerTransform
from rbd_ros.spatial.pseudo_inertia import from_log_cholesky

PARENTS = (0, 1, 1, 2, 3, 3, 4, 6)
KINDS = {
    'fixed base': {},
    'floating base': {1: Floating()},
    'floating base, spherical joint': {1: Floating(), 3: Spherical()},
}
variants = pytest.mark.parametrize('rotors', [False, True], ids=['', 'rotors'])
kinds = pytest.mark.parametrize('kind', KINDS)


def unit(rng):
    x = rng.normal(size=3)
    return tuple((x / np.linalg.norm(x)).tolist())


def placement(rng):
    E = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    E *= np.linalg.det(E)
    return PluckerTransform(tuple(map(tuple, E.tolist())), tuple(rng.normal(size=3).tolist()))


def inertia(rng):
    return from_log_cholesky(rng.normal(scale=0.5, size=10) - [0, *[1.0] * 3, *[0] * 6])


def model(kind, rotors, gravity=(0.4, -2.0, -9.0)):
    rng = np.random.default_rng(8)
    bodies, couplings = [], []
    for i, parent in enumerate(PARENTS, 1):
        joint = KINDS[kind].get(i, Revolute(unit(rng)))
        bodies.append(Body(f'body{i}', parent, f'joint{i}', joint, placement(rng), inertia(rng)))
    for i in range(1, len(PARENTS) + 1):
        of = bodies[i - 1]
        if rotors and isinstance(of.joint, Revolute):
            rotor = Revolute(unit(rng))
            bodies.append(
                Body(f'rotor{i}', of.parent, f'motor{i}', rotor, placement(rng), inertia(rng))
            )
            couplings.append(Coupling(len(bodies), i, rng.uniform(2.0, 9.0), 0.0))
    links = [
        Link(body.name, k, PluckerTransform.identity(), body.inertia)
        for k, body in enumerate(bodies, 1)
    ]
    return Model.create('tree', bodies, links, couplings=couplings).with_gravity(gravity)


class Case:
    """A robot, a state of it, and the quantities that the identities are about."""

    def __init__(self, kind, rotors):
        self.robot = robot = Robot(model(kind, rotors))
        rng = np.random.default_rng(3)
        self.q = robot.random_configuration(rng)
        self.v, self.v_r, self.a = rng.uniform(size=(3, robot.nv))
        self.zero = np.zeros(robot.nv)
        self.H, self.C = robot.mass_matrix(self.q), robot.coriolis_matrix(self.q, self.v)
        self.g = robot.gravity_torque(self.q)
        self.tau = robot.inverse_dynamics(self.q, self.v, self.a)

    def along(self, function, direction=None):
        """Return the rate of a function of the configuration, moving along a velocity."""
        v = self.v if direction is None else direction
        return slope(lambda t: function(np.asarray(self.robot.integrate(self.q, t * v))))


@pytest.fixture(scope='module')
def cases():
    made = {}

    def case(kind, rotors):
        if (kind, rotors) not in made:
            made[kind, rotors] = Case(kind, rotors)
        return made[kind, rotors]

    return case


@pytest.fixture
def case(cases, kind, rotors):
    return cases(kind, rotors)


def motion_transform(E, r):
    """Return the motion transform to axes E at r, (6, 6) (book eq 2.24)."""
    rx = np.cross(np.eye(3), r)
    return np.block([[E, np.zeros((3, 3))], [-E @ rx, E]])


def close(found, expected, tolerance=1e-11):
    assert_allclose(found, expected, rtol=0.0, atol=tolerance * max(1.0, np.abs(expected).max()))


@kinds
@variants
def test_dynamics(case):
    """H, C v, tau, accelerations, kinetic energy, the inverse of H."""
    robot, q, v, a = case.robot, case.q, case.v, case.a
    H, C, g = case.H, case.C, case.g
    both = robot.equations_of_motion(q, v)
    close(both.H, H)
    close(C @ v, robot.bias_force(q, v) - g)
    close(both.C, C @ v + g)
    close(case.tau, H @ a + C @ v + g)
    close(robot.forward_dynamics(q, v, case.tau), a, 1e-9)
    close(robot.energy(q, v).kinetic, 0.5 * v @ H @ v)
    close(robot.inverse_mass_matrix(q) @ H, np.eye(robot.nv), 1e-9)


@kinds
@variants
def test_momentum(case):
    """Generalized momentum p = H v, its rate tau - g + C^T v (Hamilton), and dH/dt = C + C^T."""
    robot, q, v = case.robot, case.q, case.v
    close(robot.inverse_dynamics(q, case.zero, v) - case.g, case.H @ v)
    rate = case.along(robot.mass_matrix)
    close(case.C + case.C.T, rate, 1e-8)
    close(case.tau - case.g + case.C.T @ v, rate @ v + case.H @ case.a, 1e-8)


@variants
@pytest.mark.parametrize('kind', list(KINDS)[1:])
def test_a_floating_base_feels_the_whole_robot(case):
    """The first six rows of H and H v, seen from the base."""
    robot, q, v = case.robot, case.q, case.v
    frame = robot.frame('body1')
    X = np.linalg.inv(frame.jacobian(q)[:, :6])
    locked = X.T @ case.H[:6, :6] @ X  # composite inertia in the body's coordinates
    pose = frame.pose(q)
    to_body = motion_transform(pose[:3, :3].T, pose[:3, 3])
    if not robot.model.couplings:
        close(to_body.T @ X.T @ (case.H[:6] @ v), robot.momentum(q, v))
        to_center = motion_transform(np.eye(3), robot.center_of_mass(q))
        seen_from_base = to_body.T @ locked @ to_body
        close(to_center.T @ robot.centroidal.inertia(q) @ to_center, seen_from_base, 1e-10)
    assert np.linalg.eigvalsh(locked).min() > 0.0


@kinds
@variants
def test_jacobians(case):
    robot, q, v = case.robot, case.q, case.v
    for reference in ('body', 'base', 'aligned'):
        frame = robot.frame('body8', reference)
        close(frame.jacobian_derivative(q, v), case.along(frame.jacobian), 1e-8)


@kinds
@variants
def test_christoffel_symbols(case):
    """C is linear in the velocity, with the coefficients of Koszul's formula."""
    robot, q, v, n = case.robot, case.q, case.v, case.robot.nv
    gamma = robot.coriolis_tensor(q)
    for k in range(n):
        close(gamma[:, :, k], robot.coriolis_matrix(q, np.eye(n)[k]))
    close(gamma @ v, case.C)
    dH = np.stack([case.along(robot.mass_matrix, e) for e in np.eye(n)], axis=2)
    close(dH @ v, case.C + case.C.T, 1e-8)
    derivatives = robot.derivatives.mass_matrix(q)
    close(derivatives.dH_dq, dH, 1e-8)
    # Structure constants: brackets of the joints' own velocities, lowered by H
    bracket = np.zeros((n, n, n))  # [e_j, e_k] along e_i
    for i, (_, at) in robot.model.independent_slices.items():
        joint = robot.model.body(i).joint
        for j in range(joint.nv):
            for k in range(joint.nv):
                axes = np.eye(joint.nv)
                bracket[at, at.start + j, at.start + k] = joint.bracket(axes[j], axes[k])
    lowered = np.einsum('im,mjk->ijk', case.H, bracket)
    koszul = 0.5 * (
        dH
        + np.einsum('ikj->ijk', dH)
        - np.einsum('kji->ijk', dH)
        + np.einsum('ikj->ijk', lowered)
        - np.einsum('kji->ijk', lowered)
        + np.einsum('jik->ijk', lowered)
    )
    close(gamma, koszul, 1e-8)


@kinds
def test_regressors(cases, kind):
    """Those of tau, of Slotine and Li, of H, g, H v and C^T v."""
    case = cases(kind, False)
    robot, q, v, zero = case.robot, case.q, case.v, case.zero
    Y, pi = robot.regressors, robot.regressors.parameters
    close(Y.torque(q, v, case.a) @ pi, case.tau)
    weight = Y.torque(q, zero, zero)
    close(weight @ pi, case.g)
    for k, column in enumerate(np.eye(robot.nv)):
        close((Y.torque(q, zero, column) - weight) @ pi, case.H[:, k])
    close((Y.torque(q, zero, v) - weight) @ pi, case.H @ v)
    # C^T v = dH/dt v - C v
    rate = case.along(lambda x: Y.torque(x, zero, v) - Y.torque(x, zero, zero))
    quadratic = Y.torque(q, v, zero) - weight
    close((rate - quadratic) @ pi, case.C.T @ v, 1e-8)
    reference = Y.slotine_li(q, v, case.v_r, case.a)
    close(reference @ pi, case.H @ case.a + case.C @ case.v_r + case.g)
