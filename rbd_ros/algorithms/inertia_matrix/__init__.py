# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The joint-space inertia matrix, its factors, and forward dynamics by it (book ch. 6)."""
