# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Algorithms of the textbooks that the package does not run: for study, and as test references.

It imports the rest of the package. The package imports only those families of `Robot` from it that
test/test_architecture.py lists, when they are used; `rbd_ros.algorithms.find` searches names here
after its own folder.
"""
