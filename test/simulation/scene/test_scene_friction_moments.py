# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torsional and rolling friction in simulated worlds, against elementary mechanics."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.rigid_worlds import ball, cube, G, kinetic_energy, simulated, worst_residual
from support.simulated_robots import at, body, collision, joint, link, robot as chain

from rbd_ros import Robot
from rbd_ros.compiler.loops import interpreted_reason
from rbd_ros.simulation.stepping.stepping import step_once

R = 0.1  # of all balls [m]


def on_floor(first, **surface):
    return [{'links': [first, 'floor'], **surface}]


@pytest.mark.parametrize('angle', [0.0, 2.2])
def test_a_rolling_ball_stops_after_the_distance_that_its_energy_lasts(angle):
    """0.7 m v^2 = c m g s / R, as the moment turns by s / R."""
    c, v, h = 0.002, 0.5, 1e-3
    e = np.array([np.cos(angle), np.sin(angle), 0.0])
    start = ball(velocity=v * e, spin=np.cross((0, 0, 1), v * e) / R, friction=0.5, rolling=c)
    simulator = simulated(ball=start)
    worst, moving = 0.0, 0
    for _ in range(3900):
        simulator.step()
        worst = max(worst, worst_residual(simulator))
        velocity = simulator.object_velocity('ball')
        moving += np.abs(velocity).max() > 1e-9
        assert np.abs(np.cross(velocity[:3], (0, 0, R)) - velocity[3:]).max() < 1e-10
    distance = 0.7 * v**2 * R / (c * G)
    # Positions follow the velocities at the ends of the steps.
    place = simulator.object_pose('ball')[:2, 3]
    assert np.abs(place - (distance - h * v / 2) * e[:2]).max() < 1e-6
    assert abs(moving * h - 1.4 * v * R / (c * G)) < 1.001 * h
    assert worst < 1e-12 and simulator.status.unconverged_steps == 0
    assert np.abs(simulator.object_velocity('ball')).max() < 1e-9


@pytest.mark.parametrize('slope, c', [(0.05, 0.0051), (0.05, 0.0049)])
def test_a_ball_on_a_slope_rolls_beyond_its_moment_only(slope, c):
    gravity = (G * np.sin(slope), 0.0, -G * np.cos(slope))
    simulator = simulated(gravity=gravity, ball=ball(friction=0.5, rolling=c))
    simulator.step(n=1000)
    expected = max(0.0, 5 / 7 * G * (np.sin(slope) - c / R * np.cos(slope)))
    assert abs(simulator.object_velocity('ball')[3] - expected) < 1e-9
    (contact,) = simulator.contacts
    # It rolls about y, and the moment on it is against that.
    moment = G * (np.sin(slope) * R if not expected else c * np.cos(slope))
    on_ball = contact.moment if contact.second == 'ball' else -contact.moment
    assert np.abs(on_ball - (0, -moment, 0)).max() < 1e-9


@pytest.mark.parametrize('spin', [3.0, -3.0])
@pytest.mark.parametrize('shape', ['ball', 'cube'])
def test_a_spinning_body_stops_after_the_angle_of_its_energy(shape, spin):
    """I w^2 / 2 = c m g a, for any number of contacts."""
    c, mass, h = 0.01, 2.0, 1e-3
    make, I = (ball, 0.4 * R**2) if shape == 'ball' else (cube, 0.2**2 / 6)
    start = make(mass=mass, spin=(0, 0, spin), friction=0.0, torsional=c)
    simulator = simulated(body=start)
    worst, angle, moving = 0.0, 0.0, 0
    for _ in range(300):
        simulator.step()
        worst = max(worst, worst_residual(simulator))
        angle += h * simulator.object_velocity('body')[2]
        moving += abs(simulator.object_velocity('body')[2]) > 1e-9
    expected = I * spin**2 / (2 * c * G)
    assert abs(abs(angle) - (expected - h * abs(spin) / 2)) < 1e-5 and angle * spin > 0.0
    assert abs(moving * h - I * abs(spin) / (c * G)) < 1.001 * h
    assert worst < 1e-12


def turntable(friction=0.0, inertia=0.3):
    """Return the disc that turns about the vertical, its upper side at z = 0."""
    return Robot.from_urdf(f"""<robot name="turntable">
      <link name="world"/><link name="disc">
        <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="{inertia}"
          ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><origin xyz="0 0 -0.05"/>
          <geometry><box size="2 2 0.1"/></geometry></collision></link>
      <joint name="turn" type="continuous"><parent link="world"/><child link="disc"/>
        <axis xyz="0 0 1"/><dynamics friction="{friction}" damping="0"/></joint></robot>""")


@pytest.mark.parametrize('shape', ['ball', 'cube'])
def test_a_turntable_passes_its_spin_to_the_body_on_it(shape):
    """By c m g, until both turn alike; friction in the joint is in the same problem."""
    c, mass, held = 0.01, 2.0, 0.05
    make, I = (ball, 0.4 * mass * R**2) if shape == 'ball' else (cube, mass * 0.2**2 / 6)
    pairs = [{'links': ['robot', 'body'], 'friction': 0.0, 'torsional': c}]
    simulator = simulated(floor=False, pairs=pairs, robot=turntable(held), body=make(mass=mass))
    w, n = 2.0, 50
    simulator.reset([0.0], [w])
    simulator.step(n=n)
    moment, time = c * mass * G, n * 1e-3
    assert abs(simulator.v[0] - (w - (moment + held) / 0.3 * time)) < 1e-9
    assert abs(simulator.object_velocity('body')[2] - moment / I * time) < 1e-9
    assert abs(simulator.constraint_force[0] + moment + held) < 1e-9
    simulator.step(n=1000)
    # Held by the moment alone, as one body that the joint slows down.
    meets = w / ((moment + held) / 0.3 + moment / I)
    together = moment / I * meets
    left = together - held / (0.3 + I) * (1.05 - meets)
    assert abs(simulator.v[0] - left) < 2e-3
    assert abs(simulator.object_velocity('body')[2] - simulator.v[0]) < 1e-9
    assert worst_residual(simulator) < 1e-12


def test_a_geared_turntable_feels_the_moment_by_its_ratio():
    c, mass, n = 0.01, 2.0, 20
    shape = '<collision><origin xyz="0 0 -0.05"/><geometry><box size="2 2 0.1"/></geometry>'
    robot = chain(
        link('world'),
        link('motor', 1.0, (1, 1, 0.3)),
        link('disc', 1.0, (1, 1, 0.2), shape=f'{shape}</collision>'),
        joint('motor', 'world', 'motor', axis=(0, 0, 1)),
        joint(
            'turn', 'world', 'disc', axis=(0, 0, 1),
            inside='<mimic joint="motor" multiplier="-2"/>',
        ),
    )  # fmt: skip
    pairs = [{'links': ['robot', 'body'], 'friction': 0.0, 'torsional': c}]
    simulator = simulated(floor=False, pairs=pairs, robot=robot, body=ball(mass=mass))
    simulator.reset(np.zeros(robot.nq), np.ones(robot.nv))
    simulator.step(n=n)
    assert robot.nv == 1
    slower = 2 * c * mass * G / (0.3 + 4 * 0.2)
    assert abs(simulator.v[0] - (1.0 - slower * n * 1e-3)) < 1e-9
    faster = c * mass * G / (0.4 * mass * R**2)
    assert abs(simulator.object_velocity('body')[2] + faster * n * 1e-3) < 1e-9


def test_a_ball_on_rails_is_slowed_down_and_does_not_slip():
    """Friction and the moment are one problem for joints, too."""
    c, speed, n = 0.002, 0.5, 60
    limit = '<limit lower="-9" upper="9" effort="100" velocity="100"/>'
    robot = chain(
        link('world'),
        link('rail'),
        link('fork'),
        link('ball', 1.0, (0.004, 0.004, 0.004), shape=collision(f'sphere radius="{R}"')),
        joint('x', 'world', 'rail', 'prismatic', (1, 0, 0), inside=limit),
        joint('z', 'rail', 'fork', 'prismatic', (0, 0, 1), inside=limit),
        joint('y', 'fork', 'ball', axis=(0, 1, 0)),
    )
    simulator = simulated(robot=robot, pairs=on_floor('robot', friction=0.5, rolling=c))
    simulator.reset([0.0, R, 0.0], [speed, 0.0, speed / R])
    for _ in range(n):
        simulator.step()
        assert abs(simulator.v[0] - R * simulator.v[2]) < 1e-10
    assert abs(simulator.v[0] - (speed - c * G / (1.4 * R) * n * 1e-3)) < 1e-9


def test_a_robot_and_an_object_of_one_shape_move_identically():
    """A ball that slides, rolls and spins: as a free base, and as an object."""
    surface = {'friction': 0.3, 'rolling': 0.004, 'torsional': 0.003}
    twist = [2.0, -3.0, 9.0, 0.8, 0.1, 0.0]
    alone = simulated(
        h=2e-4,
        ball=ball(velocity=twist[3:], spin=twist[:3]),
        pairs=on_floor('ball', **surface),
    )
    robot = body(1.0, [0.4 * R**2] * 3, collision(f'sphere radius="{R}"'))
    simulator = simulated(h=2e-4, robot=robot, pairs=on_floor('robot', **surface))
    simulator.reset(at((0, 0, R)), twist)
    for _ in range(8):
        alone.step(n=500)
        simulator.step(n=500)
        turned = Rotation.from_quat(np.roll(simulator.q[:4], -1))
        turning, velocity = turned.apply(simulator.v[:3]), turned.apply(simulator.v[3:])
        assert np.abs(np.r_[turning, velocity] - alone.object_velocity('ball')).max() < 1e-2
    # A free base has its velocity along its own axes, which is of first order.
    assert alone.object_velocity('ball')[2] < 4.0


def test_a_bounce_takes_spin_away_by_its_normal_impulse():
    c, fall, w = 0.01, 1.0, (0.5, 0.2, 3.0)
    start = ball(
        z=R + 0.0005, velocity=(0, 0, -fall), spin=w, friction=0.0, restitution=1.0,
        torsional=c, rolling=c / 2,
    )  # fmt: skip
    simulator = simulated(gravity=(0, 0, 0), ball=start)
    simulator.step()
    after, I = simulator.object_velocity('ball'), 0.4 * R**2
    assert abs(after[5] - fall) < 1e-12
    assert abs(after[2] - (w[2] - c * 2 * fall / I)) < 1e-9 if w[2] > c * 2 * fall / I else True
    turning = np.hypot(w[0], w[1])
    left = max(0.0, turning - c / 2 * 2 * fall / I)
    assert np.abs(after[:2] - left / turning * np.array(w[:2])).max() < 1e-9


def test_moments_take_energy_only():
    rng = np.random.default_rng(5)
    objects = {}
    for k in range(8):
        place = rng.uniform(-0.4, 0.4, 3)
        further = {'velocity': -4 * place, 'spin': rng.uniform(-9, 9, 3), 'friction': 0.3}
        further.update(torsional=0.02, rolling=0.01, restitution=0.5 * (k % 2))
        make, size = (cube, {'size': 0.15}) if k % 3 else (ball, {'radius': 0.08})
        further['mass'] = rng.uniform(0.5, 3.0)
        objects[f'body{k}'] = make(*place, **size, **{k: _plain(v) for k, v in further.items()})
    simulator = simulated(floor=False, gravity=(0, 0, 0), **objects)
    state, mass = simulator.physics.objects, simulator.physics.model.scene.bodies.mass
    energy, momentum, coupled = kinetic_energy(simulator), mass @ state.velocity, 0
    for _ in range(200):
        simulator.step()
        now = kinetic_energy(simulator)
        assert now <= energy + 1e-12
        energy = now
        coupled += any(np.abs(each.moment).max() > 0.0 for each in simulator.contacts)
    assert coupled > 10
    assert np.abs(mass @ state.velocity - momentum).max() < 1e-12


def _plain(value):
    return value.tolist() if isinstance(value, np.ndarray) else value


def test_a_body_without_friction_moments_moves_as_in_a_world_without_any():
    falls = cube(z=0.3, turned=(0.3, 0.2, 0.1), friction=0.4)
    plain = simulated(cube=falls)
    beside = simulated(cube=falls, ball=ball(x=5.0, friction=0.4, rolling=0.01))
    plain.step(n=400)
    beside.step(n=400)
    assert np.array_equal(plain.object_pose('cube'), beside.object_pose('cube'))
    assert not any(each.moment.any() for each in plain.contacts)


def mixed_scene():
    start = ball(velocity=(0.4, 0.1, 0), spin=(-1, 4, 6), friction=0.5, rolling=0.003)
    top = cube(0.0, 0.0, 0.1, size=0.2, spin=(0, 0, 4), friction=0.3, torsional=0.01)
    pairs = [{'links': ['robot', 'cube'], 'friction': 0.3, 'torsional': 0.02}]
    return simulated(
        floor=False,
        robot=turntable(0.01),
        pairs=pairs,
        cube=top,
        ball=dict(start, xyz=[0.6, 0, R]),
    )


def test_compiled_and_interpreted_moments_agree():
    if interpreted_reason() is not None:
        pytest.skip(interpreted_reason())
    machine, python = mixed_scene(), mixed_scene()
    machine.step(n=63)
    python.step(n=60)
    fields = python.physics.fields
    for _ in range(3):
        assert step_once(fields)
    assert np.allclose(machine.q, python.q, atol=1e-12)
    for name in machine.objects:
        assert np.allclose(machine.object_velocity(name), python.object_velocity(name), atol=1e-10)


def test_a_snapshot_holds_moments():
    simulator = mixed_scene()
    simulator.step(n=100)
    kept = simulator.snapshot()
    simulator.step(n=100)
    first = [simulator.object_pose(name) for name in simulator.objects]
    simulator.restore(kept)
    simulator.step(n=100)
    again = [simulator.object_pose(name) for name in simulator.objects]
    assert all(np.array_equal(a, b) for a, b in zip(first, again))


def test_moments_start_from_those_of_the_step_before():
    """They follow the features that touch, so that a step at rest takes nothing to solve."""
    slope = 0.03
    gravity = (G * np.sin(slope), 0.0, -G * np.cos(slope))
    simulator = simulated(gravity=gravity, ball=ball(friction=0.5, rolling=0.01, torsional=0.01))
    simulator.step(n=3)
    before = simulator.physics.contact_state.moment.copy()
    assert np.abs(before).max() > 1e-5
    simulator.step()
    space = simulator.physics.fields.work.scene.space
    assert not space.report[3:5].any()  # no sweep and no other step
    assert np.allclose(simulator.physics.contact_state.moment, before, rtol=1e-9, atol=1e-18)


def test_objects_come_and_go_beside_moments():
    """A ball rolls on as it did; one that comes is slowed down by moments that were not there."""
    c, speed = 0.002, 0.5
    rolls = ball(velocity=(speed, 0, 0), spin=(0, speed / R, 0), friction=0.5, rolling=c)
    simulator, alone = simulated(ball=rolls), simulated(ball=rolls)
    plain = simulated(cube=cube(friction=0.5))
    for each in (simulator, alone, plain):
        each.step(n=50)
    simulator.add_object('other', cube(x=5.0))
    plain.add_object('ball', dict(rolls, xyz=[5.0, 0.0, R]))
    for each in (simulator, alone, plain):
        each.step(n=50)
    before, after = alone.object_velocity('ball'), simulator.object_velocity('ball')
    assert np.abs(after - before).max() < 1e-12
    assert abs(after[3] - (speed - c * G / (1.4 * R) * 0.1)) < 1e-9
    assert abs(plain.object_velocity('ball')[3] - (speed - c * G / (1.4 * R) * 0.05)) < 1e-9
    assert np.abs(plain.object_velocity('cube')).max() < 1e-9


# -- among more contacts than a matrix is made of -------------------------------------------------


def plate_on_balls(speed, c, n=20, plate_mass=5.0):
    """Return the plate that moves on balls, which roll: both stop alike."""
    balls = {
        f'ball{k}': ball(
            x=0.3 * (k % 5), y=0.3 * (k // 5), friction=0.8, rolling=c,
            velocity=(speed / 2, 0, 0), spin=(0, speed / (2 * R), 0),
        )
        for k in range(n)
    }  # fmt: skip
    plate = cube(x=0.6, y=0.45, z=2 * R + 0.05, mass=plate_mass, velocity=(speed, 0, 0))
    plate.update(size=[3.0, 3.0, 0.1], surface={'friction': 0.8, 'rolling': c})
    return simulated(plate=plate, **balls)


def test_a_plate_on_many_balls_is_slowed_down_by_their_rolling_friction():
    speed, c, n, mass, steps = 0.4, 0.002, 20, 5.0, 100
    simulator = plate_on_balls(speed, c, n, mass)
    worst = 0.0
    for _ in range(steps):
        simulator.step()
        worst = max(worst, worst_residual(simulator))
    assert simulator.status.contacts == 2 * n
    # Each ball turns at V / (2 R) against the floor and against the plate.
    slower = c * (mass + n + mass) * G / (2 * R) / (mass + 0.35 * n)
    velocity = simulator.object_velocity('plate')
    assert abs(velocity[3] - (speed - slower * steps * 1e-3)) < 1e-7
    assert worst < 1e-10 and simulator.status.unconverged_steps == 0
    simulator.step(n=1600)
    assert np.abs(simulator.object_velocity('plate')).max() < 1e-7


def test_a_tower_that_spins_stops_as_one():
    """The floor holds it back least, so that nothing turns between the blocks."""
    c, count, w, steps = 0.004, 9, 2.0, 50
    blocks = {
        f'b{k}': cube(z=0.1 + 0.2 * k, spin=(0, 0, w), friction=0.0, torsional=2 * c)
        for k in range(count)
    }
    simulator = simulated(pairs=on_floor('b0', friction=0.0, torsional=c), **blocks)
    simulator.step(n=steps)
    assert simulator.status.contacts == 4 * count
    inertia = 0.2**2 / 6
    expected = w - c * G / inertia * steps * 1e-3
    for name in blocks:
        assert abs(simulator.object_velocity(name)[2] - expected) < 1e-7
    assert simulator.status.unconverged_steps == 0 and worst_residual(simulator) < 1e-10
    assert (
        abs(sum(each.moment[2] for each in simulator.contacts if each.first == 'floor'))
        - (c * count * G)
        < 1e-6
    )


def test_many_impacts_at_once_take_spin_away():
    c, w = 0.002, 3.0
    start = {'z': 0.1005, 'velocity': (0, 0, -1.0), 'spin': (0, 0, w), 'friction': 0.0}
    balls = {f'ball{k}': ball(x=0.3 * k, restitution=0.5, torsional=c, **start) for k in range(34)}
    simulator = simulated(gravity=(0, 0, 0), **balls)
    simulator.step()
    for name in balls:
        assert abs(simulator.object_velocity(name)[2] - (w - c * 1.5 / 0.004)) < 1e-9


@pytest.mark.parametrize('seed', [0, 1])
def test_boxes_that_bounce_and_roll_on_each_other_are_solved(seed):
    """Four that fall on each other: faces, edges and corners, sixteen moments and more at once."""
    rng = np.random.default_rng(seed)
    boxes = {
        f'box_{k}': cube(
            *0.02 * rng.normal(size=2),
            0.1 + 0.23 * k,
            turned=0.05 * rng.normal(size=3),
            restitution=0.4,
            torsional=0.01,
            rolling=0.001,
        )
        for k in range(4)
    }
    simulator = simulated(**boxes)
    simulator.step(n=700)
    assert simulator.status.unconverged_steps <= 3
    assert kinetic_energy(simulator) < 0.1
