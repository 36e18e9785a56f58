# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Campaigns: many runs of a scenario in parallel processes, with tables and a result page."""
