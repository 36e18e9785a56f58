# SPDX-License-Identifier: Apache-2.0
"""An FMU where else the simulation of a robot is: torque in, state out, a step at a time."""

from __future__ import annotations

from typing import Optional
from weakref import finalize

import numpy as np

from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.hil.failures import PlantFailure
from rbd_ros.hil.faults.faults import Fault
from rbd_ros.hil.plants.loaded_fmu import FmuError, Instance, missing, named, open_fmu
from rbd_ros.hil.plants.plant import INSIDE, inside, Plant
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound

#: How far a plant may begin from where the trajectory does [rad, m].
START_TOLERANCE = 1e-6


class FmuPlant:
    """Stand-in for a `Simulator`, its `Physics`, and the plant and the state in that, by an FMU.

    Each `reset` makes another instance of the FMU, so one run has nothing of the one before.

    :param plant: the FMU
    :param robot: joints, their order and their limits
    :param timestep: length of a step [s]
    :raises FmuError: if the FMU cannot be used, or lacks a variable
    """

    def __init__(self, plant: Plant, robot: Robot, timestep: float):
        self._declared, self._timestep = plant, timestep
        self._unit = open_fmu(plant.path)
        joints = robot.joint_names
        names = {key: named(pattern, joints) for key, pattern in plant.patterns.items()}
        for key, each in names.items():
            kind = 'input' if key in ('effort', 'start') else 'output'
            if lacking := missing(self._unit, each, kind):
                raise FmuError(
                    f'{plant.path} has no variable {lacking[0]!r}; give its name by variables: '
                    f'{{{key}: ...}}'
                )
        self._names = names
        self._steps = 0
        self._wraparound = Wraparound(robot.position_periods)
        #: Positions, velocities and the torques of the last step, (n,) each
        self.q, self.v, self.applied = (np.zeros(robot.nv) for _ in range(3))
        #: Limits of the torques, which faults of actuators change; friction is the FMU's own
        self.effort: FloatArray = np.array(robot.effort_limits, dtype=float)
        self.friction: FloatArray = np.zeros(robot.nv)
        self._open: Optional[Instance] = None

    @property
    def physics(self) -> FmuPlant:
        """Object that takes steps: this."""
        return self

    @property
    def state(self) -> FmuPlant:
        """Object that has positions, velocities and torques: this."""
        return self

    @property
    def model(self) -> FmuPlant:
        """Object that has limits: this."""
        return self

    def allow_friction(self) -> None:
        """Do nothing: faults of friction are refused before."""

    def reset(self, q: FloatArray) -> None:
        """Begin again at rest.

        :param q: positions, (n,) [rad, m]
        :raises FmuError: if the FMU refuses, or begins elsewhere
        """
        self.close()
        instance = self._open = self._unit.instance()
        self._end = finalize(self, instance.close)
        key = 'start' if 'start' in self._names else 'position'
        values = {**dict(zip(self._names[key], q.tolist())), **self._declared.parameters}
        instance.begin(values)
        self._input = instance.channel(self._names['effort'])
        self._output = instance.channel([*self._names['position'], *self._names['velocity']])
        self._steps = 0
        self.applied[:] = 0.0
        self._read(instance)
        far = np.abs(self._wraparound(self.q - q))
        if not far.max() <= START_TOLERANCE:
            joint = int(far.argmax())
            raise FmuError(
                f'{self._declared.path}: {self._names["position"][joint]} begins at '
                f'{self.q[joint]:g}, but the trajectory at {q[joint]:g}; name the variables that '
                'set it by variables: {start: ...}, or begin the trajectory there'
            )

    def step(self, torque: FloatArray) -> None:
        """Take a step.

        :param torque: desired torques, which are cut at the limits, (n,) [N m, N]
        :raises PlantFailure: if the FMU fails, or its state is not finite
        """
        instance, h = self._open, self._timestep
        if instance is None:
            raise PlantFailure('the FMU is not initialized')
        np.clip(torque, -self.effort, self.effort, out=self.applied)
        self._input.values[:] = self.applied
        try:
            instance.write(self._input)
            instance.step(self._steps * h, h)
            self._steps += 1
            self._read(instance)
        except FmuError as error:
            raise PlantFailure(str(error)) from None
        if not np.isfinite(self._output.values).all():
            raise PlantFailure(f'the state of the FMU is not finite after {self._steps * h:.6f} s')

    def _read(self, instance: Instance) -> None:
        instance.read(self._output)
        n = len(self.q)
        self.q[:], self.v[:] = self._output.values[:n], self._output.values[n:]

    def close(self) -> None:
        """Free the FMU's instance."""
        if self._open is not None:
            self._end()
            self._open = None


def check_fault(fault: Fault) -> None:
    """Refuse a fault that an FMU cannot have.

    :raises ValueError: for a fault in its physics
    """
    if fault.kind in INSIDE:
        raise ValueError(inside(fault.kind))
