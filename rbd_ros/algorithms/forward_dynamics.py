"""Forward dynamics by the joint-space inertia matrix (book 6.1) of a tree with gears (book 9.6).

Without gears the articulated-body algorithm (aba.py) is the cheaper way to the same accelerations.
"""

from typing import List, Mapping, Optional, Sequence

from rbd_ros.algorithms.crba import crba
from rbd_ros.algorithms.factorisation import ltdl
from rbd_ros.algorithms.newton_euler import newton_euler
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar


def forward_dynamics_by_inertia_matrix(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    tau: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
    diagonal: Optional[Sequence[Scalar]] = None,
) -> List[Scalar]:
    """Accelerations ydd of G^T H G ydd = tau - G^T C of the independent coordinates.

    Source: book eq 3.20 and 9.26, with g = 0.

    :param q: independent configuration, (nq,) [rad, m]
    :param qd: independent velocity, (nv,) [rad/s, m/s]
    :param tau: independent generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :param diagonal: added to the diagonal of the inertia matrix, (nv,)
    :return: independent accelerations, (nv,) [rad/s^2, m/s^2]
    """
    tree_q, tree_qd = model.tree_position(q), model.tree_velocity(qd)
    C = model.independent_force(
        newton_euler(model, tree_q, tree_qd, [0.0] * model.tree_nv, external_forces)
    )
    H = model.independent_matrix(crba(model, tree_q))
    if diagonal is not None:
        H = [
            [h + diagonal[i] if i == j else h for j, h in enumerate(row)]
            for i, row in enumerate(H)
        ]
    return ltdl(H).solve([t - c for t, c in zip(tau, C)])
