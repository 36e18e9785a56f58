# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler algorithm in base coordinates: joint forces, and motions and forces of bodies."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.dense import skew
from support.states import every_robot, named_robot, random_forces, random_state
from support.textbook_trees import check, every_tree, named_tree, run

from rbd_ros.textbook.tree_dynamics.rnea_absolute import rnea_absolute, rnea_with_motion
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial


def spatial_jacobian(book, q, link):
    """Return the Jacobian of a link's spatial velocity about the base's origin."""
    _, p, J = book.kinematics(q)[link]
    return np.vstack([J[:3], J[3:] + skew(p) @ J[:3]])


@pytest.mark.seed('ID03', 'FO02', kind='full')
@every_tree
def test_force_is_that_of_the_equation_of_motion(name):
    """H a + C + g - J^T f, with rotors and forces on links, by virtual power of all links."""
    tree = named_tree(name)
    for q, v, a in tree.states:
        tau = run(rnea_absolute, tree.model, q=q, v=v, a=a, external_forces=tree.forces_on_bodies)
        check('rnea_absolute', name, tau, tree.book.inverse_dynamics(q, v, a, tree.forces))


@pytest.mark.seed('ID03', 'ID04', 'BL10', kind='full')
@every_tree
def test_text_counts_every_joint_and_equals_the_one_in_body_coordinates(name):
    tree = named_tree(name)
    for state in tree.ungeared_states:
        q, v, a = (x.tolist() for x in state)
        tau = rnea_absolute(tree.model, q, v, a, tree.forces_on_bodies)
        check('rnea_absolute', name, tau, tree.ungeared.inverse_dynamics(*state, tree.forces))
        other = rnea_spatial(tree.model, q, v, a, tree.forces_on_bodies)
        check('rnea', name, other, np.array(tau))


@pytest.mark.seed('ID03', 'SV17', kind='full')
@every_tree
def test_motion_is_that_of_the_links(name):
    """Velocity J qd and acceleration J qdd + dJ/dt qd, about the base's origin."""
    tree = named_tree(name)
    book = tree.book
    for q, v, a in tree.states:
        found = run(rnea_with_motion, tree.model, q=q, v=v, a=a, external_forces={})
        for i, body in tree.model.outward():
            J = spatial_jacobian(book, q, body.name)
            rate = book.rate(lambda x, link=body.name: spatial_jacobian(book, x, link), q, v)
            check('velocity', name, found[1][i - 1], J @ v)
            check('acceleration', name, found[2][i - 1], J @ a + rate @ v)


@pytest.mark.seed('ID03', 'ID07', kind='full')
@every_tree
def test_force_across_a_joint_moves_the_links_beyond_it(name):
    """Rate of the momentum of the links beyond, less their weight and the forces on them."""
    tree = named_tree(name)
    book, model = tree.ungeared, tree.model
    q, v, a = tree.ungeared_states[0]
    args = (x.tolist() for x in (q, v, a))
    found = rnea_with_motion(model, *args, tree.forces_on_bodies).f

    def momentum(q, v, links):
        total = np.zeros(6, dtype=np.result_type(q, v))
        for link, (R, p, J) in book.kinematics(q).items():
            if link in links and link in book.inertials:
                m, c, about_center = book.inertials[link]
                w, center = J[:3] @ v, p + R @ c
                linear = m * (J[3:] @ v + np.cross(w, R @ c))
                total[:3] += R @ about_center @ R.T @ w + np.cross(center, linear)
                total[3:] += linear
        return total

    step = 1e-30j
    ahead = q + step * book.layout.position_rates(q, v)
    poses = book.kinematics(q)
    for i, _ in model.outward():
        links = {x for x in model.links if i in model.support(model.link(x).body)}
        expected = momentum(ahead, v + step * a, links).imag / step.imag
        for link in links:
            if link in book.inertials:
                R, p, _ = poses[link]
                m, c, _ = book.inertials[link]
                weight = m * book.gravity
                expected -= np.r_[np.cross(p + R @ c, weight), weight]
            if link in tree.forces:
                expected -= tree.forces[link]
        check('force', name, found[i].to_array(), expected)


@pytest.mark.seed('ID03', kind='full')
@every_robot
def test_kernels_are_those_of_the_other_algorithm(name):
    robot = named_robot(name)
    q, v, a = random_state(robot)
    expected = robot.inverse_dynamics(q, v, a)
    tolerance = 1e-11 * np.abs(expected).max()
    found = robot.kernel('rnea_with_motion').function(q, v, a)
    plain = robot.kernel('rnea_absolute').function
    assert_allclose(found.tau, expected, rtol=0, atol=tolerance)
    assert_allclose(plain(q, v, a), expected, rtol=0, atol=tolerance)
    assert_allclose(plain(np.tile(q, (9, 1)), v, a)[8], expected, rtol=0, atol=tolerance)
    forces = random_forces(robot)
    links = tuple(sorted(forces))
    loaded = robot.kernel('rnea_absolute', forces=links).function
    expected = robot.inverse_dynamics(q, v, a, forces)
    values = [forces[link] for link in links]
    assert_allclose(loaded(q, v, a, *values), expected, rtol=0, atol=1e-10)
    # the same forces that `reactions` gives in body coordinates, and the same velocities
    wrenches = robot.reactions(q, v, a)
    for k, body in enumerate(robot.body_names):
        pose = robot.forward_kinematics(q)[body]
        R, p = pose[:3, :3], pose[:3, 3]
        n, f = R @ wrenches[k, :3], R @ wrenches[k, 3:]
        assert_allclose(found.f[k], np.r_[n + np.cross(p, f), f], rtol=0, atol=1e-9)
        J = robot.jacobian(q, body, reference='base')
        assert_allclose(found.v[k], J @ v, rtol=0, atol=1e-11)
