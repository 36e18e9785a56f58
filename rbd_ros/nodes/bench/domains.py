# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Isolated ROS domains for the processes of campaigns, demos and tests.

File locks assign the domains of one machine; a lock ends with its process. Messages stay on the
machine, so workers on other machines may use the same domain.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
import socket
import stat
import tempfile
import threading
from typing import IO, Optional, Tuple

VARIABLE = 'ROS_DOMAIN_ID'
DOMAINS = 101  # those beyond would use the ephemeral ports of Linux
DDS_PORT = 7400  # first DDS port of domain 0
DDS_PARTICIPANTS = 10

_reservations = threading.Lock()
_held: Optional[IO[bytes]] = None  # lock of the domain of this process


def reserve_domain() -> int:
    """Assign an unused domain to this process until it ends.

    The domain is set in the environment, where rclpy and child processes read it.

    :return: the domain; the same at each call
    :raises ValueError: if all are taken
    """
    global _held
    with _reservations:
        if _held is None:
            domain, _held = free_domain(int(os.environ.get(VARIABLE) or 0))
            os.environ[VARIABLE] = str(domain)
            os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
            if os.environ.get('ROS_DISTRO') == 'humble':
                os.environ['ROS_LOCALHOST_ONLY'] = '1'  # name in older distributions
        return int(os.environ[VARIABLE])


def free_domain(common: int) -> Tuple[int, IO[bytes]]:
    """Find an unused domain on this machine and lock it.

    :param common: the search begins behind this domain
    :return: the domain, and its lock file; closing it releases the domain
    :raises ValueError: if all are taken
    """
    folder = lock_folder()
    for k in range(1, DOMAINS):
        domain = 1 + (common + k - 1) % DOMAINS
        file = _locked(folder / f'hil_domain_{domain}.lock')
        if file is None:
            continue
        if is_unused(domain):
            return domain, file
        file.close()
    raise ValueError('all ROS domains of this machine are in use; use fewer --jobs')


def lock_folder() -> Path:
    """Return the private folder of this user for locks; create it if it is missing.

    In a shared folder, another user could place a link at the name of a lock.
    :return: rbd_ros-UID in the folder of temporary files; $XDG_RUNTIME_DIR/rbd_ros if another
        user owns that
    :raises ValueError: if neither can be used
    """
    user = os.getuid()
    places = [Path(tempfile.gettempdir(), f'rbd_ros-{user}')]
    runtime = os.environ.get('XDG_RUNTIME_DIR')
    if runtime:
        places.append(Path(runtime, 'rbd_ros'))
    for place in places:
        try:
            place.mkdir(mode=0o700, exist_ok=True)
            status = place.lstat()
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode) and status.st_uid == user and not status.st_mode & 0o077:
            return place
    raise ValueError(
        f'no folder for locks can be used: {places[0]} is not a private folder of this user; '
        'remove it, or set TMPDIR to a folder of this user'
    )


def _locked(path: Path) -> Optional[IO[bytes]]:
    """Return the open, locked file; None if another process holds it or it cannot be used."""
    try:
        number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError:
        return None
    file = os.fdopen(number, 'rb')
    try:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            raise OSError
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def is_unused(domain: int) -> bool:
    """Return whether no process of this machine uses a domain.

    The domain determines the ports of its DDS participants: if those of the first participants
    are free, there is no participant.
    """
    return all(_is_free(DDS_PORT + 250 * domain + 10 + 2 * k) for k in range(DDS_PARTICIPANTS))


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(('', port))
        except OSError:
            return False
    return True
