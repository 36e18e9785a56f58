# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The key of the cache covers the source that a kernel depends on, and no other."""

import ast
import shutil
import textwrap

import pytest
from support import random_trees
from support.source_imports import module_name, PACKAGE, package_sources, ROOT

from rbd_ros import Robot
from rbd_ros.compiler import source
from rbd_ros.compiler.source import closure, source_digest
from rbd_ros.robot.kernels import declared
from rbd_ros.robot.variants import source_key

MODEL = Robot.from_urdf(random_trees.tree(3, bodies=3, types=('revolute', 'prismatic'))).model
CACHES = ('_digest', '_home', '_imports', '_text', '_path', '_foreign')


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Yield a copy of the package that is looked at instead, and may be edited."""
    copy = tmp_path / PACKAGE
    shutil.copytree(ROOT / PACKAGE, copy, ignore=shutil.ignore_patterns('__pycache__'))
    monkeypatch.setattr(source, '_ROOT', copy)
    forget()
    yield copy
    forget()


def forget():
    for name in CACHES:
        getattr(source, name).cache_clear()


def edit(path, old, new):
    text = path.read_text(encoding='utf-8')
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding='utf-8')
    forget()


def key(name='inverse_dynamics'):
    return source_key(MODEL, declared(name))


@pytest.mark.parametrize(
    ('file', 'old', 'new'),
    [
        ('model/urdf/urdf_reader.py', '"""', '"""Edited. '),
        ('model/__init__.py', '"""', '"""Edited. '),
        ('model/joints/spherical.py', 'return', 'return  # edited'),
        ('algorithms/articulated_body/aba.py', 'return', 'return  # edited'),
        ('algorithms/kinematics/jacobians.py', 'return', 'return  # edited'),
        ('robot/robot.py', 'return', 'return  # edited'),
        ('control/law/law_equations.py', 'return', 'return  # edited'),
    ],
)
def test_an_edit_elsewhere_invalidates_nothing(package, file, old, new):
    before = key()
    edit(package / file, old, new)
    assert key() == before


@pytest.mark.parametrize(
    'file',
    [
        'algorithms/inverse_dynamics/rnea.py',
        'algorithms/inverse_dynamics/forces.py',
        'algorithms/array.py',
        'algorithms/declaration.py',
        'model/joints/revolute.py',
        'model/joints/joint_type.py',
        'model/model.py',
        'model/equivalent.py',
        'spatial/inertia.py',
        'spatial/linear3.py',
        'robot/variants.py',
        'compiler/symbol_graph.py',
        'compiler/targets/llvm/emit.py',
        'compiler/targets/llvm/trigonometry.py',
        'compiler/runtime/builtin.py',
        'compiler/runtime/kernel_builtin.py',
    ],
)
def test_an_edit_that_matters_invalidates(package, file):
    before = key()
    edit(package / file, '"""', '"""Edited. ')
    assert key() != before


def test_an_algorithm_in_a_folder_below_counts(package):
    folder = package / 'algorithms' / 'inverse_dynamics' / 'details'
    folder.mkdir()
    (folder / '__init__.py').write_text('')
    (folder / 'helper.py').write_text('FACTOR = 1\n')
    edit(
        package / 'algorithms' / 'inverse_dynamics' / 'rnea.py',
        'from rbd_ros.model import Model',
        'from rbd_ros.algorithms.inverse_dynamics.details.helper import FACTOR\n'
        'from rbd_ros.model import Model',
    )
    before = key()
    edit(folder / 'helper.py', 'FACTOR = 1', 'FACTOR = 2')
    assert key() != before


def test_each_algorithm_has_its_own_key():
    names = ['inverse_dynamics', 'mass_matrix', 'forward_dynamics', 'jacobian', 'energy']
    assert len({key(name) for name in names}) == len(names)


def test_a_joint_type_counts_where_it_is_used(package):
    other = Robot.from_urdf(random_trees.tree(3, bodies=3, types=('floating',))).model
    before, others = key(), source_key(other, declared('inverse_dynamics'))
    edit(package / 'model' / 'joints' / 'floating.py', '"""', '"""Edited. ')
    assert key() == before
    assert source_key(other, declared('inverse_dynamics')) != others


@pytest.mark.parametrize('path', package_sources(), ids=module_name)
def test_imports_are_found_as_python_finds_them(path):
    text = path.read_text(encoding='utf-8')
    found = {f'{home}.{name}' for home, name, _ in source._imports(text)}
    everything = statements(text)
    for_types = source._FOR_TYPES.search(text)
    lines = for_types.group().splitlines()[1:] if for_types else []
    assert everything - statements(textwrap.dedent('\n'.join(lines))) <= found <= everything


def statements(text):
    """Return the names of this package in the statements `from ... import ...` of a text."""
    return {
        f'{node.module}.{alias.name}'
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module.startswith(PACKAGE)
        for alias in node.names
    }


def test_names_are_followed_to_the_module_that_defines_them():
    modules = closure(['rbd_ros.algorithms.inertia_matrix.crba'])
    assert {'rbd_ros.spatial.inertia', 'rbd_ros.model.model'} <= modules
    assert not {'rbd_ros.model.urdf.urdf_reader', 'rbd_ros.model', 'rbd_ros.spatial'} & modules


@pytest.mark.parametrize(
    ('text', 'home'),
    [
        ('from rbd_ros.model.joints import Revolute\n', 'rbd_ros.model.joints.revolute'),
        ('from rbd_ros.model import Model\n', 'rbd_ros.model.model'),
        ('from rbd_ros.contact import ContactShapes\n', 'rbd_ros.contact.detection'),
    ],
)
def test_names_loaded_on_first_use_are_followed_too(text, home):
    assert source._homes(text) == [home]


def test_functions_from_elsewhere_count_by_their_file(tmp_path):
    digests = []
    for k, line in enumerate(('return 1', 'return 2')):
        file = tmp_path / f'mine{k}.py'
        file.write_text(f'from rbd_ros.spatial import linear3\ndef text():\n    {line}\n')
        space = {'__name__': 'mine'}
        exec(compile(file.read_text(), str(file), 'exec'), space)
        digests.append(source_digest(space['text']))
    assert digests[0] != digests[1]
