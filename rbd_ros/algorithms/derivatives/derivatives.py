"""Dynamics together with its derivatives, in one pass.

There are two ways to those of inverse dynamics: differentiation of its text, exact to rounding,
which is the compiler's (rbd_ros/compiler/passes), and a recursion written out by hand
(analytical_derivatives.py). Each checks the other, and a kernel is made of the one that takes fewer
operations: of a robot with more than a few joints that is the one by hand, down to half of them,
because a pair of joints takes five scalar products there however far apart, while differentiation
carries each derivative along the whole way between two joints.
"""

from rbd_ros.algorithms.declaration import derivatives_of
from rbd_ros.algorithms.derivatives.analytical_derivatives import (
    analytical_derivatives,
    has_constant_subspaces,
    InverseDynamicsDerivatives,
)
from rbd_ros.algorithms.inverse_dynamics.newton_euler import newton_euler
from rbd_ros.model import Model

# Of the robots tried, none with more freedoms takes fewer operations by differentiation. It is not
# tried, since its time grows faster than the number of joints.
_MANY_FREEDOMS = 12


def has_many_freedoms(model: Model) -> bool:
    """Whether derivatives of inverse dynamics are those written out by hand in any case.

    They take constant motion subspaces.
    """
    return model.tree_nv > _MANY_FREEDOMS and has_constant_subspaces(model)


INVERSE_DYNAMICS_DERIVATIVES = derivatives_of(
    newton_euler,
    'inverse_dynamics_derivatives',
    by=('q', 'v', 'a'),
    result=InverseDynamicsDerivatives,
    written_out=analytical_derivatives,
    where=has_many_freedoms,
    possible=has_constant_subspaces,
)
