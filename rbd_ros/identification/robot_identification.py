# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertial parameters and joint friction of a robot from a recording.

Efforts only depend on combinations of the ten parameters of each body, the base parameters, which
are estimated. The ten parameters of each body agree with them, are physically consistent, and are
as near as possible to the description.

Source: Gautier, "Numerical calculation of the base inertial parameters of robots" (J. Robotic
Systems 1991); Lee, Wensing and Park, "Geometric robot dynamic identification: a convex programming
approach" (IEEE T-RO 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Tuple

import numpy as np

from rbd_ros.algorithms.regressors.base_parameters import BaseParameters
from rbd_ros.algorithms.regressors.physical_consistency import (
    consistent_fit,
    inconsistent_bodies,
    pseudo_inertias,
)
from rbd_ros.identification.combinations import combination_name, combinations
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

#: Confidence in the description of a body, relative to measurements of unit variance.
PRIOR = 1.0
#: Extent [m] and mass [kg] that are assigned to a body without any before the fit.
THICKNESS, LIGHTEST = 5e-3, 1e-3


@dataclass(frozen=True)
class ModelEstimate:
    """Parameters of a robot, and the estimate behind them.

    :param parameters: inertial parameters of bodies that agree with the estimate, (10 bodies,)
        [kg, kg m, kg m^2], in the order of `Robot.regressors.parameters`; those that are not
        determined individually are as near to the description as possible
    :param combinations: inertial parameters in each base parameter, with their factors, by name
    :param damping: viscous friction of the joints, (n,); that of the robot if not estimated
    :param friction: Coulomb friction of the joints, (n,); likewise
    :param base: estimated combinations of the parameters
    :param estimate: estimated base parameters, then friction and offsets
    :param nominal: their values in the description
    :param notes: warnings about the recording

    >>> from rbd_ros.identification import identify_base_parameters
    >>> found = identify_base_parameters(robot, recorded())
    >>> found.parameters.shape, found.estimate.names[-1]
    ((60,), 'wrist_3_joint: Coulomb')
    """

    parameters: Floats
    combinations: Tuple[Dict[str, float], ...]
    damping: Floats
    friction: Floats
    base: BaseParameters
    estimate: Estimate
    nominal: Floats
    notes: Tuple[str, ...]


def identify_base_parameters(
    robot: Robot,
    recording: Recording,
    *,
    friction: bool = True,
    offset: bool = False,
    cutoff: float = 0.0,
) -> ModelEstimate:
    """Return the base parameters of a robot, and the friction of its joints.

    :param robot: described robot, with its geometry; its inertias are used if undetermined
    :param recording: see `read_recording`; all joints move and have efforts
    :param friction: whether to estimate viscous and Coulomb friction; otherwise those of the robot
        are used
    :param offset: whether to estimate a constant offset of each effort sensor
    :param cutoff: cutoff frequency of the filter [Hz]; 0: 10, or less for a slow recording
    :raises RecordingError: if the recording cannot be used, or does not excite all parameters

    >>> from rbd_ros.identification import identify_base_parameters
    >>> found = identify_base_parameters(robot, recorded())
    >>> base, pi = robot.regressors.base_parameters(), robot.regressors.parameters
    >>> len(base.columns), len(found.estimate.values)  # and friction of six joints
    (36, 48)
    >>> np.allclose(found.estimate.values[:36], base.of(pi), atol=0.05)
    True
    >>> robot.regressors.inconsistent_bodies(found.parameters)
    ()
    """
    whole = recording.for_robot(robot)
    low_pass = LowPass.for_recording(whole, cutoff)
    parts = motions(whole, robot, low_pass)
    regressors = robot.regressors
    base, urdf = regressors.base_parameters(), regressors.parameters
    joints = measured_joints(parts)
    if len(joints) < robot.nv:
        raise RecordingError(
            'base parameters need the efforts of all joints; identify a payload instead'
        )
    extra = FrictionColumns(friction, offset, joints)

    def reduced(q: Floats, v: Floats, a: Floats) -> Floats:
        return base.reduce(regressors.torque(q, v, a))

    def known(q: Floats, v: Floats, a: Floats) -> Floats:
        # Rotors, which the regressor does not include.
        effort: Floats = robot.inverse_dynamics(q, v, a) - regressors.torque(q, v, a) @ urdf
        return effort if friction else effort + friction_of(robot, v)

    made = equations(robot, parts, low_pass, reduced, len(base.columns), known, extra)
    parts_of = combinations(base, regressors.parameter_names)
    names = [combination_name(terms) for terms in parts_of] + extra.names(robot)
    estimate = estimated(made, names)
    count, n = len(base.columns), robot.nv
    viscous, coulomb = robot.damping, robot.friction
    nominal = [base.of(urdf)]
    if friction:
        viscous = np.maximum(estimate.values[count : count + n], 0.0)
        coulomb = np.maximum(estimate.values[count + n : count + 2 * n], 0.0)
        nominal += [robot.damping, robot.friction]
    if offset:
        nominal += [np.zeros(n)]
    parameters = consistent(base, estimate, urdf)
    return ModelEstimate(
        parameters,
        tuple(parts_of),
        viscous,
        coulomb,
        base,
        estimate,
        np.concatenate(nominal),
        whole.notes,
    )


def consistent(base: BaseParameters, estimate: Estimate, expected: Floats) -> Floats:
    """Return physical parameters that agree with estimated base ones, near expected ones.

    :param base: estimated combinations, the first parameters of the estimate
    :param estimate: their values and covariance
    :param expected: expected parameters of the bodies, (10 bodies,)
    """
    count = len(base.columns)
    covariance = estimate.covariance[:count, :count]
    scale = np.sqrt(np.diag(covariance))
    factor = np.linalg.cholesky(covariance / np.outer(scale, scale) + 1e-12 * np.eye(count))
    Y = np.linalg.solve(factor, base.grouping / scale[:, None])
    beta = np.linalg.solve(factor, estimate.values[:count] / scale)
    return consistent_fit(Y, beta, with_extent(expected), PRIOR).parameters


def with_extent(parameters: Floats) -> Floats:
    """Return bodies' parameters, with unphysical or flat ones replaced by those of some extent.

    :param parameters: inertial parameters, (10 bodies,)
    """
    result = np.array(parameters, dtype=float).reshape(-1, 10)
    thin = set(inconsistent_bodies(parameters, -1e-9))
    for k in thin:
        mass = max(result[k, 0], LIGHTEST)
        result[k, 0] = mass
        J = pseudo_inertias(result[k])[0]
        center = J[:3, 3] / mass
        spread = J[:3, :3] - mass * np.outer(center, center)
        values, axes = np.linalg.eigh(0.5 * (spread + spread.T))
        spread = (axes * np.maximum(values, mass * THICKNESS**2)) @ axes.T
        spread = spread + mass * np.outer(center, center)
        inertia = np.trace(spread) * np.eye(3) - spread
        result[k, 4:] = inertia[np.triu_indices(3)]
    return result.ravel()
