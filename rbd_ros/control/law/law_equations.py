# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
"""The torque law on scalars of any type; `TorqueLaw` compiles it.

    torque   = model + feedback + friction + integral + added
    feedback = elastic + damping
               H (kp e) + D e  and  H (kd de)    with computed torque: H the mass matrix,
               J^T K e and J^T D de and more     with the impedance of a frame: task_impedance.py
               kp e            and  kd de        otherwise; D goes with viscous friction
    friction = viscous v + coulomb tanh(v / transition)

where e and de are desired minus measured position and velocity, and added is an input of the
caller. docs/control_law.md has the reasons. The caller selects measured or desired motion, and
disables terms, by the arrays that it passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union
from weakref import WeakKeyDictionary

import numpy as np

from rbd_ros.array_types import FloatArray
from rbd_ros.compiler import compile_lock, Definition, make_kernel
from rbd_ros.compiler.runtime.kernel import InterpretedKernel, Kernel
from rbd_ros.control.law import task_impedance
from rbd_ros.model import Model
from rbd_ros.robot import Robot
from rbd_ros.robot.kernels import declared
from rbd_ros.robot.variants import evaluate, model_key, source_key, variant
from rbd_ros.spatial.scalar import absolute, clip, maximum, Scalar, tanh, where_positive

Scalars = Sequence[Scalar]

#: Time for which the desired motion must be at rest for the full deadband [s], and the fraction of
#: the deadband before.
SETTLING_TIME, NARROW = 2.0, 0.25

#: Square of the desired velocity below which the motion is at rest, above rounding [(rad/s)^2].
REST = 1e-12

#: Input arrays of the law: the state of the model, measured and desired motion of the feedback,
#: the velocity of the friction compensation, and so on.
INPUTS = (
    'model_q', 'model_v', 'model_a', 'q', 'v', 'q_desired', 'v_desired', 'friction_v', 'added',
    'applied', 'before', 'dt', 'numbers', 'gravity',
)  # fmt: skip

#: Numbers of the settings, in the order of the input 'numbers': for each joint, and for all.
JOINT_NUMBERS = (
    'kp', 'kd', 'viscous', 'coulomb', 'friction_stiffness', 'share', 'inverse_share',
    'integral_rate', 'integral_bound',
)  # fmt: skip
COMMON_NUMBERS = ('model', 'transition_rate', 'deadband')

#: Outputs, in order: vectors with one number per joint, then scalars: the time for which the
#: desired motion has been at rest, and the number of results that are not finite. The input
#: 'before' is the output of the previous call.
VECTORS = ('torque', 'model', 'feedback', 'friction', 'integral', 'next_integral')
SINGLES = ('resting', 'not_finite')

#: A torque beyond this counts as not finite [N m or N].
MAXIMUM_TORQUE = 1e300


@dataclass(frozen=True)
class Layout:
    """Place of each quantity in the arrays of a law.

    :param nq: number of position variables
    :param nv: degrees of freedom
    :param task: whether the settings include the impedance of a frame
    """

    nq: int
    nv: int
    task: bool = False

    @property
    def input_sizes(self) -> Dict[str, int]:
        """Sizes of the input arrays."""
        n = self.nv
        own = {
            'model_q': self.nq,
            'q': self.nq,
            'q_desired': n,
            'before': self.size,
            'dt': 1,
            'numbers': len(JOINT_NUMBERS) * n + len(COMMON_NUMBERS) + self._own,
            'gravity': 3,
        }
        return {name: own.get(name, n) for name in INPUTS}

    @property
    def _own(self) -> int:
        return task_impedance.COUNT if self.task else 0

    @property
    def size(self) -> int:
        """Size of the output array."""
        return len(VECTORS) * self.nv + len(SINGLES)

    def at(self, name: str) -> slice:
        """Return the slice of the output array that holds the vector `name`, one of `VECTORS`."""
        k = VECTORS.index(name)
        return slice(k * self.nv, (k + 1) * self.nv)

    def numbers(self, values: Dict[str, Any]) -> FloatArray:
        """Return the numbers of the settings, by name, packed into the input 'numbers'."""
        common = [values[name] for name in COMMON_NUMBERS]
        own = [values[name] for name in JOINT_NUMBERS]
        task = [values['task']] if self.task else []
        numbers: FloatArray = np.concatenate([*own, common, *task]).astype(float)
        return numbers

    def unpacked(self, numbers: Scalars) -> Dict[str, Any]:
        """Return vectors and scalars of the settings by name: the inverse of `numbers`."""
        n = self.nv
        values: Dict[str, Any] = {
            name: numbers[k * n : (k + 1) * n] for k, name in enumerate(JOINT_NUMBERS)
        }
        values.update(zip(COMMON_NUMBERS, numbers[len(JOINT_NUMBERS) * n :]))
        values['task'] = numbers[len(numbers) - self._own :]
        return values


def law_definition(
    model: Model,
    computed: bool,
    payload_link: Optional[str],
    own_weight: bool = True,
    task_frame: Optional[str] = None,
    impedance: bool = False,
) -> Definition:
    """Return the definition of the law for a model, ready to be compiled.

    Its inputs are `INPUTS`, then the payload if there is a link for it.

    :param computed: whether errors are multiplied by the mass matrix
    :param payload_link: link that carries a payload; None: no payload
    :param own_weight: whether the model includes the weight of the robot's own links
    :param task_frame: frame of the impedance in the settings; None: none
    :param impedance: whether errors are those of that frame
    """
    layout = Layout(model.nq, model.nv, task_frame is not None)
    payload = () if payload_link is None else (f'payload:{payload_link}',)
    inputs = [*layout.input_sizes.items(), *((name, 10) for name in payload)]

    algorithms = [declared(name) for name in ('inverse_dynamics', 'mass_matrix')]
    dynamics = variant(model, algorithms[0], runtime=('gravity', *payload))
    inertia = variant(model, algorithms[1], runtime=payload)
    kinematics = [declared(name) for name in ('frame_pose', 'jacobian')] if impedance else []
    choices: Sequence[Dict[str, Any]] = ({}, {'reference': 'aligned'})
    of_frame = [
        variant(model, each, frame=task_frame, **options)
        for each, options in zip(kinematics, choices)
    ]
    without_payload = variant(model, algorithms[0], runtime=('gravity',))

    def run(*arrays: Scalars) -> Scalars:
        given = dict(zip(INPUTS, arrays))
        extra = arrays[len(INPUTS) :]
        motion = (given[name] for name in ('model_q', 'model_v', 'model_a', 'gravity'))
        (tau,) = evaluate(model, dynamics, *motion, *extra)
        if not own_weight:
            rest = [0.0] * layout.nv
            state = (given['model_q'], rest, rest, given['gravity'])
            (weight,) = evaluate(model, without_payload, *state)
            tau = [x - y for x, y in zip(tau, weight)]
        H = None
        if computed or impedance:
            (H,) = evaluate(model, inertia, given['q'], *extra)
        forces = None
        if impedance and H is not None:
            measured, desired = (
                task_impedance.TaskMotion(
                    *(evaluate(model, each, given[q])[0] for each in of_frame)
                )
                for q in ('q', 'q_desired')
            )
            forces, H = _task_forces(layout, given, measured, desired, H), None
        return torque_law(layout, given, tau, H, forces)

    key = {
        'model': model_key(model),
        'law': [computed, payload_link, own_weight, task_frame, impedance],
        'source': source_key(
            model, *algorithms, *kinematics, torque_law, task_impedance.task_forces
        ),
    }
    return Definition.of_one_output('torque_law', inputs, (layout.size,), run, key)


def holding_definition(model: Model, payload_link: Optional[str]) -> Definition:
    """Return the definition of the gravity torque of a payload only.

    Its inputs are the configuration, gravity, and the payload if there is a link for it.

    :param payload_link: link that carries the payload; None: no payload
    """
    payload = () if payload_link is None else (f'payload:{payload_link}',)
    inputs = [('q', model.nq), ('gravity', 3), *((name, 10) for name in payload)]
    algorithm = declared('gravity_torque')
    loaded = variant(model, algorithm, runtime=('gravity', *payload))
    empty = variant(model, algorithm, runtime=('gravity',))

    def run(q: Scalars, gravity: Scalars, *mass: Scalars) -> Scalars:
        (whole,) = evaluate(model, loaded, q, gravity, *mass)
        (links,) = evaluate(model, empty, q, gravity)
        return [x - y for x, y in zip(whole, links)]

    key = {
        'model': model_key(model),
        'holding': [payload_link],
        'source': source_key(model, algorithm, holding_definition),
    }
    return Definition.of_one_output('payload_torque', inputs, (model.nv,), run, key)


def _task_forces(
    layout: Layout,
    given: Dict[str, Scalars],
    measured: task_impedance.TaskMotion,
    desired: task_impedance.TaskMotion,
    H: Scalars,
) -> Tuple[Scalars, Scalars]:
    """Return the torques of an impedance's springs and dampers; those of springs are limited."""
    settings = layout.unpacked(given['numbers'])
    requested = [
        [gain * (given[f'{x}_desired'][j] - given[x][j]) for j, gain in enumerate(settings[name])]
        for name, x in (('kp', 'q'), ('kd', 'v'))
    ]
    elastic, damping = task_impedance.task_forces(
        measured,
        desired,
        H,
        given['v'],
        given['v_desired'],
        requested[0],
        requested[1],
        settings['task'],
    )
    return _affordable(elastic, [0.0] * layout.nv, settings)[0], damping


def torque_law(
    layout: Layout,
    given: Dict[str, Scalars],
    tau: Scalars,
    H: Optional[Scalars],
    forces: Optional[Tuple[Scalars, Scalars]] = None,
) -> List[Scalar]:
    """Return the torque, its terms, and the state for the next call, in the order of the output.

    :param layout: layout of the arrays
    :param given: the inputs by name
    :param tau: inverse dynamics of the model, (nv,)
    :param H: mass matrix, flat (nv nv,); None without computed torque
    :param forces: torques for the errors of position and velocity, each (nv,); None: computed by
        the gains
    """
    joints = range(layout.nv)
    settings = layout.unpacked(given['numbers'])
    (dt,), before = given['dt'], given['before']
    integral, resting = before[layout.at('next_integral')], before[-2]
    v_desired = given['v_desired']

    def through_inertia(acceleration: Scalars) -> Scalars:
        if H is None:
            return acceleration
        return [_dot(H[j * layout.nv : (j + 1) * layout.nv], acceleration) for j in joints]

    error: Scalars
    if layout.nq == layout.nv:
        error = [given['q_desired'][j] - given['q'][j] for j in joints]
    else:
        error = given['q_desired']  # the caller has subtracted
    velocity_error = [v_desired[j] - given['v'][j] for j in joints]
    kp, kd = settings['kp'], settings['kd']
    model = [settings['model'] * tau[j] for j in joints]
    friction = [
        settings['viscous'][j] * v + settings['coulomb'][j] * tanh(v * settings['transition_rate'])
        for j, v in enumerate(given['friction_v'])
    ]
    elastic = through_inertia([kp[j] * error[j] for j in joints])
    damping = through_inertia([kd[j] * velocity_error[j] for j in joints])
    if forces is not None:
        elastic, damping = forces
    waits: Scalars = [0.0] * layout.nv
    if H is not None:
        stiffness = settings['friction_stiffness']
        elastic, waits = _affordable(elastic, [stiffness[j] * error[j] for j in joints], settings)
    added = given['added']
    torque = [
        model[j] + friction[j] + elastic[j] + damping[j] + integral[j] + added[j] for j in joints
    ]

    settled = resting - SETTLING_TIME
    deadband = where_positive(settled, 1.0, NARROW) * settings['deadband']
    # Errors within the deadband count as zero, and the integral is constant there. Otherwise
    # errors of heavy joints with stiction could balance that of a light one, whose integral would
    # stop far from its goal. At the effort limit, the integral waits.
    outside = [
        where_positive(waits[j], 0.0, where_positive(absolute(error[j]) - deadband, 1.0, 0.0))
        for j in joints
    ]
    counted = [outside[j] * error[j] for j in joints]
    change = through_inertia([kp[j] * counted[j] for j in joints])
    if H is not None:
        change = [change[j] + stiffness[j] * counted[j] for j in joints]
    following = []
    for j in joints:
        step = outside[j] * change[j] * (settings['integral_rate'][j] * dt)
        # Anti-windup: the integral must not grow in the direction of the saturation.
        lost = given['applied'][j] - before[j]
        step = where_positive(-(step * lost), 0.0, step)
        following.append(clip(integral[j] + step, settings['integral_bound'][j]))
    moving = _dot(v_desired, v_desired) - REST
    feedback = [elastic[j] + damping[j] for j in joints]
    result = [*torque, *model, *feedback, *friction, *integral, *following]
    result.append(where_positive(moving, 0.0, resting + dt))
    # Counts NaN, too, since comparisons with it are false.
    result.append(sum(where_positive(MAXIMUM_TORQUE - absolute(x), 0.0, 1.0) for x in result))
    return result


def _affordable(
    inertial: Scalars, frictional: Scalars, settings: Dict[str, Any]
) -> Tuple[Scalars, Scalars]:
    """Return the torque of the position error, limited to its fraction of the effort limits.

    The part with the mass matrix is scaled by one factor for all joints: the torque of one joint
    relies on the accelerations of all others, which a single saturated joint would disturb. The
    error then decays at the speed at which damping cancels that torque, which leaves torque for
    braking. The part for a joint's own friction is limited for each joint. While torque is
    limited, the error is a distance and not a model error, so the integral waits.

    :param inertial: H kp e, (nv,)
    :param frictional: part of the torque for viscous friction, (nv,)
    :param settings: the numbers of the settings by name
    :return: the torque, (nv,), and numbers that are positive where the integral waits, (nv,)
    """
    share, inverse = settings['share'], settings['inverse_share']
    joints = range(len(inertial))
    excess = maximum(absolute(inertial[j] * inverse[j]) for j in joints)
    too_much = excess - 1.0
    reduced = where_positive(too_much, 1.0 / where_positive(too_much, excess, 1.0), 1.0)
    elastic = [inertial[j] * reduced + frictional[j] for j in joints]
    waits = [where_positive(too_much, 1.0, absolute(elastic[j]) - share[j]) for j in joints]
    return [clip(elastic[j], share[j]) for j in joints], waits


def _dot(a: Scalars, b: Scalars) -> Scalar:
    return sum(x * y for x, y in zip(a, b))


# Kernels of laws, by robot, definition and arguments.
LawKernel = Union[Kernel, InterpretedKernel]
_kernels: WeakKeyDictionary[Robot, Dict[Tuple[Any, ...], LawKernel]] = WeakKeyDictionary()


def law_kernel(robot: Robot, *variant: Any) -> LawKernel:
    """Return machine code of a variant of the law, cached for a robot; see `law_definition`."""
    return _cached_kernel(robot, law_definition, *variant)


def holding_kernel(robot: Robot, payload_link: Optional[str], own_weight: bool) -> LawKernel:
    """Return machine code of the gravity torque, by configuration, gravity and payload.

    :param payload_link: link that carries the payload; None: no payload and no such argument
    :param own_weight: whether to include the robot's own links
    """
    if own_weight:
        payload: Tuple[str, ...] = () if payload_link is None else (f'payload:{payload_link}',)
        return robot.kernel('gravity_torque', runtime=('gravity', *payload))
    return _cached_kernel(robot, holding_definition, payload_link)


def _cached_kernel(
    robot: Robot, definition: Callable[..., Definition], *variant: Any
) -> LawKernel:
    with compile_lock:
        known = _kernels.setdefault(robot, {})
        key = (definition.__name__, *variant)
        if key not in known:
            known[key] = make_kernel(definition(robot.model, *variant))
        return known[key]
