# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Conversions between ROS messages and arrays: units of time, orders of axes.

ROS has linear before angular, quaternions x, y, z, w, and classical acceleration. The rest of the
package has angular before linear, w first, and spatial acceleration. Only this module converts.
"""

from __future__ import annotations

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Accel, Pose, Twist, Vector3, Wrench
import numpy as np

NANOSECONDS = 1_000_000_000
EARLIEST, LATEST = -(2**31) * NANOSECONDS, 2**31 * NANOSECONDS - 1  # times of a message [ns]


def nanoseconds(stamp: Time) -> int:
    """Return a time stamp as an integer [ns]."""
    return stamp.sec * NANOSECONDS + stamp.nanosec


def representable(time_ns: int) -> int:
    """Return the time nearest to `time_ns` [ns] that fits into a message, with 32-bit seconds."""
    return min(max(time_ns, EARLIEST), LATEST)


def set_stamp(stamp: Time, time_ns: int) -> None:
    """Write `time_ns` [ns] into a time stamp, in place."""
    stamp.sec, stamp.nanosec = divmod(time_ns, NANOSECONDS)


def vector(message: Vector3) -> np.ndarray:
    """Return the components of a Vector3 (or Point), (3,)."""
    return np.array([message.x, message.y, message.z])


def force_from_wrench(wrench: Wrench) -> np.ndarray:
    """Return the spatial force (6,) [N m, N], moment first, about the origin of its frame."""
    return np.concatenate([vector(wrench.torque), vector(wrench.force)])


def wrench_from_force(force: np.ndarray) -> Wrench:
    """Return the wrench from a spatial force (6,) [N m, N]."""
    n, f = _floats(force[:3]), _floats(force[3:])
    return Wrench(force=Vector3(x=f[0], y=f[1], z=f[2]), torque=Vector3(x=n[0], y=n[1], z=n[2]))


def twist_from_motion(motion: np.ndarray) -> Twist:
    """Return the twist of a spatial velocity (6,) [rad/s, m/s] about its frame's origin."""
    w, v = _floats(motion[:3]), _floats(motion[3:])
    return Twist(linear=Vector3(x=v[0], y=v[1], z=v[2]), angular=Vector3(x=w[0], y=w[1], z=w[2]))


def motion_from_twist(twist: Twist) -> np.ndarray:
    """Return the spatial velocity (6,) [rad/s, m/s], angular before linear."""
    return np.concatenate([vector(twist.angular), vector(twist.linear)])


def accel_from_spatial(acceleration: np.ndarray, velocity: np.ndarray) -> Accel:
    """Return the classical acceleration of a frame's origin: spatial plus w x v (book 2.11).

    :param acceleration: spatial acceleration, (6,) [rad/s^2, m/s^2]
    :param velocity: spatial velocity in the same coordinates, (6,) [rad/s, m/s]
    """
    w = _floats(acceleration[:3])
    a = _floats(acceleration[3:] + np.cross(velocity[:3], velocity[3:]))
    return Accel(linear=Vector3(x=a[0], y=a[1], z=a[2]), angular=Vector3(x=w[0], y=w[1], z=w[2]))


def pose_from_floating_joint(q: np.ndarray) -> Pose:
    """Return the pose of a floating joint, q = [qw qx qy qz, px py pz]."""
    w, x, y, z, *position = _floats(q)
    pose = Pose()
    pose.orientation.w, pose.orientation.x, pose.orientation.y, pose.orientation.z = w, x, y, z
    pose.position.x, pose.position.y, pose.position.z = position
    return pose


def floating_joint_from_pose(pose: Pose) -> np.ndarray:
    """Return the position variables (7,) of a floating joint with a pose."""
    o, p = pose.orientation, pose.position
    return np.array([o.w, o.x, o.y, o.z, p.x, p.y, p.z])


def _floats(values: np.ndarray) -> list:
    return [float(value) for value in values]
