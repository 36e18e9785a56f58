# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Public names consist of the field's words, and replaced names do not return.

The words are in field_terms.txt. A name with another word fails: use the word of ROS, MoveIt,
ros2_control, SDF, MuJoCo, Drake, Pinocchio or the book, and enter a new one only if none of them
has one. Replaced names are in the table of replaced_names.md.
"""

import ast
from importlib import import_module
import inspect
import re

import pytest
from support.source_imports import ROOT

from rbd_ros.cli.command_line import COMMANDS, make_parser

TERMS = ROOT / 'test' / 'field_terms.txt'

PACKAGES = (
    'rbd_ros',
    *(
        f'rbd_ros.{name}'
        for name in (
            *('collision', 'contact', 'control', 'fmi', 'hil', 'identification'),
            *(
                'meshes',
                'model',
                'robot',
                'simulation',
                'textbook.models',
                'textbook.simulation',
                'viewer',
                'world',
            ),
        )
    ),
)

#: Names of the column "old" that stand for other things as well, and may be defined.
OTHER_MEANINGS = {
    *('Group', 'Kind', 'Number', 'Plant', 'Recording', 'View'),  # of one package, no longer of two
    'RecordingError',  # that of identification alone
    'at_rest',  # an argument of the inner motion
    'for_joints',  # its argument was renamed
    'impact_law',  # of the event-driven simulation
    'mcap_files',  # moved
    'of_robot',  # a mask of a scene's bodies
    'place_object',  # of the library; the topic is gone
    'read_description',  # of a URDF alone
    'slow_down',  # along a path
}


def interfaces():
    """Yield the declarations of all nodes."""
    folder = ROOT / 'rbd_ros' / 'nodes'
    names = [path.stem for path in folder.glob('[!_]*.py')]
    names += [path.parent.name for path in folder.glob('[!_]*/__main__.py')]
    for name in sorted(names):
        yield import_module(f'rbd_ros.nodes.{name}').INTERFACE


def names_of_nodes():
    """Yield the names of parameters, topics, services and actions."""
    for interface in interfaces():
        for kind in ('parameters', 'topics', 'services', 'actions'):
            yield from (one.name for one in getattr(interface, kind))


def names_of_commands():
    """Yield the names of commands and of their options."""
    yield from COMMANDS
    for command in COMMANDS:
        parser = make_parser(command)._subparsers._group_actions[0].choices[command]
        for action in parser._actions:
            yield action.dest
            yield from action.option_strings


def names_of_the_library():
    """Yield public names of packages, members of their classes, and arguments."""
    for package in map(import_module, PACKAGES):
        for name in package.__all__:
            yield name
            thing = getattr(package, name)
            yield from arguments_of(thing)
            if inspect.isclass(thing) and thing.__module__.startswith('rbd_ros.'):
                for member, value in vars(thing).items():
                    if not member.startswith('_'):
                        yield member
                        yield from arguments_of(value)


def arguments_of(thing):
    if not callable(thing):
        return
    try:
        names = inspect.signature(thing).parameters
    except (TypeError, ValueError):
        return
    yield from (name for name in names if not name.startswith('_'))


def words_of(name):
    """Return the words of a name in any of the usual spellings, in lower case."""
    parts = re.findall(r'[A-Z]?[a-z]+|[A-Z]+(?![a-z])', name)
    return {part.lower() for part in parts}


def terms():
    lines = TERMS.read_text(encoding='utf-8').split('\n')
    return {word for line in lines if not line.startswith('#') for word in line.split()}


@pytest.mark.parametrize('names', [names_of_nodes, names_of_commands, names_of_the_library])
def test_public_names_are_made_of_the_words_of_the_field(names):
    known = terms()
    found = {name: sorted(words_of(name) - known) for name in names()}
    foreign = {name: words for name, words in found.items() if words}
    assert found and not foreign, foreign


def test_all_terms_are_used():
    used = set()
    for names in (names_of_nodes, names_of_commands, names_of_the_library):
        used.update(*map(words_of, names()))
    assert terms() <= used, sorted(terms() - used)


# -- replaced names
# ----------------------------------------------------------------------------------


def identifiers(cell):
    """Yield the identifiers of a cell of the table, the last part of each."""
    for text in re.findall(r'`([^`]+)`', cell):
        name = text.removesuffix('.py').partition('(')[0].rstrip('=').lstrip('-~/')
        yield name.rpartition('.')[2]


def decisions():
    """Return where a name was replaced, its old names and its new ones, by row of the table."""
    page = (ROOT / 'test' / 'replaced_names.md').read_text(encoding='utf-8')
    rows = [line.strip('| ').split('|') for line in page.split('\n') if line.startswith('|')][2:]
    return [(where.strip(), set(identifiers(a)), set(identifiers(b))) for where, a, b in rows]


def replaced():
    """Return the old names that are no plain words and no new names."""
    new = {name for _, _, names in decisions() for name in names}
    old = {name for where, names, _ in decisions() for name in names if ', kept' not in where}
    return {
        name for name in old - new - OTHER_MEANINGS if len(words_of(name)) > 1 or name[0].isupper()
    }


def defined():
    """Return the names of modules, classes, functions and arguments, with a place of each."""
    found = {}
    for path in sorted((ROOT / 'rbd_ros').rglob('*.py')):
        found[path.stem] = path
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found[node.name] = f'{path}:{node.lineno}'
            elif isinstance(node, ast.arg):
                found[node.arg] = f'{path}:{node.lineno}'
    return found


def test_replaced_names_do_not_come_back():
    known, old = defined(), replaced()
    assert len(old) > 80
    assert not {name: str(known[name]) for name in old if name in known}


def test_replaced_names_of_nodes_and_commands_do_not_come_back():
    """One word is enough there: each of them means one thing."""
    parameters = {one.name for interface in interfaces() for one in interface.parameters}
    for names, kinds in (
        (set(COMMANDS), {'commands'}),
        (parameters, {'torque nodes', 'gravity_compensation', 'simulator', 'udp_bridge'}),
    ):
        rows = [(old, new) for where, old, new in decisions() if where in kinds]
        assert rows and not any(old & names - new for old, new in rows)


def test_names_of_the_glossary_exist():
    page = (ROOT / 'docs' / 'glossary.md').read_text(encoding='utf-8')
    named = {name for _, _, names in decisions() for name in names} | set(identifiers(page))
    exist = set(COMMANDS)
    for folder in ('rbd_ros', 'benchmark', 'config'):
        for path in (ROOT / folder).rglob('*.*'):
            if path.suffix in ('.py', '.yaml'):
                exist.update(re.findall(r'\w+', path.read_text(encoding='utf-8')))
                exist.update(path.with_suffix('').relative_to(ROOT).parts)
    assert not {name for name in named if not set(re.findall(r'\w+', name)) <= exist}
