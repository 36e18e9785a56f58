# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Without llvmlite, with an old one, or switched off: everything runs on floats, with a notice."""

import numpy as np
import pytest
from support import fresh_python, random_trees
from support.errors import relative_error

from rbd_ros import Robot

TEXT = random_trees.tree(
    5, bodies=4, types=('revolute', 'prismatic', 'planar', 'floating'), mimics=1
)

SIMPLE = random_trees.tree(3, bodies=2, types=('revolute', 'prismatic'))

BLOCK = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in ('llvmlite', 'numba'):
            raise ImportError(name + ' is blocked')
sys.meta_path.insert(0, Blocked())
"""
OLD = """
import llvmlite
llvmlite.__version__ = '0.36.0'
"""
ALL = """
import sys
import numpy as np
from rbd_ros import Robot
from rbd_ros.compiler import unavailable_reason
robot = Robot.from_urdf(sys.argv[1])
data = np.load(sys.argv[2])
q, v, tau = data['q'], data['v'], data['tau']
link = robot.link_names[-1]
results = {}
for k, s in (('one', (q[0], v[0], tau[0])), ('many', (q, v, tau))):
    q, v, tau = s
    kinematics = robot.forward_kinematics(q)
    results.update({k + name: value for name, value in {
        'inverse_dynamics': robot.inverse_dynamics(q, v, tau),
        'forced': robot.inverse_dynamics(q, v, tau, {link: np.arange(6.0)}),
        'forward_dynamics': robot.forward_dynamics(q, v, tau),
        'mass_matrix': robot.mass_matrix(q),
        'gravity_torque': robot.gravity_torque(q),
        'bias_force': robot.bias_force(q=q, v=v),
        'coriolis_matrix': robot.coriolis_matrix(q, v),
        'pose': kinematics[link],
        'jacobian': robot.jacobian(q, link, 'aligned'),
        'jacobian_derivative': robot.jacobian_derivative(q, v, link, 'base'),
        'point_jacobian': robot.point_jacobian(q, link, np.ones(3)),
        'point_jacobian_derivative': robot.point_jacobian_derivative(q, v, link, np.ones(3)),
        'center_of_mass': robot.center_of_mass(q),
        'center_of_mass_jacobian': robot.center_of_mass_jacobian(q),
        'energy': np.stack([robot.energy(q, v).kinetic, robot.energy(q, v).potential]),
        'momentum': robot.momentum(q, v),
        'integrate': robot.integrate(q, v, 0.1),
        'runtime': robot.function('gravity_torque', ('gravity', 'payload:' + link))(
            q, np.array([0.0, 1.0, -9.0]), np.array([1.0, 0, 0, 0.1, 0.2, 0, 0, 0.2, 0, 0.2])),
    }.items()})
bad = np.array(v[0])
bad[0] = np.nan
results['none'] = robot.inverse_dynamics(q[0], bad, tau[0])
assert robot.mass_matrix(np.zeros((0, robot.nq))).shape == (0, robot.nv, robot.nv)
for wrong in (lambda: robot.mass_matrix(np.zeros(1)), lambda: robot.kernel('mass'),
              lambda: robot.jacobian(q, 'nowhere')):
    try:
        wrong()
    except ValueError:
        pass
    else:
        raise AssertionError
np.savez(sys.argv[3], **results)
assert (robot.operation_count('mass_matrix') is None) == (unavailable_reason() is not None)
"""
WAYS = {
    'switched off': ('', {'RBD_ROS_COMPILER': 'off'}, 'RBD_ROS_COMPILER is off'),
    'missing': (BLOCK, {}, 'llvmlite is not installed'),
    'too old': (OLD, {}, 'llvmlite 0.36.0 is too old'),
}


@pytest.fixture(scope='module')
def compiled(tmp_path_factory):
    """Return the folder with three states and the results of compiled code."""
    folder = tmp_path_factory.mktemp('compiled')
    robot, rng = Robot.from_urdf(TEXT), np.random.default_rng(3)
    q = np.array([robot.random_configuration(rng) for _ in range(3)])
    v, tau = rng.normal(size=(2, 3, robot.nv))
    np.savez(folder / 'in.npz', q=q, v=v, tau=tau)
    done = fresh_python.run(ALL, TEXT, folder / 'in.npz', folder / 'out.npz')
    assert 'no compiler' not in done.stderr
    return folder


@pytest.mark.parametrize('way', WAYS)
def test_everything_works_on_floats_with_one_notice(compiled, tmp_path, way):
    prelude, environment, reason = WAYS[way]
    done = fresh_python.run(
        prelude + ALL, TEXT, compiled / 'in.npz', tmp_path / 'out.npz', **environment
    )
    assert done.stderr.count('no compiler') == 1 and reason in done.stderr
    expected, results = np.load(compiled / 'out.npz'), np.load(tmp_path / 'out.npz')
    assert sorted(results) == sorted(expected)
    for name in results:
        if name == 'none':
            assert np.isnan(results[name]).all() and np.isnan(expected[name]).all()
        else:
            assert relative_error(results[name], expected[name]) < 1e-12, name


PACKED = """
import numpy as np, sys
from rbd_ros import Robot
from rbd_ros.compiler.loops.numba_call import call_kernel
robot = Robot.from_urdf(sys.argv[1])
kernel = robot.kernel('integrate')
q, out = robot.neutral(), np.empty(robot.nq)
call_kernel(kernel.address, np.concatenate([q, np.full(robot.nv, 0.1), [1.0]]), out)
assert np.allclose(out, robot.integrate(q, np.full(robot.nv, 0.1)), atol=1e-15)
print('alive')
"""


@pytest.mark.parametrize('way', [*WAYS, 'compiled'])
def test_packed_calls_work_with_and_without_the_compiler(way):
    prelude, environment, _ = WAYS.get(way, ('', {}, ''))
    assert 'alive' in fresh_python.run(prelude + PACKED, TEXT, **environment).stdout


SIMULATE = """
import sys
import numpy as np
from rbd_ros import Robot, Simulator
robot = Robot.from_urdf(sys.argv[1])
simulator = Simulator(robot, 1e-3)
simulator.step(np.zeros(robot.nv), 5)
print(*simulator.q.tolist(), *simulator.v.tolist())
"""


def test_the_simulator_runs_without_the_compiler():
    expected = fresh_python.run(SIMULATE, SIMPLE).stdout.split()
    for prelude, environment, reason in WAYS.values():
        done = fresh_python.run(prelude + SIMULATE, SIMPLE, **environment)
        assert done.stderr.count('no compiler') == 1 and reason in done.stderr
        np.testing.assert_allclose(
            np.array(done.stdout.split(), float), np.array(expected, float), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize('text', ['off', 'OFF', '0', 'no', 'false'])
def test_the_compiler_can_be_switched_off_in_any_words(text):
    code = 'from rbd_ros.compiler import unavailable_reason; print(unavailable_reason())'
    assert 'off' in fresh_python.run(code, RBD_ROS_COMPILER=text).stdout


@pytest.mark.parametrize('text', ['', 'on', '1'])
def test_other_words_leave_it_on(text):
    code = 'from rbd_ros.compiler import unavailable_reason; print(unavailable_reason())'
    assert fresh_python.run(code, RBD_ROS_COMPILER=text).stdout.strip() == 'None'
