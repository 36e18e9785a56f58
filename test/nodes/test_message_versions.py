# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Optional packages of messages in every released version, as plain classes.

Their fields are those of the tags of simulation_interfaces and control_msgs. Distributions differ
as well: since Lyrical, sequences of bytes may be buffers of a device.
"""

import importlib
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from support import control_messages, outside, plain_messages, simulation_messages

outside.load('rclpy')

from rclpy.action import GoalResponse
from test_node_parameters import INTERFACES
from test_world_interface import Rig as Cycle
from trajectory_msgs.msg import JointTrajectoryPoint

from rbd_ros.control.motion.tolerances import Tolerances
from rbd_ros.nodes.common.communication import message_type
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE
from rbd_ros.nodes.simulator.standard_services.simulation_interfaces import (
    offer_simulation_interfaces,
)
from rbd_ros.nodes.simulator.world.object_changes import ObjectChanges
from rbd_ros.nodes.torque import follow_action
from rbd_ros.nodes.torque.following import Moment

OK = 1
PAUSED = 2
CRATE = '{type: box, size: [0.1, 0.1, 0.1], static: false, mass: 1}'
WORLD = """
objects:
  wall: {type: box, size: [1, 1, 1], xyz: [5, 0, 0]}
  ball: {type: sphere, radius: 0.1, xyz: [0, 3, 1], static: false, mass: 0.5}
poses:
  bin: {xyz: [1, 2, 3], tags: [place], size: [2, 4, 1]}
"""


class Node:
    """Stand-in of the simulator node for the services."""

    def __init__(self, folder, srv):
        made = Cycle(folder, text=WORLD)
        self.cycle, self.diagnostics, self.parameters = made.cycle, made.reported, made.parameters
        self.parameters = _Parameters(made.parameters)
        self.world_interface = self.cycle.world_interface
        self.loop = SimpleNamespace(paused=False, cycles=1, request=lambda work: work())
        self.changes = ObjectChanges(self)
        self.services, self.srv = {}, srv
        self.offered = offer_simulation_interfaces(self, self._offer)

    def _offer(self, kind, name, callback):
        self.services[name.removeprefix('~/')] = kind, callback

    def get_logger(self):
        return SimpleNamespace(info=lambda text: None)

    def pause(self, paused):
        self.loop.paused = paused
        return True, ''

    def step(self, count):
        self.loop.cycles += count
        return True, ''

    def reset(self):
        return True, ''

    def ask(self, name, /, **request):
        kind, callback = self.services[name]
        response = callback(kind.Request(**request), kind.Response())
        result = getattr(response, 'result', None)
        assert result is None or result.result == OK, f'{name}: {result.error_message}'
        return response


class _Parameters(dict):
    @property
    def values(self):
        return self


@pytest.fixture(params=simulation_messages.OLDER)
def node(request, monkeypatch, tmp_path):
    messages, services, features = simulation_messages.released(request.param)
    others = {
        name: getattr(importlib.import_module(f'{package}.msg'), name)
        for name, package in simulation_messages.OTHERS.items()
    }
    constants = {**simulation_messages.CONSTANTS, 'SimulatorFeatures': features}
    made = plain_messages.modules(
        simulation_messages.PACKAGE, messages, services, others, constants
    )
    for name, module in made.items():
        monkeypatch.setitem(sys.modules, name, module)
    found = Node(tmp_path, made['simulation_interfaces.srv'])
    found.msg = made['simulation_interfaces.msg']
    found.types = services
    return found


def resource(node, message, **values):
    """Say in a request where something is described, wherever its version has that."""
    for field in ('entity_resource', 'world_resource'):
        if hasattr(message, field):
            message = getattr(message, field)
    for name, value in values.items():
        setattr(message, name, value)


def test_every_service_of_every_version_of_simulation_interfaces_answers(node, tmp_path):
    left = set(node.offered)
    assert len(left) == len(node.types)
    assert left <= {each.name.removeprefix('~/') for each in INTERFACE.services}

    def ask(name, /, **request):
        left.discard(name)
        return node.ask(name, **request)

    def asked(name, **values):
        kind, _ = node.services[name]
        request = kind.Request()
        resource(node, request, **values)
        return {field: getattr(request, field) for field in request.FIELDS}

    features = ask('get_simulator_features').features
    known = node.msg.SimulatorFeatures
    assert known.ENTITY_BOUNDS in features.features and features.spawn_formats
    names = ask('get_entities').entities
    assert {'robot', 'wall', 'ball'} <= set(names)
    assert len(ask('get_entities_states').states) == len(names)
    state = ask('get_entity_state', entity='ball').state
    state.pose.position.z = 4.0
    flags = {'set_pose': True} if 'set_pose' in node.types['SetEntityState'][0] else {}
    ask('set_entity_state', entity='ball', state=state, **flags)
    assert ask('get_entity_state', entity='ball').state.pose.position.z == 4.0
    info = ask('get_entity_info', entity='ball').info
    ask('set_entity_info', entity='ball', info=info)
    assert ask('get_entity_bounds', entity='ball').bounds.type == 1
    assert ask('get_named_pose_bounds', name='bin').bounds.type == 1
    assert [each.name for each in ask('get_named_poses').poses] == ['bin']

    (tmp_path / 'crate.yaml').write_text(CRATE)
    (found,) = ask('get_spawnables', sources=[str(tmp_path / 'crate.yaml')]).spawnables
    uri = getattr(found, 'entity_resource', found).uri
    (tmp_path / 'a_package' / 'parts').mkdir(parents=True)
    (tmp_path / 'a_package' / 'parts' / 'crate.yaml').write_text(CRATE)
    node.parameters['package_paths'] = [str(tmp_path)]
    assert len(ask('get_spawnables', sources=['package://a_package/parts']).spawnables) == 1
    request = {**asked('spawn_entity', uri=uri), 'name': 'first'}
    assert ask('spawn_entity', **request).entity_name == 'first'
    if 'spawn_entities' in left:
        second = node.msg.SpawnEntity(name='second')
        resource(node, second, resource_string=CRATE)
        (result,) = ask('spawn_entities', spawn_requests=[second]).results
        assert result.entity_name == 'second'
    ask('delete_entity', entity='first')

    ask('reset_simulation')
    assert ask('get_simulation_state').state.state == 1
    ask('set_simulation_state', state=node.msg.SimulationState(state=PAUSED))
    ask('step_simulation', steps=3)
    if 'load_world' in left:
        assert ask('get_available_worlds').worlds
        loaded = ask('load_world', **asked('load_world', resource_string='objects: {}'))
        assert loaded.world.name and ask('get_current_world').world == loaded.world
        ask('unload_world')
    assert not left, f'not asked: {left}'


# -- control_msgs -------------------------------------------------------------------------------


class Driver:
    """Trajectories of a torque node, one of which may be followed."""

    joint_names, partial = ('a',), False

    def __init__(self):
        self.goals = []
        self.followed = SimpleNamespace(waited_for=lambda: self.goals, remove=self.goals.remove)

    def tolerances(self):
        return Tolerances.of(self.joint_names)

    def follow(self, *arguments):
        *_, self.tolerated, goal = arguments
        moment = Moment(1, 0.5, np.zeros((3, 1)), np.ones((2, 1)), np.ones((2, 1)))
        self.goals.append(
            SimpleNamespace(goal=goal, outcome=None, moment=moment, tolerances=self.tolerated)
        )

    def report_rejection(self, error):
        raise error

    def unrecoverable_reason(self):
        return ''


class Handle:
    """A goal with a waiting client."""

    is_cancel_requested = False

    def __init__(self, request):
        self.request, self.feedback, self.events = request, [], []

    def execute(self, _):
        pass

    def publish_feedback(self, feedback):
        self.feedback.append(feedback)

    def succeed(self):
        self.events.append('succeed')


class Server:
    """Stands in for the server of the action: gives the node a goal, and keeps its result."""

    def __init__(self, node, kind, name, execute, **callbacks):
        self.callbacks, self.results = callbacks, []

    def finish(self, handle, end):
        self.results.append(end(handle))


@pytest.mark.parametrize('version', control_messages.RELEASED)
def test_goals_of_every_version_of_control_msgs_are_followed(version, monkeypatch):
    from trajectory_msgs.msg import JointTrajectory

    classes = {
        name: getattr(importlib.import_module(f'{package}.msg'), name)
        for name, package in control_messages.OTHERS.items()
    }
    for name, fields in control_messages.MESSAGES.items():
        classes[name] = plain_messages.message(name, fields, classes)
    parts = zip(('Goal', 'Result', 'Feedback'), control_messages.RELEASED[version])
    kind = SimpleNamespace(
        **{part: plain_messages.message(part, fields, classes) for part, fields in parts}
    )
    monkeypatch.setattr(follow_action, 'LongRunningActionServer', Server)
    silent = SimpleNamespace(condition=lambda *_, **__: None, event=lambda *_, **__: None)
    timer = SimpleNamespace(cancel=lambda: None, reset=lambda: None)
    ticks = []

    def create_timer(period, callback, clock):
        ticks.append(callback)
        return timer

    node = SimpleNamespace(create_timer=create_timer, diagnostics=silent, answering=True)
    driver = Driver()
    server = follow_action.FollowGoals(node, driver, kind)._server
    trajectory = JointTrajectory(joint_names=['a'])
    trajectory.points = [JointTrajectoryPoint(positions=[1.0])]
    tolerance = classes['JointTolerance'](name='a', position=0.25)
    handle = Handle(kind.Goal(trajectory=trajectory, path_tolerance=[tolerance]))
    assert server.callbacks['goal_callback'](handle.request) == GoalResponse.ACCEPT
    server.callbacks['handle_accepted_callback'](handle)
    assert driver.tolerated.path.tolist() == [0.25]
    ticks[0]()
    assert [list(each.actual.positions) for each in handle.feedback] == [[1.0]]
    driver.goals[0].outcome = 'reached', 'there'
    ticks[0]()
    assert handle.events == ['succeed'] and server.results[0].error_string == 'there'


def sequences_of_bytes(kind):
    """Return the message types within a message type that have a field uint8[].

    In C++ a rosidl::Buffer.
    """
    found = set()
    for field in kind.get_fields_and_field_types().values():
        inner = re.fullmatch(r'(?:sequence<)?(\w+/\w+)(?:(?:, \d+)?>|\[\d+\])?', field)
        if inner:
            found |= sequences_of_bytes(message_type(inner[1].replace('/', '/msg/')))
        elif field.startswith('sequence<uint8'):
            found.add(kind.__name__)
    return found


def test_only_clouds_and_textures_and_meshes_of_markers_may_be_buffers_of_a_device():
    """Of these the nodes write clouds alone, as an array.array, and read none."""
    kinds = {topic.kind for interface in INTERFACES.values() for topic in interface.topics}
    kinds.remove('tf2_msgs/msg/TFMessage')  # which no wheel has; of numbers and names as well
    assert {'sensor_msgs/msg/JointState', 'std_msgs/msg/Float64MultiArray'} <= kinds
    buffers = {kind: sequences_of_bytes(message_type(kind)) for kind in kinds}
    assert {kind: found for kind, found in buffers.items() if found} == {
        'sensor_msgs/msg/PointCloud2': {'PointCloud2'},
        'visualization_msgs/msg/MarkerArray': {'CompressedImage', 'MeshFile'},
    }
