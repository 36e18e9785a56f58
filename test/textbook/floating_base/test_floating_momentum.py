# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Momentum and kinetic energy of a floating base against sums over links, and over time."""

import numpy as np
import pytest
from support import random_trees
from support.floating_trees import every_floating_tree, floating_tree
from support.textbook_trees import check, run

from rbd_ros import Robot
from rbd_ros.textbook.floating_base.floating_momentum import floating_momentum


def in_world(tree, q, h):
    """Return momentum about the world's origin along its axes, from that in base coordinates."""
    R, p, _ = tree.book.kinematics(q)[tree.book.layout.links[0]]
    n, f = R @ h[:3], R @ h[3:]
    return np.concatenate([n + np.cross(p, f), f])


@pytest.mark.seed('FB07')
@every_floating_tree
def test_momentum_is_the_sum_over_links(name):
    tree = floating_tree(name)
    for q, v, _ in tree.states:
        h, _ = run(floating_momentum, tree.model, q=q, v=v)
        check('I0c v0 + F qd', name, in_world(tree, q, h), tree.book.momentum(q, v))


@pytest.mark.seed('FB07')
@every_floating_tree
def test_energy_is_the_sum_over_links_and_rotors(name):
    tree = floating_tree(name)
    for q, v, _ in tree.states:
        _, T = run(floating_momentum, tree.model, q=q, v=v)
        check('T', name, T, tree.book.kinetic_energy(q, v))


@pytest.mark.seed('FB07', kind='full')
def test_momentum_is_conserved_for_any_joint_motion():
    """RK4 with forces of the joints: the drift falls with h^4 (times 16 for half the step).

    That momentum and energy are those of the links is tested above.
    """
    text = random_trees.tree(5, 4, ('revolute', 'continuous', 'prismatic'))
    robot = Robot.from_urdf(text, floating_base=True, gravity=(0, 0, 0))
    floating = robot.floating_base
    rng = np.random.default_rng(5)
    q0, v0 = robot.random_configuration(rng), rng.normal(size=robot.nv)
    tau = rng.normal(size=robot.nv - 6)

    def rate(q, v):
        return np.concatenate(floating.forward_dynamics(q, v, tau))

    def momentum(q, v):
        h, R = floating.momentum(q, v).h, robot.forward_kinematics(q)[robot.link_names[0]]
        f = R[:3, :3] @ h[3:]
        return np.concatenate([R[:3, :3] @ h[:3] + np.cross(R[:3, 3], f), f])

    drifts = []
    for steps in (100, 200):
        q, v, h = q0, v0, 0.4 / steps
        for _ in range(steps):  # on the group, with the velocities of the four stages
            l1 = rate(q, v)
            k2, l2 = v + h / 2 * l1, rate(robot.integrate(q, v, h / 2), v + h / 2 * l1)
            k3, l3 = v + h / 2 * l2, rate(robot.integrate(q, k2, h / 2), v + h / 2 * l2)
            k4, l4 = v + h * l3, rate(robot.integrate(q, k3, h), v + h * l3)
            q = robot.integrate(q, (v + 2 * k2 + 2 * k3 + k4) / 6, h)
            v = v + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        drifts.append(np.abs(momentum(q, v) - momentum(q0, v0)).max())
    assert np.abs(v - v0).max() > 0.1  # it did move
    assert drifts[0] < 1e-3 and drifts[1] < 0.5 * drifts[0]
