# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Movable robots of a world: simulated as one robot, with contact between them."""

import pickle

import numpy as np
import pytest
from support import random_trees
from support.simulated_robots import at, ball, collision, joint, link, robot as small

from rbd_ros import ModelError, Robot, Simulator
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import load_urdf
from rbd_ros.spatial import PluckerTransform
from rbd_ros.world import read_world, Surface, World, WorldRobot

ARM = resource_path('urdf', 'six_axis_arm.urdf')
SLIPPERY = Surface((0.0, 0.0))
NO_GRAVITY = (0.0, 0.0, 0.0)


def slider(mass, radius=0.1, **options):
    """Return the ball that slides along x."""
    shape = collision(f'sphere radius="{radius}"')
    inside = '<limit lower="-9" upper="9" effort="1e6" velocity="100"/>'
    return small(
        link('base'),
        link('bob', mass, (0.01, 0.01, 0.01), shape=shape),
        joint('way', 'base', 'bob', 'prismatic', (1, 0, 0), inside=inside),
        **options,
    )


def moving(name, robot, place=(0.0, 0.0, 0.0), **options):
    placement = PluckerTransform.translation(tuple(map(float, place)))
    return WorldRobot(name, '', robot.model, placement, movable=True, **options)


def arm_entry(**further):
    return {'urdf': str(ARM), 'static': False, **further}


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(ARM)


# -- simulated model
# --------------------------------------------------------------------------------


def test_the_whole_is_the_robot_and_those_that_move(arm):
    world = {
        'robots': {
            'second_arm': arm_entry(
                xyz=[2, 0, 0],
                initial_joint_positions={'elbow_joint': 1.5, 'shoulder_lift_joint': -1.2},
            ),
            'third_arm': {'urdf': str(ARM), 'xyz': [-2, 0, 0]},
        }
    }
    simulator = Simulator(arm, world=world)
    assert simulator.robots == ('second_arm',)
    names = simulator.robot.joint_names
    assert names == (*arm.joint_names, *(f'second_arm/{x}' for x in arm.joint_names))
    assert np.array_equal(simulator.q, [0] * 6 + [0, -1.2, 1.5, 0, 0, 0])
    assert simulator.warnings == (
        "robot 'second_arm' of the world is movable: v[6:12] "
        'holds the velocity of its joints second_arm/...',
        "robot 'third_arm' of the world is static",
    )
    base = simulator.robot.forward_kinematics(simulator.q)['second_arm/base_link']
    assert np.array_equal(base[:3, 3], [2, 0, 0])
    simulator.reset(np.full(12, 0.1))
    simulator.reset()
    assert np.array_equal(simulator.q[6:9], [0, -1.2, 1.5])
    assert np.array_equal(simulator.rollout(steps=1).q.shape, (1, 1, 12))


def test_robots_that_touch_nothing_move_as_alone_bitwise(arm):
    start = {'shoulder_lift_joint': -1.2, 'elbow_joint': 1.5}
    entry = arm_entry(xyz=[5, 0, 0], initial_joint_positions=start)
    # A limit that acts on one robot makes the step of all of them semi-implicit.
    simulator = Simulator(arm, world={'robots': {'other': entry}}, enforce_velocity_limits=False)
    first = Simulator(arm, world={}, enforce_velocity_limits=False)
    second = Simulator(arm, world={}, enforce_velocity_limits=False)
    second.reset([0, -1.2, 1.5, 0, 0, 0])
    push = np.array([0.0, 1.0, 2.0, 0.0, 0.5, 0.1])
    for _ in range(40):
        simulator.step(np.concatenate([push, -push]), n=5)
        first.step(push, n=5)
        second.step(-push, n=5)
        assert np.array_equal(simulator.q, [*first.q, *second.q])
        assert np.array_equal(simulator.v, [*first.v, *second.v])
    assert not simulator.contacts


def test_a_robot_that_touches_something_does_not_move_the_other(arm):
    """All of them take steps of semi-implicit Euler then."""
    press = slider(2.0)
    wall = {'wall': {'type': 'box', 'size': [0.2, 1, 1], 'xyz': [5.5, 0, 0]}}
    objects = read_world({'objects': wall}).objects
    world = World(objects, (moving('press', press, (5, 0, 0)),))
    both = Simulator(arm, integrator='semi_implicit', world=world)
    free = Simulator(arm, integrator='semi_implicit', world={})
    push = np.array([1.0, 2.0, -1.0, 0.5, 0.0, 0.1])
    for _ in range(300):
        both.step([*push, 50.0])
        free.step(push)
    (contact,) = both.contacts
    assert {contact.first, contact.second} == {'wall', 'press/bob'}
    assert abs(contact.force[0]) == pytest.approx(50.0, rel=1e-9)
    assert np.abs(both.q[:6] - free.q).max() < 1e-12
    assert np.abs(both.v[:6] - free.v).max() < 1e-11
    assert abs(both.q[6] - 0.3) < 1e-6 and both.v[6] == pytest.approx(0.0, abs=1e-12)


def test_a_base_that_floats_starts_where_the_world_has_it(arm):
    text = random_trees.tree(6, bodies=4)
    model = load_urdf(text, floating_base=True)
    placement = PluckerTransform.rotation_x(0.4) * PluckerTransform.translation((2.0, 0.5, 1.0))
    free = WorldRobot('free', '', model, placement, True, movable=True)
    simulator = Simulator(arm, world=World(robots=(free,)))
    assert np.allclose(simulator.q[6:10], placement.quaternion(), atol=1e-15)
    assert np.array_equal(simulator.q[10:13], [2.0, 0.5, 1.0])  # in the world
    pose = simulator.robot.forward_kinematics(simulator.q)[f'free/{model.body(1).name}']
    assert np.allclose(pose, placement.pose(), atol=1e-14)
    simulator.step(n=100)
    alone = Robot(simulator.robot.model)
    fallen = alone.forward_kinematics(simulator.q)[f'free/{model.body(1).name}']
    assert fallen[2, 3] < pose[2, 3]


def test_without_a_robot_those_of_the_world_are_simulated():
    world = {
        'gravity': [0, 0, -3.7],
        'objects': {
            'ball': {'type': 'sphere', 'radius': 0.1, 'xyz': [9, 0, 1], 'static': False, 'mass': 1}
        },
        'robots': {'left': arm_entry(), 'right': arm_entry(xyz=[0, 3, 0])},
    }
    simulator = Simulator(None, world=world)
    assert simulator.robots == ('left', 'right') and simulator.robot.nv == 12
    assert simulator.robot.joint_names[0] == 'left/shoulder_pan_joint'
    assert np.array_equal(simulator.robot.gravity, [0, 0, -3.7])
    alone = Simulator(Robot.from_urdf(ARM, gravity=(0, 0, -3.7)), world={'gravity': [0, 0, -3.7]})
    simulator.step(n=100)
    alone.step(n=100)
    assert np.array_equal(simulator.q, [*alone.q, *alone.q])
    assert abs(simulator.object_pose('ball')[2, 3] - (1 - 0.5 * 3.7 * 0.01)) < 1e-9


def test_a_whole_is_not_put_together_again(arm):
    world = read_world({'robots': {'other': arm_entry(xyz=[2, 0, 0])}})
    simulator = Simulator(arm, world=world)
    again = Simulator(simulator.robot, world=world)
    assert again.robot is simulator.robot and again.robots == ('other',)
    named = Robot.combine({'': arm, 'other': arm}, {'other': world['other'].placement.pose()})
    assert Simulator(named, world=world).robot is named


def test_snapshots_rollouts_and_wrenches_are_of_the_whole(arm):
    simulator = Simulator(arm, world={'robots': {'other': arm_entry(xyz=[2, 0, 0])}})
    before = pickle.loads(pickle.dumps(simulator.snapshot()))
    push = [0, 0, 0, 0, 0, 80.0]
    simulator.apply_wrench('other/tool0', push, duration=0.05)
    simulator.step(n=50)
    assert not np.array_equal(simulator.q[6:], simulator.q[:6])
    single = Simulator(arm, world={})
    single.apply_wrench('tool0', push, duration=0.05, point=[0, 0, 0])
    single.step(n=50)
    end = simulator.q
    simulator.restore(before)
    simulator.apply_wrench('other/tool0', push, duration=0.05, point=[0, 0, 0])
    simulator.step(n=50)
    assert np.array_equal(simulator.q[6:], single.q)
    assert not np.array_equal(simulator.q, end)  # about the tool, not about the base
    rng = np.random.default_rng(0)
    q = rng.normal(size=(3, 12)) * 0.1
    motions = simulator.rollout(q, steps=20)
    simulator.reset(q[1])
    simulator.step(n=20)
    assert np.array_equal(motions.q[1, -1], simulator.q)


@pytest.mark.slow
def test_loops_of_other_robots_are_closed(arm):
    mechanism = {
        'urdf': str(resource_path('urdf', 'four_bar.urdf')),
        'extension': str(resource_path('config', 'four_bar.yaml')),
        'static': False,
        'xyz': [3, 0, 0],
        'initial_joint_positions': {'crank_joint': 0.8},
    }
    world = {'robots': {'bar': mechanism}, 'disable_collisions': [['bar', 'bar']]}
    simulator = Simulator(arm, world=world)
    assert simulator.integrator == 'semi_implicit'
    assert np.abs(simulator.loop_errors).max() < 1e-9
    assert any('the loops are open there' in warning for warning in simulator.warnings)
    start = simulator.q
    simulator.step(n=300)
    assert np.abs(simulator.loop_errors).max() < 1e-9
    linkage = Robot.from_urdf(mechanism['urdf'], extension=mechanism['extension'])
    alone = Simulator(linkage, world={'disable_collisions': [['robot', 'robot']]})
    alone.reset(start[6:])
    alone.step(n=300)
    assert np.abs(simulator.q[6:] - alone.q).max() < 1e-9
    free = Simulator(arm, integrator='semi_implicit', world={})
    free.step(n=300)
    assert np.abs(simulator.q[:6] - free.q).max() < 1e-9


# -- contact between robots -----------------------------------------------------------------------


@pytest.mark.parametrize('restitution', [0.0, 0.5, 1.0])
@pytest.mark.parametrize('heavy', [1.0, 3.0, 1e4])
def test_two_sliders_collide_as_newton_says(restitution, heavy):
    surface = Surface((0.0, 0.0), restitution=restitution)
    first, second = slider(1.0), slider(heavy)
    world = World(robots=(moving('other', second, (0.21, 0, 0)),), surface=surface)
    simulator = Simulator(first, world=world)
    simulator.reset(v=[2.0, -1.0])
    simulator.step(n=10)
    mean = (2.0 - heavy) / (1.0 + heavy)
    parting = 3.0 * restitution / (1.0 + heavy)
    expected = [mean - heavy * parting, mean + parting]
    assert np.allclose(simulator.v, expected, rtol=1e-9, atol=1e-9)


def test_two_sliders_that_press_on_each_other_accelerate_as_one():
    first, second = slider(2.0), slider(3.0)
    world = World(robots=(moving('other', second, (0.2, 0, 0)),), surface=SLIPPERY)
    simulator = Simulator(first, world=world)
    simulator.step([30.0, -10.0], n=100)
    assert np.allclose(simulator.v, 0.1 * (30.0 - 10.0) / 5.0, rtol=1e-9)
    (contact,) = simulator.contacts
    assert (contact.first, contact.second) == ('robot/bob', 'other/bob')
    # What accelerates the second: f - 10 = 3 a.
    assert np.allclose(contact.force, [10.0 + 3.0 * 4.0, 0, 0], rtol=1e-9, atol=1e-9)
    assert max(simulator.residuals) < 1e-10


def chain(seed):
    """Free chain of links with shapes."""
    text = random_trees.tree(seed, bodies=3, types=('revolute', 'continuous'))
    shape = '<collision><geometry><sphere radius="0.12"/></geometry></collision></link>'
    return Robot.from_urdf(text.replace('</link>', shape), floating_base=True, gravity=NO_GRAVITY)


def free_start(robot, position, velocity):
    q, v = np.clip(robot.neutral(), robot.lower_limits, robot.upper_limits), np.zeros(robot.nv)
    q[4:7], v[3:6] = position, velocity
    v[:3] = [0.5, -0.3, 0.8]
    return q, v


@pytest.mark.parametrize('friction', [0.0, 0.7])
def test_two_free_balls_keep_their_momentum_in_a_collision(friction):
    first, second = ball(mass=1.5, gravity=NO_GRAVITY), ball(mass=0.4, gravity=NO_GRAVITY)
    surface = Surface((friction, friction), restitution=0.6)
    other = WorldRobot('other', '', second.model, floating=True, movable=True)
    world = World(robots=(other,), gravity=NO_GRAVITY, surface=surface)
    simulator = Simulator(first, world=world)
    v = [1, 2, 3, 1.0, 0.1, 0, -2, 1, 0, -1.0, 0, 0]
    simulator.reset([*at((0, 0, 0)), *at((0.25, 0.08, 0.03))], v)
    before, energy = momentum(simulator), kinetic(simulator)
    for _ in range(200):
        simulator.step()
        assert np.abs(momentum(simulator) - before).max() < 1e-12
    # After the impact, the loss follows the law: e of the approach along the normal.
    assert simulator.v[3] < 0.9
    assert kinetic(simulator) < 0.9 * energy


def momentum(simulator):
    return simulator.robot.momentum(simulator.q, simulator.v)


def kinetic(simulator):
    return simulator.robot.energy(simulator.q, simulator.v).kinetic


@pytest.mark.parametrize('restitution, bound', [(0.5, 1e-9), (0.0, 1e-4)])
def test_two_free_chains_keep_their_momentum_in_a_collision(restitution, bound):
    """Without a rebound they are separated where they overlap, which takes momenta along."""
    first, second = chain(3), chain(5)
    other = WorldRobot('other', '', second.model, floating=True, movable=True)
    surface = Surface((0.4, 0.4), restitution=restitution)
    world = World(robots=(other,), gravity=NO_GRAVITY, surface=surface)
    simulator = Simulator(first, world=world)
    (q1, v1), (q2, v2) = (
        free_start(robot, *where)
        for robot, where in ((first, ([0, 0, 0], [2, 0, 0])), (second, ([2, 0.1, 0], [-2, 0, 0])))
    )
    simulator.reset([*q1, *q2], [*v1, *v2])
    before, energy = momentum(simulator), kinetic(simulator)
    for _ in range(600):
        simulator.step()
        change = np.abs(momentum(simulator) - before)
        assert change[:3].max() < bound and change[3:].max() < 1e-9
    assert kinetic(simulator) < 0.9 * energy  # they met


@pytest.mark.parametrize('stands', [False, True])
def test_forces_between_two_arms_are_equal_and_opposite(arm, stands):
    """An arm falls on another one, which carries its own weight or stands still."""
    entry = arm_entry(
        xyz=[1.1, 0.15, 0],
        rpy=[0, 0, np.pi],
        static=stands,
        initial_joint_positions={'shoulder_lift_joint': 1.4},
    )
    world = {
        'robots': {'other': entry},
        'disable_collisions': [['robot', 'robot'], ['other', 'other']],
    }
    simulator = Simulator(arm, world=world, enforce_velocity_limits=False)
    whole, q = simulator.robot, simulator.q
    assert whole.nv == 6 if stands else 12
    q[:3] = [0.0, 0.8, 0.2]
    simulator.reset(q)
    found = 0
    for _ in range(250):
        start = simulator.q
        tau = whole.gravity_torque(start)
        tau[:6] = 0.0
        simulator.step(tau)
        found += len(simulator.contacts) > 0
        expected = np.zeros(whole.nv)
        for contact in simulator.contacts:
            wrench = np.concatenate([np.cross(contact.position, contact.force), contact.force])
            for name, sign in ((contact.first, -1.0), (contact.second, 1.0)):
                owner, _, own = name.partition('/')
                if owner == 'robot' or not stands:
                    J = whole.frame(own if owner == 'robot' else name, 'base').jacobian(start)
                    expected += sign * J.T @ wrench
        # The remainder is friction of the joints.
        rest = np.abs(simulator.constraint_force - expected)
        assert (rest <= whole.friction + 1e-9 * max(1.0, np.abs(expected).max())).all()
    assert found > 100 and simulator.status.limit_steps == 0


def test_links_of_one_robot_that_a_joint_connects_do_not_touch_but_those_of_two_do(arm):
    simulator = Simulator(arm, world={'robots': {'other': arm_entry(xyz=[0.5, 0, 0])}})
    scene = simulator.physics.scene
    pairs = {frozenset(scene.names_of(k)) for k in range(len(scene.table.pair))}
    both = {
        frozenset((f'{a}/shoulder_link', f'{b}/base_link_inertia'))
        for a, b in (
            ('robot', 'other'),
            ('other', 'robot'),
            ('robot', 'robot'),
            ('other', 'other'),
        )
    }
    assert both & pairs == {
        frozenset(('robot/shoulder_link', 'other/base_link_inertia')),
        frozenset(('other/shoulder_link', 'robot/base_link_inertia')),
    }
    # Possible contacts within a robot are the same for both, and as for the robot alone.
    alone = Simulator(arm, world={}).physics.scene
    expected = sorted(sorted(alone.names_of(k)) for k in range(len(alone.table.pair)))
    for name in ('robot', 'other'):
        own = [
            sorted(each)
            for each in (scene.names_of(k) for k in range(len(scene.table.pair)))
            if all(x.partition('/')[0] == name for x in each)
        ]
        own = [[x.replace(f'{name}/', 'robot/') for x in each] for each in own]
        assert sorted(own) == expected


def test_overlaps_of_robots_at_the_start_are_corrected():
    first, second = slider(1.0), slider(1.0)
    world = World(robots=(moving('other', second, (0.19, 0, 0)),), surface=SLIPPERY)
    simulator = Simulator(first, world=world)
    simulator.step(n=100)
    q = simulator.q
    assert 0.2 - 1e-6 < q[1] + 0.19 - q[0] < 0.2 + 1e-6
    assert np.abs(simulator.v).max() < 1e-12


def test_pairs_and_ignored_ones_name_robots_and_their_links():
    first, second = slider(2.0), slider(3.0)
    other = moving('other', second, (0.2, 0, 0), surface=Surface(restitution=0.25))

    def separated(**options):
        simulator = Simulator(first, world=World(robots=(other,), **options))
        simulator.reset(v=[1.0, 0.0])
        simulator.step(n=20)
        return simulator.v[1] - simulator.v[0]

    assert separated() == pytest.approx(0.25)
    bouncing = Surface((0.0, 0.0), restitution=1.0)
    assert separated(pairs={('other/bob', 'robot'): bouncing}) == pytest.approx(1.0)
    assert separated(pairs={('robot/bob', 'other'): bouncing}) == pytest.approx(1.0)
    for pair in (('robot', 'other'), ('other/bob', 'robot/bob')):
        assert separated(disabled_collisions=frozenset([pair])) == pytest.approx(-1.0)


def test_an_object_is_pushed_by_one_robot_onto_another():
    second = slider(2.0)
    block = {
        'block': {
            'type': 'box',
            'size': [0.2] * 3,
            'xyz': [0.2, 0, 0],
            'static': False,
            'mass': 3.0,
            'surface': {'friction': 0.0},
        }
    }
    objects = read_world({'objects': block}).objects
    robots = (moving('other', second, (0.4, 0, 0), surface=SLIPPERY),)
    world = World(objects, robots, gravity=NO_GRAVITY, surface=SLIPPERY)
    simulator = Simulator(slider(1.0, gravity=NO_GRAVITY), world=world)
    simulator.step([60.0, 0.0], n=100)
    assert np.allclose(simulator.v, 1.0, rtol=1e-9)
    forces = {(c.first, c.second): c.force[0] for c in simulator.contacts}
    assert sum(abs(f) for pair, f in forces.items() if 'robot/bob' in pair) == pytest.approx(50.0)
    assert sum(abs(f) for pair, f in forces.items() if 'other/bob' in pair) == pytest.approx(20.0)


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'robots, message',
    [
        ({'a': {'static': 'yes'}}, 'robots: a: static: .*yes'),
        ({'robot': {'static': False}}, "'robot' is the name of the simulated robot"),
        ({'a': {'initial_joint_positions': {'elbow': 1}}}, "elbow: unknown moving joint 'elbow'"),
        ({'a': {'initial_joint_positions': {'elbow_joint': 9}}}, '9 is outside the limits'),
    ],
)
def test_entries_of_robots_that_move(arm, robots, message):
    robots = {name: {**arm_entry(), **entry} for name, entry in robots.items()}
    with pytest.raises(ModelError, match=message):
        Simulator(arm, world={'robots': robots})


def test_a_robot_without_joints_moves_only_with_a_free_base(tmp_path, arm):
    (tmp_path / 'stone.urdf').write_text(
        '<robot name="stone"><link name="stone"><inertial><mass value="1"/><inertia ixx="1" '
        'iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    entry = {'urdf': str(tmp_path / 'stone.urdf'), 'static': False}
    with pytest.raises(ModelError, match='robots: stone: static: it has no movable joint'):
        Simulator(arm, world={'robots': {'stone': entry}})
    simulator = Simulator(arm, world={'robots': {'stone': {**entry, 'floating': True}}})
    simulator.step(n=100)
    assert simulator.v[-1] == pytest.approx(-0.981)


def test_a_robot_with_the_link_names_of_another_is_rejected(arm):
    text = (
        '<robot name="r"><link name="base"/><link name="other/bob"/><joint name="j" '
        'type="fixed"><parent link="base"/><child link="other/bob"/></joint></robot>'
    )
    world = World(robots=(moving('other', slider(1.0)),))
    with pytest.raises(ModelError, match="two links are named 'other/bob'"):
        Simulator(Robot.from_urdf(text), world=world)


def test_gravity_of_the_robot_is_that_of_the_world(arm):
    world = {'gravity': [0, 0, -1.6], 'robots': {'other': arm_entry()}}
    with pytest.raises(ValueError, match='gravity of the world is'):
        Simulator(arm, world=world)


def test_loops_that_cannot_be_closed_are_named(tmp_path, arm):
    extension = tmp_path / 'extension.yaml'
    text = resource_path('config', 'four_bar.yaml').read_text()
    extension.write_text(text.replace('xyz: [0.45, 0, 0]', 'xyz: [4.5, 0, 0]'))
    entry = {'urdf': str(resource_path('urdf', 'four_bar.urdf')), 'extension': str(extension)}
    with pytest.raises(ValueError, match="loop joint 'bar/pin' is open"):
        Simulator(arm, world={'robots': {'bar': {**entry, 'static': False}}})


def test_nothing_to_simulate_and_a_file_that_is_not_a_robot():
    with pytest.raises(ValueError, match='without a robot there must be a world'):
        Simulator(None)
    with pytest.raises(ValueError, match='robot must be a Robot, got str'):
        Simulator('arm.urdf', world={})
