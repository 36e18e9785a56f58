# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Comparison of measured efforts with those of the model, with likely causes of errors.

For each joint the error is decomposed by its causes: offset of the sensor, scale (gear ratio or
motor constant), friction missing in the description. A payload of the last link that explains the
errors of all joints is identified as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.identification.payload_identification import identify_payload, PayloadEstimate
from rbd_ros.identification.preparation import LowPass, motions
from rbd_ros.identification.recording import Floats, Recording, RecordingError
from rbd_ros.identification.recording_equations import friction_of, measured_joints
from rbd_ros.robot import Robot

#: Explained fraction of the squared error for a cause to be reported, and size of the error
#: relative to the effort.
DISTINCT, LARGE = 0.3, 0.02


class JointFit(NamedTuple):
    """Quality of the model's prediction of the effort of a joint.

    :param joint: name of the joint
    :param error: root mean square of measured minus predicted effort [N m or N]
    :param effort: root mean square of the measured effort [N m or N]
    :param bias: mean of the error [N m or N]
    :param scale: measured / predicted effort, by least squares without other causes
    :param viscous: missing viscous friction [N m s/rad or N s/m]
    :param coulomb: missing Coulomb friction [N m or N]
    :param explained: fraction of the squared error that these four explain
    :param hint: most likely cause, '' without a clear one

    >>> from rbd_ros.identification import validate_model
    >>> bool(validate_model(robot, recorded()).joints[0].relative_error < 0.02)
    True
    """

    joint: str
    error: float
    effort: float
    bias: float
    scale: float
    viscous: float
    coulomb: float
    explained: float
    hint: str

    @property
    def relative_error(self) -> float:
        """Error relative to the effort."""
        return self.error / self.effort if self.effort else np.inf


@dataclass(frozen=True)
class ModelValidation:
    """Measured and predicted efforts of a recording, after the filter.

    :param joint_names: names of the n joints whose efforts were measured
    :param times: (S,) [s]
    :param measured: (S, n) [N m or N]
    :param predicted: (S, n) [N m or N]
    :param joints: results by joint
    :param payload: payload of the last link that would explain the errors; None: none
    :param payload_explained: fraction of the squared errors that it would explain, with each joint
        relative to its effort
    :param notes: warnings about the recording

    >>> from rbd_ros.identification import validate_model
    >>> found = validate_model(robot, recorded())
    >>> found.joint_names[0], found.measured.shape == found.predicted.shape
    ('shoulder_pan_joint', True)
    """

    joint_names: Tuple[str, ...]
    times: Floats
    measured: Floats
    predicted: Floats
    joints: Tuple[JointFit, ...]
    payload: Optional[PayloadEstimate]
    payload_explained: float
    notes: Tuple[str, ...]


def validate_model(
    robot: Robot,
    recording: Recording,
    *,
    cutoff: float = 0.0,
    missing_joints: Optional[Mapping[str, float]] = None,
) -> ModelValidation:
    """Compare the efforts of a recording with those of the model.

    :param robot: the robot, with friction of its description
    :param recording: see `read_recording`
    :param cutoff: cutoff frequency of the filter [Hz]; 0: 10, or less for a slow recording
    :param missing_joints: constant positions of joints that the recording lacks [rad or m]
    :raises RecordingError: if the recording cannot be used

    >>> from rbd_ros.identification import validate_model
    >>> found = validate_model(robot, recorded(noise=0.02))
    >>> [fit.relative_error < 0.02 for fit in found.joints], found.joints[0].hint
    ([True, True, True, True, True, True], '')
    """
    whole = recording.for_robot(robot, missing_joints)
    low_pass = LowPass.for_recording(whole, cutoff)
    parts = motions(whole, robot, low_pass)
    joints = list(measured_joints(parts))
    if not joints:
        raise RecordingError(f'{whole.label} has no efforts')
    times, measured, predicted, v, sign = [], [], [], [], []
    edge, stride = low_pass.transient, low_pass.stride
    for part in parts:
        model = robot.inverse_dynamics(part.q, part.v, part.a) + friction_of(robot, part.v)
        times.append(part.times[edge : len(part.times) - edge : stride])
        measured.append(low_pass.thinned(part.tau[:, joints]))
        predicted.append(low_pass.thinned(model[:, joints]))
        v.append(low_pass.thinned(part.v[:, joints]))
        sign.append(low_pass.thinned(np.sign(part.v[:, joints])))
    y, p = np.concatenate(measured), np.concatenate(predicted)
    speed, side = np.concatenate(v), np.concatenate(sign)
    names = tuple(robot.joint_names[j] for j in joints)
    fits = tuple(
        _fit(name, y[:, k], p[:, k], speed[:, k], side[:, k]) for k, name in enumerate(names)
    )
    payload, share = _payload(robot, whole, cutoff, fits)
    if payload is not None:  # it has many apparent causes at single joints
        fits = tuple(fit._replace(hint='payload' if fit.hint else '') for fit in fits)
    return ModelValidation(names, np.concatenate(times), y, p, fits, payload, share, whole.notes)


def _fit(name: str, y: Floats, p: Floats, v: Floats, sign: Floats) -> JointFit:
    error = y - p
    columns = np.stack([np.ones_like(p), p, v, sign], axis=1)
    length = np.linalg.norm(columns, axis=0)
    length[length == 0.0] = 1.0
    unit = columns / length
    total = float(error @ error)
    left = error - unit @ np.linalg.lstsq(unit, error, rcond=_ALIKE)[0]
    explained = 1.0 - float(left @ left) / total if total else 0.0
    alone = unit.T @ error  # of each cause alone
    dry = unit[:, [0, 2, 3]]
    _, viscous, coulomb = np.linalg.lstsq(dry, error, rcond=_ALIKE)[0] / length[[0, 2, 3]]
    values = (float(error.mean()), float(1.0 + alone[1] / length[1]), viscous, coulomb)
    effort, rms = float(np.sqrt(np.mean(y**2))), float(np.sqrt(np.mean(error**2)))
    cause = int(np.argmax(np.abs(alone)))
    distinct = alone[cause] ** 2 > DISTINCT * total and rms > LARGE * effort
    hint = _CAUSES[cause].format(values[cause]) if distinct else ''
    return JointFit(
        name, rms, effort, values[0], values[1], float(viscous), float(coulomb), explained, hint
    )


_ALIKE = 1e-2  # singular value below which causes cannot be distinguished
_CAUSES = (
    'the effort sensor has an offset of {:.3g}',
    'the effort is {:.3g} times that of the model: inertia, motor constant or gear ratio',
    'viscous friction differs by {:.3g}',
    'Coulomb friction differs by {:.3g}',
)


def _payload(
    robot: Robot, recording: Recording, cutoff: float, fits: Tuple[JointFit, ...]
) -> Tuple[Optional[PayloadEstimate], float]:
    """Return the payload of the last link, and the fraction of the errors that it explains."""
    link = last_link(robot)
    try:
        found = identify_payload(robot, recording, link, cutoff=cutoff)
    except ValueError:
        return None, 0.0
    before = sum(fit.relative_error**2 for fit in fits)
    noise = found.estimate.noise[~np.isnan(found.estimate.noise)]
    after = sum((n / fit.effort) ** 2 for n, fit in zip(noise, fits) if fit.effort)
    share = 1.0 - after / before if before else 0.0
    sure = found.mass > 3.0 * found.estimate.deviations[0] and found.mass > 0.0
    return (found if share > 0.5 and sure else None), share


def last_link(robot: Robot) -> str:
    """Return the link that is furthest from the base, usually the tool."""
    depth = {0: 0}
    for i, body in robot.model.outward():
        depth[i] = depth[body.parent] + 1
    deepest = max(depth, key=lambda i: depth[i])
    names = [link.name for link in robot.model.links.values() if link.body == deepest]
    return names[-1]
