# SPDX-License-Identifier: Apache-2.0
"""Systems of the textbooks that the package does not run: to study, and oracles of tests.

Variants of algorithms, DeNOC, assemblies of articulated bodies, impacts, floating bases without a
joint, event-driven simulation. It imports the rest of the package, which knows of it no more than
the names that test/test_architecture.py lists: families of `Robot`, imported when they are used,
and the algorithms, which `rbd_ros.algorithms.find` looks for here after its own.
"""
