# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Systems of the textbooks that the package does not run: to study, and oracles of tests.

It imports the rest of the package. The package imports of it no more than the families of `Robot`
that test/test_architecture.py lists, when they are used; `rbd_ros.algorithms.find` looks for a
name here after its own folder.
"""
