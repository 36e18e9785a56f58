# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robots as Functional Mock-up Units (FMI 3.0, co-simulation): torque in, joint state out.

variables.py defines inputs and outputs, description.py writes the XML, physics_source.py the C
code of a simulation step, functions.py the FMI functions around it; fmu.py creates the archive.
"""

from rbd_ros.fmi.fmu import compile_fmu, Fmu, make_fmu

__all__ = ['Fmu', 'compile_fmu', 'make_fmu']
