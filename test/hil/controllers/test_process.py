# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Controllers as processes: termination."""

import signal

import pytest

from rbd_ros.hil.controllers.controller_process import ControllerProcess


@pytest.fixture
def ignored():
    """Ignore Ctrl-C, as background processes of a shell script do."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_controller_of_a_bench_in_the_background_ends_at_ctrl_c(ignored, tmp_path):
    with ControllerProcess(['sleep', '60'], tmp_path / 'log') as process:
        assert process.ended() == ''
    assert process.ended().startswith(f'the controller ended with code {-signal.SIGINT}:')
