# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults of a running simulation: set by a topic, applied between its cycle and its ports."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, TYPE_CHECKING

import numpy as np

from rbd_ros.hil import Fault, FAULT_KINDS, FaultInjector, read_faults
from rbd_ros.hil.scenario.payloads import payload_sets, with_payloads
from rbd_ros.nodes.common.diagnostics import ERROR, OK, WARN
from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.nodes.simulator.cycle.cycle_ports import Message, Ports
from rbd_ros.nodes.simulator.cycle.lockstep import restamped, stamp_of
from rbd_ros.wire import JointStateWriter

if TYPE_CHECKING:
    from rbd_ros.nodes.simulator.cycle.simulation_cycle import SimulationCycle
    from rbd_ros.nodes.simulator.simulator_node import SimulatorNode

SUBJECT = 'faults'
MAX_LOADS = 20  # sets of payloads, each compiled before faults are accepted
MAX_COLLECTED = 50  # messages of a topic in a cycle: a flood must not stop the simulation


def _text(data: bytes) -> str:
    return bytes(data).hex()


def _command_text(command: Tuple[int, Tuple[bytes, Any]]) -> List[Any]:
    return [command[0], _text(command[1][0])]


def _command(coded: Sequence[Any]) -> Tuple[int, Tuple[bytes, Any]]:
    return coded[0], (bytes.fromhex(coded[1]), None)


class FaultPorts:
    """Ports of a simulation cycle that apply faults to the messages of the wrapped ports.

    All methods run in the thread of the simulation.

    :param ports: wrapped ports (cycle_ports.py)
    :param true: state message of the cycle
    :param measured: a second state message
    :param injector: the faults
    :param time: returns simulated time [ns]
    :param changed: called when faults begin or end
    """

    def __init__(
        self,
        ports: Ports,
        true: JointStateWriter,
        measured: JointStateWriter,
        injector: FaultInjector,
        time: Callable[[], int],
        changed: Callable[[], None],
    ):
        self._ports, self._true, self._measured = ports, true, measured
        self.injector, self._time, self._changed = injector, time, changed
        self.take_wrench, self.send_clock = ports.take_wrench, ports.send_clock
        self.send_base = ports.send_base
        self._last_stamp = -1
        self._last_sent: Optional[bytes] = None
        self._due: Tuple[List[Message], ...] = ([], [], [])

    def use(self, injector: FaultInjector) -> None:
        """Use other faults with another seed; messages under way are lost."""
        self.injector = injector

    # -- for the cycle ----------------------------------------------------------------------------

    def take_by_order(self) -> Message:
        """Take the next array that is due; called first in each cycle."""
        now = self._time() / NANOSECONDS
        if self.injector.update(now):
            self._changed()
        self._send_due(now)
        self._collect(now)
        return self._next_of(0)

    def take_by_name(self) -> Message:
        """Take the next JointState that is due."""
        return self._next_of(1)

    def take_accelerations(self) -> Message:
        """Take the next array of accelerations that is due."""
        return self._next_of(2)

    def send_state(self, data: bytes) -> None:
        """Send the measured state when it is due."""
        stamp = stamp_of(data)
        if stamp == self._last_stamp:  # repeated while paused
            if self._last_sent is not None:
                self._ports.send_state(self._last_sent)
            return
        self._last_stamp = stamp
        now = stamp / NANOSECONDS
        self.injector.links['state'].send(self._as_measured(data, stamp), now)
        self._send_due(now)

    # -- parts ------------------------------------------------------------------------------------

    def _as_measured(self, data: bytes, stamp: int) -> bytes:
        sensors = self.injector.sensors
        if not sensors.active:
            return bytes(data)
        true, measured = self._true, self._measured
        # A field may be absent from the message.
        q, v = true.position, true.velocity
        nothing = np.zeros(max(len(q), len(v)))
        noisy = sensors.measure(q if len(q) else nothing, v if len(v) else nothing)
        for target, values in zip((measured.position, measured.velocity), noisy):
            target[:] = values[: len(target)]
        measured.effort[:] = true.effort
        measured.set_stamp_ns(stamp)
        return bytes(measured.data())

    def _send_due(self, now: float) -> None:
        link = self.injector.links['state']
        while (data := link.receive(now)) is not None:
            self._last_sent = data
            self._ports.send_state(data)

    def _collect(self, now: float) -> None:
        """Forward the received commands."""
        link, ports = self.injector.links['command'], self._ports
        takes = ports.take_by_order, ports.take_by_name, ports.take_accelerations
        for kind, take in enumerate(takes):
            remaining = MAX_COLLECTED
            while remaining and (taken := take()) is not None:
                link.send((kind, (bytes(taken[0]), taken[1])), now)
                remaining -= 1
        # By type: the cycle takes one type after the other.
        while (message := link.receive(now)) is not None:
            self._due[message[0]].append(message[1])

    def _next_of(self, kind: int) -> Message:
        due = self._due[kind]
        return due.pop(0) if due else None

    def snapshot(self) -> Dict[str, Any]:
        """Return the state of messages from now on; JSON values."""
        kept = self.injector.snapshot()
        for channel, coded in (('state', _text), ('command', _command_text)):
            link = kept['links'][channel]
            link['waiting'] = [[*where, coded(each)] for *where, each in link['waiting']]
        under_way = [bytes.fromhex(each) for *_, each in kept['links']['state']['waiting']]
        shown = under_way if self._last_sent is None else [*under_way, self._last_sent]
        return {
            'injector': kept,
            'lag': self._last_stamp - min(map(stamp_of, shown), default=self._last_stamp),
            'last_stamp': self._last_stamp,
            'last_sent': None if self._last_sent is None else _text(self._last_sent),
            'due': [[_text(each[0]) for each in due if each is not None] for due in self._due],
        }

    def restore(self, memory: Mapping[str, Any], shift: int) -> None:
        """Restore a `memory`.

        :param shift: present time minus the time of the snapshot [ns]
        """

        def state(text: str) -> bytes:
            return restamped(bytes.fromhex(text), shift)

        kept = memory['injector']
        links = {}
        for channel, read in (('state', state), ('command', _command)):
            link = kept['links'][channel]
            waiting = [[*where, read(each)] for *where, each in link['waiting']]
            links[channel] = {**link, 'waiting': waiting}
        self.injector.restore({**kept, 'links': links}, shift / NANOSECONDS)
        self._last_stamp = memory['last_stamp'] + shift
        last = memory['last_sent']
        self._last_sent = None if last is None else state(last)
        self._due = tuple([(bytes.fromhex(each), None) for each in due] for due in memory['due'])

    def discard_messages(self) -> None:
        """Drop the messages under way."""
        self._due = ([], [], [])
        for link in self.injector.links.values():
            link.clear()

    def reset_published(self) -> None:
        """Treat the next state as new."""
        self._last_stamp = -1


def live_faults(text: str, cycle: SimulationCycle) -> Tuple[Fault, ...]:
    """Return the faults of a running simulation.

    :param text: YAML, see docs/hil_reference.md; empty: none
    :param cycle: the simulation
    :raises ValueError: with line and key; also for faults that this robot or a running simulation
        does not support
    """
    if not text.strip():
        return ()
    names, limits = cycle.commands.names, cycle.robot.effort_limits
    faults = read_faults(text, names, tuple(cycle.robot.model.links))
    for each in faults:
        if FAULT_KINDS[each.kind].limits_effort:
            # At once, so that the caller gets the error.
            for name, at in zip(names, cycle.commands.at_v):
                if (not each.joints or name in each.joints) and not math.isfinite(limits[at]):
                    raise ValueError(
                        f'joint {name!r} has no effort limit for {each.kind}: give effort in '
                        'the <limit> of the URDF'
                    )
    sets = payload_sets(faults)
    if len(sets) > MAX_LOADS:
        raise ValueError(
            f'{len(sets)} different sets of payloads in the schedule; a running simulation '
            f'supports {MAX_LOADS} at most'
        )
    for payloads in sets:
        # Compiled in this thread, while the simulation continues.
        cycle.prepare_inertias(with_payloads(cycle.robot, payloads))
    return faults


class Faults:
    """Faults of a simulation, by its topic and its parameter."""

    def __init__(self, node: SimulatorNode):
        self._node = node
        self._ports: Optional[FaultPorts] = None
        self._seed = -1
        node.diagnostics.add_values(SUBJECT, self._values)

    def plan(self, faults: Sequence[Fault]) -> None:
        """Replace all faults.

        :param faults: result of `live_faults`
        """
        node = self._node
        try:
            node.loop.request(lambda: self.begin(node.cycle, faults))
        except (ValueError, TimeoutError, RuntimeError) as error:
            self._reject(error)

    def _reject(self, error: Exception) -> None:
        self._node.diagnostics.event(SUBJECT, ERROR, f'rejected: {error}', code='rejected')

    def discard_messages(self) -> None:
        """Drop the messages under way; in the thread of the simulation."""
        if self._ports is not None:
            self._ports.discard_messages()

    def snapshot(self) -> Optional[Dict[str, Any]]:
        """Return the state of the faults; None if there were none."""
        return None if self._ports is None else {'seed': self._seed, **self._ports.snapshot()}

    def restore(self, memory: Optional[Mapping[str, Any]], shift: int) -> None:
        """Restore a `memory`; in the thread of the simulation, after its cycle.

        :param shift: present time minus the time of the snapshot [ns]
        """
        cycle = self._node.cycle
        if memory is not None:
            self._make(cycle, memory['seed'])
            self._ports.restore(memory, shift)
        elif self._ports is not None:
            # The next faults begin with a new random sequence.
            self._ports.injector.plan(())
            self._ports.injector.update(math.inf)
            self._ports.discard_messages()
            self._ports.reset_published()
            self._seed = -1
        if self._ports is not None:
            self._changed()

    def begin(self, cycle: SimulationCycle, faults: Sequence[Fault]) -> None:
        """Apply faults; in the thread of the simulation, or before it starts."""
        seed, now = self._node.parameters['fault_seed'], cycle.time_ns / NANOSECONDS
        if self._ports is None or seed != self._seed:
            self._make(cycle, seed)
        self._ports.injector.plan(faults, now)
        # At once, so that unsupported faults are rejected.
        try:
            self._ports.injector.update(now)
        except ValueError:
            self._ports.injector.plan(())
            self._ports.injector.update(now)
            raise
        finally:
            self._changed()

    def _make(self, cycle: SimulationCycle, seed: int) -> None:
        commands = cycle.commands
        # No record of changes: a simulator may run for weeks.
        injector = FaultInjector(commands.names, commands.at_v, seed, keep_changes=False)
        if self._ports is not None:
            self._ports.injector.plan(())
            self._ports.injector.update(0.0)  # restore limits and friction
            record = cycle.simulator.physics.record
            injector.attach(cycle.simulator.physics)
            self._ports.use(injector)
            if cycle.simulator.physics.record is not record:
                cycle.use_record()
        else:
            injector.attach(cycle.simulator.physics)

            def between(ports: Any, true: JointStateWriter, like: JointStateWriter) -> FaultPorts:
                return FaultPorts(
                    ports, true, like, injector, lambda: cycle.time_ns, self._changed
                )

            self._ports = cycle.pass_through(between)
        self._seed = seed

    def _changed(self) -> None:
        """Apply the present payloads, and report the active faults."""
        cycle = self._node.cycle
        cycle.load(with_payloads(cycle.robot, self._ports.injector.payloads))
        self._report()

    def _report(self) -> None:
        acting = [str(each) for each in self._ports.injector.acting]
        if acting:
            text = shorten(acting)
            self._node.diagnostics.condition(SUBJECT, WARN, f'acting: {text}', code=text)
        else:
            self._node.diagnostics.condition(SUBJECT, OK, 'none', code='none')

    def _values(self) -> Dict[str, Any]:
        return {} if self._ports is None else dict(self._ports.injector.counts())
