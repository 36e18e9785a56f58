# SPDX-License-Identifier: Apache-2.0
"""What benchmark/hil.py measures, a part of it in each module."""
