# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Check that the EventsExecutor of this rclpy waits without a timeout, and does not spin forever.

In the wheels of rclpy 7.1 and 9.1, `spin()` without a timeout uses a whole processor, calls almost
no callbacks and ignores signals. The version does not show it, so it is tested in a process that
can be killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import Mapping

from rbd_ros.doctor.findings import Finding, OK, WARN

WORKS, SPINS, MISSING, UNKNOWN = 'works', 'spins', 'missing', 'unknown'

_TRIAL = """
import os, signal, threading
import rclpy
try:
    from rclpy.experimental import EventsExecutor
except ImportError:
    print('missing', flush=True)
    os._exit(0)
rclpy.init()
node, calls = rclpy.create_node('rbd_ros_doctor_trial'), []
enough = threading.Event()
def call():
    calls.append(1)
    if len(calls) == 10:  # the first one comes even where the executor spins
        enough.set()
node.create_timer(0.01, call)
executor = EventsExecutor()
executor.add_node(node)
print('started', flush=True)
signal.alarm(4)  # ends the process even if no other thread ever gets its turn
threading.Thread(target=executor.spin, daemon=True).start()
print('works' if enough.wait(2.0) else 'spins', flush=True)
os._exit(0)
"""


def try_events_executor(limit: float = 20.0) -> str:
    """Test it in another process, isolated from other nodes.

    :param limit: timeout of the test [s]
    :return: `WORKS`, `SPINS`, `MISSING`, or `UNKNOWN` if the test is not possible
    """
    environment: Mapping[str, str] = {**os.environ, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'OFF'}
    with subprocess.Popen(
        [sys.executable, '-c', _TRIAL],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        text=True,
    ) as process:
        try:
            text, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            text, _ = process.communicate()
    words = text.split()
    if words and words[-1] in (WORKS, SPINS, MISSING):
        return words[-1]
    # started without a return: it also blocks other threads
    return SPINS if words and process.returncode == -signal.SIGALRM else UNKNOWN


def executor_finding(result: str) -> Finding:
    """Return the finding about the EventsExecutor.

    :param result: result of `try_events_executor`
    """
    subject = 'EventsExecutor'
    if result == SPINS:
        return Finding(
            WARN,
            subject,
            'spin() without a timeout calls no callbacks, uses a whole processor and ignores '
            'Ctrl-C in this rclpy',
            'in your own nodes, call spin_once(timeout_sec=0.1) in a loop; nodes of rbd_ros do',
        )
    words = {
        WORKS: 'it waits for messages without using a processor',
        MISSING: 'this rclpy has no EventsExecutor; nodes use the SingleThreadedExecutor',
    }
    return Finding(OK, subject, words.get(result, 'it could not be tested'))
