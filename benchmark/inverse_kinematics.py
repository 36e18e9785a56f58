#!/usr/bin/env python3
# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics of arms, compared with Pinocchio, Robotics Toolbox and ikpy.

    benchmark/inverse_kinematics.py [--document docs/inverse_kinematics.md] [--poses 10000]
                                    [--seconds 20] [--robots UR5,Panda]

    pip install ikpy roboticstoolbox-python    # the peers beside pin; a missing one is skipped

Poses are those of uniformly random configurations within the joint limits. A pose counts as
reached if the solution is within the limits, and the frame within 1e-5 m and 1e-3 rad of it. All
solvers get the same poses, the peers as many as they solve in some seconds. Times are those of a
call from Python on one core, in processor time, and of a batch in wall-clock time. Exit code 1 if
rbd_ros reaches less than 99.5 % of the poses of a robot, or its median is above 50 us.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
import importlib
from importlib import metadata
import importlib.util
from math import pi, radians
from pathlib import Path
import sys
import tempfile
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple
import xml.etree.ElementTree as ElementTree

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from marked import Part, row  # noqa: E402
from measurement import machine, Progress  # noqa: E402
from measurement.text_table import columns  # noqa: E402
import numpy as np  # noqa: E402
from robots import find, PANDA, RealRobot, UR5  # noqa: E402
from scipy.spatial.transform import Rotation  # noqa: E402

from rbd_ros import Robot  # noqa: E402

PART = Part('measured inverse kinematics', 'benchmark/inverse_kinematics.py')
HEAD = ('Robot', 'Solver', 'Poses', 'Reached', 'Median [us]', 'Mean [us]')

PACKAGES = {'pin': 'pinocchio', 'roboticstoolbox-python': 'roboticstoolbox', 'ikpy': 'ikpy'}

NEAR, NEARLY_TURNED = 1e-5, 1e-3  # [m, rad]
BOUND = 1e-9  # rounding at a limit [rad]
LEAST_REACHED, MOST_MEDIAN = 0.995, 50e-6  # [1, s]

Solve = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Arm:
    """A robot, its tip, and figures published by TRAC-IK's authors.

    :param published: fraction of the poses that TRAC-IK reaches, and its mean time [s], by the
        README of bitbucket.org/traclabs/trac_ik: 10 000 poses, two threads, 5 ms for each
    """

    robot: Optional[RealRobot]
    tip: str
    published: Optional[Tuple[float, float]] = None


ARMS = {
    'UR5': Arm(UR5, 'tool0', (0.9917, 0.37e-3)),
    'Panda': Arm(PANDA, 'panda_link8', (0.9988, 0.37e-3)),
    'Kinova Jaco2': Arm(
        RealRobot('Jaco2', 'kinova_description/robots/kinova.urdf'),
        'j2s6s200_end_effector',
        (0.9992, 0.35e-3),
    ),
    'KUKA iiwa 14': Arm(None, 'tool', (0.9992, 0.28e-3)),
    'xArm7': Arm(RealRobot('xArm7', 'xarm_description/urdf/xarm7.urdf'), 'link7'),
}


def iiwa() -> str:
    """Return the kinematics of a KUKA LBR iiwa 14 R820, which example-robot-data lacks."""
    limits = (170, 120, 170, 120, 170, 120, 175)  # [deg]
    h = pi / 2
    places = (
        '0 0 0.1575" rpy="0 0 0', f'0 0 0.2025" rpy="{h} 0 {pi}', f'0 0.2045 0" rpy="{h} 0 {pi}',
        f'0 0 0.2155" rpy="{h} 0 0', f'0 0.1845 0" rpy="{-h} {pi} 0',
        f'0 0 0.2155" rpy="{h} 0 0', f'0 0.081 0" rpy="{-h} {pi} 0',
    )  # fmt: skip
    text = '<robot name="iiwa14"><link name="link_0"/>'
    for k, (limit, place) in enumerate(zip(limits, places), start=1):
        text += (
            f'<joint name="joint_{k}" type="revolute"><parent link="link_{k - 1}"/>'
            f'<child link="link_{k}"/><origin xyz="{place}"/><axis xyz="0 0 1"/><limit '
            f'lower="{-radians(limit)}" upper="{radians(limit)}" effort="300" velocity="2"/>'
            f'</joint><link name="link_{k}"><inertial><mass value="4"/><inertia ixx="0.1" '
            'iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
    return text + (
        '<joint name="end" type="fixed"><parent link="link_7"/><child link="tool"/>'
        '<origin xyz="0 0 0.045"/></joint><link name="tool"/></robot>'
    )


class Joint(NamedTuple):
    """A joint of a chain: its pose on its parent, its axis (None if fixed) and its limits."""

    origin: np.ndarray
    rpy: Tuple[float, ...]
    axis: Optional[np.ndarray]
    limits: Tuple[float, float]

    @property
    def place(self) -> np.ndarray:
        """Pose of the joint on its parent, (4, 4)."""
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = Rotation.from_euler('xyz', self.rpy).as_matrix(), self.origin
        return pose


def chain(path: Path, tip: str) -> Tuple[str, List[Joint]]:
    """Return the first link and the joints from it to the tip, for the peers."""
    parents = {j.find('child').get('link'): j for j in ElementTree.parse(path).findall('joint')}
    joints: List[Joint] = []
    while tip in parents:
        joint = parents[tip]
        origin, limit, axis = joint.find('origin'), joint.find('limit'), joint.find('axis')
        origin = {} if origin is None else origin.attrib
        numbers = [tuple(map(float, origin.get(k, '0 0 0').split())) for k in ('xyz', 'rpy')]
        fixed, endless = joint.get('type') == 'fixed', joint.get('type') == 'continuous'
        joints.insert(
            0,
            Joint(
                np.array(numbers[0]),
                numbers[1],
                None if fixed else np.array([float(x) for x in axis.get('xyz').split()]),
                (-2 * pi, 2 * pi)
                if fixed or endless
                else (float(limit.get('lower')), float(limit.get('upper'))),
            ),
        )
        tip = joint.find('parent').get('link')
    return tip, joints


# -- solvers: functions of an arm that return a function of a pose and a start


def rbd_ros_solver(robot: Robot, tip: str, path: Path) -> Solve:
    """Return our solver with its defaults: to 1e-9 m and rad."""
    frame = robot.frame(tip)
    return lambda pose: frame.inverse_kinematics(pose).q


def pinocchio_solver(robot: Robot, tip: str, path: Path) -> Solve:
    """Return the loop of Pinocchio's documentation to 1e-6, from the middle of the limits."""
    pin = importlib.import_module('pinocchio')
    model = pin.buildModelFromUrdf(str(path))
    data, frame, joints = model.createData(), model.getFrameId(tip), list(model.joints)[1:]
    # Positions of joints without limits are cosine and sine.
    start = pin.neutral(model)
    for joint, angle in zip(joints, middle(robot)):
        if joint.nq == 1:
            start[joint.idx_q] = angle
    damping = 1e-12 * np.eye(6)
    # It ignores limits; whole turns are removed afterwards.
    wide = robot.upper_limits - robot.lower_limits >= 2 * pi - 1e-6

    def solve(pose: np.ndarray) -> np.ndarray:
        desired, q = pin.SE3(pose), start.copy()
        for _ in range(1000):
            pin.framesForwardKinematics(model, data, q)
            apart = data.oMf[frame].actInv(desired)
            error = pin.log(apart).vector
            if np.linalg.norm(error) < 1e-6:
                break
            J = pin.computeFrameJacobian(model, data, q, frame)
            J = -pin.Jlog6(apart.inverse()) @ J
            q = pin.integrate(model, q, -0.1 * J.T @ np.linalg.solve(J @ J.T + damping, error))
        found = np.array(
            [
                np.arctan2(q[j.idx_q + 1], q[j.idx_q]) if j.nq == 2 else q[j.idx_q]
                for j in joints[: robot.nq]
            ]
        )
        return np.where(wide, (found + pi) % (2 * pi) - pi, found)

    return solve


def toolbox_solver(robot: Robot, tip: str, path: Path) -> Solve:
    """Return the Levenberg-Marquardt search in C++ of the Robotics Toolbox, with its defaults."""
    toolbox = importlib.import_module('roboticstoolbox')
    parts = []
    for joint in chain(path, tip)[1]:
        parts.append(toolbox.ET.SE3(joint.place))
        if joint.axis is not None:
            turn = np.eye(4)
            turn[:3, :3] = Rotation.align_vectors([joint.axis], [[0.0, 0.0, 1.0]])[0].as_matrix()
            parts.append(toolbox.ET.SE3(turn))
            parts.append(toolbox.ET.Rz(qlim=np.array(joint.limits)))
            parts.append(toolbox.ET.SE3(turn.T))
    solver = toolbox.ETS(parts)
    # Half of the squared error, that of 4.5e-6 m.
    return lambda pose: np.asarray(solver.ik_LM(pose, tol=1e-11).q)


def ikpy_solver(robot: Robot, tip: str, path: Path) -> Solve:
    """Return ikpy's optimizer for position and orientation, from the middle of the limits."""
    links, chains = importlib.import_module('ikpy.link'), importlib.import_module('ikpy.chain')
    joints = chain(path, tip)[1]
    parts = [links.OriginLink()]
    for k, joint in enumerate(joints):
        parts.append(
            links.URDFLink(
                str(k),
                joint.origin,
                joint.rpy,
                rotation=joint.axis,
                bounds=joint.limits,
                joint_type='fixed' if joint.axis is None else 'revolute',
            )
        )
    moving = [False, *(joint.axis is not None for joint in joints)]
    solver = chains.Chain(parts, active_links_mask=moving)
    start = np.zeros(len(parts))
    start[moving] = middle(robot)[: sum(moving)]

    def solve(pose: np.ndarray) -> np.ndarray:
        q = solver.inverse_kinematics_frame(pose, start, orientation_mode='all')
        return np.asarray(q)[moving]

    return solve


def middle(robot: Robot) -> np.ndarray:
    """Return the configuration in the middle of the limits, 0 for joints without."""
    bounded = np.isfinite(robot.lower_limits) & np.isfinite(robot.upper_limits)
    lower, upper = (np.where(bounded, x, 0.0) for x in (robot.lower_limits, robot.upper_limits))
    return 0.5 * (lower + upper)


class Solver(NamedTuple):
    """A solver by name, and the function that makes it for an arm."""

    label: str
    make: Callable[[Robot, str, Path], Solve]


SOLVERS = (
    Solver('rbd_ros', rbd_ros_solver),
    Solver('Robotics Toolbox, `ik_LM`', toolbox_solver),
    Solver('Pinocchio, CLIK loop', pinocchio_solver),
    Solver('ikpy', ikpy_solver),
)


# -- measurement


def is_reached(robot: Robot, tip: str, q: np.ndarray, pose: np.ndarray) -> bool:
    """Return whether a solution is within the limits and the tolerances."""
    q = np.r_[q, middle(robot)[len(q) :]]  # joints beyond the tip, such as fingers
    if (q < robot.lower_limits - BOUND).any() or (q > robot.upper_limits + BOUND).any():
        return False
    T = robot.frame(tip).pose(q)
    turn = Rotation.from_matrix(pose[:3, :3].T @ T[:3, :3]).magnitude()
    return bool(np.linalg.norm(T[:3, 3] - pose[:3, 3]) < NEAR and turn < NEARLY_TURNED)


def measure(name: str, poses: int, seconds: float, progress: Progress) -> Iterator[Dict[str, Any]]:
    """Yield the facts of each solver on an arm: label, poses, part solved, median, mean [s]."""
    arm = ARMS[name]
    with tempfile.TemporaryDirectory() as folder:
        if arm.robot is None:
            path = Path(folder) / 'iiwa.urdf'
            path.write_text(iiwa())
        else:
            path = find(arm.robot)
        robot = Robot.from_urdf(path)
        frame = robot.frame(arm.tip)
        goals = frame.pose(robot.random_configurations(poses, np.random.default_rng(1)))
        for solver in SOLVERS:
            progress.step(f'{name}, {solver.label}')
            try:
                solve = solver.make(robot, arm.tip, path)
            except ImportError as error:
                yield {'robot': name, 'solver': solver.label, 'skipped': str(error)}
                continue
            solve(goals[0])
            times, reached, end = [], 0, time.perf_counter() + seconds
            for pose in goals:
                begun = time.process_time()
                q = solve(pose)
                times.append(time.process_time() - begun)
                reached += is_reached(robot, arm.tip, q, pose)
                # Ours solves all of them, in less time.
                if solver.make is not rbd_ros_solver and time.perf_counter() > end:
                    break
            yield {
                'robot': name,
                'solver': solver.label,
                'poses': len(times),
                'reached': reached / len(times),
                'median': float(np.median(times)),
                'mean': float(np.mean(times)),
            }
            if solver.make is rbd_ros_solver:
                walls = []
                for _ in range(5):
                    begun = time.perf_counter()
                    found = frame.inverse_kinematics(goals)
                    walls.append(time.perf_counter() - begun)
                yield {
                    'robot': name,
                    'solver': 'rbd_ros, one batch',
                    'poses': poses,
                    'reached': float(found.reached.mean()),
                    'mean': min(walls) / poses,
                }
        if arm.published is not None:
            yield {
                'robot': name,
                'solver': 'TRAC-IK, published',
                'poses': 10_000,
                'reached': arm.published[0],
                'mean': arm.published[1],
            }


def cells(fact: Dict[str, Any]) -> Tuple[str, ...]:
    """Return the cells of a row."""
    if 'skipped' in fact:
        return fact['robot'], fact['solver'], '-', 'skipped', '-', '-'
    times = [f'{1e6 * fact[key]:.3g}' if key in fact else '-' for key in ('median', 'mean')]
    times = [f'{float(x):,.0f}'.replace(',', ' ') if 'e' in x else x for x in times]
    count = f'{fact["poses"]:,}'.replace(',', ' ')
    return fact['robot'], fact['solver'], count, f'{100 * fact["reached"]:.2f} %', *times


def markdown(facts: List[Dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the table for a document."""
    computer = machine()
    versions = ', '.join(
        f'{package} {metadata.version(package)}'
        for package, module in PACKAGES.items()
        if importlib.util.find_spec(module)
    )
    yield f'Measured on {computer["cpu"]}, {computer["cores"]} cores, beside {versions}.'
    yield ''
    yield row(HEAD)
    yield row([':---', ':---', *['---:'] * (len(HEAD) - 2)])
    yield from (row(cells(fact)) for fact in facts)


def main(argv: Optional[List[str]] = None) -> int:
    """Measure, print the table, and write it into a document."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--document', metavar='FILE.md', help='put the table into this file')
    parser.add_argument('--poses', type=int, default=10_000, help='poses of a robot')
    parser.add_argument('--seconds', type=float, default=20.0, help='for each of the peers')
    parser.add_argument('--robots', default=','.join(ARMS), metavar='NAME,...')
    parser.add_argument('--progress', action='store_true', default=None)
    arguments = parser.parse_args(argv)
    names = arguments.robots.split(',')
    unknown = set(names) - set(ARMS)
    if unknown:
        parser.error(f'unknown robots {sorted(unknown)}; there are {", ".join(ARMS)}')
    progress = Progress(arguments.progress, len(names) * len(SOLVERS))
    facts = [
        fact
        for name in names
        for fact in measure(name, arguments.poses, arguments.seconds, progress)
    ]
    progress.finish()
    print('\n'.join(columns([HEAD, *map(cells, facts)], rule_after=1)))
    for reason in sorted({fact['skipped'] for fact in facts if 'skipped' in fact}):
        print(f'skipped: {reason}')
    if arguments.document:
        PART.replace(Path(arguments.document), list(markdown(facts)))
    ours = [fact for fact in facts if fact['solver'] == 'rbd_ros']
    return int(any(f['reached'] < LEAST_REACHED or f['median'] > MOST_MEDIAN for f in ours))


if __name__ == '__main__':
    sys.exit(main())
