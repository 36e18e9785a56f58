# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Faults: reading, effects, and seeded randomness."""

import math

import numpy as np
import pytest
from support.limited_arm import limited_arm

from rbd_ros import Robot, Simulator
from rbd_ros.hil import Disturbance, Fault, FAULT_KINDS, FaultError, FaultInjector, read_faults
from rbd_ros.hil.faults.disturbances import MessageLink, SensorFaults
from rbd_ros.hil.faults.fault_injector import generator

JOINTS = ('shoulder', 'elbow')
ARM = limited_arm()


@pytest.fixture(scope='module')
def arm():
    return Robot.from_urdf(ARM)


def rig(arm, *faults, seed=0):
    simulator = Simulator(arm, integrator='semi_implicit')
    injector = FaultInjector(JOINTS, np.arange(2), seed)
    injector.attach(simulator.physics)
    injector.plan(faults)
    return simulator, injector


# -- reading --------------------------------------------------------------------------------------


def test_a_fault_of_each_kind_is_read():
    scopes = {
        'joints': {'joints': ['elbow']},
        'messages': {'channel': 'state'},
        'link': {'link': 'lower', 'center_of_mass': [0.1, 0.0, 0.0]},
        'robot': {},
    }
    for name, kind in FAULT_KINDS.items():
        entry = {'fault': name, 'start_time': 1.5, 'duration': 2.0, **scopes[kind.scope]}
        if kind.quantity:
            entry['value'] = 0.5
        (fault,) = read_faults({'faults': [entry]}, JOINTS, ['lower'])
        assert (fault.kind, fault.start_time, fault.end) == (name, 1.5, 3.5)
        assert fault.value == (0.5 if kind.quantity else 0.0)
        assert fault.joints == (('elbow',) if kind.scope == 'joints' else ())
        assert fault.channel == ('state' if kind.scope == 'messages' else 'both')
        assert fault.center_of_mass == (
            (0.1, 0.0, 0.0) if kind.scope == 'link' else (0.0, 0.0, 0.0)
        )
        assert str(fault).startswith(name)


def test_omitted_keys_mean_all_joints_and_no_end():
    (fault,) = read_faults('faults: [{fault: drop, value: 0.1}]', JOINTS)
    assert (fault.start_time, fault.end, fault.channel, fault.joints) == (
        0.0,
        math.inf,
        'both',
        (),
    )
    (fault,) = read_faults('faults: [{fault: position_bias, value: -0.1}]', JOINTS)
    assert fault.value == -0.1
    assert read_faults('faults: []', JOINTS) == ()


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('faults:\n- {fault: gremlin}', 'line 2.*gremlin'),
        ('faults:\n- {fault: drop}', 'line 2.*value is missing'),
        ('faults:\n- {fault: drop, value: 1.5}', 'line 2.*value.*above 1'),
        ('faults:\n- {fault: drop, value: -0.5}', 'below the minimum of 0'),
        ('faults:\n- {fault: drop, value: nan}', 'not a finite number'),
        ('faults:\n- fault: actuator_failure\n  joints: [elbo]', 'line 3.*joints.*elbo.*elbow'),
        ('faults:\n- {fault: actuator_failure, joints: [elbow, elbow]}', 'given twice'),
        ('faults:\n- {fault: actuator_failure, value: 1.0}', 'unknown key.*value'),
        ('faults:\n- {fault: actuator_failure, channel: state}', 'unknown key.*channel'),
        ('faults:\n- {fault: latency, value: 0.1, channel: back}', 'channel.*back'),
        ('faults:\n- {fault: latency, value: 0.1, joints: [elbow]}', 'unknown key.*joints'),
        ('faults:\n- {fault: payload, value: 1.0}', 'link is missing'),
        ('faults:\n- {fault: payload, value: 1.0, link: hand}', 'hand'),
        ('faults:\n- {fault: power_cut, start_time: -1}', 'start_time.*below the minimum of 0'),
        ('faults:\n- {fault: power_cut, duration: 0}', 'must be greater than 0'),
        ('faults: {fault: actuator_failure}', 'expected a list'),
        ('fault: []', 'unknown key.*fault|faults is missing'),
        ('faults: [', 'line 1'),
        ('', 'expected a mapping'),
    ],
)
def test_wrong_faults_are_rejected_by_line_entry_and_cure(text, words):
    with pytest.raises(FaultError, match=words):
        read_faults(text, JOINTS, ['lower'])


def test_wrong_mappings_are_rejected_likewise():
    with pytest.raises(FaultError, match='gremlin'):
        read_faults({'faults': [{'fault': 'gremlin'}]}, JOINTS)


# -- messages -------------------------------------------------------------------------------------


def pass_through(link, times, until):
    """Return the numbers of messages that come out, by the time at which they do."""
    out = []
    for k in range(until):
        if k < times:
            link.send(k, k * 0.001)
        while (message := link.receive(k * 0.001)) is not None:
            out.append((k, message))
    return out


def test_without_faults_messages_pass_at_once():
    link = MessageLink(generator(1, 'state'))
    assert pass_through(link, 5, 5) == [(k, k) for k in range(5)]
    assert link.quiet and link.sent == 5


def test_latency_is_exact():
    link = MessageLink(generator(1, 'state'))
    link.disturbance = Disturbance(latency=0.02)
    assert pass_through(link, 50, 100) == [(k + 20, k) for k in range(50)]
    link.send(0, 0.0)
    assert not link.quiet
    link.clear()
    assert link.receive(9.0) is None


def test_messages_due_at_the_same_time_keep_their_order():
    link = MessageLink(generator(1, 'state'))
    messages = [np.array([2.0, 1.0]), np.array([1.0, 2.0]), {'no': 'order'}]
    for message in messages:
        link.send(message, 0.0)
    out = [link.receive(0.0) for _ in messages]
    assert all(a is b for a, b in zip(out, messages))


def test_jitter_delays_between_its_bounds_and_messages_overtake():
    link = MessageLink(generator(1, 'state'))
    link.disturbance = Disturbance(latency=0.002, jitter=0.01)
    out = pass_through(link, 1000, 1100)
    delays = np.array([time - number for time, number in out])
    assert sorted(number for _, number in out) == list(range(1000))
    assert delays.min() >= 2 and delays.max() <= 13 and delays.max() > 10
    assert [number for _, number in out] != list(range(1000))


def test_messages_are_lost_and_duplicated_at_the_requested_rates():
    link = MessageLink(generator(1, 'state'))
    link.disturbance = Disturbance(drop=0.1, duplicate=0.3)
    out = [number for _, number in pass_through(link, 20_000, 20_000)]
    assert link.dropped == 20_000 - len(set(out))
    assert link.dropped == pytest.approx(2000, abs=200)  # more than four deviations
    assert link.duplicated == len(out) - len(set(out))
    assert link.duplicated == pytest.approx(0.9 * 6000, abs=350)
    assert out == sorted(out)


def test_all_is_lost_with_certainty_and_a_flood_is_bounded(monkeypatch):
    link = MessageLink(generator(1, 'state'))
    link.disturbance = Disturbance(drop=1.0)
    assert pass_through(link, 100, 100) == []
    monkeypatch.setattr('rbd_ros.hil.faults.disturbances.MAX_UNDER_WAY', 10)
    link.disturbance = Disturbance(latency=1.0)
    for k in range(20):
        link.send(k, 0.0)
    assert link.dropped == 110


def test_random_numbers_depend_on_seed_and_channel():
    def run(seed, way):
        link = MessageLink(generator(seed, way))
        link.disturbance = Disturbance(jitter=0.01, drop=0.2)
        return pass_through(link, 300, 400)

    assert run(3, 'state') == run(3, 'state')
    assert run(3, 'state') != run(4, 'state')
    assert run(3, 'state') != run(3, 'command')


# -- sensors --------------------------------------------------------------------------------------


def measured(count=20_000, **values):
    sensors = SensorFaults(2, generator(5, 'sensors'))
    for kind, value in values.items():
        sensors.set(kind, np.array([1]), value)
    q, v = np.array([0.3, -0.2]), np.array([0.1, 0.5])
    rows = [sensors.measure(q, v) for _ in range(count)]
    assert np.array_equal(q, [0.3, -0.2]) and np.array_equal(v, [0.1, 0.5])  # not in place
    return np.array([r[0] for r in rows]), np.array([r[1] for r in rows])


def test_noise_has_its_deviation_and_concerns_its_joints_alone():
    q, v = measured(position_noise=0.01, velocity_noise=0.2)
    assert np.all(q[:, 0] == 0.3) and np.all(v[:, 0] == 0.1)
    assert q[:, 1].std() == pytest.approx(0.01, rel=0.03)
    assert q[:, 1].mean() == pytest.approx(-0.2, abs=4e-4)
    assert v[:, 1].std() == pytest.approx(0.2, rel=0.03)
    again, _ = measured(position_noise=0.01, velocity_noise=0.2)
    assert np.array_equal(again, q)


def test_bias_is_added_and_positions_come_in_steps():
    q, v = measured(2, position_bias=0.05, velocity_bias=-0.5)
    assert np.all(q[:, 1] == -0.15000000000000002) and np.all(v[:, 1] == 0.0)
    q, _ = measured(2, quantization=0.03)
    assert q[0, 1] == pytest.approx(-0.21) and q[0, 0] == 0.3


def test_backlash_follows_at_the_edges_of_the_play():
    sensors = SensorFaults(1, generator(0, 'sensors'))
    sensors.set('backlash', np.array([0]), 0.2)
    seen = []
    for q in (0.0, 0.05, 0.1, 0.3, 0.25, 0.15, 0.0, -0.3):
        position, velocity = sensors.measure(np.array([q]), np.array([1.0]))
        seen.append((round(position[0], 9), velocity[0]))
    assert seen == [
        (0.0, 0.0),
        (0.0, 0.0),
        (0.0, 0.0),
        (0.2, 1.0),
        (0.2, 0.0),
        (0.2, 0.0),
        (0.1, 1.0),
        (-0.2, 1.0),
    ]
    sensors.clear()
    assert sensors.measure(np.array([0.5]), np.array([1.0]))[0][0] == 0.5
    sensors.set('backlash', np.array([0]), 0.2)
    assert sensors.measure(np.array([0.55]), np.array([1.0]))[0][0] == 0.55  # starts again


# -- the machine ----------------------------------------------------------------------------------


def after(simulator, injector, torque, steps=200):
    for _ in range(steps):
        injector.update(simulator.time)
        simulator.step(torque)
    return simulator


def test_a_stuck_joint_stops_at_once_and_stays_while_the_others_move(arm):
    simulator, injector = rig(
        arm, Fault('joint_lock', joints=('elbow',), start_time=0.1, duration=0.1)
    )
    after(simulator, injector, [0.0, 10.0], 100)
    assert simulator.v[1] > 0.5
    after(simulator, injector, [0.0, 10.0], 1)
    assert abs(simulator.v[1]) < 1e-9
    held = simulator.q[1]
    after(simulator, injector, [-5.0, 15.0], 99)
    assert abs(simulator.q[1] - held) < 1e-9 and abs(simulator.v[0]) > 0.01
    after(simulator, injector, [0.0, 10.0], 20)
    assert simulator.v[1] > 0.05


def test_dead_saturated_and_powerless_actuators(arm):
    for fault, expected in (
        (Fault('actuator_failure', joints=('elbow',)), [40.0, 0.0]),
        (Fault('actuator_failure'), [0.0, 0.0]),
        (Fault('effort_derating', 0.25, ('shoulder',)), [10.0, 15.0]),
        (Fault('power_cut'), [0.0, 0.0]),
    ):
        simulator, injector = rig(arm, fault)
        after(simulator, injector, [100.0, 100.0], 1)
        assert list(simulator.tau) == expected
        injector.plan([])
        after(simulator, injector, [100.0, 100.0], 1)
        assert list(simulator.tau) == [40.0, 15.0]


def test_an_actuator_that_is_dead_and_saturated_is_dead(arm):
    for faults in (
        (Fault('actuator_failure'), Fault('effort_derating', 0.5)),
        (Fault('effort_derating', 0.5), Fault('actuator_failure')),
        (Fault('power_cut'), Fault('effort_derating', 0.5)),
    ):
        simulator, injector = rig(arm, *faults)
        after(simulator, injector, [100.0, 100.0], 1)
        assert list(simulator.tau) == [0.0, 0.0]


def test_a_friction_fault_adds_to_the_friction_of_the_joint(arm):
    simulator, injector = rig(arm, Fault('friction', 3.0, ('elbow',)))
    injector.update(0.0)
    assert list(simulator.physics.model.friction) == [0.0, 3.0]
    rough = Robot.from_urdf(
        ARM.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics friction="0.5"/>')
    )
    other, more = rig(rough, Fault('friction', 3.0, ('elbow',)))
    more.update(0.0)
    assert list(other.physics.model.friction) == [0.5, 3.5]
    simulator.reset([-math.pi / 2, 0.0], [0.0, 1.0])  # hanging: nothing but friction acts
    other = Simulator(arm, integrator='semi_implicit')
    other.reset([-math.pi / 2, 0.0], [0.0, 1.0])
    simulator.step([0.0, 2.0], n=10)
    other.step([0.0, -1.0], n=10)  # 2 less the friction of 3
    assert simulator.v == pytest.approx(other.v, abs=1e-9)


def test_a_saturated_actuator_needs_a_limit():
    robot = Robot.from_urdf(ARM.replace('revolute', 'continuous').replace('effort="40"', ''))
    simulator = Simulator(robot)
    injector = FaultInjector(JOINTS, np.arange(2))
    injector.attach(simulator.physics)
    injector.plan([Fault('effort_derating', 0.5, ('shoulder',))])
    with pytest.raises(ValueError, match='effort in the <limit>'):
        injector.update(0.0)


# -- the timeline ---------------------------------------------------------------------------------


def test_faults_begin_and_end_when_they_are_due_and_that_is_recorded(arm):
    faults = (
        Fault('latency', 0.02, start_time=0.5, duration=1.0),
        Fault('drop', 0.1, channel='command', start_time=1.0),
        Fault('position_bias', 0.1, ('elbow',), start_time=1.0, duration=0.5),
    )
    _, injector = rig(arm, *faults)
    assert not injector.update(0.0) and injector.acting == ()
    assert not injector.update(0.499)
    assert injector.update(0.5) and not injector.update(0.501)
    assert injector.links['state'].disturbance == Disturbance(latency=0.02)
    assert injector.update(0.001 * 1000)
    assert injector.links['state'].disturbance == Disturbance(latency=0.02)
    assert injector.links['command'].disturbance == Disturbance(latency=0.02, drop=0.1)
    assert injector.sensors.position_bias[1] == 0.1
    injector.update(1.5)
    assert injector.links['state'].quiet
    assert injector.links['command'].disturbance == Disturbance(drop=0.1)
    assert not injector.sensors.active
    assert [(each.time, each.began, each.fault.kind) for each in injector.changes] == [
        (0.5, True, 'latency'),
        (1.0, True, 'drop'),
        (1.0, True, 'position_bias'),
        (1.5, False, 'latency'),
        (1.5, False, 'position_bias'),
    ]
    assert injector.counts()['states_sent'] == 0


def test_a_new_plan_counts_from_now_and_replaces_the_old(arm):
    simulator, injector = rig(arm, Fault('actuator_failure'))
    injector.update(2.0)
    injector.plan([Fault('effort_derating', 0.5, start_time=1.0)], now=2.0)
    injector.update(2.0)
    assert list(simulator.physics.model.effort) == [40.0, 15.0]
    injector.update(3.0)
    assert list(simulator.physics.model.effort) == [20.0, 7.5]


def test_another_simulation_takes_over_active_faults(arm):
    simulator, injector = rig(arm, Fault('actuator_failure', joints=('elbow',)))
    injector.update(0.0)
    other = Simulator(arm)
    injector.attach(other.physics)
    assert other.physics.model.effort[1] == 0.0 and simulator.physics.model.effort[1] == 15.0


def test_beginnings_and_ends_of_faults_are_kept_on_request_only():
    kept, lean = (FaultInjector(['a'], np.arange(1), keep_changes=keep) for keep in (True, False))
    for injector in (kept, lean):
        for k in range(100):
            injector.plan([Fault('drop', 0.5)] if k % 2 else [])
            assert injector.update(float(k)) == (k > 0)
        assert len(injector.acting) == 1
    assert len(kept.changes) == 99 and lean.changes == []
