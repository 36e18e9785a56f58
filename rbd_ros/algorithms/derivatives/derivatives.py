"""Dynamics together with its derivatives, in one pass.

The derivatives are those of the texts themselves, exact to rounding: differentiation is the
compiler's (rbd_ros/compiler/passes). It carries each derivative along the whole way between two
joints, which is too far in long chains: with many joints they are those written out by hand
(analytical_derivatives.py), where a pair of joints takes five scalar products however far apart.
"""

from rbd_ros.algorithms.declaration import derivatives_of
from rbd_ros.algorithms.derivatives.analytical_derivatives import (
    analytical_derivatives,
    has_constant_subspaces,
    InverseDynamicsDerivatives,
)
from rbd_ros.algorithms.inverse_dynamics.newton_euler import newton_euler
from rbd_ros.model import Model

# Of the robots tried, those with more freedoms take at most 1 % more operations by hand, and down
# to a third less; those with fewer freedoms may take more, a UR5 twice as many.
_MANY_FREEDOMS = 36


def has_many_freedoms(model: Model) -> bool:
    """Whether derivatives of inverse dynamics are those written out by hand.

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
)
