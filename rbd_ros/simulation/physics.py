# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The physics of a simulation: commands in, a step, the state out.

`Physics` does not know its callers: `Simulator` is its Python interface (checked arguments, names
of links, warnings), the simulator node its ROS interface. Recording, lockstep and fault injection
wrap `step` likewise.
"""

from __future__ import annotations

import math
from typing import (
    Any,
    Callable,
    Dict,
    get_args,
    Literal,
    Optional,
    Sequence,
    Tuple,
    TYPE_CHECKING,
)

from rbd_ros.array_types import AnyArray, FloatArray
from rbd_ros.compiler.loops import Record
from rbd_ros.contact import contact_shapes, ContactParameters, HalfSpace
from rbd_ros.model.errors import unknown_name
from rbd_ros.robot import Robot
from rbd_ros.simulation.integrators.integrator import integrators
from rbd_ros.simulation.records.mutex import Mutex
from rbd_ros.simulation.records.record_assembly import (
    dynamics_of,
    make_physics_record,
    make_simulation_model,
    with_external_forces,
)
from rbd_ros.simulation.records.simulation_model import SimulationModel
from rbd_ros.simulation.records.simulation_state import BUSY, REJECTED, State, STEPS
from rbd_ros.simulation.scene.scene_assembly import make_scene_model, scene_of
from rbd_ros.simulation.scene.scene_update import carry_over, prepare_scene, PreparedScene
from rbd_ros.simulation.stepping.step_loop import (
    bind_steps,
    place_on_ground,
    step_locked,
    Steps,
)
from rbd_ros.world.world import World

if TYPE_CHECKING:
    from rbd_ros.simulation.loops.closed_start import ClosedStart

#: Guard on the speed of joints [rad/s or m/s].
SPEED_LIMIT = 2000.0

#: Velocity error of rigid contact, relative to the largest velocity without contact forces.
TOLERANCE = 1e-10

#: Default and maximum number of iterations of a contact problem.
ITERATIONS, MAX_ITERATIONS = 1000, 1_000_000

#: Maximum angle [rad]: beyond, rounding leaves it without a direction.
MAX_ANGLE = 2.0**49

#: Message of an attempt to change the world of a simulation without one.
NO_WORLD = (
    'a simulation without a world cannot get objects; create it with a world, such as world={}'
)
#: Laws of restitution for impacts in a world of objects.
RestitutionModel = Literal['newton', 'poisson']
RESTITUTION_MODELS = get_args(RestitutionModel)
#: Integrators of this package, by name.
IntegratorName = Literal['midpoint', 'rk4', 'semi_implicit']

# Fields of `PhysicsRecord` in a snapshot.
_KEPT = ('state', 'external_forces', 'contacts', 'objects', 'contact_state')


class Physics:
    """A robot, the ground and the laws of physics, stepped in time.

    :param timestep: h [s]
    :param integrator: name of an integrator; None: midpoint, with kinematic loops semi_implicit
    :param ground: compliant ground, None for none
    :param contact: parameters of contact with it; None for the defaults of `ContactParameters`
    :param contact_links: links that can touch it; None for all that move
    :param speed_limit: guard on the speed of joints [rad/s or m/s]
    :param world: objects around the robot, with rigid contact; None for none
    :param tolerance: velocity error of rigid contact, relative to the largest velocity without
        contact forces
    :param iterations: maximum number of sweeps and Newton steps of a contact problem
    :param restitution_model: one of `RESTITUTION_MODELS`
    :param enforce_velocity_limits: whether joints keep the velocity limits of the robot
    :raises ValueError: if an argument is not valid, or a link is unknown
    :raises SingularMassMatrixError: if joints move no mass

    >>> from rbd_ros.simulation import Physics
    >>> physics = Physics(robot)
    >>> deepest = physics.reset(q, np.zeros(6))
    >>> state = physics.step(robot.gravity_torque(q), count=10)
    >>> round(physics.time, 6), np.allclose(state.q, q), physics.joint_name(2)
    (0.01, True, 'elbow_joint')
    >>> physics.arrays()['state.q'].shape, physics.steps.address != 0
    ((6,), True)
    """

    def __init__(
        self,
        robot: Robot,
        timestep: float = 1e-3,
        integrator: Optional[IntegratorName] = None,
        ground: Optional[HalfSpace] = None,
        contact: Optional[ContactParameters] = None,
        contact_links: Optional[Sequence[str]] = None,
        speed_limit: float = SPEED_LIMIT,
        world: Optional[World] = None,
        tolerance: float = TOLERANCE,
        iterations: int = ITERATIONS,
        restitution_model: RestitutionModel = 'newton',
        enforce_velocity_limits: bool = True,
    ):
        has_loops = robot.model.loop_constraints > 0
        if integrator is None:
            integrator = 'semi_implicit' if has_loops else 'midpoint'
        known = integrators()
        if integrator not in known:
            raise ValueError(unknown_name('integrator', integrator, known))
        if has_loops:
            field, where = 'with_loops', ''
            if world is not None:
                field, where = 'with_loops_in_world', ' in a world'
            names = [name for name, each in known.items() if getattr(each, field)]
            if integrator not in names:
                raise ValueError(
                    f'{robot.name!r} has kinematic loops, which {integrator} does not '
                    f'support{where}; use {" or ".join(names)}'
                )
        if restitution_model not in RESTITUTION_MODELS:
            raise ValueError(
                f'unknown restitution_model {restitution_model!r}; '
                f'there are {", ".join(RESTITUTION_MODELS)}'
            )
        if world is None and restitution_model != 'newton':
            raise ValueError(
                'restitution_model applies to rigid contact only; give a world, or leave it out'
            )
        # NaN is rejected too.
        for name, value in (
            ('timestep', timestep),
            ('speed_limit', speed_limit),
            ('tolerance', tolerance),
        ):
            if not 0.0 < float(value) < math.inf:
                raise ValueError(f'{name} must be positive and finite, got {value}')
        # Machine code counts in 64 bits.
        if not 1 <= iterations <= MAX_ITERATIONS or iterations != int(iterations):
            raise ValueError(
                f'solver_iterations must be a whole number from 1 to {MAX_ITERATIONS}, '
                f'got {iterations}'
            )
        self.robot, self.integrator, self.ground = robot, integrator, ground
        #: The robot with its present inertias, see `change_inertias`.
        self.loaded_robot = robot
        self.world = world
        self.scene = None if world is None else scene_of(robot, world)
        shapes, self.geometries, self.shape_warnings = contact_shapes(
            robot.model,
            contact_links if ground else (),  # without a ground, meshes need not be read
        )
        self.model = make_simulation_model(
            robot,
            timestep,
            ground,
            contact or ContactParameters(),
            shapes,
            float(speed_limit),
            bool(enforce_velocity_limits),
            known[integrator],
            make_scene_model(
                self.scene,
                world,
                len(robot.model.bodies),
                tolerance,
                iterations,
                restitution_model == 'poisson',
            ),
            world is not None,
        )
        self.fields = make_physics_record(self.model, robot.nq)
        self.commands, self.state = self.fields.commands, self.fields.state
        self.external_forces, self.contacts = self.fields.external_forces, self.fields.contacts
        self.objects, self.contact_state = self.fields.objects, self.fields.contact_state
        # It keeps the table, whose address machine code has.
        self.record = Record(self.fields)
        #: Held by a thread that reads or changes the records.
        self.mutex = Mutex()
        self.start_time = 0.0
        #: How the loops were closed at the last reset; None without loops.
        self.closed_start: Optional[ClosedStart] = None
        self._discard_steps()

    def __reduce__(self) -> Tuple[Any, ...]:
        raise TypeError(
            'a Physics holds addresses of its memory and cannot be copied or pickled; copy or '
            'pickle its Simulator, or take a snapshot'
        )

    def allow_servos(self) -> None:
        """Allow servos of joints: the step loop is rebuilt for them."""
        with self.mutex:
            if not self.model.has_servos:
                self._replace_model(self.model._replace(has_servos=True))

    def allow_friction(self, allowed: bool = True) -> None:
        """Allow dry friction, `model.friction`, also in joints that had none.

        :param allowed: whether they may; if not, rounding errors are again those of before
        """
        with self.mutex:
            if bool(self.model.frictional) != allowed:
                self._replace_model(self.model._replace(frictional=int(allowed)))

    def change_inertias(self, robot: Robot) -> None:
        """Change the inertias of the robot, as by a payload; the motion continues.

        :param robot: the same robot with other inertias; `prepare_inertias` compiles its
            kernels beforehand, which takes seconds
        :raises ValueError: if it is another robot
        """
        kernels: Dict[str, Any] = self.prepare_inertias(robot)
        with self.mutex:
            self.loaded_robot = robot
            self._replace_model(self.model._replace(**kernels))

    def prepare_inertias(self, robot: Robot) -> Dict[str, int]:
        """Compile the kernels of `change_inertias`; other threads may step meanwhile.

        :param robot: as for `change_inertias`
        :return: addresses of its kernels, by fields of `model`
        :raises ValueError: if it is another robot
        """
        own = self.robot.model
        if (robot.joint_names, robot.nq, list(robot.model.links)) != (
            self.robot.joint_names,
            self.robot.nq,
            list(own.links),
        ):
            raise ValueError(
                f'{robot.name!r} must be {self.robot.name!r} with other inertias only'
            )
        return dynamics_of(self.model, robot, integrators()[self.integrator])

    def _replace_model(self, model: SimulationModel) -> None:
        self.model = model
        # The other records stay with their contents: the motion continues.
        self.fields = self.fields._replace(model=model)
        self.record = Record(self.fields)
        self._discard_steps()

    def _discard_steps(self) -> None:
        self._steps: Optional[Steps] = None
        # Replaced once the step loop is compiled.
        self._step_alone: Callable[[FloatArray, int], int] = step_locked

    @property
    def time(self) -> float:
        """Simulated time, counted in steps so that it does not drift [s]."""
        return self.start_time + int(self.state.counters[STEPS]) * self.model.timestep

    def allow_external_forces(self) -> None:
        """Allow external forces: the step loop is rebuilt for them."""
        with self.mutex:
            if not self.model.has_external_forces:
                self._replace_model(with_external_forces(self.model, self.robot))

    @property
    def steps(self) -> Steps:
        """The step loop; compiled on first use."""
        with self.mutex:
            if self._steps is None and not self.robot.nv and not self.model.has_scene:
                self._steps = Steps(step_locked, self._advance_time, 0)
            elif self._steps is None:
                self._steps = bind_steps(self.record, self.mutex)
            self._step_alone = self._steps.alone
            return self._steps

    def _advance_time(self, count: int) -> int:
        """Advance time alone, for a robot without joints."""
        self.state.counters[STEPS] += count
        return count

    def step(self, torque: FloatArray, count: int = 1) -> State:
        """Take time steps under a constant torque; concurrent calls of threads wait.

        :param torque: (nv,) [N m, N], saturated at the effort limits
        :param count: number of steps
        :return: the state after them; the next step changes its arrays
        :raises ValueError: if a torque is not finite; nothing is changed
        :raises FloatingPointError: if the dynamics are not finite; positions and velocities are
            those before the failed step
        """
        # `advance` checks that commands are finite, before it changes anything.
        # A step takes microseconds: less than releasing and acquiring the GIL.
        taken = self._step_alone(torque, 1) if count == 1 else BUSY
        if taken == BUSY:
            with self.mutex:
                self.commands.torque[:] = torque
                taken = self.steps.aside(count)
                if taken != count:
                    raise self.failure(taken)
        elif taken != count:
            raise self.failure(taken)
        return self.state

    def failure(self, taken: int) -> Exception:
        """Return the error that explains why fewer steps were taken than requested.

        :param taken: result of `advance`
        """
        if taken == REJECTED:
            return ValueError(f'tau must be finite, got {self.commands.torque}')
        # From the buffers of the failed step: the state itself is that before it.
        in_contact = self.fields.work.scene.in_contact
        lost = in_contact < 0
        in_contact[lost] = 0
        if self.scene is not None and lost.any():
            names = ', '.join(o.name for o, bad in zip(self.scene.objects, lost) if bad)
            return FloatingPointError(
                f'the motion of {names} is not finite at time {self.time:g} s; check velocities '
                'and forces, or use a smaller timestep'
            )
        far = {
            self.joint_name(i): float(self.state.q[at])
            for i, at in enumerate(self.model.position)
            if at >= 0 and not abs(self.state.q[at]) < MAX_ANGLE and self.model.turning[i] > 0.0
        }
        if far:
            where = ', '.join(f'{name} at {q:g} rad' for name, q in sorted(far.items()))
            return FloatingPointError(
                f'joints of {self.robot.name!r} have turned so far at time {self.time:g} s that '
                f'double precision cannot represent their angle: {where}'
            )
        from rbd_ros.algorithms.inertia_matrix.singularity import singular_joints

        joints = singular_joints(self.loaded_robot.model, self.state.q)
        if joints:
            return FloatingPointError(
                f'the mass matrix of {self.robot.name!r} is singular at time {self.time:g} s: '
                f'joint {", ".join(map(repr, joints))} can move without moving mass at this '
                'configuration, as in gimbal lock; start at another one, or give the joint an '
                'armature'
            )
        v = self.fields.work.motion.next_v
        bad = {self.joint_name(i) for i in range(len(v)) if not math.isfinite(v[i])}
        return FloatingPointError(
            f'the dynamics of {self.robot.name!r} are not finite at time {self.time:g} s, joints '
            f'{", ".join(sorted(bad)) or "unknown"}; check the inertia that each joint moves'
        )

    def reset(self, q: FloatArray, v: FloatArray, time: float = 0.0) -> int:
        """Start again: external forces, counters and the deformation of the ground are cleared.

        Servos keep their gains and targets. Open loops are closed, see `assembly`.

        :param q: configuration, valid, (nq,)
        :param v: velocity, (nv,)
        :param time: new time [s]
        :return: the contact point that is deepest in the ground, -1 if there is none
        :raises ValueError: if loops cannot be closed; nothing is changed
        """
        with self.mutex:
            return self._reset(q, v, time)

    def _reset(self, q: FloatArray, v: FloatArray, time: float) -> int:
        self.closed_start = None
        if self.model.has_loops:
            # First: if loops cannot be closed, nothing is changed.
            from rbd_ros.simulation.loops.closed_start import close_start

            self.closed_start = close_start(self.robot, q, v)
            q, v = self.closed_start.q, self.closed_start.v
        servo = self.state.servo
        kept = [array.copy() for array in (servo.kp, servo.kd, servo.q, servo.v)]
        # All but the constants, in place: machine code has the addresses of the arrays.
        for record in self.fields[1:]:
            clear_record(record)
        for array, values in zip((servo.kp, servo.kd, servo.q, servo.v), kept):
            array[:] = values
        self.state.q[:] = q
        self.state.v[:] = v
        for array, start in zip(self.objects, self.model.scene.start):
            array[...] = start
        self.start_time = float(time)
        return place_on_ground(self.record) if self.model.has_ground else -1

    def clear_near_pairs(self) -> None:
        """Clear the list of near pairs, after something was moved other than by a step."""
        self.fields.work.scene.buffers.listed[:] = 0

    def prepare_world(self, world: World) -> PreparedScene:
        """Return the inputs of `change_world`; other threads may step meanwhile.

        :param world: new environment of the robot
        :raises ValueError: if there is no world now, or that one cannot be used

        >>> from rbd_ros.world import World, WorldObject
        >>> from rbd_ros.model.geometry import Plane
        >>> from rbd_ros.simulation import Physics
        >>> physics = Physics(robot, world=World())
        >>> ready = physics.prepare_world(World((WorldObject('floor', Plane()),)))
        >>> physics.world.names, ready.world.names
        (('robot',), ('robot', 'floor'))
        """
        if self.scene is None:
            raise ValueError(NO_WORLD)
        moving = [self.world, world]
        if len({tuple(r.name for r in e.moving_in(self.robot.model)) for e in moving if e}) > 1:
            raise ValueError(
                'movable robots cannot be added or removed in a running simulation; create a new '
                'one with them'
            )
        return prepare_scene(self.robot, world, self.scene, self.record, self.mutex)

    def change_world(self, prepared: PreparedScene) -> None:
        """Replace the world around the robot; the motion continues.

        Objects of both worlds keep their motion, others begin at their start. Records of
        `fields` other than `work`, `objects` and `contact_state` stay in place.

        :param prepared: result of `prepare_world`

        >>> from rbd_ros.world import World, WorldObject
        >>> from rbd_ros.model.geometry import Plane
        >>> from rbd_ros.simulation import Physics
        >>> physics = Physics(robot, world=World())
        >>> state = physics.step(np.zeros(6), count=10)
        >>> walled = World((WorldObject('wall', Plane()),))
        >>> physics.change_world(physics.prepare_world(walled))
        >>> physics.world.names, round(physics.time, 6)
        (('robot', 'wall'), 0.01)
        """
        with self.mutex:
            assert self.scene is not None
            if prepared.before is not self.record:  # which has changed since
                prepared = self.prepare_world(prepared.world)
            carry_over(self.scene, prepared)
            self.world, self.scene = prepared.world, prepared.scene
            self.fields, self.record = prepared.fields, prepared.record
            self.model = self.fields.model
            self.objects, self.contact_state = self.fields.objects, self.fields.contact_state
            self._steps, self._step_alone = prepared.steps, prepared.steps.alone

    def arrays(self) -> Dict[str, AnyArray]:
        """Return all arrays that the next steps depend on, by name; not copied."""
        found: Dict[str, AnyArray] = {}
        for name in _KEPT:
            _collect(name, getattr(self.fields, name), found)
        return found

    def joint_name(self, i: int) -> str:
        """Return the name of the joint of a degree of freedom.

        :param i: index of the degree of freedom in v
        """
        model = self.robot.model
        return next(
            model.body(k).joint_name
            for k, (_, at_v) in model.independent_slices.items()
            if at_v.start <= i < at_v.stop
        )


def _collect(name: str, record: Tuple[Any, ...], found: Dict[str, AnyArray]) -> None:
    for field, each in record._asdict().items():  # type: ignore[attr-defined]
        if isinstance(each, tuple):
            _collect(f'{name}.{field}', each, found)
        else:
            found[f'{name}.{field}'] = each


def clear_record(record: Tuple[Any, ...]) -> None:
    """Fill all arrays of a record with zeros."""
    for each in record:
        if isinstance(each, tuple):
            clear_record(each)
        else:
            each[...] = 0
