# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Imports run one way, from nodes and cli at the top down to spatial, which imports no other.

    spatial <- model <- algorithms, meshes <- world <- robot <- collision, contact, constraints
    <- simulation, control <- nodes <- launching, demonstration <- cli
                                                               simulation <- fmi, viewer <- cli
                                                               meshes, robot <- doctor <- cli
                                     constraints <- textbook, which nothing else imports

Of the nodes, launching imports only their declarations.

Rooms are the folders (or single modules) of the package; see docs/architecture.md.
"""

import ast
from graphlib import CycleError, TopologicalSorter
import re

import pytest
from support.source_imports import imports, module_name, PACKAGE, package_sources

# Packages that each package may import. New packages must be entered here.
MAY_IMPORT = {
    'array_types': set(),
    'bounded_files': set(),
    'extension_points': set(),
    'html_tables': set(),
    'lazy_names': set(),
    'license_header': set(),
    'plot_names': set(),
    'programs': set(),
    'lookup': {'model'},
    'spatial': set(),
    'compiler': set(),
    'wire': set(),
    'model': {'spatial'},
    'meshes': {'model'},
    'world': {'spatial', 'model', 'meshes'},
    'algorithms': {'spatial', 'model'},
    'robot': {
        'spatial',
        'model',
        'meshes',
        'world',
        'algorithms',
        'compiler',
        'constraints',
        'lookup',
    },
    'collision': {'spatial', 'model', 'algorithms', 'meshes', 'world'},
    'contact': {'spatial', 'model', 'algorithms', 'robot', 'meshes'},
    'constraints': set(),
    'control': {'spatial', 'model', 'algorithms', 'robot', 'compiler'},
    'hil': {
        'spatial',
        'model',
        'robot',
        'contact',
        'control',
        'simulation',
        'wire',
        'lookup',
    },
    'simulation': {
        'spatial',
        'model',
        'algorithms',
        'robot',
        'collision',
        'world',
        'contact',
        'constraints',
        'wire',
    },
    'identification': {'spatial', 'model', 'algorithms', 'robot', 'control', 'wire'},
    'gym': {'robot', 'simulation', 'lookup'},
    'fmi': {'spatial', 'model', 'algorithms', 'robot', 'contact', 'simulation', 'compiler'},
    'viewer': {
        'spatial',
        'model',
        'meshes',
        'robot',
        'collision',
        'world',
        'contact',
        'simulation',
        'wire',
    },
    'nodes': {
        'spatial',
        'model',
        'algorithms',
        'robot',
        'collision',
        'world',
        'contact',
        'control',
        'simulation',
        'hil',
        'wire',
        'lookup',
    },
    # What the package does not run: nothing else imports it, but for UPWARD.
    'textbook': {
        'spatial',
        'model',
        'algorithms',
        'robot',
        'compiler',
        'contact',
        'constraints',
    },
    'doctor': {'spatial', 'model', 'algorithms', 'meshes', 'robot', 'compiler'},
    'launching': {'model', 'lookup', 'hil', 'nodes'},
    'demonstration': {
        'spatial',
        'model',
        'algorithms',
        'robot',
        'contact',
        'control',
        'simulation',
        'nodes',
        'lookup',
    },
    'cli': {
        'spatial',
        'model',
        'algorithms',
        'robot',
        'collision',
        'world',
        'contact',
        'control',
        'simulation',
        'fmi',
        'viewer',
        'hil',
        'demonstration',
        'doctor',
        'identification',
        'lookup',
    },
}
# Families that are imported on demand; algorithms are found there by their names.
UPWARD = {
    'rbd_ros.constraints.friction_solution': {
        'rbd_ros.textbook.complementarity.lcp.infeasibility',
    },
    'rbd_ros.robot.robot': {
        'rbd_ros.textbook.articulated_body.articulated_family.ArticulatedFunctions',
        'rbd_ros.textbook.contact_dynamics.contacts_family.ContactFunctions',
        'rbd_ros.textbook.contact_dynamics.impacts_family.ImpactFunctions',
        'rbd_ros.textbook.denoc.denoc_family.ComplementFunctions',
        'rbd_ros.textbook.floating_base.floating_base_family.FloatingBaseFunctions',
    },
    'rbd_ros.robot.families.loops_family': {
        'rbd_ros.textbook.closed_loops.explicit_loops.LoopFunction',
        'rbd_ros.textbook.closed_loops.explicit_loops_family.ExplicitLoops',
        'rbd_ros.textbook.closed_loops.implicit_constraints.ConstraintFunction',
        'rbd_ros.textbook.closed_loops.implicit_constraints_family.ImplicitConstraints',
    },
}
# Importable by all packages.
FOR_ALL = {
    'array_types',
    'bounded_files',
    'extension_points',
    'html_tables',
    'lazy_names',
    'plot_names',
    'programs',
}
KNOW_ROS = {'nodes', 'demonstration'}
# Modules of other rooms that do, when they are used.
MAY_KNOW_ROS = {
    'rbd_ros.doctor.graph_reading',
    'rbd_ros.viewer.watching',
}

# Classes of messages are found by the names that topics are declared with; algorithms and what
# else declares itself, in their folders; public names of a package, in the file that it names;
# loops, in the files that `entry_point_of` and `NamedFunction` name, which count as imported
# there; controllers under test, by a scenario; programs, by their commands.
IMPORT_BY_NAME = {
    'rbd_ros.algorithms',
    'rbd_ros.compiler.loops.entry_points',
    'rbd_ros.compiler.loops.vocabulary',
    'rbd_ros.extension_points',
    'rbd_ros.hil.scenario.factories',
    'rbd_ros.lazy_names',
    'rbd_ros.nodes.common.communication',
    'rbd_ros.programs',
}

# Compilation of loops over data, and their records, without robots.
LOOPS = {'rbd_ros.compiler.loops'}
SINGLE_MODULES = {
    # Hulls of meshes are kept on disk with machine code.
    'collision': LOOPS | {'rbd_ros.compiler.cache', 'rbd_ros.compiler.source'},
    'constraints': LOOPS,
    'contact': LOOPS,
    # Libraries of the page, which reports use as well.
    'hil': {'rbd_ros.viewer.page_parts'},
    'simulation': LOOPS,
    'nodes': LOOPS,
    'viewer': LOOPS,
    'wire': LOOPS,
}

# What launch files may know of nodes: their declarations, which import nothing heavy.
DECLARATIONS = 'rbd_ros.nodes.common.node_interface'

# Names of the public face, rbd_ros/__init__.py, and the rooms that they stand for.
ROOM_OF_PUBLIC_NAME = {
    'ModelError': 'model',
    'Robot': 'robot',
    'Simulator': 'simulation',
    '__version__': None,
}

# Launch files run in a separate process, and describe processes: they import launch, not rclpy.
LAUNCH = re.compile(r'(launch\w*|ament_index_python)$')

ROS = re.compile(
    r'(rclpy|rcl_\w+|ros\w*|launch\w*|ament_\w+|tf2_\w+|lifecycle\w*'
    r'|\w+_(msgs|srvs|interfaces))$'
)


def violations(source, module, is_package=False):
    """Return the violations of imports of one module, one line each."""
    parts = module.split('.')
    room = parts[1] if len(parts) > 1 else None
    if room is not None and room not in MAY_IMPORT:
        return [f'{module}: the room {room!r} is not entered in MAY_IMPORT']
    found = []
    for line, name in imports(source, module, is_package):
        top, *below = name.split('.')
        if room == 'launching':
            if ROS.match(top) and top != PACKAGE and not LAUNCH.match(top):
                found.append(f'{module}:{line} imports {name}: launching/ knows launch alone')
            if name.startswith('rbd_ros.nodes.') and not name.startswith(DECLARATIONS):
                found.append(f'{module}:{line} imports {name}: of nodes/, only what they declare')
        elif (
            ROS.match(top)
            and top != PACKAGE
            and room not in KNOW_ROS
            and module not in MAY_KNOW_ROS
        ):
            found.append(f'{module}:{line} imports {name}: this room must not know ROS')
        if name == '?' and room is not None and module not in IMPORT_BY_NAME:
            found.append(f'{module}:{line} imports a name that the text does not show')
        if top != PACKAGE or room is None:
            continue
        if not below:
            target = '(the whole package)'
        else:
            target = ROOM_OF_PUBLIC_NAME.get(below[0], below[0])
        if target in (None, room) or target in MAY_IMPORT[room] | FOR_ALL:
            continue
        if name in UPWARD.get(module, ()):
            continue
        if (
            any(
                name == one or name.startswith(f'{one}.') or name == one.rpartition('.')[0]
                for one in SINGLE_MODULES.get(room, ())
            )
            and name != 'rbd_ros.compiler'
        ):
            continue
        found.append(f'{module}:{line} imports {name}: {room} must not know {target}')
    return found


@pytest.mark.parametrize('path', package_sources(), ids=module_name)
def test_imports_run_one_way(path):
    source = path.read_text(encoding='utf-8')
    wrong = violations(source, module_name(path), is_package=path.stem == '__init__')
    assert not wrong, '\n'.join(wrong)


class WithoutTypes(ast.NodeTransformer):
    """Drop what only type checkers import."""

    def visit_If(self, node):
        kept = getattr(node.test, 'id', '') != 'TYPE_CHECKING'
        return self.generic_visit(node) if kept else None


def test_no_module_imports_itself_by_way_of_others():
    names = {module_name(path): path for path in package_sources()}
    graph = {}
    for module, path in names.items():
        text = ast.unparse(WithoutTypes().visit(ast.parse(path.read_text(encoding='utf-8'))))
        found = [name for _, name in imports(text, module, path.stem == '__init__')]
        targets = {name if name in names else name.rpartition('.')[0] for name in found}
        graph[module] = targets & set(names) - {module}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(' <- '.join(error.args[1]))


def test_allowed_imports_have_no_cycle():
    rank = {}
    while len(rank) < len(MAY_IMPORT):
        ready = [room for room in MAY_IMPORT if room not in rank and MAY_IMPORT[room] <= set(rank)]
        assert ready, f'cycle among {sorted(set(MAY_IMPORT) - set(rank))}'
        rank.update((room, len(rank)) for room in ready)


@pytest.mark.parametrize(
    ('module', 'source'),
    [
        ('rbd_ros.spatial.spatial_vectors', 'import rbd_ros.model'),
        ('rbd_ros.spatial.spatial_vectors', 'from rbd_ros.lookup.resources import resource_path'),
        ('rbd_ros.spatial.spatial_vectors', 'from rbd_ros import Robot'),
        ('rbd_ros.spatial.spatial_vectors', 'import rbd_ros'),
        ('rbd_ros.model.urdf', 'from rbd_ros.algorithms import rnea'),
        ('rbd_ros.model.urdf', 'from ..algorithms import rnea'),
        ('rbd_ros.model.urdf', 'from .. import algorithms'),
        ('rbd_ros.model.urdf', 'from ..algorithms.rnea import rnea as model_rnea'),
        ('rbd_ros.model.urdf', 'def load():\n    from rbd_ros.robot import Robot'),
        (
            'rbd_ros.model.urdf',
            'try:\n    import rbd_ros.robot as r\nexcept ImportError:\n    r = 1',
        ),
        ('rbd_ros.model.urdf', 'if TYPE_CHECKING:\n    from rbd_ros.robot import Robot'),
        ('rbd_ros.model.urdf', "importlib.import_module('rbd_ros.robot')"),
        ('rbd_ros.model.urdf', "import_module('..robot', __package__)"),
        ('rbd_ros.model.urdf', "__import__('rbd_ros.robot')"),
        ('rbd_ros.model.urdf', 'import_module(name)'),
        (
            'rbd_ros.algorithms.inverse_dynamics.rnea',
            'from rbd_ros.compiler.symbol_graph import Symbol',
        ),
        ('rbd_ros.compiler.symbol_graph', 'from rbd_ros.model import Model'),
        ('rbd_ros.compiler.symbol_graph', 'from rbd_ros.spatial.scalar import sin'),
        ('rbd_ros.robot.robot', 'from rbd_ros.simulation import Simulator'),
        ('rbd_ros.collision.shapes.contact_shapes', 'from rbd_ros.contact import HalfSpace'),
        ('rbd_ros.collision.shapes.contact_shapes', 'from rbd_ros.robot import Robot'),
        ('rbd_ros.contact.ground', 'from rbd_ros.simulation import Simulator'),
        ('rbd_ros.constraints.friction', 'from rbd_ros.simulation import Simulator'),
        ('rbd_ros.constraints.friction', 'from rbd_ros.contact import HalfSpace'),
        ('rbd_ros.contact.ground', 'from rbd_ros.compiler import Kernel'),
        ('rbd_ros.contact.ground', 'from rbd_ros.compiler.runtime.kernel import Kernel'),
        ('rbd_ros.control.law.torque_law', 'from rbd_ros.simulation import Simulator'),
        ('rbd_ros.simulation.physics', 'from rbd_ros.nodes import simulator'),
        ('rbd_ros.simulation.physics', 'import rclpy'),
        ('rbd_ros.control.law.torque_law', 'from sensor_msgs.msg import JointState'),
        ('rbd_ros.control.law.torque_law', 'def later():\n    from std_srvs.srv import Trigger'),
        ('rbd_ros.cli.main', 'import rclpy.node'),
        ('rbd_ros.cli.main', 'from rbd_ros.nodes.simulator import main'),
        ('rbd_ros.nodes.simulator', 'from rbd_ros.cli.main import main'),
        ('rbd_ros.launching.urdf_argument', 'import rclpy'),
        ('rbd_ros.launching.urdf_argument', 'from rbd_ros.nodes.simulator import main'),
        ('rbd_ros.launching.urdf_argument', 'from rbd_ros import Robot'),
        ('rbd_ros.model.urdf', 'import launch'),
        ('rbd_ros.lookup.robots', 'from rbd_ros.robot import Robot'),
        ('rbd_ros.robot.robot', 'from rbd_ros.textbook.denoc import links'),
        ('rbd_ros.robot.frame', 'from rbd_ros.textbook.denoc import denoc_family'),
        ('rbd_ros.algorithms.kinds', 'import rbd_ros.textbook'),
        ('rbd_ros.cellar.wine', 'import math'),
    ],
)
def test_crafted_violation_is_caught(module, source):
    assert violations(source, module)


@pytest.mark.parametrize(
    ('module', 'is_package', 'source'),
    [
        ('rbd_ros.spatial', True, 'from .vectors import MotionVector'),
        ('rbd_ros.spatial', True, 'from . import linear3'),
        (
            'rbd_ros.spatial.spatial_vectors',
            False,
            'import math\nfrom . import linear3\nimport numpy as np',
        ),
        (
            'rbd_ros.model.joints',
            False,
            'from ..spatial import rotation\nfrom .. import ModelError',
        ),
        ('rbd_ros.model.joints', False, '"""Says rclpy and import rbd_ros.robot."""'),
        ('rbd_ros.robot', False, 'from .compiler import Kernel\nfrom rbd_ros import __version__'),
        ('rbd_ros.contact.ground', False, 'from rbd_ros.compiler.loops import call_kernel'),
        ('rbd_ros.simulation.step', False, 'def f():\n    from rbd_ros.compiler import loops'),
        ('rbd_ros.nodes.simulator', False, 'import rclpy\nfrom rbd_ros import Robot, Simulator'),
        (
            'rbd_ros.launching.urdf_argument',
            False,
            'import launch.actions\nfrom rbd_ros.model import Model',
        ),
        ('rbd_ros.launching.urdf_argument', False, "import_module(f'rbd_ros.nodes.{name}')"),
        ('rbd_ros.cli.main', False, "import_module(f'rbd_ros.cli.{name}')"),
        ('rbd_ros', True, 'def __getattr__(name):\n    return import_module(HOME[name])'),
    ],
)
def test_an_allowed_import_passes(module, is_package, source):
    assert not violations(source, module, is_package)
