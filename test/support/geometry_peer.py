# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Distances of a robot's shapes from its URDF, by Pinocchio's kinematics and coal."""

import numpy as np

from rbd_ros.collision.shapes.contact_shapes import Box, Plane, Sphere
from support import outside
from support.pinocchio_bridge import Bridge, pin

coal = outside.load('coal')


class GeometryPeer:
    """Shapes of a URDF and of a world, placed by Pinocchio.

    :param path: the URDF
    :param robot: ours, whose shapes are looked up
    :param floating_base: whether the root link moves freely
    """

    def __init__(self, path, robot, floating_base=False):
        self.bridge = Bridge(path.read_text(encoding='utf-8'), floating_base)
        self.shapes = pin.buildGeomFromUrdf(
            self.bridge.model, str(path), pin.GeometryType.COLLISION
        )
        self.robot = robot
        self.request = coal.DistanceRequest()
        self.request.gjk_tolerance, self.request.epa_tolerance = 1e-12, 1e-10
        self.request.gjk_max_iterations = self.request.epa_max_iterations = 1000

    def add(self, name, geometry, pose):
        """Add a static object of the world."""
        placement = pin.SE3(np.array(pose, dtype=float))
        self.shapes.addGeometryObject(pin.GeometryObject(name, 0, placement, geometry))

    def number(self, shape):
        """Return the index of the geometry of one of our shapes."""
        owner, _, link = shape.name.partition('/')
        if not link:
            return self.shapes.getGeometryId(owner)
        own = [g for g in self.robot.model.geometries if g.role == 'collision' and g.link == link]
        (k,) = [
            k
            for k, g in enumerate(own)
            if np.array_equal(np.array(g.placement.pose(), dtype=float), shape.pose)
            and type(g.shape).__name__ == type(shape.shape).__name__
        ]
        return self.shapes.getGeometryId(f'{link}_{k}')

    def distances(self, q, pairs):
        """Return the signed distances in our configuration q, of pairs of our shapes, (P,) [m]."""
        data = pin.GeometryData(self.shapes)
        model = self.bridge.model
        pin.updateGeometryPlacements(
            model, model.createData(), self.shapes, data, self.bridge.q(np.asarray(q))
        )
        found = []
        for pair in pairs:
            arguments = []
            for shape in pair:
                k = self.number(shape)
                at = data.oMg[k]
                arguments += [
                    self.shapes.geometryObjects[k].geometry,
                    coal.Transform3s(at.rotation, at.translation),
                ]
            found.append(coal.distance(*arguments, self.request, coal.DistanceResult()))
        return np.array(found)


def in_coal(shape):
    """Return Coal's shape of one of ours."""
    if isinstance(shape, Plane):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    assert isinstance(shape, Box)
    return coal.Box(*shape.size)
