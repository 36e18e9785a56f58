# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Axis, pitch and parts of spatial vectors (book 2.5)."""

from fractions import Fraction
import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import dense
from support.all_joints import example_id, JOINTS, slope

from rbd_ros.spatial import ForceVector, MotionVector, PluckerTransform, RigidBodyInertia
from rbd_ros.spatial.axial_screw import AxialScrew
from rbd_ros.textbook.spatial_algebra.screws import (
    axis_point,
    is_free,
    is_line,
    line_and_free,
    pitch,
    Screw,
    screw,
)

CLOSE = 1e-11  # differences of sixth order
TOLERANCE = {'rtol': 1e-12, 'atol': 1e-12}  # a few roundings, divided by s . s of about 1

SPACES = {'motion': MotionVector, 'force': ForceVector}
every_space = pytest.mark.parametrize('space', SPACES)


def vector(space, bound, moment):
    """Return the motion or force whose part `bound` belongs to a line."""
    bound, moment = tuple(map(float, bound)), tuple(map(float, moment))
    return MotionVector(bound, moment) if space == 'motion' else ForceVector(moment, bound)


def field(space, x, point):
    """Return the velocity of, or moment about, a point: the field of a screw."""
    return np.array(
        x.velocity_at(tuple(point)) if space == 'motion' else x.moment_about(tuple(point))
    )


@pytest.fixture
def cases(rng):
    """Return ten random (bound, moment)."""
    return rng.normal(size=(10, 2, 3))


@pytest.mark.seed('SV06', kind='full')
@every_space
def test_on_the_axis_the_field_is_parallel_to_it_and_smallest(space, cases, rng):
    """Define an axis by the velocity of points: the pitch is the speed along it by omega."""
    for bound, moment in cases:
        x = vector(space, bound, moment)
        found = screw(x)
        direction, point = np.array(found.direction), np.array(found.point)
        assert_allclose(direction * found.magnitude, bound, **TOLERANCE)
        assert np.linalg.norm(direction) == pytest.approx(1.0, rel=1e-14)
        for along in (0.0, 1.0, -3.0):
            on_axis = field(space, x, point + along * direction)
            assert_allclose(on_axis, found.pitch * bound, **TOLERANCE)
        smallest = np.linalg.norm(found.pitch * bound)
        for off_axis in rng.normal(size=(5, 3)):
            assert np.linalg.norm(field(space, x, off_axis)) >= smallest - 1e-12
        # and the point is the one nearest to the origin
        assert point @ direction == pytest.approx(0.0, abs=1e-13)
        assert_allclose(axis_point(x), point, rtol=0)


@pytest.mark.seed('SV06', kind='full')
@every_space
def test_a_screw_is_made_of_its_axis_and_pitch(space, cases):
    """Recomposition, also of line vectors and free vectors."""
    examples = [vector(space, *case) for case in cases]
    bound, moment = cases[0]
    examples.append(vector(space, bound, np.cross(moment, bound)))
    examples.append(vector(space, np.zeros(3), moment))
    for x in examples:
        found = screw(x)
        back = found.motion() if space == 'motion' else found.force()
        assert type(back) is type(x)
        assert_allclose(list(back), list(x), **TOLERANCE)
    made = Screw(2.0, (0.0, 0.6, 0.8), (1.0, 0.0, 0.0), 0.3)
    again = screw(made.motion() if space == 'motion' else made.force())
    for ours, theirs in zip(again, made):
        assert_allclose(ours, theirs, **TOLERANCE)


@pytest.mark.seed('SV06', kind='full')
@every_space
def test_split_into_line_and_parallel_free_vector(space, cases):
    for case in cases:
        x = vector(space, *case)
        line, free = line_and_free(x)
        assert_allclose(list(line + free), list(x), **TOLERANCE)
        assert is_line(line, 1e-12) and is_free(free) and not is_free(line)
        # parallel to the axis, and of h times its length
        moment = np.array(free.linear if space == 'motion' else free.moment)
        assert_allclose(moment, pitch(x) * case[0], **TOLERANCE)
        assert_allclose(np.cross(moment, case[0]), 0, atol=1e-12)
        assert pitch(line) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.seed('SV06', kind='full')
@every_space
def test_free_and_line_vectors_are_known_by_their_parts(space, cases):
    """Free if and only if s = 0, a line vector if and only if s . s_O = 0."""
    for bound, moment in cases:
        general = vector(space, bound, moment)
        free = vector(space, np.zeros(3), moment)
        line = vector(space, bound, np.cross(moment, bound))
        assert [is_free(x) for x in (general, free, line)] == [False, True, False]
        assert [is_line(x, 1e-14) for x in (general, free, line)] == [False, False, True]
        assert line_and_free(free) == (type(free).zero(), free)
        assert screw(free).pitch == math.inf and not any(screw(free).point)
        with pytest.raises(ZeroDivisionError):
            pitch(free)
        # a free vector has the same coordinates at every origin, a line vector on its own line
        X = PluckerTransform.translation(tuple(bound + moment))
        assert X.apply(free) == free
        at_line = PluckerTransform.translation(axis_point(line)).apply(line)
        on_line = at_line.linear if space == 'motion' else at_line.moment
        assert_allclose(on_line, 0, atol=1e-14)
    assert is_free(type(free).zero()) and not is_line(type(free).zero())
    assert is_free(vector(space, (0, 0, 1e-9), (1, 0, 0)), tolerance=1e-8)
    with pytest.raises(ValueError, match='direction'):
        screw(type(free).zero())


def twist(transform, q):
    """Return the velocity of a joint at unit rate, from its transforms one after another."""
    X = transform(q)
    rate = slope(lambda t: np.array(transform(q + t).matrix(), dtype=float))
    cross = -rate @ np.linalg.inv(np.array(X.matrix(), dtype=float))
    (_, _, wy), (wz, _, _), (_, wx, _) = cross[:3, :3]
    (_, _, vy), (vz, _, _), (_, vx, _) = cross[3:, :3]
    return MotionVector((wx, wy, wz), (vx, vy, vz))


@pytest.mark.seed('SV06', kind='full')
@pytest.mark.parametrize('h', [0.0, 0.2, -1.7])
def test_helical_motion_returns_its_own_pitch(h, rng):
    """The velocity of a nut, from poses one after another, seen from any frame."""
    S = twist(lambda q: AxialScrew.z(q, h * q).transform(), 0.4)
    assert_allclose(list(S), [0, 0, 1, 0, 0, h], atol=CLOSE)
    for E, r in [(dense.rotation(rng), rng.normal(size=3)) for _ in range(5)]:
        X = PluckerTransform(E, r)
        seen = screw(X.apply(S))
        assert seen.pitch == pytest.approx(h, abs=CLOSE)
        assert seen.magnitude == pytest.approx(1.0, abs=CLOSE)
        # its axis is where the nut's axis is, seen from the new frame
        assert_allclose(seen.direction, E @ [0, 0, 1], atol=CLOSE)
        assert_allclose(np.cross(X.inverse_point(seen.point), [0, 0, 1]), 0, atol=CLOSE)


@pytest.mark.seed('SV06')
@pytest.mark.parametrize('joint', [x for x in JOINTS if x.nv == 1], ids=example_id)
def test_joints_of_one_dof_have_the_screw_of_their_motion(joint):
    """Hinges have a line, sliders a free vector, others their pitch."""
    S = joint.motion_subspace([0.3]).columns[0]
    moved = twist(lambda q: joint.transform([q]), 0.3)
    if is_free(S):
        assert_allclose(moved.angular, 0, atol=CLOSE)
        assert_allclose(screw(S).direction, screw(moved).direction, atol=CLOSE)
    else:
        for ours, theirs in zip(screw(S), screw(moved)):
            assert_allclose(ours, theirs, atol=CLOSE)


@pytest.mark.seed('SV06')
@every_space
def test_pitch_is_invariant_and_exact_over_fractions(space, rng):
    F = Fraction
    bound, moment = (F(1), F(2), F(-2)), (F(3), F(1, 2), F(5))
    x = MotionVector(bound, moment) if space == 'motion' else ForceVector(moment, bound)
    assert pitch(x) == F(-2, 3)
    assert axis_point(x) == (F(11, 9), F(-11, 9), F(-11, 18))
    X = PluckerTransform(dense.rotation(rng), rng.normal(size=3))
    assert pitch(X.apply(vector(space, bound, moment))) == pytest.approx(-2 / 3, rel=1e-13)


@every_space
def test_a_line_may_have_a_free_part_as_long_as_the_tolerance(space):
    """Its length is that of the part along the line, however long the line vector is."""
    for size in (0.1, 10.0):
        almost = vector(space, (0.0, 0.0, size), (3.0, -2.0, 0.5))
        assert is_line(almost, 0.5 + 1e-12) and not is_line(almost, 0.5 - 1e-12)
        assert not is_line(almost)


def test_only_vectors_are_screws():
    with pytest.raises(TypeError, match='screw'):
        pitch(RigidBodyInertia.zero())
