# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Springs of Hunt and Crossley in simulated worlds, against their law and equation of motion."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from support.interpreted import without_compiler
from support.rigid_worlds import ball, cube, G, kinetic_energy, simulated, worst_residual
from support.simulated_robots import collision, link, robot

from rbd_ros import Simulator
from rbd_ros.simulation.scene import island, matrix_free_islands
from rbd_ros.simulation.scene.springs import (
    follow_spring,
    pressing_velocity,
    release_velocity,
    spring_impulse,
    take_tangent,
)

R = 0.1  # of all balls, and half of all cubes [m]


def spring(K, c=0.0, n=1.5):
    return {'stiffness': K, 'dissipation': c, 'exponent': n}


def height(simulator, name='body'):
    return simulator.object_pose(name)[2, 3]


def law(d, rate, K, c, n):
    return K * max(d, 0.0) ** n * max(1.0 + c * rate, 0.0)


def bounce(mass, v, K, c, n, gravity=G):
    """Return contact time and coefficient of restitution of a ball, by the equation of motion."""

    def rates(_, state):
        return [state[1], law(-state[0], -state[1], K, c, n) / mass - gravity]

    def apart(time, state):
        return state[0] if time > 0.0 else -1.0

    apart.terminal, apart.direction = True, 1.0
    found = solve_ivp(
        rates, (0.0, 10.0), [0.0, -v], method='DOP853', events=apart, rtol=1e-12, atol=1e-14
    )
    return found.t[-1], found.y[1, -1] / v


@pytest.mark.slow
@pytest.mark.parametrize('h', [1e-3, 1e-2])
@pytest.mark.parametrize('K, c, n', [(1e7, 0.0, 1.5), (1e5, 2.0, 1.5), (1e6, 0.5, 2.0)])
def test_a_body_at_rest_sinks_by_the_root_of_its_weight_over_the_stiffness(K, c, n, h):
    mass = 2.0
    simulator = simulated(h=h, body=ball(mass=mass, compliance=spring(K, c, n)))
    simulator.step(n=30000)
    assert abs(R - height(simulator) - (mass * G / K) ** (1 / n)) < 1e-9
    assert np.abs(simulator.object_velocity('body')).max() < 1e-9
    assert worst_residual(simulator) < 1e-11 and simulator.status.unconverged_steps == 0


@pytest.mark.parametrize('K, c, n', [(1e5, 0.3, 1.5), (1e4, 1.0, 1.0), (1e6, 0.1, 2.0)])
def test_a_bounce_tends_to_that_of_the_equation_of_motion(K, c, n):
    """Contact time and restitution, from first touch on; the errors are of first order."""
    mass, v = 1.0, 1.2
    time, e = bounce(mass, v, K, c, n)
    errors = []
    for h in (4e-5, 2e-5):
        start = ball(velocity=(0, 0, -v), mass=mass, compliance=spring(K, c, n))
        simulator = simulated(h=h, body=start)
        before, steps = R, 0
        while True:
            simulator.step()
            z = height(simulator)
            steps += 1
            if z >= R:
                break
            before = z
        taken = h * (steps - (z - R) / (z - before))
        errors.append((taken / time - 1.0, simulator.object_velocity('body')[5] / v - e))
    for first, second in zip(*errors):
        assert abs(second) < 0.02
        assert 1.8 < first / second < 2.2


def restitution(cv):
    """Return the coefficient of restitution by dissipation and speed, for any K, n and mass.

    The integral of v dv/(1 + c v) = -K/m d^n dd is the same for both halves of a bounce, so that
    c v (1 + e) = ln((1 + c v)/(1 - c v e)).
    """
    return brentq(lambda e: 1 - cv * e - (1 + cv) * np.exp(-cv * (1 + e)), 0.0, 1.0)


@pytest.mark.parametrize('n', [1.0, 1.5, 2.5])
def test_the_loss_of_a_bounce_is_that_of_the_phase_plane(n):
    """It tends to 1 - 2/3 c v where that is small."""
    for cv in (0.01, 0.1, 1.0, 10.0):
        v, K = 0.8, 1e5
        c, e = cv / v, restitution(cv)
        assert abs(bounce(2.0, v, K, c, n, 0.0)[1] - e) < 1e-7
        if cv < 1.0:
            assert abs(e - (1.0 - 2.0 / 3.0 * cv)) < 0.6 * cv**2
        if cv > 1.0:
            continue  # it creeps away
        found = []
        for h in (1e-4, 5e-5):
            start = ball(velocity=(0, 0, -v), mass=2.0, compliance=spring(K, c, n))
            simulator = simulated(h=h, gravity=(0, 0, 0), body=start)
            simulator.step(n=4000)
            found.append(simulator.object_velocity('body')[5] / v)
        assert height(simulator) > R and abs(found[1] - e) < 0.02
        assert abs(2 * found[1] - found[0] - e) < 1e-3


def test_a_spring_of_exponent_one_without_dissipation_is_linear():
    heights = []
    for compliance in ({'stiffness': 2e4}, spring(2e4, 0.0, 1.0)):
        simulator = simulated(body=ball(z=0.131, mass=1.5, compliance=compliance))
        heights.append([])
        for _ in range(300):
            simulator.step()
            heights[-1].append(height(simulator))
    assert np.abs(np.subtract(*heights)).max() < 1e-12
    assert min(heights[0]) < R - 1e-3


@pytest.mark.parametrize('K, c', [(1e5, 0.0), (1e5, 1.0), (1e9, 0.0), (1e9, 0.2)])
def test_energy_never_grows_and_the_law_holds_at_the_end_of_each_step(K, c):
    """Gravity, motion and spring together, of a ball that is dropped; it comes to rest."""
    mass, n, h = 0.5, 1.5, 1e-3
    simulator = simulated(h=h, body=ball(z=0.25, mass=mass, compliance=spring(K, c, n)))

    def energy():
        z, v = height(simulator), simulator.object_velocity('body')[5]
        stored = K * max(R - z, 0.0) ** (n + 1) / (n + 1)
        return mass * (G * z + v**2 / 2) + stored

    last, pressed = energy(), 0
    for _ in range(1200):
        before = height(simulator)
        simulator.step()
        now = energy()
        assert now < last + 1e-12
        last = now
        z, force = height(simulator), sum(each.force[2] for each in simulator.contacts)
        assert force >= 0.0
        if force > 0.0 and before < R:
            pressed += 1
            error = law(R - z, (before - z) / h, K, c, n) - force
            assert abs(error) * h / mass < 1e-9
    assert pressed > 5 and simulator.status.unconverged_steps == 0
    if K == 1e9:
        assert abs(R - z - (mass * G / K) ** (1 / n)) < 1e-9


def test_a_surface_releases_a_body_that_leaves_fast():
    """Above the speed 1/c there is no force, and below it one that never pulls."""
    for v, force in ((2.1, 0.0), (1.0, 1e4 * 0.01**1.5 * 0.5)):
        start = ball(z=R - 0.01, velocity=(0, 0, v), compliance=spring(1e4, 0.5))
        simulator = simulated(h=1e-6, gravity=(0, 0, 0), body=start)
        simulator.step()
        assert abs(sum(each.force[2] for each in simulator.contacts) - force) < 2e-3
        assert (simulator.object_velocity('body')[5] == v) == (force == 0.0)


@pytest.mark.parametrize(('tolerance', 'error', 'unsolved'), [(1e-10, 1e-7, 1), (1e-12, 1e-9, 30)])
def test_the_law_holds_at_each_vertex_of_a_cube_that_tumbles(tolerance, error, unsolved):
    """Coming to rest it creeps by 1e-11 of its speed: not each step is solved to 1e-12."""
    K, c, n, h = 1e6, 3.0, 1.5, 1e-3
    thrown = cube(z=0.2, mass=3.0, turned=(0.4, 0.3, 0), spin=(3, 2, 1), velocity=(1, 0, -2))
    thrown['surface'] = {'compliance': spring(K, c, n)}
    world = {'objects': {'floor': {'type': 'plane'}, 'body': thrown}}
    simulator = Simulator(None, h, world=world, solver_tolerance=tolerance)
    most = seen = 0
    for _ in range(1000):
        center = simulator.object_pose('body')[:3, 3]
        simulator.step()
        v = simulator.object_velocity('body')
        for each in simulator.contacts:
            velocity = v[3:] + np.cross(v[:3], each.position - center)
            sign = 1.0 if each.first == 'floor' else -1.0
            w = -velocity[2] - max(0.0, -each.depth) / h
            expected = law(max(0.0, each.depth) + h * w, w, K, c, n)
            assert abs(sign * each.force[2] - expected) < error * max(1.0, expected)
            seen += expected > 0.0
        most = max(most, len(simulator.contacts))
    assert most >= 4 and seen > 300 and simulator.status.unconverged_steps <= unsolved


def test_compliant_and_rigid_contacts_are_one_problem():
    """A cube on a rigid floor carries one on springs of one kind, and that one of another."""
    pairs = [
        {'links': ['a', 'b'], 'compliance': spring(1e6)},
        {'links': ['b', 'c'], 'compliance': {'stiffness': 1e4, 'damping': 100.0}},
    ]
    simulator = simulated(pairs=pairs, a=cube(), b=cube(z=0.3), c=cube(z=0.5))
    simulator.step(n=4000)
    first, second = (2 * G / 4e6) ** (2 / 3), G / 4e4
    for name, z in (('a', 0.1), ('b', 0.3 - first), ('c', 0.5 - first - second)):
        assert abs(height(simulator, name) - z) < 1e-8
    assert worst_residual(simulator) < 1e-12


def test_a_tall_stack_sinks_likewise(monkeypatch):
    """Contacts exceed the capacity of a matrix; between two cubes two springs are in series."""
    monkeypatch.setattr('rbd_ros.simulation.scene.scene_assembly.MAX_ISLAND', 24)
    K, c, n, count = 1e7, 1.0, 1.5, 8
    blocks = {f'b{k}': cube(z=0.1 + 0.2 * k, compliance=spring(K, c, n)) for k in range(count)}
    simulator = simulated(**blocks)
    simulator.step(n=2500)
    assert simulator.status.contacts == 4 * count
    assert simulator.status.unconverged_steps == 0
    sunk = 0.0
    for k in range(count):
        each = ((count - k) * G / (4 * K)) ** (1 / n)
        sunk += each if k == 0 else 2 * each
        assert abs(0.1 + 0.2 * k - height(simulator, f'b{k}') - sunk) < 1e-7
    K_pair = K * 2**-n
    for each in simulator.contacts:
        if 'floor' not in (each.first, each.second):
            assert abs(abs(each.force[2]) - K_pair * each.depth**n) < 1e-2


def test_stiff_springs_are_stable_and_take_energy_only():
    """Light bodies that are thrown at each other."""
    rng = np.random.default_rng(1)
    objects = {}
    for k in range(6):
        place = rng.uniform(-0.3, 0.3, 3)
        further = {'velocity': (-5 * place).tolist(), 'spin': rng.uniform(-5, 5, 3).tolist()}
        further['compliance'] = spring(1e9, 0.1 * (k % 3))
        make = cube if k % 2 else ball
        objects[f'body{k}'] = make(*place.tolist(), mass=1e-3, friction=0.4, **further)
    simulator = simulated(gravity=(0, 0, 0), **objects)
    for name in objects:  # apart from each other at the start, so that no spring is pressed
        pose = simulator.object_pose(name)
        pose[:3, 3] = 3.0 * pose[:3, 3] + (0.0, 0.0, 1.5)
        simulator.place_object(name, pose, simulator.object_velocity(name))
    energy, in_contact = kinetic_energy(simulator), 0
    for _ in range(800):
        simulator.step()
        in_contact += len(simulator.contacts)
        assert kinetic_energy(simulator) < energy * (1.0 + 1e-9)
    assert in_contact > 5 and simulator.status.unconverged_steps == 0


def test_friction_is_coulombs_on_top_of_the_spring():
    mu, K, mass, n = 0.3, 1e6, 2.0, 200
    pairs = [{'links': ['body', 'floor'], 'friction': mu}]
    sunk = (mass * G / K) ** (2 / 3)
    start = ball(z=R - sunk, mass=mass, velocity=(3.0, 0, 0), compliance=spring(K, 0.2))
    simulator = simulated(pairs=pairs, body=start)
    for _ in range(n):
        simulator.step()
        assert worst_residual(simulator) < 1e-12
    assert abs(simulator.object_velocity('body')[3] - (3.0 - mu * G * n * 1e-3)) < 1e-6


def test_a_spring_under_a_robot_is_one_problem_with_the_friction_of_its_joint():
    """A foot on a vertical guide with dry friction, against implicit Euler by hand."""
    mass, K, c, n, h, grip = 2.0, 1e5, 0.4, 1.5, 1e-3, 8.0
    foot = link('foot', mass, (0.1, 0.1, 0.1), shape=collision(f'sphere radius="{R}"'))
    guide = (
        '<joint name="guide" type="prismatic"><parent link="base"/><child link="foot"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="500" velocity="50"/>'
        f'<dynamics friction="{grip}"/></joint>'
    )
    pairs = [{'links': ['robot', 'floor'], 'compliance': spring(K, c, n)}]
    simulator = simulated(robot=robot(link('base'), foot, guide), pairs=pairs, h=h)
    z, v, pressed = R, -1.0, 0
    simulator.reset([z], [v])
    for _ in range(200):
        gap, free = z - R, v - h * G

        def excess(v, friction, gap=gap, free=free):
            w = -v - max(gap, 0.0) / h
            return mass * (v - free) - h * (law(max(-gap, 0.0) + h * w, w, K, c, n) + friction)

        # Friction is against the velocity at the end, or what holds it at zero.
        v = 0.0
        for friction, low, high in ((grip, -20.0, 0.0), (-grip, 0.0, 20.0)):
            if excess(low, friction) < 0.0 < excess(high, friction):
                v = brentq(excess, low, high, args=(friction,), xtol=1e-15)
        z += h * v
        simulator.step()
        if z >= R:
            break
        assert abs(simulator.q[0] - z) < 1e-9 and abs(simulator.v[0] - v) < 1e-8
        pressed += 1
    assert pressed > 10 and z > R
    simulator.step(n=2000)
    assert abs(simulator.v[0]) < 1e-9 and simulator.status.unconverged_steps == 0
    (contact,) = simulator.contacts
    force = abs(contact.force[2])
    assert abs(force - K * (R - simulator.q[0]) ** n) < 1e-6 and abs(force - mass * G) < grip


def test_worlds_without_such_springs_have_no_room_for_them():
    simulator = simulated(body=ball())
    assert not simulator.physics.model.scene.has_nonlinear_springs
    assert len(simulator.physics.fields.work.scene.springs.compliance) == 0
    simulator.add_object('soft', ball(x=1.0, mass=2.0, compliance=spring(1e7, 1.0)))
    assert simulator.physics.model.scene.has_nonlinear_springs
    simulator.step(n=4000)
    assert abs(R - height(simulator, 'soft') - (2.0 * G / 1e7) ** (2 / 3)) < 1e-9
    assert abs(R - height(simulator)) < 1e-9


def test_springs_that_cannot_be_combined_are_rejected_by_name():
    soft, linear = ball(compliance=spring(1e7)), ball(x=1, compliance={'stiffness': 1e4})
    text = "'soft' and 'linear' touch: their springs, of exponent 1.5 and linear, cannot"
    with pytest.raises(ValueError, match=text):
        simulated(soft=soft, linear=linear)
    simulated(soft=soft, linear=linear, pairs=[
        {'links': ['soft', 'linear'], 'compliance': {'stiffness': 1e5}},
    ])  # fmt: skip


@pytest.mark.parametrize('own', [0.0, 1.0])
def test_points_of_curves_solve_their_equation(own):
    """For any spring, depth and load, to rounding."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        surface = np.zeros(9)
        surface[5], surface[7] = 10 ** rng.uniform(-6, 15), rng.choice([1.0, 1.5, 2.0, 10.0])
        surface[8] = rng.choice([0.0, 10 ** rng.uniform(-3, 6)])
        h, depth = 10 ** rng.uniform(-5, -2), rng.choice([0.0, 10 ** rng.uniform(-9, -1)])
        mobility, total = 10 ** rng.uniform(-4, 4), rng.normal() * 10 ** rng.uniform(-6, 1)
        total = total if own else abs(total)
        w = pressing_velocity(surface, h, depth, own, mobility, total)
        impulse, slope = spring_impulse(surface, h, depth, w)
        error = own * w + mobility * impulse - total
        rounding = abs(w) + depth / h
        assert abs(error) < 1e-14 * ((own + mobility * slope) * rounding + abs(total))


def test_tangents_are_those_of_the_law(rng):
    """Also where nothing is pressed any more: there the line is that of the first force."""
    h, mobility = 1e-3, 0.5
    for _ in range(200):
        K, n, c = 10 ** rng.uniform(4, 9), rng.choice([1.0, 1.5, 2.0]), rng.choice([0.0, 0.5, 4.0])
        gap = rng.choice([-(10 ** rng.uniform(-5, -2)), 10 ** rng.uniform(-5, -3)])
        surface = np.array([[0, 0, 0, 0, 0, K, 0, n, c]])
        contacts = SimpleNamespace(pair=[0], gap=[gap])
        model = SimpleNamespace(table=SimpleNamespace(has_object_pairs=False, surface=surface))
        springs = SimpleNamespace(compliance=np.zeros(1), bias=np.zeros(1))
        work, depth, near = SimpleNamespace(springs=springs), max(0.0, -gap), max(0.0, gap) / h

        def impulse(w, K=K, n=n, c=c, depth=depth):
            return h * law(depth + h * w, w, K, c, n)

        low = release_velocity(surface[0], h, depth)
        assert impulse(low - 1e-9) < 1e-12 < impulse(low + 0.1)
        w = low + rng.choice([-1.0, 1.0]) * 10 ** rng.uniform(-2, 1)
        take_tangent(model, contacts, 0, h, mobility, w, work)
        at = max(w, low)
        R, step = springs.compliance[0], 1e-6 * max(1e-3, abs(at - low))
        # The line: v + R impulse + bias = 0 at the velocity v = -w - near.
        assert abs(R * impulse(at) + springs.bias[0] - at - near) < 1e-9 * (1 + abs(at) + near)
        slope = (impulse(at + step) - impulse(at)) / step
        assert R <= 1e6 * mobility * (1 + 1e-9)
        if slope > 1e-3 and n in (1.0, 2.0) or w > low:
            assert abs(1.0 / R - slope) < 1e-3 * slope + 3e-6
        # A problem with this tangent whose solution is on the curve has the right one.
        if w > low:
            assert follow_spring(model, contacts, 0, h, mobility, impulse(w), 0.0, work) < 1e-8
            beside = follow_spring(model, contacts, 0, h, mobility, 2 * impulse(w), 0.0, work)
            assert n == 1.0 or beside > 0.0


def test_forces_that_are_not_found_are_counted():
    """A spring so steep that numbers do not resolve it."""
    start = ball(z=0.05, velocity=(0, 0, -1.0), compliance=spring(1.0, 1e15, 1.0))
    simulator = simulated(h=1e-5, body=start)
    simulator.step(n=10)
    assert simulator.status.unconverged_steps > 0


@pytest.mark.parametrize('is_pile', [False, True])
@pytest.mark.parametrize('rounds, unconverged', [(30, 0), (0, 1)])
def test_springs_that_are_off_their_curves_at_the_end_are_counted(
    is_pile, rounds, unconverged, monkeypatch
):
    """The linearized problem is solved with few contacts, and beyond the capacity of a matrix."""
    monkeypatch.setattr(
        'rbd_ros.simulation.scene.scene_assembly.MAX_ISLAND', 4 if is_pile else 128
    )
    for module in (island, matrix_free_islands):
        monkeypatch.setattr(module, 'MAX_ROUNDS', rounds)
    count = 4 if is_pile else 2
    soft = spring(1e6, 0.5)
    blocks = {f'b{k}': cube(z=0.099 + 0.198 * k, compliance=soft) for k in range(count)}
    with without_compiler(), np.errstate(all='ignore'):
        simulator = simulated(**blocks)
        simulator.step()
    assert len(simulator.contacts) == 4 * count
    assert simulator.status.unconverged_steps == unconverged
    assert worst_residual(simulator) < 1e-9
