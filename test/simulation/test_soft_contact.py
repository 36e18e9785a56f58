# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact with the ground: the book's law in continuous time, analytic motions, invariants."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.simulated_robots import at, ball, body, collision, GRAVITY, joint, link, robot

from rbd_ros import Simulator
from rbd_ros.contact import ContactParameters, HalfSpace

INTEGRATORS = ['semi_implicit', 'midpoint', 'rk4']
SOFT = ContactParameters(stiffness=2000.0, damping=10.0, friction=0.5)


def box(mass=2.0, size=(0.4, 0.3, 0.2)):
    x, y, z = size
    inertia = tuple(mass / 12 * s for s in (y * y + z * z, x * x + z * z, x * x + y * y))
    return body(mass, inertia, collision(f'box size="{x} {y} {z}"'))


def slope(angle):
    """Return the ground that falls towards +x, and the orientation of a box that lies on it."""
    ground = HalfSpace((np.sin(angle), 0.0, np.cos(angle)))
    return ground, (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)


def continuous_bounce(height, duration, mass, parameters):
    """Return the book 11.73 and 11.74 for a dropped point mass, phase by phase.

    (p, dp/dt, z) at the end.
    """
    K, D = parameters.stiffness, parameters.damping
    t, p, v, z = 0.0, height, 0.0, 0.0
    touching = False
    options = {'rtol': 1e-10, 'atol': 1e-12, 'max_step': 1e-3}
    while t < duration - 1e-12:
        if touching:

            def rates(t, y):
                return [y[1], -GRAVITY + (-K * y[0] - D * y[1]) / mass]

            def end(t, y):
                return -K * y[0] - D * y[1]  # the force, which must not pull

            end.direction = -1
            state = [p, v]
        else:

            def rates(t, y):
                return [y[1], -GRAVITY, -K * y[2] / D]

            def end(t, y):
                return y[0] - y[2]

            end.direction = -1
            state = [p, v, z]
        end.terminal = True
        part = solve_ivp(rates, (t, duration), state, events=end, **options)
        t, state = part.t[-1], part.y[:, -1]
        p, v = state[0], state[1]
        z = p if touching else state[2]
        if part.status == 1:
            if touching:
                p += 1e-12
            touching = not touching
    return p, v, z


@pytest.mark.seed('CN19')
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_a_bouncing_ball_converges_to_the_law_in_continuous_time(integrator):
    expected = continuous_bounce(0.2, 1.0, 1.0, SOFT)
    errors = []
    for h in (1e-3, 2.5e-4, 6.25e-5):
        simulator = Simulator(ball(), h, integrator, HalfSpace(), SOFT)
        simulator.reset(q=at((0, 0, 0.3)))
        simulator.step(n=round(1.0 / h))
        errors.append(
            abs(simulator.q[6] - 0.1 - expected[0]) + 0.1 * abs(simulator.v[5] - expected[1])
        )
    assert errors[0] < 0.1
    assert errors[2] < 0.01
    assert errors[2] < 0.4 * errors[1]  # first order: a quarter of the step


@pytest.mark.seed('CN19')
@pytest.mark.parametrize('integrator', INTEGRATORS)
@pytest.mark.parametrize('stiffness, damping', [(2e3, 40.0), (5e4, 5e2), (1e8, 1e5)])
def test_a_resting_ball_sinks_by_its_weight_over_the_stiffness(integrator, stiffness, damping):
    simulator = Simulator(
        ball(), 1e-3, integrator, HalfSpace(), ContactParameters(stiffness, damping)
    )
    simulator.reset(q=at((0, 0, 0.1)))
    simulator.step(n=4000)
    sink = GRAVITY / stiffness
    assert 0.1 - simulator.q[6] == pytest.approx(sink, rel=1e-9, abs=1e-16)
    (contact,) = simulator.contacts
    assert contact.force == pytest.approx([0, 0, GRAVITY], abs=1e-9)
    assert contact.link == 'body' and contact.depth == pytest.approx(sink, rel=1e-9, abs=1e-16)


@pytest.mark.seed('CN13')
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_a_resting_box_shares_its_weight_among_its_vertices(integrator):
    simulator = Simulator(box(), 1e-3, integrator, HalfSpace())
    simulator.reset(q=at((0, 0, 0.1)))
    simulator.step(n=4000)
    forces = np.array([contact.force for contact in simulator.contacts])
    assert forces.shape == (4, 3)
    assert forces[:, 2] == pytest.approx([2 * GRAVITY / 4] * 4, rel=1e-6)
    assert np.abs(simulator.v).max() < 1e-12


@pytest.mark.seed('CN19')
def test_a_free_patch_returns_exponentially():
    """After a lost contact the patch is where exp(-K t / D) says."""
    simulator = Simulator(ball(), 1e-5, 'semi_implicit', HalfSpace(), SOFT)
    simulator.reset(q=at((0, 0, 0.1 - 0.004)), v=[0, 0, 0, 0, 0, 3.0])
    simulator.step(n=500)
    assert not simulator.contacts
    z = simulator.snapshot().arrays['state.normal_deformation'][0]
    # torn off at once: the patch starts at -4 mm
    assert z == pytest.approx(-0.004 * np.exp(-2000.0 / 10.0 * 0.005), rel=5e-3)


@pytest.mark.seed('CN19', kind='full')
@pytest.mark.seed('CN21')
@pytest.mark.parametrize('integrator', INTEGRATORS)
def test_contact_never_pulls_and_stays_in_the_friction_cone(rng, integrator):
    simulator = Simulator(box(), 1e-3, integrator, HalfSpace(), SOFT)
    quaternion = rng.normal(size=4)
    simulator.reset(q=at((0, 0, 0.5), quaternion), v=[3, -5, 2, 1, -0.5, -1])
    in_contact = 0
    for _ in range(3000):
        simulator.step()
        for contact in simulator.contacts:
            in_contact += 1
            assert contact.force[2] > 0.0
            assert np.hypot(*contact.force[:2]) <= 0.5 * contact.force[2] * (1 + 1e-9)
    assert in_contact > 1000
    assert simulator.status.unconverged_steps == 0


@pytest.mark.seed('CN21')
@pytest.mark.parametrize('damping', [10.0, 500.0])
def test_contact_never_creates_energy(rng, damping):
    """Tumbling boxes: energy of body and patches only falls, but for errors of smooth motion."""
    parameters = ContactParameters(5000.0, damping, 0.6)
    for _ in range(5):
        robot = box()
        simulator = Simulator(robot, 2e-4, 'semi_implicit', HalfSpace(), parameters)
        simulator.reset(
            q=at((0, 0, 0.3), rng.normal(size=4)), v=rng.normal(size=6) * [3, 3, 3, 1, 1, 1]
        )

        def energy(simulator=simulator, robot=robot):
            arrays = simulator.snapshot().arrays
            springs = (
                0.5
                * 5000.0
                * (
                    np.sum(arrays['state.normal_deformation'] ** 2)
                    + np.sum(arrays['state.tangent_deformation'] ** 2)
                )
            )
            return robot.energy(simulator.q, simulator.v).total + springs

        start = lowest = energy()
        for _ in range(3000):
            simulator.step()
            now = energy()
            assert now < lowest + 2e-3 * abs(start)
            lowest = min(lowest, now)


@pytest.mark.seed('CN21')
@pytest.mark.parametrize('integrator', INTEGRATORS)
@pytest.mark.parametrize('mu', [0.3, 0.8])
def test_a_block_sticks_on_a_slope_just_below_the_friction_angle(integrator, mu):
    angle = np.arctan(0.98 * mu)
    ground, orientation = slope(angle)
    simulator = Simulator(box(), 1e-3, integrator, ground, ContactParameters(friction=mu))
    simulator.reset(q=at(0.1 * np.array(ground.normal), orientation))
    simulator.step(n=2000)
    start = simulator.q
    simulator.step(n=5000)
    assert simulator.q == pytest.approx(start, abs=1e-12)
    assert np.abs(simulator.v).max() < 1e-12


@pytest.mark.seed('CN21', kind='full')
@pytest.mark.parametrize('integrator', INTEGRATORS)
@pytest.mark.parametrize('mu', [0.0, 0.3])
def test_a_block_slides_down_a_slope_at_the_right_acceleration(integrator, mu):
    angle = np.arctan(1.2 * mu) if mu else 0.3
    ground, orientation = slope(angle)
    simulator = Simulator(box(), 1e-3, integrator, ground, ContactParameters(friction=mu))
    simulator.reset(q=at(0.1 * np.array(ground.normal), orientation))
    simulator.step(n=1000)
    before = simulator.v
    simulator.step(n=1000)
    expected = GRAVITY * (np.sin(angle) - mu * np.cos(angle))
    assert (simulator.v - before)[3] == pytest.approx(expected, rel=1e-6)
    assert simulator.status.unconverged_steps == 0


@pytest.mark.seed('CN21')
def test_friction_slows_a_sliding_block_in_any_direction_and_then_it_sticks():
    simulator = Simulator(
        box(), 1e-3, 'semi_implicit', HalfSpace(), ContactParameters(friction=0.4)
    )
    simulator.reset(q=at((0, 0, 0.1 - 2 * GRAVITY / 4 / 5e4)), v=[0, 0, 0, 0.6, 0.8, 0])
    simulator.step(n=100)
    speed = np.hypot(simulator.v[3], simulator.v[4])
    assert speed == pytest.approx(1.0 - 0.4 * GRAVITY * 0.1, rel=5e-3)
    assert simulator.v[4] / simulator.v[3] == pytest.approx(0.8 / 0.6, rel=1e-3)
    simulator.step(n=2000)
    assert np.abs(simulator.v).max() < 1e-12


@pytest.mark.seed('CN11', kind='full')
def test_a_rolling_ball_rolls_at_five_sevenths():
    """Without impacts: the normal of a curved shape changes with the point, and so smoothly."""
    angle = 0.2
    ground, _ = slope(angle)
    simulator = Simulator(ball(share=0.4), 1e-3, 'semi_implicit', ground)
    simulator.reset(q=at(0.1 * np.array(ground.normal)))
    simulator.step(n=500)
    momentum = simulator.robot.momentum(simulator.q, simulator.v)[3:]
    forces = []
    for _ in range(500):
        simulator.step()
        (contact,) = simulator.contacts
        forces.append(contact.force @ ground.normal)
    assert forces == pytest.approx([GRAVITY * np.cos(angle)] * 500, rel=1e-4)
    assert np.ptp(forces) < 1e-6
    change = simulator.robot.momentum(simulator.q, simulator.v)[3:] - momentum
    assert np.linalg.norm(change) == pytest.approx(0.5 * 5 / 7 * GRAVITY * np.sin(angle), rel=2e-3)


@pytest.mark.parametrize('pose', ['lying', 'standing'])
def test_cylinders_lie_roll_and_stand(pose):
    can = body(1.0, (0.004, 0.004, 0.005), collision('cylinder radius="0.1" length="0.3"'))
    simulator = Simulator(can, 1e-3, 'semi_implicit', HalfSpace())
    turned = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)  # the axis along -y
    lying = pose == 'lying'
    simulator.reset(
        q=at((0, 0, 0.1 if lying else 0.15), turned if lying else (1, 0, 0, 0)),
        v=[0, 0, 5.0 if lying else 0.0, 0, 0, 0],
    )
    simulator.step(n=3000)
    assert simulator.status.contacts == (2 if lying else 4)
    height = simulator.q[6]
    assert height == pytest.approx(0.1 if lying else 0.15, abs=2e-4)
    if lying:  # spun up by friction to rolling: v = r w, of 5 rad/s what the law of moments leaves
        expected = 5.0 * 0.005 / (0.005 + 1.0 * 0.1**2)
        v = simulator.robot.momentum(simulator.q, simulator.v)[3:]
        assert np.linalg.norm(v) == pytest.approx(0.1 * expected, rel=2e-2)
    else:
        assert np.abs(simulator.v).max() < 1e-9


def test_links_that_may_not_touch_do_not_and_fixed_ones_never_do():
    arm = robot(
        link('base', shape=collision('box size="1 1 1"')),
        link('ball', 1.0, (0.01,) * 3, shape=collision('sphere radius="0.1"')),
        joint(
            'lift',
            'base',
            'ball',
            'prismatic',
            (0, 0, 1),
            (0, 0, 0.3),
            '<limit lower="-5" upper="5" effort="100" velocity="9"/>',
        ),
    )
    simulator = Simulator(arm, ground=HalfSpace())
    simulator.step(n=3000)
    assert simulator.q[0] == pytest.approx(-0.2, abs=1e-3)
    free = Simulator(arm, ground=HalfSpace(), contact_links=['base'])
    free.step(n=500)
    assert free.q[0] == pytest.approx(-GRAVITY / 8, rel=1e-2)
    with pytest.raises(ValueError, match="did you mean 'ball'"):
        Simulator(arm, ground=HalfSpace(), contact_links=['bal'])


def test_a_start_inside_the_ground_is_reported():
    simulator = Simulator(ball(), ground=HalfSpace())
    simulator.reset(q=at((0, 0, 0.05)))
    assert "link 'body' starts 50.0 mm deep" in simulator.warnings[0]
    simulator.step(n=1)
    # The spring, no jump of the damper: m a = k d - m g - (c + h k) h a, with the law at the end.
    law, h = ContactParameters(), 1e-3
    softened = 1.0 + h * (law.damping + h * law.stiffness)
    assert simulator.a[5] == pytest.approx((0.05 * law.stiffness - GRAVITY) / softened, rel=1e-9)
