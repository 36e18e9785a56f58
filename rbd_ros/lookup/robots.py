# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Finding the description of a robot by path, package URI, xacro file or name.

The command line and the launch files both use this, so a name means the same everywhere. The
content of a description is read in `rbd_ros.model`. Knows no ROS.
"""

from __future__ import annotations

from dataclasses import dataclass
import os
from pathlib import Path
import re
import shlex
import sys
from typing import Dict, Iterable, List, Optional, Tuple, Union

from rbd_ros.bounded_files import MAX_TEXT, read_bytes, read_text
from rbd_ros.lookup.resources import matching_names, resource_path
from rbd_ros.model.errors import did_you_mean, ModelError, similar_names
from rbd_ros.model.urdf.mesh_paths import MeshPaths
from rbd_ros.model.urdf.urdf_document import is_xacro

DEFAULT_ROBOT = 'six_axis_arm'
SUFFIXES = ('.urdf', '.xacro', '.xml')
EXAMPLES = Path('share', 'example-robot-data', 'robots')
#: Common short names of robots of example-robot-data, and the names of their files.
COMMON_NAMES = {
    'anymal_b': 'anymal',
    'franka': 'panda',
    'franka_emika_panda': 'panda',
    'franka_panda': 'panda',
    'g1': 'g1_29dof_rev_1_0',
    'hyq': 'hyq_no_sensors',
    'talos': 'talos_reduced',
    'talos_full': 'talos_full_v2',
    'unitree_g1': 'g1_29dof_rev_1_0',
}
INSTALL_EXAMPLES = 'pip install example-robot-data'
_EMPTY = 1024  # bytes; one file of example-robot-data is a <robot> without links
_OF_A_FOLDER = re.compile(r'(_simple)?_(description|data)$')
MAX_SHOWN = 12  # names that an error message lists


class RobotNotFoundError(ValueError):
    """The robot does not exist, or cannot be read; the message lists existing ones."""


@dataclass(frozen=True)
class RobotDescription:
    """Description of one robot.

    :param path: absolute path of the file
    :param expanded: the URDF that xacro made of it with arguments, None if the file is what
        `Robot.from_urdf` takes
    :param package_paths: directories in which xacro looks for packages first
    """

    path: Path
    expanded: Optional[str] = None
    package_paths: Tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Argument of `Robot.from_urdf`: the path if possible, since meshes are found by it."""
        return str(self.path) if self.expanded is None else self.expanded

    @property
    def text(self) -> str:
        """The URDF.

        :raises RobotNotFoundError: if it cannot be read or expanded
        """
        if self.expanded is not None:
            return self.expanded
        try:
            text = read_text(self.path, MAX_TEXT, 'utf-8-sig')
        except (OSError, UnicodeDecodeError) as error:
            raise RobotNotFoundError(f'{self.path} cannot be read: {error}') from None
        return _expand(self.path, {}, self.package_paths) if is_xacro(text) else text


def load_robot(
    robot: str, xacro_arguments: Iterable[str] = (), package_paths: Iterable[str] = ()
) -> RobotDescription:
    """Find a robot, and expand its description if there are arguments of xacro for it.

    :param robot: what `find_robot` takes; after the name of a xacro file may follow arguments of
        xacro, as in 'arm.urdf.xacro prefix:=left_ use_gripper:=true'
    :param xacro_arguments: further ones, each as name:=value; they override those
    :param package_paths: directories in which packages are looked for first
    :raises RobotNotFoundError: if there is none, or xacro cannot expand it
    """
    name, mappings = split_xacro_arguments(robot)
    mappings = {**mappings, **xacro_mappings(xacro_arguments)}
    return described_by(find_robot(name, package_paths), mappings, package_paths)


def described_by(
    path: Path, mappings: Dict[str, str], package_paths: Iterable[str] = ()
) -> RobotDescription:
    """Take a file as a description; xacro is expanded with its arguments, if there are any.

    :param mappings: arguments of xacro by name
    :param package_paths: directories in which packages are looked for first
    :raises RobotNotFoundError: if xacro cannot expand it, or there are arguments without xacro
    """
    package_paths = tuple(package_paths)
    if not mappings:
        return RobotDescription(path, None, package_paths)
    try:
        has_xacro = is_xacro(read_bytes(path, MAX_TEXT))
    except OSError as error:
        raise RobotNotFoundError(f'{path} cannot be read: {error}') from None
    if not has_xacro:
        raise RobotNotFoundError(
            f'{path} is not a xacro file and takes no arguments ({", ".join(mappings)}); leave '
            'them out, or name the xacro file'
        )
    return RobotDescription(path, _expand(path, mappings, package_paths), package_paths)


def find_robot(name: str, package_paths: Iterable[Union[str, os.PathLike[str]]] = ()) -> Path:
    """Return the absolute path of the description that `name` means.

    Tried in this order: a package:// URI, as `MeshPaths` resolves it; a file, with ~, relative to
    the working directory; the name of an embedded robot, or that of a file of example-robot-data,
    where it is installed, as `matching_names` takes it.

    :param name: name, path or URI
    :param package_paths: directories in which packages are looked for first
    :raises RobotNotFoundError: if there is none, or several
    """
    if name.startswith('package://'):
        return _in_package(name, MeshPaths(None, package_paths))
    path = _expand_user(name)
    if (
        path.exists() and not path.is_dir()
    ):  # rejected where it is read if it is not a regular file
        return Path(os.path.abspath(path))
    if path.is_dir():
        inside = [p.name for p in sorted(path.iterdir()) if p.suffix in SUFFIXES]
        raise RobotNotFoundError(
            f'{os.path.abspath(path)} is a folder; name a file in it ({_some(inside)})'
        )
    if path.suffix in SUFFIXES or len(path.parts) > 1:
        raise RobotNotFoundError(f'there is no file {os.path.abspath(path)}{_similar_files(path)}')
    embedded, examples = embedded_robots(), example_robots()
    robots = {**examples, **embedded}
    further = {each: path.parts[-3] for each, path in examples.items()}
    found = matching_names(name, robots, COMMON_NAMES, further)
    if not found:
        raise RobotNotFoundError(_no_such_robot(name, list(embedded), list(examples)))
    if len(found) > 1:
        raise RobotNotFoundError(
            f'robot {name!r} is ambiguous: {", ".join(found)}; name one of them'
        )
    return robots[found[0]]


def embedded_robots() -> Dict[str, Path]:
    """Return the robots that come with this package: their files by name."""
    return {path.stem: path for path in sorted(resource_path('urdf').glob('*.urdf'))}


def example_robots() -> Dict[str, Path]:
    """Return robots of the package example-robot-data: their files by name, none if it is missing.

    The second file of a name goes by its folder, as anymal_c. Files without a robot are left out.
    """
    found: Dict[str, Path] = {}
    for folder in _example_folders()[:1]:
        for path in sorted(folder.rglob('*.urdf')):
            if path.stat().st_size < _EMPTY and b'<link' not in read_bytes(path, _EMPTY):
                continue
            name = path.stem
            if name in found:
                name = _OF_A_FOLDER.sub('', path.relative_to(folder).parts[0])
            found.setdefault(name, path)
    return found


def common_names() -> Dict[str, str]:
    """Return common names of the robots that are here, and the names of their files."""
    return {name: file for name, file in COMMON_NAMES.items() if file in example_robots()}


def split_xacro_arguments(robot: str) -> Tuple[str, Dict[str, str]]:
    """Split 'arm.urdf.xacro a:=1 b:=2' into the name and the arguments of xacro by name.

    :raises RobotNotFoundError: if something else than name:=value follows the name
    """
    if ':=' not in robot or _expand_user(robot).exists():
        return robot, {}
    try:
        words = shlex.split(robot)
    except ValueError as error:
        raise RobotNotFoundError(f'robot {robot!r}: {error}') from None
    first = next(i for i, word in enumerate(words) if ':=' in word)
    try:
        mappings = xacro_mappings(words[first:])
    except RobotNotFoundError as error:
        raise RobotNotFoundError(f'robot {robot!r}: {error}') from None
    return ' '.join(words[:first]), mappings


def xacro_mappings(words: Iterable[str]) -> Dict[str, str]:
    """Return the arguments of xacro by name, of words such as 'prefix:=left_'.

    :raises RobotNotFoundError: for a word that is none
    """
    mappings = {}
    for word in words:
        name, separator, value = word.partition(':=')
        if not separator or not name:
            raise RobotNotFoundError(
                f'arguments of a xacro file are written name:=value, not {word!r}'
            )
        mappings[name] = value
    return mappings


def _expand_user(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # a ~user that does not exist
        return Path(name)


def _in_package(uri: str, paths: MeshPaths) -> Path:
    found = paths.resolve(uri)
    if found is not None:
        return Path(found)
    package, _, inside = uri[len('package://') :].partition('/')
    if paths.package(package) is not None:
        raise RobotNotFoundError(f'{uri}: package {package} has no file {inside}')
    raise RobotNotFoundError(
        f'{uri}: there is no package {package!r} here; name its folder (--package-path, '
        'package_paths), or install it and source its workspace'
    )


def _ament_prefixes() -> List[Path]:
    return [Path(p) for p in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if p]


def _example_folders() -> List[Path]:
    prefixes = [Path(entry, 'cmeel.prefix') for entry in sys.path if entry]
    prefixes += [*_ament_prefixes(), Path(sys.prefix)]
    return [prefix / EXAMPLES for prefix in prefixes if (prefix / EXAMPLES).is_dir()]


def _similar_files(path: Path) -> str:
    """Return similar names of files in the folder of a missing one."""
    folder = path.parent
    if not folder.is_dir():
        return f' (nor a folder {os.path.abspath(folder)})'
    names = [p.name for p in folder.iterdir() if p.suffix in SUFFIXES]
    return did_you_mean(similar_names(path.name, names))


def _no_such_robot(name: str, embedded: List[str], examples: List[str]) -> str:
    text = f'no robot {name!r}: neither a file nor one of {", ".join(embedded)}'
    if examples:
        text += (
            f', nor one of the {len(examples)} of example-robot-data (rbd_ros robots lists all)'
        )
    text += did_you_mean(similar_names(name, embedded + examples))
    if not examples:
        text += f'; panda, ur5, g1, talos and some 60 more come by: {INSTALL_EXAMPLES}'
    return text


def _some(names: List[str]) -> str:
    if not names:
        return 'it has no .urdf and no .xacro file'
    more = ' ...' if len(names) > MAX_SHOWN else ''
    return ', '.join(names[:MAX_SHOWN]) + more


def _expand(path: Path, mappings: Dict[str, str], package_paths: Iterable[str]) -> str:
    # Imported where there is xacro: it runs in another process.
    from rbd_ros.model.urdf.xacro_expansion import expand_xacro

    try:
        return expand_xacro(str(path), None, mappings, package_paths)
    except ModelError as error:
        raise RobotNotFoundError(str(error)) from None
