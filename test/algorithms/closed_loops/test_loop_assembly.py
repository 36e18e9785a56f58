"""Assemblies: the configuration nearby that closes the loops, or how near it comes."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import loop_mechanisms
from support.four_bar_statics import positions, unwrapped

from rbd_ros import Robot
from rbd_ros.algorithms.closed_loops.loop_assembly import assemble_loops, LoopClosureError
from rbd_ros.model import load_urdf
from rbd_ros.model.joints import Fixed, Prismatic
from rbd_ros.resources import resource_path
from rbd_ros.spatial import PluckerTransform


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


def test_a_closed_configuration_stays_as_it_is(robot):
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


def test_the_distance_of_the_closest_assembly_is_told(robot):
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


@pytest.mark.parametrize('joint', [Fixed(), Prismatic((0.48, -0.6, 0.64))])
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
def test_bad_arguments_are_refused(robot, arguments, word):
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


def test_the_loop_that_stays_open_is_named_among_several():
    """Loops 1 and 3 close by themselves, whatever the one between them does."""
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
