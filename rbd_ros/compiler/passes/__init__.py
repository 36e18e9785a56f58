# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Passes: from a graph to more of the same graph.

Differentiation: `jacobian` and `directional_derivatives` take the way that costs least, of
forward_mode.py, reverse_mode.py and vertex_elimination.py. All are exact, also through branches.
What the nodes' own derivatives are is in partials.py; what a branch not taken must not spoil, in
choice_guards.py. `expand` writes out scalar products for what takes none.
"""

from rbd_ros.compiler.passes.differentiate import (
    DifferentiableGraph,
    differentiated,
    directional_derivatives,
    jacobian,
)
from rbd_ros.compiler.passes.expand import expand
from rbd_ros.compiler.passes.forward_mode import forward_mode
from rbd_ros.compiler.passes.partials import along, Direction
from rbd_ros.compiler.passes.reverse_mode import reverse_mode
from rbd_ros.compiler.passes.vertex_elimination import vertex_elimination

__all__ = [
    'along',
    'DifferentiableGraph',
    'differentiated',
    'Direction',
    'directional_derivatives',
    'expand',
    'forward_mode',
    'jacobian',
    'reverse_mode',
    'vertex_elimination',
]
