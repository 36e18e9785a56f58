# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Mutants of algorithms, with typical errors: signs, terms, frames, indices.

This needs the standard library only, and does not import the package.
"""

import ast
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
EQUIVALENT = ROOT / 'test' / 'equivalent_mutants.txt'

_OF_ALGORITHMS = ('test/algorithms', 'test/textbook', 'test/invariants', 'test/golden')
#: Files and folders of algorithms, and the tests that each could fail beside its own.
TEXTS = {
    'rbd_ros/spatial': ('test/spatial', 'test/algorithms', 'test/textbook'),
    'rbd_ros/algorithms': _OF_ALGORITHMS,
    'rbd_ros/textbook': _OF_ALGORITHMS,
    'rbd_ros/model/joints': (
        'test/model/joints/test_joints.py',
        'test/model/test_joints_in_trees.py',
        'test/algorithms',
    ),
    'rbd_ros/model': ('test/model', 'test/urdf'),
    'rbd_ros/constraints': ('test/constraints',),
    'rbd_ros/collision': ('test/collision',),
    'rbd_ros/world': ('test/world',),
    'rbd_ros/contact': ('test/contact', 'test/simulation'),
    'rbd_ros/meshes': ('test/meshes', 'test/world/test_solids.py'),
    'rbd_ros/simulation': ('test/simulation', 'test/nodes/test_simulation_cycle.py'),
    'rbd_ros/control': ('test/control',),
    'rbd_ros/identification': ('test/identification',),
    'rbd_ros/hil': ('test/hil',),
}
_OF_CONVEX_PAIRS = (
    'test/collision/test_degenerate_contacts.py',
    'test/collision/test_convex_contacts.py',
    'test/collision/test_distance_of_shapes.py',
)
# Single steps by the interpreter first: they are quick, and detect most errors.
_OF_STEPS_IN_WORLDS = (
    'test/simulation/scene/test_scene_equations.py',
    'test/simulation/stepping/test_rigid_contact.py',
)
_OF_ISLANDS = (
    'test/simulation/scene/test_scene_equations.py',
    'test/simulation/scene/test_scene_speculative_contacts.py',
    'test/simulation/scene/test_scene_warm_start.py',
    'test/simulation/scene/test_scene_springs.py',
    'test/simulation/stepping/test_rigid_contact.py',
)
_OF_PLANAR_VECTORS = ('test/textbook/planar/test_planar_vectors.py',)
#: Tests of algorithms without a test file of their own name.
OWN = {
    'rbd_ros/spatial/inertia.py': (
        'test/spatial/test_inertias.py',
        'test/textbook/spatial_algebra/test_inverse_inertia.py',
    ),
    'rbd_ros/textbook/planar/planar_inertia.py': _OF_PLANAR_VECTORS,
    'rbd_ros/textbook/planar/planar_transform.py': _OF_PLANAR_VECTORS,
    'rbd_ros/spatial/transform.py': ('test/spatial/test_plucker_transforms.py',),
    'rbd_ros/spatial/spatial_vectors.py': ('test/spatial/test_spatial_vectors.py',),
    'rbd_ros/textbook/articulated_body/bodies_in_base.py': (
        'test/textbook/articulated_body/test_divide_and_conquer.py',
        'test/textbook/articulated_body/test_constraint_assembly_dynamics.py',
    ),
    'rbd_ros/textbook/closed_loops/global_system.py': (
        'test/textbook/closed_loops/test_global_system.py',
        'test/textbook/closed_loops/test_higher_pairs.py',
    ),
    'rbd_ros/textbook/floating_base/floating_state.py': (
        'test/textbook/floating_base/test_floating_equations.py',
        'test/textbook/floating_base/test_floating_inverse_dynamics.py',
        'test/textbook/floating_base/test_floating_momentum.py',
    ),
    'rbd_ros/collision/concave/candidates.py': (
        'test/collision/convex/test_reduction.py',
        'test/collision/test_concave_contacts.py',
    ),
    'rbd_ros/collision/concave/concave_pairs.py': ('test/collision/test_concave_contacts.py',),
    'rbd_ros/collision/concave/concave_search.py': ('test/collision/test_concave_contacts.py',),
    'rbd_ros/collision/convex/convex_pairs.py': _OF_CONVEX_PAIRS,
    'rbd_ros/collision/convex/epa.py': _OF_CONVEX_PAIRS,
    'rbd_ros/collision/convex/manifolds.py': _OF_CONVEX_PAIRS,
    'rbd_ros/collision/convex/polishing.py': _OF_CONVEX_PAIRS,
    'rbd_ros/collision/convex/gjk.py': _OF_CONVEX_PAIRS,
    'rbd_ros/world/height_fields.py': ('test/world/test_world_file.py',),
    'rbd_ros/collision/pairs/boxes.py': (
        'test/collision/test_nearest_features.py',
        'test/collision/test_distance_of_shapes.py',
    ),
    'rbd_ros/collision/scene/scene_search.py': (
        'test/collision/scene/test_self_collision.py',
        'test/collision/scene/test_scene_contacts.py',
    ),
    'rbd_ros/collision/pairs/planes.py': (
        'test/collision/test_nearest_features.py',
        'test/collision/test_convex_contacts.py',
        'test/collision/test_scene_meshes.py',
    ),
    'rbd_ros/collision/scene/scene.py': (
        'test/collision/scene/test_scene_contacts.py',
        'test/collision/test_moving_robots.py',
    ),
    'rbd_ros/collision/shapes/scene_shapes.py': ('test/collision/test_scene_meshes.py',),
    'rbd_ros/world/surfaces.py': ('test/world/test_world.py',),
    'rbd_ros/world/world_objects.py': ('test/world/test_world_file.py',),
    'rbd_ros/constraints/friction_bodies.py': ('test/constraints/test_friction_bodies.py',),
    'rbd_ros/constraints/friction_solution.py': (
        'test/constraints/solvers/test_friction_moments.py',
        'test/constraints/test_friction_space.py',
        'test/constraints/test_friction_solution.py',
    ),
    'rbd_ros/constraints/friction_space.py': (
        'test/constraints/test_friction_space.py',
        'test/constraints/test_friction_solution.py',
        'test/constraints/solvers/test_friction_sweeps.py',
        'test/constraints/solvers/test_friction_newton.py',
        'test/constraints/solvers/test_friction_moments.py',
        'test/constraints/solvers/test_friction_warm.py',
    ),
    'rbd_ros/constraints/friction.py': (
        'test/constraints/test_friction.py',
        'test/constraints/solvers/test_friction_moments.py',
    ),
    'rbd_ros/constraints/solvers/friction_solver.py': (
        'test/constraints/solvers/test_friction_solver.py',
        'test/constraints/test_friction_space.py',
        'test/constraints/solvers/test_friction_warm.py',
        'test/constraints/test_friction_solution.py',
    ),
    'rbd_ros/constraints/solvers/friction_sweeps.py': (
        'test/constraints/solvers/test_friction_sweeps.py',
        'test/constraints/test_friction_solution.py',
    ),
    'rbd_ros/constraints/solvers/friction_newton.py': (
        'test/constraints/solvers/test_friction_newton.py',
        'test/constraints/solvers/test_friction_solver.py',
        'test/constraints/solvers/test_friction_moments.py',
        'test/constraints/solvers/test_friction_warm.py',
        'test/constraints/test_friction_solution.py',
    ),
    'rbd_ros/constraints/solvers/friction_newton_step.py': (
        'test/constraints/solvers/test_friction_newton.py',
        'test/constraints/solvers/test_friction_low_rank.py',
        'test/constraints/solvers/test_friction_moments.py',
    ),
    'rbd_ros/constraints/solvers/friction_low_rank.py': (
        'test/constraints/solvers/test_friction_low_rank.py',
        'test/constraints/solvers/test_friction_load_sharing.py',
    ),
    'rbd_ros/constraints/solvers/friction_load_sharing.py': (
        'test/constraints/solvers/test_friction_load_sharing.py',
    ),
    'rbd_ros/constraints/solvers/friction_moment_solver.py': (
        'test/constraints/solvers/test_friction_moments.py',
    ),
    'rbd_ros/constraints/solvers/dense.py': ('test/constraints/solvers/test_friction_systems.py',),
    'rbd_ros/textbook/complementarity/gauss.py': (
        'test/textbook/complementarity/test_gauss.py',
        'test/textbook/complementarity/test_lcp.py',
    ),
    'rbd_ros/contact/detection.py': (
        'test/contact/test_detection.py',
        'test/contact/test_shapes.py',
    ),
    'rbd_ros/contact/ground.py': ('test/contact/test_shapes.py', 'test/contact/test_law.py'),
    'rbd_ros/model/joints/exponential.py': ('test/model/joints/test_exponential.py',),
    'rbd_ros/model/joints/rheonomic.py': ('test/model/joints/test_rheonomic.py',),
    'rbd_ros/model/joints': ('test/model/joints/test_joints.py', 'test/model/test_equivalent.py'),
    'rbd_ros/simulation/stepping/external_forces.py': (
        'test/simulation/test_stepping.py',
        'test/simulation/test_simulator.py',
    ),
    'rbd_ros/simulation/stepping/ground_contact.py': (
        'test/simulation/stepping/test_ground_contact.py',
        'test/simulation/stepping/test_solver.py',
    ),
    'rbd_ros/simulation/loops/loop_closing.py': ('test/simulation/test_closed_loops.py',),
    'rbd_ros/simulation/loops/loop_directions.py': ('test/simulation/loops/test_loop_solver.py',),
    'rbd_ros/simulation/loops/loop_drives.py': (
        'test/simulation/loops/test_loop_drives.py',
        'test/simulation/loops/test_loop_solver.py',
    ),
    'rbd_ros/simulation/stepping/midpoint_step.py': (
        'test/simulation/stepping/test_midpoint_step.py',
        'test/simulation/test_joint_friction_and_limits.py',
    ),
    'rbd_ros/simulation/stepping/displacement.py': ('test/simulation/test_stepping.py',),
    'rbd_ros/simulation/stepping/runge_kutta_step.py': (
        'test/simulation/test_stepping.py',
        'test/simulation/stepping/test_runge_kutta_step.py',
        'test/simulation/loops/test_loop_drives.py',
        'test/simulation/test_joint_friction_and_limits.py',
    ),
    'rbd_ros/simulation/scene/impacts.py': (
        *_OF_STEPS_IN_WORLDS,
        'test/simulation/scene/test_scene_impacts.py',
    ),
    'rbd_ros/simulation/scene/scene_update.py': ('test/simulation/test_changed_worlds.py',),
    'rbd_ros/simulation/scene/compliance.py': (
        'test/simulation/scene/test_scene_equations.py',
        'test/simulation/scene/test_scene_compliance.py',
    ),
    'rbd_ros/simulation/scene/friction_moments.py': (
        'test/simulation/scene/test_scene_equations.py',
        'test/simulation/scene/test_scene_warm_start.py',
        'test/simulation/scene/test_scene_friction_moments.py',
    ),
    'rbd_ros/simulation/scene/restitution.py': (
        'test/simulation/scene/test_scene_equations.py',
        'test/simulation/scene/test_scene_impacts.py',
    ),
    'rbd_ros/simulation/scene/island.py': _OF_ISLANDS,
    'rbd_ros/simulation/scene/islands.py': _OF_STEPS_IN_WORLDS,
    'rbd_ros/simulation/scene/contact_jacobians.py': _OF_STEPS_IN_WORLDS,
    'rbd_ros/simulation/scene/contact_cache.py': _OF_STEPS_IN_WORLDS,
    'rbd_ros/simulation/scene/position_correction.py': _OF_STEPS_IN_WORLDS,
    'rbd_ros/simulation/scene/branch_sparsity.py': _OF_STEPS_IN_WORLDS,
    'rbd_ros/simulation/scene/matrix_free_islands.py': _OF_ISLANDS,
    'rbd_ros/simulation/scene/contact_problem.py': _OF_STEPS_IN_WORLDS,
    'rbd_ros/simulation/scene/scene_robot.py': _OF_STEPS_IN_WORLDS,
    'rbd_ros/simulation/scene/springs.py': ('test/simulation/scene/test_scene_springs.py',),
    'rbd_ros/simulation/scene/scene_step.py': _OF_STEPS_IN_WORLDS,
    'rbd_ros/simulation/scene/servo.py': ('test/simulation/test_implicit_pd.py',),
    'rbd_ros/simulation/stepping/joint_servo.py': ('test/simulation/test_implicit_pd.py',),
    'rbd_ros/simulation/stepping/semi_implicit_step.py': (
        'test/simulation/stepping/test_solver.py',
        'test/simulation/test_joint_friction_and_limits.py',
        'test/simulation/test_smooth_motion.py',
    ),
    'rbd_ros/simulation/stepping/stepping.py': (
        'test/simulation/test_stepping.py',
        'test/simulation/test_joint_friction_and_limits.py',
        'test/simulation/test_simulator.py',
        'test/simulation/test_smooth_motion.py',
        'test/simulation/test_soft_contact.py',
    ),
    'rbd_ros/simulation/start/robot_overlaps.py': ('test/simulation/test_rigid_ground.py',),
    'rbd_ros/simulation/start/start_overlaps.py': (
        'test/simulation/test_rigid_ground.py',
        'test/simulation/test_meshes_in_worlds.py',
        'test/simulation/stepping/test_rigid_contact.py',
    ),
    'rbd_ros/simulation/start/start_warnings.py': (
        'test/simulation/test_rigid_ground.py',
        'test/simulation/test_simulator.py',
        'test/simulation/test_closed_loops.py',
        'test/simulation/test_soft_contact.py',
        'test/simulation/test_joint_friction_and_limits.py',
    ),
    'rbd_ros/simulation/stepping/sweeps.py': (
        'test/simulation/stepping/test_solver.py',
        'test/simulation/loops/test_loop_solver.py',
    ),
}
# No algorithms, but their declarations
_NO_TEXTS = {
    'declaration.py',
    'array.py',
    'kinds.py',
    'contact_kinds.py',
    'floating_base_kinds.py',
    '__init__.py',
}
# Records, how they are made, and interfaces for users and loops
_WITHOUT_LAWS = {
    f'rbd_ros/simulation/{name}.py'
    for name in (
        'assembly',
        'loop_assembly',
        'simulation_model',
        'simulator',
        'state',
        'workspace',
        'world',
    )
}
# Methods from one frame to another, and back
_FRAMES = {
    'inverse_apply': 'apply',
    'apply': 'inverse_apply',
    'to_base': 'to_body',
    'to_body': 'to_base',
}


class Mutant(NamedTuple):
    """A source file with one error.

    :param file: path of the file, from the root of the repository
    :param name: file, function, old and new expression; with a number if that occurs several times
    :param source: text of the file
    """

    file: str
    name: str
    source: str


def texts() -> list[str]:
    """Return the paths of all algorithms, from the root of the repository."""
    every = [path for folder in TEXTS for path in sorted((ROOT / folder).rglob('*.py'))]
    found = dict.fromkeys(every)  # each once, since folders are nested
    names = [
        path.relative_to(ROOT).as_posix() for path in found if _NO_TEXTS.isdisjoint(path.parts)
    ]
    return [name for name in names if name not in _WITHOUT_LAWS]


def tests_of(file: str) -> list[tuple[str, ...]]:
    """Return the tests that an error in a file should fail.

    They are its own, those of its folders, the nearest first, then all others.
    """
    path = Path(file)
    folder = next(each for each in TEXTS if path.is_relative_to(each))
    named = Path('test', *path.parent.parts[1:], f'test_{path.name}')
    places = (file, path.parent.as_posix())
    own = next((OWN[place] for place in places if place in OWN), (named.as_posix(),))
    folders = [(place.as_posix(),) for place in named.parents[:-2] if (ROOT / place).exists()]
    return list(dict.fromkeys((own, *folders, TEXTS[folder])))


def equivalent() -> dict[str, str]:
    """Return the reasons why some errors have no effect, by name."""
    if not EQUIVALENT.exists():
        return {}
    lines = EQUIVALENT.read_text(encoding='utf-8').splitlines()
    entries = [line.split('  # ') for line in lines if line and not line.startswith('#')]
    return {name.strip(): reason for name, reason in entries}


def mutants(file: str) -> Iterator[Mutant]:
    """Yield all mutants of a source file.

    :param file: its path, from the root of the repository
    """
    yield from mutants_of((ROOT / file).read_text(encoding='utf-8'), file)


def mutants_of(source: str, file: str) -> Iterator[Mutant]:
    """Yield all mutants of a source text."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    data, seen = source.encode(), Counter()
    for function, node in _evaluated(ast.parse(source)):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        before = data[begin:end].decode()
        for after in _errors(node):
            name = f'{file}: {function}: {_short(before)} -> {_short(after)}'
            seen[name] += 1
            number = f' ({seen[name]})' if seen[name] > 1 else ''
            changed = data[:begin].decode() + after + data[end:].decode()
            yield Mutant(file, name + number, changed)


def _short(text: str) -> str:
    return ' '.join(text.split())


def _evaluated(tree: ast.AST, inside: str = '') -> Iterator[tuple[str, ast.expr]]:
    """Yield the expressions that are evaluated when an algorithm runs, and in which function.

    Annotations, declarations, messages and exceptions are excluded, and the numbers of example
    joints, where others would do as well.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and node.name != 'examples':
            for statement in node.body:
                yield from _below(statement, f'{inside}{node.name}')
        elif isinstance(node, ast.ClassDef):
            yield from _evaluated(node, f'{inside}{node.name}.')


def _below(node: ast.AST, function: str) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.JoinedStr)):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.expr):
        yield function, node
    annotation = getattr(node, 'annotation', None)
    for child in ast.iter_child_nodes(node):
        if child is not annotation:
            yield from _below(child, function)


def _errors(node: ast.expr) -> Iterator[str]:
    """Yield the texts of an expression with one error."""
    if isinstance(node, ast.BinOp):
        a, b = ast.unparse(node.left), ast.unparse(node.right)
        if isinstance(node.op, ast.Add):
            yield from (f'({a} - ({b}))', f'({a})', f'({b})')
        elif isinstance(node.op, ast.Sub):
            yield from (f'({a} + ({b}))', f'({a})')
        elif isinstance(node.op, (ast.MatMult, ast.Mult)):
            yield f'(-1.0 * ({ast.unparse(node)}))'
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        if not isinstance(node.operand, ast.Constant):
            yield f'({ast.unparse(node.operand)})'
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        method, value = node.func.attr, node.func.value
        if method in _FRAMES:
            yield ast.unparse(ast.Call(ast.Attribute(value, _FRAMES[method]), node.args, []))
        elif method in ('inverse', 'transpose') and not node.args:
            this = ast.unparse(value)
            yield f'({this})' if isinstance(value, (ast.BinOp, ast.UnaryOp)) else this
        elif method == 'cross' and len(node.args) == 1:
            yield f'(-1.0 * {ast.unparse(node)})'
    elif isinstance(node, ast.Attribute) and node.attr == 'armature':
        yield f'(2.0 * {ast.unparse(node)})'
    elif isinstance(node, ast.Constant) and type(node.value) is float and node.value != 0.0:
        yield repr(2.0 * node.value)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        turned = {ast.Eq: '!=', ast.NotEq: '==', ast.Lt: '>=', ast.Gt: '<='}
        sign = turned.get(type(node.ops[0]))
        if sign:
            a, b = ast.unparse(node.left), ast.unparse(node.comparators[0])
            yield f'({a} {sign} {b})'
