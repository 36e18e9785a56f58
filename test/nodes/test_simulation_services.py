# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""All services of simulation_interfaces, and its action, by real messages over DDS."""

import itertools

import pytest
from support import outside, simulation_messages

outside.load('rclpy')

from node_harness import reliable, TWO_LINK_ARM
from rclpy.action import ActionClient
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

OK, NOT_FOUND, FAILED = 1, 2, 4
STOPPED, PLAYING, PAUSED, NO_WORLD = 0, 1, 2, 4
ROBOT, DYNAMIC, STATIC = 1, 4, 5

ARM = TWO_LINK_ARM.replace(
    '<link name="tool"/>',
    '<link name="tool"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>',
)
WORLD = """
objects:
  floor: {type: plane, xyz: [0, 0, -2]}
  wall: {type: box, size: [1, 2, 3], xyz: [5, 0, 0]}
  ball: {type: sphere, radius: 0.5, xyz: [0, 4, 3], static: false, mass: 0.5}
robots:
  drone: {urdf: drone.urdf, floating: true, static: false, xyz: [0, 8, 3]}
  statue: {urdf: arm.urdf, xyz: [0, -8, 0]}
poses:
  bin: {xyz: [1, 2, 3], rpy: [0, 0, 1.5707963267948966], tags: [place, spawn], size: [2, 4, 1],
        description: the blue bin}
  charger: {xyz: [9, 0, 0], tags: [parking]}
"""
DRONE = """<robot name="drone"><link name="hull"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="1 1 0.2"/></geometry></collision></link></robot>"""


class Rig:
    def __init__(self, ros, kinds):
        self.ros = ros
        self.msg, self.srv, self.action = kinds
        (ros.folder / 'arm.urdf').write_text(ARM)
        (ros.folder / 'drone.urdf').write_text(DRONE)
        (ros.folder / 'parts').mkdir()
        (ros.folder / 'parts' / 'drone.urdf').write_text(DRONE)
        self.world = ros.folder / 'start_world.yaml'
        self.world.write_text(WORLD)
        parameters = {
            'robot_description': ARM,
            'world': str(self.world),
            'start_paused': True,
            'initial_positions': [0.0, 0.0],
            'spawnables': [str(ros.folder / 'parts')],
        }
        self.process = ros.start('simulator', parameters)
        self.clock = ros.listen(Clock, '/clock', reliable(1000))
        ros.until(lambda: self.clock, 'time')

    def ask(self, kind, name, /, **request):
        return self.ros.call(
            getattr(self.srv, kind),
            f'/simulator/{name}',
            getattr(self.srv, kind).Request(**request),
        )

    def time(self):
        stamp = self.clock[-1].clock
        return stamp.sec * 10**9 + stamp.nanosec

    def entities(self, **filters):
        request = self.msg.EntityFilters(**filters)
        answer = self.ask('GetEntities', 'get_entities', filters=request)
        assert answer.result.result == OK, answer.result.error_message
        return answer.entities

    def state(self, name):
        answer = self.ask('GetEntityState', 'get_entity_state', entity=name)
        assert answer.result.result == OK, answer.result.error_message
        return answer.state

    def place(self, name, x, y, z, **rest):
        state = self.msg.EntityState()
        p = state.pose.position
        p.x, p.y, p.z = float(x), float(y), float(z)
        flags = {'set_pose': True, **rest}
        speed = flags.pop('speed', 0.0)
        state.twist.linear.x = speed
        state.acceleration.linear.x = flags.pop('acceleration', 0.0)
        return self.ask('SetEntityState', 'set_entity_state', entity=name, state=state, **flags)

    def simulation(self):
        return self.ask('GetSimulationState', 'get_simulation_state').state.state

    def set(self, state):
        expected = self.msg.SimulationState(state=state)
        return self.ask('SetSimulationState', 'set_simulation_state', state=expected).result.result

    def current(self):
        return self.ask('GetCurrentWorld', 'get_current_world')


@pytest.fixture
def version_2(rig):
    """Skip a test of fields that came with version 2, where an older one is installed."""
    if not hasattr(rig.msg.Spawnable(), 'entity_resource'):
        pytest.skip('simulation_interfaces is older than 2.0, see test_message_versions.py')


@pytest.fixture(scope='module')
def rig(ros, tmp_path_factory):
    return Rig(ros, simulation_messages.provide(tmp_path_factory.mktemp('interfaces')))


def test_features_are_reported_by_the_numbers_of_the_standard(rig):
    features = rig.ask('GetSimulatorFeatures', 'get_simulator_features').features
    expected = {
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        10,
        11,
        12,
        13,
        14,
        20,
        22,
        23,
        24,
        25,
        26,
        31,
        32,
        33,
    }
    assert set(features.features) == expected | {40, 41, 43, 44, 45, 50}
    assert features.spawn_formats == ['urdf', 'yaml']


def test_robots_and_objects_are_entities_of_their_categories(rig):
    names = ['robot', 'drone', 'statue', 'floor', 'wall', 'ball']
    assert rig.entities() == names
    found = {}
    for name in names:
        info = rig.ask('GetEntityInfo', 'get_entity_info', entity=name).info
        assert info.description
        found[name] = info.category.category
    assert found == dict(zip(names, [ROBOT, ROBOT, ROBOT, STATIC, STATIC, DYNAMIC]))
    category = rig.msg.EntityCategory(category=ROBOT)
    assert rig.entities(categories=[category]) == names[:3]
    assert rig.ask('GetEntityInfo', 'get_entity_info', entity='x').result.result == NOT_FOUND


def test_the_info_of_an_entity_can_be_set(rig):
    info = rig.msg.EntityInfo(description='to be pushed', tags=['red', 'round'])
    info.category.category = 0
    assert rig.ask('SetEntityInfo', 'set_entity_info', entity='ball', info=info).result.result == 1
    assert rig.ask('GetEntityInfo', 'get_entity_info', entity='ball').info == info
    for mode, tags, found in (
        (0, ['red', 'blue'], ['ball']),
        (1, ['red', 'blue'], []),
        (1, ['round', 'red'], ['ball']),
    ):
        assert rig.entities(tags=rig.msg.TagsFilter(tags=tags, filter_mode=mode)) == found
    info.category.category = 77
    assert rig.ask('SetEntityInfo', 'set_entity_info', entity='ball', info=info).result.result == 4


def points(bounds):
    return [[p.x, p.y, p.z] for p in bounds.points]


@pytest.mark.parametrize(
    'name, box',
    [
        ('ball', [[0.5, 4.5, 3.5], [-0.5, 3.5, 2.5]]),
        ('wall', [[5.5, 1, 1.5], [4.5, -1, -1.5]]),
        ('robot', [[1.0, 0.1, 0.1], [0.8, -0.1, -0.1]]),
        ('statue', [[1.0, -7.9, 0.1], [0.8, -8.1, -0.1]]),
        ('drone', [[0.5, 8.5, 3.1], [-0.5, 7.5, 2.9]]),
    ],
)
def test_bounds_are_boxes_upper_corner_first(rig, name, box):
    answer = rig.ask('GetEntityBounds', 'get_entity_bounds', entity=name)
    assert answer.result.result == OK and answer.bounds.type == 1
    assert points(answer.bounds) == [pytest.approx(corner, abs=1e-9) for corner in box]


def test_an_infinite_object_has_no_bounds(rig):
    answer = rig.ask('GetEntityBounds', 'get_entity_bounds', entity='floor')
    assert (answer.result.result, answer.bounds.type, points(answer.bounds)) == (OK, 0, [])


def test_entities_are_found_by_where_they_are(rig):
    def within(kind, *corners):
        from geometry_msgs.msg import Vector3

        vectors = [Vector3(x=float(x), y=float(y), z=float(z)) for x, y, z in corners]
        return rig.entities(bounds=rig.msg.Bounds(type=kind, points=vectors))

    assert within(1, (1, 5, 5), (-1, 3, 2)) == ['ball']
    assert within(1, (9, 9, -3), (-9, -9, -4)) == ['floor']
    assert within(3, (0, 4, 4), (0.6, 0, 0)) == ['ball']
    assert within(3, (0, 4, 4), (0.4, 0, 0)) == []
    corners = [(4, 0, 0), (7, 0, 0), (7, 0.1, 0), (7, 0, 0.1)]
    assert within(2, *corners) == ['wall']
    wrong = rig.msg.EntityFilters(bounds=rig.msg.Bounds(type=1))
    assert rig.ask('GetEntities', 'get_entities', filters=wrong).result.result == FAILED


def test_states_of_robots_are_those_of_their_root_links(rig):
    state = rig.state('drone')
    p = state.pose.position
    assert [p.x, p.y, p.z] == pytest.approx([0, 8, 3], abs=1e-6)
    assert state.header.frame_id == 'base'
    assert rig.state('statue').pose.position.y == pytest.approx(-8)
    assert rig.state('robot').pose.orientation.w == 1.0
    every = rig.ask('GetEntitiesStates', 'get_entities_states')
    assert len(every.states) == len(every.entities) == 6
    assert every.states[1] == state


@pytest.mark.usefixtures('version_2')
def test_floating_robots_objects_and_fixed_objects_can_be_placed(rig):
    assert rig.place('drone', 1, 9, 4, set_twist=True, speed=2.0).result.result == OK
    state = rig.state('drone')
    assert (state.pose.position.x, state.twist.linear.x) == (1.0, 2.0)
    assert rig.place('drone', 0, 0, 0, set_pose=False).result.result == OK
    assert rig.state('drone') == state
    assert rig.place('wall', 6, 0, 0, set_twist=True).result.result == OK
    assert rig.state('wall').pose.position.x == 6.0
    assert rig.place('wall', 7, 0, 0, set_twist=True, speed=1.0).result.result == FAILED
    acceleration = {'set_acceleration': True, 'acceleration': 1.0}
    assert rig.place('wall', 7, 0, 0, **acceleration).result.result == FAILED
    assert rig.state('wall').pose.position.x == 6.0
    assert rig.place('ball', 0, 5, 3, **acceleration).result.result == OK
    assert rig.state('ball').pose.position.y == 5.0
    for name in ('robot', 'statue'):
        answer = rig.place(name, 1, 1, 1)
        assert answer.result.result == FAILED and 'fixed' in answer.result.error_message


def spawn(rig, name, text, **rest):
    request = rig.msg.SpawnEntity(name=name, **rest)
    request.entity_resource.resource_string = text
    request.initial_pose.pose.position.z = 6.0
    return request


CRATE = '{type: box, size: [0.1, 0.1, 0.1], static: false, mass: 1}'


def test_several_entities_are_spawned_and_each_has_its_result(rig):
    requests = [
        spawn(rig, 'crate', CRATE),
        spawn(rig, 'crate', CRATE),
        spawn(rig, 'crate', CRATE, allow_renaming=True),
    ]
    answer = rig.ask('SpawnEntities', 'spawn_entities', spawn_requests=requests)
    assert answer.result.result == 150 and '1 of 3' in answer.result.error_message
    assert [each.result.result for each in answer.results] == [OK, 101, OK]
    assert [each.entity_name for each in answer.results] == ['crate', '', 'crate_2']
    assert rig.entities(filter='crate') == ['crate', 'crate_2']
    assert rig.state('crate_2').pose.position.z == 6.0
    assert rig.ask('DeleteEntity', 'delete_entity', entity='crate').result.result == OK
    answer = rig.ask('DeleteEntity', 'delete_entity', entity='robot')
    assert answer.result.result == NOT_FOUND
    assert rig.entities(filter='crate') == ['crate_2']


def test_named_poses_are_those_of_the_world(rig):
    def poses(**tags):
        request = rig.msg.TagsFilter(**tags)
        answer = rig.ask('GetNamedPoses', 'get_named_poses', tags=request)
        assert answer.result.result == OK, answer.result.error_message
        return answer.poses

    assert [each.name for each in poses()] == ['bin', 'charger']
    assert [each.name for each in poses(tags=['parking', 'nothing'])] == ['charger']
    assert [each.name for each in poses(tags=['place', 'spawn'], filter_mode=1)] == ['bin']
    assert not poses(tags=['parking', 'spawn'], filter_mode=1)
    (found,) = poses(tags=['spawn'])
    assert (found.description, list(found.tags)) == ('the blue bin', ['place', 'spawn'])
    p, o = found.pose.position, found.pose.orientation
    assert (p.x, p.y, p.z) == (1.0, 2.0, 3.0)
    assert (o.x, o.y, o.z, o.w) == pytest.approx((0, 0, 0.5**0.5, 0.5**0.5))


def test_bounds_of_a_named_pose_are_a_box_about_it(rig):
    def bounds(name):
        return rig.ask('GetNamedPoseBounds', 'get_named_pose_bounds', name=name)

    box = bounds('bin').bounds
    assert box.type == 1
    assert [(c.x, c.y, c.z) for c in box.points] == [(1.0, 2.0, 0.5), (-1.0, -2.0, -0.5)]
    answer = bounds('charger')
    assert answer.result.result == OK and answer.bounds.type == 0 and not answer.bounds.points
    answer = bounds('chager')
    assert answer.result.result == NOT_FOUND and 'charger' in answer.result.error_message


@pytest.mark.usefixtures('version_2')
def test_spawnables_are_the_files_that_can_be_spawned(rig, tmp_path):
    (tmp_path / 'drone.urdf').write_text(DRONE)
    (tmp_path / 'arm.urdf').write_text(ARM)  # has joints
    (tmp_path / 'ball.yaml').write_text('{type: sphere, radius: 0.25, xyz: [0, 0, 1]}')
    (tmp_path / 'plate.yaml').write_text('{type: plane}')
    (tmp_path / 'some_world.yaml').write_text(WORLD)
    (tmp_path / 'notes.txt').write_text('{type: plane}')

    def ask(*sources):
        return rig.ask('GetSpawnables', 'get_spawnables', sources=[str(each) for each in sources])

    answer = ask(tmp_path)
    assert answer.result.result == OK, answer.result.error_message
    found = {each.entity_resource.uri: each for each in answer.spawnables}
    names = ('ball.yaml', 'drone.urdf', 'plate.yaml')
    assert list(found) == [f'file://{tmp_path}/{name}' for name in names]
    ball, drone, plate = found.values()
    assert ball.description == 'ball: sphere, fixed' and 'movable' in drone.description
    corners = [(c.x, c.y, c.z) for c in ball.spawn_bounds.points]
    assert corners == [pytest.approx((0.25, 0.25, 1.25)), pytest.approx((-0.25, -0.25, 0.75))]
    assert plate.spawn_bounds.type == 0
    assert len(ask(tmp_path / 'ball.yaml', f'file://{tmp_path}').spawnables) == 4
    for source, text in (
        (tmp_path / 'arm.urdf', 'arm.urdf cannot be spawned'),
        (tmp_path / 'nowhere', 'no folder or file'),
    ):
        answer = ask(source)
        assert answer.result.result == FAILED and text in answer.result.error_message
    (each,) = ask().spawnables  # those of the parameter
    assert each.entity_resource.uri.endswith('/parts/drone.urdf')


@pytest.mark.usefixtures('version_2')
def test_a_spawnable_can_be_spawned_at_a_named_pose(rig, tmp_path):
    (tmp_path / 'ball.yaml').write_text('{type: sphere, radius: 0.25}')
    (each,) = rig.ask('GetSpawnables', 'get_spawnables', sources=[str(tmp_path)]).spawnables
    (pose,) = rig.ask(
        'GetNamedPoses', 'get_named_poses', tags=rig.msg.TagsFilter(tags=['parking'])
    ).poses
    expected = rig.msg.SpawnEntity(name='new_ball', entity_resource=each.entity_resource)
    expected.initial_pose.pose = pose.pose
    answer = rig.ask('SpawnEntities', 'spawn_entities', spawn_requests=[expected])
    assert answer.result.result == OK, answer.result.error_message
    assert rig.state('new_ball').pose.position.x == 9.0
    assert rig.ask('DeleteEntity', 'delete_entity', entity='new_ball').result.result == OK


def test_a_snapshot_restores_deleted_objects(rig):
    def call(service):
        answer = rig.ros.call(Trigger, f'/simulator/{service}', Trigger.Request())
        assert answer.success, answer.message

    call('save_snapshot')
    before = rig.state('ball')
    assert rig.ask('DeleteEntity', 'delete_entity', entity='ball').result.result == OK
    assert rig.entities(filter='ball') == []
    call('restore_snapshot')
    after = rig.state('ball')
    assert (after.pose, after.twist) == (before.pose, before.twist)


def test_a_reset_of_all_restores_the_scene_and_time_continues(rig):
    assert rig.ask('StepSimulation', 'step_simulation', steps=10).result.result == OK
    before = rig.time()
    assert rig.ask('ResetSimulation', 'reset_simulation', scope=1).result.result == 0
    assert rig.ask('ResetSimulation', 'reset_simulation', scope=255).result.result == OK
    assert rig.entities(filter='crate') == []
    assert rig.state('drone').pose.position.y == pytest.approx(8.0)
    assert rig.state('wall').pose.position.x == pytest.approx(5.0)
    assert rig.state('ball').pose.position.y == pytest.approx(4.0)
    assert rig.time() >= before


def test_states_of_the_simulation_follow_each_other_as_the_standard_says(rig):
    assert rig.simulation() == PAUSED
    assert rig.set(STOPPED) == OK and rig.simulation() == STOPPED
    assert rig.set(STOPPED) == 101
    assert rig.set(PAUSED) == 103 and rig.simulation() == STOPPED
    assert rig.set(PLAYING) == OK and rig.simulation() == PLAYING
    assert rig.ask('StepSimulation', 'step_simulation', steps=1).result.result == FAILED
    assert rig.set(PAUSED) == OK and rig.simulation() == PAUSED


class Goal:
    def __init__(self, rig, steps, client=None):
        self.feedback = []
        client = client or ActionClient(
            rig.ros.node, rig.action.SimulateSteps, '/simulator/simulate_steps'
        )
        rig.ros.until(client.server_is_ready, 'the action')
        goal = rig.action.SimulateSteps.Goal(steps=steps)
        sent = client.send_goal_async(goal, lambda m: self.feedback.append(m.feedback))
        rig.ros.until(sent.done, 'acceptance')
        self.handle = sent.result()
        assert self.handle.accepted
        self.result = self.handle.get_result_async()
        self.client = client


def heard_client(rig):
    """Return a client that has heard feedback, and the steps taken for it.

    What is published before the endpoints match is lost.
    """
    goal = Goal(rig, 1)
    for steps in itertools.count(1):
        rig.ros.until(goal.result.done, 'the result')
        rig.ros.spin(0.1)
        if goal.feedback:
            return goal.client, steps
        goal = Goal(rig, 1, goal.client)


def test_the_action_gives_feedback_after_each_step(rig):
    before = rig.time()
    client, steps = heard_client(rig)
    before += steps * 1_000_000
    goal = Goal(rig, 5, client)
    rig.ros.until(goal.result.done, 'the result')
    answer = goal.result.result()
    assert (answer.status, answer.result.result.result) == (4, OK)  # succeeded
    rig.ros.until(lambda: len(goal.feedback) == 5, 'feedback')
    progress = [(each.completed_steps, each.remaining_steps) for each in goal.feedback]
    assert progress == [(1, 4), (2, 3), (3, 2), (4, 1), (5, 0)]
    rig.ros.until(lambda: rig.time() >= before + 5_000_000, 'five milliseconds')
    assert rig.time() == before + 5_000_000


def test_the_action_can_be_canceled_and_rejects_an_impossible_goal(rig):
    goal = Goal(rig, 1_000_000)
    rig.ros.until(lambda: goal.feedback, 'feedback')
    rig.ros.until(goal.handle.cancel_goal_async().done, 'an answer')
    rig.ros.until(goal.result.done, 'the result')
    answer = goal.result.result()
    assert (answer.status, answer.result.result.result) == (5, FAILED)  # canceled
    assert 'canceled' in answer.result.result.error_message
    for steps in (0, 2**63):
        goal = Goal(rig, steps)
        rig.ros.until(goal.result.done, 'the result')
        assert goal.result.result().status == 6  # aborted
    assert rig.set(PLAYING) == OK
    goal = Goal(rig, 1)
    rig.ros.until(goal.result.done, 'the result')
    answer = goal.result.result()
    assert answer.status == 6 and 'not paused' in answer.result.result.error_message
    assert rig.set(PAUSED) == OK


def test_worlds_are_found(rig):
    current = rig.current()
    assert (current.result.result, current.world.name) == (OK, 'start')
    assert current.world.world_resource.uri == str(rig.world)
    sources = [str(rig.ros.folder), '/no/such/folder']
    request = {'additional_sources': sources}
    answer = rig.ask('GetAvailableWorlds', 'get_available_worlds', **request)
    assert answer.result.result == FAILED and '/no/such/folder' in answer.result.error_message
    answer = rig.ask(
        'GetAvailableWorlds', 'get_available_worlds', continue_on_error=True, **request
    )
    names = [each.name for each in answer.worlds]
    assert answer.result.result == OK and {'table', 'empty', 'start'} <= set(names)


def load(rig, uri='', text=''):
    resource = rig.msg.Resource(uri=uri, resource_string=text)
    return rig.ask('LoadWorld', 'load_world', world_resource=resource)


@pytest.mark.usefixtures('version_2')
def test_a_world_that_cannot_be_used_changes_nothing(rig):
    before = rig.entities()
    for uri, text, code in (
        ('', ' ', 102),
        ('/no/such/world.yaml', '', 102),
        ('', '<sdf/>', 101),
        ('', 'objects: {x: {type: cone}}', 103),
        ('', 'objects: {tool: {type: sphere, radius: 1, static: false, mass: 1}}', 103),
        ('', 'objects: {}', FAILED),  # the drone moves, and cannot come or go
    ):
        answer = load(rig, uri, text)
        assert answer.result.result == code and answer.result.error_message, (uri, text)
    assert rig.entities() == before and rig.simulation() == PAUSED


@pytest.mark.usefixtures('version_2')
def test_worlds_are_loaded_and_unloaded_where_no_robot_comes_or_goes(rig):
    world = rig.world.with_name('second_world.yaml')
    world.write_text('objects: {shelf: {type: box, size: [1, 1, 1], xyz: [9, 0, 0]}}')
    rig.process.stop()
    rig.ros.processes.remove(rig.process)
    del rig.clock[:]
    rig.process = rig.ros.start('simulator', {'robot_description': ARM, 'world': 'empty'})
    rig.ros.until(lambda: rig.clock, 'time')
    rig.ros.until(lambda: rig.entities() == ['robot'], 'the robot')
    before = rig.time()
    answer = load(rig, str(world))
    assert answer.result.result == OK, answer.result.error_message
    assert answer.world.name == rig.current().world.name == 'second'
    assert rig.entities() == ['robot', 'shelf'] and rig.simulation() == STOPPED
    assert rig.set(PLAYING) == OK
    answer = load(rig, text='objects: {stone: {type: sphere, radius: 0.1, xyz: [0, 0, 9]}}')
    assert answer.result.result == OK, answer.result.error_message
    assert rig.current().world.world_resource.resource_string.startswith('objects')
    assert rig.entities() == ['robot', 'stone'] and rig.simulation() == STOPPED
    request = [spawn(rig, 'crate', CRATE)]
    assert rig.ask('SpawnEntities', 'spawn_entities', spawn_requests=request).result.result == OK
    assert rig.ask('ResetSimulation', 'reset_simulation', scope=4).result.result == OK
    assert rig.entities() == ['robot', 'stone']
    assert rig.ask('UnloadWorld', 'unload_world').result.result == OK
    assert rig.entities() == ['robot'] and rig.simulation() == NO_WORLD
    assert rig.current().result.result == 101
    assert rig.ask('UnloadWorld', 'unload_world').result.result == 101
    assert rig.set(PLAYING) == OK and rig.simulation() == PLAYING
    assert rig.time() > before
