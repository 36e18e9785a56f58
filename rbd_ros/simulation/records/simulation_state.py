# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""State of a simulation at one instant: the whole content of a snapshot.

The sizes in the declarations are nq and nv of the robot, the number of its contact `points`, and
of those that can be `near` the ground at once; of `constraints` of the loops; `coupled` is nv if
there are loops, else 0.
"""

from __future__ import annotations

from typing import NamedTuple

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.compiler.loops import floats, integers, nested, view

#: Indices into `State.counters`. Those after CONTACTS are internal: number of points with a
#: deformed surface, of external forces, of points near the ground, and whether the last step was
#: not divided by inertia (step_division.py).
(
    STEPS,
    SUBSTEPS,
    SATURATED,
    GUARDED,
    LIMITED,
    UNCONVERGED,
    DROPPED,
    UNRESOLVED_OVERLAPS,
    CONTACTS,
    DEFORMED,
    FORCES,
    NEAR,
    WHOLE,
) = range(13)
COUNTERS = 13

#: Result of `stepping.advance` for commands that are not finite.
REJECTED = -1

#: Result of `Steps.alone` if the mutex must be acquired or the torque converted.
BUSY = -2

#: Maximum number of contact points in a step; more are dropped and counted. The solver's memory
#: grows with it times the degrees of freedom.
MAX_CONTACTS = 512

#: Maximum number of simultaneous external forces.
MAX_FORCES = 64


class Servo(NamedTuple):
    """Servos of the joints (joint_servo.py); without gains there is none.

    :param kp: gain of the position [N m/rad, N/m]
    :param kd: gain of the velocity [N m s/rad, N s/m]
    :param q: desired position [rad, m]
    :param v: desired velocity [rad/s, m/s]
    :param torque: feed-forward [N m, N]
    :param segment: segment of its law that each servo was on last
    :param rest_torque: torque of the servo at zero velocity [N m, N]
    :param slope: decrease of the torque per velocity at the end of the step
    """

    kp: FloatArray = floats('nv')
    kd: FloatArray = floats('nv')
    q: FloatArray = floats('nv')
    v: FloatArray = floats('nv')
    torque: FloatArray = floats('nv')
    segment: IntArray = integers('nv')
    rest_torque: FloatArray = floats('nv')
    slope: FloatArray = floats('nv')


class State(NamedTuple):
    """Positions, velocities, and all other inputs of the next step.

    :param packed: q, v and torque, concatenated, the inputs of forward dynamics; kernels of q,
        or of q and v, read its beginning
    :param q: configuration [rad, m]
    :param v: velocity [rad/s, m/s]
    :param torque: input of forward dynamics [N m, N]
    :param segment: segment of its law that each joint was on last (joint_law.py)
    :param normal_deformation: z of the surface at each contact point (contact/law.py) [m]
    :param tangent_deformation: x of the surface [m]
    :param touching: 1 where the robot touched the ground at the end of the last step
    :param counters: see STEPS ...
    :param servo: servos of the joints
    :param saturated: 1 where torque is saturated at the effort limit
    :param applied: torque after saturation [N m, N]
    :param start_q: configuration at the beginning of the last step [rad, m]
    :param start_v: velocity at its beginning [rad/s, m/s]
    :param acceleration: mean acceleration of the last step [rad/s^2, m/s^2]
    :param constraint_force: mean generalized force of friction, limits and contacts in the last
        substep [N m, N]
    :param loop_force: mean generalized force K^T lambda of the loops in the last substep [N m, N]
    :param loop_jacobian: K at its beginning
    """

    # Inputs of the next step.
    packed: FloatArray = view()
    q: FloatArray = floats('nq', within='packed')
    v: FloatArray = floats('nv', within='packed')
    torque: FloatArray = floats('nv', within='packed')
    segment: IntArray = integers('nv')
    normal_deformation: FloatArray = floats('points')
    tangent_deformation: FloatArray = floats('points', 2)
    touching: IntArray = integers('points')
    counters: IntArray = integers(COUNTERS)
    servo: Servo = nested(Servo)
    # Results of the last step for users, also after a snapshot is restored. The next step reads
    # the acceleration.
    saturated: IntArray = integers('nv')
    applied: FloatArray = floats('nv')
    start_q: FloatArray = floats('nq')
    start_v: FloatArray = floats('nv')
    acceleration: FloatArray = floats('nv')
    constraint_force: FloatArray = floats('nv')
    loop_force: FloatArray = floats('coupled')
    loop_jacobian: FloatArray = floats('constraints', 'coupled')


class ExternalForces(NamedTuple):
    """External forces on bodies, one in each row.

    :param moment: moment [N m]
    :param force: force [N]
    :param point: point of the body it acts at, in body coordinates [m]
    :param use: body; 1 if it acts at that point, 0 at the origin of the base; remaining steps,
        negative: forever, 0: none
    :param ramp: number of steps of its rise, and of its fall at the end; number of steps so far
    :param link: number of the link of the robot, -1 if it is not of the robot
    :param acted: number of the step in which it acted last, counted from 1
    :param wrench: moment and force in that step, about the origin of the base [N m, N]
    """

    moment: FloatArray = floats(MAX_FORCES, 3)
    force: FloatArray = floats(MAX_FORCES, 3)
    point: FloatArray = floats(MAX_FORCES, 3)
    use: IntArray = integers(MAX_FORCES, 3)
    ramp: IntArray = integers(MAX_FORCES, 2)
    # Results of the last step for users.
    link: IntArray = integers(MAX_FORCES)
    acted: IntArray = integers(MAX_FORCES)
    wrench: FloatArray = floats(MAX_FORCES, 6)


class GroundContactPoints(NamedTuple):
    """The contact points near the ground in the last substep: the first `NEAR` rows.

    :param point: their numbers among all contact points
    :param shape: the shapes they belong to
    :param position: position at the beginning of the substep [m]
    :param gap: their heights above the ground [m]
    :param force: force on the robot at each, along normal and tangents [N]
    """

    point: IntArray = integers('near')
    shape: IntArray = integers('near')
    position: FloatArray = floats('near', 3)
    gap: FloatArray = floats('near')
    force: FloatArray = floats('near', 3)
