# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels against Pinocchio: all functions on some robots, two on all.

With RBD_ROS_TEST_EVERYTHING=1, all functions on all robots (half an hour when nothing is cached).
"""

import os

import numpy as np
import pytest
from support import example_robots
from support.errors import record, worst_relative_error
from support.pinocchio_bridge import Bridge

from rbd_ros import Robot

STATES = 100
SINGLE = 5  # states that also go through the one-state kernel
TOLERANCE = 1e-11
EVERYTHING = os.environ.get('RBD_ROS_TEST_EVERYTHING') == '1'
ALL_FUNCTIONS = (
    'ur5_robot',
    'panda',
    'kinova',
    'baxter',
    'solo12',
    'so101',
    'double_pendulum_continuous',
    'bolt',
)
# On a floating base as well, which is one more joint below all others: a joint that mimics
# another, continuous joints, legs. In test_against_pinocchio.py, the texts run on all robots and
# both bases.
FREED = ('panda', 'kinova', 'double_pendulum_continuous', 'solo12')
# Compiled as for users, like forward dynamics of all; the others without optimization and without
# SIMD groups of isomorphic branches (see test/conftest.py).
OPTIMIZED_ROBOTS = ('ur5_robot', *FREED)
MAX_DOFS = 38  # degrees of freedom; compiling more takes longer than it teaches

CASES = [(name, base) for name in example_robots.varied() for base in ('fixed', 'floating')]


class Case:
    """A robot compiled, its bridge, and random states."""

    def __init__(self, name, floating_base):
        path = example_robots.loadable()[name]
        text = example_robots.dynamics_xml(path.read_text(), name != 'alex_psyonic_hands')
        self.name = f'{name}, {"floating" if floating_base else "fixed"} base'
        self.bridge = Bridge(text, floating_base)
        self.robot = Robot.from_urdf(
            path if name != 'alex_psyonic_hands' else text, floating_base=floating_base
        )
        self.q, self.v, self.a = self.bridge.layout.random_states(
            np.random.default_rng(len(text)), STATES
        )
        self.link = self.bridge.layout.links[-1]

    def check(self, what, ours, theirs, arrays, tolerance=TOLERANCE):
        """Compare a function in a batch and, for some states, one by one."""
        expected = np.array([theirs(*row) for row in zip(*arrays)])
        error = worst_relative_error(ours(*arrays), expected)
        single = np.array([ours(*row) for row in zip(*(x[:SINGLE] for x in arrays))])
        error = max(error, worst_relative_error(single, expected[:SINGLE]))
        record('compiled - Pinocchio', what, self.name, error)
        assert error < tolerance, f'{what} of {self.name}: relative error {error:.1e}'


@pytest.fixture(autouse=True)
def level_of_optimization(request, monkeypatch):
    """Set the level that users have, for some robots and for one function of all."""
    optimized = request.node.callspec.params['name'] in OPTIMIZED_ROBOTS
    if EVERYTHING or optimized or request.function is test_forward_dynamics:
        monkeypatch.setenv('RBD_ROS_OPTIMIZATION', '1')


def is_compared(name, base, function):
    """Return whether a test belongs to the everyday run."""
    return (
        EVERYTHING
        or (name in ALL_FUNCTIONS and (base == 'fixed' or name in FREED))
        or (
            function in ('inverse_dynamics', 'forward_dynamics')
            and base == ('floating' if name == 'talos_full_v2' else 'fixed')
        )
    )


def parametrize(function):
    return pytest.mark.parametrize(
        'name, base', [case for case in CASES if is_compared(*case, function)]
    )


_cases = {}


def case_of(name, base):
    """Return the case of a robot.

    The last few are kept, so that all tests of a robot share its kernels.
    """
    if (name, base) not in _cases:
        case = Case(name, base == 'floating')
        if case.robot.nv > MAX_DOFS and not EVERYTHING:
            pytest.skip(f'{case.robot.nv} degrees of freedom: only with RBD_ROS_TEST_EVERYTHING=1')
        if len(_cases) > 20:
            _cases.clear()
        _cases[name, base] = case
    return _cases[name, base]


@pytest.mark.seed('ID04')
@parametrize('inverse_dynamics')
def test_inverse_dynamics(name, base):
    case = case_of(name, base)
    case.check(
        'inverse_dynamics',
        case.robot.inverse_dynamics,
        case.bridge.inverse_dynamics,
        (case.q, case.v, case.a),
    )


@pytest.mark.seed('AB08', 'GR01')
@parametrize('forward_dynamics')
def test_forward_dynamics(name, base):
    case = case_of(name, base)
    if name in example_robots.SINGULAR:
        pytest.skip('see test_massless_joints')
    # Rounding of H alone moves the solution by cond(H) eps; see
    # test_against_pinocchio.forward_tolerance.
    conditions = (
        np.linalg.cond([case.bridge.mass_matrix(q) for q in case.q]) if case.robot.nv else [0.0]
    )
    tau = np.array([case.bridge.inverse_dynamics(*row) for row in zip(case.q, case.v, case.a)])
    case.check(
        'forward_dynamics',
        case.robot.forward_dynamics,
        case.bridge.forward_dynamics,
        (case.q, case.v, tau),
        max(TOLERANCE, 4 * np.finfo(float).eps * max(conditions)),
    )


@pytest.mark.seed('ID05', 'ID10', 'FM05', 'BL02', 'BL07', 'SV18', 'FB07')
@pytest.mark.parametrize(
    'function',
    [
        'mass_matrix',
        'gravity_torque',
        'bias_force',
        'coriolis_matrix',
        'center_of_mass',
        'center_of_mass_jacobian',
        'energy',
        'momentum',
    ],
)
@parametrize('')
def test_function_of_the_state(name, base, function):
    case = case_of(name, base)
    if case.robot.nv == 0 and function.startswith(('center', 'momentum')):
        pytest.skip('nothing moves')
    with_velocity = function in ('bias_force', 'coriolis_matrix', 'energy', 'momentum')
    ours = getattr(case.robot, function)
    if function == 'energy':

        def ours(*arrays):
            return np.stack(case.robot.energy(*arrays), axis=-1)

    arrays = (case.q, case.v) if with_velocity else (case.q,)
    case.check(function, ours, getattr(case.bridge, function), arrays)


@pytest.mark.seed('MD08')
@parametrize('')
def test_forward_kinematics(name, base):
    case = case_of(name, base)
    links = case.robot.link_names

    def stacked(poses):
        return np.stack([poses[link] for link in links], axis=-3)

    case.check(
        'forward_kinematics',
        lambda q: stacked(case.robot.forward_kinematics(q)),
        lambda q: stacked(case.bridge.forward_kinematics(q)),
        (case.q,),
    )


@pytest.mark.seed('MD06', 'SV17')
@pytest.mark.parametrize('reference', ['body', 'base', 'aligned'])
@parametrize('')
def test_jacobians(name, base, reference):
    case = case_of(name, base)
    link = case.link
    case.check(
        f'jacobian {reference}',
        lambda q: case.robot.jacobian(q, link, reference),
        lambda q: case.bridge.jacobian(q, link, reference),
        (case.q,),
    )
    case.check(
        f'jacobian_derivative {reference}',
        lambda q, v: case.robot.jacobian_derivative(q, v, link, reference),
        lambda q, v: case.bridge.jacobian_derivative(q, v, link, reference),
        (case.q, case.v),
    )


@pytest.mark.seed('MD06')
@parametrize('')
def test_point_jacobians(name, base):
    case = case_of(name, base)
    link, point = case.link, np.array([0.3, -0.2, 0.5])
    case.check(
        'point_jacobian',
        lambda q: case.robot.point_jacobian(q, link, point),
        lambda q: case.bridge.point_jacobian(q, link, point),
        (case.q,),
    )
    case.check(
        'point_jacobian_derivative',
        lambda q, v: case.robot.point_jacobian_derivative(q, v, link, point),
        lambda q, v: case.bridge.point_jacobian_derivative(q, v, link, point),
        (case.q, case.v),
    )


@pytest.mark.seed('BL05', 'ID04')
@parametrize('')
def test_external_forces_on_several_links(name, base):
    case = case_of(name, base)
    rng = np.random.default_rng(3)
    links = [case.bridge.layout.links[k] for k in (0, len(case.bridge.layout.links) // 2, -1)]
    forces = {link: rng.uniform(-10, 10, (STATES, 6)) for link in links}
    stacked = np.stack(list(forces.values()), axis=1)

    def ours(q, v, a, f):
        f = np.moveaxis(f, -2, 0)
        return case.robot.inverse_dynamics(q, v, a, external_forces=dict(zip(forces, f)))

    def theirs(q, v, a, f):
        return case.bridge.inverse_dynamics(q, v, a, dict(zip(forces, f)))

    case.check('inverse_dynamics, forces', ours, theirs, (case.q, case.v, case.a, stacked))


@pytest.mark.parametrize(
    'name', [name for name in example_robots.SINGULAR if name in example_robots.loadable()]
)
def test_massless_joints_are_reported_by_name(name):
    """Their inverse dynamics is fine; forward dynamics names the joints that move no mass."""
    case = Case(name, False)
    H = case.robot.mass_matrix(case.q[0])
    massless = [joint.name for joint in case.bridge.layout.joints if not np.any(H[joint.v])]
    if not massless:
        # icub: tiny inertias, none zero. The mass matrix is regular, if barely.
        assert np.all(np.isfinite(case.robot.forward_dynamics(case.q[0], case.v[0], case.v[0])))
        return
    with pytest.raises(ValueError) as error:
        case.robot.forward_dynamics(case.q[0], case.v[0], case.v[0])
    assert all(joint in str(error.value) for joint in massless), str(error.value)
