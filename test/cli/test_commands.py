# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Groups of commands, their help, and suggestions for misspelled commands."""

import subprocess
import sys

import pytest

from rbd_ros.cli.command_line import _RELATED, COMMANDS, EXIT_CODES, GROUPS, load_command, nearest
from rbd_ros.cli.main import main
from rbd_ros.cli.output.text_table import plural


def help_of(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main([*words, '--help'])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_help_lists_every_command_once_below_its_group(capsys):
    lines = help_of(capsys).splitlines()
    for title, commands in GROUPS.items():
        below = lines[lines.index(f'{title}:') + 1 :][: len(commands)]
        assert [line.split()[0] for line in below] == list(commands)
        assert all(line.endswith(text) for line, text in zip(below, commands.values()))
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)
    assert max(map(len, lines)) <= 99


def test_every_command_is_a_plain_sentence():
    for text in COMMANDS.values():
        assert text[0].isupper() and text.endswith('.') and len(text.split()) <= 14


@pytest.mark.parametrize('name', COMMANDS)
def test_help_of_a_command_ends_with_its_exit_codes(name, capsys):
    own = getattr(load_command(name), 'EXIT_CODES', {})
    text = help_of(capsys, name)
    assert text.startswith(f'usage: rbd_ros {name} ') and COMMANDS[name] in text
    end = ' '.join(text[text.index('exit codes:') :].split())
    for code, meaning in {**EXIT_CODES, **own}.items():
        assert f'{code} {meaning}' in end


@pytest.mark.parametrize(
    ('word', 'meant'),
    [
        ('simulte', 'simulate'),
        ('static_torque', 'static-torque'),
        ('torque', 'static-torque'),
        ('Doctor', 'doctor'),
        ('anotate', 'feedforward'),
        ('validate', 'validate-model'),
        *_RELATED.items(),
    ],
)
def test_a_wrong_word_suggests_the_nearest_command(word, meant, capsys):
    assert nearest(word)[0] == meant
    assert main([word, 'robot.urdf']) == 2
    usage, error = capsys.readouterr().err.splitlines()
    assert usage.startswith('usage: rbd_ros ')
    assert error.startswith(f'rbd_ros: error: unknown command {word!r}; did you mean {meant}')


def test_a_word_that_is_like_no_command_names_the_help(capsys):
    assert main(['xyz']) == 2
    text = "rbd_ros: error: unknown command 'xyz'; rbd_ros --help lists all commands"
    assert capsys.readouterr().err.splitlines()[-1] == text


@pytest.mark.parametrize(
    ('words', 'end'),
    [
        (['simulate', '--timstep=0.01'], '--timstep=0.01; did you mean --timestep?'),
        (['info', 'two_link_arm', '--jsn'], '--jsn; did you mean --json?'),
        (['robots', 'panda'], 'panda'),
    ],
)
def test_an_unknown_option_suggests_the_nearest_one_of_the_command(words, end, capsys):
    with pytest.raises(SystemExit, match='2'):
        main(words)
    usage, *_, error = capsys.readouterr().err.splitlines()
    assert usage.startswith(f'usage: rbd_ros {words[0]} ')
    assert error == f'rbd_ros {words[0]}: error: unrecognized arguments: {end}'


def test_a_related_word_is_not_a_command():
    assert not set(_RELATED) & set(COMMANDS)
    assert set(_RELATED.values()) <= set(COMMANDS)


def test_without_a_command_the_help_is_printed(capsys):
    assert main([]) == 2
    assert 'static-torque' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('target', 'code', 'error'),
    [
        ('>/dev/full', 1, 'rbd_ros robots: error: [Errno 28] No space left on device\n'),
        ('>&-', 0, ''),
        ('2>&-', 0, ''),
        ('| head -n 1', 0, ''),
    ],
)
def test_output_that_cannot_be_written_is_reported_in_a_line(target, code, error):
    command = f'set -o pipefail; {sys.executable} -m rbd_ros.cli.main robots {target}'
    done = subprocess.run(['bash', '-c', command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, error)


def test_counts_have_the_number_of_their_noun():
    assert [plural(n, 'joint') for n in (0, 1, 2)] == ['0 joints', '1 joint', '2 joints']
