# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulator and controller together, as processes over DDS: the arm follows a trajectory."""

import pytest
from support import outside

outside.load('rclpy')

from node_harness import reliable
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from test_inverse_dynamics_node import point, trajectory
from trajectory_msgs.msg import JointTrajectory

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path

URDF = str(resource_path('urdf', 'six_axis_arm.urdf'))
START = [0.0, -1.4, 1.2, -1.0, -1.2, 0.0]
GOAL = [0.5, -1.0, 0.8, -0.6, -0.8, 0.6]


PD = {
    'kp': [300.0, 300.0, 150.0, 20.0, 20.0, 5.0],
    'kd': [30.0, 30.0, 15.0, 0.5, 0.5, 0.05],
}
COMPUTED_TORQUE = {'kp': [1600.0], 'kd': [80.0]}


@pytest.fixture(scope='module')
def arm(ros):
    """Start the two processes and wait until the arm is held by torque.

    The simulator waits for the answer to each state, however busy the machine is.
    """
    ros.start(
        'simulator',
        {'robot_description_file': URDF, 'initial_positions': START, 'lockstep': 'stamp'},
    )
    ros.start(
        'inverse_dynamics',
        {
            'robot_description_file': URDF,
            'use_sim_time': True,
            'state_timeout': 0.0,
            'output': 'joint_state',
            'friction_compensation': 'desired',
            **PD,
        },
    )
    ros.errors = ros.listen(JointState, '/inverse_dynamics/tracking_error', reliable(1))
    ros.states = ros.listen(JointState, 'joint_states', reliable(1))
    ros.trajectories = ros.publisher(JointTrajectory, 'joint_trajectory')
    ros.until(lambda: ros.errors and ros.states, 'tracking errors and states')
    ros.names = Robot.from_urdf(URDF).joint_names
    return ros


def worst_error(arm, since):
    return max(abs(x) for message in arm.errors[since:] for x in message.position)


def begin(arm, *points):
    """Send a trajectory; return how many diagnostics came before it was followed."""
    seen = arm.mark()
    arm.trajectories.publish(trajectory(*points, names=arm.names))
    arm.until_status(f'trajectory of {len(points)} points', 'trajectory', since=seen)
    return len(arm.diagnostics)  # until then, that before it may have been reported as done


def move(arm, goal):
    """Move there and back in simulated time, and return the worst error on the way."""
    since = len(arm.errors)
    seen = begin(arm, point(0.6, goal), point(1.2, START))
    arm.until_status('trajectory done', 'trajectory', since=seen)
    return worst_error(arm, since)


def test_the_arm_stays_where_it_is_when_the_controller_takes_over(arm):
    arm.spin(0.5)
    assert list(arm.states[-1].position) == pytest.approx(START, abs=1e-3)


@pytest.mark.parametrize('feedback', ['pd', 'computed_torque'])
def test_the_arm_follows_a_trajectory(arm, feedback):
    arm.set_parameter('/inverse_dynamics', 'feedback', feedback)
    for name, gains in (PD if feedback == 'pd' else COMPUTED_TORQUE).items():
        arm.set_parameter('/inverse_dynamics', name, gains)
    assert move(arm, GOAL) < 0.02
    # Diagnostics may overtake the last states on the way.
    back = pytest.approx(START, abs=5e-3)
    arm.until(lambda: list(arm.states[-1].position) == back, 'the state at the end')


def test_inverse_dynamics_follows_far_closer_than_feedback_alone(arm):
    errors = {}
    for name, gains in PD.items():
        arm.set_parameter('/inverse_dynamics', name, gains)
    for feedforward in ('none', 'gravity', 'inverse_dynamics'):
        arm.set_parameter('/inverse_dynamics', 'feedback', 'pd')
        arm.set_parameter('/inverse_dynamics', 'feedforward', feedforward)
        errors[feedforward] = move(arm, GOAL)
    assert errors['inverse_dynamics'] < 0.2 * errors['none']
    assert errors['inverse_dynamics'] < 0.5 * errors['gravity']


def test_the_motion_stands_still_while_the_simulation_is_paused(arm):
    seen = begin(arm, point(0.4, GOAL), point(0.8, START))
    arm.call(SetBool, '/simulator/pause', SetBool.Request(data=True))
    arm.spin(1.0)
    since = len(arm.errors)
    assert not arm.status('trajectory done', 'trajectory', since=seen)
    arm.call(SetBool, '/simulator/pause', SetBool.Request(data=False))
    arm.until_status('trajectory done', 'trajectory', since=seen)
    assert worst_error(arm, since) < 0.02


def test_after_a_reset_the_arm_is_held_at_its_initial_position(arm):
    arm.trajectories.publish(trajectory(point(0.5, GOAL), names=arm.names))
    arm.until(lambda: abs(arm.states[-1].position[0] - GOAL[0]) < 0.05, 'the goal')
    assert arm.call(Trigger, '/simulator/reset', Trigger.Request()).success
    # The controller still wants the goal: that is for its user to say.
    arm.until(lambda: abs(arm.states[-1].position[0] - GOAL[0]) < 0.05, 'the goal again')
    assert all(p.alive() for p in arm.processes)


def test_the_arm_is_held_when_the_controller_ends(arm):
    """Last of the module: in lockstep time would stand still without the controller."""
    for process in list(arm.processes):
        assert process.stop() == 0
        arm.processes.remove(process)
    since = arm.mark()
    robot = {'robot_description_file': URDF}
    arm.start('simulator', {**robot, 'initial_positions': START, 'real_time_factor': 0.4})
    controller = arm.start('inverse_dynamics', {**robot, 'use_sim_time': True, **PD})
    arm.until_status('receiving', 'commands', since=since)
    since = arm.mark()
    assert controller.stop() == 0
    arm.until_status('no command for', 'commands', since=since)
    arm.until(lambda: max(map(abs, arm.states[-1].velocity)) < 1e-3, 'the arm at rest')
