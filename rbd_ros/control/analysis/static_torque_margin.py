# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Check that a robot can hold itself still: gravity torque against effort limits over many poses.

Motion and friction are excluded, since friction is no reliable support. Joint springs are
included. If masses are unknown (a link with shapes has none), joints are not judged instead of
assuming zero.
"""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control.robot_joints import dof_names, listed
from rbd_ros.model import ModelError
from rbd_ros.model.floating_model import is_free
from rbd_ros.model.model import FLOATING_BASE_JOINT
from rbd_ros.model.payload import check_payload
from rbd_ros.model.unknown_masses import require_masses, unjudged_joints
from rbd_ros.robot import Robot

#: Relative tolerance of the limits for rounding.
TOLERANCE = 1e-9
#: Torque that counts as zero, for a limit of zero [N m or N].
NOTHING = 1e-9
_REACH = np.pi  # from neutral, for a joint without limits [rad or m]
_POINTS, _SWEEPS, _SHRINKS = 17, 2, 4


class UnjudgedError(ValueError):
    """A robot cannot be judged; the message gives the reason."""


class StaticTorqueMargin(NamedTuple):
    """Torques that hold a robot still in some poses, and the effort limits.

    :param joints: name of the joint of each degree of freedom, (nv,)
    :param configurations: poses, (N, nq) [rad or m]
    :param torques: holding torques, (N, nv) [N m or N]
    :param limits: effort limits, (nv,) [N m or N]; infinite without a limit
    :param unjudged: reasons, by joint, why it cannot be judged: it carries unknown masses

    >>> from rbd_ros.control import static_torque_margin
    >>> found = static_torque_margin(robot, np.array([np.zeros(6), q]))
    >>> found.worst_poses.shape, found.joints[int(np.argmin(found.margins))]
    ((6,), 'elbow_joint')
    >>> found.maxima  # [N m]
    array([ -0.   ,   2.505, -17.303,  -1.787,   0.302,   0.   ])
    >>> found.loads.shape, found.held, found.within_limits
    ((2, 6), array([ True,  True]), array([ True,  True]))
    """

    joints: Tuple[str, ...]
    configurations: FloatArray
    torques: FloatArray
    limits: FloatArray
    unjudged: Dict[str, str]

    @property
    def worst_poses(self) -> Any:
        """Index of the pose with the largest torque of each joint, (nv,)."""
        return np.argmax(np.abs(self.torques), axis=0)

    @property
    def maxima(self) -> FloatArray:
        """Torque of each joint in its worst pose, signed, (nv,) [N m or N]."""
        found: FloatArray = self.torques[self.worst_poses, np.arange(len(self.joints))]
        return found

    @property
    def loads(self) -> FloatArray:
        """Torques as fractions of the limits, (N, nv); zero without a limit.

        For a limit of zero, they are zero without torque and infinite with torque.
        """
        size = np.abs(self.torques)
        found: FloatArray = np.where(size > NOTHING, np.inf, 0.0)
        np.divide(size, self.limits, out=found, where=np.broadcast_to(self.limits > 0, size.shape))
        return found

    @property
    def margins(self) -> FloatArray:
        """Fraction of each limit that is left in the worst pose, (nv,); negative if exceeded.

        It is 1 without a limit.
        """
        found: FloatArray = 1.0 - self.loads.max(axis=0, initial=0.0)
        return found

    @property
    def held(self) -> Any:
        """Whether each pose is known to be held, (N,): False while a joint cannot be judged."""
        return self.within_limits & (not self.unjudged)

    @property
    def within_limits(self) -> Any:
        """Whether the torques of each pose are within limits, as far as masses are known, (N,)."""
        return (self.loads <= 1.0 + TOLERANCE).all(axis=1)


def static_torque_margin(
    robot: Robot,
    configurations: Any,
    gravity: Any = None,
    payload: Any = None,
    payload_link: Optional[str] = None,
) -> StaticTorqueMargin:
    """Return the torques that hold a robot still in some poses, against its effort limits.

    :param robot: robot on a fixed base; with loops, torques are those of its actuators
    :param configurations: poses, (N, nq) or (nq,) [rad or m]; with loops, the independent joints
        count, and the others are computed
    :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]; None: the robot's
    :param payload: ten inertial parameters, see `payload_parameters`; None: no payload
    :param payload_link: link that carries it
    :raises UnjudgedError: for a floating base, a robot without joints, or one whose moving links
        have no mass although there is gravity
    :raises ValueError: for an unknown link, numbers that are not finite, a pose with open loops,
        or a degree of freedom of the mechanism without an actuator

    >>> from rbd_ros.control import static_torque_margin, payload_parameters
    >>> found = static_torque_margin(robot, q)
    >>> found.maxima, found.held  # [N m]
    (array([ -0.   ,   2.505, -17.303,  -1.787,   0.302,   0.   ]), array([ True]))
    >>> load = payload_parameters(40.0)  # [kg]
    >>> static_torque_margin(robot, q, payload=load, payload_link='tool0').held
    array([False])
    """
    _check(robot)
    poses = np.atleast_2d(np.asarray(configurations, dtype=float))
    if poses.ndim != 2 or poses.shape[1] != robot.nq or not len(poses):
        raise ValueError(
            f'poses must have shape (N, {robot.nq}), one number for each of {robot.nq} position '
            f'variables, got {np.shape(configurations)}'
        )
    if not np.isfinite(poses).all():
        raise ValueError('poses must be finite; give numbers')
    torque = _holding_torque(robot, gravity, payload, payload_link)
    unjudged = _unjudged(robot, gravity, payload, payload_link)
    if robot.model.loops:
        from rbd_ros.control.analysis.closed_loop_statics import ClosedPoses

        loops = ClosedPoses(robot)
        poses, torque = loops.closed(poses), loops.held_by(torque)
    return StaticTorqueMargin(
        dof_names(robot), poses, torque(poses), np.array(robot.effort_limits), unjudged
    )


def worst_case_poses(
    robot: Robot,
    configurations: Any,
    gravity: Any = None,
    payload: Any = None,
    payload_link: Optional[str] = None,
) -> FloatArray:
    """Return the poses where single joints exert most.

    One for each degree of freedom, (nv, nq) [rad or m].

    The search begins with the worst of the poses that are given and goes along one joint after the
    other within its limits, so the result depends on the given poses, and is a local maximum.
    Joints with several degrees of freedom stay as they are. With loops there is no search: they
    are the worst of the poses that are given.

    :param robot: robot on a base that is held
    :param configurations: poses to begin with, (N, nq) [rad or m]
    :param gravity: as for `static_torque_margin`
    :param payload: as for `static_torque_margin`
    :param payload_link: as for `static_torque_margin`
    :raises ValueError: as `static_torque_margin`

    >>> from rbd_ros.control import worst_case_poses, static_torque_margin
    >>> poses = worst_case_poses(robot, [q])
    >>> np.abs(static_torque_margin(robot, poses).maxima[1:4])  # the arm stretched out [N m]
    array([61.666, 20.349,  1.909])
    """
    begin = static_torque_margin(robot, configurations, gravity, payload, payload_link)
    if robot.model.loops:
        worst: FloatArray = begin.configurations[begin.worst_poses]
        return worst
    torque = _holding_torque(robot, gravity, payload, payload_link)
    rows = np.arange(robot.nv)
    poses: FloatArray = begin.configurations[begin.worst_poses].copy()
    most = np.abs(begin.maxima)
    slices = robot.model.independent_slices.values()
    single = [at_q.start for at_q, _ in slices if at_q.stop - at_q.start == 1]
    lower, upper = np.array(robot.lower_limits), np.array(robot.upper_limits)
    for shrink in range(_SHRINKS):
        for _ in range(_SWEEPS):
            for j in single:
                low = lower[j] if np.isfinite(lower[j]) else -_REACH
                high = upper[j] if np.isfinite(upper[j]) else _REACH
                # First all of the range, then less and less about where the joint is.
                reach = 0.5 * (high - low) * (2.0 / (_POINTS - 1)) ** shrink
                center = poses[:, j] if shrink else np.full(robot.nv, 0.5 * (low + high))
                tried = center + reach * np.linspace(-1.0, 1.0, _POINTS)[:, None]
                tried = np.clip(tried, low, high)
                candidates = np.repeat(poses[None], _POINTS, axis=0)
                candidates[:, :, j] = tried
                found = torque(candidates.reshape(-1, robot.nq)).reshape(_POINTS, -1, robot.nv)
                sizes = np.abs(found[:, rows, rows])
                best = np.argmax(sizes, axis=0)
                better = sizes[best, rows] > most
                poses[better, j] = tried[best, rows][better]
                most = np.maximum(most, sizes[best, rows])
    return poses


def _check(robot: Robot) -> None:
    if robot.nv == 0:
        raise UnjudgedError(f'{robot.name!r} has no movable joint, so there is nothing to hold')
    free = [body.joint_name for body in robot.model.bodies if is_free(body) and body.parent == 0]
    if free:
        raise UnjudgedError(
            f'{robot.name!r} has a floating base, which no joint holds; load it with a fixed base'
            if free == [FLOATING_BASE_JOINT]
            else f'{robot.name!r} floats by its joint {listed(free)}, which cannot hold it; make '
            'the joint fixed in the description'
        )


def _unjudged(
    robot: Robot, gravity: Any, payload: Any, payload_link: Optional[str]
) -> Dict[str, str]:
    """Return why joints cannot be judged, by joint; none where there is no gravity."""
    g = np.asarray(robot.gravity if gravity is None else gravity, dtype=float)
    if not g.any():
        return {}
    try:
        require_masses(robot.model, g)
    except ModelError as error:
        raise UnjudgedError(str(error)) from None
    loads = {} if payload is None or payload_link is None else {payload_link: float(payload[0])}
    free = [body.joint_name for body in robot.model.bodies if is_free(body)]
    return {
        **unjudged_joints(robot.model, loads),
        **dict.fromkeys(free, 'it floats, so it cannot hold its links'),
    }


def _holding_torque(robot: Robot, gravity: Any, payload: Any, payload_link: Optional[str]) -> Any:
    """Return torques by poses, (N, nq) -> (N, nv): those against gravity and those of springs."""
    g: FloatArray = np.asarray(robot.gravity if gravity is None else gravity, dtype=float)
    if g.shape != (3,) or not np.isfinite(g).all():
        raise ValueError(f'gravity must be 3 finite numbers [m/s^2], got {gravity}')
    runtime, inputs = ['gravity'], [g]
    if payload is not None:
        if payload_link is None:
            raise ValueError('payload needs payload_link; give the link that carries the payload')
        runtime.append(f'payload:{payload_link}')
        inputs.append(check_payload(payload))
    function = robot.function('gravity_torque', runtime)
    stiffness, rest = robot.stiffness, robot.spring_rest
    springs = [
        (at_q.start, at_v.start)
        for at_q, at_v in robot.model.independent_slices.values()
        if at_q.stop - at_q.start == 1 and at_v.stop - at_v.start == 1
    ]

    def torque(poses: FloatArray) -> FloatArray:
        found: FloatArray = np.array(function(poses, *inputs))
        for at_q, at_v in springs:
            if stiffness[at_v] > 0.0:
                found[:, at_v] += stiffness[at_v] * (poses[:, at_q] - rest[at_v])
        return found

    return torque
