# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Recordings of a motion: as a page that plays it, as a video, or as an MCAP file."""

from __future__ import annotations

from html import escape
import os
from pathlib import Path
from typing import List, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray
from rbd_ros.contact.ground import HalfSpace
from rbd_ros.robot import Robot
from rbd_ros.viewer.page_text import floats, MIN_RADIUS, page, reach
from rbd_ros.viewer.viewer_scene import make_scene, Scene

#: Suffixes of recording files.
FORMATS = ('.html', '.mp4', '.mcap')


class MotionRecording:
    """A motion of a robot.

    :param scene: the drawn scene; None: the robot's visual shapes
    :param ground: ground of the grid; None: no grid

    >>> recording = MotionRecording(robot)
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
        self._objects: List[FloatArray] = []
        self._contacts: List[FloatArray] = []

    def __len__(self) -> int:
        return len(self._times)

    @property
    def times(self) -> FloatArray:
        """Time of each frame, (N,) [s]."""
        return np.array(self._times)

    @property
    def configurations(self) -> FloatArray:
        """Configuration of each frame, (N, nq) [rad, m]."""
        return np.array(self._configurations).reshape(len(self), self.robot.nq)

    @property
    def objects(self) -> FloatArray:
        """Poses of the movable objects in each frame, (N, O, 4, 4).

        >>> scene = make_scene(robot.model, world='config/table_world.yaml')
        >>> recording = MotionRecording(robot, scene)
        >>> recording.add(0.0, q)
        >>> recording.objects.shape, recording.objects[0, 0, :3, 3]
        ((1, 4, 4, 4), array([0.7 , 0.  , 0.45]))
        """
        return np.array(self._objects).reshape(len(self), len(self.scene.objects), 4, 4)

    @property
    def contacts(self) -> Tuple[FloatArray, ...]:
        """Position and force of the contacts in each frame, N times (C, 6) [m, N].

        >>> recording = MotionRecording(robot)
        >>> recording.add(0.0, q, contacts=[[0.5, 0.0, 0.0, 0.0, 0.0, 20.0]])
        >>> recording.contacts[0].shape
        (1, 6)
        """
        return tuple(self._contacts)

    def poses(self) -> FloatArray:
        """Return position and quaternion (x, y, z, w) of the scene's frames, (N, frames, 7).

        >>> recording = MotionRecording(robot)
        >>> recording.add(0.0, q)
        >>> recording.poses().shape == (1, len(recording.scene.frames), 7)
        True
        """
        return self.scene.poses(self.robot, self.configurations, self.objects)

    def add(
        self,
        time: float,
        q: ArrayLike,
        objects: Optional[ArrayLike] = None,
        contacts: Optional[ArrayLike] = None,
    ) -> None:
        """Add a frame.

        :param time: time of the frame, later than the previous one [s]
        :param q: configuration, (nq,) [rad, m]
        :param objects: poses of the scene's movable objects, (O, 4, 4); None: unchanged, initially
            at their start
        :param contacts: position and force of each contact, (C, 6) [m, N]; None: none
        :raises ValueError: for a wrong shape or time, or values that are not finite; nothing is
            added

        >>> recording = MotionRecording(robot)
        >>> recording.add(0.0, q)
        >>> len(recording)
        1
        """
        configuration = np.array(q, dtype=float)
        if configuration.shape != (self.robot.nq,):
            raise ValueError(f'q must have shape ({self.robot.nq},), got {configuration.shape}')
        if not (np.isfinite(configuration).all() and np.isfinite(time)):
            raise ValueError(f'time and q must be finite, got {time} and {configuration}')
        before = self._objects[-1] if self._objects else self.scene.start
        moved = np.array(before if objects is None else objects, dtype=float)
        forces = np.empty((0, 6)) if contacts is None else np.array(contacts, dtype=float)
        if moved.shape != before.shape:
            raise ValueError(f'objects must have shape {before.shape}, got {moved.shape}')
        if forces.ndim != 2 or forces.shape[1] != 6:
            raise ValueError(f'contacts must have shape (C, 6), got {forces.shape}')
        if not (np.isfinite(moved).all() and np.isfinite(forces).all()):
            raise ValueError('objects and contacts must be finite')
        if self._times and not time > self._times[-1]:
            raise ValueError(f'time must increase, got {time} s after {self._times[-1]} s')
        self._times.append(float(time))
        self._configurations.append(configuration)
        self._objects.append(moved)
        self._contacts.append(forces)

    def page(self) -> str:
        """Return the text of the page, in HTML.

        :raises ValueError: for an empty recording
        """
        if not self._times:
            raise ValueError('the recording is empty: add a frame')
        poses = self.poses()
        counts = [len(each) for each in self._contacts]
        return page(
            self.scene,
            self.ground,
            poses[0],
            times=floats(self.times - self._times[0]),
            poses=floats(poses),
            q=floats(self.configurations),
            contacts=floats(np.concatenate(self._contacts)),
            firsts=[0, *np.cumsum(counts).tolist()],
        )

    def _repr_html_(self) -> Optional[str]:
        if not self._times:
            return None
        return (
            '<iframe sandbox="allow-scripts" style="width: 100%; height: 480px; border: 0" '
            f'srcdoc="{escape(self.page())}"></iframe>'
        )

    @property
    def radius(self) -> float:
        """Radius of the scene in the first frame [m].

        >>> recording = MotionRecording(robot)
        >>> recording.add(0.0, robot.neutral())
        >>> 0.5 < recording.radius < 0.7
        True
        """
        return max(reach(self.scene, self.poses()[0])[1], MIN_RADIUS)

    def write(self, path: Union[str, 'os.PathLike[str]']) -> None:
        """Write a file: a page (.html), a video (.mp4) or an MCAP file (.mcap).

        A video needs ffmpeg, an MCAP file the library mcap; see `check_format`.

        :raises ValueError: for an empty recording, an unknown suffix, a missing program, or a file
            that cannot be written
        """
        check_format(path)
        if not self._times:
            raise ValueError('the recording is empty: add a frame')
        # Imported here: they are rarely needed, and import this module.
        from rbd_ros.viewer import mcap_file, video

        target = Path(path)
        try:
            if target.suffix.lower() == '.mp4':
                video.write_video(self, target)
            elif target.suffix.lower() == '.mcap':
                mcap_file.write_mcap(self, target)
            else:
                target.write_text(self.page(), encoding='utf-8')
        except OSError as error:
            raise ValueError(f'{path} cannot be written: {error.strerror or error}') from error


def check_format(path: Union[str, 'os.PathLike[str]']) -> None:
    """Check that a recording can be written to a file, before recording.

    :raises ValueError: if its suffix is not .html, .mp4 or .mcap, its folder does not exist, or a
        required program is missing, with the cure

    >>> from rbd_ros.viewer.motion_recording import check_format
    >>> check_format('motion.html')
    >>> check_format('motion.gif')
    Traceback (most recent call last):
        ...
    ValueError: motion.gif has an unknown type; give a page (.html), a video (.mp4) or an MCAP
    file (.mcap)
    """
    from rbd_ros.viewer import mcap_file, video

    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(
            f'{path} has an unknown type; give a page (.html), a video (.mp4) or an MCAP file '
            '(.mcap)'
        )
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        what = 'is a folder' if target.is_dir() else f'there is no folder {target.parent}'
        raise ValueError(f'{path} cannot be written: {what}')
    reasons = {'.mp4': video.unavailable_reason, '.mcap': mcap_file.unavailable_reason}
    reason = reasons.get(suffix, str)()
    if reason:
        raise ValueError(reason)
