# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Machine code cached on disk between processes.

An entry is one file, named by the digest of everything that decides its content. Files are written
under another name and then renamed, so several processes can share the cache. They carry a
checksum of name and content, so a damaged or exchanged one is written again. Machine code is
executed, so directories that others may write to, and files of another owner, are not used. If
reading fails, code is compiled again, without an error; a failure to write is logged once.
"""

from __future__ import annotations

from contextlib import suppress
import hashlib
import json
import logging
import os
from pathlib import Path
import re
import stat
import tempfile
import time
from typing import Any, Dict, Mapping, Optional, Set, Tuple

from rbd_ros.bounded_files import open_regular

_MAGIC = b'rbd_ros kernel 2\n'
_ENTRY = re.compile(r'[a-z_]+-[a-z]+-[0-9a-f]{40}\.o')
_TEMPORARY = '.rbd_ros-new-'
_MAX_BYTES = 512 * 2**20  # maximum size of all entries together [bytes]
_PART = 64  # a process checks the total size after writing such a part of the maximum
_ABANDONED = 3600.0  # age at which a temporary file has no writer any more [s]
_log = logging.getLogger('rbd_ros')
_noticed: Set[str] = set()  # messages logged so far
_written: Dict[Path, int] = {}  # by this process since its last check of a directory [bytes]


def directory() -> Optional[Path]:
    """Return the cache directory.

    $RBD_ROS_CACHE_DIR, else $XDG_CACHE_HOME/rbd_ros, else ~/.cache/rbd_ros.

    :return: None if RBD_ROS_CACHE_DIR is empty, 'off' or 'none'; or, logged once, if the directory
        cannot be created or others may write to it
    """
    chosen = os.environ.get('RBD_ROS_CACHE_DIR')
    if chosen is not None and chosen.lower() in ('', 'off', 'none'):
        return None
    try:
        if chosen:
            root = Path(chosen).expanduser()
        else:
            root = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'rbd_ros'
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_private(root.stat()):
            return root
    # No home, a read-only disk, an invalid file name: no cache.
    except (OSError, RuntimeError, ValueError) as error:
        _notice(
            f'machine code is not cached: {error}; set RBD_ROS_CACHE_DIR to a folder that can be '
            'written, or to "off"'
        )
        return None
    _notice(
        f'machine code is not cached in {root}: other users can write there; make it private '
        '(chmod 700) or set RBD_ROS_CACHE_DIR'
    )
    return None


def _notice(text: str) -> None:
    """Log a warning, once in this process."""
    if text not in _noticed:
        _noticed.add(text)
        _log.warning('%s', text)


def _is_private(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user, and no one else may write to it."""
    mine = not hasattr(os, 'getuid') or status.st_uid == os.getuid()
    return mine and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def digest(key: Mapping[str, Any]) -> str:
    """Return the SHA-256 digest of a key of JSON values; floats count bitwise."""
    return hashlib.sha256(json.dumps(key, sort_keys=True, default=repr).encode()).hexdigest()


def entry_name(function: str, part: str, key_digest: str) -> str:
    """Return the file name of an entry.

    :param function: name of the robot's function
    :param part: part of its machine code, such as the code for one state or for a batch
    :param key_digest: digest of everything else that decides its content
    """
    # 160 bits: no collisions, and the name is still readable in a listing.
    return f'{function}-{part}-{key_digest[:40]}.o'


def load(name: str) -> Optional[Tuple[Dict[str, Any], bytes]]:
    """Return the header and object file of an entry; None unless it is undamaged and ours."""
    root = directory()
    if root is None:
        return None
    try:
        with open_regular(root / name, _MAX_BYTES) as file:
            # By the open file: the name might refer to another file by now.
            if not _is_private(os.fstat(file.fileno())):
                return None
            content = file.read(_MAX_BYTES)
            with suppress(OSError):  # on a read-only file system
                os.utime(file.fileno())  # for `_prune`
    except OSError:
        return None
    start = len(_MAGIC) + 64 + 1
    # Against truncation and decay; `_is_private` keeps attackers out.
    checksum, body = content[len(_MAGIC) : start - 1], content[start:]
    if content[: len(_MAGIC)] != _MAGIC or _checksum(name, body) != checksum:
        return None
    header, _, object_file = body.partition(b'\n')
    try:
        return json.loads(header), object_file
    except ValueError:
        return None


def _checksum(name: str, body: bytes) -> bytes:
    """Return the checksum of an entry together with its name."""
    return hashlib.sha256(name.encode() + b'\n' + body).hexdigest().encode()


def store(name: str, header: Mapping[str, Any], object_file: bytes) -> None:
    """Write an entry atomically; a failure is logged once, and is no error.

    :param name: file name, see `entry_name`
    :param header: facts about the code that are needed before loading it, JSON values
    """
    root = directory()
    if root is None:
        return
    body = json.dumps(header).encode() + b'\n' + object_file
    temporary = None
    try:
        # In the same directory: renaming is atomic only within one file system.
        handle, temporary = tempfile.mkstemp(dir=root, prefix=_TEMPORARY)
        with os.fdopen(handle, 'wb') as file:
            file.write(_MAGIC + _checksum(name, body) + b'\n' + body)
        os.replace(temporary, root / name)
        # Listing thousands of entries takes as long as compiling a small kernel.
        if root not in _written or _written[root] + len(body) > _MAX_BYTES // _PART:
            _written[root] = 0
            _prune(root)
        else:
            _written[root] += len(body)
    except OSError as error:
        _notice(
            f'machine code cannot be written to the cache {root} ({error.strerror or error}), '
            'existing files in it are used; free some space or make it writable, or set '
            'RBD_ROS_CACHE_DIR'
        )
        if temporary is not None:
            try:
                os.unlink(temporary)
            except OSError:
                pass


def _prune(root: Path) -> None:
    """Remove the least recently used entries if the total is too large.

    Temporary files of interrupted writers are removed too.
    """
    entries = []
    with os.scandir(root) as files:
        for file in files:
            if file.name.startswith(_TEMPORARY):
                if time.time() - file.stat().st_mtime > _ABANDONED:
                    os.unlink(file.path)
            elif _ENTRY.fullmatch(file.name):
                status = file.stat()
                entries.append((status.st_mtime, status.st_size, file.path))
    excess = sum(size for _, size, _ in entries) - _MAX_BYTES
    if excess > 0:
        excess += _MAX_BYTES // 4  # so that the next entry does not prune again
        # By the time that `load` sets: many systems keep no access time.
        for _, size, path in sorted(entries):
            if excess <= 0:
                break
            os.unlink(path)
            excess -= size
