# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Dynamics together with its derivatives, in one pass.

There are three methods for those of inverse dynamics: differentiation of the function by the
compiler, exact up to rounding (rbd_ros/compiler/passes), and an analytical recursion, in the
coordinates of one body (analytical_derivatives.py) or of each (derivatives_by_bodies.py). They
check each other, and a kernel is made of the one with the fewest operations: for more than a few
joints that is an analytical one, with down to half of them. Its cost for a pair of joints does not
depend on their distance, while differentiation propagates each derivative along the whole path.

Derivatives without velocities or accelerations use the same recursion, in which zeros fold away.
"""

from typing import Any, Mapping, NamedTuple, Optional, Sequence

from rbd_ros.algorithms.declaration import algorithm, derivatives_of, EQUIVALENT, INDEPENDENT, Kind
from rbd_ros.algorithms.derivatives.analytical_derivatives import (
    analytical_derivatives,
    has_constant_subspaces,
    InverseDynamicsDerivatives,
    require_constant_subspaces,
)
from rbd_ros.algorithms.derivatives.derivatives_by_bodies import (
    always,
    derivatives_by_bodies,
    has_very_many_dofs,
)
from rbd_ros.algorithms.inertia_matrix.crba import mass_matrix
from rbd_ros.algorithms.inverse_dynamics.rnea import bias_force, gravity_torque, rnea
from rbd_ros.algorithms.kinds import CONFIGURATION, EXTERNAL_FORCES, FORCE, MATRIX, VELOCITY
from rbd_ros.algorithms.momentum.energy import energy
from rbd_ros.array_types import ResultArray
from rbd_ros.model import Model
from rbd_ros.spatial import ForceVector
from rbd_ros.spatial.scalar import Scalar

# For all tested robots with more DoFs, analytical derivatives take fewer operations.
# Differentiation is not tried, since its time grows faster than the number of joints.
_MANY_DOFS = 12


def has_many_dofs(model: Model) -> bool:
    """Return whether derivatives of inverse dynamics are always the analytical ones.

    These require constant motion subspaces.
    """
    return model.tree_nv > _MANY_DOFS and has_constant_subspaces(model)


INVERSE_DYNAMICS_DERIVATIVES = derivatives_of(
    rnea,
    'inverse_dynamics_derivatives',
    by=('q', 'v', 'a'),
    result=InverseDynamicsDerivatives,
    specialization=derivatives_by_bodies,
    prefer_when=has_many_dofs,
    applicable_when=has_constant_subspaces,
    pinocchio_equivalent='computeRNEADerivatives',
)


class BiasForceDerivatives(NamedTuple):
    """Bias force and its derivatives; by q along the velocities.

    :param C: bias force, (nv,) [N m, N]
    :param dC_dq: its derivatives by the configuration, (nv, nv)
    :param dC_dv: by the velocity, (nv, nv)
    """

    C: ResultArray
    dC_dq: ResultArray
    dC_dv: ResultArray


_BIAS_FORCE_INPUTS: Mapping[str, Kind] = {
    'q': CONFIGURATION,
    'qd': VELOCITY,
    'external_forces': EXTERNAL_FORCES,
}
_BIAS_FORCE_OUTPUTS = {'C': FORCE, 'dC_dq': MATRIX, 'dC_dv': MATRIX}


@algorithm(
    'bias_force_analytical_derivatives',
    inputs=_BIAS_FORCE_INPUTS,
    outputs=_BIAS_FORCE_OUTPUTS,
    result=BiasForceDerivatives,
    model=EQUIVALENT,
    source='Singh, Russell and Wensing, IEEE RA-L 2022',
    check=require_constant_subspaces,
)
def bias_force_analytical_derivatives(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> BiasForceDerivatives:
    """Return the bias force and its derivatives, of a tree whose joints have constant subspaces.

    :param q: configuration of the tree, (tree_nq,) [rad, m]
    :param qd: velocity of the tree, (tree_nv,) [rad/s, m/s]
    :param external_forces: force on each body in base coordinates, by body number [N m, N]

    >>> D = robot.kernel('bias_force_analytical_derivatives').function(q, v)
    >>> np.allclose(D.dC_dv, robot.derivatives.bias_force(q, v).dC_dv)
    True
    """
    rest = [0.0] * model.tree_nv
    return BiasForceDerivatives(*analytical_derivatives(model, q, qd, rest, external_forces)[:3])


@algorithm(
    'bias_force_derivatives_by_bodies',
    inputs=_BIAS_FORCE_INPUTS,
    outputs=_BIAS_FORCE_OUTPUTS,
    result=BiasForceDerivatives,
    coordinates=INDEPENDENT,
    model=EQUIVALENT,
    source='RBDA 2.11',
    check=require_constant_subspaces,
    specialization=bias_force_analytical_derivatives,
    prefer_when=has_very_many_dofs,
    applicable_when=always,
)
def bias_force_derivatives_by_bodies(
    model: Model,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    external_forces: Optional[Mapping[int, ForceVector]] = None,
) -> BiasForceDerivatives:
    """Return the bias force and its derivatives, as `bias_force_analytical_derivatives`.

    >>> result = robot.kernel('bias_force_derivatives_by_bodies').function(q, v)
    >>> np.allclose(result.dC_dv, robot.derivatives.bias_force(q, v).dC_dv)
    True
    """
    rest = [0.0] * model.nv
    return BiasForceDerivatives(*derivatives_by_bodies(model, q, qd, rest, external_forces)[:3])


BIAS_FORCE_DERIVATIVES = derivatives_of(
    bias_force,
    'bias_force_derivatives',
    by=('q', 'v'),
    result=BiasForceDerivatives,
    specialization=bias_force_derivatives_by_bodies,
    prefer_when=has_many_dofs,
    applicable_when=has_constant_subspaces,
)


class GravityTorqueDerivatives(NamedTuple):
    """Gravity compensation torques, and their derivatives along the velocities.

    :param tau: generalized forces, (nv,) [N m, N]
    :param dtau_dq: their derivatives by the configuration: the stiffness of gravity, (nv, nv)
    """

    tau: ResultArray
    dtau_dq: ResultArray


GRAVITY_TORQUE_DERIVATIVES = derivatives_of(
    gravity_torque,
    'gravity_torque_derivatives',
    by=('q',),
    result=GravityTorqueDerivatives,
    pinocchio_equivalent='computeGeneralizedGravityDerivatives',
)


class MassMatrixDerivatives(NamedTuple):
    """Joint-space inertia matrix, and its derivatives along the velocities.

    :param H: inertia matrix, (nv, nv) [kg m^2, kg m, kg]
    :param dH_dq: its derivatives by the configuration, which is the last axis, (nv, nv, nv)
    """

    H: ResultArray
    dH_dq: ResultArray


MASS_MATRIX_DERIVATIVES = derivatives_of(
    mass_matrix, 'mass_matrix_derivatives', by=('q',), result=MassMatrixDerivatives
)


class EnergyDerivatives(NamedTuple):
    """Energy and its gradients [J]; by q along the velocities.

    :param kinetic: kinetic energy, rotors included
    :param potential: potential energy
    :param dkinetic_dq: derivatives of the kinetic energy by the configuration, (nv,)
    :param dkinetic_dv: by the velocity, the generalized momentum H v, (nv,)
    :param dpotential_dq: derivatives of the potential energy by the configuration, which is the
        torque of gravity, (nv,)
    :param dpotential_dv: by the velocity: zeros, (nv,)
    """

    kinetic: Any
    potential: Any
    dkinetic_dq: ResultArray
    dkinetic_dv: ResultArray
    dpotential_dq: ResultArray
    dpotential_dv: ResultArray


ENERGY_DERIVATIVES = derivatives_of(
    energy, 'energy_derivatives', by=('q', 'v'), result=EnergyDerivatives
)
