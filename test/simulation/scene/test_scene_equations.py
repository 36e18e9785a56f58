# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Single steps in small worlds obey the equations of motion and the laws, computed independently.

The interpreter takes the steps, as there are few of many kinds.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.four_bar_statics import positions
from support.interpreted import without_compiler
from support.rigid_worlds import ball, cube, simulated
from support.scene_laws import Step
from support.simulated_robots import collision, joint, link, robot as chain

from rbd_ros import Robot
from rbd_ros.lookup.resources import resource_path
from rbd_ros.simulation.scene.contact_problem import UPPER_LIMIT

SOFT = {'compliance': {'stiffness': 2e3, 'damping': 7.0}}
R = 0.05  # of the ends of links [m]


@pytest.fixture(autouse=True, scope='module')
def by_the_interpreter():
    # Machine code does not warn of infinite numbers, which solvers know how to deal with.
    with without_compiler(), np.errstate(all='ignore'):
        yield


def arm(side, sign, friction):
    """Return three links in a row, a ball at the end of each.

    The second motor drives two joints.
    """
    inertia = (0.002, 0.003, 0.004)
    shape = collision(f'sphere radius="{R}"', (0.15, 0, 0))
    held = f'<dynamics friction="{friction}" damping="0"/>'
    limit = '<limit lower="-3" upper="3" effort="100" velocity="50"/>'
    geared = f'<mimic joint="{side}1" multiplier="-1.5"/>' if side == 'r' else ''
    center = (0.07, 0.01, 0.02)
    return [
        *(link(f'{side}{k}', 0.5 + 0.2 * k, inertia, center, shape) for k in (1, 2, 3)),
        joint(
            f'{side}1', 'trunk', f'{side}1', 'revolute', (0, 0, 1), (0, 0.1 * sign, 0),
            limit + held,
        ),
        joint(
            f'{side}2', f'{side}1', f'{side}2', 'revolute', (0, 0.1, 1), (0.15, 0, 0),
            limit + geared + ('' if geared else held),
        ),
        joint(
            f'{side}3', f'{side}2', f'{side}3', 'revolute', (0, 0, 1), (0.15, 0, 0),
            limit + (held if side == 'r' else ''),
        ),
    ]  # fmt: skip


@pytest.fixture(scope='module')
def robot(by_the_interpreter):
    lift = '<limit lower="-1" upper="1" effort="100" velocity="9"/>'
    return chain(
        link('world'),
        link('trunk', 2.0, (0.02, 0.02, 0.02)),
        joint('lift', 'world', 'trunk', 'prismatic', (0.1, 0, 1), inside=lift),
        *arm('l', 1, 3.0),
        *arm('r', -1, 8.0),
    )


def surfaces(rng, names, **further):
    """Return a surface for each pair, some of which have moments."""
    found = []
    for k, a in enumerate(names):
        for b in names[k:] if a == 'robot' else names[k + 1 :]:
            surface = {'friction': [round(x, 3) for x in rng.uniform(0.1, 0.9, 2).tolist()]}
            surface['direction'] = [1, 0, 0]
            if rng.random() < 0.6:
                surface['torsional'] = round(rng.uniform(0.001, 0.1), 4)
            if rng.random() < 0.6:
                surface['rolling'] = round(rng.uniform(0.001, 0.1), 4)
            found.append({'links': [a, b], **surface, **further})
    return found


def crowded(robot, law=None, bounce=None):
    """Return a robot that is in the way of itself, and objects in its way."""
    rng = np.random.default_rng(1)
    objects = {
        'a': ball(radius=0.08, mass=0.7),
        'b': cube(size=0.12, mass=1.3),
        'c': ball(radius=0.06, mass=0.4),
    }
    inertia = {'ixx': 6e-3, 'iyy': 4e-3, 'izz': 5e-3, 'ixy': 1e-3, 'ixz': -5e-4, 'iyz': 7e-4}
    objects['b'].update(size=[0.12, 0.2, 0.1], inertia=inertia)
    objects['b']['center_of_mass'] = [0.01, -0.02, 0.015]
    pairs = surfaces(rng, ['robot', *objects])
    pairs[-1].update(SOFT)  # b and c
    pairs[2].update(SOFT)  # the robot and b
    for k, pair in enumerate(pairs):
        if bounce is not None and k != 1:
            pair['restitution'] = 0.3 + 0.1 * (k % 3) if bounce == 'some' else 0.7
    return simulated(floor=False, robot=robot, pairs=pairs, law=law, **objects)


@pytest.fixture(scope='module')
def crowd(robot):
    return crowded(robot)


def scatter(simulator, rng):
    """Fold the arms of the robot, and throw objects between them."""
    robot = simulator.robot
    q = np.array([0.0, -0.4, 0.1, 2.2, 0.5, -2.3]) + rng.uniform(-0.3, 0.3, 6)
    at_limit = rng.integers(6)
    side = rng.random() < 0.5
    v = rng.normal(size=6)
    v[at_limit] = -abs(v[at_limit]) if side else abs(v[at_limit])
    # It is there within the step.
    limit = robot.lower_limits[at_limit] if side else robot.upper_limits[at_limit]
    q[at_limit] = limit - 0.3e-3 * v[at_limit]
    simulator.reset(q, v)
    for name in simulator.objects:
        pose = np.eye(4)
        pose[:3, :3] = Rotation.random(random_state=rng).as_matrix()
        pose[:3, 3] = np.array([0.3, 0.0, 0.0]) + rng.uniform(-0.12, 0.12, 3)
        velocity = rng.normal(size=6)
        velocity[3:] -= 4.0 * (pose[:3, 3] - (0.3, 0.0, 0.0))
        simulator.place_object(name, pose, velocity)
    return 5.0 * rng.normal(size=6)


@pytest.mark.parametrize('seed', [0, 1, 2, 3, 7])
def test_a_robot_and_objects_in_each_others_way(crowd, seed):
    rng = np.random.default_rng(seed)
    tau = scatter(crowd, rng)
    for _ in range(2):
        step = Step(crowd, tau)
        step.check()
        step.check_parting()


@pytest.fixture(scope='module', params=['newton', 'poisson'])
def bouncing_crowd(robot, request):
    return crowded(robot, request.param, 'some')


@pytest.mark.parametrize('seed', [0, 1, 2, 7])
def test_a_robot_and_objects_that_bounce(bouncing_crowd, seed):
    rng = np.random.default_rng(seed)
    step = Step(bouncing_crowd, scatter(bouncing_crowd, rng))
    step.check()


def wall(rng, number, make, **further):
    """Return things side by side and above each other, each of which overlaps with the next."""
    return {
        f'thing{k}': make(
            0.195 * (k % 4) + 0.003 * k, 0.01 * k, 0.099 + 0.195 * (k // 4),
            mass=rng.uniform(0.5, 2.0), velocity=rng.uniform(-1, 1, 3).tolist(),
            spin=rng.uniform(-3, 3, 3).tolist(), **further,
        )
        for k in range(number)
    }  # fmt: skip


@pytest.mark.parametrize(
    'surface',
    [
        {'friction': [0.3, 0.0], 'direction': [1, 0, 0]},
        {'friction': [0.0, 0.3], 'direction': [1, 0, 0]},
        {'friction': 0.0, 'torsional': 0.02},
        {'friction': 0.0, 'rolling': 0.02},
        {'friction': 0.0},
    ],
)
def test_friction_moments_slow_a_bounce_in_expansion_too(surface):
    # So fast that compression does not stop it.
    falls = ball(z=0.1003, velocity=(4.0, 3.0, -1.0), spin=(30, -40, 50))
    pairs = [{'links': ['floor', 'ball'], 'restitution': 0.6, **surface}]
    step = Step(simulated(law='poisson', pairs=pairs, ball=falls))
    assert len(step.impacts) == 1
    step.check()


@pytest.mark.parametrize('gap, bounces', [(0.9e-3, True), (1.1e-3, False)])
def test_a_body_that_does_not_arrive_within_the_step_does_not_bounce(gap, bounces):
    falls = ball(z=0.1 + gap, velocity=(0.2, 0, -1.0), friction=0.3, restitution=0.6)
    step = Step(simulated(ball=falls))
    assert step.count == 1 and len(step.impacts) == bounces
    step.check()


@pytest.mark.parametrize('law', ['newton', 'poisson'])
def test_an_impact_runs_through_a_row_of_spinning_balls(law):
    """Each round begins with the velocities that the one before has left."""
    rng = np.random.default_rng(4)
    surface = {'friction': 0.4, 'restitution': 0.8, 'torsional': 0.004, 'rolling': 0.003}
    row = {
        f'ball{k}': ball(
            0.2 * k, 0.003 * (k % 2), 0.0, mass=1.0 + 0.3 * k, velocity=(1.0 * (k == 0), 0, 0),
            spin=rng.normal(size=3).tolist(), **surface,
        )
        for k in range(4)
    }  # fmt: skip
    simulator = simulated(law=law, floor=False, gravity=(0, 0, 0), **row)
    step = Step(simulator)
    assert len(step.impacts) > 2
    step.check()


def slider(limit):
    """Return a ball on a rail."""
    inside = f'<limit lower="-{limit}" upper="{limit}" effort="100" velocity="50"/>'
    return chain(
        link('world'),
        link('slider', 0.5, (0.01,) * 3, shape=collision(f'sphere radius="{R}"')),
        joint('slide', 'world', 'slider', 'prismatic', (1, 0, 0), inside=inside),
    )


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_a_joint_that_leaves_its_limit_is_not_thrown_back_beyond_it(side):
    """The limit is in the same problem as the contact, for any impact."""
    hits = ball(x=side * (-1.0 + R + 0.1 - 1e-4), z=0.0, mass=50.0, velocity=(-3.0 * side, 0, 0))
    simulator = simulated(floor=False, robot=slider(1.0), hammer=hits)
    simulator.reset([-side], [0.15 * side])
    step = Step(simulator)
    step.check()
    assert step.contact_state.impulse[0, 0] > 1.0
    assert abs(simulator.v[0]) < 1e-9
    assert (simulator.status.limit_steps, simulator.status.velocity_clamped_steps) == (1, 0)


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_a_joint_at_rest_near_its_limit_is_not_struck_beyond_it(side):
    hits = ball(
        x=side * (1.0 - R - 0.1 - 0.02 - 1e-4), z=0.0, mass=50.0, velocity=(40.0 * side, 0, 0)
    )
    simulator = simulated(floor=False, robot=slider(1.0), hammer=hits)
    simulator.reset([0.98 * side], [0.0])
    step = Step(simulator)
    step.check()
    assert step.contact_state.impulse[0, 0] > 10.0
    assert simulator.q[0] == pytest.approx(side, abs=1e-12)
    assert simulator.status.limit_steps == 1


def test_joints_that_are_struck_to_their_limits_take_others_to_theirs():
    """Each limit is reached only because of the one before; the step is taken until all hold."""
    masses = {'a': 1.0, 'b': 0.1, 'c': 0.01}
    inside = '<limit lower="-1" upper="1" effort="100" velocity="900"/>'
    shape = {'c': collision(f'sphere radius="{R}"')}
    robot = chain(
        link('world'),
        *(link(name, mass, (0.01,) * 3, shape=shape.get(name)) for name, mass in masses.items()),
        *(
            joint(f'to_{name}', parent, name, 'prismatic', (1, 0, 0), inside=inside)
            for parent, name in zip(['world', *masses], masses)
        ),
    )
    hits = ball(x=2.9985 - R - 0.1 - 1e-4, z=0.0, mass=5.0, velocity=(4.0, 0, 0))
    simulator = simulated(floor=False, robot=robot, hammer=hits)
    simulator.reset([0.9995, 0.9995, 0.9995], [0.0, 0.0, 0.0])
    step = Step(simulator)
    step.check()
    assert (step.contact_state.joint_impulse[UPPER_LIMIT] > 0.0).all()
    assert simulator.q == pytest.approx([1.0, 1.0, 1.0], abs=1e-12)
    assert simulator.status.limit_steps == 1


def test_a_joint_that_is_stopped_does_not_throw_another_beyond_its_limit():
    """A carried object goes on when its carrier stops; an object on it makes it a problem."""
    inside = '<limit lower="-1" upper="1" effort="100" velocity="50"/>'
    robot = chain(
        link('world'),
        link('carrier', 2.0, (0.01,) * 3),
        link('slider', 0.5, (0.01,) * 3, shape=collision(f'sphere radius="{R}"')),
        joint('carry', 'world', 'carrier', 'prismatic', (1, 0, 0), inside=inside),
        joint('slide', 'carrier', 'slider', 'prismatic', (1, 0, 0), inside=inside),
    )
    rider = ball(x=1.9974, z=R + 0.1 - 1e-5, mass=1e-3, velocity=(5.0, 0, 0))
    simulator = simulated(floor=False, robot=robot, rider=rider)
    simulator.reset([0.9999, 0.98 + 0.0175], [5.0, 0.0])
    simulator.step()
    assert len(simulator.contacts) > 0
    assert simulator.q == pytest.approx([1.0, 1.0], abs=1e-9)


@pytest.mark.parametrize('side', [1.0, -1.0])
def test_the_velocity_clamp_holds_a_robot_that_is_hit(side):
    simulator = simulated(floor=False, robot=slider(9.0), hammer=ball(mass=50.0))
    guard = simulator.physics.model.speed[0]
    simulator.reset([0.0], [-0.999 * guard * side])
    pose = np.eye(4)
    pose[0, 3] = side * (R + 0.1 - 1e-4)
    simulator.place_object('hammer', pose, [0, 0, 0, -1.5 * guard * side, 0, 0])
    step = Step(simulator)
    assert np.abs(step.unexplained()).max() < 1e-9
    assert abs(simulator.v[0] + guard * side) < 1e-9 * guard
    assert (simulator.status.limit_steps, simulator.status.velocity_clamped_steps) == (0, 1)


@pytest.mark.parametrize('e', [0.0, 0.7])
def test_in_an_impact_servos_do_nothing(e):
    pairs = [{'links': ['robot', 'hammer'], 'restitution': e, 'friction': 0.2}]
    hammer = ball(x=R + 0.1 + 3e-4, velocity=(-1.0, 0.1, 0.0), z=0.0)
    simulator = simulated(floor=False, robot=slider(1.0), pairs=pairs, hammer=hammer)
    simulator.reset([0.0], [0.0])
    simulator.set_joint_pd(kp=100.0, kd=50.0)
    step = Step(simulator)
    assert len(step.impacts) == (e > 0.0)
    step.check_impacts()
    step.check_contacts(1e-8)


@pytest.mark.parametrize('depth, moves', [(5e-10, False), (2e-9, True)])
def test_overlap_by_rounding_is_not_corrected(depth, moves):
    step = Step(simulated(ball=ball(z=0.1 - depth)))
    assert abs(step.displaced()[5] - depth * moves) < 1e-12


@pytest.mark.parametrize('is_pile', [False, True])
@pytest.mark.parametrize('kind', ['plain', 'coupled', 'soft', 'newton', 'poisson'])
def test_objects_in_each_others_way(is_pile, kind, monkeypatch):
    """With a matrix and, as a pile is solved, without one."""
    if is_pile:
        monkeypatch.setattr('rbd_ros.simulation.scene.scene_step.MATRIX_FREE_THRESHOLD', 2)
        monkeypatch.setattr('rbd_ros.simulation.scene.impacts.MATRIX_FREE_THRESHOLD', 2)
    rng = np.random.default_rng(3)
    things = wall(rng, 3, cube)
    pairs = surfaces(rng, ['floor', *things])
    for k, pair in enumerate(pairs):
        if kind in ('plain', 'soft'):
            pair.pop('torsional', None)
            pair.pop('rolling', None)
        if kind == 'soft' and k % 3 == 0:
            pair.update(SOFT)
        if kind in ('newton', 'poisson') and k % 4:
            pair['restitution'] = 0.2 + 0.1 * (k % 5)
    law = kind if kind in ('newton', 'poisson') else None
    simulator = simulated(law=law, pairs=pairs, **things)
    step = Step(simulator)
    step.check()
    step.check_parting()


@pytest.fixture(scope='module')
def linkage(by_the_interpreter):
    """Return a four-bar linkage with balls in its way."""
    bars = Robot.from_urdf(
        resource_path('urdf', 'four_bar.urdf'), extension=resource_path('config', 'four_bar.yaml')
    )
    objects = {'a': ball(), 'b': ball(mass=0.3)}
    pairs = surfaces(np.random.default_rng(5), ['robot', *objects])
    return simulated(floor=False, robot=bars, pairs=pairs, **objects)


@pytest.mark.parametrize('seed', range(3))
def test_a_linkage_and_balls_in_its_way(linkage, seed):
    rng = np.random.default_rng(seed)
    linkage.reset(positions(rng.uniform(0.5, 1.2)), rng.normal(size=3))
    angle, pressed = linkage.q[0], 0
    for name in linkage.objects:
        pose = np.eye(4)
        pose[:3, 3] = 0.3 * np.array([np.cos(angle), 0, np.sin(angle)]) + (0.1, 0, 0)
        pose[:3, 3] += rng.uniform(-0.07, 0.07, 3)
        linkage.place_object(name, pose, rng.normal(size=6))
    for _ in range(2):
        step = Step(linkage, [*rng.normal(size=1), 0.0, 0.0])
        step.check()
        pressed += sum(step.contact_state.impulse[: step.count, 0] > 0.0)
        K = linkage.robot.loops.closure(step.before.q)[1]
        assert np.abs(K @ step.end[:3]).max() < 1e-10
    assert pressed > 1


def test_joints_of_two_branches_have_their_own_friction():
    free = '<limit lower="-9" upper="9" effort="100" velocity="50"/>'
    inside = f'{free}<dynamics friction="90"/>'
    shape = collision(f'sphere radius="{R}"')
    forked = chain(
        link('world'),
        link('trunk', 1.0),
        *(link(name, 0.5, shape=shape) for name in ('left', 'right')),
        joint('lift', 'world', 'trunk', 'prismatic', (0, 0, 1), inside=free),
        joint('out', 'trunk', 'left', 'prismatic', (1, 0, 0.2), (0, 0.2, 0), inside),
        joint('in', 'trunk', 'right', 'prismatic', (1, 0, -0.3), (0, -0.2, 0), inside),
    )
    hits = ball(x=R + 0.1 - 1e-4, y=0.2, z=0.01, velocity=(-1.0, 0, 0), friction=0.4)
    simulator = simulated(floor=False, robot=forked, hammer=hits)
    simulator.reset(np.zeros(3), [0.3, 0.1, -0.05])
    step = Step(simulator)
    step.check()
    assert abs(simulator.v[2]) < 1e-9 < step.contact_state.impulse[0, 0]
