# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""URDF: from its text, checked line by line, to a model.

urdf_document.py reads the XML, schema.py knows what may stand in it, urdf_description.py has its
links and joints, joint_tree.py how they hang together; urdf_reader.py makes the model of
it.
"""

from rbd_ros.model.urdf.urdf_reader import load_urdf

__all__ = ['load_urdf']
