# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Heights of the ground from rows of numbers, NumPy arrays and images."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Dict, Tuple

import numpy as np
from numpy.lib.format import read_array_header_1_0, read_array_header_2_0, read_magic
from numpy.typing import NDArray

from rbd_ros.bounded_files import open_regular
from rbd_ros.model.extension.fields import Field

#: Maximum number of rows and of columns, and of those of an image, whose decoding takes up to 28
#: bytes of memory for each pixel.
MAX_SIDE = 8192
MAX_IMAGE_SIDE = 4096
#: Maximum size of a file of an array, of its largest numbers, and of an image [bytes].
MAX_ARRAY = 16 * MAX_SIDE**2 + (1 << 16)
MAX_IMAGE = 8 * MAX_IMAGE_SIDE**2 + (1 << 20)

_PNG = b'\x89PNG\r\n\x1a\n'

_IMAGES = ('.png',)


def heights(entries: Dict[str, Field], path: str) -> NDArray[np.float64]:
    """Return the heights on a grid, (rows, columns) [m].

    :param entries: entries of a height field: `heights`, or `file` with `range` for an image
    :param path: path of `file`, '' without one
    :raises ModelError: with file, line and cure
    """
    if not path:
        return _rows(entries['heights'])
    field = entries['file']
    # The suffix decides before the file is opened, since `range` depends on the format.
    image = Path(path).suffix.lower() in _IMAGES
    if not image and Path(path).suffix.lower() != '.npy':
        raise field.error('a height field is an image (.png) or an array (.npy); convert it')
    if image and 'range' not in entries:
        raise field.error(
            'range is missing; add "range: [0.0, 0.1]", the heights [m] of black and white'
        )
    if not image and 'range' in entries:
        raise entries['range'].error(
            'range applies to images only, since an array holds meters; leave it out'
        )
    try:
        grid = _image(path) if image else _array(path)
    except _ShapeError as error:
        raise field.error(str(error)) from None
    except Exception as error:  # readers of files raise various errors
        reason = ' '.join(str(error).split())[:200] or type(error).__name__
        raise field.error(f'cannot be read ({reason}); check the file') from None
    if not np.isfinite(grid).all():
        raise field.error('holds heights that are not finite; replace them')
    if image:
        bounds = entries['range'].sequence()
        if len(bounds) != 2:
            raise entries['range'].error(
                f'expected 2 numbers, got {len(bounds)}; write "[low, high]"'
            )
        # In place, since the grid may take 512 MiB. A range with low > high inverts the image.
        low, high = (bound.number() for bound in bounds)
        grid *= high - low
        grid += low
    return _fixed(grid)


def _rows(field: Field) -> NDArray[np.float64]:
    rows = field.sequence()
    found = [[each.number() for each in row.sequence()] for row in rows]
    for row, numbers in zip(rows, found):
        if len(numbers) != len(found[0]):
            raise row.error(
                f'expected {len(found[0])} numbers as in the first row, got {len(numbers)}; give '
                'rows of one length'
            )
    if len(found) < 2 or len(found[0]) < 2:
        raise field.error('expected at least 2 rows of 2 numbers; or give a plane')
    return _fixed(np.array(found))


def _fixed(grid: NDArray[Any]) -> NDArray[np.float64]:
    # No copy of a large array.
    grid = np.asarray(grid, dtype=float)
    grid.flags.writeable = False
    return grid


def _array(path: str) -> NDArray[Any]:
    read = {(1, 0): read_array_header_1_0, (2, 0): read_array_header_2_0}
    with open_regular(path, MAX_ARRAY) as file:
        header = read.get(read_magic(file))
        if header is None:
            raise ValueError('it does not hold an array of numbers')
        # Check the shape in the header before reading, since it may claim any size.
        shape, _, kind = header(file)
        if kind.kind not in 'fiu' or kind.hasobject:
            raise ValueError('it does not hold an array of numbers')
        _check_shape(shape)
        file.seek(0)
        # Without pickle, which could run code of the file.
        grid: NDArray[Any] = np.load(file, allow_pickle=False)
    return grid


def _image(path: str) -> NDArray[Any]:
    """Return the brightness from 0 to 1: the mean of the colors, without opacity."""
    from matplotlib.image import imread

    with open_regular(path, MAX_IMAGE) as file:
        head = file.read(24)
        if head[:8] != _PNG or head[12:16] != b'IHDR':
            raise ValueError('it is not a PNG image')
        # Before decoding: a small file may decompress to a huge image.
        shape = int.from_bytes(head[20:24], 'big'), int.from_bytes(head[16:20], 'big')
        _check_shape(shape, MAX_IMAGE_SIDE, '; scale the image down, or give an array (.npy)')
        file.seek(0)
        pixels: NDArray[Any] = imread(file, 'png')
    if pixels.ndim == 2:
        return np.asarray(pixels, dtype=float)
    return np.asarray(pixels[..., :3].mean(axis=-1, dtype=float))


def _check_shape(shape: Tuple[int, ...], most: int = MAX_SIDE, cure: str = '') -> None:
    if len(shape) != 2 or not all(2 <= side <= most for side in shape):
        raise _ShapeError(
            f'holds {"x".join(map(str, shape))} numbers; give at least 2x2 and at most '
            f'{most}x{most} heights{cure}'
        )


class _ShapeError(ValueError):
    """An array that is not a grid, or too large."""
