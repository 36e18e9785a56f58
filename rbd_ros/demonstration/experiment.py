# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A tracking experiment as data: plan, recordings, and tracking errors.

Files are NumPy archives, through which the recording and the reporting process communicate.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
import json
from pathlib import Path
from typing import Dict, Sequence, Tuple, Union

import numpy as np

from rbd_ros.bounded_files import open_regular
from rbd_ros.control.motion.trajectory import JointTrajectory

NANOSECONDS = 1e9
#: Topic of the commands in lockstep, which the recorder forwards to `joint_commands`.
ANSWERS = 'recorded_joint_commands'
BUSY, SLOW = 0.01, 0.95  # fraction of states without a command in time; real-time factor
#: Maximum size of a file of arrays [bytes].
MAX_FILE = 4 << 30


@dataclass(frozen=True)
class Law:
    """A control law for the arm.

    :param key: short name, for files
    :param title: displayed name
    :param parameters: parameters of the inverse_dynamics node
    """

    key: str
    title: str
    parameters: Dict[str, str]


@dataclass(frozen=True)
class Plan:
    """One motion, tracked with several laws.

    :param joint_names: names of the n joints
    :param times: times of the points, (P,) [s]
    :param positions: positions, (P, n) [rad or m]
    :param velocities: velocities, (P, n) [rad/s or m/s]
    :param accelerations: accelerations, (P, n) [rad/s^2 or m/s^2]
    :param laws: the laws, in the order of the runs
    :param period: time between two states [s]
    :param lead: time between the reset of the arm and the start of the motion [s]
    """

    joint_names: Tuple[str, ...]
    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    accelerations: np.ndarray
    laws: Tuple[Law, ...]
    period: float = 1e-3
    lead: float = 1.5

    @cached_property
    def trajectory(self) -> JointTrajectory:
        """Motion of the plan as a trajectory."""
        return JointTrajectory(
            self.joint_names, self.times, self.positions, self.velocities, self.accelerations
        )

    def save(self, path: Union[str, Path]) -> None:
        """Write the plan to a file."""
        texts = {
            'joint_names': list(self.joint_names),
            'laws': [vars(law) for law in self.laws],
            'period': self.period,
            'lead': self.lead,
        }
        arrays = {name: getattr(self, name) for name in _PLAN_ARRAYS}
        np.savez(path, texts=np.array(json.dumps(texts)), **arrays)

    @classmethod
    def load(cls, path: Union[str, Path]) -> Plan:
        """Read a plan of `save`."""
        with open_regular(path, MAX_FILE) as content, np.load(content) as file:
            texts = json.loads(str(file['texts']))
            return cls(
                joint_names=tuple(texts['joint_names']),
                laws=tuple(Law(**law) for law in texts['laws']),
                period=texts['period'],
                lead=texts['lead'],
                **{name: file[name] for name in _PLAN_ARRAYS},
            )


_PLAN_ARRAYS = ('times', 'positions', 'velocities', 'accelerations')


@dataclass(frozen=True)
class Recording:
    """Messages recorded during one run.

    Stamps are simulated time; that of a command is the stamp of the state that it answers. Sending
    times are those of the publisher, on the system's clock.

    :param start: stamp at which the motion started [ns]
    :param state_stamps: stamps of the states, (S,) [ns]
    :param state_sent: sending times of the states, (S,) [ns]
    :param q: positions, (S, n) [rad or m]
    :param v: velocities, (S, n) [rad/s or m/s]
    :param effort: torques that the simulator applied, (S, n) [N m or N]
    :param command_stamps: stamps of the commands, (C,) [ns]
    :param command_sent: sending times of the commands, (C,) [ns]
    """

    start: int
    state_stamps: np.ndarray
    state_sent: np.ndarray
    q: np.ndarray
    v: np.ndarray
    effort: np.ndarray
    command_stamps: np.ndarray
    command_sent: np.ndarray

    def save(self, path: Union[str, Path]) -> None:
        """Write the recording to a file."""
        np.savez(path, **vars(self))

    @classmethod
    def load(cls, path: Union[str, Path]) -> Recording:
        """Read a recording of `save`."""
        with open_regular(path, MAX_FILE) as content, np.load(content) as file:
            values = {f.name: file[f.name] for f in fields(cls)}
        return cls(int(values.pop('start')), **values)


@dataclass(frozen=True)
class Tracking:
    """Result of one run, from the start to the end of the motion.

    :param times: time since the start, (S,) [s]
    :param desired: desired positions, (S, n) [rad or m]
    :param q: actual positions, (S, n) [rad or m]
    :param effort: torques applied, (S, n) [N m or N]
    :param rms: root mean square of the position errors, (n,) [rad or m]
    :param peak: maximum position errors, (n,) [rad or m]
    :param overall: root mean square over joints of rms / swing, a pure number
    :param peak_effort: maximum torques, (n,) [N m or N]
    """

    times: np.ndarray = field(repr=False)
    desired: np.ndarray = field(repr=False)
    q: np.ndarray = field(repr=False)
    effort: np.ndarray = field(repr=False)
    rms: np.ndarray
    peak: np.ndarray
    overall: float
    peak_effort: np.ndarray

    @property
    def error(self) -> np.ndarray:
        """Position errors, actual minus desired, (S, n)."""
        return self.q - self.desired


@dataclass(frozen=True)
class Timing:
    """Regularity of the control loop in one run, from the start to the end of the motion.

    :param real_time_factor: simulated seconds in a real second
    :param rate: commands per second of real time [Hz]
    :param missed: number of states without a command within the period
    :param longest_gap: maximum simulated time between commands [s]
    :param states: number of states
    :param lost_states: number of published states that were not recorded
    :param latency: times between sending a state and its command, sorted, (C,) [s]
    """

    real_time_factor: float
    rate: float
    missed: int
    longest_gap: float
    states: int
    lost_states: int
    latency: np.ndarray = field(repr=False)

    @property
    def busy(self) -> bool:
        """True if the load of the machine dominates the results."""
        return self.missed > BUSY * self.states or self.real_time_factor < SLOW

    def latency_percentiles(self, percentiles: Sequence[float]) -> np.ndarray:
        """Return percentiles of the latency, in the given order [s]; NaN without commands."""
        if not len(self.latency):
            return np.full(len(percentiles), np.nan)
        return np.percentile(self.latency, percentiles)


def evaluate(plan: Plan, recording: Recording) -> Tracking:
    """Compare the recorded with the planned motion.

    :raises ValueError: if no state was recorded during the motion
    """
    elapsed, during = _motion(plan, recording)
    times, q = elapsed[during], recording.q[during]
    desired = np.array([plan.trajectory.sample(t)[0] for t in times.tolist()])
    error = q - desired
    swing = np.ptp(plan.positions, axis=0) / 2.0
    rms = np.sqrt(np.mean(error**2, axis=0))
    moving = swing > 0.0
    overall = np.sqrt(np.mean((rms[moving] / swing[moving]) ** 2)) if moving.any() else np.nan
    effort = recording.effort[during]
    return Tracking(
        times=times,
        desired=desired,
        q=q,
        effort=effort,
        rms=rms,
        peak=np.abs(error).max(axis=0),
        overall=float(overall),
        peak_effort=np.abs(effort).max(axis=0),
    )


def measure(plan: Plan, recording: Recording) -> Timing:
    """Compare the sending times of messages with their due times.

    :raises ValueError: if no state was recorded during the motion
    """
    _, during = _motion(plan, recording)
    stamps, sent = recording.state_stamps[during], recording.state_sent[during]
    answers = dict(zip(recording.command_stamps.tolist(), recording.command_sent.tolist()))
    delays = [
        (answers[stamp] - when) / NANOSECONDS
        for stamp, when in zip(stamps.tolist(), sent.tolist())
        if stamp in answers
    ]
    latency = np.sort(np.array(delays, dtype=float))
    inside = (recording.command_sent >= sent[0]) & (recording.command_sent <= sent[-1])
    duration = (sent[-1] - sent[0]) / NANOSECONDS
    simulated = (stamps[-1] - stamps[0]) / NANOSECONDS
    begin, end = recording.start, recording.start + round(plan.times[-1] * NANOSECONDS)
    commands = np.sort(recording.command_stamps)
    commands = commands[(commands >= begin) & (commands <= end)]
    return Timing(
        real_time_factor=float(simulated / duration) if duration > 0.0 else 0.0,
        rate=float(np.count_nonzero(inside) / duration) if duration > 0.0 else 0.0,
        missed=len(stamps) - int(np.count_nonzero(latency <= plan.period)),
        longest_gap=float(np.diff(commands, prepend=begin, append=end).max() / NANOSECONDS),
        states=len(stamps),
        lost_states=1 + round(simulated / plan.period) - len(stamps),
        latency=latency,
    )


def _motion(plan: Plan, recording: Recording) -> Tuple[np.ndarray, np.ndarray]:
    """Return each state's time since the motion's start, (S,) [s], and whether it is in it."""
    elapsed = (recording.state_stamps - recording.start) / NANOSECONDS
    during = (elapsed >= 0.0) & (elapsed <= plan.times[-1])
    if not during.any():
        raise ValueError('no joint state was recorded during the motion; run the demo again')
    return elapsed, during
