# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""`robot.floating_base` on real robots, compiled, against Pinocchio's free flyer."""

import numpy as np
import pytest
from support import example_robots, outside, random_trees
from support.errors import record, relative_error
from support.pinocchio_bridge import Bridge

from rbd_ros import Robot

outside.load('pinocchio')

STATES = 3
CHOSEN = 5  # real robots, over the whole of the list


def texts():
    """Return some real robots, gears among them, and trees with every type of joint."""
    names = [
        name
        for name in sorted(example_robots.varied())
        if name != 'alex_psyonic_hands'  # 100 joints
    ]
    step = max(len(names) // CHOSEN, 1)
    found = {
        name: example_robots.dynamics_xml(example_robots.loadable()[name].read_text())
        for name in names[::step]
    }
    return {
        **found,
        'random': random_trees.mixed_tree(1),
    }


@pytest.mark.seed('FB02', 'FB03', 'FB04', 'FB05', 'FB06', 'FB07', 'FB08')
@pytest.mark.parametrize('text', [pytest.param(text, id=name) for name, text in texts().items()])
def test_equations_dynamics_momentum_and_jacobian(text):
    """All of them follow from the mass matrix, the bias force and Jacobians of Pinocchio."""
    bridge, robot = Bridge(text, True), Robot.from_urdf(text, floating_base=True)
    states = bridge.layout.random_states(np.random.default_rng(len(text)), STATES)
    floating, link = robot.floating_base, bridge.layout.links[-1]
    for q, v, a in zip(*states):
        H, C = bridge.mass_matrix(q), bridge.bias_force(q, v)
        bound = 1e-11 + 1e-15 * np.linalg.cond(H)

        def same(what, ours, theirs, tolerance=bound):
            error = relative_error(ours, theirs)
            record('floating base - Pinocchio', what, robot.name, error)
            assert error < tolerance, f'{what}: {error:.1e}'

        found = floating.equations_of_motion(q, v)
        same('H', np.block([[found.I0c, found.F], [found.F.T, found.H]]), H, 1e-11)
        same('C', np.concatenate([found.p0c, found.C]), C, 1e-11)

        a0 = np.linalg.solve(H[:6, :6], -C[:6] - H[:6, 6:] @ a[6:])
        inverse = floating.inverse_dynamics(q, v, a[6:])
        same('a0', inverse.a0, a0)
        same('tau', inverse.tau, H[6:, :6] @ a0 + H[6:, 6:] @ a[6:] + C[6:])

        tau = np.concatenate([np.zeros(6), a[6:]])
        forward = floating.forward_dynamics(q, v, a[6:])
        same('forward', np.concatenate(forward), np.linalg.solve(H, tau - C))
        reduced = floating.reduced_equations(q, v)
        same('reduced', reduced.H_fl @ forward.qdd + reduced.C_fl, a[6:])

        R, p = (x := robot.forward_kinematics(q)[bridge.layout.links[0]])[:3, :3], x[:3, 3]
        h, T = floating.momentum(q, v)
        f = R @ h[3:]
        same('h', np.concatenate([R @ h[:3] + np.cross(p, f), f]), bridge.momentum(q, v), 1e-11)
        same('T', T, v @ H @ v / 2, 1e-11)

        change = np.linalg.solve(H, tau)
        J = floating.jacobian(q, link, 'aligned')
        same('J', J @ change[6:], bridge.jacobian(q, link, 'aligned') @ change)
