# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`Simulator(robot, ground=True)`: rigid ground, as a world of one plane."""

import numpy as np
import pytest
from support.simulated_robots import ball, collision, GRAVITY, joint, link, robot

from rbd_ros import Simulator
from rbd_ros.contact import ContactParameters, HalfSpace
from rbd_ros.simulation import Physics
from rbd_ros.simulation.simulated_objects import ContactPoint
from rbd_ros.simulation.start import robot_overlaps
from rbd_ros.simulation.start.robot_overlaps import deepest_overlap, Overlap
from rbd_ros.world import level_ground, read_world, Surface

CART, FOOT, MU, H = 1.0, 2.0, 0.3, 1e-3
LYING = np.array([0.0, 0.05])


def gantry():
    """Return the cart on a rail along x.

    And a foot of half a height of 5 cm that goes up and down on it.
    """
    return robot(
        link('base'),
        link('cart', CART, (0.01,) * 3, shape=collision('sphere radius="0.01"', (0, 0, 2))),
        link('foot', FOOT, (0.01,) * 3, shape=collision('box size="0.2 0.2 0.1"')),
        *(
            joint(name, parent, child, 'prismatic', axis, inside=limit)
            for name, parent, child, axis, limit in (
                (
                    'rail',
                    'base',
                    'cart',
                    (1, 0, 0),
                    '<limit effort="99" velocity="99" lower="-9" upper="9"/>',
                ),
                (
                    'lift',
                    'cart',
                    'foot',
                    (0, 0, 1),
                    '<limit effort="99" velocity="99" lower="-9" upper="9"/>',
                ),
            )
        ),
    )


@pytest.fixture(scope='module')
def simulator():
    return Simulator(gantry(), H, ground=True, contact=ContactParameters(friction=MU))


def test_it_is_a_world_of_one_plane_bitwise(simulator):
    world = {
        'defaults': {'surface': {'friction': MU}},
        'objects': {'ground': {'type': 'plane'}},
    }
    other = Simulator(gantry(), H, world=world)
    for each in (simulator, other):
        each.reset([0.0, 0.06], [1.0, 0.0])
        each.step([0.1, 0.2], n=200)
    assert simulator.ground is None and simulator.world.names == ('robot', 'ground')
    assert simulator.status == other.status and simulator.status.contacts == 4
    assert np.array_equal(simulator.q, other.q) and np.array_equal(simulator.v, other.v)
    assert simulator.residuals == other.residuals
    assert [c.force.tolist() for c in simulator.contacts] == [
        c.force.tolist() for c in other.contacts
    ]


def test_nothing_gives_way_and_friction_is_as_given(simulator):
    simulator.reset(LYING, [1.0, 0.0])
    simulator.step(n=100)
    slowing = MU * FOOT * GRAVITY / (CART + FOOT)
    assert simulator.v == pytest.approx([1.0 - 0.1 * slowing, 0.0], abs=1e-10)
    assert simulator.q[1] == pytest.approx(0.05, abs=1e-10)
    assert simulator.residuals.contact < 1e-10
    assert all(isinstance(each, ContactPoint) for each in simulator.contacts)
    assert {(each.first, each.second) for each in simulator.contacts} == {('robot/foot', 'ground')}
    force = sum(each.force for each in simulator.contacts)  # on the ground
    assert force == pytest.approx([MU * FOOT * GRAVITY, 0.0, -FOOT * GRAVITY], abs=1e-8)
    simulator.step(n=1000)
    assert simulator.v == pytest.approx([0.0, 0.0], abs=1e-12)  # it sticks


def test_a_start_in_the_ground_is_reported(simulator):
    simulator.reset(LYING - (0.0, 0.004))
    (warning,) = simulator.warnings
    assert warning.startswith("'robot/foot' starts 4.0 mm deep in 'ground' and is moved out")
    assert 'contact_links' in warning
    simulator.step(n=100)
    assert simulator.q[1] == pytest.approx(0.05, abs=1e-4)
    assert len(simulator.warnings) == 1  # that of the start
    simulator.reset(LYING - (0.0, 0.001))
    assert simulator.warnings == ()


def test_the_deepest_of_several_overlaps_is_reported(simulator, monkeypatch):
    several = Overlap('robot/foot', 'step', 0.15, 3)
    monkeypatch.setattr(robot_overlaps, 'deepest_overlap', lambda *rest: several)
    simulator.reset(LYING)
    (warning,) = simulator.warnings
    assert "'robot/foot' starts 150.0 mm deep in 'step', the deepest of 3 pairs and" in warning


@pytest.mark.parametrize(
    'surface, shape, found',
    [
        ({}, {'type': 'sphere', 'radius': 0.07}, ('robot/foot', 'thing', 0.02)),
        ({}, {'type': 'sphere', 'radius': 0.051}, None),  # not deep
        ({'compliance': {'stiffness': 1e4}}, {'type': 'sphere', 'radius': 0.07}, None),
        ({}, {'type': 'height_field', 'size': [1, 1], 'heights': [[0.2, 0.2]] * 2}, None),
        (
            {},
            {'type': 'sphere', 'radius': 0.07, 'static': False, 'mass': 1.0},
            ('robot/foot', 'thing', 0.02),
        ),
    ],
)
def test_overlaps_of_a_robot_with_rigid_things(surface, shape, found):
    thing = {**shape, 'xyz': [0.0, 0.0, -0.1], 'surface': surface}
    near = {'type': 'plane', 'xyz': [0, 0, -0.052]}  # that of the foot is 2 mm higher
    world = read_world({'objects': {'thing': thing, 'near': near}})
    physics = Physics(gantry(), H, world=world)
    overlap = deepest_overlap(physics.scene, physics.model, np.zeros(2), 2e-3)
    if found is None:
        assert overlap is None
    else:
        assert overlap[:2] == found[:2] and overlap.pairs == 1
        assert overlap.depth == pytest.approx(found[2], abs=1e-12)


def test_the_deepest_overlap_of_a_robot_is_found():
    sphere = {'type': 'sphere', 'radius': 0.07, 'xyz': [0.0, 0.0, -0.1]}
    soft = {**sphere, 'surface': {'compliance': {'stiffness': 1e4}}}
    plane = {'type': 'plane', 'xyz': [0, 0, -0.04]}
    world = read_world({'objects': {'soft': soft, 'thing': sphere, 'floor': plane}})
    physics = Physics(gantry(), H, world=world)
    overlap = deepest_overlap(physics.scene, physics.model, np.zeros(2), 2e-3)
    assert overlap == ('robot/foot', 'thing', pytest.approx(0.02), 2)


def test_steps_above_it_are_differentiated_and_those_on_it_are_not(simulator):
    free = Simulator(gantry(), H)
    for each in (simulator, free):
        each.reset([0.0, 1.0], [0.3, -0.2])
    above, alone = simulator.step_derivatives([1.0, 2.0]), free.step_derivatives([1.0, 2.0])
    assert all(np.array_equal(a, b) for a, b in zip(above, alone))
    simulator.reset(LYING)
    with pytest.raises(ValueError, match='not smooth'):
        simulator.step_derivatives()


def test_rollouts_touch_it(simulator):
    motions = simulator.rollout([[0.0, 0.06], [0.0, 1.0]], steps=150)
    simulator.reset([0.0, 0.06])
    simulator.step(n=150)
    assert np.array_equal(motions.q[0, -1], simulator.q)
    assert motions.q[0, -1, 1] == pytest.approx(0.05, abs=1e-6)
    assert motions.q[1, -1, 1] > 0.8


def test_links_that_are_not_named_do_not_touch_it():
    world = level_ground(gantry().model, 0.5, 0.6, ['foot'])
    assert world.can_collide('robot/foot', 'ground') and not world.can_collide(
        'robot/cart', 'ground'
    )
    assert world.can_collide('robot/foot', 'robot/base')
    assert world['ground'].pose[2, 3] == 0.5
    assert world.surface_between('robot/foot', 'ground').surface == Surface((0.6, 0.6))
    everything = level_ground(gantry().model)
    assert everything.can_collide('robot/cart', 'ground') and not everything.disabled_collisions


def test_gravity_is_that_of_the_robot():
    moon = gantry().model.with_gravity((0.0, 0.0, -1.62))
    assert level_ground(moon).gravity == (0.0, 0.0, -1.62)


@pytest.mark.parametrize(
    'options, message',
    [
        ({'contact': ContactParameters(stiffness=1e4)}, r'compliant.*use ground=HalfSpace\(\)'),
        ({'contact': ContactParameters(damping=1.0)}, r'compliant.*use ground=HalfSpace\(\)'),
        ({'contact_links': ['foto']}, "unknown link 'foto'; did you mean 'foot'"),
        ({'world': {}}, 'ground does not apply to a world'),
        (
            {'ground': None, 'world': {}, 'contact': ContactParameters()},
            'which has its own surfaces',
        ),
        ({'ground': None, 'world': {}, 'contact_links': ['foot']}, '`disable_collisions`'),
        ({'ground': 1}, 'None, True or a HalfSpace'),
    ],
)
def test_incompatible_options_are_rejected_with_the_cure(options, message):
    with pytest.raises(ValueError, match=message):
        Simulator(gantry(), **{'ground': True, **options})


def test_a_half_space_is_compliant_as_before():
    soft = ContactParameters(stiffness=1e4, damping=1e2)
    simulator = Simulator(ball(), H, ground=HalfSpace(), contact=soft)
    assert simulator.world is None and simulator.ground == HalfSpace()
    simulator.reset([1, 0, 0, 0, 0, 0, 0.1])
    simulator.step(n=1000)
    assert simulator.q[6] == pytest.approx(0.1 - GRAVITY / 1e4, abs=1e-9)
