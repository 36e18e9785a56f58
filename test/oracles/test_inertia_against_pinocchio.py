# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kernels of chapters 5 and 6 against Pinocchio on further real robots."""

import numpy as np
import pytest
from support import example_robots
from support.errors import record, worst_relative_error
from support.pinocchio_bridge import Bridge, pin

from rbd_ros import Robot
from rbd_ros.algorithms.inertia_matrix.expanded_parents import expanded_parents, pattern
from rbd_ros.textbook.tree_dynamics.sparse_factors import (
    factorize_ltdl,
    factorize_ltl,
    solve_ltdl,
    solve_ltl,
)

STATES = 20
TOLERANCE = 1e-11
ROBOTS = ('ur5_robot', 'panda', 'solo12', 'so101', 'double_pendulum_continuous', 'bolt')
CASES = [(name, base) for name in ROBOTS for base in ('fixed', 'floating')]
# The size of the Coriolis tensor grows with the cube of the DoFs.
LARGE = [*((name, 'floating') for name in ('panda', 'solo12', 'bolt')), ('solo12', 'fixed')]
SMALL = [case for case in CASES if case not in LARGE]
_cases = {}


class Case:
    """A robot, its bridge, and random states."""

    def __init__(self, name, floating_base):
        path = example_robots.path(name)
        text = example_robots.dynamics_xml(path.read_text())
        self.name = f'{name}, {"floating" if floating_base else "fixed"} base'
        self.bridge = Bridge(text, floating_base)
        self.robot = Robot.from_urdf(path, floating_base=floating_base)
        rng = np.random.default_rng(len(text))
        self.q, self.v, self.a = self.bridge.layout.random_states(rng, STATES)

    def each(self, function, *arrays):
        return np.array([function(*row) for row in zip(*arrays)])

    def check(self, what, ours, theirs, tolerance=TOLERANCE):
        error = worst_relative_error(np.asarray(ours), theirs)
        record('compiled - Pinocchio', what, self.name, error)
        assert error < tolerance, f'{what} of {self.name}: relative error {error:.1e}'


@pytest.fixture(params=CASES, ids=lambda case: ', '.join(case))
def case(request):
    name, base = request.param
    if request.param not in _cases:
        _cases[request.param] = Case(name, base == 'floating')
    return _cases[request.param]


@pytest.mark.seed('FM03', 'BL03', kind='full')
@pytest.mark.seed('FM02', 'FO04', kind='part')
@pytest.mark.parametrize(
    'name',
    ['crba_absolute', 'mass_matrix_by_columns', 'mass_matrix_from_jacobians', 'crba_by_subtrees'],
)
def test_mass_matrix_by_every_algorithm(case, name):
    expected = case.each(case.bridge.mass_matrix, case.q)
    found = case.robot.kernel(name).function(case.q)
    case.check(name, found.H if name == 'crba_by_subtrees' else found, expected)


@pytest.mark.seed('FM05', kind='full')
def test_force_on_the_base_is_the_momentum_of_unit_velocities(case):
    """Pinocchio's centroidal momentum, moved to the base's origin."""
    F = case.robot.kernel('crba_by_subtrees').function(case.q).F
    expected = case.each(case.bridge.momentum, case.q, case.v)
    case.check('F v', (F @ case.v[..., None])[..., 0], expected)


@pytest.mark.seed('ID10', kind='full')
def test_product_with_the_mass_matrix(case):
    H = case.each(case.bridge.mass_matrix, case.q)
    expected = (H @ case.a[..., None])[..., 0]
    case.check('id_delta', case.robot.kernel('id_delta').function(case.q, case.a), expected)


@pytest.mark.seed('ID03', kind='full')
def test_inverse_dynamics_in_base_coordinates(case):
    expected = case.each(case.bridge.inverse_dynamics, case.q, case.v, case.a)
    function = case.robot.kernel('rnea_absolute').function
    case.check('rnea_absolute', function(case.q, case.v, case.a), expected)


@pytest.mark.seed('ID08', kind='full')
@pytest.mark.parametrize('name', ['ur5_robot', 'so101', 'double_pendulum_continuous'])
def test_inverse_dynamics_in_3d_vectors(name):
    """Of those that are chains of revolute joints."""
    case = Case(name, False)
    expected = case.each(case.bridge.inverse_dynamics, case.q, case.v, case.a)
    function = case.robot.kernel('luh_walker_paul').function
    case.check('luh_walker_paul', function(case.q, case.v, case.a), expected)


@pytest.mark.seed('ID06', kind='full')
def test_coriolis_torque(case):
    bias = case.each(case.bridge.bias_force, case.q, case.v)
    expected = bias - case.each(case.bridge.gravity_torque, case.q)
    found = case.robot.coriolis_torque(case.q, case.v)
    scale = np.abs(bias).max() / np.abs(expected).max()
    case.check('coriolis_torque', found, expected, TOLERANCE * max(1.0, scale))


@pytest.mark.seed('ID02', 'BL02', kind='full')
@pytest.mark.parametrize('case', SMALL, indirect=True, ids=', '.join)
def test_coriolis_tensor_gives_the_matrix_and_the_force(case):
    C = case.robot.coriolis_tensor(case.q)
    matrix = np.einsum('sijk,sk->sij', C, case.v)
    case.check('C v', matrix, case.each(case.bridge.coriolis_matrix, case.q, case.v))
    tau = case.robot.kernel('closed_form_inverse_dynamics').function(case.q, case.v, case.a)
    expected = case.each(case.bridge.inverse_dynamics, case.q, case.v, case.a)
    case.check('closed form', tau, expected)


@pytest.mark.seed('BL04', kind='full')
def test_coriolis_matrix_from_jacobians_gives_the_force(case):
    C = case.robot.kernel('coriolis_matrix_from_jacobians').function(case.q, case.v)
    bias = case.each(case.bridge.bias_force, case.q, case.v)
    expected = bias - case.each(case.bridge.gravity_torque, case.q)
    scale = np.abs(bias).max() / np.abs(expected).max()
    product = (C @ case.v[..., None])[..., 0]
    case.check('C v', product, expected, TOLERANCE * max(1.0, scale))


def test_inverse_mass_matrix(case):
    """Pinocchio's own; where joints mimic others, which it leaves free, the inverse of its H."""
    bridge = case.bridge
    H = case.each(bridge.mass_matrix, case.q)

    def inverse(q):
        if bridge.has_mimic:
            return np.linalg.inv(bridge.mass_matrix(q))
        upper = np.triu(pin.computeMinverse(bridge.model, bridge.data, bridge.q(q)))
        full = upper + np.triu(upper, 1).T
        P = np.linalg.inv(bridge.P)
        return P @ full @ P.T

    tolerance = max(TOLERANCE, 4 * np.finfo(float).eps * max(map(np.linalg.cond, H)))
    found = case.robot.inverse_mass_matrix(case.q)
    case.check('inverse_mass_matrix', found, case.each(inverse, case.q), tolerance)


@pytest.mark.seed('FM08', 'FM09', 'FM11', kind='full')
@pytest.mark.seed('FM07', kind='part')
def test_sparse_factors_solve_for_accelerations(case):
    """Zeros of our mass matrix are those of the tree; the numbers are Pinocchio's."""
    if case.bridge.has_mimic:
        model = case.robot.model
        assert model.couplings and model.nv < len(expanded_parents(model))
        return
    parents = expanded_parents(case.robot.model)
    places = np.array(pattern(parents))
    q, tau = case.q[0], 10.0 * case.a[0]
    H = case.bridge.mass_matrix(q)
    assert np.abs(H[~places]).max(initial=0.0) < 1e-12 * np.abs(H).max()
    expected = np.linalg.solve(H, tau)
    tolerance = max(TOLERANCE, 10 * np.finfo(float).eps * np.linalg.cond(H))
    for factorize, solve in ((factorize_ltl, solve_ltl), (factorize_ltdl, solve_ltdl)):
        factors, x = H.copy(), tau.copy()
        factorize(factors, parents)
        solve(factors, x, parents)
        case.check(factorize.__name__, x[None], expected[None], tolerance)
        L = np.where(places, np.tril(factors), 0.0)
        D = np.eye(len(H))
        if factorize is factorize_ltdl:
            D = np.diag(np.diag(L))
            L[np.diag_indices(len(L))] = 1.0
        case.check('L^T D L', (L.T @ D @ L)[None], H[None], 1e-12)
