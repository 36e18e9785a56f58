# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joints with too low gains for the gravity gradient that the law does not compensate."""

from __future__ import annotations

from typing import NamedTuple, Optional, Sequence, Tuple

from rbd_ros.control.law.gains import gravity_gradient, MARGIN, needed_stiffness
from rbd_ros.control.law.law_settings import LawSettings
from rbd_ros.control.robot_joints import dof_names, workspace
from rbd_ros.robot import Robot


class InsufficientStiffness(NamedTuple):
    """A joint whose position gain does not hold against gravity.

    :param joint: name of the joint
    :param kp: its gain [N m/rad or N/m]
    :param needed: gain for stability with the margin, if the other weak joints are raised too
    """

    joint: str
    kp: float
    needed: float


def insufficient_stiffness_joints(
    robot: Robot,
    settings: LawSettings,
    payload_link: Optional[str] = None,
    margin: float = MARGIN,
    count: int = 500,
) -> Tuple[InsufficientStiffness, ...]:
    """Return joints whose position gain does not hold against gravity somewhere in the workspace.

    Empty for laws that compensate gravity at the measured position, or not at all: only feedback
    'pd' without feedforward 'gravity' is concerned. An integral slows the fall, but does not
    prevent it.

    :param settings: settings of a law
    :param payload_link: link that carries the payload of the settings
    :param margin: fraction of the stiffness that is reserved for model errors
    :param count: number of sampled configurations

    >>> soft = LawSettings.for_robot(robot, feedback='pd', kp=30.0, kd=5.0)
    >>> from rbd_ros.control import insufficient_stiffness_joints
    >>> [joint.joint for joint in insufficient_stiffness_joints(robot, soft)]
    ['shoulder_lift_joint', 'elbow_joint']
    >>> insufficient_stiffness_joints(robot, settings)  # gravity at the measured position
    ()
    """
    if settings.feedback != 'pd' or settings.feedforward == 'gravity':
        return ()
    gradients = gravity_gradient(
        robot, workspace(robot, count), settings.gravity, settings.payload, payload_link
    )
    needed = needed_stiffness(settings.kp, gradients, margin)
    return tuple(
        InsufficientStiffness(name, float(kp), float(most))
        for name, kp, most in zip(dof_names(robot), settings.kp, needed)
        if most > kp
    )


def describe_insufficient_stiffness(joints: Sequence[InsufficientStiffness]) -> str:
    """Return one sentence about weak joints for a log; empty if there are none.

    >>> from rbd_ros.control import describe_insufficient_stiffness, insufficient_stiffness_joints
    >>> soft = LawSettings.for_robot(robot, feedback='pd', kp=30.0, kd=5.0)
    >>> describe_insufficient_stiffness(insufficient_stiffness_joints(robot, soft))[:62]
    'the arm may fall: kp is below the gradient of gravity in some '
    >>> describe_insufficient_stiffness(())
    ''
    """
    if not joints:
        return ''
    each = ', '.join(f'{j.joint} (kp {j.kp:.4g}, needs {j.needed:.4g})' for j in joints)
    return (
        'the arm may fall: kp is below the gradient of gravity in some configurations for '
        f'{each}; raise kp, or use feedback computed_torque or feedforward gravity, which '
        'compensate gravity at the measured position'
    )
