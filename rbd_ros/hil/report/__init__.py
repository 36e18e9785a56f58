# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Records of runs, and their evaluation: verdict, latency, report, replay."""
