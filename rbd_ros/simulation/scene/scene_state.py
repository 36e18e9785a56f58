# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""State of a simulation's world besides the robot: movable objects and rigid contacts.

Sizes: movable `objects`, maximum number of `contacts`, and for the frictional problem of one
island (contact_problem.py): `island_rows` of contacts and joints together, of them `joint_rows`.
Contacts with moments are `moment_contacts`; `springs` are all contacts or none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rbd_ros.array_types import FloatArray, IntArray
from rbd_ros.collision.scene.scene_arrays import SceneBuffers, SceneContacts, SceneTable
from rbd_ros.compiler.loops import floats, integers
from rbd_ros.constraints.friction_space import FrictionSpace
from rbd_ros.constraints.solvers.friction_body_space import BodySpace

#: Indices into `ContactState.counts`: contacts in the last step, contacts in the step before.
NOW, BEFORE = 0, 1

#: Indices into `ContactState.residuals`.
SIGNORINI, CONIC, CONTACT = 0, 1, 2

#: States of a contact after a problem: new or solved by Newton's method, solved without it, solved
#: with a compliance alone (matrix_free_islands.py).
CHANGING, STEADY, YIELDING = 0, 1, 2


class FreeBodies(NamedTuple):
    """Movable objects, constants.

    :param mass: mass, (O,) [kg]
    :param inertia: rotational inertia about the center of mass in object coordinates, (O, 3, 3)
    :param center: center of mass in object coordinates, (O, 3) [m]
    :param gravity: acceleration of gravity in world coordinates, (3,) [m/s^2]
    """

    mass: FloatArray
    inertia: FloatArray
    center: FloatArray
    gravity: FloatArray


class Objects(NamedTuple):
    """State of the movable objects; vectors are in world coordinates.

    :param quaternion: orientation, w first
    :param position: center of mass [m]
    :param angular_momentum: angular momentum about the center of mass [N m s]
    :param velocity: velocity of the center of mass [m/s]
    """

    quaternion: FloatArray = floats('objects', 4)
    position: FloatArray = floats('objects', 3)
    angular_momentum: FloatArray = floats('objects', 3)
    velocity: FloatArray = floats('objects', 3)


class SceneModel(NamedTuple):
    """Constants of the scene of a simulation.

    :param table: shapes and pairs that may touch
    :param finder: address of `scene_contacts_of` for this table
    :param bodies: movable objects
    :param first_object: number of the body of the first movable object
    :param tolerance: velocity error of contacts, see `solve_friction`
    :param iterations: maximum number of sweeps and Newton steps of a problem
    :param start: initial state of the objects
    :param has_objects: whether there are movable objects
    :param has_compounds: whether any pairs are of the same bodies, see `SceneTable.group`
    :param has_friction_moments: whether any pair has torsional or rolling friction
        (friction_moments.py)
    :param bounces: whether any pair has restitution (impacts.py)
    :param has_nonlinear_springs: whether any pair has a nonlinear spring (springs.py)
    :param poisson: whether impacts obey Poisson's law of restitution instead of Newton's
    """

    table: SceneTable
    finder: int
    bodies: FreeBodies
    first_object: int
    tolerance: float
    iterations: int
    start: Objects
    has_objects: bool
    has_compounds: bool
    has_friction_moments: bool
    bounces: bool
    has_nonlinear_springs: bool
    poisson: bool


class ContactState(NamedTuple):
    """Contacts of the last step, for the warm start of the next one.

    :param contacts: the contacts
    :param impulse: impulse on the second shape along normal and tangents [N s]
    :param old_pair: previous pairs
    :param old_feature: their features
    :param old_position: their positions [m]
    :param old_impulse: their impulses in world coordinates [N s]
    :param steady: CHANGING, STEADY or YIELDING after the last problem of each contact
    :param old_steady: previous `steady`
    :param moment: moment on the second shape about normal and tangents [N m s]
    :param old_moment: previous moments in world coordinates [N m s]
    :param impact_impulse: impulse of rebounds on the second shape, as `impulse` [N s]
    :param impact_moment: likewise, as `moment` [N m s]
    :param unresolved: 1 where bodies overlap and cannot be separated, else 0
    :param joint_impulse: impulses at lower and upper limits and of friction, by joint
    :param residuals: those of the last step, see `Residuals` of constraints
    :param counts: see NOW, BEFORE
    """

    contacts: SceneContacts = SceneContacts  # type: ignore[assignment]
    impulse: FloatArray = floats('contacts', 3)
    old_pair: IntArray = integers('contacts')
    old_feature: IntArray = integers('contacts')
    old_position: FloatArray = floats('contacts', 3)
    old_impulse: FloatArray = floats('contacts', 3)
    steady: IntArray = integers('contacts')
    old_steady: IntArray = integers('contacts')
    moment: FloatArray = floats('moment_contacts', 3)
    old_moment: FloatArray = floats('moment_contacts', 3)
    impact_impulse: FloatArray = floats('contacts', 3)
    impact_moment: FloatArray = floats('moment_contacts', 3)
    unresolved: IntArray = integers('contacts')
    joint_impulse: FloatArray = floats(3, 'nv')
    residuals: FloatArray = floats(3)
    counts: IntArray = integers(2)


# Records within records: the field's default is its class, which gives loops the layout.
def _nested(kind: type) -> Any:
    return kind


class FrictionMoments(NamedTuple):
    """Moments at contacts; empty unless a pair has any.

    :param jacobian: angular velocity of the second body relative to the first, about normal and
        tangents of each contact, per v
    :param response: as that of `SceneWork`
    :param object_jacobian: the same angular velocity per velocities of the objects at the contact
    :param object_response: change of those velocities per moment
    :param listed: which of the listed contacts have moments
    :param impact: moments of rebounding contacts [N m s]
    """

    jacobian: FloatArray = floats('moment_contacts', 3, 'nv')
    response: FloatArray = floats('moment_contacts', 3, 'nv')
    object_jacobian: FloatArray = floats('moment_contacts', 2, 3, 6)
    object_response: FloatArray = floats('moment_contacts', 2, 3, 6)
    listed: IntArray = integers('moment_contacts')
    impact: FloatArray = floats('moment_contacts', 3)


class Springs(NamedTuple):
    """Tangents of nonlinear springs; empty unless a pair has any.

    :param compliance: velocity per impulse of each contact [1/kg]
    :param bias: velocity added along its normal [m/s]
    """

    compliance: FloatArray = floats('springs')
    bias: FloatArray = floats('springs')


class SceneWork(NamedTuple):
    """Intermediate results of a step.

    :param buffers: poses of bodies and shapes
    :param contact_count: number of contacts without implied ones
    :param angular_velocity: angular velocity of the objects [rad/s]
    :param mobility: inverse of their rotational inertia in world coordinates
    :param wrench: external moment about the center of mass and force [N m, N]
    :param start_velocity: velocity of their centers of mass at the beginning, after impacts
    :param in_contact: whether a contact force acts on an object in this step; -1 if its pose is
        not finite at the end
    :param leaf_dof: degree of freedom whose path to the base (`Tree`) has all used elements of a
        contact's Jacobian and response; -1: all elements
    :param jacobian: velocity of the second body relative to the first at each contact, per v
    :param root: D^-1/2 of the factors of the robot's mass matrix
    :param response: Y = J L^-1 D^-1/2, so that response . response^T is the Delassus matrix
    :param object_jacobian: velocity of a contact per angular and linear velocity of the objects
        at it
    :param object_response: change of those velocities per impulse along it
    :param label: number of the island of the robot, then of each object
    :param node_order: the robot and objects by island
    :param node_end: end of the part of each island in it
    :param contact_order: contacts by island
    :param contact_end: end of the part of each island in it
    :param listed: contacts of the island
    :param last_state: angular momenta and velocities of the objects in the last turn
        (split_islands.py) [kg m^2/s, m/s]
    :param has_row: 1 for each lower and upper limit of a joint that has a row in this step
    :param row_joint: degree of freedom of each row of a joint
    :param row_kind: 0 for a lower limit, 1 for an upper one, 2 for friction
    :param row_bias: velocity added to that of the joint
    :param row_box: maximum impulse of friction [N m s, N s]
    :param row_impulse: impulse along the row
    :param row_leaf_dof: as `leaf_dof`, of three rows
    :param row_response: see `response`; rows three by three
    :param matrix: Delassus matrix of the island
    :param free: velocities without forces
    :param friction: coefficients along both tangents of each contact
    :param multiplier: multipliers of the listed contacts in position correction
        (position_correction.py)
    :param normal_mobilities: displacement along the normal of each per multiplier
    :param joint_multiplier: multipliers of joints: of bounds on their displacements, and of limits
    :param min_displacement: minimum displacement of each degree of freedom [rad, m]
    :param max_displacement: maximum displacement of each degree of freedom [rad, m]
    :param units: rows of a Jacobian of joints
    :param gathered: sum of responses
    :param response_sum: the same of the previous forces, Y^T lambda
    :param object_sum: change of the objects' velocities by these forces
    :param has_matrix: 1 if `matrix` is that of the island
    :param scaled_displacement: displacement of the robot, in coordinates where H is the identity
    :param velocity: velocity of the joints without contacts
    :param displacement_buffer: buffer for a displacement of the joints
    :param joint_displacement: displacement of the joints by position correction
    :param rebound: normal velocities after an impact [m/s]
    :param impact_impulse: impulses of rebounding contacts [N s]
    :param object_displacement: position correction of the objects, angular then linear
    :param start_state: state of the objects at the beginning of the step
    :param friction_moments: moments of torsional and rolling friction at contacts
    :param springs: springs of contacts
    :param space: the problem of an island for the solver
    :param body_space: that of an island of many objects
    """

    buffers: SceneBuffers = _nested(SceneBuffers)
    contact_count: IntArray = integers(1)
    angular_velocity: FloatArray = floats('objects', 3)
    mobility: FloatArray = floats('objects', 3, 3)
    wrench: FloatArray = floats('objects', 6)
    start_velocity: FloatArray = floats('objects', 3)
    in_contact: IntArray = integers('objects')
    leaf_dof: IntArray = integers('contacts')
    jacobian: FloatArray = floats('contacts', 3, 'nv')
    root: FloatArray = floats('nv')
    response: FloatArray = floats('contacts', 3, 'nv')
    object_jacobian: FloatArray = floats('contacts', 2, 3, 6)
    object_response: FloatArray = floats('contacts', 2, 3, 6)
    label: IntArray = integers('nodes')
    node_order: IntArray = integers('nodes')
    node_end: IntArray = integers('nodes')
    contact_order: IntArray = integers('contacts')
    contact_end: IntArray = integers('nodes')
    listed: IntArray = integers('contacts')
    last_state: FloatArray = floats('objects', 6)
    has_row: IntArray = integers(2, 'nv')
    row_joint: IntArray = integers('joint_rows')
    row_kind: IntArray = integers('joint_rows')
    row_bias: FloatArray = floats('joint_rows')
    row_box: FloatArray = floats('joint_rows')
    row_impulse: FloatArray = floats('joint_rows')
    row_leaf_dof: IntArray = integers('joint_blocks')
    row_response: FloatArray = floats('joint_blocks', 3, 'nv')
    matrix: FloatArray = floats('island_rows', 'island_rows')
    free: FloatArray = floats('island_rows')
    friction: FloatArray = floats('n', 2)
    multiplier: FloatArray = floats('contacts')
    normal_mobilities: FloatArray = floats('contacts')
    joint_multiplier: FloatArray = floats('nv')
    min_displacement: FloatArray = floats('nv')
    max_displacement: FloatArray = floats('nv')
    units: FloatArray = floats(3, 'nv')
    gathered: FloatArray = floats('nv')
    response_sum: FloatArray = floats('nv')
    object_sum: FloatArray = floats('objects', 6)
    has_matrix: IntArray = integers(1)
    scaled_displacement: FloatArray = floats('nv')
    velocity: FloatArray = floats('nv')
    displacement_buffer: FloatArray = floats('nv')
    joint_displacement: FloatArray = floats('nv')
    rebound: FloatArray = floats('contacts')
    impact_impulse: FloatArray = floats('contacts', 3)
    object_displacement: FloatArray = floats('objects', 6)
    start_state: FloatArray = floats('objects', 13)
    friction_moments: FrictionMoments = _nested(FrictionMoments)
    springs: Springs = _nested(Springs)
    body_space: BodySpace = _nested(BodySpace)
    space: FrictionSpace = _nested(FrictionSpace)
