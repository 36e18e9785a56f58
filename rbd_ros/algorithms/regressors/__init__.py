# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Regressors: matrices by which forces, energy and momentum are linear in inertial parameters."""
