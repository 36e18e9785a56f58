# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files named by users are regular and of a bounded size, and are opened in one place."""

import ast
import importlib
import os
import sqlite3
import zipfile

import pytest
from support import outside
from support.source_imports import package_sources

from rbd_ros.bounded_files import (
    archive_problem,
    FileRejectedError,
    open_regular,
    read_bytes,
    read_end,
    read_text,
)
from rbd_ros.wire import mcap_files

#: Modules that read trusted files: the system's tables, sources of this package, own output.
OWN_FILES = {
    'algorithms/__init__.py',
    'bounded_files.py',
    'cli/main.py',
    'compiler/loops/sources.py',
    'compiler/runtime/memory.py',
    'compiler/source.py',
    'doctor/machine.py',
    'fmi/fmu.py',
    'hil/report/report_page.py',
    'lazy_names.py',
    'launching/bringup.py',
    'nodes/common/realtime.py',
    'viewer/page_parts.py',
}


def reads_by_path(call):
    """Return whether a call reads a file by its path."""
    function = call.func
    name = getattr(function, 'attr', getattr(function, 'id', ''))
    base = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ''
    first = ast.unparse(call.args[0]) if call.args else ''
    if name in ('read_bytes', 'read_text'):
        return bool(base)  # of a Path
    if name == 'parse':
        return base.endswith('ElementTree')
    if name in ('fromfile', 'loadtxt', 'genfromtxt', 'memmap'):
        return base == 'np'
    if (base, name) == ('np', 'load') or name in ('imread', 'ZipFile'):
        return first not in ('file', 'content') and "'w'" not in ast.unparse(call)
    if name != 'open' or base in ('webbrowser', 'self._commander'):
        return False
    if base == 'os':
        return 'O_RDONLY' in ast.unparse(call)
    mode = call.args[1:2] if not base else call.args[:1]
    mode += [each.value for each in call.keywords if each.arg == 'mode']
    words = [
        each.value
        for one in mode
        for each in ast.walk(one)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    if base and mode and not words:
        return False  # something else that can be opened
    return not any(set('wax+') & set(word) for word in words if len(word) <= 3)


@pytest.mark.slow
def test_every_file_given_by_the_user_is_opened_in_one_place():
    found = []
    for path in package_sources():
        where = path.as_posix().rpartition('/rbd_ros/')[2]
        if where in OWN_FILES:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and reads_by_path(node):
                found.append(f'{where}:{node.lineno} {ast.unparse(node)[:60]}')
    assert not found, 'use rbd_ros.bounded_files'


@pytest.mark.parametrize('read', [open_regular, read_bytes, read_text])
def test_a_file_that_is_not_regular_is_rejected_without_waiting(tmp_path, read):
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    (tmp_path / 'link').symlink_to('/dev/zero')
    for path, kind in ((pipe, 'named pipe'), (tmp_path / 'link', 'device')):
        with pytest.raises(FileRejectedError, match=f'{path}: it is a {kind}.*write its content'):
            read(path, 1000)
    with pytest.raises(IsADirectoryError):
        read(tmp_path, 1000)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / 'gone', 1000)


@pytest.mark.parametrize('read', [open_regular, read_bytes, read_text])
def test_the_bound_is_the_largest_size_that_is_read(tmp_path, read):
    path = tmp_path / 'a'
    path.write_bytes(b'x' * 1000)
    found = read(path, 1000)
    if read is open_regular:
        with found:
            found = found.read()
    assert len(found) == 1000
    with pytest.raises(
        FileRejectedError, match='a: it has 1000 bytes or more, more than the limit of 999'
    ):
        read(path, 999)


def test_a_virtual_file_is_bounded_although_it_has_no_size():
    assert os.stat('/proc/self/maps').st_size == 0
    with pytest.raises(FileRejectedError, match='more than the limit of 10'):
        read_bytes('/proc/self/maps', 10)


def test_the_end_of_a_log_is_read_without_the_rest(tmp_path):
    log = tmp_path / 'log'
    with log.open('wb') as file:
        file.truncate(1 << 40)  # no disk has it
        file.seek(0, os.SEEK_END)
        file.write(b'last words')
    assert read_end(log, 10) == 'last words'
    assert read_end(log, 5) == 'words'


# -- what refers to files


def rejected(read, path):
    with pytest.raises(ValueError, match=f'{path}.*named pipe') as error:
        read(str(path))
    assert 'write its content to a file' in str(error.value)


@pytest.mark.parametrize(
    'module, function, name',
    [
        ('rbd_ros.model', 'load_urdf', 'a.urdf'),
        ('rbd_ros.world', 'read_world', 'a.yaml'),
        ('rbd_ros.world.allowed_collisions', 'read_srdf', 'a.srdf'),
        ('rbd_ros.hil', 'read_scenario', 'a.yaml'),
        ('rbd_ros.hil.plants.loaded_fmu', 'open_fmu', 'a.fmu'),
        ('rbd_ros.simulation', 'load_snapshot', 'a.npz'),
        ('rbd_ros.control.motion.trajectory_files', 'read_trajectory', 'a.csv'),
        ('rbd_ros.control.motion.trajectory_files', 'read_trajectory', 'a.yaml'),
        ('rbd_ros.identification', 'read_recording', 'a.csv'),
        ('rbd_ros.identification', 'read_recording', 'a.mcap'),
        ('rbd_ros.identification', 'read_recording', 'a.db3'),
        ('rbd_ros.identification', 'read_robot_description', 'a.mcap'),
        ('rbd_ros.model.urdf.side_file', 'read_armature', 'a.yaml'),
    ],
)
def test_a_pipe_is_rejected_by_its_name(tmp_path, module, function, name):
    os.mkfifo(tmp_path / name)
    rejected(getattr(importlib.import_module(module), function), tmp_path / name)


@pytest.mark.parametrize('name', ['a', 'a.urdf', 'a.yaml'])
def test_a_pipe_is_found_by_its_path_and_rejected_where_it_is_read(tmp_path, name):
    from rbd_ros.lookup.robots import find_robot
    from rbd_ros.lookup.worlds import find_world
    from rbd_ros.model import load_urdf
    from rbd_ros.world import read_world

    os.mkfifo(tmp_path / name)
    rejected(lambda path: load_urdf(find_robot(path)), tmp_path / name)
    rejected(lambda path: read_world(find_world(path)), tmp_path / name)


@pytest.mark.parametrize(
    'module, function',
    [
        ('rbd_ros.world', 'read_world'),
        ('rbd_ros.world.allowed_collisions', 'read_srdf'),
        ('rbd_ros.hil', 'read_scenario'),
    ],
)
def test_a_folder_is_rejected_as_one(tmp_path, module, function):
    read = getattr(importlib.import_module(module), function)
    with pytest.raises(ValueError, match='it is a folder; give a file'):
        read(tmp_path)
    with pytest.raises(ValueError, match='there is no such file; check the path'):
        read(tmp_path / 'none')


def test_the_files_of_a_bag_are_regular(tmp_path):
    from rbd_ros.identification import read_recording

    os.mkfifo(tmp_path / 'a_0.db3')
    with pytest.raises(ValueError, match='a_0.db3 cannot be read: it is a named pipe'):
        read_recording(str(tmp_path))


def test_a_bag_whose_messages_are_computed_is_rejected(tmp_path):
    from rbd_ros.identification import read_recording

    endless = 'with recursive n(x) as (select 1 union all select x + 1 from n)'
    with sqlite3.connect(tmp_path / 'a.db3') as bag:
        bag.execute(f'create view topics as {endless} select x id, x name, x type, x f from n')
        bag.execute('create table messages(id, topic_id, timestamp, data)')
    bag.close()
    with pytest.raises(ValueError, match='a.db3 is not a bag of ROS 2: it has no tables'):
        read_recording(str(tmp_path / 'a.db3'))


@pytest.mark.parametrize('method', [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_an_archive_is_bounded_before_it_is_unpacked(tmp_path, method):
    path = tmp_path / 'a.zip'
    with zipfile.ZipFile(path, 'w', method) as archive:
        archive.writestr('a', bytes(10_000))
    with zipfile.ZipFile(path) as archive:
        assert 'more than the limit of 9999' in archive_problem(archive, 9_999)
        problem = archive_problem(archive, 10_000)
    assert ('deflate' in problem) == (method == zipfile.ZIP_BZIP2)
    with zipfile.ZipFile(path, 'w') as archive:
        for k in range(10_001):
            archive.writestr(str(k), b'')
    with zipfile.ZipFile(path) as archive:
        assert 'has 10001 entries' in archive_problem(archive, 10_000)


def test_the_description_of_an_fmu_is_bounded_before_it_is_unpacked(tmp_path):
    outside.load('fmpy')
    from rbd_ros.hil.plants.loaded_fmu import MAX_DESCRIPTION, open_fmu

    path = tmp_path / 'a.fmu'
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
        with archive.open('modelDescription.xml', 'w') as file:
            for _ in range(MAX_DESCRIPTION // 2**20 + 1):
                file.write(b' ' * 2**20)
    assert path.stat().st_size < 10**6
    with pytest.raises(ValueError, match=f'a.fmu: modelDescription.xml has more than {2**26}'):
        open_fmu(str(path))


@pytest.mark.parametrize('compression', ['zstd', 'lz4', ''])
def test_a_chunk_of_a_recording_is_unpacked_up_to_its_declared_size(compression):
    outside.load('mcap')
    from mcap.records import Chunk

    content = bytes(10**7)
    data = content
    if compression == 'zstd':
        data = importlib.import_module('zstandard').compress(content)
    elif compression == 'lz4':
        data = importlib.import_module('lz4.frame').compress(content)

    def chunk(size):
        return Chunk(
            compression=compression,
            data=data,
            message_end_time=0,
            message_start_time=0,
            uncompressed_crc=0,
            uncompressed_size=size,
        )

    assert mcap_files._unpacked(chunk(10**7)) == content
    for size in (1000, 10**7 + 1):
        with pytest.raises(ValueError, match=f'instead of {size}'):
            mcap_files._unpacked(chunk(size))
    with pytest.raises(ValueError, match='more than the limit'):
        mcap_files._unpacked(chunk(1 << 40))
