# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Base parameters and friction from recordings, consistent inertias of bodies, and their URDF."""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.stats import chi2
from support.recorded_motions import arm, recorded

from rbd_ros import Robot
from rbd_ros.control import payload_parameters
from rbd_ros.identification import (
    identify_base_parameters,
    identify_payload,
    patched_urdf,
    Recording,
    RecordingError,
)
from rbd_ros.identification.preparation import derivatives, LowPass
from rbd_ros.identification.robot_identification import with_extent
from rbd_ros.identification.urdf_patch import with_inertials
from rbd_ros.spatial import RigidBodyInertia


@pytest.fixture(scope='module')
def robot():
    return arm()


def heavier(robot, seed=5):
    """Return the parameters of bodies that differ from the description by a tenth and more."""
    rng = np.random.default_rng(seed)
    scale = np.repeat(rng.uniform(0.8, 1.3, len(robot.model.bodies)), 10)
    return robot.regressors.parameters * scale


@pytest.fixture(scope='module')
def found(robot):
    states = recorded(
        robot,
        duration=40.0,
        parameters=heavier(robot),
        damping=1.3 * robot.damping,
        friction=0.8 * robot.friction,
    )
    return identify_base_parameters(robot, states)


def test_parameters_and_friction_are_found(robot, found):
    truth = np.concatenate(
        [found.base.of(heavier(robot)), 1.3 * robot.damping, 0.8 * robot.friction]
    )
    assert found.estimate.distance(truth) < chi2.ppf(0.9999, len(truth))
    assert_allclose(found.friction, 0.8 * robot.friction, rtol=0.05)
    assert_allclose(found.nominal[:36], found.base.of(robot.regressors.parameters))
    assert (found.estimate.validation < 0.02).all()


def test_bodies_agree_with_the_estimate_and_can_be(robot, found):
    assert robot.regressors.inconsistent_bodies(found.parameters) == ()
    z = (found.base.of(found.parameters) - found.estimate.values[:36]) / found.estimate.deviations[
        :36
    ]
    assert np.abs(z).max() < 2.0


def test_efforts_of_the_patched_urdf_are_those_measured(robot, found):
    text = Path('urdf/six_axis_arm.urdf').read_bytes()
    patched = Robot.from_urdf(patched_urdf(text, robot, found).decode())
    rng = np.random.default_rng(2)
    q, v, a = robot.random_configurations(50, rng), *rng.normal(size=(2, 50, 6))
    truth = robot.regressors.torque(q, v, a) @ heavier(robot)
    before = np.abs(robot.inverse_dynamics(q, v, a) - truth).max(axis=0)
    after = np.abs(patched.inverse_dynamics(q, v, a) - truth).max(axis=0)
    assert (after < 0.25 * before + 0.02).all()
    assert_allclose(patched.friction, found.friction)
    assert_allclose(patched.damping, found.damping)


@pytest.mark.slow
def test_in_95_of_100_runs_the_parameters_are_within_their_99_percent_region():
    robot = arm('planar_3r')
    truth, distances = None, []
    for seed in range(100):
        states = recorded(robot, seed, duration=14.0, rate=200.0)
        found = identify_base_parameters(robot, states)
        truth = found.nominal if truth is None else truth
        distances.append(found.estimate.distance(truth))
    assert np.sum(np.array(distances) <= chi2.ppf(0.99, len(truth))) >= 95


@pytest.mark.filterwarnings('error')
def test_alternating_residuals_without_noise_have_a_covariance():
    """An encoder's rounding errors, which alternate, are the only residuals."""
    robot = arm()
    recording = recorded(robot, noise=0.0)
    for found in (
        identify_base_parameters(robot, recording),
        identify_payload(robot, recording, 'tool0'),
    ):
        estimate = found.estimate
        assert (estimate.deviations > 0.0).all() and estimate.deviations.max() < 0.01
        correlation = estimate.covariance / np.outer(estimate.deviations, estimate.deviations)
        assert np.linalg.eigvalsh(correlation)[0] > 0.0
        assert estimate.distance(estimate.values) == 0.0


def test_without_friction_that_of_the_description_holds(robot):
    states = recorded(robot, noise=0.0, counts=1e12)
    found = identify_base_parameters(robot, states, friction=False)
    assert len(found.estimate.values) == 36
    assert (found.damping == robot.damping).all() and (found.friction == robot.friction).all()
    assert_allclose(found.estimate.values, found.nominal, atol=2e-3)


def test_a_motion_that_does_not_excite_parameters_is_rejected_by_name(robot):
    states = recorded(robot)
    q = states.positions.copy()
    q[:, 1] = 0.3
    with pytest.raises(RecordingError, match='does not excite'):
        identify_base_parameters(
            robot, Recording(states.joint_names, states.times, q, states.efforts)
        )


def test_bodies_without_extent_are_given_some(robot):
    pi = robot.regressors.parameters
    assert (with_extent(pi) == pi).all()
    rod = pi.copy()
    rod[10:20] = payload_parameters(2.0, (0.0, 0.0, 0.1))
    rod[20:30] = 0.0
    thick = with_extent(rod)
    assert robot.regressors.inconsistent_bodies(thick) == ()
    assert_allclose(thick[10:14], rod[10:14], atol=1e-12)
    assert_allclose(thick[14:20], rod[14:20], atol=2e-4)


# -- filter ---------------------------------------------------------------------------------------


def test_derivatives_are_of_fourth_order():
    errors = []
    for h in (0.02, 0.01):
        t = np.arange(0.0, 2.0, h)
        v, a = derivatives(np.sin(3.0 * t)[:, None], h)
        errors.append(
            (
                np.abs(v[3:-3, 0] - 3.0 * np.cos(3.0 * t[3:-3])).max(),
                np.abs(a[3:-3, 0] + 9.0 * np.sin(3.0 * t[3:-3])).max(),
            )
        )
    assert (np.divide(*errors) > 14.0).all()


def test_the_filter_delays_nothing_and_keeps_slow_motions():
    low_pass = LowPass(200.0, 10.0)
    t = np.arange(0.0, 4.0, 0.005)
    x = np.sin(2.0 * np.pi * 1.0 * t)
    middle = slice(100, -100)
    assert_allclose(low_pass(x)[middle], x[middle], atol=1e-5)
    fast = np.sin(2.0 * np.pi * 50.0 * t)
    assert np.abs(low_pass(fast)[middle]).max() < 1e-4
    assert len(low_pass.thinned(x)) == len(x[80:-80:8])


# -- text of the URDF -----------------------------------------------------------------------------

TEXT = """<?xml version="1.0"?>
<robot name="r" xmlns:x="a>b">
  <!-- <link name="arm"> in a comment -->
  <link name="base"/>
  <link name="arm">
    <visual name="a>b"><geometry><sphere radius="1"/></geometry></visual>
    <inertial>  <mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
    </inertial>
  </link>\r
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
    <dynamics damping="0.1" spring_reference="2"/></joint>
</robot>
"""
BALL = RigidBodyInertia.from_mass_center(2.0, (0.1, 0.0, 0.0), np.diag([0.1, 0.2, 0.2]).tolist())


def test_all_other_bytes_stay():
    got = with_inertials(TEXT, {'arm': BALL}, {'j': (0.5, 0.25)}).decode()
    begin, end = TEXT.index('<inertial>'), TEXT.index('</inertial>') + len('</inertial>')
    dynamics = '<dynamics damping="0.1" spring_reference="2"/>'
    expected = TEXT[:begin] + got[begin : got.index('</inertial>') + len('</inertial>')]
    expected += TEXT[end:].replace(
        dynamics, '<dynamics damping="0.5" friction="0.25" spring_reference="2"/>'
    )
    assert got == expected
    assert '<mass value="2.0"/>' in got and 'xyz="0.1 0.0 0.0"' in got


def test_a_missing_inertial_is_added():
    got = with_inertials(TEXT, {'base': BALL}, {}).decode()
    assert '<link name="base"><inertial>' in got and '</inertial></link>' in got
    assert (
        got.replace(
            got[got.index('<link name="base">') : got.index('\n  <link name="arm">')],
            '<link name="base"/>',
        )
        == TEXT
    )
    assert with_inertials(TEXT, {}, {}) == TEXT.encode()


def test_an_unknown_link_or_invalid_text_is_rejected():
    with pytest.raises(ValueError, match="'leg' was not found in the text"):
        with_inertials(TEXT, {'leg': BALL}, {})
    with pytest.raises(ValueError, match='not XML'):
        with_inertials('<robot>', {}, {})
    with pytest.raises(ValueError, match='UTF-8'):
        with_inertials(b'<?xml version="1.0" encoding="utf-16"?><robot/>', {}, {})


def test_a_payload_becomes_part_of_its_link(robot):
    carried = payload_parameters(1.5, (0.01, 0.02, 0.08), np.diag([0.006, 0.005, 0.004]))
    found = identify_payload(robot, recorded(robot, payload=carried), 'wrist_3_link')
    text = Path('urdf/six_axis_arm.urdf').read_text()
    patched = Robot.from_urdf(patched_urdf(text, robot, found).decode())
    was, now = (r.model.link('wrist_3_link').inertia for r in (robot, patched))
    assert_allclose(np.subtract(now.parameters(), was.parameters()), found.parameters, atol=1e-12)
