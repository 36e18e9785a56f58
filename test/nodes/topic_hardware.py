# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Stand-in for a controller manager with hardware by topics, as a separate process.

It does what joint_state_topic_hardware_interface/JointStateTopicSystem 1.1 does: sends the names
of all joints of its tag, and values of those alone that have the command interface; takes each
finite value of a state, and fails if its tag has no such state interface; updates by /clock. State
interfaces of sensors are there, as `HardwareComponentInterface::on_export_state_interfaces` (4.46)
makes them, and `JointStateTopicSystem::read` leaves them at NaN.

It gets the commands of its controllers as JSON, {interface: {joint: value or null}}; it reports
its state ten times a second.
"""

import json
import math
import sys
from xml.etree import ElementTree

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

FIELDS = ('position', 'velocity', 'effort')
UPDATE_RATE = 200.0  # [Hz]


class TopicHardware(Node):
    """A controller manager and its hardware.

    :param description: URDF with a tag
    """

    def __init__(self, description):
        super().__init__(
            'controller_manager', parameter_overrides=[Parameter('use_sim_time', value=True)]
        )
        self.joints, self.commands, self.states = [], {}, {}
        tag = ElementTree.fromstring(description).find('ros2_control')
        for sensor in tag.iterfind('sensor'):
            for each in sensor.iterfind('state_interface'):
                self.states[sensor.get('name'), each.get('name')] = math.nan
        for joint in tag.iterfind('joint'):
            self.joints.append(joint.get('name'))
            for kind, values in (('command', self.commands), ('state', self.states)):
                for each in joint.iterfind(f'{kind}_interface'):
                    values[joint.get('name'), each.get('name')] = math.nan
        self.latest, self.failure, self.updates = None, '', 0
        self.began = 0
        self.sender = self.create_publisher(JointState, '/joint_commands', QoSProfile(depth=1))
        self.reporter = self.create_publisher(String, 'report', 1)
        self.create_subscription(JointState, '/joint_states', self.hear, qos_profile_sensor_data)
        self.create_subscription(String, 'claims', self.claim, 10)
        self.create_timer(1.0 / UPDATE_RATE, self.update)

    def hear(self, message):
        self.latest = message

    def claim(self, message):
        for interface, values in json.loads(message.data).items():
            for joint, value in values.items():
                self.commands[joint, interface] = math.nan if value is None else value

    def update(self):
        now = self.get_clock().now().nanoseconds
        self.began = self.began or now
        self.updates += 1
        if not self.failure and self.latest is not None:
            try:
                self.read(self.latest)
            except (KeyError, IndexError) as error:
                self.failure = f'{type(error).__name__}: {error}'
        if not self.failure:
            self.write()
        if self.updates % 20 == 0:
            report = {
                'failure': self.failure,
                'updates': self.updates,
                'simulated': (now - self.began) * 1e-9,
                'states': {'/'.join(key): value for key, value in self.states.items()},
            }
            self.reporter.publish(String(data=json.dumps(report)))

    def read(self, message):
        for i, name in enumerate(message.name):
            if name not in self.joints:
                continue
            for field in FIELDS:
                values = getattr(message, field)
                # Positions are looked at even if there are none.
                if (field == 'position' or len(values)) and math.isfinite(values[i]):
                    self.states[name, field]  # raises if it is not declared
                    self.states[name, field] = values[i]

    def write(self):
        message = JointState(name=self.joints)
        message.header.stamp = self.get_clock().now().to_msg()
        for field in FIELDS:
            keys = [(name, field) for name in self.joints if (name, field) in self.commands]
            setattr(message, field, [self.commands[key] for key in keys])
        self.sender.publish(message)


def main():
    rclpy.init()
    try:
        rclpy.spin(TopicHardware(sys.argv[1]))
    except (KeyboardInterrupt, ExternalShutdownException):
        pass


if __name__ == '__main__':
    main()
