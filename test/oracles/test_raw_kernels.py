# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Raw kernels for compiled loops.

They are `void f(const double *in, double *out)` at an address, with packed arguments.
"""

import ctypes

import numpy as np
from numpy.testing import assert_allclose
import pytest
from support import layout, random_trees
from support.errors import relative_error

from rbd_ros import Robot
from rbd_ros.compiler.loops.numba_call import call_kernel

OPTIMIZED = True  # these are the kernels that users call
TEXT = random_trees.tree(21, 6, ('revolute', 'prismatic', 'floating', 'planar', 'fixed'), 1, 0.7)


@pytest.fixture(scope='module', params=[False, True], ids=['fixed base', 'floating base'])
def subject(request):
    """Return the robot and one random state."""
    places = layout.read(TEXT, request.param)
    robot = Robot.from_urdf(TEXT, floating_base=request.param)
    return robot, places.random_states(np.random.default_rng(0)), places


def run(kernel, *arrays):
    """Return the result by the address.

    Both through ctypes and through the function for numba loops.
    """
    packed, out, again = np.concatenate(arrays), np.full(kernel.output_size, np.nan), None
    assert kernel.input_sizes == tuple(map(len, arrays))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(kernel.address)(
        packed.ctypes.data, out.ctypes.data
    )
    again = np.full_like(out, np.nan)
    call_kernel(kernel.address, packed, again)
    assert np.array_equal(out, again)
    return out


@pytest.mark.parametrize(
    'name, inputs',
    [
        ('inverse_dynamics', 3),
        ('forward_dynamics', 3),
        ('bias_force', 2),
        ('mass_matrix', 1),
        ('energy', 2),
    ],
)
def test_packed_kernel_gives_the_bits_of_the_method(subject, name, inputs):
    robot, state, _ = subject
    expected = getattr(robot, name)(*state[:inputs])
    assert np.array_equal(run(robot.kernel(name), *state[:inputs]), np.ravel(expected))


def test_integrate_takes_velocity_times_time(subject):
    robot, (q, v, _), _ = subject
    assert np.array_equal(
        run(robot.kernel('integrate', dt=(1.0,)), q, 0.1 * v), robot.integrate(q, 0.1 * v)
    )


@pytest.mark.seed('GR03', 'BL12')
def test_diagonal_is_added_to_the_mass_matrix(subject):
    """Constants such as damping times the step of an implicit integrator."""
    robot, (q, v, tau), places = subject
    diagonal = np.zeros(robot.nv)
    for k, joint in enumerate(places.joints):
        diagonal[joint.v] = 0.1 * (k + 1)  # one value for all DoFs of a joint
    a = run(robot.kernel('forward_dynamics', diagonal=diagonal), q, v, tau)
    H = robot.mass_matrix(q) + np.diag(diagonal)
    assert relative_error(a, np.linalg.solve(H, tau - robot.bias_force(q, v))) < 1e-11


@pytest.mark.seed('GR03')
def test_diagonal_may_differ_within_a_joint_or_says_so(subject):
    robot, (q, v, tau), _ = subject
    diagonal = np.linspace(0.1, 0.9, robot.nv)
    try:
        a = run(robot.kernel('forward_dynamics', diagonal=diagonal), q, v, tau)
    except ValueError as error:
        assert 'diagonal' in str(error)
        return
    H = robot.mass_matrix(q) + np.diag(diagonal)
    assert relative_error(a, np.linalg.solve(H, tau - robot.bias_force(q, v))) < 1e-11


@pytest.mark.seed('MD06', 'MD08')
def test_contact_kinematics_holds_poses_and_motion_columns(subject):
    """Poses of all bodies, then each tree dof's motion column: enough for any Jacobian."""
    robot, (q, _, _), _ = subject
    model = robot.model
    out = run(robot.kernel('contact_kinematics'), q)
    n = len(model.bodies) + 1
    poses, columns = out[: 12 * n].reshape(n, 12), out[12 * n :].reshape(model.tree_nv, 6)
    assert_allclose(poses[0], [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
    expected = robot.forward_kinematics(q)
    for i, body in enumerate(model.bodies, start=1):
        T = expected[body.name]
        assert_allclose(poses[i, :9].reshape(3, 3), T[:3, :3], atol=1e-14)
        assert_allclose(poses[i, 9:], T[:3, 3], atol=1e-14)
        J = np.zeros((6, robot.nv))
        for k in model.support_dofs(i):
            J[:, model.tree_dof_index[k]] += model.tree_dof_ratio[k] * columns[k]
        assert_allclose(J, robot.jacobian(q, body.name, reference='base'), atol=1e-14)


def test_unknown_kernels_and_options_are_rejected(subject):
    robot = subject[0]
    for call in (
        lambda: robot.kernel('levitate'),
        lambda: robot.kernel('mass_matrix', speed=1),
        lambda: robot.kernel('forward_dynamics', diagonal=np.ones(robot.nv + 1)),
        lambda: robot.kernel('jacobian'),
        lambda: robot.kernel('mass_matrix', forces=('link1',)),
    ):
        with pytest.raises(ValueError):
            call()
