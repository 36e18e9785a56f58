"""`robot.derivatives`: the dynamics together with its derivatives."""

from __future__ import annotations

from numpy.typing import ArrayLike

from rbd_ros.algorithms.derivatives.analytical_derivatives import InverseDynamicsDerivatives
from rbd_ros.algorithms.derivatives.forward_dynamics_derivatives import (
    ForwardDynamicsDerivatives,
)
from rbd_ros.robot.compiled import Compiled, computes, Forces, Outs


class DerivativeFunctions(Compiled):
    """Dynamics together with its derivatives; those by q are along the velocities."""

    @computes('inverse_dynamics_derivatives')
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> InverseDynamicsDerivatives:
        """Generalized forces as `Robot.inverse_dynamics` gives them, and their derivatives.

        The derivative by q is along the velocities (book 4.4), so that a quaternion counts as the
        three freedoms that it has.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param a: acceleration, (nv,) [rad/s^2, m/s^2]
        :param external_forces: as for `Robot.inverse_dynamics`
        :param out: arrays for all four
        :return: tau, (nv,) [N m, N], dtau_dq, dtau_dv and dtau_da, (nv, nv) each
        :raises ValueError: for a wrong shape or dtype, or an unknown link
        """
        return self._call('inverse_dynamics', (q, v, a), external_forces, out)

    @computes('forward_dynamics_derivatives')
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> ForwardDynamicsDerivatives:
        """Accelerations as `Robot.forward_dynamics` gives them, and their derivatives.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: as for `Robot.inverse_dynamics`
        :param out: arrays for all four
        :return: a, (nv,) [rad/s^2, m/s^2], da_dq, da_dv and da_dtau = H^-1, (nv, nv) each
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them
        :raises ValueError: for a wrong shape or dtype, or an unknown link
        """
        return self._call('forward_dynamics', (q, v, tau), external_forces, out)
