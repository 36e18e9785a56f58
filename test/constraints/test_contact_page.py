# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Pages on contact: their example runs, and their statements on friction hold."""

from pathlib import Path
import re

import numpy as np
import pytest
from support.simulated_robots import at, ball, body, collision

from rbd_ros import Simulator
from rbd_ros.contact import HalfSpace

DOCS = Path(__file__).resolve().parents[2] / 'docs'


def test_the_example_runs():
    page = (DOCS / 'contact_library.md').read_text('utf-8')
    (example,) = re.findall(r'^```python\n(.*?)^```', page, re.DOTALL | re.M)
    names = {}
    exec(compile(example, 'contact_library.md', 'exec'), names)
    assert len(names['points']) == 4
    assert names['solution'].force.sum() == pytest.approx(3 * 9.81)
    assert f'{names["solution"].force.sum():.2f} N in total' in page
    assert names['solution'].persists.all() and np.abs(names['a']).max() < 1e-12


@pytest.mark.seed('CN18', kind='full')
def test_every_effect_of_friction_has_its_row():
    page = (DOCS / 'contact.md').read_text('utf-8')
    table = page.partition('## Friction effects')[2]
    table = table.partition('\n## ')[0]
    rows = [line for line in table.splitlines() if line.startswith('| ')][1:]
    effects = ('tangential friction', 'torsional friction', 'rolling friction')
    effects += ('tangential restitution', 'torsional restitution')
    assert [row for row in rows if not any(row[2:].startswith(x) for x in effects)] == []
    assert len(rows) == len(effects)


def resting_on(robot, height, **velocity):
    simulator = Simulator(robot, 1e-3, 'semi_implicit', HalfSpace())
    simulator.reset(q=at((0.0, 0.0, height)), v=velocity['v'])
    simulator.step(n=velocity.get('steps', 500))
    return simulator


@pytest.mark.seed('CN18', kind='full')
def test_a_ball_that_spins_or_rolls_does_so_forever():
    """Neither torsional nor rolling friction at a single point."""
    spinning = resting_on(ball(share=0.4), 0.1 - 1e-4, v=[0, 0, 20.0, 0, 0, 0])
    assert spinning.status.contacts == 1
    before = spinning.v[2]
    assert before == pytest.approx(20.0, rel=1e-9)
    rolling = resting_on(ball(share=0.4), 0.1 - 1e-4, v=[0, 20.0, 0, 2.0, 0, 0], steps=1500)
    first = rolling.v.copy()
    rolling.step(n=500)
    speed = np.linalg.norm(rolling.robot.momentum(rolling.q, rolling.v)[3:])
    assert np.linalg.norm(rolling.v[:3]) == pytest.approx(np.linalg.norm(first[:3]), rel=1e-6)
    assert speed > 1.0


@pytest.mark.seed('CN18', kind='full')
def test_a_face_that_spins_is_stopped_by_its_corners():
    crate = body(4.0, (0.03, 0.03, 0.03), collision('box size="0.2 0.2 0.2"'))
    spinning = resting_on(crate, 0.1 - 1e-4, v=[0, 0, 5.0, 0, 0, 0], steps=1000)
    assert np.abs(spinning.v).max() < 1e-9


@pytest.mark.seed('CN18', kind='full')
@pytest.mark.parametrize('spin', [30.0, -30.0])
def test_a_dropped_ball_does_not_return_its_spin(spin):
    """Tangential friction takes it down to rolling and not beyond, but for what springs return."""
    simulator = Simulator(ball(share=0.4), 1e-3, 'semi_implicit', HalfSpace())
    simulator.reset(q=at((0.0, 0.0, 0.3)), v=[0, spin, 0, 0, 0, 0])
    simulator.step(n=3000)
    rest = simulator.v[1] / spin
    assert rest == pytest.approx(2.0 / 7.0, abs=0.05)
