# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Constants of a simulation: the robot, its ground and the numerical choices, as plain arrays.

Variables are in simulation_state.py and workspace.py. Fields that are bools or functions are
compile-time constants.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.contact.detection import ContactShapes
from rbd_ros.simulation.scene.scene_state import SceneModel

#: Maximum speed of position corrections: joints outside their limits, open loops, overlapping
#: bodies. It holds for every joint, and for every point of an object. Velocities do not change, so
#: nothing is thrown [rad/s, m/s].
RETURN_SPEED = 0.5

#: Position error of a loop that is accepted if it cannot be reduced, as rounding in large
#: mechanisms [rad, m].
NEARLY_CLOSED = 1e-10

#: Rotation of a joint in one step above which the step is divided [rad]: during a step, the
#: directions of all axes beyond the joint are constant.
TURN_PER_SUBSTEP = 0.125

#: Maximum number of substeps, for bounded time; with usual time steps, the speed guard keeps the
#: number lower.
MAX_SUBSTEPS = 1000


class Tree(NamedTuple):
    """The kinematic tree, for Jacobians and for the sparsity of the mass matrix.

    :param parent: parent of each body, (N + 1,)
    :param dof_first: first degree of freedom of the tree of each body, (N + 2,)
    :param dof_index: independent degree of freedom behind each one of the tree, (tree_nv,)
    :param dof_ratio: transmission ratio of each degree of freedom of the tree, (tree_nv,)
    :param support_first: first index of the support of each body in `support`, (N + 2,)
    :param support: degrees of freedom of the tree that move each body, concatenated
    :param row_first: first index in `row_index` of the entries left of the diagonal of each row of
        H, (nv + 1,)
    :param row_index: their columns, in descending order, with the fill-in of the factorization
    :param path_first: first index of the path of each degree of freedom in `path`, (nv + 1,)
    :param path: each degree of freedom and those on its way to the base along rows of L, in
        descending order
    :param common_ancestor: first common degree of freedom of two paths, -1 if there is none,
        (nv, nv)
    :param leaf_dof: degree of freedom of each body whose path has all that move it, -1 if there is
        none, (N + 1,)
    """

    parent: IntArray
    dof_first: IntArray
    dof_index: IntArray
    dof_ratio: FloatArray
    support_first: IntArray
    support: IntArray
    row_first: IntArray
    row_index: IntArray
    path_first: IntArray
    path: IntArray
    common_ancestor: IntArray
    leaf_dof: IntArray


class Ground(NamedTuple):
    """The ground, and the shapes that touch it.

    :param shapes: collision shapes of the robot
    :param plane: normal and tangents of the ground, (3, 3)
    :param offset: distance of the ground from the origin [m]
    :param contact: K_n, D_n, K_t, D_t, mu, (5,)
    """

    shapes: ContactShapes
    plane: FloatArray
    offset: float
    contact: FloatArray


class SimulationModel(NamedTuple):
    """Constants of a simulation.

    :param has_ground: whether contact with the ground is possible
    :param has_robot: whether the robot has any joints
    :param has_scene: whether there is a world, with rigid contact (scene/scene_step.py)
    :param has_free_bases: whether there are free bases (free_base.py)
    :param has_external_forces: whether external forces may act
    :param has_loops: whether there are kinematic loops (loop_directions.py)
    :param has_springs: whether any joint has a spring
    :param has_servos: whether joints may have servos (joint_servo.py)
    :param is_flat: whether positions and velocities simply add, without the kernel integrate
    :param integrator_step: step of the integrator (integrator.py)
    :param frictional: 1 if any joint has Coulomb friction
    :param damped: 1 if any joint has damping or a spring
    :param stiff: 1 if the damping or the spring of any joint is too stiff for an explicit
        integrator at this time step
    :param timestep: h [s]
    :param dynamics: address of the kernel that the integrator declares; 0 with loops, which need
        the mass matrix itself
    :param mass_matrix: address of the kernel
    :param bias_force: address of the kernel
    :param contact_kinematics: address of the kernel
    :param integrate: address of the kernel
    :param loop_constraints: address of the kernel, 0 without loops
    :param loop_closure: address of the kernel, 0 without loops
    :param position: position variable of each degree of freedom, -1 if it has not exactly one,
        (nv,)
    :param period: change of position after which a joint is in the same place, 0 without a period,
        (nv,) [rad]
    :param period_rate: 1 / period, likewise, (nv,) [1/rad]
    :param lower: minimum position by degree of freedom, (nv,)
    :param upper: maximum position by degree of freedom, (nv,)
    :param friction: Coulomb friction, (nv,) [N m, N]
    :param damping: viscous damping, (nv,) [N m s/rad, N s/m]
    :param explicit_damping: the same for joints where it is not stiff, 0 elsewhere, (nv,)
    :param implicit_damping: of midpoint, the damping that acts on the velocity at the end of the
        step: half of it, or all of it if it is stiff, (nv,)
    :param stiffness: of springs, (nv,) [N m/rad, N/m]
    :param explicit_stiffness: the same for joints where it is not stiff, 0 elsewhere, (nv,)
    :param spring_rest: positions without deformation, (nv,) [rad, m]
    :param spring_lead: of midpoint, the part of the step after which a spring is evaluated: half
        of it, or all of it if the spring is stiff, (nv,)
    :param effort: effort limits, (nv,) [N m, N]
    :param speed: maximum speed, by the velocity limits and the guard on the speed, (nv,) [rad/s,
        m/s]
    :param return_speed: speed of position correction, `RETURN_SPEED` for the fastest joint of a
        variable, (nv,) [rad/s, m/s]
    :param turning: rotation of the fastest shaft per unit of each variable, (nv,)
    :param free_bases: for each free base, the first indices of its quaternion and position in q
        and of its velocity in v, (F, 3)
    :param free_gravity: gravity in the coordinates of their predecessor, (F, 3) [m/s^2]
    :param bracket_index: elements i, j, k of the terms c u_j v_k that make element i of the Lie
        bracket of two velocities u and v, (T, 3)
    :param bracket_value: the c of these terms, (T,)
    :param loop_first: first constraint of each loop, (loops + 1,)
    :param tree: the kinematic tree
    :param scene: the world
    """

    # Compile-time constants.
    has_robot: bool
    has_scene: bool
    has_ground: bool
    has_free_bases: bool
    has_external_forces: bool
    has_loops: bool
    has_springs: bool
    has_servos: bool
    is_flat: bool
    integrator_step: Callable[[Any], int]
    # Numbers, not bools: the same machine code for both values.
    frictional: int
    damped: int
    stiff: int
    timestep: float
    # Kernels of the robot, which compiled loops call by their addresses.
    dynamics: int
    mass_matrix: int
    bias_force: int
    contact_kinematics: int
    integrate: int
    loop_constraints: int
    loop_closure: int
    # By degree of freedom.
    position: IntArray
    period: FloatArray
    period_rate: FloatArray
    lower: FloatArray
    upper: FloatArray
    friction: FloatArray
    damping: FloatArray
    explicit_damping: FloatArray
    implicit_damping: FloatArray
    stiffness: FloatArray
    explicit_stiffness: FloatArray
    spring_rest: FloatArray
    spring_lead: FloatArray
    effort: FloatArray
    speed: FloatArray
    return_speed: FloatArray
    turning: FloatArray
    free_bases: IntArray
    free_gravity: FloatArray
    bracket_index: IntArray
    bracket_value: FloatArray
    loop_first: IntArray
    tree: Tree
    ground: Ground
    scene: SceneModel
