# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Loop assembly: the nearest configuration with closed loops, or with minimum error."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import loop_mechanisms
from support.all_joints import example_id
from support.four_bar_statics import positions, unwrapped
from support.loop_joints import HIGHER_PAIRS

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.loop_assembly import assemble_loops, LoopClosureError
from rbd_ros.lookup.resources import resource_path
from rbd_ros.model import Frame, JointLimits, load_urdf, LoopJoint
from rbd_ros.model.joints import (
    Fixed,
    Prismatic,
    RackAndPinion,
    Reversed,
    SphereInCylinder,
    Spherical,
    Universal,
)
from rbd_ros.spatial import PluckerTransform
from rbd_ros.textbook.models.random_models import random_chain


@pytest.fixture(scope='module')
def robot():
    extension = resource_path('config', 'four_bar.yaml')
    return Robot.from_urdf(resource_path('urdf', 'four_bar.urdf'), extension=extension)


@pytest.mark.parametrize('mode', [1.0, -1.0])
@pytest.mark.parametrize('crank', [0.3, 1.0, 2.0, 3.0, -1.5])
def test_joints_that_move_go_where_trigonometry_has_them(robot, crank, mode):
    q = positions(crank, mode)
    begin = q + [0.0, 0.2, -0.15]
    found = robot.loops.project(begin, fixed=['crank_joint'])
    assert found[0] == crank
    assert_allclose(found, unwrapped(crank, found, mode), atol=1e-9)
    interpreted = assemble_loops(robot.model, begin, [0])
    assert interpreted.is_closed
    assert_allclose(interpreted.q, found, atol=1e-9)


def test_assembly_does_not_change_a_closed_configuration(robot):
    q = robot.loops.project(positions(0.9))
    assert np.array_equal(robot.loops.project(q), q)


def test_a_flat_mechanism_is_assembled_from_nearby(robot):
    found = assemble_loops(robot.model, np.zeros(3))
    assert not found.is_closed and found.loop == 'pin'
    assert found.distance == pytest.approx(0.15)
    closed = assemble_loops(robot.model, np.zeros(3), starts=40)
    assert closed.is_closed
    assert_allclose(closed.q, unwrapped(closed.q[0], closed.q, 1.0), atol=1e-8)
    again = assemble_loops(robot.model, np.zeros(3), starts=40)
    assert np.array_equal(closed.q, again.q)


def test_the_distance_of_the_closest_assembly_is_reported(robot):
    far = {
        'name': 'pin',
        'type': 'spherical',
        'predecessor': {'frame': 'coupler', 'xyz': [0.45, 0, 0]},
        'successor': {'frame': 'ground', 'xyz': [0.0, 0, 1.25]},
    }
    model = load_urdf(resource_path('urdf', 'four_bar.urdf'), loops=[far])
    found = assemble_loops(model, [0.2, 0.1, 0.0], starts=5)
    assert not found.is_closed
    assert found.distance == pytest.approx(0.5, rel=1e-6)
    with pytest.raises(LoopClosureError, match="'pin' open by 0.5 "):
        Robot(model).loops.project([0.2, 0.1, 0.0], starts=5)


@pytest.mark.parametrize(
    'joint', [Fixed(), Prismatic((0.48, -0.6, 0.64)), *HIGHER_PAIRS], ids=example_id
)
def test_loops_of_other_joints_close_again_where_they_were(joint):
    text, robot, q, _, _ = loop_mechanisms.closed_robot(3, (joint,), ((2, 7),))
    rng = np.random.default_rng(0)
    found = robot.loops.project(q + rng.normal(scale=1e-2, size=robot.nq))
    assert np.abs(robot.loops.closure(found).residual).max() < 1e-10
    assert np.abs(found - q).max() < 0.2


@pytest.mark.parametrize(
    'arguments, word',
    [
        ((np.zeros(2),), 'shape'),
        (([0.0, np.nan, 0.0],), 'finite'),
        ((np.zeros(3), ['crank']), "'crank_joint'"),
    ],
)
def test_bad_arguments_are_rejected(robot, arguments, word):
    with pytest.raises(ValueError, match=word):
        robot.loops.project(*arguments)


def test_a_hinge_that_is_turned_over_is_not_closed():
    """The position errors of a pair half a turn away are zero as well."""
    model = loop_mechanisms.four_bar().model
    over = PluckerTransform(((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0)), (0.0,) * 3)
    (loop,) = model.loops
    turned = replace(loop.successor, placement=over * loop.successor.placement)
    twisted = model.with_loops([replace(loop, successor=turned)])
    begin = np.array([0.9, -1.2, -0.9])
    assert assemble_loops(model, begin, starts=10).is_closed
    found = assemble_loops(twisted, begin, starts=10)
    assert not found.is_closed and found.distance > 0.1
    assert found.loop == loop.name


def test_the_loop_that_stays_open_is_named_among_several():
    """Loops 1 and 3 can close, independent of the one between them."""
    pin = {
        'type': 'revolute',
        'axis': [0, -1, 0],
        'predecessor': {'frame': 'coupler', 'xyz': [0.45, 0, 0]},
        'successor': {'frame': 'rocker', 'xyz': [0.4, 0, 0]},
    }
    aside = {**pin, 'successor': {'frame': 'rocker', 'xyz': [0.4, 1.0, 0]}}
    for names in (('a', 'b', 'c'), ('b', 'a', 'c'), ('a', 'c', 'b')):
        entries = [{'name': n, **(aside if n == 'b' else pin)} for n in names]
        model = load_urdf(resource_path('urdf', 'four_bar.urdf'), loops=entries)
        found = assemble_loops(model, positions(0.9))
        assert (found.is_closed, found.loop) == (False, 'b')
        assert found.distance == pytest.approx(1.0, rel=1e-6)


def test_joints_that_stay_stay_from_other_starts_as_well(robot):
    found = robot.loops.project(np.array([0.3, 0.0, 0.0]), fixed=['crank_joint'], starts=40)
    assert found[0] == 0.3
    flat = assemble_loops(robot.model, np.zeros(3), [0], starts=40)
    assert flat.is_closed and flat.q[0] == 0.0


def two_hinged(joint, over):
    """Return the body on two hinges, x then z, that a loop joint connects to the base.

    Turned over or not.

    :param over: whether the frame on the body is turned by pi about x
    """
    text = (
        '<robot name="r"><link name="base"/><link name="a"/><link name="b"><inertial>'
        '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '</link><joint name="x" type="prismatic"><parent link="base"/><child link="a"/>'
        '<axis xyz="1 0 0"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>'
        '<joint name="z" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    model = load_urdf(text)
    turn = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0))
    X = PluckerTransform(turn, (0.0,) * 3) if over else PluckerTransform.identity()
    ends = Frame(0, PluckerTransform.identity()), Frame(2, X)
    first, second = ends[::-1] if isinstance(joint, Reversed) else ends
    return model.with_loops([LoopJoint('it', first, second, joint)])


@pytest.mark.parametrize('joint', [RackAndPinion(0.3), Reversed(RackAndPinion(0.3))])
def test_a_pinion_that_is_turned_over_is_not_closed(joint):
    found = assemble_loops(two_hinged(joint, False), [0.2, 0.1])
    assert found.is_closed and found.q[0] == pytest.approx(0.3 * found.q[1], abs=1e-9)
    over = assemble_loops(two_hinged(joint, True), [0.0, 0.0])
    assert (over.is_closed, over.loop) == (False, 'it') and over.distance > 0.1


@pytest.mark.parametrize(
    'joint',
    [Spherical(), SphereInCylinder((1.0, 0.0, 0.0)), Universal((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))],
    ids=lambda joint: type(joint).__name__,
)
def test_joints_that_reach_it_are_closed_half_a_turn_away(joint):
    """A ball turns over, and a universal joint does about its first axis."""
    for over in (False, True):
        assert assemble_loops(two_hinged(joint, over), [0.0, 0.0]).is_closed


def test_loop_errors_do_not_depend_on_the_number_of_constraints():
    """Two constraints of a sphere, five of a hinge, four of a universal joint: each its own."""
    pin = {
        'type': 'revolute',
        'axis': [0, -1, 0],
        'predecessor': {'frame': 'coupler', 'xyz': [0.45, 0, 0]},
        'successor': {'frame': 'rocker', 'xyz': [0.4, 0, 0]},
    }
    aside = {**pin, 'successor': {'frame': 'rocker', 'xyz': [0.4, 1.0, 0]}}
    sphere = {**pin, 'type': 'sphere_in_cylinder'}
    hooke = {k: v for k, v in pin.items() if k != 'axis'}
    hooke |= {'type': 'universal', 'first': [0, 1, 0], 'second': [1, 0, 0]}
    for last in ('a', 'b', 'c'):
        chosen = {'a': sphere, 'b': hooke, 'c': sphere, last: aside}
        entries = [{'name': name, **chosen[name]} for name in 'abc']
        model = load_urdf(resource_path('urdf', 'four_bar.urdf'), loops=entries)
        found = assemble_loops(model, positions(0.9))
        assert (found.is_closed, found.loop) == (False, last)
        assert found.distance == pytest.approx(1.0, rel=1e-6)


def asked(model, q, closure, **options):
    """Return the configurations at which `closure` computes errors and K, in order."""
    seen = []

    def recorded(q):
        seen.append(np.array(q))
        return closure(q)

    assemble_loops(model, q, closure=recorded, **options)
    return np.array(seen)


def long_chain(lower, upper, joints=400):
    """Return the hinges with limits, and a ball that never closes between the ends."""
    chain = random_chain(joints)
    bodies = tuple(
        replace(body, limits=JointLimits(lower=lower, upper=upper)) for body in chain.bodies
    )
    ends = Frame(0, PluckerTransform.identity()), Frame(joints, PluckerTransform.identity())
    return replace(chain, bodies=bodies).with_loops([LoopJoint('it', *ends, Spherical())])


@pytest.mark.parametrize('limit', [(3.0, 4.0), (-900.0, 900.0), (-2e3, 2e3)])
def test_other_starts_lie_ever_farther_away_and_then_anywhere_within_the_limits(limit):
    """Limits of more than a thousand are none: the latter half is within half a turn then."""
    model, q = long_chain(*limit), np.full(400, 0.5)
    begins = asked(
        model, q, lambda q: (np.ones(3), np.ones((3, 400))), starts=8, iterations=0, fixed=[7]
    )
    assert np.array_equal(begins[0], q)
    assert np.all(begins[:, 7] == q[7])
    away = np.delete(begins[1:], 7, axis=1) - 0.5
    spread = np.sqrt(np.mean(away[:4] ** 2, axis=1))
    assert_allclose(spread, [0.1, 0.2, 0.3, 0.4], rtol=0.15)
    assert np.abs(np.mean(away[:4], axis=1)).max() < 0.08
    lower, upper = limit if max(limit) < 1e3 else (-np.pi, np.pi)
    drawn = away[4:] + 0.5
    assert lower <= drawn.min() and drawn.max() <= upper
    width = upper - lower
    assert_allclose(drawn.mean(axis=1), 0.5 * (lower + upper), atol=0.08 * width)
    assert_allclose(drawn.std(axis=1), width / np.sqrt(12.0), rtol=0.1)


def test_steps_that_lead_away_are_damped_tenfold_until_they_are_nothing():
    """The method of Levenberg, and its end where no step makes the errors smaller."""
    model, q = two_hinged(Spherical(), False), np.zeros(2)
    K = np.array([[3.0, 0.0], [0.0, 3.0], [0.0, 0.0]])

    def closure(at):
        return np.array([0.3, 0.0, 0.0]) * (1.0 + np.any(at)), K

    steps = asked(model, q, closure)[1:]
    assert not np.any(steps[:, 1])
    damping = -0.1 / steps[:, 0] - 1.0
    assert abs(damping[0]) < 1e-12 and damping[1] == pytest.approx(1e-8, rel=1e-6)
    assert_allclose(damping[2:] / damping[1:-1], 10.0, rtol=1e-6)
    assert 0.9e6 < damping[-1] < 1.1e7
    assert len(steps) == len(damping)


def test_steps_that_lead_nearer_are_damped_less_and_less():
    """Errors grow a hundred times as fast as K says: a step must be damped by about that."""
    model = two_hinged(Spherical(), False)
    K = np.array([[3.0, 0.0], [0.0, 3.0], [0.0, 0.0]])

    def closure(at):
        return np.array([300.0 * at[0], 0.0, 0.0]), K

    seen = asked(model, np.array([1e-3, 0.0]), closure)[:, 0]
    assert abs(seen[-1]) < 1e-12
    at, expected, found = seen[0], [], []
    for step in seen[1:]:
        found.append(-100.0 * at / (step - at) - 1.0)
        if abs(step) < abs(at):
            at = step
            expected.append(0.1)
        else:
            expected.append(10.0)
    first = next(k for k, factor in enumerate(expected) if factor == 0.1)
    assert found[first] == pytest.approx(100.0)
    assert_allclose(np.divide(found[first + 1 :], found[first:-1]), expected[first:-1], rtol=1e-6)


@pytest.mark.parametrize(
    ('q', 'problem'),
    [
        ([], r'q must have shape \(3,\), got \(0,\)'),
        ([[0.0, 0.0, 0.0]], r'q must have shape \(3,\), got \(1, 3\)'),
        ([0.0, np.nan, 0.0], r'q must be finite, got \[ *0. nan  0.\]'),
    ],
)
def test_an_invalid_configuration_is_rejected_with_the_problem(robot, q, problem):
    with pytest.raises(ValueError, match=problem):
        robot.loops.project(q)
