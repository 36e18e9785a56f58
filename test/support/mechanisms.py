# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mechanisms with kinematic loops whose motion is known in closed form."""

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import Frame, LoopJoint
from rbd_ros.model.joints import Revolute
from rbd_ros.spatial import PluckerTransform

CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.25, 0.22, 0.5  # [m]


def four_bar():
    """Return a planar arm of three links whose tip is hinged to the ground, GROUND along x."""
    robot = Robot.from_urdf(resource_path('urdf/planar_3r.urdf'))
    model = robot.model
    tip = Frame(3, PluckerTransform.translation((ROCKER, 0.0, 0.0)))
    root = model.body(1).tree_transform
    anchor = PluckerTransform.translation((GROUND, 0.0, 0.0)) * root
    hinge = Revolute((0.0, 0.0, 1.0))
    return Robot(model.with_loops([LoopJoint('closing', Frame(0, anchor), tip, hinge)]))
