# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The other side of a simulator in lockstep, in the process of a test."""

import time

from node_harness import reliable, TWO_LINK_ARM
import rclpy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.waiting import until

from rbd_ros.nodes.simulator.cycle.lockstep import stamp_of
from rbd_ros.wire import JointStateWriter

MILLISECOND = 1_000_000


class Controller:
    """The other side of the simulator, which takes states by hand and answers on demand."""

    def __init__(self, ros, namespace, parameters):
        self.ros = ros
        self.name = f'/{namespace}/simulator'
        # On a node without executor: states are taken explicitly.
        self.node = rclpy.create_node(f'controller_{namespace}', context=ros.context)
        self.since = ros.mark()
        self.process = ros.start(
            'simulator',
            {'robot_description': TWO_LINK_ARM, 'clock_publish_rate': 0.0, **parameters},
            ['-r', f'__ns:=/{namespace}'],
        )
        self._states = self.node.create_subscription(
            JointState, f'/{namespace}/joint_states', lambda _: None, reliable(100), raw=True
        )
        self._commands = self.node.create_publisher(
            JointState, f'/{namespace}/joint_commands', reliable(100)
        )
        self.arrays = self.node.create_publisher(
            Float64MultiArray, f'/{namespace}/effort_commands', reliable(100)
        )
        self._writer = JointStateWriter(['shoulder', 'elbow'], ['effort'])
        for publisher in (self._commands, self.arrays):
            ros.until(publisher.get_subscription_count, 'the simulator')
        self.last = 0

    def close(self):
        self.process.stop()
        self.node.destroy_node()
        if self.process in self.ros.processes:
            self.ros.processes.remove(self.process)

    def take(self):
        """Take a state that has come, as bytes; None if there is none."""
        taken = self._states.handle.take_message(JointState, True)
        return None if taken is None else bytes(taken[0])

    def state(self):
        """Wait for the next state, as bytes; copies of the last one are left out."""

        def new():
            data = self.take()
            return data if data is not None and stamp_of(data) > self.last else None

        data = until(
            new, lambda: 'a state: ' + self.process.output()[-2000:], lambda: time.sleep(2e-5)
        )
        self.last = stamp_of(data)
        return data

    def answer(self, stamp, effort=(0.0, 0.0)):
        self._writer.effort[:] = effort
        self._writer.set_stamp_ns(stamp)
        self._commands.publish(bytes(self._writer.data()))

    def stands_still(self, seconds=0.5):
        """Return whether no new state arrives for a while, only repetitions of the last."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            data = self.take()
            if data is not None and stamp_of(data) > self.last:
                return False
            time.sleep(0.001)
        return True

    def values(self):
        """Return the counts of diagnostics that were published from now on."""
        self.ros.spin(0.3)  # drop messages in transit
        since = self.ros.mark()

        def newest():
            for status in reversed(self.ros.diagnostics[since:]):
                if status.name.endswith('lockstep'):
                    return {each.key: float(each.value) for each in status.values}
            return None

        return self.ros.until(newest, 'values of lockstep')

    def until_counted(self, name, count):
        self.ros.until(lambda: self.values()[name] >= count, f'{count} {name}')

    def call(self, kind, service, request):
        return self.ros.call(kind, f'{self.name}/{service}', request)


def make_controllers(ros):
    """Yield a function that makes controllers, each with a simulator; a fixture."""
    made = []

    def make(name, **parameters):
        made.append(Controller(ros, name, parameters))
        return made[-1]

    yield make
    for each in made:
        each.close()
