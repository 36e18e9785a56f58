# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A controller under test that is a process and uses ROS, given by its command."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Dict, List, Mapping, Tuple

from rbd_ros.hil.scenario.controller_entry import (
    BY_ORDER,
    BY_STAMP,
    Controller,
    ControllerKind,
    files_among,
    words_of,
)
from rbd_ros.hil.update_rate import MAX_UPDATE_RATE
from rbd_ros.model.extension.fields import Field


class CommandController(ControllerKind):
    """A process that uses ROS; `nodes/bench/` starts it and runs the scenario."""

    keys = ('keep', 'answers', 'update_rate')
    example = 'ros2 run my_package my_controller'
    over_ros = True
    key: ClassVar[str] = 'command'

    def read(self, given: Field, entries: Mapping[str, Field], folder: Path) -> Controller:
        """Return the controller of an entry."""
        options: Dict[str, Any] = {}
        if 'keep' in entries and entries['keep'].boolean():
            options['keep'] = True
        if 'answers' in entries and entries['answers'].choice((BY_STAMP, BY_ORDER)) == BY_ORDER:
            options['answers'] = BY_ORDER
        if 'update_rate' in entries:
            options['update_rate'] = _update_rate(entries['update_rate'], options)
        return Controller(self.key, words_of(given), options)

    def command(self, controller: Controller) -> Tuple[str, ...]:
        """Return the start command."""
        return controller.words

    def files(self, controller: Controller) -> List[str]:
        """Return the program and the files in its arguments."""
        return files_among(controller.words)


def _update_rate(given: Field, options: Mapping[str, Any]) -> int:
    """Return the rate of a controller_manager [Hz]."""
    if options.get('answers') != BY_ORDER:
        raise given.error('update_rate needs answers in order; add "answers: order"')
    if 'keep' in options:
        raise given.error('a controller_manager cannot be restarted between runs; leave out keep')
    rate = given.number()
    if rate != int(rate) or not 1 <= rate <= MAX_UPDATE_RATE:
        raise given.error(f'{rate:g} is not a valid rate; give a whole number of Hz')
    return int(rate)


KIND = CommandController()
