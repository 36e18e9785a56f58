# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Compiled code from the bytes of a joint state to a checked state of all joints.

It decodes messages of a learned layout, checks numbers and time, compares publishers and jumps
with earlier states, estimates missing velocities and combines partial states. state_input.py
converts its status to text.
"""

from __future__ import annotations

from math import inf, isnan
from typing import NamedTuple

import numpy as np

from rbd_ros.compiler.loops import compiled, entry_point, load_f64, load_i64
from rbd_ros.control.guards import check_time, check_values, GuardMemory, REPEATED, USABLE
from rbd_ros.robot.wraparound import whole_periods
from rbd_ros.wire import has_layout, Layout

STAMP = 4  # offset of the time stamp in a JointState [bytes]
NANOSECONDS = 1_000_000_000
LOW_HALF = 0xFFFFFFFF

CONFLICT_WINDOW = 1.0  # time for which a contradiction between publishers is remembered [s]
# Maximum difference of two publishers of a joint, beyond its motion in between [rad or m]
AGREEMENT = 0.02
VELOCITY_FILTER = 0.005  # time constant of the filter of differentiated positions [s]
MAX_DIFFERENCE = 0.5  # maximum time over which positions are differentiated [s]
# A jump exceeds LEAP [rad or m] and LEAP_SPEED times the motion at the velocity limit since the
# previous state, for at least SHORTEST_INTERVAL [s]. After STATES_ELSEWHERE consistent states, the
# new position counts.
LEAP, LEAP_SPEED, SHORTEST_INTERVAL, STATES_ELSEWHERE = 0.5, 4.0, 0.005, 3
INCOMPLETE_TIMEOUT = 0.2  # duration of missing parts of a state that is reported [s]

#: Status of a message: unknown layout, nothing changed; state completed; joints missing;
#: contradictory publishers; possibly contradictory ones; position jumped. Negative ones are those
#: of guards.py.
NOT_TAKEN, COMPLETE, INCOMPLETE, CONTRADICTION, DEVIATING, JUMPED = 0, 2, 3, 4, 5, 6

#: Bits of `StateMemory.notes`: time restarted; robot placed elsewhere; velocities estimated;
#: joints missing for long.
RESTARTED, ELSEWHERE, ESTIMATED, MISSING = 1, 2, 4, 8


class StatePattern(NamedTuple):
    """Pattern of the messages of one publisher.

    :param layout: its constant words
    :param position: offset of the positions [bytes]
    :param velocity: offset of the velocities [bytes]; 0: none
    """

    layout: Layout
    position: int
    velocity: int


class SourceMemory(NamedTuple):
    """State of one source: messages with the same list of names, usually of one publisher.

    :param place: indices of its joints in the message, (k,)
    :param joint: indices of its joints in the robot, (k,)
    :param leads: 1 if its time is that of the state, otherwise 0
    :param guard: checks of its states
    :param periods: periods of positions, 0: not periodic, (k,) [rad]
    :param rates: 1 / period, likewise, (k,) [1/rad]
    :param fastest: maximum plausible speeds, NaN: unknown, (k,) [rad/s or m/s]
    :param stamp: time stamps of this message and of the last good one [ns]; 0: none; (2,)
    :param has_velocity: whether this message has velocities, (1,)
    :param position: positions of this message, (k,) [rad or m]
    :param velocity: velocities, likewise, (k,) [rad/s or m/s]
    :param change: difference to the previous positions, (k,) [rad or m]
    :param deviates: whether that exceeds the tolerance between publishers, (k,)
    :param elsewhere: positions of rejected, consistent states, (k,) [rad or m]
    :param counts: number of these in a row; joint that has jumped; (2,)
    :param times: time of the last good message, -inf: none; time from it to this one; [s]; (2,)
    """

    place: np.ndarray
    joint: np.ndarray
    leads: int
    guard: GuardMemory
    periods: np.ndarray
    rates: np.ndarray
    fastest: np.ndarray
    stamp: np.ndarray
    has_velocity: np.ndarray
    position: np.ndarray
    velocity: np.ndarray
    change: np.ndarray
    deviates: np.ndarray
    elsewhere: np.ndarray
    counts: np.ndarray
    times: np.ndarray


class StateMemory(NamedTuple):
    """State of all joints, and the reference for checks of the next message.

    :param known: last known positions and velocities, (2, n)
    :param state: positions and velocities of the last complete state, (2, n)
    :param seen: time of the last state of each joint, (n,) [s]; -inf: never
    :param required: indices of required joints
    :param max_age: age at which a joint's state expires [s]
    :param stamp: time stamp and time of the last complete state [ns], and whether time restarted
        with it; (3,)
    :param dt: time that passed at the leading source before it, (1,) [s]
    :param times: end of a contradiction between publishers; begin of missing joints, inf: none;
        both [s]; (2,)
    :param counts: messages decoded here, and complete states, (2,)
    :param notes: bits for the report of the last message, (1,)
    """

    known: np.ndarray
    state: np.ndarray
    seen: np.ndarray
    required: np.ndarray
    max_age: float
    stamp: np.ndarray
    dt: np.ndarray
    times: np.ndarray
    counts: np.ndarray
    notes: np.ndarray


@compiled
def wrapped(source: SourceMemory, i: int, change: float) -> float:
    """Return a change of position without whole turns of a continuous joint."""
    return change - whole_periods(change, source.periods[i], source.rates[i])


@compiled
def decoded(pattern: StatePattern, source: SourceMemory, data: bytes, size: int) -> bool:
    """Decode a message that has the layout of the pattern; return whether it has.

    :param data: serialized message
    :param size: its size [bytes]
    """
    if not has_layout(pattern.layout, data, size):
        return False
    time = load_i64(data, STAMP)
    seconds, nanoseconds = time & LOW_HALF, (time >> 32) & LOW_HALF
    if seconds > LOW_HALF // 2:
        seconds -= LOW_HALF + 1
    source.stamp[0] = seconds * NANOSECONDS + nanoseconds
    source.has_velocity[0] = pattern.velocity
    for i in range(len(source.joint)):
        at = 8 * source.place[i]
        source.position[i] = load_f64(data, pattern.position + at)
        source.velocity[i] = load_f64(data, pattern.velocity + at) if pattern.velocity > 0 else 0.0
    return True


@compiled
def checked(source: SourceMemory, memory: StateMemory, now: float) -> int:
    """Check a decoded message, and update the state.

    :param now: present time of a steady clock [s]
    :return: status
    """
    memory.notes[0] = 0
    found = check_values(source.guard, source.position, source.velocity)
    # Stamp zero means that the publisher has no time.
    if found == USABLE and source.stamp[0] != 0:
        found = check_time(source.guard, source.stamp[0] / NANOSECONDS)
    if found != USABLE and found != REPEATED:
        return -found
    if source.guard.found[1] == 1:
        memory.notes[0] = RESTARTED
        source.stamp[1], source.times[0] = 0, -inf
    deviates = False
    for i in range(len(source.joint)):
        j = source.joint[i]
        source.change[i] = wrapped(source, i, source.position[i] - memory.known[0, j])
        elapsed = min(now - memory.seen[j], CONFLICT_WINDOW)
        # One publisher may place the robot elsewhere (a simulation was reset). With several, two
        # robots probably alternate.
        speed = abs(memory.known[1, j]) + abs(source.velocity[i])
        beyond = abs(source.change[i]) > AGREEMENT + 2.0 * speed * elapsed
        source.deviates[i] = int(beyond and elapsed < CONFLICT_WINDOW)
        deviates = deviates or source.deviates[i] == 1
    return DEVIATING if deviates else settled(source, memory, now)


@compiled
def settled(source: SourceMemory, memory: StateMemory, now: float) -> int:
    """Update the state from a message with plausible numbers and time.

    :return: status
    """
    if now < memory.times[0]:
        # The reference for the next message, even if this one is not used.
        for i in range(len(source.joint)):
            memory.known[0, source.joint[i]] = source.position[i]
            memory.seen[source.joint[i]] = now
        return CONTRADICTION
    dt = 0.0
    # By the stamps of the source, if any.
    if source.stamp[0] != 0 and source.stamp[1] != 0:
        dt = (source.stamp[0] - source.stamp[1]) / NANOSECONDS
    elif source.times[0] > -inf:
        dt = now - source.times[0]
    source.times[1] = dt
    estimates = source.has_velocity[0] == 0
    if is_jump(source, memory, dt):
        if source.counts[0] < STATES_ELSEWHERE:
            return JUMPED
        memory.notes[0] += ELSEWHERE
        source.counts[0] = 0
        dt, estimates = 0.0, False  # a jump is no motion
    if estimates:
        memory.notes[0] += ESTIMATED
    for i in range(len(source.joint)):
        j, v = source.joint[i], source.velocity[i]
        if estimates:
            v = estimated(memory.known[1, j], source.change[i], dt)
        memory.known[0, j], memory.known[1, j], memory.seen[j] = source.position[i], v, now
    source.stamp[1], source.times[0] = source.stamp[0], now
    return completed(source, memory, dt, now)


@compiled
def is_jump(source: SourceMemory, memory: StateMemory, dt: float) -> bool:
    """Return whether no plausible velocity explains the positions; count consistent states.

    A single state may be garbage. Consistent states in a row mean that the robot was placed
    elsewhere, as by a reset of the simulation.

    :param dt: time since the previous message [s]
    """
    worst, agree = 0.0, source.counts[0] > 0
    for i in range(len(source.joint)):
        if source.times[0] == -inf:
            break
        speed, size = source.fastest[i], abs(source.change[i])
        if isnan(speed):
            measured = abs(memory.known[1, source.joint[i]]) + abs(source.velocity[i])
            speed = inf if source.has_velocity[0] == 0 else measured
        most = LEAP + LEAP_SPEED * speed * max(dt, SHORTEST_INTERVAL)
        if size - most > worst:
            worst = size - most
            source.counts[1] = i
        if abs(wrapped(source, i, source.position[i] - source.elsewhere[i])) > most:
            agree = False
    if worst == 0.0:
        source.counts[0] = 0
        return False
    for i in range(len(source.joint)):
        source.elsewhere[i] = source.position[i]
    source.counts[0] = source.counts[0] + 1 if agree else 1
    return True


@compiled
def estimated(before: float, change: float, dt: float) -> float:
    """Return the velocity from a change of position, for publishers without velocities.

    :param before: previous velocity [rad/s or m/s]
    :param change: change of position [rad or m]
    :param dt: time of the change [s]
    """
    if dt == 0.0:
        return before
    if not 0.0 < dt < MAX_DIFFERENCE:
        return 0.0
    return before + dt / (dt + VELOCITY_FILTER) * (change / dt - before)


@compiled
def completed(source: SourceMemory, memory: StateMemory, dt: float, now: float) -> int:
    """Complete the state if all joints have recent values; return the status.

    :param dt: time since the previous message [s]
    """
    for k in range(len(memory.required)):
        if not now - memory.seen[memory.required[k]] < memory.max_age:
            # Parts of one state arrive one after another: only a lasting gap is reported.
            memory.times[1] = min(memory.times[1], now)
            if now - memory.times[1] > INCOMPLETE_TIMEOUT:
                memory.notes[0] += MISSING
            return INCOMPLETE
    memory.times[1] = inf
    for j in range(len(memory.seen)):
        memory.state[0, j], memory.state[1, j] = memory.known[0, j], memory.known[1, j]
    memory.stamp[0], memory.stamp[2], memory.dt[0] = source.stamp[0], 0, 0.0
    if source.leads == 1:
        steady = int(now * NANOSECONDS + 0.5)
        memory.stamp[1] = source.stamp[0] if source.stamp[0] != 0 else steady
        memory.stamp[2], memory.dt[0] = memory.notes[0] & RESTARTED, dt
    memory.counts[1] += 1
    return COMPLETE


@compiled
def taken(
    pattern: StatePattern,
    source: SourceMemory,
    memory: StateMemory,
    data: bytes,
    size: int,
    now: float,
) -> int:
    """Decode and check a message.

    :param data: serialized message
    :param size: its size [bytes]
    :param now: present time of a steady clock [s]
    :return: status
    """
    if not decoded(pattern, source, data, size):
        return NOT_TAKEN
    memory.counts[0] += 1
    return checked(source, memory, now)


@entry_point
def check_message(source: SourceMemory, memory: StateMemory, now: float, again: int) -> int:
    """Check a decoded message, or continue with one that is `DEVIATING`; return its status.

    :param again: 1 to continue: there is one publisher, or the contradiction is noted
    """
    return settled(source, memory, now) if again == 1 else checked(source, memory, now)


#: `taken`, for Python
take_message = entry_point(taken)
