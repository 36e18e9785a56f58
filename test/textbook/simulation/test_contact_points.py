# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Gaps of points, faces and spheres: geometry by hand, rates by differences along motions."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.simulated_robots import at, body, joint, link, robot
from support.states import named_robot, random_state

from rbd_ros.textbook.simulation import FaceContact, SphereContact
from rbd_ros.textbook.simulation.contact_points import CandidateContacts

BOUNDS = (((2.0, 0.0, 0.0), 0.6), ((0.0, -1.0, 0.0), 0.5))


def contacts_of(subject):
    first, last = subject.link_names[1], subject.link_names[-1]
    return [
        FaceContact(last, (0.1, -0.2, 0.3), None, (0.5, 0.1, -0.4), (1.0, 2.0, -2.0), BOUNDS),
        FaceContact(last, (0.1, -0.2, 0.3), first, (0.2, 0.1, -0.4), (1.0, 0.0, 1.0), BOUNDS, 0.1),
        FaceContact(None, (0.4, 0.3, 0.2), last, normal=(0.0, 3.0, 4.0), bounds=BOUNDS),
        SphereContact(last, first, (0.1, 0.2, 0.3), (-0.3, 0.1, 0.0), 0.05, 0.02),
        SphereContact(None, last, (1.0, -1.0, 0.5), other_radius=0.1),
        SphereContact(last, None, center=(0.1, 0.0, 0.0), radius=0.1),
    ]


def by_hand(subject, contact, q):
    """Return the gap, margin and normal from poses of links, in plain geometry."""
    poses = subject.forward_kinematics(q)

    def pose(name):
        return np.eye(4) if name is None else poses[name]

    first, second = (pose(name) for name in contact.pair)
    if isinstance(contact, SphereContact):
        here = second[:3, :3] @ contact.center + second[:3, 3]
        there = first[:3, :3] @ contact.other_center + first[:3, 3]
        length = np.linalg.norm(here - there)
        gap = length - contact.radius - contact.other_radius
        return gap, np.inf, (here - there) / length
    point = second[:3, :3] @ contact.point + second[:3, 3]
    local = first[:3, :3].T @ (point - first[:3, 3])
    n = np.array(contact.normal) / np.linalg.norm(contact.normal)
    margin = min(
        ((b - np.dot(a, local)) / np.linalg.norm(a) for a, b in contact.bounds), default=np.inf
    )
    return n @ (local - contact.origin) - contact.radius, margin, first[:3, :3] @ n


@pytest.mark.seed('CN12')
@pytest.mark.parametrize('name', ['gears', 'floating base', 'spherical', 'rack and pinion'])
def test_gaps_margins_and_normals_are_those_of_the_links(name):
    subject = named_robot(name)
    contacts = contacts_of(subject)
    points = CandidateContacts(subject, contacts)
    for seed in range(3):
        q, v, _ = random_state(subject, seed)
        found = points.at(q, v)
        for i, contact in enumerate(contacts):
            gap, margin, normal = by_hand(subject, contact, q)
            assert found.gap[i] == pytest.approx(gap, abs=1e-12)
            assert found.margin[i] == pytest.approx(margin, abs=1e-12)
            assert_allclose(found.normals[i], normal, atol=1e-12)


@pytest.mark.seed('CN12')
@pytest.mark.parametrize('name', ['gears', 'floating base', 'spherical', 'rack and pinion'])
def test_rates_are_those_along_the_motion(name):
    """Also the acceleration of the gap, which the contact equations make of the rates."""
    subject = named_robot(name)
    contacts = contacts_of(subject)
    points = CandidateContacts(subject, contacts)
    functions = subject.contacts.between([contact.pair for contact in contacts])
    q, v, tau = random_state(subject, 5)
    found = points.at(q, v)
    e = 1e-5

    def moved(t):
        return points.at(subject.integrate(q, v, t), v)

    ahead, behind = moved(e), moved(-e)
    for rate, what in ((found.point_rates, 'points'), (found.normal_rates, 'normals')):
        change = (getattr(ahead, what) - getattr(behind, what)) / (2 * e)
        assert_allclose(rate, change, atol=1e-8)
    equations = functions.equations(q, v, tau, *found[2:])
    assert_allclose(equations.velocity, (ahead.gap - behind.gap) / (2 * e), atol=1e-8)
    # second derivative along q(t) = q exp(v t), which has zero acceleration of the joints
    second = (ahead.gap - 2 * found.gap + behind.gap) / e**2
    assert_allclose(equations.d - equations.T.T @ equations.free, second, atol=2e-4)


def test_links_fixed_to_a_body_have_their_own_positions():
    subject = robot(
        link('base'), link('arm', 1.0, (0.1,) * 3), link('tip'), link('shelf'),
        joint('turn', 'base', 'arm', axis=(0, 0, 1), xyz=(0, 0, 1)),
        joint('weld', 'arm', 'tip', 'fixed', xyz=(0.5, 0.0, 0.1)),
        joint('nail', 'base', 'shelf', 'fixed', xyz=(0.0, 0.0, 0.2)),
    )  # fmt: skip
    contacts = [
        FaceContact('tip', face_link='shelf', bounds=(((0.0, 1.0, 0.0), 0.75),)),
        FaceContact('shelf', (0.0, 0.5, 0.9), 'tip', bounds=(((1.0, 0.0, 0.0), 0.25),)),
    ]
    found = CandidateContacts(subject, contacts).at(np.array([np.pi / 2]), np.array([2.0]))
    assert_allclose(found.gap, [0.9, 0.0], atol=1e-12)
    # a quarter turn: the tip is at (0, 0.5, 1.1), and its x axis points along y
    assert_allclose(found.margin, [0.25, 0.25], atol=1e-12)
    assert_allclose(found.point_rates, [[-1.0, 0, 0], [0, 0, 0]], atol=1e-12)


def test_a_free_body_may_touch_the_base():
    found = CandidateContacts(body(), [FaceContact('body', (0, 0, -0.1))]).at(
        at((0, 0, 0.4)), np.zeros(6)
    )
    assert_allclose(found.gap, [0.3])
    assert found.margin[0] == np.inf


@pytest.mark.parametrize(
    ('kind', 'options', 'message'),
    [
        (FaceContact, {'normal': (0, 0, 0)}, 'must not be zero'),
        (FaceContact, {'point': (0, 0)}, 'point must be three'),
        (FaceContact, {'origin': (0, 0, np.nan)}, 'origin must be three finite'),
        (FaceContact, {'radius': -0.1}, 'radius must not be negative'),
        (FaceContact, {'restitution': 1.1}, 'between 0 and 1'),
        (FaceContact, {'bounds': (((0, 0), 1.0),)}, 'a bound must be'),
        (SphereContact, {}, 'must have a radius'),
        (SphereContact, {'radius': np.inf}, 'radius must not be negative or infinite'),
        (SphereContact, {'radius': 1.0, 'other_center': (0, 0)}, 'other_center must be three'),
    ],
)
def test_contacts_that_make_no_sense_are_rejected(kind, options, message):
    with pytest.raises(ValueError, match=message):
        kind('body', **options)
