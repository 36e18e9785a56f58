# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact of convex shapes with triangle meshes and height fields, triangle by triangle."""
