"""Collision: where and how deep shapes touch. No forces.

Each file is a family of pairs, in compiled loops: planes.py, spheres.py, capsules.py,
capsule_box.py and boxes.py with its parts box_axes.py and face_clipping.py; narrow_phase.py
chooses among them. queries.py is what users call. The names below are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.collision.queries import Contacts, contacts, distance, Nearest, supported
    from rbd_ros.collision.shapes import Box, Capsule, Cylinder, Plane, Shape, Sphere

__all__ = [
    'Box',
    'Capsule',
    'Contacts',
    'Cylinder',
    'Nearest',
    'Plane',
    'Shape',
    'Sphere',
    'contacts',
    'distance',
    'supported',
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        'Box': 'rbd_ros.collision.shapes',
        'Capsule': 'rbd_ros.collision.shapes',
        'Contacts': 'rbd_ros.collision.queries',
        'Cylinder': 'rbd_ros.collision.shapes',
        'Nearest': 'rbd_ros.collision.queries',
        'Plane': 'rbd_ros.collision.shapes',
        'Shape': 'rbd_ros.collision.shapes',
        'Sphere': 'rbd_ros.collision.shapes',
        'contacts': 'rbd_ros.collision.queries',
        'distance': 'rbd_ros.collision.queries',
        'supported': 'rbd_ros.collision.queries',
    },
)
