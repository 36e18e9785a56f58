# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Hybrid dynamics agrees with inverse and forward dynamics for any prescribed DoFs."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.mechanisms import four_bar
from support.random_trees import chain_of_hinges
from support.states import every_robot, named_robot, random_forces, random_state
from support.textbook_trees import check, every_free_tree, every_tree, named_tree

from rbd_ros import ModelError, Robot
from rbd_ros.algorithms.articulated_body.hybrid_dynamics import (
    articulated_body_hybrid_dynamics,
    by_inertia_matrix,
)


def partitions(robot, seed=3):
    """Return all forces given, all accelerations given, and some of both."""
    rng = np.random.default_rng(seed)
    return [
        np.ones(robot.nv),
        np.zeros(robot.nv),
        *rng.integers(0, 2, (3, robot.nv)).astype(float),
    ]


def either_is_found(name, way, tree, book):
    """Given forces or accelerations of a textbook, the others are found: all, none, and some."""
    rng, model = np.random.default_rng(5), tree.model
    states = tree.states if book is tree.book else tree.ungeared_states
    for q, v, a in states:
        tau = book.inverse_dynamics(q, v, a, tree.forces)
        bound = 1e-14 * np.linalg.cond(book.mass_matrix(q)) + 1e-12
        n = len(v)
        some = rng.integers(0, 2, (4, n)).astype(float)
        for forward in (np.ones(n), np.zeros(n), *some):
            known = np.where(forward > 0.0, tau, a)
            found = way(
                model, *(x.tolist() for x in (q, v, known, forward)), tree.forces_on_bodies
            )
            check(f'{way.__name__} a', name, found.a, a, bound)
            check(f'{way.__name__} tau', name, found.tau, tau, bound)


@pytest.mark.seed('HY01', 'BL11', kind='full')
@every_tree
def test_by_the_inertia_matrix_both_halves_of_a_textbook_s_motion_are_found(name):
    """With all forces given it is forward dynamics, with all accelerations inverse dynamics."""
    tree = named_tree(name)
    either_is_found(name, by_inertia_matrix, tree, tree.book)


@pytest.mark.seed('HY04', 'BL11', kind='full')
@every_free_tree
def test_by_articulated_bodies_both_halves_of_a_textbook_s_motion_are_found(name):
    """As by the inertia matrix, which `test_by_the_inertia_matrix_...` holds to the same."""
    tree = named_tree(name)
    either_is_found(name, articulated_body_hybrid_dynamics, tree, tree.book)


@pytest.mark.seed('HY05')
def test_a_joint_of_prescribed_acceleration_tracks_its_motion_exactly():
    """Two joints follow parabolas, to rounding, while the others swing as forces let them.

    RK4 integrates the prescribed joints exactly at any time step.
    """
    robot = Robot.from_urdf(FREE_ARM)
    partition = robot.hybrid.partition(['joint2', 'joint4'])
    prescribed = [k for k, joint in enumerate(robot.joint_names) if joint not in FREE_JOINTS]
    rng = np.random.default_rng(1)
    q, v = rng.normal(size=(2, robot.nv))
    known = rng.normal(size=robot.nv)
    q0, v0, h, steps = q, v, 0.02, 50
    forces = []
    for _ in range(steps):
        stages = [(v, partition.dynamics(q, v, known))]
        for part in (h / 2, h / 2, h):
            v_, found = stages[-1]
            at_v = v + part * found.a
            stages.append((at_v, partition.dynamics(q + part * v_, at_v, known)))
        weights = np.array([1.0, 2.0, 2.0, 1.0]) * h / 6
        q = q + sum(w * v_ for w, (v_, _) in zip(weights, stages))
        v = v + sum(w * found.a for w, (_, found) in zip(weights, stages))
        forces.append(stages[0][1].tau[prescribed])
    t = steps * h
    expected = q0 + v0 * t + known * t * t / 2
    assert_allclose(q[prescribed], expected[prescribed], atol=1e-12)
    assert_allclose(v[prescribed], (v0 + known * t)[prescribed], atol=1e-12)
    free = [k for k in range(robot.nv) if k not in prescribed]
    assert np.abs((q - expected)[free]).min() > 1e-2
    assert np.ptp(forces, axis=0).min() > 1e-2  # which takes what it takes


FREE_JOINTS = ('joint2', 'joint4')
FREE_ARM = chain_of_hinges(3, 4)


@pytest.mark.seed('HY01', 'HY04')
@every_robot
def test_both_halves_of_a_known_motion_are_found(name):
    robot = named_robot(name)
    q, v, a = random_state(robot)
    forces = random_forces(robot)
    tau = robot.inverse_dynamics(q, v, a, forces)
    links = tuple(sorted(forces))
    function = robot.kernel('hybrid_dynamics', forces=links).function
    for forward in partitions(robot):
        known = np.where(forward > 0.0, tau, a)
        found = function(q, v, known, forward, *(forces[link] for link in links))
        assert_allclose(found.a, a, atol=1e-9 * (1.0 + np.abs(a).max()))
        assert_allclose(found.tau, tau, atol=1e-9 * np.abs(tau).max())


@every_robot
def test_joints_named_when_compiled_give_the_same_for_less(name):
    robot = named_robot(name)
    q, v, a = random_state(robot, 1)
    joints = robot.joint_names[::2]
    found = robot.hybrid.dynamics(q, v, a, joints)
    forward = np.concatenate([
        np.full(body.joint.nv, float(body.joint_name in joints))
        for body in (robot.model.body(i) for i in robot.model.independent)
    ])  # fmt: skip
    general = robot.kernel('hybrid_dynamics')
    expected = general.function(q, v, a, forward)
    assert_allclose(found.a, expected.a, atol=1e-9 * np.abs(expected.a).max())
    assert_allclose(found.tau, expected.tau, atol=1e-9 * np.abs(expected.tau).max())
    special = robot.kernel('hybrid_dynamics', forward=forward)
    if special.count is not None:
        assert special.count.multiplications < general.count.multiplications
    many = robot.hybrid.dynamics(np.tile(q, (5, 1)), v, a, joints)
    assert_allclose(many.a, np.tile(found.a, (5, 1)), rtol=1e-9)


@every_robot
def test_hybrid_dynamics_with_all_forces_given_costs_no_more_than_forward_dynamics(name):
    """Constants known at compile time are folded: no acceleration is given."""
    robot = named_robot(name)
    count = robot.kernel('hybrid_dynamics', forward=np.ones(robot.nv)).count
    if count is not None:
        expected = robot.kernel('forward_dynamics').count
        assert count.multiplications <= expected.multiplications
        assert count.additions <= expected.additions


@pytest.mark.seed('HY04')
@pytest.mark.parametrize('name', ['rack and pinion', 'spherical', 'floating base'])
def test_the_articulated_body_way_is_that_by_the_inertia_matrix(name):
    robot = named_robot(name)
    q, v, known = (x.tolist() for x in random_state(robot, 2))
    for forward in partitions(robot, 4):
        ways = [
            way(robot.model, q, v, known, forward.tolist())
            for way in (articulated_body_hybrid_dynamics, by_inertia_matrix)
        ]
        for one, other in zip(*ways):
            assert_allclose(one, other, rtol=1e-8, atol=1e-8 * np.abs(other).max())


def test_a_joint_without_inertia_may_be_moved():
    """Its acceleration is given, so that nothing need be divided by its inertia."""
    robot = Robot.from_urdf(MASSLESS)
    q, v = np.array([0.3, 0.2]), np.array([0.1, -0.4])
    found = robot.hybrid.dynamics(q, v, np.array([1.0, 5.0]), ['j'])
    assert_allclose(found.a[1], 5.0)
    assert_allclose(robot.inverse_dynamics(q, v, found.a), [1.0, found.tau[1]], atol=1e-12)


MASSLESS = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="c"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
<joint name="k" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/></joint>
</robot>"""


def test_an_unknown_joint_is_named():
    with pytest.raises(ValueError, match="unknown joint 'elbow'; there are j, k"):
        Robot.from_urdf(MASSLESS).hybrid.partition(['j', 'elbow'])


def test_a_robot_with_loops_is_rejected():
    robot = four_bar()
    with pytest.raises(ModelError, match="has the loops .*'closing'"):
        robot.hybrid.dynamics(np.zeros(3), np.zeros(3), np.zeros(3), [])
