# SPDX-License-Identifier: Apache-2.0
"""Entities that a node creates while it is configured; cleanup destroys all of them."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Tuple

from rclpy.node import Node

from rbd_ros.nodes.common.diagnostics import Diagnostics


class ScopedEntities:
    """Entities of a node that are created from now on, and subjects of its diagnostics.

    :param node: the node
    :param diagnostics: its diagnostics
    """

    def __init__(self, node: Node, diagnostics: Diagnostics):
        self._node, self._diagnostics = node, diagnostics
        self._kept = {id(entity) for entity, _ in self._entities()}
        self._subjects = diagnostics.mark()

    def _entities(self) -> Iterator[Tuple[Any, Callable[[Any], Any]]]:
        """Yield all entities, each with what destroys it; those last that belong to others."""
        node = self._node
        # a node of ours shows executors only part of its subscriptions
        subscriptions = Node.subscriptions.__get__(node)
        for entities, destroy in (
            (node.publishers, node.destroy_publisher),
            (subscriptions, node.destroy_subscription),
            (node.clients, node.destroy_client),
            (node.services, node.destroy_service),
            (node.timers, node.destroy_timer),
            (node.guards, node.destroy_guard_condition),
        ):
            yield from ((entity, destroy) for entity in entities)
        # actions; handlers of events go with their publishers and subscriptions
        yield from ((each, _destroy_action) for each in node.waitables)

    def destroy(self) -> None:
        """Destroy all entities that were created since, and drop their diagnostics."""
        for entity, destroy in list(self._entities()):
            if id(entity) not in self._kept:
                destroy(entity)
        self._diagnostics.forget_since(self._subjects)


def _destroy_action(waitable: Any) -> None:
    """Destroy an action server or client, which takes itself off its node."""
    if hasattr(waitable, 'add_goal') or 'rclpy.action' in type(waitable).__module__:
        waitable.destroy()
