# SPDX-License-Identifier: Apache-2.0
"""How a desired motion behaves when states pause, and how fast it starts and stops."""

from __future__ import annotations

from dataclasses import dataclass
import math

GAP_POLICIES = ('resume', 'hold')


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
