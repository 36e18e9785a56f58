# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Passes: transformations of a graph, within the same graph.

Differentiation: `jacobian` and `directional_derivatives` take the cheapest method of
forward_mode.py, reverse_mode.py and vertex_elimination.py. All are exact, also through branches.
partials.py has the derivatives of nodes; choice_guards.py protects from branches not taken.
`expand` expands scalar products for targets without them.
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
