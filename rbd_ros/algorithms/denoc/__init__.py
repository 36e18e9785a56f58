# SPDX-License-Identifier: Apache-2.0
"""Dynamics of revolute and prismatic joints by the decoupled natural orthogonal complement.

Equations are derived in three-dimensional vectors at centres of mass (S. K. Saha, ASME J. Applied
Mechanics 66, 1999).
"""
