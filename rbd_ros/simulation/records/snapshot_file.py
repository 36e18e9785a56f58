# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Snapshots in files: written atomically, and read only if they are intact.

A file is a ZIP archive of NumPy arrays (.npz): one for each array of the snapshot, by its name,
and `about`, JSON in UTF-8, the identity of the simulation.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
import tempfile
from typing import Any, Dict, Union
import zipfile
import zlib

import numpy as np

from rbd_ros import __version__
from rbd_ros.bounded_files import archive_problem, FileRejectedError, open_regular
from rbd_ros.simulation.records.snapshots import Snapshot

FORMAT = 'rbd_ros snapshot 1'
ABOUT = 'about'
#: Maximum size of all arrays together [bytes].
MAX_BYTES = 1 << 30

_TEXTS = ('format', 'version', 'robot')


class SnapshotError(ValueError):
    """A file that is no usable snapshot; the message names file and cure."""


def save_snapshot(snapshot: Snapshot, path: Union[str, 'os.PathLike[str]']) -> None:
    """Write a snapshot to a file; on failure, a previous file stays as it was.

    :param snapshot: result of `Simulator.snapshot`
    :param path: name of the file, which usually ends in .npz
    :raises SnapshotError: if it cannot be written

    >>> import os, tempfile
    >>> from rbd_ros.simulation import load_snapshot, save_snapshot
    >>> simulator, other = Simulator(robot), Simulator(robot)
    >>> simulator.step(n=100)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_snapshot(simulator.snapshot(), os.path.join(folder, 'falling.npz'))
    ...     other.restore(load_snapshot(os.path.join(folder, 'falling.npz')))
    >>> simulator.step(n=100)
    >>> other.step(n=100)
    >>> other.time, np.array_equal(simulator.q, other.q)  # bitwise identical
    (0.2, True)
    """
    place = Path(path)
    about = {
        'format': FORMAT,
        'version': __version__,
        'robot': snapshot.robot,
        'start_time': snapshot.start_time,
        # Pairs, as keys of JSON objects are strings and handles are numbers.
        'handles': [[handle, row] for handle, row in snapshot.handles.items()],
        'next_handle': snapshot.next_handle,
        'objects': list(snapshot.objects),
        'identity': dict(snapshot.identity),
        'frictional': snapshot.frictional,
        'extra': dict(snapshot.extra),
    }
    arrays: Dict[str, Any] = dict(snapshot.arrays)
    # JSON as an array of bytes: an array of Python objects would need pickle, which runs code.
    arrays[ABOUT] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    # Compressed in memory first, so that the file is written by a single call.
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    try:
        _replace(place, buffer.getvalue())
    except OSError as error:
        raise SnapshotError(
            f'{path} cannot be written: {error.strerror or error}; give a file in an existing '
            'folder'
        ) from None


def _replace(place: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    # In the same folder, as a rename is atomic within a file system only: readers see the old file
    # or the new one.
    number, name = tempfile.mkstemp(prefix=f'.{place.name}.', dir=place.parent)
    try:
        with os.fdopen(number, 'wb') as file:
            file.write(content)
        os.replace(name, place)
    except OSError:
        os.unlink(name)
        raise


def load_snapshot(path: Union[str, 'os.PathLike[str]']) -> Snapshot:
    """Read a snapshot from a file; `Simulator.restore` checks whether it fits.

    :param path: name of the file
    :raises SnapshotError: if there is no file, if it is truncated or changed, no snapshot, or one
        of another version

    >>> from rbd_ros.simulation import load_snapshot
    >>> load_snapshot('no_such_file.npz')
    Traceback (most recent call last):
    ...
    rbd_ros.simulation.records.snapshot_file.SnapshotError: no_such_file.npz: no such file; ...
    """
    try:
        with open_regular(path, MAX_BYTES) as file:
            arrays = _arrays(path, file)
    except FileNotFoundError:
        raise SnapshotError(f'{path}: no such file; check the path') from None
    except FileRejectedError as error:
        raise SnapshotError(str(error)) from None
    except OSError as error:
        raise SnapshotError(
            f'{path} cannot be read: {error.strerror or error}; check the path'
        ) from None
    # Values of a manipulated file may have any type: conversions check them, and every failure is
    # reported as a damaged file. `Simulator.restore` checks names and shapes of arrays.
    about = _about(path, arrays.pop(ABOUT, None))
    try:
        return Snapshot(
            str(about['robot']),
            float(about['start_time']),
            arrays,
            {int(handle): int(row) for handle, row in about['handles']},
            int(about['next_handle']),
            tuple(map(str, about['objects'])),
            {str(name): str(text) for name, text in about['identity'].items()},
            None if about['frictional'] is None else bool(about['frictional']),
            dict(about['extra']),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _damaged(path) from None


def _arrays(path: Any, file: Any) -> Dict[str, Any]:
    try:
        with zipfile.ZipFile(file) as archive:
            # The directory of the archive gives the unpacked sizes: a small file that unpacks to
            # terabytes is rejected before anything is read.
            problem = archive_problem(archive, MAX_BYTES)
            if problem:
                raise SnapshotError(f'{path}: {problem}; give a snapshot')
        file.seek(0)
        with np.load(file, allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except SnapshotError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, SyntaxError) as error:
        raise _damaged(path) from error
    # Unknown compression, encryption, absurd shapes and malformed headers.
    except (NotImplementedError, RuntimeError, MemoryError, TypeError) as error:
        raise _damaged(path) from error


def _about(path: Any, text: Any) -> Dict[str, Any]:
    if text is None:
        raise SnapshotError(f'{path} is not a snapshot of rbd_ros; save one by save_snapshot')
    try:
        about = json.loads(np.asarray(text, dtype=np.uint8).tobytes())
        header = {name: about[name] for name in _TEXTS}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _damaged(path) from None
    if header['format'] != FORMAT:
        raise SnapshotError(
            f'{path} has the format {str(header["format"])[:80]!r}, but this version reads '
            f'{FORMAT!r}: take the snapshot again'
        )
    # Arrays mirror the internal state, whose meaning may change between versions: continuing from
    # another version would be wrong without an error.
    if header['version'] != __version__:
        raise SnapshotError(
            f'{path} was written by rbd_ros {str(header["version"])[:80]}, but this is '
            f'{__version__}, whose states may differ; take the snapshot again'
        )
    return about  # type: ignore[no-any-return]


def _damaged(path: Any) -> SnapshotError:
    return SnapshotError(
        f'{path} is truncated, damaged, or not a snapshot of rbd_ros; take the snapshot again'
    )
