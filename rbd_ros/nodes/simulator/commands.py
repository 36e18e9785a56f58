"""What drives each joint of the simulated robot: the newest command, or a stand-in for it.

A joint is driven by an effort, by a servo (position or velocity commands, and holding), by its
gravity torque, or not at all. The servo is exact: it prescribes the joint's acceleration and works
out, by hybrid dynamics (book 9.2), the torque that gives it whatever the other joints do. Effort
limits apply to it like to everything else.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, Sequence, Union

import numpy as np

from rbd_ros.nodes.common.diagnostics import Diagnostics, ERROR, OK, WARN
from rbd_ros.nodes.common.joint_names import JointNames, MessageProblem, Naming
from rbd_ros.nodes.common.text import shorten
from rbd_ros.nodes.common.wire import (
    Float64MultiArrayReader,
    JointStateReader,
    NameList,
    WireError,
)
from rbd_ros.robot import Robot

SUBJECT = 'commands'
# No joint is commanded beyond these, and nothing that is worked out from them overflows.
LARGEST = {'effort': 1e9, 'position': 1e5, 'velocity': 1e5}  # [N m or N, rad or m, rad/s or m/s]
MOST_LAYOUTS = 64  # runs of joint names that are remembered
CHECKS_A_TIMEOUT = 20  # how often commands are looked at in the time after which they are too old


class Drive:
    """What drives a joint; plain numbers, for they are stored in arrays."""

    ZERO = 0
    GRAVITY = 1
    EFFORT = 2
    POSITION = 3
    VELOCITY = 4


STAND_INS = {'hold': Drive.POSITION, 'gravity': Drive.GRAVITY, 'zero': Drive.ZERO}


class Commands:
    """Commands of all joints with one degree of freedom; others cannot be commanded.

    :param robot: the robot
    :param diagnostics: where refused messages are reported
    :param array_joints: joints that a Float64MultiArray names by its order; empty: all
    :param bandwidth: natural frequency of the servo [rad/s]
    :raises ValueError: if `array_joints` are not different joints of the robot
    """

    def __init__(
        self,
        robot: Robot,
        diagnostics: Diagnostics,
        array_joints: Sequence[str],
        bandwidth: float,
    ):
        self._robot = robot
        self._diagnostics = diagnostics
        self._bandwidth = bandwidth
        model = robot.model
        single = [
            (model.body(i).joint_name, at_q.start, at_v.start)
            for i, (at_q, at_v) in model.independent_slices.items()
            if model.body(i).joint.nv == 1
        ]
        self.names = tuple(name for name, _, _ in single)
        self.at_q = np.array([q for _, q, _ in single], dtype=np.intp)
        self.at_v = np.array([v for _, _, v in single], dtype=np.intp)
        others = [b.joint_name for b in model.bodies if b.joint_name not in self.names]
        self._joints = JointNames(self.names, ignored=others)
        self._by_name, self._by_order = JointStateReader(), Float64MultiArrayReader()
        self._namings: Dict[NameList, Naming] = {}
        self.heard: Dict[Naming, None] = {}  # in the order in which they were heard
        order = JointNames(self.names).naming(array_joints or self.names)
        if order.unknown:
            raise ValueError(f'parameter joints: the robot has no joint {shorten(order.unknown)}')
        self._array_order = order
        n = len(self.names)
        self.drive = np.full(n, Drive.ZERO, dtype=np.int8)
        self._effort, self._position, self._velocity = np.zeros(n), np.zeros(n), np.zeros(n)
        self._targets = {
            Drive.EFFORT: self._effort,
            Drive.POSITION: self._position,
            Drive.VELOCITY: self._velocity,
        }
        self._received = np.full(n, math.inf)  # when the last command came; inf: no command
        self._effort_only = self._receiving = False
        self._damping = robot.damping
        self._next_check = -math.inf
        self.accepted = 0
        self.refused = 0

    # -- input ------------------------------------------------------------------------------------

    def stand_in(self, action: str, q: np.ndarray) -> None:
        """Drive all joints as `action` (hold, gravity or zero) says, and forget all commands.

        :param q: configuration to hold, (nq,)
        """
        self._drive_by(np.arange(len(self.names)), action, q)

    def take_joint_state(self, data: bytes, now: float) -> bool:
        """Take commands by name; effort counts before position, and position before velocity.

        NaN means no command for that joint (controllers send it before they are active).

        :param data: serialised JointState
        :param now: present time of a steady clock [s]
        :return: whether any joint is now driven by the message
        """
        try:
            message = self._by_name.read(data)
            naming = self._namings.get(message.names) or self._new_naming(message.names)
            fields = {
                drive: self._field(name, values, naming)
                for drive, name, values in (
                    (Drive.EFFORT, 'effort', message.effort),
                    (Drive.POSITION, 'position', message.position),
                    (Drive.VELOCITY, 'velocity', message.velocity),
                )
                if values is not None
            }
            if not fields:
                raise MessageProblem('no values', 'effort, position and velocity are all empty')
        except (MessageProblem, WireError) as problem:
            self._refuse(problem)
            return False
        self.heard[naming] = None
        return self._take(naming, fields, now)

    def _take(self, naming: Naming, fields: Dict[int, np.ndarray], now: float) -> bool:
        if len(fields) == 1:
            ((drive, values),) = fields.items()
            if not math.isnan(values.dot(values)):  # what a controller sends all day
                self._command(drive, naming.place, values, now)
                self.accepted += 1
                return True
        target = naming.target
        taken = np.zeros(target.size, dtype=bool)
        for drive, values in fields.items():
            fresh = ~taken & ~np.isnan(values)
            self._command(drive, target[fresh], values[fresh], now)
            taken |= fresh
        if Drive.POSITION in fields and Drive.VELOCITY in fields:
            self._velocity[target] = np.nan_to_num(fields[Drive.VELOCITY])
        if not taken.all():
            absent = [self.names[i] for i in target[~taken]]
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'NaN is no command: left as they were: {shorten(absent)}',
                code='NaN',
            )
        self.accepted += bool(taken.any())
        return bool(taken.any())

    def _new_naming(self, names: NameList) -> Naming:
        naming = self._joints.naming(names.names)
        if naming.unknown:
            self._diagnostics.event(
                SUBJECT,
                WARN,
                f'unknown joints ignored: {shorten(naming.unknown)}',
                code='unknown joints',
            )
        if not naming.target.size:
            raise MessageProblem('no known joints', 'it names no joint of the robot')
        if len(self._namings) >= MOST_LAYOUTS:  # a sender that invents names
            del self._namings[next(iter(self._namings))]
        self._namings[names] = naming
        return naming

    @staticmethod
    def _field(name: str, values: np.ndarray, naming: Naming) -> np.ndarray:
        """Values of one field for the joints of `naming`."""
        if values.size != naming.size:
            raise MessageProblem(
                f'{name} has wrong length',
                f'{name} has {values.size} elements for {naming.size} names',
            )
        # Where the sum of squares is small, so is each of them; NaN compares false.
        if not values.dot(values) <= LARGEST[name] ** 2:
            _check_size(name, values)
        return values if naming.in_order else values[naming.source]

    def take_array(self, data: bytes, now: float) -> bool:
        """Take efforts in the order of `array_joints`; otherwise like `take_joint_state`.

        :param data: serialised Float64MultiArray
        """
        order = self._array_order
        try:
            values = self._by_order.read(data)
            if values.size != order.size:
                raise MessageProblem(
                    'wrong length', f'{values.size} efforts for {order.size} joints'
                )
            if not values.dot(values) <= LARGEST['effort'] ** 2:
                if np.isnan(values).any():
                    raise MessageProblem('not finite', 'an effort is not finite')
                _check_size('effort', values)
        except (MessageProblem, WireError) as problem:
            self._refuse(problem)
            return False
        self._command(Drive.EFFORT, order.place, values, now)
        self.accepted += 1
        return True

    def heard_lately(self) -> List[Sequence[str]]:
        """Different lists of joints that messages by name had since the last call."""
        heard, self.heard = self.heard, {}
        return [naming.names for naming in heard]

    def expire(self, now: float, timeout: float, action: str, q: np.ndarray) -> None:
        """Let `action` replace efforts and velocities that are older than `timeout` seconds."""
        if now < self._next_check:
            return
        self._next_check = now + timeout / CHECKS_A_TIMEOUT
        late = (now - self._received > timeout) & (self.drive != Drive.POSITION)
        if late.any():
            self._receiving = False
            late = np.flatnonzero(late)
            self._drive_by(late, action, q)
            self._diagnostics.condition(
                SUBJECT,
                WARN,
                f'no command for {timeout:g} s for {shorten([self.names[i] for i in late])}: '
                f'{action}. (A sender that '
                'is silent while its command does not change needs command_timeout 0, or '
                'trigger_joint_command_threshold -1 in joint_state_topic_hardware_interface)',
                code='timeout',
            )

    def refresh(self, now: float) -> None:
        """Count the age of commands from `now`: simulation was paused."""
        self._received[np.isfinite(self._received)] = now

    def _drive_by(self, joints: np.ndarray, action: str, q: np.ndarray) -> None:
        self.drive[joints] = STAND_INS[action]
        self._position[joints] = q[self.at_q[joints]]
        self._velocity[joints] = 0.0
        self._received[joints] = math.inf
        self._receiving = False
        self._effort_only = bool((self.drive == Drive.EFFORT).all())

    def _command(
        self, drive: int, joints: Union[slice, np.ndarray], values: np.ndarray, now: float
    ) -> None:
        if not values.size:
            return
        self._targets[drive][joints] = values
        if drive == Drive.POSITION:
            self._velocity[joints] = 0.0
        self._received[joints] = now
        if not self._effort_only or drive != Drive.EFFORT:
            self.drive[joints] = drive
            self._effort_only = bool((self.drive == Drive.EFFORT).all())
        if not self._receiving:
            self._receiving = True
            self._diagnostics.condition(SUBJECT, OK, 'receiving', code='receiving')

    def _refuse(self, problem: Any) -> None:
        self.refused += 1
        self._diagnostics.event(SUBJECT, WARN, f'command refused: {problem}', code=problem.code)

    # -- output -----------------------------------------------------------------------------------

    def torque(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Generalized forces at the state (q, v), (nv,), before saturation."""
        tau = np.zeros(self._robot.nv)
        if self._effort_only:
            tau[self.at_v] = self._effort
            return tau
        effort = self.drive == Drive.EFFORT
        tau[self.at_v[effort]] = self._effort[effort]
        gravity = self.at_v[self.drive == Drive.GRAVITY]
        if gravity.size:
            tau[gravity] = self._robot.gravity_torque(q)[gravity]
        servo = self.drive >= Drive.POSITION
        if servo.any():
            self._add_servo(tau, servo, q, v)
        if not math.isfinite(tau.sum()):
            self._diagnostics.event(
                SUBJECT, ERROR, 'the commands lead to torques without limit: zero torque instead'
            )
            return np.zeros(self._robot.nv)
        return tau

    def _add_servo(self, tau: np.ndarray, servo: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
        """Torques of the joints under servo, given those of all others (hybrid dynamics)."""
        at, w = self.at_v[servo], self._bandwidth
        positional = self.drive[servo] == Drive.POSITION
        error = np.where(positional, self._position[servo] - q[self.at_q[servo]], 0.0)
        desired = w * w * error + 2.0 * w * (self._velocity[servo] - v[at])
        H, C = self._robot.mass_matrix(q), self._robot.bias_force(q, v) + self._damping * v
        free = np.setdiff1d(np.arange(self._robot.nv), at)
        acceleration = np.zeros(self._robot.nv)
        acceleration[at] = desired
        if free.size:
            load = tau[free] - C[free] - H[np.ix_(free, at)] @ desired
            try:
                acceleration[free] = np.linalg.solve(H[np.ix_(free, free)], load)
            except np.linalg.LinAlgError:
                pass  # joints that move no mass: the servo then ignores them
        tau[at] = H[at] @ acceleration + C[at]


def _check_size(name: str, values: np.ndarray) -> None:
    """Refuse values that are infinite or beyond all bounds; NaN may mean that there is none."""
    if np.isinf(values).any():
        raise MessageProblem('not finite', f'a value of {name} is infinite, not finite')
    largest = np.nanmax(np.abs(values), initial=0.0)
    if largest > LARGEST[name]:
        raise MessageProblem(
            'too large', f'a value of {name} is {largest:g}, beyond {LARGEST[name]:g}'
        )
