# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Conversion of a URDF to a system model: tree, joints, gears, inertias and shapes.

urdf_document.py reads the document, urdf_description.py checks it and urdf_parser_py parses it;
this module converts its links and joints to bodies. See docs/urdf.md for the conventions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
import math
import os
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, TYPE_CHECKING, Union

from rbd_ros.model import joints as joint_types  # loads a type on first use
from rbd_ros.model.errors import ModelError
from rbd_ros.model.floating_model import reject_second_base
from rbd_ros.model.geometry import Box, Cylinder, Geometry, Mesh, Shape, Sphere
from rbd_ros.model.joints import JointType
from rbd_ros.model.model import Body, FLOATING_BASE_JOINT, Frame, JointLimits, Link, Model
from rbd_ros.model.urdf.joint_tree import depth_first_joints, find_root, Gears
from rbd_ros.model.urdf.mesh_paths import list_of_paths, MeshPaths
from rbd_ros.model.urdf.urdf_description import Description, read_description, without_visual
from rbd_ros.model.urdf.urdf_document import quote, Source
from rbd_ros.spatial import linear3, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.inertia import violated_conditions
from rbd_ros.spatial.linear3 import Vector3
from rbd_ros.spatial.rotation import rpy_rotation

if TYPE_CHECKING:
    # Imported on demand: most robots have no extension.
    from rbd_ros.model.extension import EXTENSIONS, Loops
    from rbd_ros.model.urdf.side_file import Armature

# A component of an axis below this fraction of its length is rounding of a rotation.
_AXIS_ROUNDING = 1e-15


def load_urdf(
    source: Source,
    floating_base: bool = False,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    strict: bool = False,
    armature: Armature = None,
    package_paths: Iterable[Union[str, os.PathLike[str]]] = (),
    extension: EXTENSIONS = None,
    loops: Optional[Loops] = None,
) -> Model:
    """Return the model of a URDF.

    :param source: path of a URDF or xacro file, or its XML as a string
    :param floating_base: whether to add a joint named 'floating_base' before all others, so that
        the root link floats; the description must not have a floating base
    :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]
    :param strict: whether an unphysical inertia is an error instead of a warning
    :param armature: reflected rotor inertia by joint name [kg m^2 or kg], or the path of a YAML
        file with it
    :param package_paths: directories that are searched first for package:// names, and for
        $(find package) of xacro
    :param extension: properties that URDF lacks (joint types, gears, rotors, loops), see
        docs/extension.md: a mapping, or the path of a YAML file
    :param loops: further loop joints, or mappings like the entries of `loops` there with a `name`;
        they need not close at the neutral configuration
    :raises ModelError: for a description that cannot be converted to a model, with the link, joint
        or element, and the cure
    :raises ValueError: if `gravity` is not three finite numbers

    >>> from rbd_ros.model import load_urdf
    >>> model = load_urdf('urdf/six_axis_arm.urdf', gravity=(0.0, 0.0, -1.62))  # on the moon
    >>> model.name, len(model.bodies), model.gravity[2]
    ('six_axis_arm', 6, -1.62)
    """
    checked_gravity = _check_gravity(gravity)
    rotors, extended = {}, None
    if armature is not None:
        from rbd_ros.model.urdf.side_file import read_armature

        rotors = read_armature(armature)
    if extension is not None:
        from rbd_ros.model.extension import read_extension

        extended = read_extension(extension)
    package_paths = list_of_paths(package_paths)
    description = read_description(source, package_paths)
    model = _Builder(description, strict, MeshPaths(description.directory, package_paths)).build(
        floating_base, checked_gravity
    )
    if extended is not None:
        model = extended.applied(model)
    if loops is not None:
        from rbd_ros.model.extension import with_extension_loops

        model = with_extension_loops(model, loops)
    if rotors:
        model = model.with_armature(rotors)
    return replace(model, warnings=(*model.warnings, *model.limit_notices))


def _check_gravity(gravity: Sequence[float]) -> Tuple[float, float, float]:
    try:
        x, y, z = (float(g) for g in gravity)
    except (TypeError, ValueError):
        x = y = z = math.nan
    if not all(map(math.isfinite, (x, y, z))):
        raise ValueError(f'gravity must be 3 finite numbers, got {quote(gravity)}')
    return x, y, z


@dataclass
class _Builder:
    """Conversion in progress."""

    description: Description
    strict: bool
    meshes: MeshPaths
    bodies: List[Body] = field(default_factory=list)
    links: List[Link] = field(default_factory=list)
    joint_frames: Dict[str, Frame] = field(default_factory=dict)
    geometries: List[Geometry] = field(default_factory=list)
    warnings: List[str] = field(default_factory=list)
    unresolved: List[str] = field(default_factory=list)
    # Notices, and the joints that they concern: one warning names them all.
    notes: Dict[str, List[str]] = field(default_factory=dict)

    def build(self, floating_base: bool, gravity: Tuple[float, float, float]) -> Model:
        """Return the model of the description."""
        links, joints = self.description.links, self.description.joints
        root = find_root(links, joints)
        order = depth_first_joints(root, links, joints)
        gears = Gears(joints, self.strict)
        for name in gears.dangling:
            self._note('mimic a joint that does not exist and are independent', name)
        self.warnings.extend(self.description.warnings)
        numbers: Dict[str, int] = {}
        base = Frame(0, PluckerTransform.identity())
        if floating_base:
            if FLOATING_BASE_JOINT in joints and joints[FLOATING_BASE_JOINT].type != 'fixed':
                raise ModelError(
                    f'joint {FLOATING_BASE_JOINT!r}: the name is that of the joint which '
                    'floating_base=True adds; rename the joint'
                )
            self.bodies.append(
                Body(
                    root,
                    0,
                    FLOATING_BASE_JOINT,
                    joint_types.Floating(),
                    PluckerTransform.identity(),
                    RigidBodyInertia.zero(),
                    urdf_type='floating',
                )
            )
            base = Frame(1, PluckerTransform.identity())
            self.joint_frames[FLOATING_BASE_JOINT] = base
        frames = {root: base}
        self._add_link(links[root], base, '', '')
        for name in order:
            joint = joints[name]
            parent = frames[joint.parent]
            placement = self._transform(joint.origin, f'joint {quote(name)}') * parent.placement
            kind = self._joint_type(joint)
            if kind is not None and gears.frozen(name) is not None:
                placement = kind.transform((gears.frozen(name),)) * placement
                self._note('mimic a fixed joint and are fixed at their offset', name)
                kind = None
            if kind is None:
                frame = Frame(parent.body, placement)
            else:
                self.bodies.append(self._body(joint, kind, parent.body, placement))
                frame = Frame(len(self.bodies), PluckerTransform.identity())
                numbers[name] = len(self.bodies)
            frames[joint.child] = self.joint_frames[name] = frame
            self._add_link(links[joint.child], frame, joint.parent, name)
        if floating_base:
            reject_second_base(self.bodies, self.links, 1)
        self._finish_warnings()
        return Model.create(
            self.description.name,
            self.bodies,
            self.links,
            joint_frames=self.joint_frames,
            couplings=gears.couplings(numbers),
            geometries=tuple(self.geometries),
            gravity=gravity,
            warnings=tuple(self.warnings),
        )

    # -- joints

    def _joint_type(self, joint: Any) -> Optional[JointType]:
        """Return the kinematic type of a joint, None for a fixed one."""
        if joint.type == 'fixed':
            return None
        if joint.type == 'floating':
            return joint_types.Floating()
        axis = self._axis(joint)
        if joint.type in ('revolute', 'continuous'):
            return joint_types.Revolute(axis)
        return (
            joint_types.Prismatic(axis)
            if joint.type == 'prismatic'
            else joint_types.Planar.about(axis)
        )

    def _axis(self, joint: Any) -> Vector3:
        axis = tuple(joint.axis) if joint.axis is not None else (1.0, 0.0, 0.0)
        largest = max(map(abs, axis))
        if largest == 0.0:
            raise ModelError(
                f'joint {quote(joint.name)}: <axis xyz="0 0 0"> has no direction; '
                'give a unit vector such as "0 0 1"'
            )
        scaled = tuple(x / largest for x in axis)
        scaled = tuple(0.0 if abs(x) < _AXIS_ROUNDING else x for x in scaled)
        length = math.sqrt(linear3.dot(scaled, scaled))
        if abs(length * largest - 1.0) > 1e-3:
            self._note('have an <axis> that is not a unit vector; it was normalized', joint.name)
        return tuple(x / length for x in scaled)

    def _body(self, joint: Any, kind: JointType, parent: int, placement: PluckerTransform) -> Body:
        damping = friction = 0.0
        if joint.dynamics is not None:
            damping, friction = joint.dynamics.damping or 0.0, joint.dynamics.friction or 0.0
            for what, value in (('damping', damping), ('friction', friction)):
                if value < 0.0:
                    raise ModelError(
                        f'joint {quote(joint.name)}: <dynamics {what}="{value:g}"> is negative '
                        'and would add energy; give a value >= 0'
                    )
        return Body(
            joint.child,
            parent,
            joint.name,
            kind,
            placement,
            RigidBodyInertia.zero(),
            damping=damping,
            friction=friction,
            limits=self._limits(joint),
            urdf_type=joint.type,
        )

    def _limits(self, joint: Any) -> JointLimits:
        limit, name = joint.limit, joint.name
        bounded = joint.type in ('revolute', 'prismatic')
        if limit is None:
            if bounded:
                self._note(
                    'have no <limit>, which URDF requires; they are taken as unlimited', name
                )
            return JointLimits()
        for what in ('effort', 'velocity'):
            value = getattr(limit, what)
            if value < 0.0:
                whole = '' if bounded else ', or the whole <limit>,'
                raise ModelError(
                    f'joint {quote(name)}: <limit {what}="{value:g}"> is negative; leave {what}'
                    f'{whole} out if there is no limit, or give the greatest magnitude'
                )
            if value == 0.0:
                meaning = (
                    'so they get no effort; give the true limit if 0 means unknown'
                    if what == 'effort'
                    else 'so trajectories cannot move them, but the simulation ignores it; give '
                    'the true limit'
                )
                self._note(f'have the {what} limit 0, {meaning}', name)
        for what in self.description.missing_limits.get(name, ()):
            self._note(f'have a <limit> without {what} and are taken as unlimited in that', name)
        if not bounded:
            self._warn_unbounded(joint)
            return JointLimits(velocity=limit.velocity, effort=limit.effort)
        if limit.lower > limit.upper or limit.lower == math.inf or limit.upper == -math.inf:
            raise ModelError(
                f'joint {quote(name)}: <limit lower="{limit.lower:g}" upper="{limit.upper:g}"> '
                'leaves no position; lower must not exceed upper'
            )
        if limit.lower == limit.upper:
            self._note('have equal lower and upper limits, so they cannot move', name)
        return JointLimits(
            limit.lower, limit.upper, limit.velocity, limit.effort, *self._soft_limits(joint)
        )

    def _warn_unbounded(self, joint: Any) -> None:
        """Note hard or soft position limits of a joint whose type has none."""
        given = getattr(joint, 'safety_controller', None)
        soft = [getattr(given, f'soft_{side}_limit', None) for side in ('lower', 'upper')]
        hard = (joint.limit.lower, joint.limit.upper)
        if any(map(math.isfinite, hard)) or any(soft):
            cure = '; make them revolute to keep the limits' if joint.type == 'continuous' else ''
            self._note(
                f'are {joint.type} and have position limits, which have no effect{cure}',
                joint.name,
            )

    def _soft_limits(self, joint: Any) -> Tuple[float, float]:
        """Return soft limits of <safety_controller>; infinite without a valid range."""
        given = getattr(joint, 'safety_controller', None)
        lower, upper = (getattr(given, f'soft_{side}_limit', None) for side in ('lower', 'upper'))
        lower, upper = (0.0 if x is None else float(x) for x in (lower, upper))
        lower, upper = max(lower, joint.limit.lower), min(upper, joint.limit.upper)
        return (lower, upper) if lower < upper else (-math.inf, math.inf)  # both are 0 if absent

    # -- links

    def _add_link(self, link: Any, frame: Frame, parent: str, joint: str) -> None:
        self.links.append(
            Link(link.name, frame.body, frame.placement, self._inertia(link), parent, joint)
        )
        colors = self.description.colors[link.name]
        for role, shapes in (('collision', link.collisions), ('visual', link.visuals)):
            for k, shape in enumerate(shapes):
                owner = f'link {quote(link.name)}: <{role}>'
                placement = self._transform(shape.origin, owner) * frame.placement
                try:
                    form = self._shape(shape.geometry, owner)
                except ModelError as error:
                    if role == 'collision':
                        raise
                    self.warnings.append(without_visual(error))
                    continue
                self.geometries.append(
                    Geometry(
                        shape.name or '',
                        link.name,
                        frame.body,
                        placement,
                        form,
                        role,
                        colors[k] if role == 'visual' else None,
                    )
                )

    def _inertia(self, link: Any) -> RigidBodyInertia:
        inertial = link.inertial
        if inertial is None:
            return RigidBodyInertia.zero()
        inertia, center = inertial.inertia.to_matrix(), (0.0, 0.0, 0.0)
        if inertial.origin is not None:
            center = tuple(inertial.origin.xyz)
            if any(inertial.origin.rpy):
                R = rpy_rotation(*inertial.origin.rpy)
                inertia = linear3.full(linear3.rotate_symmetric(R, linear3.symmetric(inertia)))
        for condition in violated_conditions(inertial.mass, center, inertia):
            text = f'link {quote(link.name)}: {condition}'
            if self.strict:
                raise ModelError(f'{text}; correct its <inertial>, or load without strict')
            self.warnings.append(text)
        return RigidBodyInertia.from_mass_center(inertial.mass, center, inertia)

    def _shape(self, shape: Any, owner: str) -> Shape:
        kind = type(shape).__name__
        if kind == 'Mesh':
            path = self.meshes.resolve(shape.filename)
            if path is None:
                self.unresolved.append(shape.filename)
            return Mesh(
                shape.filename,
                path,
                tuple(shape.scale) if shape.scale is not None else (1.0, 1.0, 1.0),
            )
        sizes = (
            shape.size
            if kind == 'Box'
            else [getattr(shape, name) for name in ('radius', 'length') if hasattr(shape, name)]
        )
        if min(sizes) < 0.0:
            raise ModelError(
                f'{owner}: {kind.lower()} with the negative size {min(sizes):g}; give a size >= 0'
            )
        return Box(tuple(sizes)) if kind == 'Box' else (Sphere, Cylinder)[len(sizes) - 1](*sizes)

    # -- helpers

    @staticmethod
    def _transform(origin: Any, owner: str) -> PluckerTransform:
        """Return the transform into the frame of `origin`."""
        if origin is None:
            return PluckerTransform.identity()
        E = linear3.transpose(rpy_rotation(*origin.rpy)) if any(origin.rpy) else linear3.IDENTITY3
        return PluckerTransform(E, tuple(origin.xyz))

    def _note(self, what: str, joint: str) -> None:
        self.notes.setdefault(what, []).append(joint)

    def _finish_warnings(self) -> None:
        for what, names in self.notes.items():
            more = f' and {len(names) - 100} more' if len(names) > 100 else ''
            shown = ', '.join(quote(name)[1:-1] for name in names[:100])
            self.warnings.append(f'joints that {what}: {shown}{more}')
        if self.unresolved:
            count = len(set(self.unresolved))
            self.warnings.append(
                f'{count} mesh file(s) not found, the first is {quote(self.unresolved[0], 200)}; '
                'give package_paths to find them'
            )
