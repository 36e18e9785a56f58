# SPDX-License-Identifier: Apache-2.0
"""Energy, momentum and center of mass."""
