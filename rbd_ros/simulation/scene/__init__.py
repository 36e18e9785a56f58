# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A step in a world: the robot, movable objects, and rigid contact among all of them.

scene_step.py has the whole step, scene_state.py its data. collision/scene/scene.py finds the
contacts; constraints/solvers solves for their forces.
"""
