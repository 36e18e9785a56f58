# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Arms: pressing on a table, pushing a box, and a gripper that lifts a cube."""

from __future__ import annotations

from functools import cached_property
import math
from typing import Any, Callable, List

import numpy as np
import robots

from contact_scenes.scene import (
    Body,
    Box,
    Error,
    forces_between,
    GRAVITY,
    Ground,
    load_error,
    Machine,
    ROBOT,
    Scene,
    Trajectory,
)
from contact_scenes.urdf import prepared, text_of
from rbd_ros import Robot

_CONTROL = 0.002  # between torques [s]

# -- UR5: a tool that presses on a table ----------------------------------------------------------

_TOOL = 0.06  # side of the tool's face, which points down [m]
_THICK = 0.04
_LIFTED, _BENT = -1.3, 1.9
_DOWN = {
    'shoulder_lift_joint': _LIFTED,
    'elbow_joint': _BENT,
    # These three have parallel axes: their sum makes the tool point down.
    'wrist_1_joint': -0.5 * math.pi - _LIFTED - _BENT,
    'wrist_2_joint': -0.5 * math.pi,
}
_PRESS = 20.0  # [N]
_KP, _KD = 2000.0, 100.0  # of the joints [N m/rad, N m s/rad]
_WRISTS = np.array([1.0, 1.0, 1.0, 0.05, 0.05, 0.02])  # gains of joints with small loads


class Arm(Machine):
    """A UR5 with a box as tool, whose face is initially on a surface."""

    @cached_property
    def frame(self) -> Any:
        """Tool frame along the axes of the root link, as fixed links are merged in the URDF."""
        return Robot.from_urdf(text_of(robots.UR5)).frame('tool0', 'aligned')

    @cached_property
    def face(self) -> np.ndarray:
        """Initial center of the tool's face in the frame of the root link, (3,)."""
        pose = self.frame.pose(self.start)
        return pose[:3, 3] + pose[:3, :3] @ [0.0, 0.0, _THICK]


def _tool(side: float) -> str:
    sizes = {'size': f'{side} {side} {_THICK}'}
    return prepared(
        text_of(robots.UR5), keep=(), add={'tool0': [('box', sizes, (0.0, 0.0, 0.5 * _THICK))]}
    )


def _servo(
    machine: Arm, desired: Callable[[float], tuple], force: np.ndarray
) -> Callable[[float, np.ndarray, np.ndarray], np.ndarray]:
    """Return the torque that follows a motion and applies a force at the tool's face.

    :param desired: positions, velocities and accelerations of the joints by time
    """
    robot = machine.robot
    frame = machine.frame

    def torque(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        q_d, v_d, a_d = desired(t)
        feedforward = robot.inverse_dynamics(q_d, v_d, a_d)
        press = face_jacobian(frame, q_d).T @ force
        return feedforward + press + _WRISTS * (_KP * (q_d - q) + _KD * (v_d - v))

    return torque


def face_jacobian(frame: Any, q: np.ndarray) -> np.ndarray:
    """Return the Jacobian of the velocity of the center of the tool's face, world axes, (3, 6)."""
    J = frame.jacobian(q)
    arm = frame.pose(q)[:3, :3] @ [0.0, 0.0, _THICK]
    return J[3:] + np.cross(J[:3].T, arm).T


def press_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the relative error of the final force on the table."""
    if not trajectory.contacts:
        return math.nan
    force = forces_between(trajectory.contacts[-1][1], ROBOT, 'table')
    return float(np.linalg.norm(force - [0.0, 0.0, -_PRESS]) / _PRESS)


def joint_creep(scene: Scene, trajectory: Trajectory) -> float:
    """Return the maximum change of any joint in the last fifth of the time [rad]."""
    q = trajectory.q[trajectory.last(0.2 * trajectory.time[-1])]
    return float(np.max(np.abs(q - q[0])))


def pressing_scene() -> Scene:
    """Return a UR5 that presses a square tool on a table."""
    machine = Arm(_tool(_TOOL), joints=_DOWN)
    x, y, z = machine.face
    still = machine.start, np.zeros(6), np.zeros(6)
    force = np.array([0.0, 0.0, -_PRESS])
    return Scene(
        'pressing',
        'UR5 presses on a table with a square tool',
        (Body('table', Box((0.6, 0.6, 0.1)), (float(x), float(y), float(z) - 0.05)),),
        duration=3.0,
        quick=0.5,
        errors=(
            Error('relative error of the force', press_error, 1e-6),
            Error('largest change of a joint in the last fifth [rad]', joint_creep, 1e-6),
        ),
        friction=0.5,
        machine=machine,
        torque=_servo(machine, lambda t: still, force),
        control=_CONTROL,
        residual_goal=1e-6,
    )


# -- UR5: a tool that pushes a box ----------------------------------------------------------------

_BOX, _WEIGHT, _MU, _SPEED = 0.1, 1.0, 0.4, 0.1
_ABOVE = 0.02  # height of the tool over the table [m]
_RAMP = 0.5  # until constant speed [s]


def _line(machine: Arm, duration: float, timestep: float = 1e-3) -> Callable[[float], tuple]:
    """Return the joint positions for a straight motion of the tool along x, without rotation."""
    frame = machine.frame
    count = round(duration / timestep) + 2
    q, v = np.zeros((count, 6)), np.zeros((count, 6))
    q[0] = machine.start
    rate = np.zeros(6)

    def speed(q: np.ndarray, t: float) -> np.ndarray:
        rate[3] = _SPEED * min(1.0, t / _RAMP)
        return np.linalg.solve(frame.jacobian(q), rate)

    for k in range(count - 1):
        t = k * timestep
        v[k] = speed(q[k], t)
        middle = speed(q[k] + 0.5 * timestep * v[k], t + 0.5 * timestep)
        q[k + 1] = q[k] + timestep * middle
    v[-1] = v[-2]
    a = np.gradient(v, timestep, axis=0)

    def desired(t: float) -> tuple:
        k = min(round(t / timestep), count - 1)
        return q[k], v[k], a[k]

    return desired


def push_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the relative error of the tool's mean force on the box at constant speed.

    The compliant arm lets the tool tilt by some mrad, so its force also presses the box on the
    table: friction is that of the actual load.
    """
    forces = [
        forces_between(contacts, ROBOT, 'box')
        for t, contacts in trajectory.contacts
        if t > 2.0 * _RAMP
    ]
    if not forces:
        return math.nan
    force = np.mean(forces, axis=0)
    return float(abs(force[0] / (_MU * (_WEIGHT * GRAVITY - force[2])) - 1.0))


def lifted_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the relative error of vertical forces on the box at constant speed: its weight."""
    if not trajectory.contacts:
        return math.nan
    contacts = trajectory.contacts[-1][1]
    total = forces_between(contacts, ROBOT, 'box') + forces_between(contacts, 'table', 'box')
    return float(abs(total[2] / (_WEIGHT * GRAVITY) - 1.0))


def push_speed_error(scene: Scene, trajectory: Trajectory) -> float:
    """Return the root mean square error of the box's speed in uniform motion [m/s]."""
    part = trajectory.time > 2.0 * _RAMP
    apart = trajectory.velocity[part, 0, 3:] - [_SPEED, 0.0, 0.0]
    return float(np.sqrt(np.mean(np.sum(apart**2, axis=1))))


def pushing_scene() -> Scene:
    """Return a UR5 that pushes a box over a table."""
    machine = Arm(_tool(_TOOL), joints=_DOWN)
    x, y, z = map(float, machine.face)
    table = z - _ABOVE
    return Scene(
        'pushing',
        'UR5 pushes a box over a table',
        (
            Body('table', Box((1.2, 0.8, 0.1)), (x + 0.3, y, table - 0.05)),
            Body(
                'box',
                Box((_BOX,) * 3),
                (x + 0.5 * (_TOOL + _BOX) + 1e-3, y, table + 0.5 * _BOX),
                mass=_WEIGHT,
            ),
        ),
        duration=2.5,
        quick=1.1,
        errors=(
            Error('relative error of the mean force on the box', push_error, 1e-3),
            Error('root mean square of its speed error [m/s]', push_speed_error),
            Error('vertical forces on it at the end, relative error', lifted_error, 1e-6),
        ),
        # The tool slides along the box, so it carries no part of its weight.
        friction={(ROBOT, 'box'): 0.0, ('table', 'box'): _MU},
        machine=machine,
        torque=_servo(machine, _line(machine, 2.6), np.zeros(3)),
        control=_CONTROL,
        residual_goal=1e-6,
    )


# -- a gripper that lifts a cube ------------------------------------------------------------------

_CUBE, _LOAD, _GRIP, _GRIP_MU = 0.05, 0.2, 10.0, 0.5
_FINGER = (0.02, 0.01, 0.06)
_LIFT, _LIFTING = 0.1, 1.0  # height [m] and time [s]
_HAND_MASS, _FINGER_MASS = 0.5, 0.1


def _link(name: str, mass: float, size: tuple, shape: bool) -> str:
    x, y, z = (mass * part for part in Box(size).moments)
    lengths = ' '.join(map(str, size))
    collision = f'<collision><geometry><box size="{lengths}"/></geometry></collision>'
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="{x}" iyy="{y}" '
        f'izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial>{collision if shape else ""}</link>'
    )


def _slide(name: str, parent: str, child: str, axis: str, place: str) -> str:
    return (
        f'<joint name="{name}" type="prismatic"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{place}"/><axis xyz="{axis}"/>'
        '<limit lower="-1e6" upper="1e6" effort="1e6" velocity="1e6"/></joint>'
    )


def gripper() -> str:
    """Return the URDF of a hand that moves up and down, with two parallel fingers."""
    reach = 0.5 * (_CUBE + _FINGER[1])
    return (
        '<robot name="gripper">'
        + _link('stand', 1.0, (0.1, 0.1, 0.1), False)
        + _link('hand', _HAND_MASS, (0.1, 0.1, 0.03), False)
        + _link('left', _FINGER_MASS, _FINGER, True)
        + _link('right', _FINGER_MASS, _FINGER, True)
        + _slide('lift', 'stand', 'hand', '0 0 1', f'0 0 {_CUBE / 2}')
        + _slide('left_finger', 'hand', 'left', '0 -1 0', f'0 {reach} 0.01')
        + _slide('right_finger', 'hand', 'right', '0 1 0', f'0 {-reach} 0.01')
        + '</robot>'
    )


def _lifting(t: float) -> tuple:
    """Return height, velocity and acceleration of the hand: a quintic after the grip closed."""
    s = min(1.0, max(0.0, (t - 0.2) / _LIFTING))
    height = 10 * s**3 - 15 * s**4 + 6 * s**5
    speed = (30 * s**2 - 60 * s**3 + 30 * s**4) / _LIFTING
    acceleration = (60 * s - 180 * s**2 + 120 * s**3) / _LIFTING**2
    return _LIFT * height, _LIFT * speed, _LIFT * acceleration


def _grip(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    z, rate, acceleration = _lifting(t)
    moved = _HAND_MASS + 2.0 * _FINGER_MASS
    moved += _LOAD if t > 0.2 else 0.0
    lift = moved * (GRAVITY + acceleration) + 2000.0 * (z - q[0]) + 80.0 * (rate - v[0])
    # Each finger is held in place by weak springs, and presses.
    return np.array([lift, _GRIP - 20.0 * v[1] - 50.0 * (q[1] - q[2]),
                     _GRIP - 20.0 * v[2] - 50.0 * (q[2] - q[1])])  # fmt: skip


def slip(scene: Scene, trajectory: Trajectory) -> float:
    """Return the displacement of the cube in the hand since it was lifted [m]."""
    begin = int(np.searchsorted(trajectory.time, 0.2 + _LIFTING))
    begin = min(begin, len(trajectory.time) // 2)
    held = trajectory.position[begin:, 0, 2] - trajectory.q[begin:, 0]
    return float(np.max(np.abs(held - held[0])))


GRIPPER = Scene(
    'gripper',
    'A gripper lifts a cube by friction and holds it',
    (Body('ground', Ground()), Body('cube', Box((_CUBE,) * 3), (0.0, 0.0, 0.5 * _CUBE),
                                    mass=_LOAD)),
    duration=11.2,
    quick=0.6,
    errors=(
        Error('slip in the hand while it is held [m]', slip, 1e-6),
        Error('forces on the cube at the end, relative error', load_error('cube', _LOAD), 1e-6),
    ),
    friction=_GRIP_MU,
    machine=Machine(gripper()),
    torque=_grip,
    control=_CONTROL,
    residual_goal=1e-6,
)  # fmt: skip

SCENES: List[Scene] = [GRIPPER]


def scenes() -> List[Scene]:
    """Return the scenes with a UR5.

    :raises FileNotFoundError: if example-robot-data is not installed
    """
    return [pressing_scene(), pushing_scene()]
