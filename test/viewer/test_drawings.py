# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Lines, balls and texts for a page: their components, and rejections."""

import numpy as np
import pytest

from rbd_ros.viewer.drawings import COLOR, Drawings

HERE = [0.1, 0.2, 0.3]


def test_drawings_are_kept_by_name():
    drawings = Drawings()
    drawings.add_line('a', [HERE, [0, 0, 1]], color=(1, 0, 0))
    drawings.add_ball('b', HERE, 0.5)
    drawings.add_text('c', HERE, 'words')
    drawings.add_ball('b', [0, 0, 0], 0.25)
    assert drawings.items() == [
        {'kind': 'line', 'points': [*HERE, 0.0, 0.0, 1.0], 'color': [1.0, 0.0, 0.0]},
        {'kind': 'ball', 'points': [0.0, 0.0, 0.0], 'color': list(COLOR), 'radius': 0.25},
        {'kind': 'text', 'points': HERE, 'color': list(COLOR), 'text': 'words'},
    ]
    drawings.remove('a')
    assert len(drawings) == 2
    with pytest.raises(KeyError):
        drawings.remove('a')


@pytest.mark.parametrize(
    'add, words',
    [
        (lambda d: d.add_line('a', [HERE]), 'points must have shape'),
        (lambda d: d.add_line('a', [[0, 0], [1, 1]]), 'points must have shape'),
        (lambda d: d.add_line('a', [HERE, [np.nan, 0, 0]]), "line 'a' must have finite"),
        (lambda d: d.add_ball('a', HERE, 0.0), 'radius must be positive'),
        (lambda d: d.add_ball('a', HERE, np.inf), 'radius must be positive'),
        (lambda d: d.add_ball('a', [0, 0], 1.0), 'position must have shape'),
        (lambda d: d.add_text('a', [0, 0, np.inf], 'x'), "text 'a' must have finite"),
        (lambda d: d.add_text('a', HERE, 'x', color=(0, 0, 256)), 'color must be three numbers'),
        (lambda d: d.add_text('a', HERE, 'x', color='red'), 'could not convert'),
    ],
)
def test_a_bad_drawing_is_rejected(add, words):
    drawings = Drawings()
    with pytest.raises(ValueError, match=words):
        add(drawings)
    assert len(drawings) == 0
