# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Conformance of all joint types of rbd_ros/model/joints, by finite differences.

Finite differences are those of analytic functions by complex steps or Richardson's scheme on plain
matrices; they use only `transform` of the types.
"""

import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from support import dense
from support.all_joints import every_joint, example_id, JOINTS, slope

from rbd_ros.model.joints import (
    Cylindrical,
    Floating,
    FloatingInSuccessor,
    Helical,
    JointType,
    Planar,
    Prismatic,
    RackAndPinion,
    Revolute,
    SphereInCylinder,
    Spherical,
    Universal,
)
from rbd_ros.model.joints.joint_type import across
from rbd_ros.spatial import linear3, MotionSubspace, PluckerTransform

SEEDS = range(3)


every_seed = pytest.mark.parametrize('seed', SEEDS)


def state(joint, seed, size=1.0):
    """Return the position, and two velocities."""
    rng = np.random.default_rng(seed)
    q = np.array(joint.sample(rng.random(joint.uniforms), -math.inf, math.inf))
    return q, *rng.normal(scale=size, size=(2, joint.nv))


def moved(joint, q, v, t):
    return np.array(joint.integrate(q.tolist(), (t * v).tolist()), dtype=float)


def X_of(joint, q):
    return joint.transform(np.asarray(q).tolist()).matrix()


def S_of(joint, q):
    columns = joint.motion_subspace(np.asarray(q).tolist()).columns
    return np.array([column.to_array() for column in columns], dtype=float).reshape(-1, 6).T


def axial(matrix):
    """Return the motion vector m of a matrix m x (book 2.9)."""
    return np.array(
        [matrix[2, 1], matrix[0, 2], matrix[1, 0], matrix[5, 1], matrix[3, 2], matrix[4, 0]]
    )


def test_all_types_are_found():
    names = {type(joint).__name__ for joint in JOINTS}
    assert names >= {
        'Revolute', 'Prismatic', 'Planar', 'Floating', 'Spherical', 'RackAndPinion', 'Cam'
    }  # fmt: skip


@every_joint
def test_sizes_fit(joint):
    q, v, _ = state(joint, 0)
    assert len(q) == len(joint.reach) == len(joint.neutral()) == joint.nq
    assert len(joint.position_rate(q.tolist(), v.tolist())) == joint.nq
    assert S_of(joint, q).shape == (6, joint.nv)
    assert len(joint.difference(q.tolist(), q.tolist())) == joint.nv
    assert len(joint.bracket(v.tolist(), v.tolist())) == joint.nv


@pytest.mark.seed('JM00')
@every_joint
def test_neutral_joints_do_not_move_their_bodies(joint):
    assert_allclose(X_of(joint, joint.neutral()), np.eye(6), atol=1e-16)
    assert_allclose(joint.normalize(joint.neutral()), joint.neutral(), rtol=0, atol=0)


@pytest.mark.seed('JM00')
@every_joint
@every_seed
def test_subspace_is_the_derivative_of_the_transform(joint, seed):
    """dX/dt = -(S v) x X, the predecessor at rest (book eq 2.45)."""
    q, v, _ = state(joint, seed)
    rate = slope(lambda t: X_of(joint, moved(joint, q, v, t)))
    assert_allclose(axial(-rate @ np.linalg.inv(X_of(joint, q))), S_of(joint, q) @ v, atol=1e-11)


@pytest.mark.seed('JM00')
@every_joint
@every_seed
def test_subspace_rate_is_the_derivative_of_the_subspace(joint, seed):
    q, v, _ = state(joint, seed)
    rate = slope(lambda t: S_of(joint, moved(joint, q, v, t)))
    columns = joint.motion_subspace_rate(q.tolist(), v.tolist()).columns
    found = np.array([c.to_array() for c in columns], dtype=float).reshape(-1, 6).T
    assert_allclose(found, rate, atol=1e-11)


@every_joint
@every_seed
def test_calc_agrees_with_the_single_verbs(joint, seed):
    q, v, _ = state(joint, seed)
    found = joint.calc(q.tolist(), v.tolist())
    assert_allclose(found.X.matrix(), X_of(joint, q), rtol=0, atol=0)
    assert_allclose(found.v.to_array(), S_of(joint, q) @ v, atol=1e-15)
    columns = joint.motion_subspace_rate(q.tolist(), v.tolist()).columns
    rate = np.array([c.to_array() for c in columns], dtype=float).reshape(-1, 6).T
    assert_allclose(found.c.to_array(), rate @ v, atol=1e-15)
    S = np.array([c.to_array() for c in found.S.columns], dtype=float).reshape(-1, 6)
    assert_allclose(S, S_of(joint, q).T, rtol=0, atol=0)


@pytest.mark.seed('JM00', kind='full')
@every_joint
@every_seed
def test_constraint_forces_do_no_work_and_are_all(joint, seed):
    """T^T S = 0, and T has the 6 - nv columns that S leaves (book 4.4)."""
    q, _, _ = state(joint, seed)
    forces = joint.constraint_forces(q.tolist())
    T = np.array([force.to_array() for force in forces], dtype=float).reshape(-1, 6).T
    S = S_of(joint, q)
    assert T.shape == (6, 6 - joint.nv)
    assert_allclose(T.T @ S, 0.0, atol=1e-15)
    assert np.linalg.matrix_rank(T) == 6 - joint.nv
    assert np.linalg.matrix_rank(S) == joint.nv


@every_joint
@every_seed
def test_position_rate_is_the_derivative_of_integrate(joint, seed):
    q, v, _ = state(joint, seed)
    rate = slope(lambda t: moved(joint, q, v, t))
    assert_allclose(joint.position_rate(q.tolist(), v.tolist()), rate, atol=1e-11)


@every_joint
@every_seed
@pytest.mark.parametrize('size', [1.0, 1e-3, 1e-8, 0.0])
def test_difference_inverts_integrate(joint, seed, size):
    q, v, _ = state(joint, seed, 0.5)
    v = v * size
    back = joint.difference(q.tolist(), joint.integrate(q.tolist(), v.tolist()))
    assert_allclose(np.array(back, dtype=float), v, rtol=0, atol=5e-15)


@every_joint
@every_seed
def test_velocities_in_turn_add_up(joint, seed):
    """`integrate` is the exponential: constant velocities can be split."""
    q, v, _ = state(joint, seed)
    half = moved(joint, moved(joint, q, v, 0.5), v, 0.5)
    assert_allclose(X_of(joint, half), X_of(joint, moved(joint, q, v, 1.0)), atol=1e-14)


@every_joint
@every_seed
def test_the_bracket_is_the_limit_of_motions_there_and_back(joint, seed):
    """Along u, v, -u, -v by s each: s^2 [u, v], in coordinates of the start."""
    q, u, v = state(joint, seed)

    def left(s):
        end = q
        for step in (u, v, -u, -v):
            end = moved(joint, end, step, s)
        return np.array(joint.difference(q.tolist(), end.tolist()), dtype=float) / s**2

    s = 1e-2
    # The odd terms cancel; Richardson takes the next even one.
    mean = [(left(k * s) + left(-k * s)) / 2.0 for k in (1.0, 0.5)]
    found = (4.0 * mean[1] - mean[0]) / 3.0
    assert_allclose(joint.bracket(u.tolist(), v.tolist()), found, atol=1e-6)


@every_joint
@every_seed
def test_random_positions_are_normal_and_keep_limits(joint, seed):
    rng = np.random.default_rng(seed)
    q = np.array(joint.sample(rng.random(joint.uniforms), -math.inf, math.inf))
    assert_allclose(joint.normalize(q.tolist()), q, rtol=0, atol=1e-15)
    if joint.nq == 1:
        reach = 2.0 * joint.reach[0]  # from the one limit that there is
        for lower, upper in ((-0.3, 0.2), (1.0, math.inf), (-math.inf, -1.0)):
            least = lower if lower > -math.inf else upper - reach
            most = upper if upper < math.inf else lower + reach
            drawn = [joint.sample(rng.random(joint.uniforms), lower, upper)[0] for _ in range(90)]
            assert least <= min(drawn) and max(drawn) <= most
            assert np.ptp(drawn) > 0.9 * (most - least)


@every_joint
@every_seed
def test_normal_positions_mean_the_same(joint, seed):
    q, _, _ = state(joint, seed)
    other = np.array(joint.normalize((1.7 * q).tolist()))
    assert_allclose(X_of(joint, other), X_of(joint, 1.7 * q), atol=1e-15)
    if other.tolist() != (1.7 * q).tolist():
        with pytest.raises(ValueError, match='zero'):
            joint.normalize((0.0 * q).tolist())


@every_joint
def test_random_positions_without_limits_are_within_reach(joint):
    rng = np.random.default_rng(0)
    drawn = [joint.sample(rng.random(joint.uniforms), -math.inf, math.inf) for _ in range(50)]
    drawn, reach = np.reshape(drawn, (50, joint.nq)), np.array(joint.reach)
    assert (np.abs(drawn) <= reach).all() and (np.ptp(drawn, axis=0) >= reach).all()


# -- loop joints, which know the transform between their frames only ------------------------------

every_loop_joint = pytest.mark.parametrize(
    'joint', [joint for joint in JOINTS if joint.closes_loops], ids=example_id
)
ONE_BY_ONE = (Cylindrical, Helical, Prismatic, RackAndPinion, Revolute, Universal)
ANY_WAY = (Floating, FloatingInSuccessor, SphereInCylinder, Spherical)


def transform_of(matrix):
    """Return the transform of a 6 x 6 matrix [E 0; -E (r x) E]."""
    E = matrix[:3, :3]
    r = -E.T @ matrix[3:, :3]
    return PluckerTransform(linear3.matrix3(E), (r[2, 1], r[0, 2], r[1, 0]))


@every_loop_joint
@every_seed
def test_subspaces_of_loop_joints_are_those_of_their_positions(joint, seed):
    q, _, _ = state(joint, seed)
    X = joint.transform(q.tolist())
    S, T = joint.motion_subspace_at(X).columns, joint.constraint_forces_at(X)
    for found, expected in (
        (S, joint.motion_subspace(q.tolist()).columns),
        (T, joint.constraint_forces(q.tolist())),
    ):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            assert_allclose(one.to_array(), other.to_array(), atol=1e-14)


@every_loop_joint
@every_seed
def test_the_rate_of_a_loop_error_is_the_constrained_velocity(joint, seed):
    """Zero where the joint can be; the rate there is T^T u at any relative velocity u."""
    q, _, _ = state(joint, seed)
    X, u = X_of(joint, q), np.random.default_rng(seed).normal(size=6)
    assert_allclose(
        joint.loop_error(joint.transform(q.tolist())), np.zeros(6 - joint.nv), atol=1e-14
    )

    def error(t):
        moved = transform_of(expm(-t * dense.crm(u)) @ X)
        return np.array(joint.loop_error(moved), dtype=float)

    T = [force.to_array() for force in joint.constraint_forces(q.tolist())]
    assert_allclose(slope(error), [t @ u for t in T], atol=1e-10)


@every_loop_joint
@every_seed
def test_displacements_of_loop_joints(joint, seed):
    q, v, _ = state(joint, seed)
    X = joint.transform(q.tolist())
    if type(joint) in ONE_BY_ONE:
        assert_allclose(joint.displacement_at(X), q, atol=1e-13)
    if type(joint) in ANY_WAY:
        turned = Rotation.from_matrix(np.array(X.E, dtype=float).T).as_rotvec()
        assert_allclose(joint.displacement_at(X)[:3], turned, atol=1e-13)
    neutral = np.array(joint.neutral())

    def displacement(t):
        there = joint.transform(moved(joint, neutral, v, t).tolist())
        return np.array(joint.displacement_at(there), dtype=float)

    assert_allclose(displacement(0.0), 0.0, atol=1e-15)
    assert_allclose(slope(displacement), v, atol=1e-10)


class Aside(JointType):
    """A type such as users write: a pair whose axis, or center, misses the frame's origin."""

    def __init__(self, pair):
        self.pair, self.centered = pair, PluckerTransform.translation((0.3, -0.2, 0.5))
        self.nq, self.nv = pair.nq, pair.nv

    def transform(self, q):
        return self.centered.inverse() * self.pair.transform(q) * self.centered

    def motion_subspace(self, q):
        columns = self.pair.motion_subspace(q).columns
        return MotionSubspace([self.centered.inverse_apply(s) for s in columns])

    def constraint_forces(self, q):
        return tuple(self.centered.inverse_apply(f) for f in self.pair.constraint_forces(q))

    def neutral(self):
        return self.pair.neutral()

    @classmethod
    def examples(cls):
        return (cls(Revolute((0.0, 0.0, 1.0))),)


@pytest.mark.parametrize(
    'pair',
    [
        pair
        for kind in (Revolute, Prismatic, Helical, Cylindrical, Planar, Spherical)
        for pair in kind.examples()
    ],
    ids=example_id,
)
@every_seed
def test_lower_pairs_whose_axis_misses_the_origin(pair, seed):
    """Errors change as the forces say, displacements are those of the pair on its axis."""
    joint, (q, _, _) = Aside(pair), state(pair, seed)
    X, u = X_of(joint, q), np.random.default_rng(seed).normal(size=6)
    at = joint.transform(q.tolist())
    assert_allclose(joint.loop_error(at), np.zeros(6 - joint.nv), atol=1e-14)

    def error(t):
        return np.array(joint.loop_error(transform_of(expm(-t * dense.crm(u)) @ X)), dtype=float)

    T = [force.to_array() for force in joint.constraint_forces(q.tolist())]
    assert_allclose(slope(error), [t @ u for t in T], atol=1e-9)
    expected = pair.displacement_at(pair.transform(q.tolist()))
    assert_allclose(joint.displacement_at(at), expected, atol=1e-13)


# -- single types ---------------------------------------------------------------------------------


@pytest.mark.seed('JM09', kind='full')
def test_rack_and_pinion_is_as_printed():
    """Book example 4.6."""
    r, q, rate = 0.3, 0.7, 1.9
    joint = RackAndPinion(r)
    s, c = math.sin(q), math.cos(q)
    assert_allclose(S_of(joint, [q])[:, 0], [0, 0, 1, r * c, -r * s, 0], atol=1e-16)
    printed = [0, 0, 0, -r * s * rate**2, -r * c * rate**2, 0]
    assert_allclose(joint.bias([q], [rate]).to_array(), printed, atol=1e-16)
    T = [force.to_array() for force in joint.constraint_forces([q])]
    across = [[0, 0, -r * c, 1, 0, 0], [0, 0, r * s, 0, 1, 0]]  # which S does no work on
    assert_allclose(T, [*np.eye(6)[:2], *across, np.eye(6)[5]], atol=1e-16)
    X = joint.transform([q])
    assert_allclose(X.r, [r * q, 0, 0])
    assert_allclose(X.E, [[c, s, 0], [-s, c, 0], [0, 0, 1]])
    hinge, flat = Revolute((0.0, 0.0, 1.0)), RackAndPinion(0.0)
    assert_allclose(X_of(flat, [q]), X_of(hinge, [q]), atol=0)
    assert_allclose(S_of(flat, [q]), S_of(hinge, [q]), atol=0)


def test_planes_are_right_handed():
    for normal in ((0.0, 0.0, -1.0), (0.48, -0.6, 0.64), (0.0, 0.0, 1.0)):
        axes = np.array(Planar.about(normal).axes)
        assert_allclose(axes @ axes.T, np.eye(3), atol=1e-15)
        assert np.linalg.det(axes) == pytest.approx(1.0)


@pytest.mark.parametrize('angle', [5.3e-5, 1e-3, 1.0])
def test_planes_that_are_nearly_turned_over_are_square(angle):
    normal = (math.sin(angle), 0.0, -math.cos(angle))
    axes = np.array(Planar.about(normal).axes)
    assert_allclose(axes @ axes.T, np.eye(3), atol=1e-6)
    assert_allclose(axes[2], normal, atol=1e-15)


@every_joint
def test_pose_variables_are_the_pose_of_a_body_that_moves_freely(joint):
    q, _, _ = state(joint, 0)
    free = joint.pose_variables()
    if type(joint) is Floating:
        assert free is not None
    if free is not None:
        assert np.array_equal(S_of(joint, q), np.eye(6))
        w, x, y, z = q[free[0] : free[0] + 4]
        position = q[free[1] : free[1] + 3]
        X = joint.transform(q.tolist())
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        R = np.eye(3) + 2 * w * skew + 2 * skew @ skew  # Rodrigues, of a unit quaternion
        assert_allclose(np.array(X.E, dtype=float).T, R, atol=1e-14)
        assert_allclose(np.array(X.r, dtype=float), position, atol=1e-14)


@pytest.mark.parametrize('tilt', [0.0, 1e-200, 1e-155, 1e-12, 3e-9, 1e-5, 4e-5, 1e-3, 0.3, 2.0])
@pytest.mark.parametrize('turn', [0.0, 0.7, 2.5, 4.0])
def test_frames_of_axes_near_z_turned_over_are_exact(tilt, turn):
    """Axes at an angle to -z: right-handed to rounding, and z turned by the smallest angle."""
    size = np.sin(tilt) if tilt > 1e-100 else tilt
    axis = (size * np.cos(turn), size * np.sin(turn), -np.cos(tilt))
    u, v = across(axis)
    frame = np.array([u, v, axis])
    assert_allclose(frame @ frame.T, np.eye(3), atol=3e-15)
    assert_allclose(np.cross(u, v), axis, atol=3e-15)
    if size > 1e-100:
        # The axis of that rotation lies across z and the axis, and stays.
        stays = np.array([-np.sin(turn), np.cos(turn), 0.0])
        assert_allclose(frame @ stays, stays, atol=1e-15 if tilt < 1e-3 else 3e-15)
