# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scenarios: what a controller has to do, what fails meanwhile, and what is allowed."""
