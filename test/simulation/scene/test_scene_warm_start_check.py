# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Previous forces, checked without a matrix: all numbers equal those of the matrix.

The interpreter takes the steps; each of them obeys the laws, see support/scene_laws.py.
"""

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.interpreted import without_compiler
from support.rigid_worlds import ball, cube, simulated
from support.scene_laws import Step
from support.simulated_robots import collision, joint, link, robot as chain

from rbd_ros.constraints.friction_space import (
    refresh,
    residual,
    scale_space,
    size_of,
)
from rbd_ros.simulation.scene import island
from rbd_ros.simulation.scene.compliance import add_compliance
from rbd_ros.simulation.scene.contact_problem import assemble_matrix, enter_problem
from rbd_ros.simulation.scene.warm_start import begin_contact, begin_row
from rbd_ros.simulation.scene.warm_start_check import reuse_forces

FIELDS = ('b', 'x', 'u', 'scale', 'low', 'high')


@pytest.fixture(autouse=True, scope='module')
def by_the_interpreter():
    with without_compiler(), np.errstate(all='ignore'):
        yield


@pytest.fixture
def always(monkeypatch):
    """Attempt new contacts too, and after changes."""
    monkeypatch.setattr(island, 'all_steady', lambda *rest: True)


@pytest.fixture
def compared(monkeypatch):
    """Compare entries without a matrix to those with one; record whether forces were kept."""
    found = []

    def entered(space):
        size, rows = size_of(space), space.sizes[1]
        ends = dict.fromkeys(('b', 'x', 'u', 'scale'), size)
        ends.update(low=rows, high=rows, sizes=3)
        return {name: getattr(space, name)[:end].copy() for name, end in ends.items()}

    def keep(model, contact_state, scene, n, m, h):
        space, contacts = scene.space, contact_state.contacts
        for name in FIELDS:
            getattr(space, name)[:] = np.nan  # nothing is left over
        space.report[:] = 0.0
        best = space.best.copy()
        kept, unit = reuse_forces(model, contact_state, scene, n, m, h)
        assert np.array_equal(space.best, best, equal_nan=True)  # unused, and not written to
        ours = entered(space)
        assemble_matrix(model, contacts, n, m, scene)
        enter_problem(model.scene, contacts, n, m, scene)
        add_compliance(model.scene, contacts, n, h, scene)
        for a in range(n):
            begin_contact(space, scene.friction[a], a, contact_state.impulse[scene.listed[a]])
        for k in range(m):
            begin_row(space, scene, n, k)
        assert unit == pytest.approx(scale_space(space, scene.friction), rel=1e-12)
        refresh(space)
        theirs = entered(space)
        for name, expected in theirs.items():
            rounding = 1e-12 * (1.0 + np.abs(theirs['x']).max(initial=0.0))
            assert_allclose(ours[name], expected, rtol=1e-12, atol=rounding, err_msg=name)
        worst = residual(space)
        if abs(worst - model.scene.tolerance) > 1e-12:
            assert kept == (worst <= model.scene.tolerance)
        found.append(kept)
        return reuse_forces(model, contact_state, scene, n, m, h)

    monkeypatch.setattr(island, 'reuse_forces', keep)
    return found


def crawler():
    """Return a trunk on rails with two legs, which end in balls.

    Its joints have friction and limits.
    """
    inside = '<limit lower="-2" upper="2" effort="100" velocity="50"/>'
    held = '<dynamics friction="0.2" damping="0.1"/>'
    inertia = (0.02, 0.03, 0.04)
    foot = collision('sphere radius="0.05"')
    return chain(
        link('world'),
        link('rail', 0.3, inertia),
        link('trunk', 2.0, inertia),
        link('left', 0.5, inertia, shape=foot),
        link('right', 0.5, inertia, shape=foot),
        joint('x', 'world', 'rail', 'prismatic', (1, 0, 0), inside=inside + held),
        joint('z', 'rail', 'trunk', 'prismatic', (0, 0, 1), inside=inside),
        joint('l', 'trunk', 'left', axis=(0, 1, 0.2), inside=inside + held),
        joint('r', 'trunk', 'right', axis=(0.3, 1, 0), inside=inside + held),
    )


def bodies(kind):
    """Return a simulation of a world, and the robot's initial joint positions."""
    pairs = [{'links': ['floor', 'thing'], 'friction': [0.3, 0.5], 'direction': [1, 0, 0]}]
    soft = {'compliance': {'stiffness': 1e4, 'damping': 30.0}}
    if kind == 'rests':
        return simulated(gravity=(1.0, -0.5, -9.81), thing=cube(friction=0.4)), None
    if kind == 'slides':
        return simulated(pairs=pairs, thing=cube(velocity=(0.5, 0.0, 0.0))), None
    if kind == 'stacked':
        return simulated(thing=cube(mass=2.0), upper=cube(z=0.3, x=0.03, friction=0.2)), None
    if kind == 'soft':
        return simulated(thing=cube(z=0.0997, **soft), near=ball(x=1.0, z=0.1004)), None
    robot = {'links': ['floor', 'robot'], 'friction': 0.5}
    if kind == 'robot':
        return simulated(pairs=[robot], robot=crawler()), [0.0, 0.05, 0.0, 0.0]
    if kind == 'robot on a cube':
        things = {'thing': cube(z=-0.1, mass=3.0), 'under': {'type': 'plane', 'xyz': [0, 0, -0.2]}}
        return simulated(False, robot=crawler(), **things), [0.0, 0.05, 0.0, 0.0]
    assert kind == 'robot at its limits'
    return simulated(pairs=[robot], robot=crawler()), [2.0, 0.05, -2.0, 2.0]


@pytest.mark.parametrize(
    'kind',
    ['rests', 'slides', 'stacked', 'soft', 'robot', 'robot on a cube', 'robot at its limits'],
)
def test_entered_impulses_agree_with_the_matrix(kind, always, compared):
    simulator, start = bodies(kind)
    tau = None
    if start is not None:
        simulator.reset(start, [0.0] * 4)
        tau = np.array([2.0 if start[0] > 0.0 else 0.3, -3.0, 0.05, -0.05])
    for _ in range(12):
        Step(simulator, tau).check()
    assert True in compared and False in compared


def test_forces_that_are_a_little_off_are_not_kept(compared):
    simulator, _ = bodies('rests')
    simulator.step(n=5)
    assert compared[-1]
    simulator.physics.contact_state.old_impulse[0] *= 1.0 + 1e-7
    simulator.physics.contact_state.impulse[0] *= 1.0 + 1e-7
    simulator.step()
    assert not compared[-1]


@pytest.mark.parametrize('kind', ['rests', 'robot'])
def test_overlaps_are_corrected_whether_forces_are_kept_or_not(kind, monkeypatch):
    """There the matrix is needed, and made."""
    ends = []
    for keeps in (True, False):
        simulator, start = bodies(kind)
        if start is not None:
            simulator.reset(start, [0.0] * 4)
        for _ in range(8):
            simulator.step()
        if keeps:
            assert simulator.physics.fields.work.scene.has_matrix[0] == 0
        else:
            monkeypatch.setattr(island, 'reuse_forces', lambda *rest: (False, 1.0))
        if start is None:
            simulator.physics.objects.position[0, 2] -= 1e-5
        else:
            q = simulator.q.copy()
            q[1] -= 1e-5
            simulator.physics.state.q[:] = q
        simulator.step()
        ends.append(simulator.q if start is not None else simulator.object_pose('thing'))
    assert_allclose(ends[0], ends[1], rtol=0.0, atol=1e-13)


def test_contacts_that_needed_newton_steps_are_solved_by_the_matrix_once_more(compared):
    """Forces that change by much do so again; new contacts have no forces to be tried."""
    simulator, _ = bodies('rests')
    contact_state, attempts = simulator.physics.contact_state, len(compared)
    simulator.step()
    assert contact_state.counts[0] == 4 and len(compared) == attempts
    simulator.step(n=4)
    assert compared[-1] and np.array_equal(contact_state.steady[:4], [1, 1, 1, 1])
    attempts = len(compared)
    contact_state.steady[2] = 0
    simulator.step()
    assert len(compared) == attempts and np.array_equal(contact_state.steady[:4], [1, 1, 1, 1])
    simulator.step()
    assert len(compared) == attempts + 1 and compared[-1]
    contact_state.old_impulse[:4] = contact_state.impulse[:4] = 0.0
    simulator.step()
    assert np.array_equal(contact_state.steady[:4], [0, 0, 0, 0])
