# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node gravity_compensation with a fault: what RBD_TEST_FAULT names raises.

`activate`, `deactivate` and so on are methods of a managed node; `law` is the torque law, once it
has sent some torques.
"""

import os
import sys

from rbd_ros.nodes.common.node_process import run_node
from rbd_ros.nodes.gravity_compensation import INTERFACE, law_options

FAULT = os.environ['RBD_TEST_FAULT']
GOOD = 20  # torques before the law fails


def load():
    """Import what the node needs; return a function that creates it."""
    from rbd_ros.nodes.torque.motion_reference import MeasuredPosition, MOVING
    from rbd_ros.nodes.torque.torque_node import TorqueNode

    class Failing(TorqueNode):
        """A torque node with a fault."""

    def fault(*arguments):
        raise RuntimeError(f'fault in {FAULT}')

    class FailingReference(MeasuredPosition):
        """A reference that fails after some states."""

        states = 0

        def rest_kind(self):
            return MOVING

        def desired(self, state):
            self.states += 1
            return fault() if self.states > GOOD else super().desired(state)

    if FAULT != 'law':
        setattr(Failing, FAULT, fault)
    reference = FailingReference if FAULT == 'law' else MeasuredPosition
    return lambda: Failing(INTERFACE, law_options, reference)


if __name__ == '__main__':
    sys.exit(run_node(load))
