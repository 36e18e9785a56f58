# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories: interpolation, smoothness, and rejections with reasons."""

from array import array
import sys

from hypothesis import given, settings, strategies as st
import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
import pytest

from rbd_ros.control import JointTrajectory, TrajectoryError

NAMES = ('a', 'b', 'c')
KINDS = ('positions', 'velocities', 'accelerations')


def random_points(rng, kind, points=5):
    """Return the arguments of a random trajectory of one kind; it ends at rest."""
    times = np.cumsum(rng.uniform(0.1, 1.0, points)) - 0.1
    q, v, a = rng.normal(size=(3, points, len(NAMES)))
    v[-1] = 0.0
    given = {'positions': (q,), 'velocities': (q, v), 'accelerations': (q, v, a)}[kind]
    return NAMES, times, *given


@pytest.mark.parametrize('kind', KINDS)
def test_motion_passes_through_all_that_is_given_at_the_points(rng, kind):
    names, times, *given = random_points(rng, kind)
    trajectory = JointTrajectory(names, times, *given)
    for k, t in enumerate(times[:-1]):
        for original, sampled in zip(given, trajectory.sample(t)):
            assert_allclose(sampled, original[k], rtol=0, atol=1e-9)
    assert_array_equal(trajectory.sample(times[-1])[0], given[0][-1])


@pytest.mark.parametrize('kind', KINDS)
def test_velocity_and_acceleration_are_derivatives_of_the_position(rng, kind):
    trajectory = JointTrajectory(*random_points(rng, kind))
    h = 1e-5
    for t in rng.uniform(trajectory.start_time + h, trajectory.end_time - h, 50):
        if np.abs(trajectory.times - t).min() < 2 * h:
            continue
        before, (_, v, a), after = (trajectory.sample(x) for x in (t - h, t, t + h))
        assert_allclose((after[0] - before[0]) / (2 * h), v, rtol=1e-6, atol=1e-6)
        assert_allclose((after[1] - before[1]) / (2 * h), a, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize(
    ('kind', 'smooth'), [('positions', 3), ('velocities', 2), ('accelerations', 3)]
)
def test_no_jump_between_segments_up_to_the_order_promised(rng, kind, smooth):
    """Positions alone and accelerations: twice differentiable; velocities: once."""
    trajectory = JointTrajectory(*random_points(rng, kind))
    for t in trajectory.times[1:-1]:
        left, right = trajectory.sample(t - 1e-9), trajectory.sample(t)
        for k in range(smooth):
            assert_allclose(left[k], right[k], rtol=0, atol=1e-5)


def test_positions_alone_start_and_end_at_rest(rng):
    names, times, q = random_points(rng, 'positions')
    trajectory = JointTrajectory(names, times, q)
    assert_allclose(trajectory.sample(times[0])[1], 0.0, atol=1e-12)
    assert_allclose(trajectory.sample(times[-1] - 1e-9)[1], 0.0, atol=1e-6)


@pytest.mark.parametrize('kind', KINDS)
def test_a_quintic_is_reproduced_as_far_as_the_kind_can(kind):
    """Every kind reproduces a cubic at rest at both ends, with any points between."""
    times = np.array([0.0, 0.3, 0.7, 1.0])
    q = (3 * times**2 - 2 * times**3)[:, None]
    v, a = (6 * times - 6 * times**2)[:, None], (6 - 12 * times)[:, None]
    v[-1] = 0.0
    given = {'positions': (q,), 'velocities': (q, v), 'accelerations': (q, v, a)}[kind]
    trajectory = JointTrajectory(['a'], times, *given)
    for t in np.linspace(0.0, 0.999, 50):
        expected = [3 * t**2 - 2 * t**3], [6 * t - 6 * t**2], [6 - 12 * t]
        assert_allclose(trajectory.sample(t), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize('kind', KINDS)
def test_the_end_is_held_at_rest(rng, kind):
    trajectory = JointTrajectory(*random_points(rng, kind))
    for t in (trajectory.end_time, trajectory.end_time + 1e-9, trajectory.end_time + 1e6, np.inf):
        q, v, a = trajectory.sample(t)
        assert_array_equal(q, trajectory.positions[-1])
        assert not v.any()
        assert not a.any()


@pytest.mark.parametrize('kind', KINDS)
def test_before_the_start_the_first_point_is_held_at_rest(rng, kind):
    trajectory = JointTrajectory(*random_points(rng, kind))
    q, v, a = trajectory.sample(trajectory.start_time - 0.01)
    assert_array_equal(q, trajectory.positions[0])
    assert not v.any()
    assert not a.any()


def test_samples_are_the_callers_own(rng):
    trajectory = JointTrajectory(*random_points(rng, 'velocities'))
    first = trajectory.sample(0.5)
    kept = [x.copy() for x in first]
    trajectory.sample(1.0)
    assert_array_equal(first, kept)
    held = trajectory.sample(1e9)[0]
    held[:] = 99.0
    assert not np.any(trajectory.sample(1e9)[0] == 99.0)


def test_the_trajectory_does_not_change_with_the_arrays_it_was_made_from(rng):
    names, times, q = random_points(rng, 'positions')
    trajectory = JointTrajectory(names, times, q)
    q[:] = 0.0
    assert trajectory.positions.any()
    assert trajectory.sample(times[-1])[0].any()


@pytest.mark.parametrize('kind', KINDS)
def test_joints_have_the_requested_order(rng, kind):
    trajectory = JointTrajectory(*random_points(rng, kind))
    reordered = trajectory.for_joints(('c', 'a', 'b'))
    for t in np.linspace(-0.1, trajectory.end_time + 0.1, 20):
        assert_allclose(reordered.sample(t), np.array(trajectory.sample(t))[:, [2, 0, 1]])


@pytest.mark.parametrize('kind', KINDS)
def test_omitted_joints_are_held(rng, kind):
    trajectory = JointTrajectory(*random_points(rng, kind))
    wide = trajectory.for_joints(
        ('x', 'b', 'a', 'c', 'y'), default_positions=[1.0, 2.0, 3.0, 4.0, 5.0]
    )
    for t in np.linspace(-0.1, trajectory.end_time + 0.1, 20):
        q, v, a = wide.sample(t)
        assert_array_equal(q[[0, 4]], [1.0, 5.0])
        assert not v[[0, 4]].any()
        assert not a[[0, 4]].any()
        assert_allclose(q[[2, 1, 3]], trajectory.sample(t)[0])


@pytest.mark.parametrize('kind', KINDS)
def test_a_late_first_point_is_reached_from_the_present_position(rng, kind):
    names, times, *given = random_points(rng, kind)
    trajectory = JointTrajectory(names, times + 1.0, *given)
    q0, v0 = rng.normal(size=(2, 3))
    joined = trajectory.starting_from(q0, v0, 0.25)
    assert_allclose(joined.sample(0.25)[0], q0, atol=1e-12)
    assert_allclose(joined.sample(0.25)[1], v0, atol=1e-12)
    assert_allclose(joined.sample(times[0] + 1.0)[0], given[0][0], atol=1e-9)
    wide = joined.for_joints(('c', 'b', 'a'))
    assert_allclose(wide.sample(0.4), np.array(joined.sample(0.4))[:, ::-1], atol=1e-12)


def test_a_trajectory_that_has_begun_is_not_given_a_new_start(rng):
    trajectory = JointTrajectory(*random_points(rng, 'velocities'))
    assert trajectory.starting_from(np.zeros(3), time=trajectory.start_time) is trajectory


def test_one_point_is_a_motion_to_it():
    trajectory = JointTrajectory(['a'], [2.0], [[1.0]]).starting_from([0.0])
    assert_allclose(trajectory.sample(1.0)[0], 0.5)
    assert_array_equal(trajectory.sample(2.0)[0], [1.0])


def test_empty_rows_are_the_same_as_none():
    plain = JointTrajectory(['a'], [0.0, 1.0], [[0.0], [1.0]])
    empty = JointTrajectory(['a'], [0.0, 1.0], [[0.0], [1.0]], [[], []], [])
    assert_array_equal(plain.sample(0.4), empty.sample(0.4))


GOOD = {
    'joint_names': ['a', 'b'],
    'times': [0.0, 1.0, 2.0],
    'positions': [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]],
    'velocities': [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]],
}
BAD = {
    'no joints': ({'joint_names': []}, 'names no joints', None, None),
    'joint twice': ({'joint_names': ['a', 'a']}, 'named twice', 'a', None),
    'no points': ({'times': [], 'positions': []}, 'at least one point', None, None),
    'time standing still': ({'times': [0.0, 1.0, 1.0]}, 'strictly increase', None, 2),
    'time running back': ({'times': [0.0, 2.0, 1.0]}, 'is not after', None, 2),
    'negative time': ({'times': [-1.0, 0.0, 1.0]}, 'not negative', None, 0),
    'time without end': ({'times': [0.0, 1.0, np.inf]}, 'finite', None, 2),
    'time no number': ({'times': [0.0, np.nan, 2.0]}, 'finite', None, 1),
    'text for time': ({'times': ['x', 'y', 'z']}, 'must be numbers', None, None),
    'no positions': ({'positions': [[], [], []]}, 'no positions', None, None),
    'too few numbers': ({'positions': [[0.0, 0.0], [1.0], [2.0, 2.0]]}, '1 positions for 2 joints',
                        None, 1),
    'too many numbers': ({'velocities': [[0.0] * 3] * 3}, '3 velocities for 2 joints', None, 0),
    'some points empty': ({'velocities': [[0.0, 0.0], [], [0.0, 0.0]]}, 'no velocities', None, 1),
    'too few rows': ({'positions': [[0.0, 0.0]]}, '3 times but 1 rows', None, None),
    'no rows': ({'positions': [0.0, 1.0, 2.0]}, 'one row for each point', None, 0),
    'NaN': ({'positions': [[0.0, 0.0], [1.0, np.nan], [2.0, 2.0]]}, 'finite', 'b', 1),
    'Inf': ({'velocities': [[np.inf, 0.0], [1.0, 1.0], [0.0, 0.0]]}, 'finite', 'a', 0),
    'text': ({'positions': [['x', 'y']] * 3}, 'must be numbers', None, None),
    'moving at the end': ({'velocities': [[0.0, 0.0]] * 2 + [[0.0, 0.1]]}, 'end with velocity 0',
                          'b', 2),
    'times too close': ({'times': [0.0, 1.0, 1.0 + 5e-7]}, '5e-07 s after the previous point',
                        None, 2),
    'a time of years': ({'times': [0.0, 1.0, 1e9]}, 'beyond 1e.06 s; check its unit', None, 2),
    'absurd position': ({'positions': [[0.0, 0.0], [1.0, -1e308], [2.0, 2.0]]},
                        'implausible for any joint', 'b', 1),
    'absurd velocity': ({'velocities': [[0.0, 0.0], [2e4, 1.0], [0.0, 0.0]]},
                        'implausible for any joint', 'a', 1),
    'absurd acceleration': ({'accelerations': [[0.0, 0.0], [1.0, 1.0], [0.0, 2e7]]},
                            'implausible for any joint', 'b', 2),
    'a name that is none': ({'joint_names': ['a', 3]}, 'non-empty strings, got', None, None),
    'an empty name': ({'joint_names': ['a', '']}, 'non-empty strings, got', None, None),
    'accelerations alone': ({'velocities': None, 'accelerations': [[0.0, 0.0]] * 3},
                            'no velocities; give both', None, None),
}  # fmt: skip


@pytest.mark.parametrize('case', BAD)
def test_an_illegal_trajectory_is_rejected_naming_place_and_cure(case):
    changes, text, joint, point = BAD[case]
    with pytest.raises(TrajectoryError, match=text) as caught:
        JointTrajectory(**{**GOOD, **changes})
    assert caught.value.joint == joint
    assert caught.value.point == point


def test_a_last_point_that_moves_is_accepted_on_request():
    moving = {**GOOD, 'velocities': [[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]]}
    trajectory = JointTrajectory(**moving, allow_nonzero_end_velocity=True)
    assert not trajectory.sample(2.0)[1].any()


def test_a_joint_that_the_robot_does_not_have_is_named_with_close_ones():
    with pytest.raises(TrajectoryError, match="'b'.*elbow_b") as caught:
        JointTrajectory(**GOOD).for_joints(('a', 'elbow_b'))
    assert caught.value.joint == 'b'


def test_a_missing_joint_is_named():
    with pytest.raises(TrajectoryError, match="leaves out joint 'c'"):
        JointTrajectory(**GOOD).for_joints(('a', 'b', 'c'))


@settings(deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=4, max_size=4), st.floats(0.1, 5.0))
def test_limits_hold_between_the_points_whenever_a_trajectory_is_accepted(values, duration):
    """Accepted trajectories stay within the limits, rejected ones exceed them."""
    times = np.array([0.0, 0.4, 1.0]) * duration
    velocity = np.array([values[2], values[3], 0.0])
    q = np.array([values[0], values[1], 0.5])
    trajectory = JointTrajectory(['a'], times, q[:, None], velocity[:, None])
    samples = [trajectory.sample(t) for t in np.linspace(0.0, times[-1], 501)]
    reach = max(abs(s[0][0]) for s in samples)
    speed = max(abs(s[1][0]) for s in samples)
    trajectory.check_limits([-1.01 * reach - 1e-3], [1.01 * reach + 1e-3], [1.01 * speed + 1e-3])
    if reach > 1e-3:
        with pytest.raises(TrajectoryError, match='outside its limits'):
            trajectory.check_limits([-0.99 * reach], [0.99 * reach], [np.inf])
    if speed > 1e-3:
        with pytest.raises(TrajectoryError, match='above its limit of'):
            trajectory.check_limits([-np.inf], [np.inf], [0.99 * speed])


@pytest.mark.parametrize('kind', KINDS)
def test_a_position_limit_touched_exactly_is_kept(kind):
    zeros = np.zeros((2, 1))
    given = {'positions': (), 'velocities': (zeros,), 'accelerations': (zeros, zeros)}[kind]
    trajectory = JointTrajectory(['a'], [0.0, 1.0], [[-1.0], [1.0]], *given)
    trajectory.check_limits([-1.0], [1.0], [np.inf])


def far_joint(points, point):
    """Return a trajectory of three joints at rest, of which the second is away at one point."""
    q = np.zeros((points, 3))
    q[point, 1] = 1.0
    return JointTrajectory(NAMES, np.arange(float(points)), q, 0.0 * q)


@pytest.mark.parametrize('point', [0, 3000, 19998])
def test_the_place_is_named_in_long_trajectories_as_well(point):
    far_joint(20000, point).check_limits([-1] * 3, [1] * 3, [2.0] * 3)
    with pytest.raises(TrajectoryError, match='outside its limits') as caught:
        far_joint(20000, point).check_limits([-1] * 3, [0.9] * 3, [2.0] * 3)
    assert (caught.value.joint, caught.value.point) == ('b', point)
    with pytest.raises(TrajectoryError, match='would move at 1.5') as caught:
        far_joint(20000, point).check_limits([-1] * 3, [1] * 3, [1.4] * 3)
    assert (caught.value.joint, caught.value.point) == ('b', max(point - 1, 0))


def test_a_number_that_is_none_is_found_in_long_trajectories():
    q = np.zeros((20000, 3))
    q[15000, 2] = np.nan
    with pytest.raises(TrajectoryError, match='finite') as caught:
        JointTrajectory(NAMES, np.arange(20000.0), q)
    assert (caught.value.joint, caught.value.point) == ('c', 15000)


def test_greatest_speeds_are_bounded_closely(rng):
    for kind in KINDS:
        trajectory = JointTrajectory(*random_points(rng, kind))
        times = np.linspace(0.0, trajectory.end_time, 2000)
        greatest = np.abs([trajectory.sample(t)[1] for t in times]).max(axis=0)
        bounds = trajectory.speed_bounds()
        assert (bounds >= greatest - 1e-9).all()
        assert (bounds <= 1.2 * greatest).all()


@pytest.mark.parametrize('kind', KINDS)
def test_rows_may_be_of_any_kind(rng, kind):
    names, times, *given = random_points(rng, kind, points=300)
    original = JointTrajectory(names, times, *given)
    for convert in (list, tuple, np.array, lambda row: array('d', row)):
        rows = [[convert(row.tolist()) for row in values] for values in given]
        trajectory = JointTrajectory(names, list(times), *rows)
        for t in np.linspace(0.0, trajectory.end_time, 20):
            assert_array_equal(trajectory.sample(t), original.sample(t))
    mixed = [given[0][0].tolist(), *given[0][1:]]
    assert_array_equal(JointTrajectory(names, times, mixed).positions, given[0])


def test_rows_of_single_precision_are_not_taken_for_doubles():
    rows = [array('f', [0.0, 0.5]), array('f', [1.0, 2.0])]
    trajectory = JointTrajectory(['a', 'b'], [0.0, 1.0], rows)
    assert_array_equal(trajectory.positions, [[0.0, 0.5], [1.0, 2.0]])


def test_a_point_just_after_the_time_of_joining_is_not_joined():
    """A segment of less than a microsecond would have coefficients without meaning."""
    trajectory = JointTrajectory(['a'], [1e-9, 1.0], [[0.0], [1.0]])
    assert trajectory.starting_from([0.5]) is trajectory


# -- bounded effort -------------------------------------------------------------------------------


def events(action):
    """Return the number of calls that something makes, errors included."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event in ('call', 'c_call')

    sys.setprofile(note)
    try:
        action()
    except TrajectoryError:
        pass
    finally:
        sys.setprofile(None)
    return count


def follow(points, kind='positions'):
    names = [f'joint{i}' for i in range(7)]
    times = 0.01 * np.arange(1, points + 1)
    given = [np.outer(np.sin(times), np.ones(7))] * (1 + KINDS.index(kind))
    given = [given[0], *(0.0 * x for x in given[1:])]
    rows = [[array('d', row.tolist()) for row in values] for values in given]

    def run():
        trajectory = JointTrajectory(names, times.tolist(), *rows)
        trajectory = trajectory.for_joints(names[::-1]).starting_from(np.zeros(7), np.zeros(7))
        trajectory.check_limits([-2.0] * 7, [2.0] * 7, [1e3] * 7)

    return run


@pytest.mark.parametrize('kind', KINDS)
def test_the_effort_for_a_point_is_a_few_calls_for_its_rows(kind):
    few, many = events(follow(1000, kind)), events(follow(11000, kind))
    # The length of each row is looked at; the rest is done for many at once.
    assert (many - few) / 10000 < 1.5 * (1 + KINDS.index(kind))


class Counted(str):
    """Name that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)


@pytest.mark.parametrize('count', [300, 3000])
def test_names_are_compared_a_few_times_each(count):
    names = [Counted(f'joint{i}') for i in range(count)]
    for some in (names, [names[0]] * count, [*names, Counted('joint0')]):
        Counted.compared = 0
        try:
            JointTrajectory(some, [1.0], [[0.0] * len(some)]).for_joints([*names, 'more'], [0.0])
        except ValueError:
            pass
        assert Counted.compared <= 5 * count


@pytest.mark.parametrize(
    'joint_names',
    [['a' * 100_000] * 2, ['a' * 100_000, 'b'], [f'joint{i}' for i in range(10_000)]],
    ids=['long and twice', 'long', 'many'],
)
def test_messages_are_short_for_any_names(joint_names):
    robot = [f'joint{i}' for i in range(5_000)] + ['x' * 1000]
    with pytest.raises(TrajectoryError) as caught:
        rows = np.zeros((1, len(joint_names)))
        JointTrajectory(joint_names, [1.0], rows).for_joints(robot)
    assert len(str(caught.value)) < 600


def test_omitted_joints_are_listed_shortly():
    with pytest.raises(TrajectoryError, match="'joint6' and 93 more; give all"):
        JointTrajectory(['joint0'], [1.0], [[0.0]]).for_joints([f'joint{i}' for i in range(100)])


def test_names_that_differ_only_at_the_end_are_distinguished():
    names = ['a' * 1000 + end for end in 'xyz']
    trajectory = JointTrajectory(names, [0.0, 1.0], [[0.0, 1.0, 2.0]] * 2)
    assert_array_equal(trajectory.for_joints(names[::-1]).positions[0], [2.0, 1.0, 0.0])


@pytest.mark.parametrize('joints, points', [(1, 1_000_000), (100, 50_000)])
def test_a_trajectory_with_too_many_points_is_rejected_at_once(joints, points):
    rows = np.broadcast_to(np.zeros(joints), (points, joints))
    names = [f'joint{i}' for i in range(joints)]
    with pytest.raises(TrajectoryError, match='send it in parts'):
        JointTrajectory(names, np.arange(float(points)), rows)


def test_more_names_than_any_robot_has_are_rejected():
    with pytest.raises(TrajectoryError, match='too many for a robot'):
        JointTrajectory(['a'] * 1_000_000, [1.0], [[0.0]])
