# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The shell commands of the documentation, and a shell to run them in."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
import os
from pathlib import Path
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time

from support.source_imports import ROOT
from support.waiting import CEILING

PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in (
        ROOT / 'README.md',
        *sorted((ROOT / 'docs' / 'nodes').glob('*.md')),
        *(
            ROOT / 'docs' / name
            for name in ('launch.md', 'lifecycle.md', 'control.md', 'index.md', 'demo.md')
        ),
    )
    if page.is_file()
]
PROGRAMS = ('ros2', 'rbd_ros', 'python', 'python3', 'pip', 'cd', 'rosdep', 'colcon', '.', 'source')
FENCE = re.compile(r'^```.*?^```', re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A command of a page: `text` is the input of a shell, `words` its arguments."""

    page: str
    line: int
    block: int
    text: str

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(shlex.split(self.text.replace('\\\n', ' '), comments=True))

    def begins(self, *words: str) -> bool:
        return self.words[: len(words)] == words

    @property
    def stays(self) -> bool:
        """Whether it runs until Ctrl-C."""
        if self.listens:
            return True
        if self.begins('ros2', 'launch'):
            return '--show-args' not in self.words
        module = self.words[2] if self.begins('python', '-m') else ''
        return self.begins('ros2', 'run') or module.startswith('rbd_ros.nodes.')

    @property
    def listens(self) -> bool:
        """Whether it prints messages until Ctrl-C."""
        return self.begins('ros2', 'topic', 'echo') and '--once' not in self.words

    @property
    def ends(self) -> bool:
        """Whether it ends by itself."""
        if self.begins('ros2', 'topic', 'pub'):
            return bool({'--once', '-1', '-t', '--times'} & {*self.words})
        return (
            any(
                self.begins(*words)
                for words in (
                    ('ros2', 'topic', 'echo'),
                    ('ros2', 'launch'),
                    ('ros2', 'service', 'call'),
                    ('ros2', 'action', 'send_goal'),
                    *(('ros2', 'lifecycle', verb) for verb in ('set', 'get')),
                    *(
                        ('ros2', 'param', verb)
                        for verb in ('set', 'get', 'describe', 'list', 'dump')
                    ),
                    ('rbd_ros', 'info'),
                )
            )
            and not self.stays
        )

    def __str__(self):
        return f'{self.page}:{self.line}: {" ".join(self.words)}'


def commands(page: str) -> list[Command]:
    """Return the commands of the code blocks of a page that are indented by four spaces."""
    text = (ROOT / page).read_text(encoding='utf-8')
    text = FENCE.sub(lambda fence: '\n' * fence[0].count('\n'), text)
    found, block, kept, begin, shell = [], 0, '', 0, None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith('    '):
            assert not kept, f'{page}:{begin}: this command does not end'
            block += bool(line.strip())  # lines between two blocks; empty ones are within a block
            shell = None
            continue
        if shell is None:  # the first line of a paragraph shows whether it is for a shell
            shell = line.split()[0] in PROGRAMS or line.strip().startswith('scripts/')
        if not shell:
            continue
        begin = begin if kept else number
        kept += line[4:] + '\n'
        if not is_open(kept):
            found.append(Command(page, begin, block, kept.rstrip('\n')))
            kept = ''
    return found


def is_open(text: str) -> bool:
    """Return whether a command continues in the next line."""
    if text.endswith('\\\n'):
        return True
    try:
        shlex.split(text.replace('\\\n', ' '), comments=True)
    except ValueError:
        return True
    return False


class Shell:
    """A command in a separate shell and session, which receives Ctrl-C as from a terminal."""

    def __init__(self, text: str, folder: Path, domain: int):
        self.log = Path(folder) / f'{time.monotonic_ns()}.log'
        with open(self.log, 'w') as file:
            self.process = subprocess.Popen(
                ['bash', '-c', text],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=environment(folder, domain),
                start_new_session=True,
                preexec_fn=_begin,
            )
        # Its input ends with this process, even if that is killed. Ctrl-C goes to the whole group:
        # `ros2 run` waits for its node, whatever signal it receives alone.
        group = f'-- -{self.process.pid}'
        self.watcher = subprocess.Popen(
            ['bash', '-c', f'read; kill -INT {group}; sleep 5; kill -KILL {group}'],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def output(self) -> str:
        return self.log.read_text(errors='replace')

    def alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> int | None:
        """Send Ctrl-C; return the exit code, None if it had to be killed."""
        if self.alive():
            os.killpg(self.process.pid, signal.SIGINT)
        try:
            return self.process.wait(CEILING)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.watcher.kill()
            self.watcher.communicate()


def _begin() -> None:
    """Enable Ctrl-C in a new process."""
    # Shells make background processes ignore SIGINT, possibly this one too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def environment(folder: Path, domain: int) -> dict[str, str]:
    """Return an environment with the programs of this Python and without windows."""
    bin_folder = Path(folder) / 'bin'
    if not bin_folder.is_dir():
        bin_folder.mkdir()
        _write_program(bin_folder / 'python', f'{shlex.quote(sys.executable)} "$@"')
        if shutil.which('rbd_ros') is None:
            _write_program(bin_folder / 'rbd_ros', 'python -m rbd_ros.cli.main "$@"')
    paths = [str(ROOT), os.environ.get('PYTHONPATH', '')]
    changed = {
        **os.environ,
        'PATH': f'{bin_folder}{os.pathsep}{os.environ["PATH"]}',
        'PYTHONPATH': os.pathsep.join(filter(None, paths)),
        'PYTHONUNBUFFERED': '1',
        'ROS_DOMAIN_ID': str(domain),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'ROS_LOG_DIR': str(Path(folder) / 'log'),
    }
    for name in ('DISPLAY', 'WAYLAND_DISPLAY'):
        changed.pop(name, None)
    return changed


def _write_program(path, command):
    path.write_text(f'#!/bin/sh\nexec {command}\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
