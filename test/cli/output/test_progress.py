# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Progress of long commands, and Ctrl-C."""

import io
import logging
import os
import pty
import subprocess
import sys

import pytest

from rbd_ros.cli.main import CompilationNotices, main
from rbd_ros.cli.output import progress as progress_module
from rbd_ros.cli.output.progress import TerminalProgress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Replace the times by those of a clock that goes by a second with each look at it."""
    seconds = iter(range(10**6))
    monkeypatch.setattr(progress_module.time, 'monotonic', lambda: next(seconds))


def test_a_terminal_shows_the_share_and_is_clean_afterwards():
    terminal = Terminal()
    with TerminalProgress('working', terminal) as progress:
        progress(0.25)
        progress(1.5)
    assert terminal.getvalue().startswith('\rworking:  25 % \rworking: 100 % \r   ')
    assert terminal.getvalue().endswith(' \r')


def test_a_pipe_gets_nothing():
    pipe = io.StringIO()
    with TerminalProgress('working', pipe) as progress:
        progress(0.5)
    assert pipe.getvalue() == ''


@pytest.mark.parametrize(
    ('words', 'what'),
    [
        (['excitation-trajectory', 'two_link_arm', '-o', 'OUT.csv'], 'computing the motion: '),
        (
            ['simulate', 'two_link_arm', '--record', 'OUT.html', '--duration', '0.2'],
            'simulating: ',
        ),
    ],
)
def test_long_work_shows_progress_on_a_terminal_alone(tmp_path, monkeypatch, words, what):
    words = [word.replace('OUT', str(tmp_path / 'out')) for word in words]
    for stream in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, 'stderr', stream)
        assert main(words) == 0
        assert (what in stream.getvalue()) == stream.isatty()


@pytest.mark.parametrize('where', ['main.load_command', 'command_line._parser'])
def test_an_interrupt_ends_with_130_and_without_a_traceback(monkeypatch, capsys, where):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f'rbd_ros.cli.{where}', interrupted)
    assert main(['info', 'two_link_arm']) == 130
    assert capsys.readouterr() == ('', '')


def test_compilation_is_announced_on_a_terminal_alone():
    logger = logging.getLogger('rbd_ros.compiler')
    before = logger.level, list(logger.handlers)
    for stream in (Terminal(), io.StringIO()):
        with CompilationNotices(stream):
            logger.info('compiling %s', 'step')
        logger.info('compiling %s', 'another')  # after the command
        message = 'compiling step (some seconds, only the first time on this machine)\n'
        assert stream.getvalue() == (message if stream.isatty() else '')
    assert (logger.level, list(logger.handlers)) == before


def test_the_first_compilation_of_contact_is_announced_and_later_ones_are_none(tmp_path):
    """In processes of their own, since this one has its machine code already."""

    def said_on_a_terminal():
        master, terminal = pty.openpty()
        words = ['simulate', '--world', 'push', '--duration', '0.02', '--record', 'out.html']
        process = subprocess.Popen(
            [sys.executable, '-m', 'rbd_ros.cli.main', *words],
            cwd=tmp_path,
            env={**os.environ, 'RBD_ROS_CACHE_DIR': str(tmp_path / 'cache')},
            stdout=subprocess.DEVNULL,
            stderr=terminal,
        )
        os.close(terminal)
        found = b''
        try:
            while True:
                found += os.read(master, 4096)
        except OSError:  # the terminal has closed
            pass
        os.close(master)
        assert process.wait() == 0
        return found.decode().splitlines()

    first = [line for line in said_on_a_terminal() if 'only the first time' in line]
    assert any(line.startswith('compiling rbd_ros.simulation.') for line in first)
    assert len(first) == len(set(first))
    assert [line for line in said_on_a_terminal() if 'compiling' in line] == []
