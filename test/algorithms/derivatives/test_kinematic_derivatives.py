# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of kinematics against differences of the textbook's, identities, Pinocchio."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import example_robots
from support.definitions import definition_of
from support.slopes import assert_slopes, by_array, by_configuration, by_motion, rates_of
from support.states import every_robot, named_robot, random_state
from support.textbook_trees import check, every_reference, every_tree, named_tree

from rbd_ros import Robot


def interpreted(definition, *arrays):
    flat = definition.interpret(*(x.tolist() for x in arrays))
    return [
        np.array(x, dtype=float).reshape(output.shape)
        for x, output in zip(flat, definition.outputs)
    ]


@every_reference
@every_tree
def test_the_gradient_of_a_jacobian_is_the_slope_of_the_textbooks(name, reference):
    tree = named_tree(name)
    book, link = tree.book, tree.book.layout.links[-1]
    definition = definition_of(tree.model, 'jacobian_gradient', frame=link, reference=reference)
    q, v, _ = tree.states[0]
    J, dJ_dq = interpreted(definition, q)
    check('gradient J', name, J, book.jacobian(q, link, reference))
    rates = rates_of(book.layout, q)
    expected = by_configuration(lambda x: book.jacobian(x, link, reference), q, rates)
    assert_slopes(dJ_dq, expected, 1e-8)
    velocity = definition_of(
        tree.model, 'frame_velocity_derivatives', frame=link, reference=reference
    )
    found = interpreted(velocity, q, v)
    check('velocity by q', name, found[1], np.einsum('ijk,j->ik', dJ_dq, v), 1e-12)
    check('velocity by v', name, found[2], J, 1e-12)


@every_tree
def test_the_gradient_of_the_center_of_masss_jacobian_is_a_slope(name):
    tree = named_tree(name)
    q, _, _ = tree.states[0]
    J, dJ_dq = interpreted(definition_of(tree.model, 'center_of_mass_jacobian_gradient'), q)
    check('gradient of the center', name, J, tree.book.center_jacobian(q))
    expected = by_configuration(tree.book.center_jacobian, q, rates_of(tree.book.layout, q))
    assert_slopes(dJ_dq, expected, 1e-8)


@every_reference
@every_robot
def test_derivatives_of_a_frames_motion_are_slopes(name, reference):
    robot = named_robot(name)
    frame = robot.frame(robot.link_names[-1], reference)
    q, v, a = random_state(robot)
    found = frame.velocity_derivatives(q, v)
    assert_allclose(found.velocity, frame.velocity(q, v), rtol=1e-12, atol=1e-12)
    assert_slopes(found.dvelocity_dq, by_motion(lambda x: frame.velocity(x, v), robot, q))
    assert_allclose(found.dvelocity_dv, frame.jacobian(q), rtol=0, atol=1e-11)
    found = frame.acceleration_derivatives(q, v, a)
    rate = frame.acceleration
    assert_allclose(found.acceleration, rate(q, v, a), rtol=1e-12, atol=1e-11)
    assert_slopes(found.dacceleration_dq, by_motion(lambda x: rate(x, v, a), robot, q))
    assert_slopes(found.dacceleration_dv, by_array(lambda x: rate(q, x, a), v))
    assert_allclose(found.dacceleration_da, frame.jacobian(q), rtol=0, atol=1e-11)
    gradient = frame.jacobian_gradient(q)
    rates = np.einsum('ijk,k->ij', gradient.dJ_dq, v)
    assert_allclose(rates, frame.jacobian_derivative(q, v), rtol=0, atol=1e-10)


@every_robot
def test_derivatives_of_the_centroidal_momentum_are_slopes(name):
    robot = named_robot(name)
    q, v, _ = random_state(robot)
    found = robot.derivatives.centroidal_momentum(q, v)
    momentum = robot.centroidal.momentum
    assert_allclose(found.h, momentum(q, v), rtol=1e-11, atol=1e-11)
    assert_slopes(found.dh_dq, by_motion(lambda x: momentum(x, v), robot, q))
    assert_allclose(found.dh_dv, robot.centroidal.momentum_matrix(q), rtol=0, atol=1e-10)
    # the bias force is what the momentum changes by while no joint accelerates
    assert_allclose(found.dh_dq @ v, robot.centroidal.bias(q, v), rtol=0, atol=1e-9)


@pytest.mark.parametrize('reference', ['body', 'base'])
@pytest.mark.parametrize(('name', 'floating'), [('ur5_robot', False), ('solo12', True)])
def test_they_are_pinocchios(name, floating, reference):
    from support.pinocchio_bridge import Bridge, pin, REFERENCES, SWAP

    text = example_robots.dynamics_xml(example_robots.path(name).read_text())
    bridge, robot = Bridge(text, floating), Robot.from_urdf(text, floating_base=floating)
    link = bridge.layout.links[-1]
    frame, number = robot.frame(link, reference), bridge.frame(link)
    for q, v, a in zip(*bridge.layout.random_states(np.random.default_rng(2), 2)):
        state = (bridge.model, bridge.data, bridge.q(q), bridge.v(v), bridge.v(a))
        pin.computeForwardKinematicsDerivatives(*state)
        pin.updateFramePlacements(bridge.model, bridge.data)
        which = (bridge.model, bridge.data, number, REFERENCES[reference])
        theirs = [x[SWAP] @ bridge.P for x in pin.getFrameVelocityDerivatives(*which)]
        found = frame.velocity_derivatives(q, v)
        for field, ours, expected in zip(found._fields[1:], found[1:], theirs):
            check(f'Pinocchio {field}', name, ours, expected, 1e-11)
        theirs = [x[SWAP] @ bridge.P for x in pin.getFrameAccelerationDerivatives(*which)][-3:]
        found = frame.acceleration_derivatives(q, v, a)
        for field, ours, expected in zip(found._fields[1:], found[1:], theirs):
            check(f'Pinocchio {field}', name, ours, expected, 1e-11)
