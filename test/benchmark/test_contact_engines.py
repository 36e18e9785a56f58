# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Engines of the contact benchmark simulate equal scenes; measurement and reports of runs."""

import dataclasses
import json
import math
import os

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside
from support.contact_benchmark import (
    balls,
    boxes,
    contact,
    contact_engines,
    contact_scenes,
    engine,
    front,
    our_engine,
    quadruped,
    scene,
    section,
)

from rbd_ros.world import read_world

OURS = our_engine.ENGINES[0]
SOME = ('sliding', 'tipped', 'painleve', 'top', 'gripper')
_LIBRARIES = {'mujoco': 'mujoco', 'pydrake': 'pydrake', 'pinocchio': 'pinocchio'}


@pytest.fixture(params=[each for each in contact_engines.ENGINES if not each.variant],
                ids=lambda each: each.name)  # fmt: skip
def one(request):
    """Return every engine that is installed."""
    module, _ = request.param.library
    if module in _LIBRARIES:
        outside.load(_LIBRARIES[module])
    if reason := request.param.missing():
        pytest.skip(reason)
    return request.param


def started(one, the_scene, timestep=1e-3):
    """Return a scene in an engine, or a skipped test."""
    try:
        return one.start(the_scene, timestep)
    except engine.NotPossible as reason:
        pytest.skip(str(reason))


# -- the same scene -------------------------------------------------------------------------------


@pytest.mark.parametrize('name', SOME)
def test_a_scene_starts_as_it_says(one, name):
    the_scene = contact_scenes.load(name)
    world = started(one, the_scene)
    places, turns, speeds = world.bodies()
    for i, body in enumerate(the_scene.free):
        assert_allclose(places[i], body.position, atol=1e-9)
        assert abs(turns[i] @ body.quaternion) == pytest.approx(1.0, abs=1e-12)
        assert_allclose(speeds[i], [*body.angular, *body.linear], atol=1e-9)
    if the_scene.machine is not None:
        _, _, q, v = world.machine()
        assert_allclose(q, the_scene.machine.start, atol=1e-12)
        assert_allclose(v, 0.0, atol=1e-12)


@pytest.mark.slow
def test_a_free_body_follows_the_analytical_trajectory(one):
    """Free fall, a constant force off the ground, and a spin that stays."""
    body = scene.Body(
        'body', scene.Box((0.1, 0.2, 0.3)), (0.0, 0.0, 5.0), mass=2.0, linear=(1.0, 0.0, 2.0),
        angular=(0.0, 0.0, 3.0),
    )  # fmt: skip
    other = dataclasses.replace(body, name='other', position=(0.0, 5.0, 5.0))
    moment = 2.0 * (0.1**2 + 0.2**2) / 12.0
    wrench = np.array([0.0, 0.0, 0.5 * moment, 0.0, 3.0, 0.0])
    the_scene = scene.Scene(
        'flight', '', (balls.GROUND, body, other), 1.0, 1.0, (),
        wrenches=lambda t: {'other': wrench}, steady=True, friction=0.5,
    )  # fmt: skip
    world = started(one, the_scene)
    motion, _ = engine.record(the_scene, world, 1e-3, 0.2)
    t = 0.2
    fallen = 5.0 + 2.0 * t - 0.5 * 9.81 * t**2
    assert_allclose(motion.position[-1, 0], [t, 0.0, fallen], atol=2e-3)
    assert_allclose(motion.velocity[-1, 0, 3:], [1.0, 0.0, 2.0 - 9.81 * t], atol=1e-6)
    assert_allclose(motion.velocity[-1, 0, :3], [0.0, 0.0, 3.0], atol=1e-6)
    assert_allclose(motion.velocity[-1, 1, 3:], [1.0, 1.5 * t, 2.0 - 9.81 * t], atol=1e-6)
    assert motion.velocity[-1, 1, 2] == pytest.approx(3.0 + 0.5 * t, abs=1e-6)


def test_the_ground_carries_a_ball_at_rest(one):
    """A ball at rest: the force on it is its weight, and nothing slips."""
    ball = scene.Body('ball', scene.Sphere(0.1), (0.0, 0.0, 0.1), mass=2.0)
    the_scene = scene.Scene('rest', '', (balls.GROUND, ball), 1.0, 1.0, (), friction=0.5)
    motion, _ = engine.record(the_scene, started(one, the_scene), 1e-3, 0.5)
    _, contacts = motion.contacts[-1]
    assert {each.first for each in contacts} | {each.second for each in contacts} == {
        'ground', 'ball'
    }  # fmt: skip
    force = scene.forces_between(contacts, 'ground', 'ball')
    assert_allclose(force, [0.0, 0.0, 2.0 * 9.81], rtol=1e-3, atol=1e-6)
    for each in contacts:
        up = each.normal if each.second == 'ball' else -each.normal
        assert_allclose(up, [0.0, 0.0, 1.0], atol=1e-9)
        assert np.linalg.norm(each.velocity) < 1e-3
    assert scene.residuals(the_scene, motion).contact < 1e-2


def test_a_sliding_ball_is_reported_to_slide_against_its_friction(one):
    ball = scene.Body('ball', scene.Sphere(0.1), (0.0, 0.0, 0.1), mass=2.0, linear=(1.0, 0.0, 0.0))
    the_scene = scene.Scene('slide', '', (balls.GROUND, ball), 1.0, 1.0, (), friction=0.3)
    motion, _ = engine.record(the_scene, started(one, the_scene), 1e-3, 0.05)
    # With MuJoCo's convex law, what slides lifts off now and then.
    t, contacts = next(each for each in reversed(motion.contacts) if each[1])
    force = scene.forces_between(contacts, 'ground', 'ball')
    assert force[0] == pytest.approx(-0.3 * force[2], rel=2e-2)
    (point,) = contacts
    velocity = point.velocity if point.second == 'ball' else -point.velocity
    # v - w R: slowed by friction, which makes it turn.
    assert velocity[0] == pytest.approx(1.0 - 3.5 * 0.3 * 9.81 * t, abs=0.15)


def test_torques_of_a_machine_act_on_its_joints(one):
    """The gripper in the air: each joint moves its mass by its torque."""
    the_scene = contact_scenes.load('gripper')
    free = dataclasses.replace(the_scene, bodies=the_scene.bodies[:1], gravity=0.0, torque=None)
    free = dataclasses.replace(
        free, machine=dataclasses.replace(the_scene.machine, gravity=0.0, collides=True)
    )
    world = started(one, free)
    world.drive(np.array([7.0, 0.2, 0.3]))
    world.step(10)
    _, _, q, v = world.machine()
    assert_allclose(v, 0.01 * np.array([10.0, 2.0, 3.0]), rtol=1e-6)
    assert_allclose(q, 0.005 * v, rtol=0.15)


#: Two links, of which the first moves freely.
FLOATING = (
    '<robot name="r"><link name="a"><inertial><origin xyz="0 0 0"/><mass value="2"/><inertia '
    'ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>'
    '<sphere radius="0.1"/></geometry></collision></link><joint name="j" type="revolute">'
    '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="-9" upper="9" '
    'effort="9" velocity="9"/></joint><link name="b"><inertial><mass value="1"/><inertia '
    'ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
)


def test_a_floating_machine_starts_as_its_scene_says(one):
    turn = scene.about((0.0, 0.6, 0.8), 1.2)
    machine = quadruped.Machine(
        FLOATING,
        floating=True,
        position=(1.0, 2.0, 3.0),
        quaternion=turn,
        linear=(0.1, 0.2, -0.3),
        angular=(0.5, -0.4, 0.6),
    )
    the_scene = scene.Scene('start', '', (balls.GROUND,), 1.0, 1.0, (), machine=machine)
    base, speed, _, _ = started(one, the_scene).machine()
    assert_allclose(base[:3], machine.position, atol=1e-12)
    assert abs(base[3:] @ turn) == pytest.approx(1.0, abs=1e-12)
    assert_allclose(speed, [*machine.angular, *machine.linear], atol=1e-9)


@pytest.mark.slow
def test_a_floating_machine_is_pushed_and_reported_in_the_world(one):
    """A force through the center of mass of one link, and the weight."""
    machine = quadruped.Machine(FLOATING, floating=True, position=(1.0, 2.0, 3.0))
    wrench = np.array([0.0, 0.0, 0.2, 6.0, 0.0, 0.0])
    the_scene = scene.Scene(
        'push', '', (balls.GROUND,), 1.0, 1.0, (), machine=machine,
        wrenches=lambda t: {'robot': wrench}, steady=True, friction=0.5,
    )  # fmt: skip
    motion, _ = engine.record(the_scene, started(one, the_scene), 1e-3, 0.1)
    assert_allclose(motion.base[0], [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0], atol=1e-12)
    expected = [0.0, 0.0, 0.2, 0.2, 0.0, -0.981]
    assert_allclose(motion.base_velocity[-1], expected, rtol=2e-3, atol=1e-4)
    assert motion.base[-1, 0] == pytest.approx(1.01, abs=2e-4)


def test_a_world_file_has_the_content_of_its_scene():
    """Content as `Simulator` takes it: masses, pairs, and what does not touch."""
    the_scene = contact_scenes.load('rolling_y')
    world = read_world(our_engine.world_of(the_scene))
    assert len(world.movable) == 26
    found = world.surface_between('plate', 'ball3').surface
    assert found.friction[0] == 0.8
    assert world.surface_between('ground', 'plate').surface.friction[0] == 0.4
    gripper = contact_scenes.load('gripper')
    world = read_world(our_engine.world_of(gripper), robot=gripper.machine.robot.model)
    assert not world.can_collide('robot/left', 'robot/right')
    assert world.can_collide('robot/left', 'cube')


def test_states_of_objects_are_those_of_the_simulator():
    """Of a body whose center of mass is not its origin, and which turns."""
    the_scene = contact_scenes.load('top')
    world = OURS.start(the_scene, 1e-3)
    world.step(50)
    places, turns, speeds = world.bodies()
    pose = world.simulator.object_pose('top')
    assert_allclose(places[0], pose[:3, 3], atol=1e-15)
    assert_allclose(scene.rotation(turns[0]), pose[:3, :3], atol=1e-12)
    assert_allclose(speeds[0], world.simulator.object_velocity('top'), rtol=1e-12)


@pytest.mark.parametrize('name', contact_scenes.NAMES)
def test_every_scene_runs_in_this_package(name):
    try:
        the_scene = contact_scenes.load(name)
    except FileNotFoundError as reason:
        pytest.skip(str(reason))
    world = OURS.start(the_scene, 1e-3)
    motion, spent = engine.record(the_scene, world, 1e-3, 0.02)
    assert motion.time[-1] == pytest.approx(0.02) and spent > 0.0
    assert np.all(np.isfinite(motion.position)) and np.all(np.isfinite(motion.q))
    found = scene.residuals(the_scene, motion)
    if found is not None and the_scene.residual_goal is not None:
        assert found.contact < 1e-4  # far above what is measured: nothing is upside down


def test_a_quick_run_measures_the_known_errors():
    """A cube that slides to rest, from beginning to end."""
    found = engine.measure(boxes.SLIDING, OURS, 1e-3, quick=True)
    assert not found.skipped and found.step > 0.0
    assert found.errors[0] == pytest.approx(5e-4, rel=0.05)  # half a step at the first speed
    assert found.errors[1] < 1e-9
    assert found.residuals.contact < 1e-9 and found.residuals.conic > 1e-4  # it slid


# -- how it is measured ---------------------------------------------------------------------------


class Clockwork:
    """A world in which time alone passes: a body moves by one meter a second."""

    def __init__(self, the_scene, timestep):
        self.now, self.timestep, self.calls, self.pushes, self.drives = 0.0, timestep, [], [], []

    def push(self, wrenches):
        self.pushes.append(wrenches)

    def drive(self, torque):
        self.drives.append(torque)

    def step(self, count):
        self.calls.append(count)
        self.now += count * self.timestep

    def bodies(self):
        return np.array([[self.now, 0.0, 0.0]]), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 6))

    def machine(self):
        return np.zeros(7), np.zeros(6), np.array([self.now]), np.zeros(1)

    def watch(self):
        self.calls.append('watch')

    def contacts(self):
        return []


def moving(**more):
    """Return the scene of one body, for `Clockwork`."""
    body = scene.Body('body', scene.Sphere(1.0), mass=1.0)
    return scene.Scene('clockwork', 'A clockwork', (body,), 0.1, 0.02, (
        scene.Error('how far it is from the end [m]', lambda s, t: 0.1 - t.position[-1, 0, 0]),
    ), **more)  # fmt: skip


def test_samples_come_at_equal_times_and_steps_in_one_call():
    world = Clockwork(None, 1e-3)
    motion, _ = engine.record(moving(every=0.01), world, 1e-3, 0.105)
    assert_allclose(motion.time, [*np.arange(11) * 0.01, 0.105])
    assert_allclose(motion.position[:, 0, 0], motion.time)
    assert sum(call for call in world.calls if call != 'watch') == 105
    assert world.calls[:3] == [9, 'watch', 1]  # one step whose contacts are reported


def test_torques_and_changing_forces_are_set_when_they_are_due():
    machine = quadruped.Machine('<robot name="r"><link name="a"/></robot>')
    the_scene = moving(
        machine=machine,
        torque=lambda t, q, v: q + 1.0,
        control=0.005,
        every=0.01,
        wrenches=lambda t: {'body': t},
    )
    world = Clockwork(None, 1e-3)
    motion, _ = engine.record(the_scene, world, 1e-3, 0.02)
    assert_allclose(np.concatenate(world.drives), 1.0 + np.arange(4) * 0.005)
    assert_allclose([each['body'] for each in world.pushes], np.arange(4) * 0.005)
    assert_allclose(motion.q[:, 0], [0.0, 0.01, 0.02])
    steady = Clockwork(None, 1e-3)
    engine.record(moving(wrenches=lambda t: {'body': t}, steady=True), steady, 1e-3, 0.02)
    assert steady.pushes == [{'body': 0.0}]


def made_engine(start, name='made', **more):
    return engine.Engine(name, ('math', 'math'), start, **more)


def test_a_missing_engine_or_impossible_scene_is_skipped_with_the_reason():
    absent = engine.Engine('absent', ('no_such_module', 'no-such-package'), Clockwork)
    found = engine.measure(moving(), absent, 1e-3, quick=True)
    assert 'no-such-package is not installed' in found.skipped and not found.errors

    def reject(the_scene, timestep):
        raise engine.NotPossible('it has no balls')

    assert engine.measure(moving(), made_engine(reject), 1e-3, True).skipped == 'it has no balls'


def test_a_motion_that_diverges_has_no_errors_but_a_time():
    class Diverging(Clockwork):
        def bodies(self):
            place, turn, speed = super().bodies()
            return place * (math.nan if self.now > 0.01 else 1.0), turn, speed

    found = engine.measure(moving(), made_engine(Diverging), 1e-3, quick=True)
    assert math.isnan(found.errors[0]) and not found.skipped and found.step >= 0.0
    assert found.as_dict()['errors'] == [None]
    json.dumps(found.as_dict(), allow_nan=False)


def test_a_run_that_takes_too_long_is_stopped_and_says_when():
    class Slow(Clockwork):
        def step(self, count):
            super().step(count)
            x = 0
            for k in range(200000):
                x += k

    found = engine.measure(moving(), made_engine(Slow), 1e-3, quick=False, budget=0.02)
    assert 'stopped after' in found.skipped and 'of 0.1' in found.skipped
    assert found.step > 1e-4 and not found.errors


def test_an_engine_that_crashes_takes_nothing_with_it():
    class Crash(Clockwork):
        def step(self, count):
            os._exit(3)

    found = engine.isolated(moving(), made_engine(Crash), 1e-3, True)
    assert found.skipped == 'its process died with exit code 3'
    good = engine.isolated(moving(), made_engine(Clockwork), 1e-3, False)
    assert good.errors == (pytest.approx(0.0, abs=1e-12),)


# -- tables and plot ------------------------------------------------------------------------------


def facts(results, names=('sliding', 'standing', 'bouncing')):
    """As `contact.main` would collect."""
    return contact.facts_of(results, True, names)


def result(name, who, errors, step=1e-5, residual=None, variant='', **more):
    found = None if residual is None else scene.Residuals(residual, 1.0, 0.0)
    return engine.Result(name, who, variant, 1e-3, errors, step, found, **more)


def rows_of(the_facts, title):
    return next(rows for each, _, rows in contact.tables(the_facts) if each.startswith(title))


def test_goals_are_compared_with_our_figures():
    the_facts = facts(
        [
            result('sliding', 'rbd_ros', (4e-4, 2e-10), 2e-6, 1e-12),
            result('sliding', 'MuJoCo', (1e-4, 1e-3), 8e-6, 1e-3),
            result('bouncing', 'rbd_ros', (2.0, 0.0)),
            result('bouncing', 'MuJoCo', (1.0, 0.0)),
        ],
        ('sliding', 'bouncing'),
    )
    first, second, third, fourth = rows_of(the_facts, 'Errors')
    assert first[2:] == ('4.0e-4', '1.0e-4', '5.1e-4', 'PASS')
    assert second[-1] == 'BELOW' and second[0] == ''
    assert third[-2:] == ('best', 'BELOW') and fourth[-2:] == ('', '')
    sliding, bouncing = rows_of(the_facts, 'Processor time')
    assert sliding[1:4] == ('2', '8', '4 x')
    (residuals,) = rows_of(the_facts, 'Residuals')
    assert residuals[1:] == ('1.0e-12', '1.0e-3', '1.0e-10', 'PASS')
    assert contact.verdicts(the_facts) == '2 goals are reached, 2 are not'


def test_being_as_good_as_the_best_is_enough():
    the_facts = facts([result('bouncing', who, (1.0, 0.0)) for who in ('rbd_ros', 'MuJoCo')])
    assert rows_of(the_facts, 'Errors')[0][-2:] == ('best', 'PASS')


def test_diverged_motions_are_marked_and_others_omitted_with_a_reason():
    the_facts = facts(
        [
            result('sliding', 'rbd_ros', (math.nan, 1.0)),
            result('sliding', 'Drake', (), math.nan, skipped='drake is not installed'),
        ],
        ('sliding',),
    )
    row = rows_of(the_facts, 'Errors')[0]
    assert row[2] == 'diverged' and row[-1] == 'BELOW'
    assert the_facts['columns'] == ['rbd_ros']
    assert contact.left_out(the_facts) == ['Drake, sliding: drake is not installed']
    json.dumps(the_facts, allow_nan=False)
    text = '\n'.join(contact.markdown(the_facts))
    assert '* Drake, sliding: drake is not installed' in text and '**Errors**' in text
    assert any('diverged' in line for line in contact.report(the_facts))


def test_speed_is_promised_against_mujoco():
    if line := outside.problem('example_robot_data'):
        pytest.skip(line)
    the_facts = facts(
        [
            result('standing', 'rbd_ros', (0.0, 0.0), 2e-6),
            result('standing', 'MuJoCo', (0.0, 0.0), 9e-6),
        ],
        ('standing',),
    )
    assert rows_of(the_facts, 'Processor')[0][1:] == ('2', '9', '4.5 x', '5 x', 'BELOW')


@pytest.mark.parametrize(
    'value, text',
    [(None, '-'), (math.nan, 'diverged'), (0.0, '0'), (123.4, '120'), (0.0123, '0.012'),
     (4.56e-7, '4.6e-7'), (2.5e5, '2.5e5'), (1.2e-12, '1.2e-12')],
)  # fmt: skip
def test_figures_have_two_digits(value, text):
    assert contact.number(value) == text


def test_no_point_on_the_pareto_front_is_dominated():
    points = [(1.0, 5.0, 0), (2.0, 6.0, 0), (3.0, 1.0, 0), (0.5, 9.0, 0), (4.0, 1.0, 0)]
    assert front.pareto(points) == [(0.5, 9.0, 0), (1.0, 5.0, 0), (3.0, 1.0, 0)]


def test_points_of_the_plot_are_times_of_a_simulated_second():
    the_facts = facts([result('bouncing', 'rbd_ros', (0.0, 0.0), 2e-6)], ('bouncing',))
    assert front.points(the_facts, 'bouncing') == {
        ('rbd_ros', ''): [(pytest.approx(2e-3), 1e-16, 1e-3)]
    }


def test_the_plot_is_a_picture_and_needs_something_to_show(tmp_path):
    results = [result('bouncing', who, (1e-3, 0.0)) for who in front.STYLES]
    front.plot(facts(results, ('bouncing',)), str(tmp_path / 'front.png'))
    assert (tmp_path / 'front.png').read_bytes().startswith(b'\x89PNG')
    # All scenes, also those of which the first error is shown.
    results.append(result('sliding', 'rbd_ros', (1e-3, 0.0)))
    names = ('bouncing', 'sliding', 'boxes')
    front.plot(facts(results, names[:2]), str(tmp_path / 'all.png'), names)
    assert (tmp_path / 'all.png').stat().st_size > (tmp_path / 'front.png').stat().st_size
    with pytest.raises(ValueError, match='nothing to plot'):
        front.plot(facts([], ()), str(tmp_path / 'front.png'))
    with pytest.raises(ValueError, match='cannot be written'):
        front.plot(facts(results, ('bouncing',)), str(tmp_path / 'none' / 'front.png'))


def test_every_engine_has_a_color_and_a_name():
    assert set(front.STYLES) == set(contact_engines.COLUMNS)
    assert contact_engines.OURS == OURS.name == contact_engines.COLUMNS[0]
    assert all(each.settings for each in contact_engines.ENGINES)


def test_variants_are_for_scenes_that_compare_integrators():
    rk4 = next(each for each in our_engine.ENGINES if each.variant == 'rk4')
    flying = dataclasses.replace(boxes.SLIDING, flight=True)
    assert rk4.suits(flying) and not rk4.suits(boxes.SLIDING) and OURS.suits(boxes.SLIDING)


def test_from_event_to_event_balls_keep_their_energy():
    event_driven = next(e for e in contact_engines.ENGINES if e.variant == 'event-driven')
    assert event_driven.suits(balls.BOUNCING) and not event_driven.suits(boxes.SLIDING)
    ground, *others = balls.BOUNCING.bodies
    two = [
        dataclasses.replace(each, position=(0.0, 0.0, z)) for each, z in zip(others, (0.5, 1.3))
    ]
    low = dataclasses.replace(balls.BOUNCING, bodies=(ground, *two), every=0.1)
    found, stepped = (engine.measure(low, each, 1e-3, True) for each in (event_driven, OURS))
    assert not found.skipped and found.residuals is None and found.errors[1] < 1e-10
    assert stepped.errors[1] > found.errors[1]  # it did bounce


def test_a_goal_of_a_variant_is_judged_in_its_row():
    event_driven = result('bouncing', 'rbd_ros', (1e-9, 1e-12), variant='event-driven')
    the_facts = facts([result('bouncing', 'rbd_ros', (1.0, 1e-3)), event_driven], ('bouncing',))
    rows = rows_of(the_facts, 'Errors')
    assert [row[-2:] for row in rows] == [('best', 'PASS'), ('', ''), ('', ''), ('1.0e-8', 'PASS')]
    assert rows[2][0].endswith(', from event to event')


def test_the_command_measures_writes_and_reads(tmp_path, capsys):
    page = tmp_path / 'page.md'
    page.write_text(f'before\n{contact.PART.blank}\nafter\n', encoding='utf-8')
    kept = tmp_path / 'kept.json'
    common = ['--only', 'sliding', '--engines', 'rbd_ros', '--quick']
    assert contact.main([*common, '--json', str(kept), '--document', str(page)]) == 0
    text = page.read_text(encoding='utf-8')
    assert 'A cube that slides to rest' in text and text.endswith('after\n')
    first = capsys.readouterr().out
    assert contact.main(['--from', str(kept)]) == 0
    assert capsys.readouterr().out == first


@pytest.mark.parametrize('wrong', [['--only', 'curling'], ['--engines', 'Havok']])
def test_unknown_names_are_rejected(wrong, capsys):
    with pytest.raises(SystemExit):
        contact.main(wrong)
    assert 'there are' in capsys.readouterr().err


def test_the_section_of_the_whole_benchmark_has_all_promises():
    rows = section.SECTION.rows()
    assert section.SECTION.long
    named = {(row.robot, row.function) for row in rows}
    assert ('sliding', 'residuals') in named and ('boxes', section._SPEED) in named
    row = next(row for row in rows if row.robot == 'sliding' and row.function == 'residuals')
    assert row.floor == 1e-10 and row.unit == 'J'
