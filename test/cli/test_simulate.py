"""The command `rbd_ros simulate`."""

import os
import signal
import subprocess
import sys
import urllib.request

import pytest

from rbd_ros.cli.main import main
from rbd_ros.resources import resource_path
from rbd_ros.viewer import LivePage

ARM = str(resource_path('urdf', 'six_axis_arm.urdf'))
LINKAGE = str(resource_path('urdf', 'four_bar.urdf'))


@pytest.mark.parametrize('torque', [[], ['--gravity-compensation'], ['--hold']])
def test_a_recording_is_written_without_a_display(capsys, tmp_path, torque):
    path = tmp_path / 'out.html'
    start = '--start=0,-1,0.8,0,0.5,0'
    options = ['--duration', '0.2', '--record', str(path), '--ground', *torque]
    assert main(['simulate', ARM, start, *options]) == 0
    assert capsys.readouterr().out == f'{path}\n'
    assert path.read_text().startswith('<!DOCTYPE html>')


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        (['--duration', '0'], '--duration must be positive'),
        (['--start=1,2'], '--start has 2 numbers, this robot has 6'),
        (['--start=a'], 'separated by commas'),
        (['--hold', '--floating-base'], '--hold is for robots whose base is fixed'),
        (['--gravity-compensation', '--floating-base'], 'whose base is fixed'),
        (['--record', 'no/such/folder/out.html', '--duration', '0.01'], 'cannot be written'),
        (['--timestep', '-1'], 'timestep'),
    ],
)
def test_what_does_not_fit_is_refused(capsys, options, message):
    assert main(['simulate', ARM, '--no-browser', *options]) == 1
    assert message in capsys.readouterr().err


def test_robots_with_loops_have_no_torque(capsys, tmp_path):
    options = ['--extension', str(resource_path('config', 'four_bar.yaml'))]
    path = tmp_path / 'out.html'
    record = ['--duration', '0.1', '--record', str(path)]
    assert main(['simulate', LINKAGE, *options, *record]) == 0 and path.is_file()
    assert main(['simulate', LINKAGE, *options, '--hold']) == 1
    assert '--hold is for robots without loops' in capsys.readouterr().err


def test_a_port_in_use_is_refused(capsys):
    page = LivePage('', 0)
    port = page.url.rstrip('/').rpartition(':')[2]
    try:
        assert main(['simulate', ARM, '--no-browser', '--port', port]) == 1
    finally:
        page.close()
    assert f'port {port} is in use: choose another' in capsys.readouterr().err


def test_it_serves_until_it_is_interrupted():
    command = [sys.executable, '-m', 'rbd_ros.cli.main', 'simulate', ARM]
    process = subprocess.Popen(
        [*command, '--no-browser', '--port', '0'],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, 'no_proxy': '*'},
    )
    try:
        url = process.stdout.readline().split()[0]
        with urllib.request.urlopen(url, timeout=10) as answer:
            assert b'six_axis_arm' in answer.read()
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=20)
        assert process.returncode == 0 and complaints == ''
    finally:
        process.kill()


def test_it_ends_after_its_duration(capsys):
    assert main(['simulate', ARM, '--no-browser', '--port', '0', '--duration', '0.1']) == 0
    assert capsys.readouterr().out.startswith('http://localhost:')
