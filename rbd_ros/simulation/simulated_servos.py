# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The part of `Simulator` for servos: implicit PD control of joints."""

from __future__ import annotations

from typing import Any, List, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.records.mutex import exclusive
from rbd_ros.simulation.rollouts.rollouts import checked_array


class SimulatedServos:
    """Servos of the joints of a simulated robot."""

    _physics: Physics

    @exclusive
    def set_joint_pd(self, q: Any = None, v: Any = None, kp: Any = None, kd: Any = None) -> None:
        """Hold joints by tau + kp (q_d - q) + kd (v_d - v), saturated at the effort limits.

        It holds from the next step until another call; `step` gets the tau. q and v are those at
        the end of each step, so a step is stable for any gains. The attribute `tau` is the torque
        of the last step, servos included.

        A joint without limits rotates the shorter way: q_d - q is taken modulo 2 pi.

        The first call recompiles the step loop.

        :param q: desired configuration q_d, (nq,), ignored for joints without gains; None:
            unchanged, initially the present one
        :param v: desired velocity v_d, (nv,); None: zero if there is a `q`, else unchanged
        :param kp: gain of the position [N m/rad, N/m], (nv,), or a number for all joints with
            motors that have one degree of freedom; None: unchanged
        :param kd: gain of the velocity [N m s/rad, N s/m], likewise; both zero release a joint
        :raises ValueError: for a wrong shape, numbers that are not finite, a negative gain, a gain
            of a joint with several DoFs, or without any gains so far; nothing is changed

        >>> simulator = Simulator(robot)
        >>> simulator.reset(q)
        >>> simulator.set_joint_pd(q, kp=1e8, kd=1e3)  # stiff, at 1 ms
        >>> simulator.step(n=1000)
        >>> np.abs(simulator.q - q).max() < 1e-6  # it sags by torque / kp [rad]
        True
        >>> simulator.set_joint_pd(q + 0.01)  # on to another place
        >>> simulator.step(robot.gravity_torque(q), n=1000)
        >>> np.abs(simulator.q - q - 0.01).max() < 1e-5
        True
        """
        physics = self._physics
        servo, nq, nv = physics.state.servo, physics.robot.nq, physics.robot.nv
        if kp is None and kd is None and not physics.model.has_servos:
            raise ValueError('servos have no gains yet: give kp, kd or both')
        gains = {
            name: None if given is None else self._gains(name, given)
            for name, given in (('kp', kp), ('kd', kd))
        }
        goal = None if q is None else self._goals(checked_array('q', q, ((nq,),)))
        speed = None if v is None else checked_array('v', v, ((nv,),))
        if not physics.model.has_servos:
            physics.allow_servos()
            if goal is None:
                goal = self._goals(physics.state.q)
        for name, array in gains.items():
            if array is not None:
                getattr(servo, name)[:] = array
        if goal is not None:
            servo.q[:] = goal
            servo.v[:] = 0.0
        if speed is not None:
            servo.v[:] = speed

    @property
    @exclusive
    def joint_pd_gains(self) -> Tuple[FloatArray, FloatArray]:
        """Gains kp and kd of the servos, (nv,) each; zero without a servo.

        >>> simulator = Simulator(robot)
        >>> simulator.set_joint_pd(q, kp=[0, 0, 0, 0, 0, 100.0], kd=10.0)
        >>> simulator.joint_pd_gains
        (array([  0.,   0.,   0.,   0.,   0., 100.]), array([10., 10., 10., 10., 10., 10.]))
        """
        servo = self._physics.state.servo
        return servo.kp.copy(), servo.kd.copy()

    def _goals(self, q: FloatArray) -> FloatArray:
        """Return the positions by degree of freedom, of configurations (..., nq)."""
        position = self._physics.model.position
        return np.where(position >= 0, q[..., position], 0.0)

    def _gains(self, name: str, given: Any) -> FloatArray:
        physics, robot = self._physics, self._physics.robot
        gains = checked_array(name, given, ((), (robot.nv,)))
        if (gains < 0.0).any():
            raise ValueError(f'{name} must not be negative, got {given}')
        if np.ndim(given) == 0:
            motors: List[float] = [
                physics.joint_name(i) in robot.model.actuated_joints for i in range(robot.nv)
            ]
            return np.where(
                physics.model.position >= 0, gains * np.array(motors, dtype=float), 0.0
            )
        for i in np.flatnonzero(gains):
            if physics.model.position[i] < 0:
                raise ValueError(
                    f'{name}: joint {physics.joint_name(int(i))!r} has several degrees of '
                    f'freedom, which servos do not support: {name}[{i}] must be 0'
                )
        return gains
