# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Start of the simulated robot: initial state, state held during compilation, its base."""
