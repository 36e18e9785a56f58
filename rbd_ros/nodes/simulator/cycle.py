"""One cycle of the simulated robot: commands in, a step of the physics, state and clock out.

Nothing here needs a node: messages come and go as bytes through `Ports`, which are topics in the
simulator node (ports.py), and those of a test or a recorder elsewhere. All runs in the thread
of the simulation loop. Commands are taken by hand, right before they are needed.
"""

from __future__ import annotations

import math
from time import monotonic
from typing import (
    Any,
    Callable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Protocol,
    Sequence,
    Tuple,
    TYPE_CHECKING,
)

import numpy as np

from rbd_ros.collision.environment import Environment
from rbd_ros.collision.ground_plane import level_ground
from rbd_ros.compiler.loops import Record
from rbd_ros.contact import ContactParameters, HalfSpace
from rbd_ros.model.model import FLOATING_BASE_JOINT
from rbd_ros.nodes.common.conversions import NANOSECONDS
from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK
from rbd_ros.nodes.common.joint_names import JointNames
from rbd_ros.nodes.common.text import shorten
from rbd_ros.nodes.common.wire import ClockWriter, JointStateWriter
from rbd_ros.nodes.simulator.closed_loops import assembled_start, holding_effort
from rbd_ros.nodes.simulator.commands import CHECKS_A_TIMEOUT, Commands, SUBJECT as COMMANDS
from rbd_ros.nodes.simulator.compiled_cycle import run_cycle, StateMessage, Steps
from rbd_ros.nodes.simulator.control_tag import ControlTag, NO_TAG
from rbd_ros.nodes.simulator.interface import AUTOMATIC, has_rigid_ground, USUAL_CLOCK_RATE
from rbd_ros.nodes.simulator.lockstep import OFF
from rbd_ros.nodes.simulator.wrenches import ExternalWrenches
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator
from rbd_ros.simulation.scene.change import PreparedScene
from rbd_ros.simulation.sensor_places import check_no_loops
from rbd_ros.spatial.rotation import quaternion_to_rotation

if TYPE_CHECKING:
    from rbd_ros.nodes.simulator.measurements import MeasurementPorts, Measurements
    from rbd_ros.nodes.simulator.robot_topics import RobotPorts, RobotTopics
    from rbd_ros.nodes.simulator.surroundings import Surroundings, View, WorldPorts
    from rbd_ros.simulation.sensors import SensorBinding

# Real time between two messages of the unchanged state while paused [s].
PAUSED_STATE_PERIOD = 0.02
PAUSED_CLOCK_PERIOD = 0.1  # likewise for /clock, for nodes that start in the meantime [s]
CYCLES_BETWEEN_WRENCHES = 4  # looking costs, and a wrench is no control loop
CONTROLLER_MANAGER = 'controller_manager'  # what the names of such nodes contain
MOST_NOTICES = 8  # about shapes of a world that cannot touch
MOST_MESSAGES_A_CYCLE = 50  # a flood of commands must not stop the simulation


Message = Optional[Tuple[bytes, Any]]  # serialised, and something about it; None: there is none


class Ports(Protocol):
    """Where messages come from and go to, all serialised but the pose of the base."""

    def take_by_name(self) -> Message:
        """Take the oldest JointState with commands."""

    def take_by_order(self) -> Message:
        """Take the oldest Float64MultiArray with commands."""

    def take_accelerations(self) -> Message:
        """Take the oldest Float64MultiArray with accelerations, where they are asked for."""

    def take_wrench(self) -> Message:
        """Take the oldest WrenchStamped."""

    def send_state(self, data: bytes) -> None:
        """Send a JointState."""

    def send_clock(self, data: bytes) -> None:
        """Send a Clock."""

    def send_base(self, q: np.ndarray, v: np.ndarray, time: int) -> None:
        """Send position, (7,), and velocity, (6,), of the floating joint at a time [ns]."""


class ReadyWorld(NamedTuple):
    """Another world for a simulation, prepared.

    :param scene: the world
    :param run: what takes the steps of a cycle in it
    :param view: what is told of it
    :param sensors: sensors in it
    """

    scene: PreparedScene
    run: Callable[[int], int]
    view: View
    sensors: Optional[SensorBinding] = None


class SimulationCycle:
    """The simulated robot with its inputs and outputs.

    :param robot: the robot
    :param parameters: values of the simulator's parameters (interface.py)
    :param diagnostics: where to report
    :param ports: where messages come from and go to
    :param warn: told what is odd about the robot and its start
    :param world_ports: likewise, about the world around the robot; called if there is one
    :param tag: interfaces of the joints in the robot description, for ros2_control
    :param measurement_ports: where what sensors measure goes to; called if there is anything
    :param robot_ports: where messages of a further robot come from and go to, by its name; called
        for each if they have topics of their own
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
    ):
        self._parameters, self._diagnostics = parameters, diagnostics
        self._ports, self._warn = ports, warn
        self.robot, self._has_base = robot, has_floating_base(robot)
        self.substeps = parameters['substeps']
        self.timestep = parameters['timestep']
        self._timestep_ns = round(self.timestep * NANOSECONDS)
        self.simulator = Simulator(
            robot,
            self.timestep / self.substeps,
            integrator=parameters['integrator'],
            external_forces=True,
            solver_tolerance=parameters['solver_tolerance'],
            impact_law=parameters['impact_law'],
            **self._contact_options(),
        )
        # In a world whose robots move, all of them as one.
        self.described, robot = robot, self.simulator.robot
        self.robot = robot
        self.commands = Commands(
            robot, diagnostics, self._array_joints(), parameters['servo_bandwidth'], tag
        )
        prefix = parameters['frame_prefix']
        self.wrenches = ExternalWrenches(self.simulator, diagnostics, prefix)
        self.surroundings = self._make_surroundings(world_ports)
        self.measurements = self._make_measurements(measurement_ports, tag)
        self._told_notices = False
        self._initial_q = self._initial_configuration()
        self._lockstep = parameters['lockstep'] != OFF
        # Not 0 when the first state is sent: a zero stamp means that there is no time.
        self.time_ns = 0 if self._lockstep else self._timestep_ns
        self._state_period = self._period_ns('state_publish_rate')
        self._clock_period = self._period_ns('clock_publish_rate', USUAL_CLOCK_RATE)
        self._next_state = self._next_clock = self._until_wrenches = 0
        self._last_state_at = self._last_clock_at = 0.0
        self._next_check = 0.0
        self._shown = tag.shown(self.commands.names, parameters['state_fields'])
        self._state = self._make_state()
        self._clock = ClockWriter()
        #: What further robots say and hear, each for itself; None: all share what there is.
        self.robot_topics = self._make_robot_topics(robot_ports)
        self._use_ports(ports)
        self.reset()

    def _use_ports(self, ports: Ports) -> None:
        """Let messages come from and go to these ports, and make the compiled part for them."""
        self._ports = ports
        # By name and in parts: two controllers may answer within one cycle, and both count.
        self._commands_in = [
            (ports.take_by_order, self.commands.take_array),
            (ports.take_by_name, self.commands.take_joint_state),
        ]
        self._wrenches_in = [(ports.take_wrench, '')]
        if self.robot_topics is not None:
            self._commands_in += self.robot_topics.inputs
            for name, own in self.robot_topics.ports.items():
                self._wrenches_in.append((own.take_wrench, f'{name}/'))
        if self._parameters['acceleration_commands']:
            accelerations = ports.take_accelerations, self.commands.take_accelerations
            self._commands_in.append(accelerations)
        world = self.simulator.world
        self._run = self._compiled_run(world.record, world.steps.address)

    def pass_through(
        self, between: Callable[[Ports, JointStateWriter, JointStateWriter], Ports]
    ) -> Any:
        """Let messages pass through something else from now on.

        :param between: makes it of the ports, the message of the state, and another one like it
        :return: what it made
        """
        ports = between(self._ports, self._state, self._make_state())
        self._use_ports(ports)
        return ports

    def _array_joints(self) -> Sequence[str]:
        """Joints in the order of efforts without names; empty: all that can be commanded."""
        parameters, model = self._parameters, self.robot.model
        if parameters['joints'] or not parameters['robot_namespaces']:
            return parameters['joints']
        joints = [
            model.body(i).joint_name
            for i in model.independent_slices
            if model.body(i).joint.nv == 1 and model.body(i).joint_name in model.actuated_joints
        ]
        from rbd_ros.nodes.simulator.robot_topics import own_joints

        return own_joints(joints, self.simulator.robots)

    def _make_robot_topics(
        self, make: Optional[Callable[[str], RobotPorts]]
    ) -> Optional[RobotTopics]:
        robots = self.simulator.robots
        if not self._parameters['robot_namespaces'] or make is None or not robots:
            return None
        from rbd_ros.nodes.simulator.robot_topics import check_names, RobotTopics

        check_names(robots)
        fields = [name for name in ('position', 'velocity', 'effort') if self._has_field(name)]
        return RobotTopics(
            self.commands, robots, fields, lambda data: self._ports.send_state(data), make
        )

    def _has_field(self, field: str) -> bool:
        return field == 'position' or bool(self._shown[field].size)

    def _send_state(self) -> None:
        if self.robot_topics is None:
            self._ports.send_state(self._state.data())
        else:
            self.robot_topics.send(self._state)

    def _make_state(self) -> JointStateWriter:
        """Message of the state: NaN in what is never written.

        A field that no joint has is empty. Positions never are: the hardware of ros2_control looks
        at them whatever its tag says.
        """
        shown = self._shown
        fields = [field for field in shown if self._has_field(field)]
        state = JointStateWriter(self.commands.names, fields)
        for values in (state.position, state.velocity, state.effort):
            values[:] = np.nan
        return state

    def _compiled_run(self, record: Record, steps_address: int) -> Callable[[int], int]:
        """Steps under the present commands: see `run_cycle`.

        :param record: the simulation
        :param steps_address: of the loop that takes its steps
        """
        if not self.robot.nv:
            return self._run_nothing
        state = self._state
        message = StateMessage(
            state.stamp,
            state.position,
            state.velocity,
            state.effort,
            positions_of=self._shown['position'],
            velocities_of=self._shown['velocity'],
            efforts_of=self._shown['effort'],
        )
        steps = Steps(self.substeps, steps_address)
        return run_cycle.bind(
            record,
            self.commands.record,
            Record(message),
            Record(steps),
            keep_lock=True,
        )

    def _run_nothing(self, time: int) -> int:
        """For a robot that has no joints."""
        self.simulator.step(n=self.substeps)
        self._state.set_stamp_ns(time)
        return self.substeps

    def _make_surroundings(
        self, world_ports: Optional[Callable[[], WorldPorts]]
    ) -> Optional[Surroundings]:
        """What is around the robot; None without a world."""
        if self.simulator.environment is None:
            return None
        if world_ports is None:
            raise ValueError('a world has messages of its own: world_ports must be given')
        from rbd_ros.nodes.simulator.surroundings import Surroundings

        return Surroundings(
            self.simulator, self._parameters, self._diagnostics, world_ports(), self._has_base
        )

    def _make_measurements(
        self, ports: Optional[Callable[[], MeasurementPorts]], tag: ControlTag
    ) -> Optional[Measurements]:
        """What sensors tell, and odometry; None if there is nothing, or nowhere to tell it."""
        if ports is None:
            return None
        from rbd_ros.nodes.simulator.measured_robots import measured_robots, with_further_sensors
        from rbd_ros.nodes.simulator.sensor_places import sensors_of

        parameters, model = self._parameters, self.robot.model
        surroundings, robots = self.surroundings, []
        if surroundings is not None and self.simulator.robots:
            tag = with_further_sensors(tag, self.simulator.environment.moving_in(model))
            robots = self.simulator.robots if parameters['robot_namespaces'] else []
        names = sensors_of(model, parameters, tag, self._warn)
        joints = self.commands.names if parameters['joint_torques'] else ()
        found = measured_robots(
            self.simulator,
            robots,
            joints,
            self.described.model.body(1).name if self._has_base else '',
            parameters['frame_prefix'],
            parameters['odom_frame'],
            '' if surroundings is None else surroundings.frames.world,
        )
        if not (any(r.base or r.joints for r in found) or names.imus or names.force_torque):
            return None
        if joints:
            check_no_loops(model, 'joint_torques')
        from rbd_ros.nodes.simulator.measurements import Measurements

        return Measurements(self.simulator, parameters, names, found, ports(), self._timestep_ns)

    def _contact_options(self) -> dict:
        if self._parameters['world'].strip():
            from rbd_ros.nodes.simulator.world_source import environment_of

            return {'world': environment_of(self._parameters, self.robot.model)}
        if not self._parameters['ground']:
            return {}
        if has_rigid_ground(self._parameters):
            return {
                'world': level_ground(
                    self.robot.model,
                    self._parameters['ground_height'],
                    self._parameters['contact_friction'],
                )
            }
        return {
            'ground': HalfSpace(normal=(0.0, 0.0, 1.0), offset=self._parameters['ground_height']),
            'contact': ContactParameters(
                stiffness=self._parameters['contact_stiffness'],
                damping=self._parameters['contact_damping'],
                friction=self._parameters['contact_friction'],
            ),
        }

    def _initial_configuration(self) -> np.ndarray:
        positions, names = (
            self._parameters['initial_positions'],
            self._parameters['initial_joints'],
        )
        self.simulator.reset()
        q = self.simulator.q
        if positions:
            own = names or [n for n in self.commands.names if n in self.described.joint_names]
            order = JointNames(self.commands.names).naming(own)
            if order.unknown:
                raise ValueError(
                    f'parameter initial_joints: the robot has no joint {shorten(order.unknown)}'
                )
            if len(positions) != order.size:
                raise ValueError(
                    f'parameter initial_positions has {len(positions)} numbers for the '
                    f'{order.size} joints {shorten(own)}'
                )
            q[self.commands.at_q[order.target]] = np.array(positions)[order.source]
        if self._has_base:
            x, y, z, *quaternion = self._parameters['initial_base_pose']
            qx, qy, qz, qw = np.array(quaternion) / np.linalg.norm(quaternion)
            q[:7] = qw, qx, qy, qz, x, y, z
        return assembled_start(self.simulator, q, self._given(), self._warn)

    def _given(self) -> List[str]:
        """Joints with actuators whose initial positions are given."""
        names, commands = self._parameters['initial_joints'], self.commands
        if not self._parameters['initial_positions']:
            return []
        driven = [commands.names[k] for k in commands.driven]
        return [name for name in driven if not names or name in names]

    def _period_ns(self, parameter: str, automatic: float = 0.0) -> float:
        """Nanoseconds between two messages; never less than a cycle.

        :param parameter: name of the parameter with their rate
        :param automatic: rate if that says that it follows from who listens [Hz]
        """
        rate = self._parameters[parameter]
        rate = automatic if rate == AUTOMATIC else rate
        if rate <= 0.0:
            return self._timestep_ns if parameter == 'state_publish_rate' else float('inf')
        return max(NANOSECONDS / rate, self._timestep_ns)

    # -- verbs ------------------------------------------------------------------------------------

    def prepared_world(self, environment: Environment) -> ReadyWorld:
        """What `change_world` needs; not in the thread of the loop, which goes on meanwhile.

        :param environment: what is to be around the robot
        :raises ValueError: if it cannot be
        """
        scene = self.simulator.world.prepared(environment)
        bodies = scene.fields.plant.scene.bodies
        return ReadyWorld(
            scene,
            self._compiled_run(scene.record, scene.steps.address),
            self.surroundings.look_around(environment, scene.scene, bodies),
            None if self.measurements is None else self.measurements.prepared(scene),
        )

    def change_world(self, ready: ReadyWorld) -> None:
        """Let another world be around the robot; all that is in both moves on.

        :param ready: what `prepared_world` made
        """
        world = self.simulator.world
        known = set(world.scene.notices)
        self.simulator.change_world(ready.scene)
        view: Optional[View] = None
        if world.record is ready.scene.record:
            self._run, view = ready.run, ready.view
            if self.measurements is not None:
                self.measurements.use(ready.sensors)
        else:  # something else has changed in between
            self._run = self._compiled_run(world.record, world.steps.address)
        for notice in world.scene.notices:
            if notice not in known:
                self._warn(notice)
        self.wrenches.forget_strangers()
        self._locked = self._locked and self._may_be_locked()
        self.surroundings.world_changed(view)

    def reset(self) -> None:
        """Put the robot at its initial position, at rest and without commands; time goes on."""
        self._forget_inputs()
        if self._lockstep:  # an answer to the state before is not one to this
            self.time_ns += self._timestep_ns
        self.simulator.reset(self._initial_q)
        self._tell_warnings()
        self.wrenches.clear()
        action = self._parameters['initial_command']
        self.commands.stand_in(action, self.simulator.q)
        self._locked = action == 'hold' and self._may_be_locked()
        self._holding_effort = holding_effort(self.robot, self.simulator.q)
        self._write_state()
        self._diagnostics.condition(
            COMMANDS, OK, f'waiting for the first command; until then: {action}', code='waiting'
        )
        self.publish()

    def place_base(
        self,
        at_q: int,
        at_v: int,
        pose: Optional[np.ndarray],
        twist: Optional[np.ndarray],
    ) -> None:
        """Put a base that floats somewhere, and give it a velocity; a velocity ends the brakes.

        :param at_q: where its configuration begins
        :param at_v: where its velocity begins
        :param pose: position [m], quaternion x, y, z, w, (7,); None: where it is
        :param twist: angular velocity and velocity of its origin, along the axes of the world,
            (6,) [rad/s, m/s]; None: as it is
        """
        world, simulator = self.simulator.world, self.simulator
        if pose is not None:
            x, y, z, qx, qy, qz, qw = pose
            quaternion = np.array([qw, qx, qy, qz])
            world.state.q[at_q : at_q + 4] = quaternion / np.linalg.norm(quaternion)
            world.state.q[at_q + 4 : at_q + 7] = x, y, z
        if twist is not None:
            R = np.array(quaternion_to_rotation(tuple(world.state.q[at_q : at_q + 4].tolist())))
            world.state.v[at_v : at_v + 3] = twist[:3] @ R
            world.state.v[at_v + 3 : at_v + 6] = twist[3:] @ R
            self._locked = self._locked and not np.any(twist)
        world.forget_near_pairs()
        if self._locked:
            self._holding_effort = holding_effort(self.robot, simulator.q)
        self.publish()

    def _may_be_locked(self) -> bool:
        """Return whether brakes may hold the robot, and time stand still for it.

        They would stop the objects of a world, too: there, servos hold the robot.
        """
        if self.surroundings is None:
            return True
        return has_rigid_ground(self._parameters) and not self.simulator.objects

    def _tell_warnings(self) -> None:
        """Tell what is odd about the start; of the shapes of a world, some, and once."""
        scene = self.simulator.world.scene
        notices = () if scene is None else scene.notices
        for warning in self.simulator.warnings:
            if warning not in notices:
                self._warn(warning)
        if not self._told_notices:
            for notice in notices[:MOST_NOTICES]:
                self._warn(notice)
            if len(notices) > MOST_NOTICES:
                self._warn(f'{len(notices) - MOST_NOTICES} more notices of this kind')
        self._told_notices = True

    def run(self) -> None:
        """One cycle.

        The interpreter's part of it is short for a reason: see compiled_cycle.py.
        """
        now = monotonic()
        self._take_inputs(now)
        time = self.time_ns + self._timestep_ns
        if self._locked:
            self._state.set_stamp_ns(time)
        else:
            if now >= self._next_check:
                self._look_at_old_commands(now)
            if self.wrenches.acting:
                self.wrenches.apply(self.timestep, self.substeps)
            taken = self._run(time)
            if taken != self.substeps:
                self._explain(taken)
        self.time_ns = time
        if self.surroundings is not None:
            self.surroundings.after_cycle(time)
        if self.measurements is not None:
            self.measurements.after_cycle(time)
        if time >= self._next_state:
            self._next_state = max(self._next_state + self._state_period, time)
            self._last_state_at = now
            self._send_state()
            self._send_base()
        if time >= self._next_clock:
            self._next_clock = max(self._next_clock + self._clock_period, time)
            self._publish_clock()

    def follow_clock_listeners(self, listeners: Callable[[], Sequence[str]]) -> None:
        """Publish /clock every cycle while one who follows it needs that; callable by any thread.

        A controller manager wakes up by it: one of 200 Hz that is told the time 100 times a second
        does 100 cycles. To others each message costs more than it tells.

        :param listeners: finds the names of the nodes that follow it
        """
        if self._parameters['clock_publish_rate'] != AUTOMATIC:
            return
        needed = any(CONTROLLER_MANAGER in name for name in listeners())
        rate = math.inf if needed else USUAL_CLOCK_RATE
        period = max(NANOSECONDS / rate, self._timestep_ns)
        if period != self._clock_period:
            self._clock_period = period
            self._next_clock = math.ceil(self.time_ns / period) * period

    def idle(self) -> None:
        """Show the unchanged state while paused, so that nobody takes the robot for dead."""
        now = monotonic()
        if self.surroundings is not None:
            self.surroundings.take_placements()
        if now - self._last_state_at >= PAUSED_STATE_PERIOD:
            self._publish_state()
            if self.surroundings is not None:
                self.surroundings.publish(self.time_ns)
        if now - self._last_clock_at >= PAUSED_CLOCK_PERIOD:
            self._publish_clock()

    def refresh_commands(self) -> None:
        """Count the age of commands from now: simulated time stood still."""
        self.commands.refresh(monotonic())

    def publish(self) -> None:
        """Publish state and clock now."""
        self._publish_state()
        if self.surroundings is not None:
            self.surroundings.publish(self.time_ns)
        if self.measurements is not None:
            self.measurements.publish(self.time_ns)
        self._publish_clock()

    # -- parts of a cycle -------------------------------------------------------------------------

    def _take_inputs(self, now: float) -> None:
        """Take the messages that have arrived, oldest first: the newest has the last word."""
        for take, use in self._commands_in:
            taken, room = take(), MOST_MESSAGES_A_CYCLE
            while taken is not None:
                if use(taken[0], now):
                    self._locked = False
                room -= 1
                taken = take() if room else None
        self._until_wrenches -= 1
        if self._until_wrenches <= 0:
            self._until_wrenches = CYCLES_BETWEEN_WRENCHES
            if self.surroundings is not None:
                self.surroundings.take_placements()
            duration = self._parameters['external_wrench_duration']
            for take_wrench, robot in self._wrenches_in:
                taken, room = take_wrench(), MOST_MESSAGES_A_CYCLE
                while taken is not None:
                    self.wrenches.take(taken[0], duration, robot)
                    room -= 1
                    taken = take_wrench() if room else None

    def _forget_inputs(self) -> None:
        """Drop the messages that have arrived."""
        if self.surroundings is not None:
            self.surroundings.forget_placements()
        for take, _ in (*self._commands_in, *self._wrenches_in):
            for _ in range(MOST_MESSAGES_A_CYCLE):
                if take() is None:
                    break

    def _look_at_old_commands(self, now: float) -> None:
        # Who is waited for is never too late.
        timeout = 0.0 if self._lockstep else self._parameters['command_timeout']
        self._next_check = now + (timeout / CHECKS_A_TIMEOUT if timeout > 0.0 else 0.1)
        if timeout > 0.0:
            action = self._parameters['timeout_command']
            self.commands.expire(now, timeout, action, self.simulator.q)
        self.commands.watch(now, timeout)

    def _explain(self, taken: int) -> None:
        """Tell, or raise, why fewer steps were taken than asked for.

        :param taken: what `run_cycle` returned
        :raises FloatingPointError: if the dynamics are not finite
        """
        if taken < 0:
            self._diagnostics.event(
                COMMANDS, ERROR, 'the commands lead to torques without limit: zero torque instead'
            )
            taken = -1 - taken
        if taken < self.substeps:
            raise self.simulator.world.failure(taken)

    def _write_state(self) -> None:
        """Fill in the message from the simulation."""
        simulator, commands, state = self.simulator, self.commands, self._state
        effort = self._holding_effort if self._locked else simulator.tau
        for values, joints, field in (
            (state.position, simulator.q[commands.at_q], 'position'),
            (state.velocity, simulator.v[commands.at_v], 'velocity'),
            (state.effort, effort[commands.at_v], 'effort'),
        ):
            shown = self._shown[field]
            values[shown] = joints[shown]
        state.set_stamp_ns(self.time_ns)

    def _publish_state(self) -> None:
        self._last_state_at = monotonic()
        self._write_state()
        self._send_state()
        self._send_base()

    def _send_base(self) -> None:
        if self._has_base:
            self._ports.send_base(self.simulator.q[:7], self.simulator.v[:6], self.time_ns)

    def _publish_clock(self) -> None:
        self._last_clock_at = monotonic()
        self._clock.set_stamp_ns(self.time_ns)
        self._ports.send_clock(self._clock.data())


def has_floating_base(robot: Robot) -> bool:
    """Return whether the root link moves freely by the robot's own floating joint."""
    return robot.joint_names[:1] == (FLOATING_BASE_JOINT,)
