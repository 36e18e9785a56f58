# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Machine code on disk: content of the key, sharing by processes, all kinds of damage."""

import errno
import os
from pathlib import Path
import stat
import subprocess
import sys
import time

import numpy as np
import pytest
from support import fresh_python, urdf_text
from support.waiting import CEILING

from rbd_ros import Robot
from rbd_ros.compiler import cache
from rbd_ros.compiler.runtime import native
from rbd_ros.compiler.runtime.kernel import Kernel
from rbd_ros.robot import variants

Q = np.array([0.3, -0.2])


@pytest.fixture
def traced(monkeypatch):
    """Return the names of the functions that are traced from now on."""
    names, trace = [], Kernel._trace

    def spy(kernel):
        names.append(kernel.definition.name)
        return trace(kernel)

    monkeypatch.setattr(Kernel, '_trace', spy)
    return names


def entries(folder):
    """Return the entries of kernels, without that of the call routine."""
    return [path for path in all_entries(folder) if not path.name.startswith('call-')]


def all_entries(folder):
    return sorted(path for path in Path(folder).iterdir() if path.suffix == '.o')


def compute(text, **options):
    return Robot.from_urdf(text, **options).inverse_dynamics(Q, Q, Q)


def test_a_function_on_disk_is_not_traced_again(two_links, traced):
    first = compute(two_links)
    assert traced == ['inverse_dynamics']
    np.testing.assert_array_equal(compute(two_links), first)
    assert traced == ['inverse_dynamics']


def test_batches_are_on_disk_too(two_links, traced):
    for _ in range(2):
        Robot.from_urdf(two_links).mass_matrix(np.tile(Q, (30, 1)))
    assert traced == ['mass_matrix'] * 2  # one state and many, once each


def test_the_operation_count_is_on_disk_too(two_links):
    counts = [Robot.from_urdf(two_links).operation_count('inverse_dynamics') for _ in range(2)]
    assert counts[0] == counts[1] and counts[0].multiplications > 0


def test_another_process_finds_a_written_entry(two_links, own_cache):
    compute(two_links)
    before = [path.stat().st_ino for path in entries(own_cache)]
    code = """
import sys
import numpy as np
from rbd_ros import Robot
from rbd_ros.compiler.runtime.kernel import Kernel
Kernel._trace = None
q = np.array([0.3, -0.2])
print(*Robot.from_urdf(sys.argv[1]).inverse_dynamics(q, q, q).tolist())
"""
    result = [float(x) for x in fresh_python.run(code, two_links).stdout.split()]
    np.testing.assert_array_equal(result, compute(two_links))
    assert [path.stat().st_ino for path in entries(own_cache)] == before


# -- the key -----------------------------------------------------------------------------------


def digest(robot, name='inverse_dynamics', **options):
    return robot.kernel(name, **options)._digest


ARM = urdf_text.robot(
    urdf_text.link('a'),
    '<link name="b"><inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><mass value="1.5"/>'
    '<inertia ixx="0.11" ixy="0.01" ixz="0.02" iyy="0.12" iyz="0.03" izz="0.13"/>'
    '</inertial></link>',
    '<link name="c"/>',
    '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
    '<origin xyz="1.1 1.2 1.3" rpy="1.4 1.5 1.6"/><axis xyz="0.0 0.6 0.8"/>'
    '<limit lower="-1" upper="1" velocity="2" effort="3"/></joint>',
    '<joint name="k" type="fixed"><parent link="b"/><child link="c"/>'
    '<origin xyz="2.1 2.2 2.3" rpy="2.4 2.5 2.6"/></joint>',
)
FIELDS = [
    'xyz="0.1',
    ' 0.2 ',
    '0.3"',
    'rpy="0.4',
    ' 0.5 ',
    '0.6"',
    'value="1.5"',
    'ixx="0.11"',
    'ixy="0.01"',
    'ixz="0.02"',
    'iyy="0.12"',
    'iyz="0.03"',
    'izz="0.13"',
    '1.1',
    '1.2',
    '1.3',
    '1.4',
    '1.5 1',
    '1.6',
    '2.1',
    '2.2',
    '2.3',
    '2.4',
    '2.5',
    '2.6',
    'type="revolute"',
    '0.6 0.8',
]


@pytest.mark.parametrize('field', FIELDS)
def test_every_number_of_the_robot_is_in_the_key(field):
    assert ARM.count(field) == 1
    if field == 'type="revolute"':
        changed = 'type="prismatic"'
    elif field == '0.6 0.8':
        changed = '0.60000001 0.8'
    else:
        digits = ''.join(c for c in field.split()[0] if c in '0123456789.')
        changed = field.replace(digits, digits + '000000001', 1)
    other = Robot.from_urdf(ARM.replace(field, changed))
    assert digest(other) != digest(Robot.from_urdf(ARM))


@pytest.mark.parametrize(
    'options',
    [{'gravity': (0, 0, -9.8100000001)}, {'floating_base': True}, {'armature': {'j': 1e-9}}],
)
def test_how_the_robot_is_loaded_is_in_the_key(options):
    assert digest(Robot.from_urdf(ARM, **options)) != digest(Robot.from_urdf(ARM))


def test_function_and_options_are_in_the_key():
    robot = Robot.from_urdf(ARM)
    variants = [
        ('inverse_dynamics', {}), ('forward_dynamics', {}), ('bias_force', {}),
        ('inverse_dynamics', {'forces': ('b',)}), ('inverse_dynamics', {'forces': ('c',)}),
        ('inverse_dynamics', {'runtime': ('gravity',)}),
        ('inverse_dynamics', {'runtime': ('payload:b',)}),
        ('inverse_dynamics', {'runtime': ('payload:c',)}),
        ('inverse_dynamics', {'runtime': ('inertia:b',)}),
        ('forward_dynamics', {'diagonal': (0.1,)}),
        ('forward_dynamics', {'diagonal': (0.1 + 1e-16,)}),
        ('jacobian', {'frame': 'b'}), ('jacobian', {'frame': 'c'}), ('jacobian', {'frame': 'j'}),
        ('jacobian', {'frame': 'b', 'reference': 'base'}),
    ]  # fmt: skip
    assert len({digest(robot, name, **options) for name, options in variants}) == len(variants)


@pytest.mark.parametrize('what', ['llvmlite', 'llvm', 'cpu', 'features', 'triple', 'optimization'])
def test_tools_and_processor_are_in_the_key(monkeypatch, what):
    before = digest(Robot.from_urdf(ARM))
    versions = {**native.versions(), what: 'another'}
    monkeypatch.setattr(native, 'versions', lambda: versions)
    assert digest(Robot.from_urdf(ARM)) != before


def test_the_source_text_is_in_the_key(monkeypatch):
    before = digest(Robot.from_urdf(ARM))
    monkeypatch.setattr(variants, 'source_key', lambda *makers: 'edited')
    assert digest(Robot.from_urdf(ARM)) != before


def test_equal_robots_have_equal_keys():
    assert digest(Robot.from_urdf(ARM)) == digest(Robot.from_urdf(ARM.replace('"1.5"', '"1.50"')))


# -- spoiled entries ---------------------------------------------------------------------------

DAMAGE = {
    'empty': lambda data: b'',
    'truncated': lambda data: data[: len(data) // 2],
    'without its last byte': lambda data: data[:-1],
    'one bit flipped': lambda data: data[:-100] + bytes([data[-100] ^ 4]) + data[-99:],
    'header damaged': lambda data: data.replace(b'count', b'coumt', 1),
    'something else': lambda data: b'\x7fELF' + bytes(1000),
    'another version': lambda data: data.replace(b'kernel 2', b'kernel 3', 1),
}


@pytest.mark.parametrize('damage', DAMAGE)
def test_a_damaged_entry_is_rebuilt(two_links, own_cache, traced, damage):
    first = compute(two_links)
    (path,) = entries(own_cache)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    np.testing.assert_array_equal(compute(two_links), first)
    assert len(traced) == 2
    compute(two_links)
    assert len(traced) == 2  # it is whole again


@pytest.mark.parametrize('header', [{}, {'count': 3}, {'count': {'additions': 1}}])
def test_an_entry_without_its_operation_count_is_rebuilt(two_links, own_cache, traced, header):
    first = compute(two_links)
    (path,) = entries(own_cache)
    _, machine_code = cache.load(path.name)
    cache.store(path.name, header, machine_code)
    np.testing.assert_array_equal(compute(two_links), first)
    assert len(traced) == 2


@pytest.mark.parametrize('mode', [0o620, 0o602, 0o666])
def test_an_entry_that_others_may_write_is_not_executed(two_links, own_cache, traced, mode):
    compute(two_links)
    (path,) = entries(own_cache)
    path.chmod(mode)
    compute(two_links)
    assert len(traced) == 2


@pytest.mark.parametrize('mode', [0o770, 0o707, 0o777])
def test_a_folder_that_others_may_write_is_not_used_with_a_warning(
    two_links, own_cache, traced, caplog, mode
):
    compute(two_links)
    own_cache.chmod(mode)
    for _ in range(2):
        compute(two_links)
    assert len(traced) == 3
    assert [str(own_cache) in record.getMessage() for record in caplog.records] == [True]


def test_files_and_folders_of_others_are_not_used(two_links, own_cache, traced, monkeypatch):
    compute(two_links)
    (path,) = entries(own_cache)
    monkeypatch.setattr(os, 'getuid', lambda: path.stat().st_uid + 1)
    compute(two_links)
    assert len(traced) == 2 and entries(own_cache) == [path]


def test_entries_are_for_the_owner_alone(two_links, own_cache):
    compute(two_links)
    assert [stat.S_IMODE(path.stat().st_mode) for path in entries(own_cache)] == [0o600]
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700


def test_entries_with_exchanged_contents_are_rebuilt(two_links, own_cache, traced):
    robot = Robot.from_urdf(two_links)
    torque, matrix = robot.inverse_dynamics(Q, Q, Q), robot.mass_matrix(Q)
    one, other = entries(own_cache)
    contents = one.read_bytes(), other.read_bytes()
    one.write_bytes(contents[1])
    other.write_bytes(contents[0])
    robot = Robot.from_urdf(two_links)
    np.testing.assert_array_equal(robot.inverse_dynamics(Q, Q, Q), torque)
    np.testing.assert_array_equal(robot.mass_matrix(Q), matrix)
    assert len(traced) == 4
    assert (one.read_bytes(), other.read_bytes()) == contents


def test_a_pipe_in_place_of_an_entry_is_not_waited_for(two_links, own_cache, traced):
    first = compute(two_links)
    (path,) = entries(own_cache)
    path.unlink()
    os.mkfifo(path, 0o600)
    np.testing.assert_array_equal(compute(two_links), first)
    assert len(traced) == 2 and path.is_file()


# -- spoiled folders ---------------------------------------------------------------------------


@pytest.mark.parametrize('off', ['off', 'OFF', 'none', ''])
def test_the_cache_can_be_switched_off(two_links, own_cache, monkeypatch, off):
    monkeypatch.setenv('RBD_ROS_CACHE_DIR', off)
    monkeypatch.setenv('HOME', str(own_cache.parent))
    monkeypatch.delenv('XDG_CACHE_HOME', raising=False)
    assert compute(two_links).shape == (2,)
    assert not list(own_cache.parent.iterdir())


def test_the_cache_follows_the_xdg_convention(two_links, tmp_path, monkeypatch):
    monkeypatch.delenv('RBD_ROS_CACHE_DIR')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'xdg'))
    compute(two_links)
    assert len(entries(tmp_path / 'xdg' / 'rbd_ros')) == 1
    monkeypatch.delenv('XDG_CACHE_HOME')
    monkeypatch.setenv('HOME', str(tmp_path / 'home'))
    compute(two_links)
    assert len(entries(tmp_path / 'home' / '.cache' / 'rbd_ros')) == 1


def test_a_tilde_is_the_home(two_links, tmp_path, monkeypatch):
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.setenv('RBD_ROS_CACHE_DIR', '~/kernels')
    compute(two_links)
    assert len(entries(tmp_path / 'kernels')) == 1


@pytest.mark.parametrize('place', ['a file', '/proc/nowhere', 'nul\0byte'])
def test_an_unwritable_cache_folder_is_ignored(two_links, tmp_path, monkeypatch, place):
    (tmp_path / 'a file').write_text('')
    monkeypatch.setattr(cache.os, 'environ', {'RBD_ROS_CACHE_DIR': str(tmp_path / place)})
    assert compute(two_links).shape == (2,)


def test_without_a_home_there_is_no_cache(two_links, monkeypatch):
    def no_home():
        raise RuntimeError('Could not determine home directory.')

    monkeypatch.setattr(cache.os, 'environ', {})
    monkeypatch.setattr(cache.Path, 'home', no_home)
    assert cache.directory() is None and compute(two_links).shape == (2,)


def test_a_cache_deleted_between_calls_is_rebuilt(two_links, own_cache):
    robot = Robot.from_urdf(two_links)
    one = robot.inverse_dynamics(Q, Q, Q)
    for path in entries(own_cache):
        path.unlink()
    own_cache.rmdir()
    many = robot.inverse_dynamics(np.tile(Q, (9, 1)), Q, Q)
    np.testing.assert_array_equal(many[4], one)
    assert len(entries(own_cache)) == 1


@pytest.mark.parametrize('error', [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES])
@pytest.mark.parametrize('when', ['mkstemp', 'write', 'replace'])
def test_a_write_error_does_not_prevent_compilation(
    two_links, own_cache, monkeypatch, error, when
):
    def fail(*args, **kwargs):
        raise OSError(error, os.strerror(error))

    if when == 'mkstemp':
        monkeypatch.setattr(cache.tempfile, 'mkstemp', fail)
    elif when == 'replace':
        monkeypatch.setattr(cache.os, 'replace', fail)
    else:
        fdopen = os.fdopen

        class Full:
            def __init__(self, handle, mode):
                self.file = fdopen(handle, mode)

            def __enter__(self):
                return self

            def __exit__(self, *info):
                self.file.close()

            write = fail

        monkeypatch.setattr(cache.os, 'fdopen', Full)
    assert compute(two_links).shape == (2,)
    assert list(own_cache.iterdir()) == []  # nothing half-written is left behind


def test_a_read_only_file_system_is_read_with_one_warning(
    two_links, own_cache, traced, monkeypatch, caplog
):
    def fail(*args, **kwargs):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    compute(two_links)
    monkeypatch.setattr(cache.os, 'utime', fail)
    monkeypatch.setattr(cache.tempfile, 'mkstemp', fail)
    compute(two_links)
    assert traced == ['inverse_dynamics'] and not caplog.records
    for _ in range(2):
        Robot.from_urdf(two_links).mass_matrix(Q)
    assert traced == ['inverse_dynamics', 'mass_matrix', 'mass_matrix']
    (record,) = caplog.records
    assert str(own_cache) in record.getMessage() and 'Read-only' in record.getMessage()


PRIVILEGED = hasattr(os, 'getuid') and os.getuid() == 0


@pytest.mark.skipif(PRIVILEGED, reason='the superuser may write everywhere')
def test_a_read_only_folder_can_be_read(two_links, own_cache, traced):
    compute(two_links)
    own_cache.chmod(0o500)
    compute(two_links)
    Robot.from_urdf(two_links).mass_matrix(Q)
    assert traced == ['inverse_dynamics', 'mass_matrix'] and len(entries(own_cache)) == 1


# -- many processes, and growth ----------------------------------------------------------------

WORKER = """
import sys, time
import numpy as np
from rbd_ros import Robot
robot = Robot.from_urdf(sys.argv[1])
while time.time() < float(sys.argv[2]):
    pass
q = np.array([0.3, -0.2])
print(*robot.inverse_dynamics(q, q, q).tolist())
print(*robot.mass_matrix(np.tile(q, (9, 1)))[8].ravel().tolist())
"""


@pytest.mark.slow
def test_processes_may_share_an_empty_cache(two_links, own_cache):
    path = fresh_python.python_path(fresh_python.ROOT / 'test')
    start = time.time() + 3.0
    workers = [
        subprocess.Popen(
            [sys.executable, '-c', WORKER, two_links, str(start)],
            env={**os.environ, 'PYTHONPATH': path}, stdout=subprocess.PIPE, text=True)
        for _ in range(5)
    ]  # fmt: skip
    outputs = {worker.communicate(timeout=CEILING)[0] for worker in workers}
    assert all(worker.returncode == 0 for worker in workers) and len(outputs) == 1
    assert len(list(own_cache.iterdir())) == len(all_entries(own_cache)) == 5


def fill(folder, ages):
    """Return the entries of 1000 bytes, unused for that many seconds."""
    paths = []
    for k, age in enumerate(ages):
        path = folder / cache.entry_name('inverse_dynamics', 'one', f'{k:064x}'[::-1])
        path.write_bytes(bytes(1000))
        os.utime(path, (time.time() - age,) * 2)
        paths.append(path)
    return paths


def test_the_entries_longest_unused_go_when_there_are_too_many(own_cache, monkeypatch):
    monkeypatch.setattr(cache, '_MAX_BYTES', 8500)
    own_cache.mkdir(mode=0o700)
    paths = fill(own_cache, [100, 10, 300, 20, 200, 30, 40, 50])
    cache.store(cache.entry_name('mass_matrix', 'one', 'f' * 64), {}, bytes(100))
    assert all(path.exists() for path in paths)
    cache.store(cache.entry_name('mass_matrix', 'one', 'e' * 64), {}, bytes(1000))
    gone = [path for path in paths if not path.exists()]
    assert gone == [paths[k] for k in (0, 2, 4)]


def test_the_folder_is_read_once_in_a_while(own_cache, monkeypatch):
    """When a process has written a part of what there may be, and at its first entry."""
    looks = []
    monkeypatch.setattr(cache, '_MAX_BYTES', cache._PART * 5000)
    monkeypatch.setattr(cache, '_prune', looks.append)
    found = []
    for k in range(14):
        cache.store(cache.entry_name('mass_matrix', 'one', f'{k:064x}'[::-1]), {}, bytes(997))
        found.append(len(looks))
    assert found == [1] * 6 + [2] * 6 + [3] * 2 and set(looks) == {own_cache}


def test_reading_an_entry_keeps_it(two_links, own_cache):
    compute(two_links)
    (path,) = entries(own_cache)
    os.utime(path, (1000.0, 1000.0))
    compute(two_links)
    assert time.time() - path.stat().st_mtime < 60


def test_nothing_but_entries_is_ever_removed(own_cache, monkeypatch):
    monkeypatch.setattr(cache, '_MAX_BYTES', 0)
    own_cache.mkdir(mode=0o700)
    others = [
        own_cache / name for name in ('thesis.o', 'a-b-c.o', 'notes', '.rbd_ros-new', 'x.rbd_ros')
    ]
    for path in others:
        path.write_bytes(bytes(1000))
    cache.store(cache.entry_name('mass_matrix', 'one', 'f' * 64), {}, b'')
    assert sorted(own_cache.iterdir()) == sorted(others)


def test_leftovers_of_interrupted_writers_are_removed_after_an_hour(own_cache):
    own_cache.mkdir(mode=0o700)
    old, new = own_cache / '.rbd_ros-new-abc', own_cache / '.rbd_ros-new-def'
    for path, age in ((old, 4000.0), (new, 60.0)):
        path.write_bytes(b'')
        os.utime(path, (time.time() - age,) * 2)
    cache.store(cache.entry_name('mass_matrix', 'one', 'f' * 64), {}, b'')
    assert not old.exists() and new.exists()
