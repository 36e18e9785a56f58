# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Algorithms on planar vectors against textbooks in three dimensions."""

from dataclasses import dataclass, replace
from typing import Tuple

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.errors import relative_error
from support.planar_trees import GRAVITY, KINDS, planar_tree
from support.random_trees import chain
from support.textbook_trees import run

from rbd_ros import Robot
from rbd_ros.algorithms.articulated_body.aba import aba
from rbd_ros.algorithms.declaration import declaration_of
from rbd_ros.algorithms.inertia_matrix.crba import composite_inertias, crba, mass_matrix
from rbd_ros.algorithms.inertia_matrix.forward_dynamics import forward_dynamics
from rbd_ros.model import load_urdf, ModelError
from rbd_ros.model.joints import JointType
from rbd_ros.model.joints.joint_type import across
from rbd_ros.robot.variants import source_key
from rbd_ros.spatial import ForceVector, MotionSubspace, MotionVector, PluckerTransform
from rbd_ros.textbook.planar.planar_algebra import (
    PlanarArticulatedInertia,
    PlanarInertia,
    PlanarMotionVector,
    PlanarTransform,
)
from rbd_ros.textbook.planar.planar_algorithms import in_plane
from rbd_ros.textbook.planar.planar_model import planar_model
from rbd_ros.textbook.tree_dynamics.rnea_spatial import rnea_spatial

every_kind = pytest.mark.parametrize('name', KINDS)


def states_and_forces(book):
    rng = np.random.default_rng(7)
    links = [link for link in book.layout.links if link != 'base']
    forces = {link: rng.uniform(-9.0, 9.0, 6) for link in (links[0], links[-1])}
    return [book.layout.random_states(rng) for _ in range(3)], forces


def by_body(model, forces):
    return {model.link(link).body: ForceVector.from_array(f) for link, f in forces.items()}


@pytest.mark.seed('PV05', kind='full')
@every_kind
def test_planar_inverse_dynamics_is_that_of_space(name):
    """Forces out of the plane and gravity across it included: they do no work."""
    model, book, _, _ = planar_tree(name)
    states, forces = states_and_forces(book)
    for q, v, a in states:
        tau = run(
            in_plane(rnea_spatial), model, q=q, v=v, a=a, external_forces=by_body(model, forces)
        )
        assert relative_error(tau, book.inverse_dynamics(q, v, a, forces)) < 1e-13


@pytest.mark.seed('PV05', kind='full')
@every_kind
def test_planar_inertia_matrix_is_that_of_space(name):
    """With gears, too, by the text that follows those."""
    model, book, _, _ = planar_tree(name)
    for q, _, _ in states_and_forces(book)[0]:
        H = run(in_plane(mass_matrix), model, q=q)
        assert relative_error(H, book.mass_matrix(q)) < 1e-13


@pytest.mark.seed('PV05', kind='full')
@every_kind
def test_planar_forward_dynamics_is_that_of_space(name):
    """By articulated bodies of 6 numbers; with gears, by the inertia matrix."""
    model, book, _, _ = planar_tree(name)
    states, forces = states_and_forces(book)
    diagonal = np.random.default_rng(1).uniform(0.1, 0.5, book.layout.nv)
    for q, v, tau in states:
        a = run(
            in_plane(forward_dynamics),
            model,
            q=q,
            v=v,
            tau=tau,
            diagonal=diagonal,
            external_forces=by_body(model, forces),
        )
        expected = book.forward_dynamics(q, v, tau, forces, diagonal)
        # solves with H, whose condition number is below 1e3 here
        assert relative_error(a, expected) < 1e-11


@pytest.mark.seed('PV05')
@every_kind
def test_compiled_planar_kernels_agree(name):
    _, book, text, _ = planar_tree(name)
    robot = Robot.from_urdf(text, gravity=GRAVITY)
    q, v, a = states_and_forces(book)[0][0]
    for planar, spatial in (
        (robot.kernel(in_plane(rnea_spatial)).function(q, v, a), robot.inverse_dynamics(q, v, a)),
        (robot.kernel(in_plane(mass_matrix)).function(q), robot.mass_matrix(q)),
        (
            robot.kernel(in_plane(forward_dynamics)).function(q, v, a),
            robot.forward_dynamics(q, v, a),
        ),
    ):
        assert relative_error(planar, spatial) < 1e-11


@pytest.mark.seed('PV05')
def test_compiled_planar_kernels_take_forces_and_gravity_at_run_time():
    _, book, text, _ = planar_tree('tilted tree')
    robot = Robot.from_urdf(text, gravity=GRAVITY)
    (q, v, a), forces = states_and_forces(book)[0][0], states_and_forces(book)[1]
    force, gravity = np.random.default_rng(2).normal(size=6), np.array([3.0, -1.0, 2.0])
    link = list(forces)[-1]
    options = {'forces': [link], 'runtime': ['gravity']}
    planar, spatial = (
        robot.kernel(text, **options).function(q, v, a, force, gravity)
        for text in (in_plane(rnea_spatial), rnea_spatial)
    )
    assert relative_error(planar, spatial) < 1e-12
    given = robot.kernel(in_plane(rnea_spatial), forces=[link]).function(q, v, a, force)
    expected = robot.inverse_dynamics(q, v, a, external_forces={link: force})
    assert relative_error(given, expected) < 1e-12


@pytest.mark.seed('PV05', kind='full')
def test_planar_kernels_take_fewer_operations_where_the_plane_is_not_a_coordinate_plane():
    """Than the same text in space, that is. Where it is one, known zeros save as much."""
    in_space = replace(declaration_of(forward_dynamics), specialization=None)
    counts = {}
    for name in ('tilted arm', 'upright arm'):
        robot = Robot.from_urdf(planar_tree(name)[2], gravity=GRAVITY)
        for kernel in (in_space, in_plane(forward_dynamics)):
            cost = robot.operation_count(kernel)
            counts.setdefault(name, []).append(cost.multiplications + cost.additions)
    spatial, planar = counts['tilted arm']
    assert 3 * planar < spatial
    spatial, planar = counts['upright arm']
    assert planar <= spatial


@dataclass(frozen=True)
class Swing(JointType):
    """Translation along a circle about a unit vector: its motion subspace changes with q."""

    normal: Tuple[float, float, float]
    nq = nv = 1
    reach = (3.0,)

    def _radii(self, q):
        x, y = (np.array(axis) for axis in across(self.normal))
        return np.cos(q[0]) * x + np.sin(q[0]) * y, np.cos(q[0]) * y - np.sin(q[0]) * x

    def transform(self, q):
        return PluckerTransform.translation(tuple(self._radii(q)[0].tolist()))

    def motion_subspace(self, q):
        return MotionSubspace([MotionVector((0.0, 0.0, 0.0), tuple(self._radii(q)[1].tolist()))])

    def motion_subspace_rate(self, q, qd):
        inwards = tuple((-qd[0] * self._radii(q)[0]).tolist())
        return MotionSubspace([MotionVector((0.0, 0.0, 0.0), inwards)])

    def constraint_forces(self, q):
        raise NotImplementedError

    @classmethod
    def examples(cls):
        return ()


@pytest.mark.seed('PV05')
def test_joints_whose_subspace_changes_move_in_the_plane_too():
    model, book, _, _ = planar_tree('tilted arm')
    bodies = list(model.bodies)
    for k in (1, 3):
        bodies[k] = replace(bodies[k], joint=Swing(tuple(bodies[k].joint.axis)))
    swinging = replace(model, bodies=tuple(bodies))
    for q, v, a in states_and_forces(book)[0]:
        q, v, a = q.tolist(), (v + 4.0 * np.sign(v)).tolist(), a.tolist()
        joint = bodies[1].joint
        assert np.abs(list(joint.bias(q[1:2], v[1:2]))).max() > 1.0
        planar = planar_model(swinging).bodies[1].joint
        rates = planar.motion_subspace_rate(q[1:2], v[1:2]) @ v[1:2]
        assert_allclose(list(rates), list(planar.bias(q[1:2], v[1:2])), rtol=1e-13, atol=1e-13)
        for text in (rnea_spatial, aba):
            ours, theirs = in_plane(text)(swinging, q, v, a), text(swinging, q, v, a)
            assert relative_error(np.array(ours), np.array(theirs)) < 1e-11


@pytest.mark.seed('PV05')
def test_plane_can_be_named():
    model, book, _, normal = planar_tree('tilted arm')
    (q, v, a), *_ = states_and_forces(book)[0]
    arguments = [x.tolist() for x in (q, v, a)]
    expected = book.inverse_dynamics(q, v, a, {})
    for n in (normal, -normal):
        tau = in_plane(rnea_spatial, tuple(n.tolist()))(model, *arguments)
        assert relative_error(np.array(tau), expected) < 1e-13
    with pytest.raises(ModelError, match='joint1'):
        in_plane(rnea_spatial, (1.0, 0.0, 0.0))(model, *arguments)


@pytest.mark.seed('PV05')
def test_text_itself_stays_spatial():
    """Names are exchanged in a copy, and texts that a text calls are copied with it."""
    model, book, _, _ = planar_tree('tilted arm')
    (q, v, tau), *_ = states_and_forces(book)[0]
    arguments = [x.tolist() for x in (q, v, tau)]
    before = aba(model, *arguments)
    planar = in_plane(aba)(model, *arguments)
    assert aba(model, *arguments) == before
    assert relative_error(np.array(planar), np.array(before)) < 1e-11
    H = in_plane(crba)(model, arguments[0])
    assert relative_error(np.array(H), book.mass_matrix(q)) < 1e-13


@pytest.mark.seed('PV05', 'PV02', 'PV03')
def test_quantities_of_a_planar_model_are_planar():
    """Four numbers of a rigid body, six of an articulated one."""
    model, book, _, _ = planar_tree('tilted tree')
    planar = planar_model(model)
    q = states_and_forces(book)[0][0][0].tolist()
    for composite in in_plane(composite_inertias)(model, q).values():
        assert type(composite) is PlanarInertia
    for body in planar.bodies:
        assert type(body.inertia) is PlanarInertia
        assert type(body.tree_transform) is PlanarTransform
        joint = body.joint.calc(q[body.q], [1.0] * body.joint.nv)
        assert type(joint.X) is PlanarTransform and type(joint.v) is PlanarMotionVector
        assert (body.joint.nq, len(joint.S.columns)) == (body.joint.nq, body.joint.nv)
    articulated = PlanarArticulatedInertia.from_rigid(planar.bodies[0].inertia)
    assert len((*articulated.M, *articulated.H, articulated.I)) == 6


def test_text_keeps_its_usual_values():
    def text(model, first=3.0, *, last=2.0):
        return first * last * model.tree_nv

    model, _, _, _ = planar_tree('upright arm')
    assert in_plane(text)(model) == 30.0 and in_plane(text)(model, 1.0, last=1.0) == 5.0


def test_key_of_a_planar_kernel_follows_both_algorithms():
    """The text of this module, and the one that it is made from."""
    model, _, _, _ = planar_tree('tilted arm')
    spatial, planar, other = (
        source_key(model, declaration_of(text))
        for text in (mass_matrix, in_plane(mass_matrix), in_plane(rnea_spatial))
    )
    assert len({spatial, planar, other}) == 3
    declared = declaration_of(in_plane(mass_matrix))
    assert declared.name == 'mass_matrix_in_plane' and declared.function is not mass_matrix


def test_robot_that_leaves_the_plane_is_rejected():
    turned = chain([{'type': 'revolute'}, {'type': 'revolute', 'axis': [1, 0, 0]}])
    lifted = chain([{'type': 'revolute'}, {'type': 'prismatic', 'axis': [0, 0, 1]}])
    for text in (turned, lifted):
        with pytest.raises(ModelError, match='joint2'):
            planar_model(load_urdf(text))
    with pytest.raises(ModelError, match='no plane'):
        planar_model(load_urdf('<robot name="rock"><link name="rock"/></robot>'))


def test_robot_that_slides_along_a_line_is_planar():
    model = load_urdf(chain([{'type': 'prismatic', 'axis': [0, 0, 1], 'mass': 2.0}]))
    assert in_plane(rnea_spatial)(model, [0.1], [0.2], [0.3]) == pytest.approx(
        [2.0 * (9.81 + 0.3)]
    )
