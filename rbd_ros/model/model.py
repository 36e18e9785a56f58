"""System model of a kinematic tree (book 4.6, table 4.3): bodies, joints, frames, gears, shapes.

Bodies are numbered regularly (parents first), 0 is the fixed base, and body i is connected to its
parent by joint i. A model is immutable; variants are made by the `with_` methods, whose arguments
may be symbols.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
import math
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from rbd_ros.model.errors import ModelError, unknown_name
from rbd_ros.model.geometry import Geometry
from rbd_ros.model.graph import ParentArray
from rbd_ros.model.joints import JointType
from rbd_ros.spatial import linear3, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.scalar import Scalar

FLOATING_BASE_JOINT = 'floating_base'


@dataclass(frozen=True)
class JointLimits:
    """Limits of a joint, which hold for each of its degrees of freedom.

    A limit that the description does not give is infinite.

    :param lower: minimum position [rad or m]
    :param upper: maximum position [rad or m]
    :param velocity: maximum speed [rad/s or m/s]
    :param effort: maximum generalized force [N m or N]
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf


@dataclass(frozen=True)
class Body:
    """A moving body together with the joint that connects it to its parent.

    :param name: name of the link that gives the body its frame
    :param parent: number of the parent body
    :param joint_name: name of the joint
    :param joint: kinematic type of the joint
    :param tree_transform: X_T, from the parent's to the joint's coordinates
    :param inertia: inertia of the body and all that is fixed to it, in body coordinates
    :param damping: viscous damping [N m s/rad or N s/m]
    :param friction: Coulomb friction [N m or N]
    :param armature: reflected rotor inertia, added to the diagonal of the mass matrix [kg m^2 or
        kg]
    :param limits: limits of the joint
    :param urdf_type: joint type as the URDF calls it
    :param q: where the joint's position variables lie among those of the tree
    :param v: where the joint's velocity variables lie among those of the tree
    """

    name: str
    parent: int
    joint_name: str
    joint: JointType
    tree_transform: PluckerTransform
    inertia: RigidBodyInertia
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    limits: JointLimits = JointLimits()
    urdf_type: str = ''
    q: slice = field(default_factory=lambda: slice(0, 0))
    v: slice = field(default_factory=lambda: slice(0, 0))


@dataclass(frozen=True)
class Link:
    """A link of the description: a frame on a body, and its share of that body's inertia.

    :param name: name of the link
    :param body: number of the body it is part of, 0 for the base
    :param placement: transform from body to link coordinates
    :param inertia: inertia of the link alone, in link coordinates
    """

    name: str
    body: int
    placement: PluckerTransform
    inertia: RigidBodyInertia


@dataclass(frozen=True)
class Frame:
    """A named coordinate frame fixed to a body.

    :param body: number of the body
    :param placement: transform from body to frame coordinates
    """

    body: int
    placement: PluckerTransform


@dataclass(frozen=True)
class Coupling:
    """Gear constraint of a mimic joint, q = ratio * q_master + offset (book 9.6).

    :param body: body whose joint mimics
    :param master: body whose joint is mimicked, itself not mimicking
    :param ratio: transmission ratio
    :param offset: position at master position zero
    """

    body: int
    master: int
    ratio: float
    offset: float


@dataclass(frozen=True)
class LoopJoint:
    """A joint outside the spanning tree, which closes a kinematic loop (book 4.1.3, 8.2).

    :param name: name of the joint
    :param predecessor: frame that it connects from
    :param successor: frame that it connects to
    :param joint: kinematic type of the joint, a lower pair
    """

    name: str
    predecessor: Frame
    successor: Frame
    joint: JointType


@dataclass(frozen=True)
class Model:
    """Kinematic tree with its gears; see the module docstring for the numbering.

    Tree coordinates count every joint; independent coordinates, those of the public interface,
    leave the mimic joints out. Without mimic joints the two are the same.

    :param name: name of the robot
    :param bodies: bodies 1, 2, ... in regular order; `body(i)` and `outward()` use the book's
        numbers
    :param links: links of the description by name
    :param joint_frames: frames of all joints of the description (fixed ones too) by joint name
    :param couplings: gear constraints
    :param loops: joints that close kinematic loops
    :param geometries: shapes
    :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]
    :param warnings: what was noticed while the model was built
    :param actuated: names of the joints that have actuators; None: not said, see
        `actuated_joints`
    """

    name: str
    bodies: Tuple[Body, ...]
    links: Mapping[str, Link]
    joint_frames: Mapping[str, Frame] = field(default_factory=dict)
    couplings: Tuple[Coupling, ...] = ()
    loops: Tuple[LoopJoint, ...] = ()
    geometries: Tuple[Geometry, ...] = ()
    gravity: Tuple[Scalar, Scalar, Scalar] = (0.0, 0.0, -9.81)
    warnings: Tuple[str, ...] = ()
    actuated: Optional[Tuple[str, ...]] = None

    @classmethod
    def create(
        cls, name: str, bodies: Iterable[Body], links: Iterable[Link], **others: Any
    ) -> Model:
        """Model with the joint variables of `bodies` laid out one after another.

        The inertias of the bodies are those of their links, whatever `bodies` say. Elements of the
        transforms that are zero or one but for rounding are made so, because what is known to be
        zero need not be computed.

        :param name: name of the robot
        :param bodies: bodies in regular order (parents first); `q`, `v` and `inertia` are set here
        :param links: links on these bodies and on the base
        :param others: further fields of the model
        :raises ModelError: if the numbering is not regular
        """
        by_name = {link.name: replace(link, placement=_snapped(link.placement)) for link in links}
        inertia: Dict[int, RigidBodyInertia] = {}
        for link in by_name.values():
            inertia[link.body] = inertia.get(
                link.body, RigidBodyInertia.zero()
            ) + link.placement.inverse_apply(link.inertia)
        numbered, nq, nv = [], 0, 0
        for i, body in enumerate(bodies, start=1):
            if not 0 <= body.parent < i:
                raise ModelError(
                    f'body {body.name!r}: its parent must come before it, got number {body.parent}'
                )
            numbered.append(
                replace(
                    body,
                    inertia=inertia.get(i, RigidBodyInertia.zero()),
                    tree_transform=_snapped(body.tree_transform),
                    q=slice(nq, nq + body.joint.nq),
                    v=slice(nv, nv + body.joint.nv),
                )
            )
            nq, nv = nq + body.joint.nq, nv + body.joint.nv
        return cls(name, tuple(numbered), by_name, **others)

    # -- the tree

    def body(self, i: int) -> Body:
        """Body of number `i`, from 1."""
        return self.bodies[i - 1]

    def outward(self) -> Iterator[Tuple[int, Body]]:
        """Bodies with their numbers, from the base to the leaves."""
        return enumerate(self.bodies, start=1)

    def inward(self) -> Iterator[Tuple[int, Body]]:
        """Bodies with their numbers, from the leaves to the base."""
        return reversed(list(enumerate(self.bodies, start=1)))

    @cached_property
    def parent_array(self) -> ParentArray:
        """Parents of the bodies, with the supports, children and subtrees that follow."""
        return ParentArray(tuple(body.parent for body in self.bodies))

    def support(self, i: int) -> List[int]:
        """Support kappa(i): the bodies on the path from body `i` to the base (book 4.1.4).

        The list begins with `i`; the base is not in it.
        """
        path = []
        while i > 0:
            path.append(i)
            i = self.body(i).parent
        return path

    def subtree(self, i: int) -> List[int]:
        """Subtree nu(i): body `i` and all bodies it supports, in ascending order (book 4.1.4)."""
        return [
            j for j in range(max(i, 1), len(self.bodies) + 1) if i == 0 or i in self.support(j)
        ]

    def support_dofs(self, i: int) -> Tuple[int, ...]:
        """Degrees of freedom of the tree that move body `i`, in ascending order."""
        return tuple(
            k for j in reversed(self.support(i)) for k in range(self.tree_nv)[self.body(j).v]
        )

    # -- coordinates

    @cached_property
    def tree_nq(self) -> int:
        """Number of position variables of the tree, mimic joints included."""
        return sum(body.joint.nq for body in self.bodies)

    @cached_property
    def tree_nv(self) -> int:
        """Degrees of freedom of the tree, mimic joints included."""
        return sum(body.joint.nv for body in self.bodies)

    @cached_property
    def independent(self) -> Tuple[int, ...]:
        """Numbers of the bodies whose joints are independent, in order."""
        mimics = {coupling.body for coupling in self.couplings}
        return tuple(i for i, _ in self.outward() if i not in mimics)

    @cached_property
    def joint_names(self) -> Tuple[str, ...]:
        """Names of the independent joints, in order."""
        return tuple(self.body(i).joint_name for i in self.independent)

    @cached_property
    def nq(self) -> int:
        """Number of independent position variables."""
        return sum(self.body(i).joint.nq for i in self.independent)

    @cached_property
    def nv(self) -> int:
        """Number of independent degrees of freedom."""
        return sum(self.body(i).joint.nv for i in self.independent)

    @cached_property
    def independent_slices(self) -> Dict[int, Tuple[slice, slice]]:
        """Where the joint variables of each independent body lie in q and v.

        The keys are the numbers of the bodies, the values a slice of q and a slice of v each.
        """
        result, nq, nv = {}, 0, 0
        for i in self.independent:
            joint = self.body(i).joint
            result[i] = (slice(nq, nq + joint.nq), slice(nv, nv + joint.nv))
            nq, nv = nq + joint.nq, nv + joint.nv
        return result

    @cached_property
    def _gears(self) -> Dict[int, Tuple[int, float, float]]:
        """For each body the independent body that drives it, with ratio and offset."""
        gears = {i: (i, 1.0, 0.0) for i in self.independent}
        gears.update({c.body: (c.master, c.ratio, c.offset) for c in self.couplings})
        return gears

    @cached_property
    def tree_dof_index(self) -> Tuple[int, ...]:
        """Independent degree of freedom that drives each one of the tree, (tree_nv,)."""
        return tuple(
            k
            for i, _ in self.outward()
            for k in range(self.nv)[self.independent_slices[self._gears[i][0]][1]]
        )

    @cached_property
    def tree_dof_ratio(self) -> Tuple[float, ...]:
        """Transmission ratio of each degree of freedom of the tree, (tree_nv,)."""
        return tuple(self._gears[i][1] for i, body in self.outward() for _ in range(body.joint.nv))

    # -- gears: q_tree = gamma(q), v_tree = G v (book eq 3.11, 9.26)

    def tree_position(self, q: Sequence[Scalar]) -> List[Scalar]:
        """Positions of all joints, gamma(q), (tree_nq,), from the independent ones, (nq,)."""
        result: List[Scalar] = []
        for i, _ in self.outward():
            master, ratio, offset = self._gears[i]
            positions = q[self.independent_slices[master][0]]
            result.extend(positions if master == i else [ratio * x + offset for x in positions])
        return result

    def tree_velocity(self, v: Sequence[Scalar]) -> List[Scalar]:
        """Velocities or accelerations of all joints, G v, from the independent ones.

        :param v: velocities or accelerations of the independent joints, (nv,)
        :return: those of the tree, (tree_nv,)
        """
        return [
            v[k] if ratio == 1.0 else ratio * v[k]
            for k, ratio in zip(self.tree_dof_index, self.tree_dof_ratio)
        ]

    def independent_velocity(self, v: Sequence[Scalar]) -> List[Scalar]:
        """Velocities (or accelerations) of the independent joints, (nv,), among those of all."""
        return [v[k] for i in self.independent for k in range(self.tree_nv)[self.body(i).v]]

    def independent_force(self, tau: Sequence[Scalar]) -> List[Scalar]:
        """Forces on the independent coordinates, G^T tau, from those on all joints.

        :param tau: generalized forces of the tree, (tree_nv,)
        :return: generalized forces, (nv,)
        """
        if not self.couplings:
            return list(tau)
        result = [0.0] * self.nv
        for value, k, ratio in zip(tau, self.tree_dof_index, self.tree_dof_ratio):
            result[k] = result[k] + ratio * value
        return result

    def independent_columns(self, J: Sequence[Sequence[Scalar]]) -> List[List[Scalar]]:
        """Matrix J G with columns for the independent coordinates, from one for all joints.

        :param J: matrix of m rows, such as a Jacobian, (m, tree_nv)
        :return: the same for the independent velocities, (m, nv)
        """
        return [self.independent_force(row) for row in J]

    def independent_matrix(self, H: Sequence[Sequence[Scalar]]) -> List[List[Scalar]]:
        """Matrix G^T H G of the independent coordinates, (nv, nv), from one of the tree.

        :param H: matrix of the tree, such as its mass matrix, (tree_nv, tree_nv)
        """
        if not self.couplings:
            return [list(row) for row in H]
        columns = list(zip(*self.independent_columns(H)))
        return [list(row) for row in zip(*(self.independent_force(column) for column in columns))]

    # -- loops

    @cached_property
    def loop_constraints(self) -> int:
        """Number of constraints that the loop joints impose."""
        return sum(6 - loop.joint.nv for loop in self.loops)

    @cached_property
    def actuated_joints(self) -> Tuple[str, ...]:
        """Names of the independent joints that have actuators, in order.

        Those that the description's extension names; else, in a tree, all of them, and with loops
        those whose effort limit is finite and not zero.
        """
        if self.actuated is not None:
            return tuple(name for name in self.joint_names if name in self.actuated)
        if not self.loops:
            return self.joint_names
        limits = {body.joint_name: body.limits.effort for body in self.bodies}
        return tuple(name for name in self.joint_names if 0.0 < limits[name] < math.inf)

    # -- frames

    def link(self, name: str) -> Link:
        """Link of the given name.

        :raises ValueError: if there is none; the message lists similar names
        """
        if name not in self.links:
            raise ValueError(unknown_name('link', name, self.links))
        return self.links[name]

    def frame(self, name: str) -> Frame:
        """Frame of a link, or of a joint if no link has that name.

        :raises ValueError: if there is none; the message lists similar names
        """
        if name in self.links:
            return Frame(self.links[name].body, self.links[name].placement)
        if name not in self.joint_frames:
            raise ValueError(
                unknown_name('link or joint', name, [*self.links, *self.joint_frames])
            )
        return self.joint_frames[name]

    # -- variants

    def with_gravity(self, gravity: Sequence[Scalar]) -> Model:
        """Return the model under another gravity.

        :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]
        """
        x, y, z = gravity
        return replace(self, gravity=(x, y, z))

    def with_link_inertia(self, name: str, inertia: RigidBodyInertia, add: bool = False) -> Model:
        """Return the model with another inertia of one link.

        :param name: name of the link
        :param inertia: inertia in link coordinates; its parameters may be symbols
        :param add: whether it is added to the link's own inertia, as a payload is, or replaces it
        :raises ValueError: if there is no such link
        """
        link = self.link(name)
        if add:
            inertia = link.inertia + inertia
        links = {**self.links, name: replace(link, inertia=inertia)}
        constant = RigidBodyInertia.zero()
        for other in links.values():
            if other.body == link.body and other.name != name:
                constant = constant + other.placement.inverse_apply(other.inertia)
        bodies = list(self.bodies)
        if link.body > 0:
            bodies[link.body - 1] = replace(
                self.body(link.body), inertia=constant + link.placement.inverse_apply(inertia)
            )
        return replace(self, links=links, bodies=tuple(bodies))

    def with_loops(self, loops: Iterable[LoopJoint]) -> Model:
        """Return the model with other loops.

        :raises ModelError: if a name is taken, a body does not exist, or a joint is no lower pair
        """
        loops, names = tuple(loops), {body.joint_name for body in self.bodies}
        for loop in loops:
            if loop.name in names:
                raise ModelError(f'loop joint {loop.name!r}: there is another joint of this name')
            names.add(loop.name)
            for frame in (loop.predecessor, loop.successor):
                if not 0 <= frame.body <= len(self.bodies):
                    raise ModelError(
                        f'loop joint {loop.name!r}: there is no body {frame.body}; bodies are '
                        f'numbered from 0, the base, to {len(self.bodies)}'
                    )
            if not loop.joint.is_lower_pair:
                raise ModelError(
                    f'loop joint {loop.name!r}: a loop can be closed by a lower pair only, whose '
                    f'motion subspace is constant, not by {loop.joint!r}; cut the loop elsewhere'
                )
        return replace(self, loops=loops)

    def with_armature(self, armature: Mapping[str, float]) -> Model:
        """Return the model with other armatures of some joints.

        :param armature: reflected rotor inertia by joint name [kg m^2 or kg]; other joints keep
            theirs
        :raises ModelError: for an unknown joint, or a value that is negative or not finite
        """
        known = {body.joint_name for body in self.bodies}
        for joint, value in armature.items():
            if joint not in known:
                raise ModelError(f'armature: {unknown_name("moving joint", joint, known)}')
            if not (math.isfinite(value) and value >= 0.0):
                raise ModelError(
                    f'armature of joint {joint!r} must be finite and not negative, got {value}'
                )
        bodies = tuple(
            replace(body, armature=float(armature.get(body.joint_name, body.armature)))
            for body in self.bodies
        )
        return replace(self, bodies=bodies)


def _snapped(X: PluckerTransform) -> PluckerTransform:
    """Transform with rounding noise removed: what is 0, 1 or -1 to within 1e-15, exactly so.

    For the translation, within 1e-15 of its largest element.
    """
    reach = 1e-15 * max(abs(x) for x in X.r)

    def unit(x: float) -> float:
        nearest = round(x)
        return float(nearest) if abs(x - nearest) < 1e-15 else x

    return PluckerTransform(
        linear3.matrix3((unit(x) for x in row) for row in X.E),
        linear3.vector3(0.0 if abs(x) < reach else x for x in X.r),
    )
