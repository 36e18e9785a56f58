# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Errors of singular starts, and of loops that cannot be closed, with reason and cure."""

import numpy as np
import pytest
from support.simulated_robots import joint, link, robot

from rbd_ros import Simulator

BAR = 0.3


def wrist(looped):
    """Return a body on three axes through a point.

    With a loop, the world holds that point as well.
    """
    held = {'type': 'spherical', 'predecessor': {'frame': 'base'}, 'successor': {'frame': 'c'}}
    return robot(
        link('base'),
        link('a'),
        link('b'),
        link('c', 1.0, (0.02, 0.03, 0.04), (0, 0, 0.1)),
        joint('yaw', 'base', 'a', axis=(0, 0, 1)),
        joint('pitch', 'a', 'b', axis=(0, 1, 0)),
        joint('roll', 'b', 'c', axis=(0, 0, 1)),
        **({'extension': {'loops': {'held': held}}} if looped else {}),
    )


@pytest.mark.parametrize('looped', [False, True])
def test_gimbal_lock_is_named_as_the_cause(looped):
    """Where yaw and roll are about one axis, nothing moves with their difference."""
    simulator = Simulator(wrist(looped))
    assert any('singular at the start' in warning for warning in simulator.warnings)
    with pytest.raises(FloatingPointError) as caught:
        simulator.step([1.0, 0.0, -0.5])
    for words in ('mass matrix', "'yaw', 'roll'", 'singular', 'armature'):
        assert words in str(caught.value)
    assert 'not finite' not in str(caught.value)
    simulator.reset([0.3, 0.4, 0.0])
    assert not any('singular' in warning for warning in simulator.warnings)
    simulator.step(n=10)  # elsewhere it moves
    assert np.isfinite(simulator.q).all()


def test_gimbal_lock_but_for_rounding_is_reported_at_the_start():
    simulator = Simulator(wrist(False))
    simulator.reset([0.3, np.pi, 0.2])  # sin(pi) is 1e-16 here
    (warning,) = simulator.warnings
    assert "'yaw', 'roll'" in warning and 'singular at the start' in warning


def triangle(gap, kind):
    """Return two bars from the base that a pin connects.

    One of them `gap` beside the other's plane.
    """
    bars = [link(name, 1.0, (0.01,) * 3, (0.1, 0, 0)) for name in ('a', 'b')]
    joints = [
        joint('left', 'base', 'a', xyz=(-0.2, 0, 0)),
        joint('right', 'base', 'b', xyz=(0.2, gap, 0)),
    ]
    ends = {'predecessor': {'frame': 'a', 'xyz': [BAR, 0, 0]}}
    ends['successor'] = {'frame': 'b', 'xyz': [BAR, 0, 0]}
    pin = {'pin': {'type': kind, 'axis': [0, 1, 0], **ends}}
    return robot(link('base'), *bars, *joints, extension={'loops': pin})


def test_a_loop_open_by_rounding_is_rejected_with_the_cure():
    with pytest.raises(ValueError, match=r'pin.*open by 9e-08 .*fewer constraints'):
        triangle(9e-8, 'revolute')
    with pytest.raises(ValueError, match='open by 0.05') as caught:
        triangle(0.05, 'revolute')
    assert 'fewer constraints' not in str(caught.value)
    triangle(0.0, 'revolute')


def test_the_cure_is_one():
    simulator = Simulator(triangle(9e-8, 'cylindrical'))
    simulator.step(n=100)
    assert np.abs(simulator.loop_errors).max() < 1e-10
