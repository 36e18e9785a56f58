"""Sine and cosine as straight-line code, one text for one value and for a vector of them.

The angle is reduced by a multiple n of pi/2 given to 159 bits, with every rounding error of the reduction carried
along, so that the result is as good next to a zero of the sine at 1e6 rad as it is near the origin; then the
polynomials of the classical kernels on [-pi/4, pi/4] (minimax coefficients as published in FDLIBM) are summed with the
carried tail. There is no branch. Beyond 2**50 rad an angle has no digits left to speak of and the result is NaN.
"""

from __future__ import annotations

from typing import Callable, Tuple, TYPE_CHECKING

if TYPE_CHECKING:
    from rbd_ros.compiler.emit import Emitter

# pi/2 = HALF_PI[0] + HALF_PI[1] + HALF_PI[2] to 159 bits, each part the nearest double of what is left
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
TWO_OVER_PI = 0.6366197723675814
LARGEST_ANGLE = 2.0**50
# Adding 1.5 * 2**52 leaves the nearest integer in the low bits of the sum.
MAGIC = 6755399441055744.0

SINE = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)
COSINE = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
          -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)


def emit_sine_cosine(code: Emitter, angle: str) -> Tuple[str, str]:
    """Emit the code for the sine and the cosine of a value.

    :param code: emitter of single operations, each rounded exactly as written: `rbd_ros.compiler.emit.Emitter`
    :param angle: name of the angle [rad]
    :return: names of sine and cosine
    """
    c: Callable[[float], str] = code.constant
    shifted = code.fadd(code.fmul(angle, c(TWO_OVER_PI)), c(MAGIC))
    n = code.fsub(shifted, c(MAGIC))
    minus_n = code.fneg(n)

    # r + tail = angle - n pi/2: the first difference is exact, the errors of the others are kept (Knuth's two-sum)
    first = code.fma(minus_n, c(HALF_PI[0]), angle)
    p = code.fmul(n, c(HALF_PI[1]))
    p_error = code.fma(n, c(HALF_PI[1]), code.fneg(p))
    r = code.fsub(first, p)
    back = code.fsub(first, r)
    r_error = code.fadd(code.fsub(first, code.fadd(r, back)), code.fsub(back, p))
    tail = code.fma(minus_n, c(HALF_PI[2]), code.fsub(r_error, p_error))

    z = code.fmul(r, r)
    half = c(0.5)
    # sine: r - ((z (tail/2 - v poly) - tail) - v S1) with v = z r
    v = code.fmul(z, r)
    poly = _horner(code, z, SINE[1:])
    inner = code.fma(code.fneg(v), poly, code.fmul(half, tail))
    sine = code.fsub(r, code.fma(code.fneg(v), c(SINE[0]), code.fma(z, inner, code.fneg(tail))))
    # cosine: w + ((1 - w - z/2) + (z z poly - r tail)) with w = 1 - z/2
    hz = code.fmul(half, z)
    w = code.fsub(c(1.0), hz)
    rest = code.fsub(code.fsub(c(1.0), w), hz)
    poly = _horner(code, z, COSINE)
    cosine = code.fadd(w, code.fadd(rest, code.fma(code.fmul(z, z), poly, code.fneg(code.fmul(r, tail)))))

    quadrant = code.low_bits(shifted)
    odd = code.bit(quadrant, 0)
    sine_, cosine_ = code.select(odd, cosine, sine), code.select(odd, sine, cosine)
    sine_ = code.negate_if(code.bit(quadrant, 1), sine_)
    cosine_ = code.negate_if(code.xor(code.bit(quadrant, 0), code.bit(quadrant, 1)), cosine_)
    meaningless = code.exceeds(angle, LARGEST_ANGLE)
    nan = c(float('nan'))
    return code.select(meaningless, nan, sine_), code.select(meaningless, nan, cosine_)


def _horner(code: Emitter, z: str, coefficients: Tuple[float, ...]) -> str:
    total = code.constant(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = code.fma(z, total, code.constant(coefficient))
    return total
