# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Soft contact with a massless compliant surface (book 11.8), discretized implicitly in time.

At each contact point the surface is a spring K and a damper D without mass; z is its deformation,
p the gap of the body above the undeformed surface, negative when it is pressed in. The book's law
in continuous time is

    touching (p = z):  f_n = max(0, -K z - D dp/dt)          (11.75)
    always:            dz/dt = -(K z + f_n)/D                (11.76)
    tangentially:      f_stick = -K_t x - D_t v              (11.78)
                       f_t = f_stick, shortened to mu f_n    (11.79)
                       dx/dt = -(K_t x + f_t)/D_t            (11.77)

Over a time step h the right side is taken at its end (implicit Euler). There the gap is p + h r_n
and the tangent deformation of a sticking contact is x + h r_t, with r the velocity of the body's
point at the end of the step. So the force is a function of r alone, and the velocity solver
determines both. A step is stable for any stiffness, a resting body sinks by exactly f/K, and the
limit h -> 0 is the book's law.
"""

from __future__ import annotations

import math
from typing import Tuple

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler.loops import compiled, load_vec, Vec, Vec3

#: States of a contact point.
OPEN, STICKING, SLIDING = 0, 1, 2


@compiled
def force_slope(stiffness: float, damping: float, timestep: float) -> float:
    """Return how the normal force, or one of a sticking contact, changes with the velocity.

    It is negative: in the solver's equation a contact adds h (h K + D) to the inertia along it.

    :param stiffness: K [N/m]
    :param damping: D [N s/m]
    :param timestep: h [s]
    :return: -(h K + D) [N s/m]
    """
    return -(timestep * stiffness + damping)


@compiled
def bilateral_force(
    rate: float, gap: float, deformation: float, stiffness: float, damping: float, timestep: float
) -> float:
    """Return the force that takes the surface to the body's new gap; negative if it must pull.

    :param rate: normal velocity of the body's point at the end of the step [m/s]
    :param gap: p at the beginning [m]
    :param deformation: z at the beginning [m]
    :param stiffness: K_n [N/m]
    :param damping: D_n [N s/m]
    :param timestep: h [s]
    """
    # The gap at the end of the step, where z = p.
    end = gap + timestep * rate
    # If the body has left the surface behind, the surface first catches up: it moves from z to the
    # body's new gap within the step, and D acts on that velocity.
    surface_rate = rate + (gap - deformation) / timestep
    return -stiffness * end - damping * surface_rate


@compiled
def normal_force(
    rate: float, gap: float, deformation: float, stiffness: float, damping: float, timestep: float
) -> float:
    """Return the normal force f_n (11.75): `bilateral_force`, but the ground cannot pull.

    Arguments are those of `bilateral_force`.
    """
    f: float = bilateral_force(rate, gap, deformation, stiffness, damping, timestep)
    return max(0.0, f)


@compiled
def stick_force(
    rate: float, deformation: float, stiffness: float, damping: float, timestep: float
) -> float:
    """Return one tangent component of f_stick (11.78) at the end of the step.

    :param rate: tangent velocity of the body's point at the end of the step [m/s]
    :param deformation: x at the beginning [m]
    :param stiffness: K_t [N/m]
    :param damping: D_t [N s/m]
    :param timestep: h [s]
    """
    return -stiffness * (deformation + timestep * rate) - damping * rate


@compiled
def within_cone(f_1: float, f_2: float, maximum: float) -> Tuple[float, float]:
    """Return a tangent force shortened to the friction bound, in the same direction (11.79).

    :param f_1: force along the first tangent [N]
    :param f_2: force along the second tangent [N]
    :param maximum: mu f_n [N]
    """
    # Both tangents together: the friction cone is round, no pyramid. A zero force is always within
    # it, so nothing is divided by zero.
    length = math.sqrt(f_1 * f_1 + f_2 * f_2)
    if length <= maximum:
        return f_1, f_2
    return maximum * (f_1 / length), maximum * (f_2 / length)


@compiled
def relaxed_deformation(
    deformation: float, force: float, stiffness: float, damping: float, timestep: float
) -> float:
    """Return the deformation of the surface at the end of the step under a force (11.76, 11.77).

    It is the z' that solves D (z' - z)/h = -(K z' + f).

    :param deformation: z, or a component of x, at the beginning [m]
    :param force: f [N]
    :param stiffness: K [N/m]
    :param damping: D [N s/m]
    :param timestep: h [s]
    """
    # The implicit rule never overshoots, and without damping it is the spring's -f/K.
    return (damping * deformation - timestep * force) / (damping + timestep * stiffness)


@compiled
def contact_force(
    rate: Vec3,
    gap: float,
    z: float,
    x: FloatArray,
    parameters: FloatArray,
    timestep: float,
    slope: FloatArray,
) -> Tuple[int, Vec3]:
    """Return the force on the body at a contact point, and its dependence on the velocity.

    :param rate: velocity of the body's point at the end of the step: normal, two tangents [m/s]
    :param gap: gap p at the beginning of the step [m]
    :param z: normal deformation of the surface at the beginning [m]
    :param x: tangent deformations at the beginning, (2,) [m]
    :param parameters: K_n, D_n, K_t, D_t [N/m, N s/m], mu, (5,)
    :param timestep: h [s]
    :param slope: derivative of the force with respect to `rate`, (3, 3) [N s/m]; a result
    :return: OPEN, STICKING or SLIDING, and the force [N]
    """
    K, D, K_t, D_t, mu = load_vec(parameters, 5)
    for r in range(3):
        slope[r] = Vec(0.0, 0.0, 0.0)
    # Normal first: friction depends on it, never the reverse.
    f_n = normal_force(rate[0], gap, z, K, D, timestep)
    if not f_n > 0.0:
        return OPEN, Vec(0.0, 0.0, 0.0)
    slope[0, 0] = force_slope(K, D, timestep)
    f_1 = stick_force(rate[1], x[0], K_t, D_t, timestep)
    f_2 = stick_force(rate[2], x[1], K_t, D_t, timestep)
    tangent_slope = force_slope(K_t, D_t, timestep)
    maximum, length = mu * f_n, math.sqrt(f_1 * f_1 + f_2 * f_2)
    t_1, t_2 = within_cone(f_1, f_2, maximum)
    if length <= maximum:
        slope[1, 1] = slope[2, 2] = tangent_slope
        return STICKING, Vec(f_n, t_1, t_2)
    # Sliding, f_t = mu f_n d with the unit vector d along f_stick. Its length follows the normal
    # force, so the slope is not symmetric; its direction follows the tangent velocity, by
    # (1 - d d^T).
    d_1, d_2 = f_1 / length, f_2 / length
    turning = tangent_slope * maximum / length
    slope[1, 0], slope[2, 0] = mu * d_1 * slope[0, 0], mu * d_2 * slope[0, 0]
    slope[1, 1] = turning * (1.0 - d_1 * d_1)
    slope[2, 2] = turning * (1.0 - d_2 * d_2)
    slope[1, 2] = slope[2, 1] = -turning * d_1 * d_2
    return SLIDING, Vec(f_n, t_1, t_2)
