"""Gravity compensation: torques that hold the robot against gravity where it is."""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.control import TorqueLaw
from rbd_ros.nodes.joint_states import MeasuredState
from rbd_ros.nodes.parameters import Declaration
from rbd_ros.nodes.runtime import run_node
from rbd_ros.nodes.torque_node import broadcast, TORQUE_PARAMETERS, TorqueNode
from rbd_ros.robot import Robot

GRAVITY_COMPENSATION_PARAMETERS: Tuple[Declaration, ...] = (
    *TORQUE_PARAMETERS,
    Declaration(
        'damping',
        (),
        'Damping added by the torque, against the measured velocity: one for all joints or one '
        'for each, in the order '
        'of the robot [N m s/rad or N s/m]; empty: none.',
        minimum=0.0,
        live=True,
    ),
    Declaration(
        'friction_compensation',
        'none',
        'measured: adds the viscous and Coulomb friction of the robot description at the measured '
        'velocity.',
        choices=('none', 'measured'),
        live=True,
    ),
)


class GravityCompensationNode(TorqueNode):
    """See docs/nodes/gravity_compensation.md."""

    def __init__(self):
        super().__init__('gravity_compensation', GRAVITY_COMPENSATION_PARAMETERS)
        self.start()

    def law_options(self, robot: Robot) -> Dict[str, Any]:
        """Arguments of `TorqueLaw`."""
        damping = self.parameters['damping']
        return {
            'model': 'gravity',
            'feedback': 'damping' if damping else 'none',
            'kd': broadcast('damping', damping, robot.nv) if damping else 0.0,
            'friction': self.parameters['friction_compensation'],
            'torque_rate': self.rate_limit(),
        }

    def needs_velocity(self) -> bool:
        """Only damping and friction depend on velocities."""
        return (
            bool(self.parameters['damping']) or self.parameters['friction_compensation'] != 'none'
        )

    def torque(self, law: TorqueLaw, state: MeasuredState) -> np.ndarray:
        """Gravity torque, with damping and friction if chosen."""
        return law(state.q, state.v, dt=self.elapsed(state))


def main(args: Optional[Sequence[str]] = None) -> int:
    """Run the node until it is stopped."""
    return run_node(GravityCompensationNode, args)


if __name__ == '__main__':
    sys.exit(main())
