# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lint of a robot's description: valid content that is probably wrong.

Unphysical numbers are errors. Unusual numbers are warnings, reported from a factor of ten or more.
"""

from __future__ import annotations

import math
import re
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from rbd_ros.algorithms.inertia_matrix.singularity import singular_joints
from rbd_ros.array_types import FloatArray
from rbd_ros.doctor.control_lint import control_findings
from rbd_ros.doctor.findings import ERROR, Finding, OK, WARN
from rbd_ros.meshes import mesh_vertices, MeshError
from rbd_ros.model import Link, load_urdf, Model, ModelError
from rbd_ros.model.geometry import Box, Cylinder, Geometry, Mesh, Sphere
from rbd_ros.model.unknown_masses import links_without_mass
from rbd_ros.model.urdf.up_axes import ignored_up_axes
from rbd_ros.model.urdf.urdf_document import quote
from rbd_ros.robot.accuracy_diagnosis import diagnose, MAX_CENTER_RATIO, MAX_CONDITION
from rbd_ros.spatial.inertia import violated_conditions

#: Ratio of carried mass to a body's mass above which contact solvers converge slowly.
MASS_RATIO = 100.0
#: Distances of a center of mass from the shapes of its link, relative to their diagonal.
FAR, ABSURD = 0.5, 10.0
#: Bounds of the largest moment of inertia, relative to the solid box around the shapes: above 3,
#: mass must be outside of the box. Below the last one, it is zero up to rounding.
HEAVY, LIGHT, NONE = 20.0, 0.005, 1e-9
#: Positions and speeds in this range are probably in degrees; larger ones mean unknown.
DEGREES = (100.0, 720.0)
_MAX_DOFS = 200  # for more DoFs, matrices are not checked
_NAMED = 8  # maximum number of joints or links in a finding
_OF_SHAPES = 'rbd_ros doctor ROBOT --density KG/M^3 -o FILE.urdf takes that of shapes'

_CURES = (
    ('the mass is negative', 'give a positive mass'),
    ('the mass is zero', 'give the link its mass, or remove its <inertial>'),
    ('a center of mass', 'give the link its mass, or remove its <inertial>'),
    (
        'the rotational inertia',
        'give moments about the center of mass; check the signs of ixy, ixz, iyz',
    ),
    (
        'the principal moments',
        'export it again: moments about the center of mass, in kg m^2, with all digits',
    ),
)
# Warnings of the reader that are separate findings here.
_LIMITS = re.compile(
    r'joints that have (the (effort|velocity) limit 0|a <limit> without|no <limit>)'
)


def lint_urdf(source: Union[str, bytes], **options: Any) -> List[Finding]:
    """Lint a URDF.

    :param source: path of the file, or its content
    :param options: keyword arguments of `load_urdf`
    :return: findings; a single ok finding without problems

    >>> from rbd_ros.doctor.urdf_lint import lint_urdf
    >>> [finding.level for finding in lint_urdf('urdf/two_link_arm.urdf')]
    ['ok']
    >>> print(*lint_urdf('<robot name="r"/>')[0].text(), sep=chr(10))
    error  description: XML string: <robot> has no links; give a URDF with at least one <link>
           -> correct the description; docs/urdf.md lists the messages of the reader
    """
    try:
        model = load_urdf(source, **options)
    except ModelError as error:
        cure = 'correct the description; docs/urdf.md lists the messages of the reader'
        return [Finding(ERROR, 'description', str(error), cure)]
    found = [*control_findings(source, options.get('package_paths', ())), *lint_model(model)]
    # The ok finding counts only without others.
    return [each for each in found if each.level != OK] or found


def lint_model(model: Model) -> List[Finding]:
    """Lint a model.

    :param model: model with numeric inertias
    :return: findings; a single ok finding without problems

    >>> from rbd_ros.doctor.urdf_lint import lint_model
    >>> lint_model(model)[0].message
    '6 moving bodies, 9 links, 21.7 kg: no problem found'
    """
    found = [*inertia_findings(model), *shape_findings(model), *chain_findings(model)]
    found += [*limit_findings(model), *mesh_findings(model)]
    spoken = {finding.subject for finding in found}
    for warning in model.warnings:
        named = any(warning.startswith(f'{subject}: the ') for subject in spoken)
        if not _LIMITS.match(warning) and not named:
            found.append(Finding(WARN, 'description', warning, _cure_of_warning(warning)))
    if not any(finding.level != OK for finding in found):
        mass = math.fsum(link.inertia.mass for link in model.links.values())
        found.append(
            Finding(
                OK,
                'description',
                f'{len(model.bodies)} moving bodies, {len(model.links)} links, {mass:.4g} kg: no '
                'problem found',
            )
        )
    return found


# -- inertia ----------------------------------------------------------------------------------


def inertia_findings(model: Model) -> List[Finding]:
    """Return impossible inertias, links without inertia, and joints without mass.

    :param model: the model
    """
    found = []
    for link in model.links.values():
        mass, center, inertia = _about_center(link)
        for condition in violated_conditions(mass, center.tolist(), inertia.tolist()):
            cure = next(cure for start, cure in _CURES if condition.startswith(start))
            found.append(Finding(ERROR, f'link {quote(link.name)}', condition, cure))
    massless: Sequence[str] = ()
    if model.tree_nv <= _MAX_DOFS and not found:
        massless = singular_joints(model)
        for joint in massless:
            found.append(
                Finding(
                    ERROR,
                    f'joint {quote(joint)}',
                    'it moves no mass, so its acceleration is not determined',
                    'give its link an inertia, or the joint an armature (extension file); '
                    f'{_OF_SHAPES}',
                )
            )
    links = [
        name
        for name in links_without_mass(model)
        # Others have an error already: unphysical inertias, or a joint without mass.
        if not any(model.link(name).inertia.parameters())
        and model.body(model.link(name).body).joint_name not in massless
    ]
    if links:
        found.append(
            Finding(
                WARN,
                _named('link', links),
                'with shapes but no <inertial>, although it moves: its weight is ignored',
                f'give it <inertial> with mass and inertia (a frame has no shapes); {_OF_SHAPES}',
            )
        )
    return found


def _about_center(link: Link) -> Tuple[float, FloatArray, FloatArray]:
    """Return mass, center of mass (3,) and inertia about it (3, 3), in coordinates of the link."""
    mass, h = float(link.inertia.mass), np.array(link.inertia.h, dtype=float)
    xx, xy, yy, xz, yz, zz = map(float, link.inertia.I)
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if mass == 0.0:
        return mass, h, about_origin
    c = h / mass
    return mass, c, about_origin - mass * (c @ c * np.eye(3) - np.outer(c, c))


# -- shapes -----------------------------------------------------------------------------------


def shape_findings(model: Model) -> List[Finding]:
    """Return centers of mass far from their links' shapes, and disproportionate inertias.

    Collision shapes are used, or visual ones without these. Links without mass or shapes, and
    unreadable meshes, are not checked.

    :param model: the model
    """
    found = []
    for link in model.links.values():
        mass, center, inertia = _about_center(link)
        box = _box(model, link) if mass > 0.0 else None
        if box is None:
            continue
        low, high = box
        diagonal = float(np.linalg.norm(high - low))
        if diagonal <= 0.0:
            continue
        subject = f'link {quote(link.name)}'
        away = float(np.linalg.norm(center - np.clip(center, low, high))) / diagonal
        if away > FAR:
            found.append(
                Finding(
                    ERROR if away > ABSURD else WARN,
                    subject,
                    f'its center of mass ({_numbers(center)} m) is {away:.2g} diagonals of its '
                    f'shapes ({_numbers(low)} to {_numbers(high)} m) away from them',
                    'give <origin> of <inertial> in meters in the frame of the link; check the '
                    'scale of the mesh',
                )
            )
        a, b, c = (high - low) ** 2
        most = mass / 12.0 * max(a + b, b + c, c + a)
        ratio = float(np.abs(np.linalg.eigvalsh(inertia)).max()) / most
        if ratio > HEAVY or NONE < ratio < LIGHT:
            found.append(
                Finding(
                    WARN,
                    subject,
                    f'its largest moment of inertia is {ratio:.2g} times that of {mass:.3g} kg '
                    f'spread over its shapes ({most:.2g} kg m^2)',
                    'give moments in kg m^2 about the center of mass (1 kg mm^2 is 1e-6, 1 g mm^2 '
                    'is 1e-9 kg m^2); check for placeholders',
                )
            )
    return found


def mesh_findings(model: Model) -> List[Finding]:
    """Return COLLADA meshes with another up axis than z, which ROS tools do not rotate.

    :param model: the model
    """
    return [
        Finding(
            WARN,
            _named('mesh file', files),
            f'with <up_axis> {axis}, which ROS ignores: shapes are not rotated',
            'look at the robot in the viewer; if parts are rotated, export them with Z_UP, or '
            'rotate them by rpy of their <origin>',
        )
        for axis, files in ignored_up_axes(model).items()
    ]


def _box(model: Model, link: Link) -> Optional[Tuple[FloatArray, FloatArray]]:
    """Return the corners of the box around the shapes of a link along its axes, (3,) each [m]."""
    own = [shape for shape in model.geometries if shape.link == link.name]
    for role in ('collision', 'visual'):
        points = [_corners(shape, link) for shape in own if shape.role == role]
        known: List[FloatArray] = [corners for corners in points if corners is not None]
        if known and len(known) == len(points):
            every = np.concatenate(known)
            return every.min(axis=0), every.max(axis=0)
    return None


def _corners(geometry: Geometry, link: Link) -> Optional[FloatArray]:
    """Return points whose hull contains a shape, in coordinates of the link, (N, 3) [m]."""
    shape = geometry.shape
    if isinstance(shape, Mesh):
        if shape.path is None:
            return None
        try:
            points = np.asarray(mesh_vertices(shape.path, shape.scale), dtype=float)
        except MeshError:
            return None
    else:
        if isinstance(shape, Box):
            half = 0.5 * np.array(shape.size)
        elif isinstance(shape, Cylinder):
            half = np.array([shape.radius, shape.radius, 0.5 * shape.length])
        else:
            assert isinstance(shape, Sphere)
            half = np.full(3, shape.radius)
        signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, 8).T
        points = signs * half
    X = geometry.placement * link.placement.inverse()
    corners: FloatArray = points @ np.array(X.E, dtype=float) + np.array(X.r, dtype=float)
    return corners


# -- chain ------------------------------------------------------------------------------------


def chain_findings(model: Model) -> List[Finding]:
    """Return light bodies that carry heavy ones, distant frames, ill-conditioned matrices.

    :param model: the model; with loops or many DoFs, its matrices are not checked
    """
    if model.loops or not model.bodies or model.tree_nv > _MAX_DOFS:
        return []
    numbers, found = diagnose(model), []
    weights = {body.name: float(body.inertia.mass) for body in model.bodies}
    for name, ratio in numbers.mass_ratios.items():
        if ratio > MASS_RATIO:
            found.append(
                Finding(
                    WARN,
                    f'link {quote(name)}',
                    f'it weighs {weights[name]:.3g} kg and carries {ratio:.3g} times its mass',
                    'check both masses; contacts and loops converge slowly across such a joint, '
                    'and armature of the joint helps',
                )
            )
    for name, ratio in numbers.center_ratios.items():
        if ratio > MAX_CENTER_RATIO:
            found.append(
                Finding(
                    WARN,
                    f'link {quote(name)}',
                    f'the center of mass of all that is fixed to it is {ratio:.3g} radii of '
                    'gyration from its frame',
                    'check the moments of inertia (too small?) and the <origin> of its joint',
                )
            )
    if MAX_CONDITION < numbers.condition_number < math.inf:
        found.append(
            Finding(
                WARN,
                'mass matrix',
                f'its condition number is {numbers.condition_number:.2g} at the neutral '
                'configuration: '
                'accelerations lose as many digits',
                'check for very light links next to heavy ones; armature of their joints helps',
            )
        )
    return found


# -- limits -----------------------------------------------------------------------------------


def limit_findings(model: Model) -> List[Finding]:
    """Return missing, zero and probably degree-valued limits of the joints.

    :param model: the model
    """
    followers = {coupling.body for coupling in model.couplings}
    joints = [
        body for i, body in model.outward() if i not in followers and body.joint.nv == 1
    ]  # following joints have no actuator
    turning = [body for body in joints if body.urdf_type in ('revolute', 'continuous')]
    cases = (
        (
            'the effort limit 0',
            [b for b in joints if b.limits.effort == 0.0],
            'give effort="..." in N m or N; 0 disables the drive of the joint',
        ),
        (
            'the velocity limit 0',
            [b for b in joints if b.limits.velocity == 0.0],
            'give velocity="..." in rad/s or m/s; simulation ignores a limit of 0',
        ),
        (
            'no effort limit',
            [b for b in joints if b.limits.effort == math.inf],
            'add <limit effort="..."/> in N m or N: the nodes limit torques to it',
        ),
        (
            'no velocity limit',
            [b for b in joints if b.limits.velocity == math.inf],
            'add <limit velocity="..."/> in rad/s or m/s',
        ),
        (
            'no position limits, which URDF requires of their type',
            [
                b
                for b in joints
                if b.urdf_type in ('revolute', 'prismatic')
                and b.limits.lower == -math.inf
                and b.limits.upper == math.inf
            ],
            'add <limit lower="..." upper="..."/>, or make the joint continuous',
        ),
        (
            'position limits that look like degrees',
            [b for b in turning if _in_degrees(b.limits.lower) or _in_degrees(b.limits.upper)],
            'URDF takes radians: multiply degrees by pi / 180',
        ),
        (
            'velocity limits that look like degrees per second',
            [b for b in turning if _in_degrees(b.limits.velocity)],
            'URDF takes rad/s: multiply degrees by pi / 180',
        ),
    )
    return [
        Finding(WARN, _named('joint', [b.joint_name for b in bodies]), f'with {what}', cure)
        for what, bodies, cure in cases
        if bodies
    ]


def _in_degrees(limit: float) -> bool:
    return DEGREES[0] < abs(limit) <= DEGREES[1]


def _named(kind: str, names: Sequence[str]) -> str:
    more = f' and {len(names) - _NAMED} more' if len(names) > _NAMED else ''
    word = kind if len(names) == 1 else f'{kind}s'
    return f'{word} {", ".join(quote(name) for name in names[:_NAMED])}{more}'


def _numbers(values: Any) -> str:
    return ' '.join(f'{x + 0.0:.3g}' for x in values)


def _cure_of_warning(warning: str) -> str:
    if 'mesh file(s) not found' in warning:
        return 'source the workspace of their package, or give --package-path'
    if 'mimic a joint that does not exist' in warning:
        return 'correct the name of the joint in <mimic>, or remove it'
    return (
        'docs/urdf.md describes how it was read; correct the description if this is not intended'
    )
