# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""Robot of a URDF, with its dynamics compiled on first use.

Its parts are in robot_description.py, robot_configuration.py, robot_kinematics.py,
robot_dynamics.py, and the families of functions in families/.
"""

from __future__ import annotations

from functools import cached_property
import os
from pathlib import Path
from typing import (
    Any,
    Callable,
    Iterable,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TYPE_CHECKING,
    Union,
)

import numpy as np
from numpy.typing import ArrayLike

from rbd_ros.compiler import OperationCount
from rbd_ros.model import load_urdf, Model, ModelError
from rbd_ros.robot.kernels import Algorithm, AnyKernel, Compiled, Kernels
from rbd_ros.robot.other_names import ForeignNames, with_former_names
from rbd_ros.robot.robot_configuration import ConfigurationFunctions
from rbd_ros.robot.robot_description import RobotDescription
from rbd_ros.robot.robot_dynamics import DynamicsFunctions
from rbd_ros.robot.robot_kinematics import KinematicsFunctions
from rbd_ros.spatial import RigidBodyInertia

if TYPE_CHECKING:
    # Imported on demand: most robots have no extension, and use few families.
    from rbd_ros.model.extension import EXTENSIONS, Loops
    from rbd_ros.robot.families.centroidal_family import CentroidalFunctions
    from rbd_ros.robot.families.derivatives_family import DerivativeFunctions
    from rbd_ros.robot.families.hybrid_family import HybridFunctions
    from rbd_ros.robot.families.loops_family import LoopFunctions
    from rbd_ros.robot.families.regressors_family import RegressorFunctions
    from rbd_ros.textbook.articulated_body.articulated_family import ArticulatedFunctions
    from rbd_ros.textbook.contact_dynamics.contacts_family import ContactFunctions
    from rbd_ros.textbook.contact_dynamics.impacts_family import ImpactFunctions
    from rbd_ros.textbook.denoc.denoc_family import ComplementFunctions
    from rbd_ros.textbook.floating_base.floating_base_family import FloatingBaseFunctions


@with_former_names
class Robot(
    RobotDescription,
    ConfigurationFunctions,
    DynamicsFunctions,
    KinematicsFunctions,
    ForeignNames,
):
    """A robot and its dynamics.

    Angles are in radians, all else in SI units. Spatial vectors have their angular part first;
    quaternions are (w, x, y, z). A floating base has q = (quaternion, position) and the velocity
    of its body in body coordinates. Every array argument may have a leading batch axis N, as then
    has the result; single states are repeated for a batch. NaN or infinity anywhere in a state
    makes the whole result for that state NaN.

    :param model: system model; usually created by `from_urdf`

    >>> robot.name, robot.nq, robot.nv
    ('six_axis_arm', 6, 6)
    >>> robot.joint_names[:2], robot.body_names[0], robot.link_names[-1]
    (('shoulder_pan_joint', 'shoulder_lift_joint'), 'shoulder_link', 'tool0')
    >>> robot.lower_limits[2], robot.upper_limits[2], robot.velocity_limits[2]  # [rad, rad/s]
    (-3.1416, 3.1416, 3.1416)
    >>> robot.effort_limits  # [N m]
    array([150., 150., 150.,  28.,  28.,  28.])
    >>> robot.damping[0], robot.friction[0], robot.armature[0]  # [N m s/rad, N m, kg m^2]
    (1.2, 1.5, 0.0)
    >>> robot.stiffness.any(), robot.spring_rest.any()  # springs come by an extension file
    (False, False)
    >>> robot.gravity, robot.warnings
    (array([ 0.  ,  0.  , -9.81]), ())
    >>> len(robot.model.bodies)
    6
    """

    def __init__(self, model: Model):
        if not isinstance(model, Model):
            raise ValueError(
                f'model must be a Model, got {type(model).__name__}: Robot.from_urdf reads the '
                'path of a URDF file, or its text'
            )
        RobotDescription.__init__(self, model)
        Compiled.__init__(self, Kernels(model))

    @classmethod
    def from_urdf(
        cls,
        path_or_xml: Union[str, os.PathLike[str]],
        floating_base: bool = False,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        strict: bool = False,
        armature: Optional[Union[Mapping[str, float], str, os.PathLike[str]]] = None,
        package_paths: Iterable[Union[str, os.PathLike[str]]] = (),
        extension: EXTENSIONS = None,
        loops: Optional[Loops] = None,
    ) -> Robot:
        """Load a robot from a URDF.

        :param path_or_xml: path of a URDF or xacro file, its text, a package:// URI, or a name
            that `rbd_ros robots` lists
        :param floating_base: whether the root link floats instead of being fixed to the world
        :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]
        :param strict: whether a non-physical inertia is an error instead of a warning
        :param armature: reflected rotor inertia by joint name [kg m^2 or kg], or the path of a
            YAML file with them
        :param package_paths: directories that are searched first for packages of `package://`
            addresses and of xacro
        :param extension: properties that URDF lacks (joint types, gears, rotors, loops), see
            docs/extension.md: a mapping, or the path of a YAML file
        :param loops: further loop joints, or mappings like the entries of `loops` there with a
            `name`; they need not close at the neutral configuration
        :raises ModelError: if the description is invalid, with the element and the cure

        >>> robot = Robot.from_urdf('urdf/six_axis_arm.urdf', armature={'elbow_joint': 0.2})
        >>> robot.armature[2]
        0.2
        >>> Robot.from_urdf('urdf/six_axis_arm.urdf', floating_base=True).nv
        12
        """
        if extension is not None:
            from rbd_ros.model.extension import read_extension

            extension = read_extension(extension)  # once, for all users
        model = load_urdf(
            _found_by_name(path_or_xml, package_paths),
            floating_base=floating_base,
            gravity=gravity,
            strict=strict,
            armature=armature,
            package_paths=package_paths,
            extension=extension,
            loops=loops,
        )
        if model.loops:
            from rbd_ros.model.extension import read_extension
            from rbd_ros.robot.assembled import assembled

            model, _ = assembled(model, read_extension(extension))
        return cls(model)

    @classmethod
    def combine(
        cls,
        robots: Mapping[str, Union[Robot, str, os.PathLike[str]]],
        placements: Optional[Mapping[str, ArrayLike]] = None,
        gravity: Optional[Sequence[float]] = None,
        name: str = '',
    ) -> Robot:
        """Combine several robots into one, side by side and connected by the world only.

        Names of joints and links are prefixed by their robot's name, such as 'left/elbow_joint',
        except for a robot named ''. q, v and tau contain those of all robots in order. Gears,
        loops, limits, friction and all else are those of the robots.

        :param robots: robots, paths of URDF files, or their text, by name
        :param placements: poses of their base coordinates in the world by name, (4, 4) [1, m]; the
            default is the origin. The pose of a floating base is relative to it
        :param gravity: acceleration of gravity in the world, (3,) [m/s^2]; None: the common one of
            the robots
        :param name: name of the whole; '': made from those of the robots
        :raises ModelError: for duplicate or unknown names, an invalid robot, different gravities,
            or an invalid placement

        >>> aside = np.eye(4)
        >>> aside[:3, 3] = [0.0, 1.0, 0.0]  # a meter to the left [m]
        >>> both = Robot.combine({'left': robot, 'right': robot}, {'left': aside})
        >>> both.nv, both.joint_names[6], both.frame('left/base_link').pose(np.zeros(12))[1, 3]
        (12, 'right/shoulder_pan_joint', 1.0)
        >>> H = both.mass_matrix(np.concatenate([q, q]))
        >>> np.allclose(H[6:, 6:], robot.mass_matrix(q)), H[:6, 6:].any()
        (True, False)
        """
        from rbd_ros.model.combined_models import combine_models, transform_of_pose

        models = {
            each: (robot if isinstance(robot, Robot) else cls.from_urdf(robot)).model
            for each, robot in robots.items()
        }
        transforms = {
            each: transform_of_pose(each, pose) for each, pose in (placements or {}).items()
        }
        return cls(combine_models(models, transforms, gravity, name))

    def with_joints_locked(self, positions: Mapping[str, Union[float, Sequence[float]]]) -> Robot:
        """Return the robot with some joints fixed.

        Links, frames and shapes keep their names. Joints that mimic a locked one are locked too;
        armature, friction and springs of locked joints are dropped.

        :param positions: positions by joint name [rad or m]; a sequence for a joint with several
            position variables
        :raises ModelError: for an unknown joint, one that mimics another or moves as a function of
            time, a position outside the limits, or a loop without a moving body

        >>> shorter = robot.with_joints_locked({'wrist_2_joint': 0.5})
        >>> shorter.nv, 'wrist_2_joint' in shorter.joint_names
        (5, False)
        >>> full, kept = np.array([0.1, -0.9, 1.2, 0.3, 0.5, 0.0]), [0, 1, 2, 3, 5]
        >>> np.allclose(shorter.gravity_torque(full[kept]), robot.gravity_torque(full)[kept])
        True
        """
        from rbd_ros.model.locked_joints import with_joints_locked

        return type(self)(with_joints_locked(self.model, positions))

    def with_payload(
        self,
        link: str,
        mass: float,
        center_of_mass: Sequence[float] = (0.0, 0.0, 0.0),
        inertia: Any = None,
    ) -> Robot:
        """Return the robot with a payload that is fixed to a link.

        :param link: name of the link
        :param mass: mass [kg]
        :param center_of_mass: center of mass in link coordinates, (3,) [m]
        :param inertia: inertia about the center of mass along the axes of the link: (6,) ixx, ixy,
            ixz, iyy, iyz, izz, or (3, 3) [kg m^2]; None: a point mass
        :raises ValueError: for an unknown link, or an inertia that is not physical

        >>> loaded = robot.with_payload('tool0', 2.0, (0.0, 0.0, 0.1))
        >>> loaded.gravity_torque(q) - robot.gravity_torque(q)  # [N m]
        array([-0.   , -4.196, -8.193, -1.718,  2.111,  0.   ])
        """
        from rbd_ros.model.payload import payload_parameters

        parameters = payload_parameters(mass, center_of_mass, inertia).tolist()
        load = RigidBodyInertia.from_parameters(parameters)
        return type(self)(self.model.with_link_inertia(link, load, add=True))

    def with_inertia_from_shapes(
        self,
        density: Optional[float] = None,
        links: Optional[Iterable[str]] = None,
        mass: Optional[float] = None,
    ) -> Robot:
        """Return the robot with inertias of links from their shapes.

        Collision shapes are used, or visual ones without these, with uniform density. Overlaps
        count twice. A mesh that is not closed is replaced by its convex hull. `warnings` names the
        links.

        :param density: density of the shapes [kg/m^3]
        :param links: names of links whose inertia is replaced; None: moving links with shapes but
            no mass that are not fixed to a link with a mass
        :param mass: total mass of these links, instead of a density [kg]
        :raises ModelError: for a link whose shapes enclose no volume, or cannot be read
        :raises ValueError: for an unknown link, or an implausible density

        >>> printed = robot.with_inertia_from_shapes(1200.0, ['forearm_link'])
        >>> printed.warnings[-1]
        "links have the inertia of their shapes at 1200 kg/m^3, 3.52 kg in all: 'forearm_link'"
        """
        from rbd_ros.robot.inertia_from_shapes import with_inertia_from_shapes

        return type(self)(with_inertia_from_shapes(self.model, density, links, mass))

    def with_robot_mounted(
        self,
        other: Union[Robot, str, os.PathLike[str]],
        link: str,
        pose: Optional[ArrayLike] = None,
        name: str = '',
    ) -> Robot:
        """Return the robot with another one, such as a gripper, mounted on a link.

        :param other: the mounted robot, the path of its URDF file, or its text
        :param link: name of the link, or of the joint, in whose frame it is mounted
        :param pose: pose of its base coordinates in that frame, (4, 4) [1, m], or scipy's
            RigidTransform; None: identity
        :param name: prefix of its links, joints and shapes, followed by a slash; '': no prefix
        :raises ModelError: for a duplicate name, a floating base, or an invalid pose
        :raises ValueError: for an unknown link

        >>> pose = np.eye(4)
        >>> pose[2, 3] = 0.1  # in front of the flange [m]
        >>> both = robot.with_robot_mounted('urdf/four_bar.urdf', 'tool0', pose, name='tool')
        >>> both.nv, both.joint_names[6], both.frame('tool/ground').pose(np.zeros(6 + 3)).shape
        (9, 'tool/crank_joint', (4, 4))
        """
        from rbd_ros.model.combined_models import transform_of_pose, with_robot_mounted

        carried = other if isinstance(other, Robot) else type(self).from_urdf(other)
        X = transform_of_pose(name or carried.name, np.eye(4) if pose is None else pose)
        return type(self)(with_robot_mounted(self.model, carried.model, link, X, name))

    def without_link(self, link: str) -> Robot:
        """Return the robot without a link, its joint, and all links that it carries.

        :param link: name of the link
        :raises ModelError: for the root link, or if a remaining joint mimics a removed one
        :raises ValueError: for an unknown link

        >>> robot.without_link('wrist_2_link').nv
        4
        """
        from rbd_ros.model.removed_links import without_link

        return type(self)(without_link(self.model, link))

    def __repr__(self) -> str:
        return (
            f'<Robot {self.name!r}: {self.nv} degrees of freedom, {len(self._model.links)} links>'
        )

    def _repr_html_(self) -> str:
        from rbd_ros.html_tables import html_table  # only notebooks need it

        rows = []
        for i, (at_q, at_v) in self._model.independent_slices.items():
            body = self._model.body(i)
            positions = self.lower_limits[at_q], self.upper_limits[at_q]
            rates = self.velocity_limits[at_v], self.effort_limits[at_v]
            rows.append((body.joint_name, type(body.joint).__name__, *positions, *rates))
        units = ('lower [rad, m]', 'upper [rad, m]', 'velocity [rad/s, m/s]', 'effort [N m, N]')
        return html_table(repr(self), ('joint', 'type', *units), rows)

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self._model,)

    # -- families of functions

    @cached_property
    def derivatives(self) -> DerivativeFunctions:
        """Dynamics together with its derivatives."""
        from rbd_ros.robot.families.derivatives_family import DerivativeFunctions

        return DerivativeFunctions(self._kernels)

    @cached_property
    def hybrid(self) -> HybridFunctions:
        """Hybrid dynamics: forces given at some joints, accelerations at the others."""
        from rbd_ros.robot.families.hybrid_family import HybridFunctions

        return HybridFunctions(self._kernels)

    @cached_property
    def impacts(self) -> ImpactFunctions:
        """Impulses and collisions."""
        from rbd_ros.textbook.contact_dynamics.impacts_family import ImpactFunctions

        return ImpactFunctions(self._kernels)

    @cached_property
    def loops(self) -> LoopFunctions:
        """Constraints of kinematic loops."""
        from rbd_ros.robot.families.loops_family import LoopFunctions

        return LoopFunctions(self._kernels)

    @cached_property
    def regressors(self) -> RegressorFunctions:
        """Forces, energy and momentum as linear functions of the inertial parameters."""
        from rbd_ros.robot.families.regressors_family import RegressorFunctions

        return RegressorFunctions(self._kernels)

    @cached_property
    def articulated(self) -> ArticulatedFunctions:
        """Articulated bodies, their handles and their assembly."""
        from rbd_ros.textbook.articulated_body.articulated_family import ArticulatedFunctions

        return ArticulatedFunctions(self._kernels)

    @cached_property
    def floating_base(self) -> FloatingBaseFunctions:
        """Dynamics of the base separate from that of the joints, for a robot with a floating base.

        :raises ModelError: if its base is fixed
        """
        from rbd_ros.textbook.floating_base.floating_base_family import FloatingBaseFunctions

        return FloatingBaseFunctions(self._kernels)

    @cached_property
    def centroidal(self) -> CentroidalFunctions:
        """Momentum about the center of mass."""
        from rbd_ros.robot.families.centroidal_family import CentroidalFunctions

        return CentroidalFunctions(self._kernels)

    @cached_property
    def contacts(self) -> ContactFunctions:
        """Point contacts between bodies, and the equations of their forces (book ch. 11)."""
        from rbd_ros.textbook.contact_dynamics.contacts_family import ContactFunctions

        return ContactFunctions(self._kernels)

    @cached_property
    def denoc(self) -> ComplementFunctions:
        """Dynamics of hinges and sliders by the decoupled natural orthogonal complement."""
        from rbd_ros.textbook.denoc.denoc_family import ComplementFunctions

        return ComplementFunctions(self._kernels)

    # -- kernels

    def function(self, name: str, runtime: Sequence[str] = ()) -> Callable[..., Any]:
        """Return the variant of a method that has constants, such as gravity, as inputs.

        :param name: name of the method, such as 'gravity_torque'
        :param runtime: the additional inputs, arrays after the method's own, in this order:
            'gravity', (3,); 'inertia:<link>', (10,), the link's inertial parameters;
            'payload:<link>', (10,), parameters to add to it. Ten parameters are m, m cx, m cy, m
            cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz, in link coordinates, with the inertia about the
            link's origin.
        :return: callable with array arguments; forward_kinematics returns one array, (links, 4, 4)
        :raises ValueError: for an unknown method or link

        >>> hold = robot.function('gravity_torque', runtime=('gravity',))
        >>> hold(q, [0.0, 0.0, -1.62])  # on the moon [N m]
        array([-0.   ,  0.414, -2.857, -0.295,  0.05 ,  0.   ])
        """
        return self.kernel(name, runtime=runtime).function

    def kernel(self, algorithm: Algorithm, **options: Any) -> AnyKernel:
        """Return the kernel of an algorithm, compiled on first use.

        :param algorithm: name of an algorithm of `rbd_ros.algorithms`, or any declared function
            (rbd_ros/algorithms/declaration.py)
        :param options: `runtime` as in `function`; `forces`, the links with an external force;
            choices of the algorithm, such as `frame`; inputs that become constants; `storage`,
            'packed' for the lower triangle of symmetric results, row by row
        :raises ValueError: for an unknown algorithm or option

        >>> robot.kernel('position_rate').function(q, v).shape
        (6,)
        >>> robot.kernel('jacobian', frame='tool0').function(q).shape
        (6, 6)
        """
        return self._kernels.get(algorithm, **options)

    def operation_count(
        self, name: Algorithm, equivalent: bool = True, **options: Any
    ) -> Optional[OperationCount]:
        """Return the number of operations of an algorithm's machine code, by kind.

        None without a compiler. Other arguments are those of `kernel`.

        :param equivalent: False counts the machine code of the model itself, not of one with the
            same equations of motion and fewer parameters (book 9.7)

        >>> count = robot.operation_count('gravity_torque')
        >>> count is None or count.multiplications < 200  # None without a compiler
        True
        >>> itself = robot.operation_count('gravity_torque', equivalent=False)
        >>> count is None or itself.multiplications > count.multiplications
        True
        """
        count = self.kernel(name, **options).count
        if count is None or equivalent:
            return count
        return self._kernels.operations_as_it_is(name, **options)


def _found_by_name(
    source: Union[str, os.PathLike[str]], package_paths: Iterable[Union[str, os.PathLike[str]]]
) -> Union[str, os.PathLike[str]]:
    """Return the path of a named robot; a path or text unchanged.

    :raises ModelError: if the name is unknown or ambiguous
    """
    if not isinstance(source, str) or '<' in source or '\n' in source or os.path.exists(source):
        return source
    # Imported for names only: most sources are files.
    from rbd_ros.lookup.robots import find_robot, RobotNotFoundError, SUFFIXES

    is_uri = source.startswith('package://')
    if not is_uri and (not source.strip() or os.sep in source or Path(source).suffix in SUFFIXES):
        return source
    try:
        return str(find_robot(source, package_paths))
    except RobotNotFoundError as error:
        raise ModelError(str(error)) from None
