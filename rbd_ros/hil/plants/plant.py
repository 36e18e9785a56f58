# SPDX-License-Identifier: Apache-2.0
"""Plant of a scenario in place of a simulation of the robot: an FMU."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, Dict, List, Mapping, Tuple

import numpy as np

from rbd_ros.contact.contact_arrays import FloatArray
from rbd_ros.hil.faults.faults import FAULT_KINDS
from rbd_ros.hil.plants.loaded_fmu import FmuError, open_fmu
from rbd_ros.hil.scenario.controller_entry import read_fmu
from rbd_ros.model.extension.fields import Field
from rbd_ros.robot import Robot

#: Vectors that the names of variables of a plant are patterns for.
PLANT_PATTERNS = ('position', 'velocity', 'effort', 'start')
DEFAULTS = {name: f'{{joint}}.{name}' for name in ('position', 'velocity', 'effort')}

#: Faults in the physics, which is inside the FMU.
INSIDE = ('friction', 'payload', 'joint_lock')


@dataclass(frozen=True)
class Plant:
    """An FMU as the plant of a scenario.

    :param path: path of the FMU
    :param patterns: names of its variables by vector, with {joint}, {index} or {index1}
    :param parameters: values at the start by name of the variable
    """

    path: str
    patterns: Mapping[str, str]
    parameters: Mapping[str, float]


class PlantJoints:
    """Joints of the robot of a plant without a description.

    It stands where else a `Robot` does; what only dynamics could know is an AttributeError.

    :param name: what it is called
    :param joint_names: names of its joints, each with one degree of freedom, (n,)
    :param effort_limits: largest torques, infinite where none is known, (n,) [N m, N]
    """

    def __init__(self, name: str, joint_names: Tuple[str, ...], effort_limits: FloatArray):
        self.name, self.joint_names, self.effort_limits = name, joint_names, effort_limits
        self.nq = self.nv = len(joint_names)
        self.upper_limits: FloatArray = np.full(self.nq, np.inf)
        self.lower_limits: FloatArray = -self.upper_limits
        # Whether its joints turn for ever is not known: no two positions are the same.
        self.position_periods: FloatArray = np.full(self.nv, np.inf)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f'{name} of the robot is unknown, because the plant is an FMU; give robot in '
            'addition to plant in the scenario'
        )


def read_plant(field: Field, folder: Path) -> Plant:
    """Return the plant of a scenario.

    :param field: what stands under `plant`
    :param folder: that of the file, which paths start from
    :raises ModelError: for whatever is wrong with it, naming file, line, key and cure
    """
    path, options = read_fmu(field.mapping(['fmu'])['fmu'], folder, PLANT_PATTERNS)
    return Plant(path, {**DEFAULTS, **options['variables']}, options['parameters'])


def joints_of_plant(plant: Plant, field: Field) -> Robot:
    """Return the joints of an FMU, in the order of its efforts; see `PlantJoints`.

    :param field: what stands under `plant`, for errors
    :raises ModelError: if there are none
    """
    before, found, after = plant.patterns['effort'].partition('{joint}')
    limits: Dict[str, float] = {}
    try:
        if not found:
            raise FmuError(
                'the pattern of efforts has no {joint}; give robot in addition to plant'
            )
        unit = open_fmu(plant.path)
        for name in unit.names:
            middle = name[len(before) : len(name) - len(after)]
            if name != f'{before}{middle}{after}' or not middle:
                continue
            effort = unit.variable(name)
            if effort is not None and effort.causality == 'input':
                limits[middle] = effort.maximum
        if not limits:
            named = plant.patterns['effort'].format(joint='JOINT')
            raise FmuError(
                f'{plant.path} has no input such as {named!r}; give their names by variables: '
                '{effort: ...}'
            )
    except FmuError as error:
        raise field.error(str(error)) from None
    joints = PlantJoints(Path(plant.path).stem, tuple(limits), np.array(list(limits.values())))
    return cast(Robot, joints)


def refuse_faults(field: Field, robot: Robot) -> None:
    """Refuse faults that an FMU cannot have, by line and name.

    :param field: the list of faults
    :raises ModelError: for the first one
    """
    limited: List[bool] = np.isfinite(robot.effort_limits).tolist()
    for entry in field.sequence():
        named = entry.mapping(['fault'], None)['fault']
        kind = named.choice(FAULT_KINDS)
        if kind in INSIDE:
            raise named.error(inside(kind))
        if kind == 'effort_derating' and not all(limited):
            raise named.error(
                'effort_derating is a fraction of the effort limit, which the FMU does not '
                'contain; give robot in addition to plant'
            )


def inside(kind: str) -> str:
    """Return the reason why a fault inside the FMU is refused."""
    return (
        f'{kind} changes the physics inside the FMU; only faults of messages, sensors and '
        'actuators are possible; give robot instead of plant'
    )
