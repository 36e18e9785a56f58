# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The loop of `Simulator.rollout`: steps of many rollouts one after another, in one thread.

Steps are numbered through all rollouts: first those of the first one, then those of the second
one, and so on. A call takes some consecutive steps; the next call of the same thread continues
there, also within a rollout.
"""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Tuple

import numpy as np

from rbd_ros.array_types import AnyArray, FloatArray, IntArray
from rbd_ros.compiler.loops import call_loop, compiled, entry_point
from rbd_ros.simulation.records.workspace import PhysicsRecord
from rbd_ros.simulation.stepping.free_bodies import start_objects
from rbd_ros.simulation.stepping.ground_contact import start_contacts
from rbd_ros.simulation.stepping.linear import clear, copy


class Memory(NamedTuple):
    """State that a simulation carries from one step to the next.

    :param words: memory of all arrays in a snapshot
    """

    words: FloatArray


class Batch(NamedTuple):
    """Rollouts: initial states, and buffers for results.

    An array with one row applies to all rollouts, or to all steps.

    :param advance: address of the loop that takes steps
    :param steps: number of steps of each rollout
    :param start_q: configurations, (B or 1, nq)
    :param start_v: velocities, (B or 1, nv)
    :param torque: (B or 1, steps or 1, nv) [N m, N]
    :param kp: gains of servos, (nv,) [N m/rad, N/m]
    :param kd: likewise for velocities, (nv,) [N m s/rad, N s/m]
    :param target_q: their target positions, (B or 1, steps or 1, nv) [rad, m]
    :param target_v: velocities there, (nv,) [rad/s, m/s]
    :param q: configurations after each step, (B, steps, nq)
    :param v: velocities after each step, (B, steps, nv)
    :param diverged: number of the failed step, -1 if there is none, (B,)
    """

    advance: int
    steps: int
    start_q: FloatArray
    start_v: FloatArray
    torque: FloatArray
    kp: FloatArray
    kd: FloatArray
    target_q: FloatArray
    target_v: FloatArray
    q: FloatArray
    v: FloatArray
    diverged: IntArray


def in_one_memory(*records: Tuple[Any, ...]) -> Tuple[FloatArray, Tuple[Any, ...]]:
    """Return records like these, with all of their arrays in one memory, which is zero.

    :param records: named tuples of contiguous arrays of eight-byte numbers; some may be parts of
        others
    """
    arrays = [array for record in records for array in _arrays(record)]
    owners: Dict[int, AnyArray] = {id(owner): owner for owner in map(_owner, arrays)}
    ends = np.cumsum([owner.size for owner in owners.values()])
    begins = dict(zip(owners, [0, *ends.tolist()]))
    # One memory, so that a reset is one loop over it.
    words = np.zeros(int(ends[-1]))

    def moved(array: AnyArray) -> AnyArray:
        owner = _owner(array)
        within = (array.ctypes.data - owner.ctypes.data) // words.itemsize
        begin = begins[id(owner)] + (within if array.size else 0)
        # Views into other arrays stay views.
        return words[begin : begin + array.size].view(array.dtype).reshape(array.shape)

    # `_make`, by its type: they are named tuples.
    def made(record: Any) -> Any:
        if not isinstance(record, tuple):
            return moved(record)
        return type(record)(*map(made, record))

    return words, tuple(map(made, records))


def _arrays(record: Any) -> List[AnyArray]:
    if not isinstance(record, tuple):
        return [record]
    return [array for each in record for array in _arrays(each)]


def _owner(array: AnyArray) -> AnyArray:
    return array if array.base is None else array.base


@compiled
def begin(physics: PhysicsRecord, memory: Memory, batch: Batch, row: int) -> None:
    """Start a rollout, as after a reset."""
    state = physics.state
    clear(memory.words)
    # Broadcasting: the last row applies to all further ones.
    copy(batch.start_q[min(row, len(batch.start_q) - 1)], state.q)
    copy(batch.start_v[min(row, len(batch.start_v) - 1)], state.v)
    if physics.model.has_servos:
        copy(batch.kp, state.servo.kp)
        copy(batch.kd, state.servo.kd)
        copy(batch.target_v, state.servo.v)
    if physics.model.has_scene:
        start_objects(physics.model.scene, physics.objects)
        # The list of near pairs is that of another rollout.
        physics.work.scene.buffers.listed[0] = 0
    if physics.model.has_ground:
        start_contacts(physics.model, state, physics.work.dynamics)
    batch.diverged[row] = -1


@compiled
def fill(value: float, x: FloatArray) -> None:
    """Set all of x to a value."""
    for i in range(len(x)):
        x[i] = value


@entry_point
def roll(physics: PhysicsRecord, memory: Memory, batch: Batch, first: int, last: int) -> int:
    """Take the steps from `first` to before `last`, numbered through all rollouts.

    The records keep the state between calls: `first` is the end of the previous call, or the
    beginning of a rollout.

    :return: number of steps taken
    """
    state, torque, taken = physics.state, batch.torque, 0
    # The end of the last call of this thread: records still have that state.
    row = first // batch.steps
    step = first - row * batch.steps
    for _ in range(first, last):
        if step == 0:
            begin(physics, memory, batch, row)
        if batch.diverged[row] < 0:
            # In this order: a diverged rollout takes no more steps.
            of = torque[min(row, len(torque) - 1)]
            copy(of[min(step, len(of) - 1)], physics.commands.torque)
            if physics.model.has_servos:
                goals = batch.target_q[min(row, len(batch.target_q) - 1)]
                copy(goals[min(step, len(goals) - 1)], state.servo.q)
            if call_loop(batch.advance, physics, 1) == 1:
                taken += 1
            else:
                # The rest of the rollout is NaN; other rollouts of the batch continue.
                batch.diverged[row] = step
        if batch.diverged[row] < 0:
            copy(state.q, batch.q[row, step])
            copy(state.v, batch.v[row, step])
        else:
            fill(np.nan, batch.q[row, step])
            fill(np.nan, batch.v[row, step])
        step += 1
        if step == batch.steps:
            step = 0
            row += 1
    return taken
