# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Deformation of the ground below a robot: its start, deflection and recovery."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.crawling import CONTACT, crawling, GROUND, TIMESTEP

from rbd_ros.compiler.loops import Vec
from rbd_ros.contact.detection import contact_point
from rbd_ros.simulation.records.simulation_state import CONTACTS, DEFORMED, NEAR
from rbd_ros.simulation.stepping.ground_contact import (
    add_contact,
    AT_REST,
    detect_contacts,
    start_contacts,
    update_deformations,
)

h = TIMESTEP
K = np.array([CONTACT.stiffness, *[CONTACT.tangential_stiffness] * 2])
D = np.array([CONTACT.damping, *[CONTACT.tangential_damping] * 2])


def relaxed(z, f):
    """Return D (z' - z)/h = -(K z' + f), solved for z'; along the normal and both tangents."""
    return (D * z - h * f) / (D + h * K)


@pytest.mark.parametrize('seed', range(40))
def test_the_surface_follows_the_forces_and_recovers_elsewhere(seed):
    physics, count = crawling(seed)
    rng = np.random.default_rng(seed)
    state, contacts = physics.state, physics.contacts
    points = len(state.touching)
    size = rng.choice([1e-3, 0.3 * AT_REST, 0.0], size=points)
    before = size[:, None] * rng.uniform(-1, 1, size=(points, 3))
    # In one direction only, too.
    before[: points // 2] *= np.eye(3)[rng.integers(0, 3, points // 2)]
    state.normal_deformation[:], state.tangent_deformation[:] = before[:, 0], before[:, 1:]
    state.touching[:] = rng.integers(0, 2, points)
    state.counters[DEFORMED] = 5
    contacts.force[:count] = rng.normal(size=(count, 3)) * rng.integers(0, 2, (count, 1))
    in_contact = state.touching.copy()
    update_deformations(physics.model.ground, state, contacts, count, h)

    expected, touching = before.copy(), np.zeros(points)
    near = contacts.point[:count].tolist()
    for point in range(points):
        if point in near:
            force = contacts.force[near.index(point)]
            expected[point], touching[point] = relaxed(before[point], force), force[0] > 0.0
        elif in_contact[point] or before[point].any():
            expected[point] = relaxed(before[point], 0.0)
        if not touching[point] and np.abs(expected[point]).max() < AT_REST:
            expected[point] = 0.0
    found = np.column_stack([state.normal_deformation, state.tangent_deformation])
    assert_allclose(found, expected, rtol=1e-12, atol=0.0)
    assert list(state.touching) == list(touching)
    assert state.counters[CONTACTS] == touching.sum()
    moved = (touching > 0) | expected.any(axis=1)
    assert state.counters[DEFORMED] == moved.sum()


def test_contact_state_is_unchanged_in_flight():
    physics, _ = crawling(0)
    state = physics.state
    state.normal_deformation[:] = 1e-3
    state.counters[DEFORMED] = 0
    update_deformations(physics.model.ground, state, physics.contacts, 0, h)
    assert set(state.normal_deformation) == {1e-3} and state.counters[CONTACTS] == 0


@pytest.mark.parametrize('seed', range(8))
def test_a_point_that_starts_in_the_ground_touches_it_there(seed):
    physics, _ = crawling(seed)
    state = physics.state
    dynamics = physics.fields.work.dynamics
    shapes = physics.model.ground.shapes
    normal, gaps = Vec(*GROUND.axes()[0]), []
    state.tangent_deformation[:], state.touching[:] = 7.0, 7
    deepest = start_contacts(physics.model, state, dynamics)
    for s in range(len(shapes.kind)):
        for number in range(shapes.first[s], shapes.first[s + 1]):
            point = contact_point(shapes, s, number, dynamics.poses, normal)
            gaps.append(normal @ point - GROUND.offset)
    gaps = np.array(gaps)
    assert deepest == (int(np.argmin(gaps)) if gaps.min() < 0.0 else -1)
    assert_allclose(state.normal_deformation, np.minimum(gaps, 0.0), atol=1e-14)
    assert not state.tangent_deformation.any()
    assert list(state.touching) == list((gaps < 0.0).astype(int))
    assert state.counters[DEFORMED] == (gaps < 0.0).sum()


@pytest.mark.parametrize('seed', range(8))
def test_a_point_that_touches_has_the_surface_at_it(seed):
    physics, _ = crawling(seed)
    state, work = physics.state, physics.fields.work
    state.normal_deformation[:] = 7.0
    state.touching[:] = np.arange(len(state.touching)) % 2
    count = detect_contacts(
        physics.model, state, work.dynamics, physics.contacts, work.problem, TIMESTEP
    )
    expected = np.full(len(state.touching), 7.0)
    for point, gap in zip(
        physics.contacts.point[:count], physics.contacts.gap[:count], strict=True
    ):
        if point % 2:
            expected[point] = gap
    assert list(state.normal_deformation) == list(expected)
    assert state.counters[NEAR] == count


def test_a_contact_adds_one_row_for_any_moving_body(rng):
    """A - h J^T slope J and x + h J^T intercept; some degrees of freedom move it one way only."""
    J = np.hstack([np.eye(3), np.zeros((3, 1)), rng.normal(size=(3, 2))])
    intercept, slope = rng.normal(size=3), rng.normal(size=(3, 3))
    A, x = rng.normal(size=(6, 6)), rng.normal(size=6)
    expected = A - h * J.T @ slope @ J, x + h * J.T @ intercept
    add_contact(J, intercept, slope, h, A, x, np.empty((3, 6)))
    assert_allclose(A, expected[0], atol=1e-14)
    assert_allclose(x, expected[1], atol=1e-14)
