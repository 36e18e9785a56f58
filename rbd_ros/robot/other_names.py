# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Former names of the Python API, and names of other libraries.

A former name works with a warning. A name of another library raises an AttributeError with our
name; docs/coming_from.md shows that table, and a test compares them.
"""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Tuple, Type, TYPE_CHECKING, TypeVar
import warnings

Kind = TypeVar('Kind')

#: Present names by class and name before the first release.
RENAMED: Dict[str, Dict[str, str]] = {
    'Robot': {'together': 'combine'},
    'DerivativeFunctions': {
        'forward_dynamics_by_parameters': 'forward_dynamics_wrt_parameters',
        'forward_dynamics_twice': 'forward_dynamics_second_order',
        'inverse_dynamics_twice': 'inverse_dynamics_second_order',
    },
    'RegressorFunctions': {'fitted': 'fit_consistent_parameters'},
    'ArticulatedFunctions': {'by_inverse_inertias': 'assembly_by_inverse_inertia'},
}

#: British spellings, which work without a warning, also for algorithms.
SYNONYMS: Dict[str, Dict[str, str]] = {
    'Robot': {
        'centre_of_mass': 'center_of_mass',
        'centre_of_mass_jacobian': 'center_of_mass_jacobian',
    },
    'DerivativeFunctions': {'centre_of_mass_jacobian': 'center_of_mass_jacobian'},
}


class ForeignName(NamedTuple):
    """A name of another library, and its equivalent here.

    :param library: such as 'Pinocchio'
    :param name: the name there
    :param here: our equivalent, such as 'Robot.inverse_dynamics' or
        'Robot.frame(name).jacobian'
    """

    library: str
    name: str
    here: str


def _rows(library: str, text: str) -> List[ForeignName]:
    rows = [line.split(maxsplit=1) for line in text.split('\n') if line.strip()]
    return [ForeignName(library, name, here) for name, here in rows]


#: Names of other libraries that a user may try on a `Robot` or a `Simulator`.
FOREIGN: Tuple[ForeignName, ...] = (
    *_rows(
        'Pinocchio',
        """
        buildModelFromUrdf Robot.from_urdf
        appendModel Robot.with_robot_mounted
        buildReducedModel Robot.with_joints_locked
        names Robot.joint_names
        lowerPositionLimit Robot.lower_limits
        upperPositionLimit Robot.upper_limits
        velocityLimit Robot.velocity_limits
        effortLimit Robot.effort_limits
        rotorInertia Robot.armature
        randomConfiguration Robot.random_configuration
        rnea Robot.inverse_dynamics
        aba Robot.forward_dynamics
        crba Robot.mass_matrix
        computeMinverse Robot.inverse_mass_matrix
        nle Robot.bias_force
        nonLinearEffects Robot.bias_force
        computeGeneralizedGravity Robot.gravity_torque
        computeCoriolisMatrix Robot.coriolis_matrix
        computeKineticEnergy Robot.energy
        computePotentialEnergy Robot.energy
        forwardKinematics Robot.forward_kinematics
        framesForwardKinematics Robot.forward_kinematics
        oMf Robot.forward_kinematics
        oMi Robot.forward_kinematics
        getFrameId Robot.frame
        computeJointJacobians Robot.frame(name).jacobian
        computeFrameJacobian Robot.frame(name).jacobian
        getFrameJacobian Robot.frame(name).jacobian
        getFrameJacobianTimeVariation Robot.frame(name).jacobian_derivative
        getFrameVelocity Robot.frame(name).velocity
        getFrameAcceleration Robot.frame(name).acceleration
        centerOfMass Robot.center_of_mass
        jacobianCenterOfMass Robot.center_of_mass_jacobian
        ccrba Robot.centroidal.momentum_matrix
        computeCentroidalMomentum Robot.centroidal.momentum
        computeRNEADerivatives Robot.derivatives.inverse_dynamics
        computeABADerivatives Robot.derivatives.forward_dynamics
        computeJointTorqueRegressor Robot.regressors.torque
        """,
    ),
    *_rows(
        'MuJoCo',
        """
        from_xml_path Robot.from_urdf
        mj_step Simulator.step
        mj_resetData Simulator.reset
        mj_inverse Robot.inverse_dynamics
        mj_forward Robot.forward_dynamics
        mj_fullM Robot.mass_matrix
        mj_jac Robot.frame(name).jacobian
        mj_jacBody Robot.frame(name).jacobian
        mj_integratePos Robot.integrate
        mj_differentiatePos Robot.difference
        mj_contactForce Simulator.contacts
        mjd_transitionFD Simulator.step_derivatives
        data Simulator.q, Simulator.v
        qpos Simulator.q
        qvel Simulator.v
        qacc Simulator.a
        ctrl Simulator.step
        qfrc_applied Simulator.tau
        qfrc_bias Robot.bias_force
        qfrc_constraint Simulator.constraint_force
        xfrc_applied Simulator.apply_wrench
        xpos Robot.forward_kinematics
        xquat Robot.forward_kinematics
        subtree_com Robot.center_of_mass
        ncon Simulator.contacts
        contact Simulator.contacts
        sensordata Simulator.sensors
        opt Simulator.timestep
        """,
    ),
    *_rows('ikpy', 'inverse_kinematics Robot.frame(name).inverse_kinematics'),
    *_rows('KDL, TRAC-IK', 'CartToJnt Robot.frame(name).inverse_kinematics'),
)

_BY_NAME = {each.name: each.here for each in FOREIGN}


class Renamed:
    """A former name of an attribute: returns the present one, with a DeprecationWarning.

    :param owner: name of the class
    :param old: the former name
    :param new: the present name
    """

    def __init__(self, owner: str, old: str, new: str):
        self.owner, self.old, self.new = owner, old, new

    def __get__(self, instance: Any, owner: Type[Any]) -> Any:
        """Return the attribute with the present name."""
        warnings.warn(
            f'{self.owner}.{self.old} is deprecated; use {self.owner}.{self.new}',
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(owner if instance is None else instance, self.new)


class Synonym:
    """Another spelling of an attribute.

    :param name: the documented spelling
    """

    def __init__(self, name: str):
        self.name = name

    def __get__(self, instance: Any, owner: Type[Any]) -> Any:
        """Return the attribute."""
        return getattr(owner if instance is None else instance, self.name)


def with_former_names(kind: Type[Kind]) -> Type[Kind]:
    """Add former names and synonyms to a class.

    :param kind: class whose name is in `RENAMED`
    """
    for old, new in RENAMED[kind.__name__].items():
        setattr(kind, old, Renamed(kind.__name__, old, new))
    for old, new in SYNONYMS.get(kind.__name__, {}).items():
        setattr(kind, old, Synonym(new))
    return kind


class ForeignNames:
    """Error with our name if a user tries the name of another library."""

    if not TYPE_CHECKING:  # type checkers must find unknown attributes

        def __getattr__(self, name: str) -> Any:
            kind = type(self)
            if hasattr(kind, name):
                # A property itself raised AttributeError: raise that again.
                return object.__getattribute__(self, name)
            if name in _BY_NAME:
                here = _BY_NAME[name]
                raise AttributeError(f'{kind.__name__} has no {name!r}: that is {here}')
            # With name and object, Python suggests similar attributes.
            raise AttributeError(
                f'{kind.__name__!r} object has no attribute {name!r}', name=name, obj=self
            )
