"""What a user holds: `Robot.from_urdf(...)`, its functions specialised, compiled and cached."""

from rbd_ros.compiler import set_threads
from rbd_ros.robot.robot import Energy, Robot

__all__ = ['Energy', 'Robot', 'set_threads']
