# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Meshes, hulls and height fields in simulated worlds, against boxes, planes and statics."""

import numpy as np
import pytest
from support import example_robots
from support.mesh_files import (
    angle_triangles,
    bowl_triangles,
    box_triangles,
    grid_triangles,
    plate_with_hole,
    write_obj,
    write_stl,
)
from support.rigid_worlds import worst_residual
from support.simulated_robots import body, collision

from rbd_ros import Robot, Simulator

G = 9.81
LYING = {'rpy': [np.pi / 2, 0, 0]}


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return the folder of mesh files."""
    folder = tmp_path_factory.mktemp('meshes')
    write_obj(folder / 'cube.obj', box_triangles((0.2, 0.2, 0.2)))
    write_stl(folder / 'cube.stl', box_triangles((0.25, 0.25, 0.25)))
    write_obj(folder / 'floor.obj', grid_triangles(20, 4.0))
    write_obj(folder / 'angle.obj', angle_triangles(1.0, 0.3))
    write_obj(folder / 'bowl.obj', bowl_triangles(0.5, 0.05))
    write_obj(folder / 'round_hole.obj', plate_with_hole(32, 0.01, 0.03, 0.02))
    write_obj(folder / 'square_hole.obj', plate_with_hole(4, 0.01, 0.03, 0.02))
    return folder


def mesh(file, **further):
    return {'type': 'mesh', 'file': str(file), **further}


def movable(shape, *xyz, mass=1.0, **further):
    return {**shape, 'xyz': list(xyz), 'static': False, 'mass': mass, **further}


def simulator_of(friction=0.4, gravity=(0.0, 0.0, -G), robot=None, **objects):
    defaults = {'surface': {'friction': friction}}
    world = {'gravity': list(gravity), 'defaults': defaults, 'objects': objects}
    return Simulator(robot, world=world, timestep=1e-3)


def weight_on(simulator, name):
    """Return the sum of the forces on an object."""
    signs = {name: 1.0}
    return sum(
        (signs.get(c.second, 0.0) - signs.get(c.first, 0.0)) * c.force for c in simulator.contacts
    )


def poses(simulator):
    return np.array([simulator.object_pose(name) for name in simulator.objects])


def cubes(files):
    """Return a cube of 0.2 m as a box, as a hull and as a concave mesh."""
    scaled = mesh(files / 'cube.stl', scale=[0.8, 0.8, 0.8])
    return {
        'box': {'type': 'box', 'size': [0.2] * 3},
        'hull': {**mesh(files / 'cube.obj'), 'convex': True},
        'scaled hull': {**scaled, 'convex': True},
        'mesh': mesh(files / 'cube.obj'),
        'scaled mesh': scaled,
    }


CUBES = ('hull', 'scaled hull', 'mesh', 'scaled mesh')
FLOORS = ('mesh', 'shifted mesh', 'height field')
SHAPES = ('box', 'hull', 'sphere', 'cylinder', 'lying cylinder', 'lying capsule')


def floors(files):
    """Return the plane z = 0 in three ways."""
    return {
        'plane': {'type': 'plane'},
        'mesh': mesh(files / 'floor.obj'),
        'shifted mesh': mesh(files / 'floor.obj', xyz=[0.013, 0.027, 0.0]),
        'height field': {'type': 'height_field', 'size': [4, 4], 'heights': [[0.0] * 21] * 21},
    }


def shapes(files):
    """Return the shapes that rest 0.1 m above the floor."""
    return {
        'box': {'type': 'box', 'size': [0.3, 0.2, 0.2]},
        'hull': {**mesh(files / 'cube.obj'), 'convex': True},
        'sphere': {'type': 'sphere', 'radius': 0.1},
        'cylinder': {'type': 'cylinder', 'radius': 0.1, 'length': 0.2},
        'lying cylinder': {'type': 'cylinder', 'radius': 0.1, 'length': 0.2, **LYING},
        'lying capsule': {'type': 'capsule', 'radius': 0.1, 'length': 0.2, **LYING},
    }


# -- a cube is a cube -----------------------------------------------------------------------------


@pytest.mark.parametrize('kind', CUBES)
def test_a_cube_of_triangles_slides_and_stops_as_coulomb_says(files, kind):
    mu, v, h = 0.4, 1.0, 1e-3
    cube = movable(cubes(files)[kind], 0, 0, 0.1, velocity={'linear': [v, 0, 0]})
    simulator = simulator_of(mu, floor={'type': 'plane'}, cube=cube)
    simulator.step(n=200)
    x, t = simulator.object_pose('cube')[0, 3], 0.2
    assert simulator.object_velocity('cube')[3] == pytest.approx(v - mu * G * t, abs=1e-9)
    # Positions follow the velocities at the ends of the steps.
    assert x == pytest.approx(v * t - 0.5 * mu * G * t * (t + h), abs=1e-9)
    simulator.step(n=100)
    there = simulator.object_pose('cube')
    simulator.step(n=60_000)
    assert np.abs(simulator.object_pose('cube') - there).max() < 1e-9
    assert weight_on(simulator, 'cube') == pytest.approx([0, 0, G], abs=1e-8)


@pytest.mark.parametrize('kind', CUBES)
@pytest.mark.parametrize('tangent', [0.98, 1.02])
def test_a_cube_of_triangles_tips_as_the_box_does(files, kind, tangent):
    slope = np.arctan(tangent)
    gravity = G * np.sin(slope), 0.0, -G * np.cos(slope)
    found = []
    for each in ('box', kind):
        cube = movable(cubes(files)[each], 0, 0, 0.1)
        simulator = simulator_of(2.0, gravity, floor={'type': 'plane'}, cube=cube)
        simulator.step(n=300)
        found.append((simulator.object_pose('cube'), simulator.object_velocity('cube')))
    assert np.abs(found[0][0] - found[1][0]).max() < 1e-9
    assert np.abs(found[0][1] - found[1][1]).max() < 1e-9
    turning = found[0][1][1]
    assert turning > 0.1 if tangent > 1.0 else abs(turning) < 1e-9


# -- floors of triangles --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize('floor', FLOORS)
@pytest.mark.parametrize('shape', SHAPES)
def test_a_body_moves_on_a_mesh_floor_as_on_a_plane(files, floor, shape):
    """It crosses 20 edges and corners, and none of them takes or gives anything."""
    velocity = {'linear': [1.0, 0.37, 0.0], 'angular': [0.0, 0.0, 0.5]}
    thing = movable(shapes(files)[shape], -0.51, -0.3, 0.1, velocity=velocity)
    found = []
    for each in ('plane', floor):
        simulator = simulator_of(floor=floors(files)[each], thing=thing)
        simulator.step(n=100)
        velocity = simulator.object_velocity('thing')
        simulator.step(n=600)
        found.append((velocity, simulator.object_pose('thing')))
    if shape in ('cylinder', 'hull', 'box'):
        # How a face shares its load is open, and with it the friction of what turns.
        assert np.abs(found[0][1] - found[1][1]).max() < 0.05
        assert abs(found[1][1][2, 3] - 0.1) < 1e-9
        return
    assert np.abs(found[0][0] - found[1][0]).max() < 1e-9
    assert np.abs(found[0][1] - found[1][1]).max() < 1e-9


@pytest.mark.parametrize('floor', FLOORS)
@pytest.mark.parametrize('shape', ['box', 'hull', 'cylinder'])
def test_a_body_slides_on_a_mesh_floor_as_on_a_plane(files, floor, shape):
    velocity = {'linear': [1.0, 0.37, 0.0]}
    thing = movable(shapes(files)[shape], -0.51, -0.3, 0.1, velocity=velocity)
    found = []
    for each in ('plane', floor):
        simulator = simulator_of(0.1, floor=floors(files)[each], thing=thing)
        simulator.step(n=900)
        found.append(simulator.object_pose('thing'))
    assert np.abs(found[0] - found[1]).max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize('floor', FLOORS)
@pytest.mark.parametrize('shape', SHAPES)
def test_a_body_at_rest_on_a_mesh_floor_stays_with_its_weight(files, floor, shape):
    thing = movable(shapes(files)[shape], 0.21, -0.3, 0.1, mass=2.0)
    simulator = simulator_of(floor=floors(files)[floor], thing=thing)
    simulator.step(n=100)
    there = simulator.object_pose('thing')
    simulator.step(n=60_000 if shape == 'box' else 10_000)
    # What can roll does so by rounding.
    drift = 1e-5 if shape.startswith('lying') or shape == 'sphere' else 1e-9
    assert np.abs(simulator.object_pose('thing') - there).max() < drift
    assert abs(simulator.object_pose('thing')[2, 3] - 0.1) < 1e-9
    assert weight_on(simulator, 'thing') == pytest.approx([0, 0, 2.0 * G], abs=1e-7)


@pytest.mark.parametrize('shape', ['box', 'hull'])
def test_a_box_comes_to_rest_on_rough_ground(files, shape):
    heights = 0.05 * np.random.default_rng(0).random((21, 21))
    ground = {'type': 'height_field', 'size': [2, 2], 'heights': heights.tolist()}
    thing = movable(shapes(files)[shape], 0.03, 0.05, 0.16)
    simulator = simulator_of(0.8, floor=ground, thing=thing)
    simulator.step(n=3000)
    there = simulator.object_pose('thing')
    simulator.step(n=20_000)
    assert np.abs(simulator.object_pose('thing') - there).max() < 1e-9
    assert weight_on(simulator, 'thing') == pytest.approx([0, 0, G], abs=1e-8)
    assert simulator.status.unconverged_steps == 0


def test_a_cylinder_that_rolls_to_and_fro_in_rough_ground_is_solved():
    """Five of six steps are solved from the middle of the forces, nearly all with warm start."""
    heights = 0.05 * np.random.default_rng(13).random((21, 21))
    ground = {'type': 'height_field', 'size': [2, 2], 'heights': heights.tolist()}
    thing = {'type': 'cylinder', 'radius': 0.1, 'length': 0.2}
    simulator = simulator_of(0.8, floor=ground, thing=movable(thing, 0.03, 0.05, 0.2))
    simulator.step(n=6000)
    assert simulator.status.unconverged_steps < 60


def test_a_robot_that_begins_in_a_height_field_is_named():
    shape = collision('sphere radius="0.1"')
    ground = {'type': 'height_field', 'size': [1, 1], 'heights': [[0, 0], [0, 0]]}
    simulator = Simulator(body(shape=shape), world={'objects': {'ground': ground}})
    simulator.reset([1.0, 0, 0, 0, 0, 0, 0])
    (warning,) = simulator.warnings
    assert warning.startswith("'robot/body' and 'ground' overlap by 100.0 mm at the start")
    simulator.reset([1.0, 0, 0, 0, 0, 0, 0.2])
    assert simulator.warnings == () and simulator.time == 0.0


# -- concave things -------------------------------------------------------------------------------


@pytest.mark.parametrize('shape', ['sphere', 'box'])
def test_an_angle_holds_a_ball_and_a_box_by_both_its_faces(files, shape):
    d = np.sqrt(0.5)
    thing = {'type': 'sphere', 'radius': 0.1} if shape == 'sphere' else cubes(files)['box']
    simulator = simulator_of(
        0.3,
        (-G * d, -G * d, 0.0),
        angle=mesh(files / 'angle.obj'),
        thing=movable(thing, 0.41, 0.41, 0.0),
    )
    simulator.step(n=1000)
    there = simulator.object_pose('thing')
    simulator.step(n=10_000)
    assert np.abs(simulator.object_pose('thing') - there).max() < 1e-9
    assert there[:3, 3] == pytest.approx([0.4, 0.4, 0.0], abs=1e-8)
    normals = {tuple(c.normal.round(9) + 0.0) for c in simulator.contacts}
    assert normals == {(1.0, 0.0, 0.0), (0.0, 1.0, 0.0)}
    assert weight_on(simulator, 'thing') == pytest.approx([G * d, G * d, 0.0], abs=1e-8)


def test_a_ball_swings_in_a_bowl_and_stays_in_it(files):
    bowl = mesh(files / 'bowl.obj')
    ball = movable({'type': 'sphere', 'radius': 0.1}, 0.3, 0.05, -0.1)
    simulator = simulator_of(0.3, bowl=bowl, ball=ball)
    energy, lowest = [], []
    for _ in range(3000):
        simulator.step()
        w, v = np.split(simulator.object_velocity('ball'), 2)
        center = simulator.object_pose('ball')[:3, 3]
        energy.append(G * center[2] + 0.5 * v @ v + 0.2 * 0.1**2 * w @ w)
        lowest.append(center[2])
        assert np.linalg.norm(center) < 0.4 + 1e-6
    assert np.diff(energy).max() < 1e-4
    # It has been through the bottom and up again.
    assert min(lowest) < -0.39 and max(lowest[1500:]) > -0.36


def test_a_bowl_on_a_floor_carries_a_box(files):
    """A concave mesh that moves: its weight and that of the box reach the floor."""
    simulator = simulator_of(
        0.5,
        floor={'type': 'plane', 'xyz': [0, 0, -0.55]},
        bowl=movable(mesh(files / 'bowl.obj'), 0, 0, 0, mass=2.0),
        box=movable({'type': 'box', 'size': [0.2, 0.15, 0.1]}, 0, 0, -0.41),
    )
    simulator.step(n=6000)
    assert weight_on(simulator, 'floor') == pytest.approx([0, 0, -3.0 * G], abs=1e-4)
    assert weight_on(simulator, 'box') == pytest.approx([0, 0, G], abs=1e-4)
    assert np.abs(simulator.object_velocity('box')).max() < 1e-4


@pytest.mark.parametrize(
    ('hole', 'peg'),
    [
        ('round_hole', {'type': 'cylinder', 'radius': 0.0099, 'length': 0.04}),
        ('square_hole', {'type': 'box', 'size': [0.0198, 0.0198, 0.04]}),
    ],
)
def test_a_peg_falls_through_a_hole_with_a_tenth_of_a_millimetre_of_play(files, hole, peg):
    simulator = simulator_of(
        0.2,
        floor={'type': 'plane', 'xyz': [0, 0, -0.03]},
        plate=mesh(files / f'{hole}.obj'),
        peg=movable(peg, 5e-5, 0.0, 0.0205, mass=0.1),
    )
    simulator.step(n=400)
    position = simulator.object_pose('peg')[:3, 3]
    assert position == pytest.approx([5e-5, 0.0, -0.01], abs=1e-9)
    assert weight_on(simulator, 'peg') == pytest.approx([0, 0, 0.1 * G], abs=1e-8)


# -- cylinders ------------------------------------------------------------------------------------


@pytest.mark.parametrize('lying', [False, True])
def test_a_cylinder_rests_on_a_box_and_loads_it(lying):
    cylinder = {'type': 'cylinder', 'radius': 0.1, 'length': 0.2, **(LYING if lying else {})}
    simulator = simulator_of(
        floor={'type': 'plane'},
        box=movable({'type': 'box', 'size': [0.6, 0.5, 0.2]}, 0, 0, 0.1, mass=2.0),
        cylinder=movable(cylinder, 0.03, 0.05, 0.3),
    )
    simulator.step(n=100)
    there = poses(simulator)
    simulator.step(n=15_000)
    assert np.abs(poses(simulator) - there).max() < (2.5e-6 if lying else 2.5e-10)
    assert weight_on(simulator, 'cylinder') == pytest.approx([0, 0, G], abs=1e-7)
    assert weight_on(simulator, 'floor') == pytest.approx([0, 0, -3.0 * G], abs=1e-7)
    # Moments about the box's middle are those of the load: it is where the cylinder stands.
    below = [c for c in simulator.contacts if 'cylinder' in (c.first, c.second)]
    load = sum(abs(c.force[2]) * c.position[:2] for c in below) / G
    assert load == pytest.approx([0.03, 0.05], abs=1e-6)


def test_a_cylinder_stands_on_another_one():
    simulator = simulator_of(
        floor={'type': 'plane'},
        lower=movable({'type': 'cylinder', 'radius': 0.1, 'length': 0.2}, 0, 0, 0.1),
        upper=movable({'type': 'cylinder', 'radius': 0.08, 'length': 0.2}, 0.02, 0, 0.3),
    )
    simulator.step(n=100)
    there = poses(simulator)
    simulator.step(n=15_000)
    assert np.abs(poses(simulator) - there).max() < 2.5e-10
    assert weight_on(simulator, 'floor') == pytest.approx([0, 0, -2.0 * G], abs=1e-7)


# -- real robots ----------------------------------------------------------------------------------


def loads_of(simulator, thing):
    """Return the sum of the forces of a robot's links on a thing of the world."""
    return -weight_on(simulator, thing)


@pytest.mark.slow
@pytest.mark.parametrize('name', ['go1', 'go2'])
def test_a_quadruped_of_hulls_falls_and_lies_still_with_its_weight(name):
    robot = Robot.from_urdf(example_robots.path(name), floating_base=True)
    simulator = simulator_of(0.6, robot=robot, floor={'type': 'plane', 'xyz': [0, 0, -1.0]})
    for _ in range(50):
        simulator.step(np.zeros(robot.nv), n=100)
        assert worst_residual(simulator) < 1e-6
    there = simulator.q
    simulator.step(np.zeros(robot.nv), n=1000)
    assert np.abs(simulator.q - there).max() < 1e-6
    assert np.abs(simulator.v).max() < 1e-6
    mass = sum(body.inertia.mass for body in robot.model.bodies)
    assert loads_of(simulator, 'floor') == pytest.approx([0, 0, mass * G], abs=1e-5)
    assert simulator.status.contacts_truncated == 0
    # Of 6000: what is not solved to 1e-10 is the exception.
    assert simulator.status.unconverged_steps <= 30


@pytest.mark.slow
@pytest.mark.parametrize('floor', ['plane', 'shifted mesh', 'height field'])
def test_a_quadruped_of_hulls_stands_on_its_feet(files, floor):
    robot = Robot.from_urdf(example_robots.path('go2'), floating_base=True)
    q = robot.neutral()
    q[7:] = np.tile([0.0, 0.8, -1.6], 4)  # hip, thigh and calf of each leg
    q[6] = 0.33
    simulator = simulator_of(0.8, robot=robot, floor=floors(files)[floor])
    simulator.reset(q)
    tau = np.zeros(robot.nv)
    there = q
    for k in range(10_000):
        tau[6:] = 150.0 * (q[7:] - simulator.q[7:]) - 3.0 * simulator.v[6:]
        simulator.step(tau)
        there = simulator.q if k == 8000 else there
    # In two seconds it creeps by less than a micrometre, and bears its weight to a millionth.
    assert np.abs(simulator.q - there).max() < 1e-6
    touching = {c.first if 'robot' in c.first else c.second for c in simulator.contacts}
    assert touching == {f'robot/{leg}_foot' for leg in ('FL', 'FR', 'RL', 'RR')}
    mass = sum(body.inertia.mass for body in robot.model.bodies)
    assert loads_of(simulator, 'floor') == pytest.approx([0, 0, mass * G], abs=1e-6 * mass * G)
    assert np.abs(simulator.v).max() < 1e-6
    assert simulator.status.contacts_truncated == 0 and worst_residual(simulator) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize('name', ['panda', 'ur5_robot'])
def test_an_arm_of_hulls_sinks_to_the_floor_and_is_held_by_it(files, name):
    """By the principle of virtual work: motors have nothing to do but what limits do."""
    arm = Robot.from_urdf(example_robots.path(name))
    base = f'robot/{arm.link_names[0]}'
    floor = floors(files)['mesh']
    simulator = Simulator(
        arm, world={'objects': {'floor': floor}, 'disable_collisions': [[base, 'floor']]}
    )
    simulator.step(np.zeros(arm.nv), n=6000)
    assert np.abs(simulator.v).max() < 1e-6
    q, moment = simulator.q, np.zeros(arm.nv)
    assert any('floor' in (c.first, c.second) for c in simulator.contacts)
    for contact in simulator.contacts:
        for each, force in ((contact.first, -contact.force), (contact.second, contact.force)):
            if not each.startswith('robot/'):
                continue
            frame = arm.frame(each.partition('/')[2], 'aligned')
            J, origin = frame.jacobian(q), frame.pose(q)[:3, 3]
            moment += J[3:].T @ force + J[:3].T @ np.cross(contact.position - origin, force)
    held = (np.abs(q - arm.lower_limits) < 1e-6) | (np.abs(q - arm.upper_limits) < 1e-6)
    held |= np.array(arm.friction) > 0.0
    needed = arm.gravity_torque(q) - simulator.tau - moment
    assert np.abs(needed[~held]).max() < 1e-4 and not held.all()
