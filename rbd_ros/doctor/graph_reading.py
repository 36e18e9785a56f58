# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Snapshot of a ROS graph, taken by a separate node that listens for a while.

It subscribes best effort to joint states and /clock and transient local to descriptions, requests
lifecycle states and time sources of nodes, publishes nothing, and excludes itself.
"""

from __future__ import annotations

import math
import os
import time
from typing import Any, Callable, Dict, List, Set, Tuple

from rbd_ros.doctor.graph_snapshot import (
    DESCRIPTION,
    Endpoint,
    Graph,
    JOINT_STATES,
    ReceivedClock,
    ReceivedStates,
    Topic,
)
from rbd_ros.doctor.graph_time import CLOCK_TYPE
from rbd_ros.model import load_urdf, ModelError

#: Timeout of responses [s], and maximum number of requested nodes.
RESPONSE_TIMEOUT = 2.0
MAX_NODES = 200

_PARAMETERS, _STATE = 'rcl_interfaces/srv/GetParameters', 'lifecycle_msgs/srv/GetState'
_BOOL = 1  # rcl_interfaces/msg/ParameterType.PARAMETER_BOOL

#: Names of nodes with their responses.
Answers = Tuple[Tuple[str, Any], ...]


def ask_nodes(
    node: Any, names: Tuple[str, ...], spin: Callable[[float], None]
) -> Tuple[Answers, Answers]:
    """Return `use_sim_time` of nodes, and lifecycle states of managed ones.

    :param node: node that sends the requests
    :param names: full names of the nodes
    :param spin: spins the executor of `node` for a time [s]
    :return: (name, whether it follows /clock) and (name, label of its state), of nodes that
        respond
    """
    from rcl_interfaces.srv import GetParameters

    services = {name: set(types) for name, types in node.get_service_names_and_types()}
    requests: List[Tuple[Any, Dict[str, Any], str]] = []
    sim_time: Dict[str, Any] = {}
    states: Dict[str, Any] = {}
    for name in dict.fromkeys(names[:MAX_NODES]):
        if _PARAMETERS in services.get(f'{name}/get_parameters', ()):
            client = node.create_client(GetParameters, f'{name}/get_parameters')
            requests.append((client, sim_time, name))
        if _STATE in services.get(f'{name}/get_state', ()):
            from lifecycle_msgs.srv import GetState

            requests.append((node.create_client(GetState, f'{name}/get_state'), states, name))
    end = time.monotonic() + RESPONSE_TIMEOUT
    waiting = requests
    while waiting and time.monotonic() < end:
        later = []
        for client, answers, name in waiting:
            if not client.service_is_ready():
                later.append((client, answers, name))
            elif answers is sim_time:
                request = GetParameters.Request(names=['use_sim_time'])
                answers[name] = client.call_async(request)
            else:
                answers[name] = client.call_async(GetState.Request())
        waiting = later
        spin(0.02)
    while time.monotonic() < end and not all(
        future.done() for future in (*sim_time.values(), *states.values())
    ):
        spin(0.02)
    return _follows(sim_time), _labels(states)


def _answered(futures: Dict[str, Any]) -> List[Tuple[str, Any]]:
    return [
        (name, future.result())
        for name, future in sorted(futures.items())
        if future.done() and future.exception() is None
    ]


def _follows(futures: Dict[str, Any]) -> Answers:
    found = []
    for name, answer in _answered(futures):
        if answer.values and answer.values[0].type == _BOOL:
            found.append((name, bool(answer.values[0].bool_value)))
    return tuple(found)


def _labels(futures: Dict[str, Any]) -> Answers:
    return tuple((name, answer.current_state.label) for name, answer in _answered(futures))


NODE = 'rbd_ros_doctor'
#: Time for further discovery after the first node, before messages are counted [s].
_DISCOVERY = 1.0
#: Timeout of the first discovery: a lost announcement is repeated after 3 s.
_DISCOVERY_TIMEOUT = 6.0
_STATES, _STRING = 'sensor_msgs/msg/JointState', 'std_msgs/msg/String'
#: Middleware by the vendor id at the beginning of its endpoint identifiers, as in DDSI-RTPS.
_VENDORS = {(1, 15): 'Fast DDS', (1, 16): 'Cyclone DDS', (1, 1): 'Connext'}
_ENDLESS = 1e9  # longer deadlines count as none [s]


def read_graph(duration: float = 3.0) -> Graph:
    """Return the snapshot of the graph of this process's ROS domain.

    :param duration: time of listening after the discovery of nodes [s]
    :raises ValueError: if rclpy is missing, or no node can be created

    >>> from rbd_ros.doctor.graph_reading import read_graph
    >>> read_graph(-1.0)
    Traceback (most recent call last):
        ...
    ValueError: --listen must be from 0 to 3600 s, got -1
    """
    if not 0.0 <= duration <= 3600.0:
        raise ValueError(f'--listen must be from 0 to 3600 s, got {duration:g}')
    try:
        from rclpy import init
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.node import Node
        from rclpy.signals import SignalHandlerOptions
    except ImportError as error:
        raise ValueError(
            f"--graph needs ROS 2 ({error}): source it, or pip install 'rbd_ros[ros]'"
        ) from None
    context = Context()
    try:
        # Python handles Ctrl-C.
        init(args=[], context=context, signal_handler_options=SignalHandlerOptions.NO)
        node: Any = Node(
            f'{NODE}_{os.getpid()}',
            context=context,
            start_parameter_services=False,
            enable_rosout=False,
        )
    except Exception as error:  # rclpy has no common base class of them
        context.try_shutdown()
        raise ValueError(f'no node can be created: {error}; see rbd_ros doctor') from None
    executor: Any = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    try:
        return _Listener(node, executor).listen(duration)
    finally:
        executor.shutdown()
        node.destroy_node()
        context.try_shutdown()


class _Listener:
    """Record of the messages that a node receives."""

    def __init__(self, node: Any, executor: Any):
        self._node, self._executor = node, executor
        self._states: Dict[str, List[Tuple[float, Any]]] = {}
        self._descriptions: Dict[str, str] = {}
        self._clocks: Dict[str, List[Tuple[float, float]]] = {}

    def listen(self, duration: float) -> Graph:
        """Find topics, listen to those of robots, and finally inspect all topics."""
        begin = time.monotonic()
        while not self._nodes() and time.monotonic() < begin + _DISCOVERY_TIMEOUT:
            self._spin(0.1)
        self._spin(_DISCOVERY)
        for received in (*self._states.values(), *self._clocks.values()):
            received.clear()
        self._spin(duration)
        clocks = {topic: list(received) for topic, received in sorted(self._clocks.items())}
        nodes = self._nodes()
        sim_time, states = ask_nodes(self._node, nodes, self._take)
        received_states = tuple(
            _received_states(topic, duration, received)
            for topic, received in sorted(self._states.items())
        )
        joints = []
        for topic, text in sorted(self._descriptions.items()):
            try:
                joints.append((topic, described_joints(text)))
            except ModelError:
                continue  # rbd_ros doctor robot.urdf checks the description
        topics = tuple(self._topics())
        published = {topic.name for topic in topics if topic.publishers}
        return Graph(
            nodes,
            topics,
            tuple(received for received in received_states if received.topic in published),
            tuple(joints),
            tuple(
                _received_clock(*each, duration) for each in clocks.items() if each[0] in published
            ),
            sim_time,
            states,
        )

    def _spin(self, duration: float) -> None:
        """Process messages; look for topics ten times a second."""
        end = time.monotonic() + duration
        while time.monotonic() < end:
            self._subscribe()
            self._take(min(0.1, max(0.0, end - time.monotonic())))

    def _take(self, duration: float) -> None:
        """Process messages for some time [s]."""
        end = time.monotonic() + duration
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=max(0.0, end - time.monotonic()))

    def _subscribe(self) -> None:
        from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
        from rosgraph_msgs.msg import Clock
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String

        make_profile: Any = QoSProfile
        for topic, types in self._node.get_topic_names_and_types():
            last = topic.rpartition('/')[2]
            if last == JOINT_STATES and _STATES in types and topic not in self._states:
                received = self._states[topic] = []
                quality = make_profile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
                self._node.create_subscription(
                    JointState,
                    topic,
                    lambda message, received=received: received.append(
                        (time.monotonic(), message)
                    ),
                    quality,
                )
            if CLOCK_TYPE in types and topic not in self._clocks:
                ticks = self._clocks[topic] = []
                quality = make_profile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
                self._node.create_subscription(
                    Clock,
                    topic,
                    lambda message, ticks=ticks: ticks.append(
                        (time.monotonic(), message.clock.sec + 1e-9 * message.clock.nanosec)
                    ),
                    quality,
                )
            if last == DESCRIPTION and _STRING in types and topic not in self._descriptions:
                self._descriptions[topic] = ''
                quality = make_profile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
                self._node.create_subscription(
                    String,
                    topic,
                    lambda message, topic=topic: self._descriptions.update({topic: message.data}),
                    quality,
                )

    def _nodes(self) -> Tuple[str, ...]:
        names = self._node.get_node_names_and_namespaces()
        return tuple(sorted(_full(*pair) for pair in names if pair[0] != self._node.get_name()))

    def _topics(self) -> List[Topic]:
        found = []
        for name, _ in self._node.get_topic_names_and_types():
            ends = [
                tuple(_endpoint(info) for info in infos if info.node_name != self._node.get_name())
                for infos in (
                    self._node.get_publishers_info_by_topic(name),
                    self._node.get_subscriptions_info_by_topic(name),
                )
            ]
            if any(ends):
                found.append(Topic(name, *ends))
        return found


def described_joints(text: str) -> Tuple[str, ...]:
    """Return the joints of a URDF that need joint states, in the order of the description.

    These are the joints with one degree of freedom that follow no other joint.

    :param text: the URDF
    :raises ModelError: if it is invalid
    """
    return model_joints(load_urdf(text))


def model_joints(model: Any) -> Tuple[str, ...]:
    """Return the joints of a model that need joint states, in the order of the description.

    :param model: the model
    """
    bodies = (model.body(i) for i in model.independent)
    return tuple(body.joint_name for body in bodies if body.joint.nq == 1)


def _received_clock(
    topic: str, ticks: List[Tuple[float, float]], duration: float
) -> ReceivedClock:
    return ReceivedClock(
        topic, duration, tuple(when for when, _ in ticks), tuple(now for _, now in ticks)
    )


def _received_states(
    topic: str, duration: float, messages: List[Tuple[float, Any]]
) -> ReceivedStates:
    orders: Dict[Tuple[str, ...], None] = {}
    stamps: Set[Tuple[int, int]] = set()
    odd = not_finite = 0
    for _, message in messages:
        count = len(message.name)
        orders[tuple(message.name)] = None
        stamps.add((message.header.stamp.sec, message.header.stamp.nanosec))
        fields = (message.position, message.velocity, message.effort)
        odd += any(len(field) not in (0, count) for field in fields)
        not_finite += not all(map(math.isfinite, message.position))
    return ReceivedStates(
        topic,
        duration,
        tuple(when for when, _ in messages),
        tuple(orders),
        odd,
        not_finite,
        len(stamps) > 1 or len(messages) < 2,
    )


def _endpoint(info: Any) -> Endpoint:
    from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

    quality = info.qos_profile
    deadline = quality.deadline.nanoseconds * 1e-9
    return Endpoint(
        _full(info.node_name, info.node_namespace),
        info.topic_type,
        quality.reliability != ReliabilityPolicy.BEST_EFFORT,
        quality.durability == DurabilityPolicy.TRANSIENT_LOCAL,
        deadline if deadline < _ENDLESS else 0.0,
        _VENDORS.get(tuple(info.endpoint_gid[:2]), ''),
    )


def _full(name: str, namespace: str) -> str:
    return f'{namespace.rstrip("/")}/{name}'
