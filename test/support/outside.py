"""What tests take from outside and a machine may lack: oracles, rclpy, real robots.

The one place that loads them. A test that needs what cannot be loaded is skipped with the reason
and the cure, which test/conftest.py repeats at the end of the run; `--nothing-missing` makes the
lack of any of them a failure. `python -m support.outside` prints the Debian packages to install.
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
import sys
from types import ModuleType

import pytest

from support import browser
from support.source_imports import ROOT


@dataclass(frozen=True)
class Source:
    """Where a library comes from.

    :param requirement: what pip installs, an extra of setup.py or one of its entries
    :param debian: packages of shared libraries that the wheel uses and does not bring along
    """

    requirement: str
    debian: tuple[str, ...] = ()


LIBRARIES = {
    'coal': Source("'rbd_ros[collision]'"),
    'distributed': Source("'rbd_ros[campaigns]'"),
    'example_robot_data': Source('example-robot-data'),  # no module, but a folder of URDFs
    'fmpy': Source('fmpy'),
    'imageio_ffmpeg': Source("'rbd_ros[recording]'"),
    'mcap': Source("'rbd_ros[recording]'"),
    'mpmath': Source('mpmath'),
    'mujoco': Source('mujoco'),
    'pinocchio': Source('pin', ('libgomp1',)),
    'pyarrow': Source("'rbd_ros[campaigns]'"),
    'pydrake': Source('drake', ('libglib2.0-0',)),
    'rclpy': Source("'rbd_ros[ros]'"),
    'sympy': Source('sympy'),
}
BROWSER = 'chromium'  # as Debian calls it
_SHARED_LIBRARY = re.compile(r'(\S+\.so[.\d]*): cannot open shared object file')

_missing = {}  # library -> line for the reader: what tests asked for and could not have


def load(name: str) -> ModuleType:
    """Import a module of one of `LIBRARIES`, or skip the test (at import: the test module)."""
    library = name.partition('.')[0]
    line = problem(library)
    if line is not None:
        pytest.skip(line, allow_module_level=True)
    return import_module(name)


def problem(library: str) -> str | None:
    """Why a library cannot be used and what to do about it, in one line; None if it can."""
    error = _error(library)
    if error is None:
        return None
    source = LIBRARIES[library]
    missing = _SHARED_LIBRARY.search(error)
    if missing is None:
        line = f'{library}: {error}: pip install {source.requirement}'
    elif source.debian:
        line = f'{library}: no {missing[1]}: apt install {" ".join(source.debian)}'
    else:
        line = f'{library}: no {missing[1]}: apt install the package that `apt-file search` names'
    _missing[library] = line
    return line


def browser_problem() -> str | None:
    """Why there is no browser for tests of pages, and what to do about it; None if there is."""
    if browser.executable() is not None:
        return None
    _missing['browser'] = f'browser: not installed: apt install {BROWSER}'
    return _missing['browser']


def docs_python() -> Path | None:
    """The Python of the environment that scripts/docs has made; None if there is none."""
    folder = os.environ.get('RBD_ROS_DOCS_VENV', ROOT / '.venv-docs')
    python = Path(folder, 'bin', 'python')
    return python if Path(folder, '.rbd_ros_docs').is_file() and python.is_file() else None


def docs_problem() -> str | None:
    """Why the documentation cannot be made, and what to do about it; None if it can."""
    if docs_python() is not None:
        return None
    _missing['sphinx'] = 'sphinx: not installed: scripts/docs'
    return _missing['sphinx']


def missing() -> dict[str, str]:
    """Lines on the libraries that tests asked for so far and that cannot be used."""
    return dict(_missing)


def note(lines: dict[str, str]) -> None:
    """Add what another process of this run found missing."""
    _missing.update(lines)


def all_problems() -> dict[str, str]:
    """Lines on all `LIBRARIES` that cannot be used."""
    lines = {library: problem(library) for library in LIBRARIES}
    lines['browser'] = browser_problem()
    lines['sphinx'] = docs_problem()
    return {library: line for library, line in lines.items() if line is not None}


def debian_packages() -> list[str]:
    """Debian packages to install: shared libraries that `LIBRARIES` lack, and a browser."""
    libraries = [name for name in LIBRARIES if _SHARED_LIBRARY.search(_error(name) or '')]
    packages = {package for name in libraries for package in LIBRARIES[name].debian}
    return sorted(packages | ({BROWSER} if browser.executable() is None else set()))


def example_robots_folder() -> Path | None:
    """Folder of the robots of example-robot-data; None where the package is not installed."""
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
    """What goes wrong when the library is loaded, in one line; None if nothing."""
    if library == 'example_robot_data':
        return None if example_robots_folder() else 'not installed'
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # Drake prints advice
            import_module(library)
    except ModuleNotFoundError as error:
        return 'not installed' if error.name == library else _first_line(error)
    except Exception as error:  # a binary module for another NumPy or ROS raises what it likes
        return _first_line(error)
    return None


def _first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0]


if __name__ == '__main__':
    print(*debian_packages())
