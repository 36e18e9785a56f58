# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Overlaps of spawned or moved objects with the simulated world."""

from __future__ import annotations

from typing import Dict, FrozenSet

from rbd_ros.nodes.common.diagnostics import Diagnostics, WARN
from rbd_ros.simulation import Simulator
from rbd_ros.simulation.start.start_overlaps import spawn_overlap_warnings
from rbd_ros.simulation.start.start_warnings import DEEP

SUBJECT = 'world'


class SpawnOverlapMonitor:
    """Monitor that warns of overlaps of objects and robots at their new positions.

    :param diagnostics: diagnostics of the node
    """

    def __init__(self, simulator: Simulator, diagnostics: Diagnostics):
        self._simulator, self._diagnostics = simulator, diagnostics
        self._known = self._placed_entities()
        #: Names of objects and robots that were placed since the last step
        self.names: FrozenSet[str] = frozenset()

    def world_changed(self) -> None:
        """Note new and moved objects in the present world."""
        known, self._known = self._known, self._placed_entities()
        self.names = frozenset(
            name for name, each in self._known.items() if known.get(name) is not each
        )

    def placed(self, name: str) -> None:
        """Note a moved object."""
        self.names = self.names | {name}

    def report(self) -> None:
        """Warn, after a step."""
        for text in spawn_overlap_warnings(self._simulator.physics, self.names, DEEP):
            self._diagnostics.event(SUBJECT, WARN, text, code=text.split(' overlap')[0])
        self.names = frozenset()

    def _placed_entities(self) -> Dict[str, object]:
        world = self._simulator.world
        return {each.name: each for each in (*world.objects, *world.robots)}
