# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A torque node, composed of its parts."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, Optional

import numpy as np

from rbd_ros.control import (
    describe_insufficient_stiffness,
    insufficient_stiffness_joints,
    TorqueLimiter,
)
from rbd_ros.control.closed_loop_state import LoopClosing
from rbd_ros.nodes.common.compile_progress import Progress
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, FORGOTTEN, OK, WARN
from rbd_ros.nodes.common.managed import ManagedNode, UNCONFIGURED
from rbd_ros.nodes.common.node_interface import NodeInterface
from rbd_ros.nodes.common.node_process import ending, forced
from rbd_ros.nodes.common.parameter_table import ParameterTable
from rbd_ros.nodes.common.realtime import RealTime
from rbd_ros.nodes.common.timing_report import TimingReport
from rbd_ros.nodes.messages.text import shorten
from rbd_ros.nodes.torque.closed_loop_input import ClosingStateInput
from rbd_ros.nodes.torque.commander import Commander
from rbd_ros.nodes.torque.control_loop import ControlLoop, SUBJECT
from rbd_ros.nodes.torque.controlled_dofs import ControlledDofs
from rbd_ros.nodes.torque.model_display import ModelDisplay
from rbd_ros.nodes.torque.motion_reference import Reference
from rbd_ros.nodes.torque.overspeed import overspeed
from rbd_ros.nodes.torque.prepared import check_alone, prepare, Prepared, Values
from rbd_ros.nodes.torque.safety_parameters import soft_stops
from rbd_ros.nodes.torque.state_input import StateInput, SUBJECT as JOINT_STATES
from rbd_ros.nodes.torque.torque_output import TorqueOutput
from rbd_ros.nodes.torque.watchdog import Watchdog
from rbd_ros.robot import Robot

GAINS = 'gains'

LawOptions = Callable[[Robot, Values], Dict[str, Any]]


class TorqueNode(ManagedNode):
    """A node that answers joint states with torques while it is active.

    :param interface: interface of the node
    :param law_options: returns arguments of `LawSettings.for_robot` for the robot and the node's
        parameters; raises ValueError for illegal ones
    :param reference: creates the reference from node and robot
    """

    def __init__(
        self,
        interface: NodeInterface,
        law_options: LawOptions,
        reference: Callable[[TorqueNode, Robot], Reference],
    ):
        super().__init__(interface)
        self._law_options, self._create_reference = law_options, reference
        self.robot: Optional[Robot] = None
        self._prepared: Optional[Prepared] = None
        self._loop: Optional[ControlLoop] = None
        # Torques from before `cleanup`, by joint, and their time [s].
        self._standing: Dict[str, float] = {}
        self._standing_since = -math.inf
        self.parameters = ParameterTable(self, interface.parameters, self._prepare, self._commit)
        self.diagnostics = Diagnostics(self)
        self.diagnostics.add_values(SUBJECT, self._values)
        self.diagnostics.every_second(self._every_second)
        self.parameters.free = lambda: self.state == UNCONFIGURED
        self._create_own()
        self.bring_up()

    # -- parameters: all or none ------------------------------------------------------------------

    def _prepare(self, values: Values) -> Optional[Prepared]:
        """Return all settings that depend on parameters, without side effects.

        :raises ValueError: if the parameters cannot be used
        """
        check_alone(values)
        if self.robot is None:
            return None
        self.reference.check(values)
        return self._prepare_law(self.robot, values)

    def _prepare_law(self, robot: Robot, values: Values) -> Prepared:
        dofs = self._dofs
        options = {
            'gravity': self._gravity(values),
            **self._law_options(dofs.moved, values),
        }
        own = self._prepare_own(dofs.moved, values)
        return prepare(dofs, values, options, self._own_weight, own, self._prepared)

    def _commit(self, prepared: Optional[Prepared], changed: Dict[str, Any]) -> None:
        if prepared is None:
            return
        self._take(prepared)
        self.reference.configure(self.parameters.values)
        if 'payload_link' in changed:
            link = prepared.payload_link
            self.get_logger().info(f'payload on {link!r}' if link else 'no payload')
        self._warn_of_weak_gains(prepared)

    def _take(self, prepared: Prepared) -> None:
        prepared.law.replace_settings(prepared.settings, self._commander.lock)
        self._prepared = prepared
        if self._loop is not None:
            self._loop.law = prepared.law
        self._commander.limiter.limits = prepared.limits
        settings = prepared.settings
        self._states.needs_velocity = (
            settings.feedback != 'none'
            or settings.friction == 'measured'
            or self._stops is not None
            or self.parameters['overspeed_factor'] > 0.0
        )
        if self._loop is not None:
            self._loop.changed()

    # -- the robot --------------------------------------------------------------------------------

    def configure(self, robot: Robot, progress: Progress) -> None:
        """Create the node's parts for a robot.

        :raises ValueError: if robot and parameters do not fit
        """
        values = self.parameters.values
        real_time = RealTime(values, self.diagnostics)
        if robot.model.loops:
            progress.stage('closing the loops')
        self._dofs = self._find_dofs(robot)
        progress.stage('compiling the torque law')
        self.reference = self._create_reference(self, self._dofs.moved)
        self.reference.check(values)
        self.reference.configure(values)
        prepared = self._prepare_law(robot, values)
        closing = self._closing
        self._states = (StateInput if closing is None else ClosingStateInput)(
            robot if closing is None else closing,
            self.diagnostics,
            values['state_timeout'],
            values['optional_joints'],
            values['position_limit_tolerance'],
        )
        output = self._create_output(robot, values)
        limiter = TorqueLimiter(prepared.limits.effort_limits)
        if self._standing:
            torque = [self._standing.get(name, 0.0) for name in robot.joint_names]
            limiter.resume(np.array(torque), self._standing_since)
        self._stops = soft_stops(robot, values)
        self._commander = self._create_commander(output, limiter)
        self._commander.close()
        self._take(prepared)
        self._commander.prepare(prepared.law)
        self._watchdog = Watchdog(
            values['state_timeout'], self._on_silence, self._simulated_time, real_time.enter
        )
        self.robot, self._real_time = robot, real_time
        self._loop = ControlLoop(
            self,
            self._states,
            self.reference,
            prepared.law,
            self._commander,
            self._watchdog,
            self.diagnostics,
            real_time.enter,
            overspeed(robot, values['overspeed_factor'], self._end_torque, self.diagnostics),
        )
        timer = self._loop.timer
        self._timing = TimingReport(
            self.diagnostics, timer, lambda: self.parameters.values, lambda: timer.overruns
        )
        self._display = ModelDisplay(
            self,
            robot,
            values['frame_prefix'] + next(iter(robot.model.links)),
            lambda: self._loop.last_state,
            lambda q: self._prepared.law.gravity_torque(q),
            lambda: self._prepared.limits.effort_limits,
            self.diagnostics,
        )
        self._report_limits(robot)
        self._warn_of_weak_gains(prepared)
        self.diagnostics.condition(
            JOINT_STATES,
            WARN,
            f'waiting for states on {self._loop.subscription.topic_name}',
            code='waiting',
        )
        self._configure_own(prepared)

    def cleanup(self) -> None:
        """Drop the robot."""
        if self._loop is not None:
            self._loop.stop()
            self._watchdog.stop()
            self._keep_torque()
        self.robot = self._prepared = self._loop = None
        self.diagnostics.condition(SUBJECT, OK, FORGOTTEN, code=FORGOTTEN)

    def _keep_torque(self) -> None:
        """Keep the last torque: the rate limit holds across the next configuration."""
        last = self._commander.limiter.last_with_time
        if last is not None and self.robot is not None:
            torque, self._standing_since = last
            self._standing.update(zip(self.robot.joint_names, torque.tolist()))

    # -- hooks of subclasses ----------------------------------------------------------------------

    #: Whether the torque includes the weight of the robot's links
    _own_weight = True

    def _create_own(self) -> None:
        """Create the parts of the node that do not depend on the robot."""

    def _gravity(self, values: Values) -> np.ndarray:
        """Return the gravity in base coordinates, (3,) [m/s^2]."""
        return np.array(values['gravity'])

    def _prepare_own(self, robot: Any, values: Values) -> Any:
        """Return the settings of the node's additional parts, without side effects.

        :raises ValueError: if parameters cannot be used
        """

    def _create_output(self, robot: Robot, values: Values) -> TorqueOutput:
        return TorqueOutput(
            self, robot.joint_names, self._dofs.joints(values['joints']), values['output']
        )

    def _create_commander(self, output: TorqueOutput, limiter: TorqueLimiter) -> Commander:
        return Commander(output, limiter, self._closing is None, self._stops)

    def _report_silence(self, timeout: float) -> None:
        """Report that no torque of the law was sent for `timeout` seconds."""
        self._states.lost(timeout)

    def _configure_own(self, prepared: Prepared) -> None:
        """Create the node's additional parts, after all others and before states arrive."""

    @property
    def _closing(self) -> Optional[LoopClosing]:
        return self._dofs.closing

    def _find_dofs(self, robot: Robot) -> ControlledDofs:
        dofs = ControlledDofs(robot, self.parameters['optional_joints'])
        if dofs.passive and dofs.closing is None:
            self.get_logger().warning(
                f'joint {shorten(dofs.passive)} has no actuator: the torques of the others '
                'assume that all joints move as desired'
            )
        return dofs

    def _report_limits(self, robot: Robot) -> None:
        for text, joints in (
            ('no effort limit', np.isinf(robot.effort_limits)),
            ('effort limit 0', robot.effort_limits == 0.0),
        ):
            if joints.any():
                names = shorten(np.array(robot.joint_names)[joints])
                self.get_logger().warning(f'the robot description gives {text} for {names}')

    def _warn_of_weak_gains(self, prepared: Prepared) -> None:
        """Warn of joints whose stiffness is below the gradient of gravity."""
        if self._closing is not None:
            return
        found = insufficient_stiffness_joints(
            self.robot, prepared.settings, prepared.payload_link or None
        )
        weak = [joint for joint in found if joint[0] in self._dofs.actuated]
        if weak:
            self.diagnostics.condition(
                GAINS,
                WARN,
                describe_insufficient_stiffness(weak),
                code=f'weak {shorten(j[0] for j in weak)}',
            )
        else:
            self.diagnostics.condition(GAINS, OK, 'no joint has too little stiffness', code='good')

    # -- running and ending -----------------------------------------------------------------------

    def run(self) -> None:
        """Begin to read states, if there is a robot."""
        if self._loop is not None:
            self._real_time.lock_memory()
            self._loop.start()

    def activate(self) -> None:
        """Begin to answer states."""
        self._commander.open()
        self._loop.activate()
        self._watchdog.start()

    def deactivate(self) -> None:
        """Send the last torque before a deactivation."""
        self._finish_torque(self.parameters['deactivate_command'], is_superseded=ending)
        self._commander.flush()
        self.reference.deactivate()

    def shutdown(self) -> None:
        """Send the last torque before the end."""
        if self._loop is not None:
            self._finish_torque(self.parameters['shutdown_command'])
            self._commander.flush()
            self.reference.deactivate()

    def stop(self) -> None:
        """Send the last torque at the end of the process, and the results of goals."""
        if self._loop is None:
            return
        self._loop.stop()
        self._finish_torque(self.parameters['shutdown_command'])
        self.reference.stop()
        self._watchdog.stop()
        self._commander.flush()
        self.diagnostics.flush()

    def _finish_torque(self, action: str, is_superseded: Callable[[], bool] = bool) -> None:
        """Send a last torque, if one was sent since the activation, and then no more.

        :param is_superseded: returns whether another last torque replaces it
        """
        self._loop.deactivate()
        unfinished = self._commander.close()
        self._watchdog.disarm()
        if not self._commander.has_sent:
            return
        reached = True
        if action != 'none':
            reached = self._send_last(action, True, is_superseded)
        elif unfinished is not None:  # complete the interrupted last command
            reached = self._commander.finish(
                unfinished, self._stamp, forced(), True, is_superseded
            )
        if reached:
            self._commander.mark_idle()

    def _on_silence(self) -> None:
        """Handle missing states, in the watchdog's thread; repeated if it raises."""
        try:
            if self._commander.commanding:
                self._send_last(self.parameters['timeout_command'])
        except Exception as error:
            self._failures.report(error)
            raise
        finally:
            if self._watchdog.timeout:
                self._report_silence(self._watchdog.timeout)

    def _end_torque(self) -> None:
        """End the torque because of overspeed; called in the control loop."""
        self._send_last(self.parameters['timeout_command'])

    def _send_last(
        self, action: str, final: bool = False, is_superseded: Callable[[], bool] = bool
    ) -> bool:
        """Send a last torque; return whether it was reached."""
        if action == 'none':
            return False
        torque = self._last_torque(action)
        reached = self._commander.finish(torque, self._stamp, forced(), final, is_superseded)
        if reached:
            text = f'last torque sent: {action}'
            self.diagnostics.condition(SUBJECT, OK if final else WARN, text, code='stopped')
        return reached

    def _last_torque(self, action: str) -> np.ndarray:
        """Return the last torque, (n,) [N m or N]; zero if that of `action` cannot be computed."""
        torque = np.zeros(self.robot.nv)
        if action != 'gravity':
            return torque
        try:
            gravity = self._prepared.law.gravity_torque(self._loop.last_state.q)
            if np.isfinite(gravity).all():
                return gravity
            problem = 'it is not finite'
        except Exception as error:  # the last command is always sent
            problem = str(error)
        self.diagnostics.event(
            SUBJECT, ERROR, f'last torque: zero instead of gravity, because {problem}', 'gravity'
        )
        return torque

    def _stamp(self) -> int:
        return self.get_clock().now().nanoseconds

    def _simulated_time(self) -> Optional[float]:
        clock = self.get_clock()
        return clock.now().nanoseconds * 1e-9 if clock.ros_time_is_active else None

    @property
    def answering(self) -> bool:
        """True if states arrive and torques are sent."""
        return self._loop is not None and self._commander.commanding

    # -- diagnostics ------------------------------------------------------------------------------

    def _every_second(self) -> None:
        if self._loop is None or not self.spinning:
            return
        self._states.every_second()
        self.reference.every_second()
        self._display.every_second()
        if not self._loop.active:
            self._loop.report_missing_answers()
            return
        rate = self.parameters['update_rate']
        self._loop.timer.expect(1.0 / rate if rate else 0.0)
        self._timing.refresh(rate)
        never = not self._commander.has_sent
        if never and self._states.messages and self._watchdog.timeout > 0.0:
            self._report_silence(self._watchdog.timeout)

    def _values(self) -> Dict[str, Any]:
        if self._loop is None:
            return {}
        return {**self._loop.values(), **self.reference.values()}
