# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Replay of a recorded run: its commands are repeated, and the motions compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Optional

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.hil.bench import Bench
from rbd_ros.hil.faults.faults import FAULT_KINDS
from rbd_ros.hil.report.recorded_run import HilRecordingError, read_run, RecordedRun
from rbd_ros.hil.report.run_recorder import BEGIN, fingerprint, NANOSECONDS
from rbd_ros.hil.scenario.scenario import Scenario


@dataclass(frozen=True)
class Replay:
    """Result of a replay.

    :param steps: number of compared time steps
    :param difference: place and size of the first difference; '' if bitwise identical
    :param note: note about the recording; '' without one
    """

    steps: int
    difference: str
    note: str = ''

    @property
    def identical(self) -> bool:
        """True if all states are bitwise identical."""
        return not self.difference

    def __str__(self) -> str:
        outcome = 'bitwise identical' if self.identical else f'NOT the same: {self.difference}'
        note = f' ({self.note})' if self.note else ''
        return f'{self.steps} steps replayed: {outcome}{note}'


def replay(scenario: Scenario, path: Any) -> Replay:
    """Replay the commands of a recording on the robot of a scenario.

    Faults of the robot are those of the recording. The recorded commands already include the
    effects of faults of sensors and messages.

    :param scenario: the recorded scenario
    :raises HilRecordingError: if it cannot be used: damaged, with gaps, or of another robot
    """
    recorded = read_run(path)
    # Called at each step: a delayed command may take effect between two states.
    scenario = replace(scenario, timestep=scenario.step, substeps=1)
    _check_robot(scenario, recorded, path)
    unknown = [each.kind for each in recorded.faults if each.kind not in FAULT_KINDS]
    if unknown:
        raise HilRecordingError(f'{path}: unknown fault {unknown[0]!r}; record it again')
    faults = [each for each in recorded.faults if FAULT_KINDS[each.kind].is_plant_fault]
    run = Bench(scenario).run(_Recorded(recorded), recorded.seed, faults)
    steps = min(len(recorded.time), len(run.time))
    difference, before = '', steps
    for name, unit in (('q', 'rad or m'), ('v', 'rad/s or m/s'), ('torque', 'N m or N')):
        then, now = getattr(recorded, name)[:steps], getattr(run, name)[:steps]
        found = first_difference(then, now, recorded.joints)
        if found is not None:
            step, joint, by = found
            at = step * recorded.timestep
            text = f'{name} of {joint} at {at:.6f} s, by {by:.3g} {unit}'
            if step < before:
                difference, before = text, step
    if not difference and steps < len(recorded.time):
        why = run.failure or 'the scenario is shorter than the recording'
        difference = f'it ended after {steps} of {len(recorded.time)} steps: {why}'
    return Replay(steps, difference, recorded.note)


def first_difference(then: FloatArray, now: FloatArray, joints: Any) -> Optional[Any]:
    """Return the first difference of two motions: row, joint, size; None if identical."""
    wrong = np.ascontiguousarray(then).view(np.int64) != np.ascontiguousarray(now).view(np.int64)
    if not wrong.any():
        return None
    row = int(np.argmax(wrong.any(axis=1)))
    away = np.where(wrong[row], np.abs(then[row] - now[row]), -1.0)
    joint = int(np.argmax(away))
    return row, joints[joint], float(away[joint])


class _Recorded:
    """A controller that repeats the recorded commands."""

    def __init__(self, recorded: RecordedRun):
        self._recorded = recorded
        self._next = 0
        self._command = np.zeros(len(recorded.joints))

    def __call__(self, time: float, q: FloatArray, v: FloatArray) -> FloatArray:
        times, now = self._recorded.command_time, BEGIN + round(time * NANOSECONDS)
        while self._next < len(times) and times[self._next] <= now:
            self._command = self._recorded.commands[self._next]
            self._next += 1
        return self._command


def _check_robot(scenario: Scenario, recorded: RecordedRun, path: Any) -> None:
    about, robot = recorded.about, scenario.robot
    if tuple(recorded.joints) != tuple(robot.joint_names):
        raise HilRecordingError(
            f'{path} belongs to another robot, {about.get("robot", "")!r} with the joints '
            f'{", ".join(recorded.joints)}; give the scenario that was recorded'
        )
    if about.get('description') != fingerprint(scenario.description):
        raise HilRecordingError(
            f'{path} belongs to another robot: the description of {robot.name!r} has changed; '
            'give the scenario that was recorded'
        )
    if recorded.timestep != scenario.timestep:
        raise HilRecordingError(
            f'{path} has a time step of {recorded.timestep:g} s, but the scenario has one of '
            f'{scenario.timestep:g} s; give the scenario that was recorded'
        )
    if not np.array_equal(recorded.q[0], scenario.start):
        raise HilRecordingError(
            f'{path} begins at another position than the trajectory of the scenario; give the '
            'scenario that was recorded'
        )
