"""The simulator's loop without ROS: deadlines, pauses, requests, failures."""

import threading
import time

import pytest
from support import outside

outside.load('rclpy')

from rbd_ros.nodes.simulator.loop import SimulationLoop

LIMIT = 20.0


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
        end = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < end
            time.sleep(0.001)


@pytest.fixture
def make():
    plants = []

    def make_plant(**options):
        plants.append(Plant(**options))
        return plants[-1]

    yield make_plant
    for plant in plants:
        plant.loop.stop()


def test_cycles_follow_real_time_on_average(make):
    begin, plant = time.monotonic(), make()
    plant.until(lambda: plant.cycles >= 500)
    assert time.monotonic() - begin >= 0.499
    assert plant.cycles == pytest.approx(plant.loop.cycles, abs=1)


def test_a_slow_factor_can_be_changed_without_waiting_for_the_far_deadline(make):
    plant = make(real_time_factor=1e-6)  # a cycle in 1000 s
    plant.until(lambda: plant.cycles == 1)
    plant.loop.real_time_factor = 1.0
    plant.until(lambda: plant.cycles > 10)


def test_factor_zero_does_not_wait(make):
    plant = make(real_time_factor=0.0)
    begin = time.monotonic()
    plant.until(lambda: plant.cycles > 20_000)
    assert time.monotonic() - begin < LIMIT
    assert plant.loop.overruns == 0


def test_late_cycles_are_counted_and_a_long_lag_is_given_up(make):
    plant = make()
    plant.loop.request(lambda: time.sleep(0.05))
    plant.until(lambda: plant.loop.overruns > 10)
    assert plant.loop.lost_time == 0.0
    plant.loop.request(lambda: time.sleep(0.3))
    plant.until(lambda: plant.loop.lost_time > 0.2)


def test_a_paused_loop_does_nothing_but_idle_and_answer(make):
    plant = make(paused=True)
    plant.until(lambda: plant.idles > 2)
    assert plant.cycles == 0
    steps = plant.loop.request(lambda: plant.loop.begin_steps(7))
    assert steps.finished.wait(LIMIT)
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


def test_a_request_that_is_not_done_in_time_says_so(make):
    plant = make()
    threading.Thread(target=lambda: plant.loop.request(lambda: time.sleep(0.3))).start()
    time.sleep(0.05)
    with pytest.raises(TimeoutError):
        plant.loop.request(lambda: None, timeout=0.01)


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
    assert plant.loop.request(lambda: 'answer', timeout=LIMIT) == 'answer'
    assert plant.loop.stepping and not steps.finished.is_set()
    with pytest.raises(RuntimeError, match='under way'):
        plant.loop.request(lambda: plant.loop.begin_steps(1))


@pytest.mark.parametrize('paused', [True, False])
def test_pausing_or_going_on_ends_a_long_run(make, paused):
    plant = make(paused=True)
    steps = begin_long(plant)
    plant.loop.request(lambda: plant.loop.set_paused(paused))
    assert steps.finished.wait(LIMIT)
    assert steps.cancelled_by == '~/pause' and steps.left
    assert plant.loop.paused == paused


def test_stopping_ends_a_long_run(make):
    plant = make(paused=True)
    steps = begin_long(plant)
    plant.loop.stop()
    assert steps.finished.wait(LIMIT)
    assert steps.left and steps.cancelled_by


def test_a_failing_step_ends_the_run_and_is_reported(make):
    plant = make(paused=True)
    steps = begin_long(plant)

    def fail():
        raise FloatingPointError('joint elbow')

    plant.work = fail
    assert steps.finished.wait(LIMIT)
    assert 'elbow' in str(steps.error) and plant.failures and plant.loop.paused
    plant.work = lambda: None
    again = plant.loop.request(lambda: plant.loop.begin_steps(3))
    assert again.finished.wait(LIMIT) and not again.left


def test_a_resume_that_takes_long_is_no_over_run(make):
    plant = make(paused=True)

    def resume():
        plant.loop.set_paused(False)
        time.sleep(0.5)  # far longer than publishing a large world

    before = plant.loop.interruptions
    plant.loop.request(resume)
    plant.until(lambda: plant.cycles > 3)
    assert plant.loop.lost_time < 0.4 and plant.loop.interruptions == before + 1


def test_a_loop_that_waits_for_somebody_has_a_cycle_for_each_answer(make):
    answers = []
    plant = make(ready=lambda: bool(answers and answers.pop()) or time.sleep(0.001))
    answers.extend([True] * 5)
    plant.until(lambda: not answers)
    assert plant.loop.request(lambda: 'answer') == 'answer'
    assert plant.cycles == 5 and plant.loop.overruns == 0
    plant.loop.request(lambda: plant.loop.set_paused(True))
    answers.append(True)
    steps = plant.loop.request(lambda: plant.loop.begin_steps(3))  # which wait for nobody
    assert steps.finished.wait(LIMIT)
    assert plant.cycles == 8 and answers


def test_a_wait_that_fails_pauses_the_loop_and_is_reported(make):
    plant = make(ready=lambda: 1 / 0)
    plant.until(lambda: plant.failures)
    assert plant.loop.paused and plant.cycles == 0
    assert plant.loop.request(lambda: 'answer') == 'answer'
