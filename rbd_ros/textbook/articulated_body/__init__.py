# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Assembly of articulated bodies, by handles and by halves (book ch. 7)."""
