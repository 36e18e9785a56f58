# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact detection: height and velocity of every contact point of a robot."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.simulated_robots import collision, joint, link, robot

from rbd_ros.compiler.loops import allocate, call_kernel, Vec
from rbd_ros.contact import HalfSpace
from rbd_ros.contact.detection import (
    body_velocities,
    contact_jacobian,
    contact_point,
    MARGIN,
    near_ground,
    point_rate,
    RIMS,
    SPHERE,
)
from rbd_ros.simulation import Physics
from rbd_ros.simulation.records.simulation_state import GroundContactPoints

GROUND = HalfSpace((0.3, -0.2, 1.0))
STEP = 0.02
SHAPES = {
    'trunk': 'box size="0.4 0.3 0.2"',
    'left': 'cylinder radius="0.1" length="0.3"',
    'right': 'sphere radius="0.15"',
}


@pytest.fixture(scope='module')
def physics():
    """Return a body with two arms, one of which follows the other by a gear."""
    inertia = (0.01, 0.02, 0.02)
    return Physics(
        robot(
            *(
                link(name, 1.0, inertia, shape=collision(shape, (0.2, 0.1, -0.1), (0.4, 0.5, 0.6)))
                for name, shape in SHAPES.items()
            ),
            joint('a', 'trunk', 'left', 'continuous', (0, 1, 0), (0.2, 0, 0)),
            joint(
                *('b', 'trunk', 'right', 'continuous', (1, 0, 1), (-0.2, 0, 0)),
                inside='<mimic joint="a" multiplier="-1.5" offset="0.2"/>',
            ),
            floating_base=True,
        ),
        ground=GROUND,
    )


class Placed:
    """The robot at a random state near the ground; poses, motion columns and velocities."""

    def __init__(self, physics, seed):
        rng = np.random.default_rng(seed)
        q = physics.robot.random_configuration(rng)
        normal, self.offset = GROUND.axes()[0], rng.choice([-0.4, 0.0, 0.4])
        q[4:7] += (self.offset + rng.uniform(-0.4, 0.6) - normal @ q[4:7]) * normal
        v = rng.normal(size=7) * rng.choice([0.1, 3.0, 20.0])
        physics.reset(q, v)
        self.q, self.v, self.physics = physics.state.q.copy(), v, physics
        dynamics, self.tree = physics.fields.work.dynamics, physics.model.tree
        call_kernel(physics.model.contact_kinematics, physics.state.packed, dynamics.kinematics)
        self.poses, self.columns = dynamics.poses.copy(), dynamics.columns.copy()
        self.velocities = np.zeros((4, 6))
        body_velocities(self.tree, self.columns, self.v, self.velocities)
        self.shapes = physics.model.ground.shapes

    def points(self):
        """Yield all contact points: number, shape, body, position."""
        shapes, normal = self.shapes, Vec(*GROUND.axes()[0])
        for s in range(len(shapes.kind)):
            for number in range(shapes.first[s], shapes.first[s + 1]):
                point = contact_point(shapes, s, number, self.poses, normal)
                yield number, s, shapes.body[s], np.array(point)

    def near(self, room=64):
        """Return what `near_ground` finds.

        Points, shapes, positions, heights, and how many it drops.
        """
        found = allocate(GroundContactPoints, near=room)
        count, dropped = near_ground(
            *(self.shapes, self.poses, self.velocities, GROUND.axes(), self.offset, STEP, found)
        )
        return *(each[:count] for each in found[:4]), dropped


@pytest.fixture(params=range(24))
def placed(physics, request):
    return Placed(physics, request.param)


def velocity_of(twist, point):
    return twist[3:] + np.cross(twist[:3], point)


def test_bodies_move_as_differences_of_their_poses_say(placed):
    subject, step = placed.physics.robot, 1e-6
    ends = [subject.integrate(placed.q, placed.v, sign * step) for sign in (1, -1)]
    for link_name, body in zip(SHAPES, (1, 2, 3), strict=True):
        after, before = (subject.forward_kinematics(q)[link_name] for q in ends)
        rate = (after - before) / (2 * step)
        here = subject.forward_kinematics(placed.q)[link_name]
        assert_allclose(placed.poses[body], [*here[:3, :3].ravel(), *here[:3, 3]], atol=1e-12)
        for local in np.eye(3):
            point = here[:3, :3] @ local + here[:3, 3]
            moved = rate[:3, :3] @ local + rate[:3, 3]
            assert_allclose(velocity_of(placed.velocities[body], point), moved, atol=1e-7)


def test_the_rate_of_a_point_is_that_of_its_body(placed, rng):
    normal = GROUND.axes()[0]
    for twist in placed.velocities:
        point = rng.normal(size=3)
        expected = normal @ velocity_of(twist, point)
        assert point_rate(twist, Vec(*point), Vec(*normal)) == pytest.approx(expected)


def test_points_are_found_that_are_in_the_ground_or_may_get_there(placed):
    """All of them, and no others: those above it by less than they fall in one step and a half."""
    normal, expected = GROUND.axes()[0], []
    for number, s, body, point in placed.points():
        height = normal @ point - placed.offset
        fall = -normal @ velocity_of(placed.velocities[body], point)
        if height <= MARGIN + max(0.0, 1.5 * STEP * fall):
            expected.append((number, s, point, height))
    numbers, shapes, positions, heights, dropped = placed.near()
    assert list(numbers) == [each[0] for each in expected] and dropped == 0
    assert list(shapes) == [each[1] for each in expected]
    for position, height, (*_, point, above) in zip(positions, heights, expected, strict=True):
        assert list(position) == list(point)
        assert height == pytest.approx(above, abs=1e-14)
    for room in (0, 2):
        fewer = placed.near(room)
        assert list(fewer[0]) == list(numbers[:room])
        assert fewer[-1] == max(0, len(numbers) - room)


def test_the_cases_are_of_every_kind(physics):
    """Shapes far away, points in the ground, above it and falling, above it and near."""
    kinds = set()
    for seed in range(24):
        placed = Placed(physics, seed)
        normal = GROUND.axes()[0]
        found = set(placed.near()[0].tolist())
        for number, s, body, point in placed.points():
            height = normal @ point - placed.offset
            fall = -normal @ velocity_of(placed.velocities[body], point)
            inside = 'in' if height < 0 else 'falls' if fall > 0 else 'rises'
            kinds.add((number in found, inside, int(placed.shapes.kind[s])))
    assert len(kinds) >= 11, kinds


def test_jacobians_give_velocities_along_normal_and_tangents(placed):
    tree, J = placed.tree, np.full((3, 7), np.nan)
    for _, _, body, point in placed.points():
        contact_jacobian(placed.columns, tree, body, Vec(*point), GROUND.axes(), J)
        moved = GROUND.axes() @ velocity_of(placed.velocities[body], point)
        assert_allclose(J @ placed.v, moved, atol=1e-10)


@pytest.mark.parametrize('share', [0.5, 1.5])
def test_at_rest_points_within_the_margin_are_near(physics, share):
    normal = GROUND.axes()[0]
    for seed in range(24):
        placed = Placed(physics, seed)
        number, shape, _, lowest = min(placed.points(), key=lambda point: normal @ point[3])
        if placed.shapes.kind[shape] == SPHERE:  # which is its own bounding sphere
            break
    placed.velocities[:] = 0.0
    placed.offset = normal @ lowest - share * MARGIN
    assert list(placed.near()[0]) == ([number] if share < 1.0 else [])


def test_both_rims_of_a_cylinder_are_about_its_middle(placed):
    shape = int(np.flatnonzero(placed.shapes.kind == RIMS)[0])
    points = np.array([point for _, s, _, point in placed.points() if s == shape])
    pose = placed.poses[placed.shapes.body[shape]]
    middle = pose[:9].reshape(3, 3) @ placed.shapes.center[shape] + pose[9:]
    assert_allclose(points.mean(axis=0), middle, atol=1e-12)
    assert placed.shapes.first[shape] > 0


@pytest.mark.parametrize('seed', range(4))
def test_a_spinning_body_may_arrive_although_its_center_rests(physics, seed):
    """A box in the air, of which the corner that comes down first is found."""
    placed = Placed(physics, seed)
    normal, spin = GROUND.axes()[0], 60.0 * GROUND.axes()[1]
    pose = placed.poses[1]
    middle = pose[:9].reshape(3, 3) @ placed.shapes.center[0] + pose[9:]
    placed.velocities[1:] = [*spin, *np.cross(middle, spin)]
    corners = [(number, point) for number, s, _, point in placed.points() if s == 0]
    arrivals = [
        normal @ point + 1.5 * STEP * normal @ velocity_of(placed.velocities[1], point)
        for _, point in corners
    ]
    first = int(np.argmin(arrivals))
    placed.offset = arrivals[first]
    assert normal @ middle - placed.offset - placed.shapes.reach[0] > 2.0 * MARGIN
    assert corners[first][0] in placed.near()[0]
