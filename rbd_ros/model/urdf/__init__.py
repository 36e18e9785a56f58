# SPDX-License-Identifier: Apache-2.0
"""URDF: from its text, checked line by line, to a model.

document.py reads the XML, schema.py knows what may stand in it, description.py has its links and
joints, tree.py and mimic.py how they hang together; reader.py makes the model of it.
"""

from rbd_ros.model.urdf.reader import load_urdf

__all__ = ['load_urdf']
