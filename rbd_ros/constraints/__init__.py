# SPDX-License-Identifier: Apache-2.0
"""Constraints as rows of one problem, and solvers of it, chosen and not built in (book 11.5).

No shapes are here, and no detection of contacts. Friction has a problem of its own: friction.py,
and friction_space.py as its compiled solvers see it.
"""

from rbd_ros.constraints.friction import (
    friction_problem,
    FrictionProblem,
    Residuals,
    residuals,
)
from rbd_ros.constraints.friction_bodies import BodySolution, solve_friction_bodies
from rbd_ros.constraints.friction_solution import FrictionSolution, solve_friction
from rbd_ros.constraints.lcp import infeasibility, solve_lcp
from rbd_ros.constraints.minimal_set import (
    disc_contacts,
    minimal_contact_set,
    positively_dependent,
)
from rbd_ros.constraints.problem import InfeasibleContactError, LcpSolution, NotSolvedError
from rbd_ros.constraints.solvers.gauss import GaussSolution, solve_gauss
from rbd_ros.constraints.unilateral import (
    contact_state,
    ContactState,
    PenetrationError,
    TransitionError,
    UnilateralConstraint,
)

__all__ = [
    'BodySolution',
    'ContactState',
    'FrictionProblem',
    'FrictionSolution',
    'GaussSolution',
    'InfeasibleContactError',
    'LcpSolution',
    'NotSolvedError',
    'PenetrationError',
    'Residuals',
    'TransitionError',
    'UnilateralConstraint',
    'contact_state',
    'disc_contacts',
    'friction_problem',
    'infeasibility',
    'minimal_contact_set',
    'positively_dependent',
    'residuals',
    'solve_friction',
    'solve_friction_bodies',
    'solve_gauss',
    'solve_lcp',
]
