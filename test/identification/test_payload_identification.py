# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Payloads from recordings: exact without noise, within their confidence with it."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.stats import chi2
from support.arms import without_limits
from support.recorded_motions import arm, recorded

from rbd_ros import Robot
from rbd_ros.control import payload_parameters
from rbd_ros.identification import identify_payload, Recording, RecordingError
from rbd_ros.identification.payload_identification import parameter_transform
from rbd_ros.robot.families.regressors_family import NAMES
from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.spatial.pseudo_inertia import log_cholesky

PAYLOAD = payload_parameters(1.5, (0.01, 0.02, 0.08), np.diag([0.006, 0.005, 0.004]))


@pytest.fixture(scope='module')
def robot():
    return arm()


def test_without_noise_the_payload_is_found(robot):
    found = identify_payload(
        robot, recorded(robot, payload=PAYLOAD, noise=0.0, counts=1e12), 'tool0'
    )
    assert_allclose(found.parameters, PAYLOAD, atol=2e-4)
    assert found.mass == pytest.approx(1.5, abs=1e-4)
    assert_allclose(found.center, [0.01, 0.02, 0.08], atol=1e-4)
    assert_allclose(found.inertia, np.diag([0.006, 0.005, 0.004]), atol=3e-4)
    assert not found.adjusted and found.notes == ()


def test_the_payload_of_any_link_is_in_its_own_coordinates(robot):
    carried = payload_parameters(2.0, (0.05, 0.0, -0.03), np.diag([0.01, 0.02, 0.015]))
    states = recorded(robot, payload=carried, link='wrist_1_link', noise=0.0, counts=1e12)
    found = identify_payload(robot, states, 'wrist_1_link')
    assert found.mass == pytest.approx(2.0, abs=2e-3)
    assert_allclose(found.center, [0.05, 0.0, -0.03], atol=2e-3)


def test_coordinates_of_a_link_become_those_of_its_body(robot):
    link = robot.model.link('tool0')
    T = parameter_transform(robot, 'tool0')
    carried = RigidBodyInertia.from_parameters(PAYLOAD.tolist())
    heavier = robot.model.with_link_inertia('tool0', carried, add=True)
    before, after = (m.body(link.body).inertia.parameters() for m in (robot.model, heavier))
    assert_allclose(T @ PAYLOAD, np.subtract(after, before), atol=1e-12)


@pytest.mark.slow
def test_in_95_of_100_runs_the_payload_is_within_its_99_percent_region(robot):
    """All ten parameters at once; and each by itself in 95 % of the cases at least."""
    distances, single = [], []
    for seed in range(100):
        states = recorded(robot, seed, duration=14.0, rate=200.0, payload=PAYLOAD)
        estimate = identify_payload(robot, states, 'tool0').estimate
        distances.append(estimate.distance(PAYLOAD))
        single.append(np.abs(estimate.values - PAYLOAD) <= estimate.intervals(0.99))
    inside = np.sum(np.array(distances) <= chi2.ppf(0.99, 10))
    assert inside >= 95
    assert np.mean(single) >= 0.95
    # The regions are not large for nothing: the mean of a chi-square is its degrees of freedom.
    assert 6.0 < np.mean(distances) < 15.0


def test_deviations_about_the_center_are_those_of_the_parameters_propagated(robot):
    found = identify_payload(robot, recorded(robot, payload=PAYLOAD), 'tool0')

    def about_center(x):
        _, center, inertia = RigidBodyInertia.from_parameters(x.tolist()).mass_center()
        return np.concatenate([center, np.ravel(inertia)])

    x, h = found.estimate.values, 1e-6
    steps = h * np.eye(10)
    slopes = np.array([about_center(x + d) - about_center(x - d) for d in steps]).T / (2 * h)
    expected = np.sqrt(np.diag(slopes @ found.estimate.covariance @ slopes.T))
    assert_allclose(found.center_deviations(), expected[:3], rtol=1e-6)
    assert_allclose(found.inertia_deviations(), expected[3:].reshape(3, 3), rtol=1e-6)


def test_friction_and_offsets_are_estimated_beside_it(robot):
    offset = np.array([1.0, -2.0, 0.5, 0.0, 0.3, -0.1])
    states = recorded(robot, payload=PAYLOAD, friction=1.5 * robot.friction, offset=offset)
    found = identify_payload(robot, states, 'tool0', friction=True, offset=True)
    assert found.mass == pytest.approx(1.5, abs=0.05)
    extra = dict(zip(found.estimate.names[10:], found.estimate.values[10:]))
    assert extra['shoulder_lift_joint: offset'] == pytest.approx(-2.0, abs=0.3)
    assert extra['shoulder_pan_joint: Coulomb'] == pytest.approx(2.25, abs=0.05)
    assert extra['elbow_joint: viscous'] == pytest.approx(0.8, abs=0.1)


def test_without_a_payload_a_body_is_found_nonetheless(robot):
    found = identify_payload(robot, recorded(robot), 'tool0')
    assert abs(found.mass) < 0.02
    assert not robot.regressors.inconsistent_bodies(np.tile(found.parameters, 6))


def test_an_impossible_estimate_becomes_a_body(robot):
    """A point mass on the edge of what bodies can have, and noise beyond it."""
    point = payload_parameters(1.0, (0.0, 0.0, 0.05))
    adjusted = []
    for seed in range(4):
        found = identify_payload(robot, recorded(robot, seed, payload=point), 'tool0')
        adjusted.append(found.adjusted)
        assert found.mass == pytest.approx(1.0, abs=0.02)
        assert found.center[2] == pytest.approx(0.05, abs=0.005)
        moments = np.linalg.eigvalsh(found.inertia)
        assert moments[0] >= 0.0 and moments[2] <= moments[0] + moments[1] + 1e-9
    assert any(adjusted)


def test_the_identifiable_parameters_of_a_planar_arm_are_reported():
    planar = arm('two_link_arm')
    link = planar.link_names[-1]
    carried = payload_parameters(1.0, (0.1, 0.0, 0.0), np.diag([0.01, 0.01, 0.01]))
    states = recorded(planar, payload=carried, link=link, noise=0.001)
    found = identify_payload(planar, states, link)
    assert len(found.identified) < 10
    assert found.mass == pytest.approx(1.0, abs=0.02)


INERTIAL = (
    '<inertial><origin xyz="0.1 0 0"/><mass value="2"/>'
    '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def few_joints(*axes):
    """Return the robot of links in a row, 0.3 m apart, that turn about these axes."""
    links, names = '<link name="base"/>', ['base', *(f'l{k}' for k in range(len(axes)))]
    for k, axis in enumerate(axes):
        links += (
            f'<link name="l{k}">{INERTIAL}</link><joint name="j{k}" type="revolute">'
            f'<parent link="{names[k]}"/><child link="l{k}"/><origin xyz="{0.3 * (k > 0)} 0 0"/>'
            f'<axis xyz="{axis}"/><limit lower="-3" upper="3" effort="99" velocity="9"/></joint>'
        )
    return Robot.from_urdf(f'<robot name="few">{links}</robot>')


def carried_by(robot, payload):
    """Return recording without noise of a motion of few joints, the last link with a payload."""
    t = np.arange(0.0, 20.0, 0.005)[:, None]
    w, p = 0.9 + 0.3 * np.arange(robot.nv), 0.7 * np.arange(robot.nv)
    u = 2.3 + 0.4 * np.arange(robot.nv)
    q = 1.2 * np.sin(w * t + p) + 0.5 * np.sin(u * t)
    v = 1.2 * w * np.cos(w * t + p) + 0.5 * u * np.cos(u * t)
    a = -1.2 * w**2 * np.sin(w * t + p) - 0.5 * u**2 * np.sin(u * t)
    torque = robot.function('inverse_dynamics', (f'payload:l{robot.nv - 1}',))
    return Recording(robot.joint_names, t[:, 0], q, torque(q, v, a, payload))


LOAD = payload_parameters(0.7, (0.3, 0.02, 0.05), 1e-3 * np.eye(3))


def test_a_pendulum_shows_moments_about_its_axis_and_no_mass():
    robot = few_joints('0 1 0')
    found = identify_payload(robot, carried_by(robot, LOAD), 'l0')
    assert found.identified == (
        'm cx',
        'm cz',
        'Iyy',
    )  # first moments across the axis, inertia about it
    assert found.estimate.names == ('l0: m cx', 'l0: m cz', 'l0: Iyy')
    assert_allclose(found.estimate.values, LOAD[[1, 3, 7]], rtol=1e-5)
    assert np.isnan(found.mass) and np.isnan(found.center).all()
    assert np.isnan(found.inertia).all() and found.inertia_deviations() is None
    assert found.center_deviations() is None
    known = ~np.isnan(found.parameters)
    assert known.nonzero()[0].tolist() == [1, 3, 7]
    assert_allclose(found.parameters[known], LOAD[known], rtol=1e-5)


def test_a_slanted_axis_shows_combinations_alone():
    robot = few_joints('0 0.6 0.8')
    found = identify_payload(robot, carried_by(robot, LOAD), 'l0')
    assert found.identified == ('m cx',)
    by_name = dict(zip(found.estimate.names, found.estimate.values))
    # z 0.6 - y 0.8 is the arm of gravity, n I n the inertia about the axis n.
    assert by_name['l0: m cy - 0.75 m cz'] == pytest.approx(LOAD[2] - 0.75 * LOAD[3], rel=1e-4)
    (inertia,) = (name for name in by_name if name.startswith('l0: Iyy + '))
    about = LOAD[7] + 2 * (4 / 3) * LOAD[8] + (16 / 9) * LOAD[9]
    assert by_name[inertia] == pytest.approx(about, rel=1e-4)
    assert found.combinations[2] == pytest.approx({'Iyy': 1.0, 'Iyz': 8 / 3, 'Izz': 16 / 9})
    assert np.isnan(found.mass)


def test_pan_and_tilt_show_the_mass_with_an_inertia():
    robot = few_joints('0 0 1', '0 1 0')
    found = identify_payload(robot, carried_by(robot, LOAD), 'l1')
    (terms,) = (x for x in found.combinations if 'm' in x)
    assert terms == pytest.approx({'m': 1.0, 'Izz': 1 / 0.3**2})
    assert found.estimate.values[0] == pytest.approx(LOAD[0] + LOAD[9] / 0.3**2, rel=1e-4)
    assert np.isnan(found.mass) and 'm cx' in found.identified


@pytest.mark.parametrize('axes', [['0 1 0'], ['0 0.6 0.8'], ['0 0 1', '0 1 0']])
def test_the_written_body_has_the_identified_parameters(axes):
    robot = few_joints(*axes)
    states = carried_by(robot, LOAD)
    found = identify_payload(robot, states, robot.link_names[-1])
    assert not found.adjusted
    log_cholesky(RigidBodyInertia.from_parameters(found.body.tolist()))  # a body can have it
    for terms, value in zip(found.combinations, found.estimate.values):
        mine = sum(c * found.body[NAMES.index(name)] for name, c in terms.items())
        assert mine == pytest.approx(value, rel=1e-5)


def test_a_planar_arm_shows_the_center_in_its_plane():
    planar = arm('two_link_arm')
    link = planar.link_names[-1]
    carried = payload_parameters(1.0, (0.1, 0.0, 0.03), np.diag([0.01, 0.01, 0.01]))
    found = identify_payload(
        planar, recorded(planar, payload=carried, link=link, noise=0.001), link
    )
    assert found.center[0] == pytest.approx(0.1, abs=0.01)
    assert found.center[2] == pytest.approx(0.03, abs=0.01)
    assert np.isnan(found.center[1])
    assert np.isnan(found.center_deviations()).tolist() == [False, True, False]


def test_gaps_do_no_harm(robot):
    states = recorded(robot, payload=PAYLOAD)
    kept = np.r_[0:1500, 1900:3600, 3700:5000]
    cut = Recording(
        states.joint_names, states.times[kept], states.positions[kept], states.efforts[kept]
    )
    found = identify_payload(robot, cut, 'tool0')
    assert found.estimate.distance(PAYLOAD) < chi2.ppf(0.999, 10)


def test_irregular_times_do_no_harm(robot):
    states = recorded(robot, payload=PAYLOAD, rate=500.0)
    rng = np.random.default_rng(3)
    kept = np.sort(rng.choice(len(states.times), 7000, replace=False))
    cut = Recording(
        states.joint_names, states.times[kept], states.positions[kept], states.efforts[kept]
    )
    assert identify_payload(robot, cut, 'tool0').mass == pytest.approx(1.5, abs=0.02)


def test_invalid_input_is_rejected(robot):
    states = recorded(robot, duration=4.0)
    with pytest.raises(ValueError, match='fixed to the base'):
        identify_payload(robot, states, 'base_link')
    with pytest.raises(ValueError, match='nowhere'):
        identify_payload(robot, states, 'nowhere')
    with pytest.raises(RecordingError, match='cutoff of 200 Hz'):
        identify_payload(robot, states, 'tool0', cutoff=200.0)
    with pytest.raises(RecordingError, match='no part longer'):
        identify_payload(robot, states, 'tool0', cutoff=0.5)
    still = Recording(
        states.joint_names,
        states.times,
        np.tile(states.positions[:1], (len(states.times), 1)),
        states.efforts,
    )
    with pytest.raises(RecordingError, match='too few|does not excite'):
        identify_payload(robot, still, 'tool0')
    constant = states.efforts.copy()
    constant[:, 2] = 1.0
    with pytest.raises(RecordingError, match="effort of joint 'elbow_joint' is always 1"):
        identify_payload(
            robot,
            Recording(states.joint_names, states.times, states.positions, constant),
            'tool0',
        )


def test_a_floating_base_is_rejected(robot):
    floating = Robot.from_urdf('urdf/six_axis_arm.urdf', floating_base=True)
    with pytest.raises(RecordingError, match='cannot be identified'):
        recorded(robot, duration=2.0).for_robot(floating)


@pytest.mark.parametrize('cut', [-0.1, 0.2])
def test_a_recording_with_wrapped_angles_gives_the_same_payload(cut):
    """The driver gives angles within a turn that ends within the motion."""
    free = without_limits('six_axis_arm')
    whole = recorded(free, payload=PAYLOAD, speed=2.0)
    shown = (whole.positions - cut) % (2.0 * np.pi) + cut
    leaps = np.abs(np.diff(shown, axis=0)) > 3.0
    assert leaps.sum() >= 20
    wrapped = Recording(whole.joint_names, whole.times, shown, whole.efforts)
    found, expected = (identify_payload(free, each, 'tool0') for each in (wrapped, whole))
    assert_allclose(found.parameters, expected.parameters, rtol=1e-6, atol=1e-9)
    assert_allclose(found.estimate.deviations, expected.estimate.deviations, rtol=1e-6)
