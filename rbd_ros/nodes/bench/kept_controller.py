# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A controller process that is reused for the runs of a campaign."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from multiprocessing.util import Finalize
import os
from pathlib import Path
import shutil
from typing import Optional

from rbd_ros.hil.bench import Bench, Run
from rbd_ros.hil.controllers.controller_process import ControllerProcess, start_timeout
from rbd_ros.hil.scenario.controller_entry import ControllerFailure
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.nodes.bench.topic_controller import TopicController


class KeptController:
    """The process, its topics and the bench, until a failure; a context manager.

    :param scenario: the scenario; only its faults may differ between runs
    :param words: command of the controller
    :param log: file for the output of the process
    :raises ValueError: if the process cannot be started
    """

    def __init__(self, scenario: Scenario, words: tuple[str, ...], log: Path):
        self.same = replace(scenario, faults=())
        self._log, self._runs = log, 0
        self._bench = Bench(scenario)
        with ExitStack() as stack:
            process = stack.enter_context(ControllerProcess(words, log))
            self._topics = stack.enter_context(
                TopicController(scenario, scenario.description, process.ended)
            )
            self._stack = stack.pop_all()

    def __enter__(self) -> KeptController:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process; the folders of failed runs keep its output."""
        self._stack.close()
        self._log.unlink(missing_ok=True)

    def run(self, scenario: Scenario, folder: Path, seed: Optional[int]) -> Run:
        """Run the scenario again from time 0.

        :param scenario: the scenario with the faults of this run
        :param folder: folder for the output of the controller, written if the run fails
        :param seed: seed of the random numbers
        """
        try:
            if self._runs:
                self._topics.restart(start_timeout())
            self._topics.connect(start_timeout(), known=self._runs > 0)
            run = self._bench.run(self._topics, seed, scenario.faults)
        except ControllerFailure as error:
            run = self._bench.unanswered(str(error), seed)
        self._runs += 1
        if run.failure:
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._log, folder / 'controller.log')
        return run


_kept: Optional[KeptController] = None
_ending: Optional[Finalize] = None  # set once the end of this process is registered


def run_with_kept_controller(
    scenario: Scenario, words: tuple[str, ...], folder: Path, seed: Optional[int]
) -> Run:
    """Run a scenario with the controller that this process keeps, or start one.

    :param scenario: the scenario with the faults of this run
    :param words: command of the controller
    :param folder: folder of the run within that of the campaign
    :param seed: seed of the random numbers
    :raises ValueError: if the controller cannot be started
    """
    global _kept, _ending
    if _kept is not None and _kept.same != replace(scenario, faults=()):
        drop_kept()
    if _kept is None:
        _kept = KeptController(scenario, words, folder.parent / f'controller_{os.getpid()}.log')
        # Workers of a campaign do not run `atexit` handlers.
        _ending = _ending or Finalize(None, drop_kept, exitpriority=1)
    run = _kept.run(scenario, folder, seed)
    if run.failure:
        drop_kept()  # a failed controller must not affect the next run
    return run


def drop_kept() -> None:
    """End the controller that this process keeps, if any."""
    global _kept
    if _kept is not None:
        kept, _kept = _kept, None
        kept.close()
