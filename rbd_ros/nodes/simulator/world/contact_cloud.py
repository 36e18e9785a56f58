# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contacts of a simulated world as a PointCloud2 with normal, force and depth of each point."""

from __future__ import annotations

from array import array
import sys

import numpy as np
from sensor_msgs.msg import PointCloud2, PointField

from rbd_ros.nodes.messages.conversions import set_stamp
from rbd_ros.nodes.simulator.world.object_motion import ObjectContacts

#: Fields of a point, all float32.
FIELDS = (
    'x', 'y', 'z', 'normal_x', 'normal_y', 'normal_z', 'force_x', 'force_y', 'force_z', 'depth',
)  # fmt: skip
SIZE = np.dtype(np.float32).itemsize


def contact_cloud(contacts: ObjectContacts, frame: str, time: int) -> PointCloud2:
    """Return the message of contacts.

    :param contacts: the contacts, in world coordinates
    :param frame: name of the world's frame
    :param time: stamp [ns]
    """
    parts = contacts.positions, contacts.normals, contacts.forces, contacts.depths[:, None]
    points = np.hstack(parts).astype(np.float32)
    message = PointCloud2(
        height=1,
        width=len(points),
        fields=[
            PointField(name=name, offset=k * SIZE, datatype=PointField.FLOAT32, count=1)
            for k, name in enumerate(FIELDS)
        ],
        is_bigendian=sys.byteorder == 'big',
        point_step=len(FIELDS) * SIZE,
        row_step=points.nbytes,
        data=array('B', points.tobytes()),
        is_dense=True,
    )
    message.header.frame_id = frame
    set_stamp(message.header.stamp, time)
    return message
