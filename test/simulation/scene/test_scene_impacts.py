# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Impacts in simulated worlds, by Newton's law of restitution and by Poisson's."""

import numpy as np
import pytest
from support.interpreted import without_compiler
from support.rigid_worlds import ball, cube, kinetic_energy, simulated
from support.simulated_robots import turntable

from rbd_ros.simulation.scene import impacts, matrix_free_islands, restitution
from rbd_ros.simulation.scene.impacts import MAX_IMPACTS
from rbd_ros.simulation.scene.matrix_free_islands import MATRIX_FREE_THRESHOLD

LAWS = ['newton', 'poisson']


def along_x(simulator):
    return np.array([simulator.object_velocity(name)[3] for name in simulator.objects])


@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('e', [0.0, 0.3, 1.0])
def test_a_ball_comes_back_with_the_coefficient_of_restitution(e, law):
    start = ball(z=0.1005, velocity=(0, 0, -2.0), friction=0.0, restitution=e)
    simulator = simulated(law=law, gravity=(0, 0, 0), ball=start)
    simulator.step(n=3)
    assert abs(simulator.object_velocity('ball')[5] - 2.0 * e) < 1e-12


@pytest.mark.parametrize('law', LAWS)
def test_the_last_ball_of_newtons_cradle_leaves(law):
    """Two of five arrive, two leave."""
    balls = {
        f'ball{k}': ball(
            0.2 * k - (0.1 if k < 2 else 0.0), z=0.0, friction=0.0, restitution=1.0,
            velocity=(1.0 if k < 2 else 0.0, 0, 0),
        )
        for k in range(5)
    }  # fmt: skip
    simulator = simulated(law=law, floor=False, gravity=(0, 0, 0), **balls)
    simulator.step(n=300)
    assert np.abs(along_x(simulator) - [0, 0, 0, 1, 1]).max() < 1e-12
    assert simulator.status.unconverged_steps == 0


@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('factor, bounces', [(0.5, False), (1.9, False), (2.1, True)])
def test_impacts_slower_than_two_steps_of_gravity_do_not_bounce(factor, bounces, law):
    """The magnitude of gravity counts, here 13, in any direction."""
    h, e = 1e-3, 0.8
    start = ball(velocity=(0, 0, -factor * h * 13.0), friction=0.0, restitution=e)
    simulator = simulated(law=law, h=h, gravity=(3.0, -4.0, -12.0), body=start)
    simulator.step()
    # Gravity acts after the impact.
    expected = h * (e * factor * 13.0 - 12.0) if bounces else 0.0
    assert abs(simulator.object_velocity('body')[5] - expected) < 1e-12


@pytest.mark.parametrize('law', LAWS)
def test_an_impact_runs_through_a_long_row_of_balls_in_one_step(law):
    """Through more balls than there are rounds for a short one."""
    count = MAX_IMPACTS + 20
    row = {
        f'ball{k}': ball(
            0.2 * k, z=0.0, friction=0.0, restitution=1.0, velocity=(float(k == 0), 0, 0)
        )
        for k in range(count)
    }
    simulator = simulated(law=law, floor=False, gravity=(0, 0, 0), **row)
    simulator.step()
    speeds = along_x(simulator)
    assert abs(speeds[-1] - 1.0) < 1e-12 and np.abs(speeds[:-1]).max() < 1e-12
    assert simulator.status.unconverged_steps == 0


@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('way', ['solve_rebound', 'solve_matrix_free_impacts', 'expand', 'rounds'])
def test_an_impact_that_is_not_solved_is_counted(law, way, monkeypatch):
    if way == {'newton': 'expand', 'poisson': 'solve_matrix_free_impacts'}[law]:
        pytest.skip('the other law goes this way')
    with without_compiler():
        # Many contacts, or few; each has the same impact as the others.
        count = MATRIX_FREE_THRESHOLD + 1 if way == 'solve_matrix_free_impacts' else 2
        row = {
            f'{name}{k}': ball(0.5 * k, z=z, friction=0.3, restitution=0.5, velocity=(0.1, 0, v))
            for k in range(count)
            for name, z, v in (('low', 0.0, 1.0), ('high', 0.2, -1.0))
        }
        simulator = simulated(law=law, floor=False, gravity=(0, 0, 0), **row)
        if way == 'rounds':
            monkeypatch.setattr(impacts, 'MAX_IMPACTS', 1)
            monkeypatch.setattr(impacts, 'IMPACTS_OF_CONTACT', 0)
        else:
            module = {
                'solve_matrix_free_impacts': matrix_free_islands,
                'solve_rebound': impacts,
                'expand': restitution,
            }[way]
            swept = module is matrix_free_islands
            solver = 'solve_body_space' if swept else 'solve_friction_space'
            solve = getattr(module, solver)
            monkeypatch.setattr(module, solver, lambda *arguments: solve(*arguments) and False)
        simulator.step()
        assert simulator.status.unconverged_steps == 1
        assert abs(simulator.object_velocity('high0')[5] - 0.5) < 1e-9  # the best there was


def three_balls(law, first, second):
    """Return two balls that hit one between them at the same instant, and what returns where."""
    balls = {
        name: ball(x, z=0.0, velocity=(v, 0, 0), friction=0.0)
        for name, x, v in (('a', -0.2001, 1.0), ('b', 0.0, 0.0), ('c', 0.2001, -1.0))
    }
    pairs = [
        {'links': ['a', 'b'], 'friction': 0.0, 'restitution': first},
        {'links': ['b', 'c'], 'friction': 0.0, 'restitution': second},
    ]
    simulator = simulated(law=law, floor=False, gravity=(0, 0, 0), pairs=pairs, **balls)
    simulator.step()
    return along_x(simulator)


def test_laws_differ_where_coefficients_do():
    """All stop under an impulse of one each.

    Newton: both gaps grow by e times the speed of approach. Poisson: the impulses of expansion are
    e times that; then a and b touch again.
    """
    for law in LAWS:
        assert np.abs(three_balls(law, 0.5, 0.5) - [-0.5, 0.0, 0.5]).max() < 1e-12
    # b - a = 0.2, c - b = 0.8, and the mean is zero.
    assert np.abs(three_balls('newton', 0.2, 0.8) - [-0.4, -0.2, 0.6]).max() < 1e-12
    # a: -0.2, b: 0.2 - 0.8, c: 0.8; a and b approach at 0.4, stop, and part at 0.2 of that.
    again = 0.2 * (1.0 + 0.2)
    expected = [-0.2 - again, -0.6 + again, 0.8]
    assert np.abs(three_balls('poisson', 0.2, 0.8) - expected).max() < 1e-12


# -- a rod that strikes the floor with friction ---------------------------------------------------

LENGTH, RADIUS, MASS = 0.6, 0.01, 1.0


def rod(tilt, velocity, spin, mu, e, law):
    """Return the simulation of a rod that is about to touch the floor with its lower end."""
    height = LENGTH / 2 * np.cos(tilt) + RADIUS + 1e-4
    start = {
        'type': 'capsule',
        'length': LENGTH,
        'radius': RADIUS,
        'xyz': [0, 0, height],
        'rpy': [0, tilt, 0],
        'static': False,
        'mass': MASS,
        'velocity': {'linear': [velocity[0], 0, velocity[1]], 'angular': [0, spin, 0]},
    }
    pairs = [{'links': ['rod', 'floor'], 'friction': mu, 'restitution': e}]
    return simulated(law=law, h=1e-4, gravity=(0, 0, 0), pairs=pairs, rod=start)


def by_hand(simulator, tilt, velocity, spin, mu, e, law):
    """Return the velocity and spin after the impact, in the plane.

    y is along the floor, x along the normal.
    """
    inertia = simulator.physics.model.scene.bodies.inertia[0, 1, 1]
    # From the center to the contact, along the floor and up.
    s, t = -LENGTH / 2 * np.sin(tilt), -LENGTH / 2 * np.cos(tilt) - RADIUS
    # Velocity of the contact, normal first, by that of the center and the spin about y.
    J = np.array([[0.0, 1.0, -s], [1.0, 0.0, t]])
    H = np.diag([MASS, MASS, inertia])
    G, u = J @ np.linalg.solve(H, J.T), J @ [*velocity, spin]
    first = impact(G, u, mu, e * u[0] if law == 'newton' else 0.0)
    total = first.copy()
    if law == 'poisson':
        after, normal = u + G @ first, e * first[0]
        friction = -(after[1] + G[1, 0] * normal) / G[1, 1]
        total += (normal, np.clip(friction, -mu * normal, mu * normal))
    start = np.array([*velocity, spin])
    end = start + np.linalg.solve(H, J.T @ total)
    return end, 0.5 * end @ H @ end - 0.5 * start @ H @ start


def impact(G, u, mu, rebound):
    """Return the impulse after which the contact separates by -rebound.

    It sticks, or slides to a side.
    """
    target = u + (rebound, 0.0)
    stuck = -np.linalg.solve(G, target)
    if abs(stuck[1]) <= mu * stuck[0]:
        return stuck
    found = []
    for side in (-1.0, 1.0):
        way = np.array([1.0, -side * mu])
        impulse = way * (-target[0] / (G[0] @ way))
        if impulse[0] >= 0.0 and side * (u + G @ impulse)[1] >= 0.0:
            found.append(impulse)
    assert len(found) == 1
    return found[0]


STROKES = [
    (0.3, (0.0, -1.0), 0.0, 0.5, 0.8),
    (0.7, (0.5, -1.0), 1.0, 0.2, 0.5),
    (0.5, (-0.8, -1.0), 0.0, 0.3, 0.9),
    (1.0, (0.3, -2.0), -2.0, 0.9, 0.7),
    (-0.6, (1.5, -1.0), 0.0, 0.6, 1.0),
]


@pytest.mark.parametrize('law', LAWS)
@pytest.mark.parametrize('tilt, velocity, spin, mu, e', STROKES)
def test_a_rod_that_strikes_with_friction_moves_as_found_by_hand(tilt, velocity, spin, mu, e, law):
    simulator = rod(tilt, velocity, spin, mu, e, law)
    before = kinetic_energy(simulator)
    expected, change = by_hand(simulator, tilt, velocity, spin, mu, e, law)
    simulator.step(n=3)
    found = simulator.object_velocity('rod')
    assert np.abs(found[[3, 5, 1]] - expected).max() < 2e-3 * np.abs(expected).max()
    assert abs(kinetic_energy(simulator) - before - change) < 2e-3 * before


def test_a_rod_gains_energy_by_newtons_law_and_never_by_poissons():
    """Where friction turns the sliding round, Newton's law is known to create energy (Kane)."""
    gains = dict.fromkeys(LAWS, 0.0)
    stroke = (0.5, (-0.45, -1.0), -3.0, 0.9, 1.0)
    for law in LAWS:
        simulator = rod(*stroke, law)
        before = kinetic_energy(simulator)
        simulator.step(n=3)
        gains[law] = kinetic_energy(simulator) / before - 1.0
    assert gains['newton'] > 0.01
    assert gains['poisson'] < 1e-12


# -- many at once ---------------------------------------------------------------------------------


@pytest.mark.parametrize('seed', [0, 1])
def test_by_poissons_law_energy_never_grows(seed):
    """Frictional bodies that collide in many places at once, some with moments."""
    rng = np.random.default_rng(seed)
    objects = {}
    for k in range(9):
        place = rng.uniform(-0.4, 0.4, 3)
        further = {'velocity': (-4 * place).tolist(), 'spin': rng.uniform(-9, 9, 3).tolist()}
        further.update(friction=[0.6, 0.2][k % 2], restitution=0.9, mass=rng.uniform(0.5, 3.0))
        if seed == 1:
            further.update(torsional=0.02, rolling=0.01)
        make, size = (cube, {'size': 0.15}) if k % 3 else (ball, {'radius': 0.08})
        objects[f'body{k}'] = make(*place.tolist(), **size, **further)
    simulator = simulated(law='poisson', floor=False, gravity=(0, 0, 0), **objects)
    state, mass = simulator.physics.objects, simulator.physics.model.scene.bodies.mass
    energy, momentum, falls = kinetic_energy(simulator), mass @ state.velocity, 0
    for _ in range(200):
        simulator.step()
        now = kinetic_energy(simulator)
        assert now <= energy + 1e-11
        falls += now < energy - 1e-6
        energy = now
    assert falls > 5
    assert np.abs(mass @ state.velocity - momentum).max() < 1e-12


def test_a_flat_fall_of_a_box_returns_it_as_it_was():
    """Four corners at once share the impact; sideways it stays at rest."""
    start = cube(z=0.1004, velocity=(0, 0, -1.0), friction=0.5, restitution=0.6)
    simulator = simulated(law='poisson', gravity=(0, 0, 0), cube=start)
    simulator.step(n=2)
    assert np.abs(simulator.object_velocity('cube') - (0, 0, 0, 0, 0, 0.6)).max() < 1e-9


def test_more_impacts_at_once_than_a_matrix_of_a_pile_is_made_of():
    """Twelve boxes at once, 48 contacts, are as one."""
    start = {'z': 0.1004, 'velocity': (0.2, 0, -1.0), 'friction': 0.1, 'restitution': 0.5}
    boxes = {f'cube{k}': cube(x=0.5 * k, **start) for k in range(12)}
    simulator = simulated(law='poisson', gravity=(0, 0, 0), **boxes)
    simulator.step()
    alone = simulated(law='poisson', gravity=(0, 0, 0), cube=cube(**start))
    alone.step()
    assert abs(alone.object_velocity('cube')[3] - 0.2) > 0.01
    for name in boxes:
        found = simulator.object_velocity(name)
        assert np.abs(found - alone.object_velocity('cube')).max() < 1e-9


def test_spin_is_taken_by_the_whole_normal_impulse():
    c, fall, w = 0.002, 1.0, 3.0
    start = ball(
        z=0.1005, velocity=(0, 0, -fall), spin=(0, 0, w), friction=0.0, restitution=0.5,
        torsional=c,
    )  # fmt: skip
    simulator = simulated(law='poisson', gravity=(0, 0, 0), ball=start)
    simulator.step()
    assert abs(simulator.object_velocity('ball')[2] - (w - c * 1.5 * fall / 0.004)) < 1e-9


@pytest.mark.parametrize('law', LAWS)
def test_impacts_are_reported_with_their_moments(law):
    """They are what changes the momenta."""
    c, fall, w, e = 0.002, 1.0, 30.0, 0.5
    start = ball(
        z=0.1005, velocity=(0, 0, -fall), spin=(0, 0, w), friction=0.0, restitution=e, torsional=c
    )
    simulator = simulated(law=law, gravity=(0, 0, 0), ball=start)
    simulator.step()
    contact_state = simulator.physics.contact_state
    impact, moment = contact_state.impact_impulse[0], contact_state.impact_moment[0]
    assert np.abs(impact - ((1 + e) * fall, 0, 0)).max() < 1e-12
    assert abs(abs(moment[0]) - c * (1 + e) * fall) < 1e-12 and not moment[1:].any()
    assert abs(simulator.object_velocity('ball')[2] - (w - abs(moment[0]) / 0.004)) < 1e-9


@pytest.mark.parametrize('law', LAWS)
def test_a_ball_that_bounces_and_grips_rolls_afterwards(law):
    """About the contact, only the moment c (1 + e) m v changes the angular momentum."""
    c, speed, inertia, arm = 0.005, 1.0, 0.004, 0.10025  # to the middle of the gap
    start = ball(z=0.1005, velocity=(speed, 0, -1.0), friction=0.9, restitution=0.5, rolling=c)
    pairs = [{'links': ['floor', 'ball'], 'friction': 0.9, 'restitution': 0.5, 'rolling': c}]
    simulator = simulated(law=law, gravity=(0, 0, 0), pairs=pairs, ball=start)
    simulator.step()
    found = simulator.object_velocity('ball')
    turning = (arm * speed - c * 1.5) / (inertia + arm**2)
    assert np.abs(found - (0, turning, 0, turning * arm, 0, 0.5)).max() < 1e-9


@pytest.mark.parametrize('axis, mu', [(0, 0.3), (1, 0.1)])
def test_friction_has_the_directions_of_the_pair_in_expansion_too(axis, mu):
    """The ball slides all the time, so that it loses mu times the whole normal impulse."""
    surface = {'friction': [0.3, 0.1], 'direction': [1, 0, 0], 'restitution': 0.5}
    pairs = [{'links': ['floor', 'ball'], **surface}]
    velocity = np.array([2.0, 0.0]) if axis == 0 else np.array([0.0, 2.0])
    start = ball(z=0.1005, velocity=(*velocity.tolist(), -1.0))
    simulator = simulated(law='poisson', gravity=(0, 0, 0), pairs=pairs, ball=start)
    simulator.step()
    expected = velocity * (1.0 - mu * 1.5 / 2.0)
    assert np.abs(simulator.object_velocity('ball')[3:5] - expected).max() < 1e-12


def test_the_law_stays_when_objects_come():
    start = {'velocity': (0.5, 0, -1.0), 'friction': 0.9, 'restitution': 0.5}
    simulator = simulated(law='poisson', gravity=(0, 0, 0), ball=ball(z=5.0))
    simulator.step()
    simulator.add_object('other', ball(z=0.1002, **start))
    simulator.step()
    alone = simulated(law='poisson', gravity=(0, 0, 0), other=ball(z=0.1002, **start))
    alone.step()
    assert simulator.physics.model.scene.poisson
    found = simulator.object_velocity('other')
    assert np.abs(found - alone.object_velocity('other')).max() < 1e-12


def test_laws_are_rejected_by_name():
    with pytest.raises(ValueError, match='newton, poisson'):
        simulated(law='stronge', ball=ball())
    from rbd_ros import Simulator

    with pytest.raises(ValueError, match='give a world'):
        Simulator(turntable(), restitution_model='poisson')
