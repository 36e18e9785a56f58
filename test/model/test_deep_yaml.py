# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""YAML nested tens of thousands deep is rejected without a crash; escapes are as in JSON."""

import subprocess
import sys

import pytest
from support.source_imports import ROOT
import yaml

from rbd_ros.model.bounded_yaml import BoundedDepth, DEEPEST, load_yaml

DEPTH = 50_000
SHAPES = {
    'lists': '[' * DEPTH,
    'closed lists': '[' * DEPTH + ']' * DEPTH,
    'mappings': '{a: ' * DEPTH,
    'keys': '? ' * DEPTH,
    'dashes': '- ' * DEPTH,
}
# What reads YAML, with the error that it rejects it by: each in a process that must survive.
READERS = {
    'trajectory': 'from rbd_ros.control.motion.trajectory_files import read_trajectory; '
    'read_trajectory({path!r})',
    'extension': 'from rbd_ros.model.extension import read_extension; read_extension({path!r})',
    'armature': 'from rbd_ros.model import load_urdf; load_urdf({urdf!r}, armature={path!r})',
    'world': 'from rbd_ros.world import read_world; read_world({path!r})',
    'object': 'from rbd_ros.world import World; '
    'from rbd_ros.world.world_file import extend_world; '
    'extend_world(World(()), open({path!r}).read(), None, ())',
    'plain': 'from rbd_ros.model.bounded_yaml import load_yaml; load_yaml(open({path!r}))',
    'words': 'from rbd_ros.model.bounded_yaml import load_yaml; '
    'load_yaml(open({path!r}).read(), words=True)',
}
PROGRAM = """
try:
    {reader}
except (ValueError, yaml.YAMLError) as error:
    print('rejected:', ' '.join(str(error).split())[:400])
"""


@pytest.mark.parametrize('shape', SHAPES)
def test_readers_reject_deep_nesting_and_live(tmp_path, shape):
    path = tmp_path / 'deep.yaml'
    path.write_text(SHAPES[shape])
    urdf = str(ROOT / 'urdf' / 'two_link_arm.urdf')
    program = 'import yaml\n' + ''.join(
        PROGRAM.format(reader=text.format(path=str(path), urdf=urdf)) for text in READERS.values()
    )
    done = subprocess.run(
        [sys.executable, '-c', program], capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) == len(READERS)
    for line in lines:
        assert 'levels' in line, line


LOADERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if hasattr(yaml, 'CSafeLoader') else [])]


@pytest.mark.parametrize('base', LOADERS)
def test_the_limit_is_a_number_of_levels(base):
    class Loader(BoundedDepth, base):
        deepest = 3

    assert yaml.load('[[1], [2], [3], [4], {a: 5}]', Loader) == [[1], [2], [3], [4], {'a': 5}]
    with pytest.raises(yaml.MarkedYAMLError, match='more than 3 levels') as caught:
        yaml.load('a: 1\nb:\n- [1]\n', Loader)
    assert caught.value.problem_mark.line == 2


def test_plain_yaml_is_read_up_to_the_limit():
    assert load_yaml('{a: 1, b: [true, x]}') == {'a': 1, 'b': [True, 'x']}
    assert load_yaml('[1, true]', words=True) == ['1', 'true']
    deepest = '[' * (DEEPEST - 1) + '1' + ']' * (DEEPEST - 1)
    assert str(load_yaml(deepest)).replace(' ', '') == deepest
    with pytest.raises(yaml.YAMLError):
        load_yaml(f'[{deepest}]')


def test_an_emoji_is_one_character_as_json_escapes_it():
    text = '{a: "x \\ud83d\\ude00 \\u00e4"}'
    assert load_yaml(text) == load_yaml(text, words=True) == {'a': 'x \U0001f600 ä'}
    with pytest.raises(yaml.MarkedYAMLError, match='a surrogate is without its pair') as caught:
        load_yaml('a: 1\nb: "\\ud83d"')
    assert caught.value.problem_mark.line == 1
