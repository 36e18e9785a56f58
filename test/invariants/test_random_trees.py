# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Property tests on random trees.

Hypothesis draws trees and states, and shrinks failures to the smallest tree.
"""

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from support import layout, random_trees
from support.errors import relative_error
from support.plain import Plain
from support.reference import Reference

from rbd_ros import Robot

# No deadline: timing decides nothing here. Derandomized: every run tries the same trees.
PROPERTY = settings(max_examples=30, deadline=None, derandomize=True)

types = st.lists(st.sampled_from(random_trees.ALL_TYPES), min_size=1, max_size=6, unique=True)
trees = st.fixed_dictionaries(
    {
        'seed': st.integers(0, 10**6),
        'bodies': st.integers(1, 7),
        'types': types,
        'mimics': st.integers(0, 2),
        'branching': st.floats(0.0, 1.0),
    }
)
bases = st.booleans()
states = st.integers(0, 10**6)


def build(tree, floating_base, state):
    text = random_trees.tree(**tree)
    places = layout.read(text, floating_base)
    q, v, a = places.random_states(np.random.default_rng(state), 1)
    return text, Plain(Robot.from_urdf(text, floating_base=floating_base), places), q, v, a


@pytest.mark.seed('AE10', 'MD10')
@PROPERTY
@given(trees, bases, states)
def test_any_tree_is_read_in_depth_first_order(tree, floating_base, state):
    _, plain, *_ = build(tree, floating_base, state)
    assert plain.robot.joint_names == tuple(joint.name for joint in plain.layout.joints)
    assert (plain.robot.nq, plain.robot.nv) == (plain.layout.nq, plain.layout.nv)
    q = plain.robot.neutral()
    assert np.array_equal(plain.robot.difference(q, q), np.zeros(plain.robot.nv))


@pytest.mark.seed('AE10', 'SV22', 'FM01')
@PROPERTY
@given(trees, bases, states)
def test_inverse_and_forward_dynamics_close_the_loop(tree, floating_base, state):
    _, plain, q, v, a = build(tree, floating_base, state)
    if plain.robot.nv == 0:
        return
    tau = plain.inverse_dynamics(q, v, a)
    H = plain.mass_matrix(q)[0]
    assert relative_error(H @ a[0] + plain.bias_force(q, v)[0], tau[0]) < 1e-13
    tolerance = max(1e-12, 4 * np.finfo(float).eps * np.linalg.cond(H))
    assert relative_error(plain.forward_dynamics(q, v, tau)[0], a[0]) < tolerance


@pytest.mark.seed('AE10', 'BL03', 'BL06')
@PROPERTY
@given(trees, bases, states)
def test_inertia_and_gravity_are_the_textbook_sums(tree, floating_base, state):
    text, plain, q, v, _ = build(tree, floating_base, state)
    if plain.robot.nv == 0:
        return
    reference = Reference(text, floating_base)
    assert relative_error(plain.mass_matrix(q)[0], reference.mass_matrix(q[0])) < 1e-13
    assert relative_error(plain.gravity_torque(q)[0], reference.gravity_torque(q[0])) < 1e-13
    assert relative_error(plain.momentum(q, v)[0], reference.momentum(q[0], v[0])) < 1e-13


@pytest.mark.seed('AE10', 'BL02', 'SV22')
@PROPERTY
@given(trees, bases, states)
def test_power_and_skew_symmetry(tree, floating_base, state):
    _, plain, q, v, a = build(tree, floating_base, state)
    if plain.robot.nv == 0:
        return
    power = v[0] @ plain.inverse_dynamics(q, v, a)[0]
    rate = plain.rate('energy', q, v, (v, a))[0].sum()
    # both are sums of terms as large as |v| |tau|, which may cancel
    scale = max(1.0, np.abs(v[0]) @ np.abs(plain.inverse_dynamics(q, v, a)[0]))
    assert abs(power - rate) < 1e-12 * scale
    C = plain.coriolis_matrix(q, v)[0]
    assert relative_error(C + C.T, plain.rate('mass_matrix', q, v)[0]) < 1e-12


@pytest.mark.seed('AE10', 'MD06', 'SV17')
@PROPERTY
@given(trees, bases, states, st.sampled_from(['body', 'base', 'aligned']))
def test_jacobian_rate(tree, floating_base, state, reference):
    _, plain, q, v, _ = build(tree, floating_base, state)
    link = plain.layout.links[-1]
    ours = plain.jacobian_derivative(q, v, link, reference=reference)
    assert (
        relative_error(ours, plain.rate('jacobian', q, v, frame=link, reference=reference)) < 1e-12
    )


@PROPERTY
@given(trees, bases, states)
def test_integrate_and_difference(tree, floating_base, state):
    _, plain, q, v, _ = build(tree, floating_base, state)
    robot = plain.robot
    if robot.nv:
        assert relative_error(robot.difference(q, robot.integrate(q, v, 0.5)), 0.5 * v) < 1e-13
