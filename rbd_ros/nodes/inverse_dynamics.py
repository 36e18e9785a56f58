"""Inverse dynamics: torques that make the robot follow a trajectory."""

from __future__ import annotations

import sys
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

import numpy as np
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from rbd_ros.control import pd_gains, TorqueLaw
from rbd_ros.nodes.conversions import JointStateBuffer, set_stamp
from rbd_ros.nodes.desired_motion import DesiredMotion, reason
from rbd_ros.nodes.diagnostics import OK, WARN
from rbd_ros.nodes.joint_states import MeasuredState
from rbd_ros.nodes.parameters import Declaration
from rbd_ros.nodes.runtime import quality_of_service, run_node
from rbd_ros.nodes.torque_node import broadcast, TORQUE_PARAMETERS, TorqueNode
from rbd_ros.robot import Robot

SUBJECT = 'trajectory'
FEEDFORWARDS = ('inverse_dynamics', 'gravity', 'none')
FEEDBACKS = ('pd', 'computed_torque', 'none')

INVERSE_DYNAMICS_PARAMETERS: Tuple[Declaration, ...] = (
    *TORQUE_PARAMETERS,
    Declaration(
        'feedforward',
        'inverse_dynamics',
        'inverse_dynamics: H a + C + g of the desired motion; gravity: g at the measured '
        'position; none. '
        'Without effect with feedback computed_torque, which contains the whole model.',
        choices=FEEDFORWARDS,
        live=True,
    ),
    Declaration(
        'feedback',
        'pd',
        'pd: kp e + kd de/dt; computed_torque: H (a + kp e + kd de/dt) + C + g at the measured '
        'state; none.',
        choices=FEEDBACKS,
        live=True,
    ),
    Declaration(
        'kp',
        (),
        'Gain of the position error: one for all joints or one for each, in the order of the '
        'robot, [N m/rad or N/m] '
        'with pd, [1/s^2] with computed_torque; empty: from natural_frequency.',
        minimum=0.0,
        live=True,
    ),
    Declaration(
        'kd',
        (),
        'Gain of the velocity error, likewise, [N m s/rad or N s/m] or [1/s]; empty: from '
        'natural_frequency and '
        'damping_ratio.',
        minimum=0.0,
        live=True,
    ),
    Declaration(
        'natural_frequency',
        10.0,
        'Frequency of the closed loop from which empty gains follow, with pd by the inertia about '
        'each joint [rad/s].',
        positive=True,
        maximum=1000.0,
        live=True,
    ),
    Declaration(
        'damping_ratio',
        1.0,
        'Damping of the closed loop from which empty gains follow.',
        minimum=0.0,
        maximum=10.0,
        live=True,
    ),
    Declaration(
        'friction_compensation',
        'none',
        'Adds the viscous and Coulomb friction of the robot description at the desired or the '
        'measured velocity.',
        choices=('none', 'desired', 'measured'),
        live=True,
    ),
    Declaration(
        'allow_partial_trajectory',
        False,
        'Whether a trajectory may leave joints out; they are held where they should be.',
        live=True,
    ),
    Declaration(
        'check_limits',
        True,
        'Whether trajectories beyond the position or velocity limits of the robot description are '
        'refused.',
        live=True,
    ),
    Declaration(
        'start_tolerance',
        0.2,
        'How far the desired position may jump when a trajectory begins [rad or m]; 0: any '
        'distance.',
        minimum=0.0,
        live=True,
    ),
)


class InverseDynamicsNode(TorqueNode):
    """See docs/nodes/inverse_dynamics.md."""

    def __init__(self):
        super().__init__('inverse_dynamics', INVERSE_DYNAMICS_PARAMETERS)
        self._motion: Optional[DesiredMotion] = None
        self._now: Optional[int] = None  # time of the last state [ns]
        self._shown = False
        self._desired_publisher = self.create_publisher(
            JointState, '~/desired_state', quality_of_service(1)
        )
        self._error_publisher = self.create_publisher(
            JointState, '~/tracking_error', quality_of_service(1)
        )
        self.create_subscription(
            JointTrajectory, 'joint_trajectory', self._on_trajectory, quality_of_service(1)
        )
        self.start()

    # -- law --------------------------------------------------------------------------------------

    def law_options(self, robot: Robot) -> Dict[str, Any]:
        """Arguments of `TorqueLaw`."""
        computed = self.parameters['feedback'] == 'computed_torque'
        kp, kd = self._gains(robot, computed)
        return {
            'model': 'computed_torque' if computed else self.parameters['feedforward'],
            'feedback': 'none' if computed else self.parameters['feedback'],
            'kp': kp,
            'kd': kd,
            'friction': self.parameters['friction_compensation'],
            'torque_rate': self.rate_limit(),
        }

    def _gains(self, robot: Robot, computed: bool) -> Tuple[np.ndarray, np.ndarray]:
        given = [self.parameters[name] for name in ('kp', 'kd')]
        frequency, ratio = self.parameters['natural_frequency'], self.parameters['damping_ratio']
        kp, kd = np.full(robot.nv, frequency**2), np.full(robot.nv, 2.0 * ratio * frequency)
        if not computed and not all(given):
            kp, kd = pd_gains(robot, self._typical_configurations(robot), frequency, ratio)
        if given[0]:
            kp = broadcast('kp', given[0], robot.nv)
        if given[1]:
            kd = broadcast('kd', given[1], robot.nv)
        return kp, kd

    @staticmethod
    def _typical_configurations(robot: Robot) -> np.ndarray:
        rng = np.random.default_rng(0)
        return np.array([robot.random_configuration(rng) for _ in range(32)])

    def _check_with_robot(self, values: Mapping[str, Any], robot: Robot) -> None:
        super()._check_with_robot(values, robot)
        for name in ('kp', 'kd'):
            if values[name]:
                broadcast(name, values[name], robot.nv)

    def _warm_up(self, law: TorqueLaw, robot: Robot) -> None:
        """Compile all models, so that switching between them later costs nothing."""
        for model in ('inverse_dynamics', 'computed_torque'):
            law.configure(model=model, feedback='none')
            super()._warm_up(law, robot)
        law.configure(**self.law_options(robot))
        super()._warm_up(law, robot)

    # -- motion -----------------------------------------------------------------------------------

    def _use_robot(self, robot: Robot) -> None:
        self._motion = DesiredMotion(robot)
        self._desired = JointStateBuffer(robot.joint_names)
        self._error = JointStateBuffer(robot.joint_names, ('position', 'velocity'))
        super()._use_robot(robot)
        self.diagnostics.condition(
            SUBJECT, OK, 'no trajectory yet: the first measured position is held', code='none'
        )

    def resumed(self, state: MeasuredState) -> None:
        """Hold the measured position; a trajectory that was interrupted is not taken up again."""
        if self._motion.following:
            self.diagnostics.event(
                SUBJECT,
                WARN,
                'states had failed: the trajectory is dropped and the measured position held',
                code='trajectory dropped',
            )
        self._motion.hold(state.q)

    def _on_trajectory(self, message: JointTrajectory) -> None:
        try:
            if self._now is None or self._lost:
                raise ValueError('there is no usable state of the robot')
            text = self._motion.follow(
                message,
                self._now,
                allow_partial=self.parameters['allow_partial_trajectory'],
                check_limits=self.parameters['check_limits'],
                start_tolerance=self.parameters['start_tolerance'],
            )
            self.diagnostics.condition(SUBJECT, OK, text, code=f'following since {self._now}')
            self.get_logger().info(text)
        except ValueError as error:
            self.diagnostics.event(
                SUBJECT,
                WARN,
                f'trajectory refused, the motion before it goes on: {error}',
                code=reason(error),
            )
        except Exception as error:  # whatever a message does, the node stays
            self.diagnostics.event(
                SUBJECT, WARN, f'trajectory refused: {error}', code=type(error).__name__
            )

    # -- torque -----------------------------------------------------------------------------------

    def torque(self, law: TorqueLaw, state: MeasuredState) -> np.ndarray:
        """Torques for the desired motion at the time of the state."""
        previous, self._now = self._now, state.time
        if previous is not None and self._now < previous:
            self._restart_time(state)
        q, v, a = self._motion.sample(self._now)
        torque = law(state.q, state.v, q, v, a, dt=self.elapsed(state))
        if self._shown:
            self._show(state, q, v, torque)
        if self._motion.ended(self._now):
            self.diagnostics.condition(
                SUBJECT, OK, 'trajectory done: its last position is held', code='done'
            )
        return torque

    def _restart_time(self, state: MeasuredState) -> None:
        """Time went back: what was to happen at certain times has no meaning any more."""
        if self._motion.following:
            self.diagnostics.event(
                SUBJECT,
                WARN,
                'time went back: the trajectory is dropped and the measured position held',
                code='trajectory dropped',
            )
            self._motion.hold(state.q)

    def _show(
        self, state: MeasuredState, q: np.ndarray, v: np.ndarray, torque: np.ndarray
    ) -> None:
        for buffer in (self._desired, self._error):
            set_stamp(buffer.message.header.stamp, state.time)
        self._desired.position[:], self._desired.velocity[:], self._desired.effort[:] = (
            q,
            v,
            torque,
        )
        np.subtract(q, state.q, out=self._error.position)
        np.subtract(v, state.v, out=self._error.velocity)
        self._desired_publisher.publish(self._desired.message)
        self._error_publisher.publish(self._error.message)

    def every_second(self) -> None:
        """Publish the desired state and the error only while somebody listens."""
        super().every_second()
        self._shown = bool(
            self._desired_publisher.get_subscription_count()
            or self._error_publisher.get_subscription_count()
        )


def main(args: Optional[Sequence[str]] = None) -> int:
    """Run the node until it is stopped."""
    return run_node(InverseDynamicsNode, args)


if __name__ == '__main__':
    sys.exit(main())
