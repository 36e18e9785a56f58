# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The `rbd_ros` command, with one module for each command, which is loaded on demand."""

from rbd_ros.programs import guard_module

guard_module()
