"""Against sums over links in three-dimensional vectors (`support.reference`)."""

import numpy as np
import pytest
from support import layout, random_trees
from support.errors import record, relative_error
from support.plain import Plain
from support.reference import Reference

from rbd_ros import Robot

CASES = [(seed, floating) for seed in range(20, 26) for floating in (False, True)]
GRAVITY = (1.0, -2.0, -9.0)  # nothing special about z


@pytest.fixture(scope='module', params=CASES, ids=str)
def pair(request):
    """Random tree with every joint type and a mimic joint: ours, textbook sums, random states."""
    seed, floating = request.param
    text = random_trees.mixed_tree(seed)
    places = layout.read(text, floating)
    robot = Robot.from_urdf(text, floating_base=floating, gravity=GRAVITY)
    q, v, _ = places.random_states(np.random.default_rng(seed), 3)
    return Plain(robot, places), Reference(text, floating, GRAVITY), q, v


def check(what, ours, theirs, tolerance=1e-13):  # some hundred roundings; measured below 1e-14
    error = max(relative_error(x, y) for x, y in zip(ours, theirs))
    record('textbook sums', what, '', error)
    assert error < tolerance, f'{what}: relative error {error:.1e}'


@pytest.mark.seed('MD07', 'MD08', 'JM01', 'JM02', 'JM05', 'JM08', 'GR01')
def test_poses(pair):
    robot, reference, q, _ = pair
    ours = robot.forward_kinematics(q)
    for k in range(len(q)):
        for link, (R, p, _) in reference.kinematics(q[k]).items():
            check('poses', [ours[link][k, :3]], [np.column_stack([R, p])])


@pytest.mark.seed('MD06')
def test_jacobians(pair):
    robot, reference, q, _ = pair
    for link in reference.layout.links:
        theirs = [reference.kinematics(row)[link][2] for row in q]
        check('jacobian', robot.jacobian(q, link, reference='aligned'), theirs)


@pytest.mark.seed('BL03', 'DN06')
def test_mass_matrix_is_the_sum_over_link_jacobians(pair):
    robot, reference, q, _ = pair
    check('mass_matrix', robot.mass_matrix(q), [reference.mass_matrix(row) for row in q])


@pytest.mark.seed('BL06')
def test_gravity_torque_is_the_sum_over_weights(pair):
    robot, reference, q, _ = pair
    check('gravity_torque', robot.gravity_torque(q), [reference.gravity_torque(row) for row in q])


@pytest.mark.seed('BL04', 'ID08')
def test_coriolis_force_is_the_sum_over_links(pair):
    robot, reference, q, v = pair
    ours = robot.bias_force(q, v) - robot.gravity_torque(q)
    # the sums take Jacobian rates from central differences: h^2 = 1e-10 times third derivatives,
    # eps/h = 1e-11
    check('coriolis force', ours, [reference.coriolis_force(*row) for row in zip(q, v)], 1e-8)


@pytest.mark.seed('SV18', 'FB07')
def test_momentum_is_the_sum_over_links(pair):
    robot, reference, q, v = pair
    check('momentum', robot.momentum(q, v), [reference.momentum(*row) for row in zip(q, v)])
