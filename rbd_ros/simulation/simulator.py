# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot: the public interface. The physics is in `Physics`."""

from __future__ import annotations

from copy import copy
import math
from typing import (
    Any,
    Dict,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Type,
    TYPE_CHECKING,
    Union,
)

import numpy as np

from rbd_ros.array_types import BoolArray, FloatArray
from rbd_ros.collision.scene.scene import Scene
from rbd_ros.contact import ContactParameters, HalfSpace
from rbd_ros.model import ModelError
from rbd_ros.model.errors import unknown_name
from rbd_ros.robot import Robot
from rbd_ros.robot.other_names import ForeignNames
from rbd_ros.simulation.physics import (
    IntegratorName,
    ITERATIONS,
    Physics,
    RestitutionModel,
    SPEED_LIMIT,
    TOLERANCE,
)
from rbd_ros.simulation.records import simulation_state as layout
from rbd_ros.simulation.records.mutex import exclusive
from rbd_ros.simulation.records.simulation_state import MAX_FORCES
from rbd_ros.simulation.records.snapshots import check_identity, identity_of, Snapshot
from rbd_ros.simulation.rollouts.rollouts import (
    checked_array,
    checked_starts,
    result_arrays,
    Trajectories,
)
from rbd_ros.simulation.scene.scene_assembly import simulated_robot
from rbd_ros.simulation.simulated_objects import (
    ContactPoint,
    resolve_world,
    SimulatedObjects,
    SrdfSource,
    WorldSource,
)
from rbd_ros.simulation.simulated_servos import SimulatedServos
from rbd_ros.simulation.start.default_start import default_start, stand
from rbd_ros.simulation.start.start_warnings import StartWarnings
from rbd_ros.spatial import PluckerTransform
from rbd_ros.world.allowed_collisions import allowed_pairs

if TYPE_CHECKING:
    from rbd_ros.simulation.rollouts.rollout_threads import RolloutThreads
    from rbd_ros.simulation.sensors.sensors import Sensors
    from rbd_ros.simulation.step_derivatives import StepDerivatives

_FLOAT64 = np.dtype(np.float64)
_GAINS = ('kp', 'kd')


class GroundContactPoint(NamedTuple):
    """A contact point of the robot with a compliant ground, in base coordinates.

    :param link: name of the link
    :param geometry: name of the collision geometry, '' if it has none
    :param position: contact point at the beginning of the last step, (3,) [m]
    :param normal: contact normal, out of the ground, (3,)
    :param force: contact force on the robot, (3,) [N]
    :param depth: penetration depth at the beginning of the last step [m]
    """

    link: str
    geometry: str
    position: FloatArray
    normal: FloatArray
    force: FloatArray
    depth: float


class SimulationStatus(NamedTuple):
    """Events since the last reset, in numbers of steps unless stated otherwise.

    :param steps: steps taken
    :param substeps: substeps added by dividing steps in which joints rotate far, or in which
        inertia changes much within a short distance
    :param saturated_steps: steps with a torque saturated at its effort limit
    :param velocity_clamped_steps: substeps in which its velocity limit, or the guard on speed,
        stopped a joint
    :param limit_steps: substeps in which a joint was at a limit
    :param unconverged_steps: substeps whose contact forces do not have the accuracy of
        docs/contact.md
    :param contacts_truncated: number of contact points that did not fit
    :param unresolved_overlap_steps: substeps in which an overlap of bodies could not be corrected
    :param contacts: number of present contact points
    """

    steps: int
    substeps: int
    saturated_steps: int
    velocity_clamped_steps: int
    limit_steps: int
    unconverged_steps: int
    contacts_truncated: int
    unresolved_overlap_steps: int
    contacts: int


class Simulator(SimulatedServos, SimulatedObjects, ForeignNames):
    """A robot that moves under torques, gravity, joint friction, joint limits and contact.

    :param robot: the robot; None for a world without it
    :param timestep: h [s]
    :param integrator: 'midpoint', 'semi_implicit' (Euler) or 'rk4', see docs/simulation.md; None:
        midpoint, with kinematic loops semi_implicit
    :param ground: None for none, True for rigid ground z <= 0, or a `HalfSpace`, compliant ground
        of one plane
    :param contact: friction of the ground, and further parameters of contact with a `HalfSpace`;
        None for the defaults of `ContactParameters`
    :param contact_links: links that can touch the ground; None for all that move
    :param speed_limit: guard on the speed of joints, reported in `status` [rad/s or m/s]
    :param external_forces: whether to compile for external forces now; otherwise the first call of
        `apply_wrench` does
    :param world: objects around the robot, with rigid contact: path of a world file, a mapping
        with the same content, or a `World`; None for none. Its movable robots become parts of the
        robot
    :param solver_tolerance: velocity error of rigid contact, relative to the largest velocity
        without contact forces
    :param solver_iterations: maximum number of iterations of a contact problem, which bounds the
        time of a step, see docs/contact.md
    :param restitution_model: of impacts in a world: 'newton', of velocities, or 'poisson', of
        impulses
    :param srdf: path of an SRDF file, or its XML: pairs of links of the robot that may touch each
        other in the world or on the rigid ground, and start configurations; None: that of the
        world, see docs/world.md
    :param enforce_velocity_limits: whether joints keep the velocity limits of the description,
        like a drive with a maximum speed; a limit of 0 means unknown
    :raises ValueError: if an argument is not valid, or a link is unknown
    :raises SingularMassMatrixError: if joints move no mass
    :raises ModelError: if a joint depends on time

    >>> simulator = Simulator(robot, timestep=1e-3)
    >>> simulator.reset(q)
    >>> simulator.step(robot.gravity_torque(q), n=1000)  # holds still for a second
    >>> round(simulator.time, 6), np.allclose(simulator.q, q), np.allclose(simulator.v, 0.0)
    (1.0, True, True)
    >>> simulator.robot.name, simulator.timestep, simulator.integrator, simulator.ground
    ('six_axis_arm', 0.001, 'midpoint', None)
    >>> simulator.tau  # [N m]
    array([ -0.   ,   2.505, -17.303,  -1.787,   0.302,   0.   ])
    >>> simulator.a  # [rad/s^2]
    array([0., 0., 0., 0., 0., 0.])
    >>> simulator.saturated.any(), simulator.contacts, simulator.warnings
    (False, (), ())
    >>> simulator.status.steps, simulator.physics.time == simulator.time
    (1000, True)
    >>> simulator.constraint_force  # of friction, limits and contacts [N m]
    array([0., 0., 0., 0., 0., 0.])
    """

    def __init__(
        self,
        robot: Optional[Robot],
        timestep: float = 1e-3,
        integrator: Optional[IntegratorName] = None,
        ground: Union[None, bool, HalfSpace] = None,
        contact: Optional[ContactParameters] = None,
        contact_links: Optional[Sequence[str]] = None,
        speed_limit: float = SPEED_LIMIT,
        external_forces: bool = False,
        world: WorldSource = None,
        solver_tolerance: float = TOLERANCE,
        solver_iterations: int = ITERATIONS,
        restitution_model: RestitutionModel = 'newton',
        srdf: Optional[SrdfSource] = None,
        enforce_velocity_limits: bool = True,
    ):
        # A copy of all arguments.
        self._given = {name: value for name, value in locals().items() if name != 'self'}
        if robot is not None and not isinstance(robot, Robot):
            raise ValueError(f'robot must be a Robot, got {type(robot).__name__}')
        if not (ground is None or isinstance(ground, (bool, HalfSpace))):
            raise ValueError(f'ground must be None, True or a HalfSpace, got {ground!r}')
        around = resolve_world(robot, world, ground, contact, contact_links, srdf)
        if around is not None:  # it provides the other arguments
            self._given.update(ground=None, contact=None, contact_links=None, srdf=around.srdf)
        robot = simulated_robot(robot, around)
        if around is None and srdf is not None:
            # Without a scene, the file is checked all the same.
            allowed_pairs(robot.model, srdf)
        for body in robot.model.bodies:
            if body.joint.is_rheonomic:
                raise ModelError(
                    f'joint {body.joint_name!r} is a prescribed function of time, which is not '
                    'supported; use another joint type, and compute its force by hybrid dynamics'
                )
        self._physics = Physics(
            robot,
            timestep,
            integrator,
            ground if isinstance(ground, HalfSpace) else None,
            contact,
            contact_links,
            speed_limit,
            around,
            solver_tolerance,
            solver_iterations,
            restitution_model,
            enforce_velocity_limits,
        )
        if external_forces:
            self._physics.allow_external_forces()
        self._start = StartWarnings()
        # For `step()` without an argument.
        self._nothing = np.zeros(robot.nv)
        self._shape = (robot.nv,)
        self._handles: Dict[int, int] = {}
        self._next_handle = 1
        self._rollouts: Optional[RolloutThreads] = None
        self._default: Optional[Tuple[Optional[Scene], FloatArray]] = None
        self.reset()
        _ = self._physics.steps  # compiled now, not in the first step

    @exclusive
    def __reduce__(self) -> Tuple[Any, ...]:
        # Created by its arguments, then restored to the same state.
        physics, model = self._physics, self._physics.model
        now = {'external_forces': model.has_external_forces, 'world': physics.world}
        arguments = {**self._given, **now}
        numbers = {
            name: array.copy()
            for name, array in model._asdict().items()
            if isinstance(array, np.ndarray)
        }
        loaded = None if physics.loaded_robot is physics.robot else physics.loaded_robot
        state = (loaded, model.has_servos, numbers, self._start.texts, self.snapshot())
        return _recreate, (type(self), arguments, state)

    def __deepcopy__(self, _: Any) -> Simulator:
        # Robot and world are shared: they are immutable.
        return copy(self)

    def __repr__(self) -> str:
        return (
            f'<Simulator of {self.robot.name!r}: {self.integrator}, '
            f'{self.timestep:g} s steps, time {self.time:g} s>'
        )

    def _repr_html_(self) -> str:
        from rbd_ros.html_tables import html_table  # only notebooks need it

        model, q, v, tau = self.robot.model, self.q, self.v, self.tau
        joints = [
            (model.body(i).joint_name, q[at_q], v[at_v], tau[at_v])
            for i, (at_q, at_v) in model.independent_slices.items()
        ]
        objects = [
            (name, self.object_pose(name)[:3, 3], self.object_velocity(name)[3:], '')
            for name in self.objects
        ]
        heads = ('joint, object', 'position [rad, m]', 'velocity [rad/s, m/s]', 'effort [N m, N]')
        return html_table(repr(self), heads, [*joints, *objects])

    # -- state ----------------------------------------------------------------------------------

    @property
    def physics(self) -> Physics:
        """The physics, for compiled loops that step this simulation themselves."""
        return self._physics

    @property
    def robot(self) -> Robot:
        """The robot; in a world with movable robots, all of them as one."""
        return self._physics.robot

    @property
    def timestep(self) -> float:
        """Time step [s]."""
        return self._physics.model.timestep

    @property
    def integrator(self) -> str:
        """Name of the integrator."""
        return self._physics.integrator

    @property
    def ground(self) -> Optional[HalfSpace]:
        """The compliant ground, None if there is none; a rigid one is in `world`."""
        return self._physics.ground

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._physics.time

    @property
    def q(self) -> FloatArray:
        """Configuration, (nq,) [rad, m]."""
        # Copies, here and below: the next step overwrites the arrays.
        return self._physics.mutex.copy(self._physics.state.q)

    @property
    def v(self) -> FloatArray:
        """Velocity, (nv,) [rad/s, m/s]."""
        return self._physics.mutex.copy(self._physics.state.v)

    @property
    def a(self) -> FloatArray:
        """Mean acceleration of the last step, (nv,) [rad/s^2, m/s^2]."""
        return self._physics.mutex.copy(self._physics.state.acceleration)

    @property
    def tau(self) -> FloatArray:
        """Torque applied in the last step, after saturation, (nv,) [N m, N]."""
        return self._physics.mutex.copy(self._physics.state.applied)

    @property
    def saturated(self) -> BoolArray:
        """Which torques were saturated in the last call of `step`, (nv,) of bool."""
        return self._physics.mutex.copy(self._physics.state.saturated).astype(bool)

    @property
    def constraint_force(self) -> FloatArray:
        """Force of joint friction, limits and contacts in the last step, (nv,) [N m, N]."""
        return self._physics.mutex.copy(self._physics.state.constraint_force)

    @property
    @exclusive
    def loop_errors(self) -> FloatArray:
        """Position errors of the loops, by the constraints of `robot.loops`, (n^c,) [rad, m].

        >>> linkage = Robot.from_urdf('urdf/four_bar.urdf', extension='config/four_bar.yaml')
        >>> simulator = Simulator(linkage)  # which puts it together
        >>> simulator.step(n=1000)
        >>> np.abs(simulator.loop_errors).max() < 1e-9
        True
        """
        return np.array(self.robot.loops.closure(self.q).residual)

    @property
    @exclusive
    def loop_force(self) -> FloatArray:
        """Generalized force K^T lambda of the loops in the last step, (nv,) [N m, N].

        >>> linkage = Robot.from_urdf('urdf/four_bar.urdf', extension='config/four_bar.yaml')
        >>> simulator = Simulator(linkage)
        >>> simulator.reset(linkage.loops.project([1.0, -0.5, 1.0]))
        >>> simulator.step(n=200)
        >>> simulator.loop_force  # at the crank, the coupler and the rocker [N m]
        array([8.956, 3.205, 1.725])
        """
        force = self._physics.state.loop_force
        return force.copy() if len(force) else np.zeros(self.robot.nv)

    @property
    @exclusive
    def loop_multipliers(self) -> FloatArray:
        """Constraint forces lambda of the loop joints in the last step, (n^c,) [N m, N].

        With redundant constraints, the shortest ones, as in `robot.loops.forward_dynamics`;
        `robot.loops.wrenches` returns the wrenches of the loop joints for them.

        >>> linkage = Robot.from_urdf('urdf/four_bar.urdf', extension='config/four_bar.yaml')
        >>> simulator = Simulator(linkage)
        >>> simulator.reset(linkage.loops.project([1.0, -0.5, 1.0]))
        >>> simulator.step(n=200)
        >>> passive = np.zeros(1)  # the pin turns freely
        >>> wrench = linkage.loops.wrenches(simulator.q, simulator.loop_multipliers, passive)[0]
        >>> wrench[3:].round(1)  # force of the pin on the rocker [N]
        array([ -9.8,   0. , -21.4])
        """
        state = self._physics.state
        return np.linalg.pinv(state.loop_jacobian.T, rcond=1e-7) @ state.loop_force

    @property
    @exclusive
    def contacts(self) -> Union[Tuple[GroundContactPoint, ...], Tuple[ContactPoint, ...]]:
        """Contact points of the robot with a compliant ground in the last step.

        In a world, and so on a rigid ground, those of any two bodies, as `ContactPoint`s.
        """
        if self._physics.scene is not None:
            return self._pair_contacts()
        contacts, plane = self._physics.contacts, self._physics.model.ground.plane
        result: List[GroundContactPoint] = []
        for c in range(int(self._physics.state.counters[layout.NEAR])):
            # Points near the ground may have no contact.
            if contacts.force[c, 0] > 0.0:
                geometry = self._physics.geometries[int(contacts.shape[c])]
                result.append(
                    GroundContactPoint(
                        geometry.link,
                        geometry.name,
                        contacts.position[c].copy(),
                        plane[0].copy(),
                        # From the rows of `plane`, normal and tangents, to base coordinates.
                        contacts.force[c] @ plane,
                        -float(contacts.gap[c]),
                    )
                )
        return tuple(result)

    @property
    @exclusive
    def status(self) -> SimulationStatus:
        """Events since the last reset."""
        counters = self._physics.state.counters
        return SimulationStatus(
            *(
                int(counters[k])
                for k in (
                    layout.STEPS,
                    layout.SUBSTEPS,
                    layout.SATURATED,
                    layout.GUARDED,
                    layout.LIMITED,
                    layout.UNCONVERGED,
                    layout.DROPPED,
                    layout.UNRESOLVED_OVERLAPS,
                    layout.CONTACTS,
                )
            )
        )

    @property
    def warnings(self) -> Tuple[str, ...]:
        """Warnings about the start at the last reset, and about the collision shapes.

        Unresolved overlaps of the last step come between them.
        """
        scene = self._physics.scene
        if scene is None:
            return (*self._start.texts, *self._physics.shape_warnings)
        from rbd_ros.simulation.start.start_overlaps import unresolved_overlap_warnings

        staying = unresolved_overlap_warnings(self._physics)
        return (*self._start.texts, *staying, *self._physics.shape_warnings, *scene.notices)

    # -- verbs ----------------------------------------------------------------------------------

    @exclusive
    def reset(self, q: Any = None, v: Any = None, time: float = 0.0) -> None:
        """Start again: external wrenches, counters and the state of contacts are cleared.

        Servos keep their gains and targets.

        Kinematic loops are closed: the robot is moved to the assembly that Newton's method finds
        from `q`, and `v` is projected onto it; `warnings` reports the changes.

        :param q: configuration, (nq,), quaternions w first; or name of a group state of the SRDF,
            with defaults for joints that it does not name and a base that it does not place; None
            for the default start: neutral, clamped to the joint limits, floating bases at the
            height of contact with the surface below, and robots of the world as configured there
        :param v: velocity, (nv,); None for rest
        :param time: new time [s]
        :raises ValueError: for a wrong shape or dtype, numbers that are not finite, a quaternion
            without unit norm, or loops that cannot be closed; nothing is changed

        >>> simulator = Simulator(robot)
        >>> simulator.reset(q, v, time=10.0)
        >>> simulator.time, simulator.v
        (10.0, array([ 0.5, -0.2,  0.3,  0. ,  0.4,  1. ]))
        """
        robot = self.robot
        if q is None:
            q = self._default_start()
        elif isinstance(q, str):
            q, placed = self.named_configuration(q)
            q = q if placed else stand(self._physics, q)
        else:
            q = self._with_unit_quaternions(checked_array('q', q, ((robot.nq,),)))
        v = np.zeros(robot.nv) if v is None else checked_array('v', v, ((robot.nv,),))
        if not math.isfinite(time):
            raise ValueError(f'time must be finite, got {time}')
        deepest = self._physics.reset(q, v, time)
        self._handles.clear()
        self._start.set_start(self._physics, self.q, self.v, deepest)

    @exclusive
    def standing_configuration(self, q: Any) -> FloatArray:
        """Return a configuration with floating bases at contact with the surface below.

        A base is moved along the z axis of the world: up until the robot is not deep in the ground
        or in objects at their start poses, or down until it touches. Without a surface below it
        keeps its height.

        :param q: configuration, (nq,)
        :return: the configuration, (nq,), for `reset` and `rollout`
        :raises ValueError: for a wrong shape or dtype, or numbers that are not finite

        >>> walker = Robot.from_urdf('urdf/quadruped.urdf', floating_base=True)
        >>> simulator = Simulator(walker, ground=True)
        >>> crouching = walker.neutral()
        >>> crouching[7:] = [0.0, 0.8, -1.6] * 4
        >>> simulator.standing_configuration(crouching)[6].round(3)  # height of the base [m]
        0.301
        """
        q = self._with_unit_quaternions(checked_array('q', q, ((self.robot.nq,),)))
        return stand(self._physics, q)

    @exclusive
    def named_configuration(self, name: str) -> Tuple[FloatArray, bool]:
        """Return the configuration of a group state of the SRDF.

        Joints that the state does not name have their default start.

        :param name: name of the group state
        :return: configuration, (nq,), and whether the state places the floating base
        :raises ValueError: if there is no SRDF, or no such state in it

        >>> joint = '<joint name="elbow_joint" value="1.5"/>'
        >>> state = f'<group_state name="bent" group="arm">{joint}</group_state>'
        >>> simulator = Simulator(robot, srdf=f'<robot>{state}</robot>')
        >>> simulator.named_configuration('bent')
        (array([0. , 0. , 1.5, 0. , 0. , 0. ]), False)
        >>> simulator.reset('bent')
        >>> simulator.q[2]
        1.5
        """
        if self._given['srdf'] is None:
            raise ValueError(
                f'{name[:80]!r} is not a known configuration, since there is no SRDF; give srdf, '
                'or name it in the world file'
            )
        from rbd_ros.world.group_states import named_configuration

        srdf = self._given['srdf']
        return named_configuration(self.robot.model, srdf, name, self._default_start())

    def step(self, tau: Any = None, n: int = 1) -> None:
        """Take `n` time steps under constant torque; other Python threads run meanwhile.

        :param tau: torque, (nv,) [N m, N], saturated at the effort limits; None for no torque
        :param n: number of steps
        :raises ValueError: for a wrong shape or dtype, numbers that are not finite, or negative n;
            nothing is changed
        :raises FloatingPointError: if the dynamics are not finite; positions and velocities are
            those before the failed step

        >>> simulator = Simulator(robot)
        >>> simulator.reset(q)
        >>> simulator.step(n=500)  # no torque: it falls
        >>> simulator.status.steps, bool(robot.energy(simulator.q, simulator.v).potential < 74.0)
        (500, True)
        """
        if tau is None:
            tau = self._nothing
        # Fast path: a controller's array is recognized by its header. `Physics` checks that it is
        # finite; anything else is converted or rejected.
        elif not (type(tau) is np.ndarray and tau.dtype is _FLOAT64 and tau.shape == self._shape):
            tau = checked_array('tau', tau, ((self.robot.nv,),))
        if n < 0:
            raise ValueError(f'n must not be negative, got {n}')
        self._physics.step(tau, n)

    @exclusive
    def step_derivatives(self, tau: Any = None) -> StepDerivatives:
        """Return the state after a step, and its derivatives by the present state and torque.

        They are those of the discrete step, with any integrator, implicit damping, gears, substeps
        and saturation. The step must be smooth: no contact or limit, and joints that slide or
        stick throughout. They are exact up to rounding, by the chain rule; for free bases (except
        with rk4) and with external wrenches, accurate to some 1e-11, by finite differences. The
        simulation keeps its state.

        :param tau: torque, (nv,) [N m, N]; None for no torque; (steps, nv) for several consecutive
            steps
        :return: q and v after the step, dq_dq, dq_dv, dq_dtau, dv_dq, dv_dv and dv_dtau, (nv, nv)
            each; configurations are differentiated along the velocities. For several steps, each
            array has a leading axis for them
        :raises ValueError: if a step is not smooth, or for loops; for a wrong shape or dtype,
            or numbers that are not finite

        >>> simulator = Simulator(robot)
        >>> simulator.reset(q, v)
        >>> tau, change = robot.gravity_torque(q), 1e-6 * np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
        >>> D = simulator.step_derivatives(tau)
        >>> simulator.step_derivatives(np.tile(tau, (20, 1))).dv_dq.shape  # of 20 steps
        (20, 6, 6)
        >>> simulator.step(tau + change)
        >>> np.allclose(simulator.v - D.v, D.dv_dtau @ change, atol=1e-13)
        True
        """
        from rbd_ros.simulation.step_derivatives import derivatives_of_steps, step_derivatives

        nv = self.robot.nv
        given = self._nothing if tau is None else checked_array('tau', tau, ((nv,), ('steps', nv)))
        return (step_derivatives if given.ndim == 1 else derivatives_of_steps)(self, given)

    def rollout(
        self,
        q: Any = None,
        v: Any = None,
        torque: Any = None,
        steps: Optional[int] = None,
        out: Any = None,
        target: Any = None,
    ) -> Trajectories:
        """Simulate from many starts at once, in several threads; this simulation stays as it is.

        Each motion is bitwise that of a `Simulator` after a reset to its start, for any number of
        threads (`rbd_ros.robot.set_threads`). There are no external wrenches; `torque`, saturated
        at the effort limits, and the servos of `set_joint_pd`, with its gains, drive the joints.

        A motion whose dynamics are not finite ends: from that step on its rows are NaN, and
        `diverged` has the number of the step. The others continue.

        If all rollouts have the same start or torque, its array has no axis for them; the results
        always do. Other Python threads run meanwhile, and may call this method too. Ctrl-C ends it
        within a fraction of a second.

        For one smooth motion with adaptive steps, see `rbd_ros.textbook.simulation.integrate_ode`.

        :param q: initial configurations, (B, nq) or (nq,); None for that of `reset`
        :param v: initial velocities, (B, nv) or (nv,); None for rest
        :param torque: torque in each step, (B, steps, nv), (steps, nv), or (nv,) in all of them [N
            m, N]; None for none
        :param steps: number of steps; None to take it from `torque` or `target`
        :param out: arrays for the results, as an earlier call returned them; None for new ones
        :param target: target configuration of servos in each step, (B, steps, nq), (steps, nq),
            or (nq,) in all of them; None for that of `set_joint_pd`
        :return: q and v after each step, (B, steps, nq) and (B, steps, nv), and `diverged`, (B,)
        :raises ValueError: for a wrong shape or dtype, numbers that are not finite or
            inconsistent, or loops that cannot be closed

        >>> simulator = Simulator(robot)
        >>> starts = q + np.linspace(-0.1, 0.1, 16)[:, None]
        >>> motions = simulator.rollout(starts, torque=robot.gravity_torque(q), steps=200)
        >>> motions.q.shape, motions.v.shape, (motions.diverged == -1).all()
        ((16, 200, 6), (16, 200, 6), True)
        >>> simulator.reset(starts[7])
        >>> simulator.step(robot.gravity_torque(q), n=200)
        >>> np.array_equal(motions.q[7, -1], simulator.q)  # bitwise identical
        True
        """
        robot = self.robot
        given = checked_starts(
            self._default_start() if q is None else q,
            np.zeros(robot.nv) if v is None else v,
            self._nothing if torque is None else torque,
            np.zeros(robot.nq) if target is None else target,
            steps,
            robot.nq,
            robot.nv,
        )
        physics = self._physics
        if target is not None and not physics.model.has_servos:
            raise ValueError('no joint has a servo; set its gains by Simulator.set_joint_pd')
        results = result_arrays(out, given.rows, given.steps, robot.nq, robot.nv)
        start_q, start_v = self._starts(given.q, given.v)
        if not robot.nv:
            # Nothing can move.
            results.q[...], results.diverged[...] = start_q[:, None], -1
            return results
        # Imported here: only rollouts need it.
        from rbd_ros.simulation.rollouts.rollout_threads import RolloutThreads

        with physics.mutex:
            # Copies, since servos may change again meanwhile.
            servo = physics.state.servo
            goals = servo.q.reshape(1, 1, -1) if target is None else self._goals(given.target)
            held = (servo.kp.copy(), servo.kd.copy(), np.array(goals, order='C'), servo.v.copy())
            threads = self._rollouts
            # The constants may have changed since: servos, the world, a payload.
            if threads is None or threads.model is not physics.model:
                threads = self._rollouts = RolloutThreads(physics.model, physics.loaded_robot)
        threads.run(start_q, start_v, given.torque, held, results)
        return results

    @exclusive
    def apply_wrench(
        self,
        link: str,
        wrench: Any,
        duration: float = math.inf,
        point: Any = None,
        ramp: float = 0.0,
    ) -> int:
        """Apply an external force to a link from the next step on.

        :param link: name of the link, or of a movable object of the world
        :param wrench: moment and force, along the axes of the base, (6,) [N m, N]
        :param duration: duration, rounded up to whole steps [s]
        :param point: point that moves with the link, in link coordinates, (3,) [m], at which the
            force acts and about which the moment is; None for the origin of the base (as
            `external_forces` of `Robot`)
        :param ramp: duration of its linear rise from zero at the beginning, and of its fall to
            zero after `duration`; the impulse is that without ramps [s]
        :return: a handle for `clear_wrenches`
        :raises ValueError: for an unknown link, a wrong shape, numbers that are not finite, or too
            many wrenches

        >>> simulator = Simulator(robot)
        >>> simulator.reset(q)
        >>> push = [0, 0, 0, 0, 0, 50.0]  # 50 N up
        >>> handle = simulator.apply_wrench('tool0', push, duration=0.1)  # [s]
        >>> simulator.step(robot.gravity_torque(q), n=100)
        >>> tool = robot.frame('tool0', 'aligned')
        >>> bool(tool.velocity(simulator.q, simulator.v)[5] > 0.1)  # it rises [m/s]
        True
        """
        body, placement = self._pushed(link)
        wrench = checked_array('wrench', wrench, ((6,),))
        at = (
            np.zeros(3)
            if point is None
            # In coordinates of the body, which may combine several links.
            else placement.inverse_point(tuple(checked_array('point', point, ((3,),))))
        )
        if not duration > 0.0:
            raise ValueError(f'duration must be positive, got {duration}')
        if not 0.0 <= ramp < math.inf:
            raise ValueError(f'ramp must be finite and not negative, got {ramp}')
        # After the checks: invalid arguments trigger no compilation.
        self._physics.allow_external_forces()
        forces, counters = self._physics.external_forces, self._physics.state.counters
        use = forces.use
        # Forces end in machine code, without handles: handles of ended ones are dropped here.
        self._handles = {handle: w for handle, w in self._handles.items() if use[w, 2] != 0}
        free = next((w for w in range(MAX_FORCES) if use[w, 2] == 0), None)
        if free is None:
            raise ValueError(f'{MAX_FORCES} external wrenches act already; clear some first')
        # Rounded up, but not by rounding errors: 0.01 s are ten steps of a millisecond.
        steps = -1 if duration == math.inf else math.ceil(duration / self.timestep - 1e-6)
        forces.moment[free] = wrench[:3]
        forces.force[free] = wrench[3:]
        forces.point[free] = at
        rising = math.ceil(ramp / self.timestep - 1e-6)
        use[free] = (body, 0 if point is None else 1, max(steps, 1) + rising if steps >= 0 else -1)
        forces.ramp[free] = rising, 0
        links = list(self.robot.model.links)
        forces.link[free] = links.index(link) if link in links else -1
        forces.acted[free] = 0
        counters[layout.FORCES] += 1
        # Handles are unique: an old one must not clear another force.
        handle, self._next_handle = self._next_handle, self._next_handle + 1
        self._handles[handle] = free
        return handle

    @exclusive
    def clear_wrenches(self, handle: Optional[int] = None) -> None:
        """Remove external wrenches before their end.

        :param handle: handle of one, ignored if it has ended; None for all

        >>> simulator = Simulator(robot)
        >>> simulator.reset(q)
        >>> handle = simulator.apply_wrench('tool0', [0, 0, 0, 0, 0, 50.0])
        >>> simulator.clear_wrenches(handle)
        >>> simulator.step(robot.gravity_torque(q), n=100)
        >>> np.allclose(simulator.q, q)
        True
        """
        use = self._physics.external_forces.use
        if handle is None:
            use[:] = 0
            self._handles.clear()
        elif handle in self._handles:
            use[self._handles.pop(handle)] = 0
        self._physics.state.counters[layout.FORCES] = int(np.count_nonzero(use[:, 2]))

    def sensors(
        self,
        imus: Sequence[str] = (),
        force_torque: Sequence[str] = (),
        joint_torques: Sequence[str] = (),
        **others: Sequence[str],
    ) -> Sensors:
        """Return sensors that read the last step; see docs/simulation_how_to.md.

        :param imus: names of links with an inertial unit
        :param force_torque: names of joints, fixed ones too, or of links for their parent joints;
            the wrench is that of the parent on the child
        :param joint_torques: names of joints
        :param others: places of further sensors by kind; `sensors[kind]` has their readings
        :raises ValueError: for unknown names, and for links without a parent joint
        :raises ModelError: for sensors of forces and torques on a robot with kinematic loops

        >>> simulator = Simulator(robot)
        >>> simulator.reset(q)
        >>> sensors = simulator.sensors(['tool0'], ['tool_joint'], ['elbow_joint'])
        >>> simulator.step(robot.gravity_torque(q), n=10)  # holds still
        >>> np.linalg.norm(sensors.imus['tool0'].linear_acceleration).round(9)  # g [m/s^2]
        9.81
        >>> sensors.wrenches['tool_joint'].round(9) + 0.0  # a tool without mass
        array([0., 0., 0., 0., 0., 0.])
        >>> round(sensors.joint_torques['elbow_joint'], 3)  # [N m]
        -17.303
        """
        # Imported here: few simulations need it.
        from rbd_ros.simulation.sensors.sensors import Sensors

        places = {'imus': imus, 'force_torque': force_torque, 'joint_torques': joint_torques}
        return Sensors(self._physics, {**places, **others})

    @exclusive
    def snapshot(self) -> Snapshot:
        """Return the state of the simulation: everything that the next steps depend on.

        >>> simulator = Simulator(robot)
        >>> simulator.reset(q)
        >>> before = simulator.snapshot()
        >>> simulator.step(n=100)
        >>> simulator.restore(before)
        >>> simulator.time, np.array_equal(simulator.q, q)
        (0.0, True)
        """
        arrays = {name: array.copy() for name, array in self._physics.arrays().items()}
        return Snapshot(
            self.robot.name,
            self._physics.start_time,
            arrays,
            dict(self._handles),
            self._next_handle,
            self.objects,
            identity_of(self._physics),
            bool(self._physics.model.frictional),
        )

    @exclusive
    def restore(self, snapshot: Snapshot) -> None:
        """Restore a snapshot, bitwise.

        :param snapshot: result of `snapshot`, of a simulation of the same robot and shapes
        :raises ValueError: if it is that of another simulation; nothing is changed

        >>> simulator = Simulator(robot)
        >>> simulator.step(n=10)
        >>> start, ends = simulator.snapshot(), []
        >>> for _ in range(2):
        ...     simulator.restore(start)
        ...     simulator.step(n=100)
        ...     ends.append(simulator.q)
        >>> np.array_equal(*ends)  # bitwise identical
        True
        """
        self._check(snapshot)
        if snapshot.frictional is not None:
            self._physics.allow_friction(snapshot.frictional)
        if snapshot.handles:
            self._physics.allow_external_forces()
        if any(snapshot.arrays.get(f'state.servo.{name}', np.zeros(0)).any() for name in _GAINS):
            self._physics.allow_servos()
        arrays = self._physics.arrays()
        # In place: machine code has the addresses of the arrays.
        for name, array in arrays.items():
            array[...] = snapshot.arrays[name]
        self._physics.clear_near_pairs()
        self._physics.start_time = snapshot.start_time
        self._handles = dict(snapshot.handles)
        # Handles given since then stay invalid.
        self._next_handle = max(self._next_handle, snapshot.next_handle)

    # -- details --------------------------------------------------------------------------------

    def _check(self, snapshot: Snapshot) -> None:
        """Reject a snapshot of another simulation."""
        if snapshot.objects != self.objects:
            raise ValueError(
                'the snapshot belongs to a world with other movable objects, '
                f'{", ".join(snapshot.objects) or "none"}'
            )
        check_identity(snapshot, self._physics)
        given = {name: (each.shape, each.dtype) for name, each in snapshot.arrays.items()}
        arrays = self._physics.arrays()
        if given != {name: (each.shape, each.dtype) for name, each in arrays.items()}:
            raise ValueError(f'the snapshot belongs to another simulation, of {snapshot.robot!r}')

    def _pushed(self, name: str) -> Tuple[int, PluckerTransform]:
        """Return the number of the body of a link or object, and its frame in body coordinates."""
        if name in self.objects and name not in self.robot.model.links:
            first = self._physics.model.scene.first_object
            return first + self.objects.index(name), PluckerTransform.identity()
        links = self.robot.model.links
        if self.objects and name not in links:
            raise ValueError(unknown_name('link or movable object', name, (*links, *self.objects)))
        frame = self.robot.model.link(name)
        return frame.body, frame.placement

    def _default_start(self) -> FloatArray:
        # It depends on the shapes around the robot, which change only with the world.
        scene = self._physics.scene
        if self._default is None or self._default[0] is not scene:
            self._default = scene, default_start(self._physics)
        return self._default[1].copy()

    def _starts(self, q: FloatArray, v: FloatArray) -> Tuple[FloatArray, FloatArray]:
        """Return the starts that `reset` derives from these, (B or 1, nq) and (B or 1, nv)."""
        physics = self._physics
        if physics.model.has_loops:
            # One per pair: the velocity is projected at the configuration.
            rows = max(len(q), len(v)) if len(q) and len(v) else 0
            q, v = (np.broadcast_to(x, (rows, x.shape[1])).copy() for x in (q, v))
            from rbd_ros.simulation.loops.closed_start import close_start
        elif physics.model.is_flat:
            return q, v
        for row in range(len(q)):
            try:
                q[row] = self._with_unit_quaternions(q[row])
                if physics.model.has_loops:
                    closed = close_start(self.robot, q[row], v[row])
                    q[row], v[row] = closed.q, closed.v
            except ValueError as error:
                raise ValueError(f'rollout {row}: {error}') from None
        return q, v

    def _with_unit_quaternions(self, q: FloatArray) -> FloatArray:
        # free_base.py needs unit quaternions, which steps preserve; kernels take any length.
        q = q.copy()
        model = self.robot.model
        for i, (at_q, _) in model.independent_slices.items():
            q[at_q] = model.body(i).unit_position(q[at_q].tolist())
        return q


def _recreate(kind: Type[Simulator], arguments: Dict[str, Any], state: Any) -> Simulator:
    """Return the simulation with these arguments and state, see `Simulator.__reduce__`."""
    loaded, has_servos, numbers, warnings, snapshot = state
    made = kind(**arguments)
    physics = made.physics
    if loaded is not None:
        physics.change_inertias(loaded)
    if has_servos:
        physics.allow_servos()
    for name, array in numbers.items():
        getattr(physics.model, name)[...] = array
    made.restore(snapshot)
    made._start.recall(warnings)
    return made
