# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Common parts of all nodes: declarations, parameters, diagnostics, messages, processes."""
