# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sine and cosine as straight-line code, the same for scalars and vectors.

The angle is reduced by a multiple n of pi/2 with 159 bits, with all rounding errors of the
reduction, so that the result is as accurate near a zero of the sine at 1e6 rad as near the origin.
Then the polynomials on [-pi/4, pi/4] (minimax coefficients as published in FDLIBM) are summed with
the remainder. There is no branch. Beyond 2**49 rad rounding leaves an angle without a direction,
and the result is NaN.
"""

from __future__ import annotations

from typing import Callable, Tuple, TYPE_CHECKING

if TYPE_CHECKING:
    from rbd_ros.compiler.targets.llvm.emit import Emitter

# pi/2 = HALF_PI[0] + HALF_PI[1] + HALF_PI[2] to 159 bits, each part the nearest double of the rest
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
TWO_OVER_PI = 0.6366197723675814
# Beyond, the double of 2/pi is too inaccurate for the right multiple of pi/2.
MAX_ANGLE = 2.0**49
# Adding 1.5 * 2**52 leaves the nearest integer in the low bits of the sum.
MAGIC = 6755399441055744.0

SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def emit_sine_cosine(code: Emitter, angle: str) -> Tuple[str, str]:
    """Emit the code for the sine and the cosine of a value.

    :param code: emitter of single operations, each rounded exactly as written:
        `rbd_ros.compiler.targets.llvm.emit.Emitter`
    :param angle: name of the angle [rad]
    :return: names of sine and cosine
    """
    c: Callable[[float], str] = code.constant
    shifted = code.fma(angle, c(TWO_OVER_PI), c(MAGIC))
    n = code.fsub(shifted, c(MAGIC))
    minus_n = code.fneg(n)

    # r + tail = angle - n pi/2. The first difference is exact and a multiple of 2**-53, hence of
    # the last bit of p, so first - r is exact too (fast two-sum); the rest of the product is
    # rounded once. An angle that is too large makes the tail NaN, off the critical path.
    first = code.fma(minus_n, c(HALF_PI[0]), angle)
    p = code.fmul(n, c(HALF_PI[1]))
    r = code.fsub(first, p)
    rest = code.fma(minus_n, c(HALF_PI[1]), code.fsub(first, r))
    least = code.select(code.exceeds(angle, MAX_ANGLE), c(float('nan')), c(HALF_PI[2]))
    tail = code.fma(minus_n, least, rest)

    z = code.fmul(r, r)
    zz, zr = code.fmul(z, z), code.fmul(z, r)
    # sin(r + tail) = r + (r z poly(z) + tail), without tail z/2, which is below the rounding
    sine = code.fadd(r, code.fma(zr, _polynomial(code, z, zz, SINE), tail))
    # cos(r + tail) = (1 - r r/2) + r (r z poly(z) - tail); the bracket is rounded once
    w = code.fma(code.fmul(r, c(-0.5)), r, c(1.0))
    correction = code.fma(zr, _polynomial(code, z, zz, COSINE), code.fneg(tail))
    cosine = code.fma(r, correction, w)

    quadrant = code.low_bits(shifted)
    odd, half_turn = code.bit(quadrant, 0), code.bit(quadrant, 1)
    return (
        code.negate_if(half_turn, code.select(odd, cosine, sine)),
        code.negate_if(code.xor(odd, half_turn), code.select(odd, sine, cosine)),
    )


def _polynomial(code: Emitter, z: str, zz: str, coefficients: Tuple[float, ...]) -> str:
    """Return the sum of coefficients times powers of z, pairs of them at once (Estrin's scheme).

    Its dependency chain has three operations; Horner's scheme, no more accurate here, has five.
    """
    pairs = [
        code.fma(z, code.constant(odd), code.constant(even))
        for even, odd in zip(coefficients[::2], coefficients[1::2])
    ]
    total = pairs[-1]
    for pair in reversed(pairs[:-1]):
        total = code.fma(zz, total, pair)
    return total
