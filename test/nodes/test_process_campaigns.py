# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Campaigns of controller processes: isolated pairs in parallel."""

import csv
import json
import os
from pathlib import Path
import signal
import socket
import subprocess
import sys

import pytest
from support import outside
from support.fresh_python import python_path
from support.source_imports import ROOT
from support.waiting import CEILING, until
import yaml

outside.load('rclpy')


# Says where it runs, and ends when the first joint is measured too far away.
CONTROLLER = """
import os
import sys
import rclpy
from sensor_msgs.msg import JointState

print('domain', os.environ['ROS_DOMAIN_ID'], flush=True)
with open(sys.argv[1], 'a') as file:
    file.write(f'{os.environ["ROS_DOMAIN_ID"]} {os.getpid()}\\n')
rclpy.init()
node = rclpy.create_node('under_test')
out = node.create_publisher(JointState, 'joint_commands', 10)

def on_state(state):
    if state.position[0] > 0.4:
        print('the first joint is lost', flush=True)
        sys.exit(4)
    efforts = [20.0 * (0.2 - q) - 2.0 * v for q, v in zip(state.position, state.velocity)]
    out.publish(JointState(header=state.header, name=state.name, effort=efforts))

node.create_subscription(JointState, 'joint_states', on_state, 10)
rclpy.spin(node)
"""


@pytest.fixture
def bench(ros, tmp_path):
    """Return a function that starts the command for a scenario."""
    return bench_of(ros, tmp_path, {})


def bench_of(ros, tmp_path, changes):
    """Return a function that starts the command for a scenario with changes."""
    (tmp_path / 'controller.py').write_text(CONTROLLER)
    scenario = {
        'robot': 'two_link_arm',
        'duration': 0.2,
        'trajectory': {'times': [0.0, 0.1], 'positions': [[0.2, 0.3], [0.25, 0.3]]},
        'controller': {
            'command': [sys.executable, str(tmp_path / 'controller.py'), str(tmp_path / 'seen')]
        },
        'faults': [{'fault': 'position_noise', 'value': 1e-4}],
        'limits': {'tracking_error': 0.5},
    }
    scenario['controller'].update(changes.get('controller', {}))
    scenario.update({name: each for name, each in changes.items() if name != 'controller'})
    path = tmp_path / 'scenario.yaml'
    path.write_text(yaml.safe_dump(scenario))
    environment = {**os.environ, 'ROS_DOMAIN_ID': str(ros.domain), 'PYTHONPATH': python_path()}

    def start(*words):
        return subprocess.Popen(
            [sys.executable, '-m', 'rbd_ros.cli.main', 'hil', str(path), *words],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def finished(process):
    out, err = process.communicate(timeout=CEILING)
    return process.returncode, out, err


def seen(folder):
    """Return the domains and processes of all controllers so far."""
    path = folder / 'seen'
    lines = path.read_text().splitlines() if path.is_file() else []
    return [tuple(map(int, line.split())) for line in lines]


def rows_of(folder):
    with open(folder / 'runs.csv', newline='', encoding='utf-8') as file:
        return list(csv.DictReader(file))


def test_pairs_side_by_side_give_the_table_of_one_after_the_other(bench, ros, tmp_path):
    two = finished(bench('--report', 'two', '--seeds', '4', '--jobs', '2'))
    assert two[0] == 0 and '4 of 4 runs kept all limits' in two[1], two
    domains = {domain for domain, _ in seen(tmp_path)}
    assert len(domains) == 2 and ros.domain not in domains
    # One by one, and with a pause: more runs go on where it was.
    first = finished(bench('--report', 'one', '--seeds', '2', '--jobs', '1'))
    second = finished(bench('--report', 'one', '--seeds', '4', '--jobs', '1'))
    assert first[0] == second[0] == 0 and '] 2 of 4' in second[2], second
    table = (tmp_path / 'two' / 'runs.csv').read_bytes()
    assert (tmp_path / 'one' / 'runs.csv').read_bytes() == table
    rows = rows_of(tmp_path / 'two')
    assert len({each['digest'] for each in rows}) == 4 and rows[0]['steps'] == '200'
    assert len(seen(tmp_path)) == 8
    assert not list((tmp_path / 'two').glob('run_*'))  # nothing to look at
    again = finished(bench('--report', 'two', '--replay', '3'))
    assert again[0] == 0 and 'bitwise identical' in again[1], again
    assert (tmp_path / 'two' / 'run_3' / 'report.html').is_file()


def test_a_controller_that_is_kept_is_one_process_and_gives_the_same_table(bench, ros, tmp_path):
    assert finished(bench('--report', 'new', '--seeds', '3', '--jobs', '1'))[0] == 0
    keeping = bench_of(ros, tmp_path, {'controller': {'keep': True}})
    code, _, err = finished(keeping('--report', 'kept', '--seeds', '5', '--jobs', '1'))
    assert code == 0, err
    new, kept = rows_of(tmp_path / 'new'), rows_of(tmp_path / 'kept')
    assert [each['digest'] for each in kept][:3] == [each['digest'] for each in new]
    assert len({each['digest'] for each in kept}) == 5
    processes = [process for _, process in seen(tmp_path)]
    assert len(processes) == 3 + 1 and not alive(processes[-1])
    assert sorted(each.name for each in (tmp_path / 'kept').iterdir()) == [
        'campaign.html', 'campaign.json', 'campaign.lock', 'runs.csv',
    ]  # fmt: skip
    again = finished(keeping('--report', 'kept', '--replay', '4'))
    assert again[0] == 0 and 'bitwise identical' in again[1], again


def test_a_kept_controller_that_fails_is_replaced_for_the_next_run(ros, tmp_path):
    keeping = bench_of(ros, tmp_path, {'controller': {'keep': True}})
    words = ['--report', 'runs', '--seeds', '6', '--vary', 'position_bias=0:0.5:2']
    code, _, err = finished(keeping(*words, '--jobs', '1'))
    assert code == 1, err
    rows = rows_of(tmp_path / 'runs')
    lost = [float(row['position_bias']) > 0.0 for row in rows]
    assert [row['passed'] == 'False' for row in rows] == lost and True in lost and False in lost
    for row, bad in zip(rows, lost):
        log = tmp_path / 'runs' / f'run_{row["run"]}' / 'controller.log'
        assert log.is_file() == bad
        if bad:
            assert 'ended with code 4' in row['failure']
            assert log.read_text().strip().endswith('the first joint is lost')
    # One for the first run, and one after each that failed, unless it was the last.
    assert len(seen(tmp_path)) == 1 + sum(lost[:-1])


def test_a_kept_lifecycle_node_starts_again_in_each_run(ros, tmp_path):
    """The node inverse_dynamics, whose integral would otherwise go on from run to run."""
    node = [sys.executable, '-m', 'rbd_ros.nodes.inverse_dynamics', '--ros-args']
    for name, value in {
        'robot_description_file': ROOT / 'urdf' / 'two_link_arm.urdf',
        'kp': '[400.0]', 'kd': '[40.0]', 'ki': '[200.0]',
        'state_timeout': 0.0,  # the bench waits for each answer, and may wait long for its turn
    }.items():  # fmt: skip
        node += ['-p', f'{name}:={value}']
    changes = {'command': node}
    starts = bench_of(ros, tmp_path, {'controller': changes})
    code, _, err = finished(starts('--report', 'new', '--seeds', '3', '--jobs', '1'))
    assert code == 0, err
    keeping = bench_of(ros, tmp_path, {'controller': {**changes, 'keep': True}})
    code, _, err = finished(keeping('--report', 'kept', '--seeds', '3', '--jobs', '1'))
    assert code == 0, err
    new, kept = rows_of(tmp_path / 'new'), rows_of(tmp_path / 'kept')
    assert [each['digest'] for each in kept] == [each['digest'] for each in new]


def alive(process):
    return Path('/proc', str(process)).is_dir() and state(process) != 'Z'


def test_a_controller_that_ends_costs_its_run_and_its_output_is_kept(bench, tmp_path):
    words = ['--report', 'runs', '--seeds', '6', '--vary', 'position_bias=0:0.5:2']
    code, _, err = finished(bench(*words, '--jobs', '2'))
    assert code == 1, err
    for row in rows_of(tmp_path / 'runs'):
        log = tmp_path / 'runs' / f'run_{row["run"]}' / 'controller.log'
        lost = float(row['position_bias']) > 0.0
        assert log.is_file() == lost == (row['passed'] == 'False')
        if lost:
            assert 'ended with code 4' in row['failure']
            assert log.read_text().strip().endswith('the first joint is lost')
    assert {row['passed'] for row in rows_of(tmp_path / 'runs')} == {'True', 'False'}


def test_the_dead_time_and_rates_of_a_process_are_found(bench, tmp_path):
    code, out, err = finished(bench('--report', 'rates', '--rates', '0.5,2'))
    assert code == 0 and '2 of 2 rates' in out, err
    slow, fast = json.loads((tmp_path / 'rates' / 'rates.json').read_text())
    assert (slow['states_sent'], fast['states_sent']) == (100, 400)
    assert (tmp_path / 'rates' / 'rate_0.5' / 'controller.log').is_file()


@pytest.mark.skipif(sys.platform != 'linux', reason='the kernel of Linux does it')
def test_a_controller_ends_when_its_bench_is_killed(bench, tmp_path):
    process = bench('--report', 'r', '--seeds', '1', '--jobs', '1')
    try:
        until(lambda: seen(tmp_path) or process.poll() is not None, 'a controller')
        [(_, controller)] = seen(tmp_path)
        worker = parent(controller)
        os.kill(worker, signal.SIGKILL)
        until(lambda: state(controller) == 'Z', 'the end of the controller')
    finally:
        finished(process)
    assert 'its worker died with code -9' in rows_of(tmp_path / 'r')[0]['failure']


def status(number, key):
    lines = Path('/proc', str(number), 'status').read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(f'{key}:'))


def parent(number):
    return int(status(number, 'PPid'))


def state(number):
    try:
        return status(number, 'State')
    except OSError:
        return 'Z'


# -- domains --------------------------------------------------------------------------------------

HOLDER = """
import os, sys
from rbd_ros.nodes.bench.domains import reserve_domain
domain = reserve_domain()
assert reserve_domain() == domain == int(os.environ['ROS_DOMAIN_ID'])
print(domain, os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Return a function that starts a process with its own domain, and returns the domain."""
    started = []

    def start(common, **more):
        environment = {**os.environ, 'PYTHONPATH': python_path(), 'TMPDIR': str(tmp_path)}
        environment.pop('ROS_AUTOMATIC_DISCOVERY_RANGE', None)
        process = subprocess.Popen(
            [sys.executable, '-c', HOLDER],
            env={**environment, 'ROS_DOMAIN_ID': str(common), **more},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        domain, reach = process.stdout.readline().split()
        return process, int(domain), reach

    yield start
    for process in started:
        process.communicate()


def test_each_process_has_its_own_domain_until_it_ends(holder, monkeypatch):
    from rbd_ros.nodes.bench import domains

    one, first, reach = holder(100)
    assert first != 100 and 1 <= first <= domains.DOMAINS and reach == 'LOCALHOST'
    _, second, _ = holder(100)
    assert len({first, second, 100}) == 3
    one.kill()
    one.wait()
    _, third, _ = holder(100)
    assert third == first  # the lock has ended with the process
    assert holder(7, ROS_AUTOMATIC_DISCOVERY_RANGE='SUBNET')[2] == 'SUBNET'


def test_a_domain_in_use_is_skipped(holder):
    from rbd_ros.nodes.bench.domains import is_unused

    process, domain, _ = holder(40)
    process.kill()
    process.wait()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(('', 7400 + 250 * domain + 10 + 2 * 3))  # its fourth participant
        assert not is_unused(domain)
        assert holder(40)[1] != domain
    assert is_unused(domain)
