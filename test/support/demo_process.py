# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A demo in a separate process, with all its children."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import uuid

from support.waiting import CEILING, until

ROOT = Path(__file__).parents[2]


class Demo:
    """A demo in a process, marked in its environment so that its children can be found."""

    def __init__(self, folder, *arguments):
        self.mark = f'RBD_ROS_TEST_MARK={uuid.uuid4()}'
        name, _, value = self.mark.partition('=')
        environment = {**os.environ, 'PYTHONPATH': str(ROOT), name: value}
        environment.pop('DISPLAY', None)
        command = [sys.executable, '-m', 'rbd_ros.cli.main', 'demo', *arguments]
        command += ['-o', str(folder)]
        self.output = folder / 'output.txt'
        with open(self.output, 'wb') as output:
            self.process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def text(self):
        return self.output.read_text(errors='replace')

    def wait_for(self, text):
        until(lambda: text in self.text() or self.process.poll() is not None, self.text)
        assert text in self.text(), self.text()

    def wait(self):
        """Return the exit code of the demo, when it has ended."""
        return self.process.wait(CEILING)

    def relatives(self):
        """Return the live processes with the mark, including the demo."""
        found = []
        for folder in Path('/proc').glob('[0-9]*'):
            try:
                if self.mark.encode() in (folder / 'environ').read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def nothing_left(self):
        return until(lambda: not self.relatives(), lambda: f'end of {self.relatives()}')

    def end(self):
        for process in self.relatives():
            os.kill(process, signal.SIGKILL)
        self.process.wait()
