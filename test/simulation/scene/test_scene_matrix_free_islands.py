# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Islands of many contacts among objects, solved without a matrix of all contacts.

They run in the interpreter, where a few steps take less time than compilation.
"""

import json

import numpy as np
import pytest
from support import fresh_python
from support.interpreted import without_compiler
from support.rigid_worlds import ball, cube, kinetic_energy, simulated, worst_residual

from rbd_ros.constraints.friction_space import NEWTON_STEPS, SWEEPS
from rbd_ros.constraints.solvers import friction_body_sweeps
from rbd_ros.constraints.solvers.friction_body_space import ITERATIONS, YIELDED
from rbd_ros.simulation.scene import matrix_free_islands

CODE = """
import json
import numpy as np
from rbd_ros import Simulator
from rbd_ros.constraints.solvers.friction_body_space import CONTACTS
from rbd_ros.simulation.scene import scene_step

wall = {'type': 'box', 'size': [0.02, 0.0401, 0.06]}
objects = {'floor': {'type': 'plane'}}
for k, (x, y) in enumerate([(1, 0), (-1, 0), (0, 1), (0, -1)]):
    objects[f'wall{k}'] = {
        **wall,
        'size': [0.02, 0.0401, 0.06] if x else [0.0201, 0.02, 0.06],
        'xyz': [0.02005 * x, 0.02005 * y, 0.03],
    }
objects['peg'] = {
    'type': 'box', 'size': [0.02, 0.02, 0.08], 'xyz': [0, 0, 0.04], 'static': False, 'mass': 0.25,
    'velocity': {'linear': [0.04, 0.02, 0.0]},
}
world = {'objects': objects, 'defaults': {'surface': {'friction': 0.0}}}
found = []
for threshold in (scene_step.MATRIX_FREE_THRESHOLD, 1000):
    scene_step.MATRIX_FREE_THRESHOLD = threshold
    simulator = Simulator(None, world=world)
    work = simulator.physics.fields.work.scene
    sizes = []
    for _ in range(6):
        simulator.step()
        sizes.append(int(work.body_space.sizes[CONTACTS]))
    found.append([
        sizes,
        simulator.object_velocity('peg').tolist(),
        simulator.object_pose('peg')[:3, 3].tolist(),
        [float(contact.depth) for contact in simulator.contacts],
        float(max(simulator.residuals[:3])),
    ])
print(json.dumps(found))
"""


def test_a_peg_hits_walls_without_contacts():
    swept, matrix = json.loads(fresh_python.run(CODE, RBD_ROS_COMPILER='off').stdout)
    sizes, velocity, position, depths, residual = swept
    # All contacts are in the problem, those that are open too.
    assert min(sizes) > 12
    assert abs(position[0] - 5e-5) < 1e-9 and abs(position[1] - 5e-5) < 1e-9
    assert max(abs(v) for v in velocity) < 1e-8 and max(depths) < 1e-9
    assert residual < 1e-12
    assert not any(matrix[0])
    assert max(abs(a - b) for a, b in zip(velocity, matrix[1])) < 1e-8
    assert max(abs(a - b) for a, b in zip(position, matrix[2])) < 1e-9


def test_steps_that_no_method_solves_are_counted(monkeypatch):
    """Residuals are those of the forces that are taken."""
    monkeypatch.setattr(friction_body_sweeps, 'newton_bodies', lambda *arguments: np.inf)
    stack = {
        f'b{k}': cube(z=0.1 + 0.2 * k, friction=0.3, velocity=(0.4 * k, 0.1, 0)) for k in range(4)
    }
    with without_compiler(), np.errstate(all='ignore'):
        simulator = simulated(**stack)
        simulator.step()
    assert len(simulator.contacts) > matrix_free_islands.MATRIX_FREE_THRESHOLD
    assert simulator.status.unconverged_steps == 1 and worst_residual(simulator) > 1e-8


def columns_hit_by_a_ball(**options):
    """Return a simulation of columns of cubes without gravity."""
    cubes = {
        f'c{x}{z}': cube(x=0.2 * x, z=0.1 + 0.2 * z, friction=0.6)
        for x in range(3)
        for z in range(4)
    }
    hit = ball(x=0.61, z=0.33, mass=5.0, velocity=(-6.0, 0.3, 0.2), friction=0.6)
    return simulated(gravity=(0, 0, 0), ball=hit, **options, **cubes)


def test_contacts_that_are_not_solved_rigid_yield_and_add_no_energy():
    simulator = columns_hit_by_a_ball()
    work, energy, yielded = simulator.physics.fields.work.scene, kinetic_energy(simulator), 0
    for _ in range(200):
        work.body_space.report[YIELDED] = 0.0
        simulator.step()
        yielded += work.body_space.report[YIELDED] > 0.0
        assert max([each.depth for each in simulator.contacts], default=0.0) < 1e-3
        assert kinetic_energy(simulator) <= energy * (1.0 + 1e-9)
        energy = kinetic_energy(simulator)
    assert yielded > 10 and simulator.status.unconverged_steps == 0


def test_heavy_bodies_do_not_sink_into_light_ones_of_a_heap():
    """Masses of 10 g to 100 kg: a compliance of light bodies would not carry heavy ones."""
    rng = np.random.default_rng(4)
    cubes = {
        f'c{k}': cube(
            *(0.22 * np.array([k % 3, k // 3 % 3]) + 0.02 * rng.normal(size=2)),
            0.2 + 0.26 * (k // 9),
            mass=10.0 ** (k % 5 - 2),
            friction=0.6,
        )
        for k in range(27)
    }
    simulator, depths = simulated(**cubes), []
    for k in range(1200):
        simulator.step()
        if k >= 800:
            depths.append(max(each.depth for each in simulator.contacts))
    assert np.median(depths) < 5e-4


@pytest.mark.parametrize('columns', [1, 3])
@pytest.mark.parametrize('iterations', [1, 4])
def test_few_iterations_bound_the_work_of_a_step_and_add_no_energy(columns, iterations):
    """Columns of cubes without gravity, hit by a ball: of few contacts, and of many."""
    cubes = {
        f'c{x}{z}': cube(x=0.2 * x, z=0.1 + 0.2 * z, friction=0.6)
        for x in range(columns)
        for z in range(3)
    }
    hit = ball(x=0.2 * columns + 0.01, z=0.33, mass=5.0, velocity=(-6.0, 0.3, 0.2), friction=0.6)
    runs = []
    for _ in range(2):
        simulator = simulated(gravity=(0, 0, 0), iterations=iterations, ball=hit, **cubes)
        work = simulator.physics.fields.work.scene
        energy, energies, most = kinetic_energy(simulator), [], 0.0
        for _ in range(150):
            simulator.step()
            energies.append(kinetic_energy(simulator))
            assert energies[-1] <= energy * (1.0 + 1e-9)
            energy = energies[-1]
            dense = work.space.report[NEWTON_STEPS] + work.space.report[SWEEPS]
            most = max(most, work.body_space.report[ITERATIONS], dense)
        assert most == iterations and simulator.status.unconverged_steps > 0
        runs.append(energies)
    assert runs[0] == runs[1]


@pytest.mark.parametrize('iterations', [0, -3, 1.5, np.nan, np.inf, 10**30])
def test_iterations_that_are_no_count_are_rejected(iterations):
    with pytest.raises(ValueError, match='solver_iterations must be a whole number from 1 to'):
        simulated(iterations=iterations)


def test_a_cube_of_a_gram_carries_one_of_a_ton_for_a_minute():
    """Rounding errors of gaps never cause a jerk: a millionth of the load moves it."""
    simulator = simulated(light=cube(z=0.1, mass=1e-3), heavy=cube(z=0.3, mass=1e3))
    simulator.step(n=100)
    before = {name: simulator.object_pose(name)[:3, 3] for name in ('light', 'heavy')}
    for _ in range(12):
        simulator.step(n=5000)
        for name, place in before.items():
            assert np.abs(simulator.object_pose(name)[:3, 3] - place).max() < 1e-8
    assert simulator.status.unconverged_steps == 0
