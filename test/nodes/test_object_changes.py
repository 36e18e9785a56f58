# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Objects spawned and deleted in the simulator node, without a node."""

from types import SimpleNamespace

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from geometry_msgs.msg import PoseStamped, Twist
from std_msgs.msg import Header
from test_world_interface import Rig, xyz
from visualization_msgs.msg import Marker

from rbd_ros.nodes.simulator.commands.wrenches import Acting
from rbd_ros.nodes.simulator.standard_services.entities import Entities
from rbd_ros.nodes.simulator.world import object_changes, world_ports
from rbd_ros.nodes.simulator.world.object_changes import ChangeRejectedError, ObjectChanges
from rbd_ros.spatial import PluckerTransform
from rbd_ros.world import extend_world

OK, NOT_FOUND, FAILED = 1, 2, 4
NOT_UNIQUE, NAME_INVALID, UNSUPPORTED, NO_RESOURCE = 101, 102, 103, 104
NAMESPACE_INVALID, PARSE_ERROR, POSE_INVALID = 105, 106, 109
NEW = '{type: sphere, radius: 0.1, xyz: [5, 0, 0.1], static: false, mass: 3.0}'
POST = '{type: cylinder, radius: 0.1, length: 1, xyz: [8, 0, 0.5]}'
CUBE = '{type: box, size: [0.2, 0.2, 0.2], xyz: [0, 0, 0.1], static: false, mass: 1.0}'
URDF = """<robot name="crate"><link name="crate"><inertial><origin xyz="0 0 0.1"/>
<mass value="2"/><inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="1 1 1"/></geometry><material name="red"><color rgba="1 0 0 1"/>
</material></visual><collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision></link>
</robot>"""


def acting(wrench):
    """Return a permanent wrench."""
    return Acting(np.array(wrench, dtype=float), np.zeros(6), 0.0, np.inf, 0.0)


class Node:
    """Stand-in of the simulator node for changes of objects."""

    def __init__(self, rig):
        self.cycle, self.diagnostics, self.parameters = rig.cycle, rig.reported, rig.parameters
        self.world_interface = rig.cycle.world_interface
        self.loop = SimpleNamespace(request=lambda work: work())
        self.changes = ObjectChanges(self)


def made_rig(folder, **parameters):
    made = Rig(folder, **parameters)
    made.node = Node(made)
    made.changes = made.node.changes
    made.run(50)
    return made


@pytest.fixture
def rig(tmp_path):
    return made_rig(tmp_path)


@pytest.fixture(scope='module')
def only_rig(tmp_path_factory):
    return made_rig(tmp_path_factory.mktemp('world'))


@pytest.fixture
def same(only_rig):
    """Return one rig for all that changes nothing."""
    only_rig.changes.restore()
    only_rig.reported.codes.clear()
    only_rig.reported.texts.clear()
    return only_rig


def test_spawned_objects_are_published_shown_and_touched(rig):
    others = rig.simulator.object_pose('box'), rig.simulator.q, rig.simulator.time
    spawn(rig, name='new', resource_string=NEW)
    spawn(rig, name='post', resource_string=POST)
    np.testing.assert_equal(
        (rig.simulator.object_pose('box'), rig.simulator.q, rig.simulator.time), others
    )
    rig.run()
    assert rig.world.objects[-1].joint_names == ['box', 'ball', 'pill', 'new']
    assert rig.pose('new')[0] == pytest.approx([5, 0, 0.1], abs=1e-4)
    first, *standing = rig.world.standing[-1]
    assert first.action == Marker.DELETEALL
    assert [each.ns for each in standing] == ['floor', 'wall', 'post']
    first, *moving = rig.world.markers[world_ports.OBJECT_MARKERS]
    assert first.action == Marker.DELETEALL and moving[-1].ns == 'new'
    rig.run(10)
    assert Marker.DELETEALL not in {
        each.action for each in rig.world.markers[world_ports.OBJECT_MARKERS]
    }
    by_frame = {each.header.frame_id: each.wrench for each in rig.world.wrenches}
    assert xyz(by_frame['new'].force) == pytest.approx([0, 0, 3 * 9.81], rel=1e-6)
    assert rig.changes.values()['objects'] == 7 and rig.changes.values()['objects_added'] == 2
    assert 'added: post (prepared in' in rig.reported.texts[-1]
    assert set(rig.reported.codes) <= {'added', 'removed'}


def test_an_object_spawned_into_another_is_reported_once_and_separated(rig):
    ball = '{type: sphere, radius: 0.1, static: false, mass: 1.0, xyz: [%g, 2.0, %g]}'
    for name, *place in (('sunk', 3.0, 0.07), ('touching', 5.0, 0.0999)):
        spawn(rig, name=name, resource_string=ball % tuple(place))
        rig.run()
        text = "'floor' and 'sunk' overlap by 30.0 mm; they are moved apart slowly"
        assert sum(each.startswith(text) for each in rig.reported.texts) == 1
        assert not any("'touching' overlap" in each for each in rig.reported.texts)
    rig.changes.remove('touching')
    before = rig.pose('sunk')[0][2]
    rig.run(20)
    assert rig.pose('sunk')[0][2] > before
    assert sum('overlap' in each for each in rig.reported.texts) == 1


def test_an_object_spawned_or_moved_into_another_is_reported(rig):
    spawn(rig, name='gate', resource_string='{type: box, size: [1, 1, 1], xyz: [9, 9, 9]}')
    rig.run()
    assert not any('overlap' in each for each in rig.reported.texts)
    at = rig.pose('box')[0]
    rig.changes.move('gate', PluckerTransform(np.eye(3), np.array(at)))
    rig.run()
    reported = [each for each in rig.reported.texts if 'overlap' in each]
    assert len(reported) == 2 and all("'gate' overlap" in each for each in reported)
    assert "'box'" in reported[0] and "'robot/foot'" in reported[1]


def test_an_object_placed_into_another_is_reported(rig):
    """As what is spawned there, each time."""
    for count in (1, 2):
        rig.place('box', (0.0, 7.0, 0.02))
        rig.run(3)
        assert sum("'floor' and 'box' overlap by" in each for each in rig.reported.texts) == count
        rig.place('box', (0.0, 7.0, 2.0))
        rig.run(3)
        assert sum('overlap by' in each for each in rig.reported.texts) == count


@pytest.mark.parametrize('name', ['world', 'odom'])
def test_frames_of_poses_are_no_names_of_objects(rig, name):
    ball = '{type: sphere, radius: 0.1, static: false, mass: 1.0, xyz: [3, 2, 1]}'
    answer = spawn(rig, name=name, resource_string=ball)
    assert 'the name of the frame of the world' in answer.result.error_message
    assert name not in rig.simulator.objects


def test_a_signal_ends_a_compilation(same, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(same.cycle, 'prepared_world', interrupted)
    before = same.changes.world
    answer = spawn(same, resource_string=NEW)
    assert 'simulator is ending' in answer.result.error_message and same.changes.world is before


def test_commands_wrenches_and_placements_continue_afterwards(rig):
    spawn(rig, name='new', resource_string=NEW)
    rig.changes.remove('box')
    rig.place('new', (6, 0, 1))
    rig.run(10)
    assert rig.pose('new')[0][0] == pytest.approx(6.0)
    # The press is held by its servo, and its state is that of the simulation.
    state = rig.ports.states[-1]
    assert state.position[0] == rig.simulator.q[0] and abs(state.position[0]) < 1e-6
    assert state.effort[0] == pytest.approx(2.0 * 9.81, rel=1e-6)
    assert rig.cycle.time_ns == 61_000_000
    rig.cycle.reset()
    assert rig.pose('new')[0] == pytest.approx([5, 0, 0.1])


def test_deleted_objects_are_no_longer_published(rig):
    rig.world.wrenches.clear()
    rig.changes.remove('box')
    rig.changes.remove('wall')
    rig.run(2)
    assert rig.world.objects[-1].joint_names == ['ball', 'pill']
    assert [each.ns for each in rig.world.standing[-1][1:]] == ['floor']
    assert {each.header.frame_id for each in rig.world.wrenches} == {'ball'}
    arrows = rig.world.markers[world_ports.CONTACT_MARKERS][1:]
    assert {each.ns for each in arrows} == {'floor ball'}
    for name in ('ball', 'pill'):
        rig.changes.remove(name)
    rig.run(2)
    assert rig.world.objects[-1].joint_names == []
    assert [e.action for e in rig.world.markers[world_ports.OBJECT_MARKERS]] == [Marker.DELETEALL]
    assert set(rig.reported.codes) <= {'added', 'removed'}


def test_a_new_object_is_published_with_the_next_cycle(tmp_path):
    rig = made_rig(tmp_path, world_publish_rate=1.0)
    count = len(rig.world.objects)
    spawn(rig, name='new', resource_string=NEW)
    rig.run(3)
    assert len(rig.world.objects) == count + 1
    assert rig.world.objects[-1].joint_names[-1] == 'new'


def test_a_change_that_another_has_overtaken_is_made_nonetheless(rig):
    late = rig.cycle.prepared_world(rig.simulator.world.without('wall'))
    rig.changes.remove('box')
    rig.cycle.change_world(late)
    rig.run(2)
    assert rig.world.objects[-1].joint_names == ['box', 'ball', 'pill']
    assert [each.ns for each in rig.world.standing[-1][1:]] == ['floor']
    assert rig.pose('box')[0] == pytest.approx([0, 0, 0.1], abs=1e-4)


def test_friction_of_a_pair_is_changed_while_it_slides(rig):
    """The box, pushed sideways by half its weight, which the friction until now bears."""

    def change(friction):
        pair = f'pairs: [{{links: [floor, box], friction: {friction}}}]'
        rig.changes.restore_world(extend_world(rig.changes.world, pair))

    change(0.6)
    rig.cycle.wrenches._forces = {'box': acting([0, 0, 0, 0.5 * 9.81, 0, 0])}
    rig.run(100)
    x = rig.pose('box')[0][0]
    assert abs(x) < 1e-6
    change(0.1)
    rig.run(100)
    assert rig.pose('box')[0][0] - x == pytest.approx(0.5 * 0.4 * 9.81 * 0.1**2, rel=0.03)


def test_a_wrench_on_an_object_ends_with_it(rig):
    rig.cycle.wrenches._forces = {name: acting(np.ones(6)) for name in ('box', 'ball', 'foot')}
    rig.changes.remove('box')
    assert set(rig.cycle.wrenches._forces) == {'ball', 'foot'}
    rig.run(2)


@pytest.mark.parametrize('name', ['', 'bok', 'robot', 'foot', 'x' * 10_000, '\x00', 'box '])
def test_an_unknown_object_cannot_be_deleted(same, name):
    rejected = same.changes.values()['changes_rejected']
    with pytest.raises(ChangeRejectedError, match='unknown object') as caught:
        same.changes.remove(name)
    assert len(str(caught.value)) < 1000
    assert same.changes.values()['changes_rejected'] == rejected + 1
    same.run()


def test_an_unexpected_error_changes_nothing(same, monkeypatch):
    def fail(*arguments):
        raise MemoryError('no room')

    monkeypatch.setattr(same.cycle, 'prepared_world', fail)
    answer = spawn(same, resource_string=NEW)
    assert (answer.result.result, answer.result.error_message) == (FAILED, 'no room')
    same.run()


# -- simulation_interfaces ------------------------------------------------------------------------


def request(**changed):
    given = {
        'name': 'thing',
        'allow_renaming': False,
        'uri': '',
        'resource_string': CUBE,
        'entity_namespace': '',
        'initial_pose': PoseStamped(),
    }
    return SimpleNamespace(**{**given, **changed})


def ask(rig, name, message):
    services = {name: callback for _, name, callback in Entities(rig.node, None).services}
    result = SimpleNamespace(result=None, error_message='')
    return services[name](message, SimpleNamespace(result=result, entity_name=''))


def spawn(rig, **changed):
    answer = ask(rig, 'spawn_entity', request(**changed))
    assert bool(answer.result.error_message) == (answer.result.result != OK)
    return answer


def stamped(position=(0, 0, 0), quaternion=(0, 0, 0, 1), frame=''):
    pose = PoseStamped()
    pose.header.frame_id = frame
    p, q = pose.pose.position, pose.pose.orientation
    p.x, p.y, p.z = map(float, position)
    q.x, q.y, q.z, q.w = map(float, quaternion)
    return pose


def test_an_entry_of_a_world_file_is_spawned_at_a_pose(rig):
    half = 0.5**0.5
    pose = stamped((4, 1, 0), (0, 0, half, half), 'base')
    text = CUBE.replace('[0, 0, 0.1]', '[1, 0, 0.1]')
    answer = spawn(rig, resource_string=text, initial_pose=pose)
    assert (answer.result.result, answer.entity_name) == (OK, 'thing')
    # Its own pose is one in the frame that it is spawned in.
    found = rig.simulator.object_pose('thing')
    assert found[:3, 3] == pytest.approx([4, 2, 0.1])
    assert found[:3, 0] == pytest.approx([0, 1, 0], abs=1e-12)


def place(rig, name, position, frame, linear=(0, 0, 0)):
    state = SimpleNamespace(header=Header(frame_id=frame), pose=stamped(position).pose)
    state.twist = Twist()
    state.twist.linear.x, state.twist.linear.y, state.twist.linear.z = map(float, linear)
    return ask(rig, 'set_entity_state', SimpleNamespace(entity=name, state=state)).result


def test_poses_may_be_in_the_axes_of_a_link(tmp_path):
    """For example in those of a gripper; 'left/foot' is the frame of the link 'foot'."""
    rig = made_rig(tmp_path, frame_prefix='left/')
    foot = rig.simulator.robot.forward_kinematics(rig.simulator.q)['foot']
    assert foot[:3, 3] == pytest.approx([0.02, 0, 0.26])
    assert spawn(rig, initial_pose=stamped((2, 3, 4), frame='left/foot')).result.result == OK
    assert rig.simulator.object_pose('thing')[:3, 3] == pytest.approx([2.02, 3, 4.36])
    assert place(rig, 'box', (0.5, 0.6, 4.0), 'foot', (1, 2, 3)).result == OK
    assert rig.simulator.object_pose('box')[:3, 3] == pytest.approx([0.52, 0.6, 4.26])
    assert rig.simulator.object_velocity('box')[3:] == pytest.approx([1, 2, 3])
    assert place(rig, 'box', (0, 0, 2), 'left/base').result == OK
    assert rig.simulator.object_pose('box')[2, 3] == 2.0
    rejected = place(rig, 'box', (0, 0, 3), 'hand')
    assert rejected.result == FAILED and "'hand' is neither" in rejected.error_message
    assert rig.simulator.object_pose('box')[2, 3] == 2.0


def test_a_urdf_of_one_link_is_spawned(rig, tmp_path):
    file = tmp_path / 'crate.urdf'
    file.write_text(URDF)
    assert spawn(rig, uri=f'file://{file}', resource_string='ignored').result.result == OK
    answer = spawn(rig, name='', resource_string=URDF, initial_pose=stamped((9, 0, 0.2)))
    assert (answer.result.result, answer.entity_name) == (OK, 'crate')
    crate = rig.simulator.world['crate']
    assert crate.shape.size == (0.4, 0.4, 0.4) and crate.color == (1, 0, 0, 1)
    mass, center, inertia = crate.inertia.mass_center()
    assert mass == 2.0 and tuple(center) == pytest.approx((0, 0, 0.1))
    assert np.diag(inertia) == pytest.approx([0.1, 0.2, 0.15])
    rig.run(300)
    assert rig.pose('crate')[0] == pytest.approx([9, 0, 0.2], abs=1e-6)


def test_the_newest_version_of_the_standard_has_a_message_for_the_resource(same):
    resource = SimpleNamespace(uri='', resource_string=CUBE)
    message = request(entity_resource=resource)
    del message.uri, message.resource_string
    assert ask(same, 'spawn_entity', message).result.result == OK


def test_names_are_made_if_that_is_allowed(same):
    assert spawn(same, name='box', allow_renaming=True).entity_name == 'box_2'
    assert spawn(same, name='box', allow_renaming=True).entity_name == 'box_3'
    assert spawn(same, name='', allow_renaming=True).entity_name == 'object'
    assert spawn(same, name='foot', allow_renaming=True).entity_name == 'foot_2'
    assert spawn(same, name='free', allow_renaming=True).entity_name == 'free'


@pytest.mark.parametrize(
    'changed, code',
    [
        ({'name': 'box'}, NOT_UNIQUE),
        ({'name': 'foot'}, NOT_UNIQUE),
        ({'name': 'floor'}, NOT_UNIQUE),
        ({'name': ''}, NAME_INVALID),
        ({'name': 'a/b'}, NAME_INVALID),
        ({'name': 'a/b', 'allow_renaming': True}, NAME_INVALID),
        ({'name': 'robot'}, NAME_INVALID),
        ({'name': 'x' * 200}, NAME_INVALID),
        ({'resource_string': ''}, NO_RESOURCE),
        ({'uri': '/no/such/file.urdf'}, NO_RESOURCE),
        ({'uri': 'package://no_such/file.urdf'}, NO_RESOURCE),
        ({'uri': 'a\0b'}, NO_RESOURCE),
        ({'uri': '/dev/null'}, NO_RESOURCE),
        ({'entity_namespace': '2nd'}, NAMESPACE_INVALID),
        ({'entity_namespace': 'a b'}, NAMESPACE_INVALID),
        ({'entity_namespace': '/left/arm'}, OK),
        ({'resource_string': '<sdf version="1.9"><model/></sdf>'}, UNSUPPORTED),
        ({'resource_string': '<robot'}, PARSE_ERROR),
        ({'resource_string': URDF.replace('value="2"', 'value="0"')}, PARSE_ERROR),
        ({'resource_string': 'type: bocks'}, PARSE_ERROR),
        ({'resource_string': 'hello'}, PARSE_ERROR),
        ({'resource_string': '{type: mesh, file: /nowhere.stl}'}, PARSE_ERROR),
        ({'resource_string': NEW.replace('mass', 'mas')}, PARSE_ERROR),
        ({'resource_string': '[' * 10_000}, PARSE_ERROR),
        ({'resource_string': 'x' * 2_000_000}, PARSE_ERROR),
        ({'resource_string': '{a: &x 1, b: *x}'}, PARSE_ERROR),
        ({'initial_pose': stamped((np.nan, 0, 0))}, POSE_INVALID),
        ({'initial_pose': stamped((1e9, 0, 0))}, POSE_INVALID),
        ({'initial_pose': stamped(quaternion=(0, 0, 0, 0))}, POSE_INVALID),
        ({'initial_pose': stamped(frame='moon')}, POSE_INVALID),
        ({'initial_pose': stamped(frame='world')}, OK),
        ({'initial_pose': stamped(frame='foot')}, OK),
    ],
)
def test_requests_are_answered_by_the_codes_of_the_standard(same, changed, code):
    before = same.simulator.objects
    answer = spawn(same, **changed)
    assert answer.result.result == code, answer.result.error_message
    assert (same.simulator.objects == before) == (code != OK)
    assert bool(answer.entity_name) == (code == OK)


def test_too_many_are_rejected_by_the_service_too(same, monkeypatch):
    monkeypatch.setattr(object_changes, 'MAX_OBJECTS', 6)
    assert spawn(same).result.result == OK
    assert spawn(same, name='next').result.result == FAILED


def test_entities_are_deleted_by_name(same):
    for message in (SimpleNamespace(entity='pill'), SimpleNamespace(name='wall')):
        assert ask(same, 'delete_entity', message).result.result == OK
    assert same.simulator.world.names == ('robot', 'floor', 'box', 'ball')
    answer = ask(same, 'delete_entity', SimpleNamespace(entity='pill'))
    assert answer.result.result == NOT_FOUND and "'pill'" in answer.result.error_message


def test_without_a_world_nothing_is_spawned(rig):
    rig.node.world_interface = None
    assert spawn(rig).result.result == FAILED
    assert ask(rig, 'delete_entity', SimpleNamespace(entity='box')).result.result == FAILED


def test_a_reset_of_spawned_objects_restores_the_first_world(rig):
    spawn(rig)
    rig.changes.remove('ball')
    pose = rig.simulator.object_pose('pill')
    rig.changes.restore()
    assert rig.simulator.objects == ('box', 'ball', 'pill')
    assert np.array_equal(rig.simulator.object_pose('pill'), pose)
