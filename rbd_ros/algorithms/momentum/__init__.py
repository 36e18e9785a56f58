# SPDX-License-Identifier: Apache-2.0
"""Energy, momentum and centre of mass."""
