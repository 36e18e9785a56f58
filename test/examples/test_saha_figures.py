# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Scripts for the figures of Saha's paper run headless, and show the golden numbers."""

import importlib
import os
from pathlib import Path
import subprocess
import sys

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support.fresh_python import python_path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / 'examples'
SCRIPTS = ('saha_planar_arm', 'saha_stanford_arm')


@pytest.fixture
def example(monkeypatch):
    """Yield the modules of the folder as a script finds them."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield importlib.import_module
    for name in ('saha', *SCRIPTS):
        sys.modules.pop(name, None)


@pytest.mark.seed('DN14', 'DN15', 'DN16')
@pytest.mark.parametrize('script', SCRIPTS)
def test_script_draws_its_figures_without_a_display(script, tmp_path):
    environment = {k: v for k, v in os.environ.items() if k not in ('DISPLAY', 'MPLBACKEND')}
    environment['PYTHONPATH'] = python_path()
    command = [sys.executable, str(EXAMPLES / f'{script}.py'), '--folder', str(tmp_path)]
    subprocess.run(command, check=True, env=environment, cwd=tmp_path)
    pictures = sorted(tmp_path.glob('*.png'))
    assert len(pictures) == 2
    for picture in pictures:
        content = picture.read_bytes()
        assert content[:8] == b'\x89PNG\r\n\x1a\n' and len(content) > 10_000


@pytest.mark.parametrize('script', SCRIPTS)
def test_inferred_values_are_marked_on_the_figures(script, example, tmp_path, monkeypatch):
    module = example(script)
    notes = []
    monkeypatch.setattr(module, 'draw', lambda path, title, note, *rest: notes.append(note))
    module.main(['--folder', str(tmp_path)])
    assert len(notes) == 2 and all('inferred' in note for note in notes)
    assert 'nferred' in module.__doc__


@pytest.mark.seed('DN14', kind='full')
def test_planar_arm_shows_the_golden_motion(example):
    """Torques within the printed axis of -2 to 5 N m; the fall within -4 rad, downwards first."""
    saha = example('saha')
    robot = saha.planar_arm()
    start, change = np.zeros(3), np.full(3, np.pi)
    times = np.array([0.0, 2.5, 5.0, 7.5, 10.0])
    expected = [
        [4.34583, 1.54998, 0.32373],
        [3.982914426, 1.274541632, 0.221226314],
        [-1.286948067, -1.227730441, 0.013027878],
        [-1.869508481, 0.818789239, -0.213141935],
        [-1.89333, 0.90252, -0.32373],
    ]
    tau = saha.inverse_dynamics_along(robot, start, change, times)
    assert_allclose(tau, expected, atol=6e-10)  # given to 9 decimals
    tau = saha.inverse_dynamics_along(robot, start, change, np.linspace(0, 10, 2001))
    assert -2.0 < tau.min() and tau.max() < 5.0
    accelerations = robot.denoc.forward_dynamics(start, start, start)
    assert_allclose(accelerations, [-42.478708, 57.968182, -21.890083], atol=6e-7)
    fall = saha.free_fall(robot, start, np.linspace(0.0, 0.75, 76))
    assert fall.q[1, 0] < 0.0 and fall.q[:, 0].min() > -4.0
    assert fall.q[-1, 0] == pytest.approx(-3.203948836, abs=1e-6)


READINGS = {
    'A': [
        [0, 13.3416, 0, 0, 0, 0],
        [0.104302575, 13.822715828, -2.786294032, 0.000327195, 0.000046907, 0.000268388],
        [-0.005708589, 15.753785400, -15.574391897, 0.000040028, -0.000098099, -0.000069797],
        [-0.099836976, 16.732867274, -27.518353676, -0.000210424, 0.000031985, -0.000217470],
        [0, 16.736547146, -29.9205, 0, 0, 0],
    ],
    'B': [
        [0, 13.3416, 0, 0, 0, 0],
        [0.099906624, 13.916409330, 5.731632985, 0.000353951, 0.000211685, 0.000287942],
        [-0.054208677, 14.187122308, 29.792688623, 0.000127049, 0.000044210, 0.000000259],
        [-0.056302521, 10.807692024, 48.657701609, -0.000385637, -0.000128576, -0.000422749],
        [0, 9.662850, 51.823826188, 0, 0, 0],
    ],
}


@pytest.mark.seed('DN15', kind='full')
@pytest.mark.parametrize('reading', READINGS)
def test_stanford_arm_shows_the_golden_motion(example, reading):
    saha, script = example('saha'), example('saha_stanford_arm')
    robot = saha.stanford_arm()
    times = np.array([0.0, 2.5, 5.0, 7.5, 10.0])
    change = getattr(script, f'CHANGE_{reading}')
    tau = saha.inverse_dynamics_along(robot, saha.STANFORD_START, change, times)
    assert_allclose(tau, READINGS[reading], atol=6e-10)
    fall = saha.free_fall(robot, saha.STANFORD_START, np.array([0.0, 0.5, 1.0]), 1e-11)
    assert_allclose(np.rad2deg(fall.q[1:, 1]), [32.474, 4.639], atol=6e-4)
    assert_allclose(fall.q[1:, 2], [0.348018, 2.999662], atol=6e-7)
    assert_allclose(fall.v[1:, 2], [2.545531, 7.894981], atol=6e-7)


@pytest.mark.seed('DN16')
def test_a_freely_falling_arm_keeps_its_energy(example):
    saha = example('saha')
    for robot, start in (
        (saha.planar_arm(), np.zeros(3)),
        (saha.stanford_arm(), saha.STANFORD_START),
    ):
        fall = saha.free_fall(robot, start, np.linspace(0.0, 1.0, 11))
        energy = [robot.energy(q, v).total for q, v in zip(fall.q, fall.v)]
        assert np.ptp(energy) < 1e-6


@pytest.mark.seed('DN16', kind='full')
def test_inverse_dynamics_undoes_the_simulation(example):
    """RIDIM finds no forces in what RFDSIM says of a free fall, by differences of its states."""
    saha = example('saha')
    robot = saha.stanford_arm()
    h = 1e-4
    fall = saha.free_fall(
        robot, saha.STANFORD_START, np.array([0.0, 0.4 - h, 0.4, 0.4 + h]), 1e-12
    )
    a = (fall.v[3] - fall.v[1]) / (2.0 * h)
    tau = robot.denoc.inverse_dynamics(fall.q[2], fall.v[2], a)
    assert_allclose(tau, 0.0, atol=1e-5)
