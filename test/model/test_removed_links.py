# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot with a removed link moves as if that link and its children had never existed."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.errors import relative_error
from support.urdf_text import inertial, joint, LIMIT, link, robot as urdf

from rbd_ros import ModelError, Robot

SHAPE = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
MIMIC = '<mimic joint="left" multiplier="-2" offset="0.25"/>'
MASS = inertial('2', (1, 0, 0, 1, 0, 1))
ORIGIN = '<origin xyz="0.3 0.1 0.2" rpy="0.1 0.5 -0.4"/>'

#: A trunk with two branches; a fixed sensor on one of them.
TRUNK = (*(link(name, MASS + SHAPE) for name in ('base', 'trunk')), joint('turn', 'base', 'trunk'))
LEFT = (
    *(link(name, MASS + SHAPE) for name in ('arm', 'sensor', 'hand')),
    joint('left', 'trunk', 'arm', inside=ORIGIN + LIMIT),
    joint('mount', 'arm', 'sensor', 'fixed', ORIGIN),
    joint('wrist', 'sensor', 'hand', inside=ORIGIN + LIMIT, axis='1 0 0'),
)
RIGHT = (
    link('leg', MASS),
    joint('right', 'trunk', 'leg', inside=ORIGIN + LIMIT, axis='0 1 0'),
)


@pytest.mark.parametrize('elements', [(*LEFT, *RIGHT), (*RIGHT, *LEFT)], ids=['first', 'last'])
def test_the_rest_is_the_robot_that_never_had_the_link(elements):
    rest = Robot.from_urdf(urdf(*TRUNK, *elements)).without_link('arm')
    never = Robot.from_urdf(urdf(*TRUNK, *RIGHT))
    assert rest.link_names == never.link_names and rest.joint_names == never.joint_names
    assert set(rest.model.joint_frames) == {'turn', 'right'}
    assert [each.link for each in rest.model.geometries] == ['base', 'trunk']
    q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    assert relative_error(rest.inverse_dynamics(q, v, a), never.inverse_dynamics(q, v, a)) < 1e-14


def test_a_link_behind_a_fixed_joint_leaves_its_body_with_less_mass():
    whole = Robot.from_urdf(urdf(*TRUNK, *LEFT, *RIGHT))
    rest = whole.without_link('sensor')
    assert rest.joint_names == ('turn', 'left', 'right')
    assert [body.inertia.mass for body in rest.model.bodies] == [2.0, 2.0, 2.0]
    q = [0.1, -0.4, 0.3]
    assert_allclose(
        rest.frame('leg').pose(q), whole.frame('leg').pose([0.1, -0.4, 0.0, 0.3]), atol=1e-15
    )


def test_loops_over_the_link_go_with_it():
    linkage = Robot.from_urdf('urdf/four_bar.urdf', extension='config/four_bar.yaml')
    assert linkage.model.loops and not linkage.without_link('rocker').model.loops


def test_a_link_that_others_need_is_kept():
    follower = joint('right', 'trunk', 'leg', inside=LIMIT + MIMIC)
    followed = urdf(*TRUNK, *LEFT, link('leg'), follower)
    with pytest.raises(ModelError, match="'right' mimics 'left', which link 'arm' carries"):
        Robot.from_urdf(followed).without_link('arm')
    assert Robot.from_urdf(followed).without_link('leg').joint_names == ('turn', 'left', 'wrist')
    with pytest.raises(ModelError, match="'base' is not joined to a parent link"):
        Robot.from_urdf(followed).without_link('base')
    with pytest.raises(ValueError, match="'arn'.*arm"):
        Robot.from_urdf(followed).without_link('arn')
