# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Contact problems as complementarity problems, and their solvers (book 11.4 to 11.6).

Contact problems with friction have compiled solvers in rbd_ros.constraints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbd_ros.lazy_names import lazy_names

if TYPE_CHECKING:
    from rbd_ros.constraints.friction import NotSolvedError
    from rbd_ros.textbook.complementarity.gauss import GaussSolution, solve_gauss
    from rbd_ros.textbook.complementarity.lcp import infeasibility, solve_lcp
    from rbd_ros.textbook.complementarity.lcp_problem import (
        InfeasibleContactError,
        LcpSolution,
    )
    from rbd_ros.textbook.complementarity.minimal_set import (
        disc_contacts,
        minimal_contact_set,
        positively_dependent,
    )
    from rbd_ros.textbook.complementarity.unilateral import (
        PenetrationError,
        TransitionError,
        unilateral_state,
        UnilateralConstraint,
        UnilateralState,
    )

__all__ = [
    'GaussSolution',
    'InfeasibleContactError',
    'LcpSolution',
    'NotSolvedError',
    'PenetrationError',
    'TransitionError',
    'UnilateralConstraint',
    'UnilateralState',
    'disc_contacts',
    'infeasibility',
    'minimal_contact_set',
    'positively_dependent',
    'solve_gauss',
    'solve_lcp',
    'unilateral_state',
]

__getattr__, __dir__ = lazy_names(__name__)
