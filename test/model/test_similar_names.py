# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Messages on unknown names suggest similar ones."""

import pytest

from rbd_ros import Robot, Simulator
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model.errors import did_you_mean, similar_names, unknown_name


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(resource_path('urdf/six_axis_arm.urdf'))


@pytest.mark.parametrize(
    ('call', 'message'),
    [
        (lambda r: r.frame('tol0'), "unknown link or joint 'tol0'; did you mean 'tool0'"),
        (lambda r: r.frame('tool0', 'alined'), "reference 'alined'; did you mean 'aligned'"),
        (lambda r: r.without_link('forarm_link'), "'forarm_link'; did you mean 'forearm_link'"),
        (lambda r: r.with_payload('tol0', 1.0), "unknown link 'tol0'; did you mean 'tool0'"),
        (lambda r: r.with_joints_locked({'elbow': 0.0}), "'elbow'; did you mean 'elbow_joint'"),
        (lambda r: r.hybrid.partition(['elbow']), "joint 'elbow'; did you mean 'elbow_joint'"),
        (lambda r: r.function('gravity_torqe'), "'gravity_torqe'; did you mean 'gravity_torque'"),
        (
            lambda r: r.kernel('jacobian', frame='tool0', refrence='base'),
            "did you mean 'reference'",
        ),
        (lambda r: r.jacobian([0.0] * 6, 'tol0'), "did you mean 'tool0'"),
        (
            lambda r: r.bias_force([0.0] * 6, [0.0] * 6, {'tol0': [0.0] * 6}),
            "unknown link 'tol0'; did you mean 'tool0'",
        ),
        (lambda r: Simulator(r, integrator='midpont'), "'midpont'; did you mean 'midpoint'"),
    ],
)
def test_an_unknown_name_is_rejected_with_similar_ones(robot, call, message):
    with pytest.raises(ValueError, match=message):
        call(robot)


def test_without_similar_names_all_are_listed():
    assert unknown_name('link', 'x', ['base', 'tool']) == "unknown link 'x'; there are base, tool"
    assert unknown_name('link', 7, ['base']) == 'unknown link 7; there are base'
    assert did_you_mean([]) == ''


def test_names_of_any_length_are_compared_by_their_beginnings():
    long = 'a' * 100_000
    assert similar_names('a' * 99_999, [long, 'b']) == [long]
