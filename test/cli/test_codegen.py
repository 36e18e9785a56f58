# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The command `rbd_ros codegen`: its output compiles anywhere and computes kernels' results."""

import ctypes
from pathlib import Path
import re
import shutil
import subprocess
import zipfile

import numpy as np
import pytest
from support import example_robots, outside, random_trees
from support.errors import relative_error

from rbd_ros import Robot
from rbd_ros.cli.main import main
from rbd_ros.compiler.targets.c99_library import library_name
from rbd_ros.fmi import fmu

COMPILERS = [name for name in ('gcc', 'clang') if shutil.which(name)]
STRICT = ['-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror']
ALL = ['inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'bias_force', 'gravity_torque']

needs_compiler = outside.needs('gcc or clang')
every_compiler = pytest.mark.parametrize('compiler', COMPILERS)


def written(capsys, folder, *argv):
    """Return the files that a command line writes, by name."""
    code = main(['codegen', *map(str, argv), '--output', str(folder)])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    paths = [Path(line) for line in captured.out.splitlines()]
    return {path.name: path for path in paths}


def error_of(capsys, *argv):
    """Return the one line by which a command line is rejected."""
    code = main(['codegen', *map(str, argv)])
    lines = [x for x in capsys.readouterr().err.splitlines() if not x.startswith('compiling')]
    assert code == 1 and len(lines) == 1
    return lines[0]


class Library:
    """The files of a folder, compiled without a warning."""

    def __init__(self, files, compiler, *options):
        sources = [path for name, path in files.items() if name.endswith('.c')]
        target = sources[0].with_suffix(f'.{compiler}.so')
        command = [compiler, *STRICT, *options, '-shared', '-fPIC', '-o', target, *sources, '-lm']
        subprocess.run(command, check=True)
        self._library = ctypes.CDLL(str(target))

    def call(self, name, arrays, shapes, real=np.float64):
        outputs = [np.full(shape, 7.0, dtype=real) for shape in shapes]
        given = [np.ascontiguousarray(x, dtype=real) for x in arrays]
        pointers = (ctypes.c_void_p(x.ctypes.data) for x in (*given, *outputs))
        getattr(self._library, name)(*pointers)
        return outputs


@needs_compiler
@every_compiler
@pytest.mark.parametrize(
    ('robot_name', 'floating'), [('ur5_robot', False), ('panda', False), ('solo12', True)]
)
def test_functions_of_real_robots_are_those_of_the_kernels(
    capsys, tmp_path, compiler, robot_name, floating
):
    path = example_robots.path(robot_name)
    flags = ['--floating-base'] if floating else []
    files = written(capsys, tmp_path / 'out', path, '--name', 'arm', *flags)
    compiled = Library(files, compiler, '-O2')
    robot = Robot.from_urdf(path, floating_base=floating)
    rng = np.random.default_rng(1)
    q = robot.random_configuration(rng)
    v, a = rng.normal(size=(2, robot.nv))
    n = robot.nv
    cases = {
        'inverse_dynamics': ((q, v, a), (n,)),
        'forward_dynamics': ((q, v, a), (n,)),
        'mass_matrix': ((q,), (n, n)),
        'bias_force': ((q, v), (n,)),
        'gravity_torque': ((q,), (n,)),
    }
    assert list(cases) == ALL
    for name, (arrays, shape) in cases.items():
        (found,) = compiled.call(f'arm_{name}', arrays, [shape])
        # forward dynamics solves a system of condition 1e4 and less
        tolerance = 1e-11 if name == 'forward_dynamics' else 1e-13
        assert relative_error(found, getattr(robot, name)(*arrays)) < tolerance, name
    (spoiled,) = compiled.call('arm_bias_force', (q, np.full(n, np.inf)), [(n,)])
    assert np.isnan(spoiled).all()


@needs_compiler
@every_compiler
def test_single_precision_is_as_good_as_that(capsys, tmp_path, compiler):
    path = example_robots.path('ur5_robot')
    files = written(capsys, tmp_path, path, '--precision', 'float', '--functions', ','.join(ALL))
    assert not any('double' in file.read_text() for file in files.values())
    compiled = Library(files, compiler, '-O1', '-Wdouble-promotion', '-Wconversion')
    robot = Robot.from_urdf(path)
    rng = np.random.default_rng(2)
    q, v, a = rng.uniform(-1.0, 1.0, (3, 6))
    (found,) = compiled.call('ur5_inverse_dynamics', (q, v, a), [(6,)], np.float32)
    assert relative_error(found, robot.inverse_dynamics(q, v, a)) < 1e-5


@needs_compiler
def test_frames_forces_and_several_outputs(capsys, tmp_path):
    text = random_trees.mixed_tree(4)
    robot = Robot.from_urdf(text)
    path = tmp_path / 'tree.urdf'
    path.write_text(text)
    link = robot.link_names[-1]
    functions = 'jacobian,inverse_dynamics,equations_of_motion,energy'
    options = ['--frame', link, '--reference', 'aligned', '--external-forces', link]
    files = written(capsys, tmp_path / 'out', path, '--functions', functions, *options)
    compiled = Library(files, COMPILERS[0])
    name = library_name(robot.model.name)
    rng = np.random.default_rng(3)
    q = robot.random_configuration(rng)
    v, a = rng.normal(size=(2, robot.nv))
    force = rng.normal(size=6)
    n = robot.nv
    (J,) = compiled.call(f'{name}_jacobian', (q,), [(6, n)])
    assert relative_error(J, robot.frame(link, 'aligned').jacobian(q)) < 1e-13
    (tau,) = compiled.call(f'{name}_inverse_dynamics', (q, v, a, force), [(n,)])
    assert relative_error(tau, robot.inverse_dynamics(q, v, a, {link: force})) < 1e-13
    H, C = compiled.call(f'{name}_equations_of_motion', (q, v, force), [(n, n), (n,)])
    expected = robot.equations_of_motion(q, v, {link: force})
    assert relative_error(H, expected.H) < 1e-13 and relative_error(C, expected.C) < 1e-13
    kinetic, potential = compiled.call(f'{name}_energy', (q, v), [(1,), (1,)])
    expected = robot.energy(q, v)
    assert relative_error(kinetic[0], expected.kinetic) < 1e-13
    assert relative_error(potential[0], expected.potential) < 1e-12


@needs_compiler
@pytest.mark.parametrize('level', ['-O0', '-O2'])
def test_the_stack_that_the_header_states_is_enough(capsys, tmp_path, level):
    """By what the compiler says of each function: those of one source call each other once."""
    if 'gcc' not in COMPILERS:
        pytest.skip('only gcc reports the stack of its functions')
    path = example_robots.path('talos_reduced')
    functions = 'inverse_dynamics,mass_matrix'
    files = written(
        capsys, tmp_path, path, '--floating-base', '--functions', functions, '--name', 't'
    )
    header = files['t.h'].read_text()
    stated = {
        name: int(size)
        for name, size in re.findall(
            r'\* (t_\w+):(?:(?!\*/).)*?Stack: at most (\d+) bytes', header, re.DOTALL
        )
    }
    assert list(stated) == ['t_inverse_dynamics', 't_mass_matrix']
    for name, limit in stated.items():
        command = ['gcc', '-std=c99', level, '-fstack-usage', '-c', files[f'{name}.c']]
        subprocess.run(command, check=True, cwd=tmp_path)
        lines = (tmp_path / f'{name}.su').read_text().splitlines()
        used = {line.split('\t')[0].rpartition(':')[2]: int(line.split('\t')[1]) for line in lines}
        whole = used.pop(name)
        assert whole + max(used.values(), default=0) < limit


@outside.needs('C++ compiler')
def test_the_header_is_for_cplusplus_too(capsys, tmp_path):
    files = written(capsys, tmp_path, example_robots.path('ur5_robot'))
    (tmp_path / 'it.cpp').write_text('#include "ur5.h"\nstatic_assert(UR5_NV == 6, "");\n')
    command = ['g++', '-std=c++11', *STRICT[1:], '-fsyntax-only', '-I', tmp_path]
    subprocess.run([*command, tmp_path / 'it.cpp'], check=True)
    assert 'shoulder_pan_joint: q[0], v[0]' in files['ur5.h'].read_text()


@needs_compiler
@outside.needs('cmake')
def test_cmake_builds_it(capsys, tmp_path):
    written(capsys, tmp_path, example_robots.path('ur5_robot'), '--functions', 'mass_matrix')
    for command in (['cmake', '-S', '.', '-B', 'build'], ['cmake', '--build', 'build']):
        subprocess.run(command, check=True, cwd=tmp_path, capture_output=True)
    assert list((tmp_path / 'build').glob('libur5.*'))


@pytest.mark.slow
def test_an_fmu_is_one_file(capsys, tmp_path, monkeypatch):
    fmpy = outside.load('fmpy')
    monkeypatch.chdir(tmp_path)
    arm = example_robots.path('ur5_robot')
    assert main(['codegen', str(arm), '--fmu', '--timestep', '0.002']) == 0
    assert capsys.readouterr().out.splitlines()[-1] == 'ur5.fmu'
    description = fmpy.read_model_description('ur5.fmu')
    assert description.coSimulation.modelIdentifier == 'ur5'
    assert float(description.coSimulation.fixedInternalStepSize) == 0.002
    words = ['--integrator', 'rk4', '--ground', '--floating-base', '--name', 'Arm', '--output']
    assert main(['codegen', str(arm), '--fmu', *words, str(tmp_path / 'other.fmu')]) == 0
    description = fmpy.read_model_description('other.fmu')
    assert description.coSimulation.modelIdentifier == 'Arm'
    assert 'rk4, soft contact with the ground' in description.description
    assert main(['codegen', str(arm), '--fmu', '--output', 'new/folder']) == 0
    assert zipfile.is_zipfile(tmp_path / 'new' / 'folder' / 'ur5.fmu')


def test_an_fmu_without_a_compiler_has_sources_only(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(fmu.shutil, 'which', lambda name: None)
    path = tmp_path / 'it.fmu'
    arm = str(example_robots.path('ur5_robot'))
    assert main(['codegen', arm, '--fmu', '--output', str(path)]) == 0
    assert 'sources only' in capsys.readouterr().err
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    assert 'sources/buildDescription.xml' in names and 'modelDescription.xml' in names
    assert not any(name.startswith('binaries') for name in names)


def test_options_that_an_fmu_cannot_have_are_rejected_in_one_line(capsys, tmp_path):
    arm = example_robots.path('ur5_robot')
    out = ['--fmu', '--output', tmp_path / 'it.fmu']
    assert '--precision float' in error_of(capsys, arm, *out, '--precision', 'float')
    assert '--external-forces' in error_of(capsys, arm, *out, '--external-forces', 'tool0')
    assert 'timestep must be positive' in error_of(capsys, arm, *out, '--timestep', '0')
    (tmp_path / 'file').touch()
    (tmp_path / 'folder.fmu').mkdir()
    for place in ('file', 'file/it.fmu', 'folder.fmu', '/proc/nowhere/it.fmu'):
        place = tmp_path / place
        assert f'--output {place} cannot be written' in error_of(
            capsys, arm, '--fmu', '--output', place
        )
    assert "'7 axes' is not a valid name in C" in error_of(capsys, arm, *out, '--name', '7 axes')
    assert not (tmp_path / 'it.fmu').exists()


def test_every_function_can_be_listed(capsys):
    assert main(['codegen', 'none.urdf', '--functions', 'list']) == 0
    assert {'inverse_dynamics', 'jacobian'} <= set(capsys.readouterr().out.split())


def test_bad_input_is_rejected_in_one_line(capsys, tmp_path):
    arm = example_robots.path('ur5_robot')
    file = tmp_path / 'file'
    file.write_text('')
    out = ['--output', tmp_path / 'out']
    assert "unknown function 'rneaa'" in error_of(capsys, arm, '--functions', 'rneaa', *out)
    assert 'jacobian needs a frame: link or joint by name' in error_of(
        capsys, arm, '--functions', 'jacobian', *out
    )
    words = ['--functions', 'jacobian', '--frame', 'hand', *out]
    assert "'hand'" in error_of(capsys, arm, *words)
    words = ['--external-forces', 'hand', *out]
    assert "'hand'" in error_of(capsys, arm, *words)
    assert '--output is missing' in error_of(capsys, arm)
    assert f'--output {file}' in error_of(capsys, arm, '--output', file)
    assert "'3d_inverse_dynamics' is not a valid name" in error_of(
        capsys, arm, '--name', '3d', *out
    )
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize(
    ('text', 'name'),
    [
        ('UR5', 'ur5'),
        ('my arm (v2)', 'my_arm_v2'),
        ('7-axis', 'robot_7_axis'),
        ('机器人', 'robot'),
    ],
)
def test_libraries_have_names_of_c(text, name):
    assert library_name(text) == name
