# SPDX-License-Identifier: Apache-2.0
"""Robots as Functional Mock-up Units (FMI 3.0, co-simulation): torque in, joint state out.

variables.py says what goes in and out, description.py writes the XML, physics_source.py the C text
of a simulation step, functions.py the functions of the standard around it; unit.py makes the
archive.
"""

from rbd_ros.fmi.unit import compile_unit, make_unit, Unit

__all__ = ['Unit', 'compile_unit', 'make_unit']
