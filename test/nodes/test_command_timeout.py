# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Drive of a joint after `command_timeout`, for each kind of last command."""

import math

import pytest
from support import outside

outside.load('rclpy')

from test_acceleration_commands import Rig

from rbd_ros.simulation.stepping.drives import (
    ACCELERATION,
    EFFORT,
    GRAVITY,
    POSITION,
    VELOCITY,
    ZERO,
)

STAND_IN = {'hold': POSITION, 'gravity': GRAVITY, 'zero': ZERO}


def commanded(kind):
    """Return the simulation whose joints have been commanded in one way, and move."""
    rig = Rig(initial_command='zero', initial_positions=[0.3, -0.4])
    if kind == 'acceleration':
        rig.accelerate(2.0, -1.0)
    elif kind != 'nothing':
        values = {'effort': [-5.0, 1.0], 'velocity': [0.5, -0.5], 'position': [0.1, 0.2]}
        rig.command(**{kind: values[kind]})
    for _ in range(20):
        rig.cycle.run()
    return rig


@pytest.mark.parametrize('action', STAND_IN)
@pytest.mark.parametrize(
    'kind, mode', [('effort', EFFORT), ('velocity', VELOCITY), ('acceleration', ACCELERATION)]
)
def test_an_endless_command_times_out(kind, mode, action):
    rig = commanded(kind)
    assert rig.modes == [mode, mode]
    drives, now = rig.commands.drives, rig.commands.drives.received.max()
    rig.commands.expire(now + 0.49, 0.5, action, rig.simulator.q)
    assert rig.modes == [mode, mode]
    q = rig.simulator.q
    rig.commands.expire(now + 0.51, 0.5, action, q)
    assert rig.modes == [STAND_IN[action]] * 2
    assert list(drives.position) == list(q) and list(drives.velocity) == [0.0, 0.0]
    assert all(math.isinf(at) for at in drives.received)  # and never grows old itself
    assert any(
        'no command for 0.5 s' in text and action in text for text in rig.reported.conditions
    )
    rig.command(effort=[1.0, 1.0])
    assert rig.modes == [EFFORT, EFFORT]


@pytest.mark.parametrize('action', STAND_IN)
def test_positions_are_kept(action):
    rig = commanded('position')
    now = rig.commands.drives.received.max()
    rig.commands.expire(now + 9.0, 0.5, action, rig.simulator.q)
    assert rig.modes == [POSITION, POSITION]
    assert list(rig.commands.drives.position) == [0.1, 0.2]


@pytest.mark.parametrize('action', STAND_IN)
def test_the_initial_substitute_has_no_timeout(action):
    rig = commanded('nothing')
    rig.commands.expire(1e12, 0.5, action, rig.simulator.q)
    assert rig.modes == [ZERO, ZERO]


def test_each_joint_has_its_own_age():
    rig = commanded('effort')
    drives = rig.commands.drives
    drives.received[1] += 1.0
    rig.commands.expire(drives.received[0] + 0.6, 0.5, 'gravity', rig.simulator.q)
    assert rig.modes == [GRAVITY, EFFORT]


def test_commands_do_not_grow_old_while_time_stands_still():
    rig = commanded('effort')
    rig.commands.refresh(rig.commands.drives.received.max() + 100.0)
    rig.commands.expire(rig.commands.drives.received.max() + 0.4, 0.5, 'zero', rig.simulator.q)
    assert rig.modes == [EFFORT, EFFORT]
