"""Desired motion of a robot: a held position or a trajectory, and never a jump between them.

The motion has a time of its own. Each state of the robot moves it on by the time since the state
before, but by no more than a few usual intervals, and never back: a wrong stamp, a pause of the
controller or a clock that was set forward delay the motion instead of making the robot leap. What
changes the motion (a new trajectory, a stop, states that come back after a failure) starts from
the position and velocity that were desired last. See blending.py for how one motion becomes
another.

Nothing here knows ROS, and time stamps are whole nanoseconds on the time line of the states.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
import math
from typing import Any, Deque, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from rbd_ros.control.arrays import FloatArray, MotionSample
from rbd_ros.control.blending import Bounds, Coasting, Offset, Ramp, Still
from rbd_ros.control.intervals import StateIntervals
from rbd_ros.control.names import shown
from rbd_ros.control.trajectory import JointTrajectory
from rbd_ros.control.trajectory_checks import (
    check_known,
    MOST_POSITION,
    MOST_VELOCITY,
    TrajectoryError,
)
from rbd_ros.robot import Robot

MOST_HELD = 1e6  # maximum position that may be held, as in StateGuard [rad or m]
NANOSECONDS = 1_000_000_000
LONGEST_DELAY = 3600.0  # a trajectory that begins later than this surely means another clock [s]
GAP_POLICIES = ('resume', 'hold')

Path = Union[JointTrajectory, Still, Coasting]


@dataclass(frozen=True)
class MotionOptions:
    """How a desired motion behaves when states pause, and how fast it starts and stops.

    :param gap_policy: after states had failed, or their time began anew: 'resume' goes on smoothly
        from the measured position if the pause was short and the robot is near where it should be,
        and else does as 'hold', which drops the motion and holds the measured position
    :param longest_gap: longest pause after which a motion is resumed [s]
    :param resume_tolerance: how far any joint may then be from where it should be [rad or m]
    :param largest_step: maximum time by which one state advances the motion, however rare states
        are [s]
    :param ramp_time: time in which a motion is stopped, or set going after a pause [s]

    >>> from rbd_ros.control import MotionOptions
    >>> MotionOptions(ramp_time=0.5).gap_policy
    'resume'
    >>> MotionOptions(gap_policy='leap')
    Traceback (most recent call last):
        ...
    ValueError: gap_policy must be one of resume, hold, got 'leap'
    """

    gap_policy: str = 'resume'
    longest_gap: float = 1.0
    resume_tolerance: float = 0.2
    largest_step: float = 0.2
    ramp_time: float = 0.2

    def __post_init__(self) -> None:
        if self.gap_policy not in GAP_POLICIES:
            raise ValueError(
                f'gap_policy must be one of {", ".join(GAP_POLICIES)}, got {self.gap_policy!r}'
            )
        for name in ('longest_gap', 'resume_tolerance', 'largest_step', 'ramp_time'):
            if not getattr(self, name) >= 0.0:
                raise ValueError(f'{name} must not be negative, got {getattr(self, name)}')
        for name in ('largest_step', 'ramp_time'):
            if not 0.0 < getattr(self, name) < math.inf:
                raise ValueError(f'{name} must be positive and finite')


class MotionPlan(NamedTuple):
    """A motion that has been prepared and checked, and that `DesiredMotion.follow` starts.

    :param trajectory: the motion; None: stop
    :param entry: time of the trajectory at which it is entered [s]
    :param begin: time of the states at which it begins [ns]; None: as soon as possible
    :param clock: time of the motion's own clock at which it is to be entered [s]
    :param waits: whether it begins from rest, and therefore whenever it is taken up
    :param epoch: number of the motion that it continues
    :param bounds: limits that the trajectory keeps
    :param text: what will be done, for the log
    """

    trajectory: Optional[JointTrajectory]
    entry: float
    begin: Optional[int]
    clock: float
    waits: bool
    epoch: int
    bounds: Bounds
    text: str


class _Snapshot(NamedTuple):
    """The motion at one moment, for other threads."""

    epoch: int
    path: Path
    s: float
    offset: Optional[Offset]
    q: FloatArray
    v: FloatArray


class DesiredMotion:
    """Desired position, velocity and acceleration of a robot, which never jump.

    `advance`, `hold`, `stop_at`, `interrupted`, `time_restarted`, `ended` and `stage` are for one
    thread, that of the control loop. `plan` is slow and meant for another one, `follow` and
    `cancel` are for any.

    :param robot: the robot, with one degree of freedom a joint
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
    >>> motion.following, motion.time_left, motion.stage(plan)
    (True, 0.5, 'followed')
    >>> for k in range(51, 111):
    ...     qd, vd, ad = motion.advance(k * 10_000_000, 0.01)
    >>> motion.ended(), motion.stage(plan), motion.position - q
    (True, 'arrived', array([0.1, 0.1, 0.1, 0.1, 0.1, 0.1]))
    """

    def __init__(self, robot: Robot, **options: Any):
        if not robot.nq == robot.nv == len(robot.joint_names):
            raise ValueError('the robot has a joint with more than one degree of freedom')
        self._robot = robot
        self._names = tuple(robot.joint_names)
        self.options = MotionOptions(**options)
        self._limits = Bounds(
            *(
                np.array(limits, dtype=float)
                for limits in (robot.lower_limits, robot.upper_limits, robot.velocity_limits)
            )
        )
        self._rest: FloatArray = np.zeros(robot.nv)
        self._rest.flags.writeable = False
        self._inbox: Deque[MotionPlan] = deque(maxlen=1)
        self._intervals = StateIntervals()
        self._epoch = 0
        self._clock = 0.0
        self._stamp: Optional[int] = None
        self._cancelled: Deque[MotionPlan] = deque()
        self._set_still(robot.neutral())

    def _set_still(self, q: FloatArray) -> None:
        q = np.array(q, dtype=float)
        q.flags.writeable = False
        self._q, self._v, self._a = q, self._rest, self._rest
        self._path: Path = Still(q)
        self._end = 0.0
        self._path_bounds = self._limits
        self._s = 0.0
        self._offset: Optional[Offset] = None
        self._ramp: Optional[Ramp] = None
        self._next: Optional[MotionPlan] = None
        self._plan: Optional[MotionPlan] = None  # that is followed
        self._arrived: Optional[MotionPlan] = None  # whose end is held
        self._holding = True
        self._ended = False
        self._publish()

    def _publish(self) -> None:
        """Show the present motion to other threads: one tuple, so that it is of one moment."""
        self._snapshot = (self._epoch, self._path, self._s, self._offset, self._q, self._v)

    # -- the motion as it is ----------------------------------------------------------------------

    @property
    def following(self) -> bool:
        """Whether there is a trajectory that has not ended, or one that is to begin."""
        active = isinstance(self._path, JointTrajectory)
        return active or self._next is not None or bool(self._inbox)

    @property
    def time_left(self) -> float:
        """Time that the present trajectory still takes [s]; 0 if there is none."""
        if not isinstance(self._path, JointTrajectory):
            return 0.0
        return max(self._end - self._s, 0.0)

    @property
    def position(self) -> FloatArray:
        """Desired position as of the last state, (n,)."""
        return self._q

    @property
    def clock(self) -> float:
        """Time of the motion's own clock, which advances with the states [s].

        >>> motion = DesiredMotion(robot)
        >>> for k in range(1, 4):
        ...     sample = motion.advance(k * 10_000_000, 0.01)
        >>> motion.clock
        0.03
        """
        return self._clock

    @property
    def path_time(self) -> float:
        """Time of the present trajectory that is reached [s].

        >>> motion = DesiredMotion(robot)
        >>> plan = motion.plan(arm, [1.0], [q], now=0, check_limits=False)
        >>> text = motion.follow(plan)
        >>> sample = motion.advance(10_000_000, 0.01)
        >>> sample = motion.advance(20_000_000, 0.01)
        >>> motion.path_time
        0.02
        """
        return self._s

    def stage(self, plan: MotionPlan) -> str:
        """How far a plan that was given to `follow` has come.

        :return: 'scheduled', 'followed', 'arrived' while its end is held, or 'over' when something
            else has taken its place
        """
        if self._plan is plan:
            return 'followed'
        if self._arrived is plan:
            return 'arrived'
        waiting = (self._next, *self._inbox)
        return 'scheduled' if any(each is plan for each in waiting) else 'over'

    @property
    def at_rest(self) -> bool:
        """Whether a position is held, and nothing is to change that.

        >>> motion = DesiredMotion(robot)
        >>> motion.at_rest
        True
        >>> text = motion.follow(motion.plan(arm, [1.0], [q], now=0, check_limits=False))
        >>> motion.at_rest
        False
        """
        coming = self._inbox or self._cancelled or self._next is not None or self._ended
        return self._holding and not coming and not self._intervals.in_debt

    def rested(self, stamp: int, elapsed: float, dt: float, states: int) -> None:
        """Note states for which nobody called `advance`, as it was `at_rest`.

        :param stamp: time of the last of them [ns]
        :param elapsed: time from the last state that it was called for to that one [s]
        :param dt: time between the last two of them [s], within the bound of any state
        :param states: how many there were

        >>> motion = DesiredMotion(robot)
        >>> motion.rested(20_000_000, elapsed=0.02, dt=0.01, states=2)
        >>> motion.clock
        0.02
        """
        self._clock += elapsed
        self._stamp = stamp
        self._intervals.usual(dt, states)

    def ended(self) -> bool:
        """Tell, once, that a trajectory has ended: its last position is held from then on."""
        ended, self._ended = self._ended, False
        return ended

    # -- changes by the control loop --------------------------------------------------------------

    def hold(self, q: Any) -> bool:
        """Drop all trajectories and hold position `q`, (n,).

        :return: whether that was done: a position that no robot can have changes nothing
        """
        q = np.asarray(q, dtype=float)
        if not self._plausible(q):
            return False
        self._epoch += 1  # plans that continue what is dropped here are void
        self._inbox.clear()
        self._set_still(q)
        return True

    def stop_at(self, q: Any, v: Any) -> None:
        """Drop all trajectories and come to rest near where the robot is, from its velocity.

        A position or velocity that no robot can have counts as the desired one.

        :param q: measured position, (n,) [rad or m]
        :param v: measured velocity, (n,) [rad/s or m/s]

        >>> motion = DesiredMotion(robot)
        >>> motion.stop_at(q, np.full(6, 0.1))  # moving at 0.1 rad/s
        >>> for k in range(1, 51):
        ...     qd, vd, ad = motion.advance(k * 10_000_000, 0.01)
        >>> qd - q, vd
        (array([0.01, 0.01, 0.01, 0.01, 0.01, 0.01]), array([0., 0., 0., 0., 0., 0.]))
        """
        q, v = np.array(q, dtype=float), np.array(v, dtype=float)
        if not self._plausible(q) or not np.isfinite(v).all():
            q, v = self._q, self._v
        fastest = np.minimum(self._limits.velocity, MOST_VELOCITY)
        path = Coasting(q, np.clip(v, -fastest, fastest), self._limits, self.options.ramp_time)
        self.hold(q)
        self._path, self._end = path, path.end_time
        self._ramp = Ramp.down(None, self.options.ramp_time)
        self._q, self._v, self._a = path.sample(0.0)
        self._holding = False
        self._publish()

    def _plausible(self, q: FloatArray) -> bool:
        return q.shape == self._q.shape and bool(np.abs(q).max(initial=0.0) <= MOST_HELD)

    def interrupted(self, q_measured: Any, gap: float) -> str:
        """Continue after states were missing, and with them the torque.

        :param q_measured: where the robot is now, (n,)
        :param gap: how long there were no states [s]; inf if there never were any
        :return: what was done about a trajectory, for the log; empty if there was none

        >>> motion = DesiredMotion(robot)
        >>> motion.hold(q)
        True
        >>> text = motion.follow(motion.plan(arm, [1.0], [q + 0.1], now=0))
        >>> sample = motion.advance(10_000_000, 0.01)
        >>> sample = motion.advance(20_000_000, 0.01)
        >>> motion.interrupted(q + 0.01, gap=0.3)
        'states had failed: the trajectory is resumed, 0.98 s before its end'
        >>> motion.interrupted(q + 0.5, gap=0.3)
        "states had failed, and joint 'shoulder_pan_joint' is ... from where it should be..."
        >>> motion.following
        False
        """
        options = self.options
        if options.gap_policy == 'resume' and not gap <= options.longest_gap:
            return self._hold_measured(q_measured, f'states had failed for {gap:.3g} s')
        return self._resume(q_measured, 'states had failed')

    def time_restarted(self, q_measured: Any) -> str:
        """Continue although the time of the states began anew (a simulation or bag restarted).

        A trajectory that was to begin at a certain time is dropped in any case.

        :param q_measured: where the robot is now, (n,)
        :return: what was done about a trajectory, for the log; empty if there was none

        >>> motion = DesiredMotion(robot)
        >>> motion.hold(q)
        True
        >>> text = motion.follow(motion.plan(arm, [1.0], [q + 0.1], now=0, begin=5_000_000_000))
        >>> motion.time_restarted(q)
        'the time of the states began anew; the trajectory that was to begin is dropped'
        """
        event = 'the time of the states began anew'
        self._stamp = None
        self._intervals.forget_debt()
        dropped = self._next is not None or bool(self._inbox)
        self._inbox.clear()
        self._next = None
        self._epoch += 1
        self._publish()
        text = self._resume(q_measured, event)
        if dropped:
            text = f'{text or event}; the trajectory that was to begin is dropped'
        return text

    def _resume(self, q_measured: Any, event: str) -> str:
        """Continue from the measured position if the options say so and it is near enough."""
        options = self.options
        if options.gap_policy != 'resume':
            return self._hold_measured(q_measured, event)
        q = np.array(q_measured, dtype=float)
        if not self._plausible(q) or (self._ramp is not None and self._ramp.stops):
            return self._hold_measured(q, event)
        away = np.abs(q - self._q)
        worst = int(np.argmax(away)) if len(away) else 0
        if len(away) and away[worst] > options.resume_tolerance:
            return self._hold_measured(
                q,
                f'{event}, and joint {shown(self._names[worst])} is {away[worst]:.3g} rad or m '
                'from where it should be',
            )
        self._q, self._v, self._a = q, self._rest, self._rest
        self._enter(self._path, self._s, self._path_bounds, at_rest=True)
        self._publish()
        if not isinstance(self._path, JointTrajectory):
            return ''
        return f'{event}: the trajectory is resumed, {self.time_left:.3g} s before its end'

    def _hold_measured(self, q: Any, event: str) -> str:
        followed = self.following
        if not self.hold(q):
            self.hold(self._q)  # where the robot is nobody knows; it is to stop in any case
        return f'{event}: the trajectory is dropped and the measured position held' * followed

    # -- the loop ---------------------------------------------------------------------------------

    def advance(self, stamp: int, dt: float) -> MotionSample:
        """Desired position, velocity and acceleration at the next state, each (n,).

        The arrays must not be written to.

        :param stamp: time of the state [ns]
        :param dt: time since the state before [s], whatever it may be

        >>> motion = DesiredMotion(robot)
        >>> motion.hold(q)
        True
        >>> qd, vd, ad = motion.advance(10_000_000, 0.01)
        >>> qd - q, vd
        (array([0., 0., 0., 0., 0., 0.]), array([0., 0., 0., 0., 0., 0.]))
        """
        if self._stamp is None and not dt > 0.0:
            dt = 0.0  # between two time lines
        step = self._intervals.step(dt, self.options.largest_step)
        if self._inbox:
            self._take()
        if self._cancelled:
            self._drop_cancelled()
        self._clock += step
        following = self._next
        if following is not None:
            late = self._late(following, stamp, step)
            if late is not None and following.begin is not None:
                self._next = None
                self._move(step - late)
                # Later than it should by the motion's own time: it was planned for too long.
                overdue = (stamp - following.begin) / NANOSECONDS
                missed = min(self._clock - following.clock, overdue) - late
                self._begin(following, max(missed, 0.0))
                step = late
        self._stamp = stamp
        if step > 0.0 and not self._holding:
            self._move(step)
            self._publish()
        return self._q, self._v, self._a

    def _late(self, plan: MotionPlan, stamp: int, step: float) -> Optional[float]:
        """Time since a plan was to begin, at most `step`; None if it is not to begin yet.

        A stamp that leaps says nothing: the next state shows whether it was right.
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
            <= self._intervals.longest(self.options.largest_step)
        ):
            return None
        return min(late, step)

    def _take(self) -> None:
        """Take up a plan that `follow` put into the inbox."""
        try:
            plan = self._inbox.popleft()
        except IndexError:
            return
        if plan.epoch != self._epoch:
            return
        self._next = None
        if plan.trajectory is None:
            if not self._holding:
                self._ramp = Ramp.down(self._ramp, self.options.ramp_time)
        elif plan.begin is not None:
            self._next = plan
        else:
            waiting = plan.waits and self._holding
            self._begin(plan, plan.entry + (0.0 if waiting else self._clock - plan.clock))

    def _drop_cancelled(self) -> None:
        """Stop the plans that `cancel` named, or forget those that are still to begin."""
        for _ in range(len(self._cancelled)):
            plan = self._cancelled.popleft()
            if plan is self._next:
                self._next = None
            elif plan is self._plan:
                self._ramp = Ramp.down(self._ramp, self.options.ramp_time)
            elif any(each is plan for each in self._inbox):
                self._cancelled.append(plan)  # it came a moment ago: the next state stops it

    def _begin(self, plan: MotionPlan, s: float) -> None:
        if plan.trajectory is not None:
            self._enter(plan.trajectory, s, plan.bounds)
            self._plan, self._arrived = plan, None

    def _enter(self, path: Path, s: float, bounds: Bounds, at_rest: bool = False) -> None:
        """Continue along another path from its time `s` on, starting from where the motion is.

        The motion keeps its velocity, or, `at_rest`, starts from rest with a `Ramp`.
        """
        q, v, _ = path.sample(s)
        ramp_time = self.options.ramp_time
        self._ramp = Ramp.up(ramp_time) if at_rest else None
        old = self._q, v if at_rest else self._v
        self._offset = Offset.between(old, (q, v), bounds, ramp_time)
        self._path_bounds = bounds
        self._path, self._end, self._s = path, path.end_time, s
        self._holding = False

    def _move(self, step: float) -> None:
        """Advance by `step` of the motion's own time [s]."""
        if self._holding or step <= 0.0:
            return
        ramp = self._ramp
        g, dg = 1.0, 0.0
        if ramp is not None:
            step, g, dg = ramp.advance(step)
        offset = self._offset
        if offset is None:
            self._s += step
            q, v, a = self._path.sample(self._s)
        else:
            offset, step = offset.after(step)
            self._s += step
            q, v, a = offset.added_to(*self._path.sample(self._s))
            self._offset = None if offset.over else offset
        if ramp is not None:
            v, a = g * v, g * g * a + dg * v
            if ramp.over:
                self._ramp = None
        self._q, self._v, self._a = q, v, a
        if ramp is not None and ramp.over and ramp.stops:
            self._rest_here(ended=False)
        elif self._offset is None and self._ramp is None and self._s >= self._end:
            self._rest_here(ended=isinstance(self._path, JointTrajectory))

    def _rest_here(self, ended: bool) -> None:
        following = self._next
        # A robot whose states pause while it is at its goal is there afterwards, too.
        arrived = self._plan if ended else self._arrived
        self._set_still(self._q)
        self._next, self._ended = following, ended and following is None
        self._arrived = arrived

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
        """Prepare and check a trajectory that replaces the motion from its beginning on.

        This may take long and does not change the motion; `follow` starts the result. A trajectory
        without points is a stop.

        :param joint_names: names of the joints that it moves
        :param times: times of the points since `begin`, (P,) [s]
        :param positions: (P, n), or rows of any kind, as in messages [rad or m]
        :param velocities: likewise; None or empty rows: not given
        :param accelerations: likewise
        :param now: time of the last state [ns]
        :param begin: time at which the trajectory begins [ns]; 0: now
        :param allow_partial: whether joints may be absent; they are held
        :param check_limits: whether it must keep the limits of the robot
        :param start_tolerance: how far from the desired position it may begin [rad or m]; 0: at
            any distance. The robot goes there smoothly
        :raises TrajectoryError: if it cannot be followed; `code` is its short kind

        >>> DesiredMotion(robot).plan(arm[:1], [1.0], [[9.0]], now=0, allow_partial=True)
        Traceback (most recent call last):
            ...
        rbd_ros.control.trajectory_checks.TrajectoryError: at point 1, joint ... would be at 9, ...
        >>> DesiredMotion(robot).plan(arm, [], [], now=0).text
        'stop: the present desired position is held'
        """
        base, clock = _Snapshot(*self._snapshot), self._clock
        if not len(times):
            text = 'stop: the present desired position is held'
            return MotionPlan(None, 0.0, None, clock, False, base.epoch, self._limits, text)
        check_known(joint_names, self._names)
        elapsed = (now - begin) / NANOSECONDS if begin else 0.0
        if -elapsed > LONGEST_DELAY:
            raise TrajectoryError(
                f'trajectory begins in {-elapsed:.0f} s: its header.stamp must be in the time of '
                'joint_states, or 0',
                code='trajectory in the far future',
            )
        trajectory = JointTrajectory(joint_names, times, positions, velocities, accelerations)
        if elapsed > 0.0 and elapsed >= trajectory.end_time:
            raise TrajectoryError(
                f'trajectory ended {elapsed - trajectory.end_time:.3f} s ago',
                code='trajectory in the past',
            )
        entry = max(elapsed, 0.0)
        q, v = _expected(base, max(-elapsed, 0.0))
        trajectory = trajectory.for_joints(self._names, hold=q if allow_partial else None)
        trajectory = trajectory.starting_from(q, v, entry)
        bounds = self._checked_bounds(trajectory, check_limits)
        self._check_start(trajectory.sample(entry)[0] - q, start_tolerance)
        start = f'in {-elapsed:.3f} s' if elapsed < 0.0 else 'now'
        text = f'trajectory of {len(times)} points, {trajectory.end_time:g} s, begins {start}'
        later = begin if elapsed < 0.0 else None
        waits = not begin and not base.v.any()
        clock += max(-elapsed, 0.0)
        return MotionPlan(trajectory, entry, later, clock, waits, base.epoch, bounds, text)

    def _checked_bounds(self, trajectory: JointTrajectory, check_limits: bool) -> Bounds:
        """Limits that a trajectory keeps: those of the robot, or wider ones where it may."""
        limits, n = self._limits, len(self._names)
        if check_limits:
            speeds = np.minimum(limits.velocity, MOST_VELOCITY)
            trajectory.check_limits(limits.lower, limits.upper, speeds)
            return limits
        most = np.full(n, MOST_POSITION)
        trajectory.check_limits(-most, most, np.full(n, MOST_VELOCITY))
        return Bounds(-most, most, np.maximum(limits.velocity, trajectory.speed_bounds()))

    def _check_start(self, jump: FloatArray, tolerance: float) -> None:
        worst = int(np.argmax(np.abs(jump)))
        if 0.0 < tolerance < abs(jump[worst]):
            raise TrajectoryError(
                f'trajectory begins {abs(jump[worst]):.3f} rad or m away from where joint '
                f'{shown(self._names[worst])} should be (start_tolerance {tolerance:g}); give its '
                'first point a time_from_start, and the robot moves there in that time',
                self._names[worst],
                0,
                code='trajectory begins far away',
            )

    def follow(self, plan: MotionPlan) -> str:
        """Start a plan: the next state takes it up.

        :return: what will be done, for the log
        :raises TrajectoryError: if the motion that it continues has been dropped meanwhile
        """
        if plan.epoch != self._epoch:
            raise TrajectoryError(
                'the motion was interrupted while the trajectory was prepared; send it again',
                code='motion interrupted',
            )
        self._inbox.append(plan)
        return plan.text

    def cancel(self, plan: MotionPlan) -> None:
        """Stop a plan smoothly, or forget it if it is still to begin; others are not touched.

        >>> motion = DesiredMotion(robot)
        >>> motion.hold(q)
        True
        >>> plan = motion.plan(arm, [1.0], [q + 0.1], now=0)
        >>> text = motion.follow(plan)
        >>> sample = motion.advance(10_000_000, 0.01)
        >>> motion.cancel(plan)
        >>> for k in range(2, 60):  # it takes the ramp_time, 0.2 s
        ...     sample = motion.advance(k * 10_000_000, 0.01)
        >>> motion.following, motion.stage(plan)
        (False, 'over')
        """
        self._cancelled.append(plan)


def _expected(base: _Snapshot, delay: float) -> Tuple[FloatArray, FloatArray]:
    """Estimate of position and velocity of the motion after a delay [s], each (n,)."""
    if delay == 0.0:
        return base.q, base.v
    q, v, a = base.path.sample(base.s + delay)
    if base.offset is not None:
        q, v, a = base.offset.after(delay)[0].added_to(q, v, a)
    return q, v
