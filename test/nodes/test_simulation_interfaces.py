# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The services of simulation_interfaces, with stand-ins for that package."""

import sys
import time
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import Pose, Twist
from std_msgs.msg import Header

from rbd_ros.nodes.simulator.standard_services.simulation_interfaces import (
    offer_simulation_interfaces,
)
from rbd_ros.nodes.simulator.world.world_interface import WorldInterface
from rbd_ros.world import read_world

UNSUPPORTED, OK, NOT_FOUND, FAILED = 0, 1, 2, 4
STOPPED, PLAYING, PAUSED, QUITTING = 0, 1, 2, 3


class Simulator:
    """Stand-in of the simulator node for the services."""

    def __init__(self):
        self.loop = SimpleNamespace(paused=False, cycles=0, request=lambda work: work())
        self.world_interface = None
        self.cycle = None
        self.calls = []
        self.services = {}

    def create_service(self, kind, name, callback):
        self.services[name] = callback

    def get_logger(self):
        return SimpleNamespace(info=lambda text: None)

    def pause(self, paused):
        self.loop.paused = paused
        return True, 'done'

    def step(self, count):
        if not self.loop.paused:
            return False, 'the simulation is not paused; pause it before stepping'
        self.loop.cycles += count
        return True, f'{count} cycles'

    def reset(self):
        self.calls.append('reset')
        return True, 'done'


class EntityState:
    """Stands in for the message."""

    def __init__(self):
        self.header, self.pose, self.twist = Header(), Pose(), Twist()


@pytest.fixture
def standard(monkeypatch):
    """Install a stand-in for the package, in its newest version."""
    package, msg, srv = (ModuleType(f'simulation_interfaces{x}') for x in ('', '.msg', '.srv'))
    msg.EntityState = EntityState
    msg.SimulatorFeatures = SimpleNamespace(
        SPAWNING=0,
        DELETING=1,
        ENTITY_BOUNDS=5,
        ENTITY_STATE_GETTING=10,
        ENTITY_STATE_SETTING=11,
        SIMULATION_RESET=20,
        SIMULATION_RESET_TIME=21,
        SIMULATION_RESET_STATE=22,
        SIMULATION_RESET_SPAWNED=23,
        SIMULATION_STATE_GETTING=24,
        SIMULATION_STATE_SETTING=25,
        SIMULATION_STATE_PAUSE=26,
        STEP_SIMULATION_SINGLE=31,
        STEP_SIMULATION_MULTIPLE=32,
    )
    for kind in (
        'GetSimulatorFeatures',
        'GetSimulationState',
        'SetSimulationState',
        'ResetSimulation',
        'StepSimulation',
        'GetEntities',
        'GetEntityState',
        'GetEntitiesStates',
        'SetEntityState',
        'SpawnEntity',
        'DeleteEntity',
    ):
        setattr(srv, kind, object())
    package.msg, package.srv = msg, srv
    for module in (package, msg, srv):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return package


@pytest.fixture
def simulator(standard):
    node = Simulator()
    offer_simulation_interfaces(node, node.create_service)
    return node


def call(simulator, name, **request):
    response = SimpleNamespace(
        result=SimpleNamespace(result=None, error_message=None),
        state=SimpleNamespace(state=None),
        features=SimpleNamespace(features=None, spawn_formats=None),
    )
    return simulator.services[f'~/{name}'](SimpleNamespace(**request), response)


def set_state(simulator, state):
    response = call(simulator, 'set_simulation_state', state=SimpleNamespace(state=state))
    return response.result.result


def get_state(simulator):
    return call(simulator, 'get_simulation_state').state.state


def test_without_the_package_nothing_is_offered(monkeypatch):
    monkeypatch.setitem(sys.modules, 'simulation_interfaces', None)
    assert offer_simulation_interfaces(Simulator(), None) == ()


def test_an_older_package_gets_its_services_and_features(standard):
    del standard.srv.GetSimulationState
    del standard.msg.SimulatorFeatures.SIMULATION_STATE_PAUSE
    node = Simulator()
    assert 'get_simulation_state' not in offer_simulation_interfaces(node, node.create_service)
    assert 26 not in call(node, 'get_simulator_features').features.features


def test_features_are_those_that_are_offered(simulator):
    features = call(simulator, 'get_simulator_features').features.features
    assert features == [20, 22, 24, 25, 26, 31, 32, 10, 11, 5]


def test_states_can_be_set_and_got(simulator):
    assert get_state(simulator) == PLAYING
    assert set_state(simulator, PAUSED) == OK
    assert get_state(simulator) == PAUSED
    assert set_state(simulator, PAUSED) == 101
    assert set_state(simulator, STOPPED) == OK
    assert get_state(simulator) == STOPPED and simulator.calls == ['reset']
    assert call(simulator, 'step_simulation', steps=1).result.result == OK
    assert get_state(simulator) == PAUSED
    assert set_state(simulator, PLAYING) == OK
    assert set_state(simulator, QUITTING) == UNSUPPORTED


def test_before_there_is_a_robot_the_simulation_is_stopped(simulator):
    simulator.loop = None
    assert get_state(simulator) == STOPPED


def test_steps_are_done_while_paused_only(simulator):
    answer = call(simulator, 'step_simulation', steps=5).result
    assert answer.result == FAILED and 'not paused' in answer.error_message
    set_state(simulator, PAUSED)
    assert call(simulator, 'step_simulation', steps=5).result.result == OK
    assert simulator.loop.cycles == 5


@pytest.mark.parametrize('steps', [0, 2**64 - 1])
def test_extreme_numbers_of_steps_are_rejected(simulator, steps):
    set_state(simulator, PAUSED)
    assert call(simulator, 'step_simulation', steps=steps).result.result == FAILED


@pytest.mark.parametrize(
    'scope, code', [(0, OK), (2, OK), (255, OK), (1, UNSUPPORTED), (4, UNSUPPORTED)]
)
def test_the_state_can_be_reset_but_never_time_alone(simulator, scope, code):
    assert call(simulator, 'reset_simulation', scope=scope).result.result == code
    assert simulator.calls == (['reset'] if code == OK else [])


@pytest.mark.parametrize(
    'scope, calls',
    [
        (0, ['reset']),
        (2, ['reset']),
        (4, ['restore']),
        (6, ['restore', 'reset']),
        (255, ['restore', 'reset']),
        (1, []),
    ],
)
def test_with_a_world_spawned_objects_can_be_reset(simulator, scope, calls):
    simulator.world_interface = object()
    simulator.changes = SimpleNamespace(restore=lambda: simulator.calls.append('restore'))
    result = call(simulator, 'reset_simulation', scope=scope).result.result
    assert result == (OK if calls else UNSUPPORTED) and simulator.calls == calls


def test_an_exception_of_the_simulator_becomes_an_answer(simulator):
    def fail():
        raise TimeoutError('no answer')

    simulator.reset = fail
    answer = call(simulator, 'reset_simulation', scope=0).result
    assert answer.result == FAILED and answer.error_message == 'no answer'


# -- entities -------------------------------------------------------------------------------------


class Silent:
    """Stands in for diagnostics and for the topics of a world."""

    def __getattr__(self, name):
        return lambda *arguments, **options: None


@pytest.fixture
def world(simulator):
    """Let the simulator have a world with three objects, of which two are movable."""
    from rbd_ros import Simulator as Physics
    from rbd_ros.nodes.simulator.interface.simulator_interface import SIMULATOR_PARAMETERS

    ball = {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0}
    objects = {
        'floor': {'type': 'plane', 'xyz': [0, 0, -5]},
        'red_ball': {**ball, 'xyz': [1, 2, 3]},
        'blue_ball': {**ball, 'velocity': {'linear': [4, 5, 6], 'angular': [1, 2, 3]}},
    }
    physics = Physics(None, world={'objects': objects})
    values = {each.name: each.default for each in SIMULATOR_PARAMETERS}
    simulator.world_interface = WorldInterface(physics, values, Silent(), Silent(), False)
    simulator.cycle = SimpleNamespace(simulator=physics, described=physics.robot, time_ns=0)
    return physics


NO_FILTER = SimpleNamespace(filter='')


def entity_state(position=(0, 0, 0), quaternion=(0, 0, 0, 1), linear=(0, 0, 0), frame=''):
    state = EntityState()
    state.header.frame_id = frame
    p, o, v = state.pose.position, state.pose.orientation, state.twist.linear
    p.x, p.y, p.z = map(float, position)
    o.x, o.y, o.z, o.w = map(float, quaternion)
    v.x, v.y, v.z = map(float, linear)
    return state


def ask(simulator, name, **request):
    response = SimpleNamespace(result=SimpleNamespace(result=None, error_message=None))
    simulator.services[f'~/{name}'](SimpleNamespace(**request), response)
    return response


def test_entities_are_the_robot_and_the_objects(simulator, world):
    names = ['robot', 'floor', 'red_ball', 'blue_ball']
    assert ask(simulator, 'get_entities', filters=NO_FILTER).entities == names
    answer = ask(simulator, 'get_entities', filters=SimpleNamespace(filter='ue_b.*l$'))
    assert answer.entities == ['blue_ball'] and answer.result.result == OK
    features = call(simulator, 'get_simulator_features').features.features
    assert {0, 1, 10, 11, 23} < set(features)
    formats = call(simulator, 'get_simulator_features').features.spawn_formats
    assert formats == ['urdf', 'yaml']


def test_without_a_robot_there_are_no_entities(simulator):
    assert ask(simulator, 'get_entities', filters=NO_FILTER).entities == []
    assert ask(simulator, 'get_entities_states', filters=NO_FILTER).states == []
    assert ask(simulator, 'get_entity_state', entity='red_ball').result.result == NOT_FOUND
    features = call(simulator, 'get_simulator_features').features
    assert not {0, 1, 23} & set(features.features) and features.spawn_formats == []


@pytest.mark.parametrize(
    'filters, code',
    [
        ({'filter': '('}, FAILED),
        ({'filter': 'x' * 1000}, FAILED),
        ({'filter': '', 'bounds': SimpleNamespace(type=9, points=[])}, UNSUPPORTED),
        ({'filter': '', 'bounds': SimpleNamespace(type=1, points=[])}, FAILED),
        ({'filter': '', 'bounds': SimpleNamespace(type=0), 'categories': []}, OK),
    ],
)
def test_filters_that_are_not_known_are_rejected(simulator, world, filters, code):
    answer = ask(simulator, 'get_entities', filters=SimpleNamespace(**filters))
    assert answer.result.result == code and bool(answer.result.error_message) == (code != OK)


def test_an_endless_filter_is_interrupted(simulator):
    crate = {'type': 'box', 'size': [1, 1, 1]}
    world = read_world({'objects': {'a' * 60 + 'b': crate}})
    nobody = SimpleNamespace(links={})
    simulator.cycle = SimpleNamespace(
        simulator=SimpleNamespace(world=world, robot=SimpleNamespace(model=nobody)),
        described=SimpleNamespace(model=nobody),
    )
    begin = time.process_time()
    answer = ask(simulator, 'get_entities', filters=SimpleNamespace(filter='(a+)+$'))
    assert answer.result.result == FAILED and 'too long' in answer.result.error_message
    assert time.process_time() - begin < 10.0
    assert ask(simulator, 'get_entities', filters=NO_FILTER).result.result == OK


def test_states_of_entities_are_those_of_the_simulation(simulator, world):
    world.step(n=100)
    states = ask(simulator, 'get_entities_states', filters=NO_FILTER).states
    assert len(states) == 4
    state = ask(simulator, 'get_entity_state', entity='blue_ball').state
    assert state.pose == states[3].pose and state.header.frame_id == 'world'
    pose, velocity = world.object_pose('blue_ball'), world.object_velocity('blue_ball')
    position, v, w = state.pose.position, state.twist.linear, state.twist.angular
    assert [position.x, position.y, position.z] == pytest.approx(pose[:3, 3])
    assert [w.x, w.y, w.z, v.x, v.y, v.z] == pytest.approx(velocity)
    q = state.pose.orientation
    assert 2 * (q.x * q.y + q.w * q.z) == pytest.approx(pose[1, 0]) and abs(q.x) > 0.01


def test_pose_and_twist_are_set_together_or_alone(simulator, world):
    state = entity_state((7, 8, 9), (0, 0, 1, 0), linear=(1, 0, 0))
    flags = {'set_pose': True, 'set_twist': False}
    answer = ask(simulator, 'set_entity_state', entity='blue_ball', state=state, **flags)
    assert answer.result.result == OK
    assert world.object_pose('blue_ball')[:, 3] == pytest.approx([7, 8, 9, 1])
    assert world.object_pose('blue_ball')[0, 0] == pytest.approx(-1.0)
    assert world.object_velocity('blue_ball') == pytest.approx([1, 2, 3, 4, 5, 6])
    flags = {'set_pose': False, 'set_twist': True}
    state = entity_state((0, 0, 0), linear=(1, 0, 0), frame='world')
    ask(simulator, 'set_entity_state', entity='blue_ball', state=state, **flags)
    assert world.object_pose('blue_ball')[:, 3] == pytest.approx([7, 8, 9, 1])
    assert world.object_velocity('blue_ball') == pytest.approx([0, 0, 0, 1, 0, 0])
    # Older versions of the standard have no flags: all is set.
    ask(simulator, 'set_entity_state', entity='red_ball', state=entity_state((0, 0, 5)))
    assert world.object_pose('red_ball')[:3, 3] == pytest.approx([0, 0, 5])


@pytest.mark.parametrize(
    'name, state, code',
    [
        ('robot', {}, FAILED),
        ('floor', {'linear': (1, 0, 0)}, FAILED),
        ('', {}, NOT_FOUND),
        ('red_ball', {'quaternion': (0, 0, 0, 0)}, 101),
        ('red_ball', {'position': (np.nan, 0, 0)}, 101),
        ('red_ball', {'linear': (np.inf, 0, 0)}, FAILED),
        ('red_ball', {'linear': (1e6, 0, 0)}, FAILED),
        ('red_ball', {'linear': (np.nan, 0, 0)}, FAILED),
        ('red_ball', {'frame': 'moon'}, FAILED),
    ],
)
def test_bad_states_are_rejected_and_change_nothing(simulator, world, name, state, code):
    before = world.object_pose('red_ball')
    answer = ask(simulator, 'set_entity_state', entity=name, state=entity_state(**state))
    assert answer.result.result == code and answer.result.error_message
    assert np.array_equal(world.object_pose('red_ball'), before)
    assert not world.object_velocity('red_ball').any()
