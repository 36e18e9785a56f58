"""`robot.regressors`: forces, energy and momentum as linear in the inertial parameters."""

from __future__ import annotations

from typing import Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.algorithms.kinds import UNIFORM
from rbd_ros.algorithms.regressors.base_parameters import base_parameters, BaseParameters
from rbd_ros.algorithms.regressors.energy_regressor import EnergyRegressor
from rbd_ros.robot.compiled import Array, Compiled, computes, Out, Outs

#: The ten parameters of a body, in their order.
NAMES = ('m', 'm cx', 'm cy', 'm cz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')


class RegressorFunctions(Compiled):
    """Regressors: matrices whose products with the inertial parameters are forces and the like.

    There are ten parameters for each moving body, in its coordinates and in the order of
    `RigidBodyInertia.parameters`: mass, mass times centre of mass, and rotational inertia about
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
        """Names of the parameters: the body, and which of its ten."""
        bodies = self._kernels.model.bodies
        return tuple(f'{body.name}: {name}' for body in bodies for name in NAMES)

    @computes('torque_regressor')
    def torque(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Out = None) -> Array:
        """Y with Y pi = inverse dynamics, but for the force that turns rotors (armature).

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
        """Y with Y pi = H a_r + C v_r + gravity torque, C being `Robot.coriolis_matrix`.

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
        """Rows whose products with pi are kinetic energy, without rotors', and potential energy.

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
        """Y with Y pi = spatial momentum in base coordinates.

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
        """Combinations of the parameters that the joint forces depend on, and no others.

        :return: with `columns` numbers of `parameter_names`

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
        return base_parameters(self.torque(q, v, a).reshape(-1, count))
