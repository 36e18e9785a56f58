# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Section of the benchmark, and tools of all sections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Callable, List, Tuple

from measurement import PinocchioPeer, Progress
import robots
from rows import Row

from rbd_ros import Robot


@dataclass(frozen=True)
class Tools:
    """Tools of a measurement.

    :param quick: whether to measure for a shorter time
    :param progress: display of the next step
    """

    quick: bool
    progress: Progress

    @property
    def seconds(self) -> float:
        """Duration of the measurement of a row [s]."""
        return 0.02 if self.quick else 1.0

    def step(self, row: Row, what: str = '') -> None:
        """Show the next row."""
        self.progress.step(' '.join(filter(None, (row.section, row.robot, row.function, what))))


@dataclass(frozen=True)
class Section:
    """Part of the table.

    :param title: title of the section
    :param rows: function that returns the rows, without measurements
    :param measure: function that measures one row; raises FileNotFoundError, ImportError,
        ValueError or RuntimeError with the reason if it cannot
    :param long: whether it is measured only by name or with --all
    """

    title: str
    rows: Callable[[], List[Row]]
    measure: Callable[[Row, Tools], None]
    long: bool = False


@lru_cache(maxsize=None)
def load(name: str) -> Tuple[robots.RealRobot, Path, Robot, PinocchioPeer]:
    """Return a robot of robots.py: its description, URDF, and our and the peer's model."""
    robot = next(each for each in robots.ALL if each.name == name)
    path = robots.find(robot)
    ours = Robot.from_urdf(path, floating_base=robot.floating_base)
    peer = PinocchioPeer(path.read_text(encoding='utf-8'), robot.floating_base)
    return robot, path, ours, peer


def load_both(row: Row) -> Tuple[Robot, PinocchioPeer]:
    """Return our model and the peer's; their degrees of freedom are entered in the row."""
    _, _, ours, peer = load(row.robot)
    row.freedoms = [ours.nv, peer.nv]
    return ours, peer
