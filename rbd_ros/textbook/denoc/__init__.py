# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of revolute and prismatic joints by the decoupled natural orthogonal complement.

Equations are derived in three-dimensional vectors at centers of mass (S. K. Saha, ASME J. Applied
Mechanics 66, 1999).
"""
