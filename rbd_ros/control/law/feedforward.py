# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Effort of a motion: inverse dynamics with joint friction, without feedback.

It has the terms of a `TorqueLaw` with feedforward inverse_dynamics at the desired motion, for
arrays of states, split by their scaling with the speed of the motion.
"""

from __future__ import annotations

from typing import NamedTuple, Optional, Tuple

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.control.law.friction_compensation import friction_torque
from rbd_ros.control.law.law_settings import LawSettings
from rbd_ros.control.motion.polynomials import time_sliced
from rbd_ros.control.robot_joints import listed
from rbd_ros.model.unknown_masses import require_masses
from rbd_ros.robot import Robot

# States per call of the machine code, so that other threads run, see `time_sliced`.
NUMBERS = 32


class EffortParts(NamedTuple):
    """Effort split by its scaling if the motion is s times as slow, each (N, nv) [N m or N].

    :param static: gravity, and Coulomb friction with the sign of the velocity: constant
    :param viscous: viscous friction: proportional to 1/s
    :param inertial: inertia, Coriolis and centrifugal effort: proportional to 1/s^2

    >>> parts = Feedforward(robot).parts(q[None], v[None], a[None])
    >>> parts.total[0]  # [N m]
    array([  2.76 ,  -1.415, -17.788,  -1.977,   0.532,   0.05 ])
    """

    static: FloatArray
    viscous: FloatArray
    inertial: FloatArray

    @property
    def total(self) -> FloatArray:
        """Sum of the parts, (N, nv) [N m or N]."""
        total: FloatArray = self.static + self.viscous + self.inertial
        return total


class Feedforward:
    """Efforts of a robot's joints in a motion.

    The efforts include mimic joints and gears. Gravity, payload, friction and effort limits of the
    settings are used.

    :param robot: robot without loops, with one degree of freedom per joint
    :param settings: see `LawSettings.for_robot`; None: friction, gravity and limits of the robot
    :param payload_link: link that carries the payload of the settings; None: no payload
    :raises ValueError: for another kind of robot, one without masses, or an unknown link

    >>> from rbd_ros.control import Feedforward
    >>> arm = Robot.from_urdf(resource_path('urdf', 'two_link_arm.urdf'))
    >>> rest = np.zeros((1, 2))
    >>> np.allclose(Feedforward(arm).efforts(rest, rest, rest), arm.gravity_torque([0.0, 0.0]))
    True
    """

    def __init__(
        self,
        robot: Robot,
        settings: Optional[LawSettings] = None,
        payload_link: Optional[str] = None,
    ):
        check_robot(robot)
        if settings is None:
            settings = LawSettings.for_robot(robot, feedback='none')
        require_masses(robot.model, settings.gravity)
        self.robot, self.settings = robot, settings
        runtime: Tuple[str, ...] = ('gravity',)
        inputs: Tuple[FloatArray, ...] = (settings.gravity,)
        if payload_link is not None:
            robot.model.link(payload_link)
            runtime = (*runtime, f'payload:{payload_link}')
            inputs = (*inputs, np.zeros(10) if settings.payload is None else settings.payload)
        elif settings.payload is not None and settings.payload.any():
            raise ValueError('payload needs payload_link; give the link that carries the payload')
        self._dynamics = robot.function('inverse_dynamics', runtime)
        self._inputs = inputs
        friction = settings.friction != 'none'
        self._viscous, self._coulomb = settings.viscous * friction, settings.coulomb * friction

    def _model(self, q: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        result = np.empty((len(q), self.robot.nv))
        for here in time_sliced(len(q), NUMBERS * self.robot.nv):
            result[here] = self._dynamics(q[here], v[here], a[here], *self._inputs)
        return result

    def efforts(self, q: FloatArray, v: FloatArray, a: FloatArray) -> FloatArray:
        """Return the efforts at N states, (N, nv) [N m or N].

        :param q: positions, (N, nv) [rad or m]
        :param v: velocities, (N, nv)
        :param a: accelerations, (N, nv)
        """
        return self._model(q, v, a) + friction_torque(
            v, self._viscous, self._coulomb, self.settings.transition_velocity
        )

    def parts(self, q: FloatArray, v: FloatArray, a: FloatArray) -> EffortParts:
        """Return efforts at N states, split by their scaling with speed; arguments as `efforts`.

        Coulomb friction is complete for any nonzero velocity; in `efforts`, its smooth transition
        ends at about 0.001 rad/s.

        >>> parts = Feedforward(robot).parts(q[None], v[None], a[None])
        >>> slow = Feedforward(robot).efforts(q[None], v[None] / 2, a[None] / 4)  # half as fast
        >>> np.allclose(slow, parts.static + parts.viscous / 2 + parts.inertial / 4)
        True
        """
        rest = np.zeros_like(q)
        gravity = self._model(q, rest, rest)
        return EffortParts(
            gravity + self._coulomb * np.sign(v),
            self._viscous * v,
            self._model(q, v, a) - gravity,
        )


def check_robot(robot: Robot) -> None:
    """Reject a robot that a joint trajectory cannot describe.

    :raises ValueError: with the joints, and the cure
    """
    if robot.model.loops:
        raise ValueError(
            'the robot has loops: the motion of its actuated joints does not determine their '
            'efforts; use the node inverse_dynamics, or remove the loops from the extension'
        )
    wide = [body.joint_name for body in robot.model.bodies if body.joint.nv != 1]
    if wide:
        raise ValueError(
            f'joint {listed(wide)} has more than one degree of freedom, which a joint trajectory '
            'cannot contain; use a fixed base'
        )
    if not robot.nv:
        raise ValueError('the robot has no movable joint')
