# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Several handles together, against forward dynamics with a force on one of them at a time."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import handles
from support.textbook_trees import check, every_reference, every_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.algorithms.articulated_body.handle_equation import handle_response
from rbd_ros.textbook.articulated_body.multi_handle_response import (
    multi_handle_inverse_inertia,
    multi_handle_response,
)


def three_links(tree):
    links = list(tree.model.links)
    return [links[-1], links[1], links[len(links) // 2]]


def tolerance(book, q):
    return max(1e-12, 40 * np.finfo(float).eps * np.linalg.cond(book.mass_matrix(q)))


@pytest.mark.seed('AB05', kind='full')
@every_reference
@every_tree
def test_forces_on_handles_accelerate_all_of_them(name, reference):
    """Gears, rotors, S(q), floating bases; off-diagonal blocks are the cross-coupling."""
    tree = named_tree(name)
    links = three_links(tree)
    frames = tuple(tree.model.frame(link) for link in links)
    given = {'frames': frames, 'reference': reference}
    for q, v, tau in tree.states[:1]:
        expected = handles.response(tree.book, q, v, tau, tree.forces, links, reference)
        found = run(
            multi_handle_response, tree.model, q=q, v=v, tau=tau, **given,
            external_forces=tree.forces_on_bodies,
        )  # fmt: skip
        for what, ours, theirs in zip(('Phi', 'b'), found, expected):
            check(what, name, ours, theirs, tolerance(tree.book, q))
        Phi = run(multi_handle_inverse_inertia, tree.model, q=q, **given)
        assert np.array_equal(Phi, found[0])


@pytest.mark.seed('AB05', kind='full')
@every_tree
def test_the_matrix_is_symmetric_and_its_rank_that_of_the_handles_dofs(name):
    """Positive-semidefinite; blocks on the diagonal are those of single handles (book 7.1)."""
    tree = named_tree(name)
    links = three_links(tree)
    frames = tuple(tree.model.frame(link) for link in links)
    q, v, tau = tree.states[0]
    Phi = run(multi_handle_inverse_inertia, tree.model, q=q, frames=frames, reference='base')
    assert np.array_equal(Phi, Phi.T)
    J = np.vstack([tree.book.jacobian(q, link, 'base') for link in links])
    rank = np.linalg.matrix_rank(J, 1e-6)
    assert rank < 18
    values = np.linalg.eigvalsh(Phi)[::-1]
    assert np.all(values[:rank] > 1e-9 * values[0])
    assert np.all(np.abs(values[rank:]) <= 1e-12 * values[0])
    for k, frame in enumerate(frames):
        single, _ = run(
            handle_response, tree.model, q=q, v=v, tau=tau, frame=frame, reference='base',
            external_forces=None,
        )  # fmt: skip
        block = Phi[6 * k : 6 * k + 6, 6 * k : 6 * k + 6]
        assert_allclose(block, single, atol=1e-12 * max(1.0, np.abs(single).max()))


@pytest.mark.seed('AB05')
@every_reference
def test_a_robot_has_the_functions_of_its_handles(reference):
    tree = named_tree('floating base, gears')
    robot = Robot(tree.model)
    links = three_links(tree)
    q, v, tau = tree.states[1]
    functions = robot.articulated.handles(links, reference)
    assert functions is robot.articulated.handles(tuple(links), reference)
    expected = handles.response(tree.book, q, v, tau, tree.forces, links, reference)
    found = functions.response(q, v, tau, tree.forces)
    for what, ours, theirs in zip(('Phi', 'b'), found, expected):
        check(what, 'kernel', ours, theirs, tolerance(tree.book, q))
    check('Phi', 'kernel', functions.inverse_inertia(q), expected[0], tolerance(tree.book, q))
    many = functions.inverse_inertia(np.tile(q, (3, 1)))
    assert_allclose(many, np.tile(found.Phi, (3, 1, 1)), atol=1e-9 * np.abs(found.Phi).max())
    out = np.empty((18, 18))
    assert functions.inverse_inertia(q, out=out) is out


@pytest.mark.parametrize('wrong', [(), 'link1', ('link1', 'nowhere')])
def test_handles_must_be_named(wrong):
    robot = Robot(named_tree('chain').model)
    with pytest.raises(ValueError, match='frame|nowhere'):
        robot.articulated.handles(wrong)
    with pytest.raises(ValueError, match='reference'):
        robot.articulated.handles(('link1',), 'elsewhere')
