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
import os
from pathlib import Path
import stat
import tempfile
from typing import Mapping, Optional, Tuple

_MAGIC = b'rbd_ros kernel 1\n'


def directory() -> Optional[Path]:
    """Cache directory: $RBD_ROS_CACHE_DIR, else $XDG_CACHE_HOME/rbd_ros, else ~/.cache/rbd_ros.

    None if not trusted.
    """
    chosen = os.environ.get('RBD_ROS_CACHE_DIR')
    if chosen is not None and chosen.lower() in ('', 'off', 'none'):
        return None
    try:
        root = (
            Path(chosen)
            if chosen
            else Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'rbd_ros'
        )
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        return root if _ours(root.stat()) else None
    except (OSError, RuntimeError):
        return None


def _ours(status: os.stat_result) -> bool:
    mine = not hasattr(os, 'getuid') or status.st_uid == os.getuid()
    return mine and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def digest(key: Mapping) -> str:
    """Digest of a key of JSON values; floats count to the last bit."""
    return hashlib.sha256(json.dumps(key, sort_keys=True, default=repr).encode()).hexdigest()


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
        handle, temporary = tempfile.mkstemp(dir=root, prefix='.new-')
        with os.fdopen(handle, 'wb') as file:
            file.write(_MAGIC + hashlib.sha256(body).hexdigest().encode() + b'\n' + body)
        os.replace(temporary, root / name)
    except OSError:
        if temporary is not None:
            try:
                os.unlink(temporary)
            except OSError:
                pass
