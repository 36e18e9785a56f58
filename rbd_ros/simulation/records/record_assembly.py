# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Assembly of the records of a simulation for a robot, a ground and numerical choices."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Set, Tuple

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.algorithms.inertia_matrix.singularity import singularity
from rbd_ros.array_types import BoolArray, FloatArray, IntArray
from rbd_ros.compiler.loops import allocate
from rbd_ros.contact import ContactParameters, ContactShapes, HalfSpace
from rbd_ros.model import Model
from rbd_ros.model.errors import SingularMassMatrixError
from rbd_ros.robot import Robot
from rbd_ros.robot.wraparound import Wraparound
from rbd_ros.simulation.integrators.integrator import (
    AT_END,
    IN_MIDDLE,
    Integrator,
    integrators,
    NONE,
)
from rbd_ros.simulation.records.simulation_model import (
    Ground,
    RETURN_SPEED,
    SimulationModel,
    Tree,
)
from rbd_ros.simulation.records.simulation_state import (
    ExternalForces,
    GroundContactPoints,
    MAX_CONTACTS,
    State,
)
from rbd_ros.simulation.records.workspace import Commands, PhysicsRecord, Workspace
from rbd_ros.simulation.scene.scene_assembly import scene_sizes
from rbd_ros.simulation.scene.scene_state import ContactState, Objects, SceneModel

#: Correction speed, as a fraction, of joints whose motions compose instead of adding.
COMPOSED = 0.9


def make_physics_record(model: SimulationModel, nq: int) -> PhysicsRecord:
    """Return the memory of a simulation, all zero.

    :param nq: number of position variables of the robot
    """
    nv, points = len(model.damping), len(model.ground.shapes.points)
    near = min(points, MAX_CONTACTS)
    sizes = {
        'nq': nq,
        'nv': nv,
        'points': points,
        'near': near,
        'bodies': len(model.tree.parent),
        'tree_nv': len(model.tree.dof_index),
        'free': len(model.free_bases),
        # Unit impulses in the sweeps: one per joint, three per contact.
        'rows': nv + 3 * near,
        'constraints': int(model.loop_first[-1]),
        'coupled': nv if model.has_loops else 0,
        **scene_sizes(model),
    }
    (buffers,) = {
        each.buffers for each in integrators().values() if each.step is model.integrator_step
    }
    work = allocate(Workspace, **sizes)
    return PhysicsRecord(
        model,
        allocate(Commands, **sizes),
        allocate(State, **sizes),
        allocate(ExternalForces, **sizes),
        allocate(GroundContactPoints, **sizes),
        work._replace(integrator=allocate(buffers, **sizes)),
        allocate(Objects, **sizes),
        allocate(ContactState, **sizes),
    )


def make_simulation_model(
    robot: Robot,
    timestep: float,
    ground: Optional[HalfSpace],
    contact: ContactParameters,
    shapes: ContactShapes,
    speed_limit: float,
    enforce_velocity_limits: bool,
    integrator: Integrator,
    scene: SceneModel,
    has_scene: bool,
) -> SimulationModel:
    """Return constants of a simulation, and addresses of the kernels that it calls.

    :param timestep: h [s]
    :param ground: the ground, None for none
    :param contact: parameters of soft contact
    :param shapes: collision shapes, none without contact
    :param speed_limit: guard on the speed of joints [rad/s or m/s]
    :param enforce_velocity_limits: whether the velocity limits of joints hold too
    :param scene: the world
    :param has_scene: whether there is one
    :raises SingularMassMatrixError: if joints move no mass
    """
    model = robot.model
    # A loop joint without constraints has no effect.
    has_loops = model.loop_constraints > 0
    if has_loops and (problem := singularity(model)):
        raise SingularMassMatrixError(problem)
    damping = np.array(robot.damping, dtype=float)
    stiffness = np.array(robot.stiffness, dtype=float)
    stiff = _is_stiff(robot, timestep * damping)
    stiff_spring = _is_stiff(robot, timestep**2 * stiffness)
    # The mean of both ends is more accurate, but rings where damping is stiff.
    implicit_damping = np.where(stiff, damping, 0.5 * damping)
    # Likewise for springs: k times the mean of the positions at both ends.
    spring_lead = np.where(stiff_spring, 1.0, 0.5)
    kernels = _dynamics_kernels(
        robot,
        integrator,
        _implicit_inertia(timestep, damping, stiffness),
        implicit_damping + timestep * spring_lead**2 * stiffness,
    )
    position, lower, upper, speed, turning = _by_degree_of_freedom(
        robot, speed_limit, enforce_velocity_limits
    )
    wraparound = Wraparound(robot.position_periods)
    free_bases, free_gravity = _free_bases(robot)
    bracket_index, bracket_value = _brackets(model)
    ground = ground or HalfSpace()  # records need a plane, though none is used
    return SimulationModel(
        has_robot=robot.nv > 0,
        has_scene=has_scene,
        has_ground=len(shapes.kind) > 0,
        has_free_bases=len(free_bases) > 0,
        has_external_forces=False,  # until the first one
        has_loops=has_loops,
        has_springs=bool(stiffness.any()),
        has_servos=False,  # until the first one
        is_flat=all(body.joint.is_flat for body in model.bodies),
        integrator_step=integrator.step,
        frictional=int(np.any(robot.friction)),
        damped=int(damping.any() or stiffness.any()),
        stiff=int(stiff.any() or stiff_spring.any()),
        timestep=float(timestep),
        **kernels,
        contact_kinematics=(
            _address(robot, 'contact_kinematics')
            if len(shapes.kind) or (has_scene and robot.nv)
            else 0
        ),
        # Its input is a displacement, h v: a velocity for unit time.
        integrate=_address(robot, 'integrate', dt=(1.0,)),
        loop_constraints=_address(robot, 'loop_constraints') if has_loops else 0,
        loop_closure=_address(robot, 'loop_closure') if has_loops else 0,
        position=position,
        period=wraparound.periods,
        period_rate=wraparound.rates,
        lower=lower,
        upper=upper,
        friction=np.array(robot.friction, dtype=float),
        damping=damping,
        explicit_damping=np.where(stiff, 0.0, damping),
        implicit_damping=implicit_damping,
        stiffness=stiffness,
        explicit_stiffness=np.where(stiff_spring, 0.0, stiffness),
        spring_rest=np.array(robot.spring_rest, dtype=float),
        spring_lead=spring_lead,
        effort=np.array(robot.effort_limits, dtype=float),
        speed=speed,
        return_speed=_return_speeds(robot),
        turning=turning,
        free_bases=free_bases,
        free_gravity=free_gravity,
        bracket_index=bracket_index,
        bracket_value=bracket_value,
        loop_first=_integers(np.cumsum([0] + [6 - loop.joint.nv for loop in model.loops])),
        tree=_tree(model),
        ground=Ground(shapes, ground.axes(), float(ground.offset), contact.array()),
        scene=scene,
    )


def _implicit_inertia(timestep: float, damping: FloatArray, stiffness: FloatArray) -> FloatArray:
    """Return the inertia that damping and springs add to each joint, (nv,).

    Damping acts at the velocity of the end, d (v + h a), springs at the position there. The part
    with a belongs to the inertia, so a step is stable for any d.
    """
    return np.array(timestep * damping + timestep**2 * stiffness)


def _dynamics_kernels(
    robot: Robot, integrator: Integrator, ends: FloatArray, middle: FloatArray
) -> Dict[str, int]:
    """Return addresses of kernels that depend on the inertias, by fields of `SimulationModel`.

    :param ends: inertia of damping and springs that act at the end, (nv,)
    :param middle: likewise in the middle of a step, (nv,)
    """
    added = {NONE: np.zeros(robot.nv), AT_END: ends, IN_MIDDLE: middle}[integrator.inertia]
    options = {'diagonal': tuple(added.tolist())} if added.any() else {}
    has_loops = robot.model.loop_constraints > 0
    return {
        'dynamics': 0 if has_loops else _address(robot, integrator.kernel, **options),
        'mass_matrix': _address(robot, 'mass_matrix'),
        'bias_force': _address(robot, 'bias_force'),
    }


def dynamics_of(model: SimulationModel, robot: Robot, integrator: Integrator) -> Dict[str, int]:
    """Return kernels of a robot with other inertias, by fields of `SimulationModel`.

    :param model: the simulation
    :param robot: its robot with other inertias, else the same
    :param integrator: that of the simulation
    """
    h = model.timestep
    middle = model.implicit_damping + h * model.spring_lead**2 * model.stiffness
    ends = _implicit_inertia(h, model.damping, model.stiffness)
    return _dynamics_kernels(robot, integrator, ends, middle)


def with_external_forces(model: SimulationModel, robot: Robot) -> SimulationModel:
    """Return the same constants for a simulation in which external forces may act.

    Most simulations have none, and are compiled without that code.
    """
    address = _address(robot, 'contact_kinematics')
    return model._replace(has_external_forces=True, contact_kinematics=address)


def _tree(model: Model) -> Tree:
    # Lists of different lengths, concatenated, with their first indices: compiled loops have only
    # arrays.
    supports = [model.support_dofs(i) if i else () for i in range(len(model.bodies) + 1)]
    row_first, row_index = _sparsity(model)
    return Tree(
        parent=_integers([0] + [body.parent for body in model.bodies]),
        # The base has none: its own and those of the first body begin at 0.
        dof_first=_integers([0, 0] + [body.v.stop for body in model.bodies]),
        dof_index=_integers(model.tree_dof_index),
        dof_ratio=np.array(model.tree_dof_ratio, dtype=float),
        support_first=_integers(np.concatenate([[0], np.cumsum([len(x) for x in supports])])),
        support=_integers([k for x in supports for k in x]),
        row_first=row_first,
        row_index=row_index,
        **_paths(model, row_first, row_index),
    )


def _paths(model: Model, row_first: IntArray, row_index: IntArray) -> Dict[str, IntArray]:
    """Return the paths of impulses through L in the elimination tree of H; see `Tree`."""
    paths: List[List[int]] = []
    for k in range(model.nv):
        # Rows are in descending order: the first is the next on the way.
        onward = row_index[row_first[k] : row_first[k + 1]][:1]
        paths.append([k, *(paths[onward[0]] if len(onward) else [])])
    on_path = np.zeros((model.nv, model.nv), dtype=bool)
    for k, path in enumerate(paths):
        on_path[k, path] = True
    # Two paths to the base are equal from where they meet, their largest common element.
    numbers = np.where(on_path, np.arange(model.nv), -1)
    common = np.array(
        [np.where(on_path[k], numbers, -1).max(axis=1, initial=-1) for k in range(model.nv)],
        dtype=np.int64,
    ).reshape(model.nv, model.nv)
    leaves = [-1]
    for i in range(1, len(model.bodies) + 1):
        moving = sorted({model.tree_dof_index[k] for k in model.support_dofs(i)})
        alone = bool(moving) and set(moving) <= set(paths[moving[-1]])
        # Loops connect branches of the tree.
        leaves.append(moving[-1] if alone and not model.loops else -1)
    return {
        'path_first': _integers(np.concatenate([[0], np.cumsum([len(x) for x in paths])])),
        'path': _integers([k for x in paths for k in x]),
        'common_ancestor': common,
        'leaf_dof': _integers(leaves),
    }


def _integers(values: ArrayLike) -> IntArray:
    return np.array(values, dtype=np.int64)


def _address(robot: Robot, name: str, **options: Any) -> int:
    return int(robot.kernel(name, **options).address)


def _by_degree_of_freedom(
    robot: Robot, speed_limit: float, enforce_velocity_limits: bool
) -> Tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return position variable, limits, maximum speed and rotation, of each degree of freedom."""
    model, nv = robot.model, robot.nv
    # Only joints with one variable have limits.
    position = np.full(nv, -1, dtype=np.int64)
    lower, upper = np.full(nv, -np.inf), np.full(nv, np.inf)
    speed, turning = np.full(nv, float(speed_limit)), np.zeros(nv)
    for i, (at_q, at_v) in model.independent_slices.items():
        joint = model.body(i).joint
        if joint.nv == 1:
            position[at_v] = at_q.start
            lower[at_v], upper[at_v] = robot.lower_limits[at_q], robot.upper_limits[at_q]
            limit = float(robot.velocity_limits[at_v][0])
            # A limit of 0 means unknown.
            if enforce_velocity_limits and limit > 0.0:
                speed[at_v] = min(limit, speed_limit)
    # Whether a variable rotates or slides is the same everywhere, though S may depend on q.
    neutral = model.tree_position(robot.neutral().tolist())
    for _, body in model.outward():
        S = body.joint.motion_subspace(neutral[body.q])
        for k, column in zip(range(model.tree_nv)[body.v], S.columns):
            i, rotates = model.tree_dof_index[k], any(column.angular)
            # The fastest of several shafts counts.
            turning[i] = max(turning[i], abs(model.tree_dof_ratio[k]) * rotates)
            if body.joint.nv > 1 and not rotates:
                speed[i] = np.inf  # a robot may travel at any speed
    return position, lower, upper, speed, turning


def _return_speeds(robot: Robot) -> FloatArray:
    """Return speeds at which positions are corrected; see `SimulationModel`."""
    model, fastest = robot.model, np.ones(robot.nv)
    # Joints that mimic another one may be faster.
    for i, ratio in zip(model.tree_dof_index, model.tree_dof_ratio):
        fastest[i] = max(fastest[i], abs(ratio))
    for i, (_, at_v) in model.independent_slices.items():
        if not model.body(i).joint.is_flat:
            fastest[at_v] /= COMPOSED
    return np.array(RETURN_SPEED / fastest)


def _sparsity(model: Model) -> Tuple[IntArray, IntArray]:
    """Return the nonzero entries of L in H = L^T D L, with those of gears (book 6.3, 6.5)."""
    rows: List[Set[int]] = [set() for _ in range(model.nv)]
    # H couples the degrees of freedom that move one body; below the diagonal is enough.
    for i, _ in model.outward():
        moving = {model.tree_dof_index[k] for k in model.support_dofs(i)}
        for k in moving:
            rows[k].update(j for j in moving if j < k)
    # Gears couple branches: the factorization fills in entries that H does not have.
    for k in reversed(range(model.nv)):
        for i in rows[k]:
            rows[i].update(j for j in rows[k] if j < i)
    ordered = [sorted(row, reverse=True) for row in rows]
    first = np.concatenate([[0], np.cumsum([len(row) for row in ordered])])
    return _integers(first), _integers([j for row in ordered for j in row])


def _is_stiff(robot: Robot, diagonal: FloatArray) -> BoolArray:
    """Return whether h d / (inertia of a joint) exceeds 1 in a few configurations, (nv,).

    There the classical Runge-Kutta method is stable up to 2.78, and accurate to 1 % of the
    velocity up to 1. Likewise for the square h^2 k / inertia, where it is stable up to 7.9.

    :param diagonal: h d or h^2 k, (nv,)
    """
    stiff = np.zeros(robot.nv, dtype=bool)
    if not diagonal.any():
        return stiff
    rng = np.random.default_rng(0)  # reproducible
    for q in [robot.neutral()] + [robot.random_configuration(rng) for _ in range(8)]:
        try:
            # With all other joints free, the inertia of a joint is minimal.
            mobility = np.diag(np.linalg.inv(robot.mass_matrix(q)))
        except np.linalg.LinAlgError:  # no inertia: any damping is stiff
            return diagonal > 0.0
        # Negated, so that NaN counts as stiff.
        stiff |= ~(diagonal * mobility <= 1.0) & (diagonal > 0.0)
    return stiff


def _free_bases(robot: Robot) -> Tuple[IntArray, FloatArray]:
    """Return joints on the base whose pose is free (free_base.py), and gravity in their frames."""
    model = robot.model
    bases, gravity = [], []
    for i, (at_q, at_v) in model.independent_slices.items():
        body = model.body(i)
        pose = body.joint.pose_variables()
        # The momentum of rotors (armature) cannot be separated in the mass matrix.
        # A loop that is closed by the world holds the base.
        held = any(
            (i in model.support(loop.predecessor.body))
            != (i in model.support(loop.successor.body))
            for loop in model.loops
        )
        if pose is not None and body.parent == 0 and body.armature == 0.0 and not held:
            bases.append([at_q.start + first for first in pose] + [at_v.start])
            gravity.append(np.array(body.tree_transform.E) @ robot.gravity)
    return _integers(bases).reshape(-1, 3), np.array(gravity, dtype=float).reshape(-1, 3)


def _brackets(model: Model) -> Tuple[IntArray, FloatArray]:
    """Lie bracket of velocities as terms c u_j v_k of its element i: the (i, j, k) and the c."""
    index, value = [], []
    for i, (_, at_v) in model.independent_slices.items():
        joint, units = model.body(i).joint, np.eye(model.body(i).joint.nv)
        # The bracket is bilinear: unit velocities give its coefficients.
        for j, u in enumerate(units):
            for k, v in enumerate(units):
                product = np.array(joint.bracket(u.tolist(), v.tolist()), dtype=float)
                for row in np.flatnonzero(product):
                    index.append([at_v.start + row, at_v.start + j, at_v.start + k])
                    value.append(product[row])
    return _integers(index).reshape(-1, 3), np.array(value, dtype=float)
