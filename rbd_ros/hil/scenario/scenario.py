# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scenarios: trajectory, controller, faults and limits."""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path
from typing import List, Mapping, Optional, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control import JointTrajectory, TrajectoryError
from rbd_ros.hil.faults.faults import Fault, FaultError, faults_of, PAGE
from rbd_ros.hil.plants.plant import PlantEntry, PLANTS, read_plant, reject_faults
from rbd_ros.hil.scenario.controller_entry import Controller, read_controller
from rbd_ros.hil.update_rate import steps_of_period
from rbd_ros.lookup.robots import load_robot
from rbd_ros.model import ModelError
from rbd_ros.model.extension.extension_document import read_document, Source
from rbd_ros.model.extension.fields import Field
from rbd_ros.robot import Robot

# Memory of a run and its report for each time step, and for each joint in it, including temporary
# copies [bytes].
STEP_MEMORY, JOINT_MEMORY = 200, 64
MAX_MEMORY = 4_000_000_000
MAX_SEED = 2**62


class ScenarioError(FaultError):
    """An unusable scenario; the message names file, line, key and cure."""


def max_steps(joints: int) -> int:
    """Return the maximum number of time steps that fit into memory.

    :param joints: number of joints

    >>> from rbd_ros.hil.scenario.scenario import max_steps
    >>> max_steps(6)
    6849315
    """
    return MAX_MEMORY // (STEP_MEMORY + joints * JOINT_MEMORY)


@dataclass(frozen=True)
class Limits:
    """Limits of a scenario; None: no limit.

    :param tracking_error: maximum position error of any joint [rad, m]
    :param torque: maximum torque as a fraction of the effort limit
    :param recovery_time: maximum time from the begin or end of a fault until the position errors
        of all joints stay below `recovery_error` [s]; of changes that follow each other within
        this time, the last one counts
    :param recovery_error: see `recovery_time` [rad, m]
    """

    tracking_error: Optional[float] = None
    torque: Optional[float] = None
    recovery_time: Optional[float] = None
    recovery_error: float = 0.01


@dataclass(frozen=True)
class Scenario:
    """One test of a controller.

    :param name: name in reports
    :param description: URDF of the robot
    :param robot: the robot; all joints have one degree of freedom
    :param trajectory: desired motion of all joints
    :param duration: duration [s]
    :param timestep: time between two states [s]
    :param controller: the controller under test
    :param faults: faults
    :param limits: limits
    :param seed: seed of the random numbers
    :param response_timeout: real time for an answer over ROS or UDP [s]
    :param substeps: time steps of the simulation from one state to the next
    :param plant: plant in place of a simulation of the robot; None: the simulation
    """

    name: str
    description: str
    robot: Robot
    trajectory: JointTrajectory
    duration: float
    timestep: float
    controller: Controller
    faults: Tuple[Fault, ...]
    limits: Limits
    seed: int = 0
    response_timeout: float = 10.0
    substeps: int = 1
    plant: Optional[PlantEntry] = None

    @property
    def step(self) -> float:
        """Time step of the simulation [s]."""
        if self.substeps == 1:
            return self.timestep
        # Whole nanoseconds, so that it is bitwise identical for all multiples.
        return round(1e9 * self.timestep / self.substeps) / 1e9

    @property
    def steps(self) -> int:
        """Number of time steps of the simulation."""
        return round(self.duration / self.step)

    @property
    def start(self) -> FloatArray:
        """Initial configuration, at the begin of the trajectory, (nq,)."""
        return np.array(self.trajectory.sample(0.0)[0])


_OPTIONAL = (
    'name',
    'duration',
    'timestep',
    'faults',
    'limits',
    'seed',
    'response_timeout',
    'robot',
    'plant',
)


def read_scenario(source: Source) -> Scenario:
    """Return the scenario of a YAML file, see docs/hil.md.

    :param source: path of the file, or a mapping with the same content; the robot's path may be
        relative to the folder of the file
    :raises ScenarioError: if it is invalid, with file, line, key and cure

    >>> from rbd_ros.hil import read_scenario
    >>> scenario = read_scenario('config/hil/sticking_joint.yaml')
    >>> scenario.name, scenario.steps, [str(each) for each in scenario.faults]
    ('a joint that sticks', 5000, ['joint_lock of elbow_joint'])
    """
    try:
        document = read_document(source, 'scenario', 'robot: six_axis_arm', False, PAGE)
        folder = Path.cwd()
        if isinstance(source, (str, os.PathLike)):
            folder = Path(os.fsdecode(source)).resolve().parent
        return _scenario(Field(document, document.item, 'scenario'), folder)
    except ScenarioError:
        raise
    except ModelError as error:
        raise ScenarioError(str(error)) from None


def _scenario(top: Field, folder: Path) -> Scenario:
    entries = top.mapping(['trajectory', 'controller'], _OPTIONAL)
    plant = read_plant(entries['plant'], folder) if 'plant' in entries else None
    if 'robot' in entries:
        description, robot = _robot(entries['robot'], folder)
    elif plant is not None:
        description, robot = '', PLANTS[plant.kind].joints(plant, entries['plant'])
    else:
        raise top.error('robot is missing; add "robot: ..."')
    trajectory = _trajectory(entries['trajectory'], robot)
    timestep = _positive(entries, 'timestep', 0.001)
    nanoseconds = 1e9 * timestep
    if abs(nanoseconds - round(nanoseconds)) > 1e-3 or timestep > 1.0:
        raise entries['timestep'].error('give a whole number of nanoseconds up to 1 s')
    duration = _positive(entries, 'duration', trajectory.end_time + 1.0)
    most = max_steps(robot.nv)
    if duration / timestep > most:
        raise entries.get('duration', top).error(
            f'more than {most} timesteps, which do not fit into memory; give a shorter duration '
            'or a longer timestep'
        )
    if round(duration / timestep) < 1:
        raise entries['duration'].error(
            f'{duration:g} s is shorter than the timestep of {timestep:g} s; give a longer one'
        )
    seed = 0
    if 'seed' in entries:
        value = entries['seed'].number(0.0)
        if value != int(value) or value > MAX_SEED:
            raise entries['seed'].error(f'{value:g} is not a valid seed; give a whole number')
        seed = int(value)
    faults: Tuple[Fault, ...] = ()
    if 'faults' in entries:
        if plant is not None:
            reject_faults(entries['faults'], robot)
        links = tuple(robot.model.links) if plant is None else ()
        faults = faults_of(entries['faults'], robot.joint_names, links)
        last = (round(duration / timestep) - 1) * timestep
        _reject_late_faults(entries['faults'], faults, last)
    controller, substeps = read_controller(entries['controller'], folder), 1
    if 'update_rate' in controller.options:
        h = round(1e9 * timestep)
        try:
            substeps = steps_of_period(controller.options['update_rate'], h)
        except ValueError as error:
            raise (
                entries['controller']
                .mapping(['update_rate'], None)['update_rate']
                .error(str(error))
            ) from None
        timestep = substeps * h / 1e9
    return Scenario(
        entries['name'].name() if 'name' in entries else 'scenario',
        description,
        robot,
        trajectory,
        duration,
        timestep,
        controller,
        faults,
        _limits(entries['limits']) if 'limits' in entries else Limits(),
        seed,
        _positive(entries, 'response_timeout', 10.0),
        substeps,
        plant,
    )


def _reject_late_faults(field: Field, faults: Tuple[Fault, ...], last: float) -> None:
    """Reject faults that never begin, since a run would not test them.

    :param last: time of the last state [s]
    """
    for entry, fault in zip(field.sequence(), faults):
        if fault.start_time > last:
            raise entry.mapping(['start_time'], None)['start_time'].error(
                f'{fault.start_time:g} s is after the last state, of {last:g} s; give an earlier '
                'start, or the scenario a longer duration'
            )


def _positive(entries: Mapping[str, Field], name: str, default: float) -> float:
    if name not in entries:
        return default
    value = entries[name].number()
    if value <= 0.0:
        raise entries[name].error(f'{value:g} is not above 0; give seconds')
    return value


def _robot(field: Field, folder: Path) -> Tuple[str, Robot]:
    name = field.name()
    try:
        local = folder / name
        described = load_robot(str(local) if local.is_file() else name)
        robot = Robot.from_urdf(described.source)
    except ValueError as error:
        raise field.error(str(error)) from None
    if not len(robot.joint_names) == robot.nq == robot.nv or not robot.nv:
        raise field.error(
            'a scenario needs an arm with at least one joint, each of one degree of freedom'
        )
    return described.text, robot


def _trajectory(field: Field, robot: Robot) -> JointTrajectory:
    entries = field.mapping(['times', 'positions'], ['joints'])
    names = list(robot.joint_names)
    if 'joints' in entries:
        for each in entries['joints'].sequence():
            each.choice(names)
        named = entries['joints'].names()
    else:
        named = tuple(names)
    times = [each.number(0.0) for each in entries['times'].sequence()]
    rows: List[List[float]] = []
    for row in entries['positions'].sequence():
        numbers = [each.number() for each in row.sequence()]
        if len(numbers) != len(named):
            raise row.error(f'{len(numbers)} positions for {len(named)} joints; give one for each')
        rows.append(numbers)
    if len(rows) != len(times):
        raise entries['positions'].error(
            f'{len(rows)} points for {len(times)} times; give one for each time'
        )
    if not rows:
        raise entries['times'].error(
            'the list of points is empty; give at least one, such as [0.0]'
        )
    # Joints that are not named stand still, as near to zero as their limits allow.
    rest = np.clip(np.zeros(robot.nq), robot.lower_limits, robot.upper_limits)
    whole = np.tile(rest, (len(rows), 1))
    whole[:, [names.index(name) for name in named]] = rows
    try:
        return JointTrajectory(names, times, whole)
    except TrajectoryError as error:
        raise field.error(str(error)) from None


def _limits(field: Field) -> Limits:
    names = ('tracking_error', 'torque', 'recovery_time', 'recovery_error')
    entries = field.mapping((), names)
    if 'recovery_error' in entries and 'recovery_time' not in entries:
        raise entries['recovery_error'].error(
            'it has no effect without recovery_time; add "recovery_time: ..."'
        )
    values = {name: _positive(entries, name, 0.0) for name in entries}
    return Limits(**values)
