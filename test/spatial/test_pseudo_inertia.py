# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pseudo-inertias: against clouds of points, Pinocchio's, and physical conditions."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import outside

from rbd_ros.spatial import RigidBodyInertia
from rbd_ros.spatial.inertia import violated_conditions
from rbd_ros.spatial.pseudo_inertia import (
    from_log_cholesky,
    from_pseudo_inertia,
    log_cholesky,
    pseudo_inertia,
)

seeds = pytest.mark.parametrize('seed', range(5))


def cloud(rng, count=30):
    """Return the masses and positions of points."""
    return rng.uniform(0.1, 1.0, count), rng.normal(size=(count, 3)) * (0.5, 0.2, 0.1)


def inertia_of(masses, points):
    """Return the inertia of points, by the definition of each of its ten numbers."""
    squares = np.einsum('k,ki,kj->ij', masses, points, points)
    rotational = np.trace(squares) * np.eye(3) - squares
    xx, xy, xz = rotational[0]
    _, yy, yz = rotational[1]
    return RigidBodyInertia.from_parameters(
        [masses.sum(), *(masses @ points), xx, xy, xz, yy, yz, rotational[2, 2]]
    )


@seeds
def test_it_is_the_second_moment_of_the_mass_in_homogeneous_coordinates(seed):
    masses, points = cloud(np.random.default_rng(seed))
    homogeneous = np.column_stack([points, np.ones(len(points))])
    expected = np.einsum('k,ki,kj->ij', masses, homogeneous, homogeneous)
    inertia = inertia_of(masses, points)
    assert_allclose(np.array(pseudo_inertia(inertia)), expected, atol=1e-13)
    assert_allclose(
        from_pseudo_inertia(expected.tolist()).parameters(), inertia.parameters(), atol=1e-13
    )


@seeds
def test_pseudo_inertia_agrees_with_pinocchio(seed):
    pin = outside.load('pinocchio')
    pin.seed(seed)
    theirs = pin.Inertia.Random()
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = theirs.toDynamicParameters()
    ours = RigidBodyInertia.from_parameters([m, hx, hy, hz, xx, xy, xz, yy, yz, zz])
    expected = theirs.toPseudoInertia().toMatrix()
    assert_allclose(np.array(pseudo_inertia(ours)), expected, atol=1e-14)
    theta = np.random.default_rng(seed).normal(size=10)
    expected = pin.LogCholeskyParameters(theta).toPseudoInertia().toMatrix()
    assert_allclose(np.array(pseudo_inertia(from_log_cholesky(theta))), expected, rtol=1e-12)


@seeds
def test_any_ten_numbers_are_a_body_and_back_again(seed):
    theta = np.random.default_rng(seed).normal(size=10)
    inertia = from_log_cholesky(theta)
    assert np.linalg.eigvalsh(np.array(pseudo_inertia(inertia)))[0] > 0.0
    assert_allclose(log_cholesky(inertia), theta, atol=1e-10)
    assert not violated_conditions(*inertia.mass_center())


@seeds
@pytest.mark.parametrize('moments', [(1.0, 2.0, 2.9), (1.0, 2.0, 3.1), (-0.1, 1.0, 1.0)])
@pytest.mark.parametrize('mass', [2.0, -2.0])
def test_positive_definiteness_agrees_with_the_physical_conditions(seed, moments, mass):
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    I_C = turn @ np.diag(moments) @ turn.T
    center = rng.normal(size=3)
    inertia = RigidBodyInertia.from_mass_center(mass, tuple(center), I_C)
    least = np.linalg.eigvalsh(np.array(pseudo_inertia(inertia)))[0]
    assert (least > 0.0) == (not violated_conditions(mass, center, I_C))


def test_an_impossible_inertia_is_rejected():
    inertia = RigidBodyInertia.from_mass_center(1.0, (0.0, 0.0, 0.0), np.diag([1.0, 1.0, 3.0]))
    with pytest.raises(ValueError, match='no body has this inertia.*-0.5'):
        log_cholesky(inertia)
    with pytest.raises(ValueError, match=r'theta must have shape \(10,\), got \(9,\)'):
        from_log_cholesky(np.zeros(9))


def test_it_is_exact_over_any_scalar():
    from fractions import Fraction

    numbers = [Fraction(k, 7) for k in (5, 1, 2, 3, 11, 1, 2, 12, 3, 13)]
    inertia = RigidBodyInertia.from_parameters(numbers)
    J = pseudo_inertia(inertia)
    assert [J[k][k] for k in range(3)] == [1, Fraction(6, 7), Fraction(5, 7)]
    assert from_pseudo_inertia(J).h == inertia.h
