# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`robot.centroidal`: momentum about the center of mass (Orin, Goswami and Lee 2013)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from rbd_ros.robot.kernels import Array, Compiled, computes, Out


class CentroidalFunctions(Compiled):
    """Momentum of all moving bodies about their center of mass, along the axes of the base.

    Angular momentum comes first. Arguments are the configuration q, (nq,) [rad, m], the velocity
    v, (nv,) [rad/s, m/s], the acceleration a, (nv,) [rad/s^2, m/s^2], and `out`, an array for the
    result. A wrong shape or dtype raises ValueError, a robot without mass ModelError.
    """

    @computes('centroidal_momentum_matrix')
    def momentum_matrix(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the centroidal momentum matrix A, (6, nv): the momentum is A v.

        >>> A = robot.centroidal.momentum_matrix(q)
        >>> np.allclose(A @ v, robot.centroidal.momentum(q, v))
        True
        """
        return self._call('momentum_matrix', (q,), None, out)

    @computes('centroidal_momentum')
    def momentum(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Return the angular and linear momentum about the center of mass, (6,) [N m s, N s].

        >>> h, p = robot.centroidal.momentum(q, v), robot.center_of_mass(q)
        >>> np.allclose(h[:3] + np.cross(p, h[3:]), robot.momentum(q, v)[:3])
        True
        """
        return self._call('momentum', (q, v), None, out)

    @computes('centroidal_momentum_rate')
    def momentum_rate(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Out = None) -> Array:
        """Return the rate of `momentum`, A a + Adot v, (6,) [N m, N]: the sum of all forces.

        >>> f = robot.centroidal.momentum_rate(q, v, a)[3:]  # all forces, weight included
        >>> mass = sum(body.inertia.mass for body in robot.model.bodies)
        >>> f - mass * robot.gravity  # of the base on the arm [N]
        array([ -3.403,  -1.25 , 176.907])
        """
        return self._call('momentum_rate', (q, v, a), None, out)

    @computes('centroidal_bias')
    def bias(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Return the rate of `momentum` at zero joint acceleration, Adot v, (6,) [N m, N].

        >>> A, bias = robot.centroidal.momentum_matrix(q), robot.centroidal.bias(q, v)
        >>> np.allclose(A @ a + bias, robot.centroidal.momentum_rate(q, v, a))
        True
        """
        return self._call('bias', (q, v), None, out)

    @computes('centroidal_inertia')
    def inertia(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Return the inertia with all joints locked, about the center of mass, (6, 6).

        >>> I = robot.centroidal.inertia(q)
        >>> round(float(I[5, 5]), 3)  # mass of all that moves [kg]
        17.7
        """
        return self._call('inertia', (q,), None, out)
