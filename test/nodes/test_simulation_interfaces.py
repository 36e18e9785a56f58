"""The services of simulation_interfaces, whose package is not needed: it is stood in for here."""

import sys
from types import ModuleType, SimpleNamespace

import pytest
from support import outside

outside.load('rclpy')

from rbd_ros.nodes.simulator.simulation_interfaces import offer_simulation_interfaces

UNSUPPORTED, OK, FAILED = 0, 1, 4
STOPPED, PLAYING, PAUSED, QUITTING = 0, 1, 2, 3


class Simulator:
    """What the services see of the simulator node."""

    def __init__(self):
        self.loop = SimpleNamespace(paused=False, cycles=0)
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
            return False, 'not paused: stepping is for a paused simulation'
        self.loop.cycles += count
        return True, f'{count} cycles'

    def reset(self):
        self.calls.append('reset')
        return True, 'done'


@pytest.fixture
def standard(monkeypatch):
    """Install a stand-in for the package, in its newest version."""
    package, msg, srv = (ModuleType(f'simulation_interfaces{x}') for x in ('', '.msg', '.srv'))
    msg.SimulatorFeatures = SimpleNamespace(
        SIMULATION_RESET=20,
        SIMULATION_RESET_TIME=21,
        SIMULATION_RESET_STATE=22,
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


def test_an_older_package_gets_the_services_and_features_that_it_knows(standard):
    del standard.srv.GetSimulationState
    del standard.msg.SimulatorFeatures.SIMULATION_STATE_PAUSE
    node = Simulator()
    assert 'get_simulation_state' not in offer_simulation_interfaces(node, node.create_service)
    assert 26 not in call(node, 'get_simulator_features').features.features


def test_features_are_those_that_are_offered(simulator):
    assert call(simulator, 'get_simulator_features').features.features == [
        20,
        22,
        24,
        25,
        26,
        31,
        32,
    ]


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
def test_absurd_numbers_of_steps_are_refused(simulator, steps):
    set_state(simulator, PAUSED)
    assert call(simulator, 'step_simulation', steps=steps).result.result == FAILED


@pytest.mark.parametrize(
    'scope, code', [(0, OK), (2, OK), (255, OK), (1, UNSUPPORTED), (4, UNSUPPORTED)]
)
def test_the_state_can_be_reset_but_never_time_alone(simulator, scope, code):
    assert call(simulator, 'reset_simulation', scope=scope).result.result == code
    assert simulator.calls == (['reset'] if code == OK else [])


def test_an_exception_of_the_simulator_becomes_an_answer(simulator):
    def fail():
        raise TimeoutError('no answer')

    simulator.reset = fail
    answer = call(simulator, 'reset_simulation', scope=0).result
    assert answer.result == FAILED and answer.error_message == 'no answer'
