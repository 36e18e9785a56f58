# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact of any two convex shapes: gjk.py (distance), epa.py (depth), manifolds.py (points)."""
