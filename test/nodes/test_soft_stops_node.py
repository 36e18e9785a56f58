# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Torque nodes with soft stops and the cut-off at excess speed, over DDS, in all their modes."""

import itertools

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from node_harness import TWO_LINK_ARM
from safety_harness import gravity_of, states_at, TorqueRig

from rbd_ros import Robot
from rbd_ros.control.law.soft_stops import BRAKE_RATE, SoftLimits

_namespaces = itertools.count()
LIMITS = np.array([40.0, 15.0])
ON = {
    'state_timeout': 0.0,
    'soft_stops': True,
    'brake_at_velocity_limits': True,
    'soft_stop_margin': 0.1,
    'position_limit_tolerance': 10.0,
}
MODES = {
    'gravity': ('gravity_compensation', {'payload_transition_time': 0.0}),
    'damping': ('gravity_compensation', {'damping': [0.5, 2.0]}),
    'hand guiding': ('gravity_compensation', {'mode': 'hand_guiding'}),
    'computed torque': ('inverse_dynamics', {}),
    'pd': ('inverse_dynamics', {'feedback': 'pd', 'kp': [500.0], 'kd': [20.0]}),
    'impedance': ('inverse_dynamics', {'feedback': 'task_impedance', 'task_frame': 'tool'}),
}


@pytest.fixture
def start(ros):
    rigs = []

    def begin(module, **parameters):
        rigs.append(TorqueRig(ros, module, f'/stops{next(_namespaces)}', {**ON, **parameters}))
        return rigs[-1]

    yield begin
    for rig in rigs:
        assert rig.process.stop() == 0
        ros.processes.remove(rig.process)
        assert rig.all_safe()
        assert 'Traceback' not in rig.process.output()


def highest(robot, q, v):
    """Return torques that no joint may exceed towards its limits at a state beyond them, (2, nv).

    Lower and upper ones; infinite for joints that are within their limits.
    """
    limits = SoftLimits.for_robot(robot, 0.1)
    rate = BRAKE_RATE * robot.mass_matrix(q).diagonal()
    weight = robot.gravity_torque(q)
    over = v - np.clip(12.5 * (limits.upper - q), -0.1, limits.speed)
    under = -v - np.clip(12.5 * (q - limits.lower), -0.1, limits.speed)
    high = np.where(over > 0.0, weight - rate * over, np.inf)
    low = np.where(under > 0.0, weight + rate * under, -np.inf)
    return np.clip(low, -LIMITS, LIMITS), np.clip(high, -LIMITS, LIMITS)


@pytest.mark.parametrize('mode', MODES)
def test_no_torque_pushes_beyond_a_limit_in_any_mode_and_state(start, mode):
    module, parameters = MODES[mode]
    rig, robot = start(module, **parameters), Robot.from_urdf(TWO_LINK_ARM)
    rng, bound = np.random.default_rng(3), 0
    for _ in range(100):
        q = rng.uniform(-1.1, 1.1, 2) * robot.upper_limits
        v = rng.uniform(-1.5, 1.5, 2) * robot.velocity_limits
        torque = rig.answer_elsewhere(q, v)
        low, high = highest(robot, q, v)
        assert (torque <= high + 1e-9).all() and (torque >= low - 1e-9).all(), (q, v)
        bound += int((torque == np.clip(high, -LIMITS, LIMITS)).any())
    assert bound > 5  # otherwise little was tried
    at_rest = rig.answer((0.3, -1.1), (0.0, 0.0))
    assert np.isfinite(at_rest).all()


def test_without_soft_stops_the_same_states_are_answered_with_gravity_alone(start):
    rig = start('gravity_compensation', soft_stops=False, brake_at_velocity_limits=False)
    for q, v in (((2.99, 2.49), (5.0, 5.0)), ((-3.1, 0.0), (-7.0, 0.0))):
        assert rig.answer_elsewhere(q, v) == pytest.approx(gravity_of(q))


def test_each_of_both_can_be_had_without_the_other(start):
    stops = start('gravity_compensation', brake_at_velocity_limits=False)
    assert stops.answer((0.0, 0.0), (7.0, 7.0)) == pytest.approx(gravity_of((0.0, 0.0)))
    assert stops.answer((2.95, 0.0), (1.0, 0.0))[0] < gravity_of((2.95, 0.0))[0] - 1.0
    brake = start('gravity_compensation', soft_stops=False)
    assert brake.answer((2.95, 0.0), (1.0, 0.0)) == pytest.approx(gravity_of((2.95, 0.0)))
    assert (brake.answer((0.0, 0.0), (7.0, 7.0)) < gravity_of((0.0, 0.0)) - 1.0).all()


def test_soft_stops_come_before_the_rate_and_the_effort_limits(start):
    rig = start('gravity_compensation', torque_rate_limit=1.0, effort_limits=[3.0])
    before = rig.answer((0.3, -1.1))
    after = rig.answer((2.95, 2.45), (4.0, 4.0))
    assert np.abs(after).max() <= 3.0
    assert np.abs(after - before).max() < 60.0  # per minute, which is longer than this takes


# -- cut-off --------------------------------------------------------------------------------------


@pytest.mark.parametrize('command', ['zero', 'gravity'])
@pytest.mark.parametrize('module', ['gravity_compensation', 'inverse_dynamics'])
def test_a_joint_that_is_far_too_fast_ends_the_torque_until_it_is_acknowledged(
    start, module, command
):
    from lifecycle_harness import Managed

    rig = start(module, overspeed_factor=1.5, timeout_command=command)
    pose = (0.3, -1.1)
    rig.answer(pose, (7.4, -7.4))  # within the limit times the factor
    since, count = rig.ros.mark(), len(rig.torques)
    with states_at(rig, pose, (0.0, -7.6)):
        status = rig.ros.until_status('the torque is off', 'speed', since=since)
    assert "'elbow' moves at -7.6" in status.message and status.level == b'\x02'
    rig.ros.until(lambda: len(rig.torques) > count, 'the last torque')
    last = gravity_of(pose) if command == 'gravity' else np.zeros(2)
    assert rig.torques[-1].effort == pytest.approx(last)
    count = len(rig.torques)
    with states_at(rig, pose):
        rig.ros.spin(0.5)
    assert len(rig.torques) == count
    life = Managed(rig.ros, rig.name)
    life.must('deactivate', 'activate')
    assert np.isfinite(rig.answer(pose)).all()
    rig.ros.until_status('no joint exceeds its limit', 'speed', since=since)


def test_a_factor_below_one_is_rejected(start, ros):
    process = ros.start(
        'gravity_compensation', {'robot_description': TWO_LINK_ARM, 'overspeed_factor': 0.5}
    )
    assert process.wait() not in (0, 'had to be killed')
    ros.processes.remove(process)
    assert 'overspeed_factor must be 0, for none, or at least 1, got 0.5' in process.output()
