# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Position correction of overlaps, limits and loops, with bounds on every displacement.

For any overlap: no joint, mimic ones included, and no point of an object is moved faster than
`RETURN_SPEED` besides its velocity, joints stay within their limits, and inseparable overlaps
remain and are reported.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support import example_robots
from support.rigid_worlds import ball, simulated
from support.simulated_robots import collision, joint, link, robot as small

from rbd_ros import Robot, Simulator
from rbd_ros.lookup.robots import resource_path
from rbd_ros.simulation.records.simulation_model import RETURN_SPEED

h = 1e-3
WAY = RETURN_SPEED * h
LIMIT = '<limit lower="-3" upper="3" effort="10" velocity="10"/>'
SHAPES = {
    'box': 'box size="0.06 0.06 0.2"',
    'cylinder': 'cylinder radius="0.03" length="0.2"',
    'sphere': 'sphere radius="0.03"',
}
SMOOTH = {'friction': 0.0}
NOTHING = (0.0, 0.0, 0.0)


def hinge(shape='box'):
    """Return a link of 1 kg that hangs on a hinge about y."""
    return small(
        link('base'),
        link('link', 1.0, (0.01,) * 3, (0, 0, -0.1), collision(SHAPES[shape], (0, 0, -0.1))),
        joint('hinge', 'base', 'link', 'revolute', (0, 1, 0), inside=LIMIT),
        gravity=NOTHING,
    )


def chain(rng, shape, number):
    """Return links one behind another, on hinges about any axes."""
    parts = [link('base')]
    for k in range(number):
        parts += [
            link(f'l{k}', 1.0, (0.01,) * 3, (0, 0, -0.1), collision(SHAPES[shape], (0, 0, -0.1))),
            joint(
                f'j{k}', f'l{k - 1}' if k else 'base', f'l{k}', 'revolute',
                rng.normal(size=3).round(2), (0, 0, -0.2 * (k > 0)), LIMIT,
            ),
        ]  # fmt: skip
    return small(*parts, gravity=NOTHING)


def slider(limit='<limit lower="-1" upper="1" effort="100" velocity="50"/>', further=()):
    """Return a ball of radius 0.1 m on a rail along x."""
    shape = collision('sphere radius="0.1"')
    return small(
        link('base'),
        link('slider', 0.5, (0.01,) * 3, shape=shape),
        joint('slide', 'base', 'slider', 'prismatic', (1, 0, 0), inside=limit),
        *further,
    )


def post(x, radius=0.1, **options):
    """Return a fixed ball."""
    return {'type': 'sphere', 'radius': radius, 'xyz': [x, 0.0, 0.0], **options}


def depth(simulator):
    """Return the depth of the deepest overlap at the beginning of the last step [m]."""
    contact_state = simulator.physics.contact_state
    return -contact_state.contacts.gap[: contact_state.counts[0]].min(initial=0.0)


def steps(simulator, count, tau=None):
    """Take steps in which everything is corrected within bounds; return the depths."""
    robot, model, depths = simulator.robot, simulator.robot.model, []
    fastest = np.ones(robot.nv)
    for i, ratio in zip(model.tree_dof_index, model.tree_dof_ratio):
        fastest[i] = max(fastest[i], abs(ratio))
    at = simulator.physics.model.position
    single = at >= 0
    low, high = robot.lower_limits[at[single]], robot.upper_limits[at[single]]
    for _ in range(count):
        q, poses = simulator.q.copy(), [simulator.object_pose(o) for o in simulator.objects]
        simulator.step(tau)
        if simulator.physics.contact_state.counts[0] > 0:
            moved = robot.difference(q, simulator.q) - h * simulator.v
            assert (np.abs(moved) * fastest)[single].max(initial=0.0) <= WAY * (1.0 + 1e-9) + 1e-12
            assert np.abs(moved).max(initial=0.0) <= WAY * (1.0 + 1e-9) + 1e-12
        before, now = q[at[single]], simulator.q[at[single]]
        outside = np.maximum(low - before, before - high).clip(0.0)
        assert (np.maximum(low - now, now - high) <= outside + 1e-9).all()
        for name, pose in zip(simulator.objects, poses):
            # Of what rests in the beginning: its velocity is of h, and its way of h^2.
            change = simulator.object_pose(name)[:3, 3] - pose[:3, 3]
            v = simulator.object_velocity(name)[3:]
            assert np.linalg.norm(change - h * v) <= WAY + 10.0 * h * h
        depths.append(depth(simulator))
    return np.array(depths)


# -- overlaps that cannot be resolved -----------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize('tilt', [0.0, 1e-17, 1e-12, 1e-6, 1e-3, -1e-3])
@pytest.mark.parametrize('shape', SHAPES)
def test_a_hinge_does_not_turn_for_an_overlap_along_its_axis(shape, tilt):
    """It stays, without a velocity, and is named with its depth."""
    wall = {'type': 'plane', 'xyz': [0, 0.029, 0], 'rpy': [np.pi / 2 + tilt, 0, tilt]}
    simulator = simulated(False, NOTHING, robot=hinge(shape), wall={**wall, 'surface': SMOOTH})
    simulator.reset([0.3])
    steps(simulator, 20)
    assert simulator.q[0] == 0.3 and abs(simulator.v[0]) < 1e-12
    assert simulator.status.unresolved_overlap_steps == 20
    reported = [each for each in simulator.warnings if 'they stay in penetration' in each]
    assert len(reported) == 1 and reported[0].startswith("'robot/link' and 'wall' overlap by ")
    assert float(reported[0].split(' by ')[1].split(' mm')[0]) == pytest.approx(1.0, abs=0.31)


def test_a_joint_at_its_limit_is_not_pushed_beyond_it():
    """Nor is one that is beyond already; what is on the other side parts all the same."""
    simulator = simulated(False, robot=slider(), post=post(0.81))
    for q in (1.0, 1.01):
        simulator.reset([q])
    simulator.reset([1.0])
    steps(simulator, 10)
    # The post is on the left, and to the right there is the limit.
    assert simulator.q[0] == 1.0 and simulator.status.unresolved_overlap_steps == 10
    assert 'overlap by 10.0 mm; they stay in penetration' in simulator.warnings[-1]
    simulator.reset([-1.0])
    assert simulator.status.unresolved_overlap_steps == 0
    simulator = simulated(False, robot=slider(), post=post(1.15))
    simulator.reset([1.0])
    depths = steps(simulator, 200)
    assert depths[0] == pytest.approx(0.05) and depths[-1] < 1e-9
    assert simulator.q[0] == pytest.approx(0.95, abs=1e-8)


@pytest.mark.parametrize('between', [0.0, 0.02])
def test_an_obstacle_stops_the_return_of_a_joint_to_its_limits(between):
    simulator = simulated(False, robot=slider(), post=post(1.1 - 0.2 - between))
    simulator.reset([1.1])
    depths = steps(simulator, 300)
    assert depths.max() < 1e-9
    assert simulator.q[0] == pytest.approx(1.1 - between, abs=1e-8)
    assert np.abs(simulator.v).max() < 1e-12


@pytest.mark.slow
def test_an_object_between_walls_stays_as_deep_as_it_is():
    wall = {'type': 'plane', 'surface': SMOOTH}
    simulator = simulated(
        False, NOTHING,
        left={**wall, 'xyz': [-0.099, 0, 0], 'rpy': [0, np.pi / 2, 0]},
        right={**wall, 'xyz': [0.097, 0, 0], 'rpy': [0, -np.pi / 2, 0]},
        ball=ball(z=0.0, friction=0.0),
    )  # fmt: skip
    simulator.step(n=50)
    assert np.abs(simulator.object_pose('ball')[:3, 3]).max() < 1e-4
    assert simulator.status.unresolved_overlap_steps == 50
    assert [each.split(' by ')[1][:6] for each in simulator.warnings[-2:]] == ['3.0 mm', '1.0 mm']


# -- overlaps that are resolved -----------------------------------------------------------


def test_overlap_at_a_slider_is_corrected_at_the_return_speed_without_gain():
    simulator = simulated(False, robot=slider(), post=post(-0.197))
    depths = steps(simulator, 10)
    expected = np.maximum(0.003 - WAY * np.arange(10), 0.0)
    assert np.abs(depths - expected).max() < 1e-12
    assert simulator.v[0] == 0.0 and simulator.status.unresolved_overlap_steps == 0


def test_overlap_at_a_hinge_is_corrected_at_its_maximum_velocity():
    """Until the rest is less than a step: that is done at once."""
    stop = post(-0.07, 0.05, xyz=[-0.07, 0, -0.18], surface=SMOOTH)
    simulator = simulated(False, NOTHING, robot=hinge(), stop=stop)
    depths = steps(simulator, 5)
    assert depths[0] == pytest.approx(0.01)
    # About y, its lower end goes to -x.
    assert simulator.q[0] == pytest.approx(-5 * WAY, rel=1e-9)
    depths = steps(simulator, 200)
    turned = simulator.q[0]
    assert depths[-1] < 1e-9 and turned == pytest.approx(-0.01 / 0.18, rel=0.05)
    assert np.count_nonzero(depths > 1e-9) == pytest.approx(-turned / WAY - 5, abs=2)
    assert abs(simulator.v[0]) < 1e-12


def test_a_joint_with_a_faster_mimic_is_moved_slowly():
    """The follower is ten times as fast, and in the wall."""
    arm = slider(
        further=(
            link('thumb', 0.1, (0.01,) * 3, shape=collision('sphere radius="0.05"', (0, 1, 0))),
            joint(
                'fast', 'base', 'thumb', 'prismatic', (1, 0, 0),
                inside='<limit lower="-9" upper="9" effort="9" velocity="9"/>'
                '<mimic joint="slide" multiplier="10"/>',
            ),
        )
    )  # fmt: skip
    object_ = post(0.149, xyz=[0.149, 1.0, 0.0])
    simulator = simulated(False, robot=arm, post=object_)
    steps(simulator, 1)
    assert simulator.q[0] == pytest.approx(-WAY / 10.0, rel=1e-9)
    depths = steps(simulator, 20)
    assert depths[-1] < 1e-9
    # So are limits.
    simulator.reset([1.2])
    simulator.step()
    assert simulator.q[0] == pytest.approx(1.2 - WAY / 10.0, rel=1e-9)


@pytest.mark.slow
def test_no_point_of_an_object_is_fast():
    """A rod that is deep in a floor at one end turns, and its other end moves as well."""
    rod = {'type': 'box', 'size': [1.0, 0.02, 0.02], 'static': False, 'mass': 1.0}
    rod.update(xyz=[0, 0, 0.03], rpy=[0, 0.2, 0], surface=SMOOTH)
    simulator = simulated(True, NOTHING, rod=rod)
    ends, moved = np.array([[0.5, 0, 0], [-0.5, 0, 0]]), []
    for _ in range(20):
        before = simulator.object_pose('rod')
        simulator.step()
        after = simulator.object_pose('rod')
        moved += [
            np.linalg.norm((after - before)[:3, :3] @ x + (after - before)[:3, 3]) for x in ends
        ]
    assert 0.3 * WAY < max(moved) <= WAY * (1.0 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize('start', range(6))
def test_overlap_of_a_linkage_is_corrected_with_its_loops_closed(start):
    bars = Robot.from_urdf(
        resource_path('urdf', 'four_bar.urdf'),
        extension=resource_path('config', 'four_bar.yaml'),
        gravity=NOTHING,
    )
    simulator = Simulator(bars)
    simulator.reset([0.4 + start, 0.3, 1.2])
    q, deep, side = simulator.q, 0.002 * (start + 1), (-1.0) ** start
    along, across = (np.array([np.cos(q[0] + x), 0, np.sin(q[0] + x)]) for x in (0, np.pi / 2))
    center = 0.2 * along + side * (0.015 + 0.05 - deep) * across
    stop = post(0.0, 0.05, xyz=center.tolist())
    simulator = simulated(False, NOTHING, robot=bars, stop=stop)
    simulator.reset(q)
    first = None
    for _ in range(200):
        q = simulator.q.copy()
        simulator.step()
        first = depth(simulator) if first is None else first
        moved = simulator.q - q - h * simulator.v
        assert np.abs(moved).max() <= WAY * (1.0 + 1e-3) + 1e-9
        assert np.abs(simulator.loop_errors).max() < 1e-9
    # In one of them the post is between two bars.
    stays = simulator.status.unresolved_overlap_steps == 200
    assert first > 1e-3 and stays == (start == 4)
    assert stays or depth(simulator) < 0.2 * first
    assert np.abs(simulator.v).max() < 1e-6


# -- anything beside anything ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(12))
@pytest.mark.parametrize('shape', SHAPES)
def test_arms_beside_walls_and_posts_in_general_orientation(shape, seed):
    rng = np.random.default_rng(seed)
    deep = 10.0 ** rng.uniform(-6, -2)
    if seed % 2:
        small_angles = rng.normal(size=2) * 10.0 ** rng.uniform(-17, -1, 2)
        turned = [np.pi / 2 + small_angles[0], 0, small_angles[1]]
        thing = {'type': 'plane', 'xyz': [0, 0.03 - deep, 0], 'rpy': turned}
    else:
        thing = {'type': 'cylinder', 'radius': 0.02, 'length': 0.5}
        thing.update(xyz=[0, 0.05 - deep, -0.1], rpy=[0, rng.uniform(-3, 3), rng.normal() * 0.3])
    thing['surface'] = SMOOTH
    arm = hinge(shape) if seed % 3 == 0 else chain(rng, shape, 1 + seed % 3)
    simulator = simulated(False, NOTHING, robot=arm, thing=thing)
    simulator.reset(rng.uniform(-0.5, 0.5, arm.nv))
    depths = steps(simulator, 300)
    # To first order, nothing gets deeper.
    assert depths.max() <= depths[0] + 1e-5
    # What moves has no velocity.
    assert np.abs(simulator.v).max() < 1e-6
    if depths[0] > 1e-4:
        assert depths[-1] < 0.99 * depths[0] or simulator.status.unresolved_overlap_steps > 0


REAL = {'go2': True, 'g1_29dof_rev_1_0': True, 'panda': False, 'so100': False}


@pytest.fixture(scope='module', params=REAL)
def crowded(request):
    """Return a real robot, floating if it is legged, among many objects."""
    robot = Robot.from_urdf(example_robots.path(request.param), floating_base=REAL[request.param])
    objects = {
        'floor': {'type': 'plane', 'xyz': [0, 0, -0.1]},
        'wall': {'type': 'plane', 'xyz': [0.4, 0, 0], 'rpy': [0.1, -1.5, 0.2]},
        'post': {'type': 'cylinder', 'radius': 0.05, 'length': 1, 'xyz': [0.2, 0.1, 0.2]},
        'box': {'type': 'box', 'size': [0.2] * 3, 'xyz': [0.1, -0.1, 0.3], 'static': False,
                'mass': 1.0},
    }  # fmt: skip
    return Simulator(robot, world={'objects': objects})


@pytest.mark.slow
@pytest.mark.parametrize('seed', range(4))
def test_overlaps_of_real_robots_at_the_start_are_corrected_within_bounds(crowded, seed):
    rng, robot = np.random.default_rng(seed), crowded.robot
    q, first = robot.neutral(), 7 if robot.nq > robot.nv else 0
    if first:
        rotation = Rotation.random(random_state=rng)
        q[:4] = rotation.as_quat()[[3, 0, 1, 2]]
        q[4:7] = rotation.inv().apply([0.0, 0.0, rng.uniform(0.0, 0.5)])
    low, high = robot.lower_limits[first:], robot.upper_limits[first:]
    q[first:] = rng.uniform(np.clip(low, -2.5, 2.5), np.clip(high, -2.5, 2.5))
    crowded.reset(q)
    depths = steps(crowded, 100)
    assert depths.max() < depths[0] + 2e-3
    assert np.isfinite(crowded.q).all()
