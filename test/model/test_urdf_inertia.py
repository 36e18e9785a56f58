# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Inertias of links: conventions, and physically impossible values."""

import numpy as np
import pytest
from support.urdf_text import inertial, joint, link, robot

from rbd_ros.model import load_urdf, ModelError
from rbd_ros.spatial import RigidBodyInertia

BAD = {
    'negative mass': (inertial(mass='-1'), 'mass is negative'),
    'negative moment': (inertial(inertia=(0.1, 0, 0, 0.1, 0, -0.1)), 'not positive definite'),
    'products too large': (inertial(inertia=(0.1, 0.2, 0, 0.1, 0, 0.1)), 'not positive definite'),
    'too slender': (inertial(inertia=(0.1, 0, 0, 0.1, 0, 0.3)), 'triangle inequality'),
    'massless but inert': (inertial(mass='0'), 'mass is zero but the rotational inertia is not'),
    'center of nothing': (inertial(mass='0', inertia=(0,) * 6, xyz='1 0 0'), 'center of mass'),
}
GOOD = {
    'none': '',
    'nothing': inertial(mass='0', inertia=(0,) * 6),
    'point mass': inertial(inertia=(0,) * 6),
    'thin rod': inertial(inertia=(0.1, 0, 0, 0.1, 0, 0)),
    'thin plate': inertial(inertia=(0.1, 0, 0, 0.2, 0, 0.3)),
    'plate in few digits': inertial(inertia=(0.1, 0, 0, 0.2, 0, 0.3000001)),
    'rounding': inertial(inertia=('-1e-19', 0, 0, '1e-19', 0, 0)),
}


@pytest.mark.parametrize('inside, condition', BAD.values(), ids=BAD)
def test_an_inertia_no_body_can_have_is_a_warning_that_names_link_and_condition(inside, condition):
    (warning,) = load_urdf(robot(link('arm', inside))).warnings
    assert "link 'arm'" in warning and condition in warning


@pytest.mark.parametrize('inside, condition', BAD.values(), ids=BAD)
def test_strict_makes_it_an_error(inside, condition):
    with pytest.raises(ModelError, match=f"link 'arm'.*{condition}"):
        load_urdf(robot(link('arm', inside)), strict=True)


@pytest.mark.parametrize('inside', GOOD.values(), ids=GOOD)
def test_limiting_cases_of_real_bodies_are_accepted_in_silence(inside):
    assert load_urdf(robot(link('arm', inside)), strict=True).warnings == ()


def test_a_link_without_inertial_is_massless():
    model = load_urdf(robot(link('a', ''), link('b', ''), joint('j', 'a', 'b')))
    assert model.links['b'].inertia == RigidBodyInertia.zero()
    assert model.body(1).inertia == RigidBodyInertia.zero()


def test_a_non_physical_inertia_is_kept_as_given():
    model = load_urdf(robot(link('a', inertial(mass='-2', inertia=(1, 0, 0, 1, 0, 5)))))
    assert model.links['a'].inertia.parameters() == (-2, 0, 0, 0, 1, 0, 0, 1, 0, 5)


@pytest.mark.seed('SV19')
def test_inertia_is_rotated_by_the_inertial_rpy_and_moved_to_the_link():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(3, 3))
    I_u = A @ A.T + np.eye(3) * np.trace(A @ A.T)
    c, (r, p, y), m = rng.normal(size=3), rng.uniform(-3, 3, 3), 2.5
    entries = [repr(float(I_u[i, j])) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    text = inertial(m, entries, ' '.join(map(repr, c.tolist())), f'{r!r} {p!r} {y!r}')
    M = (
        load_urdf(robot(link('a', text.replace('np.float64(', '').replace(')', ''))))
        .links['a']
        .inertia
    )

    def about(axis, angle):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        R = np.eye(3)
        R[i, i] = R[j, j] = np.cos(angle)
        R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
        return R

    R = about(2, y) @ about(1, p) @ about(0, r)
    expected = R @ I_u @ R.T + m * (c @ c * np.eye(3) - np.outer(c, c))
    assert np.allclose(M.matrix()[:3, :3], expected, rtol=1e-14, atol=1e-14)
    assert np.allclose(M.h, m * c, rtol=1e-15)
