# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Desired motion of a robot: a held position or a trajectory, without jumps.

The motion has its own clock. Each state advances it by the time since the previous state, at most
by a few usual intervals, and never back: a wrong stamp, a pause of the controller or a clock that
was set forward delay the motion without a jump. A change (a new trajectory, a stop, states after a
failure) starts from the last desired position and velocity; blending.py defines the transition.
Trajectories of different joints run in parallel (grouped_motion.py).

This module does not depend on ROS; time stamps are integer nanoseconds on the clock of the states.
"""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import Any, Deque, List, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control.motion.blending import Bounds, Coasting
from rbd_ros.control.motion.grouped_motion import GroupedMotion
from rbd_ros.control.motion.intervals import StateIntervals
from rbd_ros.control.motion.motion_options import MotionOptions
from rbd_ros.control.motion.motion_plan import (
    GroupSnapshot,
    Indices,
    MotionPlan,
    MotionPlanner,
    MotionSnapshot,
    NANOSECONDS,
    TrajectoryPoints,
)
from rbd_ros.control.motion.trajectory import MotionSample
from rbd_ros.control.motion.trajectory_checks import MAX_VELOCITY, TrajectoryError
from rbd_ros.control.robot_joints import shown
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound

MAX_HELD = 1e6  # maximum held position, as in StateGuard [rad or m]


class DesiredMotion:
    """Desired position, velocity and acceleration of a robot, without jumps.

    `advance`, `hold`, `stop_at`, `resume_after_gap`, `restart_time`, `ended` and `stage` are for
    the thread of the control loop. `plan` is slow and meant for another thread; `follow` and
    `cancel` are for any.

    :param robot: the robot, with one degree of freedom per joint
    :param options: fields of `MotionOptions`

    >>> motion = DesiredMotion(robot)
    >>> motion.hold(q)
    True
    >>> plan = motion.plan(arm, [1.0], [q + 0.1], now=0)
    >>> motion.follow(plan)
    'trajectory of 1 points, 1 s, begins now'
    >>> for k in range(1, 51):  # states every 10 ms, their stamps in nanoseconds
    ...     qd, vd, ad = motion.advance(k * 10_000_000, 0.01)
    >>> qd - q, vd
    (array([0.05, 0.05, 0.05, 0.05, 0.05, 0.05]), array([0.15, 0.15, 0.15, 0.15, 0.15, 0.15]))
    >>> motion.is_following, motion.time_left, motion.stage(plan)
    (True, 0.5, 'followed')
    >>> for k in range(51, 111):
    ...     qd, vd, ad = motion.advance(k * 10_000_000, 0.01)
    >>> motion.ended(), motion.stage(plan), motion.position - q
    (True, 'arrived', array([0.1, 0.1, 0.1, 0.1, 0.1, 0.1]))
    """

    def __init__(self, robot: Robot, **options: Any):
        if not robot.nq == robot.nv == len(robot.joint_names):
            raise ValueError('the robot has a joint with more than one degree of freedom')
        self._names = tuple(robot.joint_names)
        self.options = MotionOptions(**options)
        self._limits = Bounds(
            *(
                np.array(limits, dtype=float)
                for limits in (robot.lower_limits, robot.upper_limits, robot.velocity_limits)
            )
        )
        #: Differences of positions, without whole turns of continuous joints
        self.wraparound = Wraparound(robot.position_periods)
        self._planner = MotionPlanner(self._names, self._limits, self.wraparound)
        self._motion = GroupedMotion(robot.neutral(), self._limits, self.wraparound)
        self._inbox: Tuple[MotionPlan, ...] = ()  # plans of `follow`, for the next state
        self._inbox_lock = Lock()
        self._intervals = StateIntervals()
        # Numbers of the joints' motions; replaced as a whole, since other threads read them.
        self._epochs: Indices = np.zeros(len(self._names), dtype=np.intp)
        self._clock = 0.0
        self._stamp: Optional[int] = None
        self._canceled: Deque[MotionPlan] = deque()
        # Scheduled plans, no two of which share a joint.
        self._scheduled: Tuple[MotionPlan, ...] = ()
        self._ended = False
        self._publish()

    def _publish(self) -> None:
        """Publish the present motion to other threads: one tuple, so that it is consistent."""
        self._snapshot = (self._epochs, [group.snapshot() for group in self._motion.groups])

    # -- the present motion -----------------------------------------------------------------------

    @property
    def is_following(self) -> bool:
        """True if a trajectory is running or scheduled."""
        return self._motion.follows or bool(self._scheduled or self._inbox)

    @property
    def time_left(self) -> float:
        """Remaining time of the present trajectories [s]; 0 without one."""
        motions = (group.motion for group in self._motion.groups if group.follows)
        return max((0.0, *(motion.end - motion.s for motion in motions)))

    @property
    def position(self) -> FloatArray:
        """Desired position at the last state, (n,)."""
        return self._motion.q

    @property
    def clock(self) -> float:
        """Time of the motion's own clock, which advances with the states [s]."""
        return self._clock

    def path_time(self, plan: MotionPlan) -> float:
        """Return the present time of a plan's trajectory [s]; at the end, its duration."""
        group = self._motion.group_of(plan)
        if group is not None and not group.arrived:
            return group.motion.s
        return 0.0 if plan.trajectory is None else plan.trajectory.end_time

    def stage(self, plan: MotionPlan) -> str:
        """Return the stage of a plan that was passed to `follow`.

        :return: 'scheduled', 'followed', 'arrived' while its end is held, or 'over' when another
            motion has taken any of its joints
        """
        group = self._motion.group_of(plan)
        if group is not None:
            return 'arrived' if group.arrived else 'followed'
        waiting = (*self._scheduled, *self._inbox)
        return 'scheduled' if any(each is plan for each in waiting) else 'over'

    @property
    def is_at_rest(self) -> bool:
        """True if a position is held and no motion is scheduled."""
        coming = self._inbox or self._canceled or self._scheduled or self._ended
        return self._motion.resting and not coming and not self._intervals.has_backward_time

    def advance_at_rest(self, stamp: int, elapsed: float, dt: float, states: int) -> None:
        """Advance over states without a call of `advance`, while `is_at_rest`.

        :param stamp: time of the last state [ns]
        :param elapsed: time from the last call of `advance` to this state [s]
        :param dt: time between the last two states [s], within the bound of any state
        :param states: number of states
        """
        self._clock += elapsed
        self._stamp = stamp
        self._intervals.add(dt, states)

    def ended(self) -> bool:
        """Return, once, whether the last trajectory has ended, so that its end is held."""
        ended, self._ended = self._ended, False
        return ended

    # -- changes by the control loop --------------------------------------------------------------

    def hold(self, q: Any) -> bool:
        """Drop all trajectories and hold position `q`, (n,).

        :return: whether it did: an implausible position changes nothing
        """
        q = np.asarray(q, dtype=float)
        if not self._plausible(q):
            return False
        self._drop(np.arange(len(q)))
        self._motion.rest_at(q)
        self._publish()
        return True

    def _drop(self, joints: Indices) -> None:
        """Drop scheduled plans of joints, and plans that continue an earlier motion of them."""
        epochs = self._epochs.copy()
        epochs[joints] += 1
        self._epochs = epochs
        with self._inbox_lock:
            self._inbox = tuple(each for each in self._inbox if not each.has_joints(joints))
        self._unschedule(joints)
        self._ended = False

    def _unschedule(self, joints: Indices) -> None:
        self._scheduled = tuple(each for each in self._scheduled if not each.has_joints(joints))

    def stop_at(self, q: Any, v: Any, plan: Optional[MotionPlan] = None) -> None:
        """Drop trajectories and stop near the present position, from the present velocity.

        An implausible position or velocity is replaced by the desired one.

        :param q: measured position, (n,) [rad or m]
        :param v: measured velocity, (n,) [rad/s or m/s]
        :param plan: plan whose joints stop; None: all joints

        >>> motion = DesiredMotion(robot)
        >>> motion.stop_at(q, np.full(6, 0.1))  # moving at 0.1 rad/s
        >>> for k in range(1, 51):
        ...     qd, vd, ad = motion.advance(k * 10_000_000, 0.01)
        >>> qd - q, vd
        (array([0.01, 0.01, 0.01, 0.01, 0.01, 0.01]), array([0., 0., 0., 0., 0., 0.]))
        """
        q, v = np.array(q, dtype=float), np.array(v, dtype=float)
        if not self._plausible(q) or not np.isfinite(v).all():
            q, v = self._motion.q, self._motion.v
        joints = np.arange(len(q)) if plan is None else plan.joints
        limits, ramp_time = self._limits.of(joints), self.options.ramp_time
        fastest = np.minimum(limits.velocity, MAX_VELOCITY)
        path = Coasting(q[joints], np.clip(v[joints], -fastest, fastest), limits, ramp_time)
        self._drop(joints)
        self._motion.coast(joints, path, ramp_time)
        self._publish()

    def _plausible(self, q: FloatArray) -> bool:
        return q.shape == self._motion.q.shape and bool(np.abs(q).max(initial=0.0) <= MAX_HELD)

    def resume_after_gap(self, q_measured: Any, gap: float) -> str:
        """Continue after a time without states, and thus without torque.

        :param q_measured: measured position, (n,)
        :param gap: time without states [s]; inf if there never were any
        :return: effect on a trajectory, for the log; empty without one
        """
        options = self.options
        if options.state_loss_policy == 'resume' and not gap <= options.max_state_gap:
            return self._hold_measured(q_measured, f'states were missing for {gap:.3g} s')
        return self._resume(q_measured, 'states were missing')

    def restart_time(self, q_measured: Any) -> str:
        """Continue after a reset of the states' time (a simulation or bag restarted).

        A trajectory that is scheduled for a certain time is always dropped.

        :param q_measured: measured position, (n,)
        :return: effect on a trajectory, for the log; empty without one
        """
        event = 'the time of the states was reset'
        self._stamp = None
        self._intervals.discard_backward_time()
        dropped = bool(self._scheduled or self._inbox)
        self._drop(np.arange(len(self._names)))
        self._publish()
        text = self._resume(q_measured, event)
        if dropped:
            text = f'{text or event}; the scheduled trajectory is dropped'
        return text

    def _resume(self, q_measured: Any, event: str) -> str:
        """Continue from the measured position if the options permit it and it is near enough."""
        options = self.options
        if options.state_loss_policy != 'resume':
            return self._hold_measured(q_measured, event)
        q = np.array(q_measured, dtype=float)
        if not self._plausible(q) or self._motion.stopping:
            return self._hold_measured(q, event)
        away = np.abs(self.wraparound(q - self._motion.q))
        worst = int(np.argmax(away)) if len(away) else 0
        if len(away) and away[worst] > options.resume_tolerance:
            return self._hold_measured(
                q,
                f'{event}, and joint {shown(self._names[worst])} is {away[worst]:.3g} rad or m '
                'from its desired position',
            )
        self._motion.resume_at(q, options.ramp_time)
        self._publish()
        if not self._motion.follows:
            return ''
        return f'{event}: the trajectory is resumed, {self.time_left:.3g} s before its end'

    def _hold_measured(self, q: Any, event: str) -> str:
        followed = self.is_following
        if not self.hold(q):
            self.hold(self._motion.q)  # unknown position: stop in any case
        return f'{event}: the trajectory is dropped and the measured position held' * followed

    # -- the loop ---------------------------------------------------------------------------------

    def advance(self, stamp: int, dt: float) -> MotionSample:
        """Return the desired position, velocity and acceleration at the next state, each (n,).

        The arrays must not be written to.

        :param stamp: time of the state [ns]
        :param dt: time since the previous state [s], may be invalid

        >>> motion = DesiredMotion(robot)
        >>> motion.hold(q)
        True
        >>> qd, vd, ad = motion.advance(10_000_000, 0.01)
        >>> qd - q, vd
        (array([0., 0., 0., 0., 0., 0.]), array([0., 0., 0., 0., 0., 0.]))
        """
        if self._stamp is None and not dt > 0.0:
            dt = 0.0  # between two time lines
        step = self._intervals.step(dt, self.options.max_time_step)
        if self._inbox:
            self._take()
        if self._canceled:
            self._drop_canceled()
        self._clock += step
        for late, plan in self._due(stamp, step) if self._scheduled else ():
            self._unschedule(plan.joints)
            self._move(step - late)
            # Later than scheduled on the motion's clock: planning took too long.
            overdue = (stamp - (plan.begin or 0)) / NANOSECONDS
            missed = min(self._clock - plan.clock, overdue) - late
            self._motion.enter(plan, max(missed, 0.0), self.options.ramp_time)
            step = late
        self._stamp = stamp
        if step > 0.0 and not self._motion.resting:
            self._move(step)
            self._publish()
        return self._motion.q, self._motion.v, self._motion.a

    def _move(self, step: float) -> None:
        if self._motion.move(step):
            self._ended = not self._scheduled and not self._motion.follows

    def _due(self, stamp: int, step: float) -> List[Tuple[float, MotionPlan]]:
        """Return due plans in order, and the times since their scheduled start, see `_late`."""
        due = []
        for plan in self._scheduled:
            late = self._late(plan, stamp, step)
            if late is not None:
                due.append((late, plan))
        return sorted(due, key=lambda each: -each[0])

    def _late(self, plan: MotionPlan, stamp: int, step: float) -> Optional[float]:
        """Return the time since the scheduled start of a plan, at most `step`; None before it.

        A stamp that jumps is ignored: the next state shows whether it was right.
        """
        before = self._stamp
        if plan.begin is None or before is None:
            return None
        late = (stamp - plan.begin) / NANOSECONDS
        if late < 0.0 or step <= 0.0:
            return None
        if (
            not 0.0
            < (stamp - before) / NANOSECONDS
            <= self._intervals.longest(self.options.max_time_step)
        ):
            return None
        return min(late, step)

    def _take(self) -> None:
        """Start the plans that `follow` has put into the inbox."""
        with self._inbox_lock:
            plans, self._inbox = self._inbox, ()
        for plan in plans:
            if not plan.continues(self._epochs):
                continue
            self._unschedule(plan.joints)
            if plan.trajectory is None:
                self._motion.slow_down(self.options.ramp_time)
            elif plan.begin is not None:
                self._scheduled = (*self._scheduled, plan)
            else:
                waiting = plan.starts_at_rest and self._motion.rests(plan.joints)
                s = plan.entry + (0.0 if waiting else self._clock - plan.clock)
                self._motion.enter(plan, s, self.options.ramp_time)

    def _drop_canceled(self) -> None:
        """Stop canceled plans, or drop those that are still scheduled."""
        for _ in range(len(self._canceled)):
            plan = self._canceled.popleft()
            group = self._motion.group_of(plan)
            if group is not None:
                if not group.arrived:
                    group.slow_down(self.options.ramp_time)
            elif any(each is plan for each in self._scheduled):
                self._unschedule(plan.joints)
            elif any(each is plan for each in self._inbox):
                self._canceled.append(plan)  # just started: the next state stops it

    # -- new motions ------------------------------------------------------------------------------

    def plan(
        self,
        joint_names: Sequence[str],
        times: Any,
        positions: Any,
        velocities: Any = None,
        accelerations: Any = None,
        *,
        now: int,
        begin: int = 0,
        allow_partial: bool = False,
        check_limits: bool = True,
        start_tolerance: float = 0.0,
    ) -> MotionPlan:
        """Prepare and check a trajectory that replaces the motion of its joints.

        This may take long and does not change the motion; `follow` starts the result. A trajectory
        without points is a stop.

        :param joint_names: names of its joints
        :param times: times of the points since `begin`, (P,) [s]
        :param positions: (P, n), or rows of any type, as in messages [rad or m]
        :param velocities: likewise; None or empty rows: not given
        :param accelerations: likewise
        :param now: time of the last state [ns]
        :param begin: time at which the trajectory begins [ns]; 0: now
        :param allow_partial: whether joints may be absent; their motion continues. If this
            trajectory replaces a part of another one, its other joints come to rest
        :param check_limits: whether to check the limits of the robot
        :param start_tolerance: maximum distance of its start from the desired position [rad or m];
            0: any distance. The robot moves there smoothly
        :raises TrajectoryError: if it cannot be followed; `code` is a short classification

        >>> DesiredMotion(robot).plan(arm[:1], [1.0], [[9.0]], now=0, allow_partial=True)
        Traceback (most recent call last):
            ...
        rbd_ros.control.motion.trajectory_checks.TrajectoryError: at point 1, joint ... at 9, ...
        >>> DesiredMotion(robot).plan(arm, [], [], now=0).text
        'stop: the node holds the current desired position'
        """
        epochs, groups = self._snapshot
        motion = MotionSnapshot(epochs, tuple(GroupSnapshot(*each) for each in groups))
        for waiting in self._inbox:
            if waiting.begin is None and waiting.continues(motion.epochs):
                motion = motion.motion_after_start(waiting)
        return self._planner.plan(
            motion,
            self._clock,
            joint_names,
            TrajectoryPoints(times, positions, velocities, accelerations),
            now=now,
            begin=begin,
            allow_partial=allow_partial,
            check_limits=check_limits,
            start_tolerance=start_tolerance,
        )

    def follow(self, plan: MotionPlan) -> str:
        """Start a plan at the next state.

        :return: description for the log
        :raises TrajectoryError: if the motion that it continues has been dropped meanwhile
        """
        if not plan.continues(self._epochs):
            raise TrajectoryError(
                'the motion was interrupted while the trajectory was being prepared; send the '
                'trajectory again',
                code='motion interrupted',
            )
        with self._inbox_lock:
            # A scheduled plan only replaces later plans of its joints.
            later = plan.begin is not None
            kept = [
                each
                for each in self._inbox
                if (later and each.begin is None) or not each.has_joints(plan.joints)
            ]
            self._inbox = (*kept, plan)
        return plan.text

    def cancel(self, plan: MotionPlan) -> None:
        """Stop a plan smoothly, or drop it before its begin; others are unchanged.

        >>> motion = DesiredMotion(robot)
        >>> motion.hold(q)
        True
        >>> plan = motion.plan(arm, [1.0], [q + 0.1], now=0)
        >>> text = motion.follow(plan)
        >>> sample = motion.advance(10_000_000, 0.01)
        >>> motion.cancel(plan)
        >>> for k in range(2, 60):  # it takes the ramp_time, 0.2 s
        ...     sample = motion.advance(k * 10_000_000, 0.01)
        >>> motion.is_following, motion.stage(plan)
        (False, 'over')
        """
        self._canceled.append(plan)
