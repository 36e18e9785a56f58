"""The ROS package control_msgs, as far as FollowJointTrajectory needs it, generated and compiled.

It is on no package index, but what generates messages comes with the wheels of rclpy: from the
definitions below it makes Python modules, and a C compiler their type support. So nodes and tests
speak the action over DDS with real messages. Where control_msgs is installed, that is used.
"""

import functools
import importlib
import importlib.util
import os
from pathlib import Path
import shutil
import subprocess
import sys
import sysconfig

import pytest

PACKAGE = 'control_msgs'
TOLERANCE = """
module control_msgs { module msg {
  struct JointTolerance {
    string name;
    double position;
    double velocity;
    double acceleration;
  };
}; };
"""
ACTION = """
#include "builtin_interfaces/msg/Duration.idl"
#include "control_msgs/msg/JointTolerance.idl"
#include "std_msgs/msg/Header.idl"
#include "trajectory_msgs/msg/JointTrajectory.idl"
#include "trajectory_msgs/msg/JointTrajectoryPoint.idl"
#include "trajectory_msgs/msg/MultiDOFJointTrajectory.idl"

module control_msgs { module action {
  struct FollowJointTrajectory_Goal {
    trajectory_msgs::msg::JointTrajectory trajectory;
    trajectory_msgs::msg::MultiDOFJointTrajectory multi_dof_trajectory;
    sequence<control_msgs::msg::JointTolerance> path_tolerance;
    sequence<control_msgs::msg::JointTolerance> goal_tolerance;
    builtin_interfaces::msg::Duration goal_time_tolerance;
  };
  module FollowJointTrajectory_Result_Constants {
    const int32 SUCCESSFUL = 0;
    const int32 INVALID_GOAL = -1;
    const int32 INVALID_JOINTS = -2;
    const int32 OLD_HEADER_TIMESTAMP = -3;
    const int32 PATH_TOLERANCE_VIOLATED = -4;
    const int32 GOAL_TOLERANCE_VIOLATED = -5;
  };
  struct FollowJointTrajectory_Result {
    int32 error_code;
    string error_string;
  };
  struct FollowJointTrajectory_Feedback {
    std_msgs::msg::Header header;
    sequence<string> joint_names;
    trajectory_msgs::msg::JointTrajectoryPoint desired;
    trajectory_msgs::msg::JointTrajectoryPoint actual;
    trajectory_msgs::msg::JointTrajectoryPoint error;
  };
}; };
"""
DEFINITIONS = {'msg/JointTolerance.idl': TOLERANCE, 'action/FollowJointTrajectory.idl': ACTION}
KINDS = ('generator_c', 'typesupport_fastrtps_c', 'typesupport_introspection_c', 'typesupport_c')
USED = ('action_msgs', 'builtin_interfaces', 'service_msgs', 'std_msgs', 'trajectory_msgs',
        'unique_identifier_msgs')  # fmt: skip
LIBRARIES = ('rosidl_runtime_c', 'rosidl_typesupport_c', 'rosidl_typesupport_fastrtps_c',
             'rosidl_typesupport_fastrtps_cpp', 'rosidl_typesupport_introspection_c', 'fastcdr',
             'rmw', 'rcutils')  # fmt: skip

# Who loads the package loads its libraries first: they look for each other by name.
INIT = """
import ctypes, pathlib
for kind in {kinds}:
    ctypes.CDLL(str(pathlib.Path(__file__).with_name(f'lib{package}__rosidl_{{kind}}.so')),
                ctypes.RTLD_GLOBAL)
"""


def provide(folder):
    """Make control_msgs importable here and in processes started from here, or skip the test.

    :param folder: an empty folder that outlives the tests
    """
    if importlib.util.find_spec(PACKAGE) is None:
        problem = missing()
        if problem:
            pytest.skip(f'control_msgs is not installed, and cannot be generated: {problem}')
        try:
            _build(Path(folder))
        except (ImportError, OSError, RuntimeError, subprocess.CalledProcessError) as error:
            pytest.skip(f'control_msgs is not installed, and cannot be generated: {error}')
        sys.path.append(str(folder))
        paths = (os.environ.get('PYTHONPATH'), str(folder))
        os.environ['PYTHONPATH'] = os.pathsep.join(p for p in paths if p)
        importlib.invalidate_caches()
    return importlib.import_module('control_msgs.action').FollowJointTrajectory


def missing():
    """What generating needs and this machine lacks; empty if nothing."""
    if not (Path(sys.prefix) / 'share' / 'rosidl_generator_py').is_dir():
        return 'no generator of messages beside rclpy'
    if not (shutil.which('gcc') and shutil.which('g++')):
        return 'no C compiler: apt install g++'
    if not (Path(sysconfig.get_paths()['include']) / 'Python.h').is_file():
        return 'no Python.h: apt install python3-dev'
    return ''


def _build(folder):
    """Generate and compile the package into a folder."""
    package = folder / PACKAGE
    for name, text in DEFINITIONS.items():
        (package / name).parent.mkdir(parents=True)
        (package / name).write_text(text)
    environment = {**os.environ, 'AMENT_PREFIX_PATH': sys.prefix}
    generated = subprocess.run(
        [sys.executable, __file__, str(folder)], env=environment, capture_output=True, text=True
    )
    if generated.returncode:
        raise RuntimeError(generated.stderr.strip().splitlines()[-1])
    libraries = [_link(folder, kind) for kind in KINDS]
    _link(folder, 'py', libraries)
    (package / '__init__.py').write_text(INIT.format(kinds=KINDS, package=PACKAGE))


def _link(folder, kind, against=()):
    """Compile what one generator has made, and return the library."""
    import numpy

    prefix, package = Path(sys.prefix), folder / PACKAGE
    trees = [folder / k / PACKAGE for k in (kind, 'generator_c')]
    if kind == 'py':
        trees[0] = package
    headers = [folder / k for k in KINDS] + [
        folder,
        prefix / 'include',
        *(prefix / 'include').iterdir(),
    ]
    include = [*headers, sysconfig.get_paths()['include'], numpy.get_include()]
    options = ['-O0', '-fPIC', '-w', *(f'-I{path}' for path in include)]
    objects = []
    for source in sorted([*trees[0].rglob('*.c'), *trees[0].rglob('*.cpp')]):
        objects.append(str(source.with_suffix(source.suffix + '.o')))
        compiler = ['g++', '-std=c++17'] if source.suffix == '.cpp' else ['gcc', '-std=c11']
        _run([*compiler, *options, '-c', str(source), '-o', objects[-1]])
    name = f'lib{PACKAGE}__rosidl_{kind}.so'
    if kind == 'py':
        name = f'{PACKAGE}_s__rosidl_typesupport_c.so'
    others = [package / f'lib{PACKAGE}__rosidl_{k}.so' for k in KINDS[: _place(kind)]]
    found = [prefix / 'lib' / f'lib{used}__rosidl_{k}.so' for used in USED for k in _parts(kind)]
    found += [prefix / 'lib' / f'lib{library}.so' for library in LIBRARIES]
    linked = [str(path) for path in [*others, *found] if path.exists()]
    flags = ['-shared', f'-Wl,-soname,{name}', f'-Wl,-rpath,{prefix / "lib"}']
    _run(['g++', *flags, '-o', str(package / name), *objects, *linked])
    return package / name


def _place(kind):
    return KINDS.index(kind) if kind in KINDS else len(KINDS)


def _parts(kind):
    return (*KINDS, 'typesupport_fastrtps_cpp', *(['generator_py'] if kind == 'py' else []))


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or command[0]).splitlines()[-1])


@functools.cache
def _generators():
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
    from rosidl_typesupport_introspection_c.cli import GenerateIntrospectionCTypesupport

    both = ['rosidl_typesupport_fastrtps_c', 'rosidl_typesupport_introspection_c']
    return {
        'generator_c': GenerateC('c'),
        'typesupport_fastrtps_c': GenerateFastRTPSCTypesupport('fastrtps_c'),
        'typesupport_introspection_c': GenerateIntrospectionCTypesupport('introspection_c'),
        'typesupport_c': GenerateCTypesupport('c', typesupport_implementations=both),
        'py': GeneratePython('py', typesupport_implementations=['rosidl_typesupport_c']),
    }


def _generate(folder):
    """Run all generators on the definitions in a folder; in a process of its own."""
    import rosidl_cli.entry_points as found

    every = found.importlib_metadata.entry_points

    def once():  # wheels that declare an entry point twice make the generators refuse it
        points = every()
        if isinstance(points, dict):
            return {
                group: list({p.name: p for p in own}.values()) for group, own in points.items()
            }
        return type(points)({(p.group, p.name): p for p in points}.values())

    found.importlib_metadata.entry_points = once
    os.environ['PATH'] = os.pathsep.join([str(Path(sys.executable).parent), os.environ['PATH']])
    include = [str(Path(sys.prefix) / 'share'), str(folder)]
    files = [f'{folder / PACKAGE}:{name}' for name in DEFINITIONS]
    for kind, generator in _generators().items():
        target = folder / PACKAGE if kind == 'py' else folder / kind / PACKAGE
        target.mkdir(parents=True, exist_ok=True)
        generator.generate(PACKAGE, files, include, target)


if __name__ == '__main__':
    _generate(Path(sys.argv[1]))
