# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Description of a robot: names, sizes, limits and joint properties of its URDF."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Callable, Optional, Tuple, TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.model import Body, JointLimits, Model
from rbd_ros.model.model import position_periods
from rbd_ros.robot.kernels import Array

if TYPE_CHECKING:
    from rbd_ros.robot.accuracy_diagnosis import Diagnostics


class RobotDescription:
    """Names, sizes and limits of a robot: the part of `Robot` without dynamics.

    :param model: system model
    """

    def __init__(self, model: Model):
        self._model = model
        self._velocity_limits = self._for_each_dof(lambda limits: limits.velocity)
        self._effort_limits = self._for_each_dof(lambda limits: limits.effort)
        self._lower, self._upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        for i, (at_q, _) in model.independent_slices.items():
            if model.body(i).joint.nq == 1:
                limits = model.limits[i]
                self._lower[at_q], self._upper[at_q] = limits.lower, limits.upper
        for array in (self._lower, self._upper):
            array.flags.writeable = False

    @property
    def model(self) -> Model:
        """System model."""
        return self._model

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self._model.name

    @property
    def nq(self) -> int:
        """Number of position variables."""
        return self._model.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return self._model.nv

    @property
    def joint_names(self) -> Tuple[str, ...]:
        """Names of the joints in the order of q and v, without mimic joints.

        The order is depth first in the tree of the description, siblings as in the file.
        """
        return self._model.joint_names

    @property
    def link_names(self) -> Tuple[str, ...]:
        """Names of all links."""
        return tuple(self._model.links)

    @property
    def body_names(self) -> Tuple[str, ...]:
        """Names of the moving bodies, which are those of the links with their frames."""
        return tuple(body.name for body in self._model.bodies)

    @property
    def warnings(self) -> Tuple[str, ...]:
        """Warnings about the description, each with a link or joint."""
        # Imported on demand: the check of the mass matrix computes it.
        from rbd_ros.robot.robot_warnings import warnings_of

        return warnings_of(self._model)

    def diagnose(self, q: Optional[ArrayLike] = None) -> Diagnostics:
        """Return ratios and condition numbers that determine the accuracy (book 10.1, 10.2).

        :param q: configuration for the condition numbers, (nq,) [rad, m]; None: the neutral one
        :raises ValueError: for a wrong shape

        >>> found = robot.diagnose(q)
        >>> f'{found.condition_number:.0e}', found.warnings  # of the mass matrix
        ('2e+04', ())
        """
        from rbd_ros.robot.accuracy_diagnosis import diagnose

        return diagnose(self._model, None if q is None else np.asarray(q, dtype=float).tolist())

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity in base coordinates, (3,) [m/s^2]."""
        return np.array(self._model.gravity, dtype=float)

    @property
    def effort_limits(self) -> Array:
        """Maximum generalized forces, (nv,) [N m or N]; infinite without a limit in the URDF.

        Here and in the other limits, those of mimic joints apply to the joint that drives them;
        `warnings` reports narrower ones.
        """
        return self._effort_limits

    @property
    def velocity_limits(self) -> Array:
        """Maximum speeds, (nv,) [rad/s or m/s]; infinite without a limit in the URDF."""
        return self._velocity_limits

    @property
    def lower_limits(self) -> Array:
        """Minimum positions, (nq,) [rad or m]; infinite without a limit in the URDF."""
        return self._lower

    @property
    def upper_limits(self) -> Array:
        """Maximum positions, (nq,) [rad or m]; infinite without a limit in the URDF."""
        return self._upper

    def clamp(self, q: ArrayLike) -> Array:
        """Return the nearest configuration within the joint limits, (nq,) [rad, m].

        :param q: configuration, (nq,), or one in each row, (N, nq)
        :raises ValueError: for another shape

        >>> robot.clamp([0.0, 9.0, 0.0, 0.0, -9.0, 0.0]).round(3)
        array([ 0.   ,  6.283,  0.   ,  0.   , -6.283,  0.   ])
        """
        clamped: Array = np.clip(self._rows(q), self._lower, self._upper)
        return clamped

    def within_limits(self, q: ArrayLike, tolerance: float = 0.0) -> Any:
        """Return whether all joints are within their limits; an array for N configurations.

        :param q: configuration, (nq,), or one in each row, (N, nq) [rad, m]
        :param tolerance: tolerance of the limits [rad, m]
        :raises ValueError: for another shape

        >>> robot.within_limits(robot.neutral()), robot.within_limits([0, 9.0, 0, 0, 0, 0])
        (True, False)
        """
        rows = self._rows(q)
        # NaN counts as outside.
        inside = (self._lower - tolerance <= rows) & (rows <= self._upper + tolerance)
        found = inside.all(axis=-1)
        return bool(found) if rows.ndim == 1 else found

    def _rows(self, q: ArrayLike) -> Array:
        rows, nq = np.asarray(q, dtype=float), self._model.nq
        if rows.ndim not in (1, 2) or rows.shape[-1] != nq:
            raise ValueError(f'q must have shape ({nq},) or (N, {nq}), got {rows.shape}')
        return rows

    @cached_property
    def position_periods(self) -> Array:
        """Periods of positions, after which the configuration is the same, (nv,) [rad].

        2 pi for a continuous joint (or a multiple, if a mimic joint follows it with a fraction);
        infinite for all others. Drivers may report such a joint within +-pi.

        >>> robot.position_periods
        array([inf, inf, inf, inf, inf, inf])
        """
        periods = np.array(position_periods(self._model))
        periods.flags.writeable = False
        return periods

    @property
    def damping(self) -> Array:
        """Viscous damping, (nv,) [N m s/rad or N s/m].

        It includes that of mimic joints, reflected to the joints that they follow.
        """
        return self._reflected(lambda body, ratio: body.damping * ratio * ratio)

    @property
    def friction(self) -> Array:
        """Coulomb friction, (nv,) [N m or N].

        It includes that of mimic joints, reflected to the joints that they follow.
        """
        return self._reflected(lambda body, ratio: body.friction * abs(ratio))

    @property
    def armature(self) -> Array:
        """Rotor inertia, part of the diagonal of the mass matrix, (nv,) [kg m^2 or kg].

        It includes that of mimic joints, reflected to the joints that they follow.
        """
        return self._reflected(lambda body, ratio: body.armature * ratio * ratio)

    @property
    def stiffness(self) -> Array:
        """Stiffness of the springs at the joints, (nv,) [N m/rad or N/m], used by the simulator.

        It includes that of mimic joints, reflected to the joints that they follow.
        """
        return self._reflected(lambda body, ratio: body.stiffness * ratio * ratio)

    @property
    def spring_rest(self) -> Array:
        """Positions without spring force, (nv,) [rad or m]; 0 without a spring.

        If mimic joints have springs, that of all springs together.
        """
        model, force, total = self._model, np.zeros(self._model.nv), self.stiffness
        offsets = {c.body: c.offset for c in model.couplings}
        for i, body in model.outward():
            for k in range(model.tree_nv)[body.v]:
                lag = body.rest - offsets.get(i, 0.0)
                force[model.tree_dof_index[k]] += body.stiffness * model.tree_dof_ratio[k] * lag
        return np.divide(force, total, out=np.zeros_like(force), where=total > 0.0)

    def _for_each_dof(self, value: Callable[[JointLimits], float]) -> Array:
        result = np.zeros(self._model.nv)
        for i, (_, at_v) in self._model.independent_slices.items():
            result[at_v] = value(self._model.limits[i])
        result.flags.writeable = False
        return result

    def _reflected(self, value: Callable[[Body, float], float]) -> Array:
        model, result = self._model, np.zeros(self._model.nv)
        for _, body in model.outward():
            for k in range(model.tree_nv)[body.v]:
                result[model.tree_dof_index[k]] += value(body, model.tree_dof_ratio[k])
        return result
