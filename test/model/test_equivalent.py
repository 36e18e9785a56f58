"""Equivalent models (book 9.7): the same equations of motion, fewer parameters."""

from dataclasses import replace

import numpy as np
import pytest
from support import random_trees

from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.algorithms.inertia_matrix.crba import crba
from rbd_ros.algorithms.inverse_dynamics.coriolis import coriolis_matrix
from rbd_ros.algorithms.inverse_dynamics.rnea import rnea
from rbd_ros.model import load_urdf
from rbd_ros.model.equivalent import equivalent_model
from rbd_ros.model.joints import Prismatic, Revolute
from rbd_ros.spatial import ForceVector

# Two texts of the same sums: rounding, times the condition of the sums.
TOLERANCE = 1e-11


def models(seed):
    model = load_urdf(random_trees.tree(seed, mimics=1))
    return model, equivalent_model(model)


def state(model, seed):
    rng = np.random.default_rng(seed)
    q = []
    for body in model.bodies:
        if body.joint.nq == 7:
            quaternion = rng.normal(size=4)
            q.extend([*quaternion / np.linalg.norm(quaternion), *rng.normal(size=3)])
        else:
            q.extend(rng.normal(size=body.joint.nq))
    return q, *(list(map(float, rng.normal(size=model.tree_nv))) for _ in range(2))


def close(actual, expected):
    actual, expected = np.array(actual, float), np.array(expected, float)
    return np.abs(actual - expected).max(initial=0.0) <= TOLERANCE * max(
        1.0, np.abs(expected).max(initial=0.0)
    )


@pytest.mark.seed('DE01', 'DE02', 'DE03')
@pytest.mark.parametrize('seed', range(12))
def test_inverse_dynamics_is_the_same(seed):
    model, equivalent = models(seed)
    q, v, a = state(model, seed)
    force = {len(model.bodies): ForceVector((1.0, -2.0, 3.0), (0.5, 0.7, -1.1))}
    assert close(rnea(equivalent, q, v, a, force), rnea(model, q, v, a, force))


@pytest.mark.parametrize('seed', range(12))
def test_mass_and_coriolis_matrices_are_the_same(seed):
    model, equivalent = models(seed)
    q, v, _ = state(model, seed)
    assert close(crba(equivalent, q), crba(model, q))
    assert close(coriolis_matrix(equivalent, q, v), coriolis_matrix(model, q, v))


@pytest.mark.parametrize('seed', range(12))
def test_forward_dynamics_is_the_same(seed):
    model, equivalent = models(seed)
    bodies = tuple(replace(body, armature=body.armature + 0.1) for body in model.bodies)
    model = replace(model, bodies=bodies)  # no joint without inertia
    q, v, tau = state(model, seed)
    assert close(aba(equivalent_model(model), q, v, tau), aba(model, q, v, tau))


@pytest.mark.parametrize('seed', range(12))
def test_parameters_that_no_joint_excites_are_zero(seed):
    _, equivalent = models(seed)
    for body in equivalent.bodies:
        if isinstance(body.joint, Prismatic):
            assert body.inertia.I == (0.0,) * 6
        if isinstance(body.joint, Revolute):
            assert body.inertia.mass == 0.0
            assert abs(np.dot(body.inertia.h, body.joint.axis)) <= 1e-15


@pytest.mark.parametrize('seed', range(12))
def test_frames_stay_on_their_axes(seed):
    model, equivalent = models(seed)
    for before, after in zip(model.bodies, equivalent.bodies):
        assert after.joint == before.joint
        assert after.tree_transform.E == before.tree_transform.E
        if isinstance(after.joint, Revolute):
            along = np.array(after.tree_transform.E) @ after.tree_transform.r @ after.joint.axis
            assert abs(along) <= 1e-12
