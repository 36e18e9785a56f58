"""Contact: shapes and their contact points, the ground, the law of soft contact (book ch. 11)."""

from rbd_ros.contact.ground import ContactParameters, HalfSpace
from rbd_ros.contact.mesh import mesh_vertices, MeshError
from rbd_ros.contact.shapes import contact_shapes, ContactShapes, hull_points

__all__ = [
    'ContactParameters',
    'ContactShapes',
    'HalfSpace',
    'MeshError',
    'contact_shapes',
    'hull_points',
    'mesh_vertices',
]
