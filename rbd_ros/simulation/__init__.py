# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulation: a robot under torques, gravity, joint friction, limits and contact.

Compiled functions share their arguments: the records of simulation_model.py, simulation_state.py
and workspace.py are named after their fields, `h` is the length of the (sub)step [s], `v` the
velocity at its end, (nv,) [rad/s, m/s], and `count` the number of contact points near the ground.

The names below are loaded on first use: compiled loops of this package need none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.simulation.physics import Physics
    from rbd_ros.simulation.records.snapshot_file import (
        load_snapshot,
        save_snapshot,
        SnapshotError,
    )
    from rbd_ros.simulation.records.snapshots import Snapshot
    from rbd_ros.simulation.rollouts.rollouts import Trajectories
    from rbd_ros.simulation.simulated_objects import ContactPoint
    from rbd_ros.simulation.simulator import GroundContactPoint, SimulationStatus, Simulator
    from rbd_ros.simulation.step_derivatives import StepDerivatives
    from rbd_ros.simulation.stepping.actuators import (
        DcMotor,
        JointFriction,
        Transmission,
        with_motors,
    )

__all__ = [
    'ContactPoint',
    'DcMotor',
    'GroundContactPoint',
    'JointFriction',
    'Physics',
    'SimulationStatus',
    'Simulator',
    'Snapshot',
    'SnapshotError',
    'StepDerivatives',
    'Trajectories',
    'Transmission',
    'load_snapshot',
    'save_snapshot',
    'with_motors',
]

__getattr__, __dir__ = lazy_names(__name__)
