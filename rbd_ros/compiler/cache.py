"""Machine code kept on disk between processes.

An entry is one file named by the digest of everything that decides its content. Files are written
beside their place and renamed into it, so several processes can share the cache; they carry a
checksum, so a damaged one is made anew. Machine code is executed: a directory that others may
write to, or files that are not ours, are not used. A cache that cannot be read or written is no
error, only slower.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from pathlib import Path
import re
import stat
import tempfile
import time
from typing import Mapping, Optional, Tuple

_MAGIC = b'rbd_ros kernel 1\n'
_ENTRY = re.compile(r'[a-z_]+-[a-z]+-[0-9a-f]{40}\.o')
_TEMPORARY = '.rbd_ros-new-'
_LARGEST = 512 * 2**20  # bytes of all entries together
_ABANDONED = 3600.0  # seconds after which a temporary file has no writer any more
_log = logging.getLogger('rbd_ros')
_noticed = set()


def directory() -> Optional[Path]:
    """Cache directory: $RBD_ROS_CACHE_DIR, else $XDG_CACHE_HOME/rbd_ros, else ~/.cache/rbd_ros.

    None if it cannot be made, or others may write to it, which one notice says.
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
        if _ours(root.stat()):
            return root
    except (OSError, RuntimeError, ValueError):
        return None
    if root not in _noticed:
        _noticed.add(root)
        _log.warning(
            'machine code is not cached in %s: others may write there; make it yours alone '
            '(chmod 700) or set RBD_ROS_CACHE_DIR',
            root,
        )
    return None


def _ours(status: os.stat_result) -> bool:
    mine = not hasattr(os, 'getuid') or status.st_uid == os.getuid()
    return mine and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def digest(key: Mapping) -> str:
    """Digest of a key of JSON values; floats count to the last bit."""
    return hashlib.sha256(json.dumps(key, sort_keys=True, default=repr).encode()).hexdigest()


def entry_name(function: str, part: str, key_digest: str) -> str:
    """File name of an entry."""
    return f'{function}-{part}-{key_digest[:40]}.o'


def load(name: str) -> Optional[Tuple[dict, bytes]]:
    """Header and object file of an entry; None if there is none that is whole and ours."""
    root = directory()
    if root is None:
        return None
    try:
        with open(root / name, 'rb') as file:
            if not _ours(os.fstat(file.fileno())):
                return None
            content = file.read()
            os.utime(file.fileno())  # for `_prune`
    except OSError:
        return None
    start = len(_MAGIC) + 64 + 1
    checksum, body = content[len(_MAGIC) : start - 1], content[start:]
    if content[: len(_MAGIC)] != _MAGIC or hashlib.sha256(body).hexdigest().encode() != checksum:
        return None
    header, _, object_file = body.partition(b'\n')
    try:
        return json.loads(header), object_file
    except ValueError:
        return None


def store(name: str, header: Mapping, object_file: bytes) -> None:
    """Write an entry, all at once or not at all."""
    root = directory()
    if root is None:
        return
    body = json.dumps(header).encode() + b'\n' + object_file
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=root, prefix=_TEMPORARY)
        with os.fdopen(handle, 'wb') as file:
            file.write(_MAGIC + hashlib.sha256(body).hexdigest().encode() + b'\n' + body)
        os.replace(temporary, root / name)
        _prune(root)
    except OSError:
        if temporary is not None:
            try:
                os.unlink(temporary)
            except OSError:
                pass


def _prune(root: Path) -> None:
    """Remove the entries longest unused when all together are too large.

    What interrupted writers left behind goes, too.
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
    excess = sum(size for _, size, _ in entries) - _LARGEST
    if excess > 0:
        excess += _LARGEST // 4  # so that it is not done again at once
        for _, size, path in sorted(entries):
            if excess <= 0:
                break
            os.unlink(path)
            excess -= size
