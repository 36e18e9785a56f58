# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Law and states of robots with loops, against plane trigonometry and virtual work."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.four_bar_statics import holding_torque, motor_torque, positions, slope, unwrapped

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.loop_assembly import LoopClosureError
from rbd_ros.control import LawSettings
from rbd_ros.control.closed_loop_state import LoopClosing
from rbd_ros.control.law.closed_loop_law import ClosedLoopLaw, IndependentJoints
from rbd_ros.lookup.resources import resource_path

EXTENSION = resource_path('config', 'four_bar.yaml')
CRANKS = (0.4, 1.3, 2.2, -2.0)


def four_bar(**changes):
    loops = {
        'pin': {
            'type': 'revolute',
            'axis': [0, -1, 0],
            'predecessor': {'frame': 'coupler', 'xyz': [0.45, 0, 0]},
            'successor': {'frame': 'rocker', 'xyz': [0.4, 0, 0]},
        }
    }
    extension = {'loops': loops, 'actuated': ['crank_joint'], **changes}
    return Robot.from_urdf(resource_path('urdf', 'four_bar.urdf'), extension=extension)


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(resource_path('urdf', 'four_bar.urdf'), extension=EXTENSION)


def law_of(robot, **options):
    closing = LoopClosing(robot)
    settings = LawSettings.for_robot(IndependentJoints(closing), **options)
    return closing, ClosedLoopLaw(closing, settings)


def complete(closing, crank, rate=0.0):
    """Return the state of all joints.

    Led to a crank's angle step by step so that the assembly stays.
    """
    begin = closing.q[0]
    for y in np.linspace(begin, crank, 60):
        state = closing.complete(np.array([y, 0.0, 0.0]), np.array([rate, 0.0, 0.0]))
    return state


@pytest.mark.parametrize('crank', CRANKS)
def test_joints_that_are_not_measured_are_where_trigonometry_has_them(robot, crank):
    closing = LoopClosing(robot)
    found = complete(closing, crank, 0.7)
    mode = min((1.0, -1.0), key=lambda m: np.abs(unwrapped(crank, found.q, m) - found.q).max())
    assert_allclose(found.q, unwrapped(crank, found.q, mode), atol=1e-9)
    rates = slope(lambda y: unwrapped(y, found.q, mode), crank)
    assert_allclose(found.v, 0.7 * rates, atol=1e-8)
    assert_allclose(found.G[:, 0], rates, atol=1e-8)


def test_the_assembly_stays_through_a_whole_turn_of_the_crank(robot):
    """The last state is where the next one begins: from anywhere else it may be another one."""
    closing = LoopClosing(robot)
    home, mode = closing.q.copy(), mode_of(closing.q)
    for y in home[0] + np.linspace(0.0, 2.0 * np.pi, 100):
        before = closing.q
        found = closing.complete(np.array([y, 0.0, 0.0]), np.zeros(3)).q
        assert np.abs(found - before).max() < 0.3
        assert_allclose(found, unwrapped(y, found, mode), atol=1e-8)
    assert_allclose(found, home + [2.0 * np.pi, -2.0 * np.pi, 0.0], atol=1e-8)


def mode_of(q):
    return min((1.0, -1.0), key=lambda m: np.abs(unwrapped(q[0], q, m) - q).max())


@pytest.mark.seed('CL19', kind='part')
@pytest.mark.parametrize('crank', CRANKS)
def test_gravity_is_balanced_as_virtual_work_says(robot, crank):
    closing, law = law_of(robot, feedforward='gravity', feedback='none', friction='none')
    state = complete(closing, crank, 0.4)
    torque = law(state.q, state.v, state.q[:1], np.zeros(1), np.zeros(1))
    expected = [holding_torque(crank, mode_of(state.q)), 0.0, 0.0]
    assert_allclose(torque, expected, atol=1e-8)
    assert_allclose(law.gravity_torque(state.q), expected, atol=1e-8)


@pytest.mark.seed('CL19', kind='part')
@pytest.mark.parametrize('crank', CRANKS)
def test_inverse_dynamics_is_that_of_lagrange(robot, crank):
    closing, law = law_of(robot, kp=0.0, kd=0.0, ki=0.0, friction='none')
    state = complete(closing, crank, 1.7)
    torque = law(state.q, state.v, state.q[:1], state.v[:1], np.array([2.3]))
    expected = motor_torque(crank, 1.7, 2.3, mode_of(state.q))
    assert_allclose(torque, [expected, 0.0, 0.0], rtol=1e-6, atol=1e-6)


def test_feedback_is_an_acceleration_of_the_independent_joint(robot):
    closing, law = law_of(robot, kp=100.0, kd=20.0, ki=0.0, friction='none')
    state = complete(closing, 1.0, 0.5)
    torque = law(state.q, state.v, [1.2], [0.1], [0.4])
    a = 0.4 + 100.0 * 0.2 + 20.0 * (0.1 - 0.5)
    expected = motor_torque(1.0, 0.5, a, mode_of(state.q))
    assert_allclose(torque[0], expected, rtol=1e-6)


def test_the_integral_grows_with_the_error_and_waits_where_torque_is_cut(robot):
    closing, law = law_of(robot, kp=100.0, kd=20.0, ki=50.0, friction='none')
    state = complete(closing, 1.0)
    desired = ([1.1], np.zeros(1), np.zeros(1))
    first = law(state.q, state.v, *desired, 0.01)
    law.set_applied_torque(first)
    second = law(state.q, state.v, *desired, 0.01)
    inertia = motor_torque(1.0, 0.0, 1.0, mode_of(state.q)) - holding_torque(1.0, mode_of(state.q))
    assert_allclose(second[0] - first[0], inertia * 50.0 * 0.1 * 0.01, rtol=1e-5)
    law.set_applied_torque(0.5 * second)
    assert_allclose(law(state.q, state.v, *desired, 0.01), second, rtol=1e-12)
    law.reset()
    assert_allclose(law(state.q, state.v, *desired, 0.01), first, rtol=1e-12)


def test_friction_of_passive_joints_is_carried_by_the_actuator():
    text = resource_path('urdf', 'four_bar.urdf').read_text()
    damped = text.replace('<limit', '<dynamics damping="0.3" friction="0.0"/><limit')
    robot = Robot.from_urdf(damped, extension=EXTENSION)
    closing, law = law_of(robot, feedforward='none', feedback='none', friction='measured')
    state = complete(closing, 0.9, 1.5)
    torque = law(state.q, state.v, state.q[:1], np.zeros(1), np.zeros(1))
    rates = slope(lambda y: unwrapped(y, state.q, mode_of(state.q)), 0.9)
    assert_allclose(torque, [0.3 * 1.5 * rates @ rates, 0.0, 0.0], atol=1e-7)


def test_damping_acts_against_the_measured_velocity(robot):
    closing, law = law_of(
        robot, feedforward='none', feedback='damping', kp=0.0, kd=2.0, friction='none'
    )
    state = complete(closing, 0.9, 1.5)
    torque = law(state.q, state.v, state.q[:1], np.zeros(1), np.zeros(1))
    assert_allclose(torque, [-3.0, 0.0, 0.0], atol=1e-12)


def test_redundant_actuators_share_the_least_torque():
    robot = four_bar(actuated=['crank_joint', 'rocker_joint'])
    closing, law = law_of(robot, feedforward='gravity', feedback='none', friction='none')
    assert closing.independent == [0] and not closing.is_underactuated
    state = complete(closing, 1.3)
    u = law.gravity_torque(state.q)
    rate = state.G[2, 0]
    work = holding_torque(1.3, mode_of(state.q))
    assert_allclose(u, np.array([1.0, 0.0, rate]) * work / (1.0 + rate**2), atol=1e-8)


def with_pendulum():
    """Return the four-bar with a pendulum that swings freely on the rocker."""
    pendulum = (
        '<link name="bob"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><joint name="swing" type="continuous">'
        '<parent link="rocker"/><child link="bob"/><axis xyz="0 1 0"/></joint></robot>'
    )
    text = resource_path('urdf', 'four_bar.urdf').read_text().replace('</robot>', pendulum)
    return Robot.from_urdf(text, extension=EXTENSION)


def test_an_underactuated_robot_follows_no_trajectory():
    robot = with_pendulum()
    closing = LoopClosing(robot)
    assert closing.is_underactuated and closing.independent == [0, 3]
    for rejected in (
        {},
        {'feedback': 'none'},
        {'feedback': 'damping', 'kp': 0.0, 'kd': 1.0},
        {'feedforward': 'gravity'},
        {'feedforward': 'none'},
    ):
        word = (
            'feedforward inverse_dynamics'
            if 'feedforward' not in rejected
            else 'feedback computed_torque'
        )
        with pytest.raises(ValueError, match=f'^{word}.*underactuated robot.*gravity or none'):
            law_of(robot, **rejected)
    with pytest.raises(ValueError, match='feedback pd'):
        law_of(robot, feedforward='none', feedback='pd', kp=1.0, kd=1.0, ki=0.0)


def test_an_underactuated_robot_is_held_and_damped_where_it_has_actuators():
    robot = with_pendulum()
    closing, law = law_of(robot, feedforward='gravity', feedback='none', friction='none')
    # Hanging, the pendulum bears itself, and its weight is a payload at the rocker's hinge.
    state = closing.complete(np.array([1.2, 0.0, 0.0, 0.0]), np.array([0.6, 0.0, 0.0, 0.9]))
    required = state.G.T @ robot.gravity_torque(state.q)
    # By its normal equations, for one actuator
    row = state.G[0]
    u = law.gravity_torque(state.q)
    assert_allclose(u, [row @ required / (row @ row), 0.0, 0.0, 0.0], atol=1e-9)
    assert_allclose(law(state.q, state.v, state.q[[0, 3]], np.zeros(2), np.zeros(2)), u, atol=1e-9)
    law.settings = replace(law.settings, feedback='damping', kd=np.array([2.0, 5.0]))
    damped = law(state.q, state.v, state.q[[0, 3]], np.zeros(2), np.zeros(2))
    assert_allclose(damped - u, [-2.0 * 0.6, 0.0, 0.0, 0.0], atol=1e-9)


def test_pd_is_rejected(robot):
    with pytest.raises(ValueError, match='computed_torque'):
        law_of(robot, feedback='pd', kp=1.0, kd=1.0, ki=0.0)


def test_a_state_with_open_loops_is_rejected_and_not_stored():
    loop = {
        'type': 'revolute',
        'axis': [0, -1, 0],
        'predecessor': {'frame': 'coupler', 'xyz': [0.2, 0, 0]},
        'successor': {'frame': 'rocker', 'xyz': [0.3, 0, 0]},
    }
    robot = four_bar(loops={'pin': loop})
    closing = LoopClosing(robot)
    before = closing.q.copy()
    with pytest.raises(LoopClosureError, match="loop 'pin' open by"):
        closing.complete(np.array([np.pi, 0.0, 0.0]), np.zeros(3))
    assert np.array_equal(closing.q, before)


def test_a_measured_joint_that_contradicts_the_loops_is_named(robot):
    closing = LoopClosing(robot)
    q = complete(closing, 0.8).q
    off = q + [0.0, 0.0, 0.2]
    with pytest.raises(ValueError, match="'rocker_joint'"):
        closing.complete(off, np.zeros(3), np.array([True, False, True]))
    found = closing.complete(q + [0.0, 0.0, 0.01], np.zeros(3), np.array([True, False, True]))
    assert_allclose(found.q, q, atol=1e-9)


def test_measured_passive_joints_say_which_assembly_it_is(robot):
    closing = LoopClosing(robot)
    for mode in (1.0, -1.0):
        q = positions(1.0, mode)
        found = LoopClosing(robot).complete(q, np.zeros(3), np.ones(3, dtype=bool))
        assert_allclose(found.q, q, atol=1e-9)
    assert closing.robot is robot
