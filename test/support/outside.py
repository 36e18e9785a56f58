# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""External requirements that a machine may lack: oracles, ROS, compilers, real robots.

Only this module looks for them. Tests without their requirements are skipped with the reason and
the cure, which test/conftest.py repeats at the end of the run; `--nothing-missing` makes a missing
library of pip a failure. `python -m support.outside` prints the Debian packages to install.
"""

import contextlib
from dataclasses import dataclass
import functools
from importlib import import_module
import importlib.util
import io
import os
from pathlib import Path
import re
import shutil
import sys
from types import ModuleType

import pytest

from support import browser
from support.source_imports import ROOT


@dataclass(frozen=True)
class Source:
    """Origin of a library.

    :param requirement: what pip installs, an extra of setup.py or one of its entries
    :param debian: packages of shared libraries that the wheel needs and does not include
    """

    requirement: str
    debian: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """Name and origin of a program.

    :param names: names on the PATH, of which one is enough
    :param cure: what to do without it
    """

    names: tuple[str, ...]
    cure: str


LIBRARIES = {
    'argcomplete': Source('argcomplete'),
    'cma': Source('cma'),
    'coacd': Source("'rbd_ros[decomposition]'"),
    'coal': Source('coal'),
    'distributed': Source("'rbd_ros[campaigns]'"),
    'example_robot_data': Source('example-robot-data'),  # a folder of URDFs, no module
    'fmpy': Source('fmpy'),
    'gymnasium': Source("'rbd_ros[gym]'"),
    'imageio_ffmpeg': Source("'rbd_ros[recording]'"),
    'mcap': Source("'rbd_ros[recording]'"),
    'zstandard': Source("'rbd_ros[recording]'"),
    'mpmath': Source('mpmath'),
    'mujoco': Source('mujoco'),
    'nav_msgs': Source("'rbd_ros[ros]'"),
    'pandas': Source("'rbd_ros[pandas]'"),
    'pinocchio': Source('pin', ('libgomp1',)),
    'pyarrow': Source("'rbd_ros[campaigns]'"),
    'pydrake': Source('drake', ('libglib2.0-0',)),
    'rclpy': Source("'rbd_ros[ros]'"),
    'sympy': Source('sympy'),
    'trimesh': Source("'rbd_ros[meshes]'"),
    'xacro': Source("'rbd_ros[ros]'"),
}
SOURCE = 'source a ROS 2 that has it'  # for packages that are in no package index
#: Requirements that `--nothing-missing` exempts, and their cures.
OPTIONAL = {
    'ament_copyright': SOURCE, 'launch': SOURCE, 'launch_ros': SOURCE, 'ros2launch': SOURCE,
    'roboticstoolbox': 'pip install roboticstoolbox-python', 'xacro': 'pip install xacro',
}  # fmt: skip
PROGRAMS = {
    'C compiler': Program(('cc', 'gcc', 'clang'), 'apt install gcc'),
    'gcc or clang': Program(('gcc', 'clang'), 'apt install gcc'),
    'C++ compiler': Program(('g++',), 'apt install g++'),
    'cmake': Program(('cmake',), 'apt install cmake'),
    'setpriv': Program(('setpriv',), 'apt install util-linux'),
    'ros2': Program(('ros2',), 'source a ROS 2'),
}
BROWSER = 'chromium'  # its name in Debian
_SHARED_LIBRARY = re.compile(r'(\S+\.so[.\d]*): cannot open shared object file')

_missing = {}  # library -> message on what tests requested and could not use


def load(name: str) -> ModuleType:
    """Import a module of a library that may be missing, or skip the test or test module."""
    library = name.partition('.')[0]
    line = problem(library)
    if line is not None:
        pytest.skip(line, allow_module_level=True)
    return import_module(name)


def problem(library: str) -> str | None:
    """Return why a library is unavailable, and the cure, in one line; None if it is available."""
    error = _error(library)
    if error is None:
        return None
    if library in OPTIONAL:
        return lacks(library, f'{error}: {OPTIONAL[library]}')
    source = LIBRARIES[library]
    missing = _SHARED_LIBRARY.search(error)
    if missing is None:
        return lacks(library, f'{error}: pip install {source.requirement}')
    packages = ' '.join(source.debian) or 'the package that `apt-file search` names'
    return lacks(library, f'no {missing[1]}: apt install {packages}')


def lacks(name: str, text: str) -> str:
    """Record that something is missing, and return the message.

    :param name: what is missing
    :param text: the reason and the cure
    """
    _missing[name] = f'{name}: {text}'
    return _missing[name]


def program_problem(name: str) -> str | None:
    """Return why one of `PROGRAMS` is unavailable, and the cure; None if it is available."""
    program = PROGRAMS[name]
    if any(map(shutil.which, program.names)):
        return None
    return lacks(name, f'none of {", ".join(program.names)} is on the PATH: {program.cure}')


def needs(name: str) -> pytest.MarkDecorator:
    """Mark tests that need one of `PROGRAMS`."""
    line = program_problem(name)
    return pytest.mark.skipif(line is not None, reason=line or '')


def browser_problem() -> str | None:
    """Return why there is no browser for tests of pages, and the cure; None if there is one."""
    if browser.executable() is not None:
        return None
    return lacks('browser', f'not installed: apt install {BROWSER}')


def docs_python() -> Path | None:
    """Return the Python of the environment made by scripts/docs, None without one."""
    folder = os.environ.get('RBD_ROS_DOCS_VENV', ROOT / '.venv-docs')
    python = Path(folder, 'bin', 'python')
    return python if Path(folder, '.rbd_ros_docs').is_file() and python.is_file() else None


def docs_problem() -> str | None:
    """Return why the documentation cannot be built, and the cure; None if it can."""
    if docs_python() is not None:
        return None
    return lacks('sphinx', 'not installed: scripts/docs')


def missing() -> dict[str, str]:
    """Return the messages on unavailable libraries that tests have requested so far."""
    return dict(_missing)


def note(lines: dict[str, str]) -> None:
    """Add the messages of another process of this run."""
    _missing.update(lines)


def all_problems() -> dict[str, str]:
    """Return the messages on all unavailable `LIBRARIES` and compilers."""
    lines = {library: problem(library) for library in LIBRARIES}
    for name in ('C compiler', 'C++ compiler'):
        lines[name] = program_problem(name)
    lines['browser'] = browser_problem()
    lines['sphinx'] = docs_problem()
    return {library: line for library, line in lines.items() if line is not None}


def debian_packages() -> list[str]:
    """Return the Debian packages to install: shared libraries of `LIBRARIES`, and a browser."""
    libraries = [name for name in LIBRARIES if _SHARED_LIBRARY.search(_error(name) or '')]
    packages = {package for name in libraries for package in LIBRARIES[name].debian}
    return sorted(packages | ({BROWSER} if browser.executable() is None else set()))


def example_robots_folder() -> Path | None:
    """Return the folder of the robots of example-robot-data.

    None where the package is not installed.
    """
    places = [Path(entry) for entry in sys.path if entry]
    spec = importlib.util.find_spec('pinocchio')
    if spec is not None and spec.origin:
        places += Path(spec.origin).parents[5:6]
    for place in places:
        for folder in (place / 'cmeel.prefix', place):
            robots = folder / 'share' / 'example-robot-data' / 'robots'
            if robots.is_dir():
                return robots
    return None


@functools.cache
def _error(library):
    """Return the error of loading a library, in one line; None without one."""
    if library == 'example_robot_data':
        return None if example_robots_folder() else 'not installed'
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # Drake prints advice
            import_module(library)
    except ModuleNotFoundError as error:
        return 'not installed' if error.name == library else _first_line(error)
    except Exception as error:  # a binary module for another NumPy or ROS may raise anything
        return _first_line(error)
    return None


def _first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0]


if __name__ == '__main__':
    print(*debian_packages())
