# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Services of the package `simulation_interfaces`, offered if it is installed.

Services and constants that the installed version lacks are omitted. Time never goes back: a reset
with scope TIME is rejected. Scope ALL resets the state and, in a world, removes added objects and
restores removed ones.
"""

from __future__ import annotations

from typing import Any, Callable, Tuple

from rbd_ros.nodes.common.deferred_response import DeferredResponse
from rbd_ros.nodes.simulator.standard_services.entities import Entities
from rbd_ros.nodes.simulator.standard_services.spawn_services import SpawnServices
from rbd_ros.nodes.simulator.standard_services.world_services import WorldServices

FEATURES = (
    'SIMULATION_RESET',
    'SIMULATION_RESET_STATE',
    'SIMULATION_STATE_GETTING',
    'SIMULATION_STATE_SETTING',
    'SIMULATION_STATE_PAUSE',
    'STEP_SIMULATION_SINGLE',
    'STEP_SIMULATION_MULTIPLE',
    'STEP_SIMULATION_ACTION',
)

# Constants of the standard, for versions without the names.
FEATURE_UNSUPPORTED, RESULT_OK, OPERATION_FAILED = 0, 1, 4
STATE_STOPPED, STATE_PLAYING, STATE_PAUSED, STATE_NO_WORLD = 0, 1, 2, 4
ALREADY_IN_TARGET_STATE, TRANSITION_ERROR, INCORRECT_TRANSITION = 101, 102, 103
SCOPE_DEFAULT, SCOPE_STATE, SCOPE_SPAWNED = 0, 2, 4
MAX_STEPS = 1_000_000


def offer_simulation_interfaces(simulator: Any, offer: Callable[..., Any]) -> Tuple[str, ...]:
    """Create the services of the simulator.

    :param simulator: node with `pause`, `step`, `reset`, `loop` and `world_interface`
    :param offer: creates a service from its class, its name and a callback
    :return: names of the services; empty without the package
    """
    try:
        from simulation_interfaces import msg, srv
    except ImportError:
        return ()
    services = SimulationInterfaces(simulator, msg)
    offered = []
    for kind, name, callback in (
        ('GetSimulatorFeatures', 'get_simulator_features', services.features),
        ('GetSimulationState', 'get_simulation_state', services.get_state),
        ('SetSimulationState', 'set_simulation_state', services.set_state),
        ('ResetSimulation', 'reset_simulation', services.reset),
        ('StepSimulation', 'step_simulation', services.step),
        *services.entities.services,
        *services.worlds.services,
        *services.spawning.services,
    ):
        service = getattr(srv, kind, None)
        if service is not None:
            offer(service, f'~/{name}', callback)
            offered.append(name)
    simulator.get_logger().info(f'simulation_interfaces: {", ".join(offered)}')
    return tuple(offered)


class SimulationInterfaces:
    """Callbacks of the services.

    :param simulator: node with `pause`, `step`, `reset`, `loop` and `world_interface`
    :param msg: message module of the package
    """

    def __init__(self, simulator: Any, msg: Any):
        self._simulator = simulator
        self.entities = Entities(simulator, msg)
        self.worlds = WorldServices(simulator, msg, self._record_stop)
        self.spawning = SpawnServices(simulator, msg)
        self._msg = msg
        # Cycle of the last stop; the simulation is stopped until the next cycle.
        self._stopped_at = -1

    def features(self, request: Any, response: Any) -> Any:
        """Serve GetSimulatorFeatures."""
        known = self._msg.SimulatorFeatures
        response.features.features = [
            getattr(known, name)
            for name in (
                *FEATURES,
                *self.entities.features,
                *self.worlds.features,
                *self.spawning.features,
            )
            if hasattr(known, name)
        ]
        if hasattr(response.features, 'spawn_formats'):
            response.features.spawn_formats = list(self.entities.spawn_formats)
        return response

    def get_state(self, request: Any, response: Any) -> Any:
        """Serve GetSimulationState."""
        response.state.state = self._state()
        return self._answer(response, RESULT_OK)

    def set_state(self, request: Any, response: Any) -> Any:
        """Serve SetSimulationState: playing, paused, or stopped at the initial position."""
        requested = request.state.state
        if requested not in (STATE_PLAYING, STATE_PAUSED, STATE_STOPPED):
            return self._answer(
                response,
                FEATURE_UNSUPPORTED,
                f'state {requested} cannot be set; use playing, paused or stopped',
            )
        if requested == self._state():
            return self._answer(
                response, ALREADY_IN_TARGET_STATE, 'the simulation is already in that state'
            )
        if requested != STATE_PLAYING and self._state() in (STATE_STOPPED, STATE_NO_WORLD):
            return self._answer(
                response,
                INCORRECT_TRANSITION,
                'the simulation is stopped; only playing is possible',
            )
        success, message = self._attempt(lambda: self._simulator.pause(requested != STATE_PLAYING))
        if success:
            self._stopped_at = -1
        if success and requested == STATE_STOPPED:
            success, message = self._attempt(self._simulator.reset)
            self._record_stop()
        return self._answer(response, RESULT_OK if success else TRANSITION_ERROR, message)

    def _record_stop(self) -> None:
        self._stopped_at = self._simulator.loop.cycles

    def reset(self, request: Any, response: Any) -> Any:
        """Serve ResetSimulation."""
        scope = request.scope
        spawned = bool(scope & SCOPE_SPAWNED) and self._simulator.world_interface is not None
        if scope != SCOPE_DEFAULT and not (scope & SCOPE_STATE or spawned):
            return self._answer(
                response,
                FEATURE_UNSUPPORTED,
                'only the state can be reset, since simulated time never goes back',
            )
        success, message = True, ''
        if spawned:
            success, message = self._attempt(self._restore)
        if success and (scope == SCOPE_DEFAULT or scope & SCOPE_STATE):
            success, message = self._attempt(self._simulator.reset)
        return self._answer(response, RESULT_OK if success else OPERATION_FAILED, message)

    def _restore(self) -> Tuple[bool, str]:
        self._simulator.changes.restore()
        return True, ''

    def step(self, request: Any, response: Any) -> Any:
        """Serve StepSimulation."""
        if not 1 <= request.steps <= MAX_STEPS:
            return self._answer(
                response,
                OPERATION_FAILED,
                f'steps must be from 1 to {MAX_STEPS}, got {request.steps}',
            )

        def filled(outcome: Tuple[bool, str]) -> Any:
            success, message = outcome
            return self._answer(response, RESULT_OK if success else OPERATION_FAILED, message)

        outcome = self._attempt(lambda: self._simulator.step(int(request.steps)))
        return outcome.map(filled) if isinstance(outcome, DeferredResponse) else filled(outcome)

    def _state(self) -> int:
        loop = self._simulator.loop
        if loop is None or loop.paused and loop.cycles == self._stopped_at:
            return STATE_NO_WORLD if self.worlds.unloaded else STATE_STOPPED
        return STATE_PAUSED if loop.paused else STATE_PLAYING

    @staticmethod
    def _attempt(work: Any) -> Any:
        try:
            return work()
        except Exception as error:
            return False, str(error) or type(error).__name__

    @staticmethod
    def _answer(response: Any, code: int, message: str = '') -> Any:
        response.result.result = code
        response.result.error_message = message
        return response
