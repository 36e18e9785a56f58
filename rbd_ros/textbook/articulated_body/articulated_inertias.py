# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Articulated-body inertias and bias forces of all subtrees (book 7.2.2, eq 7.21 to 7.25)."""

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.array import Array
from rbd_ros.algorithms.articulated_body.matrices import rows_of
from rbd_ros.algorithms.declaration import algorithm, INDEPENDENT
from rbd_ros.algorithms.inertia_matrix.singularity import require_regular_mass_matrix
from rbd_ros.algorithms.inverse_dynamics.forces import to_body_coordinates
from rbd_ros.algorithms.kinds import CONFIGURATION, EXTERNAL_FORCES, FORCE, VELOCITY
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model, ModelError
from rbd_ros.spatial import ArticulatedBodyInertia, ForceVector, MotionVector, PluckerTransform
from rbd_ros.spatial.scalar import Scalar
from rbd_ros.textbook.articulated_body.articulated_assembly import propagated

Scalars = Sequence[Scalar]


def _inertias(values: Sequence[ArticulatedBodyInertia]) -> List[Scalar]:
    return [x for inertia in values for row in rows_of(inertia) for x in row]


def _forces(values: Sequence[ForceVector]) -> List[Scalar]:
    return [x for force in values for x in force]


_INERTIAS = Array(
    'I', 'inertia of each body', '[kg m^2, kg m, kg]', ('bodies', 6, 6), flat=_inertias
)
_FORCES = Array('p', 'bias force of each body', '[N m, N]', ('bodies', 6), flat=_forces)


class ArticulatedInertias(NamedTuple):
    """Coefficients of f_i = IA a_i + pA = Ia a_parent + pa for each joint i of a tree.

    f_i is the force [n; f] that the parent transmits to body i, a_i the acceleration of body i
    without that of gravity (which is upwards at rest), all in the coordinates of body i.

    :param IA: articulated-body inertia of body i, handle of its subtree, (bodies, 6, 6)
    :param pA: its bias force, (bodies, 6) [N m, N]
    :param Ia: the inertia propagated through the joint to the parent, (bodies, 6, 6)
    :param pa: the bias force, likewise, (bodies, 6) [N m, N]
    """

    IA: ResultArray
    pA: ResultArray
    Ia: ResultArray
    pa: ResultArray


def require_no_gears(
    model: Model, runtime_bodies: Sequence[int], chosen: Mapping[str, Any]
) -> None:
    """Check that joints are independent, and that forces determine their motion.

    :param runtime_bodies: bodies that get inertia at run time
    :param chosen: compile-time choices
    :raises ModelError: if some mimic others
    """
    require_regular_mass_matrix(model, runtime_bodies, chosen)
    if model.couplings:
        names = ', '.join(repr(model.body(c.body).joint_name) for c in model.couplings)
        raise ModelError(
            f'mimic joints {names} couple subtrees, which are then not independent articulated '
            'bodies; use forward_dynamics or handle_response'
        )


@algorithm(
    'articulated_inertias',
    inputs={
        'q': CONFIGURATION,
        'qd': VELOCITY,
        'tau': FORCE,
        'external_forces': EXTERNAL_FORCES,
    },
    outputs={'IA': _INERTIAS, 'pA': _FORCES, 'Ia': _INERTIAS, 'pa': _FORCES},
    coordinates=INDEPENDENT,
    result=ArticulatedInertias,
    source='RBDA eq 7.21 to 7.25',
    check=require_no_gears,
)
def articulated_inertias(
    model: Model,
    q: Scalars,
    qd: Scalars,
    tau: Scalars,
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> ArticulatedInertias:
    """Return each body as the handle of its subtree, by the assembly method from the leaves on.

    :param q: configuration, (nq,) [rad, m]
    :param qd: velocity, (nv,) [rad/s, m/s]
    :param tau: generalized forces, (nv,) [N m, N]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]
    :return: lists over bodies 1, 2, ...
    """
    X: Dict[int, PluckerTransform] = {}
    S, c, IA, pA, Ia, pa = {}, {}, {}, {}, {}, {}
    v = {0: MotionVector.zero()}
    for i, body in model.outward():
        joint = body.joint.calc(q[body.q], qd[body.v])
        S[i] = joint.S
        X[i] = joint.X * body.tree_transform
        v[i] = X[i] * v[body.parent] + joint.v
        c[i] = joint.c + v[i].cross(joint.v)
        IA[i] = ArticulatedBodyInertia.from_rigid(body.inertia)
        pA[i] = v[i].cross(body.inertia * v[i])
    for i, force in to_body_coordinates(model, X, external_forces).items():
        pA[i] = pA[i] - force
    for i, body in model.inward():
        Ia[i], pa[i] = propagated(IA[i], pA[i], S[i], c[i], tau[body.v], body.armature)
        if body.parent != 0:
            IA[body.parent] = IA[body.parent] + X[i].inverse_apply(Ia[i])
            pA[body.parent] = pA[body.parent] + X[i].inverse_apply(pa[i])
    bodies = [i for i, _ in model.outward()]
    return ArticulatedInertias(*([each[i] for i in bodies] for each in (IA, pA, Ia, pa)))
