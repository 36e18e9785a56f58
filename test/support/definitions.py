# SPDX-License-Identifier: Apache-2.0
"""What a robot's functions compute, before anything is compiled."""

from dataclasses import replace

from rbd_ros.robot.kernels import declared
from rbd_ros.robot.variants import definition, variant


def definition_of(model, name, **options):
    """Definition of an algorithm for a model."""
    return definition(model, variant(model, declared(name), **options))


def by_differentiation(model, name, **options):
    """Definition that the compiler differentiates, even if another way takes its place."""
    return definition(model, variant(model, replace(declared(name), instead=None), **options))
