# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dynamics of a robot: forces, accelerations, inertia, energy and momentum."""

from __future__ import annotations

from typing import Callable, cast, TYPE_CHECKING

from numpy.typing import ArrayLike

from rbd_ros.robot.kernels import Array, Compiled, computes, Forces, Out, Outs
from rbd_ros.robot.variants import FULL, Storage

if TYPE_CHECKING:
    # Result types: algorithms are imported on demand.
    from rbd_ros.algorithms.inertia_matrix.equations_of_motion import EquationsOfMotion
    from rbd_ros.algorithms.momentum.energy import Energy


class DynamicsFunctions(Compiled):
    """Dynamics: the part of `Robot` for the terms of the equation of motion."""

    @computes('inverse_dynamics')
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Out = None,
    ) -> Array:
        """Return the forces tau = H(q) a + C(q, v) for an acceleration (RNEA, book 5.3).

        Joint friction is not included.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param a: acceleration, (nv,) [rad/s^2, m/s^2]
        :param external_forces: spatial force [n; f] on each named link, in BASE coordinates, (6,)
            [N m, N]
        :param out: array for the result
        :return: tau, (nv,) [N m, N]
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> robot.inverse_dynamics(q, v, a)  # [N m]
        array([  0.66 ,   0.325, -19.028,  -1.977,   0.322,   0.   ])
        >>> point, force = robot.frame('tool0').pose(q)[:3, 3], [0.0, 0.0, -20.0]  # 20 N down
        >>> load = {'tool0': np.r_[np.cross(point, force), force]}
        >>> robot.inverse_dynamics(q, v, a, load)  # what it takes with that load [N m]
        array([  0.66 ,  -4.071, -27.499,  -3.847,   1.395,   0.   ])
        >>> robot.inverse_dynamics(np.tile(q, (4096, 1)), v, a).shape  # a batch
        (4096, 6)
        """
        return self._call('inverse_dynamics', (q, v, a), external_forces, out)

    @computes('forward_dynamics')
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Out = None,
    ) -> Array:
        """Return the acceleration for generalized forces, without joint friction (ABA).

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: spatial force [n; f] on each named link, in BASE coordinates, (6,)
            [N m, N]
        :param out: array for the result
        :return: acceleration, (nv,) [rad/s^2, m/s^2]
        :raises SingularMassMatrixError: if joints move no mass, with their names
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> np.allclose(robot.forward_dynamics(q, v, tau), a)  # tau is that of a
        True
        >>> robot.forward_dynamics(q, v, np.zeros(6)).round(1)  # limp [rad/s^2]
        array([ -7.5, -15.4,  40.5, -40.9, -13. ,  14.8])
        """
        return self._call('forward_dynamics', (q, v, tau), external_forces, out)

    @computes('bias_force')
    def bias_force(
        self, q: ArrayLike, v: ArrayLike, external_forces: Forces = None, *, out: Out = None
    ) -> Array:
        """Return the bias force C of H a + C = tau, (nv,) [N m, N] (book 6.1).

        It is the force for zero acceleration: it compensates Coriolis and centrifugal effects,
        gravity and external forces.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param external_forces: as for `inverse_dynamics`
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> H, C = robot.mass_matrix(q), robot.bias_force(q, v)
        >>> np.allclose(H @ a + C, tau)
        True
        """
        return self._call('bias_force', (q, v), external_forces, out)

    @computes('gravity_torque')
    def gravity_torque(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the generalized forces that hold the robot still against gravity, (nv,) [N m, N].

        >>> robot.gravity_torque(q)  # [N m]
        array([ -0.   ,   2.505, -17.303,  -1.787,   0.302,   0.   ])
        """
        return self._call('gravity_torque', (q,), None, out)

    @computes('mass_matrix')
    def mass_matrix(self, q: ArrayLike, *, storage: Storage = 'full', out: Out = None) -> Array:
        """Return the joint-space inertia matrix H(q) including rotors (CRBA, book 6.2), (nv, nv).

        :param q: configuration, (nq,)
        :param storage: 'full', or 'packed' for the lower triangle only, row by row, as
            `H[numpy.tril_indices(nv)]`: half the memory, whose bandwidth limits large batches
        :param out: array for the result
        :return: H, (nv, nv), or (nv (nv + 1) / 2,) if packed [kg m^2, kg m, kg]
        :raises ValueError: for a wrong shape or dtype, or an unknown storage

        >>> H = robot.mass_matrix(q)
        >>> H.shape, round(float(0.5 * v @ H @ v), 3)  # kinetic energy [J]
        ((6, 6), 0.118)
        >>> robot.mass_matrix(q, storage='packed').shape
        (21,)
        """
        if storage != FULL:
            packed = cast(
                Callable[..., Array], self._kernels.get('mass_matrix', storage=storage).function
            )
            return packed(q, out=out)
        return self._call('mass_matrix', (q,), None, out)

    @computes('inverse_mass_matrix')
    def inverse_mass_matrix(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the inverse of the mass matrix, the accelerations per unit force, (nv, nv).

        It is faster than inverting `mass_matrix`. For one acceleration, `forward_dynamics` is
        faster still.

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :return: H^-1, (nv, nv) [1/(kg m^2), 1/(kg m), 1/kg]
        :raises SingularMassMatrixError: if joints move no mass, with their names
        :raises ValueError: for a wrong shape or dtype

        >>> np.allclose(robot.inverse_mass_matrix(q) @ robot.mass_matrix(q), np.eye(6))
        True
        """
        return self._call('inverse_mass_matrix', (q,), None, out)

    @computes('equations_of_motion')
    def equations_of_motion(
        self, q: ArrayLike, v: ArrayLike, external_forces: Forces = None, *, out: Outs = None
    ) -> EquationsOfMotion:
        """Return the inertia matrix and bias force of H a + C = tau, in one pass.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param external_forces: as for `inverse_dynamics`
        :param out: arrays for H and C
        :return: H, (nv, nv), and C, (nv,), as of `mass_matrix` and `bias_force`
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> H, C = robot.equations_of_motion(q, v)
        >>> np.allclose(np.linalg.solve(H, tau - C), a)
        True
        """
        return self._call('equations_of_motion', (q, v), external_forces, out)

    @computes('coriolis_matrix')
    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Return the Coriolis matrix C(q, v) of the Christoffel symbols, (nv, nv).

        C v is the bias force without gravity, and dH/dt - 2 C is skew-symmetric.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype

        >>> C = robot.coriolis_matrix(q, v)
        >>> np.allclose(C @ v, robot.bias_force(q, v) - robot.gravity_torque(q))
        True
        """
        return self._call('coriolis_matrix', (q, v), None, out)

    @computes('coriolis_torque')
    def coriolis_torque(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Return the generalized forces of Coriolis and centrifugal effects alone, (nv,) [N m, N].

        It is the bias force without gravity and external forces, quadratic in the velocity.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype

        >>> robot.coriolis_torque(q, v)  # [N m]
        array([0.002, 0.004, 0.008, 0.003, 0.004, 0.   ])
        >>> np.allclose(robot.coriolis_torque(q, 2 * v), 4 * robot.coriolis_torque(q, v))
        True
        """
        return self._call('coriolis_torque', (q, v), None, out)

    @computes('coriolis_tensor')
    def coriolis_tensor(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the coefficients of products of velocities, (nv, nv, nv) [kg m^2, kg m, kg].

        C @ v is the Coriolis matrix, and C @ v @ v the Coriolis torque. If the velocity is the
        rate of the position, they are the Christoffel symbols of the mass matrix.

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype

        >>> np.allclose(robot.coriolis_tensor(q) @ v @ v, robot.coriolis_torque(q, v))
        True
        """
        return self._call('coriolis_tensor', (q,), None, out)

    @computes('joint_reactions')
    def reactions(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Out = None,
    ) -> Array:
        """Return the spatial force [n; f] on each body from its parent by the joint (book 5.3).

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param a: acceleration, (nv,) [rad/s^2, m/s^2]
        :param external_forces: as for `inverse_dynamics`
        :param out: array for the result
        :return: in the coordinates of the bodies, whose names are `body_names`, (bodies, 6)
            [N m, N]
        :raises ValueError: for a wrong shape or dtype, or an unknown link

        >>> wrenches = robot.reactions(q, v, a)
        >>> wrenches.shape
        (6, 6)
        >>> np.allclose(wrenches[0, 2], tau[0])  # the first joint turns about z
        True
        """
        return self._call('reactions', (q, v, a), external_forces, out)

    @computes('energy')
    def energy(self, q: ArrayLike, v: ArrayLike, *, out: Outs = None) -> Energy:
        """Return the kinetic and potential energy [J] of all moving bodies.

        Kinetic energy includes rotors; the potential energy is zero with all mass at the height of
        the base's origin.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: arrays, (), for both
        :return: two numbers, or arrays, (N,), for a batch; `total` is their sum
        :raises ValueError: for a wrong shape or dtype

        >>> energy = robot.energy(q, v)
        >>> round(energy.kinetic, 3), round(energy.potential, 2)  # [J]
        (0.118, 74.09)
        >>> energy.total == energy.kinetic + energy.potential
        True
        """
        return self._call('energy', (q, v), None, out)

    @computes('momentum')
    def momentum(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Return the spatial momentum in base coordinates, (6,) [N m s, N s].

        First the angular momentum about the base's origin, then the linear momentum.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype

        >>> robot.momentum(q, v)  # about the base's origin: angular [N m s], linear [N s]
        array([-0.095, -0.691,  0.277, -1.347, -0.147, -0.568])
        """
        return self._call('momentum', (q, v), None, out)
