# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""One cycle of the simulated robot: commands in, a physics step, state and clock out.

It needs no node: serialized messages pass through `Ports`, which are topics in the simulator node
(ros_ports.py), and other objects in tests and recordings. All code runs in the thread of the
simulation loop. Commands are polled right before they are needed.
"""

from __future__ import annotations

import math
from time import monotonic
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Sequence, TYPE_CHECKING

import numpy as np

from rbd_ros.compiler.loops import Record
from rbd_ros.hil.update_rate import steps_of_period
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK
from rbd_ros.nodes.messages.conversions import NANOSECONDS
from rbd_ros.nodes.simulator.commands.brakes import Brakes
from rbd_ros.nodes.simulator.commands.command_gaps import CommandGaps
from rbd_ros.nodes.simulator.commands.command_messages import Commands
from rbd_ros.nodes.simulator.commands.command_reports import SUBJECT as COMMANDS
from rbd_ros.nodes.simulator.commands.control_tag import ControlTag, NO_TAG
from rbd_ros.nodes.simulator.commands.wrenches import ExternalWrenches
from rbd_ros.nodes.simulator.cycle.compiled_cycle import run_cycle, Steps
from rbd_ros.nodes.simulator.cycle.cycle_inputs import CycleInputs
from rbd_ros.nodes.simulator.cycle.cycle_ports import Ports
from rbd_ros.nodes.simulator.cycle.lockstep import OFF
from rbd_ros.nodes.simulator.cycle.optional_parts import (
    array_joints,
    make_measurements,
    make_robot_topics,
    make_world_interface,
)
from rbd_ros.nodes.simulator.start.base_placement import has_floating_base, place_base
from rbd_ros.nodes.simulator.start.initial_state import (
    first_time,
    initial_configuration,
    StartWarnings,
)
from rbd_ros.nodes.simulator.state.clock_output import ClockOutput
from rbd_ros.nodes.simulator.state.state_output import state_period, StateOutput
from rbd_ros.nodes.simulator.world.simulated_ground import contact_options
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator, Snapshot
from rbd_ros.simulation.scene.scene_update import PreparedScene
from rbd_ros.wire import JointStateWriter
from rbd_ros.world.world import World

if TYPE_CHECKING:
    from rbd_ros.nodes.simulator.state.measurements import MeasurementPorts
    from rbd_ros.nodes.simulator.state.robot_topics import RobotPorts
    from rbd_ros.nodes.simulator.world.world_interface import View, WorldPorts
    from rbd_ros.simulation.sensors.sensors import SensorBinding

# Checks of the commands' age per timeout.
CHECKS_A_TIMEOUT = 20
# Real time between two messages of the unchanged state while paused [s].
PAUSED_STATE_PERIOD = 0.02
OF_A_CYCLE = ('timestep', 'substeps', 'servo_bandwidth')  # must be equal in a snapshot
PAUSED_CLOCK_PERIOD = 0.1  # likewise for /clock, for nodes that start in the meantime [s]


class ReadyWorld(NamedTuple):
    """A prepared world for a running simulation.

    :param scene: the world
    :param run: runs the steps of a cycle in it
    :param view: its published data
    :param sensors: its sensors
    """

    scene: PreparedScene
    run: Callable[[int], int]
    view: View
    sensors: Optional[SensorBinding] = None


class SimulationCycle:
    """The simulated robot with its inputs and outputs.

    :param parameters: values of the simulator's parameters (simulator_interface.py)
    :param diagnostics: diagnostics of the node
    :param ports: ports for messages
    :param warn: called with unusual properties of the robot and its start
    :param world_ports: creates the ports of a world; called if there is one
    :param tag: interfaces of the joints in the robot description, for ros2_control
    :param measurement_ports: creates the ports of sensors; called if there are any
    :param robot_ports: creates the ports of a further robot by its name; called for each robot
        that has its own topics
    :param begin: called after compilation; returns the time of the first state [ns]. None:
        `start_time`
    :raises ValueError: for parameters that do not fit the robot
    """

    def __init__(
        self,
        robot: Robot,
        parameters: Mapping[str, Any],
        diagnostics: Diagnostics,
        ports: Ports,
        warn: Callable[[str], Any],
        world_ports: Optional[Callable[[], WorldPorts]] = None,
        tag: ControlTag = NO_TAG,
        measurement_ports: Optional[Callable[[], MeasurementPorts]] = None,
        robot_ports: Optional[Callable[[str], RobotPorts]] = None,
        begin: Optional[Callable[[], int]] = None,
    ):
        self._parameters, self._diagnostics = parameters, diagnostics
        self._ports, self._warn = ports, warn
        has_base = has_floating_base(robot)
        self.substeps = parameters['substeps']
        self.timestep = parameters['timestep']
        self._timestep_ns = round(self.timestep * NANOSECONDS)
        self.simulator = Simulator(
            robot,
            self.timestep / self.substeps,
            integrator=parameters['integrator'],
            external_forces=True,
            solver_tolerance=parameters['solver_tolerance'],
            solver_iterations=parameters['solver_iterations'],
            restitution_model=parameters['restitution_model'],
            enforce_velocity_limits=parameters['enforce_velocity_limits'],
            **contact_options(parameters, robot.model),
        )
        # Robots of a world are combined into one.
        self.described, self.robot = robot, self.simulator.robot
        simulator = self.simulator
        self.commands = Commands(
            self.robot,
            diagnostics,
            array_joints(simulator, parameters),
            parameters['servo_bandwidth'],
            tag,
        )
        self.wrenches = ExternalWrenches(simulator, diagnostics, parameters['frame_prefix'])
        self.world_interface = make_world_interface(
            simulator, parameters, diagnostics, world_ports, has_base
        )
        self.measurements = make_measurements(
            simulator,
            robot,
            parameters,
            self.commands,
            tag,
            measurement_ports,
            self._timestep_ns,
            warn,
            '' if self.world_interface is None else self.world_interface.frames.world,
        )
        self._start_warnings = StartWarnings(simulator, warn)
        self._initial_q = initial_configuration(simulator, robot, self.commands, parameters, warn)
        self._brakes = Brakes(simulator, parameters)
        self._lockstep = parameters['lockstep'] != OFF
        rate = parameters['lockstep_update_rate']
        #: Period of a controller_manager in lockstep [ns]; 0: none.
        self.manager_period = (
            steps_of_period(rate, self._timestep_ns) * self._timestep_ns if rate else 0
        )
        self._next_check = 0.0
        #: Gaps between the recent commands.
        self.command_gaps = CommandGaps()
        self._states = StateOutput(
            simulator,
            self.commands,
            tag.shown(self.commands.names, parameters['state_fields']),
            self.manager_period
            or state_period(parameters['state_publish_rate'], self._timestep_ns),
            has_base,
            ports,
        )
        self._clock = ClockOutput(parameters, self._timestep_ns, ports)
        #: Topics of further robots; None: robots share the topics.
        self.robot_topics = make_robot_topics(
            simulator, parameters, self.commands, self._states, robot_ports
        )
        self._states.robot_topics = self.robot_topics
        self._inputs = CycleInputs(
            parameters,
            self.commands,
            self.wrenches,
            self.robot_topics,
            ports,
        )
        self._run = self._compiled_run(simulator.physics.record, simulator.physics.steps.address)
        self.time_ns = first_time(parameters) if begin is None else begin()
        self._states.due = self._clock.due = self.time_ns - self._timestep_ns
        if self._lockstep:  # commands from before the first state are no answer to it
            self._inputs.discard_messages()
        self._stand_at_start()

    def pass_through(
        self, between: Callable[[Ports, JointStateWriter, JointStateWriter], Ports]
    ) -> Any:
        """Route messages through another object.

        :param between: creates it from the ports, the state message, and a second state message
        :return: the new object
        """
        states = self._states
        self._ports = ports = between(self._ports, states.message, states.new_message())
        for part in (self._inputs, states, self._clock):
            part.use_ports(ports)
        self.use_record()
        return ports

    def prepare_inertias(self, robot: Robot) -> None:
        """Compile for `load`; callable in any thread.

        :param robot: the robot of the simulation with other inertias
        """
        self.simulator.physics.prepare_inertias(robot)
        if self.measurements is not None:
            self.measurements.prepare(robot)

    def load(self, robot: Robot) -> None:
        """Change the inertias of the robot; in the thread of the simulation.

        :param robot: as for `prepare_inertias`
        """
        if robot is not self.simulator.physics.loaded_robot:
            self.simulator.physics.change_inertias(robot)
            self.use_record()

    def use_record(self) -> None:
        """Rebind the compiled cycle to the present records of the simulation."""
        physics = self.simulator.physics
        self._run = self._compiled_run(physics.record, physics.steps.address)

    def _compiled_run(self, record: Record, steps_address: int) -> Callable[[int], int]:
        """Return the function for steps under the present commands: see `run_cycle`.

        :param record: the simulation
        :param steps_address: address of the loop of the steps
        """
        if not self.robot.nv:
            return self._step_without_joints
        return run_cycle.bind(
            record,
            self.commands.record,
            Record(self._states.numbers()),
            Record(Steps(self.substeps, steps_address)),
            release_gil=False,
        )

    def _step_without_joints(self, time: int) -> int:
        """Take a step of a robot that has no joints."""
        self.simulator.step(n=self.substeps)
        self._states.message.set_stamp_ns(time)
        return self.substeps

    # -- verbs ------------------------------------------------------------------------------------

    def prepared_world(self, world: World) -> ReadyWorld:
        """Prepare another world for `change_world`, in parallel to the loop's thread.

        :param world: the new world
        :raises ValueError: if it cannot be simulated
        """
        scene = self.simulator.physics.prepare_world(world)
        bodies = scene.fields.model.scene.bodies
        return ReadyWorld(
            scene,
            self._compiled_run(scene.record, scene.steps.address),
            self.world_interface.view_of(world, scene.scene, bodies),
            None if self.measurements is None else self.measurements.prepared(scene),
        )

    def change_world(self, ready: ReadyWorld) -> None:
        """Change the world; bodies that are in both worlds keep their state.

        :param ready: result of `prepared_world`
        """
        physics = self.simulator.physics
        known = set(physics.scene.notices)
        self.simulator.change_world(ready.scene)
        view: Optional[View] = None
        if physics.record is ready.scene.record:
            self._run, view = ready.run, ready.view
            if self.measurements is not None:
                self.measurements.use(ready.sensors)
        else:  # the world has changed since the preparation
            self._run = self._compiled_run(physics.record, physics.steps.address)
        for notice in physics.scene.notices:
            if notice not in known:
                self._warn(notice)
        self.wrenches.drop_unknown_bodies()
        if not self._brakes.allowed():
            self._brakes.engaged = False
        self.world_interface.world_changed(view)

    def reset(self) -> None:
        """Move the robot to its initial position, at rest without commands; time continues."""
        self._inputs.discard_messages()
        self.time_ns = self._later()
        self._stand_at_start()

    def _stand_at_start(self) -> None:
        self.simulator.reset(self._initial_q)
        self._start_warnings.report()
        self.wrenches.clear()
        action = self._parameters['initial_command']
        self.commands.replace_commands(action, self.simulator.q)
        self._brakes.engaged = action == 'hold' and self._brakes.allowed()
        self._brakes.measure()
        self._states.write(self.time_ns, self._effort())
        self._diagnostics.condition(
            COMMANDS, OK, f'waiting for the first command; until then: {action}', code='waiting'
        )
        self.publish()
        self._begin_manager_period()

    def _later(self, lag: int = 0) -> int:
        """Return the time at which another state continues [ns].

        The answer to the previous state must not fit it, and a manager keeps its wake-up times.

        :param lag: minimum delay [ns]
        """
        if self.manager_period:
            due, period = int(self._states.due), self.manager_period
            return due + max(-((due - self.time_ns - lag) // period), 0) * period
        return self.time_ns + lag + (self._timestep_ns if self._lockstep else 0)

    def _begin_manager_period(self) -> None:
        """Schedule the next state and /clock a period from now, if a manager is in lockstep."""
        if self.manager_period:
            self._states.due, self._clock.due = self.time_ns + self.manager_period, math.inf

    def hold(self) -> None:
        """Hold the robot until it is commanded again; time continues."""
        if not self._brakes.engaged:
            self._brakes.engaged = True
            self._brakes.measure()

    def snapshot(self) -> Dict[str, Any]:
        """Return the state of the cycle, without that of the simulation, as JSON values."""
        return {
            **{name: self._parameters[name] for name in OF_A_CYCLE},
            'time': self.time_ns,
            'brakes': self._brakes.engaged,
            'until_state': self._states.due - self.time_ns,
            'commands': self.commands.snapshot(monotonic()),
            'wrenches': self.wrenches.snapshot(),
        }

    def restore(self, snapshot: Snapshot, begin: Callable[[], None], lag: int = 0) -> None:
        """Restore a snapshot without publishing it; time continues, as by `reset`.

        :param snapshot: snapshot of a simulation; `extra` is the result of `memory`, or empty
        :param begin: called once the snapshot is accepted
        :param lag: maximum age of messages under way, which must not be older than others [ns]
        :raises ValueError: for a snapshot of another simulation; nothing is changed
        """
        memory, physics, record = (
            snapshot.extra,
            self.simulator.physics,
            self.simulator.physics.record,
        )
        for name in OF_A_CYCLE if memory else ():
            if memory.get(name) != self._parameters[name]:
                raise ValueError(
                    f'the snapshot was taken with {name} {memory.get(name)!r}, but here it is '
                    f'{self._parameters[name]!r}'
                )
        self.simulator.restore(snapshot)
        if physics.record is not record:
            self.use_record()
        begin()
        self._inputs.discard_messages()
        self.time_ns = self._later(lag)
        if memory:
            self.commands.restore(memory['commands'], monotonic())
            self.wrenches.restore(memory['wrenches'])
            self._brakes.engaged = memory['brakes']
            self._states.due = self.time_ns + memory['until_state']
        else:  # a snapshot of the library has no commands
            self.commands.replace_commands(self._parameters['initial_command'], self.simulator.q)
            self.wrenches.clear()
            self._brakes.engaged = False
        self._brakes.measure()
        self._begin_manager_period()

    def place_base(
        self,
        at_q: int,
        at_v: int,
        pose: Optional[np.ndarray],
        twist: Optional[np.ndarray],
    ) -> None:
        """Set pose and velocity of a floating base; a velocity releases the brakes.

        :param at_q: index of its configuration
        :param at_v: index of its velocity
        :param pose: position [m], quaternion x, y, z, w, (7,); None: unchanged
        :param twist: angular velocity and velocity of its origin, along the axes of the world,
            (6,) [rad/s, m/s]; None: unchanged
        """
        place_base(self.simulator.physics, at_q, at_v, pose, twist)
        if twist is not None and np.any(twist):
            self._brakes.engaged = False
        if self._brakes.engaged:
            self._brakes.measure()
        self.publish()

    def run(self) -> None:
        """Run one cycle.

        Its Python part is kept short; see compiled_cycle.py.
        """
        now = monotonic()
        if self._inputs.take(now):
            self._brakes.engaged = False
            self.command_gaps.note(self.time_ns)
        time = self.time_ns + self._timestep_ns
        if self._brakes.engaged:
            self._states.message.set_stamp_ns(time)
        else:
            if now >= self._next_check:
                self._check_command_age(now)
            if self.wrenches.acting:
                self.wrenches.apply(self.timestep, self.substeps)
            taken = self._run(time)
            if taken != self.substeps:
                self._explain(taken)
        self.time_ns = time
        if self.world_interface is not None:
            self.world_interface.after_cycle(time)
        if self.measurements is not None:
            self.measurements.after_cycle(time)
        if time >= self._states.due:
            self._states.send_due(time, now)
            if self.manager_period:
                self._clock.send(time)
        if time >= self._clock.due:
            self._clock.send_due(time)

    def follow_clock_listeners(self, listeners: Callable[[], Sequence[str]]) -> None:
        """Publish /clock every cycle while a follower needs that; callable from any thread.

        :param listeners: returns the names of the nodes that follow /clock
        """
        if not self.manager_period:
            self._clock.follow_listeners(listeners, self.time_ns)

    @property
    def is_followed(self) -> bool:
        """True if a controller manager follows /clock."""
        return self._clock.is_followed

    def idle(self) -> None:
        """Publish the unchanged state while paused, since subscribers expect messages."""
        now = monotonic()
        if now - self._states.last_at >= PAUSED_STATE_PERIOD:
            self._states.publish(self.time_ns, self._effort())
            if self.world_interface is not None:
                self.world_interface.publish(self.time_ns)
        if now - self._clock.last_at >= PAUSED_CLOCK_PERIOD:
            self._clock.send(self.time_ns)

    def refresh_commands(self) -> None:
        """Restart the age of commands: simulated time was paused."""
        self.commands.refresh(monotonic())

    def publish(self) -> None:
        """Publish state and clock now."""
        self._states.publish(self.time_ns, self._effort())
        if self.world_interface is not None:
            self.world_interface.publish(self.time_ns)
        if self.measurements is not None:
            self.measurements.publish(self.time_ns)
        self._clock.send(self.time_ns)

    # -- parts of a cycle -------------------------------------------------------------------------

    def _effort(self) -> np.ndarray:
        """Return the forces on the joints, (nv,) [N m or N]."""
        at_start = not self.simulator.time and self._parameters['initial_command'] != 'zero'
        return self._brakes.effort if self._brakes.engaged or at_start else self.simulator.tau

    def _check_command_age(self, now: float) -> None:
        # In lockstep, the simulation waits for commands.
        timeout = 0.0 if self._lockstep else self._parameters['command_timeout']
        self._next_check = now + (timeout / CHECKS_A_TIMEOUT if timeout > 0.0 else 0.1)
        if timeout > 0.0:
            action = self._parameters['timeout_command']
            self.commands.expire(now, timeout, action, self.simulator.q)
        self.commands.watch(now, timeout)

    def _explain(self, taken: int) -> None:
        """Report, or raise, the reason for fewer steps than requested.

        :param taken: result of `run_cycle`
        :raises FloatingPointError: if the dynamics are not finite
        """
        if taken < 0:
            self._diagnostics.event(
                COMMANDS,
                ERROR,
                'the commands lead to infinite torques; the simulator applies zero torque instead',
            )
            taken = -1 - taken
        if taken < self.substeps:
            raise self.simulator.physics.failure(taken)
