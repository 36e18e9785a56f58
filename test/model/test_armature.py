# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Armature from a mapping or a side file."""

import pytest
from support.urdf_text import chain

from rbd_ros.model import load_urdf, ModelError

ARM = chain('revolute', 'fixed', 'prismatic')


def armatures(source):
    return [body.armature for body in load_urdf(ARM, armature=source).bodies]


def test_armature_is_taken_from_a_mapping():
    assert armatures({'j3': 0.5}) == [0.0, 0.5]
    assert armatures({}) == armatures(None) == [0.0, 0.0]


@pytest.mark.parametrize(
    'text',
    ['j1: 0.25\nj3: 1e-3\n', 'armature:\n  j1: 0.25\n  j3: 0.001\n', '{j1: 0.25, "j3": "1e-3"}'],
)
def test_armature_is_taken_from_a_yaml_file(tmp_path, text):
    path = tmp_path / 'armature.yaml'
    path.write_text(text)
    assert armatures(path) == armatures(str(path)) == [0.25, 0.001]


@pytest.mark.parametrize(
    'armature, words',
    [
        ({'j9': 1.0}, ["'j9'", 'j1']),
        ({'j2': 1.0}, ["'j2'"]),
        ({'j1': -1.0}, ["'j1'", 'negative']),
        ({'j1': float('nan')}, ["'j1'", 'finite']),
        ({'j1': 'heavy'}, ["'j1'", "'heavy'"]),
        ({'j1': None}, ["'j1'", 'number']),
        ({'j1': True}, ["'j1'", 'number']),
        ({'j1': [1]}, ["'j1'", 'number']),
        ({1: 1.0}, ["'1'", 'name']),
        ([1, 2], ['mapping', 'list']),
        ('/nonexistent.yaml', ["'/nonexistent.yaml'"]),
    ],
)
def test_a_bad_armature_is_rejected_by_name(armature, words):
    with pytest.raises(ModelError) as caught:
        load_urdf(ARM, armature=armature)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    'data, word',
    [
        (b'j1: [', 'YAML|parsing|expected'),
        (b'just text', 'mapping'),
        (b'', 'mapping'),
        (b'j1: 1\nj1: 2', 'twice'),
        (b'j1: &a 1\nj3: *a', 'aliases'),
        (b'j1: !!python/object/apply:os.system [ls]', 'not supported'),
        (b'[' * 100_000, 'line'),
        (b'\xff\xfe\xff', 'UTF-8'),
        (b'armature: {j1: 1, j3: {j1: 1}}', 'number'),
        (b'armature: {? [j1] : 1}', 'name'),
        (b'armature: [1, 2]', 'number'),
        (b'j1: 1\n<<: {j3: 2}', 'not supported|name'),
        (b'j1: 1\nj3: \n  - 2', 'line 3|line 2'),
        (b'j1: 1\n' * 300_000, 'more than the limit of 1048576'),
        (b'1: 2', 'name'),
        (b'j1: .nan', 'finite'),
    ],
)
def test_a_bad_side_file_is_rejected_by_name(tmp_path, data, word):
    path = tmp_path / 'armature.yaml'
    path.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        load_urdf(ARM, armature=path)
    assert any(choice in str(caught.value) for choice in word.split('|')), str(caught.value)
    assert len(str(caught.value)) < 600
