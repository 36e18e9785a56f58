# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics: configurations within the joint limits for a pose of a frame.

It uses Levenberg-Marquardt steps on the logarithm of the relative pose, with a damping
proportional to the squared error (Sugihara, Solvability-unconcerned inverse kinematics by the
Levenberg-Marquardt method, IEEE Trans. Robotics 27, 2011). Each step is a bounded least-squares
problem: joints that would leave their limits are held there, and the others compensate. If a
search gets stuck, another one starts from the next configuration of a fixed sequence. The public
function is `RobotFrame.inverse_kinematics`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
import itertools
import math
import threading
from typing import Any, Callable, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray, IntArray, pose_matrices, real_numbers
from rbd_ros.compiler.loops import (
    allocate,
    call_kernel,
    compiled,
    cross,
    entry_point,
    floats,
    integers,
    interpreted_reason,
    load_vec,
    Mat,
    Mat3,
    norm,
    Record,
    Vec,
    Vec3,
    view,
)
from rbd_ros.compiler.runtime.batches import threads
from rbd_ros.constraints.solvers.dense import factorize, solve_factorized
from rbd_ros.model import JointLimits, Model, ModelError
from rbd_ros.model.model import FLOATING_BASE_JOINT, position_periods
from rbd_ros.robot.kernels import Array, Kernels
from rbd_ros.robot.robot_configuration import neutral
from rbd_ros.robot.wraparound import whole_periods, Wraparound

#: Maximum numbers of steps of a search, of a correction after a posture step, and of the last
#: search, from the least error, if none reached the pose.
STEPS, CORRECTIONS, LAST_STEPS = 60, 8, 100
#: Number of steps without a reduction of the squared error by a third after which a search is
#: stuck.
PATIENCE = 6
#: Initial damping per half of the squared error; its factors after failed and successful steps.
DAMPING, MORE, LESS = 1.0, 8.0, 0.5
#: Minimum damping: steps are practically undamped, and singular directions cost no digits.
LEAST_DAMPING = 1e-12
#: Maximum motion of a joint in one step [rad or m].
MAX_STEP = 1.0
#: Maximum number of posture steps, and minimum fraction of one.
POSTURE_STEPS, LEAST_PART = 100, 1e-3
#: Tolerance of a pose to a homogeneous matrix, for rounding.
ROUNDING = 1e-6
#: Minimum tolerance, above rounding [m, rad].
LEAST_TOLERANCE = 1e-12
#: Maximum number of starts; larger numbers belong to the next seed.
MAX_STARTS = 10_000
#: Number of poses per task of a thread; batches below four times as many use one thread.
CHUNK = 16


class InverseKinematics(NamedTuple):
    """Configuration for a pose, and the remaining error of the frame.

    For N poses, all fields are arrays with a leading axis of length N.

    :param q: configuration within the joint limits, (nq,) [rad, m]
    :param reached: whether both errors are within the tolerance
    :param position_error: distance from the pose along the axes with a weight [m]
    :param rotation_error: angle from the pose about the axes with a weight [rad]
    :param iterations: number of steps in all searches
    :param starts: number of searches

    >>> found = robot.frame('tool0').inverse_kinematics(robot.frame('tool0').pose(q))
    >>> found.reached, bool(found.position_error < 1e-9), found.q.shape
    (True, True, (6,))
    """

    q: Array
    reached: Any
    position_error: Any
    rotation_error: Any
    iterations: Any
    starts: Any


class MovedFrame(NamedTuple):
    """Constants of a frame and the joints that move it.

    :param kinematics: address of the kernel frame_kinematics
    :param integrate: address of the kernel integrate
    :param difference: address of the kernel difference
    :param random_configuration: address of the kernel random_configuration
    :param moves: 1 for degrees of freedom that move the frame, otherwise 0, (nv,)
    :param stays: 1 for position variables that are constant, otherwise 0, (nq,)
    :param place: position variable of each degree of freedom with limits or a period, (nv,)
    :param lower: minimum positions, (nv,) [rad or m], -inf: no limit
    :param upper: maximum positions, likewise
    :param periods: periods of positions, (nv,) [rad], 0: not periodic
    :param rates: 1 / period, likewise
    :param ratios: increments of the sequence of starts, irrational, (uniforms,)
    """

    kinematics: int
    integrate: int
    difference: int
    random_configuration: int
    moves: IntArray
    stays: IntArray
    place: IntArray
    lower: FloatArray
    upper: FloatArray
    periods: FloatArray
    rates: FloatArray
    ratios: FloatArray


class Search(NamedTuple):
    """Buffers of a search.

    :param found: outputs of the kernel frame_kinematics
    :param T: view of these, the pose, (4, 4)
    :param J: view of these, the Jacobian, (6, nv)
    :param moving: inputs of the kernel integrate
    :param q: view of these, the configuration, (nq,)
    :param step: view of these, the step, (nv,)
    :param duration: view of these, the time, always 1
    :param difference_inputs: inputs of the kernel difference
    :param here: view of these, the configuration, (nq,)
    :param there: view of these, the posture, (nq,)
    :param pull: its output, the step to the posture, (nv,)
    :param trial: configuration after a step, (nq,)
    :param best: configuration with the least error so far, (nq,)
    :param uniform: inputs of the kernel random_configuration
    :param residual: weighted errors, rotation first, along the axes of the pose, (6,)
    :param next: residual after a step, likewise
    :param turn: rotation vector from the pose to the frame, along the axes of the pose, (3,)
    :param errors: position and rotation error, (2,) [m, rad]
    :param columns: derivatives of the residual, (nv, 6)
    :param free: 1 for degrees of freedom that are not held at a limit, otherwise 0, (nv,)
    :param matrix: matrix of the step, (6, 6)
    :param solution: its unknowns, (6,)
    """

    found: FloatArray = view()
    T: FloatArray = floats(4, 4, within='found')
    J: FloatArray = floats(6, 'nv', within='found')
    moving: FloatArray = view()
    q: FloatArray = floats('nq', within='moving')
    step: FloatArray = floats('nv', within='moving')
    duration: FloatArray = floats(1, within='moving')
    difference_inputs: FloatArray = view()
    here: FloatArray = floats('nq', within='difference_inputs')
    there: FloatArray = floats('nq', within='difference_inputs')
    pull: FloatArray = floats('nv')
    trial: FloatArray = floats('nq')
    best: FloatArray = floats('nq')
    uniform: FloatArray = floats('uniforms')
    residual: FloatArray = floats(6)
    next: FloatArray = floats(6)
    turn: FloatArray = floats(3)
    errors: FloatArray = floats(2)
    columns: FloatArray = floats('nv', 6)
    free: IntArray = integers('nv')
    matrix: FloatArray = floats(6, 6)
    solution: FloatArray = floats(6)


class Goals(NamedTuple):
    """Poses and their results; see `InverseKinematics`.

    :param poses: homogeneous matrices, (N, 4, 4)
    :param start: configurations of the first search, (N, nq)
    :param posture: preferred configuration, (nq,)
    :param weights: weights of rotation and position along the axes of the pose, (6,)
    :param q: result, (N, nq)
    :param errors: result, position and rotation error, (N, 2) [m, rad]
    :param counts: result, whether it is reached, steps and starts, (N, 3)
    """

    poses: FloatArray = floats('poses', 4, 4)
    start: FloatArray = floats('poses', 'nq')
    posture: FloatArray = floats('nq')
    weights: FloatArray = floats(6)
    q: FloatArray = floats('poses', 'nq')
    errors: FloatArray = floats('poses', 2)
    counts: IntArray = integers('poses', 3)


@compiled
def rotation_part(pose: FloatArray) -> Mat3:
    """Return the rotation of a homogeneous matrix, (4, 4)."""
    return Mat(load_vec(pose[0], 3), load_vec(pose[1], 3), load_vec(pose[2], 3))


@compiled
def position_part(pose: FloatArray) -> Vec3:
    """Return the position of a homogeneous matrix, (4, 4)."""
    return Vec(pose[0, 3], pose[1, 3], pose[2, 3])


@compiled
def rotation_vector(R: Mat3) -> Vec3:
    """Return axis times angle of a rotation, computed by its quaternion.

    The matrix gives four multiples of the quaternion; the one with the largest component is used,
    to avoid cancellation near half a turn.
    """
    x, y, z = R[0][0], R[1][1], R[2][2]
    a, b, c = R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]
    d, e, f = R[0][1] + R[1][0], R[0][2] + R[2][0], R[1][2] + R[2][1]
    w, axis = 1.0 + x + y + z, Vec(a, b, c)
    if w < 1.0:
        if x >= y and x >= z:
            w, axis = a, Vec(1.0 + x - y - z, d, e)
        elif y >= z:
            w, axis = b, Vec(d, 1.0 + y - x - z, f)
        else:
            w, axis = c, Vec(e, f, 1.0 + z - x - y)
    sine = norm(axis)
    if sine < 1e-150:
        return Vec(0.0, 0.0, 0.0)
    # A quaternion and its negative are the same rotation: the angle is at most pi.
    return (2.0 * math.atan2(sine, abs(w)) / (sine if w >= 0.0 else -sine)) * axis


@compiled
def is_pose(pose: FloatArray) -> bool:
    """Return whether a matrix, (4, 4), is a rotation, a finite position, and 0 0 0 1 below."""
    R, p = rotation_part(pose), position_part(pose)
    off = norm(cross(R[0], R[1]) - R[2]) + norm(cross(R[1], R[2]) - R[0])
    off += abs(norm(R[0]) - 1.0) + norm(load_vec(pose[3], 3)) + abs(pose[3, 3] - 1.0)
    # NaN compares as False.
    return off < ROUNDING and math.isfinite(p @ p)


@compiled
def find_residual(
    frame: MovedFrame, goals: Goals, search: Search, row: int, q: FloatArray, residual: FloatArray
) -> float:
    """Compute the weighted errors in a configuration; return their squared sum.

    :param q: configuration, (nq,)
    :param residual: the result, (6,)
    """
    call_kernel(frame.kinematics, q, search.found)
    pose, T, weights = goals.poses[row], search.T, goals.weights
    inverse = rotation_part(pose).T
    turn = rotation_vector(inverse @ rotation_part(T))
    shift = inverse @ (position_part(T) - position_part(pose))
    search.turn[:3] = turn
    position = rotation = total = 0.0
    for k in range(3):
        residual[k], residual[k + 3] = weights[k] * turn[k], weights[k + 3] * shift[k]
        rotation += turn[k] * turn[k] if weights[k] > 0.0 else 0.0
        position += shift[k] * shift[k] if weights[k + 3] > 0.0 else 0.0
        total += residual[k] * residual[k] + residual[k + 3] * residual[k + 3]
    search.errors[0], search.errors[1] = math.sqrt(position), math.sqrt(rotation)
    return total


@compiled
def find_columns(frame: MovedFrame, goals: Goals, search: Search, row: int) -> None:
    """Compute the derivatives of the residual in its last configuration.

    The rotation D = exp(turn) of the frame in axes of the pose has the rate [w]x D. So the rate of
    the rotation vector is the inverse left Jacobian of SO(3) times the angular velocity w.
    """
    pose, J, weights = goals.poses[row], search.J, goals.weights
    inverse, turn = rotation_part(pose).T, load_vec(search.turn, 3)
    square = turn @ turn
    half = 0.5 * math.sqrt(square)
    # (1 - (x/2) cot(x/2)) / x^2, or its limit in case of cancellation
    quotient = 1.0 / 12.0
    if square > 1e-4:
        quotient = (1.0 - half * math.cos(half) / math.sin(half)) / square
    for i in range(len(frame.moves)):
        if frame.moves[i] == 0:
            continue
        w, v = Vec(J[0, i], J[1, i], J[2, i]), Vec(J[3, i], J[4, i], J[5, i])
        w, v = inverse @ w, inverse @ v
        across = cross(turn, w)
        w = w - 0.5 * across + quotient * cross(turn, across)
        column = search.columns[i]
        for k in range(3):
            column[k], column[k + 3] = weights[k] * w[k], weights[k + 3] * v[k]


@compiled
def find_step(frame: MovedFrame, search: Search, damping: float) -> None:
    """Compute the step s within the limits with the least |r + J s|^2 + damping |s - pull|^2.

    For the free degrees of freedom, s = pull + J^T y with (J J^T + damping) y = -(r + J pull): a
    system of size six for any number of joints. Those that would leave their limits are held
    there, as part of r, until none does.
    """
    columns, matrix, y, step, free = (
        search.columns,
        search.matrix,
        search.solution,
        search.step,
        search.free,
    )
    n, held = len(step), 1
    for i in range(n):
        step[i], free[i] = search.pull[i] if frame.moves[i] == 1 else 0.0, frame.moves[i]
    while held > 0:
        for j in range(6):
            y[j] = -search.residual[j]
            for k in range(j, 6):
                matrix[j, k] = damping if j == k else 0.0
        for i in range(n):
            if frame.moves[i] == 1:
                column = columns[i]
                for j in range(6):
                    y[j] -= column[j] * step[i]
                    if free[i] == 1:
                        for k in range(j, 6):
                            matrix[j, k] += column[j] * column[k]
        factorize(matrix, 6)
        solve_factorized(matrix, y, 6)
        held = 0
        for i in range(n):
            if free[i] == 1:
                s = search.pull[i]
                for j in range(6):
                    s += columns[i, j] * y[j]
                bounded = s
                if frame.periods[i] == 0.0:
                    at = search.q[frame.place[i]]
                    bounded = min(max(s, frame.lower[i] - at), frame.upper[i] - at)
                if bounded != s:
                    step[i], free[i], held = bounded, 0, held + 1
    for i in range(n):
        if free[i] == 1:
            for j in range(6):
                step[i] += columns[i, j] * y[j]


@compiled
def take_step(frame: MovedFrame, search: Search, part: float) -> None:
    """Compute the trial configuration after a fraction of the step, shortened if it is long.

    :param part: the fraction
    """
    longest = 0.0
    for i in range(len(search.step)):
        longest = max(longest, abs(search.step[i]))
    if part * longest > MAX_STEP:
        part = MAX_STEP / longest
    for i in range(len(search.step)):
        search.step[i] *= part
    call_kernel(frame.integrate, search.moving, search.trial)
    clamp(frame, search.trial)


@compiled
def clamp(frame: MovedFrame, q: FloatArray) -> None:
    """Move a configuration into the limits, by whole turns if possible."""
    for i in range(len(frame.lower)):
        at, lower, upper = frame.place[i], frame.lower[i], frame.upper[i]
        if lower > -math.inf or upper < math.inf:
            x = q[at]
            if x > upper:
                x -= frame.periods[i] * math.ceil((x - upper) * frame.rates[i])
            if x < lower:
                x += frame.periods[i] * math.ceil((lower - x) * frame.rates[i])
            q[at] = min(max(x, lower), upper)


@compiled
def is_near(search: Search, tolerance: float) -> bool:
    """Return whether both errors are within the tolerance [m, rad]."""
    near: bool = search.errors[0] <= tolerance and search.errors[1] <= tolerance
    return near


@compiled
def descend(
    frame: MovedFrame,
    goals: Goals,
    search: Search,
    row: int,
    steps: int,
    patience: int,
    tolerance: float,
) -> int:
    """Search from a configuration until the pose is reached or the search is stuck.

    :param steps: maximum number of steps
    :param patience: steps without a reduction of the squared error by a third until it is stuck
    :param tolerance: tolerance of both errors [m, rad]
    :return: number of steps; `search.errors` and `search.q` are the final values
    """
    error = find_residual(frame, goals, search, row, search.q, search.residual)
    damping, slow, count = DAMPING, 0, 0
    moved = True
    while not is_near(search, tolerance) and count < steps and slow < patience:
        if moved:
            find_columns(frame, goals, search, row)
        position, rotation = search.errors[0], search.errors[1]
        find_step(frame, search, 0.5 * damping * error + LEAST_DAMPING)
        take_step(frame, search, 1.0)
        after = find_residual(frame, goals, search, row, search.trial, search.next)
        count += 1
        moved = after < error
        # NaN counts as no progress.
        slow = 0 if after < 0.67 * error else slow + 1
        if moved:
            error, damping = after, damping * LESS
            copy(search.trial, search.q)
            copy(search.next, search.residual)
        else:
            damping *= MORE
            search.errors[0], search.errors[1] = position, rotation
    return count


@compiled
def copy(x: FloatArray, y: FloatArray) -> None:
    """Copy x to y."""
    for i in range(len(x)):
        y[i] = x[i]


@compiled
def begin_at(frame: MovedFrame, goals: Goals, search: Search, row: int, number: int) -> None:
    """Set the initial configuration of a search.

    The fractional parts of k a, with an irrational number a for each dimension, cover the joint
    space more evenly than random numbers, and are the same on every machine.

    :param number: 0 for the given start, otherwise the number of a start
    """
    if number == 0:
        copy(goals.start[row], search.q)
        clamp(frame, search.q)
        return
    for j in range(len(frame.ratios)):
        x = 0.5 + float(number) * frame.ratios[j]
        search.uniform[j] = x - math.floor(x)
    call_kernel(frame.random_configuration, search.uniform, search.q)
    for j in range(len(frame.stays)):
        if frame.stays[j] == 1:
            search.q[j] = goals.start[row, j]


@compiled
def distance_of_posture(frame: MovedFrame, search: Search, q: FloatArray) -> float:
    """Compute the difference from a configuration to the posture; return its squared norm."""
    copy(q, search.here)
    call_kernel(frame.difference, search.difference_inputs, search.pull)
    total = 0.0
    for i in range(len(search.pull)):
        if frame.moves[i] == 1:
            beyond = whole_periods(search.pull[i], frame.periods[i], frame.rates[i])
            search.pull[i] -= beyond
            total += search.pull[i] * search.pull[i]
    return total


@compiled
def approach_posture(
    frame: MovedFrame, goals: Goals, search: Search, row: int, tolerance: float
) -> int:
    """Move towards the posture while the pose stays reached; return the number of steps.

    The step that is nearest to the posture and keeps the pose, to first order, is that of
    `find_step` with the difference to the posture as pull. Steps without pull correct the second
    order.
    """
    copy(goals.posture, search.there)
    copy(search.q, search.best)
    distance, part, count = distance_of_posture(frame, search, search.q), 1.0, 0
    for _ in range(POSTURE_STEPS):
        copy(search.best, search.q)
        find_residual(frame, goals, search, row, search.q, search.residual)
        find_columns(frame, goals, search, row)
        distance = distance_of_posture(frame, search, search.q)
        find_step(frame, search, LEAST_DAMPING)
        take_step(frame, search, part)
        copy(search.trial, search.q)
        for i in range(len(search.pull)):
            search.pull[i] = 0.0
        count += 1 + descend(frame, goals, search, row, CORRECTIONS, CORRECTIONS, tolerance)
        nearer = distance_of_posture(frame, search, search.q)
        if is_near(search, tolerance) and nearer < distance:
            copy(search.q, search.best)
            part = min(1.0, 2.0 * part)
            if distance - nearer < 1e-12 * distance:
                break
        else:
            part *= 0.25
            if part < LEAST_PART:
                break
    copy(search.best, search.q)
    find_residual(frame, goals, search, row, search.q, search.residual)
    for i in range(len(search.pull)):
        search.pull[i] = 0.0
    return count


@entry_point
def reach_poses(
    frame: MovedFrame,
    search: Search,
    goals: Goals,
    first: int,
    last: int,
    first_start: int,
    starts: int,
    with_posture: int,
    tolerance: float,
) -> int:
    """Find a configuration for each of some poses.

    :param first: index of the first pose
    :param last: index after the last pose
    :param first_start: number of the start after the first one
    :param starts: maximum number, including the first one; that is `goals.start` if positive,
        omitted if negative
    :param with_posture: 1 if there is a posture, otherwise 0
    :param tolerance: tolerance of both errors [m, rad]
    :return: index of the first invalid pose, -1 if there is none
    """
    for row in range(first, last):
        if not is_pose(goals.poses[row]):
            return row
        least, steps, count = math.inf, 0, 0
        while count < abs(starts):
            number = 0 if count == 0 and starts > 0 else first_start + count
            begin_at(frame, goals, search, row, number)
            steps += descend(frame, goals, search, row, STEPS, PATIENCE, tolerance)
            count += 1
            near = is_near(search, tolerance)
            error = 0.0
            for k in range(6):
                error += search.residual[k] * search.residual[k]
            if near or error < least:
                least = error
                copy(search.q, goals.q[row])
                copy(search.errors, goals.errors[row])
            if near:
                if with_posture == 1:
                    steps += approach_posture(frame, goals, search, row, tolerance)
                    copy(search.q, goals.q[row])
                    copy(search.errors, goals.errors[row])
                break
        if goals.errors[row, 0] > tolerance or goals.errors[row, 1] > tolerance:
            # An unreachable pose is approached as closely as possible.
            copy(goals.q[row], search.q)
            steps += descend(frame, goals, search, row, LAST_STEPS, LAST_STEPS, tolerance)
            copy(search.q, goals.q[row])
            copy(search.errors, goals.errors[row])
        counts = goals.counts[row]
        counts[0] = 1 if goals.errors[row, 0] <= tolerance else 0
        if goals.errors[row, 1] > tolerance:
            counts[0] = 0
        counts[1], counts[2] = steps, count
        # Of equivalent positions, use the one nearest to the posture or to the start.
        q = goals.q[row]
        for i in range(len(frame.periods)):
            if frame.periods[i] > 0.0 and frame.moves[i] == 1:
                at = frame.place[i]
                to = goals.posture[at] if with_posture == 1 else goals.start[row, at]
                q[at] -= whole_periods(q[at] - to, frame.periods[i], frame.rates[i])
        clamp(frame, q)
    return -1


class InverseKinematicsSolver:
    """Implementation of `RobotFrame.inverse_kinematics`.

    :param kernels: kernels of the robot
    :param name: name of the link or joint
    :raises ModelError: for a robot with kinematic loops, and for a frame that no joint moves
    """

    def __init__(self, kernels: Kernels, name: str):
        model = kernels.model
        if model.loops:
            loops = ', '.join(repr(loop.name) for loop in model.loops)
            raise ModelError(
                f'inverse kinematics of {name!r}: {model.name!r} has kinematic loops ({loops}), '
                'which it would not keep closed; leave them out of the extension file to solve '
                'for the tree'
            )
        self._kernels, self._name = kernels, name
        self._neutral = neutral(model)
        # Machine code is called by address: keep the kernels alive.
        self._used = (
            kernels.get('frame_kinematics', frame=name, reference='aligned'),
            kernels.get('integrate'),
            kernels.get('difference'),
            kernels.get('random_configuration'),
        )
        a, b, c, d = (int(each.address) for each in self._used)
        frame = _moved_frame(model, name, (a, b, c, d))
        self._frame = Record(frame)
        self._sizes = {'nq': model.nq, 'nv': model.nv, 'uniforms': len(frame.ratios)}
        # Each call writes buffers: every thread needs its own.
        self._of_thread = threading.local()

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self._kernels, self._name)

    def solve(
        self,
        pose: ArrayLike,
        start: Optional[ArrayLike],
        weights: ArrayLike,
        posture: Optional[ArrayLike],
        tolerance: float,
        starts: int,
        seed: int,
    ) -> InverseKinematics:
        """See `RobotFrame.inverse_kinematics`."""
        poses = pose_matrices('pose', pose)
        if poses.ndim not in (2, 3) or poses.shape[-2:] != (4, 4):
            raise ValueError(f'pose must have shape (4, 4) or (N, 4, 4), got {poses.shape}')
        if not LEAST_TOLERANCE <= tolerance < math.inf:
            raise ValueError(f'tolerance must be at least {LEAST_TOLERANCE:g}, got {tolerance}')
        if not 1 <= starts <= MAX_STARTS:
            raise ValueError(f'starts must be from 1 to {MAX_STARTS}, got {starts}')
        if not 0 <= seed <= MAX_STARTS:
            raise ValueError(f'seed must be from 0 to {MAX_STARTS}, got {seed}')
        many = poses.ndim == 3
        goals, run = self._many(len(poses)) if many else self._one()
        goals.poses[...] = poses
        goals.weights[...] = _checked_weights(weights)
        goals.start[...] = (
            self._neutral if start is None else self._state('start', start, len(goals.poses))
        )
        if posture is not None:
            goals.posture[...] = self._state('posture', posture)
        wrong = run(
            seed * MAX_STARTS,
            starts if start is not None else -starts,
            int(posture is not None),
            float(tolerance),
        )
        if wrong >= 0:
            raise ValueError(
                f'{f"pose {wrong}" if many else "pose"} must be a homogeneous matrix: a rotation, '
                'a finite position, and 0 0 0 1 below'
            )
        if many:
            (position, rotation), (reached, *counts) = goals.errors.T, goals.counts.T
            return InverseKinematics(goals.q, reached == 1, position, rotation, *counts)
        (errors,), ((reached, *counts),) = goals.errors.tolist(), goals.counts.tolist()
        return InverseKinematics(goals.q[0].copy(), reached == 1, *errors, *counts)

    def _one(self) -> Tuple[Goals, Callable[..., int]]:
        """Return this thread's record of one pose, and the loop that is bound to it.

        Bound once, so that a call only creates its result.
        """
        bound: Optional[Tuple[Goals, Callable[..., int]]] = getattr(self._of_thread, 'one', None)
        if bound is None:
            goals = allocate(Goals, poses=1, nq=len(self._neutral))
            run = reach_poses.bind(self._frame, self._search(), Record(goals))
            bound = self._of_thread.one = goals, partial(run, 0, 1)
        return bound

    def _many(self, rows: int) -> Tuple[Goals, Callable[..., int]]:
        """Return a record of many poses, and a function that distributes them to threads."""
        goals = allocate(Goals, poses=rows, nq=len(self._neutral))
        record, firsts = Record(goals), itertools.count(0, CHUNK)

        def work(options: Tuple[Any, ...]) -> int:
            run, wrong = reach_poses.bind(self._frame, self._search(), record), -1
            # Machine code cannot be interrupted: signals are handled between chunks.
            while wrong < 0 and (first := next(firsts)) < rows:
                wrong = run(first, min(first + CHUNK, rows), *options)
            return wrong

        def run(*options: Any) -> int:
            count = 1 if interpreted_reason() else min(threads(), rows // (2 * CHUNK))
            if count < 2:
                return work(options)
            with ThreadPoolExecutor(count - 1, 'inverse kinematics') as pool:
                helpers = [pool.submit(work, options) for _ in range(count - 1)]
                found = [work(options), *(each.result() for each in helpers)]
            return min((wrong for wrong in found if wrong >= 0), default=-1)

        return goals, run

    def _state(self, name: str, given: ArrayLike, rows: int = 1) -> FloatArray:
        q, shape = real_numbers(name, given), self._neutral.shape
        if q.shape != shape and (rows == 1 or q.shape != (rows, *shape)):
            batch = f' or {(rows, *shape)}' if rows > 1 else ''
            raise ValueError(f'{name} must have shape {shape}{batch}, got {q.shape}')
        if not np.isfinite(q).all():
            raise ValueError(f'{name} must be finite, got {q.tolist()}')
        return q

    def _search(self) -> Record:
        """Return the buffers of this thread."""
        record: Optional[Record] = getattr(self._of_thread, 'search', None)
        if record is None:
            fields = allocate(Search, **self._sizes)
            fields.duration[0] = 1.0
            record = self._of_thread.search = Record(fields)
        return record


def _moved_frame(model: Model, name: str, addresses: Tuple[int, int, int, int]) -> MovedFrame:
    """Return the constants of a frame.

    :param addresses: addresses of the kernels, in the order of the fields
    """
    nv, nq = model.nv, model.nq
    lower, upper = np.full(nv, -math.inf), np.full(nv, math.inf)
    moves, stays = np.zeros(nv, dtype=np.int64), np.ones(nq, dtype=np.int64)
    place = np.zeros(nv, dtype=np.int64)
    # Mimic joints count as the joints that they follow.
    supports = {model.tree_dof_index[dof] for dof in model.support_dofs(model.frame(name).body)}
    uniforms = 0
    for i, (at_q, at_v) in model.independent_slices.items():
        body = model.body(i)
        uniforms += body.joint.uniforms
        place[at_v] = at_q.start
        if body.joint.nq == 1:
            lower[at_v], upper[at_v] = model.limits[i].lower, model.limits[i].upper
        if at_v.start in supports and body.joint_name != FLOATING_BASE_JOINT:
            moves[at_v], stays[at_q] = 1, 0
    if not moves.any():
        raise ModelError(f'inverse kinematics of {name!r}: no joint of {model.name!r} moves it')
    # Joints with limits a whole turn apart can reach any angle, like those without limits.
    unlimited = replace(
        model, bodies=tuple(replace(body, limits=JointLimits()) for body in model.bodies)
    )
    periods = np.array(position_periods(unlimited))
    wraparound = Wraparound(np.where(upper - lower >= periods - ROUNDING, periods, math.inf))
    return MovedFrame(
        *addresses,
        moves,
        stays,
        place,
        lower,
        upper,
        wraparound.periods,
        wraparound.rates,
        _ratios(uniforms),
    )


def _ratios(dimensions: int) -> FloatArray:
    """Return the powers of 1 / g with g^(d + 1) = g + 1, the generalized golden ratio."""
    g = 2.0
    for _ in range(64):
        g = (1.0 + g) ** (1.0 / (dimensions + 1.0))
    return np.array([g ** -(k + 1.0) for k in range(dimensions)])


def _checked_weights(given: Any) -> Sequence[float]:
    try:
        weights = [float(weight) for weight in given]
    except (TypeError, ValueError):
        weights = []
    # NaN compares as False.
    if len(weights) != 6 or not all(0.0 <= weight < math.inf for weight in weights):
        raise ValueError(
            'weights must be six finite numbers from 0 on, three of rotation and three of '
            f'position, got {given}'
        )
    if not any(weights):
        raise ValueError('weights are all 0, which leaves nothing to reach')
    return weights
