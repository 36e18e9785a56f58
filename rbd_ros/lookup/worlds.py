# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Finding a world file by path, package URI or name.

The simulator node and the launch files both use this, so a name means the same everywhere. The
content of a file is read in `rbd_ros.collision`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Dict, Sequence

from rbd_ros.lookup.resources import matching_names, resource_path
from rbd_ros.model.urdf.mesh_paths import MeshPaths

#: Suffixes of the names of worlds, among the files of config/.
ENDING = '_world'


class WorldNotFoundError(ValueError):
    """The world file does not exist; the message lists existing ones."""


def find_world(name: str, package_paths: Sequence[str] = ()) -> Path:
    """Return the absolute path of the world file that `name` means.

    Tried in this order: a package:// URI; a file, with ~, relative to the working directory; the
    name of a world that comes with this package: table_world.yaml, table_world, or table.

    :param name: name, path or URI
    :param package_paths: folders in which packages are looked for first
    :raises WorldNotFoundError: if there is none
    """
    if name.startswith('package://'):
        found = MeshPaths(None, package_paths).resolve(name)
        if found is None:
            raise WorldNotFoundError(
                f'{name} was not found below package_paths and AMENT_PREFIX_PATH; install the '
                'package and source its workspace'
            )
        return Path(found)
    try:
        path = Path(name).expanduser()
        if path.exists() and not path.is_dir():  # not a regular file: rejected where it is read
            return Path(os.path.abspath(path))
    except (OSError, RuntimeError, ValueError) as error:
        raise WorldNotFoundError(f'{name!r} is not a file: {error}') from None
    embedded = embedded_worlds()
    if len(path.parts) == 1:
        requested = name.removesuffix('.yaml')
        short = {each.removesuffix(ENDING): each for each in embedded}
        found = matching_names(requested, embedded, short)
        if len(found) == 1:
            return embedded[found[0]]
        if found:
            raise WorldNotFoundError(
                f'world {name!r} is ambiguous: {", ".join(found)}; name one of them'
            )
    raise WorldNotFoundError(
        f'there is no file {os.path.abspath(path)}, and no world of that name comes with rbd_ros '
        f'({", ".join(embedded)})'
    )


def embedded_worlds() -> Dict[str, Path]:
    """Return the worlds that come with this package: their files by name."""
    return {path.stem: path for path in sorted(resource_path('config').glob(f'*{ENDING}.yaml'))}
