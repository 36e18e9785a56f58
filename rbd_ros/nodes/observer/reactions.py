# SPDX-License-Identifier: Apache-2.0
"""What a collision leads to besides the flag: values of the parameter `reaction`."""

from __future__ import annotations

NO_REACTION, STOP = 'none', 'stop'
