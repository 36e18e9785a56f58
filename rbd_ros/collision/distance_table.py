# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pairs of distance queries, and constants of compiled loops for them."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Protocol, Sequence, Tuple

import numpy as np

from rbd_ros.array_types import IntArray
from rbd_ros.collision.distance_loops import DistanceTable
from rbd_ros.collision.scene.scene import Scene
from rbd_ros.model import Model
from rbd_ros.model.errors import unknown_name
from rbd_ros.world.world import ROBOT, World

#: Names of the two ends of a distance: 'robot/link', or the name of an object.
NamePair = Tuple[str, str]


class ModeledRobot(Protocol):
    """Interface required of a robot; `Robot` has it."""

    @property
    def model(self) -> Model:
        """The system model."""

    def kernel(self, text: str, /) -> Any:
        """Return the kernel of an algorithm."""


def chosen_pairs(
    scene: Scene, world: World, model: Model, names: Optional[Sequence[NamePair]]
) -> List[Tuple[int, int]]:
    """Return the pairs of shapes for distance queries: those that the configuration moves.

    :param names: see `RobotInWorld`
    :raises ValueError: for an unknown name, and for a pair without a distance
    """
    # Distances between two fixed bodies are constant.
    moved = {
        i
        for i in range(1, len(model.bodies) + 1)
        if any(model.body(j).joint.nq for j in model.support(i))
    }
    every = [
        (a, b)
        for a, b in scene.table.pair.tolist()
        if moved & {scene.shapes[a].body_id, scene.shapes[b].body_id}
    ]
    if names is None:
        return every
    # Without duplicates, in the order of the names.
    found: Dict[Tuple[int, int], Tuple[int, int]] = {}
    for each in names:
        if (
            not isinstance(each, (tuple, list))
            or len(each) != 2
            or not all(isinstance(name, str) for name in each)
        ):
            raise ValueError(
                f"pairs must hold pairs of names, as ('robot/tool0', 'box'), got {each!r}"
            )
        for name in each:
            _check_name(name, world, model)
        first, second = each
        here = [
            pair
            for a, b in every
            # Names may be in either order; a robot's name means all its links.
            for pair in ((a, b), (b, a))
            if all(
                scene.shapes[i].name == name or scene.shapes[i].name.startswith(f'{name}/')
                for i, name in zip(pair, (first, second))
            )
        ]
        if not here:
            raise ValueError(
                f'no distance of {first!r} and {second!r} is computed: both are fixed, or their '
                'collision is disabled (joined by a joint, disabled by a file, or overlapping at '
                'the neutral configuration), or they have no supported collision shapes; '
                '`notices` gives the reason'
            )
        for pair in here:
            # Each pair once, in the order requested first.
            found.setdefault((min(pair), max(pair)), pair)
    return list(found.values())


def _check_name(name: str, world: World, model: Model) -> None:
    world.check_name(name)
    owner, slash, link = name.partition('/')
    if owner == ROBOT and slash and link not in model.links:
        raise ValueError(unknown_name('link', link[:80], model.links))


def make_distance_table(
    scene: Scene,
    used: Sequence[int],
    moving: int,
    chosen: Sequence[Tuple[int, int]],
    robot: ModeledRobot,
) -> DistanceTable:
    """Return the constants of compiled loops.

    :param used: numbers of the shapes in any pair, those of the robot's bodies first
    :param moving: number of the latter
    :param chosen: pairs of shapes
    """
    model, table = robot.model, scene.table
    place = {i: g for g, i in enumerate(used)}
    # The narrow phase takes the lower kind first (narrow_phase.py); `sign` restores the order.
    exchanged = [scene.shapes[a].shape.kind > scene.shapes[b].shape.kind for a, b in chosen]
    first: List[int] = [0]
    column: List[int] = []
    factor: List[float] = []
    for pair in chosen:
        bodies = [scene.shapes[i].body_id for i in pair]
        a, b = (
            set(model.support_dofs(c)) if 0 < c <= len(model.bodies) else set() for c in bodies
        )
        # DoFs that move both shapes do not change their distance.
        for k in sorted(a ^ b):
            column.append(k)
            # A mimic joint's velocity is that of its master times this ratio.
            factor.append(model.tree_dof_ratio[k] * (1.0 if k in b else -1.0))
        first.append(len(column))
    # Arrays of the scene without the shapes that are in no pair.
    of_used: Dict[str, Any] = {
        name: np.ascontiguousarray(getattr(table, name)[list(used)])
        for name in ('kind', 'size', 'body_id', 'placement', 'reach')
    }
    return DistanceTable(
        scene=table._replace(
            pair=_integers(
                [
                    [place[b], place[a]] if swap else [place[a], place[b]]
                    for (a, b), swap in zip(chosen, exchanged)
                ]
            ).reshape(-1, 2),
            **of_used,
        ),
        moving=moving,
        sign=np.where(exchanged, -1.0, 1.0),
        kinematics=int(robot.kernel('contact_kinematics').address) if chosen else 0,
        first=_integers(first),
        column=_integers(column),
        dof=_integers([model.tree_dof_index[k] for k in column]),
        factor=np.array(factor, dtype=float),
    )


def _integers(values: Sequence[Any]) -> IntArray:
    return np.array(values, dtype=np.int64)
