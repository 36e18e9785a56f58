"""What commands show of long work, and how they end when somebody has had enough."""

import io
import sys

import pytest

from rbd_ros.cli import progress as progress_module
from rbd_ros.cli.main import main
from rbd_ros.cli.progress import TerminalProgress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Times of a clock that goes by a second with each look at it."""
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
        (['excite', 'two_link_arm', '-o', 'OUT.csv'], 'looking for a motion: '),
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


@pytest.mark.parametrize('where', ['import_module', '_parser'])
def test_an_interrupt_ends_with_130_and_without_a_traceback(monkeypatch, capsys, where):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f'rbd_ros.cli.main.{where}', interrupted)
    assert main(['info', 'two_link_arm']) == 130
    assert capsys.readouterr() == ('', '')
