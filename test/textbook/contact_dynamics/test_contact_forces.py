# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Unit forces along lines against moments about points, and their rates by differences."""

import numpy as np
from numpy.testing import assert_allclose

from rbd_ros.textbook.contact_dynamics.contact_forces import (
    contact_force,
    contact_force_rate,
    contact_forces,
)

STEP = 1e-4  # differences below are of quadratic functions: exact but for rounding


def array(force):
    return np.array(list(force))


def test_a_contact_force_has_no_moment_about_its_line(rng):
    C, e = rng.normal(size=(2, 3))
    force = contact_force(C.tolist(), e.tolist())
    assert_allclose(force.linear, e, rtol=0)
    for distance in (0.0, -1.5, 2.0):
        assert_allclose(force.moment_about(tuple((C + distance * e).tolist())), 0.0, atol=2e-15)
    assert_allclose(force.moment, np.cross(C, e), atol=1e-15)


def test_its_rate_is_its_derivative(rng):
    C, e, Cdot, edot = rng.normal(size=(4, 3))

    def at(t):
        return array(contact_force(C + t * Cdot, e + t * edot))

    expected = (at(STEP) - at(-STEP)) / (2.0 * STEP)
    found = contact_force_rate(C.tolist(), e.tolist(), Cdot.tolist(), edot.tolist())
    assert_allclose(array(found), expected, atol=1e-10)


def test_forces_of_several_contacts_come_contact_by_contact(rng):
    C, Cdot = rng.normal(size=(2, 3, 3))
    e, edot = rng.normal(size=(2, 3, 2, 3))
    flat = (x.ravel().tolist() for x in (C, e, Cdot, edot))
    found = contact_forces(*flat, 2)
    assert [len(forces) for forces in found] == [2, 2, 2]
    for i in range(3):
        for k in range(2):
            force, rate = found[i][k]
            assert_allclose(array(force)[:3], np.cross(C[i], e[i, k]), atol=1e-15)
            assert_allclose(array(force)[3:], e[i, k], rtol=0)
            turned = np.cross(Cdot[i], e[i, k]) + np.cross(C[i], edot[i, k])
            assert_allclose(array(rate), [*turned, *edot[i, k]], atol=1e-15)
