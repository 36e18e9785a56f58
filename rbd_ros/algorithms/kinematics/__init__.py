# SPDX-License-Identifier: Apache-2.0
"""Positions, velocities and accelerations of bodies and frames; Jacobians; configurations
(book 4.2, 2.5).
"""
