# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The control loop: for each joint state, input -> reference -> law -> limits -> output.

Its thread waits for states: no executor, service, parameter or long trajectory delays a torque.
"""

from __future__ import annotations

from dataclasses import replace
import threading
from time import monotonic
from typing import Any, Callable, Dict, Optional

import numpy as np
from rclpy.node import Node

from rbd_ros.control import TorqueLaw
from rbd_ros.nodes.common.blocking_subscriber import BlockingSubscriber
from rbd_ros.nodes.common.cycle_timer import CycleTimer
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK
from rbd_ros.nodes.torque.commander import Commander
from rbd_ros.nodes.torque.compiled_state import NOT_TAKEN
from rbd_ros.nodes.torque.fast_cycle import ANSWERED, BRAKED, FastCycle
from rbd_ros.nodes.torque.motion_reference import Reference
from rbd_ros.nodes.torque.overspeed import Overspeed
from rbd_ros.nodes.torque.state_input import MeasuredState, StateInput
from rbd_ros.nodes.torque.torque_interface import JOINT_STATES
from rbd_ros.nodes.torque.watchdog import Watchdog

SUBJECT = 'torque'


class ControlLoop:
    """Thread that reads joint states, and answers each with a torque while it is active.

    :param node: the torque node, for names and logs
    :param states: input
    :param reference: desired motion
    :param law: torque law
    :param commander: limits and output
    :param watchdog: watchdog, fed with each published torque
    :param diagnostics: diagnostics of the node
    :param begin: called first in the thread
    :param overspeed: cut-off for excessive joint speeds; None: none
    """

    def __init__(
        self,
        node: Node,
        states: StateInput,
        reference: Reference,
        law: TorqueLaw,
        commander: Commander,
        watchdog: Watchdog,
        diagnostics: Diagnostics,
        begin: Callable[[], None] = lambda: None,
        overspeed: Optional[Overspeed] = None,
    ):
        self._enter, self._overspeed = begin, overspeed
        self._respond = self._watch
        self._state_found = False
        self._states, self._reference = states, reference
        #: The torque law in use; assignable at any time
        self.law = law
        self._commander, self._watchdog, self._diagnostics = commander, watchdog, diagnostics
        self._lock, self._send = commander.lock, commander.send
        self._begun = False
        self.timer = CycleTimer()
        self._note = self.timer.note
        self._fast_cycle: Optional[FastCycle] = None
        if commander.compiled:
            self._fast_cycle = FastCycle(
                states,
                commander.answers,
                commander.counts,
                commander.fast_path_open,
                watchdog.fed,
                watchdog.timeout,
                self.timer.record,
                commander.lock,
                np.zeros(0) if overspeed is None else overspeed.max_speeds,
            )
            # A new trajectory must take effect at the next state.
            reference.on_change(self._fast_cycle.close)
        self._subscriber = BlockingSubscriber(node, JOINT_STATES)
        self.subscription = self._subscriber.subscription
        states.attach(self.subscription)
        self._thread = threading.Thread(target=self._run, name='control', daemon=True)

    def start(self) -> None:
        """Begin to read states."""
        self._thread.start()

    def activate(self) -> None:
        """Begin to answer states."""
        # The next state resets law and reference, so that integral and desired motion of an
        # earlier activation do not count.
        self._begun = False
        self.changed()
        if self._overspeed is None:
            self._respond = self._answer
            return
        self._overspeed.reset()
        self._respond = self._respond_below_overspeed

    def deactivate(self) -> None:
        """Stop answering states; the commander rejects an answer that is running."""
        # One atomic assignment: the control thread sees the old callback or the new one.
        self._respond = self._watch
        self.changed()

    def changed(self) -> None:
        """Disable the fast path for the next state, after a change of settings."""
        if self._fast_cycle is not None:
            self._fast_cycle.close()

    @property
    def active(self) -> bool:
        """True if states are answered."""
        return self._respond != self._watch

    def _run(self) -> None:
        self._enter()
        self._subscriber.serve(self._on_state)

    def stop(self) -> None:
        """Stop answering; no torque of the law is sent afterwards."""
        self._states.attach(None)
        self._subscriber.close()
        if self._thread.is_alive():
            # Bounded: a thread that hangs in the middleware must not block the end of the node.
            self._thread.join(5.0)

    # -- one state --------------------------------------------------------------------------------

    def _on_state(self, data: bytes) -> None:
        begin = monotonic()
        fast_cycle = self._fast_cycle
        try:
            # After a timeout, the slow path reports the return of states and resets the law.
            if fast_cycle is not None and not self._watchdog.fired:
                # Excludes the watchdog and the end of the node between computing and sending.
                with self._lock:
                    status = fast_cycle.run(data, len(data), begin)
                    if status == ANSWERED or status == BRAKED:
                        self._send()
                        fast_cycle.end(begin, monotonic())
                if status == ANSWERED:
                    return
                if status == BRAKED:
                    self._commander.adjust.report()
                    return
                fast_cycle.close()
                if status == NOT_TAKEN:
                    state = self._states.update(data, begin)
                else:
                    state = self._states.outcome(status, begin)
            else:
                self.changed()
                state = self._states.update(data, begin)
            if state is not None:
                self._respond(state, begin)
        # after any failure, the node reports it and continues with the next message
        except Exception as error:
            self._diagnostics.event(
                SUBJECT, ERROR, f'no torque: {error}', code=type(error).__name__
            )
            if self.active and not self._watchdog.timeout:
                self._watchdog.expired()  # end the last torque, which the watchdog would not

    def _answer(self, state: MeasuredState, now: float) -> None:
        reference, law, watchdog = self._reference, self.law, self._watchdog
        if not self._begun or state.restarted or watchdog.interrupted(now, state.dt):
            self._continue(state, law, now)
        moved = self._of_reference(state)
        # The order of computation: reference, law, limits, output.
        motion = reference.desired(moved)
        applied = self._commander.answer(law, state, motion)
        if applied is None:
            return
        # Only a sent torque feeds the watchdog.
        if watchdog.fired or not self._begun:
            self._states.found()
            self._diagnostics.condition(SUBJECT, OK, 'publishing', code='publishing')
            self._begun = True
        watchdog.feed(monotonic())
        reference.done(moved, motion, applied[self._states.moved])
        self._note(now, monotonic())
        # Opened only after an answer on the slow path, while nothing changes.
        if self._fast_cycle is not None:
            self._fast_cycle.open(reference, self._unchanging)

    def _unchanging(self) -> bool:
        """Return whether only the next state can change the answer."""
        off = not self.active or (self._overspeed is not None and self._overspeed.tripped)
        changing = off or not self._commander.unchanging
        return self._begun and not self._watchdog.fired and not changing

    def _respond_below_overspeed(self, state: MeasuredState, now: float) -> None:
        if self._overspeed is None or not self._overspeed(state.v):
            self._answer(state, now)
        elif self._watchdog.armed:
            self._watchdog.disarm()  # the last torque has been sent

    def _watch(self, state: MeasuredState, now: float) -> None:
        """Record usable states while they are not answered."""
        if not self._state_found:
            self._state_found = True
            self._states.found()

    def report_missing_answers(self) -> None:
        """Report, once a second, missing states while they are not answered."""
        # Set by the control thread, cleared here: a race only delays the report.
        found, self._state_found = self._state_found, False
        if not found and self._states.messages:
            self._states.lost(1.0)

    def _continue(self, state: MeasuredState, law: TorqueLaw, now: float) -> None:
        """Notify the reference of missing states or a time reset before this state."""
        self.timer.interrupt()
        moved = self._of_reference(state)
        if not self._begun:
            law.reset()
            self._reference.begin(moved)
        elif self._watchdog.interrupted(now, state.dt):
            law.reset()
            self._reference.resume_after_gap(moved, self._watchdog.age(now))
        else:
            self._reference.restart_time(moved)

    def _of_reference(self, state: MeasuredState) -> MeasuredState:
        """Return the state of the joints that the reference moves."""
        moved = self._states.moved
        if isinstance(moved, slice):
            return state
        return replace(state, q=state.q[moved], v=state.v[moved])

    @property
    def last_state(self) -> Optional[MeasuredState]:
        """Last usable state."""
        return self._states.usable

    def values(self) -> Dict[str, Any]:
        """Return the key-value pairs for diagnostics."""
        return {
            'states_received': self._states.messages,
            'states_rejected': self._states.rejected,
            'torques_published': self._commander.sent,
            'torques_saturated': self._commander.saturated,
            'torques_soft_stopped': self._commander.answers.stopped,
            'states_late': self._subscriber.overruns,
            'publishers': self._states.publishers,
        }
