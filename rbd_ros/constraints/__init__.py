"""Constraints as rows of one problem, and solvers of it, chosen and not built in (book 11.5).

No shapes are here, and no detection of contacts.
"""

from rbd_ros.constraints.lcp import infeasibility, solve_lcp
from rbd_ros.constraints.problem import InfeasibleContactError, LcpSolution, NotSolvedError
from rbd_ros.constraints.solvers.gauss import GaussSolution, solve_gauss

__all__ = [
    'GaussSolution',
    'InfeasibleContactError',
    'LcpSolution',
    'NotSolvedError',
    'infeasibility',
    'solve_gauss',
    'solve_lcp',
]
