# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`robot.regressors`: forces, energy and momentum as linear functions of inertial parameters."""

from __future__ import annotations

from typing import Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.algorithms.kinds import UNIFORM
from rbd_ros.algorithms.regressors.base_parameters import base_parameters, BaseParameters
from rbd_ros.algorithms.regressors.energy_regressor import EnergyRegressor
from rbd_ros.algorithms.regressors.physical_consistency import (
    consistent_fit,
    ConsistentFit,
    inconsistent_bodies,
    pseudo_inertias,
)
from rbd_ros.robot.kernels import Array, Compiled, computes, Out, Outs
from rbd_ros.robot.other_names import with_former_names

#: The ten parameters of a body, in order.
NAMES = ('m', 'm cx', 'm cy', 'm cz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')


@with_former_names
class RegressorFunctions(Compiled):
    """Regressors: matrices whose products with the inertial parameters are forces or energies.

    There are ten parameters for each moving body, in its coordinates and in the order of
    `RigidBodyInertia.parameters`: mass, mass times center of mass, and rotational inertia about
    the origin, xx, xy, xz, yy, yz, zz.

    >>> robot.regressors.parameters[:4]  # m [kg], m c [kg m] of the first body
    array([ 3.761,  0.   ,  0.007, -0.096])
    >>> robot.regressors.parameter_names[:2]
    ('shoulder_link: m', 'shoulder_link: m cx')
    """

    @property
    def parameters(self) -> Array:
        """Inertial parameters of the robot's bodies, (10 bodies,) [kg, kg m, kg m^2]."""
        bodies = self._kernels.model.bodies
        return np.array([x for body in bodies for x in body.inertia.parameters()], dtype=float)

    @property
    def parameter_names(self) -> Tuple[str, ...]:
        """Names of the parameters: body and parameter."""
        bodies = self._kernels.model.bodies
        return tuple(f'{body.name}: {name}' for body in bodies for name in NAMES)

    @computes('torque_regressor')
    def torque(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Out = None) -> Array:
        """Return Y with Y pi = inverse dynamics, except for the inertia of rotors (armature).

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param a: acceleration, (nv,) [rad/s^2, m/s^2]
        :param out: array for the result
        :return: Y, (nv, 10 bodies)
        :raises ValueError: for a wrong shape or dtype

        >>> Y = robot.regressors.torque(q, v, a)
        >>> Y.shape, np.allclose(Y @ robot.regressors.parameters, tau)
        ((6, 60), True)
        """
        return self._call('torque', (q, v, a), None, out)

    @computes('slotine_li_regressor')
    def slotine_li(
        self, q: ArrayLike, v: ArrayLike, v_r: ArrayLike, a_r: ArrayLike, *, out: Out = None
    ) -> Array:
        """Return Y with Y pi = H a_r + C v_r + gravity torque, with C of `Robot.coriolis_matrix`.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param v_r: reference velocity, (nv,) [rad/s, m/s]
        :param a_r: reference acceleration, (nv,) [rad/s^2, m/s^2]
        :param out: array for the result
        :return: Y, (nv, 10 bodies)
        :raises ValueError: for a wrong shape or dtype

        >>> Y = robot.regressors.slotine_li(q, v, v, a)  # the reference is the motion itself
        >>> np.allclose(Y @ robot.regressors.parameters, tau)
        True
        """
        return self._call('slotine_li', (q, v, v_r, a_r), None, out)

    @computes('energy_regressor')
    def energy(self, q: ArrayLike, v: ArrayLike, *, out: Outs = None) -> EnergyRegressor:
        """Return the regressors of kinetic energy, without rotors, and of potential energy.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: arrays for both
        :return: kinetic and potential, (10 bodies,) each
        :raises ValueError: for a wrong shape or dtype

        >>> Y, pi = robot.regressors.energy(q, v), robot.regressors.parameters
        >>> np.allclose(Y.kinetic @ pi, robot.energy(q, v).kinetic)
        True
        """
        return self._call('energy', (q, v), None, out)

    @computes('momentum_regressor')
    def momentum(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Return Y with Y pi = spatial momentum in base coordinates.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: array for the result
        :return: Y, (6, 10 bodies)
        :raises ValueError: for a wrong shape or dtype

        >>> Y = robot.regressors.momentum(q, v)
        >>> np.allclose(Y @ robot.regressors.parameters, robot.momentum(q, v))
        True
        """
        return self._call('momentum', (q, v), None, out)

    def base_parameters(self) -> BaseParameters:
        """Return the linear combinations of parameters that determine the joint forces.

        :return: `columns` are indices in `parameter_names`

        >>> base = robot.regressors.base_parameters()
        >>> len(base.columns), len(robot.regressors.parameters)
        (36, 60)
        """
        model = self._kernels.model
        count = 10 * len(model.bodies)
        rows = 2 * count // max(model.nv, 1) + 10
        rng = np.random.default_rng(1)
        u = rng.random((rows, *UNIFORM.shape(model)))
        q = self._kernels.get('random_configuration')(u)
        v, a = rng.normal(size=(2, rows, model.nv))
        return base_parameters(self.torque(q, v, a).reshape(rows * model.nv, count))

    def pseudo_inertias(self, parameters: Optional[ArrayLike] = None) -> Array:
        """Return the pseudo-inertia of each body: positive definite if it is consistent.

        :param parameters: inertial parameters pi, (10 bodies,); None: the robot's
        :return: J = [Sigma h; h^T m] of each body, (bodies, 4, 4) [kg m^2, kg m, kg]
        :raises ValueError: for a wrong shape

        >>> J = robot.regressors.pseudo_inertias()
        >>> J.shape, bool((np.linalg.eigvalsh(J) > 0.0).all())
        ((6, 4, 4), True)
        """
        return pseudo_inertias(self.parameters if parameters is None else self._given(parameters))

    def inconsistent_bodies(self, parameters: Optional[ArrayLike] = None) -> Tuple[str, ...]:
        """Return the names of the bodies with physically inconsistent parameters.

        :param parameters: inertial parameters pi, (10 bodies,); None: the robot's
        :raises ValueError: for a wrong shape

        >>> robot.regressors.inconsistent_bodies()
        ()
        """
        given = self.parameters if parameters is None else self._given(parameters)
        bodies = self._kernels.model.bodies
        return tuple(bodies[k].name for k in inconsistent_bodies(given))

    def fit_consistent_parameters(
        self,
        Y: ArrayLike,
        tau: ArrayLike,
        expected: Optional[ArrayLike] = None,
        weight: float = 1e-3,
    ) -> ConsistentFit:
        """Return the physically consistent parameters that fit forces, near expected ones.

        They are the global minimum of |Y pi - tau|^2 / 2 + weight sum d(J, J0), with the
        log-determinant divergence d of the pseudo-inertias (Lee, Wensing and Park 2020).

        :param Y: regressors of the states, (samples, nv, 10 bodies)
        :param tau: measured forces, minus those of rotors and friction, (samples, nv)
        :param expected: expected parameters of the bodies, (10 bodies,); None: the robot's
        :param weight: weight of the distance to them, positive: the variance of the noise of the
            forces times the confidence in them [N^2 m^2, N^2]
        :raises ValueError: for wrong shapes, NaN, a weight that is not positive, or an expected
            body without extent in some direction

        >>> rng = np.random.default_rng(1)
        >>> states = robot.random_configurations(50, rng), *rng.normal(size=(2, 50, 6))
        >>> Y, torques = robot.regressors.torque(*states), robot.inverse_dynamics(*states)
        >>> measured = torques + rng.normal(scale=0.1, size=(50, 6))
        >>> guess = 1.2 * robot.regressors.parameters
        >>> fit = robot.regressors.fit_consistent_parameters(Y, measured, guess)
        >>> robot.regressors.inconsistent_bodies(fit.parameters), fit.error < 0.11
        ((), True)
        """
        prior = self.parameters if expected is None else self._given(expected)
        return consistent_fit(Y, tau, prior, weight)

    def _given(self, parameters: ArrayLike) -> Array:
        given = np.asarray(parameters, dtype=float)
        count = 10 * len(self._kernels.model.bodies)
        if given.shape != (count,):
            raise ValueError(f'parameters must have shape ({count},), got {given.shape}')
        return given
