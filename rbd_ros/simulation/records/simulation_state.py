# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""State of a simulation at one instant: all of this is in a snapshot, and nothing else.

The sizes in the declarations are nq and nv of the robot, the number of its contact `points`, and
of those that can be `near` the ground at once; of `constraints` of the loops; `coupled` is nv if
there are loops, else 0.
"""

from __future__ import annotations

from typing import NamedTuple

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.compiler.loops import floats, integers, nested, view

#: Places of the counters in `State.counters`. Those after CONTACTS are for the loops themselves:
#: how many points have a deformed surface, how many forces act from outside, how many are near,
#: whether the last step was not divided by inertia (step_division.py).
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

#: Answer of `stepping.advance` to commands that are not finite.
REJECTED = -1

#: Answer of `Steps.alone` if the mutex has to be asked for, or the torque to be converted.
BUSY = -2

#: Maximum number of contact points in a step; more are dropped and counted. Memory for the
#: solver's response grows with it times the degrees of freedom.
MAX_CONTACTS = 512

#: Maximum number of external forces that act at once.
MAX_FORCES = 64


class Servo(NamedTuple):
    """Servos of the joints (joint_servo.py); without gains there is none.

    :param kp: gain of the position [N m/rad, N/m]
    :param kd: gain of the velocity [N m s/rad, N s/m]
    :param q: desired position [rad, m]
    :param v: desired velocity [rad/s, m/s]
    :param torque: feed-forward [N m, N]
    :param segment: on which segment of its law each servo was found last
    :param rest_torque: torque that the servo would have if the velocity became zero [N m, N]
    :param slope: by how much the velocity at the end of the step lessens it
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
    """Positions, velocities, and all else that the next step depends on.

    :param packed: q, v and torque one after another, the inputs of forward dynamics; kernels of q,
        or of q and v, read its beginning
    :param q: configuration [rad, m]
    :param v: velocity [rad/s, m/s]
    :param torque: input of forward dynamics [N m, N]
    :param segment: on which segment of its law each joint was found last (joint_law.py)
    :param normal_deformation: z of the surface at each contact point (contact/law.py) [m]
    :param tangent_deformation: x of the surface [m]
    :param touching: 1 where the robot touched the ground at the end of the last step
    :param counters: see STEPS ...
    :param servo: servos of the joints
    :param saturated: 1 where torque was cut at the effort limit
    :param applied: torque after saturation [N m, N]
    :param start_q: configuration at the beginning of the last step [rad, m]
    :param start_v: velocity at its beginning [rad/s, m/s]
    :param acceleration: mean acceleration of the last step [rad/s^2, m/s^2]
    :param constraint_force: mean generalized force of friction, limits and contacts in the last
        substep [N m, N]
    :param loop_force: mean generalized force K^T lambda of the loops in the last substep [N m, N]
    :param loop_jacobian: K at its beginning
    """

    # What the next step begins with.
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
    # Facts about the last step for its users, also after a snapshot is restored. The next
    # step itself asks for the acceleration.
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
        negative: for ever, 0: none
    :param ramp: steps in which it rises, and falls at its end; steps that it has acted
    :param link: number of the link among those of the robot, -1 if it is not of the robot
    :param acted: number of the step in which it acted last, counted from 1
    :param wrench: moment and force then, about the origin of the base [N m, N]
    """

    moment: FloatArray = floats(MAX_FORCES, 3)
    force: FloatArray = floats(MAX_FORCES, 3)
    point: FloatArray = floats(MAX_FORCES, 3)
    use: IntArray = integers(MAX_FORCES, 3)
    ramp: IntArray = integers(MAX_FORCES, 2)
    # Facts about the last step for its users.
    link: IntArray = integers(MAX_FORCES)
    acted: IntArray = integers(MAX_FORCES)
    wrench: FloatArray = floats(MAX_FORCES, 6)


class GroundContactPoints(NamedTuple):
    """The contact points near the ground in the last substep: the first `NEAR` rows.

    :param point: their numbers among all contact points
    :param shape: the shapes they belong to
    :param position: where they were at the beginning [m]
    :param gap: their heights above the ground [m]
    :param force: force on the robot at each, along normal and tangents [N]
    """

    point: IntArray = integers('near')
    shape: IntArray = integers('near')
    position: FloatArray = floats('near', 3)
    gap: FloatArray = floats('near')
    force: FloatArray = floats('near', 3)
