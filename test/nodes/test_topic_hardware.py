# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator behind ros2_control: a process with the topics of its hardware."""

import json
import math
import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import WrenchStamped
from node_harness import gravity_torque, TWO_LINK_ARM
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from rbd_ros.model.urdf.control_interfaces import PLUGIN
from rbd_ros.nodes.common.diagnostics import OK, WARN

TIMESTEP_NS = 2_500_000
START = [0.5, -0.8]
JOINTS = ('shoulder', 'elbow')
INTERFACES = ('position', 'velocity', 'effort')
# With a joint that has no command interface, and no interface for the effort that there is.
TAG = ''.join(
    f'<joint name="{name}">'
    + ''.join(f'<command_interface name="{each}"/>' for each in commands)
    + ''.join(f'<state_interface name="{each}"/>' for each in states)
    + '</joint>'
    for name, commands, states in (
        ('shoulder', INTERFACES, INTERFACES[:2]),
        ('tool_mount', (), ()),
        ('elbow', INTERFACES, INTERFACES[:2]),
    )
)
HARDWARE = f'<hardware><plugin>{PLUGIN}</plugin></hardware>'
SENSOR = (
    '<sensor name="wrist"><state_interface name="force.z"/><param name="frame_id">tool</param>'
    '</sensor>'
)
ARM = TWO_LINK_ARM.replace(
    '</robot>',
    f'<ros2_control name="arm" type="system">{HARDWARE}{TAG}{SENSOR}</ros2_control></robot>',
)


class Rig:
    def __init__(self, ros):
        self.ros = ros
        self.reports = ros.listen(String, 'report')
        self.states = ros.listen(JointState, 'joint_states')
        self.clock = ros.listen(Clock, '/clock')
        self.simulator = ros.start(
            'simulator',
            {
                'robot_description': ARM,
                'initial_positions': START,
                'command_timeout': 0.3,
                'timestep': TIMESTEP_NS * 1e-9,
            },
        )
        self.claims = ros.publisher(String, 'claims', wait=False)
        self.process = None

    def start(self):
        """Start the other side, and wait until it runs."""
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name('topic_hardware.py')), ARM],
            env={**os.environ, 'ROS_DOMAIN_ID': str(self.ros.domain)},
        )
        self.reports.clear()
        self.ros.until(lambda: self.reports, 'a report of the hardware')
        self.ros.until(self.claims.get_subscription_count, 'a listener to claims')

    def clock_periods(self):
        """Return the differences between times on /clock [ns]."""
        times = [each.clock.sec * 10**9 + each.clock.nanosec for each in self.clock]
        return {b - a for a, b in zip(times, times[1:])}

    def kill(self):
        """End the other side as a crash does."""
        self.process.kill()
        self.process.wait()

    def claim(self, **values):
        """Let controllers command values of the joints, by interface; None: NaN."""
        given = {name: dict(zip(JOINTS, each)) for name, each in values.items()}
        self.claims.publish(String(data=json.dumps(given)))

    def report(self):
        count = len(self.reports)
        self.ros.until(lambda: len(self.reports) > count + 1, 'a new report')
        return json.loads(self.reports[-1].data)

    def until_at(self, *position, tolerance=2e-3):
        def there():
            state = self.states[-1]
            return all(abs(a - b) < tolerance for a, b in zip(state.position, position))

        self.ros.until(there, f'the position {position}')


@pytest.fixture(scope='module')
def rig(ros):
    rig = Rig(ros)
    rig.start()
    yield rig
    rig.kill()


def test_the_hardware_reads_states_and_moves_nothing_before_a_controller_is_active(rig):
    status = rig.ros.until_status('NaN is not a command', 'commands', level=OK)
    assert status
    report = rig.report()
    assert not report['failure']
    assert set(report['states']) == {
        'wrist/force.z',
        *(f'{name}/{each}' for name in JOINTS for each in INTERFACES[:2]),
    }
    assert [report['states'][f'{name}/position'] for name in JOINTS] == START


def test_a_sensor_that_the_hardware_leaves_at_nan_is_named_with_its_topic(rig):
    assert math.isnan(rig.report()['states']['wrist/force.z'])
    assert 'wrist: wrist/wrench' in rig.simulator.output()
    wrenches = rig.ros.listen(WrenchStamped, 'wrist/wrench')
    rig.ros.until(lambda: wrenches, 'what the sensor measures')
    assert math.isfinite(wrenches[-1].wrench.force.z)


def test_the_clock_comes_every_cycle_for_the_manager(rig):
    """By one of 100 Hz, a manager of 200 Hz does half of its cycles."""
    rig.ros.until(lambda: TIMESTEP_NS in rig.clock_periods(), 'a clock of every cycle')


def test_switching_from_effort_to_position_and_back(rig):
    rig.claim(position=(0.7, -0.4))
    rig.until_at(0.7, -0.4)
    torque = list(gravity_torque((0.7, -0.4)).values())
    rig.claim(effort=(torque[0], torque[1] + 0.5))
    rig.ros.until(lambda: rig.states[-1].position[1] > -0.3, 'the elbow moves by its effort')
    # The joint trajectory controller leaves efforts of zero behind.
    rig.claim(effort=(0.0, 0.0), position=(0.6, -0.5))
    rig.until_at(0.6, -0.5)
    rig.ros.spin(0.5)
    rig.until_at(0.6, -0.5)
    assert not rig.report()['failure']


def test_from_velocity_to_nan_the_velocity_times_out_only_with_the_messages(rig):
    rig.claim(position=(0.6, -0.5), effort=(0.0, 0.0))
    rig.until_at(0.6, -0.5)
    rig.claim(velocity=(-0.2, 0.0))
    rig.ros.until(lambda: rig.states[-1].position[0] < 0.5, 'the shoulder moves')
    rig.claim(velocity=(0.0, 0.0))
    rig.ros.until(lambda: abs(rig.states[-1].velocity[0]) < 1e-3, 'the shoulder stops')
    rig.claim(position=(0.6, -0.5 + 1e-6))
    rig.ros.spin(0.2)
    rig.claim(position=(0.6 + 1e-6, -0.5))
    rig.until_at(0.6, -0.5)


def test_death_in_position_mode_is_reported_and_a_new_manager_continues(rig):
    rig.claim(position=(0.4, -0.4), effort=(0.0, 0.0), velocity=(0.0, 0.0))
    rig.until_at(0.4, -0.4)
    since = rig.ros.mark()
    rig.kill()
    rig.ros.until_status('command timeout after 0.3 s', 'commands', level=WARN, since=since)
    rig.until_at(0.4, -0.4)
    rig.start()
    rig.claim(position=(0.5, -0.6), effort=(0.0, 0.0))
    rig.until_at(0.5, -0.6)
    assert not rig.report()['failure']


def test_commands_that_come_late_are_reported(rig):
    """A manager that stands still for a while, and simulated time goes on without it."""

    def stopped():
        rig.process.send_signal(signal.SIGSTOP)
        count = len(rig.states)
        rig.ros.until(lambda: len(rig.states) > count + 40, 'a tenth of a second')
        rig.process.send_signal(signal.SIGCONT)
        return rig.ros.status('is not reliable', 'simulation', level=WARN)

    rig.claim(position=START)
    rig.ros.until(lambda: rig.report() and stopped(), 'the warning')
    assert 'gap between two commands' in rig.ros.status('is not reliable').message


def test_time_that_is_lost_is_not_made_good_while_a_manager_follows_the_clock(rig):
    """By max_catch_up_rate all of it would be, and the manager would have to hurry."""

    def lost(since):
        status = rig.ros.status('', 'simulator: simulation', since=since)
        values = {} if status is None else {each.key: each.value for each in status.values}
        return 'lost_time_s' in values and [float(values['lost_time_s'])]

    (before,) = rig.ros.until(lambda: lost(0), 'the time lost before')
    for _ in range(8):
        rig.simulator.process.send_signal(signal.SIGSTOP)
        time.sleep(0.05)
        rig.simulator.process.send_signal(signal.SIGCONT)
        rig.ros.spin(0.5)  # in which 0.05 s would be made good
    since = rig.ros.mark()
    (after,) = rig.ros.until(lambda: lost(since), 'the time lost')
    assert after - before > 8 * 0.045
