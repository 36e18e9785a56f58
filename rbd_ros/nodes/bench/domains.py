"""ROS domains for processes that must not hear each other: campaigns, demos, tests.

Domains are shared out on one machine by locks, which end with their process; messages do not leave
the machine, so that workers of other machines may have the same domain.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
import socket
import tempfile
import threading
from typing import IO, Optional, Tuple

VARIABLE = 'ROS_DOMAIN_ID'
DOMAINS = 101  # those beyond would use the ephemeral ports of Linux
DDS_PORT = 7400  # from which DDS counts the ports of all domains
DDS_PARTICIPANTS = 10

_taking = threading.Lock()
_held: Optional[IO[str]] = None  # lock of the domain of this process


def take_own_domain() -> int:
    """Make a domain that nobody on this machine uses that of this process, until it ends.

    The environment says so, from which rclpy and processes that are started take it.

    :return: which one; the same each time
    :raises ValueError: if all are taken
    """
    global _held
    with _taking:
        if _held is None:
            domain, _held = free_domain(int(os.environ.get(VARIABLE) or 0))
            os.environ[VARIABLE] = str(domain)
            os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
            if os.environ.get('ROS_DISTRO') == 'humble':
                os.environ['ROS_LOCALHOST_ONLY'] = '1'  # its name there
        return int(os.environ[VARIABLE])


def free_domain(common: int) -> Tuple[int, IO[str]]:
    """Find a domain that nobody on this machine uses, and take it while its lock is open.

    Domain 0 is the default, and those beyond 101 would use the ephemeral ports of Linux.

    :param common: the domain behind which to begin to look
    :return: the domain, and its lock
    :raises ValueError: if all are taken
    """
    for k in range(1, DOMAINS):
        domain = 1 + (common + k - 1) % DOMAINS
        # For each user his own: files of others cannot be opened.
        name = f'rbd_ros_hil_{os.getuid()}_domain_{domain}.lock'
        file = Path(tempfile.gettempdir(), name).open('w')
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            continue
        if is_unused(domain):
            return domain, file
        file.close()
    raise ValueError('all ROS domains of this machine are in use; do with fewer --jobs')


def is_unused(domain: int) -> bool:
    """Whether nobody on this machine uses a domain.

    DDS gives each participant of a domain ports that follow from the domain: if those of the first
    participants are free, there are none.
    """
    return all(_is_free(DDS_PORT + 250 * domain + 10 + 2 * k) for k in range(DDS_PARTICIPANTS))


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(('', port))
        except OSError:
            return False
    return True
