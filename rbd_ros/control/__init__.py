"""Control without ROS: trajectories, torque laws, payloads, and guards against bad states.

Pure functions and small classes; clocks are arguments, and nothing here knows messages.
"""

from rbd_ros.control.friction import friction_torque
from rbd_ros.control.gains import pd_gains
from rbd_ros.control.guards import StaleWatchdog, StateGuard, StateProblem
from rbd_ros.control.limits import TorqueLimiter
from rbd_ros.control.motion import DesiredMotion, GAP_POLICIES, MotionOptions, MotionPlan
from rbd_ros.control.payload import payload_parameters
from rbd_ros.control.torque import FEEDBACKS, FRICTIONS, MODELS, TERM_DESCRIPTIONS, TorqueLaw
from rbd_ros.control.trajectory import JointTrajectory
from rbd_ros.control.trajectory_checks import TrajectoryError

__all__ = [
    'DesiredMotion',
    'FEEDBACKS',
    'FRICTIONS',
    'GAP_POLICIES',
    'JointTrajectory',
    'MODELS',
    'MotionOptions',
    'MotionPlan',
    'StaleWatchdog',
    'StateGuard',
    'StateProblem',
    'TERM_DESCRIPTIONS',
    'TorqueLaw',
    'TorqueLimiter',
    'TrajectoryError',
    'friction_torque',
    'payload_parameters',
    'pd_gains',
]
