"""What overlaps at the start of a simulation and start_overlaps.py does not find.

That is objects, and a robot in triangle meshes and height fields.
"""

from __future__ import annotations

from typing import Dict, List, Tuple, TYPE_CHECKING

from rbd_ros.collision.arrays import HEIGHT_FIELD, MESH
from rbd_ros.collision.scene_contacts import STIFFNESS
from rbd_ros.simulation.moving import RETURN_SPEED
from rbd_ros.simulation.scene.state import NOW
from rbd_ros.simulation.world import clear_record

if TYPE_CHECKING:
    from rbd_ros.simulation.world import World

#: Number of pairs that are named, the deepest first.
_NAMED = 5


def overlaps(world: World) -> Dict[Tuple[str, str], float]:
    """Depth by which rigid bodies overlap now, of each pair of names [m]; the deepest first.

    Pairs of a robot and a convex shape are left out.

    A step finds it and is taken back. Only at a reset: what is remembered of former steps is lost.

    :param world: a simulation with an environment

    >>> from rbd_ros.collision import Environment, WorldObject
    >>> from rbd_ros.model.geometry import Plane
    >>> from rbd_ros.simulation import World
    >>> from rbd_ros.simulation.object_overlaps import overlaps
    >>> overlaps(World(robot, environment=Environment((WorldObject('floor', Plane()),))))
    {}
    """
    scene, touches, plant = world.scene, world.touches, world.plant.scene
    assert scene is not None
    kinds = scene.table.kind[scene.table.pair]
    concave = ((kinds == MESH) | (kinds == HEIGHT_FIELD)).any(axis=1)
    if not plant.has_objects and not concave.any():
        return {}
    arrays = world.arrays()
    kept = {name: array.copy() for name, array in arrays.items()}
    world.steps.alone(1)
    found: Dict[Tuple[str, str], float] = {}
    for c in range(int(touches.counts[NOW])):
        pair, depth = int(touches.contacts.pair[c]), -float(touches.contacts.gap[c])
        carriers = touches.contacts.carrier[c]
        of_robot = ((carriers > 0) & (carriers < plant.first_object)).any()
        if scene.table.surface[pair, STIFFNESS] == 0.0 and (concave[pair] or not of_robot):
            names = scene.names_of(pair)
            found[names] = max(depth, found.get(names, depth))
    for name, array in arrays.items():
        array[...] = kept[name]
    clear_record(world.fields.work)
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
