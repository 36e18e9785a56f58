"""What the compiled stepping loop works on: robot, ground and state as plain arrays.

`Plant` never changes during a simulation; `Memory` holds the state and the room for intermediate
results. Both are tuples of arrays, so that numba sees ordinary arrays under readable names.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbd_ros.contact import ContactShapes

#: Order of the counters in `Memory.counters`.
(
    STEPS,
    SUBSTEPS,
    SATURATED,
    GUARDED,
    LIMITED,
    UNCONVERGED,
    DROPPED,
    CONTACTS,
    DEFORMED,
    WRENCHES,
    FOUND,
) = range(11)
COUNTER_COUNT = 11

#: Contact points treated at once; more are dropped and counted.
MAX_CONTACTS = 512

#: External wrenches acting at once.
MAX_WRENCHES = 64

#: Rotation of a joint in one step above which the step is divided into parts [rad].
TURN_PER_PART = 0.125

#: Largest number of parts of a step; the guard on speed keeps it lower for ordinary time steps.
MAX_PARTS = 1000


class Plant(NamedTuple):
    """Constants of a simulation.

    :param timestep: h [s]
    :param forward_dynamics: address of the kernel with implicit damping, h d on the diagonal
    :param smooth_dynamics: address of the kernel without damping, 0 if it is not needed
    :param mass_matrix: address of the kernel
    :param bias_force: address of the kernel
    :param contact_kinematics: address of the kernel
    :param integrate: address of the kernel
    :param runge_kutta: 1 for the integrator rk4, 0 for semi_implicit
    :param simple: 1 if positions and velocities simply add, so that the kernel integrate is not
        needed
    :param frictional: 1 if any joint has Coulomb friction
    :param stiff: 1 if the damping of any joint is too stiff for an explicit integrator at this
        time step
    :param position: position variable of each degree of freedom, -1 where there is not one, (nv,)
    :param lower: least position by degree of freedom, (nv,)
    :param upper: greatest position by degree of freedom, (nv,)
    :param friction: Coulomb friction, (nv,) [N m, N]
    :param damping: viscous damping, (nv,) [N m s/rad, N s/m]
    :param explicit_damping: the same where it is not stiff, 0 elsewhere, (nv,)
    :param effort: effort limits, (nv,) [N m, N]
    :param speed: guard on the speed, (nv,) [rad/s, m/s]
    :param turning: rotation of the fastest shaft per unit of each variable, (nv,)
    :param row_first: where the entries left of the diagonal of each row of H begin in `row_index`,
        (nv + 1,)
    :param row_index: their columns, in descending order, with those that the factorisation fills
        in
    :param parent: parent of each body, (N + 1,)
    :param dof_first: first degree of freedom of the tree of each body, (N + 2,)
    :param tree_index: independent degree of freedom behind each one of the tree, (tree_nv,)
    :param tree_ratio: transmission ratio of each degree of freedom of the tree, (tree_nv,)
    :param support_first: where the support of each body begins in `support`, (N + 2,)
    :param support: degrees of freedom of the tree that move each body, one body after another
    :param free_flyers: first q and first v of each floating joint on the base, (F, 2)
    :param free_gravity: gravity in the coordinates of those joints, (F, 3) [m/s^2]
    :param bracket_index: elements i, j, k of the terms c u_j v_k that make element i of the Lie
        bracket of two velocities u and v, (T, 3)
    :param bracket_value: the c of these terms, (T,)
    :param shapes: collision shapes
    :param plane: normal and tangents of the ground, (3, 3)
    :param offset: distance of the ground from the origin [m]
    :param contact: K_n, D_n, K_t, D_t, mu, (5,)
    """

    timestep: float
    forward_dynamics: int
    smooth_dynamics: int
    mass_matrix: int
    bias_force: int
    contact_kinematics: int
    integrate: int
    runge_kutta: int
    simple: int
    frictional: int
    stiff: int
    position: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    friction: np.ndarray
    damping: np.ndarray
    explicit_damping: np.ndarray
    effort: np.ndarray
    speed: np.ndarray
    turning: np.ndarray
    row_first: np.ndarray
    row_index: np.ndarray
    parent: np.ndarray
    dof_first: np.ndarray
    tree_index: np.ndarray
    tree_ratio: np.ndarray
    support_first: np.ndarray
    support: np.ndarray
    free_flyers: np.ndarray
    free_gravity: np.ndarray
    bracket_index: np.ndarray
    bracket_value: np.ndarray
    shapes: ContactShapes
    plane: np.ndarray
    offset: float
    contact: np.ndarray


class Memory(NamedTuple):
    """State of a simulation (what a snapshot keeps, up to `contact_force`), and work space.

    :param state: q, v and torque one after another, as kernels want them, (nq + 2 nv,)
    :param segment: on which part of its law each joint was found last (joint_law.py), (nv,)
    :param patch_z: normal displacement z of the surface patch at each contact point, (P,) [m]
    :param patch_x: tangent displacements x, (P, 2) [m]
    :param touching: 1 where the patch and the ground touched at the end of the last step, (P,)
    :param wrench_moment: moment of each external wrench, (W, 3) [N m]
    :param wrench_force: force of each external wrench, (W, 3) [N]
    :param wrench_point: point it acts at, in base or body coordinates, (W, 3) [m]
    :param wrench_use: body, 1 if the point moves with it, remaining steps (negative: for ever),
        (W, 3)
    :param counters: see STEPS ..., (11,)
    :param saturated: 1 where torque was cut at the effort limit, (nv,)
    :param applied: torque after saturation, (nv,)
    :param acceleration: mean acceleration of the last step, (nv,)
    :param constraint: mean generalized force of friction, limits and contacts in the last (part of
        a) step, (nv,)
    :param found_point: contact points near the ground, (C,)
    :param found_shape: their shapes, (C,)
    :param found_position: their positions, (C, 3) [m]
    :param gap: their heights above the ground, (C,) [m]
    :param contact_force: force on the robot at each, along normal and tangents, (C, 3) [N]
    :param jacobian: velocity of each along normal and tangents, per v, (C, 3, nv)
    :param intercept: linear forecast of the contact forces: at no velocity, (C, 3) [N]
    :param slope: linear forecast of the contact forces: per velocity of the point, (C, 3, 3) [N
        s/m]
    :param contact_impulse: generalized impulse of all contacts, (nv,)
    :param q: configuration; a part of `state`, (nq,)
    :param v: velocity; a part of `state`, (nv,)
    :param torque: input of forward dynamics; a part of `state`, (nv,)
    :param inertia: mass matrix with implicit damping, (nv, nv)
    :param factor: its factors, (nv, nv)
    :param system: matrix of a linear system, (nv, nv)
    :param momentum: right-hand side b of H v' = b + impulses, (nv,)
    :param low: least velocity, (nv,)
    :param high: greatest velocity, (nv,)
    :param next_q: q', (nq,)
    :param next_v: v', (nv,)
    :param impulse: generalized impulse of friction, limits and contacts, (nv,)
    :param found_segment: segments that the sweeps found, (nv,)
    :param found_v: velocity that the sweeps found, (nv,)
    :param bias: bias force, (nv,)
    :param drive: torque after saturation with the generalized force of external wrenches, (nv,)
    :param held_force: generalized force that is constant over a Runge-Kutta step, (nv,)
    :param kinematics: output of contact_kinematics
    :param poses: rotation row by row and position of each body; a part of `kinematics`, (N + 1,
        12)
    :param columns: motion columns of the tree in base coordinates; a part of `kinematics`,
        (tree_nv, 6)
    :param velocities: spatial velocities of the bodies, (N + 1, 6)
    :param wrenches: total external force on each body, (N + 1, 6)
    :param move: input of integrate, (nq + nv,)
    :param move_q: where from; a part of `move`, (nq,)
    :param move_v: displacement; a part of `move`, (nv,)
    :param mass: mass matrix, (nv, nv)
    :param mass_flat: the same memory as output of the kernel, (nv nv,)
    :param flight_spin: angular momentum of each free flyer at the end of the step (flight.py), (F,
        3)
    :param flight_push: linear momentum, (F, 3)
    :param flight_centre: centre of mass, (F, 3)
    :param product: slope of a contact times its Jacobian, (3, nv)
    :param solution: solution of a linear system, (nv,)
    :param stages: vectors of the Runge-Kutta method, (8, nv)
    :param response: velocities that a unit impulse of each joint and contact direction causes,
        (nv + 3 C, nv)
    :param swept_impulse: impulses of the joints that the sweeps found, (nv,)
    :param wanted: torque asked for, before saturation, (nv,)
    :param start_q: q at the beginning of a step, (nq,)
    :param start_v: v at the beginning of a step, (nv,)
    :param part_q: q at the beginning of a part of a step, (nq,)
    :param part_v: v at the beginning of a part of a step, (nv,)
    """

    state: np.ndarray
    segment: np.ndarray
    patch_z: np.ndarray
    patch_x: np.ndarray
    touching: np.ndarray
    wrench_moment: np.ndarray
    wrench_force: np.ndarray
    wrench_point: np.ndarray
    wrench_use: np.ndarray
    counters: np.ndarray
    saturated: np.ndarray
    applied: np.ndarray
    acceleration: np.ndarray
    constraint: np.ndarray
    found_point: np.ndarray
    found_shape: np.ndarray
    found_position: np.ndarray
    gap: np.ndarray
    contact_force: np.ndarray
    jacobian: np.ndarray
    intercept: np.ndarray
    slope: np.ndarray
    contact_impulse: np.ndarray
    q: np.ndarray
    v: np.ndarray
    torque: np.ndarray
    inertia: np.ndarray
    factor: np.ndarray
    system: np.ndarray
    momentum: np.ndarray
    low: np.ndarray
    high: np.ndarray
    next_q: np.ndarray
    next_v: np.ndarray
    impulse: np.ndarray
    found_segment: np.ndarray
    found_v: np.ndarray
    bias: np.ndarray
    drive: np.ndarray
    held_force: np.ndarray
    kinematics: np.ndarray
    poses: np.ndarray
    columns: np.ndarray
    velocities: np.ndarray
    wrenches: np.ndarray
    move: np.ndarray
    move_q: np.ndarray
    move_v: np.ndarray
    mass: np.ndarray
    mass_flat: np.ndarray
    flight_spin: np.ndarray
    flight_push: np.ndarray
    flight_centre: np.ndarray
    product: np.ndarray
    solution: np.ndarray
    stages: np.ndarray
    response: np.ndarray
    swept_impulse: np.ndarray
    wanted: np.ndarray
    start_q: np.ndarray
    start_v: np.ndarray
    part_q: np.ndarray
    part_v: np.ndarray


#: What a snapshot keeps of the memory.
PERSISTENT = Memory._fields[: Memory._fields.index('jacobian')]
