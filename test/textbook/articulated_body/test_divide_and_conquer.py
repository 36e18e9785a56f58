# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Divide-and-conquer forward dynamics: depth of plans, and results."""

import math

import numpy as np
import pytest
from support import assembled, random_trees
from support.all_joints import every_joint
from support.definitions import definition_of
from support.textbook import Textbook
from support.textbook_trees import check, every_free_tree, every_tree, named_tree, run

from rbd_ros import ModelError, Robot
from rbd_ros.model import load_urdf
from rbd_ros.model.joints import Revolute
from rbd_ros.model.model import LoopJoint
from rbd_ros.textbook.articulated_body.bodies_in_base import require_inertias
from rbd_ros.textbook.articulated_body.divide_and_conquer import (
    Assembly,
    assembly_tree,
    depth,
    divide_and_conquer_dynamics,
)
from rbd_ros.textbook.articulated_body.inverse_assembly_dynamics import inverse_assembly_dynamics


def leaves(plan):
    return leaves(plan.inner) + leaves(plan.outer) if isinstance(plan, Assembly) else [plan]


def joints(plan):
    if not isinstance(plan, Assembly):
        return []
    return [plan.joint, *joints(plan.inner), *joints(plan.outer)]


@pytest.mark.seed('AB12', kind='full')
@every_free_tree
def test_accelerations_and_constraint_forces(name):
    """With rotors, S(q), floating bases, forces on links and without."""
    assembled.check_dynamics('halves', name, named_tree(name), divide_and_conquer_dynamics)


@pytest.mark.seed('AB12')
@every_joint
def test_joints_of_every_type(joint):
    assembled.check_joint(joint, divide_and_conquer_dynamics)


@pytest.mark.seed('AB12')
@assembled.every_real_robot
def test_real_robots_move_as_in_pinocchio(name, floating):
    assembled.check_robot(name, floating, 'divide_and_conquer')


@pytest.mark.seed('AB12', kind='full')
@pytest.mark.parametrize('count', [1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 100])
def test_a_chain_and_its_base_are_assembled_in_a_logarithm_of_steps(count):
    """Of N bodies and the base; the articulated-body algorithm takes N."""
    plan = assembly_tree(load_urdf(random_trees.chain_of_hinges(5, count)))
    assert depth(plan) == math.ceil(math.log2(count + 1))


@pytest.mark.seed('AB12')
@every_tree
def test_a_plan_connects_every_joint_once(name):
    model = named_tree(name).model
    plan = assembly_tree(model)
    bodies = list(range(len(model.bodies) + 1))
    assert sorted(leaves(plan)) == bodies
    assert sorted(joints(plan)) == bodies[1:]


@pytest.mark.seed('AB12')
@pytest.mark.parametrize('seed', range(5))
def test_a_tree_is_as_deep_as_its_branches_allow(seed):
    """A body with d joints leaves a part of (d - 1) / d on one side of its best joint at most."""
    text = random_trees.tree(seed, bodies=40, types=random_trees.SIMPLE_TYPES, branching=0.7)
    model = load_urdf(text)
    ends = [end for i, body in model.outward() for end in (i, body.parent)]
    d = max(ends.count(i) for i in ends)
    bound = math.log(len(model.bodies) + 1) / math.log(d / (d - 1.0)) + 1.0
    assert depth(assembly_tree(model)) <= min(bound, len(model.bodies) / 2)


@pytest.mark.seed('AB12', kind='full')
@pytest.mark.parametrize('count', [7, 16])
def test_a_long_chain_accelerates_as_its_textbook_says(count):
    """Handles of several assemblies deep, and with both handles of an inner part in use."""
    text = random_trees.chain_of_hinges(5, count)
    model, book = load_urdf(text), Textbook(text)
    q, v, tau = book.layout.random_states(np.random.default_rng(1))
    expected = book.forward_dynamics(q, v, tau, {})
    off = 1e-14 * np.linalg.cond(book.mass_matrix(q))
    for algorithm in (divide_and_conquer_dynamics, inverse_assembly_dynamics):
        found, _ = run(algorithm, model, q=q, v=v, tau=tau, external_forces=None)
        check(algorithm.__name__, 'chain', found, expected, max(1e-12, off))


def test_the_cost_is_proportional_to_the_number_of_bodies():
    """Operations of chains of 8, 16 and 32 hinges: N log N at most."""

    def nodes(count):
        model = load_urdf(random_trees.chain_of_hinges(5, count))
        return len(definition_of(model, 'divide_and_conquer_dynamics').program().live)

    few, some, many = (nodes(count) for count in (8, 16, 32))
    assert some < 2.6 * few
    assert many < 2.6 * some


@pytest.mark.parametrize(
    'method',
    ['assembly_by_inverse_inertia', 'by_constraint_forces', 'divide_and_conquer', 'inertias'],
)
def test_gears_are_rejected_by_name(method):
    robot = Robot(named_tree('branches, gears').model)
    q, v, tau = named_tree('branches, gears').states[0]
    with pytest.raises(ModelError, match="mimic joints .*'joint"):
        getattr(robot.articulated, method)(q, v, tau)


@pytest.mark.parametrize(
    'method', ['assembly_by_inverse_inertia', 'by_constraint_forces', 'divide_and_conquer']
)
def test_a_body_without_inverse_inertia_is_named(method):
    """A point mass moves well, but has no inverse inertia of its own."""
    text = random_trees.chain(
        [
            {'type': 'revolute', 'mass': 1.0, 'inertia': [0.1, 0, 0, 0.1, 0, 0.1]},
            {'type': 'prismatic', 'mass': 1.0, 'xyz': [0.3, 0.0, 0.0]},
        ]
    )
    robot = Robot.from_urdf(text)
    assert robot.forward_dynamics([0.1, 0.2], [0.0, 0.0], [0.0, 0.0]).shape == (2,)
    with pytest.raises(ModelError, match="'link2'"):
        getattr(robot.articulated, method)([0.1, 0.2], [0.0, 0.0], [0.0, 0.0])


@pytest.mark.parametrize('thickness, regular', [(1.5e-12, True), (0.7e-12, False)])
def test_a_body_may_be_thin_but_for_rounding(thickness, regular):
    """As a rod askew, whose inertia about itself is tiny."""
    askew = [0.1, -0.1 * (1.0 - thickness), 0, 0.1, 0, 0.2]
    rod = {'type': 'revolute', 'mass': 1.0, 'inertia': askew}
    model = load_urdf(random_trees.chain([rod]))
    if regular:
        require_inertias(model, (), {})
    else:
        with pytest.raises(ModelError, match="'link1'"):
            require_inertias(model, (), {})
        require_inertias(model, (1,), {})  # it will be given another one


@pytest.mark.seed('AB13')
def test_loops_are_rejected_by_name():
    """They would take assemblies of several joints at once."""
    model = load_urdf(random_trees.chain_of_hinges(5, 4))
    tip = model.frame('link4')
    loop = LoopJoint('closing', model.frame('base'), tip, Revolute((0.0, 0.0, 1.0)))
    robot = Robot(model.with_loops([loop]))
    with pytest.raises(ModelError, match="loops.*'closing'"):
        robot.articulated.divide_and_conquer([0.1] * 4, [0.0] * 4, [0.0] * 4)
