# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Reports of command messages in the diagnostics, with counts."""

from __future__ import annotations

from typing import Union

from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN
from rbd_ros.nodes.messages.joint_names import MessageProblem
from rbd_ros.wire import WireError

SUBJECT = 'commands'


class CommandReports:
    """Counts of messages, and whether commands arrive; shared by all robots of a simulation.

    :param diagnostics: diagnostics of the node
    """

    def __init__(self, diagnostics: Diagnostics):
        self.diagnostics = diagnostics
        #: Numbers of accepted and rejected messages.
        self.accepted = self.rejected = 0
        #: Whether messages arrive.
        self.receiving = False
        self._accepted_before = 0

    @property
    def streamed(self) -> int:
        """Number of messages since the stream began."""
        return self.accepted - self._accepted_before

    def count_message(self) -> None:
        """Count a message that drives a joint."""
        self.accepted += 1
        if not self.receiving:
            self.receiving, self._accepted_before = True, self.accepted
            self.condition(OK, 'receiving', 'receiving')

    def reject(self, problem: Union[MessageProblem, WireError]) -> None:
        """Count a rejected message, and report the reason."""
        self.rejected += 1
        self.event(WARN, f'command rejected: {problem}', problem.code)

    def event(self, level: bytes, text: str, code: str) -> None:
        """Report an event."""
        self.diagnostics.event(SUBJECT, level, text, code=code)

    def condition(self, level: bytes, text: str, code: str) -> None:
        """Report a condition."""
        self.diagnostics.condition(SUBJECT, level, text, code=code)
