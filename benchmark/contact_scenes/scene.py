# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scenes of the contact benchmark: bodies, a machine, forces on them, and errors.

A scene is independent of engines, which convert it into their own world; errors are computed by
the same functions from the recording of any engine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
import math
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from rbd_ros import Robot

GRAVITY = 9.81
ROBOT = 'robot'  # name of the machine among bodies and in pairs
_HALVES = slice(0, 3), slice(3, 6)


@dataclass(frozen=True)
class Sphere:
    """A ball about the origin."""

    radius: float

    @property
    def moments(self) -> Tuple[float, float, float]:
        """Moments of inertia of mass one about the center."""
        return (0.4 * self.radius**2,) * 3


@dataclass(frozen=True)
class Box:
    """A box about the origin.

    :param size: full lengths along x, y, z
    """

    size: Tuple[float, float, float]

    @property
    def moments(self) -> Tuple[float, float, float]:
        """Moments of inertia of mass one about the center."""
        x, y, z = (length**2 / 12.0 for length in self.size)
        return y + z, x + z, x + y


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z with half spheres at its ends.

    :param length: of the cylinder alone
    """

    radius: float
    length: float

    @property
    def moments(self) -> Tuple[float, float, float]:
        """Moments of inertia of mass one about the center."""
        r, h = self.radius, self.length
        cylinder, ball = math.pi * r**2 * h, 4.0 / 3.0 * math.pi * r**3
        cylinder, ball = cylinder / (cylinder + ball), ball / (cylinder + ball)
        along = 0.5 * cylinder * r**2 + 0.4 * ball * r**2
        across = cylinder * (r**2 / 4.0 + h**2 / 12.0) + ball * (
            0.4 * r**2 + 0.375 * r * h + h**2 / 4.0
        )
        return across, across, along


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z about the origin."""

    radius: float
    length: float

    @property
    def moments(self) -> Tuple[float, float, float]:
        """Moments of inertia of mass one about the center."""
        across = self.radius**2 / 4.0 + self.length**2 / 12.0
        return across, across, 0.5 * self.radius**2


@dataclass(frozen=True)
class Ground:
    """The half-space z <= 0 of its frame, which is fixed."""


Shape = Union[Sphere, Box, Capsule, Cylinder, Ground]


@dataclass(frozen=True)
class Body:
    """One rigid body: free if it has a mass, else fixed in the world.

    :param position: position of its frame in the world [m]
    :param quaternion: orientation of its frame, w first
    :param mass: mass [kg]; None for a fixed body
    :param linear: initial velocity of its frame's origin [m/s]
    :param angular: initial angular velocity, along the world's axes [rad/s]
    :param center: center of mass, in its frame [m]
    :param inertia: moments about the center of mass along the axes of the frame [kg m^2]; None for
        those of the shape at uniform density
    """

    name: str
    shape: Shape
    position: Tuple[float, float, float] = (0.0, 0.0, 0.0)
    quaternion: Tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    mass: Optional[float] = None
    linear: Tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular: Tuple[float, float, float] = (0.0, 0.0, 0.0)
    center: Tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: Optional[Tuple[float, float, float]] = None

    @property
    def moments(self) -> Tuple[float, float, float]:
        """Moments of inertia about the center of mass [kg m^2]."""
        if self.inertia is not None:
            return self.inertia
        x, y, z = (self.mass * moment for moment in self.shape.moments)
        return x, y, z


@dataclass(frozen=True)
class Machine:
    """A robot of a scene.

    :param urdf: URDF text; shapes are spheres, boxes and cylinders, inertias are physically
        possible
    :param floating: whether its root link moves freely
    :param position: position of the root link [m]
    :param quaternion: orientation of the root link if it moves freely, w first
    :param linear: initial velocity of a floating root link's origin, world axes [m/s]
    :param angular: its angular velocity, likewise [rad/s]
    :param joints: initial positions by name; others are zero
    :param collides: whether it collides with bodies; it has no self-collision
    :param gravity: that of its scene [m/s^2]
    """

    urdf: str
    floating: bool = False
    position: Tuple[float, float, float] = (0.0, 0.0, 0.0)
    quaternion: Tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    linear: Tuple[float, float, float] = (0.0, 0.0, 0.0)
    angular: Tuple[float, float, float] = (0.0, 0.0, 0.0)
    joints: Mapping[str, float] = field(default_factory=dict)
    collides: bool = True
    gravity: float = GRAVITY

    @cached_property
    def robot(self) -> Robot:
        """Model, for the order of joints and the energy of a state."""
        down = (0.0, 0.0, 0.0 - self.gravity)
        return Robot.from_urdf(self.urdf, floating_base=self.floating, gravity=down)

    @cached_property
    def names(self) -> Tuple[str, ...]:
        """Joints, of one DoF each, in the order of recorded positions and torques."""
        robot = self.robot
        return tuple(robot.joint_names[1:] if self.floating else robot.joint_names)

    @cached_property
    def start(self) -> np.ndarray:
        """Initial joint positions."""
        unknown = set(self.joints) - set(self.names)
        if unknown:
            raise ValueError(f'there is no joint {min(unknown)!r}; there are {self.names}')
        return np.array([self.joints.get(name, 0.0) for name in self.names])

    def states(self, trajectory: Trajectory) -> Tuple[np.ndarray, np.ndarray]:
        """Return recorded configurations and velocities of `robot`, (k, nq) and (k, nv)."""
        if not self.floating:
            return trajectory.q, trajectory.v
        base, speed = trajectory.base, trajectory.base_velocity
        turn = rotation(base[:, 3:])
        w, v = (np.einsum('kji,kj->ki', turn, speed[:, part]) for part in _HALVES)
        return (
            np.concatenate([base[:, 3:], base[:, :3], trajectory.q], axis=1),
            np.concatenate([w, v, trajectory.v], axis=1),
        )


@dataclass(frozen=True)
class Contact:
    """One contact point of a step.

    :param first: name of a body, or 'robot/link'
    :param normal: unit vector from the first to the second
    :param force: mean force on the second over the step, world axes [N]
    :param velocity: velocity of the second relative to the first at the end of the step [m/s]; NaN
        if unknown
    :param gap: gap at the beginning of the step, negative for penetration [m]
    """

    first: str
    second: str
    position: np.ndarray
    normal: np.ndarray
    force: np.ndarray
    velocity: np.ndarray
    gap: float = 0.0


@dataclass
class Trajectory:
    """Recording of an engine: k samples of n free bodies, in the order of the scene.

    :param time: (k,) [s]
    :param position: of the frames' origins, (k, n, 3) [m]
    :param quaternion: w first, (k, n, 4)
    :param velocity: angular velocity and that of the frame's origin, world axes, (k, n, 6)
    :param base: position and quaternion of the root link, (k, 7)
    :param base_velocity: likewise, (k, 6)
    :param q: joint positions, (k, m)
    :param v: joint velocities, (k, m)
    :param contacts: contacts of some steps: the time at the end of each, and its contacts; empty
        if the engine does not report them
    """

    timestep: float
    time: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray
    velocity: np.ndarray
    base: np.ndarray
    base_velocity: np.ndarray
    q: np.ndarray
    v: np.ndarray
    contacts: List[Tuple[float, List[Contact]]] = field(default_factory=list)

    def last(self, seconds: float) -> slice:
        """Return the samples of the last seconds."""
        return slice(int(np.searchsorted(self.time, self.time[-1] - seconds - 1e-12)), None)


@dataclass(frozen=True)
class Error:
    """One error of a scene; less is better.

    :param what: description, with its unit
    :param of: function of a trajectory; NaN if not computable
    :param goal: goal for our engine at 1 ms; None without one
    :param best: whether ours must not exceed that of any other engine
    :param variant: our variant for which the goal is
    """

    what: str
    of: Callable[[Scene, Trajectory], float]
    goal: Optional[float] = None
    best: bool = False
    variant: str = ''


@dataclass(frozen=True)
class Scene:
    """A scene of the benchmark.

    :param friction: of all pairs, or by pair of those in contact; bodies are named by their
        `kinds`
    :param kinds: kind of a body in `friction`, by default its name
    :param wrenches: moment and force on bodies by time; at the frame's origin, world axes
    :param steady: whether the wrenches are constant
    :param torque: function of time, positions and velocities that returns joint torques
    :param control: period of torques [s]; 0 for each step
    :param every: period of samples [s]; 0 for each step
    :param flight: whether it is a motion without contact, to compare integrators
    :param residual_goal: maximum residual, a goal; None without one
    :param apart: whether it has balls in contact with the ground only, as event-driven simulation
        requires
    """

    name: str
    title: str
    bodies: Tuple[Body, ...]
    duration: float
    quick: float
    errors: Tuple[Error, ...]
    friction: Union[float, Mapping[Tuple[str, str], float]] = 0.0
    kinds: Mapping[str, str] = field(default_factory=dict)
    restitution: float = 0.0
    gravity: float = GRAVITY
    machine: Optional[Machine] = None
    wrenches: Optional[Callable[[float], Mapping[str, np.ndarray]]] = None
    steady: bool = False
    torque: Optional[Callable[[float, np.ndarray, np.ndarray], np.ndarray]] = None
    control: float = 0.0
    every: float = 0.0
    flight: bool = False
    apart: bool = False
    residual_goal: Optional[float] = None

    @property
    def elastic(self) -> bool:
        """Whether any pair bounces."""
        return self.restitution > 0.0

    @cached_property
    def free(self) -> Tuple[Body, ...]:
        """Free bodies, in the order of a trajectory."""
        return tuple(body for body in self.bodies if body.mass is not None)

    def index(self, name: str) -> int:
        """Return the index of a free body in a trajectory."""
        return [body.name for body in self.free].index(name)

    def kind(self, name: str) -> str:
        """Return the kind of a body in `friction`."""
        return self.kinds.get(name, name.partition('/')[0])

    def friction_of(self, first: str, second: str) -> float:
        """Return the coefficient of a pair, 0 for pairs not in `friction`, without contact."""
        if not isinstance(self.friction, Mapping):
            return self.friction
        pair = self.kind(first), self.kind(second)
        return self.friction.get(pair, self.friction.get(pair[::-1], 0.0))


@dataclass(frozen=True)
class Residuals:
    """Residuals of Signorini's and Coulomb's law at contacts, as ContactBench defines them.

    Products of velocities and impulses [J], maxima over contacts and samples. The velocity that
    closes a gap within the step is subtracted.

    :param signorini: |v_n lambda_n|
    :param conic: |v . lambda|, which is not zero where a contact slides
    :param contact: |lambda . (v + mu |v_t| n)|, of the nonlinear complementarity problem
    """

    signorini: float
    conic: float
    contact: float


def residuals(scene: Scene, trajectory: Trajectory) -> Optional[Residuals]:
    """Return the residuals of recorded contacts; None without contacts.

    It is None, too, for unknown velocities (NaN), or with restitution, which is another law.
    """
    every = [contact for _, contacts in trajectory.contacts for contact in contacts]
    if scene.elastic or not all(np.all(np.isfinite(contact.velocity)) for contact in every):
        return None
    worst = np.zeros(3)
    for contact in every:
        mu = scene.friction_of(contact.first, contact.second)
        n = contact.normal
        v = contact.velocity + max(0.0, contact.gap) / trajectory.timestep * n
        impulse = contact.force * trajectory.timestep
        v_n = n @ v
        slip = np.linalg.norm(v - v_n * n)
        conic = impulse @ v
        values = v_n * (n @ impulse), conic, conic + mu * slip * (n @ impulse)
        worst = np.maximum(worst, np.abs(values))
    return Residuals(*map(float, worst)) if every else None


def grid(count: Sequence[int], spacing: float) -> np.ndarray:
    """Return the points of a grid from the origin, (n, 3); the last index varies fastest."""
    axes = [spacing * np.arange(n) for n in count]
    return np.stack(np.meshgrid(*axes, indexing='ij'), axis=-1).reshape(-1, len(count))


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Return the rotation matrix from body to world coordinates, of one or many quaternions."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def about(axis: Sequence[float], angle: float) -> Tuple[float, float, float, float]:
    """Return the quaternion of a rotation about a unit vector, w first."""
    x, y, z = (math.sin(0.5 * angle) * part for part in axis)
    return math.cos(0.5 * angle), x, y, z


def energy(scene: Scene, trajectory: Trajectory) -> np.ndarray:
    """Return the kinetic plus potential energy of all bodies, (k,) [J].

    The potential is zero at height zero.
    """
    total = np.zeros(len(trajectory.time))
    for i, body in enumerate(scene.free):
        R = rotation(trajectory.quaternion[:, i])
        w, v = trajectory.velocity[:, i, :3], trajectory.velocity[:, i, 3:]
        arm = R @ np.array(body.center)
        v = v + np.cross(w, arm)
        turning = np.einsum('kji,kj->ki', R, w)
        total += 0.5 * body.mass * np.einsum('ki,ki->k', v, v)
        total += 0.5 * turning**2 @ np.array(body.moments)
        total += body.mass * scene.gravity * (trajectory.position[:, i, 2] + arm[:, 2])
    machine = scene.machine
    if machine is not None:
        robot = machine.robot
        parts = robot.energy(*machine.states(trajectory))
        total += parts.kinetic + parts.potential
    return total


def forces_between(contacts: Sequence[Contact], first: str, second: str) -> np.ndarray:
    """Return the sum of contact forces on the second of two bodies or kinds, (3,) [N]."""
    total = np.zeros(3)
    for contact in contacts:
        names = contact.first.partition('/')[0], contact.second.partition('/')[0]
        if names == (first, second):
            total += contact.force
        elif names == (second, first):
            total -= contact.force
    return total


def load_error(name: str, mass: float) -> Callable[[Scene, Trajectory], float]:
    """Return the error by statics: relative difference of contact forces from the weight.

    :param name: body that finally rests, or moves at constant velocity
    :param mass: its mass [kg]
    """

    def error(scene: Scene, trajectory: Trajectory) -> float:
        if not trajectory.contacts:
            return math.nan
        total, weight = np.zeros(3), np.array([0.0, 0.0, mass * scene.gravity])
        for contact in trajectory.contacts[-1][1]:
            total += contact.force * (
                (contact.second == name) * 1.0 - (contact.first == name) * 1.0
            )
        return float(np.linalg.norm(total - weight) / weight[2])

    return error


def by_name(scenes: Sequence[Scene]) -> Dict[str, Scene]:
    """Return the scenes by their names.

    :raises ValueError: for duplicate names
    """
    found = {scene.name: scene for scene in scenes}
    if len(found) < len(scenes):
        raise ValueError('two scenes have the same name')
    return found
