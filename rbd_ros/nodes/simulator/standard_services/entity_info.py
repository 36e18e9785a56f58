# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Information about entities: category, description and tags, which clients may set."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Tuple

from rbd_ros.nodes.simulator.standard_services.entity_registry import EntityRegistry
from rbd_ros.nodes.simulator.standard_services.standard_answers import RequestError

# Constants of the standard.
FAILED = 4
CATEGORIES = (0, 1, 2, 4, 5)

MAX_TEXT = 10_000  # maximum length of a description with its tags


class Info(NamedTuple):
    """Information about an entity."""

    category: int
    description: str
    tags: Tuple[str, ...]


class EntityInfos:
    """Information about the entities of a simulation.

    :param registry: the entities
    """

    def __init__(self, registry: EntityRegistry):
        self._registry = registry
        self._given: Dict[str, Info] = {}

    def of(self, name: str) -> Info:
        """Return the information about an existing entity."""
        self._drop_unknown()
        if name in self._given:
            return self._given[name]
        return Info(self._registry.category(name), self._registry.description(name), ())

    def set(self, name: str, message: Any) -> None:
        """Set the information about an entity until it is removed.

        :raises RequestError: for an unknown category or very long texts
        """
        category = message.category.category
        if category not in CATEGORIES:
            raise RequestError(FAILED, f'unknown category {category}; there are {CATEGORIES}')
        tags = tuple(message.tags)
        if len(message.description) + sum(map(len, tags)) + len(tags) > MAX_TEXT:
            raise RequestError(FAILED, f'the text has more than {MAX_TEXT} characters')
        self._drop_unknown()
        self._given[name] = Info(category, message.description, tags)

    def _drop_unknown(self) -> None:
        names = self._registry.names
        self._given = {name: each for name, each in self._given.items() if name in names}
