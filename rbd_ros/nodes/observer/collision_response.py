# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Values of the parameter `collision_response`: responses to a collision besides the flag."""

from __future__ import annotations

NO_RESPONSE, STOP = 'none', 'stop'
