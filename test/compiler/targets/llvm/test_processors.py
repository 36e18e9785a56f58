# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Code for other processors: older x86-64 run here, aarch64 emitted."""

import numpy as np
import pytest
from support import fresh_python, random_trees
from support.definitions import definition_of
from support.errors import worst_relative_error

from rbd_ros import Robot
from rbd_ros.compiler.runtime import native
from rbd_ros.compiler.targets.llvm import kernel_functions

FUNCTIONS = ['inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'integrate']
# A tree of three joints and fewer kinds runs in a moment; libm's fused multiply-add takes its time
TEXT = random_trees.tree(21, bodies=3, types=('revolute', 'prismatic', 'floating'))

RUN = """
import sys
import numpy as np
from rbd_ros import Robot
from rbd_ros.compiler.runtime.native import processor
robot = Robot.from_urdf(sys.argv[1])
data = np.load(sys.argv[2])
results = {}
for name in sys.argv[4:]:
    kernel = robot.kernel(name, dt=(1.0,) if name == 'integrate' else None)
    arrays = [data['q' if key == 'q' else 'v'] for key, _ in kernel.definition.inputs]
    results[name] = kernel(*arrays)
    one = [kernel(*[x[k] for x in arrays]) for k in range(len(data['q']))]
    assert np.array_equal(results[name], one), name
    assert np.array_equal(kernel.function(*[x[0] for x in arrays]), one[0])
np.savez(sys.argv[3], **results)
print(processor().lanes)
"""


@pytest.fixture(scope='module')
def states():
    """Return the nine states of the robot."""
    robot, rng = Robot.from_urdf(TEXT), np.random.default_rng(2)
    q = np.array([robot.random_configuration(rng) for _ in range(9)])
    return {'q': q, 'v': rng.normal(size=(9, robot.nv))}


@pytest.mark.parametrize(
    'processor, lanes', [('x86-64', 2), ('x86-64-v2', 2), ('x86-64-v3', 4), ('x86-64-v4', 8)]
)
def test_every_level_of_x86_64_gives_the_same_results(states, tmp_path, processor, lanes):
    np.savez(tmp_path / 'in.npz', **states)
    done = fresh_python.run(
        RUN,
        TEXT,
        tmp_path / 'in.npz',
        tmp_path / 'out.npz',
        *FUNCTIONS,
        check=False,
        RBD_ROS_CPU=processor,
    )
    if 'RBD_ROS_CPU is' in done.stderr:
        pytest.skip('this machine cannot stand in for that processor')
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == lanes
    robot, results = Robot.from_urdf(TEXT), np.load(tmp_path / 'out.npz')
    for name in FUNCTIONS:
        kernel = robot.kernel(name, dt=(1.0,) if name == 'integrate' else None)
        here = kernel(*[states['q' if key == 'q' else 'v'] for key, _ in kernel.definition.inputs])
        # only what the processor fuses may differ
        assert worst_relative_error(results[name], here) < 1e-12, name


def test_an_unknown_processor_is_rejected_with_the_known_ones():
    code = 'from rbd_ros.compiler.runtime import native; native.processor()'
    done = fresh_python.run(code, check=False, RBD_ROS_CPU='pentium')
    assert done.returncode != 0
    assert "RBD_ROS_CPU is 'pentium'; here it may be native" in done.stderr


@pytest.mark.parametrize('text', ['', 'native'])
def test_without_a_choice_this_machine_is_meant(text):
    code = 'from rbd_ros.compiler.runtime import native; print(native.processor().name)'
    name = fresh_python.run(code, RBD_ROS_CPU=text).stdout.strip()
    assert name == fresh_python.run(code, RBD_ROS_CPU=None).stdout.strip()


@pytest.fixture(scope='module')
def aarch64():
    """Return the LLVM target machine of 64-bit ARM."""
    import llvmlite.binding as llvm

    native._initialize()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple('aarch64-linux-gnu')
    except RuntimeError:
        pytest.skip('this llvmlite knows no aarch64')
    return target.create_target_machine(
        cpu='generic', features='', opt=1, reloc='pic', codemodel='small'
    )


@pytest.mark.parametrize('name', FUNCTIONS)
def test_aarch64_code_is_emitted_without_calls_for_sine_and_fused_products(aarch64, name):
    import llvmlite.binding as llvm

    program = definition_of(Robot.from_urdf(TEXT).model, name).program()
    parts = [
        kernel_functions.core_function(program),
        kernel_functions.batch_function(program, lanes=2),
    ]
    text = f'target triple = "aarch64-linux-gnu"\n{native.module_text(parts)}'
    module = llvm.parse_assembly(text)
    assembly = aarch64.emit_assembly(module)
    assert aarch64.emit_object(module)[:4] == b'\x7fELF'
    calls = {
        line.split()[1].rstrip('0123456789')
        for line in assembly.splitlines()
        if line.split()[:1] == ['bl']
    }
    ours = {'gather_', 'scatter_', 'group', 'core', 'core_nan', 'group_nan'}
    assert calls <= ours
    assert '.2d' in assembly and 'fmla' in assembly


def test_the_order_of_one_module_is_nothing_to_the_next(two_links):
    """LLVM's scheduler is an option of the whole process."""
    definition = definition_of(Robot.from_urdf(two_links).model, 'forward_dynamics_derivatives')
    function = kernel_functions.core_function(definition.program(inner_products=True))
    before, in_order = native.assemble([function]), native.assemble([function], in_order=True)
    assert native.assemble([function]) == before
    if native.llvm.llvm_version_info >= (20,):  # before, all modules have LLVM's order
        assert in_order != before
    with pytest.raises(RuntimeError, match='parsing'):
        native.assemble([('what is this', [])], in_order=True)
    assert native.assemble([function]) == before


@pytest.mark.parametrize('name', FUNCTIONS)
def test_without_optimization_the_results_are_the_same_bitwise(states, monkeypatch, name):
    found, keys = [], []
    for level in ('0', '1', None):
        monkeypatch.setenv('RBD_ROS_OPTIMIZATION', level or '')
        kernel = Robot.from_urdf(TEXT).kernel(name, dt=(1.0,) if name == 'integrate' else None)
        arrays = [states['q' if key == 'q' else 'v'] for key, _ in kernel.definition.inputs]
        found.append([kernel(*arrays), *(kernel(*[x[k] for x in arrays]) for k in range(9))])
        keys.append(kernel._digest)
    for rows in zip(*found):
        assert np.array_equal(rows[0], rows[1]) and np.array_equal(rows[1], rows[2])
    assert keys[0] != keys[1] == keys[2]


def test_machine_code_is_another_without_optimization(monkeypatch):
    program = definition_of(Robot.from_urdf(TEXT).model, 'mass_matrix').program()
    monkeypatch.setenv('RBD_ROS_OPTIMIZATION', '0')
    plain = native.assemble([kernel_functions.core_function(program)])
    monkeypatch.delenv('RBD_ROS_OPTIMIZATION')
    assert plain != native.assemble([kernel_functions.core_function(program)])


def test_an_unknown_level_of_optimization_is_rejected(monkeypatch):
    monkeypatch.setenv('RBD_ROS_OPTIMIZATION', 'fast')
    with pytest.raises(ValueError, match="RBD_ROS_OPTIMIZATION is 'fast'; it may be 0 or 1"):
        Robot.from_urdf(TEXT).kernel('mass_matrix')
