# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The simulator's loop without ROS: deadlines, pauses, requests, failures."""

import threading
import time

import pytest
from support import outside
from support.waiting import CEILING, until

outside.load('rclpy')

from rbd_ros.nodes.simulator.cycle import simulation_loop
from rbd_ros.nodes.simulator.cycle.simulation_loop import SimulationLoop


class Plant:
    """Counts what the loop does."""

    def __init__(self, **options):
        self.cycles = self.idles = self.shown = 0
        self.failures = []
        self.work = lambda: None
        self.loop = SimulationLoop(
            0.001, self.cycle, self.idle, self.stepped, self.failures.append, **options
        )
        self.loop.start()

    def cycle(self):
        self.work()
        self.cycles += 1

    def idle(self):
        self.idles += 1

    def stepped(self):
        self.shown += 1

    def until(self, condition):
        until(condition, meanwhile=lambda: time.sleep(0.001))


class Clock:
    """Clock of the loop, which only its own sleeping moves on."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        time.sleep(0.0)  # the test goes on


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(simulation_loop, 'monotonic', clock.monotonic)
    monkeypatch.setattr(simulation_loop, 'sleep', clock.sleep)
    return clock


@pytest.fixture
def make():
    plants = []

    def make_plant(**options):
        plants.append(Plant(**options))
        return plants[-1]

    yield make_plant
    for plant in plants:
        plant.loop.stop()


def test_cycles_follow_the_clock(make, clock):
    plant = make()
    plant.until(lambda: plant.cycles >= 500)
    plant.loop.stop()
    assert clock.now == pytest.approx(1e-3 * (plant.cycles - 1), abs=1.1e-3)
    assert plant.cycles == plant.loop.cycles
    assert plant.loop.overruns == 0


def test_a_slow_factor_can_be_changed_without_waiting_for_the_far_deadline(make):
    plant = make(real_time_factor=1e-6)  # a cycle in 1000 s
    plant.until(lambda: plant.cycles == 1)
    plant.loop.real_time_factor = 1.0
    plant.until(lambda: plant.cycles > 10)


def test_factor_zero_does_not_wait(make):
    plant = make(real_time_factor=0.0)
    plant.until(lambda: plant.cycles > 20_000)
    assert plant.loop.overruns == 0


@pytest.mark.parametrize('rate', [1.2, 2.0])
def test_a_late_cycle_is_counted_and_made_good_at_a_bounded_rate(make, clock, rate):
    plant = make()
    plant.loop.catch_up_rate = rate
    begun = []
    plant.work = lambda: begun.append(clock.now)
    plant.loop.request(lambda: clock.sleep(0.05))
    done = plant.cycles
    plant.until(lambda: plant.cycles > done + 500)
    plant.loop.stop()
    gaps = [b - a for a, b in zip(begun, begun[1:])]
    assert min(gaps) == pytest.approx(1e-3 / rate, rel=1e-6)
    assert plant.loop.overruns == 1 and plant.loop.lost_time == 0.0
    # Nothing is lost in the end, but a part of the last period.
    assert clock.now == pytest.approx(1e-3 * (plant.cycles - 1), abs=1.1e-3)


def test_with_a_rate_of_one_a_late_cycle_moves_the_schedule(make, clock):
    plant = make()
    begun = []
    plant.work = lambda: begun.append(clock.now)
    plant.loop.request(lambda: clock.sleep(0.05))
    done = plant.cycles
    plant.until(lambda: plant.cycles > done + 100)
    plant.loop.stop()
    assert min(b - a for a, b in zip(begun, begun[1:])) == pytest.approx(1e-3, rel=1e-6)
    assert plant.loop.overruns == 1
    assert plant.loop.lost_time == pytest.approx(0.05, abs=1.1e-3)


def test_a_rate_that_becomes_one_ends_the_making_good(make, clock):
    plant = make()
    plant.loop.catch_up_rate = 1.2

    def late():
        clock.sleep(0.05)
        plant.work = lambda: setattr(plant.loop, 'catch_up_rate', 1.0)

    plant.loop.request(late)
    done = plant.cycles
    plant.until(lambda: plant.cycles > done + 100)
    assert plant.loop.lost_time == pytest.approx(0.05, abs=1.5e-3)


def test_a_long_lag_is_not_caught_up(make, clock):
    plant = make()
    plant.loop.catch_up_rate = 1.2
    plant.loop.request(lambda: clock.sleep(0.3))
    plant.until(lambda: plant.loop.lost_time)
    assert plant.loop.lost_time == pytest.approx(0.3, abs=2e-3)


def test_a_paused_loop_does_nothing_but_idle_and_answer(make):
    plant = make(paused=True)
    plant.until(lambda: plant.idles > 2)
    assert plant.cycles == 0
    steps = plant.loop.request(lambda: plant.loop.begin_steps(7))
    assert steps.finished.wait(CEILING)
    assert plant.cycles == 7 and plant.shown == 1 and not steps.left
    plant.loop.request(lambda: plant.loop.set_paused(False))
    plant.until(lambda: plant.cycles > 10)


def test_requests_are_done_between_cycles_and_return_or_raise(make):
    plant = make()
    seen = set()
    plant.work = lambda: seen.add(threading.current_thread().name)
    assert plant.loop.request(lambda: threading.current_thread().name) == 'simulation'
    with pytest.raises(ZeroDivisionError):
        plant.loop.request(lambda: 1 / 0)
    plant.until(lambda: seen == {'simulation'})


def test_an_unfinished_request_returns_a_timeout(make):
    plant = make()
    begun, go_on = threading.Event(), threading.Event()
    long = threading.Thread(
        target=lambda: plant.loop.request(lambda: begun.set() or go_on.wait(), timeout=None)
    )
    long.start()
    assert begun.wait(CEILING)
    with pytest.raises(TimeoutError):
        plant.loop.request(lambda: None, timeout=0.01)
    go_on.set()
    long.join()


def test_a_failing_cycle_pauses_the_loop_and_is_reported(make):
    plant = make()

    def fail():
        raise FloatingPointError('joint elbow')

    plant.work = fail
    plant.until(lambda: plant.failures)
    assert plant.loop.paused
    plant.work = lambda: None
    plant.loop.request(lambda: plant.loop.set_paused(False))
    plant.until(lambda: plant.cycles > 10)


def begin_long(plant):
    plant.work = lambda: time.sleep(0.001)
    steps = plant.loop.request(lambda: plant.loop.begin_steps(10**6))
    plant.until(lambda: plant.cycles > 5)
    return steps


def test_requests_are_served_while_steps_are_done(make):
    plant = make(paused=True)
    steps = begin_long(plant)
    assert plant.loop.request(lambda: 'answer', timeout=CEILING) == 'answer'
    assert plant.loop.stepping and not steps.finished.is_set()
    with pytest.raises(RuntimeError, match='other steps are running'):
        plant.loop.request(lambda: plant.loop.begin_steps(1))


@pytest.mark.parametrize('paused', [True, False])
def test_pausing_or_going_on_ends_a_long_run(make, paused):
    plant = make(paused=True)
    steps = begin_long(plant)
    plant.loop.request(lambda: plant.loop.set_paused(paused))
    assert steps.finished.wait(CEILING)
    assert steps.canceled_by == '~/pause' and steps.left
    assert plant.loop.paused == paused


def test_stopping_ends_a_long_run(make):
    plant = make(paused=True)
    steps = begin_long(plant)
    plant.loop.stop()
    assert steps.finished.wait(CEILING)
    assert steps.left and steps.canceled_by


def test_a_failing_step_ends_the_run_and_is_reported(make):
    plant = make(paused=True)
    steps = begin_long(plant)

    def fail():
        raise FloatingPointError('joint elbow')

    plant.work = fail
    assert steps.finished.wait(CEILING)
    assert 'elbow' in str(steps.error) and plant.failures and plant.loop.paused
    plant.work = lambda: None
    again = plant.loop.request(lambda: plant.loop.begin_steps(3))
    assert again.finished.wait(CEILING) and not again.left


def test_a_resume_that_takes_long_is_not_an_over_run(make, clock):
    plant = make(paused=True)

    def resume():
        plant.loop.set_paused(False)
        clock.sleep(0.5)  # far longer than publishing a large world

    before = plant.loop.interruptions
    plant.loop.request(resume)
    plant.until(lambda: plant.cycles > 3)
    assert plant.loop.overruns == 0 and plant.loop.lost_time == 0.0
    assert plant.loop.interruptions == before + 1


def test_a_waiting_loop_runs_one_cycle_for_each_answer(make):
    answers = []
    plant = make(ready=lambda: bool(answers and answers.pop()) or time.sleep(0.001))
    answers.extend([True] * 5)
    plant.until(lambda: not answers)
    assert plant.loop.request(lambda: 'answer') == 'answer'
    assert plant.cycles == 5 and plant.loop.overruns == 0
    plant.loop.request(lambda: plant.loop.set_paused(True))
    answers.append(True)
    steps = plant.loop.request(lambda: plant.loop.begin_steps(3))  # without waiting clients
    assert steps.finished.wait(CEILING)
    assert plant.cycles == 8 and answers


def test_a_wait_that_fails_pauses_the_loop_and_is_reported(make):
    plant = make(ready=lambda: 1 / 0)
    plant.until(lambda: plant.failures)
    assert plant.loop.paused and plant.cycles == 0
    assert plant.loop.request(lambda: 'answer') == 'answer'


@pytest.mark.parametrize('where', ['cycle', 'steps', 'ready'])
def test_an_error_while_the_loop_is_stopping_is_not_a_failure(make, where):
    """The end of the node destroys what cycles publish to and wait for."""
    begun = threading.Event()

    def fail():
        begun.set()
        until(lambda: plant.loop._stopping, meanwhile=lambda: time.sleep(0.001))
        raise RuntimeError('the publisher is destroyed')

    plant = make(paused=True, ready=fail if where == 'ready' else None)
    if where == 'steps':
        plant.work = fail
        steps = plant.loop.request(lambda: plant.loop.begin_steps(3))
    else:
        plant.work = fail
        plant.loop.request(lambda: plant.loop.set_paused(False))
    assert begun.wait(CEILING)
    plant.loop.stop()
    assert not plant.loop._thread.is_alive() and not plant.failures
    if where == 'steps':
        assert steps.finished.is_set() and steps.error is None
        assert steps.canceled_by == 'the end of the node'
