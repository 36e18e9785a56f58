# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Campaigns: many runs of a scenario in many processes, with tables and a page of results."""
