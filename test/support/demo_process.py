"""A demo in a process of its own, with all that it starts."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import time
import uuid

ROOT = Path(__file__).parents[2]
LONGEST = 300.0  # the first run of all compiles the simulation [s]
PATIENCE = 15.0


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
        deadline = time.monotonic() + LONGEST
        while text not in self.text():
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < deadline, self.text()
            time.sleep(0.02)

    def relatives(self):
        """Processes that carry the mark and live, the demo among them."""
        found = []
        for folder in Path('/proc').glob('[0-9]*'):
            try:
                if self.mark.encode() in (folder / 'environ').read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def nothing_left(self):
        deadline = time.monotonic() + PATIENCE
        while self.relatives() and time.monotonic() < deadline:
            time.sleep(0.05)
        return not self.relatives()

    def end(self):
        for process in self.relatives():
            os.kill(process, signal.SIGKILL)
        self.process.wait()
