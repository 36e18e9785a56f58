"""Between ROS messages and arrays: joint names, field lengths, units of time, and orders of axes.

ROS puts linear before angular, quaternions as x, y, z, w and means classical acceleration; the
rest of the package puts angular before linear, w first and means spatial acceleration. The change
happens here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Optional, Sequence, Tuple

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Accel, Pose, Twist, Vector3, Wrench
import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

NANOSECONDS = 1_000_000_000
MAX_CACHED_NAMINGS = 64  # a publisher that invents names must not fill the memory
MAX_NAMES_SHOWN = 6


class MessageProblem(ValueError):
    """A message cannot be used.

    :param code: short kind of problem, for counting
    :param text: what is wrong, with names and numbers
    """

    def __init__(self, code: str, text: str):
        super().__init__(text)
        self.code = code


def nanoseconds(stamp: Time) -> int:
    """Time stamp as an integer [ns]."""
    return stamp.sec * NANOSECONDS + stamp.nanosec


def set_stamp(stamp: Time, time_ns: int) -> None:
    """Write `time_ns` [ns] into a time stamp, in place."""
    stamp.sec, stamp.nanosec = divmod(time_ns, NANOSECONDS)


def shorten(names: Sequence[str]) -> str:
    """Names for a message, not more than a reader takes in."""
    shown = ', '.join(str(name)[:60] for name in names[:MAX_NAMES_SHOWN])
    return (
        f'{shown} and {len(names) - MAX_NAMES_SHOWN} more'
        if len(names) > MAX_NAMES_SHOWN
        else shown
    )


@dataclass(frozen=True, eq=False)
class Naming:
    """How the names of one message fall on the robot's joints.

    :param size: number of names in the message
    :param source: where in the message the robot's joints are, (k,)
    :param target: which of the robot's joints they are, (k,)
    :param unknown: names that are no joint of the robot
    :param missing: joints of the robot that the message does not name
    :param in_order: whether the message names just the robot's joints in the robot's order
    """

    size: int
    source: np.ndarray
    target: np.ndarray
    unknown: Tuple[str, ...]
    missing: Tuple[str, ...]
    in_order: bool


class JointNames:
    """Joint names of a robot, and where messages have them (worked out once for each order).

    :param joint_names: the robot's joints, in the robot's order
    :param ignored: names that messages may well contain though they carry no degree of freedom
        (mimic, fixed joints)
    """

    def __init__(self, joint_names: Sequence[str], ignored: Sequence[str] = ()):
        self.joint_names = tuple(joint_names)
        self._index = {name: i for i, name in enumerate(self.joint_names)}
        self._ignored = frozenset(ignored)
        self._namings: Dict[tuple, Naming] = {}

    def naming(self, names: Sequence[str]) -> Naming:
        """How `names` fall on the robot's joints.

        :raises MessageProblem: if a name occurs twice
        """
        key = tuple(names)
        naming = self._namings.get(key)
        if naming is None:
            naming = self._work_out(key)
            if len(self._namings) >= MAX_CACHED_NAMINGS:
                self._namings.clear()
            self._namings[key] = naming
        return naming

    def _work_out(self, names: Tuple[str, ...]) -> Naming:
        if len(set(names)) != len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise MessageProblem('name given twice', f'joint names given twice: {shorten(twice)}')
        source = [k for k, name in enumerate(names) if name in self._index]
        return Naming(
            size=len(names),
            source=np.array(source, dtype=np.intp),
            target=np.array([self._index[names[k]] for k in source], dtype=np.intp),
            unknown=tuple(n for n in names if n not in self._index and n not in self._ignored),
            missing=tuple(n for n in self.joint_names if n not in set(names)),
            in_order=names == self.joint_names,
        )


def read_field(
    message: object, field: str, naming: Naming, required: bool = False
) -> Optional[np.ndarray]:
    """Values of one field of a JointState for the robot's joints, in the order of `naming.target`.

    :param required: whether the field must not be empty
    :return: fresh array (k,), or None if the field is empty
    :raises MessageProblem: if its length is neither that of `name` nor, unless required, zero
    """
    values = getattr(message, field)
    if not len(values):
        if required and naming.size:
            raise MessageProblem(f'{field} empty', f'{field} is empty')
        return None
    if len(values) != naming.size:
        raise MessageProblem(
            f'{field} has wrong length',
            f'{field} has {len(values)} elements for {naming.size} names',
        )
    values = np.array(values, dtype=float)
    return values if naming.in_order else values[naming.source]


class JointStateBuffer:
    """A JointState that is published again and again, its fields filled through NumPy views.

    :param joint_names: names, in the order of the views
    :param fields: which of position, velocity and effort the message carries
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        fields: Sequence[str] = ('position', 'velocity', 'effort'),
    ):
        self.message = JointState(name=list(joint_names))
        for field in ('position', 'velocity', 'effort'):
            if field in fields:
                setattr(self.message, field, [0.0] * len(self.message.name))
        # array.array exposes its memory; its length never changes here, so the views stay valid.
        self.position, self.velocity, self.effort = (
            np.frombuffer(values, dtype=float) if len(values) else np.zeros(0)
            for values in (self.message.position, self.message.velocity, self.message.effort)
        )


class ArrayBuffer:
    """A Float64MultiArray that is published again and again, with a NumPy view of its data."""

    def __init__(self, size: int):
        self.message = Float64MultiArray(data=[0.0] * size)
        self.data = np.frombuffer(self.message.data, dtype=float) if size else np.zeros(0)


def trajectory_fields(message: JointTrajectory) -> dict:
    """Arguments of `rbd_ros.control.JointTrajectory` from the message of that name.

    :return: joint_names, times (P,), positions (P, n), velocities and accelerations (P, n) or None
    :raises MessageProblem: if the points are not as many numbers as names, or mixed
    """
    names, points = list(message.joint_names), message.points
    columns = {}
    for field in ('positions', 'velocities', 'accelerations'):
        lengths = [len(getattr(point, field)) for point in points]
        if field != 'positions' and not any(lengths):
            columns[field] = None
            continue
        for i, length in enumerate(lengths):
            if length != len(names):
                raise MessageProblem(
                    'trajectory has wrong lengths',
                    f'trajectory point {i} has {length} {field} for {len(names)} joint names',
                )
        columns[field] = np.array([getattr(point, field) for point in points], dtype=float)
    times = [p.time_from_start.sec + p.time_from_start.nanosec / NANOSECONDS for p in points]
    return {'joint_names': names, 'times': np.array(times), **columns}


# -- orders of axes -------------------------------------------------------------------------------


def vector(message: Vector3) -> np.ndarray:
    """Components of a Vector3 (or Point), (3,)."""
    return np.array([message.x, message.y, message.z])


def force_from_wrench(wrench: Wrench) -> np.ndarray:
    """Spatial force (6,) [N m, N], moment first, about the origin and in axes of the frame."""
    return np.concatenate([vector(wrench.torque), vector(wrench.force)])


def wrench_from_force(force: np.ndarray) -> Wrench:
    """Wrench from a spatial force (6,) [N m, N]."""
    n, f = _floats(force[:3]), _floats(force[3:])
    return Wrench(force=Vector3(x=f[0], y=f[1], z=f[2]), torque=Vector3(x=n[0], y=n[1], z=n[2]))


def twist_from_motion(motion: np.ndarray) -> Twist:
    """Twist from a spatial velocity (6,) [rad/s, m/s] about the origin of its own frame."""
    w, v = _floats(motion[:3]), _floats(motion[3:])
    return Twist(linear=Vector3(x=v[0], y=v[1], z=v[2]), angular=Vector3(x=w[0], y=w[1], z=w[2]))


def motion_from_twist(twist: Twist) -> np.ndarray:
    """Spatial velocity (6,) [rad/s, m/s], angular before linear."""
    return np.concatenate([vector(twist.angular), vector(twist.linear)])


def accel_from_spatial(acceleration: np.ndarray, velocity: np.ndarray) -> Accel:
    """Classical acceleration of a frame's origin: the spatial one plus w x v (book 2.11).

    :param acceleration: spatial acceleration, (6,) [rad/s^2, m/s^2]
    :param velocity: spatial velocity in the same coordinates, (6,) [rad/s, m/s]
    """
    w = _floats(acceleration[:3])
    a = _floats(acceleration[3:] + np.cross(velocity[:3], velocity[3:]))
    return Accel(linear=Vector3(x=a[0], y=a[1], z=a[2]), angular=Vector3(x=w[0], y=w[1], z=w[2]))


def pose_from_floating_joint(q: np.ndarray) -> Pose:
    """Pose of a floating joint, q = [qw qx qy qz, px py pz]."""
    w, x, y, z, *position = _floats(q)
    pose = Pose()
    pose.orientation.w, pose.orientation.x, pose.orientation.y, pose.orientation.z = w, x, y, z
    pose.position.x, pose.position.y, pose.position.z = position
    return pose


def floating_joint_from_pose(pose: Pose) -> np.ndarray:
    """Position variables (7,) of a floating joint with that pose."""
    o, p = pose.orientation, pose.position
    return np.array([o.w, o.x, o.y, o.z, p.x, p.y, p.z])


def _floats(values: np.ndarray) -> list:
    return [float(value) for value in values]
