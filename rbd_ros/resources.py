"""Where the files of urdf/, config/, launch/ and rviz/ lie: source tree, pip or colcon prefix.

Knows neither ROS nor anything else of the package.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


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
        f'no share/{_PACKAGE.name} above {_PACKAGE}: the package was installed without its data '
        'files; install it by pip or colcon'
    )


def resource_path(*parts: str) -> Path:
    """Find one file, for instance `resource_path('urdf', 'two_link_arm.urdf')`.

    :param parts: folder and file names below the share directory
    :return: absolute path of the file
    :raises FileNotFoundError: if there is no such file, naming those that lie beside it
    """
    path = share_directory().joinpath(*parts)
    if not path.exists():
        beside = sorted(entry.name for entry in path.parent.glob('*'))
        raise FileNotFoundError(f'no {"/".join(parts)}; there are: {", ".join(beside) or "none"}')
    return path
