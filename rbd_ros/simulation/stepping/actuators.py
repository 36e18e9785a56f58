# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Actuators from the terminals of a motor to a joint: current, elasticity, backlash, friction.

A robot's model has rigid transmissions: rotor inertia (armature), viscous and Coulomb friction and
effort limits. These laws add further effects. They are functions of positions and velocities, for
the torque of `integrate_ode` or `EventDrivenSimulator`, or before every step of `Simulator`. Motor
variables are those behind the gears, reflected to the joint, unless a docstring says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import List, Mapping

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.array_types import FloatArray
from rbd_ros.model import Body, Link, Model
from rbd_ros.model.errors import unknown_name
from rbd_ros.model.joints import Revolute
from rbd_ros.robot import Robot
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia


def _require(name: str, value: float, positive: bool = True, finite: bool = True) -> None:
    if not (value > 0.0 or (value == 0.0 and not positive)) or (finite and math.isinf(value)):
        what = ('be positive', ' and finite') if positive else ('not be negative', ' or infinite')
        raise ValueError(f'{name} must {"".join(what[: 1 + finite])}, got {value}')


@dataclass(frozen=True)
class DcMotor:
    """A permanent-magnet DC motor with a gear, or one axis of a field-oriented drive.

    L di/dt = V - R i - k N v and tau = N k i, with the speed v of the joint: the same k is the
    torque constant and that of the back electromotive force, so that k N v i is the mechanical
    power.

    :param resistance: R [ohm]
    :param torque_constant: k [N m/A], the same number in [V s/rad]
    :param inductance: L [H]; zero: the current follows without delay
    :param ratio: N, turns of the motor per turn of the joint
    :param supply_voltage: bound on the voltage [V]
    :param rotor_inertia: inertia of the rotor about its own axis [kg m^2]
    :raises ValueError: for invalid numbers

    >>> from rbd_ros.simulation import DcMotor
    >>> motor = DcMotor(0.5, 0.05, 1e-3, 100.0, 24.0, rotor_inertia=1e-5)  # R, k, L, N, supply
    >>> motor.armature, motor.stall_torque, motor.no_load_speed  # [kg m^2], [N m], [rad/s]
    (0.1, 240.0, 4.8)
    >>> motor.clamp_voltage(30.0)  # [V]
    24.0
    >>> motor.steady_current(12.0, 2.0), motor.torque(4.0)  # [A], [N m]
    (4.0, 20.0)
    >>> motor.voltage_for(20.0, 2.0)  # [V]
    12.0
    >>> motor.current_rate(0.0, 12.0, 2.0), motor.current_after(0.0, 12.0, 2.0, dt=1.0)
    (2000.0, 4.0)
    """

    resistance: float
    torque_constant: float
    inductance: float = 0.0
    ratio: float = 1.0
    supply_voltage: float = math.inf
    rotor_inertia: float = 0.0

    def __post_init__(self) -> None:
        _require('resistance', self.resistance)
        _require('torque_constant', self.torque_constant)
        _require('inductance', self.inductance, positive=False)
        _require('ratio', abs(self.ratio))
        _require('supply_voltage', self.supply_voltage, finite=False)
        _require('rotor_inertia', self.rotor_inertia, positive=False)

    @property
    def armature(self) -> float:
        """Rotor inertia reflected to the joint, N^2 J [kg m^2], for `Robot.from_urdf`."""
        return self.ratio**2 * self.rotor_inertia

    @property
    def stall_torque(self) -> float:
        """Torque at the joint at rest, under the supply voltage [N m]."""
        return abs(self.ratio) * self.torque_constant * self.supply_voltage / self.resistance

    @property
    def no_load_speed(self) -> float:
        """Speed of the joint at zero torque, under the supply voltage [rad/s]."""
        return self.supply_voltage / (self.torque_constant * abs(self.ratio))

    def clamp_voltage(self, voltage: float) -> float:
        """Return a voltage within the bounds of the supply [V]."""
        return min(max(voltage, -self.supply_voltage), self.supply_voltage)

    def steady_current(self, voltage: float, v: float) -> float:
        """Return the steady current at a constant speed [A].

        :param voltage: requested voltage [V]
        :param v: speed of the joint [rad/s]
        """
        # Balance of voltages with di/dt = 0: V = R i + k N v, the second term the back EMF.
        return (
            self.clamp_voltage(voltage) - self.torque_constant * self.ratio * v
        ) / self.resistance

    def current_rate(self, current: float, voltage: float, v: float) -> float:
        """Return the rate of the current [A/s].

        :param current: current now [A]
        :param voltage: requested voltage [V]
        :param v: speed of the joint [rad/s]
        :raises ValueError: if there is no inductance
        """
        if not self.inductance:
            raise ValueError('without inductance the current has no dynamics; use steady_current')
        # L di/dt = V - k N v - R i = R (i_steady - i).
        missing = self.steady_current(voltage, v) - current
        return missing * self.resistance / self.inductance

    def current_after(self, current: float, voltage: float, v: float, dt: float) -> float:
        """Return the current after some time at a constant voltage and speed, exactly [A].

        :param current: current now [A]
        :param voltage: requested voltage [V]
        :param v: speed of the joint [rad/s]
        :param dt: time [s]
        """
        settled = self.steady_current(voltage, v)
        if not self.inductance:
            return settled
        # Exact solution of a linear equation with time constant L / R, for steps of any length.
        return settled + (current - settled) * math.exp(-self.resistance * dt / self.inductance)

    def torque(self, current: float) -> float:
        """Return the torque at the joint [N m].

        :param current: current [A]
        """
        return self.ratio * self.torque_constant * current

    def voltage_for(self, torque: float, v: float) -> float:
        """Return the voltage for a torque at a steady speed, within the supply's bounds [V].

        :param torque: torque at the joint [N m]
        :param v: speed of the joint [rad/s]
        """
        drive = self.ratio * self.torque_constant
        # V = R i + k N v with i = tau / (N k).
        return self.clamp_voltage(self.resistance * torque / drive + drive * v)


@dataclass(frozen=True)
class Transmission:
    """An elastic transmission, optionally with backlash.

    The shaft is a spring and a damper between motor and joint. Backlash is a dead zone in which
    it transmits no torque; on either flank it pushes and never pulls.

    :param stiffness: K [N m/rad or N/m]
    :param damping: D [N m s/rad or N s/m]
    :param backlash: width of the dead zone [rad or m]
    :raises ValueError: for invalid numbers

    >>> from rbd_ros.simulation import Transmission
    >>> gear = Transmission(stiffness=1000.0, damping=2.0, backlash=0.01)
    >>> gear.torque(0.003), gear.torque(0.015)  # within the backlash, and beyond [N m]
    (array(0.), array(10.))
    >>> gear.follow(0.0, 0.02)  # where the flank has moved the joint to [rad]
    0.015
    """

    stiffness: float
    damping: float = 0.0
    backlash: float = 0.0

    def __post_init__(self) -> None:
        _require('stiffness', self.stiffness)
        _require('damping', self.damping, positive=False)
        _require('backlash', self.backlash, positive=False)

    def torque(self, deflection: ArrayLike, rate: ArrayLike = 0.0) -> FloatArray:
        """Return the torque on the joint; its opposite acts on the motor [N m or N].

        :param deflection: position of the motor less that of the joint, of any shape [rad or m]
        :param rate: its rate [rad/s or m/s]
        """
        # Without backlash the shaft transmits torque of either sign.
        delta, speed = np.asarray(deflection, dtype=float), np.asarray(rate, dtype=float)
        if not self.backlash:
            linear: FloatArray = self.stiffness * delta + self.damping * speed
            return linear
        side = np.sign(delta)
        compression = np.abs(delta) - 0.5 * self.backlash
        # A flank cannot pull: if damping exceeds the spring during separation, the torque is zero
        # (as the normal force of a compliant contact).
        size = np.maximum(0.0, self.stiffness * compression + self.damping * side * speed)
        torque: FloatArray = np.where(compression > 0.0, side * size, 0.0)
        return torque

    def follow(self, joint: ArrayLike, motor: ArrayLike) -> FloatArray:
        """Return the position of a joint at rest until a flank moves it (hysteresis).

        It applies to joints held by friction, with a rigid shaft.

        :param joint: previous position [rad or m]
        :param motor: position of the motor [rad or m]
        """
        middle = np.asarray(motor, dtype=float)
        # Play operator of hysteresis: the joint stays in the dead zone until a flank pushes it.
        where: FloatArray = np.clip(
            joint, middle - 0.5 * self.backlash, middle + 0.5 * self.backlash
        )
        return where


@dataclass(frozen=True)
class JointFriction:
    """Friction with stiction and the Stribeck effect.

    Sliding: -(c + (s - c) exp(-(v/v_s)^2)) sign(v) - b v; at rest it balances up to s.

    :param viscous: b [N m s/rad or N s/m]
    :param coulomb: c [N m or N]
    :param static: s, not below c; None: as c [N m or N]
    :param stribeck_velocity: v_s [rad/s or m/s]
    :raises ValueError: for invalid numbers

    >>> from rbd_ros.simulation import JointFriction
    >>> friction = JointFriction(viscous=1.0, coulomb=2.0, static=3.0, stribeck_velocity=0.01)
    >>> friction.breakaway, friction.torque(0.0, applied=2.5), friction.torque(1.0)  # [N m]
    (3.0, -2.5, -3.0)
    """

    viscous: float = 0.0
    coulomb: float = 0.0
    static: float | None = None
    stribeck_velocity: float = 1e-2

    def __post_init__(self) -> None:
        _require('viscous', self.viscous, positive=False)
        _require('coulomb', self.coulomb, positive=False)
        _require('stribeck_velocity', self.stribeck_velocity)
        if self.static is not None and not self.coulomb <= self.static < math.inf:
            raise ValueError(
                f'static must be finite and not below coulomb ({self.coulomb}), got {self.static}'
            )

    @property
    def breakaway(self) -> float:
        """Largest torque at which a joint at rest does not move [N m or N]."""
        return self.coulomb if self.static is None else self.static

    def torque(self, v: float, applied: float = 0.0) -> float:
        """Return the friction on the joint [N m or N].

        :param v: velocity [rad/s or m/s]
        :param applied: all other torque on the joint, which it balances at rest [N m or N]
        """
        # At rest friction is set-valued: it balances the applied torque, up to breakaway.
        if v == 0.0:
            return -min(max(applied, -self.breakaway), self.breakaway)
        # Stribeck's curve with the exponent 2 (Armstrong-Helouvry, Dupont and Canudas de Wit
        # 1994).
        dip = math.exp(-((v / self.stribeck_velocity) ** 2))
        size = self.coulomb + (self.breakaway - self.coulomb) * dip
        return -math.copysign(size, v) - self.viscous * v


def with_motors(robot: Robot, inertia: Mapping[str, float], suffix: str = '_motor') -> Robot:
    """Return the robot with motors as separate DoFs, for joints driven by elastic transmissions.

    Each motor is one more joint, its rotor on the base: position and velocity variables after
    those of the robot, in the order of `inertia`. A `Transmission` connects it to its joint: its
    torque acts on the joint, and the opposite torque on the motor. Gyroscopic effects of the
    rotors are neglected (M. Spong, 1987).

    :param inertia: inertia of the rotors reflected to the joints, by joint [kg m^2 or kg]
    :param suffix: suffix of the joint's name in that of its motor
    :raises ValueError: for unknown joints, or inertias that are not positive

    >>> from rbd_ros.simulation import with_motors
    >>> elastic = with_motors(robot, {'elbow_joint': 0.5})
    >>> elastic.nv, elastic.joint_names[-1]
    (7, 'elbow_joint_motor')
    """
    model = robot.model
    bodies: List[Body] = list(model.bodies)
    links: List[Link] = list(model.links.values())
    for name, value in inertia.items():
        if name not in model.joint_names:
            raise ValueError(unknown_name('joint', name, model.joint_names))
        _require(f'inertia of the motor of {name!r}', float(value))
        # No mass, and inertia about the axis only: the mass of the motor belongs to its link.
        rotor = RigidBodyInertia(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, float(value)))
        motor = f'{name}{suffix}'
        still = PluckerTransform.identity()
        bodies.append(Body(motor, 0, motor, Revolute((0.0, 0.0, 1.0)), still, rotor))
        links.append(Link(motor, len(bodies), still, rotor))
    return Robot(
        Model.create(
            model.name, bodies, links, joint_frames=model.joint_frames,
            couplings=model.couplings, loops=model.loops, geometries=model.geometries,
            gravity=model.gravity, warnings=model.warnings,
        )
    )  # fmt: skip
