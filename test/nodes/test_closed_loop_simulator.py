# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator node with robots with loops, over DDS."""

from pathlib import Path

import numpy as np
import pytest
from support import outside
from support.four_bar_statics import holding_torque, positions

outside.load('rclpy')

from node_harness import efforts, Feed, joint_state, reliable
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from test_closed_loop_nodes import (
    TRIANGLE_LOOPS,
    triangle_positions,
    triangle_torques,
    triangle_urdf,
)
import yaml

from rbd_ros.lookup.resources import resource_path

FOUR_BAR = {
    'robot_description_file': str(resource_path('urdf', 'four_bar.urdf')),
    'extension_file': str(resource_path('config', 'four_bar.yaml')),
}
JOINTS = ['crank_joint', 'coupler_joint', 'rocker_joint']


class Rig:
    """A simulator node, and all states that it has published."""

    def __init__(self, ros, parameters):
        self.ros = ros
        self.states = ros.listen(JointState, 'joint_states', reliable(1))
        self.process = ros.start('simulator', parameters)
        self.first = ros.until(lambda: self.states and self.states[0], 'a joint state')

    def until(self, condition, what):
        """Wait for a state."""
        return self.ros.until(lambda: condition(self.states[-1]), what)

    def end(self):
        assert self.process.stop() == 0
        assert 'Traceback' not in self.process.output()
        self.ros.processes.remove(self.process)


@pytest.fixture
def started(ros):
    """Yield the function that starts a simulator; it is ended after the test."""
    rigs = []

    def start(parameters):
        rigs.append(Rig(ros, parameters))
        return rigs[-1]

    yield start
    for rig in rigs:
        rig.end()


def is_closed(state):
    q = np.array(state.position)
    mode = 1.0 if np.abs(positions(q[0]) - q).max() < 0.5 else -1.0
    return np.abs(np.sin(0.5 * (positions(q[0], mode) - q))).max() < 1e-9


def test_the_four_bar_takes_efforts_and_positions_of_its_motor(ros, started):
    start = positions(0.9)
    rig = started({**FOUR_BAR, 'initial_positions': start.tolist(), 'command_timeout': 0.0})
    assert list(rig.first.name) == JOINTS
    np.testing.assert_allclose(rig.first.position, start, atol=1e-9)
    held = holding_torque(0.9)
    assert list(rig.first.effort) == [pytest.approx(held, abs=1e-6), 0.0, 0.0]
    by_order = ros.publisher(Float64MultiArray, 'effort_commands')
    with Feed(by_order, efforts(held + 0.5), stamped=False):
        rig.until(lambda s: s.position[0] > 1.0, 'the motor lifts the linkage')
    assert rig.states[-1].effort[0] == pytest.approx(held + 0.5) and is_closed(rig.states[-1])
    by_name = ros.publisher(JointState, 'joint_commands')
    since = ros.mark()
    with Feed(by_name, joint_state(JOINTS, position=[0.7, 9.0, 9.0])):
        rig.until(
            lambda s: abs(s.position[0] - 0.7) < 1e-4 and abs(s.velocity[0]) < 1e-3, 'the servo'
        )
        ros.until_status('without an actuator ignored: coupler_joint, rocker_joint', since=since)
    state = rig.states[-1]
    assert state.effort[0] == pytest.approx(holding_torque(0.7), abs=0.1)
    assert list(state.effort[1:]) == [0.0, 0.0]
    assert all(map(is_closed, rig.states))


def test_the_gravity_compensation_node_holds_the_four_bar_at_rest(ros, started):
    # Each waits for the other: a torque that is late on a busy machine would let the arm fall.
    start = {'initial_positions': positions(0.9).tolist(), 'lockstep': 'stamp'}
    rig = started({**FOUR_BAR, **start})
    waits = {'state_timeout': 0.0, 'output': 'joint_state'}
    compensation = ros.start('gravity_compensation', {**FOUR_BAR, **waits})
    commands = ros.listen(JointState, 'joint_commands')
    ros.until(lambda: commands, 'a torque')
    ros.until_status('receiving', 'commands')
    ros.until(lambda: len(rig.states) > 1000, 'states')
    moved = [abs(x - y) for s in rig.states for x, y in zip(s.position, positions(0.9))]
    assert max(moved) < 1e-5
    assert rig.states[-1].effort[0] == pytest.approx(holding_torque(0.9), abs=1e-3)
    assert compensation.stop() == 0
    ros.processes.remove(compensation)
    assert 'Traceback' not in compensation.output()


def test_the_triangle_arm_starts_and_bears_its_weight_by_piston_and_elbow(tmp_path, started):
    file = tmp_path / 'triangle.yaml'
    file.write_text(yaml.safe_dump(TRIANGLE_LOOPS))
    q = triangle_positions(0.7, -0.9)
    rig = started(
        {
            'robot_description': triangle_urdf(),
            'extension_file': str(file),
            'initial_joints': ['arm_joint', 'tilt', 'stroke', 'elbow'],
            'initial_positions': q.tolist(),
            'initial_command': 'gravity',
        }
    )
    names = list(rig.first.name)
    assert sorted(names) == ['arm_joint', 'elbow', 'stroke', 'tilt']
    rig.until(lambda s: s.header.stamp.sec >= 1, 'a second')
    found = dict(zip(names, rig.states[-1].position))
    assert [found[n] for n in ('arm_joint', 'tilt', 'stroke', 'elbow')] == pytest.approx(
        q.tolist(), abs=1e-6
    )
    effort = dict(zip(names, rig.states[-1].effort))
    expected = {'arm_joint': 0.0, 'tilt': 0.0, **triangle_torques(0.7, -0.9)}
    assert effort == {name: pytest.approx(x, rel=1e-5) for name, x in expected.items()}


def test_an_open_loop_at_the_start_is_assembled_and_reported(started):
    rig = started({**FOUR_BAR, 'initial_positions': [0.9, 0.0, 0.3]})
    assert rig.first.position[0] == 0.9 and is_closed(rig.first)
    # It may be compiling yet: the state is there before.
    moved = 'joint rocker_joint moved most'
    rig.ros.until(lambda: moved in rig.process.output().replace("'", ''), 'what it moved')
    assert 'the loops are open at the initial positions' in rig.process.output()


def test_a_loop_that_cannot_be_closed_is_rejected_by_name(ros, tmp_path):
    file = tmp_path / 'far.yaml'
    content = yaml.safe_load(Path(FOUR_BAR['extension_file']).read_text())
    content['loops']['pin']['successor'] = {'frame': 'ground', 'xyz': [3.0, 0.0, 0.0]}
    file.write_text(yaml.safe_dump(content))
    process = ros.start('simulator', {**FOUR_BAR, 'extension_file': str(file)})
    ros.processes.remove(process)
    assert process.wait() == 1
    text = process.output()
    assert "'pin'" in text and 'cannot be closed' in text and 'Traceback' not in text
