# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Motion of a robot in groups of joints, each with its own path.

Each joint is in exactly one group. A plan makes its joints a group with its own time, ramp and
offset, independent of other groups. The remaining joints of a split group come to rest on its
path.
"""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from rbd_ros.array_types import FloatArray
from rbd_ros.control.motion.blending import Bounds, Coasting
from rbd_ros.control.motion.motion_plan import Indices, MotionPlan
from rbd_ros.control.motion.path_motion import PathMotion, Rest
from rbd_ros.control.motion.trajectory import JointTrajectory
from rbd_ros.robot.wraparound import Wraparound


class JointGroup:
    """Joints that move along one path.

    :param joints: indices of the joints in the robot, (m,)
    :param motion: their motion
    :param plan: plan that they follow; None: none
    """

    def __init__(self, joints: Indices, motion: PathMotion, plan: Optional[MotionPlan] = None):
        self.joints, self.motion, self.plan = joints, motion, plan
        #: Their indices in `motion`, (m,): not all after a split
        self.rows: Indices = np.arange(len(joints))
        #: Whether the end of the plan is reached and held
        self.arrived = False

    @property
    def follows(self) -> bool:
        """True if a trajectory is running."""
        return isinstance(self.motion.path, JointTrajectory)

    def without(self, taken: NDArray[np.bool_], ramp_time: float) -> Tuple[JointGroup, ...]:
        """Return the rest of the group, if any joint is left.

        :param taken: whether each joint of the robot is removed, (n,)
        :param ramp_time: time in which the remaining ones come to rest, if any is removed [s]
        """
        stays = ~taken[self.joints]
        if not stays.all():
            self.joints, self.rows = self.joints[stays], self.rows[stays]
            self.plan, self.arrived = None, False
            self.slow_down(ramp_time)
        return (self,) if len(self.joints) else ()

    def slow_down(self, ramp_time: float) -> None:
        """Stop on the path."""
        if not self.motion.resting:
            self.motion.slow_down(ramp_time)

    def move(self, step: float) -> bool:
        """Advance by `step` [s]; return whether its trajectory has ended."""
        motion = self.motion
        rest = motion.move(step)
        if rest is None:
            return False
        ended = self.follows and rest is Rest.ARRIVED
        motion.rest_at(motion.q)
        # A pause at the goal does not change that.
        self.arrived = self.arrived or ended
        if not self.arrived:
            self.plan = None
        return ended

    def resume_at(self, q: FloatArray, ramp_time: float) -> None:
        """Continue from other positions of all joints, (n,), or rest there if it was stopping."""
        here = self.motion.q.copy()
        here[self.rows] = q[self.joints]
        if self.motion.stopping:
            self.motion.rest_at(here)
            self.plan, self.arrived = None, False
        else:
            self.motion.resume_at(here, ramp_time)

    def snapshot(self) -> Tuple[Any, ...]:
        """Return fields of `GroupSnapshot`, at each state: a plain tuple takes the least time."""
        motion = self.motion
        return (self.joints, self.rows, motion.path, motion.s, motion.offset, motion.q, motion.v)


class GroupedMotion:
    """Position, velocity and acceleration of all joints, each group along its own path.

    :param q: initial position, at rest, (n,)
    :param bounds: limits of position and velocity
    :param wraparound: continuous joints
    """

    q: FloatArray  # (n,), read-only
    v: FloatArray
    a: FloatArray
    resting: bool  # whether all joints are at rest
    groups: Tuple[JointGroup, ...]

    def __init__(self, q: FloatArray, bounds: Bounds, wraparound: Wraparound):
        self._limits, self._wraparound = bounds, wraparound
        self._all: Indices = np.arange(len(q))
        self.rest_at(q)

    def rest_at(self, q: FloatArray) -> None:
        """Hold all joints at a position, (n,)."""
        motion = PathMotion(q, self._limits, self._wraparound)
        self.groups = (JointGroup(self._all, motion),)
        self._assemble()

    def _assemble(self) -> None:
        """Combine the motion of all joints from the groups."""
        if len(self.groups) == 1:
            motion = self.groups[0].motion
            self.q, self.v, self.a, self.resting = motion.q, motion.v, motion.a, motion.resting
            return
        self.resting = all(group.motion.resting for group in self.groups)
        sample = np.empty((3, len(self._all)))
        for group in self.groups:
            motion = group.motion
            for values, part in zip(sample, (motion.q, motion.v, motion.a)):
                values[group.joints] = part[group.rows]
        sample.flags.writeable = False
        self.q, self.v, self.a = sample

    @property
    def stopping(self) -> bool:
        """True if all moving joints stop by a ramp."""
        moving = [group.motion for group in self.groups if not group.motion.resting]
        return bool(moving) and all(motion.stopping for motion in moving)

    @property
    def follows(self) -> bool:
        """True if any joint follows a running trajectory."""
        return any(group.follows for group in self.groups)

    def rests(self, joints: Indices) -> bool:
        """Return whether all of these joints are at rest."""
        return all(
            group.motion.resting
            for group in self.groups
            if np.intersect1d(group.joints, joints).size
        )

    def group_of(self, plan: MotionPlan) -> Optional[JointGroup]:
        """Return the joints that follow a plan or hold its end; None if there are none."""
        return next((group for group in self.groups if group.plan is plan), None)

    def _take(
        self, joints: Indices, ramp_time: float, plan: Optional[MotionPlan] = None
    ) -> PathMotion:
        """Make a group of joints, initially at rest."""
        if len(joints) == len(self._all):
            motion = PathMotion(self.q, self._limits, self._wraparound)
        else:
            limits, wraparound = self._limits.of(joints), self._wraparound.of(joints)
            motion = PathMotion(self.q[joints], limits, wraparound)
        taken = np.zeros(len(self._all), dtype=bool)
        taken[joints] = True
        left = (part for group in self.groups for part in group.without(taken, ramp_time))
        self.groups = (*left, JointGroup(joints, motion, plan))
        return motion

    def enter(self, plan: MotionPlan, s: float, ramp_time: float) -> None:
        """Move the joints of a plan along its trajectory, starting at its time `s`."""
        if plan.trajectory is not None:
            motion = self._take(plan.joints, ramp_time, plan)
            motion.v = self.v[plan.joints]
            motion.enter(plan.trajectory, s, plan.bounds, ramp_time)
            self.resting = False

    def coast(self, joints: Indices, path: Coasting, ramp_time: float) -> None:
        """Stop joints along a path that begins at their present position."""
        self._take(joints, ramp_time).coast(path, ramp_time)
        self._assemble()

    def slow_down(self, ramp_time: float) -> None:
        """Stop all joints on their paths."""
        for group in self.groups:
            group.slow_down(ramp_time)

    def resume_at(self, q: FloatArray, ramp_time: float) -> None:
        """Continue all joints from another position, (n,); stopping joints rest there."""
        for group in self.groups:
            group.resume_at(q, ramp_time)
        self._assemble()

    def move(self, step: float) -> bool:
        """Advance by `step` [s]; return whether a trajectory has ended."""
        ended = False
        for group in self.groups:
            ended = group.move(step) or ended
        self._assemble()
        return ended
