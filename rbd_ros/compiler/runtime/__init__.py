# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Runtime of kernels: checks and broadcasting of arguments, builtin functions, all calls."""
