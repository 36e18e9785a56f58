# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Files of a campaign, written atomically by one process at a time, and tables."""

from __future__ import annotations

from contextlib import contextmanager
import csv
import importlib.util
import io
import os
from pathlib import Path
from typing import Any, Dict, Iterator, List, Sequence

from rbd_ros.bounded_files import read_text

LOCK = 'campaign.lock'
#: Maximum size of a table, and of its settings [bytes].
MAX_TABLE = 1 << 30

#: Cells of a run by column.
Row = Dict[str, str]

# Columns without numbers.
_TEXTS = ('failure', 'exceeded', 'digest')
_WHOLE = ('run', 'seed', 'steps')
_COUNTS = ('_sent', '_dropped', '_duplicated')


@contextmanager
def campaign_lock(folder: Path) -> Iterator[None]:
    """Lock the campaign against other processes; the lock ends with the process.

    :raises ValueError: if another process holds it
    """
    try:
        import fcntl
    except ImportError:  # not supported by this system
        yield
        return
    # No link is followed, and no content is changed.
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        number = os.open(folder / LOCK, flags, 0o666)
    except OSError as error:
        raise ValueError(
            f'{folder / LOCK} cannot be opened: {error.strerror}; remove it, or give another '
            '--report'
        ) from None
    with os.fdopen(number, 'rb') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(
                f'another process runs the campaign in {folder}; wait for it, or give another '
                '--report'
            ) from None
        yield


def replace_file(path: Path, text: str) -> None:
    """Write a file atomically, also against loss of power."""
    temporary = path.with_name(path.name + '.new')
    with temporary.open('w', encoding='utf-8', newline='') as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())  # before the rename reaches the disk
    os.replace(temporary, path)


def line(columns: Sequence[str], values: Row) -> str:
    """Return the line of a table."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator='\n').writerow([values[name] for name in columns])
    return buffer.getvalue()


def cell(value: Any) -> str:
    """Return the cell of a value, on one line; numbers keep all bits."""
    text = repr(value) if isinstance(value, float) else str(value)
    return ' '.join(text.split())


def read_rows(table: Path, columns: Sequence[str]) -> Dict[int, Row]:
    """Return the rows of a table by run number, without an incomplete last line."""
    if not table.is_file():
        return {}
    text = read_text(table, MAX_TABLE)
    whole = text[: text.rfind('\n') + 1]
    found: Dict[int, Row] = {}
    for each in csv.DictReader(io.StringIO(whole)):
        if list(each) == list(columns) and None not in each.values() and each['run'].isdigit():
            found[int(each['run'])] = each
    return found


# -- tables for other programs --------------------------------------------------------------------


def check_table(path: Path) -> None:
    """Check that a table can be written, before the runs.

    :raises ValueError: for an unknown format, or if its library is missing
    """
    if path.suffix not in ('.csv', '.parquet'):
        raise ValueError(f'--table {path}: give the name of a .parquet or .csv file')
    if path.suffix == '.parquet' and importlib.util.find_spec('pyarrow') is None:
        raise ValueError(f'--table {path}: Parquet needs pyarrow: pip install pyarrow')
    if not path.absolute().parent.is_dir():
        raise ValueError(f'--table {path}: there is no such folder')


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as Parquet, with types, or as CSV.

    :param path: ends in .parquet or .csv
    :param rows: rows with the same columns; at least one
    :raises ValueError: if it cannot be written
    """
    columns = list(rows[0])
    try:
        if path.suffix == '.csv':
            head = line(columns, dict(zip(columns, columns)))
            replace_file(path, head + ''.join(line(columns, each) for each in rows))
            return
        import pyarrow
        from pyarrow import parquet

        temporary = path.with_name(path.name + '.new')
        table = pyarrow.table({name: _values(name, rows) for name in columns})
        parquet.write_table(table, temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise ValueError(f'--table {path}: cannot be written: {error}') from None


def _values(name: str, rows: Sequence[Row]) -> Any:
    """Return the column as an array of pyarrow; missing values are null."""
    import pyarrow

    texts = [each[name] for each in rows]
    if name in _TEXTS:
        return pyarrow.array(texts, pyarrow.string())
    given: List[Any] = [each or None for each in texts]
    if name == 'passed':
        return pyarrow.array([each == 'True' for each in given], pyarrow.bool_())
    if name in _WHOLE or name.endswith(_COUNTS):
        return pyarrow.array([each and int(each) for each in given], pyarrow.int64())
    return pyarrow.array([each and float(each) for each in given], pyarrow.float64())
