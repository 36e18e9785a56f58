# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Desired motion of a scenario at each time step, as controllers receive it."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control import JointTrajectory

#: Vectors for a controller with a binary interface, one number per joint each, in the order of a
#: packet: measured and desired.
ARRAYS = ('position', 'velocity', 'desired_position', 'desired_velocity', 'desired_acceleration')

#: Number of precomputed time steps; later ones are computed on demand.
MAX_ROWS = 100_000


class DesiredSamples:
    """Desired positions, velocities and accelerations at whole time steps, concatenated.

    :param trajectory: the motion, of n joints
    :param timestep: time between two steps [s]

    >>> from rbd_ros.control import JointTrajectory
    >>> from rbd_ros.hil.scenario.desired import DesiredSamples
    >>> line = JointTrajectory(['a', 'b'], [0.0, 2.0], [[0.0, 0.0], [1.0, 2.0]])
    >>> DesiredSamples(line, 0.001).at(1.0)
    array([0.5 , 1.  , 0.75, 1.5 , 0.  , 0.  ])
    """

    def __init__(self, trajectory: JointTrajectory, timestep: float):
        self._sample, self.timestep = trajectory.sample, timestep
        count = min(int(trajectory.end_time / timestep) + 2, MAX_ROWS)
        self._rows: FloatArray = np.array(
            [np.concatenate(trajectory.sample(k * timestep)) for k in range(count)]
        )
        self._rests = (count - 1) * timestep >= trajectory.end_time

    def at(self, time: float) -> FloatArray:
        """Return the desired motion at a time, (3n,), read-only.

        :param time: a multiple of the time step [s]
        """
        k = round(time / self.timestep)
        if 0 <= k < len(self._rows):
            return self._rows[k]  # type: ignore[no-any-return]
        if self._rests and k > 0:
            return self._rows[-1]  # type: ignore[no-any-return]
        return np.concatenate(self._sample(time))


# Shared by all runs of a scenario.
_tables: WeakKeyDictionary[JointTrajectory, DesiredSamples] = WeakKeyDictionary()


def desired_samples(trajectory: JointTrajectory, timestep: float) -> DesiredSamples:
    """Return the desired motion of a trajectory; only the last time step is cached."""
    known = _tables.get(trajectory)
    if known is None or known.timestep != timestep:
        known = _tables[trajectory] = DesiredSamples(trajectory, timestep)
    return known
