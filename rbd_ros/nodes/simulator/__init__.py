# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot as a ROS 2 node."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

from rbd_ros.nodes.common.node_process import run_node
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE

__all__ = ['INTERFACE', 'main']


def _load() -> Callable[[], Any]:
    from rbd_ros.nodes.simulator.simulator_node import SimulatorNode

    return SimulatorNode


def main(args: Optional[Sequence[str]] = None) -> int:
    """Run the node until it is stopped."""
    return run_node(_load, args)
