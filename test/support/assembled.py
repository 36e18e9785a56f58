# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Checks of forward dynamics by assembly: accelerations and constraint forces of a tree."""

from copy import copy
from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest

from rbd_ros import Robot
from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.algorithms.inverse_dynamics.joint_reactions import joint_reactions
from rbd_ros.spatial import ForceVector
from support import all_joints, example_robots, outside
from support.states import random_state
from support.textbook_trees import check, run


def tolerance(book, q):
    """Return the tolerance for rounding of H, and of the inverses of the bodies' inertias."""
    return max(1e-11, 40 * np.finfo(float).eps * np.linalg.cond(book.mass_matrix(q)))


def without_rotors(model):
    """Return the model without armature, so that the forces of joints are known."""
    return replace(model, bodies=tuple(replace(body, armature=0.0) for body in model.bodies))


def both(tree):
    """Return the model and textbook with rotors, and without."""
    book = copy(tree.book)
    book.rotors = np.zeros_like(book.rotors)
    return (tree.model, tree.book), (without_rotors(tree.model), book)


def check_dynamics(what, name, tree, algorithm):
    """Check accelerations against the textbook's, and constraint forces against Newton-Euler's."""
    for model, book in both(tree):
        for q, v, tau in tree.states:
            off = tolerance(book, q)
            for forces, on_bodies in ((tree.forces, tree.forces_on_bodies), ({}, None)):
                given = {'q': q, 'v': v, 'external_forces': on_bodies}
                a, constraint_forces = run(algorithm, model, tau=tau, **given)
                check(what, name, a, book.forward_dynamics(q, v, tau, forces), off)
                reactions = run(joint_reactions, model, a=a, **given)
                check_constraint_forces(model, q, reactions, constraint_forces)


def check_constraint_forces(model, q, reactions, constraint_forces):
    """Check that constraint forces do no work.

    The rest of the reaction must be along the pseudo-inverse of S^T.
    """
    scale = max(1.0, np.abs(reactions).max())
    for i, body in model.outward():
        columns = body.joint.motion_subspace(q[body.q].tolist()).columns
        S = np.array([list(s) for s in columns]).reshape(-1, 6).T
        f, f_c = reactions[i - 1], constraint_forces[i - 1]
        assert_allclose(S.T @ f_c, 0.0, atol=1e-10 * scale)
        active = np.linalg.pinv(S).T @ S.T @ f
        assert_allclose(f_c, f - active, atol=1e-9 * scale)


every_real_robot = pytest.mark.parametrize(
    ('name', 'floating'), [('panda', False), ('solo12', True)]
)


def check_joint(joint, algorithm):
    """Check a tree with two joints of one type against the articulated-body algorithm."""
    turning = all_joints.tree(joint, 1)
    robot = Robot(turning)
    rng = np.random.default_rng(2)
    q = robot.random_configuration(rng)
    v, tau = rng.normal(size=(2, robot.nv))
    forces = {2: ForceVector.from_array(rng.normal(size=6))}
    for model in (turning, without_rotors(turning)):
        a, constraint_forces = run(algorithm, model, q=q, v=v, tau=tau, external_forces=forces)
        expected = aba(model, q.tolist(), v.tolist(), tau.tolist(), forces)
        check('aba', type(joint).__name__, a, expected, 1e-10)
        reactions = run(joint_reactions, model, q=q, v=v, a=a, external_forces=forces)
        check_constraint_forces(model, q, reactions, constraint_forces)


def check_robot(name, floating, method):
    """Check a function of `robot.articulated`: kernels, batches, forces and `out`."""
    outside.load('pinocchio')
    from support.pinocchio_bridge import Bridge

    xml = example_robots.dynamics_xml(example_robots.path(name).read_text(), mimic=False)
    bridge, robot = Bridge(xml, floating), Robot.from_urdf(xml, floating_base=floating)
    function = getattr(robot.articulated, method)
    q, v, a = random_state(robot, 5)
    tau = robot.inverse_dynamics(q, v, a)
    forces = {robot.link_names[2]: np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])}
    for given in (forces, None):
        found = function(q, v, tau, given)
        check(method, name, found.a, bridge.forward_dynamics(q, v, tau, given), 1e-8)
        reactions = robot.reactions(q, v, found.a, given)
        check_constraint_forces(robot.model, q, reactions, found.constraint_forces)
    many = function(np.tile(q, (3, 1)), v, tau)
    assert_allclose(many.a[2], found.a, atol=1e-8 * np.abs(found.a).max())
    out = [np.empty_like(x) for x in found]
    assert function(q, v, tau, out=out).a is out[0]
