# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Every declared kind of sensor, and that of CONTRIBUTING.md."""

import re

import numpy as np
import pytest
from support import outside
from support.contributing import as_a_file, shown_in
from support.tiny_distribution import install

from rbd_ros import Robot, Simulator
from rbd_ros.lookup.resources import resource_path
from rbd_ros.nodes.simulator.interface.simulator_interface import INTERFACE
from rbd_ros.nodes.simulator.interface.simulator_parameters import SENSOR_PARAMETERS
from rbd_ros.simulation import sensors as folder
from rbd_ros.simulation.sensors.sensors import sensor_kind, sensor_kinds

SHOWN = 'markers'
ARM = resource_path('urdf', 'six_axis_arm.urdf')
every_kind = pytest.mark.parametrize('name', [*sensor_kinds(), SHOWN])


@pytest.fixture(autouse=True)
def shown_is_a_file(tmp_path, monkeypatch):
    with as_a_file('A new sensor', folder, SHOWN, tmp_path, monkeypatch):
        yield


@pytest.fixture
def simulator():
    simulator = Simulator(Robot.from_urdf(ARM))
    simulator.reset(np.linspace(-0.5, 0.5, 6), np.linspace(0.2, 0.4, 6))
    return simulator


def places_of(kind, model):
    """Return the links and joints where there can be a sensor."""
    found = []
    for place in (*model.links, *(body.joint_name for body in model.bodies)):
        try:
            kind.check(model, place)
        except ValueError:
            continue
        found.append(place)
    return found


def flat(reading):
    """Return the numbers of a reading, copied."""
    parts = reading if isinstance(reading, tuple) else (reading,)
    return np.concatenate([np.ravel(part) for part in parts])


@every_kind
def test_a_kind_is_named_like_its_file(name):
    kind = sensor_kind(name)
    assert kind.name == name == kind.__module__.rpartition('.')[2]
    assert kind.__doc__
    assert bool(kind.topic) == bool(kind.message_type)


@every_kind
def test_a_place_that_the_robot_has_not_is_rejected_by_name(name, simulator):
    with pytest.raises(ValueError, match=f'{name}: .*nose'):
        simulator.sensors(**{name: ['nose']})


@every_kind
def test_readings_are_finite_and_those_of_the_last_step(name, simulator):
    places = places_of(sensor_kind(name), simulator.robot.model)
    sensors = simulator.sensors(**{name: places})
    start = {place: flat(each) for place, each in sensors[name].items()}
    assert list(start) == places
    before = simulator.snapshot()
    simulator.step(n=20)
    first = {place: flat(each) for place, each in sensors[name].items()}
    assert all(np.isfinite(each).all() for each in (*start.values(), *first.values()))
    assert any(not np.array_equal(first[place], start[place]) for place in places)
    simulator.restore(before)
    simulator.step(n=20)
    assert all(np.array_equal(flat(each), first[place]) for place, each in sensors[name].items())


@every_kind
def test_a_reading_does_not_change_with_the_next_step(name, simulator):
    places = places_of(sensor_kind(name), simulator.robot.model)[-1:]
    sensors = simulator.sensors(**{name: places})
    reading = sensors[name][places[0]]
    kept = flat(reading)
    simulator.step(n=20)
    sensors.read()
    assert np.array_equal(flat(reading), kept)


@every_kind
def test_sensors_of_other_kinds_change_no_reading(name, simulator):
    model = simulator.robot.model
    all_places = {each: places_of(sensor_kind(each), model)[-2:] for each in sensor_kinds()}
    all_places[name] = places_of(sensor_kind(name), model)
    together = simulator.sensors(**all_places)
    alone = simulator.sensors(**{name: all_places[name]})
    simulator.step(n=20)
    for place, reading in together[name].items():
        assert np.array_equal(flat(reading), flat(alone[name][place]))


@every_kind
def test_sensors_stay_when_the_world_changes(name):
    table = {'objects': {'table': {'type': 'box', 'size': [1, 1, 0.1], 'xyz': [0, 0, -1]}}}
    robot = Robot.from_urdf(ARM)
    simulator, other = Simulator(robot, world=table), Simulator(robot, world=table)
    places = places_of(sensor_kind(name), robot.model)
    sensors = simulator.sensors(**{name: places})
    sensors.read()
    simulator.add_object('ball', {'type': 'sphere', 'radius': 0.1, 'xyz': [0, 0, -3]})
    for each in (simulator, other):
        each.step(n=5)
    expected = other.sensors(**{name: places})[name]
    for place, reading in sensors[name].items():
        assert flat(reading) == pytest.approx(flat(expected[place]), abs=1e-9)


@every_kind
def test_the_node_has_the_parameter_and_topic_of_a_kind(name):
    kind = sensor_kind(name)
    if kind.parameter:
        assert kind.parameter in SENSOR_PARAMETERS
        assert {each.name: each.is_list for each in INTERFACE.parameters}[kind.parameter]
        assert INTERFACE.topic(f'<sensor>/{kind.topic}').kind == kind.message_type
    assert re.fullmatch(r'[a-z][a-z0-9_]*|', kind.topic)


@every_kind
def test_a_message_has_the_reading(name, simulator):
    kind = sensor_kind(name)
    if not kind.topic:
        pytest.skip('published by robot')
    serialization = outside.load('rclpy.serialization')
    from rbd_ros.nodes.common.communication import message_type

    place = places_of(kind, simulator.robot.model)[-1]
    sensors = simulator.sensors(**{name: [place]})
    simulator.step(n=20)
    sensors.read()
    message = sensors.kinds[name].message('some_frame')
    sensors.kinds[name].fill(message, 0)
    message.set_stamp_ns(2_000_000_003)
    read = serialization.deserialize_message(message.data(), message_type(kind.message_type))
    assert (read.header.frame_id, read.header.stamp.nanosec) == ('some_frame', 3)
    numbers = {float(each) for each in re.findall(r'=(-?[0-9][0-9.e+-]*)', repr(read))}
    assert set(flat(sensors[name][place]).tolist()) <= numbers


# -- of other packages ---------------------------------------------------------------------------


FAR = shown_in('A new sensor').replace("name = 'markers'", "name = 'far_markers'")
GROUP = 'rbd_ros.sensors'


def test_another_package_declares_a_kind_by_an_entry_point(tmp_path, monkeypatch, simulator):
    line = {GROUP: 'far_markers = far_sensors:Markers'}
    install(tmp_path / 'site', monkeypatch, 'far-sensors', FAR, line)
    found = simulator.sensors(far_markers=['tool0'])['far_markers']['tool0']
    expected = simulator.robot.forward_kinematics(simulator.q)['tool0'][:3, 3]
    assert found == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match='kind of sensors .*far_marker.*far_markers'):
        simulator.sensors(far_marker=['tool0'])


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        (
            'import no_such_module',
            'far-sensors 1.2 cannot be imported .*no_such_mod.*uninstall',
        ),
        ('Markers = 1', 'far-sensors 1.2 .*not a subclass of .*Sensor.*uninstall'),
        (FAR.replace('far_markers', 'markers'), 'far-sensors 1.2 .*with this name'),
    ],
)
def test_a_package_that_cannot_be_used_is_named(tmp_path, monkeypatch, simulator, text, words):
    line = {GROUP: 'far_markers = far_sensors:Markers'}
    install(tmp_path / 'site', monkeypatch, 'far-sensors', text, line)
    with pytest.raises(ValueError, match=words):
        simulator.sensors(far_markers=['tool0'])


def test_two_packages_with_one_name_are_named(tmp_path, monkeypatch, simulator):
    for name in ('far-sensors', 'more-sensors'):
        line = {GROUP: f'far_markers = {name.replace("-", "_")}:Markers'}
        install(tmp_path / 'site', monkeypatch, name, FAR, line)
    with pytest.raises(ValueError, match='far-sensors 1.2 and more-sensors 1.2; uninstall'):
        simulator.sensors(far_markers=['tool0'])
