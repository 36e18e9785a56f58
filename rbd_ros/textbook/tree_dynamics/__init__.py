# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Variants of the algorithms for trees, by order of computation (book ch. 5, 6, 9)."""
