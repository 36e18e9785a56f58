"""Configurations as points of a manifold (book 4.4): what moving at a velocity leads to."""

from typing import List, Sequence

from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.kinds import CONFIGURATION, DISPLACEMENT
from rbd_ros.model import Model
from rbd_ros.spatial.scalar import Scalar


@algorithm(
    'integrate',
    inputs={'q': CONFIGURATION, 'step': DISPLACEMENT},
    outputs={'q': CONFIGURATION},
    coordinates=INDEPENDENT,
    source='RBDA eq 4.12 to 4.15',
    peer='integrate',
)
def integrate(model: Model, q: Sequence[Scalar], step: Sequence[Scalar]) -> List[Scalar]:
    """Configuration reached at constant velocity; quaternions stay unit, (nq,).

    :param q: configuration, (nq,) [rad, m]
    :param step: velocity times time, (nv,) [rad, m]
    """
    result: List[Scalar] = []
    for i, (at_q, at_v) in model.independent_slices.items():
        result.extend(model.body(i).joint.integrate(q[at_q], step[at_v]))
    return result
