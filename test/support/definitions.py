# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Definitions of a robot's functions, before compilation."""

from dataclasses import replace

from rbd_ros.robot.kernels import declared
from rbd_ros.robot.variants import definition, variant


def definition_of(model, name, **options):
    """Return the definition of an algorithm for a model."""
    return definition(model, variant(model, declared(name), **options))


def by_differentiation(model, name, **options):
    """Return the definition that the compiler differentiates, even if it is specialized."""
    return definition(
        model, variant(model, replace(declared(name), specialization=None), **options)
    )
