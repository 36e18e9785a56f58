# SPDX-License-Identifier: Apache-2.0
"""Some forces given, and of the other joints the accelerations (book 9.1, 9.2)."""
