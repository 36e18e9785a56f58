# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Helpers of the adversarial node tests: rigs in lockstep, raw bytes, floods, their own laws.

A rig is a node in a separate namespace, so several can share a domain. States carry stamps that no
two of them share, so a test knows which state a torque answers.
"""

import itertools
import re
import threading
import time

from node_harness import (
    gravity_torque,
    joint_state,
    reliable,
    stamp,
    TWO_LINK_ARM,
)
import numpy as np
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters, SetParametersAtomically
from rclpy.parameter import parameter_value_to_python
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

NAMES = ('shoulder', 'elbow')
POSE = (0.3, -1.1)
REST = (0.0, 0.0)

# With friction, and a continuous joint without limits of position, velocity or torque.
FRICTION_ARM = TWO_LINK_ARM.replace(
    'velocity="5"/>', 'velocity="5"/><dynamics damping="0.3" friction="0.5"/>'
)
FREE_ARM = re.sub(r'<limit[^>]*/>', '', TWO_LINK_ARM.replace('revolute', 'continuous'))


def torque_of(values, q, v, viscous=(0.0, 0.0), coulomb=(0.0, 0.0), limits=(40.0, 15.0)):
    """Return torque of the two-link arm that gravity_compensation owes for its parameters, (2,).

    From the moments of weights about the axes (both along y).
    """
    a, b = q[0], q[0] + q[1]
    gravity = turned_back(values['gravity'], values['mounting_rpy'])

    def turned(angle, point):
        c, s = np.cos(angle), np.sin(angle)
        x, y, z = point
        return np.array([c * x + s * z, y, c * z - s * x])

    elbow = turned(a, (0.5, 0.0, 0.0))
    payload = np.array(values['payload_center_of_mass'])
    carried = {
        '': (0.0, None, False),
        'base': (0.0, None, False),
        'upper': (1.0, lambda: turned(a, payload), False),
        'lower': (1.0, lambda: elbow + turned(b, payload), True),
        'tool': (1.0, lambda: elbow + turned(b, payload + (0.4, 0.0, 0.0)), True),
    }
    weights = [
        (2.0, turned(a, (0.25, 0.0, 0.0)), False),
        (1.0, elbow + turned(b, (0.2, 0.0, 0.0)), True),
    ]
    share, where, distal = carried[values['payload_link']]
    if share:
        weights.append((values['payload_mass'], where(), distal))
    axis = np.array([0.0, 1.0, 0.0])
    torque = np.zeros(2)
    for mass, point, distal in weights:
        torque[0] -= mass * gravity @ np.cross(axis, point)
        if distal:
            torque[1] -= mass * gravity @ np.cross(axis, point - elbow)
    v = np.array(v)
    torque -= np.array(per_joint(values['damping'] or [0.0])) * v
    if values['friction_compensation'] == 'measured':
        share = values['friction_compensation_scale']
        smooth = np.tanh(v / (values['coulomb_smoothing_velocity'] or 0.05))
        torque += share * (np.array(viscous) * v + np.array(coulomb) * smooth)
    most = np.minimum(limits, per_joint(values['effort_limits'] or [np.inf]))
    return np.clip(torque, -most, most)


def turned_back(vector, rpy):
    """Return the vector of the world in the axes of a base with fixed angles roll, pitch, yaw."""
    x, y, z = vector
    for angle, plane in zip(reversed(rpy), ('xy', 'zx', 'yz')):
        c, s = np.cos(angle), np.sin(angle)
        if plane == 'xy':
            x, y = c * x + s * y, c * y - s * x
        elif plane == 'zx':
            z, x = c * z + s * x, c * x - s * z
        else:
            y, z = c * y + s * z, c * z - s * y
    return np.array([x, y, z])


def per_joint(values):
    return np.broadcast_to(values, (2,))


class Torque:
    """A torque that was heard.

    :param at: when it was sent, by the middleware [s]
    :param stamp: stamp of the message [ns]
    :param effort: (n,)
    """

    def __init__(self, message, information):
        self.at = information['source_timestamp'] * 1e-9
        self.stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        self.effort = np.array(message.effort)
        self.names = tuple(message.name)


class TorqueRig:
    """A torque node in a separate namespace, a publisher of its states, and its output."""

    def __init__(self, ros, module, namespace, parameters=None, arguments=(), wait=True):
        self.ros, self.namespace = ros, namespace
        self.name = f'{namespace}/{module}'
        self.process = ros.start(
            module,
            {'robot_description': TWO_LINK_ARM, **(parameters or {})},
            ('-r', f'__ns:={namespace}', '-r', f'/clock:={namespace}/clock', *arguments),
        )
        self.torques = []
        self._stamp = 0
        ros.node.create_subscription(
            JointState,
            f'{namespace}/joint_commands',
            lambda message, information: self.torques.append(Torque(message, information)),
            reliable(1000),
        )
        self.states = ros.publisher(JointState, f'{namespace}/joint_states', wait=wait)

    def publisher(self, kind, topic):
        return self.ros.publisher(kind, f'{self.namespace}/{topic}')

    # -- torques ----------------------------------------------------------------------------------

    def answer(self, position=POSE, velocity=REST, names=NAMES):
        """Return the torque that answers a state with a new stamp, (n,)."""
        message = joint_state(names, position, velocity)
        return self.answer_to(self._stamped(message), self._stamp)

    def answer_elsewhere(self, position, velocity=REST):
        """Return the torque of a state that is not near the last one.

        It is believed the third time.
        """
        message = joint_state(NAMES, position, velocity)
        for _ in range(2):
            self.states.publish(self._stamped(message))
            self.ros.spin(0.01)
        return self.answer(position, velocity)

    def _stamped(self, message):
        """Return the bytes of a message with a new stamp."""
        self._stamp = max(time.time_ns(), self._stamp + 1_000_000)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self._stamp, 1_000_000_000)
        return serialize_message(message)

    def answer_to(self, data, expected):
        """Effort of the torque with stamp `expected` [ns] that comes when `data` is published."""
        seen, sent = len(self.torques), [0.0]

        def found():
            if time.monotonic() - sent[0] > 0.5:  # states are best effort and may be lost
                self.states.publish(data)
                sent[0] = time.monotonic()
            return next((t for t in self.torques[seen:] if t.stamp == expected), None)

        return self.ros.until(found, 'the torque of a state').effort

    def all_safe(self, limits=(40.0, 15.0)):
        """Return whether every torque so far was finite and within the limits."""
        efforts = np.array([t.effort for t in self.torques])
        return not len(efforts) or bool((np.abs(efforts) <= np.array(limits) + 1e-12).all())

    def gaps(self, since=0):
        """Return the times between torques sent one after another [s]."""
        return np.diff([t.at for t in self.torques[since:]])

    # -- parameters -------------------------------------------------------------------------------

    def parameters(self, names):
        """Return what the node reports, by name."""
        answer = self.ros.call(
            GetParameters, f'{self.name}/get_parameters', GetParameters.Request(names=list(names))
        )
        values = [parameter_value_to_python(value) for value in answer.values]
        assert len(values) == len(names)
        return {
            name: value if isinstance(value, (str, bool, int, float)) else list(value or ())
            for name, value in zip(names, values)
        }

    def set(self, atomically=False, **values):
        """Set parameters; return the results, one a parameter or a single one."""
        parameters = [Parameter(name=n, value=parameter_value(v)) for n, v in values.items()]
        return self.request(parameters, atomically)

    def request(self, parameters, atomically=False):
        kind = SetParametersAtomically if atomically else SetParameters
        verb = 'set_parameters_atomically' if atomically else 'set_parameters'
        answer = self.ros.call(kind, f'{self.name}/{verb}', kind.Request(parameters=parameters))
        return answer.result if atomically else answer.results

    def must_set(self, **values):
        for result in self.set(**values):
            assert result.successful, result.reason


def parameter_value(value):
    """Return the ParameterValue of a Python value.

    None deletes, a number above 9 in a tuple is a type.
    """
    if value is None:
        return ParameterValue(type=ParameterType.PARAMETER_NOT_SET)
    if isinstance(value, bool):
        return ParameterValue(type=ParameterType.PARAMETER_BOOL, bool_value=value)
    if isinstance(value, int):
        return ParameterValue(type=ParameterType.PARAMETER_INTEGER, integer_value=value)
    if isinstance(value, float):
        return ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)
    if isinstance(value, str):
        return ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)
    if value and isinstance(value[0], str):
        return ParameterValue(
            type=ParameterType.PARAMETER_STRING_ARRAY, string_array_value=list(value)
        )
    return ParameterValue(
        type=ParameterType.PARAMETER_DOUBLE_ARRAY, double_array_value=[float(x) for x in value]
    )


class Repeat:
    """Publishes messages, in turns, from a thread; use as a context manager.

    :param publisher: where
    :param messages: messages or bytes, or functions that return one
    :param rate: how often [Hz]
    :param stamped: whether to write the present time into each
    """

    def __init__(self, publisher, messages, rate, stamped=False):
        self.sent = 0
        self._publisher, self._messages, self._rate = publisher, messages, rate
        self._stamped = stamped
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        for each in itertools.cycle(self._messages):
            message = each() if callable(each) else each
            if self._stamped:
                stamp(message, time.time())
            self._publisher.publish(message)
            self.sent += 1
            if self._stop.wait(1.0 / self._rate):
                return

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()


def states_at(rig, position=POSE, velocity=REST, rate=200.0):
    """Return the stream of states with present stamps."""
    return Repeat(rig.states, [joint_state(position=position, velocity=velocity)], rate, True)


def wait_until_ready(ros, rig):
    ros.until(lambda: rig.states.get_subscription_count(), 'the node')


def lines_of(process, *words):
    """Return the lines of a node's log that contain all words."""
    return [line for line in process.output().splitlines() if all(w in line for w in words)]


def gravity_of(position):
    """Return the torque that holds the two-link arm without payload, (2,)."""
    return np.array(list(gravity_torque(position).values()))
