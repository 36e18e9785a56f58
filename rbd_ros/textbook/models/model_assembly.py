# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Assembly of models from bodies and joints in any order, with loops (book 4.1, 4.2).

`assemble` chooses the spanning tree, numbers the bodies, and places the frame of body i at joint
i. Joints outside the tree become loop joints of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, List, Mapping, Optional

from rbd_ros.model.errors import ModelError
from rbd_ros.model.joints import Floating, JointType, reverse
from rbd_ros.model.model import Body, Frame, JointLimits, Link, LoopJoint, Model
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.textbook.models.connectivity_graph import Arc, ConnectivityGraph, Numbering


@dataclass(frozen=True)
class Connection:
    """A joint between two bodies, and its placement on each.

    :param name: name of the joint
    :param predecessor: name of the body (or the base) that it connects from
    :param successor: name of the body (or the base) that it connects to
    :param joint: kinematic type of the joint
    :param predecessor_placement: transform from the predecessor's to the joint's coordinates there
    :param successor_placement: transform from the successor's to the joint's coordinates there;
        the joint is neutral where both coincide
    :param damping: viscous damping [N m s/rad or N s/m]
    :param friction: Coulomb friction [N m or N]
    :param armature: reflected rotor inertia [kg m^2 or kg]
    :param limits: limits of the joint

    >>> from rbd_ros.textbook.models.model_assembly import Connection
    >>> from rbd_ros.model.joints import Revolute
    >>> hinge = Connection('hinge', 'wall', 'door', Revolute((0.0, 0.0, 1.0)), damping=0.5)
    >>> hinge.predecessor, hinge.successor
    ('wall', 'door')
    """

    name: str
    predecessor: str
    successor: str
    joint: JointType
    predecessor_placement: PluckerTransform = PluckerTransform.identity()
    successor_placement: PluckerTransform = PluckerTransform.identity()
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    limits: JointLimits = JointLimits()


def connectivity(
    base: str, bodies: Iterable[str], connections: Iterable[Connection]
) -> ConnectivityGraph:
    """Return the connectivity graph of bodies and joints.

    :param base: name of the fixed body
    :param bodies: names of the moving bodies
    :param connections: joints between them
    :raises ModelError: for duplicate or unknown names

    >>> from rbd_ros.textbook.models.model_assembly import connectivity, Connection
    >>> from rbd_ros.model.joints import Revolute
    >>> hinge = Connection('hinge', 'wall', 'door', Revolute((0.0, 0.0, 1.0)))
    >>> connectivity('wall', ['door'], [hinge]).spanning_tree().joints
    ('hinge',)
    """
    arcs = (Arc(joint.name, joint.predecessor, joint.successor) for joint in connections)
    return ConnectivityGraph(base, tuple(bodies), tuple(arcs))


def assemble(
    name: str,
    base: str,
    inertias: Mapping[str, RigidBodyInertia],
    connections: Iterable[Connection],
    numbering: Optional[Numbering] = None,
    loop_joints: Iterable[str] = (),
    free_bodies: bool = False,
    **others: Any,
) -> Model:
    """Return the model of bodies and joints.

    Positions and velocities are those of the joints as given.

    A joint that connects a body of the tree to its parent is replaced by one of opposite polarity
    (book table 4.2), so that its variables and forces keep their meaning.

    :param name: name of the robot
    :param base: name of the fixed body
    :param inertias: inertia of each moving body in its own coordinates, by name
    :param connections: joints between the bodies
    :param numbering: spanning tree and numbers; None: the tree of minimum depth, numbered breadth
        first
    :param loop_joints: names of joints to keep out of the tree
    :param free_bodies: whether bodies not connected to the base get free joints, named 'free_' and
        the body's name, instead of raising an error
    :param others: further fields of the model, such as its gravity
    :raises ModelError: if a body is not connected to the base, a name is duplicate or unknown, or
        a loop joint cannot close a loop

    >>> from rbd_ros.textbook.models.model_assembly import assemble, Connection
    >>> from rbd_ros.model.joints import Revolute
    >>> from rbd_ros.spatial import RigidBodyInertia
    >>> hinge = Connection('hinge', 'wall', 'door', Revolute((0.0, 0.0, 1.0)))
    >>> door = RigidBodyInertia.from_mass_center(20.0, (0.4, 0.0, 1.0), np.diag([7.7, 8.7, 1.1]))
    >>> house = Robot(assemble('house', 'wall', {'door': door}, [hinge]))
    >>> house.mass_matrix([0.0])  # 1.1 + 20 0.4^2 [kg m^2]
    array([[4.3]])
    """
    connections = list(connections)
    joints = {joint.name: joint for joint in connections}
    if numbering is None:
        graph = connectivity(base, inertias, connections)
        if free_bodies:
            graph = graph.with_free_bodies()
        numbering = graph.spanning_tree(loop_joints).numbering()
    for arc in numbering.tree.graph.joints:
        joints.setdefault(arc.name, Connection(*arc, Floating()))
    if set(numbering.numbers) != {base, *inertias} or len(joints) != len(numbering.joints):
        raise ModelError('the numbering belongs to other bodies or joints')

    # from the coordinates of the body in the model to its own
    placement = {base: PluckerTransform.identity()}
    bodies: List[Body] = []
    parents, backwards = numbering.parent_array.parents, numbering.is_reversed
    for i, body in enumerate(numbering.bodies):
        joint = joints[numbering.joints[i]]
        ends = [joint.predecessor_placement, joint.successor_placement]
        inner, outer = reversed(ends) if backwards[i] else ends
        placement[body] = outer.inverse()
        parent = joint.successor if backwards[i] else joint.predecessor
        bodies.append(
            Body(
                body,
                parents[i],
                joint.name,
                reverse(joint.joint) if backwards[i] else joint.joint,
                inner * placement[parent],
                inertias[body],
                joint.damping,
                joint.friction,
                joint.armature,
                joint.limits,
            )
        )

    def frame(body: str, X: PluckerTransform) -> Frame:
        return Frame(numbering.numbers[body], X * placement[body])

    links = [Link(base, 0, placement[base], RigidBodyInertia.zero())]
    links += [
        Link(body, i, placement[body], inertias[body])
        for i, body in enumerate(numbering.bodies, start=1)
    ]
    frames = {
        name: frame(joint.successor, joint.successor_placement) for name, joint in joints.items()
    }
    loops = [
        LoopJoint(
            chord,
            frame(joints[chord].predecessor, joints[chord].predecessor_placement),
            frame(joints[chord].successor, joints[chord].successor_placement),
            joints[chord].joint,
        )
        for chord in numbering.tree.chords
    ]
    model = Model.create(name, bodies, links, joint_frames=frames, **others)
    return model.with_loops(loops) if loops else model
