"""What a cycle does in machine code: a known command message in, steps of the physics, state out.

Once in a millisecond, most of what the interpreter needs has left the processor's caches, and a
hundred of its operations cost more than all of the physics.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbd_ros.compiler.loops import call_loop, compiled, double_at, entry_point
from rbd_ros.nodes.common.wire import has_layout, Layout
from rbd_ros.simulation.drives import Drives, EFFORT, find_torque, POSITION, VELOCITY
from rbd_ros.simulation.workspace import WorldRecord

NANOSECONDS = 1_000_000_000

# No joint is commanded beyond these, and nothing that is worked out from them overflows.
LARGEST_EFFORT = 1e9  # [N m or N]
LARGEST_POSITION = 1e5  # [rad or m]
LARGEST_VELOCITY = 1e5  # [rad/s or m/s]


class StateMessage(NamedTuple):
    """The numbers of the JointState that is published, in place.

    :param stamp: seconds in the lower half of a word, nanoseconds in the upper, (1,)
    :param position: of the joints with one degree of freedom, (n,) [rad, m]
    :param velocity: likewise, (n,) [rad/s, m/s]
    :param effort: likewise, (n,) [N m, N]
    """

    stamp: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


class CommandPattern(NamedTuple):
    """How the command messages of one publisher look.

    :param layout: words that they contain
    :param joints: which joint each number is for, -1 for none, (m,)
    :param effort: where the efforts begin, 0 if it has none [bytes]
    :param position: where the positions begin, 0 if it has none [bytes]
    :param velocity: where the velocities begin, 0 if it has none [bytes]
    :param heard: 1 if such a message was taken since this was last cleared, (1,)
    """

    layout: Layout
    joints: np.ndarray
    effort: int
    position: int
    velocity: int
    heard: np.ndarray


class Steps(NamedTuple):
    """The steps of a cycle.

    :param count: how many
    :param advance: address of the loop that takes them
    """

    count: int
    advance: int


@entry_point
def run_cycle(
    world: WorldRecord, drives: Drives, message: StateMessage, steps: Steps, time: int
) -> int:
    """Take the steps of a cycle under what drives the joints; write the state.

    :param time: when that state is [ns]
    :return: number of steps taken, fewer than asked for if the dynamics stopped being finite;
        minus one more than that, if the drives lead to torques without limit: they are zero then
    """
    plant, state = world.plant, world.state
    finite = find_torque(plant, state, drives, world.commands, steps.count * plant.timestep)
    taken = call_loop(steps.advance, world, steps.count)
    for j in range(len(drives.at_v)):
        i = drives.at_v[j]
        message.position[j] = state.q[drives.at_q[j]]
        message.velocity[j] = state.v[i]
        message.effort[j] = state.applied[i]
    message.stamp[0] = ((time % NANOSECONDS) << 32) | (time // NANOSECONDS)
    return taken if finite else -1 - taken


@entry_point
def take_command(
    command: CommandPattern, drives: Drives, data: bytes, size: int, now: float
) -> int:
    """Take a message that has the pattern and nothing odd about its numbers.

    :param data: the serialised message
    :param size: its number of bytes
    :param now: present time of a steady clock [s]
    :return: 1 if it was taken; if not, nothing has been changed
    """
    if not has_layout(command.layout, data, size):
        return 0
    count = len(command.joints)
    if not (
        are_within(data, command.effort, count, LARGEST_EFFORT)
        and are_within(data, command.position, count, LARGEST_POSITION)
        and are_within(data, command.velocity, count, LARGEST_VELOCITY)
    ):
        return 0
    for k in range(count):
        j = command.joints[k]
        if j >= 0:
            drives.received[j] = now
            if command.effort > 0:
                drives.effort[j] = double_at(data, command.effort + 8 * k)
                drives.mode[j] = EFFORT
            elif command.position > 0:
                drives.position[j] = double_at(data, command.position + 8 * k)
                drives.velocity[j] = 0.0
                drives.mode[j] = POSITION
            elif command.velocity > 0:
                drives.velocity[j] = double_at(data, command.velocity + 8 * k)
                drives.mode[j] = VELOCITY
            if command.position > 0 and command.velocity > 0:
                drives.velocity[j] = double_at(data, command.velocity + 8 * k)
    command.heard[0] = 1
    return 1


@compiled
def are_within(data: bytes, begin: int, count: int, largest: float) -> bool:
    """Return whether all numbers of a field are finite and not too large; true without a field.

    :param begin: where it begins, 0 if there is none [bytes]
    """
    if begin > 0:
        for k in range(count):
            if not abs(double_at(data, begin + 8 * k)) <= largest:
                return False
    return True
