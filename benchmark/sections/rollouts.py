# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Many simultaneous motions, against MuJoCo's rollouts."""

from __future__ import annotations

from functools import lru_cache
import math
import os
import time
from typing import Any, Callable, Dict, List, Tuple

from contact_scenes.urdf import prepared, text_of
from measurement import Call, compare, machine, one_thread
import mujoco_models
import numpy as np
import robots
from rows import Row

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from sections.section import Section, Tools

NAME = 'rollouts'
STATES, STEPS, _TIMESTEP = 64, 1000, 1e-3
_PUSH = 0.02  # [N m, N]
_STIFFNESS, _DAMPING = 100.0, 3.0  # of a quadruped that stands [N m/rad, N m s/rad]
_STANCE = (0.0, 0.8, -1.6)  # of a standing quadruped [N m/rad, N m s/rad]
_ONE, _ALL, _FALLING = 'one thread', 'all threads', 'one thread, falling'
_FLOORS = {robots.UR5: 10.0, robots.PANDA: 10.0, robots.GO1: 3.0}
#: With contact: arms that press a square tool on the ground, and a quadruped.
_IN_CONTACT = 3.0
_COMPLIANT, _RIGID = (
    'one thread, pressing on compliant ground',
    'one thread, pressing on rigid ground',
)
_GO1_RIGID = 'one thread, rigid ground'
#: Pairs without contact in a world: the peer's robots have no self-contact either.
_NOT_ITSELF = [['robot', 'robot']]
_FACE, _THICK = 0.06, 0.04  # [m]
_PRESS = 20.0  # [N]
#: Link with the tool, whose z axis points down, and joint positions by name.
_TOOLS = {
    robots.UR5: (
        'tool0',
        {
            'shoulder_lift_joint': -1.3,
            'elbow_joint': 1.9,
            'wrist_1_joint': -0.5 * math.pi - 0.6,
            'wrist_2_joint': -0.5 * math.pi,
        },
    ),
    robots.PANDA: (
        'panda_link8',
        {
            'panda_joint2': -0.25 * math.pi,
            'panda_joint4': -0.75 * math.pi,
            'panda_joint6': 0.5 * math.pi,
        },
    ),
}


def _rows() -> List[Row]:
    rows = []
    for robot, floor in _FLOORS.items():
        rows += [Row(NAME, robot.name, what, 'x', floor) for what in (_ONE, _ALL)]
        if robot.floating_base:
            rows.append(Row(NAME, robot.name, _GO1_RIGID, 'x', _IN_CONTACT))
            continue
        rows.append(Row(NAME, robot.name, _FALLING, 'x', None))
        rows += [Row(NAME, robot.name, what, 'x', _IN_CONTACT) for what in (_COMPLIANT, _RIGID)]
    return rows


def _measure(row: Row, tools: Tools) -> None:
    robot = next(each for each in _FLOORS if each.name == row.robot)
    if row.function in (_COMPLIANT, _RIGID):
        ours, theirs, row.freedoms = _pressing(robot, row.function == _RIGID)
    else:
        rigid = row.function == _GO1_RIGID
        ours, theirs, row.freedoms = calls(robot, row.function == _FALLING, rigid)
    count = STATES * STEPS
    if row.function != _ALL:
        with one_thread():
            row.fill(
                compare(
                    Call(ours, states=count), Call(lambda: theirs(1), states=count), tools.seconds
                )
            )
        return
    threads = machine()['cores']
    if threads < 2:
        raise RuntimeError('there is one core only')
    row.fill(
        compare(
            Call(ours, states=count),
            Call(lambda: theirs(threads), states=count),
            tools.seconds,
            clock=time.perf_counter,
        )
    )


@lru_cache(maxsize=None)
def calls(
    robot: robots.RealRobot, falling: bool, rigid: bool, standing: bool = False
) -> Tuple[Callable[[], Any], Callable[[int], Any], List[int]]:
    """Return our call, the peer's by number of threads, and the DoFs of both models.

    Both write into existing arrays. Arms are held against gravity at their start, and pushed by
    torques that change every 0.1 s; a quadruped falls to the ground from a low height, and lies
    there.

    :param falling: whether an arm is not held, so that it soon reaches its joint limits, a gripper
        at once
    :param rigid: whether a quadruped falls on rigid ground
    :param standing: whether springs and dampers hold its joints, so that it stands there
    """
    path, on_ground = robots.find(robot), robot.floating_base
    model = Robot.from_urdf(path, floating_base=robot.floating_base)
    # Without self-contact, by Euler's method in both; our default is of second order.
    around: Dict[str, Any] = {'ground': HalfSpace()} if on_ground else {}
    if on_ground and rigid:
        around = {
            'world': {'objects': {'floor': {'type': 'plane'}}, 'disable_collisions': _NOT_ITSELF}
        }
    simulator = Simulator(model, _TIMESTEP, 'semi_implicit', **around)
    peer = mujoco_models.model(path, _TIMESTEP, robot.floating_base, on_ground)
    rng = np.random.default_rng(0)
    q = np.array([model.neutral()] * STATES)
    v, torque = np.zeros((STATES, model.nv)), np.zeros((STATES, STEPS, model.nv))
    if on_ground:
        # Above the ground, with bent knees: no initial penetration, no violated joint limits.
        q[:, 6] = rng.uniform(0.36, 0.42, STATES)
        q[:, 7:] = np.tile(_STANCE, 4) + rng.uniform(-0.1, 0.1, (STATES, model.nq - 7))
        if standing:
            simulator.set_joint_pd(q[0], kp=_STIFFNESS, kd=_DAMPING)
            peer.qpos_spring[7:], peer.jnt_stiffness[1:] = q[0, 7:], _STIFFNESS
            peer.dof_damping[6:] += _DAMPING
    else:
        q = np.array([model.random_configuration(rng) for _ in range(STATES)])
        pushes = rng.normal(size=(STATES, STEPS // 100, model.nv)) * _PUSH
        held = 0.0 if falling else model.gravity_torque(q)[:, None]
        torque = held + np.repeat(pushes, 100, axis=1)
    return _against(simulator, peer, q, v, torque)


@lru_cache(maxsize=None)
def _pressing(
    robot: robots.RealRobot, rigid: bool
) -> Tuple[Callable[[], Any], Callable[[int], Any], List[int]]:
    """Return the same for arms that press a box on the ground, with static friction.

    :param rigid: whether the ground is rigid
    """
    link, positions = _TOOLS[robot]
    size = {'size': f'{_FACE} {_FACE} {_THICK}'}
    text = prepared(text_of(robot), keep=(), add={link: [('box', size, (0.0, 0.0, 0.5 * _THICK))]})
    model = Robot.from_urdf(text)
    start = model.neutral()
    for joint, position in positions.items():
        start[model.joint_names.index(joint)] = position
    frame = Robot.from_urdf(text_of(robot)).frame(link, 'aligned')
    pose = frame.pose(start)
    face = pose[:3, 3] + pose[:3, :3] @ [0.0, 0.0, _THICK]
    J = frame.jacobian(start)
    J_face = J[3:] + np.cross(J[:3].T, face - pose[:3, 3]).T
    around = {'ground': HalfSpace(offset=face[2])}
    if rigid:
        floor = {'type': 'plane', 'xyz': [0.0, 0.0, float(face[2])]}
        around = {'world': {'objects': {'floor': floor}, 'disable_collisions': _NOT_ITSELF}}
    simulator = Simulator(model, _TIMESTEP, 'semi_implicit', **around)
    peer = mujoco_models.model_of(text, _TIMESTEP, False, True, face[2])
    rng = np.random.default_rng(0)
    pushes = rng.normal(size=(STATES, STEPS // 100, model.nv)) * _PUSH
    held = model.gravity_torque(start) + J_face.T @ [0.0, 0.0, -_PRESS]
    torque = held + np.repeat(pushes, 100, axis=1)
    q, v = np.array([start] * STATES), np.zeros((STATES, model.nv))
    return _against(simulator, peer, q, v, torque)


def _against(
    simulator: Simulator, peer: Any, q: np.ndarray, v: np.ndarray, torque: np.ndarray
) -> Tuple[Callable[[], Any], Callable[[int], Any], List[int]]:
    """Return our rollouts from some initial states, and those of a peer; see `calls`."""
    from mujoco import rollout

    model = simulator.robot
    out = simulator.rollout(q, v, torque)

    mujoco = mujoco_models.load()
    start = mujoco_models.states(peer, model, q, v)
    forces = np.zeros((STATES, STEPS, peer.nv))
    # Joints are in the same order; mimic joints are the last ones.
    forces[:, :, : model.nv] = torque
    if peer.nv == model.nv + 1:
        # One of a Panda's fingers mimics the other.
        forces[:, :, -2:] = torque[:, :, -1:] / 2.0  # of the gripper, for its two fingers
    states = np.empty((STATES, STEPS, start.shape[1]))
    data = [mujoco.MjData(peer) for _ in range(os.cpu_count() or 1)]

    def theirs(threads: int) -> None:
        rollout.rollout(
            peer,
            data[:threads],
            start,
            forces,
            control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED),
            state=states,
            persistent_pool=True,
        )

    def ours() -> None:
        simulator.rollout(q, v, torque, out=out)

    return ours, theirs, [model.nv, peer.nv]


SECTION = Section(
    f'Simulator.rollout: {STATES} motions of {STEPS} steps, against mujoco.rollout',
    _rows,
    _measure,
)
