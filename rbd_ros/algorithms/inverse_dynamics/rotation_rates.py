# SPDX-License-Identifier: Apache-2.0
"""Acceleration of a body's points by its rotation, as one matrix (book 2.11 and 5.4)."""

from rbd_ros.spatial.linear3 import Matrix3, Vector3


def rotation_rates(w: Vector3, alpha: Vector3) -> Matrix3:
    """Return the matrix Omega = alpha x + (w x)(w x), (3, 3): a point at r accelerates by Omega r.

    :param w: angular velocity, (3,) [rad/s]
    :param alpha: angular acceleration, (3,) [rad/s^2]

    >>> from rbd_ros.algorithms.inverse_dynamics.rotation_rates import rotation_rates
    >>> np.array(rotation_rates((0, 0, 2), (0, 0, 1))) @ (1, 0, 0)  # inwards, and ahead
    array([-4,  1,  0])
    """
    x, y, z = w
    a, b, c = alpha
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return (
        (-(yy + zz), xy - c, xz + b),
        (xy + c, -(xx + zz), yz - a),
        (xz - b, yz + a, -(xx + yy)),
    )
