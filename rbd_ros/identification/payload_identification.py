# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Payload of a robot from a recording: mass, center of mass and inertia.

The model of the robot without payload is known, so the efforts are linear in the ten parameters. A
few joints only show some of them, or combinations: undetermined parameters are NaN, not those of a
possible body. An unphysical estimate is replaced by the nearest physical one, with the
log-Cholesky parameters of its pseudo-inertia.

Source: Atkeson, An and Hollerbach, "Estimation of inertial parameters of manipulator loads and
links" (Int. J. Robotics Research 1986); Rucker and Wensing, "Smooth parameterization of rigid-body
inertia" (IEEE RA-L 2022).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np
from scipy.optimize import least_squares

from rbd_ros.algorithms.regressors.base_parameters import base_parameters, BaseParameters
from rbd_ros.control.robot_joints import shown
from rbd_ros.identification.combinations import (
    combination_name,
    combinations,
    determined,
)
from rbd_ros.identification.preparation import LowPass, motions
from rbd_ros.identification.recording import Floats, Recording, RecordingError
from rbd_ros.identification.recording_equations import (
    equations,
    friction_of,
    FrictionColumns,
    measured_joints,
)
from rbd_ros.identification.regression import Estimate, estimated
from rbd_ros.robot import Robot
from rbd_ros.robot.families.regressors_family import NAMES
from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.spatial.pseudo_inertia import from_log_cholesky, log_cholesky

#: Assumed radius of gyration of a payload if the motion does not determine it [m].
GYRATION = 0.05
#: Confidence in it relative to measurements: standard deviation of log-Cholesky parameters.
LOOSE = 30.0
#: Fraction of a moment of inertia about the origin that is assigned to the center of mass.
_CENTRAL = 0.5
#: Standard deviations, and fraction of the largest parameter, by which a body may miss the
#: estimate.
_SIGNIFICANT, _CLOSE = 3.0, 1e-6
#: A smaller mass counts as no payload [kg].
LIGHTEST = 1e-6


@dataclass(frozen=True)
class PayloadEstimate:
    """Payload of a link, and the estimate behind it.

    :param link: name of the link
    :param parameters: ten inertial parameters in link coordinates, (10,) [kg, kg m, kg m^2]; NaN
        if undetermined, all zero without a payload
    :param estimate: estimated parameters and combinations, then friction and offsets
    :param combinations: inertial parameters in each of the first of these, with their factors
    :param identified: those of the ten parameters that the recording determines individually
    :param body: parameters of a body that agrees with the estimate, (10,); others are chosen
    :param adjusted: whether the estimate was unphysical
    :param notes: warnings about the recording

    >>> from rbd_ros.identification import identify_payload
    >>> carried = payload_parameters(1.5, (0.0, 0.02, 0.08), np.diag([0.004, 0.004, 0.002]))
    >>> found = identify_payload(robot, recorded(payload=carried), 'tool0')
    >>> round(found.mass, 1), bool(found.center[2] > 0.07), found.inertia.shape
    (1.5, True, (3, 3))
    >>> bool((found.center_deviations() < 0.01).all())
    True
    >>> bool((found.inertia_deviations() < 0.01).all())
    True
    """

    link: str
    parameters: Floats
    estimate: Estimate
    combinations: Tuple[Dict[str, float], ...]
    identified: Tuple[str, ...]
    body: Floats
    adjusted: bool
    notes: Tuple[str, ...]

    @property
    def mass(self) -> float:
        """Mass [kg]; NaN if undetermined."""
        return float(self.parameters[0])

    @property
    def center(self) -> Floats:
        """Center of mass in link coordinates, (3,) [m]; NaN if undetermined."""
        if self.mass < LIGHTEST:
            return np.zeros(3)
        center: Floats = self.parameters[1:4] / self.mass
        return center

    @property
    def inertia(self) -> Floats:
        """Inertia about the center of mass in link axes, (3, 3) [kg m^2]; NaN if undetermined."""
        if self.mass < LIGHTEST:
            return np.zeros((3, 3))
        body = RigidBodyInertia.from_parameters(self.parameters.tolist())
        return np.array(body.mass_center()[2], dtype=float)

    def center_deviations(self) -> Optional[Floats]:
        """Return the standard deviations of the center of mass, (3,) [m], NaN if undetermined.

        None if no component is determined.
        """
        at = {next(iter(terms)): k for k, terms in enumerate(self.combinations) if len(terms) == 1}
        found = [name in at for name in NAMES[1:4]]
        if 'm' not in at or not any(found) or self.mass < LIGHTEST:
            return None
        x = self.estimate.values
        deviations: Floats = np.full(3, np.nan)
        for axis, name in enumerate(NAMES[1:4]):
            if name in at:
                slope = np.zeros(len(x))
                slope[at['m']] = -x[at[name]] / x[at['m']] ** 2
                slope[at[name]] = 1.0 / x[at['m']]
                deviations[axis] = np.sqrt(slope @ self.estimate.covariance @ slope)
        return deviations

    def inertia_deviations(self) -> Optional[Floats]:
        """Return the standard deviations of the inertia about the center of mass, (3, 3) [kg m^2].

        None if undetermined.
        """
        if len(self.identified) < len(NAMES) or self.mass < LIGHTEST:
            return None
        mass, h = self.estimate.values[0], self.estimate.values[1:4]
        rows, columns = np.triu_indices(3)
        diagonal, unit = (rows == columns)[:, None], np.eye(3)
        # I_C = I - (h . h 1 - h h^T) / m, differentiated by m, h = m c and I.
        moved = diagonal[:, 0] * (h @ h) - h[rows] * h[columns]
        across = 2.0 * diagonal * h - unit[rows] * h[columns, None] - unit[columns] * h[rows, None]
        slopes = np.column_stack([moved / mass**2, -across / mass, np.eye(6)])
        variances = np.einsum('ij,jk,ik->i', slopes, self.estimate.covariance[:10, :10], slopes)
        deviations = np.zeros((3, 3))
        deviations[rows, columns] = deviations[columns, rows] = np.sqrt(variances)
        return deviations


def identify_payload(
    robot: Robot,
    recording: Recording,
    link: str,
    *,
    friction: bool = False,
    offset: bool = False,
    cutoff: float = 0.0,
    missing_joints: Optional[Mapping[str, float]] = None,
) -> PayloadEstimate:
    """Return the payload of a link during a recording.

    The model of the robot without the payload must be accurate: identify that first, or check it
    with `validate_model`.

    :param robot: robot without the payload
    :param recording: see `read_recording`
    :param link: link with the payload
    :param friction: whether to estimate viscous and Coulomb friction of the joints as well;
        otherwise those of the robot are used
    :param offset: whether to estimate a constant offset of each effort sensor
    :param cutoff: cutoff frequency of the filter [Hz]; 0: 10, or less for a slow recording
    :param missing_joints: constant positions of joints that the recording lacks [rad or m]
    :raises RecordingError: if the recording cannot be used
    :raises ValueError: for an unknown link, or one that does not move

    >>> from rbd_ros.identification import identify_payload
    >>> carried = payload_parameters(1.5, (0.0, 0.02, 0.08), np.diag([0.004, 0.004, 0.002]))
    >>> found = identify_payload(robot, recorded(payload=carried), 'tool0')
    >>> abs(found.mass - 1.5) < 0.01, bool(np.abs(found.center - [0.0, 0.02, 0.08]).max() < 0.001)
    (True, True)
    """
    body = robot.model.link(link).body
    if body == 0:
        raise ValueError(
            f'link {shown(link)} is fixed to the base, so no joint carries its payload; name a '
            'moving link'
        )
    whole = recording.for_robot(robot, missing_joints)
    low_pass = LowPass.for_recording(whole, cutoff)
    parts = motions(whole, robot, low_pass)
    to_body = parameter_transform(robot, link)
    columns = slice(10 * (body - 1), 10 * body)
    torque = robot.regressors.torque

    def regressor(q: Floats, v: Floats, a: Floats) -> Floats:
        of_link: Floats = torque(q, v, a)[..., columns] @ to_body
        return of_link

    base = _seen(robot, regressor)
    extra = FrictionColumns(friction, offset, measured_joints(parts))

    def known(q: Floats, v: Floats, a: Floats) -> Floats:
        effort = robot.inverse_dynamics(q, v, a)
        return effort if friction else effort + friction_of(robot, v)

    def reduced(q: Floats, v: Floats, a: Floats) -> Floats:
        return base.reduce(regressor(q, v, a))

    made = equations(robot, parts, low_pass, reduced, len(base.columns), known, extra)
    parts_of = combinations(base, NAMES)
    names = [f'{link}: {combination_name(terms)}' for terms in parts_of] + extra.names(robot)
    estimate = estimated(made, names)
    own, (found, adjusted) = determined(base), _consistent(base, estimate)
    parameters: Floats = np.full(10, np.nan)
    parameters[list(own)] = base.of(found)[[base.columns.index(k) for k in own]]
    if not adjusted:
        parameters[list(own)] = estimate.values[[base.columns.index(k) for k in own]]
    elif not found.any():
        parameters[:] = 0.0
    seen = tuple(NAMES[k] for k in own)
    return PayloadEstimate(
        link, parameters, estimate, tuple(parts_of), seen, found, adjusted, whole.notes
    )


def parameter_transform(robot: Robot, link: str) -> Floats:
    """Return the matrix from ten parameters in link coordinates to those of its body, (10, 10)."""
    placement = robot.model.link(link).placement
    columns = []
    for k in range(10):
        unit = RigidBodyInertia.from_parameters([float(k == n) for n in range(10)])
        moved: Any = placement.inverse_apply(unit)
        columns.append(moved.parameters())
    return np.array(columns, dtype=float).T


def _seen(robot: Robot, regressor: Any) -> BaseParameters:
    """Return the combinations of the ten parameters that determine this robot's efforts."""
    rng = np.random.default_rng(1)
    q = robot.random_configurations(60, rng)
    v, a = rng.normal(size=(2, 60, robot.nv))
    base = base_parameters(regressor(q, v, a).reshape(-1, 10))
    if not base.columns:
        raise RecordingError('the efforts of this robot do not depend on a payload of that link')
    return base


def _consistent(base: BaseParameters, estimate: Estimate) -> Tuple[Floats, bool]:
    """Return ten physical parameters nearest to the estimate, and whether they differ.

    Distances are measured by the confidence of the estimate.
    """
    count = len(base.columns)
    x, covariance = estimate.values[:count], estimate.covariance[:count, :count]
    if count == 10:
        try:
            log_cholesky(RigidBodyInertia.from_parameters(x.tolist()))
            return x, False
        except ValueError:
            pass
    scale = np.sqrt(np.diag(covariance))
    factor = np.linalg.cholesky(covariance / np.outer(scale, scale) + 1e-12 * np.eye(count))
    start = _nominal_parameters(base, x)
    if start is None:
        return np.zeros(10), True
    near = np.maximum(_SIGNIFICANT * scale, _CLOSE * np.abs(x).max())

    def errors(theta: Floats) -> Floats:
        parameters = np.array(from_log_cholesky(theta).parameters(), dtype=float)
        measured = np.linalg.solve(factor, (base.grouping @ parameters - x) / scale)
        joined: Floats = np.concatenate([measured, (theta - start) / LOOSE])
        return joined

    best = least_squares(errors, start, x_scale='jac', max_nfev=400, xtol=1e-12, ftol=1e-12).x
    parameters = np.array(from_log_cholesky(best).parameters(), dtype=float)
    return parameters, count == 10 or bool((np.abs(base.of(parameters) - x) > near).any())


def _nominal_parameters(base: BaseParameters, x: Floats) -> Optional[Floats]:
    """Return log-Cholesky parameters of a body of some extent with about this mass and center.

    An undetermined mass is chosen such that a body can have the estimated moments.
    """
    if 0 in determined(base):
        guess = np.linalg.lstsq(base.grouping[:, :4], x, rcond=None)[0]
        mass = guess[0]
    else:
        guess = np.linalg.pinv(base.grouping) @ x
        about_origin = guess[[4, 7, 9]].max()  # an upper bound of m |c|^2
        mass = guess[1:4] @ guess[1:4] / (_CENTRAL * about_origin) if about_origin > 0.0 else 0.0
    if mass < LIGHTEST:
        return None
    about: Any = (mass * GYRATION**2 * np.eye(3)).tolist()
    center: Any = (guess[1:4] / mass).tolist()
    body = RigidBodyInertia.from_mass_center(float(mass), center, about)
    return log_cholesky(body)
