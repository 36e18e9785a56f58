# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joints that can be commanded: the drive of each, and its substitute without commands."""

from __future__ import annotations

import math
from typing import Any, Dict, Mapping, Tuple

import numpy as np

from rbd_ros.compiler.loops import Record
from rbd_ros.model import Model
from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.nodes.simulator.commands.command_reports import CommandReports
from rbd_ros.nodes.simulator.cycle.compiled_cycle import CHANGING, Sent, STANDING
from rbd_ros.robot import Robot
from rbd_ros.simulation.stepping.drives import (
    ACCELERATION,
    EFFORT,
    GRAVITY,
    make_drives,
    POSITION,
    VELOCITY,
    ZERO,
)

DEFAULT_SILENCE = 1.0  # silence that is reported if commands never time out [s]
STREAM = 20  # messages without a gap that count as a controller, whose end gives a warning
COUNTS = {
    ZERO: 'nothing',
    GRAVITY: 'gravity',
    EFFORT: 'effort',
    POSITION: 'position',
    VELOCITY: 'velocity',
    ACCELERATION: 'acceleration',
}
REMEMBERED = ('mode', 'effort', 'position', 'velocity', 'acceleration')  # of `Drives`
STAND_INS = {'hold': POSITION, 'gravity': GRAVITY, 'zero': ZERO}


def single_joints(model: Model) -> Tuple[Tuple[str, ...], np.ndarray, np.ndarray]:
    """Return the joints with one degree of freedom: names, indices in q and in v, (k,) each.

    :param model: model of the robot
    """
    single = [
        (model.body(i).joint_name, at_q.start, at_v.start)
        for i, (at_q, at_v) in model.independent_slices.items()
        if model.body(i).joint.nv == 1
    ]
    return (
        tuple(name for name, _, _ in single),
        np.array([q for _, q, _ in single], dtype=np.intp),
        np.array([v for _, _, v in single], dtype=np.intp),
    )


class DrivenJoints:
    """All joints with one degree of freedom, and their drives; others cannot be commanded.

    In a robot with loops, only actuated joints can be commanded; all others move freely.

    :param diagnostics: reports missing and contradictory commands
    :param bandwidth: natural frequency of the servo [rad/s]
    """

    def __init__(self, robot: Robot, diagnostics: Diagnostics, bandwidth: float):
        model = robot.model
        self.reports = CommandReports(diagnostics)
        self.names, self.at_q, self.at_v = single_joints(model)
        actuated = model.actuated_joints
        #: Which of the joints can be commanded, (k,)
        self.driven = np.array(
            [k for k, name in enumerate(self.names) if name in actuated], dtype=np.intp
        )
        self.drives = make_drives(robot, self.at_q, self.at_v, bandwidth)
        self.record = Record(self.drives)
        count = len(self.names)
        #: Values of the messages, by joint.
        self.sent = Sent(
            np.full((3, count), np.nan),
            np.full((3, count), np.nan),
            np.zeros(count, dtype=np.int64),
        )
        self.sent_record = Record(self.sent)

    def replace_commands(self, action: str, q: np.ndarray) -> None:
        """Drive the joints by `action` (hold, gravity or zero), and drop all commands.

        :param q: configuration to hold, (nq,)
        """
        self.drives.mode[:] = ZERO
        self._drive_by(self.driven, action, q)

    def snapshot(self, now: float) -> Dict[str, Any]:
        """Return the drives of the joints and the last commands as JSON values.

        :param now: present time of a steady clock [s]
        """
        drives = self.drives
        kept = {name: getattr(drives, name).tolist() for name in REMEMBERED}
        kept['age'] = (now - drives.received).tolist()
        return {
            **kept,
            'last': self.sent.last.tolist(),
            'concurrent': self.sent.concurrent.tolist(),
            'receiving': self.reports.receiving,
        }

    def restore(self, memory: Mapping[str, Any], now: float) -> None:
        """Restore a `memory`; counters continue."""
        for name in REMEMBERED:
            getattr(self.drives, name)[:] = memory[name]
        self.drives.received[:] = now - np.array(memory['age'])
        self.sent.last[:] = memory['last']
        self.sent.concurrent[:] = memory['concurrent']
        self.reports.receiving = memory['receiving']

    def expire(self, now: float, timeout: float, action: str, q: np.ndarray) -> None:
        """Replace efforts and velocities older than `timeout` seconds by `action`."""
        drives = self.drives
        late = (now - drives.received > timeout) & (drives.mode != POSITION)
        if late.any():
            self.reports.receiving = False
            late = np.flatnonzero(late)
            self._drive_by(late, action, q)
            self.reports.condition(
                WARN,
                f'no command for {timeout:g} s for {shorten([self.names[i] for i in late])}: '
                f'{action}. (A sender that is silent while its command is constant needs '
                'command_timeout 0, or trigger_joint_command_threshold -1 in '
                'joint_state_topic_hardware_interface)',
                'timeout',
            )

    def watch(self, now: float, timeout: float) -> None:
        """Report command timeouts and contradictory commands.

        Position commands do not expire, since holding them is safe, but silence is still reported.

        :param timeout: timeout of commands [s]; 0: none
        """
        concurrent, drives = self.sent.concurrent, self.drives
        if concurrent.any():
            self._report_conflicts(concurrent)
            concurrent[:] = 0
        if not self.reports.receiving:
            return
        commanded = np.isfinite(drives.received)
        silence = timeout or DEFAULT_SILENCE
        if not commanded.any() or now - drives.received[commanded].max() <= silence:
            return
        self.reports.receiving = False
        streamed = timeout > 0.0 and self.reports.streamed >= STREAM
        kept = shorten(self.names[i] for i in np.flatnonzero(commanded))
        self.reports.condition(
            WARN if streamed else OK,
            f'command timeout after {silence:g} s: the last command remains in effect for {kept}',
            'command_timeout',
        )

    def _report_conflicts(self, concurrent: np.ndarray) -> None:
        """Report joints with more than one command at a time.

        :param concurrent: as in `Sent`
        """
        for text, level, code, which in (
            (
                'contradictory commands: two of effort, position and velocity change at the same '
                'time for',
                WARN,
                'contradictory commands',
                concurrent & CHANGING != 0,
            ),
            (
                'a second command is ignored for',
                OK,
                'standing command',
                concurrent == STANDING,
            ),
        ):
            if which.any():
                joints = shorten(
                    f'{self.names[j]} ({COUNTS[self.drives.mode[j]]} counts)'
                    for j in np.flatnonzero(which)
                )
                self.reports.event(level, f'{text} {joints}', code)

    def refresh(self, now: float) -> None:
        """Restart the age of commands at `now`, after a pause."""
        received = self.drives.received
        received[np.isfinite(received)] = now

    def _drive_by(self, joints: np.ndarray, action: str, q: np.ndarray) -> None:
        drives = self.drives
        drives.mode[joints] = STAND_INS[action]
        drives.position[joints] = q[self.at_q[joints]]
        drives.velocity[joints] = 0.0
        drives.received[joints] = math.inf
        self.sent.last[:, joints] = np.nan
        self.reports.receiving = False
