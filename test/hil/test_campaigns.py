# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Campaigns: variations, rows of all runs, interruptions, killed workers, replays."""

import csv
from dataclasses import replace
import os
from pathlib import Path
import signal

import numpy as np
import pytest
import yaml

from rbd_ros.cli.main import main
from rbd_ros.hil import Fault, read_scenario
from rbd_ros.hil.campaign import campaign as campaign_module
from rbd_ros.hil.campaign.campaign import _make_work, Campaign, failed, worst
from rbd_ros.hil.campaign.variation import read_variations, Variation, varied
from rbd_ros.hil.campaign.workers import in_processes, WorkerDied
from rbd_ros.hil.plants.plant import PlantEntry
from rbd_ros.hil.scenario.controller_entry import Controller


def rows_of(folder):
    with open(folder / 'runs.csv', newline='', encoding='utf-8') as file:
        return list(csv.DictReader(file))


def ignore(*_):
    """Ignore progress."""


# -- what varies ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('latency=0:20ms', Variation('latency', 0.0, 0.02)),
        ('payload=0:5', Variation('payload', 0.0, 5.0, 11)),
        ('payload=0:500g:3', Variation('payload', 0.0, 0.5, 3)),
        ('position_bias=-1:1deg', Variation('position_bias', -np.pi / 180, np.pi / 180)),
        ('drop=1e-3:5e-2', Variation('drop', 0.001, 0.05)),
        ('jitter=100:200us:2', Variation('jitter', 1e-4, 2e-4, 2)),
    ],
)
def test_ranges_are_read_with_their_units(text, expected):
    (found,) = read_variations(text)
    assert (found.kind, found.levels) == (expected.kind, expected.levels)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('gremlin=0:1', 'gremlin'),
        ('joint_lock=0:1', 'no value'),
        ('drop=0:1,drop=0:1', 'twice'),
        ('drop', 'not a range'),
        ('drop=0', 'not a range'),
        ('drop=0:1parsec', 'not a range'),
        ('drop=e:1', 'not a range'),
        ('drop=0:2', 'within 0 and 1'),
        ('drop=0.5:0.1', 'smaller number first'),
        ('latency=-1:1', 'within 0'),
        ('drop=0:1:0', 'levels'),
        ('drop=0:1:5000', 'levels'),
    ],
)
def test_wrong_ranges_are_rejected(text, words):
    with pytest.raises(ValueError, match=f'--vary.*{words}'):
        read_variations(text)


def test_values_are_drawn_evenly_and_do_not_depend_on_other_runs():
    variation = Variation('latency', 1.0, 3.0)
    values = [variation.draw(7, k) for k in range(4000)]
    assert min(values) >= 1.0 and max(values) <= 3.0
    assert np.mean(values) == pytest.approx(2.0, abs=0.04)
    assert variation.draw(7, 3999) == values[-1] != variation.draw(8, 3999)
    assert values[0] != Variation('jitter', 1.0, 3.0).draw(7, 0)
    steps = {Variation('payload', 0.0, 2.0, 5).draw(7, k) for k in range(400)}
    assert steps == {0.0, 0.5, 1.0, 1.5, 2.0}
    assert Variation('drop', 0.3, 0.9, 1).draw(1, 1) == 0.3


def test_a_varied_fault_gets_the_value_or_is_added():
    faults = (Fault('latency', 0.1, channel='state', start_time=2.0), Fault('actuator_failure'))
    assert varied(faults, {'latency': 0.5, 'drop': 0.25}) == (
        Fault('latency', 0.5, channel='state', start_time=2.0),
        Fault('actuator_failure'),
        Fault('drop', 0.25),
    )
    with pytest.raises(ValueError, match='add one with its link'):
        varied(faults, {'payload': 1.0})


# -- workers --------------------------------------------------------------------------------------


def make_square(offset):
    def work(number):
        if number == 13:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 99:
            raise ArithmeticError('too large')
        return offset + number**2

    return work


def make_nothing():
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_costs_only_its_own_piece():
    found = dict(in_processes(make_square, (1,), list(range(10, 20)), 2))
    assert isinstance(found.pop(13), WorkerDied)
    assert found == {k: 1 + k**2 for k in range(10, 20) if k != 13}


def test_work_that_raises_and_workers_that_never_work_end_it():
    with pytest.raises(RuntimeError, match='ArithmeticError: too large'):
        dict(in_processes(make_square, (1,), [1, 99], 1))
    with pytest.raises(RuntimeError, match='repeatedly, the last one with code -9'):
        dict(in_processes(make_nothing, (), list(range(10)), 1))


# -- campaigns ------------------------------------------------------------------------------------

VARY = 'latency=0:2ms,drop=0:0.1'


def test_campaigns_do_not_depend_on_the_number_of_processes(path, tmp_path):
    tables = []
    for jobs in (1, 3):
        folder = tmp_path / f'with_{jobs}'
        seen = []
        campaign = Campaign(str(path), folder, read_variations(VARY))
        rows = campaign.execute(
            12, jobs, lambda done, count, seen=seen: seen.append((done, count))
        )
        tables.append((folder / 'runs.csv').read_bytes())
        assert seen == [(k, 12) for k in range(13)]
        assert rows == rows_of(folder) and [each['run'] for each in rows] == [*map(str, range(12))]
    assert tables[0] == tables[1]
    assert rows[3]['seed'] == '103' and len({each['digest'] for each in rows}) == 12
    assert float(rows[3]['latency']) == campaign.values(3)['latency'] <= 0.002
    _, run = campaign.replay(3)
    assert run.digest == rows[3]['digest']


def test_an_interrupted_campaign_loses_and_doubles_no_run(path, tmp_path):
    whole, part = tmp_path / 'whole', tmp_path / 'part'
    Campaign(str(path), whole).execute(8, 1, ignore)

    def interrupt(done, count):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Campaign(str(path), part).execute(8, 1, interrupt)
    with open(part / 'runs.csv', 'a') as file:
        file.write('5,105,Tr')  # cut in the middle of a line
    done = [each['run'] for each in rows_of(part)]
    assert len(done) == 6
    seen = []
    Campaign(str(path), part).execute(8, 1, lambda *progress: seen.append(progress))
    assert seen[0] == (5, 8)  # complete runs were not repeated
    assert (part / 'runs.csv').read_bytes() == (whole / 'runs.csv').read_bytes()
    seen.clear()
    Campaign(str(path), part).execute(8, 1, lambda *progress: seen.append(progress))
    assert seen == [(8, 8)]
    assert len(Campaign(str(path), part).execute(10, 2, ignore)) == 10  # more, later


def test_another_campaign_in_the_folder_is_rejected(path, tmp_path):
    folder = tmp_path / 'runs'
    Campaign(str(path), folder, read_variations('drop=0:0.1')).execute(1, 1, ignore)
    with pytest.raises(ValueError, match='another campaign'):
        Campaign(str(path), folder, read_variations('drop=0:0.2')).execute(1, 1, ignore)
    path.write_text(path.read_text().replace('0.001', '0.002'))
    with pytest.raises(ValueError, match='another campaign'):
        Campaign(str(path), folder, read_variations('drop=0:0.1')).execute(1, 1, ignore)
    (folder / 'campaign.json').write_text('{')
    with pytest.raises(ValueError, match='another campaign'):
        Campaign(str(path), folder).rows()


def test_a_campaign_does_not_continue_with_another_controller_but_replays_it(
    path, tmp_path, capsys
):
    words = ['hil', str(path), '--report', str(tmp_path / 'r'), '--jobs', '1']
    main([*words, '--seeds', '1'])
    table = (tmp_path / 'r' / 'runs.csv').read_bytes()
    file = path.with_name('controllers.py')
    before = file.read_text()
    file.write_text(before.replace('40.0 * (', '40.125 * ('))
    assert main([*words, '--seeds', '2']) == 1
    assert f'the controller {file}:hold has changed since' in capsys.readouterr().err
    assert (tmp_path / 'r' / 'runs.csv').read_bytes() == table
    assert main([*words, '--replay', '0']) == 1
    assert 'NOT the same run' in capsys.readouterr().out
    file.write_text(before)
    main([*words, '--seeds', '2'])
    assert len(rows_of(tmp_path / 'r')) == 2


def test_a_campaign_does_not_continue_with_another_version(path, tmp_path, monkeypatch):
    Campaign(str(path), tmp_path / 'runs').execute(1, 1, ignore)
    monkeypatch.setattr(campaign_module, '__version__', '0.0.1')
    with pytest.raises(ValueError, match='the version of rbd_ros has changed since'):
        Campaign(str(path), tmp_path / 'runs').execute(2, 1, ignore)


def test_a_worker_with_another_controller_says_so(path, tmp_path):
    expected = campaign_module.fingerprints(str(path), read_scenario(path))
    _make_work(str(path), expected, (), None, tmp_path)
    path.with_name('controllers.py').write_text('hold = None')
    with pytest.raises(ValueError, match='controllers.py:hold differs; give it the same files'):
        _make_work(str(path), expected, (), None, tmp_path)


def test_the_files_that_a_controller_names_are_those_of_its_kind(tmp_path):
    names = ('a.py', 'lib.so', 'unit.fmu', 'program', 'gains.yaml', 'output', 'arm.launch.py')
    paths = {name: str(tmp_path / name) for name in names}
    for each in paths.values():
        Path(each).write_text('')

    def found(kind, *words):
        return [each.name for each in campaign_module.files_of(Controller(kind, words, {}))]

    assert found('python', f'{paths["a.py"]}:make') == ['a.py']
    assert found('python', 'rbd_ros.hil.controllers:computed_torque') == ['__init__.py']
    assert found('python', 'no.such.module:make') == found('python', '/no/such.py:make') == []
    assert found('c', paths['lib.so'], 'control') == ['lib.so']
    assert found('fmu', paths['unit.fmu']) == ['unit.fmu']
    for kind in ('command', 'udp'):
        words = (paths['program'], paths['output'], '--gains', paths['gains.yaml'])
        assert found(kind, *words) == ['program', 'gains.yaml']
    assert found('launch', paths['arm.launch.py'], 'x:=1') == ['arm.launch.py']
    assert found('command', 'ros2', 'run', 'a', 'b') == found('udp') == []


def test_another_plant_is_named(path):
    scenario = read_scenario(path)
    driven = replace(scenario, plant=PlantEntry('fmu', str(path), {}))
    before = campaign_module.fingerprints(str(path), driven)
    path.with_name('unit.fmu').write_text('')
    other = replace(scenario, plant=PlantEntry('fmu', str(path.with_name('unit.fmu')), {}))
    after = campaign_module.fingerprints(str(path), other)
    assert campaign_module.difference(before, before, driven) == ''
    assert campaign_module.difference(before, after, other).endswith('unit.fmu')


def test_a_run_whose_worker_dies_is_a_failure_among_the_others(path, tmp_path):
    # The controller kills its process at one of the biases.
    content = yaml.safe_load(path.read_text())
    content['faults'] = [{'fault': 'position_bias', 'value': 0.0, 'joints': ['shoulder']}]
    vary = read_variations('position_bias=0:0.01:4')
    deadly = next(v for k in range(20) if (v := vary[0].draw(100, k)) > 0.0)
    content['controller']['options'] = {'deadly': 0.2 + deadly}
    path.write_text(yaml.safe_dump(content))
    campaign = Campaign(str(path), tmp_path / 'runs', vary)
    rows = campaign.execute(12, 2, ignore)
    dead = [each for each in rows if each['failure']]
    assert dead and len(dead) < 12
    assert all(each['failure'] == 'its worker died with code -9' for each in dead)
    assert all(float(each['position_bias']) == deadly for each in dead)
    assert all(each in failed(rows) for each in dead) and worst(rows, 1)[0] in dead


def test_processes_and_payloads_without_a_link_are_rejected(path, tmp_path):
    with pytest.raises(ValueError, match='add one with its link'):
        Campaign(str(path), tmp_path / 'runs', read_variations('payload=0:1'))
    content = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**content, 'controller': {'command': 'a b'}}))
    with pytest.raises(ValueError, match='is a process needs ROS'):
        Campaign(str(path), tmp_path / 'runs')


# -- the command ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_does_a_campaign_and_replays_a_run(path, tmp_path, capsys):
    words = ['hil', str(path), '--report', str(tmp_path / 'r'), '--vary', VARY, '--jobs', '2']
    code = main([*words, '--seeds', '6'])
    captured = capsys.readouterr()
    good = 6 - len(failed(rows_of(tmp_path / 'r')))
    assert f'{good} of 6 runs kept all limits' in captured.out and '6 of 6' in captured.err
    assert code == (0 if good == 6 else 1)
    page = (tmp_path / 'r' / 'campaign.html').read_text()
    assert page.count('class="plot"') == 4 and 'src=' not in page and 'By latency' in page
    main([*words, '--replay', '4'])
    assert 'bitwise identical' in capsys.readouterr().out
    assert (tmp_path / 'r' / 'run_4' / 'report.html').is_file()
    table = tmp_path / 'r' / 'runs.csv'
    digest = rows_of(tmp_path / 'r')[4]['digest']
    table.write_text(table.read_text().replace(digest, 'f' * 64))
    assert main([*words, '--replay', '4']) == 1
    assert 'NOT the same run' in capsys.readouterr().out


def test_a_controller_that_always_kills_its_process_is_reported(path, tmp_path, capsys):
    content = yaml.safe_load(path.read_text())
    content['controller']['options'] = {'deadly': 0.2}
    path.write_text(yaml.safe_dump({**content, 'faults': []}))
    assert main(['hil', str(path), '--report', str(tmp_path / 'r'), '--seeds', '9']) == 1
    assert 'repeatedly' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('words', 'text'),
    [
        (['--seeds', '0'], '--seeds 0'),
        (['--seeds', '2', '--jobs', '0'], '--jobs 0'),
        (['--seeds', '2', '--seed', '1'], '--seed applies to one run'),
        (['--vary', 'drop=0:1'], 'number of runs by --seeds'),
        (['--replay', '3'], 'no campaign'),
    ],
)
def test_wrong_arguments_are_reported(path, tmp_path, capsys, words, text):
    assert main(['hil', str(path), '--report', str(tmp_path / 'none'), *words]) == 1
    assert text in capsys.readouterr().err


def test_a_run_that_was_not_done_cannot_be_replayed(path, tmp_path, capsys):
    words = ['hil', str(path), '--report', str(tmp_path / 'r')]
    main([*words, '--seeds', '1', '--jobs', '1'])
    assert main([*words, '--replay', '1']) == 1
    assert 'no such run' in capsys.readouterr().err
