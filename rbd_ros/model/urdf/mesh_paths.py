# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Paths of the mesh files of a URDF on this machine, found without ROS."""

from __future__ import annotations

import os
from typing import Callable, Dict, Iterable, Iterator, List, Optional, Union
from urllib.parse import unquote


def list_of_paths(paths: Iterable[Union[str, os.PathLike[str]]]) -> List[str]:
    """Return paths as texts; a single path counts as a list."""
    if isinstance(paths, (str, os.PathLike)):
        paths = (paths,)
    return [os.fspath(each) for each in paths]


class MeshPaths:
    """Resolver of mesh file names.

    A `package://name/rest` is searched in the given roots, those of ROS_PACKAGE_PATH, `share` of
    those of AMENT_PREFIX_PATH, and the directories above the description, in this order. A root
    may be the parent directory of the package or the package itself. Other names are absolute, or
    relative to the description.

    :param directory: directory of the description, None for a string
    :param package_paths: further roots
    """

    def __init__(
        self, directory: Optional[str], package_paths: Iterable[Union[str, os.PathLike[str]]] = ()
    ):
        self._directory = directory
        #: The further roots
        self.roots = list_of_paths(package_paths)
        self._packages: Dict[str, List[str]] = {}

    def resolve(self, uri: str) -> Optional[str]:
        """Return the absolute path of the file of `uri`, None if it is not found.

        A file that is not regular is rejected where it is read.
        """
        return self._first(uri, lambda path: os.path.exists(path) and not os.path.isdir(path))

    def folder(self, uri: str) -> Optional[str]:
        """Return the absolute path of the folder of `uri`, None if it is not found."""
        return self._first(uri, os.path.isdir)

    def _first(self, uri: str, is_it: Callable[[str], bool]) -> Optional[str]:
        return next((os.path.abspath(path) for path in self._candidates(uri) if is_it(path)), None)

    def package(self, name: str) -> Optional[str]:
        """Return the absolute path of the directory of a package, None if it is not found."""
        found = [] if name in ('', '.', '..') else self._package_directories(name)
        return os.path.abspath(found[0]) if found else None

    def _candidates(self, uri: str) -> Iterator[str]:
        scheme, separator, rest = uri.partition('://')
        if not separator:
            if os.path.isabs(uri):
                yield uri
            elif self._directory is not None:
                yield os.path.join(self._directory, uri)
        elif scheme == 'file':  # some writers of URDF percent-encode such a path
            yield rest
            yield unquote(rest)
        elif scheme in ('package', 'model'):
            # package:///name is a common mistake, so leading slashes are dropped
            package, _, inside = rest.lstrip('/').partition('/')
            if package not in ('', '.', '..'):
                for root in self._package_directories(package):
                    yield os.path.join(root, inside)

    def _package_directories(self, package: str) -> List[str]:
        if package not in self._packages:
            found = (path for path in self._possible_directories(package) if os.path.isdir(path))
            self._packages[package] = list(dict.fromkeys(found))
        return self._packages[package]

    def _possible_directories(self, package: str) -> Iterator[str]:
        ros_roots = os.environ.get('ROS_PACKAGE_PATH', '').split(os.pathsep)
        for root in filter(None, self.roots + ros_roots):
            yield os.path.join(root, package)
            if os.path.basename(os.path.abspath(root)) == package:
                yield root
        for prefix in filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)):
            yield os.path.join(prefix, 'share', package)
        above = self._directory
        while above:
            if os.path.basename(above) == package:
                yield above
            yield os.path.join(above, package)
            parent = os.path.dirname(above)
            above = parent if parent != above else None
