# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Broad phase of many objects: the grid finds the same pairs as a list of all pairs."""

import numpy as np
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.collision.scene import scene as scenes
from rbd_ros.collision.scene.near_pairs import find_object_pairs, list_object_pairs, SKIN
from rbd_ros.collision.scene.scene import make_scene
from rbd_ros.collision.scene.scene_arrays import (
    buffer_sizes,
    NEAR_PER_OBJECT,
    pairs_of_shapes,
    SceneBuffers,
    shapes_of,
    shapes_of_pairs,
    surface_of,
)
from rbd_ros.collision.scene.scene_bounds import clearance, MARGIN, place_shape
from rbd_ros.compiler.loops import allocate
from rbd_ros.world import read_world

EMPTY = Robot.from_urdf('<robot name="n"><link name="w"/></robot>').model


def objects(count, spread, sizes=(0.05, 0.05), seed=0):
    """Return spheres at random places, the first of them in the world's middle."""
    rng = np.random.default_rng(seed)
    return {
        f'ball{k}': {
            'type': 'sphere',
            'radius': float(np.exp(rng.uniform(*np.log(sizes)))),
            'static': False,
            'mass': 1.0,
            'xyz': rng.uniform(-spread, spread, 3).tolist() if k else [0.0, 0.0, 0.0],
        }
        for k in range(count)
    }


def block(count, spacing=0.099):
    """Return boxes of 0.1 m in a block on the floor."""
    side = int(np.ceil(count ** (1.0 / 3.0) - 1e-9))
    made = {'floor': {'type': 'plane'}}
    for k in range(count):
        place = [k % side, k // side % side, k // side**2]
        xyz = [spacing * each for each in place]
        xyz[2] += 0.05
        made[f'box{k}'] = {
            'type': 'box', 'size': [0.1, 0.1, 0.1], 'static': False, 'mass': 1.0, 'xyz': xyz,
        }  # fmt: skip
    return {'objects': made}


def placed(scene):
    """Return buffers with all shapes where the world has them."""
    sizes = {'scene_bodies': scene.body_count, 'contacts': 1, **buffer_sizes(scene.table)}
    buffers = allocate(SceneBuffers, **sizes)
    buffers.pose[:, [0, 4, 8]] = 1.0
    for o, each in enumerate(scene.objects):
        pose = each.pose
        buffers.pose[1 + o] = [*pose[:3, :3].ravel(), *pose[:3, 3]]
    for g in range(len(scene.shapes)):
        place_shape(scene.table, buffers, g)
    return buffers


def near_ones(scene, buffers, skin):
    """Return the numbers of all pairs of objects that are near, one by one."""
    count, found = len(scene.shapes), []
    for a in range(count):
        for b in range(a + 1, count):
            if scene.table.material[a] >= 0 and scene.table.material[b] >= 0:
                if clearance(scene.table, buffers, a, b) - MARGIN <= skin:
                    found.append(a * count + b)
    return sorted(set(found) - set(scene.table.excluded.tolist()))


@pytest.mark.parametrize('sizes', [(0.05, 0.05), (0.02, 0.8)])
def test_the_grid_finds_the_pairs_that_are_near(sizes):
    scene = make_scene(EMPTY, read_world({'objects': objects(90, 0.3, sizes)}))
    assert len(scene.table.pair) == 0 and scene.table.has_object_pairs
    buffers = placed(scene)
    expected = near_ones(scene, buffers, SKIN)
    assert list_object_pairs(scene.table, buffers, SKIN, 0.0) == SKIN
    count = int(buffers.object_pairs[0])
    assert buffers.object_pair[:count].tolist() == expected and count > 50
    assert buffers.unlisted[0] == 0


def test_pairs_that_a_world_names_are_listed_or_excluded():
    world = {
        'objects': objects(70, 0.1),
        'pairs': [{'links': ['ball3', 'ball1'], 'friction': 0.1}],
        'disable_collisions': [['ball2', 'ball9']],
    }
    scene = make_scene(EMPTY, read_world(world))
    assert scene.table.pair.tolist() == [[1, 3]] and scene.table.surface[0, 0] == 0.1
    assert scene.table.excluded.tolist() == [70 + 3, 2 * 70 + 9]
    buffers = placed(scene)
    list_object_pairs(scene.table, buffers, SKIN, SKIN)
    found = buffers.object_pair[: int(buffers.object_pairs[0])].tolist()
    assert found == near_ones(scene, buffers, SKIN) and 2 * 70 + 8 in found
    assert not {70 + 3, 2 * 70 + 9} & set(found)


def test_materials_have_the_surfaces_of_their_pairs():
    made = objects(70, 1.0)
    made['ball4']['surface'] = {'friction': [0.2, 0.6], 'direction': [0.0, 1.0, 0.0]}
    world = read_world({'objects': made})
    table = make_scene(EMPTY, world).table
    for a, b, side in ((0, 1, None), (2, 4, 1), (4, 9, 0)):
        pair = len(table.pair) + a * 70 + b
        assert shapes_of(table, pair) == (a, b)
        row = surface_of(table, pair)
        between = world.surface_between(f'ball{a}', f'ball{b}')
        assert tuple(table.surface[row, :2]) == between.surface.friction
        if side is not None:
            assert table.directed_by[row] == side and table.direction[row].tolist() == [0, 1, 0]
    # No two shapes are both of the single ball's surface.
    material = table.material[4]
    assert table.meeting[material, material] == -1 and (table.meeting >= 0).sum() == 3


def test_numbers_of_pairs_and_their_shapes_correspond():
    world = {**block(70), 'pairs': [{'links': ['box3', 'box1'], 'friction': 0.1}]}
    table = make_scene(EMPTY, read_world(world)).table
    pairs = np.array([0, 5, len(table.pair) + 71 * 2 + 9, len(table.pair) - 1])
    shapes = shapes_of_pairs(table, pairs)
    assert shapes.tolist() == [list(shapes_of(table, pair)) for pair in pairs.tolist()]
    assert pairs_of_shapes(table, shapes).tolist() == pairs.tolist()
    assert pairs_of_shapes(table, np.array([[9, 2], [-1, 3], [-1, -1]])).tolist() == [-1, -1, -1]
    assert pairs_of_shapes(table, np.array([[2, 4]])) == [np.flatnonzero(table.pair[:, 0] == 2)[0]]


def test_steps_are_bitwise_those_of_listed_pairs(monkeypatch):
    states = []
    for few in (64, 1000):
        monkeypatch.setattr(scenes, 'FEW_OBJECTS', few)
        simulator = Simulator(None, world=block(70, 0.11))
        assert simulator.physics.model.scene.table.has_object_pairs == (few == 64)
        for o in range(70):
            simulator.physics.objects.velocity[o] = np.sin([o, 2 * o, 3 * o])
        simulator.step(None, 60)
        assert simulator.status.contacts > 70
        states.append([array.copy() for array in simulator.physics.objects])
    assert all(np.array_equal(a, b) for a, b in zip(*states))


def test_a_restored_simulation_finds_the_same_contacts():
    simulator = Simulator(None, world=block(70, 0.1))
    simulator.step(None, 20)
    start, ends = simulator.snapshot(), []
    for _ in range(2):
        simulator.restore(start)
        simulator.step(None, 20)
        ends.append(simulator.physics.objects.position.copy())
    assert np.array_equal(*ends)


def test_where_objects_crowd_less_distance_counts_as_near():
    count = 66
    scene = make_scene(EMPTY, read_world({'objects': objects(count, 0.2)}))
    buffers = placed(scene)
    assert find_object_pairs(scene.table, buffers, 1.0) == count * (count - 1) // 2
    assert list_object_pairs(scene.table, buffers, 1.0, 0.01) < 1.0
    listed = int(buffers.object_pairs[0])
    assert listed <= NEAR_PER_OBJECT * count and buffers.unlisted[0] == 0


def test_pairs_without_room_are_counted():
    count = 130
    made = {name: {**each, 'xyz': [0, 0, 0]} for name, each in objects(count, 1.0).items()}
    simulator = Simulator(None, world={'objects': made})
    simulator.step()
    every = count * (count - 1) // 2
    missing = every - NEAR_PER_OBJECT * count
    assert missing > 0 and simulator.status.contacts_truncated >= missing


def numbers_in(record):
    """Return how many numbers the arrays of a record have."""
    return sum(
        numbers_in(each) if isinstance(each, tuple) else int(np.size(each))
        for each in record
        if not callable(each)
    )


def test_tables_and_buffers_grow_with_objects_and_not_with_their_pairs():
    sizes = []
    for count in (100, 200, 400):
        scene = make_scene(EMPTY, read_world(block(count)))
        assert len(scene.table.pair) == count  # each with the floor
        buffers = placed(scene)
        list_object_pairs(scene.table, buffers, SKIN, SKIN)
        sizes.append([numbers_in(scene.table), numbers_in(buffers)])
    first, second, third = np.array(sizes)
    # Linear: twice as many more from 200 to 400 as from 100 to 200; a hash is a power of two.
    assert (third - second <= 2.1 * (second - first)).all()


def test_contacts_stay_in_a_world_with_more_objects():
    simulator = Simulator(None, world=block(64, 0.1))
    simulator.step(None, 5)
    before = simulator.physics.contact_state
    count = int(before.counts[0])
    names = [simulator.physics.scene.names_of(int(p)) for p in before.contacts.pair[:count]]
    simulator.add_object('ball', {**objects(1, 1.0)['ball0'], 'xyz': [9.0, 9.0, 9.0]})
    assert simulator.physics.model.scene.table.has_object_pairs
    after = simulator.physics.contact_state
    assert int(after.counts[0]) == count
    later = [simulator.physics.scene.names_of(int(p)) for p in after.contacts.pair[:count]]
    assert later == names
    simulator.remove_object('ball')
    kept = simulator.physics.contact_state
    names_now = [simulator.physics.scene.names_of(int(p)) for p in kept.contacts.pair[:count]]
    assert names_now == names and int(kept.counts[0]) == count


def towers(count):
    """Return a world of towers of four boxes that stand apart from each other."""
    made = {'floor': {'type': 'plane'}}
    for k in range(4 * count):
        tower, level = divmod(k, 4)
        place = [0.3 * (tower % 30), 0.3 * (tower // 30), 0.04999 + 0.09998 * level]
        made[f'box{k}'] = {
            'type': 'box', 'size': [0.1, 0.1, 0.1], 'static': False, 'mass': 1.0, 'xyz': place,
        }  # fmt: skip
    return {'objects': made}


def test_ten_thousand_contacts_have_room():
    simulator = Simulator(None, world=towers(630))
    simulator.step(None, 2)
    assert int(simulator.physics.contact_state.counts[0]) == 16 * 630 > 10_000
    assert simulator.status.contacts_truncated == simulator.status.unconverged_steps == 0


def test_records_of_a_simulation_grow_with_objects_and_not_with_their_pairs():
    # From where the matrix of bodies has its maximum size.
    sizes = [numbers_in(Simulator(None, world=towers(k)).physics.fields) for k in (150, 225, 300)]
    # Hashes of 1200 and 2048 places, and 4096, are powers of two.
    assert sizes[2] - sizes[1] == pytest.approx(sizes[1] - sizes[0], rel=0.01)
