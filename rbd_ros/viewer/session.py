# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A simulation with a live page: play, pause, step, reset, speed, pull, rotate."""

from __future__ import annotations

import math
import time
from typing import Any, Callable, Optional, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.simulation import Simulator
from rbd_ros.simulation.simulated_objects import ContactPoint
from rbd_ros.viewer.drawings import Drawings
from rbd_ros.viewer.drawn_shapes import ROBOT
from rbd_ros.viewer.joint_commands import JointCommands, Torque
from rbd_ros.viewer.live import LivePage, LOCAL
from rbd_ros.viewer.motion_recording import MotionRecording
from rbd_ros.viewer.page_text import floats, MIN_RADIUS, page, reach
from rbd_ros.viewer.pull import LinkPull, ObjectPull, Pull
from rbd_ros.viewer.scene_annotations import SceneJoint
from rbd_ros.viewer.viewer_scene import Scene

FRAME = 1.0 / 60.0  # time between pictures [s]
MAX_SPEED = 100.0
#: Maximum speed, relative to the chosen one, while a lag is caught up.
_CATCH_UP = 1.5
_MAX_FRAME = 0.1  # maximum time of a frame; more would be a jump [s]
_MAX_LAG = 1.0  # maximum lag that is caught up; the rest is dropped [s]
_FACTOR_WINDOW = 0.5  # window of the measured real-time factor [s]
_HOLD = 2.0  # time for which a pull request of the page is valid [s]


class LiveSession:
    """A simulation that runs in real time for browsers on this machine, until it is stopped.

    :param simulator: the simulation; it begins where that is, and so it does after a reset
    :param scene: the drawn scene
    :param torque: torque for each step, called with the simulator; None for none
    :param port: its port; 0 for any that is free
    :param static_reason: reason why there is no simulation, which the page shows ('' for none):
        only the page's sliders move joints; None to simulate
    :param host: see `LivePage`
    :raises ValueError: if the port cannot be used

    >>> from rbd_ros.viewer import LiveSession, make_scene
    >>> session = LiveSession(Simulator(robot), make_scene(robot.model), port=0)
    >>> session.run(duration=0.1)  # open session.url meanwhile
    >>> session.close()
    >>> bool(session.simulator.time >= 0.1)
    True
    """

    # Wall clock [s]: origin of the session's clock, begin of the factor's window, last checks.
    _clock: float
    _window: float
    _seen: float
    _last: float
    # Simulated time at the first two of them [s].
    _clock_time: float
    _window_time: float

    def __init__(
        self,
        simulator: Simulator,
        scene: Scene,
        torque: Optional[Torque] = None,
        port: int = 8000,
        static_reason: Optional[str] = None,
        host: str = LOCAL,
    ):
        self.simulator, self.scene = simulator, scene
        self.commands = JointCommands(simulator, torque)
        #: Lines, balls and texts that the page shows.
        self.drawings = Drawings()
        self.playing, self.speed = static_reason is None, 1.0
        #: Whether `run` is to return, as soon as it can.
        self.stopped = False
        self._is_static, self._message = static_reason is not None, static_reason or ''
        self._start, self._begin = simulator.snapshot(), self._now()
        poses = self._poses()[0]
        self._radius = max(reach(scene, poses)[1], MIN_RADIUS)
        self._pull: Optional[Pull] = None
        self._pulled_at = 0.0
        live = 'static' if self._is_static else 'simulation'
        has_world = simulator.ground is not None or scene.grounds is not None
        contacts = has_world and not self._is_static
        text = page(scene, simulator.ground, poses, live=live, contacts=contacts)
        self._page = LivePage(text, port, host)
        self._restart_clock()

    @property
    def url(self) -> str:
        """Address of the page."""
        return self._page.url

    def run(self, duration: float = math.inf, frames: Optional[int] = None) -> None:
        """Run until the simulated time has advanced by `duration`.

        :param duration: simulated time, which stops while the page pauses it; wall time for a
            static page [s]
        :param frames: maximum number of frames; None: no limit
        """
        end = self._begin + duration - 0.5 * self.simulator.timestep
        count = 0
        while self._now() < end and count != frames and not self.stopped:
            count += 1
            self._execute()
            if self.playing:
                self._advance(min(self._due(), end))
                self._measure()
            self._page.publish(self._state())
            time.sleep(max(0.0, FRAME - (time.monotonic() - self._last)))
            self._last = time.monotonic()

    def close(self) -> None:
        """Stop serving the page."""
        self._page.close()

    def _now(self) -> float:
        """Return the time that a duration is of [s]."""
        return time.monotonic() if self._is_static else self.simulator.time

    def _due(self) -> float:
        """Return the simulated time of the next frame; a lag is caught up within bounds."""
        now, simulator = time.monotonic(), self.simulator
        elapsed, self._seen = min(now - self._seen, _MAX_FRAME), now
        lag = self._clock_time + (now - self._clock) * self.speed - simulator.time
        dropped = lag - _MAX_LAG * self.speed
        if dropped > 0.0:
            self._clock_time -= dropped
            lag -= dropped
        # At least a step, also at low speeds.
        return simulator.time + min(lag, max(_CATCH_UP * elapsed * self.speed, simulator.timestep))

    def _advance(self, until: float) -> None:
        began = time.monotonic()
        try:
            advance(
                self.simulator,
                until,
                None if self.commands.is_idle else self.commands.torque,
                lambda: time.monotonic() - began > FRAME,
                None if self._pull is None else self._pull.apply,
            )
        except FloatingPointError as error:
            self.playing, self._message = False, f'{error}'

    def _execute(self) -> None:
        if self._pull is not None and time.monotonic() - self._pulled_at > _HOLD:
            self._release_body()  # the page was closed
        for name, value in self._page.requests():
            if self._is_static and name not in ('joint', 'reset'):
                continue
            try:
                getattr(self, f'_on_{name}')(value)
            except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
                self._release_body()
                self._message = f'{name}: {error}'
            if name not in ('pull', 'release', 'joint', 'effort', 'keep'):  # time goes on in these
                self._restart_clock()

    def _on_play(self, _: Any) -> None:
        self.playing = True

    def _on_pause(self, _: Any) -> None:
        self.playing = False

    def _on_step(self, _: Any) -> None:
        self.playing = False
        self._advance(self.simulator.time + self.simulator.timestep)

    def _on_speed(self, value: Any) -> None:
        if isinstance(value, (int, float)) and 0.0 < value <= MAX_SPEED:
            self.speed = float(value)

    def _on_keep(self, _: Any) -> None:
        """Let a reset return to the present state."""
        self._start = self.simulator.snapshot()

    def _requested(self, value: Any) -> Tuple[SceneJoint, float]:
        """Return the joint and the number of a request."""
        number, given = int(value[0]), float(value[1])
        if not (0 <= number < len(self.scene.joints) and math.isfinite(given)):
            raise ValueError(f'it needs the number of a joint and a finite value, got {value}')
        return self.scene.joints[number], given

    def _on_joint(self, value: Any) -> None:
        """Move a joint of the scene, (number, position)."""
        joint, goal = self._requested(value)
        goal = min(max(goal, joint.lower), joint.upper)
        if not self._is_static:
            self.commands.move(joint.position, goal)
            return
        q = self.simulator.q
        q[joint.position] = goal
        self.simulator.reset(q)

    def _on_effort(self, value: Any) -> None:
        """Apply an effort to a joint of the scene, (number, effort)."""
        joint, effort = self._requested(value)
        limit = self.simulator.robot.effort_limits[joint.velocity]
        self.commands.push(joint.velocity, min(max(effort, -limit), limit))

    def _on_reset(self, _: Any) -> None:
        self._release_body()
        self.simulator.restore(self._start)
        self.commands.clear()

    def _on_pull(self, value: Any) -> None:
        frame, links = value['frame'], self.scene.links
        if not 0 <= frame < len(self.scene.frames):
            raise ValueError('this session has no simulation to pull')
        name = [*links, *self.scene.objects][frame]
        pull, kind = self._pull, LinkPull if frame < len(links) else ObjectPull
        if pull is None or pull.name != name or not isinstance(pull, kind):
            self._release_body()
            pull = (
                LinkPull(self.simulator, name, self.scene.weight, self._radius)
                if kind is LinkPull
                else ObjectPull(self.simulator, name, self._radius)
            )
        pull.aim(value['point'], value['target'], value.get('rotation'))
        self._pull, self._pulled_at, self._message = pull, time.monotonic(), ''

    def _on_release(self, _: Any = None) -> None:
        self._release_body()

    def _release_body(self) -> None:
        # The force lasts one step, so it needs no removal.
        self._pull, self._message = None, ''

    def _restart_clock(self) -> None:
        self._clock = self._window = self._seen = self._last = time.monotonic()
        self._clock_time = self._window_time = self.simulator.time
        self._factor = 0.0

    def _measure(self) -> None:
        now = time.monotonic()
        elapsed = now - self._window
        if elapsed >= _FACTOR_WINDOW:
            self._factor = (self.simulator.time - self._window_time) / elapsed
            self._window, self._window_time = now, self.simulator.time

    def _poses(self) -> FloatArray:
        simulator = self.simulator
        objects = object_poses(simulator, self.scene)
        return self.scene.poses(simulator.robot, simulator.q[None], objects)

    def _state(self) -> Any:
        return {
            'time': self.simulator.time,
            'factor': self._factor if self.playing else 0.0,
            'speed': self.speed,
            'playing': self.playing,
            'message': self._message,
            'poses': floats(self._poses()),
            'contacts': floats(contact_forces(self.simulator)),
            'q': floats(self.simulator.q),
            'v': floats(self.simulator.v),
            'effort': floats(self.simulator.tau),
            'drawings': self.drawings.items(),
        }


def advance(
    simulator: Simulator,
    until: float,
    torque: Optional[Torque] = None,
    should_stop: Callable[[], bool] = lambda: False,
    before: Optional[Callable[[], None]] = None,
) -> None:
    """Step a simulation up to a time, within half a step.

    :param until: final time [s]
    :param torque: torque for each step, called with the simulator; None: none
    :param should_stop: called after each step, returns whether to stop early
    :param before: called before each step

    >>> from rbd_ros.viewer.session import advance
    >>> simulator = Simulator(robot)
    >>> advance(simulator, until=0.5, torque=lambda now: robot.gravity_torque(now.q))
    >>> round(simulator.time, 3)
    0.5
    """
    count = round((until - simulator.time) / simulator.timestep)
    if torque is None and before is None:
        # `should_stop` is called within a fraction of a frame's time, for any lag.
        slice_ = max(1, min(count, round(FRAME / simulator.timestep)) // 4)
        while count > 0:
            simulator.step(n=min(slice_, count))
            count -= slice_
            if should_stop():
                return
        return
    for _ in range(count):
        if before is not None:
            before()
        simulator.step(None if torque is None else torque(simulator))
        if should_stop():
            return


def object_poses(simulator: Simulator, scene: Scene) -> FloatArray:
    """Return the poses of movable objects, (O, 4, 4), at their start if not simulated."""
    if simulator.objects != scene.objects:
        return scene.start
    return np.array([simulator.object_pose(name) for name in scene.objects]).reshape(-1, 4, 4)


def contact_forces(simulator: Simulator) -> FloatArray:
    """Return the position and force of each contact, (C, 6) [m, N].

    The force is that on the robot or the movable object, not on a static one.
    """
    moving, found = {ROBOT, *simulator.robots, *simulator.objects}, []
    for each in simulator.contacts:
        on_first = isinstance(each, ContactPoint) and each.second.partition('/')[0] not in moving
        found.append(np.concatenate([each.position, -each.force if on_first else each.force]))
    return np.array(found).reshape(-1, 6)


def record(
    simulator: Simulator,
    scene: Scene,
    duration: float,
    torque: Optional[Torque] = None,
    progress: Optional[Callable[[float], Any]] = None,
) -> MotionRecording:
    """Simulate and record 60 frames per second.

    :param scene: the drawn scene
    :param duration: duration [s]
    :param torque: torque for each step, called with the simulator; None: none
    :param progress: called with the simulated fraction of the time
    :raises FloatingPointError: if the dynamics are not finite

    >>> from rbd_ros.viewer import make_scene
    >>> from rbd_ros.viewer.session import record
    >>> recording = record(Simulator(robot), make_scene(robot.model), duration=1.0)
    >>> len(recording), recording.page()[:15]
    (61, '<!DOCTYPE html>')
    """
    recording = MotionRecording(simulator.robot, scene, simulator.ground)
    start = simulator.time
    recording.add(*_frame(simulator, scene))
    frames = max(1, math.ceil(duration / FRAME - 1e-9))
    for k in range(1, frames + 1):
        before = simulator.time
        advance(simulator, start + min(k * FRAME, duration), torque)
        if simulator.time > before:
            recording.add(*_frame(simulator, scene))
        if progress is not None:
            progress(k / frames)
    return recording


def _frame(simulator: Simulator, scene: Scene) -> Tuple[float, FloatArray, FloatArray, FloatArray]:
    objects = object_poses(simulator, scene)
    return simulator.time, simulator.q, objects, contact_forces(simulator)
