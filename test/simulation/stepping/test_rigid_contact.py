# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Rigid contact with friction in a simulated world, against elementary mechanics."""

import numpy as np
import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.compiler.loops import interpreted_reason
from rbd_ros.lookup.resources import resource_path
from rbd_ros.simulation.stepping.stepping import step_once

G = 9.81
PLANE = {'type': 'plane'}


def box(x, y, z, size=0.2, mass=1.0, friction=0.4, **further):
    return {
        'type': 'box',
        'size': [size] * 3,
        'xyz': [x, y, z],
        'static': False,
        'mass': mass,
        'surface': {'friction': friction},
        **further,
    }


def ball(x, y, z, radius=0.1, mass=1.0, friction=0.0, restitution=0.0, **further):
    return {
        'type': 'sphere',
        'radius': radius,
        'xyz': [x, y, z],
        'static': False,
        'mass': mass,
        'surface': {'friction': friction, 'restitution': restitution},
        **further,
    }


def world(floor=True, gravity=(0.0, 0.0, -G), pairs=(), **objects):
    if floor:
        objects = {'floor': PLANE, **objects}
    return {'gravity': list(gravity), 'objects': objects, 'pairs': list(pairs)}


def position(simulator, name):
    return simulator.object_pose(name)[:3, 3]


def speed(simulator, name):
    return np.abs(simulator.object_velocity(name)).max()


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(resource_path('urdf', 'six_axis_arm.urdf'))


# -- friction -------------------------------------------------------------------------------------


def test_a_sliding_cube_stops_where_coulomb_says():
    mu, v, h = 0.4, 1.0, 1e-3
    pairs = [{'links': ['floor', 'cube'], 'friction': mu}]
    start = box(0, 0, 0.1, velocity={'linear': [v, 0, 0]})
    simulator = Simulator(None, world=world(cube=start, pairs=pairs), timestep=h)
    largest = 0.0
    for _ in range(300):
        simulator.step()
        largest = max(largest, simulator.residuals.signorini, simulator.residuals.contact)
    # Positions follow the velocities at the ends of the steps: h v / 2 less than it would be.
    assert abs(position(simulator, 'cube')[0] - (v**2 / (2 * mu * G) - h * v / 2)) < 1e-6
    assert largest < 1e-12
    before = simulator.object_pose('cube')
    simulator.step(n=60_000)
    assert np.abs(simulator.object_pose('cube') - before).max() < 1e-9
    assert speed(simulator, 'cube') < 1e-11


@pytest.mark.parametrize('friction, moves', [(0.5, True), (0.7, False)])
def test_a_cube_on_a_slope_slides_where_friction_is_less_than_its_tangent(friction, moves):
    slope = np.arctan(0.6)
    gravity = (G * np.sin(slope), 0.0, -G * np.cos(slope))
    pairs = [{'links': ['floor', 'cube'], 'friction': friction}]
    simulator = Simulator(None, world=world(gravity=gravity, cube=box(0, 0, 0.1), pairs=pairs))
    simulator.step(n=500)
    expected = G * (np.sin(slope) - friction * np.cos(slope)) * 0.5 if moves else 0.0
    assert abs(simulator.object_velocity('cube')[3] - expected) < 1e-9


def test_friction_across_a_direction_is_that_of_the_world_file():
    surface = {'friction': [0.6, 0.1], 'direction': [0, 1, 0]}
    cube = box(0, 0, 0.1, rpy=[0, 0, np.pi / 2], velocity={'linear': [1, 1, 0]})
    pairs = [{'links': ['cube', 'floor'], **surface}]
    simulator = Simulator(None, world=world(cube=cube, pairs=pairs))
    simulator.step()
    # The cube's y axis is the world's -x: 0.6 along it, 0.1 along y. Friction is what dissipates
    # most within that ellipse.
    slowed = (1.0 - simulator.object_velocity('cube')[3:5]) / (G * 1e-3)
    v = simulator.object_velocity('cube')[3:5]
    expected = np.array([0.36, 0.01]) * v / np.hypot(0.6 * v[0], 0.1 * v[1])
    assert np.allclose(slowed, expected, rtol=1e-6)


def test_a_ball_rolls_down_a_slope_as_galilei_says():
    slope = 0.3
    gravity = (G * np.sin(slope), 0.0, -G * np.cos(slope))
    pairs = [{'links': ['floor', 'ball'], 'friction': 0.5}]
    simulator = Simulator(None, world=world(gravity=gravity, ball=ball(0, 0, 0.1), pairs=pairs))
    simulator.step(n=1000)
    velocity = simulator.object_velocity('ball')
    assert abs(velocity[3] - 5 / 7 * G * np.sin(slope)) < 1e-9
    assert abs(velocity[1] - velocity[3] / 0.1) < 1e-8  # without slip
    assert abs(position(simulator, 'ball')[2] - 0.1) < 1e-9


# -- many bodies ----------------------------------------------------------------------------------


def test_a_heavy_cube_stands_on_one_a_million_times_lighter():
    objects = {'light': box(0, 0, 0.1, mass=1e-3), 'heavy': box(0, 0, 0.3, mass=1e3)}
    simulator = Simulator(None, world=world(**objects))
    simulator.step(n=3000)
    for name, height in (('light', 0.1), ('heavy', 0.3)):
        assert np.abs(position(simulator, name) - (0, 0, height)).max() < 1e-6
        assert speed(simulator, name) < 1e-8
    assert max(simulator.residuals) < 1e-8
    support = sum(c.force for c in simulator.contacts if c.first == 'floor')
    assert np.allclose(support, (0, 0, (1e3 + 1e-3) * G), rtol=1e-6, atol=1e-3)


def test_a_tower_of_ten_blocks_stands():
    blocks = {f'block{k}': box(0, 0, 0.1 + 0.2 * k) for k in range(10)}
    simulator = Simulator(None, world=world(**blocks))
    simulator.step(n=1000)
    for k in range(10):
        assert np.abs(position(simulator, f'block{k}') - (0, 0, 0.1 + 0.2 * k)).max() < 1e-7
    assert max(simulator.residuals) < 1e-10
    assert simulator.status.contacts >= 30  # some corners need not press


def test_far_bodies_do_not_depend_on_each_other():
    alone = Simulator(None, world=world(a=box(0, 0, 0.3, rpy=[0.3, 0.2, 0.1])))
    both = Simulator(
        None, world=world(a=box(0, 0, 0.3, rpy=[0.3, 0.2, 0.1]), b=box(5, 0, 0.5, mass=7.0))
    )
    alone.step(n=400)
    both.step(n=400)
    assert np.array_equal(alone.object_pose('a'), both.object_pose('a'))


# -- impacts --------------------------------------------------------------------------------------


def test_a_perfectly_elastic_ball_keeps_its_energy_forever():
    floor = {'type': 'plane', 'surface': {'restitution': 1.0}}
    simulator = Simulator(
        None, world=world(floor=False, floor_=floor, ball=ball(0, 0, 5, mass=10, restitution=1))
    )

    def energy():
        return 10 * (
            G * position(simulator, 'ball')[2] + simulator.object_velocity('ball')[5] ** 2 / 2
        )

    start, lowest = energy(), np.inf
    for _ in range(200):
        simulator.step(n=100)
        assert abs(energy() - start) < 1e-9
        lowest = min(lowest, position(simulator, 'ball')[2])
    assert lowest > 0.0  # and has not fallen through


@pytest.mark.parametrize('e', [0.5, 0.8])
def test_a_ball_rebounds_with_the_coefficient_of_restitution(e):
    simulator = Simulator(None, world=world(ball=ball(0, 0, 0.6, restitution=e)))
    speeds = []
    for _ in range(1000):
        simulator.step()
        speeds.append(simulator.object_velocity('ball')[5])
    first = int(np.argmax(np.array(speeds) > 0.0))
    # Gravity acts in the step of the impact, too.
    assert abs(speeds[first] + G * 1e-3 + e * speeds[first - 1]) < 1e-9


def test_newtons_cradle_hands_the_impact_on():
    balls = {
        f'ball{k}': ball(
            0.2 * k - (0.1 if k == 0 else 0.0),
            0,
            0,
            restitution=1.0,
            velocity={'linear': [1.0 if k == 0 else 0.0, 0, 0]},
        )
        for k in range(5)
    }
    simulator = Simulator(None, world=world(floor=False, gravity=(0, 0, 0), **balls))
    simulator.step(n=300)
    velocities = [simulator.object_velocity(f'ball{k}')[3] for k in range(5)]
    assert np.allclose(velocities, [0, 0, 0, 0, 1], atol=1e-12)


def test_momentum_of_colliding_bodies_is_kept():
    rng = np.random.default_rng(3)
    objects = {}
    for k in range(6):
        place = rng.uniform(-0.5, 0.5, 3)
        velocity = {'linear': (-4 * place).tolist(), 'angular': rng.uniform(-9, 9, 3).tolist()}
        turned = rng.uniform(-3, 3, 3).tolist()
        mass = rng.uniform(0.5, 3.0)
        objects[f'box{k}'] = box(*place, 0.15, mass, 0.6, rpy=turned, velocity=velocity)
    simulator = Simulator(None, world=world(floor=False, gravity=(0, 0, 0), **objects))
    state, mass = simulator.physics.objects, simulator.physics.model.scene.bodies.mass

    def momentum():
        linear = mass @ state.velocity
        angular = (
            state.angular_momentum + np.cross(state.position, mass[:, None] * state.velocity)
        ).sum(0)
        return linear, angular

    before, in_contact = momentum(), 0
    for _ in range(200):
        simulator.step()
        in_contact += len(simulator.contacts)
    assert in_contact > 20
    assert np.abs(momentum()[0] - before[0]).max() < 1e-12
    # Position correction separates overlaps, by which velocities get other arms.
    assert np.abs(momentum()[1] - before[1]).max() < 2e-3


def test_a_body_in_free_flight_keeps_its_angular_momentum_bitwise():
    start = {'linear': [1, 0, 2], 'angular': [0.1, 8.0, 0.05]}
    body = box(0, 0, 0, velocity=start)
    body.update(size=[0.3, 0.2, 0.1])
    simulator = Simulator(None, world=world(floor=False, body=body))
    state, bodies = simulator.physics.objects, simulator.physics.model.scene.bodies
    momentum = state.angular_momentum.copy()

    def energy():
        omega = simulator.object_velocity('body')[:3]
        return 0.5 * omega @ state.angular_momentum[0]

    first = energy()
    simulator.step(n=1000)
    assert np.array_equal(state.angular_momentum, momentum)
    assert abs(energy() / first - 1.0) < 2e-5
    assert np.allclose(position(simulator, 'body'), (1.0, 0.0, 2.0 - G / 2), atol=1e-10)
    assert bodies.mass[0] == 1.0


# -- robots ---------------------------------------------------------------------------------------


def floor_at(height):
    return {'type': 'plane', 'xyz': [0, 0, height]}


@pytest.mark.slow
def test_an_arm_that_lies_on_the_floor_is_held_by_contact_forces(arm):
    low = world(floor=False, low=floor_at(-0.2))
    simulator = Simulator(arm, world=low, enforce_velocity_limits=False)
    simulator.reset([0.0, -0.3, 0.4, 0.0, 0.3, 0.0])
    for _ in range(300):  # as in honey
        simulator.step(-2.0 * simulator.v, n=100)
    assert np.abs(simulator.v).max() < 1e-6
    assert max(simulator.residuals) < 1e-10
    q, moment = simulator.q, np.zeros(6)
    found = [c for c in simulator.contacts if c.second.startswith('robot/')] + [
        c._replace(second=c.first, force=-c.force)
        for c in simulator.contacts
        if c.first.startswith('robot/')
    ]
    assert found
    for contact in found:
        # By the principle of virtual work, with the Jacobian of an independent kernel.
        frame = arm.frame(contact.second.partition('/')[2], 'aligned')
        J, origin = frame.jacobian(q), frame.pose(q)[:3, 3]
        moment += J[3:].T @ contact.force
        moment += J[:3].T @ np.cross(contact.position - origin, contact.force)
    limits = simulator.constraint_force - moment
    stopped = (np.abs(q - arm.lower_limits) < 1e-6) | (np.abs(q - arm.upper_limits) < 1e-6)
    held = stopped | (np.array(arm.friction) > 0.0)
    assert np.abs(limits[~held]).max(initial=0.0) < 1e-6
    assert np.abs(arm.gravity_torque(q) - simulator.constraint_force - simulator.tau).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint', 'rk4'])
def test_a_distant_object_does_not_change_the_motion_of_an_arm(arm, integrator):
    q = np.array([0.0, -np.pi / 2, 0.0, 0.0, 0.0, 0.0])
    objects = world(floor=False, ball=ball(0, 0, 0))
    simulator = Simulator(arm, world=objects, integrator=integrator)
    lone = Simulator(arm, integrator=integrator)
    for each in (simulator, lone):
        each.reset(q)
    simulator.place_object('ball', [[1, 0, 0, 9], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    for each in (simulator, lone):
        each.step(n=300)
    assert np.array_equal(simulator.q, lone.q)


def test_joint_limits_and_contact_are_one_problem(arm):
    simulator = Simulator(arm, world=world(floor=False, low=floor_at(-0.2)))
    for _ in range(20):
        simulator.step(np.array([0.0, -40.0, 0.0, 0.0, 0.0, 0.0]), n=100)
        inside = (simulator.q >= arm.lower_limits - 1e-9) & (
            simulator.q <= arm.upper_limits + 1e-9
        )
        assert inside.all()


# -- the simulator --------------------------------------------------------------------------------


def scene_of_everything(arm):
    cube = box(0.5, 0.1, 0.3, size=0.1, rpy=[0.2, 0.4, 0.1])
    return Simulator(arm, world=world(cube=cube, ball=ball(0.3, -0.3, 0.5, friction=0.3)))


def test_compiled_and_interpreted_steps_agree(arm):
    if interpreted_reason() is not None:
        pytest.skip(interpreted_reason())
    machine, python = scene_of_everything(arm), scene_of_everything(arm)
    machine.step(n=230)
    python.step(n=225)
    fields = python.physics.fields
    for _ in range(5):
        assert step_once(fields)
    assert np.allclose(machine.q, python.q, atol=1e-12)
    for name in machine.objects:
        assert np.allclose(machine.object_pose(name), python.object_pose(name), atol=1e-12)


@pytest.mark.slow
def test_objects_are_pushed_like_links():
    body = box(0.3, 0.2, 0.1, mass=2.0, rpy=[0.4, 0.5, 0.6])
    simulator = Simulator(None, world=world(floor=False, gravity=(0, 0, 0), body=body))
    pose = simulator.object_pose('body')
    force, moment, point = np.array([1, 2, 3.0]), np.array([0.1, -0.2, 0.3]), [0.05, 0.02, -0.1]
    handle = simulator.apply_wrench('body', [*moment, *force], point=point)
    simulator.step()
    assert np.allclose(simulator.object_velocity('body')[3:], force / 2.0 * 1e-3, atol=1e-15)
    arm = pose[:3, :3] @ point
    inertia = 2.0 * 0.2**2 / 6.0  # of a cube, the same about all axes
    expected = (moment + np.cross(arm, force)) / inertia * 1e-3
    assert np.allclose(simulator.object_velocity('body')[:3], expected, rtol=1e-9)
    simulator.clear_wrenches(handle)
    simulator.reset()
    # Without a point: the moment is about the origin of the world.
    simulator.apply_wrench('body', [*moment, *force], duration=1e-3)
    simulator.step(n=2)
    expected = (moment - np.cross(pose[:3, 3], force)) / inertia * 1e-3
    assert np.allclose(simulator.object_velocity('body')[:3], expected, rtol=1e-9)


def test_a_snapshot_holds_objects_and_contacts(arm):
    simulator = scene_of_everything(arm)
    simulator.step(n=300)
    kept = simulator.snapshot()
    simulator.step(n=200)
    first = [simulator.q, *(simulator.object_pose(name) for name in simulator.objects)]
    simulator.restore(kept)
    simulator.step(n=200)
    again = [simulator.q, *(simulator.object_pose(name) for name in simulator.objects)]
    assert all(np.array_equal(a, b) for a, b in zip(first, again))


def test_rollouts_in_a_world_are_those_of_steps(arm):
    simulator = scene_of_everything(arm)
    starts = np.array([[0.0, -0.5, 0.5, 0, 0, 0], [0.0, 0.2, 0.4, 0.1, 0.3, 0.2]])
    motions = simulator.rollout(starts, steps=400)
    for start, q in zip(starts, motions.q):
        simulator.reset(start)
        simulator.step(n=400)
        assert np.array_equal(simulator.q, q[-1])


def test_overlaps_are_corrected_slowly_without_gain_of_speed():
    cube = box(0, 0, 0.07)  # 3 cm deep
    simulator = Simulator(None, world=world(cube=cube))
    assert simulator.warnings == (
        "'floor' and 'cube' overlap by 30.0 mm at the start; they are moved apart slowly, by at "
        'most 0.5 m/s',
    )
    assert simulator.time == 0.0 and position(simulator, 'cube')[2] == 0.07
    fastest = 0.0
    for _ in range(200):
        simulator.step()
        fastest = max(fastest, speed(simulator, 'cube'))
    assert fastest < 1e-3  # as of a fall from less than a micrometre
    assert abs(position(simulator, 'cube')[2] - 0.1) < 1e-6


@pytest.mark.parametrize('velocity', [(1e200, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 1e308)])
def test_a_motion_that_is_not_finite_is_not_taken_and_names_the_object(velocity):
    simulator = Simulator(None, world=world(cube=box(0, 0, 1), other=box(2, 0, 1)))
    simulator.place_object('cube', np.eye(4), velocity)
    with pytest.raises(FloatingPointError, match='motion of cube.* is not finite at time'):
        simulator.step(n=3)
    for name, array in simulator.snapshot().arrays.items():
        if name.startswith('objects'):
            assert np.isfinite(array).all()


def test_an_invalid_world_is_rejected_by_name(arm):
    with pytest.raises(ValueError, match='must be a world'):
        Simulator(None)
    with pytest.raises(ValueError, match='ground does not apply to a world'):
        Simulator(arm, world=world(), ground=True)
    with pytest.raises(ValueError, match='gravity of the world'):
        Simulator(arm, world=world(gravity=(0, 0, -1.62)))
    with pytest.raises(ValueError, match="link or movable object 'cub'; did you mean 'cube'"):
        Simulator(None, world=world(cube=box(0, 0, 1))).apply_wrench('cub', np.zeros(6))
    with pytest.raises(ValueError, match="did you mean 'cube'"):
        Simulator(None, world=world(cube=box(0, 0, 1))).object_pose('cub')
    simulator = Simulator(None, world=world(cube=box(0, 0, 1)))
    for pose, reason in (
        (np.eye(3), 'shape'),
        (2 * np.eye(4), 'rotation'),
        (np.full((4, 4), np.nan), 'finite'),
    ):
        with pytest.raises(ValueError, match=reason):
            simulator.place_object('cube', pose)


def test_steps_with_numbers_that_are_not_finite_change_nothing():
    simulator = Simulator(None, world=world(cube=box(0, 0, 1)))
    simulator.physics.objects.velocity[0, 2] = np.inf
    before = simulator.object_pose('cube')
    with pytest.raises(FloatingPointError):
        simulator.step()
    assert np.array_equal(simulator.object_pose('cube'), before)
