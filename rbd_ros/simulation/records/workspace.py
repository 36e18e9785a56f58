# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Buffers for intermediate results of a step. Nothing here outlives the step that wrote it.

Besides the sizes of simulation_state.py: `bodies` of the robot with its base, `tree_nv` DoFs of
its kinematic tree, `free` bases, `constraints` of the loops; `coupled` is nv if there are loops,
else 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.compiler.loops import floats, integers, nested, view
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import (
    COUNTERS,
    ExternalForces,
    GroundContactPoints,
    State,
)
from rbd_ros.simulation.scene.scene_state import ContactState, Objects, SceneWork


class Dynamics(NamedTuple):
    """Results of the robot's kernels in the present state, and the forces on it.

    :param bias: bias force [N m, N]
    :param acceleration: forward dynamics [rad/s^2, m/s^2]
    :param mass: mass matrix
    :param kinematics: outputs of the kernel contact_kinematics, concatenated
    :param poses: part of it: rotation row by row and position of each body
    :param columns: part of it: motion columns of the tree in base coordinates
    :param velocities: spatial velocities of the bodies in base coordinates [rad/s, m/s]
    :param body_forces: total external force on each body [N m, N]
    :param applied_force: torque after saturation, and the generalized force of external forces
        [N m, N]
    """

    bias: FloatArray = floats('nv')
    acceleration: FloatArray = floats('nv')
    mass: FloatArray = floats('nv', 'nv')
    # Both outputs of one kernel, in its order.
    kinematics: FloatArray = view()
    poses: FloatArray = floats('bodies', 12, within='kinematics')
    columns: FloatArray = floats('tree_nv', 6, within='kinematics')
    velocities: FloatArray = floats('bodies', 6)
    body_forces: FloatArray = floats('bodies', 6)
    applied_force: FloatArray = floats('nv')


class Loops(NamedTuple):
    """The constraints of kinematic loops (loop_directions.py); empty without loops.

    `held` are the rows of held joints, in `basis`. `counts` are the rank of the constraints,
    number of held joints, rank of their rows, whether any joint is fixed.

    :param found: outputs of the kernel loop_constraints, concatenated
    :param delta: part of it: position errors [rad, m]
    :param velocity: part of it: velocity errors K v [rad/s, m/s]
    :param jacobian: part of it: K
    :param bias: part of it: the k of K a = k [rad/s^2, m/s^2]
    :param closure: outputs of the kernel loop_closure, concatenated
    :param residual: part of it: position errors [rad, m]
    :param closure_jacobian: part of it: K
    :param factor: factors of the mass matrix
    :param rows: K in units in which kinetic energy is a length; then its triangular factor
    :param reflectors: unit vectors of the Householder reflections
    :param reference: scale of each row
    :param order: row of K of each row
    :param basis: velocities with closed loops, orthonormal under the mass matrix
    :param held_rows: velocity of held joints per element of `basis`; then its factor
    :param held_reflectors: unit vectors of its reflections
    :param held_reference: scale of each of its rows
    :param held_order: number of the held joint of each row
    :param held_joint: degree of freedom of each held joint
    :param motions: `basis` rotated so that the first ones move the held joints, the others do not
    :param coefficients: velocity in terms of `motions`
    :param system: matrix of a linear system in them
    :param fixed: 1 for joints that a correction must not move
    :param error: errors that a correction is to remove, by row of K
    :param correction: buffer for a velocity or displacement
    :param spare: another one
    :param counts: see above
    """

    found: FloatArray = view()
    delta: FloatArray = floats('constraints', within='found')
    velocity: FloatArray = floats('constraints', within='found')
    jacobian: FloatArray = floats('constraints', 'nv', within='found')
    bias: FloatArray = floats('constraints', within='found')
    closure: FloatArray = view()
    residual: FloatArray = floats('constraints', within='closure')
    closure_jacobian: FloatArray = floats('constraints', 'nv', within='closure')
    factor: FloatArray = floats('coupled', 'coupled')
    rows: FloatArray = floats('constraints', 'coupled')
    reflectors: FloatArray = floats('constraints', 'coupled')
    reference: FloatArray = floats('constraints')
    order: IntArray = integers('constraints')
    basis: FloatArray = floats('coupled', 'coupled')
    held_rows: FloatArray = floats('coupled', 'coupled')
    held_reflectors: FloatArray = floats('coupled', 'coupled')
    held_reference: FloatArray = floats('coupled')
    held_order: IntArray = integers('coupled')
    held_joint: IntArray = integers('coupled')
    motions: FloatArray = floats('coupled', 'coupled')
    coefficients: FloatArray = floats('coupled')
    system: FloatArray = floats('coupled', 'coupled')
    fixed: IntArray = integers('coupled')
    error: FloatArray = floats('constraints')
    correction: FloatArray = floats('coupled')
    spare: FloatArray = floats('coupled')
    counts: IntArray = integers(4)


class Problem(NamedTuple):
    """The equation for the velocity at the end of a step (solver.py).

    :param inertia: mass matrix with implicit damping H
    :param momentum: right-hand side b
    :param low: minimum velocity
    :param high: maximum velocity
    :param jacobian: velocity of each contact point along normal and tangents, per v
    :param intercept: linearized contact forces: at zero velocity [N]
    :param slope: linearized contact forces: per velocity of the point [N s/m]
    :param impulse: generalized impulse of friction, limits and contacts
    :param contact_impulse: generalized impulse of all contacts
    :param system: matrix of a linear system
    :param solution: right-hand side of a linear system, and its solution
    :param product: slope of a contact times its Jacobian
    :param factor: factors of H
    :param response: velocities per unit impulse of each joint, then of each contact along
        normal and tangents
    :param swept_impulse: impulses of the joints in the sweeps
    :param swept_velocity: velocity in the sweeps
    :param swept_segment: segments in the sweeps
    :param loops: constraints of kinematic loops
    """

    # The equation H v' = b + h J^T f + p.
    inertia: FloatArray = floats('nv', 'nv')
    momentum: FloatArray = floats('nv')
    low: FloatArray = floats('nv')
    high: FloatArray = floats('nv')
    jacobian: FloatArray = floats('near', 3, 'nv')
    intercept: FloatArray = floats('near', 3)
    slope: FloatArray = floats('near', 3, 3)
    impulse: FloatArray = floats('nv')
    contact_impulse: FloatArray = floats('nv')
    # The linear system of a Newton step: a copy, as the next step needs H.
    system: FloatArray = floats('nv', 'nv')
    solution: FloatArray = floats('nv')
    product: FloatArray = floats(3, 'nv')
    # The sweeps. Few steps need them, but memory is allocated once.
    factor: FloatArray = floats('nv', 'nv')
    response: FloatArray = floats('rows', 'nv')
    swept_impulse: FloatArray = floats('nv')
    swept_velocity: FloatArray = floats('nv')
    swept_segment: IntArray = integers('nv')
    loops: Loops = nested(Loops)


class Motion(NamedTuple):
    """Motion from the state at the beginning of a step to its end.

    :param next_q: q at the end of a substep
    :param next_v: v at the end of a substep
    :param packed: inputs of the kernel integrate, concatenated
    :param from_q: part of it: initial configuration
    :param displacement: part of it: the displacement, in velocity variables
    :param followed_q: with loops, configuration before the position correction
    :param kept_q: q before a correction that may be undone
    """

    next_q: FloatArray = floats('nq')
    next_v: FloatArray = floats('nv')
    # One memory, so the kernel needs no copy of its two inputs.
    packed: FloatArray = view()
    from_q: FloatArray = floats('nq', within='packed')
    displacement: FloatArray = floats('nv', within='packed')
    followed_q: FloatArray = floats('nq')
    kept_q: FloatArray = floats('nq')


class FreeBases(NamedTuple):
    """Momentum of each free base at the end of a step (free_base.py).

    :param angular_momentum: about the center of mass, in predecessor coordinates [N m s]
    :param linear_momentum: in predecessor coordinates [N s]
    :param center_of_mass: in predecessor coordinates [m]
    :param held: 1 for a base that the world has stopped, whose momentum is not conserved
    """

    angular_momentum: FloatArray = floats('free', 3)
    linear_momentum: FloatArray = floats('free', 3)
    center_of_mass: FloatArray = floats('free', 3)
    held: IntArray = integers('free')


class NoBuffers(NamedTuple):
    """Buffers of an integrator without own buffers."""


class Before(NamedTuple):
    """A state in a substep in a world, for repeating the substep.

    `before` is the beginning (scene/servo.py), `before_contact` the state without `q` before
    contacts change it (scene/speculative_contacts.py).

    :param q: configuration
    :param v: velocity
    :param objects: state of the objects
    """

    q: FloatArray = floats('nq')
    v: FloatArray = floats('nv')
    counters: IntArray = integers(COUNTERS)
    objects: FloatArray = floats('objects', 13)


class Workspace(NamedTuple):
    """All intermediate results of a step, by purpose.

    :param integrator: buffers of the integrator, of the class that it declares
    """

    dynamics: Dynamics = nested(Dynamics)
    problem: Problem = nested(Problem)
    motion: Motion = nested(Motion)
    free_bases: FreeBases = nested(FreeBases)
    integrator: Any = nested(NoBuffers)
    scene: SceneWork = nested(SceneWork)
    before: Before = nested(Before)
    before_contact: Before = nested(Before)


class Commands(NamedTuple):
    """Commands of the robot.

    :param torque: before saturation [N m, N]
    """

    torque: FloatArray = floats('nv')


class PhysicsRecord(NamedTuple):
    """All records of a compiled step loop, by one address."""

    model: SimulationModel
    commands: Commands
    state: State
    external_forces: ExternalForces
    contacts: GroundContactPoints
    work: Workspace
    objects: Objects
    contact_state: ContactState


class Access(NamedTuple):
    """Data of steps that begin without acquiring the mutex.

    :param advance: address of the loop that takes steps
    :param held: how often the mutex is held, (1,)
    """

    advance: int
    held: IntArray


class Substep(NamedTuple):
    """A step without a world, or a part of one: a value that functions pass on.

    :param near: number of contact points near the ground
    :param h: its length [s]
    """

    model: SimulationModel
    state: State
    external_forces: ExternalForces
    contacts: GroundContactPoints
    work: Workspace
    near: int
    h: float
