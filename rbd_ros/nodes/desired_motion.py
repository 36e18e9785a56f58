"""Desired motion of the inverse-dynamics node: a held position, or a trajectory.

Times are those of `joint_states` stamps, in whole nanoseconds, so that the motion is exact in
simulated time whatever the rate of /clock.
"""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage

from rbd_ros.control import JointTrajectory, TrajectoryError
from rbd_ros.nodes.conversions import MessageProblem, NANOSECONDS, nanoseconds, trajectory_fields
from rbd_ros.robot import Robot

LONGEST_DELAY = 3600.0  # a trajectory that begins later than this surely means another clock [s]


class DesiredMotion:
    """Where the robot should be at any time.

    :param robot: the robot
    """

    def __init__(self, robot: Robot):
        self._robot = robot
        self._hold = robot.neutral()
        self._active: Optional[JointTrajectory] = None
        self._next: Optional[JointTrajectory] = None
        self._begin = self._next_begin = 0
        self._warm_up()

    def _warm_up(self) -> None:
        """Have everything imported that a trajectory needs, before torque depends on it."""
        q = self._robot.neutral()
        rows = np.array([q, q])
        for others in ({}, {'velocities': 0.0 * rows}):
            trajectory = JointTrajectory(self._robot.joint_names, [1.0, 2.0], rows, **others)
            trajectory = trajectory.starting_from(q, np.zeros(self._robot.nv))
            trajectory.check_limits(*(np.full(len(q), x) for x in (-np.inf, np.inf, np.inf)))
            trajectory.sample(0.5)

    @property
    def following(self) -> bool:
        """Whether there is a trajectory that has not ended."""
        return self._active is not None or self._next is not None

    def hold(self, q: np.ndarray) -> None:
        """Drop all trajectories and hold position `q`, (n,)."""
        self._hold = np.array(q)
        self._active = self._next = None

    def sample(self, time: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Desired position, velocity and acceleration at `time` [ns], each (n,)."""
        if self._next is not None and time >= self._next_begin:
            self._active, self._begin, self._next = self._next, self._next_begin, None
        return self._sample_active(time)

    def _sample_active(self, time: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self._active is None:
            rest = np.zeros(self._robot.nv)
            return self._hold, rest, rest
        return self._active.sample((time - self._begin) / NANOSECONDS)

    def ended(self, time: int) -> bool:
        """Note, once, that the trajectory has ended: its last position is held from then on."""
        if self._active is None or self._next is not None:
            return False
        if (time - self._begin) / NANOSECONDS < self._active.end_time:
            return False
        self.hold(self._active.sample(self._active.end_time)[0])
        return True

    def follow(
        self,
        message: JointTrajectoryMessage,
        now: int,
        *,
        allow_partial: bool = False,
        check_limits: bool = True,
        start_tolerance: float = 0.0,
    ) -> str:
        """Replace the motion by that of a message from its start on; on an error nothing changes.

        A trajectory without points holds the present desired position.

        :param now: present time [ns]
        :param allow_partial: whether joints may be absent; they are held
        :param check_limits: whether positions and velocities must be within the limits of the
            robot
        :param start_tolerance: how far the motion may jump at its start [rad or m]; 0: any
            distance
        :return: what will be done, for the log
        :raises ValueError: if the message cannot be used (MessageProblem, TrajectoryError)
        """
        if not message.points:
            self.hold(self.sample(now)[0])
            return 'stop: the present desired position is held'
        begin = nanoseconds(message.header.stamp) or now
        elapsed = (now - begin) / NANOSECONDS
        if -elapsed > LONGEST_DELAY:
            raise MessageProblem(
                'trajectory in the far future',
                f'trajectory begins in {-elapsed:.0f} s: its header.stamp must be in the time of '
                'joint_states, or 0',
            )
        q, v, _ = self._sample_active(max(begin, now))
        trajectory = JointTrajectory(**trajectory_fields(message)).for_joints(
            self._robot.joint_names, hold=q if allow_partial else None
        )
        if elapsed > 0.0 and elapsed >= trajectory.end_time:
            raise MessageProblem(
                'trajectory in the past',
                f'trajectory ended {elapsed - trajectory.end_time:.3f} s ago',
            )
        joined = max(elapsed, 0.0)
        trajectory = trajectory.starting_from(q, v, joined)
        if check_limits:
            trajectory.check_limits(
                self._robot.lower_limits, self._robot.upper_limits, self._robot.velocity_limits
            )
        self._check_jump(trajectory.sample(joined)[0] - q, start_tolerance)
        self._next, self._next_begin = trajectory, begin
        return (
            f'trajectory of {len(message.points)} points, {trajectory.end_time:g} s, begins '
            'in '
            f'{-elapsed:.3f} s'
        )

    def _check_jump(self, jump: np.ndarray, tolerance: float) -> None:
        worst = int(np.argmax(np.abs(jump)))
        if 0.0 < tolerance < abs(jump[worst]):
            raise MessageProblem(
                'trajectory begins far away',
                f'trajectory begins {abs(jump[worst]):.3f} rad or m away from where joint '
                f'{self._robot.joint_names[worst]} should be (start_tolerance {tolerance:g}); '
                'give its first point a '
                'time_from_start, and the robot moves there in that time',
            )


def reason(error: ValueError) -> str:
    """Short kind of an error of `DesiredMotion.follow`, for counting."""
    if isinstance(error, MessageProblem):
        return error.code
    return 'trajectory not legal' if isinstance(error, TrajectoryError) else type(error).__name__
