"""The simulator's loop without ROS: deadlines, pauses, requests, failures."""

import threading
import time

import pytest
from support import outside

outside.load('rclpy')

from rbd_ros.nodes.simulator_loop import SimulationLoop

LIMIT = 20.0


class Plant:
    """Counts what the loop does."""

    def __init__(self, **options):
        self.cycles = self.idles = 0
        self.failures = []
        self.work = lambda: None
        self.loop = SimulationLoop(0.001, self.cycle, self.idle, self.failures.append, **options)
        self.loop.start()

    def cycle(self):
        self.work()
        self.cycles += 1

    def idle(self):
        self.idles += 1

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
    assert plant.loop.request(lambda: plant.loop.run_cycles(7)) == 7
    assert plant.cycles == 7
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


def test_stopping_ends_a_long_run(make):
    plant = make(paused=True)
    plant.work = lambda: time.sleep(0.001)
    results = []
    thread = threading.Thread(
        target=lambda: results.append(
            plant.loop.request(lambda: plant.loop.run_cycles(10**6), None)
        )
    )
    thread.start()
    plant.until(lambda: plant.cycles > 5)
    plant.loop.stop()
    thread.join(LIMIT)
    assert results and results[0] < 10**6
