# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""ROS packages of messages in no package index, generated and compiled for tests.

The generators of the wheels of rclpy make Python modules from IDL definitions, and a C compiler
their type support, so nodes and tests use them over DDS.
"""

import functools
import importlib
import importlib.util
import json
import os
from pathlib import Path
import shutil
import subprocess
import sys
import sysconfig

import pytest

KINDS = ('generator_c', 'typesupport_fastrtps_c', 'typesupport_introspection_c', 'typesupport_c')
#: Packages that every action and service uses.
ALWAYS = ('action_msgs', 'builtin_interfaces', 'service_msgs', 'std_msgs',
          'unique_identifier_msgs')  # fmt: skip
LIBRARIES = ('rosidl_runtime_c', 'rosidl_typesupport_c', 'rosidl_typesupport_fastrtps_c',
             'rosidl_typesupport_fastrtps_cpp', 'rosidl_typesupport_introspection_c', 'fastcdr',
             'rmw', 'rcutils')  # fmt: skip

# The loader of the package loads its libraries first, as they refer to each other by name.
INIT = """
import ctypes, pathlib
for kind in {kinds}:
    ctypes.CDLL(str(pathlib.Path(__file__).with_name(f'lib{package}__rosidl_{{kind}}.so')),
                ctypes.RTLD_GLOBAL)
"""


def provide(package, definitions, used, folder):
    """Make a package importable here and in processes started from here, or skip the test.

    An installed package is used instead.

    :param package: its name
    :param definitions: text of each of its files in IDL, by path such as 'msg/Thing.idl'
    :param used: packages whose messages it uses, besides those that any package does
    :param folder: an empty folder that outlives the tests
    """
    if importlib.util.find_spec(package) is not None:
        return
    problem = missing()
    if not problem:
        try:
            Package(package, definitions, used, Path(folder)).build()
        except (ImportError, OSError, RuntimeError, subprocess.CalledProcessError) as error:
            problem = error
    if problem:
        from support import outside  # imported here, as this file is run as a program, too

        pytest.skip(outside.lacks(package, f'not installed, and cannot be generated: {problem}'))
    sys.path.append(str(folder))
    paths = (os.environ.get('PYTHONPATH'), str(folder))
    os.environ['PYTHONPATH'] = os.pathsep.join(p for p in paths if p)
    importlib.invalidate_caches()


def missing():
    """Return the missing requirements of the generators; empty if complete."""
    if not (Path(sys.prefix) / 'share' / 'rosidl_generator_py').is_dir():
        return 'no generator of messages beside rclpy'
    if not (shutil.which('gcc') and shutil.which('g++')):
        return 'no C compiler: apt install g++'
    if not (Path(sysconfig.get_paths()['include']) / 'Python.h').is_file():
        return 'no Python.h: apt install python3-dev'
    return ''


class Package:
    """A package, generated and compiled into a folder; see `provide`."""

    def __init__(self, name, definitions, used, folder):
        self.name, self.definitions, self.folder = name, definitions, folder
        self.used = (*ALWAYS, *used)

    def build(self):
        """Generate and compile it."""
        package = self.folder / self.name
        for name, text in self.definitions.items():
            (package / name).parent.mkdir(parents=True, exist_ok=True)
            (package / name).write_text(text)
        environment = {**os.environ, 'AMENT_PREFIX_PATH': sys.prefix}
        request = json.dumps([self.name, list(self.definitions), str(self.folder)])
        generated = subprocess.run(
            [sys.executable, __file__, request], env=environment, capture_output=True, text=True
        )
        if generated.returncode:
            raise RuntimeError(generated.stderr.strip().splitlines()[-1])
        libraries = [self._link(kind) for kind in KINDS]
        self._link('py', libraries)
        (package / '__init__.py').write_text(INIT.format(kinds=KINDS, package=self.name))

    def _link(self, kind, against=()):
        """Compile the output of one generator, and return the library."""
        import numpy

        prefix, package = Path(sys.prefix), self.folder / self.name
        tree = package if kind == 'py' else self.folder / kind / self.name
        headers = [self.folder / k for k in KINDS] + [
            self.folder,
            prefix / 'include',
            *(prefix / 'include').iterdir(),
        ]
        include = [*headers, sysconfig.get_paths()['include'], numpy.get_include()]
        options = ['-O0', '-fPIC', '-w', *(f'-I{path}' for path in include)]
        objects = []
        for suffix, compiler in (('.c', ['gcc', '-std=c11']), ('.cpp', ['g++', '-std=c++17'])):
            sources = sorted(tree.rglob(f'*{suffix}'))
            if sources and kind != 'generator_c':  # whose files use the same names
                # All at once, as most of the time is for reading headers.
                whole = self.folder / f'{kind}_whole{suffix}'
                whole.write_text(''.join(f'#include "{path}"\n' for path in sources))
                sources = [whole]
            for source in sources:
                objects.append(f'{source}.o')
                _run([*compiler, *options, '-c', str(source), '-o', objects[-1]])
        name = f'lib{self.name}__rosidl_{kind}.so'
        if kind == 'py':
            name = f'{self.name}_s__rosidl_typesupport_c.so'
        others = [package / f'lib{self.name}__rosidl_{k}.so' for k in KINDS[: _place(kind)]]
        found = [
            prefix / 'lib' / f'lib{used}__rosidl_{k}.so'
            for used in self.used
            for k in _parts(kind)
        ]
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


def _generate(package, definitions, folder):
    """Run all generators on the definitions in a folder; in a process of its own."""
    import rosidl_cli.entry_points as found

    every = found.importlib_metadata.entry_points

    def once():  # wheels that declare an entry point twice make the generators reject it
        points = every()
        if isinstance(points, dict):  # up to Python 3.11
            groups = {}
            for group, own in points.items():
                groups[group] = type(own)({p.name: p for p in own}.values())
            return type(points)(groups)  # rosidl_cli asks `get` in Jazzy and `select` in Kilted
        return type(points)({(p.group, p.name): p for p in points}.values())

    found.importlib_metadata.entry_points = once
    os.environ['PATH'] = os.pathsep.join([str(Path(sys.executable).parent), os.environ['PATH']])
    include = [str(Path(sys.prefix) / 'share'), str(folder)]
    files = [f'{folder / package}:{name}' for name in definitions]
    for kind, generator in _generators().items():
        target = folder / package if kind == 'py' else folder / kind / package
        target.mkdir(parents=True, exist_ok=True)
        generator.generate(package, files, include, target)


if __name__ == '__main__':
    name, files, place = json.loads(sys.argv[1])
    _generate(name, files, Path(place))
