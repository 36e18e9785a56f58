"""Payloads from recordings: exact without noise, within their confidence with it."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.stats import chi2
from support.recorded_motions import arm, recorded

from rbd_ros.control import payload_parameters
from rbd_ros.identification import identify_payload, Recording, RecordingError
from rbd_ros.identification.payload import parameter_transform
from rbd_ros.spatial import RigidBodyInertia

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
    assert_allclose(found.centre, [0.01, 0.02, 0.08], atol=1e-4)
    assert_allclose(found.inertia, np.diag([0.006, 0.005, 0.004]), atol=3e-4)
    assert not found.adjusted and found.notes == ()


def test_the_payload_of_any_link_is_in_its_own_coordinates(robot):
    carried = payload_parameters(2.0, (0.05, 0.0, -0.03), np.diag([0.01, 0.02, 0.015]))
    states = recorded(robot, payload=carried, link='wrist_1_link', noise=0.0, counts=1e12)
    found = identify_payload(robot, states, 'wrist_1_link')
    assert found.mass == pytest.approx(2.0, abs=2e-3)
    assert_allclose(found.centre, [0.05, 0.0, -0.03], atol=2e-3)


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


def test_friction_and_offsets_are_estimated_beside_it(robot):
    offset = np.array([1.0, -2.0, 0.5, 0.0, 0.3, -0.1])
    states = recorded(robot, payload=PAYLOAD, friction=1.5 * robot.friction, offset=offset)
    found = identify_payload(robot, states, 'tool0', friction=True, offset=True)
    assert found.mass == pytest.approx(1.5, abs=0.05)
    extra = dict(zip(found.estimate.names[10:], found.estimate.values[10:]))
    assert extra['shoulder_lift_joint: offset'] == pytest.approx(-2.0, abs=0.3)
    assert extra['shoulder_pan_joint: Coulomb'] == pytest.approx(2.25, abs=0.05)
    assert extra['elbow_joint: viscous'] == pytest.approx(0.8, abs=0.1)


def test_without_a_payload_a_body_is_found_all_the_same(robot):
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
        assert found.centre[2] == pytest.approx(0.05, abs=0.005)
        moments = np.linalg.eigvalsh(found.inertia)
        assert moments[0] >= 0.0 and moments[2] <= moments[0] + moments[1] + 1e-9
    assert any(adjusted)


def test_of_a_planar_arm_what_shows_is_told():
    planar = arm('two_link_arm')
    link = planar.link_names[-1]
    carried = payload_parameters(1.0, (0.1, 0.0, 0.0), np.diag([0.01, 0.01, 0.01]))
    states = recorded(planar, payload=carried, link=link, noise=0.001)
    found = identify_payload(planar, states, link)
    assert len(found.seen) < 10
    assert found.mass == pytest.approx(1.0, abs=0.02)


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


def test_what_cannot_be_is_refused(robot):
    states = recorded(robot, duration=4.0)
    with pytest.raises(ValueError, match='fixed to the base'):
        identify_payload(robot, states, 'base_link')
    with pytest.raises(ValueError, match='nowhere'):
        identify_payload(robot, states, 'nowhere')
    with pytest.raises(RecordingError, match='cutoff of 200 Hz'):
        identify_payload(robot, states, 'tool0', cutoff=200.0)
    with pytest.raises(RecordingError, match='no part without a gap longer'):
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


def test_a_floating_base_is_refused(robot):
    from rbd_ros import Robot

    floating = Robot.from_urdf('urdf/six_axis_arm.urdf', floating_base=True)
    with pytest.raises(RecordingError, match='cannot be identified'):
        recorded(robot, duration=2.0).of_robot(floating)
