# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Real-time options of a node: thread priority, cores, locked memory.

The parameters have the names of controller_manager. If the system rejects an option, the node
reports the cure and continues.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
import re
import resource
from typing import Any, List, Mapping, Optional, Tuple

from rbd_ros.nodes.common.diagnostics import Diagnostics, OK, WARN

SUBJECT = 'real time'
LIMITS_FILE = '/etc/security/limits.conf'

MCL_CURRENT, MCL_FUTURE = 1, 2  # of <sys/mman.h>
CAP_IPC_LOCK = 14  # of <linux/capability.h>
#: A larger limit of locked memory counts as unlimited [bytes].
ENOUGH_MEMORY = 2**34
CORES = '/sys/devices/system/cpu/present'


def cores_of(text: str) -> Tuple[int, ...]:
    """Return the numbers of cores in a list in the format of Linux.

    :raises ValueError: if it is not such a list

    >>> from rbd_ros.nodes.common.realtime import cores_of
    >>> cores_of('0-2,5')
    (0, 1, 2, 5)
    """
    cores: List[int] = []
    for part in text.strip().split(','):
        found = re.fullmatch(r'(\d+)(?:-(\d+))?', part)
        if found is None:
            raise ValueError(f'{text!r} is not a list of cores')
        first = int(found[1])
        cores += range(first, int(found[2] or first) + 1)
    return tuple(cores)


def present_cores() -> Tuple[int, ...]:
    """Return the numbers of the cores that this machine has."""
    try:
        return cores_of(Path(CORES).read_text(encoding='ascii'))
    except (OSError, ValueError):
        # Containers may hide /sys. The count is a guess; pinning a thread reports wrong cores.
        return tuple(range(os.cpu_count() or 1))


def check_cores(requested: Tuple[int, ...], present: Optional[Tuple[int, ...]] = None) -> None:
    """Reject cores that do not exist.

    :param requested: numbers of cores
    :param present: existing cores; None: those of this machine
    :raises ValueError: if one does not exist, with the existing cores

    >>> from rbd_ros.nodes.common.realtime import check_cores
    >>> check_cores((1,), present=(0, 1))
    """
    if not requested:
        return
    present = present_cores() if present is None else present
    absent = [str(core) for core in requested if core not in present]
    if absent:
        raise ValueError(
            f'parameter cpu_affinity: this machine has no core {", ".join(absent)}; there are '
            f'{", ".join(map(str, present))}'
        )


class RealTime:
    """Real-time options of one node, applied by its threads.

    :param parameters: values of `REAL_TIME_PARAMETERS`, by name
    :param diagnostics: reports granted and rejected options
    """

    def __init__(self, parameters: Mapping[str, Any], diagnostics: Diagnostics):
        self._priority: int = parameters['thread_priority']
        self._cores: Tuple[int, ...] = parameters['cpu_affinity']
        self._lock: bool = parameters['lock_memory']
        self._diagnostics = diagnostics
        self._granted: List[str] = []
        self._denied: List[str] = []

    @property
    def requested(self) -> bool:
        """True if any option is set."""
        return bool(self._priority or self._cores or self._lock)

    def lock_memory(self) -> None:
        """Lock the memory of the process if requested, after allocation."""
        if self._lock:
            self._note('memory locked', lock_all_memory())

    def enter(self) -> None:
        """Pin the calling thread, set its priority, and report both."""
        # Cores first: real-time priority on a busy core would block other threads there.
        if self._cores:
            cores = ', '.join(map(str, sorted(set(self._cores))))
            self._note(f'on core {cores}', pin_this_thread(self._cores))
        if self._priority:
            self._note(f'SCHED_FIFO {self._priority}', prioritize_this_thread(self._priority))
        if self.requested:
            self._report()

    def _note(self, what: str, problem: Optional[str]) -> None:
        notes, text = (self._granted, what) if problem is None else (self._denied, problem)
        if text not in notes:  # several threads request the same
            notes.append(text)

    def _report(self) -> None:
        texts = [*self._denied, *self._granted]
        level = WARN if self._denied else OK
        text = '; '.join(texts)
        if self._denied:
            text += '; the node continues without it'
        self._diagnostics.condition(SUBJECT, level, text, code=text)


def prioritize_this_thread(priority: int) -> Optional[str]:
    """Give the calling thread a real-time priority.

    :param priority: priority of SCHED_FIFO, 1 to 99
    :return: reason of a rejection, with the cure; None if granted
    """
    if not hasattr(os, 'sched_setscheduler'):
        return 'thread_priority: this system has no SCHED_FIFO'
    try:
        # 0 is the calling thread: other threads of the process must not compete with it.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except OSError as error:
        return (
            f'thread_priority: SCHED_FIFO {priority} was rejected ({error.strerror}): add '
            f'"@realtime - rtprio 99" in {LIMITS_FILE}, and log in again as a member of the group '
            'realtime'
        )
    return None


def pin_this_thread(cores: Tuple[int, ...]) -> Optional[str]:
    """Pin the calling thread to some cores.

    :param cores: their numbers
    :return: reason of a rejection, with the cure; None if granted
    """
    if not hasattr(os, 'sched_setaffinity'):
        return 'cpu_affinity: this system cannot pin threads'
    try:
        os.sched_setaffinity(0, cores)
        kept = os.sched_getaffinity(0)
    except OSError as error:
        kept, reason = set(), f' ({error.strerror})'
    else:
        reason = ''
    missing = [str(core) for core in sorted(set(cores)) if core not in kept]
    if not missing:
        return None
    return (
        f'cpu_affinity: core {", ".join(missing)} was rejected{reason}: this process may use '
        f'{", ".join(map(str, sorted(os.sched_getaffinity(0))))}; give it more (cpuset of the '
        'container, taskset), or name one of these'
    )


def may_lock_memory(status: str = '/proc/self/status') -> bool:
    """Return whether the process may lock all its memory, now and later; raise its soft limit.

    With a limit, a later allocation could fail during a motion.

    :param status: file with the capabilities of the process
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    # Raising the soft limit to the hard one needs no privileges.
    if hard == resource.RLIM_INFINITY or hard >= ENOUGH_MEMORY:
        if soft != hard:
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (hard, hard))
        return True
    try:
        found = re.search(r'^CapEff:\s*([0-9a-f]+)', Path(status).read_text('ascii'), re.M)
    except OSError:
        return False
    return found is not None and bool(int(found[1], 16) >> CAP_IPC_LOCK & 1)


def lock_all_memory() -> Optional[str]:
    """Lock all memory of the process, present and future.

    :return: reason of a rejection, with the cure; None if granted
    """
    cure = f'add "@realtime - memlock unlimited" in {LIMITS_FILE}, and log in again'
    if not may_lock_memory():
        hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
        return f'lock_memory: this process may lock {hard / 2**20:.3g} MB only: {cure}'
    # Python has no mlockall. A page fault may take longer than a cycle.
    library = ctypes.CDLL(None, use_errno=True)
    if library.mlockall(MCL_CURRENT | MCL_FUTURE) == 0:
        return None
    return f'lock_memory: it was rejected ({os.strerror(ctypes.get_errno())}): {cure}'
