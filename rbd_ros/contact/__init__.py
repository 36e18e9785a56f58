"""Contact: shapes and their contact points, the ground, the law of soft contact (book ch. 11).

The names below are loaded on first use: compiling a loop of this room takes none of them.
"""

from __future__ import annotations

from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from rbd_ros.contact.compliant_surfaces import (
        CompliantContact,
        HuntCrossleySurface,
        in_series,
        LinearSurface,
        SurfaceMemory,
        TwoSurfaces,
    )
    from rbd_ros.contact.detection import ContactShapes
    from rbd_ros.contact.ground import ContactParameters, HalfSpace
    from rbd_ros.contact.mesh import mesh_vertices, MeshError
    from rbd_ros.contact.shapes import contact_shapes, hull_points

__all__ = [
    'CompliantContact',
    'ContactParameters',
    'ContactShapes',
    'HalfSpace',
    'HuntCrossleySurface',
    'LinearSurface',
    'MeshError',
    'SurfaceMemory',
    'TwoSurfaces',
    'contact_shapes',
    'hull_points',
    'in_series',
    'mesh_vertices',
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for (PEP 562)."""
    if name in __all__:
        from rbd_ros.contact import detection, ground, mesh, shapes

        for module in (detection, ground, mesh, shapes):
            if hasattr(module, name):
                return getattr(module, name)
        from rbd_ros.contact import compliant_surfaces  # the simulator takes none of it

        return getattr(compliant_surfaces, name)
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
