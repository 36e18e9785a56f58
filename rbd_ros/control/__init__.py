# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Control without ROS: trajectories, torque laws, payloads, and checks of measured states.

Pure functions and small classes. The time is always an argument, and nothing here knows messages.

The names below are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.control.analysis.feedforward_trajectory import (
        add_feedforward,
        FeedforwardTrajectory,
    )
    from rbd_ros.control.analysis.static_torque_margin import (
        static_torque_margin,
        StaticTorqueMargin,
        worst_case_poses,
    )
    from rbd_ros.control.analysis.trajectory_report import (
        check_trajectory,
        Margin,
        TrajectoryReport,
    )
    from rbd_ros.control.guards import StateGuard, StateProblem
    from rbd_ros.control.law.feedforward import EffortParts, Feedforward
    from rbd_ros.control.law.friction_compensation import friction_torque
    from rbd_ros.control.law.gains import DAMPING_RATIO, default_gains, NATURAL_FREQUENCY, pd_gains
    from rbd_ros.control.law.gravity_direction import mounted_gravity
    from rbd_ros.control.law.hand_guiding import GuidingSettings, HandGuiding
    from rbd_ros.control.law.insufficient_stiffness import (
        describe_insufficient_stiffness,
        insufficient_stiffness_joints,
    )
    from rbd_ros.control.law.law_settings import (
        FEEDBACKS,
        FEEDFORWARDS,
        FRICTIONS,
        LawSettings,
        TERM_DESCRIPTIONS,
    )
    from rbd_ros.control.law.limits import LimiterMemory, TorqueLimiter, TorqueLimits
    from rbd_ros.control.law.prepared_law import LawMemory
    from rbd_ros.control.law.servo_offset import servo_command
    from rbd_ros.control.law.torque_law import TorqueLaw
    from rbd_ros.control.momentum_observer import (
        CollisionDetector,
        MomentumObserver,
        WrenchEstimate,
        WrenchEstimator,
    )
    from rbd_ros.control.motion.desired_motion import DesiredMotion
    from rbd_ros.control.motion.motion_options import MotionOptions, STATE_LOSS_POLICIES
    from rbd_ros.control.motion.motion_plan import MotionPlan
    from rbd_ros.control.motion.trajectory import JointTrajectory
    from rbd_ros.control.motion.trajectory_checks import TrajectoryError
    from rbd_ros.model.payload import payload_parameters

__all__ = [
    'CollisionDetector',
    'DAMPING_RATIO',
    'DesiredMotion',
    'EffortParts',
    'FEEDBACKS',
    'FEEDFORWARDS',
    'FRICTIONS',
    'Feedforward',
    'FeedforwardTrajectory',
    'STATE_LOSS_POLICIES',
    'GuidingSettings',
    'HandGuiding',
    'StaticTorqueMargin',
    'JointTrajectory',
    'LawMemory',
    'LawSettings',
    'LimiterMemory',
    'Margin',
    'MomentumObserver',
    'MotionOptions',
    'MotionPlan',
    'NATURAL_FREQUENCY',
    'StateGuard',
    'StateProblem',
    'TERM_DESCRIPTIONS',
    'TorqueLaw',
    'TorqueLimiter',
    'TorqueLimits',
    'TrajectoryError',
    'TrajectoryReport',
    'WrenchEstimate',
    'WrenchEstimator',
    'add_feedforward',
    'check_trajectory',
    'default_gains',
    'describe_insufficient_stiffness',
    'friction_torque',
    'worst_case_poses',
    'static_torque_margin',
    'mounted_gravity',
    'payload_parameters',
    'pd_gains',
    'servo_command',
    'insufficient_stiffness_joints',
]

__getattr__, __dir__ = lazy_names(__name__)
