"""Room for intermediate results of a step. Nothing here outlives the step that wrote it.

Besides the sizes of state.py: `bodies` of the robot with its base, `freedoms` of its kinematic
tree, `free` bases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbd_ros.compiler.loops import buffer, floats, integers
from rbd_ros.simulation.plant import Plant
from rbd_ros.simulation.state import Contacts, ExternalForces, State


class Dynamics(NamedTuple):
    """What the robot's kernels say about the present state, and the forces that act on it.

    :param bias: bias force [N m, N]
    :param acceleration: forward dynamics [rad/s^2, m/s^2]
    :param mass: mass matrix
    :param kinematics: output of the kernel contact_kinematics
    :param poses: of it, rotation row by row and position of each body
    :param columns: of it, motion columns of the tree in base coordinates
    :param velocities: spatial velocities of the bodies in base coordinates [rad/s, m/s]
    :param body_forces: total external force on each body [N m, N]
    :param drive: torque after saturation with the generalized force of external forces [N m, N]
    """

    bias: np.ndarray = floats('nv')
    acceleration: np.ndarray = floats('nv')
    mass: np.ndarray = floats('nv', 'nv')
    kinematics: np.ndarray = buffer()
    poses: np.ndarray = floats('bodies', 12, within='kinematics')
    columns: np.ndarray = floats('freedoms', 6, within='kinematics')
    velocities: np.ndarray = floats('bodies', 6)
    body_forces: np.ndarray = floats('bodies', 6)
    drive: np.ndarray = floats('nv')


class Problem(NamedTuple):
    """The equation for the velocity at the end of a step (solver.py).

    :param inertia: mass matrix with implicit damping H
    :param momentum: right-hand side b
    :param low: minimum velocity
    :param high: maximum velocity
    :param jacobian: velocity of each contact point along normal and tangents, per v
    :param intercept: linear forecast of the contact forces: at no velocity [N]
    :param slope: linear forecast of the contact forces: per velocity of the point [N s/m]
    :param impulse: generalized impulse of friction, limits and contacts
    :param contact_impulse: generalized impulse of all contacts
    :param system: matrix of a linear system
    :param solution: right-hand side of a linear system, and its solution
    :param product: slope of a contact times its Jacobian
    :param factor: factors of H
    :param response: velocities that a unit impulse of each joint, then of each contact along
        normal and tangents, causes
    :param swept_impulse: impulses of the joints that the sweeps found
    :param swept_velocity: velocity that the sweeps found
    :param swept_segment: segments that the sweeps found
    """

    inertia: np.ndarray = floats('nv', 'nv')
    momentum: np.ndarray = floats('nv')
    low: np.ndarray = floats('nv')
    high: np.ndarray = floats('nv')
    jacobian: np.ndarray = floats('near', 3, 'nv')
    intercept: np.ndarray = floats('near', 3)
    slope: np.ndarray = floats('near', 3, 3)
    impulse: np.ndarray = floats('nv')
    contact_impulse: np.ndarray = floats('nv')
    system: np.ndarray = floats('nv', 'nv')
    solution: np.ndarray = floats('nv')
    product: np.ndarray = floats(3, 'nv')
    factor: np.ndarray = floats('nv', 'nv')
    response: np.ndarray = floats('rows', 'nv')
    swept_impulse: np.ndarray = floats('nv')
    swept_velocity: np.ndarray = floats('nv')
    swept_segment: np.ndarray = integers('nv')


class Motion(NamedTuple):
    """From the state at the beginning of a step to the one at its end.

    :param start_q: q at the beginning of the step
    :param start_v: v at the beginning of the step
    :param next_q: q at the end of a part of the step
    :param next_v: v at the end of a part of the step
    :param packed: input of the kernel integrate
    :param from_q: of it, where from
    :param displacement: of it, the displacement, in velocity variables
    """

    start_q: np.ndarray = floats('nq')
    start_v: np.ndarray = floats('nv')
    next_q: np.ndarray = floats('nq')
    next_v: np.ndarray = floats('nv')
    packed: np.ndarray = buffer()
    from_q: np.ndarray = floats('nq', within='packed')
    displacement: np.ndarray = floats('nv', within='packed')


class FreeBases(NamedTuple):
    """Where the momentum of each free base is to be at the end of a step (free_base.py).

    :param angular_momentum: about the centre of mass, in predecessor coordinates [N m s]
    :param linear_momentum: in predecessor coordinates [N s]
    :param centre_of_mass: in predecessor coordinates [m]
    """

    angular_momentum: np.ndarray = floats('free', 3)
    linear_momentum: np.ndarray = floats('free', 3)
    centre_of_mass: np.ndarray = floats('free', 3)


class Stages(NamedTuple):
    """The Runge-Kutta method (runge_kutta.py).

    :param q: q at the beginning of a part of the step
    :param v: v at the beginning of a part of the step
    :param held_force: generalized force that is constant over the part [N m, N]
    :param implicit_v: velocity at its end that the implicit solve found
    :param displacement: u at a stage
    :param rate: du/dt at a stage
    :param acceleration: dv/dt at a stage
    :param total_rate: weighted sum of `rate` over the stages
    :param total_acceleration: weighted sum of `acceleration`
    :param first_bracket: [u, v]
    :param second_bracket: [u, [u, v]]
    """

    q: np.ndarray = floats('nq')
    v: np.ndarray = floats('nv')
    held_force: np.ndarray = floats('nv')
    implicit_v: np.ndarray = floats('nv')
    displacement: np.ndarray = floats('nv')
    rate: np.ndarray = floats('nv')
    acceleration: np.ndarray = floats('nv')
    total_rate: np.ndarray = floats('nv')
    total_acceleration: np.ndarray = floats('nv')
    first_bracket: np.ndarray = floats('nv')
    second_bracket: np.ndarray = floats('nv')


class Workspace(NamedTuple):
    """All of it, by what it is for."""

    dynamics: Dynamics = Dynamics
    problem: Problem = Problem
    motion: Motion = Motion
    free_bases: FreeBases = FreeBases
    stages: Stages = Stages


class Commands(NamedTuple):
    """What is asked of the robot.

    :param torque: before saturation [N m, N]
    """

    torque: np.ndarray = floats('nv')


class WorldRecord(NamedTuple):
    """All that a compiled loop needs to take steps, by one address."""

    plant: Plant
    commands: Commands
    state: State
    external_forces: ExternalForces
    contacts: Contacts
    work: Workspace
