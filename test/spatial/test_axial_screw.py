# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Axial screws against general transforms, and their operations against book table A.5."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import dense
from support.counting import count, Counting
from support.random_trees import physical_inertia

from rbd_ros.compiler import Graph
from rbd_ros.spatial import (
    ArticulatedBodyInertia,
    ForceVector,
    MotionVector,
    PluckerTransform,
    RigidBodyInertia,
)
from rbd_ros.spatial.axial_screw import AxialScrew, denavit_hartenberg_screws, three_screws

TOLERANCE = {'rtol': 1e-12, 'atol': 1e-12}  # congruences multiply rounding by d^2
SCREWS = (AxialScrew.x, AxialScrew.y, AxialScrew.z)
DERIVED = ('s2', 'cs', 'cs2', 'cos2')
ANGLE, D = 0.7, -1.3

every_axis = pytest.mark.parametrize('axis', range(3))


def dense_screw(axis, angle=ANGLE, d=D):
    """Return the matrix of motions of the book's scrx, scry or scrz: rot(angle) xlt(d)."""
    u = np.eye(3)[axis]
    active = np.eye(3) + np.sin(angle) * dense.skew(u)
    active = active + (1 - np.cos(angle)) * dense.skew(u) @ dense.skew(u)
    return dense.motion_transform(active.T, d * u)


def lower(M, offset=0):
    return [M[offset + i, offset + j] for i in range(3) for j in range(i + 1)]


def articulated(M, scalars=list):
    """Return the articulated inertia of a dense matrix; its exact zeros are known ones."""
    blocks = [lower(M, 3), M[:3, 3:].ravel(), lower(M)]
    a, b, c = ([0 if x == 0.0 else scalars([x])[0] for x in block] for block in blocks)
    return ArticulatedBodyInertia(a, (b[:3], b[3:6], b[6:]), c)


def without_row_3(rng):
    """Return inertia I^a of a body behind a hinge about z: its third row and column are zero."""
    M = dense.positive_definite(rng, 6)
    Ia = M - np.outer(M[2], M[2]) / M[2, 2]
    Ia[2] = Ia[:, 2] = 0.0
    return Ia


def counting(values):
    return [Counting(x) for x in values]


def stored(screw):
    """Return screw of counting scalars whose derived quantities have been calculated before."""
    result = AxialScrew(screw.axis, *counting([screw.c, screw.s, screw.d]))
    for name in DERIVED:
        setattr(result, name, Counting(getattr(screw, name)))
    return result


def numbers(result):
    if isinstance(result, RigidBodyInertia):
        return list(result.parameters())
    if isinstance(result, ArticulatedBodyInertia):
        return [*result.M, *(x for row in result.H for x in row), *result.I]
    return list(result)


@pytest.mark.seed('AR05', kind='full')
@every_axis
def test_screw_is_the_rotation_about_and_translation_along_an_axis(axis):
    screw = SCREWS[axis](ANGLE, D)
    assert_allclose(screw.transform().matrix(), dense_screw(axis), **TOLERANCE)
    back = screw.inverse().transform().matrix()
    assert_allclose(back @ dense_screw(axis), np.eye(6), atol=1e-15)
    rotation = (
        PluckerTransform.rotation_x,
        PluckerTransform.rotation_y,
        PluckerTransform.rotation_z,
    )[axis](ANGLE)
    shift = PluckerTransform.translation(tuple((D * np.eye(3)[axis]).tolist()))
    for product in (rotation * shift, shift * rotation):
        assert_allclose(screw.transform().matrix(), product.matrix(), **TOLERANCE)


@pytest.mark.seed('AR05', kind='full')
@every_axis
def test_screw_transforms_like_its_dense_matrix(axis, rng):
    X = dense_screw(axis)
    inverse = np.linalg.inv(X)
    screw = SCREWS[axis](ANGLE, D)
    m, f = rng.normal(size=(2, 6))
    motion, force = MotionVector.from_array(m.tolist()), ForceVector.from_array(f.tolist())
    assert_allclose(list(screw.apply(motion)), X @ m, **TOLERANCE)
    assert_allclose(list(screw.inverse_apply(motion)), inverse @ m, **TOLERANCE)
    assert_allclose(list(screw.apply(force)), inverse.T @ f, **TOLERANCE)
    assert_allclose(list(screw.inverse_apply(force)), X.T @ f, **TOLERANCE)
    rigid = RigidBodyInertia.from_mass_center(2.0, rng.normal(size=3), physical_inertia(rng, 2.0))
    general = articulated(dense.positive_definite(rng, 6))
    hinged = articulated(without_row_3(rng))
    for inertia in (rigid, general, hinged):
        M = inertia.matrix()
        assert type(screw.apply(inertia)) is type(inertia)
        assert_allclose(screw.apply(inertia).matrix(), inverse.T @ M @ inverse, **TOLERANCE)
        assert_allclose(screw.inverse_apply(inertia).matrix(), X.T @ M @ X, **TOLERANCE)
    with pytest.raises(TypeError):
        screw.apply(1.0)


@pytest.mark.seed('AR05', kind='full')
@pytest.mark.parametrize('way', ['apply', 'inverse_apply'])
@every_axis
def test_operations_are_those_of_table_a5(axis, way, rng):
    """The quantities that a screw stores take 2m + 3a, once."""
    fresh = AxialScrew(axis, *counting([0.6, 0.8, D]))
    assert count([getattr(fresh, name) for name in DERIVED])[:2] == (2, 3)
    screw = stored(SCREWS[axis](ANGLE, D))
    hinged = (28, 34) if axis == 2 else (32, 28)
    for quantity, cost in (
        (MotionVector.from_array(counting(rng.normal(size=6))), (10, 6)),
        (ForceVector.from_array(counting(rng.normal(size=6))), (10, 6)),
        (RigidBodyInertia.from_parameters(counting(rng.normal(size=10))), (16, 15)),
        (articulated(dense.positive_definite(rng, 6), counting), (38, 40)),
        (articulated(without_row_3(rng), counting), hinged),
    ):
        result = getattr(screw, way)(quantity)
        multiplications, additions, divisions = count(numbers(result))
        assert divisions == 0
        assert multiplications <= cost[0] and additions <= cost[1], (
            f'{type(quantity).__name__}: {multiplications}m + {additions}a, the table says {cost}'
        )


@pytest.mark.seed('AR05')
def test_compiled_screws_cost_no_more_than_table_a5(rng):
    """The compiler's own count, with the quantities calculated once among them."""
    graph = Graph()
    screw = AxialScrew(2, *graph.inputs('screw', 3))
    rigid = RigidBodyInertia.from_parameters(graph.inputs('I', 10))
    cost = graph.count(numbers(screw.apply(rigid)))
    assert cost.multiplications <= 16 + 2 and cost.additions <= 15 + 3


@pytest.mark.seed('AR06', kind='full')
def test_hinged_inertia_goes_through_a_denavit_hartenberg_step(rng):
    """Scrz, then scrx: 62m + 65a with what scrz stores, equal to the general congruence."""
    M = without_row_3(rng)
    general = articulated(M, counting)
    first = AxialScrew(2, *counting([np.cos(ANGLE), np.sin(ANGLE), D]))
    second = stored(AxialScrew.x(0.4, 0.9))  # its angle is constant
    between = first.apply(general)
    # a screw about z keeps the zeros
    assert (*between.H[2], *between.I[3:]) == (0, 0, 0, 0, 0, 0)
    result = second.apply(between)
    multiplications, additions, _ = count(numbers(result))
    assert multiplications <= 62 and additions <= 65, (multiplications, additions)
    assert 2 * multiplications < 137 and 2 * additions < 137
    X = np.linalg.inv(dense_screw(0, 0.4, 0.9) @ dense_screw(2))
    assert_allclose(result.matrix().astype(float), X.T @ M @ X, **TOLERANCE)
    # a screw about x does not keep them
    assert all(float(x) != 0.0 for x in (*result.H[2], *result.I[3:5]))


@pytest.mark.seed('AR05', 'MD09')
def test_step_between_denavit_hartenberg_frames_is_two_screws():
    """Homogeneous matrices: Rot x(alpha) Trans x(a), then Rot z(theta) Trans z(d)."""
    a, alpha, d, theta = 0.3, -1.1, 0.5, 2.0
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    pose = np.array(
        [
            [ct, -st, 0, a],
            [st * ca, ct * ca, -sa, -sa * d],
            [st * sa, ct * sa, ca, ca * d],
            [0, 0, 0, 1],
        ]
    )
    first, second = denavit_hartenberg_screws(a, alpha, d, theta)
    X = second.transform() * first.transform()
    assert_allclose(X.pose(), pose, **TOLERANCE)


@pytest.mark.seed('AR05', kind='full')
def test_any_transform_is_three_screws(rng):
    transforms = [PluckerTransform(dense.rotation(rng), rng.normal(size=3)) for _ in range(20)]
    for angle in (0.0, 0.4, -2.5, np.pi):  # parallel z axes, and opposite ones
        for turned in (PluckerTransform.identity(), PluckerTransform(np.diag([1.0, -1, -1]))):
            transforms.append(
                turned
                * PluckerTransform.rotation_z(angle)
                * PluckerTransform.translation(rng.normal(size=3))
            )
    for X in transforms:
        screws = three_screws(X)
        assert [screw.axis for screw in screws] == [2, 0, 2]
        first, second, third = (screw.transform() for screw in screws)
        # d3 is divided by the sine between the z axes, which is above 0.05 here
        assert_allclose((third * second * first).matrix(), X.matrix(), rtol=1e-11, atol=1e-11)


@pytest.mark.seed('AR07', kind='full')
@every_axis
def test_rotation_about_an_axis_by_alpha_and_beta(axis, rng):
    """12m + 12a of a general matrix, 8m + 7a of a symmetric one."""
    E, A = dense_screw(axis)[:3, :3], rng.normal(size=(3, 3))
    S = A + A.T
    screw = stored(SCREWS[axis](ANGLE, D))
    general = screw.rotate_general(tuple(map(tuple, map(counting, A))))
    symmetric = screw.rotate_symmetric(tuple(counting(lower(S))))
    assert_allclose(np.array(general, dtype=float), E @ A @ E.T, **TOLERANCE)
    assert_allclose(np.array(symmetric, dtype=float), lower(E @ S @ E.T), **TOLERANCE)
    assert count([x for row in general for x in row])[:2] == (12, 12)
    assert count(symmetric)[:2] == (8, 7)
    # once: cs and s^2, then 2cs and 1 - 2 s^2
    fresh = AxialScrew(axis, *counting([0.6, 0.8, D]))
    assert count([fresh.s2, fresh.cs])[:2] == (2, 0)


def test_axis_must_be_one_of_three():
    with pytest.raises(ValueError, match='0, 1 or 2'):
        AxialScrew(3, 1.0, 0.0, 0.0)
