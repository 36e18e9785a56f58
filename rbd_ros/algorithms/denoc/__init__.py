# SPDX-License-Identifier: Apache-2.0
"""Decoupled natural orthogonal complement: dynamics of revolute and prismatic joints derived in
three-dimensional vectors at centres of mass (S. K. Saha, ASME J. Applied Mechanics 66, 1999).
"""
