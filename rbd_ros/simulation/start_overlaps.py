"""What overlaps where a simulation in a world begins."""

from __future__ import annotations

from typing import Dict, List, Tuple, TYPE_CHECKING

from rbd_ros.collision.scene_contacts import STIFFNESS
from rbd_ros.simulation.moving import RETURN_SPEED
from rbd_ros.simulation.scene_state import NOW

if TYPE_CHECKING:
    from rbd_ros.simulation.world import World

#: Number of pairs that are named, the deepest first.
_NAMED = 5


def overlaps(world: World) -> Dict[Tuple[str, str], float]:
    """Depth by which rigid bodies overlap now, of each pair of names [m]; the deepest first.

    A step finds it and is taken back.

    :param world: a simulation with an environment

    >>> from rbd_ros.collision import Environment, WorldObject
    >>> from rbd_ros.model.geometry import Plane
    >>> from rbd_ros.simulation import World
    >>> from rbd_ros.simulation.start_overlaps import overlaps
    >>> overlaps(World(robot, environment=Environment((WorldObject('floor', Plane()),))))
    {}
    """
    scene, touches = world.scene, world.touches
    assert scene is not None
    arrays = world.arrays()
    kept = {name: array.copy() for name, array in arrays.items()}
    world.steps.alone(1)
    found: Dict[Tuple[str, str], float] = {}
    for c in range(int(touches.counts[NOW])):
        pair, depth = int(touches.contacts.pair[c]), -float(touches.contacts.gap[c])
        if scene.table.surface[pair, STIFFNESS] == 0.0:
            names = scene.names_of(pair)
            found[names] = max(depth, found.get(names, depth))
    for name, array in arrays.items():
        array[...] = kept[name]
    world.forget_near_pairs()
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def overlap_warnings(world: World, worth: float) -> List[str]:
    """What to say of bodies that overlap at the start.

    :param world: a simulation with an environment
    :param worth: depth that is worth a warning [m]
    """
    deep = [(names, depth) for names, depth in overlaps(world).items() if depth > worth]
    found = [
        f'{first!r} and {second!r} overlap by {1e3 * depth:.1f} mm at the start; they are moved '
        f'apart slowly, by at most {RETURN_SPEED:g} m/s'
        for (first, second), depth in deep[:_NAMED]
    ]
    if len(deep) > _NAMED:
        found.append(f'{len(deep) - _NAMED} more pairs overlap less deeply at the start')
    return found
