# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errors of the contact benchmark, for exact motions and wrong ones."""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside
from support.contact_benchmark import arms, balls, boxes, made_up, quadruped, scene

from rbd_ros import Robot

G = scene.GRAVITY


def evenly(the_scene, time, accelerations):
    """Return the velocities of bodies by name that begin at rest and accelerate evenly."""
    velocity = np.zeros((len(time), len(the_scene.free), 6))
    for name, acceleration in accelerations.items():
        velocity[:, the_scene.index(name), 3:] = np.outer(time, acceleration)
    return velocity


# -- balls ----------------------------------------------------------------------------------------


def test_accelerations_of_the_rolling_scene_are_the_published_ones():
    plate, ball = balls.rolling_accelerations()
    assert (round(plate, 4), round(ball, 3)) == (0.7385, 0.211)
    assert ball == pytest.approx(2.0 / 7.0 * plate)  # of a solid ball that rolls on what moves


@pytest.mark.parametrize('the_scene', [balls.ROLLING_Y, balls.ROLLING_XY], ids=lambda s: s.name)
def test_rolling_scores_nothing_if_exact_and_as_published_if_stuck(the_scene):
    time = np.arange(4000) * 1e-3
    along = np.array([0.5, math.sqrt(0.75), 0.0])
    if the_scene.name == 'rolling_y':
        along = np.array([0.0, 1.0, 0.0])
    (error,) = the_scene.errors
    plate, ball = balls.rolling_accelerations()
    exact = evenly(the_scene, time, {'plate': plate * along, 'ball0': ball * along})
    assert error.of(the_scene, made_up(the_scene, time, velocity=exact)) < 1e-28
    assert error.of(the_scene, made_up(the_scene, time)) == pytest.approx(3.145, abs=1e-3)
    # Each of the two counts, in each direction.
    for name, acceleration in (('plate', plate), ('ball0', ball)):
        one = evenly(the_scene, time, {'plate': plate * along, 'ball0': ball * along})
        one[:, the_scene.index(name), 3:] += 0.1
        score = error.of(the_scene, made_up(the_scene, time, velocity=one))
        assert score == pytest.approx(0.03, rel=1e-9), acceleration


def test_energy_error_is_that_of_a_lossy_bounce():
    the_scene = balls.BOUNCING
    n, m, height = len(the_scene.free), 10.0, 5.0
    time = np.array([0.0, 0.5])
    velocity = np.zeros((2, n, 6))
    position = np.tile([body.position for body in the_scene.free], (2, 1, 1))
    position[1, :, 2] -= 0.5 * G * 0.25
    velocity[1, :, 5] = -0.5 * G
    motion = made_up(the_scene, time, position, velocity)
    assert scene.energy(the_scene, motion)[0] == pytest.approx(n * m * G * height)
    assert balls.energy_error(the_scene, motion) < 1e-20
    velocity[1, :, 5] *= -0.9
    lost = 0.19 * n * 0.5 * m * (0.5 * G) ** 2
    assert balls.energy_error(the_scene, motion) == pytest.approx(lost**2 / 2)


def test_energy_is_that_of_the_same_body_as_a_robot():
    """A body with its center of mass elsewhere, turned and turning."""
    body = scene.Body(
        'body', scene.Sphere(0.1), (0.3, -0.2, 1.5), (0.8, 0.2, -0.4, 0.4), 2.0,
        (1.0, 2.0, -3.0), (4.0, -5.0, 6.0), (0.02, -0.01, 0.03), (0.01, 0.02, 0.025),
    )  # fmt: skip
    quaternion = np.array(body.quaternion) / np.linalg.norm(body.quaternion)
    the_scene = scene.Scene('one', '', (body,), 1.0, 1.0, ())
    twist = np.array([*body.angular, *body.linear])
    motion = made_up(
        the_scene, [0.0], velocity=twist[None, None], quaternion=quaternion[None, None]
    )
    robot = Robot.from_urdf(
        '<robot name="body"><link name="body"><inertial><origin xyz="0.02 -0.01 0.03"/>'
        '<mass value="2"/><inertia ixx="0.01" iyy="0.02" izz="0.025" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link></robot>',
        floating_base=True,
    )
    R = scene.rotation(quaternion)
    q = np.concatenate([quaternion, body.position])
    v = np.concatenate([R.T @ body.angular, R.T @ body.linear])
    assert scene.energy(the_scene, motion)[0] == pytest.approx(robot.energy(q, v).total)


def test_overlap_is_the_sum_of_squares_of_balls_and_ground():
    the_scene = balls.SETTLING
    position = np.tile([body.position for body in the_scene.free], (2, 1, 1))
    position[..., 2] += 1.0
    assert balls.overlap(the_scene, made_up(the_scene, [0.0, 1.0], position)) == 0.0
    position[1, 7] = position[1, 8] + [0.0, 0.0, 0.2 - 0.003]
    position[1, 7, :2] += 50.0
    position[1, 8, :2] += 50.0
    position[1, 9] = [-50.0, 0.0, 0.1 - 0.004]
    found = balls.overlap(the_scene, made_up(the_scene, [0.0, 1.0], position))
    assert found == pytest.approx((0.003**2 + 0.004**2) / 2)


def test_the_last_ball_of_the_cradle_leaves_with_the_speed_of_the_first():
    the_scene = balls.CRADLE
    velocity = np.zeros((2, 5, 6))
    velocity[1, 4, 3] = 1.0
    motion = made_up(the_scene, [0.0, 0.2], velocity=velocity)
    assert balls.cradle_error(the_scene, motion) == 0.0
    velocity[1, 3, 4] = -0.25
    assert balls.cradle_error(the_scene, motion) == 0.25


def test_wheels_roll_and_slide_by_the_equations_of_motion():
    """Of a ball with torque T: m a = f, 2/5 m R^2 w' = T - f R, and f as large as it may be."""
    the_scene, m, R, mu = balls.WHEEL, 2.0, 0.1, 0.5
    torques = {name: wrench[1] for name, wrench in the_scene.wrenches(0.0).items()}
    assert torques['slides'] / torques['rolls'] == pytest.approx(1.01 / 0.99)
    velocity = np.zeros((2, 2, 6))
    for i, name in enumerate(('rolls', 'slides')):
        force = min(torques[name] / R / 1.4, mu * m * G)
        velocity[1, i, 3] = force / m
        velocity[1, i, 1] = (torques[name] - force * R) / (0.4 * m * R**2)
    assert velocity[1, 0, 3] == pytest.approx(R * velocity[1, 0, 1])
    assert velocity[1, 1, 3] < R * velocity[1, 1, 1]
    motion = made_up(the_scene, [0.0, 1.0], velocity=velocity)
    assert balls.wheel_error(the_scene, motion) < 1e-14
    for body, axis in ((0, 3), (0, 1), (1, 3), (1, 1)):
        wrong = velocity.copy()
        wrong[1, body, axis] *= 1.02
        found = balls.wheel_error(the_scene, made_up(the_scene, [0.0, 1.0], velocity=wrong))
        assert found == pytest.approx(0.02)


@pytest.mark.parametrize('angle, error', [(0.0, 2.0), (math.pi, 0.0), (0.5 * math.pi, 1.0)])
def test_a_top_has_turned_over_when_its_weight_is_on_top(angle, error):
    turned = np.array([[scene.about((1.0, 0.0, 0.0), angle)]])
    motion = made_up(balls.TOP, [0.0], quaternion=turned)
    assert balls.turned_over(balls.TOP, motion) == pytest.approx(error, abs=1e-15)


def test_a_top_that_had_turned_over_has_done_so():
    turned = np.array([[scene.about((1.0, 0.0, 0.0), angle)] for angle in (0.0, math.pi, 1.0)])
    motion = made_up(balls.TOP, [0.0, 1.0, 2.0], quaternion=turned)
    assert balls.turned_over(balls.TOP, motion) == pytest.approx(0.0)


# -- boxes ----------------------------------------------------------------------------------------


def test_a_cube_stops_where_it_should():
    the_scene = boxes.SLIDING
    assert boxes.STOPPING_TIME == pytest.approx(0.25484, abs=5e-6)  # as published
    assert boxes.STOPPING_DISTANCE == pytest.approx(0.127421, abs=5e-7)
    position = np.zeros((2, 1, 3))
    position[1, 0, 0] = boxes.STOPPING_DISTANCE - 5e-4
    velocity = np.zeros((2, 1, 6))
    velocity[1, 0, 3:] = 3e-6, 4e-6, 0.0
    motion = made_up(the_scene, [0.0, 1.0], position, velocity)
    assert [error.of(the_scene, motion) for error in the_scene.errors] == [
        pytest.approx(5e-4),
        pytest.approx(5e-6),
    ]


def test_a_dragged_cube_moves_by_the_law_of_friction():
    """Against small steps of m v' = F(t) - mu m g while it slides."""
    steps = 200000
    h = 1.098 / steps
    time = (np.arange(steps) + 0.5) * h
    force = np.minimum(0.9 * 9.81 * 2.0, 4.0 * 9.81 * time)
    assert_allclose([boxes.drag(t) for t in time[::5000]], force[::5000])
    speed = np.cumsum(np.maximum(0.0, force - 0.4 * 9.81)) * h
    assert_allclose(boxes.dragged_speed(time + 0.5 * h), speed, atol=1e-8)
    the_scene, ends = boxes.DRAGGED, time[::1000]
    velocity = np.zeros((len(ends), 1, 6))
    velocity[:, 0, 3] = boxes.dragged_speed(ends)
    assert boxes.dragged_error(the_scene, made_up(the_scene, ends, velocity=velocity)) == 0.0
    velocity[:, 0, 5] = 0.1
    found = boxes.dragged_error(the_scene, made_up(the_scene, ends, velocity=velocity))
    assert found == pytest.approx(0.01)


def test_a_cube_falls_back_about_its_edge_without_losing_energy_or_grip():
    times, angles, end = boxes.tipping()
    side, tilt = 0.2, math.radians(30.0)
    half = side / math.sqrt(2.0)
    moment = side**2 / 6.0 + half**2
    assert angles[0] == pytest.approx(tilt) and angles[-1] == pytest.approx(0.0, abs=1e-9)
    rate = np.gradient(angles, times)
    fallen = half * (np.sin(0.25 * math.pi + tilt) - np.sin(0.25 * math.pi + angles))
    inner = slice(2, -2)
    assert_allclose(0.5 * moment * rate[inner] ** 2, G * fallen[inner], rtol=2e-2, atol=1e-3)
    # The edge sticks: what friction must do stays within the cone of the scene.
    bend = -G * half * np.cos(angles + 0.25 * math.pi) / moment
    up, out = np.sin(angles + 0.25 * math.pi), np.cos(angles + 0.25 * math.pi)
    x = half * (-bend * up - rate**2 * out)
    z = half * (bend * out - rate**2 * up) + G
    assert np.all(z > 0.0) and np.max(np.abs(x) / z) < boxes.TIPPED.friction
    assert 0.1 < end < boxes.TIPPED.quick


def test_the_angle_of_a_tipped_cube_is_compared_while_it_falls():
    the_scene = boxes.TIPPED
    times, angles, end = boxes.tipping()
    time = np.arange(0.0, 0.5, 1e-3)
    exact = np.where(time < end, np.interp(time, times, angles), 0.3)
    for apart in (0.0, 0.01):
        turned = [[scene.about((0.0, 1.0, 0.0), -angle - apart)] for angle in exact]
        found = boxes.tipping_error(
            the_scene, made_up(the_scene, time, quaternion=np.array(turned))
        )
        assert found == pytest.approx(apart, abs=1e-9)


def test_drift_counts_after_the_first_second():
    the_scene = boxes.STACK
    time = np.array([0.0, 0.5, 1.0, 2.0, 60.0])
    position = np.zeros((5, 2, 3))
    position[:2] = 0.1
    position[4, 1] = 3e-4, 0.0, -4e-4
    assert boxes.drift(the_scene, made_up(the_scene, time, position)) == pytest.approx(5e-4)


@pytest.mark.parametrize('sideways, turned', [(6e-5, 0.0), (0.0, 0.002)])
def test_the_penetration_of_a_peg_is_that_of_its_edges(sideways, turned):
    the_scene = boxes.PEG_IN_HOLE
    down = np.array([[[0.0, 0.0, 0.5 * boxes.LENGTH]]])
    assert boxes.into_walls(the_scene, made_up(the_scene, [0.0], down)) == 0.0
    assert boxes.not_inserted(the_scene, made_up(the_scene, [0.0], down)) == 0.0
    position = down + [sideways, 0.0, 0.0]
    quaternion = np.array([[scene.about((0.0, 1.0, 0.0), turned)]])
    motion = made_up(the_scene, [0.0], position, quaternion=quaternion)
    depth = sideways - 0.5 * boxes.PLAY
    if turned:  # about its center: the lower end goes the farthest
        depth = 0.5 * boxes.LENGTH * math.sin(turned) - 0.5 * boxes.PLAY
    assert boxes.into_walls(the_scene, motion) == pytest.approx(depth, abs=1e-7)


def test_a_peg_above_the_hole_is_in_no_wall_and_not_inserted():
    the_scene = boxes.PEG_IN_HOLE
    position = np.array([[[0.01, 0.0, 0.5 * boxes.LENGTH + boxes.DEPTH]]])
    motion = made_up(the_scene, [0.0], position)
    assert boxes.into_walls(the_scene, motion) < 1e-5  # as far as it is tilted
    assert boxes.not_inserted(the_scene, motion) == pytest.approx(boxes.DEPTH)


def test_the_rod_of_painleve_has_no_acceleration_if_it_slides():
    assert boxes.paradox() < 0.0
    the_scene = boxes.PAINLEVE
    velocity = np.zeros((2, 1, 6))
    velocity[:, 0, 3:] = the_scene.free[0].linear
    motion = made_up(the_scene, [0.0, 0.01], velocity=velocity)
    heights, speeds = boxes.tip(the_scene, motion)
    assert_allclose(heights, 0.0, atol=1e-15)
    assert_allclose(speeds, -1.0)
    # The lower end is ahead: it is at smaller x than the center.
    below = scene.rotation(np.array(the_scene.free[0].quaternion)) @ [0.0, 0.0, -boxes.ROD]
    assert below[0] < 0.0 and below[2] < 0.0
    assert boxes.jamming_error(the_scene, motion) == pytest.approx(1.0)
    assert boxes.tip_depth(the_scene, motion) == pytest.approx(0.0, abs=1e-15)
    # Turning about the tip, which stands: the center moves across the rod.
    w = 3.0
    velocity[1, 0, 1] = w
    velocity[1, 0, 3:] = np.cross([0.0, w, 0.0], -(below + [0.0, 0.0, -0.01]))
    assert boxes.jamming_error(the_scene, motion) == pytest.approx(0.0, abs=1e-15)
    lowered = made_up(the_scene, [0.0], np.array([[the_scene.free[0].position]]) - [0, 0, 1e-4])
    assert boxes.tip_depth(the_scene, lowered) == pytest.approx(1e-4)


# -- residuals ------------------------------------------------------------------------------------


def contact(force, velocity, gap=0.0):
    normal = np.array([0.0, 0.0, 1.0])
    return scene.Contact(
        'ground', 'cube', np.zeros(3), normal, np.array(force), np.array(velocity), gap
    )


@pytest.mark.parametrize(
    'force, velocity, gap, expected',
    [
        ([0.0, 0.0, 5.0], [0.0, 0.0, 0.0], 0.0, (0.0, 0.0, 0.0)),  # sticks
        ([-2.0, 0.0, 5.0], [0.3, 0.0, 0.0], 0.0, (0.0, 6e-4, 0.0)),  # slides, mu = 0.4
        ([-1.0, 0.0, 5.0], [0.3, 0.0, 0.0], 0.0, (0.0, 3e-4, 3e-4)),  # too little friction
        ([0.0, -2.0, 5.0], [0.3, 0.0, 0.0], 0.0, (0.0, 0.0, 6e-4)),  # in a wrong direction
        ([0.0, 0.0, 5.0], [0.0, 0.0, 0.2], 0.0, (1e-3, 1e-3, 1e-3)),  # held while it leaves
        ([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 0.0, (0.0, 0.0, 0.0)),  # flies
        ([0.0, 0.0, 5.0], [0.0, 0.0, -0.2], 2e-4, (0.0, 0.0, 0.0)),  # closes its gap
        ([0.0, 0.0, 5.0], [0.0, 0.0, -0.2], -2e-4, (1e-3, 1e-3, 1e-3)),  # goes deeper
    ],
)
def test_residuals_are_those_of_contactbench(force, velocity, gap, expected):
    the_scene = boxes.SLIDING
    motion = made_up(the_scene, [0.0], contacts=[(1e-3, [contact(force, velocity, gap)])])
    found = scene.residuals(the_scene, motion)
    assert_allclose((found.signorini, found.conic, found.contact), expected, atol=1e-18)


def test_the_worst_contact_of_all_samples_counts():
    good, bad = (
        contact([0.0, 0.0, 5.0], [0.0, 0.0, 0.0]),
        contact([0.0, 0.0, 5.0], [0.0, 0.0, 0.2]),
    )
    motion = made_up(boxes.SLIDING, [0.0], contacts=[(0.1, [good, bad]), (0.2, [good])])
    assert scene.residuals(boxes.SLIDING, motion).signorini == pytest.approx(1e-3)


def test_residuals_are_not_known_without_contacts_or_velocities_or_where_it_bounces():
    unknown = contact([0.0, 0.0, 5.0], [math.nan, 0.0, 0.0])
    known = contact([0.0, 0.0, 5.0], [0.0, 0.0, 0.0])
    assert scene.residuals(boxes.SLIDING, made_up(boxes.SLIDING, [0.0])) is None
    for the_scene, each in ((boxes.SLIDING, unknown), (balls.CRADLE, known)):
        motion = made_up(the_scene, [0.0], contacts=[(0.1, [each])])
        assert scene.residuals(the_scene, motion) is None


def test_forces_between_two_do_not_depend_on_who_is_first():
    one = contact([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    other = scene.Contact('cube', 'ground', *([np.zeros(3)] * 2), np.array([-1.0, 0.0, 0.0]), None)
    elsewhere = scene.Contact('robot/foot', 'cube', *([np.zeros(3)] * 2), np.ones(3), None)
    every = [one, other, elsewhere]
    assert_allclose(scene.forces_between(every, 'ground', 'cube'), [2.0, 2.0, 3.0])
    assert_allclose(scene.forces_between(every, 'cube', 'ground'), [-2.0, -2.0, -3.0])
    assert_allclose(scene.forces_between(every, 'robot', 'cube'), [1.0, 1.0, 1.0])


# -- robots ---------------------------------------------------------------------------------------


def recorded(machine, time, q, v, base=None, speed=None):
    """Return the trajectory of a machine alone."""
    empty = np.zeros((len(time), 0, 6))
    return scene.Trajectory(
        1e-3, np.asarray(time), empty[..., :3], empty[..., :4], empty,
        np.zeros((len(time), 7)) if base is None else base,
        np.zeros((len(time), 6)) if speed is None else speed, q, v,
    )  # fmt: skip


@pytest.fixture(scope='module')
def anymal():
    """Return the scenes with ANYmal by name."""
    if line := outside.problem('example_robot_data'):
        pytest.skip(line)
    return {each.name: each for each in quadruped.scenes()}


def test_momentum_is_that_of_robot_and_ball_about_the_origin(anymal):
    the_scene = anymal['anymal_momentum']
    machine, rng = the_scene.machine, np.random.default_rng(3)
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    base = np.concatenate([rng.normal(size=3), quaternion])[None]
    speed, q, v = rng.normal(size=(1, 6)), rng.normal(size=(1, 12)), rng.normal(size=(1, 12))
    motion = recorded(machine, [0.0], q, v, base, speed)
    motion.position, motion.velocity = rng.normal(size=(1, 1, 3)), rng.normal(size=(1, 1, 6))
    # By finite differences of the center of mass of the robot, whose mass is that of its URDF.
    h, robot = 1e-6, machine.robot

    def center(sign):
        moved = robot.integrate(*machine.states(motion), sign * h)
        return robot.center_of_mass(moved)[0]

    total = sum(body.inertia.mass for body in robot.model.bodies)
    linear = total * (center(1.0) - center(-1.0)) / (2.0 * h) + 10.0 * motion.velocity[0, 0, 3:]
    found = quadruped.momentum(the_scene, motion)[0]
    assert_allclose(found[3:], linear, rtol=1e-6, atol=1e-6)
    spin = 0.4 * 10.0 * 0.2**2 * motion.velocity[0, 0, :3]
    about = np.cross(motion.position[0, 0], 10.0 * motion.velocity[0, 0, 3:])
    robots = robot.momentum(*machine.states(motion))[0, :3]
    assert_allclose(found[:3], robots + spin + about)


def test_momentum_at_the_start_is_that_of_the_ball(anymal):
    the_scene = anymal['anymal_momentum']
    machine, ball = the_scene.machine, the_scene.free[0]
    base = np.array([[*machine.position, 1.0, 0.0, 0.0, 0.0]])
    motion = recorded(machine, [0.0], machine.start[None], np.zeros((1, 12)), base)
    motion.position = np.array([[ball.position]])
    motion.velocity = np.array([[[0.0, 0.0, 0.0, *ball.linear]]])
    assert quadruped.linear_error(the_scene, motion) == 0.0
    motion.velocity[0, 0, 3] = 0.1
    assert quadruped.linear_error(the_scene, motion) == pytest.approx(1.0)


def test_energy_counts_after_the_push(anymal):
    the_scene = anymal['anymal_energy']
    machine, time = the_scene.machine, np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    base = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (5, 1))
    base[:2, 2], base[4, 2] = 7.0, 0.01
    q, v = np.tile(machine.start, (5, 1)), np.zeros((5, 12))
    motion = recorded(machine, time, q, v, base)
    lifted = quadruped.mass(machine) * G * 0.01
    assert quadruped.free_energy_error(the_scene, motion) == pytest.approx(lifted**2 / 3)


def test_forces_on_a_standing_robot_are_its_weight(anymal):
    the_scene = anymal['standing']
    machine = the_scene.machine
    weight = quadruped.mass(machine) * G
    feet = [contact([0.0, 0.0, 0.25 * weight], [0.0, 0.0, 0.0]) for _ in range(4)]
    feet = [
        each.__class__(**{**vars(each), 'second': f'robot/{k}'}) for k, each in enumerate(feet)
    ]
    base = np.tile([0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0], (11, 1))
    base[:3, 0], base[9, 0] = 1.0, 2e-6
    time = np.linspace(0.0, 10.0, 11)
    q, v = np.tile(machine.start, (11, 1)), np.zeros((11, 12))
    motion = recorded(machine, time, q, v, base)
    motion.contacts = [(5.0, []), (10.0, feet)]
    assert quadruped.weight_error(the_scene, motion) == pytest.approx(0.0, abs=1e-15)
    assert quadruped.base_creep(the_scene, motion) == pytest.approx(2e-6)
    motion.contacts = [(10.0, feet[:3])]
    assert quadruped.weight_error(the_scene, motion) == pytest.approx(0.25)
    motion.contacts = []
    assert math.isnan(quadruped.weight_error(the_scene, motion))


def test_slip_is_that_of_the_cube_against_the_hand():
    the_scene = arms.GRIPPER
    time = np.linspace(0.0, 11.2, 113)
    lifted = np.clip(time - 0.5, 0.0, 0.1)
    q, v = np.zeros((113, 3)), np.zeros((113, 3))
    q[:, 0] = lifted
    motion = recorded(the_scene.machine, time, q, v)
    motion.position = np.zeros((113, 1, 3))
    motion.position[:, 0, 2] = lifted
    assert arms.slip(the_scene, motion) == pytest.approx(0.0, abs=1e-15)
    motion.position[-1, 0, 2] -= 1e-5
    assert arms.slip(the_scene, motion) == pytest.approx(1e-5)
    motion.position[-1, 0, 2] += 1e-5
    motion.position[0, 0, 2] += 1.0  # before it is held
    assert arms.slip(the_scene, motion) == pytest.approx(0.0, abs=1e-15)


@pytest.fixture(scope='module')
def arm_scenes():
    """Return the scenes with a UR5 by name."""
    if line := outside.problem('example_robot_data'):
        pytest.skip(line)
    return {each.name: each for each in arms.scenes()}


def test_the_tool_presses_with_the_commanded_force(arm_scenes):
    """Torques at rest against virtual work: of gravity, and of the force at the tool's face."""
    the_scene = arm_scenes['pressing']
    machine = the_scene.machine
    q, h = machine.start, 1e-6

    def face(q):
        pose = machine.frame.pose(q)
        return pose[:3, 3] + pose[:3, :3] @ [0.0, 0.0, 0.04]

    def work(q):
        return machine.robot.energy(q, np.zeros(6)).potential - 20.0 * face(q)[2]

    expected = [(work(q + h * e) - work(q - h * e)) / (2.0 * h) for e in np.eye(6)]
    assert_allclose(the_scene.torque(0.0, q, np.zeros(6)), expected, atol=1e-6)
    assert_allclose(machine.face, face(q))
    assert_allclose(machine.frame.pose(q)[:3, 2], [0.0, 0.0, -1.0], atol=1e-10)  # points down


def test_errors_of_the_arm_are_those_of_force_and_joints(arm_scenes):
    the_scene = arm_scenes['pressing']
    machine, time = the_scene.machine, np.linspace(0.0, 3.0, 31)
    q, v = np.tile(machine.start, (31, 1)), np.zeros((31, 6))
    q[-1, 2] += 1e-5
    q[:20] += 1.0
    motion = recorded(machine, time, q, v)
    force = np.array([0.0, 0.3, -20.0])
    motion.contacts = [
        (3.0, [scene.Contact('robot/tool', 'table', np.zeros(3), np.zeros(3), force, None)])
    ]
    found = [error.of(the_scene, motion) for error in the_scene.errors]
    assert_allclose(found, [0.015, 1e-5])


def test_errors_of_a_push_are_those_while_it_is_even(arm_scenes):
    the_scene = arm_scenes['pushing']
    machine, time = the_scene.machine, np.array([0.0, 0.5, 1.5, 2.0])
    motion = recorded(machine, time, np.zeros((4, 6)), np.zeros((4, 6)))
    motion.velocity = np.zeros((4, 1, 6))
    motion.velocity[2:, 0, 3] = 0.1, 0.1
    motion.velocity[3, 0, 4] = 0.01
    # The tool presses on the box with 0.5 N in the mean.
    forces = {0.5: (50.0, 9.0), 1.5: (4.0, -0.6), 2.0: (0.4 * (9.81 + 0.5) * 2.2 - 4.0, -0.4)}
    motion.contacts = [
        (t, [scene.Contact('robot/tool', 'box', *[np.zeros(3)] * 2, np.array([x, 9.0, z]), None)])
        for t, (x, z) in forces.items()
    ]
    # The table bears the box and what presses on it, but for a hundredth of its weight.
    bears = np.array([0.0, 0.0, 1.01 * 9.81 + 0.4])
    motion.contacts[-1][1].append(scene.Contact('table', 'box', *[np.zeros(3)] * 2, bears, None))
    found = [error.of(the_scene, motion) for error in the_scene.errors]
    assert_allclose(found, [0.1, 0.01 / math.sqrt(2.0), 0.01])


def test_the_load_of_a_body_is_that_of_all_its_contacts():
    error = scene.load_error('peg', 2.0)
    weight, apart = 2.0 * 9.81, np.array([3.0, 0.0, 0.0])
    up = np.array([0.0, 0.0, weight])
    contacts = [
        scene.Contact(*names, *[np.zeros(3)] * 2, force, None)
        for names, force in (
            (('ground', 'peg'), 0.25 * up),
            (('peg', 'wall0'), -0.75 * up + apart),  # which pushes the peg the other way
            (('wall1', 'peg'), apart),
            (('ground', 'wall0'), 100.0 * up),
        )
    ]
    motion = recorded(None, np.array([0.0, 1.0]), np.zeros((2, 0)), np.zeros((2, 0)))
    motion.contacts = [(1.0, contacts)]
    assert error(boxes.PEG_IN_HOLE, motion) < 1e-14
    motion.contacts = [(1.0, contacts[:-2])]
    assert error(boxes.PEG_IN_HOLE, motion) == pytest.approx(3.0 / weight)
    motion.contacts = []
    assert math.isnan(error(boxes.PEG_IN_HOLE, motion))


def test_the_tool_of_a_push_goes_straight_and_does_not_turn(arm_scenes):
    the_scene = arm_scenes['pushing']
    machine = the_scene.machine
    start = machine.frame.pose(machine.start)
    desired = arms._line(machine, 1.0)
    q, v, a = desired(0.8)
    pose = machine.frame.pose(q)
    # Half of the way in the first half second, and then evenly.
    assert_allclose(pose[:3, 3] - start[:3, 3], [0.1 * (0.25 + 0.3), 0.0, 0.0], atol=2e-6)
    assert_allclose(pose[:3, :3], start[:3, :3], atol=2e-6)
    speed = machine.frame.velocity(q, v)
    assert_allclose(speed, [0.0, 0.0, 0.0, 0.1, 0.0, 0.0], atol=1e-9)
    step = (desired(0.801)[1] - desired(0.799)[1]) / 2e-3
    assert_allclose(a, step, atol=1e-9)
