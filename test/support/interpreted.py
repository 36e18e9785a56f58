# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots whose functions run on floats, for tests that do not concern the compiler."""

from contextlib import contextmanager

import pytest

from rbd_ros import Robot
from rbd_ros.compiler.runtime import native
from rbd_ros.compiler.runtime.kernel import InterpretedKernel
from rbd_ros.robot.kernels import Kernels
from rbd_ros.robot.variants import check, definition


class _Interpreted(Kernels):
    """Kernels that call the algorithms themselves, as without a compiler."""

    def _make(self, chosen):
        check(self.model, chosen)
        return InterpretedKernel(definition(self.model, chosen))


def interpreted(model):
    """Return the robot of a model, without compilation."""
    robot = Robot(model)
    robot._kernels = _Interpreted(model)
    return robot


@contextmanager
def without_compiler():
    """Provide a block in which new loops and functions are not compiled."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv('RBD_ROS_COMPILER', 'off')
            # A process checks once whether there is a compiler.
            native.unavailable_reason.cache_clear()
            yield
    finally:
        native.unavailable_reason.cache_clear()
