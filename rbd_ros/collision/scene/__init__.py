# SPDX-License-Identifier: Apache-2.0
"""Shapes of a scene: pairs that are near (scene_bounds.py), all contacts (scene_contacts.py)."""
