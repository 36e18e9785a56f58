# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of a simulation at one instant, and the identity of the simulation."""

from __future__ import annotations

from dataclasses import dataclass, field
import hashlib
import json
from typing import Any, Dict, Mapping, Optional, Tuple
from weakref import WeakKeyDictionary

import numpy as np

from rbd_ros.array_types import AnyArray
from rbd_ros.collision.scene.scene import Scene
from rbd_ros.robot import Robot
from rbd_ros.robot.variants import model_key
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.records.simulation_model import SimulationModel

# Cached per simulation and world: shapes of a world may be large.
_found: WeakKeyDictionary[Physics, Tuple[Optional[Scene], Dict[str, str]]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Snapshot:
    """State of a simulation at one instant, for `Simulator.restore`; opaque, can be pickled.

    :param robot: name of the robot
    :param start_time: time at the last reset [s]
    :param arrays: all arrays that the next steps depend on, by name
    :param handles: active external wrenches, by their handles
    :param next_handle: handle of the next one
    :param objects: names of the movable objects
    :param identity: identity of the simulation, see `identity_of`
    :param frictional: whether joints may have dry friction
    :param extra: further values of the caller, as JSON
    """

    robot: str
    start_time: float
    arrays: Dict[str, AnyArray]
    handles: Dict[int, int]
    next_handle: int
    objects: Tuple[str, ...] = ()
    identity: Mapping[str, str] = field(default_factory=dict)
    frictional: Optional[bool] = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def identity_of(physics: Physics) -> Dict[str, str]:
    """Return name and fingerprints of a simulation, independent of its state.

    Fault injection (reduced efforts, additional friction) does not count.

    >>> from rbd_ros.simulation import Physics
    >>> from rbd_ros.simulation.records.snapshots import identity_of
    >>> one, other = identity_of(Physics(robot)), identity_of(Physics(robot, timestep=2e-3))
    >>> sorted(name for name in one if one[name] != other[name]), one['robot'], one['timestep']
    (['timestep'], 'six_axis_arm', '0.001')
    """
    known = _found.get(physics)
    if known is None or known[0] is not physics.scene:
        known = _found[physics] = (physics.scene, _identity(physics))
    return known[1]


def check_identity(snapshot: Snapshot, physics: Physics) -> None:
    """Reject a snapshot of another simulation.

    :raises ValueError: naming the difference
    """
    then, now = snapshot.identity, identity_of(physics)
    if not then:
        return
    for name, text in (
        ('robot', 'belongs to the robot {then!r}, but this is a simulation of {now!r}'),
        ('joints', 'belongs to a robot with other joints: {then}'),
        ('model', 'belongs to a robot of this name with other inertias, frames, limits or drives'),
        ('timestep', 'has a timestep of {then} s, but this simulation one of {now} s'),
        ('integrator', 'belongs to the integrator {then}, but this simulation to {now}'),
        ('ground', 'has another ground, or other shapes of the robot on it'),
        ('world', 'has other objects or surfaces around the robot'),
    ):
        if then.get(name) != now[name]:
            difference = text.format(then=str(then.get(name))[:200], now=now[name][:200])
            raise ValueError(f'the snapshot belongs to another simulation: it {difference}')


def _identity(physics: Physics) -> Dict[str, str]:
    model, robot = physics.model, physics.robot
    return {
        'robot': robot.name,
        'joints': ', '.join(robot.joint_names),
        'model': _model_digest(model, robot),
        'timestep': repr(model.timestep),
        'integrator': physics.integrator,
        'ground': _digest(model.ground) if model.has_ground else '',
        # An address is valid in this process only.
        'world': _digest(model.scene._replace(finder=0)) if model.has_scene else '',
    }


def _model_digest(model: SimulationModel, robot: Robot) -> str:
    total = hashlib.sha256(json.dumps(model_key(robot.model)).encode())
    # From the robot: faults change the model.
    for values in (robot.friction, robot.effort_limits):
        total.update(np.asarray(values, dtype=float).tobytes())
    for values in (model.damping, model.stiffness, model.spring_rest, model.speed):
        total.update(np.ascontiguousarray(values).tobytes())
    return total.hexdigest()


def _digest(record: Tuple[Any, ...]) -> str:
    total = hashlib.sha256()
    _feed(total, record)
    return total.hexdigest()


def _feed(total: Any, record: Tuple[Any, ...]) -> None:
    for name, each in zip(record._fields, record):  # type: ignore[attr-defined]
        # Features of the machine code are ignored: there may be more than needed.
        if isinstance(each, bool) and name != 'poisson':
            continue
        total.update(name.encode())
        if isinstance(each, tuple) and hasattr(each, '_fields'):
            _feed(total, each)
        else:
            array = np.ascontiguousarray(each)
            total.update(repr((array.shape, array.dtype.str)).encode() + array.tobytes())
