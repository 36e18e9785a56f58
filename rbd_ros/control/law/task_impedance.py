# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Impedance of a frame: the robot yields at its tool like a spring and a damper.

    torque = J^T (K' e + D de) + (H - J^T L J) (kp (qd - q) + kd (vd - v))

with e the pose of the frame at the desired joints minus the measured one, de likewise its
velocity, stiffness and damping along the axes of the base, J the Jacobian of the frame, H the mass
matrix and L = A^-1 the operational-space inertia, A = J H^-1 J^T the mobility. The second part is
the motion of the joints that does not accelerate the frame (the dynamically consistent null
space). At singular configurations, L is a damped inverse, and so bounded; the first part is always
defined.

A spring that is stiff for the inertia at its end oscillates faster than a sampled loop can follow:
a wrist has hardly any inertia about its own axis. So no mode of the springs is faster than the
bandwidth m: each spring K has another one in series, K'^-1 = K^-1 + A / m^2.

A damping ratio z adds 2 z (L # K') to D, with the geometric mean of two matrices,
L # K = L^1/2 (L^-1/2 K L^-1/2)^1/2 L^1/2, with which all modes of the springs and the robot's
inertia have the same damping ratio. With s = K^1/2 and X = s A s, whose modes have frequencies
x^1/2,

    K' = s m^2 / (X + m^2) s,   L # K' = s m / (X (X + m^2))^1/2 s,

the second by 1 / (x (x + m^2))^1/2 = 2/pi times the integral of 1 / (x + m^2 sin^2 a) over a
from 0 to pi/2, by the trapezoidal rule in log tan a: inverses that exist in any configuration.

The code uses scalars of any type, as law_equations.py, which includes it.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, List, NamedTuple, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.spatial import linear3
from rbd_ros.spatial.scalar import four_quadrant_angle, inner, Scalar, sqrt, where_positive

Scalars = Sequence[Scalar]
Rows = List[List[Scalar]]

#: Relative term added to each axis' mobility before the inversion, and the constant term
#: [1/(kg m^2) and 1/kg].
RELATIVE_DAMPING, MOBILITY = 1e-3, 1e-6

#: Nodes of the rule, m tan a: modes above about the first frequency have the requested damping
#: [rad/s].
RATES = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)

#: Sine below which an angle equals its sine.
SMALL_SINE = 1e-6

#: Count of the law's numbers besides those of the joints: stiffness and damping of the six axes,
#: the damping ratio, and the bandwidth.
COUNT = 14

#: Default of the bandwidth [rad/s]: 6 ms of dead time are tolerated.
BANDWIDTH = 100.0

#: Maximum stiffness and damping; larger ones are typing errors.
MAXIMUM = 1e9


@dataclass(frozen=True, eq=False)
class TaskImpedance:
    """Stiffness and damping of a frame along the axes of the base, rotations first, each (6,).

    :param stiffness: about and along x, y, z [N m/rad, N/m]
    :param damping: likewise [N m s/rad, N s/m]
    :param damping_ratio: additional damping, as a ratio for the springs with the robot's inertia
    :param bandwidth: maximum frequency of the modes of the springs [rad/s]
    """

    stiffness: FloatArray
    damping: FloatArray
    damping_ratio: float
    bandwidth: float

    @classmethod
    def of(
        cls,
        stiffness: Any,
        damping: Any = 0.0,
        damping_ratio: float = 0.0,
        bandwidth: float = BANDWIDTH,
    ) -> TaskImpedance:
        """Check the numbers; one for all axes or one for each.

        :raises ValueError: with the invalid number

        >>> TaskImpedance.of([40.0] * 3 + [400.0] * 3, damping_ratio=1.0).damping_ratio
        1.0
        """
        if not 0.0 < bandwidth <= MAXIMUM:
            raise ValueError(f'task bandwidth must be positive, got {bandwidth}')
        return cls(
            _six('stiffness', stiffness),
            _six('damping', damping),
            float(_six('damping_ratio', damping_ratio)[0]),
            float(bandwidth),
        )

    @property
    def numbers(self) -> FloatArray:
        """Numbers for the law, (14,)."""
        return np.concatenate([self.stiffness, self.damping, [self.damping_ratio, self.bandwidth]])


def _six(name: str, values: Any) -> FloatArray:
    try:
        result = np.broadcast_to(np.asarray(values, dtype=float), (6,)).copy()
    except (TypeError, ValueError):
        raise ValueError(f'task {name} must be one number or 6, got {values}') from None
    if not ((result >= 0.0) & (result <= MAXIMUM)).all():
        raise ValueError(f'task {name} must be from 0 to {MAXIMUM:g}, got {result.tolist()}')
    result.flags.writeable = False
    return result


class TaskMotion(NamedTuple):
    """Pose and Jacobian of the frame, flat, at one configuration.

    :param pose: homogeneous matrix, (16,)
    :param jacobian: at the frame's origin, axes of the base, angular rows first, (6 nv,)
    """

    pose: Scalars
    jacobian: Scalars


def task_forces(
    measured: TaskMotion,
    desired: TaskMotion,
    H: Scalars,
    v: Scalars,
    v_desired: Scalars,
    null_stiffness: Scalars,
    null_damping: Scalars,
    numbers: Scalars,
) -> Tuple[List[Scalar], List[Scalar]]:
    """Return the torques of the springs and of the dampers of a `TaskImpedance`, each (nv,).

    :param measured: motion of the frame at the measured joints
    :param desired: motion of the frame at the desired joints
    :param H: mass matrix, flat (nv nv,)
    :param v: measured velocity, (nv,)
    :param v_desired: desired velocity, (nv,)
    :param null_stiffness: acceleration of the joints for their position errors, (nv,)
    :param null_damping: acceleration of the joints for their velocity errors, (nv,)
    :param numbers: numbers of the impedance, (14,)
    """
    n = len(v)
    J, desired_J = _rows(measured.jacobian, n), _rows(desired.jacobian, n)
    damping, ratio = numbers[6:12], numbers[12]
    mobility = _mobility(_rows(H, n), J)
    e = pose_error(measured.pose, desired.pose)
    de = [inner(d, v_desired) - inner(m, v) for d, m in zip(desired_J, J)]
    force, modal = _spring_and_damper(mobility, numbers[:6], numbers[13], e, de)
    drag = [d * x + 2.0 * ratio * y for d, x, y in zip(damping, de, modal)]
    factor = _cholesky(mobility)

    def torque(wrench: Scalars, acceleration: Scalars) -> List[Scalar]:
        consistent = _solve(factor, [inner(row, acceleration) for row in J])
        net = [f - c for f, c in zip(wrench, consistent)]
        return [
            inner([row[j] for row in J], net) + inner(H[j * n : (j + 1) * n], acceleration)
            for j in range(n)
        ]

    return torque(force, null_stiffness), torque(drag, null_damping)


def pose_error(measured: Scalars, desired: Scalars) -> List[Scalar]:
    """Return rotation vector and displacement from one pose to another, axes of the base, (6,).

    :param measured: homogeneous matrix, (16,)
    :param desired: likewise
    """
    columns, goals = ([[T[4 * i + k] for i in range(3)] for k in range(3)]
                      for T in (measured, desired))  # fmt: skip
    sine: Any = (0.0, 0.0, 0.0)
    cosine: Scalar = -0.5
    for column, goal in zip(columns, goals):
        sine = linear3.add(sine, linear3.cross(tuple(column), tuple(goal)))
        cosine = cosine + 0.5 * inner(column, goal)
    sine = [0.5 * x for x in sine]
    square = inner(sine, sine)
    turned = square - SMALL_SINE**2
    size = sqrt(where_positive(turned, square, 1.0))
    scale = where_positive(turned, four_quadrant_angle(size, cosine) / size, 1.0)
    moved = [desired[4 * i + 3] - measured[4 * i + 3] for i in range(3)]
    return [*(scale * x for x in sine), *moved]


def _mobility(H: Rows, J: Rows) -> Rows:
    """Return J H^-1 J^T, damped: the acceleration per force, (6, 6)."""
    factor = _cholesky(H)
    halves = [_forward(factor, row) for row in J]
    result = [[inner(a, b) for b in halves] for a in halves]
    for i in range(6):
        result[i][i] = result[i][i] * (1.0 + RELATIVE_DAMPING) + MOBILITY
    return result


def _spring_and_damper(
    mobility: Rows, stiffness: Scalars, bandwidth: Scalar, e: Scalars, de: Scalars
) -> Tuple[List[Scalar], List[Scalar]]:
    """Return the forces K' e and (L # K') de, each (6,); see above."""
    s = [sqrt(k) for k in stiffness]
    X = [[s[i] * x * s[j] for j, x in enumerate(row)] for i, row in enumerate(mobility)]
    square = bandwidth * bandwidth

    def shifted(shift: Scalar, b: Scalars) -> List[Scalar]:
        """Return S (X + shift)^-1 s b."""
        rows = [[x + shift if i == j else x for j, x in enumerate(r)] for i, r in enumerate(X)]
        inner_part = _solve(_cholesky(rows), [x * y for x, y in zip(s, b)])
        return [x * y for x, y in zip(s, inner_part)]

    force = [square * x for x in shifted(square, e)]
    total: List[Scalar] = [0.0] * len(s)
    for t in RATES:
        cut = 1.0 / (1.0 + t * t / square)  # the squared cosine of a
        weight = 2.0 / math.pi * math.log(RATES[1] / RATES[0]) * t * cut
        total = [a + weight * x for a, x in zip(total, shifted(t * t * cut, de))]
    return force, total


def _cholesky(A: Rows) -> Rows:
    """Return the lower triangle L with L L^T = A, its diagonal inverted."""
    L: Rows = []
    for i, row in enumerate(A):
        line: List[Scalar] = []
        for j in range(i):
            line.append((row[j] - inner(line[:j], L[j][:j])) * L[j][j])
        line.append(1.0 / sqrt(row[i] - inner(line, line)))
        L.append(line)
    return L


def _forward(L: Rows, b: Scalars) -> List[Scalar]:
    x: List[Scalar] = []
    for i, row in enumerate(L):
        x.append((b[i] - inner(row[:i], x)) * row[i])
    return x


def _solve(L: Rows, b: Scalars) -> List[Scalar]:
    """Return the solution of L L^T x = b, with L from `_cholesky`."""
    y = _forward(L, b)
    x: List[Scalar] = [0.0] * len(y)
    for i in reversed(range(len(y))):
        below = range(i + 1, len(y))
        x[i] = (y[i] - inner([L[k][i] for k in below], [x[k] for k in below])) * L[i][i]
    return x


def _rows(flat: Scalars, n: int) -> Rows:
    return [list(flat[k : k + n]) for k in range(0, len(flat), n)]
