# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Numbers with their first two derivatives along a curve, to differentiate a function.

A user's closed-form function of a loop, run on jets, returns its velocities and accelerations as
well (book 8.11); their three parts are scalars of any kind, floats or symbols.
"""

from __future__ import annotations

from rbd_ros.spatial import scalar
from rbd_ros.spatial.scalar import Scalar


class Jet:
    """A scalar x(t) with x' and x'' at one t.

    :param x: value
    :param d: first derivative
    :param dd: second derivative
    """

    __slots__ = ('x', 'd', 'dd')
    __array_ufunc__ = None  # so that numpy.float64(2) * jet calls the jet

    def __init__(self, x: Scalar, d: Scalar = 0.0, dd: Scalar = 0.0):
        self.x, self.d, self.dd = x, d, dd

    def __neg__(self) -> Jet:
        return Jet(-self.x, -self.d, -self.dd)

    def __add__(self, other: Scalar) -> Jet:
        b = jet(other)
        return Jet(self.x + b.x, self.d + b.d, self.dd + b.dd)

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Jet:
        return self + (-jet(other))

    def __rsub__(self, other: Scalar) -> Jet:
        return jet(other) + (-self)

    def __mul__(self, other: Scalar) -> Jet:
        a, b = self, jet(other)
        cross = a.d * b.d
        return Jet(a.x * b.x, a.d * b.x + a.x * b.d, a.dd * b.x + (cross + cross) + a.x * b.dd)

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Jet:
        b = jet(other)
        x = self.x / b.x
        d = (self.d - x * b.d) / b.x
        cross = d * b.d
        return Jet(x, d, (self.dd - (cross + cross) - x * b.dd) / b.x)

    def __rtruediv__(self, other: Scalar) -> Jet:
        return jet(other) / self

    def sin(self) -> Jet:
        """Return the sine."""
        s, c = scalar.sin(self.x), scalar.cos(self.x)
        return Jet(s, c * self.d, c * self.dd - s * (self.d * self.d))

    def cos(self) -> Jet:
        """Return the cosine."""
        s, c = scalar.sin(self.x), scalar.cos(self.x)
        return Jet(c, -(s * self.d), -(s * self.dd) - c * (self.d * self.d))

    def sqrt(self) -> Jet:
        """Return the square root, of a value that is not zero."""
        root = scalar.sqrt(self.x)
        d = 0.5 * self.d / root
        return Jet(root, d, (0.5 * self.dd - d * d) / root)

    def tanh(self) -> Jet:
        """Return the hyperbolic tangent."""
        t = scalar.tanh(self.x)
        slope = 1.0 - t * t
        d = slope * self.d
        return Jet(t, d, slope * self.dd - 2.0 * t * d * self.d)

    def arctan2(self, x: Scalar) -> Jet:
        """Return the angle of the point (x, y), y this; see `rbd_ros.spatial.scalar.arctan2`."""
        y, x = self, jet(x)
        square = x.x * x.x + y.x * y.x
        d = (x.x * y.d - y.x * x.d) / square
        half = x.x * x.d + y.x * y.d  # of the rate of the square
        dd = (x.x * y.dd - y.x * x.dd - d * (half + half)) / square
        return Jet(scalar.arctan2(y.x, x.x), d, dd)

    def where_positive(self, yes: Scalar, no: Scalar) -> Jet:
        """Choose by the sign of the value."""
        a, b = jet(yes), jet(no)
        return Jet(
            scalar.where_positive(self.x, a.x, b.x),
            scalar.where_positive(self.x, a.d, b.d),
            scalar.where_positive(self.x, a.dd, b.dd),
        )


def jet(value: Scalar) -> Jet:
    """Return a jet unchanged, and any other value as a constant jet."""
    return value if isinstance(value, Jet) else Jet(value)
