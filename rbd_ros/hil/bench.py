# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The bench: one exact run of a scenario, with disturbed messages to and from a controller."""

from __future__ import annotations

from dataclasses import dataclass, field
import hashlib
from time import perf_counter
from typing import (
    Any,
    Callable,
    Dict,
    Final,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    TYPE_CHECKING,
)

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.faults.fault_injector import FaultChange, FaultInjector
from rbd_ros.hil.faults.faults import Fault
from rbd_ros.hil.plants.plant import (
    Actuators,
    check_fault,
    Plant,
    PlantFailure,
    PLANTS,
    PlantState,
)
from rbd_ros.hil.scenario.controller_entry import Callback, ControllerFailure
from rbd_ros.hil.scenario.payloads import key_of, payload_sets, with_payloads
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound
from rbd_ros.simulation import Simulator

if TYPE_CHECKING:
    from rbd_ros.hil.report.run_recorder import RunRecorder


class _Answer(NamedTuple):
    stamp: float
    torque: FloatArray


@dataclass(frozen=True)
class Run:
    """Record of a run; each row is one of T time steps.

    :param seed: seed of the run
    :param time: time before the step, (T,) [s]
    :param q: positions before the step, (T, n) [rad, m]
    :param v: velocities before the step, (T, n) [rad/s, m/s]
    :param desired: positions of the trajectory, (T, n) [rad, m]
    :param torque: torques in the step, (T, n) [N m, N]
    :param delay: simulated age of the state that the present command answers, (T,) [s]; NaN
        before the first command
    :param answer_times: real time of the controller for each answer, (A,) [s]
    :param changes: faults that began or ended
    :param counts: numbers of sent, lost and duplicated messages
    :param failure: reason for an early end; '' if there is none
    :param periods: periods of positions, (n,) [rad], infinite: not periodic; empty: unknown
    """

    seed: int
    time: FloatArray
    q: FloatArray
    v: FloatArray
    desired: FloatArray
    torque: FloatArray
    delay: FloatArray
    answer_times: FloatArray
    changes: Tuple[FaultChange, ...]
    counts: Dict[str, int]
    failure: str = ''
    periods: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def error(self) -> FloatArray:
        """Desired minus true positions, continuous joints without whole turns, (T, n)."""
        difference: FloatArray = self.desired - self.q
        return Wraparound(self.periods)(difference) if self.periods.size else difference

    @property
    def digest(self) -> str:
        """Fingerprint of the motion, equal only for bitwise identical runs."""
        total = hashlib.sha256()
        for each in (self.time, self.q, self.v, self.torque, self.delay):
            total.update(np.ascontiguousarray(each).tobytes())
        return total.hexdigest()


class Bench:
    """A scenario that can run repeatedly.

    >>> from rbd_ros.hil import Bench, read_scenario
    >>> from rbd_ros.hil.controllers import find_factory
    >>> scenario = read_scenario('config/hil/sticking_joint.yaml')
    >>> bench, make = Bench(scenario), find_factory(*scenario.controller.words)
    >>> runs = [
    ...     bench.run(make(scenario.robot, scenario.trajectory, scenario.timestep))
    ...     for _ in range(2)
    ... ]
    >>> runs[0].digest == runs[1].digest, len(runs[0].time)
    (True, 5000)
    """

    def __init__(self, scenario: Scenario):
        self.scenario = scenario
        self._plants: Dict[Tuple[Any, ...], Plant] = {}
        steps, h = scenario.steps, scenario.step
        self._time: FloatArray = np.array([k * h for k in range(steps)])
        self._desired = np.array([scenario.trajectory.sample(t)[0] for t in self._time])
        # Compiled before the run.
        for payloads in payload_sets(scenario.faults):
            self._plant(payloads)

    def run(
        self,
        controller: Callback,
        seed: Optional[int] = None,
        faults: Optional[Sequence[Fault]] = None,
        recorder: Optional[RunRecorder] = None,
    ) -> Run:
        """Run the scenario once.

        :param controller: the controller under test, newly created
        :param seed: seed of the random numbers; None: that of the scenario
        :param faults: faults; None: those of the scenario
        :param recorder: records the run; None: no recording
        """
        scenario, h = self.scenario, self.scenario.step
        robot, steps, n = scenario.robot, scenario.steps, scenario.robot.nv
        seed = scenario.seed if seed is None else seed
        if scenario.plant is not None:
            for each in scenario.faults if faults is None else faults:
                check_fault(each)
        injector = FaultInjector(robot.joint_names, np.arange(n), seed)
        faults = scenario.faults if faults is None else faults
        injector.plan(faults)
        if recorder is not None:
            recorder.begin(seed, faults)
        injector.update(0.0)
        plant = self._plant(injector.payloads)
        injector.attach(plant)
        plant.reset(scenario.start)
        q, v, torque = (np.zeros((steps, n)) for _ in range(3))
        delay, answers = np.full(steps, np.nan), []
        states, commands = injector.links['state'], injector.links['command']
        command, answered, failure, done = np.zeros(n), np.nan, '', steps
        state = plant.state
        try:
            for k in range(steps):
                now = k * h
                if injector.update(now):
                    other = self._plant(injector.payloads)
                    if other is not plant:
                        other.reset(state.q.copy(), state.v.copy(), now)
                        plant, state = other, other.state
                        injector.attach(plant)
                q[k], v[k] = state.q, state.v
                if k % scenario.substeps == 0:
                    states.send((now, *injector.sensors.measure(q[k], v[k])), now)
                while (seen := states.receive(now)) is not None:
                    if recorder is not None:
                        recorder.state(now, *seen)
                    begin = perf_counter()
                    given = controller(*seen)
                    answers.append(perf_counter() - begin)
                    commands.send(_Answer(seen[0], _checked(given, n)), now)
                while (come := commands.receive(now)) is not None:
                    answered, command = come
                    if recorder is not None:
                        recorder.command(now, *come)
                delay[k] = now - answered
                plant.step(command)
                torque[k] = state.applied
                if recorder is not None:
                    recorder.step(now, q[k], v[k], torque[k], injector.changes)
        except ControllerFailure as error:
            failure, done = str(error), k
        except (FloatingPointError, PlantFailure) as error:
            failure, done = f'the simulation failed: {error}', k
        except Exception as error:  # of the controller
            failure = f'the controller raised {type(error).__name__} at {now:.6f} s: {error}'
            done = k
        finally:
            injector.plan(())
            injector.update(np.inf)  # restores limits and friction
        changes = tuple(each for each in injector.changes if np.isfinite(each.time))
        return Run(
            seed,
            np.array(self._time[:done]),
            q[:done],
            v[:done],
            self._desired[:done],
            torque[:done],
            delay[:done],
            np.array(answers),
            changes,
            injector.counts(),
            failure,
            np.array(robot.position_periods),
        )

    def unanswered(
        self, failure: str, seed: Optional[int] = None, recorder: Optional[RunRecorder] = None
    ) -> Run:
        """Return an empty run for a controller that does not answer the first state.

        :param failure: reason
        :param seed: as for `run`
        :param recorder: records the empty run; None: no recording
        """
        scenario, n = self.scenario, self.scenario.robot.nv
        seed = scenario.seed if seed is None else seed
        if recorder is not None:
            recorder.begin(seed, scenario.faults)
        none, rows = np.zeros(0), np.zeros((0, n))
        injector = FaultInjector(scenario.robot.joint_names, np.arange(n), seed)
        counts = injector.counts()
        return Run(seed, none, rows, rows, rows, rows, none, none, (), counts, failure)

    def _plant(self, payloads: Sequence[Fault]) -> Plant:
        """Return the plant with payloads, created once for each set."""
        key, scenario = key_of(payloads), self.scenario
        if key not in self._plants:
            if scenario.plant is None:
                robot = with_payloads(scenario.robot, payloads)
                self._plants[key] = SimulatedRobot(robot, scenario.step)
            else:
                kind = PLANTS[scenario.plant.kind]
                self._plants[key] = kind.make(scenario.plant, scenario.robot, scenario.step)
        return self._plants[key]


def _checked(given: Any, count: int) -> FloatArray:
    """Return a copy of a controller's torques.

    :raises ControllerFailure: if they are invalid
    """
    try:
        torque: FloatArray = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        torque = np.zeros(0)
    if torque.shape != (count,):
        raise ControllerFailure(
            f'the controller returned {given!r:.60} instead of {count} torques'
        )
    if not np.isfinite(torque).all():
        raise ControllerFailure('the controller returned a torque that is not finite')
    return torque


INTEGRATOR: Final = 'semi_implicit'


class SimulatedRobot:
    """Simulation of a robot, which supports all faults.

    :param robot: the robot, with its payloads
    :param timestep: length of a step [s]
    """

    def __init__(self, robot: Robot, timestep: float):
        self._simulator = Simulator(robot, timestep, INTEGRATOR)
        physics = self._simulator.physics
        self.step: Callable[[FloatArray], object] = physics.step
        self.allow_friction = physics.allow_friction

    @property
    def model(self) -> Actuators:
        """Object with the limits."""
        return self._simulator.physics.model

    @property
    def state(self) -> PlantState:
        """Object with positions, velocities and torques."""
        return self._simulator.physics.state

    def reset(self, q: FloatArray, v: Optional[FloatArray] = None, time: float = 0.0) -> None:
        """Reset to a state."""
        self._simulator.reset(q, v, time)
