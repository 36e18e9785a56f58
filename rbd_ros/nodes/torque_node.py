"""What the torque nodes share: state in, torque out, and what happens when states fail.

Nothing here runs on a timer but the watchdog; a torque is published for each usable state, and
only then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
import threading
import time
from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

from builtin_interfaces.msg import Time
import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from rbd_ros.control import payload_parameters, StaleWatchdog, TorqueLaw
from rbd_ros.nodes.conversions import NANOSECONDS, shorten
from rbd_ros.nodes.description import DESCRIPTION_PARAMETERS, RobotSource
from rbd_ros.nodes.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.nodes.effort_output import EffortOutput, FORMS
from rbd_ros.nodes.joint_states import JointStateInput, MeasuredState, SUBJECT as JOINT_STATES
from rbd_ros.nodes.parameters import Declaration, ParameterTable
from rbd_ros.nodes.runtime import quality_of_service, STEADY_CLOCK, topic_options
from rbd_ros.robot import Robot

SUBJECT = 'torque'
LAST_COMMANDS = ('zero', 'gravity', 'none')
PAYLOAD = ('payload_mass', 'payload_com', 'payload_inertia')

TORQUE_PARAMETERS: Tuple[Declaration, ...] = (
    *DESCRIPTION_PARAMETERS,
    Declaration(
        'joints',
        (),
        'Joints to command, in the order of effort_commands; empty: all, in the order of the '
        'robot.',
        element=str,
    ),
    Declaration(
        'optional_joints',
        (),
        'Joints that may be absent from joint_states; until they are seen they count as at rest '
        'at zero.',
        element=str,
    ),
    Declaration(
        'output',
        'both',
        'Messages to publish: JointState on joint_commands, Float64MultiArray on effort_commands.',
        choices=FORMS,
    ),
    Declaration(
        'gravity', (0.0, 0.0, -9.81), 'Gravity in base coordinates [m/s^2].', length=3, live=True
    ),
    Declaration(
        'payload_link', '', 'Link that carries the payload; empty: no payload.', live=True
    ),
    Declaration('payload_mass', 0.0, 'Mass of the payload [kg].', minimum=0.0, live=True),
    Declaration(
        'payload_com',
        (0.0, 0.0, 0.0),
        'Centre of mass of the payload in payload_link [m].',
        length=3,
        live=True,
    ),
    Declaration(
        'payload_inertia',
        (0.0,) * 6,
        'Inertia of the payload about its centre of mass, axes of payload_link: ixx ixy ixz iyy '
        'iyz izz [kg m^2].',
        length=6,
        live=True,
    ),
    Declaration(
        'effort_limits',
        (),
        'Limits of the torque besides those of the robot description: one for all joints or one '
        'for each, in the order '
        'of the robot [N m or N]; empty: none.',
        minimum=0.0,
        live=True,
    ),
    Declaration(
        'torque_rate_limit',
        0.0,
        'Largest change of each torque [N m/s or N/s]; 0: none.',
        minimum=0.0,
        live=True,
    ),
    Declaration(
        'friction_velocity',
        0.02,
        'Velocity at which the compensation of Coulomb friction reaches 76 % [rad/s or m/s].',
        positive=True,
    ),
    Declaration(
        'state_timeout',
        0.1,
        'Real time without a usable state after which timeout_command is sent [s]; 0: never.',
        minimum=0.0,
        maximum=60.0,
    ),
    Declaration(
        'timeout_command',
        'zero',
        'Last torque when states fail, sent once; then nothing is sent until they are back. '
        'gravity: that of the last '
        'known position; none: nothing is sent.',
        choices=LAST_COMMANDS,
        live=True,
    ),
    Declaration(
        'shutdown_command',
        'zero',
        'Last torque when the node ends; words as in timeout_command.',
        choices=LAST_COMMANDS,
        live=True,
    ),
)


def broadcast(name: str, values: Sequence[float], size: int) -> np.ndarray:
    """One number a joint from one for all or one for each, (size,).

    :raises ValueError: for any other number of them
    """
    if len(values) not in (1, size):
        raise ValueError(f'parameter {name} has {len(values)} numbers: 1 or {size} are needed')
    return np.full(size, values[0]) if len(values) == 1 else np.array(values)


class Laws(NamedTuple):
    """Torque laws for one payload link.

    :param main: the node's law
    :param gravity: gravity alone, for last commands
    :param payload_link: link that can carry a payload, or empty
    """

    main: TorqueLaw
    gravity: TorqueLaw
    payload_link: str


class TorqueNode(Node, ABC):
    """Base of the torque nodes.

    :param name: name of the node
    :param parameters: declarations of its parameters
    """

    def __init__(self, name: str, parameters: Sequence[Declaration]):
        super().__init__(name)
        self.robot: Optional[Robot] = None
        self.parameters = ParameterTable(self, parameters, self.check)
        self.parameters.on_change(self._on_parameters)
        self.diagnostics = Diagnostics(self)
        self.diagnostics.add_values(SUBJECT, self._values)
        self.diagnostics.every_second(self.every_second)
        self._laws: Optional[Laws] = None
        self._laws_lock = threading.Lock()
        self._output: Optional[EffortOutput] = None
        self._last: Optional[MeasuredState] = None
        self._lost = True
        self._commanding = False
        self._clipped = 0
        self._compute_time = self._longest = 0.0
        self._source = RobotSource(self, self.parameters, self.diagnostics, self._use_robot)

    def start(self) -> None:
        """Get the robot and begin; to be called when the node is complete."""
        self._source.start()

    # -- what a torque node adds ------------------------------------------------------------------

    @abstractmethod
    def law_options(self, robot: Robot) -> Dict[str, Any]:
        """Arguments of `TorqueLaw` and of its `configure` that follow from the parameters."""

    @abstractmethod
    def torque(self, law: TorqueLaw, state: MeasuredState) -> np.ndarray:
        """Torques of all joints at a state, saturated, (n,)."""

    def resumed(self, state: MeasuredState) -> None:
        """Begin anew: the first usable state, or the first after states had failed."""

    def every_second(self) -> None:
        """Look after what needs no hurry."""
        if self.robot is not None:
            self._states.every_second()

    # -- robot and laws ---------------------------------------------------------------------------

    def check(self, values: Mapping[str, Any]) -> Optional[str]:
        """Tell what is wrong with a set of parameters, or return None; changes nothing."""
        if not values['payload_link'] and values['payload_mass'] > 0.0:
            return 'payload_mass needs payload_link, the link that carries the payload'
        try:
            payload_parameters(*(values[name] for name in PAYLOAD))
            if self.robot is not None:
                self._check_with_robot(values, self.robot)
        except ValueError as error:
            return str(error)
        return None

    def _check_with_robot(self, values: Mapping[str, Any], robot: Robot) -> None:
        if values['payload_link']:
            robot.model.link(values['payload_link'])
        if values['effort_limits']:
            broadcast('effort_limits', values['effort_limits'], robot.nv)

    def _use_robot(self, robot: Robot) -> None:
        if robot.nv == 0:
            raise ValueError('it has no joint that moves')
        if not robot.nq == robot.nv == len(robot.joint_names):
            names = [b.joint_name for b in robot.model.bodies if b.joint.nv != 1]
            raise ValueError(
                f'joint {shorten(names)} has more than one degree of freedom, which joint_states '
                'cannot carry'
            )
        unknown = [n for n in self.parameters['optional_joints'] if n not in robot.joint_names]
        if unknown:
            raise ValueError(
                f'parameter optional_joints: the robot has no joint {shorten(unknown)}'
            )
        self._check_with_robot(self.parameters, robot)
        self._laws = self._create_laws(robot, self.parameters['payload_link'])
        self._load(self._laws, robot)
        if self._output is None:
            self._output = EffortOutput(
                self, robot.joint_names, self.parameters['joints'], self.parameters['output']
            )
        timeout = self.parameters['state_timeout']
        self._states = JointStateInput(
            robot,
            self.diagnostics,
            timeout,
            self.parameters['optional_joints'],
            self.needs_velocity(),
        )
        self._watchdog = StaleWatchdog(timeout)
        self.robot = robot
        self._report_limits(robot)
        self._subscription = self.create_subscription(
            JointState,
            'joint_states',
            self._on_state,
            quality_of_service(1, reliable=False),
            **topic_options(),
        )
        self._states.attach(self._subscription)
        self.diagnostics.condition(
            JOINT_STATES,
            WARN,
            f'waiting for states on {self._subscription.topic_name}',
            code='waiting',
        )
        if timeout > 0.0:
            self.create_timer(
                min(max(timeout / 4.0, 0.005), 0.25), self._watch, clock=STEADY_CLOCK
            )

    def needs_velocity(self) -> bool:
        """Whether the torque depends on measured velocities."""
        return True

    def _report_limits(self, robot: Robot) -> None:
        for text, joints in (
            ('no effort limit', np.isinf(robot.effort_limits)),
            ('effort limit 0', robot.effort_limits == 0.0),
        ):
            if joints.any():
                names = shorten(np.array(robot.joint_names)[joints].tolist())
                self.get_logger().warning(f'the robot description gives {text} for {names}')

    def _create_laws(self, robot: Robot, payload_link: str) -> Laws:
        """Make the laws, compiled by a first call."""
        common = {
            'payload_link': payload_link or None,
            'runtime_gravity': True,
            'effort_limits': self._limits(robot),
            'transition_velocity': self.parameters['friction_velocity'],
        }
        law = TorqueLaw(robot, **self.law_options(robot), **common)
        gravity = TorqueLaw(robot, model='gravity', feedback='none', **common)
        for each in (law, gravity):
            self._warm_up(each, robot)
        return Laws(law, gravity, payload_link)

    def _warm_up(self, law: TorqueLaw, robot: Robot) -> None:
        rest = np.zeros(robot.nv)
        law(robot.neutral(), rest, robot.neutral(), rest, rest)
        law.reset()

    def _load(self, laws: Laws, robot: Robot) -> None:
        """Give laws the present values of the parameters."""
        for law in laws[:2]:
            law.set_gravity(np.array(self.parameters['gravity']))
            if laws.payload_link and laws.payload_link == self.parameters['payload_link']:
                law.set_payload(payload_parameters(*(self.parameters[name] for name in PAYLOAD)))
            law.configure(effort_limits=self._limits(robot))
        laws.main.configure(**self.law_options(robot))

    def _limits(self, robot: Robot) -> np.ndarray:
        limits = self.parameters['effort_limits']
        if not limits:
            return robot.effort_limits
        return np.minimum(robot.effort_limits, broadcast('effort_limits', limits, robot.nv))

    def elapsed(self, state: MeasuredState) -> Optional[float]:
        """Time since the last state that was answered [s]; None if that tells nothing."""
        if self._last is None or not self._last.time < state.time:
            return None
        return (state.time - self._last.time) / NANOSECONDS

    def rate_limit(self) -> Optional[float]:
        """Largest change of torque as `TorqueLaw` wants it."""
        return self.parameters['torque_rate_limit'] or None

    def _on_parameters(self, changed: Dict[str, Any]) -> None:
        if self.robot is None:
            return
        try:
            with self._laws_lock:
                self._load(self._laws, self.robot)
        except Exception as error:  # the parameters were checked; what comes here is a surprise
            self.diagnostics.event(
                SUBJECT, ERROR, f'parameters not applied: {error}', code='parameters'
            )
        if 'payload_link' in changed:
            # Another link needs other machine code. It is made aside; the old law goes on.
            threading.Thread(target=self._replace_laws, name='compiler', daemon=True).start()

    def _replace_laws(self) -> None:
        link = self.parameters['payload_link']
        try:
            laws = self._create_laws(self.robot, link)
            with self._laws_lock:
                if link == self.parameters['payload_link']:
                    self._load(laws, self.robot)
                    self._laws = laws
        except Exception as error:
            self.diagnostics.event(SUBJECT, ERROR, f'payload_link: {error}', code='payload_link')
        else:
            self.get_logger().info(f'payload on {link!r}' if link else 'no payload')

    # -- the loop ---------------------------------------------------------------------------------

    def _on_state(self, message: JointState) -> None:
        begin = time.perf_counter()
        now = time.monotonic()
        try:
            state = self._states.update(message, now)
            if state is not None:
                self._answer(state, message.header.stamp, now)
        except (
            Exception
        ) as error:  # whatever a message does, the node stays, says so and goes on with the next
            self.diagnostics.event(
                SUBJECT, ERROR, f'no torque: {error}', code=type(error).__name__
            )
        duration = time.perf_counter() - begin
        self._compute_time += duration
        self._longest = max(self._longest, duration)

    def _answer(self, state: MeasuredState, stamp: Time, now: float) -> None:
        self._watchdog.feed(now)
        if self._lost:
            self._lost = False
            self._states.found()
            self.diagnostics.condition(SUBJECT, OK, 'publishing', code='publishing')
            self._laws.main.reset()
            self.resumed(state)
        law = self._laws.main
        torque = self.torque(law, state)
        self._last = state
        self._output.publish(torque, stamp)
        self._commanding = True
        if law.saturated.any():
            self._clipped += 1

    def _watch(self) -> None:
        now = time.monotonic()
        if self._lost or not self._watchdog.expired(now):
            if self._lost and self._states.messages and not self._commanding:
                self._states.lost(self.parameters['state_timeout'])
            return
        self._lost = True
        self._states.lost(self.parameters['state_timeout'])
        self._send_last(self.parameters['timeout_command'])

    def _send_last(self, action: str) -> None:
        """Send a last torque, if any was sent before."""
        if not self._commanding or action == 'none':
            return
        self._commanding = False
        torque = np.zeros(self.robot.nv)
        if action == 'gravity':
            torque = self._laws.gravity(self._last.q, torque)
        self._output.publish(torque, self.get_clock().now().to_msg())
        self.diagnostics.condition(SUBJECT, WARN, f'last torque sent: {action}', code='stopped')

    def stop(self) -> None:
        """Send the last torque of an ending node."""
        if self._output is None:
            return
        self._send_last(self.parameters['shutdown_command'])
        self._output.flush()

    def _values(self) -> Dict[str, Any]:
        if self.robot is None:
            return {}
        longest, self._longest = self._longest, 0.0
        messages = self._states.messages
        return {
            'states_received': messages,
            'states_refused': self._states.refused,
            'torques_published': self._output.count,
            'torques_saturated': self._clipped,
            'mean_compute_us': 1e6 * self._compute_time / max(messages, 1),
            'longest_compute_us': 1e6 * longest,
            'publishers': self._states.publishers,
        }
