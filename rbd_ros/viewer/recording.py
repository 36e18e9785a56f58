"""Recordings: a motion as a page that plays it anywhere, without a server or a network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import List, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rbd_ros.contact.ground import HalfSpace
from rbd_ros.robot import Robot
from rbd_ros.viewer.page_text import floats, page
from rbd_ros.viewer.scene import make_scene, Scene

FloatArray = NDArray[np.float64]


class Recording:
    """A motion of a robot.

    :param robot: the robot
    :param scene: what there is to see; None: the robot's visual shapes
    :param ground: what the grid is drawn on; None for z = 0

    >>> recording = Recording(robot)
    >>> simulator = Simulator(robot)
    >>> for _ in range(60):
    ...     recording.add(simulator.time, simulator.q)
    ...     simulator.step(n=17)
    >>> size = len(recording.page())  # or recording.write('motion.html')
    >>> len(recording), 500_000 < size < 1_000_000
    (60, True)
    >>> recording.times[:3], recording.configurations.shape  # [s]; [rad]
    (array([0.   , 0.017, 0.034]), (60, 6))
    """

    def __init__(
        self, robot: Robot, scene: Optional[Scene] = None, ground: Optional[HalfSpace] = None
    ):
        self.robot = robot
        self.scene = make_scene(robot.model) if scene is None else scene
        self.ground = ground
        self._times: List[float] = []
        self._configurations: List[FloatArray] = []

    def __len__(self) -> int:
        return len(self._times)

    @property
    def times(self) -> FloatArray:
        """Time of each frame, (N,) [s]."""
        return np.array(self._times)

    @property
    def configurations(self) -> FloatArray:
        """Configuration of each frame, (N, nq) [rad, m]."""
        return np.array(self._configurations).reshape(-1, self.robot.nq)

    def add(self, time: float, q: ArrayLike) -> None:
        """Add a frame.

        :param time: when it is shown; later than the one before [s]
        :param q: configuration, (nq,) [rad, m]
        :raises ValueError: for a wrong shape or time, or what is not finite; nothing is added

        >>> recording = Recording(robot)
        >>> recording.add(0.0, q)
        >>> len(recording)
        1
        """
        configuration = np.array(q, dtype=float)
        if configuration.shape != (self.robot.nq,):
            raise ValueError(f'q must have shape ({self.robot.nq},), got {configuration.shape}')
        if not (np.isfinite(configuration).all() and np.isfinite(time)):
            raise ValueError(f'time and q must be finite, got {time} and {configuration}')
        if self._times and not time > self._times[-1]:
            raise ValueError(f'time must grow: {time} s after {self._times[-1]} s')
        self._times.append(float(time))
        self._configurations.append(configuration)

    def page(self) -> str:
        """Text of the page, in HTML.

        :raises ValueError: if there is no frame
        """
        if not self._times:
            raise ValueError('the recording is empty: add a frame')
        poses = self.scene.poses(self.robot, self.configurations)
        return page(
            self.scene,
            self.ground,
            poses[0],
            times=floats(self.times - self._times[0]),
            poses=floats(poses),
        )

    def write(self, path: Union[str, 'os.PathLike[str]']) -> None:
        """Write the page to a file.

        :raises ValueError: if there is no frame, or the file cannot be written
        """
        text = self.page()
        try:
            Path(path).write_text(text, encoding='utf-8')
        except OSError as error:
            raise ValueError(f'{path} cannot be written: {error.strerror or error}') from error
