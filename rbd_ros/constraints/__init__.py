# SPDX-License-Identifier: Apache-2.0
"""Contact with Coulomb friction as one problem, and solvers of it, compiled (book 11.5).

No shapes are here, and no detection of contacts. friction.py has the problem, friction_space.py
how compiled solvers see it.
"""

from rbd_ros.constraints.friction import (
    friction_problem,
    FrictionProblem,
    Residuals,
    residuals,
)

__all__ = [
    'FrictionProblem',
    'Residuals',
    'friction_problem',
    'residuals',
]
