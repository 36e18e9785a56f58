# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Threads of `Simulator.rollout`, and the distribution of rollouts.

The caller starts at once and measures the time of a step. If it pays, further threads join it. All
take chunks of rollouts until none is left, each in its own records, which are kept for the next
call. Between slices of machine code of some hundredths of a second, a thread checks for Ctrl-C,
which ends the rollouts.

Threads share constants only, and each rollout runs in one of them: its numbers do not depend on
the number of threads.
"""

from __future__ import annotations

import signal
import threading
import time
from typing import List, Optional, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import interpreted_reason, Record
from rbd_ros.robot import Robot, threads
from rbd_ros.simulation.records.record_assembly import make_physics_record
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.rollouts.rollout_loop import Batch, in_one_memory, Memory, roll
from rbd_ros.simulation.rollouts.rollouts import Trajectories
from rbd_ros.simulation.stepping.step_loop import advance

# Steps of the first slice; durations of slices and chunks, and of work that is not worth another
# thread, which takes about a tenth of a millisecond to start [s].
_FIRST, _SLICE, _CHUNK, _ALONE = 64, 20e-3, 1e-3, 0.4e-3


class _Worker:
    """Records of one thread: a separate simulation that shares the constants."""

    def __init__(self, model: SimulationModel, nq: int):
        fields = make_physics_record(model, nq)
        # As in `Physics.arrays`: everything that the next steps depend on.
        words, (state, forces, contacts, objects, contact_state) = in_one_memory(
            fields.state,
            fields.external_forces,
            fields.contacts,
            fields.objects,
            fields.contact_state,
        )
        self.physics = Record(
            fields._replace(
                state=state,
                external_forces=forces,
                contacts=contacts,
                objects=objects,
                contact_state=contact_state,
            )
        )
        self.memory = Record(Memory(words))


class _Job:
    """Remaining rollouts.

    :param batch: the rollouts
    """

    def __init__(self, batch: Batch):
        self.record, self.rows, self.steps = Record(batch), len(batch.q), batch.steps
        self.stopped = False
        #: Approximate duration of a step, 0 if unknown [s].
        self.step_seconds = 0.0
        self.error: Optional[BaseException] = None
        self._lock, self._next = threading.Lock(), 0
        self._threads = 1 if interpreted_reason() else threads()

    def take(self) -> Tuple[int, int]:
        """Return the next range of rollout steps of a thread, its end excluded."""
        with self._lock:
            left, rows = self.rows - self._next, 1
            if self.step_seconds > 0.0:
                # Long enough for low overhead, short enough for all threads to end together.
                worth = int(_CHUNK / (self.steps * self.step_seconds))
                rows = max(1, min(worth, left // (2 * self._threads)))
            rows = min(rows, left)
            first, self._next = self._next, self._next + rows
        return first * self.steps, (first + rows) * self.steps

    @property
    def helpers(self) -> int:
        """Number of threads worth starting."""
        left = self.rows - self._next
        if left * self.steps * self.step_seconds < _ALONE:
            return 0
        return min(self._threads - 1, left)


class RolloutThreads:
    """Threads of rollouts, and their memory.

    :param model: constants of the simulation
    :param robot: the robot, with its present inertias
    """

    def __init__(self, model: SimulationModel, robot: Robot):
        #: The constants they use.
        self.model = model
        # Rollouts have no external forces: less to compile, and to compute.
        self._model, self._nq = model._replace(has_external_forces=False), robot.nq
        # Keeps the robot's machine code alive, which is called by its address.
        self._robot = robot
        self._idle: List[_Worker] = [self._new()]
        # Address of the step loop, the same for all.
        self._advance = advance.address(self._idle[0].physics)

    def run(
        self,
        q: FloatArray,
        v: FloatArray,
        torque: FloatArray,
        servo: Tuple[FloatArray, FloatArray, FloatArray, FloatArray],
        results: Trajectories,
    ) -> None:
        """Run all rollouts; other Python threads run meanwhile.

        :param q: configurations to start from, (B or 1, nq)
        :param v: velocities to start with, (B or 1, nv)
        :param torque: (B or 1, steps or 1, nv) [N m, N]
        :param servo: kp, kd, target_q and target_v of `Batch`
        :param results: arrays for the results
        """
        if not results.q.size:
            results.diverged[...] = -1  # without steps, none failed
            return
        if any(np.may_share_memory(torque, x) for x in results):
            torque = torque.copy()
        steps = results.q.shape[1]
        job = _Job(Batch(self._advance, steps, q, v, torque, *servo, *results))
        helpers: List[threading.Thread] = []
        try:
            self._work(job, self._worker(), helpers)
            for thread in helpers:
                thread.join()
        finally:
            # Nothing is left, or this thread was interrupted.
            job.stopped = True
            for thread in helpers:
                thread.join()
        if job.error is not None:
            raise job.error

    def _new(self) -> _Worker:
        return _Worker(self._model, self._nq)

    def _worker(self) -> _Worker:
        """Return unused records; several Python threads may call it at once."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._new()

    def _work(
        self, job: _Job, worker: _Worker, helpers: Optional[List[threading.Thread]] = None
    ) -> None:
        """Run rollouts until none is left.

        :param helpers: threads that were started, None in one of them
        """
        try:
            loop, size = roll.bind(worker.physics, worker.memory, job.record), _FIRST
            first, last = job.take()
            while first < last:
                while first < last and not job.stopped:
                    end = min(last, first + size)
                    begun = time.perf_counter()
                    loop(first, end)
                    seconds = time.perf_counter() - begun
                    job.step_seconds = seconds / (end - first)
                    # Gradually: steps become slower when contact begins.
                    size = max(1, min(2 * size, int(_SLICE / max(job.step_seconds, 1e-9))))
                    first = end
                    if helpers is not None and not helpers:
                        helpers += self._helpers(job)
                if job.stopped:
                    return
                first, last = job.take()
        finally:
            # Here, so that after Ctrl-C the caller need not wait for it.
            if len(self._idle) < threads():
                self._idle.append(worker)

    def _helpers(self, job: _Job) -> List[threading.Thread]:
        """Return the threads that help with a job, as many as are worthwhile."""
        started: List[threading.Thread] = []
        for _ in range(job.helpers):
            # Allocated here, where a lack of memory is reported.
            thread = threading.Thread(
                target=self._help, args=(job, self._worker()), name='rollout', daemon=True
            )
            try:
                thread.start()
            except RuntimeError:  # the system has no more threads: the present ones do it
                break
            started.append(thread)
        return started

    def _help(self, job: _Job, worker: _Worker) -> None:
        # Python handles signals in its main thread. One delivered to this thread would not
        # interrupt a blocking call of that thread.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._work(job, worker)
        except BaseException as error:  # raised by the caller
            job.error, job.stopped = error, True
