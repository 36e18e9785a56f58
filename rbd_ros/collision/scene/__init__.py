# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Shapes of a scene: pairs that are near (near_pairs.py), all contacts (scene_contacts.py)."""
