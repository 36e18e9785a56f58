# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Node processes and a test node beside them, alone in a ROS domain of this machine.

Each test module has a separate `Ros`. Everything waits for a condition with a generous limit; no
test depends on how long something took.
"""

import contextlib
import itertools
import os
from pathlib import Path, PurePosixPath
import signal
import subprocess
import sys
import threading
import time

from support import outside
from support.waiting import CEILING, until

outside.load('rclpy')  # without it, tests that import the harness are skipped

from diagnostic_msgs.msg import DiagnosticArray
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
)
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
import yaml

from rbd_ros.nodes.bench.domains import free_domain
from rbd_ros.nodes.common.repeated_request import RepeatedRequest

ROOT = Path(__file__).resolve().parents[2]

TWO_LINK_ARM = """
<robot name="two_link">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.25 0 0"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
    <inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="40" velocity="5"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
    <origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2.5" upper="2.5" effort="15" velocity="5"/></joint>
  <joint name="tool_mount" type="fixed"><parent link="lower"/><child link="tool"/>
    <origin xyz="0.4 0 0"/></joint>
</robot>
"""
LIMITS = {'shoulder': 40.0, 'elbow': 15.0}


def reliable(depth=10, transient_local=False):
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=(
            DurabilityPolicy.TRANSIENT_LOCAL if transient_local else DurabilityPolicy.VOLATILE
        ),
    )


def gravity_torque(q, payload=0.0):
    """Return holding torques of the two-link arm from first principles (axes along y, x out)."""
    import math

    g, (a, b) = 9.81, q
    elbow = -g * (1.0 * 0.2 + payload * 0.4) * math.cos(a + b)
    shoulder = elbow - g * (2.0 * 0.25 + (1.0 + payload) * 0.5) * math.cos(a)
    return {'shoulder': shoulder, 'elbow': elbow}


def with_signals(command):
    """Return the command that gets signals even if the tests run in the background.

    Where some are ignored.

    What is ignored is inherited, and a node leaves it so: it would have to be killed.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    ignored = [n.name[3:] for n in numbers if signal.getsignal(n) is signal.SIG_IGN]
    return ['env', f'--default-signal={",".join(ignored)}', *command] if ignored else command


class NodeProcess:
    """A node as users run it: `python -m rbd_ros.nodes.<module>`."""

    _numbers = itertools.count()

    def __init__(self, folder, domain, module, parameters=None, arguments=()):
        self.log = Path(folder) / f'{module}_{next(self._numbers)}.log'
        command = [sys.executable, '-m', f'rbd_ros.nodes.{module}', '--ros-args', *arguments]
        if parameters:
            file = self.log.with_suffix('.yaml')
            file.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}))
            command += ['--params-file', str(file)]
        environment = {
            **os.environ,
            'ROS_DOMAIN_ID': str(domain),
            'PYTHONUNBUFFERED': '1',
            'PYTHONPATH': os.pathsep.join([os.environ.get('PYTHONPATH', ''), str(ROOT)]).strip(
                os.pathsep
            ),
        }
        with open(self.log, 'w') as file:
            self.process = subprocess.Popen(
                with_signals(command),
                stdout=file,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=folder,
            )

    def output(self):
        return self.log.read_text()

    def alive(self):
        return self.process.poll() is None

    def stop(self, number=signal.SIGINT):
        """Send a signal and return the exit code."""
        if self.alive():
            self.process.send_signal(number)
        return self.wait()

    def wait(self):
        try:
            return self.process.wait(CEILING)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return 'had to be killed'


class Ros:
    """A ROS domain with a test node; use as a context manager."""

    def __init__(self, folder):
        self.folder = folder
        self.domain, self._domain_lock = free_domain(os.getpid())
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        if os.environ.get('ROS_DISTRO') == 'humble':
            os.environ['ROS_LOCALHOST_ONLY'] = '1'
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=self.domain)
        self.node = rclpy.create_node('tester', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.processes = []
        self.diagnostics = []
        self._mark = 0  # time of the last mark [ns]
        self.node.create_subscription(
            DiagnosticArray, '/diagnostics', self._take_diagnostics, reliable(100)
        )
        self._clients = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.stop()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)
        self._domain_lock.close()

    def start(self, module, parameters=None, arguments=()):
        process = NodeProcess(self.folder, self.domain, module, parameters, arguments)
        self.processes.append(process)
        self._clients.clear()  # those of a node of the same name have to be found again
        return process

    # -- waiting ----------------------------------------------------------------------------------

    def until(self, condition, what, ceiling=CEILING):
        """Spin until `condition()` is true, and return what it returned."""

        def seen():
            logs = '\n'.join(p.output()[-3000:] for p in self.processes)
            last = sorted({f'{s.name} [{s.level!r}] {s.message}' for s in self.diagnostics[-50:]})
            text = what() if callable(what) else what
            return f'{text}\nlast diagnostics: {last}\n{logs}'

        def spin():
            self.executor.spin_once(timeout_sec=0.02)
            # Of a node that has failed nothing will come any more.
            assert not any(p.process.poll() for p in self.processes), seen()

        return until(condition, seen, spin, ceiling)

    def spin(self, duration):
        end = time.monotonic() + duration
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.01)

    def listen(self, kind, topic, qos=None):
        """Return a list that grows with the messages of a topic."""
        messages = []
        self.node.create_subscription(kind, topic, messages.append, qos or reliable(200))
        return messages

    def publisher(self, kind, topic, qos=None, wait=True):
        publisher = self.node.create_publisher(kind, topic, qos or reliable(1))
        if wait:
            self.until(publisher.get_subscription_count, f'a subscription to {topic}')
        return publisher

    def _take_diagnostics(self, message, info):
        if info['source_timestamp'] >= self._mark:
            self.diagnostics.extend(message.status)

    def mark(self):
        """Return the index of the first diagnostic status that is published from now on.

        Those on their way, such as of a process that has ended since, are dropped.
        """
        self._mark = time.time_ns()
        return len(self.diagnostics)

    def status(self, text, subject='', level=None, since=0):
        """Return the newest diagnostic status whose message contains `text`."""
        for status in reversed(self.diagnostics[since:]):
            if (
                text in status.message
                and status.name.endswith(subject)
                and (level is None or status.level == level)
            ):
                return status
        return None

    def until_status(self, text, subject='', level=None, since=0):
        return self.until(
            lambda: self.status(text, subject, level, since), f'diagnostics with {text!r}'
        )

    # -- services ---------------------------------------------------------------------------------

    def client(self, kind, name):
        """Return the client of a service that will get every response."""
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = self.node.create_client(kind, name)
            self.until(client.service_is_ready, f'service {name}')
            self._until_found(name)
        return client

    def _until_found(self, name):
        """Wait until the node of a service has found the clients that there are."""
        services = {each for each, _ in self.node.get_service_names_and_types()}
        for node in map(str, PurePosixPath(name).parents):
            if (probe := f'{node}/get_parameter_types') in services:
                client = self.node.create_client(GetParameterTypes, probe)
                request = RepeatedRequest(client, GetParameterTypes.Request())
                self.until(request.answered, f'answer of {probe}')
                self.node.destroy_client(client)
                return

    def call(self, kind, name, request):
        future = self.client(kind, name).call_async(request)
        self.until(future.done, f'answer of {name}')
        return future.result()

    def set_parameters(self, node, **values):
        request = SetParameters.Request(
            parameters=[Parameter(k, value=v).to_parameter_msg() for k, v in values.items()]
        )
        return self.call(SetParameters, f'{node}/set_parameters', request).results

    def set_parameter(self, node, name, value):
        """Set one parameter, which must succeed."""
        result = self.set_parameters(node, **{name: value})[0]
        assert result.successful, result.reason

    def parameter_names(self, node):
        names = self.call(
            ListParameters, f'{node}/list_parameters', ListParameters.Request(depth=0)
        ).result.names
        return set(names)

    def describe_parameters(self, node, names):
        return self.call(
            DescribeParameters,
            f'{node}/describe_parameters',
            DescribeParameters.Request(names=sorted(names)),
        ).descriptors

    def get_parameters(self, node, names):
        return self.call(
            GetParameters, f'{node}/get_parameters', GetParameters.Request(names=list(names))
        ).values


class Feed:
    """Publishes a message again and again from a thread, as a robot does.

    :param clock: time of each message [s]
    """

    def __init__(self, publisher, message, rate=200.0, stamped=True, clock=time.time):
        self.message = message  # may be replaced; None: silence
        self._publisher, self._period, self._stamped = publisher, 1.0 / rate, stamped
        self.offset = 0.0  # added to the time stamp [s]
        self._clock = clock
        self._stop = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop:
            message = self.message() if callable(self.message) else self.message
            if message is not None:
                if self._stamped:
                    stamp(message, self._clock() + self.offset)
                with contextlib.suppress(Exception):
                    self._publisher.publish(message)
            time.sleep(self._period)

    def stop(self):
        self._stop = True
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def stamp(message, seconds):
    whole = int(seconds)
    message.header.stamp.sec, message.header.stamp.nanosec = whole, int((seconds - whole) * 1e9)


def joint_state(names=('shoulder', 'elbow'), position=(), velocity=(), effort=()):
    return JointState(
        name=list(names),
        position=[float(x) for x in position],
        velocity=[float(x) for x in velocity],
        effort=[float(x) for x in effort],
    )


def efforts(*values):
    return Float64MultiArray(data=[float(x) for x in values])


def effort_by_name(message):
    return dict(zip(message.name, message.effort))
