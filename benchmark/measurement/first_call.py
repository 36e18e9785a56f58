# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Time of the first call of a function in a new process, without and with cached machine code.

    measurement/first_call.py ROBOT FUNCTION [--floating-base] [--batch N]

measures one process and prints JSON; `first_calls` runs it twice on an empty cache directory. The
imports and the reading of the URDF come before the call and are reported beside it.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict

_LIMIT = 600  # timeout of a process [s]


def first_calls(
    robot: str, function: str, floating_base: bool = False, batch: int = 64
) -> Dict[str, Dict[str, float]]:
    """Measure the first calls in two fresh processes; the second uses the first one's cache.

    :param robot: path of the URDF
    :param function: name of the function
    :param floating_base: whether the root link moves freely
    :param batch: number of states of the first call with a batch, 0 for none
    :return: 'cold' and 'cached', each with the wall-clock times of 'import', 'load', 'call' and
        'batch_call', and the processor times 'call_processor' and 'batch_call_processor' [s]
    :raises ValueError: if a process fails; the message has the end of its output
    """
    benchmark = Path(__file__).resolve().parents[1]
    folders = map(str, (benchmark, benchmark.parent))
    with tempfile.TemporaryDirectory(prefix='rbd_ros-first-call-') as cache:
        environment = {
            **os.environ,
            'RBD_ROS_CACHE_DIR': cache,
            'PYTHONPATH': os.pathsep.join(filter(None, (*folders, os.environ.get('PYTHONPATH')))),
        }
        command = [
            sys.executable,
            __file__,
            robot,
            function,
            f'--batch={batch}',
            *(['--floating-base'] if floating_base else []),
        ]
        return {key: _run(command, environment) for key in ('cold', 'cached')}


def _run(command: list, environment: Dict[str, str]) -> Dict[str, float]:
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LIMIT,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f'the first call took longer than {_LIMIT} s') from None
    if done.returncode != 0:
        words = done.stderr.strip().splitlines() or ['no message']
        raise ValueError(f'the first call failed in a new process: {words[-1]}')
    return json.loads(done.stdout.splitlines()[-1])


def measure(robot: str, function: str, floating_base: bool, batch: int) -> Dict[str, Any]:
    """Measure the first calls in this process, which must be a fresh one.

    :param robot: path of the URDF
    :param function: name of the function
    :param floating_base: whether the root link moves freely
    :param batch: number of states of the first call with a batch, 0 for none
    :return: facts in the types of JSON, times in seconds
    """
    start = time.perf_counter()
    import numpy as np

    from rbd_ros import Robot

    imported = time.perf_counter()
    loaded_robot = Robot.from_urdf(robot, floating_base=floating_base)
    loaded = time.perf_counter()

    # The cases, and with them the peer, are not imported: imports of a kernel are part of the
    # time.
    from measurement.functions import inputs
    from rbd_ros.robot.kernels import declared

    zero = np.zeros(loaded_robot.nv)
    arguments = [[loaded_robot.neutral(), zero, zero][k] for k in inputs(function)]
    takes_frame = 'frame' in declared(function).choices
    chosen = {'frame': loaded_robot.link_names[-1]} if takes_frame else {}

    def call(*arrays: Any) -> Any:
        method = getattr(loaded_robot, function, None)
        if method is not None:
            return method(*arrays, *chosen.values())
        return loaded_robot.kernel(function, **chosen).function(*arrays)

    times = {'import': imported - start, 'load': loaded - imported}
    _time(times, 'call', lambda: call(*arguments))
    if batch:
        arrays = [np.repeat(x[None], batch, axis=0) for x in arguments]
        _time(times, 'batch_call', lambda: call(*arrays))
    return times


def _time(times: Dict[str, float], name: str, call: Callable[[], Any]) -> None:
    start, processor_start = time.perf_counter(), time.process_time()
    call()
    times[f'{name}_processor'] = time.process_time() - processor_start
    times[name] = time.perf_counter() - start


def main() -> None:
    """Measure by the command line and print JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument('robot')
    parser.add_argument('function')
    parser.add_argument('--floating-base', action='store_true')
    parser.add_argument('--batch', type=int, default=64)
    arguments = parser.parse_args()
    print(
        json.dumps(
            measure(arguments.robot, arguments.function, arguments.floating_base, arguments.batch)
        )
    )


if __name__ == '__main__':
    main()
