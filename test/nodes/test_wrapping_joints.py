# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Drivers with positions of continuous joints within +-pi, over DDS.

Stamps are those of the test, 5 ms apart, and each state follows the response to the previous one,
so nothing depends on the speed of the machine.
"""

import numpy as np
import pytest
from support import control_messages, outside

outside.load('rclpy')

from node_harness import joint_state, TWO_LINK_ARM
from rclpy.serialization import serialize_message
from safety_harness import TorqueRig
from test_follow_joint_trajectory import point, POSE, Rig, SUCCEEDED

SECOND, PERIOD = 1_000_000_000, 5_000_000
TURN = 2.0 * np.pi
#: The shoulder is continuous, the elbow is not.
ARM = TWO_LINK_ARM.replace('"shoulder" type="revolute"', '"shoulder" type="continuous"').replace(
    'lower="-3" upper="3" ', ''
)
RATE = 0.5  # [rad/s]


def wrapped(q):
    return (q + np.pi) % TURN - np.pi


@pytest.fixture(scope='module')
def action(tmp_path_factory):
    return control_messages.provide(tmp_path_factory.mktemp('control_msgs'))


class Turning:
    """A node whose arm turns its shoulder from 3.05 rad on, which its driver wraps or not."""

    numbers = iter(range(100))

    def __init__(self, ros, module, wraps, velocities, parameters):
        self.wraps, self.velocities = wraps, velocities
        self.rig = TorqueRig(
            ros,
            module,
            f'/turning_{next(self.numbers)}',
            {'robot_description': ARM, 'state_timeout': 0.0, **parameters},
        )

    def answers(self, count):
        """Return the torques of so many states, (count, 2)."""
        return np.array([self.answer(k) for k in range(count)])

    def state(self, k, position=None):
        """Return the state of number `k`, serialized."""
        q = 3.05 + RATE * 1e-9 * PERIOD * k if position is None else position
        velocity = (RATE, 0.0) if self.velocities else ()
        message = joint_state(position=(wrapped(q) if self.wraps else q, 0.3), velocity=velocity)
        stamp = divmod(100 * SECOND + k * PERIOD, SECOND)
        message.header.stamp.sec, message.header.stamp.nanosec = stamp
        return serialize_message(message)

    def answer(self, k, position=None):
        """Return the torque of the state of number `k`."""
        data = self.state(k, position)
        return np.array(self.rig.answer_to(data, 100 * SECOND + k * PERIOD))


@pytest.mark.parametrize('velocities', [True, False])
@pytest.mark.parametrize(
    ('module', 'parameters'),
    [
        ('inverse_dynamics', {}),
        ('inverse_dynamics', {'feedback': 'pd', 'feedforward': 'gravity'}),
        ('gravity_compensation', {'overspeed_factor': 1.5, 'damping': [3.0]}),
        ('gravity_compensation', {'mode': 'hand_guiding'}),
    ],
    ids='computed_torque pd overspeed guiding'.split(),
)
def test_torques_are_those_of_a_driver_that_counts_turns(ros, module, parameters, velocities):
    """All the way through pi, on the machine code's way and on the one beside it."""
    wraps, counts = (Turning(ros, module, each, velocities, parameters) for each in (True, False))
    found, expected = wraps.answers(70), counts.answers(70)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)
    for each in (wraps, counts):
        each.rig.process.stop()


def test_a_jump_is_rejected_and_reported(ros):
    turning = Turning(ros, 'inverse_dynamics', True, True, {})
    torques = turning.answers(20)
    since, numbers = ros.mark(), iter(range(20, 1000))

    def is_reported():
        k = next(numbers)  # another place each time: agreeing with each other, they would be taken
        turning.rig.states.publish(turning.state(k, -2.0 if k % 2 else 1.0))
        ros.spin(0.05)
        return ros.status('more than any plausible velocity allows', 'joint_states', since=since)

    ros.until(is_reported, 'a rejection')
    sent = turning.rig.torques[-1].effort
    np.testing.assert_array_equal(sent, torques[-1])  # none of them was answered
    k = next(numbers)
    assert np.abs(turning.answer(k, 3.1) - torques[-1]).max() < 1.0


class WrappingRig(Rig):
    """A robot that follows the desired motion exactly, and publishes it within +-pi."""

    def _state(self):
        message = super()._state()
        message.position[0] = wrapped(message.position[0])
        return message


def test_a_goal_beyond_the_wrap_is_reached_within_its_tolerances(ros, action):
    rig = WrappingRig(ros, action, ARM)
    ros.set_parameter('/inverse_dynamics', 'constraints.trajectory', [0.3])
    ros.set_parameter('/inverse_dynamics', 'constraints.goal', [0.01])
    rig.moving = True
    sent = rig.send(point(3.0, (POSE[0] + 4.0, POSE[1])))
    assert 'the goal is reached' in sent.result(SUCCEEDED, 0)
    errors = [m.feedback.error.positions[0] for m in sent.feedback]
    assert len(errors) > 3 and np.abs(errors).max() < 0.3
    # And back by the shorter way, to a goal a turn from where it is.
    sent = rig.send(point(3.0, (POSE[0] + 4.0 - TURN, POSE[1])))
    assert 'the goal is reached' in sent.result(SUCCEEDED, 0)
    moved = [wrapped(m.feedback.desired.positions[0] - POSE[0] - 4.0) for m in sent.feedback]
    assert np.abs(moved).max() < 1e-6
    rig.feed.stop()
