# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files that a user or another file names: regular files, read up to a bound.

A name in a mesh, a world or a parameter may lead to a device that never ends, a named pipe that
never begins, or a file that does not fit into memory. All such files are opened here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from types import ModuleType
from typing import Any, BinaryIO, Iterator, Optional, Union
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

Path = Union[str, bytes, 'os.PathLike[str]']

#: Maximum size of a text that people write: a description, a scenario, parameters [bytes].
MAX_TEXT = 16 << 20
#: Maximum size of a recording, which is read message by message [bytes].
MAX_RECORDING = 64 << 30
#: Maximum size of a message that is unpacked [bytes].
MAX_MESSAGE = 1 << 30
#: How data begin that are compressed by zstd; no message of ROS 2 and no recording does.
ZSTD = b'\x28\xb5\x2f\xfd'
#: Maximum number of entries of an archive.
MAX_ENTRIES = 10_000

_KINDS = (
    (stat.S_ISFIFO, 'a named pipe'),
    (stat.S_ISSOCK, 'a socket'),
    (stat.S_ISCHR, 'a device'),
    (stat.S_ISBLK, 'a device'),
)


class FileRejectedError(OSError):
    """A file that is not read, because it is not a regular file or is too large."""

    def __str__(self) -> str:
        """Return the file, the problem and the cure."""
        return f'{os.fsdecode(self.filename)}: {self.strerror}'


def open_regular(path: Path, max_bytes: int) -> BinaryIO:
    """Open a regular file for reading, in bytes.

    Opening neither blocks nor changes anything: the type of the file is checked before and after.

    :param path: the file; a symbolic link is followed
    :param max_bytes: maximum size [bytes]
    :raises FileRejectedError: if it is not a regular file, or is larger
    :raises OSError: if it cannot be opened

    >>> from rbd_ros.bounded_files import open_regular
    >>> open_regular('/dev/zero', 1000)
    Traceback (most recent call last):
        ...
    rbd_ros.bounded_files.FileRejectedError: /dev/zero: it is a device, ...
    """
    _check(os.stat(path), path, max_bytes)
    number = os.open(path, os.O_RDONLY | getattr(os, 'O_NONBLOCK', 0) | getattr(os, 'O_BINARY', 0))
    try:
        _check(os.fstat(number), path, max_bytes)
        return os.fdopen(number, 'rb')
    except BaseException:
        os.close(number)
        raise


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """Return the content of a regular file.

    :param max_bytes: maximum size [bytes]
    :raises FileRejectedError: if it is not a regular file, or is larger
    :raises OSError: if it cannot be read
    """
    with open_regular(path, max_bytes) as file:
        # Generated files, as in /proc, have no size; some return None instead of blocking.
        data: Optional[bytes] = file.read(max_bytes + 1)
    if data is None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN), os.fspath(path))
    if len(data) > max_bytes:
        raise _too_large(path, len(data), max_bytes)
    return data


def read_text(path: Path, max_bytes: int, encoding: str = 'utf-8') -> str:
    """Return the text of a regular file.

    :param max_bytes: maximum size [bytes]
    :raises FileRejectedError: if it is not a regular file, or is larger
    :raises OSError: if it cannot be read
    :raises UnicodeDecodeError: if it is no text in this encoding
    """
    return read_bytes(path, max_bytes).decode(encoding)


def archive_problem(archive: ZipFile, max_bytes: int) -> str:
    """Return the reason why a ZIP archive cannot be unpacked; '' if it can.

    With deflate, the library unpacks at most the size that an entry declares.

    :param archive: the archive, open
    :param max_bytes: maximum size of all entries together, unpacked [bytes]
    """
    entries = archive.infolist()
    size = sum(each.file_size for each in entries)
    if len(entries) > MAX_ENTRIES:
        return f'it has {len(entries)} entries, more than the limit of {MAX_ENTRIES}'
    if size > max_bytes:
        return f'it has {size} bytes unpacked, more than the limit of {max_bytes}'
    if any(each.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for each in entries):
        return 'it is not compressed by deflate; pack it again'
    return ''


def unpacked(data: bytes, max_bytes: int = MAX_MESSAGE) -> bytes:
    """Return data that may be compressed by zstd, as messages of bags are, without compression.

    :param max_bytes: maximum size, unpacked [bytes]
    :raises ValueError: if they cannot be unpacked, or the library is missing
    """
    if data[:4] != ZSTD:
        return data
    library = _zstandard()
    try:
        content: bytes = library.ZstdDecompressor().stream_reader(data).read(max_bytes + 1)
    except library.ZstdError as error:
        raise ValueError(f'it cannot be unpacked: {error}') from None
    if len(content) > max_bytes:
        raise ValueError(
            f'it has {len(content)} bytes or more unpacked, more than the limit of {max_bytes}'
        )
    return content


@contextlib.contextmanager
def unpacked_file(path: Path, max_bytes: int) -> Iterator[Path]:
    """Provide the path of a file without compression: the file itself, or a temporary one.

    :param path: a regular file, which may be compressed by zstd
    :param max_bytes: maximum size, unpacked [bytes]
    :raises FileRejectedError: if it cannot be unpacked, or the library is missing
    :raises OSError: if it cannot be opened
    """
    with open_regular(path, max_bytes) as file:
        if file.read(4) != ZSTD:
            yield path
            return
        file.seek(0)
        with tempfile.NamedTemporaryFile(prefix='unpacked_') as plain:
            try:
                library = _zstandard()
                _unpack(library.ZstdDecompressor().stream_reader(file), plain, path, max_bytes)
            except ValueError as error:
                raise FileRejectedError(errno.EINVAL, str(error), os.fspath(path)) from None
            except library.ZstdError as error:
                text = f'it cannot be unpacked: {error}; copy it again'
                raise FileRejectedError(errno.EINVAL, text, os.fspath(path)) from None
            yield plain.name


def _unpack(source: Any, target: Any, path: Path, max_bytes: int) -> None:
    size = 0
    while piece := source.read(1 << 20):
        size += len(piece)
        if size > max_bytes:
            raise _too_large(path, size, max_bytes)
        target.write(piece)
    target.flush()


def _zstandard() -> ModuleType:
    """Return the library that unpacks.

    :raises ValueError: if it is missing
    """
    try:
        import zstandard
    except ImportError:
        raise ValueError(
            "it is compressed by zstd, which needs a library: pip install 'rbd_ros[recording]', "
            'or unpack it by zstd -d'
        ) from None
    module: ModuleType = zstandard
    return module


def read_end(path: Path, max_bytes: int) -> str:
    """Return the last part of the text of a log, however long the log is.

    :param max_bytes: maximum size of the part [bytes]
    :raises OSError: if it is not a regular file, or cannot be read
    """
    with open_regular(path, 1 << 62) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - max_bytes))
        return file.read(max_bytes).decode(errors='replace')


def _check(status: os.stat_result, path: Path, max_bytes: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(status.st_mode):
        kinds = (name for is_kind, name in _KINDS if is_kind(status.st_mode))
        raise FileRejectedError(
            errno.EINVAL,
            f'it is {next(kinds, "something else")}, not a regular file; write its content to a '
            'file',
            os.fspath(path),
        )
    if status.st_size > max_bytes:
        raise _too_large(path, status.st_size, max_bytes)


def _too_large(path: Path, size: int, max_bytes: int) -> FileRejectedError:
    return FileRejectedError(
        errno.EFBIG,
        f'it has {size} bytes or more, more than the limit of {max_bytes}; give a smaller file',
        os.fspath(path),
    )
