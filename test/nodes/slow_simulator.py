"""The node simulator, whose simulation is compiled only when the file RBD_TEST_GATE is there."""

import os
from pathlib import Path
import sys
import time

from rbd_ros.nodes.common.process import run_node

GATE = Path(os.environ['RBD_TEST_GATE'])


def load():
    """Import what the node needs; return a function that creates it."""
    from rbd_ros.nodes.simulator import cycle
    from rbd_ros.nodes.simulator.node import SimulatorNode

    compiled = cycle.Simulator

    def compiled_late(*arguments, **options):
        while not GATE.exists():
            time.sleep(0.01)
        return compiled(*arguments, **options)

    cycle.Simulator = compiled_late
    return SimulatorNode


if __name__ == '__main__':
    sys.exit(run_node(load))
