# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Convex hulls on disk equal new ones, and are found again if damaged."""

import numpy as np
import pytest

from rbd_ros.collision.shapes import hulls
from rbd_ros.collision.shapes.contact_shapes import ConvexHull
from rbd_ros.collision.shapes.hull_cache import cached_hull


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv('RBD_ROS_CACHE_DIR', str(tmp_path))
    return tmp_path


def points(seed, count=400):
    return np.random.default_rng(seed).normal(size=(count, 3)) * [0.1, 0.2, 0.3]


def is_same(a, b):
    """Return whether hulls are bitwise the same."""
    assert a.tables._fields == b.tables._fields
    assert (a.notice, a.lost) == (b.notice, b.lost)
    assert np.array_equal(a.vertices, b.vertices) and not b.vertices.flags.writeable
    for first, second in zip(a.tables, b.tables):
        assert np.array_equal(first, second)
        assert np.asarray(first).dtype == np.asarray(second).dtype
        assert np.shape(first) == np.shape(second)
    return True


@pytest.mark.parametrize('seed', range(3))
def test_a_hull_from_disk_is_bitwise_the_one_that_was_found(folder, monkeypatch, seed):
    found, expected = cached_hull(points(seed)), ConvexHull(points(seed))
    assert is_same(expected, found)
    assert len(list(folder.glob('convex_hull-any-*.o'))) == 1
    # Nothing is searched any more.
    monkeypatch.setattr(hulls, 'hull_vertices', None)
    assert is_same(expected, cached_hull(points(seed)))


def test_a_simplified_hull_keeps_its_notice(folder):
    ball = points(4, 2000)
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    assert 'more than the limit' in cached_hull(ball).notice
    assert is_same(ConvexHull(ball), cached_hull(ball))


def test_other_points_have_another_entry_and_a_damaged_one_is_replaced(folder):
    cached_hull(points(1))
    cached_hull(np.nextafter(points(1), 1.0))
    files = sorted(folder.glob('convex_hull-any-*.o'))
    assert len(files) == 2
    whole = files[0].read_bytes()
    files[0].write_bytes(whole[:-8])
    for change in (0.0, 1.0):
        at = points(1) if change == 0.0 else np.nextafter(points(1), 1.0)
        assert is_same(ConvexHull(at), cached_hull(at))
    assert files[0].read_bytes() == whole


def test_points_without_volume_are_rejected_and_leave_nothing(folder):
    flat = points(2)
    flat[:, 2] = 0.0
    for _ in range(2):
        with pytest.raises(ValueError, match='enclose no volume'):
            cached_hull(flat)
    assert not list(folder.glob('convex_hull*'))


def test_hulls_need_no_cache(monkeypatch):
    monkeypatch.setenv('RBD_ROS_CACHE_DIR', 'off')
    assert is_same(ConvexHull(points(3)), cached_hull(points(3)))
