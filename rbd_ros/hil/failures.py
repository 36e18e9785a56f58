# SPDX-License-Identifier: Apache-2.0
"""Failures that end a run before its time."""

from __future__ import annotations


class ControllerFailure(RuntimeError):
    """The controller under test failed: it raised, does not answer, or sends invalid answers."""


class PlantFailure(RuntimeError):
    """The plant failed: it rejects a step, or its state is not finite."""
