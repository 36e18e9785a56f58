# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node simulator, whose simulation is compiled only when the file RBD_TEST_GATE is there.

With RBD_TEST_INTERRUPTED, a stop signal comes when the thread that holds the robot has just begun.
"""

import os
from pathlib import Path
import sys
import time

from rbd_ros.nodes.common.node_process import run_node

GATE = Path(os.environ['RBD_TEST_GATE'])


def load():
    """Import what the node needs; return a function that creates it."""
    from rbd_ros.nodes.simulator.cycle import simulation_cycle as cycle
    from rbd_ros.nodes.simulator.simulator_node import SimulatorNode

    compiled = cycle.Simulator

    def compiled_late(*arguments, **options):
        while not GATE.exists():
            time.sleep(0.01)
        return compiled(*arguments, **options)

    cycle.Simulator = compiled_late
    if os.environ['RBD_TEST_INTERRUPTED']:
        interrupt_the_start()
    return SimulatorNode


def interrupt_the_start():
    from rclpy.node import Node

    from rbd_ros.nodes.simulator.start.held_start import HeldStart

    begin, destroy = HeldStart.__enter__, Node.destroy_node

    def interrupted(held):
        begin(held)
        time.sleep(0.5)
        raise KeyboardInterrupt

    def destroyed_slowly(node):
        destroy(node)
        time.sleep(0.2)

    HeldStart.__enter__ = interrupted
    Node.destroy_node = destroyed_slowly


if __name__ == '__main__':
    sys.exit(run_node(load))
