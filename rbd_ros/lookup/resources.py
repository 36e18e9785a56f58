# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Paths of the files of urdf/, config/, launch/ and rviz/: source tree, pip or colcon prefix.

It also resolves ambiguous names, and imports neither ROS nor other modules of the package.
"""

from pathlib import Path
import re
from types import MappingProxyType
from typing import Iterable, List, Mapping

_PACKAGE = Path(__file__).resolve().parents[1]


def share_directory() -> Path:
    """Find the folder that holds package.xml, urdf/, config/, launch/ and rviz/.

    :return: the root of a source tree, or share/rbd_ros below the prefix of the installation
    :raises FileNotFoundError: if the package was installed without its data files
    """
    source_tree = _PACKAGE.parent
    if (source_tree / 'package.xml').is_file():
        return source_tree
    for prefix in _PACKAGE.parents:
        share = prefix / 'share' / _PACKAGE.name
        if (share / 'package.xml').is_file():
            return share
    raise FileNotFoundError(
        f'there is no share/{_PACKAGE.name} above {_PACKAGE}: the package was installed without '
        'its data files; install it by pip or colcon'
    )


def resource_path(*parts: str) -> Path:
    """Find one file, for instance `resource_path('urdf', 'two_link_arm.urdf')`.

    :param parts: folder and file names below the share directory
    :return: absolute path of the file
    :raises FileNotFoundError: if there is no such file, naming those that lie beside it
    """
    path = share_directory().joinpath(*parts)
    if not path.exists():
        siblings = sorted(entry.name for entry in path.parent.glob('*'))
        raise FileNotFoundError(
            f'there is no file {"/".join(parts)}; there are: {", ".join(siblings) or "none"}'
        )
    return path


def matching_names(
    requested: str,
    names: Iterable[str],
    common: Mapping[str, str] = MappingProxyType({}),
    further: Mapping[str, str] = MappingProxyType({}),
) -> List[str]:
    """Return the possible meanings of a name: one, several if ambiguous, none if unknown.

    Tried in this order: the name itself; without regard to case and punctuation; a common name;
    the name with `_robot` behind it; words of a name, or of what belongs to it, the last of which
    may be cut.

    :param requested: the requested name
    :param names: names that there are
    :param common: names by their common short names, in lower case
    :param further: other words that a name goes by, by the name

    >>> from rbd_ros.lookup.resources import matching_names
    >>> names = ['panda', 'ur5_robot', 'ur10_robot']
    >>> [matching_names(x, names, {'franka': 'panda'}) for x in ('Franka', 'UR5', 'ur', 'x')]
    [['panda'], ['ur5_robot'], ['ur5_robot', 'ur10_robot'], []]
    """
    names = list(names)
    if requested in names:
        return [requested]
    plain = _plain(requested)
    equal = [name for name in names if _plain(name) == plain]
    if equal:
        return equal
    if common.get(plain) in names:
        return [common[plain]]
    longer = [name for name in names if _plain(name) == f'{plain}_robot']
    if longer or len(plain.strip('_')) < 2:
        return longer
    return [
        name
        for name in names
        if any(f'_{plain}' in f'_{_plain(text)}' for text in (name, further.get(name, '')))
    ]


def _plain(name: str) -> str:
    return re.sub('[^a-z0-9]+', '_', name.lower())
