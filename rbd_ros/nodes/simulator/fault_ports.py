"""Faults of a running simulation: told by a topic, put between its cycle and its ports."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, TYPE_CHECKING

import numpy as np

from rbd_ros.hil import Fault, FaultInjector, read_faults
from rbd_ros.nodes.common.conversions import NANOSECONDS
from rbd_ros.nodes.common.diagnostics import ERROR, OK, WARN
from rbd_ros.nodes.common.text import shorten
from rbd_ros.nodes.common.wire import JointStateWriter
from rbd_ros.nodes.simulator.cycle_ports import Message, Ports
from rbd_ros.nodes.simulator.lockstep import stamp_of

if TYPE_CHECKING:
    from rbd_ros.nodes.simulator.cycle import SimulationCycle
    from rbd_ros.nodes.simulator.node import SimulatorNode

SUBJECT = 'faults'
MOST_COLLECTED = 50  # messages of a topic in a cycle: a flood must not stop the simulation


class FaultPorts:
    """Ports of a simulation cycle with faults between; without faults what is wrapped, later.

    All runs in the thread of the simulation.

    :param ports: the ports themselves (cycle_ports.py)
    :param true: message of the state, as the cycle has it
    :param measured: another one like it
    :param injector: the faults
    :param time: tells simulated time [ns]
    :param changed: called when faults have begun or ended
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
        """Take other faults, of another seed; messages under way are lost."""
        self.injector = injector

    # -- of the cycle -----------------------------------------------------------------------------

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
        """Send what sensors make of a state, when it is due."""
        stamp = stamp_of(data)
        if stamp == self._last_stamp:  # shown again, while time stands still
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
        # A field may be left out of the message.
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
        """Let the commands that have come go their way."""
        link, ports = self.injector.links['command'], self._ports
        takes = ports.take_by_order, ports.take_by_name, ports.take_accelerations
        for kind, take in enumerate(takes):
            room = MOST_COLLECTED
            while room and (taken := take()) is not None:
                link.send((kind, (bytes(taken[0]), taken[1])), now)
                room -= 1
        # By kind, for the cycle takes one kind after the other.
        while (message := link.receive(now)) is not None:
            self._due[message[0]].append(message[1])

    def _next_of(self, kind: int) -> Message:
        due = self._due[kind]
        return due.pop(0) if due else None

    def forget(self) -> None:
        """Drop the messages under way."""
        self._due = ([], [], [])
        for link in self.injector.links.values():
            link.clear()


class Faults:
    """What is wrong with a simulation, as its topic says.

    :param node: the simulator node
    """

    def __init__(self, node: SimulatorNode):
        self._node = node
        self._ports: Optional[FaultPorts] = None
        self._seed = -1
        node.diagnostics.add_values(SUBJECT, self._values)

    def take(self, text: str) -> None:
        """Let all that a message says be wrong from now on, or refuse it whole.

        :param text: YAML, see docs/hil.md
        """
        node = self._node
        try:
            if node.loop is None:
                raise ValueError('there is no robot description yet')
            cycle = node.cycle
            faults = read_faults(text, cycle.commands.names, tuple(cycle.robot.model.links))
            if any(each.kind == 'payload' for each in faults):
                raise ValueError(
                    'payload is for scenarios (rbd_ros hil): a running simulation keeps its '
                    'inertias; push the link by external_wrench instead'
                )
            node.loop.request(lambda: self._begin(cycle, faults))
        except (ValueError, TimeoutError) as error:
            node.diagnostics.event(SUBJECT, ERROR, f'refused: {error}', code='refused')

    def forget(self) -> None:
        """Drop the messages under way; in the thread of the simulation."""
        if self._ports is not None:
            self._ports.forget()

    def _begin(self, cycle: SimulationCycle, faults: Sequence[Fault]) -> None:
        """Take faults; in the thread of the simulation."""
        seed, now = self._node.parameters['fault_seed'], cycle.time_ns / NANOSECONDS
        if self._ports is None or seed != self._seed:
            self._make(cycle, seed)
        self._ports.injector.plan(faults, now)
        # Now, not in the next cycle: what this robot cannot have is refused.
        try:
            self._ports.injector.update(now)
        except ValueError:
            self._ports.injector.plan(())
            self._ports.injector.update(now)
            raise
        finally:
            self._tell()

    def _make(self, cycle: SimulationCycle, seed: int) -> None:
        commands = cycle.commands
        injector = FaultInjector(commands.names, commands.at_v, seed)
        if self._ports is not None:
            self._ports.injector.plan(())
            self._ports.injector.update(0.0)  # limits and friction are whole again
            injector.attach(cycle.simulator.world)
            self._ports.use(injector)
        else:
            injector.attach(cycle.simulator.world)

            def between(ports: Any, true: JointStateWriter, like: JointStateWriter) -> FaultPorts:
                return FaultPorts(ports, true, like, injector, lambda: cycle.time_ns, self._tell)

            self._ports = cycle.pass_through(between)
        self._seed = seed

    def _tell(self) -> None:
        acting = [str(each) for each in self._ports.injector.acting]
        if acting:
            text = shorten(acting)
            self._node.diagnostics.condition(SUBJECT, WARN, f'acting: {text}', code=text)
        else:
            self._node.diagnostics.condition(SUBJECT, OK, 'none', code='none')

    def _values(self) -> Dict[str, Any]:
        return {} if self._ports is None else dict(self._ports.injector.counts())
