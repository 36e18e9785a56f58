"""A simulated robot: what a user holds. The physics is in the modules beside this one."""

from __future__ import annotations

from dataclasses import dataclass
import math
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from rbd_ros.compiler.records import Record
from rbd_ros.contact import contact_shapes, ContactParameters, HalfSpace
from rbd_ros.robot import Robot
from rbd_ros.simulation import plant as layout
from rbd_ros.simulation.assembly import make_memory, make_plant
from rbd_ros.simulation.plant import MAX_WRENCHES, PERSISTENT
from rbd_ros.simulation.stepping import advance, place_on_ground

#: Names of the integrators.
INTEGRATORS = ('semi_implicit', 'rk4')

#: Guard on the speed of joints [rad/s or m/s].
SPEED_LIMIT = 2000.0

#: Depth in the ground at a reset that is worth a warning [m].
DEEP = 2e-3


class Contact(NamedTuple):
    """A point at which the robot touches the ground, in base coordinates.

    :param link: name of the link
    :param geometry: name of the collision geometry, '' if it has none
    :param position: where it touched at the beginning of the last step, (3,) [m]
    :param normal: outward normal of the ground, (3,)
    :param force: force on the robot, (3,) [N]
    :param depth: how deep the point was in the ground [m]
    """

    link: str
    geometry: str
    position: np.ndarray
    normal: np.ndarray
    force: np.ndarray
    depth: float


class SimulationStatus(NamedTuple):
    """What happened since the last reset, in numbers of steps unless it says otherwise.

    :param steps: steps taken
    :param substeps: parts added by dividing steps in which joints turn far
    :param saturated_steps: steps in which a torque was cut at its effort limit
    :param speed_guard_steps: (parts of) steps in which the guard on speed held a joint back
    :param limit_steps: (parts of) steps in which a joint was at a limit
    :param unconverged_steps: (parts of) steps whose forces are those of the sweeps, not exact
    :param dropped_contacts: contact points for which there was no room
    :param contacts: points that touch the ground now
    """

    steps: int
    substeps: int
    saturated_steps: int
    speed_guard_steps: int
    limit_steps: int
    unconverged_steps: int
    dropped_contacts: int
    contacts: int


@dataclass(frozen=True)
class Snapshot:
    """State of a simulation at one instant; opaque, can be pickled."""

    robot: str
    start_time: float
    arrays: Dict[str, np.ndarray]
    handles: Dict[int, int]
    next_handle: int


class Simulator:
    """A robot that moves under torques, gravity, joint friction, joint limits and contact.

    :param robot: the robot
    :param timestep: h [s]
    :param integrator: 'semi_implicit' (Euler; default) or 'rk4'; see docs/simulation.md
    :param ground: what there is to touch: None for nothing, True for z <= 0, or a `HalfSpace`
    :param contact: parameters of soft contact; None for the defaults of `ContactParameters`
    :param contact_links: links that can touch the ground; None for all that move
    :param speed_limit: last guard on the speed of joints, reported in `status` [rad/s or m/s]
    :raises ValueError: if an argument is not valid, or a link is unknown
    :raises SingularMassMatrixError: if joints move no mass
    """

    def __init__(
        self,
        robot: Robot,
        timestep: float = 1e-3,
        integrator: str = 'semi_implicit',
        ground: Union[None, bool, HalfSpace] = None,
        contact: Optional[ContactParameters] = None,
        contact_links: Optional[Sequence[str]] = None,
        speed_limit: float = SPEED_LIMIT,
    ):
        if not isinstance(robot, Robot):
            raise ValueError(f'robot must be a Robot, got {type(robot).__name__}')
        if integrator not in INTEGRATORS:
            raise ValueError(
                f'unknown integrator {integrator!r}; there are {", ".join(INTEGRATORS)}'
            )
        for name, value in (('timestep', timestep), ('speed_limit', speed_limit)):
            if not 0.0 < float(value) < math.inf:
                raise ValueError(f'{name} must be positive and finite, got {value}')
        if ground is True:
            ground = HalfSpace()
        if not (ground is None or ground is False or isinstance(ground, HalfSpace)):
            raise ValueError(f'ground must be None, True or a HalfSpace, got {ground!r}')
        self._robot, self._integrator = robot, integrator
        self._ground = ground or None
        shapes, self._geometries, self._shape_warnings = contact_shapes(
            robot.model, contact_links if self._ground else ()
        )
        self._start_warnings: List[str] = []
        self._plant = make_plant(
            robot,
            timestep,
            self._ground,
            contact or ContactParameters(),
            shapes,
            float(speed_limit),
            integrator == 'rk4',
        )
        self._memory = make_memory(self._plant, robot.nq)
        self._records = Record(self._plant), Record(self._memory)
        self._nothing = np.zeros(robot.nv)
        self._start_time = 0.0
        self._handles: Dict[int, int] = {}
        self._next_handle = 1
        self.reset()
        if robot.nv:
            self._advance = advance.bind(*self._records)  # compiled now, not in the first step

    def __repr__(self) -> str:
        return (
            f'<Simulator of {self._robot.name!r}: {self._integrator}, '
            f'{self.timestep:g} s steps, time {self.time:g} s>'
        )

    # -- state ----------------------------------------------------------------------------------

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self._robot

    @property
    def timestep(self) -> float:
        """Time step [s]."""
        return self._plant.timestep

    @property
    def integrator(self) -> str:
        """Name of the integrator."""
        return self._integrator

    @property
    def ground(self) -> Optional[HalfSpace]:
        """The ground, None if there is none."""
        return self._ground

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._start_time + int(self._memory.counters[layout.STEPS]) * self._plant.timestep

    @property
    def q(self) -> np.ndarray:
        """Configuration, (nq,) [rad, m]."""
        return self._memory.q.copy()

    @property
    def v(self) -> np.ndarray:
        """Velocity, (nv,) [rad/s, m/s]."""
        return self._memory.v.copy()

    @property
    def a(self) -> np.ndarray:
        """Mean acceleration of the last step, (nv,) [rad/s^2, m/s^2]."""
        return self._memory.acceleration.copy()

    @property
    def tau(self) -> np.ndarray:
        """Torque applied in the last step, after saturation, (nv,) [N m, N]."""
        return self._memory.applied.copy()

    @property
    def saturated(self) -> np.ndarray:
        """Which torques were cut at the effort limit in the last call of `step`, (nv,) of bool."""
        return self._memory.saturated.astype(bool)

    @property
    def constraint_force(self) -> np.ndarray:
        """Force of joint friction, limits and contacts in the last step, (nv,) [N m, N]."""
        return self._memory.constraint.copy()

    @property
    def contacts(self) -> Tuple[Contact, ...]:
        """Points at which the robot touched the ground in the last step."""
        memory, plane = self._memory, self._plant.plane
        result: List[Contact] = []
        for c in range(int(memory.counters[layout.FOUND])):
            if memory.contact_force[c, 0] > 0.0:
                geometry = self._geometries[int(memory.found_shape[c])]
                result.append(
                    Contact(
                        geometry.link,
                        geometry.name,
                        memory.found_position[c].copy(),
                        plane[0].copy(),
                        memory.contact_force[c] @ plane,
                        -float(memory.gap[c]),
                    )
                )
        return tuple(result)

    @property
    def status(self) -> SimulationStatus:
        """What happened since the last reset."""
        counters = self._memory.counters
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
                    layout.CONTACTS,
                )
            )
        )

    @property
    def records(self) -> Tuple[Record, Record]:
        """Plant and memory (plant.py), for compiled loops that step this simulation themselves."""
        return self._records

    @property
    def advance_address(self) -> int:
        """Address of the loop that takes steps (`stepping.advance`), for `call_loop`."""
        return advance.address(*self._records)

    @property
    def warnings(self) -> Tuple[str, ...]:
        """What is odd about the collision shapes, and about the start at the last reset."""
        return (*self._shape_warnings, *self._start_warnings)

    # -- verbs ----------------------------------------------------------------------------------

    def reset(self, q: Any = None, v: Any = None, time: float = 0.0) -> None:
        """Start anew: external wrenches, counters and the memory of contacts are cleared.

        :param q: configuration, (nq,); None for the neutral one, moved into the joint limits
        :param v: velocity, (nv,); None for rest
        :param time: time that it is now [s]
        :raises ValueError: for a wrong shape or dtype, or what is not finite; nothing is changed
        """
        robot = self._robot
        if q is None:
            q = np.clip(robot.neutral(), robot.lower_limits, robot.upper_limits)
        else:
            q = self._with_unit_quaternions(_finite_array('q', q, robot.nq))
        v = np.zeros(robot.nv) if v is None else _finite_array('v', v, robot.nv)
        if not math.isfinite(time):
            raise ValueError(f'time must be finite, got {time}')
        for array in self._memory:
            array[...] = 0
        self._memory.q[:] = q
        self._memory.v[:] = v
        self._handles.clear()
        self._start_time = float(time)
        self._begin(q, v)

    def step(self, tau: Any = None, n: int = 1) -> None:
        """Take `n` time steps under constant torque; other Python threads run meanwhile.

        :param tau: torque, (nv,) [N m, N], cut at the effort limits; None for no torque
        :param n: number of steps
        :raises ValueError: for a wrong shape or dtype, what is not finite, or negative n; nothing
            is changed
        :raises FloatingPointError: if the dynamics are not finite; the state is that before the
            step concerned
        """
        tau = self._nothing if tau is None else _finite_array('tau', tau, self._robot.nv)
        if n < 0:
            raise ValueError(f'n must not be negative, got {n}')
        if self._robot.nv == 0:
            self._memory.counters[layout.STEPS] += n
            return
        self._memory.wanted[:] = tau
        if self._advance(n) < n:
            raise FloatingPointError(self.why_not_finite())

    def apply_wrench(
        self, link: str, wrench: Any, duration: float = math.inf, point: Any = None
    ) -> int:
        """Apply an external force to a link from the next step on.

        :param link: name of the link
        :param wrench: moment and force, along the axes of the base, (6,) [N m, N]
        :param duration: how long, rounded up to whole steps [s]
        :param point: point that moves with the link, in link coordinates, (3,) [m], which the
            force acts at and the moment is about; None for the origin of the base (as
            `external_forces` of `Robot`)
        :return: a handle for `clear_wrenches`
        :raises ValueError: for an unknown link, a wrong shape, what is not finite, or too many
            wrenches
        """
        frame = self._robot.model.link(link)
        wrench = _finite_array('wrench', wrench, 6)
        at = (
            np.zeros(3)
            if point is None
            else frame.placement.inverse_point(tuple(_finite_array('point', point, 3)))
        )
        if not duration > 0.0:
            raise ValueError(f'duration must be positive, got {duration}')
        use = self._memory.wrench_use
        self._handles = {handle: w for handle, w in self._handles.items() if use[w, 2] != 0}
        free = next((w for w in range(MAX_WRENCHES) if use[w, 2] == 0), None)
        if free is None:
            raise ValueError(f'{MAX_WRENCHES} external wrenches act already; clear some first')
        steps = -1 if duration == math.inf else math.ceil(duration / self.timestep - 1e-6)
        self._memory.wrench_moment[free] = wrench[:3]
        self._memory.wrench_force[free] = wrench[3:]
        self._memory.wrench_point[free] = at
        use[free] = (frame.body, 0 if point is None else 1, max(steps, 1) if steps >= 0 else -1)
        self._memory.counters[layout.WRENCHES] += 1
        handle, self._next_handle = self._next_handle, self._next_handle + 1
        self._handles[handle] = free
        return handle

    def clear_wrenches(self, handle: Optional[int] = None) -> None:
        """Remove external wrenches before their time.

        :param handle: which one; one that has ended already is ignored; None for all
        """
        use = self._memory.wrench_use
        if handle is None:
            use[:] = 0
            self._handles.clear()
        elif handle in self._handles:
            use[self._handles.pop(handle)] = 0
        self._memory.counters[layout.WRENCHES] = int(np.count_nonzero(use[:, 2]))

    def snapshot(self) -> Snapshot:
        """State of everything at this instant."""
        arrays = {name: getattr(self._memory, name).copy() for name in PERSISTENT}
        return Snapshot(
            self._robot.name, self._start_time, arrays, dict(self._handles), self._next_handle
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot, exactly.

        :raises ValueError: if it is that of another simulation; nothing is changed
        """
        for name in PERSISTENT:
            if snapshot.arrays[name].shape != getattr(self._memory, name).shape:
                raise ValueError(
                    f'the snapshot is that of another simulation, of {snapshot.robot!r}'
                )
        for name in PERSISTENT:
            getattr(self._memory, name)[...] = snapshot.arrays[name]
        self._start_time = snapshot.start_time
        self._handles = dict(snapshot.handles)
        self._next_handle = snapshot.next_handle

    # -- details --------------------------------------------------------------------------------

    def _with_unit_quaternions(self, q: np.ndarray) -> np.ndarray:
        q = q.copy()
        model = self._robot.model
        for i, (at_q, _) in model.independent_slices.items():
            body = model.body(i)
            try:
                q[at_q] = body.joint.normalize(q[at_q])
            except ValueError as error:
                raise ValueError(f'position of joint {body.joint_name!r}: {error}') from None
        return q

    def _begin(self, q: np.ndarray, v: np.ndarray) -> None:
        """Give contacts their memory, and warn of what is odd about the start."""
        robot, plant, warn = self._robot, self._plant, self._start_warnings.append
        self._start_warnings.clear()
        if len(plant.shapes.kind):
            point = place_on_ground(*self._records)
            depth = -self._memory.patch_z[point] if point >= 0 else 0.0
            if depth > DEEP:
                shape = int(np.searchsorted(plant.shapes.first, point, side='right')) - 1
                warn(
                    f'link {self._geometries[shape].link!r} starts {1e3 * depth:.1f} mm deep in '
                    'the ground; contact_links chooses which links touch it'
                )
        for i in range(robot.nv):
            at = plant.position[i]
            if at >= 0 and not plant.lower[i] <= q[at] <= plant.upper[i]:
                warn(
                    f'joint {self._joint_of(i)!r} starts at {q[at]:g}, outside its limits '
                    f'[{plant.lower[i]:g}, {plant.upper[i]:g}]; it is moved back slowly'
                )
            if abs(v[i]) > plant.speed[i]:
                warn(
                    f'joint {self._joint_of(i)!r} starts at speed {v[i]:g}, above the guard of '
                    f'{plant.speed[i]:g}'
                )

    def _joint_of(self, i: int) -> str:
        model = self._robot.model
        return next(
            model.body(k).joint_name
            for k, (_, at_v) in model.independent_slices.items()
            if at_v.start <= i < at_v.stop
        )

    def why_not_finite(self) -> str:
        """Say which joints' velocities stopped being finite in the last step."""
        robot, memory = self._robot, self._memory
        bad = {self._joint_of(i) for i in range(robot.nv) if not math.isfinite(memory.next_v[i])}
        return (
            f'the dynamics of {robot.name!r} are not finite at time {self.time:g} s, joints '
            f'{", ".join(sorted(bad)) or "unknown"}: is there enough inertia behind each joint?'
        )


def _finite_array(name: str, given: Any, size: int) -> np.ndarray:
    """Array of finite floats, (size,), or a ValueError that says what is wrong."""
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise ValueError(f'{name} is not an array of numbers: {error}') from None
    if array.dtype.kind not in 'fiu':
        raise ValueError(f'{name} must hold real numbers, got dtype {array.dtype}')
    if array.shape != (size,):
        raise ValueError(f'{name} must have shape ({size},), got {array.shape}')
    array = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f'{name} must be finite, got {array}')
    return array
