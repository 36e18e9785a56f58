# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a simulator node: by name, in files, and periodic ones for rewinding.

Without `rewind_period`, the cycle is unchanged.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from pathlib import Path
import re
from typing import Any, Callable, Deque, Dict, NamedTuple, Optional, Tuple, TYPE_CHECKING

from rbd_ros.nodes.common.diagnostics import ERROR, OK
from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.messages.text import readable, short_name, shorten
from rbd_ros.simulation import Snapshot
from rbd_ros.world.world import World

if TYPE_CHECKING:
    from rbd_ros.nodes.simulator.cycle.simulation_cycle import SimulationCycle
    from rbd_ros.nodes.simulator.simulator_node import SimulatorNode


NAME = re.compile(r'[A-Za-z0-9_\-][A-Za-z0-9_\-.]{0,99}')


def check_snapshot_name(name: str) -> None:
    """Reject a name that is not a valid file name on every machine.

    :raises ValueError: with the legal characters
    """
    if not NAME.fullmatch(name):
        raise ValueError(
            f'{short_name(name)!r} is not a valid name of a snapshot; set snapshot_name to at '
            'most 100 letters, digits, _, - and dots, no dot first'
        )


def check_snapshot_folder(folder: str) -> None:
    """Reject a folder that does not exist.

    :raises ValueError: with the cure
    """
    if folder and not _is_folder(folder):
        raise ValueError(
            f'snapshot_folder {short_name(folder)!r} is not a folder; create it first, or leave '
            'it empty for snapshots in memory'
        )


def snapshot_file(name: str, folder: str) -> Optional[Path]:
    """Return the file of a snapshot; None without a folder."""
    return Path(folder).expanduser() / f'{name}.npz' if folder else None


def _is_folder(text: str) -> bool:
    try:
        return Path(text).expanduser().is_dir()
    except (OSError, ValueError, RuntimeError):  # too long, a zero byte, ~ of an unknown user
        return False


SUBJECT = 'snapshots'
MAX_NAMES = 100

Outcome = Tuple[bool, str]


class StoredSnapshot(NamedTuple):
    """A snapshot of a node.

    :param time: its time, shifted with the simulated time by a rewind [ns]
    :param snapshot: state of the simulation, and that of the node
    :param world: the world; None: unknown or none
    """

    time: int
    snapshot: Snapshot
    world: Optional[World]


class Snapshots:
    """Snapshots of a simulator node."""

    def __init__(self, node: SimulatorNode):
        self._node = node
        self._named: Dict[str, StoredSnapshot] = {}
        self._past: Deque[StoredSnapshot] = deque(maxlen=node.parameters['rewind_count'])
        self._period = round(node.parameters['rewind_period'] * NANOSECONDS)
        self._next = 0
        self.saved = self.restored = self.rejected = 0
        node.diagnostics.add_values(SUBJECT, self._values)
        node.diagnostics.condition(SUBJECT, OK, 'none taken', code='none')

    @property
    def verbs(self) -> Dict[str, Callable[[], Outcome]]:
        """Functions of services, by service name."""
        return {
            '~/save_snapshot': lambda: self._outcome_of(self._save),
            '~/restore_snapshot': lambda: self._outcome_of(self._restore),
            '~/rewind': lambda: self._outcome_of(self._rewind),
        }

    def _outcome_of(self, verb: Callable[[], str]) -> Outcome:
        """Run a function; report its outcome in the response, the log and the diagnostics."""
        node = self._node
        try:
            if node.loop is None:
                raise ValueError('the node has no robot description yet')
            text = verb()
        except (ValueError, TimeoutError, RuntimeError) as error:
            self.rejected += 1
            node.diagnostics.event(SUBJECT, ERROR, readable(error), code=readable(error)[:100])
            return False, str(error)
        node.get_logger().info(readable(text))
        node.diagnostics.condition(SUBJECT, OK, text, code=text)
        return True, text

    # -- verbs ------------------------------------------------------------------------------------

    def _save(self) -> str:
        name, file = self._place()
        if name not in self._named and len(self._named) >= MAX_NAMES:
            raise ValueError(
                f'there are {MAX_NAMES} snapshots already; overwrite one of them: '
                f'{shorten(self._named)}'
            )
        kept = self._node.loop.request(self._take)
        if file is not None:
            # Imported for files only: other simulations start sooner.
            from rbd_ros.simulation import save_snapshot

            save_snapshot(kept.snapshot, file)
        self._named[name] = kept
        self.saved += 1
        where = '' if file is None else f', in {file}'
        return f'saved {name}, of {kept.time / NANOSECONDS:.6f} s{where}'

    def _restore(self) -> str:
        name, file = self._place()
        kept = self._named.get(name)
        if kept is None and file is not None and file.exists():
            from rbd_ros.simulation import load_snapshot

            kept = StoredSnapshot(0, load_snapshot(file), None)
        if kept is None:
            looked = '' if file is None else f', and no file {file}'
            raise ValueError(
                f'there is no snapshot {name!r}{looked}; there are '
                f'{shorten(self._named) or "none"}'
            )
        self._restore_objects(kept.world)
        self._node.loop.request(lambda: self._apply_snapshot(kept.snapshot, '~/restore_snapshot'))
        self.restored += 1
        return f'restored {name}, at {self._node.cycle.time_ns / NANOSECONDS:.6f} s'

    def _rewind(self) -> str:
        if not self._period:
            raise ValueError(
                'no snapshots for rewinding are taken; start the simulator with rewind_period '
                'above 0'
            )
        back = self._node.parameters['rewind_duration']
        kept = self._node.loop.request(lambda: self._found(back))
        self._restore_objects(kept.world)
        gone = self._node.loop.request(lambda: self._restore_stored(kept)) / NANOSECONDS
        self.restored += 1
        return f'went back by {gone:.6f} s, to {self._node.cycle.time_ns / NANOSECONDS:.6f} s'

    def _place(self) -> Tuple[str, Optional[Path]]:
        name: str = self._node.parameters['snapshot_name']
        return name, snapshot_file(name, self._node.parameters['snapshot_folder'])

    def _restore_objects(self, world: Optional[World]) -> None:
        """Restore the objects of a snapshot; not in the thread of the loop."""
        changes = self._node.changes
        if world is not None and changes is not None:
            changes.restore_world(world)

    # -- in the thread of the simulation ----------------------------------------------------------

    def watched(self, cycle: SimulationCycle) -> Callable[[], None]:
        """Return the cycle, extended to take snapshots if rewinding is enabled."""
        if not self._period:
            return cycle.run

        def run() -> None:
            cycle.run()
            if cycle.time_ns >= self._next:
                self._next = cycle.time_ns + self._period
                self._past.append(self._take())

        return run

    def _take(self) -> StoredSnapshot:
        node, cycle = self._node, self._node.cycle
        extra = {
            **cycle.snapshot(),
            'faults': None if node.faults is None else node.faults.snapshot(),
            'waiting': None if node.lockstep is None else node.lockstep.waiting,
        }
        snapshot = replace(cycle.simulator.snapshot(), extra=extra)
        return StoredSnapshot(cycle.time_ns, snapshot, cycle.simulator.world)

    def _apply_snapshot(self, snapshot: Snapshot, by: str) -> None:
        """Restore a snapshot; time continues.

        :raises ValueError: for a snapshot of another simulation; nothing is changed
        """
        node, cycle, memory = self._node, self._node.cycle, snapshot.extra
        faults = memory.get('faults')
        lag = 0 if faults is None else faults['lag']
        cycle.restore(snapshot, lambda: node.reset_progress(by), lag)
        if faults is not None or node.faults is not None:
            node.ensure_faults().restore(faults, cycle.time_ns - memory.get('time', cycle.time_ns))
        self._next = cycle.time_ns + self._period
        node.show()
        if node.lockstep is not None and memory.get('waiting') is not None:
            node.lockstep.expect(memory['waiting'])

    def _found(self, back: float) -> StoredSnapshot:
        """Return the newest snapshot that is at least `back` seconds old."""
        if not self._past:
            raise ValueError('no time has passed yet, so rewinding is not possible')
        now = self._node.cycle.time_ns
        latest = now - round(back * NANOSECONDS)
        for kept in reversed(self._past):
            if kept.time <= latest:
                return kept
        oldest = (now - self._past[0].time) / NANOSECONDS
        raise ValueError(
            f'the oldest snapshot is {oldest:.6f} s old: set rewind_duration to that or less, or '
            'start with a larger rewind_count or rewind_period'
        )

    def _restore_stored(self, kept: StoredSnapshot) -> int:
        """Restore a snapshot of the past; return its age [ns].

        Later snapshots are dropped, so that the next rewind goes further back.
        """
        gone = self._node.cycle.time_ns - kept.time
        self._apply_snapshot(kept.snapshot, '~/rewind')
        shift = self._node.cycle.time_ns - kept.time
        past = [each for each in self._past if each.time <= kept.time]
        self._past.clear()
        self._past.extend(each._replace(time=each.time + shift) for each in past)
        return gone

    def _values(self) -> Dict[str, Any]:
        past = tuple(self._past)  # one assignment: the simulation continues meanwhile
        newest, oldest = (past[k].time if past else 0 for k in (-1, 0))
        return {
            'named': len(self._named),
            'saved': self.saved,
            'restored': self.restored,
            'rejected': self.rejected,
            'rewind_snapshots': len(past),
            'rewind_span_s': (newest - oldest) / NANOSECONDS,
        }
