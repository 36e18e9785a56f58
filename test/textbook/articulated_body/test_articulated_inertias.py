# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Subtrees as articulated bodies, against their response on floating bases.

Separated, the subtree of body i is a tree on a floating base: its equation of motion yields the
inertia and bias force of its handle by the projection method, without recursion.
"""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots
from support.all_joints import every_joint, tree as tree_with
from support.states import random_state
from support.textbook_trees import check, every_free_tree, named_tree, run

from rbd_ros import Robot
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inverse_dynamics.joint_reactions import joint_reactions
from rbd_ros.algorithms.kinematics.kinematics import body_velocities
from rbd_ros.model import Body, Link, Model
from rbd_ros.model.joints import Floating, JointType, Planar, Prismatic, Revolute
from rbd_ros.spatial import (
    ForceVector,
    MotionSubspace,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.textbook.articulated_body.articulated_inertias import articulated_inertias
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial


def cut_loose(model, i):
    """Return the subtree of body i as a model: the base moves freely, and is where body i is."""
    numbers = {j: n for n, j in enumerate(model.subtree(i), start=1)}
    bodies, links = [], []
    for j, n in numbers.items():
        body = replace(model.body(j), parent=numbers.get(model.body(j).parent, 0))
        if j == i:
            X = PluckerTransform.identity()
            body = replace(body, joint=Floating(), tree_transform=X, armature=0.0)
        bodies.append(body)
        links.append(Link(body.name, n, PluckerTransform.identity(), body.inertia))
    return Model.create('subtree', bodies, links, gravity=(0.0, 0.0, 0.0)), numbers


def projected(model, i, q, v, tau, forces):
    """Return the IA and pA of body i by elimination of the other accelerations from H a + C = tau.

    In coordinates of body i, and without gravity, which is the acceleration of the base.
    """
    X0, velocities = body_velocities(model, q.tolist(), v.tolist())
    sub, numbers = cut_loose(model, i)
    q_sub, v_sub, tau_sub = np.zeros(sub.tree_nq), np.zeros(sub.tree_nv), np.zeros(sub.tree_nv)
    for j, n in numbers.items():
        old, new = model.body(j), sub.body(n)
        if j == i:  # the base of the cut-off tree is fixed to where body i passes
            q_sub[new.q] = Floating().neutral()
            v_sub[new.v] = list(velocities[i])
        else:
            q_sub[new.q], v_sub[new.v], tau_sub[new.v] = q[old.q], v[old.v], tau[old.v]
    loads = {numbers[j]: X0[i].apply(f) for j, f in forces.items() if j in numbers}
    H = np.array(mass_matrix(sub, q_sub.tolist()), dtype=float)
    C = np.array(rnea_spatial(sub, q_sub.tolist(), v_sub.tolist(), (0 * v_sub).tolist(), loads))
    first, rest = slice(0, 6), slice(6, None)
    inner = np.linalg.solve(H[rest, rest], np.column_stack([H[rest, first], (tau_sub - C)[rest]]))
    IA = H[first, first] - H[first, rest] @ inner[:, :6]
    return IA, C[first] + H[first, rest] @ inner[:, 6]


def inertias(model, q, v, tau, forces):
    return run(articulated_inertias, model, q=q, v=v, tau=tau, external_forces=forces)


@pytest.mark.seed('AB01', 'AB02')
@pytest.mark.seed('AB06', 'AB07', kind='full')
@every_free_tree
def test_each_body_is_the_handle_of_its_subtree(name):
    """With rotors, S(q), floating joints; several children are glued to one body."""
    tree = named_tree(name)
    model, forces = tree.model, tree.forces_on_bodies
    for q, v, tau in tree.states:
        IA, pA, _, _ = inertias(model, q, v, tau, forces)
        for i, _ in model.outward():
            expected = projected(model, i, q, v, tau, forces)
            assert_allclose(IA[i - 1], IA[i - 1].T)
            assert np.all(np.linalg.eigvalsh(IA[i - 1]) > 0.0)
            check('IA', name, IA[i - 1], expected[0], 1e-11)
            check('pA', name, pA[i - 1], expected[1], 1e-11)


def reaction_terms(tree, q, v, tau, forces):
    """For each body: force across its joint, and accelerations of it and its parent in its frame.

    Of the motion that the textbook's forward dynamics gives.
    """
    model = tree.model
    a = tree.book.forward_dynamics(q, v, tau, tree.forces if forces else {})
    f = run(joint_reactions, model, q=q, v=v, a=a, external_forces=forces)
    X0, velocity = body_velocities(model, q.tolist(), v.tolist())
    absolute = {0: MotionVector((0.0, 0.0, 0.0), tuple(-g for g in model.gravity))}
    for i, body in model.outward():
        X = X0[i] * X0[body.parent].inverse()
        joint = body.joint.calc(q[body.q].tolist(), v[body.v].tolist())
        behind = X * absolute[body.parent]
        rate = joint.S @ a[body.v].tolist() + joint.c + velocity[i].cross(joint.v)
        absolute[i] = behind + rate
        yield i, f[i - 1], absolute[i].to_array(), behind.to_array()


@pytest.mark.seed('AB07', kind='full')
@every_free_tree
def test_both_expressions_give_the_force_across_a_joint(name):
    """F = IA a + pA = Ia a' + pa (book eq 7.25) in the motion of forward dynamics."""
    tree = named_tree(name)
    for q, v, tau in tree.states:
        for forces in (tree.forces_on_bodies, None):
            IA, pA, Ia, pa = inertias(tree.model, q, v, tau, forces)
            for i, f, own, behind in reaction_terms(tree, q, v, tau, forces):
                scale = max(1.0, np.abs(f).max(), np.abs(pA[i - 1]).max())
                assert_allclose(IA[i - 1] @ own + pA[i - 1], f, atol=1e-10 * scale)
                assert_allclose(Ia[i - 1] @ behind + pa[i - 1], f, atol=1e-10 * scale)


def without_rotors(model):
    return replace(model, bodies=tuple(replace(body, armature=0.0) for body in model.bodies))


@pytest.mark.seed('AB07', kind='full')
@every_free_tree
def test_a_propagated_inertia_does_not_resist_its_joint(name):
    """I^a S = 0; for a hinge about z that is a row and a column of zeros, and a rotor resists."""
    tree = named_tree(name)
    q, v, tau = tree.states[0]
    for model in (tree.model, without_rotors(tree.model)):
        IA, _, Ia, _ = inertias(model, q, v, tau, None)
        for i, body in model.outward():
            S = np.array([list(s) for s in body.joint.motion_subspace(q[body.q]).columns]).T
            left = Ia[i - 1] @ S
            if body.armature == 0.0:
                assert_allclose(left, 0.0, atol=1e-12 * np.abs(IA[i - 1]).max())
            else:
                D = S.T @ IA[i - 1] @ S + body.armature * np.eye(S.shape[1])
                expected = IA[i - 1] @ S @ np.linalg.inv(D) * body.armature
                assert_allclose(left, expected, atol=1e-12 * np.abs(IA[i - 1]).max())
    assert any(body.armature > 0.0 for body in tree.model.bodies)


@every_joint
def test_joints_of_every_type(joint):
    model = tree_with(joint, 1)
    robot = Robot(model)
    q, v, tau = random_state(robot, 2)
    forces = {2: ForceVector((1.0, 2.0, -3.0), (0.5, -0.4, 0.3))}
    IA, pA, _, _ = inertias(model, q, v, tau, forces)
    for i, _ in model.outward():
        expected = projected(model, i, q, v, tau, forces)
        check('IA', 'joint', IA[i - 1], expected[0], 1e-11)
        check('pA', 'joint', pA[i - 1], expected[1], 1e-11)


@pytest.mark.parametrize(('name', 'floating'), [('panda', False), ('solo12', True)])
def test_real_robots_have_the_inertias_of_their_bodies(name, floating):
    """Kernels; the last two joints of a real robot's tree, its first, and batches."""
    text = example_robots.dynamics_xml(example_robots.path(name).read_text(), mimic=False)
    robot = Robot.from_urdf(text, floating_base=floating)
    q, v, tau = random_state(robot, 3)
    force = np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])
    link = robot.link_names[-1]
    found = robot.articulated.inertias(q, v, tau, {link: force})
    forces = {robot.model.link(link).body: ForceVector.from_array(force)}
    for i, _ in robot.model.outward():
        IA, pA = projected(robot.model, i, q, v, tau, forces)
        check('IA', name, found.IA[i - 1], IA, 1e-10)
        check('pA', name, found.pA[i - 1], pA, 1e-10)
    many = robot.articulated.inertias(np.tile(q, (3, 1)), v, tau, {link: force})
    assert_allclose(many.pa[1], found.pa, atol=1e-10 * np.abs(found.pa).max())
    out = [np.empty_like(x) for x in found]
    assert robot.articulated.inertias(q, v, tau, out=out).IA is out[0]


class Cylindrical(JointType):
    """Rotation about x and translation along y, as in example 7.1; neither moves the other."""

    nq = nv = 2
    reach = (3.0, 1.0)

    def transform(self, q):
        shift = PluckerTransform.translation((0.0, q[1], 0.0))
        return PluckerTransform.rotation_x(q[0]) * shift

    def motion_subspace(self, q):
        c, s = np.cos(q[0]), np.sin(q[0])
        return MotionSubspace(
            [
                MotionVector((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
                MotionVector((0.0, 0.0, 0.0), (0.0, c, -s)),
            ]
        )

    def constraint_forces(self, q):
        raise NotImplementedError

    @classmethod
    def examples(cls):
        return (cls(),)


BOX, CYLINDER = (2.0, 0.5), (3.0, 0.7)  # mass and rotational inertia of example 7.1


def round_inertia(mass, inertia):
    return RigidBodyInertia.from_mass_center(mass, (0, 0, 0), (np.eye(3) * inertia).tolist())


@pytest.mark.seed('AB03', kind='full')
@pytest.mark.parametrize('angle', [0.0, 0.8])
@pytest.mark.parametrize('joint', ['one joint', 'hinge after slider'])
def test_inertia_of_the_box_with_a_cylinder_in_its_slot(joint, angle):
    """Book example 7.1: diag(I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2), for any angle.

    The cylinder by a joint of two DoFs, and by two joints with a body of hardly any mass
    between them.
    """
    X = PluckerTransform.identity()
    box = Body('box', 0, 'free', Floating(), X, RigidBodyInertia.zero())
    links = [Link('box', 1, X, round_inertia(*BOX))]
    if joint == 'one joint':
        bodies = [Body('cylinder', 1, 'slot', Cylindrical(), X, RigidBodyInertia.zero())]
        links.append(Link('cylinder', 2, X, round_inertia(*CYLINDER)))
        q = [angle, 0.0]
    else:
        bodies = [
            Body('rod', 1, 'slider', Prismatic((0.0, 1.0, 0.0)), X, RigidBodyInertia.zero()),
            Body('cylinder', 2, 'hinge', Revolute((1.0, 0.0, 0.0)), X, RigidBodyInertia.zero()),
        ]
        links.append(Link('rod', 2, X, RigidBodyInertia.zero()))
        links.append(Link('cylinder', 3, X, round_inertia(*CYLINDER)))
        q = [0.0, angle]
    model = Model.create('box and cylinder', [box, *bodies], links)
    q = np.array([*Floating().neutral(), *q])
    IA, _, _, _ = inertias(model, q, np.zeros(8), np.zeros(8), None)
    (m1, I1), (m2, I2) = BOX, CYLINDER
    printed = np.diag([I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2])
    assert_allclose(IA[0], printed, atol=1e-14)


@pytest.mark.seed('AB02', kind='full')
@pytest.mark.parametrize('seed', range(3))
def test_handles_glued_together_have_the_sum_of_their_inertias_and_bias_forces(seed):
    """Two articulated bodies, and the one that is made by gluing their roots together."""
    rng = np.random.default_rng(seed)

    def random_inertia():
        A = rng.normal(size=(3, 3))
        center = tuple(rng.normal(size=3).tolist())
        return RigidBodyInertia.from_mass_center(rng.uniform(0.5, 2.0), center, (A @ A.T).tolist())

    X = PluckerTransform.identity()
    arms = [
        (Revolute((0.48, -0.6, 0.64)), PluckerTransform.translation((0.3, -0.2, 0.5))),
        (Planar.examples()[0], PluckerTransform.translation((-0.4, 0.1, 0.2))),
    ]
    roots, tips = [random_inertia(), random_inertia()], [random_inertia(), random_inertia()]

    def model(root, arms):
        bodies = [Body('root', 0, 'free', Floating(), X, RigidBodyInertia.zero())]
        links = [Link('root', 1, X, root)]
        for k, (joint, placement) in arms:
            bodies.append(Body(f'tip{k}', 1, f'arm{k}', joint, placement, RigidBodyInertia.zero()))
            links.append(Link(f'tip{k}', len(bodies), X, tips[k]))
        return Model.create('glued', bodies, links, gravity=(0.0, 0.0, 0.0))

    base_q, base_v = np.array(Floating().neutral()), rng.normal(size=6)
    q, v, tau = ([rng.normal(size=joint.nv) for joint, _ in arms] for _ in range(3))

    def of(root, some):
        state = [np.concatenate([first, *(each[k] for k in some)])
                 for first, each in ((base_q, q), (base_v, v), (np.zeros(6), tau))]  # fmt: skip
        IA, pA, _, _ = inertias(model(root, [(k, arms[k]) for k in some]), *state, None)
        return IA[0], pA[0]

    separate = [of(roots[k], [k]) for k in (0, 1)]
    IA, pA = of(roots[0] + roots[1], [0, 1])
    assert_allclose(IA, separate[0][0] + separate[1][0], atol=1e-12)
    assert_allclose(pA, separate[0][1] + separate[1][1], atol=1e-12)
