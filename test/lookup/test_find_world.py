# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""World files are found by path, package URI or name."""

from pathlib import Path

import pytest

from rbd_ros.lookup.worlds import embedded_worlds, find_world, WorldNotFoundError
from rbd_ros.world import read_world

TABLE = Path(__file__).resolve().parents[2] / 'config' / 'table_world.yaml'


def test_worlds_that_come_with_the_package_have_names_and_can_be_read():
    assert embedded_worlds()['table_world'] == TABLE
    for name, path in embedded_worlds().items():
        world = read_world(path)
        assert bool(world.objects or world.robots) == (name != 'empty_world')


@pytest.mark.parametrize(
    'name', ['table', 'Table', 'tab', 'table_world', 'table_world.yaml', str(TABLE)]
)
def test_a_world_is_found_by_its_name_or_path(name):
    assert find_world(name) == TABLE


def test_a_file_counts_before_a_name(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'table_world').write_text('objects: {}')
    assert find_world('table_world') == tmp_path / 'table_world'
    monkeypatch.setenv('HOME', str(tmp_path))
    assert find_world('~/table_world') == tmp_path / 'table_world'


def test_packages_are_looked_for_below_the_folders_given_and_in_workspaces(monkeypatch, tmp_path):
    share = tmp_path / 'prefix' / 'share' / 'cell'
    share.mkdir(parents=True)
    (share / 'world.yaml').write_text('objects: {}')
    with pytest.raises(WorldNotFoundError, match='package://cell/world.yaml was not found'):
        find_world('package://cell/world.yaml')
    assert find_world('package://cell/world.yaml', [str(share.parent)]) == share / 'world.yaml'
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'prefix'))
    assert find_world('package://cell/world.yaml') == share / 'world.yaml'


@pytest.mark.parametrize('name', ['tabel_world', '/nowhere/world.yaml', 'x' * 5000, '\0', '', '/'])
def test_an_unknown_world_is_rejected_with_the_known_ones(name):
    with pytest.raises(WorldNotFoundError) as caught:
        find_world(name)
    assert 'table_world' in str(caught.value) or 'is not a file' in str(caught.value)
