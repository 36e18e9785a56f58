# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Simulated robot that replaces the hardware: torques in, joint states and time out."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Any, Callable, Dict, Mapping, Optional, Tuple, TYPE_CHECKING, Union

from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger

from rbd_ros.hil.update_rate import steps_of_period
from rbd_ros.nodes.common.communication import service
from rbd_ros.nodes.common.compile_progress import Progress
from rbd_ros.nodes.common.deferred_response import allow_deferred_responses, DeferredResponse
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.nodes.common.guarded_node import GuardedNode
from rbd_ros.nodes.common.node_process import destroy_at_the_end, StartupError
from rbd_ros.nodes.common.parameter_table import ParameterTable
from rbd_ros.nodes.common.realtime import check_cores, RealTime
from rbd_ros.nodes.common.receipts import Receipts
from rbd_ros.nodes.common.robot_source import RobotSource
from rbd_ros.nodes.common.timing_report import TimingReport
from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.messages.text import readable
from rbd_ros.nodes.simulator.commands.command_gaps import FirstCommand
from rbd_ros.nodes.simulator.commands.control_tag import read_control_tag
from rbd_ros.nodes.simulator.commands.publisher_conflicts import ConflictMonitor
from rbd_ros.nodes.simulator.cycle.lockstep import LockstepPorts, OFF, SUBJECT as LOCKSTEP
from rbd_ros.nodes.simulator.cycle.manager_ports import ManagerPorts
from rbd_ros.nodes.simulator.cycle.ros_ports import RosPorts
from rbd_ros.nodes.simulator.cycle.simulation_cycle import SimulationCycle
from rbd_ros.nodes.simulator.cycle.simulation_loop import SimulationLoop, Steps
from rbd_ros.nodes.simulator.interface.simulator_interface import (
    check_simulator_parameters,
    has_rigid_ground,
    INTERFACE,
)
from rbd_ros.nodes.simulator.snapshot_services import (
    check_snapshot_folder,
    check_snapshot_name,
    Snapshots,
)
from rbd_ros.nodes.simulator.standard_services.simulation_interfaces import (
    offer_simulation_interfaces,
)
from rbd_ros.nodes.simulator.standard_services.step_action import offer_steps
from rbd_ros.nodes.simulator.start.base_placement import has_floating_base
from rbd_ros.nodes.simulator.start.held_start import HeldStart
from rbd_ros.robot import Robot

if TYPE_CHECKING:
    from rbd_ros.nodes.simulator.fault_ports import Faults
    from rbd_ros.nodes.simulator.world.object_changes import ObjectChanges
    from rbd_ros.nodes.simulator.world.world_interface import WorldInterface

SUBJECT = 'simulation'
SLOW = 0.95  # fraction of the requested real-time factor below which a warning is due
Outcome = Tuple[bool, str]  # success, and message
OWN_CLOCK = 'the simulator publishes /clock and cannot use it'


class SimulatorNode(GuardedNode):
    """See docs/nodes/simulator.md."""

    _held: Optional[HeldStart] = None  # initialized here: a parameter may end the constructor

    def __init__(self):
        super().__init__(INTERFACE.name)
        self._reject_simulated_time()
        self.parameters = ParameterTable(
            self,
            INTERFACE.parameters,
            self._prepare,
            self._commit,
            read_only={'use_sim_time': OWN_CLOCK},
        )
        self.diagnostics = Diagnostics(self)
        self.diagnostics.add_values(SUBJECT, self._values)
        self.diagnostics.every_second(self._watch)
        self._conflicts = ConflictMonitor(self, self.diagnostics)
        self.ports: Optional[RosPorts] = None
        #: Between ports and cycle in lockstep; otherwise None.
        self.lockstep: Optional[LockstepPorts] = None
        self.cycle: Optional[SimulationCycle] = None
        self.loop: Optional[SimulationLoop] = None
        #: Adds objects to the world; None without a world or a robot.
        self.changes: Optional[ObjectChanges] = None
        self._further_ports: Dict[str, Any] = {}  # of robots with their own topics
        self._running = False
        self._failure = ''
        self._seen: Tuple[int, int, int, float] = (0, 0, 0, 0.0)
        self._first_command = FirstCommand()
        self._speed = 0.0
        self.faults: Optional[Faults] = None
        service(self, INTERFACE.service('~/pause'), self._on_pause)
        service(self, INTERFACE.service('~/reset'), self._on_reset)
        allow_deferred_responses(service(self, INTERFACE.service('~/step'), self._on_step))
        self.snapshots = Snapshots(self)
        for name, verb in self.snapshots.verbs.items():
            service(self, INTERFACE.service(name), partial(self._on_trigger, verb))
        offer_simulation_interfaces(self, self._offer)
        self._step_action = offer_steps(self)
        self._check_places()
        self._source = RobotSource(
            self,
            self.parameters,
            self.diagnostics,
            self._use_robot,
            floating_base=self.parameters['floating_base'],
            gravity=self.parameters['gravity'],
        )
        self._source.start()

    def _offer(self, kind: type, name: str, callback: Callable[[Any, Any], Any]) -> None:
        """Create a service of `simulation_interfaces`."""
        allow_deferred_responses(self.create_service(kind, name, callback))

    def _reject_simulated_time(self) -> None:
        if self.get_parameter('use_sim_time').value:
            self.get_logger().warning(f'{OWN_CLOCK}: use_sim_time is set to false')
            self.set_parameters([Parameter('use_sim_time', value=False)])

    @staticmethod
    def _check(values: Mapping[str, Any]) -> None:
        check_simulator_parameters(values)
        check_snapshot_name(values['snapshot_name'])
        check_cores(values['cpu_affinity'])

    def _prepare(self, values: Mapping[str, Any]) -> Any:
        """Return the faults of changed parameters; None without a change of faults.

        :raises ValueError: if the values cannot be used
        """
        self._check(values)
        # Without a robot, joint names are unknown: see `_use_robot`.
        known = getattr(self, 'loop', None) is not None
        if not known or values['faults'] == self.parameters['faults']:
            return None
        from rbd_ros.nodes.simulator.fault_ports import live_faults

        return live_faults(values['faults'], self.cycle)

    def _check_places(self) -> None:
        """Reject an unusable world or folder, independent of the robot.

        :raises StartupError: with the reason
        """
        try:
            check_snapshot_folder(self.parameters['snapshot_folder'])
            if self.parameters['world'].strip():
                # Imported for a world only: other simulations start sooner.
                from rbd_ros.nodes.simulator.world.world_source import world_of

                world_of(self.parameters)
        except ValueError as error:
            raise StartupError(str(error)) from None

    def _use_robot(self, robot: Robot, progress: Progress) -> None:
        with_world = ''
        if self.parameters['world'].strip():
            with_world = ' and its world'
        elif has_rigid_ground(self.parameters):
            with_world = ' and its ground'
        progress.stage(f'compiling the simulation{with_world}; the robot is held until then')
        self.ports = RosPorts(
            self,
            clock=self.parameters['clock_publish_rate'] != 0.0,
            base=robot.model.body(1).name if has_floating_base(robot) else '',
            accelerations=self.parameters['acceleration_commands'],
        )
        self._wait_for_commands()
        tag = read_control_tag(self._source.description, self.parameters['package_paths'])
        with ExitStack() as held:
            begin: Optional[Callable[[], int]] = None
            # In lockstep, a state waits for its answer, but a manager needs time to start.
            if self.lockstep is None or self.parameters['lockstep_update_rate']:
                self._held = HeldStart(robot, self.parameters, tag, self.ports)
                begin = held.enter_context(self._held).end
            self.cycle = SimulationCycle(
                robot,
                self.parameters,
                self.diagnostics,
                self.lockstep or self.ports,
                self.get_logger().warning,
                self._world_ports,
                tag,
                self._measurement_ports,
                self._robot_ports,
                begin,
            )
        if isinstance(self.lockstep, ManagerPorts):
            self.lockstep.hold = self.cycle.hold
        self._real_time = RealTime(self.parameters.values, self.diagnostics)
        self.loop = SimulationLoop(
            self.cycle.timestep,
            self.snapshots.watched(self.cycle),
            self.cycle.idle,
            self.cycle.publish,
            self._on_failure,
            self.parameters['real_time_factor'],
            self.parameters['start_paused'],
            self._real_time.enter,
            None if self.lockstep is None else self.lockstep.ready,
        )
        self._timing = TimingReport(
            self.diagnostics,
            self.loop.timer,
            lambda: self.parameters.values,
            lambda: self.loop.overruns,
        )
        self._pace()
        if self.cycle.world_interface is not None:
            self._offer_changes()
        if self.parameters['faults'].strip():
            self._begin_with_faults(self.parameters['faults'])
        self._report_state()
        if self._running:
            self._begin()

    def _begin_with_faults(self, text: str) -> None:
        """Apply the initial faults from the first cycle on.

        :raises ValueError: if this robot does not support them
        """
        from rbd_ros.nodes.simulator.fault_ports import live_faults

        try:
            self.ensure_faults().begin(self.cycle, live_faults(text, self.cycle))
        except ValueError as error:
            raise ValueError(f'parameter faults: {error}') from None

    def _wait_for_commands(self) -> None:
        """Start lockstep: the simulation waits for a command after each state."""
        if self.parameters['lockstep'] == OFF:
            return
        waits = (
            self.ports.wait_for_command,
            self.diagnostics,
            lambda: self.parameters['lockstep_timeout'],
        )
        if rate := self.parameters['lockstep_update_rate']:
            timestep = round(self.parameters['timestep'] * NANOSECONDS)
            period = steps_of_period(rate, timestep) * timestep
            receipts = Receipts(self.context, self.ports.command_topics[0])
            destroy_at_the_end(receipts.node)
            self.lockstep = ManagerPorts(self.ports, period, *waits, receipts)
        else:
            self.lockstep = LockstepPorts(self.ports, self.parameters['lockstep'], *waits)
        self.diagnostics.add_values(LOCKSTEP, self.lockstep.values)

    def _offer_changes(self) -> None:
        """Create the services that add and remove objects."""
        from rbd_ros.nodes.simulator.world.object_changes import ObjectChanges

        self.changes = changes = ObjectChanges(self)
        values = self.cycle.world_interface.values
        self.diagnostics.add_values('world', lambda: {**values(), **changes.values()})

    def _world_ports(self) -> Any:
        from rbd_ros.nodes.simulator.world.world_ports import RosWorldPorts

        return RosWorldPorts(self, self.parameters['publish_tf'])

    def _measurement_ports(self) -> Any:
        from rbd_ros.nodes.simulator.state.measurement_ports import RosMeasurementPorts

        return RosMeasurementPorts(self)

    def _robot_ports(self, name: str) -> Any:
        from rbd_ros.nodes.simulator.state.robot_topics import RosRobotPorts

        ports = RosRobotPorts(self, name)
        self._further_ports[name] = ports
        return ports

    def start(self) -> None:
        """Start time, now or as soon as there is a robot."""
        self._running = True
        if self.loop is not None:
            self._begin()

    def _begin(self) -> None:
        self._real_time.lock_memory()
        self.loop.start()

    def _commit(self, faults: Any, changed: Dict[str, Any]) -> None:
        if faults is not None and (faults or self.faults is not None):
            self.ensure_faults().plan(faults)
        if 'max_catch_up_rate' in changed and self.loop is not None:
            self._pace()
        if 'real_time_factor' in changed and self.loop is not None:
            self.loop.real_time_factor = changed['real_time_factor']
            self.loop.interruptions += 1

    def _on_failure(self, error: BaseException) -> None:
        self._failure = str(error) or type(error).__name__
        self._report_state()

    @property
    def world_interface(self) -> Optional[WorldInterface]:
        """Interface of the world; None without a world or a robot."""
        return None if self.cycle is None else self.cycle.world_interface

    def ensure_faults(self) -> Faults:
        """Return the faults; create them if necessary."""
        if self.faults is None:
            # Imported for faults only: other simulations start sooner.
            from rbd_ros.nodes.simulator.fault_ports import Faults

            self.faults = Faults(self)
        return self.faults

    # -- actions of both kinds of services: success, and message ----------------------------------

    def pause(self, paused: bool) -> Outcome:
        """Pause or resume simulated time."""
        if self.loop is None:
            return self._no_robot()
        if not paused and self._failure:
            return False, self._failed_text()
        self.loop.request(lambda: self._set_paused(paused))
        return True, f'{"paused" if paused else "running"} at {self._time()}'

    def _set_paused(self, paused: bool) -> None:
        if self.loop.paused and not paused:
            self.cycle.refresh_commands()
            self._discard_commands()
        self.loop.set_paused(paused)
        self.cycle.publish()
        self._report_state()

    def step(
        self, count: int, after_each: Optional[Callable[[int], None]] = None
    ) -> Union[Outcome, DeferredResponse]:
        """Simulate `count` cycles while paused; the last state is published before the answer.

        ~/pause, ~/reset, a failure, or the end of the node end them early.

        :param after_each: called in the loop after each cycle with the number of the remaining
            ones
        """
        if self.loop is None:
            return self._no_robot()
        if self._failure:
            return False, self._failed_text()
        outcome = DeferredResponse()
        try:
            self.loop.request(
                lambda: self._begin_steps(
                    count,
                    lambda steps: outcome.set_result(self._steps_done(count, steps)),
                    after_each,
                )
            )
        except (RuntimeError, TimeoutError) as error:
            return False, str(error)
        return outcome

    def _begin_steps(
        self,
        count: int,
        on_done: Callable[[Steps], None],
        after_each: Optional[Callable[[int], None]],
    ) -> None:
        self.loop.begin_steps(count, on_done, after_each)
        self.cycle.refresh_commands()

    def _steps_done(self, count: int, steps: Steps) -> Outcome:
        done = count - steps.left
        if steps.error is not None:
            return False, f'cycles done: {done}, at {self._time()}; {self._failed_text()}'
        ended = f'; ended by {steps.canceled_by}' if steps.canceled_by else ''
        return done == count, f'cycles done: {done}, at {self._time()}{ended}'

    def cancel_steps(self, by: str) -> None:
        """End the running steps, if any.

        :param by: the reason, for the caller of the steps
        """
        self.loop.request(lambda: self.loop.cancel_steps(by))

    def reset(self) -> Outcome:
        """Move the robot to its initial position; time continues."""
        if self.loop is None:
            return self._no_robot()
        self.loop.request(self._reset)
        state = 'paused' if self.loop.paused else 'running'
        return True, f'robot at its initial position, {state}, at {self._time()}'

    def _reset(self) -> None:
        self.reset_progress('~/reset')
        self.cycle.reset()
        self._report_state()

    def reset_progress(self, by: str) -> None:
        """Drop steps and a failure, for another state; called in the loop.

        :param by: the reason for the end of steps, for their caller
        """
        self.loop.cancel_steps(by)
        self._failure = ''
        self._discard_commands()

    def show(self) -> None:
        """Publish the present state, and report it; in the loop."""
        self.cycle.publish()
        self._report_state()

    def _discard_commands(self) -> None:
        """In lockstep, drop the commands that answer no state."""
        if self.faults is not None:
            self.faults.discard_messages()
        if self.lockstep is not None:
            self.lockstep.discard_messages()

    def _failed_text(self) -> str:
        return f'the dynamics failed: {self._failure}. Call ~/reset, then ~/pause with data: false'

    @staticmethod
    def _no_robot() -> Outcome:
        return False, 'the node has no robot description yet'

    def _time(self) -> str:
        return f'{self.cycle.time_ns / 1e9:.6f} s'

    # -- services ---------------------------------------------------------------------------------

    def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        response.success, response.message = self._safely(lambda: self.pause(request.data))
        return response

    def _on_step(
        self, _: Trigger.Request, response: Trigger.Response
    ) -> Union[Trigger.Response, DeferredResponse]:
        def filled(outcome: Outcome) -> Trigger.Response:
            response.success, response.message = outcome[0], readable(outcome[1])
            return response

        outcome = self._safely(lambda: self.step(self.parameters['step_count']))
        return outcome.map(filled) if isinstance(outcome, DeferredResponse) else filled(outcome)

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._on_trigger(self.reset, request, response)

    def _on_trigger(
        self, verb: Callable[[], Outcome], _: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        response.success, response.message = self._safely(verb)
        return response

    def _safely(self, work: Callable[[], Any]) -> Any:
        try:
            outcome = work()
            if isinstance(outcome, DeferredResponse):
                return outcome
            success, message = outcome
        except Exception as error:  # a service must answer
            self.diagnostics.event(
                SUBJECT, ERROR, f'{type(error).__name__}: {error}', code=type(error).__name__
            )
            success, message = False, str(error) or type(error).__name__
        return success, readable(message)

    # -- diagnostics ------------------------------------------------------------------------------

    def _report_state(self) -> None:
        if self._failure:
            self.diagnostics.condition(
                SUBJECT, ERROR, f'paused, because {self._failed_text()}', code='failed'
            )
        elif self.loop.paused:
            self.diagnostics.condition(SUBJECT, OK, 'paused', code='paused')
        else:
            self.diagnostics.condition(SUBJECT, OK, 'running', code='running')

    def _watch(self) -> None:
        """Check once a second that the simulation keeps time, and that commands can arrive."""
        if self.loop is None:
            return
        cycle = self.cycle
        further = self._further_ports
        self._conflicts.report_simulators(
            [*self.ports.output_topics, *(each.output_topic for each in further.values())]
        )
        by_name, by_order = self.ports.command_topics
        recent = cycle.commands.recent_names()
        self._conflicts.report_controllers(by_name, by_order, recent)
        for name, ports in further.items():
            lists = cycle.robot_topics.commands[name].recent_names()
            self._conflicts.report_controllers(*ports.command_topics, lists)
        cycle.follow_clock_listeners(self.ports.clock_listeners)
        self._pace()
        expected = (
            cycle.is_followed and not self.loop.paused and self.count_publishers(by_name) > 0
        )
        if self._first_command.is_overdue(bool(recent), expected):
            self.diagnostics.event(
                SUBJECT,
                WARN,
                'a controller manager follows /clock and sends no commands, since it may have '
                'seen a later time of an earlier simulator; set start_time above that time, or '
                'restart the manager',
                code='no commands',
            )
        if cycle.world_interface is not None:
            cycle.world_interface.watch()
        if (odd := cycle.command_gaps.taken()) and cycle.is_followed:
            self.diagnostics.event(
                SUBJECT,
                WARN,
                f'{odd}: the motion of the robot in that time is not reliable; use a lower '
                'real_time_factor, or a real-time priority for the controller manager',
                code='late commands',
            )
        loop, now = self.loop, self.get_clock().now().nanoseconds * 1e-9
        cycles, overruns, interruptions, then = self._seen
        self._seen = (loop.cycles, loop.overruns, loop.interruptions, now)
        # The speed of a second with a pause is not meaningful.
        interrupted = interruptions != loop.interruptions
        even = not (interrupted or loop.paused)
        self._timing.refresh(loop.real_time_factor / cycle.timestep if even else 0.0)
        if not then or loop.paused or interrupted or now <= then:
            self._speed = 0.0
            return
        self._speed = (loop.cycles - cycles) * self.cycle.timestep / (now - then)
        desired = 0.0 if self.lockstep is not None else loop.real_time_factor
        if 0.0 < desired and self._speed < SLOW * desired and (loop.cycles - cycles) > 10:
            self.diagnostics.event(
                SUBJECT,
                WARN,
                f'over-run: {self._speed:.3g} of real time instead of {desired:g}, '
                f'{loop.overruns - overruns} cycles late; '
                'use a larger timestep, a lower real_time_factor or a faster machine',
                code='over-run',
            )
        for topic, count in self.ports.unreliable_publishers().items():
            self.diagnostics.event(
                SUBJECT,
                WARN,
                f'best-effort publishers on {topic}, which cannot be received: {count}; publish '
                'commands reliably',
                code=f'best effort on {topic}',
            )

    def _pace(self) -> None:
        """Catch up delays only if no controller would have to hurry."""
        rate = 1.0 if self.cycle.is_followed else self.parameters['max_catch_up_rate']
        self.loop.catch_up_rate = rate

    def _values(self) -> Dict[str, Any]:
        if self.loop is None:
            return {}
        loop, cycle = self.loop, self.cycle
        return {
            'time': cycle.time_ns / 1e9,
            'real_time_factor': self._speed,
            'steps': loop.cycles,
            'overruns': loop.overruns,
            'lost_time_s': loop.lost_time,
            'saturated_steps': cycle.simulator.status.saturated_steps,
            'commands_accepted': cycle.commands.accepted,
            'commands_rejected': cycle.commands.rejected,
            'wrenches_accepted': cycle.wrenches.accepted,
            'wrenches_rejected': cycle.wrenches.rejected,
        }

    def stop(self) -> None:
        """End the simulation."""
        if self.loop is not None:
            self.loop.stop()
        if self._step_action is not None:
            self._step_action.stop()

    def destroy_node(self) -> None:
        """Stop publishing first; a stop signal may have interrupted the constructor."""
        if self._held is not None:
            self._held.end()
        super().destroy_node()
