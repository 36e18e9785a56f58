# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""One algorithm, three ways to run it.

It is compiled for one state, compiled for several at once, or interpreted on floats.
"""

import subprocess
import sys

import numpy as np
import pytest
from support import example_robots, layout, random_trees
from support.errors import record, relative_error
from support.functions import ARGUMENTS, call, kernel, State

from rbd_ros import Robot

OPTIMISED = True  # these are the kernels that users call
# the promise of the project; measured: bits equal for both kernels, below 3e-15 for floats but in
# FD
TOLERANCE = 1e-12
N = 11  # not a multiple of any vector width

ROBOTS = {
    'ur5_robot': ('ur5_robot', False),
    'panda': ('panda', False),  # a mimic joint
    'kinova, floating': ('kinova', True),  # continuous joints
    'solo12, floating': ('solo12', True),
}


@pytest.fixture(scope='module', params=[*ROBOTS, 'random3', 'random5, floating'])
def robot_and_state(request):
    """Return the robot, its last link and random states."""
    if request.param in ROBOTS:
        name, floating_base = ROBOTS[request.param]
        source = example_robots.path(name)
    else:
        floating_base = 'floating' in request.param
        source = random_trees.mixed_tree(int(request.param[6]), plain_planar=False)
    robot = Robot.from_urdf(source, floating_base=floating_base)
    places = layout.read(source, floating_base)
    return robot, places.links[-1], State(robot, places, np.random.default_rng(5), N)


@pytest.mark.parametrize('name', ARGUMENTS)
def test_scalar_kernel_batch_kernel_and_plain_floats_agree(robot_and_state, name):
    robot, link, state = robot_and_state
    arrays = state.of(name)
    batch = call(robot, name, arrays, link)
    definition = kernel(robot, name, link).definition
    usual = [[value] for value in definition.numbers.values()]  # that are not given
    tolerance = TOLERANCE
    if (
        name == 'forward_dynamics'
    ):  # the solution of H a = b moves by cond(H) eps when H is rounded differently
        tolerance = max(
            TOLERANCE, np.finfo(float).eps * max(map(np.linalg.cond, robot.mass_matrix(state.q)))
        )
    for k in range(N):
        row = [array[k] for array in arrays]
        single = call(robot, name, row, link)
        outputs = definition.evaluate(*(x.tolist() for x in row), *usual)
        flat = [x for values in outputs for x in values]
        plain = np.array(flat, dtype=float).reshape(single.shape)
        for way, other in (('single', single), ('plain floats', plain)):
            error = relative_error(batch[k], other)
            record(f'batch - {way}', name, repr(robot), error)
            assert error < tolerance, f'{name}: batch and {way} differ by {error:.1e}'


OFF = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from rbd_ros import Robot
from support.functions import ARGUMENTS, call
data = dict(np.load(sys.argv[3]))
robot = Robot.from_urdf(sys.argv[2])
link = sys.argv[5]
out = {f: call(robot, f, [data[x] for x in letters], link) for f, letters in ARGUMENTS.items()}
out['single'] = robot.inverse_dynamics(data['q'][0], data['v'][0], data['a'][0])
np.savez(sys.argv[4], **out)
"""


def test_everything_works_without_the_compiler_with_one_notice(robot_paths, tmp_path):
    path = robot_paths['panda']
    robot, places = Robot.from_urdf(path), layout.read(path)
    state, link = State(robot, places, np.random.default_rng(5), 3), places.links[-1]
    np.savez(tmp_path / 'in.npz', **vars(state))
    environment = {**_environment(), 'RBD_ROS_COMPILER': 'off'}
    done = subprocess.run(
        [
            sys.executable,
            '-c',
            OFF,
            str(example_robots.TEST_FOLDER),
            str(path),
            str(tmp_path / 'in.npz'),
            str(tmp_path / 'out.npz'),
            link,
        ],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    notices = [line for line in done.stderr.splitlines() if 'RBD_ROS_COMPILER' in line]
    assert len(notices) == 1, done.stderr
    plain = np.load(tmp_path / 'out.npz')
    for name in ARGUMENTS:
        error = relative_error(plain[name], call(robot, name, state.of(name), link))
        assert error < TOLERANCE, f'{name}: {error:.1e}'
    assert relative_error(plain['single'], plain['inverse_dynamics'][0]) < TOLERANCE


def _environment():
    import os
    from pathlib import Path

    import rbd_ros

    package = str(Path(rbd_ros.__file__).parents[1])
    return {
        **os.environ,
        'PYTHONPATH': os.pathsep.join([package, os.environ.get('PYTHONPATH', '')]),
    }


FREE = """
import gc, sys
import numpy as np
from rbd_ros import Robot
for _ in range(3):
    robot = Robot.from_urdf(sys.argv[1])
    q = np.zeros((100, robot.nv))
    robot.inverse_dynamics(q, q, q)
    robot.mass_matrix(q[0])
    bound = robot.inverse_dynamics
    del robot
    gc.collect()
    assert bound(q[0], q[0], q[0]).shape == q[0].shape  # a function outlives its robot
    del bound
    gc.collect()
print('alive')
"""


def test_a_robot_can_be_freed(robot_paths):
    done = subprocess.run(
        [sys.executable, '-c', FREE, str(robot_paths['ur5_robot'])],
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and 'alive' in done.stdout, (
        f'exit code {done.returncode}: {done.stderr}'
    )
