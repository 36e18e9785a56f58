# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Forces that joints transmit in a step, for several kinds of sensors.

The Newton-Euler algorithm (book 5.3) gives the forces for the mean acceleration of the step, at
its beginning or, for integrators with forces in the middle, there. Contact and external forces on
the links beyond a joint are subtracted.
"""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Optional, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.collision.scene.scene import Scene
from rbd_ros.collision.scene.scene_arrays import shapes_of
from rbd_ros.collision.scene.scene_bounds import compose
from rbd_ros.compiler.loops import (
    allocate,
    call_kernel,
    compiled,
    cross,
    entry_point,
    floats,
    load_transform,
    load_vec,
    Record,
    Transform,
    Vec3,
    view,
)
from rbd_ros.robot import Robot
from rbd_ros.simulation.integrators.integrator import integrators
from rbd_ros.simulation.physics import Physics
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import NEAR, State, STEPS
from rbd_ros.simulation.records.workspace import PhysicsRecord
from rbd_ros.simulation.scene.scene_state import NOW
from rbd_ros.simulation.sensors.sensor_places import (
    check_no_loops,
    Cut,
    cut_model,
    integers,
    poses,
)
from rbd_ros.simulation.stepping.linear import add_scaled, clear, copy
from rbd_ros.simulation.stepping.rotations import load_matrix
from rbd_ros.world.world import ROBOT


class CutPlaces(NamedTuple):
    """Constants of the joints whose transmitted force is computed.

    Poses are rotation row by row and position.

    :param midpoint: whether the step takes its forces in the middle
    :param kinematics: address of the kernel contact_kinematics
    :param reactions: address of the kernel joint_reactions of the cut model
    :param cut_body: body of the cut model beyond each joint, (G,)
    :param body: body of the robot that includes it, (G,)
    :param pose: pose of the link beyond the joint in that, (G, 12)
    :param link_beyond: 1 for links of the robot beyond each joint, (G, links)
    :param ground_beyond: likewise for shapes that touch a compliant ground, (G, shapes)
    :param scene_beyond: likewise for shapes in a world, (G, shapes)
    """

    midpoint: bool
    kinematics: int
    reactions: int
    cut_body: IntArray
    body: IntArray
    pose: FloatArray
    link_beyond: IntArray
    ground_beyond: IntArray
    scene_beyond: IntArray


class CutForces(NamedTuple):
    """Forces that the joints transmit, and buffers.

    :param wrench: moment about the origin of the base and force, of each [N m, N]
    :param pose: pose of the link beyond each in the base, rotation row by row and position
    :param given: inputs of kernels, concatenated
    :param q: part of it: configuration
    :param v: part of it: velocity
    :param a: part of it: acceleration
    :param found: outputs of the kernel contact_kinematics, concatenated
    :param poses: part of it: rotation row by row and position of each body
    :param columns: part of it: motion columns of the tree in base coordinates
    :param reactions: wrench transmitted to each body of the cut model [N m, N]
    :param moved: inputs of the kernel integrate, concatenated
    :param from_q: part of it: initial configuration
    :param displacement: part of it: displacement
    """

    wrench: FloatArray = floats('cuts', 6)
    pose: FloatArray = floats('cuts', 12)
    given: FloatArray = view()
    q: FloatArray = floats('nq', within='given')
    v: FloatArray = floats('nv', within='given')
    a: FloatArray = floats('nv', within='given')
    found: FloatArray = view()
    poses: FloatArray = floats('bodies', 12, within='found')
    columns: FloatArray = floats('tree_nv', 6, within='found')
    reactions: FloatArray = floats('cut_bodies', 6)
    moved: FloatArray = view()
    from_q: FloatArray = floats('nq', within='moved')
    displacement: FloatArray = floats('nv', within='moved')


class TransmittedForces:
    """Forces that joints of a simulation transmit in the last step.

    :param physics: the simulation
    :param cuts: the joints
    :raises ModelError: on a robot with kinematic loops
    """

    def __init__(self, physics: Physics, cuts: Sequence[Cut]):
        robot, model = physics.robot, physics.robot.model
        check_no_loops(model, 'sensors of forces and torques')
        self._physics, self._cuts = physics, list(cuts)
        cut, cut_bodies = cut_model(model, cuts)
        #: Kernels of the reactions at all cuts, by robot and inertias.
        self._reactions: WeakKeyDictionary[Robot, Any] = WeakKeyDictionary()
        self.prepare(physics.loaded_robot)
        # The kernel has no base.
        self._cut_bodies = np.array(cut_bodies, dtype=np.int64) - 1
        #: The forces, see `CutForces`.
        self.record = Record(
            allocate(
                CutForces,
                cuts=len(cuts),
                nq=robot.nq,
                nv=robot.nv,
                bodies=len(model.bodies) + 1,
                tree_nv=model.tree_nv,
                cut_bodies=len(cut.bodies),
            )
        )

    def prepare(self, robot: Robot) -> None:
        """Compile for other inertias of the robot: see `Physics.change_inertias`.

        :param robot: the robot with them
        """
        if robot not in self._reactions:
            cut, _ = cut_model(robot.model, self._cuts)
            self._reactions[robot] = Robot(cut).kernel('joint_reactions')

    def bind(self, record: Record, scene: Optional[Scene]) -> Callable[[], Any]:
        """Return the function that computes the forces.

        :param record: the simulation, perhaps in a future world
        :param scene: its shapes
        """
        physics, model = self._physics, self._physics.robot.model
        self.prepare(physics.loaded_robot)
        prefix = f'{ROBOT}/'
        names = [] if scene is None else [each.name for each in scene.shapes]
        places = CutPlaces(
            midpoint=integrators()[physics.integrator].forces_in_middle,
            kinematics=int(physics.robot.kernel('contact_kinematics').address),
            reactions=int(self._reactions[physics.loaded_robot].address),
            cut_body=self._cut_bodies,
            body=integers([cut.body for cut in self._cuts]),
            pose=poses([cut.placement for cut in self._cuts]),
            link_beyond=self._beyond(list(model.links)),
            ground_beyond=self._beyond([each.link for each in physics.geometries]),
            scene_beyond=self._beyond(
                [name.removeprefix(prefix) if name not in model.links else name for name in names]
            ),
        )
        return find_transmitted.bind(record, Record(places), self.record, release_gil=False)

    def _beyond(self, names: List[str]) -> np.ndarray:
        """Return which of the links are beyond each cut, (G, n)."""
        rows = [[int(name in cut.beyond) for name in names] for cut in self._cuts]
        return np.array(rows, dtype=np.int64).reshape(len(self._cuts), len(names))


@entry_point
def find_transmitted(physics: PhysicsRecord, places: CutPlaces, buffers: CutForces) -> int:
    """Compute the transmitted forces of the last step, initially those of a robot at rest.

    :return: number of steps taken so far
    """
    model, state = physics.model, physics.state
    steps: int = state.counters[STEPS]
    read_step(model, state, places, buffers)
    call_kernel(places.kinematics, buffers.given, buffers.found)
    call_kernel(places.reactions, buffers.given, buffers.reactions)
    for g in range(len(places.cut_body)):
        compose(buffers.poses[places.body[g]], places.pose[g], buffers.pose[g])
        frame = load_transform(buffers.pose[g])
        into_base(frame, buffers.reactions[places.cut_body[g]], buffers.wrench[g])
        if steps > 0:
            take_off_world(physics, places, g, buffers.wrench[g])
    return steps


@compiled
def read_step(model: SimulationModel, state: State, places: CutPlaces, buffers: CutForces) -> None:
    """Compute `q`, `v` and `a` of the last step, at the time of its forces."""
    if state.counters[STEPS] == 0:
        copy(state.q, buffers.q)
        copy(state.v, buffers.v)
        clear(buffers.a)
        return
    copy(state.start_q, buffers.q)
    copy(state.start_v, buffers.v)
    copy(state.acceleration, buffers.a)
    if places.midpoint:
        for i in range(len(buffers.v)):
            buffers.v[i] = 0.5 * (state.start_v[i] + state.v[i])
            buffers.displacement[i] = 0.5 * model.timestep * buffers.v[i]
        copy(state.start_q, buffers.from_q)
        call_kernel(model.integrate, buffers.moved, buffers.q)


@compiled
def take_off_world(physics: PhysicsRecord, places: CutPlaces, g: int, total: FloatArray) -> None:
    """Subtract the contact forces of the last step on links beyond a joint.

    :param g: number of the joint
    :param total: transmitted wrench about the origin of the base, (6,) [N m, N]
    """
    model, state, outer = physics.model, physics.state, physics.external_forces
    if model.has_external_forces:
        for w in range(len(outer.acted)):
            if outer.acted[w] == state.counters[STEPS] and outer.link[w] >= 0:
                if places.link_beyond[g, outer.link[w]] == 1:
                    add_scaled(-1.0, outer.wrench[w], total)
    if model.has_ground:
        contacts, axes = physics.contacts, load_matrix(model.ground.plane).T
        for c in range(state.counters[NEAR]):
            if places.ground_beyond[g, contacts.shape[c]] == 1:
                subtract_force(total, contacts.position[c], axes @ load_vec(contacts.force[c], 3))
    if model.has_scene:
        contact_state, touching = physics.contact_state, physics.contact_state.contacts
        for c in range(contact_state.counts[NOW]):
            a, b = shapes_of(model.scene.table, touching.pair[c])
            # Action and reaction: between two links beyond the joint, both cancel.
            sign = places.scene_beyond[g, b] - places.scene_beyond[g, a]
            if sign != 0:
                share, axes = sign / model.timestep, load_matrix(touching.frame[c]).T
                force = share * (axes @ load_vec(contact_state.impulse[c], 3))
                subtract_force(total, touching.position[c], force)
                if model.scene.bounces:
                    force = share * (axes @ load_vec(contact_state.impact_impulse[c], 3))
                    subtract_force(total, touching.position[c], force)
                if model.scene.has_friction_moments:
                    moment = share * (axes @ load_vec(contact_state.moment[c], 3))
                    total[0:3] = load_vec(total, 3) - moment
                    if model.scene.bounces:
                        moment = share * (axes @ load_vec(contact_state.impact_moment[c], 3))
                        total[0:3] = load_vec(total, 3) - moment


@compiled
def subtract_force(total: FloatArray, point: FloatArray, force: Vec3) -> None:
    """Subtract a force at a point from a wrench about the origin."""
    total[0:3] = load_vec(total, 3) - cross(load_vec(point, 3), force)
    total[3:6] = load_vec(total, 3, 3) - force


@compiled
def into_base(frame: Transform, local: FloatArray, total: FloatArray) -> None:
    """Transform a wrench from the axes of a frame to the origin of the base.

    :param local: moment and force, (6,)
    :param total: the result, (6,)
    """
    force = frame.rotation @ load_vec(local, 3, 3)
    total[3:6] = force
    total[0:3] = frame.rotation @ load_vec(local, 3) + cross(frame.position, force)
