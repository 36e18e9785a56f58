# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact with Coulomb friction as one problem, and compiled solvers for it (book 11.5).

Shapes and collision detection are elsewhere. friction.py has the problem, friction_space.py its
form in compiled solvers; friction_solution.py and friction_bodies.py are the Python interface.

The names below are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.constraints.friction import (
        friction_problem,
        FrictionProblem,
        NotSolvedError,
        Residuals,
        residuals,
    )
    from rbd_ros.constraints.friction_bodies import BodySolution, solve_friction_bodies
    from rbd_ros.constraints.friction_solution import FrictionSolution, solve_friction

__all__ = [
    'BodySolution',
    'FrictionProblem',
    'FrictionSolution',
    'NotSolvedError',
    'Residuals',
    'friction_problem',
    'residuals',
    'solve_friction',
    'solve_friction_bodies',
]

__getattr__, __dir__ = lazy_names(__name__)
