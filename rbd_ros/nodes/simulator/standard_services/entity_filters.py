# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Filters of entities in requests of `simulation_interfaces`."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
from typing import Any, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from rbd_ros.collision import Box, ConvexHull, distance
from rbd_ros.nodes.simulator.standard_services.entity_info import EntityInfos
from rbd_ros.nodes.simulator.standard_services.entity_registry import EntityRegistry
from rbd_ros.nodes.simulator.standard_services.standard_answers import RequestError

# Constants of the standard.
FAILED, UNSUPPORTED = 4, 0
EMPTY, BOX, CONVEX_HULL, SPHERE = 0, 1, 2, 3
ALL = 1  # mode of tag filters

MAX_FILTER = 200  # characters
MAX_SEARCH_TIME = 0.05  # [s]
MAX_POINTS = 256  # of a convex hull
FAR = 1e6  # stands for infinity [m]


def matching(registry: EntityRegistry, infos: EntityInfos, filters: Any) -> Tuple[str, ...]:
    """Return the names of entities that pass all filters.

    :param registry: the entities
    :param infos: their information
    :param filters: EntityFilters of any version of the standard
    :raises RequestError: for invalid filters
    """
    names = _by_name(registry.names, filters.filter)
    categories = {each.category for each in getattr(filters, 'categories', ())}
    if categories:
        names = tuple(name for name in names if infos.of(name).category in categories)
    tags = getattr(filters, 'tags', None)
    if tags is not None and len(tags.tags):
        names = tuple(name for name in names if has_tags(infos.of(name).tags, tags))
    bounds = getattr(filters, 'bounds', None)
    if bounds is not None and bounds.type != EMPTY:
        names = _within(registry, names, bounds)
    return names


def has_tags(tags: Sequence[str], requested: Any) -> bool:
    """Return whether tags pass a TagsFilter; one without tags passes all."""
    if not len(requested.tags):
        return True
    hits = [tag in tags for tag in requested.tags]
    return all(hits) if getattr(requested, 'filter_mode', 0) == ALL else any(hits)


def _by_name(names: Tuple[str, ...], text: str) -> Tuple[str, ...]:
    if len(text) > MAX_FILTER:
        raise RequestError(FAILED, f'the filter is too long, with {len(text)} characters')
    try:
        pattern = re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise RequestError(FAILED, f'the filter is not a regular expression: {error}') from None
    try:
        with _limited(MAX_SEARCH_TIME):
            return tuple(name for name in names if pattern.search(name))
    except TimeoutError:
        raise RequestError(FAILED, 'the filter takes too long to match') from None


def _within(registry: EntityRegistry, names: Tuple[str, ...], bounds: Any) -> Tuple[str, ...]:
    """Return the names of entities whose boxes overlap the bounds."""
    points = np.array([[p.x, p.y, p.z] for p in bounds.points], dtype=float).reshape(-1, 3)
    if not np.isfinite(points).all() or (points.size and np.abs(points).max() > FAR):
        raise RequestError(FAILED, f'points of bounds are not finite, or beyond {FAR:g} m')
    if bounds.type in (BOX, SPHERE) and len(points) != 2:
        raise RequestError(FAILED, f'bounds have {len(points)} points instead of 2')
    if bounds.type == BOX:
        low, high = points.min(axis=0), points.max(axis=0)

        def overlaps(box: np.ndarray) -> bool:
            return bool((box[0] <= high).all() and (box[1] >= low).all())

    elif bounds.type == SPHERE:
        center, radius = points[0], points[1, 0]

        def overlaps(box: np.ndarray) -> bool:
            return bool(np.linalg.norm(center - np.clip(center, *box)) <= radius)

    elif bounds.type == CONVEX_HULL:
        if len(points) > MAX_POINTS:
            raise RequestError(FAILED, f'the hull has more than {MAX_POINTS} points')
        try:
            hull = ConvexHull(points)
        except ValueError as error:
            raise RequestError(FAILED, f'bounds: {error}') from None

        def overlaps(box: np.ndarray) -> bool:
            low, high = np.clip(box, -FAR, FAR)
            pose = np.eye(4)
            pose[:3, 3] = 0.5 * (low + high)
            return distance(Box(tuple(high - low)), pose, hull, np.eye(4)).gap <= 0.0

    else:
        raise RequestError(UNSUPPORTED, f'bounds of type {bounds.type} are not supported')
    return tuple(
        name
        for name, boxes in zip(names, checked_boxes(registry, names))
        if any(overlaps(box) for box in boxes)
    )


def checked_boxes(registry: EntityRegistry, names: Sequence[str]) -> List[Tuple[np.ndarray, ...]]:
    """Return the bounding boxes of entities; see `EntityRegistry.boxes`.

    :raises RequestError: for an unreadable mesh
    """
    try:
        return registry.boxes(names)
    except ValueError as error:
        raise RequestError(FAILED, str(error)) from None


def finite_box(boxes: Tuple[np.ndarray, ...]) -> Optional[np.ndarray]:
    """Return the box of an entity, (2, 3) [m]; None without shapes or for an infinite one."""
    return boxes[0] if boxes and np.isfinite(boxes[0]).all() else None


@contextlib.contextmanager
def _limited(duration: float) -> Iterator[None]:
    """Limit the time of a regular expression, which blocks the simulation.

    :param duration: limit [s]
    :raises TimeoutError: if the limit is exceeded
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return

    def end(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, duration)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
