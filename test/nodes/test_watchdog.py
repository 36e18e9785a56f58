# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The watchdog of the torque nodes, in a separate thread; only timeouts depend on the clock."""

import threading
import time

import pytest
from support.waiting import CEILING

from rbd_ros.nodes.torque.watchdog import Watchdog


class Dog:
    """A watchdog that counts how often it found that it had not been fed."""

    def __init__(self, timeout, raises=0, **options):
        self.times, self._raises, self._bark = 0, raises, threading.Event()
        self.watchdog = Watchdog(timeout, self._expired, **options)
        self.watchdog.start()

    def _expired(self):
        self.times += 1
        if self.times > self._raises:
            self._bark.set()
        else:
            raise RuntimeError

    def barks(self):
        return self._bark.wait(CEILING)


@pytest.fixture
def watch():
    dogs = []

    def make(*arguments, **options):
        dogs.append(Dog(*arguments, **options))
        return dogs[-1]

    yield make
    for dog in dogs:
        dog.watchdog.stop()


def test_a_watchdog_reports_starvation_once(watch):
    dog = watch(0.02)
    dog.watchdog.feed(time.monotonic())
    assert dog.barks()
    assert dog.watchdog.fired
    time.sleep(0.2)
    assert dog.times == 1


def test_fed_again_it_watches_again(watch):
    dog = watch(0.02)
    for times in (1, 2, 3):
        dog._bark.clear()
        dog.watchdog.feed(time.monotonic())
        assert dog.barks()
        assert dog.times == times


def test_before_the_first_meal_there_is_nothing_to_watch(watch):
    dog = watch(0.01)
    time.sleep(0.2)
    assert dog.times == 0


def test_well_fed_it_is_quiet(watch):
    dog = watch(2.0)
    for _ in range(50):
        dog.watchdog.feed(time.monotonic())
        time.sleep(0.005)
    assert dog.times == 0
    assert not dog.watchdog.interrupted(time.monotonic(), 10.0)


def test_one_that_fails_to_react_is_notified_again(watch):
    dog = watch(0.01, raises=3)
    dog.watchdog.feed(time.monotonic())
    assert dog.barks()
    assert dog.times == 4


def test_simulated_time_must_have_passed_as_well(watch):
    now = [5.0]
    dog = watch(0.02, simulated_time=lambda: now[0])
    dog.watchdog.feed(time.monotonic())
    time.sleep(0.3)
    assert dog.times == 0
    now[0] += 1.0
    assert dog.barks()


def test_a_wait_for_paused_simulated_time_ends(watch):
    dog = watch(0.05, simulated_time=lambda: 5.0)
    dog.watchdog.feed(time.monotonic())
    assert dog.barks()


def test_a_watchdog_without_a_timeout_never_reports(watch):
    dog = watch(0.0)
    dog.watchdog.feed(time.monotonic() - 100.0)
    time.sleep(0.1)
    assert dog.times == 0
    assert not dog.watchdog.interrupted(time.monotonic(), 100.0)


def test_an_unnoticed_gap_counts_as_one(watch):
    watchdog = Watchdog(0.1, lambda: None)  # never started
    watchdog.feed(10.0)
    assert not watchdog.interrupted(10.05, 0.05)
    assert watchdog.interrupted(10.2, 0.2)
