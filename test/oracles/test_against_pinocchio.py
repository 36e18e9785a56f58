# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every algorithm against Pinocchio on every real robot, fixed and floating, 100 states each.

The algorithms run on batches (`support.lanes`) without compilation;
test_compiled_against_pinocchio.py tests the kernels that users call, and test_three_ways.py
compares both.
"""

import numpy as np
import pytest
from support import example_robots, lanes, outside, random_trees
from support.definitions import definition_of
from support.errors import record, worst_relative_error
from support.pinocchio_bridge import Bridge

from rbd_ros import Robot

pin = outside.load('pinocchio')

STATES = 100
TOLERANCE = (
    1e-11  # the promise of the project; measured: below 1e-12 but for forward dynamics, see there
)
FRAMES = 3  # links whose Jacobians are compared: the first, the middle and the last
# On a floating base, which is one more joint below all of them, the last alone.
REFERENCES = ('body', 'base', 'aligned')


class Case:
    """One robot in both worlds, and random states."""

    def __init__(self, name, text, floating_base):
        self.name = f'{name}, {"floating" if floating_base else "fixed"} base'
        self.bridge = Bridge(text, floating_base)
        self.robot = Robot.from_urdf(text, floating_base=floating_base)
        layout = self.bridge.layout
        self.q, self.v, self.a = layout.random_states(np.random.default_rng(len(text)), STATES)
        links = layout.links
        self.links = [
            links[k] for k in sorted({round(x) for x in np.linspace(0, len(links) - 1, FRAMES)})
        ]
        self.frames = self.links[-1:] if floating_base else self.links

    def ours(self, function, *arrays, **options):
        """Return the result of a function of ours for a batch."""
        return lanes.evaluate(definition_of(self.robot.model, function, **options), *arrays)

    def compare(self, function, ours, theirs):
        """Assert that a batch agrees; remember by how much."""
        error = worst_relative_error(ours, theirs)
        record('algorithm - Pinocchio', function, self.name, error)
        assert error < TOLERANCE, f'{function} of {self.name}: relative error {error:.1e}'

    def each(self, function, *arrays):
        """Return the result of a function of the bridge for each state."""
        return np.array([function(*row) for row in zip(*arrays)])


CASES = {
    f'{name}-{"floating" if floating_base else "fixed"}': (name, floating_base)
    for name in example_robots.varied()
    for floating_base in (False, True)
}
RANDOM_TREES = {
    f'random{seed}-{base}': (seed, base == 'floating')
    for seed in range(8)
    for base in ('fixed', 'floating')
}


@pytest.fixture(scope='module', params=[*CASES, *RANDOM_TREES])
def case(request):
    """Return each real robot and some random trees with every joint type.

    On both kinds of base.
    """
    if request.param in CASES:
        name, floating_base = CASES[request.param]
        text = example_robots.dynamics_xml(
            example_robots.loadable()[name].read_text(), name != 'alex_psyonic_hands'
        )
        return Case(name, text, floating_base)
    seed, floating_base = RANDOM_TREES[request.param]
    return Case(f'random tree {seed}', random_trees.mixed_tree(seed), floating_base)


@pytest.mark.seed('MD10', 'MD03')
def test_order_of_joints_is_depth_first(case):
    layout = case.bridge.layout
    assert case.robot.joint_names == tuple(joint.name for joint in layout.joints)
    assert (case.robot.nq, case.robot.nv) == (layout.nq, layout.nv)
    assert set(case.robot.link_names) == set(layout.links)


@pytest.mark.seed('ID03', 'ID04', 'BL10')
@pytest.mark.seed('FO02', kind='full')
def test_inverse_dynamics(case):
    theirs = case.each(case.bridge.inverse_dynamics, case.q, case.v, case.a)
    case.compare('inverse_dynamics', case.ours('inverse_dynamics', case.q, case.v, case.a), theirs)


@pytest.mark.seed('FM03', 'FM05')
@pytest.mark.seed('FO04', kind='full')
def test_mass_matrix(case):
    case.compare(
        'mass_matrix', case.ours('mass_matrix', case.q), case.each(case.bridge.mass_matrix, case.q)
    )


@pytest.mark.seed('ID05')
def test_gravity_torque(case):
    case.compare(
        'gravity_torque',
        case.ours('gravity_torque', case.q),
        case.each(case.bridge.gravity_torque, case.q),
    )


@pytest.mark.seed('ID10')
def test_bias_force(case):
    theirs = case.each(case.bridge.bias_force, case.q, case.v)
    case.compare('bias_force', case.ours('bias_force', case.q, case.v), theirs)


@pytest.mark.seed('ID02', 'BL02')
def test_coriolis_matrix(case):
    theirs = case.each(case.bridge.coriolis_matrix, case.q, case.v)
    case.compare('coriolis_matrix', case.ours('coriolis_matrix', case.q, case.v), theirs)


@pytest.mark.seed('MD07', 'MD08', kind='full')
def test_forward_kinematics_of_every_link(case):
    poses = case.ours('forward_kinematics', case.q)
    theirs = [case.bridge.forward_kinematics(q) for q in case.q]
    for k, link in enumerate(case.robot.link_names):
        error = worst_relative_error(poses[:, k], np.array([found[link] for found in theirs]))
        record('algorithm - Pinocchio', 'forward_kinematics', case.name, error)
        assert error < TOLERANCE, f'{link} of {case.name}'


@pytest.mark.seed('MD06', 'SV10')
@pytest.mark.parametrize('reference', REFERENCES)
def test_jacobian(case, reference):
    for link in case.frames:
        theirs = case.each(lambda q, link=link: case.bridge.jacobian(q, link, reference), case.q)
        case.compare(
            f'jacobian {reference}',
            case.ours('jacobian', case.q, frame=link, reference=reference),
            theirs,
        )


@pytest.mark.seed('SV17')
@pytest.mark.parametrize('reference', REFERENCES)
def test_jacobian_derivative(case, reference):
    for link in case.frames:
        theirs = case.each(
            lambda q, v, link=link: case.bridge.jacobian_derivative(q, v, link, reference),
            case.q,
            case.v,
        )
        ours = case.ours('jacobian_derivative', case.q, case.v, frame=link, reference=reference)
        case.compare(f'jacobian_derivative {reference}', ours, theirs)


@pytest.mark.seed('MD06')
def test_point_jacobian_and_its_derivative(case):
    point, link = np.array([0.3, -0.2, 0.5]), case.links[-1]
    ours = case.ours('point_jacobian', case.q, point, frame=link)
    theirs = case.each(lambda q: case.bridge.point_jacobian(q, link, point), case.q)
    case.compare('point_jacobian', ours, theirs)
    ours = case.ours('point_jacobian_derivative', case.q, case.v, point, frame=link)
    theirs = case.each(
        lambda q, v: case.bridge.point_jacobian_derivative(q, v, link, point), case.q, case.v
    )
    case.compare('point_jacobian_derivative', ours, theirs)


@pytest.mark.seed('BL07')
def test_center_of_mass_and_its_jacobian(case):
    """Of the links that move: Pinocchio and we leave out what is welded to the world."""
    if case.robot.nv == 0:
        pytest.skip('nothing moves')
    theirs = case.each(case.bridge.center_of_mass, case.q)
    case.compare('center_of_mass', case.ours('center_of_mass', case.q), theirs)
    theirs = case.each(case.bridge.center_of_mass_jacobian, case.q)
    case.compare('center_of_mass_jacobian', case.ours('center_of_mass_jacobian', case.q), theirs)


@pytest.mark.seed('SV18')
def test_energies(case):
    theirs = case.each(case.bridge.energy, case.q, case.v)
    case.compare('energy', case.ours('energy', case.q, case.v), theirs)


@pytest.mark.seed('SV18', 'FB07')
def test_momentum_about_the_base_origin(case):
    if case.robot.nv == 0:
        pytest.skip('nothing moves')
    theirs = case.each(case.bridge.momentum, case.q, case.v)
    case.compare('momentum', case.ours('momentum', case.q, case.v), theirs)


def random_forces(case):
    """Return the spatial forces in base coordinates on three links."""
    rng = np.random.default_rng(11)
    links = sorted({case.links[0], case.links[len(case.links) // 2], case.links[-1]})
    return tuple(links), rng.uniform(-10, 10, (STATES, len(links), 6))


@pytest.mark.seed('ID04', 'BL05')
def test_inverse_dynamics_with_external_forces(case):
    links, forces = random_forces(case)
    ours = case.ours(
        'inverse_dynamics', case.q, case.v, case.a, *np.moveaxis(forces, 1, 0), forces=links
    )
    theirs = case.each(
        lambda q, v, a, f: case.bridge.inverse_dynamics(q, v, a, dict(zip(links, f))),
        case.q,
        case.v,
        case.a,
        forces,
    )
    case.compare('inverse_dynamics, forces', ours, theirs)


def forward_tolerance(case, H):
    """1e-11, or what rounding of the mass matrix alone makes of the worst-conditioned state.

    Solving H a = b with H known to eps leaves a relative error of cond(H) eps in the norm of a:
    where cond(H) is 1e6, no algorithm on doubles can promise 1e-11, and Pinocchio's own FD(ID(a))
    - a is as large.
    """
    return max(TOLERANCE, 4 * np.finfo(float).eps * np.linalg.cond(H).max())


@pytest.mark.seed('FM01', 'GR01')
@pytest.mark.seed('AB08', 'FO05', kind='full')
@pytest.mark.parametrize('loaded', [False, True], ids=['free', 'forces'])
def test_forward_dynamics(case, loaded):
    """Torques are those of moderate accelerations, so that results are of the size of a."""
    if case.robot.nv == 0:
        pytest.skip('nothing moves')
    H = case.each(case.bridge.mass_matrix, case.q)
    if any(name in case.name.split(',')[0].split() for name in ('romeo', 'romeo_laas_small')):
        assert np.linalg.svd(H, compute_uv=False).min() < 1e-12  # massless fingers
        pytest.skip('singular mass matrix: see test_massless_joints')
    links, forces = random_forces(case)
    tau = case.each(case.bridge.inverse_dynamics, case.q, case.v, case.a)
    if loaded:
        ours = case.ours(
            'forward_dynamics', case.q, case.v, tau, *np.moveaxis(forces, 1, 0), forces=links
        )
        theirs = case.each(
            lambda q, v, t, f: case.bridge.forward_dynamics(q, v, t, dict(zip(links, f))),
            case.q,
            case.v,
            tau,
            forces,
        )
    else:
        ours = case.ours('forward_dynamics', case.q, case.v, tau)
        theirs = case.each(case.bridge.forward_dynamics, case.q, case.v, tau)
    error = worst_relative_error(ours, theirs)
    record(
        'algorithm - Pinocchio',
        'forward_dynamics' + (', forces' if loaded else ''),
        case.name,
        error,
    )
    if not loaded:
        record(
            'Pinocchio - itself', 'FD(ID(a)) - a', case.name, worst_relative_error(theirs, case.a)
        )
        record('algorithm - exact', 'FD(ID(a)) - a', case.name, worst_relative_error(ours, case.a))
    assert error < forward_tolerance(case, H), (
        f'relative error {error:.1e}, cond(H) {np.linalg.cond(H[0]):.1e}'
    )


@pytest.mark.seed('AE01', 'FO06')
@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason='no wider floating-point type here')
@pytest.mark.parametrize('floating_base', [False, True], ids=['fixed', 'floating'])
@pytest.mark.parametrize('name', ['icub', 'human', 'icub_reduced', 'tiago_no_hand'])
def test_ill_conditioned_forward_dynamics_keeps_as_many_digits_as_pinocchio(name, floating_base):
    """Where cond(H) is 1e6 to 1e12: distance of both from the same text run on long doubles."""
    text = example_robots.dynamics_xml(example_robots.path(name).read_text())
    case = Case(name, text, floating_base)
    tau = np.random.default_rng(5).uniform(-10, 10, case.v.shape)
    exact = case.ours(
        'forward_dynamics', *(x.astype(np.longdouble) for x in (case.q, case.v, tau))
    )
    assert exact.dtype == np.longdouble
    exact = exact.astype(float)

    def errors(accelerations):
        return np.array(
            [worst_relative_error(a[None], b[None]) for a, b in zip(accelerations, exact)]
        )

    ours = errors(case.ours('forward_dynamics', case.q, case.v, tau))
    pinocchio = errors(case.each(case.bridge.forward_dynamics, case.q, case.v, tau))
    record('algorithm - long double', 'forward_dynamics', case.name, ours.max())
    record('Pinocchio - long double', 'forward_dynamics', case.name, pinocchio.max())
    # Half and nine tenths of the states have at most twice Pinocchio's error; usually, less.
    for part in (0.5, 0.9):
        bound = max(4 * np.finfo(float).eps, 2 * np.quantile(pinocchio, part))
        assert np.quantile(ours, part) < bound, part
    # The worst of all states is the one nearest to a singularity, and chance: the icub's is 0.45
    # times Pinocchio's on a fixed base and 5.8 times on a floating one, where the condition allows
    # 200 times more than either has. So each is held to its own condition.
    H = case.each(case.bridge.mass_matrix, case.q)
    assert (ours < np.finfo(float).eps * np.array([np.linalg.cond(M) for M in H])).all()
