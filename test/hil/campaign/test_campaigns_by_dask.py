# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Campaigns by Dask: the same table, killed workers, missing and vanishing schedulers."""

from contextlib import suppress
import os
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from support import outside
from support.source_imports import ROOT
from support.waiting import until
import yaml

from rbd_ros.cli.main import main
from rbd_ros.hil.campaign import dask_workers
from rbd_ros.hil.campaign.campaign import Campaign
from rbd_ros.hil.campaign.dask_workers import in_dask
from rbd_ros.hil.campaign.variation import read_variations
from rbd_ros.hil.campaign.workers import WorkerDied

VARY = 'latency=0:2ms,drop=0:0.1'


def ignore(*_):
    """Ignore progress."""


def make_square(offset):
    def work(number):
        if number == 13:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 99:
            raise ArithmeticError('too large')
        return offset + number**2

    return work


@pytest.fixture
def importable(monkeypatch):
    """Workers find this module, as they find the package."""
    outside.load('distributed')
    here = os.path.dirname(__file__)
    paths = [str(ROOT), str(ROOT / 'test'), here, os.environ.get('PYTHONPATH', '')]
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(filter(None, paths)))


class Cluster:
    """A scheduler and workers, as separate processes."""

    def __init__(self, folder, workers):
        self.folder, self.address = folder, ''
        file = folder / 'scheduler.json'
        common = ['--no-dashboard', '--scheduler-file', str(file)]
        self.scheduler = self._start('scheduler', '--host', '127.0.0.1', '--port', '0', *common)
        self._wait(lambda: file.is_file() and file.read_text().endswith('}'))
        self.address = yaml.safe_load(file.read_text())['address']
        self.workers = [self.start_worker() for _ in range(workers)]

    def start_worker(self):
        """Start one more; return its process."""
        return self._start(
            'worker', self.address, '--nthreads', '1', '--no-dashboard', '--no-nanny'
        )

    def _start(self, kind, *words):
        module = f'distributed.cli.dask_{kind}'
        with open(self.folder / f'{kind}.log', 'ab') as log:
            return subprocess.Popen(
                [sys.executable, '-m', module, *words], stdout=log, stderr=log, cwd=self.folder
            )

    def _wait(self, condition):
        until(lambda: condition() or self.scheduler.poll() is not None)
        assert self.scheduler.poll() is None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_campaign_by_dask_has_the_table_of_one_without(path, tmp_path, importable):
    variations = read_variations(VARY)
    Campaign(str(path), tmp_path / 'own', variations).execute(8, 1, ignore)
    seen = []
    Campaign(str(path), tmp_path / 'local', variations).execute(
        8, 2, lambda *progress: seen.append(progress), 'local'
    )
    assert seen == [(k, 8) for k in range(9)]
    with Cluster(tmp_path, 2) as cluster:
        words = ['hil', str(path), '--vary', VARY, '--report', str(tmp_path / 'far')]
        main([*words, '--seeds', '5', '--scheduler', cluster.address])
        # Goes on where it was, by other means.
        main([*words, '--seeds', '8', '--scheduler', cluster.address])
    own = (tmp_path / 'own' / 'runs.csv').read_bytes()
    assert (tmp_path / 'local' / 'runs.csv').read_bytes() == own
    assert (tmp_path / 'far' / 'runs.csv').read_bytes() == own


@pytest.mark.slow
def test_a_piece_that_kills_its_workers_costs_itself_alone(importable):
    found = dict(in_dask(make_square, (1,), list(range(10, 16)), 2, 'local'))
    assert isinstance(found.pop(13), WorkerDied)
    assert found == {k: 1 + k**2 for k in range(10, 16) if k != 13}


@pytest.mark.slow
def test_workers_of_this_machine_that_stay_away_are_replaced(importable):
    """Their nannies have closed, as those do that a busy machine keeps waiting."""
    distributed = pytest.importorskip('distributed')
    results = in_dask(make_square, (1,), list(range(40)), 2, 'local')
    found = dict([next(results)])
    cluster = distributed.default_client().cluster
    for nanny in list(cluster.workers.values()):
        cluster.sync(nanny.close)
    found.update(results)
    assert isinstance(found.pop(13), WorkerDied)
    assert found == {k: 1 + k**2 for k in range(40) if k != 13}


@pytest.mark.slow
def test_workers_that_never_start_again_are_stuck(importable, monkeypatch):
    """Nannies may neither restart them nor close, as seen on a busy machine."""
    asked = []
    monkeypatch.setattr(dask_workers, '_threads', lambda client: 0)
    monkeypatch.setattr(dask_workers, 'POLL_PERIOD', 0.01)
    monkeypatch.setattr(dask_workers, 'WORKERS_TIMEOUT', 0.05)
    monkeypatch.setattr(
        dask_workers, '_restart_workers', lambda cluster, stuck: bool(asked.append(stuck))
    )
    found = dict(in_dask(make_square, (1,), list(range(12)), 2, 'local'))
    assert found == {k: 1 + k**2 for k in range(12)}
    # For a while it is left to the nannies.
    assert asked[0] is False and asked == sorted(asked) and asked[-1] is True


@pytest.mark.parametrize('stuck', [False, True])
def test_workers_that_are_stuck_are_replaced(stuck):
    scaled = []
    nanny = SimpleNamespace(status=SimpleNamespace(name='starting'))
    cluster = SimpleNamespace(workers={0: nanny}, worker_spec={0: {}}, scale=scaled.append)
    assert dask_workers._restart_workers(cluster, stuck) == stuck
    assert scaled == [2] * stuck


@pytest.mark.slow
def test_work_that_raises_ends_it(importable):
    with pytest.raises(RuntimeError, match='ArithmeticError: too large'):
        dict(in_dask(make_square, (1,), [1, 99, 2], 1, 'local'))


SLEEPY = """
import time

def hold(robot, trajectory, timestep):
    time.sleep(0.2)
    return lambda time, q, v: robot.gravity_torque(q)
"""


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_loses_no_run_and_a_scheduler_that_goes_away_is_reported(
    path,
    tmp_path,
    importable,
    capsys,
    monkeypatch,
):
    distributed = outside.load('distributed')
    (tmp_path / 'controllers.py').write_text(SLEEPY)
    folder = tmp_path / 'runs'
    words = ['hil', str(path), '--report', str(folder), '--seeds']
    with Cluster(tmp_path, 2) as cluster:

        def kill(process, at):
            return lambda done, count: process.kill() if done == at else None

        rows = Campaign(str(path), folder).execute(
            12, 1, kill(cluster.workers[0], 4), cluster.address
        )
        assert len(rows) == 12 and not any(each['failure'] for each in rows)
        with monkeypatch.context() as patch:
            close = distributed.Client.close

            def too_late(client, **timeout):  # as often on a busy machine
                with suppress(OSError):
                    close(client, **timeout)
                if timeout:  # not where it is forgotten
                    raise distributed.TimeoutError('timed out after 1 s.')

            patch.setattr(distributed.Client, 'close', too_late)
            with pytest.raises(RuntimeError, match='has ended'):
                Campaign(str(path), folder).execute(
                    2000, 1, kill(cluster.scheduler, 20), cluster.address
                )
    done = Campaign(str(path), folder).rows()
    assert 20 <= len(done) < 100
    # The same command reports the missing scheduler, and another continues without one.
    assert main([*words, '2000', '--scheduler', cluster.address]) == 1
    output = capsys.readouterr().err
    assert 'no scheduler answers' in output and 'the finished runs are kept' in output
    count = len(done) + 2
    seen = []
    Campaign(str(path), folder).execute(count, 2, lambda *each: seen.append(each))
    assert seen[0][0] >= len(done) - 2 and seen[-1] == (count, count)


@pytest.mark.slow
def test_a_cluster_without_a_worker_is_reported_and_continues_with_the_next_one(
    path, tmp_path, importable, capfd
):
    (tmp_path / 'controllers.py').write_text(SLEEPY)
    with Cluster(tmp_path, 1) as cluster:

        def replace(done, count):
            if done == 2 and len(cluster.workers) == 1:
                cluster.workers[0].kill()
                timer = threading.Timer(
                    5.0, lambda: cluster.workers.append(cluster.start_worker())
                )
                timer.start()

        rows = Campaign(str(path), tmp_path / 'runs').execute(6, 1, replace, cluster.address)
        assert len(rows) == 6 and not any(each['failure'] for each in rows)
    output = capfd.readouterr().err
    assert output.count('has no worker left') == 1 and f'dask worker {cluster.address}' in output


@pytest.mark.slow
def test_a_worker_that_finds_another_scenario_ends_the_campaign(path, tmp_path, importable):
    campaign = Campaign(str(path), tmp_path / 'runs')

    def change(*_):
        path.write_text(path.read_text().replace('0.001', '0.002'))

    with pytest.raises(RuntimeError, match='the scenario differs; give it the same files'):
        campaign.execute(2, 1, change, 'local')


def test_invalid_addresses_and_a_missing_dask_are_reported(path, tmp_path, capsys):
    words = ['hil', str(path), '--report', str(tmp_path / 'r'), '--seeds', '2', '--scheduler']
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, 'distributed', None)
        assert main([*words, 'local']) == 1
        assert 'pip install distributed' in capsys.readouterr().err
    outside.load('distributed')
    assert main([*words, 'server:8786']) == 1
    assert 'tcp://host:8786' in capsys.readouterr().err
