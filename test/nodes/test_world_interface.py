# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The world around the simulated robot in the simulation cycle, without a node."""

from dataclasses import replace

import numpy as np
import pytest
from support import outside
from support.simulated_robots import ball, collision, link, robot

outside.load('rclpy')

from geometry_msgs.msg import WrenchStamped
from node_harness import joint_state
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import MultiDOFJointState
from test_simulation_cycle import Recorder
from visualization_msgs.msg import Marker

from rbd_ros.model.geometry import Sphere
from rbd_ros.nodes.simulator.cycle.simulation_cycle import SimulationCycle
from rbd_ros.nodes.simulator.interface.simulator_interface import (
    check_simulator_parameters,
    SIMULATOR_PARAMETERS,
)
from rbd_ros.nodes.simulator.world import world_ports
from rbd_ros.nodes.simulator.world.markers import static_markers
from rbd_ros.nodes.simulator.world.object_motion import about
from rbd_ros.simulation.physics import RESTITUTION_MODELS
from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.world import World, WorldObject

G = 9.81
BOX, PRESS, BALL = 1.0, 2.0, 0.5  # masses [kg]
WORLD = """
objects:
  floor: {type: plane, color: [0.5, 0.6, 0.7]}
  wall: {type: box, size: [0.1, 2, 1], xyz: [3, 0, 0.5], rpy: [0, 0, 0.5]}
  box: {type: box, size: [0.2, 0.2, 0.2], xyz: [0, 0, 0.1], static: false, mass: 1.0}
  ball:
    type: sphere
    radius: 0.1
    xyz: [1, 0, 0.1]
    static: false
    mass: 0.5
    center_of_mass: [0.01, 0.02, -0.05]
    inertia: {ixx: 0.002, iyy: 0.003, izz: 0.004, ixy: 0.0001, ixz: 0, iyz: 0}
    velocity: {linear: [0.3, 0.1, 0], angular: [1, 2, 3]}
  pill: {type: capsule, radius: 0.05, length: 0.2, xyz: [2, 0, 3], static: false, mass: 1.0}
pairs:
  - {links: [robot, box], friction: 0}  # with friction, statics is indeterminate
"""


def press():
    """Return the sphere of 2 kg on a vertical guide, 1 cm above the box."""
    slider = link('foot', PRESS, (0.1, 0.1, 0.1), shape=collision('sphere radius="0.05"'))
    joint = (
        '<joint name="guide" type="prismatic"><parent link="base"/><child link="foot"/>'
        '<origin xyz="0.02 0 0.26"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="500" velocity="5"/></joint>'
    )
    return robot(link('base'), slider, joint)


class DiagnosticsRecorder:
    """Stands in for diagnostics; keeps the codes of events."""

    def __init__(self):
        self.codes, self.texts = [], []

    def event(self, subject, level, text, code=None):
        self.codes.append(code)
        self.texts.append(text)

    def condition(self, *args, **options):
        pass


class WorldRecorder:
    """Ports of the world that store sent messages, and return given ones."""

    def __init__(self):
        self.objects, self.frames, self.wrenches = [], [], []
        self.standing, self.markers = [], {}

    def send_objects(self, data):
        self.objects.append(deserialize_message(data, MultiDOFJointState))

    def send_frames(self, data):
        self.frames.append(data)

    def send_standing(self, found):
        self.standing.append(found)

    def has_subscribers(self, topic):
        return True

    def send_wrench(self, message):
        self.wrenches.append(message)

    def send_contacts(self, message):
        self.contacts = message

    def send_markers(self, topic, found):
        self.markers[topic] = found


class Rig:
    def __init__(self, folder, of=None, text=WORLD, **parameters):
        file = folder / 'world.yaml'
        file.write_text(text)
        self.parameters = {each.name: each.default for each in SIMULATOR_PARAMETERS}
        self.parameters.update({'world': str(file), 'world_publish_rate': 0.0, **parameters})
        self.reported, self.ports, self.world = DiagnosticsRecorder(), Recorder(), WorldRecorder()
        self.cycle = SimulationCycle(
            of or press(), self.parameters, self.reported, self.ports, print, lambda: self.world
        )
        self.simulator = self.cycle.simulator

    def run(self, count=1):
        for _ in range(count):
            self.cycle.run()

    def place(self, child, position=(0, 0, 0), orientation=(0, 0, 0, 1)):
        row = np.array([*position, *orientation], dtype=float)
        self.cycle.world_interface.set_state(child, row, np.zeros(6))

    def pose(self, name):
        """Return the position and quaternion of the last message."""
        message = self.world.objects[-1]
        pose = message.transforms[message.joint_names.index(name)]
        t, r = pose.translation, pose.rotation
        return [t.x, t.y, t.z], [r.x, r.y, r.z, r.w]


def xyz(vector):
    return [vector.x, vector.y, vector.z]


@pytest.fixture
def rig(tmp_path):
    return Rig(tmp_path)


def test_poses_of_objects_are_published_by_name(rig):
    rig.run(30)
    message = rig.world.objects[-1]
    assert message.header.frame_id == 'base'
    assert message.header.stamp.nanosec == rig.cycle.time_ns == 31_000_000
    assert message.joint_names == ['box', 'ball', 'pill']
    for k, name in enumerate(message.joint_names):
        pose, velocity = rig.simulator.object_pose(name), rig.simulator.object_velocity(name)
        place, (x, y, z, w) = rig.pose(name)
        assert place == pytest.approx(pose[:3, 3], abs=1e-14)
        # Two of the columns of the rotation matrix.
        assert 1 - 2 * (y * y + z * z) == pytest.approx(pose[0, 0])
        assert 2 * (x * y + w * z) == pytest.approx(pose[1, 0])
        assert 2 * (y * z + w * x) == pytest.approx(pose[2, 1])
        assert xyz(message.twist[k].angular) == pytest.approx(velocity[:3], abs=1e-12)
        assert xyz(message.twist[k].linear) == pytest.approx(velocity[3:], abs=1e-12)
    assert abs(rig.simulator.object_velocity('ball')[:3]).min() > 0.1


def test_servos_hold_the_robot_while_objects_move(rig):
    """Brakes would stop the objects, too."""
    rig.run(200)
    assert rig.ports.states[-1].position[0] == pytest.approx(0.0, abs=1e-6)
    assert rig.ports.states[-1].effort[0] == pytest.approx(PRESS * G, rel=1e-6)
    assert rig.pose('pill')[0][2] == pytest.approx(3.0 - 0.5 * G * 0.2**2, rel=1e-2)


def test_wrenches_and_arrows_are_those_of_statics(tmp_path):
    """The press rests upon the box, a little out of its middle."""
    rig = Rig(tmp_path, initial_command='zero')
    rig.run(400)
    rig.world.wrenches.clear()
    rig.run()
    by_frame = {each.header.frame_id: each.wrench for each in rig.world.wrenches}
    assert set(by_frame) == {'foot', 'box', 'ball'}
    assert xyz(by_frame['foot'].force) == pytest.approx([0, 0, PRESS * G], abs=1e-6)
    # The floor bears both, and the press gives back its own part.
    assert xyz(by_frame['box'].force) == pytest.approx([0, 0, BOX * G], abs=1e-6)
    assert xyz(by_frame['box'].torque) == pytest.approx([0, 0, 0], abs=1e-6)
    message = rig.world.objects[-1]
    assert message.wrench[0].force.z == pytest.approx(BOX * G, abs=1e-6)
    assert message.wrench[2].force.z == 0.0  # it flies

    scale = rig.parameters['contact_arrow_scale']
    first, *arrows = rig.world.markers[world_ports.CONTACT_MARKERS]
    assert first.action == Marker.DELETEALL and first.header.frame_id == 'base'
    assert len(arrows) == len(rig.simulator.contacts)
    (arrow,) = (each for each in arrows if each.ns == 'robot/foot box')
    assert xyz(arrow.points[0]) == pytest.approx([0.02, 0.0, 0.2], abs=1e-6)
    tip = [b - a for a, b in zip(xyz(arrow.points[0]), xyz(arrow.points[1]))]
    assert tip == pytest.approx([0.0, 0.0, -PRESS * G * scale], abs=1e-6)
    assert len({each.id for each in arrows}) == len(arrows)


def test_wrenches_are_in_the_axes_of_the_body_about_its_origin(rig):
    """The wrench on the ball, which rolls, by the contacts that the simulation reports."""
    rig.run(50)
    rig.world.wrenches.clear()
    rig.run()
    (message,) = (each for each in rig.world.wrenches if each.header.frame_id == 'ball')
    pose = rig.simulator.object_pose('ball')
    (contact,) = (each for each in rig.simulator.contacts if each.second == 'ball')
    R, arm = pose[:3, :3], contact.position - pose[:3, 3]
    assert xyz(message.wrench.force) == pytest.approx(R.T @ contact.force)
    assert xyz(message.wrench.torque) == pytest.approx(R.T @ np.cross(arm, contact.force))
    in_world = rig.world.objects[-1].wrench[1]
    assert xyz(in_world.force) == pytest.approx(contact.force)
    assert xyz(in_world.torque) == pytest.approx(np.cross(arm, contact.force))
    assert abs(R - np.eye(3)).max() > 0.01 and abs(contact.force).min() > 1e-3


def test_an_ended_contact_is_reported_once(rig):
    rig.run(10)

    def of_ball():
        return [each.wrench for each in rig.world.wrenches if each.header.frame_id == 'ball']

    assert of_ball()[-1].force.z > 1.0
    rig.place('ball', (1, 0, 5))
    rig.world.wrenches.clear()
    rig.run(8)
    (last,) = of_ball()
    assert last.force.z == last.torque.x == 0.0


def test_while_paused_objects_are_placed_and_shown(rig):
    rig.run()
    stamp, count = rig.cycle.time_ns, len(rig.world.frames)
    rig.place('box', (0, 5, 0.1))
    rig.cycle._states.last_at = 0.0
    rig.cycle.idle()
    assert rig.pose('box')[0] == [0, 5, 0.1] and rig.cycle.time_ns == stamp
    assert len(rig.world.frames) == count  # tf takes no two of the same time


def test_wrenches_from_outside_push_objects_in_their_own_axes(rig):
    rig.place('pill', (1, 2, 50), (0, 0, np.sqrt(0.5), np.sqrt(0.5)))
    message = WrenchStamped()
    message.header.frame_id = 'pill'
    message.wrench.force.x = 2.0
    rig.run(4)
    rig.ports.wrenches.append(serialize_message(message))
    rig.run(200)  # it acts for a tenth of a second
    # Its x axis is the world's y axis.
    assert rig.simulator.object_velocity('pill')[3:5] == pytest.approx([0.0, 0.2], abs=1e-9)
    message.header.frame_id = 'wall'
    rig.ports.wrenches.append(serialize_message(message))
    rig.run(4)
    assert (
        rig.reported.codes == ['unknown link'] and 'nor a movable object' in rig.reported.texts[0]
    )


def test_reset_puts_objects_where_they_began(rig):
    rig.run(50)
    rig.place('box', (0, 0, 7))
    rig.cycle.reset()
    assert rig.pose('box')[0] == pytest.approx([0, 0, 0.1])
    assert rig.pose('ball')[0] == pytest.approx([1, 0, 0.1])
    assert xyz(rig.world.objects[-1].twist[1].angular) == pytest.approx([1, 2, 3])


def test_frames_have_the_prefix_and_that_of_the_world_is_the_root_link(tmp_path):
    rig = Rig(tmp_path, frame_prefix='left/')
    rig.run(4)
    assert rig.world.objects[-1].header.frame_id == 'left/base'
    assert b'left/base\x00' in rig.world.frames[-1] and b'left/box\x00' in rig.world.frames[-1]
    assert 'left/box' in {each.header.frame_id for each in rig.world.wrenches}
    message = WrenchStamped()
    message.header.frame_id = 'left/pill'
    rig.ports.wrenches.append(serialize_message(message))
    rig.run(4)
    assert rig.cycle.wrenches.accepted == 1


def test_the_frame_of_odometry_is_where_the_world_is(tmp_path):
    half = np.sqrt(0.5)
    start = [0, 3, 9, half, 0, 0, half]
    rig = Rig(tmp_path, ball(), initial_command='zero', initial_base_pose=start)
    rig.run(8)
    assert rig.world.objects[-1].header.frame_id == 'world'
    data = rig.world.frames[-1]
    assert data[:8] == b'\x00\x01\x00\x00\x04\x00\x00\x00'  # of base and objects
    last = np.frombuffer(data[-8 * 7 :], '<f8')
    assert last[:3] == pytest.approx(rig.simulator.object_pose('pill')[:3, 3])
    # Names of frames end where the numbers begin, in multiples of eight after the first four.
    begin = data.index(b'odom\x00') + 5
    begin += -(begin - 4) % 8
    assert list(np.frombuffer(data[begin : begin + 56], '<f8')) == [0, 0, 0, 0, 0, 0, 1]


def test_rates_hold_in_simulated_time(tmp_path):
    rig = Rig(tmp_path)
    rig.parameters['world_publish_rate'] = 100.0
    rig.cycle = SimulationCycle(
        press(), rig.parameters, rig.reported, rig.ports, print, lambda: rig.world
    )
    rig.run(20)
    rig.world.objects.clear()
    rig.run(100)
    assert len(rig.world.objects) == 10


def test_markers_show_all_shapes_where_they_are(rig):
    (standing,) = rig.world.standing
    floor, wall = standing
    assert (floor.ns, floor.type, floor.scale.x) == ('floor', Marker.CUBE, 20.0)
    assert (floor.color.r, floor.color.b) == pytest.approx((0.5, 0.7), abs=1e-6)
    assert floor.pose.position.z + 0.5 * floor.scale.z == pytest.approx(0.0)
    assert xyz(wall.scale) == [0.1, 2.0, 1.0] and wall.header.frame_id == 'base'
    assert wall.pose.orientation.z == pytest.approx(np.sin(0.25))
    rig.run(5)
    box, sphere, *pill = rig.world.markers[world_ports.OBJECT_MARKERS]
    assert (box.type, sphere.type) == (Marker.CUBE, Marker.SPHERE)
    assert xyz(sphere.scale) == [0.2] * 3
    assert xyz(sphere.pose.position) == pytest.approx(rig.pose('ball')[0])
    assert sphere.pose.orientation.z == pytest.approx(rig.pose('ball')[1][2])
    assert [each.type for each in pill] == [Marker.CYLINDER, Marker.SPHERE, Marker.SPHERE]
    heights = [each.pose.position.z - rig.pose('pill')[0][2] for each in pill]
    assert heights == pytest.approx([0.0, -0.1, 0.1])
    rig.place('pill', (2, 0, 3), (np.sqrt(0.5), 0, 0, np.sqrt(0.5)))  # its z axis along -y
    rig.run(4)
    ends = rig.world.markers[world_ports.OBJECT_MARKERS][-2:]
    assert [each.pose.position.y for each in ends] == pytest.approx([0.1, -0.1])
    assert len({each.id for each in standing}) == len(standing)


def test_height_fields_meshes_and_robots_have_markers():
    from rbd_ros.world import read_world

    world = read_world('config/table_world.yaml')
    found = static_markers(world, 'world')
    (gravel,) = (each for each in found if each.ns == 'gravel')
    assert gravel.type == Marker.TRIANGLE_LIST and len(gravel.points) == 2 * 3 * 4
    corners = np.array([xyz(point) for point in gravel.points]).reshape(-1, 3, 3)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (across[:, 2] > 0).all()  # they face upwards
    assert {tuple(point) for point in corners.reshape(-1, 3)} >= {(0, 0, 0.05), (-1, 1, 0.0)}
    assert 0.5 * across[:, 2].sum() == pytest.approx(4.0)  # together, the rectangle
    arm = [each for each in found if each.ns == 'second_arm']
    assert len(arm) == 9
    bare = read_world({'robots': {'arm': {'urdf': 'urdf/two_link_arm.urdf'}}}).robots[0]
    drawn = [each for each in bare.model.geometries if each.role == 'visual']
    rest = tuple(each for each in bare.model.geometries if each.role == 'collision')
    assert drawn and rest
    only = replace(bare, model=replace(bare.model, geometries=rest))
    assert len(static_markers(World(robots=(only,)), 'world')) == len(rest)
    assert all(abs(each.pose.position.x - 1.6) < 1.2 for each in arm)


def test_wrenches_move_with_their_point():
    force, arm = np.array([1.0, 2.0, 3.0]), np.array([0.3, -0.2, 0.5])
    at_point = np.concatenate([force, [0.1, 0.2, 0.3]])
    at_origin = np.concatenate([force, np.cross(arm, force) + at_point[3:]])
    assert about(at_origin[None], arm[None])[0] == pytest.approx(at_point)


# -- diagnostics ----------------------------------------------------------------------------------


def test_diagnostics_report_contacts_and_the_largest_residuals(rig):
    rig.run(50)
    values = rig.cycle.world_interface.values()
    assert values['contacts'] == len(rig.simulator.contacts) >= 4
    assert 0.0 < values['residual_contact'] < 1e-8
    assert values['unconverged_steps'] == values['contacts_truncated'] == 0
    assert rig.cycle.world_interface.values()['residual_contact'] == 0.0  # none since


def test_contacts_are_those_that_bear_force(rig):
    rig.run(50)
    before = rig.cycle.world_interface.values()['contacts']
    impulse = rig.simulator.physics.contact_state.impulse
    impulse[np.flatnonzero(impulse[:, 0])[0]] = 0.0
    assert rig.cycle.world_interface.values()['contacts'] == before - 1


def test_steps_that_were_not_solved_are_reported(rig):
    from rbd_ros.simulation.records.simulation_state import DROPPED, UNCONVERGED

    rig.cycle.world_interface.watch()
    assert not rig.reported.codes
    counters = rig.simulator.physics.state.counters
    counters[UNCONVERGED], counters[DROPPED] = 3, 2
    rig.cycle.world_interface.watch()
    rig.cycle.world_interface.watch()  # nothing new
    assert rig.reported.codes == ['unconverged', 'contacts truncated']
    rig.cycle.reset()
    rig.cycle.world_interface.watch()
    assert len(rig.reported.codes) == 2


def test_an_overlap_that_cannot_be_corrected_is_reported_once(rig):
    rig.run(50)
    contact_state = rig.simulator.physics.contact_state
    contact_state.unresolved[0], contact_state.contacts.gap[0] = 1, -0.002
    names = rig.simulator.physics.scene.names_of(int(contact_state.contacts.pair[0]))
    before = len(rig.reported.texts)
    for _ in range(2):
        rig.cycle.world_interface.watch()
    reported = [each for each in rig.reported.texts[before:] if 'overlap' in each]
    text = f'{names[0]!r} and {names[1]!r} overlap by 2.0 mm; they stay in penetration'
    assert len(reported) == 1 and reported[0].startswith(text)
    contact_state.unresolved[0] = 0
    rig.cycle.world_interface.watch()
    contact_state.unresolved[0] = 1
    rig.cycle.world_interface.watch()
    assert sum('they stay in penetration' in each for each in rig.reported.texts[before:]) == 2
    assert rig.cycle.world_interface.values()['unresolved_overlap_steps'] == 0


# -- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    'parameters, text',
    [
        ({'ground': True}, 'ground does not apply to a simulation with a world'),
    ],
)
def test_parameters_that_exclude_a_world_are_rejected(parameters, text):
    values = {each.name: each.default for each in SIMULATOR_PARAMETERS}
    check_simulator_parameters({**values, **parameters})
    with pytest.raises(ValueError, match=text):
        check_simulator_parameters({**values, **parameters, 'world': 'table_world'})


def test_the_law_of_impacts_is_chosen(tmp_path, monkeypatch):
    parameter = {each.name: each for each in SIMULATOR_PARAMETERS}['restitution_model']
    assert parameter.choices == RESTITUTION_MODELS
    with pytest.raises(ValueError, match='restitution_model applies to rigid contact'):
        Rig(tmp_path, world='', restitution_model='poisson')
    given = []

    def simulator(*_, **options):
        given.append(options['restitution_model'])
        raise ValueError('enough')

    monkeypatch.setattr('rbd_ros.nodes.simulator.cycle.simulation_cycle.Simulator', simulator)
    for options in ({}, {'restitution_model': 'poisson'}):
        with pytest.raises(ValueError, match='enough'):
            Rig(tmp_path, **options)
    assert given == ['newton', 'poisson']


@pytest.mark.parametrize(
    'parameters',
    [
        {'contact_friction': 0.1},
        {'ground_contact_model': 'compliant'},
        {'contact_stiffness': 2e4},
        {'contact_damping': 1.0},
    ],
)
def test_parameters_of_the_ground_are_rejected_with_a_world(parameters):
    """Users who set them would expect an effect."""
    values = {each.name: each.default for each in SIMULATOR_PARAMETERS}
    check_simulator_parameters({**values, 'world': 'push'})
    with pytest.raises(
        ValueError, match=f'{next(iter(parameters))} .* does not apply to .* with a world'
    ):
        check_simulator_parameters({**values, **parameters, 'world': 'push'})


@pytest.mark.parametrize(
    'parameters, text',
    [
        (
            {'contact_stiffness': 1e4},
            'contact_stiffness 10000 .* set ground_contact_model to compliant',
        ),
        ({'contact_damping': 0.0}, 'contact_damping 0 .* or leave contact_damping at 500'),
    ],
)
def test_parameters_of_compliant_ground_are_rejected_with_rigid_ground(parameters, text):
    values = {each.name: each.default for each in SIMULATOR_PARAMETERS}
    check_simulator_parameters({**values, **parameters})
    check_simulator_parameters(
        {**values, **parameters, 'ground': True, 'ground_contact_model': 'compliant'}
    )
    with pytest.raises(ValueError, match=text):
        check_simulator_parameters({**values, **parameters, 'ground': True})


@pytest.mark.parametrize(
    'text, parameters, problem',
    [
        ('objects: {box: {type: bocks}}', {}, r"world\.yaml': line 1: objects: box: .*'bocks'"),
        ('gravity: [0, 0, -1.62]', {}, r'gravity \[0.0, 0.0, -1.62\], parameter gravity'),
        ('disable_collisions: [[robot/wing, robot/foot]]', {}, "'wing'"),
        (
            'objects: {foot: {type: sphere, radius: 1, static: false, mass: 1}}',
            {},
            "object 'foot' has the name of a link",
        ),
    ],
)
def test_worlds_that_cannot_be_used_are_rejected_by_name(tmp_path, text, parameters, problem):
    with pytest.raises(ValueError, match=problem):
        Rig(tmp_path, text=text, **parameters)


def test_commands_push_objects(rig):
    """The press, commanded down by its servo, presses the box and is stopped by it."""
    rig.ports.by_name.append(serialize_message(joint_state(['guide'], position=[-0.02])))
    rig.run(600)
    assert rig.ports.states[-1].position[0] == pytest.approx(-0.01, abs=1e-5)
    assert rig.ports.states[-1].effort[0] < PRESS * G - 50.0
    foot = [each.wrench for each in rig.world.wrenches if each.header.frame_id == 'foot'][-1]
    assert foot.force.z == pytest.approx(PRESS * G - rig.ports.states[-1].effort[0], rel=1e-3)


# -- other robots that move -----------------------------------------------------------------------

OTHER = """<robot name="swing"><link name="post"/><link name="arm"><inertial>
<origin xyz="0.3 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0.3 0 0"/><geometry><box size="0.6 0.1 0.1"/></geometry></collision></link>
<joint name="pin" type="continuous"><parent link="post"/><child link="arm"/><axis xyz="0 1 0"/>
<limit effort="100" velocity="10"/></joint></robot>"""
MOVING = """
objects:
  floor: {type: plane}
robots:
  swing: {urdf: swing.urdf, xyz: [0, 3, 0.5], initial_joint_positions: {pin: -0.5}, static: false}
"""


@pytest.fixture
def two_robots(tmp_path):
    (tmp_path / 'swing.urdf').write_text(OTHER)
    parameters = {'initial_positions': (0.1,), 'initial_command': 'zero'}
    return Rig(tmp_path, text=MOVING, **parameters)


def test_other_robots_that_move_are_published_commanded_and_shown(two_robots):
    rig = two_robots
    rig.run()
    state = rig.ports.states[-1]
    assert state.name == ['guide', 'swing/pin']
    assert list(state.position) == pytest.approx([0.1, -0.5], abs=1e-4)
    assert {each.ns for each in rig.world.standing[0]} == {'floor'}
    rig.run(30)
    falling = rig.ports.states[-1].position[1]
    assert falling > -0.5 + 1e-3
    (marker,) = rig.world.markers[world_ports.OBJECT_MARKERS]
    assert marker.ns == 'swing' and marker.type == Marker.CUBE
    place = [0.3 * np.cos(falling), 3.0, 0.5 - 0.3 * np.sin(falling)]
    assert xyz(marker.pose.position) == pytest.approx(place, abs=1e-3)
    assert rig.world.frames[-1].count(b'swing/') == 2
    post, arm = rig.cycle.world_interface._frames.poses
    assert list(post) == pytest.approx([0, 3, 0.5, 0, 0, 0, 1])
    assert arm[:3] == pytest.approx([0, 3, 0.5])
    assert arm[3:] == pytest.approx([0, np.sin(falling / 2), 0, np.cos(falling / 2)], abs=1e-3)
    message = joint_state(['swing/pin'], position=[-0.8])
    rig.ports.by_name.append(serialize_message(message))
    rig.run(300)
    assert rig.ports.states[-1].position[1] == pytest.approx(-0.8, abs=1e-3)
    assert not rig.reported.codes


def test_other_robots_touch_and_stay_when_objects_come(two_robots):
    rig = two_robots
    rig.run(1500)
    assert 0.7 < rig.ports.states[-1].position[1] < 1.0  # on the floor
    found = {each.header.frame_id: each.wrench for each in rig.world.wrenches[-5:]}
    assert found['swing/arm'].force.z != 0.0
    position = rig.simulator.q
    world = rig.simulator.world
    inertia = RigidBodyInertia.from_mass_center(1.0, (0.0, 0.0, 0.0), np.eye(3))
    ball = WorldObject('ball', Sphere(0.1), inertia=inertia)
    rig.cycle.change_world(rig.cycle.prepared_world(world.with_objects(ball)))
    assert np.array_equal(rig.simulator.q, position)
    rig.run()
    assert rig.world.objects[-1].joint_names == ['ball']
    with pytest.raises(ValueError, match='movable robots cannot be added or removed'):
        rig.cycle.prepared_world(World())
