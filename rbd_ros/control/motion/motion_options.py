# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Options of a desired motion: gaps of states, and rates of start and stop."""

from __future__ import annotations

from dataclasses import dataclass
import math

STATE_LOSS_POLICIES = ('resume', 'hold')


@dataclass(frozen=True)
class MotionOptions:
    """Options of a desired motion: gaps of states, and rates of start and stop.

    :param state_loss_policy: policy when states were missing or their time restarted: 'resume'
        continues smoothly from the measured position if the gap was short and the robot is near
        the desired position, otherwise like 'hold'; 'hold' drops the motion and holds the
        measured position
    :param max_state_gap: maximum gap after which a motion is resumed [s]
    :param resume_tolerance: maximum distance of any joint from its desired position then [rad or
        m]
    :param max_time_step: maximum time by which one state advances the motion [s]
    :param ramp_time: time in which a motion is stopped, or started after a pause [s]

    >>> from rbd_ros.control import MotionOptions
    >>> MotionOptions(ramp_time=0.5).state_loss_policy
    'resume'
    >>> MotionOptions(state_loss_policy='leap')
    Traceback (most recent call last):
        ...
    ValueError: state_loss_policy must be one of resume, hold, got 'leap'
    """

    state_loss_policy: str = 'resume'
    max_state_gap: float = 1.0
    resume_tolerance: float = 0.2
    max_time_step: float = 0.2
    ramp_time: float = 0.2

    def __post_init__(self) -> None:
        if self.state_loss_policy not in STATE_LOSS_POLICIES:
            raise ValueError(
                f'state_loss_policy must be one of {", ".join(STATE_LOSS_POLICIES)}, '
                f'got {self.state_loss_policy!r}'
            )
        for name in ('max_state_gap', 'resume_tolerance', 'max_time_step', 'ramp_time'):
            if not getattr(self, name) >= 0.0:
                raise ValueError(f'{name} must not be negative, got {getattr(self, name)}')
        for name in ('max_time_step', 'ramp_time'):
            if not 0.0 < getattr(self, name) < math.inf:
                raise ValueError(f'{name} must be positive and finite')
