# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A step in a world: the robot, movable objects, and rigid contact among them and all around them.

scene_step.py is such a step from beginning to end, scene_state.py what it works on. Contacts come
from collision/scene/scene.py; the law is in constraints/solvers.
"""
