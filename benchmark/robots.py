# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The real robots of the benchmark: URDF files of the pip package example-robot-data."""

from dataclasses import dataclass
import importlib.util
from pathlib import Path
import sys
from typing import Optional


@dataclass(frozen=True)
class RealRobot:
    """A robot of the benchmark.

    :param name: its name in tables
    :param file: URDF below the folder of robots
    :param floating_base: whether its root link moves freely
    """

    name: str
    file: str
    floating_base: bool = False


UR5 = RealRobot('UR5', 'ur_description/urdf/ur5_robot.urdf')
PANDA = RealRobot('Panda', 'panda_description/urdf/panda.urdf')
TALOS = RealRobot('Talos', 'talos_data/robots/talos_full_v2.urdf', floating_base=True)
G1 = RealRobot('Unitree G1', 'g1_description/urdf/g1_29dof_rev_1_0.urdf', floating_base=True)
# The same robot with simple grippers: without mimic joints, the peer has the same joints.
TALOS_REDUCED = RealRobot(
    'Talos reduced', 'talos_data/robots/talos_reduced.urdf', floating_base=True
)
GO1 = RealRobot('Unitree Go1', 'go1_description/urdf/go1.urdf', floating_base=True)
ANYMAL = RealRobot('ANYmal', 'anymal_b_simple_description/robots/anymal.urdf', floating_base=True)
PR2 = RealRobot('PR2', 'pr2_description/urdf/pr2.urdf', floating_base=True)
# With primitive shapes, for distances.
PANDA_CAPSULES = RealRobot('Panda of capsules', 'panda_description/urdf/panda_collision.urdf')
ALLEGRO = RealRobot('Allegro hand', 'allegro_hand_description/urdf/allegro_left_hand.urdf')
ALL = (UR5, PANDA, TALOS, TALOS_REDUCED, G1)
EVERY = (*ALL, GO1, PANDA_CAPSULES, ALLEGRO)


def cmeel_prefix() -> Optional[Path]:
    """Return the folder of Pinocchio's pip packages: headers, libraries, robots."""
    places = [Path(entry) / 'cmeel.prefix' for entry in sys.path if entry]
    spec = importlib.util.find_spec('pinocchio')
    if spec is not None and spec.origin:
        places += [parent for parent in Path(spec.origin).parents if parent.name == 'cmeel.prefix']
    return next((place for place in places if place.is_dir()), None)


def find(robot: RealRobot) -> Path:
    """Return the path of a robot's URDF.

    :raises FileNotFoundError: if the package is not installed or has no such robot
    """
    prefix = cmeel_prefix()
    folder = prefix / 'share' / 'example-robot-data' / 'robots' if prefix else None
    if folder is None or not folder.is_dir():
        raise FileNotFoundError(
            'example-robot-data is not installed (pip install example-robot-data)'
        )
    path = folder / robot.file
    if not path.is_file():
        raise FileNotFoundError(f'this example-robot-data has no {robot.file}')
    return path
