# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`rbd_ros hil` passes scenarios of processes to hil_run, with all arguments."""

import argparse
import shlex

import pytest

from rbd_ros.cli import hil


@pytest.mark.parametrize(
    'line',
    [
        'a.yaml',
        'a.yaml --report out --seed 3',
        "-- '-odd name.yaml'",
        'a.yaml --seeds 10 --vary latency=0:1ms,drop=0:1 --jobs 3 --table t.parquet',
        'a.yaml --replay 0 --scheduler tcp://host:1',
        'a.yaml --dead-time',
        "a.yaml --rates 0.5,1 --report='-x y'",
    ],
)
def test_all_arguments_are_handed_on(line, monkeypatch):
    parser = argparse.ArgumentParser()
    hil.add_arguments(parser)
    arguments = parser.parse_args(shlex.split(line))
    assert vars(parser.parse_args(hil.words_of(arguments))) == vars(arguments)


def test_a_process_is_tested_by_hil_run(tmp_path, monkeypatch):
    path = tmp_path / 'a.yaml'
    path.write_text(
        'robot: two_link_arm\ncontroller: {command: a b}\n'
        'trajectory: {times: [0.0], positions: [[0.0, 0.0]]}\n'
    )
    called = []
    monkeypatch.setattr('subprocess.call', lambda words: called.append(words) or 7)
    parser = argparse.ArgumentParser()
    hil.add_arguments(parser)
    assert hil.run(parser.parse_args([str(path), '--seeds', '4'])) == 7
    assert called[0][1:] == ['-m', 'rbd_ros.nodes.bench.hil_run', '--seeds=4', '--', str(path)]
