"""Inertia of the whole robot as felt at a frame: operational-space inertia (Khatib 1987)."""

from typing import Any, List, Mapping, Sequence

from rbd_ros.algorithms.crba import crba
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT, Kind
from rbd_ros.algorithms.factorisation import ltdl
from rbd_ros.algorithms.jacobians import jacobian
from rbd_ros.algorithms.kinds import CONFIGURATION, FRAME, REFERENCE, SPATIAL_MATRIX
from rbd_ros.algorithms.singularity import require_regular_mass_matrix
from rbd_ros.model import Frame, Model, ModelError
from rbd_ros.spatial.scalar import Scalar

Matrix = List[List[Scalar]]

_INPUTS: Mapping[str, Kind] = {'q': CONFIGURATION, 'frame': FRAME, 'reference': REFERENCE}


@algorithm(
    'inverse_operational_inertia',
    inputs=_INPUTS,
    outputs={'mobility': SPATIAL_MATRIX},
    coordinates=INDEPENDENT,
    source='Khatib, IEEE J. Robotics and Automation 1987',
    check=require_regular_mass_matrix,
)
def inverse_operational_inertia(
    model: Model, q: Sequence[Scalar], frame: Frame, reference: str
) -> Matrix:
    """Acceleration of a frame that a unit of spatial force on it causes: J H^-1 J^T, (6, 6).

    Its rank is below six where the robot cannot move the frame in all directions.

    :param q: independent configuration, (nq,) [rad, m]
    :param frame: the frame, with its place on its body
    :param reference: what motion and force are expressed in; see `jacobian`
    """
    tree_q = model.tree_position(q)
    H = model.independent_matrix(crba(model, tree_q))
    J = model.independent_columns(jacobian(model, tree_q, frame, reference))
    factors = ltdl(H)
    columns = [factors.solve(row) for row in J]
    lower = [
        [sum((x * y for x, y in zip(J[i], columns[j])), 0.0) for j in range(i + 1)]
        for i in range(6)
    ]
    return [[lower[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)]


def require_six_freedoms(
    model: Model, given_later: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that a frame can move in all directions, and that forces determine how.

    :param given_later: bodies that get inertia at run time
    :param chosen: what is chosen, the 'frame' among it
    :raises ModelError: if it cannot
    """
    require_regular_mass_matrix(model, given_later, chosen)
    name = chosen['frame']
    body = model.frame(name).body
    freedoms = {model.tree_dof_index[k] for k in model.support_dofs(body)}
    if len(freedoms) < 6:
        raise ModelError(
            f'frame {name!r} has {len(freedoms)} of the 6 freedoms that an operational-space '
            'inertia takes; inverse_operational_inertia exists for any'
        )


@algorithm(
    'operational_inertia',
    inputs=_INPUTS,
    outputs={'inertia': SPATIAL_MATRIX},
    coordinates=INDEPENDENT,
    source='Khatib, IEEE J. Robotics and Automation 1987',
    check=require_six_freedoms,
)
def operational_inertia(model: Model, q: Sequence[Scalar], frame: Frame, reference: str) -> Matrix:
    """Spatial force on a frame that causes a unit of acceleration: (J H^-1 J^T)^-1, (6, 6).

    It grows without bound where the Jacobian loses rank.

    :param q: independent configuration, (nq,) [rad, m]
    :param frame: the frame, with its place on its body
    :param reference: what motion and force are expressed in; see `jacobian`
    """
    factors = ltdl(inverse_operational_inertia(model, q, frame, reference))
    columns = [factors.solve([1.0 if i == j else 0.0 for i in range(6)]) for j in range(6)]
    return [[columns[max(i, j)][min(i, j)] for j in range(6)] for i in range(6)]
