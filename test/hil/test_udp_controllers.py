# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Controllers over UDP: packets, lockstep, any response; the program of the page."""

import csv
import json
import re
import socket
import struct
import sys
from xml.etree import ElementTree

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside
from support.c_example import build_example, EXAMPLE
from support.source_imports import ROOT
from support.waiting import CEILING
import yaml

from rbd_ros.cli.main import main
from rbd_ros.control import JointTrajectory
from rbd_ros.hil import Bench, read_scenario, ScenarioError
from rbd_ros.hil.controllers import make_controller, udp_controller
from rbd_ros.hil.controllers.udp_controller import own_port
from rbd_ros.hil.controllers.udp_exchange import UdpExchange
from rbd_ros.hil.controllers.udp_packets import (
    MAX_JOINTS,
    PacketError,
    sequence_of,
    StateWriter,
    torque_of,
)
from rbd_ros.hil.scenario.desired import DesiredSamples, MAX_ROWS

# Written from the page without the package, as by a user.
PROGRAM = """
import socket, struct, sys, time

kind, port = sys.argv[1], int(sys.argv[2])
bridge = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
bridge.bind(('127.0.0.1', port))
count = motion = total = 0
while True:
    state, where = bridge.recvfrom(65536)
    magic, version, n, sequence, stamp, flags, zero = struct.unpack('<4sHHQqII', state[:32])
    assert (magic, version, zero, len(state)) == (b'RBDS', 1, 0, 32 + 40 * n), state
    q, v, qw, vw, aw = (struct.unpack(f'<{n}d', state[32 + 8 * n * k:][:8 * n]) for k in range(5))
    if flags & 1:
        motion = total = 0
    motion += 1

    count += 1
    tau = [40.0 * (qw[k] - q[k]) + 2.0 * (vw[k] - v[k]) + 0.1 * aw[k] + 1e-11 * stamp
           for k in range(n)]
    head = struct.pack('<4sHHQ', b'RBDA', 1, n, sequence)
    late = motion > 5 and kind
    if late == 'silent':
        continue
    if late == 'ends':
        print('no more power', flush=True)
        sys.exit(3)
    if late == 'nan':
        tau[1] = float('nan')
    if late == 'version':
        head = struct.pack('<4sHHQ', b'RBDA', 2, n, sequence)
    if late == 'joints':
        head = struct.pack('<4sHHQ', b'RBDA', 1, 3, sequence)
    if late == 'wrong':
        head = struct.pack('<4sHHQ', b'RBDA', 1, n, sequence - 1)
    if late == 'foreign':
        head = b'rbda' + head[4:]
    answer = head + struct.pack(f'<{n}d', *tau)
    if late == 'short':
        answer = answer[:-1]
    if late == 'long':
        answer += bytes(8)
    if late == 'head':
        answer = answer[:10]
    if kind == 'noisy':  # twice, of another state, and what is none, before and after
        other = struct.pack('<4sHHQ', b'RBDA', 1, n, sequence - 1) + struct.pack(f'<{n}d', *q)
        for each in (other, b'', b'RB', b'hello', answer, answer, other):
            bridge.sendto(each, where)
        stranger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        stranger.sendto(head + bytes(8 * n), where)
        continue
    bridge.sendto(answer, where)
    if late == 'closes':
        bridge.close()
        time.sleep(60)
    if late == 'closes late':  # the next state has come already
        bridge.recvfrom(2048)
        bridge.close()
        time.sleep(60)
"""
LAW = """
def feedback(robot, trajectory, timestep):
    def control(time, q, v):
        desired = trajectory.sample(time)
        stamp = round(time * 1e9)
        return 40.0 * (desired[0] - q) + 2.0 * (desired[1] - v) + 0.1 * desired[2] + 1e-11 * stamp
    return control
"""


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(('127.0.0.1', 0))
        return free.getsockname()[1]


@pytest.fixture
def run(tmp_path, capsys):
    """Return a function that runs a scenario, and gives exit code, output and numbers."""
    (tmp_path / 'program.py').write_text(PROGRAM)
    (tmp_path / 'feedback.py').write_text(LAW)

    def run_it(controller, **changes):
        content = {
            'robot': 'two_link_arm',
            'duration': 0.3,
            'trajectory': {'times': [0.0, 0.25], 'positions': [[0.2, 0.3], [0.4, 0.1]]},
            'controller': controller,
            'response_timeout': 20.0,
            **changes,
        }
        path = tmp_path / 'scenario.yaml'
        path.write_text(yaml.safe_dump(content))
        capsys.readouterr()
        code = main(['hil', str(path), '--report', str(tmp_path / 'report')])
        output = ''.join(capsys.readouterr())
        report = tmp_path / 'report' / 'result.json'
        return code, output, json.loads(report.read_text()) if report.is_file() else {}

    def program(kind):
        port = free_port()
        words = [sys.executable, str(tmp_path / 'program.py'), kind, str(port)]
        return {'udp': {'port': port, 'command': words}}

    run_it.program = program
    return run_it


# -- lockstep -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_program_is_tested_bitwise_despite_repeated_and_other_answers(run):
    faults = [{'fault': 'position_noise', 'value': 1e-4}, {'fault': 'jitter', 'value': 0.002}]
    code, output, expected = run({'python': 'feedback.py:feedback'}, faults=faults)
    assert code == 0 and expected['largest_torque'] > 1.0, output
    found = [run(run.program(kind), faults=faults) for kind in ('plain', 'noisy')]
    assert [each[0] for each in found] == [0, 0], found
    assert {each[2]['digest'] for each in found} == {expected['digest']}
    assert expected['steps'] == 300


@pytest.mark.parametrize(
    ('kind', 'words'),
    [
        ('ends', 'ended with code 3: no more power'),
        ('nan', 'an answer has a torque that is not finite'),
        ('version', 'an answer has protocol version 2; the required version is 1'),
        ('joints', 'an answer is for 3 joints; the robot has 2'),
        ('short', 'an answer has 31 bytes; 2 joints need 32'),
        ('long', 'an answer has 40 bytes; 2 joints need 32'),
        ('head', 'an answer has 10 bytes, fewer than its header'),
    ],
)
def test_a_bad_answer_ends_the_run_at_once_and_is_reported(run, kind, words):
    code, output, numbers = run(run.program(kind))
    assert code == 1 and words in output, output
    assert words in numbers['failure'] and numbers['steps'] == 5


@pytest.mark.parametrize(
    ('kind', 'words'),
    [
        ('silent', 'within 0.5 s: no packet arrives from 127.0.0.1:'),
        ('wrong', 'answers to other states that were ignored: 1'),
        ('foreign', 'packets without RBDA at the beginning that were ignored: 1'),
    ],
)
def test_no_answer_ends_the_run_after_the_timeout_and_the_reason_names_received_packets(
    run, kind, words
):
    code, output, numbers = run(run.program(kind), response_timeout=0.5)
    assert code == 1 and words in output, output
    assert 'no answer to the state of 0.005000 s' in output and numbers['steps'] == 5


@pytest.mark.parametrize('kind', ['closes', 'closes late'])
def test_a_program_that_listens_no_more_is_reported(run, kind):
    code, output, numbers = run(run.program(kind), response_timeout=0.5)
    assert code == 1 and 'no program listens at 127.0.0.1:' in output and numbers['steps'] == 6


def test_a_program_that_is_not_there_is_reported_everywhere(run, tmp_path, monkeypatch):
    monkeypatch.setenv('RBD_ROS_HIL_START_TIMEOUT', '0.3')
    port = free_port()
    code, output, numbers = run({'udp': {'port': port}}, name='never there')
    assert code == 1 and f'no program listens at 127.0.0.1:{port}' in output
    assert 'never there: FAIL' in output and 'ended after 0 of 300 steps: no answer' in output
    assert (
        numbers['steps'] == 0
        and not numbers['passed']
        and 'no program listens' in numbers['failure']
    )
    suite = ElementTree.parse(tmp_path / 'report' / 'junit.xml').getroot()
    assert (suite.get('tests'), suite.get('failures')) == ('1', '1')
    assert 'no program listens' in (tmp_path / 'report' / 'report.html').read_text()
    code, output, numbers = run({'udp': {'port': port, 'command': '/no/such/program'}})
    assert code == 1 and 'check the command' in output
    assert not numbers and not (tmp_path / 'report' / 'junit.xml').exists()  # that of before


def test_one_that_cannot_begin_is_reported_with_its_words(run):
    words = [sys.executable, '-c', 'raise SystemExit("no license")']
    code, output, _ = run({'udp': {'port': free_port(), 'command': words}})
    assert code == 1 and 'ended with code 1: no license' in output


def test_an_address_that_is_none_is_reported(run):
    code, output, _ = run({'udp': {'port': 9700, 'address': 'no.such.host.invalid'}})
    assert code == 1 and 'no.such.host.invalid:9700' in output and 'check address' in output


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({}, 'port is missing'),
        ({'port': 0}, 'port.*not a valid port'),
        ({'port': 65536}, 'port.*not a valid port'),
        ({'port': 80.5}, 'port.*not a valid port'),
        ({'port': 9700, 'host': 'a'}, 'unknown key.*host'),
        ({'port': 9700, 'command': []}, 'command.*empty'),
    ],
)
def test_wrong_entries_are_rejected_by_line_and_key(tmp_path, given, words):
    path = tmp_path / 'scenario.yaml'
    trajectory = {'times': [0.0], 'positions': [[0.0, 0.0]]}
    content = {'robot': 'two_link_arm', 'trajectory': trajectory, 'controller': {'udp': given}}
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ScenarioError, match=f'(?s)scenario.yaml.*line.*controller: udp.*{words}'):
        read_scenario(path)


@pytest.mark.slow
def test_each_run_of_a_campaign_starts_its_own_program(run, tmp_path, capsys):
    words = [sys.executable, str(tmp_path / 'program.py'), 'plain', '{port}']
    noise = {'duration': 0.02, 'faults': [{'fault': 'position_noise', 'value': 1e-4}]}
    code, output, _ = run({'udp': {'port': free_port(), 'command': words}}, **noise)
    assert code == 0, output  # one run has the port of the file
    path, folder = tmp_path / 'scenario.yaml', tmp_path / 'many'
    command = ['hil', str(path), '--report', str(folder)]
    assert main([*command, '--seeds', '3', '--jobs', '2']) == 0, capsys.readouterr()
    with open(folder / 'runs.csv', newline='', encoding='utf-8') as file:
        found = [each['digest'] for each in csv.DictReader(file)]
    assert main([*command, '--replay', '2']) == 0
    assert 'bitwise identical' in capsys.readouterr().out
    run({'python': 'feedback.py:feedback'}, **noise)
    scenario = read_scenario(path)
    runs = [Bench(scenario).run(make_controller(scenario), seed) for seed in range(3)]
    assert found == [each.digest for each in runs] and len(set(found)) == 3


@pytest.mark.parametrize('more', [{}, {'command': 'program 9700'}])
def test_a_campaign_rejects_a_program_without_a_port(run, tmp_path, capsys, more):
    run({'udp': {'port': free_port(), 'command': '/no/such/program', **more}}, duration=0.01)
    path = tmp_path / 'scenario.yaml'
    assert main(['hil', str(path), '--report', str(tmp_path / 'many'), '--seeds', '2']) == 1
    assert 'for the port' in capsys.readouterr().err


def test_no_two_runs_have_one_port(monkeypatch):
    with own_port('127.0.0.1') as first:
        # A check while the program of the first does not listen yet.
        monkeypatch.setattr(udp_controller, 'MAX_TRIES', 3)
        real = socket.socket.bind

        def bind(self, at):
            real(self, (at[0], first) if self.type == socket.SOCK_DGRAM else at)

        monkeypatch.setattr(socket, 'socket', type('Same', (socket.socket,), {'bind': bind}))
        with pytest.raises(ValueError, match='no UDP port at 127.0.0.1 is free'):
            with own_port('127.0.0.1'):
                pass
        monkeypatch.undo()
        with own_port('127.0.0.1') as second:
            assert second != first
    with pytest.raises(ValueError, match='no UDP port at no.such.host.invalid'):
        with own_port('no.such.host.invalid'):
            pass


# -- the program in C -----------------------------------------------------------------------------


@pytest.mark.slow
@outside.needs('C compiler')
def test_the_program_in_c_follows_its_trajectory_as_its_law_in_process_does(tmp_path, capsys):
    folder = build_example(tmp_path / 'build')
    content = yaml.safe_load((EXAMPLE / 'scenario.yaml').read_text())
    results = []
    port = free_port()
    command = f'build/udp_controller {port} computed_torque'
    for controller in (
        {'c': {'library': str(folder / 'libcontrol.so'), 'function': 'computed_torque'}},
        {'udp': {'port': port, 'command': command}},
    ):
        path = tmp_path / 'scenario.yaml'
        path.write_text(yaml.safe_dump({**content, 'controller': controller}))
        report = tmp_path / next(iter(controller))
        assert main(['hil', str(path), '--report', str(report)]) == 0, capsys.readouterr()
        results.append(json.loads((report / 'result.json').read_text()))
    assert results[0]['digest'] == results[1]['digest']
    assert results[1]['largest_error'] < content['limits']['tracking_error']
    assert 'listening' in (tmp_path / 'udp' / 'controller.log').read_text()


# -- packets --------------------------------------------------------------------------------------


def test_packets_are_those_of_the_page():
    page = (ROOT / 'docs' / 'hil_controllers.md').read_text()
    sizes = [
        [int(x) for x in re.findall(r'\d+', line)]
        for line in page.splitlines()
        if re.match(r'\| (joints|state \[bytes\]|answer \[bytes\]) \|', line)
    ]
    assert len(sizes) == 3 and len(sizes[0]) == 6
    for n, state, answer in zip(*sizes):
        writer = StateWriter(n)
        writer.values[:] = np.arange(5 * n)
        writer.set_head(77, -5, True)
        assert len(writer.data) == state
        head = struct.unpack('<4sHHQqII', writer.data[:32])
        assert head == (b'RBDS', 1, n, 77, -5, 1, 0)
        assert struct.unpack(f'<{5 * n}d', writer.data[32:]) == tuple(range(5 * n))
        data = struct.pack(f'<4sHHQ{n}d', b'RBDA', 1, n, 2**63 + 1, *range(n))
        assert len(data) == answer
        assert sequence_of(memoryview(data), n) == 2**63 + 1
        assert list(torque_of(memoryview(data), n)) == list(range(n))
    writer.set_head(78, 5, False)
    assert struct.unpack_from('<I', writer.data, 24) == (0,)
    assert f'up to {MAX_JOINTS} joints' in page


def test_more_joints_than_a_packet_has_room_for_are_rejected():
    assert len(StateWriter(MAX_JOINTS).data) <= 65507
    for count in (0, MAX_JOINTS + 1):
        with pytest.raises(ValueError, match=f'must have 1 to {MAX_JOINTS}'):
            StateWriter(count)


@pytest.fixture
def pair():
    """Yield an exchange of two joints, and the socket at its other end."""
    other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    other.bind(('127.0.0.1', 0))
    other.settimeout(CEILING)
    exchange = UdpExchange('127.0.0.1', other.getsockname()[1], 2)
    yield exchange, other
    exchange.close()
    other.close()


def flags(other):
    data = other.recv(200)
    return struct.unpack_from('<Q', data, 8)[0], struct.unpack_from('<I', data, 24)[0]


def test_the_flag_stays_until_a_state_is_answered(pair):
    exchange, other = pair
    assert exchange.exchange(0, 0.01) is None
    assert exchange.exchange(1, 0.01) is None
    assert [flags(other) for _ in range(2)] == [(1, 1), (2, 1)]
    # An answer that waits already: sequence numbers count on.
    address = exchange._socket.getsockname()
    other.sendto(struct.pack('<4sHHQ2d', b'RBDA', 1, 2, 3, 1.5, -2.5), address)
    assert list(exchange.exchange(2, 30.0)) == [1.5, -2.5]
    assert exchange.exchange(3, 0.01) is None
    assert [flags(other) for _ in range(2)] == [(3, 1), (4, 0)]
    exchange.begin()
    assert exchange.exchange(4, 0.01) is None
    assert flags(other) == (5, 1)
    assert exchange.counts() == {
        'packets_sent': 5,
        'packets_answered': 1,
        'packets_late': 0,
        'packets_foreign': 0,
    }


def test_torques_are_a_copy(pair):
    exchange, other = pair
    address = exchange._socket.getsockname()
    for k in (1, 2):
        other.sendto(struct.pack('<4sHHQ2d', b'RBDA', 1, 2, k, k, k), address)
    first = exchange.exchange(0, 30.0)
    second = exchange.exchange(1, 30.0)
    assert list(first) == [1.0, 1.0] and list(second) == [2.0, 2.0]


def test_waiting_ends_when_the_process_has_ended(pair):
    exchange, _ = pair
    with pytest.raises(PacketError, match='it is gone'):
        exchange.exchange(0, 60.0, lambda: 'it is gone')


def test_a_program_that_returns_is_received(pair):
    exchange, other = pair
    port = other.getsockname()[1]
    other.close()
    for _ in range(3):
        assert exchange.exchange(0, 0.05) is None
    assert exchange.silence() == f'no program listens at 127.0.0.1:{port}'
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as again:
        again.bind(('127.0.0.1', port))
        again.settimeout(CEILING)
        address = exchange._socket.getsockname()
        again.sendto(struct.pack('<4sHHQ2d', b'RBDA', 1, 2, 4, 1.0, 2.0), address)
        assert list(exchange.exchange(0, 30.0)) == [1.0, 2.0]
        assert flags(again)[0] == 4  # sent although the earlier one was not received


def test_a_rejection_of_the_packet_before_does_not_cost_the_next(pair):
    exchange, other = pair
    port = other.getsockname()[1]
    other.close()
    exchange._send()  # whose rejection is waiting now
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as again:
        again.bind(('127.0.0.1', port))
        again.settimeout(CEILING)
        exchange._send()
        assert len(again.recv(200)) == 112


# -- the desired motion ---------------------------------------------------------------------------


def test_the_desired_motion_is_the_sample_bitwise_at_each_step():
    line = JointTrajectory(['a', 'b'], [0.1, 0.5, 1.03], [[0, 0], [1.0, 2.0], [0.5, 0.0]])
    desired = DesiredSamples(line, 0.001)
    for k in [*range(0, 1200), 5000, 10**7]:
        expected = np.concatenate(line.sample(k * 0.001))
        assert np.array_equal(desired.at(k * 0.001), expected), k
    assert_allclose(desired.at(-0.5), [0, 0, 0, 0, 0, 0])


def test_long_motions_are_not_kept_whole():
    line = JointTrajectory(['a'], [0.0, 500.0], [[0.0], [1.0]])
    desired = DesiredSamples(line, 0.001)
    assert len(desired._rows) == MAX_ROWS
    for time in (99.0, 250.0, 499.0, 600.0):
        assert np.array_equal(desired.at(time), np.concatenate(line.sample(time)))


def test_a_program_is_not_made_in_process(tmp_path):
    path = tmp_path / 'scenario.yaml'
    trajectory = {'times': [0.0], 'positions': [[0.0, 0.0]]}
    content = {'robot': 'two_link_arm', 'trajectory': trajectory, 'duration': 0.01}
    path.write_text(yaml.safe_dump({**content, 'controller': {'udp': {'port': 9700}}}))
    scenario = read_scenario(path)
    with pytest.raises(ValueError, match='udp'):
        make_controller(scenario)
    assert Bench(scenario).scenario is scenario
