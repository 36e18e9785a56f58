# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Constraint forces of chains by cyclic reduction: against reactions, and depth."""

from dataclasses import replace
import math

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import linkages, random_trees
from support.textbook import Textbook
from support.textbook_trees import GRAVITY

from rbd_ros.algorithms.inverse_dynamics.joint_reactions import joint_reactions
from rbd_ros.algorithms.kinematics.kinematics import body_transforms
from rbd_ros.model import Coupling, load_urdf, ModelError
from rbd_ros.model.joints import Floating, Planar, RackAndPinion, Spherical
from rbd_ros.spatial import ForceVector
from rbd_ros.textbook.closed_loops.constraint_force_algorithm import (
    block_cyclic_reduction,
    constraint_force_algorithm,
)

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31]


def tridiagonal(rng, N, m):
    """Return the blocks of a positive-definite matrix, and the matrix."""
    A = np.zeros((N * m, N * m))
    for i in range(N):
        width = min(2, N - i) * m
        V = rng.normal(size=(width, width))
        A[i * m : i * m + width, i * m : i * m + width] += V @ V.T + 0.1 * np.eye(width)
    blocks = A.reshape(N, m, N, m).transpose(0, 2, 1, 3)
    zero = np.zeros((1, m, m))
    lower = np.concatenate([zero, [blocks[i, i - 1] for i in range(1, N)]]) if N > 1 else zero
    upper = np.concatenate([[blocks[i, i + 1] for i in range(N - 1)], zero]) if N > 1 else zero
    return lower, np.array([blocks[i, i] for i in range(N)]), upper, A


@pytest.mark.parametrize('N', [*LENGTHS, 100])
@pytest.mark.parametrize('m', [1, 3])
def test_cyclic_reduction_solves_in_logarithmic_depth(rng, N, m):
    lower, diagonal, upper, A = tridiagonal(rng, N, m)
    right = rng.normal(size=(N, m))
    x, depth = block_cyclic_reduction(lower, diagonal, upper, right)
    assert_allclose(A @ x.ravel(), right.ravel(), atol=1e-9)
    assert depth == math.floor(math.log2(N))


def test_unsymmetric_blocks_do_as_well(rng):
    lower, diagonal, upper, A = tridiagonal(rng, 6, 2)
    upper[2] += 0.3
    A = A.reshape(6, 2, 6, 2)
    A[2, :, 3, :] += 0.3
    right = rng.normal(size=(6, 2))
    x, _ = block_cyclic_reduction(lower, diagonal, upper, right)
    assert_allclose(A.reshape(12, 12) @ x.ravel(), right.ravel(), atol=1e-10)


def test_shapes_are_checked():
    one = np.ones((1, 2, 2))
    for arguments in (
        (one, np.ones((2, 2, 2)), one, np.ones((2, 2))),
        (np.ones((1, 2, 3)),) * 3 + (np.ones((1, 2)),),
        (one, one, one, np.ones((1, 3))),
        (np.ones((0, 2, 2)),) * 3 + (np.ones((0, 2)),),
    ):
        with pytest.raises(ValueError, match='must be'):
            block_cyclic_reduction(*arguments)


@pytest.mark.seed('FO14', kind='part')
@pytest.mark.parametrize('links', LENGTHS)
def test_accelerations_of_a_chain_are_the_textbooks(links):
    text = random_trees.tree(70 + links, links, random_trees.SIMPLE_TYPES, branching=0.0)
    model, book = load_urdf(text, False, GRAVITY), Textbook(text, False, GRAVITY)
    q, v, tau = book.layout.random_states(np.random.default_rng(links))
    found, depth = constraint_force_algorithm(model, q, v, tau)
    expected = book.forward_dynamics(q, v, tau, {})
    tolerance = 1e-12 * np.linalg.cond(book.mass_matrix(q)) * np.abs(expected).max()
    assert_allclose(found.qdd, expected, rtol=0, atol=tolerance)
    assert depth == math.floor(math.log2(links))


PLANE = Planar.about((0.0, 0.6, 0.8))
MIXED = [Floating(), RackAndPinion(0.3), Spherical(), linkages.HINGE, PLANE, linkages.SLIDER]


@pytest.mark.seed('FO14', kind='full')
@pytest.mark.parametrize('links', LENGTHS)
def test_constraint_forces_are_the_reactions(links, rng):
    """Forces across joints of any number of constraints, of RNEA at the accelerations found."""
    kinds = [MIXED[(i + links) % len(MIXED)] for i in range(links)]
    model = linkages.linkage([linkages.Rod(i, 0.4, kind) for i, kind in enumerate(kinds)], seed=9)
    q = np.concatenate(
        [joint.sample(rng.random(joint.uniforms).tolist(), -1.0, 1.0) for joint in kinds]
    )
    v, tau = rng.normal(size=(2, model.nv))
    forces = {1: ForceVector.from_array(rng.normal(size=6).tolist())}
    found, depth = constraint_force_algorithm(model, q, v, tau, forces)
    expected = joint_reactions(model, q.tolist(), v.tolist(), found.qdd.tolist(), forces)
    X0 = body_transforms(model, q.tolist())
    reactions = [X0[i].inverse_apply(expected[i]).to_array() for i, _ in model.outward()]
    assert_allclose(found.f, reactions, rtol=0, atol=1e-8 * np.abs(reactions).max())
    start = 0
    for i, body in model.outward():
        at = q[body.q].tolist()
        T = columns(body.joint.constraint_forces(at))
        S = columns(body.joint.motion_subspace(at).columns)
        constraint = T @ found.constraint_forces[start : start + T.shape[1]]
        carried = expected[i].to_array() - np.linalg.pinv(S).T @ tau[body.v]
        assert_allclose(constraint, carried, rtol=0, atol=1e-8 * np.abs(reactions).max())
        start += T.shape[1]
    assert len(found.constraint_forces) == start
    assert depth == math.floor(math.log2(links))


def columns(vectors):
    return np.array([list(vector) for vector in vectors], dtype=float).reshape(-1, 6).T


def test_a_tree_that_is_not_a_plain_chain_is_rejected():
    chain = linkages.linkage([linkages.Rod(0), linkages.Rod(1, 0.3)])
    branched = linkages.linkage([linkages.Rod(0), linkages.Rod(0, 0.3)])
    others = {
        'branches': branched,
        'rotors': chain.with_armature({'joint2': 0.1}),
        'gears': replace(chain, couplings=(Coupling(2, 1, 2.0, 0.0),)),
        'loops': linkages.four_bar(),
        'mass': linkages.linkage([linkages.Rod(0), linkages.Rod(1, 0.3)], massless=(1,)),
        'no bodies': linkages.linkage([]),
    }
    for word, model in others.items():
        with pytest.raises(ModelError, match=word):
            constraint_force_algorithm(
                model, np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
            )
