# SPDX-License-Identifier: Apache-2.0
"""Contact with Coulomb friction as one problem, and solvers of it, compiled (book 11.5).

No shapes are here, and no detection of contacts. friction.py has the problem, friction_space.py
how compiled solvers see it; friction_solution.py and friction_bodies.py solve it for users.
"""

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
