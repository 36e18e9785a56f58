"""`robot.derivatives`: the dynamics together with its derivatives."""

from __future__ import annotations

from numpy.typing import ArrayLike

from rbd_ros.algorithms.derivatives.analytical_derivatives import InverseDynamicsDerivatives
from rbd_ros.algorithms.derivatives.derivatives import (
    BiasForceDerivatives,
    EnergyDerivatives,
    GravityTorqueDerivatives,
    MassMatrixDerivatives,
)
from rbd_ros.algorithms.derivatives.forward_dynamics_derivatives import (
    ForwardDynamicsDerivatives,
)
from rbd_ros.algorithms.derivatives.kinematic_derivatives import (
    JacobianGradient,
    MomentumDerivatives,
)
from rbd_ros.algorithms.derivatives.parameter_derivatives import (
    ForwardDynamicsParameterDerivatives,
)
from rbd_ros.algorithms.derivatives.second_derivatives import (
    ForwardDynamicsSecondDerivatives,
    InverseDynamicsSecondDerivatives,
)
from rbd_ros.robot.compiled import Compiled, computes, Forces, Outs


class DerivativeFunctions(Compiled):
    """Dynamics together with its derivatives; those by q are along the velocities.

    The last axis is that of the freedoms along which the derivative is taken (book 4.4): a
    quaternion counts as the three freedoms that it has. Arguments are the configuration q, (nq,)
    [rad, m], the velocity v, (nv,) [rad/s, m/s], the acceleration a, (nv,) [rad/s^2, m/s^2], the
    generalized forces tau, (nv,) [N m, N], and `out`, arrays for all results.
    """

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

    @computes('forward_dynamics_parameter_derivatives')
    def forward_dynamics_by_parameters(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> ForwardDynamicsParameterDerivatives:
        """Accelerations, and their derivatives by the inertial parameters.

        The parameters are those of `Robot.regressors`; inverse dynamics has the derivatives
        `Robot.regressors.torque`.

        :param external_forces: as for `Robot.inverse_dynamics`
        :return: a, (nv,) [rad/s^2, m/s^2], and da_dpi, (nv, 10 bodies)
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them
        :raises ValueError: for a wrong shape or dtype, or an unknown link
        """
        return self._call('forward_dynamics_by_parameters', (q, v, tau), external_forces, out)

    @computes('bias_force_derivatives')
    def bias_force(
        self,
        q: ArrayLike,
        v: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> BiasForceDerivatives:
        """Bias force as `Robot.bias_force` gives it, and its derivatives.

        :param external_forces: as for `Robot.inverse_dynamics`
        :return: C, (nv,) [N m, N], dC_dq and dC_dv, (nv, nv) each
        :raises ValueError: for a wrong shape or dtype, or an unknown link
        """
        return self._call('bias_force', (q, v), external_forces, out)

    @computes('gravity_torque_derivatives')
    def gravity_torque(self, q: ArrayLike, *, out: Outs = None) -> GravityTorqueDerivatives:
        """Forces that hold the robot against gravity, and their derivatives.

        :return: tau, (nv,) [N m, N], and dtau_dq, (nv, nv)
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('gravity_torque', (q,), None, out)

    @computes('mass_matrix_derivatives')
    def mass_matrix(self, q: ArrayLike, *, out: Outs = None) -> MassMatrixDerivatives:
        """Joint-space inertia matrix H, and its derivatives.

        :return: H, (nv, nv) [kg m^2, kg m, kg], and dH_dq, (nv, nv, nv): element i, j, k is the
            derivative of H_ij along freedom k
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('mass_matrix', (q,), None, out)

    @computes('energy_derivatives')
    def energy(self, q: ArrayLike, v: ArrayLike, *, out: Outs = None) -> EnergyDerivatives:
        """Kinetic and potential energy, and their gradients.

        :return: kinetic and potential [J], dkinetic_dq, dkinetic_dv = H v, dpotential_dq, which
            is the torque of gravity, and dpotential_dv, which is zero, (nv,) each
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('energy', (q, v), None, out)

    @computes('centroidal_momentum_derivatives')
    def centroidal_momentum(
        self, q: ArrayLike, v: ArrayLike, *, out: Outs = None
    ) -> MomentumDerivatives:
        """Momentum about the centre of mass, and its derivatives.

        :return: h, (6,) [N m s, N s], angular momentum first, dh_dq and dh_dv, (6, nv) each
        :raises ModelError: if nothing that moves has mass
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('centroidal_momentum', (q, v), None, out)

    @computes('centre_of_mass_jacobian_gradient')
    def centre_of_mass_jacobian(self, q: ArrayLike, *, out: Outs = None) -> JacobianGradient:
        """Jacobian of the centre of mass, and its derivatives.

        :return: J, (3, nv), and dJ_dq, (3, nv, nv): element i, j, k is the derivative of J_ij
            along freedom k
        :raises ModelError: if nothing that moves has mass
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('centre_of_mass_jacobian', (q,), None, out)

    @computes('inverse_dynamics_second_derivatives')
    def inverse_dynamics_twice(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> InverseDynamicsSecondDerivatives:
        """Second derivatives of inverse dynamics: element i, j, k is along freedom j, then k.

        For two freedoms of one joint that turns about several axes the order counts in dtau_dqdq.

        :param external_forces: as for `Robot.inverse_dynamics`
        :return: dtau_dqdq, dtau_dqdv, dtau_dvdv and dtau_dqda, (nv, nv, nv) each
        :raises ValueError: for a wrong shape or dtype, or an unknown link
        """
        return self._call('inverse_dynamics_twice', (q, v, a), external_forces, out)

    @computes('forward_dynamics_second_derivatives')
    def forward_dynamics_twice(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> ForwardDynamicsSecondDerivatives:
        """Second derivatives of forward dynamics: element i, j, k is along freedom j, then k.

        For two freedoms of one joint that turns about several axes the order counts in da_dqdq.
        Those that are not returned are zero.

        :param external_forces: as for `Robot.inverse_dynamics`
        :return: da_dqdq, da_dqdv, da_dvdv and da_dqdtau, (nv, nv, nv) each
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them
        :raises ValueError: for a wrong shape or dtype, or an unknown link
        """
        return self._call('forward_dynamics_twice', (q, v, tau), external_forces, out)
