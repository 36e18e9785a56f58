# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start of a simulation: default configuration, overlaps, and warnings about them."""
