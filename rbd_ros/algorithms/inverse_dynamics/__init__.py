# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces from motion: the recursive Newton-Euler algorithm and what comes of it (book ch. 5)."""
