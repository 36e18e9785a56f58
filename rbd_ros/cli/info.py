# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros info robot.urdf`: facts about the model of a URDF, as text or JSON."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any, Dict, List, Optional, Sequence, Union

from rbd_ros.algorithms.closed_loops.mobility import mobility
from rbd_ros.algorithms.inertia_matrix.singularity import singular_joints
from rbd_ros.cli.options.common_options import add_json_option
from rbd_ros.cli.options.robot_options import add_robot_options, model_options, named_robot
from rbd_ros.cli.output.text_table import plural, table
from rbd_ros.collision.scene.scene import self_collision_notices
from rbd_ros.doctor.findings import counted, Finding, finding_lines, OK
from rbd_ros.doctor.urdf_lint import lint_model
from rbd_ros.model import load_urdf, LoopJoint, Model
from rbd_ros.model.extension import read_extension
from rbd_ros.model.floating_model import is_free_base
from rbd_ros.model.geometry import Mesh
from rbd_ros.model.joint_registry import joint_name
from rbd_ros.model.joints import JointType
from rbd_ros.robot.accuracy_diagnosis import diagnose
from rbd_ros.robot.assembled import assembled

_MAX_INDENT = 24
_MAX_CHECKED = 1000  # maximum DoFs for a check of the mass matrix
_MAX_DIAGNOSED = 200  # maximum DoFs for its condition number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `rbd_ros info`."""
    add_robot_options(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print facts about the model.

    :return: 0
    :raises ModelError: if the URDF cannot be converted to a model
    """
    options = model_options(arguments)
    model, q = (
        load_urdf(named_robot(arguments), **options),
        None,
    )
    if model.loops:
        model, q = assembled(model, read_extension(options['extension']))
    facts = {**summary(model, q), 'self_collision': list(self_collision_notices(model))}
    print(json.dumps(facts, indent=2) if arguments.json else '\n'.join(report(facts)))
    return 0


def summary(model: Model, q: Optional[Sequence[float]] = None) -> Dict[str, Any]:
    """Return facts about a model in JSON types; a missing limit is None.

    :param q: configuration with closed loops, (nq,); None: the neutral one
    """
    masses = [0.0] * (len(model.bodies) + 1)
    links: List[List[str]] = [[] for _ in masses]
    for link in model.links.values():
        masses[link.body] += link.inertia.mass
        links[link.body].append(link.name)
    singular = list(singular_joints(model)) if model.tree_nv <= _MAX_CHECKED else []
    bodies = [_base(links[0], masses[0])]
    bodies += [_body(model, i, links[i], masses[i]) for i, _ in model.outward()]
    meshes = [
        shape
        for shape in (geometry.shape for geometry in model.geometries)
        if isinstance(shape, Mesh)
    ]
    return {
        'name': model.name,
        'floating_base': bool(model.bodies) and is_free_base(model.body(1)),
        'nq': model.nq,
        'nv': model.nv,
        'joint_names': list(model.joint_names),
        'links': len(model.links),
        'total_mass': math.fsum(masses),
        'gravity': list(model.gravity),
        'bodies': bodies,
        'mimic': [
            {
                'joint': model.body(c.body).joint_name,
                'master': model.body(c.master).joint_name,
                'ratio': c.ratio,
                'offset': c.offset,
            }
            for c in model.couplings
        ],
        'actuated': list(model.actuated_joints),
        'loops': [_loop(model, loop) for loop in model.loops],
        'mobility': _mobility(model, q) if model.loops else None,
        'geometries': {
            'collision': sum(geometry.role == 'collision' for geometry in model.geometries),
            'visual': sum(geometry.role == 'visual' for geometry in model.geometries),
            'mesh_files': len({mesh.uri for mesh in meshes}),
            'mesh_files_not_found': sorted({mesh.uri for mesh in meshes if mesh.path is None}),
        },
        'singular_joints': singular,
        'accuracy': _accuracy(model, singular, q) if model.tree_nv <= _MAX_DIAGNOSED else None,
        'warnings': list(model.warnings),
        'findings': [each.as_dict() for each in lint_model(model) if each.level != OK],
    }


def _accuracy(model: Model, singular: List[str], q: Any) -> Dict[str, Any]:
    """Return diagnostics at a configuration; a singular matrix has no condition number."""
    found = diagnose(model, q)
    return {
        'condition_number': None if singular else _finite(found.condition_number),
        'loop_condition_number': found.loop_condition_number,
        'center_ratios': found.center_ratios,
        'mass_ratios': found.mass_ratios,
        'warnings': [] if singular else list(found.warnings),
    }


def _loop(model: Model, loop: LoopJoint) -> Dict[str, Any]:
    ends = (loop.predecessor.body, loop.successor.body)
    names = [model.body(i).name if i else 'the base' for i in ends]
    return {
        'name': loop.name,
        'type': joint_name(loop.joint),
        'axis': _axis(loop.joint),
        'predecessor': names[0],
        'successor': names[1],
        'constraints': 6 - loop.joint.nv,
    }


def _mobility(model: Model, q: Optional[Sequence[float]]) -> Dict[str, Any]:
    """Return the mobility and the rank of the loop constraints at a closed configuration."""
    at = [x for i in model.independent for x in model.body(i).joint.neutral()] if q is None else q
    found = mobility(model, at)
    return {
        'configuration': [float(x) for x in at],
        'degrees_of_freedom': found.dofs,
        'constraints': found.constraints,
        'rank': found.rank,
        'mobility': found.mobility,
        'overconstraint': found.overconstraint,
        'redundant': {loop.name: loop.redundant for loop in found.redundant_loops},
    }


def _base(links: List[str], mass: float) -> Dict[str, Any]:
    return {
        'number': 0,
        'name': links[0] if links else 'world',
        'parent': None,
        'mass': mass,
        'fixed_links': links[1:],
        'joint': None,
    }


def _body(model: Model, i: int, links: List[str], mass: float) -> Dict[str, Any]:
    body = model.body(i)
    limits = {
        name: _finite(getattr(body.limits, name))
        for name in ('lower', 'upper', 'velocity', 'effort')
    }
    joint = {
        'name': body.joint_name,
        'type': body.urdf_type or joint_name(body.joint),
        'axis': _axis(body.joint),
        **limits,
        'damping': body.damping,
        'friction': body.friction,
        'armature': body.armature,
        'stiffness': body.stiffness,
        'rest': body.rest,
    }
    return {
        'number': i,
        'name': body.name,
        'parent': body.parent,
        'mass': mass,
        'fixed_links': [name for name in links if name != body.name],
        'joint': joint,
    }


def _finite(value: float) -> Union[float, None]:
    return value if math.isfinite(value) else None


def _axis(joint: JointType) -> Union[List[float], None]:
    axis = getattr(joint, 'axis', None) or getattr(joint, 'axes', (None, None, None))[2]
    return None if axis is None else [float(x) for x in axis]


# -- text -----------------------------------------------------------------------------------------


def report(facts: Dict[str, Any]) -> List[str]:
    """Return the lines of a text report with the facts of `summary`."""
    bodies = facts['bodies']
    floating = facts['floating_base']
    lines = [
        f'{facts["name"]}: {plural(len(bodies) - 1, "moving body", "moving bodies")}, '
        f'{plural(facts["links"], "link")}, {"floating" if floating else "fixed"} base',
        f'nq = {facts["nq"]}, nv = {facts["nv"]}, total mass {_number(facts["total_mass"])} kg',
        '',
    ]
    lines += table(
        ('', 'body', 'joint', 'type', 'axis', 'mass [kg]', 'fixed links'),
        [_tree_row(body, depth) for body, depth in zip(bodies, _depths(bodies))],
        '>.....',
    )
    joints = [body['joint'] for body in bodies[1:]]
    if joints:
        lines += ['', 'Limits and losses (rad, m, N m, N; -: none)']
        lines += table(
            ('joint', 'lower', 'upper', 'velocity', 'effort', 'damping', 'friction', 'armature'),
            [_joint_row(joint) for joint in joints],
            '.>>>>>>>',
        )
    if facts['mimic']:
        lines += ['', 'Mimic joints', *map(_mimic_line, facts['mimic'])]
    lines += _loop_lines(facts)
    shapes = facts['geometries']
    lost = len(shapes['mesh_files_not_found'])
    lines += [
        '',
        f'Shapes: {shapes["collision"]} collision, {shapes["visual"]} visual, '
        f'{plural(shapes["mesh_files"], "mesh file")}, {lost} of them missing',
    ]
    lines += facts.get('self_collision', [])
    if facts['singular_joints']:
        lines += [
            '',
            'The mass matrix is singular, so forward dynamics do not exist:',
            f'no mass moves with joint {", ".join(facts["singular_joints"])}.',
            'Add an armature to the joints, or masses to their links.',
        ]
    accuracy = facts['accuracy']
    place = 'the assembly above' if facts['loops'] else 'the neutral configuration'
    if accuracy is not None and accuracy['condition_number'] is not None:
        lines += [
            '',
            f'Condition number of the mass matrix at {place}: {accuracy["condition_number"]:.3g}',
        ]
    if accuracy is not None and accuracy['warnings']:
        lines += ['', 'Accuracy:', *(f'  - {warning}' for warning in accuracy['warnings'])]
    findings = [Finding(**each) for each in facts['findings']]
    return [*lines, '', counted(findings), *finding_lines(findings)]


def _loop_lines(facts: Dict[str, Any]) -> List[str]:
    if not facts['loops']:
        return []
    motion = facts['mobility']
    rows = [
        (
            loop['name'],
            loop['type'],
            '' if loop['axis'] is None else ' '.join(_number(x) for x in loop['axis']),
            loop['predecessor'],
            loop['successor'],
            str(loop['constraints']),
            str(motion['redundant'].get(loop['name'], 0)),
        )
        for loop in facts['loops']
    ]
    head = ('loop', 'type', 'axis', 'predecessor', 'successor', 'constraints', 'redundant')
    return [
        '',
        'Loops',
        *table(head, rows, '.....>>'),
        f'Mobility {motion["mobility"]}: {motion["degrees_of_freedom"]} degrees of freedom of the '
        f'tree minus {motion["rank"]}, the rank of {plural(motion["constraints"], "constraint")} '
        f'({motion["overconstraint"]} redundant)',
        'Closed at q = ' + ' '.join(_number(x) for x in motion['configuration']),
        f'Actuated: {", ".join(facts["actuated"]) or "no joint"}',
    ]


def _depths(bodies: Sequence[Dict[str, Any]]) -> List[int]:
    depths = []
    for body in bodies:
        depths.append(0 if body['parent'] is None else depths[body['parent']] + 1)
    return depths


def _tree_row(body: Dict[str, Any], depth: int) -> tuple:
    joint = body['joint'] or {'name': '', 'type': '', 'axis': None}
    axis = '' if joint['axis'] is None else ' '.join(_number(x) for x in joint['axis'])
    return (
        str(body['number']),
        '  ' * min(depth, _MAX_INDENT) + body['name'],
        joint['name'],
        joint['type'],
        axis,
        _number(body['mass']),
        ', '.join(body['fixed_links']),
    )


def _joint_row(joint: Dict[str, Any]) -> tuple:
    limits = (
        '-' if joint[name] is None else _number(joint[name])
        for name in ('lower', 'upper', 'velocity', 'effort')
    )
    losses = (_number(joint[name]) for name in ('damping', 'friction', 'armature'))
    return (joint['name'], *limits, *losses)


def _mimic_line(mimic: Dict[str, Any]) -> str:
    offset = mimic['offset']
    shift = f' {"-" if offset < 0 else "+"} {_number(abs(offset))}' if offset else ''
    return f'  {mimic["joint"]} = {_number(mimic["ratio"])} * {mimic["master"]}{shift}'


def _number(value: float) -> str:
    return f'{value + 0.0:.5g}'
