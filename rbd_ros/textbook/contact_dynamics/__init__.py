# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rigid bodies in contact: point contacts, their equations, and impacts (book ch. 11)."""
