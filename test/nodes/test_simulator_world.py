# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator node with a world, over DDS: objects are shown, placed, spawned and deleted."""

import math

import numpy as np
import pytest
from support import outside, simulation_messages

outside.load('rclpy')

from geometry_msgs.msg import WrenchStamped
from node_harness import reliable, TWO_LINK_ARM
from sensor_msgs.msg import JointState, MultiDOFJointState, PointCloud2
from std_srvs.srv import SetBool, Trigger
from visualization_msgs.msg import MarkerArray
import yaml

from rbd_ros import Robot
from rbd_ros.viewer import make_scene
from rbd_ros.viewer.watching import WatchSession
from rbd_ros.world import read_world

WORLD = """
objects:
  floor: {type: plane, xyz: [0, 0, -2]}
  box: {type: box, size: [0.2, 0.2, 0.2], xyz: [0, 2, -1.9], static: false, mass: 1.0}
  ball: {type: sphere, radius: 0.1, xyz: [0, 4, -1.9], static: false, mass: 0.5}
"""
START = [0.5, -0.8]
OK = 1


class Rig:
    def __init__(self, ros, kinds):
        self.ros = ros
        self.msg, self.srv, _ = kinds
        file = ros.folder / 'world.yaml'
        file.write_text(WORLD)
        self.process = ros.start(
            'simulator',
            {
                'robot_description': TWO_LINK_ARM,
                'initial_positions': START,
                'world': str(file),
                'external_wrench_duration': 0.05,
            },
        )
        self.objects = ros.listen(MultiDOFJointState, '/simulator/object_states', reliable(1))
        self.states = ros.listen(JointState, 'joint_states', reliable(1))
        ros.until(lambda: self.objects and self.states, 'objects')

    def pose(self, name):
        message = self.objects[-1]
        return message.transforms[message.joint_names.index(name)]

    def height(self, name):
        return self.pose(name).translation.z

    def call(self, kind, name, **request):
        return self.ros.call(kind, f'/simulator/{name}', kind.Request(**request))

    def place(self, name, x, y, z):
        state = self.msg.EntityState()
        p = state.pose.position
        p.x, p.y, p.z = float(x), float(y), float(z)
        request = {'entity': name, 'state': state, 'set_pose': True, 'set_twist': True}
        return self.call(self.srv.SetEntityState, 'set_entity_state', **request).result

    def spawn(self, name, text):
        request = self.msg.SpawnEntity(name=name)
        request.entity_resource.resource_string = text
        kind = self.srv.SpawnEntities
        return self.call(kind, 'spawn_entities', spawn_requests=[request]).results[0].result


@pytest.fixture(scope='module')
def rig(ros, tmp_path_factory):
    return Rig(ros, simulation_messages.provide(tmp_path_factory.mktemp('interfaces')))


def test_the_world_is_published_from_the_start_and_to_late_subscribers(rig):
    first = rig.objects[0]
    assert (first.header.frame_id, first.joint_names) == ('base', ['box', 'ball'])
    assert rig.pose('box').translation.y == pytest.approx(2.0)
    assert rig.pose('box').rotation.w == pytest.approx(1.0)
    ros = rig.ros
    standing = ros.listen(MarkerArray, '/simulator/world_markers', reliable(1, True))
    moving = ros.listen(MarkerArray, '/simulator/object_markers', reliable(1))
    contacts = ros.listen(MarkerArray, '/simulator/contact_markers', reliable(1))
    wrenches = ros.listen(WrenchStamped, '/simulator/contact_wrenches', reliable(100))
    clouds = ros.listen(PointCloud2, '/simulator/contacts', reliable(1))
    ros.until(lambda: standing and moving and contacts and wrenches, 'markers and wrenches')
    assert [each.ns for each in standing[-1].markers] == ['floor']
    assert [each.ns for each in moving[-1].markers] == ['box', 'ball']
    # How many corners of the box bear it, statics does not say.
    names = {each.ns for each in contacts[-1].markers[1:]}
    assert names == {'floor box', 'floor ball'}
    ros.until(lambda: {each.header.frame_id for each in wrenches} == {'box', 'ball'}, 'both')
    box = next(each for each in reversed(wrenches) if each.header.frame_id == 'box')
    assert box.wrench.force.z == pytest.approx(9.81, rel=1e-6)
    ros.until(lambda: clouds and clouds[-1].width, 'contacts')
    assert clouds[-1].header.frame_id == 'base'
    names = [each.name for each in clouds[-1].fields]
    points = np.frombuffer(clouds[-1].data, np.float32).reshape(-1, len(names))
    contact = dict(zip(names, points.T))
    # Weights of the box and the ball, which the floor bears from below.
    assert contact['force_z'].sum() == pytest.approx(1.5 * 9.81, rel=1e-5)
    assert contact['normal_z'] == pytest.approx(1.0, abs=1e-6)
    assert contact['z'] == pytest.approx(-2.0, abs=1e-5)
    assert contact['depth'] == pytest.approx(0.0, abs=1e-5)
    ros.until_status('2 of them movable: box, ball', 'world')
    # The robot is held by servos meanwhile, and time goes on.
    assert list(rig.states[-1].position) == pytest.approx(START, abs=1e-4)


def test_objects_are_placed_pushed_and_restored(rig):
    ros = rig.ros
    assert rig.place('box', 0, 3, 0).result == OK
    ros.until(lambda: rig.pose('box').translation.y == pytest.approx(3.0), 'the box elsewhere')
    ros.until(lambda: abs(rig.height('box') + 1.9) < 1e-6, 'the box has fallen on the floor')
    push = ros.publisher(WrenchStamped, 'external_wrench', reliable(10))
    wrench = WrenchStamped()
    wrench.header.frame_id = 'ball'
    wrench.wrench.force.x = 3.0
    push.publish(wrench)
    ros.until(lambda: rig.pose('ball').translation.x > 0.02, 'the ball rolls')
    answer = rig.place('ball', math.nan, 0, 0)
    assert 'not finite' in answer.error_message
    assert rig.call(SetBool, 'pause', data=True).success
    assert rig.place('ball', 7, 4, -1.9).result == OK
    ros.until(lambda: rig.pose('ball').translation.x == 7.0, 'the ball is shown while paused')
    assert rig.call(Trigger, 'reset').success
    ros.until(lambda: rig.pose('ball').translation.x == 0.0, 'the ball where it began')
    assert rig.pose('box').translation.y == pytest.approx(2.0)
    assert rig.call(Trigger, 'step').success and rig.call(SetBool, 'pause', data=False).success


def test_objects_are_spawned_and_deleted_while_time_continues(rig):
    ros = rig.ros
    moving = ros.listen(MarkerArray, '/simulator/object_markers', reliable(1))
    standing = ros.listen(MarkerArray, '/simulator/world_markers', reliable(1, True))
    crate = '{type: box, size: [0.2, 0.2, 0.2], xyz: [0, 6, -1.8], static: false, mass: 1.0}'
    assert rig.spawn('crate', crate).result == OK
    ros.until(lambda: 'crate' in rig.objects[-1].joint_names, 'the crate')
    ros.until(lambda: abs(rig.height('crate') + 1.9) < 1e-6, 'the crate has fallen on the floor')
    ros.until(lambda: 'crate' in {each.ns for each in moving[-1].markers}, 'its marker')
    assert "'crate' is already the name of" in rig.spawn('crate', crate).error_message
    delete = rig.srv.DeleteEntity
    assert rig.call(delete, 'delete_entity', entity='ball').result.result == OK
    answer = rig.call(delete, 'delete_entity', entity='bal').result
    assert "unknown object 'bal'" in answer.error_message
    ros.until(lambda: rig.objects[-1].joint_names == ['box', 'crate'], 'the ball is gone')
    assert abs(rig.height('crate') + 1.9) < 1e-6
    # The robot is held all the time.
    assert list(rig.states[-1].position) == pytest.approx(START, abs=1e-4)
    # The crate stays, for the tests below.
    assert rig.spawn('wall', '{type: plane, xyz: [0, 0, -5]}').result == OK
    ros.until(lambda: {e.ns for e in standing[-1].markers} == {'', 'floor', 'wall'}, 'the wall')
    assert 'added: crate (prepared in' in rig.process.output()


def test_the_page_of_watch_follows_objects_and_contacts(rig, monkeypatch):
    ros = rig.ros
    monkeypatch.setenv('ROS_DOMAIN_ID', str(ros.domain))
    robot = Robot.from_urdf(TWO_LINK_ARM)
    more = '  post: {type: sphere, radius: 0.1, static: false, mass: 0.5}\n'
    scene = make_scene(robot.model, world=read_world(yaml.safe_load(WORLD + more)))
    session = WatchSession(robot, scene, port=0)
    try:

        def follows():
            session.run(0.05)
            ros.spin(0.0)
            return len(session.contacts) > 0 and session._objects_received > 0.0

        ros.until(follows, 'objects and contacts')
        # It has been spawned by a test above; others are gone.
        assert session._problem() == 'Not shown, because they are not in the world file: crate.'
    finally:
        session.close()
    at = dict(zip(scene.objects, session.objects))
    assert at['box'][:3, 3] == pytest.approx([0, 2, -1.9], abs=1e-3)
    assert at['ball'][2, 3] == at['post'][2, 3] == -1e6
    forces = session.contacts[:, 3:].sum(axis=0)
    assert forces == pytest.approx([0.0, 0.0, 2.0 * 9.81], abs=1e-5)


def test_diagnostics_report_contacts(rig):
    def world():
        return next(
            (
                s
                for s in reversed(rig.ros.diagnostics)
                if s.name == 'simulator: world'
                and {('objects_added', '2'), ('objects_removed', '1')}
                <= {(each.key, each.value) for each in s.values}
            ),
            None,
        )

    values = {each.key: each.value for each in rig.ros.until(world, 'diagnostics').values}
    assert int(values['unconverged_steps']) == int(values['contacts_truncated']) == 0
    assert float(values['residual_contact']) < 1e-6
    assert int(values['changes_rejected']) == 1
    assert int(values['objects']) == 4
    assert float(values['last_change_ms']) > 0.0


def test_a_world_that_cannot_be_used_ends_the_node_and_is_named(rig):
    """Last but one: the nodes are started together."""
    ros = rig.ros
    bad, other = ros.folder / 'bad_world.yaml', ros.folder / 'other_world.yaml'
    bad.write_text('objects:\n  box: {type: box, size: [1, 1, -1]}\n')
    other.write_text(
        'objects: {floor: {type: plane}}\ndisable_collisions:\n- [robot/wing, floor]\n'
    )
    started = [
        (ros.start('simulator', {'robot_description': TWO_LINK_ARM, **parameters}), text)
        for parameters, text in (
            ({'world': 'no_such_world'}, "world 'no_such_world' cannot be used: there is no file"),
            ({'world': str(bad)}, 'line 2: objects: box: size'),
            ({'world': 'table_world', 'ground': True}, 'ground does not apply to a simulation'),
            # Its links are known when there is a robot.
            ({'world': str(other)}, "line 3: disable_collisions[1][1]: unknown link 'wing'"),
        )
    ]
    for process, text in started:
        ros.processes.remove(process)
        assert process.wait() == 1
        assert text in process.output()
        assert 'Traceback' not in process.output()


def test_it_ends_with_code_zero(rig):
    assert rig.process.stop() == 0
    assert 'Traceback' not in rig.process.output()
    assert 'more notices' not in rig.process.output()
