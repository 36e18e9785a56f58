# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""URDF: conversion of its text, checked line by line, to a model.

urdf_document.py reads the XML and schema.py defines its grammar. urdf_description.py has its links
and joints, joint_tree.py their tree; urdf_reader.py creates the model.
"""

from rbd_ros.model.urdf.urdf_reader import load_urdf

__all__ = ['load_urdf']
