# SPDX-License-Identifier: Apache-2.0
"""Fast path of the response: law, limits and messages in one call of machine code.

It answers all regular states. The results are bitwise identical to those of the slow path.
"""

from __future__ import annotations

from typing import Callable, Optional

from rbd_ros.compiler.loops import interpreted_reason, Record
from rbd_ros.control import LawMemory, TorqueLaw, TorqueLimiter
from rbd_ros.nodes.messages.conversions import EARLIEST, LATEST, representable
from rbd_ros.nodes.torque.compiled_answer import answer, TorqueMessages
from rbd_ros.nodes.torque.motion_reference import Motion
from rbd_ros.nodes.torque.state_input import MeasuredState
from rbd_ros.nodes.torque.torque_output import TorqueOutput


class FastResponder:
    """Law, limiter and messages in machine code, bitwise identical to those in Python.

    It uses the memory of law and limiter, which may be called in between.

    :param limiter: limits
    :param output: messages
    """

    def __init__(self, limiter: TorqueLimiter, output: TorqueOutput):
        #: Records of limiter and messages
        self.records = Record(limiter.memory), Record(TorqueMessages(*output.places))
        #: Record of the law that was answered by last
        self.law_record: Optional[Record] = None
        self._memory: Optional[LawMemory] = None
        self._run: Callable[[float, float, int], int]
        #: The last torque, (n,); changed in place by the next
        self.torque = limiter.memory.last

    @staticmethod
    def quick() -> bool:
        """Return whether there is machine code; interpreted, this would be no fast path."""
        return interpreted_reason() is None

    def prepare(self, law: TorqueLaw) -> None:
        """Change to another law, or to other settings of the same one."""
        self._memory = memory = law.memory()
        self._q, self._v, self._q_desired, self._v_desired, self._a_desired, *_ = memory.motion
        self.law_record = Record(memory)
        self._run = answer.bind(self.law_record, *self.records, release_gil=False)

    def __call__(self, law: TorqueLaw, state: MeasuredState, motion: Motion, now: float) -> bool:
        """Fill the messages with the torque that answers a state.

        :param law: the law
        :param state: measured state
        :param motion: desired motion
        :param now: time of a monotonic clock [s]
        :return: whether that was done; if not, nothing has been changed
        """
        if law.memory() is not self._memory:
            self.prepare(law)
        self._q[...], self._v[...] = state.q, state.v
        self._q_desired[...], self._v_desired[...], self._a_desired[...] = motion
        stamp = state.stamp
        # A stamp that came in may be beyond what goes out: that must not cost a torque.
        if not EARLIEST <= stamp <= LATEST:
            stamp = representable(stamp)
        # Negative if it declined, or failed, which machine code has no reason to.
        return self._run(state.dt, now, stamp) >= 0
