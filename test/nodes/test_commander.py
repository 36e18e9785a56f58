# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Sending of torques: allowed values and times, without ROS."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from support import outside

outside.load('rclpy')

from rbd_ros.control import TorqueLimiter
from rbd_ros.nodes.torque.commander import Commander

TORQUE = np.array([3.0, -4.0])


class Sent(list):
    """Stands for the output: the torques that were published."""

    def __init__(self):
        self._torque = np.zeros(2)
        self.places = np.arange(2), np.zeros(1, np.int64), self._torque, np.zeros(0)

    def send(self, last=False):
        self.append(tuple(self._torque))


class Law:
    """A law that always wants the same torque."""

    def __call__(self, *state):
        return TORQUE

    def set_applied_torque(self, torque):
        """Remember nothing."""


@pytest.fixture
def sent():
    return Sent()


@pytest.fixture
def commander(sent):
    return Commander(sent, TorqueLimiter(np.array([40.0, 15.0])), compiled=False)


def answer(commander):
    state = SimpleNamespace(q=TORQUE, v=TORQUE, dt=0.0, stamp=0)
    return commander.answer(Law(), state, (TORQUE, TORQUE, TORQUE))


def finish(commander, torque, **options):
    return commander.finish(np.array(torque), lambda: 0, threading.Event(), **options)


def test_torques_are_sent_until_it_is_closed_and_when_it_is_open_again(commander, sent):
    assert answer(commander) is not None
    assert sent == [tuple(TORQUE)] and commander.commanding and commander.has_sent
    commander.close()
    assert answer(commander) is None  # a state that was under way
    assert not finish(commander, (0.0, 0.0))  # that of a watchdog
    assert len(sent) == commander.sent == 1
    assert finish(commander, (0.0, 0.0), final=True)
    assert sent[1:] == [(0.0, 0.0)] and not commander.commanding
    commander.open()
    assert answer(commander) is not None
    assert len(sent) == 3 and commander.commanding


def test_at_rest_no_torque_stands_for_which_it_would_have_to_answer(commander):
    answer(commander)
    commander.mark_idle()
    assert not commander.commanding and not commander.has_sent
    answer(commander)
    assert commander.commanding and commander.has_sent


def test_a_superseded_last_torque_is_not_sent(commander, sent):
    answer(commander)
    commander.close()
    assert not finish(commander, (0.0, 0.0), final=True, is_superseded=lambda: True)
    assert len(sent) == 1 and commander.commanding
