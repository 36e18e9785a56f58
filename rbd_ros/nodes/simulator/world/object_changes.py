# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Adds objects to the simulated world and removes them, while the node runs.

Slow work (reading meshes, finding pairs, sometimes compiling) is done in the thread of the
executor, while the simulation continues. Then the loop switches to the prepared world between two
cycles.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any, Iterable

from rbd_ros.model.errors import unknown_name
from rbd_ros.nodes.common.diagnostics import OK
from rbd_ros.nodes.common.node_process import interruptible
from rbd_ros.nodes.messages.text import short_name
from rbd_ros.nodes.simulator.world.world_source import check_names
from rbd_ros.spatial import PluckerTransform
from rbd_ros.world.world import World, WorldObject

SUBJECT = 'world'
#: Maximum number of objects: pairs grow with its square.
MAX_OBJECTS = 300
MAX_NAME_LENGTH = 100  # characters


class ChangeRejectedError(ValueError):
    """A change of the world that is rejected."""


class ObjectChanges:
    """Changes of the objects around the robot of a simulator node.

    :param simulator: the node, with `cycle`, `loop`, `parameters`, `diagnostics`
    """

    def __init__(self, simulator: Any):
        self._node = simulator
        self._first = self.world
        self.added = self.removed = self.rejected = 0
        self._pause = 0.0

    @property
    def world(self) -> World:
        """Present environment of the robot."""
        return self._node.cycle.simulator.world

    # -- verbs ------------------------------------------------------------------------------------

    def add(self, each: WorldObject) -> None:
        """Add an object.

        :raises ValueError: with the reason, if that is not possible; nothing is changed
        """
        self._change(self.world.with_objects(each), 'added', short_name(each.name))

    def remove(self, name: str) -> None:
        """Remove an object from the world.

        :raises ValueError: if it does not exist, with the existing ones; nothing is changed
        """
        try:
            world = self.world.without(name)
        except ValueError:
            self.rejected += 1
            names = [each.name for each in self.world.objects]
            text = unknown_name('object', short_name(name), names)
            raise ChangeRejectedError(text) from None
        self._change(world, 'removed', short_name(name))

    def move(self, name: str, placement: PluckerTransform) -> None:
        """Move a static object.

        :param placement: transform from world to object coordinates
        :raises ValueError: with the reason, if that is not possible; nothing is changed
        """
        objects = tuple(
            replace(each, placement=placement) if each.name == name else each
            for each in self.world.objects
        )
        self._change(replace(self.world, objects=objects), 'moved', short_name(name))

    def load(self, world: World) -> None:
        """Load another world, which is the new target of `restore`.

        :raises ValueError: with the reason, if that is not possible; nothing is changed
        """
        before, self._first = self._first, world
        try:
            self._change(world, 'world loaded')
        except ValueError:
            self._first = before
            raise

    def restore(self) -> None:
        """Restore the initial objects; objects that still exist keep their state."""
        if self.world is not self._first:
            self._change(self._first, 'initial objects restored')

    def restore_world(self, world: World) -> None:
        """Restore the objects of a snapshot; objects that still exist keep their state.

        :param world: world of the snapshot
        """
        if self.world is not world:
            self._change(world, 'objects of the snapshot restored')

    def free_name(self, requested: str) -> str:
        """Return an unused name, the requested one if possible."""
        taken = {*self.world.names, *self._links}
        return next(
            name
            for name in (requested, *(f'{requested}_{k}' for k in range(2, len(taken) + 3)))
            if name not in taken
        )

    def is_in_use(self, name: str) -> bool:
        """Return whether a name is in use."""
        return name in self.world.names or name in self._links

    # -- details ----------------------------------------------------------------------------------

    @property
    def _links(self) -> Iterable[str]:
        return self._node.cycle.simulator.robot.model.links

    def _change(self, world: World, code: str, names: str = '') -> None:
        try:
            if len(world.objects) > max(MAX_OBJECTS, len(self._first.objects)):
                raise ChangeRejectedError(
                    f'there would be {len(world.objects)} objects, more than the limit of '
                    f'{MAX_OBJECTS}; remove some',
                )
            for each in world.objects:
                if len(each.name) > MAX_NAME_LENGTH:
                    raise ChangeRejectedError(
                        f'{short_name(each.name)!r} is longer than {MAX_NAME_LENGTH} letters'
                    )
            model, odom_frame = (
                self._node.cycle.simulator.robot.model,
                self._node.parameters['odom_frame'],
            )
            check_names(world, model, odom_frame)
            begin = perf_counter()
            ready = self._prepared(world)
        except ValueError:
            self.rejected += 1
            raise
        made = perf_counter()
        before, after = set(self.world.names), set(world.names)
        pause = self._node.loop.request(lambda: self._timed(ready))
        what = f'{code}: {names}' if names else code
        text = f'{what} (prepared in {made - begin:.2g} s, in use after {1e3 * pause:.2g} ms)'
        self.added += len(after - before)
        self.removed += len(before - after)
        # In a flood of changes, not all are logged.
        self._node.diagnostics.event(SUBJECT, OK, text, code=code)

    def _prepared(self, world: World) -> Any:
        try:
            with interruptible():  # compiling may take long
                return self._node.cycle.prepared_world(world)
        except KeyboardInterrupt:
            raise ChangeRejectedError('the simulator is ending') from None

    def _timed(self, ready: Any) -> float:
        """Switch to a world in the loop; return the time that it took [s]."""
        begin = perf_counter()
        self._node.cycle.change_world(ready)
        self._pause = perf_counter() - begin
        return self._pause

    def values(self) -> dict:
        """Return the numbers for the diagnostics."""
        return {
            'objects': len(self.world.objects),
            'objects_added': self.added,
            'objects_removed': self.removed,
            'changes_rejected': self.rejected,
            'last_change_ms': 1e3 * self._pause,
        }
