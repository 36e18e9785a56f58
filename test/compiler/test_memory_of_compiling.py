# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The garbage collector is off during compilation of a kernel, and restored afterwards."""

import gc

import pytest

from rbd_ros import ModelError, Robot
from rbd_ros.compiler.program import Definition


@pytest.fixture
def collector():
    """Yield the leaves the collector as it was."""
    enabled = gc.isenabled()
    yield
    (gc.enable if enabled else gc.disable)()


@pytest.mark.parametrize('usual', [True, False])
def test_the_collector_rests_meanwhile(two_links, collector, monkeypatch, usual):
    seen, program = [], Definition.program

    def watched(definition, **options):
        seen.append(gc.isenabled())
        return program(definition, **options)

    monkeypatch.setattr(Definition, 'program', watched)
    (gc.enable if usual else gc.disable)()
    Robot.from_urdf(two_links).kernel('mass_matrix')
    assert seen == [False] and gc.isenabled() == usual


def test_an_error_wakes_it(two_links, collector):
    gc.enable()
    with pytest.raises(ModelError):
        Robot.from_urdf(two_links).kernel('handle_equation', frame='link1')
    assert gc.isenabled()
