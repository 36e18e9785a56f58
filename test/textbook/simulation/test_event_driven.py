# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Event-driven rigid contact: analytic times, forces by statics, conservation laws."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import quad, solve_ivp
from support.simulated_robots import at, ball, body, GRAVITY, pendulum
from support.touching import planar_body, row_of_balls

from rbd_ros import Robot
from rbd_ros.textbook.simulation import EventDrivenSimulator, FaceContact, SphereContact
from rbd_ros.textbook.simulation.contact_sets import contact_sets


def kinds(simulator):
    return [(event.kind, event.contacts) for event in simulator.events]


# -- a ball that is dropped


def bouncing(e, drop=1.0, **options):
    simulator = EventDrivenSimulator(
        ball(2.0), [FaceContact('body', radius=0.1, restitution=e)], **options
    )
    simulator.reset(at((0.3, 0.2, 0.1 + drop)), [0, 0, 0, 0.5, 0, 0])
    return simulator


@pytest.mark.seed('CN09', kind='full')
@pytest.mark.parametrize('method', ['rk45', 'heun', 'rk4'])
def test_a_dropped_ball_bounces_at_the_analytic_times(method):
    """Of the parabola, Heun's interpolation knows every point (eq 11.51)."""
    e, drop = 0.6, 1.0
    simulator = bouncing(e, drop, method=method, timestep=0.013)
    simulator.advance(3.0)
    speed = np.sqrt(2 * GRAVITY * drop)
    t = speed / GRAVITY
    for event in simulator.events:
        assert event.kind == 'gain' and event.contacts == (0,)
        assert event.time == pytest.approx(t, abs=2e-11)
        bounced = e if speed > 1e-4 else 0.0
        assert event.impulse == pytest.approx([2.0 * speed * (1 + bounced)], rel=1e-4)
        speed *= e
        t += 2 * speed / GRAVITY
    # what is left out of Zeno's infinitely many bounces is shorter than the last flight's share
    full = np.sqrt(2 * drop / GRAVITY) * (1 + 2 * e / (1 - e))
    assert 0.0 < full - simulator.events[-1].time < 2e-4 / GRAVITY / (1 - e)
    assert simulator.current == simulator.active == (0,)
    assert simulator.forces == pytest.approx([2.0 * GRAVITY], rel=1e-12)
    assert_allclose(simulator.q[4:], [0.3 + 1.5, 0.2, 0.1], atol=1e-9)
    assert_allclose(simulator.v, [0, 0, 0, 0.5, 0, 0], atol=1e-12)
    assert simulator.time == 3.0


@pytest.mark.seed('CN09', kind='full')
def test_an_elastic_ball_keeps_its_energy():
    simulator = bouncing(1.0)
    start = simulator.robot.energy(simulator.q, simulator.v).total
    simulator.advance(20.0)
    assert len(simulator.events) == 22
    energy = simulator.robot.energy(simulator.q, simulator.v).total
    assert energy == pytest.approx(start, rel=1e-8)


@pytest.mark.seed('CN10')
def test_eulers_interpolation_finds_the_event_to_first_order():
    errors = []
    for h in (8e-3, 4e-3):
        simulator = bouncing(0.0, method='euler', timestep=h)
        simulator.advance(0.6)
        errors.append(abs(simulator.events[0].time - np.sqrt(2 / GRAVITY)))
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


def test_a_ball_that_is_pulled_off_leaves_and_comes_back():
    """A torque of time: lifted from 1 s to 1.5 s, dropped again; on its way, no force."""

    def pull(t, q, v):
        lift = 3.0 * GRAVITY if 1.0 <= t < 1.5 else 0.0
        return [0, 0, 0, 0, 0, lift]

    simulator = EventDrivenSimulator(
        ball(2.0), [FaceContact('body', radius=0.1)], pull, max_step=0.05
    )
    simulator.reset(at((0, 0, 0.1)), np.zeros(6))
    simulator.advance(0.9)
    assert simulator.events == [] or kinds(simulator) == [('gain', (0,))]
    simulator.advance(0.2)
    assert simulator.current == () and simulator.q[6] > 0.1
    # up by g/2 for 0.5 s, then thrown
    simulator.advance(0.4)
    assert simulator.v[5] == pytest.approx(0.5 * GRAVITY * 0.5, rel=1e-4)
    simulator.advance(2.0)
    assert simulator.current == (0,)
    assert [kind for kind, _ in kinds(simulator)][-2:] == ['break', 'gain']


@pytest.mark.seed('CN09')
def test_a_growing_pull_lifts_a_ball_when_it_exceeds_the_weight():
    """Force to zero at m g/rate; from then on a cubic."""
    rate, late = 12.0, 5.0
    simulator = EventDrivenSimulator(
        ball(2.0),
        [FaceContact('body', radius=0.1)],
        lambda t, q, v: [0, 0, 0, 0, 0, rate * (t - late)],
    )
    simulator.reset(at((0, 0, 0.1)), np.zeros(6), time=late)
    simulator.advance(3.0)
    lifted = 2.0 * GRAVITY / rate
    assert kinds(simulator)[-1] == ('break', (0,))
    assert simulator.events[-1].time == pytest.approx(late + lifted, abs=1e-7)
    assert simulator.q[6] - 0.1 == pytest.approx(rate / 2.0 * (3.0 - lifted) ** 3 / 6, rel=1e-6)
    assert simulator.time == 8.0


# -- a box that slides off a table


A, H, M = 0.2, 0.1, 2.0
INERTIA = M / 3 * (A * A + H * H)
BOX = (((1.0, 0.0, 0.0), A), ((-1.0, 0.0, 0.0), A))
TABLE = (((1.0, 0.0, 0.0), 0.0),)
ON_TABLE = (
    FaceContact('body', (-A, 0, -H), bounds=TABLE, name='rear'),
    FaceContact('body', (A, 0, -H), bounds=TABLE, name='front'),
    FaceContact(None, (0, 0, 0), 'body', (0, 0, -H), (0, 0, -2.0), bounds=BOX, name='edge'),
)


def sliding_box(x=-0.5, speed=0.8):
    simulator = EventDrivenSimulator(planar_body(M, INERTIA), ON_TABLE)
    simulator.reset([x, H, 0.0], [speed, 0.0, 0.0])
    return simulator


@pytest.mark.seed('CN09', 'CN12', kind='full')
def test_a_box_slides_over_the_edge_at_the_times_of_statics():
    """Contacts: rear and front; rear and the table's edge; the edge alone once the center is over.

    The first change is geometric, with no sign of it in the forces; the second one is dynamic.
    """
    simulator = sliding_box()
    for t in (0.1, 0.3, 0.5, 0.6):
        simulator.advance(t - simulator.time)
        x, right = -0.5 + 0.8 * t, 1 if t < 0.375 else 2
        # moments about the rear vertex: what bears at the right is there, or at the edge
        lever = 2 * A if right == 1 else A - x
        expected = np.zeros(3)
        expected[right] = M * GRAVITY * A / lever
        expected[0] = M * GRAVITY - expected[right]
        assert_allclose(simulator.forces, expected, rtol=1e-9)
        assert simulator.current == simulator.active == (0, right)
    simulator.advance(0.1)
    assert kinds(simulator)[-3:] == [('loss', (1,)), ('gain', (2,)), ('break', (0,))]
    lost, gained, broken = simulator.events[-3:]
    assert lost.time == gained.time == pytest.approx(0.3 / 0.8, abs=1e-9)
    assert broken.time == pytest.approx(0.5 / 0.8, abs=1e-8)
    assert not np.any([event.impulse for event in (lost, gained, broken)])
    assert simulator.current == (2,)


@pytest.mark.seed('CN09', kind='full')
def test_it_then_turns_about_the_edge_and_slides_down_until_it_flies():
    """Newton's equations of a box on a pin, written by hand: state and time of the last break."""
    simulator = sliding_box()
    simulator.advance(0.7)
    start = simulator.events[-1].time

    def normal_force(y):
        x, z, angle, vx, vz, w = y
        i = np.array([np.cos(angle), -np.sin(angle)])  # axes of the box in the plane
        along, sliding = i @ [x, z], i @ [vx, vz]
        curving = GRAVITY * np.cos(angle) + H * w**2 - 2 * w * sliding
        return curving / (1 / M + along**2 / INERTIA), along

    def rates(t, y):
        N, along = normal_force(y)
        k = np.array([np.sin(y[2]), np.cos(y[2])])
        ax, az = N * k / M - [0, GRAVITY]
        return [*y[3:], ax, az, N * along / INERTIA]

    def leaves(t, y):
        return normal_force(y)[0]

    leaves.terminal = True
    exact = solve_ivp(
        rates, (start, 2.0), [0, H, 0, 0.8, 0, 0], 'DOP853', rtol=1e-12, atol=1e-13,
        events=leaves, dense_output=True,
    )  # fmt: skip
    assert_allclose(np.r_[simulator.q, simulator.v], exact.sol(0.7), atol=1e-7)
    energy = simulator.robot.energy(simulator.q, simulator.v).total
    simulator.advance(0.5)
    assert kinds(simulator)[-1] == ('break', (2,))
    assert simulator.events[-1].time == pytest.approx(exact.t[-1], abs=1e-7)
    assert simulator.current == ()
    after = simulator.robot.energy(simulator.q, simulator.v).total
    assert after == pytest.approx(energy, rel=1e-9)


@pytest.mark.seed('CN12', kind='full')
def test_a_point_leaves_an_edge_without_a_force():
    """Geometric loss: the full weight until the edge; then it falls, from the moment of the edge.

    The same point on an endless plane stays there: its equations do not contain the edge.
    """
    free = {}
    for name, bounds in (('edge', TABLE), ('endless', ())):
        simulator = EventDrivenSimulator(
            planar_body(1.0, 0.1), [FaceContact('body', bounds=bounds, restitution=0.5)]
        )
        simulator.reset([-1.0, 0.0, 0.0], [2.0, 0.0, 0.0])
        simulator.advance(0.5 - 1e-6)
        assert simulator.forces == pytest.approx([GRAVITY], rel=1e-9)
        simulator.advance(0.5 + 1e-6)
        free[name] = simulator
    assert kinds(free['edge'])[-1] == ('loss', (0,))
    assert free['edge'].events[-1].time == pytest.approx(0.5, abs=1e-9)
    assert free['edge'].q[1] == pytest.approx(-0.5 * GRAVITY * 0.5**2, abs=1e-9)
    assert free['endless'].q[1] == pytest.approx(0.0, abs=1e-12)
    assert 'loss' not in dict(kinds(free['endless']))


@pytest.mark.seed('CN12', kind='full')
def test_a_particle_breaks_off_a_sphere_at_two_thirds_of_the_height():
    """Dynamic loss: the contact force comes to zero, and no edge is there (cos theta = 2/3)."""
    R, start = 0.7, 0.01
    simulator = EventDrivenSimulator(
        planar_body(0.3, 0.1), [SphereContact('body', other_radius=R)]
    )
    simulator.reset([R * np.sin(start), R * np.cos(start), 0.0], np.zeros(3))
    assert simulator.forces == pytest.approx([0.3 * GRAVITY * np.cos(start)], rel=1e-9)
    simulator.advance(3.0)
    assert [x for x in kinds(simulator) if x[0] != 'gain'] == [('break', (0,))]
    # where it left, from the free flight since: conserved are v_x and the energy
    q, v = simulator.q, simulator.v
    t = simulator.time - simulator.events[-1].time
    height = q[1] - v[1] * t - 0.5 * GRAVITY * t**2
    assert height / R == pytest.approx(2 / 3 * np.cos(start), rel=1e-7)


def two_legs(v):
    """Return thin bar without gravity on two faces, 0.2 m from its center, that moves already."""
    legs = [FaceContact('body', (x, 0, 0)) for x in (-0.2, 0.2)]
    hover = [0.0, 2.0 * GRAVITY, 0.0]
    simulator = EventDrivenSimulator(planar_body(2.0, 0.02), legs, hover)
    simulator.reset([0.0, 0.0, 0.0], v)
    return simulator


def test_a_contact_that_separates_is_not_gained():
    """Only what is hit, or rests, is gained: not a contact that opens at this moment.

    Inverse mass of a leg along the normal: 1/m + x^2/I, 2.5 /kg.
    """
    # Both leave: by themselves, and as an impulse along the face changes nothing about it.
    simulator = two_legs([0.0, 0.3, 0.0])
    assert simulator.events == [] and simulator.current == ()
    simulator.apply_impulse('body', [0.5, 0.0, 0.0], [0.0, 0.0, 0.0])
    assert simulator.events == [] and simulator.current == ()
    assert_allclose(simulator.v, [0.25, 0.3, 0.0], atol=1e-15)
    # The bar turns: one leg comes down at 0.2 m/s, the other one leaves.
    for turn, hit in ((1.0, 1), (-1.0, 0)):
        simulator = two_legs([0.0, 0.0, turn])
        assert kinds(simulator) == [('gain', (hit,))]
        impulse = np.zeros(2)
        impulse[hit] = 0.2 / 2.5
        assert_allclose(simulator.events[0].impulse, impulse, atol=1e-15)
        assert simulator.current == (hit,)
    # At a velocity of nothing both rest, and are gained without an impulse.
    simulator = two_legs([0.0, 0.0, 0.0])
    assert kinds(simulator) == [('gain', (0, 1))]
    assert not simulator.events[0].impulse.any() and simulator.current == (0, 1)


def test_a_point_may_come_onto_a_face_from_its_side():
    """Sliding at its height, from nothing onto a table that begins at zero; no impulse."""
    simulator = EventDrivenSimulator(
        planar_body(1.0, 0.1),
        [FaceContact('body', bounds=(((-1.0, 0.0, 0.0), 0.0),))],
        lambda t, q, v: [0.0, GRAVITY if t < 0.5 else 0.0, 0.0],
        max_step=0.04,
    )
    simulator.reset([-1.0, 0.0, 0.0], [2.0, 0.0, 0.0])
    assert simulator.current == ()
    simulator.advance(1.0)
    assert kinds(simulator) == [('gain', (0,))]
    assert simulator.events[0].time == pytest.approx(0.5, abs=1e-6)
    assert simulator.current == (0,) and abs(simulator.q[1]) < 1e-10
    # below the face, a point that comes from the side is none of this face's
    simulator.reset([-1.0, -0.3, 0.0], [2.0, 0.0, 0.0])
    simulator.advance(1.0)
    assert simulator.events == []


# -- a block that rocks


def rocking(angle, b=0.1, h=0.4, m=2.0, **options):
    """Return the block on a floor between curbs at its corners, tilted about one of them."""
    corners = {'left': (-b, 0, -h), 'right': (b, 0, -h)}
    contacts = [FaceContact('body', corner) for corner in corners.values()]
    for side, normal in (('left', 1.0), ('right', -1.0)):
        x = corners[side][0]
        contacts.append(
            FaceContact('body', corners[side], origin=(x, 0, 0), normal=(normal, 0, 0))
        )
    block = planar_body(m, m / 3 * (b * b + h * h))
    simulator = EventDrivenSimulator(block, contacts, **options)
    c, s = np.cos(angle), np.sin(angle)
    # the right corner stays at (b, 0)
    simulator.reset([b - c * b + s * h, s * b + c * h, angle], np.zeros(3))
    return simulator


@pytest.mark.seed('CN09', kind='full')
def test_a_rocking_block_follows_housner():
    """Quarter periods by quadrature, and 1 - 3/2 sin^2 alpha of the angular velocity per impact.

    (G. Housner, 1963; inertia 4/3 m R^2 about a corner.)
    """
    b, h, angle = 0.1, 0.4, 0.1
    R, alpha = np.hypot(b, h), np.arctan2(b, h)
    p2 = 3 * GRAVITY / (4 * R)  # squared frequency m g R / I_O
    simulator = rocking(angle, b, h)
    assert simulator.current == simulator.active == (1, 3)

    def quarter(theta):
        """Time from rest at an angle to the impact, with theta = angle (1 - u^2) for the root."""
        top = np.cos(alpha - theta)

        def rate(u):
            now = theta * (1 - u * u)
            return 2 * theta * u / np.sqrt(2 * p2 * (top - np.cos(alpha - now)))

        return quad(rate, 0, 1, epsabs=1e-13, epsrel=1e-12)[0]

    simulator.advance(2.2)
    ratio, t = 1 - 1.5 * np.sin(alpha) ** 2, 0.0
    impacts = [event for event in simulator.events if event.impulse.any()]
    assert len(impacts) == 6
    speeds = []
    for event in impacts:
        t += quarter(angle)
        assert event.time == pytest.approx(t, abs=1e-7)
        speed2 = 2 * p2 * (np.cos(alpha - angle) - np.cos(alpha))
        speeds.append(np.sqrt(speed2))
        # the energy that is left is that of the next amplitude
        after = ratio**2 * speed2
        angle = alpha - np.arccos(np.cos(alpha) + after / (2 * p2))
        t += quarter(angle)
        assert len(event.contacts) == 2
    # the impulse at the floor: m (vertical velocity after - before) = m b (w' + w)
    for event, w in zip(impacts, speeds):
        side = 0 if 0 in event.contacts else 1
        assert event.impulse[side] == pytest.approx(2.0 * b * w * (1 + ratio), rel=1e-6)
        assert event.impulse[side + 2] == pytest.approx(2.0 * h * w * (1 - ratio), rel=1e-6)


@pytest.mark.seed('CN09')
def test_a_rocking_block_comes_to_rest():
    """Impacts without end in finite time, each of 1 - 3/2 sin^2 alpha of the last one's speed."""
    simulator = rocking(0.02, resting_speed=3e-3)
    simulator.advance(4.0)
    assert simulator.current == (0, 1, 2, 3)
    assert_allclose(simulator.v, 0.0, atol=1e-8)
    assert_allclose(simulator.q, [0.0, 0.4, 0.0], atol=1e-8)
    assert simulator.forces[:2].sum() == pytest.approx(2.0 * GRAVITY, rel=1e-9)


@pytest.mark.seed('CN09', kind='full')
def test_the_contact_problem_is_solved_at_events_only(monkeypatch):
    from rbd_ros.textbook.simulation import event_driven

    solved = []

    def counted(*arguments):
        solved.append(simulator.time)
        return contact_sets(*arguments)

    simulator = sliding_box()
    monkeypatch.setattr(event_driven, 'contact_sets', counted)
    simulator.advance(1.2)
    times = {event.time for event in simulator.events if event.time > 0.0}
    assert len(times) == 3 and set(solved) == times


# -- several contacts at once


def resting_box(torque=None, **options):
    x, y, z = 0.2, 0.15, 0.1
    corners = [(sx * x, sy * y, -z) for sx in (1, -1) for sy in (1, -1)]
    inertia = tuple(2.0 / 3 * s for s in (y * y + z * z, x * x + z * z, x * x + y * y))
    simulator = EventDrivenSimulator(
        body(2.0, inertia), [FaceContact('body', corner) for corner in corners], torque, **options
    )
    simulator.reset(at((0, 0, z)), np.zeros(6))
    return simulator


@pytest.mark.seed('CN09', kind='full')
def test_three_of_four_contacts_are_active_and_they_change_while_all_stay():
    """A couple that goes round: active contacts change, current ones do not, forces are statics.

    With the basic solution the fourth force is zero; couple and weight determine the others.
    """

    def couple(t, q, v):
        return [0.8 * np.cos(2 * t), 0.8 * np.sin(2 * t), 0, 0, 0, 0]

    simulator = resting_box(couple, max_step=0.1)
    seen = set()
    for _ in range(16):
        simulator.advance(0.2)
        assert simulator.current == (0, 1, 2, 3) and len(simulator.active) == 3
        seen.add(simulator.active)
        forces = simulator.forces
        assert forces.min() > -1e-9 and forces.sum() == pytest.approx(2.0 * GRAVITY)
        corners = np.array([contact.point for contact in simulator.contacts])
        moment = np.cross(corners, forces[:, None] * [0, 0, 1]).sum(axis=0)
        assert_allclose(moment[:2] + couple(simulator.time, 0, 0)[:2], 0, atol=1e-8)
    assert len(seen) > 1
    assert_allclose(simulator.q, at((0, 0, 0.1)), atol=1e-12)
    assert simulator.events[1:] == [] and not simulator.events[0].impulse.any()


def test_a_moment_too_large_lifts_an_edge():
    """Statics: the box tips over its edge where the couple exceeds m g times half its length."""
    for couple, expected in ((0.99, 4), (1.01, 2)):
        simulator = resting_box([0, couple * 2.0 * GRAVITY * 0.2, 0, 0, 0, 0])
        simulator.advance(0.01)
        assert len(simulator.current) == expected


@pytest.mark.seed('CN09')
@pytest.mark.parametrize('e', [0.0, 0.5])
def test_a_tumbling_cube_keeps_horizontal_momentum_and_vertical_spin(rng, e):
    """No friction: horizontal momentum and spin about the vertical stay; energy only falls."""
    corners = [(x, y, z) for x in (0.1, -0.1) for y in (0.1, -0.1) for z in (0.1, -0.1)]
    cube = body(2.0, (0.02, 0.025, 0.03))
    simulator = EventDrivenSimulator(
        cube, [FaceContact('body', corner, restitution=e) for corner in corners],
        rtol=1e-9, atol=1e-11,
    )  # fmt: skip
    simulator.reset(at((0, 0, 0.5), rng.normal(size=4)), [3, -2, 1, 0.3, -0.2, 0.5])

    def spin():
        momentum = cube.momentum(simulator.q, simulator.v)
        center = simulator.q[4:]
        return momentum[2] - np.cross(center, momentum[3:])[2], momentum[3:5]

    start, energy = spin(), cube.energy(simulator.q, simulator.v).total
    for _ in range(7):
        simulator.advance(0.1)
        now = cube.energy(simulator.q, simulator.v).total
        assert now < energy + 1e-7
        energy = now
        assert spin()[0] == pytest.approx(start[0], abs=1e-8)
        assert spin()[1] == pytest.approx(start[1], abs=1e-8)
        assert simulator.gaps.min() > -1e-9
    assert len([event for event in simulator.events if event.impulse.any()]) >= 3


@pytest.mark.seed('CN16')
def test_newtons_cradle_needs_the_sequential_law():
    """One ball in, one ball out; all at once, elastic impacts of closed contacts spread."""
    radius = 0.05
    contacts = [
        SphereContact(
            f'ball{i + 1}', f'ball{i}', radius=radius, other_radius=radius, restitution=1.0
        )
        for i in range(4)
    ]
    for law in ('sequential', 'simultaneous'):
        simulator = EventDrivenSimulator(row_of_balls([1.0] * 5), contacts, impact_law=law)
        simulator.reset([-0.3, 0.1, 0.2, 0.3, 0.4], [2.0, 0, 0, 0, 0])
        simulator.advance(0.5)
        hit = [event for event in simulator.events if event.impulse.any()][0]
        assert hit.time == pytest.approx(0.15, abs=1e-10)
        assert simulator.v.sum() == pytest.approx(2.0)
        assert simulator.v @ simulator.v == pytest.approx(4.0)
        if law == 'sequential':
            assert_allclose(simulator.v, [0, 0, 0, 0, 2.0], atol=1e-12)
        else:
            assert simulator.v[0] < -0.1


@pytest.mark.seed('CN16', kind='full')
def test_balls_of_any_mass_exchange_the_impulse_of_the_two_body_formula():
    contact = SphereContact('ball1', 'ball0', radius=0.05, other_radius=0.05, restitution=0.7)
    simulator = EventDrivenSimulator(row_of_balls([1.0, 3.0]), [contact])
    simulator.reset([0.0, 0.5], [2.0, -1.0])
    simulator.advance(1.0)
    impulse = (1 + 0.7) * 3.0 / (1 / 1.0 + 1 / 3.0)
    assert simulator.events[-1].impulse == pytest.approx([impulse])
    assert simulator.events[-1].time == pytest.approx(0.4 / 3.0)
    assert_allclose(simulator.v, [2.0 - impulse, -1.0 + impulse / 3.0], atol=1e-12)


def test_a_pendulum_swings_against_a_wall():
    """Half a swing and the wall: the amplitude falls by e with each hit (for small angles)."""
    length, e = 0.5, 0.9
    wall = FaceContact('rod', (0, 0, -length), normal=(-1.0, 0, 0), restitution=e)
    simulator = EventDrivenSimulator(pendulum(length=length), [wall])
    simulator.reset([1e-3], [0.0])  # about +y: the bob starts at negative x
    half = np.pi * np.sqrt(length / GRAVITY)
    simulator.advance(2.7 * half)
    times = [event.time for event in simulator.events]
    assert_allclose(times, [0.5 * half, 1.5 * half, 2.5 * half], rtol=1e-5)
    speed = 1e-3 * np.sqrt(GRAVITY / length)
    impulses = [event.impulse[0] for event in simulator.events]
    expected = [length * speed * e**k * (1 + e) for k in range(3)]
    assert_allclose(impulses, expected, rtol=1e-5)


@pytest.mark.seed('CN15')
def test_a_struck_body_moves_as_its_contacts_allow():
    """Down: the floor answers, and gives e back; along: it slides; up: it leaves."""
    simulator = bouncing(0.5)
    simulator.reset(at((0, 0, 0.1)), np.zeros(6))
    simulator.apply_impulse('body', [0.6, 0, -2.0], [0, 0, 0.1])
    assert_allclose(simulator.v, [0, 0, 0, 0.3, 0, 0.5], atol=1e-12)
    assert simulator.events[-1].impulse == pytest.approx([2.0 * 1.5])
    simulator.reset(at((0, 0, 0.1)), np.zeros(6))
    simulator.apply_impulse('body', [0, 0, 0, 0.6, 0, 0])
    assert simulator.current == (0,) and simulator.v[3] == pytest.approx(0.3)
    simulator.apply_impulse('body', [0, 0, 0.4], [0, 0, 0])
    assert simulator.current == () and simulator.v[5] == pytest.approx(0.2)
    simulator.advance(0.03)
    height = 0.2 * 0.03 - 0.5 * GRAVITY * 0.03**2
    assert simulator.q[6] - 0.1 == pytest.approx(height, abs=1e-10)
    with pytest.raises(ValueError, match='wheel'):
        simulator.apply_impulse('wheel', np.zeros(6))


@pytest.mark.seed('CN09')
def test_an_arm_bounces_on_a_table_without_loss(robot_paths):
    """A real robot with a ball as its tool: elastic, energy stays through every impact."""
    arm = Robot.from_urdf(str(robot_paths['ur5_robot']))
    tool = FaceContact(
        'tool0', face_link='base_link', origin=(0, 0, 0.1), radius=0.05, restitution=1.0
    )
    simulator = EventDrivenSimulator(arm, [tool])
    simulator.reset([0.3, -0.9, 0.8, 0.2, 0.1, 0.0], np.zeros(6))
    start = arm.energy(simulator.q, simulator.v).total
    damped = arm.damping.any()
    for _ in range(8):
        simulator.advance(0.1)
        assert simulator.gaps[0] > -1e-10
        if not damped:
            energy = arm.energy(simulator.q, simulator.v).total
            assert energy == pytest.approx(start, abs=1e-6)
    hits = [event for event in simulator.events if event.impulse.any()]
    assert hits and min(event.impulse[0] for event in hits) > 0.0
    assert not damped


def test_events_without_end_are_reported(monkeypatch):
    from rbd_ros.textbook.simulation import event_driven

    simulator = bouncing(0.5)
    watch = event_driven.Watch(event_driven.PULLING, 0, 0.0)
    monkeypatch.setattr(event_driven, 'earliest', lambda *_: (watch, 0.0))
    with pytest.raises(ArithmeticError, match='51 events at 0 s'):
        simulator.advance(1.0)


# -- invalid arguments


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'method': 'rk5'}, 'unknown method'),
        ({'impact_law': 'poisson'}, 'unknown impact law'),
        ({'contacts': []}, 'integrate_ode'),
        ({'rtol': 0.0}, 'rtol must be positive'),
        ({'max_step': -1.0}, 'max_step must be positive'),
        ({'gap_tolerance': np.inf}, 'gap_tolerance must be positive'),
        ({'torque': [1.0]}, r'torque must have shape \(6,\)'),
        ({'contacts': [FaceContact('wheel')]}, 'wheel'),
    ],
)
def test_invalid_arguments_are_rejected(options, message):
    given = {'contacts': [FaceContact('body', radius=0.1)], **options}
    with pytest.raises(ValueError, match=message):
        EventDrivenSimulator(ball(), **given)


def test_states_that_make_no_sense_are_rejected():
    simulator = bouncing(0.5)
    with pytest.raises(ValueError, match='0 starts with a penetration of 0.02 m'):
        simulator.reset(at((0, 0, 0.08)), np.zeros(6))
    with pytest.raises(ValueError, match=r'q must have shape \(7,\), got \(1,\)'):
        simulator.reset([0.0], np.zeros(6))
    with pytest.raises(ValueError, match='v must be finite'):
        simulator.reset(at((0, 0, 1)), [np.nan] * 6)
    for duration in (0.0, -1.0, np.inf):
        with pytest.raises(ValueError, match='duration'):
            simulator.advance(duration)
    named = EventDrivenSimulator(ball(), [FaceContact('body', radius=0.1, name='tip')])
    with pytest.raises(ValueError, match=r'0 \(tip\)'):
        named.reset(at((0, 0, 0.08)), np.zeros(6))


def test_a_start_in_contact_that_approaches_collides_at_once():
    simulator = bouncing(0.5)
    simulator.reset(at((0, 0, 0.1)), [0, 0, 0, 0, 0, -3.0])
    assert kinds(simulator) == [('gain', (0,))] and simulator.events[0].time == 0.0
    assert simulator.v[5] == pytest.approx(1.5)
