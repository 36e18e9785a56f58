# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Configurations of a robot: neutral and random ones, and motion between them."""

from __future__ import annotations

from functools import cached_property
from typing import Callable, cast, Optional

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.compiler.runtime.call_table import generator
from rbd_ros.model import Model
from rbd_ros.robot.kernels import Array, Compiled, computes, Out


def neutral(model: Model) -> Array:
    """Return the configuration with every joint transform the identity, (nq,) [rad, m]."""
    return np.array(
        [x for i in model.independent for x in model.body(i).joint.neutral()], dtype=float
    )


class ConfigurationFunctions(Compiled):
    """Configurations: the part of `Robot` for joint positions."""

    def neutral(self) -> Array:
        """Return the configuration with joints at zero and identity quaternions, (nq,) [rad, m].

        >>> robot.neutral()
        array([0., 0., 0., 0., 0., 0.])
        """
        return neutral(self._kernels.model)

    @computes('random_configuration')
    def random_configuration(
        self, rng: Optional[np.random.Generator] = None, *, out: Out = None
    ) -> Array:
        """Return a random configuration, uniform between the joint limits, (nq,) [rad, m].

        A joint without limits, or with limits beyond 1e6, is sampled within pi of zero if it
        rotates and within 1 m if it slides; orientations are uniform on the rotation group.

        :param rng: random generator; None: one of this process
        :param out: array for the result

        >>> q = robot.random_configuration(np.random.default_rng(1))
        >>> bool(np.all((robot.lower_limits <= q) & (q <= robot.upper_limits)))
        True
        """
        u = (rng or generator()).random(self._uniforms)
        return self._call('random_configuration', (u,), None, out)

    def random_configurations(
        self, count: int, rng: Optional[np.random.Generator] = None, *, out: Out = None
    ) -> Array:
        """Return a batch of configurations, each as by `random_configuration`, (count, nq).

        :param count: number of configurations
        :param rng: random generator; None: one of this process
        :param out: array for the result

        >>> robot.random_configurations(1000).shape
        (1000, 6)
        """
        u = (rng or generator()).random((count, self._uniforms))
        sample = cast(Callable[..., Array], self._kernels.get('random_configuration').function)
        return sample(u, out=out)

    @cached_property
    def _uniforms(self) -> int:
        """Number of random numbers of a configuration."""
        model = self._kernels.model
        return sum(model.body(i).joint.uniforms for i in model.independent)

    @computes('integrate')
    def integrate(
        self, q: ArrayLike, v: ArrayLike, dt: ArrayLike = 1.0, *, out: Out = None
    ) -> Array:
        """Return the configuration after time `dt` from `q` at the constant velocity `v`, (nq,).

        Rotations are exact (book 4.4), and the quaternions of the result have unit length.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param dt: time [s], a number, or one for each state of a batch, (N,)
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype

        >>> robot.integrate(q, v, 0.1)  # after 0.1 s
        array([ 0.05, -0.52,  1.53,  0.5 ,  1.04,  0.1 ])
        """
        return self._call('integrate', (q, v, dt), None, out)

    @computes('difference')
    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Out = None) -> Array:
        """Return the velocity from `q0` to `q1` in unit time, (nv,): the inverse of `integrate`.

        :param q0: initial configuration, (nq,) [rad, m]
        :param q1: final configuration, (nq,) [rad, m]
        :param out: array for the result
        :return: velocity [rad/s, m/s], with the shorter rotations
        :raises ValueError: for a wrong shape or dtype

        >>> q1 = robot.integrate(q, v, 0.1)
        >>> np.allclose(robot.difference(q, q1), 0.1 * v)
        True
        """
        return self._call('difference', (q0, q1), None, out)
