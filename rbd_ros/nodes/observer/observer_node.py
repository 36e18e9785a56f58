# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The node external_torque_observer, composed of its parts."""

from __future__ import annotations

import time
from typing import Any, Dict, Mapping, NamedTuple, Optional

from geometry_msgs.msg import WrenchStamped
import numpy as np
from rclpy.publisher import Publisher
from std_msgs.msg import Bool
from trajectory_msgs.msg import JointTrajectory

from rbd_ros.control import (
    CollisionDetector,
    MomentumObserver,
    WrenchEstimate,
    WrenchEstimator,
)
from rbd_ros.model.unknown_masses import require_masses
from rbd_ros.nodes.common.answering import AnsweringNode
from rbd_ros.nodes.common.communication import publisher, subscription
from rbd_ros.nodes.common.compile_progress import Progress
from rbd_ros.nodes.common.diagnostics import OK, STALE, WARN
from rbd_ros.nodes.common.node_interface import NodeInterface
from rbd_ros.nodes.messages.conversions import NANOSECONDS, set_stamp, wrench_from_force
from rbd_ros.nodes.observer.collision_response import NO_RESPONSE, STOP
from rbd_ros.nodes.torque.prepared import checked_payload, per_joint
from rbd_ros.robot import Robot
from rbd_ros.wire import JointStateData, JointStateReader, JointStateWriter, WireError

SUBJECT, STATES = 'observer', 'joint_states'
#: Default threshold of a collision: fraction of the effort limit, or without a limit [N m, N].
OF_LIMIT, WITHOUT_LIMIT = 0.1, 10.0
#: Condition number of the Jacobian above which the wrench is reported as uncertain.
UNCERTAIN = 1e3


class Estimator(NamedTuple):
    """Estimator for one set of parameters."""

    observer: MomentumObserver
    wrench: WrenchEstimator
    detector: CollisionDetector


class ObserverNode(AnsweringNode[Estimator]):
    """A node that estimates external torques and wrenches while it is active.

    :param interface: interface of the node
    """

    def __init__(self, interface: NodeInterface):
        super().__init__(interface, SUBJECT)
        self._writer: Optional[JointStateWriter] = None
        self._begin()
        self._rejected = 0
        self._torques = publisher(self, interface.topic('~/external_torque'))
        self._wrenches = publisher(self, interface.topic('~/external_wrench'))
        self._collisions = publisher(self, interface.topic('~/collision'))
        self._interface = interface
        self._stops: Optional[Publisher] = None
        self._stopped = 0
        self._get_ready_to_stop(self.parameters['collision_response'])
        self._reader = JointStateReader()
        self.diagnostics.every_second(self._check_silence)
        subscription(self, interface.topic(STATES), self._on_states, raw=True)
        self.bring_up()

    def _begin(self) -> None:
        """Drop all states."""
        self._origin: Optional[int] = None
        self._arrived = -np.inf
        self._last: Optional[WrenchEstimate] = None
        self._estimates = 0

    def activate(self) -> None:
        """Begin to answer joint states, without earlier states."""
        self._begin()
        self._fresh[:] = False
        estimator = self._prepared
        assert estimator is not None
        estimator.observer.reset()
        estimator.detector.collision = False
        self.diagnostics.condition(SUBJECT, WARN, 'waiting for joint states', code='waiting')

    # -- parameters and robot ---------------------------------------------------------------------

    def _prepare(self, values: Mapping[str, Any]) -> Optional[Estimator]:
        """Return the settings computed from the parameters for the robot.

        :raises ValueError: if the parameters cannot be used
        """
        link, payload = checked_payload(values)
        robot = self.robot
        if robot is None:
            return None
        require_masses(robot.model, values['gravity'])
        observer = MomentumObserver(
            robot,
            values['gain'],
            values['friction_compensation'],
            values['gravity'],
            link,
            payload,
        )
        frame = values['wrench_frame'] or _last_link(robot)
        if values['collision_threshold']:
            thresholds = per_joint('collision_threshold', values['collision_threshold'], robot.nv)
        else:
            limits = robot.effort_limits
            known = np.isfinite(limits) & (limits > 0.0)
            thresholds = np.where(known, OF_LIMIT * limits, WITHOUT_LIMIT)
        detector = CollisionDetector(thresholds, values['collision_hysteresis'])
        return Estimator(observer, WrenchEstimator(robot, frame), detector)

    def _commit(self, prepared: Optional[Estimator], changed: Dict[str, Any]) -> None:
        self._get_ready_to_stop(changed.get('collision_response', NO_RESPONSE))
        if prepared is not None and self._prepared is not None:
            # A collision persists through a change of thresholds.
            prepared.detector.collision = self._prepared.detector.collision
        self._prepared = prepared

    def configure(self, robot: Robot, progress: Progress) -> None:
        """Compile the momentum observer of a robot.

        :raises ValueError: if robot and parameters do not fit
        """
        progress.stage('compiling the momentum observer')
        self.robot = robot
        estimator = self._prepare(self.parameters.values)
        assert estimator is not None
        rest, zero = robot.neutral(), np.zeros(robot.nv)
        estimator.observer.update(0.0, rest, zero, zero)  # compile before states come
        estimator.wrench.estimate(rest, zero)
        n = robot.nv
        self._index = {name: j for j, name in enumerate(robot.joint_names)}
        self._state, self._fresh = np.zeros((3, n)), np.zeros(n, dtype=bool)
        self._writer = JointStateWriter(robot.joint_names, ('effort',))
        self._prepared = estimator

    # -- messages ---------------------------------------------------------------------------------

    def _on_states(self, data: bytes) -> None:
        estimator = self._prepared
        if estimator is None or not self.active:
            return
        try:
            message = self._reader.read(data)
            if not self._take(message):
                return
            self._answer(estimator, message.stamp)
        except (WireError, ValueError) as error:
            self._rejected += 1
            code = getattr(error, 'code', 'not usable')
            self.diagnostics.event(STATES, WARN, f'joint state not used: {error}', code=code)

    def _take(self, message: JointStateData) -> bool:
        """Read the joints of a message; return whether all have arrived since the last estimate.

        :raises ValueError: if a value is missing, with the joint
        """
        names = message.names.names
        places = [(k, self._index[name]) for k, name in enumerate(names) if name in self._index]
        if not places:
            raise ValueError(f'it names no joint of {self.robot.name!r}')  # type: ignore[union-attr]
        fields = (message.position, message.velocity, message.effort)
        for field, word in zip(fields, ('positions', 'velocities', 'efforts')):
            if field is None or len(field) != len(names):
                count = 0 if field is None else len(field)
                raise ValueError(
                    f'it has {count} {word} for {len(names)} joints; the observer needs position, '
                    'velocity and measured effort of each'
                )
        for k, j in places:
            values = [float(field[k]) for field in fields]  # type: ignore[index]
            if not np.isfinite(values).all():
                raise ValueError(f'joint {names[k]!r} has values that are not finite')
            self._state[:, j] = values
            self._fresh[j] = True
        if not self._fresh.all():
            return False
        self._fresh[:] = False
        return True

    def _answer(self, estimator: Estimator, stamp: int) -> None:
        """Publish the estimates for the state.

        :raises ValueError: if one is not finite
        """
        if self._origin is None:
            self._origin = stamp
        q, v, effort = self._state
        torque = estimator.observer.update((stamp - self._origin) / NANOSECONDS, q, v, effort)
        before = estimator.detector.collision
        collision = estimator.detector.update(torque)
        writer = self._writer
        assert writer is not None and self.robot is not None
        writer.effort[:] = torque
        writer.set_stamp_ns(stamp)
        self._torques.publish(writer.data())
        if self._wrenches.get_subscription_count():
            self._last = estimator.wrench.estimate(q, torque)
            message = WrenchStamped(wrench=wrench_from_force(self._last.wrench))
            message.header.frame_id = estimator.wrench.frame
            set_stamp(message.header.stamp, stamp)
            self._wrenches.publish(message)
        self._collisions.publish(Bool(data=collision))
        self._estimates += 1
        self._arrived = time.monotonic()
        if collision != before or self._estimates == 1:
            self._report_collision(collision, estimator, torque)
        if collision and not before and self.parameters['collision_response'] == STOP:
            self._stop()

    def _get_ready_to_stop(self, response: str) -> None:
        """Create the publisher of stop trajectories before it is needed."""
        # DDS discovery takes longer than a collision.
        if response == STOP and self._stops is None:
            self._stops = publisher(self, self._interface.topic('joint_trajectory'))

    def _stop(self) -> None:
        """Publish a trajectory without points: the robot holds the desired position."""
        assert self._stops is not None and self.robot is not None
        # No stamp: at once, independent of clocks.
        self._stops.publish(JointTrajectory(joint_names=list(self.robot.joint_names)))
        self._stopped += 1
        listeners = self._stops.get_subscription_count()
        listening = (
            f'{listeners} listening'
            if listeners
            else ('but no node subscribes to joint_trajectory')
        )
        self.diagnostics.event(
            SUBJECT, WARN, f'stopped at a collision, {listening}', code='stopped'
        )

    def _report_collision(self, collision: bool, estimator: Estimator, torque: np.ndarray) -> None:
        if collision:
            names = estimator.detector.joints(torque, self.robot.joint_names)  # type: ignore
            text = f'collision: external torque above the threshold at joint {names}'
            self.diagnostics.condition(SUBJECT, WARN, text, code='collision')
        else:
            self.diagnostics.condition(SUBJECT, OK, 'no collision', code='free')

    # -- diagnostics ------------------------------------------------------------------------------

    def _check_silence(self) -> None:
        """Report missing states, and their return."""
        estimator, timeout = self._prepared, self.parameters['state_timeout']
        if estimator is None or not self.active or not self._estimates or not timeout:
            return
        silent = time.monotonic() - self._arrived
        if silent > timeout:
            text = f'no usable joint state for {silent:.1f} s; the last estimate is out of date'
            self.diagnostics.condition(SUBJECT, STALE, text, code='silent')
        else:
            self._report_collision(
                estimator.detector.collision, estimator, estimator.observer.torque
            )
        last = self._last
        if last is not None and last.condition_number > UNCERTAIN:
            self.diagnostics.event(
                SUBJECT,
                WARN,
                f'near a singular configuration: the joints respond to {last.rank} of 6 wrench '
                f'components at {estimator.wrench.frame}, and the estimate lacks the others',
                code='singular',
            )

    def _values(self) -> Dict[str, Any]:
        values: Dict[str, Any] = {
            'estimates': self._estimates,
            'states_not_used': self._rejected,
            'stops': self._stopped,
        }
        if self._prepared is not None:
            values['largest_torque'] = float(np.abs(self._prepared.observer.torque).max())
        if self._last is not None:
            values['condition_number'] = self._last.condition_number
        return values


def _last_link(robot: Robot) -> str:
    """Return the link that is furthest from the base, usually the tool."""
    depth = {0: 0}
    for i, body in robot.model.outward():
        depth[i] = depth[body.parent] + 1
    deepest = max(depth, key=lambda i: depth[i])
    return [link.name for link in robot.model.links.values() if link.body == deepest][-1]
