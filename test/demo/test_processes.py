# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Child processes never outlive their parent, however it ends."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time

import pytest
from support.waiting import CEILING, until

from rbd_ros.demonstration.child_processes import ChildProcesses, Interrupted

ROOT = Path(__file__).parents[2]

# A program with a child and a grandchild that ignore all gentle requests.
PARENT = """
import os, sys, time
from pathlib import Path
from rbd_ros.demonstration import child_processes
from rbd_ros.demonstration.child_processes import ChildProcesses
child_processes.GENTLE_TIMEOUT = child_processes.FIRM_TIMEOUT = 1.0
folder = Path(sys.argv[1])
stubborn = "trap '' INT TERM HUP; sleep 1000 & echo $! > {0}/grandchild; echo $$ > {0}/child; wait"
try:
    with ChildProcesses(dict(os.environ), folder) as children:
        children.start('stubborn', ['bash', '-c', stubborn.format(folder)])
        (folder / 'ready').touch()
        time.sleep(1000)
except KeyboardInterrupt as stop:
    sys.exit(128 + stop.number)
"""


def alive(process_id):
    try:
        state = Path(f'/proc/{process_id}/stat').read_text().rpartition(')')[2].split()[0]
    except OSError:
        return False
    return state != 'Z'


def read_id(path):
    until(lambda: path.is_file() and path.read_text().strip())
    return int(path.read_text())


@pytest.fixture
def children(tmp_path):
    return ChildProcesses(dict(os.environ), tmp_path)


@pytest.fixture
def parent(tmp_path):
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    process = subprocess.Popen([sys.executable, '-c', PARENT, str(tmp_path)], env=environment)
    yield process
    process.kill()
    process.wait()
    for name in ('child', 'grandchild'):
        if (tmp_path / name).is_file() and alive(read_id(tmp_path / name)):
            os.kill(read_id(tmp_path / name), signal.SIGKILL)


def test_children_end_with_the_block(children):
    with children:
        process = children.start('sleeper', ['sleep', '1000'])
        assert process.poll() is None
    assert process.poll() == -signal.SIGINT


def test_children_end_when_the_block_fails(children):
    with pytest.raises(ZeroDivisionError), children:
        process = children.start('sleeper', ['sleep', '1000'])
        1 / 0
    assert process.poll() is not None


def test_a_child_that_has_ended_is_reported(children):
    with children:
        children.start('quick', [sys.executable, '-c', 'import sys; sys.exit(3)'])
        assert children.wait('quick', CEILING) == 3
        assert children.exited() == ['quick']


def test_waiting_for_a_child_ends(children):
    with children:
        children.start('sleeper', ['sleep', '1000'])
        assert children.wait('sleeper', 0.05) is None


def test_output_of_children_goes_to_logs_and_pipes(children):
    code = 'import sys; print("out"); print("err", file=sys.stderr)'
    with children:
        children.start('logged', [sys.executable, '-c', code])
        piped = children.start('piped', [sys.executable, '-c', code], pipe=True)
        assert piped.stdout.read() == b'out\n'
        children.wait('logged', CEILING)
        children.wait('piped', CEILING)
    assert sorted(children.log('logged').read_text().split()) == ['err', 'out']
    assert children.log('piped').read_text() == 'err\n'


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_raise_in_the_main_thread_and_stop_the_children(children, number):
    with pytest.raises(Interrupted) as caught, children:
        process = children.start('sleeper', ['sleep', '1000'])
        os.kill(os.getpid(), number)
        time.sleep(CEILING)
    assert caught.value.number == number
    assert process.poll() is not None


def test_signal_handlers_are_restored(children):
    before = signal.getsignal(signal.SIGTERM)
    with children:
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_signal_while_a_child_starts_waits_until_it_is_known(children, monkeypatch):
    """Otherwise the child would be unknown, and survive."""
    popen, started = subprocess.Popen, []

    def interrupted(*arguments, **options):
        started.append(popen(*arguments, **options))
        os.kill(os.getpid(), signal.SIGINT)
        return started[0]

    monkeypatch.setattr(subprocess, 'Popen', interrupted)
    with pytest.raises(Interrupted), children:
        children.start('sleeper', ['sleep', '1000'])
    assert started[0].poll() is not None


def test_the_terminal_signals_the_program_and_not_the_children(children):
    with children:
        process = children.start('sleeper', ['sleep', '1000'])
        assert os.getpgid(process.pid) == process.pid != os.getpgid(0)


@pytest.mark.slow
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stubborn_children_and_their_children_are_ended(parent, tmp_path, number):
    ids = [read_id(tmp_path / name) for name in ('child', 'grandchild')]
    until((tmp_path / 'ready').exists)
    parent.send_signal(number)
    parent.send_signal(number)
    assert parent.wait(CEILING) == 128 + number
    until(lambda: not any(map(alive, ids)))


@pytest.mark.skipif(sys.platform != 'linux', reason='needs PR_SET_PDEATHSIG')
def test_children_die_with_a_killed_program(parent, tmp_path):
    child = read_id(tmp_path / 'child')
    until((tmp_path / 'ready').exists)
    parent.kill()
    until(lambda: not alive(child))
