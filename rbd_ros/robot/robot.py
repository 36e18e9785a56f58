"""What a user holds: a robot from a URDF, with its dynamics compiled for it on first use."""

from __future__ import annotations

from functools import cached_property
import os
from typing import (
    Any,
    Callable,
    cast,
    Dict,
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

from rbd_ros.algorithms.inertia_matrix.equations_of_motion import EquationsOfMotion
from rbd_ros.algorithms.inertia_matrix.singularity import singular_joints, singularity
from rbd_ros.algorithms.momentum.energy import Energy
from rbd_ros.compiler import OperationCount
from rbd_ros.compiler.runtime.randomness import generator
from rbd_ros.model import Body, load_urdf, Model
from rbd_ros.model.extension import EXTENSIONS, Loops, read_extension
from rbd_ros.robot.compiled import Array, Compiled, computes, Forces, Out, Outs
from rbd_ros.robot.configuration import neutral
from rbd_ros.robot.frame import RobotFrame
from rbd_ros.robot.kernels import Algorithm, AnyKernel, Kernels
from rbd_ros.robot.link_poses import link_poses, LinkPoses
from rbd_ros.robot.variants import FULL

if TYPE_CHECKING:
    # Imported when they are used: most robots are used without most families.
    from rbd_ros.robot.diagnostics import Diagnostics
    from rbd_ros.robot.families.articulated import ArticulatedFunctions
    from rbd_ros.robot.families.centroidal import CentroidalFunctions
    from rbd_ros.robot.families.denoc import ComplementFunctions
    from rbd_ros.robot.families.derivatives import DerivativeFunctions
    from rbd_ros.robot.families.floating_base import FloatingBaseFunctions
    from rbd_ros.robot.families.hybrid import HybridFunctions
    from rbd_ros.robot.families.loops import LoopFunctions
    from rbd_ros.robot.families.regressors import RegressorFunctions


class Robot(Compiled):
    """A robot and its dynamics.

    Angles are in radians, all else in SI units. Spatial vectors have their angular part first;
    quaternions are (w, x, y, z). A floating base has q = (quaternion, position) and the velocity
    of its body in body coordinates. Every array argument may carry a leading batch axis N, and
    then so does the result; single states are repeated for a batch. A NaN or infinity anywhere in
    a state makes the whole result for that state NaN.

    :param model: system model; `from_urdf` is the usual way to get one
    """

    def __init__(self, model: Model):
        super().__init__(Kernels(model))
        self._model = model
        self._frames: Dict[Tuple[str, str], RobotFrame] = {}
        independent = [(model.body(i), at_v) for i, (_, at_v) in model.independent_slices.items()]
        self._velocity_limits = self._for_each_dof(lambda body: body.limits.velocity, independent)
        self._effort_limits = self._for_each_dof(lambda body: body.limits.effort, independent)
        self._lower, self._upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        for i, (at_q, _) in model.independent_slices.items():
            if model.body(i).joint.nq == 1:
                self._lower[at_q], self._upper[at_q] = (
                    model.body(i).limits.lower,
                    model.body(i).limits.upper,
                )
        for array in (self._lower, self._upper):
            array.flags.writeable = False

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

        :param path_or_xml: path of a URDF file, or its text
        :param floating_base: whether the root link moves freely instead of being fixed to the
            world
        :param gravity: acceleration of gravity in base coordinates, (3,) [m/s^2]
        :param strict: whether a non-physical inertia is an error instead of a warning
        :param armature: reflected rotor inertia by joint name [kg m^2 or kg], or the path of a
            YAML file with them
        :param package_paths: directories in which the packages of `package://` addresses are
            looked for first
        :param extension: what URDF cannot say (joint types, gears, rotors, loops), see
            docs/extension.md: a mapping, or the path of a YAML file
        :param loops: further loop joints, or mappings like the entries of `loops` there with a
            `name`; they need not close at the neutral configuration
        :raises ModelError: if the description is at fault; the message names the element and the
            cure
        """
        extended = read_extension(extension)
        model = load_urdf(
            path_or_xml,
            floating_base=floating_base,
            gravity=gravity,
            strict=strict,
            armature=armature,
            package_paths=package_paths,
            extension=extended,
            loops=loops,
        )
        if model.loops:
            from rbd_ros.robot.assembled import assembled

            model, _ = assembled(model, extended)
        return cls(model)

    def __repr__(self) -> str:
        return (
            f'<Robot {self.name!r}: {self.nv} degrees of freedom, {len(self._model.links)} links>'
        )

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self._model,)

    # -- what it is

    @property
    def model(self) -> Model:
        """System model."""
        return self._model

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self._model.name

    @property
    def nq(self) -> int:
        """Number of position variables."""
        return self._model.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return self._model.nv

    @property
    def joint_names(self) -> Tuple[str, ...]:
        """Names of the joints in the order of q and v, mimic joints left out.

        The order is depth first along the tree of the description, siblings as in the file.
        """
        return self._model.joint_names

    @property
    def link_names(self) -> Tuple[str, ...]:
        """Names of all links."""
        return tuple(self._model.links)

    @property
    def body_names(self) -> Tuple[str, ...]:
        """Names of the moving bodies, each called by the link that gives it its frame."""
        return tuple(body.name for body in self._model.bodies)

    @property
    def warnings(self) -> Tuple[str, ...]:
        """What is odd about the description, each warning naming a link or joint."""
        singular = singularity(self._model)
        if singular:
            return (*self._model.warnings, f'forward dynamics is impossible: {singular}')
        joints = singular_joints(self._model, self.neutral())
        if joints:
            names = ', '.join(map(repr, joints))
            return (
                *self._model.warnings,
                f'the mass matrix is singular at the neutral configuration: joints {names}',
            )
        return self._model.warnings

    def diagnose(self, q: Optional[ArrayLike] = None) -> Diagnostics:
        """What of the model costs accuracy (book 10.1, 10.2): ratios and condition numbers.

        :param q: configuration for the condition numbers, (nq,) [rad, m]; None: the neutral one
        :raises ValueError: for a wrong shape
        """
        from rbd_ros.robot.diagnostics import diagnose

        return diagnose(self._model, None if q is None else np.asarray(q, dtype=float).tolist())

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity in base coordinates, (3,) [m/s^2]."""
        return np.array(self._model.gravity, dtype=float)

    @property
    def effort_limits(self) -> Array:
        """Maximum generalized forces, (nv,) [N m or N]; infinite where the URDF gives none."""
        return self._effort_limits

    @property
    def velocity_limits(self) -> Array:
        """Maximum speeds, (nv,) [rad/s or m/s]; infinite where the URDF gives none."""
        return self._velocity_limits

    @property
    def lower_limits(self) -> Array:
        """Minimum positions, (nq,) [rad or m]; infinite where the URDF gives none."""
        return self._lower

    @property
    def upper_limits(self) -> Array:
        """Maximum positions, (nq,) [rad or m]; infinite where the URDF gives none."""
        return self._upper

    @property
    def damping(self) -> Array:
        """Viscous damping, (nv,) [N m s/rad or N s/m].

        That of mimic joints is reflected to the joints that they follow.
        """
        return self._reflected(lambda body, ratio: body.damping * ratio * ratio)

    @property
    def friction(self) -> Array:
        """Coulomb friction, (nv,) [N m or N].

        That of mimic joints is reflected to the joints that they follow.
        """
        return self._reflected(lambda body, ratio: body.friction * abs(ratio))

    @property
    def armature(self) -> Array:
        """Rotor inertia, part of the diagonal of the mass matrix, (nv,) [kg m^2 or kg].

        That of mimic joints is reflected to the joints that they follow.
        """
        return self._reflected(lambda body, ratio: body.armature * ratio * ratio)

    def _for_each_dof(
        self, value: Callable[[Body], float], independent: Sequence[Tuple[Body, slice]]
    ) -> Array:
        result = np.zeros(self._model.nv)
        for body, at_v in independent:
            result[at_v] = value(body)
        result.flags.writeable = False
        return result

    def _reflected(self, value: Callable[[Body, float], float]) -> Array:
        model, result = self._model, np.zeros(self._model.nv)
        for _, body in model.outward():
            for k in range(model.tree_nv)[body.v]:
                result[model.tree_dof_index[k]] += value(body, model.tree_dof_ratio[k])
        return result

    # -- configurations

    def neutral(self) -> Array:
        """Configuration with all joints at zero, quaternions at the identity, (nq,) [rad, m]."""
        return neutral(self._model)

    @computes('random_configuration')
    def random_configuration(
        self, rng: Optional[np.random.Generator] = None, *, out: Out = None
    ) -> Array:
        """Random configuration, uniform between the joint limits, (nq,) [rad, m].

        A joint without limits is drawn within pi of zero if it turns and within 1 m if it slides;
        orientations are uniform on the rotation group.

        :param rng: source of randomness; one of this process if None
        :param out: array for the result
        """
        u = (rng or generator()).random(self._uniforms)
        return self._call('random_configuration', (u,), None, out)

    def random_configurations(
        self, count: int, rng: Optional[np.random.Generator] = None, *, out: Out = None
    ) -> Array:
        """Batch of configurations, each drawn as by `random_configuration`, (count, nq).

        :param count: number of configurations
        :param rng: source of randomness; one of this process if None
        :param out: array for the result
        """
        u = (rng or generator()).random((count, self._uniforms))
        sample = cast(Callable[..., Array], self.kernel('random_configuration').function)
        return sample(u, out=out)

    @cached_property
    def _uniforms(self) -> int:
        """Number of random numbers that a configuration takes."""
        return sum(self._model.body(i).joint.uniforms for i in self._model.independent)

    @computes('integrate')
    def integrate(
        self, q: ArrayLike, v: ArrayLike, dt: ArrayLike = 1.0, *, out: Out = None
    ) -> Array:
        """Configuration reached from `q` at the constant velocity `v` in time `dt`, (nq,).

        Rotations are exact (book 4.4), and the quaternions of the result have unit length.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param dt: time [s], a number, or one for each state of a batch, (N,)
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('integrate', (q, v, dt), None, out)

    @computes('difference')
    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Out = None) -> Array:
        """Velocity that leads from `q0` to `q1` in unit time, (nv,): `integrate` backwards.

        :param q0: configuration at first, (nq,) [rad, m]
        :param q1: configuration at last, (nq,) [rad, m]
        :param out: array for the result
        :return: velocity [rad/s, m/s]; orientations take the shorter way
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('difference', (q0, q1), None, out)

    # -- dynamics

    @computes('inverse_dynamics')
    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Out = None,
    ) -> Array:
        """Generalized forces tau = H(q) a + C(q, v) for an acceleration (RNEA, book 5.3).

        Joint friction is not part of them.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param a: acceleration, (nv,) [rad/s^2, m/s^2]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N]
        :param out: array for the result
        :return: tau, (nv,) [N m, N]
        :raises ValueError: for a wrong shape or dtype, or an unknown link
        """
        return self._call('inverse_dynamics', (q, v, a), external_forces, out)

    @computes('forward_dynamics')
    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Out = None,
    ) -> Array:
        """Acceleration that generalized forces cause, without joint friction (ABA, book 7.3).

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param tau: generalized forces, (nv,) [N m, N]
        :param external_forces: spatial force [n; f] on each link named, in BASE coordinates, (6,)
            [N m, N]
        :param out: array for the result
        :return: acceleration, (nv,) [rad/s^2, m/s^2]
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them
        :raises ValueError: for a wrong shape or dtype, or an unknown link
        """
        return self._call('forward_dynamics', (q, v, tau), external_forces, out)

    @computes('bias_force')
    def bias_force(
        self, q: ArrayLike, v: ArrayLike, external_forces: Forces = None, *, out: Out = None
    ) -> Array:
        """Bias force C of H a + C = tau, (nv,) [N m, N] (book 6.1).

        It is the force that makes the acceleration zero: against Coriolis and centrifugal effects,
        gravity and external forces.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param external_forces: as for `inverse_dynamics`
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype, or an unknown link
        """
        return self._call('bias_force', (q, v), external_forces, out)

    @computes('gravity_torque')
    def gravity_torque(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Generalized forces that hold the robot still against gravity, (nv,) [N m, N]."""
        return self._call('gravity_torque', (q,), None, out)

    @computes('mass_matrix')
    def mass_matrix(self, q: ArrayLike, *, storage: str = 'full', out: Out = None) -> Array:
        """Joint-space inertia matrix H(q), rotors included (CRBA, book 6.2), (nv, nv).

        :param q: configuration, (nq,)
        :param storage: 'full', or 'packed' for the lower triangle alone, row by row, as
            `H[numpy.tril_indices(nv)]`: half the memory, which is what large batches wait for
        :param out: array for the result
        :return: H, (nv, nv), or (nv (nv + 1) / 2,) if packed [kg m^2, kg m, kg]
        :raises ValueError: for a wrong shape or dtype, or an unknown storage
        """
        if storage != FULL:
            packed = cast(
                Callable[..., Array], self.kernel('mass_matrix', storage=storage).function
            )
            return packed(q, out=out)
        return self._call('mass_matrix', (q,), None, out)

    @computes('inverse_mass_matrix')
    def inverse_mass_matrix(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Inverse of the mass matrix, the accelerations that unit forces cause, (nv, nv).

        It takes less time than to invert `mass_matrix`. To solve for one acceleration,
        `forward_dynamics` takes less still.

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :return: H^-1, (nv, nv) [1/(kg m^2), 1/(kg m), 1/kg]
        :raises SingularMassMatrixError: if there are joints that move no mass, naming them
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('inverse_mass_matrix', (q,), None, out)

    @computes('equations_of_motion')
    def equations_of_motion(
        self, q: ArrayLike, v: ArrayLike, external_forces: Forces = None, *, out: Outs = None
    ) -> EquationsOfMotion:
        """Inertia matrix and bias force of H a + C = tau, in one pass.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param external_forces: as for `inverse_dynamics`
        :param out: arrays for H and C
        :return: H, (nv, nv), and C, (nv,), as `mass_matrix` and `bias_force` give them
        :raises ValueError: for a wrong shape or dtype, or an unknown link
        """
        return self._call('equations_of_motion', (q, v), external_forces, out)

    @computes('coriolis_matrix')
    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Coriolis matrix C(q, v) of the Christoffel symbols, (nv, nv).

        C v is the bias force without gravity, and dH/dt - 2 C is skew-symmetric.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('coriolis_matrix', (q, v), None, out)

    @computes('coriolis_torque')
    def coriolis_torque(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Generalized forces of Coriolis and centrifugal effects alone, (nv,) [N m, N].

        It is the bias force without gravity and external forces, quadratic in the velocity.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('coriolis_torque', (q, v), None, out)

    @computes('coriolis_tensor')
    def coriolis_tensor(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Coefficients C_ijk of products of velocities, (nv, nv, nv) [kg m^2, kg m, kg].

        C @ v is the Coriolis matrix, and C @ v @ v the Coriolis torque. Where the velocity is the
        rate of the position, they are the Christoffel symbols of the mass matrix.

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('coriolis_tensor', (q,), None, out)

    @computes('joint_reactions')
    def reactions(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        external_forces: Forces = None,
        *,
        out: Out = None,
    ) -> Array:
        """Spatial force [n; f] that each body gets from its parent across its joint (book 5.3).

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param a: acceleration, (nv,) [rad/s^2, m/s^2]
        :param external_forces: as for `inverse_dynamics`
        :param out: array for the result
        :return: in the coordinates of the bodies, whose names are `body_names`, (bodies, 6)
            [N m, N]
        :raises ValueError: for a wrong shape or dtype, or an unknown link
        """
        return self._call('reactions', (q, v, a), external_forces, out)

    @computes('energy')
    def energy(self, q: ArrayLike, v: ArrayLike, *, out: Outs = None) -> Energy:
        """Kinetic and potential energy [J] of all that moves.

        Rotors count as kinetic energy; the potential energy is zero with all mass at the height of
        the base's origin.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: arrays, (), for both
        :return: two numbers, or arrays, (N,), for a batch; `total` is their sum
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('energy', (q, v), None, out)

    @computes('momentum')
    def momentum(self, q: ArrayLike, v: ArrayLike, *, out: Out = None) -> Array:
        """Spatial momentum in base coordinates, (6,) [N m s, N s].

        First the angular momentum about the base's origin, then the linear momentum.

        :param q: configuration, (nq,) [rad, m]
        :param v: velocity, (nv,) [rad/s, m/s]
        :param out: array for the result
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('momentum', (q, v), None, out)

    @cached_property
    def derivatives(self) -> DerivativeFunctions:
        """Dynamics together with its derivatives."""
        from rbd_ros.robot.families.derivatives import DerivativeFunctions

        return DerivativeFunctions(self._kernels)

    @cached_property
    def hybrid(self) -> HybridFunctions:
        """Hybrid dynamics: forces given at some joints, accelerations at the others."""
        from rbd_ros.robot.families.hybrid import HybridFunctions

        return HybridFunctions(self._kernels)

    @cached_property
    def loops(self) -> LoopFunctions:
        """Constraints of kinematic loops."""
        from rbd_ros.robot.families.loops import LoopFunctions

        return LoopFunctions(self._kernels)

    @cached_property
    def regressors(self) -> RegressorFunctions:
        """Forces, energy and momentum as linear in the inertial parameters."""
        from rbd_ros.robot.families.regressors import RegressorFunctions

        return RegressorFunctions(self._kernels)

    @cached_property
    def articulated(self) -> ArticulatedFunctions:
        """Articulated bodies, their handles and their assembly."""
        from rbd_ros.robot.families.articulated import ArticulatedFunctions

        return ArticulatedFunctions(self._kernels)

    @cached_property
    def floating_base(self) -> FloatingBaseFunctions:
        """Dynamics of the base apart from that of the joints, for a robot whose base floats.

        :raises ModelError: if its base is fixed
        """
        from rbd_ros.robot.families.floating_base import FloatingBaseFunctions

        return FloatingBaseFunctions(self._kernels)

    @cached_property
    def centroidal(self) -> CentroidalFunctions:
        """Momentum about the centre of mass."""
        from rbd_ros.robot.families.centroidal import CentroidalFunctions

        return CentroidalFunctions(self._kernels)

    @cached_property
    def denoc(self) -> ComplementFunctions:
        """Dynamics of hinges and sliders by the decoupled natural orthogonal complement."""
        from rbd_ros.robot.families.denoc import ComplementFunctions

        return ComplementFunctions(self._kernels)

    # -- kinematics

    @computes('forward_kinematics')
    def forward_kinematics(self, q: ArrayLike, *, out: Out = None) -> LinkPoses:
        """Pose of every link in the base frame, (4, 4) each, by link name: p_base = T p_link.

        :param q: configuration, (nq,) [rad, m]
        :param out: array for all poses, (links, 4, 4)
        :return: mapping of views of one array, `LinkPoses.array`
        """
        poses: LinkPoses = self._call(
            'forward_kinematics', (q,), None, out, link_poses(self.link_names)
        )
        return poses

    def frame(self, name: str, reference: str = 'body') -> RobotFrame:
        """Functions of a link or joint frame, for one who calls them often.

        :param name: name of a link, or of a joint
        :param reference: what motions are expressed in, as for `jacobian`
        :raises ValueError: for an unknown frame or reference
        """
        found = self._frames.get((name, reference))
        if found is None:
            found = self._frames[name, reference] = RobotFrame(self._kernels, name, reference)
        return found

    def jacobian(
        self, q: ArrayLike, frame: str, reference: str = 'body', *, out: Out = None
    ) -> Array:
        """Jacobian of the velocity of a link or joint frame, angular rows first, (6, nv).

        :param q: configuration, (nq,) [rad, m]
        :param frame: name of a link, or of a joint
        :param reference: what the velocity is expressed in: 'body', the frame's own coordinates
            (the book's); 'base', base coordinates, the linear part being that of the point at the
            base origin; 'aligned', the velocity of the frame's origin along the axes of the base
            (the geometric Jacobian)
        :param out: array for the result
        :raises ValueError: for an unknown frame or reference, or a wrong shape or dtype
        """
        found = self._frames.get((frame, reference)) or self.frame(frame, reference)
        return found.jacobian(q) if out is None else found.jacobian(q, out=out)

    def jacobian_derivative(
        self, q: ArrayLike, v: ArrayLike, frame: str, reference: str = 'body', *, out: Out = None
    ) -> Array:
        """Time derivative of `jacobian`, element by element, (6, nv).

        Arguments are those of `jacobian`, and the velocity `v`, (nv,) [rad/s, m/s].
        """
        return self.frame(frame, reference).jacobian_derivative(q, v, out=out)

    def point_jacobian(
        self, q: ArrayLike, frame: str, point: ArrayLike, *, out: Out = None
    ) -> Array:
        """Jacobian of the velocity, along the axes of the base, of a point of a frame, (3, nv).

        :param q: configuration, (nq,) [rad, m]
        :param frame: name of a link, or of a joint
        :param point: coordinates of the point in the frame, (3,) [m]
        :param out: array for the result
        :raises ValueError: for an unknown frame, or a wrong shape or dtype
        """
        return self.frame(frame).point_jacobian(q, point, out=out)

    def point_jacobian_derivative(
        self, q: ArrayLike, v: ArrayLike, frame: str, point: ArrayLike, *, out: Out = None
    ) -> Array:
        """Time derivative of `point_jacobian`, element by element, (3, nv).

        Arguments are those of `point_jacobian`, and the velocity `v`, (nv,) [rad/s, m/s].
        """
        return self.frame(frame).point_jacobian_derivative(q, v, point, out=out)

    @computes('centre_of_mass')
    def centre_of_mass(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Centre of mass of all moving links in base coordinates, (3,) [m].

        Links fixed to the world do not count.

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :raises ModelError: if nothing that moves has mass
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('centre_of_mass', (q,), None, out)

    @computes('centre_of_mass_jacobian')
    def centre_of_mass_jacobian(self, q: ArrayLike, *, out: Out = None) -> Array:
        """Jacobian of the velocity of `centre_of_mass`, (3, nv).

        :param q: configuration, (nq,) [rad, m]
        :param out: array for the result
        :raises ModelError: if nothing that moves has mass
        :raises ValueError: for a wrong shape or dtype
        """
        return self._call('centre_of_mass_jacobian', (q,), None, out)

    # -- kernels

    def function(self, name: str, runtime: Sequence[str] = ()) -> Callable[..., Any]:
        """Variant of a method that takes constants of the robot, such as gravity, as inputs.

        :param name: name of the method, such as 'gravity_torque'
        :param runtime: the additional inputs, passed as arrays after the method's own, in this
            order: 'gravity', (3,); 'inertia:<link>', (10,), the link's inertial parameters;
            'payload:<link>', (10,), those of what is added to it. Ten parameters are m, m cx, m
            cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz, in link coordinates, the inertia about the
            link's origin.
        :return: callable taking arrays; forward_kinematics gives one array, (links, 4, 4)
        :raises ValueError: for an unknown method or link
        """
        return self.kernel(name, runtime=runtime).function

    def kernel(self, algorithm: Algorithm, **options: Any) -> AnyKernel:
        """Kernel of an algorithm, compiled on first use.

        :param algorithm: name of an algorithm of `rbd_ros.algorithms`, or any function declared to
            be one (rbd_ros/algorithms/declaration.py)
        :param options: `runtime` as in `function`; `forces`, the links with an external force;
            what the algorithm lets one choose, such as `frame`; inputs that are to be constants;
            `storage`, 'packed' for the lower triangle of symmetric results, row by row
        :raises ValueError: for an unknown algorithm or option
        """
        return self._kernels.get(algorithm, **options)

    def operation_count(self, name: Algorithm, **options: Any) -> Optional[OperationCount]:
        """Number of operations of an algorithm's machine code, by kind; None without a compiler.

        Arguments are those of `kernel`.
        """
        return self.kernel(name, **options).count
