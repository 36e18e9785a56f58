# SPDX-License-Identifier: Apache-2.0
"""Kinds of faults: each is a `FaultKind` in a file of this folder, and nothing else lists it."""
