# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Gravity, inertias and payloads as run-time inputs, against rebuilt robots."""

import numpy as np
import pytest
from support import random_trees
from support.definitions import definition_of
from support.errors import relative_error
from support.textbook import without_mimics

from rbd_ros import ModelError, Robot
from rbd_ros.algorithms import catalog
from rbd_ros.compiler.runtime.kernel import InterpretedKernel
from rbd_ros.textbook.denoc.links import require_free_joints, require_simple_joints

# Links: pedestal is fixed to the base, tool to a moving link, finger follows a mimic joint
JOINTS = [
    ('fix_pedestal', 'fixed', 'base', 'pedestal', ''),
    ('shoulder', 'revolute', 'pedestal', 'arm', ''),
    ('lift', 'prismatic', 'arm', 'wrist', ''),
    ('fix_tool', 'fixed', 'wrist', 'tool', ''),
    ('follow', 'revolute', 'wrist', 'finger', '<mimic joint="shoulder" multiplier="-1.7"/>'),
]
LINKS = ('base', 'pedestal', 'arm', 'wrist', 'tool', 'finger')
RUNTIME = [
    ('gravity',),
    ('inertia:arm',),
    ('payload:arm',),
    ('inertia:tool',),
    ('payload:tool',),
    ('inertia:base',),
    ('payload:pedestal',),
    ('inertia:finger',),
    ('payload:finger',),
    ('payload:tool', 'gravity', 'inertia:tool'),
    ('inertia:wrist', 'payload:tool', 'payload:finger', 'gravity'),
]
GRAVITY = (0.3, -0.2, -9.7)


def inertias(seed):
    """Return ten parameters of each link, all physical."""
    rng = np.random.default_rng(seed)
    result = {}
    for link in LINKS:
        mass, c = rng.uniform(0.5, 3.0), rng.uniform(-0.3, 0.3, 3)
        about_origin = random_trees.physical_inertia(rng, mass) + mass * (
            c @ c * np.eye(3) - np.outer(c, c)
        )
        i, j = np.triu_indices(3)
        result[link] = np.array([mass, *(mass * c), *about_origin[i, j]])
    return result


def urdf(parameters):
    """Return the text of the robot with links of these ten parameters each."""
    text = []
    for link, (mass, *rest) in parameters.items():
        c = np.array(rest[:3]) / mass
        central = np.zeros((3, 3))
        central[np.triu_indices(3)] = rest[3:]
        central = central + np.triu(central, 1).T - mass * (c @ c * np.eye(3) - np.outer(c, c))
        entries = ' '.join(
            f'i{"xyz"[i]}{"xyz"[j]}="{float(central[i, j])!r}"'
            for i, j in zip(*np.triu_indices(3))
        )
        origin = ' '.join(repr(float(x)) for x in c)
        text.append(
            f'<link name="{link}"><inertial><mass value="{float(mass)!r}"/>'
            f'<origin xyz="{origin}"/><inertia {entries}/></inertial></link>'
        )
    for k, (name, kind, parent, child, extra) in enumerate(JOINTS):
        text.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="0.{k} 0.2 0.3" rpy="0.{k + 1} -0.7 1.1"/><axis xyz="0.6 0 0.8"/>{extra}'
            '<limit lower="-3" upper="3" effort="10" velocity="10"/></joint>'
        )
    return f'<robot name="r">{"".join(text)}</robot>'


BEFORE, AFTER = inertias(1), inertias(2)


@pytest.fixture(scope='module', params=[False, True], ids=['fixed base', 'floating base'])
def robot(request):
    """Return the loaded robot, whose inertias and gravity are arguments of each call."""
    robot = Robot.from_urdf(urdf(BEFORE), floating_base=request.param)
    robot.floating = request.param
    return robot


def rebuilt(robot, runtime, gears=True):
    """Return the robot with the run-time inputs in its description, and their values."""
    parameters, gravity, values = dict(BEFORE), (0.0, 0.0, -9.81), []
    for key in runtime:
        kind, _, link = key.partition(':')
        values.append(np.array(GRAVITY) if kind == 'gravity' else AFTER[link])
        if kind == 'gravity':
            gravity = GRAVITY
        elif kind == 'inertia':
            parameters[link] = AFTER[link] + (parameters[link] - BEFORE[link])
        else:
            parameters[link] = parameters[link] + AFTER[link]
    text = urdf(parameters) if gears else without_mimics(urdf(parameters))
    return Robot.from_urdf(text, floating_base=robot.floating, gravity=gravity), values


def flat(result):
    """Return the numbers of an array, or of a tuple of arrays."""
    return np.concatenate(
        [np.ravel(x) for x in (result if type(result) is not np.ndarray else [result])]
    )


def state(robot, inputs, rng):
    q = robot.random_configuration(rng)
    special = {'q': q, 'forward': rng.integers(0, 2, robot.nv).astype(float)}
    return [
        rng.random(size) if name == 'u' else special.get(name, rng.normal(size=size))
        for name, size in inputs
    ]


# Each input alone where it acts in its own way, and all at once for every algorithm there is: two
# such sets, of which one is compiled, the other runs on floats.
ALONE = ('inverse_dynamics', 'forward_dynamics', 'energy')
CASES = [
    (name, runtime)
    for name in sorted(catalog())
    for runtime in (RUNTIME if name in ALONE else RUNTIME[-2:])
    if name != 'luh_walker_paul'  # a text for chains of hinges
]
# These take more DoFs than the tool has on a fixed base, and those know no gears.
FREE_TO_MOVE = (
    'handle_equation',
    'operational_dynamics',
    'operational_inertia',
    'translational_operational_dynamics',
)
WITHOUT_GEARS = (
    'articulated_inertias',
    'constraint_assembly_dynamics',
    'divide_and_conquer_dynamics',
    'inverse_assembly_dynamics',
    'sparse_elimination_dynamics',
)


@pytest.fixture(scope='module')
def ungeared(robot):
    """Return the robot whose finger moves by itself."""
    text = without_mimics(urdf(BEFORE))
    return Robot.from_urdf(text, floating_base=robot.floating)


def takes(name, model):
    """Return whether an algorithm is one for all joints.

    Or those of a model are simple enough for it.
    """
    check = catalog()[name].check
    if check in (require_simple_joints, require_free_joints) or name.startswith('hinge_'):
        try:
            check(model, (), {})
        except ModelError:
            return False
    return True


@pytest.mark.parametrize(('name', 'runtime'), CASES, ids=str)
def test_run_time_inputs_equal_a_rebuilt_robot(robot, ungeared, name, runtime, rng):
    if name.startswith('floating_') and not robot.floating:
        pytest.skip('its base is fixed')
    if not takes(name, robot.model):
        with pytest.raises(ModelError, match='revolute|mimic'):
            robot.kernel(name, runtime=runtime)
        return
    choices = {
        'frame': 'tool',
        'frames': ('tool', 'arm'),
        'contacts': ((None, 'tool'), ('arm', 'tool')),
        'forward_joints': robot.joint_names[::2],
    }
    chosen = {k: x for k, x in choices.items() if k in catalog()[name].choices}
    floating, gears = robot.floating, name not in WITHOUT_GEARS
    if name in FREE_TO_MOVE and not floating:
        with pytest.raises(ModelError, match='tool.* degrees of freedom'):
            robot.kernel(name, runtime=runtime, **chosen)
        return
    expected, values = rebuilt(robot, runtime, gears)
    reference = InterpretedKernel(definition_of(expected.model, name, **chosen))
    robot = robot if gears else ungeared
    if name in ALONE or runtime == RUNTIME[-1]:
        function = robot.kernel(name, runtime=runtime, **chosen).function
    else:
        function = InterpretedKernel(definition_of(robot.model, name, runtime=runtime, **chosen))
    for _ in range(2):
        arrays = state(robot, reference.definition.inputs, rng)
        found, correct = function(*arrays, *values), reference(*arrays)
        assert relative_error(flat(found), flat(correct)) < 1e-11


@pytest.mark.parametrize('name', ['inverse_dynamics', 'forward_dynamics', 'mass_matrix'])
def test_each_row_of_a_batch_may_have_its_own_values(robot, name, rng):
    runtime = ('payload:tool', 'gravity')
    function = robot.function(name, runtime)
    inputs = robot.kernel(name).definition.inputs
    rows = [state(robot, inputs, rng) for _ in range(11)]
    arrays = [np.array(column) for column in zip(*rows)]
    payloads = np.array([AFTER['tool'] * k for k in range(11)])
    gravities = rng.normal(size=(11, 3))
    batch = function(*arrays, payloads, gravities)
    for k, row in enumerate(rows):
        np.testing.assert_array_equal(batch[k], function(*row, payloads[k], gravities[k]))
    one_gravity = function(*arrays, payloads, gravities[3])
    np.testing.assert_array_equal(one_gravity[3], batch[3])


def test_values_given_are_used_instead_of_the_constants(robot, rng):
    q = robot.random_configuration(rng)
    function = robot.function('gravity_torque', ('gravity',))
    np.testing.assert_allclose(function(q, robot.gravity), robot.gravity_torque(q), atol=1e-12)
    assert (function(q, np.zeros(3)) == 0.0).all()


def test_external_forces_go_with_run_time_inputs(robot, rng):
    kernel = robot.kernel('inverse_dynamics', forces=('tool',), runtime=('gravity',))
    q, v, a = state(robot, robot.kernel('inverse_dynamics').definition.inputs, rng)
    force = rng.normal(size=6)
    assert (
        relative_error(
            kernel(q, v, a, force, robot.gravity), robot.inverse_dynamics(q, v, a, {'tool': force})
        )
        < 1e-12
    )


@pytest.mark.parametrize(
    'bad', ['gravitation', 'inertia', 'payload:', 'payload:elbow', 'mass:tool']
)
def test_unknown_run_time_inputs_are_value_errors(robot, bad):
    with pytest.raises(ValueError, match='run-time input|unknown link'):
        robot.function('gravity_torque', (bad,))


def test_a_run_time_input_may_be_named_once_only(robot):
    with pytest.raises(ValueError, match='twice'):
        robot.function('gravity_torque', ('gravity', 'gravity'))


def test_a_wrong_length_names_the_input(robot):
    function = robot.function('gravity_torque', ('payload:tool',))
    with pytest.raises(ValueError, match=r'payload:tool must have shape \(10,\)'):
        function(robot.neutral(), np.zeros(9))
