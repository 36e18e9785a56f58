# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""External wrenches on links of the simulated robot and on objects, in their own frames."""

from __future__ import annotations

import math
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.nodes.common.diagnostics import Diagnostics, WARN
from rbd_ros.nodes.messages.text import short_name
from rbd_ros.simulation import Simulator
from rbd_ros.simulation.records.simulation_state import MAX_FORCES
from rbd_ros.wire import WireError, WrenchStampedReader

SUBJECT = 'external_wrench'

MAX_FORCE = 1e7  # far above real loads; sums of these do not overflow [N or N m]


class Acting(NamedTuple):
    """An external wrench on a link or an object.

    :param wrench: torque and force of the message, (6,) [N m, N]
    :param before: torque and force at its arrival, (6,)
    :param since: time of arrival [s]
    :param until: end, infinite: never [s]
    :param ramp: transition time from `before`, and to zero after the end [s]
    """

    wrench: np.ndarray
    before: np.ndarray
    since: float
    until: float
    ramp: float

    def at(self, time: float) -> np.ndarray:
        """Return the torque and force at a time, (6,)."""
        if self.ramp == 0.0:
            return self.wrench
        risen = min(1.0, max(0.0, (time - self.since) / self.ramp))
        left = 1.0 - min(1.0, max(0.0, (time - self.until) / self.ramp))
        return left * (self.before + risen * (self.wrench - self.before))

    @property
    def end(self) -> float:
        """Time of the end of the transition to zero [s]."""
        return self.until + self.ramp


class ExternalWrenches:
    """Active wrenches, one a link or object: about its origin, in its axes, moving with it.

    :param simulator: the simulation
    :param diagnostics: reports rejected messages
    :param prefix: prefix that frame names may have
    """

    def __init__(self, simulator: Simulator, diagnostics: Diagnostics, prefix: str = ''):
        self._simulator = simulator
        self._diagnostics = diagnostics
        self._prefix = prefix
        self._reader = WrenchStampedReader()
        self._forces: Dict[str, Acting] = {}
        self.accepted = 0
        self.rejected = 0

    def take(self, data: bytes, duration: float, robot: str = '', ramp: float = 0.0) -> None:
        """Apply the wrench of a message.

        :param data: serialized WrenchStamped
        :param duration: duration [s]; 0: until the next one for the same link
        :param robot: prefix of the links, such as 'left/'
        :param ramp: transition time from the present wrench, and to zero after the end [s]
        """
        try:
            message = self._reader.read(data)
        except WireError as error:
            self._reject(str(error), error.code)
            return
        link = message.frame_id.lstrip('/')
        if link.startswith(self._prefix):
            link = link[len(self._prefix) :]
        if not link.startswith(robot):
            link = robot + link
        force = np.concatenate([message.torque, message.force])
        problem = self._problem(link, force)
        if problem is not None:
            self._reject(*problem)
            return
        self.accepted += 1
        now, present = self._simulator.time, self._forces.get(link)
        before = np.zeros(6) if present is None else present.at(now)
        until = now + duration if duration > 0.0 else math.inf
        self._forces[link] = Acting(force, before, now, until, ramp)

    def _reject(self, text: str, code: str) -> None:
        self.rejected += 1
        self._diagnostics.event(SUBJECT, WARN, f'wrench rejected: {text}', code=code)

    def _problem(self, link: str, force: np.ndarray) -> Optional[Tuple[str, str]]:
        """Return the problem of a wrench: text and short code; None without a problem."""
        simulator = self._simulator
        if link not in simulator.robot.model.links and link not in simulator.objects:
            name = short_name(link)
            others = ' nor a movable object' if simulator.world is not None else ''
            return f'header.frame_id {name!r} is not a link of the robot{others}', 'unknown link'
        if not np.isfinite(force).all():
            return 'the wrench is not finite', 'not finite'
        if np.abs(force).max() > MAX_FORCE:
            return (
                f'{np.abs(force).max():g} N or N m is above the limit of {MAX_FORCE:g}',
                'too large',
            )
        if link not in self._forces and len(self._forces) >= MAX_FORCES:
            return (
                f'{MAX_FORCES} links or objects have a wrench already; end some of them '
                '(external_wrench_duration, a wrench of zero, or ~/reset)',
                'too many',
            )
        return None

    @property
    def acting(self) -> bool:
        """True if there is a wrench."""
        return bool(self._forces)

    def drop_unknown_bodies(self) -> None:
        """Drop the wrenches on bodies that are no longer in the world."""
        simulator = self._simulator
        known = {*simulator.robot.model.links, *simulator.objects}
        self._forces = {link: force for link, force in self._forces.items() if link in known}

    def clear(self) -> None:
        """Remove all wrenches."""
        self._forces.clear()

    def snapshot(self) -> Dict[str, Any]:
        """Return the active wrenches and their ends, by link; JSON values."""
        return {
            link: [each.wrench.tolist(), each.before.tolist(), each.since, each.until, each.ramp]
            for link, each in self._forces.items()
        }

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Restore a `memory` of the same simulated time."""
        self._forces = {
            link: Acting(np.array(wrench), np.array(before), *times)
            for link, (wrench, before, *times) in memory.items()
        }

    def apply(self, cycle_time: float, substeps: int) -> None:
        """Apply the wrenches for the next cycle.

        :param cycle_time: duration of a cycle [s]
        :param substeps: steps in a cycle
        """
        step = cycle_time / substeps
        simulator = self._simulator
        for link in [
            k for k, each in self._forces.items() if simulator.time > each.end - 0.5 * step
        ]:
            del self._forces[link]
        poses = simulator.robot.forward_kinematics(simulator.q)
        for link, acting in self._forces.items():
            # At the middle of the cycle, so that a ramp does not change the impulse.
            force = acting.at(simulator.time + 0.5 * cycle_time)
            pose = poses[link] if link in poses else simulator.object_pose(link)
            rotation = pose[:3, :3]
            base = np.concatenate([rotation @ force[:3], rotation @ force[3:]])
            # Half a step less than the cycle: durations are rounded up to whole steps.
            simulator.apply_wrench(
                link, base, duration=cycle_time - 0.5 * step, point=(0.0, 0.0, 0.0)
            )
