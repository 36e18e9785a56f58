# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A robot that crawls on the ground: contacts, dry friction, damping and limits in one step."""

import numpy as np
import pytest

from rbd_ros.contact import ContactParameters, HalfSpace
from rbd_ros.simulation import Physics
from rbd_ros.simulation.records.workspace import Substep
from rbd_ros.simulation.stepping.joint_law import FORWARD
from rbd_ros.simulation.stepping.linear import copy
from rbd_ros.simulation.stepping.semi_implicit_step import prepare
from rbd_ros.simulation.stepping.stepping import find_forces
from support.simulated_robots import collision, joint, link, robot

TIMESTEP = 2e-3
CONTACT = ContactParameters(3e3, 40.0, 0.4, tangential_stiffness=2e3, tangential_damping=25.0)
GROUND = HalfSpace((0.2, -0.1, 1.0), 0.05)


BOX = collision('box size="0.4 0.3 0.2"')
LIMIT = '<limit lower="-2" upper="1" effort="40" velocity="100"/>'


def dry(friction, damping):
    """Return the limits, friction and damping of a joint."""
    return f'{LIMIT}<dynamics friction="{friction}" damping="{damping}"/>'


def crawler():
    """Return a box with two arms; the second has a slider at its end."""
    return robot(
        link('trunk', 3.0, (0.02, 0.03, 0.04), (0.01, 0.02, -0.03), BOX),
        link('left', 0.5, (2e-3, 3e-3, 4e-3), (0.2, 0.1, 0), collision('sphere radius="0.1"')),
        link('right', 0.7, (2e-3, 3e-3, 4e-3), (0.2, 0, 0)),
        link('hand', 0.2, (1e-3, 1e-3, 1e-3), (0.0, 0.1, 0.1)),
        joint('a', 'trunk', 'left', 'revolute', (0, 0, 1), (0.1, 0, 0), dry(1.5, 0.1)),
        joint('b', 'trunk', 'right', 'revolute', (0, 1, 0), (-0.1, 0, 0), dry(12, 0.3)),
        joint('c', 'right', 'hand', 'prismatic', (1, 1, 0), (0.3, 0, 0), dry(0, 2.0)),
        floating_base=True,
    )


def substep(physics, v=None, count=0):
    """Return an undivided step of a simulation, as its functions take it.

    :param v: velocity, overwritten by that at the end of the step; None: that of the simulation
    :param count: number of contact points near the ground
    """
    fields = physics.fields
    if v is not None:
        motion = fields.work.motion._replace(next_v=v)
        fields = fields._replace(work=fields.work._replace(motion=motion))
    return Substep(
        physics.model,
        fields.state,
        fields.external_forces,
        fields.contacts,
        fields.work,
        count,
        physics.model.timestep,
    )


def crawling(seed, integrator='semi_implicit'):
    """Return the physics of the robot near the ground, at a random state, under random forces.

    :return: the world, the number of contact points near the ground
    """
    rng = np.random.default_rng(seed)
    physics = Physics(crawler(), TIMESTEP, integrator, GROUND, CONTACT)
    orientation = np.array([1.0, 0.0, 0.0, 0.0]) + 0.2 * rng.normal(size=4)
    q = np.r_[orientation / np.linalg.norm(orientation), 0.1 * rng.normal(size=3), np.zeros(3)]
    height = GROUND.offset + rng.uniform(0.0, 0.15)
    q[4:7] += (height - GROUND.axes()[0] @ q[4:7]) * GROUND.axes()[0]
    # One joint at a limit or beyond it, one well inside, one that sticks.
    q[7:] = rng.choice([-2.0, -2.0 + 1e-4, 0.3, 0.4, 1.0, 1.01], size=3)
    v = rng.normal(size=9) * [1, 1, 1, 0.5, 0.5, 0.5, 0, 0, 1]
    physics.reset(q, v)
    state, work = physics.state, physics.fields.work
    state.applied[:] = 5.0 * rng.normal(size=9)
    state.normal_deformation[:] += rng.uniform(-1e-3, 0.0, size=state.normal_deformation.shape)
    state.tangent_deformation[:] = 1e-3 * rng.normal(size=state.tangent_deformation.shape)
    state.segment[:6], state.segment[6:] = FORWARD, rng.integers(-2, 3, size=3)
    arguments = physics.model, state, physics.external_forces, physics.contacts, work, TIMESTEP
    count = find_forces(*arguments)
    prepare(physics.model, state, work.dynamics, work.problem, TIMESTEP)
    copy(state.v, work.motion.next_v)
    return physics, count


def assert_joints_obey(model, problem, h, v, p, tolerance):
    """Check that velocities and impulses of each joint obey joint_law.py."""
    friction, low, high = h * model.friction, problem.low, problem.high
    assert np.all(v >= low - tolerance) and np.all(v <= high + tolerance)
    for i in range(len(v)):
        inside = low[i] + tolerance < v[i] < high[i] - tolerance
        if inside and abs(v[i]) > tolerance:
            assert p[i] == pytest.approx(-np.sign(v[i]) * friction[i], abs=tolerance)
        elif inside:
            assert abs(p[i]) <= friction[i] + tolerance
        elif v[i] <= low[i] + tolerance:
            assert p[i] >= (friction[i] if low[i] < 0.0 else -friction[i]) - tolerance
        else:
            assert p[i] <= (-friction[i] if high[i] > 0.0 else friction[i]) + tolerance
