"""Dynamics together with its derivatives, in one pass.

The derivatives are those of the texts themselves, exact to rounding: differentiation is the
compiler's (rbd_ros/compiler/passes).
"""

from typing import Any, NamedTuple

from rbd_ros.algorithms.declaration import derivatives_of
from rbd_ros.algorithms.newton_euler import newton_euler


class InverseDynamicsDerivatives(NamedTuple):
    """Inverse dynamics and its derivatives; by q along the velocities.

    :param tau: generalized forces, (nv,) [N m, N]
    :param dtau_dq: their derivatives by the configuration, (nv, nv)
    :param dtau_dv: by the velocity, (nv, nv)
    :param dtau_da: by the acceleration, the joint-space inertia matrix, (nv, nv)
    """

    tau: Any
    dtau_dq: Any
    dtau_dv: Any
    dtau_da: Any


INVERSE_DYNAMICS_DERIVATIVES = derivatives_of(
    newton_euler,
    'inverse_dynamics_derivatives',
    by=('q', 'v', 'a'),
    result=InverseDynamicsDerivatives,
)
