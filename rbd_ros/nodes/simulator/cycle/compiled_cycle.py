# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulation cycle in machine code: a known command message, physics steps, the state message.

At 1 kHz, most of the interpreter's data has left the processor's caches, so a hundred of its
operations cost more than all of the physics.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rbd_ros.array_types import IntArray
from rbd_ros.compiler.loops import call_loop, compiled, entry_point, load_f64
from rbd_ros.simulation.records.workspace import PhysicsRecord
from rbd_ros.simulation.stepping.drives import (
    ACCELERATION,
    Drives,
    EFFORT,
    find_torque,
    POSITION,
    VELOCITY,
    ZERO,
)
from rbd_ros.wire import has_layout, Layout

NANOSECONDS = 1_000_000_000

# Bounds of commands; nothing that is computed from them overflows.
MAX_EFFORT = 1e9  # [N m or N]
MAX_POSITION = 1e5  # [rad or m]
MAX_VELOCITY = 1e5  # [rad/s or m/s]
MAX_ACCELERATION = 1e9  # [rad/s^2 or m/s^2]

# Bits: other commands of a message for the same joint, unchanged since an earlier message, or new.
STANDING, CHANGING = 1, 2


class StateMessage(NamedTuple):
    """The fields of the published JointState, in place.

    :param stamp: seconds in the lower half of a word, nanoseconds in the upper, (1,)
    :param position: of the joints with one degree of freedom, (n,) [rad, m]
    :param velocity: likewise, (n,), or empty [rad/s, m/s]
    :param effort: likewise, (n,), or empty [N m, N]
    :param positions_of: joints whose position is written, (k,)
    :param velocities_of: likewise
    :param efforts_of: likewise
    """

    stamp: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray
    positions_of: np.ndarray
    velocities_of: np.ndarray
    efforts_of: np.ndarray


class Sent(NamedTuple):
    """Values of the messages by joint; NaN: no value.

    Rows are the interfaces effort, position and velocity.


    :param given: values of the present message, (3, n)
    :param last: values of the last message about each joint, (3, n)
    :param concurrent: commands besides the effective one, a sum of STANDING and CHANGING, (n,)
    """

    given: np.ndarray
    last: np.ndarray
    concurrent: np.ndarray


class CommandPattern(NamedTuple):
    """Pattern of the command messages of one publisher.

    :param layout: its constant words
    :param joints: joints of the message, (m,)
    :param effort_joints: joint of each effort, -1 for none, (k,)
    :param position_joints: likewise, of the positions
    :param velocity_joints: likewise, of the velocities
    :param effort: offset of the efforts, 0: none [bytes]
    :param position: offset of the positions, 0: none [bytes]
    :param velocity: offset of the velocities, 0: none [bytes]
    :param partial: 1 if NaN means no command, 0 if it is an error
    :param received: 1 if such a message was taken since last cleared, (1,)
    """

    layout: Layout
    joints: np.ndarray
    effort_joints: np.ndarray
    position_joints: np.ndarray
    velocity_joints: np.ndarray
    effort: int
    position: int
    velocity: int
    partial: int
    received: np.ndarray


class Steps(NamedTuple):
    """The steps of a cycle.

    :param count: number of steps
    :param advance: address of the loop of the steps
    """

    count: int
    advance: int


@entry_point
def run_cycle(
    physics: PhysicsRecord, drives: Drives, message: StateMessage, steps: Steps, time: int
) -> int:
    """Advance a cycle under the drives of the joints; write the state.

    :param time: time of that state [ns]
    :return: number of steps, fewer than requested if the dynamics became infinite; minus one more
        if the drives lead to infinite torques, which are then set to zero
    """
    model, state = physics.model, physics.state
    finite = find_torque(model, state, drives, physics.commands, steps.count * model.timestep)
    taken = call_loop(steps.advance, physics, steps.count)
    for k in range(len(message.positions_of)):
        j = message.positions_of[k]
        message.position[j] = state.q[drives.at_q[j]]
    for k in range(len(message.velocities_of)):
        j = message.velocities_of[k]
        message.velocity[j] = state.v[drives.at_v[j]]
    for k in range(len(message.efforts_of)):
        j = message.efforts_of[k]
        message.effort[j] = state.applied[drives.at_v[j]]
    message.stamp[0] = ((time % NANOSECONDS) << 32) | (time // NANOSECONDS)
    return taken if finite else -1 - taken


@entry_point
def take_command(
    command: CommandPattern, sent: Sent, drives: Drives, data: bytes, size: int, now: float
) -> int:
    """Process a message of the known layout with regular values.

    :param data: serialized message
    :param size: its size [bytes]
    :param now: present time of a steady clock [s]
    :return: 1 if it was taken; otherwise nothing has changed
    """
    if not has_layout(command.layout, data, size):
        return 0
    partial = command.partial != 0
    if not (
        are_within(data, command.effort, len(command.effort_joints), MAX_EFFORT, partial)
        and are_within(data, command.position, len(command.position_joints), MAX_POSITION, partial)
        and are_within(data, command.velocity, len(command.velocity_joints), MAX_VELOCITY, partial)
    ):
        return 0
    for k in range(len(command.joints)):
        clear_decoded(sent, command.joints[k])
    decode_field(sent, 0, command.effort_joints, data, command.effort)
    decode_field(sent, 1, command.position_joints, data, command.position)
    decode_field(sent, 2, command.velocity_joints, data, command.velocity)
    if not is_command(sent, command.joints):
        return 0
    apply_message(sent, drives, command.joints, now)
    command.received[0] = 1
    return 1


@compiled
def are_within(data: bytes, begin: int, count: int, bound: float, partial: bool) -> bool:
    """Return whether all numbers of a field are finite and within bounds; true without a field.

    :param begin: offset of the field, 0: none [bytes]
    :param partial: whether NaN is allowed
    """
    if begin > 0:
        for k in range(count):
            value = load_f64(data, begin + 8 * k)
            if not abs(value) <= bound and not (partial and math.isnan(value)):
                return False
    return True


@compiled
def clear_decoded(sent: Sent, j: int) -> None:
    """Clear the values of a joint in the decoded message."""
    for row in range(3):
        sent.given[row, j] = math.nan


@compiled
def decode_field(sent: Sent, row: int, joints: IntArray, data: bytes, begin: int) -> None:
    """Copy the numbers of a field to their joints."""
    if begin > 0:
        for k in range(len(joints)):
            if joints[k] >= 0:
                sent.given[row, joints[k]] = load_f64(data, begin + 8 * k)


@compiled
def is_command(sent: Sent, joints: IntArray) -> bool:
    """Return whether the present message commands any of these joints."""
    for k in range(len(joints)):
        for row in range(3):
            if not math.isnan(sent.given[row, joints[k]]):
                return True
    return False


@compiled
def apply_message(sent: Sent, drives: Drives, joints: IntArray, now: float) -> None:
    """Apply the decoded message to its joints; see docs/nodes/simulator.md.

    :param joints: those joints, (m,)
    :param now: present time of a steady clock [s]
    """
    idle = True  # all efforts zero: the controller has stopped, or there is none
    for k in range(len(joints)):
        effort = sent.given[0, joints[k]]
        idle = idle and (effort == 0.0 or math.isnan(effort))
    for k in range(len(joints)):
        j = joints[k]
        mode = chosen_drive(sent, drives, j, idle)
        if mode == EFFORT:
            drives.effort[j] = sent.given[0, j]
        elif mode == POSITION:
            drives.position[j] = sent.given[1, j]
            # Beside a position it is the velocity of the target.
            drives.velocity[j] = 0.0 if math.isnan(sent.given[2, j]) else sent.given[2, j]
        elif mode == VELOCITY:
            drives.velocity[j] = sent.given[2, j]
        if mode != ZERO:
            drives.mode[j] = mode
            drives.received[j] = now
            sent.concurrent[j] |= conflicting_commands(sent, j, mode)
        for row in range(3):
            sent.last[row, j] = sent.given[row, j]


@compiled
def chosen_drive(sent: Sent, drives: Drives, j: int, idle: bool) -> int:
    """Return the interface that drives a joint: the newest, EFFORT, POSITION or VELOCITY.

    :param idle: whether all efforts of the message are zero
    :return: the interface; ZERO if the message does not command this joint
    """
    effort, position, velocity = sent.given[0, j], sent.given[1, j], sent.given[2, j]
    has_position, has_velocity = not math.isnan(position), not math.isnan(velocity)
    # A controller that stops sends an effort or velocity of zero, which does not count as new.
    if is_new(effort, sent.last[0, j]) and effort != 0.0:
        return EFFORT
    if is_new(position, sent.last[1, j]):
        return POSITION
    if is_new(velocity, sent.last[2, j]) and velocity != 0.0:
        return VELOCITY
    if drives.mode[j] == ACCELERATION:
        return ZERO  # accelerations have their own messages
    # Without a new value the drive stays. (After a substitute drive, all values are new.)
    mode = drives.mode[j]
    if mode == EFFORT and not math.isnan(effort) and not idle:
        return EFFORT
    if mode == POSITION and has_position:
        return POSITION
    if mode == VELOCITY and has_velocity:
        return VELOCITY
    if not math.isnan(effort) and effort != 0.0:
        return EFFORT
    if has_position:
        return POSITION
    if has_velocity:
        return VELOCITY
    return ZERO if math.isnan(effort) else EFFORT


@compiled
def is_new(value: float, last: float) -> bool:
    """Return whether a value differs from that of the previous message; False for NaN."""
    return not math.isnan(value) and value != last


@compiled
def conflicting_commands(sent: Sent, j: int, mode: int) -> int:
    """Return the other commands of the message for a joint: 0, STANDING or CHANGING.

    A velocity beside a position is no contradiction, nor is a zero.

    :param mode: effective drive of the joint
    """
    result = 0
    for row in range(3):
        value = sent.given[row, j]
        companion = row == mode - EFFORT or (mode == POSITION and row == 2)
        if companion or math.isnan(value):
            continue
        if is_new(value, sent.last[row, j]) and (row == 1 or value != 0.0):
            result = CHANGING
        elif row == 1 or value != 0.0:
            result = max(result, STANDING)
    return result
