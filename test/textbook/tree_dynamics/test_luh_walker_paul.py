# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The algorithm of 1980 in 3-D vectors, against table 5.1 in spatial vectors."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import random_trees
from support.textbook import Textbook

from rbd_ros import Robot
from rbd_ros.algorithms.kinematics.kinematics import body_transforms, body_velocities
from rbd_ros.model import load_urdf, Model, ModelError
from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.textbook.models.random_models import random_chain, random_tree
from rbd_ros.textbook.tree_dynamics.luh_walker_paul import chain_dynamics, luh_walker_paul
from rbd_ros.textbook.tree_dynamics.rnea_absolute import rnea_with_motion
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

GRAVITY = (1.0, -2.0, -9.0)
chains = pytest.mark.parametrize('joints', [1, 2, 7])


def chain(joints):
    armature = {f'joint{i}': 0.1 * i for i in range(1, joints + 1)}
    return random_chain(joints, 8).with_gravity(GRAVITY).with_armature(armature)


def state(joints):
    return np.random.default_rng(joints).uniform(-2.0, 2.0, (3, joints)).tolist()


@pytest.mark.seed('ID08', kind='full')
@chains
def test_forces_are_those_of_table_5_1(joints):
    model, (q, qd, qdd) = chain(joints), state(joints)
    expected = rnea_spatial(model, q, qd, qdd)
    found = luh_walker_paul(model, q, qd, qdd)
    assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.seed('ID08', kind='full')
def test_forces_are_those_of_the_textbook():
    text = random_trees.chain_of_hinges(3, 6)
    model, book = load_urdf(text, False, GRAVITY), Textbook(text, False, GRAVITY)
    for q, v, a in (book.layout.random_states(np.random.default_rng(s)) for s in range(3)):
        expected = book.inverse_dynamics(q, v, a, {})
        found = luh_walker_paul(model, q.tolist(), v.tolist(), a.tolist())
        assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.seed('ID08', kind='full')
@chains
def test_variables_correspond_to_those_of_table_5_1(joints):
    """Spatial a = [wd; vd - w x v], f_B = [N + c x F; F] and f = [n; f] (book table 5.2, below).

    Accelerations and forces of the other side are in base coordinates and without gravity's.
    """
    model, (q, qd, qdd) = chain(joints), state(joints)
    ours = chain_dynamics(model, q, qd, qdd)
    theirs = rnea_with_motion(model, q, qd, qdd)
    X0 = body_transforms(model, q)
    _, velocities = body_velocities(model, q, qd)
    for i, body in model.outward():
        v, w = np.array(velocities[i].linear), np.array(ours.w[i])
        assert_allclose(w, velocities[i].angular, rtol=0, atol=1e-13)
        assert_allclose(X0[i].apply(theirs.v[i]).angular, w, rtol=0, atol=1e-13)
        a = X0[i].apply(theirs.a[i])
        upward = -np.array(X0[i].E) @ GRAVITY
        assert_allclose(ours.wd[i], a.angular, rtol=0, atol=1e-12)
        spatial = ours.vd[i] - np.cross(w, v)
        assert_allclose(spatial, a.linear + upward, rtol=0, atol=1e-11)
        f = X0[i].apply(theirs.f[i])
        scale = np.abs(f.to_array()).max()
        assert_allclose(ours.n[i], f.moment, rtol=0, atol=1e-12 * scale)
        assert_allclose(ours.f[i], f.linear, rtol=0, atol=1e-12 * scale)
        net = theirs.f[i] - theirs.f[i + 1] if i < joints else theirs.f[i]
        net = X0[i].apply(net)
        _, c, _ = body.inertia.mass_center()
        moment = np.add(ours.N[i], np.cross(c, ours.F[i]))
        assert_allclose(moment, net.moment, rtol=0, atol=1e-11 * scale)
        assert_allclose(ours.F[i], net.linear, rtol=0, atol=1e-11 * scale)


@pytest.mark.seed('ID08', kind='full')
@chains
def test_kernel_is_inverse_dynamics(joints):
    robot, arrays = Robot(chain(joints)), [np.array(x) for x in state(joints)]
    function = robot.kernel('luh_walker_paul').function
    expected = robot.inverse_dynamics(*arrays)
    assert_allclose(function(*arrays), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    rows = function(np.tile(arrays[0], (9, 1)), *arrays[1:])
    assert_allclose(rows[8], expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_bodies_without_mass_have_no_center_and_need_none():
    model = chain(3)
    rotor = RigidBodyInertia(0.0, (0.0, 0.0, 0.0), model.body(2).inertia.I)
    bodies = [replace(b, inertia=rotor) if b.name == 'link2' else b for b in model.bodies]
    light = replace(model, bodies=tuple(bodies))
    q, qd, qdd = state(3)
    expected = rnea_spatial(light, q, qd, qdd)
    found = luh_walker_paul(light, q, qd, qdd)
    assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize(
    'make, message',
    [
        (lambda: random_tree(5, 2), "'link3' branches off"),
        (
            lambda: load_urdf(random_trees.tree(1, 3, ('prismatic',), branching=0.0)),
            'not revolute',
        ),
        (lambda: load_urdf(random_trees.tree(1, 1, ('planar',))), 'not revolute'),
    ],
)
def test_other_mechanisms_are_rejected(make, message):
    model = make()
    assert isinstance(model, Model)
    arrays = [[0.0] * model.tree_nq, [0.0] * model.tree_nv, [0.0] * model.tree_nv]
    with pytest.raises(ModelError, match=message):
        luh_walker_paul(model, *arrays)
    with pytest.raises(ModelError, match=message):
        Robot(model).kernel('luh_walker_paul')
