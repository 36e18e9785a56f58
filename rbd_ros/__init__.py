"""Robot control and simulation from a URDF: rigid-body dynamics as a library and as ROS 2 nodes.

The three names below are loaded on first use, so that `import rbd_ros` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from rbd_ros.model import ModelError
    from rbd_ros.robot import Robot
    from rbd_ros.simulation import Simulator

__all__ = ['ModelError', 'Robot', 'Simulator', '__version__']

__version__ = '0.1.0'

_HOME_OF_NAME = {
    'ModelError': 'rbd_ros.model',
    'Robot': 'rbd_ros.robot',
    'Simulator': 'rbd_ros.simulation',
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name not in _HOME_OF_NAME:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(import_module(_HOME_OF_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Names of the public interface, imported yet or not."""
    return sorted({*globals(), *__all__})
