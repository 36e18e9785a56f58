# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Helpers of the tests: real robots, random trees, bridges to external oracles.

They import no internals of rbd_ros.
"""
