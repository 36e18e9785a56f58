# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Objects that enter and leave a simulated world, while the other motions continue."""

import numpy as np
import pytest
from support.simulated_robots import ball

from rbd_ros import Robot, Simulator
from rbd_ros.world import extend_world, World, WorldFileError

BALL = {'type': 'sphere', 'radius': 0.1, 'static': False, 'mass': 1.0}
WORLD = {
    'defaults': {'surface': {'friction': 0.5}},
    'objects': {
        'floor': {'type': 'plane'},
        # The only one with separate machine code, with the slider.
        'post': {'type': 'cylinder', 'radius': 0.1, 'length': 1.0, 'xyz': [20, 0, 0.5]},
        'shelf': {'type': 'box', 'size': [1, 1, 0.1], 'xyz': [0, 5, 1]},
        'slider': {
            'type': 'box',
            'size': [0.2, 0.2, 0.2],
            'xyz': [0, -3, 0.1],
            'static': False,
            'mass': 2.0,
            'velocity': {'linear': [3, 0, 0]},
        },
        'roller': {**BALL, 'xyz': [0, 2, 0.1], 'velocity': {'linear': [0, 1, 0]}},
        'lying': {**BALL, 'xyz': [0, 5, 1.15]},
    },
    'pairs': [{'links': ['slider', 'floor'], 'friction': 0.3}],
    'disable_collisions': [['roller', 'shelf']],
}


@pytest.fixture
def simulator():
    made = Simulator(Robot.from_urdf('urdf/two_link_arm.urdf'), world=WORLD)
    made.reset(v=[0.3, -0.2])
    made.step(n=100)
    return made


def everything(simulator):
    """Return the state of robot and objects, and forces by pair."""
    objects = {
        name: (simulator.object_pose(name), simulator.object_velocity(name))
        for name in ('slider', 'roller', 'lying')
    }
    forces = [(c.first, c.second, *c.position, *c.force) for c in simulator.contacts]
    return simulator.time, simulator.q, simulator.v, objects, forces, simulator.residuals


def assert_same(a, b):
    """Check that the two are bitwise identical."""
    np.testing.assert_equal(a, b)


def test_the_motion_of_the_rest_is_not_changed_by_a_bit(simulator):
    untouched = Simulator(simulator.robot, world=WORLD)
    untouched.reset(v=[0.3, -0.2])
    untouched.step(n=100)
    before = everything(simulator)
    simulator.add_object('far', {**BALL, 'xyz': [50, 0, 10]})
    assert_same(everything(simulator), before)
    for change in (lambda: None, lambda: simulator.remove_object('far')):
        change()
        for each in (simulator, untouched):
            each.step([1.0, 0.5], n=100)
        assert_same(everything(simulator), everything(untouched))
    assert len(simulator.contacts) > 3
    assert simulator.status == untouched.status


def test_contacts_of_other_objects_continue_when_an_object_is_removed(simulator):
    """Numbers of objects, bodies, shapes and pairs are others then."""
    untouched = Simulator(simulator.robot, world=WORLD)
    untouched.reset(v=[0.3, -0.2])
    untouched.step(n=100)
    simulator.remove_object('slider')
    assert simulator.objects == ('roller', 'lying')
    assert {c.second for c in simulator.contacts} == {'roller', 'lying'}
    for each in (simulator, untouched):
        each.step(n=100)
    for name in ('roller', 'lying'):
        # Each island of contacts is a separate problem.
        np.testing.assert_allclose(
            simulator.object_pose(name), untouched.object_pose(name), atol=1e-13
        )


def test_a_new_object_falls_lies_and_comes_back_at_a_reset(simulator):
    simulator.add_object('new', {**BALL, 'xyz': [3, 0, 0.15]})
    assert simulator.objects == ('slider', 'roller', 'lying', 'new')
    simulator.step(n=1000)
    assert simulator.object_pose('new')[2, 3] == pytest.approx(0.1, abs=1e-6)
    assert ('floor', 'new') in {(c.first, c.second) for c in simulator.contacts}
    simulator.reset()
    assert simulator.object_pose('new')[:3, 3] == pytest.approx([3, 0, 0.15])
    assert simulator.world.surface_of('new').friction == (0.5, 0.5)


def test_an_object_under_another_can_be_removed(simulator):
    simulator.remove_object('shelf')
    simulator.step(n=2000)
    assert simulator.object_pose('lying')[2, 3] == pytest.approx(0.1, abs=1e-6)
    assert simulator.world.disabled_collisions == frozenset()


def test_a_name_that_is_free_again_can_be_used_again(simulator):
    simulator.remove_object('slider')
    assert simulator.world.pairs == {}
    simulator.add_object('slider', {**BALL, 'xyz': [0, -6, 0.1]})
    assert simulator.object_pose('slider')[:3, 3] == pytest.approx([0, -6, 0.1])
    assert not simulator.object_velocity('slider').any()


def test_wrenches_stay_with_their_objects_and_end_with_them(simulator):
    simulator.apply_wrench('lying', [0, 0, 0, 5.0, 0, 0], point=(0, 0, 0))
    gone = simulator.apply_wrench('roller', [0, 0, 0, 0, 0, 100.0], point=(0, 0, 0))
    simulator.remove_object('roller')
    assert np.count_nonzero(simulator.physics.external_forces.use[:, 2]) == 1
    simulator.step(n=200)
    assert simulator.object_pose('lying')[0, 3] > 0.02
    assert simulator.object_pose('slider')[2, 3] < 0.11
    simulator.clear_wrenches(gone)
    simulator.remove_object('lying')
    v = simulator.object_velocity('slider')[3]
    simulator.step(n=10)
    assert simulator.object_velocity('slider')[3] == pytest.approx(v - 0.3 * 9.81 * 0.01, rel=1e-6)


def test_wrenches_on_the_robot_continue(simulator):
    untouched = Simulator(simulator.robot, world=WORLD)
    untouched.reset(v=[0.3, -0.2])
    untouched.step(n=100)
    link = list(simulator.robot.model.links)[-1]
    for each in (simulator, untouched):
        each.apply_wrench(link, [0, 0, 0, 1.0, 0, 2.0], duration=0.15)
        each.step(n=50)
    simulator.remove_object('shelf')
    for each in (simulator, untouched):
        each.step(n=200)
    assert np.array_equal(simulator.q, untouched.q)


def test_machine_code_is_unchanged(simulator, monkeypatch):
    """A change is no time to compile, even if the only shape of a kind leaves."""
    from rbd_ros.simulation.stepping import stepping

    code = dict(stepping.advance._code)
    simulator.add_object('other', {**BALL, 'xyz': [9, 9, 9]})
    assert simulator.physics.model.scene.table.tables.by_support
    simulator.remove_object('slider')
    simulator.remove_object('post')
    assert stepping.advance._code == code


def test_a_kind_of_shape_that_is_new_is_found_too(simulator):
    simulator.add_object(
        'ramp',
        {'type': 'height_field', 'size': [2, 2], 'xyz': [3, 0, 0], 'heights': [[0.5, 0.5]] * 2},
    )
    simulator.add_object('ball', {**BALL, 'xyz': [3, 0, 0.65]})
    simulator.step(n=600)
    assert simulator.object_pose('ball')[2, 3] == pytest.approx(0.6, abs=1e-6)


def test_rollouts_and_snapshots_are_of_the_world_that_there_is(simulator):
    before = simulator.snapshot()
    simulator.add_object('new', {**BALL, 'xyz': [3, 0, 0.15]})
    with pytest.raises(ValueError, match='other movable objects, slider, roller, lying'):
        simulator.restore(before)
    simulator.remove_object('lying')  # as many as before
    with pytest.raises(ValueError, match='other movable objects'):
        simulator.restore(before)
    own = simulator.snapshot()
    simulator.step(n=10)
    simulator.restore(own)
    assert simulator.object_pose('new')[2, 3] == pytest.approx(0.15)


def test_moments_of_contacts_continue_and_come_with_the_first_that_has_any():
    """A ball that spins on a floor beside one that rolls."""
    rolling = {**BALL, 'xyz': [0, 0, 0.1], 'velocity': {'linear': [0, 1, 0]}}
    simulator = Simulator(None, world={'objects': {'floor': {'type': 'plane'}, 'roller': rolling}})
    simulator.step(n=50)
    spinning = {'xyz': [3, 0, 0.1], 'velocity': {'angular': [0, 0, 3]}}
    simulator.add_object('top', {**BALL, **spinning, 'surface': {'torsional': 0.001}})
    simulator.step(n=50)
    # mu_t m g / (2/5 m r^2), of which the surface of the floor has no part.
    assert simulator.object_velocity('top')[2] == pytest.approx(3.0 - 2.4525 * 0.05, rel=1e-6)
    untouched = Simulator(None, world=simulator.world)
    untouched.restore(simulator.snapshot())
    simulator.add_object('far', {**BALL, 'xyz': [50, 0, 10]})
    simulator.step(n=20)
    simulator.remove_object('far')
    simulator.step(n=20)
    untouched.step(n=40)
    for name in ('top', 'roller'):
        assert_same(simulator.object_velocity(name), untouched.object_velocity(name))
    # Objects without friction moments lose nothing when the last one with them is deleted.
    simulator.remove_object('top')
    simulator.step(n=20)
    untouched.step(n=20)
    np.testing.assert_allclose(
        simulator.object_velocity('roller'), untouched.object_velocity('roller'), atol=1e-12
    )


def test_an_object_that_is_replaced_by_one_of_another_name_leaves_it_nothing(simulator):
    v = simulator.object_velocity('roller')
    ball = extend_world(World(), {'objects': {'ball': {**BALL, 'xyz': [7, 7, 7]}}})
    simulator.change_world(simulator.world.without('slider').with_objects(*ball.objects))
    assert simulator.objects == ('roller', 'lying', 'ball')
    assert simulator.object_pose('ball')[:3, 3] == pytest.approx([7, 7, 7])
    assert not simulator.object_velocity('ball').any()
    assert np.array_equal(simulator.object_velocity('roller'), v)


def test_a_world_is_given_as_at_the_construction(simulator, tmp_path):
    path = tmp_path / 'world.yaml'
    path.write_text('objects: {mat: {type: plane}}')
    for source, names in (({'objects': {'wall': {'type': 'plane'}}}, ['wall']), (path, ['mat'])):
        simulator.change_world(source)
        assert [each.name for each in simulator.world.objects] == names
    with pytest.raises(WorldFileError, match="unknown type 'plan'"):
        simulator.change_world({'objects': {'wall': {'type': 'plan'}}})


def test_rollouts_are_in_the_world_that_there_is():
    """A floating ball falls until there is a floor."""
    simulator = Simulator(ball(), world={})
    start = simulator.q
    height = [simulator.rollout(start, steps=200).q[0, -1, -1]]
    simulator.add_object('floor', {'type': 'plane', 'xyz': [0, 0, start[-1] - 0.2]})
    height.append(simulator.rollout(start, steps=200).q[0, -1, -1])
    assert height[0] < height[1] - 1e-3


def test_robots_that_move_can_neither_come_nor_go():
    arm = {'urdf': 'urdf/two_link_arm.urdf', 'xyz': [2, 0, 0], 'static': False}
    simulator = Simulator(Robot.from_urdf('urdf/two_link_arm.urdf'), world={'robots': {'b': arm}})
    simulator.step([5.0, 0.0, 0.0, 5.0], n=20)
    q = simulator.q
    simulator.add_object('ball', {**BALL, 'xyz': [0, 9, 9]})
    assert np.array_equal(simulator.q, q) and len(q) == 4 and abs(q[3]) > 0
    with pytest.raises(ValueError, match='movable robots cannot be added or removed'):
        simulator.change_world(World())


def test_a_world_that_was_prepared_before_another_change_is_prepared_again(simulator):
    late = simulator.physics.prepare_world(simulator.world.without('shelf'))
    simulator.add_object('new', {**BALL, 'xyz': [3, 0, 0.15]})
    simulator.step(n=10)
    pose = simulator.object_pose('slider')
    simulator.change_world(late)
    assert simulator.objects == ('slider', 'roller', 'lying')
    assert np.array_equal(simulator.object_pose('slider'), pose)


def test_objects_alone_come_and_go():
    simulator = Simulator(None, world={'objects': {'ball': {**BALL}}})
    simulator.step(n=10)
    simulator.remove_object('ball')
    assert simulator.objects == () and simulator.contacts == ()
    simulator.step(n=10)
    simulator.add_object('floor', {'type': 'plane'})
    simulator.add_object('ball', {**BALL, 'xyz': [0, 0, 0.1]})
    simulator.step(n=10)
    assert simulator.time == pytest.approx(0.03)
    assert sum(c.force[2] for c in simulator.contacts) == pytest.approx(9.81)


@pytest.mark.parametrize(
    'name, entry, text',
    [
        ('floor', BALL, "objects: 'floor' is the name of an object; choose another name"),
        ('robot', BALL, "'robot' is the name of the simulated robot"),
        ('a/b', BALL, 'is not a valid name'),
        ('new', {**BALL, 'mass': 0}, 'has no mass'),
        ('new', {'type': 'bal'}, "'bal'"),
        ('new', {'type': 'sphere'}, 'radius is missing'),
    ],
)
def test_an_invalid_object_is_rejected_and_nothing_is_changed(simulator, name, entry, text):
    world = simulator.world
    with pytest.raises(WorldFileError, match=text):
        simulator.add_object(name, entry)
    assert simulator.world is world


def test_an_unknown_object_cannot_be_removed(simulator):
    with pytest.raises(ValueError, match="unknown object 'shelv'; did you mean 'shelf'"):
        simulator.remove_object('shelv')
    with pytest.raises(ValueError, match='gravity of the world'):
        simulator.change_world(World(gravity=(0, 0, -1.62)))
    simulator.step()


def test_an_object_cannot_be_added_without_a_world():
    simulator = Simulator(ball())
    for change in (
        lambda: simulator.add_object('ball', BALL),
        lambda: simulator.remove_object('ball'),
        lambda: simulator.change_world(World()),
    ):
        with pytest.raises(ValueError, match='a simulation without a world cannot get objects'):
            change()
