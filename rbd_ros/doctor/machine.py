# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Checks of this machine: versions, compiler, cache, real-time permissions, ROS environment.

The input of each check is an argument; its default is that of this process.
"""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec
import os
from pathlib import Path
import platform
import re
import resource
import sys
from typing import Callable, Collection, Dict, List, Mapping, Optional, Sequence, Tuple

from rbd_ros.compiler import unavailable_reason
from rbd_ros.compiler.cache import directory
from rbd_ros.doctor.findings import ERROR, Finding, OK, WARN

#: Oldest supported versions, as in setup.py.
OLDEST: Dict[str, Tuple[int, ...]] = {
    'llvmlite': (0, 37),
    'matplotlib': (3, 5),
    'numpy': (1, 21),
    'pyyaml': (5, 4),
    'scipy': (1, 8),
}
OLDEST_PYTHON, NEWEST_PYTHON = (3, 10), (3, 14)

#: Highest ROS domain without ephemeral ports of Linux, and the highest one.
SAFE_DOMAIN, MAX_DOMAIN = 101, 232
#: A middleware with its own discovery configuration.
ZENOH = 'rmw_zenoh_cpp'
DISCOVERY_RANGES = ('SUBNET', 'LOCALHOST', 'OFF', 'SYSTEM_DEFAULT')

#: Memory that a process should be able to lock [bytes], as required by the parameter `lock_memory`
#: of nodes (nodes/common/realtime.py).
LOCKED_MEMORY = 2**34
#: Numbers of capabilities, of <linux/capability.h>.
CAP_IPC_LOCK, CAP_SYS_NICE = 14, 23
_LIMITS_FILE = '/etc/security/limits.conf'
_GOVERNORS = '/sys/devices/system/cpu'
_UNLIMITED = resource.RLIM_INFINITY


def check_machine() -> List[Finding]:
    """Return the findings of all checks of this machine.

    >>> from rbd_ros.doctor.machine import check_machine
    >>> [finding.subject for finding in check_machine()][:3]
    ['Python', 'llvmlite', 'matplotlib']
    """
    return [
        python_finding(),
        *library_findings(),
        compiler_finding(),
        cache_finding(),
        *real_time_findings(),
        cores_finding(),
        governor_finding(),
        *ros_findings(),
    ]


def python_finding(version: Optional[Tuple[int, int]] = None) -> Finding:
    """Return whether the Python version is supported.

    :param version: major and minor number; None: those of this process
    """
    major, minor = map(int, platform.python_version_tuple()[:2])
    found = (major, minor) if version is None else version
    text, oldest, newest = (
        '.'.join(map(str, numbers)) for numbers in (found, OLDEST_PYTHON, NEWEST_PYTHON)
    )
    if found < OLDEST_PYTHON:
        return Finding(ERROR, 'Python', f'{text} is too old', f'use {oldest} or newer')
    if found > NEWEST_PYTHON:
        what = f'{text} is newer than the versions that were tested'
        return Finding(WARN, 'Python', what, f'use {newest} if problems occur')
    return Finding(OK, 'Python', text)


def library_findings(version: Callable[[str], str] = metadata.version) -> List[Finding]:
    """Return whether the libraries are installed and recent enough.

    :param version: version of an installed distribution by its name; raises
        PackageNotFoundError if it is not installed
    """
    found = []
    for name, oldest in OLDEST.items():
        required = '.'.join(map(str, oldest))
        cure = f'pip install "{name}>={required}", or use a newer distribution'
        try:
            text = version(name)
        except metadata.PackageNotFoundError:
            text = None
        if text is None:
            # without llvmlite dynamics are interpreted, which is another finding
            level = WARN if name == 'llvmlite' else ERROR
            found.append(Finding(level, name, 'it is not installed', cure))
            continue
        numbers = tuple(int(x) for x in re.findall(r'\d+', text)[: len(oldest)])
        if numbers < oldest:
            found.append(Finding(ERROR, name, f'{text} is too old', cure))
        else:
            found.append(Finding(OK, name, text))
    return found


def compiler_finding(reason: Optional[str] = '') -> Finding:
    """Return whether the dynamics are compiled, or interpreted with the reason.

    :param reason: why there is no compiler, None if there is one; '': of this process
    """
    reason = unavailable_reason() if reason == '' else reason
    if reason is None:
        return Finding(OK, 'compiler', 'dynamics are compiled to machine code')
    what = f'{reason}; dynamics run interpreted, a thousand times slower'
    off = 'RBD_ROS_COMPILER' in reason
    cure = 'unset RBD_ROS_COMPILER' if off else 'pip install -U llvmlite'
    return Finding(WARN, 'compiler', what, cure)


def cache_finding(folder: Callable[[], Optional[Path]] = directory) -> Finding:
    """Return whether machine code is cached on disk.

    :param folder: returns the folder of the cache, None without one
    """
    found = folder()
    if found is not None:
        return Finding(OK, 'cache', f'machine code is cached in {found}')
    return Finding(
        WARN,
        'cache',
        'machine code is not cached: each process compiles its robot again',
        'unset RBD_ROS_CACHE_DIR, or set it to a private folder (chmod 700)',
    )


def real_time_findings(
    limit: Callable[[int], Tuple[int, int]] = resource.getrlimit,
    user: Optional[int] = None,
    capabilities: Optional[int] = None,
) -> List[Finding]:
    """Return whether this user may request real-time priority and lock memory.

    Nodes request them by the parameters `thread_priority` and `lock_memory`.

    :param limit: soft and hard limit of a resource, as `resource.getrlimit`
    :param user: number of the user, 0 for root; None: that of this process
    :param capabilities: capabilities of the process as bits, which root in a container may lack;
        None: those of this process, or all or none for a given `user`
    """
    subject = ('real-time priority', 'locked memory')
    if capabilities is None:
        root = -1 if (os.geteuid() if user is None else user) == 0 else 0
        capabilities = _capabilities(root) if user is None else root
    held = [capabilities >> number & 1 for number in (CAP_SYS_NICE, CAP_IPC_LOCK)]
    if all(held):
        return [Finding(OK, what, 'root may') for what in subject]
    if not hasattr(resource, 'RLIMIT_RTPRIO'):
        return [Finding(OK, subject[0], 'this system does not report it')]
    found = []
    priority = limit(resource.RLIMIT_RTPRIO)[1]
    memory = limit(resource.RLIMIT_MEMLOCK)[1]
    relogin = f'in {_LIMITS_FILE}, and log in again'
    if held[0]:
        found.append(Finding(OK, subject[0], 'this process may request any priority'))
    elif priority == 0:
        found.append(
            Finding(
                WARN,
                subject[0],
                'this user may not request one: loops of 1 kHz wait for other processes',
                f'add "@realtime - rtprio 99" {relogin} as a member of the group realtime',
            )
        )
    else:
        text = 'any' if priority == _UNLIMITED else f'up to {priority}'
        found.append(Finding(OK, subject[0], f'this user may request {text}'))
    if held[1]:
        found.append(Finding(OK, subject[1], 'this process may lock all its memory'))
    elif memory != _UNLIMITED and memory < LOCKED_MEMORY:
        found.append(
            Finding(
                WARN,
                subject[1],
                f'this user may lock {memory / 2**20:.3g} MB: a control loop stalls when a page '
                'is swapped out',
                f'add "@realtime - memlock unlimited" {relogin}',
            )
        )
    else:
        text = 'any' if memory == _UNLIMITED else f'{memory / 2**20:.3g} MB'
        found.append(Finding(OK, subject[1], f'this user may lock {text}'))
    return found


def _capabilities(unknown: int) -> int:
    """Return the capabilities of this process as bits; `unknown` if not available."""
    try:
        status = Path('/proc/self/status').read_text(encoding='ascii', errors='replace')
    except OSError:
        return unknown
    found = re.search(r'^CapEff:\s*([0-9a-f]+)', status, re.MULTILINE)
    return unknown if found is None else int(found[1], 16)


def cores_finding(usable: Optional[Collection[int]] = None) -> Finding:
    """Return the cores that the parameter `cpu_affinity` of a node may name.

    :param usable: numbers of the usable cores; None: those of this process
    """
    if usable is None:
        if not hasattr(os, 'sched_getaffinity'):
            return Finding(OK, 'cores', 'this system does not report it')
        usable = os.sched_getaffinity(0)
    return Finding(OK, 'cores', f'this process may use {", ".join(map(str, sorted(usable)))}')


def governor_finding(folder: str = _GOVERNORS) -> Finding:
    """Return whether the processors keep their frequency.

    :param folder: folder of the system with a folder for each processor
    """
    found = set()
    for path in Path(folder).glob('cpu[0-9]*/cpufreq/scaling_governor'):
        try:
            found.add(path.read_text(encoding='utf-8').strip())
        except OSError:
            continue
    if not found:
        return Finding(OK, 'CPU governor', 'this system does not report it')
    text = ', '.join(sorted(found))
    if found == {'performance'}:
        return Finding(OK, 'CPU governor', text)
    what = f'{text}: an idle processor slows down and responds late'
    return Finding(WARN, 'CPU governor', what, 'sudo cpupower frequency-set -g performance')


def installed_middleware(environment: Mapping[str, str] = os.environ) -> List[str]:
    """Return the names of the installed RMW implementations; none if they are unknown.

    :param environment: environment variables with AMENT_PREFIX_PATH
    """
    prefixes = [*environment.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    found = {
        path.name
        for prefix in prefixes
        if prefix
        for path in Path(prefix).glob('share/ament_index/resource_index/rmw_typesupport/rmw_*')
    }
    return sorted(found - {'rmw_implementation'})


def ros_findings(
    environment: Mapping[str, str] = os.environ,
    rclpy: Optional[bool] = None,
    installed: Optional[Collection[str]] = None,
) -> List[Finding]:
    """Return whether ROS 2 is installed, and its variables let nodes discover each other.

    :param environment: environment variables
    :param rclpy: whether rclpy can be imported; None: checked here
    :param installed: installed RMW implementations, empty if unknown; None: checked here
    """
    if not (find_spec('rclpy') is not None if rclpy is None else rclpy):
        cure = "source the setup.bash of a ROS 2 distribution, or pip install 'rbd_ros[ros]'"
        return [Finding(WARN, 'rclpy', 'it is not installed, so nodes cannot run', cure)]
    distribution = environment.get('ROS_DISTRO', '')
    named = f' of {distribution}' if distribution else ''
    if installed is None:
        installed = installed_middleware(environment)
    return [
        Finding(OK, 'rclpy', f'it is installed{named}'),
        _middleware(environment.get('RMW_IMPLEMENTATION', ''), sorted(installed), distribution),
        _domain(environment.get('ROS_DOMAIN_ID', '')),
        _discovery(environment),
    ]


def _middleware(name: str, installed: Sequence[str], distribution: str) -> Finding:
    there = f' (installed: {", ".join(installed)})' if installed else ''
    if name and installed and name not in installed:
        what = (
            f'RMW_IMPLEMENTATION is {name[:80]!r}, which is not installed{there}, so no node '
            'starts'
        )
        package = f'ros-{distribution or "$ROS_DISTRO"}-{name[:80].replace("_", "-")}'
        cure = f'sudo apt install {package}, or unset RMW_IMPLEMENTATION'
        return Finding(ERROR, 'RMW', what, cure)
    chosen = name or 'RMW_IMPLEMENTATION is not set: default of the distribution'
    return Finding(OK, 'RMW', f'{chosen}{there}')


def _domain(text: str) -> Finding:
    subject = 'ROS_DOMAIN_ID'
    if not text:
        what = 'it is not set: nodes use domain 0, as all nodes of the network do by default'
        return Finding(OK, subject, what)
    # ROS accepts no blanks, signs or non-ASCII digits
    number = int(text) if re.fullmatch(r'[0-9]{1,9}', text) else -1
    if not 0 <= number <= MAX_DOMAIN:
        what = f'{text[:40]!r} is not a valid domain: nodes do not start'
        return Finding(ERROR, subject, what, f'set it to a number from 0 to {SAFE_DOMAIN}')
    if number > SAFE_DOMAIN:
        what = f'{number} uses ports that Linux may have given to other processes'
        return Finding(WARN, subject, what, f'set it to a number from 0 to {SAFE_DOMAIN}')
    return Finding(OK, subject, str(number))


def _discovery(environment: Mapping[str, str]) -> Finding:
    subject, name = 'discovery', 'ROS_AUTOMATIC_DISCOVERY_RANGE'
    reach = environment.get(name, '')
    if environment.get('RMW_IMPLEMENTATION') == ZENOH:
        vain = [each for each in (name, 'ROS_LOCALHOST_ONLY') if environment.get(each)]
        if vain:
            what = f'{ZENOH} does not read {" and ".join(vain)}'
            return Finding(WARN, subject, what, 'configure its routers by ZENOH_ROUTER_CONFIG_URI')
        return Finding(OK, subject, 'through the router, as configured in Zenoh')
    if reach and reach not in DISCOVERY_RANGES:
        what = f'{name} is {reach[:40]!r}, an unknown value'
        return Finding(ERROR, subject, what, f'set it to one of {", ".join(DISCOVERY_RANGES)}')
    if reach == 'OFF':
        what = f'{name} is OFF: nodes find no other nodes, not even on this machine'
        return Finding(WARN, subject, what, f'set it to LOCALHOST or unset it: unset {name}')
    local = reach == 'LOCALHOST' or environment.get('ROS_LOCALHOST_ONLY') == '1'
    return Finding(OK, subject, 'on this machine only' if local else 'in the whole local network')
