# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Frames of trees of hinges: screws between axes, to the last digit."""

from dataclasses import replace
import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots, lanes, random_trees
from support.definitions import definition_of
from support.denoc_counts import general_chain
from support.hinge_trees import nearly_parallel_tree, tree_of_hinges, TREES, two_hinges

from rbd_ros.algorithms.declaration import AS_IT_IS
from rbd_ros.algorithms.hinge_trees.forward_dynamics_by_screws import screw_links
from rbd_ros.algorithms.hinge_trees.hinge_frames import (
    has_few_free_hinges,
    has_free_hinges,
    hinge_frames,
    HingeScrews,
    require_free_hinges,
    to_axis,
    Turn,
)
from rbd_ros.model import load_urdf, ModelError
from rbd_ros.model.joints import Revolute
from rbd_ros.robot.kernels import declared
from rbd_ros.robot.variants import definition, variant
from rbd_ros.spatial import PluckerTransform
from rbd_ros.spatial.axial_screw import AxialScrew
from rbd_ros.textbook.models.random_models import random_chain, random_tree

EPS = np.finfo(float).eps
EXTENDED = np.finfo(np.longdouble).eps < 1e-3 * EPS

MODELS = {
    'general chain': lambda: general_chain(12),
    'random chain': lambda: random_chain(12),
    'binary tree': lambda: random_tree(15, 2),
    **{f'nearly parallel {k}': lambda k=k: nearly_parallel_tree(k) for k in range(6)},
    **{name: lambda name=name: tree_of_hinges(name).model for name in TREES},
}


# -- turns


@pytest.mark.parametrize('quarters', range(-5, 6))
@pytest.mark.parametrize('more', [0.0, 1e-16, -1e-15, 1e-14, 0.3, 0.7, -0.7])
def test_quarter_turns_are_exact(quarters, more):
    at = quarters * 0.5 * math.pi + more
    turn = Turn.to(math.cos(at), math.sin(at))
    assert 0 <= turn.quarters < 4 and abs(turn.rest) <= 0.25 * math.pi + 1e-15
    for angle in (-2.0, 0.0, 0.7):
        c, s = turn.cosine_and_sine(angle)
        assert_allclose((c, s), (math.cos(angle + at), math.sin(angle + at)), atol=4e-15)
    if abs(more) < 2e-15:
        assert turn.rest == 0.0 and turn.quarters == quarters % 4
        assert {abs(x) for x in turn.cosine_and_sine()} == {0.0, 1.0}
    elif more == 1e-14:
        assert turn.rest == pytest.approx(1e-14, abs=1.5e-15)


@pytest.mark.parametrize('rest', [0.0, 5e-12, -5e-12, 0.6, -0.6])
@pytest.mark.parametrize('other', [Turn(0, 0.0), Turn(1, 0.3), Turn(3, -0.5), Turn(2, 5e-12)])
@pytest.mark.parametrize('quarters', range(4))
def test_turns_add_up(quarters, rest, other):
    turn = Turn(quarters, rest)
    a, b = (x.quarters * 0.5 * math.pi + x.rest for x in (turn, other))
    for found, expected in ((turn.plus(other), a + b), (turn.minus(other), a - b)):
        assert 0 <= found.quarters < 4 and abs(found.rest) <= 0.25 * math.pi
        assert_allclose(
            found.cosine_and_sine(), (math.cos(expected), math.sin(expected)), atol=2e-15
        )
    assert turn.minus(turn) == (0, 0.0)
    small = Turn(quarters, 5e-12)
    assert small.plus(Turn(2, 0.0)).rest == 5e-12  # nothing of it is rounded away


@pytest.mark.parametrize(
    ('point', 'quarters'),
    [((2.0, 0.0), 0), ((0.0, 2.0), 1), ((-2.0, 0.0), 2), ((0.0, -2.0), 3), ((0.0, 0.0), 0)],
)
def test_turns_to_points_on_the_axes_are_quarters(point, quarters):
    assert Turn.to(*point) == (quarters, 0.0)


# -- screws between axes


def between_axes(model, i):
    """Transform from the frame of the parent's axis to that of a body's."""
    body = model.body(i)
    X = to_axis(body) * body.tree_transform
    return X if body.parent == 0 else X * to_axis(model.body(body.parent)).inverse()


def product(screws):
    """Return the transform of all screws, one after the other."""
    X = AxialScrew(2, *screws.theta0.cosine_and_sine(), screws.d0).transform()
    X = AxialScrew(0, *screws.alpha.cosine_and_sine(), screws.a).transform() * X
    X = AxialScrew(1, 1.0, 0.0, screws.b).transform() * X
    return AxialScrew(2, *screws.theta1.cosine_and_sine(), screws.d1).transform() * X


def check_screws(model):
    """Check that they lead where they should, to rounding.

    And are none much longer than the way is.
    """
    screws = hinge_frames(model).screws
    plain = [i for i, x in screws.items() if not x.direction]
    reach = max(np.linalg.norm(body.tree_transform.r) for body in model.bodies)
    for i, body in model.outward():
        X, found = between_axes(model, i), product(screws[i])
        # translations along parallel axes go to where other frames are
        length = np.linalg.norm(body.tree_transform.r)
        scale = length if i in plain else len(model.bodies) * reach
        assert_allclose(found.E, X.E, rtol=0, atol=4e-15, err_msg=body.joint_name)
        assert_allclose(found.r, X.r, rtol=0, atol=2e-14 * scale, err_msg=body.joint_name)
        if i in plain:
            d0, a, d1, b = (getattr(screws[i], name) for name in ('d0', 'a', 'd1', 'b'))
            assert max(map(abs, (d0, a, d1, b))) <= 3.0 * length * (1.0 + 1e-12), body.joint_name


@pytest.mark.parametrize('name', MODELS)
def test_screws_lead_from_axis_to_axis(name):
    check_screws(MODELS[name]())


@pytest.mark.parametrize('name', example_robots.distinct())
def test_screws_of_real_robots_lead_from_axis_to_axis(name):
    text = example_robots.dynamics_xml(example_robots.path(name).read_text(), False)
    model = load_urdf(text)
    if not has_free_hinges(model) or not model.bodies:
        pytest.skip('not of hinges alone')
    check_screws(model)


@pytest.mark.parametrize(
    ('angle', 'r', 'b'),
    [
        (0.0, (0.3, 0.1, 0.2), False),  # parallel
        (math.pi, (0.3, 0.1, 0.2), False),
        (1e-15, (0.3, 0.1, 0.2), False),  # but for rounding
        (4e-15, (0.3, 0.1, 0.2), True),  # but for the digits of a description
        (2e-13, (0.3, 0.1, 0.2), True),
        (math.pi - 2e-13, (0.3, 0.1, 0.2), True),
        (0.02, (0.3, 0.1, 0.2), True),
        (0.5, (0.3, 0.1, 0.2), False),
        (0.02, (0.3, 0.0, 0.0), False),  # the common perpendicular goes through both origins
        (0.02, (0.0, 0.0, 0.2), False),  # axes meet
        (0.02, (0.0, 0.0, 0.0), False),
        (0.33, (0.0, 1.0, 0.0), True),  # distances 1 / tan(0.33) = 2.92 and 1 / sin(0.33) = 3.09
        (0.35, (0.0, 1.0, 0.0), False),  # 2.74 and 2.92
        (0.33, (0.0, 1.0, 0.5), True),  # 3.42 and 3.09 of 3.35
        (0.33, (0.0, 1.0, -0.5), False),  # 2.42 and 3.09
    ],
)
def test_far_perpendiculars_are_left_for_a_translation(angle, r, b):
    model = two_hinges(angle, r)
    check_screws(model)
    second = hinge_frames(model).screws[2]
    assert (second.b != 0.0) is b
    assert not b or second.d1 == 0.0
    assert second.direction == ({0.0: 1.0, 1e-15: 1.0, math.pi: -1.0}.get(angle, 0.0))


@pytest.mark.parametrize('direction', [1.0, -1.0])
def test_perpendiculars_of_parallel_axes_move_along_them(direction):
    """Distances within rounding errors are zero."""
    alpha = Turn(0 if direction > 0.0 else 2, 0.0)
    screws = HingeScrews(Turn(0, 0.1), -0.1 * direction, alpha, 0.2, Turn(1, 0.0), 0.3)
    assert screws.direction == direction
    assert screws.with_d1(0.2)._replace(d0=-0.1 * direction, d1=0.3) == screws
    assert (screws.with_d1(0.2).d0, screws.with_d1(0.2).d1) == (0.0, 0.2)
    assert screws.with_d1(1e-14).d1 == 1e-14 and screws.with_d1(1e-17).d1 == 0.0
    assert screws.with_d1(1e-14).d0 == pytest.approx(0.2 * direction, rel=1e-12)
    assert screws.with_d1(0.2 + 1e-14).d0 != 0.0
    far = screws._replace(d0=-(0.1 + 0.2) * direction, d1=0.0)
    assert far.with_d1(-0.3).d0 == 0.0
    assert far._replace(d0=0.0, d1=0.1 + 0.2).with_d1(0.3).d0 == 0.0


def test_axes_that_coincide_or_meet_take_no_rounding_along():
    """Rounded angles and distances of a description would add multiplications."""
    for angle in (0.0, 0.5 * math.pi):
        second = hinge_frames(two_hinges(angle, (1e-17, 1e-17, 0.3))).screws[2]
        assert second.a == 0.0 and second.b == 0.0 and second.theta0.rest == 0.0
        assert second.theta1.rest == 0.0 and second.alpha.rest == 0.0


# -- where frames lie


def row_of(*steps):
    """Return the chain of hinges about z: each turned about x by an angle, its origin at r."""
    joint = Revolute((0.0, 0.0, 1.0))
    bodies = [
        replace(
            body,
            joint=joint,
            tree_transform=PluckerTransform(PluckerTransform.rotation_x(angle).E, r),
        )
        for body, (angle, r) in zip(random_chain(len(steps)).bodies, steps)
    ]
    return replace(random_chain(len(steps)), bodies=tuple(bodies))


ASKEW = (0.5 * math.pi, (0.1, 0.2, 0.3))


def distances(*steps):
    return [link.distance for link in screw_links(row_of(*steps))]


@pytest.mark.parametrize('angle', [0.0, math.pi])
def test_the_last_of_several_parallel_axes_translates(angle):
    row = (angle, (0.4, 0.0, 0.1))
    found = distances(ASKEW, row, row, ASKEW, ASKEW)
    assert found[0] == found[1] == 0.0 and found[2] != 0.0 and found[3] != 0.0


def test_parallel_axes_at_the_end_translate_nowhere():
    row = (0.0, (0.4, 0.0, 0.1))
    assert distances(ASKEW, row, row) == [0.0, 0.0, 0.0]
    assert distances(ASKEW, ASKEW)[1] == 0.0


def test_upright_axes_next_to_the_base_translate_nowhere():
    """The base does not move: where on its axis the first perpendicular is makes no difference."""
    row = (0.0, (0.4, 0.0, 0.1))
    found = distances(row, row, ASKEW, ASKEW)
    assert found[0] == found[1] == 0.0 and found[2] != 0.0


def test_screws_of_the_largest_subtree_come_first():
    model = row_of(ASKEW, ASKEW, ASKEW, ASKEW, ASKEW)
    parents = (0, 1, 1, 3, 0)
    model = replace(
        model, bodies=tuple(replace(b, parent=p) for b, p in zip(model.bodies, parents))
    )
    frames = hinge_frames(model)
    assert frames.favorite == {0: 1, 1: 3, 3: 4}
    assert {i: len(x) for i, x in frames.subtree.items()} == {1: 4, 2: 1, 3: 2, 4: 1, 5: 1}
    # of two alike, the first
    bodies = (replace(b, parent=p) for b, p in zip(model.bodies, (0, 1, 1)))
    assert hinge_frames(replace(model, bodies=tuple(bodies))).favorite == {0: 1, 1: 2}


def test_parallel_children_of_a_body_share_its_frame():
    """Nothing leads from the parent's frame to theirs but the distance between axes."""
    row = (0.0, (0.4, 0.1, 0.2))
    for first in (row, ASKEW):
        model = row_of(ASKEW, first, ASKEW, row)
        bodies = [replace(b, parent=p) for b, p in zip(model.bodies, (0, 1, 2, 1))]
        frames = hinge_frames(replace(model, bodies=tuple(bodies)))
        assert frames.favorite[1] == 2
        assert frames.screws[4].d0 == frames.screws[2].d0


# -- exactness


def as_described(model, name):
    """Return the definition of a text that takes the frames and inertias of the description."""
    declaration = replace(declared(name), specialization=None, model=AS_IT_IS)
    return definition(model, variant(model, declaration))


@pytest.mark.skipif(not EXTENDED, reason='no numbers longer than double ones here')
@pytest.mark.parametrize('name', MODELS)
def test_results_are_as_exact_as_those_in_the_frames_of_the_description(name, rng):
    """Beside the plain recursions in long double numbers, of the description as it is."""
    model = MODELS[name]()
    q = rng.uniform(-3.0, 3.0, (20, model.nq))
    v, a = rng.normal(size=(2, 20, model.nv))
    H = lanes.evaluate(as_described(model, 'mass_matrix_by_columns'), q)
    condition = max(np.linalg.cond(H))
    for algorithm, oracle, arrays, bound in (
        ('inverse_dynamics', 'rnea', (q, v, a), 50 * EPS),
        ('mass_matrix', 'mass_matrix_by_columns', (q,), 50 * EPS),
        ('forward_dynamics', 'forward_dynamics', (q, v, a), 4 * condition * EPS),
    ):
        text = as_described(model, oracle)
        exact = lanes.evaluate(text, *(x.astype(np.longdouble) for x in arrays))
        scale = np.abs(exact).max()
        found = lanes.evaluate(definition_of(model, f'hinge_{algorithm}'), *arrays)
        error = np.abs(found - exact).max() / scale
        assert error < bound, (algorithm, float(error), bound)


# -- applications


@pytest.mark.parametrize('n', [15, 16])
def test_few_hinges_are_fifteen(n):
    model = random_chain(n)
    assert has_free_hinges(model)
    assert has_few_free_hinges(model) is (n == 15)


def test_other_joints_are_none():
    for words, text in (
        ('not revolute', random_trees.tree(1, 3, ('revolute', 'prismatic'), branching=0.0)),
        ('mimic joint', random_trees.tree(1, 3, ('revolute',), mimics=1)),
    ):
        model = load_urdf(text)
        assert not has_free_hinges(model) and not has_few_free_hinges(model)
        with pytest.raises(ModelError, match=words):
            require_free_hinges(model, (), {})
    require_free_hinges(random_chain(2), (), {})
