# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults on a timeline, applied to a simulation and its messages when they are due."""

from __future__ import annotations

from dataclasses import asdict, replace
import math
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple
import zlib

import numpy as np

from rbd_ros.array_types import AnyArray
from rbd_ros.hil.faults.disturbances import MessageLink, NONE, SensorFaults
from rbd_ros.hil.faults.faults import Fault, FAULT_KINDS
from rbd_ros.hil.plants.plant import Actuated


class PlantFaults:
    """Faults of actuators and joints, applied to a simulation in place.

    :param physics: the simulation; its joints may have friction from now on
    :param at_v: degree of freedom of each joint that may have faults, (n,)
    """

    def __init__(self, physics: Actuated, at_v: AnyArray):
        physics.allow_friction()
        model = physics.model
        #: Degree of freedom of each joint that may have faults, (n,).
        self.at_v = at_v
        #: Present effort limits and dry friction, (nv,) each [N m, N].
        self.effort, self.friction = model.effort, model.friction
        self.own_effort, self.own_friction = model.effort.copy(), model.friction.copy()

    def clear(self) -> None:
        """Remove all faults."""
        self.effort[:] = self.own_effort
        self.friction[:] = self.own_friction


class FaultChange(NamedTuple):
    """A fault that began or ended.

    :param time: time of the change [s]
    :param began: whether it began
    :param fault: the fault
    """

    time: float
    began: bool
    fault: Fault

    def __str__(self) -> str:
        return f'{self.time:.6f} s: {self.fault} {"begins" if self.began else "ends"}'


def generator(seed: int, name: str) -> np.random.Generator:
    """Return a random generator for one purpose, so that faults do not change each other."""
    return np.random.Generator(np.random.PCG64([seed, zlib.crc32(name.encode())]))


class FaultInjector:
    """Faults of a simulation, of its sensors and of its messages.

    Of several faults of one kind for the same joint or channel, the last one in the list counts.

    :param joints: names of the joints that may have faults, (n,)
    :param at_v: degree of freedom of each, (n,)
    :param seed: seed of the random numbers
    :param keep_changes: whether `changes` keeps all changes, which needs memory for each

    >>> from rbd_ros.hil import Fault, FaultInjector
    >>>     >>> physics = Physics(robot)
    >>> injector = FaultInjector(robot.joint_names, np.arange(6), seed=1)
    >>> injector.attach(physics)
    >>> fault = Fault('power_cut', start_time=1.0, duration=0.5)
    >>> injector.plan([fault])
    >>> for time in (0.0, 1.0, 1.5):
    ...     injector.update(time)
    ...     print(physics.model.effort[2])
    150.0
    0.0
    150.0
    >>> [str(each) for each in injector.changes]
    ['1.000000 s: power_cut begins', '1.500000 s: power_cut ends']
    """

    def __init__(
        self, joints: Sequence[str], at_v: np.ndarray, seed: int = 0, keep_changes: bool = True
    ):
        self._keeps_changes = keep_changes
        self._places = {name: k for k, name in enumerate(joints)}
        self._at_v = np.array(at_v, dtype=np.intp)
        self._plant: Optional[PlantFaults] = None
        self._faults: Tuple[Fault, ...] = ()
        self._acting: Tuple[Fault, ...] = ()
        self._next = math.inf  # time of the next change [s]
        self.sensors = SensorFaults(len(joints), generator(seed, 'sensors'))
        #: Links of messages by channel: states to the controller, commands back.
        self.links: Dict[str, MessageLink] = {
            channel: MessageLink(generator(seed, channel)) for channel in ('state', 'command')
        }
        #: All changes, in order.
        self.changes: List[FaultChange] = []

    @property
    def acting(self) -> Tuple[Fault, ...]:
        """Active faults."""
        return self._acting

    def attach(self, physics: Actuated) -> None:
        """Attach the faults to a simulation, and detach them from the previous one.

        :raises ValueError: if the simulation does not support an active fault
        """
        if self._plant is not None:
            self._plant.clear()
        self._plant = PlantFaults(physics, self._at_v)
        self._apply()

    def plan(self, faults: Sequence[Fault], now: float = 0.0) -> None:
        """Replace all faults.

        :param faults: new faults; their times count from `now`
        :param now: present time [s]
        """
        self._faults = tuple(replace(each, start_time=now + each.start_time) for each in faults)
        self._next = -math.inf

    def update(self, time: float) -> bool:
        """Begin and end due faults; to be called before each step.

        :param time: present time [s]
        :return: whether anything has changed
        :raises ValueError: if the robot does not support a fault
        """
        # Times are sums of steps, so rounding is tolerated.
        time += 1e-9
        if time < self._next:
            return False
        acting = tuple(each for each in self._faults if each.is_active(time))
        times = [t for each in self._faults for t in (each.start_time, each.end) if t > time]
        self._next = min(times, default=math.inf)
        if acting == self._acting:
            return False
        rounded = round(time - 1e-9, 9)
        before, self._acting = self._acting, acting
        if self._keeps_changes:
            self.changes += [
                FaultChange(rounded, False, each) for each in before if each not in acting
            ]
            self.changes += [
                FaultChange(rounded, True, each) for each in acting if each not in before
            ]
        self._apply()
        return True

    def _apply(self) -> None:
        """Apply the active faults, and remove all others."""
        self.sensors.clear()
        if self._plant is not None:
            self._plant.clear()
        for link in self.links.values():
            link.disturbance = NONE
        for fault in self._acting:
            kind = FAULT_KINDS[fault.kind]
            if self._plant is not None or not kind.is_plant_fault:
                kind.apply(self, fault)

    # -- for the kinds of faults ------------------------------------------------------------------

    @property
    def plant(self) -> PlantFaults:
        """Actuators and joints of the simulation."""
        assert self._plant is not None
        return self._plant

    def joints(self, fault: Fault) -> np.ndarray:
        """Return the indices of a fault's joints."""
        names = fault.joints or tuple(self._places)
        return np.array([self._places[name] for name in names], dtype=np.intp)

    def add_disturbance(self, fault: Fault, **changes: float) -> None:
        """Change the disturbance of a fault's channels."""
        for channel in self.links if fault.channel == 'both' else (fault.channel,):
            changed = self.links[channel].disturbance._replace(**changes)
            self.links[channel].disturbance = NONE if changed == NONE else changed

    # -- for snapshots ----------------------------------------------------------------------------

    def snapshot(self) -> Dict[str, Any]:
        """Return the state of all faults: faults, messages under way, and random states.

        JSON values, except for the messages, which are unchanged.
        """
        return {
            'faults': [asdict(each) for each in self._faults],
            'acting': [asdict(each) for each in self._acting],
            'next': self._next,
            'sensors': self.sensors.snapshot(),
            'links': {channel: link.snapshot() for channel, link in self.links.items()},
        }

    def restore(self, snapshot: Dict[str, Any], shift: float = 0.0) -> None:
        """Restore a `snapshot`; past changes and the counts of messages stay.

        :param snapshot: snapshot of an injector for the same joints
        :param shift: present time minus the time of the snapshot [s]

        >>> from rbd_ros.hil import Fault, FaultInjector
        >>> injector = FaultInjector(robot.joint_names, np.arange(6), seed=1)
        >>> injector.plan([Fault('position_noise', 0.1)])
        >>> _ = injector.update(0.0)
        >>> kept, seen = injector.snapshot(), []
        >>> for _ in range(2):
        ...     injector.restore(kept)
        ...     seen.append(injector.sensors.measure(np.zeros(6), np.zeros(6))[0])
        >>> np.array_equal(*seen)
        True
        """
        self._faults, self._acting = (
            tuple(_moved(each, shift) for each in snapshot[name]) for name in ('faults', 'acting')
        )
        self._next = snapshot['next'] + shift
        self._apply()
        self.sensors.restore(snapshot['sensors'])
        for channel, link in self.links.items():
            link.restore(snapshot['links'][channel], shift)

    @property
    def payloads(self) -> Tuple[Fault, ...]:
        """Present payloads of the robot."""
        return tuple(each for each in self._acting if each.kind == 'payload')

    def counts(self) -> Dict[str, int]:
        """Return the numbers of messages sent, dropped and duplicated in each channel."""
        return {
            f'{channel}s_{what}': getattr(link, what)
            for channel, link in self.links.items()
            for what in ('sent', 'dropped', 'duplicated')
        }


def _moved(values: Dict[str, Any], shift: float) -> Fault:
    """Return the fault of a snapshot, in which JSON has lists."""
    given = {name: tuple(x) if isinstance(x, list) else x for name, x in values.items()}
    return Fault(**{**given, 'start_time': values['start_time'] + shift})
