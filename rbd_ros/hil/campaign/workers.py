# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Processes for numbered tasks; the kill of a process fails only its task.

(The pools of the standard library fail as a whole.)
"""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection, wait
import os
from typing import Any, Callable, Dict, Iterator, Optional, Sequence, Tuple

#: Creates the function of the tasks, in a worker.
Maker = Callable[..., Callable[[int], Any]]

#: Number of workers in a row that may end before their first task.
MAX_FAILED_STARTS = 3

JOIN_TIMEOUT = 5.0  # for the end of an idle worker [s]


class WorkerDied:
    """Result of a task whose worker was killed.

    :param code: its exit code
    """

    def __init__(self, code: Optional[int]):
        self.code = code


class _Worker:
    """A process; `number` is its present task, None if idle."""

    def __init__(self, context: Any, make: Maker, arguments: Tuple[Any, ...]):
        ours, theirs = context.Pipe()
        self.pipe: Connection = ours
        self.process = context.Process(
            target=_serve, args=(theirs, make, arguments), daemon=True, name='hil worker'
        )
        self.process.start()
        theirs.close()
        self.number: Optional[int] = None

    def give(self, number: int) -> None:
        self.number = number
        try:
            self.pipe.send(number)
        except OSError:
            pass  # it has died; reading shows it

    def end(self) -> None:
        self.pipe.close()
        if self.number is None:
            self.process.join(JOIN_TIMEOUT)  # it reads the end of the pipe and cleans up
        self.process.terminate()
        self.process.join()


def in_processes(
    make: Maker, arguments: Tuple[Any, ...], numbers: Sequence[int], count: int
) -> Iterator[Tuple[int, Any]]:
    """Yield the numbers and results of tasks in the order of completion.

    :param make: called with `arguments` in each process; can be pickled
    :param numbers: numbers of the tasks
    :param count: number of processes
    :raises RuntimeError: if processes end before their first task, or a task raises
    """
    context, left = multiprocessing.get_context('spawn'), list(reversed(numbers))
    workers: Dict[Connection, _Worker] = {}
    failed_starts = 0

    def begin() -> None:
        worker = _Worker(context, make, arguments)
        workers[worker.pipe] = worker
        worker.give(left.pop())

    try:
        for _ in range(min(count, len(left))):
            begin()
        while workers:
            for pipe in wait(list(workers)):
                worker = workers[pipe]  # type: ignore[index]
                number, result = worker.number, _received(worker)
                worker.number = None
                assert number is not None
                if isinstance(result, WorkerDied):
                    del workers[worker.pipe]
                    worker.end()
                    failed_starts += 1
                    if failed_starts > MAX_FAILED_STARTS:
                        raise RuntimeError(
                            f'workers end repeatedly, the last one with code {result.code}'
                        )
                    yield number, result
                    if left:
                        begin()
                    continue
                failed_starts = 0
                if isinstance(result, _Raised):
                    raise RuntimeError(result.text)
                if left:
                    worker.give(left.pop())
                else:
                    del workers[worker.pipe]
                    worker.end()
                yield number, result
    finally:
        for worker in workers.values():
            worker.end()


def _received(worker: _Worker) -> Any:
    try:
        return worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join()
        return WorkerDied(worker.process.exitcode)


class _Raised:
    def __init__(self, text: str):
        self.text = text


def _serve(pipe: Connection, make: Maker, arguments: Tuple[Any, ...]) -> None:
    """Run tasks until there are no more."""
    os.environ['OPENBLAS_NUM_THREADS'] = '1'
    work: Optional[Callable[[int], Any]] = None
    try:
        while True:
            number = pipe.recv()
            try:
                work = work or make(*arguments)
                result = work(number)
            except Exception as error:
                result = _Raised(f'{type(error).__name__}: {error}')
            pipe.send(result)
    except (EOFError, OSError, KeyboardInterrupt):
        pass
