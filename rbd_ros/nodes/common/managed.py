# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Managed nodes: the ROS 2 lifecycle, driven by services, a lifecycle manager, or the node itself.

With `autostart`, a managed node configures and activates itself; otherwise it waits for the
services of rclpy's lifecycle. The log and `/diagnostics` give the reason of a failed transition,
and the node stays in its state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
import functools
import traceback
from typing import Any, Callable, Iterator, Optional, Tuple

from rclpy.lifecycle import LifecycleNodeMixin, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node

from rbd_ros.nodes.common.compile_progress import Progress
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.nodes.common.guarded_node import GuardedNode
from rbd_ros.nodes.common.node_interface import NodeInterface
from rbd_ros.nodes.common.node_process import ending, interruptible, StartupError
from rbd_ros.nodes.common.parameter_table import ParameterTable
from rbd_ros.nodes.common.robot_source import RobotSource
from rbd_ros.nodes.messages.text import readable
from rbd_ros.robot import Robot


class ScopedEntities:
    """Entities and diagnostics subjects of a node that are created from now on."""

    def __init__(self, node: Node, diagnostics: Diagnostics):
        self._node, self._diagnostics = node, diagnostics
        self._kept = {id(entity) for entity, _ in self._entities()}
        self._subjects = diagnostics.mark()

    def _entities(self) -> Iterator[Tuple[Any, Callable[[Any], Any]]]:
        """Yield all entities with their destructors; those owned by other entities come last."""
        node = self._node
        # GuardedNode hides polled subscriptions
        subscriptions = Node.subscriptions.__get__(node)
        for entities, destroy in (
            (node.publishers, node.destroy_publisher),
            (subscriptions, node.destroy_subscription),
            (node.clients, node.destroy_client),
            (node.services, node.destroy_service),
            (node.timers, node.destroy_timer),
            (node.guards, node.destroy_guard_condition),
        ):
            yield from ((entity, destroy) for entity in entities)
        # actions; event handlers are destroyed with their publishers and subscriptions
        yield from ((each, _destroy_action) for each in node.waitables)

    def destroy(self) -> None:
        """Destroy all entities that were created since, and drop their diagnostics."""
        for entity, destroy in list(self._entities()):
            if id(entity) not in self._kept:
                destroy(entity)
        self._diagnostics.discard_since(self._subjects)


def _destroy_action(waitable: Any) -> None:
    """Destroy an action server or client, which removes itself from its node."""
    if hasattr(waitable, 'add_goal') or 'rclpy.action' in type(waitable).__module__:
        waitable.destroy()


SUBJECT = 'lifecycle'
UNCONFIGURED, INACTIVE, ACTIVE = 'unconfigured', 'inactive', 'active'

SUCCESS, FAILURE, FAULT = (
    TransitionCallbackReturn.SUCCESS,
    TransitionCallbackReturn.FAILURE,
    TransitionCallbackReturn.ERROR,
)


class TransitionRejected(RuntimeError):
    """A transition is not possible now; the message gives the reason and the cure."""


class ManagedNode(LifecycleNodeMixin, GuardedNode, ABC):
    """A node with a robot, which is configured, activated, deactivated and cleaned up.

    A subclass implements `configure`, `cleanup`, `activate`, `deactivate` and `shutdown`, which
    the executor calls. The callbacks of rclpy (`on_configure`, ...) are here: `configure` waits
    for a robot description, which may come after the transition.
    Constructors set `parameters` and `diagnostics` and end with `bring_up`.

    :param interface: interface of the node
    """

    parameters: ParameterTable
    diagnostics: Diagnostics

    def __init__(self, interface: NodeInterface):
        GuardedNode.__init__(self, interface.name)
        LifecycleNodeMixin.__init__(self)
        self.interface = interface
        self._activation_pending = False  # until there is a robot
        self._problem: Optional[Exception] = None  # of the transition under way
        self._scoped_entities: Optional[ScopedEntities] = None  # since the node was configured
        #: Whether signals reach the node and its threads may run
        self.spinning = False
        for service in (
            self._service_change_state,
            self._service_get_state,
            self._service_get_available_states,
            self._service_get_available_transitions,
            self._service_get_transition_graph,
        ):
            service.callback = self.guarded(service.callback)
        self._service_change_state.callback = self._checked(self._service_change_state.callback)

    # -- methods of subclasses --------------------------------------------------------------------

    @abstractmethod
    def configure(self, robot: Robot, progress: Progress) -> None:
        """Create the node's parts for a robot.

        :raises ValueError: if robot and parameters do not fit
        """

    @abstractmethod
    def cleanup(self) -> None:
        """Drop the robot, also after a failed `configure`."""

    @abstractmethod
    def activate(self) -> None:
        """Begin to publish.

        :raises TransitionRejected: if that is not possible
        """

    @abstractmethod
    def deactivate(self) -> None:
        """Stop publishing, so that another node can take over."""

    @abstractmethod
    def shutdown(self) -> None:
        """Stop publishing for good."""

    def run(self) -> None:
        """Start threads: signals reach the node now."""

    # -- bringing up ------------------------------------------------------------------------------

    def bring_up(self, **options: Any) -> None:
        """Configure the node if `autostart` is set; otherwise wait for the transition.

        :param options: further arguments of `RobotSource`
        :raises StartupError: if `autostart` is set and a setting cannot be used
        """
        self._source = RobotSource(
            self, self.parameters, self.diagnostics, self._use_robot, **options
        )
        self._source.arrived = self._activate_if_requested
        self._source.listen()
        self._report()
        if not self.parameters['autostart']:
            name = self.get_fully_qualified_name()
            self.get_logger().info(
                'waiting for transitions, because autostart is false; run ros2 lifecycle set '
                f'{name} configure'
            )
            return
        self._activation_pending = True
        self.trigger_configure()
        if self._problem is not None:
            raise self._problem
        self._report()

    def start(self) -> None:
        """Begin, now or as soon as there is a robot and a transition."""
        self.spinning = True
        self.run()
        self._activate_if_requested()

    def _activate_if_requested(self) -> None:
        ready = self.spinning and self.state == INACTIVE and self._source.robot is not None
        if self._activation_pending and ready:
            self._activation_pending = False
            self.trigger_activate()
            self._report()

    def _use_robot(self, robot: Robot, progress: Progress) -> None:
        before = ScopedEntities(self, self.diagnostics)
        try:
            self.configure(robot, progress)
        except Exception:
            self.cleanup()
            before.destroy()
            raise
        self._scoped_entities = before
        if self.spinning:
            self.run()

    def _cleanup(self) -> None:
        """Destroy all entities that were created since the node was configured."""
        self._activation_pending = False
        self.cleanup()
        if self._scoped_entities is not None:
            self._scoped_entities.destroy()
            self._scoped_entities = None
        self._source.reset()

    # -- transitions ------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """Label of the present state: unconfigured, inactive, active or finalized."""
        return str(self._state_machine.current_state[1])

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load the description and compile, or begin to wait for it on the topic."""
        return self._do('configure', self._load_robot)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin to publish, if there is a robot."""
        return self._do('activate', self._activate_with_robot)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop publishing."""
        return self._do('deactivate', self.deactivate)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Drop the robot, so that another one can be configured."""
        return self._do('cleanup', self._cleanup)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop publishing for good."""

        def work() -> None:
            if state.label == ACTIVE:
                self.shutdown()
            self._cleanup()

        return self._do('shutdown', work)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop publishing after a transition that raised, and return to unconfigured."""
        for step in (self.shutdown, self._cleanup):
            try:
                step()
            except Exception as error:
                text = f'after a failed transition: {error}'
                self._report_event(ERROR, text, type(error).__name__)
                self.get_logger().debug(traceback.format_exc())
        return SUCCESS

    def _load_robot(self) -> None:
        try:
            with interruptible():
                self._source.start()
        except KeyboardInterrupt:
            if not self.spinning:
                raise
            # A stop signal; the executor would write a traceback of it.
            raise TransitionRejected('the node is ending') from None

    def _activate_with_robot(self) -> None:
        if self._source.robot is None:
            raise TransitionRejected(
                'the node has no robot description yet; publish one on the topic '
                'robot_description, or clean up and set the parameter robot_description or '
                'robot_description_file'
            )
        self.activate()

    def _do(self, name: str, work: Callable[[], None]) -> TransitionCallbackReturn:
        self._problem = None
        try:
            work()
            return SUCCESS
        except (TransitionRejected, StartupError) as error:
            self._problem, result = error, FAILURE
        except Exception as error:
            self._problem, result = error, FAULT
            self.get_logger().debug(traceback.format_exc())
        if self.spinning or not self._activation_pending:  # else the node ends with a message
            self._report_event(ERROR, f'{name} failed: {self._problem}', f'{name} failed')
        return result

    def _checked(self, change: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return the service of transitions; it rejects those unknown to the present state."""

        @functools.wraps(change)
        def checked(request: Any, response: Any) -> Any:
            requested = request.transition.label or request.transition.id
            possible = {t[1]: t[0] for t in self._state_machine.available_transitions}
            by_id = {number: number for number in possible.values()}
            number = possible.get(requested, by_id.get(requested))
            response.success = False
            if number is None or ending():
                what = readable(str(requested))
                reason = 'the node is ending' if ending() else f'possible: {", ".join(possible)}'
                text = f'transition {what} is not possible in state {self.state}; {reason}'
                self._report_event(WARN, text, 'transition not possible')
                return response
            request.transition.label, request.transition.id = '', number
            result = change(request, response)
            self._report()
            return result

        return checked

    # -- reports ----------------------------------------------------------------------------------

    def _report_event(self, level: bytes, text: str, code: str) -> None:
        self.diagnostics.event(SUBJECT, level, text, code=code)

    def _report(self) -> None:
        state = self.state
        self.diagnostics.condition(SUBJECT, OK, state, code=state)
