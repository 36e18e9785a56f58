# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`benchmark/scale.py`: scenes, both simulations, and output."""

import json
import math

import numpy as np
import pytest
from support import outside
from support.contact_benchmark import machines, marked, our_engine, scale, scale_scenes

from rbd_ros import Robot

OBJECTS = [name for name in scale_scenes.NAMES if name.startswith(('domino', 'wall', 'mixed'))]


@pytest.mark.parametrize('name', [*OBJECTS, 'boxes64', 'boxes343'])
def test_nothing_overlaps_at_the_start(name):
    for the_scene in scale_scenes.load(name):
        simulator = our_engine.OurWorld(the_scene, 1e-3).simulator
        assert simulator.warnings == ()
        assert len(simulator.objects) == len(the_scene.free)


@pytest.mark.parametrize('name', scale_scenes.NAMES)
def test_names_of_piles_say_how_many_boxes_there_are(name):
    if name.startswith('boxes'):
        (the_scene,) = scale_scenes.load(name)
        assert f'boxes{len(the_scene.free)}' == the_scene.name == name


def test_the_base_on_casters_has_two_wheels_on_each_of_four_swivels():
    robot = Robot.from_urdf(machines.caster_base(), floating_base=True)
    assert robot.nv == 6 + 4 + 8
    mass = sum(body.inertia.mass for body in robot.model.bodies)
    assert mass == pytest.approx(116.0 + 4 * 3.5 + 8 * 0.44)


def test_drops_of_go1_begin_in_different_poses_within_the_joint_limits():
    try:
        drops = scale_scenes.load('go1_drops')
    except FileNotFoundError as reason:
        pytest.skip(str(reason))
    turns = np.array([drop.machine.quaternion for drop in drops])
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1.0)
    assert np.max(np.abs(np.triu(turns @ turns.T, 1))) < 0.99
    robot = drops[0].machine.robot
    for drop in drops:
        assert np.all(drop.machine.start >= robot.lower_limits[-12:])
        assert np.all(drop.machine.start <= robot.upper_limits[-12:])


# -- measurement and table ------------------------------------------------------------------------


def test_a_quick_run_prints_a_row_of_all_columns(tmp_path, capsys):
    outside.load('mujoco')
    path, page = tmp_path / 'scale.json', tmp_path / 'page.md'
    page.write_text(scale.PART.blank)
    assert scale.main(['--quick', '--only', 'dominoes', '--json', str(path)]) == 0
    printed = capsys.readouterr().out
    row = next(line for line in printed.splitlines() if line.startswith('12 dominoes that fall'))
    assert '0 of 49' in row  # unsolved steps; the first one does not count
    facts = json.loads(path.read_text())
    for who in (scale.OURS, scale.THEIRS):
        (run,) = facts['rows']['dominoes'][who]
        assert len(run['steps']) == len(run['contacts']) == 49 and min(run['steps']) > 0.0
        assert max(run['contacts']) >= 4 * 11  # each stands on four corners
    assert scale.main(['--from', str(path), '--document', str(page)]) == 0
    assert capsys.readouterr().out == printed
    (part,) = marked.parts(page.read_text())
    assert '| 12 dominoes that fall | ' in part['body']


def run(steps, **more):
    """Return the facts of one simulation, its times in milliseconds."""
    found = {'contacts': [4], 'penetration': 1e-3, 'unsolved': [], 'truncated': 0, 'memory': 10.0}
    return {'steps': [1e-3 * step for step in steps], **found, **more}


def made(**of):
    """Return the facts of a benchmark, by name: ours, theirs and more."""
    rows = {
        name: {'title': name, scale.OURS: ours, scale.THEIRS: theirs, **more}
        for name, (ours, theirs, more) in of.items()
    }
    return {'rows': rows, 'first': {}}


def test_a_row_has_means_and_maxima_over_all_steps_of_all_runs():
    ours = [run([1.0, 2.0], unsolved=[1], contacts=[4, 6]), run([3.0, 6.0], contacts=[8, 20])]
    theirs = [run([1.0, 1.0]), run([1.0, 3.0], penetration=2e-3, memory=20.0)]
    (row,) = scale.rows(made(drops=(ours, theirs, {})))
    cells = dict(zip(scale.HEAD, row))
    assert cells['rbd_ros [ms]'] == '3' and cells['MuJoCo [ms]'] == '1.5'
    assert cells['Against MuJoCo'] == '0.5 x'
    assert cells['Worst [ms]'] == '6' and cells['Worst by mean'] == '2'
    assert cells['MuJoCo, worst [ms]'] == '3'
    assert cells['Unsolved'] == '1 of 4'
    assert cells['Contacts'] == '9.5' and cells['Most'] == '20'
    assert cells['Penetration [mm]'] == '1' and row[-3] == '2'
    assert cells['Memory [MB]'] == '10' and row[-1] == '20'


def test_growth_is_the_exponent_of_the_time_of_a_step_in_the_number_of_boxes():
    piles = {
        f'boxes{n}': ([run([1e-3 * n**1.5])], [run([1e-3 * n])], {'bodies': n})
        for n in (64, 125, 343)
    }
    assert 'power 1.50, MuJoCo 1.00' in scale.growth(made(**piles))
    assert scale.growth(made(boxes64=piles['boxes64'])) is None


def test_skipped_scenes_are_listed_with_the_reason():
    facts = made()
    facts['rows']['pr2'] = {'title': 'pr2', 'skipped': 'it is not installed'}
    (row,) = scale.rows(facts)
    assert row == ('pr2', *['-'] * (len(scale.HEAD) - 1))
    assert list(scale.notes(facts)) == ['Not measured: pr2, it is not installed']


def test_results_of_several_files_are_merged_in_the_order_of_the_table(tmp_path):
    paths = [tmp_path / f'{name}.json' for name in ('peg', 'dominoes')]
    made_by = {'format': scale.FORMAT, 'machine': {}, 'versions': {}, 'peers': {}, 'quick': False}
    for path in paths:
        path.write_text(json.dumps({**made_by, 'rows': {path.stem: {}}, 'first': {}}))
    assert list(scale.merged(paths)['rows']) == ['dominoes', 'peg']
    path.write_text(json.dumps({**made_by, 'rows': {}, 'first': {}, 'quick': True}))
    with pytest.raises(ValueError, match='another machine, version or setting'):
        scale.merged(paths)
    path.write_text(json.dumps({**made_by, 'format': 'other'}))
    with pytest.raises(ValueError, match='is not of'):
        scale.merged(paths)


def test_large_piles_and_first_steps_are_measured_on_request():
    usual, large = scale.chosen(None, False), scale.chosen(None, True)
    assert set(large) - set(usual) == {'boxes512', 'boxes1000', 'boxes2000'}
    assert scale.FIRST not in large and scale.chosen('first', False) == ['first']
    with pytest.raises(ValueError, match="unknown scene 'towers'"):
        scale.chosen('towers', False)


def test_memory_of_this_process_is_known_where_linux_says_it():
    now, most = scale.memory('VmRSS'), scale.memory('VmHWM')
    assert math.isnan(now) or 0.0 < now <= most
