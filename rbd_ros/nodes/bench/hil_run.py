# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`hil_run scenario.yaml`: tests a controller, also one that is a process and uses ROS.

The exit code is 0 if all limits were kept.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path
import sys
import threading
from typing import Optional, Sequence, Tuple

from rbd_ros.hil.bench import Bench, Run
from rbd_ros.hil.command import add_arguments, execute, is_of_a_node
from rbd_ros.hil.controllers.controller_process import ControllerProcess, start_timeout
from rbd_ros.hil.report.run_recorder import RunRecorder
from rbd_ros.hil.scenario.controller_entry import ControllerFailure, CONTROLLERS, IsolatedRun
from rbd_ros.hil.scenario.scenario import Scenario
from rbd_ros.programs import INTERRUPTED, unguard


def over_ros(
    scenario: Scenario, folder: Path, seed: Optional[int], recorder: Optional[RunRecorder] = None
) -> Run:
    """Run a scenario whose controller is a process.

    :param folder: folder for the output of the controller, controller.log
    :param recorder: records the run; None: no recording
    :return: the run; a failure without a step if the controller never answers
    :raises ValueError: if the controller cannot be started
    """
    # Imported here: controllers without ROS do not need it.
    from rbd_ros.nodes.bench.topic_controller import TopicController

    bench = Bench(scenario)
    with (
        ControllerProcess(_words(scenario), folder / 'controller.log') as process,
        TopicController(scenario, scenario.description, process.ended) as topics,
    ):
        try:
            topics.connect(start_timeout())
        except ControllerFailure as error:
            return bench.unanswered(str(error), seed, recorder)
        return bench.run(topics, seed, recorder=recorder)


def _words(scenario: Scenario) -> Tuple[str, ...]:
    """Return the command that starts the controller."""
    return CONTROLLERS[scenario.controller.kind].command(scenario.controller)


def _replayed(arguments: argparse.Namespace) -> Tuple[int, str]:
    from rbd_ros.nodes.bench.node_replay import replay_node

    found = replay_node(arguments.replay_recording)
    return (0 if found.identical else 1), str(found)


# Worker threads of one Dask process share one domain.
_one_at_a_time = threading.Lock()


def over_ros_isolated(scenario: Scenario, folder: Path, seed: Optional[int]) -> Run:
    """Run a scenario in the ROS domain of this process, one run at a time.

    If the scenario requests it, the controller's process is kept for the next run.

    :param folder: folder for the output of the controller, controller.log
    :return: the run; a failure without a step if the controller never answers
    :raises ValueError: if the controller cannot be started, or no domain is free
    """
    from rbd_ros.nodes.bench.domains import reserve_domain

    with _one_at_a_time:
        reserve_domain()
        if scenario.controller.options.get('keep'):
            from rbd_ros.nodes.bench.kept_controller import run_with_kept_controller

            return run_with_kept_controller(scenario, _words(scenario), folder, seed)
        return over_ros(scenario, folder, seed)


def importable(function: IsolatedRun) -> IsolatedRun:
    """Return the function by its importable name, also if this module is `__main__`."""
    module = import_module('rbd_ros.nodes.bench.hil_run')
    found: IsolatedRun = getattr(module, function.__name__)
    return found


def main(args: Optional[Sequence[str]] = None) -> None:
    """Run the command and end the process."""
    parser = argparse.ArgumentParser(
        prog='hil_run', description='Test a controller against a simulated robot with faults.'
    )
    add_arguments(parser)
    # `ros2 run` and launch files append arguments for ROS.
    words = list(sys.argv[1:] if args is None else args)
    words = words[: words.index('--ros-args')] if '--ros-args' in words else words
    try:
        unguard()
        given = parser.parse_args(words)
        if is_of_a_node(given):
            code, text = _replayed(given)
        else:
            code, text = execute(given, over_ros, importable(over_ros_isolated))
        sys.stdout.write(text + '\n')
    except ValueError as error:
        sys.stderr.write(f'hil_run: error: {error}\n')
        code = 1
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


if __name__ == '__main__':
    main()
