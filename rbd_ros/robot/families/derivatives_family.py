# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
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
from rbd_ros.robot.kernels import Compiled, computes, Forces, Outs
from rbd_ros.robot.other_names import with_former_names


@with_former_names
class DerivativeFunctions(Compiled):
    """Dynamics together with its derivatives; those by q are along the velocities.

    The last axis is the DoF along which the derivative is taken (book 4.4): a quaternion counts as
    three DoFs. Arguments are the configuration q, (nq,)
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
        """Return the generalized forces of `Robot.inverse_dynamics`, and their derivatives.

        The derivative by q is along the velocities (book 4.4), so a quaternion counts as three
        degrees of freedom.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param a: acceleration, (nv,) [rad/s^2, m/s^2]
        :param external_forces: as for `Robot.inverse_dynamics`
        :param out: arrays for all four
        :return: tau, (nv,) [N m, N], dtau_dq, dtau_dv and dtau_da, (nv, nv) each
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> D = robot.derivatives.inverse_dynamics(q, v, a)
        >>> h, dq = 1e-6, np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
        >>> difference = (robot.inverse_dynamics(q + h * dq, v, a) - tau) / h
        >>> np.allclose(D.dtau_dq @ dq, difference, atol=1e-3)
        True
        >>> np.allclose(D.dtau_da, robot.mass_matrix(q))
        True
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
        """Return the accelerations as `Robot.forward_dynamics` gives them, and their derivatives.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: as for `Robot.inverse_dynamics`
        :param out: arrays for all four
        :return: a, (nv,) [rad/s^2, m/s^2], da_dq, da_dv and da_dtau = H^-1, (nv, nv) each
        :raises SingularMassMatrixError: if joints move no mass, with their names
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> D = robot.derivatives.forward_dynamics(q, v, tau)
        >>> np.allclose(D.a, a), np.allclose(D.da_dtau, robot.inverse_mass_matrix(q))
        (True, True)
        >>> H = robot.mass_matrix(q)
        >>> np.allclose(H @ D.da_dq, -robot.derivatives.inverse_dynamics(q, v, a).dtau_dq)
        True
        """
        return self._call('forward_dynamics', (q, v, tau), external_forces, out)

    @computes('forward_dynamics_parameter_derivatives')
    def forward_dynamics_wrt_parameters(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> ForwardDynamicsParameterDerivatives:
        """Return the accelerations, and their derivatives by the inertial parameters.

        The parameters are those of `Robot.regressors`; the derivatives of inverse dynamics are
        `Robot.regressors.torque`.

        :param external_forces: as for `Robot.inverse_dynamics`
        :return: a, (nv,) [rad/s^2, m/s^2], and da_dpi, (nv, 10 bodies)
        :raises SingularMassMatrixError: if joints move no mass, with their names
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> D = robot.derivatives.forward_dynamics_wrt_parameters(q, v, tau)
        >>> Y = robot.regressors.torque(q, v, a)
        >>> np.allclose(robot.mass_matrix(q) @ D.da_dpi, -Y)
        True
        """
        return self._call('forward_dynamics_wrt_parameters', (q, v, tau), external_forces, out)

    @computes('bias_force_derivatives')
    def bias_force(
        self,
        q: ArrayLike,
        v: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> BiasForceDerivatives:
        """Return the bias force as `Robot.bias_force` gives it, and its derivatives.

        :param external_forces: as for `Robot.inverse_dynamics`
        :return: C, (nv,) [N m, N], dC_dq and dC_dv, (nv, nv) each
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> D = robot.derivatives.bias_force(q, v)
        >>> np.allclose(D.C, robot.bias_force(q, v)), D.dC_dv.shape
        (True, (6, 6))
        """
        return self._call('bias_force', (q, v), external_forces, out)

    @computes('gravity_torque_derivatives')
    def gravity_torque(self, q: ArrayLike, *, out: Outs = None) -> GravityTorqueDerivatives:
        """Return the gravity torque and its derivatives.

        :return: tau, (nv,) [N m, N], and dtau_dq, (nv, nv)
        :raises ValueError: for a wrong shape or dtype

        >>> D = robot.derivatives.gravity_torque(q)
        >>> np.allclose(D.dtau_dq, D.dtau_dq.T)  # the Hessian of the potential energy
        True
        >>> D.dtau_dq[1, 1].round(2)  # gravity as a spring at the shoulder [N m/rad]
        -46.82
        """
        return self._call('gravity_torque', (q,), None, out)

    @computes('mass_matrix_derivatives')
    def mass_matrix(self, q: ArrayLike, *, out: Outs = None) -> MassMatrixDerivatives:
        """Return the joint-space inertia matrix H, and its derivatives.

        :return: H, (nv, nv) [kg m^2, kg m, kg], and dH_dq, (nv, nv, nv): element i, j, k is the
            derivative of H_ij along degree of freedom k
        :raises ValueError: for a wrong shape or dtype

        >>> D = robot.derivatives.mass_matrix(q)
        >>> C = robot.coriolis_matrix(q, v)
        >>> np.allclose(D.dH_dq @ v, C + C.T)  # the rate of H
        True
        """
        return self._call('mass_matrix', (q,), None, out)

    @computes('energy_derivatives')
    def energy(self, q: ArrayLike, v: ArrayLike, *, out: Outs = None) -> EnergyDerivatives:
        """Return the kinetic and potential energy, and their gradients.

        :return: kinetic and potential [J], dkinetic_dq, dkinetic_dv = H v, dpotential_dq, the
            gravity torque, and dpotential_dv, which is zero, (nv,) each
        :raises ValueError: for a wrong shape or dtype

        >>> D = robot.derivatives.energy(q, v)
        >>> np.allclose(D.dpotential_dq, robot.gravity_torque(q))
        True
        >>> np.allclose(D.dkinetic_dv, robot.mass_matrix(q) @ v)
        True
        """
        return self._call('energy', (q, v), None, out)

    @computes('centroidal_momentum_derivatives')
    def centroidal_momentum(
        self, q: ArrayLike, v: ArrayLike, *, out: Outs = None
    ) -> MomentumDerivatives:
        """Return the momentum about the center of mass, and its derivatives.

        :return: h, (6,) [N m s, N s], angular momentum first, dh_dq and dh_dv, (6, nv) each
        :raises ModelError: if no moving body has mass
        :raises ValueError: for a wrong shape or dtype

        >>> D = robot.derivatives.centroidal_momentum(q, v)
        >>> np.allclose(D.dh_dq @ v + D.dh_dv @ a, robot.centroidal.momentum_rate(q, v, a))
        True
        """
        return self._call('centroidal_momentum', (q, v), None, out)

    @computes('center_of_mass_jacobian_gradient')
    def center_of_mass_jacobian(self, q: ArrayLike, *, out: Outs = None) -> JacobianGradient:
        """Return the Jacobian of the center of mass, and its derivatives.

        :return: J, (3, nv), and dJ_dq, (3, nv, nv): element i, j, k is the derivative of J_ij
            along degree of freedom k
        :raises ModelError: if no moving body has mass
        :raises ValueError: for a wrong shape or dtype

        >>> J, dJ_dq = robot.derivatives.center_of_mass_jacobian(q)
        >>> np.allclose(J, robot.center_of_mass_jacobian(q)), dJ_dq.shape
        (True, (3, 6, 6))
        """
        return self._call('center_of_mass_jacobian', (q,), None, out)

    @computes('inverse_dynamics_second_derivatives')
    def inverse_dynamics_second_order(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> InverseDynamicsSecondDerivatives:
        """Return the second derivatives of inverse dynamics.

        Element i, j, k is along degree of freedom j, then k. For two DoFs of one joint that
        rotates about several axes, the order matters in dtau_dqdq.

        :param external_forces: as for `Robot.inverse_dynamics`
        :return: dtau_dqdq, dtau_dqdv, dtau_dvdv and dtau_dqda, (nv, nv, nv) each
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> D = robot.derivatives.inverse_dynamics_second_order(q, v, a)
        >>> np.allclose(D.dtau_dvdv @ v @ v, 2 * robot.coriolis_torque(q, v))  # it is quadratic
        True
        """
        return self._call('inverse_dynamics_second_order', (q, v, a), external_forces, out)

    @computes('forward_dynamics_second_derivatives')
    def forward_dynamics_second_order(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Outs = None,
    ) -> ForwardDynamicsSecondDerivatives:
        """Return the second derivatives of forward dynamics.

        Element i, j, k is along degree of freedom j, then k. For two DoFs of one joint that
        rotates about several axes, the order matters in da_dqdq. All other derivatives are zero.

        :param external_forces: as for `Robot.inverse_dynamics`
        :return: da_dqdq, da_dqdv, da_dvdv and da_dqdtau, (nv, nv, nv) each
        :raises SingularMassMatrixError: if joints move no mass, with their names
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> D = robot.derivatives.forward_dynamics_second_order(q, v, tau)
        >>> D.da_dqdq.shape, np.allclose(D.da_dqdq, D.da_dqdq.transpose(0, 2, 1))  # hinges only
        ((6, 6, 6), True)
        """
        return self._call('forward_dynamics_second_order', (q, v, tau), external_forces, out)
