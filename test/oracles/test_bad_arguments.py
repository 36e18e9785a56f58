# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Invalid arguments are rejected with a ValueError that names the expected ones."""

import copy
import pickle

import numpy as np
import pytest
from support.random_trees import chain

from rbd_ros import Robot

LINK = {'type': 'revolute', 'mass': 1.0, 'center': [0, 0.1, 0], 'inertia': [1, 0, 0, 1, 0, 1]}
TEXT = chain([LINK, LINK])
ROD = {'type': 'revolute', 'mass': 1.0, 'center': [0, 0, 1], 'inertia': [1, 0, 0, 1, 0, 0]}
z, V, f6 = np.zeros(2), np.zeros((3, 2)), np.zeros(6)


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(TEXT)


BAD_FORCES = {
    'unknown link': ({'elbow': f6}, 'link1'),
    'five numbers': ({'link1': np.zeros(5)}, '5'),
    'three axes': ({'link1': np.zeros((2, 3, 6))}, '6'),
    'text': ({'link1': 'abcdef'}, 'link1'),
    'complex': ({'link1': np.zeros(6, complex)}, 'complex'),
    'a list instead of a mapping': ([f6], 'list'),
    'batches of different length': ({'link1': np.zeros((4, 6)), 'link2': np.zeros((3, 6))}, '4'),
}


@pytest.mark.parametrize('kind', BAD_FORCES)
def test_bad_external_forces(robot, kind):
    forces, word = BAD_FORCES[kind]
    for method in (robot.inverse_dynamics, robot.forward_dynamics):
        with pytest.raises(ValueError, match=word):
            method(z, z, z, external_forces=forces)


def test_batch_of_forces_must_fit_the_batch_of_states(robot):
    with pytest.raises(ValueError, match='3 rows'):
        robot.inverse_dynamics(V, z, z, external_forces={'link1': np.zeros((4, 6))})
    assert robot.inverse_dynamics(z, z, z, external_forces={'link1': np.zeros((4, 6))}).shape == (
        4,
        2,
    )


def test_nan_force_gives_nan_torques(robot):
    assert np.isnan(
        robot.inverse_dynamics(z, z, z, external_forces={'link2': np.full(6, np.nan)})
    ).all()


@pytest.mark.parametrize(
    'gravity', [(0, 0), (0, 0, np.nan), (0, 0, np.inf), 'down', None, 9.81, np.zeros((3, 1))]
)
def test_bad_gravity(gravity):
    with pytest.raises(ValueError, match='gravity'):
        Robot.from_urdf(TEXT, gravity=gravity)


BAD_INTEGRATIONS = {
    'velocity of text': (z, ['a', 'b'], 0.1),
    'velocity too long': (z, np.zeros(3), 0.1),
    'position too short': (np.zeros(1), z, 0.1),
    'time of text': (z, z, 'soon'),
    'times do not fit': (V, V, np.array([0.1, 0.2])),
    'times with two axes': (V, V, np.zeros((3, 1))),
    'complex time': (z, z, 1j),
}


@pytest.mark.parametrize('kind', BAD_INTEGRATIONS)
def test_bad_integration(robot, kind):
    with pytest.raises(ValueError, match='integrate'):
        robot.integrate(*BAD_INTEGRATIONS[kind])


def test_bad_difference(robot):
    for pair in ((z, np.zeros(3)), (V, np.zeros((2, 2))), (z, 'ab')):
        with pytest.raises(ValueError, match='difference'):
            robot.difference(*pair)


@pytest.mark.parametrize('frame', ['link7', '', 3, None])
def test_bad_frame(robot, frame):
    for call in (
        lambda: robot.jacobian(z, frame),
        lambda: robot.jacobian_derivative(z, z, frame),
        lambda: robot.point_jacobian(z, frame, np.zeros(3)),
    ):
        with pytest.raises(ValueError, match='link1' if frame is not None else 'frame'):
            call()


def test_bad_point(robot):
    with pytest.raises(ValueError, match='point'):
        robot.point_jacobian(z, 'link1', np.zeros(2))


def test_center_of_mass_of_nothing_is_not_a_number():
    """Neither a crash nor a made-up place."""
    for text in ('<robot name="a"><link name="b"/></robot>', chain([{'type': 'revolute'}])):
        robot = Robot.from_urdf(text)
        try:
            center = robot.center_of_mass(np.zeros(robot.nq))
        except ValueError as error:
            assert 'mass' in str(error)
        else:
            assert center.shape == (3,) and np.isnan(center).all()


def test_robot_without_joints_has_empty_results():
    robot = Robot.from_urdf('<robot name="a"><link name="b"/></robot>')
    nothing = np.zeros(0)
    assert robot.joint_names == () and robot.nq == robot.nv == 0
    assert robot.mass_matrix(nothing).shape == (0, 0)
    assert robot.inverse_dynamics(np.zeros((3, 0)), nothing, nothing).shape == (3, 0)
    assert robot.jacobian(nothing, 'b').shape == (6, 0)
    assert robot.forward_kinematics(np.zeros((2, 0)))['b'].shape == (2, 4, 4)
    assert robot.energy(nothing, nothing).total == 0.0


@pytest.mark.parametrize('used', [False, True])
@pytest.mark.parametrize(
    'duplicate', [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_robots_can_be_copied_and_pickled(used, duplicate):
    robot = Robot.from_urdf(TEXT, armature={'joint1': 0.5}, gravity=(1, 2, 3))
    if used:
        robot.inverse_dynamics(z, z, z)
    other = duplicate(robot)
    assert np.array_equal(other.inverse_dynamics(z, z, z), robot.inverse_dynamics(z, z, z))
    assert np.array_equal(other.mass_matrix(z), robot.mass_matrix(z))


def test_limits_cannot_be_changed_by_accident(robot):
    for array in (
        robot.effort_limits,
        robot.velocity_limits,
        robot.lower_limits,
        robot.upper_limits,
    ):
        with pytest.raises(ValueError):
            array[0] = 1.0


@pytest.mark.seed('AB08')
@pytest.mark.parametrize(
    'links, culprits',
    [
        ([{'type': 'revolute'}], ['joint1']),
        ([{'type': 'prismatic'}], ['joint1']),
        ([{'type': 'revolute', 'mass': 1.0}], ['joint1']),  # a point mass on the axis
        (
            [
                {
                    'type': 'revolute',
                    'mass': 1.0,
                    'center': [0, 0, 1],
                    'inertia': [1, 0, 0, 1, 0, 0],
                }
            ],
            ['joint1'],
        ),  # a rod on it
        ([LINK, {'type': 'continuous'}], ['joint2']),
        # both about one line: neither alone is at fault
        ([{'type': 'revolute'}, LINK], ['joint1', 'joint2']),
        ([LINK, {'type': 'floating'}], ['joint2']),
    ],
)
def test_singular_mass_matrix_is_reported_by_joint(links, culprits):
    robot = Robot.from_urdf(chain(links))
    q = robot.neutral()
    zero = np.zeros(robot.nv)
    for _ in range(2):  # on every call, not just the first
        with pytest.raises(ValueError) as error:
            robot.forward_dynamics(q, zero, zero)
        assert all(name in str(error.value) for name in culprits)
    assert np.all(np.isfinite(robot.inverse_dynamics(q, zero, zero)))
    assert np.all(np.isfinite(robot.mass_matrix(q)))


def test_armature_makes_a_massless_joint_move():
    robot = Robot.from_urdf(chain([{'type': 'revolute'}]), armature={'joint1': 2.0})
    assert robot.forward_dynamics([0.0], [0.0], [1.0]) == pytest.approx([0.5], rel=1e-15)
