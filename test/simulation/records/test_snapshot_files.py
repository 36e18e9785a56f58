# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Snapshot files: bitwise continuation of the motion, and rejection of mismatches."""

import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from support.simulated_robots import turntable

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.lookup.resources import resource_path
from rbd_ros.simulation import load_snapshot, save_snapshot, SnapshotError
from rbd_ros.simulation.records import snapshot_file

ARM = resource_path('urdf', 'six_axis_arm.urdf')
WORLD = resource_path('config', 'table_world.yaml')
BALL = {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0}
TAU = np.array([3.0, -20.0, 5.0, 1.0, -1.0, 0.5])


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(ARM)


def everything(simulator):
    """Return all that a simulation is, as bytes."""
    arrays = {name: array.tobytes() for name, array in simulator.physics.arrays().items()}
    return arrays, simulator.time


def in_a_world(robot):
    simulator = Simulator(robot, world=WORLD)
    simulator.set_joint_pd(kp=300.0, kd=20.0)
    simulator.apply_wrench('box', [0, 0, 0, 2, 1, 0], duration=0.5)
    return simulator


def on_soft_ground(robot):
    simulator = Simulator(robot, ground=HalfSpace())
    simulator.apply_wrench('tool0', [0, 0, 0, 0, 0, -30.0], duration=0.9)
    return simulator


@pytest.mark.parametrize(
    'make',
    [
        in_a_world,
        on_soft_ground,
        lambda robot: Simulator(robot, integrator='rk4'),
        lambda robot: Simulator(robot, ground=True, integrator='midpoint'),
    ],
)
def test_the_motion_after_a_restore_is_bitwise_identical(arm, make, tmp_path):
    simulator = make(arm)
    simulator.step(TAU, 350)
    save_snapshot(simulator.snapshot(), tmp_path / 'middle.npz')
    middle = everything(simulator)
    simulator.step(-TAU, 350)
    after = everything(simulator)
    other = make(arm)
    other.step(TAU, 20)
    other.restore(load_snapshot(tmp_path / 'middle.npz'))
    assert everything(other) == middle
    other.step(-TAU, 350)
    assert everything(other) == after
    assert np.abs(other.v).max() > 1e-3


def test_another_process_continues_bitwise(arm, tmp_path):
    """With other hash seeds: nothing in the identity depends on the order of sets."""
    simulator = in_a_world(arm)
    simulator.step(TAU, 100)
    save_snapshot(simulator.snapshot(), tmp_path / 'middle.npz')
    simulator.step(-TAU, 100)
    program = (
        'import sys\n'
        'from rbd_ros import Robot, Simulator\n'
        'from rbd_ros.simulation import load_snapshot\n'
        f'simulator = Simulator(Robot.from_urdf({str(ARM)!r}), world={str(WORLD)!r})\n'
        f'simulator.restore(load_snapshot({str(tmp_path / "middle.npz")!r}))\n'
        f'simulator.step({(-TAU).tolist()}, 100)\n'
        'print(simulator.q.tobytes().hex(), repr(simulator.time))\n'
    )
    for seed in ('1', '2'):
        done = subprocess.run(
            [sys.executable, '-c', program],
            env={**os.environ, 'PYTHONHASHSEED': seed},
            capture_output=True,
            text=True,
        )
        assert done.stdout.split() == [simulator.q.tobytes().hex(), repr(simulator.time)], done


def test_handles_and_attached_data_are_restored(arm, tmp_path):
    simulator = on_soft_ground(arm)
    handle = simulator.apply_wrench('tool0', [0, 0, 0, 0, 0, 99.0])
    snapshot = simulator.snapshot()
    snapshot.extra['commands'] = {'age': [0.1, float('inf')], 'text': 'ä'}
    save_snapshot(snapshot, tmp_path / 'a.npz')
    found = load_snapshot(tmp_path / 'a.npz')
    assert found.extra == snapshot.extra and found.identity == snapshot.identity
    assert (found.robot, found.objects) == ('six_axis_arm', ())
    other = on_soft_ground(arm)
    other.restore(found)
    other.clear_wrenches(handle)
    assert (other.physics.external_forces.use[:, 2] != 0).sum() == 1
    later = other.apply_wrench('tool0', [0, 0, 0, 0, 0, 1.0])
    assert later > handle


def heavier(text):
    """Return the same URDF with a mass that differs in the last digit."""
    at = text.index('mass value="')
    begin = at + len('mass value="')
    end = text.index('"', begin)
    return text[:begin] + repr(float(text[begin:end]) * (1.0 + 1e-12)) + text[end:]


@pytest.mark.slow
def test_a_snapshot_of_another_simulation_is_rejected_by_the_difference(arm, tmp_path):
    def kept(simulator):
        save_snapshot(simulator.snapshot(), tmp_path / 'kept.npz')
        return load_snapshot(tmp_path / 'kept.npz')

    text = ARM.read_text()
    renamed = Robot.from_urdf(text.replace('robot name="six_axis_arm"', 'robot name="seven"'))
    joints = Robot.from_urdf(text.replace('"elbow_joint"', '"knee_joint"'))
    effort = Robot.from_urdf(text.replace('effort="150"', 'effort="149"'))
    assert effort.effort_limits[2] == 149.0
    plain, ball = Simulator(arm), {'objects': {'ball': BALL}}
    table = {'objects': {'ball': {**BALL, 'surface': {'friction': 0.1}}}}
    for simulator, snapshot, words in (
        (plain, kept(Simulator(renamed)), "'seven', but this is a simulation of 'six_axis_arm'"),
        (plain, kept(Simulator(joints)), 'other joints: .*knee_joint'),
        (plain, kept(Simulator(effort)), 'of this name with other inertias'),
        (plain, kept(Simulator(Robot.from_urdf(heavier(text)))), 'with other inertias'),
        (plain, kept(Simulator(arm, 2e-3)), 'timestep of 0.002 s, but this simulation one of'),
        (plain, kept(Simulator(arm, integrator='rk4')), 'to the integrator rk4, but .* midpoint'),
        (plain, kept(Simulator(arm, ground=HalfSpace())), 'another ground'),
        (plain, kept(Simulator(arm, ground=True)), 'other objects or surfaces'),
        (plain, kept(Simulator(arm, speed_limit=1.0)), 'with other inertias, frames, limits'),
        (
            plain,
            kept(Simulator(arm, enforce_velocity_limits=False)),
            'with other inertias, frames, limits',
        ),
        (plain, kept(Simulator(arm, world=ball)), 'other movable objects, ball'),
        (Simulator(arm, world=ball), kept(plain), 'other movable objects, none'),
        (Simulator(arm, world=ball), kept(Simulator(arm, world=table)), 'other objects or surf'),
        (
            Simulator(arm, world=ball),
            kept(Simulator(arm, world=ball, restitution_model='poisson')),
            'other objects or surf',
        ),
    ):
        before = everything(simulator)
        with pytest.raises(ValueError, match=words):
            simulator.restore(snapshot)
        assert everything(simulator) == before and not simulator.physics.model.has_servos


def test_faults_of_a_bench_are_no_other_simulation(arm):
    one, other = Simulator(arm), Simulator(arm)
    one.physics.allow_friction()
    one.physics.model.friction[:] = 1e9
    one.physics.model.effort[:] = 0.0
    one.step(n=10)
    other.restore(one.snapshot())
    assert other.time == one.time == 0.01 and np.array_equal(other.q, one.q)
    # Faults are not in it: held by friction and without power there, and not here.
    one.step(np.full(6, 20.0), n=10)
    other.step(np.full(6, 20.0), n=10)
    assert np.abs(one.v).max() < 1e-9 and np.abs(other.v).max() > 1e-2
    assert not one.tau.any() and (other.tau == 20.0).any()


def test_a_world_that_changes_is_another_one(arm):
    simulator = Simulator(arm, world=WORLD)
    before = simulator.snapshot()
    simulator.remove_object('belt')  # which does not move
    with pytest.raises(ValueError, match='other objects or surfaces'):
        simulator.restore(before)


# -- files ----------------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def good(tmp_path_factory):
    simulator = Simulator(turntable())
    simulator.step([0.1], 10)
    path = tmp_path_factory.mktemp('good') / 'good.npz'
    save_snapshot(simulator.snapshot(), path)
    return path.read_bytes()


def test_a_file_that_was_cut_off_anywhere_is_rejected_by_name(good, tmp_path):
    path = tmp_path / 'cut.npz'
    for size in [*range(0, len(good), 97), len(good) - 1]:
        path.write_bytes(good[:size])
        with pytest.raises(
            SnapshotError, match='cut.npz is truncated, damaged, or not a snapshot'
        ):
            load_snapshot(path)


def test_a_byte_that_changed_is_never_read_as_something_else(good, tmp_path):
    path, whole = tmp_path / 'changed.npz', tmp_path / 'whole.npz'
    whole.write_bytes(good)
    original = load_snapshot(whole)
    rng = np.random.default_rng(3)
    for at in rng.choice(len(good), 300, replace=False):
        data = bytearray(good)
        data[at] ^= 1 << rng.integers(8)
        path.write_bytes(data)
        try:
            found = load_snapshot(path)
        except SnapshotError as error:
            assert 'changed.npz' in str(error)
        else:  # in what ZIP keeps twice, or does not use
            assert found.identity == original.identity
            for name, array in original.arrays.items():
                assert found.arrays[name].tobytes() == array.tobytes()


def with_about(path, good, change):
    """Return a snapshot that says something else about itself."""
    with np.load(io.BytesIO(good)) as found:
        arrays = {name: found[name] for name in found.files}
    about = change(json.loads(arrays['about'].tobytes()))
    arrays['about'] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    with path.open('wb') as file:
        np.savez(file, **arrays)
    return path


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'format': 'rbd_ros snapshot 7'}, "'rbd_ros snapshot 7', but this version reads"),
        ({'version': '99.0'}, 'written by rbd_ros 99.0, but this is'),
        ({'handles': 3}, 'damaged'),
        ({'identity': []}, 'damaged'),
        ({'start_time': 'late'}, 'damaged'),
    ],
)
def test_other_formats_and_versions_are_rejected_by_name(good, tmp_path, change, words):
    path = with_about(tmp_path / 'other.npz', good, lambda about: {**about, **change})
    with pytest.raises(SnapshotError, match=f'other.npz.*{words}'):
        load_snapshot(path)


def test_foreign_files_are_rejected_by_name(good, tmp_path, monkeypatch):
    path = tmp_path / 'foreign.npz'
    with path.open('wb') as file:
        np.savez(file, q=np.zeros(3))
    with pytest.raises(SnapshotError, match='foreign.npz is not a snapshot'):
        load_snapshot(path)
    with path.open('wb') as file:
        np.savez(file, about=np.array([{'a': 1}], dtype=object))
    with pytest.raises(SnapshotError, match='foreign.npz'):
        load_snapshot(path)
    for content in (b'', b'hello', b'PK\x05\x06' + bytes(18)):
        path.write_bytes(content)
        with pytest.raises(SnapshotError, match='foreign.npz'):
            load_snapshot(path)
    with zipfile.ZipFile(path, 'w') as archive:
        archive.writestr('about.npy', b'not an array')
    with pytest.raises(SnapshotError, match='foreign.npz'):
        load_snapshot(path)
    with pytest.raises(SnapshotError, match='cannot be read'):
        load_snapshot(tmp_path)
    path.write_bytes(good)
    monkeypatch.setattr(snapshot_file, 'MAX_BYTES', 1000)
    with pytest.raises(SnapshotError, match='more than the limit of 1000'):
        load_snapshot(path)


def test_a_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    snapshot = Simulator(turntable()).snapshot()
    with pytest.raises(SnapshotError, match='cannot be written'):
        save_snapshot(snapshot, tmp_path / 'no' / 'folder.npz')
    path = tmp_path / 'kept.npz'
    path.write_bytes(b'before')

    def full(*_):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(snapshot_file.os, 'replace', full)
    with pytest.raises(SnapshotError, match='No space left'):
        save_snapshot(snapshot, path)
    assert path.read_bytes() == b'before' and os.listdir(tmp_path) == ['kept.npz']
