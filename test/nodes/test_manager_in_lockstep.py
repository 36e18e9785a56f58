# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator in lockstep with a controller_manager: one cycle per period."""

import json
import math
import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
from time import perf_counter
from types import SimpleNamespace

import pytest
from support import outside
from support.waiting import until

outside.load('rclpy')

from node_harness import TWO_LINK_ARM
from std_srvs.srv import SetBool, Trigger

from rbd_ros.hil.update_rate import PACE
from rbd_ros.nodes.common.diagnostics import OK, WARN
from rbd_ros.nodes.simulator.cycle.lockstep import stamp_of
from rbd_ros.nodes.simulator.cycle.manager_ports import ManagerPorts
from rbd_ros.nodes.simulator.interface.simulator_interface import (
    check_simulator_parameters,
    INTERFACE,
)
from rbd_ros.wire import ClockWriter, JointStateWriter

MANAGER = Path(__file__).with_name('manager_stand_in.py')
PERIOD = 10_000_000  # [ns]
START = [0.5, -0.8]


class Rig:
    """A simulator, and managers that come and go."""

    def __init__(self, ros, folder, **parameters):
        self.ros, self.folder, self.managers = ros, folder, []
        self.parameters = {
            'robot_description': TWO_LINK_ARM,
            'initial_positions': START,
            'lockstep': 'order',
            'lockstep_update_rate': 100,
            **parameters,
        }
        self.since = ros.mark()

    def start_simulator(self):
        self.process = self.ros.start('simulator', self.parameters)

    def start_manager(self, *options):
        log = self.folder / f'{len(self.managers)}.log'
        log.touch()
        process = subprocess.Popen(
            [sys.executable, str(MANAGER), str(log), *options],
            env={**os.environ, 'ROS_DOMAIN_ID': str(self.ros.domain)},
        )
        self.managers.append((process, log))

    def kill_manager(self):
        process, _ = self.managers[-1]
        process.send_signal(signal.SIGKILL)
        process.wait()

    def cycles(self):
        """Return the lines of the newest manager, whole ones."""
        text = self.managers[-1][1].read_text()
        return [json.loads(line) for line in text[: text.rfind('\n') + 1].splitlines()]

    def moving(self):
        """Return the lines since the robot moves."""
        lines = self.cycles()
        seen = [line for line in lines if line[2] is not None]
        moved = [k for k, line in enumerate(seen) if line[2] != seen[0][2]]
        return seen[moved[0] :] if moved else []

    def until_moving(self, count):
        def there():
            lines = self.moving()
            return lines if len(lines) >= count else None

        def seen():
            manager, lines = self.managers[-1][0].poll(), self.cycles()
            return (
                f'{count} cycles in motion; the manager has {len(lines)} cycles, of them '
                f'{len(self.moving())} in motion, exit code {manager}; last {lines[-3:]}'
            )

        return self.ros.until(there, seen)

    def close(self):
        for process, _ in self.managers:
            process.kill()
            process.wait()
        self.process.stop()
        self.ros.processes.remove(self.process)


@pytest.fixture
def rig(ros, tmp_path):
    rigs = []

    def make(**parameters):
        folder = tmp_path / str(len(rigs))
        folder.mkdir()
        rigs.append(Rig(ros, folder, **parameters))
        return rigs[-1]

    yield make
    for each in rigs[-1:]:
        each.close()


def test_each_period_is_one_cycle_and_the_motion_does_not_depend_on_delays(rig):
    first = rig(lockstep_timeout=0.0)
    first.start_simulator()
    first.start_manager()
    seen = first.until_moving(200)[:200]
    first.close()
    second = rig(lockstep_timeout=0.0)
    second.start_manager('--slow', '0.002')
    second.start_simulator()
    again = second.until_moving(200)[:200]
    second.close()
    third = rig(lockstep_timeout=0.0)
    third.start_simulator()
    third.start_manager('--late', '0.15')  # longer than a period takes before there are commands
    late = third.until_moving(200)[:200]
    for lines in (seen, again, late):
        times = [line[0] for line in lines]
        assert times == [times[0] + k * PERIOD for k in range(200)]
        assert {line[1] for line in lines[1:]} == {PERIOD}
    assert [line[2] for line in seen] == [line[2] for line in again] == [line[2] for line in late]
    assert seen[-1][2] != seen[0][2]


def test_before_a_controller_is_active_the_robot_is_held_and_time_continues(rig):
    """Also with an initial_command that would let it fall."""
    arm = rig(initial_command='zero')
    arm.start_simulator()
    arm.ros.until_status('the robot is held', 'lockstep', WARN, arm.since)
    arm.start_manager()
    arm.until_moving(20)
    before = [line[2] for line in arm.cycles() if not line[3]]
    assert len(before) >= 6 and all(each in (None, START) for each in before)
    arm.ros.until_status('a command for each period', 'lockstep', OK, arm.since)


def test_a_manager_that_is_killed_is_replaced_where_the_robot_is(rig):
    arm = rig(lockstep_timeout=0.2)
    arm.start_simulator()
    arm.start_manager()
    arm.until_moving(50)
    since = arm.ros.mark()
    arm.kill_manager()
    arm.ros.until_status('the robot is held', 'lockstep', WARN, since)
    since = arm.ros.mark()
    arm.start_manager()
    lines = arm.until_moving(50)[:50]
    held = {tuple(line[2]) for line in arm.cycles() if not line[3] and line[2]}
    assert len(held) == 1 and held != {tuple(START)}
    times = [line[0] for line in lines]
    assert times == [times[0] + k * PERIOD for k in range(50)]
    arm.ros.until_status('a command for each period', 'lockstep', OK, since)


def test_a_missed_wake_up_pauses_steps_and_resets_cost_no_period(rig):
    arm = rig(start_time=1.0)
    arm.start_simulator()
    arm.start_manager('--miss', '15000')
    arm.until_moving(50)
    arm.ros.until(lambda: arm.cycles()[-1][0] > 15.1e9, 'the time after a missed wake-up')
    for paused in (True, False):
        call = SetBool.Request(data=paused)
        assert arm.ros.call(SetBool, '/simulator/pause', call).success
        if paused:
            for _ in range(25):  # more than two periods
                assert arm.ros.call(Trigger, '/simulator/step', Trigger.Request()).success
        arm.ros.spin(0.3)
    for _ in range(3):
        arm.until_moving(len(arm.moving()) + 50)
        assert arm.ros.call(Trigger, '/simulator/reset', Trigger.Request()).success
    lines = arm.until_moving(len(arm.moving()) + 50)
    assert START in [line[2] for line in lines]
    times = [line[0] for line in lines]
    assert {b - a for a, b in zip(times, times[1:])} == {PERIOD}


class NoTopics:
    """Ports that have the commands which they are given, and nothing else."""

    def __init__(self):
        self.commands, self.published = [], []
        self.take_by_order = self.take_accelerations = self.take_wrench = lambda: None
        self.send_state = self.send_base = lambda *_: None

    def take_by_name(self):
        return (self.commands.pop(0), None) if self.commands else None

    def send_clock(self, data):
        self.published.append(stamp_of(data))


def test_a_period_whose_command_is_nan_or_nothing_is_one_without_motion():
    ports, held, clock = NoTopics(), [], ClockWriter()
    receipts = SimpleNamespace(ask=lambda all_nodes: None, wait=lambda seconds: True)
    report = SimpleNamespace(condition=lambda *_, **__: None)
    manager = ManagerPorts(ports, PERIOD, lambda _: None, report, lambda: 1.0, receipts)
    manager.hold = lambda: held.append(ports.published[-1] // PERIOD)
    writer = JointStateWriter(['shoulder', 'elbow'], ['effort'])
    periods = [1.0, math.nan], [2.0, 3.0], [math.nan] * 2, [], [0.0, 0.0], [0.0, 0.0]
    for k, effort in enumerate(periods, 1):
        clock.set_stamp_ns(k * PERIOD)
        manager.send_clock(clock.data())
        if effort:
            writer.effort[:] = effort
            ports.commands.append(bytes(writer.data()))
        until(manager.ready, f'period {k}', lambda: None)
        assert manager.take_by_name() is not None or not effort
    assert ports.published == [k * PERIOD for k in range(1, 7)]
    # The first command after others than commands may be a late one.
    assert held == [1, 3, 4, 5] and manager.held_periods == 4


def test_a_period_without_a_command_is_reported_with_the_cure():
    """A manager that waits for the time of a simulator that is gone sends nothing."""
    ports, clock, said = NoTopics(), ClockWriter(), []
    receipts = SimpleNamespace(ask=lambda all_nodes: None, wait=lambda seconds: True)
    report = SimpleNamespace(condition=lambda subject, level, text, **_: said.append(text))
    manager = ManagerPorts(ports, PERIOD, lambda _: None, report, lambda: 0.1, receipts)
    writer = JointStateWriter(['shoulder', 'elbow'], ['effort'])
    writer.effort[:] = math.nan
    for k, answers in enumerate((False, True), 1):
        clock.set_stamp_ns(k * PERIOD)
        manager.send_clock(clock.data())
        if answers:
            ports.commands.append(bytes(writer.data()))
        until(manager.ready, f'period {k}', lambda: None)
        assert 'that a controller is active' in said[-1] if answers else 'start_time' in said[-1]


def test_a_manager_that_is_killed_before_it_takes_a_state_stops_no_time():
    ports, clock, alive = NoTopics(), ClockWriter(), [True]
    receipts = SimpleNamespace(ask=lambda all_nodes: None, wait=lambda seconds: alive[0])
    report = SimpleNamespace(condition=lambda *_, **__: None)
    manager = ManagerPorts(ports, PERIOD, lambda _: None, report, lambda: 0.1, receipts)
    writer = JointStateWriter(['shoulder', 'elbow'], ['effort'])
    for k in (1, 2, 3, 4):
        clock.set_stamp_ns(k * PERIOD)
        if k == 3:
            alive[0] = False
        manager.send_clock(clock.data())
        if k < 3:
            ports.commands.append(bytes(writer.data()))
        until(manager.ready, f'period {k}', lambda: None, ceiling=10.0)
        assert manager.ready()  # for the other cycles of the period
    assert ports.published == [k * PERIOD for k in (1, 2, 3, 4)] and manager.held_periods == 3


def test_a_busy_manager_has_half_of_the_settling_time_to_take_a_state():
    """Or it would never be known to do so, and not be waited for afterwards."""
    ports, clock, asked = NoTopics(), ClockWriter(), []
    receipts = SimpleNamespace(
        ask=lambda all_nodes: asked.append(perf_counter()),
        wait=lambda seconds: perf_counter() - asked[-1] > 3 * PACE / 2,
    )
    report = SimpleNamespace(condition=lambda *_, **__: None)
    manager = ManagerPorts(ports, PERIOD, lambda _: None, report, lambda: 1.0, receipts)
    writer = JointStateWriter(['shoulder', 'elbow'], ['effort'])
    published_after = []
    for k in (1, 2):
        clock.set_stamp_ns(k * PERIOD)
        manager.send_clock(clock.data())
        until(lambda k=k: manager.ready() or len(ports.published) == k, f'time {k}', lambda: None)
        published_after.append(perf_counter() - asked[-1])
        ports.commands.append(bytes(writer.data()))
        until(manager.ready, f'period {k}', lambda: None)
    assert published_after[1] > 3 * PACE / 2


@pytest.mark.parametrize('by', ['reset', 'steps'])
def test_a_skipped_period_waits_for_the_period_under_way(by):
    """Or a manager that has not woken up yet at one time loses it to the next."""
    ports, clock = NoTopics(), ClockWriter()
    receipts = SimpleNamespace(ask=lambda all_nodes: None, wait=lambda seconds: True)
    report = SimpleNamespace(condition=lambda *_, **__: None)
    manager = ManagerPorts(ports, PERIOD, lambda _: None, report, lambda: 1.0, receipts)
    writer = JointStateWriter(['shoulder', 'elbow'], ['effort'])
    answer = bytes(writer.data())

    def begin(k):
        clock.set_stamp_ns(k * PERIOD)
        manager.send_state(bytes(clock.data()))
        manager.send_clock(bytes(clock.data()))

    for k in (1, 2, 3):
        begin(k)
        ports.commands.append(answer)
        until(manager.ready, f'period {k}', lambda: None)
    begin(4)
    assert manager.waiting
    answered_at = []

    def wake_up():
        answered_at.append(perf_counter())
        ports.commands.append(answer)

    threading.Timer(0.2, wake_up).start()
    if by == 'steps':
        manager.take_by_order()
        assert manager.take_by_name() is not None
    begin(5)
    assert answered_at and ports.published == [k * PERIOD for k in (1, 2, 3, 4, 5)]
    held = manager.held_periods
    begin(6)  # without an answer, in bounded time
    assert manager.held_periods == held + 1 and ports.published[-1] == 6 * PERIOD


def test_rates_that_cannot_be_are_rejected():
    defaults = {each.name: each.default for each in INTERFACE.parameters}
    for changes, words in (
        ({'lockstep_update_rate': 300}, 'use an update_rate of 250 Hz'),
        ({'lockstep_update_rate': 100, 'lockstep': 'stamp'}, 'needs lockstep order'),
        ({'lockstep_update_rate': 100, 'clock_publish_rate': 0.0}, 'cycles by /clock'),
    ):
        with pytest.raises(ValueError, match=words):
            check_simulator_parameters({**defaults, 'lockstep': 'order', **changes})
