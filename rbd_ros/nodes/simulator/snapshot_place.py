# SPDX-License-Identifier: Apache-2.0
"""Storage of a simulator's snapshots: their names, and the files of these names."""

from __future__ import annotations

from pathlib import Path
import re
from typing import Optional

from rbd_ros.nodes.messages.text import short_name

NAME = re.compile(r'[A-Za-z0-9_\-][A-Za-z0-9_\-.]{0,99}')


def check_snapshot_name(name: str) -> None:
    """Reject a name that cannot be a file's on every machine.

    :raises ValueError: saying what would be legal
    """
    if not NAME.fullmatch(name):
        raise ValueError(
            f'{short_name(name)!r} is not a valid name of a snapshot; set snapshot_name to at '
            'most 100 letters, digits, _, - and dots, no dot first'
        )


def check_snapshot_folder(folder: str) -> None:
    """Reject a folder that is not there.

    :raises ValueError: saying what to do
    """
    if folder and not _is_folder(folder):
        raise ValueError(
            f'snapshot_folder {short_name(folder)!r} is not a folder; create it first, or leave '
            'it empty for snapshots in memory'
        )


def snapshot_file(name: str, folder: str) -> Optional[Path]:
    """Return the file of a snapshot; None without a folder."""
    return Path(folder).expanduser() / f'{name}.npz' if folder else None


def _is_folder(text: str) -> bool:
    try:
        return Path(text).expanduser().is_dir()
    except (OSError, ValueError, RuntimeError):  # too long, a zero byte, an unknown user's ~
        return False
