# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Warnings of overlaps in a world, at the start of a simulation and later.

They cover movable objects, and robots in triangle meshes and height fields. A compiled step finds
them and is undone. Other overlaps of a robot are in robot_overlaps.py.
"""

from __future__ import annotations

from typing import Collection, Dict, List, NamedTuple, Tuple, TYPE_CHECKING

import numpy as np

from rbd_ros.array_types import BoolArray, IntArray
from rbd_ros.collision.arrays import HEIGHT_FIELD, MESH
from rbd_ros.collision.scene.scene_arrays import shapes_of_pairs, STIFFNESS, surface_of
from rbd_ros.simulation.physics import clear_record
from rbd_ros.simulation.records.simulation_model import RETURN_SPEED
from rbd_ros.simulation.scene.scene_state import NOW, SceneModel

if TYPE_CHECKING:
    from rbd_ros.simulation.physics import Physics

#: Maximum number of named pairs, the deepest first.
_NAMED = 5


_RESOLVED = f'they are moved apart slowly, by at most {RETURN_SPEED:g} m/s'
_UNRESOLVED = (
    'they stay in penetration, because no joint or movable object can separate them without '
    'deeper penetration elsewhere; move them, or disable their contact by `disable_collisions` '
    'of a world'
)


class PairOverlap(NamedTuple):
    """Overlap of two bodies in the last step.

    :param depth: penetration depth [m]
    :param unresolved: whether any of its contacts was not separated
    """

    depth: float
    unresolved: bool


def are_simple(model: SceneModel, shapes: IntArray) -> BoolArray:
    """Return which pairs have a shape of a robot and only convex shapes.

    :param shapes: numbers of the shapes of each pair, (n, 2)
    """
    body_id, kind = model.table.body_id[shapes], model.table.kind[shapes]
    on_robot = (body_id > 0) & (body_id < model.first_object)
    is_concave = np.isin(kind, (MESH, HEIGHT_FIELD))
    return np.asarray(on_robot.any(axis=1) & ~is_concave.any(axis=1))


def are_rigid(model: SceneModel, pairs: IntArray) -> BoolArray:
    """Return which pairs are rigid, by their numbers."""
    rows = np.array([surface_of(model.table, p) for p in pairs.tolist()], dtype=int)
    rigid: BoolArray = model.table.surface[rows, STIFFNESS] == 0.0
    return rigid


def other_overlaps(physics: Physics) -> Dict[Tuple[str, str], PairOverlap]:
    """Return the overlaps of rigid bodies that are not in robot_overlaps.py, deepest first.

    A step finds them and is undone. Only at a reset: the state of former steps is lost.

    :param physics: a simulation with a world
    :return: by pair of names

    >>> from rbd_ros.simulation.start.start_overlaps import other_overlaps
    >>> ball = {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0}
    >>> objects = {'floor': {'type': 'plane'}, 'ball': {**ball, 'xyz': [2.0, 0.0, 0.09]}}
    >>> found = other_overlaps(Simulator(robot, world={'objects': objects}).physics)
    >>> {pair: (round(each.depth, 6), each.unresolved) for pair, each in found.items()}
    {('floor', 'ball'): (0.01, False)}
    """
    scene, table = physics.model.scene, physics.model.scene.table
    listed = are_rigid(scene, np.arange(len(table.pair))) & ~are_simple(scene, table.pair)
    if not (listed.any() or table.has_object_pairs):
        return {}
    arrays = physics.arrays()
    kept = {name: array.copy() for name, array in arrays.items()}
    physics.steps.aside(1)
    pairs = _last_pairs(physics)
    counted = are_rigid(scene, pairs) & ~are_simple(scene, shapes_of_pairs(table, pairs))
    found = _pair_overlaps(physics, counted)
    for name, array in arrays.items():
        array[...] = kept[name]
    clear_record(physics.fields.work)
    return found


def other_warnings(physics: Physics, min_depth: float) -> List[str]:
    """Return warnings of all other overlaps at the start.

    :param physics: a simulation with a world, at a reset
    :param min_depth: minimum depth of a warning [m]

    >>> from rbd_ros.simulation.start.start_overlaps import other_warnings
    >>> floor = {'objects': {'floor': {'type': 'plane'}}}
    >>> other_warnings(Simulator(robot, world=floor).physics, 0)
    []
    """
    return _worded(other_overlaps(physics), min_depth, ' at the start')


def spawn_overlap_warnings(
    physics: Physics, names: Collection[str], min_depth: float
) -> List[str]:
    """Return warnings of new objects and robots that overlap with others, by the last step.

    :param physics: a simulation with a world, of which a step has been taken
    :param names: names of the new objects and robots
    :param min_depth: minimum depth of a warning [m]

    >>> from rbd_ros.simulation.start.start_overlaps import spawn_overlap_warnings
    >>> simulator = Simulator(robot, world={'objects': {'floor': {'type': 'plane'}}})
    >>> ball = {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0}
    >>> simulator.add_object('ball', {**ball, 'xyz': [2.0, 0.0, 0.09]})
    >>> simulator.step()
    >>> spawn_overlap_warnings(simulator.physics, ['ball'], 1e-3)[0].split(';')[0]
    "'floor' and 'ball' overlap by 10.0 mm"
    """
    rigid = are_rigid(physics.model.scene, _last_pairs(physics))
    found = {
        pair: each
        for pair, each in _pair_overlaps(physics, rigid).items()
        if any(name in names or name.partition('/')[0] in names for name in pair)
    }
    return _worded(found, min_depth, '')


def unresolved_overlap_warnings(physics: Physics) -> List[str]:
    """Return warnings of overlaps in the last step that could not be separated.

    :param physics: a simulation with a world

    >>> from rbd_ros.simulation.start.start_overlaps import unresolved_overlap_warnings
    >>> world = {'objects': {'floor': {'type': 'plane'}}}
    >>> unresolved_overlap_warnings(Simulator(robot, world=world).physics)
    []
    """
    if not physics.contact_state.unresolved[: int(physics.contact_state.counts[NOW])].any():
        return []
    every = np.ones(len(_last_pairs(physics)), dtype=bool)
    found = {
        pair: each for pair, each in _pair_overlaps(physics, every).items() if each.unresolved
    }
    return _worded(found, 0.0, '')


def _last_pairs(physics: Physics) -> IntArray:
    """Return the numbers of the pairs of the contacts in the last step, (n,)."""
    state = physics.contact_state
    return state.contacts.pair[: int(state.counts[NOW])]


def _pair_overlaps(physics: Physics, counted: BoolArray) -> Dict[Tuple[str, str], PairOverlap]:
    """Return overlaps of pairs in the last step, the deepest first.

    :param counted: which contacts to include, (n,)
    """
    scene, contact_state = physics.scene, physics.contact_state
    assert scene is not None
    found: Dict[Tuple[str, str], PairOverlap] = {}
    for c in np.flatnonzero(counted).tolist():
        depth = -float(contact_state.contacts.gap[c])
        names = scene.names_of(int(contact_state.contacts.pair[c]))
        before = found.get(names, PairOverlap(depth, False))
        unresolved = before.unresolved or bool(contact_state.unresolved[c])
        found[names] = PairOverlap(max(depth, before.depth), unresolved)
    return dict(sorted(found.items(), key=lambda item: -item[1].depth))


def _worded(found: Dict[Tuple[str, str], PairOverlap], min_depth: float, when: str) -> List[str]:
    """Return the warnings of the depths of pairs, the deepest first."""
    deep = [(names, each) for names, each in found.items() if each.depth > min_depth]
    texts = [
        f'{first!r} and {second!r} overlap by {1e3 * each.depth:.1f} mm{when}; '
        + (_UNRESOLVED if each.unresolved else _RESOLVED)
        for (first, second), each in deep[:_NAMED]
    ]
    if len(deep) > _NAMED:
        texts.append(f'{len(deep) - _NAMED} more pairs overlap less deeply{when}')
    return texts
