"""`hil_run scenario.yaml`: a controller under test, also one that is a process and speaks ROS.

It is a command that ends, not a node that stays: its exit code is 0 if all limits were kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path
import sys
from typing import Optional, Sequence

from rbd_ros.hil.bench import Bench, ControllerFailure, Run
from rbd_ros.hil.command import add_arguments, execute
from rbd_ros.hil.process import ControllerProcess, start_timeout
from rbd_ros.hil.scenario import Scenario


def over_ros(scenario: Scenario, folder: Path, seed: Optional[int]) -> Run:
    """Run a scenario whose controller is a process.

    :param folder: where its output is kept, controller.log
    :raises ValueError: if it cannot be started, or does not answer at all
    """
    # Imported for these alone: other controllers need no ROS.
    from rbd_ros.nodes.bench.topic_controller import TopicController

    words = scenario.controller.words
    if scenario.controller.kind == 'launch':
        words = ('ros2', 'launch', *words)
    bench = Bench(scenario)
    with (
        ControllerProcess(words, folder / 'controller.log') as process,
        TopicController(scenario, scenario.description, process.ended) as topics,
    ):
        topics.connect(start_timeout())
        return bench.run(topics, seed)


def main(args: Optional[Sequence[str]] = None) -> None:
    """Run the command and end the process."""
    parser = argparse.ArgumentParser(
        prog='hil_run', description='Test a controller against a robot that breaks on purpose.'
    )
    add_arguments(parser)
    # `ros2 run` and launch files put arguments for ROS behind.
    words = list(sys.argv[1:] if args is None else args)
    words = words[: words.index('--ros-args')] if '--ros-args' in words else words
    try:
        code, text = execute(parser.parse_args(words), over_ros)
        sys.stdout.write(text + '\n')
    except (ValueError, ControllerFailure) as error:
        sys.stderr.write(f'hil_run: error: {error}\n')
        code = 1
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


if __name__ == '__main__':
    main()
