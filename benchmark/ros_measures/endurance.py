# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Many messages through a node: none may be lost, counters stay exact, memory does not grow.

Ten million are seven days at the rate of a slow controller, or almost three hours at 1 kHz.
"""

from __future__ import annotations

from dataclasses import dataclass
import json
import sys
from typing import Any, Dict, List, Mapping, Optional

from measurement import Progress

from ros_measures.processes import (
    domains,
    family,
    HERE,
    in_domain,
    joints,
    last_words,
    node_command,
)
from ros_measures.row import at_most, Row

LOST = 'messages lost'
DRIFT = 'counters, beside what was sent and received'
GROWTH = 'memory after warm-up, growth [MB]'

MAX_GROWTH = 1.0  # [MB]
WARM_UP = 5000  # minimum messages before memory and counters are recorded
WARM_SECONDS = 60.0  # maximum duration of the warm-up [s]
WARM_PART = 0.1  # fraction of the messages
TIMESTEP = 0.001  # of the simulator [s]
MEANWHILE = 50  # maximum steps of the simulator while it writes a report

#: Parameters of each node; the simulator waits for its commands, so none can be lost
PARAMETERS: Dict[str, Dict[str, Any]] = {
    'gravity_compensation': {'output': 'joint_state'},
    'inverse_dynamics': {'output': 'joint_state'},
    'trajectory_feedforward': {},
    'simulator': {'lockstep': 'stamp'},
}
#: Counters that must grow by the messages sent, and those that must not grow
SENT = {
    'gravity_compensation': ('states_received', 'torques_published'),
    'inverse_dynamics': ('states_received', 'torques_published'),
    'trajectory_feedforward': ('trajectories_published',),
    'simulator': ('commands_accepted',),
}
REJECTED = {
    'gravity_compensation': ('states_rejected',),
    'inverse_dynamics': ('states_rejected',),
    'trajectory_feedforward': ('trajectories_rejected',),
    'simulator': ('commands_rejected',),
}


@dataclass
class Found:
    """Findings of many messages about a node.

    :param node: name of the node
    :param messages: number of messages after the warm-up
    :param sent: messages to the node between two reports of its counters
    :param lost: missing responses
    :param elapsed: real time of the exchange [s]
    :param stamps: duration by the stamps of the responses [s]
    :param memory: samples of resident memory [MB]
    :param before: the node's report before
    :param after: the node's report afterwards
    """

    node: str
    messages: int
    sent: int
    lost: int
    elapsed: float
    stamps: float
    memory: List[float]
    before: Dict[str, float]
    after: Dict[str, float]

    @property
    def growth(self) -> float:
        """Maximum growth of resident memory after the warm-up [MB]."""
        return max(self.memory) - self.memory[0]

    @property
    def drift(self) -> float:
        """Maximum difference between a counter of the node and its expected value."""
        changes = [abs(self._change(name) - self.sent) for name in SENT[self.node]]
        changes += [self._change(name) for name in REJECTED[self.node]]
        if self.node == 'simulator':  # simulated time is the number of steps
            apart = abs(self.after['time'] / TIMESTEP - self.after['steps'])
            changes.append(apart if apart > MEANWHILE else 0.0)
        return max(changes)

    def _change(self, name: str) -> float:
        return self.after[name] - self.before[name]


def run(
    node: str,
    messages: int,
    seconds: float = float('inf'),
    parameters: Optional[Mapping[str, Any]] = None,
    warm_seconds: float = WARM_SECONDS,
) -> Found:
    """Exchange messages with a node.

    :param node: name of the node
    :param messages: number of messages after the warm-up
    :param seconds: maximum duration [s]
    :param parameters: parameters of the node in place of `PARAMETERS`
    :param warm_seconds: maximum duration of the warm-up [s]
    :raises RuntimeError: if a process does not start, or ends
    """
    with family() as children:
        domain = domains(1)[0]
        given = PARAMETERS[node] if parameters is None else parameters
        pid = children.start(node, in_domain(domain, node_command(node, given))).pid
        options = {
            'node': node,
            'pid': pid,
            'warm': max(WARM_UP, round(WARM_PART * min(messages, 1_000_000))),
            'warm_seconds': warm_seconds,
            'messages': messages,
            'seconds': min(seconds, 1e9),
        }
        program = [sys.executable, str(HERE / 'ros_endurance.py'), json.dumps(options), *joints()]
        other = children.start('other side', in_domain(domain, program), pipe=True)
        printed, _ = other.communicate()
        for name in children.exited():
            if name == node or other.returncode:
                raise RuntimeError(f'{name} has ended: {last_words(children, name)}')
        return Found(node, **json.loads(printed.splitlines()[-1]))


def measure(
    nodes: List[str], messages: int, seconds: float, warm_seconds: float, progress: Progress
) -> List[Row]:
    """Exchange messages with nodes, one after the other.

    :param messages: messages with each node after the warm-up
    :param seconds: maximum duration per node [s]
    :param warm_seconds: maximum duration of its warm-up [s]
    :raises RuntimeError: if a process does not start, or ends
    """
    rows = []
    for node in nodes:
        progress.step(f'{messages} messages through {node}')
        found = run(node, messages, seconds, warm_seconds=warm_seconds)
        count = f'{found.messages:,}'.replace(',', ' ')
        rows += [
            at_most(node, f'{LOST}, of {count}', found.lost, 0.0),
            at_most(node, DRIFT, round(found.drift, 3), 0.0),
            at_most(node, GROWTH, round(found.growth, 3), MAX_GROWTH),
        ]
    return rows
