# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Numbered tasks on Dask: a local cluster, or that of a scheduler.

The counterpart of workers.py, with the same arguments and results. Dask is imported on demand.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
import logging
import pickle
import sys
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

from rbd_ros.hil.campaign.workers import Maker, MAX_FAILED_STARTS, WorkerDied

LOCAL = 'local'
CONNECT_TIMEOUT = 15.0  # for the answer of a scheduler [s]
WORKERS_TIMEOUT = 60.0  # for a worker of a scheduler [s]
POLL_PERIOD = 1.0  # pause between two checks of the scheduler while no task ends [s]
AHEAD = 2  # tasks for each thread: the running one and the next

_own = threading.local()  # function of the tasks, for each thread of a worker


def in_dask(
    make: Maker, arguments: Tuple[Any, ...], numbers: Sequence[int], count: int, address: str
) -> Iterator[Tuple[int, Any]]:
    """Yield the numbers and results of tasks in the order of completion.

    Dask gives a task whose worker is killed to another worker, a few times. A task that kills each
    of them is repeated alone; if it kills its worker again, only this task fails.

    :param make: called with `arguments` in each worker, which must be able to import it
    :param numbers: numbers of the tasks
    :param count: number of processes of a local cluster
    :param address: address of the scheduler, or 'local'
    :raises ValueError: if Dask is not installed, or the address is invalid
    :raises RuntimeError: if no scheduler answers, it ends, or a task raises
    """
    try:
        import distributed
    except ImportError:
        raise ValueError(
            f'--scheduler {address} needs dask.distributed: pip install distributed'
        ) from None
    for name in ('client', 'comm', 'core', 'nanny', 'scheduler', 'worker'):
        # Errors are reported once, here.
        logging.getLogger(f'distributed.{name}').setLevel(logging.CRITICAL)
    if address != LOCAL and '://' not in address:
        raise ValueError(f'--scheduler {address}: give local, or an address as tcp://host:8786')
    with _client(distributed, address, min(count, len(numbers))) as client:
        yield from _results(distributed, client, (make, arguments), numbers, address)


@contextmanager
def _client(distributed: Any, address: str, count: int) -> Iterator[Any]:
    """Provide a connection to a scheduler that has a worker."""
    if address == LOCAL:
        cluster = distributed.LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None
        )
        with cluster, distributed.Client(cluster) as client:
            yield client
        return
    client = None
    try:
        try:
            client = distributed.Client(address, timeout=CONNECT_TIMEOUT)
            client.scheduler_info()
        except (OSError, distributed.TimeoutError, ValueError) as error:
            raise RuntimeError(
                f'no scheduler answers at {address}: {error}; start one by `dask scheduler`, and '
                'workers by `dask worker ADDRESS --nthreads 1`'
            ) from None
        try:
            client.wait_for_workers(1, timeout=WORKERS_TIMEOUT)
        except (OSError, distributed.TimeoutError):
            raise RuntimeError(
                f'the scheduler at {address} has no worker; start some by `dask worker {address} '
                '--nthreads 1`'
            ) from None
        yield client
    finally:
        if client is not None:
            # A client without its scheduler may not close in time.
            with suppress(OSError, distributed.TimeoutError):
                client.close(timeout=POLL_PERIOD)


def _results(
    distributed: Any,
    client: Any,
    task: Tuple[Maker, Tuple[Any, ...]],
    numbers: Sequence[int],
    address: str,
) -> Iterator[Tuple[int, Any]]:
    left = list(reversed(numbers))
    suspects: List[int] = []  # tasks whose workers have died
    gone = RuntimeError(f'the scheduler at {address} has ended')
    packed, succeeded, one_by_one, restarts = pickle.dumps(task), False, False, 0
    running: Dict[Any, int] = {}
    try:
        capacity, looked, alone = AHEAD * _threads(client), time.monotonic(), False
        busy = looked  # when there was a worker, or when some were started
        while left or running or suspects:
            if time.monotonic() - looked > POLL_PERIOD:  # workers come and go
                threads, looked = _threads(client), time.monotonic()
                capacity = AHEAD * max(1, threads)
                if threads:
                    busy = looked
                elif address == LOCAL:
                    if _restart_workers(client.cluster, looked - busy > WORKERS_TIMEOUT):
                        restarts, busy = restarts + 1, looked
                    if restarts > MAX_FAILED_STARTS:
                        raise RuntimeError('workers end repeatedly')
                elif not alone:
                    sys.stderr.write(
                        f'\nthe scheduler at {address} has no worker left: waiting for one; '
                        f'start it by `dask worker {address} --nthreads 1`\n'
                    )
                alone = not threads
            # Not every task of a dead worker has killed it: each is repeated alone.
            if not left and not running:
                one_by_one, left = True, [suspects.pop()]
            while left and len(running) < (1 if one_by_one else capacity):
                number = left.pop()
                # Not pure: results of another campaign must not be reused.
                running[client.submit(_do, packed, number, pure=False)] = number
            try:
                done = distributed.wait(list(running), POLL_PERIOD, 'FIRST_COMPLETED').done
            except distributed.TimeoutError:
                done = set()
            if client.status != 'running':
                raise gone
            for future in done:
                if future.status in ('lost', 'pending'):
                    continue  # the worker with the result has died; it is computed again
                number = running.pop(future)
                result = _result(distributed, future, gone)
                if isinstance(result, WorkerDied) and not one_by_one:
                    suspects.append(number)
                    if not succeeded and len(suspects) > MAX_FAILED_STARTS:
                        raise RuntimeError('workers end repeatedly')
                    continue
                succeeded = succeeded or not isinstance(result, WorkerDied)
                yield number, result
    except (OSError, distributed.CancelledError, distributed.comm.CommClosedError):
        raise gone from None
    finally:
        for future in running:
            if client.status == 'running':
                future.cancel()


def _restart_workers(cluster: Any, stuck: bool) -> bool:
    """Restart the workers of a local cluster if all have ended; return whether it did.

    Each has a nanny for that, which may give up on a busy machine, or wait forever.

    :param stuck: whether there has been no worker for too long
    """
    ended = [nanny.status.name in ('closed', 'failed') for nanny in cluster.workers.values()]
    # Starting workers are not in this list yet.
    if not stuck and (not all(ended) or len(ended) < len(cluster.worker_spec)):
        return False
    # Closed workers still count.
    cluster.scale(2 * len(cluster.worker_spec))
    return True


def _threads(client: Any) -> int:
    return sum(client.nthreads().values())


def _result(distributed: Any, future: Any, gone: RuntimeError) -> Any:
    if future.status == 'finished':
        return future.result()
    if future.status != 'error':
        raise gone
    error = future.exception()
    if isinstance(error, distributed.KilledWorker):
        return WorkerDied(None)
    raise RuntimeError(f'{type(error).__name__}: {error}')


def _do(packed: bytes, number: int) -> Any:
    """Run a task in a worker, which keeps compiled code for the next one."""
    made: Dict[bytes, Callable[[int], Any]] = vars(_own).setdefault('made', {})
    if packed not in made:
        made.clear()
        make, arguments = pickle.loads(packed)
        made[packed] = make(*arguments)
    return made[packed](number)
