# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sensors on a simulated robot against statics, and against sums of momenta."""

import numpy as np
import pytest
from support.simulated_robots import ball, collision, joint, link, robot

from rbd_ros.contact import HalfSpace
from rbd_ros.model import Frame, LoopJoint, ModelError
from rbd_ros.model.joints import Fixed
from rbd_ros.robot import Robot
from rbd_ros.simulation import Simulator
from rbd_ros.spatial import PluckerTransform
from rbd_ros.spatial.rotation import quaternion_to_rotation

G = 9.81
MASSES = {'upper': 2.0, 'hand': 0.5, 'plate': 0.3, 'finger': 0.25, 'knob': 0.1}
ARM = """<robot name="arm"><link name="world"/>{links}
  <joint name="mount" type="fixed"><parent link="world"/><child link="stand"/>
    <origin xyz="0 0 1" rpy="0 0 0.3"/></joint>
  <link name="stand"><inertial><mass value="4"/><origin xyz="0 0.1 -0.2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="stand"/><child link="upper"/>
    <origin xyz="0.1 0 0.2" rpy="0.2 0 0"/><axis xyz="0 1 0"/>
    <dynamics damping="0.2" friction="0.3"/>
    <limit lower="-3" upper="3" effort="100" velocity="9"/></joint>
  <joint name="wrist" type="fixed"><parent link="upper"/><child link="hand"/>
    <origin xyz="0.4 0.05 0" rpy="0.1 0.7 -0.3"/></joint>
  <joint name="adapter" type="fixed"><parent link="hand"/><child link="plate"/>
    <origin xyz="0.02 0.05 0.1" rpy="0.4 0.1 0.3"/></joint>
  <joint name="grip" type="prismatic"><parent link="plate"/><child link="finger"/>
    <origin xyz="0 0.1 0.1" rpy="1 0.2 0"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-0.4" upper="0.4" effort="60" velocity="9"/></joint>
  <joint name="button" type="fixed"><parent link="finger"/><child link="knob"/>
    <origin xyz="0.1 0 0" rpy="0 0 1"/></joint>
</robot>"""
BEYOND = {
    'mount': ('stand', *MASSES),
    'shoulder': tuple(MASSES),
    'wrist': ('hand', 'plate', 'finger', 'knob'),
    'adapter': ('plate', 'finger', 'knob'),
    'grip': ('finger', 'knob'),
    'button': ('knob',),
}
LIMIT = '<limit lower="-1" upper="1" effort="100" velocity="9"/>'
CHILD = dict(zip(BEYOND, ('stand', 'upper', 'hand', 'plate', 'finger', 'knob')))


def bodies():
    """Return the links with masses, centers off their origins, and balls to touch things with."""
    found = []
    for k, (name, mass) in enumerate(MASSES.items()):
        found.append(
            f'<link name="{name}"><inertial><origin xyz="0.0{k} 0.03 -0.02" rpy="0 0.1 0.{k}"/>'
            f'<mass value="{mass}"/><inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" '
            'iyz="0.002"/></inertial><collision><geometry><sphere radius="0.05"/></geometry>'
            '</collision></link>'
        )
    return ''.join(found)


def arm(**options):
    return Robot.from_urdf(ARM.format(links=bodies()), **options)


def momentum(robot, names, q, v):
    """Return the angular momentum about the origin of the base and momentum of links, (6,).

    By hand.
    """
    total = np.zeros(6)
    for name in names:
        inertia = robot.model.link(name).inertia
        mass, center = inertia.mass, np.array(inertia.h) / inertia.mass
        xx, xy, yy, xz, yz, zz = inertia.I
        about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        c = np.array(
            [[0, -center[2], center[1]], [center[2], 0, -center[0]], [-center[1], center[0], 0]]
        )
        about_center = about_origin + mass * c @ c
        frame = robot.frame(name, 'aligned')
        T = robot.forward_kinematics(q)[name]
        twist = np.asarray(frame.velocity(q, v))
        R, at = T[:3, :3], T[:3, 3] + T[:3, :3] @ center
        rate = twist[3:] + np.cross(twist[:3], T[:3, :3] @ center)
        total[:3] += R @ about_center @ R.T @ twist[:3] + np.cross(at, mass * rate)
        total[3:] += mass * rate
    return total


def weight(robot, names, q):
    """Return the gravity on links, about the origin of the base, (6,)."""
    total = np.zeros(6)
    for name in names:
        inertia, T = robot.model.link(name).inertia, robot.forward_kinematics(q)[name]
        at = T[:3, 3] + T[:3, :3] @ np.array(inertia.h) / inertia.mass
        force = inertia.mass * np.array([0, 0, -G])
        total += np.concatenate([np.cross(at, force), force])
    return total


def about_base(wrench, T):
    """Return the wrench in the axes of a frame, about the origin of the base, (6,)."""
    couple, force = T[:3, :3] @ wrench[:3], T[:3, :3] @ wrench[3:]
    return np.concatenate([couple + np.cross(T[:3, 3], force), force])


def expected(simulator, name, outer):
    """Return the expected wrench about the base, by the rate of momentum at the start of the step.

    :param outer: what acts on the links beyond it besides gravity, (6,)
    """
    robot, state = simulator.robot, simulator.physics.state
    q, v, a = state.start_q.copy(), state.start_v.copy(), simulator.a
    e, names = 1e-5, BEYOND[name]
    rate = (
        momentum(robot, names, robot.integrate(q, v, e), v + e * a)
        - momentum(robot, names, robot.integrate(q, v, -e), v - e * a)
    ) / (2 * e)
    return rate - weight(robot, names, q) - outer


def start_poses(simulator):
    return simulator.robot.forward_kinematics(simulator.physics.state.start_q)


def check_gauges(simulator, sensors, outer=lambda name: np.zeros(6), tolerance=2e-7):
    poses = start_poses(simulator)
    for name, wrench in sensors.wrenches.items():
        found = about_base(wrench, poses[CHILD[name]])
        assert found == pytest.approx(
            expected(simulator, name, outer(name)), rel=tolerance, abs=tolerance
        ), name


# -- statics --------------------------------------------------------------------------------------


def test_a_mass_that_hangs_below_a_sensor_reads_its_weight_upwards():
    hanging = robot(
        link('base'),
        link('plate'),
        link('load', 2.5, (0.1, 0.2, 0.3)),
        link('rod', 1.0, (0.1, 0.1, 0.1)),
        joint('sensor', 'base', 'plate', 'fixed'),
        joint('rope', 'plate', 'load', 'fixed', xyz=(0.2, 0, -1)),
        joint('other', 'base', 'rod'),
    )
    simulator = Simulator(hanging)
    reading = simulator.sensors(force_torque=['sensor']).wrenches['sensor']
    # The parent holds it up, by a force beside its origin.
    assert reading == pytest.approx([0, -0.2 * 2.5 * G, 0, 0, 0, 2.5 * G], abs=1e-12)


@pytest.mark.parametrize('name', BEYOND)
def test_at_rest_a_sensor_reads_the_weight_beyond_it(name):
    robot = arm()
    simulator = Simulator(robot, integrator='semi_implicit')
    q = np.array([0.4, 0.1])
    simulator.reset(q)
    sensors = simulator.sensors(force_torque=[name])
    for _ in range(2):  # held before the first step, then by its drives
        T = robot.forward_kinematics(q)[CHILD[name]]
        found = about_base(sensors.wrenches[name], T)
        assert found == pytest.approx(-weight(robot, BEYOND[name], q), rel=1e-12, abs=1e-9)
        assert found[5] == pytest.approx(
            G * sum(robot.model.link(each).inertia.mass for each in BEYOND[name])
        )
        simulator.step(robot.gravity_torque(q), n=20)
        assert np.allclose(simulator.q, q, atol=1e-12)


def test_a_link_stands_for_the_joint_that_bears_it():
    simulator = Simulator(arm())
    by_link = simulator.sensors(force_torque=[*CHILD.values()])
    by_joint = simulator.sensors(force_torque=[*CHILD])
    for name, child in CHILD.items():
        assert np.array_equal(by_joint.wrenches[name], by_link.wrenches[child])


# -- motion ---------------------------------------------------------------------------------------


@pytest.mark.parametrize('floating', [False, True])
def test_a_sensor_in_motion_reads_the_rate_of_momentum_beyond_it(floating):
    robot = arm(floating_base=floating)
    simulator = Simulator(robot, integrator='semi_implicit')
    v = np.linspace(-1.0, 2.0, robot.nv)
    q = robot.integrate(robot.neutral(), np.linspace(0.1, 0.5, robot.nv), 1.0)
    q[-1] = 0.0
    simulator.reset(q, v)
    sensors = simulator.sensors(force_torque=list(BEYOND))
    torque = np.zeros(robot.nv)
    torque[-2:] = 8.0, -2.0
    for _ in range(3):
        simulator.step(torque, n=4)
        assert np.abs(simulator.a).max() > 1.0
        check_gauges(simulator, sensors)


def test_the_projection_is_the_force_of_drive_friction_damping_and_limits():
    robot = arm(armature={'shoulder': 0.3})
    simulator = Simulator(robot, integrator='semi_implicit')
    simulator.reset([0.4, 0.395], [0.5, 2.0])
    sensors = simulator.sensors(joint_torques=['grip', 'shoulder'])
    limited = False
    for _ in range(20):
        simulator.step([20.0, 6.0])
        transmitted = simulator.tau + simulator.constraint_force - robot.damping * simulator.v
        transmitted[0] -= 0.3 * simulator.a[0]
        found = sensors.joint_torques
        assert list(found) == ['grip', 'shoulder']
        assert [found['shoulder'], found['grip']] == pytest.approx(transmitted, abs=1e-9)
        limited = limited or abs(simulator.constraint_force[1]) > 1.0
    assert limited


def test_integrators_that_look_at_the_middle_are_read_there():
    robot = arm()
    for integrator in ('midpoint', 'rk4'):
        simulator = Simulator(robot, 2e-4, integrator=integrator)
        simulator.reset([0.4, 0.1], [2.0, -1.0])
        sensors = simulator.sensors(joint_torques=['shoulder', 'grip'])
        simulator.step([5.0, 2.0], n=3)
        damping = robot.damping * simulator.v
        known = simulator.tau + simulator.constraint_force - damping
        found = list(sensors.joint_torques.values())
        assert found == pytest.approx(known, abs=5e-3), integrator
        simulator.reset([0.4, 0.1])
        simulator.step(robot.gravity_torque([0.4, 0.1]))
        assert list(sensors.joint_torques.values()) == pytest.approx(
            robot.gravity_torque([0.4, 0.1]), abs=1e-9
        )


# -- what the world does --------------------------------------------------------------------------


@pytest.mark.parametrize('pushed', ['upper', 'hand', 'plate', 'knob'])
def test_a_push_is_felt_by_the_sensors_before_it(pushed):
    robot = arm()
    simulator = Simulator(robot, integrator='semi_implicit')
    simulator.reset([0.4, 0.1], [1.0, 0.5])
    sensors = simulator.sensors(force_torque=list(BEYOND))
    wrench, point = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.array([0.1, 0.2, 0.0])
    simulator.apply_wrench(pushed, wrench, duration=0.003, point=point)
    for step in range(5):
        simulator.step([5.0, 2.0])
        T = start_poses(simulator)[pushed]
        at = T[:3, :3] @ point + T[:3, 3]
        total = wrench + np.concatenate([np.cross(at, wrench[3:]), np.zeros(3)])
        acts = step < 3

        def outer(name, acts=acts, total=total):
            return total * (acts and pushed in BEYOND[name])

        check_gauges(simulator, sensors, outer)


def contact_wrenches(simulator, names, compliant):
    """Return what contacts do to links, about the origin of the base, (6,), from `contacts`."""
    total = np.zeros(6)
    for each in simulator.contacts:
        parts = (
            [(each.link, each.force)]
            if compliant
            else [(each.first, -each.force), (each.second, each.force)]
        )
        for owner, force in parts:
            if owner.removeprefix('robot/') in names:
                total += np.concatenate([np.cross(each.position, force), force])
    return total


@pytest.mark.parametrize('ground', ['compliant', 'rigid'])
def test_contact_is_felt_by_the_sensors_before_it(ground):
    robot = arm(floating_base=True)
    options = {'ground': HalfSpace() if ground == 'compliant' else True}
    simulator = Simulator(robot, integrator='semi_implicit', **options)
    q = robot.neutral()
    q[6] = -0.7
    q[7:] = 1.2, 0.1
    simulator.reset(q)
    sensors = simulator.sensors(force_torque=list(BEYOND))
    felt = 0
    for _ in range(60):
        simulator.step(n=5)
        check_gauges(
            simulator,
            sensors,
            lambda name: contact_wrenches(simulator, BEYOND[name], ground == 'compliant'),
            tolerance=2e-6,
        )
        felt += np.abs(contact_wrenches(simulator, MASSES, ground == 'compliant')).max() > 1.0
    assert felt >= 1


@pytest.mark.slow
@pytest.mark.parametrize('law', ['newton', 'poisson'])
def test_a_sensor_does_not_transmit_an_impact_on_a_link_beyond_it(law):
    foot = robot(
        link('top', 1.0, (0.1, 0.1, 0.1)),
        link('foot', 0.5, (0.01, 0.01, 0.01), shape=collision('sphere radius="0.1"')),
        joint('ankle', 'top', 'foot', 'fixed', xyz=(0, 0, -0.5)),
        floating_base=True,
    )
    world = {
        'objects': {'floor': {'type': 'plane'}},
        'pairs': [{'links': ['robot', 'floor'], 'restitution': 0.5, 'friction': 0.3}],
    }
    simulator = Simulator(foot, world=world, restitution_model=law, integrator='semi_implicit')
    simulator.reset([1, 0, 0, 0, 0, 0, 0.605], [0, 0, 0, 0, 0, -2.0])
    sensors, before, h = simulator.sensors(force_torque=['ankle']), -2.0, simulator.timestep
    impacts = 0
    for _ in range(10):
        simulator.step()
        change = (simulator.v[5] - before) / h
        before = simulator.v[5]
        # The foot takes the impact, and hands on what stops the rest.
        assert sensors.wrenches['ankle'][5] == pytest.approx(-1.0 * (change + G), abs=1e-6)
        impacts += change > 1.0
    assert impacts == 1 and before > 0.9


@pytest.mark.slow
def test_torsional_friction_on_a_link_beyond_a_sensor_is_taken_off():
    top = robot(
        link('base'),
        link('spindle'),
        link('foot', 0.5, (0.01, 0.01, 0.01), shape=collision('sphere radius="0.1"')),
        joint('slide', 'base', 'spindle', 'prismatic', (0, 0, 1), inside=LIMIT),
        joint('turn', 'spindle', 'foot', 'continuous', (0, 0, 1), xyz=(0, 0, 0.1)),
    )
    world = {
        'objects': {'floor': {'type': 'plane'}},
        'pairs': [{'links': ['robot', 'floor'], 'torsional': 0.02, 'friction': 0.5}],
    }
    simulator = Simulator(top, world=world, integrator='semi_implicit')
    simulator.reset([0.0, 0.0], [0.0, 5.0])
    sensors = simulator.sensors(force_torque=['turn'], joint_torques=['turn'])
    simulator.step([0.0, 0.3], n=20)
    assert simulator.v[1] < 5.0 + 0.3 / 0.01 * 0.02 - 0.01  # it is slowed down
    assert sensors.joint_torques['turn'] == pytest.approx(0.3, abs=1e-9)
    assert sensors.wrenches['turn'][5] == pytest.approx(0.0, abs=1e-6)  # the floor bears it


@pytest.mark.slow
def test_contact_forces_within_the_links_beyond_cancel():
    tongs = robot(
        link('base'),
        link('palm', 1.0, (0.1, 0.1, 0.1)),
        link('left', 0.5, (0.1, 0.1, 0.1), shape=collision('sphere radius="0.1"')),
        link('right', 0.5, (0.1, 0.1, 0.1), shape=collision('sphere radius="0.1"')),
        joint('wrist', 'base', 'palm', 'fixed', xyz=(0, 0, 1)),
        joint('one', 'palm', 'left', 'prismatic', (1, 0, 0), (-0.2, 0, 0), LIMIT),
        joint('two', 'palm', 'right', 'prismatic', (1, 0, 0), (0.2, 0, 0), LIMIT),
    )
    world = {'objects': {}, 'pairs': [{'links': ['robot/left', 'robot/right'], 'friction': 0}]}
    simulator = Simulator(tongs, world=world, integrator='semi_implicit')
    simulator.reset([0.1, -0.1])
    sensors = simulator.sensors(force_torque=['wrist', 'one'])
    simulator.step([7.0, -7.0], n=10)
    assert simulator.contacts
    assert sensors.wrenches['wrist'] == pytest.approx([0, 0, 0, 0, 0, 2 * G], abs=1e-6)
    assert sensors.wrenches['one'][3:] == pytest.approx([7.0, 0, 0.5 * G], abs=1e-6)


# -- inertial units -------------------------------------------------------------------------------


@pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint', 'rk4'])
def test_inertial_units_agree_with_differences_of_poses(integrator):
    robot = arm(floating_base=True)
    simulator = Simulator(robot, integrator=integrator)
    q = robot.integrate(robot.neutral(), np.linspace(0.1, 0.6, robot.nv), 1.0)
    q[-1] = 0.0
    simulator.reset(q, np.linspace(-1, 2, robot.nv))
    links = ['world', 'hand', 'knob']
    sensors = simulator.sensors(imus=links)
    torque = np.zeros(robot.nv)
    torque[-2:] = 5.0, -1.0
    h, e = simulator.timestep, 1e-6
    for _ in range(5):
        before = {each: origin_rate(robot, each, simulator.q, simulator.v, e) for each in links}
        simulator.step(torque)
        for name, reading in sensors.imus.items():
            R = robot.forward_kinematics(simulator.q)[name][:3, :3]
            assert np.array(quaternion_to_rotation(tuple(reading.orientation))) == pytest.approx(
                R, abs=1e-12
            )
            after, turn = origin_rate(robot, name, simulator.q, simulator.v, e)
            change = (after - before[name][0]) / h
            proper = R.T @ (change + [0, 0, G])
            assert reading.linear_acceleration == pytest.approx(proper, rel=1e-5, abs=1e-5)
            assert reading.angular_velocity == pytest.approx(R.T @ turn, rel=1e-7, abs=1e-7)


def origin_rate(robot, name, q, v, e):
    """Return the velocity of the origin of a link, and its angular velocity.

    By differences of its poses.
    """
    ahead, behind = (robot.forward_kinematics(robot.integrate(q, v, dt))[name] for dt in (e, -e))
    turn = (ahead[:3, :3] - behind[:3, :3]) @ robot.forward_kinematics(q)[name][:3, :3].T / (2 * e)
    return (ahead[:3, 3] - behind[:3, 3]) / (2 * e), np.array([turn[2, 1], turn[0, 2], turn[1, 0]])


def test_imu_readings_integrate_to_the_velocity_also_when_it_falls_on_the_ground():
    simulator = Simulator(ball(), ground=True)
    simulator.reset([1, 0, 0, 0, 0, 0, 0.2], [1.0, 2.0, 3.0, 0.5, 0, 0])
    sensors, velocity = simulator.sensors(imus=['body']), None
    for _ in range(300):
        simulator.step()
        reading = sensors.imus['body']
        R = np.array(quaternion_to_rotation(tuple(reading.orientation)))
        true = R @ simulator.v[3:]
        if velocity is not None:
            velocity += simulator.timestep * (R @ reading.linear_acceleration - [0, 0, G])
            assert velocity == pytest.approx(true, abs=1e-9)
        else:
            velocity = true
    assert simulator.q[6] == pytest.approx(0.1, abs=1e-3)  # it has fallen


@pytest.mark.parametrize('axis', [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)])
@pytest.mark.parametrize('angle', [0.1, 2.0, 3.1, -3.1])
def test_orientations_are_unit_quaternions_at_any_angle(axis, angle):
    simulator = Simulator(ball())
    u = np.array(axis) / np.linalg.norm(axis)
    simulator.reset([np.cos(angle / 2), *(np.sin(angle / 2) * u), 0, 0, 1])
    found = simulator.sensors(imus=['body']).imus['body']
    given = simulator.q[:4]
    assert abs(found.orientation @ given) == pytest.approx(1.0, abs=1e-12)
    assert found.linear_acceleration @ found.linear_acceleration == pytest.approx(G * G)


def test_a_wrist_reads_gravity_along_its_own_axes_before_anything_moves():
    robot = arm()
    simulator = Simulator(robot)
    simulator.reset([0.4, 0.1])
    R = robot.forward_kinematics([0.4, 0.1])['hand'][:3, :3]
    for _ in range(2):
        reading = simulator.sensors(imus=['hand']).imus['hand']
        assert reading.linear_acceleration == pytest.approx(R.T @ [0, 0, G], abs=1e-9)
        simulator.step(robot.gravity_torque([0.4, 0.1]))


def test_robots_with_loops_have_inertial_units_and_no_gauges():
    robot = arm()
    X = np.array(robot.forward_kinematics(robot.neutral())['upper'])
    tip = Frame(0, PluckerTransform.from_pose(X.tolist()))
    weld = LoopJoint('weld', tip, robot.model.frame('upper'), Fixed())
    held = Robot(robot.model.with_loops([weld]))
    simulator = Simulator(held)
    reading = simulator.sensors(imus=['hand']).imus['hand']
    assert np.linalg.norm(reading.linear_acceleration) == pytest.approx(G)
    for requested in ({'force_torque': ['wrist']}, {'joint_torques': ['grip']}):
        with pytest.raises(ModelError, match="loop joints 'weld'"):
            simulator.sensors(**requested)


# -- whose and when -------------------------------------------------------------------------------


def test_a_snapshot_keeps_sensor_readings():
    robot = arm()
    simulator = Simulator(robot, integrator='semi_implicit')
    simulator.reset([0.4, 0.1], [1.0, 0.5])
    sensors = simulator.sensors(['hand'], ['wrist'])
    simulator.apply_wrench('knob', [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], duration=0.002)
    simulator.step(n=2)
    kept, imu, wrench = simulator.snapshot(), sensors.imus['hand'], sensors.wrenches['wrist']
    simulator.reset([0.0, 0.0])
    simulator.step(n=20)
    simulator.restore(kept)
    assert np.array_equal(sensors.wrenches['wrist'], wrench)
    assert np.array_equal(sensors.imus['hand'].linear_acceleration, imu.linear_acceleration)


@pytest.mark.slow
def test_sensors_stay_on_the_robot_when_its_world_changes():
    robot = arm()
    simulator = Simulator(robot, world={'objects': {}}, integrator='semi_implicit')
    q = [0.4, 0.1]
    simulator.reset(q)
    sensors = simulator.sensors(['hand'], ['wrist'])
    simulator.step(robot.gravity_torque(q))
    before = sensors.wrenches['wrist']
    simulator.add_object('floor', {'type': 'plane', 'xyz': [0, 0, -9]})
    assert np.array_equal(sensors.wrenches['wrist'], before)
    simulator.step(robot.gravity_torque(q))
    assert sensors.wrenches['wrist'] == pytest.approx(before, abs=1e-9)


def test_robots_of_a_world_have_sensors_by_their_names(tmp_path):
    (tmp_path / 'arm.urdf').write_text(ARM.format(links=bodies()))
    (tmp_path / 'world.yaml').write_text(
        'objects: {}\nrobots: {other: {urdf: arm.urdf, static: false, xyz: [3, 0, 0]}}\n'
    )
    simulator = Simulator(None, world=tmp_path / 'world.yaml')
    found = simulator.sensors(['other/hand'], ['other/wrist']).wrenches['other/wrist']
    alone = Simulator(arm()).sensors(force_torque=['wrist']).wrenches['wrist']
    assert found == pytest.approx(alone, abs=1e-9)


@pytest.mark.parametrize(
    'requested, text',
    [
        ({'imus': ['nose']}, 'nose'),
        ({'force_torque': ['nose']}, 'nose'),
        ({'joint_torques': ['wrist']}, 'wrist'),
        ({'force_torque': ['world']}, "'world': no joint carries it"),
    ],
)
def test_an_unknown_name_is_rejected(requested, text):
    with pytest.raises(ValueError, match=text):
        Simulator(arm()).sensors(**requested)


@pytest.mark.parametrize('name', ['world', 'floating_base'])
def test_nothing_bears_a_base_that_floats(name):
    with pytest.raises(ValueError, match='no joint carries a floating base'):
        Simulator(arm(floating_base=True)).sensors(force_torque=[name])
