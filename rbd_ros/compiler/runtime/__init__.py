# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Kernels in use: arguments checked and broadcast, builtin functions, calls of every kind."""
