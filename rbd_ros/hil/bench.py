# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The bench: a scenario run once, exactly, with a controller behind disturbed messages."""

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
from rbd_ros.hil.scenario.payloads import key_of, sets_of_payloads, with_payloads
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
    """Record of a run; each row is a time step, of which there are T.

    :param seed: seed of the run
    :param time: time before the step, (T,) [s]
    :param q: positions then, (T, n) [rad, m]
    :param v: velocities then, (T, n) [rad/s, m/s]
    :param desired: positions of the trajectory, (T, n) [rad, m]
    :param torque: torques that acted in the step, (T, n) [N m, N]
    :param delay: simulated age of the state that the command in force answers, (T,) [s]; NaN
        before the first command
    :param answer_times: real time that the controller took for each answer, (A,) [s]
    :param changes: faults that began or ended
    :param counts: messages sent, lost and doubled
    :param failure: why it ended before its time; '' if it did not
    :param periods: periods of positions, (n,) [rad], infinite where there are none; no size: none
        is known
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
        """Desired less true positions, (T, n) [rad, m].

        Whole turns of joints without limits do not count.
        """
        difference: FloatArray = self.desired - self.q
        return Wraparound(self.periods)(difference) if self.periods.size else difference

    @property
    def digest(self) -> str:
        """Fingerprint of the motion: two runs with the same one are bitwise identical."""
        total = hashlib.sha256()
        for each in (self.time, self.q, self.v, self.torque, self.delay):
            total.update(np.ascontiguousarray(each).tobytes())
        return total.hexdigest()


class Bench:
    """A scenario that can be run again and again.

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
        # Compiled before time runs.
        for payloads in sets_of_payloads(scenario.faults):
            self._plant(payloads)

    def run(
        self,
        controller: Callback,
        seed: Optional[int] = None,
        faults: Optional[Sequence[Fault]] = None,
        recorder: Optional[RunRecorder] = None,
    ) -> Run:
        """Run the scenario once.

        :param controller: the controller under test, newly made
        :param seed: of all that happens by chance; None: that of the scenario
        :param faults: what goes wrong; None: what the scenario says
        :param recorder: writes down what happens; None: nobody does
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
            injector.update(np.inf)  # limits and friction are whole again
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
        """Return the run of a controller that does not even answer the state at the start.

        It has no step.

        :param failure: why there is no answer
        :param seed: as for `run`
        :param recorder: is called with what would have run; None: nobody is
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
        """Return the plant with payloads; made once for each set of them."""
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
    """Return the torques of a controller, copied.

    :raises ControllerFailure: if they are none
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
    """Simulation of a robot, which may have all faults.

    :param robot: the robot, with the payloads that it carries
    :param timestep: length of a step [s]
    """

    def __init__(self, robot: Robot, timestep: float):
        self._simulator = Simulator(robot, timestep, INTEGRATOR)
        physics = self._simulator.physics
        self.step: Callable[[FloatArray], object] = physics.step
        self.allow_friction = physics.allow_friction

    @property
    def model(self) -> Actuators:
        """Object that has limits."""
        return self._simulator.physics.model

    @property
    def state(self) -> PlantState:
        """Object that has positions, velocities and torques."""
        return self._simulator.physics.state

    def reset(self, q: FloatArray, v: Optional[FloatArray] = None, time: float = 0.0) -> None:
        """Begin again."""
        self._simulator.reset(q, v, time)
