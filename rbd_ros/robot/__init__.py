"""What a user holds: `Robot.from_urdf(...)`, its functions specialised, compiled and cached."""

from rbd_ros.robot.robot import Energy, Robot

__all__ = ['Energy', 'Robot']
