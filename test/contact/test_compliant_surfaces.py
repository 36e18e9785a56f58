# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Laws of compliant surfaces in continuous time: analytic motions, invariants, limits."""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from support.simulated_robots import at, ball, GRAVITY

from rbd_ros import Simulator
from rbd_ros.contact import ContactParameters, HalfSpace
from rbd_ros.contact.compliant_surfaces import (
    CompliantContactModel,
    HuntCrossleySurface,
    in_series,
    LinearSurface,
    SurfaceMemory,
    TwoSurfaces,
)

K, D = 2000.0, 30.0
ONE = LinearSurface(K, D)
SURFACES = {
    'linear': ONE,
    'two': TwoSurfaces(ONE, 700.0, 40.0),
    'three parameters': TwoSurfaces(ONE, 9000.0, 0.0),
    'Hunt-Crossley': HuntCrossleySurface(3e4, 2e4),
}
every_surface = pytest.mark.parametrize('surface', SURFACES.values(), ids=SURFACES)


def drop(surface, speed=1.0, mass=0.5, gravity=0.0, duration=0.2):
    """Return a point mass that hits a surface at rest: times, gaps, velocities, states, forces."""

    def rates(t, y):
        p, v, *z = y
        f = surface.force(p, v, z)
        return [v, f / mass - gravity, *surface.rates(p, v, z)]

    start = [0.0, -speed, *[0.0] * surface.states]
    options = {'rtol': 1e-10, 'atol': 1e-13, 'max_step': 5e-4}
    found = solve_ivp(rates, (0, duration), start, **options)
    forces = [surface.force(p, v, z) for p, v, *z in found.y.T]
    return found.t, found.y[0], found.y[1], found.y[2:], np.array(forces)


def test_forces_and_rates_are_in_balance_at_any_state(rng):
    """Without this balance, the motions below may not terminate."""
    K_2, D_2 = 700.0, 40.0
    pressed = 0
    for z_1, z_2, rate, above in rng.uniform(-0.01, 0.01, (60, 4)) * [1, 1, 100, 1]:
        z, p = (z_1, z_2), z_1 + z_2 + above
        two, solid = TwoSurfaces(ONE, K_2, D_2), TwoSurfaces(ONE, K_2, 0.0)
        for surface in (two, solid):
            f, (first, second) = surface.force(p, rate, z), surface.rates(p, rate, z)
            pressed += f > 0.0
            assert f >= 0.0 and (f == 0.0 or above <= 0.0)
            assert K * z_1 + D * first == pytest.approx(-f)
            if f > 0.0:
                assert first + second == pytest.approx(rate)
        f, (_, second) = two.force(p, rate, z), two.rates(p, rate, z)
        assert K_2 * z_2 + D_2 * second == pytest.approx(-f)
        # What would hold both together pulls only where the ground lets go.
        pull = (K * z_1 / D + K_2 * z_2 / D_2 + rate) / (1 / D + 1 / D_2)
        assert f == pytest.approx(max(0.0, -pull) if above <= 0.0 else 0.0)
        assert solid.force(p, rate, z) == pytest.approx(
            max(0.0, K_2 * (z_1 - p)) if above <= 0.0 else 0.0
        )
    assert 20 < pressed < 100


def test_a_patch_is_in_balance_with_friction_and_drag_acts_on_the_body_alone(rng):
    point = CompliantContactModel(ONE, 900.0, 25.0, 0.5, drag=3.0)
    kinds = set()
    for x_1, x_2, v_1, v_2, t_1, t_2 in rng.uniform(-0.01, 0.01, (40, 6)) * ([1] * 2 + [30] * 4):
        for z in (0.002, -0.002, -0.02):
            found = point.evaluate(z, 0.0, (v_1, v_2), (z,), (x_1, x_2), (t_1, t_2))
            f_n, stick = found.normal, -900.0 * np.array([x_1, x_2]) - 25.0 * np.array([v_1, v_2])
            assert f_n == pytest.approx(max(0.0, -K * z))
            size = np.linalg.norm(stick)
            friction = stick * min(1.0, 0.5 * f_n / size)
            drag = 3.0 * np.array([t_1, t_2]) if f_n else 0.0
            assert found.tangential == pytest.approx(friction - drag)
            balance = 900.0 * np.array([x_1, x_2]) + 25.0 * np.array(found.tangential_rates)
            assert balance == pytest.approx(-friction)
            kinds.add('open' if not f_n else 'sticks' if size <= 0.5 * f_n else 'slides')
    assert kinds == {'open', 'sticks', 'slides'}


@pytest.mark.seed('CN19', kind='full')
def test_a_linear_surface_is_the_books():
    """11.73 and 11.74, and the analytic motion of mass, spring and damper while it is pressed."""
    assert ONE.force(0.1, -5.0, (0.0,)) == 0.0
    assert ONE.force(-0.01, -0.2, (-0.01,)) == pytest.approx(0.01 * K + 0.2 * D)
    assert ONE.force(-0.01, 5.0, (-0.01,)) == 0.0
    assert ONE.rates(0.1, 0.0, (-0.01,)) == pytest.approx((0.01 * K / D,))
    assert ONE.rates(-0.01, -0.2, (-0.01,)) == pytest.approx((-0.2,))  # moves with the body
    mass, speed = 0.5, 1.0
    t, p, v, _, f = drop(ONE, speed, mass)
    a, w = D / (2 * mass), np.sqrt(K / mass - (D / (2 * mass)) ** 2)
    touching = np.flatnonzero(f > 0)
    assert np.all(np.diff(touching) == 1) and touching[0] == 0
    now = t[touching]
    assert_allclose(p[touching], -speed / w * np.exp(-a * now) * np.sin(w * now), atol=1e-6)
    # lost where -K p - D v = 0, before p = 0
    lost = brentq(
        lambda s: (
            -K * -speed / w * np.sin(w * s) - D * -speed * (np.cos(w * s) - a / w * np.sin(w * s))
        ),
        1e-3,
        np.pi / w,
    )
    assert now[-1] == pytest.approx(lost, abs=4e-4)


@pytest.mark.seed('CN19', kind='full')
def test_it_recovers_exponentially_and_rests_at_its_static_sink():
    state = solve_ivp(
        lambda t, z: ONE.rates(1.0, 0.0, z), (0, 0.03), [-0.01], rtol=1e-10, atol=1e-14
    )
    assert state.y[0, -1] == pytest.approx(-0.01 * np.exp(-K * 0.03 / D), rel=1e-7)
    assert ONE.recovered(-0.01, 0.03) == pytest.approx(-0.01 * np.exp(-K * 0.03 / D))
    _, p, v, _, _ = drop(ONE, 0.2, gravity=9.81, duration=1.5)
    assert p[-1] == pytest.approx(-0.5 * 9.81 / K, rel=1e-5) and abs(v[-1]) < 1e-6


@pytest.mark.seed('CN20', kind='full')
@every_surface
def test_no_surface_pulls_and_none_gives_energy(surface):
    for speed in (0.3, 2.0):
        _, p, v, z, f = drop(surface, speed)
        assert f.min() >= 0.0 and f.max() > 0.0
        assert 0.0 < v[-1] < speed and p[-1] > 0.0
        assert np.all(z.sum(axis=0)[f > 0] <= 1e-9)
        # once it is free it comes back
        assert abs(z[0, -1]) < 0.2 * np.abs(z[0]).max()


@pytest.mark.seed('CN20', kind='full')
def test_two_surfaces_are_one_if_they_recover_equally_fast():
    """K/D equal: the lumped surface gives the same force all the way, and the same motion."""
    two = TwoSurfaces(ONE, 500.0, 500.0 * D / K)
    lumped = two.lumped()
    assert lumped.stiffness == pytest.approx(1 / (1 / K + 1 / 500.0))
    assert lumped.damping == pytest.approx(1 / (1 / D + K / (500.0 * D)))
    t, p, v, z, f = drop(two)
    t_1, p_1, v_1, z_1, f_1 = drop(lumped)
    assert_allclose(np.interp(t, t_1, p_1), p, atol=1e-5)
    assert v[-1] == pytest.approx(v_1[-1], rel=1e-5)
    assert_allclose(np.interp(t, t_1, z_1[0]), z.sum(axis=0), atol=1e-5)
    # deformations in the ratio of the compliances, since they start and recover alike
    assert_allclose(z[0] * K, z[1] * 500.0, atol=1e-5)
    unequal = TwoSurfaces(ONE, 500.0, D)
    with pytest.raises(ValueError, match='K/D is the same'):
        unequal.lumped()
    with pytest.raises(ValueError, match='inf'):
        TwoSurfaces(ONE, 500.0, 0.0).lumped()


@pytest.mark.seed('CN20', kind='full')
def test_two_surfaces_bear_the_same_force_and_their_deformations_add_up():
    """Balance of each massless patch, at states that are no lumped ones."""
    two = TwoSurfaces(ONE, 700.0, 40.0)
    z, rate = (-0.004, -0.011), -0.3
    p = sum(z)
    f = two.force(p, rate, z)
    first, second = two.rates(p, rate, z)
    assert K * z[0] + D * first + f == pytest.approx(0.0, abs=1e-12)
    assert 700.0 * z[1] + 40.0 * second + f == pytest.approx(0.0, abs=1e-12)
    assert first + second == pytest.approx(rate) and f > 0
    assert two.force(p + 1e-9, rate, z) == 0.0
    assert two.rates(1.0, rate, z) == pytest.approx((0.004 * K / D, 0.011 * 700 / 40))
    swapped = TwoSurfaces(LinearSurface(700.0, 40.0), K, D)
    assert swapped.force(p, rate, z[::-1]) == pytest.approx(f)


@pytest.mark.seed('CN20')
def test_a_spring_in_series_is_the_limit_of_little_damping():
    spring = TwoSurfaces(ONE, 9000.0, 0.0)
    nearly = TwoSurfaces(ONE, 9000.0, 0.05)
    t, p, v, _, f = drop(spring)
    t_1, p_1, v_1, _, _ = drop(nearly)
    assert v[-1] == pytest.approx(v_1[-1], rel=0.02)
    assert f[0] == 0.0 and f[1] < 0.1 * f.max()  # no jump of the force at first touch
    z, p = (-0.004, 0.0), -0.006
    assert spring.force(p, 3.0, z) == pytest.approx(9000.0 * 0.002)
    first, second = spring.rates(p, -0.3, z)
    assert first == pytest.approx(-(K * z[0] + 18.0) / D) and first + second == pytest.approx(-0.3)
    assert spring.rates(1.0, -0.3, z)[1] == 0.0


BOUNCY = LinearSurface(2000.0, 10.0)


def with_explicit_state(surface, height, duration, mass):
    """Return dropped point mass, phase by phase, the patch a state while it is free: (p, v, z)."""
    t, p, v, z, touching = 0.0, height, 0.0, 0.0, False
    while t < duration - 1e-12:

        def rates(t, y, touching=touching):
            if touching:
                return [y[1], surface.force(y[0], y[1], (y[0],)) / mass - GRAVITY]
            return [y[1], -GRAVITY, *surface.rates(1.0, y[1], (y[2],))]

        def end(t, y, touching=touching):
            return -surface.stiffness * y[0] - surface.damping * y[1] if touching else y[0] - y[2]

        end.terminal, end.direction = True, -1
        start = [p, v] if touching else [p, v, z]
        part = solve_ivp(rates, (t, duration), start, events=end, rtol=1e-10, atol=1e-12)
        t, (p, v, *rest) = part.t[-1], part.y[:, -1]
        z = rest[0] if rest else p
        if part.status == 1:
            touching = not touching
            p += 0.0 if touching else 1e-12
    return p, v, z


@pytest.mark.seed('CN20', kind='full')
@pytest.mark.parametrize('duration', [0.12, 0.18, 0.4])
def test_without_an_explicit_state_the_motion_is_the_same(duration):
    """The trick of the exponential: a mass that bounces, against one whose patch is integrated."""
    expected, mass, errors = with_explicit_state(BOUNCY, 0.05, duration, 0.5), 0.5, []
    for h in (2e-5, 1e-5):
        memory, p, v, recovering = SurfaceMemory(BOUNCY), 0.05, 0.0, 0
        for k in range(round(duration / h)):
            f = memory.force(k * h, p, v)
            memory.keep(k * h, p, v)
            v += h * (f / mass - GRAVITY)
            p += h * v
            recovering += f == 0.0 and memory.deformation(k * h) < -1e-5
        errors.append(abs(p - expected[0]) + 0.1 * abs(v - expected[1]))
    assert errors[1] < 1e-4 and errors[1] < 0.8 * errors[0]
    assert recovering > 100 or duration < 0.15


def test_a_surface_stores_time_and_place_of_the_last_contact():
    fresh = SurfaceMemory(ONE)
    fresh.keep(2.0, -0.01, 0.0)
    assert fresh.deformation(2.02) == pytest.approx(-0.01 * np.exp(-K * 0.02 / D))
    assert fresh.force(2.02, -0.001, 0.0) == 0.0  # above the surface that is on its way back
    assert fresh.force(2.02, -0.009, 0.0) == pytest.approx(0.009 * K)
    fresh.keep(2.02, 0.5, 0.0)
    assert fresh.deformation(2.02) == pytest.approx(-0.01 * np.exp(-K * 0.02 / D))


@pytest.mark.seed('CN20', kind='full')
@pytest.mark.parametrize('exponent', [1.0, 1.5, 3.0])
@pytest.mark.parametrize('speed', [0.1, 1.0])
def test_hunt_and_crossley_lose_the_energy_of_the_exact_solution(exponent, speed):
    """Exact: m v dv = -z^n (K + c v) dz gives F(v_in) = F(-v_out), for any n and m.

    With F(v) = v/c - K/c^2 log(1 + c v/K).
    """
    surface = HuntCrossleySurface(3e4, 1.5e4, exponent)
    K_h, c = surface.stiffness, surface.damping

    def F(v):
        return v / c - K_h / c**2 * np.log1p(c * v / K_h)

    expected = brentq(lambda v: F(speed) - F(-v), 0.0, min(speed, 0.999 * K_h / c))
    _, p, v, z, f = drop(surface, speed, duration=1.5 if exponent == 3.0 else 0.4)
    assert v[-1] == pytest.approx(expected, rel=2e-4)
    assert expected < speed
    assert f[1] < 0.05 * f.max() or exponent == 1.0  # no jump at first touch
    # at its deepest it is not more than the spring alone would let it
    lossless = (speed**2 * 0.5 * (exponent + 1) / (2 * 0.5 * K_h / 0.5)) ** (1 / (exponent + 1))
    assert -p.min() < lossless


@pytest.mark.seed('CN20')
def test_a_hunt_crossley_surface_comes_back_at_its_own_speed():
    surface = HuntCrossleySurface(3e4, 1.5e4)
    assert surface.force(-0.01, 0.5, (-0.01,)) == pytest.approx(0.01**1.5 * (3e4 - 0.75e4))
    assert surface.force(-0.01, 2.5, (-0.01,)) == 0.0  # leaves faster than the surface follows
    assert surface.rates(-0.01, 2.5, (-0.01,)) == (2.0,)
    assert surface.rates(-0.01, -0.7, (-0.01,)) == (-0.7,)
    assert surface.rates(0.5, -0.7, (-0.01,)) == (2.0,)
    assert surface.rates(0.5, -0.7, (0.0,)) == (0.0,)
    assert surface.force(0.0, -0.7, (0.0,)) == 0.0 and surface.rates(0.0, -0.7, (0.0,)) == (-0.7,)


# -- friction


def contact(**options):
    return CompliantContactModel(ONE, 1500.0, 20.0, **{'friction': 0.6, **options})


@pytest.mark.seed('CN21', kind='full')
@pytest.mark.parametrize('direction', [0.0, 0.7, 2.5])
@pytest.mark.parametrize('share', [0.97, 1.03])
def test_a_block_sticks_on_a_slope_below_the_friction_angle_and_slides_above(direction, share):
    """In any direction of the tangent plane: tan(angle) = share mu. Point mass, three axes."""
    law, mass, mu = contact(), 0.5, 0.6
    angle = np.arctan(share * mu)
    down = GRAVITY * np.sin(angle) * np.array([np.cos(direction), np.sin(direction)])

    def rates(t, y):
        p, v_n, v_t, z, x = y[0], y[1], y[2:4], y[4:5], y[5:7]
        f = law.evaluate(p, v_n, tuple(v_t), tuple(z), tuple(x))
        assert np.hypot(*f.tangential) <= mu * f.normal * (1 + 1e-12)
        return [
            v_n,
            f.normal / mass - GRAVITY * np.cos(angle),
            *(np.array(f.tangential) / mass + down),
            *f.deformation_rates,
            *f.tangential_rates,
        ]

    sink = -mass * GRAVITY * np.cos(angle) / K
    start = [sink, 0, 0, 0, sink, 0, 0]
    found = solve_ivp(rates, (0, 2.0), start, rtol=1e-8, atol=1e-11, t_eval=[1.0, 2.0])
    speeds = found.y[2:4]
    if share < 1:
        assert np.abs(speeds[:, 1]).max() < 1e-6
        # held by the spring alone
        assert_allclose(found.y[5:7, 1] * 1500.0, mass * down, rtol=1e-5)
    else:
        gained = (speeds[:, 1] - speeds[:, 0]) / 1.0
        expected = GRAVITY * (np.sin(angle) - mu * np.cos(angle))
        assert_allclose(gained, expected * down / np.linalg.norm(down), rtol=1e-4, atol=1e-6)


@pytest.mark.seed('CN21', kind='full')
def test_friction_is_the_books_with_two_tangents():
    """11.77 to 11.79: stick force inside the cone, shortened outside; the patch in balance."""
    law, z, x = contact(), (-0.01,), (0.002, -0.001)
    found = law.evaluate(-0.01, 0.0, (0.1, 0.05), z, x)
    stick = np.array([-1500.0 * 0.002 - 20 * 0.1, 1500.0 * 0.001 - 20 * 0.05])
    assert found.normal == pytest.approx(20.0) and np.linalg.norm(stick) < 0.6 * 20.0
    assert_allclose(found.tangential, stick)
    assert_allclose(found.tangential_rates, [0.1, 0.05])  # it sticks: the patch moves along
    slid = law.evaluate(-0.01, 0.0, (3.0, -4.0), z, x)
    stick = np.array([-1500.0 * 0.002 - 60.0, 1500.0 * 0.001 + 80.0])
    assert_allclose(slid.tangential, 12.0 * stick / np.linalg.norm(stick))
    for force, rate, x_i in zip(slid.tangential, slid.tangential_rates, x):
        assert 1500.0 * x_i + 20.0 * rate + force == pytest.approx(0.0, abs=1e-12)
    wet = contact(drag=2.0).evaluate(-0.01, 0.0, (0.1, 0.05), z, x, (0.3, -0.7))
    assert_allclose(np.array(wet.tangential) - found.tangential, [-0.6, 1.4])
    assert wet.tangential_rates == found.tangential_rates  # drag is no force on the patch
    assert contact(drag=2.0).evaluate(0.5, 0, (0, 0), z, x, (1, 1)).tangential == (0.0, 0.0)
    open_ = law.evaluate(0.5, 0.0, (3.0, -4.0), z, x)
    assert open_.normal == 0.0 and open_.tangential == (0.0, 0.0)
    assert_allclose(open_.tangential_rates, [-1500 / 20 * 0.002, 1500 / 20 * 0.001])


@pytest.mark.seed('CN20', kind='full')
@pytest.mark.parametrize('drag', [0.0, 0.8])
def test_a_ball_rolls_with_its_contact_point_and_drag_slows_it(drag):
    """The spring moves with the point and leaves no imprint, so without drag it rolls forever.

    With the viscous force of the moving compression, v falls by exp(-c t/m/(1 + k)): it acts at
    the contact on a ball that rolls, of inertia k m r^2, whose friction turns it along.
    """
    law, m, r, k = contact(drag=drag, friction=5.0), 0.5, 0.1, 0.4

    def rates(t, y):
        p, v_n, v, w, z, x = y
        f = law.evaluate(p, v_n, (v - r * w, 0.0), (z,), (x, 0.0), (v, 0.0))
        # what drags acts against the motion of the center; friction at the contact turns the ball
        friction = f.tangential[0] + law.drag * v * (f.normal > 0)
        return [
            v_n, f.normal / m - GRAVITY, f.tangential[0] / m, -r * friction / (k * m * r * r),
            *f.deformation_rates, f.tangential_rates[0],
        ]  # fmt: skip

    sink = -m * GRAVITY / K
    found = solve_ivp(rates, (0, 1.0), [sink, 0, 2.0, 20.0, sink, 0], rtol=1e-9, atol=1e-12)
    speed = 2.0 * np.exp(-drag / (m * (1 + k)))
    assert found.y[2, -1] == pytest.approx(speed, rel=3e-3 if drag else 1e-9)
    assert found.y[3, -1] * r == pytest.approx(found.y[2, -1], rel=1e-2)
    assert np.ptp(found.y[0]) < 1e-9  # at the same depth all along


@pytest.mark.seed('CN20')
def test_the_simulator_takes_two_surfaces_lumped():
    """A ball that rests: each surface sinks by f/K."""
    soft = ContactParameters(2000.0, 20.0, friction=0.9)
    hard = ContactParameters(6000.0, 60.0, friction=0.4, tangential_stiffness=3e3,
                             tangential_damping=30.0)  # fmt: skip
    both = in_series(soft, hard)
    assert both.array() == pytest.approx([1500.0, 15.0, 1200.0, 12.0, 0.4])
    simulator = Simulator(ball(), 1e-3, ground=HalfSpace(), contact=both)
    simulator.reset(at((0, 0, 0.1)))
    simulator.step(n=4000)
    assert 0.1 - simulator.q[6] == pytest.approx(GRAVITY / 2000 + GRAVITY / 6000, rel=1e-9)
    with pytest.raises(ValueError, match='K/D'):
        in_series(soft, ContactParameters(6000.0, 20.0))


@pytest.mark.seed('CN20')
def test_in_the_simulator_the_state_goes_with_a_rolling_ball():
    """Rolling steadily on deformed ground: constant depth, no friction, no loss of speed.

    The depth is that of the weight, but for an error of first order in the step.
    """
    soft, sink, errors = ContactParameters(2e3, 20.0), GRAVITY / 2e3, []
    for h in (1e-3, 2.5e-4):
        simulator = Simulator(ball(radius=0.1), h, ground=HalfSpace(), contact=soft)
        simulator.reset(at((0, 0, 0.1 - sink)), v=[0, 10.0, 0, 1.0, 0, 0])
        simulator.step(n=round(1.0 / h))
        settled = simulator.robot.momentum(simulator.q, simulator.v)[3:]
        depth = 0.1 - simulator.q[6]
        simulator.step(n=round(2.0 / h))
        momentum = simulator.robot.momentum(simulator.q, simulator.v)[3:]
        assert_allclose(momentum, settled, rtol=0, atol=1e-5)
        assert 0.1 - simulator.q[6] == pytest.approx(depth, rel=1e-6)
        (point,) = simulator.contacts
        assert np.hypot(*point.force[:2]) < 1e-3 * GRAVITY
        errors.append(depth - sink)
    assert abs(errors[0]) < 0.03 * sink
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize(
    ('make', 'message'),
    [
        (lambda: LinearSurface(0.0, 1.0), 'stiffness must be positive'),
        (lambda: LinearSurface(1.0, -1.0), 'damping must be positive'),
        (lambda: TwoSurfaces(ONE, np.inf, 1.0), 'stiffness must be positive'),
        (lambda: TwoSurfaces(ONE, 1.0, -1.0), 'damping must not be negative'),
        (lambda: HuntCrossleySurface(1.0, 0.0), 'damping must be positive'),
        (lambda: HuntCrossleySurface(1.0, 1.0, np.nan), 'exponent must be positive'),
        (lambda: contact(friction=-0.1), 'friction must not be negative'),
        (lambda: contact(drag=-0.1), 'drag must not be negative'),
    ],
)
def test_numbers_that_make_no_sense_are_rejected(make, message):
    with pytest.raises(ValueError, match=message):
        make()
