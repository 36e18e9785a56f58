# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Threads of `Simulator.rollout`, and the distribution of rollouts.

The caller begins at once and finds out how long a step takes. If it pays, other threads come to
its help. All take chunks of rollouts until none is left, each in its own records, which are
kept for the next call. Between slices of machine code, which last some hundredths of a second, a
thread checks for Ctrl-C, which ends the rollouts.

Threads share nothing but constants, and no rollout is divided among them: its numbers are the
same, however many there are.
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

# Steps of the first slice; how long slices are about, chunks, and work that is not worth another
# thread, which takes about a tenth of a millisecond to start [s].
_FIRST, _SLICE, _CHUNK, _ALONE = 64, 20e-3, 1e-3, 0.4e-3


class _Worker:
    """Records of one thread: a separate simulation that shares the constants."""

    def __init__(self, model: SimulationModel, nq: int):
        fields = make_physics_record(model, nq)
        # What `Physics.arrays` has: all that the next steps depend on.
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
    """Rollouts that are left to do.

    :param batch: the rollouts
    """

    def __init__(self, batch: Batch):
        self.record, self.rows, self.steps = Record(batch), len(batch.q), batch.steps
        self.stopped = False
        #: About how long a step takes, 0 while that is not known [s].
        self.step_seconds = 0.0
        self.error: Optional[BaseException] = None
        self._lock, self._next = threading.Lock(), 0
        self._threads = 1 if interpreted_reason() else threads()

    def take(self) -> Tuple[int, int]:
        """Return the range of rollout steps that a thread does next, its end excluded."""
        with self._lock:
            left, rows = self.rows - self._next, 1
            if self.step_seconds > 0.0:
                # Long enough to be worth the asking, short enough for all to end together.
                worth = int(_CHUNK / (self.steps * self.step_seconds))
                rows = max(1, min(worth, left // (2 * self._threads)))
            rows = min(rows, left)
            first, self._next = self._next, self._next + rows
        return first * self.steps, (first + rows) * self.steps

    @property
    def helpers(self) -> int:
        """Number of threads that are worth starting."""
        left = self.rows - self._next
        if left * self.steps * self.step_seconds < _ALONE:
            return 0
        return min(self._threads - 1, left)


class RolloutThreads:
    """The threads that do rollouts, and their memory.

    :param model: constants of the simulation
    :param robot: the robot, with the inertias that it has now
    """

    def __init__(self, model: SimulationModel, robot: Robot):
        #: What they were made for.
        self.model = model
        # External forces do not act in rollouts: less to compile, and to do.
        self._model, self._nq = model._replace(has_external_forces=False), robot.nq
        # Machine code of the robot is called by its address, and is to live as long.
        self._robot = robot
        self._idle: List[_Worker] = [self._new()]
        # Of the loop that takes steps, the same for all.
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
        :param results: where to write
        """
        if not results.q.size:
            results.diverged[...] = -1  # of no steps, all were taken
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
            # Nothing more to do, unless this thread was interrupted.
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

        :param helpers: threads that were started to help, None if this is one of them
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
                    # Not at once: steps become slower when contact begins.
                    size = max(1, min(2 * size, int(_SLICE / max(job.step_seconds, 1e-9))))
                    first = end
                    if helpers is not None and not helpers:
                        helpers += self._helpers(job)
                if job.stopped:
                    return
                first, last = job.take()
        finally:
            # Here, not where it was taken: after Ctrl-C the caller need not wait for this.
            if len(self._idle) < threads():
                self._idle.append(worker)

    def _helpers(self, job: _Job) -> List[threading.Thread]:
        """Return the threads that help with a job, as many as are worth it."""
        started: List[threading.Thread] = []
        for _ in range(job.helpers):
            # Made here, where it is seen if memory is short.
            thread = threading.Thread(
                target=self._help, args=(job, self._worker()), name='rollout', daemon=True
            )
            try:
                thread.start()
            except RuntimeError:  # the system gives no more threads: those there are do it
                break
            started.append(thread)
        return started

    def _help(self, job: _Job, worker: _Worker) -> None:
        # Python handles signals in its main thread: one that the system gave to this one would
        # not interrupt what that thread waits in.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            self._work(job, worker)
        except BaseException as error:  # which the caller raises
            job.error, job.stopped = error, True
