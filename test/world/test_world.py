# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Worlds as data: names, allowed contacts, and properties of pairs of surfaces."""

from itertools import product
import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import solve_ivp

from rbd_ros.collision.shapes import contact_shapes as shapes
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import load_urdf
from rbd_ros.model.geometry import Box, HeightField, Plane
from rbd_ros.spatial import PluckerTransform, RigidBodyInertia
from rbd_ros.world import allowed_pairs, combine_surfaces, Surface, World, WorldObject, WorldRobot
from rbd_ros.world.surfaces import directed_by_first

BODY = RigidBodyInertia.from_mass_center(1.0, (0.0, 0.0, 0.0), np.eye(3))
CUBE = Box((0.1, 0.1, 0.1))


def world(**others):
    path = str(resource_path('urdf', 'two_link_arm.urdf'))
    model = load_urdf(path)
    arm = WorldRobot(
        'arm', path, model, surface=Surface((0.2, 0.2)), allowed_collisions=allowed_pairs(model)
    )
    objects = (
        WorldObject('floor', Plane()),
        WorldObject('table', CUBE, surface=Surface((0.9, 0.9), restitution=0.2)),
        WorldObject('cube', CUBE, inertia=BODY, surface=Surface((0.4, 0.4), restitution=0.5)),
        WorldObject('skate', CUBE, inertia=BODY, surface=Surface((0.01, 0.64), (0, 1, 0))),
    )
    return World(objects, (arm,), surface=Surface((0.5, 0.5)), **others)


LINKS = list(world()['arm'].model.links)


def test_a_world_has_its_robots_and_objects_by_name():
    env = world()
    assert env.names == ('robot', 'arm', 'floor', 'table', 'cube', 'skate')
    assert [each.name for each in env.movable] == ['cube', 'skate']
    assert env['arm'] is env.robots[0] and env['cube'] is env.objects[2]
    with pytest.raises(ValueError, match="'cub'; did you mean 'cube'"):
        env['cub']


def test_the_pose_of_an_object_is_that_of_its_frame():
    placement = PluckerTransform.rotation_z(0.5 * math.pi) * PluckerTransform.translation(
        (1, 2, 3)
    )
    pose = WorldObject('a', CUBE, placement).pose
    assert_allclose(pose @ [1.0, 0.0, 0.0, 1.0], [1.0, 3.0, 3.0, 1.0], atol=1e-15)


def test_collisions_are_allowed_as_declared():
    env = world()
    assert (
        env.can_collide('floor', 'cube')
        and env.can_collide('cube', 'skate')
        and env.can_collide('robot', 'arm')
    )
    assert env.can_collide('robot/tool0', 'table') and env.can_collide('table', f'arm/{LINKS[0]}')
    assert env.can_collide('robot/a', 'robot/b')
    assert not env.can_collide('floor', 'table') and not env.can_collide('cube', 'cube')
    for a, b in product(LINKS, LINKS):
        apart = a != b and tuple(sorted((a, b))) not in env['arm'].allowed_collisions
        assert env.can_collide(f'arm/{a}', f'arm/{b}') == apart


def test_ignored_pairs_do_not_touch_with_any_link():
    env = world(disabled_collisions=frozenset({('cube', 'robot'), (f'arm/{LINKS[1]}', 'floor')}))
    assert not env.can_collide('cube', 'robot/tool0') and not env.can_collide('robot', 'cube')
    assert env.can_collide('skate', 'robot/tool0')
    assert not env.can_collide('floor', f'arm/{LINKS[1]}') and env.can_collide(
        'floor', f'arm/{LINKS[0]}'
    )
    assert env.can_collide('floor', 'arm')
    alone = world(disabled_collisions=frozenset({('arm', 'arm')}))
    assert not any(alone.can_collide(f'arm/{a}', f'arm/{b}') for a, b in product(LINKS, LINKS))


def test_surfaces_of_pairs_without_an_entry_are_combined():
    pair = world().surface_between('cube', 'table')
    assert_allclose(pair.surface.friction, (0.6, 0.6))
    assert pair.surface.restitution == 0.5
    assert_allclose(world().surface_between('robot/tool0', 'arm').surface.friction, 0.1**0.5)


def test_the_closest_entry_counts_whichever_way_it_is_written():
    near, far, other = (Surface((mu, mu)) for mu in (0.11, 0.22, 0.33))
    pairs = {('robot/tool0', 'cube'): near, ('cube', 'robot'): far, ('table', 'cube'): other}
    env = world(pairs=pairs)
    for first, second, expected, by in [
        ('robot/tool0', 'cube', near, 'robot/tool0'),
        ('cube', 'robot/tool0', near, 'robot/tool0'),
        ('cube', 'robot/link', far, 'cube'),
        ('robot/link', 'cube', far, 'cube'),
        ('robot', 'cube', far, 'cube'),
        ('cube', 'table', other, 'table'),
    ]:
        assert env.surface_between(first, second) == (expected, by)
    assert env.surface_between('robot', 'table').surface not in (near, far, other)


def test_directions_of_links_of_one_robot_are_those_of_the_one_named_first():
    first, second = (f'arm/{LINKS[k]}' for k in (0, 1))
    env = world(pairs={('arm', second): Surface((0.5, 0.1))})
    assert env.surface_between(first, second).directed_by == first
    assert env.surface_between(second, first).directed_by == first


def test_combination_does_not_depend_on_the_order(rng):
    for _ in range(50):
        a, b = (
            Surface(
                tuple(rng.uniform(0.0, 2.0, 2)),
                tuple(rng.normal(size=3)),
                *rng.uniform(0.0, 1.0, 3),
                stiffness=[None, 10.0 ** rng.uniform(-3, 8)][rng.integers(2)],
            )
            for _ in range(2)
        )
        assert combine_surfaces(a, b) == combine_surfaces(b, a)
        assert directed_by_first(a, b) != directed_by_first(b, a)
        pair = combine_surfaces(a, b)
        assert pair.restitution == max(a.restitution, b.restitution)
        assert pair.rolling == max(a.rolling, b.rolling)
        assert pair.torsional == max(a.torsional, b.torsional)
        product_of_all = a.friction[0] * a.friction[1] * b.friction[0] * b.friction[1]
        assert_allclose((pair.friction[0] * pair.friction[1]) ** 2, product_of_all)


def test_combination_of_equals_changes_nothing():
    surface = Surface((0.7, 0.7), (0.0, 1.0, 0.0), 0.01, 0.02, 0.3)
    assert combine_surfaces(surface, surface) == surface


def test_directions_are_those_of_the_surface_that_depends_on_them_more():
    belt, steel = Surface((0.9, 0.1), (0.0, 1.0, 0.0)), Surface((0.5, 0.5), (0.0, 0.0, 1.0))
    assert_allclose(combine_surfaces(steel, belt).friction, np.sqrt([0.45, 0.05]))
    assert combine_surfaces(steel, belt).direction == belt.direction
    ice, brushed = Surface((0.0, 0.5)), Surface((0.4, 0.1))
    assert_allclose(combine_surfaces(brushed, ice).friction, (0.0, 0.1**0.5))
    slightly = Surface((0.5, 0.4), (0.0, 1.0, 0.0))
    assert directed_by_first(slightly, steel) and not directed_by_first(steel, slightly)
    assert (slightly.anisotropy, steel.anisotropy, ice.anisotropy) == (1.25, 1.0, math.inf)
    assert directed_by_first(ice, brushed) and not directed_by_first(brushed, ice)


def test_springs_and_dampers_are_in_series():
    a, b = Surface(stiffness=3e4, damping=30.0), Surface(stiffness=6e4, damping=60.0)
    assert_allclose(combine_surfaces(a, b).stiffness, 2e4)
    assert_allclose(combine_surfaces(a, b).damping, 20.0)
    assert (
        combine_surfaces(a, Surface()).stiffness == combine_surfaces(Surface(), a).stiffness == 3e4
    )
    assert combine_surfaces(a, Surface()).damping == combine_surfaces(Surface(), a).damping == 30.0
    assert combine_surfaces(a, Surface(stiffness=1.0)).damping == 0.0
    assert combine_surfaces(a, b).exponent is None


@pytest.mark.parametrize('n', [1.0, 1.5, 3.0])
def test_springs_of_one_exponent_are_in_series(n, rng):
    """Depths add up where forces are equal; where both share alike at all speeds, exactly."""
    for _ in range(20):
        (K_1, K_2), d = 10 ** rng.uniform(2, 9, 2), 10 ** rng.uniform(-5, -1)
        share = 1.0 / (1.0 + (K_1 / K_2) ** (1.0 / n))
        slow, rate = rng.uniform(0.0, 3.0), rng.uniform(-0.3, 1.0)
        a = Surface(stiffness=K_1, exponent=n, dissipation=slow / share)
        b = Surface(stiffness=K_2, exponent=n, dissipation=slow / (1.0 - share))
        pair = combine_surfaces(a, b)
        assert combine_surfaces(b, a) == pair and pair.exponent == n
        force = K_1 * (share * d) ** n * (1.0 + a.dissipation * share * rate)
        other = K_2 * ((1.0 - share) * d) ** n * (1.0 + b.dissipation * (1.0 - share) * rate)
        assert_allclose(force, other)
        assert_allclose(pair.stiffness * d**n * (1.0 + pair.dissipation * rate), force)
        assert combine_surfaces(a, Surface()) == combine_surfaces(Surface(), a) == a


@pytest.mark.parametrize('n, K_1, K_2', [(1.5, 2e5, 5e5), (2.0, 1e6, 3e5)])
def test_dissipation_in_series_is_the_sum_of_both(n, K_1, K_2):
    """Pressed to and fro slowly, one surface on another that loses nothing."""
    c, deep, swing = 1.0, 0.01, 0.004
    pair = combine_surfaces(
        Surface(stiffness=K_1, exponent=n, dissipation=c), Surface(stiffness=K_2, exponent=n)
    )

    def rates(time, state):
        d, rate = deep + swing * math.sin(time), swing * math.cos(time)
        force = K_2 * (d - state[0]) ** n
        own = (force / (K_1 * state[0] ** n) - 1.0) / c
        return [own, force * rate, pair.stiffness * d**n * pair.dissipation * rate**2]

    start = deep / (1.0 + (K_1 / K_2) ** (1.0 / n))
    cycle = 2.0 * math.pi
    options = {'method': 'Radau', 'rtol': 1e-7, 'atol': 1e-11, 't_eval': [cycle, 2.0 * cycle]}
    found = solve_ivp(rates, (0.0, 2.0 * cycle), [start, 0.0, 0.0], **options)
    _, both, expected = found.y[:, 1] - found.y[:, 0]
    assert_allclose(both, expected, rtol=0.01)


def test_springs_of_different_laws_are_not_combined():
    hertz, linear = Surface(stiffness=1e6, exponent=1.5), Surface(stiffness=1e4)
    with pytest.raises(
        ValueError, match='linear and of exponent 1.5, cannot be combined in series'
    ):
        combine_surfaces(linear, hertz)
    with pytest.raises(ValueError, match='exponent 1.5 and of exponent 2, .* its own compliance'):
        combine_surfaces(hertz, Surface(stiffness=1e6, exponent=2.0))
    soft = (
        WorldObject('a', CUBE, surface=hertz, inertia=BODY),
        WorldObject('b', CUBE, surface=linear, inertia=BODY),
    )
    with pytest.raises(ValueError, match="'a' and 'b' touch: their springs, .* cannot"):
        World(soft).surface_between('a', 'b')
    own = World(soft, pairs={('b', 'a'): linear}).surface_between('a', 'b')
    assert own.surface == linear


@pytest.mark.parametrize(
    'values, problem',
    [
        ({'friction': (0.5, -0.1)}, 'friction must be finite and not negative'),
        ({'friction': (math.inf, 0.1)}, 'friction, the larger'),
        ({'friction': (0.5,)}, 'two numbers'),
        ({'rolling': -1.0}, 'rolling'),
        ({'torsional': math.nan}, 'torsional'),
        ({'restitution': 1.5}, 'at most 1'),
        ({'stiffness': 0.0}, 'stiffness must be positive'),
        ({'stiffness': math.inf}, 'stiffness must be positive'),
        ({'damping': 1.0}, 'damping needs stiffness'),
        ({'exponent': 1.5}, 'exponent and dissipation need stiffness'),
        ({'dissipation': 0.1}, 'exponent and dissipation need stiffness'),
        ({'stiffness': 1e6, 'exponent': 0.9}, 'exponent must be from 1 to 10, got 0.9'),
        ({'stiffness': 1e6, 'exponent': math.nan}, 'exponent must be from 1 to 10, got nan'),
        ({'stiffness': 1e6, 'exponent': 11.0}, 'exponent must be from 1 to 10'),
        ({'stiffness': 1e6, 'dissipation': -0.1}, 'dissipation must be finite and not neg'),
        ({'stiffness': 1e6, 'dissipation': math.nan}, 'dissipation must be finite'),
        ({'stiffness': 1e6, 'damping': 1.0, 'exponent': 1.5}, 'damping applies to a linear'),
        ({'stiffness': 1e6, 'damping': 1.0, 'dissipation': 0.1}, 'damping applies to a linear'),
    ],
)
def test_impossible_surfaces_are_rejected(values, problem):
    with pytest.raises(ValueError, match=problem):
        Surface(**values)


def test_bodies_without_mass_or_volume_are_rejected_by_name():
    with pytest.raises(ValueError, match="'ghost' is movable and has the mass 0 kg"):
        WorldObject('ghost', CUBE, inertia=RigidBodyInertia.zero())
    for moment in (0.0, 1e-200, math.nan, math.inf):
        thin = RigidBodyInertia.from_mass_center(1.0, (0.0, 0.0, 0.0), np.diag([1.0, 1.0, moment]))
        with pytest.raises(ValueError, match="'needle' is movable, and a principal moment"):
            WorldObject('needle', CUBE, inertia=thin)
    with pytest.raises(ValueError, match=r"'cube' is a rbd_ros\.collision\.\S+\.Box; use one of"):
        WorldObject('cube', shapes.Box((1.0, 1.0, 1.0)))
    for shape in (Plane(), HeightField((1.0, 1.0), np.zeros((2, 2)))):
        with pytest.raises(ValueError, match="'ground' has no bounded volume"):
            WorldObject('ground', shape, inertia=BODY)


@pytest.mark.parametrize(
    'pair, problem',
    [
        (('cube', 'tabel'), "'tabel'; did you mean 'table'"),
        (('cube/lid', 'table'), "'cube' is an object without link 'lid'"),
        (('arm/nothing', 'table'), "unknown link of 'arm' 'nothing'"),
        (('robot/', 'table'), 'does not name a link after the slash'),
    ],
)
def test_pairs_of_unknown_names_are_rejected(pair, problem):
    for arguments in ({'pairs': {pair: Surface()}}, {'disabled_collisions': frozenset({pair})}):
        with pytest.raises(ValueError, match=problem):
            world(**arguments)
    with pytest.raises(ValueError, match=problem):
        world().can_collide(*pair)
    with pytest.raises(ValueError, match=problem):
        world().surface_between(*pair[::-1])


@pytest.mark.parametrize('name', ['floor', 'robot', 'a/b', ''])
def test_names_are_unique_and_plain(name):
    with pytest.raises(ValueError, match='named|not a valid name'):
        World((WorldObject('floor', Plane()), WorldObject(name, CUBE)))


def test_height_fields_are_equal_by_their_content():
    a = HeightField((1.0, 2.0), np.zeros((2, 3)))
    same, higher = (
        HeightField((1.0, 2.0), np.zeros((2, 3))),
        HeightField((1.0, 2.0), np.ones((2, 3))),
    )
    assert a == same and hash(a) == hash(same)
    assert a != higher and a != HeightField((2.0, 1.0), a.heights) and a != 'field'
