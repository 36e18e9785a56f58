# SPDX-License-Identifier: Apache-2.0
"""Transforms without the noise of rounding, as what is known to be zero need not be computed."""

from rbd_ros.spatial import linear3, PluckerTransform


def snapped(X: PluckerTransform) -> PluckerTransform:
    """Transform with rounding noise removed: what is 0, 1 or -1 to within 1e-15, exactly so.

    For the translation, within 1e-15 of its largest element.
    """
    reach = 1e-15 * max(abs(x) for x in X.r)

    def unit(x: float) -> float:
        nearest = round(x)
        return float(nearest) if abs(x - nearest) < 1e-15 else x

    return PluckerTransform(
        linear3.matrix3((unit(x) for x in row) for row in X.E),
        linear3.vector3(0.0 if abs(x) < reach else x for x in X.r),
    )
