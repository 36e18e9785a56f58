# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Tests of a source file, and tests omitted from a quick run."""

from types import SimpleNamespace

import pytest
from support import tests_index, tests_of
from support.source_imports import module_name, ROOT


@pytest.mark.parametrize(
    ('module', 'test'),
    [
        ('algorithms.inverse_dynamics.rnea', 'algorithms/inverse_dynamics/test_rnea.py'),
        ('collision.convex.epa', 'collision/test_degenerate_contacts.py'),  # imports it
        ('world.world_file', 'world/test_world_file.py'),  # by a name of the package
        ('nodes.gravity_compensation', 'nodes/test_node_safety.py'),  # by a text
        ('viewer.page_text', 'viewer/test_motion_recording.py'),
    ],
)
def test_tests_of_a_module_are_found(module, test):
    assert ROOT / 'test' / test in tests_of.of_module(f'rbd_ros.{module}')


def test_an_untested_module_has_the_tests_of_the_modules_that_import_it():
    found = tests_of.of_module(module_name(ROOT / 'rbd_ros' / 'model' / 'urdf' / 'up_axes.py'))
    assert found and all(path.is_file() for path in found)


def test_the_index_of_the_tests_is_fresh():
    on_disk = tests_index.PAGE.read_text(encoding='utf-8')
    assert on_disk == tests_index.page(), 'stale: run scripts/update_test_index'


def test_a_file_that_is_not_a_source_file_is_rejected(capsys):
    assert tests_of.main(['no_such_file.py']) == 2
    assert 'no_such_file.py: no file of this repository' in capsys.readouterr().err


def item(function, case='', slow=False):
    return SimpleNamespace(
        path='test_some.py',
        originalname=function,
        name=f'{function}{case}',
        get_closest_marker=lambda name: slow or None,
    )


@pytest.mark.parametrize(('fast', 'left'), [(False, 4), (True, 2)])
def test_a_fast_run_has_the_first_case_of_each_quick_test(fast, left, request):
    items = [item('two', '[1]'), item('two', '[2]'), item('slow', slow=True), item('one')]
    left_out = []
    config = SimpleNamespace(
        getoption=lambda name: fast,
        hook=SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items)),
    )
    plugin = request.config.pluginmanager.get_plugin(str(ROOT / 'test' / 'conftest.py'))
    plugin.pytest_collection_modifyitems(config, items)
    assert len(items) == left and len(left_out) == 4 - left
    assert {each.name for each in items} >= {'two[1]', 'one'}
