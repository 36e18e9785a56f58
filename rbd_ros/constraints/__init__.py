"""Constraints as rows of one problem, and solvers of it, chosen and not built in (book 11.5).

No shapes are here, and no detection of contacts.
"""

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
    'ContactState',
    'GaussSolution',
    'InfeasibleContactError',
    'LcpSolution',
    'NotSolvedError',
    'PenetrationError',
    'TransitionError',
    'UnilateralConstraint',
    'contact_state',
    'disc_contacts',
    'infeasibility',
    'minimal_contact_set',
    'positively_dependent',
    'solve_gauss',
    'solve_lcp',
]
