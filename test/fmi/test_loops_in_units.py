# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""FMUs of robots with loops: closed at the start, and moving as the simulator."""

from pathlib import Path
import subprocess

import numpy as np
import pytest
from support import loop_mechanisms, outside
from support.four_bar_statics import holding_torque, positions
from test_fmu import (
    COMPILERS,
    efforts,
    outputs,
    Running,
    starting_at,
    STRICT,
    worst_difference,
)

from rbd_ros import Robot, Simulator
from rbd_ros.contact import HalfSpace
from rbd_ros.fmi import make_fmu
from rbd_ros.lookup.resources import resource_path

pytestmark = outside.needs('gcc or clang')


def four_bar():
    extension = resource_path('config', 'four_bar.yaml')
    return Robot.from_urdf(resource_path('urdf', 'four_bar.urdf'), extension=extension)


@pytest.fixture(scope='module')
def running(tmp_path_factory):
    """Return the robot and its FMU."""
    robot = four_bar()
    return robot, Running(tmp_path_factory.mktemp('four_bar'), make_fmu(robot))


@pytest.mark.parametrize('integrator', ['semi_implicit', 'rk4'])
def test_a_four_bar_moves_as_in_the_simulator(tmp_path, integrator):
    robot = four_bar()
    running = Running(tmp_path, make_fmu(robot, 1e-3, integrator))
    simulator = Simulator(robot, 1e-3, integrator)
    assert worst_difference(robot, running.instance(), simulator, 1500, 3.0) < 1e-9
    assert np.ptp(simulator.q) > 0.5 and np.abs(simulator.loop_errors).max() < 1e-9


def test_other_linkages_and_the_ground_do_not_disturb_them(tmp_path):
    for k, robot in enumerate([loop_mechanisms.four_bar(), loop_mechanisms.crank_slider()[0]]):
        folder = Path(tmp_path, str(k))
        folder.mkdir()
        ground = HalfSpace(normal=(0.0, 0.0, 1.0), offset=-5.0) if k else None
        running = Running(folder, make_fmu(robot, ground=ground))
        simulator = Simulator(robot, ground=ground)
        assert worst_difference(robot, running.instance(), simulator, 400, 1.0) < 1e-9


def test_the_motor_alone_holds_it_as_virtual_work_says(running):
    robot, fmu = running
    q = positions(0.9)
    made = starting_at(fmu, robot, q, np.zeros(3))
    made.setFloat64(efforts(robot), [holding_torque(0.9), 0.0, 0.0])
    for k in range(200):
        made.doStep(k * 1e-3, 1e-3)
    found = made.getFloat64(outputs(robot)[:6])
    np.testing.assert_allclose(found, [*q, 0.0, 0.0, 0.0], atol=1e-6)


def test_rounded_starts_are_closed_and_velocities_projected(running):
    robot, fmu = running
    q = np.round(positions(0.9), 4)
    made = starting_at(fmu, robot, q, [1.0, 0.0, 0.0])
    found = np.array(made.getFloat64(outputs(robot)[:6]))
    assert 1e-7 < np.abs(found[:3] - q).max() < 2e-4
    closure = robot.loops.closure(found[:3])
    assert np.abs(closure.residual).max() < 1e-10
    assert np.abs(closure.K @ found[3:]).max() < 1e-10 and np.abs(found[3:]).max() > 0.1
    # With the least kinetic energy of the change: what is taken away does no work on what stays
    change = found[3:] - [1.0, 0.0, 0.0]
    assert abs(found[3:] @ robot.mass_matrix(found[:3]) @ change) < 1e-10


def test_an_open_loop_at_the_start_is_rejected_by_name(running):
    robot, fmu = running
    fmu.messages.clear()
    with pytest.raises(Exception, match='fmi3ExitInitializationMode'):
        starting_at(fmu, robot, positions(0.9) + [0.0, 0.01, 0.0], np.zeros(3))
    assert any('leave this loop open: pin' in text for text in fmu.messages)


def test_the_sources_compile_without_warnings(tmp_path):
    for name, text in make_fmu(four_bar()).files.items():
        (tmp_path / Path(name).name).write_text(text, encoding='utf-8')
    sources = sorted(tmp_path.glob('*.c'))
    command = [COMPILERS[0], *STRICT, '-O1', '-shared', '-fPIC', '-o', tmp_path / 'it.so']
    subprocess.run([*command, *sources, '-lm'], check=True)
