# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Guarantees of `Simulator`: determinism, snapshots, wrenches, errors, threads."""

import json
import pickle
import threading
import time

import numpy as np
import pytest
from support import fresh_python
from support.simulated_robots import (
    at,
    ball,
    body,
    collision,
    GRAVITY,
    joint,
    link,
    robot,
    turntable,
)

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace

#: Machine code as users have it: see conftest.py.
OPTIMIZED = True


def walker(**options):
    """Free body with two legs, joint friction, limits and feet: everything at once."""
    limit = '<limit lower="-0.5" upper="0.5" effort="8" velocity="9"/>'
    legs = ''.join(
        link(
            f'leg{k}',
            0.4,
            (0.003, 0.003, 0.001),
            (0, 0, -0.1),
            collision('sphere radius="0.03"', (0, 0, -0.2)),
        )
        + joint(
            f'hip{k}',
            'body',
            f'leg{k}',
            'revolute',
            (0, 1, 0),
            (0, y, 0),
            f'<dynamics damping="0.02" friction="0.1"/>{limit}',
        )
        for k, y in ((1, -0.1), (2, 0.1))
    )
    box = link('body', 2.0, (0.02, 0.03, 0.04), shape=collision('box size="0.2 0.3 0.1"'))
    simulator = Simulator(robot(box, legs, floating_base=True), ground=HalfSpace(), **options)
    simulator.reset(
        q=[*at((0, 0, 0.4), (0.9, 0.1, 0.3, 0.2)), 0.2, -0.3], v=[1, 2, 0, 0.3, 0, 0, 1, -1]
    )
    return simulator


def state(simulator):
    contacts = [x for contact in simulator.contacts for x in (*contact.position, *contact.force)]
    return np.concatenate(
        [
            simulator.q,
            simulator.v,
            simulator.a,
            simulator.tau,
            simulator.constraint_force,
            contacts,
            [simulator.time],
            simulator.status,
        ]
    )


TAU = [0, 0, 0, 0, 0, 0, 1.0, -20.0]


@pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint', 'rk4'])
def test_same_inputs_give_the_same_bits_in_one_call_or_many(integrator):
    one, many, again = (walker(integrator=integrator) for _ in range(3))
    one.step(TAU, 700)
    again.step(TAU, 700)
    for _ in range(700):
        many.step(TAU)
    assert one.status.contacts > 0
    assert np.array_equal(state(one), state(many))
    assert np.array_equal(state(one), state(again))


@pytest.mark.parametrize('integrator', ['semi_implicit', 'midpoint', 'rk4'])
def test_a_snapshot_restores_exactly(integrator):
    simulator = walker(integrator=integrator)
    simulator.apply_wrench('body', [0, 0, 0, 3, 0, 0], duration=0.5, point=[0, 0, 0.1])
    simulator.step(TAU, 400)
    snapshot = pickle.loads(pickle.dumps(simulator.snapshot()))
    before = state(simulator)
    simulator.step(TAU, 300)
    after = state(simulator)
    simulator.restore(snapshot)
    assert np.array_equal(state(simulator), before)
    simulator.step(TAU, 300)
    assert np.array_equal(state(simulator), after)
    with pytest.raises(ValueError, match='another simulation'):
        Simulator(turntable()).restore(snapshot)


def test_reset_restores_the_initial_state():
    simulator, fresh = walker(), walker()
    simulator.apply_wrench('leg1', [1, 2, 3, 4, 5, 6])
    simulator.step(TAU, 500)
    simulator.reset(q=fresh.q, v=fresh.v)
    simulator.step(TAU, 500)
    fresh.step(TAU, 500)
    assert np.array_equal(state(simulator), state(fresh))


def test_time_does_not_drift():
    simulator = Simulator(turntable(), 1e-3)
    simulator.reset(time=5.0)
    for _ in range(1000):
        simulator.step(n=997)
    assert simulator.time == 5.0 + 997000 * 1e-3


def test_step_without_torque_applies_none_and_zero_steps_do_nothing():
    simulator = Simulator(turntable(0.2))
    simulator.step([1.0])
    assert simulator.a[0] == pytest.approx(5.0)
    before = state(simulator)
    simulator.step([1.0], 0)
    assert np.array_equal(state(simulator), before)
    simulator.step()
    assert simulator.a[0] == 0.0


def test_wrenches_act_as_external_forces_of_the_robot(rng):
    arm = robot(
        link('base'),
        *(link(f'l{k}', 1.0, (0.01,) * 3, (0.1, 0, 0)) for k in (1, 2)),
        joint('j1', 'base', 'l1', axis=(0, 0, 1)),
        joint('j2', 'l1', 'l2', axis=(0, 1, 0), xyz=(0.3, 0, 0)),
        link('tool'),
        joint('mount', 'l2', 'tool', 'fixed', xyz=(0.2, 0, 0.1)),
    )
    q, v = rng.normal(size=2), rng.normal(size=2)
    about_origin, about_point = rng.normal(size=6), rng.normal(size=6)
    point = rng.normal(size=3)
    # Of Euler, whose accelerations are those at the beginning of the step.
    simulator = Simulator(arm, 1e-6, 'semi_implicit')
    simulator.reset(q, v)
    simulator.apply_wrench('l1', about_origin)
    simulator.apply_wrench('tool', about_point, point=point)
    simulator.step()
    pose = arm.forward_kinematics(q)['tool']
    place = pose[:3, :3] @ point + pose[:3, 3]
    moved = np.concatenate([about_point[:3] + np.cross(place, about_point[3:]), about_point[3:]])
    expected = arm.forward_dynamics(
        q, v, np.zeros(2), external_forces={'l1': about_origin, 'tool': moved}
    )
    assert simulator.a == pytest.approx(expected, abs=1e-8)


def test_wrenches_last_for_the_requested_duration():
    simulator = Simulator(ball(gravity=(0, 0, 0)), 1e-3)
    simulator.apply_wrench('body', [0, 0, 0, 1, 0, 0], 0.0105, point=[0, 0, 0])
    other = simulator.apply_wrench('body', [0, 0, 0, 0, 1, 0], point=[0, 0, 0])
    simulator.step(n=100)
    assert simulator.v[3] == pytest.approx(0.011)
    simulator.clear_wrenches(other)
    simulator.clear_wrenches(other)
    simulator.step(n=100)
    assert simulator.v[4] == pytest.approx(0.1)


def test_a_handle_is_never_given_again():
    simulator = Simulator(ball(gravity=(0, 0, 0)), 1e-3)
    snapshot = simulator.snapshot()
    old = simulator.apply_wrench('body', [0, 0, 0, 1, 0, 0], point=[0, 0, 0])
    simulator.restore(snapshot)
    simulator.apply_wrench('body', [0, 0, 0, 0, 1, 0], point=[0, 0, 0])
    simulator.clear_wrenches(old)
    simulator.step()
    assert simulator.v[3] == 0.0 and simulator.v[4] > 0.0


@pytest.mark.parametrize(
    'call, message',
    [
        (lambda s: s.step([np.nan]), 'tau must be finite'),
        (lambda s: s.step([np.inf]), 'tau must be finite'),
        (lambda s: s.step([1.0, 2.0]), r'tau must have shape \(1,\), got \(2,\)'),
        (lambda s: s.step(['1']), 'real numbers'),
        (lambda s: s.step([1.0], -1), 'negative'),
        (lambda s: s.reset(q=[np.nan]), 'q must be finite'),
        (lambda s: s.reset(v=[[1.0]]), 'v must have shape'),
        (lambda s: s.reset(time=np.inf), 'time must be finite'),
        (lambda s: s.apply_wrench('table', [1, 2, 3]), r'wrench must have shape \(6,\)'),
        (lambda s: s.apply_wrench('tabel', np.zeros(6)), "did you mean 'table'"),
        (lambda s: s.apply_wrench('table', np.zeros(6), duration=0.0), 'duration'),
    ],
)
def test_bad_input_raises_and_changes_nothing(call, message):
    simulator = Simulator(turntable())
    simulator.reset(v=[1.0], time=3.0)
    simulator.step([0.5], 10)
    before = state(simulator)
    with pytest.raises(ValueError, match=message):
        call(simulator)
    assert np.array_equal(state(simulator), before)
    simulator.step([0.5], 10)


@pytest.mark.parametrize(
    'arguments, message',
    [
        ({'timestep': 0.0}, 'timestep'),
        ({'timestep': np.nan}, 'timestep'),
        ({'integrator': 'euler'}, 'midpoint, rk4, semi_implicit'),
        ({'ground': 3}, 'HalfSpace'),
        ({'speed_limit': -1.0}, 'speed_limit'),
    ],
)
def test_bad_construction_raises(arguments, message):
    with pytest.raises(ValueError, match=message):
        Simulator(turntable(), **arguments)


def test_a_quaternion_of_another_norm_is_rejected_with_the_order():
    simulator = Simulator(ball())
    with pytest.raises(ValueError, match="'floating_base': its quaternion is zero"):
        simulator.reset(q=np.zeros(7))
    before = simulator.q
    order = 'the order is quaternion w, x, y, z, then the position'
    # 0.3 m up, with the numbers of a pose of ROS; twice a turn; 1.1e-3 too long
    for q in ([0, 0, 0.3, 0, 0, 0, 1], [2, 0, 0, 0, 1, 2, 3], [1.0011, 0, 0, 0, 1, 2, 3]):
        with pytest.raises(ValueError, match=f"'floating_base': its quaternion has.*{order}"):
            simulator.reset(q=q)
        assert np.array_equal(simulator.q, before)
    simulator.reset(q=[0.9995, 0, 0, 0, 1, 2, 3])  # three digits leave so much
    assert np.array_equal(simulator.q, [1, 0, 0, 0, 1, 2, 3])
    with pytest.raises(ValueError, match='rollout 0: .* has the norm 0.5 instead of 1'):
        simulator.rollout([[0, 0.5, 0, 0, 1, 2, 3.0]], steps=2)


def test_getters_return_copies():
    simulator = Simulator(turntable())
    simulator.q[0] = simulator.v[0] = simulator.a[0] = simulator.tau[0] = 7.0
    assert not any(x[0] for x in (simulator.q, simulator.v, simulator.a, simulator.tau))


def test_a_robot_that_cannot_move_still_keeps_time():
    simulator = Simulator(
        robot(link('base'), link('a', 1.0, (1.0,) * 3), joint('f', 'base', 'a', 'fixed'))
    )
    simulator.step(n=10)
    assert simulator.time == pytest.approx(0.01) and simulator.q.shape == (0,)


def test_other_threads_run_during_a_long_step():
    simulator = Simulator(turntable())
    beats = []
    worker = threading.Thread(target=simulator.step, args=([0.0], 30_000_000))
    worker.start()
    while worker.is_alive():
        beats.append(time.perf_counter())
        time.sleep(0.002)
    worker.join()
    assert len(beats) > 10 and np.max(np.diff(beats)) < 0.5 * (beats[-1] - beats[0])


@pytest.mark.slow
def test_without_the_compiler_plain_python_does_the_same():
    code = """
import numpy as np
from support.simulated_robots import *
from rbd_ros import Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.compiler.loops import interpreted_reason
LIMIT = '<limit lower="-1" upper="0.01" effort="9" velocity="9"/>'
out = [float(interpreted_reason() is None)]
for integrator in ("semi_implicit", "midpoint", "rk4"):
    for small in (ball(), turntable(friction=0.5, kind="revolute",
                                    limit=LIMIT)):
        s = Simulator(small, integrator=integrator, ground=HalfSpace())
        s.apply_wrench(small.link_names[-1], [0.1, 0, 1, 0, 0.2, 0], point=[0, 0, 0.1])
        if small.nv == 6:
            s.reset(q=at((0, 0, 0.1)), v=[1, 0, 0, 0.2, 0, -0.5])
        else:
            s.reset(v=[0.5])
        s.step(n=60)
        out += [*s.q, *s.v]
print([float(x) for x in out])
"""
    with_compiler = json.loads(fresh_python.run(code, RBD_ROS_COMPILER=None).stdout)
    without = json.loads(fresh_python.run(code, RBD_ROS_COMPILER='off').stdout)
    assert (with_compiler[0], without[0]) == (1.0, 0.0)
    assert without[1:] == pytest.approx(with_compiler[1:], abs=1e-12)


def test_a_body_without_a_shape_falls_through_the_ground():
    simulator = Simulator(body(), ground=HalfSpace())
    simulator.step(n=1000)
    assert simulator.q[6] == pytest.approx(-GRAVITY / 2, rel=2e-3)


def test_real_meshes_that_are_missing_are_named(tmp_path):
    text = (
        '<robot name="r"><link name="base"/><link name="shell"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry>'
        '<mesh filename="package://nowhere/shell.stl"/></geometry></collision></link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="shell"/></joint>'
        '</robot>'
    )
    simulator = Simulator(Robot.from_urdf(text), ground=HalfSpace())
    assert any("link 'shell' has no collision" in warning for warning in simulator.warnings)
