# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Steps: forces, the solver of friction, limits and contact, and the loop over steps."""
