# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Engines of the contact benchmark, and measurement of one scene in one of them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
import math
import multiprocessing
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Tuple, TypeVar

from contact_scenes.scene import Contact, Residuals, residuals, Scene, Trajectory
import numpy as np

Returned = TypeVar('Returned')
SAMPLES_OF_CONTACTS = 100  # maximum per run


class NotPossible(Exception):
    """An engine does not support a scene; the message has the reason."""


class World(Protocol):
    """A scene in an engine."""

    def push(self, wrenches: Mapping[str, np.ndarray]) -> None:
        """Set moments and forces on bodies, which stay until they are set again."""

    def drive(self, torque: np.ndarray) -> None:
        """Set torques of the machine's joints, likewise."""

    def step(self, count: int) -> None:
        """Advance by steps."""

    def bodies(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, quaternions (w first) and velocities (angular first) of free bodies."""

    def machine(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return pose (7,) and velocity (6,) of the base, joint positions and velocities."""

    def watch(self) -> None:
        """Prepare for recording the contacts of the next step, a single one."""

    def contacts(self) -> Optional[List[Contact]]:
        """Return the contacts of the previous step; None if the engine does not report them."""


@dataclass(frozen=True)
class Engine:
    """An engine with some settings.

    :param name: its column of the table
    :param library: module that it needs, with its name for pip
    :param start: function that makes a world; raises NotPossible for unsupported scenes
    :param settings: description of non-default settings
    :param variant: another integrator, with a separate row in scenes that compare them
    """

    name: str
    library: Tuple[str, str]
    start: Callable[[Scene, float], World]
    settings: str = ''
    variant: str = ''

    def missing(self) -> str:
        """Return why it is unavailable; empty if it is available."""
        module, package = self.library
        found = find_spec(module) is not None
        return '' if found else f'{package} is not installed (pip install {package})'

    def suits(self, scene: Scene) -> bool:
        """Return whether a scene has a row for it."""
        if self.variant == 'event-driven':
            return scene.apart
        return scene.flight or not self.variant


@dataclass
class Result:
    """Result of one scene in one engine.

    :param errors: those of the scene, in its order; NaN where the motion diverged
    :param step: processor time of a step [s]
    :param residuals: residuals of its contacts; None if unknown
    :param skipped: reason for a missing result
    """

    scene: str
    engine: str
    variant: str
    timestep: float
    errors: Tuple[float, ...] = ()
    step: float = math.nan
    residuals: Optional[Residuals] = None
    skipped: str = ''

    def as_dict(self) -> Dict[str, Any]:
        """Return the values for JSON, in which NaN is None."""
        found = None if self.residuals is None else vars(self.residuals)
        errors = [error if math.isfinite(error) else None for error in self.errors]
        step = self.step if math.isfinite(self.step) else None
        return {**vars(self), 'residuals': found, 'errors': errors, 'step': step}


class TooSlow(Exception):
    """A run exceeded its time; the arguments are the duration and number of steps."""


def record(
    scene: Scene, world: World, timestep: float, duration: float, budget: float = math.inf
) -> Tuple[Trajectory, float]:
    """Run a scene and record it.

    :param budget: maximum processor time [s]
    :raises TooSlow: if it exceeds the budget
    :return: the trajectory, and the processor time of its steps [s]
    """
    count = round(duration / timestep)
    every = max(1, round(scene.every / timestep))
    changing = scene.torque is not None or (scene.wrenches is not None and not scene.steady)
    chunk = max(1, round(scene.control / timestep)) if changing else every
    every = chunk * max(1, every // chunk)
    look = every * max(1, count // every // SAMPLES_OF_CONTACTS)
    samples: List[tuple] = []
    contacts: List[Tuple[float, List[Contact]]] = []
    spent = 0.0
    for k in range(0, count, chunk):
        now, steps = k * timestep, min(chunk, count - k)
        if k % every == 0:
            samples.append(_sample(scene, world, now))
        if scene.wrenches is not None and (k == 0 or not scene.steady):
            world.push(scene.wrenches(now))
        if scene.torque is not None:
            _, _, q, v = world.machine()
            world.drive(scene.torque(now, q, v))
        watched = (k + steps) % look == 0 or k + steps == count
        # Contacts are those of one step, whose beginning some engines must have recorded.
        for part in (steps - 1, 1) if watched else (steps,):
            if watched and part == 1:
                world.watch()
            if part:
                begin = time.thread_time()
                world.step(part)
                spent += time.thread_time() - begin
        k += steps
        if spent > budget:
            raise TooSlow(spent, k)
        if watched and (found := world.contacts()) is not None:
            contacts.append((k * timestep, found))
    samples.append(_sample(scene, world, count * timestep))
    arrays = (np.array(column) for column in zip(*samples))
    return Trajectory(timestep, *arrays, contacts=contacts), spent


def _sample(scene: Scene, world: World, now: float) -> tuple:
    empty = np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 6))
    bodies = tuple(map(np.copy, world.bodies())) if scene.free else empty
    if scene.machine is None:
        return (now, *bodies, *map(np.zeros, (7, 6, 0, 0)))
    return (now, *bodies, *map(np.copy, world.machine()))


def measure(
    scene: Scene, engine: Engine, timestep: float, quick: bool, budget: float = math.inf
) -> Result:
    """Run a scene in an engine; unsupported or slow ones are skipped with the reason."""
    result = Result(scene.name, engine.name, engine.variant, timestep)
    result.skipped = engine.missing()
    if result.skipped:
        return result
    duration = scene.quick if quick else scene.duration
    try:
        world = engine.start(scene, timestep)
        trajectory, spent = record(scene, world, timestep, duration, budget)
    except (NotPossible, FloatingPointError, ImportError) as reason:
        result.skipped = str(reason)
        return result
    except TooSlow as stopped:
        spent, steps = stopped.args
        result.step = spent / steps
        result.skipped = f'stopped after {spent:.0f} s at {steps * timestep:.1f} s of {duration:g}'
        return result
    result.step = spent / round(duration / timestep)
    with np.errstate(all='ignore'):
        whole = np.all(np.isfinite(trajectory.position)) and np.all(np.isfinite(trajectory.q))
        result.errors = tuple(
            error.of(scene, trajectory) if whole else math.nan for error in scene.errors
        )
        result.residuals = residuals(scene, trajectory)
    return result


def isolated(
    scene: Scene, engine: Engine, timestep: float, quick: bool, budget: float = math.inf
) -> Result:
    """Run a scene in an engine as `measure` does, in a separate process, which may crash."""
    try:
        return in_process(lambda: measure(scene, engine, timestep, quick, budget))
    except ChildProcessError as died:
        return Result(scene.name, engine.name, engine.variant, timestep, skipped=str(died))


def in_process(function: Callable[[], Returned]) -> Returned:
    """Return the result of a function called in a separate process.

    :raises ChildProcessError: if the process died
    """
    context = multiprocessing.get_context('fork')
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(function()))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        raise ChildProcessError(f'its process died with exit code {process.exitcode}') from None
    finally:
        process.join()
        receiver.close()
