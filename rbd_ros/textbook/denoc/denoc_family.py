# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`robot.denoc`: dynamics by the decoupled natural orthogonal complement (Saha 1999)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from rbd_ros.robot.kernels import Array, Compiled, computes, Forces, Out, Outs
from rbd_ros.textbook.denoc.udu_decomposition import UDU


class ComplementFunctions(Compiled):
    """Dynamics of robots of hinges and sliders by the natural orthogonal complement.

    Their derivation differs from that of the functions of `Robot` for the same quantities, which
    they agree with. All raise `ModelError` for other joints and for loops.
    """

    @computes('natural_orthogonal_complement')
    def complement(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the natural orthogonal complement N: N v are the twists of all bodies.

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :return: N, (bodies, 6, nv), angular rows first, of the centers of mass, along the base

        >>> N = robot.denoc.complement(q)
        >>> last = robot.frame('wrist_3_link', 'aligned').velocity(q, v)
        >>> N.shape, np.allclose(N[-1, :3] @ v, last[:3])  # its angular velocity
        ((6, 6, 6), True)
        """
        return self._call('complement', (q,), None, out)

    @computes('denoc_mass_matrix')
    def mass_matrix(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the generalized inertia matrix by composite bodies, rotor inertia included.

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :return: symmetric, (nv, nv) [kg m^2, kg m, kg]

        >>> np.allclose(robot.denoc.mass_matrix(q), robot.mass_matrix(q))
        True
        """
        return self._call('mass_matrix', (q,), None, out)

    @computes('denoc_convective_inertia')
    def convective_inertia(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Return the matrix C of convective inertia terms: C v is the force of velocity products.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: array for the result
        :return: C, (nv, nv) [kg m^2/s, kg m/s, kg/s]

        >>> C = robot.denoc.convective_inertia(q, v)
        >>> np.allclose(C @ v, robot.coriolis_torque(q, v))
        True
        """
        return self._call('convective_inertia', (q, v), None, out)

    @computes('denoc_generalized_forces')
    def generalized_forces(
        self, q: ArrayLike, external_forces: Forces = None, *, out: Out = None
    ) -> Array:
        """Return the forces at the joints that gravity and external forces exert.

        :param q: configuration, (nq,) [rad, m]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N]
        :param out: array for the result
        :return: generalized forces, (nv,) [N m, N]

        >>> np.allclose(robot.denoc.generalized_forces(q), -robot.gravity_torque(q))
        True
        """
        return self._call('generalized_forces', (q,), external_forces, out)

    @computes('denoc_inverse_dynamics')
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Out = None,
    ) -> Array:
        """Return the joint forces of a motion, by the recursion over twists and wrenches.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param a: acceleration, (nv,) [rad/s^2, m/s^2]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N]
        :param out: array for the result
        :return: generalized forces, (nv,) [N m, N]

        >>> np.allclose(robot.denoc.inverse_dynamics(q, v, a), tau)
        True
        """
        return self._call('inverse_dynamics', (q, v, a), external_forces, out)

    @computes('denoc_udu')
    def udu(self, q: ArrayLike, *, out: Outs = None) -> UDU:
        """Return the factors of the generalized inertia matrix I = U D U^T, without mimic joints.

        :param q: configuration, (nq,) [rad, m]
        :param out: arrays for both
        :return: U, unit upper triangular, (nv, nv), and the diagonal of D, (nv,)

        >>> U, D = robot.denoc.udu(q)
        >>> np.allclose(U @ np.diag(D) @ U.T, robot.mass_matrix(q))
        True
        """
        return self._call('udu', (q,), None, out)

    @computes('denoc_forward_dynamics')
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Out = None,
    ) -> Array:
        """Return the accelerations that joint forces cause, in three recursions; no mimic joints.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N]
        :param out: array for the result
        :return: accelerations, (nv,) [rad/s^2, m/s^2]

        >>> np.allclose(robot.denoc.forward_dynamics(q, v, tau), a)
        True
        """
        return self._call('forward_dynamics', (q, v, tau), external_forces, out)
