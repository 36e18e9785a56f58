# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Filtered positions and efforts for equations of simultaneous values.

Velocity and acceleration are those of the filtered position, by fourth-order central differences.
The filter runs forwards and backwards over each part of a recording, so it has no delay. Efforts
and all regressors pass the same filter, which preserves equations that are linear in the
parameters. Samples are then thinned until their noise is nearly independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, NamedTuple, Tuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from rbd_ros.control.robot_joints import shown
from rbd_ros.identification.recording import Floats, Recording, RecordingError
from rbd_ros.robot import Robot

ORDER = 4  # of the Butterworth filter, which is applied twice
#: Default cutoff frequency [Hz], and its maximum relative to the rate of the recording.
CUTOFF, CUTOFF_OF_RATE = 10.0, 1.0 / 8.0
#: Time at both ends of a part that is discarded, in periods of the cutoff frequency.
TRANSIENT = 4.0
#: Number of samples that are kept, per period of the cutoff frequency.
KEPT = 2.5
#: Deviation from a steady rate above which states are interpolated, in steps.
JITTER = 0.02
#: Relative speed below which a joint counts as resting, where dry friction is undetermined.
RESTING = 0.005
#: Minimum motion of a joint that counts as moving [rad or m].
STILL = 1e-4


class Motion(NamedTuple):
    """A part of a recording without gaps, at a steady rate; arrays are (N, n).

    :param times: (N,) [s]
    :param q: filtered positions [rad or m]
    :param v: velocities [rad/s or m/s]
    :param a: accelerations [rad/s^2 or m/s^2]
    :param tau: measured efforts, NaN for joints without them [N m or N]
    """

    times: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats


@dataclass(frozen=True)
class LowPass:
    """The filter of a recording, and its parameters.

    :param rate: states per second [1/s]
    :param cutoff: frequency at which one pass halves the power [Hz]
    :raises RecordingError: if the rate is too low for the cutoff
    """

    rate: float
    cutoff: float

    def __post_init__(self) -> None:
        if not 0.0 < self.cutoff < 0.45 * self.rate:
            raise RecordingError(
                f'a cutoff of {self.cutoff:g} Hz is not possible with {self.rate:.4g} states per '
                f'second; give one between 0 and {0.45 * self.rate:.4g} Hz'
            )

    @classmethod
    def for_recording(cls, recording: Recording, cutoff: float = 0.0) -> LowPass:
        """Return the filter of a recording.

        :param cutoff: cutoff frequency [Hz]; 0: `CUTOFF`, or less for a slow recording
        """
        rate = 1.0 / recording.step
        return cls(rate, cutoff or min(CUTOFF, CUTOFF_OF_RATE * rate))

    @property
    def transient(self) -> int:
        """Number of samples at both ends of a part that are discarded."""
        return int(np.ceil(TRANSIENT * self.rate / self.cutoff))

    @property
    def stride(self) -> int:
        """Step between samples that are kept."""
        return max(1, int(self.rate / (KEPT * self.cutoff)))

    def __call__(self, values: Floats) -> Floats:
        """Filter along the first axis, forwards and backwards."""
        sections = butter(ORDER, self.cutoff, fs=self.rate, output='sos')
        pad = min(self.transient, len(values) - 1)
        filtered: Floats = sosfiltfilt(sections, values, axis=0, padlen=pad)
        return filtered

    def thinned(self, values: Floats) -> Floats:
        """Return the filtered values without the ends, thinned."""
        edge = self.transient
        kept: Floats = self(values)[edge : len(values) - edge : self.stride]
        return kept


def motions(recording: Recording, robot: Robot, low_pass: LowPass) -> List[Motion]:
    """Return the parts of a recording with velocities and accelerations.

    :param recording: recording in the order of the robot (`Recording.for_robot`)
    :param low_pass: its filter
    :raises RecordingError: if no part is long enough
    """
    shortest = 3 * low_pass.transient
    found = [
        _motion(recording, piece, low_pass)
        for piece in recording.segments()
        if (recording.times[piece.stop - 1] - recording.times[piece.start]) * low_pass.rate
        > shortest
    ]
    if not found:
        raise RecordingError(
            f'{recording.label} has no part longer than {shortest / low_pass.rate:.3g} s without '
            'a gap; record for longer, or raise the cutoff frequency'
        )
    for j, name in enumerate(robot.joint_names):
        moved = max(float(np.ptp(motion.q[:, j])) for motion in found)
        if moved > STILL and not np.isnan(found[0].tau[:, j]).all():
            efforts = np.concatenate([motion.tau[:, j] for motion in found])
            if not np.ptp(efforts):
                raise RecordingError(
                    f'{recording.label}: the effort of joint {shown(name)} is always '
                    f'{efforts[0]:g} although the joint moves, so it is not measured; leave its '
                    'efforts out or record a robot that measures them'
                )
    return found


def _motion(recording: Recording, piece: slice, low_pass: LowPass) -> Motion:
    times, q, tau = recording.times[piece], recording.positions[piece], recording.efforts[piece]
    count = int(round((times[-1] - times[0]) * low_pass.rate)) + 1
    steady = times[0] + np.arange(count) / low_pass.rate
    if len(times) != count or np.abs(times - steady).max() > JITTER / low_pass.rate:
        steady = np.linspace(times[0], times[-1], count)
        # Shape-preserving interpolation would bend positions; efforts have noise anyway.
        q = CubicSpline(times, q, axis=0)(steady)
        tau = np.stack([np.interp(steady, times, column) for column in tau.T], axis=1)
    q = low_pass(q)
    v, a = derivatives(q, 1.0 / low_pass.rate)
    return Motion(steady, q, v, a, tau)


def derivatives(q: Floats, h: float) -> Tuple[Floats, Floats]:
    """Return the first and second derivative along the first axis, by differences of fourth order.

    :param q: values, (N, n), N at least 5
    :param h: step [s]
    :return: (N, n) each; two values at both ends are second-order differences
    """
    v, a = np.gradient(q, h, axis=0), np.empty_like(q)
    v[2:-2] = (8.0 * (q[3:-1] - q[1:-3]) - (q[4:] - q[:-4])) / (12.0 * h)
    a[1:-1] = (q[2:] - 2.0 * q[1:-1] + q[:-2]) / h**2
    a[2:-2] = (16.0 * (q[3:-1] + q[1:-3]) - (q[4:] + q[:-4]) - 30.0 * q[2:-2]) / (12.0 * h**2)
    a[0], a[-1] = a[1], a[-2]
    return v, a


def moving(motion: Motion, fastest: Floats, low_pass: LowPass) -> Floats:
    """Return 1 where joints move at the kept samples, 0 where one rests nearby, (S, n).

    :param motion: part of a recording
    :param fastest: maximum speed of each joint in the recording, (n,)
    :param low_pass: its filter
    """
    rests = np.abs(motion.v) <= RESTING * fastest
    # A filtered sample depends on about half a period of the cutoff around it.
    reach = max(1, int(0.25 * low_pass.rate / low_pass.cutoff))
    total = np.cumsum(np.vstack([np.zeros((1, rests.shape[1])), rests]), axis=0)
    low = np.clip(np.arange(len(rests)) - reach, 0, len(rests))
    high = np.clip(np.arange(len(rests)) + reach + 1, 0, len(rests))
    free = (total[high] - total[low]) < 0.5 * (high - low)[:, None]
    edge = low_pass.transient
    kept: Floats = free[edge : len(free) - edge : low_pass.stride].astype(float)
    return kept
